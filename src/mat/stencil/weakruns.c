/*
  Runs of points, in two dimensions, at which couplings along one direction are weak compared with those along another
  one: a point counts where those before and after it in the strong direction are such points, too. Stretched grids and
  layers have them; of mixtures of two materials most such points are single ones.
*/
#include "matstencil.h"

/* The couplings of point i behind and ahead in both directions, wherever they are across */
static void GetCouplings(const KCycleShape *shape, const KCycleLine *l, PetscInt i, PetscReal c[2][2])
{
  const PetscReal sign = PetscRealPart(KCycleLineCoefficient(l, shape->ncoeffs / 2, i)) < 0 ? 1 : -1;

  c[0][0] = c[0][1] = c[1][0] = c[1][1] = 0;
  for (int o = 0; o < shape->ncoeffs; o++) {
    const int       to[2] = {shape->dx[o], shape->dy[shape->line[o]]};
    const PetscReal v     = sign * PetscRealPart(KCycleLineCoefficient(l, o, i));

    for (int d = 0; d < 2; d++) {
      if (to[d]) c[d][to[d] > 0] += v;
    }
  }
}

/* Is the larger one of two couplings weak compared with the smaller one of two others, or the only one? */
static PetscBool IsWeak(const PetscReal weak[2], const PetscReal strong[2])
{
  const PetscReal larger = PetscMax(weak[0], weak[1]), smaller = PetscMin(strong[0], strong[1]);

  return (PetscBool)(larger > 0 &&
                     larger < (PetscReal)KC_WEAK * (smaller > 0 ? smaller : PetscMax(strong[0], strong[1])));
}

/* flag[d]: 1 at points at which direction d is weak, else 0 */
static void FlagPoints(const KCycleStencil *st, PetscScalar *const flag[2])
{
  const PetscInt n = st->box->n[0];
  KCycleLine     l;
  PetscReal      c[2][2];

  for (PetscInt line = 0; line < st->box->nlines; line++) {
    MatStencilLineArrays(st, line, &l);
    for (PetscInt i = 0; i < n; i++) {
      GetCouplings(&st->shape, &l, i, c);
      for (int d = 0; d < 2; d++) flag[d][n * line + i] = IsWeak(c[d], c[1 - d]) ? 1 : 0;
    }
  }
}

/* Is there a point without the flag before or after point (i, j) along direction e? Beyond an end there is none */
static PetscBool IsCut(const KCycleStencil *st, int e, PetscInt i, PetscInt j, const PetscScalar *flag)
{
  const KCycleBox *box = st->box;

  for (int side = -1; side < 2; side += 2) {
    const PetscInt x = i + (e ? 0 : side), y = j + (e ? side : 0), line = KCycleBoxExtended(box, y, 0),
                   to = box->start[e] + (e ? y : x);
    PetscScalar next;

    if (!box->periodic[e] && (to < 0 || to >= box->size[e])) continue;
    next = x < 0            ? st->halo[box->left + line]
           : x >= box->n[0] ? st->halo[box->right + line]
                            : KCycleBoxLine(box, flag, st->halo, y, 0)[x];
    if (next == (PetscScalar)0.0) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* Collective. Looks at runs, too */
PetscErrorCode MatStencilScanWeakRuns(Mat A, const KCycleScan **found)
{
  KCycleScan          *scan    = &((Mat_Stencil *)A->data)->scan;
  const KCycleStencil *st      = &((Mat_Stencil *)A->data)->s;
  const KCycleBox     *box     = st->box;
  PetscReal            runs[2] = {0, 0};
  PetscScalar         *flag[2];

  PetscFunctionBegin;
  PetscCall(MatStencilScan(A, found));
  if (scan->ran || box->dim != 2) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(box->npoints, &flag[0], box->npoints, &flag[1]));
  FlagPoints(st, flag);
  for (int d = 0; d < 2; d++) {
    PetscCall(KCycleBoxExchange(box, PETSC_FALSE, flag[d], st->halo));
    for (PetscInt p = 0; p < box->npoints; p++) {
      if (flag[d][p] != (PetscScalar)0.0 && !IsCut(st, 1 - d, p % box->n[0], p / box->n[0], flag[d])) runs[d]++;
    }
  }
  PetscCall(PetscFree2(flag[0], flag[1]));
  PetscCallMPI(MPI_Allreduce(runs, scan->runs, 2, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)A)));
  scan->ran = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
