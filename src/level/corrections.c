/*
  The smoother whose sweeps are followed by corrections of clusters, see clusters.c.

  Rows of clusters are those of the operator in PETSc's numbers; the smoother may have one that is divided by a number.
*/
#include <petsckcycle/private/clusterimpl.h>

/* The smoother whose sweeps are followed by corrections */
typedef struct {
  KCycleSmoother *inner;
  KCycleClusters *clusters;
  PetscReal       divisor; /* of the operator that the rows of clusters are those of */
} Wrapper;

/* change <- 1^T (divisor b - A x)_C / d_C for the clusters first to last - 1; for parts their share of the sum */
static void ComputeChanges(const KCycleSmoother *s, PetscInt first, PetscInt last, const KCScalar *b, const KCScalar *x,
                           PetscScalar *change)
{
  const KCycleClusters *cl      = ((Wrapper *)s->data)->clusters;
  const PetscReal       divisor = ((Wrapper *)s->data)->divisor;
  const PetscInt        n       = s->st->box->npoints;
  const KCScalar       *halo    = s->st->halo;

  for (PetscInt c = first; c < last; c++) {
    PetscScalar r = 0;

    for (PetscInt e = cl->start[c]; e < cl->start[c] + cl->size[c]; e++) r += b[cl->column[e]];
    r *= divisor;
    for (PetscInt e = cl->start[c]; e < cl->start[c + 1]; e++) {
      const PetscInt column = cl->column[e];

      r -= cl->value[e] * (column < n ? x[column] : halo[column - n]);
    }
    change[c - first] = r * cl->inverse[c];
  }
}

static void AddChanges(const KCycleClusters *cl, PetscInt first, PetscInt last, const PetscScalar *change, KCScalar *x)
{
  for (PetscInt c = first; c < last; c++) {
    for (PetscInt e = cl->start[c]; e < cl->start[c] + cl->size[c]; e++) x[cl->column[e]] += change[c - first];
  }
}

/* One generation: all changes are computed before x changes, so that their order does not matter. Sums of parts are
   on their way meanwhile */
