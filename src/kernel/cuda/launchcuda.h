/*
  What all files of kernels for devices need: one thread for each of n pieces of work, consecutive threads for
  consecutive ones.
*/
#pragma once

#include "samecuda.h"

#define KC_CUDA_THREADS 256 /* of a block, */
#define KC_CUDA_FEW     32  /* and of one with long work */

/* The number of this thread */
static __device__ __forceinline__ PetscInt KCycleCudaThread(void)
{
  return (PetscInt)blockIdx.x * (PetscInt)blockDim.x + (PetscInt)threadIdx.x;
}

/* n / divisor, without the division that a device has no instruction for */
static __device__ __forceinline__ PetscInt KCycleCudaQuotient(PetscInt n, const KCycleCudaDivisor &divisor)
{
#if defined(PETSC_USE_64BIT_INDICES)
  return n / divisor.number;
#else
  return (PetscInt)(((unsigned long long)(unsigned)n * divisor.factor) >> divisor.shift);
#endif
}

/* The number of line (j, k) among those of a box and its halo */
static __device__ __forceinline__ PetscInt Extended(const KCycleCudaBox &box, PetscInt j, PetscInt k)
{
  return (j + box.reach[1]) + (box.n[1] + 2 * box.reach[1]) * (k + box.reach[2]);
}

/* Point i of line (j, k) of x, owned or not */
static __device__ __forceinline__ KCScalar ValueAt(const KCycleCudaBox &box, const KCScalar *halo, const KCScalar *x,
                                                   PetscInt i, PetscInt j, PetscInt k)
{
  const PetscInt e = Extended(box, j, k), n = box.n[0];

  if (i < 0 || i >= n) return box.xhalo ? halo[(i < 0 ? box.left : box.right) + e] : (KCScalar)0;
  return box.offset[e] < 0 ? x[i + n * (j + box.n[1] * k)] : halo[box.offset[e] + i];
}

/* Arguments have the types that the kernel says */
template <typename Type> struct KCycleSame {
  typedef Type type;
};

/* Blocks of threads in up to three dimensions, each with `shared` bytes of shared memory. While a program is written, a
   kernel that comes here is none that one block can run */
template <typename... Types>
static cudaError_t KCycleCudaLaunchGrid(cudaStream_t stream, dim3 grid, unsigned threads, size_t shared,
                                        void (*kernel)(Types...), typename KCycleSame<Types>::type... arguments)
{
  void       *places[] = {(void *)&arguments...};
  cudaError_t status;

  if (KCycleCudaWriting) {
    KCycleCudaWriting->unknown = 1;
    return cudaSuccess;
  }
  KCycleCudaLaunches++;
  status = cudaLaunchKernel(kernel, grid, dim3(threads), places, shared, stream);
  if (status != cudaSuccess) return status;
  return cudaGetLastError();
}

template <typename... Types>
static cudaError_t KCycleCudaLaunch(cudaStream_t stream, PetscInt n, void (*kernel)(Types...),
                                    typename KCycleSame<Types>::type... arguments)
{
  if (n <= 0) return cudaSuccess;
  return KCycleCudaLaunchGrid<Types...>(stream, dim3((unsigned)((n + KC_CUDA_THREADS - 1) / KC_CUDA_THREADS)),
                                        KC_CUDA_THREADS, 0, kernel, arguments...);
}

/* Few pieces of long work, which many multiprocessors share */
template <typename... Types>
static cudaError_t KCycleCudaLaunchFew(cudaStream_t stream, PetscInt n, void (*kernel)(Types...),
                                       typename KCycleSame<Types>::type... arguments)
{
  if (n <= 0) return cudaSuccess;
  return KCycleCudaLaunchGrid<Types...>(stream, dim3((unsigned)((n + KC_CUDA_FEW - 1) / KC_CUDA_FEW)), KC_CUDA_FEW, 0,
                                        kernel, arguments...);
}

template <typename Work> static int KCycleCudaCompareWork(const void *work, const void *other)
{
  return Same(*(const Work *)work, *(const Work *)other);
}

/* Launches a kernel that one block can run, too, or adds it to the program that is being written */
template <typename Work>
static cudaError_t KCycleCudaDo(cudaStream_t stream, PetscInt n, KCycleCudaKind kind, void (*kernel)(Work),
                                typename KCycleSame<Work>::type work)
{
  static_assert(sizeof(Work) <= sizeof(((KCycleCudaInstruction *)NULL)->work), "an instruction has room for it");
  if (n <= 0) return cudaSuccess;
  if (!KCycleCudaWriting) return KCycleCudaLaunch(stream, n, kernel, work);
  KCycleCudaWrite(kind, n, &work, sizeof(work), KCycleCudaCompareWork<Work>);
  return cudaSuccess;
}
