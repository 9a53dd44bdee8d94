/*
  PCKCYCLE: multigrid with the kappa-cycle of Avnat and Yavneh on any hierarchy of PCMG.

  The type inherits from PCMG (or from PCGAMG, which does so itself): it becomes that type, keeps its operations aside
  and replaces every one that cycles. Levels, smoothers, transfers and their options remain PCMG's.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/deviceimpl.h>
#include <petsckcycle/private/registerimpl.h>

static const char Container[] = "PCKCycle";

static PetscBool  KCycleCite       = PETSC_FALSE;
static const char KCycleCitation[] = "@article{AvnatYavneh2023,\n"
                                     "  author  = {Avnat, Or and Yavneh, Irad},\n"
                                     "  title   = {On the Recursive Structure of Multigrid Cycles},\n"
                                     "  journal = {SIAM Journal on Scientific Computing},\n"
                                     "  volume  = {45},\n"
                                     "  number  = {3},\n"
                                     "  pages   = {S103--S126},\n"
                                     "  year    = {2023},\n"
                                     "  doi     = {10.1137/21M1433502}\n"
                                     "}\n";

PetscErrorCode PCFinalizePackage_KCycle(void)
{
  PetscFunctionBegin;
  KCycleCite = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NULL: the PC is of another type, for which functions that set something do nothing */
PC_KCycle *KCycleOf(PC pc)
{
  PetscContainer container = NULL;
  void          *kc        = NULL;

  if (PetscObjectQuery((PetscObject)pc, Container, (PetscObject *)&container) || !container) return NULL;
  return PetscContainerGetPointer(container, &kc) ? NULL : (PC_KCycle *)kc;
}

