/*
  Sweeps of PCRELAX, plane by plane (in 2D line by line).

  A coloured sweep has two halves: red and black, or the planes of even and of odd parity. Half a sweep on plane t needs the earlier
  half on planes t - 1 to t + 1 alone. So the steps of a multigrid stroke run behind each other through the grid, one
  plane apart, and all but the first find their planes in cache:

    plane        t       t - 1    t - 2                      t            t - 1    t - 2
    down stroke  red     black    residual, restriction      up stroke    interpolation  black   red

  Where the slowest direction is cut into processes, or wraps around, step i leaves out i planes at that end, which need halo planes of the
  step before. They follow when all has run: for each step one exchange, and the planes that it left out. Their inner
  neighbours have had that same step, but not a later one, and no step reads what it writes itself in other planes.

  Where other directions are cut or wrap around, each plane needs a halo, and colours sweep one after the other with exchanges between them.

  Threads share the lines of each plane, in 3D. Of what another thread computes, a line needs lines beside it as an earlier step has left them, and there
  are barriers between; what changes at the same time is not read.
*/
#include <petsckcycle/private/relaximpl.h>

#define MAX_STEPS 32

/* Bytes of a second-level cache that a strip may take */
#define KCYCLE_CACHE 400000

typedef enum {
  STEP_HALF,       /* half a coloured sweep */
  STEP_RESTRICT,   /* residual and restriction */
  STEP_INTERPOLATE /* interpolation and addition */
} StepKind;

typedef struct {
  StepKind  kind;
  int       half;      /* which half of a sweep */
  PetscBool reverse;   /* colours within the half in reverse order */
  PetscBool zeroguess; /* x counts as zero, and may hold anything */
} Step;

typedef struct {
  const PC_Relax      *relax;
  const Mat_Stencil   *st;
  const PetscScalar   *b;
  PetscScalar         *x;
  Mat_StencilTransfer *tr;
  PetscScalar         *coarse; /* restricted residual */
  const PetscScalar   *e;      /* coarse correction */
  PetscInt             nsteps;
  Step                 step[MAX_STEPS];
} Stroke;

/* Planes of the box, lines of a plane */
static PetscInt Planes(const KCycleBox *box)
{
  return box->dim == 3 ? box->n[2] : box->dim == 2 ? box->n[1] : 1;
}

static PetscInt LinesOfPlane(const KCycleBox *box)
{
  return box->dim == 3 ? box->n[1] : 1;
}

/* Points that threads share between two barriers; a plane that is a line is not shared */
static PetscInt PointsOfPlane(const KCycleBox *box)
{
  return LinesOfPlane(box) > 1 ? box->n[0] * LinesOfPlane(box) : 0;
}

/* Parity of a coordinate of the owned box, even for points that coarse grids keep */
static PetscInt Parity(const Stroke *s, PetscInt d, PetscInt i)
{
  return (i + s->st->box->start[d] + s->relax->origin[d]) & 1;
}

/*
  One line: points of the given parity in x, counted from the first point of the line. Not in place: a vector load that overlaps what was stored just
  before waits until the store has left the store buffer, which takes twice the time of the detour
*/
static void RelaxLine(const Stroke *s, PetscInt j, PetscInt k, PetscInt parity, PetscBool zeroguess)
{
  const KCycleBox   *box  = s->st->box;
  const PetscInt     at   = box->n[0] * (j + box->n[1] * k);
  const PetscScalar *w    = s->relax->weights + parity;
  PetscScalar       *work = s->relax->line + KCycleThread() * 2 * box->n[0];
  KCycleLine         l;

  if (zeroguess) {
    KCycleLineCoefficients(s->st, j, k, &l);
    KCycleLineScale(&s->st->shape, &l, s->b + at, w, s->x + at);
  } else {
    KCycleLineGather(s->st, s->x, s->st->halo, j, k, &l);
    KCycleLineCompute(&s->st->shape, KC_RELAX, &l, s->b + at, w, work);
    memcpy(s->x + at, work, box->n[0] * sizeof(PetscScalar));
  }
}

/* Both parities in x of a line */
static void RelaxBoth(const Stroke *s, PetscInt j, PetscInt k, PetscBool reverse)
{
  const PetscInt     first = Parity(s, 0, 0) ^ (reverse ? 1 : 0), at = s->st->box->n[0] * (j + s->st->box->n[1] * k);
  const PetscScalar *w = s->relax->weights;
  KCycleLine         l;

  KCycleLineGather(s->st, s->x, s->st->halo, j, k, &l);
  KCycleLineRelaxBoth(s->st, &l, s->b + at, w + first, w + 1 - first, s->relax->line + KCycleThread() * 2 * s->st->box->n[0], s->x + at);
}

