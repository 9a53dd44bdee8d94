/*
  Is a solve that ends well one? KSP looks at one norm, of the preconditioned residual as a rule, which a bad
  preconditioner makes small where the residual itself is not. So the first solve after each set-up ends with one
  product, and a warning where the two have not come down together; with -pc_kcycle_check each solve does, and that is
  an error.
*/
#include "kcycleimpl.h"

/* Does the solver claim, by its own norm, that its iterations have solved the system that it was given? */
static PetscErrorCode Claims(PC pc, KSP ksp, PetscBool *claims)
{
  KSPConvergedReason reason;
  KSPNormType        norm;
  PetscReal          last;

  PetscFunctionBegin;
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetNormType(ksp, &norm));
  PetscCall(KSPGetResidualNorm(ksp, &last));
  *claims = (PetscBool)((reason == KSP_CONVERGED_RTOL || reason == KSP_CONVERGED_ATOL) && norm != KSP_NORM_NONE &&
                        !KCycleKSPScales(ksp) && pc->mat == pc->pmat && last > 0 && last < ksp->rnorm0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is left of a vector without what KSP takes out of right sides, or levels of a singular operator, since there is
   no solution to it */
static PetscErrorCode RemoveKnown(PC pc, KSP ksp, Vec v)
{
  PC_KCycle   *kc = KCycleOf(pc);
  MatNullSpace known;

  PetscFunctionBegin;
  PetscCall(ksp->transpose_solve ? MatGetNullSpace(pc->mat, &known) : MatGetTransposeNullSpace(pc->mat, &known));
  if (known) PetscCall(MatNullSpaceRemove(known, v));
  if (kc->gap > 0 || (kc->always && !ksp->transpose_solve)) PetscCall(MatNullSpaceRemove(kc->range, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |b - A x| over |b|, but for that. Where nothing but rounding is left of b there is nothing to compare with */
static PetscErrorCode Reduction(PC pc, KSP ksp, Vec b, Vec x, PetscReal *reduced)
{
  PC_KCycle *kc = KCycleOf(pc);
  Vec        r;
  PetscReal  all, rest, norm;
  PetscBool  keep = (PetscBool)(kc->answer.always || kc->prepared[1]);

  PetscFunctionBegin;
  PetscCall(PCKCycleGetWork(kc, b, &r));
  PetscCall(VecNorm(b, NORM_2, &all));
  PetscCall(VecCopy(b, r));
  PetscCall(RemoveKnown(pc, ksp, r));
  PetscCall(VecNorm(r, NORM_2, &rest));
  PetscCall(ksp->transpose_solve ? MatMultTranspose(pc->mat, x, r) : MatMult(pc->mat, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(RemoveKnown(pc, ksp, r));
  PetscCall(VecNorm(r, NORM_2, &norm));
  *reduced = all > 0 ? norm / PetscMax(rest, PETSC_SQRT_MACHINE_EPSILON * all) : 0;
  if (!keep) PetscCall(VecDestroy(&kc->prepared[1])); /* one look a set-up needs no vector for good */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After each KSPSolve() */
PetscErrorCode PCKCycleCheckAnswer(PC pc, KSP ksp, Vec b, Vec x)
{
  PC_KCycle    *kc     = KCycleOf(pc);
  PetscBool     claims = PETSC_FALSE;
  char          text[512];
  KCycleAnswer *answer = &kc->answer;

  PetscFunctionBegin;
  if (!kc->ready || kc->failure[0] || (!answer->due && !answer->always)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Claims(pc, ksp, &claims));
  if (!claims) PetscFunctionReturn(PETSC_SUCCESS);
  answer->due = PETSC_FALSE;
  PetscCall(KSPGetResidualNorm(ksp, &answer->claimed));
  answer->claimed /= ksp->rnorm0;
  PetscCall(Reduction(pc, ksp, b, x, &answer->reduced));
  answer->wrong =
      (PetscBool) !(answer->reduced <= KCYCLE_SUSPICIOUS * answer->claimed || KCYCLE_SUSPICIOUS * answer->reduced <= 1);
  if (!answer->wrong) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(text, sizeof(text),
                          "KSP has converged by its norm, to %.1e, but the residual b - A x is %.1e of b: the "
                          "preconditioner does not suit the operator, or there is no solution to this right side. See "
                          "-ksp_monitor_true_residual; -ksp_norm_type unpreconditioned or -ksp_pc_side right look at "
                          "the residual itself",
                          (double)answer->claimed, (double)answer->reduced));
  PetscCheck(!answer->always, PetscObjectComm((PetscObject)pc), PETSC_ERR_NOT_CONVERGED, "-pc_kcycle_check: %s", text);
  PetscCall(PetscInfo(pc, "%s\n", text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleSetCheck - Sets whether a solve that has converged by its norm, but not by its residual, is an error.

  Logically Collective

  Input Parameters:
+ pc - the preconditioner
- check - whether it is

  Options Database Key:
. -pc_kcycle_check <false> - whether it is

  Level: intermediate

  Notes:
  `KSP` looks at the norm of the preconditioned residual as a rule (`KSPSetNormType()`), and that may be small where
  b - A x is not: the preconditioner does not suit the operator, or a singular system has no solution. Such a solve is
  one whose residual is still more than 1/100 of the right side, and more than 100 times as much of it as the norm that
  `KSP` looks at is of its first value.

  By default the first solve after each set-up is looked at, which takes one product with the operator, and `-info` and
  `-ksp_view` have a warning. With this option each solve is looked at, and it is an error.

  Not looked at are solves whose operator is another one than that which is preconditioned, diagonally scaled ones
  (`KSPSetDiagonalScale()`), and solvers that look at no norm, as smoothers do. Of right sides what `KSP` takes out of
  them does not count (`MatSetTransposeNullSpace()`), nor what structured levels of a singular operator do, as the view
  says.

.seealso: `PCKCYCLE`, `PCKCycleGetCheck()`, `KSPSetNormType()`
@*/
PetscErrorCode PCKCycleSetCheck(PC pc, PetscBool check)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, check, 2);
  kc = KCycleOf(pc);
  if (!kc) PetscFunctionReturn(PETSC_SUCCESS);
  kc->answer.always = check;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetCheck - Gets whether a solve that has converged by its norm, but not by its residual, is an error.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. check - whether it is

  Level: intermediate

.seealso: `PCKCYCLE`, `PCKCycleSetCheck()`
@*/
PetscErrorCode PCKCycleGetCheck(PC pc, PetscBool *check)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(check, 2);
  KC_KCYCLE_GET(pc, answer.always, check);
  PetscFunctionReturn(PETSC_SUCCESS);
}
