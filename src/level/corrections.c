/*
  The smoother whose sweeps are followed by corrections of clusters, see clusters.c.

  Rows of clusters are those of the operator in PETSc's numbers; the smoother may have one that is divided by a number.
*/
#include <petsckcycle/private/clusterimpl.h>

static inline KCycleClusterRows RowsOf(const KCycleSmoother *s)
{
  const KCycleClusters   *cl   = s->clusters;
  const KCycleClusterRows rows = {cl->start, cl->members, cl->column, cl->value, s->st->halo, s->st->box->npoints};

  return rows;
}

/* Sums of the lanes of a slice. They stay in registers while nothing but numbers is between the brackets */
typedef struct {
  PetscScalar l[KC_CLUSTER_LANES];
} Lanes;

/* The sums of a slice: of each row, or of the long one */
KC_POINT void Collect(PetscInt n, PetscScalar r[])
{
  if (n == 1) r[0] = ((r[0] + r[4]) + (r[2] + r[6])) + ((r[1] + r[5]) + (r[3] + r[7]));
}

/* KCycleClusterRight() of the lanes of a slice, side by side: so sums do not wait for each other */
KC_POINT void SumMembers(const KCycleClusterRows *rows, PetscInt slice, const KCScalar *b, Lanes *r)
{
  const PetscInt *members = rows->members + KC_CLUSTER_LANES * slice;
  const PetscInt *column  = rows->column + KC_CLUSTER_LANES * rows->start[slice], *end;
  Lanes           t       = {{0}};
  PetscInt        all     = members[0]; /* entries that all lanes have */

  for (int l = 1; l < KC_CLUSTER_LANES; l++) all = PetscMin(all, members[l]);
  for (end = column + KC_CLUSTER_LANES * all; column < end; column += KC_CLUSTER_LANES) {
    t.l[0] += b[column[0]];
    t.l[1] += b[column[1]];
    t.l[2] += b[column[2]];
    t.l[3] += b[column[3]];
    t.l[4] += b[column[4]];
    t.l[5] += b[column[5]];
    t.l[6] += b[column[6]];
    t.l[7] += b[column[7]];
  }
  *r = t;
  for (int l = 0; l < KC_CLUSTER_LANES; l++) {
    for (PetscInt e = all; e < members[l]; e++) r->l[l] += b[end[KC_CLUSTER_LANES * (e - all) + l]];
  }
}

/* right <- 1^T divisor b of all clusters */
static void SumRight(const KCycleSmoother *s, const KCScalar *b)
{
  const KCycleClusters   *cl   = s->clusters;
  const KCycleClusterRows rows = RowsOf(s);

  for (PetscInt slice = 0; slice < cl->nslices; slice++) {
    const PetscInt n = KCycleClustersOfSlice(cl, slice);
    Lanes          r;

    SumMembers(&rows, slice, b, &r);
    Collect(n, r.l);
    for (PetscInt i = 0; i < n; i++) cl->right[cl->first[slice] + i] = s->divisor * r.l[i];
  }
}

/* KCycleClusterLeft() of the lanes of a slice without points of the halo */
KC_POINT void SumNear(const KCycleClusterRows *rows, PetscInt slice, const KCScalar *x, Lanes *r)
{
  const PetscInt    *column = rows->column + KC_CLUSTER_LANES * rows->start[slice];
  const PetscScalar *value  = rows->value + KC_CLUSTER_LANES * rows->start[slice],
                    *end    = rows->value + KC_CLUSTER_LANES * rows->start[slice + 1];
  Lanes t                   = {{0}};

  for (; value < end; column += KC_CLUSTER_LANES, value += KC_CLUSTER_LANES) {
    t.l[0] += value[0] * x[column[0]];
    t.l[1] += value[1] * x[column[1]];
    t.l[2] += value[2] * x[column[2]];
    t.l[3] += value[3] * x[column[3]];
    t.l[4] += value[4] * x[column[4]];
    t.l[5] += value[5] * x[column[5]];
    t.l[6] += value[6] * x[column[6]];
    t.l[7] += value[7] * x[column[7]];
  }
  *r = t;
}

