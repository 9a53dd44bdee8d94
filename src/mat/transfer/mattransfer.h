/*
  MATSTENCILTRANSFER, and what its set-up works with.
*/
#pragma once

#include <petsckcycle/private/transferimpl.h>

/* Arrays of the same length on their way to a pool, where each is kept once: number i begins at i * length */
typedef struct {
  PetscInt    length;
  KCyclePool *pool;
  PetscHMapI  map; /* from the key of one to its number */
} KCycleSets;

/* What a process owns and the points around that its part of the coarser level depends on, see overlap.c */
typedef struct {
  Mat       P;                 /* the interpolation there; NULL: not made, or there are no such points */
  PetscInt  low[3], coarse[3]; /* number of fine and coarse points before the owned ones */
  /* low and high sides of the box where its direction wraps around from coarse point to coarse point */
  PetscBool wraps[3][2];
} KCycleOverlap;

typedef struct {
  KCycleTransfer            t;
  DM                        finedm, coarsedm;
  PCKCycleInterpolationType interpolation;
  PetscBool                 filled; /* isolated points take part in coarser levels */
  /* weights follow from the coefficients at boundaries alone, of the operator in this state, */
  PetscBool                 byrule;
  PetscObjectId             operator_id;
  PetscObjectState          operator_state;
  PetscBool                 neumann[6]; /* and from those that nothing flows through */
  KCycleOverlap             overlap;
} Mat_StencilTransfer;

/*
  Isolated points (stored Dirichlet points) neither give nor take corrections: the mask of a line is 0 for such points
  and 1 for others, and 0 for points -1 and n
*/
typedef struct {
  KCyclePool pool;
  PetscInt   length;
  PetscInt  *set; /* of each extended fine line: its mask, or -1: it is outside the grid */
} KCycleMask;

/* What setting weights works with, on grids of one process */
typedef struct {
  KCycleTransfer           *tr;
  KCycleSets               *sets; /* of weights */
  PCKCycleInterpolationType interpolation;
  const PetscBool          *neumann;  /* no flux through the low and the high end, in each direction */
  KCycleMask               *mask;     /* NULL if all points are coupled to others */
  PetscBool                 gaps;     /* some points have next to no coupling with one of their neighbours */
  PetscBool                 filled;   /* masked points have couplings, and are masked in the end */
  PetscInt                  along[8]; /* for each set of directions: one that weights are solved for along, -1: none */
  Mat                       P;        /* the interpolation, of all processes */
  PetscScalar              *temp;     /* weights of one line on up to four coarse lines */
  const KCycleStencil      *st;       /* of the fine grid */
} KCycleWeights;

/* The mask of an extended line from point 0 on; NULL: it is outside the grid, or there is no mask */
static inline const PetscScalar *KCycleMaskOf(const KCycleMask *mask, PetscInt e)
{
  return mask && mask->set[e] >= 0 ? mask->pool.v + (size_t)mask->set[e] * (size_t)mask->length + 1 : NULL;
}

/* Weights of points that lie between coarse ones in the directions S (bit by bit), solved for along lines, see
   weights_line.c. Points are those of the overlap that coincide with coarse ones in the directions but S and e; e has
   all */
typedef struct {
  int          S, e;
  int          m;                       /* weights of a point; 0: there are no such lines */
  int          o[8];                    /* the neighbours that they belong to, of 27 */
  PetscInt     first[3], step[3], n[3]; /* the first point in each direction, from one to the next, number */
  PetscInt     npoints;                 /* all */
  PetscScalar *w;                       /* [m][npoints]: right sides, then weights */
  PetscScalar *total, *behind, *ahead;  /* of the diagonal without couplings along e, and these */
} KCycleLineWeights;

PETSC_INTERN PetscErrorCode KCycleWeightsAreByRule(Mat P, Mat A, PetscBool *);
PETSC_INTERN PetscErrorCode KCycleWeightsByRule(Mat P, Mat Q, Mat B);
PETSC_INTERN PetscErrorCode KCycleWeightsBegin(Mat P, PCKCycleInterpolationType, KCycleSets *);
PETSC_INTERN PetscErrorCode KCycleWeightsEnd(Mat P, KCycleSets *);
PETSC_INTERN PetscErrorCode KCycleSetsBegin(PetscInt length, PetscInt lines, KCyclePool *, KCycleSets *);
PETSC_INTERN PetscErrorCode KCycleSetsEnd(KCycleSets *);
PETSC_INTERN PetscErrorCode KCycleSetsKeep(KCycleSets *, const PetscScalar[], PetscInt *number);
PETSC_INTERN PetscErrorCode KCycleRuleWeights(KCycleWeights *);
PETSC_INTERN PetscErrorCode KCycleOperatorWeights(KCycleWeights *, Mat A);
PETSC_INTERN PetscErrorCode KCycleWeightsStore(KCycleWeights *, PetscInt j, PetscInt k, const KCycleTouch *);

/* Which of the points of its line is point i? -1: none */
static inline PetscInt KCycleLineWeightsIndex(const KCycleLineWeights *al, PetscInt i)
{
  const PetscInt at = i - al->first[0];

  return at >= 0 && at % al->step[0] == 0 && at / al->step[0] < al->n[0] ? at / al->step[0] : -1;
}

