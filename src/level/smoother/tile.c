/*
  A tile: the planes of x and b that the steps of a red-black pass work on, copied to a ring of planes in cache,
  with their coefficients.

  In it a line is split into its points of even and of odd place, so that a half sweep computes the points of one colour
  only, from neighbours that lie side by side, and reads each array from its start:

    points       0 1 2 3 4 5 6                      even half    . 0 2 4 6 .
    red of odd lines, black of even ones            odd half     . 1 3 5 .        . is zero for x

  Relaxation without over-relaxation does not read what it replaces: x = (b - neighbours) / d. So what it leaves is
  without residual at its points, and what interpolation adds at points that are relaxed next is never read: restriction
  and interpolation leave out that colour.
*/
#include "tile.h"

#define MOST   7 /* coefficients of a star */
#define VECTOR 8 /* places: halves of lines begin at a multiple, behind so many zeros */

/* Planes of the ring: the steps of a pass, one plane behind each other, and a plane on each side */
#define RING (KC_TILE_STEPS + 2)

/* Bytes of the caches that it may take */
#define KC_TILE_BYTES 4000000

/* Coefficients, of matrices that have lines with blocks of their own: the upper half, as the lower one is that of
   neighbours */
typedef enum {
  WORD_X,
  WORD_B,
  WORD_INVERSE, /* of the diagonal */
  WORD_UPPER    /* +x, +y, +z */
} Word;

/* Where a line is in the ring */
typedef struct {
  PetscInt plane, line;
} Place;

/* Line l of plane t; both may be one outside the grid */
static inline Place PlaceOf(const KCycleTile *w, PetscInt t, PetscInt l)
{
  const Place place = {(t + RING) % RING, l - w->base};

  return place;
}

/*
  Points 0, 2, 4... or 1, 3, 5... of a word of a line. All halves of one colour in a plane follow each other, so that a
  half sweep reads and writes in long streams: the halves beside one, in y and along x, are neighbours in the stream of
  the other colour
*/
static inline KCScalar *Half(const KCycleTile *w, Place place, int word, PetscInt parity)
{
  return w->ring +
         (((place.plane * w->words + word) * 2 + (parity ^ (place.line & 1))) * w->lines + place.line) *
             (PetscInt64)w->half +
         VECTOR;
}

/* Coefficients of the two points at the ends of a line */
static inline KCScalar *EndsOf(const KCycleTile *w, Place place)
{
  return w->ends + (place.plane * w->lines + place.line) * 2 * (w->nc + 1);
}

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

/* Lines follow each other in memory, but the processor does not see as far ahead: places to fetch beforehand */
#define AHEAD 256

KC_VERSIONS static void Split(PetscInt n, const KCScalar *KC_RESTRICT x, KCScalar *KC_RESTRICT even,
                              KCScalar *KC_RESTRICT odd)
{
  KCycleFetch(n, x + AHEAD);
  for (PetscInt i = 0; i < n / 2; i++) {
    even[i] = x[2 * i];
    odd[i]  = x[2 * i + 1];
  }
  if (n % 2) even[n / 2] = x[n - 1];
}

