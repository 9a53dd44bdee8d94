/*
  Corrections of clusters on a device. Of clusters that several processes have parts of the sums go through the host,
  where they are added up as in corrections.c.
*/
#include <petsckcycle/private/clusterimpl.h>
#include <petsckcycle/private/devicelevelimpl.h>

#if defined(KCYCLE_HAVE_CUDA)

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
static PetscErrorCode AddUpParts(const KCycleClusters *cl, PetscInt g, const Copy *copy, cudaStream_t stream)
{
  const size_t bytes  = (size_t)cl->nparts[g] * sizeof(PetscScalar);
  PetscScalar *change = copy->all.change + cl->first[cl->generation[2 * g]];

  PetscFunctionBegin;
  PetscCall(KCycleDeviceToHost(stream, bytes, change, copy->parts));
  PetscCall(KCycleClustersAddUp(cl, g, copy->parts));
  PetscCall(KCycleDeviceToDevice(stream, bytes, copy->parts, change));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Corrections of all clusters, the inner ones first, or last */
static PetscErrorCode Correct(const KCycleDeviceStencil *st, const KCycleSmoother *s, PetscBool innerlast,
                              const KCScalar *b, KCScalar *x)
{
  const KCycleClusters *cl   = s->clusters;
  const Copy           *copy = (const Copy *)s->copy;
  KCycleCudaClusters    some = copy->all;
  cudaStream_t          stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  some.rows.halo = st->st.halo;
  for (PetscInt i = 0; i < cl->ngenerations; i++) {
    const PetscInt g = innerlast ? cl->ngenerations - 1 - i : i;

    some.first = cl->generation[2 * g];
    some.last  = cl->generation[2 * g + 2];
    PetscCall(KCycleDeviceGridExchange(st->grid, (PetscBool)(st->st.shape.box != 0), x));
    PetscCallCUDA(KCycleCudaClusterChanges(stream, &some, b, x));
    if (cl->sf[g]) PetscCall(AddUpParts(cl, g, copy, stream));
    PetscCallCUDA(KCycleCudaClusterAdd(stream, &some, x));
  }
  PetscCall(PetscLogGpuFlops(2.0 * (PetscLogDouble)cl->nentries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Those of corrections.c: a sweep in one order, and the clusters behind it; in the reverse order before it */
static PetscErrorCode SweepAndCorrect(const KCycleDeviceStencil *st, const KCycleSmoother *s, const KCycleSweeps *one,
                                      const KCScalar *b, KCScalar *x, KCScalar *const work[2])
{
  KCycleSweeps sweeps = *one;
  cudaStream_t stream;

  PetscFunctionBegin;
  if (sweeps.reverse && sweeps.zeroguess) {
    PetscCall(PetscGetCurrentCUDAStream(&stream));
    PetscCallCUDA(KCycleCudaZero(stream, st->st.box.npoints, x));
    sweeps.zeroguess = PETSC_FALSE;
  }
  if (sweeps.reverse) PetscCall(Correct(st, s, PETSC_TRUE, b, x));
  PetscCall(KCycleDeviceStencilSweeps(st, s->inner, &sweeps, b, x, work));
  if (!sweeps.reverse) PetscCall(Correct(st, s, PETSC_FALSE, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One by one; a symmetric one is one forward and one backward */
PetscErrorCode KCycleDeviceClustersSweeps(const KCycleDeviceStencil *st, const KCycleSmoother *s,
                                          const KCycleSweeps *sweeps, const KCScalar *b, KCScalar *x,
                                          KCScalar *const work[2])
{
  KCycleSweeps one[2];
  const int    n = KCycleClustersSplitSweeps(sweeps, one);

  PetscFunctionBegin;
  for (PetscInt i = 0; i < sweeps->its; i++) {
    for (int k = 0; k < n; k++) {
      one[k].zeroguess = (PetscBool)(sweeps->zeroguess && !i && !k);
      PetscCall(SweepAndCorrect(st, s, &one[k], b, x, work));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
