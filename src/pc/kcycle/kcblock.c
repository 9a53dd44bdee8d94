/*
  Small levels on a device, of which one kernel does what a cycle does below them.
*/
#include "kcycleimpl.h"

/* Why each level has kernels of its own, or nothing */
static PetscErrorCode FindObstacle(PC pc, const char *why[])
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  PetscCall(PCKCycleStepsObstacle(pc, why));
  if (!kc->block_below) *why = "-pc_kcycle_block_below is 0";
  else if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  else if (!kc->inverted) *why = "the host has to do with the coarsest problem";
  else if (kc->nlevels < 3) *why = "there is none between the finest and the coarsest one";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* When levels on a device have the inverse of the coarsest operator, or it is known that they have not */
PetscErrorCode PCKCycleBlockSetUp(PC pc)
{
  PC_KCycle  *kc;
  const char *why;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  if (kc->at != KCYCLE_MEMORY_DEVICE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FindObstacle(pc, &why));
  PetscCall((*kc->engine->share)(kc->levels, why ? 0 : kc->block_below, kc->matrix_below));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of levels on a device */
PetscErrorCode PCKCycleBlockView(PC pc, PetscViewer viewer)
{
  PC_KCycle    *kc;
  const char   *why;
  KCycleSharing sharing;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  PetscCall(FindObstacle(pc, &why));
  (*kc->engine->sharing)(kc->levels, &sharing);
  if (why) PetscCall(PetscViewerASCIIPrintf(viewer, "    each level has kernels of its own: %s\n", why));
  else if (!sharing.level)
    PetscCall(PetscViewerASCIIPrintf(
        viewer,
        "    each level has kernels of its own: level 1 does not relax points, is tiled, or has not "
        "fewer than %" PetscInt_FMT " unknowns\n",
        kc->block_below));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "    one kernel does what cycles do on level %" PetscInt_FMT
                                     " and coarser ones: they have fewer than %" PetscInt_FMT " unknowns\n",
                                     sharing.level, sharing.products ? kc->matrix_below : kc->block_below));
  if (sharing.refused)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "    but for %" PetscInt_FMT " of these visits, which are too long for it\n", sharing.refused));
  if (sharing.products)
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "    from the second cycle on it is a product with a matrix of %" PetscInt_FMT
                                     "^2 numbers: %" PetscInt_FMT " of these\n",
                                     sharing.unknowns, sharing.matrices));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCKCycleSetBlockBelow_KCycle(PC pc, PetscInt unknowns)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  if (kc->block_below == unknowns) PetscFunctionReturn(PETSC_SUCCESS);
  kc->block_below = unknowns;
  if (kc->ready && !kc->busy && kc->engine) PetscCall(PCKCycleBlockSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleSetBlockBelow - Sets which levels on a device share one kernel.

  Logically Collective

  Input Parameters:
+ pc - the preconditioner
- unknowns - levels with fewer unknowns than these do their part of a cycle in one kernel; 0: none

  Options Database Key:
. -pc_kcycle_block_below <5000> - the number

  Level: advanced

  Notes:
  On small levels the launch of a kernel takes longer than its work, and cycles with kappa > 1 come there often. All
  that a visit of such a level asks for, of coarser ones and of the coarsest problem is one kernel then. It has one
  block, whose threads wait for each other between steps, on one multiprocessor of the device: large levels are faster
  with kernels that fill it. The arithmetic is the same.

  That is for one process, whose coarsest problem is a product with an inverse, and for smoothers that relax points one
  by one: Jacobi, Chebyshev, coloured Gauss-Seidel. The finest level is not among them. While levels are timed, and with
  `-pc_mg_log`, each step is launched by itself. `-ksp_view` says which levels share a kernel, or why none do.

.seealso: `PCKCYCLE`, `PCKCycleGetBlockBelow()`, `PCKCycleSetMatrixBelow()`, `PCKCycleSetGraph()`,
  `PCKCycleSetHostBelow()`, `PCKCycleSetPlace()`
@*/
PetscErrorCode PCKCycleSetBlockBelow(PC pc, PetscInt unknowns)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, unknowns, 2);
  PetscCheck(unknowns >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_kcycle_block_below is a number of unknowns, not %" PetscInt_FMT, unknowns);
  PetscTryMethod(pc, "PCKCycleSetBlockBelow_C", (PC, PetscInt), (pc, unknowns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCKCycleGetBlockBelow_KCycle(PC pc, PetscInt *unknowns)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  *unknowns = kc->block_below;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetBlockBelow - Gets the number of unknowns below which levels on a device share one kernel.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. unknowns - the number

  Level: advanced

.seealso: `PCKCYCLE`, `PCKCycleSetBlockBelow()`
@*/
PetscErrorCode PCKCycleGetBlockBelow(PC pc, PetscInt *unknowns)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(unknowns, 2);
  PetscUseMethod(pc, "PCKCycleGetBlockBelow_C", (PC, PetscInt *), (pc, unknowns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called with the options of PCKCYCLE */
PetscErrorCode PCKCycleBlockSetFromOptions(PC pc, KCycleOptionItems PetscOptionsObject)
{
  PC_KCycle *kc;
  PetscInt   unknowns;
  PetscBool  flg;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  unknowns = kc->block_below;
  PetscCall(PetscOptionsInt("-pc_kcycle_block_below", "Levels on a device with fewer unknowns share one kernel",
                            "PCKCycleSetBlockBelow", unknowns, &unknowns, &flg));
  if (flg) PetscCall(PCKCycleSetBlockBelow(pc, unknowns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCKCycleBlockCompose(PC pc, PetscBool compose)
{
  PetscObject o = (PetscObject)pc;

  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction(o, "PCKCycleSetBlockBelow_C", compose ? PCKCycleSetBlockBelow_KCycle : NULL));
  PetscCall(PetscObjectComposeFunction(o, "PCKCycleGetBlockBelow_C", compose ? PCKCycleGetBlockBelow_KCycle : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
