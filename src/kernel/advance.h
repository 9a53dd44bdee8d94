/*
  The kernels of iterations by polynomials, for one shape of the stencil: a step on a line, and on lines after each
  other that share their coefficients. Each file of shapes makes its own with KC_ADVANCE_KERNELS().
*/
#pragma once

#include "line.h"

/* By step. Of strips: the points between the ends of lines, and those at the ends */
typedef struct {
  void (*line[KC_NUM_STEPS])(const KCycleLine *, const KCycleTerm *, const KCScalar *before, const KCScalar *b,
                             KCScalar *y);
  void (*strip[KC_NUM_STEPS])(const KCycleTerm *, const KCycleStrip *);
  void (*own[KC_NUM_STEPS])(const KCycleTerm *, const KCycleStrip *);
} KCycleAdvanceKernels;

PETSC_INTERN const KCycleAdvanceKernels KCycleAdvanceStars[3];  /* of 1, 3 and 5 lines */
PETSC_INTERN const KCycleAdvanceKernels KCycleAdvanceBoxes[2];  /* of 3 and 9 lines */
PETSC_INTERN const KCycleAdvanceKernels KCycleAdvancePrisms[3]; /* along x, y and z */

/* Vectors other than x */
typedef struct {
  const KCScalar *before, *b;
  KCScalar       *y;
} KCycleAdvanceVectors;

/* The points before the first one whose coefficients are in arrays (side 0), or after the last one (1) */
KC_POINT void AdvanceEnds(const int nl, const int box, const int step, const KCycleLine *l, const int side,
                          const KCycleTerm *term, const KCycleAdvanceVectors v)
{
  const KCScalar *c   = side ? l->tail : l->head;
  const PetscInt  low = side ? l->n - l->ntail : 0, high = side ? l->n : l->nhead;

  for (PetscInt i = low; i < high; i++, c += KC_COUNT(nl, box)) {
    v.y[i] = KCyclePointAdvance(step, EndSum(nl, box, l, c, i), v.b[i], l->x[nl / 2][i],
                                step == KC_STEP_NEXT ? v.before[i] : 0, term->keep,
                                term->weight * KCyclePointInverse(c[KC_COUNT(nl, box) / 2]));
  }
}

KC_POINT void AdvanceConstant(const int nl, const int box, const int step, const KCycleLine *l, const KCycleTerm *term,
                              const KCycleAdvanceVectors v)
{
  const KCScalar *b = v.b, *before = v.before, *x[KC_MAX_LINES];
  KCScalar       *y    = v.y, c[KC_MAX_COEFFS];
  const KCScalar  keep = term->keep, w = term->weight * KCyclePointInverse(l->constant->middle[KC_COUNT(nl, box) / 2]);
  const PetscInt  first = l->nhead, end = l->n - l->ntail;

  for (int o = 0; o < KC_COUNT(nl, box); o++) c[o] = l->constant->middle[o];
  for (int q = 0; q < nl; q++) x[q] = l->x[q];
  KC_IVDEP for (PetscInt i = first; i < end; i++)
  {
    y[i] = KCyclePointAdvance(step, KCyclePointSumConstant(nl, box, c, x, i), b[i], x[nl / 2][i],
                              step == KC_STEP_NEXT ? before[i] : 0, keep, w);
  }
}

KC_POINT void AdvanceArray(const int nl, const int box, const int step, const KCycleLine *l, const KCycleTerm *term,
                           const KCycleAdvanceVectors v)
{
  const KCScalar *b = v.b, *before = v.before, *x[KC_MAX_LINES], *c[KC_MAX_COEFFS];
  KCScalar       *y    = v.y;
  const KCScalar  keep = term->keep, weight = term->weight;
  const PetscInt  first = l->nhead, end = l->n - l->ntail;

  for (int o = 0; o < KC_COUNT(nl, box); o++) c[o] = l->c[o];
  KCycleFetch(l->nnext, l->next);
  for (int q = 0; q < nl; q++) x[q] = l->x[q];
  KC_IVDEP for (PetscInt i = first; i < end; i++)
  {
    y[i] = KCyclePointAdvance(step, KCyclePointSum(nl, box, c, x, i), b[i], x[nl / 2][i],
                              step == KC_STEP_NEXT ? before[i] : 0, keep,
                              step == KC_STEP_RESIDUAL ? 0 : weight * KCyclePointInverse(c[KC_COUNT(nl, box) / 2][i]));
  }
}

KC_POINT void AdvanceLine(const int nl, const int box, const int step, const KCycleLine *l, const KCycleTerm *term,
                          const KCycleAdvanceVectors v)
{
  AdvanceEnds(nl, box, step, l, 0, term, v);
  if (l->constant) AdvanceConstant(nl, box, step, l, term, v);
  else AdvanceArray(nl, box, step, l, term, v);
  AdvanceEnds(nl, box, step, l, 1, term, v);
}

/* Line q of the stencil around line `line` of a strip: in 2D planes are lines */
KC_POINT const KCScalar *StripLine(const int nl, const KCycleStrip *s, const int q, const int line, PetscInt at)
{
  const int plane  = nl == 1   ? 1
                     : nl == 3 ? q
                     : nl == 5 ? (q + 2) / 3
                               : q / 3,
            across = line + (nl <= 3 || (nl == 5 && plane != 1) ? 0
                             : nl == 5                          ? q - 2
                                                                : q % 3 - 1);

  return s->x[plane] + at * s->pitch + across * s->pitch;
}

/* For line `line` of a strip */
KC_POINT void KCycleStripFetch(const KCycleStrip *s, PetscInt line)
{
  for (int i = 0; i < 2; i++) {
    if (s->ahead[i]) KCycleFetch(s->nahead, s->ahead[i] + line * s->width);
  }
}

