/*
  Levels on a device whose sweeps are fused in tiles.
*/
#include <petsckcycle/private/kcycleimpl.h>

static PetscErrorCode PCKCycleSetTileAbove_KCycle(PC pc, PetscInt unknowns)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  if (kc->tile_above == unknowns) PetscFunctionReturn(PETSC_SUCCESS);
  kc->tile_above = unknowns;
  if (kc->ready && !kc->busy) PetscCall(PCKCycleEngineSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleSetTileAbove - Sets the size of levels on a device from which on sweeps are fused in tiles.

  Logically Collective

  Input Parameters:
+ pc - the preconditioner
- unknowns - of a level, at least (default 1100)

  Options Database Key:
. -pc_kcycle_tile_above <unknowns> - the number

  Level: advanced

  Notes:
  For structured levels on a device of one process with red-black sweeps, stencils of 5 points in 2D or 7 in 3D whose
  lines share their coefficients, and no periodic direction. Up to four half sweeps are one kernel there, with residual
  and restriction behind them or interpolation before, and read each value once; on other levels each is a kernel of its
  own. The numbers are the same. `-ksp_view` says which levels are tiled.

  A tile marches through the planes of a grid one after the other, where there are enough planes to give each processor
  of the device a march. On smaller levels, which `-ksp_view` calls tiled in parts, a tile is a part of the grid that
  fits into shared memory, unless a launch for each half sweep is expected to be faster. Levels in tiles do not share a
  kernel with coarser ones (`PCKCycleSetBlockBelow()`), and are no products with a matrix (`PCKCycleSetMatrixBelow()`):
  the default leaves these the levels that have matrices by default. It is an estimate, as the rest is.

.seealso: `PCKCYCLE`, `PCKCycleGetTileAbove()`, `PCKCycleSetPlace()`, `PCKCycleSetGraph()`
@*/
PetscErrorCode PCKCycleSetTileAbove(PC pc, PetscInt unknowns)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, unknowns, 2);
  PetscCheck(unknowns >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_kcycle_tile_above is a number of unknowns, not %" PetscInt_FMT, unknowns);
  PetscTryMethod(pc, "PCKCycleSetTileAbove_C", (PC, PetscInt), (pc, unknowns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCKCycleGetTileAbove_KCycle(PC pc, PetscInt *unknowns)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  *unknowns = kc->tile_above;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetTileAbove - Gets the size of levels on a device from which on sweeps are fused in tiles.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. unknowns - of a level, at least

  Level: advanced

.seealso: `PCKCYCLE`, `PCKCycleSetTileAbove()`
@*/
PetscErrorCode PCKCycleGetTileAbove(PC pc, PetscInt *unknowns)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(unknowns, 2);
  PetscUseMethod(pc, "PCKCycleGetTileAbove_C", (PC, PetscInt *), (pc, unknowns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How level l is tiled, which the engine has on a device, or NULL */
const char *PCKCycleTiled(const PC_KCycle *kc, PetscInt l)
{
  if (!kc->engine || kc->at != KCYCLE_PLACE_DEVICE || l <= kc->split.level) return NULL;
  return (*kc->engine->tiled)(kc->levels, l - kc->split.level);
}

/* Called with the options of PCKCYCLE */
PetscErrorCode PCKCycleTilesSetFromOptions(PC pc, KCycleOptionItems PetscOptionsObject)
{
  PC_KCycle *kc;
  PetscInt   unknowns;
  PetscBool  flg;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  unknowns = kc->tile_above;
  PetscCall(PetscOptionsInt("-pc_kcycle_tile_above", "Sweeps on a device are fused in tiles from so many unknowns on",
                            "PCKCycleSetTileAbove", unknowns, &unknowns, &flg));
  if (flg) PetscCall(PCKCycleSetTileAbove(pc, unknowns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCKCycleTilesCompose(PC pc, PetscBool compose)
{
  PetscObject o = (PetscObject)pc;

  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction(o, "PCKCycleSetTileAbove_C", compose ? PCKCycleSetTileAbove_KCycle : NULL));
  PetscCall(PetscObjectComposeFunction(o, "PCKCycleGetTileAbove_C", compose ? PCKCycleGetTileAbove_KCycle : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
