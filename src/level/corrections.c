/*
  The smoother whose sweeps are followed by corrections of clusters, see clusters.c.

  Rows of clusters are those of the operator in PETSc's numbers; the smoother may have one that is divided by a number.
*/
#include <petsckcycle/private/clusterimpl.h>

/* change <- 1^T (divisor b - A x)_C / d_C for the clusters first to last - 1; for parts their share of the sum */
static void ComputeChanges(const KCycleSmoother *s, PetscInt first, PetscInt last, const KCScalar *b, const KCScalar *x,
                           PetscScalar *change)
{
  const KCycleClusters   *cl   = s->clusters;
  const KCycleClusterRows rows = {cl->start,           cl->size,  cl->column, cl->value, s->st->halo,
                                  s->st->box->npoints, s->divisor};

  for (PetscInt c = first; c < last; c++)
    change[c - first] = KCycleClusterResidual(&rows, c, 0, 1, b, x) * cl->inverse[c];
}

static void AddChanges(const KCycleClusters *cl, PetscInt first, PetscInt last, const PetscScalar *change, KCScalar *x)
{
  for (PetscInt c = first; c < last; c++) {
    for (PetscInt e = cl->start[c]; e < cl->start[c] + cl->size[c]; e++) x[cl->column[e]] += change[c - first];
  }
}

