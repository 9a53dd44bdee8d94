/*
  Products of stencil matrices with ordinary ones (MatPtAP() with PETSc's interpolations, MatMatMult()): those of their
  AIJ forms, as AIJ matrices.
*/
#include <petsckcycle/private/stencilimpl.h>

static const char Container[] = "KCycleStencilProduct";

/* The factors of a product that are stencils, in AIJ form, and how PETSc computes the values of the product from
   these */
typedef struct {
  Mat stencil[3], aij[3];
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

/* AIJ forms, with the values of now, stand in for the stencils */
static PetscErrorCode FactorsEnter(Mat product, Factors *f)
{
  Mat *factor[3] = {&product->product->A, &product->product->B, &product->product->C};

  PetscFunctionBegin;
  for (int i = 0; i < 3; i++) {
    PetscBool is = PETSC_FALSE;

    if (*factor[i]) PetscCall(MatStencilIs(*factor[i], &is));
    f->stencil[i] = is ? *factor[i] : NULL;
    if (!is) continue;
    PetscCall(MatConvert(*factor[i], MATAIJ, f->aij[i] ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, &f->aij[i]));
    *factor[i] = f->aij[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FactorsLeave(Mat product, Factors *f)
{
  Mat *factor[3] = {&product->product->A, &product->product->B, &product->product->C};

  PetscFunctionBegin;
  for (int i = 0; i < 3; i++) {
    if (f->stencil[i]) *factor[i] = f->stencil[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductNumeric_Stencil(Mat product)
{
  Factors *f;

  PetscFunctionBegin;
  PetscCall(FactorsGet(product, &f));
  PetscCall(FactorsEnter(product, f));
  PetscCall((*f->numeric)(product));
  PetscCall(FactorsLeave(product, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductSymbolic_Stencil(Mat product)
{
  Factors *f;

  PetscFunctionBegin;
  PetscCall(PetscObjectCompose((PetscObject)product, Container, NULL)); /* of factors that have been replaced */
  PetscCall(FactorsGet(product, &f));
  PetscCall(FactorsEnter(product, f));
  PetscCall(MatProductSetFromOptions(product));
  PetscCall(MatProductSymbolic(product));
  f->numeric                   = product->ops->productnumeric;
  product->ops->productnumeric = MatProductNumeric_Stencil;
  PetscCall(FactorsLeave(product, f));
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
