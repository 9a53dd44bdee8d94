/*
  Operators whose entries are known but not in rows: what builds levels from matrices, and factorizations, take a copy in MATAIJ.
*/
#include <petsckcycle/private/kcycleimpl.h>

/* What belongs to a matrix beside its entries */
static PetscErrorCode CopyAttributes(Mat from, Mat to)
{
  MatNullSpace nullspace;
  DM           dm;
  PetscBool    known, symmetric;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(from, &nullspace));
  PetscCall(MatSetNullSpace(to, nullspace));
  PetscCall(MatGetTransposeNullSpace(from, &nullspace));
  PetscCall(MatSetTransposeNullSpace(to, nullspace));
  PetscCall(MatGetNearNullSpace(from, &nullspace));
  PetscCall(MatSetNearNullSpace(to, nullspace));
  PetscCall(MatGetDM(from, &dm));
  PetscCall(MatSetDM(to, dm));
  PetscCall(MatIsSymmetricKnown(from, &known, &symmetric));
  if (known) PetscCall(MatSetOption(to, MAT_SYMMETRIC, symmetric));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The set-up sees the copy, if there has to be one, in place of the program's matrices, which come back after it */
PetscErrorCode PCKCycleCopyLend(PC pc, KCycleOwn *own)
{
  PC_KCycle    *kc;
  PetscBool     apart;
  PetscObjectId id;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  own->lent = NULL;
  own->mat  = pc->mat;
  own->pmat = pc->pmat;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc->pmat, &apart, MATNEST, MATIS, ""));
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &id));
  if (!apart || id != kc->copied || pc->flag == DIFFERENT_NONZERO_PATTERN) PetscCall(MatDestroy(&kc->copy));
  if (!apart) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(pc, "The operator is of type %s: levels are made from a copy in MATAIJ\n", ((PetscObject)pc->pmat)->type_name));
  PetscCall(MatConvert(pc->pmat, MATAIJ, kc->copy ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, &kc->copy));
  PetscCall(CopyAttributes(pc->pmat, kc->copy));
  kc->copied = id;
  PetscCall(PetscObjectReference((PetscObject)kc->copy)); /* it may be dropped before the set-up ends */
  own->lent = kc->copy;
  if (pc->mat == pc->pmat) pc->mat = kc->copy;
  pc->pmat = kc->copy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCKCycleCopyReturn(PC pc, KCycleOwn *own)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&own->lent));
  pc->mat  = own->mat;
  pc->pmat = own->pmat;
  PetscFunctionReturn(PETSC_SUCCESS);
}