static PetscErrorCode CorrectGeneration(const KCycleSmoother *s, PetscInt g, const KCScalar *b, KCScalar *x)
{
  const KCycleClusters *cl    = ((Wrapper *)s->data)->clusters;
  const PetscInt        first = cl->generation[g], whole = first + cl->nparts[g], last = cl->generation[g + 1];
  PetscScalar          *parts = cl->change, *changes = cl->change + cl->nparts[g];

  PetscFunctionBegin;
  ComputeChanges(s, first, whole, b, x, parts);
  if (cl->sf[g]) {
    PetscCall(PetscArrayzero(cl->sum, cl->nslots));
    PetscCall(PetscSFReduceBegin(cl->sf[g], MPIU_SCALAR, parts, cl->sum, MPIU_SUM));
  }
  ComputeChanges(s, whole, last, b, x, changes);
  if (cl->sf[g]) {
    PetscCall(PetscSFReduceEnd(cl->sf[g], MPIU_SCALAR, parts, cl->sum, MPIU_SUM));
    for (PetscInt i = 0; i < cl->nslots; i++) cl->sum[i] *= cl->slotinverse[i];
    PetscCall(PetscSFBcastBegin(cl->sf[g], MPIU_SCALAR, cl->sum, parts, MPI_REPLACE));
  }
  AddChanges(cl, whole, last, changes, x);
  if (cl->sf[g]) PetscCall(PetscSFBcastEnd(cl->sf[g], MPIU_SCALAR, cl->sum, parts, MPI_REPLACE));
  AddChanges(cl, first, whole, parts, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Corrections of all clusters, the inner ones first, or last */
static PetscErrorCode Correct(const KCycleSmoother *s, PetscBool innerlast, const KCScalar *b, KCScalar *x)
{
  const KCycleClusters *cl      = ((Wrapper *)s->data)->clusters;
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
  const Wrapper *w      = (Wrapper *)s->data;
  KCycleSweeps   sweeps = *one;

  PetscFunctionBegin;
  if (sweeps.reverse && sweeps.zeroguess) PetscCall(PetscArrayzero(x, s->st->box->npoints));
  if (sweeps.reverse) {
    sweeps.zeroguess = PETSC_FALSE;
    PetscCall(Correct(s, PETSC_TRUE, b, x));
  }
  PetscCall(KCycleSmootherSweeps(w->inner, &sweeps, b, x));
  if (!sweeps.reverse) PetscCall(Correct(s, PETSC_FALSE, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One by one; a symmetric one is one forward and one backward */
static PetscErrorCode Sweeps(KCycleSmoother *s, const KCycleSweeps *sweeps, const KCScalar *b, KCScalar *x)
{
  const PetscBool both = (PetscBool)(sweeps->order == PC_RELAX_SYMMETRIC);
  KCycleSweeps    one  = {1, sweeps->zeroguess, (PetscBool)(sweeps->reverse && !both),
                      both ? PC_RELAX_FORWARD : sweeps->order};

  PetscFunctionBegin;
  for (PetscInt i = 0; i < sweeps->its; i++) {
    PetscCall(SweepAndCorrect(s, &one, b, x));
    one.zeroguess = PETSC_FALSE;
    if (!both) continue;
    one.reverse = PETSC_TRUE;
    PetscCall(SweepAndCorrect(s, &one, b, x));
    one.reverse = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Residual and restriction, or interpolation, are a pass of their own */
static const KCycleSweeps NoSweeps = {0, PETSC_FALSE, PETSC_FALSE, PC_RELAX_FORWARD};

static PetscErrorCode SmoothRestrict(KCycleSmoother *s, const KCycleSweeps *sweeps, const KCScalar *b, KCScalar *x,
                                     const KCycleTransfer *tr, KCScalar *coarse, PetscReal *sum)
{
  KCycleSmoother *inner = ((Wrapper *)s->data)->inner;

  PetscFunctionBegin;
  PetscCall(KCycleSmootherSweeps(s, sweeps, b, x));
  PetscCall((*inner->ops.smoothrestrict)(inner, &NoSweeps, b, x, tr, coarse, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InterpolateSmooth(KCycleSmoother *s, const KCycleSweeps *sweeps, const KCycleTransfer *tr,
                                        const KCScalar *e, const KCScalar *b, KCScalar *x)
{
  KCycleSmoother *inner = ((Wrapper *)s->data)->inner;

  PetscFunctionBegin;
  PetscCall((*inner->ops.interpolatesmooth)(inner, &NoSweeps, tr, e, b, x));
  PetscCall(KCycleSmootherSweeps(s, sweeps, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Tile(KCycleSmoother *s)
{
  PetscFunctionBegin;
  PetscCall(KCycleSmootherTile(((Wrapper *)s->data)->inner, s->tile_state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View(const KCycleSmoother *s, PetscViewer viewer)
{
  const Wrapper *w = (Wrapper *)s->data;
  PetscInt64     all[2];

  PetscFunctionBegin;
  PetscCall(KCycleSmootherView(w->inner, viewer));
  PetscCallMPI(MPI_Allreduce(w->clusters->found, all, 2, MPIU_INT64, MPI_SUM, s->comm));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  %" PetscInt64_FMT " clusters of strongly coupled points in %" PetscInt_FMT
                                   " generations, %" PetscInt64_FMT " points together\n",
                                   all[0], w->clusters->ngenerations, all[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(KCycleSmoother *s)
{
  Wrapper *w = (Wrapper *)s->data;

  PetscFunctionBegin;
  PetscCall(KCycleClustersDestroy(&w->clusters));
  PetscCall(KCycleSmootherDestroy(&w->inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The smoother becomes one that corrects clusters behind each sweep; it has them from now on. Its operator is that
   of the clusters, divided */
PetscErrorCode KCycleSmootherWrapClusters(KCycleClusters *clusters, PetscReal divisor, KCycleSmoother **smoother)
{
  KCycleSmoother *inner = *smoother, *s;
  Wrapper        *w;

  PetscFunctionBegin;
  PetscCall(PetscNew(&w));
  PetscCall(PetscNew(&s));
  w->inner      = inner;
  w->clusters   = clusters;
  w->divisor    = divisor;
  inner->single = PETSC_TRUE;
  *s            = *inner;
  s->data       = w;
  s->kind       = KCYCLE_SWEEPS_OTHER;
  s->clusters   = clusters;
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
