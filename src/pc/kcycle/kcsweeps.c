/*
  KSPRICHARDSON around PCRELAX, as the smoothers of structured levels are: all sweeps are one call, which needs no work
  vectors. So they are made by the first solve that is no such call: of the transposed operator, with a monitor or a
  norm, damped, with another preconditioner.
*/
#include "kcycleimpl.h"

/* As KSPRICHARDSON declares it */
typedef struct {
  PetscReal scale;
  PetscBool selfscale;
} Richardson;

/* Are the iterations of a smoother sweeps of its PC, and nothing else? */
PetscErrorCode KCycleKSPOnlySweeps(KSP ksp, PetscBool *only)
{
  const Richardson *richardson = (Richardson *)ksp->data;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPRICHARDSON, only));
  if (!*only) PetscFunctionReturn(PETSC_SUCCESS);
  *only = (PetscBool)(ksp->normtype == KSP_NORM_NONE && !ksp->numbermonitors && ksp->max_it > 0 &&
                      richardson->scale == 1 && !richardson->selfscale &&
                      (ksp->converged == KSPConvergedDefault || ksp->converged == KSPConvergedSkip));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpWithoutWork(KSP ksp)
{
  PetscFunctionBegin;
  (void)ksp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With the operations and the work vectors of any other KSPRICHARDSON */
static PetscErrorCode BecomeOrdinary(KSP ksp)
{
  KSP ordinary;

  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ordinary));
  PetscCall(KSPSetType(ordinary, KSPRICHARDSON));
  ksp->ops->setup = ordinary->ops->setup;
  ksp->ops->solve = ordinary->ops->solve;
  PetscCall(KSPDestroy(&ordinary));
  PetscUseTypeMethod(ksp, setup);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One call of PCRELAX where that is all there is to do */
static PetscErrorCode SolveWithoutWork(KSP ksp)
{
  PetscBool                   sweeps, ours;
  Mat                         A;
  MatNullSpace                kernel; /* KSPRICHARDSON keeps corrections out of it */
  PCRichardsonConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(KCycleKSPOnlySweeps(ksp, &sweeps));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCRELAX, &ours));
  PetscCall(PCGetOperators(ksp->pc, NULL, &A));
  PetscCall(MatGetNullSpace(A, &kernel));
  if (sweeps && ours && !ksp->transpose_solve && !kernel) {
    PetscCall(PCApplyRichardson(ksp->pc, ksp->vec_rhs, ksp->vec_sol, ksp->vec_sol, ksp->rtol, ksp->abstol, ksp->divtol,
                                ksp->max_it, ksp->guess_zero, &ksp->its, &reason));
    ksp->reason = (KSPConvergedReason)reason;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BecomeOrdinary(ksp));
  PetscUseTypeMethod(ksp, solve);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a KSPRICHARDSON that has not been set up */
PetscErrorCode KCycleKSPDelayWork(KSP ksp)
{
  PetscFunctionBegin;
  ksp->ops->setup = SetUpWithoutWork;
  ksp->ops->solve = SolveWithoutWork;
  PetscFunctionReturn(PETSC_SUCCESS);
}
