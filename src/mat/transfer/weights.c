/*
  The weights of a MATSTENCILTRANSFER that do not depend on coefficients: linear, simplex, constant; and how weights are kept.

  Points that are coupled to nobody (stored Dirichlet points) neither give nor take corrections. A "mask" is 0 there, 1 elsewhere.
*/
#include <petsckcycle/private/transferimpl.h>

/* What SetWeights works with */
typedef struct {
  Mat_StencilTransfer *tr;
  KCycleInterpolation  interpolation;
  const PetscBool     *insulated;       /* no flux through the low and the high end, in each direction */
  PetscScalar         *mask, *maskhalo; /* of fine points; NULL if all are 1 */
  PetscScalar         *slots, *slothalos;
  PetscScalar         *temp; /* weights of one line on up to four coarse lines */
  PetscHMapI           map;  /* from the key of a list of weights to its number */
} Weights;

PetscErrorCode MatStencilTransferResetWeights(Mat P)
{
  Mat_StencilTransfer *tr = (Mat_StencilTransfer *)P->data;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < tr->nlists; i++) PetscCall(PetscFree(tr->list[i]));
  PetscCall(PetscFree(tr->list));
  tr->nlists = tr->maxlists = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool CoarseExists(const Mat_StencilTransfer *tr, PetscInt d, PetscInt local)
{
  const PetscInt global = local + tr->coarse->start[d];

  return (PetscBool)(tr->coarse->periodic[d] || (global >= 0 && global < tr->coarse->size[d]));
}

/* Weights of a point between coarse points low and low + 1 */
static void BetweenWeights(const Weights *ws, PetscInt d, PetscInt low, PetscReal w[])
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
static void LineFactors(const Weights *ws, const KCycleTouch *touch, PetscReal factor[])
{
  const PetscInt pairs_y = touch->count > 1 && touch->j[1] != touch->j[0], pairs_z = touch->k[touch->count - 1] != touch->k[0];
  PetscReal      wy[2] = {1, 0}, wz[2] = {1, 0};

  if (pairs_y) BetweenWeights(ws, 1, touch->j[0], wy);
  if (pairs_z) BetweenWeights(ws, 2, touch->k[0], wz);
  for (PetscInt q = 0; q < touch->count; q++) factor[q] = wy[touch->j[q] - touch->j[0]] * wz[touch->k[q] - touch->k[0]];
}

