/*
  The Galerkin product P^T A P of a star, collapsed to a star: in each direction the sums of its couplings over the
  directions across, the sum of each row on the diagonal.

  With linear interpolation the couplings have a closed form. A coarse point and the next one in direction d are coupled
  through the fine point between them by 1/4 (a + b), a and b the couplings of that point with both, and so are the
  points next to them that are restricted to them, each with its weight:

    C(I, I + d) = 1/4 sum_p P(p, I) (a(p, p + d) + a(p', p' - d)),   p' = p + 2 d

  over the fine points p that coincide with I in direction d. What row sums of A, reactions and the couplings with
  boundaries, would give to couplings is left to the diagonal: as a mass matrix they would make couplings that look to
  further points, and a star of these, unlike the product itself, can be indefinite.

  In place of 1/2 is the part of its weights that the point between has on the side of I + d: nothing where this or
  the point between takes no corrections, all of them where the point is I + d itself, or I as seen from I + d, as where
  a periodic direction of an odd number of points wraps around.

  One fine line at a time, which adds to the one, two or four coarse lines that it touches.
*/
#include "mattransfer.h"

#define MAX_FIELDS 7 /* forward and back in each direction, all */
#define PLACES     4 /* lines in y, and in z, whose sums are remembered */

/* The weights of the points of a fine line, added up over coarse points; points that coincide with coarse ones (0) and
   those between (1), from -1 to n */
typedef struct {
  PetscInt     set[4];                           /* of these weights on its coarse lines */
  PetscInt     line[2], pairs[2];                /* is it between coarse lines, in y, in z? */
  PetscBool    halved[2];                        /* do these halves of its weights differ? */
  PetscScalar *all[2], *part[MAX_FIELDS - 1][2]; /* over all; the part of it forward and back in each direction */
} Sums;

typedef struct {
  const KCycleStencil  *st; /* fine */
  const KCycleTransfer *tr;
  const KCycleOverlap  *ov;
  PetscInt              n, pad, nfields; /* coarse points of a line; n + 2 */
  KCycleSplitLines      split;
  Sums                  sums[PLACES * PLACES];
  /* of a fine line: [points that coincide, points between][field][-1 to n] */
  PetscScalar          *rows, *work;
  PetscBool             used[2][MAX_FIELDS];
} Star;

static PetscErrorCode StarCreate(Mat A, const KCycleTransfer *tr, const KCycleOverlap *ov, Star *s)
{
  const PetscInt nlists = 2 * MAX_FIELDS;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  s->st      = KCycleStencilOf(A);
  s->tr      = tr;
  s->ov      = ov;
  s->n       = tr->coarse->n[0];
  s->pad     = s->n + 2;
  s->nfields = 2 * tr->coarse->dim + 1;
  PetscCall(KCycleSplitLinesCreate(A, tr, &s->split));
  PetscCall(PetscCalloc2(2 * s->nfields * s->pad, &s->rows, (size_t)PLACES * PLACES * nlists * s->pad, &s->work));
  for (int i = 0; i < PLACES * PLACES; i++) {
    s->sums[i].line[0] = s->sums[i].line[1] = -PETSC_INT_MAX;
    memset(s->sums[i].set, -1, sizeof(s->sums[i].set));
    for (int l = 0; l < nlists; l++)
      *(l < 2 ? &s->sums[i].all[l] : &s->sums[i].part[l / 2 - 1][l % 2]) = s->work + (i * nlists + l) * s->pad + 1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StarDestroy(Star *s)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(s->rows, s->work));
  PetscCall(KCycleSplitLinesDestroy(&s->split));
  PetscFunctionReturn(PETSC_SUCCESS);
}

KC_VERSIONS static void Add(PetscInt n, const PetscScalar *KC_RESTRICT from, PetscScalar *KC_RESTRICT to)
{
  for (PetscInt i = 0; i < n; i++) to[i] += from[i];
}

static void Divide(PetscInt n, const PetscScalar *all, PetscScalar *part)
{
  for (PetscInt i = 0; i < n; i++) part[i] = all[i] == (PetscScalar)0.0 ? 0 : part[i] / all[i];
}

/* Is a line, or a point between, interpolated from coarse points on both of its sides? */
static PetscBool Wraps(const Star *s, int d, PetscInt at)
{
  return (PetscBool)((s->ov->wraps[d][0] && at == 1) || (s->ov->wraps[d][1] && at == s->tr->fine->n[d] - 2));
}

