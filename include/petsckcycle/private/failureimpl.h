/*
  Failures of preconditioners that others make use of.
*/
#pragma once

#include <petsckcycle/private/compat.h>
#include <petsc/private/pcimpl.h>

/* failure.c */
PETSC_INTERN PetscErrorCode KCyclePCForgetFailure(PC);
