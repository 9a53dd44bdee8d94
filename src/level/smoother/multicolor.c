/*
  Gauss-Seidel in four (2D) or eight colours (3D): points by the parities of their coordinates. A sweep has two steps:
  the planes of even and of odd parity.
*/
#include "colours.h"

/* Both parities in x of a line */
static void RelaxBoth(const KCyclePass *pass, PetscInt j, PetscInt k, PetscBool reverse)
{
  const KCycleColours *colours = KCycleColoursOf(pass);
  const PetscInt       n = pass->st->box->n[0], at = n * (j + pass->st->box->n[1] * k),
                 first = KCycleParity(pass, 0, 0) ^ (reverse ? 1 : 0);
  const KCScalar *w    = colours->weights;
  KCycleLine      l;

  KCycleLineGather(pass->st, pass->x, pass->st->halo, j, k, &l);
  KCycleLineRelaxBoth(pass->st, &l, pass->b + at, w + first, w + 1 - first, colours->line + KCycleThread() * 2 * n,
                      pass->x + at);
}

/* The lines of one parity, then the others, as they are neighbours; of the planes of one parity */
static void Plane(const KCyclePass *pass, const KCycleStep *step, PetscInt t, PetscInt low, PetscInt high)
{
  const PetscInt d = pass->st->box->dim - 1;

  if (KCycleParity(pass, d, t) != step->number) return;
  if (d == 1) RelaxBoth(pass, t, 0, step->reverse);
  for (PetscInt turn = 0; d == 2 && turn < 2; turn++) {
    for (PetscInt j = low; j < high; j++) {
      if (KCycleParity(pass, 1, j) == (step->reverse ? 1 - turn : turn)) RelaxBoth(pass, j, t, step->reverse);
    }
    KC_BARRIER
  }
}

/* Half a sweep on a plane of the tile for box stencils: the lines of one parity, then the others, as they are
   neighbours */
static void HalfSweepBoxTile(const KCyclePass *pass, const KCycleStep *step, PetscInt t)
{
  const KCycleColours *colours = KCycleColoursOf(pass);
  const PetscInt       d = pass->st->box->dim - 1, x = KCycleParity(pass, 0, 0) ^ (step->reverse ? 1 : 0);
  const KCScalar      *weights[2] = {colours->weights + x, colours->weights + 1 - x};
  PetscInt             first, end;

  if (KCycleParity(pass, d, t) != step->number) return;
  KCycleShare(0, KCycleLinesOfPlane(pass->st->box), &first, &end);
  for (PetscInt turn = 0; turn < d; turn++) {
    const PetscInt start =
        d == 2 && KCycleParity(pass, 1, first) != (step->reverse ? 1 - turn : turn) ? first + 1 : first;
    const KCyclePlaneLines lines = {t, start, end, d};

    KCycleBoxTileRelax(colours->boxtile, lines, step->zeroguess, pass->b, weights);
    KC_BARRIER
  }
}

/* A step on plane t of that tile; threads share its lines */
static void StepBoxTile(const KCyclePass *pass, const KCycleStep *step, PetscInt t)
{
  const PetscInt    m     = KCycleLinesOfPlane(pass->st->box);
  KCyclePlaneLines  lines = {t, 0, m, 1};
  KCycleRestriction to;
  PetscInt          first, end;

  if (step->kind == KCYCLE_STEP_SMOOTH) {
    HalfSweepBoxTile(pass, step, t);
    return;
  }
  KCycleShare(0, m, &first, &end);
  if (step->kind == KCYCLE_STEP_RESTRICT) {
    to.tr = pass->tr;
    to.b  = pass->coarse;
    KCycleTransferShare(to.tr, 0, m, &to.lines);
    lines.first = PetscMax(0, to.lines.low[0]);
    lines.end   = PetscMin(m, to.lines.high[0]);
    KCycleBoxTileRestrict(KCycleColoursOf(pass)->boxtile, lines, pass->b, &to);
  } else KCycleBoxTileInterpolate(KCycleColoursOf(pass)->boxtile, t, first, end, pass->tr, pass->e);
  KC_BARRIER
}

/* All steps on this tile */
static void PlanesThroughBoxTile(const KCyclePass *pass)
{
  const KCycleBox *box    = pass->st->box;
  const PetscInt   planes = KCyclePlanes(box), n = pass->nsteps;
  PetscInt         low, high, first, last;

  KCycleShare(0, KCycleLinesOfPlane(box), &low, &high);
  for (PetscInt t = -1; t < planes + n; t++) {
    if (t <= planes)
      KCycleBoxTilePack(KCycleColoursOf(pass)->boxtile, pass->step[0].zeroguess ? NULL : pass->x, t, low, high);
    KC_BARRIER
    for (PetscInt i = 0; i < n; i++) {
      KCyclePassInnerPlanes(pass, i, &first, &last);
      if (t - 1 - i >= first && t - 1 - i <= last) StepBoxTile(pass, &pass->step[i], t - 1 - i);
    }
    if (t >= n && t - n < planes) KCycleBoxTileUnpack(KCycleColoursOf(pass)->boxtile, t - n, low, high, pass->x);
  }
}

