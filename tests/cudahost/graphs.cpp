/*
  CUDA graphs on the host: a stream that is captured hands over what it is asked for, in order, and a graph does it each
  time that it is launched. Whatever cannot be captured ends the program.
*/
#include "graphs.h"
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

struct Graph {
  long                               kernels;
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
  if (!HostIsCaptured(stream)) return cudaErrorIllegalState;
  *graph = (cudaGraph_t)graphs.captured[stream];
  graphs.captured.erase(stream);
  return cudaSuccess;
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
