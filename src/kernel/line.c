/*
  Kernels on one line of a stencil matrix: the hot loops. The compiler makes versions for several vector units of each,
  and the machine that loads the library chooses.
*/
#include "line.h"

static const KCycleLineKernels *KernelsOf(const KCycleShape *shape)
{
  if (shape->box > KC_BOX) return &KCycleLinePrisms[shape->box - KC_BOX - 1];
  return shape->box ? &KCycleLineBoxes[shape->nl == 3 ? 0 : 1] : &KCycleLineStars[shape->nl / 2];
}

/* y = A x, b + A x, b - A x or x + w D^-1 (b - A x) on one line; w has one weight for each point. y is no line of x */
void KCycleLineCompute(const KCycleShape *shape, int op, const KCycleLine *l, const KCScalar *b, const KCScalar *w,
                       KCScalar *y)
{
  const KCycleLineKernels *kernels = KernelsOf(shape);

  (*(l->constant ? kernels->constant : kernels->array)[op])(l, b, w, y);
}

/* y = w D^-1 b: a relaxation that starts from zero */
KC_VERSIONS void KCycleLineScale(const KCycleShape *shape, const KCycleLine *l, const KCScalar *KC_RESTRICT b,
                                 const KCScalar *KC_RESTRICT w, KCScalar *KC_RESTRICT y)
{
  const int       diagonal = shape->ncoeffs / 2;
  const PetscInt  n        = l->n;
  const KCScalar *d = l->constant ? NULL : l->c[diagonal], inverse = l->constant ? l->constant->inverse : 0;

  for (PetscInt i = 0; i < l->nhead; i++) y[i] = w[i] * b[i] / l->head[i * shape->ncoeffs + diagonal];
  if (l->constant) {
    for (PetscInt i = l->nhead; i < n - l->ntail; i++) y[i] = w[i] * b[i] * inverse;
  } else {
    for (PetscInt i = l->nhead; i < n - l->ntail; i++) y[i] = w[i] * b[i] / d[i];
  }
  for (PetscInt i = n - l->ntail; i < n; i++)
    y[i] = w[i] * b[i] / l->tail[(i - n + l->ntail) * shape->ncoeffs + diagonal];
}

/* x + w (t - couplings along the line) / d of points at its beginning (side 0) or its end (1), whose coefficients
   lie point by point; y is not x */
static void RelaxEndAlong(const KCycleLine *l, int nc, int side, const KCScalar *t, const KCScalar *w,
                          const KCScalar *x, KCScalar *y)
{
  const KCScalar *c   = side ? l->tail : l->head;
  const PetscInt  low = side ? l->n - l->ntail : 0, high = side ? l->n : l->nhead;

  for (PetscInt i = low; i < high; i++, c += nc) {
    const KCScalar *m = c + nc / 2;
    KCScalar        s = m[0] * x[i];

    if (i > 0) s += m[-1] * x[i - 1];
    if (i < l->n - 1) s += m[1] * x[i + 1];
    y[i] = w[i] == (KCScalar)0.0 ? x[i] : KCyclePointFinish(KC_RELAX, s, t[i], x[i], w[i], 1 / m[0]);
  }
}

KC_VERSIONS static void RelaxAlong(const KCycleLine *l, int nc, const KCScalar *t, const KCScalar *w, const KCScalar *x,
                                   KCScalar *KC_RESTRICT y)
{
  const PetscInt a = l->nhead, n = l->n - l->ntail;
  const int      mid = nc / 2;

  RelaxEndAlong(l, nc, 0, t, w, x, y);
  if (l->constant) {
    const KCScalar *c = l->constant->middle + mid - 1, inverse = l->constant->inverse;

    for (PetscInt i = a; i < n; i++)
      y[i] = KCyclePointFinish(KC_RELAX, KCyclePointSumConstant(1, 0, c, &x, i), t[i], x[i], w[i], inverse);
  } else {
    const KCScalar *const c[3] = {l->c[mid - 1], l->c[mid], l->c[mid + 1]};

    for (PetscInt i = a; i < n; i++)
      y[i] = KCyclePointFinish(KC_RELAX, KCyclePointSum(1, 0, c, &x, i), t[i], x[i], w[i], 1 / c[1][i]);
  }
  RelaxEndAlong(l, nc, 1, t, w, x, y);
}

/* Relaxes the points of weights first of line x, then those of weights second, in place. Other lines do not change
   meanwhile: their share is summed up once. work: two lines. For boxes that no process boundary cuts across lines */
void KCycleLineRelaxBoth(const KCycleStencil *st, KCycleLine *l, const KCScalar *b, const KCScalar *first,
                         const KCScalar *second, KCScalar *work, KCScalar *x)
{
  l->x[st->shape.nl / 2] = st->zeros;
  KCycleLineCompute(&st->shape, KC_RESIDUAL, l, b, NULL, work);
  RelaxAlong(l, st->shape.ncoeffs, work, first, x, work + l->n);
  RelaxAlong(l, st->shape.ncoeffs, work, second, work + l->n, x);
}