/* Which points of line l of plane t are of a half of a red-black sweep: those of this parity of their place on the line */
static PetscInt ParityOfHalf(const Stroke *s, int half, PetscInt t, PetscInt l)
{
  const Mat_Stencil *st = s->st;
  const PetscInt     d  = st->box->dim - 1;

  return (half + Parity(s, 0, 0) + (d > 0 ? Parity(s, d, t) : 0) + (d > 1 ? Parity(s, 1, l) : 0)) & 1;
}

/* The lines of one parity, then the others, where several threads work: lines are written as a whole, and no line shall be read meanwhile */
static void RedBlackPlane(const Stroke *s, const Step *step, PetscInt t, PetscInt low, PetscInt high)
{
  const PetscBool three  = (PetscBool)(s->st->box->dim == 3);
  const PetscInt  passes = KCycleTeam() > 1 ? 2 : 1;

  for (PetscInt pass = 0; pass < passes; pass++) {
    for (PetscInt l = low; l < high; l++) {
      if (passes == 2 && (l & 1) != pass) continue;
      RelaxLine(s, three ? l : t, three ? t : 0, ParityOfHalf(s, step->half, t, l), step->zeroguess);
    }
    KC_BARRIER
  }
}

static void HalfSweepPlane(const Stroke *s, const Step *step, PetscInt t, PetscInt low, PetscInt high)
{
  const KCycleBox *box = s->st->box;
  const PetscInt   d   = box->dim - 1;

  if (s->relax->used == PC_RELAX_REDBLACK) {
    RedBlackPlane(s, step, t, low, high);
    return;
  }
  if (d > 0 && Parity(s, d, t) != step->half) return;
  if (box->dim < 3) RelaxBoth(s, t, 0, step->reverse);
  for (PetscInt pass = 0; box->dim == 3 && pass < 2; pass++) {
    for (PetscInt j = low; j < high; j++) {
      if (Parity(s, 1, j) == (step->reverse ? 1 - pass : pass)) RelaxBoth(s, j, t, step->reverse);
    }
    KC_BARRIER
  }
}

/* A residual line goes to the coarse grid at once */
static void RestrictPlane(const Stroke *s, PetscInt t, PetscInt low, PetscInt high)
{
  const KCycleBox    *box  = s->st->box;
  PetscScalar        *work = s->tr->line + KCycleThread() * box->n[0];
  KCycleTransferLines lines;
  KCycleLine          l;

  KCycleTransferShare(s->tr, low, high, &lines);
  for (PetscInt i = PetscMax(low, lines.low[0]); i < PetscMin(high, lines.high[0]); i++) {
    const PetscInt j = box->dim == 3 ? i : t, k = box->dim == 3 ? t : 0;

    KCycleLineGather(s->st, s->x, s->st->halo, j, k, &l);
    KCycleLineCompute(&s->st->shape, KC_RESIDUAL, &l, s->b + box->n[0] * (j + box->n[1] * k), NULL, work);
    KCycleTransferRestrictLine(s->tr, work, j, k, &lines, s->coarse);
  }
  KC_BARRIER
}

static void InterpolatePlane(const Stroke *s, PetscInt t, PetscInt low, PetscInt high)
{
  const KCycleBox *box = s->st->box;

  for (PetscInt i = low; i < high; i++) {
    const PetscInt j = box->dim == 3 ? i : t, k = box->dim == 3 ? t : 0;

    KCycleTransferInterpolateLine(s->tr, s->e, j, k, PETSC_TRUE, s->x + box->n[0] * (j + box->n[1] * k));
  }
  KC_BARRIER
}

/* The lines low to high - 1 of plane t, shared by threads; in 2D a plane is a line. Ends with a barrier */
static void StepPlane(const Stroke *s, const Step *step, PetscInt t, PetscInt low, PetscInt high)
{
  PetscInt first, end;

  KCycleShare(low, high, &first, &end);
  if (step->kind == STEP_HALF) HalfSweepPlane(s, step, t, first, end);
  else if (step->kind == STEP_RESTRICT) RestrictPlane(s, t, low, high);
  else InterpolatePlane(s, t, first, end);
}

/* Do planes need nothing of other processes but whole planes, once for half a sweep? Not where an odd number of them wraps around: two of the same half are neighbours there */
static PetscBool PlanesAreWhole(const PC_Relax *relax)
{
  const KCycleBox *box = ((Mat_Stencil *)relax->A->data)->box;

  if (relax->used != PC_RELAX_REDBLACK && box->periodic[box->dim - 1] && box->size[box->dim - 1] % 2) return PETSC_FALSE;
  return (PetscBool)(!box->ends && (box->dim < 3 || (box->nproc[1] == 1 && !box->periodic[1])));
}

