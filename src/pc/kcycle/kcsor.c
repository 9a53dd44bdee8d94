/*
  The transpose of SOR, of which PETSc's PCSOR has that of symmetric matrices only: SOR on the transposed matrix, with
  its sweeps in the other direction.

  Of PETSc's sweeps through several rows of equal pattern at once (MATSEQAIJ's inodes) it is the transpose where the
  pattern is symmetric.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/compat.h>

/* Hangs on the PC */
static const char *const Container = "KCycleSORTransposed";

typedef struct {
  Mat              At;
  PetscObjectId    source; /* the matrix that it is the transpose of, and its state then */
  PetscObjectState state;
} Transposed;

static PetscErrorCode TransposedDestroy(KCycleCtxDestroyArg arg)
{
  Transposed *t = (Transposed *)KCycleCtxFromDestroyArg(arg);

  PetscFunctionBegin;
  PetscCall(MatDestroy(&t->At));
  PetscCall(PetscFree(t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Made in the first transposed application, and anew in the first one after values have changed */
static PetscErrorCode GetTransposed(PC sor, Mat *At)
{
  PetscContainer   container;
  Transposed      *t;
  PetscObjectId    id;
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)sor, Container, (PetscObject *)&container));
  if (container) PetscCall(PetscContainerGetPointer(container, (void **)&t));
  else {
    PetscCall(PetscNew(&t));
    PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)sor), &container));
    PetscCall(PetscContainerSetPointer(container, t));
    PetscCall(KCycleContainerSetCtxDestroy(container, TransposedDestroy));
    PetscCall(PetscObjectCompose((PetscObject)sor, Container, (PetscObject)container));
    PetscCall(PetscContainerDestroy(&container));
  }
  PetscCall(PetscObjectGetId((PetscObject)sor->pmat, &id));
  PetscCall(PetscObjectStateGet((PetscObject)sor->pmat, &state));
  if (t->At && (id != t->source || state != t->state)) PetscCall(MatDestroy(&t->At));
  if (!t->At) PetscCall(MatTranspose(sor->pmat, MAT_INITIAL_MATRIX, &t->At));
  t->source = id;
  t->state  = state;
  *At       = t->At;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Forward becomes backward: each is the bit beside the other */
static int Reverse(int sweeps)
{
  const int forward  = SOR_FORWARD_SWEEP | SOR_LOCAL_FORWARD_SWEEP,
            backward = SOR_BACKWARD_SWEEP | SOR_LOCAL_BACKWARD_SWEEP;

  return (sweeps & forward) << 1 | (sweeps & backward) >> 1;
}

static PetscErrorCode ApplyTranspose(PC sor, Vec x, Vec y)
{
  Mat        A = sor->pmat;
  MatSORType sweeps;
  PetscReal  omega, shift = 0;
  PetscInt   its, lits;
  PetscBool  known, symmetric;

  PetscFunctionBegin;
  PetscCall(PCSORGetSymmetric(sor, &sweeps));
  PetscCall(PCSORGetOmega(sor, &omega));
  PetscCall(PCSORGetIterations(sor, &its, &lits));
  /* there is no other way to ask for it */
  PetscCall(PetscOptionsGetReal(((PetscObject)sor)->options, ((PetscObject)sor)->prefix, "-pc_sor_diagonal_shift",
                                &shift, NULL));
  PetscCall(MatIsSymmetricKnown(A, &known, &symmetric));
  if (!known || !symmetric) PetscCall(GetTransposed(sor, &A));
  PetscCall(MatSOR(A, x, omega, (MatSORType)(Reverse(sweeps) | SOR_ZERO_INITIAL_GUESS), shift, its, lits, y));
  PetscCall(MatFactorGetError(A, (MatFactorError *)&sor->failedreason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Give(KSP smoother)
{
  PC        pc;
  PetscBool issor;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(smoother, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSOR, &issor));
  if (issor) pc->ops->applytranspose = ApplyTranspose;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before a transposed cycle: smoothers that are PCSOR get a transpose */
PetscErrorCode PCKCycleSORGiveTranspose(PC pc)
{
  PC_MG *mg = (PC_MG *)pc->data;

  PetscFunctionBegin;
  for (PetscInt l = 0; l < mg->nlevels; l++) {
    PetscCall(Give(mg->levels[l]->smoothd));
    PetscCall(Give(mg->levels[l]->smoothu));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
