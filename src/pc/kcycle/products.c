/*
  While KSP solves, its own products use the stencil instead of the program's matrix. That remains the operator, for who
  asks KSP for it in a monitor; its products are those of the stencil inside of KSP's solve operation and nowhere else,
  and not when its values have changed. They are its own again whatever ends that: convergence, an error in a monitor,
  -ksp_error_if_not_converged.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/deviceimpl.h>
#include <petsc/private/matimpl.h>

/* From presolve on a KSP has its own solve operation under this name */
static const char OwnSolve[] = "KCycleOwnSolve_C";

typedef PetscErrorCode (*Solve)(KSP);

/*
  The stencil if it has the operator's values: not after a failed set-up, nor where the preconditioner is kept
  (KSPSetReusePreconditioner()) and the operator has changed, nor where that multiplies on a device
*/
static PetscErrorCode StandIn(PC pc, Mat *stencil)
{
  PC_KCycle       *kc = KCycleOf(pc);
  PetscObjectId    source;
  PetscObjectState state;
  PetscBool        device;

  PetscFunctionBegin;
  *stencil = NULL;
  if (kc->structured == PC_KCYCLE_STRUCTURED_OFF || !kc->use_structure || !kc->ready || kc->failure[0] || !kc->source)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleMatOnDevice(pc->pmat, &device));
  if (pc->mat != pc->pmat || device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &source));
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &state));
  if (source != kc->source || state != kc->source_state) PetscFunctionReturn(PETSC_SUCCESS);
  if (kc->found.ghostrows) PetscCall(PCKCycleGhostRowsGetOperator(pc, stencil));
  else *stencil = kc->plain ? kc->plain : kc->grids[0].A;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the program's matrix has under this name while products are those of the stencil */
static const char Container[] = "KCycleProducts";

typedef PetscErrorCode (*Product)(Mat, Vec, Vec);

typedef struct {
  Mat              stencil;
  PetscObjectState state; /* of the program's matrix, with the values of the stencil */
  Product          mult, multtranspose;
} Products;

static PetscErrorCode ProductsDestroy(KCycleCtxDestroyArg arg)
{
  Products *products = (Products *)KCycleCtxFromDestroyArg(arg);

  PetscFunctionBegin;
  PetscCall(MatDestroy(&products->stencil));
  PetscCall(PetscFree(products));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProductsOf(Mat A, Products **products)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)A, Container, (PetscObject *)&container));
  PetscCheck(container, PetscObjectComm((PetscObject)A), PETSC_ERR_PLIB, "This matrix has lost its products");
  PetscCall(PetscContainerGetPointer(container, (void **)products));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_Products(Mat A, Vec x, Vec y)
{
  Products *products;

  PetscFunctionBegin;
  PetscCall(ProductsOf(A, &products));
  if (((PetscObject)A)->state == products->state) PetscCall((*products->stencil->ops->mult)(products->stencil, x, y));
  else PetscCall((*products->mult)(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTranspose_Products(Mat A, Vec x, Vec y)
{
  Products *products;

  PetscFunctionBegin;
  PetscCall(ProductsOf(A, &products));
  if (((PetscObject)A)->state == products->state)
    PetscCall((*products->stencil->ops->multtranspose)(products->stencil, x, y));
  else PetscCall((*products->multtranspose)(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The stencil that stands in for A now, or NULL */
PetscErrorCode KCycleMatGetStandIn(Mat A, Mat *stencil)
{
  Products *products;

  PetscFunctionBegin;
  *stencil = NULL;
  if (A->ops->mult != MatMult_Products) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ProductsOf(A, &products));
  if (((PetscObject)A)->state == products->state) *stencil = products->stencil;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Not where another solver has done so already */
static PetscErrorCode Enter(Mat A, Mat stencil)
{
  Products *products;

  PetscFunctionBegin;
  PetscCall(PetscNew(&products));
  PetscCall(PetscObjectReference((PetscObject)stencil));
  products->stencil       = stencil;
  products->mult          = A->ops->mult;
  products->multtranspose = A->ops->multtranspose;
  PetscCall(KCycleObjectCompose((PetscObject)A, Container, products, ProductsDestroy));
  products->state = ((PetscObject)A)->state;
  A->ops->mult    = MatMult_Products;
  if (A->ops->multtranspose && stencil->ops->multtranspose) A->ops->multtranspose = MatMultTranspose_Products;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An assembly, or another type, that the program has made in a monitor has its own */
static PetscErrorCode Leave(Mat A)
{
  Products *products;

  PetscFunctionBegin;
  PetscCall(ProductsOf(A, &products));
  if (A->ops->mult == MatMult_Products) A->ops->mult = products->mult;
  if (A->ops->multtranspose == MatMultTranspose_Products) A->ops->multtranspose = products->multtranspose;
  PetscCall(PetscObjectCompose((PetscObject)A, Container, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In the place of KSP's own solve operation, which comes back at once */
static PetscErrorCode SolveWithStencil(KSP ksp)
{
  PC             pc = ksp->pc;
  Solve          solve;
  Mat            stencil = NULL, A = pc->mat;
  PetscBool      ours;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, OwnSolve, &solve));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, OwnSolve, NULL));
  ksp->ops->solve = solve;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCKCYCLE, &ours));
  if (ours) PetscCall(StandIn(pc, &stencil));
  if (!stencil || A->ops->mult == MatMult_Products) {
    PetscUseTypeMethod(ksp, solve);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCKCycleGhostRowsSetOperator(KCycleOf(pc), ksp));
  PetscCall(PetscObjectReference((PetscObject)A)); /* the program may set other operators in a monitor */
  PetscCall(Enter(A, stencil));
  ierr = (*solve)(ksp);
  PetscCall(Leave(A));
  PetscCall(MatDestroy(&A));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From PCPreSolve() on the next solve of a KSP uses the stencil, if that is the operator */
PetscErrorCode KCycleKSPUseStencil(KSP ksp, PC pc)
{
  Mat stencil = NULL;

  PetscFunctionBegin;
  if (KCycleOf(pc)->structured == PC_KCYCLE_STRUCTURED_OFF || ksp->pc != pc || ksp->ops->solve == SolveWithStencil)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSetUp(pc)); /* KSPSetUp() does not see new values of the same matrix */
  PetscCall(StandIn(pc, &stencil));
  if (!stencil) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, OwnSolve, ksp->ops->solve));
  ksp->ops->solve = SolveWithStencil;
  PetscFunctionReturn(PETSC_SUCCESS);
}
