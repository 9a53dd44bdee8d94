/*
  Interpolation from the operator, as in black box multigrid (Dendy): a fine point takes the value that its own equation
  gives it from the points around it that are closer to coarse points, the equation being summed over the directions in
  which the point coincides with a coarse one.

  With S the directions in which the point lies between coarse points, c(o) the coefficients summed over the directions
  not in S, and w(o) = |c(o)|:

    P(p, :) = sum_o w(o) P(p + o, :) / (sum_o w(o) + excess)

  first for points between two coarse points, then for those between four, then eight. The excess of the diagonal counts
  where a neighbour in S is missing or is a stored boundary point.

  Couplings of the wrong sign are made up for first, see weights_collapse.c. Where one stays |c| keeps the weights
  positive.

  The weights of such a point add up to less than one, also if its own excess is next to nothing and only the points
  that it is interpolated through have some: then they are scaled to add up to one. A stiff body next to a boundary
  would else not be free to move on the coarse grid.

  Where couplings in S are weak compared with those along another direction the weights w(o) are solved for along it,
  see weights_line.c.

  Lines are worked on as a whole, points that coincide with coarse ones in x apart from those between, as weights are
  kept.
*/
#include "mattransfer.h"

typedef struct {
  KCycleWeights       *ws;
  const KCycleStencil *st;
  KCycleSplitLines     split;
  PetscInt             n, pad;
  int                  low;     /* first offset of the grid */
  PetscScalar         *sums;    /* [offset][pad]: coefficients that have been summed up */
  PetscScalar         *w;       /* [offset][pad]: weights of neighbours */
  PetscScalar         *inverse; /* of what the weights are divided by */
  PetscScalar         *excess;
  /* 1: the excess of a point's equation is that of a boundary; then 1: that is next to nothing */
  PetscScalar         *boundary;
  PetscBool            boundaries; /* some points have it */
  PetscScalar         *side[2];    /* couplings of the points ahead and behind in one direction */
  PetscScalar         *row[4];
  PetscBool            solved;   /* there are lines along which weights are solved for, */
  KCycleLineWeights    along[8]; /* for each S */
} Operator;

