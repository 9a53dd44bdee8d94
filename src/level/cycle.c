/*
  The kappa-cycle, Algorithm 3 of Avnat and Yavneh, On the Recursive Structure of Multigrid Cycles, on arrays.

  In single precision levels have copies of operators and transfers, and arrays of their own. Operators are divided by
  their largest diagonal entry, and the right side by its largest entry, so that numbers of any size fit: by powers of
  two of that size, so that nothing is rounded, and any size near it gives the same numbers. The coarsest problem is
  solved in double precision.
*/
#include "subcycleimpl.h"
#include "recordingimpl.h"

struct _KCycleLevels {
  MPI_Comm                comm;
  PetscInt                nlevels;
  const KCycleLevelParts *parts; /* of who made it */
  KCycleLevelData        *level;
  const KCycleKernels    *kernels;
  const KCycleRun        *run;     /* that is going on, */
  PetscBool               stopped; /* until its test said stop */
  PetscBool               watched; /* its steps are logged or timed, each by itself */
  /* right side and solution of the coarsest level for its solver, where that cannot have the level's arrays; or NULL */
  PetscScalar            *coarse[2];
  PetscBool               inverse; /* the place has the inverse of the coarsest operator, and needs no solver */
  /* of levels with numbers of their own: */
  PetscReal               divisor; /* of operators, else 1 */
  PetscReal               size;    /* of the right side of the run, or of the one before */
  KCycleRecordings       *tapes;   /* of cycles, where the place records them; or NULL */
  KCycleSubcycles        *bottoms; /* of cycles, where the place performs them by one kernel; or NULL */
  PetscInt                ncosts;  /* of cycles that have run */
  KCycleCost              cost[KC_COSTS];
};

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

/* Runs one step and logs it as a phase of a level, and as a row of its profile */
#define KCycleLogged(levels, l, phase, row, call)                       \
  do {                                                                  \
    const KCycleLevelParts *parts_ = &(levels)->parts[l];               \
                                                                        \
    PetscCall(LogBegin(levels, parts_->event[phase]));                  \
    PetscCall(KCycleProfileBegin(parts_->profile, parts_->traffic));    \
    PetscCall(call);                                                    \
    PetscCall(KCycleProfileEnd(parts_->profile, parts_->traffic, row)); \
    PetscCall(LogEnd(levels, parts_->event[phase]));                    \
  } while (0)

/* The same of what is done beside the steps of a cycle, on the finest level */
#define KC_PROFILED(levels, call)                                             \
  do {                                                                        \
    KCycleProfile *profile_ = (levels)->parts[(levels)->nlevels - 1].profile; \
                                                                              \
    KCycleCall(KCycleProfileBegin(profile_, NULL));                           \
    KCycleCall(call);                                                         \
    KCycleCall(KCycleProfileEnd(profile_, NULL, KCYCLE_ROW_OTHER));           \
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
  const KCycleLevelData *level  = &levels->level[l];
  const int              which  = levels->run->visit.transpose ? 1 : 0;
  const PetscBool        tested = (PetscBool)(levels->run->test && l == levels->nlevels - 1);

  if (!zeroguess || tested) return 0;
  return KCycleSmootherUnwritten(level->ghosted ? level->ghosted->smoother : level->smoother, which,
                                 levels->parts[l].its[which]);
}

/* Do sweeps run in one pass with the transfers? The smoother can do so, a place that has tiles does so where they are,
   and with ghost points or tiles no residual is left for a test */
