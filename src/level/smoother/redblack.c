/*
  Gauss-Seidel in two colours: points by the parity of the sum of their coordinates. A sweep has two steps, red and
  black.
*/
#include "colours.h"

/* Which points of line l of plane t are of a half of a red-black sweep: those of this parity of their index on the
   line */
static PetscInt ParityOfHalf(const KCyclePass *pass, int half, PetscInt t, PetscInt l)
{
  const KCycleStencil *st = pass->st;
  const PetscInt       d  = st->box->dim - 1;

  return (half + KCycleParity(pass, 0, 0) + (d > 0 ? KCycleParity(pass, d, t) : 0) +
          (d > 1 ? KCycleParity(pass, 1, l) : 0)) &
         1;
}

/* The points of a half sweep on lines first to end - 1 of plane k, a thread's share. The lines of one parity, then the
   others, where several threads work: lines are written as a whole, and no line shall be read meanwhile */
static void RelaxLines(const KCyclePass *pass, const KCycleStep *step, PetscInt k, PetscInt first, PetscInt end)
{
  const PetscInt turns = KCycleTeam() > 1 ? 2 : 1, dim = pass->st->box->dim;
  const PetscInt across = step->number + KCycleParity(pass, 0, 0) + (dim > 2 ? KCycleParity(pass, 2, k) : 0);

  for (PetscInt turn = 0; turn < turns; turn++) {
    for (PetscInt j = first; j < end; j++) {
      if (turns == 2 && (j & 1) != turn) continue;
      KCycleColoursRelaxLine(pass, j, k, (across + (dim > 1 ? KCycleParity(pass, 1, j) : 0)) & 1, step->zeroguess);
    }
    KC_BARRIER
  }
}

/* In 2D a plane is a line */
static void Plane(const KCyclePass *pass, const KCycleStep *step, PetscInt t, PetscInt low, PetscInt high)
{
  if (pass->st->box->dim == 3) RelaxLines(pass, step, t, low, high);
  else RelaxLines(pass, step, 0, t + low, t + high);
}

/* A strip of lines on its way through the tile: those packed, those that earlier strips have not seen, and this
   thread's share, first to end - 1, in all planes and steps */
typedef struct {
  PetscInt bottom, start, top, first, end;
} Strip;

/* Step i on the lines low to high - 1 of plane t of the tile. Points relaxed in the step before have no residual,
   those relaxed in the next need no correction */
static void StepTile(const KCyclePass *pass, const Strip *strip, PetscInt i, PetscInt t, PetscInt low, PetscInt high)
{
  const KCycleStep *step = &pass->step[i], *beside = step->kind == KCYCLE_STEP_RESTRICT ? (i ? step - 1 : NULL)
                                                     : i + 1 < pass->nsteps             ? step + 1
                                                                                        : NULL;
  KCycleRestriction to;
  PetscInt          first = PetscMax(low, strip->first), end = PetscMin(high, strip->end);

  to.tr = pass->tr;
  to.b  = pass->coarse;
  if (step->kind == KCYCLE_STEP_RESTRICT) {
    KCycleTransferShare(to.tr, strip->bottom, strip->top, &to.lines);
    first = PetscMax(low, to.lines.low[0]);
    end   = PetscMin(high, to.lines.high[0]);
    KC_BARRIER /* a line of another thread is read in the next plane too, where the step before is at work */
  }
  for (int half = 0; half < 2; half++) {
    const PetscInt parity = ParityOfHalf(pass, half, t, 0);

    if (step->kind == KCYCLE_STEP_SMOOTH && step->number == half)
      KCycleTileRelax(KCycleColoursOf(pass)->tile, t, first, end, parity);
    if (beside && beside->number == half) continue;
    if (step->kind == KCYCLE_STEP_RESTRICT) KCycleTileRestrict(KCycleColoursOf(pass)->tile, t, first, end, parity, &to);
    if (step->kind == KCYCLE_STEP_INTERPOLATE)
      KCycleTileInterpolate(KCycleColoursOf(pass)->tile, t, first, end, parity, pass->tr, pass->e);
  }
}

