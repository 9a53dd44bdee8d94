/*
  The runtime library of devices, by CUDA's names. Where PETSc has HIP, each of them is HIP's: what is not here
  is not used. Threads that exchange numbers are 32, with wavefronts of 64, too.
*/
#pragma once

#if defined(KCYCLE_HAVE_HIP)
  #if defined(__HIP__)
    #include <hip/hip_runtime.h>
  #else
    #include <hip/hip_runtime_api.h>
  #endif

  #define cudaError_t               hipError_t
  #define cudaSuccess               hipSuccess
  #define cudaErrorInvalidValue     hipErrorInvalidValue
  #define cudaErrorMemoryAllocation hipErrorOutOfMemory
  #define cudaGetLastError          hipGetLastError
  #define cudaGetDevice             hipGetDevice
  #define cudaDeviceGetAttribute    hipDeviceGetAttribute

  #define cudaMalloc                   hipMalloc
  #define cudaFree                     hipFree
  #define cudaMallocHost(place, bytes) hipHostMalloc(place, bytes, hipHostMallocDefault)
  #define cudaFreeHost                 hipHostFree
  #define cudaMemGetInfo               hipMemGetInfo
  #define cudaMemcpyAsync              hipMemcpyAsync
  #define cudaMemcpyDeviceToHost       hipMemcpyDeviceToHost
  #define cudaMemcpyHostToDevice       hipMemcpyHostToDevice
  #define cudaMemsetAsync              hipMemsetAsync

  #define cudaStream_t                  hipStream_t
  #define cudaStreamSynchronize         hipStreamSynchronize
  #define cudaLaunchKernel(kernel, ...) hipLaunchKernel((const void *)(kernel), __VA_ARGS__)
  #define cudaFuncSetAttribute          hipFuncSetAttribute

  #define cudaStreamBeginCapture                            hipStreamBeginCapture
  #define cudaStreamCaptureModeThreadLocal                  hipStreamCaptureModeThreadLocal
  #define cudaStreamEndCapture                              hipStreamEndCapture
  #define cudaGraph_t                                       hipGraph_t
  #define cudaGraphDestroy                                  hipGraphDestroy
  #define cudaGraphLaunch                                   hipGraphLaunch
  #define cudaGraphExec_t                                   hipGraphExec_t
  #define cudaGraphExecDestroy                              hipGraphExecDestroy
  #define cudaGraphInstantiateWithFlags(graph, from, flags) hipGraphInstantiate(graph, from, NULL, NULL, flags)

  /* A block has no more memory on request */
  #define cudaDevAttrMaxSharedMemoryPerBlockOptin     hipDeviceAttributeMaxSharedMemoryPerBlock
  #define cudaDevAttrMultiProcessorCount              hipDeviceAttributeMultiprocessorCount
  #define cudaFuncAttributeMaxDynamicSharedMemorySize hipFuncAttributeMaxDynamicSharedMemorySize

  #define __shfl_down_sync(mask, value, by, width) __shfl_down(value, by, width)
#elif defined(__cplusplus)
  #include <cuda_runtime.h>
#else
  #include <cuda_runtime_api.h>
#endif
