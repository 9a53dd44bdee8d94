/*
  How far a stencil matrix is from a symmetric one, as convection makes it: pairs of couplings a(p, q) and a(q, p), and
  which way rows lean.

  Pairs are those of two points of this process. A point that is coupled to nobody makes none: programs may keep the
  columns of stored boundary points. Lines are compared once for each set of coefficients that they share.
*/
#include "matstencil.h"

/* Summed up over pairs, and over points: differences and sums of couplings */
enum {
  DRIFT_SKEW,
  DRIFT_PAIRS,
  DRIFT_LEANS,
  DRIFT_BOTH = DRIFT_LEANS + 3,
  DRIFT_NUM  = DRIFT_BOTH + 3,
  DRIFT_MOST = DRIFT_NUM, /* not summed up: the largest difference of a pair over its sum */
  DRIFT_ALL
};

/* Couplings o of the points of line l, and the opposite ones of line m, which they lead to */
static void AddPairs(const KCycleShape *shape, const KCycleLine *l, const KCycleLine *m, int o, PetscReal sums[])
{
  const int      dx = shape->dx[o], opposite = shape->ncoeffs - 1 - o;
  const PetscInt n    = l->n;
  PetscReal      skew = 0, both = 0, most = sums[DRIFT_MOST];

  for (PetscInt i = PetscMax(0, -dx); i < n - PetscMax(0, dx); i++) {
    const PetscReal a = PetscAbsScalar(KCycleLineCoefficient(l, o, i)),
                    b = PetscAbsScalar(KCycleLineCoefficient(m, opposite, i + dx));

    if ((a == 0 && MatStencilPointIsUncoupled(shape, l, i)) || (b == 0 && MatStencilPointIsUncoupled(shape, m, i + dx)))
      continue;
    skew += PetscAbsReal(a - b);
    both += a + b;
    if (PetscAbsReal(a - b) > most * (a + b)) most = PetscAbsReal(a - b) / (a + b);
  }
  sums[DRIFT_MOST] = most;
  sums[DRIFT_SKEW] += skew;
  sums[DRIFT_PAIRS] += both;
}

/* All pairs of a line with itself and with lines ahead. Couplings that are kept once for both are not looked at: of
   symmetric matrices these are most */
static void AddLine(const KCycleStencil *st, PetscInt j, PetscInt k, PetscReal sums[])
{
  const KCycleBox   *box   = st->box;
  const KCycleShape *shape = &st->shape;
  const PetscInt     line  = j + box->n[1] * k;
  KCycleLine         l, m;

  MatStencilLineArrays(st, line, &l);
  for (int o = shape->ncoeffs / 2 + 1; o < shape->ncoeffs; o++) {
    const int      q  = shape->line[o];
    const PetscInt jj = j + shape->dy[q], kk = k + shape->dz[q], other = jj + box->n[1] * kk;

    if (jj < 0 || jj >= box->n[1] || kk >= box->n[2]) continue;
    if (st->half && st->set[line] < 0 && st->set[other] < 0) continue;
    MatStencilLineArrays(st, other, &m);
    AddPairs(shape, &l, &m, o, sums);
  }
}

/* Do a line and those ahead of it share their coefficients with the line before and those ahead of that? */
static PetscBool IsLikeLast(const KCycleStencil *st, PetscInt j, PetscInt k)
{
  const KCycleBox *box = st->box;

  for (PetscInt kk = k; kk <= PetscMin(k + 1, box->n[2] - 1); kk++) {
    for (PetscInt jj = j - 1; jj <= j + 1; jj++) {
      if (jj < 1 || jj >= box->n[1] || !MatStencilLineIsLast(st, jj + box->n[1] * kk, jj - 1 + box->n[1] * kk))
        return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}

/* Which way do the rows of a line lean? Couplings ahead and behind in each direction, whatever their place across */
static void AddLeans(const KCycleStencil *st, PetscInt line, PetscReal sums[])
{
  const KCycleShape *shape = &st->shape;
  KCycleLine         l;

  MatStencilLineArrays(st, line, &l);
  for (PetscInt i = 0; i < l.n; i++) {
    PetscReal lean[3] = {0, 0, 0}, both[3] = {0, 0, 0};

    for (int o = 0; o < shape->ncoeffs; o++) {
      const int       q = shape->line[o], to[3] = {shape->dx[o], shape->dy[q], shape->dz[q]};
      const PetscReal v = PetscRealPart(KCycleLineCoefficient(&l, o, i));

      for (int d = 0; d < 3; d++) {
        lean[d] += to[d] * v;
        both[d] += to[d] ? PetscAbsReal(v) : 0;
      }
    }
    for (int d = 0; d < 3; d++) {
      sums[DRIFT_LEANS + d] += PetscAbsReal(lean[d]);
      sums[DRIFT_BOTH + d] += both[d];
    }
  }
}

/* Sums over all lines; of a line like the last one they are those of the last one */
static void Look(const KCycleStencil *st, PetscBool leans, PetscReal sums[])
{
  const KCycleBox *box = st->box;
  PetscReal        now[DRIFT_ALL];

  for (PetscInt line = 0; line < box->nlines; line++) {
    const PetscInt  j = line % box->n[1], k = line / box->n[1];
    const PetscBool like = leans ? MatStencilLineIsLast(st, line, line - 1) : IsLikeLast(st, j, k);

    if (!like) {
      for (int t = 0; t < DRIFT_ALL; t++) now[t] = 0;
      if (leans) AddLeans(st, line, now);
      else AddLine(st, j, k, now);
    }
    for (int t = 0; t < DRIFT_NUM; t++) sums[t] += now[t];
    sums[DRIFT_MOST] = PetscMax(sums[DRIFT_MOST], now[DRIFT_MOST]);
  }
}

/* Of a symmetric matrix, but for rounding, rows do not lean: there opposite couplings differ where coefficients jump */
static PetscErrorCode FindDrift(Mat A, KCycleScan *scan)
{
  const KCycleStencil *st              = &((Mat_Stencil *)A->data)->s;
  PetscReal            sums[DRIFT_ALL] = {0}, all[DRIFT_NUM];
  MPI_Comm             comm            = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  Look(st, PETSC_FALSE, sums);
  PetscCallMPI(MPI_Allreduce(sums, all, DRIFT_LEANS, MPIU_REAL, MPIU_SUM, comm));
  PetscCallMPI(MPI_Allreduce(&sums[DRIFT_MOST], &scan->unequal, 1, MPIU_REAL, MPIU_MAX, comm));
  scan->skew = all[DRIFT_PAIRS] > 0 ? all[DRIFT_SKEW] / all[DRIFT_PAIRS] : 0;
  for (int d = 0; d < 3; d++) scan->drift[d] = 0;
  if (scan->skew < PETSC_SMALL) PetscFunctionReturn(PETSC_SUCCESS);
  Look(st, PETSC_TRUE, sums);
  PetscCallMPI(MPI_Allreduce(sums, all, DRIFT_NUM, MPIU_REAL, MPIU_SUM, comm));
  for (int d = 0; d < 3; d++) scan->drift[d] = all[DRIFT_BOTH + d] > 0 ? all[DRIFT_LEANS + d] / all[DRIFT_BOTH + d] : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. Looks at drift, too */
PetscErrorCode MatStencilScanDrift(Mat A, const KCycleScan **found)
{
  KCycleScan *scan = &((Mat_Stencil *)A->data)->scan;

  PetscFunctionBegin;
  PetscCall(MatStencilScan(A, found));
  if (!scan->drifts) PetscCall(FindDrift(A, scan));
  scan->drifts = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
