/*
  Products of stencil matrices with ordinary ones (MatPtAP() with PETSc's interpolations, MatMatMult()): those of their
  AIJ forms, as AIJ matrices.
*/
#include <petsckcycle/private/stencilimpl.h>

static const char Container[] = "KCycleStencilProduct";

/* The factors of a product that are stencils, their shapes and AIJ forms, and how PETSc computes the values of the
   product from these */
typedef struct {
  Mat stencil[3], aij[3];
  int kind[3];
  PetscErrorCode (*numeric)(Mat);
} Factors;

static PetscErrorCode FactorsDestroy(KCycleCtxDestroyArg arg)
{
  Factors *f = (Factors *)KCycleCtxFromDestroyArg(arg);

  PetscFunctionBegin;
  for (int i = 0; i < 3; i++) PetscCall(MatDestroy(&f->aij[i]));
  PetscCall(PetscFree(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FactorsGet(Mat product, Factors **f)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)product, Container, (PetscObject *)&container));
  if (container) {
    PetscCall(PetscContainerGetPointer(container, (void **)f));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscNew(f));
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, *f));
  PetscCall(KCycleContainerSetCtxDestroy(container, FactorsDestroy));
  PetscCall(PetscObjectCompose((PetscObject)product, Container, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* AIJ forms with the values of now. What PETSc has made for the product holds for their patterns alone */
static PetscErrorCode FactorsConvert(Mat product, Factors *f)
{
  Mat factor[3] = {product->product->A, product->product->B, product->product->C};

  PetscFunctionBegin;
  for (int i = 0; i < 3; i++) {
    const KCycleShape *shape;
    PetscBool          is = PETSC_FALSE;

    if (factor[i]) PetscCall(MatStencilIs(factor[i], &is));
    f->stencil[i] = is ? factor[i] : NULL;
    if (!is) continue;
    shape = &KCycleStencilOf(factor[i])->shape;
    if (!f->numeric) f->kind[i] = KCycleShapeKind(shape);
    PetscCheck(f->kind[i] == KCycleShapeKind(shape), PetscObjectComm((PetscObject)product), PETSC_ERR_ARG_WRONGSTATE,
               "A factor of the product has another stencil, now of %d points, than when the product was made: make it "
               "anew with MAT_INITIAL_MATRIX; PCReset() makes a preconditioner do so",
               shape->ncoeffs);
    PetscCall(MatConvert(factor[i], MATAIJ, f->aij[i] ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, &f->aij[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs a phase of the product with the AIJ forms in place of the stencils, which are back whatever happens */
static PetscErrorCode FactorsRun(Mat product, const Factors *f, PetscErrorCode (*phase)(Mat))
{
  Mat           *factor[3] = {&product->product->A, &product->product->B, &product->product->C};
  PetscErrorCode ierr;

  PetscFunctionBegin;
  for (int i = 0; i < 3; i++) {
    if (f->stencil[i]) *factor[i] = f->aij[i];
  }
  ierr = (*phase)(product);
  for (int i = 0; i < 3; i++) {
    if (f->stencil[i]) *factor[i] = f->stencil[i];
  }
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductNumeric_Stencil(Mat product)
{
  Factors *f;

  PetscFunctionBegin;
  PetscCall(FactorsGet(product, &f));
  PetscCall(FactorsConvert(product, f));
  PetscCall(FactorsRun(product, f, f->numeric));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SymbolicOfAIJ(Mat product)
{
  PetscFunctionBegin;
  PetscCall(MatProductSetFromOptions(product));
  PetscCall(MatProductSymbolic(product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductSymbolic_Stencil(Mat product)
{
  Factors *f;

  PetscFunctionBegin;
  PetscCall(PetscObjectCompose((PetscObject)product, Container, NULL)); /* of factors that have been replaced */
  PetscCall(FactorsGet(product, &f));
  PetscCall(FactorsConvert(product, f));
  PetscCall(FactorsRun(product, f, SymbolicOfAIJ));
  f->numeric                   = product->ops->productnumeric;
  product->ops->productnumeric = MatProductNumeric_Stencil;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductSetFromOptions_Stencil(Mat product)
{
  PetscFunctionBegin;
  product->ops->productsymbolic = MatProductSymbolic_Stencil;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilComposeProducts(Mat A, PetscBool compose)
{
  const char *const pairs[] = {"stencil_seqaij",        "stencil_mpiaij",        "seqaij_stencil", "mpiaij_stencil",
                               "seqaij_stencil_seqaij", "mpiaij_stencil_mpiaij", "stencil_stencil"};
  char              name[128];

  PetscFunctionBegin;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(pairs); i++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "MatProductSetFromOptions_%s_C", pairs[i]));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, name, compose ? MatProductSetFromOptions_Stencil : NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
