/*
  What the files of MATSTENCIL share, and what the transfers and smoothers need of it.
*/
#pragma once

#include <petsckcycle.h>
#include <petsckcycle/private/boximpl.h>
#include <petsckcycle/private/point.h>
#include <petsckcycle/private/policyimpl.h>
#include <petsc/private/matimpl.h>
#include <petsc/private/hashmapi.h>

#define KC_MAX_LINES  9
#define KC_MAX_COEFFS 27

/* The name under which a matrix keeps itself in AIJ form, where that is needed */
#define KC_STENCIL_AIJ "KCycleStencilAIJ"

/* Which neighbours a stencil has */
typedef struct {
  int nl;  /* lines */
  int box; /* three coefficients on every line, not on the middle one alone */
  int ncoeffs;
  int dy[KC_MAX_LINES], dz[KC_MAX_LINES];
  int line[KC_MAX_COEFFS], dx[KC_MAX_COEFFS]; /* of each coefficient */
  int find[27];                               /* coefficient of (dx + 1) + 3 (dy + 1) + 9 (dz + 1), or -1 */
} KCycleShape;

/* Arrays, see pool.c */
typedef struct {
  PetscInt64    size, left, used; /* of a piece; free in the last one; in use */
  PetscInt      n;
  PetscScalar **piece, *next;
} KCyclePool;

/* An entry of the line dictionary: coefficients that several lines share */
typedef struct {
  PetscScalar *c; /* coefficient o of point i: c[o * n + i] */
  PetscScalar  middle[KC_MAX_COEFFS];
  PetscScalar  inverse; /* 1 / diagonal of the middle; 0 where that is zero, as before values arrive */
  PetscInt     a, b;    /* the coefficients of points a <= i < b are those of the middle; 1 <= a <= b <= n - 1 */
  PetscScalar *ends;    /* all coefficients of the points before a, point by point, then of those from b on */
  PetscInt     uses;    /* lines that share it */
} KCycleClass;

/* What one look at all coefficients finds, on all processes; rows are global */
typedef struct {
  PetscBool        done;
  PetscObjectState state;            /* of the matrix at that time */
  PetscInt         notfinite, zero;  /* first row with a NaN or Inf, with a zero on the diagonal; PETSC_INT_MAX: none */
  PetscReal        scale, sums;      /* largest entry of the diagonal, largest row sum relative to it */
  PetscReal        bound;            /* the largest row sum of |D^-1 A|, a bound of the eigenvalues of D^-1 A */
  PetscReal        sum[3], count[3]; /* couplings in each direction, whatever the place of a neighbour across: their sum and number */
  PetscBool        jumps, rough;     /* couplings of a point with opposite neighbours differ much: summed up across, or there are walls inside the grid; one by one */
  PetscReal        steep;            /* part of the points where they differ very much, summed up across */
  PetscBool        alone;            /* there are points that are coupled to nobody */
} KCycleScan;

/* The coefficients of a stencil on the lines that a process owns: data of the kernels, no PETSc object among it */
typedef struct {
  KCycleBox    *box;
  KCycleShape   shape;
  PetscInt      nclasses;
  KCycleClass  *classes; /* coefficients that lines share */
  PetscInt     *kind;    /* of each owned line: its class, or -1: it has a block of its own */
  PetscScalar **block;   /* of each extended line, or NULL */
  PetscBool     blocks;  /* some lines have */
  PetscBool     half;    /* blocks hold the diagonal and the coefficients behind it; the others are those of neighbours */
  PetscScalar  *zeros;   /* a line of zeros */
  PetscScalar  *halo;    /* for the exchange of vectors */
} KCycleStencil;

/* One line of the matrix and the lines of a vector that it reads */
typedef struct {
  const PetscScalar *x[KC_MAX_LINES];
  const PetscScalar *left, *right;             /* what lies beyond the ends of these lines */
  PetscScalar        beyond[2 * KC_MAX_LINES]; /* holds it, unless it is zero */
  const PetscScalar *head, *tail;              /* coefficients of the first and the last points, point by point */
  PetscInt           nhead, ntail;             /* number of these points */
  const PetscScalar *c[KC_MAX_COEFFS];         /* if not constant: coefficients of points 1 to n - 2 */
  const KCycleClass *constant;                 /* or NULL */
  const PetscScalar *end[2];                   /* coefficients of the first and the last point */
  PetscInt           stride;                   /* between them */
  PetscInt           n;
} KCycleLine;

/* Does a line share its coefficients with the one that was looked at last (-1: none was)? */
static inline PetscBool MatStencilLineIsLast(const KCycleStencil *st, PetscInt line, PetscInt last)
{
  return (PetscBool)(last >= 0 && st->kind[line] >= 0 && st->kind[line] == st->kind[last]);
}

/* Asks for n places that are read soon: the processor by itself does not see far enough ahead */
static inline __attribute__((always_inline)) void KCycleFetch(PetscInt n, const PetscScalar *places)
{
  for (PetscInt i = 0; i < n; i += 8) __builtin_prefetch(places + i);
}

