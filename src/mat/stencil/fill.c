/*
  Isolated points inside a grid, inactive cells of a reservoir or the inside of a hole, get couplings for coarser
  levels: a small part of what is usual in their direction. Without them an active point between inactive ones has
  nothing to be interpolated from, as coarse points that are inactive would be left out; with them they are points as
  all others, and weights and Galerkin products follow the coefficients, which have a jump there.

  The part must be small compared with reactions, too: an island of active points has nothing else to hold it.
*/
#include "matstencil.h"

enum {
  POINT_OUTSIDE,
  POINT_COUPLED,
  POINT_ISOLATED
};

/* Direction of a coupling along a line of the grid, -1: it is none, or that of the point with itself */
static int DirectionOf(const KCycleShape *shape, int o)
{
  const int to[3] = {shape->dx[o], shape->dy[shape->line[o]], shape->dz[shape->line[o]]};

  if (PetscAbs(to[0]) + PetscAbs(to[1]) + PetscAbs(to[2]) != 1) return -1;
  return to[0] ? 0 : to[1] ? 1 : 2;
}

/* The exponent of a number that is not zero */
KC_POINT PetscInt64 Exponent(PetscScalar v)
{
  const double size = (double)PetscAbsScalar(v);
  uint64_t     bits;

  memcpy(&bits, &size, sizeof(bits));
  return (PetscInt64)(bits >> 52) - 1023;
}

/* One coefficient of points that are not at an end of their line: marks those that have it. Adds up exponents, their
   number, and signs */
KC_VERSIONS static void MarkCoefficient(PetscInt n, const PetscScalar *KC_RESTRICT c, PetscScalar *KC_RESTRICT mark,
                                        PetscInt64 sum[3])
{
  PetscInt64 exponents = 0, count = 0, positive = 0;

  for (PetscInt i = 0; i < n; i++) {
    const PetscInt64 there = c[i] != (PetscScalar)0.0 ? 1 : 0;

    mark[i] = there ? (PetscScalar)POINT_COUPLED : mark[i];
    exponents += there * Exponent(c[i]);
    positive += there * (PetscRealPart(c[i]) > 0 ? 1 : -1);
    count += there;
  }
  sum[0] += exponents;
  sum[1] += count;
  sum[2] += positive;
}

/* The points of this process, and those around it; in each direction the couplings that points alone get, of the sign
   of the others: by their geometric mean, to a power of two */
