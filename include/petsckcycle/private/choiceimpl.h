/*
  What setters of enumerated choices ask.
*/
#pragma once

#include <petsckcycle/private/compat.h>

/* names: of the values, and behind them that of their type, its prefix and NULL, as PETSc has them */
static inline PetscErrorCode KCycleCheckChoice(PC pc, const char *const names[], int value)
{
  int n = 0;

  PetscFunctionBegin;
  while (names[n]) n++;
  PetscCheck(value >= 0 && value < n - 2, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "No value of %s has the number %d: they are numbered from 0 to %d", names[n - 2], value, n - 3);
  PetscFunctionReturn(PETSC_SUCCESS);
}
