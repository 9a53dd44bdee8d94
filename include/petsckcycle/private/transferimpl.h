/*
  What the files of MATSTENCILTRANSFER share.

  In a direction that is coarsened, coarse point I lies on fine point 2 I + first; a fine point either coincides with a coarse
  one or lies between two. So a fine line touches one, two or four coarse lines, and has three arrays of weights for each of
  them: its points that coincide in x, and for those between, the coarse point on the left and the one on the right:

    fine      o x o x o x o           o coincides, x lies between
    coarse    0   1   2   3
    weights   same[I]: I -> 2 I + first;  left[I], right[I]: I, I + 1 -> the point behind 2 I + first
*/
#pragma once

#include <petsckcycle/private/stencilimpl.h>

/* Different arrays of the same length, each kept once */
typedef struct {
  PetscInt      length, n, most;
  PetscScalar **list;
  KCyclePool    pool; /* holds them */
  PetscHMapI    map;  /* while arrays arrive: from the key of one to its number */
} KCycleLists;

typedef struct {
  KCycleBox          *fine, *coarse;
  DM                  finedm, coarsedm;
  PetscInt            factor[3]; /* 1 or 2 */
  PetscInt            first[3];  /* fine point of coarse point 0, in the numbering of the grids */
  PetscInt            shift[3];  /* the same in the numbering of the owned boxes */
  PetscInt            stride;    /* length of the weights of a line on one coarse line */
  const PetscScalar **weights;   /* of extended fine line e on its coarse line q: weights[4 * e + q], or NULL where all are zero */
  KCycleLists         lists;
  PetscScalar        *halo; /* coarse halo buffer */
  PetscScalar        *line; /* one fine line for each thread, for fused steps */
  KCycleInterpolation interpolation;
} Mat_StencilTransfer;

/* A fine line and the coarse lines that it touches */
typedef struct {
  PetscInt           count;
  PetscInt           j[4], k[4]; /* coarse lines */
  const PetscScalar *w[4];
} KCycleTouch;

PETSC_INTERN PetscErrorCode MatCreate_StencilTransfer(Mat);
PETSC_INTERN PetscErrorCode MatStencilTransferCreate(DM fine, DM coarse, const PetscInt factor[], const PetscInt first[], Mat *);
PETSC_INTERN PetscErrorCode MatStencilTransferSetWeights(Mat P, KCycleInterpolation, const PetscBool insulated[], Mat A);
PETSC_INTERN PetscErrorCode MatStencilTransferResetWeights(Mat P);

/*
  Points that are coupled to nobody (stored Dirichlet points) neither give nor take corrections. line[e]: of extended fine line e, 0 for such points and 1
  for others, from -1 to n, the points beside the line included; NULL for lines outside the grid
*/
typedef struct {
  KCycleLists         lists;
  const PetscScalar **line;
} KCycleMask;

/* What SetWeights works with */
typedef struct {
  Mat_StencilTransfer *tr;
  KCycleInterpolation  interpolation;
  const PetscBool     *insulated; /* no flux through the low and the high end, in each direction */
  KCycleMask          *mask;      /* NULL if all points are coupled to others */
  PetscScalar         *temp;      /* weights of one line on up to four coarse lines */
  PetscScalar         *field;     /* for exchanges: what neighbours see of one slot */
  PetscScalar         *halos;     /* of eight slots */
  PetscScalar        **own;       /* weights of lines that are not complete yet: of each extended line, on the coarse lines that it touches; or NULL */
  KCyclePool           pool;      /* holds them */
} KCycleWeights;

PETSC_INTERN PetscErrorCode KCycleOperatorWeights(KCycleWeights *, Mat A);
PETSC_INTERN PetscErrorCode KCycleWeightsStore(KCycleWeights *, PetscInt j, PetscInt k, const KCycleTouch *);
PETSC_INTERN PetscErrorCode KCycleWeightsExchange(KCycleWeights *);
PETSC_INTERN void           KCycleWeightsSee(const KCycleWeights *, PetscInt j, PetscInt k, const KCycleTouch *, PetscScalar *weights);

/* apart.c: coefficients of fine lines, points that coincide (0) and points between (1) apart: c[x][o * pad + 1 + i], i = -1 to n. The lines around that were needed last are kept */
#define KC_NEAR 3
typedef struct {
  Mat                        A;
  const Mat_StencilTransfer *tr;
  PetscInt                   n, pad; /* coarse points of a line; n + 2 */
  PetscInt                   line[KC_NEAR * KC_NEAR];
  PetscScalar               *c;
} KCycleApart;

