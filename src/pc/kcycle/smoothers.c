/*
  What smoothers of PETSc lack: incomplete factorizations where the diagonal has zeros, as saddle points have; the
  transpose of SOR; sweeps of PCRELAX without work vectors.
*/
#include "kcycleimpl.h"

/* Collective; an entry that is not stored is a zero */
PetscErrorCode KCycleMatHasZeroDiagonal(Mat A, PetscBool *has)
{
  Vec       diagonal;
  PetscReal smallest;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, NULL, &diagonal));
  PetscCall(MatGetDiagonal(A, diagonal));
  PetscCall(VecAbs(diagonal));
  PetscCall(VecMin(diagonal, NULL, &smallest));
  PetscCall(VecDestroy(&diagonal));
  *has = (PetscBool)(smallest == 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is a smoother PCMG's default, Chebyshev with SOR, or SOR that was chosen here? */
static PetscErrorCode IsDefault(KSP smoother, const KCycleChoice *choice, PetscBool *is)
{
  PetscObject o = (PetscObject)smoother;
  PetscBool   chebyshev, sor, chosen;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare(o, KSPCHEBYSHEV, &chebyshev));
  PetscCall(KCycleSmootherIsFree(smoother, choice, &sor));
  PetscCall(PetscOptionsHasName(o->options, o->prefix, "-pc_type", &chosen));
  *is = (PetscBool)((chebyshev || choice->chose) && sor && !chosen);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor(KSP smoother, const KCycleChoice *choice, PetscBool *done)
{
  PC          pc;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCall(IsDefault(smoother, choice, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)smoother), &size));
  PetscCall(KSPGetPC(smoother, &pc));
  PetscCall(KSPSetType(smoother, KSPRICHARDSON));
  PetscCall(PCSetType(pc, size == 1 ? PCILU : PCBJACOBI));
  PetscCall(KSPSetFromOptions(smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Both smoothers of a level become Richardson's iteration with ILU, in the blocks of processes, unless the program or
  its options chose them. choice: of both, down and up
*/
PetscErrorCode KCycleLevelFactor(PC_MG_Levels *lv, const KCycleChoice choice[], PetscBool *done)
{
  PetscFunctionBegin;
  PetscCall(Factor(lv->smoothd, &choice[0], done));
  if (lv->smoothu != lv->smoothd) PetscCall(Factor(lv->smoothu, &choice[1], done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  PETSc's PCSOR has the transpose of symmetric matrices only: that is SOR on the transposed matrix, with its sweeps in
  the other direction. Of PETSc's sweeps through several rows of equal pattern at once (MATSEQAIJ's inodes) it is the
  transpose where the pattern is symmetric.
*/

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
    PetscCall(KCycleObjectCompose((PetscObject)sor, Container, t, TransposedDestroy));
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

/* Forward becomes backward: each is the bit next to the other */
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
PetscErrorCode PCKCycleSORAddTranspose(PC pc)
{
  PC_MG *mg = (PC_MG *)pc->data;

  PetscFunctionBegin;
  for (PetscInt l = 0; l < mg->nlevels; l++) {
    PetscCall(Give(mg->levels[l]->smoothd));
    PetscCall(Give(mg->levels[l]->smoothu));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  KSPRICHARDSON around PCRELAX, as the smoothers of structured levels are: all sweeps are one call, which needs no work
  vectors. So they are made by the first solve that is no such call: of the transposed operator, with a monitor or a
  norm, damped, with another preconditioner.
*/

/* Are the iterations of a smoother sweeps of its PC, and nothing else? */
PetscErrorCode KCycleKSPOnlySweeps(KSP ksp, PetscBool *only)
{
  const KCycleRichardson *richardson = (KCycleRichardson *)ksp->data;

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
