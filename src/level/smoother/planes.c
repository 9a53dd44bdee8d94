/*
  Zebra relaxation of planes in 3D: the points of a grid plane across one direction are relaxed together, planes that
  are not neighbours at the same time. A plane's system is solved by one cycle of a multigrid method that coarsens the
  two directions of the plane, by the solver that the smoother was given; see planesolver.c of PCRELAX.

  Solvers work in PETSc's numbers, with the operator itself; the smoother may have one that is divided by a number.
*/
#include "planes.h"

/* The residual at the points of a part, times the divisor of the operator */
static void Residual(const KCycleSmoother *s, const KCyclePart *part, PetscBool zero, const KCScalar *b,
                     const KCScalar *x)
{
  const KCyclePlanesData *planes = (const KCyclePlanesData *)s->data;
  const KCycleStencil    *st     = s->st;
  const PetscInt          nx     = st->box->n[0];
  KCycleLine              l;

  for (PetscInt k = 0; k < part->n[2]; k++) {
    for (PetscInt j = 0; j < part->n[1]; j++) {
      const PetscInt  at[2] = {part->first[1] + part->step[1] * j, part->first[2] + part->step[2] * k};
      const KCScalar *right = b + nx * (at[0] + st->box->n[1] * at[1]), *line = right;
      PetscScalar    *r = planes->r + part->stride[1] * j + part->stride[2] * k;

      if (!zero) {
        KCycleLineGather(st, x, st->halo, at[0], at[1], &l);
        KCycleLineCompute(&st->shape, KC_RESIDUAL, &l, right, NULL, planes->line);
        line = planes->line;
      }
      for (PetscInt i = 0; i < part->n[0]; i++)
        r[part->stride[0] * i] = KCyclePlaneResidual(s->divisor, line[part->first[0] + part->step[0] * i]);
    }
  }
}

static void Add(const KCycleSmoother *s, const KCyclePart *part, KCScalar *x)
{
  const KCycleBox *box = s->st->box;

  for (PetscInt k = 0; k < part->n[2]; k++) {
    for (PetscInt j = 0; j < part->n[1]; j++) {
      const PetscInt     at[2] = {part->first[1] + part->step[1] * j, part->first[2] + part->step[2] * k};
      const PetscScalar *e     = ((const KCyclePlanesData *)s->data)->e + part->stride[1] * j + part->stride[2] * k;
      KCScalar          *line  = x + box->n[0] * (at[0] + box->n[1] * at[1]) + part->first[0];

      for (PetscInt i = 0; i < part->n[0]; i++)
        line[part->step[0] * i] += KCyclePlaneChange(s->weight, e[part->stride[0] * i]);
    }
  }
}