/* Of a line that is in cache */
KC_VERSIONS static void SplitNear(PetscInt n, const KCScalar *KC_RESTRICT x, KCScalar *KC_RESTRICT even,
                                  KCScalar *KC_RESTRICT odd)
{
  for (PetscInt i = 0; i < n / 2; i++) {
    even[i] = x[2 * i];
    odd[i]  = x[2 * i + 1];
  }
  if (n % 2) even[n / 2] = x[n - 1];
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

/* Behind the ends of lines vectors compute as well: they shall not divide by zero there */
static void FillBehind(const KCycleTile *w, KCScalar *inverse, PetscInt parity)
{
  for (PetscInt i = (w->st->box->n[0] + 1 - parity) / 2; i < w->split; i++) inverse[i] = 1;
}

/* The end points of constant classes carry the inverse of their diagonal behind their coefficients; other classes
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

static void PackCoefficient(const KCycleTile *w, Place place, int word, const KCScalar *c)
{
  Split(w->st->box->n[0], c, Half(w, place, word, 0), Half(w, place, word, 1));
}

/* Of a line that shares its coefficients those that neighbours with blocks of their own look for there */
static void PackShared(const KCycleTile *w, Place place, PetscInt j, PetscInt k, const KCScalar *c)
{
  const KCycleShape *shape = &w->st->shape;
  const KCycleBox   *box   = w->st->box;
  const int          mid   = w->nc / 2;

  for (int o = mid + 2; o < w->nc; o++) {
    const PetscInt jj = j + shape->dy[shape->line[o]], kk = k + shape->dz[shape->line[o]];

    if (jj >= box->n[1] || kk >= box->n[2] || KCycleClassOf(w->st, jj, kk) >= 0) continue;
    PackCoefficient(w, place, WORD_INVERSE + o - mid, c + o * box->n[0]);
  }
}

/* Of the first plane the couplings with the plane below it, which is a halo plane */
static void PackBelow(const KCycleTile *w, PetscInt l)
{
  KCycleLine from;

  KCycleLineCoefficients(w->st, w->lead ? l : 0, 0, &from);
  PackCoefficient(w, PlaceOf(w, -1, l), WORD_UPPER + w->nc / 2 - 1, from.c[0]);
}

/* The coefficients of line l of plane t: of a block the arrays from the diagonal on, and all of its two end points,
   see storage.c */
static void PackCoefficients(const KCycleTile *w, PetscInt t, PetscInt l)
{
  const KCycleStencil *st  = w->st;
  const KCycleBox     *box = st->box;
  const PetscInt       n = box->n[0], j = w->lead ? l : t, k = w->lead ? t : 0, set = KCycleClassOf(st, j, k);
  const int            nc = w->nc, mid = nc / 2;
  const Place          place = PlaceOf(w, t, l);
  const KCScalar      *block, *of;
  KCScalar            *ends = EndsOf(w, place);

  if (set >= 0) {
    PackShared(w, place, j, k, KCycleClassCoefficients(st, set));
    return;
  }
  block = KCycleBlock(st, KCycleBoxExtended(box, j, k));
  of    = block + (nc - mid) * n;
  for (int o = mid; o < nc; o++) PackCoefficient(w, place, WORD_INVERSE + o - mid, block + (o - mid) * n);
  Invert((n + 1) / 2, Half(w, place, WORD_INVERSE, 0));
  Invert(n / 2, Half(w, place, WORD_INVERSE, 1));
  for (int e = 0; e < 2; e++, ends += nc + 1, of += nc) {
    memcpy(ends, of, (size_t)nc * sizeof(KCScalar));
    ends[nc] = 1 / of[mid];
  }
  if (t == 0) PackBelow(w, l);
}

/* A line, and one of coarse points, in KCycleTile.line: coarse lines have few places more than half as many */
static size_t LinePlaces(const KCycleTile *w)
{
  return (size_t)w->st->box->n[0] + 8;
}

static PetscErrorCode Allocate(KCycleTile *w)
{
  const size_t    size  = (size_t)RING * w->lines * w->words * 2 * w->half;
  const uintptr_t bytes = VECTOR * sizeof(KCScalar);
  const PetscInt  rings = KCycleStencilHasBlocks(w->st) ? RING : 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(size + VECTOR, &w->memory));
  w->ring = (KCScalar *)(((uintptr_t)w->memory + bytes - 1) / bytes * bytes);
  for (PetscInt i = 0; i < 2 * rings * w->lines; i++) {
    const Place place = {i / 2 / w->lines, i / 2 % w->lines};

    FillBehind(w, Half(w, place, WORD_INVERSE, i % 2), i % 2);
  }
  PetscCall(PetscMalloc1((size_t)rings * w->lines * 2 * (w->nc + 1), &w->ends));
  PetscCall(PetscCalloc1((size_t)KCycleThreadsMost() * w->half, &w->residual));
  PetscCall(PetscMalloc1(2 * (size_t)KCycleThreadsMost() * LinePlaces(w), &w->line));
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
  w->split   = ((box->n[0] + 1) / 2 + VECTOR - 1) / VECTOR * VECTOR;
  w->half    = w->split + VECTOR; /* behind a half, too, there are zeros: those before the next one */
  w->lead    = box->dim == 3 ? 1 : 0;
  w->words   = KCycleStencilHasBlocks(st) ? WORD_UPPER + w->nc / 2 : WORD_INVERSE;
  bytes      = RING * w->words * 2 * (PetscInt64)w->half * (PetscInt64)sizeof(KCScalar);
  w->width   = PetscMin(m, PetscMax((PetscInt)(KC_TILE_BYTES / bytes), 4 * KC_TILE_STEPS));
  w->lines   = PetscMin(m, w->width + KC_TILE_STEPS + 1) + 2 * w->lead;
  PetscCall(Allocate(w));
  for (PetscInt c = 0; c < w->nclasses; c++) PetscCall(GetClass(w, c, &w->classes[c]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x of the line behind the last one of a plane, where lines up to high - 1 came to the tile */
static void ZeroBeyond(const KCycleTile *w, PetscInt t, PetscInt high)
{
  for (int parity = 0; w->lead && high == w->st->box->n[1] && parity < 2; parity++) {
    memset(Half(w, PlaceOf(w, t, high), WORD_X, parity) - VECTOR, 0, (size_t)w->half * sizeof(KCScalar));
  }
}

/* The same from and to PETSc's numbers, in single precision; most: the largest numbers so far */
KC_VERSIONS static void SplitFrom(PetscInt n, const PetscScalar *KC_RESTRICT x, PetscReal scale, PetscReal limit,
                                  PetscReal *KC_RESTRICT most, KCScalar *KC_RESTRICT even, KCScalar *KC_RESTRICT odd)
{
  for (PetscInt i = 0; i < n; i += VECTOR) __builtin_prefetch(x + AHEAD + i);
  for (PetscInt i = 0; i < n / KC_MOST * KC_MOST; i += KC_MOST) {
    for (int p = 0; p < KC_MOST; p++) {
      const PetscReal size = PetscAbsScalar(x[i + p]);

      most[p] = size > most[p] ? size : most[p];
    }
  }
  for (PetscInt i = n / KC_MOST * KC_MOST; i < n; i++) most[0] = PetscMax(most[0], PetscAbsScalar(x[i]));
  for (PetscInt i = 0; i < n / 2; i++) {
    even[i] = KCycleVectorsTake(x[2 * i], scale, limit);
    odd[i]  = KCycleVectorsTake(x[2 * i + 1], scale, limit);
  }
  if (n % 2) even[n / 2] = KCycleVectorsTake(x[n - 1], scale, limit);
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

/* The halves of a line from its place `at` on */
static void HalvesFrom(PetscInt at, KCScalar *half[2], KCScalar *from[2])
{
  from[0] = half[at % 2] + at / 2;
  from[1] = half[1 - at % 2] + (at + 1) / 2;
}

/* Line l of plane t of x, or of b, comes to the tile */
static void SplitLine(const KCycleTile *w, PetscBool right, const KCScalar *v, PetscInt t, PetscInt l, int word)
{
  const KCycleVectors *vectors = w->vectors;
  const Place          place   = PlaceOf(w, t, l);
  KCScalar            *half[2] = {Half(w, place, word, 0), Half(w, place, word, 1)}, *to[2];
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

static void JoinLine(const KCycleTile *w, PetscInt t, PetscInt l, PetscBool gives, KCScalar *x)
{
  const KCycleVectors *vectors = w->vectors;
  const Place          place   = PlaceOf(w, t, l);
  KCScalar            *half[2] = {Half(w, place, WORD_X, 0), Half(w, place, WORD_X, 1)}, *from[2];
  KCycleVectorsLine    line;

  KCycleVectorsFind(w->st->box, vectors, w->lead ? l : t, w->lead ? t : 0, &line);
  for (PetscInt p = 0, at = 0; p < line.count; at += line.n[p++]) {
    HalvesFrom(at, half, from);
    if (!gives) Join(line.n[p], from[0], from[1], (line.owned[p] ? x : vectors->x) + line.at[p]);
    else if (line.owned[p]) JoinTo(line.n[p], from[0], from[1], vectors->back, vectors->to + line.at[p]);
  }
}

/* x of lines low to high - 1 of plane t, which may be a halo plane; what lies outside the grid is zero */
void KCycleTilePackX(const KCycleTile *w, const KCScalar *x, PetscInt t, PetscInt low, PetscInt high)
{
  const KCycleBox *box   = w->st->box;
  const PetscBool  owned = (PetscBool)(t >= 0 && t < KCyclePlanes(box));

  for (PetscInt l = low; l < high; l++) {
    const Place place = PlaceOf(w, t, l);

    if (owned) SplitLine(w, PETSC_FALSE, x, t, l, WORD_X);
    else
      Split(box->n[0], KCycleBoxLine(box, x, w->st->halo, w->lead ? l : t, w->lead ? t : 0), Half(w, place, WORD_X, 0),
            Half(w, place, WORD_X, 1));
  }
  ZeroBeyond(w, t, high);
}

/* x of lines low to high - 1 of plane t of the grid, interpolated from a coarser solution */
void KCycleTileStart(const KCycleTile *w, const KCycleStart *start, PetscInt t, PetscInt low, PetscInt high)
{
  KCScalar *line = w->line + 2 * LinePlaces(w) * (size_t)KCycleThread(), *work = line + LinePlaces(w);

  for (PetscInt l = low; l < high; l++) {
    const Place place = PlaceOf(w, t, l);

    KCycleStartLine(start, w->lead ? l : t, w->lead ? t : 0, work, line);
    SplitNear(w->st->box->n[0], line, Half(w, place, WORD_X, 0), Half(w, place, WORD_X, 1));
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
void KCycleTileUnpack(const KCycleTile *w, PetscInt t, PetscInt low, PetscInt high, PetscBool gives, KCScalar *x)
{
  for (PetscInt l = low; l < high; l++) JoinLine(w, t, l, gives, x);
}

KC_VERSIONS static void Scale(PetscInt n, const KCScalar *KC_RESTRICT b, KCScalar s, KCScalar *KC_RESTRICT x)
{
  for (PetscInt i = 0; i < n; i++) x[i] = s * b[i];
}

KC_VERSIONS static void Multiply(PetscInt n, const KCScalar *KC_RESTRICT b, const KCScalar *KC_RESTRICT s,
                                 KCScalar *KC_RESTRICT x)
{
  for (PetscInt i = 0; i < n; i++) x[i] = s[i] * b[i];
}

/* What is known of a line */
typedef struct {
  const KCycleClass *constant; /* class, if it is constant but at its ends */
  /* coefficients of the points at its ends, the inverse of the diagonal behind those of each point; NULL: none of
     their own */
  const KCScalar    *ends;
  const KCScalar    *split; /* all coefficients of its class, or NULL */
  PetscInt           a, b;  /* points 0 to a - 1 and b to n - 1 are at its ends */
} Line;

static inline Line LineOf(const KCycleTile *w, PetscInt t, PetscInt l, Place place)
{
  const PetscInt         n = w->st->box->n[0], set = KCycleClassOf(w->st, w->lead ? l : t, w->lead ? t : 0);
  const KCycleTileClass *known = set < 0 ? NULL : &w->classes[set];
  Line                   k     = {NULL, NULL, NULL, 1, PetscMax(n - 1, 1)};

  if (!known) k.ends = EndsOf(w, place);
  else if (!known->constant) k.split = known->ends;
  else {
    k.constant = known->constant;
    k.ends     = known->ends;
    k.a        = known->constant->a;
    k.b        = known->constant->b;
  }
  return k;
}

/* (b - neighbours) / d, or b - A x, at points that have the same coefficients; m is a multiple of VECTOR. y may be x
   of these points */
KC_POINT void HalfConstant(const int op, const int nc, PetscInt m, const KCScalar *const x[], const KCScalar *b,
                           const KCycleClass *k, KCScalar *y)
{
  const KCScalar inverse = k->inverse;
  KCScalar       c[MOST];

  for (int o = 0; o < nc; o++) c[o] = k->middle[o];
  KC_IVDEP for (PetscInt i = 0; i < m / VECTOR * VECTOR; i++)
  {
    const KCScalar r = b[i] - KCyclePointNeighboursConstant(nc, c, x, i);

    y[i] = op == KC_RELAX ? r * inverse : r - c[nc / 2] * x[nc / 2][i];
  }
}

/* The same with coefficients of their own, the inverse in place of the diagonal */
KC_POINT void HalfArray(const int op, const int nc, PetscInt m, const KCScalar *const x[], const KCScalar *b,
                        const KCScalar *const c[], KCScalar *y)
{
  KC_IVDEP for (PetscInt i = 0; i < m / VECTOR * VECTOR; i++)
  {
    const KCScalar r = b[i] - KCyclePointNeighbours(nc, c, x, i);

    y[i] = op == KC_RELAX ? r * c[nc / 2][i] : r - x[nc / 2][i] / c[nc / 2][i];
  }
}

/* The points of one parity of a line */
typedef struct {
  PetscInt               parity;
  const KCScalar *const *x;
  const KCScalar        *b;
  KCScalar              *y;
} HalfLine;

/* Those among low to high - 1, at an end of a line */
KC_POINT void HalfEnds(const int op, const int nc, PetscInt low, PetscInt high, const KCScalar *c, const HalfLine h)
{
  for (PetscInt p = low + ((low ^ h.parity) & 1); p < high; p += 2) {
    const KCScalar *of = c + (p - low) * (nc + 1);
    const PetscInt  i  = p / 2;
    const KCScalar  r  = h.b[i] - KCyclePointNeighboursConstant(nc, of, h.x, i);

    h.y[i] = op == KC_RELAX ? r * of[nc] : r - of[nc / 2] * h.x[nc / 2][i];
  }
}

/* Coefficients of the points of this parity: of a class, or from the tile, the lower half as the upper one of
   neighbours */
KC_POINT void HalfCoefficients(const KCycleTile *w, const int nc, const Line *line, Place place, Place before,
                               PetscInt parity, const KCScalar *c[])
{
  const int   mid   = nc / 2;
  const Place below = {place.plane, place.line - 1};

  for (int o = 0; line->split && o < nc; o++) c[o] = line->split + (2 * o + parity) * w->split;
  if (line->split) return;
  for (int o = mid; o < nc; o++) c[o] = Half(w, place, WORD_INVERSE + o - mid, parity);
  c[mid - 1] = Half(w, place, WORD_UPPER, 1 - parity) - (parity ? 0 : 1);
  c[0]       = Half(w, before, WORD_UPPER + mid - 1, parity);
  if (mid == 3) c[1] = Half(w, below, WORD_UPPER + 1, parity);
}

/* A plane, and the places in the ring of the one before, of this one, and of the next */
typedef struct {
  PetscInt t, place[3];
} Planes;

static inline Planes PlanesOf(PetscInt t)
{
  const Planes planes = {t, {(t + RING - 1) % RING, t % RING, (t + 1) % RING}};

  return planes;
}

/* The points of one parity of line l of a plane */
KC_POINT void ComputeHalf(const KCycleTile *w, const int op, const int nc, const Planes *planes, PetscInt l,
                          PetscInt parity, KCScalar *y)
{
  const PetscInt n = w->st->box->n[0], m = (n + 1 - parity) / 2, padded = (m + VECTOR - 1) / VECTOR * VECTOR,
                 at      = l - w->base;
  const Place     before = {planes->place[0], at}, place = {planes->place[1], at}, behind = {planes->place[2], at};
  const KCScalar *own = Half(w, place, WORD_X, parity), *other = Half(w, place, WORD_X, 1 - parity),
                 *b   = Half(w, place, WORD_B, parity), *x[MOST], *c[MOST];
  const Line     line = LineOf(w, planes->t, l, place);
  const HalfLine h    = {parity, x, b, y};
  int            o    = 0;

  x[o++] = Half(w, before, WORD_X, parity);
  if (nc == 7) x[o++] = other - w->half;
  x[o++] = parity ? other : other - 1;
  x[o++] = own;
  x[o++] = parity ? other + 1 : other;
  if (nc == 7) x[o++] = other + w->half;
  x[o++] = Half(w, behind, WORD_X, parity);
  if (line.constant) HalfConstant(op, nc, padded, x, b, line.constant, y);
  else {
    HalfCoefficients(w, nc, &line, place, before, parity, c);
    HalfArray(op, nc, padded, x, b, c, y);
  }
  if (m < padded) y[m] = 0;
  if (!line.ends) return;
  HalfEnds(op, nc, 0, line.a, line.ends, h);
  HalfEnds(op, nc, line.b, n, line.ends + line.a * (nc + 1), h);
}

/* The squares of a residual at these points */
KC_POINT void SumHalf(const KCycleTile *w, PetscInt t, PetscInt l, PetscInt parity, const KCScalar *residual)
{
  const size_t line = w->lead ? l + w->st->box->n[1] * t : t;

  w->sums[2 * line + parity] = KCycleSumSquares((w->st->box->n[0] + 1 - parity) / 2, residual);
}

#define KC_TILE_LINES(nc)                                                                                              \
  KC_VERSIONS static void Relax_##nc(const KCycleTile *w, PetscInt t, PetscInt low, PetscInt high, PetscInt parity)    \
  {                                                                                                                    \
    const Planes planes = PlanesOf(t);                                                                                 \
                                                                                                                       \
    for (PetscInt l = low; l < high; l++) {                                                                            \
      const PetscInt p = (parity + l) & 1;                                                                             \
                                                                                                                       \
      ComputeHalf(w, KC_RELAX, nc, &planes, l, p, Half(w, PlaceOf(w, t, l), WORD_X, p));                               \
    }                                                                                                                  \
  }                                                                                                                    \
                                                                                                                       \
  KC_VERSIONS static void Restrict_##nc(const KCycleTile *w, PetscInt t, PetscInt low, PetscInt high, PetscInt parity, \
                                        const KCycleRestriction *to, KCScalar *residual)                               \
  {                                                                                                                    \
    const Planes planes = PlanesOf(t);                                                                                 \
                                                                                                                       \
    for (PetscInt l = low; l < high; l++) {                                                                            \
      ComputeHalf(w, KC_RESIDUAL, nc, &planes, l, (parity + l) & 1, residual);                                         \
      if (w->sums && l >= to->lines.own) SumHalf(w, t, l, (parity + l) & 1, residual);                                 \
      KCycleTransferRestrictHalf(to->tr, residual, (parity + l) & 1, w->lead ? l : t, w->lead ? t : 0, &to->lines,     \
                                 to->b);                                                                               \
    }                                                                                                                  \
  }

KC_TILE_LINES(5)
KC_TILE_LINES(7)

/* Relaxes on lines low to high - 1 of plane t the points of this parity on line 0, of the other on line 1, and so on */
void KCycleTileRelax(const KCycleTile *w, PetscInt t, PetscInt low, PetscInt high, PetscInt parity)
{
  if (w->nc == MOST) Relax_7(w, t, low, high, parity);
  else Relax_5(w, t, low, high, parity);
}

/* x = b / d at the points of one parity, 0 at the others */
static void ScaleHalf(const KCycleTile *w, PetscInt t, PetscInt l, PetscInt parity)
{
  const PetscInt  n = w->st->box->n[0], m = (n + 1 - parity) / 2;
  const int       nc    = w->nc;
  const Place     place = PlaceOf(w, t, l);
  const Line      line  = LineOf(w, t, l, place);
  const KCScalar *b     = Half(w, place, WORD_B, parity);
  KCScalar       *x     = Half(w, place, WORD_X, parity);

  memset(Half(w, place, WORD_X, 1 - parity), 0, (size_t)w->split * sizeof(KCScalar));
  if (line.constant) Scale(m, b, line.constant->inverse, x);
  else
    Multiply(m, b, line.split ? line.split + (2 * (nc / 2) + parity) * w->split : Half(w, place, WORD_INVERSE, parity),
             x);
  for (int e = 0; line.ends && e < 2; e++) {
    const PetscInt  low = e ? line.b : 0, high = e ? n : line.a;
    const KCScalar *c = line.ends + (e ? line.a : 0) * (nc + 1);

    for (PetscInt p = low + ((low ^ parity) & 1); p < high; p += 2) x[p / 2] = b[p / 2] * c[(p - low) * (nc + 1) + nc];
  }
}

/* The same from zero, of b that is packed on the way; the points of the other parity become zero */
void KCycleTileRelaxZero(const KCycleTile *w, const KCScalar *b, PetscInt t, PetscInt low, PetscInt high,
                         PetscInt parity)
{
  KCycleTilePackB(w, b, t, low, high);
  for (PetscInt l = low; l < high; l++) ScaleHalf(w, t, l, (parity + l) & 1);
  ZeroBeyond(w, t, high);
}

/* Adds the share of these points to the given lines of the restricted residual */
void KCycleTileRestrict(const KCycleTile *w, PetscInt t, PetscInt low, PetscInt high, PetscInt parity,
                        const KCycleRestriction *to)
{
  KCScalar *residual = w->residual + KCycleThread() * w->half;

  if (w->nc == MOST) Restrict_7(w, t, low, high, parity, to, residual);
  else Restrict_5(w, t, low, high, parity, to, residual);
}

/* Adds the interpolated correction to these points */
void KCycleTileInterpolate(const KCycleTile *w, PetscInt t, PetscInt low, PetscInt high, PetscInt parity,
                           const KCycleTransfer *tr, const KCScalar *e)
{
  for (PetscInt l = low; l < high; l++) {
    KCycleTransferInterpolateHalf(tr, e, (parity + l) & 1, w->lead ? l : t, w->lead ? t : 0,
                                  Half(w, PlaceOf(w, t, l), WORD_X, (parity + l) & 1));
  }
}
