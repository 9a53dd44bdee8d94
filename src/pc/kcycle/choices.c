/*
  The choices that a user has about structured levels of PCKCYCLE.
*/
#include "kcycleimpl.h"

const char *const PCKCycleAnisotropyTypes[] = {"auto", "off", "PCKCycleAnisotropyType", "PC_KCYCLE_ANISOTROPY_", NULL};
/*@
  PCKCycleSetStructured - Sets whether levels are structured.

  Logically Collective

  Input Parameters:
+ pc - the preconditioner
- structured - `PC_KCYCLE_STRUCTURED_AUTO`, `PC_KCYCLE_STRUCTURED_ON` or `PC_KCYCLE_STRUCTURED_OFF`

  Options Database Key:
. -pc_kcycle_structured (auto|on|off) - whether levels are structured

  Level: intermediate

  Notes:
  Structured levels need a `DMDA` with one unknown at a point and stencil width 1, and an operator of type `MATSTENCIL`
  or one of type `MATAIJ` whose entries fit the stencil, which is then converted. Their grids may have any size. Coarse
  operators are Galerkin products; with `-pc_mg_galerkin none` they are assembled by the function of
  `KSPSetComputeOperators()`, on grids of 2^k+1 points, 2^k cells and so on. Why levels are not structured is shown by
  `-ksp_view`.

.seealso: `PCKCYCLE`, `PCKCycleGetStructured()`, `MATSTENCIL`, `PCRELAX`
@*/
PetscErrorCode    PCKCycleSetStructured(PC pc, PCKCycleStructuredType structured)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, structured, 2);
  PetscCall(KCycleCheckChoice(pc, PCKCycleStructuredTypes, (int)structured));
  KC_KCYCLE_SET(pc, structured, structured);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetStructured - Gets whether levels are structured.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. structured - `PC_KCYCLE_STRUCTURED_AUTO`, `PC_KCYCLE_STRUCTURED_ON` or `PC_KCYCLE_STRUCTURED_OFF`

  Level: intermediate

.seealso: `PCKCYCLE`, `PCKCycleSetStructured()`
@*/
PetscErrorCode PCKCycleGetStructured(PC pc, PCKCycleStructuredType *structured)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(structured, 2);
  KC_KCYCLE_GET(pc, structured, structured);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleSetGrid - Sets where the points of the grid lie.

  Logically Collective

  Input Parameters:
+ pc - the preconditioner
- grid - one of the values of `PCKCycleGridType`

  Options Database Key:
. -pc_kcycle_grid (auto|vertex|interior|cell) - where the points of the grid lie

  Level: intermediate

  Note:
  Found by itself from the rows at the boundaries of the grid; this overrides it.

.seealso: `PCKCYCLE`, `PCKCycleGetGrid()`, `PCKCycleSetStructured()`
@*/
PetscErrorCode PCKCycleSetGrid(PC pc, PCKCycleGridType grid)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, grid, 2);
  PetscCall(KCycleCheckChoice(pc, PCKCycleGridTypes, (int)grid));
  KC_KCYCLE_SET(pc, grid, grid);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetGrid - Gets where the points of the grid lie.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. grid - one of the values of `PCKCycleGridType`

  Level: intermediate

.seealso: `PCKCYCLE`, `PCKCycleSetGrid()`
@*/
PetscErrorCode PCKCycleGetGrid(PC pc, PCKCycleGridType *grid)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(grid, 2);
  KC_KCYCLE_GET(pc, grid, grid);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleSetInterpolation - Sets the interpolation between structured levels.

  Logically Collective

  Input Parameters:
+ pc - the preconditioner
- interpolation - one of the values of `PCKCycleInterpolationType`

  Options Database Key:
. -pc_kcycle_interpolation (auto|linear|simplex|constant|operator) - the interpolation between structured levels

  Level: intermediate

  Note:
  Simplex is the pair of Feng and others, equations (4.5) and (4.7), with the restriction as the transpose of the
  interpolation.

