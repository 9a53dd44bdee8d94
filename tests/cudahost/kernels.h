/*
  CUDA C++ of PETSc compiled for the host: kernels are functions, called for one thread after the other, and Thrust's
  device is its sequential one.

  A kernel that waits for other threads of its block ends the program: nothing that is tested here needs it.
*/
#pragma once
#include <cuda_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>
#include <thrust/execution_policy.h>

extern thread_local uint3 hostThread, hostBlock;
extern thread_local dim3  hostBlockDim, hostGridDim;
#define threadIdx hostThread
#define blockIdx  hostBlock
#define blockDim  hostBlockDim
#define gridDim   hostGridDim

static inline void __syncthreads()
{
  fprintf(stderr, "cudahost: a kernel waits for the threads of its block\n");
  abort();
}

/* One dimension, as all kernels called here have */
template <typename Call> void HostKernel(dim3 grid, dim3 block, Call call)
{
  hostGridDim  = grid;
  hostBlockDim = block;
  hostBlock.y = hostBlock.z = hostThread.y = hostThread.z = 0;
  for (hostBlock.x = 0; hostBlock.x < grid.x; hostBlock.x++) {
    for (hostThread.x = 0; hostThread.x < block.x; hostThread.x++) call();
  }
}

/* runtime.cpp: pointers are to the memory of the device, in structures as well */
extern "C" void HostCheckArgument(const void *argument, std::size_t bytes);
extern "C" void HostCountLaunch(void);

template <typename... Params, std::size_t... I>
void HostCheck(void (*)(Params...), void **args, std::index_sequence<I...>)
{
  (HostCheckArgument(args[I], sizeof(Params)), ...);
}

template <typename... Params, std::size_t... I>
void HostCall(void (*kernel)(Params...), void **args, std::index_sequence<I...>)
{
  kernel(*static_cast<typename std::remove_reference<Params>::type *>(args[I])...);
}

template <typename... Params>
cudaError_t HostLaunch(void (*kernel)(Params...), dim3 grid, dim3 block, void **args, std::size_t, cudaStream_t)
{
  HostCountLaunch();
  HostCheck(kernel, args, std::index_sequence_for<Params...>{});
  HostKernel(grid, block, [&] { HostCall(kernel, args, std::index_sequence_for<Params...>{}); });
  return cudaSuccess;
}
/* As PETSc calls it */
template <typename Kernel, typename... Params>
cudaError_t HostLaunch(void (*kernel)(Params...), dim3 grid, dim3 block, void **args, std::size_t n, cudaStream_t s)
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
