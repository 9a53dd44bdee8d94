/*
  The weights of a MATSTENCILTRANSFER that do not depend on coefficients: linear, simplex, constant; and how weights are
  kept.

  Each process works out the weights of its own lines. Those of lines around, and of points beside its own lines, come
  from neighbours, slot by slot: slot s of a point is its weight on the coarse point that is further in x (bit 0), y
  (bit 1), z (bit 2) than the point's base. Only the points that neighbours see are put into slots.
*/
#include "mattransfer.h"

static PetscErrorCode ListsDestroy(KCycleLists *lists)
{
  PetscFunctionBegin;
  PetscCall(KCyclePoolDestroy(&lists->pool));
  PetscCall(PetscFree(lists->list));
  PetscCall(PetscHMapIDestroy(&lists->map));
  PetscCall(PetscMemzero(lists, sizeof(*lists)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Arrays for so many lines, if no two of them agree */
static PetscErrorCode ListsCreate(PetscInt length, PetscInt lines, KCycleLists *lists)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(lists, sizeof(*lists)));
  PetscCall(PetscHMapICreate(&lists->map));
  PetscCall(KCyclePoolCreate((PetscInt64)length * lines, &lists->pool));
  lists->length = length;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps one array, or finds that it is kept already */
static PetscErrorCode ListsKeep(KCycleLists *lists, const PetscScalar v[], const PetscScalar **kept)
{
  const size_t   bytes = (size_t)lists->length * sizeof(*v);
  const PetscInt key   = KCycleKey(v, lists->length);
  PetscInt       number;

  PetscFunctionBegin;
  PetscCall(PetscHMapIGet(lists->map, key, &number));
  if (number >= 0 && !memcmp(lists->list[number], v, bytes)) {
    *kept = lists->list[number];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (lists->n == lists->most) {
    lists->most = PetscMax(8, 2 * lists->most);
    PetscCall(PetscRealloc((size_t)lists->most * sizeof(*lists->list), &lists->list));
  }
  PetscCall(KCyclePoolNew(&lists->pool, lists->length, &lists->list[lists->n]));
  if (number < 0) PetscCall(PetscHMapISet(lists->map, key, lists->n));
  PetscCall(PetscArraycpy(lists->list[lists->n], v, lists->length));
  *kept = lists->list[lists->n++];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilTransferResetWeights(Mat P)
{
  PetscFunctionBegin;
  PetscCall(ListsDestroy(&((Mat_StencilTransfer *)P->data)->lists));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool CoarseExists(const KCycleTransfer *tr, PetscInt d, PetscInt local)
{
  const PetscInt global = local + tr->coarse->start[d];

  return (PetscBool)(tr->coarse->periodic[d] || (global >= 0 && global < tr->coarse->size[d]));
}

/* Weights of a point between coarse points low and low + 1 */
static void BetweenWeights(const KCycleWeights *ws, PetscInt d, PetscInt low, PetscReal w[])
{
  const PetscBool exists[2] = {CoarseExists(ws->tr, d, low), CoarseExists(ws->tr, d, low + 1)};

  if (ws->interpolation == KCYCLE_INTERPOLATION_CONSTANT) {
    w[0] = exists[0] ? 1 : 0;
    w[1] = exists[0] ? 0 : 1;
  } else {
    for (int s = 0; s < 2; s++) w[s] = !exists[s] ? 0 : !exists[1 - s] && ws->insulated[2 * d + 1 - s] ? 1 : 0.5;
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

/* Which of the coarse points low and low + 1 (0, 1) stand for the two; -1: none, as the next one is beyond an end.
   Beyond an insulated end stands the last one */
static void Pair(const KCycleWeights *ws, PetscInt d, PetscInt low, PetscInt stand[2])
{
  for (int s = 0; s < 2; s++) {
    if (CoarseExists(ws->tr, d, low + s)) stand[s] = s;
    else stand[s] = ws->insulated[2 * d + s] ? 1 - s : -1;
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
  const PetscScalar *line = ws->mask->line[KCycleBoxExtended(ws->tr->fine, j, k)];

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
  if (ws->interpolation == KCYCLE_INTERPOLATION_SIMPLEX) SimplexLine(ws, touch, ws->temp);
  else TensorLine(ws, touch, ws->temp);
  if (ws->mask) ApplyMask(ws, touch, j, k, ws->temp);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the weights of a line. Two lines further there is a line of the same kind */
PetscErrorCode KCycleWeightsStore(KCycleWeights *ws, PetscInt j, PetscInt k, const KCycleTouch *touch)
{
  const KCycleTransfer *tr = ws->tr;
  const PetscInt        e  = KCycleBoxExtended(tr->fine, j, k);

  PetscFunctionBegin;
  for (PetscInt q = 0; q < touch->count; q++) {
    const PetscScalar  *v = ws->temp + q * tr->stride, *likely = j >= 2 ? tr->weights[4 * (e - 2) + q] : NULL;
    const PetscScalar **kept = &tr->weights[4 * e + q];
    PetscBool           zero = PETSC_TRUE;

    *kept = likely;
    if (likely && !memcmp(likely, v, tr->stride * sizeof(*v))) continue;
    *kept = NULL;
    for (PetscInt i = 0; i < tr->stride && zero; i++) zero = (PetscBool)(v[i] == (PetscScalar)0.0);
    if (!zero) PetscCall(ListsKeep(ws->lists, v, kept));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt Slot(const KCycleTouch *touch, PetscInt q, PetscInt x)
{
  return x + 2 * (touch->j[q] - touch->j[0]) + 4 * (touch->k[q] - touch->k[0]);
}

/* One slot of the points of an owned line */
static void SlotOfLine(const KCycleTransfer *tr, PetscInt s, PetscInt j, PetscInt k, PetscScalar *slot)
{
  const PetscInt n = tr->coarse->n[0], f = tr->factor[0], shift = tr->shift[0], nf = tr->fine->n[0];
  KCycleTouch    touch;

  for (PetscInt i = 0; i < nf; i++) slot[i] = 0;
  KCycleTransferTouch(tr, j, k, &touch);
  for (PetscInt q = 0; q < touch.count; q++) {
    const PetscScalar *w = touch.w[q], *between;

    if (!w || Slot(&touch, q, s & 1) != s) continue;
    between = s & 1 ? KCycleWeightsRight(w, n) : KCycleWeightsLeft(w, n);
    for (PetscInt i = 0; !(s & 1) && i < n; i++) slot[f * i + shift] = KCycleWeightsSame(w)[i];
    for (PetscInt i = -1; i < n && f == 2; i++) {
      const PetscInt at = 2 * i + 1 + shift;

      if (at >= 0 && at < nf) slot[at] = between[i];
    }
  }
}

/* What neighbours see of owned lines goes to them */
PetscErrorCode KCycleWeightsExchange(KCycleWeights *ws)
{
  const KCycleTransfer *tr  = ws->tr;
  const KCycleBox      *box = tr->fine;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < 8; s++) {
    if ((s & 1 && tr->factor[0] == 1) || (s & 2 && tr->factor[1] == 1) || (s & 4 && tr->factor[2] == 1)) continue;
    for (PetscInt k = 0; k < box->n[2]; k++) {
      for (PetscInt j = 0; j < box->n[1]; j++) {
        if (box->ends || KCycleBoxLineIsSeen(box, j, k))
          SlotOfLine(tr, s, j, k, ws->field + box->n[0] * (j + box->n[1] * k));
      }
    }
    PetscCall(KCycleBoxExchange(box, PETSC_TRUE, ws->field, ws->halos + (size_t)s * box->nhalo));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The value of a slot at a point of a neighbour */
static PetscScalar SlotValue(const KCycleWeights *ws, PetscInt s, PetscInt i, PetscInt j, PetscInt k)
{
  const KCycleBox   *box  = ws->tr->fine;
  const PetscScalar *halo = ws->halos + (size_t)s * box->nhalo;
  const PetscInt     e    = KCycleBoxExtended(box, j, k);

  if (i < 0) return box->ends ? halo[box->left + e] : 0;
  if (i >= box->n[0]) return box->ends ? halo[box->right + e] : 0;
  return halo[box->slot[e] + i];
}

/* Where a grid of odd size wraps around, coarse points 0 and -1 are neighbours on the fine grid: seen from here the
   point behind the last one lies between, but it coincides with the next coarse one */
static PetscBool Wraps(const KCycleTransfer *tr, PetscInt d, PetscInt at)
{
  const KCycleBox *box = tr->fine;

  return (PetscBool)(box->periodic[d] && tr->factor[d] == 2 && box->size[d] % 2 == 1 && at == box->n[d] &&
                     box->start[d] + box->n[d] == box->size[d]);
}

/* The slot of a halo point for coarse line q of those that its line touches, further in x or not; -1: its weight is
   zero */
static PetscInt SlotSeen(const KCycleTransfer *tr, const KCycleTouch *touch, PetscInt q, PetscInt x,
                         const PetscInt at[])
{
  PetscInt       further[3] = {x, touch->j[q] - touch->j[0], touch->k[q] - touch->k[0]};
  const PetscInt place[3]   = {1, 2, 4};
  PetscInt       slot       = 0;

  for (PetscInt d = 0; d < 3; d++) {
    if (Wraps(tr, d, at[d]) && !further[d]--) return -1;
    slot += place[d] * further[d];
  }
  return slot;
}

static PetscScalar WeightSeen(const KCycleWeights *ws, const KCycleTouch *touch, PetscInt q, PetscInt x,
                              const PetscInt at[])
{
  const PetscInt slot = at[0] < -1 || at[0] > ws->tr->fine->n[0] ? -1 : SlotSeen(ws->tr, touch, q, x, at);

  return slot < 0 ? 0 : SlotValue(ws, slot, at[0], at[1], at[2]);
}

/* Puts the weights of neighbours' points into those of a line: all points of a neighbour's line, of an owned one
   those beside it */
void KCycleWeightsSee(const KCycleWeights *ws, PetscInt j, PetscInt k, const KCycleTouch *touch, PetscScalar *weights)
{
  const KCycleTransfer *tr  = ws->tr;
  const KCycleBox      *box = tr->fine;
  const PetscInt        n = tr->coarse->n[0], f = tr->factor[0], nf = box->n[0];
  const PetscBool       owned = (PetscBool)(box->slot[KCycleBoxExtended(box, j, k)] < 0);

  for (PetscInt q = 0; q < touch->count; q++) {
    PetscScalar *same = weights + q * tr->stride + 1, *left = same + n + 2, *right = left + n + 1;

    for (PetscInt i = -1; i <= n; i += owned ? n + 1 : 1) {
      const PetscInt at[3] = {f * i + tr->shift[0], j, k};

      same[i] = WeightSeen(ws, touch, q, 0, at);
    }
    for (PetscInt i = -1; i < n && f == 2; i += owned ? n : 1) {
      const PetscInt at[3] = {2 * i + 1 + tr->shift[0], j, k};

      if (owned && at[0] >= 0 && at[0] < nf) continue;
      left[i]  = WeightSeen(ws, touch, q, 0, at);
      right[i] = WeightSeen(ws, touch, q, 1, at);
    }
  }
}

/* The weights of all lines that neighbours have a part in */
static PetscErrorCode CompleteWeights(KCycleWeights *ws)
{
  const KCycleTransfer *tr  = ws->tr;
  const KCycleBox      *box = tr->fine;
  KCycleTouch           touch;

  PetscFunctionBegin;
  if (!KCycleBoxTalks(box)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleWeightsExchange(ws));
  for (PetscInt k = -box->reach[2]; k < box->n[2] + box->reach[2]; k++) {
    for (PetscInt j = -box->reach[1]; j < box->n[1] + box->reach[1]; j++) {
      const PetscInt slot = box->slot[KCycleBoxExtended(box, j, k)];

      if (slot == 0 || (slot < 0 && !box->ends)) continue;
      PetscCall(PetscArrayzero(ws->temp, 4 * tr->stride));
      KCycleTransferTouch(tr, j, k, &touch);
      for (PetscInt q = 0; slot < 0 && q < touch.count; q++) {
        if (touch.w[q]) PetscCall(PetscArraycpy(ws->temp + q * tr->stride, touch.w[q], tr->stride));
      }
      KCycleWeightsSee(ws, j, k, &touch, ws->temp);
      PetscCall(KCycleWeightsStore(ws, j, k, &touch));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the weights of a line depend on; lines that agree have the same */
typedef struct {
  const PetscScalar *mask[5];
  PetscReal          factor[4];
} LineSign;

static void SignLine(const KCycleWeights *ws, const KCycleTouch *touch, PetscInt j, PetscInt k, LineSign *sign)
{
  const KCycleTransfer *tr = ws->tr;

  memset(sign, 0, sizeof(*sign));
  LineFactors(ws, touch, sign->factor);
  if (!ws->mask) return;
  sign->mask[4] = ws->mask->line[KCycleBoxExtended(tr->fine, j, k)];
  for (PetscInt q = 0; q < touch->count; q++) {
    sign->mask[q] = ws->mask->line[KCycleBoxExtended(tr->fine, touch->j[q] * tr->factor[1] + tr->shift[1],
                                                     touch->k[q] * tr->factor[2] + tr->shift[2])];
  }
}

/* A line is like the one two lines or two planes before, or is worked out */
static PetscErrorCode WeightsByLine(KCycleWeights *ws)
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
      if (like >= 0) PetscCall(PetscArraycpy(&tr->weights[4 * e], &tr->weights[4 * like], 4));
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

/* m: 0 where c is zero, else 1. Are there zeros? */
KC_VERSIONS static PetscBool AreNotZero(PetscInt n, const PetscScalar *KC_RESTRICT c, PetscScalar *KC_RESTRICT m)
{
  PetscInt64 zeros = 0;

  for (PetscInt i = 0; i < n; i++) {
    m[i] = c[i] == (PetscScalar)0.0 ? 0 : 1;
    zeros |= c[i] == (PetscScalar)0.0 ? 1 : 0;
  }
  return (PetscBool)(zeros != 0);
}

/* Masks of the owned lines, as if there were no points beside them */
static PetscErrorCode MaskOwnLines(Mat A, KCycleMask *mask)
{
  const KCycleStencil *st     = KCycleStencilOf(A);
  const KCycleBox     *box    = st->box;
  const PetscInt       n      = box->n[0];
  const PetscScalar   *before = NULL; /* that of the last line */
  PetscScalar         *m;
  PetscInt             last = -1;
  PetscBool            inside; /* points between the ends that may be coupled to nobody */
  KCycleLine           l;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(n + 2, &m));
  for (PetscInt line = 0; line < box->nlines; line++) {
    const PetscScalar **kept = &mask->line[KCycleBoxExtended(box, line % box->n[1], line / box->n[1])];

    if (line % box->n[1] && MatStencilLineIsLast(st, line, last)) {
      *kept = kept[-1];
      continue;
    }
    last = line;
    MatStencilLineArrays(st, line, &l);
    inside = (PetscBool)(n > 2 && AreNotZero(n - 2, l.c[st->shape.ncoeffs - 1] + 1, m + 2));
    m[1] = m[n] = 0;
    /* most points are coupled to the first one that is asked for */
    for (PetscInt i = 0; i < n; i += inside ? 1 : PetscMax(n - 1, 1)) {
      for (int o = 0; o < st->shape.ncoeffs && m[i + 1] == (PetscScalar)0.0; o++)
        m[i + 1] = o != st->shape.ncoeffs / 2 && KCycleLineCoefficient(&l, o, i) != (PetscScalar)0.0;
    }
    if (!before || memcmp(before, m, (size_t)(n + 2) * sizeof(*m))) PetscCall(ListsKeep(&mask->lists, m, &before));
    *kept = before + 1;
  }
  PetscCall(PetscFree(m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With what neighbours know */
static PetscErrorCode MaskComplete(const KCycleBox *box, PetscScalar *field, KCycleMask *mask)
{
  const PetscInt n = box->n[0];
  PetscScalar   *halo, *m;

  PetscFunctionBegin;
  if (!KCycleBoxTalks(box)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleBoxHaloCreate(box, &halo));
  PetscCall(PetscCalloc1(n + 2, &m));
  for (PetscInt l = 0; l < box->nlines; l++) {
    const PetscInt j = l % box->n[1], k = l / box->n[1];

    if (box->ends || KCycleBoxLineIsSeen(box, j, k))
      PetscCall(PetscArraycpy(field + l * n, mask->line[KCycleBoxExtended(box, j, k)], n));
  }
  PetscCall(KCycleBoxExchange(box, PETSC_TRUE, field, halo));
  for (PetscInt e = 0; e < box->nextended; e++) {
    if (box->slot[e] == 0 || (box->slot[e] < 0 && !box->ends)) continue;
    PetscCall(PetscArraycpy(m + 1, box->slot[e] < 0 ? mask->line[e] : halo + box->slot[e], n));
    m[0]     = box->ends ? halo[box->left + e] : 0;
    m[n + 1] = box->ends ? halo[box->right + e] : 0;
    PetscCall(ListsKeep(&mask->lists, m, &mask->line[e]));
    ++mask->line[e];
  }
  PetscCall(PetscFree(halo));
  PetscCall(PetscFree(m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* insulated: through which ends of the grid no flux leaves, low and high of each direction; A: the operator on the
   fine grid */
PetscErrorCode MatStencilTransferSetWeights(Mat P, KCycleInterpolation interpolation, const PetscBool insulated[],
                                            Mat A)
{
  Mat_StencilTransfer *p   = (Mat_StencilTransfer *)P->data;
  KCycleTransfer      *tr  = &p->t;
  const KCycleBox     *box = tr->fine;
  const KCycleScan    *scan;
  KCycleWeights ws = {tr, &p->lists, interpolation, insulated, NULL, NULL, NULL, NULL, NULL, {0, 0, 0, 0, NULL, NULL}};
  KCycleMask    mask;

  PetscFunctionBegin;
  PetscCall(MatStencilTransferResetWeights(P));
  PetscCall(PetscArrayzero(tr->weights, 4 * box->nextended));
  PetscCall(ListsCreate(tr->stride, box->nextended, &p->lists));
  p->interpolation = interpolation;
  PetscCall(PetscMalloc1((size_t)4 * tr->stride, &ws.temp));
  if (KCycleBoxTalks(box)) {
    PetscCall(PetscMalloc1(box->npoints, &ws.field));
    PetscCall(PetscCalloc1(8 * (size_t)box->nhalo, &ws.halos));
    PetscCall(PetscCalloc1(box->nextended, &ws.own));
    PetscCall(KCyclePoolCreate((PetscInt64)4 * tr->stride * box->nextended, &ws.pool));
  }
  PetscCall(MatStencilScan(A, &scan));
  PetscCall(ListsCreate(box->n[0] + 2, box->nextended, &mask.lists));
  PetscCall(PetscCalloc1(box->nextended, &mask.line));
  if (scan->alone) {
    ws.mask = &mask;
    PetscCall(MaskOwnLines(A, &mask));
    PetscCall(MaskComplete(box, ws.field, &mask));
  }
  if (interpolation == KCYCLE_INTERPOLATION_OPERATOR) PetscCall(KCycleOperatorWeights(&ws, A));
  else PetscCall(WeightsByLine(&ws));
  PetscCall(CompleteWeights(&ws));
  PetscCall(ListsDestroy(&mask.lists));
  PetscCall(PetscFree(mask.line));
  PetscCall(PetscHMapIDestroy(&p->lists.map));
  tr->nsets = p->lists.n;
  PetscCall(PetscFree(ws.temp));
  PetscCall(PetscFree(ws.field));
  PetscCall(PetscFree(ws.halos));
  PetscCall(PetscFree(ws.own));
  PetscCall(KCyclePoolDestroy(&ws.pool));
  PetscCall(PetscObjectStateIncrease((PetscObject)P));
  PetscFunctionReturn(PETSC_SUCCESS);
}