.seealso: `PCKCYCLE`, `PCKCycleGetInterpolation()`, `PCKCycleSetStructured()`
@*/
PetscErrorCode PCKCycleSetInterpolation(PC pc, PCKCycleInterpolationType interpolation)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, interpolation, 2);
  PetscCall(KCycleCheckChoice(pc, PCKCycleInterpolationTypes, (int)interpolation));
  KC_KCYCLE_SET(pc, interpolation, interpolation);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetInterpolation - Gets the interpolation between structured levels.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. interpolation - one of the values of `PCKCycleInterpolationType`

  Level: intermediate

.seealso: `PCKCYCLE`, `PCKCycleSetInterpolation()`
@*/
PetscErrorCode PCKCycleGetInterpolation(PC pc, PCKCycleInterpolationType *interpolation)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(interpolation, 2);
  KC_KCYCLE_GET(pc, interpolation, interpolation);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleSetSemicoarsen - Sets the directions in which structured levels are coarsened.

  Logically Collective

  Input Parameters:
+ pc         - the preconditioner
- directions - "x", "y", "z", "xy", "xz", "yz" or "xyz", or "auto"

  Options Database Key:
. -pc_kcycle_semicoarsen (auto|x|y|z|xy|xz|yz|xyz) - directions to coarsen

  Level: intermediate

  Notes:
  With "auto" each level coarsens the directions whose couplings are, in the mean, at least 0.6 of the strongest. When
  values change levels keep their grids until couplings are beyond that by 15 %.

  Where there are isolated points inside the grid (inactive cells), "auto" also coarsens a direction that one other is
  stronger than, and levels relax lines along that, unless `PCKCycleSetAnisotropy()`, `-mg_levels_pc_type` or
  `-mg_levels_pc_relax_type` says otherwise: thin pieces between inactive cells are seen by no grid that is coarser in
  the strong direction alone.