/* Sums of parts are on their way to the processes that add them up, and back */
static PetscErrorCode AddUpBegin(const KCycleClusters *cl, PetscInt g, const PetscScalar *parts)
{
  PetscFunctionBegin;
  if (!cl->sf[g]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscArrayzero(cl->sum, cl->nslots));
  PetscCall(PetscSFReduceBegin(cl->sf[g], MPIU_SCALAR, parts, cl->sum, MPIU_SUM));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddUpReturn(const KCycleClusters *cl, PetscInt g, PetscScalar *parts)
{
  PetscFunctionBegin;
  if (!cl->sf[g]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSFReduceEnd(cl->sf[g], MPIU_SCALAR, parts, cl->sum, MPIU_SUM));
  for (PetscInt i = 0; i < cl->nslots; i++) cl->sum[i] *= cl->slotinverse[i];
  PetscCall(PetscSFBcastBegin(cl->sf[g], MPIU_SCALAR, cl->sum, parts, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddUpEnd(const KCycleClusters *cl, PetscInt g, PetscScalar *parts)
{
  PetscFunctionBegin;
  if (cl->sf[g]) PetscCall(PetscSFBcastEnd(cl->sf[g], MPIU_SCALAR, cl->sum, parts, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes of the parts of a generation, from the share of each process */
PetscErrorCode KCycleClustersAddUp(const KCycleClusters *cl, PetscInt g, PetscScalar *parts)
{
  PetscFunctionBegin;
  PetscCall(AddUpBegin(cl, g, parts));
  PetscCall(AddUpReturn(cl, g, parts));
  PetscCall(AddUpEnd(cl, g, parts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One generation: all changes are computed before x changes, so that their order does not matter */
static PetscErrorCode CorrectGeneration(const KCycleSmoother *s, PetscInt g, const KCScalar *b, KCScalar *x)
{
  const KCycleClusters *cl    = s->clusters;
  const PetscInt        first = cl->generation[g], whole = first + cl->nparts[g], last = cl->generation[g + 1];
  PetscScalar          *parts = cl->change, *changes = cl->change + cl->nparts[g];

  PetscFunctionBegin;
  ComputeChanges(s, first, whole, b, x, parts);
  PetscCall(AddUpBegin(cl, g, parts));
  ComputeChanges(s, whole, last, b, x, changes);
  PetscCall(AddUpReturn(cl, g, parts));
  AddChanges(cl, whole, last, changes, x);
  PetscCall(AddUpEnd(cl, g, parts));
  AddChanges(cl, first, whole, parts, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Corrections of all clusters, the inner ones first, or last */
static PetscErrorCode Correct(const KCycleSmoother *s, PetscBool innerlast, const KCScalar *b, KCScalar *x)
{
  const KCycleClusters *cl      = s->clusters;
  const PetscBool       corners = (PetscBool)(s->st->shape.box != 0);

  PetscFunctionBegin;
  for (PetscInt i = 0; i < cl->ngenerations; i++) {
    PetscCall(KCycleBoxExchange(s->st->box, corners, x, s->st->halo));
    PetscCall(CorrectGeneration(s, innerlast ? cl->ngenerations - 1 - i : i, b, x));
  }
  PetscCall(PetscLogFlops(2.0 * cl->start[cl->nclusters]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sweep in one order, and the clusters behind it; in the reverse order before it */
static PetscErrorCode SweepAndCorrect(KCycleSmoother *s, const KCycleSweeps *one, const KCScalar *b, KCScalar *x)
{
  KCycleSweeps sweeps = *one;

  PetscFunctionBegin;
  if (sweeps.reverse && sweeps.zeroguess) PetscCall(PetscArrayzero(x, s->st->box->npoints));
  if (sweeps.reverse) {
    sweeps.zeroguess = PETSC_FALSE;
    PetscCall(Correct(s, PETSC_TRUE, b, x));
  }
  PetscCall(KCycleSmootherSweeps(s->inner, &sweeps, b, x));
  if (!sweeps.reverse) PetscCall(Correct(s, PETSC_FALSE, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One by one; a symmetric one is one forward and one backward */
static PetscErrorCode Sweeps(KCycleSmoother *s, const KCycleSweeps *sweeps, const KCScalar *b, KCScalar *x)
{
  KCycleSweeps one[2];
  const int    n = KCycleClustersSplitSweeps(sweeps, one);

  PetscFunctionBegin;
  for (PetscInt i = 0; i < sweeps->its; i++) {
    for (int k = 0; k < n; k++) {
      one[k].zeroguess = (PetscBool)(sweeps->zeroguess && !i && !k);
      PetscCall(SweepAndCorrect(s, &one[k], b, x));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Residual and restriction, or interpolation, are a pass of their own */
static const KCycleSweeps NoSweeps = {0, PETSC_FALSE, PETSC_FALSE, PC_RELAX_FORWARD};

static PetscErrorCode SmoothRestrict(KCycleSmoother *s, const KCycleSweeps *sweeps, const KCScalar *b, KCScalar *x,
                                     const KCycleTransfer *tr, KCScalar *coarse, PetscReal *sum)
{
  KCycleSmoother *inner = s->inner;

  PetscFunctionBegin;
  PetscCall(KCycleSmootherSweeps(s, sweeps, b, x));
  PetscCall((*inner->ops.smoothrestrict)(inner, &NoSweeps, b, x, tr, coarse, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InterpolateSmooth(KCycleSmoother *s, const KCycleSweeps *sweeps, const KCycleTransfer *tr,
                                        const KCScalar *e, const KCScalar *b, KCScalar *x)
{
  KCycleSmoother *inner = s->inner;

  PetscFunctionBegin;
  PetscCall((*inner->ops.interpolatesmooth)(inner, &NoSweeps, tr, e, b, x));
  PetscCall(KCycleSmootherSweeps(s, sweeps, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Tile(KCycleSmoother *s)
{
  PetscFunctionBegin;
  PetscCall(KCycleSmootherTile(s->inner, s->tile_state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View(const KCycleSmoother *s, PetscViewer viewer)
{
  PetscInt64 all[2];

  PetscFunctionBegin;
  PetscCall(KCycleSmootherView(s->inner, viewer));
  PetscCallMPI(MPI_Allreduce(s->clusters->found, all, 2, MPIU_INT64, MPI_SUM, s->comm));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  %" PetscInt64_FMT " clusters of strongly coupled points in %" PetscInt_FMT
                                   " generations, %" PetscInt64_FMT " points together\n",
                                   all[0], s->clusters->ngenerations, all[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(KCycleSmoother *s)
{
  PetscFunctionBegin;
  PetscCall(KCycleClustersDestroy(&s->clusters));
  PetscCall(KCycleSmootherDestroy(&s->inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The smoother becomes one that corrects clusters behind each sweep; it has them from now on */
PetscErrorCode KCycleSmootherWrapClusters(KCycleClusters *clusters, KCycleSmoother **smoother)
{
  KCycleSmoother *inner = *smoother, *s;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  inner->single = PETSC_TRUE;
  *s            = *inner;
  s->data       = NULL;
  s->kind       = inner->kind == KCYCLE_SWEEPS_OTHER ? KCYCLE_SWEEPS_OTHER : KCYCLE_SWEEPS_CLUSTERS;
  s->clusters   = clusters;
  s->inner      = inner;
  s->copy       = NULL;
  s->run        = NULL;
  s->sums       = NULL;
  s->diagonal   = PETSC_FALSE;
  s->tile_state = -1;
  PetscCall(PetscMemzero(&s->ops, sizeof(s->ops)));
  s->ops.sweeps            = Sweeps;
  s->ops.smoothrestrict    = inner->ops.smoothrestrict ? SmoothRestrict : NULL;
  s->ops.interpolatesmooth = inner->ops.interpolatesmooth ? InterpolateSmooth : NULL;
  s->ops.tile              = Tile;
  s->ops.view              = View;
  s->ops.destroy           = Destroy;
  *smoother                = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}
