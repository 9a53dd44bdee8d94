/*
  Interpolation and restriction of one line, or of its points of even or odd index.
*/
#include <petsckcycle/private/kernelimpl.h>

/* Further away than any line of a process */
#define KC_FAR ((PetscInt)1 << 30)

/* The coarse lines that fine line (j, k) touches, in the numbering of the owned boxes, halo lines included */
void KCycleTransferTouch(const KCycleTransfer *tr, PetscInt j, PetscInt k, KCycleTouch *touch)
{
  const PetscInt e = KCycleBoxExtended(tr->fine, j, k);
  PetscInt       low[2], count[2];

  low[0]       = KCycleTouched(tr->factor[1], tr->shift[1], j, &count[0]);
  low[1]       = KCycleTouched(tr->factor[2], tr->shift[2], k, &count[1]);
  touch->count = 0;
  for (PetscInt kk = 0; kk < count[1]; kk++) {
    for (PetscInt jj = 0; jj < count[0]; jj++) {
      const PetscInt q = touch->count++;

      touch->j[q] = low[0] + jj;
      touch->k[q] = low[1] + kk;
      touch->w[q] = KCycleTransferWeights(tr, KCycleTransferSets(tr, e)[q]);
    }
  }
}

/* The first coarse line at fine line j or after it */
static PetscInt CoarseFrom(const KCycleTransfer *tr, PetscInt j)
{
  return tr->factor[1] == 1 ? j - tr->shift[1] : KCycleFloorHalf(j - tr->shift[1] + 1);
}

/*
  Restriction adds several fine lines to one coarse line. So each thread has a share of the coarse lines, in y, and
  takes all fine lines that these touch: what is between the shares of two threads is read by both. Of fine lines low to
  high - 1, threads share out of which first and end are this thread's
*/
void KCycleTransferShare(const KCycleTransfer *tr, PetscInt low, PetscInt high, KCycleTransferLines *lines)
{
  const PetscInt factor = tr->factor[1], shift = tr->shift[1];
  const int      me = KCycleThread();

  lines->low[1] = lines->low[0] = lines->own = -KC_FAR;
  lines->high[1] = lines->high[0] = KC_FAR;
  if (me > 0) {
    lines->low[1] = CoarseFrom(tr, KCycleShareStart(low, high, me));
    lines->low[0] = factor * lines->low[1] + shift - (factor - 1);
    lines->own    = factor * lines->low[1] + shift; /* where the lines of the thread before it end */
  }
  if (me < KCycleTeam() - 1) {
    lines->high[1] = CoarseFrom(tr, KCycleShareStart(low, high, me + 1));
    lines->high[0] = factor * (lines->high[1] - 1) + shift + factor;
  }
}

/* Which points between coarse ones this process owns: the one before its first coarse point, the one after its last */
static void OwnedBetween(const KCycleTransfer *tr, PetscBool *before, PetscBool *behind)
{
  *before = (PetscBool)(tr->shift[0] > 0);
  *behind = (PetscBool)(2 * (tr->coarse->n[0] - 1) + tr->shift[0] + 1 < tr->fine->n[0]);
}

/* Points 2 I and 2 I + 1 of x (x starts at the first coarse point) from one coarse line */
KC_VERSIONS static void AddPairs(PetscInt n, const KCScalar *same, const KCScalar *left, const KCScalar *right,
                                 const KCScalar *e, KCScalar *KC_RESTRICT x)
{
  for (PetscInt i = 0; i < n; i++) {
    x[2 * i] += same[i] * e[i];
    x[2 * i + 1] += left[i] * e[i] + right[i] * e[i + 1];
  }
}

KC_VERSIONS static void RestrictPairs(PetscInt n, const KCScalar *same, const KCScalar *left, const KCScalar *right,
                                      const KCScalar *KC_RESTRICT r, KCScalar *KC_RESTRICT b)
{
  for (PetscInt i = 0; i < n; i++) b[i] += right[i - 1] * r[2 * i - 1] + same[i] * r[2 * i] + left[i] * r[2 * i + 1];
}

/* The same from and to two coarse lines whose weights are the same */
KC_VERSIONS static void AddPairsOfTwo(PetscInt n, const KCScalar *same, const KCScalar *left, const KCScalar *right,
                                      const KCScalar *e, const KCScalar *f, KCScalar *KC_RESTRICT x)
{
  for (PetscInt i = 0; i < n; i++) {
    const KCScalar here = e[i] + f[i], behind = e[i + 1] + f[i + 1];

    x[2 * i] += same[i] * here;
    x[2 * i + 1] += left[i] * here + right[i] * behind;
  }
}