/* change <- 1^T (divisor b - A x)_C / d_C for the clusters of the slices first to last - 1; for parts their share of
   the sum */
KC_VERSIONS static void ComputeChanges(const KCycleSmoother *s, PetscInt first, PetscInt last, const KCScalar *x,
                                       PetscScalar *change)
{
  const KCycleClusters   *cl   = s->clusters;
  const KCycleClusterRows rows = RowsOf(s);

  for (PetscInt slice = first; slice < last; slice++) {
    const PetscInt     n     = KCycleClustersOfSlice(cl, slice);
    const PetscScalar *right = cl->right + cl->first[slice], *inverse = cl->inverse + cl->first[slice];
    Lanes              r;

    if (cl->near[slice]) SumNear(&rows, slice, x, &r);
    else {
      for (int l = 0; l < KC_CLUSTER_LANES; l++) r.l[l] = KCycleClusterLeft(&rows, slice, l, 0, 1, x);
    }
    Collect(n, r.l);
    for (PetscInt i = 0; i < n; i++) change[i] = (right[i] - r.l[i]) * inverse[i];
    change += n;
  }
}

static void AddChanges(const KCycleClusters *cl, PetscInt first, PetscInt last, const PetscScalar *change, KCScalar *x)
{
  for (PetscInt slice = first; slice < last; slice++) {
    const PetscInt  n       = KCycleClustersOfSlice(cl, slice);
    const PetscInt *members = cl->members + KC_CLUSTER_LANES * slice;
    const PetscInt *column  = cl->column + KC_CLUSTER_LANES * cl->start[slice];

    for (int l = 0; l < KC_CLUSTER_LANES; l++) {
      const PetscScalar d = change[PetscMin(l, n - 1)];

      for (PetscInt e = 0; e < members[l]; e++) x[column[KC_CLUSTER_LANES * e + l]] += d;
    }
    change += n;
  }
}