static PetscErrorCode RelaxPart(void *ctx, const KCycleSmoother *s, int which, int parity, PetscBool zero,
                                const KCScalar *b, KCScalar *x)
{
  const KCyclePlanesData   *planes  = (const KCyclePlanesData *)s->data;
  const KCyclePlaneSolvers *solvers = s->solvers;
  KCyclePart                part;

  PetscFunctionBegin;
  (void)ctx;
  if (!zero) PetscCall(KCycleStencilExchange(s->st, x));
  if (!solvers->solver[which][parity]) PetscFunctionReturn(PETSC_SUCCESS);
  KCyclePartFind(s->st->box, solvers->d[which], parity, &part);
  Residual(s, &part, zero, b, x);
  PetscCall((*solvers->solve)(solvers->solver[which][parity], planes->r, planes->e));
  Add(s, &part, x);
  PetscCall(PetscLogFlops(2.0 * s->st->shape.ncoeffs * part.n[0] * part.n[1] * part.n[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The planes of both colours across one direction. Those of the points that the coarser grid keeps come first */
static PetscErrorCode Relax(const KCycleSmoother *s, const KCycleSweepKernels *kernels, int which, PetscBool back,
                            PetscBool zero, const KCScalar *b, KCScalar *x)
{
  PetscFunctionBegin;
  for (int c = 0; c < 2; c++) {
    const int parity = (int)(s->origin[s->solvers->d[which]] & 1) ^ c ^ (back ? 1 : 0);

    if (!s->solvers->exists[which][parity]) continue;
    PetscCall((*kernels->planes)(kernels->ctx, s, which, parity, zero, b, x));
    zero = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The planes, then lines; backward the other way round */
static PetscErrorCode Sweep(const KCycleSmoother *s, const KCycleSweepKernels *kernels, PetscBool back, PetscBool zero,
                            const KCScalar *b, KCScalar *x)
{
  KCycleSmoother    *lines = ((const KCyclePlanesData *)s->data)->lines;
  const int          n     = s->solvers->ndirections;
  const KCycleSweeps one   = {
        1, (PetscBool)(back && zero), PETSC_FALSE, back ? PC_RELAX_ORDER_BACKWARD : PC_RELAX_ORDER_FORWARD, 0, NULL};

  PetscFunctionBegin;
  if (lines && back) PetscCall((*kernels->sweeps)(kernels->ctx, lines, &one, b, x));
  for (int i = 0; i < n; i++)
    PetscCall(Relax(s, kernels, back ? n - 1 - i : i, back, (PetscBool)(zero && !i && !(lines && back)), b, x));
  if (lines && !back) PetscCall((*kernels->sweeps)(kernels->ctx, lines, &one, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCyclePlanesSweeps(KCycleSmoother *s, const KCycleSweepKernels *kernels, const KCycleSweeps *sweeps,
                                  const KCScalar *b, KCScalar *x)
{
  PetscFunctionBegin;
  if (sweeps->zeroguess) PetscCall((*kernels->zero)(kernels->ctx, s->st, x));
  for (PetscInt i = 0; i < KCycleSweepsTurns(sweeps); i++)
    PetscCall(Sweep(s, kernels, KCycleSweepsTurnsBack(sweeps, i), (PetscBool)(sweeps->zeroguess && !i), b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Sweeps(KCycleSmoother *s, const KCycleSweeps *sweeps, const KCScalar *b, KCScalar *x)
{
  const KCycleSweepKernels host = {NULL, KCycleSmootherZero, KCycleSmootherSweepsOf, RelaxPart, NULL};

  PetscFunctionBegin;
  PetscCall(KCyclePlanesSweeps(s, &host, sweeps, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpLines(KCycleSmoother *s)
{
  KCyclePlanesData *planes = (KCyclePlanesData *)s->data;

  PetscFunctionBegin;
  if (!s->lines[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleSmootherCreate(s->comm, s->st, s->facts, PC_RELAX_ALTERNATING, &planes->lines));
  planes->lines->omega      = s->omega;
  planes->lines->origin     = s->origin;
  planes->lines->directions = s->lines;
  PetscCall(KCycleSmootherSetUp(planes->lines));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUp(KCycleSmoother *s)
{
  KCyclePlanesData *planes = (KCyclePlanesData *)s->data;
  const PetscInt   *n      = s->st->box->n;

  PetscFunctionBegin;
  PetscCheck(s->st->box->dim == 3, s->comm, PETSC_ERR_ARG_INCOMP,
             "-pc_relax_type %s is for grids of three dimensions, and this one has %" PetscInt_FMT
             ": use alternating lines",
             s->name, s->st->box->dim);
  PetscCheck(s->makesolvers || s->solvers, s->comm, PETSC_ERR_ARG_INCOMP,
             "-pc_relax_type %s needs the solvers of planes that PCRELAX makes", s->name);
  s->weight = s->omega == 0 ? 1 : s->omega;
  if (!s->solvers) PetscCall((*s->makesolvers)(s, s->directions[0] ? s->directions : "xyz", &s->solvers));
  s->trips = 2 * s->solvers->ndirections;
  PetscCall(SetUpLines(s));
  if (planes->lines) s->trips += planes->lines->trips;
  PetscCall(PetscMalloc3(n[0] * n[1] * n[2], &planes->r, n[0] * n[1] * n[2], &planes->e, n[0], &planes->line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View(const KCycleSmoother *s, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  planes across "));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  for (int i = 0; i < s->solvers->ndirections; i++)
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s%c", i ? ", " : "", 'x' + (char)s->solvers->d[i]));
  PetscCall(PetscViewerASCIIPrintf(viewer, " are relaxed by a cycle each, omega %g\n", (double)s->weight));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  if (((const KCyclePlanesData *)s->data)->lines)
    PetscCall(KCycleSmootherView(((const KCyclePlanesData *)s->data)->lines, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(KCycleSmoother *s)
{
  KCyclePlanesData *planes = (KCyclePlanesData *)s->data;

  PetscFunctionBegin;
  PetscCall(PetscFree3(planes->r, planes->e, planes->line));
  PetscCall(KCycleSmootherDestroy(&planes->lines));
  if (s->solvers && --s->solvers->references == 0) PetscCall((*s->solvers->destroy)(&s->solvers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSmootherCreate_Planes(KCycleSmoother *s)
{
  KCyclePlanesData *planes;

  PetscFunctionBegin;
  PetscCall(PetscNew(&planes));
  s->data        = planes;
  s->kind        = KCYCLE_SWEEPS_PLANES;
  s->local       = PETSC_TRUE;
  s->ops.setup   = SetUp;
  s->ops.sweeps  = Sweeps;
  s->ops.view    = View;
  s->ops.destroy = Destroy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The part of all points at which nearly all of x is left when what it has at the points that the coarser grid keeps is
   interpolated and taken off */
static PetscErrorCode FindLeft(MPI_Comm comm, const KCycleTransfer *tr, const KCScalar *x, KCScalar *coarse,
                               KCScalar *rest, PetscReal *part)
{
  const KCycleBox *box = tr->coarse, *fine = tr->fine;
  const PetscReal  nearly = 2 * KCYCLE_PLANES_LEFT;
  KCScalar        *to     = coarse;
  PetscInt64       sum[2] = {0, fine->npoints}, all[2]; /* many more than single precision counts */

  PetscFunctionBegin;
  for (PetscInt k = 0; k < box->n[2]; k++) {
    for (PetscInt j = 0; j < box->n[1]; j++) {
      const PetscInt  at[2] = {tr->factor[1] * j + tr->shift[1], tr->factor[2] * k + tr->shift[2]};
      const KCScalar *from  = x + fine->n[0] * (at[0] + fine->n[1] * at[1]) + tr->shift[0];

      for (PetscInt i = 0; i < box->n[0]; i++) *to++ = from[tr->factor[0] * i];
    }
  }
  PetscCall(KCycleTransferInterpolate(tr, coarse, PETSC_FALSE, rest));
  for (PetscInt p = 0; p < fine->npoints; p++) sum[0] += KCycleSquare(x[p] - rest[p]) > nearly * nearly ? 1 : 0;
  PetscCallMPI(MPI_Allreduce(sum, all, 2, MPIU_INT64, MPI_SUM, comm));
  *part = (PetscReal)all[0] / (PetscReal)all[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Collective. Sweeps on A x = 0 from an x that is 1 and -1 from plane to plane across direction d, and the part of all
  points at which nearly all of it is left and is nothing that the coarser grid can correct. Sweeps end where that is
  little, since it becomes no more
*/
PetscErrorCode KCycleSmootherTry(KCycleSmoother *s, const KCycleTransfer *tr, int d, PetscReal *part)
{
  const KCycleBox   *box    = s->st->box;
  const KCycleSweeps one    = {1, PETSC_FALSE, PETSC_FALSE, PC_RELAX_ORDER_FORWARD, 0, NULL};
  const PetscReal    little = KCYCLE_PLANES_OTHERS * KCYCLE_PLANES;
  KCScalar          *b, *x, *rest, *coarse, *to;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(box->npoints, &b, box->npoints, &x, box->npoints, &rest, tr->coarse->npoints, &coarse));
  PetscCall(PetscArrayzero(b, box->npoints));
  to = x;
  for (PetscInt line = 0; line < box->nlines; line++) {
    const PetscInt at[3] = {0, line % box->n[1], line / box->n[1]}, first = at[d] + box->start[d];

    for (PetscInt i = 0; i < box->n[0]; i++) *to++ = (first + (d == 0 ? i : 0)) & 1 ? -1 : 1;
  }
  *part = 1;
  for (PetscInt i = 0; *part > little && i < KCYCLE_PLANES_SWEEPS; i++) {
    PetscCall(KCycleSmootherSweeps(s, &one, b, x));
    PetscCall(FindLeft(s->comm, tr, x, coarse, rest, part));
  }
  PetscCall(PetscFree4(b, x, rest, coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}
