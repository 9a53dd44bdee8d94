/*
  What all files of kernels for devices need: one thread for each of n pieces of work, consecutive threads for
  consecutive ones.
*/
#pragma once

#include <petsckcycle/private/cudaimpl.h>
#include <cuda_runtime.h>

#define KC_CUDA_THREADS 256 /* of a block, */
#define KC_CUDA_FEW     32  /* and of one with long work */

/* The number of this thread */
static __device__ __forceinline__ PetscInt KCycleCudaThread(void)
{
  return (PetscInt)blockIdx.x * (PetscInt)blockDim.x + (PetscInt)threadIdx.x;
}

/* Arguments have the types that the kernel says */
template <typename Type> struct KCycleSame {
  typedef Type type;
};

template <typename... Types>
static cudaError_t KCycleCudaLaunchBlocks(cudaStream_t stream, PetscInt n, int threads, void (*kernel)(Types...),
                                          typename KCycleSame<Types>::type... arguments)
{
  void       *places[] = {(void *)&arguments...};
  cudaError_t status;

  if (n <= 0) return cudaSuccess;
  KCycleCudaLaunches++;
  status = cudaLaunchKernel(kernel, dim3((unsigned)((n + threads - 1) / threads)), dim3(threads), places, 0, stream);
  if (status != cudaSuccess) return status;
  return cudaGetLastError();
}

template <typename... Types>
static cudaError_t KCycleCudaLaunch(cudaStream_t stream, PetscInt n, void (*kernel)(Types...),
                                    typename KCycleSame<Types>::type... arguments)
{
  return KCycleCudaLaunchBlocks<Types...>(stream, n, KC_CUDA_THREADS, kernel, arguments...);
}

/* Few pieces of long work, which many multiprocessors share */
template <typename... Types>
static cudaError_t KCycleCudaLaunchFew(cudaStream_t stream, PetscInt n, void (*kernel)(Types...),
                                       typename KCycleSame<Types>::type... arguments)
{
  return KCycleCudaLaunchBlocks<Types...>(stream, n, KC_CUDA_FEW, kernel, arguments...);
}