static PetscErrorCode RunThroughBoxTile(const KCyclePass *pass)
{
  KCycleBoxTile *w = KCycleColoursOf(pass)->boxtile;

  PetscFunctionBegin;
  w->sums = pass->sums;
  KC_PARALLEL(KCyclePointsOfPlane(pass->st->box))
  PlanesThroughBoxTile(pass);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For box stencils; not in two dimensions where lines on all processes share their coefficients, as there is nothing
   to gain */
static PetscErrorCode Tile(KCycleSmoother *s)
{
  KCycleColours       *colours = (KCycleColours *)s->data;
  const KCycleStencil *st      = s->st;
  int                  mine    = st->box->dim == 3 || KCycleStencilHasBlocks(st), any;

  PetscFunctionBegin;
  PetscCall(KCycleBoxTileDestroy(&colours->boxtile));
  s->fromzero = PETSC_FALSE;
  if (!st->shape.box || !s->planes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_LOR, s->comm));
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleBoxTileCreate(st, &colours->boxtile));
  s->run      = RunThroughBoxTile;
  s->most     = KC_TILE_STEPS;
  s->fromzero = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lines of one colour, which have no neighbours among themselves */
static void ColourPlane(const KCyclePass *pass, int colour, PetscInt k)
{
  const KCycleBox *box = pass->st->box;
  PetscInt         first, end;

  KCycleShare(0, box->n[1], &first, &end);
  for (PetscInt j = first; j < end && (box->dim == 2 || KCycleParity(pass, 2, k) == colour >> 2); j++) {
    if (KCycleParity(pass, 1, j) == ((colour >> 1) & 1))
      KCycleColoursRelaxLine(pass, j, k, (colour + KCycleParity(pass, 0, 0)) & 1, PETSC_FALSE);
  }
  KC_BARRIER
}

static void ColourPlanes(const KCyclePass *pass, int colour)
{
  for (PetscInt k = 0; k < pass->st->box->n[2]; k++) ColourPlane(pass, colour, k);
}

/* The colours of one step, after an exchange each */
static PetscErrorCode Apart(const KCyclePass *pass, const KCycleStep *step)
{
  const int ncolours = 1 << (pass->st->box->dim - 1);

  PetscFunctionBegin;
  for (int c = 0; c < ncolours; c++) {
    PetscCall(KCycleStencilExchange(pass->st, pass->x));
    KC_PARALLEL(pass->st->box->n[0] * pass->st->box->n[1])
    ColourPlanes(pass, step->number * ncolours + (step->reverse ? ncolours - 1 - c : c));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where an odd number of planes wraps around two of the same step are neighbours */
static PetscErrorCode SetUp(KCycleSmoother *s)
{
  const KCycleBox *box    = s->st->box;
  const PetscInt   slow   = box->dim - 1;
  const PetscBool  planar = ((const KCycleColours *)s->data)->planar;

  PetscFunctionBegin;
  PetscCheck(box->dim == (planar ? 2 : 3), s->comm, PETSC_ERR_ARG_INCOMP,
             "-pc_relax_type %s is for %s dimensions, this grid has %" PetscInt_FMT ": use %s", s->name,
             planar ? "two" : "three", box->dim,
             box->dim == 3   ? "eightcolor"
             : box->dim == 2 ? "fourcolor"
                             : "redblack");
  if (box->periodic[slow] && box->size[slow] % 2) s->planes = PETSC_FALSE;
  PetscCall(KCycleColoursSetUp(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(KCycleSmoother *s, PetscBool planar)
{
  PetscFunctionBegin;
  PetscCall(KCycleColoursCreate(s));
  ((KCycleColours *)s->data)->planar = planar;
  s->ops.setup                       = SetUp;
  s->ops.plane                       = Plane;
  s->ops.apart                       = Apart;
  s->ops.tile                        = Tile;
  s->nsteps                          = 2;
  s->kind                            = KCYCLE_SWEEPS_COLOURS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSmootherCreate_FourColor(KCycleSmoother *s)
{
  return Create(s, PETSC_TRUE);
}

PetscErrorCode KCycleSmootherCreate_EightColor(KCycleSmoother *s)
{
  return Create(s, PETSC_FALSE);
}
