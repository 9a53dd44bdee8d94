/*
  The Galerkin product P^T A P collapsed to a star, without its 27 points: of each direction only the sums of the couplings that look forward and of those
  that look back are wanted, and the sum of all.

  So the weights of a fine point are added up first, over the coarse points that agree in one direction, or over all; the rows of A times these sums are
  what the fine point gives to the coarse points that it is restricted to:

    sum_J (P^T A P)(I, J) = sum_p P(p, I) sum_o a(p, o) sum_J P(p + o, J),   J: the coarse points forward of I, back of it, or all

  For forward and back the diagonal counts less the sum of its row, which is a reaction or the coupling with an end: as a mass matrix it would make couplings that look to
  further points, and a star of these, unlike the product itself, can be indefinite. In the sum of all, on the diagonal, it is complete.

  One fine line at a time, which adds to the one, two or four coarse lines that it touches. A line is restricted once where its weights are the same on all of them.
*/
#include <petsckcycle/private/transferimpl.h>

#define MAX_FIELDS 7 /* forward and back in each direction, all */
#define PLACES     4 /* lines in y, and in z, whose sums are remembered */

/* Weights of a fine line, added up */
typedef struct {
  const PetscScalar *w[4];     /* these, on so many coarse lines, */
  PetscInt           pairs[2]; /* two in y, in z? */
  PetscScalar       *along;    /* over all coarse lines, laid out as weights are */
  PetscScalar       *across;   /* [all, those on the lower and the upper coarse lines in y, in z][points that coincide, points between][-1 to n] */
} Sums;

/* The sums of a line beside the one that is worked on, and the first coarse line it touches */
typedef struct {
  const Sums *sums;
  PetscInt    first[2];
} Neighbour;

typedef struct {
  const Mat_Stencil         *st; /* fine */
  const Mat_StencilTransfer *tr;
  PetscInt                   n, pad, nfields; /* coarse points of a line; n + 2 */
  KCycleApart                apart;
  Sums                       sums[PLACES * PLACES];
  PetscScalar               *rows;       /* of A times the sums, of a fine line: [points that coincide, points between][field][-1 to n] */
  PetscScalar               *restricted; /* [field][-1 to n] */
  PetscScalar               *balanced;   /* the diagonal less the row sum, of points of one kind of a line: [-1 to n] */
  PetscBool                  used[2][MAX_FIELDS];
} Star;

