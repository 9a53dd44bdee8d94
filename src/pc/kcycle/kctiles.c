/*
  Levels on a device whose sweeps are fused in tiles.
*/
#include "kcycleimpl.h"

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
- unknowns - of a level, at least, or `PC_KCYCLE_TILE_ABOVE_NEVER` (the default): no level has tiles

  Options Database Key:
. -pc_kcycle_tile_above (<unknowns>|never) - the number

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
  1100 unknowns leave these the levels that have matrices by default.

  By default there are no tiles: they have not been measured, and by count tiles that march execute six to ten times as
  many instructions a point as fit into the time that their bytes take.

.seealso: `PCKCYCLE`, `PCKCycleGetTileAbove()`, `PCKCycleSetPlace()`, `PCKCycleSetGraph()`
@*/
PetscErrorCode PCKCycleSetTileAbove(PC pc, PetscInt unknowns)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, unknowns, 2);
  PetscCheck(unknowns >= 0 || unknowns == PC_KCYCLE_TILE_ABOVE_NEVER, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "-pc_kcycle_tile_above is a number of unknowns, or never, not %" PetscInt_FMT,
             unknowns);
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
. unknowns - of a level, at least, or `PC_KCYCLE_TILE_ABOVE_NEVER`

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

/* How sweeps of level l are fused with residuals and transfers, or NULL. On a device that takes tiles */
const char *PCKCycleFused(const PC_KCycle *kc, PetscInt l)
{
  if (kc->engine && kc->at == KCYCLE_MEMORY_DEVICE && l > kc->split.level)
    return (*kc->engine->tiled)(kc->levels, l - kc->split.level);
  return kc->level[l].fused ? "fused" : NULL;
}

/* A number that is not negative, or "never" */
static PetscErrorCode Parse(PC pc, const char text[], PetscInt *unknowns)
{
  char     *end;
  long long number;
  PetscBool is;

  PetscFunctionBegin;
  *unknowns = PC_KCYCLE_TILE_ABOVE_NEVER;
  PetscCall(PetscStrcasecmp(text, "never", &is));
  if (is) PetscFunctionReturn(PETSC_SUCCESS);
  number = strtoll(text, &end, 10);
  PetscCheck(end != text && !*end && number >= 0 && number <= PETSC_INT_MAX, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "-pc_kcycle_tile_above is a number of unknowns, or never, not \"%s\"", text);
  *unknowns = (PetscInt)number;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called with the options of PCKCYCLE */
PetscErrorCode PCKCycleTilesSetFromOptions(PC pc, KCycleOptionItems PetscOptionsObject)
{
  PC_KCycle *kc;
  PetscInt   unknowns;
  PetscBool  flg;
  char       text[64] = "never";

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  if (kc->tile_above != PC_KCYCLE_TILE_ABOVE_NEVER)
    PetscCall(PetscSNPrintf(text, sizeof(text), "%" PetscInt_FMT, kc->tile_above));
  PetscCall(PetscOptionsString("-pc_kcycle_tile_above",
                               "From so many unknowns on sweeps on a device are fused, or never",
                               "PCKCycleSetTileAbove", text, text, sizeof(text), &flg));
  if (!flg) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Parse(pc, text, &unknowns));
  PetscCall(PCKCycleSetTileAbove(pc, unknowns));
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