/* Of the PC that a program asks for something */
PetscErrorCode PCKCycleGetContext(PC pc, PC_KCycle **kc)
{
  PetscFunctionBegin;
  *kc = KCycleOf(pc);
  PetscCheck(*kc, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "This PC is of type %s, not " PCKCYCLE,
             ((PetscObject)pc)->type_name ? ((PetscObject)pc)->type_name : "none");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels that are set up keep what they were made with */
PetscErrorCode KCycleCheckSettable(PC pc, PetscBool same, const char setter[])
{
  PetscFunctionBegin;
  PetscCheck(same || !KCycleOf(pc)->ready, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "The levels are set up already: call PCReset() before %s()", setter);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A choice that takes effect at once, also on fewer processes */
PetscErrorCode PCKCycleApplyChoice(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (kc->ready && !kc->busy) PetscCall(PCKCycleEngineSetUp(pc));
  PetscCall(PCKCycleGatheredFollow(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Data under a name of an object, with which it is destroyed */
PetscErrorCode KCycleObjectCompose(PetscObject object, const char name[], void *data,
                                   PetscErrorCode (*destroy)(KCycleCtxDestroyArg))
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, data));
  PetscCall(KCycleContainerSetCtxDestroy(container, destroy));
  PetscCall(PetscObjectCompose(object, name, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ContextDestroy(KCycleCtxDestroyArg arg)
{
  PC_KCycle *kc = (PC_KCycle *)KCycleCtxFromDestroyArg(arg);

  PetscFunctionBegin;
  PetscCall(MatDestroy(&kc->copy));
  PetscCall(PCKCycleCoordinatesReset(kc));
  PetscCall(PetscFree2(kc->level, kc->calls));
  PetscCall(PetscFree(kc->choice));
  PetscCall(KSPDestroy(&kc->coarse));
  PetscCall(KSPDestroy(&kc->coarse_gamg));
  PetscCall(PetscFree(kc->profiling.file));
  for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(kc->fmg.rhs); l++) PetscCall(VecDestroy(&kc->fmg.rhs[l]));
  PetscCall(PetscFree(kc->predict.file));
  PetscCall(PetscFree(kc->predict.roofline));
  PetscCall(PetscFree(kc->unknowns.shrinks));
  PetscCall(PetscFree(kc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCReset_KCycle(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  kc->busy = PETSC_FALSE; /* of a set-up that failed nothing is left */
  PetscCall(PCKCycleProfileFinish(pc));
  PetscCall(PCKCycleSolversNotice(pc));
  PetscCall(VecDestroy(&kc->rhs));
  PetscCall(MatDestroy(&kc->copy));
  kc->copy_blocks = PETSC_FALSE;
  PetscCall(PCKCycleCoordinatesReset(kc));
  PetscCall(PCKCycleModelReset(kc));
  PetscCall(PCKCyclePredictReset(kc));
  PetscCall(PCKCycleCoarseForget(pc));
  PetscCall(PCKCycleLevelsDrop(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ComposeMethods(PC, PetscBool);

/* PCSetType() calls this, too, and so does Inherit(), which keeps the context */
static PetscErrorCode PCDestroy_KCycle(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscErrorCode (*destroy)(PC);

  PetscFunctionBegin;
  destroy = kc->base.destroy;
  if (kc->grid_of_operator) PetscCall(DMDestroy(&pc->dm)); /* the program has not given it to this PC */
  PetscCall(VecDestroy(&kc->rhs));
  PetscCall(PCKCycleModelReset(kc));
  PetscCall(PCKCyclePredictReset(kc));
  PetscCall(PCKCycleCoarseForget(pc));
  PetscCall(PCKCycleLevelsReset(kc));
  PetscCall(PCKCycleFoundReset(kc));
  PetscCall(ComposeMethods(pc, PETSC_FALSE));
  PetscCall(PetscObjectCompose((PetscObject)pc, Container, NULL));
  PetscCall((*destroy)(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCMGSetType() puts PCMG's own Richardson iteration back whenever it is called; KSPSolve() calls this before each
   solve */
static PetscErrorCode PCPreSolve_KCycle(PC pc, KSP ksp, Vec b, Vec x)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(KCycleVecOnDevice(x, &kc->device));
  PetscCall(PCKCycleInstall(pc));
  PetscCall(KCycleLevelsCheck(pc));
  PetscCall(PCKCyclePlaceFollow(pc));
  PetscCall(PCKCycleFallbackFollow(pc));
  if (!kc->fallback.pc) PetscCall(PCKCyclePrecisionFollow(pc, ksp));
  PetscCall(PCKCyclePredictBegin(pc, ksp));
  PetscCall(PCKCycleModelSetUp(pc));
  PetscCall(PCKCycleAutoUse(pc, ksp));
  pc->presolvedone = 1; /* PETSc counts solves that an error has ended as if they went on, and allows two */
  PetscCall(KCycleKSPUseStencil(ksp, pc));
  PetscCall(PCKCycleCheckRightSide(pc, ksp, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPostSolve_KCycle(PC pc, KSP ksp, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(PCKCyclePredictEnd(pc, ksp, b, x));
  PetscCall(PCKCycleFallbackNote(pc, ksp));
  PetscCall(PCKCycleExplainRightSide(pc, ksp));
  PetscCall(PCKCycleCheckAnswer(pc, ksp, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Down smoothers as PCMG's set-up leaves them, for cycles that PCMG runs itself */
static PetscErrorCode RestoreGuesses(PC_MG *mg)
{
  PetscFunctionBegin;
  for (PetscInt l = 1; l < mg->nlevels; l++) {
    const PetscBool same = (PetscBool)(mg->levels[l]->smoothd == mg->levels[l]->smoothu);

    PetscCall(KSPSetInitialGuessNonzero(mg->levels[l]->smoothd, (PetscBool)(same || mg->am == PC_MG_KASKADE)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces every operation that cycles. Additive and Kaskade multigrid have no kappa and stay PCMG's, unless the
   set-up failed */
PetscErrorCode PCKCycleInstall(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (mg->am == PC_MG_MULTIPLICATIVE || mg->am == PC_MG_FULL || kc->failure[0]) {
    pc->ops->apply          = PCApply_KCycle;
    pc->ops->applytranspose = PCApplyTranspose_KCycle;
    pc->ops->matapply       = kc->use_structure ? NULL : PCMatApply_KCycle; /* stencils take one vector at a time */
#if defined(KCYCLE_HAVE_PC_MATAPPLYTRANSPOSE)
    pc->ops->matapplytranspose = NULL;
#endif
  } else {
    PetscCheck(!kc->kappa_set || kc->kappa_of_cycle, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
               "-pc_mg_type %s has no kappa-cycle: leave out -pc_kcycle_kappa (PCKCycleSetKappa()), or use -pc_mg_type "
               "multiplicative or full",
               mg->am == PC_MG_ADDITIVE ? "additive" : "kaskade");
    pc->ops->apply          = PCApplyInherited_KCycle;
    pc->ops->applytranspose = kc->base.applytranspose ? PCApplyTransposeInherited_KCycle : NULL;
    pc->ops->matapply       = kc->base.matapply;
#if defined(KCYCLE_HAVE_PC_MATAPPLYTRANSPOSE)
    pc->ops->matapplytranspose = kc->base.matapplytranspose;
#endif
    if (kc->ready) PetscCall(RestoreGuesses(mg));
  }
  /* residuals of levels are not those of a program whose rows were scaled */
  pc->ops->applyrichardson =
      mg->am == PC_MG_MULTIPLICATIVE && mg->nlevels + kc->gathered.below > 1 && !kc->d && !kc->fallback.pc
          ? PCApplyRichardson_KCycle
          : NULL;
  pc->ops->setup          = PCSetUp_KCycle;
  pc->ops->reset          = PCReset_KCycle;
  pc->ops->destroy        = PCDestroy_KCycle;
  pc->ops->setfromoptions = PCSetFromOptions_KCycle;
  pc->ops->view           = PCView_KCycle;
  pc->ops->presolve       = PCPreSolve_KCycle;
  pc->ops->postsolve      = PCPostSolve_KCycle;
  /* KSP then asks for the reason of a failure, and would find that of an earlier solve if values were repaired without
     KSPSetOperators() */
  pc->ops->setuponblocks  = PCSetUp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The PC becomes the given type, then PCKCYCLE again on top of it. The container carries the parameters across */
static PetscErrorCode Inherit(PC pc, PetscContainer container, PCType type)
{
  PC_KCycle      *kc;
  const PetscBool amat = pc->useAmat;
  DM              dm   = pc->dm;

  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)container));
  PetscCall(PetscObjectReference((PetscObject)dm));
  PetscCall(PCSetType(pc, type));
  PetscCall(PCSetDM(pc, dm));
  PetscCall(DMDestroy(&dm));
  pc->useAmat = amat;
  PetscCall(PetscObjectChangeTypeName((PetscObject)pc, PCKCYCLE));
  PetscCall(PetscObjectCompose((PetscObject)pc, Container, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscCall(PCKCycleGetContext(pc, &kc));
  kc->base = *pc->ops;
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCMGSetLevels_C", &kc->set_levels));
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCSetCoordinates_C", &kc->set_coordinates));
  kc->nlevels_chosen = 0;
  PetscCall(ComposeMethods(pc, PETSC_TRUE));
  PetscCall(PCKCycleInstall(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What PCMG and PCGAMG both have is handed on; what PCGAMG has no use for returns with PCMG */
static PetscErrorCode HandOn(PC pc, const PC_MG *before)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (kc->gamg) kc->mg = *before;
  mg->am               = before->am;
  mg->cyclesperpcapply = before->cyclesperpcapply;
  mg->stageApply       = before->stageApply;
  PetscCall(PCKCycleInstall(pc));
  if (kc->gamg) PetscFunctionReturn(PETSC_SUCCESS);
  mg->galerkin             = kc->mg.galerkin;
  mg->adaptInterpolation   = kc->mg.adaptInterpolation;
  mg->coarseSpaceType      = kc->mg.coarseSpaceType;
  mg->Nc                   = kc->mg.Nc;
  mg->mespMonitor          = kc->mg.mespMonitor;
  mg->compatibleRelaxation = kc->mg.compatibleRelaxation;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From PCMG to PCGAMG, or back. A coarsest solver that the program has changed is kept; smoothers cannot be. PCGAMG
   itself forgets the latter with each new pattern */
PetscErrorCode PCKCycleInherit(PC pc, PetscBool gamg)
{
  const PC_MG    before = *(PC_MG *)pc->data;
  PC_KCycle     *kc     = KCycleOf(pc);
  PetscContainer container;
  PetscInt       asked;

  PetscFunctionBegin;
  if (kc->gamg == gamg) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCKCycleSolversNotice(pc));
  PetscCheck(!gamg || !KCycleLevelsAreTheirs(kc), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "The program has chosen solvers on %" PetscInt_FMT
             " levels, and levels are to be those of PCGAMG, which has its own: choose them after PCSetUp(), or by "
             "options",
             before.nlevels);
  PetscCall(PCKCycleLevelsAsked(pc, &asked));
  if (gamg) kc->nlevels_before = asked;
  PetscCall(PCKCycleCoarseKeep(pc));
  PetscCall(KSPDestroy(&kc->coarse_gamg));
  kc->gamg = gamg;
  PetscCall(PetscObjectQuery((PetscObject)pc, Container, (PetscObject *)&container));
  PetscCall(Inherit(pc, container, gamg ? PCGAMG : PCMG));
  PetscCall(HandOn(pc, &before));
  PetscCall(PCKCycleSolversMade(pc));
  if (gamg || !kc->nlevels_before) PetscFunctionReturn(PETSC_SUCCESS);
  kc->choosing = PETSC_TRUE;
  PetscCall(PCMGSetLevels(pc, kc->nlevels_before, NULL));
  kc->choosing = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ComposeMethods(PC pc, PetscBool present)
{
  PetscObject obj = (PetscObject)pc;

  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction(obj, "PCMGSetLevels_C", present ? PCMGSetLevels_KCycle : NULL));
  PetscCall(PetscObjectComposeFunction(obj, "PCSetCoordinates_C", present ? PCSetCoordinates_KCycle : NULL));
  PetscCall(PCKCycleDeviceCopyCompose(pc, present));
  PetscCall(PetscObjectComposeFunction(obj, "PCKCycleGetModel_C", present ? PCKCycleGetModel_KCycle : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  PCKCYCLE - Multigrid with the kappa-cycle of Avnat and Yavneh, on any hierarchy that `PCMG` or `PCGAMG` can have.
  (Neither PETSc's Kaskade cycle nor Notay's Krylov cycle, which are called K-cycle elsewhere.)

  Options Database Keys:
+ -pc_kcycle_kappa (1|2|3|...|v|f|w|auto) - cycle counter (default 2), which structured levels replace by 1 unless it is
      given: 1 or v is the V-cycle, 2 or f the F-cycle, w the W-cycle, numbers above 2 cycles between F and W,
      auto what is cheapest by estimates
. -pc_kcycle_hierarchy (auto|dm|user|gamg|grid|single|unknowns) - where levels come from (default auto), where auto
      takes the first that fits
. -pc_kcycle_structured (auto|on|off)      - structured levels on a `DMDA`
. -pc_kcycle_precision (auto|double|single) - precision of structured levels (default auto), where auto is single where
      the problem and the Krylov method allow it
. -pc_kcycle_place (auto|host|device)      - where structured levels are
. -pc_kcycle_host_below (<0>|auto)         - levels with fewer unknowns are on the host
. -pc_kcycle_block_below <5000>            - levels on a device with fewer unknowns share one kernel
. -pc_kcycle_matrix_below <1100>           - what they do with fewer unknowns is a product with a matrix
. -pc_kcycle_graph <true>                  - cycles on a device are recorded as CUDA graphs
. -pc_kcycle_overlap_above <250000>        - halos of a device are sent while a process computes this many points
. -pc_kcycle_tile_above (<unknowns>|never) - sweeps on a device are fused in tiles from this many unknowns on (default
      never)
. -pc_kcycle_grid (auto|vertex|interior|cell) - where the points of the grid lie (default auto), where auto looks at
      the rows of the operator at its boundaries
. -pc_kcycle_interpolation (auto|linear|simplex|constant|operator) - interpolation between structured levels
. -pc_kcycle_semicoarsen (auto|x|y|z|xy|xz|yz|xyz) - directions to coarsen (default auto), where auto leaves out weakly
      coupled ones
. -pc_kcycle_anisotropy (auto|off)         - whether structured levels relax lines where points do not do
. -pc_kcycle_count_bytes                   - `-ksp_view` shows what each structured level moves between memory and
      processor at least: the calls of its kernels, and their bytes; and rounds of messages between processes
. -pc_kcycle_ghost_points <5000>           - levels of several processes are swept in fused passes with the points of
      others around those of a process, where these exceed its own by at most this number; -1: never
. -pc_kcycle_fallback (auto|off)           - BoomerAMG takes the place of cycles that converge too slowly (default
      auto), where auto measures some where coefficients jump
. -pc_kcycle_overcorrect <1>               - factor of the correction from the coarser levels to the finest one
. -pc_kcycle_fmg_interpolation (linear|cubic) - how full multigrid takes a solution to the next finer level (default
      linear)
. -pc_kcycle_fmg_monitor <false>           - full multigrid shows the algebraic error of each level and that of the
      discretisation
. -pc_kcycle_profile [[ascii]:file.csv[:ascii_csv][:append]] - the time of each component on each level, shown when
      the preconditioner is reset or destroyed (default none)
. -pc_kcycle_process_eq_limit <1000>       - points a process, below which levels are agglomerated
. -pc_kcycle_check <false>                 - a solve that has converged by its norm, but not by its residual, is an
      error, not a warning
. -pc_kcycle_sweeps (1|2|3|...|auto)       - sweeps on the finest structured level before and after the coarser ones
      (default usual), where auto takes those with which a solve takes the least time by a model
. -pc_kcycle_roofline <file>               - file with the roofs of the machine (default none): `-ksp_view` shows
      predicted times of solves
. -pc_kcycle_calibrate <false>             - times a few cycles at set-up: `-ksp_view` shows predicted times of cycles
- -pc_kcycle_grid_sizes (nx[,ny[,nz]]) - sizes of the grid of a matrix without a `DM` (default found in the matrix)

  Level: beginner

  Notes:
  On each level the kappa-cycle calls itself on the next coarser level, once with the same kappa and, if kappa > 1, once
  more with kappa - 1. The number of calls on n levels is a polynomial of degree kappa in n, where that of the W-cycle
  is exponential; small kappa between 2 and 5 bring most of the W-cycle's convergence without its many visits of small
  levels.

  The type inherits from `PCMG`: `-pc_mg_levels`, `-pc_mg_galerkin`, `-pc_mg_type`, `-pc_mg_distinct_smoothup`,
  `-pc_mg_multiplicative_cycles`, `-pc_mg_log`, the smoothers `-mg_levels_...` and the coarse solver `-mg_coarse_...`
  work as they do there, and so do `PCMGGetSmoother()`, `PCMGSetInterpolation()` and the other functions of `PCMG`.
  `-pc_mg_type full` runs full multigrid with kappa-cycles: with `KSPPREONLY` it solves to the accuracy of the
  discretisation in one application, best with `PCKCycleSetFMGInterpolation()`. `-pc_mg_cycle_type` v and w are kappa 1
  and infinity.

  The grid is taken from `KSPSetDM()`, else from the operator (`DMCreateMatrix()`), else it is found in the entries of
  an operator of type `MATAIJ`, whose rows are numbered line by line, or as a `DMDA` numbers them
  (`PCKCycleSetGridSizes()`). The number of levels is chosen unless given: as many as the grid allows, down to a
  coarsest grid of a few points. Coarse operators that the program does not provide are Galerkin products.

  Levels are the first that fit of: interpolations that were given; structured levels; coarser grids of a `DMDA` with
  ordinary matrices, or, where a trial shows that these do not suit all of several unknowns at a point, a level for all
  of them and a `PCFIELDSPLIT` with a `PCKCYCLE` for each; a `DM` that was refined, by `DMCoarsen()`; those of
  `PCGAMG`; a single level, which is the coarse solver alone. They are those of Pmat; with `-pc_use_amat` residuals are
  those of Amat, as in `PCMG`.

  On a `DMDA` with one unknown at a point and stencil width 1 the levels are structured: the operator is taken as, or
  converted to, a `MATSTENCIL`, grids have any size, weakly coupled directions are not coarsened, coarse operators are
  Galerkin products, and smoothers are sweeps of `PCRELAX`. While `KSP` solves, its own products use the stencil as
  well. `-pc_kcycle_structured off` has the levels of `PCMG` instead, where a grid has any, and smoothers that need an
  ordinary matrix have coarser grids.

  A singular operator is recognised by an attached null space (`MatSetNullSpace()`) or by zero row sums, on structured
  levels also those of some connected parts of the grid, and the coarsest problem is then solved by a
  pseudo-inverse. Attach the null space all the same: only then `KSP` makes an inconsistent right side consistent, if
  the matrix is known to be symmetric (`MatSetOption()` with `MAT_SYMMETRIC`) or has a null space of its transpose
  (`MatSetTransposeNullSpace()`), too. Where it does not, structured levels of a symmetric operator solve for the part
  of the right side that has a solution; `-ksp_view` and `-info` say how much that leaves out, and
  `-ksp_error_if_not_converged` names it where a solve does not converge.

  Rows of a symmetric operator that have been multiplied by numbers, as where the balance of a cell is divided by its
  volume, are scaled back on structured levels: there the operator is symmetric. Under `KSPRICHARDSON` the residuals are
  those of the operator itself.

  As a preconditioner of `KSPCG` any kappa works in practice, although only V- and W-cycles with symmetric smoothing are
  symmetric; `KSPFCG` is the safe choice for others. Under `KSPRICHARDSON` it is a solver itself.

  NaN, Inf and zero diagonal entries of the operator end the solve with `KSP_DIVERGED_PC_FAILED`;
  `-ksp_error_if_not_converged` makes them errors, `-ksp_view` names the reason.

  Load it into a program that does not know it with `-dll_append <path>/libpetsckcycle.so -pc_type kcycle`.

  References:
. * - Or Avnat and Irad Yavneh, On the Recursive Structure of Multigrid Cycles, SIAM Journal on Scientific Computing,
      2023

.seealso: `PCMG`, `PCGAMG`, `PCKCycleSetKappa()`, `PCKCycleSetHierarchy()`, `PCKCycleGetLevelCalls()`
M*/
PetscErrorCode PCCreate_KCycle(PC pc)
{
  PC_KCycle     *kc;
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscCitationsRegister(KCycleCitation, &KCycleCite));
  PetscCall(PetscNew(&kc));
  pc->useAmat              = PETSC_FALSE; /* PCMG, which this may have been before, asks for it by itself */
  kc->kappa                = 2;
  kc->graph                = PETSC_TRUE;
  kc->limits.block_below   = KCYCLE_BLOCK;
  kc->limits.matrix_below  = KCYCLE_MATRIX;
  kc->limits.tile_above    = KCYCLE_TILE_ABOVE_NEVER;
  kc->limits.overlap_above = KCYCLE_OVERLAP;
  kc->precision            = PC_KCYCLE_PRECISION_AUTO;
  kc->limits.ghost_points  = KCYCLE_GHOSTS;
  kc->proc_eq_limit        = KCYCLE_PROC_EQ_LIMIT;
  kc->overcorrect          = 1;
  PetscCall(PetscStrncpy(kc->semicoarsen, "auto", sizeof(kc->semicoarsen)));
  PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)pc), &container));
  PetscCall(PetscContainerSetPointer(container, kc));
  PetscCall(KCycleContainerSetCtxDestroy(container, ContextDestroy));
  PetscCall(Inherit(pc, container, PCMG));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}
