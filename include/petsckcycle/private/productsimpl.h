/*
  Products of an AIJ matrix by the coefficients of a stencil, which are PCKCYCLE's own: for KSPKCG.
*/
#pragma once

#include <petsckcycle.h>

PETSC_INTERN PetscErrorCode KCycleMatGetStandIn(Mat, Mat *stencil);
