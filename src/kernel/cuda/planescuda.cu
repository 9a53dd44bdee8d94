/*
  Planes of one colour, one thread a point: what goes to their solvers, and comes back.
*/
#include "stencilcuda.h"

/* Where point number `thread` of a part is in a vector, and on the grid of the planes */
static __device__ __forceinline__ PetscInt IndexOf(const KCycleCudaBox &box, const KCycleCudaPlanes &part,
                                                   PetscInt thread, PetscInt *own)
{
  const PetscInt line = KCycleCudaQuotient(thread, part.line), plane = KCycleCudaQuotient(line, part.plane);
  const PetscInt i = thread - line * part.n[0], j = line - plane * part.n[1];

  *own = part.stride[0] * i + part.stride[1] * j + part.stride[2] * plane;
  return part.first[0] + part.step[0] * i +
         box.n[0] * (part.first[1] + part.step[1] * j + box.n[1] * (part.first[2] + part.step[2] * plane));
}

template <int NC>
static __global__ void Residual(KCycleCudaStencil st, KCycleCudaPlanes part, PetscReal divisor, const KCScalar *b,
                                const KCScalar *x, PetscScalar *r)
{
  const PetscInt thread = KCycleCudaThread();
  PetscInt       index, own;
  KCScalar       sum, middle;

  if (thread >= part.n[0] * part.n[1] * part.n[2]) return;
  index = IndexOf(st.box, part, thread, &own);
  (void)Sum<NC, NC>(st, x, PointAt(st.box, index), &sum, &middle);
  r[own] = KCyclePlaneResidual(divisor, KCyclePointFinish(KC_RESIDUAL, sum, b[index], middle, 0, 0));
}

static __global__ void Add(KCycleCudaBox box, KCycleCudaPlanes part, PetscReal weight, const PetscScalar *e,
                           KCScalar *x)
{
  const PetscInt thread = KCycleCudaThread();
  PetscInt       index, own;

  if (thread >= part.n[0] * part.n[1] * part.n[2]) return;
  index = IndexOf(box, part, thread, &own);
  x[index] += KCyclePlaneChange(weight, e[own]);
}

cudaError_t KCycleCudaPlaneResidual(cudaStream_t stream, const KCycleCudaStencil *st, const KCycleCudaPlanes *part,
                                    PetscReal divisor, const KCScalar *b, const KCScalar *x, PetscScalar *r)
{
  void (*const residual)(KCycleCudaStencil, KCycleCudaPlanes, PetscReal, const KCScalar *, const KCScalar *,
                         PetscScalar *) = BY_SHAPE(Residual, st);

  if (!residual) return cudaErrorInvalidValue;
  return KCycleCudaLaunch(stream, part->n[0] * part->n[1] * part->n[2], residual, *st, *part, divisor, b, x, r);
}

cudaError_t KCycleCudaPlaneAdd(cudaStream_t stream, const KCycleCudaBox *box, const KCycleCudaPlanes *part,
                               PetscReal weight, const PetscScalar *e, KCScalar *x)
{
  return KCycleCudaLaunch(stream, part->n[0] * part->n[1] * part->n[2], Add, *box, *part, weight, e, x);
}