static PetscErrorCode OperatorCreate(KCycleWeights *ws, Mat A, Operator *op)
{
  const size_t length = (size_t)(27 - 2 * KCycleOffsetsFirst(ws->tr->fine->dim)) * (ws->tr->coarse->n[0] + 2);

  PetscFunctionBegin;
  PetscCall(PetscMemzero(op->along, sizeof(op->along)));
  op->ws  = ws;
  op->st  = KCycleStencilOf(A);
  op->n   = ws->tr->coarse->n[0];
  op->pad = op->n + 2;
  op->low = KCycleOffsetsFirst(ws->tr->fine->dim);
  PetscCall(KCycleSplitLinesCreate(A, ws->tr, &op->split));
  PetscCall(PetscMalloc7(length, &op->sums, length, &op->w, op->pad, &op->inverse, op->pad, &op->excess, op->pad,
                         &op->boundary, op->pad, &op->side[0], op->pad, &op->side[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OperatorDestroy(Operator *op)
{
  PetscFunctionBegin;
  for (int S = 0; S < 8; S++) PetscCall(KCycleLineWeightsDestroy(&op->along[S]));
  PetscCall(KCycleSplitLinesDestroy(&op->split));
  PetscCall(PetscFree7(op->sums, op->w, op->inverse, op->excess, op->boundary, op->side[0], op->side[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Directions in which a coordinate of the owned box lies between coarse points */
static int Between(const KCycleTransfer *tr, PetscInt d, PetscInt i)
{
  return tr->factor[d] == 2 && ((i - tr->shift[d]) & 1) ? 1 << d : 0;
}

static PetscBool IsOutside(const KCycleBox *box, PetscInt d, PetscInt at)
{
  return (PetscBool)(at < 0 || at >= box->n[d]);
}

/* Which points, between coarse ones or not (x), have a neighbour in S that is missing or not coupled? any: some */
static void FindBoundaries(const Operator *op, int S, int x, PetscInt j, PetscInt k, PetscBool *any)
{
  const KCycleTransfer *tr   = op->ws->tr;
  const KCycleBox      *box  = tr->fine;
  const KCycleMask     *mask = op->ws->mask;
  const PetscInt        f = tr->factor[0], low = x + tr->shift[0];

  *any = PETSC_FALSE;
  for (PetscInt i = 0; i < op->pad; i++) op->boundary[i] = 0;
  for (int d = 0; d < 3; d++) {
    for (int side = -1; side <= 1 && (S & 1 << d); side += 2) {
      const PetscInt     jj = j + (d == 1 ? side : 0), kk = k + (d == 2 ? side : 0), away = d == 0 ? side : 0;
      const PetscBool    outside = (PetscBool)((d == 1 && IsOutside(box, 1, jj)) || (d == 2 && IsOutside(box, 2, kk)));
      const PetscScalar *line    = outside ? NULL : KCycleMaskOf(mask, KCycleBoxExtended(box, jj, kk));

      if (d && !outside && !line) continue;
      for (PetscInt i = -1; i < op->n; i++) {
        const PetscInt at = f * i + low;

        if (at < 0 || at >= box->n[0]) continue;
        if (outside || (d == 0 && IsOutside(box, 0, at + away)) || (line && line[at + away] == (PetscScalar)0.0)) {
          op->boundary[i + 1] = 1;
          *any                = PETSC_TRUE;
        }
      }
    }
  }
}

KC_VERSIONS static void AddSizes(PetscInt n, const PetscScalar *KC_RESTRICT c, PetscScalar *KC_RESTRICT sizes,
                                 PetscScalar *KC_RESTRICT excess)
{
  for (PetscInt i = 0; i < n; i++) {
    sizes[i] += PetscAbsScalar(c[i]);
    excess[i] += c[i];
  }
}

/* Which points have next to no coupling with one of their neighbours in S, as those have that are an end but for the
   couplings of points that are isolated on a finer level? */
static void FindGaps(const Operator *op, int S, const PetscScalar *const c[], PetscBool *any)
{
  for (int d = 0, step = 1; d < 3; d++, step *= 3) {
    if (!(S & 1 << d)) continue;
    for (int side = 0; side < 2; side++) {
      PetscScalar *sum = op->side[side];

      for (PetscInt i = 0; i < op->pad; i++) sum[i] = 0;
      for (int o = 0; o < 27; o++) {
        if (!c[o] || o / step % 3 != 2 * side) continue;
        for (PetscInt i = 0; i < op->pad; i++) sum[i] += PetscAbsScalar(c[o][i]);
      }
    }
    for (PetscInt i = 0; i < op->pad; i++) {
      const PetscReal a = PetscRealPart(op->side[0][i]), b = PetscRealPart(op->side[1][i]);

      if (PetscMin(a, b) >= KCYCLE_GAP * PetscMax(a, b)) continue;
      op->boundary[i] = 1;
      *any            = PETSC_TRUE;
    }
  }
}

KC_VERSIONS static void Invert(PetscInt n, PetscScalar *x)
{
  for (PetscInt i = 0; i < n; i++) {
    const PetscScalar divisor = x[i] == (PetscScalar)0.0 ? 1 : x[i];

    x[i] = (x[i] == (PetscScalar)0.0 ? 0 : 1) / divisor;
  }
}

KC_VERSIONS static void Scale(PetscInt n, const PetscScalar *KC_RESTRICT c, const PetscScalar *KC_RESTRICT factor,
                              PetscScalar *KC_RESTRICT w)
{
  for (PetscInt i = 0; i < n; i++) w[i] = PetscAbsScalar(c[i]) * factor[i];
}

/* Sizes of the couplings of a line's points, of kind x, in the directions S, and their excess, to op->inverse; 0 for a
   point that is isolated. boundaries: some points lie next to one */
static void Totals(Operator *op, int S, int x, const PetscScalar *from, const PetscScalar *const c[], PetscInt j,
                   PetscInt k)
{
  const KCycleTransfer *tr       = op->ws->tr;
  const PetscScalar    *mask     = KCycleMaskOf(op->ws->mask, KCycleBoxExtended(tr->fine, j, k));
  const PetscScalar    *diagonal = from + op->st->shape.ncoeffs / 2 * op->pad;

  for (PetscInt i = 0; i < op->pad; i++) op->inverse[i] = op->excess[i] = 0;
  for (int o = 0; o < 27; o++) {
    if (c[o] && o != 13) AddSizes(op->pad, c[o], op->inverse, op->excess);
  }
  FindBoundaries(op, S, x, j, k, &op->boundaries);
  if (op->ws->gaps) FindGaps(op, S, c, &op->boundaries);
  for (PetscInt i = 0; op->boundaries && i < op->pad; i++) {
    const PetscReal excess = PetscMax(PetscRealPart(c[13][i] + op->excess[i]), 0);

    if (op->boundary[i] == (PetscScalar)0.0) continue;
    op->inverse[i] += excess;
    op->boundary[i] = excess <= KCYCLE_EXCESS * PetscAbsScalar(diagonal[i]) ? 1 : 0;
  }
  for (PetscInt i = -1; mask && !op->ws->filled && i < op->n; i++) {
    const PetscInt at = tr->factor[0] * i + tr->shift[0] + x;

    if (at >= 0 && at < tr->fine->n[0] && mask[at] == (PetscScalar)0.0) op->inverse[i + 1] = 0;
  }
}

/* Weights of the neighbours of points that lie between coarse ones in the directions S, relative to their totals */
static void NeighbourWeights(Operator *op, int S, const PetscScalar *const c[], PetscInt j, PetscInt k)
{
  const KCycleTransfer    *tr = op->ws->tr;
  const KCycleLineWeights *al = &op->along[S];
  PetscInt                 row;

  Invert(op->pad, op->inverse);
  for (int o = 0; o < 27; o++) {
    if (c[o] && o != 13) Scale(op->pad, c[o], op->inverse, op->w + (o - op->low) * op->pad);
  }
  if (!al->m || !KCycleLineWeightsLine(al, j, k, &row)) return;
  for (int t = 0; t < al->m; t++) {
    PetscScalar *w = op->w + (al->o[t] - op->low) * op->pad + 1;

    for (PetscInt i = -1; i < op->n; i++) {
      const PetscInt at = KCycleLineWeightsIndex(al, tr->factor[0] * i + tr->shift[0] + (S & 1));

      if (at >= 0 && op->inverse[i + 1] != (PetscScalar)0.0) w[i] = al->w[t * al->npoints + row + at];
    }
  }
}

/* The systems of points of kind x of line (j, k), which begins at such a point: right sides, and couplings along the
   line. c: coefficients summed up, from: as they are */
static void PutSystems(Operator *op, KCycleLineWeights *al, int x, const PetscScalar *from,
                       const PetscScalar *const c[], PetscInt row)
{
  const KCycleTransfer *tr    = op->ws->tr;
  const int             index = al->e == 0 ? 1 : al->e == 1 ? 3 : 9, *find = op->st->shape.find;
  const PetscScalar    *middle = from + op->st->shape.ncoeffs / 2 * op->pad + 1;
  const PetscScalar    *ahead = from + find[13 + index] * op->pad + 1, *behind = from + find[13 - index] * op->pad + 1;

  for (PetscInt i = -1; i < op->n; i++) {
    const PetscInt  at = KCycleLineWeightsIndex(al, tr->factor[0] * i + tr->shift[0] + x), p = row + at;
    const PetscReal sign = PetscRealPart(middle[i]) < 0 ? 1 : -1;

    if (at < 0) continue;
    al->total[p]  = op->inverse[i + 1];
    al->ahead[p]  = PetscMax(0, sign * PetscRealPart(ahead[i]));
    al->behind[p] = PetscMax(0, sign * PetscRealPart(behind[i]));
    for (int t = 0; t < al->m; t++) al->w[t * al->npoints + p] = PetscAbsScalar(c[al->o[t]][i + 1]);
  }
}

/* Weights of points between in the directions S, solved for along direction e */
static PetscErrorCode SolveAlong(Operator *op, int S, int e)
{
  const KCycleTransfer *tr = op->ws->tr;
  KCycleLineWeights    *al = &op->along[S];
  const PetscScalar    *split[2], *c[27];
  PetscInt              row;
  int                   m = 0, o[8];

  PetscFunctionBegin;
  KCycleSplitLinesGet(&op->split, 0, 0, split);
  KCycleCollapse(op->st, op->pad, S, split[0], op->sums, c);
  for (int i = 0; i < 27; i++) {
    if (c[i] && i != 13) o[m++] = i;
  }
  PetscCall(KCycleLineWeightsCreate(tr, S, e, m, al));
  PetscCall(PetscArraycpy(al->o, o, m));
  for (PetscInt k = 0; k < tr->fine->n[2]; k++) {
    for (PetscInt j = 0; j < tr->fine->n[1]; j++) {
      if (!KCycleLineWeightsLine(al, j, k, &row)) continue;
      KCycleSplitLinesGet(&op->split, j, k, split);
      for (int x = S & 1; x <= (e == 0 ? tr->factor[0] - 1 : S & 1); x++) {
        KCycleCollapse(op->st, op->pad, S, split[x], op->sums, c);
        Totals(op, S, x, split[x], c, j, k);
        PutSystems(op, al, x, split[x], c, row);
      }
    }
  }
  PetscCall(KCycleLineWeightsSolve(al, op->ws->P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of the points o further, as terms of the rows of this line: [coarse line][same, left, right] */
static void AddRows(const Operator *op, int o, int x, PetscInt j, PetscInt k, const KCycleTouch *touch,
                    KCycleTerms terms[][3])
{
  const KCycleTransfer *tr = op->ws->tr;
  const PetscInt        n = op->n, jj = j + o / 3 % 3 - 1, kk = k + o / 9 - 1;
  const int             dx = o % 3 - 1;
  const PetscScalar    *w  = op->w + (o - op->low) * op->pad + 1;
  KCycleTouch           there;

  if (tr->fine->offset[KCycleBoxExtended(tr->fine, jj, kk)] == 0) return;
  KCycleTransferTouch(tr, jj, kk, &there);
  for (PetscInt p = 0; p < there.count; p++) {
    const PetscScalar *weights = jj == j && kk == k ? op->row[p] : there.w[p];
    PetscInt           q       = 0;

    if (!weights) continue;
    while (touch->j[q] != there.j[p] || touch->k[q] != there.k[p]) q++;
    if (x == 0) KCycleTermsAdd(&terms[q][0], w, KCycleWeightsSame(weights));
    else if (dx) KCycleTermsAdd(&terms[q][dx < 0 ? 1 : 2], w, KCycleWeightsSame(weights) + (dx > 0));
    else {
      KCycleTermsAdd(&terms[q][1], w, KCycleWeightsLeft(weights, n));
      KCycleTermsAdd(&terms[q][2], w, KCycleWeightsRight(weights, n));
    }
  }
}

/* Next to a boundary, points without an excess of their own: their weights add up to one */
static void CompleteRows(const Operator *op, int x, const KCycleTouch *touch)
{
  for (PetscInt i = -x; i < op->n; i++) {
    PetscScalar sum = 0, *to[8];
    int         m   = 0;

    if (op->boundary[i + 1] == (PetscScalar)0.0) continue;
    for (PetscInt q = 0; q < touch->count; q++) {
      if (x) {
        to[m++] = op->row[q] + op->n + 3 + i;
        to[m++] = op->row[q] + 2 * op->n + 4 + i;
      } else to[m++] = op->row[q] + 1 + i;
    }
    for (int t = 0; t < m; t++) sum += *to[t];
    for (int t = 0; t < m && sum != (PetscScalar)0.0; t++) *to[t] /= sum;
  }
}

/* Weights of the points of a line that lie between coarse points in the directions S; x: 1 if x is one of them */
static PetscErrorCode LineWeights(Operator *op, int S, PetscInt j, PetscInt k, const KCycleTouch *touch)
{
  const int          x     = S & 1;
  const PetscInt     first = -x;
  const PetscScalar *split[2], *c[27];
  KCycleTerms        terms[4][3];

  PetscFunctionBegin;
  KCycleSplitLinesGet(&op->split, j, k, split);
  KCycleCollapse(op->st, op->pad, S, split[x], op->sums, c);
  Totals(op, S, x, split[x], c, j, k);
  NeighbourWeights(op, S, c, j, k);
  for (PetscInt q = 0; q < touch->count; q++) terms[q][0].m = terms[q][1].m = terms[q][2].m = 0;
  for (int o = 0; o < 27; o++) {
    if (c[o] && o != 13) AddRows(op, o, x, j, k, touch, terms);
  }
  for (PetscInt q = 0; q < touch->count; q++) {
    PetscScalar *to[3] = {op->row[q] + 1, op->row[q] + op->n + 3, op->row[q] + 2 * op->n + 4};

    for (int i = 0; i < 3; i++) {
      for (int t = 0; t < terms[q][i].m; t++) {
        terms[q][i].of[t].a += first;
        terms[q][i].of[t].w += first;
      }
      KCycleSumOfProducts(&terms[q][i], op->n - first, PETSC_FALSE, to[i] + first);
    }
  }
  if (op->boundaries) CompleteRows(op, x, touch);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points that coincide with coarse ones take their values */
static void CoincidingPoints(const Operator *op, PetscInt j, PetscInt k)
{
  const KCycleTransfer *tr   = op->ws->tr;
  const PetscScalar    *mask = KCycleMaskOf(op->ws->mask, KCycleBoxExtended(tr->fine, j, k));

  for (PetscInt i = 0; i < op->n; i++)
    op->row[0][1 + i] = mask && !op->ws->filled ? mask[tr->factor[0] * i + tr->shift[0]] : 1;
}

/* All weights of a line: points that coincide in x, then those between */
static PetscErrorCode WorkOut(Operator *op, PetscInt j, PetscInt k)
{
  const KCycleTransfer *tr = op->ws->tr;
  const int             S  = Between(tr, 1, j) | Between(tr, 2, k);
  KCycleTouch           touch;

  PetscFunctionBegin;
  KCycleTransferTouch(tr, j, k, &touch);
  for (PetscInt q = 0; q < touch.count; q++) op->row[q] = op->ws->temp + q * tr->stride;
  PetscCall(PetscArrayzero(op->row[0], touch.count * tr->stride));
  if (S) PetscCall(LineWeights(op, S, j, k, &touch));
  else CoincidingPoints(op, j, k);
  if (tr->factor[0] == 2) PetscCall(LineWeights(op, S | 1, j, k, &touch));
  PetscCall(KCycleWeightsStore(op->ws, j, k, &touch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the weights of a line depend on; set is -1 if they are those of no other line */
typedef struct {
  PetscInt set, outside, mask[9], weights[9][4];
} Signature;

static void Sign(const Operator *op, PetscInt j, PetscInt k, Signature *sign)
{
  const KCycleTransfer *tr  = op->ws->tr;
  const KCycleBox      *box = tr->fine;
  const int             S   = Between(tr, 1, j) | Between(tr, 2, k);

  memset(sign, 0, sizeof(*sign));
  sign->set = op->solved ? -1 : KCycleClassOf(op->st, j, k);
  if (sign->set < 0) return;
  for (int dz = S & 4 ? -1 : 0; dz <= (S & 4 ? 1 : 0); dz++) {
    for (int dy = S & 2 ? -1 : 0; dy <= (S & 2 ? 1 : 0); dy++) {
      const int      index = dy + 1 + 3 * (dz + 1);
      const PetscInt e     = KCycleBoxExtended(box, j + dy, k + dz);

      if ((dy && IsOutside(box, 1, j + dy)) || (dz && IsOutside(box, 2, k + dz))) sign->outside |= 1 << index;
      if (op->ws->mask) sign->mask[index] = op->ws->mask->set[e];
      if (index != 4) memcpy(sign->weights[index], KCycleTransferSets(tr, e), sizeof(sign->weights[index]));
    }
  }
}

/* All of a line; or it is like the one two lines or two planes before. signs: of these, of even planes and of odd
   ones */
static PetscErrorCode WholeLine(Operator *op, PetscInt j, PetscInt k, Signature *signs[2])
{
  const KCycleTransfer *tr = op->ws->tr;
  const PetscInt        e = KCycleBoxExtended(tr->fine, j, k), planes = 2 * (tr->fine->n[1] + 2 * tr->fine->reach[1]);
  PetscInt              like = -1;
  Signature             now;

  PetscFunctionBegin;
  Sign(op, j, k, &now);
  if (now.set >= 0 && j > 1 && !memcmp(&now, &signs[k & 1][j - 2], sizeof(now))) like = e - 2;
  else if (now.set >= 0 && k > 1 && !memcmp(&now, &signs[k & 1][j], sizeof(now))) like = e - planes;
  if (like >= 0) PetscCall(PetscArraycpy(KCycleTransferSets(tr, e), KCycleTransferSets(tr, like), 4));
  else PetscCall(WorkOut(op, j, k));
  signs[k & 1][j] = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Line by line, in the order of the number of directions across in which a line lies between coarse lines */
PetscErrorCode KCycleOperatorWeights(KCycleWeights *ws, Mat A)
{
  const KCycleTransfer *tr  = ws->tr;
  const KCycleBox      *box = tr->fine;
  Signature            *signs[2];
  Operator              op;

  PetscFunctionBegin;
  PetscCall(OperatorCreate(ws, A, &op));
  op.solved = PETSC_FALSE;
  for (int S = 1; S < 8; S++) {
    if (ws->along[S] < 0) continue;
    op.solved = PETSC_TRUE;
    PetscCall(SolveAlong(&op, S, (int)ws->along[S]));
  }
  PetscCall(PetscMalloc2(box->n[1], &signs[0], box->n[1], &signs[1]));
  for (PetscInt count = 0; count < box->dim; count++) {
    for (PetscInt k = 0; k < box->n[2]; k++) {
      for (PetscInt j = 0; j < box->n[1]; j++) {
        if ((Between(tr, 1, j) > 0) + (Between(tr, 2, k) > 0) == count) PetscCall(WholeLine(&op, j, k, signs));
      }
    }
  }
  PetscCall(PetscFree2(signs[0], signs[1]));
  PetscCall(OperatorDestroy(&op));
  PetscFunctionReturn(PETSC_SUCCESS);
}
