/*
  Products with small dense matrices in PETSc's numbers, one thread a row: the inverse of the coarsest operator.
*/
#include "launchcuda.h"

static __global__ void Multiply(PetscInt n, const PetscScalar *M, PetscInt transpose, PetscReal factor,
                                const KCScalar *b, KCScalar *x)
{
  const PetscInt i = KCycleCudaThread(), first = transpose ? i * n : i, stride = transpose ? 1 : n;
  PetscScalar    sum = 0;

  if (i >= n) return;
  for (PetscInt j = 0; j < n; j++) sum += M[first + j * stride] * (PetscScalar)b[j];
  x[i] = (KCScalar)(sum * factor);
}

cudaError_t KCycleCudaInvert(cudaStream_t stream, PetscInt n, const PetscScalar *M, PetscBool transpose,
                             PetscReal factor, const KCScalar *b, KCScalar *x)
{
  return KCycleCudaLaunch(stream, n, Multiply, n, M, transpose ? 1 : 0, factor, b, x);
}