/* Lines of plane t come to the tile. What x starts with is interpolated on the way, or a first half sweep from zero
   done, but for the lines that the last strip has seen */
static void PackPlane(const KCyclePass *pass, const Strip *strip, PetscInt t)
{
  const KCycleTile *w     = KCycleColoursOf(pass)->tile;
  const PetscBool   owned = (PetscBool)(t >= 0 && t < KCyclePlanes(pass->st->box)),
                  zero    = (PetscBool)(owned && pass->step[0].zeroguess);
  const PetscInt middle   = PetscMax(strip->first, PetscMin(strip->end, zero ? strip->start : strip->top));

  const PetscInt seen = pass->start && owned ? PetscMax(strip->first, PetscMin(strip->end, strip->start)) : middle;

  if (strip->first < seen) KCycleTilePackX(w, pass->x, t, strip->first, seen);
  if (seen < middle) KCycleTileStart(w, pass->start, t, seen, middle);
  if (strip->first < middle && owned) KCycleTilePackB(w, pass->b, t, strip->first, middle);
  if (zero && middle < strip->end)
    KCycleTileRelaxZero(w, pass->b, t, middle, strip->end, ParityOfHalf(pass, pass->step[0].number, t, 0));
}

/* Lines of plane t leave the tile: those that the next strip goes on with, for it */
static void UnpackPlane(const KCyclePass *pass, const Strip *strip, PetscInt t)
{
  const KCycleTile *w    = KCycleColoursOf(pass)->tile;
  const PetscInt    last = strip->top == KCycleLinesOfPlane(pass->st->box) ? strip->top : strip->top - pass->nsteps - 1;
  const PetscInt    middle = PetscMax(strip->first, PetscMin(strip->end, last));

  KCycleTileUnpack(w, t, strip->first, middle, pass->converts, pass->x);
  KCycleTileUnpack(w, t, middle, strip->end, PETSC_FALSE, pass->x);
}

/*
  Each thread has lines of its own throughout. It reads those next to them in the plane of a step, which the step before
  has changed a barrier ago, and no thread changes now at these points
*/
static void StripThroughTile(const KCyclePass *pass, Strip strip)
{
  const KCycleBox *box    = pass->st->box;
  const PetscInt   planes = KCyclePlanes(box), m = KCycleLinesOfPlane(box), n = pass->nsteps;
  PetscInt         first, last;

  KCycleShare(strip.bottom, strip.top, &strip.first, &strip.end);
  for (PetscInt t = -1; t < planes + n; t++) {
    if (t <= planes) PackPlane(pass, &strip, t);
    for (PetscInt i = pass->step[0].zeroguess ? 1 : 0; i < n; i++) {
      PetscInt low = strip.start ? strip.start - i - 1 : 0, high = strip.top < m ? strip.top - i - 1 : m;

      KCyclePassLines(pass, i, &low, &high);
      KCyclePassInnerPlanes(pass, i, &first, &last);
      if (t - 1 - i >= first && t - 1 - i <= last) StepTile(pass, &strip, i, t - 1 - i, low, high);
    }
    if (t >= n && t - n < planes) UnpackPlane(pass, &strip, t - n);
    KC_BARRIER
  }
}

/* All steps on a tile: planes are packed a plane ahead of the first step, and unpacked as they come out of the
   last */