/* Adds up the weights on one coarse line, which is the upper one of a pair or not; halved: in y, in z a pair */
static void SumsAdd(const Star *s, const PetscScalar *w, const PetscInt upper[], const PetscBool halved[], Sums *sums)
{
  const PetscScalar *left = KCycleWeightsLeft(w, s->n) - 1, *right = KCycleWeightsRight(w, s->n) - 1,
                    *from[3] = {w, left, right};

  for (int t = 0; t < (s->tr->factor[0] == 1 ? 1 : 3); t++) {
    const int      x      = t > 0;
    const PetscInt length = s->pad - x;

    Add(length, from[t], sums->all[x] - 1);
    for (int f = 0; f < MAX_FIELDS - 1; f++) {
      const PetscBool part =
          f < 2 ? (PetscBool)(t == 0 || t == 2 - f) : (PetscBool)(!halved[f / 2 - 1] || upper[f / 2 - 1] == 1 - f % 2);

      if (part) Add(length, from[t], sums->part[f][x] - 1);
    }
  }
}

/* The sums of fine line (j, k), which may be those that were there */
static const Sums *SumsGet(Star *s, PetscInt j, PetscInt k)
{
  Sums          *sums = &s->sums[(j & (PLACES - 1)) + PLACES * (k & (PLACES - 1))];
  const PetscInt e = KCycleBoxExtended(s->st->box, j, k), *set = KCycleTransferSets(s->tr, e);
  KCycleTouch    touch;
  PetscInt       pairs[2];
  PetscBool      halved[2];

  if (s->st->box->offset[e] == 0) return NULL;
  if (sums->line[0] == j && sums->line[1] == k) return sums;
  KCycleTransferTouch(s->tr, j, k, &touch);
  sums->line[0] = j;
  sums->line[1] = k;
  pairs[0]      = touch.j[touch.count - 1] - touch.j[0];
  pairs[1]      = touch.k[touch.count - 1] - touch.k[0];
  halved[0]     = (PetscBool)(pairs[0] && !Wraps(s, 1, j));
  halved[1]     = (PetscBool)(pairs[1] && !Wraps(s, 2, k));
  if (!memcmp(halved, sums->halved, sizeof(halved)) && !memcmp(pairs, sums->pairs, sizeof(pairs)) &&
      !memcmp(set, sums->set, sizeof(sums->set)))
    return sums;
  memcpy(sums->set, set, sizeof(sums->set));
  memcpy(sums->pairs, pairs, sizeof(pairs));
  memcpy(sums->halved, halved, sizeof(halved));
  memset(sums->all[0] - 1, 0, (size_t)2 * MAX_FIELDS * s->pad * sizeof(PetscScalar));
  for (PetscInt q = 0; q < touch.count; q++) {
    const PetscInt upper[2] = {touch.j[q] - touch.j[0], touch.k[q] - touch.k[0]};

    if (touch.w[q]) SumsAdd(s, touch.w[q], upper, halved, sums);
  }
  for (PetscInt i = -1; i < s->n && s->tr->factor[0] == 2; i++) {
    if (Wraps(s, 0, 2 * i + 1 + s->tr->shift[0])) sums->part[0][1][i] = sums->part[1][1][i] = sums->all[1][i];
  }
  for (int x = 0; x < 2; x++) {
    for (int f = 0; f < MAX_FIELDS - 1; f++) Divide(s->pad, sums->all[x] - 1, sums->part[f][x] - 1);
  }
  return sums;
}

/* The next points in x of points x (0: coincide, 1: between), at a side (0: forward): which they are, and where */
static int Beside(const Star *s, int x, int side, PetscInt *at)
{
  *at = s->tr->factor[0] == 1 ? (side ? -1 : 1) : x == 0 ? -side : 1 - side;
  return s->tr->factor[0] == 1 ? 0 : 1 - x;
}

/* The terms of all fields for points x of line (j, k); near: the lines around in the order of the stencil's */
static void Terms(const Star *s, const PetscScalar *c, const Sums *const near[], int x, KCycleTerms terms[])
{
  const int dim = s->tr->coarse->dim, mid = s->st->shape.nl / 2, couples = s->st->shape.ncoeffs / 2;

  for (int f = 0; f < s->nfields; f++) terms[f].m = 0;
  KCycleTermsAdd(&terms[2 * dim], c + couples * s->pad, near[mid]->all[x]);
  for (int d = 0; d < couples; d++) {
    for (int side = 0; side < 2; side++) {
      const PetscScalar *a    = c + (couples + (side ? -1 : 1) * (d + 1)) * s->pad;
      const Sums        *next = near[mid + (side ? -1 : 1) * d];
      PetscInt           at   = 0;
      const int          to = d ? x : Beside(s, x, side, &at), f = 2 * d + side;

      if (!next) continue;
      KCycleTermsAdd(&terms[2 * dim], a, next->all[to] + at);
      if (d ? !near[mid]->pairs[d - 1] : !x) KCycleTermsAdd(&terms[f], a, next->part[f][to] + at);
    }
  }
}