/* weights_collapse.c */
PETSC_INTERN void KCycleCollapse(const KCycleStencil *, PetscInt n, int S, const PetscScalar *from, PetscScalar *sums,
                                 const PetscScalar *c[]);

/* weights_line.c */
PETSC_INTERN PetscErrorCode KCycleLineWeightsCreate(const KCycleTransfer *, int S, int e, int m, KCycleLineWeights *);
PETSC_INTERN PetscErrorCode KCycleLineWeightsDestroy(KCycleLineWeights *);
PETSC_INTERN PetscBool      KCycleLineWeightsLine(const KCycleLineWeights *, PetscInt j, PetscInt k, PetscInt *point);
PETSC_INTERN PetscErrorCode KCycleLineWeightsSolve(KCycleLineWeights *, Mat P);

/* toaij.c */
PETSC_INTERN PetscErrorCode MatConvert_StencilTransfer(Mat, MatType, MatReuse, Mat *);

/* overlap.c */
PETSC_INTERN PetscErrorCode KCycleOverlapCreate(const KCycleTransfer *, const PetscInt depth[], KCycleOverlap *);
PETSC_INTERN PetscErrorCode KCycleOverlapOperator(Mat A, const KCycleOverlap *, const PetscScalar *halo, Mat *B);
PETSC_INTERN PetscErrorCode KCycleOverlapExchange(Mat P, KCycleLineWeights *);
PETSC_INTERN PetscErrorCode KCycleOverlapGet(Mat P, Mat A, Mat *Q, Mat *B);
PETSC_INTERN void           KCycleOverlapWrap(Mat P);
PETSC_INTERN PetscErrorCode KCycleOverlapCopyWeights(Mat P, KCycleSets *, PetscScalar *temp);

/* ghostnumbers.c: what tells the numbers of owned points, of one line after the other */
#define KC_POINT_WEIGHTS 8 /* of a fine point: two for each of the coarse lines that its line touches */
typedef struct {
  const KCycleStencil     *st;  /* its coefficients, or */
  const KCycleTransfer    *tr;  /* weights, or */
  const KCycleLineWeights *al;  /* those that were solved for along lines, */
  const PetscInt          *low; /* number of points before the owned ones of a grid */
  PetscInt                 m;   /* numbers of a point */
  PetscInt                 j, k;
  KCycleLine               l;
  KCycleTouch              touch;
} KCycleGhostSource;

PETSC_INTERN void KCycleGhostSourceGet(KCycleGhostSource *, PetscInt i, PetscInt j, PetscInt k, PetscScalar *numbers);
PETSC_INTERN PetscErrorCode KCycleGhostNumbers(Mat P, const KCycleOverlap *, const PetscInt depth[],
                                               KCycleGhostSource *, PetscScalar *halo);

/* ptap.c: Q and B are the overlap of P and the operator */
PETSC_INTERN PetscErrorCode KCycleGalerkin(Mat Q, Mat B, Mat P, PetscBool star, PetscBool fill, Mat *Ac);
PETSC_INTERN void KCycleProductFillEmpty(const KCycleStencil *, const KCycleTransfer *, PetscInt J, PetscInt K,
                                         PetscScalar *diagonal);
PETSC_INTERN void KCycleProductFold(const KCycleShape *, const KCycleBox *, PetscScalar *values);

/* ptap_star.c: which product of `count` each extended coarse line has, 0: zeros, and is it the first one with it? */
typedef struct {
  PetscInt   count;
  PetscInt  *product;
  PetscBool *mine;
} KCycleStarLines;
PETSC_INTERN PetscErrorCode KCycleStarStore(Mat A, const KCycleTransfer *, const KCycleOverlap *, PetscBool fill,
                                            const KCycleStarLines *, Mat Ac);

/* split.c: coefficients of fine lines, points that coincide (0) and points between (1) apart: c[x][o * pad + 1 + i],
   i = -1 to n. The lines around that were needed last are kept */
#define KC_NEAR 3
typedef struct {
  Mat                   A;
  const KCycleTransfer *tr;
  PetscInt              n, pad; /* coarse points of a line; n + 2 */
  PetscInt              line[KC_NEAR * KC_NEAR];
  PetscScalar          *c;
} KCycleSplitLines;

PETSC_INTERN PetscErrorCode KCycleSplitLinesCreate(Mat A, const KCycleTransfer *, KCycleSplitLines *);
PETSC_INTERN PetscErrorCode KCycleSplitLinesDestroy(KCycleSplitLines *);
PETSC_INTERN void           KCycleSplitLinesGet(KCycleSplitLines *, PetscInt j, PetscInt k, const PetscScalar *c[2]);

/* Number of lines that are kept: as many as the grid has near each other */
static inline PetscInt KCycleNearLines(const KCycleBox *fine)
{
  return PetscMin(fine->n[1], KC_NEAR) + KC_NEAR * (PetscMin(fine->n[2], KC_NEAR) - 1);
}

/* The first of the 27 offsets (dx + 1) + 3 (dy + 1) + 9 (dz + 1) that a grid of `dim` dimensions has; the last one
   is opposite */
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
