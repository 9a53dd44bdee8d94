/*
  The dense inverse of E for PCDEFLSUB, on the first process, where all rows of E are; other processes have an empty matrix.

  It is made from solves with unit vectors, scaled back, so that it is the inverse of Z^T A Z as it stands, with zeros for vectors that are left out.
*/
#include <petsckcycle/private/deflsubimpl.h>

/* Rows that an inverse may have, and may have if it is chosen */
#define KC_DEFLSUB_INVERSE_MOST   4096
#define KC_DEFLSUB_INVERSE_CHOSEN 512

PetscErrorCode PCDeflSubInverseReset(PC_DeflSub *ds)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&ds->inverse));
  PetscCall(VecDestroy(&ds->in));
  PetscCall(VecDestroy(&ds->out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are the vectors of the operator those of a device for which there is a dense matrix? */
static PetscErrorCode OnDevice(PC pc, PetscBool *device)
{
  VecType type;
  char   *cuda;
  Mat     A;

  PetscFunctionBegin;
  PetscCall(PCDeflSubOperator(pc, &A));
  PetscCall(MatGetVecType(A, &type));
  PetscCall(PetscStrstr(type, VECCUDA, &cuda));
  *device = (PetscBool)(PetscDefined(HAVE_CUDA) && cuda);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the inverse what -pc_deflsub_coarse asks for? */
PetscErrorCode PCDeflSubInverseChoose(PC pc, PetscBool *wanted)
{
  PC_DeflSub *ds = (PC_DeflSub *)pc->data;

  PetscFunctionBegin;
  *wanted = (PetscBool)(ds->coarsetype == PC_DEFLSUB_COARSE_INVERSE);
  PetscCheck(!*wanted || ds->number <= KC_DEFLSUB_INVERSE_MOST, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "E has %" PetscInt_FMT " rows, and its dense inverse would take %.0f MiB; it is for %d rows at most: use fewer subdomains, or -pc_deflsub_coarse factor", ds->number,
             (double)ds->number * ds->number * sizeof(PetscScalar) / 1048576.0, KC_DEFLSUB_INVERSE_MOST);
  if (ds->coarsetype == PC_DEFLSUB_COARSE_AUTO && ds->number <= KC_DEFLSUB_INVERSE_CHOSEN) PetscCall(OnDevice(pc, wanted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateInverse(PC pc)
{
  PC_DeflSub *ds = (PC_DeflSub *)pc->data;
  PetscBool   device;
  PetscInt    n, old = -1;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(ds->s, &n));
  if (ds->inverse) PetscCall(MatGetSize(ds->inverse, &old, NULL));
  if (n == old) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCDeflSubInverseReset(ds));
  PetscCall(OnDevice(pc, &device));
  PetscCall(MatCreate(PETSC_COMM_SELF, &ds->inverse));
  PetscCall(MatSetSizes(ds->inverse, n, n, n, n));
  PetscCall(MatSetType(ds->inverse, device ? MATSEQDENSECUDA : MATSEQDENSE));
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
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(CreateInverse(pc));
  PetscCall(VecGetLocalSize(ds->s, &n));
  PetscCall(MatDenseGetArrayWrite(ds->inverse, &columns));
  for (PetscInt j = 0; j < ds->number; j++) {
    PetscCall(VecSet(ds->s, 0));
    if (n) PetscCall(VecSetValue(ds->s, j, 1, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(ds->s));
    PetscCall(VecAssemblyEnd(ds->s));
    PetscCall(PCDeflSubCoarseSolveScaled(pc));
    PetscCall(VecGetArrayRead(ds->y, &y));
    PetscCall(PetscArraycpy(columns + j * n, y, n));
    PetscCall(VecRestoreArrayRead(ds->y, &y));
  }
  PetscCall(MatDenseRestoreArrayWrite(ds->inverse, &columns));
  PetscCall(MatAssemblyBegin(ds->inverse, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(ds->inverse, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
