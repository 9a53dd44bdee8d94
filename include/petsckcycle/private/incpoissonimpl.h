/*
  What PCINCPOISSON shares with the registration.
*/
#pragma once

#include <petsckcycle.h>
#include <petsckcycle/private/compat.h>
#include <petsc/private/pcimpl.h>

PETSC_INTERN PetscErrorCode PCCreate_IncPoisson(PC);
