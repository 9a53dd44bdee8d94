/*
  One look at all coefficients of a stencil matrix, for whoever wants to know something of them: what is found is kept
  until the matrix changes.

  Lines are read one by one, where they are kept, and each point of a line has its own sums and maxima over the lines:
  so all loops are over arrays.

  Where a point inside the grid has no coupling on one side, and nothing in its row in place of it, there is a wall,
  that of a hole for instance.
*/
#include "matstencil.h"

/* What is summed up, or sought, over all lines; something above zero says yes */
enum {
  LOOK_SCALE, /* largest entry of the diagonal */
  LOOK_SUMS,  /* and row sum relative to it, */
  LOOK_BOUND, /* also of absolute values */
  LOOK_ISOLATED,
  LOOK_JUMPS, /* factor between couplings with points ahead and behind, whatever their place across */
  LOOK_ROUGH, /* and between couplings with opposite points, one by one */
  LOOK_CUTS,  /* walls across y and z, and in the end any */
  LOOK_FAULT,
  LOOK_LARGEST,
  LOOK_TOTAL = LOOK_LARGEST,   /* of the couplings in each direction, */
  LOOK_COUNT = LOOK_TOTAL + 3, /* and their number; */
  LOOK_WEAK  = LOOK_COUNT + 3, /* points where they are weak beside those in another direction; */
  LOOK_THIN  = LOOK_WEAK + 9,  /* points where one of them is weaker than one in another direction; */
  LOOK_WALLS = LOOK_THIN + 3,  /* points that have a wall across x, whatever else */
  LOOK_NUM,
  LOOK_SUMMED = LOOK_WALLS - LOOK_TOTAL /* so many are added up over all points */
};

KC_POINT PetscReal Max(PetscReal a, PetscReal b)
{
  return a > b ? a : b;
}

/* The factor by which one of two couplings exceeds the other; 0 where one is missing. Written, as all here, so that
   compilers find no branches */
KC_POINT PetscReal Ratio(PetscReal a, PetscReal b)
{
  const PetscReal larger = a > b ? a : b, smaller = a > b ? b : a;

  return (smaller > 0 ? larger : 0) / (smaller > 0 ? smaller : 1);
}

/* Above zero if one of two couplings is missing, or next to nothing, and the sum of the row has nothing in its place */
KC_POINT PetscReal Cut(PetscReal a, PetscReal b, PetscReal sum)
{
  const PetscReal both = a + b, apart = PetscAbsReal(a - b);

  return both + apart - 1e30 * (both - apart) - 20 * sum;
}

/* The larger of the couplings of a point in one direction, and the smaller, where there are two */
KC_POINT PetscReal Larger(PetscReal a, PetscReal b)
{
  return Max(Max(a, b), 0);
}

KC_POINT PetscReal Smaller(PetscReal a, PetscReal b)
{
  const PetscReal smaller = a > b ? b : a;

  return smaller > 0 ? smaller : Larger(a, b);
}

/* Which directions are weak beside others at point i; in place (d, d): beside both others. In which one coupling is
   weaker than one in another direction */
KC_POINT void CountWeak(const int dim, PetscInt i, PetscReal times, const PetscReal larger[], const PetscReal smaller[],
                        PetscReal *const to[])
{
  KC_UNROLL
  for (int d = 0; d < dim; d++) {
    KC_UNROLL
    for (int e = 0; e < dim; e++) {
      const PetscReal a = smaller[d == e ? (d + 1) % 3 : e], b = smaller[d == e ? (d + 2) % 3 : e];
      const PetscReal weak = larger[d] < (PetscReal)KC_WEAK * (a < b ? a : b) ? times : 0;

      if (d != e || dim == 3) to[LOOK_WEAK + 3 * d + e][i] += larger[d] > 0 ? weak : 0;
    }
    to[LOOK_THIN + d][i] += smaller[d] < Max(larger[(d + 1) % 3], larger[(d + 2) % 3]) ? times : 0;
  }
}

