/*
  Versions of packages, HIP's among them: that of hipcc here does not matter to what is compiled.
*/
#pragma once
#include_next <petscpkg_version.h>

#define PETSC_PKG_HIP_VERSION_GE(major, minor, subminor) ((major) < 5 || ((major) == 5 && (minor) <= 2))
#define PETSC_PKG_HIP_VERSION_LT(major, minor, subminor) (!PETSC_PKG_HIP_VERSION_GE(major, minor, subminor))