KC_VERSIONS static void RestrictPairsToTwo(PetscInt n, const KCScalar *same, const KCScalar *left,
                                           const KCScalar *right, const KCScalar *KC_RESTRICT r,
                                           KCScalar *KC_RESTRICT b, KCScalar *KC_RESTRICT c)
{
  for (PetscInt i = 0; i < n; i++) {
    const KCScalar sum = right[i - 1] * r[2 * i - 1] + same[i] * r[2 * i] + left[i] * r[2 * i + 1];

    b[i] += sum;
    c[i] += sum;
  }
}

KC_VERSIONS static void AddSame(PetscInt n, const KCScalar *w, const KCScalar *e, KCScalar *KC_RESTRICT x)
{
  for (PetscInt i = 0; i < n; i++) x[i] += w[i] * e[i];
}

/* x += P e on one fine line: from coarse line e with the points before and after it, or from the sum of lines e and f.
   Such lines have the same weights, and do not reach other processes. f: or NULL */
static void InterpolateFromLine(const KCycleTransfer *tr, const KCScalar *w, const KCScalar *e, const KCScalar *f,
                                KCScalar before, KCScalar behind, KCScalar *x)
{
  const PetscInt  n = tr->coarse->n[0], shift = tr->shift[0];
  const KCScalar *same = KCycleWeightsSame(w), *left = KCycleWeightsLeft(w, n), *right = KCycleWeightsRight(w, n);
  const KCScalar  head = f ? e[0] + f[0] : e[0], tail = f ? e[n - 1] + f[n - 1] : e[n - 1];
  PetscBool       first, last;

  if (tr->factor[0] == 1) {
    AddSame(n, same, e, x);
    return;
  }
  OwnedBetween(tr, &first, &last);
  if (first) x[0] += left[-1] * before + right[-1] * head;
  if (f) AddPairsOfTwo(n - 1, same, left, right, e, f, x + shift);
  else AddPairs(n - 1, same, left, right, e, x + shift);
  x[2 * (n - 1) + shift] += same[n - 1] * tail;
  if (last) x[2 * (n - 1) + shift + 1] += left[n - 1] * tail + right[n - 1] * behind;
}

/* Is there nothing to be done with coarse line number q of those that a fine line touches? */
static PetscBool IsNone(const KCycleTransfer *tr, const KCycleTouch *touch, PetscInt q)
{
  return (PetscBool)(!touch->w[q] || tr->coarse->offset[KCycleBoxExtended(tr->coarse, touch->j[q], touch->k[q])] == 0);
}

/* Or is it no line of this thread's? */
static PetscBool IsOthers(const KCycleTouch *touch, PetscInt q, const KCycleTransferLines *lines)
{
  return (PetscBool)(touch->j[q] < lines->low[1] || touch->j[q] >= lines->high[1]);
}

/* Are this coarse line and the next one that a fine line touches done together? */
static PetscBool AreTwo(const KCycleTransfer *tr, const KCycleTouch *touch, PetscInt q)
{
  const KCycleBox *box = tr->coarse;

  return (PetscBool)(q + 1 < touch->count && tr->factor[0] == 2 && !box->xhalo && touch->w[q] == touch->w[q + 1] &&
                     box->offset[KCycleBoxExtended(box, touch->j[q], touch->k[q])] &&
                     box->offset[KCycleBoxExtended(box, touch->j[q + 1], touch->k[q + 1])]);
}

/* Fine line (j, k) of x = P e or x += P e; halo lines of e are in tr->halo */
void KCycleTransferInterpolateLine(const KCycleTransfer *tr, const KCScalar *e, PetscInt j, PetscInt k, PetscBool add,
                                   KCScalar *x)
{
  const KCycleBox *box = tr->coarse;
  KCycleTouch      touch;

  if (!add) {
    for (PetscInt i = 0; i < tr->fine->n[0]; i++) x[i] = 0;
  }
  KCycleTransferTouch(tr, j, k, &touch);
  for (PetscInt q = 0; q < touch.count; q++) {
    const PetscInt  f    = KCycleBoxExtended(box, touch.j[q], touch.k[q]);
    const KCScalar *line = KCycleBoxLine(box, e, tr->halo, touch.j[q], touch.k[q]), *next = NULL;
    const KCScalar *w = touch.w[q];

    if (IsNone(tr, &touch, q)) continue;
    if (AreTwo(tr, &touch, q)) {
      q++;
      next = KCycleBoxLine(box, e, tr->halo, touch.j[q], touch.k[q]);
    }
    InterpolateFromLine(tr, w, line, next, box->xhalo ? tr->halo[box->left + f] : 0,
                        box->xhalo ? tr->halo[box->right + f] : 0, x);
  }
}

