/*
  KSPDPCG, for the registration.
*/
#pragma once

#include <petsckcycle/private/deflsubimpl.h>

PETSC_INTERN PetscErrorCode KSPCreate_DPCG(KSP);
