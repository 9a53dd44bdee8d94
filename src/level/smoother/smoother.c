/*
  The list of smoothers, and what PCRELAX and PCKCYCLE ask of one.
*/
#include <petsckcycle/private/clusterimpl.h>
#include <petsckcycle/private/vectorsimpl.h>
#include <petsckcycle/private/registerimpl.h>

static PetscFunctionList SmootherList = NULL;

#if defined(KCYCLE_SINGLE)
static const char Precision[] = " in single precision";
#else
static const char Precision[] = "";
#endif

PetscErrorCode KCycleSmootherRegister(const char name[], PetscErrorCode (*create)(KCycleSmoother *))
{
  PetscFunctionBegin;
  PetscCall(PetscFunctionListAdd(&SmootherList, name, create));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes it the smoother of this name */
static PetscErrorCode SetName(KCycleSmoother *s, const char name[])
{
  PetscErrorCode (*create)(KCycleSmoother *);

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(SmootherList, name, &create));
  PetscCheck(create, s->comm, PETSC_ERR_ARG_UNKNOWN_TYPE,
             "There is no smoother called %s%s: see -help for the values of -pc_relax_type", name, Precision);
  PetscCall(PetscStrncpy(s->name, name, sizeof(s->name)));
  PetscCall((*create)(s));
  PetscCheck(
      s->nsteps >= 0 && s->nsteps <= KC_SMOOTHER_STEPS, s->comm, PETSC_ERR_ARG_OUTOFRANGE,
      "The smoother %s, which PCRelaxRegister() has added, has %d steps, and %d are the most: do several of them "
      "in one, or set sweeps instead of plane",
      name, s->nsteps, KC_SMOOTHER_STEPS);
  if (s->ops.plane) { /* such steps go after each other with the residual and the interpolation */
    s->ops.smoothrestrict    = KCyclePassSmoothRestrict;
    s->ops.interpolatesmooth = KCyclePassInterpolateSmooth;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The smoother for coloured sweeps with as few colours as separate the points of the stencil */
static PetscErrorCode CreateAuto(KCycleSmoother *s)
{
  const KCycleStencil *st = s->st;

  PetscFunctionBegin;
  PetscCall(SetName(s, !st->shape.box      ? PC_RELAX_REDBLACK
                       : st->box->dim == 2 ? PC_RELAX_FOURCOLOR
                                           : PC_RELAX_EIGHTCOLOR));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSmootherRegisterAll(void)
{
  PetscFunctionBegin;
  PetscCall(KCycleSmootherRegister(PC_RELAX_AUTO, CreateAuto));
  PetscCall(KCycleSmootherRegister(PC_RELAX_JACOBI, KCycleSmootherCreate_Jacobi));
  PetscCall(KCycleSmootherRegister(PC_RELAX_CHEBYSHEV, KCycleSmootherCreate_Chebyshev));
  PetscCall(KCycleSmootherRegister(PC_RELAX_REDBLACK, KCycleSmootherCreate_RedBlack));
  PetscCall(KCycleSmootherRegister(PC_RELAX_FOURCOLOR, KCycleSmootherCreate_FourColor));
  PetscCall(KCycleSmootherRegister(PC_RELAX_EIGHTCOLOR, KCycleSmootherCreate_EightColor));
  PetscCall(KCycleSmootherRegister(PC_RELAX_ZEBRA_X, KCycleSmootherCreate_ZebraX));
  PetscCall(KCycleSmootherRegister(PC_RELAX_ZEBRA_Y, KCycleSmootherCreate_ZebraY));
  PetscCall(KCycleSmootherRegister(PC_RELAX_ZEBRA_Z, KCycleSmootherCreate_ZebraZ));
  PetscCall(KCycleSmootherRegister(PC_RELAX_ALTERNATING, KCycleSmootherCreate_Alternating));
  PetscCall(KCycleSmootherRegister(PC_RELAX_PLANES, KCycleSmootherCreate_Planes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSmootherFinalize(void)
{
  PetscFunctionBegin;
  PetscCall(PetscFunctionListDestroy(&SmootherList));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSmootherGetList(PetscFunctionList *list)
{
  PetscFunctionBegin;
  *list = SmootherList;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is there one of this name, in these numbers? */
PetscErrorCode KCycleSmootherExists(const char name[], PetscBool *exists)
{
  PetscErrorCode (*create)(KCycleSmoother *);

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(SmootherList, name, &create));
  *exists = (PetscBool)(create != NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Parameters are set afterwards, before KCycleSmootherSetUp() */
PetscErrorCode KCycleSmootherCreate(MPI_Comm comm, const KCycleStencil *st, const KCycleScan *facts, const char name[],
                                    KCycleSmoother **smoother)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(smoother));
  (*smoother)->comm       = comm;
  (*smoother)->st         = st;
  (*smoother)->facts      = facts;
  (*smoother)->trips      = 1;
  (*smoother)->directions = "";
  (*smoother)->lines      = "";
  (*smoother)->divisor    = 1;
  PetscCall(SetName(*smoother, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One for the same operator, divided, and in these numbers; it is ready to work. vectors: with ghost points, or NULL */
static PetscErrorCode CreateLike(const KCycleSmoother *model, const KCycleStencil *st, PetscReal divisor,
                                 const KCycleVectors *vectors, KCycleSmoother **smoother)
{
  const KCycleGhosts *ghosts = vectors ? vectors->ghosts : NULL;

  PetscFunctionBegin;
  PetscCall(KCycleSmootherCreate(model->comm, st, model->facts, model->name, smoother));
  (*smoother)->omega      = model->omega;
  (*smoother)->degree     = model->degree;
  (*smoother)->origin     = ghosts ? ghosts->origin : model->origin;
  (*smoother)->ghostrows  = ghosts ? ghosts->ghostrows : NULL;
  (*smoother)->vectors    = vectors;
  (*smoother)->directions = model->directions;
  (*smoother)->lines      = model->lines;
  (*smoother)->divisor    = divisor;
  (*smoother)->solvers    = model->solvers;
  if (model->solvers) model->solvers->references++;
  PetscCall(KCycleSmootherSetUp(*smoother));
  if (model->clusters) {
    model->clusters->references++;
    PetscCall(KCycleSmootherWrapClusters(model->clusters, smoother));
  }
  PetscCall(KCycleSmootherTile(*smoother, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same of two, which may be one */
PetscErrorCode KCycleSmoothersCreateLike(KCycleSmoother *const model[2], const KCycleStencil *st, PetscReal divisor,
                                         const KCycleVectors *vectors, KCycleSmoother *smoother[2])
{
  PetscFunctionBegin;
  PetscCall(CreateLike(model[0], st, divisor, vectors, &smoother[0]));
  if (model[1] == model[0]) smoother[1] = smoother[0];
  else PetscCall(CreateLike(model[1], st, divisor, vectors, &smoother[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSmootherDestroy(KCycleSmoother **smoother)
{
  PetscFunctionBegin;
  if (!*smoother) PetscFunctionReturn(PETSC_SUCCESS);
  if ((*smoother)->copy) PetscCall((*(*smoother)->destroycopy)(&(*smoother)->copy));
  if ((*smoother)->ops.destroy) PetscCall((*(*smoother)->ops.destroy)(*smoother));
  PetscCall(PetscFree((*smoother)->data));
  PetscCall(PetscFree((*smoother)->sums));
  PetscCall(PetscFree(*smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSmoothersDestroy(KCycleSmoother *smoother[2])
{
  PetscFunctionBegin;
  if (smoother[1] != smoother[0]) PetscCall(KCycleSmootherDestroy(&smoother[1]));
  PetscCall(KCycleSmootherDestroy(&smoother[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSmootherSetUp(KCycleSmoother *s)
{
  PetscFunctionBegin;
  s->planes     = (PetscBool)(s->ops.plane && KCyclePlanesAreWhole(s->st->box));
  s->tile_state = -1;
  if (s->planes) PetscCall(PetscMalloc1(2 * (size_t)s->st->box->nlines, &s->sums));
  if (s->ops.setup) PetscCall((*s->ops.setup)(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Once for each state of the operator, as other lines may have become constant */
PetscErrorCode KCycleSmootherTile(KCycleSmoother *s, PetscObjectState state)
{
  PetscFunctionBegin;
  if (!s->ops.tile || s->st->shape.flat || s->tile_state == state) PetscFunctionReturn(PETSC_SUCCESS);
  s->run        = NULL;
  s->tile_state = state;
  PetscCall((*s->ops.tile)(s));
  PetscCheck(!s->run || (s->most > 2 * s->nsteps && s->most <= KC_PASS_STEPS), s->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The smoother %s has a way through the grid for %" PetscInt_FMT
             " steps, and needs one for %d at least and %d at most",
             s->name, s->most, 2 * s->nsteps + 1, KC_PASS_STEPS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each point is computed once in a trip; those of other colours, which the kernels compute and leave as they are,
   do not count */
PetscErrorCode KCycleSmootherLogFlops(const KCycleSmoother *s, const KCycleSweeps *sweeps)
{
  const KCycleStencil *st = s->st;

  PetscFunctionBegin;
  PetscCall(PetscLogFlops((2.0 * st->shape.ncoeffs + 3) * s->trips * KCycleSweepsTurns(sweeps) * st->box->npoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. What keeps it from a device, or nothing. Solvers of planes make there what they need, if they have not
   yet; a process may have none */
PetscErrorCode KCycleSmootherObstacle(const KCycleSmoother *s, size_t len, char keeps[])
{
  const KCycleSmoother *planes = s->kind == KCYCLE_SWEEPS_CLUSTERS ? s->inner : s;
  const char           *why    = NULL;
  int                   mine, any;

  PetscFunctionBegin;
  keeps[0] = 0;
  if (s->kind == KCYCLE_SWEEPS_OTHER)
    PetscCall(PetscSNPrintf(keeps, len, "the smoother %s has no kernels for devices", s->name));
  if (planes->kind != KCYCLE_SWEEPS_PLANES) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 2 * planes->solvers->ndirections && !why; i++) {
    void *solver = planes->solvers->solver[i / 2][i % 2];

    if (solver) PetscCall((*planes->solvers->attach)(solver, &why));
  }
  mine = why != NULL;
  PetscCallMPI(MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_LOR, s->comm));
  if (any && !why) why = "so they are on other processes";
  if (why) PetscCall(PetscSNPrintf(keeps, len, "its planes are relaxed on the host: %s", why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- sweeps(x) */
PetscErrorCode KCycleSmootherSweeps(KCycleSmoother *s, const KCycleSweeps *sweeps, const KCScalar *b, KCScalar *x)
{
  PetscFunctionBegin;
  if (sweeps->zeroguess && !sweeps->its) PetscCall(PetscArrayzero(x, s->st->box->npoints));
  else if (s->ops.plane) PetscCall(KCyclePassSweeps(s, sweeps, b, x));
  else PetscCall((*s->ops.sweeps)(s, sweeps, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What sweeps that are made of others need of the host */
PetscErrorCode KCycleSmootherZero(void *ctx, const KCycleStencil *st, KCScalar *x)
{
  (void)ctx;
  return PetscArrayzero(x, st->box->npoints);
}

PetscErrorCode KCycleSmootherSweepsOf(void *ctx, KCycleSmoother *s, const KCycleSweeps *sweeps, const KCScalar *b,
                                      KCScalar *x)
{
  (void)ctx;
  return KCycleSmootherSweeps(s, sweeps, b, x);
}

PetscErrorCode KCycleSmootherView(const KCycleSmoother *s, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (s->ops.view) PetscCall((*s->ops.view)(s, viewer));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "  omega %g%s\n", (double)s->weight, s->omega == 0 ? " (chosen)" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}
