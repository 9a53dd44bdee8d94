/*
  Levels that are all ours: structured, with PCRELAX in KSPRICHARDSON as smoothers and PCMG's own residual. The cycle
  runs on their arrays (see cycleimpl.h), without KSP, Mat or Vec below the finest level; the solver of the coarsest
  level is PETSc's. As soon as something else is asked of a level, the same hierarchy is that of PCMG.
*/
#include <petsckcycle/private/ghostsimpl.h>
#include "kcycleimpl.h"
#include <petsckcycle/private/relaximpl.h>

PetscErrorCode PCKCycleEngineReset(PC_KCycle *kc)
{
  PetscFunctionBegin;
  PetscCall(PCKCycleFMGReset(kc));
  if (kc->engine) PetscCall((*kc->engine->destroy)(&kc->devicecopy.levels));
  if (kc->engine) PetscCall((*kc->engine->destroy)(&kc->levels));
  PetscCall(PetscFree(kc->devicecopy.parts));
  kc->devicecopy.tried = PETSC_FALSE;
  PetscCall((*KCycleEngine_Double.destroy)(&kc->split.host));
  PetscCall(PetscFree(kc->split.parts));
  kc->engine = NULL;
  kc->waits  = PETSC_FALSE;
  for (PetscInt l = 1; kc->parts && l < kc->nlevels; l++)
    PetscCall(KCycleGhostsDestroy((KCycleGhosts **)&kc->parts[l].ghosts));
  if (kc->parts) PetscCall(PetscFree2(kc->parts[0].b, kc->parts[0].x));
  PetscCall(PetscFree(kc->parts));
  PetscCall(VecDestroy(&kc->correction));
  PetscCall(VecDestroy(&kc->residual));
  for (int i = 0; i < 2; i++) {
    PetscCall(VecDestroy(&kc->staged[i]));
    PetscCall(VecDestroy(&kc->devicecopy.vec[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The smoother of a level's solver, if that has nothing but sweeps; else what it has */
static PetscErrorCode TakeSmoother(KSP ksp, Mat A, KCycleLevelParts *parts, int which, size_t len, char why[])
{
  PC        pc;
  PetscBool sweeps;

  PetscFunctionBegin;
  PetscCall(KCycleKSPOnlySweeps(ksp, &sweeps));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCRelaxGetSmoother(pc, A, &parts->smoother[which], &parts->order[which]));
  if (!sweeps || !parts->smoother[which]) {
    PetscCall(PetscSNPrintf(
        why, len, "its smoother is not plain sweeps of PCRELAX (KSPRICHARDSON, undamped, without norms and monitors)"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KSPGetTolerances(ksp, NULL, NULL, NULL, &parts->its[which]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* why: what is not ours on level l, or empty */
static PetscErrorCode TakeLevel(PC_KCycle *kc, PetscInt l, const PC_MG_Levels *lv, size_t len, char why[])
{
  KCycleLevelParts      *parts = &kc->parts[l];
  const KCycleGridLevel *level = KCycleGridOf(kc, l);
  PetscBool              is;

  PetscFunctionBegin;
  why[0]       = 0;
  parts->st    = KCycleStencilOf(level->A);
  parts->calls = &kc->level[l].calls;
  parts->event = kc->level[l].event;
  parts->timer = &kc->level[l].timer;
  parts->tiled =
      (PetscBool)(kc->limits.tile_above >= 0 && KCycleBoxGlobalRows(parts->st->box) >= kc->limits.tile_above);
  parts->overlaps = KCycleBoxOverlaps(parts->st->box, kc->limits.overlap_above);
  parts->factor   = PCKCycleOvercorrectFactor(kc, l);
  if (PCKCycleCounts(kc)) parts->traffic = &kc->level[l].traffic;
  if (kc->profiling.wanted) parts->profile = &kc->level[l].profile;
  if (!l) {
    PetscCall(PetscMalloc2(parts->st->box->npoints, &parts->b, parts->st->box->npoints, &parts->x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatStencilTransferIs(lv->interpolate, &is));
  if (lv->residual != PCMGResidualDefault) PetscCall(PetscSNPrintf(why, len, "the program computes its residuals"));
  else if (lv->A != level->A) PetscCall(PetscSNPrintf(why, len, "it has another operator"));
  else if (!is || lv->interpolate != lv->restrct)
    PetscCall(PetscSNPrintf(why, len, "it has another interpolation or restriction"));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  parts->tr = KCycleTransferOf(lv->interpolate);
  for (int up = 0; up < 2 && !why[0]; up++)
    PetscCall(TakeSmoother(up ? lv->smoothu : lv->smoothd, lv->A, parts, up, len, why));
  kc->level[l].fused =
      (PetscBool)(!why[0] && KCycleSmootherIsFused(parts->smoother[0]) && KCycleSmootherIsFused(parts->smoother[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The colour of the points that the next level keeps comes first */
static PetscErrorCode SetOrigin(const PC_KCycle *kc, PetscInt l, KSP smoother)
{
  const PetscInt none[3] = {0, 0, 0};
  PC             pc;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(smoother, &pc));
  PetscCall(PCRelaxSetOrigin(pc, kc->use_structure ? KCycleGridOf(kc, l)->origin : none));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Says why PCMG runs the levels, or nothing */
static PetscErrorCode TakeLevels(PC pc, size_t len, char why[])
{
  PC_MG     *mg        = (PC_MG *)pc->data;
  PC_KCycle *kc        = KCycleOf(pc);
  char       what[256] = "";

  PetscFunctionBegin;
  why[0] = 0;
  if (!kc->use_structure) {
    PetscCall(PetscSNPrintf(why, len, "levels are not structured: %s", kc->general));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (kc->rhs) {
    PetscCall(PetscSNPrintf(why, len, "a smoother changes its right side"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscCalloc1(kc->nlevels, &kc->parts));
  for (PetscInt l = 0; l < kc->nlevels && !what[0]; l++) {
    PetscCall(TakeLevel(kc, l, mg->levels[l], sizeof(what), what));
    if (what[0]) PetscCall(PetscSNPrintf(why, len, "level %" PetscInt_FMT ": %s", l + kc->gathered.below, what));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cycle runs before a solver has shown itself: levels are what they are without one */
PetscErrorCode PCKCycleEngineSettle(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (!kc->waits) PetscFunctionReturn(PETSC_SUCCESS);
  kc->followed = PETSC_TRUE;
  PetscCall(PCKCycleEngineSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does the cycle run on arrays? */
PetscErrorCode PCKCycleEngineIsUsed(PC pc, PetscBool transpose, PetscBool *used)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(PCKCycleEngineSettle(pc)); /* without PCPreSolve() */
  *used = (PetscBool)(kc->engine != NULL);
  if (*used && transpose) PetscCall(KCycleOperatorsAreSymmetric(kc, used));
  PetscCheck(*used || !kc->engine || kc->engine->inplace, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_kcycle_precision single has a transpose for symmetric operators only, and this one is not symmetric: "
             "use double");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* When solvers are what they will be */
PetscErrorCode PCKCycleEngineSetUp(PC pc)
{
  PC_MG            *mg = (PC_MG *)pc->data;
  PC_KCycle        *kc = KCycleOf(pc);
  const KCycleScan *facts;
  PetscBool         single;

  PetscFunctionBegin;
  PetscCall(PCKCycleEngineReset(kc));
  for (PetscInt l = 1; l < kc->nlevels; l++) {
    PetscCall(SetOrigin(kc, l, mg->levels[l]->smoothd));
    PetscCall(SetOrigin(kc, l, mg->levels[l]->smoothu));
    kc->level[l].fused = PETSC_FALSE;
    PetscCall(PetscMemzero(&kc->level[l].traffic, sizeof(kc->level[l].traffic)));
  }
  PetscCall(TakeLevels(pc, sizeof(kc->handed), kc->handed));
  PetscCheck(!kc->handed[0] || kc->precision != PC_KCYCLE_PRECISION_SINGLE, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_SUP,
             "-pc_kcycle_precision single is for structured levels with smoothers of PCRELAX, and here %s", kc->handed);
  PetscCheck(!kc->handed[0] || !kc->count, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_kcycle_count_bytes is for structured levels with smoothers of PCRELAX, and here %s", kc->handed);
  kc->symmetric_known = PETSC_FALSE;
  PetscCall(PCKCyclePlaceChoose(pc));
  if (kc->handed[0]) PetscCall(PCKCycleEngineReset(kc));
  PetscCall(PCKCycleFMGSetUp(pc));
  PetscCall(PCKCycleProfileFollow(kc));
  if (kc->handed[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStencilScan(kc->grids[0].A, &facts));
  PetscCall(PCKCycleChoosePrecision(pc, facts, &single));
  kc->engine = single ? &KCycleEngine_Single : &KCycleEngine_Double;
  if (!kc->engine->inplace && kc->finer.exists)
    PetscCall(VecDuplicate(mg->levels[kc->nlevels - 1]->r, &kc->correction));
  PetscCall(PetscObjectStateGet((PetscObject)kc->grids[0].A, &kc->attached));
  if (!kc->waits) PetscCall(PCKCycleGhostsSetUp(pc));
  PetscCall(PCKCyclePlaceCreateLevels(pc, facts->scale));
  PetscCall(PCKCycleInverseSetUp(pc));
  PetscCall(PCKCycleBlockSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}
