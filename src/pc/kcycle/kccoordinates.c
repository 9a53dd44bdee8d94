/*
  PCSetCoordinates(): PCGAMG takes rigid body modes from coordinates. Whether levels are to be its own is known at the
  set-up only, so they are kept until then.
*/
#include "kcycleimpl.h"

PetscErrorCode PCKCycleCoordinatesReset(PC_KCycle *kc)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(kc->coordinates));
  kc->ncoordinates = kc->dimension = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* So many points of this process, all coordinates of a point together */
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

/* Before PCGAMG makes levels; other levels have no use for them */
PetscErrorCode PCKCycleCoordinatesGive(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (kc->ready || !kc->dimension || !kc->set_coordinates) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*kc->set_coordinates)(pc, kc->dimension, kc->ncoordinates, kc->coordinates));
  PetscFunctionReturn(PETSC_SUCCESS);
}
