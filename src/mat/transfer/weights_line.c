/*
  Interpolation along strong directions. A fine point that lies between coarse ones in the directions S takes weights
  from its equation, summed over the other directions, as if its neighbours there had the same weights. Where it is
  coupled more strongly with these than with the points that it is interpolated from, as on stretched grids, and
  coefficients jump, weights would then change from point to point along the strong direction e, and coarse functions
  oscillate there at a high price. Smooth ones leave the couplings along e where they are:

    (sum_o |c(o)| + excess) w(o) + sum_+- s(+-) (w(o) - w(o)(+-)) = |c(o)|

  for each neighbour o in S, a tridiagonal system for each grid line along e, with the couplings s(+-) ahead and behind.
  Where these are weak, or weights do not change, the solutions are the weights that the points have of their own.

  Lines are solved from their first point to their last one, from process to process, so that weights do not depend on
  the number of processes. Where a direction wraps around lines are cut.
*/
#include "mattransfer.h"

/* The first of the points of one kind in each direction, at a distance of each other, and their number: in S those
   between, along e all, else those that coincide */
static void FindPoints(const KCycleTransfer *tr, KCycleLineWeights *al)
{
  for (int d = 0; d < 3; d++) {
    const PetscInt between = al->S >> d & 1;

    al->step[d]  = d == al->e ? 1 : tr->factor[d];
    al->first[d] = d == al->e ? 0 : (tr->shift[d] + between) % tr->factor[d];
    al->n[d]     = PetscMax(0, (tr->fine->n[d] - al->first[d] + al->step[d] - 1) / al->step[d]);
  }
  al->npoints = al->n[0] * al->n[1] * al->n[2];
}

