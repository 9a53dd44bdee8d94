/*
  Where levels come from, and how many there are.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/coarsenimpl.h>

const char *const PCKCycleHierarchyTypes[] = {
    "auto", "dm", "user", "gamg", "grid", "single", "unknowns", "PCKCycleHierarchyType", "PC_KCYCLE_HIERARCHY_", NULL};

static PetscErrorCode UserGaveTransfers(PC pc, PetscBool *given)
{
  PC_MG *mg = (PC_MG *)pc->data;

  PetscFunctionBegin;
  *given = PETSC_FALSE;
  for (PetscInt l = 1; mg->levels && l < mg->nlevels; l++) {
    if (mg->levels[l]->interpolate || mg->levels[l]->restrct) *given = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The grid is that of the PC, or else the one that the operator was made on, or that it shows; the latter two are
   looked up again for another operator */
PetscErrorCode PCKCycleFindGrid(PC pc)
{
  PC_KCycle    *kc = KCycleOf(pc);
  DM            dm = NULL;
  PetscObjectId id = 0;
  PetscBool     given;

  PetscFunctionBegin;
  PetscCall(UserGaveTransfers(pc, &given));
  if (kc->ready) given = (PetscBool)(kc->levels_from == PC_KCYCLE_HIERARCHY_USER);
  if (pc->dm) PetscCall(PetscObjectGetId((PetscObject)pc->dm, &id));
  if (id != kc->grid_id) kc->grid_of_operator = PETSC_FALSE; /* the program has given another */
  if (given || kc->hierarchy == PC_KCYCLE_HIERARCHY_USER || kc->hierarchy == PC_KCYCLE_HIERARCHY_GAMG ||
      (pc->dm && !kc->grid_of_operator)) {
    PetscCall(PCKCycleFoundCheckSizes(pc, given || kc->hierarchy == PC_KCYCLE_HIERARCHY_GAMG ? NULL : pc->dm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!pc->pmat) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetDM(pc->pmat, &dm));
  if (dm) PetscCall(PCKCycleFoundCheckSizes(pc, dm));
  else PetscCall(PCKCycleFoundGetDM(pc, &dm));
  if (dm == pc->dm) PetscFunctionReturn(PETSC_SUCCESS);
  if (kc->ready) { /* with levels of PCGAMG what was found goes, too */
    PetscCall(PCKCycleLevelsDrop(pc));
    PetscCall(PCKCycleFindGrid(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCSetDM(pc, dm));
  kc->grid_of_operator = PETSC_TRUE;
  kc->grid_id          = 0;
  if (dm) PetscCall(PetscObjectGetId((PetscObject)dm, &kc->grid_id));
  PetscCall(PetscInfo(pc, "Using the DM of the operator\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* AUTO: interpolations that the user gave, else a grid. Leaves AUTO where neither is known */
PetscErrorCode PCKCycleResolveHierarchy(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscBool  given;

  PetscFunctionBegin;
  if (kc->ready) PetscFunctionReturn(PETSC_SUCCESS);
  kc->levels_from = kc->hierarchy;
  if (kc->hierarchy != PC_KCYCLE_HIERARCHY_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  if (kc->gamg && !pc->dm) kc->levels_from = PC_KCYCLE_HIERARCHY_GAMG; /* as at the set-up before */
  if (kc->gamg && !pc->dm) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(UserGaveTransfers(pc, &given));
  if (given) kc->levels_from = PC_KCYCLE_HIERARCHY_USER;
  else if (pc->dm) kc->levels_from = PC_KCYCLE_HIERARCHY_DM;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RequireHierarchy(PC pc)
{
  PC_MG     *mg   = (PC_MG *)pc->data;
  PC_KCycle *kc   = KCycleOf(pc);
  MPI_Comm   comm = PetscObjectComm((PetscObject)pc);
  PetscBool  given;

  PetscFunctionBegin;
  PetscCheck(
      kc->levels_from != PC_KCYCLE_HIERARCHY_DM || pc->dm, comm, PETSC_ERR_ARG_WRONGSTATE,
      "-pc_kcycle_hierarchy dm needs a grid: give it with KSPSetDM(), or make the operator with DMCreateMatrix()");
  PetscCall(UserGaveTransfers(pc, &given));
  PetscCheck(kc->levels_from != PC_KCYCLE_HIERARCHY_USER || given, comm, PETSC_ERR_ARG_WRONGSTATE,
             "-pc_kcycle_hierarchy user needs interpolations: call PCMGSetLevels(), then PCMGSetInterpolation() for "
             "each level but the coarsest, before the solver is set up");
  for (PetscInt l = 1; kc->levels_from == PC_KCYCLE_HIERARCHY_USER && !pc->dm && l < mg->nlevels; l++) {
    PetscCheck(mg->levels[l]->interpolate || mg->levels[l]->restrct, comm, PETSC_ERR_ARG_WRONGSTATE,
               "Level %" PetscInt_FMT " of %" PetscInt_FMT
               " has no interpolation: call PCMGSetInterpolation() or PCMGSetRestriction() for each level but the "
               "coarsest (level 0)",
               l, mg->nlevels);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckLevelsFit(PC pc, PetscInt wanted, PetscInt most)
{
  char grid[128], why[256];

  PetscFunctionBegin;
  PetscCall(KCycleDMDescribe(pc->dm, sizeof(grid), grid));
  PetscCheck(wanted <= most, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " levels are more than the %s has: it can be coarsened %" PetscInt_FMT
             " times on these processes, which makes at most %" PetscInt_FMT
             " levels. Leave out -pc_mg_levels to have the number chosen",
             wanted, grid, most - 1, most);
  if (wanted > 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleDMExplain(pc->dm, sizeof(why), why));
  SETERRQ(PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ, "PCKCYCLE cannot coarsen the %s even once: %s", grid,
          why);
}

/*
  Levels that neither the options nor PCMGSetLevels() chose. Called with the options, so that the levels hear them, if
  the grid is known by then; and in any case at set-up, which alone may refuse: until then the program can still give
  another grid, or interpolations.
*/
PetscErrorCode PCKCycleChooseLevels(PC pc, PetscBool final)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscInt   most, chosen, asked;

  PetscFunctionBegin;
  if (!final) {
    PetscCall(PCKCycleFindGrid(pc));
    PetscCall(PCKCycleResolveHierarchy(pc));
  }
  if (kc->levels_from != PC_KCYCLE_HIERARCHY_DM || !pc->dm) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCKCycleLevelsAsked(pc, &asked));
  if (asked == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleDMCountLevels(pc->dm, &most, &chosen));
  if (final) PetscCall(CheckLevelsFit(pc, asked ? asked : chosen, most));
  else if (chosen == 1) PetscFunctionReturn(PETSC_SUCCESS);
  if (!asked && !final && KCycleLevelsAreTheirs(kc)) PetscFunctionReturn(PETSC_SUCCESS);
  if (!asked) PetscCall(PCKCycleUseLevels(pc, chosen, chosen));
  if (!asked) kc->nlevels_chosen = chosen;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why PCGAMG cannot make levels from the operator, or nothing */
static PetscErrorCode WhyNotGAMG(PC pc, const char **why)
{
  PetscBool fits, zero = PETSC_FALSE;

  PetscFunctionBegin;
  *why = NULL;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)pc->pmat, &fits, MATSEQAIJ, MATMPIAIJ, ""));
  if (fits) PetscCall(KCycleMatHasZeroDiagonal(pc->pmat, &zero));
  if (!fits) *why = "; PCGAMG does not take operators of its type";
  else if (zero) *why = "; the smoothers of PCGAMG divide by the diagonal of the operator, which has zeros";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* No grid, or one that cannot be coarsened: PCGAMG's levels, or the coarse solver alone where nothing else can be
   had, or was asked for */
static PetscErrorCode ChooseWithoutGrid(PC pc, const char why[])
{
  PC_KCycle  *kc = KCycleOf(pc);
  PetscInt    asked;
  const char *nogamg, *more = "";

  PetscFunctionBegin;
  PetscCall(PCKCycleCopyBlocks(pc));
  PetscCall(PCKCycleLevelsAsked(pc, &asked));
  PetscCall(WhyNotGAMG(pc, &nogamg));
  kc->levels_from = !nogamg && asked != 1 ? PC_KCYCLE_HIERARCHY_GAMG : PC_KCYCLE_HIERARCHY_SINGLE;
  if (nogamg) more = nogamg;
  else if (KCYCLE_GAMG_CHOOSES_LEVELS && asked > 1) more = "; PCGAMG chooses their number, not -pc_mg_levels";
  PetscCall(PetscSNPrintf(kc->instead, sizeof(kc->instead), "%s%s", why, more));
  PetscCall(
      PetscInfo(pc, "Levels are those of hierarchy %s: %s\n", PCKCycleHierarchyTypes[kc->levels_from], kc->instead));
  if (kc->levels_from != PC_KCYCLE_HIERARCHY_GAMG) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCKCycleInherit(pc, PETSC_TRUE));
  if (kc->options_used) PetscCall(PCKCycleReadInherited(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels on coarser grids; those of the DM itself if they were asked for, or where it has them and is no grid */
static PetscErrorCode ChooseOnDM(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscInt   most, chosen, asked;
  PetscBool  isda;
  char       grid[128], explained[256], why[512];

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc->dm, DMDA, &isda));
  PetscCall(KCycleDMCountLevels(pc->dm, &most, &chosen));
  PetscCall(PCKCycleLevelsAsked(pc, &asked));
  if (isda && kc->structured == PC_KCYCLE_STRUCTURED_OFF && chosen > 1 && asked <= most)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCKCycleGridsChoose(pc));
  if (kc->use_grids) kc->levels_from = kc->unknowns.use ? PC_KCYCLE_HIERARCHY_UNKNOWNS : PC_KCYCLE_HIERARCHY_GRID;
  if (kc->use_grids || (asked != 1 && (chosen > 1 || (asked > 1 && asked <= most)))) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleDMDescribe(pc->dm, sizeof(grid), grid));
  PetscCall(KCycleDMExplain(pc->dm, sizeof(explained), explained));
  PetscCall(PetscSNPrintf(why, sizeof(why), "the %s cannot be coarsened: %s", grid, explained));
  PetscCall(ChooseWithoutGrid(pc, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels that are not structured and that the program did not give */
PetscErrorCode PCKCycleChooseInstead(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);
  char       why[512];

  PetscFunctionBegin;
  if (kc->ready || kc->use_structure) PetscFunctionReturn(PETSC_SUCCESS);
  kc->instead[0] = 0;
  kc->use_grids  = PETSC_FALSE;
  if (kc->levels_from == PC_KCYCLE_HIERARCHY_GRID || kc->levels_from == PC_KCYCLE_HIERARCHY_UNKNOWNS) {
    PetscCall(PCKCycleGridsChoose(pc));
    PetscCheck(kc->use_grids, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "-pc_kcycle_hierarchy %s: %s",
               PCKCycleHierarchyTypes[kc->levels_from], kc->nogrids);
  } else if (kc->hierarchy == PC_KCYCLE_HIERARCHY_AUTO && mg->coarseSpaceType == PCMG_ADAPT_GDSW && mg->nlevels > 1) {
    kc->levels_from = PC_KCYCLE_HIERARCHY_AUTO; /* PCMG makes the interpolation from the smoothers' subdomains */
    PetscCall(PetscStrncpy(kc->instead, "-pc_mg_adapt_interp_coarse_space gdsw", sizeof(kc->instead)));
  } else if (kc->levels_from == PC_KCYCLE_HIERARCHY_AUTO) {
    PetscCall(PetscSNPrintf(why, sizeof(why), "neither a DM nor interpolations were given%s%s",
                            kc->found.why[0] ? ", and no grid was found in the matrix: " : "", kc->found.why));
    PetscCall(ChooseWithoutGrid(pc, why));
  } else if (kc->levels_from == PC_KCYCLE_HIERARCHY_DM && kc->hierarchy == PC_KCYCLE_HIERARCHY_AUTO) {
    PetscCall(ChooseOnDM(pc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What was asked for and has no meaning on the levels that there are is an error */
PetscErrorCode PCKCycleRefuseMeaningless(PC pc)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PC_KCycle     *kc   = KCycleOf(pc);
  PetscBool      automatic;

  PetscFunctionBegin;
  if (kc->ready || kc->use_structure) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(kc->grid == PC_KCYCLE_GRID_AUTO, comm, PETSC_ERR_ARG_INCOMP,
             "-pc_kcycle_grid %s (PCKCycleSetGrid()) is for structured levels, and levels are not structured: %s",
             PCKCycleGridTypes[kc->grid], kc->general);
  PetscCheck(kc->interpolation == PC_KCYCLE_INTERPOLATION_AUTO ||
                 (kc->use_grids && kc->interpolation == PC_KCYCLE_INTERPOLATION_LINEAR),
             comm, PETSC_ERR_ARG_INCOMP,
             "-pc_kcycle_interpolation %s (PCKCycleSetInterpolation()) is for structured levels, and levels are not "
             "structured: %s",
             PCKCycleInterpolationTypes[kc->interpolation], kc->general);
  PetscCall(PetscStrcmp(kc->semicoarsen, "auto", &automatic));
  PetscCheck(automatic || kc->use_grids, comm, PETSC_ERR_ARG_INCOMP,
             "-pc_kcycle_semicoarsen %s (PCKCycleSetSemicoarsen()) is for grids that are coarsened here, and the "
             "hierarchy is %s",
             kc->semicoarsen, PCKCycleHierarchyTypes[kc->levels_from]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A single level is the coarsest problem, with its solver and its options, which PCMG has where there are two: to
   PCMG it is a smoother */
PetscErrorCode PCKCycleReplaceLevels(PC pc, PetscInt levels, MPI_Comm *comms)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);
  KSP        coarse;
  MPI_Comm   both[2] = {comms ? comms[0] : MPI_COMM_NULL, comms ? comms[0] : MPI_COMM_NULL};

  PetscFunctionBegin;
  if (levels != 1 || mg->nlevels == 1) {
    PetscCall((*kc->set_levels)(pc, levels, comms));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (mg->nlevels == 2) PetscCall((*kc->set_levels)(pc, 3, NULL)); /* new solvers */
  PetscCall((*kc->set_levels)(pc, 2, comms ? both : NULL));
  coarse = mg->levels[0]->smoothd;
  PetscCall(PetscObjectReference((PetscObject)coarse));
  PetscCall((*kc->set_levels)(pc, 1, comms));
  PetscCall(KCycleLevelsSetCoarse(pc, coarse));
  PetscCall(PetscObjectIncrementTabLevel((PetscObject)coarse, (PetscObject)pc, 1));
  PetscCall(KSPDestroy(&coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCKCycleSetUpLevels(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (kc->ready) PetscFunctionReturn(PETSC_SUCCESS);
  if (!KCycleMakesOperators(kc)) PetscCall(PCKCycleChooseLevels(pc, PETSC_TRUE));
  if (kc->levels_from == PC_KCYCLE_HIERARCHY_SINGLE) {
    PetscCall(PCKCycleUseLevels(pc, 1, 1));
    kc->nlevels_chosen = 1;
  }
  PetscCall(RequireHierarchy(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Has the program changed the smoother of a level? Another number of levels would lose it */
PetscBool KCycleLevelsAreTheirs(const PC_KCycle *kc)
{
  PetscBool theirs = PETSC_FALSE;

  for (PetscInt l = 1; l < kc->nchoices; l++) theirs = (PetscBool)(theirs || KCycleLevelIsTheirs(kc, l));
  return theirs;
}

/* The number of levels that options or program ask for, or 0 */
PetscErrorCode PCKCycleLevelsAsked(PC pc, PetscInt *asked)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  *asked = kc->finer.exists ? kc->finer.wanted : kc->nlevels_option;
  if (kc->finer.exists || *asked) PetscFunctionReturn(PETSC_SUCCESS);
  if (mg->levels && mg->nlevels != kc->nlevels_chosen) *asked = mg->nlevels;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same, or that of the levels whose solvers the program has chosen, or as many as there are */
PetscErrorCode PCKCycleLevelsWanted(PC pc, PetscInt *wanted)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(PCKCycleLevelsAsked(pc, wanted));
  if (!*wanted && KCycleLevelsAreTheirs(kc)) *wanted = ((PC_MG *)pc->data)->nlevels;
  if (!*wanted) *wanted = kc->nlevels_asked ? kc->nlevels_asked : KCYCLE_MAX_LEVELS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Set-up has found nlevels levels where another number was wanted. Smoothers that the program has chosen would be lost
  with another number: only there that is an error
*/
PetscErrorCode PCKCycleUseLevels(PC pc, PetscInt nlevels, PetscInt wanted)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  kc->nlevels_asked = wanted < KCYCLE_MAX_LEVELS && wanted > nlevels ? wanted : 0;
  if (kc->nlevels_asked)
    PetscCall(PetscInfo(pc, "%" PetscInt_FMT " levels are wanted, the grid has %" PetscInt_FMT "\n", wanted, nlevels));
  if (nlevels == mg->nlevels) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!KCycleLevelsAreTheirs(kc), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "The program has chosen solvers on %" PetscInt_FMT " levels, and this grid has %" PetscInt_FMT
             ": choose them after PCSetUp(), or call PCMGSetLevels() with fewer levels",
             mg->nlevels, nlevels);
  kc->nlevels_chosen = nlevels;
  kc->choosing       = PETSC_TRUE;
  PetscCall(PCMGSetLevels(pc, nlevels, NULL));
  kc->choosing = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleSetHierarchy - Sets where the levels come from.

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- hierarchy - one of the values of `PCKCycleHierarchyType`

  Options Database Key:
. -pc_kcycle_hierarchy (auto|dm|user|gamg|grid|single|unknowns) - where levels come from

  Level: intermediate

  Note:
  Going to or from `PC_KCYCLE_HIERARCHY_GAMG` forgets what was set with the functions of `PCGAMG`, and smoothers that
  were chosen on its levels: call this before them. The type of multigrid, the number of cycles and the coarsest solver
  stay. The options of `PCGAMG` (`-pc_gamg_...`) apply to its levels.

.seealso: `PCKCYCLE`, `PCKCycleGetHierarchy()`, `PCMGSetInterpolation()`, `KSPSetDM()`, `PCGAMG`
@*/
PetscErrorCode PCKCycleSetHierarchy(PC pc, PCKCycleHierarchyType hierarchy)
{
  PC_KCycle *kc;
  PetscBool  isgamg = (PetscBool)(hierarchy == PC_KCYCLE_HIERARCHY_GAMG);

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, hierarchy, 2);
  PetscCall(KCycleCheckChoice(pc, PCKCycleHierarchyTypes, (int)hierarchy));
  kc = KCycleOf(pc);
  if (!kc) PetscFunctionReturn(PETSC_SUCCESS);
  if (hierarchy == kc->hierarchy) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!kc->ready, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "The hierarchy is set up already: call PCReset() before PCKCycleSetHierarchy()");
  kc->hierarchy = hierarchy;
  PetscCall(PCKCycleInherit(pc, isgamg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetHierarchy - Gets where the levels come from.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. hierarchy - before set-up what was asked for, after it what is used

  Level: intermediate

.seealso: `PCKCYCLE`, `PCKCycleSetHierarchy()`
@*/
PetscErrorCode PCKCycleGetHierarchy(PC pc, PCKCycleHierarchyType *hierarchy)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(hierarchy, 2);
  PetscCall(PCKCycleGetContext(pc, &kc));
  *hierarchy = kc->ready ? kc->levels_from : kc->hierarchy;
  PetscFunctionReturn(PETSC_SUCCESS);
}
