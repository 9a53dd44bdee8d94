/*
  One look at all coefficients of a stencil matrix, for whoever wants to know something of them: what is found is kept until the matrix changes.

  Lines are read one by one, and each point has its own sums and maxima over the lines: so all loops are over arrays.
*/
#include <petsckcycle/private/stencilimpl.h>

typedef struct {
  const Mat_Stencil *st;
  PetscInt           n, start; /* points of a line; first row of this process */
  PetscScalar       *values;   /* of a line */
  PetscScalar       *sum;
  PetscReal         *c[3][2]; /* couplings of each point with those behind and ahead in each direction, whatever their place across */
  PetscReal         *size;    /* sum of the absolute values of a row */
  /* of all lines */
  PetscReal         *scale, *sums, *bound, *most, *alone;
  PetscReal         *total[3], *count[3], *jump[3];
} Look;

static PetscErrorCode LookCreate(Mat A, Look *look)
{
  PetscReal *work;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(look, sizeof(*look)));
  look->st = (Mat_Stencil *)A->data;
  look->n  = look->st->box->n[0];
  PetscCall(MatGetOwnershipRange(A, &look->start, NULL));
  PetscCall(PetscMalloc3(look->st->shape.ncoeffs * look->n, &look->values, look->n, &look->sum, 21 * look->n, &work));
  PetscCall(PetscArrayzero(work, 21 * look->n));
  look->size  = work;
  look->scale = work + look->n;
  look->sums  = work + 2 * look->n;
  look->bound = work + 3 * look->n;
  look->most  = work + 4 * look->n;
  look->alone = work + 5 * look->n;
  for (int d = 0; d < 3; d++) {
    look->total[d] = work + (6 + d) * look->n;
    look->count[d] = work + (9 + d) * look->n;
    look->jump[d]  = work + (12 + d) * look->n;
    for (int side = 0; side < 2; side++) look->c[d][side] = work + (15 + 2 * d + side) * look->n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

KC_VERSIONS static void AddRow(PetscInt n, const PetscScalar *restrict v, PetscScalar *restrict sum, PetscReal *restrict size)
{
  for (PetscInt i = 0; i < n; i++) {
    sum[i] += v[i];
    size[i] += PetscAbsScalar(v[i]);
  }
}

KC_VERSIONS static void AddCoupling(PetscInt n, const PetscScalar *restrict v, PetscReal *restrict c)
{
  for (PetscInt i = 0; i < n; i++) c[i] += PetscRealPart(v[i]);
}

/* Rows: a zero on the diagonal is left out, a row without couplings is as large as its diagonal */
KC_VERSIONS static void LookAtRows(PetscInt n, const PetscScalar *restrict v, const PetscScalar *restrict sum, const PetscReal *restrict size, PetscReal *restrict scale,
                                   PetscReal *restrict sums, PetscReal *restrict bound, PetscReal *restrict alone)
{
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal diagonal = PetscAbsScalar(v[i]), inverse = 1 / (diagonal > 0 ? diagonal : 1), zero = diagonal > 0 ? 0 : 1;
    const PetscReal relative = PetscAbsScalar(sum[i]) * inverse * (1 - zero), large = size[i] * inverse * (1 - zero);

    scale[i] = diagonal > scale[i] ? diagonal : scale[i];
    sums[i]  = relative > sums[i] ? relative : sums[i];
    bound[i] = large > bound[i] ? large : bound[i];
    alone[i] = size[i] > diagonal ? alone[i] : 1;
  }
}

/* Couplings with opposite neighbours, added "times" times; those of the sign of the diagonal, as boundary values leave them on coarse grids, couple nothing */
KC_VERSIONS static void LookAtCouplings(PetscInt n, PetscReal times, const PetscScalar *restrict diagonal, const PetscReal *restrict low, const PetscReal *restrict high,
                                        PetscReal *restrict total, PetscReal *restrict count, PetscReal *restrict jump)
{
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal a = PetscAbsReal(low[i]), b = PetscAbsReal(high[i]), has_a = a > 0 ? 1 : 0, has_b = b > 0 ? 1 : 0;
    const PetscReal larger = a > b ? a : b, smaller = a > b ? b : a, jumps = larger > KCYCLE_JUMP * smaller ? 1 : 0;

    const PetscReal sign = PetscRealPart(diagonal[i]) < 0 ? 1 : -1, c = sign * low[i], d = sign * high[i];

    total[i] += times * ((c > 0 ? c : 0) + (d > 0 ? d : 0));
    count[i] += times * (has_a + has_b);
    jump[i] += has_a * has_b * jumps;
  }
}

KC_VERSIONS static void LookAtPair(PetscInt n, const PetscScalar *restrict low, const PetscScalar *restrict high, PetscReal *restrict jump)
{
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal a = PetscAbsScalar(low[i]), b = PetscAbsScalar(high[i]), has_a = a > 0 ? 1 : 0, has_b = b > 0 ? 1 : 0;
    const PetscReal larger = a > b ? a : b, smaller = a > b ? b : a, jumps = larger > KCYCLE_JUMP * smaller ? 1 : 0;

    jump[i] += has_a * has_b * jumps;
  }
}