/* For points between in directions S, along e, with weights of m neighbours; tr: of the overlap */
PetscErrorCode KCycleLineWeightsCreate(const KCycleTransfer *tr, int S, int e, int m, KCycleLineWeights *al)
{
  PetscFunctionBegin;
  al->S = S;
  al->e = e;
  al->m = m;
  FindPoints(tr, al);
  PetscCall(PetscCalloc4(m * al->npoints, &al->w, al->npoints, &al->total, al->npoints, &al->behind, al->npoints,
                         &al->ahead));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleLineWeightsDestroy(KCycleLineWeights *al)
{
  PetscFunctionBegin;
  PetscCall(PetscFree4(al->w, al->total, al->behind, al->ahead));
  al->m = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is fine line (j, k) one of these? Then its first point */
PetscBool KCycleLineWeightsLine(const KCycleLineWeights *al, PetscInt j, PetscInt k, PetscInt *point)
{
  const PetscInt jj = j - al->first[1], kk = k - al->first[2];

  if (jj < 0 || kk < 0 || jj % al->step[1] || kk % al->step[2]) return PETSC_FALSE;
  *point = al->n[0] * (jj / al->step[1] + al->n[1] * (kk / al->step[2]));
  return PETSC_TRUE;
}

/* Owned points in each direction: the first one and one past the last. low: points of the overlap before owned ones */
static void FindOwned(const KCycleLineWeights *al, const KCycleBox *box, const PetscInt low[], PetscInt start[],
                      PetscInt end[])
{
  for (int d = 0; d < 3; d++) {
    const PetscInt from = low[d] - al->first[d], to = from + box->n[d];

    start[d] = PetscMin(PetscMax(0, (from + al->step[d] - 1) / al->step[d]), al->n[d]);
    end[d]   = PetscMin(PetscMax(start[d], (to + al->step[d] - 1) / al->step[d]), al->n[d]);
  }
}

/* The lines of this process, and the processes with the parts before and after; -1: none */
typedef struct {
  PetscInt     start[3], end[3]; /* of owned points */
  PetscInt     across[2];        /* the other two directions */
  PetscInt     step, nlines;     /* from point to point of a line */
  PetscMPIInt  before, behind, tag;
  MPI_Comm     comm;
  PetscScalar *passed; /* from part to part: of each line m + 2 numbers */
} Lines;

static PetscErrorCode LinesCreate(const KCycleLineWeights *al, Mat P, Lines *lines)
{
  Mat_StencilTransfer *p       = (Mat_StencilTransfer *)P->data;
  const KCycleBox     *box     = p->t.fine;
  const PetscInt       none[3] = {0, 0, 0};
  PetscMPIInt          away    = 1;
  PetscInt             index   = box->rank;

  PetscFunctionBegin;
  FindOwned(al, box, p->overlap.P ? p->overlap.low : none, lines->start, lines->end);
  for (int d = 0; d < al->e; d++) {
    away *= (PetscMPIInt)box->nproc[d];
    index /= box->nproc[d];
  }
  index %= box->nproc[al->e];
  lines->before    = index > 0 ? box->rank - away : -1;
  lines->behind    = index < box->nproc[al->e] - 1 ? box->rank + away : -1;
  lines->across[0] = al->e == 0 ? 1 : 0;
  lines->across[1] = al->e == 2 ? 1 : 2;
  lines->step      = al->e == 0 ? 1 : al->e == 1 ? al->n[0] : al->n[0] * al->n[1];
  lines->nlines    = 1;
  for (int t = 0; t < 2; t++) lines->nlines *= lines->end[lines->across[t]] - lines->start[lines->across[t]];
  PetscCall(PetscObjectGetComm((PetscObject)P, &lines->comm));
  PetscCall(PetscObjectGetNewTag((PetscObject)P, &lines->tag));
  PetscCall(PetscMalloc1((al->m + 2) * lines->nlines, &lines->passed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Calls a function for the points of all lines at index i along them: number of the line, of the point */
typedef void (*Visit)(const KCycleLineWeights *, const Lines *, PetscInt i, PetscInt l, PetscInt p);

static void VisitPoints(const KCycleLineWeights *al, const Lines *lines, PetscInt i, Visit visit)
{
  const PetscInt a = lines->across[0], b = lines->across[1];
  PetscInt       at[3], l                = 0;

  at[al->e] = i;
  for (at[b] = lines->start[b]; at[b] < lines->end[b]; at[b]++) {
    for (at[a] = lines->start[a]; at[a] < lines->end[a]; at[a]++)
      visit(al, lines, i, l++, at[0] + al->n[0] * (at[1] + al->n[1] * at[2]));
  }
}

/* One equation, with the unknown of the point before eliminated */
static void Eliminate(const KCycleLineWeights *al, const Lines *lines, PetscInt i, PetscInt l, PetscInt p)
{
  const PetscBool    inside = (PetscBool)(i > lines->start[al->e]);
  const PetscInt     q = p - lines->step, n = lines->nlines, distance = inside ? al->npoints : n;
  const PetscScalar *w       = inside ? al->w + q : lines->passed + 2 * n + l;
  const PetscScalar  divisor = inside ? al->total[q] : lines->passed[l],
                    coupling = inside ? al->ahead[q] : lines->passed[n + l];
  PetscScalar f;

  if (!inside && lines->before < 0) al->behind[p] = 0;
  if (i == lines->end[al->e] - 1 && lines->behind < 0) al->ahead[p] = 0;
  f = divisor == (PetscScalar)0.0 ? (PetscScalar)0.0 : al->behind[p] / divisor;
  al->total[p] += al->ahead[p];
  al->total[p] += al->behind[p] - f * coupling;
  for (int t = 0; t < al->m; t++) al->w[t * al->npoints + p] += f * w[t * distance];
}

/* What the part after needs: the divisors, what couples them ahead, and right sides */
static void PassForward(const KCycleLineWeights *al, const Lines *lines, PetscInt i, PetscInt l, PetscInt p)
{
  const PetscInt n = lines->nlines;

  (void)i;
  lines->passed[l]     = al->total[p];
  lines->passed[n + l] = al->ahead[p];
  for (int t = 0; t < al->m; t++) lines->passed[(2 + t) * n + l] = al->w[t * al->npoints + p];
}

/* One point from the one after; what is solved first needs nothing, as nothing is coupled with it ahead */
static void Substitute(const KCycleLineWeights *al, const Lines *lines, PetscInt i, PetscInt l, PetscInt p)
{
  const PetscBool    inside   = (PetscBool)(i < lines->end[al->e] - 1);
  const PetscInt     distance = inside ? al->npoints : lines->nlines;
  const PetscScalar *next     = inside ? al->w + p + lines->step : lines->passed + l;
  const PetscScalar  inverse  = al->total[p] == (PetscScalar)0.0 ? (PetscScalar)0.0 : 1 / al->total[p];

  for (int t = 0; t < al->m; t++) {
    PetscScalar *w = &al->w[t * al->npoints + p];

    *w = (*w + al->ahead[p] * next[t * distance]) * inverse;
  }
}

static void PassBack(const KCycleLineWeights *al, const Lines *lines, PetscInt i, PetscInt l, PetscInt p)
{
  (void)i;
  for (int t = 0; t < al->m; t++) lines->passed[t * lines->nlines + l] = al->w[t * al->npoints + p];
}

static PetscErrorCode Receive(const Lines *lines, int count, PetscMPIInt from)
{
  PetscMPIInt n;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(count * lines->nlines, &n));
  if (from < 0) PetscCall(PetscArrayzero(lines->passed, n));
  else PetscCallMPI(MPI_Recv(lines->passed, n, MPIU_SCALAR, from, lines->tag, lines->comm, MPI_STATUS_IGNORE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Send(const Lines *lines, int count, PetscMPIInt to)
{
  PetscMPIInt n;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(count * lines->nlines, &n));
  if (to >= 0) PetscCallMPI(MPI_Send(lines->passed, n, MPIU_SCALAR, to, lines->tag, lines->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. Solves the systems, whose right sides are in w; then these are the weights of all points of the
   overlap */
PetscErrorCode KCycleLineWeightsSolve(KCycleLineWeights *al, Mat P)
{
  Lines    lines;
  PetscInt first, last;

  PetscFunctionBegin;
  PetscCall(LinesCreate(al, P, &lines));
  first = lines.start[al->e];
  last  = lines.end[al->e] - 1;
  PetscCall(Receive(&lines, al->m + 2, lines.before));
  for (PetscInt i = first; i <= last; i++) VisitPoints(al, &lines, i, Eliminate);
  VisitPoints(al, &lines, last, PassForward);
  PetscCall(Send(&lines, al->m + 2, lines.behind));
  PetscCall(Receive(&lines, al->m, lines.behind));
  for (PetscInt i = last; i >= first; i--) VisitPoints(al, &lines, i, Substitute);
  VisitPoints(al, &lines, first, PassBack);
  PetscCall(Send(&lines, al->m, lines.before));
  PetscCall(PetscFree(lines.passed));
  PetscCall(KCycleOverlapExchange(P, al));
  PetscFunctionReturn(PETSC_SUCCESS);
}
