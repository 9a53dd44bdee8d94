/*
  The kernels of a line, y = A x, b + A x, b - A x or x + w D^-1 (b - A x), for one shape of the stencil. Each file of
  shapes makes its own with KC_LINE_KERNELS(), so that compilers work on them side by side.
*/
#pragma once

#include <petsckcycle/private/kernelimpl.h>

typedef void (*KCycleLineKernel)(const KCycleLine *, const KCScalar *b, const KCScalar *w, KCScalar *y);

/* By operation; the second ones for lines whose coefficients are the same but at their ends */
typedef struct {
  KCycleLineKernel array[KC_NUM_OPS], constant[KC_NUM_OPS];
} KCycleLineKernels;

PETSC_INTERN const KCycleLineKernels KCycleLineStars[3];  /* of 1, 3 and 5 lines */
PETSC_INTERN const KCycleLineKernels KCycleLineBoxes[2];  /* of 3 and 9 lines */
PETSC_INTERN const KCycleLineKernels KCycleLinePrisms[3]; /* along x, y and z */

/* (A x) of a point at an end of the line, with all its coefficients at c */
KC_POINT KCScalar EndSum(const int nl, const int box, const KCycleLine *l, const KCScalar *c, PetscInt i)
{
  KCScalar sum = 0;
  int      o   = 0;

  KC_UNROLL
  for (int q = 0; q < nl; q++) {
    if (KC_WIDE(nl, box, q)) {
      sum += c[o] * (i > 0 ? l->x[q][i - 1] : l->left[q]);
      sum += c[o + 1] * l->x[q][i];
      sum += c[o + 2] * (i < l->n - 1 ? l->x[q][i + 1] : l->right[q]);
      o += 3;
    } else {
      sum += c[o] * l->x[q][i];
      o++;
    }
  }
  return sum;
}

/* What a kernel reads and writes in addition to a line of the matrix and of x */
typedef struct {
  const KCScalar *b, *w;
  KCScalar       *y;
} Vectors;

/* The points before the first one whose coefficients are in arrays (side 0), or after the last one (1) */
KC_POINT void EndPoints(const int nl, const int box, const int op, const KCycleLine *l, const int side, const Vectors v)
{
  const KCScalar *c   = side ? l->tail : l->head;
  const PetscInt  low = side ? l->n - l->ntail : 0, high = side ? l->n : l->nhead;

  for (PetscInt i = low; i < high; i++, c += KC_COUNT(nl, box)) {
    KCScalar s;

    if (op == KC_RELAX && v.w[i] == (KCScalar)0.0) { /* a point of another colour */
      v.y[i] = l->x[nl / 2][i];
      continue;
    }
    s      = EndSum(nl, box, l, c, i);
    v.y[i] = KCyclePointFinish(op, s, op == KC_MULT ? 0 : v.b[i], op == KC_RELAX ? l->x[nl / 2][i] : 0,
                               op == KC_RELAX ? v.w[i] : 0, op == KC_RELAX ? 1 / c[KC_COUNT(nl, box) / 2] : 0);
  }
}

/* A line whose coefficients are in arrays */
#define KC_LINE_ARRAY(name, op, nl, box)                                                                         \
  KC_VERSIONS static void name(const KCycleLine *l, const KCScalar *b, const KCScalar *w, KCScalar *y)           \
  {                                                                                                              \
    const KCScalar *c[KC_COUNT(nl, box)], *x[nl];                                                                \
    const PetscInt  a = l->nhead, n = l->n - l->ntail;                                                           \
    const Vectors   v = {b, w, y};                                                                               \
                                                                                                                 \
    EndPoints(nl, box, op, l, 0, v);                                                                             \
    for (int o = 0; o < KC_COUNT(nl, box); o++) c[o] = l->c[o];                                                  \
    KCycleFetch(l->nnext, l->next);                                                                              \
    for (int q = 0; q < nl; q++) x[q] = l->x[q];                                                                 \
    KC_IVDEP for (PetscInt i = a; i < n; i++)                                                                    \
    {                                                                                                            \
      const KCScalar s = KCyclePointSum(nl, box, c, x, i);                                                       \
                                                                                                                 \
      y[i] = KCyclePointFinish(op, s, op == KC_MULT ? 0 : b[i], op == KC_RELAX ? x[(nl) / 2][i] : 0,             \
                               op == KC_RELAX ? w[i] : 0, op == KC_RELAX ? 1 / c[KC_COUNT(nl, box) / 2][i] : 0); \
    }                                                                                                            \
    EndPoints(nl, box, op, l, 1, v);                                                                             \
  }

/* A line whose coefficients are the same but at its ends */
#define KC_LINE_CONSTANT(name, op, nl, box)                                                            \
  KC_VERSIONS static void name(const KCycleLine *l, const KCScalar *b, const KCScalar *w, KCScalar *y) \
  {                                                                                                    \
    const KCScalar *x[nl], inverse = l->constant->inverse;                                             \
    const PetscInt  a = l->nhead, n = l->n - l->ntail;                                                 \
    const Vectors   v = {b, w, y};                                                                     \
    KCScalar        c[KC_COUNT(nl, box)];                                                              \
                                                                                                       \
    EndPoints(nl, box, op, l, 0, v);                                                                   \
    for (int o = 0; o < KC_COUNT(nl, box); o++) c[o] = l->constant->middle[o];                         \
    for (int q = 0; q < nl; q++) x[q] = l->x[q];                                                       \
    KC_IVDEP for (PetscInt i = a; i < n; i++)                                                          \
    {                                                                                                  \
      const KCScalar s = KCyclePointSumConstant(nl, box, c, x, i);                                     \
                                                                                                       \
      y[i] = KCyclePointFinish(op, s, op == KC_MULT ? 0 : b[i], op == KC_RELAX ? x[(nl) / 2][i] : 0,   \
                               op == KC_RELAX ? w[i] : 0, inverse);                                    \
    }                                                                                                  \
    EndPoints(nl, box, op, l, 1, v);                                                                   \
  }

#define KC_LINE_OPS(MAKE, kind, suffix, nl, box)             \
  MAKE(Line##kind##_Mult_##suffix, KC_MULT, nl, box)         \
  MAKE(Line##kind##_Add_##suffix, KC_ADD, nl, box)           \
  MAKE(Line##kind##_Residual_##suffix, KC_RESIDUAL, nl, box) \
  MAKE(Line##kind##_Relax_##suffix, KC_RELAX, nl, box)

#define KC_LINE_KERNELS(suffix, nl, box)             \
  KC_LINE_OPS(KC_LINE_ARRAY, Array, suffix, nl, box) \
  KC_LINE_OPS(KC_LINE_CONSTANT, Constant, suffix, nl, box)

#define KC_LINE_TABLE_OPS(kind, suffix)                                                                                \
  {                                                                                                                    \
    Line##kind##_Mult_##suffix, Line##kind##_Add_##suffix, Line##kind##_Residual_##suffix, Line##kind##_Relax_##suffix \
  }

#define KC_LINE_TABLE(suffix)                                             \
  {                                                                       \
    KC_LINE_TABLE_OPS(Array, suffix), KC_LINE_TABLE_OPS(Constant, suffix) \
  }
