/*
  Streams that are captured, and graphs; see graphs.cpp
*/
#pragma once
#include <cuda_runtime_api.h>
#include <cstddef>
#include <functional>
#include <tuple>
#include <utility>

/* Is the stream captured? Then what it is asked for is to be handed over; kernel: it is a kernel */
bool HostIsCaptured(cudaStream_t);

/* Called by what may not happen while a stream is captured: an error then, and nothing comes of the capture */
cudaError_t HostRefuseInCapture(void);

/* The same for work on CUDA's own stream, which waits for others */
cudaError_t HostRefuseOwnStream(cudaStream_t);

/* Before each launch: a kernel that has never run is loaded, which may not happen while a stream is captured.
   CUDAHOST_LAUNCHES in the environment: the number of launches that succeed from when it is set to another number */
cudaError_t HostMayLaunch(const void *kernel, cudaStream_t);
void        HostCapture(cudaStream_t, bool kernel, const std::function<void()> &);

/* Graphs that have been launched, and kernels in them */
void HostGraphsLaunched(long count[2]);

/* Of this file alone: argument types of the same name differ from precision to precision */
namespace {
template <typename T> struct HostCopy {
  T value;
};
} // namespace

/* Arguments are those of the moment */
template <typename Run, typename... Params, std::size_t... I>
static void HostCaptureKernel(void (*kernel)(Params...), void **args, cudaStream_t stream, Run run,
                              std::index_sequence<I...>)
{
  std::tuple<HostCopy<typename std::decay<Params>::type>...> copies(HostCopy<typename std::decay<Params>::type>{
      *static_cast<typename std::remove_reference<Params>::type *>(args[I])}...);

  HostCapture(stream, true, [=]() mutable { run([&] { kernel(std::get<I>(copies).value...); }); });
}
