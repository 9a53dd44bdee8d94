/*
  What KSPDPCG asks of PCDEFLSUB apart from its public functions.
*/
#pragma once

#include <petsckcycle.h>

PETSC_INTERN PetscErrorCode PCDeflSubCheckOperator(PC, const char what[]);
