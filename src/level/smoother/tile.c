/*
  A tile: the planes of x and b that the steps of a red-black pass work on, copied to a ring of planes in cache,
  with their coefficients: how they get there, and leave it. What is computed on them is in tilesweep.c.
*/
#include "tilering.h"

PetscErrorCode KCycleTileDestroy(KCycleTile **tile)
{
  PetscFunctionBegin;
  if (!*tile) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree((*tile)->memory));
  PetscCall(PetscFree((*tile)->ends));
  for (PetscInt c = 0; c < (*tile)->nclasses; c++) PetscCall(PetscFree((*tile)->classes[c].ends));
  PetscCall(PetscFree((*tile)->classes));
  PetscCall(PetscFree((*tile)->residual));
  PetscCall(PetscFree((*tile)->line));
  PetscCall(PetscFree(*tile));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a line that is not in cache. Lines follow each other in memory, but the processor does not see as far ahead */
static void Split(PetscInt n, const KCScalar *x, KCScalar *even, KCScalar *odd)
{
  KCycleFetch(n, x + KCYCLE_TILE_AHEAD);
  KCycleLineSplit(n, x, even, odd);
}

KC_VERSIONS static void Join(PetscInt n, const KCScalar *KC_RESTRICT even, const KCScalar *KC_RESTRICT odd,
                             KCScalar *KC_RESTRICT x)
{
  for (PetscInt i = 0; i < n / 2; i++) {
    x[2 * i]     = even[i];
    x[2 * i + 1] = odd[i];
  }
  if (n % 2) x[n - 1] = even[n / 2];
}

KC_VERSIONS static void Invert(PetscInt n, KCScalar *KC_RESTRICT d)
{
  for (PetscInt i = 0; i < n; i++) d[i] = 1 / d[i];
}

/* After the ends of lines vectors compute as well: they shall not divide by zero there */
static void FillBehind(const KCycleTile *w, KCScalar *inverse, PetscInt parity)
{
  for (PetscInt i = (w->st->box->n[0] + 1 - parity) / 2; i < w->split; i++) inverse[i] = 1;
}

/* The end points of constant classes carry the inverse of their diagonal after their coefficients; other classes
   are split here, once, with the inverse in place of the diagonal */
