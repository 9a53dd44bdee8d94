/*
  Products of an AIJ matrix by the coefficients of a stencil, as PCKCYCLE lends them: for KSPKCG.
*/
#pragma once

#include <petsckcycle.h>

PETSC_INTERN PetscErrorCode KCycleMatGetStandIn(Mat, Mat *stencil);
