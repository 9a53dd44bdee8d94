/*
  What a program changes on levels that are set up, through PCMGGetSmoother() and the other functions of PCMG. Each
  level has a stamp of what its set-up saw; the cycle compares it before it runs, and completes the set-up where it no
  longer fits.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/relaximpl.h>

static PetscErrorCode StampSolver(const PC_MG_Levels *lv, KSP ksp, KCycleSolver *solver)
{
  const PetscBool finest = (PetscBool)(lv->level == lv->levels - 1);

  PetscFunctionBegin;
  solver->ksp       = ((PetscObject)ksp)->id;
  solver->solve     = ksp->ops->solve;
  solver->converged = ksp->converged;
  solver->norm      = ksp->normtype;
  solver->its       = ksp->max_it;
  solver->watched   = (PetscBool)(ksp->numbermonitors > 0);
  solver->guess     = (PetscBool)(lv->level == 0 && !ksp->guess_zero); /* elsewhere the cycle sets it */
  PetscCall(KCycleKSPOnlySweeps(ksp, &solver->sweeps));
  if (!ksp->pc) PetscFunctionReturn(PETSC_SUCCESS);
  solver->pc      = ((PetscObject)ksp->pc)->id;
  solver->pcstate = ((PetscObject)ksp->pc)->state;
  solver->apply   = ksp->pc->ops->apply;
  solver->ready   = (PetscBool)(ksp->pc->setupcalled != 0);
  if (!ksp->pc->mat) PetscFunctionReturn(PETSC_SUCCESS);
  solver->A      = ((PetscObject)ksp->pc->mat)->id;
  solver->Astate = finest ? 0 : ((PetscObject)ksp->pc->mat)->state; /* new values of the operator are for the set-up */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Stamp(const PC_MG_Levels *lv, KCycleStamp *stamp)
{
  const Mat transfer[2] = {lv->interpolate, lv->restrct};

  PetscFunctionBegin;
  (void)memset(stamp, 0, sizeof(*stamp)); /* holes, too: stamps are compared as memory */
  PetscCall(StampSolver(lv, lv->smoothd, &stamp->solver[0]));
  if (lv->smoothu == lv->smoothd) stamp->solver[1] = stamp->solver[0];
  else PetscCall(StampSolver(lv, lv->smoothu, &stamp->solver[1]));
  stamp->residual = lv->residual;
  stamp->cycles   = lv->cycles;
  for (int i = 0; i < 2; i++) {
    stamp->transfer[i] = transfer[i] ? ((PetscObject)transfer[i])->id : 0;
    stamp->values[i]   = transfer[i] ? ((PetscObject)transfer[i])->state : 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* At the end of set-up */
PetscErrorCode KCycleLevelsStamp(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  for (PetscInt l = 0; l < kc->nlevels; l++) PetscCall(Stamp(mg->levels[l], &kc->level[l].stamp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The program gave a level another operator, or other transfers, where they would be replaced again by those that
   set-up makes */
static PetscErrorCode RefuseOthers(PC pc, PetscInt l)
{
  PC_MG             *mg = (PC_MG *)pc->data;
  PC_MG_Levels      *lv = mg->levels[l];
  PC_KCycle         *kc = KCycleOf(pc);
  PetscBool          set, transfers, galerkin = (PetscBool)(mg->galerkin < PC_MG_GALERKIN_NONE);
  Mat                A    = NULL;
  const KCycleStamp *seen = &kc->level[l].stamp;

  PetscFunctionBegin;
  PetscCall(KSPGetOperatorsSet(lv->smoothd, &set, NULL));
  if (set) PetscCall(KSPGetOperators(lv->smoothd, &A, NULL));
  transfers = (PetscBool)(l > 0 && (!lv->interpolate || ((PetscObject)lv->interpolate)->id != seen->transfer[0] ||
                                    !lv->restrct || ((PetscObject)lv->restrct)->id != seen->transfer[1]));
  if (l == kc->nlevels - 1 && A == pc->mat) A = NULL; /* another one by MatHeaderReplace(), not of the level alone */
  PetscCheck((!KCycleMakesOperators(kc) && (!galerkin || l == kc->nlevels - 1)) || !A ||
                 ((PetscObject)A)->id == seen->solver[0].A,
             PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "Level %" PetscInt_FMT
             " was given another operator, but has one that is made at each set-up: call PCMGSetOperators() before the "
             "solver is set up, or after PCReset(), for all coarse levels",
             l);
  PetscCheck(!KCycleMakesOperators(kc) || !transfers, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "Level %" PetscInt_FMT " was given another interpolation or restriction, but levels on grids have their "
             "own: call PCMGSetInterpolation() before the solver is set up",
             l);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The type of PCMG's cycle as kappa: 1 for v, infinity for w. That of a level is 0 until one is chosen (see
  PCMGSetLevels_KCycle()). Types that differ from level to level are no kappa-cycle.
*/
static PetscErrorCode TakeCycleType(PC pc)
{
  PC_MG         *mg    = (PC_MG *)pc->data;
  PC_KCycle     *kc    = KCycleOf(pc);
  const MPI_Comm comm  = PetscObjectComm((PetscObject)pc);
  const PetscInt type  = mg->levels ? (PetscInt)mg->levels[mg->nlevels - 1]->cycles : 0;
  const PetscInt kappa = type == PC_MG_CYCLE_W ? PC_KCYCLE_KAPPA_W : 1;

  PetscFunctionBegin;
  for (PetscInt l = 1; mg->levels && l < mg->nlevels; l++) {
    PetscCheck((PetscInt)mg->levels[l]->cycles == type, comm, PETSC_ERR_ARG_INCOMP,
               "PCMGSetCycleTypeOnLevel() with types that differ is no kappa-cycle: choose the cycle with "
               "-pc_kcycle_kappa (v, f, w or a number)");
  }
  if (!type) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!kc->kappa_set || kc->kappa_of_cycle || (kappa == kc->kappa && !kc->automatic.wanted) ||
                 (kappa == PC_KCYCLE_KAPPA_W && mg->nlevels > 1 && kc->kappa >= mg->nlevels),
             comm, PETSC_ERR_ARG_INCOMP,
             "-pc_mg_cycle_type %s (PCMGSetCycleType()) is kappa %s, and kappa was chosen, too, as another: leave out "
             "one of them",
             type == PC_MG_CYCLE_W ? "w" : "v", type == PC_MG_CYCLE_W ? "infinity" : "1");
  if (kc->kappa_set && !kc->kappa_of_cycle) PetscFunctionReturn(PETSC_SUCCESS);
  kc->kappa     = kappa;
  kc->kappa_set = kc->kappa_of_cycle = PETSC_TRUE;
  PetscCall(PCKCycleFollowKappa(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What would be ignored is an error, and so is what PCMG cannot do */
PetscErrorCode PCKCycleRefuseChanges(PC pc)
{
  PC_MG     *mg    = (PC_MG *)pc->data;
  PC_KCycle *kc    = KCycleOf(pc);
  MPI_Comm   comm  = PetscObjectComm((PetscObject)pc);
  PetscBool  adapt = PETSC_FALSE, cr;

  PetscFunctionBegin;
  PetscCall(TakeCycleType(pc));
  PetscCall(PCMGGetAdaptInterpolation(pc, &adapt));
  PetscCheck(!adapt || mg->Nc > 0 || mg->coarseSpaceType == PCMG_ADAPT_GDSW, comm, PETSC_ERR_ARG_WRONGSTATE,
             "PCMGSetAdaptInterpolation() needs the number of vectors that interpolations are adapted to: "
             "-pc_mg_adapt_interp_n");
  PetscCall(PCMGGetAdaptCR(pc, &cr));
  PetscCheck(!cr, comm, PETSC_ERR_SUP,
             "-pc_mg_adapt_cr (PCMGSetAdaptCR()) has PCMG measure its levels: use it with -pc_type mg");
  for (PetscInt l = 0; kc->ready && mg->levels && l < kc->nlevels; l++) PetscCall(RefuseOthers(pc, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSPCHEBYSHEV estimates eigenvalues for new matrices only: now it does so, as before, but again */
PetscErrorCode PCKCycleEstimateAnew(KSP solver)
{
  KSP estimates = NULL;

  PetscFunctionBegin;
  PetscCall(KSPChebyshevEstEigGetKSP(solver, &estimates));
  if (estimates) PetscCall(KSPChebyshevEstEigSet(solver, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver that PCMGGetSmootherUp() has made is of the kind of the other one, unless the program has chosen another */
static PetscErrorCode CompleteNew(PC pc, const PC_MG_Levels *lv, int up)
{
  const KSP     ksp    = up ? lv->smoothu : lv->smoothd;
  PC_KCycle    *kc     = KCycleOf(pc);
  KCycleChoice *choice = kc->choice[lv->level];

  PetscFunctionBegin;
  choice[up].chose =
      (PetscBool)(choice[0].chose && !choice[up].theirs[KCYCLE_ASPECT_KSP] && !choice[up].theirs[KCYCLE_ASPECT_PC]);
  choice[up].sweeps = choice[0].sweeps;
  if (kc->use_structure && choice[up].chose) {
    const KCycleGridLevel *level = KCycleGridOf(kc, lv->level);

    PetscCall(PCRelaxSetLines(ksp->pc, level->lines, level->planes));
  }
  if (kc->options_used) PetscCall(KSPSetFromOptions(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  A solver without operators gets those of its level: after KSPReset(), or new from PCMGGetSmootherUp(), which has not
  seen the options either. Another PC has other eigenvalues
*/
static PetscErrorCode Complete(PC pc, PC_MG_Levels *lv, int up)
{
  const KSP           ksp = up ? lv->smoothu : lv->smoothd;
  PC_KCycle          *kc  = KCycleOf(pc);
  const KCycleSolver *seen, *now;
  KCycleStamp         stamp;
  PetscBool           set, eisenstat, other;
  Mat                 A = lv->A, P = lv->A;

  PetscFunctionBegin;
  PetscCall(Stamp(lv, &stamp));
  seen = &kc->level[lv->level].stamp.solver[up];
  now  = &stamp.solver[up];
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCEISENSTAT, &eisenstat));
  PetscCheck(!eisenstat || !kc->use_structure, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PCEISENSTAT on level %" PetscInt_FMT
             " needs an ordinary matrix: choose it before the solver is set up, or use -pc_kcycle_structured off",
             lv->level);
  PetscCall(KSPGetOperatorsSet(ksp, &set, NULL));
  if (!set) {
    PetscCall(KSPGetOperatorsSet(lv->smoothd, &set, NULL));
    if (set) PetscCall(KSPGetOperators(lv->smoothd, &A, &P));
    PetscCall(KSPSetOperators(ksp, A, P));
  }
  if (now->ksp != seen->ksp) PetscCall(CompleteNew(pc, lv, up));
  other = (PetscBool)(now->A != seen->A || now->Astate != seen->Astate);
  if (now->pc != seen->pc || now->apply != seen->apply || now->ready != seen->ready || other) {
    PetscCall(PCKCycleEstimateAnew(ksp));
    if (ksp->setupstage != KSP_SETUP_NEW) ksp->setupstage = KSP_SETUP_NEWMATRIX;
  }
  PetscCall(KSPSetUp(ksp));
  if (lv->level || (now->ready && !other)) PetscFunctionReturn(PETSC_SUCCESS);
  kc->ready = PETSC_FALSE; /* the solver of agglomerated levels is new, too */
  PetscCall(PCKCycleGatheredSetUp(pc));
  kc->ready = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompleteLevels(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(PetscInfo(pc, "The program has changed levels: completing their set-up\n"));
  PetscCall(PCKCycleSolversNotice(pc));
  PetscCall(PCKCycleRefuseChanges(pc));
  for (PetscInt l = 0; l < kc->nlevels; l++) {
    PetscCall(Complete(pc, mg->levels[l], 0));
    if (mg->levels[l]->smoothu != mg->levels[l]->smoothd) PetscCall(Complete(pc, mg->levels[l], 1));
  }
  PetscCall(PCKCycleFinishLevels(pc));
  PetscCall(PCKCycleSolversKeep(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before the cycle runs, and before each set-up. Galerkin products belong to the interpolations that they were made
   with */
PetscErrorCode KCycleLevelsCheck(PC pc)
{
  PC_MG      *mg = (PC_MG *)pc->data;
  PC_KCycle  *kc = KCycleOf(pc);
  KCycleStamp stamp;
  PetscBool   changed = PETSC_FALSE, transfers = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt l = 0; kc->ready && l < kc->nlevels; l++) {
    const KCycleStamp *seen = &kc->level[l].stamp;

    PetscCall(Stamp(mg->levels[l], &stamp));
    if (!memcmp(&stamp, seen, sizeof(stamp))) continue;
    changed = PETSC_TRUE;
    for (int i = 0; i < 2; i++)
      transfers =
          (PetscBool)(transfers || stamp.transfer[i] != seen->transfer[i] || stamp.values[i] != seen->values[i]);
  }
  if (changed) PetscCall(CompleteLevels(pc));
  if (!transfers || mg->galerkin >= PC_MG_GALERKIN_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  kc->ready       = PETSC_FALSE;
  pc->setupcalled = PETSC_FALSE;
  if (!kc->busy) PetscCall(PCSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next set-up begins with nothing */
PetscErrorCode PCKCycleStartAnew(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(PCKCycleModelReset(kc));
  PetscCall(PCKCycleCoarseForget(pc));
  if (kc->ngrids) PetscCall(PCKCycleLevelsDrop(pc));
  kc->ready       = PETSC_FALSE;
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Other solvers of level 0 are destroyed, and this one takes their place */
PetscErrorCode KCycleLevelsSetCoarse(PC pc, KSP coarse)
{
  PC_MG *mg = (PC_MG *)pc->data;

  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)coarse));
  PetscCall(KSPDestroy(&mg->levels[0]->smoothd));
  mg->levels[0]->smoothd = mg->levels[0]->smoothu = coarse;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With -pc_mg_log levels have events of PCMG's, and cycles a stage */
static PetscErrorCode LogAnew(PC_MG *mg, PetscLogStage stage)
{
  PetscFunctionBegin;
  mg->stageApply = stage;
  for (PetscInt l = 0; stage && l < mg->nlevels; l++) {
    PC_MG_Levels        *lv       = mg->levels[l];
    const char *const    names[]  = {"MGSetup", "MGSmooth", "MGResid", "MGInterp"};
    PetscLogEvent *const events[] = {&lv->eventsmoothsetup, &lv->eventsmoothsolve, &lv->eventresidual,
                                     &lv->eventinterprestrict};

    for (int i = 0; i < (l ? 4 : 2); i++) {
      char name[64];

      PetscCall(PetscSNPrintf(name, sizeof(name), "%s Level %" PetscInt_FMT, names[i], l));
      PetscCall(PetscLogEventRegister(name, PC_CLASSID, events[i]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A coarsest solver that the program has changed is kept when its levels go */
PetscErrorCode PCKCycleCoarseKeep(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (kc->coarse || !mg->levels || !KCycleLevelIsTheirs(kc, 0)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectReference((PetscObject)mg->levels[0]->smoothd));
  kc->coarse        = mg->levels[0]->smoothd;
  kc->coarse_choice = kc->choice[0][0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* and becomes that of the levels that there are */
PetscErrorCode PCKCycleCoarseInstall(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (!kc->coarse) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleLevelsSetCoarse(pc, kc->coarse));
  kc->choice[0][0] = kc->coarse_choice;
  if (!kc->gamg) PetscCall(KSPDestroy(&kc->coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another number of levels that was chosen here, and not by the program: what PCMG would forget stays. PCGAMG first
   chooses its own coarsest solver */
static PetscErrorCode ChangeLevels(PC pc, PetscInt nlevels, MPI_Comm *comms)
{
  PC_MG      *mg     = (PC_MG *)pc->data;
  const PC_MG before = *mg;
  PC_KCycle  *kc     = KCycleOf(pc);
  PetscBool   distinct;

  PetscFunctionBegin;
  PetscCall(PCKCycleSmoothersAreDistinct(pc, &distinct));
  if (!kc->gamg) PetscCall(PCKCycleCoarseKeep(pc));
  PetscCall(PCKCycleReplaceLevels(pc, nlevels, comms));
  if (before.cyclesperpcapply > 0) mg->cyclesperpcapply = before.cyclesperpcapply;
  mg->Nc = before.Nc;
  PetscCall(LogAnew(mg, before.stageApply));
  if (distinct) PetscCall(PCMGSetDistinctSmoothUp(pc));
  PetscCall(PCKCycleSolversMade(pc));
  if (!kc->gamg) PetscCall(PCKCycleCoarseInstall(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCMG destroys the levels that are there. A number that the program gives is kept */
PetscErrorCode PCMGSetLevels_KCycle(PC pc, PetscInt nlevels, MPI_Comm *comms)
{
  PC_MG          *mg    = (PC_MG *)pc->data;
  PC_KCycle      *kc    = KCycleOf(pc);
  const PetscBool first = (PetscBool)!mg->levels;
  PetscBool       ours  = (PetscBool)(kc->busy || kc->choosing);

  PetscFunctionBegin;
  /* set-up has found that there are fewer */
  if (kc->nlevels_asked && nlevels == kc->nlevels_asked) PetscFunctionReturn(PETSC_SUCCESS);
  if (!ours) {
    kc->nlevels_chosen = 0;
    kc->nlevels_asked  = 0;
    if (!kc->reading) kc->nlevels_option = 0;
  }
  if (nlevels == mg->nlevels) PetscFunctionReturn(PETSC_SUCCESS);
  kc->levels_used = PETSC_FALSE;
  if (!ours) kc->nlevels_fixed = PETSC_FALSE;
  if (kc->ready && !kc->busy) PetscCall(PCKCycleStartAnew(pc));
  if (ours) PetscCall(ChangeLevels(pc, nlevels, comms));
  else {
    PetscCall(PCKCycleReplaceLevels(pc, nlevels, comms));
    PetscCall(PCKCycleSolversMade(pc));
  }
  /* no type has been chosen; PCMG hands it on to other levels */
  for (PetscInt l = 0; first && l < mg->nlevels; l++) mg->levels[l]->cycles = (PCMGCycleType)0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
