/*
  Corrections of clusters, one warp a cluster: clusters have few points or hundreds.
*/
#include "launchcuda.h"

#define WARP 32

static __global__ void Changes(KCycleCudaClusters cl, const KCScalar *b, const KCScalar *x)
{
  const PetscInt thread = KCycleCudaThread(), c = cl.first + thread / WARP, lane = thread % WARP;
  PetscScalar    r;

  if (c >= cl.last) return;
  r = KCycleClusterResidual(&cl.rows, c, lane, WARP, b, x);
  for (int by = WARP / 2; by > 0; by /= 2) r += __shfl_down_sync(~0u, r, by, WARP);
  if (lane == 0) cl.change[c] = r * cl.inverse[c];
}

static __global__ void Add(KCycleCudaClusters cl, KCScalar *x)
{
  const PetscInt thread = KCycleCudaThread(), c = cl.first + thread / WARP, lane = thread % WARP;

  if (c >= cl.last) return;
  for (PetscInt e = cl.rows.start[c] + lane; e < cl.rows.start[c] + cl.rows.size[c]; e += WARP)
    x[cl.rows.column[e]] += cl.change[c];
}

cudaError_t KCycleCudaClusterChanges(cudaStream_t stream, const KCycleCudaClusters *cl, const KCScalar *b,
                                     const KCScalar *x)
{
  return KCycleCudaLaunch(stream, WARP * (cl->last - cl->first), Changes, *cl, b, x);
}

cudaError_t KCycleCudaClusterAdd(cudaStream_t stream, const KCycleCudaClusters *cl, KCScalar *x)
{
  return KCycleCudaLaunch(stream, WARP * (cl->last - cl->first), Add, *cl, x);
}