/* Of a prism: the place of the neighbour that coefficient o belongs to, in direction d: -1, 0, 1 */
KC_POINT int PlaceInPrism(const int box, const int d, const int o)
{
  if (box == KC_PRISM_X) return d == 0 ? o % 3 - 1 : d == 1 ? (o / 3 == 3) - (o / 3 == 1) : (o > 11) - (o < 3);
  if (box == KC_PRISM_Z) return d == 0 ? (o % 5 == 3) - (o % 5 == 1) : d == 1 ? (o % 5 == 4) - (o % 5 == 0) : o / 5 - 1;
  if (d == 2) return (o > 11) - (o < 3);
  if (o < 3 || o > 11) return d == 0 ? 0 : o % 3 - 1;
  return d == 0 ? o % 3 - 1 : o / 3 - 2;
}

/* And of any shape, of nc coefficients */
KC_POINT int Place(const int nc, const int box, const int d, const int o)
{
  if (box > KC_BOX) return PlaceInPrism(box, d, o);
  if (box) return d == 0 ? o % 3 - 1 : d == 1 ? o / 3 % 3 - 1 : nc > 9 ? o / 9 - 1 : 0;
  return o == nc / 2 - 1 - d ? -1 : o == nc / 2 + 1 + d ? 1 : 0;
}

/* The points of a line, which comes so many times; inside: 1 for each direction across in which lines are not at an
   end of the grid, or next to one, else 0 */
KC_POINT void LookAtPoints(const int nc, const int box, PetscInt n, PetscReal times, const PetscReal inside[],
                           const PetscScalar *const coefficients[], PetscReal *const at[])
{
  const PetscScalar *c[KC_MAX_COEFFS];
  PetscReal         *to[LOOK_NUM];
  const int          dim   = box ? (nc > 9 ? 3 : 2) : nc / 2;
  const PetscReal    in[3] = {0, inside[1], inside[2]};

  for (int o = 0; o < nc; o++) c[o] = coefficients[o];
  for (int t = 0; t < LOOK_NUM; t++) to[t] = at[t];
  KC_IVDEP for (PetscInt i = 0; i < n; i++)
  {
    const PetscScalar middle   = c[nc / 2][i];
    const PetscReal   diagonal = PetscAbsScalar(middle), divided = 1 / Max(diagonal, 8 / PETSC_MAX_REAL);
    /* couplings of the sign of the diagonal, as boundary values leave them on coarse grids, couple nothing */
    const PetscReal   sign      = PetscRealPart(middle) < 0 ? 1 : -1;
    /* a row with a zero on the diagonal is left out */
    const PetscReal   inverse   = diagonal > 8 / PETSC_MAX_REAL ? divided : 0;
    PetscReal         larger[3] = {0, 0, 0}, smaller[3] = {0, 0, 0};
    PetscReal low[3] = {0, 0, 0}, high[3] = {0, 0, 0}, size = 0, jumps = 0, rough = 0, cuts = 0, across = 0, relative,
              large;
    PetscScalar sum = 0;

    _Pragma("GCC unroll 27") for (int o = 0; o < nc; o++)
    {
      const PetscScalar v = c[o][i];

      sum += v;
      size += PetscAbsScalar(v);
      KC_UNROLL
      for (int d = 0; d < dim; d++) {
        if (Place(nc, box, d, o) < 0) low[d] += PetscRealPart(v);
        if (Place(nc, box, d, o) > 0) high[d] += PetscRealPart(v);
      }
      if (box && o < nc / 2) rough = Max(rough, Ratio(PetscAbsScalar(v), PetscAbsScalar(c[nc - 1 - o][i])));
    }
    KC_UNROLL
    for (int d = 0; d < dim; d++) {
      const PetscReal a = sign * low[d], b = sign * high[d];

      jumps = Max(jumps, Ratio(PetscAbsReal(a), PetscAbsReal(b)));
      if (d) cuts = Max(cuts, in[d] * Cut(PetscAbsReal(a), PetscAbsReal(b), PetscAbsScalar(sum)));
      else across = Cut(PetscAbsReal(a), PetscAbsReal(b), PetscAbsScalar(sum));
      to[LOOK_TOTAL + d][i] += times * ((a > 0 ? a : 0) + (b > 0 ? b : 0));
      to[LOOK_COUNT + d][i] += times * ((a != 0 ? 1 : 0) + (b != 0 ? 1 : 0));
      larger[d]  = Larger(a, b);
      smaller[d] = Smaller(a, b);
    }
    CountWeak(dim, i, times, larger, smaller, to);
    relative          = PetscAbsScalar(sum) * inverse;
    large             = size * inverse;
    to[LOOK_SCALE][i] = Max(diagonal, to[LOOK_SCALE][i]);
    to[LOOK_SUMS][i]  = Max(relative, to[LOOK_SUMS][i]);
    to[LOOK_BOUND][i] = Max(large, to[LOOK_BOUND][i]);
    to[LOOK_ISOLATED][i] += size > diagonal ? 0 : 1; /* without couplings a row is as large as its diagonal */
    to[LOOK_JUMPS][i] = Max(jumps, to[LOOK_JUMPS][i]);
    to[LOOK_ROUGH][i] = Max(box ? rough : jumps, to[LOOK_ROUGH][i]);
    to[LOOK_CUTS][i]  = Max(cuts, to[LOOK_CUTS][i]);
    to[LOOK_WALLS][i] += across > 0 ? times : 0;
    to[LOOK_FAULT][i] += (size <= PETSC_MAX_REAL ? 0 : 1) + (diagonal > 0 ? 0 : 1);
  }
}