/* For box stencils; not in two dimensions where lines on all processes are shared, as there is nothing to gain */
static PetscErrorCode CreateBoxWindow(PC_Relax *relax)
{
  const Mat_Stencil *st   = (Mat_Stencil *)relax->A->data;
  const PetscInt     dim  = st->box->dim;
  int                mine = dim == 3 || st->store.used > 0, any;

  PetscFunctionBegin;
  PetscCall(KCycleBoxWindowDestroy(&relax->boxwindow));
  if (relax->used <= PC_RELAX_REDBLACK || !st->shape.box || dim == 1 || !PlanesAreWhole(relax)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_LOR, PetscObjectComm((PetscObject)relax->A)));
  if (any) PetscCall(KCycleBoxWindowCreate(st, &relax->boxwindow));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Anew for each operator, as other lines may have become constant. None where points of one colour are neighbours, as an odd number of planes that wraps around makes them;
  nor with clusters, beside which sweeps go one by one
*/
PetscErrorCode KCycleRelaxCreateWindow(PC_Relax *relax)
{
  const Mat_Stencil *st   = (Mat_Stencil *)relax->A->data;
  const PetscInt     slow = st->box->dim - 1;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)relax->A, &relax->window_state));
  PetscCall(KCycleWindowDestroy(&relax->window));
  PetscCall(CreateBoxWindow(relax));
  if (relax->used != PC_RELAX_REDBLACK || relax->weight != 1 || st->shape.box || slow == 0 || !PlanesAreWhole(relax)) PetscFunctionReturn(PETSC_SUCCESS);
  if (relax->clusters || (st->box->periodic[slow] && st->box->size[slow] % 2)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleWindowCreate(st, &relax->window));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The planes that step i runs on before any exchange: first to last */
static void InnerPlanes(const KCycleBox *box, PetscInt i, PetscInt *first, PetscInt *last)
{
  const PetscInt  slow = box->dim - 1, planes = Planes(box);
  const PetscBool low = (PetscBool)(box->periodic[slow] || box->start[slow] > 0), high = (PetscBool)(box->periodic[slow] || box->start[slow] + box->n[slow] < box->size[slow]);

  *first = low ? i : 0;
  *last  = high ? planes - 1 - i : planes - 1;
  if (*first > *last) {
    *first = planes; /* none */
    *last  = planes - 1;
  }
}

