/*
  The kappa-cycle, Algorithm 3 of Avnat and Yavneh, On the Recursive Structure of Multigrid Cycles, on arrays.
*/
#include "levels.h"

/* Kernels on a device are timed there, with -log_view_gpu_time */
static PetscErrorCode LogBegin(const KCycleLevels *levels, PetscLogEvent event)
{
  PetscFunctionBegin;
  if (!event) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(event, 0, 0, 0, 0));
  if (levels->kernels->wait) PetscCall(PetscLogGpuTimeBegin());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LogEnd(const KCycleLevels *levels, PetscLogEvent event)
{
  PetscFunctionBegin;
  if (!event) PetscFunctionReturn(PETSC_SUCCESS);
  if (levels->kernels->wait) PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogEventEnd(event, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a step has moved; bytes: NOT_COUNTED, or those of a kernel */
#define NOT_COUNTED (-1)
static void Count(KCycleTraffic *traffic, KCyclePhase phase, PetscInt64 rounds, PetscInt64 bytes)
{
  if (bytes == NOT_COUNTED) return;
  traffic->calls[phase]++;
  traffic->bytes[phase] += bytes;
  traffic->rounds += rounds;
}

/* The phase of a level that a row of its profile belongs to */
static KCyclePhase PhaseOf(KCycleRow row)
{
  return row == KCYCLE_ROW_RESIDUAL      ? KCYCLE_RESIDUAL
         : row == KCYCLE_ROW_RESTRICT    ? KCYCLE_RESTRICT
         : row == KCYCLE_ROW_INTERPOLATE ? KCYCLE_INTERPOLATE
                                         : KCYCLE_SMOOTH;
}

/* Runs one step and logs it as a phase of a level, and as a row of its profile. bytes: that it moves, which are
   computed if they are counted */
#define KCycleLogged(levels, l, row, bytes, call)                                        \
  do {                                                                                   \
    const KCycleLevelParts *parts_  = &(levels)->parts[l];                               \
    const KCyclePhase       phase_  = PhaseOf(row);                                      \
    const PetscInt64        before_ = KCycleRounds;                                      \
                                                                                         \
    PetscCall(LogBegin(levels, parts_->event[phase_]));                                  \
    PetscCall(KCycleProfileBegin(parts_->profile, parts_->traffic));                     \
    PetscCall(call);                                                                     \
    if ((levels)->counts) Count(parts_->traffic, phase_, KCycleRounds - before_, bytes); \
    PetscCall(KCycleProfileEnd(parts_->profile, parts_->traffic, row));                  \
    PetscCall(LogEnd(levels, parts_->event[phase_]));                                    \
  } while (0)

/* sum: of the squares of the finest level's residual */
static PetscErrorCode Test(KCycleLevels *levels, PetscReal sum)
{
  PetscFunctionBegin;
  PetscCall((*levels->run->test)(levels->run->ctx, sum, &levels->stopped));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of the residual that the finest level has */
static PetscErrorCode TestResidual(KCycleLevels *levels)
{
  const KCycleLevelData *finest = &levels->level[levels->nlevels - 1];
  PetscReal              sum;

  PetscFunctionBegin;
  PetscCall((*levels->kernels->sumsquares)(finest, finest->r, &sum));
  PetscCall(Test(levels, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A visit is timed when its work is done */
static PetscErrorCode Pause(KCycleLevels *levels, PetscInt l)
{
  KCycleTimer *timer = levels->parts[l].timer;

  if (timer->seconds[0] && levels->kernels->wait) KCycleCall((*levels->kernels->wait)());
  KCycleTimerPause(timer);
  return PETSC_SUCCESS;
}

/* Sweeps of a visit from zero whose x the way up computes again. A test needs it */
static PetscInt Unwritten(const KCycleLevels *levels, PetscInt l, PetscBool zeroguess)
{
  const KCycleLevelData *level    = &levels->level[l];
  KCycleSmoother *const *smoother = level->ghosted ? level->ghosted->smoother : level->smoother;
  const int              which    = levels->run->visit.transpose ? 1 : 0;
  const PetscInt         its      = levels->parts[l].its[which];
  const KCycleSmoother  *s        = smoother[which];

  if (!zeroguess || KCycleLevelIsTested(levels, l) || s != smoother[1 - which]) return 0;
  return s->planes && s->ops.repeats && (*s->ops.repeats)(s, its) ? its : 0;
}

/* Do sweeps run in one pass with the transfers? The smoother can do so, kernels with tiles do so where these are,
   and with ghost points or tiles no residual is left for a test */
PetscBool KCycleLevelsAreFused(const KCycleLevels *levels, PetscInt l, int which, PetscBool tested)
{
  const KCycleLevelData *level = &levels->level[l];

  if (!level->ghosted && !KCycleSmootherIsFused(level->smoother[which])) return PETSC_FALSE;
  if (levels->kernels->tiled)
    return (PetscBool)(levels->parts[l].its[which] > 0 && !tested && (*levels->kernels->tiled)(level));
  return (PetscBool) !(tested && level->ghosted);
}

/* Lines 2 and 3 of Algorithm 3: sweeps, residual and its restriction */
static PetscErrorCode Down(KCycleLevels *levels, PetscInt l, const KCycleVisit *visit)
{
  const KCycleKernels    *kernels = levels->kernels;
  const KCycleLevelData  *level   = &levels->level[l];
  const KCycleLevelParts *parts   = &levels->parts[l];
  const int               which   = levels->run->visit.transpose ? 1 : 0;
  const PetscBool         tested  = KCycleLevelIsTested(levels, l);
  const KCycleStart       start   = {level->tr, level->starter ? &level->starter->cubic : NULL, level[-1].x};
  const KCycleSweeps      sweeps  = {parts->its[which],
                                     visit->zeroguess,
                                     PETSC_FALSE,
                                     parts->order[which],
                                     Unwritten(levels, l, visit->zeroguess),
                               visit->starts ? &start : NULL};
  PetscReal               sum     = 0;

  PetscFunctionBegin;
  if (KCycleLevelsAreFused(levels, l, which, tested)) {
    KCycleLogged(levels, l, visit->starts ? KCYCLE_ROW_START : KCYCLE_ROW_DOWN,
                 KCycleBytesSweeps(level, which, &sweeps, PETSC_TRUE) + KCycleBytesVectors(level - 1, 2),
                 (*kernels->smoothrestrict)(level, which, &sweeps, tested ? &sum : NULL));
    if (tested) KC_PROFILED(levels, Test(levels, sum));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  KCycleLogged(levels, l, KCYCLE_ROW_SMOOTH, KCycleBytesSweeps(level, which, &sweeps, PETSC_FALSE),
               (*kernels->smooth)(level, which, &sweeps));
  KCycleLogged(levels, l, KCYCLE_ROW_RESIDUAL, KCycleBytesResidual(level), (*kernels->residual)(level));
  if (tested) {
    PetscCall(KCycleRecordingCut(levels->recordings, KCYCLE_BEHIND_TEST, NULL));
    KC_PROFILED(levels, TestResidual(levels));
    PetscCall(levels->stopped ? KCycleRecordingDrop(levels->recordings) : KCycleRecordingResume(levels->recordings));
  }
  if (levels->stopped) PetscFunctionReturn(PETSC_SUCCESS);
  KCycleLogged(levels, l, KCYCLE_ROW_RESTRICT, KCycleBytesVectors(level, 1) + KCycleBytesVectors(level - 1, 2),
               (*kernels->restriction)(level, level->r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines 7 and 8: interpolation and addition, and sweeps in the reverse order. zeroguess: the way down started from
   zero */
static PetscErrorCode Up(KCycleLevels *levels, PetscInt l, PetscBool zeroguess)
{
  const KCycleKernels    *kernels = levels->kernels;
  const KCycleLevelData  *level   = &levels->level[l];
  const KCycleLevelParts *parts   = &levels->parts[l];
  const int               which   = levels->run->visit.transpose ? 0 : 1;
  const KCycleSweeps      sweeps  = {
            parts->its[which], PETSC_FALSE, PETSC_TRUE, parts->order[which], Unwritten(levels, l, zeroguess), NULL};

  PetscFunctionBegin;
  if (parts->factor != 1)
    KCycleLogged(levels, l, KCYCLE_ROW_INTERPOLATE, KCycleBytesVectors(level - 1, 2),
                 (*kernels->scale)(level, parts->factor));
  if (KCycleLevelsAreFused(levels, l, which, PETSC_FALSE)) {
    KCycleLogged(levels, l, KCYCLE_ROW_UP,
                 KCycleBytesSweeps(level, which, &sweeps, PETSC_TRUE) + KCycleBytesVectors(level - 1, 1),
                 (*kernels->interpolatesmooth)(level, which, &sweeps));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  KCycleLogged(levels, l, KCYCLE_ROW_INTERPOLATE, KCycleBytesVectors(level, 2) + KCycleBytesVectors(level - 1, 1),
               (*kernels->interpolate)(level, PETSC_TRUE));
  KCycleLogged(levels, l, KCYCLE_ROW_SMOOTH, KCycleBytesSweeps(level, which, &sweeps, PETSC_FALSE),
               (*kernels->smooth)(level, which, &sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In double precision, and in the units of the operator that was given */
static PetscErrorCode SolveCoarsest(KCycleLevels *levels, const KCycleVisit *visit)
{
  const KCycleRun       *run   = levels->run;
  const KCycleLevelData *level = &levels->level[0];

  if (levels->inverse) {
    KCycleCall((*levels->kernels->invert)(level, visit->transpose, levels->divisor));
    return PETSC_SUCCESS;
  }
#if !defined(KCYCLE_SINGLE)
  if (!levels->coarse[0]) {
    KCycleCall((*run->coarsest)(run->ctx, visit, level->b, level->x));
    return PETSC_SUCCESS;
  }
#endif
  KCycleCall((*levels->kernels->copytohost)(level, level->b, levels->divisor, levels->coarse[0]));
  if (!visit->zeroguess) KCycleCall((*levels->kernels->copytohost)(level, level->x, 1, levels->coarse[1]));
  else KCycleCall(PetscArrayzero(levels->coarse[1], level->st->box->npoints));
  KCycleCall((*run->coarsest)(run->ctx, visit, levels->coarse[0], levels->coarse[1]));
  KCycleCall((*levels->kernels->copyfromhost)(level, levels->coarse[1], level->x));
  return PETSC_SUCCESS;
}

/* A solver that starts from zero gives the same answer to the same right side, so a second call in a row has it.
   full: full multigrid has come down to here */
static PetscErrorCode Coarsest(KCycleLevels *levels, PetscInt kappa, PetscBool zeroguess, PetscBool full)
{
  const PetscLogEvent event = levels->parts[0].event[KCYCLE_COARSE];
  const KCycleVisit   visit = {kappa, 1, full, levels->run->visit.transpose, zeroguess, PETSC_FALSE};
  KCycleTimer        *timer = levels->parts[0].timer;

  *levels->parts[0].calls += 1;
  if (!zeroguess && !levels->run->continues) return PETSC_SUCCESS;
  KCycleTimerStart(timer);
  if (event) KCycleCall(PetscLogEventBegin(event, 0, 0, 0, 0));
  if (!levels->inverse) KCycleCall(KCycleRecordingCut(levels->recordings, KCYCLE_BEHIND_COARSEST, &visit));
  KCycleCall(KCycleProfileBegin(levels->parts[0].profile, NULL));
  KCycleCall(SolveCoarsest(levels, &visit));
  KCycleCall(KCycleProfileEnd(levels->parts[0].profile, NULL, KCYCLE_ROW_COARSE));
  if (!levels->inverse) KCycleCall(KCycleRecordingResume(levels->recordings));
  if (event) KCycleCall(PetscLogEventEnd(event, 0, 0, 0, 0));
  KCycleCall(Pause(levels, 0));
  KCycleTimerKeep(timer, zeroguess);
  return PETSC_SUCCESS;
}

static PetscErrorCode Below(KCycleLevels *, PetscInt, const KCycleVisit *);

/* One recursive call that inherits kappa, then one with kappa - 1; in the transposed cycle the weaker one comes
   first */
static PetscErrorCode Both(KCycleLevels *levels, PetscInt l, const KCycleVisit *visit)
{
  const PetscInt kappa = visit->kappa;
  KCycleVisit    one   = {
           visit->transpose ? kappa - 1 : kappa, 1, PETSC_FALSE, visit->transpose, visit->zeroguess, PETSC_FALSE};

  KCycleCall(Below(levels, l, &one));
  one.kappa     = visit->transpose ? kappa : kappa - 1;
  one.zeroguess = PETSC_FALSE;
  KCycleCall(Below(levels, l, &one));
  return PETSC_SUCCESS;
}

/* x <- kappa-cycle(x, b) on level l: one recursive call, or two if kappa - 1 is positive. kappa = 1 is the V-cycle, 2
   the F-cycle, at least the number of levels the W-cycle */
static PetscErrorCode Cycle(KCycleLevels *levels, PetscInt l, const KCycleVisit *visit)
{
  const KCycleVisit below = {visit->kappa, visit->kappa > 1 ? 2 : 1, PETSC_FALSE, visit->transpose, PETSC_TRUE,
                             PETSC_FALSE};
  KCycleTimer      *timer = levels->parts[l].timer;

  *levels->parts[l].calls += 1;
  KCycleTimerStart(timer);
  KCycleCall(Down(levels, l, visit));
  KCycleCall(Pause(levels, l));
  if (levels->stopped) return PETSC_SUCCESS;
  KCycleCall(Below(levels, l - 1, &below));
  KCycleTimerResume(timer);
  KCycleCall(Up(levels, l, visit->zeroguess));
  KCycleCall(Pause(levels, l));
  KCycleTimerKeep(timer, visit->zeroguess);
  return PETSC_SUCCESS;
}

/* The right side of the next coarser level, unless that was given */
static PetscErrorCode Restrict(KCycleLevels *levels, PetscInt l, PetscBool residual)
{
  const KCycleKernels   *kernels = levels->kernels;
  const KCycleLevelData *level   = &levels->level[l];
  const PetscScalar     *given   = levels->parts[l - 1].rhs;

  PetscFunctionBegin;
  if (given)
    KCycleLogged(levels, l, KCYCLE_ROW_RESTRICT, NOT_COUNTED,
                 (*kernels->convertin)(level - 1, given, levels->size, level[-1].b));
  else {
    if (residual) KCycleLogged(levels, l, KCYCLE_ROW_RESIDUAL, KCycleBytesResidual(level), (*kernels->residual)(level));
    KCycleLogged(levels, l, KCYCLE_ROW_RESTRICT, KCycleBytesVectors(level, 1) + KCycleBytesVectors(level - 1, 2),
                 (*kernels->restriction)(level, residual ? level->r : level->b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What full multigrid starts with on a level, or adds in the transposed cycle */
static PetscErrorCode Interpolate(KCycleLevels *levels, PetscInt l, PetscBool add)
{
  const KCycleKernels   *kernels = levels->kernels;
  const KCycleLevelData *level   = &levels->level[l];

  PetscFunctionBegin;
  KCycleLogged(levels, l, KCYCLE_ROW_INTERPOLATE,
               KCycleBytesVectors(level, add ? 2 : 1) + KCycleBytesVectors(level - 1, 1),
               kernels->start && !add ? (*kernels->start)(level) : (*kernels->interpolate)(level, add));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does the pass of a visit that goes down a level interpolate what it starts with? Where all coarse points are this
   process's own */
static PetscBool PassStarts(const KCycleLevels *levels, PetscInt l)
{
  const KCycleLevelData *level  = &levels->level[l];
  const PetscBool        tested = KCycleLevelIsTested(levels, l);

  return (PetscBool)(levels->kernels->start && !level->ghosted && level->smoother[0]->starts &&
                     KCycleLevelsAreFused(levels, l, 0, tested) && !KCycleBoxTalks(level->tr->coarse) &&
                     !(level->starter && level->starter->sf));
}

/* x of level l for who watches, and back where that gives it */
static PetscErrorCode Show(KCycleLevels *levels, PetscInt l, int stage)
{
  const KCycleRun       *run   = levels->run;
  const KCycleLevelData *level = &levels->level[l];
  const PetscReal        unit  = levels->size / levels->divisor;

  PetscFunctionBegin;
  PetscCall((*levels->kernels->convertout)(level, level->x, unit, run->watched));
  PetscCall((*run->monitor)(run->ctx, l, stage, run->watched));
  if (stage == 3) PetscCall((*levels->kernels->convertin)(level, run->watched, unit, level->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How much two more cycles change the solution of a level, which is then as it was */
static PetscErrorCode Watch(KCycleLevels *levels, PetscInt l, const KCycleVisit *visit)
{
  const KCycleVisit again = {visit->kappa, 1, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};

  for (int stage = 0; stage < 4; stage++) {
    if (l && (stage == 1 || stage == 2)) KCycleCall(Below(levels, l, &again));
    KCycleCall(Show(levels, l, stage));
  }
  return PETSC_SUCCESS;
}

/*
  Full multigrid: right sides are restricted to the coarsest level, then each level's solution starts a kappa-cycle on
  the next.

  That is M_l = E_l P M_{l-1} R + N_l with the cycle N_l from zero and its error propagation E_l = I - N_l A_l, hence
  M_l^T = R^T M_{l-1}^T P^T (I - A_l^T N_l^T) + N_l^T: transposed cycles on the way down, transposed restrictions on the
  way up.
*/
static PetscErrorCode Full(KCycleLevels *levels, PetscInt l, const KCycleVisit *visit)
{
  const PetscBool   starts = (PetscBool)(!visit->transpose && PassStarts(levels, l));
  const KCycleVisit cycle  = {visit->kappa, 1, PETSC_FALSE, visit->transpose, visit->transpose, starts};

  if (visit->transpose) KCycleCall(Below(levels, l, &cycle));
  KCycleCall(Restrict(levels, l, visit->transpose));
  KCycleCall(Below(levels, l - 1, visit));
  if (!starts) KCycleCall(Interpolate(levels, l, visit->transpose));
  if (!visit->transpose) KCycleCall(Below(levels, l, &cycle));
  return PETSC_SUCCESS;
}

static PetscErrorCode Steps(KCycleLevels *levels, PetscInt l, const KCycleVisit *visit)
{
  if (visit->cycles > 1) KCycleCall(Both(levels, l, visit));
  else if (!l) KCycleCall(Coarsest(levels, visit->kappa, (PetscBool)(visit->full || visit->zeroguess), visit->full));
  else if (visit->full) KCycleCall(Full(levels, l, visit));
  else KCycleCall(Cycle(levels, l, visit));
  if (visit->full && levels->run->monitor) KCycleCall(Watch(levels, l, visit));
  return PETSC_SUCCESS;
}

/* Visits of level l, by one kernel if they are a coarse sub-cycle */
static PetscErrorCode Below(KCycleLevels *levels, PetscInt l, const KCycleVisit *visit)
{
  KCycleSubcycle *subcycle = levels->watched ? NULL : KCycleSubcycleFind(levels->subcycles, l, visit);

  if (subcycle && !subcycle->tried) {
    PetscErrorCode ierr;

    KCycleCall(KCycleSubcycleBegin(levels->subcycles, l, subcycle));
    ierr = Steps(levels, l, visit);
    KCycleCall(KCycleSubcycleEnd(levels->subcycles, l, (PetscBool)(ierr != PETSC_SUCCESS)));
    KCycleCall(ierr);
  }
  if (subcycle && subcycle->program) KCycleCall(KCycleSubcycleRun(levels->subcycles, l, subcycle));
  else KCycleCall(Steps(levels, l, visit));
  return PETSC_SUCCESS;
}

/* What has been recorded of a cycle, and between its segments what the host does */
static PetscErrorCode Replay(KCycleLevels *levels, const KCycleRecording *recording)
{
  for (PetscInt i = 0; i < recording->nsegments && !levels->stopped; i++) {
    const KCycleRecordingSegment *segment = &recording->segment[i];

    KCycleCall(KCycleRecordingReplay(levels->recordings, segment));
    if (segment->behind == KCYCLE_BEHIND_COARSEST) KCycleCall(SolveCoarsest(levels, &segment->visit));
    else if (segment->behind == KCYCLE_BEHIND_TEST) KCycleCall(TestResidual(levels));
  }
  return PETSC_SUCCESS;
}

/* Keeps what the last cycle with this kappa came to: kernels, and calls that have launched them */
static void KeepCost(KCycleLevels *levels, const KCycleVisit *visit, PetscInt64 kernels, PetscInt64 calls)
{
  PetscInt i = 0;

  while (i < levels->ncosts && (levels->cost[i].kappa != visit->kappa || levels->cost[i].full != visit->full)) i++;
  if (i == KC_COSTS) return;
  if (i == levels->ncosts) levels->ncosts++;
  levels->cost[i].kappa   = visit->kappa;
  levels->cost[i].full    = visit->full;
  levels->cost[i].kernels = kernels;
  levels->cost[i].calls   = calls;
}

static PetscErrorCode Record(KCycleLevels *levels, KCycleRecording *recording, const KCycleVisit *visit)
{
  KCycleCall(KCycleRecordingBegin(levels->recordings, recording));
  KCycleCall(Below(levels, levels->nlevels - 1, visit));
  KCycleCall(KCycleRecordingEnd(levels->recordings));
  return PETSC_SUCCESS;
}

/* One that is recorded. An error ends that, too: streams are as before */
static PetscErrorCode Recorded(KCycleLevels *levels, KCycleRecording *recording, const KCycleVisit *visit)
{
  const PetscErrorCode ierr = Record(levels, recording, visit);

  if (ierr) KCycleCall(KCycleRecordingDrop(levels->recordings));
  return ierr;
}

/*
  One cycle. The first of its kind is not recorded: it may be the only one, and kernels are loaded by it. Clocks and
  events of levels are for what happens when they run, so that nothing is recorded then
*/
static PetscErrorCode OneCycle(KCycleLevels *levels, const KCycleVisit *visit)
{
  const KCycleLevelParts  *parts     = &levels->parts[levels->nlevels - 1];
  const KCycleLevelData   *finest    = &levels->level[levels->nlevels - 1];
  const KCycleRecordingKey key       = {*visit, (PetscBool)(levels->run->test != NULL), finest->b, finest->x};
  const PetscInt64         before    = levels->kernels->launches ? (*levels->kernels->launches)() : 0;
  KCycleRecording         *recording = NULL;
  PetscBool                again     = PETSC_FALSE;
  PetscErrorCode           ierr;

  levels->watched = (PetscBool)(parts->event[KCYCLE_SMOOTH] || parts->timer->seconds[0]);
  if (levels->recordings && levels->run->replays && !levels->watched)
    KCycleCall(KCycleRecordingsFind(levels->recordings, &key, &recording, &again));
  if (again && recording->done) {
    KCycleCall(Replay(levels, recording));
    return PETSC_SUCCESS;
  }
  ierr = again && recording->ran && !recording->refused ? Recorded(levels, recording, visit)
                                                        : Below(levels, levels->nlevels - 1, visit);
  KCycleCall(ierr);
  if (recording && !levels->stopped) recording->ran = PETSC_TRUE;
  if (levels->kernels->launches && !levels->stopped) {
    const PetscInt64 kernels = (*levels->kernels->launches)() - before;

    KeepCost(levels, visit, kernels,
             again && recording->done ? kernels - recording->kernels + recording->nsegments : kernels);
  }
  return PETSC_SUCCESS;
}

PetscErrorCode KCycleLevelsCycle(KCycleLevels *levels)
{
  KCycleVisit    visit  = levels->run->visit;
  const PetscInt cycles = visit.full ? 1 : visit.cycles;

  visit.cycles = 1;
  for (PetscInt i = 0; i < cycles && !levels->stopped; i++) {
    KCycleCall(KCycleSubcyclesMakeMatrices(levels->subcycles));
    KCycleCall(OneCycle(levels, &visit));
    visit.zeroguess = PETSC_FALSE;
  }
  return PETSC_SUCCESS;
}
