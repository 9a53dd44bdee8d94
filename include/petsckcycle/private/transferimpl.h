/*
  MATSTENCILTRANSFER, for who makes such matrices or has the weights of one.
*/
#pragma once

#include <petsckcycle/private/stencilimpl.h>

/* The weights, for kernels; P is of type stenciltransfer */
PETSC_INTERN const KCycleTransfer *KCycleTransferOf(Mat);

PETSC_INTERN PetscErrorCode            MatStencilTransferCreate(DM fine, DM coarse, const PetscInt factor[],
                                                                const PetscInt origin[], Mat *);
PETSC_INTERN PetscErrorCode            MatStencilCoarsen(Mat A, PCKCycleInterpolationType, const PetscBool neumann[],
                                                         PetscBool star, Mat P, Mat *Ac);
PETSC_INTERN PetscBool                 MatStencilCoarseFits(Mat A, Mat P, PetscBool star, Mat Ac);
PETSC_INTERN PCKCycleInterpolationType MatStencilTransferInterpolation(Mat);
PETSC_INTERN PetscBool                 MatStencilTransferFilled(Mat);

PETSC_INTERN PetscErrorCode MatStencilTransferIs(Mat, PetscBool *);

PETSC_INTERN PetscErrorCode MatProductSetFromOptions_Stencil_StencilTransfer(Mat);
PETSC_INTERN PetscErrorCode MatStencilGalerkin(Mat A, Mat P, PetscBool star, PetscBool fill, Mat *Ac);