#define KC_LOOK(name, nc, box)                                                                 \
  KC_VERSIONS static void name(PetscInt n, PetscReal times, const PetscReal inside[],          \
                               const PetscScalar *const coefficients[], PetscReal *const at[]) \
  {                                                                                            \
    LookAtPoints(nc, box, n, times, inside, coefficients, at);                                 \
  }

KC_LOOK(LookAtPoints_3, 3, 0)
KC_LOOK(LookAtPoints_5, 5, 0)
KC_LOOK(LookAtPoints_7, 7, 0)
KC_LOOK(LookAtPoints_9, 9, 1)
KC_LOOK(LookAtPoints_27, 27, 1)
KC_LOOK(LookAtPoints_X, 15, KC_PRISM_X)
KC_LOOK(LookAtPoints_Y, 15, KC_PRISM_Y)
KC_LOOK(LookAtPoints_Z, 15, KC_PRISM_Z)

typedef void (*LookKernel)(PetscInt, PetscReal, const PetscReal[], const PetscScalar *const[], PetscReal *const[]);

static LookKernel Look(const KCycleShape *shape)
{
  const LookKernel prism[3] = {LookAtPoints_X, LookAtPoints_Y, LookAtPoints_Z};

  if (shape->box > KC_BOX) return prism[shape->box - KC_PRISM_X];
  return shape->ncoeffs == 3   ? LookAtPoints_3
         : shape->ncoeffs == 5 ? LookAtPoints_5
         : shape->ncoeffs == 7 ? LookAtPoints_7
         : shape->ncoeffs == 9 ? LookAtPoints_9
                               : LookAtPoints_27;
}

/* A point that is not at a boundary, or next to one. Where a grid of two points wraps around these have one
   coupling in place of two */
static PetscBool IsInside(const KCycleBox *box, PetscInt d, PetscInt at)
{
  return (PetscBool)(box->periodic[d] ? box->size[d] > 2
                                      : (at + box->start[d] > 1 && at + box->start[d] < box->size[d] - 2));
}

static void FindInside(const KCycleBox *box, PetscInt line, PetscReal inside[])
{
  inside[0] = 0;
  inside[1] = IsInside(box, 1, line % box->n[1]) ? 1 : 0;
  inside[2] = IsInside(box, 2, line / box->n[1]) ? 1 : 0;
}

/* Points of a line that are looked at apart: its ends and those beside them, which lack couplings where programs
   store boundary points. That of place p of these */
#define LOOK_APART 4

static PetscInt Apart(PetscInt n, PetscInt p)
{
  return n <= LOOK_APART || p < LOOK_APART / 2 ? p : n - LOOK_APART + p;
}

/* Those of several lines that come as often, and are inside of the grid in the same directions: loops over the few
   points of one line would be mostly what is left of vectors. They have places behind those of all points */
#define LOOK_BATCH 64
typedef struct {
  PetscInt    n; /* points so far */
  PetscInt    times;
  PetscReal   inside[3];
  PetscScalar c[KC_MAX_COEFFS][LOOK_BATCH];
} Batch;

static void LookAtBatch(const KCycleStencil *st, Batch *batch, PetscReal *const at[])
{
  const LookKernel   look = Look(&st->shape);
  const PetscScalar *c[KC_MAX_COEFFS];
  PetscReal         *to[LOOK_NUM];

  if (!batch->n) return;
  for (int o = 0; o < st->shape.ncoeffs; o++) c[o] = batch->c[o];
  for (int t = 0; t < LOOK_NUM; t++) to[t] = at[t] + st->box->n[0];
  (*look)(batch->n, (PetscReal)batch->times, batch->inside, c, to);
  batch->n = 0;
}

