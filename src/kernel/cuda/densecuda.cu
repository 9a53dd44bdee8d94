/*
  Products with small dense matrices in PETSc's numbers, one thread a row: the inverse of the coarsest operator.
*/
#include "densecuda.h"

static __global__ void Multiply(const KCycleCudaInvertWork work)
{
  MultiplyRow(work, KCycleCudaThread());
}

cudaError_t KCycleCudaInvert(cudaStream_t stream, PetscInt n, const PetscScalar *M, PetscBool transpose,
                             PetscReal factor, const KCScalar *b, KCScalar *x)
{
  const KCycleCudaInvertWork work = {n, M, transpose ? 1 : 0, factor, b, x};

  return KCycleCudaDo(stream, n, KC_DO_INVERT, Multiply, work);
}
