/*
  The Galerkin product P^T A P collapsed to a star, without its 27 points: of each direction only the sums of the
  couplings that look forward and of those that look back are wanted, and the sum of all.

  So the weights of a fine point are added up first, over the coarse points that agree in one direction, or over all;
  the rows of A times these sums are what the fine point gives to the coarse points that it is restricted to:

    sum_J (P^T A P)(I, J) = sum_p P(p, I) sum_o a(p, o) sum_J P(p + o, J),   J: coarse points forward of I, back, or all

  For forward and back the diagonal counts less the sum of its row, a reaction: as a mass matrix it would make couplings
  that look to further points, and a star of these, unlike the product itself, can be indefinite. In the sum of all, on
  the diagonal, it is complete.

  One fine line at a time, which adds to the one, two or four coarse lines that it touches. A line is restricted once
  where its weights are the same on all of them.
*/
#include "mattransfer.h"

#define MAX_FIELDS 7 /* forward and back in each direction, all */
#define PLACES     4 /* lines in y, and in z, whose sums are remembered */

#define PARTS     5  /* of the coarse lines: all, the lower and the upper ones in y, in z */
#define FEW_LISTS 64 /* with no more sets of weights lines agree in theirs, as those of linear interpolation do */

/* Weights of a fine line, added up. The sums of two lines that have the same number are the same */
typedef struct {
  const PetscScalar *w[4];     /* these, on so many coarse lines, */
  PetscInt           pairs[2]; /* two in y, in z? */
  PetscScalar       *along;    /* over all coarse lines, laid out as weights are */
  PetscScalar       *across;   /* [part of them][points that coincide, points between][-1 to n] */
  PetscInt           number[1 + PARTS];
  PetscInt           line[2], first[2]; /* the line asked for last, and the first coarse line that it touches */
} Sums;

/* The sums of a line beside the one that is worked on, and the first coarse line it touches */
typedef struct {
  const Sums *sums;
  PetscInt    first[2];
} Neighbour;

typedef struct {
  const KCycleStencil  *st; /* fine */
  const KCycleTransfer *tr;
  PetscInt              n, pad, nfields; /* coarse points of a line; n + 2 */
  KCycleApart           apart;
  Sums                  sums[PLACES * PLACES];
  PetscInt              numbers; /* so many were given */
  /* of A times the sums, of a fine line: [points that coincide, points between][field][-1 to n] */
  PetscScalar          *rows;
  PetscScalar          *restricted; /* [field][-1 to n] */
  PetscScalar          *balanced;   /* the diagonal less the row sum, of points of one kind of a line: [-1 to n] */
  PetscScalar          *zeros;      /* [-1 to n] */
  PetscBool             used[2][MAX_FIELDS];
} Star;