PETSC_INTERN PetscErrorCode       MatCreate_Stencil(Mat);
PETSC_INTERN PetscErrorCode       MatStencilIs(Mat, PetscBool *);
PETSC_EXTERN const KCycleStencil *KCycleStencilOf(Mat); /* for smoothers of programs */
PETSC_INTERN PetscErrorCode       MatStencilCreateOnDM(DM, PetscBool, Mat *);
PETSC_INTERN PetscErrorCode       MatStencilMakeOnDM(Mat, DM, PetscBool);

/* values.c */
PETSC_INTERN void           MatStencilMakeFrames(Mat);
PETSC_INTERN PetscErrorCode MatSetValues_Stencil(Mat, PetscInt, const PetscInt[], PetscInt, const PetscInt[], const PetscScalar[], InsertMode);
PETSC_INTERN PetscErrorCode MatSetValuesLocal_Stencil(Mat, PetscInt, const PetscInt[], PetscInt, const PetscInt[], const PetscScalar[], InsertMode);

/* moved.c: rows of other processes that are points of this one, the first ones and the last ones of its grid; columns are global */
typedef struct {
  PetscInt           below, above;
  Mat               *A;
  const PetscInt    *i, *j;
  const PetscScalar *a;
} KCycleSentRows;
PETSC_INTERN PetscErrorCode KCycleSentRowsGet(Mat, PetscInt, PetscInt, KCycleSentRows *);
PETSC_INTERN PetscErrorCode KCycleSentRowsRestore(KCycleSentRows *);

/* stash.c */
PETSC_INTERN PetscErrorCode MatStencilStashAdd(Mat, PetscInt row, int coefficient, PetscScalar, InsertMode);
PETSC_INTERN PetscErrorCode MatStencilStashSend(Mat);
PETSC_INTERN PetscErrorCode MatStencilStashReset(Mat);

