/*
  KSPDPCG: Algorithm 8, line by line.
*/
#include <petsckcycle/private/dpcgimpl.h>
#include <petsc/private/kspimpl.h>
#include <petsckcycle/private/registerimpl.h>

static PetscErrorCode KSPSetUp_DPCG(KSP ksp)
{
  PetscBool deflsub;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCDEFLSUB, &deflsub));
  PetscCheck(deflsub, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_INCOMP,
             "KSPDPCG takes subdomains and inner preconditioner from a PCDEFLSUB, and its PC is of type %s: use "
             "-pc_type deflsub",
             ((PetscObject)ksp->pc)->type_name);
  PetscCall(KSPSetWorkVecs(ksp, 4));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Removes the kernel from what the inner preconditioner makes, as KSP_PCApply() does */
static PetscErrorCode SolveM(KSP ksp, PC inner, Vec r, Vec y)
{
  PetscFunctionBegin;
  PetscCall(PCApply(inner, r, y));
  PetscCall(KSP_RemoveNullSpace(ksp, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestConvergence(KSP ksp, Vec r, Vec y, PetscScalar ry)
{
  PetscReal norm = 0;

  PetscFunctionBegin;
  if (ksp->normtype == KSP_NORM_UNPRECONDITIONED) PetscCall(VecNorm(r, NORM_2, &norm));
  else if (ksp->normtype == KSP_NORM_PRECONDITIONED) PetscCall(VecNorm(y, NORM_2, &norm));
  else if (ksp->normtype == KSP_NORM_NATURAL) norm = PetscSqrtReal(PetscAbsScalar(ry));
  KSPCheckNorm(ksp, norm);
  ksp->rnorm = norm;
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, ksp->its, norm));
  PetscCall((*ksp->converged)(ksp, ksp->its, norm, &ksp->reason, ksp->cnvP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Line 1: x_0, r_0 = b - A x_0, r^_0 = P r_0, M y_0 = r^_0, p_0 = y_0 */
static PetscErrorCode Begin(KSP ksp, PC inner, Mat A, Vec r, Vec y, Vec p, PetscScalar *ry)
{
  PetscFunctionBegin;
  if (ksp->guess_zero) PetscCall(VecCopy(ksp->vec_rhs, y));
  else {
    PetscCall(KSP_MatMult(ksp, A, ksp->vec_sol, y));
    PetscCall(VecAYPX(y, -1, ksp->vec_rhs));
  }
  PetscCall(PCDeflSubProject(ksp->pc, y, r));
  PetscCall(SolveM(ksp, inner, r, y));
  PetscCall(VecCopy(y, p));
  PetscCall(VecDot(r, y, ry));
  KSPCheckDot(ksp, *ry);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines 3 to 9 */
static PetscErrorCode Step(KSP ksp, PC inner, Mat A, PetscScalar *ry)
{
  const Vec   r = ksp->work[0], y = ksp->work[1], p = ksp->work[2], w = ksp->work[3];
  PetscScalar pw, next;

  PetscFunctionBegin;
  PetscCall(KSP_MatMult(ksp, A, p, y));
  PetscCall(PCDeflSubProject(ksp->pc, y, w)); /* w = P A p */
  PetscCall(VecDot(w, p, &pw));
  KSPCheckDot(ksp, pw);
  if (PetscRealPart(pw) <= 0) {
    PetscCheck(!ksp->errorifnotconverged, PetscObjectComm((PetscObject)ksp), PETSC_ERR_NOT_CONVERGED,
               "The operator is not positive definite: (p, P A p) = %g", (double)PetscRealPart(pw));
    ksp->reason = pw == (PetscScalar)0.0 ? KSP_CONVERGED_ATOL : KSP_DIVERGED_INDEFINITE_MAT;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecAXPY(ksp->vec_sol, *ry / pw, p));
  PetscCall(VecAXPY(r, -*ry / pw, w));
  PetscCall(SolveM(ksp, inner, r, y));
  PetscCall(VecDot(r, y, &next));
  KSPCheckDot(ksp, next);
  PetscCall(VecAYPX(p, next / *ry, y));
  *ry = next;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Line 11: x = Q b + P^T x^ */
static PetscErrorCode End(KSP ksp, Vec x)
{
  PetscFunctionBegin;
  PetscCall(PCDeflSubProjectTranspose(ksp->pc, ksp->vec_sol, x));
  PetscCall(PCDeflSubCorrect(ksp->pc, ksp->vec_rhs, ksp->vec_sol));
  PetscCall(VecAXPY(ksp->vec_sol, 1, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSolve_DPCG(KSP ksp)
{
  const Vec   r = ksp->work[0], y = ksp->work[1], p = ksp->work[2];
  Mat         A;
  PC          inner;
  PetscScalar ry;

  PetscFunctionBegin;
  PetscCall(PCDeflSubCheckOperator(ksp->pc, "KSPDPCG"));
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(PCDeflSubGetPC(ksp->pc, &inner));
  ksp->its = 0;
  PetscCall(Begin(ksp, inner, A, r, y, p, &ry));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  ksp->guess_zero = PETSC_FALSE; /* in truth the start is Q b + P^T x_0, so that residuals are relative to b */
  PetscCall(TestConvergence(ksp, r, y, ry));
  while (!ksp->reason && ksp->its < ksp->max_it) {
    ksp->its++;
    PetscCall(Step(ksp, inner, A, &ry));
    if (!ksp->reason) PetscCall(TestConvergence(ksp, r, y, ry));
  }
  if (!ksp->reason) ksp->reason = KSP_DIVERGED_ITS;
  PetscCall(End(ksp, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  KSPDPCG - "dpcg" - Deflated PCG as it is printed: Algorithm 8 of Gupta's thesis. Its preconditioner must be
  `PCDEFLSUB`.

  Level: intermediate

  Notes:
  The reference for `KSPCG` with `PCDEFLSUB`, which has the same iterates, and is to be preferred. Subdomains, E and the
  inner preconditioner are those of the `PCDEFLSUB`, which must be made from the operator of the solve
  (`PCSetUseAmat()`, if that for preconditioners is another); its form does not matter. What is monitored and tested is
  the deflated residual, which is that of Q b + P^T x.

  As the algorithm is printed, errors of the solve with E are never corrected: convergence stalls at their size.

  Source: Gupta, Implementation of the Deflated Preconditioned Conjugate Gradient Method for Bubbly Flow on the GPU,
  Algorithm 8.

.seealso: `PCDEFLSUB`, `KSPCG`
M*/
PetscErrorCode KSPCreate_DPCG(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, PC_LEFT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NATURAL, PC_LEFT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  ksp->ops->setup         = KSPSetUp_DPCG;
  ksp->ops->solve         = KSPSolve_DPCG;
  ksp->ops->destroy       = KSPDestroyDefault;
  ksp->ops->buildsolution = KSPBuildSolutionDefault;
  ksp->ops->buildresidual = KSPBuildResidualDefault;
  PetscFunctionReturn(PETSC_SUCCESS);
}