/* Points of another line, whose coefficients are gathered */
static void AddToBatch(const KCycleStencil *st, const KCycleLine *l, PetscInt times, const PetscReal inside[],
                       Batch *batch, PetscReal *const at[])
{
  const PetscInt  napart = PetscMin(l->n, LOOK_APART);
  const PetscBool alike =
      (PetscBool)(batch->times == times && batch->inside[1] == inside[1] && batch->inside[2] == inside[2]);

  if (!alike || batch->n + napart > LOOK_BATCH) LookAtBatch(st, batch, at);
  batch->times = times;
  for (int d = 0; d < 3; d++) batch->inside[d] = inside[d];
  for (int o = 0; o < st->shape.ncoeffs; o++) {
    for (PetscInt p = 0; p < napart; p++) batch->c[o][batch->n + p] = KCycleLineCoefficient(l, o, Apart(l->n, p));
  }
  batch->n += napart;
}

/* The inner points of a line that comes so many times, as others are looked at apart */
static void LookAtLine(const KCycleStencil *st, PetscInt line, PetscInt times, const PetscReal inside[], Batch *batch,
                       PetscReal *const at[])
{
  const PetscScalar *c[KC_MAX_COEFFS];
  PetscReal         *to[LOOK_NUM];
  KCycleLine         l;

  MatStencilLineArrays(st, line, &l);
  /* the next block */
  if (st->set[line] < 0) KCycleFetch((st->shape.ncoeffs - st->shape.ncoeffs / 2) * l.n, l.end[1] + st->shape.ncoeffs);
  for (int o = 0; o < st->shape.ncoeffs; o++) c[o] = l.c[o] + LOOK_APART / 2;
  for (int t = 0; t < LOOK_NUM; t++) to[t] = at[t] + LOOK_APART / 2;
  if (l.n > LOOK_APART) (*Look(&st->shape))(l.n - LOOK_APART, (PetscReal)times, inside, c, to);
  AddToBatch(st, &l, times, inside, batch, at);
}

