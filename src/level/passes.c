/*
  Fused passes: the steps of a smoother, plane by plane (in 2D line by line).

  A step on plane t needs what the step before it left on planes t - 1 to t + 1 alone. So the steps of a multigrid level
  run after each other through the grid, one plane apart, and all but the first find their planes in cache:

    plane        t       t - 1    t - 2                           t                t - 1    t - 2
    before the   red     black    residual, restriction           interpolation    black    red     after the
    coarse grid                                                                                     coarse grid

  Where the slowest direction is cut into processes, or wraps around, step i leaves out i planes at that end, which need
  halo planes of the step before. They follow when all has run: for each step one exchange, and the planes that it left
  out. Their inner neighbours have had that same step, but not a later one, and no step reads what it writes itself in
  other planes.

  Where other directions are cut or wrap around, each plane needs a halo, and steps run one after the other on the whole
  grid with exchanges between them.

  Threads share the lines of each plane, in 3D. Of what another thread computes, a line needs lines next to it as an
  earlier step has left them, and there are barriers between; what changes at the same time is not read.
*/
#include <petsckcycle/private/vectorsimpl.h>

/* A residual line goes to the coarse grid at once */
static void RestrictPlane(const KCyclePass *pass, PetscInt t, PetscInt low, PetscInt high)
{
  const KCycleBox    *box  = pass->st->box;
  KCScalar           *work = pass->tr->line + KCycleThread() * box->n[0];
  KCycleTransferLines lines;
  KCycleLine          l;

  KCycleTransferShare(pass->tr, low, high, &lines);
  for (PetscInt i = PetscMax(low, lines.low[0]); i < PetscMin(high, lines.high[0]); i++) {
    const PetscInt j = box->dim == 3 ? i : t, k = box->dim == 3 ? t : 0;

    KCycleLineGather(pass->st, pass->x, pass->st->halo, j, k, &l);
    KCycleLineCompute(&pass->st->shape, KC_RESIDUAL, &l, pass->b + box->n[0] * (j + box->n[1] * k), NULL, work);
    if (pass->sums && i >= lines.own) pass->sums[2 * (size_t)(j + box->n[1] * k)] = KCycleSumSquares(box->n[0], work);
    KCycleTransferRestrictLine(pass->tr, work, j, k, &lines, pass->coarse);
  }
  KC_BARRIER
}

static void InterpolatePlane(const KCyclePass *pass, PetscInt t, PetscInt low, PetscInt high)
{
  const KCycleBox *box = pass->st->box;

  for (PetscInt i = low; i < high; i++) {
    const PetscInt j = box->dim == 3 ? i : t, k = box->dim == 3 ? t : 0;

    KCycleTransferInterpolateLine(pass->tr, pass->e, j, k, PETSC_TRUE, pass->x + box->n[0] * (j + box->n[1] * k));
  }
  KC_BARRIER
}

/* The lines low to high - 1 of plane t, shared by threads; in 2D a plane is a line. Ends with a barrier */
static void StepPlane(const KCyclePass *pass, const KCycleStep *step, PetscInt t, PetscInt low, PetscInt high)
{
  PetscInt first, end;

  KCycleShare(low, high, &first, &end);
  if (step->kind == KCYCLE_STEP_SMOOTH) (*pass->smoother->ops.plane)(pass, step, t, first, end);
  else if (step->kind == KCYCLE_STEP_RESTRICT) RestrictPlane(pass, t, low, high);
  else InterpolatePlane(pass, t, first, end);
}

/* The planes that step i runs on before any exchange: first to last. All where they are not coupled; ghost points as
   far as later steps need them */
void KCyclePassInnerPlanes(const KCyclePass *pass, PetscInt i, PetscInt *first, PetscInt *last)
{
  const KCycleBox *box  = pass->st->box;
  const PetscInt   slow = box->dim - 1, planes = KCyclePlanes(box), margin = pass->step[i].margin;
  const PetscInt(*ghostrows)[2] = pass->smoother->ghostrows;
  const PetscInt  behind        = pass->st->shape.flat ? 0 : i;
  const PetscBool low           = (PetscBool)(box->periodic[slow] || box->start[slow] > 0);
  const PetscBool high          = (PetscBool)(box->periodic[slow] || box->start[slow] + box->n[slow] < box->size[slow]);

  *first = ghostrows ? PetscMax(0, ghostrows[slow][0] - margin) : low ? behind : 0;
  *last  = planes - 1 - (ghostrows ? PetscMax(0, ghostrows[slow][1] - margin) : high ? behind : 0);
  if (*first > *last) {
    *first = planes; /* none */
    *last  = planes - 1;
  }
}

