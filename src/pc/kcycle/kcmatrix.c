/*
  Small levels on a device, visits of which are products with matrices.
*/
#include "kcycleimpl.h"

static PetscErrorCode PCKCycleSetMatrixBelow_KCycle(PC pc, PetscInt unknowns)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  if (kc->matrix_below == unknowns) PetscFunctionReturn(PETSC_SUCCESS);
  kc->matrix_below = unknowns;
  if (kc->ready && !kc->busy && kc->engine) PetscCall(PCKCycleBlockSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleSetMatrixBelow - Sets on which levels on a device a visit is a product with a matrix.

  Logically Collective

  Input Parameters:
+ pc - the preconditioner
- unknowns - of levels, fewer than these; 0: none

  Options Database Key:
. -pc_kcycle_matrix_below <1100> - the number

  Level: advanced

  Notes:
  What a cycle does on a level and on all coarser ones, the coarsest problem included, is linear in the right side of
  that level, as its solution starts from zero. When the second cycle begins it becomes a matrix, which later ones
  multiply with: one kernel of many blocks in the place of many short steps. The level is the finest one of fewer
  unknowns than these that could share a kernel with all coarser ones (`PCKCycleSetBlockBelow()`, whose conditions these
  are); finer levels do not share one then. The numbers are those of the steps, to rounding.

  With n unknowns a matrix has n^2 numbers, and its columns take n such visits, as many at a time as the device has
  multiprocessors. There is one for a V- and one for a W-cycle; others have one for each kappa with which the next finer
  level is visited; and there are as many for the transpose. They are made again when the operator has new values.
  `-ksp_view` says how many there are.

.seealso: `PCKCYCLE`, `PCKCycleGetMatrixBelow()`, `PCKCycleSetBlockBelow()`, `PCKCycleSetGraph()`, `PCKCycleSetPlace()`
@*/
PetscErrorCode PCKCycleSetMatrixBelow(PC pc, PetscInt unknowns)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, unknowns, 2);
  PetscCheck(unknowns >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_kcycle_matrix_below is a number of unknowns, not %" PetscInt_FMT, unknowns);
  PetscTryMethod(pc, "PCKCycleSetMatrixBelow_C", (PC, PetscInt), (pc, unknowns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCKCycleGetMatrixBelow_KCycle(PC pc, PetscInt *unknowns)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  *unknowns = kc->matrix_below;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetMatrixBelow - Gets the number of unknowns below which a visit of a level on a device is a product.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. unknowns - the number

  Level: advanced

.seealso: `PCKCYCLE`, `PCKCycleSetMatrixBelow()`
@*/
PetscErrorCode PCKCycleGetMatrixBelow(PC pc, PetscInt *unknowns)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(unknowns, 2);
  PetscUseMethod(pc, "PCKCycleGetMatrixBelow_C", (PC, PetscInt *), (pc, unknowns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called with the options of PCKCYCLE */
PetscErrorCode PCKCycleMatrixSetFromOptions(PC pc, KCycleOptionItems PetscOptionsObject)
{
  PC_KCycle *kc;
  PetscInt   unknowns;
  PetscBool  flg;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  unknowns = kc->matrix_below;
  PetscCall(PetscOptionsInt("-pc_kcycle_matrix_below",
                            "Visits of levels on a device with fewer unknowns are products with matrices",
                            "PCKCycleSetMatrixBelow", unknowns, &unknowns, &flg));
  if (flg) PetscCall(PCKCycleSetMatrixBelow(pc, unknowns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCKCycleMatrixCompose(PC pc, PetscBool compose)
{
  PetscObject o = (PetscObject)pc;

  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction(o, "PCKCycleSetMatrixBelow_C", compose ? PCKCycleSetMatrixBelow_KCycle : NULL));
  PetscCall(PetscObjectComposeFunction(o, "PCKCycleGetMatrixBelow_C", compose ? PCKCycleGetMatrixBelow_KCycle : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
