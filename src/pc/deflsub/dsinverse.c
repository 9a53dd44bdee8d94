/*
  The dense inverse of E for PCDEFLSUB, on the first process, where all rows of E are; other processes have an empty
  matrix.

  It is made from solves with unit vectors, scaled back, so that it is the inverse of Z^T A Z itself, with zeros
  for vectors that are left out. It has a row and a column of zeros more, for the exterior: so one process whose local
  numbers are those of E applies it to them.
*/
#include "deflsubimpl.h"

/* Rows that an inverse may have, and may have if it is chosen */
#define KC_DEFLSUB_INVERSE_MOST   4096
#define KC_DEFLSUB_INVERSE_CHOSEN 512

PetscErrorCode PCDeflSubInverseReset(PC_DeflSub *ds)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&ds->inverse));
  PetscCall(VecDestroy(&ds->in));
  PetscCall(VecDestroy(&ds->out));
  ds->direct = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the inverse what -pc_deflsub_coarse asks for? */
PetscErrorCode PCDeflSubInverseChoose(PC pc, PetscBool *wanted)
{
  PC_DeflSub *ds = (PC_DeflSub *)pc->data;

  PetscFunctionBegin;
  *wanted = (PetscBool)(ds->coarsetype == PC_DEFLSUB_COARSE_INVERSE);
  PetscCheck(!*wanted || ds->number <= KC_DEFLSUB_INVERSE_MOST, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE,
             "E has %" PetscInt_FMT " rows, and its dense inverse would take %.0f MiB; it is for %d rows at most: use "
             "fewer subdomains, or -pc_deflsub_coarse factor",
             ds->number, (double)ds->number * ds->number * sizeof(PetscScalar) / 1048576.0, KC_DEFLSUB_INVERSE_MOST);
  if (ds->coarsetype == PC_DEFLSUB_COARSE_AUTO && ds->number <= KC_DEFLSUB_INVERSE_CHOSEN)
    PetscCall(PCDeflSubDeviceHasDense(ds, wanted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n: rows of this process */
static PetscErrorCode CreateInverse(PC_DeflSub *ds, PetscInt n)
{
  PetscBool device, same = PETSC_FALSE;
  MatType   type;
  PetscInt  old = -1;

  PetscFunctionBegin;
  PetscCall(PCDeflSubDeviceHasDense(ds, &device));
  type = device ? MATSEQDENSECUDA : MATSEQDENSE;
  if (ds->inverse) {
    PetscCall(MatGetSize(ds->inverse, &old, NULL));
    PetscCall(PetscObjectTypeCompare((PetscObject)ds->inverse, type, &same));
  }
  if (n == old && same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCDeflSubInverseReset(ds));
  PetscCall(MatCreate(PETSC_COMM_SELF, &ds->inverse));
  PetscCall(MatSetSizes(ds->inverse, n, n, n, n));
  PetscCall(MatSetType(ds->inverse, type));
  PetscCall(MatSetUp(ds->inverse));
  PetscCall(MatCreateVecs(ds->inverse, &ds->in, &ds->out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One solve with all processes for each column; the coarse solver is set up */
PetscErrorCode PCDeflSubInverseSetUp(PC pc)
{
  PC_DeflSub        *ds = (PC_DeflSub *)pc->data;
  PetscScalar       *columns;
  const PetscScalar *y;
  PetscInt           n, m;
  PetscMPIInt        size;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(ds->s, &n));
  m = n ? n + 1 : 0;
  PetscCall(CreateInverse(ds, m));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  ds->direct = (PetscBool)(size == 1 && ds->nlocal == ds->number);
  PetscCall(MatDenseGetArrayWrite(ds->inverse, &columns));
  PetscCall(PetscArrayzero(columns, m * m));
  for (PetscInt j = 0; j < ds->number; j++) {
    PetscCall(VecSet(ds->s, 0));
    if (n) PetscCall(VecSetValue(ds->s, j, 1, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(ds->s));
    PetscCall(VecAssemblyEnd(ds->s));
    PetscCall(PCDeflSubCoarseSolveScaled(pc));
    PetscCall(VecGetArrayRead(ds->y, &y));
    PetscCall(PetscArraycpy(columns + j * m, y, n));
    PetscCall(VecRestoreArrayRead(ds->y, &y));
  }
  PetscCall(MatDenseRestoreArrayWrite(ds->inverse, &columns));
  PetscCall(MatAssemblyBegin(ds->inverse, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(ds->inverse, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
