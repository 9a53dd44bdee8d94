/*
  CUDA C++ compiled for the host, PETSc's and ours: kernels are functions, called for one thread after the other
  (launcher.cpp), and Thrust's device is its sequential one.
*/
#pragma once
#include <cuda_runtime.h>
#include "graphs.h"
#include "launcher.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>
#include <thrust/execution_policy.h>

#define threadIdx hostThread
#define blockIdx  hostBlock
#define blockDim  hostBlockDim
#define gridDim   hostGridDim
#if !defined(__launch_bounds__)
  #define __launch_bounds__(...)
#endif

#define __launch_bounds__(...)
/* Of PETSc's kernels, whose blocks run one after the other; that of ours is looked at, see kernel.sh */
#undef __shared__
#define __shared__      static
#define __syncthreads() HostWaitForBlock()

static inline void __syncwarp(unsigned mask = ~0u)
{
  HostWaitForWarp(mask);
}

/* The number of a thread in its warp */
static inline unsigned HostLane(void)
{
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}

/* What the thread with another number has; where there is none, what this one has */
template <typename T> T HostShuffle(unsigned mask, T value, unsigned lane, bool exists)
{
  T other;

  static_assert(sizeof(T) <= 16, "a number is exchanged");
  memcpy(HostWarpPlace(HostLane()), &value, sizeof(T));
  HostWaitForWarp(mask);
  memcpy(&other, HostWarpPlace(lane), sizeof(T));
  HostWaitForWarp(mask);
  return exists ? other : value;
}

template <typename T> T __shfl_sync(unsigned mask, T value, int lane, int width = 32)
{
  const unsigned first = HostLane() / width * width;

  return HostShuffle(mask, value, first + (unsigned)lane % width, true);
}
template <typename T> T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32)
{
  return HostShuffle(mask, value, HostLane() - by, HostLane() % width >= by);
}
template <typename T> T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32)
{
  return HostShuffle(mask, value, HostLane() + by, HostLane() % width + by < (unsigned)width);
}
template <typename T> T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32)
{
  return HostShuffle(mask, value, HostLane() ^ (unsigned)with,
                     HostLane() / width == (HostLane() ^ (unsigned)with) / width);
}

/* call() as each thread */
template <typename Call>
static void HostKernel(dim3 grid, dim3 block, Call call, std::size_t shared = 0, const void *kernel = NULL)
{
  HostRun(
      kernel, grid, block, shared, [](void *ctx) { (*static_cast<Call *>(ctx))(); }, &call);
}

/* runtime.cpp: pointers are to the memory of the device, in structures as well */
extern "C" void HostCheckArgument(const void *argument, std::size_t bytes);
extern "C" void HostCountLaunch(void);

template <typename... Params, std::size_t... I>
static void HostCheck(void (*)(Params...), void **args, std::index_sequence<I...>)
{
  (HostCheckArgument(args[I], sizeof(Params)), ...);
}

template <typename... Params, std::size_t... I>
static void HostCall(void (*kernel)(Params...), void **args, std::index_sequence<I...>)
{
  kernel(*static_cast<typename std::remove_reference<Params>::type *>(args[I])...);
}

template <typename... Params>
static cudaError_t HostLaunch(void (*kernel)(Params...), dim3 grid, dim3 block, void **args, std::size_t shared,
                              cudaStream_t stream)
{
  const cudaError_t status = HostMayLaunch((const void *)kernel, stream);

  if (status != cudaSuccess) return status;
  HostCheck(kernel, args, std::index_sequence_for<Params...>{});
  if (HostIsCaptured(stream)) {
    HostCaptureKernel(
        kernel, args, stream, [=](auto call) { HostKernel(grid, block, call, shared, (const void *)kernel); },
        std::index_sequence_for<Params...>{});
    return cudaSuccess;
  }
  HostCountLaunch();
  HostKernel(
      grid, block, [&] { HostCall(kernel, args, std::index_sequence_for<Params...>{}); }, shared, (const void *)kernel);
  return cudaSuccess;
}
/* As PETSc calls it */
template <typename Kernel, typename... Params>
static cudaError_t HostLaunch(void (*kernel)(Params...), dim3 grid, dim3 block, void **args, std::size_t n,
                              cudaStream_t s)
{
  return HostLaunch(kernel, grid, block, args, n, s);
}
#define cudaLaunchKernel HostLaunch

/* Policies of Thrust's CUDA, in whose place its sequential one works */
THRUST_NAMESPACE_BEGIN
namespace cuda {
struct HostPolicy {
  template <typename Stream> decltype(thrust::cpp::par) on(Stream) const
  {
    return thrust::cpp::par;
  }
};
static const HostPolicy par, par_nosync;
} // namespace cuda
THRUST_NAMESPACE_END

template <typename A, typename B> typename std::common_type<A, B>::type min(A a, B b)
{
  return a < b ? a : b;
}

/* No two threads run at a time */
#define HOST_ATOMIC(name, result)                               \
  template <typename T, typename U> T name(T *place, U operand) \
  {                                                             \
    const T old = *place, value = (T)operand;                   \
    *place = result;                                            \
    return old;                                                 \
  }
HOST_ATOMIC(atomicAdd, old + value)
HOST_ATOMIC(atomicExch, value)
HOST_ATOMIC(atomicMin, value < old ? value : old)
HOST_ATOMIC(atomicMax, value > old ? value : old)
HOST_ATOMIC(atomicAnd, old &value)
HOST_ATOMIC(atomicOr, old | value)
HOST_ATOMIC(atomicXor, old ^ value)

template <typename T, typename U, typename V> T atomicCAS(T *place, U compare, V value)
{
  const T old = *place;

  if (old == (T)compare) *place = (T)value;
  return old;
}

template <typename To, typename From> To HostBits(From from)
{
  To to;

  static_assert(sizeof(to) == sizeof(from), "bits are read as another type of the same size");
  memcpy(&to, &from, sizeof(to));
  return to;
}
static inline double __longlong_as_double(long long x)
{
  return HostBits<double>(x);
}
static inline long long __double_as_longlong(double x)
{
  return HostBits<long long>(x);
}
static inline float __int_as_float(int x)
{
  return HostBits<float>(x);
}
static inline int __float_as_int(float x)
{
  return HostBits<int>(x);
}
