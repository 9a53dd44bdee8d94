/*
  Failures that are forgotten when values have changed.

  Factored matrices of PETSc remember a zero pivot, and preconditioners made of others that one of these has failed:
  without what is done here their next set-up would fail with good values, too.
*/
#include <petsckcycle/private/failureimpl.h>
#include <petscksp.h>

/* The solvers that a preconditioner is made of; NULL: none, or others */
static PetscErrorCode GetSolvers(PC pc, PetscInt *n, KSP one[1], KSP **solvers)
{
  PetscBool is;

  PetscFunctionBegin;
  *n       = 1;
  *solvers = one;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCREDUNDANT, &is));
  if (is) {
    PetscCall(PCRedundantGetKSP(pc, one));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCKSP, &is));
  if (is) {
    PetscCall(PCKSPGetKSP(pc, one));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *n = 0;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCBJACOBI, &is));
  if (is) PetscCall(PCBJacobiGetSubKSP(pc, n, NULL, solvers));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCASM, &is));
  if (is) PetscCall(PCASMGetSubKSP(pc, n, NULL, solvers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before a set-up for other values */
PetscErrorCode KCyclePCForgetFailure(PC pc)
{
  PetscBool factors;
  PetscInt  n;
  KSP       one[1], *solvers;
  Mat       F = NULL;

  PetscFunctionBegin;
  if (!pc->setupcalled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  PetscCall(MatFactorClearError(pc->pmat)); /* MatSOR() leaves it there */
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &factors, PCLU, PCCHOLESKY, PCILU, PCICC, ""));
  if (factors) PetscCall(PCFactorGetMatrix(pc, &F));
  if (F) PetscCall(MatFactorClearError(F));
  PetscCall(GetSolvers(pc, &n, one, &solvers));
  for (PetscInt i = 0; i < n; i++) {
    PC inner;

    PetscCall(KSPGetPC(solvers[i], &inner));
    PetscCall(KCyclePCForgetFailure(inner));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