PETSC_INTERN PetscErrorCode KCycleApartCreate(Mat A, const Mat_StencilTransfer *, KCycleApart *);
PETSC_INTERN PetscErrorCode KCycleApartDestroy(KCycleApart *);
PETSC_INTERN void           KCycleApartLine(KCycleApart *, PetscInt j, PetscInt k, const PetscScalar *c[2]);

/* Places of the lines that are kept: as many as the grid has near each other */
static inline PetscInt KCycleNearPlaces(const KCycleBox *fine)
{
  return PetscMin(fine->n[1], KC_NEAR) + KC_NEAR * (PetscMin(fine->n[2], KC_NEAR) - 1);
}

/* The first of the 27 offsets (dx + 1) + 3 (dy + 1) + 9 (dz + 1) that a grid of so many dimensions has; the last one is opposite */
static inline int KCycleOffsetsFirst(PetscInt dim)
{
  return dim == 3 ? 0 : dim == 2 ? 9 : 12;
}

/* A sum of products a w, point by point */
typedef struct {
  int m;
  struct {
    const PetscScalar *a, *w;
  } of[KC_MAX_COEFFS];
} KCycleTerms;

/* y = sum, or y += sum, for n points */
PETSC_INTERN void KCycleSumOfProducts(const KCycleTerms *, PetscInt n, PetscBool add, PetscScalar *y);

static inline void KCycleTermsAdd(KCycleTerms *terms, const PetscScalar *a, const PetscScalar *w)
{
  terms->of[terms->m].a   = a;
  terms->of[terms->m++].w = w;
}

PETSC_INTERN PetscErrorCode MatStencilTransferIs(Mat, PetscBool *);

/* The coarse lines (1) that a thread restricts to, in y, and the fine lines (0) that touch them: low to high - 1 */
typedef struct {
  PetscInt low[2], high[2];
} KCycleTransferLines;

PETSC_INTERN void           KCycleTransferShare(const Mat_StencilTransfer *, PetscInt low, PetscInt high, KCycleTransferLines *);
PETSC_INTERN void           KCycleTransferTouch(const Mat_StencilTransfer *, PetscInt j, PetscInt k, KCycleTouch *);
PETSC_INTERN void           KCycleTransferInterpolateLine(const Mat_StencilTransfer *, const PetscScalar *e, PetscInt j, PetscInt k, PetscBool add, PetscScalar *x);
PETSC_INTERN void           KCycleTransferRestrictLine(const Mat_StencilTransfer *, const PetscScalar *r, PetscInt j, PetscInt k, const KCycleTransferLines *, PetscScalar *b);
PETSC_INTERN void           KCycleTransferInterpolateHalf(const Mat_StencilTransfer *, const PetscScalar *e, PetscInt parity, PetscInt j, PetscInt k, PetscScalar *x);
PETSC_INTERN void           KCycleTransferRestrictHalf(const Mat_StencilTransfer *, const PetscScalar *r, PetscInt parity, PetscInt j, PetscInt k, const KCycleTransferLines *,
                                                       PetscScalar *b);
PETSC_INTERN PetscErrorCode MatStencilTransferRestrictBegin(Mat, PetscScalar *);
PETSC_INTERN PetscErrorCode MatStencilTransferRestrictEnd(Mat, PetscScalar *);
PETSC_INTERN PetscErrorCode MatProductSetFromOptions_Stencil_StencilTransfer(Mat);
PETSC_INTERN PetscErrorCode KCycleStarProducts(Mat A, const Mat_StencilTransfer *, const PetscBool wanted[], PetscScalar *const line[]);
PETSC_INTERN PetscErrorCode MatStencilGalerkin(Mat A, Mat P, PetscBool star, PetscBool fill, Mat *Ac);

/* Weights of points that coincide start here, with index -1 to n; n: coarse points of a line on this process */
static inline const PetscScalar *KCycleWeightsSame(const PetscScalar *w)
{
  return w + 1;
}

/* Index -1 to n - 1, as of the coarse point on the left */
static inline const PetscScalar *KCycleWeightsLeft(const PetscScalar *w, PetscInt n)
{
  return w + n + 3;
}

static inline const PetscScalar *KCycleWeightsRight(const PetscScalar *w, PetscInt n)
{
  return w + 2 * n + 4;
}
