/*
  Vectors and halos: what one thread does.
*/
#pragma once

#include "launchcuda.h"

/* With a factor of 0 there may be anything before */
static __device__ __forceinline__ void ScalePoint(const KCycleCudaScaleWork &work, PetscInt i)
{
  if (i < work.n) work.y[i] = work.factor == 0 ? 0 : work.factor * work.y[i];
}

static __device__ __forceinline__ void MovePoint(const KCycleCudaMoveWork &work, PetscInt i)
{
  if (i < work.n) work.y[work.to ? work.to[i] : i] = work.x[work.from ? work.from[i] : i];
}

static __device__ __forceinline__ void GatherPoint(const KCycleCudaGatherWork &work, PetscInt i)
{
  const PetscInt *start = work.start, *from = work.from;
  KCScalar        sum;

  if (i >= work.n) return;
  sum = work.y[work.to[i]];
  for (PetscInt s = start ? start[i] : i; s < (start ? start[i + 1] : i + 1); s++) sum += work.x[from ? from[s] : s];
  work.y[work.to[i]] = sum;
}
