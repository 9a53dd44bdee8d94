/*
  Kernels between levels: interpolation, one thread a fine point, and restriction, one thread a coarse point.
*/
#include "transfercuda.h"

static __global__ void Interpolate(const KCycleCudaInterpolateWork work)
{
  InterpolatePoint(work, KCycleCudaThread());
}

static __global__ void Restrict(const KCycleCudaRestrictWork work)
{
  RestrictPoint(work, KCycleCudaThread());
}

cudaError_t KCycleCudaInterpolate(cudaStream_t stream, const KCycleCudaTransfer *tr, const KCScalar *e, PetscBool add,
                                  KCScalar *x)
{
  const KCycleCudaInterpolateWork work = {*tr, e, add ? 1 : 0, x};

  return KCycleCudaDo(stream, tr->fine.npoints, KC_DO_INTERPOLATE, Interpolate, work);
}

cudaError_t KCycleCudaRestrict(cudaStream_t stream, const KCycleCudaTransfer *tr, const KCScalar *r, KCScalar *b)
{
  const KCycleCudaRestrictWork work = {*tr, r, b};
  const PetscInt              *n = tr->coarse.n, *reach = tr->coarse.reach;

  return KCycleCudaDo(stream, (n[0] + 2 * tr->coarse.xhalo) * (n[1] + 2 * reach[1]) * (n[2] + 2 * reach[2]),
                      KC_DO_RESTRICT, Restrict, work);
}
