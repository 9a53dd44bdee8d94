/*
  Parts of the grid that nothing flows into or out of: empty rows of the operator, and parts that are a single point of
  a coarse grid, whose row is empty but for rounding. Levels hold such points, by a diagonal that is as large as any: a
  consistent right side is zero there. The solver's own operator stays as it is.

  Closed parts of several points on the coarsest grid are held by its factors, see kccheck.c.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/stencilimpl.h>

/* The rows without couplings whose diagonal is no larger than that of limits (NULL: zero) */
static PetscErrorCode Hold(Mat A, Vec limits, PetscReal scale)
{
  const PetscScalar *limit = NULL;
  PetscScalar       *d;
  Vec                diagonal;
  PetscInt           n, start, *row, m = 0;

  PetscFunctionBegin;
  PetscCall(MatStencilUncoupledRows(A, &n, &row));
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

/* Of the finest level, which then has an operator of its own, that the solver does not multiply with */
PetscErrorCode PCKCycleHoldEmptyRows(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);
  Mat        own;

  PetscFunctionBegin;
  PetscCall(MatDuplicate(kc->structure[0].A, MAT_COPY_VALUES, &own));
  PetscCall(Hold(own, NULL, kc->scale));
  PetscCall(MatDestroy(&kc->structure[0].A));
  kc->structure[0].A = own;
  kc->source         = 0;
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
  PetscCall(MatStencilUncoupledRows(A, &n, &row));
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

/* Of a coarser level, by the diagonals of the finer points that a coarse one stands for, which are 27 at most. Where
   stored boundary points are all that is not coupled, their diagonals are far above that */
PetscErrorCode KCycleStructureHoldClosed(const PC_KCycle *kc, KCycleStructure *level)
{
  const KCycleScan *scan;
  Vec               fine, coarse;
  PetscReal         least;

  PetscFunctionBegin;
  PetscCall(MatStencilScan(level[1].A, &scan));
  if (!scan->alone) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SmallestUncoupled(level[1].A, &least));
  PetscCall(MatStencilScan(level->A, &scan));
  if (least > 27 * scan->scale * 100 * PETSC_MACHINE_EPSILON) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(level->P, &coarse, &fine));
  PetscCall(MatGetDiagonal(level->A, fine));
  PetscCall(MatMultTranspose(level->P, fine, coarse));
  PetscCall(VecScale(coarse, 100 * PETSC_MACHINE_EPSILON));
  PetscCall(Hold(level[1].A, coarse, kc->scale));
  PetscCall(VecDestroy(&fine));
  PetscCall(VecDestroy(&coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}
