/*
  The configuration of the PETSc at hand as if it had HIP instead of CUDA: sources compile with it, and cannot be
  linked. This folder comes before PETSc's own.
*/
#pragma once
#include_next <petscconf.h>

#undef PETSC_HAVE_CUDA
#undef PETSC_HAVE_CUPM
#undef PETSC_HAVE_DEVICE
#define PETSC_HAVE_HIP    1
#define PETSC_HAVE_CUPM   1
#define PETSC_HAVE_DEVICE 1
#if !defined(__HIP_PLATFORM_AMD__)
  #define __HIP_PLATFORM_AMD__ 1
  #define __HIP_PLATFORM_HCC__ 1
#endif