static PetscErrorCode Exchange(const Stroke *s)
{
  const PetscBool corners = (PetscBool)(s->st->shape.box != 0);

  PetscFunctionBegin;
  PetscCall(KCycleBoxExchange(s->st->box, corners, s->x, s->st->halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines of a strip so that what all steps work on stays in a second-level cache: of x and b, a plane for each step and two more. Two colours only:
   more of them take turns within a plane */
static PetscInt LinesOfStrip(const Stroke *s)
{
  const KCycleBox *box   = s->st->box;
  const PetscInt64 bytes = 2 * (s->nsteps + 2) * (PetscInt64)box->n[0] * (PetscInt64)sizeof(PetscScalar);
  const PetscInt   m     = LinesOfPlane(box);

  return s->relax->used == PC_RELAX_REDBLACK ? PetscMin(m, PetscMax((PetscInt)(KCYCLE_CACHE / bytes), 4)) : m;
}

static void OuterPlanes(const Stroke *s, PetscInt i)
{
  const KCycleBox *box = s->st->box;
  PetscInt         first, last;

  InnerPlanes(box, i, &first, &last);
  for (PetscInt t = 0; t < first; t++) StepPlane(s, &s->step[i], t, 0, LinesOfPlane(box));
  for (PetscInt t = last + 1; t < Planes(box); t++) StepPlane(s, &s->step[i], t, 0, LinesOfPlane(box));
}

/* The planes that the steps left out, at ends where other processes follow */
static PetscErrorCode RunOuterPlanes(const Stroke *s)
{
  const KCycleBox *box = s->st->box;

  PetscFunctionBegin;
  for (PetscInt i = 1; i < s->nsteps && KCycleBoxTalks(box); i++) {
    PetscCall(Exchange(s));
    KC_PARALLEL(PointsOfPlane(box))
    OuterPlanes(s, i);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  All steps through the grid, each one plane behind the one before it, strip by strip. The strips of later steps begin a line earlier, since
  a step needs the one before it on both sides:

    step 0   |    strip 0    |    strip 1    |
    step 1   |   strip 0    |    strip 1    |
    step 2   |  strip 0    |    strip 1    |        lines of a plane ->
*/
static void BehindEachOther(const Stroke *s)
{
  const KCycleBox *box    = s->st->box;
  const PetscInt   planes = Planes(box), m = LinesOfPlane(box), width = LinesOfStrip(s), strips = (m + width - 1) / width;
  PetscInt         first, last;

  for (PetscInt strip = 0; strip < strips; strip++) {
    for (PetscInt t = 0; t < planes + s->nsteps - 1; t++) {
      for (PetscInt i = 0; i < s->nsteps; i++) {
        const PetscInt low = strip ? PetscMax(0, strip * width - i) : 0, high = strip < strips - 1 ? PetscMax(0, (strip + 1) * width - i) : m;

        InnerPlanes(box, i, &first, &last);
        if (t - i >= first && t - i <= last) StepPlane(s, &s->step[i], t - i, low, high);
      }
    }
  }
}

/* A strip of lines on its way through the window: those packed, those that earlier strips have not seen, and this thread's share, first to end - 1, in all planes and steps */
typedef struct {
  PetscInt bottom, start, top, first, end;
} Strip;

/* Step i on the lines low to high - 1 of plane t of the window. Points relaxed in the step before have no residual, those relaxed in the next need no correction */
static void StepWindow(const Stroke *s, const Strip *strip, PetscInt i, PetscInt t, PetscInt low, PetscInt high)
{
  const Step         *step = &s->step[i], *beside = step->kind == STEP_RESTRICT ? (i ? step - 1 : NULL) : i + 1 < s->nsteps ? step + 1 : NULL;
  KCycleTransferLines lines;
  PetscInt            first = PetscMax(low, strip->first), end = PetscMin(high, strip->end);

  if (step->kind == STEP_RESTRICT) {
    KCycleTransferShare(s->tr, strip->bottom, strip->top, &lines);
    first = PetscMax(low, lines.low[0]);
    end   = PetscMin(high, lines.high[0]);
    KC_BARRIER /* a line of another thread is read in the next plane too, where the step before is at work */
  }
  for (int half = 0; half < 2; half++) {
    const PetscInt parity = ParityOfHalf(s, half, t, 0);

    if (step->kind == STEP_HALF && step->half == half) KCycleWindowRelax(s->relax->window, t, first, end, parity);
    if (beside && beside->half == half) continue;
    if (step->kind == STEP_RESTRICT) KCycleWindowRestrict(s->relax->window, t, first, end, parity, s->tr, &lines, s->coarse);
    if (step->kind == STEP_INTERPOLATE) KCycleWindowInterpolate(s->relax->window, t, first, end, parity, s->tr, s->e);
  }
}

/* Lines of plane t come to the window. A first half sweep from zero is done on the way, but for the lines that the last strip has seen */
static void PackPlane(const Stroke *s, const Strip *strip, PetscInt t)
{
  const KCycleWindow *w     = s->relax->window;
  const PetscBool     owned = (PetscBool)(t >= 0 && t < Planes(s->st->box)), zero = (PetscBool)(owned && s->step[0].zeroguess);
  const PetscInt      middle = PetscMax(strip->first, PetscMin(strip->end, zero ? strip->start : strip->top));

  if (strip->first < middle) KCycleWindowPackX(w, s->x, t, strip->first, middle);
  if (strip->first < middle && owned) KCycleWindowPackB(w, s->b, t, strip->first, middle);
  if (zero && middle < strip->end) KCycleWindowRelaxZero(w, s->b, t, middle, strip->end, ParityOfHalf(s, s->step[0].half, t, 0));
}

/*
  Each thread has lines of its own throughout. It reads those beside them in the plane of a step, which the step before has changed a barrier ago, and nobody changes now
  at these points
*/
static void StripThroughWindow(const Stroke *s, Strip strip)
{
  const KCycleBox *box    = s->st->box;
  const PetscInt   planes = Planes(box), m = LinesOfPlane(box), n = s->nsteps;
  PetscInt         first, last;

  KCycleShare(strip.bottom, strip.top, &strip.first, &strip.end);
  for (PetscInt t = -1; t < planes + n; t++) {
    if (t <= planes) PackPlane(s, &strip, t);
    for (PetscInt i = s->step[0].zeroguess ? 1 : 0; i < n; i++) {
      InnerPlanes(box, i, &first, &last);
      if (t - 1 - i >= first && t - 1 - i <= last) StepWindow(s, &strip, i, t - 1 - i, strip.start ? strip.start - i - 1 : 0, strip.top < m ? strip.top - i - 1 : m);
    }
    if (t >= n && t - n < planes) KCycleWindowUnpack(s->relax->window, t - n, strip.first, strip.end, s->x);
    KC_BARRIER
  }
}

/* The same on a window: planes are packed a plane ahead of the first step, and unpacked as they come out of the last */
static PetscErrorCode RunThroughWindow(const Stroke *s)
{
  KCycleWindow  *w = s->relax->window;
  const PetscInt m = LinesOfPlane(s->st->box);

  PetscFunctionBegin;
  if (s->step[0].kind != STEP_INTERPOLATE && !s->step[0].zeroguess) PetscCall(Exchange(s));
  for (PetscInt start = 0; start < m; start += w->width) {
    Strip strip = {0, start, m, 0, 0};

    strip.bottom = PetscMax(strip.bottom, start - s->nsteps - 1);
    strip.top    = PetscMin(strip.top, start + w->width);
    w->base      = strip.bottom - w->lead;
    KC_PARALLEL(PointsOfPlane(s->st->box))
    StripThroughWindow(s, strip);
  }
  PetscCall(RunOuterPlanes(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Half a sweep on a plane of the window for box stencils: the lines of one parity, then the others, as they are neighbours */
static void HalfSweepBoxWindow(const Stroke *s, const Step *step, PetscInt t)
{
  const PetscInt     d = s->st->box->dim - 1, x = Parity(s, 0, 0) ^ (step->reverse ? 1 : 0);
  const PetscScalar *weights[2] = {s->relax->weights + x, s->relax->weights + 1 - x};
  PetscInt           first, end;

  if (Parity(s, d, t) != step->half) return;
  KCycleShare(0, LinesOfPlane(s->st->box), &first, &end);
  for (PetscInt pass = 0; pass < d; pass++) {
    const PetscInt start = d == 2 && Parity(s, 1, first) != (step->reverse ? 1 - pass : pass) ? first + 1 : first;

    KCycleBoxWindowRelax(s->relax->boxwindow, t, start, end, d, step->zeroguess, s->b, weights);
    KC_BARRIER
  }
}

/* A step on plane t of that window; threads share its lines as in StepPlane() */
static void StepBoxWindow(const Stroke *s, const Step *step, PetscInt t)
{
  const PetscInt      m = LinesOfPlane(s->st->box);
  KCycleTransferLines lines;
  PetscInt            first, end;

  if (step->kind == STEP_HALF) {
    HalfSweepBoxWindow(s, step, t);
    return;
  }
  KCycleShare(0, m, &first, &end);
  if (step->kind == STEP_RESTRICT) {
    KCycleTransferShare(s->tr, 0, m, &lines);
    KCycleBoxWindowRestrict(s->relax->boxwindow, t, PetscMax(0, lines.low[0]), PetscMin(m, lines.high[0]), s->b, s->tr, &lines, s->coarse);
  } else KCycleBoxWindowInterpolate(s->relax->boxwindow, t, first, end, s->tr, s->e);
  KC_BARRIER
}

static void PlanesThroughBoxWindow(const Stroke *s)
{
  const KCycleBox *box    = s->st->box;
  const PetscInt   planes = Planes(box), n = s->nsteps;
  PetscInt         low, high, first, last;

  KCycleShare(0, LinesOfPlane(box), &low, &high);
  for (PetscInt t = -1; t < planes + n; t++) {
    if (t <= planes) KCycleBoxWindowPack(s->relax->boxwindow, s->step[0].zeroguess ? NULL : s->x, t, low, high);
    KC_BARRIER
    for (PetscInt i = 0; i < n; i++) {
      InnerPlanes(box, i, &first, &last);
      if (t - 1 - i >= first && t - 1 - i <= last) StepBoxWindow(s, &s->step[i], t - 1 - i);
    }
    if (t >= n && t - n < planes) KCycleBoxWindowUnpack(s->relax->boxwindow, t - n, low, high, s->x);
  }
}

/* On whole planes, straight or on the window for box stencils */
static PetscErrorCode RunBehindEachOther(const Stroke *s)
{
  PetscFunctionBegin;
  if (s->step[0].kind != STEP_INTERPOLATE && !s->step[0].zeroguess) PetscCall(Exchange(s));
  KC_PARALLEL(PointsOfPlane(s->st->box))
  {
    if (s->relax->boxwindow) PlanesThroughBoxWindow(s);
    else BehindEachOther(s);
  }
  PetscCall(RunOuterPlanes(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As RedBlackPlane() does; lines of one of more colours have no neighbours among themselves */
static void ColourPlane(const Stroke *s, PetscInt k, int colour, PetscBool zeroguess)
{
  const Mat_Stencil *st     = s->st;
  const KCycleBox   *box    = st->box;
  const PetscBool    two    = (PetscBool)(s->relax->used == PC_RELAX_REDBLACK);
  const PetscInt     passes = two && KCycleTeam() > 1 ? 2 : 1, x = Parity(s, 0, 0), z = box->dim > 2 ? Parity(s, 2, k) : 0;
  PetscInt           first, end;

  KCycleShare(0, box->n[1], &first, &end);
  for (PetscInt pass = 0; pass < passes; pass++) {
    for (PetscInt j = first; j < end; j++) {
      const PetscInt y = box->dim > 1 ? Parity(s, 1, j) : 0;

      if (passes == 2 && (j & 1) != pass) continue;
      if (two) RelaxLine(s, j, k, (colour + x + y + z) & 1, zeroguess);
      else if (y == ((colour >> 1) & 1) && z == colour >> 2) RelaxLine(s, j, k, (colour + x) & 1, PETSC_FALSE);
    }
    KC_BARRIER
  }
}

static void ColourShare(const Stroke *s, int colour, PetscBool zeroguess)
{
  for (PetscInt k = 0; k < s->st->box->n[2]; k++) ColourPlane(s, k, colour, zeroguess);
}

/* The lines of one colour, after an exchange */
static PetscErrorCode RunColour(const Stroke *s, int colour, PetscBool zeroguess)
{
  PetscFunctionBegin;
  if (!zeroguess) PetscCall(Exchange(s));
  KC_PARALLEL(s->st->box->n[0] * s->st->box->n[1])
  ColourShare(s, colour, zeroguess);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunByColours(const Stroke *s)
{
  const int ncolours = s->relax->used == PC_RELAX_REDBLACK ? 2 : 1 << s->st->box->dim;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < s->nsteps; i++) {
    const Step *step = &s->step[i];

    for (int c = 0; c < ncolours / 2; c++) {
      const int colour = step->half * (ncolours / 2) + (step->reverse ? ncolours / 2 - 1 - c : c);

      PetscCall(RunColour(s, colour, step->zeroguess));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Appends a sweep; only the first half of a red-black sweep can do with an x that holds anything */
static void AddSweep(Stroke *s, PetscBool reverse, PetscBool zeroguess)
{
  for (int half = 0; half < 2; half++) {
    Step *step = &s->step[s->nsteps++];

    step->kind      = STEP_HALF;
    step->half      = reverse ? 1 - half : half;
    step->reverse   = reverse;
    step->zeroguess = (PetscBool)(zeroguess && half == 0 && (s->relax->used == PC_RELAX_REDBLACK || s->relax->boxwindow));
  }
}

static PetscErrorCode StrokeCreate(PC_Relax *relax, const PetscScalar *b, PetscScalar *x, PetscBool zeroguess, Stroke *s)
{
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)relax->A, &state));
  if (relax->window_state != state) PetscCall(KCycleRelaxCreateWindow(relax)); /* a preconditioner that is kept sweeps with the operator's new values */
  PetscCall(PetscMemzero(s, sizeof(*s)));
  s->relax = relax;
  s->st    = (Mat_Stencil *)relax->A->data;
  s->b     = b;
  s->x     = x;
  if (zeroguess && relax->used != PC_RELAX_REDBLACK && !relax->boxwindow) PetscCall(PetscArrayzero(x, s->st->box->npoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs the steps gathered so far */
static PetscErrorCode Run(Stroke *s)
{
  PetscFunctionBegin;
  if (!s->nsteps) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->relax->window) PetscCall(RunThroughWindow(s));
  else if (PlanesAreWhole(s->relax)) PetscCall(RunBehindEachOther(s));
  else PetscCall(RunByColours(s));
  s->nsteps = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sweeps in the order asked for; as many behind each other as the list of steps holds */
static PetscErrorCode ColouredSweeps(Stroke *s, PetscBool reverse, PetscInt its, PetscBool zeroguess)
{
  const PC_Relax    *relax = s->relax;
  const PCRelaxOrder order = KCycleRelaxOrder(relax);
  const PetscBool    both = (PetscBool)(order == PC_RELAX_SYMMETRIC), backward = (PetscBool)((order == PC_RELAX_BACKWARD) != reverse);

  PetscFunctionBegin;
  if (zeroguess && its == 0) PetscCall(PetscArrayzero(s->x, s->st->box->npoints));
  for (PetscInt i = 0; i < its; i++) {
    if (s->nsteps + (both ? 4 : 2) >= (relax->window || relax->boxwindow ? KC_WINDOW_STEPS : MAX_STEPS)) PetscCall(Run(s)); /* a place is left for the restriction */
    AddSweep(s, both ? PETSC_FALSE : backward, (PetscBool)(zeroguess && i == 0));
    if (both) AddSweep(s, PETSC_TRUE, PETSC_FALSE);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A Jacobi sweep in place: what the next plane still reads of this one is kept aside */
static void JacobiPlane(const Stroke *s, PetscInt t)
{
  const Mat_Stencil *st     = s->st;
  const KCycleBox   *box    = st->box;
  const PetscInt     length = box->n[0] * LinesOfPlane(box);
  PetscInt           first, end;
  KCycleLine         l;

  KCycleShare(0, LinesOfPlane(box), &first, &end);
  memcpy(s->relax->old + (t & 1) * length + first * box->n[0], s->x + t * length + first * box->n[0], (end - first) * box->n[0] * sizeof(PetscScalar));
  KC_BARRIER
  for (PetscInt i = first; i < end; i++) {
    const PetscInt j = box->dim == 3 ? i : t, k = box->dim == 3 ? t : 0, at = box->n[0] * (j + box->n[1] * k);

    KCycleLineGather(st, s->x, st->halo, j, k, &l);
    for (int q = 0; q < st->shape.nl; q++) {
      const PetscInt jj = j + st->shape.dy[q], kk = k + st->shape.dz[q], plane = box->dim == 3 ? kk : jj;

      if (box->slot[KCycleBoxExtended(box, jj, kk)] < 0 && plane <= t) l.x[q] = s->relax->old + (plane & 1) * length + (box->dim == 3 ? jj * box->n[0] : 0);
    }
    KCycleLineCompute(&st->shape, KC_RELAX, &l, s->b + at, s->relax->weights, s->x + at);
  }
  KC_BARRIER
}

static void JacobiFromZero(const Stroke *s)
{
  const KCycleBox *box = s->st->box;
  PetscInt         first, end;

  KCycleShare(0, box->nlines, &first, &end);
  for (PetscInt l = first; l < end; l++) {
    KCycleLine line;

    KCycleLineCoefficients(s->st, l % box->n[1], l / box->n[1], &line);
    KCycleLineScale(&s->st->shape, &line, s->b + l * box->n[0], s->relax->weights, s->x + l * box->n[0]);
  }
}

static void JacobiPlanes(const Stroke *s)
{
  for (PetscInt t = 0; t < Planes(s->st->box); t++) JacobiPlane(s, t);
}

static PetscErrorCode JacobiSweeps(Stroke *s, PetscInt its, PetscBool zeroguess)
{
  const KCycleBox *box = s->st->box;

  PetscFunctionBegin;
  if (zeroguess && its > 0) {
    KC_PARALLEL(box->npoints)
    JacobiFromZero(s);
  }
  for (PetscInt i = zeroguess ? 1 : 0; i < its; i++) {
    PetscCall(Exchange(s));
    KC_PARALLEL(PointsOfPlane(box))
    JacobiPlanes(s);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each point is computed once in a sweep; those of other colours, which the kernels compute and leave as they are, do not count */
static PetscErrorCode LogSweeps(const PC_Relax *relax, PetscInt its, PetscInt more)
{
  const Mat_Stencil *st = (Mat_Stencil *)relax->A->data;

  PetscFunctionBegin;
  PetscCall(PetscLogFlops(((2.0 * st->shape.ncoeffs + 3) * its * (KCycleRelaxOrder(relax) == PC_RELAX_SYMMETRIC ? 2 : 1) + more) * st->box->npoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sweeps without corrections */
static PetscErrorCode PlainSweeps(PC_Relax *relax, PetscBool reverse, const PetscScalar *b, PetscScalar *x, PetscInt its, PetscBool zeroguess)
{
  Stroke s;

  PetscFunctionBegin;
  PetscCall(LogSweeps(relax, its, 0));
  if (relax->used == PC_RELAX_JACOBI) {
    PetscCall(StrokeCreate(relax, b, x, PETSC_FALSE, &s));
    PetscCall(JacobiSweeps(&s, its, zeroguess));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(StrokeCreate(relax, b, x, zeroguess, &s));
  PetscCall(ColouredSweeps(&s, reverse, its, zeroguess));
  PetscCall(Run(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sweep in one order, and the clusters behind it; in the reverse order before it */
static PetscErrorCode SweepWithClusters(PC_Relax *relax, PetscBool reverse, const PetscScalar *b, PetscScalar *x, PetscBool zeroguess)
{
  PetscFunctionBegin;
  if (!reverse) PetscCall(PlainSweeps(relax, PETSC_FALSE, b, x, 1, zeroguess));
  else if (zeroguess) PetscCall(PetscArrayzero(x, ((Mat_Stencil *)relax->A->data)->box->npoints));
  PetscCall(KCycleClustersCorrect(relax->clusters, relax->A, reverse, b, x));
  if (reverse) PetscCall(PlainSweeps(relax, PETSC_TRUE, b, x, 1, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- its sweeps from x, or from zero. With clusters they go one by one; a symmetric one is one forward and one backward */
PetscErrorCode KCycleRelaxSweeps(PC_Relax *relax, PetscBool reverse, const PetscScalar *b, PetscScalar *x, PetscInt its, PetscBool zeroguess)
{
  const PCRelaxOrder order = KCycleRelaxOrder(relax), given = relax->order;

  PetscFunctionBegin;
  if (!relax->clusters) {
    PetscCall(PlainSweeps(relax, reverse, b, x, its, zeroguess));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (order == PC_RELAX_SYMMETRIC) relax->order = PC_RELAX_FORWARD;
  for (PetscInt i = 0; i < its; i++) {
    PetscCall(SweepWithClusters(relax, (PetscBool)(order != PC_RELAX_SYMMETRIC && reverse), b, x, (PetscBool)(zeroguess && i == 0)));
    if (order == PC_RELAX_SYMMETRIC) PetscCall(SweepWithClusters(relax, PETSC_TRUE, b, x, PETSC_FALSE));
  }
  relax->order = given;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Can sweep, residual and restriction run in one pass, and interpolation and sweep? */
PetscErrorCode PCRelaxCanFuse(PC pc, Mat A, PetscBool *can)
{
  PC_Relax *relax = (PC_Relax *)pc->data;
  PetscBool ours;

  PetscFunctionBegin;
  *can = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCRELAX, &ours));
  if (!ours || !relax->A || relax->A != A) PetscFunctionReturn(PETSC_SUCCESS);
  *can = (PetscBool)(relax->used >= PC_RELAX_REDBLACK && PlanesAreWhole(relax));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- sweep(x), bcoarse <- P^T (b - A x), in one pass; where there are clusters, in one pass for the sweep and one for the rest, with the corrections between them */
PetscErrorCode PCRelaxSmoothRestrict(PC pc, Mat P, Vec b, Vec x, PetscInt its, PetscBool zeroguess, Vec bcoarse)
{
  PC_Relax          *relax = (PC_Relax *)pc->data;
  const PetscScalar *ba;
  PetscScalar       *xa, *ca;
  Stroke             s;

  PetscFunctionBegin;
  relax->smoothing = PETSC_TRUE;
  PetscCall(VecSet(bcoarse, 0));
  PetscCall(VecGetArrayRead(b, &ba));
  PetscCall(VecGetArray(x, &xa));
  PetscCall(VecGetArray(bcoarse, &ca));
  if (relax->clusters) PetscCall(KCycleRelaxSweeps(relax, PETSC_FALSE, ba, xa, its, zeroguess));
  PetscCall(StrokeCreate(relax, ba, xa, (PetscBool)(zeroguess && !relax->clusters), &s));
  s.tr     = (Mat_StencilTransfer *)P->data;
  s.coarse = ca;
  if (!relax->clusters) PetscCall(ColouredSweeps(&s, PETSC_FALSE, its, zeroguess));
  s.step[s.nsteps++].kind = STEP_RESTRICT;
  PetscCall(LogSweeps(relax, relax->clusters ? 0 : its, 2 * s.st->shape.ncoeffs + 5)); /* residual and restriction */
  PetscCall(MatStencilTransferRestrictBegin(P, ca));
  PetscCall(Run(&s));
  PetscCall(MatStencilTransferRestrictEnd(P, ca));
  PetscCall(VecRestoreArray(bcoarse, &ca));
  PetscCall(VecRestoreArray(x, &xa));
  PetscCall(VecRestoreArrayRead(b, &ba));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- reverse sweep(x + P e), in one pass, or in two, as above */
PetscErrorCode PCRelaxInterpolateSmooth(PC pc, Mat P, Vec e, Vec b, PetscInt its, Vec x)
{
  PC_Relax          *relax = (PC_Relax *)pc->data;
  const PetscScalar *ba, *ea;
  PetscScalar       *xa;
  Stroke             s;

  PetscFunctionBegin;
  relax->smoothing = PETSC_TRUE;
  PetscCall(VecGetArrayRead(b, &ba));
  PetscCall(VecGetArrayRead(e, &ea));
  PetscCall(VecGetArray(x, &xa));
  PetscCall(StrokeCreate(relax, ba, xa, PETSC_FALSE, &s));
  s.tr = (Mat_StencilTransfer *)P->data;
  s.e  = ea;
  PetscCall(KCycleBoxExchange(s.tr->coarse, PETSC_TRUE, ea, s.tr->halo));
  s.step[s.nsteps++].kind = STEP_INTERPOLATE;
  if (!relax->clusters) PetscCall(ColouredSweeps(&s, PETSC_TRUE, its, PETSC_FALSE));
  PetscCall(Run(&s));
  if (relax->clusters) PetscCall(KCycleRelaxSweeps(relax, PETSC_TRUE, ba, xa, its, PETSC_FALSE));
  PetscCall(VecRestoreArray(x, &xa));
  PetscCall(VecRestoreArrayRead(e, &ea));
  PetscCall(VecRestoreArrayRead(b, &ba));
  PetscFunctionReturn(PETSC_SUCCESS);
}