/* Rows of this process that are coupled to nobody; the array is the caller's */
PetscErrorCode MatStencilIsolatedRows(Mat A, PetscInt *n, PetscInt **rows)
{
  const Mat_Stencil *st = (Mat_Stencil *)A->data;
  PetscInt           start, end;
  KCycleLine         l;

  PetscFunctionBegin;
  PetscCall(MatStencilCopyToHost(A));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(PetscMalloc1(end - start, rows));
  *n = 0;
  for (PetscInt line = 0; line < st->s.box->nlines; line++) {
    MatStencilLineArrays(&st->s, line, &l);
    for (PetscInt i = 0; i < l.n; i++) {
      if (MatStencilPointIsIsolated(&st->s.shape, &l, i)) (*rows)[(*n)++] = start + line * l.n + i;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first rows with something that is no number, and with a zero on the diagonal; not sought where there are none */
static PetscErrorCode FindFaults(Mat A, KCycleScan *scan)
{
  const Mat_Stencil *st = (Mat_Stencil *)A->data;
  PetscInt           start;
  KCycleLine         l;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &start, NULL));
  for (PetscInt line = 0; line < st->s.box->nlines; line++) {
    MatStencilLineArrays(&st->s, line, &l);
    for (PetscInt i = 0; i < l.n; i++) {
      const PetscInt row = start + line * l.n + i;
      PetscScalar    sum = 0;

      for (int o = 0; o < st->s.shape.ncoeffs; o++) sum += KCycleLineCoefficient(&l, o, i);
      if (PetscIsInfOrNanScalar(sum)) scan->notfinite = PetscMin(scan->notfinite, row);
      if (KCycleLineCoefficient(&l, st->s.shape.ncoeffs / 2, i) != (PetscScalar)0.0) continue;
      if (MatStencilPointIsIsolated(&st->s.shape, &l, i)) scan->empty = PetscMin(scan->empty, row);
      else scan->zero = PetscMin(scan->zero, row);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From all points to one, and from all processes */
static PetscErrorCode LookEnd(Mat A, PetscReal *const at[], KCycleScan *scan)
{
  const KCycleBox *box                   = ((Mat_Stencil *)A->data)->s.box;
  const PetscInt   n                     = box->n[0];
  PetscReal        largest[LOOK_LARGEST] = {0}, alllargest[LOOK_LARGEST], sums[LOOK_SUMMED] = {0}, allsums[LOOK_SUMMED];
  PetscInt         rows[3], allrows[3];
  MPI_Comm         comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n + LOOK_BATCH; i++) {
    if (IsInside(box, 0, i < n ? i : Apart(n, (i - n) % PetscMin(n, LOOK_APART)))) {
      at[LOOK_CUTS][i] = PetscMax(at[LOOK_CUTS][i], at[LOOK_WALLS][i]);
    }
    for (int t = 0; t < LOOK_LARGEST; t++) largest[t] = PetscMax(largest[t], at[t][i]);
    for (int t = 0; t < LOOK_SUMMED; t++) sums[t] += at[LOOK_TOTAL + t][i];
  }
  scan->notfinite = scan->zero = scan->empty = PETSC_INT_MAX;
  if (largest[LOOK_FAULT] > 0) PetscCall(FindFaults(A, scan));
  rows[0] = scan->notfinite;
  rows[1] = scan->zero;
  rows[2] = scan->empty;
  PetscCallMPI(MPI_Allreduce(rows, allrows, 3, MPIU_INT, MPI_MIN, comm));
  PetscCallMPI(MPI_Allreduce(largest, alllargest, LOOK_LARGEST, MPIU_REAL, MPIU_MAX, comm));
  PetscCallMPI(MPI_Allreduce(sums, allsums, LOOK_SUMMED, MPIU_REAL, MPIU_SUM, comm));
  scan->notfinite = allrows[0];
  scan->zero      = allrows[1];
  scan->empty     = allrows[2];
  scan->scale     = alllargest[LOOK_SCALE];
  scan->sums      = alllargest[LOOK_SUMS];
  scan->bound     = alllargest[LOOK_BOUND];
  scan->isolated  = (PetscBool)(alllargest[LOOK_ISOLATED] > 0);
  scan->cuts      = (PetscBool)(alllargest[LOOK_CUTS] > 0);
  scan->jump      = alllargest[LOOK_JUMPS];
  scan->rough     = alllargest[LOOK_ROUGH];
  for (int d = 0; d < 3; d++) {
    scan->sum[d]   = allsums[d];
    scan->count[d] = allsums[LOOK_COUNT - LOOK_TOTAL + d];
    scan->thin[d]  = allsums[LOOK_THIN - LOOK_TOTAL + d];
    for (int e = 0; e < 3; e++) scan->weak[d][e] = allsums[LOOK_WEAK - LOOK_TOTAL + 3 * d + e];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. Lines that share their coefficients are looked at once in a row */
PetscErrorCode MatStencilScan(Mat A, const KCycleScan **found)
{
  Mat_Stencil     *st   = (Mat_Stencil *)A->data;
  KCycleScan      *scan = &st->scan;
  PetscReal       *work, *at[LOOK_NUM], inside[3], next[3];
  Batch           *batch;
  PetscObjectState state;
  PetscInt         times;

  PetscFunctionBegin;
  *found = scan;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (scan->done && scan->state == state) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStencilCopyToHost(A));
  PetscCall(PetscNew(&batch));
  PetscCall(PetscCalloc1(LOOK_NUM * (st->s.box->n[0] + LOOK_BATCH), &work));
  for (int t = 0; t < LOOK_NUM; t++) at[t] = work + t * (st->s.box->n[0] + LOOK_BATCH);
  for (PetscInt line = 0; line < st->s.box->nlines; line += times) {
    FindInside(st->s.box, line, inside);
    for (times = 1; line + times < st->s.box->nlines && MatStencilLineIsLast(&st->s, line + times, line); times++) {
      FindInside(st->s.box, line + times, next);
      if (inside[1] != next[1] || inside[2] != next[2]) break;
    }
    LookAtLine(&st->s, line, times, inside, batch, at);
  }
  LookAtBatch(&st->s, batch, at);
  PetscCall(LookEnd(A, at, scan));
  PetscCall(PetscFree(work));
  PetscCall(PetscFree(batch));
  scan->done   = PETSC_TRUE;
  scan->drifts = PETSC_FALSE;
  scan->ran    = PETSC_FALSE;
  scan->state  = state;
  PetscCall(PetscArrayzero(scan->runs, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}
