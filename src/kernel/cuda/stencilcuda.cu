/*
  Kernels with a stencil, one thread a point.
*/
#include "stencilcuda.h"

template <int NC> static __global__ void Compute(const KCycleCudaComputeWork work)
{
  ComputePoint<NC, NC>(work, KCycleCudaThread());
}

template <int NC> static __global__ void Change(const KCycleCudaComputeWork work)
{
  ChangePoint<NC, NC>(work, KCycleCudaThread());
}

template <int NC> static __global__ void RelaxColour(const KCycleCudaColourWork work)
{
  RelaxColourPair<NC, NC>(work, KCycleCudaThread());
}

/* One thread for each point of the lines */
template <int NC>
static __global__ void LineResidual(KCycleCudaStencil st, KCycleCudaLines z, const KCScalar *b, const KCScalar *x)
{
  const PetscInt thread = KCycleCudaThread();
  PetscInt       l, i, row, number, index;
  KCScalar       sum, middle;

  if (thread >= z.nlines * z.n) return;
  KCycleCudaLinePoint(&z, thread, &l, &i);
  index = KCycleCudaLineAt(&z, l, &row, &number) + i * z.step[0];
  (void)Sum<NC, NC>(st, x, PointAt(st.box, index), &sum, &middle);
  z.y[i * z.nlines + l] = KCyclePointFinish(KC_RESIDUAL, sum, b[index], middle, 0, 0);
}

cudaError_t KCycleCudaCompute(cudaStream_t stream, const KCycleCudaStencil *st, const KCycleCudaStep *step)
{
  const KCycleCudaComputeWork work                   = {*st, *step};
  void (*const compute)(const KCycleCudaComputeWork) = BY_SHAPE(Compute, st);
  void (*const change)(const KCycleCudaComputeWork)  = BY_SHAPE(Change, st);

  if (!compute || !change) return cudaErrorInvalidValue;
  return KCycleCudaDo(stream, st->box.npoints, step->d ? KC_DO_CHANGE : KC_DO_COMPUTE, step->d ? change : compute,
                      work);
}

cudaError_t KCycleCudaRelaxColour(cudaStream_t stream, const KCycleCudaStencil *st, const KCycleCudaColour *colour)
{
  const KCycleCudaColourWork work                 = {*st, *colour};
  void (*const relax)(const KCycleCudaColourWork) = BY_SHAPE(RelaxColour, st);

  if (!relax) return cudaErrorInvalidValue;
  return KCycleCudaDo(stream, (st->box.n[0] + 1) / 2 * st->box.n[1] * st->box.n[2], KC_DO_COLOUR, relax, work);
}

cudaError_t KCycleCudaLineResidual(cudaStream_t stream, const KCycleCudaStencil *st, const KCycleCudaLines *z,
                                   const KCScalar *b, const KCScalar *x)
{
  void (*const residual)(KCycleCudaStencil, KCycleCudaLines, const KCScalar *, const KCScalar *) =
      BY_SHAPE(LineResidual, st);

  if (!residual) return cudaErrorInvalidValue;
  return KCycleCudaLaunch(stream, z->nlines * z->n, residual, *st, *z, b, x);
}
