/*
  Parts of the grid that nothing flows into or out of. Constants on each of them are a kernel: there may be many parts,
  so that it has no vectors, but a number at each point. Empty rows, and parts that are a single point of a level, get a
  diagonal.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/stencilimpl.h>

static const char Container[] = "KCycleClosed";

/* What takes the part of a vector in the kernel out of it; see MatNullSpaceSetFunction() */
typedef struct {
  PetscInt     npoints, n;
  PetscInt    *part;   /* of each point, or -1 */
  PetscScalar *weight; /* of each point: the kernel is these on each part; NULL: constants */
  PetscScalar *sums;   /* of each part, here and everywhere; squares of the weights */
  PetscScalar *all;
  PetscScalar *squares;
} Remover;

static PetscErrorCode RemoverDestroy(KCycleCtxDestroyArg arg)
{
  Remover *r = (Remover *)KCycleCtxFromDestroyArg(arg);

  PetscFunctionBegin;
  PetscCall(PetscFree2(r->part, r->weight));
  PetscCall(PetscFree3(r->sums, r->all, r->squares));
  PetscCall(PetscFree(r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Remove(MatNullSpace kernel, Vec v, void *ctx)
{
  Remover     *r = (Remover *)ctx;
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(r->sums, r->n));
  PetscCall(VecGetArray(v, &a));
  for (PetscInt p = 0; p < r->npoints; p++) {
    if (r->part[p] >= 0) r->sums[r->part[p]] += r->weight[p] * a[p];
  }
  PetscCallMPI(
      MPI_Allreduce(r->sums, r->all, (PetscMPIInt)r->n, MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)kernel)));
  for (PetscInt k = 0; k < r->n; k++) r->all[k] /= r->squares[k];
  for (PetscInt p = 0; p < r->npoints; p++) {
    if (r->part[p] >= 0) a[p] -= r->weight[p] * r->all[r->part[p]];
  }
  PetscCall(VecRestoreArray(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lowest rows of all closed parts, ascending on each process, in the order of processes: that is ascending */
static PetscErrorCode GatherRoots(Mat A, const KCycleParts *parts, PetscInt root[])
{
  const KCycleBox *box = KCycleStencilOf(A)->box;
  PetscInt        *mine, n = 0;
  PetscMPIInt      count, size, *counts, *at;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(parts->npieces, &mine));
  for (PetscInt piece = 0; piece < parts->npieces; piece++) {
    const PetscInt row = parts->root[piece] - box->rows[box->rank];

    if (parts->closed[piece] && row >= 0 && row < box->npoints) mine[n++] = parts->root[piece];
  }
  PetscCall(PetscSortInt(n, mine));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(PetscMalloc2(size, &counts, size, &at));
  PetscCall(PetscMPIIntCast(n, &count));
  PetscCallMPI(MPI_Allgather(&count, 1, MPI_INT, counts, 1, MPI_INT, PetscObjectComm((PetscObject)A)));
  for (PetscMPIInt r = 0; r < size; r++) at[r] = r ? at[r - 1] + counts[r - 1] : 0;
  PetscCallMPI(MPI_Allgatherv(mine, count, MPIU_INT, root, counts, at, MPIU_INT, PetscObjectComm((PetscObject)A)));
  PetscCall(PetscFree2(counts, at));
  PetscCall(PetscFree(mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points of the closed parts get the numbers of these */
static PetscErrorCode NumberPoints(Mat A, const KCycleParts *parts, KCycleClosed *closed)
{
  PetscInt *root, *number;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(closed->n, &root));
  PetscCall(GatherRoots(A, parts, root));
  PetscCall(PetscMalloc1(parts->npieces, &number));
  for (PetscInt piece = 0; piece < parts->npieces; piece++) {
    number[piece] = -1;
    if (parts->closed[piece]) PetscCall(PetscFindInt(parts->root[piece], closed->n, root, &number[piece]));
  }
  PetscCall(PetscMalloc1(closed->npoints, &closed->part));
  for (PetscInt p = 0; p < closed->npoints; p++) closed->part[p] = parts->piece[p] < 0 ? -1 : number[parts->piece[p]];
  PetscCall(PetscFree(root));
  PetscCall(PetscFree(number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. The closed parts of a symmetric stencil; none where it is not symmetric. rounding: a row sum that is no
   larger, relative to the diagonal, is zero */
PetscErrorCode KCycleClosedFind(Mat A, PetscReal rounding, KCycleClosed *closed)
{
  KCycleParts parts;
  PetscBool   symmetric;
  PetscInt    mine = 0, all;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(closed, sizeof(*closed)));
  closed->comm    = PetscObjectComm((PetscObject)A);
  closed->npoints = KCycleStencilOf(A)->box->npoints;
  PetscCall(MatStencilIsNearlySymmetric(A, &symmetric));
  if (!symmetric) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStencilFindParts(A, rounding, PETSC_FALSE, &parts));
  for (PetscInt piece = 0; piece < parts.npieces; piece++) mine |= parts.closed[piece] ? 0 : 1;
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPIU_INT, MPI_MAX, closed->comm));
  closed->others = (PetscBool)all;
  closed->n      = parts.nclosed;
  if (closed->n) PetscCall(NumberPoints(A, &parts, closed));
  PetscCall(KCyclePartsDestroy(&parts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleClosedDestroy(KCycleClosed *closed)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(closed->part));
  closed->n = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. Of the caller; weights: of each point, NULL: ones */
PetscErrorCode KCycleClosedKernel(const KCycleClosed *closed, const PetscScalar weights[], MatNullSpace *kernel)
{
  Remover *r;

  PetscFunctionBegin;
  PetscCall(PetscNew(&r));
  r->npoints = closed->npoints;
  r->n       = closed->n;
  PetscCall(PetscMalloc2(r->npoints, &r->part, r->npoints, &r->weight));
  PetscCall(PetscMalloc3(r->n, &r->sums, r->n, &r->all, r->n, &r->squares));
  PetscCall(PetscArraycpy(r->part, closed->part, r->npoints));
  PetscCall(PetscArrayzero(r->sums, r->n));
  for (PetscInt p = 0; p < r->npoints; p++) {
    r->weight[p] = weights ? weights[p] : 1;
    if (r->part[p] >= 0) r->sums[r->part[p]] += r->weight[p] * r->weight[p];
  }
  PetscCallMPI(MPI_Allreduce(r->sums, r->squares, (PetscMPIInt)r->n, MPIU_SCALAR, MPIU_SUM, closed->comm));
  PetscCall(MatNullSpaceCreate(closed->comm, PETSC_FALSE, 0, NULL, kernel));
  PetscCall(MatNullSpaceSetFunction(*kernel, Remove, r));
  PetscCall(KCycleObjectCompose((PetscObject)*kernel, Container, r, RemoverDestroy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows without couplings whose diagonal is no larger than that of limits (NULL: zero) */
static PetscErrorCode Pin(Mat A, Vec limits, PetscReal scale)
{
  const PetscScalar *limit = NULL;
  PetscScalar       *d;
  Vec                diagonal;
  PetscInt           n, start, *row, m = 0;

  PetscFunctionBegin;
  PetscCall(MatStencilIsolatedRows(A, &n, &row));
  PetscCall(MatCreateVecs(A, NULL, &diagonal));
  PetscCall(MatGetDiagonal(A, diagonal));
  PetscCall(VecGetOwnershipRange(diagonal, &start, NULL));
  PetscCall(VecGetArray(diagonal, &d));
  if (limits) PetscCall(VecGetArrayRead(limits, &limit));
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt r = row[i] - start;

    if (PetscAbsScalar(d[r]) <= (limits ? PetscAbsScalar(limit[r]) : 0)) row[m++] = row[i];
  }
  if (limits) PetscCall(VecRestoreArrayRead(limits, &limit));
  PetscCall(VecRestoreArray(diagonal, &d));
  PetscCall(VecDestroy(&diagonal));
  PetscCallMPI(MPI_Allreduce(&m, &n, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)A)));
  if (n) {
    PetscCall(PetscInfo(A, "%" PetscInt_FMT " closed parts that are a point\n", n));
    PetscCall(MatZeroRows(A, m, row, scale, NULL, NULL));
  }
  PetscCall(PetscFree(row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of the finest level, which then has its own operator, that the solver does not multiply with */
PetscErrorCode PCKCyclePinEmptyRows(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);
  Mat        own;

  PetscFunctionBegin;
  PetscCall(MatDuplicate(kc->grids[0].A, MAT_COPY_VALUES, &own));
  PetscCall(Pin(own, NULL, kc->scale));
  PetscCall(MatDestroy(&kc->grids[0].A));
  kc->grids[0].A = own;
  kc->source     = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The smallest diagonal of a row without couplings; PETSC_MAX_REAL: there is none */
static PetscErrorCode SmallestUncoupled(Mat A, PetscReal *least)
{
  const PetscScalar *d;
  Vec                diagonal;
  PetscInt           n, start, *row;
  PetscReal          mine = PETSC_MAX_REAL;

  PetscFunctionBegin;
  PetscCall(MatStencilIsolatedRows(A, &n, &row));
  PetscCall(MatCreateVecs(A, NULL, &diagonal));
  PetscCall(MatGetDiagonal(A, diagonal));
  PetscCall(VecGetOwnershipRange(diagonal, &start, NULL));
  PetscCall(VecGetArrayRead(diagonal, &d));
  for (PetscInt i = 0; i < n; i++) mine = PetscMin(mine, PetscAbsScalar(d[row[i] - start]));
  PetscCall(VecRestoreArrayRead(diagonal, &d));
  PetscCall(VecDestroy(&diagonal));
  PetscCall(PetscFree(row));
  PetscCallMPI(MPI_Allreduce(&mine, least, 1, MPIU_REAL, MPIU_MIN, PetscObjectComm((PetscObject)A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a coarser level, by the diagonals of the finer points that a coarse one represents, which are 27 at most. Where
   stored boundary points are all that is not coupled, their diagonals are far above that */
PetscErrorCode KCycleStructurePinClosed(const PC_KCycle *kc, KCycleGridLevel *level)
{
  const KCycleScan *scan;
  Vec               fine, coarse;
  PetscReal         least;

  PetscFunctionBegin;
  PetscCall(MatStencilScan(level[1].A, &scan));
  if (!scan->isolated) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SmallestUncoupled(level[1].A, &least));
  PetscCall(MatStencilScan(level->A, &scan));
  if (least > 27 * scan->scale * 100 * PETSC_MACHINE_EPSILON) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(level->P, &coarse, &fine));
  PetscCall(MatGetDiagonal(level->A, fine));
  PetscCall(MatMultTranspose(level->P, fine, coarse));
  PetscCall(VecScale(coarse, 100 * PETSC_MACHINE_EPSILON));
  PetscCall(Pin(level[1].A, coarse, kc->scale));
  PetscCall(VecDestroy(&fine));
  PetscCall(VecDestroy(&coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}
