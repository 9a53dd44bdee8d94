/*
  A product with inverses, of the coarsest operator, in PETSc's numbers: what one thread does, a row.
*/
#pragma once

#include "launchcuda.h"

/* Unknown i is number `own` of system `which`; the unknown j = j0 + length j1 of a system stands at
   j0 + length (which + count j1) */
static __device__ __forceinline__ void MultiplyRow(const KCycleCudaInvertWork &work, PetscInt i)
{
  const KCycleCudaInverse &inverse = work.inverse;
  const PetscInt           n = inverse.n, length = inverse.length, q = i / length, which = q % inverse.count;
  const PetscInt           own = i - q * length + q / inverse.count * length, size = n / inverse.count;
  PetscScalar              sum = 0;

  if (i >= n) return;
  for (PetscInt first = 0; first < size; first += length) {
    const PetscInt     place  = length * which + inverse.count * first;
    const PetscScalar *M      = inverse.M + (work.transpose ? own * n + place : i + first * n);
    const PetscInt     stride = work.transpose ? 1 : n;

    for (PetscInt j = 0; j < length; j++) sum += M[j * stride] * (PetscScalar)work.b[place + j];
  }
  work.x[i] = (KCScalar)(sum * work.factor);
}
