/*
  Corrections of clusters, one warp a slice: four threads for each of its lanes.
*/
#include "launchcuda.h"

#define WARP 32
#define STEP (WARP / KC_CLUSTER_LANES)

static __global__ void Changes(KCycleCudaClusters cl, const KCScalar *b, const KCScalar *x)
{
  const PetscInt thread = KCycleCudaThread(), slice = cl.first + thread / WARP, t = thread % WARP;
  const PetscInt lane = t % KC_CLUSTER_LANES, first = t / KC_CLUSTER_LANES;
  PetscInt       c, n;
  PetscScalar    r;

  if (slice >= cl.last) return;
  c = cl.clusters[slice];
  n = cl.clusters[slice + 1] - c;
  r = cl.divisor * KCycleClusterRight(&cl.rows, slice, lane, first, STEP, b) -
      KCycleClusterLeft(&cl.rows, slice, lane, first, STEP, x);
  for (int by = WARP / 2; by >= (n == 1 ? 1 : KC_CLUSTER_LANES); by /= 2) r += __shfl_down_sync(~0u, r, by, WARP);
  if (t < n) cl.change[c + t] = r * cl.inverse[c + t];
}

static __global__ void Add(KCycleCudaClusters cl, KCScalar *x)
{
  const PetscInt thread = KCycleCudaThread(), slice = cl.first + thread / WARP, t = thread % WARP;
  const PetscInt lane = t % KC_CLUSTER_LANES;
  PetscInt       c, n;

  if (slice >= cl.last) return;
  c = cl.clusters[slice];
  n = cl.clusters[slice + 1] - c;
  for (PetscInt e = t / KC_CLUSTER_LANES; e < cl.rows.members[KC_CLUSTER_LANES * slice + lane]; e += STEP)
    x[cl.rows.column[KC_CLUSTER_LANES * (cl.rows.start[slice] + e) + lane]] += cl.change[c + (lane < n ? lane : 0)];
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
