/*
  Where the arithmetic of matrices and vectors runs: stencils work on the host, and vectors of a solver on a device are
  copied for them.
*/
#pragma once

#include <petsckcycle/private/compat.h>
#include <petscdm.h>
#include <petscmat.h>

/* The type of vectors for the device that there are kernels for; that of a process's AIJ matrices, and their values */
#if defined(KCYCLE_HAVE_HIP)
  #define KCYCLE_DEVICE_VECTOR            VECHIP
  #define KCYCLE_DEVICE_SEQAIJ            MATSEQAIJHIPSPARSE
  #define KCycleDeviceAIJGetArrayRead     MatSeqAIJHIPSPARSEGetArrayRead
  #define KCycleDeviceAIJRestoreArrayRead MatSeqAIJHIPSPARSERestoreArrayRead
#else
  #define KCYCLE_DEVICE_VECTOR            VECCUDA
  #define KCYCLE_DEVICE_SEQAIJ            MATSEQAIJCUSPARSE
  #define KCycleDeviceAIJGetArrayRead     MatSeqAIJCUSPARSEGetArrayRead
  #define KCycleDeviceAIJRestoreArrayRead MatSeqAIJCUSPARSERestoreArrayRead
#endif

PETSC_INTERN PetscErrorCode KCycleMatOnDevice(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode KCycleMatForDevices(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode KCycleDMOnDevice(DM, PetscBool *);
PETSC_INTERN PetscErrorCode KCycleVecOnDevice(Vec, PetscBool *);
