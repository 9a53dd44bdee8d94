/*
  Levels that are all ours: structured, with PCRELAX in KSPRICHARDSON as smoothers and PCMG's own residual. The cycle
  runs on their arrays (see cycleimpl.h), without KSP, Mat or Vec below the finest level; the solver of the coarsest
  level is PETSc's. As soon as somebody wants something else of a level, the same hierarchy is that of PCMG.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/relaximpl.h>
#include <float.h>

/* What the functions of a run work with */
typedef struct {
  PC                          pc;
  KCycleStop                  stop;
  PetscInt                    tests;
  PCRichardsonConvergedReason reason;
} Solve;

PetscErrorCode PCKCycleEngineReset(PC_KCycle *kc)
{
  PetscFunctionBegin;
  PetscCall(PCKCycleThereReset(kc));
  PetscCall(PCKCycleFMGReset(kc));
  if (kc->engine) PetscCall((*kc->engine->destroy)(&kc->levels));
  PetscCall((*KCycleEngine_Double.destroy)(&kc->split.host));
  PetscCall(PetscFree(kc->split.parts));
  kc->engine = NULL;
  kc->waits  = PETSC_FALSE;
  PetscCall(PCKCycleGhostsReset(kc));
  if (kc->parts) PetscCall(PetscFree2(kc->parts[0].b, kc->parts[0].x));
  PetscCall(PetscFree(kc->parts));
  PetscCall(VecDestroy(&kc->correction));
  PetscCall(PCKCyclePlaceReset(kc));
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
  const KCycleStructure *level = &kc->structure[kc->nstructured - 1 - l];
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
  else if (lv->cr) PetscCall(PetscSNPrintf(why, len, "compatible relaxation is watched (-pc_mg_adapt_cr)"));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  parts->tr = KCycleTransferOf(lv->interpolate);
  PetscCall(TakeSmoother(lv->smoothd, lv->A, parts, 0, len, why));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (lv->smoothu == lv->smoothd) {
    parts->smoother[1] = parts->smoother[0];
    parts->its[1]      = parts->its[0];
    parts->order[1]    = parts->order[0];
  } else PetscCall(TakeSmoother(lv->smoothu, lv->A, parts, 1, len, why));
  kc->level[l].fused =
      (PetscBool)(!why[0] && KCycleSmootherIsFused(parts->smoother[0]) && KCycleSmootherIsFused(parts->smoother[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The colour of the points that the next level keeps comes first */
static PetscErrorCode GiveOrigin(const PC_KCycle *kc, PetscInt l, KSP smoother)
{
  const PetscInt none[3] = {0, 0, 0};
  PC             pc;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(smoother, &pc));
  PetscCall(PCRelaxSetOrigin(pc, kc->use_structure ? kc->structure[kc->nstructured - 1 - l].origin : none));
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

/* The transposed cycle on arrays is that of operators which are symmetric */
static PetscErrorCode IsSymmetric(PC_KCycle *kc, PetscBool *symmetric)
{
  PetscFunctionBegin;
  if (!kc->symmetric_known) {
    kc->symmetric = PETSC_TRUE;
    for (PetscInt i = 0; i < kc->nstructured - 1 && kc->symmetric; i++)
      PetscCall(MatStencilIsNearlySymmetric(kc->structure[i].A, &kc->symmetric));
    kc->symmetric_known = PETSC_TRUE;
  }
  *symmetric = kc->symmetric;
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
  if (*used && transpose) PetscCall(IsSymmetric(kc, used));
  PetscCheck(*used || !kc->engine || kc->engine->borrows, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_kcycle_precision single has a transpose for symmetric operators only, and this one is not symmetric: "
             "use double");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the coarsest level, in PETSc's vectors: their norms are kept, so that arrays are not theirs */
static PetscErrorCode SolveCoarsest(void *ctx, const KCycleVisit *visit, const PetscScalar *b, PetscScalar *x)
{
  const Solve       *solve = (Solve *)ctx;
  PC_MG_Levels      *lv    = ((PC_MG *)solve->pc->data)->levels[0];
  PC_KCycle         *kc    = KCycleOf(solve->pc);
  const PetscScalar *xr;
  PetscScalar       *a;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(lv->b, &n));
  PetscCall(VecGetArrayWrite(lv->b, &a));
  PetscCall(PetscArraycpy(a, b, n));
  PetscCall(VecRestoreArrayWrite(lv->b, &a));
  if (!kc->engine->borrows && !kc->gathered.ours) PetscCall(KCycleCoarsestMakeConsistent(lv, lv->b));
  if (visit->zeroguess && kc->coarse_reads) PetscCall(VecZeroEntries(lv->x));
  else if (!visit->zeroguess) {
    PetscCall(VecGetArrayWrite(lv->x, &a));
    PetscCall(PetscArraycpy(a, x, n));
    PetscCall(VecRestoreArrayWrite(lv->x, &a));
  }
  if (kc->gathered.ours) PetscCall(PCKCycleGoOn(solve->pc, visit, lv->b, lv->x));
  else {
    PetscCall(visit->transpose ? KSPSolveTranspose(lv->smoothd, lv->b, lv->x) : KSPSolve(lv->smoothd, lv->b, lv->x));
    PetscCall(KSPCheckSolve(lv->smoothd, solve->pc, lv->x));
  }
  PetscCall(VecGetArrayRead(lv->x, &xr));
  PetscCall(PetscArraycpy(x, xr, n));
  PetscCall(VecRestoreArrayRead(lv->x, &xr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Times the sum over directions of 1 in one half of the grid and -1 in the other */
static void TimesHalves(const KCycleBox *box, PetscScalar a[])
{
  for (PetscInt i = 0, rest; i < box->npoints; i++) {
    PetscReal sum = 0;

    rest = i;
    for (int d = 0; d < 3; rest /= box->n[d++])
      if (box->size[d] > 1) sum += 2 * (box->start[d] + rest % box->n[d]) < box->size[d] ? 1 : -1;
    a[i] *= sum;
  }
}

/* The largest entry of A^-1 D 1, D the diagonal of A: so many times as large as a right side are the numbers whose
   difference a residual is. The coarsest problem tells; from level to level it grows as the sum of the diagonal does.
   With a kernel, the sum over directions of 1 in one half of the grid and -1 in the other */
static PetscErrorCode FindGain(PC pc, const KCycleScan *facts, PetscReal *gain)
{
  PC_MG_Levels *lv    = ((PC_MG *)pc->data)->levels[0];
  Solve         solve = {pc, {0, 0, 0}, 0, (PCRichardsonConvergedReason)0};
  KCycleVisit   visit = {1, 1, PETSC_FALSE, PETSC_FALSE, PETSC_TRUE, PETSC_FALSE};
  PC_KCycle    *kc    = KCycleOf(pc);
  PetscScalar  *a, *x;
  PetscReal     sum, most;
  PetscBool     rests;
  Vec           b, to;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(lv->b, &b));
  PetscCall(VecDuplicate(lv->b, &to));
  PetscCall(MatGetDiagonal(kc->structure[kc->nstructured - 1].A, b));
  PetscCall(VecNorm(b, NORM_1, &sum));
  PetscCall(VecGetArray(b, &a));
  if (kc->kernel != KCYCLE_REGULAR) TimesHalves(kc->parts[0].st->box, a);
  PetscCall(VecRestoreArray(b, &a));
  if (!kc->gathered.ours) PetscCall(KCycleCoarsestMakeConsistent(lv, b));
  PetscCall(VecGetArray(b, &a));
  PetscCall(VecGetArray(to, &x));
  rests = kc->timing.at_rest;
  if (!rests) PetscCall(PCKCycleModelRest(pc, PETSC_TRUE));
  PetscCall(SolveCoarsest(&solve, &visit, a, x));
  if (!rests) PetscCall(PCKCycleModelRest(pc, PETSC_FALSE));
  PetscCall(VecRestoreArray(to, &x));
  PetscCall(VecRestoreArray(b, &a));
  PetscCall(VecNorm(to, NORM_INFINITY, &most));
  *gain = sum > 0 ? most * (facts->sum[0] + facts->sum[1] + facts->sum[2]) / sum : 0;
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does the method compute its residuals from the solution, or as that changes? Then rounding in corrections does not
   spoil them. KSPGMRES and others take the preconditioner for a linear function; KSPRICHARDSON iterates inside of the
   cycle, in double precision alone */
static PetscErrorCode IsTolerant(KSP ksp, PetscBool *tolerant)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, tolerant, KSPCG, KSPKCG, KSPFCG, KSPFGMRES, KSPGCR, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solver has shown itself */
PetscErrorCode PCKCyclePrecisionFollow(PC pc, KSP ksp)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscBool  tolerant;

  PetscFunctionBegin;
  PetscCall(IsTolerant(ksp, &tolerant));
  kc->followed = PETSC_TRUE;
  if (tolerant == kc->tolerant && !kc->waits) PetscFunctionReturn(PETSC_SUCCESS);
  kc->tolerant = tolerant;
  if (!kc->engine || kc->precision != PC_KCYCLE_PRECISION_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCKCycleEngineSetUp(pc));
  PetscCall(PCKCycleModelChanged(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Have all smoothers kernels in single precision? Those that a program has registered may have none */
static PetscErrorCode HaveSingle(const PC_KCycle *kc, PetscBool *have)
{
  PetscFunctionBegin;
  *have = PETSC_TRUE;
  for (PetscInt l = 1; l < kc->nlevels; l++) {
    for (int w = 0; w < 2 && *have; w++) PetscCall(KCycleSmootherExists_Single(kc->parts[l].smoother[w]->name, have));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why levels cannot be in single precision, or NULL */
static const char *NotSingle(const PC_KCycle *kc, const KCycleScan *facts, PetscBool symmetric)
{
#if defined(PETSC_USE_COMPLEX)
  (void)kc;
  (void)facts;
  (void)symmetric;
  return "numbers are complex";
#else
  return kc->nlevels == 1                    ? "there is one level"
         : kc->followed && !kc->tolerant     ? "the Krylov method takes it for a linear function"
         : kc->at == KCYCLE_MEMORY_DEVICE    ? "levels are on a device"
         : !symmetric                        ? "the operator is not symmetric"
         : facts->jump > KCYCLE_ROUNDED_JUMP ? "coefficients jump too much"
         : kc->walls || facts->walls         ? "there may be pockets that hardly anything is coupled to"
                                             : NULL;
#endif
}

/* Are levels in single precision? Where that is to be found out, kc->precise says why they are not */
static PetscErrorCode ChoosePrecision(PC pc, const KCycleScan *facts, PetscBool *single)
{
  PC_KCycle  *kc        = KCycleOf(pc);
  PetscBool   symmetric = PETSC_FALSE, have;
  PetscReal   gain      = 0, rounding;
  const char *why;

  PetscFunctionBegin;
  kc->precise[0] = 0;
  *single        = (PetscBool)(kc->precision == PC_KCYCLE_PRECISION_SINGLE && kc->nlevels > 1);
  if (kc->precision != PC_KCYCLE_PRECISION_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  kc->engine = &KCycleEngine_Double; /* while it is not known */
  if (kc->tolerant || !kc->followed) PetscCall(IsSymmetric(kc, &symmetric));
  PetscCall(HaveSingle(kc, &have));
  why = have ? NotSingle(kc, facts, symmetric) : "a smoother that the program has registered has no kernels for it";
  if (why) {
    PetscCall(PetscStrncpy(kc->precise, why, sizeof(kc->precise)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(FindGain(pc, facts, &gain));
  PetscCall(PetscInfo(pc, "A^-1 D 1 has entries of up to %g\n", (double)gain));
  rounding = gain * FLT_EPSILON / 2;
  *single  = (PetscBool)(rounding <= KCYCLE_ROUNDED);
  if (!*single)
    PetscCall(PetscSNPrintf(kc->precise, sizeof(kc->precise),
                            "rounding of single precision would be %.2g of a right side", (double)rounding));
  kc->waits = (PetscBool)(*single && !kc->followed);
  if (!kc->waits) PetscFunctionReturn(PETSC_SUCCESS);
  *single = PETSC_FALSE;
  PetscCall(PetscStrncpy(kc->precise, "the Krylov method is known when a solve begins", sizeof(kc->precise)));
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
    PetscCall(GiveOrigin(kc, l, mg->levels[l]->smoothd));
    PetscCall(GiveOrigin(kc, l, mg->levels[l]->smoothu));
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
  if (kc->handed[0]) {
    PetscCall(PCKCycleEngineReset(kc));
    PetscCall(PCKCycleFMGSetUp(pc));
    PetscCall(PCKCycleProfileFollow(kc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCKCycleFMGSetUp(pc));
  PetscCall(PCKCycleProfileFollow(kc));
  PetscCall(MatStencilScan(kc->structure[0].A, &facts));
  PetscCall(ChoosePrecision(pc, facts, &single));
  kc->engine = single ? &KCycleEngine_Single : &KCycleEngine_Double;
  if (!kc->engine->borrows && kc->finer.exists)
    PetscCall(VecDuplicate(mg->levels[kc->nlevels - 1]->r, &kc->correction));
  PetscCall(PetscObjectStateGet((PetscObject)kc->structure[0].A, &kc->attached));
  if (!kc->waits) PetscCall(PCKCycleGhostsSetUp(pc));
  PetscCall(PCKCyclePlaceCreateLevels(pc, facts->scale));
  PetscCall(PCKCycleInverseSetUp(pc));
  PetscCall(PCKCycleBlockSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels on the host go on with the visit of those on a device */
static PetscErrorCode GoOnOnHost(void *ctx, const KCycleVisit *visit, const PetscScalar *b, PetscScalar *x)
{
  PC_KCycle *kc  = KCycleOf(((Solve *)ctx)->pc);
  KCycleRun  run = {0};

  run.visit     = *visit;
  run.ctx       = ctx;
  run.coarsest  = SolveCoarsest;
  run.continues = (PetscBool)(kc->coarse_continues || kc->gathered.ours);
  KCycleCall((*KCycleEngine_Double.run)(kc->split.host, &run, b, x));
  return PETSC_SUCCESS;
}

/* Compares the residual behind the pre-smoother, as PCMG does */
static PetscErrorCode Test(void *ctx, PetscReal sum, PetscBool *stop)
{
  Solve    *solve = (Solve *)ctx;
  PetscReal all;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&sum, &all, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)solve->pc)));
  solve->tests++;
  PetscCall(PCKCycleTestNorm(solve->pc, PetscSqrtReal(all), &solve->stop, &solve->reason));
  *stop = (PetscBool)(solve->reason != 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solutions of levels, for who watches full multigrid */
static PetscErrorCode See(void *ctx, PetscInt l, int stage, PetscScalar *x)
{
  PetscFunctionBegin;
  PetscCall(PCKCycleFMGSee(((Solve *)ctx)->pc, l, stage, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Residuals of fused levels are in cache only: their vectors get no memory */
static PetscBool NeedsResidual(const PC_KCycle *kc, PetscInt l, const KCycleRun *run)
{
  if (run->test && l == kc->nlevels - 1 && kc->parts[l].ghosts) return PETSC_TRUE; /* a residual of its own */
  return (PetscBool)(!kc->level[l].fused || (run->visit.full && run->visit.transpose));
}

/* The finest level that works on arrays of PCMG's vectors, or 0 */
static PetscInt LentTo(const PC_KCycle *kc)
{
  if (kc->at == KCYCLE_MEMORY_DEVICE) return kc->split.level;
  return kc->engine->borrows ? kc->nlevels - 1 : 0;
}

/* Levels between the finest and the coarsest lend the arrays of their vectors, and all those of residuals */
static PetscErrorCode GetArrays(PC pc, PC_KCycle *kc, const KCycleRun *run)
{
  PC_MG         *mg  = (PC_MG *)pc->data;
  const PetscInt top = LentTo(kc);

  PetscFunctionBegin;
  for (PetscInt l = 1; l <= top; l++) {
    if (NeedsResidual(kc, l, run)) PetscCall(VecGetArray(mg->levels[l]->r, &kc->parts[l].r));
    if (l == top) continue;
    PetscCall(VecGetArray(mg->levels[l]->b, &kc->parts[l].b));
    PetscCall(VecGetArray(mg->levels[l]->x, &kc->parts[l].x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreArrays(PC pc, PC_KCycle *kc, const KCycleRun *run)
{
  PC_MG         *mg  = (PC_MG *)pc->data;
  const PetscInt top = LentTo(kc);

  PetscFunctionBegin;
  for (PetscInt l = 1; l <= top; l++) {
    if (NeedsResidual(kc, l, run)) PetscCall(VecRestoreArray(mg->levels[l]->r, &kc->parts[l].r));
    if (l == top) continue;
    PetscCall(VecRestoreArray(mg->levels[l]->b, &kc->parts[l].b));
    PetscCall(VecRestoreArray(mg->levels[l]->x, &kc->parts[l].x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A preconditioner that is kept sweeps with the operator's new values */
static PetscErrorCode Renew(PC pc, PC_KCycle *kc)
{
  const PC_MG_Levels *fine = ((PC_MG *)pc->data)->levels[kc->nlevels - 1];
  PC                  smoother;
  PetscObjectState    state;

  PetscFunctionBegin;
  if (!kc->engine->borrows || kc->nlevels == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectStateGet((PetscObject)kc->structure[0].A, &state));
  PetscCall(MatStencilBring(kc->structure[0].A));
  if (state != kc->attached && kc->parts[kc->nlevels - 1].ghosts) PetscCall(PCKCycleEngineSetUp(pc));
  else if (state != kc->attached) PetscCall((*kc->engine->renew)(kc->levels));
  kc->attached = state;
  PetscCall(KSPGetPC(fine->smoothd, &smoother));
  PetscCall(PCRelaxRenew(smoother));
  if (fine->smoothu == fine->smoothd) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetPC(fine->smoothu, &smoother));
  PetscCall(PCRelaxRenew(smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the arrays of vectors */
static PetscErrorCode RunOnHost(PC_KCycle *kc, const KCycleRun *run, Vec b, Vec x)
{
  const PetscScalar *ba;
  PetscScalar       *xa;
  PetscErrorCode     ierr;

  KCycleCall(VecGetArrayRead(b, &ba));
  KCycleCall(VecGetArray(x, &xa));
  ierr = (*kc->engine->run)(kc->levels, run, ba, xa);
  KCycleCall(VecRestoreArray(x, &xa));
  KCycleCall(VecRestoreArrayRead(b, &ba));
  KCycleCall(ierr);
  return PETSC_SUCCESS;
}

/* Vectors are in the order of the finest grid; on the host, unless levels are on a device */
static PetscErrorCode Run(Solve *solve, KCycleRun *run, Vec b, Vec x)
{
  PC             pc = solve->pc;
  PC_MG         *mg = (PC_MG *)pc->data;
  PC_KCycle     *kc = KCycleOf(pc);
  PetscErrorCode ierr;

  run->continues = (PetscBool)(kc->coarse_continues || kc->gathered.ours || kc->split.level);
  run->ctx       = solve;
  run->coarsest  = kc->split.level ? GoOnOnHost : SolveCoarsest;
  KCycleCall(PCKCycleGraphIsUsed(pc, &run->replays));
  KCycleCall(Renew(pc, kc));
  if (mg->stageApply) KCycleCall(PetscLogStagePush(mg->stageApply));
  KCycleCall(GetArrays(pc, kc, run));
  if (run->visit.full) KCycleCall(PCKCycleFMGLendRhs(kc, PETSC_TRUE));
  if (run->visit.full) KCycleCall(PCKCycleFMGWatch(pc, run));
  if (run->watched) run->monitor = See;
  PCKCycleProfileStart(kc);
  ierr = kc->at == KCYCLE_MEMORY_DEVICE ? PCKCyclePlaceRun(kc, run, b, x) : RunOnHost(kc, run, b, x);
  PCKCycleProfileStop(kc, run->visit.full ? 1 : run->visit.cycles);
  if (run->visit.full) KCycleCall(PCKCycleFMGLendRhs(kc, PETSC_FALSE));
  KCycleCall(RestoreArrays(pc, kc, run));
  if (mg->stageApply) KCycleCall(PetscLogStagePop());
  KCycleCall(ierr);
  return PETSC_SUCCESS;
}

/* x <- x + M (b - A x), or with transposes, where a run starts from zero */
static PetscErrorCode Correct(Solve *solve, KCycleRun *run, Vec b, Vec x)
{
  PC_KCycle    *kc = KCycleOf(solve->pc);
  PC_MG_Levels *fine;

  fine                 = ((PC_MG *)solve->pc->data)->levels[kc->nlevels - 1];
  run->visit.zeroguess = PETSC_TRUE;
  if (!kc->correction) KCycleCall(VecDuplicate(fine->r, &kc->correction));
  KCycleCall(MatResidual(fine->A, b, x, fine->r));
  KCycleCall(Run(solve, run, fine->r, kc->correction));
  KCycleCall(VecAXPY(x, 1, kc->correction));
  return PETSC_SUCCESS;
}

/* As a preconditioner, or as levels that go on with the visit of finer ones */
PetscErrorCode PCKCycleEngineApply(PC pc, const KCycleVisit *visit, Vec b, Vec x)
{
  PC_KCycle *kc    = KCycleOf(pc);
  Solve      solve = {pc, {0, 0, 0}, 0, (PCRichardsonConvergedReason)0};
  KCycleRun  run   = {0};

  run.visit = *visit;
  if (visit->zeroguess || kc->engine->borrows) KCycleCall(Run(&solve, &run, b, x));
  else KCycleCall(Correct(&solve, &run, b, x));
  return PETSC_SUCCESS;
}

/* As a preconditioner, on arrays of a device. Nothing is recorded by itself: the caller may be doing so */
PetscErrorCode PCKCycleEngineApplyThere(PC pc, const PetscScalar *b, PetscScalar *x)
{
  PC_KCycle *kc    = KCycleOf(pc);
  Solve      solve = {pc, {0, 0, 0}, 0, (PCRichardsonConvergedReason)0};
  KCycleRun  run   = {0};

  run.visit     = KCycleApplication(pc, kc->kappa, PETSC_FALSE);
  run.continues = (PetscBool)(kc->coarse_continues || kc->gathered.ours);
  run.ctx       = &solve;
  run.coarsest  = SolveCoarsest;
  KCycleCall((*kc->engine->run)(kc->there.levels, &run, b, x));
  return PETSC_SUCCESS;
}

/* Cycles that go on from x, on arrays of the caller; its: how many at most, and how many there were. A target of zero:
   no test */
static PetscErrorCode IterateInPlace(Solve *solve, PetscBool zeroguess, Vec b, Vec x, PetscInt *its)
{
  PC_KCycle *kc  = KCycleOf(solve->pc);
  KCycleRun  run = {0};

  PetscFunctionBegin;
  run.visit.kappa     = kc->kappa;
  run.visit.cycles    = *its;
  run.visit.zeroguess = zeroguess;
  run.test            = solve->stop.target > 0 ? Test : NULL;
  PetscCall(Run(solve, &run, b, x));
  if (solve->reason) *its = solve->tests - 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Corrections of residuals, which are computed with the operator itself */
static PetscErrorCode IterateByCorrections(Solve *solve, PetscBool zeroguess, Vec b, Vec x, PetscInt *its)
{
  PC_KCycle    *kc  = KCycleOf(solve->pc);
  KCycleRun     run = {0};
  PetscReal     norm;
  PetscInt      i;
  PC_MG_Levels *fine = ((PC_MG *)solve->pc->data)->levels[kc->nlevels - 1];

  PetscFunctionBegin;
  run.visit.kappa     = kc->kappa;
  run.visit.cycles    = 1;
  run.visit.zeroguess = PETSC_TRUE;
  if (zeroguess) PetscCall(VecZeroEntries(x));
  if (!kc->correction) PetscCall(VecDuplicate(fine->r, &kc->correction));
  for (i = 0; i < *its; i++) {
    PetscCall(MatResidual(fine->A, b, x, fine->r));
    if (solve->stop.target > 0) {
      PetscCall(VecNorm(fine->r, NORM_2, &norm));
      PetscCall(PCKCycleTestNorm(solve->pc, norm, &solve->stop, &solve->reason));
    }
    if (solve->reason) break;
    PetscCall(Run(solve, &run, fine->r, kc->correction));
    PetscCall(VecAXPY(x, 1, kc->correction));
  }
  *its = i;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As KSPRICHARDSON asks for */
PetscErrorCode PCKCycleEngineIterate(PC pc, const KCycleStop *stop, PetscBool zeroguess, Vec b, Vec x, PetscInt *its,
                                     PCRichardsonConvergedReason *reason)
{
  PC_KCycle *kc    = KCycleOf(pc);
  Solve      solve = {pc, *stop, 0, (PCRichardsonConvergedReason)0};

  PetscFunctionBegin;
  if (kc->engine->borrows) PetscCall(IterateInPlace(&solve, zeroguess, b, x, its));
  else PetscCall(IterateByCorrections(&solve, zeroguess, b, x, its));
  *reason = solve.reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}
