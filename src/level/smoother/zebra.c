/*
  Zebra relaxation: the points of a grid line along one direction are relaxed together, exactly; lines that are not
  neighbours at the same time. Two colours of lines in 2D and for star stencils, four for box stencils in 3D.

  With T the system of a line and r its residual, x += omega T^-1 r. For omega = 1, T^-1 (b - couplings with other
  lines) would take less work, but rounding is worse in it.

  Lines in x and y of a grid in 3D have planes as rows: their colours are steps that go plane by plane, with residual
  and interpolation in the same pass, see passes.c. Other lines go through the grid by themselves. Where a process has
  all points of a grid that does not wrap around, their colours go after each other, a row of lines (in 2D a block)
  apart, and find in the cache what they read. There both colours of a row of lines in y or z share one residual, see
  linerows.c, and lines in y of stars in 2D are relaxed in strips of columns, see linestrips.c.
*/
#include "lines.h"

/* Numbers of the longest cache line */
#define LINE 16

typedef struct {
  const KCycleStencil *st;
  KCycleLines         *lines;
  int                  first; /* colour */
  PetscBool            back;  /* colours in the reverse order */
  PetscBool            zero;  /* x counts as zero before the colour that is first */
  PetscReal            weight;
  PetscInt             room;
  const KCScalar      *b;
  KCScalar            *x, *y, *work;
  KCScalar            *shared; /* of both colours of rows, see linerows.c; NULL: each one is relaxed by itself */
} Sweep;

/* Colour number c of a sweep */
static int ColourOf(const Sweep *sweep, int c)
{
  return sweep->first ^ (sweep->back ? sweep->lines->ncolours - 1 - c : c);
}

/* Where row i of a block lies in vectors: its first line */
static PetscInt PointOf(const KCycleLines *z, const KCycleLineBlock *block, PetscInt i)
{
  return i * z->step[z->d] + (block->parity + 2 * block->first) * z->step[z->beside[0]] +
         block->row * z->step[z->beside[1]];
}

/* T^-1 of all residuals where lines are cut: lines in x as in vectors; of others the rows of a row of lines */
static KCScalar *Kept(const Sweep *sweep, const KCycleLineBlock *block, PetscInt i)
{
  const KCycleLines *z = sweep->lines;
  const PetscInt     n = sweep->st->box->n[z->beside[0]];

  return z->d == 0 ? sweep->y + PointOf(z, block, 0) + 2 * i * z->n
                   : sweep->y + (block->row * z->n + i) * n + block->first;
}

/* Number of the first line of the block among those of its colour, whose first and last points are kept in order */
static PetscInt NumberOf(const KCycleLines *z, const KCycleLineBlock *block, int colour)
{
  return z->start[colour][block->row] + block->first;
}

/* Lines in x: the residuals, side by side */
static void SolveX(const Sweep *sweep, const KCycleLineBlock *block, PetscBool zero, int colour)
{
  const KCycleStencil *st = sweep->st;
  KCycleLines         *z  = sweep->lines;
  const PetscInt distance = (z->n + KC_SYSTEMS - 1) / KC_SYSTEMS * KC_SYSTEMS + 8, count = block->end - block->first;
  KCScalar      *work = sweep->work + KCycleThread() * sweep->room, *mine;
  KCycleFactors  f;
  KCycleLine     l;

  for (PetscInt s = 0; s < KC_SYSTEMS; s++) {
    const PetscInt at = PointOf(z, block, 0) + 2 * s * z->n;

    if (s >= count) memset(work + s * distance, 0, (size_t)z->n * sizeof(KCScalar));
    else if (zero) memcpy(work + s * distance, sweep->b + at, (size_t)z->n * sizeof(KCScalar));
    else {
      KCycleLineGather(st, sweep->x, st->halo, block->parity + 2 * (block->first + s), block->row, &l);
      KCycleLineCompute(&st->shape, KC_RESIDUAL, &l, sweep->b + at, NULL, work + s * distance);
    }
  }
  (void)KCycleLinesFactors(z, block, &f);
  KCycleTridiagonalSolveLines(&f, z->n, distance, work);
  mine = z->cut ? z->ends.mine + NumberOf(z, block, colour) : NULL;
  for (PetscInt s = 0; s < count; s++, work += distance) {
    if (z->cut) {
      memcpy(Kept(sweep, block, s), work, (size_t)z->n * sizeof(KCScalar));
      mine[s]                              = work[0];
      mine[z->start[colour][z->nrows] + s] = work[z->n - 1];
    } else KCycleLineAdd(z->n, 1, (KCScalar)sweep->weight, work, sweep->x + PointOf(z, block, 0) + 2 * s * z->n);
  }
}