static PetscErrorCode StarCreate(Mat A, const Mat_StencilTransfer *tr, Star *s)
{
  const PetscInt length = tr->stride + 10 * (tr->coarse->n[0] + 2);
  PetscScalar   *work;

  PetscFunctionBegin;
  s->st      = (Mat_Stencil *)A->data;
  s->tr      = tr;
  s->n       = tr->coarse->n[0];
  s->pad     = s->n + 2;
  s->nfields = 2 * tr->coarse->dim + 1;
  PetscCall(KCycleApartCreate(A, tr, &s->apart));
  PetscCall(PetscCalloc4(2 * s->nfields * s->pad, &s->rows, s->nfields * s->pad, &s->restricted, s->pad, &s->balanced, PLACES * PLACES * length, &work));
  for (int i = 0; i < PLACES * PLACES; i++) {
    PetscCall(PetscArrayzero(s->sums[i].w, 4));
    s->sums[i].pairs[0] = s->sums[i].pairs[1] = 0;
    s->sums[i].along                          = work + i * length;
    s->sums[i].across                         = s->sums[i].along + tr->stride;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StarDestroy(Star *s)
{
  PetscFunctionBegin;
  PetscCall(PetscFree4(s->rows, s->restricted, s->balanced, s->sums[0].along));
  PetscCall(KCycleApartDestroy(&s->apart));
  PetscFunctionReturn(PETSC_SUCCESS);
}

KC_VERSIONS static void Add(PetscInt n, const PetscScalar *restrict from, PetscScalar *restrict to)
{
  for (PetscInt i = 0; i < n; i++) to[i] += from[i];
}

KC_VERSIONS static void Subtract(PetscInt n, const PetscScalar *restrict from, PetscScalar *restrict to)
{
  for (PetscInt i = 0; i < n; i++) to[i] -= from[i];
}

/* The sums of fine line (j, k); lines of the same kind share their weights */
static void SumsGet(Star *s, PetscInt j, PetscInt k, Neighbour *near)
{
  Sums       *sums = &s->sums[(j & (PLACES - 1)) + PLACES * (k & (PLACES - 1))];
  KCycleTouch touch;
  PetscInt    pairs[2];

  KCycleTransferTouch(s->tr, j, k, &touch);
  near->sums     = sums;
  near->first[0] = touch.j[0];
  near->first[1] = touch.k[0];
  pairs[0]       = touch.j[touch.count - 1] - touch.j[0];
  pairs[1]       = touch.k[touch.count - 1] - touch.k[0];
  for (PetscInt q = touch.count; q < 4; q++) touch.w[q] = NULL;
  if (pairs[0] == sums->pairs[0] && pairs[1] == sums->pairs[1] && !memcmp(touch.w, sums->w, sizeof(sums->w))) return;
  memcpy(sums->w, touch.w, sizeof(sums->w));
  memcpy(sums->pairs, pairs, sizeof(pairs));
  memset(sums->along, 0, (size_t)(s->tr->stride + 10 * s->pad) * sizeof(*sums->along));
  for (PetscInt q = 0; q < touch.count; q++) {
    const PetscInt to[3] = {0, 1 + touch.j[q] - touch.j[0], 3 + touch.k[q] - touch.k[0]};

    if (!touch.w[q]) continue;
    Add(s->tr->stride, touch.w[q], sums->along);
    for (int t = 0; t < 3; t++) {
      PetscScalar *same = sums->across + 2 * to[t] * s->pad, *between = same + s->pad;

      Add(s->n + 2, KCycleWeightsSame(touch.w[q]) - 1, same);
      if (s->tr->factor[0] == 1) continue;
      Add(s->n + 1, KCycleWeightsLeft(touch.w[q], s->n) - 1, between);
      Add(s->n + 1, KCycleWeightsRight(touch.w[q], s->n) - 1, between);
    }
  }
}

/* Coefficient a of points x times the weights of the points that lie "to" away from the coinciding ones, on the coarse points at the two sides */
static void TermsAlong(const Star *s, const PetscScalar *a, const PetscScalar *w, int x, int to, KCycleTerms *forward, KCycleTerms *back)
{
  const PetscScalar *same = KCycleWeightsSame(w), *left = KCycleWeightsLeft(w, s->n), *right = KCycleWeightsRight(w, s->n);

  if (s->tr->factor[0] == 1) {
    if (to) KCycleTermsAdd(to > 0 ? forward : back, a, same + to);
  } else if (x == 0) {
    if (to > 0) KCycleTermsAdd(forward, a, right);
    if (to < 0) KCycleTermsAdd(back, a, left - 1);
  } else if (to == 1) {
    KCycleTermsAdd(forward, a, right);
    KCycleTermsAdd(back, a, left);
  } else KCycleTermsAdd(to > 1 ? forward : back, a, same + to / 2);
}

/* The terms of all fields for coefficient a of points x, which couples them to points of line near; own: the line itself; all: what counts in the sum of all */
static void Terms(const Star *s, const PetscScalar *a, const PetscScalar *all, const Neighbour *near, const Neighbour *own, int x, int to, KCycleTerms terms[])
{
  const PetscBool    between = (PetscBool)(s->tr->factor[0] == 2 && (to & 1));
  const PetscScalar *across  = near->sums->across + 1 + (between ? s->pad + (to - 1) / 2 : s->tr->factor[0] == 2 ? to / 2 : to);

  TermsAlong(s, a, near->sums->along, x, to, &terms[0], &terms[1]);
  for (int d = 0; d < s->tr->coarse->dim - 1; d++) {
    const PetscInt pairs = own->sums->pairs[d], forward = own->first[d] + 1, back = own->first[d] - (pairs ? 0 : 1);

    for (PetscInt side = 0; side <= near->sums->pairs[d]; side++) {
      const PetscInt line = near->first[d] + side;

      if (line == forward) KCycleTermsAdd(&terms[2 * d + 2], a, across + 2 * (1 + 2 * d + side) * s->pad);
      else if (line == back) KCycleTermsAdd(&terms[2 * d + 3], a, across + 2 * (1 + 2 * d + side) * s->pad);
    }
  }
  KCycleTermsAdd(&terms[s->nfields - 1], all, across);
}

/* The diagonal without the row sums; c: coefficients of points of one kind */
static void Balance(const Star *s, const PetscScalar *c)
{
  const int nc = s->st->shape.ncoeffs;

  for (PetscInt i = 0; i < s->pad; i++) s->balanced[i] = 0;
  for (int o = 0; o < nc; o++) {
    if (o != nc / 2) Subtract(s->pad, c + o * s->pad, s->balanced);
  }
}

/* Rows of A times the sums, of the points of fine line (j, k) */
static void RowsOfLine(Star *s, PetscInt j, PetscInt k, const Neighbour *own)
{
  const KCycleShape *shape = &s->st->shape;
  const PetscScalar *c[2];
  Neighbour          near[KC_MAX_LINES];
  KCycleTerms        terms[MAX_FIELDS];

  for (int q = 0; q < shape->nl; q++) {
    near[q].sums = NULL;
    if (s->st->box->slot[KCycleBoxExtended(s->st->box, j + shape->dy[q], k + shape->dz[q])] != 0) SumsGet(s, j + shape->dy[q], k + shape->dz[q], &near[q]);
  }
  KCycleApartLine(&s->apart, j, k, c);
  for (int x = 0; x < s->tr->factor[0]; x++) {
    const int first = -x; /* the point between that lies before the first coarse one */

    for (int f = 0; f < s->nfields; f++) terms[f].m = 0;
    Balance(s, c[x]);
    for (int o = 0; o < shape->ncoeffs; o++) {
      const PetscScalar *all = c[x] + o * s->pad + 1, *a = o == shape->ncoeffs / 2 ? s->balanced + 1 : all;

      if (near[shape->line[o]].sums) Terms(s, a, all, &near[shape->line[o]], own, x, x + shape->dx[o], terms);
    }
    for (int f = 0; f < s->nfields; f++) {
      for (int t = 0; t < terms[f].m; t++) {
        terms[f].a[t] += first;
        terms[f].w[t] += first;
      }
      s->used[x][f] = (PetscBool)(terms[f].m > 0);
      KCycleSumOfProducts(&terms[f], s->n - first, PETSC_FALSE, s->rows + (x * s->nfields + f) * s->pad + 1 + first);
    }
  }
}

/* Restricts the rows with the weights of the line on one coarse line: points 0 to n - 1, and those beside them if other processes own these */
static void Restrict(Star *s, const PetscScalar *w)
{
  const PetscScalar *same = KCycleWeightsSame(w), *left = KCycleWeightsLeft(w, s->n), *right = KCycleWeightsRight(w, s->n);
  const PetscInt     n = s->n;

  for (int f = 0; f < s->nfields; f++) {
    const PetscScalar *coincide = s->rows + f * s->pad + 1, *between = coincide + s->nfields * s->pad;
    PetscScalar       *out     = s->restricted + f * s->pad + 1;
    const PetscBool    to_left = (PetscBool)(s->used[1][f] && f != 1), to_right = (PetscBool)(s->used[1][f] && f != 0);
    KCycleTerms        terms;

    terms.m = 0;
    if (s->used[0][f]) KCycleTermsAdd(&terms, coincide, same);
    if (to_left) KCycleTermsAdd(&terms, between, left);
    if (to_right) KCycleTermsAdd(&terms, between - 1, right - 1);
    KCycleSumOfProducts(&terms, n, PETSC_FALSE, out);
    if (!s->tr->coarse->ends) continue;
    out[-1] = to_left ? between[-1] * left[-1] : 0;
    out[n]  = to_right ? between[n - 1] * right[n - 1] : 0;
  }
}

/* Adds what was restricted to the fields of a coarse line, the lower (0) or the upper (1) of two in y, in z. A line between two looks at each of them from the other */
static void AddRestricted(const Star *s, const Neighbour *own, const PetscInt upper[2], PetscScalar *fields)
{
  for (int f = 0; f < s->nfields; f++) {
    const int d = f / 2 - 1;

    if (!s->used[0][f] && !s->used[1][f]) continue;
    if (d >= 0 && f < s->nfields - 1 && own->sums->pairs[d] && upper[d] != f % 2) continue;
    Add(s->pad, s->restricted + f * s->pad, fields + f * s->pad);
  }
}

/*
  Adds the products to the fields of coarse lines: line[e] of extended coarse line e, [forward and back in x, in y, in z, all][-1 to n], where wanted[e]
*/
PetscErrorCode KCycleStarProducts(Mat A, const Mat_StencilTransfer *tr, const PetscBool wanted[], PetscScalar *const line[])
{
  const KCycleBox *box = tr->fine;
  Star             s;

  PetscFunctionBegin;
  PetscCall(StarCreate(A, tr, &s));
  PetscCall(PetscArrayzero(&s.used[0][0], 2 * MAX_FIELDS));
  for (PetscInt k = 0; k < box->n[2]; k++) {
    for (PetscInt j = 0; j < box->n[1]; j++) {
      const PetscScalar *last = NULL;
      Neighbour          own  = {NULL, {0, 0}};
      KCycleTouch        touch;

      KCycleTransferTouch(tr, j, k, &touch);
      for (PetscInt q = 0; q < touch.count; q++) {
        const PetscInt e = KCycleBoxExtended(tr->coarse, touch.j[q], touch.k[q]), upper[2] = {touch.j[q] - touch.j[0], touch.k[q] - touch.k[0]};

        if (!touch.w[q] || !wanted[e]) continue;
        if (!own.sums) {
          SumsGet(&s, j, k, &own);
          RowsOfLine(&s, j, k, &own);
        }
        if (touch.w[q] != last) Restrict(&s, touch.w[q]);
        last = touch.w[q];
        AddRestricted(&s, &own, upper, line[e]);
      }
    }
  }
  PetscCall(StarDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