/* Of b += P^T r of one fine line the first coarse point and the last one; before and behind: the coarse points there,
   which other processes may own */
static void RestrictEnds(const KCycleTransfer *tr, const KCScalar *w, const KCScalar *r, KCScalar *before,
                         KCScalar *behind, KCScalar *b)
{
  const PetscInt  n    = tr->coarse->n[0];
  const KCScalar *same = KCycleWeightsSame(w), *left = KCycleWeightsLeft(w, n), *right = KCycleWeightsRight(w, n);
  PetscBool       first, last;

  OwnedBetween(tr, &first, &last);
  if (first) {
    *before += left[-1] * r[-1];
    b[0] += right[-1] * r[-1];
  }
  if (last) {
    *behind += right[n - 1] * r[2 * n - 1];
    b[n - 1] += left[n - 1] * r[2 * n - 1];
  }
  if (n == 1) {
    b[0] += same[0] * r[0];
    return;
  }
  b[0] += same[0] * r[0] + left[0] * r[1];
  b[n - 1] += right[n - 2] * r[2 * n - 3] + same[n - 1] * r[2 * n - 2];
}

/* To coarse line b with the points before and after it. Line c, unless it is NULL, has the same weights, and gets the
   same numbers */
static void RestrictToLine(const KCycleTransfer *tr, const KCScalar *w, const KCScalar *r, KCScalar *before,
                           KCScalar *behind, KCScalar *b, KCScalar *c)
{
  const PetscInt  n    = tr->coarse->n[0];
  const KCScalar *same = KCycleWeightsSame(w), *left = KCycleWeightsLeft(w, n), *right = KCycleWeightsRight(w, n);

  if (tr->factor[0] == 1) {
    AddSame(n, same, r, b);
    return;
  }
  r += tr->shift[0];
  RestrictEnds(tr, w, r, before, behind, b);
  if (c) RestrictEnds(tr, w, r, before, behind, c);
  if (n == 1) return;
  if (c) RestrictPairsToTwo(n - 2, same + 1, left + 1, right + 1, r + 2, b + 1, c + 1);
  else RestrictPairs(n - 2, same + 1, left + 1, right + 1, r + 2, b + 1);
}

/* Adds what fine line (j, k) of r gives to the given coarse lines of b = P^T r; shares of other processes' points
   gather in tr->halo */
void KCycleTransferRestrictLine(const KCycleTransfer *tr, const KCScalar *r, PetscInt j, PetscInt k,
                                const KCycleTransferLines *lines, KCScalar *b)
{
  const KCycleBox *box        = tr->coarse;
  KCScalar         nowhere[2] = {0, 0};
  KCycleTouch      touch;

  KCycleTransferTouch(tr, j, k, &touch);
  for (PetscInt q = 0; q < touch.count; q++) {
    const PetscInt  f    = KCycleBoxExtended(box, touch.j[q], touch.k[q]);
    KCScalar       *line = (KCScalar *)KCycleBoxLine(box, b, tr->halo, touch.j[q], touch.k[q]), *next = NULL;
    const KCScalar *w = touch.w[q];

    if (IsNone(tr, &touch, q) || IsOthers(&touch, q, lines)) continue;
    if (AreTwo(tr, &touch, q) && !IsOthers(&touch, q + 1, lines)) {
      q++;
      next = (KCScalar *)KCycleBoxLine(box, b, tr->halo, touch.j[q], touch.k[q]);
    }
    RestrictToLine(tr, w, r, box->xhalo ? &tr->halo[box->left + f] : &nowhere[0],
                   box->xhalo ? &tr->halo[box->right + f] : &nowhere[1], line, next);
  }
}

KC_VERSIONS static void AddBetween(PetscInt n, const KCScalar *left, const KCScalar *right, const KCScalar *e,
                                   KCScalar *KC_RESTRICT x)
{
  for (PetscInt i = 0; i < n; i++) x[i] += left[i] * e[i] + right[i] * e[i + 1];
}