/* The first rows of a line with something that is no number, and with a zero on the diagonal */
static void LookForFaults(const Look *look, PetscInt line, KCycleScan *scan)
{
  const PetscScalar *diagonal = look->values + look->st->shape.ncoeffs / 2 * look->n;
  PetscBool          any      = PETSC_FALSE;

  for (PetscInt i = 0; i < look->n; i++) any = (PetscBool)(any | !(look->size[i] <= PETSC_MAX_REAL) | (diagonal[i] == (PetscScalar)0.0));
  for (PetscInt i = 0; any && i < look->n; i++) {
    const PetscInt row = look->start + line * look->n + i;

    if (PetscIsInfOrNanScalar(look->sum[i])) scan->notfinite = PetscMin(scan->notfinite, row);
    else if (diagonal[i] == (PetscScalar)0.0) scan->zero = PetscMin(scan->zero, row);
  }
}

/* A line that comes so many times */
static PetscErrorCode LookAtLine(Mat A, PetscInt line, PetscInt times, Look *look, KCycleScan *scan)
{
  const KCycleShape *shape = &look->st->shape;
  const PetscInt     n     = look->n;

  PetscFunctionBegin;
  PetscCall(MatStencilGetLine(A, line, look->values));
  PetscCall(PetscArrayzero(look->sum, n));
  PetscCall(PetscArrayzero(look->size, n));
  PetscCall(PetscArrayzero(look->c[0][0], 6 * n));
  for (int o = 0; o < shape->ncoeffs; o++) {
    const int          q = shape->line[o], to[3] = {shape->dx[o], shape->dy[q], shape->dz[q]};
    const PetscScalar *v = look->values + o * n;

    AddRow(n, v, look->sum, look->size);
    for (int d = 0; d < look->st->box->dim; d++) {
      if (to[d]) AddCoupling(n, v, look->c[d][to[d] > 0]);
    }
    if (o < shape->ncoeffs / 2) LookAtPair(n, v, look->values + (shape->ncoeffs - 1 - o) * n, look->most);
  }
  LookAtRows(n, look->values + shape->ncoeffs / 2 * n, look->sum, look->size, look->scale, look->sums, look->bound, look->alone);
  for (int d = 0; d < look->st->box->dim; d++)
    LookAtCouplings(n, (PetscReal)times, look->values + shape->ncoeffs / 2 * n, look->c[d][0], look->c[d][1], look->total[d], look->count[d], look->jump[d]);
  LookForFaults(look, line, scan);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From all points to one, and from all processes */
static PetscErrorCode LookEnd(MPI_Comm comm, const Look *look, KCycleScan *scan)
{
  PetscReal largest[6] = {0}, alllargest[6], sums[6] = {0}, allsums[6];
  PetscInt  rows[2] = {scan->notfinite, scan->zero}, allrows[2];

  PetscFunctionBegin;
  for (PetscInt i = 0; i < look->n; i++) {
    largest[0] = PetscMax(largest[0], look->scale[i]);
    largest[1] = PetscMax(largest[1], look->sums[i]);
    largest[2] = PetscMax(largest[2], look->bound[i]);
    largest[3] = PetscMax(largest[3], look->alone[i]);
    largest[5] = PetscMax(largest[5], look->most[i]);
    for (int d = 0; d < 3; d++) {
      largest[4] = PetscMax(largest[4], look->jump[d][i]);
      sums[d] += look->total[d][i];
      sums[3 + d] += look->count[d][i];
    }
  }
  PetscCallMPI(MPI_Allreduce(rows, allrows, 2, MPIU_INT, MPI_MIN, comm));
  PetscCallMPI(MPI_Allreduce(largest, alllargest, 6, MPIU_REAL, MPIU_MAX, comm));
  PetscCallMPI(MPI_Allreduce(sums, allsums, 6, MPIU_REAL, MPIU_SUM, comm));
  scan->notfinite = allrows[0];
  scan->zero      = allrows[1];
  scan->scale     = alllargest[0];
  scan->sums      = alllargest[1];
  scan->bound     = alllargest[2];
  scan->alone     = (PetscBool)(alllargest[3] > 0);
  scan->jumps     = (PetscBool)(alllargest[4] > 0);
  scan->rough     = (PetscBool)(alllargest[5] > 0);
  for (int d = 0; d < 3; d++) {
    scan->sum[d]   = allsums[d];
    scan->count[d] = allsums[3 + d];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. Lines that share their coefficients are looked at once in a row */
PetscErrorCode MatStencilScan(Mat A, const KCycleScan **found)
{
  Mat_Stencil     *st   = (Mat_Stencil *)A->data;
  KCycleScan      *scan = &st->scan;
  PetscObjectState state;
  PetscInt         times;
  Look             look;

  PetscFunctionBegin;
  *found = scan;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (scan->done && scan->state == state) PetscFunctionReturn(PETSC_SUCCESS);
  scan->notfinite = scan->zero = PETSC_INT_MAX;
  PetscCall(LookCreate(A, &look));
  for (PetscInt line = 0; line < st->box->nlines; line += times) {
    for (times = 1; line + times < st->box->nlines && MatStencilLineIsLast(st, line + times, line); times++) continue;
    PetscCall(LookAtLine(A, line, times, &look, scan));
  }
  PetscCall(LookEnd(PetscObjectComm((PetscObject)A), &look, scan));
  PetscCall(PetscFree3(look.values, look.sum, look.size));
  scan->done  = PETSC_TRUE;
  scan->state = state;
  PetscFunctionReturn(PETSC_SUCCESS);
}
