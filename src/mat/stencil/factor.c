/*
  Factorizations of stencil matrices: those of AIJ, to which the matrix is converted for each.
*/
#include <petsckcycle/private/stencilimpl.h>
#include <petsckcycle/private/registerimpl.h>

typedef PetscErrorCode (*Symbolic)(Mat, Mat, IS, IS, const MatFactorInfo *);
typedef PetscErrorCode (*SymbolicSymmetric)(Mat, Mat, IS, const MatFactorInfo *);
typedef PetscErrorCode (*Numeric)(Mat, Mat, const MatFactorInfo *);

/* Belongs to the factor: the AIJ form, the shape of the stencil that it was factored for, and what the factor does with
   that */
typedef struct {
  Mat               aij;
  int               kind;
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

/* With the values that the matrix has now; symbolic: its pattern may be another one than before */
static PetscErrorCode FactorGet(Mat F, Mat A, PetscBool symbolic, Factor **f)
{
  const KCycleShape *shape = &KCycleStencilOf(A)->shape;
  PetscContainer     container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)F, Container, (PetscObject *)&container));
  PetscCheck(container, PetscObjectComm((PetscObject)F), PETSC_ERR_PLIB,
             "The factor was not made for a matrix of type stencil");
  PetscCall(PetscContainerGetPointer(container, (void **)f));
  if (symbolic) (*f)->kind = KCycleShapeKind(shape);
  PetscCheck((*f)->kind == KCycleShapeKind(shape), PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_WRONGSTATE,
             "The matrix has another stencil, now of %d points, than when its factorization began: begin again with "
             "MatLUFactorSymbolic() or the like",
             shape->ncoeffs);
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

/* A phase of a factorization, with the AIJ form in place of the matrix */
#define PHASE(name, symbolic, call, parameters, arguments)                                 \
  static PetscErrorCode name(Mat F, Mat A, KC_UNPACK parameters const MatFactorInfo *info) \
  {                                                                                        \
    Factor *f;                                                                             \
                                                                                           \
    PetscFunctionBegin;                                                                    \
    PetscCall(FactorGet(F, A, symbolic, &f));                                              \
    PetscCall((*f->call)(F, f->aij, KC_UNPACK arguments info));                            \
    KeepNumeric(F, f);                                                                     \
    PetscFunctionReturn(PETSC_SUCCESS);                                                    \
  }
#define KC_UNPACK(...) __VA_ARGS__
PHASE(LUNumeric, PETSC_FALSE, lunumeric, (), ())
PHASE(CholeskyNumeric, PETSC_FALSE, choleskynumeric, (), ())
PHASE(LUSymbolic, PETSC_TRUE, lu, (IS rows, IS cols, ), (rows, cols, ))
PHASE(ILUSymbolic, PETSC_TRUE, ilu, (IS rows, IS cols, ), (rows, cols, ))
PHASE(CholeskySymbolic, PETSC_TRUE, cholesky, (IS rows, ), (rows, ))
PHASE(ICCSymbolic, PETSC_TRUE, icc, (IS rows, ), (rows, ))

/* By the package of this name; NULL: the first one that has such a factorization */
static PetscErrorCode GetFactor(Mat A, MatSolverType package, MatFactorType type, Mat *F)
{
  PetscContainer container;
  Factor        *f;

  PetscFunctionBegin;
  PetscCall(PetscNew(&f));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &f->aij));
  PetscCall(MatSetOption(f->aij, MAT_USE_INODES, PETSC_FALSE)); /* the ordering is that of the stencil, row by row */
  PetscCall(MatGetFactor(f->aij, package, type, F));
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

/* On one process PETSc's own factorization, on several the first package that has one */
static PetscErrorCode MatGetFactor_Stencil_petsc(Mat A, MatFactorType type, Mat *F)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(GetFactor(A, size > 1 ? NULL : MATSOLVERPETSC, type, F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc does not tell which package it wants: one function for each */
#define PACKAGES(P) \
  P(mumps)          \
  P(superlu)        \
  P(superlu_dist)   \
  P(umfpack)        \
  P(klu)            \
  P(cholmod)        \
  P(strumpack)      \
  P(pastix)         \
  P(mkl_pardiso)    \
  P(mkl_cpardiso)

#define GET_FACTOR(package)                                                               \
  static PetscErrorCode MatGetFactor_Stencil_##package(Mat A, MatFactorType type, Mat *F) \
  {                                                                                       \
    PetscFunctionBegin;                                                                   \
    PetscCall(GetFactor(A, #package, type, F));                                           \
    PetscFunctionReturn(PETSC_SUCCESS);                                                   \
  }
PACKAGES(GET_FACTOR)

#define PACKAGE(package) {#package, MatGetFactor_Stencil_##package},
static const struct {
  MatSolverType package;
  PetscErrorCode (*getfactor)(Mat, MatFactorType, Mat *);
} Packages[] = {{MATSOLVERPETSC, MatGetFactor_Stencil_petsc}, PACKAGES(PACKAGE)};

/* What this PETSc can factor as AIJ. Packages that it lacks stay unknown to it, so that its own message says so */
PetscErrorCode MatStencilRegisterFactors(void)
{
  const MatFactorType types[] = {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY, MAT_FACTOR_ILU, MAT_FACTOR_ICC};

  PetscFunctionBegin;
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(Packages); p++) {
    for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
      PetscErrorCode (*sequential)(Mat, MatFactorType, Mat *), (*parallel)(Mat, MatFactorType, Mat *);

      PetscCall(MatSolverTypeGet(Packages[p].package, MATSEQAIJ, types[t], NULL, NULL, &sequential));
      PetscCall(MatSolverTypeGet(Packages[p].package, MATMPIAIJ, types[t], NULL, NULL, &parallel));
      if (sequential || parallel)
        PetscCall(MatSolverTypeRegister(Packages[p].package, MATSTENCIL, types[t], Packages[p].getfactor));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
