/*
  A window: the planes of x, b and coefficients that the steps of a red-black stroke work on, copied to a ring of planes in cache.

  In it a line is split into its points of even and of odd place, so that a half sweep computes the points of one colour only, from
  neighbours that lie side by side, and reads each array from its start:

    points       0 1 2 3 4 5 6                      even half    . 0 2 4 6 .
    red of odd lines, black of even ones            odd half     . 1 3 5 .        . is zero for x

  Relaxation without over-relaxation does not read what it replaces: x = (b - neighbours) / d. So what it leaves is without residual at its
  points, and what interpolation adds at points that are relaxed next is never read: restriction and interpolation leave out that colour.
*/
#include <petsckcycle/private/relaximpl.h>

#define MOST   7 /* coefficients of a star */
#define VECTOR 8 /* places: halves of lines begin at a multiple, behind so many zeros */

/* Planes of the ring: the steps of a pass, one plane behind each other, and a plane on each side */
#define RING (KC_WINDOW_STEPS + 2)

/* Bytes of the caches that it may take */
#define KC_WINDOW_BYTES 4000000

/* Coefficients, of matrices that have lines with blocks of their own: the upper half, as the lower one is that of neighbours */
typedef enum {
  WORD_X,
  WORD_B,
  WORD_INVERSE, /* of the diagonal */
  WORD_UPPER    /* +x, +y, +z */
} Word;

/* Line l of plane t of the ring; both may be one outside the grid */
static inline PetscInt Place(const KCycleWindow *w, PetscInt t, PetscInt l)
{
  return (t + RING) % RING * w->nlines + l - w->base;
}

/* Points 0, 2, 4... or 1, 3, 5... of a word of a line */
static inline PetscScalar *Half(const KCycleWindow *w, PetscInt place, int word, PetscInt parity)
{
  return w->data + ((place * w->words + word) * 2 + parity) * w->half + VECTOR;
}

PetscErrorCode KCycleWindowDestroy(KCycleWindow **window)
{
  PetscFunctionBegin;
  if (!*window) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree((*window)->memory));
  PetscCall(PetscFree((*window)->lines));
  for (PetscInt c = 0; c < (*window)->nclasses; c++) PetscCall(PetscFree((*window)->classes[c].ends));
  PetscCall(PetscFree((*window)->classes));
  PetscCall(PetscFree((*window)->residual));
  PetscCall(PetscFree(*window));
  PetscFunctionReturn(PETSC_SUCCESS);
}

KC_VERSIONS static void Split(PetscInt n, const PetscScalar *restrict x, PetscScalar *restrict even, PetscScalar *restrict odd)
{
  for (PetscInt i = 0; i < n / 2; i++) {
    even[i] = x[2 * i];
    odd[i]  = x[2 * i + 1];
  }
  if (n % 2) even[n / 2] = x[n - 1];
}

KC_VERSIONS static void Join(PetscInt n, const PetscScalar *restrict even, const PetscScalar *restrict odd, PetscScalar *restrict x)
{
  for (PetscInt i = 0; i < n / 2; i++) {
    x[2 * i]     = even[i];
    x[2 * i + 1] = odd[i];
  }
  if (n % 2) x[n - 1] = even[n / 2];
}

KC_VERSIONS static void Invert(PetscInt n, PetscScalar *restrict d)
{
  for (PetscInt i = 0; i < n; i++) d[i] = 1 / d[i];
}

