/*
  Factorizations of stencil matrices: those of AIJ, to which the matrix is converted for each.
*/
#include <petsckcycle/private/stencilimpl.h>

typedef PetscErrorCode (*Symbolic)(Mat, Mat, IS, IS, const MatFactorInfo *);
typedef PetscErrorCode (*SymbolicSymmetric)(Mat, Mat, IS, const MatFactorInfo *);
typedef PetscErrorCode (*Numeric)(Mat, Mat, const MatFactorInfo *);

/* Belongs to the factor: the AIJ form, and what the factor does with that */
typedef struct {
  Mat               aij;
  Symbolic          lu, ilu;
  SymbolicSymmetric cholesky, icc;
  Numeric           lunumeric, choleskynumeric;
} Factor;

static const char Container[] = "KCycleStencilFactor";

static PetscErrorCode FactorDestroy(KCycleCtxDestroyArg arg)
{
  Factor *f = (Factor *)KCycleCtxFromDestroyArg(arg);

  PetscFunctionBegin;
  PetscCall(MatDestroy(&f->aij));
  PetscCall(PetscFree(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With the values that the matrix has now */
static PetscErrorCode FactorGet(Mat F, Mat A, Factor **f)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)F, Container, (PetscObject *)&container));
  PetscCheck(container, PetscObjectComm((PetscObject)F), PETSC_ERR_PLIB, "The factor was not made for a matrix of type stencil");
  PetscCall(PetscContainerGetPointer(container, (void **)f));
  PetscCall(MatConvert(A, MATAIJ, MAT_REUSE_MATRIX, &(*f)->aij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LUNumeric(Mat, Mat, const MatFactorInfo *);
static PetscErrorCode CholeskyNumeric(Mat, Mat, const MatFactorInfo *);

/* What the factor will do, now known */
static void KeepNumeric(Mat F, Factor *f)
{
  if (F->ops->lufactornumeric && F->ops->lufactornumeric != LUNumeric) {
    f->lunumeric            = F->ops->lufactornumeric;
    F->ops->lufactornumeric = LUNumeric;
  }
  if (F->ops->choleskyfactornumeric && F->ops->choleskyfactornumeric != CholeskyNumeric) {
    f->choleskynumeric            = F->ops->choleskyfactornumeric;
    F->ops->choleskyfactornumeric = CholeskyNumeric;
  }
}

static PetscErrorCode LUNumeric(Mat F, Mat A, const MatFactorInfo *info)
{
  Factor *f;

  PetscFunctionBegin;
  PetscCall(FactorGet(F, A, &f));
  PetscCall((*f->lunumeric)(F, f->aij, info));
  KeepNumeric(F, f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CholeskyNumeric(Mat F, Mat A, const MatFactorInfo *info)
{
  Factor *f;

  PetscFunctionBegin;
  PetscCall(FactorGet(F, A, &f));
  PetscCall((*f->choleskynumeric)(F, f->aij, info));
  KeepNumeric(F, f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LUSymbolic(Mat F, Mat A, IS rows, IS cols, const MatFactorInfo *info)
{
  Factor *f;

  PetscFunctionBegin;
  PetscCall(FactorGet(F, A, &f));
  PetscCall((*f->lu)(F, f->aij, rows, cols, info));
  KeepNumeric(F, f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ILUSymbolic(Mat F, Mat A, IS rows, IS cols, const MatFactorInfo *info)
{
  Factor *f;

  PetscFunctionBegin;
  PetscCall(FactorGet(F, A, &f));
  PetscCall((*f->ilu)(F, f->aij, rows, cols, info));
  KeepNumeric(F, f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CholeskySymbolic(Mat F, Mat A, IS rows, const MatFactorInfo *info)
{
  Factor *f;

  PetscFunctionBegin;
  PetscCall(FactorGet(F, A, &f));
  PetscCall((*f->cholesky)(F, f->aij, rows, info));
  KeepNumeric(F, f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ICCSymbolic(Mat F, Mat A, IS rows, const MatFactorInfo *info)
{
  Factor *f;

  PetscFunctionBegin;
  PetscCall(FactorGet(F, A, &f));
  PetscCall((*f->icc)(F, f->aij, rows, info));
  KeepNumeric(F, f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On one process PETSc's own factorization, on several the first package that has one */
static PetscErrorCode MatGetFactor_Stencil(Mat A, MatFactorType type, Mat *F)
{
  PetscContainer container;
  PetscMPIInt    size;
  Factor        *f;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(PetscNew(&f));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &f->aij));
  PetscCall(MatGetFactor(f->aij, size > 1 ? NULL : MATSOLVERPETSC, type, F));
  f->lu       = (*F)->ops->lufactorsymbolic;
  f->ilu      = (*F)->ops->ilufactorsymbolic;
  f->cholesky = (*F)->ops->choleskyfactorsymbolic;
  f->icc      = (*F)->ops->iccfactorsymbolic;
  if (f->lu) (*F)->ops->lufactorsymbolic = LUSymbolic;
  if (f->ilu) (*F)->ops->ilufactorsymbolic = ILUSymbolic;
  if (f->cholesky) (*F)->ops->choleskyfactorsymbolic = CholeskySymbolic;
  if (f->icc) (*F)->ops->iccfactorsymbolic = ICCSymbolic;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, f));
  PetscCall(KCycleContainerSetCtxDestroy(container, FactorDestroy));
  PetscCall(PetscObjectCompose((PetscObject)*F, Container, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilRegisterFactors(void)
{
  const MatFactorType types[] = {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY, MAT_FACTOR_ILU, MAT_FACTOR_ICC};

  PetscFunctionBegin;
  for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) PetscCall(MatSolverTypeRegister(MATSOLVERPETSC, MATSTENCIL, types[t], MatGetFactor_Stencil));
  PetscFunctionReturn(PETSC_SUCCESS);
}
