/*
  Corrections of clusters on a device. Of clusters that several processes have parts of the sums go through the host,
  where they are added up as in corrections.c.
*/
#include <petsckcycle/private/clusterimpl.h>
#include <petsckcycle/private/devicelevelimpl.h>

/* parts: changes of those of a generation, on the host */
typedef struct {
  KCycleCudaClusters all; /* but for the halo and the clusters that are meant */
  PetscScalar       *parts;
} Copy;

static PetscErrorCode Destroy(void **copy)
{
  Copy *c = (Copy *)*copy;

  PetscFunctionBegin;
  PetscCall(KCycleDeviceFree(c->all.rows.start));
  PetscCall(KCycleDeviceFree(c->all.rows.members));
  PetscCall(KCycleDeviceFree(c->all.rows.column));
  PetscCall(KCycleDeviceFree(c->all.rows.value));
  PetscCall(KCycleDeviceFree(c->all.clusters));
  PetscCall(KCycleDeviceFree(c->all.inverse));
  PetscCall(KCycleDeviceFree(c->all.change));
  if (c->parts) PetscCallCUDA(cudaFreeHost(c->parts));
  PetscCall(PetscFree(*copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleDeviceClustersCreate(KCycleSmoother *s)
{
  const KCycleClusters *cl = s->clusters;
  const size_t          n = (size_t)cl->nclusters, nslices = (size_t)cl->nslices, scalar = sizeof(PetscScalar);
  const size_t          entries = KC_CLUSTER_LANES * (size_t)cl->start[nslices];
  PetscInt              most    = 0;
  Copy                 *copy;

  PetscFunctionBegin;
  PetscCall(PetscNew(&copy));
  s->copy                = copy;
  s->destroycopy         = Destroy;
  copy->all.rows.npoints = s->st->box->npoints;
  copy->all.divisor      = s->divisor;
  PetscCall(KCycleDeviceCopy(cl->start, (nslices + 1) * sizeof(PetscInt), &copy->all.rows.start));
  PetscCall(KCycleDeviceCopy(cl->first, (nslices + 1) * sizeof(PetscInt), &copy->all.clusters));
  PetscCall(KCycleDeviceCopy(cl->members, KC_CLUSTER_LANES * nslices * sizeof(PetscInt), &copy->all.rows.members));
  PetscCall(KCycleDeviceCopy(cl->column, entries * sizeof(PetscInt), &copy->all.rows.column));
  PetscCall(KCycleDeviceCopy(cl->value, entries * scalar, &copy->all.rows.value));
  PetscCall(KCycleDeviceCopy(cl->inverse, n * scalar, &copy->all.inverse));
  PetscCall(KCycleDeviceMalloc(n * scalar, &copy->all.change));
  for (PetscInt g = 0; g < cl->ngenerations; g++) most = PetscMax(most, cl->nparts[g]);
  if (most) PetscCallCUDA(cudaMallocHost((void **)&copy->parts, (size_t)most * scalar));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes of clusters in parts, of which each process has computed its share */
static PetscErrorCode AddUpParts(const KCycleClusters *cl, PetscInt g, const Copy *copy)
{
  const size_t bytes  = (size_t)cl->nparts[g] * sizeof(PetscScalar);
  PetscScalar *change = copy->all.change + cl->first[cl->generation[2 * g]];

  PetscFunctionBegin;
  PetscCall(KCycleDeviceToHost(bytes, change, copy->parts));
  PetscCall(KCycleClustersAddUp(cl, g, copy->parts));
  PetscCall(KCycleDeviceToDevice(bytes, copy->parts, change));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Those of corrections.c */
PetscErrorCode KCycleDeviceClustersCorrect(void *ctx, const KCycleSmoother *s, PetscBool innerlast, const KCScalar *b,
                                           KCScalar *x)
{
  const KCycleDeviceStencil *st   = ((const KCycleDeviceWork *)ctx)->st;
  const KCycleClusters      *cl   = s->clusters;
  const Copy                *copy = (const Copy *)s->copy;
  KCycleCudaClusters         some = copy->all;

  PetscFunctionBegin;
  some.rows.halo = st->st.halo;
  for (PetscInt i = 0; i < cl->ngenerations; i++) {
    const PetscInt g = innerlast ? cl->ngenerations - 1 - i : i;

    some.first = cl->generation[2 * g];
    some.last  = cl->generation[2 * g + 2];
    PetscCall(KCycleDeviceStencilExchange(st, x));
    KCycleCallKernel(KCycleCudaClusterChanges, &some, b, x);
    if (cl->sf[g]) PetscCall(AddUpParts(cl, g, copy));
    KCycleCallKernel(KCycleCudaClusterAdd, &some, x);
  }
  PetscCall(PetscLogGpuFlops(2.0 * (PetscLogDouble)cl->nentries));
  PetscFunctionReturn(PETSC_SUCCESS);
}