static PetscBool IsFused(const KCycleLevels *levels, PetscInt l, int which, PetscBool tested)
{
  const KCycleLevelData *level = &levels->level[l];

  if (!KCycleLevelIsFused(level, which)) return PETSC_FALSE;
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
  const PetscBool         tested  = (PetscBool)(levels->run->test && l == levels->nlevels - 1);
  const KCycleStart       start   = {level->tr, level->starter ? &level->starter->cubic : NULL, level[-1].x};
  const KCycleSweeps      sweeps  = {parts->its[which],
                                     visit->zeroguess,
                                     PETSC_FALSE,
                                     parts->order[which],
                                     Unwritten(levels, l, visit->zeroguess),
                               visit->starts ? &start : NULL};
  PetscReal               sum     = 0;

  PetscFunctionBegin;
  if (IsFused(levels, l, which, tested)) {
    KCycleLogged(levels, l, KCYCLE_SMOOTH, visit->starts ? KCYCLE_ROW_START : KCYCLE_ROW_DOWN,
                 (*kernels->smoothrestrict)(level, which, &sweeps, tested ? &sum : NULL));
    if (tested) KC_PROFILED(levels, Test(levels, sum));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  KCycleLogged(levels, l, KCYCLE_SMOOTH, KCYCLE_ROW_SMOOTH, (*kernels->smooth)(level, which, &sweeps));
  KCycleLogged(levels, l, KCYCLE_RESIDUAL, KCYCLE_ROW_RESIDUAL, (*kernels->residual)(level));
  if (tested) {
    PetscCall(KCycleRecordingCut(levels->tapes, KCYCLE_BEHIND_TEST, NULL));
    KC_PROFILED(levels, TestResidual(levels));
    PetscCall(levels->stopped ? KCycleRecordingDrop(levels->tapes) : KCycleRecordingResume(levels->tapes));
  }
  if (levels->stopped) PetscFunctionReturn(PETSC_SUCCESS);
  KCycleLogged(levels, l, KCYCLE_RESTRICT, KCYCLE_ROW_RESTRICT, (*kernels->restriction)(level, level->r));
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
    KCycleLogged(levels, l, KCYCLE_INTERPOLATE, KCYCLE_ROW_INTERPOLATE, (*kernels->scale)(level, parts->factor));
  if (IsFused(levels, l, which, PETSC_FALSE)) {
    KCycleLogged(levels, l, KCYCLE_SMOOTH, KCYCLE_ROW_UP, (*kernels->interpolatesmooth)(level, which, &sweeps));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  KCycleLogged(levels, l, KCYCLE_INTERPOLATE, KCYCLE_ROW_INTERPOLATE, (*kernels->interpolate)(level, PETSC_TRUE));
  KCycleLogged(levels, l, KCYCLE_SMOOTH, KCYCLE_ROW_SMOOTH, (*kernels->smooth)(level, which, &sweeps));
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
  KCycleCall((*levels->kernels->bring)(level, level->b, levels->divisor, levels->coarse[0]));
  if (!visit->zeroguess) KCycleCall((*levels->kernels->bring)(level, level->x, 1, levels->coarse[1]));
  else KCycleCall(PetscArrayzero(levels->coarse[1], level->st->box->npoints));
  KCycleCall((*run->coarsest)(run->ctx, visit, levels->coarse[0], levels->coarse[1]));
  KCycleCall((*levels->kernels->send)(level, levels->coarse[1], level->x));
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
  if (!levels->inverse) KCycleCall(KCycleRecordingCut(levels->tapes, KCYCLE_BEHIND_COARSEST, &visit));
  KCycleCall(KCycleProfileBegin(levels->parts[0].profile, NULL));
  KCycleCall(SolveCoarsest(levels, &visit));
  KCycleCall(KCycleProfileEnd(levels->parts[0].profile, NULL, KCYCLE_ROW_COARSE));
  if (!levels->inverse) KCycleCall(KCycleRecordingResume(levels->tapes));
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
    KCycleLogged(levels, l, KCYCLE_RESTRICT, KCYCLE_ROW_RESTRICT,
                 (*kernels->take)(level - 1, given, levels->size, level[-1].b));
  else {
    if (residual) KCycleLogged(levels, l, KCYCLE_RESIDUAL, KCYCLE_ROW_RESIDUAL, (*kernels->residual)(level));
    KCycleLogged(levels, l, KCYCLE_RESTRICT, KCYCLE_ROW_RESTRICT,
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
  if (kernels->start && !add)
    KCycleLogged(levels, l, KCYCLE_INTERPOLATE, KCYCLE_ROW_INTERPOLATE, (*kernels->start)(level));
  else KCycleLogged(levels, l, KCYCLE_INTERPOLATE, KCYCLE_ROW_INTERPOLATE, (*kernels->interpolate)(level, add));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does the pass of a visit that goes down a level interpolate what it starts with? Where all coarse points are this
   process's own */
static PetscBool PassStarts(const KCycleLevels *levels, PetscInt l)
{
  const KCycleLevelData *level  = &levels->level[l];
  const PetscBool        tested = (PetscBool)(levels->run->test && l == levels->nlevels - 1);

  return (PetscBool)(levels->kernels->start && !level->ghosted && level->smoother[0]->starts &&
                     IsFused(levels, l, 0, tested) && !KCycleBoxTalks(level->tr->coarse) &&
                     !(level->starter && level->starter->sf));
}

/* x of level l for who watches, and back where that gives it */
static PetscErrorCode Show(KCycleLevels *levels, PetscInt l, int stage)
{
  const KCycleRun       *run   = levels->run;
  const KCycleLevelData *level = &levels->level[l];
  const PetscReal        unit  = levels->size / levels->divisor;

  PetscFunctionBegin;
  PetscCall((*levels->kernels->give)(level, level->x, unit, run->watched));
  PetscCall((*run->monitor)(run->ctx, l, stage, run->watched));
  if (stage == 3) PetscCall((*levels->kernels->take)(level, run->watched, unit, level->x));
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

/* Visits of level l, by one kernel if they are a bottom */
static PetscErrorCode Below(KCycleLevels *levels, PetscInt l, const KCycleVisit *visit)
{
  KCycleSubcycle *bottom = levels->watched ? NULL : KCycleSubcycleFind(levels->bottoms, l, visit);

  if (bottom && !bottom->tried) {
    PetscErrorCode ierr;

    KCycleCall(KCycleSubcycleBegin(levels->bottoms, l, bottom));
    ierr = Steps(levels, l, visit);
    KCycleCall(KCycleSubcycleEnd(levels->bottoms, l, (PetscBool)(ierr != PETSC_SUCCESS)));
    KCycleCall(ierr);
  }
  if (bottom && bottom->program) KCycleCall(KCycleSubcycleRun(levels->bottoms, levels->level, l, bottom));
  else KCycleCall(Steps(levels, l, visit));
  return PETSC_SUCCESS;
}

/* What has been recorded of a cycle, and between its parts what the host does */
static PetscErrorCode Play(KCycleLevels *levels, const KCycleRecording *tape)
{
  for (PetscInt i = 0; i < tape->nparts && !levels->stopped; i++) {
    const KCycleRecordingSegment *part = &tape->part[i];

    KCycleCall(KCycleRecordingReplay(levels->tapes, part));
    if (part->behind == KCYCLE_BEHIND_COARSEST) KCycleCall(SolveCoarsest(levels, &part->visit));
    else if (part->behind == KCYCLE_BEHIND_TEST) KCycleCall(TestResidual(levels));
  }
  return PETSC_SUCCESS;
}

/* Keeps what the last cycle with this kappa came to: kernels, and calls that have launched them */
static void Count(KCycleLevels *levels, const KCycleVisit *visit, PetscInt64 kernels, PetscInt64 calls)
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

static PetscErrorCode Record(KCycleLevels *levels, KCycleRecording *tape, const KCycleVisit *visit)
{
  KCycleCall(KCycleRecordingBegin(levels->tapes, tape));
  KCycleCall(Below(levels, levels->nlevels - 1, visit));
  KCycleCall(KCycleRecordingEnd(levels->tapes));
  return PETSC_SUCCESS;
}

/* One that is recorded. An error ends that, too: streams are as before */
static PetscErrorCode Recorded(KCycleLevels *levels, KCycleRecording *tape, const KCycleVisit *visit)
{
  const PetscErrorCode ierr = Record(levels, tape, visit);

  if (ierr) KCycleCall(KCycleRecordingDrop(levels->tapes));
  return ierr;
}

/*
  One cycle. The first of its kind is not recorded: it may be the only one, and kernels are loaded by it. Clocks and
  events of levels are for what happens when they run, so that nothing is recorded then
*/
static PetscErrorCode OneCycle(KCycleLevels *levels, const KCycleVisit *visit)
{
  const KCycleLevelParts  *parts  = &levels->parts[levels->nlevels - 1];
  const KCycleLevelData   *finest = &levels->level[levels->nlevels - 1];
  const KCycleRecordingKey key    = {*visit, (PetscBool)(levels->run->test != NULL), finest->b, finest->x};
  const PetscInt64         before = levels->kernels->launches ? (*levels->kernels->launches)() : 0;
  KCycleRecording         *tape   = NULL;
  PetscBool                again  = PETSC_FALSE;
  PetscErrorCode           ierr;

  levels->watched = (PetscBool)(parts->event[KCYCLE_SMOOTH] || parts->timer->seconds[0]);
  if (levels->tapes && levels->run->replays && !levels->watched)
    KCycleCall(KCycleRecordingsFind(levels->tapes, &key, &tape, &again));
  if (again && tape->done) {
    KCycleCall(Play(levels, tape));
    return PETSC_SUCCESS;
  }
  ierr =
      again && tape->ran && !tape->refused ? Recorded(levels, tape, visit) : Below(levels, levels->nlevels - 1, visit);
  KCycleCall(ierr);
  if (tape && !levels->stopped) tape->ran = PETSC_TRUE;
  if (levels->kernels->launches && !levels->stopped) {
    const PetscInt64 kernels = (*levels->kernels->launches)() - before;

    Count(levels, visit, kernels, again && tape->done ? kernels - tape->kernels + tape->nparts : kernels);
  }
  return PETSC_SUCCESS;
}

static PetscErrorCode Cycles(KCycleLevels *levels)
{
  KCycleVisit    visit  = levels->run->visit;
  const PetscInt cycles = visit.full ? 1 : visit.cycles;

  visit.cycles = 1;
  for (PetscInt i = 0; i < cycles && !levels->stopped; i++) {
    KCycleCall(KCycleSubcyclesMakeMatrices(levels->bottoms, levels->level));
    KCycleCall(OneCycle(levels, &visit));
    visit.zeroguess = PETSC_FALSE;
  }
  return PETSC_SUCCESS;
}

#if defined(KCYCLE_SINGLE)

/* A power of two of about this size, whose inverse is a number */
static PetscReal PowerOfTwo(PetscReal size)
{
  return PetscPowReal(2, PetscMax(-1000, PetscMin(1000, PetscFloorReal(PetscLog2Real(size)))));
}

/* The right side in units of its largest entry; false where that is zero, or no number: x is that then */
static PetscErrorCode TakeRightSide(KCycleLevels *levels, const PetscScalar *b, PetscScalar *x, PetscBool *any)
{
  const KCycleLevelData *finest = &levels->level[levels->nlevels - 1];
  PetscReal              most[2], all[2];
  PetscBool              bad;

  PetscFunctionBegin;
  PetscCall((*levels->kernels->largest)(finest, b, &most[0], &bad));
  most[1] = bad ? 1 : 0;
  PetscCallMPI(MPI_Allreduce(most, all, 2, MPIU_REAL, MPIU_MAX, levels->comm));
  *any = (PetscBool)(all[0] > 0 && all[1] == 0);
  if (!*any) {
    PetscCall((*levels->kernels->fill)(finest, all[1] > 0 ? (PetscScalar)INFINITY : (PetscScalar)0.0, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  levels->size = PowerOfTwo(all[0]);
  PetscCall((*levels->kernels->take)(finest, b, levels->size, finest->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do the passes of the finest level convert b and x? There is one going down, and one going up */
static PetscBool Converts(const KCycleLevels *levels)
{
  const KCycleVisit     *visit  = &levels->run->visit;
  const KCycleLevelData *finest = &levels->level[levels->nlevels - 1];
  PetscBool              all    = (PetscBool)(finest->vectors && !visit->full && visit->cycles == 1);

  for (int i = 0; i < 2 && all; i++) {
    const KCycleSmoother *s = finest->ghosted ? finest->ghosted->smoother[i] : finest->smoother[i];

    all =
        (PetscBool)(s->inparts && !KCycleBoxTalks(s->st->box) && IsFused(levels, levels->nlevels - 1, i, PETSC_FALSE));
  }
  return all;
}

/* The largest entry of the right side, that is no NaN, over all processes */
static PetscErrorCode Largest(const KCycleLevels *levels, const KCycleVectors *v, PetscReal *largest)
{
  PetscReal most = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < KC_MOST * KCycleThreadsMost(); i++) most = PetscMax(most, v->most[i]);
  PetscCallMPI(MPI_Allreduce(&most, largest, 1, MPIU_REAL, MPIU_MAX, levels->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In units of a right side before. Where this one is of quite another size, once more in units of it */
static PetscErrorCode CyclesInUnits(KCycleLevels *levels, KCycleVectors *v)
{
  const PetscReal far = 1e12; /* the numbers of single precision go from 1e-38 to 1e38 */
  PetscReal       largest, size;

  do {
    size     = levels->size;
    v->scale = 1 / size;
    v->back  = size / levels->divisor;
    v->limit = PetscMin(size, 1e290) * 1e18;
    KCycleCall(PetscArrayzero(v->most, KC_MOST * KCycleThreadsMost()));
    KCycleCall(Cycles(levels));
    KCycleCall(Largest(levels, v, &largest));
    if (largest > 0 && largest <= PETSC_MAX_REAL) levels->size = PowerOfTwo(largest);
  } while (levels->size > far * size || size > far * levels->size);
  return PETSC_SUCCESS;
}

/* The caller's arrays are known until all is done, or an error has ended it */
static PetscErrorCode RunConverting(KCycleLevels *levels, const PetscScalar *b, PetscScalar *x)
{
  KCycleVectors *v = levels->level[levels->nlevels - 1].vectors;
  PetscErrorCode ierr;

  v->from = b;
  v->to   = x;
  ierr    = CyclesInUnits(levels, v);
  v->from = NULL;
  v->to   = NULL;
  KCycleCall(ierr);
  return PETSC_SUCCESS;
}

/* Right sides and residuals of levels on the host get memory when a run of their kind is the first one: passes that
   convert take the finest right side from the caller, and fused levels have their residuals in the cache */
static PetscErrorCode MakeArrays(KCycleLevels *levels)
{
  const KCycleVisit *visit = &levels->run->visit;
  const int          which = visit->transpose ? 1 : 0;

  PetscFunctionBegin;
  for (PetscInt l = 0; l < levels->nlevels && !levels->kernels->attach; l++) {
    KCycleLevelData *level  = &levels->level[l];
    const PetscBool  finest = (PetscBool)(l == levels->nlevels - 1);
    const PetscBool  tested = (PetscBool)(levels->run->test && finest);
    const PetscBool  residual =
        (PetscBool)(l && (!IsFused(levels, l, which, tested) || (visit->full && visit->transpose)));
    const PetscInt n = level->st->box->npoints;

    if (!level->b && (!finest || !Converts(levels))) PetscCall(PetscMalloc1(n, &level->b));
    if (!level->r && residual) PetscCall(PetscMalloc1(n, &level->r));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Here x counts as zero */
static PetscErrorCode Run(KCycleLevels *levels, const KCycleRun *run, const PetscScalar *b, PetscScalar *x)
{
  const KCycleLevelData *finest = &levels->level[levels->nlevels - 1];
  PetscBool              any;

  levels->run     = run;
  levels->stopped = PETSC_FALSE;
  KCycleCall(MakeArrays(levels));
  if (Converts(levels)) {
    KCycleCall(RunConverting(levels, b, x));
    return PETSC_SUCCESS;
  }
  KC_PROFILED(levels, TakeRightSide(levels, b, x, &any));
  if (!any) return PETSC_SUCCESS;
  KCycleCall(Cycles(levels));
  KC_PROFILED(levels, (*levels->kernels->give)(finest, finest->x, levels->size / levels->divisor, x));
  return PETSC_SUCCESS;
}

#else

static PetscErrorCode Run(KCycleLevels *levels, const KCycleRun *run, const PetscScalar *b, PetscScalar *x)
{
  levels->run     = run;
  levels->stopped = PETSC_FALSE;
  for (PetscInt l = 0; l < levels->nlevels && !levels->kernels->attach; l++) {
    levels->level[l].b = levels->parts[l].b;
    levels->level[l].x = levels->parts[l].x;
    levels->level[l].r = levels->parts[l].r;
  }
  levels->level[levels->nlevels - 1].b = (PetscScalar *)b;
  levels->level[levels->nlevels - 1].x = x;
  KCycleCall(Cycles(levels));
  return PETSC_SUCCESS;
}

#endif

static PetscErrorCode Destroy(KCycleLevels **levels)
{
  PetscFunctionBegin;
  if (!*levels) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleRecordingsDestroy(&(*levels)->tapes));
  PetscCall(KCycleSubcyclesDestroy(&(*levels)->bottoms));
  for (PetscInt l = 0; l < (*levels)->nlevels && (*levels)->kernels->detach; l++)
    PetscCall((*(*levels)->kernels->detach)(&(*levels)->level[l]));
  for (PetscInt l = 0; l < (*levels)->nlevels; l++) {
    if ((*levels)->level[l].ghosted) (*levels)->level[l].vectors = NULL; /* those of it */
    PetscCall(KCycleGhostedDestroy(&(*levels)->level[l].ghosted));
  }
#if defined(KCYCLE_SINGLE)
  for (PetscInt l = 0; l < (*levels)->nlevels; l++) {
    KCycleLevelData *level = &(*levels)->level[l];

    if (level->smoother[1] != level->smoother[0]) PetscCall(KCycleSmootherDestroy(&level->smoother[1]));
    PetscCall(KCycleSmootherDestroy(&level->smoother[0]));
    PetscCall(KCycleStencilSingleDestroy((KCycleStencil **)&level->st));
    PetscCall(KCycleTransferSingleDestroy((KCycleTransfer **)&level->tr));
    PetscCall(PetscFree(level->b));
    PetscCall(PetscFree(level->x));
    PetscCall(PetscFree(level->r));
    if (!level->vectors) continue;
    PetscCall(PetscFree(level->vectors->most));
    PetscCall(PetscFree(level->vectors));
  }
#endif
  PetscCall(PetscFree2((*levels)->coarse[0], (*levels)->coarse[1]));
  PetscCall(PetscFree((*levels)->level));
  PetscCall(PetscFree(*levels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateLevel(KCycleLevels *levels, PetscInt l)
{
  const KCycleLevelParts *parts = &levels->parts[l];
  KCycleLevelData        *level = &levels->level[l];
  const PetscBool         converts =
      (PetscBool)(KC_PRECISION == KCYCLE_PRECISION_SINGLE && !levels->kernels->attach && l && l == levels->nlevels - 1);

  PetscFunctionBegin;
  level->traffic  = parts->traffic;
  level->tiled    = parts->tiled;
  level->overlaps = parts->overlaps;
  level->starter  = parts->starter;
#if defined(KCYCLE_SINGLE)
  const PetscInt n = parts->st->box->npoints;

  PetscCall(KCycleStencilSingleCreate(parts->st, levels->divisor, (KCycleStencil **)&level->st));
  if (!levels->kernels->attach) PetscCall(PetscMalloc1(n, &level->x));
  if (parts->tr) PetscCall(KCycleTransferSingleCreate(parts->tr, (KCycleTransfer **)&level->tr));
  if (converts && !parts->ghosts) {
    PetscCall(PetscNew(&level->vectors));
    PetscCall(PetscMalloc1(KC_MOST * KCycleThreadsMost(), &level->vectors->most));
  }
  for (int i = 0; i < 2 && l; i++) {
    if (i && parts->smoother[1] == parts->smoother[0]) level->smoother[1] = level->smoother[0];
    else
      PetscCall(KCycleSmootherCreateLike(parts->smoother[i], level->st, levels->divisor, level->vectors,
                                         &level->smoother[i]));
  }
#else
  level->st = parts->st;
  level->tr = parts->tr;
  for (int i = 0; i < 2; i++) level->smoother[i] = parts->smoother[i];
#endif
  if (!parts->ghosts) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleGhostedCreate(parts->ghosts, parts->smoother, levels->divisor, converts, &level->ghosted));
  if (converts) level->vectors = &level->ghosted->vectors;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the place needs besides */
static PetscErrorCode AttachLevel(KCycleLevels *levels, PetscInt l)
{
  const PetscBool finest = (PetscBool)(l == levels->nlevels - 1),
                  single = (PetscBool)(KC_PRECISION == KCYCLE_PRECISION_SINGLE);
  const PetscInt n       = levels->level[l].st->box->npoints;

  PetscFunctionBegin;
  if (levels->kernels->attach)
    PetscCall((*levels->kernels->attach)(&levels->level[l], (PetscBool)(single || !finest), finest));
  if (!l && (single || levels->kernels->attach)) PetscCall(PetscMalloc2(n, &levels->coarse[0], n, &levels->coarse[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are operator and transfer of a level in the memory that its kernels work on, in numbers that they compute with? */
static PetscErrorCode CheckLevel(const KCycleLevels *levels, PetscInt l)
{
  const KCycleLevelData  *level  = &levels->level[l];
  const KCycleMemorySpace memory = levels->kernels->memory;

  PetscFunctionBegin;
  PetscCheck(KCycleStencilIsAt(level->st, memory) && (!level->tr || KCyclePoolIsAt(&level->tr->weights, memory)),
             levels->comm, PETSC_ERR_PLIB,
             "The kernels of the place \"%s\" do not reach the operator and the transfer of level %" PetscInt_FMT,
             levels->kernels->name, l);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* scale: of the operator, its largest diagonal entry */
static PetscErrorCode Create(MPI_Comm comm, KCycleMemorySpace place, PetscInt nlevels, const KCycleLevelParts parts[],
                             PetscReal scale, KCycleLevels **levels)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(levels));
  (*levels)->comm    = comm;
  (*levels)->nlevels = nlevels;
  (*levels)->parts   = parts;
  (*levels)->kernels = KCycleKernelsOf(place);
  (*levels)->divisor = 1;
  (*levels)->size    = 1;
#if defined(KCYCLE_SINGLE)
  (*levels)->divisor = PetscPowReal(2, PetscFloorReal(PetscLog2Real(scale))); /* numbers with few digits keep them */
#else
  (void)scale;
#endif
  PetscCall(PetscCalloc1(nlevels, &(*levels)->level));
  for (PetscInt l = 0; l < nlevels; l++) {
    PetscCall(CreateLevel(*levels, l));
    PetscCall(CheckLevel(*levels, l));
    PetscCall(AttachLevel(*levels, l));
  }
  if ((*levels)->kernels->record)
    PetscCall(KCycleRecordingsCreate((*levels)->kernels, nlevels, parts, &(*levels)->tapes));
  if ((*levels)->kernels->write)
    PetscCall(KCycleSubcyclesCreate((*levels)->kernels, nlevels, parts, &(*levels)->bottoms));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The finest operator has new values; levels with numbers of their own keep the old ones */
static PetscErrorCode Renew(KCycleLevels *levels)
{
  PetscFunctionBegin;
  PetscCall(KCycleRecordingsForget(levels->tapes));
  PetscCall(KCycleSubcyclesForget(levels->bottoms));
  if (levels->kernels->renew) PetscCall((*levels->kernels->renew)(&levels->level[levels->nlevels - 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TakeInverse(KCycleLevels *levels, const KCycleInverse *inverse)
{
  PetscFunctionBegin;
  PetscCall((*levels->kernels->takeinverse)(&levels->level[0], inverse));
  levels->inverse = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Sharing(const KCycleLevels *levels, KCycleSharing *sharing)
{
  const KCycleSubcycles *bottoms = levels->bottoms;

  sharing->level    = bottoms->top;
  sharing->unknowns = levels->parts[bottoms->top].st->box->npoints;
  sharing->refused  = bottoms->refused;
  sharing->products = bottoms->products;
  sharing->matrices = bottoms->matrices;
}

static const char *Tiled(const KCycleLevels *levels, PetscInt l)
{
  return levels->kernels->tiled ? (*levels->kernels->tiled)(&levels->level[l]) : NULL;
}

/* Levels in tiles have kernels that one block cannot run, so that only coarser ones share one */
static PetscErrorCode Share(KCycleLevels *levels, PetscInt unknowns, PetscInt few)
{
  PetscFunctionBegin;
  for (PetscInt l = levels->nlevels - 1; l > 0; l--) {
    if (Tiled(levels, l)) unknowns = PetscMin(unknowns, levels->parts[l].st->box->npoints);
  }
  PetscCall(KCycleRecordingsForget(levels->tapes));
  PetscCall(KCycleSubcyclesSetTop(levels->bottoms, levels->inverse ? unknowns : 0, few));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt Costs(const KCycleLevels *levels, const KCycleCost **cost)
{
  *cost = levels->cost;
  return levels->ncosts;
}

#if defined(KCYCLE_SINGLE)
const KCycleEngine KCycleEngine_Single = {
    .name    = "single",
    .borrows = PETSC_FALSE,
#else
const KCycleEngine KCycleEngine_Double = {
    .name    = "double",
    .borrows = PETSC_TRUE,
#endif
    .create      = Create,
    .run         = Run,
    .renew       = Renew,
    .destroy     = Destroy,
    .takeinverse = TakeInverse,
    .share       = Share,
    .sharing     = Sharing,
    .tiled       = Tiled,
    .costs       = Costs,
};
