/*
  Smoothers of levels whose operator has zeros on its diagonal, as saddle points have, which point smoothers divide by:
  incomplete factorizations, which do without.
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

/* Is a smoother what PCMG makes it when nobody chooses, Chebyshev with SOR, or SOR that was chosen here? */
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
