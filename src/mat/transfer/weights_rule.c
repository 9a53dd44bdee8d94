/*
  The weights of a MATSTENCILTRANSFER between points by rule: linear, simplex, constant.

  Linear weights follow the operator at boundaries, point by point. With a the coupling of a point inward and e what its
  row sum exceeds that of the next point by, the coupling with the boundary, the point takes a / (a + e) of the next
  one: all of it next to a Neumann boundary, half or a third next to a Dirichlet one, as it lies a cell or half a cell
  away, and nothing where a penalty holds the point. At a corner of the grid (or an edge in 3D) a box stencil with a
  mixed derivative has lost couplings that do not balance; the weight there is that of the next point along the
  boundary.
*/
#include "mattransfer.h"

static PetscBool CoarseExists(const KCycleTransfer *tr, PetscInt d, PetscInt local)
{
  return (PetscBool)(local >= 0 && local < tr->coarse->n[d]);
}

/* Weights of a point between coarse points low and low + 1 */
static void BetweenWeights(const KCycleWeights *ws, PetscInt d, PetscInt low, PetscReal w[])
{
  const PetscBool exists[2] = {CoarseExists(ws->tr, d, low), CoarseExists(ws->tr, d, low + 1)};

  if (ws->interpolation == PC_KCYCLE_INTERPOLATION_CONSTANT) {
    w[0] = exists[0] ? 1 : 0;
    w[1] = exists[0] ? 0 : 1;
  } else {
    for (int s = 0; s < 2; s++) w[s] = !exists[s] ? 0 : !exists[1 - s] ? 1 : 0.5;
  }
}

/* Weights of fine line (j, k) on its coarse lines, which differ in y (bit 0) and z (bit 1) */
static void LineFactors(const KCycleWeights *ws, const KCycleTouch *touch, PetscReal factor[])
{
  const PetscInt pairs_y = touch->count > 1 && touch->j[1] != touch->j[0],
                 pairs_z = touch->k[touch->count - 1] != touch->k[0];
  PetscReal wy[2] = {1, 0}, wz[2] = {1, 0};

  if (pairs_y) BetweenWeights(ws, 1, touch->j[0], wy);
  if (pairs_z) BetweenWeights(ws, 2, touch->k[0], wz);
  for (PetscInt q = 0; q < touch->count; q++) factor[q] = wy[touch->j[q] - touch->j[0]] * wz[touch->k[q] - touch->k[0]];
}

static PetscReal RowSum(const KCycleStencil *st, const KCycleLine *l, PetscInt i)
{
  PetscReal sum = 0;

  for (int o = 0; o < st->shape.ncoeffs; o++) sum += PetscRealPart(KCycleLineCoefficient(l, o, i));
  return sum;
}

/* Of a box stencil: the next point of each direction other than d in which the point at has neighbours at one side
   alone; elsewhere the point itself */
static PetscBool AwayFromCorner(const KCycleStencil *st, int d, const PetscInt at[], const KCycleLine *l, PetscInt to[])
{
  const KCycleShape *shape     = &st->shape;
  PetscBool          has[3][3] = {{PETSC_FALSE}};

  for (int t = 0; t < 3; t++) to[t] = at[t];
  if (!shape->box) return PETSC_FALSE;
  for (int o = 0; o < shape->ncoeffs; o++) {
    if (KCycleLineCoefficient(l, o, at[0]) == (PetscScalar)0.0) continue;
    has[0][1 + shape->dx[o]]              = PETSC_TRUE;
    has[1][1 + shape->dy[shape->line[o]]] = PETSC_TRUE;
    has[2][1 + shape->dz[shape->line[o]]] = PETSC_TRUE;
  }
  for (int t = 0; t < 3; t++) {
    const PetscInt next = at[t] + (has[t][2] ? 1 : -1);

    if (t != d && has[t][0] != has[t][2] && next >= 0 && next < st->box->n[t]) to[t] = next;
  }
  return (PetscBool)(to[0] != at[0] || to[1] != at[1] || to[2] != at[2]);
}

/* The weight of a point between the last coarse point and a boundary, at a side of direction d: its coupling inward, a
   part of that and of what its row sum exceeds the next point's by, the coupling with the boundary. What is rounding of
   the diagonal is none, however small the coupling is: constants would be lost from level to level. l: its line, and
   that of the next point */
