/*
  Kernels with a stencil on a part of the points: on those that read no halo, while halos are on their way, and then on
  the others.
*/
#include "stencilcuda.h"

/* Point, or pair of points, of this thread; -1: none. Threads of the part inside are those of all points, as others
   would read coefficients that are not aligned */
static __device__ __forceinline__ PetscInt PieceOf(const KCycleCudaBox &box, const KCycleCudaPart &part, PetscInt pair)
{
  const PetscInt thread = KCycleCudaThread(), line = KCycleCudaQuotient(thread, pair ? box.pairs : box.line);
  PetscInt       i, last;
  Point          p;

  if (thread >= part.n) return -1;
  if (part.list) return part.list[thread];
  i    = pair ? 2 * (thread - line * box.pairs.number) : thread - line * box.n[0];
  last = pair && i + 1 < box.n[0] ? i + 1 : i;
  p    = PointOf(box, line, i);
  if (i < part.low[0] || last >= part.high[0] || p.j < part.low[1] || p.j >= part.high[1] || p.k < part.low[2] ||
      p.k >= part.high[2])
    return -1;
  return thread;
}

template <int NC> static __global__ void ComputePart(const KCycleCudaComputeWork work, const KCycleCudaPart part)
{
  const PetscInt piece = PieceOf(work.st.box, part, 0);

  if (piece >= 0) ComputePoint<NC, NC>(work, piece);
}

template <int NC> static __global__ void ChangePart(const KCycleCudaComputeWork work, const KCycleCudaPart part)
{
  const PetscInt piece = PieceOf(work.st.box, part, 0);

  if (piece >= 0) ChangePoint<NC, NC>(work, piece);
}

template <int NC> static __global__ void RelaxColourPart(const KCycleCudaColourWork work, const KCycleCudaPart part)
{
  const PetscInt piece = PieceOf(work.st.box, part, 1);

  if (piece >= 0) RelaxColourPair<NC, NC>(work, piece);
}

cudaError_t KCycleCudaComputePart(cudaStream_t stream, const KCycleCudaStencil *st, const KCycleCudaStep *step,
                                  const KCycleCudaPart *part)
{
  const KCycleCudaComputeWork work                                         = {*st, *step};
  void (*const compute)(const KCycleCudaComputeWork, const KCycleCudaPart) = BY_SHAPE(ComputePart, st);
  void (*const change)(const KCycleCudaComputeWork, const KCycleCudaPart)  = BY_SHAPE(ChangePart, st);

  if (!compute || !change) return cudaErrorInvalidValue;
  return KCycleCudaLaunch(stream, part->n, step->d ? change : compute, work, *part);
}

cudaError_t KCycleCudaRelaxColourPart(cudaStream_t stream, const KCycleCudaStencil *st, const KCycleCudaColour *colour,
                                      const KCycleCudaPart *part)
{
  const KCycleCudaColourWork work                                       = {*st, *colour};
  void (*const relax)(const KCycleCudaColourWork, const KCycleCudaPart) = BY_SHAPE(RelaxColourPart, st);

  if (!relax) return cudaErrorInvalidValue;
  return KCycleCudaLaunch(stream, part->n, relax, work, *part);
}
