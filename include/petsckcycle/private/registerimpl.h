/*
  Constructors of the types, for the registration alone.
*/
#pragma once

#include <petsckcycle.h>
#include <petsckcycle/private/compat.h>

PETSC_INTERN PetscErrorCode KCycleSmootherRegisterAll(void);
PETSC_INTERN PetscErrorCode KCycleSmootherRegisterAll_Single(void);
PETSC_INTERN PetscErrorCode KCycleSmootherFinalize(void);
PETSC_INTERN PetscErrorCode KCycleSmootherFinalize_Single(void);
PETSC_INTERN PetscErrorCode MatCreate_Stencil(Mat);
PETSC_INTERN PetscErrorCode MatStencilRegisterFactors(void);
PETSC_INTERN PetscErrorCode MatCreate_StencilTransfer(Mat);
PETSC_INTERN PetscErrorCode PCCreate_Relax(PC);
PETSC_INTERN PetscErrorCode PCCreate_KCycle(PC);
PETSC_INTERN PetscErrorCode PCFinalizePackage_KCycle(void);
PETSC_INTERN PetscErrorCode PCCreate_IncPoisson(PC);
PETSC_INTERN PetscErrorCode PCCreate_FastPoisson(PC);
PETSC_INTERN PetscErrorCode PCCreate_DeflSub(PC);
PETSC_INTERN PetscErrorCode KSPCreate_DPCG(KSP);
PETSC_INTERN PetscErrorCode KSPCreate_KCG(KSP);
