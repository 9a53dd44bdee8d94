/*
  A product with the inverse of the coarsest operator, in PETSc's numbers: what one thread does, a row.
*/
#pragma once

#include "launchcuda.h"

static __device__ __forceinline__ void MultiplyRow(const KCycleCudaInvertWork &work, PetscInt i)
{
  const PetscInt n = work.n, first = work.transpose ? i * n : i, stride = work.transpose ? 1 : n;
  PetscScalar    sum = 0;

  if (i >= n) return;
  for (PetscInt j = 0; j < n; j++) sum += work.M[first + j * stride] * (PetscScalar)work.b[j];
  work.x[i] = (KCScalar)(sum * work.factor);
}