/* What the points of fine line (j, k) give to the coarse points that they are restricted to */
static void RowsOfLine(Star *s, PetscInt j, PetscInt k)
{
  const KCycleShape *shape = &s->st->shape;
  const PetscScalar *c[2];
  const Sums        *near[KC_MAX_LINES];
  KCycleTerms        terms[MAX_FIELDS];

  for (int q = 0; q < shape->nl; q++) near[q] = SumsGet(s, j + shape->dy[q], k + shape->dz[q]);
  KCycleSplitLinesGet(&s->split, j, k, c);
  for (int x = 0; x < s->tr->factor[0]; x++) {
    const int first = -x; /* the point between that lies before the first coarse one */

    Terms(s, c[x] + 1 + first, near, x, terms);
    for (int f = 0; f < s->nfields; f++) {
      for (int t = 0; t < terms[f].m; t++) terms[f].of[t].w += first;
      s->used[x][f] = (PetscBool)(terms[f].m > 0);
      if (terms[f].m)
        KCycleSumOfProducts(&terms[f], s->n - first, PETSC_FALSE, s->rows + (x * s->nfields + f) * s->pad + 1 + first);
    }
  }
}

/* Adds the rows times the weights of the line on one coarse line to the fields of that */
static void Restrict(const Star *s, const PetscScalar *w, PetscScalar *fields)
{
  for (int f = 0; f < s->nfields; f++) {
    const PetscScalar *coincide = s->rows + f * s->pad + 1, *between = coincide + s->nfields * s->pad;
    KCycleTerms        terms;

    terms.m = 0;
    if (s->used[0][f]) KCycleTermsAdd(&terms, coincide, KCycleWeightsSame(w));
    if (s->used[1][f]) {
      KCycleTermsAdd(&terms, between, KCycleWeightsLeft(w, s->n));
      KCycleTermsAdd(&terms, between - 1, KCycleWeightsRight(w, s->n) - 1);
    }
    KCycleSumOfProducts(&terms, s->n, PETSC_TRUE, fields + f * s->pad + 1);
  }
}

/* The products of the coarse lines that have one of their own, added to v: of each [forward and back in x, in y, in z,
   all][-1 to n] */
