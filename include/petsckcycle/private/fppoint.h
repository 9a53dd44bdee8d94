/*
  PCFASTPOISSON: its transforms, and the arithmetic at a point of a line, for host and device.
*/
#pragma once

#include <petsckcycle/private/point.h>

/* Numbers X of a line become Y, in FFTW's conventions: sums over j, for k = 0 ... n - 1, of 2 X_j times

     DST-I    sin(pi (j + 1) (k + 1) / (n + 1))      DCT-I    cos(pi j k / (n - 1)), the ends half
     DST-II   sin(pi (j + 1/2) (k + 1) / n)          DCT-II   cos(pi (j + 1/2) k / n)
     DST-III  sin(pi (j + 1) (k + 1/2) / n), j = n - 1 half    DCT-III  cos(pi j (k + 1/2) / n), j = 0 half
     DST-IV   sin(pi (j + 1/2) (k + 1/2) / n)        DCT-IV   cos(pi (j + 1/2) (k + 1/2) / n)

   DFT and its inverse: real parts ascending, then imaginary parts descending */
typedef enum {
  KCYCLE_FP_DST1,
  KCYCLE_FP_DST2,
  KCYCLE_FP_DST3,
  KCYCLE_FP_DST4,
  KCYCLE_FP_DCT1,
  KCYCLE_FP_DCT2,
  KCYCLE_FP_DCT3,
  KCYCLE_FP_DCT4,
  KCYCLE_FP_DFT,
  KCYCLE_FP_INVERSE_DFT,
  KCYCLE_FP_COPY /* no transform */
} KCycleFPTransform;

/* Tridiagonal systems, row by row. One over the pivot: both is the product of the two entries next to it, before what
   this is of the row before */
KC_POINT PetscReal KCycleFPInversePivot(PetscReal diagonal, PetscReal both, PetscReal before)
{
  return 1 / (diagonal - both * before);
}

KC_POINT PetscScalar KCycleFPEliminate(PetscScalar r, PetscReal low, PetscScalar before, PetscReal inverse)
{
  return (r - low * before) * inverse;
}

KC_POINT PetscScalar KCycleFPSubstitute(PetscScalar z, PetscReal up, PetscReal inverse, PetscScalar ahead)
{
  return z - up * inverse * ahead;
}

/* What a mode is multiplied by; one whose eigenvalue is zero but for rounding has no part in the solution */
KC_POINT PetscReal KCycleFPInverseEigenvalue(PetscReal value, PetscReal norm, PetscReal least)
{
  const PetscReal size = value < 0 ? -value : value;

  return size > least ? norm / (size > least ? value : 1) : 0;
}
