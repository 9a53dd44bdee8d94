/*
  Set-up of PCKCYCLE: a list of steps around the set-up of the type it inherits from.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/coarsenimpl.h>
#include <petsckcycle/private/deviceimpl.h>

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
static PetscErrorCode FindGrid(PC pc)
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
    PetscCall(PCKCycleStructuredDrop(pc));
    PetscCall(FindGrid(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCSetDM(pc, dm));
  kc->grid_of_operator = PETSC_TRUE;
  kc->grid_id          = 0;
  if (dm) PetscCall(PetscObjectGetId((PetscObject)dm, &kc->grid_id));
  PetscCall(PetscInfo(pc, "Using the DM of the operator\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are coarse operators and interpolations made here, and not by PCMG or PCGAMG? */
PetscBool KCycleMakesOperators(const PC_KCycle *kc)
{
  return (PetscBool)(kc->use_structure || kc->use_grids);
}

/* AUTO: interpolations that the user gave, else a grid. Leaves AUTO where neither is known */
static PetscErrorCode ResolveHierarchy(PC pc)
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
    PetscCall(FindGrid(pc));
    PetscCall(ResolveHierarchy(pc));
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
  if (kc->use_grids) kc->levels_from = kc->apart.use ? PC_KCYCLE_HIERARCHY_UNKNOWNS : PC_KCYCLE_HIERARCHY_GRID;
  if (kc->use_grids || (asked != 1 && (chosen > 1 || (asked > 1 && asked <= most)))) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleDMDescribe(pc->dm, sizeof(grid), grid));
  PetscCall(KCycleDMExplain(pc->dm, sizeof(explained), explained));
  PetscCall(PetscSNPrintf(why, sizeof(why), "the %s cannot be coarsened: %s", grid, explained));
  PetscCall(ChooseWithoutGrid(pc, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels that are not structured and that the program did not give */
static PetscErrorCode ChooseInstead(PC pc)
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
static PetscErrorCode RefuseMeaningless(PC pc)
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

static PetscErrorCode SetUpLevels(PC pc)
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

/* Coarse operators can be assembled anew by whoever told the DM how (KSPSetComputeOperators(), SNES), or were given
   level by level */
static PetscErrorCode CoarseOperatorsAreProvided(PC pc, PetscBool *provided)
{
  PC_MG *mg                                        = (PC_MG *)pc->data;
  PetscErrorCode (*compute)(KSP, Mat, Mat, void *) = NULL;

  PetscFunctionBegin;
  *provided = PETSC_TRUE;
  if (pc->dm) PetscCall(DMKSPGetComputeOperators(pc->dm, &compute, NULL));
  if (compute) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt l = 0; l < mg->nlevels - 1; l++) {
    PetscBool set;

    PetscCall(KSPGetOperatorsSet(mg->levels[l]->smoothd, NULL, &set));
    if (!set) *provided = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ChooseCoarseOperators(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);
  PetscBool  provided;

  PetscFunctionBegin;
  if (kc->ready) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CoarseOperatorsAreProvided(pc, &provided));
  PetscCheck(provided || mg->galerkin != PC_MG_GALERKIN_EXTERNAL || kc->levels_from == PC_KCYCLE_HIERARCHY_GAMG,
             PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "-pc_mg_galerkin external says that the program gives the operators of coarse levels, and it has not: "
             "call PCMGSetOperators() for each, or leave out the option");
  if (kc->galerkin_set || mg->galerkin != PC_MG_GALERKIN_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  if (provided) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCMGSetGalerkin(pc, PC_MG_GALERKIN_BOTH));
  kc->galerkin_chosen = PETSC_TRUE;
  PetscCall(PetscInfo(pc, "Nobody provides coarse operators: using Galerkin products\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A stencil keeps the shape it was made with, and so do the levels below it */
static PetscErrorCode ForgetOldShape(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);
  char       adapted[128];

  PetscFunctionBegin;
  PetscCall(PCKCycleCheckAdapted(pc, sizeof(adapted), adapted));
  if (!kc->ready || !KCycleMakesOperators(kc) || (pc->flag != DIFFERENT_NONZERO_PATTERN && !adapted[0]))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(
      pc, "The pattern of the operator has changed, or interpolations are to be adapted: building levels anew\n"));
  PetscCall(PCKCycleStructuredDrop(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Galerkin products keep the pattern they were made with: another pattern needs new ones. Transfers that the user
   gave are kept */
static PetscErrorCode ForgetOldPattern(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);
  Mat       *kept;

  PetscFunctionBegin;
  if (!kc->ready || pc->flag != DIFFERENT_NONZERO_PATTERN || mg->galerkin >= PC_MG_GALERKIN_NONE)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(pc, "The pattern of the operator has changed: building coarse operators anew\n"));
  PetscCall(PetscCalloc1(2 * mg->nlevels, &kept));
  for (PetscInt l = 1; l < mg->nlevels && kc->levels_from == PC_KCYCLE_HIERARCHY_USER; l++) {
    kept[2 * l]     = mg->levels[l]->interpolate;
    kept[2 * l + 1] = mg->levels[l]->restrct;
    PetscCall(PetscObjectReference((PetscObject)kept[2 * l]));
    PetscCall(PetscObjectReference((PetscObject)kept[2 * l + 1]));
  }
  PetscCall((*kc->base.reset)(pc));
  for (PetscInt l = 1; l < mg->nlevels; l++) {
    if (kept[2 * l]) PetscCall(PCMGSetInterpolation(pc, l, kept[2 * l]));
    if (kept[2 * l + 1]) PetscCall(PCMGSetRestriction(pc, l, kept[2 * l + 1]));
    PetscCall(MatDestroy(&kept[2 * l]));
    PetscCall(MatDestroy(&kept[2 * l + 1]));
  }
  PetscCall(PetscFree(kept));
  kc->ready = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RenewPC(KSP solver, const KCycleChoice *choice)
{
  PC   pc;
  char type[64];

  PetscFunctionBegin;
  PetscCall(KSPGetPC(solver, &pc));
  if (!((PetscObject)pc)->type_name || choice->theirs[KCYCLE_ASPECT_PC]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrncpy(type, ((PetscObject)pc)->type_name, sizeof(type)));
  PetscCall(PCSetType(pc, PCNONE));
  PetscCall(PCSetType(pc, type));
  PetscCall(PCSetFromOptions(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A factorization keeps the ordering that it chose for one type of matrices, which those of other types may not
   take: solvers of levels are made anew for another type, unless the program has chosen them */
static PetscErrorCode RenewForType(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);
  MatType    type;
  PetscBool  same;

  PetscFunctionBegin;
  if (kc->use_structure || kc->gamg) kc->type[0] = 0;
  if (kc->use_structure || kc->gamg) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetType(kc->use_grids ? kc->grids[0].A : pc->pmat, &type));
  PetscCall(PetscStrcmp(type, kc->type, &same));
  for (PetscInt l = 0; kc->type[0] && !same && l < mg->nlevels; l++) {
    PetscCall(RenewPC(mg->levels[l]->smoothd, &kc->choice[l][0]));
    if (mg->levels[l]->smoothu != mg->levels[l]->smoothd) PetscCall(RenewPC(mg->levels[l]->smoothu, &kc->choice[l][1]));
  }
  PetscCall(PetscStrncpy(kc->type, type, sizeof(kc->type)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCMG passes the news that operators have changed to down smoothers that have a grid only: estimates of eigenvalues
   would stay as they were */
static PetscErrorCode AnnounceChange(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (!kc->ready || (mg->galerkin == PC_MG_GALERKIN_EXTERNAL && !KCycleMakesOperators(kc)))
    PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt l = 0; l < mg->nlevels; l++) {
    KSP down = mg->levels[l]->smoothd, up = mg->levels[l]->smoothu;

    if (down->setupstage != KSP_SETUP_NEW) down->setupstage = KSP_SETUP_NEWMATRIX;
    if (up->setupstage != KSP_SETUP_NEW) up->setupstage = KSP_SETUP_NEWMATRIX;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Residuals are taken with the operators that the smoothers have, also after KSPSetOperators() with another matrix */
static PetscErrorCode FinishOperators(PC pc)
{
  PC_MG *mg = (PC_MG *)pc->data;

  PetscFunctionBegin;
  for (PetscInt l = 0; l < mg->nlevels; l++) {
    PC_MG_Levels *lv = mg->levels[l];
    Mat           A;

    if (lv->A && lv->residual && lv->residual != PCMGResidualDefault) continue;
    PetscCall(KSPGetOperators(lv->smoothd, &A, NULL));
    PetscCall(PetscObjectReference((PetscObject)A));
    PetscCall(MatDestroy(&lv->A));
    lv->A = A;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Some smoothers (PCEISENSTAT) change the right side that they are given, and get a copy */
static PetscErrorCode FinishRightSide(PC pc)
{
  PC_KCycle    *kc = KCycleOf(pc);
  PC            smoother;
  PetscBool     down = PETSC_FALSE, up = PETSC_FALSE;
  PC_MG_Levels *fine = ((PC_MG *)pc->data)->levels[kc->nlevels - 1];

  PetscFunctionBegin;
  PetscCall(KSPGetPC(fine->smoothd, &smoother));
  PetscTryMethod(smoother, "PCPreSolveChangeRHS_C", (PC, PetscBool *), (smoother, &down));
  PetscCall(KSPGetPC(fine->smoothu, &smoother));
  PetscTryMethod(smoother, "PCPreSolveChangeRHS_C", (PC, PetscBool *), (smoother, &up));
  PetscCall(VecDestroy(&kc->rhs));
  if (down || up) PetscCall(MatCreateVecs(fine->A, NULL, &kc->rhs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The events of a level, which has the same name on any number of processes; PetscLogEventRegister() wants all of them
   to take the events of all levels, those on fewer processes, too */
static PetscErrorCode RegisterEvents(PetscInt number, PetscLogEvent event[])
{
  const char *const phases[KCYCLE_NUM_PHASES] = {"KCSmooth", "KCResidual", "KCRestrict", "KCInterp", "KCCoarse"};

  PetscFunctionBegin;
  for (PetscInt phase = 0; phase < KCYCLE_NUM_PHASES; phase++) {
    char name[64];

    if ((phase == KCYCLE_COARSE) != (number == 0)) continue;
    PetscCall(PetscSNPrintf(name, sizeof(name), "%s Level %" PetscInt_FMT, phases[phase], number));
    PetscCall(PetscLogEventGetId(name, &event[phase]));
    if (event[phase] < 0) PetscCall(PetscLogEventRegister(name, PC_CLASSID, &event[phase]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coarsest level here logs nothing where others go on with it */
static PetscErrorCode LogLevels(PC pc)
{
  PC_KCycle    *kc = KCycleOf(pc);
  PetscLogEvent unused[KCYCLE_NUM_PHASES];

  PetscFunctionBegin;
  for (PetscInt number = 0; number < kc->nlevels + kc->gathered.below; number++) {
    const PetscInt l = number - kc->gathered.below;

    PetscCall(RegisterEvents(number, l > 0 || number == 0 ? kc->level[PetscMax(l, 0)].event : unused));
  }
  if (kc->gathered.below) PetscCall(PetscArrayzero(kc->level[0].event, KCYCLE_NUM_PHASES));
  if (kc->gathered.pc) PetscCall(LogLevels(kc->gathered.pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the cycle itself needs beside the hierarchy */
static PetscErrorCode FinishCycle(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (kc->nlevels != mg->nlevels) {
    PetscCall(PetscFree2(kc->level, kc->calls));
    kc->nlevels = mg->nlevels;
    PetscCall(PetscCalloc2(kc->nlevels, &kc->level, kc->nlevels, &kc->calls));
    PetscCall(PCKCycleProfileReset(kc));
  } else {
    PetscCall(PCKCycleProfileRest(kc, PETSC_TRUE));
    PetscCall(PetscArrayzero(kc->level, kc->nlevels));
    PetscCall(PCKCycleProfileRest(kc, PETSC_FALSE));
  }
  if (mg->stageApply) PetscCall(LogLevels(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What depends on the solvers of the levels */
PetscErrorCode PCKCycleFinishLevels(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);
  PetscBool  preonly;

  PetscFunctionBegin;
  PetscCall(FinishOperators(pc));
  PetscCall(KSPGetInitialGuessNonzero(mg->levels[0]->smoothd, &kc->coarse_reads));
  PetscCall(PetscObjectTypeCompare((PetscObject)mg->levels[0]->smoothd, KSPPREONLY, &preonly));
  kc->coarse_continues = (PetscBool)(kc->coarse_reads && !preonly);
  PetscCall(FinishRightSide(pc));
  PetscCall(PCKCycleEngineSetUp(pc));
  PetscCall(KCycleLevelsStamp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver that has the operator that the PC was set up for last gets the new one */
static PetscErrorCode RenewOperator(PC pc, PetscObjectId last, KSP solver)
{
  PetscObjectId its;
  PetscBool     set, amat;
  Mat           P;

  PetscFunctionBegin;
  PetscCall(KSPGetOperatorsSet(solver, NULL, &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetOperators(solver, NULL, &P));
  PetscCall(PetscObjectGetId((PetscObject)P, &its));
  if (its != last) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGetUseAmat(pc, &amat));
  PetscCall(KSPSetOperators(solver, amat ? pc->mat : pc->pmat, pc->pmat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCMG leaves its finest solvers the matrix that they had from the PC, also where the program has come with another */
static PetscErrorCode RenewFinest(PC pc)
{
  PC_MG        *mg = (PC_MG *)pc->data;
  PC_KCycle    *kc = KCycleOf(pc);
  PetscObjectId now;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &now));
  if (mg->levels && now != kc->operator_id) {
    PC_MG_Levels *fine = mg->levels[mg->nlevels - 1];

    PetscCall(RenewOperator(pc, kc->operator_id, fine->smoothd));
    PetscCall(RenewOperator(pc, kc->operator_id, fine->smoothu));
  }
  kc->operator_id = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Has the program given the only level another operator than the PC's? */
static PetscErrorCode OnlyIsTheirs(PC pc, PetscBool *theirs)
{
  PC_KCycle *kc   = KCycleOf(pc);
  const KSP  only = ((PC_MG *)pc->data)->levels[0]->smoothd;
  PetscBool  set;
  Mat        P;

  PetscFunctionBegin;
  *theirs = PETSC_FALSE;
  PetscCall(KSPGetOperatorsSet(only, NULL, &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetOperators(only, NULL, &P));
  *theirs = (PetscBool)(P != pc->pmat && P != kc->coarsest);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the coarsest problem is the program's own operator a null space is attached to a copy, which has those that the
   program has attached */
static PetscErrorCode OwnCoarsest(PC pc)
{
  PC_MG       *mg = (PC_MG *)pc->data;
  PC_KCycle   *kc = KCycleOf(pc);
  MatNullSpace attached[2];
  PetscBool    has, theirs = PETSC_FALSE;

  PetscFunctionBegin;
  if (kc->use_structure || mg->nlevels != 1 || mg->galerkin == PC_MG_GALERKIN_EXTERNAL)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(OnlyIsTheirs(pc, &theirs));
  if (theirs) PetscFunctionReturn(PETSC_SUCCESS);
  if (kc->coarsest) PetscCall(KSPSetOperators(mg->levels[0]->smoothd, pc->pmat, pc->pmat));
  PetscCall(MatDestroy(&kc->coarsest));
  PetscCall(MatHasOperation(pc->pmat, MATOP_DUPLICATE, &has));
  if (kc->kernel == KCYCLE_REGULAR || !has) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDuplicate(pc->pmat, MAT_COPY_VALUES, &kc->coarsest));
  PetscCall(MatGetNullSpace(pc->pmat, &attached[0]));
  PetscCall(MatGetTransposeNullSpace(pc->pmat, &attached[1]));
  PetscCall(MatSetNullSpace(kc->coarsest, attached[0]));
  PetscCall(MatSetTransposeNullSpace(kc->coarsest, attached[1]));
  PetscCall(KSPSetOperators(mg->levels[0]->smoothd, kc->coarsest, kc->coarsest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSquare(PC pc)
{
  PetscInt M, N;

  PetscFunctionBegin;
  PetscCall(MatGetSize(pc->pmat, &M, &N));
  PetscCheck(M == N, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ,
             "PCKCYCLE needs a square operator, this one has %" PetscInt_FMT " rows and %" PetscInt_FMT
             " columns; for least squares use the normal equations (MatCreateNormal())",
             M, N);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCGAMG makes its coarsest solver itself: not of the one that the program has changed */
static PetscErrorCode CoarseBeforeGAMG(PC pc)
{
  PC_MG      *mg = (PC_MG *)pc->data;
  PC_KCycle  *kc = KCycleOf(pc);
  Mat         A, P;
  PetscBool   set;
  const char *prefix;

  PetscFunctionBegin;
  PetscCall(PCKCycleCoarseHold(pc));
  if (!kc->coarse || !mg->levels) PetscFunctionReturn(PETSC_SUCCESS);
  if (!kc->coarse_gamg) {
    PetscCall(KSPCreate(PetscObjectComm((PetscObject)kc->coarse), &kc->coarse_gamg));
    PetscCall(KSPGetOptionsPrefix(kc->coarse, &prefix));
    PetscCall(KSPSetOptionsPrefix(kc->coarse_gamg, prefix));
    PetscCall(KSPSetType(kc->coarse_gamg, KSPPREONLY));
    PetscCall(KSPGetOperatorsSet(kc->coarse, &set, NULL));
    if (set) PetscCall(KSPGetOperators(kc->coarse, &A, &P));
    if (set) PetscCall(KSPSetOperators(kc->coarse_gamg, A, P));
  }
  PetscCall(KCycleLevelsSetCoarse(pc, kc->coarse_gamg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Then that takes its place again */
static PetscErrorCode CoarseAfterGAMG(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);
  Mat        A, P;

  PetscFunctionBegin;
  if (!kc->coarse) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectReference((PetscObject)mg->levels[0]->smoothd));
  PetscCall(KSPDestroy(&kc->coarse_gamg));
  kc->coarse_gamg = mg->levels[0]->smoothd;
  PetscCall(KSPGetOperators(kc->coarse_gamg, &A, &P));
  PetscCall(KSPSetOperators(kc->coarse, A, P));
  PetscCall(PCKCycleCoarseInstall(pc));
  if (!kc->ready) PetscCall(KSPSetFromOptions(kc->coarse));
  PetscCall(KSPSetUp(kc->coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpInherited(PC pc)
{
  PC_KCycle     *kc = KCycleOf(pc);
  PetscErrorCode ierr;
  char           levels[64] = "";

  PetscFunctionBegin;
  PetscCall(PCKCycleCoordinatesGive(pc));
  /* PCGAMG would have PCMG read them again, also where it has made fewer */
  if (kc->gamg) PetscCall(PCKCycleHideLevels(pc, PETSC_TRUE, sizeof(levels), levels));
  if (kc->gamg) PetscCall(CoarseBeforeGAMG(pc));
  ierr = (*kc->base.setup)(pc);
  PetscCall(PCKCycleHideLevels(pc, PETSC_FALSE, sizeof(levels), levels));
  PetscCall(ierr);
  if (kc->gamg) PetscCall(CoarseAfterGAMG(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operators and interpolations of all levels, or what PCMG and PCGAMG are to make */
static PetscErrorCode BuildLevels(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (kc->use_structure) {
    PetscCall(PCKCycleStructuredSetUp(pc));
    if (kc->use_structure) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(RefuseMeaningless(pc));
    PetscCall(SetUpLevels(pc));
    PetscCall(PCKCycleCheckOperator(pc));
  }
  if (kc->use_grids) PetscCall(PCKCycleGridsSetUp(pc));
  else {
    PetscCall(ChooseCoarseOperators(pc));
    PetscCall(ForgetOldPattern(pc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUp(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(CheckSquare(pc));
  PetscCall(PCKCycleRefuseChanges(pc));
  PetscCall(KCycleLevelsCheck(pc));
  PetscCall(PCKCycleCoarseForget(pc));
  PetscCall(FindGrid(pc));
  PetscCall(PCKCycleUnknownsFollow(pc));
  PetscCall(ForgetOldShape(pc));
  PetscCall(ResolveHierarchy(pc));
  PetscCall(PCKCycleCheckGrid(pc));
  PetscCall(PCKCycleStructuredChoose(pc));
  PetscCall(PCKCycleFoundSettle(pc));
  PetscCall(ChooseInstead(pc));
  PetscCall(RefuseMeaningless(pc));
  PetscCall(SetUpLevels(pc));
  PetscCall(PCKCycleCheckOperator(pc));
  if (kc->failure[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BuildLevels(pc));
  PetscCall(RenewForType(pc));
  PetscCall(AnnounceChange(pc));
  if (!kc->ready) pc->setupcalled = PETSC_FALSE;
  PetscCall(RenewFinest(pc));
  PetscCall(OwnCoarsest(pc));
  PetscCall(PCKCycleCoarseBefore(pc));
  PetscCall(SetUpInherited(pc));
  PetscCall(PCKCycleCoarseAfter(pc));
  if (!kc->ready) PetscCall(KCycleMatOnDevice(pc->pmat, &kc->device)); /* until a solver shows its vectors */
  PetscCall(FinishCycle(pc));
  PetscCall(PCKCycleFinishLevels(pc));
  kc->ready = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After an error PETSc would take the operator for one that has been set up for */
static PetscErrorCode SetUpOnce(PC pc)
{
  PC_KCycle     *kc = KCycleOf(pc);
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PCKCycleCopyLend(pc));
  ierr = SetUp(pc);
  PetscCall(PCKCycleCopyReturn(pc));
  PetscCall(PCKCycleSolversKeep(pc));
  if (ierr) pc->setupcalled = PETSC_FALSE;
  PetscCall(ierr);
  kc->levels_used = PETSC_TRUE;
  PetscCall(PCKCycleInstall(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetUp_KCycle(PC pc)
{
  PC_KCycle *kc    = KCycleOf(pc);
  PetscBool  again = PETSC_TRUE, failed;

  PetscFunctionBegin;
  failed   = kc->busy;
  kc->busy = PETSC_FALSE;
  PetscCall(PCKCycleSolversNotice(pc));
  if (failed) PetscCall(PCKCycleStartAnew(pc));
  kc->busy = PETSC_TRUE;
  while (again) {
    PetscCall(SetUpOnce(pc));
    PetscCall(PCKCycleUnknownsJudge(pc, &again));
  }
  PCKCycleAnswerForget(kc);
  PetscCall(PCKCyclePredictSetUp(pc));
  PetscCall(PCKCycleModelChanged(pc));
  PetscCall(PCKCycleModelSetUp(pc));
  PetscCall(PCKCycleFallbackSetUp(pc));
  kc->busy = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
