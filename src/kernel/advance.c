/*
  Steps of iterations by polynomials: which kernel is for which shape, and the first step, from zero.
*/
#include "advance.h"

static const KCycleAdvanceKernels *KernelsOf(const KCycleShape *shape)
{
  if (shape->box > KC_BOX) return &KCycleAdvancePrisms[shape->box - KC_BOX - 1];
  return shape->box ? &KCycleAdvanceBoxes[shape->nl == 3 ? 0 : 1] : &KCycleAdvanceStars[shape->nl / 2];
}

/* A step on a line, from `before` and l->x to y, which may be `before`; see KCyclePointStep */
void KCycleAdvanceLine(const KCycleShape *shape, int step, const KCycleLine *l, const KCycleTerm *term,
                       const KCScalar *before, const KCScalar *b, KCScalar *y)
{
  (*KernelsOf(shape)->line[step])(l, term, before, b, y);
}

/* The same on a strip, in 3D of an even number of lines */
void KCycleAdvanceStrip(const KCycleShape *shape, int step, const KCycleTerm *term, const KCycleStrip *s)
{
  const KCycleAdvanceKernels *kernels = KernelsOf(shape);

  (*kernels->strip[step])(term, s);
  (*kernels->own[step])(term, s);
}

/* y = weight D^-1 b */
KC_VERSIONS void KCycleAdvanceFirst(const KCycleShape *shape, const KCycleLine *l, const KCycleTerm *term,
                                    const KCScalar *KC_RESTRICT b, KCScalar *KC_RESTRICT y)
{
  const int       nc = shape->ncoeffs, mid = nc / 2;
  const PetscInt  n = l->n, behind = n - l->ntail;
  const KCScalar *d = l->constant ? NULL : l->c[mid], weight = term->weight,
                 w = l->constant ? weight * KCyclePointInverse(l->constant->middle[mid]) : 0;

  for (PetscInt i = 0; i < l->nhead; i++) y[i] = weight * KCyclePointInverse(l->head[i * nc + mid]) * b[i];
  if (l->constant) {
    for (PetscInt i = l->nhead; i < behind; i++) y[i] = w * b[i];
  } else {
    for (PetscInt i = l->nhead; i < behind; i++) y[i] = weight * KCyclePointInverse(d[i]) * b[i];
  }
  for (PetscInt i = behind; i < n; i++) y[i] = weight * KCyclePointInverse(l->tail[(i - behind) * nc + mid]) * b[i];
}

KC_VERSIONS void KCycleAdvanceStripFirst(const KCycleTerm *term, const KCycleStrip *s)
{
  const PetscInt  n = s->n, first = s->k->a, end = s->k->b;
  const KCScalar *inverse = s->inverse + 1, weight = term->weight, w = weight * s->inverse[0];

  for (PetscInt at = 0; at < s->nlines; at++) {
    const KCScalar *KC_RESTRICT b = s->b + at * s->width;
    KCScalar *KC_RESTRICT       y = s->y + at * s->out;

    KCycleStripFetch(s, at);
    for (PetscInt i = 0; i < end; i++) y[i] = w * b[i];
    for (PetscInt i = 0; i < first; i++) y[i] = weight * inverse[i] * b[i];
    for (PetscInt i = end; i < n; i++) y[i] = weight * inverse[i - end + first] * b[i];
  }
}
