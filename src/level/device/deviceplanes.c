/*
  Zebra relaxation of planes on a device: the sweeps of planes.c. The solvers of the planes have levels there, too, so
  that nothing comes to the host.
*/
#include "../smoother/planes.h"
#include <petsckcycle/private/devicelevelimpl.h>

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

/* Those of planes.c */
PetscErrorCode KCycleDevicePlanesRelax(void *ctx, const KCycleSmoother *s, int which, int parity, PetscBool zero,
                                       const KCScalar *b, KCScalar *x)
{
  const KCycleDeviceStencil *st     = ((const KCycleDeviceWork *)ctx)->st;
  const Copy                *copy   = (const Copy *)s->copy;
  const KCycleCudaPlanes    *part   = &copy->part[which][parity];
  void                      *solver = s->solvers->solver[which][parity];

  PetscFunctionBegin;
  if (!zero) PetscCall(KCycleDeviceStencilExchange(st, x));
  if (!solver) PetscFunctionReturn(PETSC_SUCCESS);
  KCycleCallKernel(KCycleCudaPlaneResidual, &st->st, part, s->divisor, b, zero ? NULL : x, copy->r);
  PetscCall((*s->solvers->solveondevice)(solver, copy->r, copy->e));
  KCycleCallKernel(KCycleCudaPlaneAdd, &st->st.box, part, s->weight, copy->e, x);
  PetscCall(PetscLogGpuFlops(2.0 * st->st.shape.ncoeffs * part->n[0] * part->n[1] * part->n[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