/* Coefficient arrays of the points 1 to n - 2 of a line that has its own block */
static void BlockCoefficients(const KCycleStencil *st, PetscInt j, PetscInt k, const KCScalar *block, KCycleLine *l)
{
  const KCycleShape *shape = &st->shape;
  const PetscInt     n     = st->box->n[0];
  const int          half  = st->half ? shape->ncoeffs / 2 : 0;
  const KCScalar    *from  = NULL;
  int                first = 0; /* coefficient of this neighbour's line */

  for (int o = half; o < shape->ncoeffs; o++) l->c[o] = block + (o - half) * n;
  for (int o = 0; o < half; o++) {
    const int q = shape->line[o], opposite = shape->ncoeffs - 1 - o;

    if (o == 0 || q != shape->line[o - 1]) {
      from  = KCycleCoefficientsFrom(st, j + shape->dy[q], k + shape->dz[q], opposite);
      first = o;
    }
    l->c[o] = from ? from - (o - first) * n + shape->dx[o] : st->zeros + 1;
  }
  l->end[0] = block + (shape->ncoeffs - half) * n;
  l->end[1] = l->end[0] + shape->ncoeffs;
  l->nnext  = (shape->ncoeffs - shape->ncoeffs / 2) * n; /* the block of the next line follows in memory */
  l->next   = l->c[shape->ncoeffs / 2] + l->nnext;
  l->stride = 1;
  l->head   = l->end[0];
  l->tail   = l->end[1];
  l->nhead  = 1;
  l->ntail  = n > 1;
}

/* The coefficients of line (j, k) */
void KCycleLineCoefficients(const KCycleStencil *st, PetscInt j, PetscInt k, KCycleLine *l)
{
  const PetscInt n = st->box->n[0], set = KCycleClassOf(st, j, k);

  l->n        = n;
  l->nnext    = 0;
  l->next     = NULL;
  l->constant = NULL;
  if (set < 0) {
    BlockCoefficients(st, j, k, KCycleBlock(st, KCycleBoxExtended(st->box, j, k)), l);
    return;
  }
  l->end[0] = KCycleClassCoefficients(st, set);
  l->end[1] = l->end[0] + n - 1;
  l->stride = n;
  l->nhead  = 1;
  l->ntail  = n > 1;
  l->head   = l->end[0] + st->shape.ncoeffs * n;
  if (KCycleClassConstant(st, set)) {
    l->constant = KCycleClassConstant(st, set);
    l->nhead    = l->constant->a;
    l->ntail    = n - l->constant->b;
  }
  l->tail = l->head + l->nhead * st->shape.ncoeffs;
  if (!l->constant) {
    for (int o = 0; o < st->shape.ncoeffs; o++) l->c[o] = l->end[0] + o * n;
  }
}

/* Lines that have all their neighbours on this process, as most have: the neighbours lie at fixed distances */
static PetscBool IsSurrounded(const KCycleBox *box, PetscInt j, PetscInt k)
{
  return (PetscBool)(!box->xhalo && (!box->reach[1] || (j > 0 && j < box->n[1] - 1)) &&
                     (!box->reach[2] || (k > 0 && k < box->n[2] - 1)));
}

/* Line (j, k) of the matrix, and what it reads of x */
void KCycleLineGather(const KCycleStencil *st, const KCScalar *x, const KCScalar *halo, PetscInt j, PetscInt k,
                      KCycleLine *l)
{
  static const KCScalar zeros[KC_MAX_LINES] = {0};
  const KCycleBox      *box                 = st->box;
  const KCycleShape    *shape               = &st->shape;

  KCycleLineCoefficients(st, j, k, l);
  l->left = l->right = zeros;
  if (IsSurrounded(box, j, k)) {
    x += box->n[0] * (j + box->n[1] * k);
    for (int q = 0; q < shape->nl; q++) l->x[q] = x + box->n[0] * (shape->dy[q] + box->n[1] * shape->dz[q]);
    return;
  }
  for (int q = 0; q < shape->nl; q++) {
    const PetscInt jj = j + shape->dy[q], kk = k + shape->dz[q], e = KCycleBoxExtended(box, jj, kk);

    l->x[q] = KCycleBoxLine(box, x, halo, jj, kk);
    if (!box->xhalo) continue;
    l->beyond[q]                = halo[box->left + e];
    l->beyond[KC_MAX_LINES + q] = halo[box->right + e];
  }
  if (!box->xhalo) return;
  l->left  = l->beyond;
  l->right = l->beyond + KC_MAX_LINES;
}

/* The line becomes the part of its points a to b - 1. Points at its ends with their own coefficients are all in the
   part, or none of them */
void KCycleLinePart(const KCycleShape *shape, PetscInt a, PetscInt b, KCycleLine *l)
{
  for (int q = 0; q < shape->nl; q++) l->x[q] += a;
  for (int o = 0; o < shape->ncoeffs && !l->constant; o++) l->c[o] += a;
  if (a > 0) l->nhead = 0;
  if (b < l->n) l->ntail = 0;
  l->n     = b - a;
  l->nnext = 0;
}