static PetscErrorCode MarkPoints(Mat A, PetscScalar *mark, PetscScalar *halo, PetscReal fill[])
{
  const KCycleStencil *st        = KCycleStencilOf(A);
  const KCycleBox     *box       = st->box;
  const PetscInt       n         = box->n[0];
  PetscInt64           sum[4][3] = {{0}}; /* in each direction, and of the others */
  PetscReal            mine[7], all[7];   /* of exponents and their number in each direction; of couplings' signs */
  PetscScalar         *values;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &values));
  for (PetscInt line = 0; line < box->nlines; line++) {
    KCycleLine l;

    MatStencilLineArrays(st, line, &l);
    for (PetscInt i = 0; i < n; i++) mark[line * n + i] = POINT_ISOLATED;
    for (int o = 0; o < st->shape.ncoeffs; o++) {
      const int d = DirectionOf(&st->shape, o);

      if (o == st->shape.ncoeffs / 2) continue;
      for (PetscInt i = 0; i < n; i++) values[i] = KCycleLineCoefficient(&l, o, i);
      MarkCoefficient(n, values, mark + line * n, sum[d < 0 ? 3 : d]);
    }
  }
  PetscCall(PetscFree(values));
  for (int d = 0; d < 3; d++) {
    mine[d]     = (PetscReal)sum[d][0];
    mine[3 + d] = (PetscReal)sum[d][1];
  }
  mine[6] = (PetscReal)(sum[0][2] + sum[1][2] + sum[2][2]);
  PetscCallMPI(MPI_Allreduce(mine, all, 7, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)A)));
  for (int d = 0; d < 3; d++)
    fill[d] = all[3 + d] > 0 ? (all[6] > 0 ? KCYCLE_FILL : -KCYCLE_FILL) *
                                   PetscPowReal(2, PetscFloorReal(all[d] / all[3 + d] + PetscRealConstant(0.5)))
                             : 0;
  PetscCall(KCycleBoxExchange(box, PETSC_TRUE, mark, halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coefficient number o of some points, whose marks are mine and whose neighbours' are there */
static PetscInt FillCoefficient(PetscInt n, const PetscScalar *mine, const PetscScalar *there, PetscBool couples,
                                PetscScalar fill, PetscScalar *c, PetscScalar *diagonal)
{
  PetscInt kept = 0;

  for (PetscInt i = 0; i < n; i++) {
    if (mine[i] != (PetscScalar)POINT_ISOLATED && there[i] != (PetscScalar)POINT_ISOLATED) continue;
    if (there[i] == (PetscScalar)POINT_OUTSIDE) continue;
    if (c[i] != (PetscScalar)0.0) kept++;
    else if (couples) {
      c[i] = fill;
      diagonal[i] -= fill;
    }
  }
  return kept;
}

/* The couplings of line (j, k), whose coefficients are values[o * n + i]. Returns how many it had before of points with
   an isolated one, as where boundary conditions have been set in rows but not in columns */
static PetscInt FillLine(const KCycleStencil *st, PetscInt j, PetscInt k, const PetscScalar *mark,
                         const PetscScalar *halo, const PetscReal fill[], PetscScalar *values)
{
  const KCycleBox   *box      = st->box;
  const PetscInt     n        = box->n[0];
  const int          nc       = st->shape.ncoeffs;
  const PetscScalar *mine     = mark + n * (j + box->n[1] * k);
  PetscScalar       *diagonal = values + nc / 2 * n;
  PetscInt           kept     = 0;

  for (PetscInt i = 0; i < n; i++) diagonal[i] = mine[i] == (PetscScalar)POINT_ISOLATED ? 0 : diagonal[i];
  for (int o = 0; o < nc; o++) {
    const int          q = st->shape.line[o], d = DirectionOf(&st->shape, o), dx = st->shape.dx[o];
    const PetscInt     jj = j + st->shape.dy[q], kk = k + st->shape.dz[q], end = dx < 0 ? 0 : n - 1;
    const PetscInt     first = dx < 0 ? 1 : 0, at[3] = {end + dx, jj, kk};
    const PetscScalar  value = d < 0 ? 0 : fill[d];
    PetscScalar       *c = values + o * n, there = POINT_OUTSIDE;
    const PetscScalar *line = KCycleBoxLine(box, mark, halo, jj, kk);

    if (o == nc / 2) continue;
    kept += FillCoefficient(n - PetscAbs(dx), mine + first, line + first + dx, (PetscBool)(d >= 0), value, c + first,
                            diagonal + first);
    if (dx && MatStencilValueAt(box, mark, halo, at, &there))
      kept += FillCoefficient(1, mine + end, &there, (PetscBool)(d >= 0), value, c + end, diagonal + end);
  }
  return kept;
}

/* Collective. A matrix of the caller, as A, but for isolated points; NULL where others are coupled to such points:
   these hold values */
PetscErrorCode MatStencilFillIsolated(Mat A, Mat *filled)
{
  Mat_Stencil *st;
  PetscScalar *mark;
  PetscReal    fill[3];
  PetscInt     kept = 0, allkept;

  PetscFunctionBegin;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, filled));
  st = (Mat_Stencil *)(*filled)->data;
  PetscCall(MatStencilGetBack(st));
  PetscCall(PetscMalloc1(st->s.box->npoints, &mark));
  PetscCall(MarkPoints(A, mark, st->back, fill));
  PetscCall(MatStencilExpand(*filled));
  for (PetscInt line = 0; line < st->s.box->nlines; line++)
    kept += FillLine(&st->s, line % st->s.box->n[1], line / st->s.box->n[1], mark, st->back, fill,
                     st->dense + (size_t)line * st->s.shape.ncoeffs * st->s.box->n[0]);
  PetscCall(PetscFree(mark));
  PetscCall(MatStencilStoreDense(*filled));
  PetscCall(PetscObjectStateIncrease((PetscObject)*filled));
  PetscCallMPI(MPI_Allreduce(&kept, &allkept, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)A)));
  if (allkept) {
    PetscCall(PetscInfo(
        A, "Isolated points take no part in coarser levels: others have %" PetscInt_FMT " couplings with them\n",
        allkept));
    PetscCall(MatDestroy(filled));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
