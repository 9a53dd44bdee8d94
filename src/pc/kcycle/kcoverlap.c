/*
  Levels on a device whose halos are sent while inner points are computed.
*/
#include "kcycleimpl.h"

static PetscErrorCode PCKCycleSetOverlapAbove_KCycle(PC pc, PetscInt points)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  if (kc->overlap_above == points) PetscFunctionReturn(PETSC_SUCCESS);
  kc->overlap_above = points;
  if (kc->ready && !kc->busy) PetscCall(PCKCycleEngineSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleSetOverlapAbove - Sets the size of levels on a device from which on halos are sent while inner points are
  computed.

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- points - of a level that a process has in the mean, at least (default 250000)

  Options Database Key:
. -pc_kcycle_overlap_above <points> - the number

  Level: advanced

  Notes:
  For structured levels on the devices of several processes: products, residuals, Jacobi, Chebyshev and coloured sweeps
  compute the points that read no halo while MPI sends halos, and the others, the rim, behind it, by a kernel of its
  own. The numbers are the same. `-ksp_view` says on which levels.

  On smaller levels that kernel takes longer than what is gained: the default is an estimate.

.seealso: `PCKCYCLE`, `PCKCycleGetOverlapAbove()`, `PCKCycleSetPlace()`, `PCKCycleSetTileAbove()`
@*/
PetscErrorCode PCKCycleSetOverlapAbove(PC pc, PetscInt points)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, points, 2);
  PetscCheck(points >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_kcycle_overlap_above is a number of points, not %" PetscInt_FMT, points);
  PetscTryMethod(pc, "PCKCycleSetOverlapAbove_C", (PC, PetscInt), (pc, points));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCKCycleGetOverlapAbove_KCycle(PC pc, PetscInt *points)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  *points = kc->overlap_above;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetOverlapAbove - Gets the size of levels on a device from which on halos are sent while inner
  points are computed.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. points - of a level that a process has in the mean, at least

  Level: advanced

.seealso: `PCKCYCLE`, `PCKCycleSetOverlapAbove()`
@*/
PetscErrorCode PCKCycleGetOverlapAbove(PC pc, PetscInt *points)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(points, 2);
  PetscUseMethod(pc, "PCKCycleGetOverlapAbove_C", (PC, PetscInt *), (pc, points));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coarsest level on the device where it is so, if there is one */
PetscErrorCode PCKCycleOverlapView(const PC_KCycle *kc, PetscViewer viewer)
{
  PetscInt first = kc->nlevels;

  PetscFunctionBegin;
  for (PetscInt l = kc->nlevels - 1; l > kc->split.level && kc->parts[l].overlaps; l--) first = l;
  if (first < kc->nlevels)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "    halos are sent while inner points are computed on level %" PetscInt_FMT " and finer ones\n",
        first + kc->gathered.below));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called with the options of PCKCYCLE */
PetscErrorCode PCKCycleOverlapSetFromOptions(PC pc, KCycleOptionItems PetscOptionsObject)
{
  PC_KCycle *kc;
  PetscInt   points;
  PetscBool  flg;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  points = kc->overlap_above;
  PetscCall(PetscOptionsInt("-pc_kcycle_overlap_above",
                            "Halos of a device are sent while a process computes so many points",
                            "PCKCycleSetOverlapAbove", points, &points, &flg));
  if (flg) PetscCall(PCKCycleSetOverlapAbove(pc, points));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCKCycleOverlapCompose(PC pc, PetscBool compose)
{
  PetscObject o = (PetscObject)pc;

  PetscFunctionBegin;
  PetscCall(
      PetscObjectComposeFunction(o, "PCKCycleSetOverlapAbove_C", compose ? PCKCycleSetOverlapAbove_KCycle : NULL));
  PetscCall(
      PetscObjectComposeFunction(o, "PCKCycleGetOverlapAbove_C", compose ? PCKCycleGetOverlapAbove_KCycle : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
