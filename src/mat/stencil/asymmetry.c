/*
  How far a stencil matrix is from a symmetric one, as convection makes it: pairs of couplings a(p, q) and a(q, p), and
  which way rows lean.

  Pairs are those of two points of this process. An isolated point makes none: programs may keep the columns of stored
  boundary points. Lines are compared once for each set of coefficients that they share.
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

/* Sums, and of each coefficient what the last pairs of lines have added to DRIFT_SKEW and DRIFT_PAIRS */
typedef struct {
  PetscReal sums[DRIFT_ALL], last[KC_MAX_COEFFS][2];
} Drift;

/* Couplings o of the points of line l, and the opposite ones of line m, which they lead to */
static PetscBool AddPairs(void *context, const KCycleShape *shape, const KCycleLine *l, const KCycleLine *m, int o,
                          PetscBool again)
{
  Drift    *drift = (Drift *)context;
  const int dx = shape->dx[o], opposite = shape->ncoeffs - 1 - o;
  PetscReal skew = 0, both = 0, most = drift->sums[DRIFT_MOST];

  for (PetscInt i = PetscMax(0, -dx); i < l->n - PetscMax(0, dx) && !again; i++) {
    const PetscReal a = PetscAbsScalar(KCycleLineCoefficient(l, o, i)),
                    b = PetscAbsScalar(KCycleLineCoefficient(m, opposite, i + dx));

    if ((a == 0 && MatStencilPointIsIsolated(shape, l, i)) || (b == 0 && MatStencilPointIsIsolated(shape, m, i + dx)))
      continue;
    skew += PetscAbsReal(a - b);
    both += a + b;
    if (PetscAbsReal(a - b) > most * (a + b)) most = PetscAbsReal(a - b) / (a + b);
  }
  if (!again) {
    drift->last[o][0] = skew;
    drift->last[o][1] = both;
  }
  drift->sums[DRIFT_MOST] = most;
  drift->sums[DRIFT_SKEW] += drift->last[o][0];
  drift->sums[DRIFT_PAIRS] += drift->last[o][1];
  return PETSC_TRUE;
}

/* Which way do the rows of a line lean? Couplings ahead and behind in each direction, wherever they are across */
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
static void AddAllLeans(const KCycleStencil *st, PetscReal sums[])
{
  PetscReal now[DRIFT_NUM] = {0};

  for (PetscInt line = 0; line < st->box->nlines; line++) {
    if (!MatStencilLineIsLast(st, line, line - 1)) {
      for (int t = DRIFT_LEANS; t < DRIFT_NUM; t++) now[t] = 0;
      AddLeans(st, line, now);
    }
    for (int t = DRIFT_LEANS; t < DRIFT_NUM; t++) sums[t] += now[t];
  }
}

/* Of a symmetric matrix, but for rounding, rows do not lean: there opposite couplings differ where coefficients jump */
static PetscErrorCode FindDrift(Mat A, KCycleScan *scan)
{
  const KCycleStencil *st    = KCycleStencilOf(A);
  Drift                drift = {{0}, {{0}}};
  PetscReal           *sums  = drift.sums, all[DRIFT_NUM];
  MPI_Comm             comm  = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  (void)MatStencilVisitLines(st, st->shape.ncoeffs / 2 + 1, PETSC_FALSE, AddPairs, &drift);
  PetscCallMPI(MPI_Allreduce(sums, all, DRIFT_LEANS, MPIU_REAL, MPIU_SUM, comm));
  PetscCallMPI(MPI_Allreduce(&sums[DRIFT_MOST], &scan->unequal, 1, MPIU_REAL, MPIU_MAX, comm));
  scan->skew = all[DRIFT_PAIRS] > 0 ? all[DRIFT_SKEW] / all[DRIFT_PAIRS] : 0;
  for (int d = 0; d < 3; d++) scan->drift[d] = 0;
  if (scan->skew < PETSC_SMALL) PetscFunctionReturn(PETSC_SUCCESS);
  AddAllLeans(st, sums);
  PetscCallMPI(MPI_Allreduce(sums, all, DRIFT_NUM, MPIU_REAL, MPIU_SUM, comm));
  for (int d = 0; d < 3; d++) scan->drift[d] = all[DRIFT_BOTH + d] > 0 ? all[DRIFT_LEANS + d] / all[DRIFT_BOTH + d] : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. Looks at drift, too */
PetscErrorCode MatStencilScanAsymmetry(Mat A, const KCycleScan **found)
{
  KCycleScan *scan = &((Mat_Stencil *)A->data)->scan;

  PetscFunctionBegin;
  PetscCall(MatStencilScan(A, found));
  if (!scan->drifts) PetscCall(FindDrift(A, scan));
  scan->drifts = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
