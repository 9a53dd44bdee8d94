/*
  Levels of PCGAMG. It takes rigid body modes from coordinates (PCSetCoordinates()): whether levels are to be its own is
  known at the set-up only, so they are kept until then.
*/
#include "kcycleimpl.h"

PetscErrorCode PCKCycleCoordinatesReset(PC_KCycle *kc)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(kc->coordinates));
  kc->ncoordinates = kc->dimension = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of n points of this process, all coordinates of a point together */
PetscErrorCode PCSetCoordinates_KCycle(PC pc, PetscInt dim, PetscInt n, PetscReal coordinates[])
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(PCKCycleCoordinatesReset(kc));
  PetscCall(PetscMalloc1(dim * n, &kc->coordinates));
  PetscCall(PetscArraycpy(kc->coordinates, coordinates, dim * n));
  kc->dimension    = dim;
  kc->ncoordinates = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCGAMG makes its coarsest solver itself: not of the one that the program has changed */
PetscErrorCode PCKCycleCoarseBeforeGAMG(PC pc)
{
  PC_KCycle  *kc = KCycleOf(pc);
  Mat         A, P;
  PetscBool   set;
  const char *prefix;

  PetscFunctionBegin;
  PetscCall(PCKCycleCoarseKeep(pc));
  if (!kc->coarse || !((PC_MG *)pc->data)->levels) PetscFunctionReturn(PETSC_SUCCESS);
  if (!kc->coarse_gamg) {
    PetscCall(KSPCreate(PetscObjectComm((PetscObject)kc->coarse), &kc->coarse_gamg));
    PetscCall(KSPGetOptionsPrefix(kc->coarse, &prefix));
    PetscCall(KSPSetOptionsPrefix(kc->coarse_gamg, prefix));
    PetscCall(KSPSetType(kc->coarse_gamg, KSPPREONLY));
    PetscCall(KSPGetOperatorsSet(kc->coarse, &set, NULL));
    if (set) PetscCall(KSPGetOperators(kc->coarse, &A, &P));
    if (set) PetscCall(KSPSetOperators(kc->coarse_gamg, A, P));
  }
  PetscCall(KCycleLevelsSetCoarse(pc, kc->coarse_gamg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Then that takes its place again */
PetscErrorCode PCKCycleCoarseAfterGAMG(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);
  Mat        A, P;

  PetscFunctionBegin;
  if (!kc->coarse) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectReference((PetscObject)mg->levels[0]->smoothd));
  PetscCall(KSPDestroy(&kc->coarse_gamg));
  kc->coarse_gamg = mg->levels[0]->smoothd;
  PetscCall(KSPGetOperators(kc->coarse_gamg, &A, &P));
  PetscCall(KSPSetOperators(kc->coarse, A, P));
  PetscCall(PCKCycleCoarseInstall(pc));
  if (!kc->ready) PetscCall(KSPSetFromOptions(kc->coarse));
  PetscCall(KSPSetUp(kc->coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}