static PetscErrorCode StarCreate(Mat A, const KCycleTransfer *tr, Star *s)
{
  const PetscInt length = tr->stride + 2 * PARTS * (tr->coarse->n[0] + 2);
  PetscScalar   *work;

  PetscFunctionBegin;
  s->st      = KCycleStencilOf(A);
  s->tr      = tr;
  s->n       = tr->coarse->n[0];
  s->pad     = s->n + 2;
  s->nfields = 2 * tr->coarse->dim + 1;
  s->numbers = 0;
  PetscCall(KCycleApartCreate(A, tr, &s->apart));
  PetscCall(PetscCalloc5(2 * s->nfields * s->pad, &s->rows, s->nfields * s->pad, &s->restricted, s->pad, &s->balanced,
                         s->pad, &s->zeros, (size_t)PLACES * PLACES * length, &work));
  for (int i = 0; i < PLACES * PLACES; i++) {
    PetscCall(PetscArrayzero(s->sums[i].w, 4));
    PetscCall(PetscArrayzero(s->sums[i].number, 1 + PARTS));
    s->sums[i].line[0] = s->sums[i].line[1] = -PETSC_INT_MAX;
    s->sums[i].pairs[0] = s->sums[i].pairs[1] = 0;
    s->sums[i].along                          = work + i * length;
    s->sums[i].across                         = s->sums[i].along + tr->stride;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StarDestroy(Star *s)
{
  PetscFunctionBegin;
  PetscCall(PetscFree5(s->rows, s->restricted, s->balanced, s->zeros, s->sums[0].along));
  PetscCall(KCycleApartDestroy(&s->apart));
  PetscFunctionReturn(PETSC_SUCCESS);
}

KC_VERSIONS static void Add(PetscInt n, const PetscScalar *KC_RESTRICT from, PetscScalar *KC_RESTRICT to)
{
  for (PetscInt i = 0; i < n; i++) to[i] += from[i];
}

/* Gives the sums of a line the numbers of those that they agree with, or new ones */
static void Number(Star *s, Sums *sums)
{
  for (int t = 0; t < 1 + PARTS; t++) {
    const PetscInt     length = t ? 2 * s->pad : s->tr->stride;
    const PetscScalar *mine   = t ? sums->across + 2 * (t - 1) * s->pad : sums->along;

    sums->number[t] = ++s->numbers;
    for (int i = 0; i < PLACES * PLACES && s->tr->nsets <= FEW_LISTS; i++) {
      const Sums *other = &s->sums[i];

      if (other == sums || !other->number[t] ||
          memcmp(mine, t ? other->across + 2 * (t - 1) * s->pad : other->along, (size_t)length * sizeof(*mine)))
        continue;
      sums->number[t] = other->number[t];
      break;
    }
  }
}

/* The sums of fine line (j, k), which may be those that were there */
static void SumsFind(Star *s, PetscInt j, PetscInt k, Sums *sums)
{
  KCycleTouch touch;
  PetscInt    pairs[2];

  KCycleTransferTouch(s->tr, j, k, &touch);
  sums->line[0]  = j;
  sums->line[1]  = k;
  sums->first[0] = touch.j[0];
  sums->first[1] = touch.k[0];
  pairs[0]       = touch.j[touch.count - 1] - touch.j[0];
  pairs[1]       = touch.k[touch.count - 1] - touch.k[0];
  for (PetscInt q = touch.count; q < 4; q++) touch.w[q] = NULL;
  if (pairs[0] == sums->pairs[0] && pairs[1] == sums->pairs[1] && !memcmp(touch.w, sums->w, sizeof(sums->w))) return;
  memcpy(sums->w, touch.w, sizeof(sums->w));
  memcpy(sums->pairs, pairs, sizeof(pairs));
  memset(sums->along, 0, (size_t)(s->tr->stride + 2 * PARTS * s->pad) * sizeof(*sums->along));
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
  Number(s, sums);
}

/* The sums of fine line (j, k); lines of the same kind share their weights */
static void SumsGet(Star *s, PetscInt j, PetscInt k, Neighbour *near)
{
  Sums *sums = &s->sums[(j & (PLACES - 1)) + PLACES * (k & (PLACES - 1))];

  near->sums = sums;
  if (sums->line[0] != j || sums->line[1] != k) SumsFind(s, j, k, sums);
  near->first[0] = sums->first[0];
  near->first[1] = sums->first[1];
}

/* Coefficient a of points x times the weights of the points that lie "to" away from the coinciding ones, on the
   coarse points at the two sides */
static void TermsAlong(const Star *s, const PetscScalar *a, const PetscScalar *w, int x, int to, KCycleTerms *forward,
                       KCycleTerms *back)
{
  const PetscScalar *same = KCycleWeightsSame(w), *left = KCycleWeightsLeft(w, s->n),
                    *right = KCycleWeightsRight(w, s->n);

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

/* The terms of all fields for coefficient a of points x, which couples them to points of line near; own: the line
   itself; all: what counts in the sum of all */
static void Terms(const Star *s, const PetscScalar *a, const PetscScalar *all, const Neighbour *near,
                  const Neighbour *own, int x, int to, KCycleTerms terms[])
{
  const PetscBool    between = (PetscBool)(s->tr->factor[0] == 2 && (to & 1));
  const PetscScalar *across  = near->sums->across + 1 +
                              (between                 ? s->pad + (to - 1) / 2
                               : s->tr->factor[0] == 2 ? to / 2
                                                       : to);

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
KC_VERSIONS static void BalanceLine(const Star *s, const PetscScalar *c)
{
  const int nc = s->st->shape.ncoeffs;

  for (PetscInt i = 0; i < s->pad; i++) s->balanced[i] = 0;
  for (int o = 0; o < nc; o++) {
    for (PetscInt i = 0; i < s->pad && o != nc / 2; i++) s->balanced[i] -= c[o * s->pad + i];
  }
}

/*
  What the rows of a line take whose neighbours have the same weights along it, as nearly all have with linear
  interpolation: then all is done in one loop. Pointers to coarse point 0, and to the point between it and the next
*/
typedef struct {
  const PetscScalar *c[2 * 3 + 1];
  const PetscScalar *same, *left, *right; /* weights along the line */
  const PetscScalar *all[2];              /* and those of all coarse lines: coinciding points, points between */
  const PetscScalar *own[4][2];           /* of the line's own coarse lines that lie forward and back in y, in z; */
  /* of the next line there, which are these coarse lines, for the points that are worked on */
  const PetscScalar *next[4];
  PetscScalar       *out[MAX_FIELDS];
} Regular;

/* x: 0 for points that coincide with coarse ones, 1 for those between */
KC_POINT void RegularPoints(const int dim, const int x, const Regular *r, PetscInt n)
{
  const PetscScalar *c[2 * 3 + 1], *own[4], *ahead[4], *behind[4], *next[4],
      *all = r->all[x], *all_ahead = r->all[1 - x] + x, *all_behind = all_ahead - 1;
  const PetscScalar *same = r->same, *left = r->left, *right = r->right;
  PetscScalar       *out[MAX_FIELDS];

  for (int o = 0; o < 2 * dim + 1; o++) c[o] = r->c[o];
  for (int f = 0; f < 2 * dim + 1; f++) out[f] = r->out[f];
  for (int f = 0; f < 2 * dim - 2; f++) {
    own[f]    = r->own[f][x];
    ahead[f]  = r->own[f][1 - x] + x;
    behind[f] = ahead[f] - 1;
    next[f]   = r->next[f];
  }
  KC_IVDEP for (PetscInt i = -x; i < n; i++)
  {
    PetscScalar low[3], high[3], across = 0, balanced;

    KC_UNROLL
    for (int d = 0; d < dim; d++) {
      low[d]  = c[dim - 1 - d][i];
      high[d] = c[dim + 1 + d][i];
      across += d ? low[d] + high[d] : 0;
    }
    balanced  = -low[0] - high[0];
    out[0][i] = x ? balanced * right[i] + high[0] * same[i + 1] : high[0] * right[i];
    out[1][i] = x ? balanced * left[i] + low[0] * same[i] : low[0] * left[i - 1];
    KC_UNROLL
    for (int d = 1; d < dim; d++) {
      const PetscScalar middle = balanced - low[d] - high[d];

      KC_UNROLL
      for (int side = 0; side < 2; side++) {
        const int f = 2 * d - 2 + side;

        out[f + 2][i] =
            middle * own[f][i] + high[0] * ahead[f][i] + low[0] * behind[f][i] + (side ? low[d] : high[d]) * next[f][i];
      }
    }
    out[2 * dim][i] = (c[dim][i] + across) * all[i] + high[0] * all_ahead[i] + low[0] * all_behind[i];
  }
}

KC_VERSIONS static void RegularPoints_2(const Regular *r, int x, PetscInt n)
{
  if (x) RegularPoints(2, 1, r, n);
  else RegularPoints(2, 0, r, n);
}

KC_VERSIONS static void RegularPoints_3(const Regular *r, int x, PetscInt n)
{
  if (x) RegularPoints(3, 1, r, n);
  else RegularPoints(3, 0, r, n);
}

/* Is a line of that kind? Then r gets the weights */
static PetscBool IsRegular(const Star *s, const Neighbour *own, const Neighbour near[], Regular *r)
{
  const KCycleShape *shape = &s->st->shape;
  const int          dim = s->tr->coarse->dim, mid = shape->nl / 2;
  const Sums        *mine = own->sums;

  if (shape->box || s->tr->factor[0] != 2) return PETSC_FALSE;
  for (int q = 0; q < shape->nl; q++) {
    if (!near[q].sums || near[q].sums->number[0] != mine->number[0] || near[q].sums->number[1] != mine->number[1])
      return PETSC_FALSE;
  }
  r->same   = KCycleWeightsSame(mine->along);
  r->left   = KCycleWeightsLeft(mine->along, s->n);
  r->right  = KCycleWeightsRight(mine->along, s->n);
  r->all[0] = mine->across + 1;
  r->all[1] = r->all[0] + s->pad;
  for (int d = 0; d < dim - 1; d++) {
    for (int side = 0; side < 2; side++) {
      const Neighbour *next  = &near[mid + (side ? -1 : 1) * (d + 1)];
      const PetscInt   pairs = mine->pairs[d], line = own->first[d] + (side ? (pairs ? 0 : -1) : 1),
                     part = line - next->first[d];
      const int mypart = 1 + 2 * d + (side ? 0 : 1), f = 2 * d + side;

      if (part < 0 || part > next->sums->pairs[d]) return PETSC_FALSE;
      for (int q = 0; q < shape->nl && pairs; q++) {
        if (q != mid - d - 1 && q != mid + d + 1 && near[q].sums->number[1 + mypart] != mine->number[1 + mypart])
          return PETSC_FALSE;
      }
      r->own[f][0] = pairs ? mine->across + 2 * mypart * s->pad + 1 : s->zeros + 1;
      r->own[f][1] = pairs ? r->own[f][0] + s->pad : s->zeros + 1;
      r->next[f]   = next->sums->across + 2 * (1 + 2 * d + part) * s->pad + 1;
    }
  }
  return PETSC_TRUE;
}

static void RegularRows(Star *s, const PetscScalar *const c[], Regular *r)
{
  for (int x = 0; x < 2; x++) {
    for (int o = 0; o < s->st->shape.ncoeffs; o++) r->c[o] = c[x] + o * s->pad + 1;
    for (int f = 0; f < s->nfields; f++) {
      r->out[f]     = s->rows + (x * s->nfields + f) * s->pad + 1;
      s->used[x][f] = PETSC_TRUE;
    }
    (*(s->tr->coarse->dim == 2 ? RegularPoints_2 : RegularPoints_3))(r, x, s->n);
    for (int f = 0; f < s->nfields - 3 && !x; f++) r->next[f] += s->pad; /* the points between come next */
  }
}

/* Rows of A times the sums, of the points of fine line (j, k) */
static void RowsOfLine(Star *s, PetscInt j, PetscInt k, const Neighbour *own)
{
  const KCycleShape *shape = &s->st->shape;
  const PetscScalar *c[2];
  Neighbour          near[KC_MAX_LINES];
  KCycleTerms        terms[MAX_FIELDS];
  Regular            regular;

  for (int q = 0; q < shape->nl; q++) {
    near[q].sums = NULL;
    if (s->st->box->slot[KCycleBoxExtended(s->st->box, j + shape->dy[q], k + shape->dz[q])] != 0)
      SumsGet(s, j + shape->dy[q], k + shape->dz[q], &near[q]);
  }
  KCycleApartLine(&s->apart, j, k, c);
  if (IsRegular(s, own, near, &regular)) {
    RegularRows(s, c, &regular);
    return;
  }
  for (int x = 0; x < s->tr->factor[0]; x++) {
    const int first = -x; /* the point between that lies before the first coarse one */

    for (int f = 0; f < s->nfields; f++) terms[f].m = 0;
    BalanceLine(s, c[x]);
    for (int o = 0; o < shape->ncoeffs; o++) {
      const PetscScalar *all = c[x] + o * s->pad + 1, *a = o == shape->ncoeffs / 2 ? s->balanced + 1 : all;

      if (near[shape->line[o]].sums) Terms(s, a, all, &near[shape->line[o]], own, x, x + shape->dx[o], terms);
    }
    for (int f = 0; f < s->nfields; f++) {
      for (int t = 0; t < terms[f].m; t++) {
        terms[f].of[t].a += first;
        terms[f].of[t].w += first;
      }
      s->used[x][f] = (PetscBool)(terms[f].m > 0);
      KCycleSumOfProducts(&terms[f], s->n - first, PETSC_FALSE, s->rows + (x * s->nfields + f) * s->pad + 1 + first);
    }
  }
}

/* Restricts the rows with the weights of the line on one coarse line */
static void Restrict(Star *s, const PetscScalar *w)
{
  const PetscScalar *same = KCycleWeightsSame(w), *left = KCycleWeightsLeft(w, s->n),
                    *right = KCycleWeightsRight(w, s->n);
  const PetscInt n         = s->n;

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
  }
}

static PetscBool IsGiven(const Star *s, const Neighbour *own, const PetscInt upper[2], int f)
{
  const int d = f / 2 - 1;

  if (!s->used[0][f] && !s->used[1][f]) return PETSC_FALSE;
  return (PetscBool)(d < 0 || f == s->nfields - 1 || !own->sums->pairs[d] || upper[d] == f % 2);
}

/* Adds what was restricted to the fields of a coarse line, the lower (0) or the upper (1) of two in y, in z. A line
   between two looks at each of them from the other */
static void AddRestricted(const Star *s, const Neighbour *own, const PetscInt upper[2], PetscScalar *fields)
{
  for (int f = 0, end; f < s->nfields; f = end + 1) {
    for (end = f; end < s->nfields && IsGiven(s, own, upper, end); end++)
      ;
    if (end > f) Add((end - f) * s->pad, s->restricted + f * s->pad, fields + f * s->pad);
  }
}

/*
  Adds the products to the fields of coarse lines: line[e] of extended coarse line e, [forward and back in x, in y, in
  z, all][-1 to n], where wanted[e]
*/
PetscErrorCode KCycleStarProducts(Mat A, const KCycleTransfer *tr, const PetscBool wanted[], PetscScalar *const line[])
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
        const PetscInt e        = KCycleBoxExtended(tr->coarse, touch.j[q], touch.k[q]),
                       upper[2] = {touch.j[q] - touch.j[0], touch.k[q] - touch.k[0]};

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