static PetscReal BoundaryWeight(const KCycleStencil *st, int d, int side, const PetscInt point[], const KCycleLine l[2])
{
  const KCycleShape *shape = &st->shape;
  PetscInt           at[3];
  KCycleLine         m[2];
  const PetscInt     n = st->box->n[d], inward = side ? -1 : 1;
  PetscReal          coupling = 0, excess, rounding;
  const PetscReal    sign     = PetscRealPart(KCycleLineCoefficient(&l[0], shape->ncoeffs / 2, point[0])) < 0 ? -1 : 1;

  if (AwayFromCorner(st, d, point, &l[0], at) && (at[1] != point[1] || at[2] != point[2])) {
    KCycleLineCoefficients(st, at[1], at[2], &m[0]);
    m[1] = m[0];
    if (d && n > 2) KCycleLineCoefficients(st, at[1] + (d == 1 ? inward : 0), at[2] + (d == 2 ? inward : 0), &m[1]);
    l = m;
  }
  for (int o = 0; o < shape->ncoeffs; o++) {
    const int to[3] = {shape->dx[o], shape->dy[shape->line[o]], shape->dz[shape->line[o]]};

    if (to[d] == inward) coupling -= PetscRealPart(KCycleLineCoefficient(&l[0], o, at[0]));
  }
  coupling = PetscMax(sign * coupling, 0);
  rounding = 100 * PETSC_MACHINE_EPSILON * PetscAbsScalar(KCycleLineCoefficient(&l[0], shape->ncoeffs / 2, at[0]));
  excess   = sign * (RowSum(st, &l[0], at[0]) - (n > 2 ? RowSum(st, &l[1], at[0] + (d == 0 ? inward : 0)) : 0));
  return coupling > 0 ? coupling / (coupling + (excess > rounding ? excess : 0)) : 0;
}

/* The weights of the points of a line at the boundaries in x */
static void WeightsInX(const KCycleWeights *ws, PetscInt j, PetscInt k, PetscReal end[2])
{
  const KCycleTransfer *tr = ws->tr;
  const PetscInt        n = tr->fine->n[0], last = 2 * (tr->coarse->n[0] - 1) + tr->shift[0] + 1;
  const PetscInt        first[3] = {0, j, k}, behind[3] = {last, j, k};
  KCycleLine            l[2];

  end[0] = end[1] = 1;
  if (tr->factor[0] == 1) return;
  KCycleLineCoefficients(ws->st, j, k, &l[0]);
  l[1] = l[0];
  if (tr->shift[0]) end[0] = BoundaryWeight(ws->st, 0, 0, first, l);
  if (last < n) end[1] = BoundaryWeight(ws->st, 0, 1, behind, l);
}

/* Is a line between the last coarse line and a boundary in direction d? -1: no, else at which side */
static int BoundarySide(const KCycleTransfer *tr, int d, PetscInt at)
{
  if (tr->factor[d] == 1) return -1;
  if (tr->shift[d] && at == 0) return 0;
  return at == 2 * (tr->coarse->n[d] - 1) + tr->shift[d] + 1 ? 1 : -1;
}

/* The weights of points at boundaries */
static void ApplyBoundaries(const KCycleWeights *ws, const KCycleTouch *touch, PetscInt j, PetscInt k, PetscScalar *out)
{
  const KCycleTransfer *tr = ws->tr;
  const PetscInt        n = tr->coarse->n[0], f = tr->factor[0];
  PetscReal             end[2];

  WeightsInX(ws, j, k, end);
  for (PetscInt q = 0; q < touch->count; q++) {
    PetscScalar *same = out + q * tr->stride + 1, *left = same + n + 2, *right = left + n + 1;

    right[-1] *= end[0];
    left[n - 1] *= end[1];
  }
  for (int d = 1; d < 3; d++) {
    const int      side = BoundarySide(tr, d, d == 1 ? j : k);
    const PetscInt away = side ? -1 : 1;
    KCycleLine     l[2];

    if (side < 0) continue;
    KCycleLineCoefficients(ws->st, j, k, &l[0]);
    if (tr->fine->n[d] > 2) KCycleLineCoefficients(ws->st, j + (d == 1 ? away : 0), k + (d == 2 ? away : 0), &l[1]);
    for (PetscInt i = 0; i < tr->fine->n[0]; i++) {
      const PetscInt  at[3] = {i, j, k}, to = i - tr->shift[0], c = f == 1 ? i : to >= 0 ? to / 2 : -1;
      const PetscReal w = BoundaryWeight(ws->st, d, side, at, l);

      for (PetscInt q = 0; q < touch->count; q++) {
        PetscScalar *same = out + q * tr->stride + 1, *left = same + n + 2, *right = left + n + 1;

        if (f == 1 || (to >= 0 && to % 2 == 0)) same[c] *= w;
        else {
          left[c] *= w;
          right[c] *= w;
        }
      }
    }
  }
}