static void TensorLine(const Weights *ws, const KCycleTouch *touch, PetscScalar *out)
{
  const Mat_StencilTransfer *tr = ws->tr;
  const PetscInt             n  = tr->coarse->n[0];
  PetscReal                  factor[4], wx[2];

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

/* Which of the coarse points low and low + 1 (0, 1) stand for the two; -1: none, as the next one is beyond an end. Beyond an insulated end stands the last one */
static void Pair(const Weights *ws, PetscInt d, PetscInt low, PetscInt stand[2])
{
  for (int s = 0; s < 2; s++) {
    if (CoarseExists(ws->tr, d, low + s)) stand[s] = s;
    else stand[s] = ws->insulated[2 * d + s] ? 1 - s : -1;
  }
}

/* Linear on simplices: half of the two ends of the edge or diagonal that the point halves */
static void SimplexLine(const Weights *ws, const KCycleTouch *touch, PetscScalar *out)
{
  const Mat_StencilTransfer *tr = ws->tr;
  const PetscInt             n = tr->coarse->n[0], last = touch->count - 1;
  PetscInt                   x[2], y[2] = {0, 0}, z[2] = {0, 0};

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
static PetscScalar Mask(const Weights *ws, PetscInt i, PetscInt j, PetscInt k)
{
  const KCycleBox *box = ws->tr->fine;
  const PetscInt   e   = KCycleBoxExtended(box, j, k);

  if (i < 0) return box->ends ? ws->maskhalo[box->left + e] : 0;
  if (i >= box->n[0]) return box->ends ? ws->maskhalo[box->right + e] : 0;
  if (box->slot[e] == 0) return 0;
  return KCycleBoxLine(box, ws->mask, ws->maskhalo, j, k)[i];
}

static void ApplyMask(const Weights *ws, const KCycleTouch *touch, PetscInt j, PetscInt k, PetscScalar *out)
{
  const Mat_StencilTransfer *tr = ws->tr;
  const PetscInt             n = tr->coarse->n[0], f = tr->factor[0];

  for (PetscInt q = 0; q < touch->count; q++) {
    const PetscInt jj = touch->j[q] * tr->factor[1] + tr->shift[1], kk = touch->k[q] * tr->factor[2] + tr->shift[2];
    PetscScalar   *same = out + q * tr->stride + 1, *left = same + n + 2, *right = left + n + 1;

    for (PetscInt i = 0; i < n; i++) same[i] *= Mask(ws, f * i + tr->shift[0], j, k) * Mask(ws, f * i + tr->shift[0], jj, kk);
    for (PetscInt i = -1; i < n && f == 2; i++) {
      const PetscInt    at   = 2 * i + 1 + tr->shift[0];
      const PetscScalar mine = at < 0 || at >= tr->fine->n[0] ? 0 : Mask(ws, at, j, k);

      left[i] *= mine == (PetscScalar)0.0 ? 0 : Mask(ws, at - 1, jj, kk);
      right[i] *= mine == (PetscScalar)0.0 ? 0 : Mask(ws, at + 1, jj, kk);
    }
  }
}

/* Weights of an owned line by rule; those of points that the process does not own are zero */
static PetscErrorCode RuleLine(const Weights *ws, PetscInt j, PetscInt k, KCycleTouch *touch)
{
  const Mat_StencilTransfer *tr = ws->tr;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(ws->temp, 4 * tr->stride));
  KCycleTransferTouch(tr, j, k, touch);
  if (ws->interpolation == KCYCLE_INTERPOLATION_SIMPLEX) SimplexLine(ws, touch, ws->temp);
  else TensorLine(ws, touch, ws->temp);
  if (ws->mask) ApplyMask(ws, touch, j, k, ws->temp);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt ListKey(const PetscScalar v[], PetscInt n)
{
  unsigned long h = 7;

  for (PetscInt i = 0; i < n; i++) {
    const double  value = (double)PetscRealPart(v[i]);
    unsigned long bits;

    memcpy(&bits, &value, sizeof(bits));
    h = (h ^ bits) * 1099511628211UL;
    h ^= h >> 29;
  }
  return (PetscInt)(h & 0x3fffffff);
}

/* Keeps one list of weights, or finds that it is kept already */
static PetscErrorCode StoreList(Weights *ws, const PetscScalar v[], const PetscScalar *likely, const PetscScalar **kept)
{
  Mat_StencilTransfer *tr   = ws->tr;
  PetscBool            zero = PETSC_TRUE;
  PetscInt             key, number;

  PetscFunctionBegin;
  *kept = likely;
  if (likely && !memcmp(likely, v, tr->stride * sizeof(*v))) PetscFunctionReturn(PETSC_SUCCESS);
  *kept = NULL;
  for (PetscInt i = 0; i < tr->stride && zero; i++) zero = (PetscBool)(v[i] == (PetscScalar)0.0);
  if (zero) PetscFunctionReturn(PETSC_SUCCESS);
  key = ListKey(v, tr->stride);
  PetscCall(PetscHMapIGet(ws->map, key, &number));
  if (number >= 0 && !memcmp(tr->list[number], v, tr->stride * sizeof(*v))) {
    *kept = tr->list[number];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (tr->nlists == tr->maxlists) {
    tr->maxlists = PetscMax(16, 2 * tr->maxlists);
    PetscCall(PetscRealloc(tr->maxlists * sizeof(*tr->list), &tr->list));
  }
  if (number < 0) PetscCall(PetscHMapISet(ws->map, key, tr->nlists));
  PetscCall(PetscMalloc1(tr->stride, &tr->list[tr->nlists]));
  PetscCall(PetscArraycpy(tr->list[tr->nlists], v, tr->stride));
  *kept = tr->list[tr->nlists++];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two lines further there is a line of the same kind */
static PetscErrorCode StoreLine(Weights *ws, PetscInt j, PetscInt k, const KCycleTouch *touch)
{
  Mat_StencilTransfer *tr = ws->tr;
  const PetscInt       e  = KCycleBoxExtended(tr->fine, j, k);

  PetscFunctionBegin;
  for (PetscInt q = 0; q < touch->count; q++) {
    const PetscScalar *likely = j >= 2 ? tr->weights[4 * (e - 2) + q] : NULL;

    PetscCall(StoreList(ws, ws->temp + q * tr->stride, likely, &tr->weights[4 * e + q]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Slot s: the coarse point that is further in x (bit 0), y (bit 1), z (bit 2) than the point's base */
static PetscInt Slot(const KCycleTouch *touch, PetscInt q, PetscInt x)
{
  return x + 2 * (touch->j[q] - touch->j[0]) + 4 * (touch->k[q] - touch->k[0]);
}

static void LineToSlots(const Weights *ws, PetscInt j, PetscInt k, const KCycleTouch *touch)
{
  const Mat_StencilTransfer *tr = ws->tr;
  const PetscInt             n = tr->coarse->n[0], f = tr->factor[0], nf = tr->fine->n[0];

  for (PetscInt q = 0; q < touch->count; q++) {
    const PetscScalar *same = ws->temp + q * tr->stride + 1, *left = same + n + 2, *right = left + n + 1;
    PetscScalar       *low  = ws->slots + (size_t)Slot(touch, q, 0) * tr->fine->npoints + nf * (j + tr->fine->n[1] * k);
    PetscScalar       *high = ws->slots + (size_t)Slot(touch, q, 1) * tr->fine->npoints + nf * (j + tr->fine->n[1] * k);

    for (PetscInt i = 0; i < n; i++) low[f * i + tr->shift[0]] = same[i];
    for (PetscInt i = -1; i < n && f == 2; i++) {
      const PetscInt at = 2 * i + 1 + tr->shift[0];

      if (at < 0 || at >= nf) continue;
      low[at]  = left[i];
      high[at] = right[i];
    }
  }
}

/* The value of a slot at a point relative to the owned box */
static PetscScalar SlotValue(const Weights *ws, PetscInt s, PetscInt i, PetscInt j, PetscInt k)
{
  const KCycleBox   *box  = ws->tr->fine;
  const PetscScalar *halo = ws->slothalos + (size_t)s * box->nhalo;
  const PetscInt     e    = KCycleBoxExtended(box, j, k);

  if (i < 0) return box->ends ? halo[box->left + e] : 0;
  if (i >= box->n[0]) return box->ends ? halo[box->right + e] : 0;
  return KCycleBoxLine(box, ws->slots + (size_t)s * box->npoints, halo, j, k)[i];
}

/* Where a grid of odd size wraps around, coarse points 0 and -1 are neighbours on the fine grid: seen from here the point behind the last one lies between, but it coincides with the next coarse one */
static PetscBool Wraps(const Mat_StencilTransfer *tr, PetscInt d, PetscInt at)
{
  const KCycleBox *box = tr->fine;

  return (PetscBool)(box->periodic[d] && tr->factor[d] == 2 && box->size[d] % 2 == 1 && at == box->n[d] && box->start[d] + box->n[d] == box->size[d]);
}

/* The slot of a halo point for coarse line q of those that its line touches, further in x or not; -1: its weight is zero */
static PetscInt SlotSeen(const Mat_StencilTransfer *tr, const KCycleTouch *touch, PetscInt q, PetscInt x, const PetscInt at[])
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

static PetscScalar WeightSeen(const Weights *ws, const KCycleTouch *touch, PetscInt q, PetscInt x, const PetscInt at[])
{
  const PetscInt slot = at[0] < -1 || at[0] > ws->tr->fine->n[0] ? -1 : SlotSeen(ws->tr, touch, q, x, at);

  return slot < 0 ? 0 : SlotValue(ws, slot, at[0], at[1], at[2]);
}

/* Weights of points on owned lines, by far the most, without the questions that the others need */
static void InnerSlotsToLine(const Weights *ws, PetscInt j, PetscInt k, const KCycleTouch *touch, PetscInt q, PetscScalar *same, PetscScalar *left, PetscScalar *right)
{
  const KCycleBox   *box = ws->tr->fine;
  const PetscInt     n = ws->tr->coarse->n[0], f = ws->tr->factor[0], at = ws->tr->shift[0] + box->n[0] * (j + box->n[1] * k);
  const PetscScalar *low = ws->slots + (size_t)Slot(touch, q, 0) * box->npoints + at, *high = ws->slots + (size_t)Slot(touch, q, 1) * box->npoints + at;

  for (PetscInt i = 0; i < n; i++) same[i] = low[f * i];
  for (PetscInt i = 0; f == 2 && i < n - 1; i++) {
    left[i]  = low[2 * i + 1];
    right[i] = high[2 * i + 1];
  }
}

static void SlotsToLine(const Weights *ws, PetscInt j, PetscInt k, const KCycleTouch *touch)
{
  const Mat_StencilTransfer *tr  = ws->tr;
  const KCycleBox           *box = tr->fine;
  const PetscInt             n = tr->coarse->n[0], f = tr->factor[0];
  const PetscBool            inner = (PetscBool)(j >= 0 && j < box->n[1] && k >= 0 && k < box->n[2]);

  for (PetscInt q = 0; q < touch->count; q++) {
    PetscScalar *same = ws->temp + q * tr->stride + 1, *left = same + n + 2, *right = left + n + 1;

    if (inner) InnerSlotsToLine(ws, j, k, touch, q, same, left, right);
    for (PetscInt i = -1; i <= n; i += inner ? n + 1 : 1) {
      const PetscInt at[3] = {f * i + tr->shift[0], j, k};

      same[i] = WeightSeen(ws, touch, q, 0, at);
    }
    for (PetscInt i = -1; i < n && f == 2; i += inner ? n : 1) {
      const PetscInt at[3] = {2 * i + 1 + tr->shift[0], j, k};

      left[i]  = WeightSeen(ws, touch, q, 0, at);
      right[i] = WeightSeen(ws, touch, q, 1, at);
    }
  }
}

PetscErrorCode KCycleSlotsExchange(const Mat_StencilTransfer *tr, PetscScalar *slots, PetscScalar *halos)
{
  PetscFunctionBegin;
  for (PetscInt s = 0; s < 8; s++) {
    PetscCall(KCycleBoxExchange(tr->fine, PETSC_TRUE, slots + (size_t)s * tr->fine->npoints, halos + (size_t)s * tr->fine->nhalo));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Weights of all lines, halo lines included, from slots: where neighbours' weights are needed, or weights come point by point */
static PetscErrorCode WeightsThroughSlots(Weights *ws, Mat P, Mat A)
{
  Mat_StencilTransfer *tr  = ws->tr;
  const KCycleBox     *box = tr->fine;
  KCycleTouch          touch;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1((size_t)8 * box->npoints, &ws->slots));
  PetscCall(PetscCalloc1((size_t)8 * box->nhalo, &ws->slothalos));
  if (ws->interpolation == KCYCLE_INTERPOLATION_OPERATOR) PetscCall(KCycleOperatorWeights(P, A, ws->mask, ws->maskhalo, ws->slots, ws->slothalos));
  else {
    for (PetscInt k = 0; k < box->n[2]; k++) {
      for (PetscInt j = 0; j < box->n[1]; j++) {
        PetscCall(RuleLine(ws, j, k, &touch));
        LineToSlots(ws, j, k, &touch);
      }
    }
    PetscCall(KCycleSlotsExchange(tr, ws->slots, ws->slothalos));
  }
  for (PetscInt k = -box->reach[2]; k < box->n[2] + box->reach[2]; k++) {
    for (PetscInt j = -box->reach[1]; j < box->n[1] + box->reach[1]; j++) {
      if (box->slot[KCycleBoxExtended(box, j, k)] == 0) continue;
      PetscCall(PetscArrayzero(ws->temp, 4 * tr->stride));
      KCycleTransferTouch(tr, j, k, &touch);
      SlotsToLine(ws, j, k, &touch);
      PetscCall(StoreLine(ws, j, k, &touch));
    }
  }
  PetscCall(PetscFree(ws->slots));
  PetscCall(PetscFree(ws->slothalos));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the weights of a line depend on; lines that agree have the same. The kind of a line of the matrix tells its mask */
typedef struct {
  PetscInt  kind[5];
  PetscReal factor[4];
} LineSign;

static void SignLine(const Weights *ws, const Mat_Stencil *st, const KCycleTouch *touch, PetscInt j, PetscInt k, LineSign *sign)
{
  const KCycleBox *box = ws->tr->fine;

  memset(sign, 0, sizeof(*sign));
  LineFactors(ws, touch, sign->factor);
  for (PetscInt q = 0; ws->mask && q <= touch->count; q++) {
    const PetscInt  jj = q ? touch->j[q - 1] * ws->tr->factor[1] + ws->tr->shift[1] : j, kk = q ? touch->k[q - 1] * ws->tr->factor[2] + ws->tr->shift[2] : k;
    const PetscBool inside = (PetscBool)(jj >= 0 && jj < box->n[1] && kk >= 0 && kk < box->n[2]);

    sign->kind[q] = inside ? st->kind[jj + box->n[1] * kk] : -3;
    if (sign->kind[q] == -1) sign->kind[0] = -2;
  }
}

/* A line is like the one two lines or two planes before, or is worked out */
static PetscErrorCode WeightsByLine(Weights *ws, Mat A)
{
  Mat_StencilTransfer *tr  = ws->tr;
  const KCycleBox     *box = tr->fine;
  LineSign            *signs[2];
  KCycleTouch          touch;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(box->n[1], &signs[0], box->n[1], &signs[1]));
  for (PetscInt k = 0; k < box->n[2]; k++) {
    for (PetscInt j = 0; j < box->n[1]; j++) {
      const PetscInt e = KCycleBoxExtended(box, j, k), plane = box->n[1] + 2 * box->reach[1];
      LineSign       now;
      PetscInt       like = -1;

      KCycleTransferTouch(tr, j, k, &touch);
      SignLine(ws, (Mat_Stencil *)A->data, &touch, j, k, &now);
      if (now.kind[0] != -2 && j > 1 && !memcmp(&now, &signs[k & 1][j - 2], sizeof(now))) like = e - 2;
      else if (now.kind[0] != -2 && k > 1 && !memcmp(&now, &signs[k & 1][j], sizeof(now))) like = e - 2 * plane;
      if (like >= 0) PetscCall(PetscArraycpy(&tr->weights[4 * e], &tr->weights[4 * like], 4));
      else {
        PetscCall(RuleLine(ws, j, k, &touch));
        PetscCall(StoreLine(ws, j, k, &touch));
      }
      signs[k & 1][j] = now;
    }
  }
  PetscCall(PetscFree2(signs[0], signs[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The mask of the points of a matrix, or NULL if all of them are coupled to others */
PetscErrorCode KCycleMaskCreate(Mat A, PetscScalar **mask, PetscScalar **halo)
{
  Mat_Stencil      *st  = (Mat_Stencil *)A->data;
  const KCycleBox  *box = st->box;
  const PetscInt    n   = box->n[0];
  PetscScalar      *values;
  PetscInt          last = -1;
  const KCycleScan *scan;

  PetscFunctionBegin;
  *mask = *halo = NULL;
  PetscCall(MatStencilScan(A, &scan));
  if (!scan->alone) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(st->shape.ncoeffs * n, &values));
  PetscCall(PetscMalloc1(box->npoints, mask));
  for (PetscInt line = 0; line < box->nlines; line++) {
    PetscScalar *m = *mask + (size_t)line * n;

    if (MatStencilLineIsLast(st, line, last)) {
      PetscCall(PetscArraycpy(m, *mask + (size_t)last * n, n));
      continue;
    }
    last = line;
    PetscCall(MatStencilGetLine(A, line, values));
    for (PetscInt i = 0; i < n; i++) m[i] = 0;
    for (int o = 0; o < st->shape.ncoeffs; o++) {
      for (PetscInt i = 0; o != st->shape.ncoeffs / 2 && i < n; i++) m[i] = values[o * n + i] != (PetscScalar)0.0 ? 1 : m[i];
    }
  }
  PetscCall(PetscFree(values));
  PetscCall(KCycleBoxHaloCreate(box, halo));
  PetscCall(KCycleBoxExchange(box, PETSC_TRUE, *mask, *halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* insulated: through which ends of the grid no flux leaves, low and high of each direction; A: the operator on the fine grid */
PetscErrorCode MatStencilTransferSetWeights(Mat P, KCycleInterpolation interpolation, const PetscBool insulated[], Mat A)
{
  Mat_StencilTransfer *tr = (Mat_StencilTransfer *)P->data;
  Weights              ws = {tr, interpolation, insulated, NULL, NULL, NULL, NULL, NULL, NULL};

  PetscFunctionBegin;
  PetscCall(MatStencilTransferResetWeights(P));
  tr->interpolation = interpolation;
  PetscCall(KCycleMaskCreate(A, &ws.mask, &ws.maskhalo));
  PetscCall(PetscMalloc1(4 * tr->stride, &ws.temp));
  PetscCall(PetscHMapICreate(&ws.map));
  if (KCycleBoxTalks(tr->fine) || interpolation == KCYCLE_INTERPOLATION_OPERATOR) PetscCall(WeightsThroughSlots(&ws, P, A));
  else PetscCall(WeightsByLine(&ws, A));
  PetscCall(PetscHMapIDestroy(&ws.map));
  PetscCall(PetscFree(ws.temp));
  PetscCall(PetscFree(ws.mask));
  PetscCall(PetscFree(ws.maskhalo));
  PetscCall(PetscObjectStateIncrease((PetscObject)P));
  PetscFunctionReturn(PETSC_SUCCESS);
}