/* What all points between the ends of a strip have in common */
typedef struct {
  KCScalar c[KC_MAX_COEFFS], keep, w;
} KCycleAdvanceNumbers;

/* `lines` of them side by side, from line `at` on: what two of them read is read once. Points at the beginning get
   values that are replaced, so that vectors begin where lines do */
KC_POINT void AdvanceBeside(const int nl, const int box, const int step, const int lines, const KCycleStrip *s,
                            PetscInt at, const KCycleAdvanceNumbers *k)
{
  const KCScalar *x[2][KC_MAX_LINES], *b[2], *before[2], keep = k->keep, w = k->w;
  KCScalar       *y[2];
  const PetscInt  end = s->k->b;

  KC_UNROLL
  for (int line = 0; line < lines; line++) {
    KC_UNROLL
    for (int q = 0; q < nl; q++) x[line][q] = StripLine(nl, s, q, line, at);
    b[line]      = s->b + (at + line) * s->width;
    before[line] = step == KC_STEP_NEXT ? s->before + (at + line) * s->pitch : NULL;
    y[line]      = s->y + (at + line) * s->out;
    KCycleStripFetch(s, at + line);
  }
  KC_IVDEP for (PetscInt i = 0; i < end; i++)
  {
    KCScalar to[2];

    KC_UNROLL
    for (int line = 0; line < lines; line++)
      to[line] = KCyclePointAdvance(step, KCyclePointSumConstant(nl, box, k->c, x[line], i), b[line][i],
                                    x[line][nl / 2][i], step == KC_STEP_NEXT ? before[line][i] : 0, keep, w);
    KC_UNROLL
    for (int line = 0; line < lines; line++) y[line][i] = to[line];
  }
}

/* In 3D two lines at a time */
KC_POINT void AdvanceStrip(const int nl, const int box, const int step, const KCycleTerm *term, const KCycleStrip *s)
{
  const int            lines = nl > 3 ? 2 : 1;
  KCycleAdvanceNumbers k;

  for (int o = 0; o < KC_COUNT(nl, box); o++) k.c[o] = s->k->middle[o];
  k.keep = term->keep;
  k.w    = term->weight * s->inverse[0];
  for (PetscInt at = 0; at < s->nlines; at += lines) AdvanceBeside(nl, box, step, lines, s, at, &k);
}

/* The points that have their own coefficients */
KC_POINT void AdvanceOwn(const int nl, const int box, const int step, const KCycleTerm *term, const KCycleStrip *s)
{
  for (PetscInt at = 0; at < s->nlines; at++) {
    const KCScalar *x[KC_MAX_LINES], *b = s->b + at * s->width, *c = s->ends, *inverse = s->inverse + 1;
    const KCScalar *before = step == KC_STEP_NEXT ? s->before + at * s->pitch : NULL;
    KCScalar       *y      = s->y + at * s->out;

    KC_UNROLL
    for (int q = 0; q < nl; q++) x[q] = StripLine(nl, s, q, 0, at);
    for (PetscInt i = 0; i < s->n; i = i == s->k->a - 1 ? s->k->b : i + 1, c += KC_COUNT(nl, box))
      y[i] = KCyclePointAdvance(step, KCyclePointSumConstant(nl, box, c, x, i), b[i], x[nl / 2][i],
                                step == KC_STEP_NEXT ? before[i] : 0, term->keep, term->weight * *inverse++);
  }
}

/* A function for each loop: in one with more of them compilers run out of registers */
#define KC_ADVANCE_STEP(suffix, nl, box, step)                                                                        \
  KC_VERSIONS static void Line_##step##_##suffix(const KCycleLine *l, const KCycleTerm *term, const KCScalar *before, \
                                                 const KCScalar *b, KCScalar *y)                                      \
  {                                                                                                                   \
    const KCycleAdvanceVectors v = {before, b, y};                                                                    \
                                                                                                                      \
    AdvanceLine(nl, box, step, l, term, v);                                                                           \
  }                                                                                                                   \
                                                                                                                      \
  KC_VERSIONS static void Strip_##step##_##suffix(const KCycleTerm *term, const KCycleStrip *s)                       \
  {                                                                                                                   \
    AdvanceStrip(nl, box, step, term, s);                                                                             \
  }                                                                                                                   \
                                                                                                                      \
  KC_VERSIONS static void Own_##step##_##suffix(const KCycleTerm *term, const KCycleStrip *s)                         \
  {                                                                                                                   \
    AdvanceOwn(nl, box, step, term, s);                                                                               \
  }

#define KC_ADVANCE_KERNELS(suffix, nl, box)        \
  KC_ADVANCE_STEP(suffix, nl, box, KC_STEP_FIRST)  \
  KC_ADVANCE_STEP(suffix, nl, box, KC_STEP_SECOND) \
  KC_ADVANCE_STEP(suffix, nl, box, KC_STEP_NEXT)   \
  KC_ADVANCE_STEP(suffix, nl, box, KC_STEP_RESIDUAL)

#define KC_ADVANCE_STEPS(kind, suffix)                                                           \
  {                                                                                              \
    kind##_KC_STEP_FIRST_##suffix, kind##_KC_STEP_SECOND_##suffix, kind##_KC_STEP_NEXT_##suffix, \
        kind##_KC_STEP_RESIDUAL_##suffix                                                         \
  }

#define KC_ADVANCE_TABLE(suffix)                                                                   \
  {                                                                                                \
    KC_ADVANCE_STEPS(Line, suffix), KC_ADVANCE_STEPS(Strip, suffix), KC_ADVANCE_STEPS(Own, suffix) \
  }