/* The end points of constant classes carry the inverse of their diagonal behind their coefficients; other classes are split here, once, with the inverse in place of the diagonal */
static PetscErrorCode GetClass(const KCycleWindow *w, const KCycleClass *class, KCycleWindowClass *c)
{
  const PetscInt  n = w->st->box->n[0], points = class->a + n - class->b;
  const PetscBool run = (PetscBool)(class->b > class->a);

  PetscFunctionBegin;
  c->class = run ? class : NULL;
  PetscCall(PetscCalloc1(run ? points * (w->nc + 1) : 2 * w->nc * w->half, &c->ends));
  for (PetscInt p = 0; run && p < points; p++) {
    PetscCall(PetscArraycpy(c->ends + p * (w->nc + 1), class->ends + p * w->nc, w->nc));
    c->ends[p * (w->nc + 1) + w->nc] = 1 / class->ends[p * w->nc + w->nc / 2];
  }
  for (int o = 0; !run && o < w->nc; o++) {
    PetscScalar *even = c->ends + 2 * o * w->half, *odd = even + w->half;

    Split(n, class->c + o * n, even, odd);
    if (o != w->nc / 2) continue;
    Invert((n + 1) / 2, even);
    Invert(n / 2, odd);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For a matrix with a star stencil in two or three dimensions; none where lines keep all their coefficients */
PetscErrorCode KCycleWindowCreate(const Mat_Stencil *st, KCycleWindow **window)
{
  const KCycleBox *box = st->box;
  const PetscInt   m   = box->dim == 3 ? box->n[1] : 1;
  KCycleWindow    *w;
  PetscInt         bytes;

  PetscFunctionBegin;
  if (st->nstore && !st->half) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&w));
  *window   = w;
  w->st     = st;
  w->nc     = st->shape.ncoeffs;
  w->half   = ((box->n[0] + 1) / 2 + VECTOR) / VECTOR * VECTOR + VECTOR;
  w->words  = st->nstore ? WORD_UPPER + w->nc / 2 : WORD_INVERSE;
  bytes     = RING * w->words * 2 * w->half * (PetscInt)sizeof(PetscScalar);
  w->width  = PetscMin(m, PetscMax(KC_WINDOW_BYTES / bytes, 4 * KC_WINDOW_STEPS));
  w->nlines = PetscMin(m, w->width + KC_WINDOW_STEPS + 1) + 2;
  PetscCall(PetscCalloc1(RING * w->nlines * w->words * 2 * w->half + VECTOR, &w->memory));
  w->data = (PetscScalar *)(((uintptr_t)w->memory + VECTOR * sizeof(PetscScalar) - 1) / (VECTOR * sizeof(PetscScalar)) * (VECTOR * sizeof(PetscScalar)));
  PetscCall(PetscCalloc1(RING * w->nlines, &w->lines));
  PetscCall(PetscCalloc1(w->half, &w->residual));
  w->nclasses = st->nclasses;
  PetscCall(PetscCalloc1(w->nclasses, &w->classes));
  for (PetscInt c = 0; c < w->nclasses; c++) PetscCall(GetClass(w, &st->classes[c], &w->classes[c]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x of a line, or zero */
static void PackX(const KCycleWindow *w, const PetscScalar *x, PetscInt place)
{
  const PetscInt n = w->st->box->n[0], places = w->half - VECTOR;

  for (PetscInt parity = 0; parity < 2; parity++) {
    const PetscInt from = x ? (n + 1 - parity) / 2 : 0;

    memset(Half(w, place, WORD_X, parity) + from, 0, (size_t)(places - from) * sizeof(PetscScalar));
  }
  if (x) Split(n, x, Half(w, place, WORD_X, 0), Half(w, place, WORD_X, 1));
}

/* The couplings with the plane below the first one, which is a halo plane */
static void PackBelow(const KCycleWindow *w, PetscInt l, const KCycleLine *from)
{
  const PetscInt place = Place(w, -1, l);

  Split(w->st->box->n[0], from->c[0], Half(w, place, WORD_UPPER + w->nc / 2 - 1, 0), Half(w, place, WORD_UPPER + w->nc / 2 - 1, 1));
}

/* Of a line that shares its coefficients those that neighbours with blocks of their own look for there */
static void PackShared(const KCycleWindow *w, PetscInt place, PetscInt j, PetscInt k, const KCycleLine *from)
{
  const KCycleShape *shape = &w->st->shape;
  const KCycleBox   *box   = w->st->box;
  const int          mid   = w->nc / 2;

  for (int o = mid + 2; o < w->nc; o++) {
    const PetscInt jj = j + shape->dy[shape->line[o]], kk = k + shape->dz[shape->line[o]];

    if (jj >= box->n[1] || kk >= box->n[2] || w->st->kind[jj + box->n[1] * kk] >= 0) continue;
    Split(box->n[0], from->end[0] + o * box->n[0], Half(w, place, WORD_INVERSE + o - mid, 0), Half(w, place, WORD_INVERSE + o - mid, 1));
  }
}

static void PackCoefficients(const KCycleWindow *w, PetscInt place, PetscInt t, PetscInt j, PetscInt k)
{
  const PetscInt    n = w->st->box->n[0], kind = w->st->kind[j + w->st->box->n[1] * k], nc = w->nc;
  KCycleWindowLine *line = &w->lines[place];
  KCycleLine        from;

  line->shared = kind < 0 ? NULL : &w->classes[kind];
  if (w->words == WORD_INVERSE) return;
  KCycleLineCoefficients(w->st, j, k, &from);
  if (kind >= 0) {
    PackShared(w, place, j, k, &from);
    return;
  }
  for (int o = nc / 2; o < nc; o++) Split(n, from.c[o], Half(w, place, WORD_INVERSE + o - nc / 2, 0), Half(w, place, WORD_INVERSE + o - nc / 2, 1));
  Invert((n + 1) / 2, Half(w, place, WORD_INVERSE, 0));
  Invert(n / 2, Half(w, place, WORD_INVERSE, 1));
  for (int e = 0; e < 2; e++) {
    memcpy(line->ends + e * (nc + 1), from.end[e], (size_t)nc * sizeof(PetscScalar));
    line->ends[e * (nc + 1) + nc] = 1 / from.end[e][nc / 2];
  }
  if (t == 0) PackBelow(w, w->st->box->dim == 3 ? j : 0, &from);
}

/* Planes -1 to the number of planes; those outside come from the halo. Lines low to high - 1, of which x counts as zero from line zero on */
void KCycleWindowPack(const KCycleWindow *w, const PetscScalar *b, const PetscScalar *x, PetscInt t, PetscInt low, PetscInt high, PetscInt zero)
{
  const KCycleBox *box = w->st->box;

  for (PetscInt l = low, place = Place(w, t, low); l < high; l++, place++) {
    const PetscInt j = box->dim == 3 ? l : t, k = box->dim == 3 ? t : 0;

    PackX(w, l < zero ? KCycleBoxLine(box, x, w->st->halo, j, k) : NULL, place);
    if (t < 0 || t >= box->n[box->dim - 1]) continue;
    Split(box->n[0], b + box->n[0] * (j + box->n[1] * k), Half(w, place, WORD_B, 0), Half(w, place, WORD_B, 1));
    PackCoefficients(w, place, t, j, k);
  }
  if (high == (box->dim == 3 ? box->n[1] : 1)) PackX(w, NULL, Place(w, t, high));
}

void KCycleWindowUnpack(const KCycleWindow *w, PetscInt t, PetscInt low, PetscInt high, PetscScalar *x)
{
  const KCycleBox *box = w->st->box;

  for (PetscInt l = low, place = Place(w, t, low); l < high; l++, place++) {
    const PetscInt j = box->dim == 3 ? l : t, k = box->dim == 3 ? t : 0;

    Join(box->n[0], Half(w, place, WORD_X, 0), Half(w, place, WORD_X, 1), x + box->n[0] * (j + box->n[1] * k));
  }
}

/* What a stencil reads at the points of one parity of a line: index i of x[o] and c[o] belongs to coefficient o of the i-th of these points */
typedef struct {
  PetscInt           m, padded; /* points; the same, rounded up to a multiple of VECTOR */
  const PetscScalar *x[MOST], *c[MOST], *b;
} HalfLine;

static void GatherHalf(const KCycleWindow *w, const PetscInt planes[], PetscInt place, PetscInt parity, HalfLine *h)
{
  const PetscScalar *other = Half(w, place, WORD_X, 1 - parity);
  int                o     = 0;

  h->m      = (w->st->box->n[0] + 1 - parity) / 2;
  h->padded = (h->m + VECTOR - 1) / VECTOR * VECTOR;
  h->b      = Half(w, place, WORD_B, parity);
  if (w->nc == 7) h->x[o++] = Half(w, place + planes[0], WORD_X, parity);
  h->x[o++] = Half(w, place + (w->nc == 7 ? -1 : planes[0]), WORD_X, parity);
  h->x[o++] = parity ? other : other - 1;
  h->x[o++] = Half(w, place, WORD_X, parity);
  h->x[o++] = parity ? other + 1 : other;
  h->x[o++] = Half(w, place + (w->nc == 7 ? 1 : planes[1]), WORD_X, parity);
  if (w->nc == 7) h->x[o++] = Half(w, place + planes[1], WORD_X, parity);
}

/* Coefficients of the same points: of a class, or from the window, the lower half as the upper one of neighbours */
static void GatherCoefficients(const KCycleWindow *w, const PetscInt planes[], PetscInt place, PetscInt parity, HalfLine *h)
{
  const KCycleWindowClass *shared = w->lines[place].shared;
  const PetscScalar       *other  = Half(w, place, WORD_UPPER, 1 - parity);
  const int                mid    = w->nc / 2;

  for (int o = 0; shared && o < w->nc; o++) h->c[o] = shared->ends + (2 * o + parity) * w->half;
  if (shared) return;
  for (int o = mid; o < w->nc; o++) h->c[o] = Half(w, place, WORD_INVERSE + o - mid, parity);
  h->c[mid - 1] = parity ? other : other - 1;
  h->c[0]       = Half(w, place + planes[0], WORD_UPPER + mid - 1, parity);
  if (mid == 3) h->c[1] = Half(w, place - 1, WORD_UPPER + 1, parity);
}

/* y = (b - neighbours) / d, or b - A x; y may be x of these points */
#define KC_HALF_CONSTANT(name, op, nc)                                                      \
  KC_VERSIONS static void name(const HalfLine *h, const KCycleClass *class, PetscScalar *y) \
  {                                                                                         \
    const PetscScalar *x[nc], *b = h->b, inverse = class->inverse;                          \
    PetscScalar        c[nc];                                                               \
                                                                                            \
    for (int o = 0; o < nc; o++) c[o] = class->middle[o];                                   \
    for (int o = 0; o < nc; o++) x[o] = h->x[o];                                            \
    _Pragma("GCC ivdep") for (PetscInt i = 0; i < h->padded / VECTOR * VECTOR; i++)         \
    {                                                                                       \
      const PetscScalar r = b[i] - KCyclePointNeighboursConstant(nc, c, x, i);              \
                                                                                            \
      y[i] = op == KC_RELAX ? r * inverse : r - c[(nc) / 2] * x[(nc) / 2][i];               \
    }                                                                                       \
  }

#define KC_HALF_ARRAY(name, op, nc)                                                         \
  KC_VERSIONS static void name(const HalfLine *h, const KCycleClass *class, PetscScalar *y) \
  {                                                                                         \
    const PetscScalar *c[nc], *x[nc], *b = h->b;                                            \
                                                                                            \
    (void)class;                                                                            \
    for (int o = 0; o < nc; o++) c[o] = h->c[o];                                            \
    for (int o = 0; o < nc; o++) x[o] = h->x[o];                                            \
    _Pragma("GCC ivdep") for (PetscInt i = 0; i < h->padded / VECTOR * VECTOR; i++)         \
    {                                                                                       \
      const PetscScalar r = b[i] - KCyclePointNeighbours(nc, c, x, i);                      \
                                                                                            \
      y[i] = op == KC_RELAX ? r * c[(nc) / 2][i] : r - x[(nc) / 2][i] / c[(nc) / 2][i];     \
    }                                                                                       \
  }

KC_HALF_CONSTANT(RelaxConstant_5, KC_RELAX, 5)
KC_HALF_CONSTANT(RelaxConstant_7, KC_RELAX, 7)
KC_HALF_CONSTANT(ResidualConstant_5, KC_RESIDUAL, 5)
KC_HALF_CONSTANT(ResidualConstant_7, KC_RESIDUAL, 7)
KC_HALF_ARRAY(RelaxArray_5, KC_RELAX, 5)
KC_HALF_ARRAY(RelaxArray_7, KC_RELAX, 7)
KC_HALF_ARRAY(ResidualArray_5, KC_RESIDUAL, 5)
KC_HALF_ARRAY(ResidualArray_7, KC_RESIDUAL, 7)

typedef void (*HalfKernel)(const HalfLine *, const KCycleClass *, PetscScalar *);

/* [residual][array][seven points] */
static const HalfKernel Kernels[2][2][2] = {{{RelaxConstant_5, RelaxConstant_7}, {RelaxArray_5, RelaxArray_7}},
                                            {{ResidualConstant_5, ResidualConstant_7}, {ResidualArray_5, ResidualArray_7}}};

/* The points at an end of a line, low to high - 1, that have coefficients of their own */
static void EndPoints(int nc, int op, const HalfLine *h, const PetscScalar *c, PetscInt low, PetscInt high, PetscInt parity, PetscScalar *y)
{
  for (PetscInt p = low + ((low ^ parity) & 1); p < high; p += 2) {
    const PetscScalar *of = c + (p - low) * (nc + 1);
    const PetscInt     i  = p / 2;
    PetscScalar        r  = h->b[i];

    for (int o = 0; o < nc; o++) {
      if (o != nc / 2) r -= of[o] * h->x[o][i];
    }
    y[i] = op == KC_RELAX ? r * of[nc] : r - of[nc / 2] * h->x[nc / 2][i];
  }
}

/* The points of one parity of a line. planes: how far the places of the lines in the neighbour planes are */
static void ComputeHalf(const KCycleWindow *w, int op, const PetscInt planes[], PetscInt place, PetscInt parity, PetscScalar *y)
{
  const KCycleWindowLine *line = &w->lines[place];
  const KCycleClass *class     = line->shared ? line->shared->class : NULL;
  const PetscScalar *ends      = line->shared ? line->shared->ends : line->ends;
  const PetscInt     n = w->st->box->n[0], a = class ? class->a : 1, b = class ? class->b : PetscMax(n - 1, 1);
  HalfLine           h;

  GatherHalf(w, planes, place, parity, &h);
  if (!class) GatherCoefficients(w, planes, place, parity, &h);
  (*Kernels[op == KC_RESIDUAL][!class][w->nc == MOST])(&h, class, y);
  y[h.m] = 0;
  if (line->shared && !class) return;
  EndPoints(w->nc, op, &h, ends, 0, a, parity, y);
  EndPoints(w->nc, op, &h, ends + a * (w->nc + 1), b, n, parity, y);
}

/* Relaxes on lines low to high - 1 of plane t the points of this parity on line 0, of the other on line 1, and so on */
void KCycleWindowRelax(const KCycleWindow *w, PetscInt t, PetscInt low, PetscInt high, PetscInt parity)
{
  const PetscInt planes[2] = {Place(w, t - 1, low) - Place(w, t, low), Place(w, t + 1, low) - Place(w, t, low)};

  for (PetscInt l = low, place = Place(w, t, low); l < high; l++, place++) {
    ComputeHalf(w, KC_RELAX, planes, place, (parity + l) & 1, Half(w, place, WORD_X, (parity + l) & 1));
  }
}

/* Adds the share of these points to the restricted residual */
void KCycleWindowRestrict(const KCycleWindow *w, PetscInt t, PetscInt low, PetscInt high, PetscInt parity, const Mat_StencilTransfer *tr, PetscScalar *coarse)
{
  const PetscInt  planes[2] = {Place(w, t - 1, low) - Place(w, t, low), Place(w, t + 1, low) - Place(w, t, low)};
  const PetscBool deep      = (PetscBool)(w->st->box->dim == 3);

  for (PetscInt l = low, place = Place(w, t, low); l < high; l++, place++) {
    ComputeHalf(w, KC_RESIDUAL, planes, place, (parity + l) & 1, w->residual);
    KCycleTransferRestrictHalf(tr, w->residual, (parity + l) & 1, deep ? l : t, deep ? t : 0, coarse);
  }
}

/* Adds the interpolated correction to these points */
void KCycleWindowInterpolate(const KCycleWindow *w, PetscInt t, PetscInt low, PetscInt high, PetscInt parity, const Mat_StencilTransfer *tr, const PetscScalar *e)
{
  const PetscBool deep = (PetscBool)(w->st->box->dim == 3);

  for (PetscInt l = low, place = Place(w, t, low); l < high; l++, place++) {
    KCycleTransferInterpolateHalf(tr, e, (parity + l) & 1, deep ? l : t, deep ? t : 0, Half(w, place, WORD_X, (parity + l) & 1));
  }
}
