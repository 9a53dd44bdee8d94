/*
  While KSP solves, its own products use the stencil instead of the program's matrix. The stencil stands in for Amat of
  the PC inside of KSP's solve operation and nowhere else, so that the program's operator is back whatever ends that:
  convergence, an error in a monitor, -ksp_error_if_not_converged.
*/
#include <petsckcycle/private/kcycleimpl.h>
#include <petsckcycle/private/deviceimpl.h>

/* From presolve on a KSP has its own solve operation under this name */
static const char OwnSolve[] = "KCycleOwnSolve_C";

typedef PetscErrorCode (*Solve)(KSP);

/*
  The stencil if it is the operator: not after a failed set-up, nor where the preconditioner is kept
  (KSPSetReusePreconditioner()) and the operator has changed, nor where that multiplies on a device
*/
static PetscErrorCode StandIn(PC pc, Mat *stencil)
{
  PC_KCycle       *kc;
  PetscObjectId    source;
  PetscObjectState state;
  PetscBool        device;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  *stencil = NULL;
  if (kc->structured == PC_KCYCLE_STRUCTURED_OFF || !kc->use_structure || !kc->ready || kc->failure[0] || !kc->source)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleMatOnDevice(pc->pmat, &device));
  if (pc->mat != pc->pmat || device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &source));
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &state));
  if (source != kc->source || state != kc->source_state) PetscFunctionReturn(PETSC_SUCCESS);
  if (kc->found.pads) PetscCall(PCKCyclePadsGetOperator(pc, stencil));
  else *stencil = kc->structure[0].A;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetNullSpaces(Mat A, MatNullSpace nullspace, MatNullSpace transposed)
{
  PetscFunctionBegin;
  PetscCall(MatSetNullSpace(A, nullspace));
  PetscCall(MatSetTransposeNullSpace(A, transposed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The reference that the PC has to its Amat becomes ours */
static PetscErrorCode Enter(PC pc, Mat stencil, Mat *outer)
{
  MatNullSpace nullspace, transposed;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(pc->mat, &nullspace));
  PetscCall(MatGetTransposeNullSpace(pc->mat, &transposed));
  PetscCall(SetNullSpaces(stencil, nullspace, transposed));
  PetscCall(PetscObjectReference((PetscObject)stencil));
  *outer  = pc->mat;
  pc->mat = stencil;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Not if the program has set other operators meanwhile, in a monitor */
static PetscErrorCode Leave(PC pc, Mat stencil, Mat *outer)
{
  PetscFunctionBegin;
  PetscCall(SetNullSpaces(stencil, NULL, NULL));
  if (pc->mat == stencil) {
    PetscCall(MatDestroy(&pc->mat));
    pc->mat = *outer;
    *outer  = NULL;
  }
  PetscCall(MatDestroy(outer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In the place of KSP's own solve operation, which comes back at once */
static PetscErrorCode SolveWithStencil(KSP ksp)
{
  PC             pc = ksp->pc;
  Solve          solve;
  Mat            stencil = NULL, outer = NULL;
  PC_KCycle     *kc;
  PetscBool      ours;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, OwnSolve, &solve));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, OwnSolve, NULL));
  ksp->ops->solve = solve;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCKCYCLE, &ours));
  if (ours) PetscCall(StandIn(pc, &stencil));
  if (!stencil) {
    PetscUseTypeMethod(ksp, solve);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCKCycleGetContext(pc, &kc));
  PetscCall(PCKCyclePadsGive(kc, ksp));
  PetscCall(PetscObjectReference((PetscObject)stencil));
  PetscCall(Enter(pc, stencil, &outer));
  ierr = (*solve)(ksp);
  PetscCall(Leave(pc, stencil, &outer));
  PetscCall(MatDestroy(&stencil));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From PCPreSolve() on the next solve of a KSP uses the stencil, if that is the operator */
PetscErrorCode KCycleKSPUseStencil(KSP ksp, PC pc)
{
  Mat        stencil = NULL;
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  if (kc->structured == PC_KCYCLE_STRUCTURED_OFF || ksp->pc != pc || ksp->ops->solve == SolveWithStencil)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSetUp(pc)); /* KSPSetUp() does not see new values of the same matrix */
  PetscCall(StandIn(pc, &stencil));
  if (!stencil) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, OwnSolve, ksp->ops->solve));
  ksp->ops->solve = SolveWithStencil;
  PetscFunctionReturn(PETSC_SUCCESS);
}
