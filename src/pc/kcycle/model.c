/*
  The time of a cycle: T = alpha launches + beta operations + gamma messages (see modelimpl.h).

  What a visit of a level comes to follows from the level. What it takes is timed in a few cycles, visit by visit, and
  the times of visits, summed up, are the time that is predicted; alpha, beta and gamma are fitted to them. So a level
  that fits in cache may be faster than its operations say. Levels on fewer processes time themselves.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/relaximpl.h>

PetscErrorCode PCKCycleModelReset(PC_KCycle *kc)
{
  KCycleTiming *timing = &kc->timing;

  PetscFunctionBegin;
  PetscCall(PCKCycleAutoReset(kc));
  PetscCall(PetscFree(timing->model.level));
  for (PetscInt l = 0; l < kc->nlevels; l++) /* an error may have left clocks running */
    kc->level[l].timer.seconds[0] = kc->level[l].timer.seconds[1] = NULL;
  PetscCall(PetscFree(timing->samples));
  timing->ready = timing->described = timing->paused = PETSC_FALSE;
  timing->compared                                   = 0;
  timing->measured = timing->predicted = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A level of the cycle on arrays. A step of a smoother, a residual and a transfer exchange halos once each; with ghost
   points there are one exchange going down and two going up */
static PetscErrorCode DescribeArrays(const PC_KCycle *kc, PetscInt l, KCycleModelLevel *level)
{
  const KCycleLevelParts *parts  = &kc->parts[l];
  const KCycleBox        *box    = parts->st->box;
  const PetscBool         fused  = kc->level[l].fused;
  PetscReal               sweeps = 0, steps = 0;
  size_t                  length;

  PetscFunctionBegin;
  level->launches = fused ? 0 : 3;
  for (int i = 0; i < 2; i++) {
    const KCycleSmoother *s     = parts->smoother[i];
    const KCycleSweeps    asked = {parts->its[i], PETSC_FALSE, (PetscBool)i, parts->order[i], 0, NULL};
    const PetscInt        both  = parts->order[i] == PC_RELAX_ORDER_SYMMETRIC ? 2 : 1;

    level->launches += parts->ghosts ? 1 : (PetscReal)KCycleSmootherTrips(s, &asked, fused);
    sweeps += (PetscReal)(parts->its[i] * both * s->trips);
    steps += (PetscReal)(parts->its[i] * both * PetscMax(s->nsteps, s->trips));
    PetscCall(PetscStrlen(level->solver, &length));
    PetscCall(PetscSNPrintf(level->solver + length, sizeof(level->solver) - length, "%s%" PetscInt_FMT "*%s",
                            i ? "," : "", parts->its[i], s->name));
  }
  PetscCall(PetscStrlcat(level->solver, kc->engine->inplace ? ",double" : ",single", sizeof(level->solver)));
  if (kc->at == KCYCLE_MEMORY_DEVICE && l > kc->split.level) level->launches = steps + 3; /* kernels */
  level->operations = level->rows * ((PetscReal)parts->st->shape.ncoeffs * (sweeps + 1) + 4);
  level->messages   = !KCycleBoxTalks(box) ? 0 : parts->ghosts ? 3 : steps + 3;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A level of PCMG: an iteration is a product with the operator and an application of a preconditioner that costs as
   much. The coarsest level is one launch, and its operations are the entries of its operator */
static PetscErrorCode DescribeSolvers(PC_MG_Levels *lv, PetscMPIInt size, KCycleModelLevel *level)
{
  PetscReal      sweeps = 0;
  PetscLogDouble entries, transfer, bytes;
  size_t         length;

  PetscFunctionBegin;
  PetscCall(KCycleMatSize(lv->A, &entries, &bytes));
  PetscCall(KCycleMatSize(lv->interpolate, &transfer, &bytes));
  for (int i = 0; i < (lv->level ? 2 : 1); i++) {
    const KSP ksp = i ? lv->smoothu : lv->smoothd;
    KSPType   type;
    PCType    pctype;
    PC        pc;
    PetscInt  its;

    PetscCall(KSPGetType(ksp, &type));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCGetType(pc, &pctype));
    PetscCall(KSPGetTolerances(ksp, NULL, NULL, NULL, &its));
    sweeps += (PetscReal)its;
    PetscCall(PetscStrlen(level->solver, &length));
    PetscCall(PetscSNPrintf(level->solver + length, sizeof(level->solver) - length, "%s%" PetscInt_FMT "*%s+%s",
                            i ? "," : "", its, type, pctype));
  }
  level->launches   = lv->level ? 2 * sweeps + 3 : 1;
  level->operations = lv->level ? (2 * sweeps + 1) * (PetscReal)entries + 2 * (PetscReal)transfer : (PetscReal)entries;
  level->messages   = size > 1 ? level->launches : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The levels of this PC, and the agglomerated ones below them, which the first process always has */
static PetscErrorCode Describe(PC pc, KCycleModel *model)
{
  PC_MG       *mg = (PC_MG *)pc->data;
  PC_KCycle   *kc = KCycleOf(pc);
  PetscMPIInt  size;
  KCycleModel  coarser = {0};
  const size_t bytes   = sizeof(*model->level);

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  model->processes = size;
  model->nlevels   = kc->nlevels + kc->gathered.below;
  PetscCall(PetscCalloc1(model->nlevels, &model->level));
  for (PetscInt l = kc->nlevels - 1; l >= (kc->gathered.ours ? 1 : 0); l--) {
    KCycleModelLevel *level = &model->level[kc->nlevels - 1 - l];
    PetscInt          rows;

    PetscCall(MatGetSize(mg->levels[l]->A, &rows, NULL));
    level->rows = (PetscReal)rows;
    if (kc->engine && l) PetscCall(DescribeArrays(kc, l, level));
    else PetscCall(DescribeSolvers(mg->levels[l], size, level));
  }
  for (PetscInt l = 0; l < kc->nlevels; l++) /* of a process */
    model->level[l].operations = PetscFloorReal(model->level[l].operations / (PetscReal)size + (PetscReal)0.5);
  if (!kc->gathered.ours) PetscFunctionReturn(PETSC_SUCCESS);
  if (kc->gathered.pc) {
    PetscCall(Describe(kc->gathered.pc, &coarser));
    PetscCall(PetscArraycpy(&model->level[kc->nlevels - 1], coarser.level, kc->gathered.below + 1));
    PetscCall(PetscFree(coarser.level));
  }
  PetscCallMPI(MPI_Bcast(&model->level[kc->nlevels - 1], (PetscMPIInt)((size_t)(kc->gathered.below + 1) * bytes),
                         MPI_BYTE, 0, PetscObjectComm((PetscObject)pc)));
  model->level[kc->nlevels - 1].messages += 2; /* there and back */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cycles that are run to learn something do not count among the calls, here and on fewer processes */
PetscErrorCode PCKCycleModelPause(PC pc, PetscBool rest)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  kc->timing.paused = rest;
  for (PetscInt l = 0; l < kc->nlevels; l++) {
    KCycleLevel *level = &kc->level[l];

    if (rest) level->calls_kept = level->calls;
    else level->calls = level->calls_kept;
    if (rest) level->traffic_kept = level->traffic;
    else level->traffic = level->traffic_kept;
  }
  PetscCall(PCKCycleProfileFollow(kc));
  if (kc->gathered.pc) PetscCall(PCKCycleModelPause(kc->gathered.pc, rest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Clocks of all levels begin anew, or are taken away */
static PetscErrorCode SetClocks(PC pc, PetscBool on)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (on && !kc->timing.samples) PetscCall(PetscMalloc1(2 * KCYCLE_TIMES * kc->nlevels, &kc->timing.samples));
  for (PetscInt l = 0; l < kc->nlevels; l++) {
    for (int i = 0; i < 2; i++) {
      kc->level[l].timer.seconds[i] = on ? kc->timing.samples + (2 * l + i) * KCYCLE_TIMES : NULL;
      kc->level[l].timer.n[i]       = 0;
    }
  }
  if (!on) PetscCall(PetscFree(kc->timing.samples));
  if (kc->gathered.pc) PetscCall(SetClocks(kc->gathered.pc, on));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Medians of the visits, and of these the mean over the processes, which wait for each other. On the level that is
  agglomerated that is the time of the copies, which the processes of agglomerated levels have timed; seconds: finest
  level first
*/
static PetscErrorCode ReadClocks(PC pc, PetscReal seconds[])
{
  PC_KCycle *kc   = KCycleOf(pc);
  MPI_Comm   comm = PetscObjectComm((PetscObject)pc);
  PetscReal *mine, *all, number;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(2 * kc->nlevels + 2, &mine, 2 * kc->nlevels + 2, &all));
  mine[2 * kc->nlevels]     = 1;
  mine[2 * kc->nlevels + 1] = kc->gathered.pc ? 1 : 0;
  for (PetscInt l = 0; l < kc->nlevels; l++) {
    for (int i = 0; i < 2; i++) {
      const KCycleTimer *timer = &kc->level[l].timer;

      mine[2 * l + i] = KCycleModelMedian(PetscMin(timer->n[i], KCYCLE_TIMES), timer->seconds[i]);
      if (!l && kc->gathered.ours && !kc->gathered.pc) mine[i] = 0;
    }
  }
  PetscCallMPI(MPI_Allreduce(mine, all, (PetscMPIInt)(2 * kc->nlevels + 2), MPIU_REAL, MPIU_SUM, comm));
  for (PetscInt l = 0; l < kc->nlevels; l++) {
    number = all[2 * kc->nlevels + (!l && kc->gathered.ours ? 1 : 0)];
    for (int i = 0; i < 2; i++) seconds[2 * (kc->nlevels - 1 - l) + i] = all[2 * l + i] / number;
  }
  PetscCall(PetscFree2(mine, all));
  if (!kc->gathered.ours) PetscFunctionReturn(PETSC_SUCCESS);
  number = seconds[2 * kc->nlevels - 2];
  seconds += 2 * (kc->nlevels - 1);
  mine = NULL;
  PetscCall(PetscMalloc1(2 * (kc->gathered.below + 1), &mine));
  if (kc->gathered.pc) PetscCall(ReadClocks(kc->gathered.pc, mine));
  PetscCallMPI(MPI_Bcast(mine, (PetscMPIInt)(2 * (kc->gathered.below + 1)), MPIU_REAL, 0, comm));
  for (PetscInt i = 2; i < 2 * (kc->gathered.below + 1); i++) seconds[i] = mine[i];
  for (int i = 0; i < 2; i++) seconds[i] += mine[i];
  PetscCall(PetscFree(mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One application with two F-cycles: every level is visited both from zero and again */
static const KCycleVisit Timed = {2, 2, PETSC_FALSE, PETSC_FALSE, PETSC_TRUE, PETSC_FALSE};

/* Some applications, the first of which finds nothing in cache and does not count; median of their times */
static PetscErrorCode TimeCycles(PC pc, Vec b, Vec x, PetscInt *number, PetscReal *median)
{
  MPI_Comm  comm = PetscObjectComm((PetscObject)pc);
  PetscReal seconds[KCYCLE_TIMES], all = 0;
  PetscInt  n = 0;

  PetscFunctionBegin;
  for (PetscInt i = -1; i < KCYCLE_TIMES && (n < KCYCLE_CALIBRATE || all < KCYCLE_CALIBRATE_SECONDS); i++) {
    PetscLogDouble start;

    if (i <= 0) PetscCall(SetClocks(pc, PETSC_TRUE));
    PetscCallMPI(MPI_Barrier(comm));
    start = MPI_Wtime();
    PetscCall(PCKCycleVisit(pc, &Timed, b, x));
    if (i < 0) continue;
    seconds[n] = (PetscReal)(MPI_Wtime() - start);
    all += seconds[n++];
    PetscCallMPI(MPI_Bcast(&all, 1, MPIU_REAL, 0, comm));
  }
  *number = n;
  *median = KCycleModelMedian(n, seconds);
  PetscCallMPI(MPI_Bcast(median, 1, MPIU_REAL, 0, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The right side is one that a singular operator has a solution for, and is not zero: solvers of the coarsest problem
   have nothing to do then, and smoothers may end early */
static PetscErrorCode Calibrate(PC pc, KCycleModel *model)
{
  PC_KCycle     *kc = KCycleOf(pc);
  Vec            b, x;
  PetscReal     *seconds, median;
  KCycleModelSum sum = {0};

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(pc->pmat, &x, &b));
  PetscCall(PCKCycleFillWithNoise(pc, x));
  PetscCall(MatMult(pc->pmat, x, b));
  PetscCall(PetscMalloc1(2 * model->nlevels, &seconds));
  PetscCall(PCKCycleModelPause(pc, PETSC_TRUE));
  PetscCall(TimeCycles(pc, b, x, &kc->timing.cycles, &median));
  kc->timing.cycles *= Timed.cycles;
  PetscCall(ReadClocks(pc, seconds));
  PetscCall(SetClocks(pc, PETSC_FALSE));
  PetscCall(PCKCycleModelPause(pc, PETSC_FALSE));
  for (PetscInt i = 0; i < 2 * model->nlevels; i++) model->level[i / 2].seconds[i % 2] = seconds[i];
  KCycleModelAdd(model, &Timed, &sum);
  model->outside = PetscMax(0, median - sum.seconds);
  PetscCall(PetscFree(seconds));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After each set-up: levels may be others */
PetscErrorCode PCKCycleModelChanged(PC pc)
{
  PC_KCycle  *kc  = KCycleOf(pc);
  KCycleModel now = {0};

  PetscFunctionBegin;
  if (!kc->timing.described) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Describe(pc, &now));
  if (!KCycleModelSame(&now, &kc->timing.model)) PetscCall(PCKCycleModelReset(kc));
  PetscCall(PetscFree(now.level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of cycles that have run, what they took and what is predicted for them */
void PCKCycleModelCompare(PC_KCycle *kc, const KCycleVisit *visit, PetscReal seconds)
{
  KCycleTiming  *timing = &kc->timing;
  KCycleModelSum sum    = {0};

  if (!timing->ready || timing->paused || kc->failure[0] || !visit->cycles) return;
  KCycleModelAdd(&timing->model, visit, &sum);
  timing->compared += visit->cycles;
  timing->measured += seconds;
  timing->predicted += sum.seconds;
}

/* Additive and Kaskade multigrid have none to time */
static PetscErrorCode CheckType(PC pc)
{
  const PCMGType type = ((PC_MG *)pc->data)->am;

  PetscFunctionBegin;
  PetscCheck(type == PC_MG_MULTIPLICATIVE || type == PC_MG_FULL || !KCycleOf(pc)->timing.calibrate,
             PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "-pc_mg_type %s has no kappa-cycle whose time could be predicted: leave out -pc_kcycle_calibrate "
             "(PCKCycleSetCalibrate()), or use -pc_mg_type multiplicative or full",
             type == PC_MG_ADDITIVE ? "additive" : "kaskade");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Times are known afterwards, if they were not, unless the clock could not tell them */
PetscErrorCode PCKCycleModelCalibrate(PC pc)
{
  KCycleTiming *timing = &KCycleOf(pc)->timing;

  PetscFunctionBegin;
  PetscCall(PCKCycleEngineSettle(pc));
  if (!timing->described) PetscCall(Describe(pc, &timing->model));
  timing->described = PETSC_TRUE;
  if (timing->ready) PetscFunctionReturn(PETSC_SUCCESS);
  timing->cycles = 0;
  PetscCall(Calibrate(pc, &timing->model));
  timing->ready = KCycleModelIsTimed(&timing->model);
  if (timing->ready) KCycleModelFit(&timing->model);
  else PetscCall(PetscInfo(pc, "No time was measured: what cycles take is not known\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where times are wanted and not known. For levels of finer ones that is done there */
PetscErrorCode PCKCycleModelSetUp(PC pc)
{
  PC_KCycle    *kc     = KCycleOf(pc);
  KCycleTiming *timing = &kc->timing;

  PetscFunctionBegin;
  if (kc->finer.exists || kc->failure[0] || !kc->ready) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckType(pc));
  PetscCall(PCKCycleSplitSetUp(pc));
  if (timing->calibrate) PetscCall(PCKCycleModelCalibrate(pc));
  PetscCall(PCKCycleAutoSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}
