/*
  Products with small dense matrices: the inverse of the coarsest operator, in PETSc's numbers, one thread a row; and
  what visits of levels make of their right sides, in the level's numbers, one warp a row.
*/
#include "densecuda.h"

static __global__ void Multiply(const KCycleCudaInvertWork work)
{
  MultiplyRow(work, KCycleCudaThread());
}

/* A thread has every 32nd product of a row, in their order; then sums of the upper half of threads go to the lower
   one */
static __global__ void MultiplyRows(PetscInt n, const KCScalar *M, const KCScalar *b, KCScalar *x)
{
  const PetscInt  row = (PetscInt)blockIdx.x * (KC_CUDA_THREADS / 32) + (PetscInt)threadIdx.x / 32;
  const PetscInt  t   = (PetscInt)threadIdx.x % 32;
  const KCScalar *m   = M + (size_t)(row < n ? row : 0) * n;
  KCScalar        sum = 0;

#pragma unroll 8
  for (PetscInt j = t; j < n; j += 32) sum += m[j] * b[j];
  for (unsigned half = 16; half; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half, 32);
  if (row < n && !t) x[row] = sum;
}

cudaError_t KCycleCudaMultiply(cudaStream_t stream, PetscInt n, const KCScalar *M, const KCScalar *b, KCScalar *x)
{
  const PetscInt rows = KC_CUDA_THREADS / 32;

  return KCycleCudaLaunchGrid(stream, dim3((unsigned)((n + rows - 1) / rows)), KC_CUDA_THREADS, 0, MultiplyRows, n, M,
                              b, x);
}

cudaError_t KCycleCudaInvert(cudaStream_t stream, const KCycleCudaInverse *inverse, PetscBool transpose,
                             PetscReal factor, const KCScalar *b, KCScalar *x)
{
  const KCycleCudaInvertWork work = {*inverse, transpose ? 1 : 0, factor, b, x};

  return KCycleCudaDo(stream, inverse->n, KC_DO_INVERT, Multiply, work);
}
