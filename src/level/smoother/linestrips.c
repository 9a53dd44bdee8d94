/*
  Lines in y of a grid in 2D with a star stencil that one process has alone: both colours in one sweep over strips of
  columns, so narrow that their residuals stay in a cache.

    down    the residuals of all points of the strip; the first colour's systems are eliminated
    up      the first colour's systems are solved, what they change is taken off the residuals of the second colour
            in the same row, and its systems are eliminated: from their ends, see KCycleLines.turned
    down    the second colour's systems are solved, and all that is found is added to x

  A strip has the lines of the second colour whose neighbours are solved with it: its last column waits for the strip
  that follows, where what its left neighbour adds is in x already.

  If the systems of the first colour are those that are eliminated from their ends, all this is upside down.
*/
#include "lines.h"

/* In arrays of two, 0 is the colour that comes first in a sweep */
typedef struct {
  PetscInt      first[2], m[2];  /* lines of each colour: the first one, their number */
  PetscInt      column, columns; /* of which the residual is computed */
  int           head;            /* colour of the first one */
  PetscInt      distance;        /* from row to row of the residuals of a colour, and half of that of both */
  PetscInt      shift;           /* from a line of the second colour to the one of the first on the right of it */
  PetscBool     upside;          /* down is up */
  KCycleFactors f[2];
} Strip;

/* Lines of a colour that strips have room for. Where factors and coefficients are read, too, from many addresses at a
   time, strips cost more than they save, and there is one that has all lines */
static PetscInt Width(const KCycleStencil *st, const KCycleLines *z)
{
  const PetscInt        all   = (st->box->n[0] + 1) / 2;
  const PetscInt        lines = (PetscInt)(KCYCLE_COLUMNS_BYTES / (2 * sizeof(KCScalar)) / (size_t)z->n) / 8 * 8;
  const KCycleLineBlock block = {0, 0, all, 0};
  KCycleFactors         f;

  (void)KCycleLinesFactors(z, &block, &f);
  return f.high - f.low < all / 2 ? all : PetscMin(PetscMax(lines, KCYCLE_COLUMNS), all);
}

/* Numbers of work: the residuals of a strip and of a row */
PetscInt KCycleLinesStripRoom(const KCycleStencil *st, const KCycleLines *z)
{
  return z->turned ? 2 * (z->n + 2) * (Width(st, z) + 8) : 0;
}

/* Row i from where the systems of the first colour begin */
static PetscInt RowOf(const KCycleLineSweep *sweep, const Strip *strip, PetscInt i)
{
  return strip->upside ? sweep->lines->n - 1 - i : i;
}

static KCScalar *Kept(const KCycleLineSweep *sweep, const Strip *strip, PetscInt i, int colour)
{
  return sweep->work + (2 * i + colour) * strip->distance;
}

/* Asks for part of a row, for the second-level cache: the first one has no room for many rows at a distance that is a
   power of two */
static void Ask(PetscInt n, const KCScalar *places)
{
  for (PetscInt i = 0; i < n; i += (PetscInt)(64 / sizeof(KCScalar))) __builtin_prefetch(places + i, 0, 2);
}

static void Eliminate(const KCycleLineSweep *sweep, const Strip *strip)
{
  const KCycleStencil *st = sweep->st;
  const PetscInt       n = st->box->n[0], rows = sweep->lines->n, next = strip->upside ? -n : n;
  KCScalar            *t = Kept(sweep, strip, rows, 0);
  KCycleLine           l;

  for (PetscInt i = 0; i < rows; i++) {
    const PetscInt j = RowOf(sweep, strip, i), at = strip->column + n * j;
    KCScalar      *y = Kept(sweep, strip, i, 0);

    KCycleLineGather(st, sweep->x, st->halo, j, 0, &l);
    KCycleLinePart(&st->shape, strip->column, strip->column + strip->columns, &l);
    if (i + KCYCLE_COLUMNS_AHEAD < rows) {
      Ask(strip->columns, sweep->x + at + KCYCLE_COLUMNS_AHEAD * next);
      Ask(strip->columns, sweep->b + at + KCYCLE_COLUMNS_AHEAD * next);
    }
    KCycleLineCompute(&st->shape, KC_RESIDUAL, &l, sweep->b + at, NULL, t);
    KCycleLineSplit(strip->columns, t, Kept(sweep, strip, i, strip->head), Kept(sweep, strip, i, !strip->head));
    if (i) KCycleTridiagonalForwardIn(&strip->f[0], i, strip->first[0], strip->m[0], y - 2 * strip->distance, y);
  }
}

static void CouplePoint(const KCycleLine *l, const KCycleLineCouplings *with, PetscInt column, PetscInt k,
                        KCScalar weight, KCScalar *r)
{
  for (int o = 0; o < with->count; o++) {
    if (k >= with->low[o] && k < with->high[o])
      r[k] -= weight * KCycleLineCoefficient(l, with->at[o], column + 2 * k) * with->e[o][k];
  }
}

/* The n points of the second colour of a line in x, from a column on: their residuals r once the first colour has
   changed */
