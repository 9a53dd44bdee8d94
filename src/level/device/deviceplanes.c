/*
  Zebra relaxation of planes on a device: the sweeps of planes.c. The solvers of the planes have levels there, too, so
  that nothing comes to the host.
*/
#include "../smoother/planes.h"
#include <petsckcycle/private/devicelevelimpl.h>

#if defined(KCYCLE_HAVE_CUDA)

typedef struct {
  KCycleCudaPlanes part[3][2]; /* of each direction and parity */
  PetscScalar     *r, *e;      /* residual and correction of the planes of a colour, on their own grid */
} Copy;

static PetscErrorCode Destroy(void **copy)
{
  Copy *c = (Copy *)*copy;

  PetscFunctionBegin;
  PetscCall(KCycleDeviceFree(c->r));
  PetscCall(KCycleDeviceFree(c->e));
  PetscCall(PetscFree(*copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static KCycleCudaPlanes PartOf(const KCycleBox *box, int d, int parity)
{
  KCyclePart       part;
  KCycleCudaPlanes to;

  KCyclePartFind(box, d, parity, &part);
  for (int i = 0; i < 3; i++) {
    to.first[i]  = part.first[i];
    to.step[i]   = part.step[i];
    to.n[i]      = part.n[i];
    to.stride[i] = part.stride[i];
  }
  to.line  = KCycleDeviceDivisor(PetscMax(part.n[0], 1));
  to.plane = KCycleDeviceDivisor(PetscMax(part.n[1], 1));
  return to;
}

PetscErrorCode KCycleDevicePlanesCreate(KCycleSmoother *s)
{
  const KCyclePlanesData *planes = (const KCyclePlanesData *)s->data;
  PetscInt                most   = 0;
  char                    keeps[300];
  Copy                   *copy;

  PetscFunctionBegin;
  PetscCall(KCycleSmootherObstacle(s, sizeof(keeps), keeps));
  PetscCheck(!keeps[0], s->comm, PETSC_ERR_PLIB, "%s", keeps);
  PetscCall(PetscNew(&copy));
  s->copy        = copy;
  s->destroycopy = Destroy;
  for (int i = 0; i < 2 * s->solvers->ndirections; i++) {
    KCycleCudaPlanes *part = &copy->part[i / 2][i % 2];

    *part = PartOf(s->st->box, s->solvers->d[i / 2], i % 2);
    most  = PetscMax(most, part->n[0] * part->n[1] * part->n[2]);
  }
  PetscCall(KCycleDeviceMalloc((size_t)most * sizeof(PetscScalar), &copy->r));
  PetscCall(KCycleDeviceMalloc((size_t)most * sizeof(PetscScalar), &copy->e));
  if (planes->lines) PetscCall(KCycleDeviceSmootherCopy(planes->lines));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The planes of both colours across one direction */
static PetscErrorCode Relax(const KCycleDeviceStencil *st, const KCycleSmoother *s, int which, PetscBool back,
                            PetscBool zero, const KCScalar *b, KCScalar *x)
{
  const KCyclePlaneSolvers *solvers = s->solvers;
  const Copy               *copy    = (const Copy *)s->copy;
  cudaStream_t              stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  for (int c = 0; c < 2; c++) {
    const int               parity = KCyclePlanesParity(s, solvers->d[which], c, back);
    const KCycleCudaPlanes *part   = &copy->part[which][parity];

    if (!solvers->exists[which][parity]) continue;
    if (!zero) PetscCall(KCycleDeviceGridExchange(st->grid, (PetscBool)(st->st.shape.box != 0), x));
    if (solvers->solver[which][parity]) {
      PetscCallCUDA(KCycleCudaPlaneResidual(stream, &st->st, part, s->divisor, b, zero ? NULL : x, copy->r));
      PetscCall((*solvers->solvethere)(solvers->solver[which][parity], copy->r, copy->e));
      PetscCallCUDA(KCycleCudaPlaneAdd(stream, &st->st.box, part, s->weight, copy->e, x));
    }
    zero = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Sweep(const KCycleDeviceStencil *st, const KCycleSmoother *s, PetscBool back, PetscBool zero,
                            const KCScalar *b, KCScalar *x, KCScalar *const work[2])
{
  const KCyclePlanesData *planes = (const KCyclePlanesData *)s->data;
  const int               n      = s->solvers->ndirections;
  const KCycleSweeps      one    = KCyclePlanesLines(back, zero);

  PetscFunctionBegin;
  if (planes->lines && back) PetscCall(KCycleDeviceStencilSweeps(st, planes->lines, &one, b, x, work));
  for (int which = 0; which < n; which++)
    PetscCall(Relax(st, s, back ? n - 1 - which : which, back, (PetscBool)(zero && !which && !(planes->lines && back)),
                    b, x));
  if (planes->lines && !back) PetscCall(KCycleDeviceStencilSweeps(st, planes->lines, &one, b, x, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleDevicePlanesSweeps(const KCycleDeviceStencil *st, const KCycleSmoother *s,
                                        const KCycleSweeps *sweeps, const KCScalar *b, KCScalar *x,
                                        KCScalar *const work[2])
{
  const int    turns = sweeps->order == PC_RELAX_ORDER_SYMMETRIC ? 2 : 1, n = s->solvers->ndirections;
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (sweeps->zeroguess) PetscCallCUDA(KCycleCudaZero(stream, st->st.box.npoints, x));
  for (PetscInt i = 0; i < sweeps->its * turns; i++)
    PetscCall(Sweep(st, s, turns == 2 ? (PetscBool)(i % 2) : KCycleSweepsBackward(sweeps),
                    (PetscBool)(sweeps->zeroguess && !i), b, x, work));
  PetscCall(PetscLogGpuFlops(2.0 * st->st.shape.ncoeffs * n * sweeps->its * turns * st->st.box.npoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