/* Of lines low to high - 1 of a plane those that step i runs on */
void KCyclePassLines(const KCyclePass *pass, PetscInt i, PetscInt *low, PetscInt *high)
{
  const PetscInt(*ghostrows)[2] = pass->smoother->ghostrows;
  const PetscInt m = KCycleLinesOfPlane(pass->st->box), margin = pass->step[i].margin;

  if (!ghostrows || m == 1) return;
  *low  = PetscMax(*low, ghostrows[1][0] - margin);
  *high = PetscMin(*high, m - PetscMax(0, ghostrows[1][1] - margin));
}

/*
  Lines of a strip so that what all steps work on stays in a second-level cache: of x and b, a plane for each step and
  two more. Not where a step relaxes lines of a plane one after the other, or works on one plane at a time
*/
static PetscInt LinesOfStrip(const KCyclePass *pass)
{
  const KCycleBox *box   = pass->st->box;
  const PetscInt64 bytes = 2 * (pass->nsteps + 2) * (PetscInt64)box->n[0] * (PetscInt64)sizeof(KCScalar);
  const PetscInt   m     = KCycleLinesOfPlane(box);

  return pass->smoother->strips && !pass->st->shape.flat
             ? PetscMin(m, PetscMax((PetscInt)(KCYCLE_STRIP_BYTES / bytes), 4))
             : m;
}

static void OuterPlanes(const KCyclePass *pass, PetscInt i)
{
  const KCycleBox *box = pass->st->box;
  PetscInt         first, last;

  KCyclePassInnerPlanes(pass, i, &first, &last);
  for (PetscInt t = 0; t < first; t++) StepPlane(pass, &pass->step[i], t, 0, KCycleLinesOfPlane(box));
  for (PetscInt t = last + 1; t < KCyclePlanes(box); t++)
    StepPlane(pass, &pass->step[i], t, 0, KCycleLinesOfPlane(box));
}

