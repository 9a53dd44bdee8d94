/*
  CUDA graphs on the host: a stream that is captured records what it is asked for, in order, and a graph does it each
  time that it is launched. As in CUDA's mode "thread local" some calls are errors meanwhile, on whatever stream, and so
  is the end of the capture then. These are to allocate or free memory, to wait, to use CUDA's own stream and to load a
  kernel.
*/
#include "graphs.h"
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <vector>

struct Graph {
  long                               kernels;
  bool                               broken; /* something was refused */
  std::vector<std::function<void()>> nodes;
};

/* At the end no graph may be left */
static struct Graphs {
  std::map<cudaStream_t, Graph *> captured;
  long                            launched[2], left;

  ~Graphs()
  {
    if (left) fprintf(stderr, "cudahost: %ld graphs are left\n", left);
  }
} graphs;

bool HostIsCaptured(cudaStream_t stream)
{
  return graphs.captured.count(stream) > 0;
}

void HostCapture(cudaStream_t stream, bool kernel, const std::function<void()> &node)
{
  Graph *graph = graphs.captured[stream];

  graph->nodes.push_back(node);
  if (kernel) graph->kernels++;
}

cudaError_t HostRefuseInCapture(void)
{
  for (auto &captured : graphs.captured) captured.second->broken = true;
  return graphs.captured.empty() ? cudaSuccess : cudaErrorStreamCaptureUnsupported;
}

cudaError_t HostRefuseOwnStream(cudaStream_t stream)
{
  return stream || HostRefuseInCapture() == cudaSuccess ? cudaSuccess : cudaErrorStreamCaptureImplicit;
}

cudaError_t HostMayLaunch(const void *kernel, cudaStream_t stream)
{
  static std::set<const void *> &loaded   = *new std::set<const void *>();
  static long                    launches = 0, limit = -1;
  const char                    *text   = getenv("CUDAHOST_LAUNCHES");
  cudaError_t                    status = HostRefuseOwnStream(stream);

  launches = limit == (text ? atol(text) : -1) ? launches + 1 : 1;
  limit    = text ? atol(text) : -1;
  if (text && launches > limit) {
    (void)HostRefuseInCapture();
    return cudaErrorLaunchFailure;
  }
  if (status == cudaSuccess && !loaded.count(kernel)) status = HostRefuseInCapture();
  if (status == cudaSuccess) loaded.insert(kernel);
  return status;
}

void HostGraphsLaunched(long count[2])
{
  for (int i = 0; i < 2; i++) count[i] = graphs.launched[i];
}

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode)
{
  if (!stream || HostIsCaptured(stream)) return cudaErrorStreamCaptureUnsupported; /* CUDA's own one cannot be */
  graphs.captured[stream] = new Graph();
  graphs.left++;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
  Graph *captured;

  if (!HostIsCaptured(stream)) return cudaErrorIllegalState;
  captured = graphs.captured[stream];
  graphs.captured.erase(stream);
  *graph = (cudaGraph_t)captured;
  if (!captured->broken) return cudaSuccess;
  delete captured;
  graphs.left--;
  *graph = NULL;
  return cudaErrorStreamCaptureInvalidated;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
  *exec = (cudaGraphExec_t) new Graph(*(Graph *)graph);
  graphs.left++;
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t)
{
  graphs.launched[0]++;
  graphs.launched[1] += ((Graph *)exec)->kernels;
  for (auto &node : ((Graph *)exec)->nodes) node();
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
  delete (Graph *)graph;
  graphs.left--;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
  return cudaGraphDestroy((cudaGraph_t)exec);
}
}