/* Sums of parts are on their way to the processes that add them up, and back */
static PetscErrorCode AddUpBegin(const KCycleClusters *cl, PetscInt g, const PetscScalar *parts)
{
  PetscFunctionBegin;
  if (!cl->sf[g]) PetscFunctionReturn(PETSC_SUCCESS);
  KCycleRounds += 2; /* there and back */
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
static PetscErrorCode CorrectGeneration(const KCycleSmoother *s, PetscInt g, KCScalar *x)
{
  const KCycleClusters *cl    = s->clusters;
  const PetscInt        first = cl->generation[2 * g], whole = cl->generation[2 * g + 1];
  const PetscInt        last  = cl->generation[2 * g + 2];
  PetscScalar          *parts = cl->change, *changes = cl->change + cl->nparts[g];

  PetscFunctionBegin;
  ComputeChanges(s, first, whole, x, parts);
  PetscCall(AddUpBegin(cl, g, parts));
  ComputeChanges(s, whole, last, x, changes);
  PetscCall(AddUpReturn(cl, g, parts));
  AddChanges(cl, whole, last, changes, x);
  PetscCall(AddUpEnd(cl, g, parts));
  AddChanges(cl, first, whole, parts, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Right sides are summed up before the first sweep */
static PetscErrorCode Correct(void *ctx, const KCycleSmoother *s, PetscBool innerlast, const KCScalar *b, KCScalar *x)
{
  const KCycleClusters *cl = s->clusters;

  PetscFunctionBegin;
  (void)ctx;
  (void)b;
  for (PetscInt i = 0; i < cl->ngenerations; i++) {
    PetscCall(KCycleStencilExchange(s->st, x));
    PetscCall(CorrectGeneration(s, innerlast ? cl->ngenerations - 1 - i : i, x));
  }
  PetscCall(PetscLogFlops(2.0 * (PetscLogDouble)cl->nentries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sweep in one order, and the clusters after it; in the reverse order before it */
static PetscErrorCode SweepAndCorrect(KCycleSmoother *s, const KCycleSweepKernels *kernels, const KCycleSweeps *one,
                                      const KCScalar *b, KCScalar *x)
{
  KCycleSweeps sweeps = *one;

  PetscFunctionBegin;
  if (sweeps.reverse && sweeps.zeroguess) PetscCall((*kernels->zero)(kernels->ctx, s->st, x));
  if (sweeps.reverse) {
    sweeps.zeroguess = PETSC_FALSE;
    PetscCall((*kernels->correct)(kernels->ctx, s, PETSC_TRUE, b, x));
  }
  PetscCall((*kernels->sweeps)(kernels->ctx, s->inner, &sweeps, b, x));
  if (!sweeps.reverse) PetscCall((*kernels->correct)(kernels->ctx, s, PETSC_FALSE, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One by one; a symmetric one is one forward and one backward */
PetscErrorCode KCycleClustersSweeps(KCycleSmoother *s, const KCycleSweepKernels *kernels, const KCycleSweeps *sweeps,
                                    const KCScalar *b, KCScalar *x)
{
  const PetscBool    both    = (PetscBool)(sweeps->order == PC_RELAX_ORDER_SYMMETRIC);
  const KCycleSweeps forward = {
      1, PETSC_FALSE, (PetscBool)(sweeps->reverse && !both), both ? PC_RELAX_ORDER_FORWARD : sweeps->order, 0, NULL};

  PetscFunctionBegin;
  for (PetscInt i = 0; i < KCycleSweepsTurns(sweeps); i++) {
    KCycleSweeps one = forward;

    if (both && i % 2) one.reverse = PETSC_TRUE;
    one.zeroguess = (PetscBool)(sweeps->zeroguess && !i);
    PetscCall(SweepAndCorrect(s, kernels, &one, b, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Sweeps(KCycleSmoother *s, const KCycleSweeps *sweeps, const KCScalar *b, KCScalar *x)
{
  const KCycleSweepKernels host = {NULL, KCycleSmootherZero, KCycleSmootherSweepsOf, NULL, Correct};

  PetscFunctionBegin;
  if (sweeps->its) SumRight(s, b);
  PetscCall(KCycleClustersSweeps(s, &host, sweeps, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Residual and restriction, or interpolation, are a pass of their own */
static const KCycleSweeps NoSweeps = {0, PETSC_FALSE, PETSC_FALSE, PC_RELAX_ORDER_FORWARD, 0, NULL};

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
  return KCycleSmootherTile(s->inner, s->tile_state);
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

#if !defined(KCYCLE_SINGLE)
/* Of the smoother that has them last */
PetscErrorCode KCycleClustersDestroy(KCycleClusters **clusters)
{
  KCycleClusters *cl = *clusters;

  PetscFunctionBegin;
  if (!cl) PetscFunctionReturn(PETSC_SUCCESS);
  *clusters = NULL;
  if (--cl->references > 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt g = 0; cl->sf && g < cl->ngenerations; g++) PetscCall(PetscSFDestroy(&cl->sf[g]));
  PetscCall(PetscFree(cl->sf));
  PetscCall(PetscFree(cl->generation));
  PetscCall(PetscFree(cl->nparts));
  PetscCall(PetscFree(cl->first));
  PetscCall(PetscFree(cl->near));
  PetscCall(PetscFree(cl->start));
  PetscCall(PetscFree(cl->members));
  PetscCall(PetscFree(cl->column));
  PetscCall(PetscFree(cl->value));
  PetscCall(PetscFree(cl->inverse));
  PetscCall(PetscFree(cl->right));
  PetscCall(PetscFree(cl->change));
  PetscCall(PetscFree(cl->slotinverse));
  PetscCall(PetscFree(cl->sum));
  PetscCall(PetscFree(cl));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* The smoother becomes one that corrects clusters after each sweep; it has them from now on */
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