/* The planes that the steps left out, next to those of other processes */
static PetscErrorCode RunOuterPlanes(const KCyclePass *pass)
{
  const KCycleBox *box = pass->st->box;

  PetscFunctionBegin;
  for (PetscInt i = 1; i < pass->nsteps && KCycleBoxTalks(box) && !pass->st->shape.flat; i++) {
    PetscCall(KCycleStencilExchange(pass->st, pass->x));
    KC_PARALLEL(KCyclePointsOfPlane(box))
    OuterPlanes(pass, i);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  All steps through the grid, each one plane after the one before it, strip by strip. The strips of later steps begin a
  line earlier, since a step needs the one before it on both sides:

    step 0   |    strip 0    |    strip 1    |
    step 1   |   strip 0    |    strip 1    |
    step 2   |  strip 0    |    strip 1    |        lines of a plane ->

  Where planes are not coupled all steps work on one plane, then on the next one.
*/
static void BehindEachOther(const KCyclePass *pass)
{
  const KCycleBox *box    = pass->st->box;
  const PetscInt   planes = KCyclePlanes(box), m = KCycleLinesOfPlane(box), width = LinesOfStrip(pass),
                 strips = (m + width - 1) / width, behind = pass->st->shape.flat ? 0 : 1;
  PetscInt first, last;

  for (PetscInt strip = 0; strip < strips; strip++) {
    for (PetscInt t = 0; t < planes + behind * (pass->nsteps - 1); t++) {
      for (PetscInt i = 0; i < pass->nsteps; i++) {
        PetscInt low  = strip ? PetscMax(0, strip * width - i) : 0,
                 high = strip < strips - 1 ? PetscMax(0, (strip + 1) * width - i) : m;

        KCyclePassLines(pass, i, &low, &high);
        KCyclePassInnerPlanes(pass, i, &first, &last);
        if (t - behind * i >= first && t - behind * i <= last)
          StepPlane(pass, &pass->step[i], t - behind * i, low, high);
      }
    }
  }
}

/* Whole planes after each other, the way of the smoother through the cache if it has one */
static PetscErrorCode RunPlanes(const KCyclePass *pass)
{
  PetscFunctionBegin;
  if (pass->step[0].kind != KCYCLE_STEP_INTERPOLATE && !pass->step[0].zeroguess)
    PetscCall(KCycleStencilExchange(pass->st, pass->x));
  if (pass->smoother->run) PetscCall((*pass->smoother->run)(pass));
  else {
    KC_PARALLEL(KCyclePointsOfPlane(pass->st->box))
    BehindEachOther(pass);
  }
  PetscCall(RunOuterPlanes(pass));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs the steps gathered so far */
static PetscErrorCode Run(KCyclePass *pass)
{
  PetscFunctionBegin;
  if (pass->nsteps && pass->smoother->planes) PetscCall(RunPlanes(pass));
  else {
    for (PetscInt i = 0; i < pass->nsteps; i++) PetscCall((*pass->smoother->ops.apart)(pass, &pass->step[i]));
  }
  pass->nsteps = 0;
  pass->start  = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* margin: ghost points at each side that are wanted of what the sweeps leave, whose steps read the points next to those
   that they relax */
static PetscErrorCode PassCreate(KCycleSmoother *s, const KCycleSweeps *sweeps, PetscInt margin, const KCScalar *b,
                                 KCScalar *x, KCyclePass *pass)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(pass, sizeof(*pass)));
  pass->margin   = margin + s->nsteps * KCycleSweepsTurns(sweeps) - 1;
  pass->smoother = s;
  pass->st       = s->st;
  pass->b        = b;
  pass->x        = x;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool GoesThrough(const KCycleSmoother *s, int number)
{
  return (PetscBool)(s->ops.through && (*s->ops.through)(s, number));
}

/* Appends a sweep; a step that needs all planes runs at once, after those gathered so far */
static PetscErrorCode AddSweep(KCyclePass *pass, PetscBool backward, PetscBool zeroguess)
{
  const int nsteps = pass->smoother->nsteps;

  PetscFunctionBegin;
  for (int i = 0; i < nsteps; i++) {
    const int        number = backward ? nsteps - 1 - i : i;
    const KCycleStep step   = {KCYCLE_STEP_SMOOTH, number, backward, (PetscBool)(zeroguess && i == 0), pass->margin--};

    if (GoesThrough(pass->smoother, number)) {
      PetscCall(Run(pass));
      PetscCall((*pass->smoother->ops.apart)(pass, &step));
    } else pass->step[pass->nsteps++] = step;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Appends sweeps; as many go after each other as the list of steps holds, and one step is left for the residual */
static PetscErrorCode AddSweeps(KCyclePass *pass, const KCycleSweeps *sweeps)
{
  const KCycleSmoother *s     = pass->smoother;
  const PetscInt        most  = s->run ? s->most : KC_PASS_STEPS;
  const PetscBool       both  = (PetscBool)(sweeps->order == PC_RELAX_ORDER_SYMMETRIC);
  PetscBool             first = (PetscBool)(sweeps->zeroguess && s->fromzero);

  PetscFunctionBegin;
  if (sweeps->zeroguess && (!s->fromzero || !sweeps->its)) PetscCall(PetscArrayzero(pass->x, pass->st->box->npoints));
  for (PetscInt i = 0; i < sweeps->its; i++) {
    if (pass->nsteps + (both ? 2 : 1) * s->nsteps >= most) PetscCall(Run(pass));
    PetscCall(AddSweep(pass, KCycleSweepsBackward(sweeps), first));
    if (both) PetscCall(AddSweep(pass, PETSC_TRUE, PETSC_FALSE));
    first = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCyclePassSweeps(KCycleSmoother *s, const KCycleSweeps *sweeps, const KCScalar *b, KCScalar *x)
{
  KCyclePass pass;

  PetscFunctionBegin;
  PetscCall(KCycleSmootherLogFlops(s, sweeps));
  PetscCall(PassCreate(s, sweeps, 0, b, x, &pass));
  PetscCall(AddSweeps(&pass, sweeps));
  PetscCall(Run(&pass));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Trips of a sweep through the grid */
static PetscInt Groups(const KCycleSmoother *s)
{
  PetscInt groups = 0;

  for (int i = 0; i < s->nsteps; i++) groups += !i || GoesThrough(s, i) || GoesThrough(s, i - 1) ? 1 : 0;
  return groups;
}

/* How often sweeps go through the grid; rides: with a residual or an interpolation in the same pass */
PetscInt KCycleSmootherTrips(const KCycleSmoother *s, const KCycleSweeps *sweeps, PetscBool rides)
{
  const PetscInt most = s->run ? s->most : KC_PASS_STEPS, turns = sweeps->order == PC_RELAX_ORDER_SYMMETRIC ? 2 : 1,
                 steps = s->nsteps * turns, groups = Groups(s);

  if (s->ops.trips) return (*s->ops.trips)(s, sweeps, rides);
  if (!s->nsteps) return s->trips * sweeps->its;
  if (!s->planes) return steps * sweeps->its;
  if (s->single) return sweeps->its * groups + (rides ? 1 : 0);
  if (groups > 1 || GoesThrough(s, 0))
    return sweeps->its * turns * groups + (rides && (!sweeps->its || GoesThrough(s, s->nsteps - 1)) ? 1 : 0);
  if (!sweeps->its) return rides ? 1 : 0;
  return (sweeps->its + (most - 1) / steps - 1) / ((most - 1) / steps);
}

/* x <- sweeps(x), coarse <- coarse + P^T (b - A x); sum: of the squares of the owned b - A x, or NULL */
PetscErrorCode KCyclePassSmoothRestrict(KCycleSmoother *s, const KCycleSweeps *sweeps, const KCScalar *b, KCScalar *x,
                                        const KCycleTransfer *tr, KCScalar *coarse, PetscReal *sum)
{
  const KCycleStep restriction = {KCYCLE_STEP_RESTRICT, 0, PETSC_FALSE, PETSC_FALSE, 1};
  const size_t     nsums       = 2 * (size_t)s->st->box->nlines;
  KCyclePass       pass;

  PetscFunctionBegin;
  PetscCall(KCycleSmootherLogFlops(s, sweeps));
  PetscCall(PassCreate(s, sweeps, 2, b, x, &pass));
  pass.tr     = tr;
  pass.coarse = coarse;
  pass.start  = sweeps->start;
  if (sum) {
    pass.sums = s->sums;
    PetscCall(PetscArrayzero(pass.sums, nsums));
    *sum = 0;
  }
  PetscCall(PetscLogFlops((2.0 * pass.st->shape.ncoeffs + 5) * pass.st->box->npoints)); /* residual and restriction */
  PetscCall(AddSweeps(&pass, sweeps));
  pass.step[pass.nsteps++] = restriction;
  PetscCall(KCycleTransferRestrictBegin(tr));
  PetscCall(Run(&pass));
  PetscCall(KCycleTransferRestrictEnd(tr, coarse));
  for (size_t i = 0; sum && i < nsums; i++) *sum += pass.sums[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- sweeps(x + P e) */
PetscErrorCode KCyclePassInterpolateSmooth(KCycleSmoother *s, const KCycleSweeps *sweeps, const KCycleTransfer *tr,
                                           const KCScalar *e, const KCScalar *b, KCScalar *x)
{
  KCyclePass pass;

  PetscFunctionBegin;
  PetscCall(KCycleSmootherLogFlops(s, sweeps));
  PetscCall(PassCreate(s, sweeps, 0, b, x, &pass));
  pass.tr = tr;
  pass.e  = e;
  PetscCall(KCycleBoxExchange(pass.tr->coarse, PETSC_TRUE, e, pass.tr->halo));
  pass.step[pass.nsteps].kind     = KCYCLE_STEP_INTERPOLATE;
  pass.step[pass.nsteps++].margin = pass.margin + 1;
  PetscCall(AddSweeps(&pass, sweeps));
  pass.converts = (PetscBool)(s->vectors && s->vectors->to);
  PetscCall(Run(&pass));
  PetscFunctionReturn(PETSC_SUCCESS);
}
