/*
  Lines in y or z of a grid in 3D that one process, with one thread, has alone: both colours of a row of lines share one
  residual.

    first     the residuals of all points of the row; the first colour's systems are solved
    second    what the first colour has found in this row and its neighbours is taken off the residuals of the second
              one, whose systems are solved, and both are added to x

  Neighbouring rows have lines of the same colours where the stencil is a star: there the first colour goes a row ahead.
  It needs x of the row before as it was, and has it, since nothing is added before both colours are solved. What rows
  have found, and the residuals of the second colour, stay in a cache.
*/
#include "lines.h"

/* From point to point along the lines, of one colour */
static PetscInt Distance(const KCycleStencil *st)
{
  return (st->box->n[0] / 2 + 8) / 8 * 8;
}

/* Numbers of work: a line in x, of three rows what the first colour has found, of two the second one's residuals */
PetscInt KCycleLinesRowsRoom(const KCycleStencil *st, const KCycleLines *z)
{
  return z->rows ? 2 * Distance(st) + 5 * z->n * Distance(st) : 0;
}

static KCScalar *Found(const KCycleLineSweep *sweep, PetscInt row)
{
  const PetscInt distance = Distance(sweep->st);

  return sweep->work + 2 * distance + (row + 3) % 3 * sweep->lines->n * distance;
}

static KCScalar *Residuals(const KCycleLineSweep *sweep, PetscInt row)
{
  const PetscInt distance = Distance(sweep->st);

  return sweep->work + 2 * distance + (3 + row % 2) * sweep->lines->n * distance;
}

/* Lines of a row that have a parity, and the factors of their systems */
static PetscInt Factors(const KCycleLineSweep *sweep, PetscInt row, int parity, KCycleFactors *f)
{
  const KCycleLineBlock all = {row, 0, (sweep->st->box->n[0] + 1 - parity) / 2, parity};

  (void)KCycleLinesFactors(sweep->lines, &all, f);
  return all.end;
}

/* Where point i of the lines of a row is, as a line in x; returns its first point */
static PetscInt Line(const KCycleLineSweep *sweep, PetscInt row, PetscInt i, PetscInt *j, PetscInt *k)
{
  *j = sweep->lines->d == 1 ? i : row;
  *k = sweep->lines->d == 1 ? row : i;
  return sweep->st->box->n[0] * (*j + sweep->st->box->n[1] * *k);
}

/* Asks for points i of the lines before they are read: they lie far from each other */
static void Ask(const KCycleLineSweep *sweep, PetscInt row, PetscInt i, KCycleLine *l)
{
  const KCycleStencil *st    = sweep->st;
  const KCScalar      *block = NULL;
  PetscInt             j, k;

  if (i < sweep->lines->n) {
    const PetscInt at = Line(sweep, row, i, &j, &k);

    KCycleFetch(st->box->n[0], sweep->x + at);
    KCycleFetch(st->box->n[0], sweep->b + at);
    block = KCycleBlock(st, KCycleBoxExtended(st->box, j, k));
  }
  l->next = block;
  if (!block) l->nnext = 0;
}

/* The residuals of points i of the lines */
static const KCScalar *Residual(const KCycleLineSweep *sweep, PetscInt row, PetscInt i)
{
  const KCycleStencil *st = sweep->st;
  PetscInt             j, k;
  const PetscInt       at = Line(sweep, row, i, &j, &k);
  KCycleLine           l;

  if (sweep->zero) return sweep->b + at;
  KCycleLineGather(st, sweep->x, st->halo, j, k, &l);
  Ask(sweep, row, i + KCYCLE_ROWS_AHEAD, &l);
  KCycleLineCompute(&st->shape, KC_RESIDUAL, &l, sweep->b + at, NULL, sweep->work);
  return sweep->work;
}