static PetscErrorCode RunThroughTile(const KCyclePass *pass)
{
  KCycleTile    *w = KCycleColoursOf(pass)->tile;
  const PetscInt m = KCycleLinesOfPlane(pass->st->box);

  PetscFunctionBegin;
  w->sums = pass->sums;
  for (PetscInt start = 0; start < m; start += w->width) {
    Strip strip = {0, start, m, 0, 0};

    strip.bottom = PetscMax(strip.bottom, start - pass->nsteps - 1);
    strip.top    = PetscMin(strip.top, start + w->width);
    w->base      = strip.bottom - w->lead;
    KC_PARALLEL(KCyclePointsOfPlane(pass->st->box))
    StripThroughTile(pass, strip);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is a box stencil a star in truth? Galerkin products of constant coefficients with simplex interpolation are */
static PetscErrorCode IsStar(const KCycleSmoother *s, PetscBool *star)
{
  const KCycleStencil *st   = s->st;
  PetscBool            mine = PETSC_TRUE;
  PetscInt             last = -1;
  int                  here, all;
  KCycleLine           l;

  PetscFunctionBegin;
  for (PetscInt line = 0; st->shape.box && mine && line < st->box->nlines; line++) {
    if (MatStencilLineIsLast(st, line, last)) continue;
    last = line;
    KCycleLineCoefficients(st, line % st->box->n[1], line / st->box->n[1], &l);
    for (int o = 0; o < st->shape.ncoeffs; o++) {
      const int q    = st->shape.line[o],
                away = PetscAbs(st->shape.dx[o]) + PetscAbs(st->shape.dy[q]) + PetscAbs(st->shape.dz[q]);

      for (PetscInt i = 0; away > 1 && i < st->box->n[0]; i++)
        mine = (PetscBool)(mine && KCycleLineCoefficient(&l, o, i) == (KCScalar)0.0);
    }
  }
  here = (int)mine;
  PetscCallMPI(MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_LAND, s->comm));
  *star = (PetscBool)(all != 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  A tile, unless it is of no use: nothing is to be done between sweeps; relaxation replaces a value by another. Where
  points of one colour are neighbours, as an odd number of planes that wraps around makes them, points that are relaxed
  have a residual
*/
static PetscErrorCode Tile(KCycleSmoother *s)
{
  KCycleColours       *colours = (KCycleColours *)s->data;
  const KCycleStencil *st      = s->st;
  const PetscInt       slow    = st->box->dim - 1;

  PetscFunctionBegin;
  s->inparts = s->starts = PETSC_FALSE;
  PetscCall(KCycleTileDestroy(&colours->tile));
  if (s->weight != 1 || s->single || st->shape.box || slow == 0 || !s->planes ||
      (st->box->periodic[slow] && st->box->size[slow] % 2))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleTileCreate(st, s->vectors, &colours->tile));
  if (!colours->tile) PetscFunctionReturn(PETSC_SUCCESS);
  s->run     = RunThroughTile;
  s->inparts = (PetscBool)(s->vectors != NULL);
  s->starts  = (PetscBool)!KCycleBoxTalks(st->box);
  s->most    = KC_TILE_STEPS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void RelaxAll(const KCyclePass *pass, const KCycleStep *step)
{
  PetscInt first, end;

  KCycleShare(0, pass->st->box->n[1], &first, &end);
  for (PetscInt k = 0; k < pass->st->box->n[2]; k++) RelaxLines(pass, step, k, first, end);
}

/* The points of one colour, after an exchange */
static PetscErrorCode Apart(const KCyclePass *pass, const KCycleStep *step)
{
  PetscFunctionBegin;
  if (!step->zeroguess) PetscCall(KCycleStencilExchange(pass->st, pass->x));
  KC_PARALLEL(pass->st->box->n[0] * pass->st->box->n[1])
  RelaxAll(pass, step);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUp(KCycleSmoother *s)
{
  const KCycleShape *shape = &s->st->shape;
  PetscBool          star;

  PetscFunctionBegin;
  PetscCall(IsStar(s, &star));
  PetscCheck(star, s->comm, PETSC_ERR_ARG_INCOMP,
             "Two colours do not separate the points of a %d-point stencil: use -pc_relax_type %s, jacobi or chebyshev",
             shape->ncoeffs, shape->nl == 3 ? "fourcolor" : "eightcolor");
  PetscCall(KCycleColoursSetUp(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSmootherCreate_RedBlack(KCycleSmoother *s)
{
  PetscFunctionBegin;
  PetscCall(KCycleColoursCreate(s));
  s->ops.setup = SetUp;
  s->ops.plane = Plane;
  s->ops.apart = Apart;
  s->ops.tile  = Tile;
  s->nsteps    = 2;
  s->kind      = KCYCLE_SWEEPS_REDBLACK;
  s->strips    = PETSC_TRUE;
  s->fromzero  = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
