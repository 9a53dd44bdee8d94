/*
  The list of smoothers, and what PCRELAX and PCKCYCLE ask of one.
*/
#include <petsckcycle/private/smootherimpl.h>

static PetscFunctionList SmootherList = NULL;

/*@C
  PCRelaxRegister - Adds a smoother to those of `PCRELAX`.

  Not Collective

  Input Parameters:
+ name   - its name, for `PCRelaxSetType()` and `-pc_relax_type`
- create - sets the operations of a smoother, see `petsckcycle/private/smootherimpl.h`

  Level: developer

  Notes:
  Called before the option is read: by the program after `PetscInitialize()`, or by a library that `-dll_append` loads.
  A name that there is already is taken over.

  A smoother sets at least `setup` and `sweeps`. If it sets `plane`, one step of a sweep on one plane of the grid,
  instead of `sweeps`, its sweeps run plane by plane behind each other, fused with restriction and interpolation.

.seealso: `PCRELAX`, `PCRelaxSetType()`
@*/
PetscErrorCode PCRelaxRegister(const char name[], PetscErrorCode (*create)(KCycleSmoother *))
{
  PetscFunctionBegin;
  PetscAssertPointer(name, 1);
  PetscCall(KCycleInitializePackage());
  PetscCall(PetscFunctionListAdd(&SmootherList, name, create));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSmootherRegisterAll(void)
{
  PetscFunctionBegin;
  PetscCall(PCRelaxRegister(PC_RELAX_AUTO, KCycleSmootherCreate_Auto));
  PetscCall(PCRelaxRegister(PC_RELAX_JACOBI, KCycleSmootherCreate_Jacobi));
  PetscCall(PCRelaxRegister(PC_RELAX_CHEBYSHEV, KCycleSmootherCreate_Chebyshev));
  PetscCall(PCRelaxRegister(PC_RELAX_REDBLACK, KCycleSmootherCreate_RedBlack));
  PetscCall(PCRelaxRegister(PC_RELAX_FOURCOLOR, KCycleSmootherCreate_FourColor));
  PetscCall(PCRelaxRegister(PC_RELAX_EIGHTCOLOR, KCycleSmootherCreate_EightColor));
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

/* The smoother for coloured sweeps with as few colours as separate the points of the stencil */
PetscErrorCode KCycleSmootherCreate_Auto(KCycleSmoother *s)
{
  const KCycleStencil *st = KCycleStencilOf(s->A);

  PetscFunctionBegin;
  PetscCall(KCycleSmootherSetName(s, !st->shape.box      ? PC_RELAX_REDBLACK
                                     : st->box->dim == 2 ? PC_RELAX_FOURCOLOR
                                                         : PC_RELAX_EIGHTCOLOR));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes it the smoother of this name */
PetscErrorCode KCycleSmootherSetName(KCycleSmoother *s, const char name[])
{
  PetscErrorCode (*create)(KCycleSmoother *);

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(SmootherList, name, &create));
  PetscCheck(create, PetscObjectComm((PetscObject)s->A), PETSC_ERR_ARG_UNKNOWN_TYPE,
             "There is no smoother called %s: see -help for the values of -pc_relax_type", name);
  PetscCall(PetscStrncpy(s->name, name, sizeof(s->name)));
  PetscCall((*create)(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For a matrix of type stencil; parameters are set afterwards, before KCycleSmootherSetUp() */
PetscErrorCode KCycleSmootherCreate(Mat A, const char name[], KCycleSmoother **smoother)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(smoother));
  (*smoother)->A = A; /* who makes a smoother holds the matrix */
  PetscCall(KCycleSmootherSetName(*smoother, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSmootherDestroy(KCycleSmoother **smoother)
{
  PetscFunctionBegin;
  if (!*smoother) PetscFunctionReturn(PETSC_SUCCESS);
  if ((*smoother)->ops.destroy) PetscCall((*(*smoother)->ops.destroy)(*smoother));
  PetscCall(PetscFree((*smoother)->data));
  PetscCall(PetscFree(*smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSmootherSetUp(KCycleSmoother *s)
{
  PetscFunctionBegin;
  s->planes     = (PetscBool)(s->ops.plane && KCyclePlanesAreWhole(KCycleStencilOf(s->A)->box));
  s->tile_state = -1;
  if (s->ops.setup) PetscCall((*s->ops.setup)(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Once for each state of the matrix, as other lines may have become constant */
PetscErrorCode KCycleSmootherTile(KCycleSmoother *s)
{
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)s->A, &state));
  if (!s->ops.tile || s->tile_state == state) PetscFunctionReturn(PETSC_SUCCESS);
  s->run = NULL;
  PetscCall((*s->ops.tile)(s));
  s->tile_state = state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each point is computed once in a sweep; those of other colours, which the kernels compute and leave as they are,
   do not count */
PetscErrorCode KCycleSmootherLogFlops(const KCycleSmoother *s, const KCycleSweeps *sweeps)
{
  const KCycleStencil *st = KCycleStencilOf(s->A);

  PetscFunctionBegin;
  PetscCall(PetscLogFlops((2.0 * st->shape.ncoeffs + 3) * sweeps->its * (sweeps->order == PC_RELAX_SYMMETRIC ? 2 : 1) *
                          st->box->npoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- sweeps(x) */
PetscErrorCode KCycleSmootherSweeps(KCycleSmoother *s, const KCycleSweeps *sweeps, const PetscScalar *b, PetscScalar *x)
{
  PetscFunctionBegin;
  if (sweeps->zeroguess && !sweeps->its) PetscCall(PetscArrayzero(x, KCycleStencilOf(s->A)->box->npoints));
  else if (s->ops.plane) PetscCall(KCyclePassSweeps(s, sweeps, b, x));
  else PetscCall((*s->ops.sweeps)(s, sweeps, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSmootherView(const KCycleSmoother *s, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (s->ops.view) PetscCall((*s->ops.view)(s, viewer));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "  omega %g%s\n", (double)s->weight, s->omega == 0 ? " (chosen)" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}