.seealso: `PCKCYCLE`, `PCKCycleGetSemicoarsen()`, `PCKCycleSetStructured()`
@*/
PetscErrorCode PCKCycleSetSemicoarsen(PC pc, const char directions[])
{
  PC_KCycle *kc;
  size_t     len;
  PetscBool  automatic, same;
  char       sorted[8] = "auto", *next = sorted;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(directions, 2);
  kc = KCycleOf(pc);
  if (!kc) PetscFunctionReturn(PETSC_SUCCESS);
  /* Each direction once, whatever their order */
  PetscCall(PetscStrlen(directions, &len));
  PetscCall(PetscStrcmp(directions, "auto", &automatic));
  for (char d = 'x'; !automatic && d <= 'z'; d++) {
    if (strchr(directions, d)) *next++ = d;
    *next = '\0';
  }
  PetscCheck(automatic || (len && sorted + len == next), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_kcycle_semicoarsen names the directions to coarsen, x, y, z, xy, xz, yz or xyz, or is auto; it "
             "cannot be \"%s\"",
             directions);
  PetscCall(PetscStrcmp(sorted, kc->semicoarsen, &same));
  PetscCall(KCycleCheckSettable(pc, same, PETSC_FUNCTION_NAME));
  PetscCall(PetscStrncpy(kc->semicoarsen, sorted, sizeof(kc->semicoarsen)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCKCycleGetSemicoarsen - Gets the directions in which structured levels are coarsened.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. directions - as given to `PCKCycleSetSemicoarsen()`; belongs to the preconditioner

  Level: intermediate

.seealso: `PCKCYCLE`, `PCKCycleSetSemicoarsen()`
@*/
PetscErrorCode PCKCycleGetSemicoarsen(PC pc, const char *directions[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(directions, 2);
  KC_KCYCLE_GET(pc, semicoarsen, directions);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleSetAnisotropy - Sets whether structured levels relax lines or planes where points do not do.

  Logically Collective

  Input Parameters:
+ pc         - the preconditioner
- anisotropy - `PC_KCYCLE_ANISOTROPY_AUTO` or `PC_KCYCLE_ANISOTROPY_OFF`

  Options Database Key:
. -pc_kcycle_anisotropy (auto|off) - whether structured levels relax lines or planes where points do not do

  Level: intermediate

  Notes:
  Directions whose couplings are weak in the mean are not coarsened, see `PCKCycleSetSemicoarsen()`. Where the strong
  direction changes from place to place, as on stretched grids, that is no answer: with
  `PC_KCYCLE_ANISOTROPY_AUTO` a level relaxes lines, once before and once after the coarser levels, along each
  direction that a coarsened one is weaker than by a factor of 10 at 5 % of the points at least. In the view such a
  level has "lines along" these directions. Lines that inactive cells break are relaxed as often as points.

  In 3D two directions may be stronger than the third at some points, and another two elsewhere. Where a direction is
  weaker than both others at 5 % of the points, lines are tried on an error that oscillates along it. If three sweeps
  leave nearly all of that at 0.5 % of the points (2 % where coefficients jump), and it is nothing that the coarser
  grid can correct, the level relaxes planes ("planes across" in the view): they take as long as five iterations by
  lines, or more. If it does so in one direction, it does in others from a quarter of these parts on.

  Smoothers whose type was chosen (`-mg_levels_pc_relax_type`) stay as they are.

.seealso: `PCKCYCLE`, `PCKCycleGetAnisotropy()`, `PCKCycleSetSemicoarsen()`, `PCRelaxSetType()`
@*/
PetscErrorCode PCKCycleSetAnisotropy(PC pc, PCKCycleAnisotropyType anisotropy)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, anisotropy, 2);
  PetscCall(KCycleCheckChoice(pc, PCKCycleAnisotropyTypes, (int)anisotropy));
  KC_KCYCLE_SET(pc, anisotropy, anisotropy);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetAnisotropy - Gets whether structured levels relax lines where points do not do.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. anisotropy - `PC_KCYCLE_ANISOTROPY_AUTO` or `PC_KCYCLE_ANISOTROPY_OFF`

  Level: intermediate

.seealso: `PCKCYCLE`, `PCKCycleSetAnisotropy()`
@*/
PetscErrorCode PCKCycleGetAnisotropy(PC pc, PCKCycleAnisotropyType *anisotropy)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(anisotropy, 2);
  KC_KCYCLE_GET(pc, anisotropy, anisotropy);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleSetProcEqLim - Sets with how few points a process structured levels are agglomerated.

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- limit - points of a level that processes have in the mean, at least 0

  Options Database Key:
. -pc_kcycle_process_eq_limit <limit> - points a process, below which levels are agglomerated

  Level: advanced

  Notes:
  A level below the finest one on which processes have fewer points in the mean is gathered on fewer of them by
  `PCTELESCOPE`, in the end on one, and so is any level that cannot be coarsened because a process would keep no point
  of the next one; with a limit of 0 only the latter. The cycle, its numbers and the options of levels are those of one
  process: levels are numbered from the coarsest of all, and `-mg_coarse_` are the options of the solver of that one.
  `PCMGGetLevels()` and `PCMGGetSmoother()` know the levels on all processes.

  On how many processes, and why, is shown by `-ksp_view`; `-mg_gather_pc_telescope_reduction_factor` says how many
  times fewer they are. Levels stay on all processes in one dimension, where the program has chosen their number
  (`PCMGSetLevels()`) or solvers of levels (`PCMGGetSmoother()`), where it assembles coarse operators, and where
  `-pc_mg_levels` asks for a number of levels that the `DM` has itself, but for operators of type `MATSTENCIL`.

.seealso: `PCKCYCLE`, `PCKCycleGetProcEqLim()`, `PCTELESCOPE`, `PCGAMGSetProcEqLim()`
@*/
PetscErrorCode PCKCycleSetProcEqLim(PC pc, PetscInt limit)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, limit, 2);
  PetscCheck(limit >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_kcycle_process_eq_limit must be a number of points a process, or 0, not %" PetscInt_FMT, limit);
  KC_KCYCLE_SET(pc, proc_eq_limit, limit);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetProcEqLim - Gets with how few points a process structured levels are agglomerated.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. limit - points of a level that processes have in the mean

  Level: advanced

.seealso: `PCKCYCLE`, `PCKCycleSetProcEqLim()`
@*/
PetscErrorCode PCKCycleGetProcEqLim(PC pc, PetscInt *limit)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(limit, 2);
  KC_KCYCLE_GET(pc, proc_eq_limit, limit);
  PetscFunctionReturn(PETSC_SUCCESS);
}
