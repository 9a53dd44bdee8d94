/*
  Vectors and halos: what is moved, added up and converted.

  Sums and maxima come down in two steps to KC_CUDA_PARTS numbers, in an order that does not depend on the device: no
  thread waits for others.
*/
#include "vectorcuda.h"

#if !defined(KCYCLE_SINGLE)
PetscInt64 KCycleCudaLaunches = 0; /* in both precisions */
#endif

static __global__ void Scale(const KCycleCudaScaleWork work)
{
  ScalePoint(work, KCycleCudaThread());
}

static __global__ void Move(const KCycleCudaMoveWork work)
{
  MovePoint(work, KCycleCudaThread());
}

static __global__ void Gather(const KCycleCudaGatherWork work)
{
  GatherPoint(work, KCycleCudaThread());
}

/* A thread has every parts-th number */
static __global__ void SumSquares(PetscInt n, PetscInt parts, const KCScalar *x, PetscReal *sum)
{
  const PetscInt thread = KCycleCudaThread();
  PetscReal      s      = 0;

  if (thread >= parts) return;
  for (PetscInt64 i = thread; i < n; i += parts) s += KCycleSquare(x[i]);
  sum[thread] = s;
}

static __global__ void Sum(PetscInt n, PetscInt parts, const PetscReal *x, PetscReal *sum)
{
  const PetscInt thread = KCycleCudaThread();
  PetscReal      s      = 0;

  if (thread >= parts) return;
  for (PetscInt i = thread; i < n; i += parts) s += x[i];
  sum[thread] = s;
}

/* -1: one of the numbers is Inf or NaN, or was */
static __device__ __forceinline__ PetscReal Larger(PetscReal most, PetscReal a)
{
  return most < 0 || !(a - a == 0) ? (PetscReal)-1 : a > most ? a : most;
}

static __global__ void Largest(PetscInt n, PetscInt parts, const PetscScalar *x, PetscReal *largest)
{
  const PetscInt thread = KCycleCudaThread();
  PetscReal      most   = 0;

  if (thread >= parts) return;
  for (PetscInt64 i = thread; i < n; i += parts) most = Larger(most, x[i] < 0 ? -x[i] : x[i]);
  largest[thread] = most;
}

static __global__ void LargestPart(PetscInt n, PetscInt parts, const PetscReal *x, PetscReal *largest)
{
  const PetscInt thread = KCycleCudaThread();
  PetscReal      most   = 0;

  if (thread >= parts) return;
  for (PetscInt i = thread; i < n; i += parts) most = x[i] < 0 ? -1 : Larger(most, x[i]);
  largest[thread] = most;
}

static __global__ void ConvertIn(PetscInt n, const PetscScalar *x, PetscReal divisor, KCScalar *y)
{
  const PetscInt i = KCycleCudaThread();

  if (i < n) y[i] = (KCScalar)(x[i] / divisor);
}

static __global__ void ConvertOut(PetscInt n, const KCScalar *x, PetscReal factor, PetscScalar *y)
{
  const PetscInt i = KCycleCudaThread();

  if (i < n) y[i] = (PetscScalar)x[i] * factor;
}

static __global__ void Fill(PetscInt n, PetscScalar value, PetscScalar *y)
{
  const PetscInt i = KCycleCudaThread();

  if (i < n) y[i] = value;
}

cudaError_t KCycleCudaMove(cudaStream_t stream, PetscInt n, const PetscInt *from, const KCScalar *x, const PetscInt *to,
                           KCScalar *y)
{
  const KCycleCudaMoveWork work = {n, from, x, to, y};

  return KCycleCudaDo(stream, n, KC_DO_MOVE, Move, work);
}

cudaError_t KCycleCudaScale(cudaStream_t stream, PetscInt n, PetscReal factor, KCScalar *y)
{
  const KCycleCudaScaleWork work = {n, (KCScalar)factor, y};

  return KCycleCudaDo(stream, n, KC_DO_SCALE, Scale, work);
}

cudaError_t KCycleCudaZero(cudaStream_t stream, PetscInt n, KCScalar *y)
{
  return KCycleCudaScale(stream, n, 0, y);
}

cudaError_t KCycleCudaGather(cudaStream_t stream, PetscInt n, const PetscInt *start, const PetscInt *from,
                             const KCScalar *x, const PetscInt *to, KCScalar *y)
{
  const KCycleCudaGatherWork work = {n, start, from, x, to, y};

  return KCycleCudaDo(stream, n, KC_DO_GATHER, Gather, work);
}

/* The parts are the first KC_CUDA_PARTS numbers of scratch */
cudaError_t KCycleCudaSumSquares(cudaStream_t stream, PetscInt n, const KCScalar *x, PetscReal *scratch)
{
  const PetscInt    parts  = KC_CUDA_SCRATCH - KC_CUDA_PARTS;
  const cudaError_t status = KCycleCudaLaunch(stream, parts, SumSquares, n, parts, x, scratch + KC_CUDA_PARTS);

  return status == cudaSuccess
             ? KCycleCudaLaunch(stream, KC_CUDA_PARTS, Sum, parts, KC_CUDA_PARTS, scratch + KC_CUDA_PARTS, scratch)
             : status;
}

cudaError_t KCycleCudaLargest(cudaStream_t stream, PetscInt n, const PetscScalar *x, PetscReal *scratch)
{
  const PetscInt    parts  = KC_CUDA_SCRATCH - KC_CUDA_PARTS;
  const cudaError_t status = KCycleCudaLaunch(stream, parts, Largest, n, parts, x, scratch + KC_CUDA_PARTS);

  return status == cudaSuccess ? KCycleCudaLaunch(stream, KC_CUDA_PARTS, LargestPart, parts, KC_CUDA_PARTS,
                                                  scratch + KC_CUDA_PARTS, scratch)
                               : status;
}

cudaError_t KCycleCudaConvertIn(cudaStream_t stream, PetscInt n, const PetscScalar *x, PetscReal divisor, KCScalar *y)
{
  return KCycleCudaLaunch(stream, n, ConvertIn, n, x, divisor, y);
}

cudaError_t KCycleCudaConvertOut(cudaStream_t stream, PetscInt n, const KCScalar *x, PetscReal factor, PetscScalar *y)
{
  return KCycleCudaLaunch(stream, n, ConvertOut, n, x, factor, y);
}

cudaError_t KCycleCudaFill(cudaStream_t stream, PetscInt n, PetscScalar value, PetscScalar *y)
{
  return KCycleCudaLaunch(stream, n, Fill, n, value, y);
}