KC_VERSIONS static void RestrictBetween(PetscInt n, const KCScalar *left, const KCScalar *right, const KCScalar *r,
                                        KCScalar *KC_RESTRICT b)
{
  for (PetscInt i = 0; i < n; i++) b[i] += right[i - 1] * r[i - 1] + left[i] * r[i];
}

/* From every second point to points side by side, and back */
KC_VERSIONS static void AddSecond(PetscInt n, const KCScalar *w, const KCScalar *e, KCScalar *KC_RESTRICT x)
{
  for (PetscInt i = 0; i < n; i++) x[i] += w[2 * i] * e[2 * i];
}

KC_VERSIONS static void RestrictSecond(PetscInt n, const KCScalar *w, const KCScalar *r, KCScalar *KC_RESTRICT b)
{
  for (PetscInt i = 0; i < n; i++) b[2 * i] += w[2 * i] * r[i];
}

/* The same for the points of one parity of a line, which lie side by side. Lines do not reach other processes, nor
   wrap around */
static void InterpolateHalfFromLine(const KCycleTransfer *tr, const KCScalar *w, const KCScalar *e, PetscInt parity,
                                    KCScalar *x)
{
  const PetscInt  n = tr->coarse->n[0], shift = tr->shift[0];
  const KCScalar *same = KCycleWeightsSame(w), *left = KCycleWeightsLeft(w, n), *right = KCycleWeightsRight(w, n);
  PetscBool       first, last;

  if (tr->factor[0] == 1) AddSecond((n + 1 - parity) / 2, same + parity, e + parity, x);
  else if (parity == shift) AddSame(n, same, e, x);
  else {
    OwnedBetween(tr, &first, &last);
    if (first) x[0] += right[-1] * e[0];
    AddBetween(n - 1, left, right, e, x + shift);
    if (last) x[n - 1 + shift] += left[n - 1] * e[n - 1];
  }
}

static void RestrictHalfToLine(const KCycleTransfer *tr, const KCScalar *w, const KCScalar *r, PetscInt parity,
                               KCScalar *b)
{
  const PetscInt  n = tr->coarse->n[0], shift = tr->shift[0];
  const KCScalar *same = KCycleWeightsSame(w), *left = KCycleWeightsLeft(w, n), *right = KCycleWeightsRight(w, n);
  PetscBool       first, last;

  if (tr->factor[0] == 1) RestrictSecond((n + 1 - parity) / 2, same + parity, r, b + parity);
  else if (parity == shift) AddSame(n, same, r, b);
  else {
    OwnedBetween(tr, &first, &last);
    r += shift;
    if (first) b[0] += right[-1] * r[-1];
    if (last) b[n - 1] += left[n - 1] * r[n - 1];
    if (n == 1) return;
    b[0] += left[0] * r[0];
    RestrictBetween(n - 2, left + 1, right + 1, r + 1, b + 1);
    b[n - 1] += right[n - 2] * r[n - 2];
  }
}

void KCycleTransferInterpolateHalf(const KCycleTransfer *tr, const KCScalar *e, PetscInt parity, PetscInt j, PetscInt k,
                                   KCScalar *x)
{
  const KCycleBox *box = tr->coarse;
  KCycleTouch      touch;

  KCycleTransferTouch(tr, j, k, &touch);
  for (PetscInt q = 0; q < touch.count; q++) {
    if (IsNone(tr, &touch, q)) continue;
    InterpolateHalfFromLine(tr, touch.w[q], KCycleBoxLine(box, e, tr->halo, touch.j[q], touch.k[q]), parity, x);
  }
}

void KCycleTransferRestrictHalf(const KCycleTransfer *tr, const KCScalar *r, PetscInt parity, PetscInt j, PetscInt k,
                                const KCycleTransferLines *lines, KCScalar *b)
{
  const KCycleBox *box = tr->coarse;
  KCycleTouch      touch;

  KCycleTransferTouch(tr, j, k, &touch);
  for (PetscInt q = 0; q < touch.count; q++) {
    if (IsNone(tr, &touch, q) || IsOthers(&touch, q, lines)) continue;
    RestrictHalfToLine(tr, touch.w[q], r, parity, (KCScalar *)KCycleBoxLine(box, b, tr->halo, touch.j[q], touch.k[q]));
  }
}