void KCycleLinesCouple(const KCycleLine *l, const KCycleLineCouplings *with, PetscInt column, PetscInt n,
                       KCScalar weight, KCScalar *r)
{
  PetscInt        low  = PetscMax(((l->constant ? l->constant->a : 1) - column + 1) / 2, 0);
  PetscInt        high = PetscMin(((l->constant ? l->constant->b : l->n - 1) - column + 1) / 2, n);
  const KCScalar *c[6], *e[6];

  for (int o = 0; o < with->count; o++) {
    low  = PetscMax(low, with->low[o]);
    high = PetscMin(high, with->high[o]);
  }
  low  = PetscMin(low, n);
  high = PetscMax(low, high);
  for (PetscInt k = 0; k < low; k++) CouplePoint(l, with, column, k, weight, r);
  for (PetscInt k = high; k < n; k++) CouplePoint(l, with, column, k, weight, r);
  for (int o = 0; o < with->count; o++) {
    c[o] = l->constant ? &l->constant->middle[with->at[o]] : l->c[with->at[o]] + column + 2 * low;
    e[o] = with->e[o] + low;
  }
  KCycleLineCouple(with->count, high - low, (PetscBool)(l->constant != NULL), c, weight, e, r + low);
}

/* Row j of the residuals r of the second colour, once the first one has found e there */
static void Couple(const KCycleLineSweep *sweep, const Strip *strip, PetscInt j, const KCScalar *e, KCScalar *r)
{
  const int                *find  = sweep->st->shape.find;
  const PetscInt            shift = strip->shift, m = strip->m[0];
  const KCycleLineCouplings with = {
      2, {find[12], find[14]}, {e + shift - 1, e + shift}, {1 - shift, -shift}, {m - shift + 1, m - shift}};
  KCycleLine l;

  KCycleLineCoefficients(sweep->st, j, 0, &l);
  KCycleLinesCouple(&l, &with, strip->column + (strip->head == 1 ? 0 : 1), strip->m[1], (KCScalar)sweep->weight, r);
}

static void SolveAndEliminate(const KCycleLineSweep *sweep, const Strip *strip)
{
  const PetscInt rows = sweep->lines->n, end = strip->first[0] + strip->m[0];

  for (PetscInt i = rows - 1; i >= 0; i--) {
    KCScalar       *y = Kept(sweep, strip, i, 0), *r = y + strip->distance;
    const KCScalar *next = i < rows - 1 ? y + 2 * strip->distance : sweep->st->zeros;

    KCycleTridiagonalBack(&strip->f[0], i, strip->first[0], end, next, y);
    Couple(sweep, strip, RowOf(sweep, strip, i), y, r);
    if (i < rows - 1)
      KCycleTridiagonalForwardIn(&strip->f[1], rows - 1 - i, strip->first[1], strip->m[1], r + 2 * strip->distance, r);
  }
}

static void SolveAndAdd(const KCycleLineSweep *sweep, const Strip *strip)
{
  const PetscInt rows = sweep->lines->n, end = strip->first[1] + strip->m[1], n = sweep->st->box->n[0];
  const PetscInt next = strip->upside ? -n : n;

  for (PetscInt i = 0; i < rows; i++) {
    KCScalar       *r = Kept(sweep, strip, i, 1), *x = sweep->x + strip->column + n * RowOf(sweep, strip, i);
    const KCScalar *last = i ? r - 2 * strip->distance : sweep->st->zeros;

    if (i + KCYCLE_COLUMNS_AHEAD < rows) Ask(strip->columns, x + KCYCLE_COLUMNS_AHEAD * next);
    KCycleTridiagonalBack(&strip->f[1], rows - 1 - i, strip->first[1], end, last, r);
    KCycleLineAddBoth(strip->columns, (KCScalar)sweep->weight, Kept(sweep, strip, i, strip->head),
                      Kept(sweep, strip, i, !strip->head), x);
  }
}

/* Lines low to high - 1 of the first colour, and those of the second one that are solved with them */
static void MakeStrip(const KCycleLineSweep *sweep, PetscInt low, PetscInt high, Strip *strip)
{
  const PetscInt n = sweep->st->box->n[0], p = sweep->parity, behind = p ? 0 : 1; /* lines that begin after it */
  const PetscInt lines[2] = {(n + 1 - p) / 2, (n + p) / 2};
  const PetscInt end      = high == lines[0] ? lines[1] : high - behind;

  strip->first[0] = low;
  strip->m[0]     = high - low;
  strip->first[1] = PetscMax(low - behind, 0);
  strip->m[1]     = end - strip->first[1];
  strip->head     = low || p ? 1 : 0;
  strip->column   = low ? p + 2 * low - 1 : 0;
  strip->columns  = strip->m[0] + strip->m[1];
  strip->distance = Width(sweep->st, sweep->lines) + 8;
  strip->shift    = strip->first[1] + behind - low;
  strip->upside   = (PetscBool)(p == 1);
  for (int c = 0; c < 2; c++) {
    const KCycleLineBlock all = {0, 0, lines[c], c ? 1 - (int)p : (int)p};

    (void)KCycleLinesFactors(sweep->lines, &all, &strip->f[c]);
  }
}

void KCycleLinesSweepStrips(const KCycleLineSweep *sweep)
{
  const PetscInt lines = (sweep->st->box->n[0] + 1 - sweep->parity) / 2, width = Width(sweep->st, sweep->lines);
  const PetscInt strips = (lines + width - 1) / width;
  Strip          strip;

  for (PetscInt s = 0; s < strips; s++) {
    MakeStrip(sweep, lines * s / strips, lines * (s + 1) / strips, &strip);
    Eliminate(sweep, &strip);
    SolveAndEliminate(sweep, &strip);
    SolveAndAdd(sweep, &strip);
  }
}