static PetscErrorCode GetClass(const KCycleTile *w, PetscInt number, KCycleTileClass *c)
{
  const KCycleClass *run = KCycleClassConstant(w->st, number);
  const KCScalar    *all = KCycleClassCoefficients(w->st, number), *end = KCycleClassEnds(w->st, number);
  const PetscInt     n = w->st->box->n[0], points = run ? run->a + n - run->b : 0;

  PetscFunctionBegin;
  c->constant = run;
  PetscCall(PetscCalloc1(run ? (size_t)points * (w->nc + 1) : (size_t)2 * w->nc * w->split, &c->ends));
  for (PetscInt p = 0; p < points; p++) {
    PetscCall(PetscArraycpy(c->ends + p * (w->nc + 1), end + p * w->nc, w->nc));
    c->ends[p * (w->nc + 1) + w->nc] = 1 / end[p * w->nc + w->nc / 2];
  }
  for (int o = 0; !run && o < w->nc; o++) {
    KCScalar *even = c->ends + 2 * o * w->split, *odd = even + w->split;

    Split(n, all + o * n, even, odd);
    if (o != w->nc / 2) continue;
    Invert((n + 1) / 2, even);
    Invert(n / 2, odd);
    FillBehind(w, even, 0);
    FillBehind(w, odd, 1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void PackCoefficient(const KCycleTile *w, Slot slot, int word, const KCScalar *c)
{
  Split(w->st->box->n[0], c, Half(w, slot, word, 0), Half(w, slot, word, 1));
}

/* Of a line that shares its coefficients those that neighbours with their own blocks look for there */
static void PackShared(const KCycleTile *w, Slot slot, PetscInt j, PetscInt k, const KCScalar *c)
{
  const KCycleShape *shape = &w->st->shape;
  const KCycleBox   *box   = w->st->box;
  const int          mid   = w->nc / 2;

  for (int o = mid + 2; o < w->nc; o++) {
    const PetscInt jj = j + shape->dy[shape->line[o]], kk = k + shape->dz[shape->line[o]];

    if (jj >= box->n[1] || kk >= box->n[2] || KCycleClassOf(w->st, jj, kk) >= 0) continue;
    PackCoefficient(w, slot, WORD_INVERSE + o - mid, c + o * box->n[0]);
  }
}

/* Of the first plane the couplings with the plane below it, which is a halo plane */
static void PackBelow(const KCycleTile *w, PetscInt l)
{
  KCycleLine from;

  KCycleLineCoefficients(w->st, w->lead ? l : 0, 0, &from);
  PackCoefficient(w, SlotOf(w, -1, l), WORD_UPPER + w->nc / 2 - 1, from.c[0]);
}

/* The coefficients of line l of plane t: of a block the arrays from the diagonal on, and all of its two end points,
   see storage.c */
static void PackCoefficients(const KCycleTile *w, PetscInt t, PetscInt l)
{
  const KCycleStencil *st  = w->st;
  const KCycleBox     *box = st->box;
  const PetscInt       n = box->n[0], j = w->lead ? l : t, k = w->lead ? t : 0, set = KCycleClassOf(st, j, k);
  const int            nc = w->nc, mid = nc / 2;
  const Slot           slot = SlotOf(w, t, l);
  const KCScalar      *block, *of;
  KCScalar            *ends = EndsOf(w, slot);

  if (set >= 0) {
    PackShared(w, slot, j, k, KCycleClassCoefficients(st, set));
    return;
  }
  block = KCycleBlock(st, KCycleBoxExtended(box, j, k));
  of    = block + (nc - mid) * n;
  for (int o = mid; o < nc; o++) PackCoefficient(w, slot, WORD_INVERSE + o - mid, block + (o - mid) * n);
  Invert((n + 1) / 2, Half(w, slot, WORD_INVERSE, 0));
  Invert(n / 2, Half(w, slot, WORD_INVERSE, 1));
  for (int e = 0; e < 2; e++, ends += nc + 1, of += nc) {
    memcpy(ends, of, (size_t)nc * sizeof(KCScalar));
    ends[nc] = 1 / of[mid];
  }
  if (t == 0) PackBelow(w, l);
}

/* A line, and one of coarse points, in KCycleTile.line: coarse lines have few numbers more than half as many */
static size_t LineLength(const KCycleTile *w)
{
  return (size_t)w->st->box->n[0] + 8;
}

static PetscErrorCode Allocate(KCycleTile *w)
{
  const size_t    size  = (size_t)RING * w->lines * w->words * 2 * w->half;
  const uintptr_t bytes = KC_VECTOR * sizeof(KCScalar);
  const PetscInt  rings = KCycleStencilHasBlocks(w->st) ? RING : 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(size + KC_VECTOR, &w->memory));
  w->ring = (KCScalar *)(((uintptr_t)w->memory + bytes - 1) / bytes * bytes);
  for (PetscInt i = 0; i < 2 * rings * w->lines; i++) {
    const Slot slot = {i / 2 / w->lines, i / 2 % w->lines};

    FillBehind(w, Half(w, slot, WORD_INVERSE, i % 2), i % 2);
  }
  PetscCall(PetscMalloc1((size_t)rings * w->lines * 2 * (w->nc + 1), &w->ends));
  PetscCall(PetscCalloc1((size_t)KCycleThreadsMost() * w->half, &w->residual));
  PetscCall(PetscMalloc1(2 * (size_t)KCycleThreadsMost() * LineLength(w), &w->line));
  PetscCall(PetscCalloc1(w->st->nclasses, &w->classes));
  w->nclasses = w->st->nclasses;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For a matrix with a star stencil in two or three dimensions; none where lines keep all their coefficients */
PetscErrorCode KCycleTileCreate(const KCycleStencil *st, const KCycleVectors *vectors, KCycleTile **tile)
{
  const KCycleBox *box = st->box;
  const PetscInt   m   = box->dim == 3 ? box->n[1] : 1;
  PetscInt64       bytes; /* of a line in all planes of the ring */
  KCycleTile      *w;

  PetscFunctionBegin;
  if (KCycleStencilHasBlocks(st) && !st->half) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&w));
  *tile      = w;
  w->st      = st;
  w->vectors = vectors;
  w->nc      = st->shape.ncoeffs;
  w->split   = ((box->n[0] + 1) / 2 + KC_VECTOR - 1) / KC_VECTOR * KC_VECTOR;
  w->half    = w->split + KC_VECTOR; /* after a half, too, there are zeros: those before the next one */
  w->lead    = box->dim == 3 ? 1 : 0;
  w->words   = KCycleStencilHasBlocks(st) ? WORD_UPPER + w->nc / 2 : WORD_INVERSE;
  bytes      = RING * w->words * 2 * (PetscInt64)w->half * (PetscInt64)sizeof(KCScalar);
  w->width   = PetscMin(m, PetscMax((PetscInt)(KCYCLE_TILE_BYTES / bytes), 4 * KC_TILE_STEPS));
  w->lines   = PetscMin(m, w->width + KC_TILE_STEPS + 1) + 2 * w->lead;
  PetscCall(Allocate(w));
  for (PetscInt c = 0; c < w->nclasses; c++) PetscCall(GetClass(w, c, &w->classes[c]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same from and to PETSc's numbers, in single precision; most: the largest numbers so far */
KC_VERSIONS static void SplitFrom(PetscInt n, const PetscScalar *KC_RESTRICT x, PetscReal scale, PetscReal limit,
                                  PetscReal *KC_RESTRICT most, KCScalar *KC_RESTRICT even, KCScalar *KC_RESTRICT odd)
{
  for (PetscInt i = 0; i < n; i += KC_VECTOR) __builtin_prefetch(x + KCYCLE_TILE_AHEAD + i);
  for (PetscInt i = 0; i < n / KC_MOST * KC_MOST; i += KC_MOST) {
    for (int p = 0; p < KC_MOST; p++) {
      const PetscReal size = PetscAbsScalar(x[i + p]);

      most[p] = size > most[p] ? size : most[p];
    }
  }
  for (PetscInt i = n / KC_MOST * KC_MOST; i < n; i++) most[0] = PetscMax(most[0], PetscAbsScalar(x[i]));
  for (PetscInt i = 0; i < n / 2; i++) {
    even[i] = KCycleVectorsConvert(x[2 * i], scale, limit);
    odd[i]  = KCycleVectorsConvert(x[2 * i + 1], scale, limit);
  }
  if (n % 2) even[n / 2] = KCycleVectorsConvert(x[n - 1], scale, limit);
}

KC_VERSIONS static void JoinTo(PetscInt n, const KCScalar *KC_RESTRICT even, const KCScalar *KC_RESTRICT odd,
                               PetscReal back, PetscScalar *KC_RESTRICT x)
{
  for (PetscInt i = 0; i < n / 2; i++) {
    x[2 * i]     = (PetscScalar)even[i] * back;
    x[2 * i + 1] = (PetscScalar)odd[i] * back;
  }
  if (n % 2) x[n - 1] = (PetscScalar)even[n / 2] * back;
}

/* The halves of a line from its number `at` on */
static void HalvesFrom(PetscInt at, KCScalar *half[2], KCScalar *from[2])
{
  from[0] = half[at % 2] + at / 2;
  from[1] = half[1 - at % 2] + (at + 1) / 2;
}

/* Line l of plane t of x, or of b, comes to the tile */
static void SplitLine(const KCycleTile *w, PetscBool right, const KCScalar *v, PetscInt t, PetscInt l, int word)
{
  const KCycleVectors *vectors = w->vectors;
  const Slot           slot    = SlotOf(w, t, l);
  KCScalar            *half[2] = {Half(w, slot, word, 0), Half(w, slot, word, 1)}, *to[2];
  KCycleVectorsLine    line;

  KCycleVectorsFind(w->st->box, vectors, w->lead ? l : t, w->lead ? t : 0, &line);
  for (PetscInt p = 0, at = 0; p < line.count; at += line.n[p++]) {
    HalvesFrom(at, half, to);
    if (right && vectors && vectors->from)
      SplitFrom(line.n[p], (line.owned[p] ? vectors->from : vectors->others) + line.at[p], vectors->scale,
                vectors->limit, KCycleVectorsMost(vectors), to[0], to[1]);
    else Split(line.n[p], (line.owned[p] ? v : right ? vectors->b : vectors->x) + line.at[p], to[0], to[1]);
  }
}

static void JoinLine(const KCycleTile *w, PetscInt t, PetscInt l, PetscBool converts, KCScalar *x)
{
  const KCycleVectors *vectors = w->vectors;
  const Slot           slot    = SlotOf(w, t, l);
  KCScalar            *half[2] = {Half(w, slot, WORD_X, 0), Half(w, slot, WORD_X, 1)}, *from[2];
  KCycleVectorsLine    line;

  KCycleVectorsFind(w->st->box, vectors, w->lead ? l : t, w->lead ? t : 0, &line);
  for (PetscInt p = 0, at = 0; p < line.count; at += line.n[p++]) {
    HalvesFrom(at, half, from);
    if (!converts) Join(line.n[p], from[0], from[1], (line.owned[p] ? x : vectors->x) + line.at[p]);
    else if (line.owned[p]) JoinTo(line.n[p], from[0], from[1], vectors->back, vectors->to + line.at[p]);
  }
}

/* x of lines low to high - 1 of plane t, which may be a halo plane; what lies outside the grid is zero */
void KCycleTilePackX(const KCycleTile *w, const KCScalar *x, PetscInt t, PetscInt low, PetscInt high)
{
  const KCycleBox *box   = w->st->box;
  const PetscBool  owned = (PetscBool)(t >= 0 && t < KCyclePlanes(box));

  for (PetscInt l = low; l < high; l++) {
    const Slot slot = SlotOf(w, t, l);

    if (owned) SplitLine(w, PETSC_FALSE, x, t, l, WORD_X);
    else
      Split(box->n[0], KCycleBoxLine(box, x, w->st->halo, w->lead ? l : t, w->lead ? t : 0), Half(w, slot, WORD_X, 0),
            Half(w, slot, WORD_X, 1));
  }
  ZeroBeyond(w, t, high);
}

/* x of lines low to high - 1 of plane t of the grid, interpolated from a coarser solution */
void KCycleTileStart(const KCycleTile *w, const KCycleStart *start, PetscInt t, PetscInt low, PetscInt high)
{
  KCScalar *line = w->line + 2 * LineLength(w) * (size_t)KCycleThread(), *work = line + LineLength(w);

  for (PetscInt l = low; l < high; l++) {
    const Slot slot = SlotOf(w, t, l);

    KCycleStartLine(start, w->lead ? l : t, w->lead ? t : 0, work, line);
    KCycleLineSplit(w->st->box->n[0], line, Half(w, slot, WORD_X, 0), Half(w, slot, WORD_X, 1));
  }
  ZeroBeyond(w, t, high);
}

/* b of the same, and coefficients */
void KCycleTilePackB(const KCycleTile *w, const KCScalar *b, PetscInt t, PetscInt low, PetscInt high)
{
  for (PetscInt l = low; l < high; l++) {
    SplitLine(w, PETSC_TRUE, b, t, l, WORD_B);
    if (w->words > WORD_INVERSE) PackCoefficients(w, t, l);
  }
}

/* gives: x goes where vectors say */
void KCycleTileUnpack(const KCycleTile *w, PetscInt t, PetscInt low, PetscInt high, PetscBool converts, KCScalar *x)
{
  for (PetscInt l = low; l < high; l++) JoinLine(w, t, l, converts, x);
}