static void TensorLine(const KCycleWeights *ws, const KCycleTouch *touch, PetscScalar *out)
{
  const KCycleTransfer *tr = ws->tr;
  const PetscInt        n  = tr->coarse->n[0];
  PetscReal             factor[4], wx[2];

  LineFactors(ws, touch, factor);
  for (PetscInt q = 0; q < touch->count; q++) {
    PetscScalar *same = out + q * tr->stride + 1, *left = same + n + 2, *right = left + n + 1;

    for (PetscInt i = 0; i < n; i++) same[i] = factor[q];
    for (PetscInt i = -1; i < n && tr->factor[0] == 2; i++) {
      BetweenWeights(ws, 0, i, wx);
      left[i]  = factor[q] * wx[0];
      right[i] = factor[q] * wx[1];
    }
  }
}

/* Which of the coarse points low and low + 1 (0, 1) represent the two; -1: none, as the next one is beyond a boundary.
   Beyond a Neumann boundary the last one does */
static void Pair(const KCycleWeights *ws, PetscInt d, PetscInt low, PetscInt represents[2])
{
  for (int s = 0; s < 2; s++) {
    if (CoarseExists(ws->tr, d, low + s)) represents[s] = s;
    else represents[s] = ws->neumann[2 * d + s] ? 1 - s : -1;
  }
}

/* Linear on simplices: half of the two ends of the edge or diagonal that the point halves */
static void SimplexLine(const KCycleWeights *ws, const KCycleTouch *touch, PetscScalar *out)
{
  const KCycleTransfer *tr = ws->tr;
  const PetscInt        n = tr->coarse->n[0], last = touch->count - 1;
  PetscInt              x[2], y[2] = {0, 0}, z[2] = {0, 0};

  if (touch->j[last] != touch->j[0]) Pair(ws, 1, touch->j[0], y);
  if (touch->k[last] != touch->k[0]) Pair(ws, 2, touch->k[0], z);
  for (PetscInt q = 0; q < touch->count; q++) {
    const PetscInt j = touch->j[q] - touch->j[0], k = touch->k[q] - touch->k[0];
    PetscScalar   *same = out + q * tr->stride + 1, *left = same + n + 2, *right = left + n + 1;

    for (int s = 0; s < 2; s++) {
      if (j != y[s] || k != z[s]) continue;
      for (PetscInt i = 0; i < n; i++) same[i] += 0.5;
      for (PetscInt i = -1; i < n && tr->factor[0] == 2; i++) {
        Pair(ws, 0, i, x);
        if (x[s] == 0) left[i] += 0.5;
        if (x[s] == 1) right[i] += 0.5;
      }
    }
  }
}

/* The mask of a point relative to the owned box, at most one point beyond it */
static PetscScalar Mask(const KCycleWeights *ws, PetscInt i, PetscInt j, PetscInt k)
{
  const PetscScalar *line = KCycleMaskOf(ws->mask, KCycleBoxExtended(ws->tr->fine, j, k));

  return line ? line[i] : 0;
}

static void ApplyMask(const KCycleWeights *ws, const KCycleTouch *touch, PetscInt j, PetscInt k, PetscScalar *out)
{
  const KCycleTransfer *tr = ws->tr;
  const PetscInt        n = tr->coarse->n[0], f = tr->factor[0];

  for (PetscInt q = 0; q < touch->count; q++) {
    const PetscInt jj = touch->j[q] * tr->factor[1] + tr->shift[1], kk = touch->k[q] * tr->factor[2] + tr->shift[2];
    PetscScalar   *same = out + q * tr->stride + 1, *left = same + n + 2, *right = left + n + 1;

    for (PetscInt i = 0; i < n; i++)
      same[i] *= Mask(ws, f * i + tr->shift[0], j, k) * Mask(ws, f * i + tr->shift[0], jj, kk);
    for (PetscInt i = -1; i < n && f == 2; i++) {
      const PetscInt    at   = 2 * i + 1 + tr->shift[0];
      const PetscScalar mine = at < 0 || at >= tr->fine->n[0] ? 0 : Mask(ws, at, j, k);

      left[i] *= mine == (PetscScalar)0.0 ? 0 : Mask(ws, at - 1, jj, kk);
      right[i] *= mine == (PetscScalar)0.0 ? 0 : Mask(ws, at + 1, jj, kk);
    }
  }
}