/* The residuals of row i of a block of lines in y or z; those of the lines are the even ones of those returned */
static const KCScalar *Residuals(const Sweep *sweep, const KCycleLineBlock *block, PetscInt i, KCScalar *t)
{
  const KCycleStencil *st = sweep->st;
  const KCycleLines   *z  = sweep->lines;
  const PetscInt       n = st->box->n[0], lines = (n + 1 - block->parity) / 2;
  const PetscInt       a = block->first ? block->parity + 2 * block->first : 0;
  const PetscInt       b = block->end < lines ? block->parity + 2 * block->end - 1 : n;
  const PetscInt       j = z->d == 1 ? i : block->row, k = z->d == 1 ? block->row : i;
  KCycleLine           l;

  KCycleLineGather(st, sweep->x, st->halo, j, k, &l);
  KCycleLinePart(&st->shape, a, b, &l);
  if (i + KCYCLE_BLOCK_AHEAD < z->n) {
    const PetscInt next = PointOf(z, block, i + KCYCLE_BLOCK_AHEAD);

    KCycleFetch(b - a, sweep->x + next);
    KCycleFetch(b - a, sweep->b + next);
  }
  KCycleLineCompute(&st->shape, KC_RESIDUAL, &l, sweep->b + a + n * (j + st->box->n[1] * k), NULL, t);
  return block->first ? t : t + block->parity;
}

/* Lines in y or z: down the rows, and up again */
static void SolveYZ(const Sweep *sweep, const KCycleLineBlock *block, PetscBool zero, int colour)
{
  KCycleLines   *z    = sweep->lines;
  KCScalar      *work = sweep->work + KCycleThread() * sweep->room, *t = work, *zeros = t + 2 * z->most + 2;
  const PetscInt m = block->end - block->first, n = z->n;
  const PetscInt distance = z->cut ? sweep->st->box->n[0] : z->most;
  KCScalar      *y        = z->cut ? Kept(sweep, block, 0) : zeros + z->most;
  KCycleFactors  f;
  const PetscInt first = KCycleLinesFactors(z, block, &f);

  memset(zeros, 0, (size_t)m * sizeof(KCScalar));
  for (PetscInt i = 0; i < n; i++, y += distance) {
    const PetscInt  row = KCycleLinesRow(z, block, i);
    const KCScalar *r   = zero ? sweep->b + PointOf(z, block, row) : Residuals(sweep, block, row, t);

    KCycleTridiagonalForward(&f, i, first, first + m, r, y - distance, y);
  }
  for (PetscInt i = n - 1; i >= 0; i--) {
    y -= distance;
    KCycleTridiagonalBack(&f, i, first, first + m, i == n - 1 ? zeros : y + distance, y);
    if (!z->cut)
      KCycleLineAdd(m, 2, (KCScalar)sweep->weight, y, sweep->x + PointOf(z, block, KCycleLinesRow(z, block, i)));
  }
  if (z->cut) {
    KCScalar *mine = z->ends.mine + NumberOf(z, block, colour);

    memcpy(mine, y, (size_t)m * sizeof(KCScalar));
    memcpy(mine + z->start[colour][z->nrows], y + (n - 1) * distance, (size_t)m * sizeof(KCScalar));
  }
}

/* Cut lines: x += omega (y - v before - w behind) */
static void CompleteBlock(const Sweep *sweep, const KCycleLineBlock *block, int colour)
{
  const KCycleLines *z      = sweep->lines;
  const KCScalar    *before = z->ends.beyond + NumberOf(z, block, colour);
  const KCScalar    *behind = before + z->start[colour][z->nrows];
  const PetscInt     m      = block->end - block->first;
  KCycleFactors      f;
  const PetscInt     first = KCycleLinesFactors(z, block, &f);

  if (z->d == 0) {
    for (PetscInt s = 0; s < m; s++) {
      KCScalar *y = Kept(sweep, block, s);

      KCycleTridiagonalCoupleLine(&f, z->n, first + s, before[s], behind[s], y);
      KCycleLineAdd(z->n, 1, (KCScalar)sweep->weight, y, sweep->x + PointOf(z, block, 0) + 2 * s * z->n);
    }
  } else {
    for (PetscInt i = 0; i < z->n; i++) {
      KCScalar *y = Kept(sweep, block, i);

      KCycleTridiagonalCouple(&f, i, first, first + m, before, behind, y);
      KCycleLineAdd(m, 2, (KCScalar)sweep->weight, y, sweep->x + PointOf(z, block, i));
    }
  }
}

