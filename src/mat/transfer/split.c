/*
  Fine lines with points that coincide with coarse ones and those between split, and sums of products along lines: with
  both, loops run along coarse points, and the index of each array differs from that of the loop by a constant.
*/
#include "mattransfer.h"

PetscErrorCode KCycleSplitLinesCreate(Mat A, const KCycleTransfer *tr, KCycleSplitLines *ap)
{
  const KCycleShape *shape = &KCycleStencilOf(A)->shape;

  PetscFunctionBegin;
  ap->A   = A;
  ap->tr  = tr;
  ap->n   = tr->coarse->n[0];
  ap->pad = ap->n + 2;
  for (int i = 0; i < KC_NEAR * KC_NEAR; i++) ap->line[i] = -1;
  PetscCall(PetscCalloc1((size_t)2 * KCycleNearLines(tr->fine) * shape->ncoeffs * ap->pad, &ap->c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSplitLinesDestroy(KCycleSplitLines *ap)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(ap->c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every other point of a line */
KC_VERSIONS static void SplitPoints(PetscInt n, const PetscScalar *KC_RESTRICT from, PetscScalar *KC_RESTRICT even,
                                    PetscScalar *KC_RESTRICT odd)
{
  for (PetscInt i = 0; i < n; i++) {
    even[i] = from[2 * i];
    odd[i]  = from[2 * i + 1];
  }
}

/* Coefficients of an owned fine line; those of other processes' points stay zero */
void KCycleSplitLinesGet(KCycleSplitLines *ap, PetscInt j, PetscInt k, const PetscScalar *c[2])
{
  const KCycleStencil *st = KCycleStencilOf(ap->A);
  const PetscInt       f = ap->tr->factor[0], n = ap->n, shift = ap->tr->shift[0], length = st->shape.ncoeffs * ap->pad,
                 index = j % KC_NEAR + KC_NEAR * (k % KC_NEAR);
  KCycleLine l;

  for (int x = 0; x < 2; x++) c[x] = ap->c + (size_t)(2 * index + x) * length;
  if (ap->line[index] == j + st->box->n[1] * k) return;
  ap->line[index] = j + st->box->n[1] * k;
  MatStencilLineArrays(st, ap->line[index], &l);
  /* the next block */
  if (KCycleClassOfLine(st, ap->line[index]) < 0)
    KCycleFetch((st->shape.ncoeffs - st->shape.ncoeffs / 2) * l.n, l.end[1] + st->shape.ncoeffs);
  for (int o = 0; o < st->shape.ncoeffs; o++) {
    PetscScalar   *to  = ap->c + (size_t)2 * index * length + o * ap->pad + 1;
    const PetscInt end = l.n - 1 - shift; /* the last point, from the first one that coincides */

    if (f == 1) memcpy(to, l.c[o], n * sizeof(*to));
    else SplitPoints(n - 1, l.c[o] + shift, to, to + length);
    if (f == 2) to[n - 1] = l.c[o][2 * (n - 1) + shift];
    to[shift ? length - 1 : 0]                    = l.end[0][o * l.stride];
    to[f == 1 ? end : end / 2 + end % 2 * length] = l.end[1][o * l.stride];
  }
}

/* m products from the first on in one loop, added to y or not */
static inline __attribute__((always_inline)) void AddProducts(const int m, PetscInt n, const KCycleTerms *terms,
                                                              int first, const PetscBool add, PetscScalar *y)
{
  const PetscScalar *p[6], *q[6];

  for (int t = 0; t < m; t++) {
    p[t] = terms->of[first + t].a;
    q[t] = terms->of[first + t].w;
  }
  KC_IVDEP for (PetscInt i = 0; i < n; i++)
  {
    PetscScalar sum = add ? y[i] : 0;

    KC_UNROLL
    for (int t = 0; t < m; t++) sum += p[t][i] * q[t][i];
    y[i] = sum;
  }
}

KC_VERSIONS void KCycleSumOfProducts(const KCycleTerms *terms, PetscInt n, PetscBool add, PetscScalar *y)
{
  for (int first = 0, now; first < terms->m; first += now, add = PETSC_TRUE) {
    const int rest = terms->m - first;

    now = rest > 6 ? (rest < 12 ? rest / 2 : 6) : rest;
    if (now == 1) AddProducts(1, n, terms, first, add, y);
    else if (now == 2) AddProducts(2, n, terms, first, add, y);
    else if (now == 3) AddProducts(3, n, terms, first, add, y);
    else if (now == 4) AddProducts(4, n, terms, first, add, y);
    else if (now == 5) AddProducts(5, n, terms, first, add, y);
    else AddProducts(6, n, terms, first, add, y);
  }
}