static PetscErrorCode StarProducts(Mat A, const KCycleTransfer *tr, const KCycleOverlap *ov,
                                   const KCycleStarLines *lines, PetscScalar *v)
{
  const KCycleBox *box = tr->fine;
  Star             s;

  PetscFunctionBegin;
  PetscCall(StarCreate(A, tr, ov, &s));
  for (PetscInt k = 0; k < box->n[2]; k++) {
    for (PetscInt j = 0; j < box->n[1]; j++) {
      PetscBool   done = PETSC_FALSE;
      KCycleTouch touch;

      KCycleTransferTouch(tr, j, k, &touch);
      for (PetscInt q = 0; q < touch.count; q++) {
        const PetscInt e = KCycleBoxExtended(tr->coarse, touch.j[q], touch.k[q]);

        if (!touch.w[q] || !lines->mine[e]) continue;
        if (!done) RowsOfLine(&s, j, k);
        done = PETSC_TRUE;
        Restrict(&s, touch.w[q], v + (size_t)lines->product[e] * (size_t)(s.nfields * s.pad));
      }
    }
  }
  PetscCall(StarDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products: of each [field][-1 to n]. Fields of a line: for each direction the sums of the coefficients that look
   forward and of those that look back, and last the sum of all */
typedef struct {
  const KCycleBox       *box;
  const KCycleStarLines *lines;
  const PetscInt        *ahead; /* number of coarse points before those of the matrix */
  PetscInt               nfields, pad;
  PetscScalar           *v;
} Fields;

static PetscScalar *FieldsOf(const Fields *f, PetscInt e)
{
  return f->v + (size_t)f->lines->product[e] * (size_t)(f->nfields * f->pad);
}

KC_VERSIONS static void Mean(PetscInt n, const PetscScalar *KC_RESTRICT mine, const PetscScalar *KC_RESTRICT other,
                             PetscScalar *KC_RESTRICT c, PetscScalar *KC_RESTRICT diagonal)
{
  for (PetscInt i = 0; i < n; i++) {
    c[i] = 0.5 * (mine[i] + other[i]);
    diagonal[i] -= c[i];
  }
}

/* Coefficients of a line from the fields of extended line e: the coupling of two neighbours is the mean of what both
   say */
static void StarLine(const Fields *f, PetscInt e, const KCycleShape *shape, PetscInt n, PetscScalar *values)
{
  const KCycleBox   *box = f->box;
  const PetscInt     dim = box->dim, step[3] = {0, 1, box->n[1] + 2}, couples = shape->flat ? dim - 1 : dim;
  const PetscScalar *own      = FieldsOf(f, e) + 1 + f->ahead[0];
  PetscScalar       *diagonal = values + shape->ncoeffs / 2 * n;

  memcpy(diagonal, own + 2 * dim * f->pad, n * sizeof(*diagonal));
  for (PetscInt d = 0; d < couples; d++) {
    for (int side = 0; side < 2; side++) {
      const PetscInt     away = side ? -1 : 1, x = d == 0 ? away : 0, index[3] = {1, 3, 9};
      const PetscScalar *other = FieldsOf(f, e + away * step[d]) + 1 + f->ahead[0] + (2 * d + 1 - side) * f->pad + x;

      Mean(n, own + (2 * d + side) * f->pad, other, values + shape->find[13 + away * index[d]] * n, diagonal);
    }
  }
}

/* Do two lines get the same coefficients, as what they are made of is shared? */
static PetscBool SameFields(const Fields *f, PetscInt a, PetscInt b)
{
  const PetscInt *product = f->lines->product, ry = f->box->reach[1],
                 rz = f->box->reach[2] * (f->box->n[1] + 2 * f->box->reach[1]);

  return (PetscBool)(product[a] == product[b] && product[a - ry] == product[b - ry] &&
                     product[a + ry] == product[b + ry] && product[a - rz] == product[b - rz] &&
                     product[a + rz] == product[b + rz]);
}

static PetscErrorCode FieldsToMat(const Fields *f, Mat Ac, PetscBool half, PetscBool *same)
{
  const KCycleStencil *sc  = KCycleStencilOf(Ac);
  const KCycleBox     *box = sc->box;
  const PetscInt       n = box->n[0], plane = f->box->n[1] + 2 * f->box->reach[1];
  PetscScalar         *values;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(sc->shape.ncoeffs * n, &values));
  PetscCall(MatStencilStoreBegin(Ac, half));
  *same = PETSC_TRUE;
  for (PetscInt line = 0; line < box->nlines && *same; line++) {
    const PetscInt e  = KCycleBoxExtended(f->box, line % box->n[1] + f->ahead[1], line / box->n[1] + f->ahead[2]);
    const PetscInt as = line % box->n[1] && SameFields(f, e, e - 1)        ? line - 1
                        : line >= box->n[1] && SameFields(f, e, e - plane) ? line - box->n[1]
                                                                           : -1;

    if (as >= 0 && KCycleClassOfLine(sc, as) >= 0) {
      PetscCall(MatStencilStoreSame(Ac, line, as));
      continue;
    }
    StarLine(f, e, &sc->shape, n, values);
    KCycleProductFold(&sc->shape, box, values);
    PetscCall(MatStencilStoreLine(Ac, line, values, same));
  }
  PetscCall(PetscFree(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleStarStore(Mat A, const KCycleTransfer *tr, const KCycleOverlap *ov, PetscBool fill,
                               const KCycleStarLines *lines, Mat Ac)
{
  const KCycleBox *box  = tr->coarse;
  PetscBool        same = PETSC_FALSE;
  Fields           f    = {box, lines, ov->coarse, 2 * box->dim + 1, box->n[0] + 2, NULL};

  PetscFunctionBegin;
  PetscCall(PetscCalloc1((size_t)lines->count * (size_t)(f.nfields * f.pad), &f.v));
  PetscCall(StarProducts(A, tr, ov, lines, f.v));
  for (PetscInt line = 0; fill && line < box->nlines; line++) {
    const PetscInt J = line % box->n[1], K = line / box->n[1], e = KCycleBoxExtended(box, J, K);

    if (lines->mine[e])
      KCycleProductFillEmpty(KCycleStencilOf(A), tr, J, K, FieldsOf(&f, e) + 2 * box->dim * f.pad + 1);
  }
  for (int half = 1; half >= 0 && !same; half--) PetscCall(FieldsToMat(&f, Ac, (PetscBool)half, &same));
  PetscCall(PetscFree(f.v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