/* Block b of the lines of a row that have colour number c of a sweep */
static void SolveBlock(const Sweep *sweep, int c, PetscInt row, PetscInt b, PetscBool complete)
{
  const KCycleLines *z      = sweep->lines;
  const int          colour = ColourOf(sweep, c), parity = KCycleLinesParity(sweep->st, z, colour, row);
  const PetscBool    zero = (PetscBool)(sweep->zero && !c);
  KCycleLineBlock    block;

  if (parity < 0) return;
  block = KCycleLinesBlock(sweep->st, z, row, parity, b);
  if (block.end == block.first) return;
  if (complete) CompleteBlock(sweep, &block, colour);
  else if (z->d == 0) SolveX(sweep, &block, zero, colour);
  else SolveYZ(sweep, &block, zero, colour);
}

/* A thread's share of the lines of colour number c */
static void SolveColour(const Sweep *sweep, int c, PetscBool complete)
{
  const KCycleLines *z = sweep->lines;
  PetscInt           first, end;

  KCycleShare(0, z->nrows * z->nblocks, &first, &end);
  for (PetscInt i = first; i < end; i++) SolveBlock(sweep, c, i / z->nblocks, i % z->nblocks, complete);
}

/* Colours from the first one on, one after the other */
static PetscErrorCode SolveApart(const Sweep *sweep, int first, int ncolours)
{
  const KCycleStencil *st = sweep->st;
  KCycleLines         *z  = sweep->lines;

  PetscFunctionBegin;
  for (int c = first; c < first + ncolours; c++) {
    const int colour = ColourOf(sweep, c);

    if (c || !sweep->zero) PetscCall(KCycleStencilExchange(st, sweep->x));
    KC_PARALLEL(st->box->npoints)
    SolveColour(sweep, c, PETSC_FALSE);
    if (!z->cut) continue;
    PetscCall(KCycleLinesGather(&z->ends, 2 * z->start[colour][z->nrows], z->ends.mine, z->ends.all));
    KC_PARALLEL(st->box->npoints)
    KCycleLinesBeyond(z, colour);
    KC_PARALLEL(st->box->npoints)
    SolveColour(sweep, c, PETSC_TRUE);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both of a pair of colours, as they are in a row: c is the first one's number */
static KCycleLineSweep BothOf(const Sweep *sweep, int c, PetscInt row)
{
  const KCycleLines    *z    = sweep->lines;
  const KCycleLineSweep both = {sweep->st,
                                z,
                                KCycleLinesParity(sweep->st, z, ColourOf(sweep, c), row),
                                (PetscBool)(sweep->zero && !c),
                                sweep->weight,
                                sweep->b,
                                sweep->x,
                                z->rows ? sweep->shared : sweep->work};

  return both;
}

/* Colour number c in a row of lines */
static void SolveRow(const Sweep *sweep, int c, PetscInt row)
{
  const KCycleLineSweep both = BothOf(sweep, c - c % 2, row);

  if (!sweep->shared) {
    for (PetscInt b = 0; b < sweep->lines->nblocks; b++) SolveBlock(sweep, c, row, b, PETSC_FALSE);
  } else if (both.parity >= 0) {
    if (c % 2) KCycleLinesSecondOfRow(&both, row);
    else KCycleLinesFirstOfRow(&both, row);
  }
}

/* All colours in one pass. Those of one parity of rows (box stencils in 3D have two) keep to the same row */
static void SolveBehind(const Sweep *sweep)
{
  const KCycleLines *z     = sweep->lines;
  const PetscInt     units = sweep->st->box->dim == 3 ? z->nrows : z->nblocks;

  for (PetscInt unit = 0; unit <= units; unit++) {
    for (int c = 0; c < z->ncolours; c++) {
      const PetscInt at = unit - (c >= (z->ncolours + 1) / 2 ? 1 : 0);

      if (at < 0 || at == units) continue;
      if (sweep->st->box->dim < 3) SolveBlock(sweep, c, 0, at, PETSC_FALSE);
      else SolveRow(sweep, c, at);
    }
  }
}

/* Does this process, with one thread, have all that a colour needs of the one before it? */
static PetscBool IsAlone(const KCycleBox *box)
{
  return (PetscBool)(KCycleThreads() == 1 && !KCycleBoxTalks(box));
}

/* Steps are all colours of a direction, or where the rows of its lines are planes a half of them */
static int StepsOf(const KCycleSmoother *s, int d)
{
  return s->st->box->dim == 3 && ((const KCycleZebra *)s->data)->lines[d].d < 2 ? 2 : 1;
}

/* Which direction a step belongs to, and which of its steps it is */
static int DirectionOf(const KCycleSmoother *s, int number, int *half)
{
  int d = 0;

  for (*half = number; *half >= StepsOf(s, d); d++) *half -= StepsOf(s, d);
  return d;
}

/* Threads share few lines of a plane */
static PetscBool Through(const KCycleSmoother *s, int number)
{
  int half;

  return (PetscBool)(StepsOf(s, DirectionOf(s, number, &half)) == 1 || KCycleThreads() > 1);
}

/* Sweeps of a pass over lines of direction d before the one that a step belongs to */
static PetscInt SweepsBefore(const KCyclePass *pass, const KCycleStep *step, int d)
{
  const KCycleSmoother *s     = pass->smoother;
  PetscInt              steps = 0;
  int                   half;

  for (PetscInt i = 0; i < pass->nsteps && &pass->step[i] != step; i++)
    steps += pass->step[i].kind == KCYCLE_STEP_SMOOTH && DirectionOf(s, pass->step[i].number, &half) == d ? 1 : 0;
  return steps / StepsOf(s, d);
}

/* A step, and where its colours are in a sweep over the lines of one direction: `count` from the first on */
static Sweep SweepOf(const KCyclePass *pass, const KCycleStep *step, int *first, int *ncolours)
{
  const KCycleSmoother *s     = pass->smoother;
  KCycleZebra          *zebra = (KCycleZebra *)s->data;
  const Sweep           all   = {s->st,       NULL,    0,       step->reverse, step->zeroguess, s->weight,
                                 zebra->room, pass->b, pass->x, zebra->y,      zebra->work,     NULL};
  Sweep                 sweep = all;
  int                   half;
  const int             d = DirectionOf(s, step->number, &half);

  sweep.lines = &zebra->lines[d];
  sweep.first = KCycleLinesFirstColour(s, sweep.lines);
  *ncolours   = sweep.lines->ncolours / StepsOf(s, d);
  *first      = StepsOf(s, d) == 1 ? 0 : *ncolours * (step->reverse ? 1 - half : half);
  if (sweep.lines->rows) {
    const PetscInt before = SweepsBefore(pass, step, d);

    if (before < KCYCLE_ROWS_SHARED)
      sweep.shared = zebra->work + zebra->room + before * KCycleLinesRowsRoom(s->st, sweep.lines);
  }
  return sweep;
}

/* Lines of plane t. Box stencils in 3D have two colours in it, or none */
static void Plane(const KCyclePass *pass, const KCycleStep *step, PetscInt t, PetscInt low, PetscInt high)
{
  const PetscInt n = pass->st->box->n[0];
  int            first, ncolours;
  const Sweep    sweep = SweepOf(pass, step, &first, &ncolours);

  if (step->zeroguess)
    memset(pass->x + n * (low + pass->st->box->n[1] * t), 0, (size_t)(n * (high - low)) * sizeof(KCScalar));
  for (int c = first; c < first + ncolours; c++) SolveRow(&sweep, c, t);
}

/* A step on the whole grid */
static PetscErrorCode Apart(const KCyclePass *pass, const KCycleStep *step)
{
  int         first, ncolours;
  const Sweep sweep = SweepOf(pass, step, &first, &ncolours);

  PetscFunctionBegin;
  if (sweep.zero) PetscCall(PetscArrayzero(sweep.x, sweep.st->box->npoints));
  if (!IsAlone(sweep.st->box) || ncolours < sweep.lines->ncolours) PetscCall(SolveApart(&sweep, first, ncolours));
  else if (sweep.lines->turned) {
    const KCycleLineSweep both = BothOf(&sweep, 0, 0);

    KCycleLinesSweepStrips(&both);
  } else SolveBehind(&sweep);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUp(KCycleSmoother *s)
{
  KCycleZebra     *zebra = (KCycleZebra *)s->data;
  const KCycleBox *box   = s->st->box;
  const PetscInt   dim   = box->dim;
  PetscInt         rows  = 0;
  PetscBool        cut   = PETSC_FALSE;

  PetscFunctionBegin;
  if (!zebra->ndirections) {
    const char *wanted = s->directions[0] ? s->directions : dim == 1 ? "x" : dim == 2 ? "xy" : "xyz";

    for (; *wanted; wanted++) zebra->lines[zebra->ndirections++].d = *wanted - 'x';
  }
  for (int i = 0; i < zebra->ndirections; i++)
    PetscCheck(zebra->lines[i].d < dim, s->comm, PETSC_ERR_ARG_INCOMP,
               "-pc_relax_type %s has lines along %c, and the grid has %" PetscInt_FMT
               " dimensions: use zebra_x or alternating",
               s->name, (int)('x' + zebra->lines[i].d), dim);
  s->weight = s->omega == 0 ? 1 : s->omega;
  s->trips  = zebra->ndirections;
  s->nsteps = 0;
  for (int d = 0; d < zebra->ndirections; d++) {
    KCycleLines *z = &zebra->lines[d];

    PetscCall(KCycleLinesSetUp(s, z->d, z));
    s->along[z->d] = PETSC_TRUE;
    s->nsteps += StepsOf(s, d);
    cut         = (PetscBool)(cut || z->cut);
    zebra->room = PetscMax(zebra->room, KCycleLinesStripRoom(s->st, z));
    rows        = PetscMax(rows, KCYCLE_ROWS_SHARED * KCycleLinesRowsRoom(s->st, z));
    zebra->room = PetscMax(zebra->room, (z->d == 0 ? KC_SYSTEMS : z->most) * (z->n + KC_SYSTEMS + 8) + 4 * z->most + 2);
  }
  /* planes side by side that have the same colours */
  if (s->st->shape.box && box->periodic[2] && box->size[2] % 2) s->planes = PETSC_FALSE;
  if (cut) PetscCall(PetscMalloc1(box->npoints, &zebra->y));
  zebra->room = (zebra->room + LINE - 1) / LINE * LINE;
  PetscCall(PetscCalloc1((size_t)KCycleThreadsMost() * (size_t)zebra->room + (size_t)rows + LINE, &zebra->allocated));
  zebra->work = zebra->allocated + (LINE - (size_t)zebra->allocated / sizeof(KCScalar) % LINE) % LINE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View(const KCycleSmoother *s, PetscViewer viewer)
{
  const KCycleZebra *zebra = (const KCycleZebra *)s->data;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  lines along "));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  for (int d = 0; d < zebra->ndirections; d++)
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s%c", d ? ", " : "", 'x' + (char)zebra->lines[d].d));
  PetscCall(PetscViewerASCIIPrintf(viewer, " are solved exactly, omega %g\n", (double)s->weight));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(KCycleSmoother *s)
{
  KCycleZebra *zebra = (KCycleZebra *)s->data;

  PetscFunctionBegin;
  for (int d = 0; d < zebra->ndirections; d++) PetscCall(KCycleLinesDestroy(&zebra->lines[d]));
  PetscCall(PetscFree(zebra->y));
  PetscCall(PetscFree(zebra->allocated));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(KCycleSmoother *s, int ndirections, PetscInt d)
{
  KCycleZebra *zebra;

  PetscFunctionBegin;
  PetscCall(PetscNew(&zebra));
  s->data            = zebra;
  zebra->ndirections = ndirections;
  zebra->lines[0].d  = d;
  s->kind            = KCYCLE_SWEEPS_ZEBRA;
  s->local           = PETSC_TRUE;
  /* the second colour of a plane of boxes reads other planes */
  s->fromzero        = (PetscBool)(!s->st->shape.box || s->st->shape.flat);
  s->ops.setup       = SetUp;
  s->ops.plane       = Plane;
  s->ops.apart       = Apart;
  s->ops.through     = Through;
  s->ops.view        = View;
  s->ops.destroy     = Destroy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSmootherCreate_ZebraX(KCycleSmoother *s)
{
  return Create(s, 1, 0);
}

PetscErrorCode KCycleSmootherCreate_ZebraY(KCycleSmoother *s)
{
  return Create(s, 1, 1);
}

PetscErrorCode KCycleSmootherCreate_ZebraZ(KCycleSmoother *s)
{
  return Create(s, 1, 2);
}

PetscErrorCode KCycleSmootherCreate_Alternating(KCycleSmoother *s)
{
  return Create(s, 0, 0);
}
