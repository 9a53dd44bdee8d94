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

/* The weights between two grids: data of the kernels, no PETSc object among it */
typedef struct {
  KCycleBox          *fine, *coarse;
  PetscInt            factor[3]; /* 1 or 2 */
  PetscInt            first[3];  /* fine point of coarse point 0, in the numbering of the grids */
  PetscInt            shift[3];  /* the same in the numbering of the owned boxes */
  PetscInt            stride;    /* length of the weights of a line on one coarse line */
  const PetscScalar **weights;   /* of extended fine line e on its coarse line q: weights[4 * e + q], or NULL where all are zero */
  PetscInt            nsets;     /* different weights of lines */
  PetscScalar        *halo;      /* coarse halo buffer */
  PetscScalar        *line;      /* one fine line for each thread, for fused steps */
  KCycleInterpolation interpolation;
} KCycleTransfer;

/* The weights, for kernels; P is of type stenciltransfer */
PETSC_INTERN const KCycleTransfer *KCycleTransferOf(Mat);

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

PETSC_INTERN PetscErrorCode MatStencilTransferIs(Mat, PetscBool *);

/* The coarse lines (1) that a thread restricts to, in y, and the fine lines (0) that touch them: low to high - 1 */
typedef struct {
  PetscInt low[2], high[2];
} KCycleTransferLines;

PETSC_INTERN void KCycleTransferShare(const KCycleTransfer *, PetscInt low, PetscInt high, KCycleTransferLines *);
PETSC_INTERN void KCycleTransferTouch(const KCycleTransfer *, PetscInt j, PetscInt k, KCycleTouch *);
PETSC_INTERN void KCycleTransferInterpolateLine(const KCycleTransfer *, const PetscScalar *e, PetscInt j, PetscInt k, PetscBool add, PetscScalar *x);
PETSC_INTERN void KCycleTransferRestrictLine(const KCycleTransfer *, const PetscScalar *r, PetscInt j, PetscInt k, const KCycleTransferLines *, PetscScalar *b);
PETSC_INTERN void KCycleTransferInterpolateHalf(const KCycleTransfer *, const PetscScalar *e, PetscInt parity, PetscInt j, PetscInt k, PetscScalar *x);
PETSC_INTERN void KCycleTransferRestrictHalf(const KCycleTransfer *, const PetscScalar *r, PetscInt parity, PetscInt j, PetscInt k, const KCycleTransferLines *, PetscScalar *b);
PETSC_INTERN PetscErrorCode MatStencilTransferRestrictBegin(Mat, PetscScalar *);
PETSC_INTERN PetscErrorCode MatStencilTransferRestrictEnd(Mat, PetscScalar *);
PETSC_INTERN PetscErrorCode MatProductSetFromOptions_Stencil_StencilTransfer(Mat);
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