/* convert.c, toaij.c: fits becomes false, and no matrix is made, where an entry is in no stencil on the DM */
PETSC_INTERN PetscErrorCode KCycleAIJGetArrays(Mat, const PetscInt **i, const PetscInt **j, const PetscScalar **a);
PETSC_INTERN PetscErrorCode KCycleAIJRestoreArrays(Mat, const PetscInt **i, const PetscInt **j, const PetscScalar **a);
PETSC_INTERN PetscErrorCode MatStencilFromAIJ(Mat aij, DM dm, PetscBool moved, MatReuse, Mat *stencil, PetscBool *fits);
PETSC_INTERN PetscErrorCode MatStencilReplaceHeader(Mat, Mat *);
PETSC_INTERN PetscErrorCode MatConvertFrom_Stencil(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatConvertTo_Stencil(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatConvert_Stencil_AIJ(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscInt       MatStencilRow(const KCycleStencil *, const KCycleLine *, const PetscInt[], PetscInt[], PetscScalar[]);

/* entries.c, rows.c, copy.c, throughaij.c, product.c, factor.c, sor.c: operations */
PETSC_INTERN PetscErrorCode MatStencilComposeProducts(Mat, PetscBool);
PETSC_INTERN PetscErrorCode MatStencilSetEntryOps(Mat);
PETSC_INTERN PetscErrorCode MatStencilSetRowOps(Mat);
PETSC_INTERN PetscErrorCode MatStencilSetTransposeOps(Mat);
PETSC_INTERN PetscErrorCode MatStencilSetCopyOps(Mat);
PETSC_INTERN PetscErrorCode MatStencilSetAIJOps(Mat);
PETSC_INTERN PetscErrorCode MatStencilSetViewOps(Mat);
PETSC_INTERN PetscErrorCode MatSOR_Stencil(Mat, Vec, PetscReal, MatSORType, PetscReal, PetscInt, PetscInt, Vec);
PETSC_INTERN PetscErrorCode MatStencilKeepView(Mat);
PETSC_INTERN PetscErrorCode MatStencilColumnSums(Mat, PetscReal *);
PETSC_INTERN PetscErrorCode MatStencilRegisterFactors(void);

/* pool.c */
PETSC_INTERN PetscErrorCode KCyclePoolCreate(PetscInt64, KCyclePool *);
PETSC_INTERN PetscErrorCode KCyclePoolDestroy(KCyclePool *);
PETSC_INTERN PetscErrorCode KCyclePoolNew(KCyclePool *, PetscInt64, PetscScalar **);

/* shape.c, store.c: coefficients */
PETSC_INTERN void           KCycleShapeCreate(PetscInt dim, PetscBool box, KCycleShape *);
PETSC_INTERN PetscInt       KCycleKey(const PetscScalar *, PetscInt);
PETSC_INTERN PetscErrorCode MatStencilStoreBegin(Mat, PetscBool);
PETSC_INTERN PetscErrorCode MatStencilStoreLine(Mat, PetscInt, const PetscScalar[], PetscBool *);
PETSC_INTERN PetscErrorCode MatStencilStoreSame(Mat, PetscInt, PetscInt);
PETSC_INTERN PetscErrorCode MatStencilStoreEnd(Mat);
PETSC_INTERN PetscErrorCode MatStencilStoreReset(Mat);
PETSC_INTERN PetscErrorCode MatStencilStoreZeros(Mat);
PETSC_INTERN PetscInt       MatStencilBlockLength(const KCycleStencil *);
PETSC_INTERN PetscErrorCode MatStencilClassChanged(const KCycleStencil *, KCycleClass *);
PETSC_INTERN PetscErrorCode MatStencilStoreDense(Mat);
PETSC_INTERN void           MatStencilLineArrays(const KCycleStencil *, PetscInt, KCycleLine *);
PETSC_INTERN PetscErrorCode MatStencilGetLine(Mat, PetscInt, PetscScalar[]);
PETSC_INTERN PetscErrorCode MatStencilExpand(Mat);
PETSC_INTERN void           MatStencilExpectRounding(Mat);
PETSC_INTERN void           MatStencilMirrorLine(const KCycleStencil *, PetscInt, PetscScalar[]);

/* scan.c, symmetric.c */
PETSC_INTERN PetscErrorCode MatStencilScan(Mat, const KCycleScan **);
PETSC_INTERN PetscErrorCode MatStencilIsSymmetric(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatStencilIsNearlySymmetric(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatStencilSetSymmetric(Mat, PetscBool);
PETSC_INTERN PetscErrorCode MatStencilSetSymmetryOps(Mat);
PETSC_INTERN void           MatStencilTakeCoefficient(const KCycleStencil *, int, PetscScalar *);
PETSC_INTERN PetscBool      MatStencilValueAt(const KCycleBox *, const PetscScalar *, const PetscScalar *, const PetscInt[], PetscScalar *);

/* line.c: kernels on lines */
PETSC_EXTERN void KCycleLineGather(const KCycleStencil *, const PetscScalar *, const PetscScalar *, PetscInt, PetscInt, KCycleLine *);            /* for smoothers of programs */
PETSC_EXTERN void KCycleLineCoefficients(const KCycleStencil *, PetscInt, PetscInt, KCycleLine *);                                                /* for smoothers of programs */
PETSC_EXTERN void KCycleLineCompute(const KCycleShape *, int op, const KCycleLine *, const PetscScalar *b, const PetscScalar *w, PetscScalar *y); /* for smoothers of programs */
PETSC_INTERN void KCycleLineRelaxBoth(const KCycleStencil *, KCycleLine *, const PetscScalar *b, const PetscScalar *first, const PetscScalar *second, PetscScalar *work,
                                      PetscScalar *x);
PETSC_INTERN void KCycleLineScale(const KCycleShape *, const KCycleLine *, const PetscScalar *b, const PetscScalar *w, PetscScalar *y);

/* ops.c */
PETSC_INTERN PetscErrorCode MatStencilSetOps(Mat);
PETSC_INTERN PetscErrorCode MatStencilComposeMethods(Mat, PetscBool);
PETSC_INTERN PetscErrorCode MatStencilCompute(Mat, int op, Vec x, Vec b, Vec y);

/* The coefficient that couples a point to another one, both relative to the owned box, or -1. Where a periodic direction has one or two points, one of the coefficients that reach the same point */
static inline int KCycleFindOffset(const KCycleBox *box, const KCycleShape *shape, const PetscInt row[], const PetscInt col[])
{
  int find = 0, place = 1;

  for (int d = 0; d < 3; d++) {
    const PetscInt size = box->size[d];
    PetscInt       away = col[d] - row[d];

    if (box->periodic[d]) {
      if (size <= 2) away = (col[d] + box->start[d] + size) % size - (row[d] + box->start[d] + size) % size;
      else if (away > 1) away -= size;
      else if (away < -1) away += size;
    }
    if (away < -1 || away > 1) return -1;
    find += place * (int)(away + 1);
    place *= 3;
  }
  return shape->find[find];
}

/* Where line (j, k) has its coefficients from the given one on, all or those of the upper half; NULL: nowhere */
static inline const PetscScalar *KCycleCoefficientsFrom(const KCycleStencil *st, PetscInt j, PetscInt k, int o)
{
  const KCycleBox *box = st->box;
  const PetscInt   n = box->n[0], e = KCycleBoxExtended(box, j, k);

  if (box->slot[e] < 0 && st->kind[j + box->n[1] * k] >= 0) return st->classes[st->kind[j + box->n[1] * k]].c + o * n;
  return st->block[e] ? st->block[e] + (o - (st->half ? st->shape.ncoeffs / 2 : 0)) * n : NULL;
}

/* Coefficient o of point i of a line */
static inline PetscScalar KCycleLineCoefficient(const KCycleLine *l, int o, PetscInt i)
{
  if (i == 0) return l->end[0][o * l->stride];
  if (i == l->n - 1) return l->end[1][o * l->stride];
  return l->constant ? l->end[0][o * l->stride + i] : l->c[o][i];
}