/* Weights of an owned line by rule; those of points that the process does not own are zero */
static PetscErrorCode RuleLine(const KCycleWeights *ws, PetscInt j, PetscInt k, KCycleTouch *touch)
{
  const KCycleTransfer *tr = ws->tr;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(ws->temp, 4 * tr->stride));
  KCycleTransferTouch(tr, j, k, touch);
  if (ws->interpolation == PC_KCYCLE_INTERPOLATION_SIMPLEX) SimplexLine(ws, touch, ws->temp);
  else TensorLine(ws, touch, ws->temp);
  if (ws->interpolation == PC_KCYCLE_INTERPOLATION_LINEAR) ApplyBoundaries(ws, touch, j, k, ws->temp);
  if (ws->mask) ApplyMask(ws, touch, j, k, ws->temp);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the weights of a line depend on; lines that agree have the same */
typedef struct {
  PetscReal factor[4], end[2];
  PetscInt  mask[5], set[3], beside[2][4];
} LineSign;

/* Equal for lines of the same coefficients */
static PetscInt ClassOf(const KCycleWeights *ws, PetscInt j, PetscInt k)
{
  const PetscInt line = j + ws->tr->fine->n[1] * k;

  return KCycleClassOfLine(ws->st, line) < 0 ? -2 - line : KCycleClassOfLine(ws->st, line);
}

/* The lines that weights at an edge look at, see AwayFromCorner() */
static void SignEdge(const KCycleWeights *ws, int d, PetscInt inward, PetscInt j, PetscInt k, PetscInt beside[])
{
  for (int i = 0; i < 4; i++) {
    const PetscInt move = i % 2 ? 1 : -1, in = i / 2 ? inward : 0, jj = j + (d == 1 ? in : move),
                   kk = k + (d == 2 ? in : move);

    beside[i] = jj >= 0 && jj < ws->tr->fine->n[1] && kk >= 0 && kk < ws->tr->fine->n[2] ? ClassOf(ws, jj, kk) : -1;
  }
}

static void SignLine(const KCycleWeights *ws, const KCycleTouch *touch, PetscInt j, PetscInt k, LineSign *sign)
{
  const KCycleTransfer *tr = ws->tr;

  memset(sign, 0, sizeof(*sign));
  LineFactors(ws, touch, sign->factor);
  if (ws->interpolation == PC_KCYCLE_INTERPOLATION_LINEAR) {
    WeightsInX(ws, j, k, sign->end);
    for (int d = 1; d < 3; d++) {
      const int      side   = BoundarySide(tr, d, d == 1 ? j : k);
      const PetscInt inward = side ? -1 : 1;

      if (side < 0) continue;
      sign->set[0] = ClassOf(ws, j, k);
      if (tr->fine->n[d] > 2) sign->set[d] = ClassOf(ws, j + (d == 1 ? inward : 0), k + (d == 2 ? inward : 0));
      if (ws->st->shape.box && tr->fine->n[2] > 1)
        SignEdge(ws, d, tr->fine->n[d] > 2 ? inward : 0, j, k, sign->beside[d - 1]);
    }
  }
  if (!ws->mask) return;
  sign->mask[4] = ws->mask->set[KCycleBoxExtended(tr->fine, j, k)];
  for (PetscInt q = 0; q < touch->count; q++) {
    sign->mask[q] = ws->mask->set[KCycleBoxExtended(tr->fine, touch->j[q] * tr->factor[1] + tr->shift[1],
                                                    touch->k[q] * tr->factor[2] + tr->shift[2])];
  }
}

/* A line is like the one two lines or two planes before, or is worked out */
PetscErrorCode KCycleRuleWeights(KCycleWeights *ws)
{
  const KCycleTransfer *tr  = ws->tr;
  const KCycleBox      *box = tr->fine;
  LineSign             *signs[2];
  KCycleTouch           touch;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(box->n[1], &signs[0], box->n[1], &signs[1]));
  for (PetscInt k = 0; k < box->n[2]; k++) {
    for (PetscInt j = 0; j < box->n[1]; j++) {
      const PetscInt e = KCycleBoxExtended(box, j, k), plane = box->n[1] + 2 * box->reach[1];
      LineSign       now;
      PetscInt       like = -1;

      KCycleTransferTouch(tr, j, k, &touch);
      SignLine(ws, &touch, j, k, &now);
      if (j > 1 && !memcmp(&now, &signs[k & 1][j - 2], sizeof(now))) like = e - 2;
      else if (k > 1 && !memcmp(&now, &signs[k & 1][j], sizeof(now))) like = e - 2 * plane;
      if (like >= 0) PetscCall(PetscArraycpy(KCycleTransferSets(tr, e), KCycleTransferSets(tr, like), 4));
      else {
        PetscCall(RuleLine(ws, j, k, &touch));
        PetscCall(KCycleWeightsStore(ws, j, k, &touch));
      }
      signs[k & 1][j] = now;
    }
  }
  PetscCall(PetscFree2(signs[0], signs[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