void KCycleLinesFirstOfRow(const KCycleLineSweep *sweep, PetscInt row)
{
  const PetscInt n = sweep->lines->n, distance = Distance(sweep->st);
  const int      parity = sweep->parity;
  KCScalar      *y = Found(sweep, row), *r = Residuals(sweep, row);
  KCycleFactors  f;
  const PetscInt m = Factors(sweep, row, parity, &f);

  for (PetscInt i = 0; i < n; i++, y += distance, r += distance) {
    KCycleLineSplit(sweep->st->box->n[0], Residual(sweep, row, i), parity ? r : y, parity ? y : r);
    if (i) KCycleTridiagonalForwardIn(&f, i, 0, m, y - distance, y);
  }
  for (PetscInt i = n - 1; i >= 0; i--) {
    y -= distance;
    KCycleTridiagonalBack(&f, i, 0, m, i < n - 1 ? y + distance : sweep->st->zeros, y);
  }
}

/* A neighbour of the second colour's points: its number in the stencil; point k has it in e[k + shift] of m */
static void AddNeighbour(const KCycleLineSweep *sweep, int place, const KCScalar *e, PetscInt shift, PetscInt m,
                         KCycleLineCouplings *with)
{
  const int at = sweep->st->shape.find[place];

  if (at < 0) return;
  with->at[with->count]   = at;
  with->e[with->count]    = e + shift;
  with->low[with->count]  = -shift;
  with->high[with->count] = m - shift;
  with->count++;
}

/* Points i of the second colour's lines lose what the first colour has found next to them */
static void Couple(const KCycleLineSweep *sweep, PetscInt row, PetscInt i, PetscInt m, KCScalar *r)
{
  const KCycleStencil *st = sweep->st;
  const PetscInt       at = i * Distance(st), first = (st->box->n[0] + 1 - sweep->parity) / 2;
  const int            along = sweep->lines->d == 1 ? 3 : 9, across = 12 - along;
  KCycleLineCouplings  with;
  KCycleLine           l;
  PetscInt             j, k;

  with.count = 0;
  for (int s = -1; s <= 1; s++) {
    const KCScalar *e = i + s < 0 || i + s == sweep->lines->n ? st->zeros : Found(sweep, row) + at + s * Distance(st);

    AddNeighbour(sweep, 12 + s * along, e, -sweep->parity, first, &with);
    AddNeighbour(sweep, 14 + s * along, e, 1 - sweep->parity, first, &with);
  }
  for (int s = -1; s <= 1 && !st->shape.box; s += 2) {
    const KCScalar *e = row + s < 0 || row + s == sweep->lines->nrows ? st->zeros : Found(sweep, row + s) + at;

    AddNeighbour(sweep, 13 + s * across, e, 0, m, &with);
  }
  (void)Line(sweep, row, i, &j, &k);
  KCycleLineCoefficients(st, j, k, &l);
  KCycleLinesCouple(&l, &with, 1 - sweep->parity, m, (KCScalar)sweep->weight, r);
}

void KCycleLinesSecondOfRow(const KCycleLineSweep *sweep, PetscInt row)
{
  const KCycleLines *z = sweep->lines;
  const PetscInt     n = z->n, distance = Distance(sweep->st);
  const int          parity = sweep->parity;
  KCScalar          *r = Residuals(sweep, row), *e = Found(sweep, row) + n * distance;
  KCycleFactors      f;
  const PetscInt     m = Factors(sweep, row, !parity, &f);
  PetscInt           j, k;

  for (PetscInt i = 0; i < n; i++, r += distance) {
    Couple(sweep, row, i, m, r);
    if (i) KCycleTridiagonalForwardIn(&f, i, 0, m, r - distance, r);
  }
  for (PetscInt i = n - 1; i >= 0; i--) {
    r -= distance;
    e -= distance;
    KCycleTridiagonalBack(&f, i, 0, m, i < n - 1 ? r + distance : sweep->st->zeros, r);
    KCycleLineAddBoth(sweep->st->box->n[0], (KCScalar)sweep->weight, parity ? r : e, parity ? e : r,
                      sweep->x + Line(sweep, row, i, &j, &k));
  }
}
