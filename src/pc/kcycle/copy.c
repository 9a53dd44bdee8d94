/*
  Operators whose entries are known but not stored row by row: what builds levels from matrices, and factorizations,
  take a copy in MATAIJ.
*/
#include "kcycleimpl.h"

/* What belongs to a matrix but for its entries */
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

/* A matrix in MATAIJ. That of blocks on several processes is made from a copy: their conversion takes the matrix
   apart, which a MatFDColoring does not survive */
PetscErrorCode KCycleMatToAIJ(Mat A, Mat *aij)
{
  PetscBool apart;
  Mat       copy = NULL;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, &apart, MATMPIBAIJ, MATMPISBAIJ, ""));
  if (apart) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &copy));
  /* not all types convert into a matrix that is there */
  PetscCall(MatConvert(copy ? copy : A, MATAIJ, MAT_INITIAL_MATRIX, aij));
  PetscCall(MatDestroy(&copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The set-up sees the copy in place of the program's matrices from now on */
static PetscErrorCode UseCopy(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(PetscInfo(pc, "The operator is of type %s: levels are made from a copy in MATAIJ\n",
                      ((PetscObject)pc->pmat)->type_name));
  if (kc->copy) PetscCall(MatConvert(pc->pmat, MATAIJ, MAT_REUSE_MATRIX, &kc->copy));
  else PetscCall(KCycleMatToAIJ(pc->pmat, &kc->copy));
  PetscCall(CopyAttributes(pc->pmat, kc->copy));
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &kc->copied));
  PetscCall(PetscObjectReference((PetscObject)kc->copy)); /* it may be dropped before the set-up ends */
  kc->own.copy = kc->copy;
  if (pc->mat == pc->pmat) pc->mat = kc->copy;
  pc->pmat = kc->copy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks, which PCGAMG and some factorizations do not take */
static PetscErrorCode IsInBlocks(Mat A, PetscBool *is)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, is, MATSEQBAIJ, MATMPIBAIJ, MATSEQSBAIJ, MATMPISBAIJ,
                                          MATSEQSELL, MATMPISELL, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* At the start of a set-up: what PCKCycleCopyRemove() gives back at its end */
PetscErrorCode PCKCycleCopyInstall(PC pc)
{
  PC_KCycle    *kc = KCycleOf(pc);
  PetscBool     parts, blocks;
  PetscObjectId id;

  PetscFunctionBegin;
  kc->own.copy = NULL;
  kc->own.mat  = pc->mat;
  kc->own.pmat = pc->pmat;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc->pmat, &parts, MATNEST, MATIS, ""));
  PetscCall(IsInBlocks(pc->pmat, &blocks));
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &id));
  if (!parts || id != kc->copied || pc->flag == DIFFERENT_NONZERO_PATTERN) PetscCall(MatDestroy(&kc->copy));
  if (parts || (blocks && (kc->copy_blocks || kc->gamg))) PetscCall(UseCopy(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For levels, or a direct solver, that do without a grid */
PetscErrorCode PCKCycleCopyBlocks(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscBool  blocks;

  PetscFunctionBegin;
  PetscCall(IsInBlocks(pc->pmat, &blocks));
  if (!blocks) PetscFunctionReturn(PETSC_SUCCESS);
  kc->copy_blocks = PETSC_TRUE;
  PetscCall(UseCopy(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCKCycleCopyRemove(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(MatDestroy(&kc->own.copy));
  pc->mat  = kc->own.mat;
  pc->pmat = kc->own.pmat;
  PetscFunctionReturn(PETSC_SUCCESS);
}
