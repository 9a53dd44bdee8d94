/*
  A product with inverses, of the coarsest operator, in PETSc's numbers: what one thread does, a row.
*/
#pragma once

#include "launchcuda.h"

/* Unknown i is number `own` of a system whose unknowns begin at `index` */
static __device__ __forceinline__ void MultiplyRow(const KCycleCudaInvertWork &work, PetscInt i)
{
  const KCycleCudaInverse &inverse = work.inverse;
  const PetscInt           n = inverse.n, size = n / inverse.count, own = i % size, index = i - own;
  const PetscScalar       *M      = inverse.M + (work.transpose ? own * n + index : i);
  const PetscInt           stride = work.transpose ? 1 : n;
  PetscScalar              sum    = 0;

  if (i >= n) return;
  for (PetscInt j = 0; j < size; j++) sum += M[j * stride] * (PetscScalar)work.b[index + j];
  work.x[i] = (KCScalar)(sum * work.factor);
}
