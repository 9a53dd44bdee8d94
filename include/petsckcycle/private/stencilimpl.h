/*
  What the files of MATSTENCIL share, and what the transfers and smoothers need of it.
*/
#pragma once

#include <petsckcycle.h>
#include <petsckcycle/private/aijimpl.h>
#include <petsckcycle/private/boximpl.h>
#include <petsckcycle/private/factsimpl.h>
#include <petsckcycle/private/policyimpl.h>
#include <petsc/private/matimpl.h>
#include <petsc/private/hashmapi.h>

/* The name under which a matrix keeps itself in AIJ form, where that is needed */
#define KC_STENCIL_AIJ "KCycleStencilAIJ"

PETSC_INTERN PetscErrorCode       MatStencilIs(Mat, PetscBool *);
PETSC_EXTERN const KCycleStencil *KCycleStencilOf(Mat); /* for smoothers of programs */
/* Rounding, in units of the diagonal's, that may keep a symmetric matrix from being so to the last digit: of products
   of matrices, and of entries that a program computes row by row, where it is no more than that of a product with it */
#define KC_PRODUCT_ROUNDING  1000
#define KC_ASSEMBLY_ROUNDING 4

PETSC_INTERN PetscErrorCode MatStencilCreateOnDM(DM, int kind, Mat *);
PETSC_INTERN PetscErrorCode MatStencilMakeOnDM(Mat, DM, int kind);
PETSC_INTERN PetscErrorCode MatStencilSetShape(Mat, const KCycleShape *);

/* values.c */
PETSC_INTERN void           MatStencilMakeFrames(Mat);
PETSC_INTERN PetscErrorCode MatSetValues_Stencil(Mat, PetscInt, const PetscInt[], PetscInt, const PetscInt[],
                                                 const PetscScalar[], InsertMode);
PETSC_INTERN PetscErrorCode MatSetValuesLocal_Stencil(Mat, PetscInt, const PetscInt[], PetscInt, const PetscInt[],
                                                      const PetscScalar[], InsertMode);

/* aijlines.c: how well entries fit into a stencil, ascending */
typedef enum {
  KC_FITS,
  KC_FITS_BOX, /* the stencil must be a box */
  KC_FITS_NOT
} KCycleFit;
typedef struct _KCycleAIJLines KCycleAIJLines;
PETSC_INTERN PetscErrorCode    KCycleAIJLinesCreate(Mat, const KCycleBox *, PetscBool moved, KCycleAIJLines **);
PETSC_INTERN PetscErrorCode    KCycleAIJLinesDestroy(KCycleAIJLines **, PetscInt wrong[]);
PETSC_INTERN KCycleFit KCycleAIJLinesGet(KCycleAIJLines *, const KCycleShape *, PetscInt line, PetscScalar values[]);
PETSC_INTERN PetscBool KCycleAIJLinesRepeat(const KCycleAIJLines *, PetscInt line);

/* offprocess.c */
PETSC_INTERN PetscErrorCode MatStencilOffProcessAdd(Mat, PetscInt row, int coefficient, PetscScalar, InsertMode);
PETSC_INTERN PetscErrorCode MatStencilOffProcessSend(Mat);
PETSC_INTERN PetscErrorCode MatStencilOffProcessReset(Mat);

/* fromaij.c, toaij.c: fits becomes false, and no matrix is made, where an entry is in no stencil on the DM. flat:
   KC_FLAT, or 0, for a new one */
PETSC_INTERN PetscErrorCode MatStencilFromAIJ(Mat aij, DM dm, int flat, PetscBool moved, MatReuse, Mat *stencil,
                                              PetscBool *fits);
PETSC_INTERN PetscErrorCode MatStencilReplaceHeader(Mat, Mat *);
PETSC_INTERN PetscErrorCode MatAXPYGetPreallocation_Stencil(Mat, Mat, Mat *);
PETSC_INTERN PetscErrorCode MatConvertFrom_Stencil(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatConvertTo_Stencil(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatConvert_Stencil_AIJ(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscInt       MatStencilRow(const KCycleStencil *, const KCycleLine *, const PetscInt[], PetscInt[],
                                          PetscScalar[]);

/* entries.c, rows.c, copy.c, delegate.c, product.c, factor.c, sor.c: operations */
PETSC_INTERN PetscErrorCode MatStencilWiden(Mat, const KCycleShape *);
PETSC_INTERN PetscErrorCode MatStencilAddLines(Mat, PetscScalar, Mat);
PETSC_INTERN void MatStencilScaleLine(const KCycleStencil *, PetscInt line, const PetscScalar *l, const PetscScalar *r,
                                      const PetscScalar *halo, PetscScalar[]);
PETSC_INTERN PetscErrorCode MatStencilComposeProducts(Mat, PetscBool);
PETSC_INTERN void           MatStencilSetEntryOps(Mat);
PETSC_INTERN void           MatStencilSetRowOps(Mat);
PETSC_INTERN void           MatStencilSetTransposeOps(Mat);
PETSC_INTERN void           MatStencilSetCopyOps(Mat);
PETSC_INTERN void           MatStencilSetAIJOps(Mat);
PETSC_INTERN void           MatStencilSetViewOps(Mat);
PETSC_INTERN PetscErrorCode MatSOR_Stencil(Mat, Vec, PetscReal, MatSORType, PetscReal, PetscInt, PetscInt, Vec);
PETSC_INTERN PetscErrorCode MatStencilKeepView(Mat);
PETSC_INTERN PetscErrorCode MatStencilColumnSums(Mat, PetscReal *);

/* storage.c: coefficients */
PETSC_INTERN PetscInt       KCycleKey(const PetscScalar *, PetscInt);
PETSC_INTERN PetscErrorCode MatStencilStoreBegin(Mat, PetscBool);
PETSC_INTERN PetscErrorCode MatStencilStoreLine(Mat, PetscInt, const PetscScalar[], PetscBool *);
PETSC_INTERN PetscErrorCode MatStencilStoreSame(Mat, PetscInt, PetscInt);
PETSC_INTERN PetscErrorCode MatStencilStoreWhole(Mat, PetscInt, const PetscScalar[]);
PETSC_INTERN PetscErrorCode MatStencilStoreEnd(Mat);
PETSC_INTERN PetscErrorCode MatStencilStoreReset(Mat);
PETSC_INTERN PetscErrorCode MatStencilStoreZeros(Mat);
PETSC_INTERN void           MatStencilClassChanged(const KCycleStencil *, PetscInt);
PETSC_INTERN PetscErrorCode MatStencilStoreDense(Mat);
PETSC_INTERN void           MatStencilLineArrays(const KCycleStencil *, PetscInt, KCycleLine *);
PETSC_INTERN PetscErrorCode MatStencilGetLine(Mat, PetscInt, PetscScalar[]);
PETSC_INTERN PetscErrorCode MatStencilExpand(Mat);
PETSC_INTERN void           MatStencilExpectRounding(Mat, PetscReal units);
PETSC_INTERN void           MatStencilMirrorLine(const KCycleStencil *, PetscInt, PetscScalar[]);

/* scan.c, asymmetry.c, weakruns.c, symmetric.c */
PETSC_INTERN PetscErrorCode MatStencilScan(Mat, const KCycleScan **);
PETSC_INTERN PetscErrorCode MatStencilScanAsymmetry(Mat, const KCycleScan **);
PETSC_INTERN PetscErrorCode MatStencilScanWeakRuns(Mat, const KCycleScan **);
PETSC_INTERN PetscErrorCode MatStencilIsolatedRows(Mat, PetscInt *, PetscInt **);
PETSC_INTERN PetscErrorCode MatStencilIsSymmetric(Mat, PetscBool *);
PETSC_INTERN PetscBool      MatStencilLinesAreSymmetric(const KCycleStencil *, PetscReal part);
PETSC_INTERN PetscErrorCode MatStencilIsNearlySymmetric(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatStencilSetSymmetric(Mat, PetscBool);
PETSC_INTERN void           MatStencilSetSymmetryOps(Mat);
PETSC_INTERN void           MatStencilCopyCoefficient(const KCycleStencil *, int, PetscScalar *);
PETSC_INTERN PetscBool MatStencilValueAt(const KCycleBox *, const PetscScalar *, const PetscScalar *, const PetscInt[],
                                         PetscScalar *);

/* parts.c: connected parts of the grid, see there */
typedef struct {
  PetscInt    *piece;   /* of each point of this process, its part; -1: it is isolated */
  PetscScalar *d;       /* and, where D A is symmetric, D */
  PetscInt     npieces; /* parts with points of this process, */
  PetscInt    *root;    /* the lowest row of each, on all processes, */
  PetscScalar *factor;
  PetscBool   *closed;   /* and whether its row sums are all zero */
  PetscInt     nclosed;  /* parts of which they are, on all processes */
  PetscBool    balanced; /* D A is symmetric */
  PetscBool    unequal;  /* and A is not */
} KCycleParts;
/* Couplings that differ by this part of them are the same. Diagonals of D A may differ by so much, or as much as those
   of A: a wind from boundary to boundary, too, has such a D, of any size */
#define KC_BALANCED       1e-3
#define KC_BALANCED_RANGE 1e10
PETSC_INTERN PetscErrorCode MatStencilFindParts(Mat, PetscReal rounding, PetscBool early, KCycleParts *);
PETSC_INTERN PetscErrorCode KCyclePartsDestroy(KCycleParts *);

/* balance.c: D and D A, or NULL */
PETSC_INTERN PetscErrorCode MatStencilBalance(Mat, PetscScalar **d, Mat *);

/* fromaij_device.c: values that are on a device, and there alone */
PETSC_INTERN PetscErrorCode MatStencilNeedValues(Mat);
#if defined(KCYCLE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode MatStencilFromAIJOnDevice(Mat, Mat aij, PetscBool *done);
PETSC_INTERN PetscErrorCode MatStencilCopyToHost(Mat);
PETSC_INTERN PetscErrorCode MatStencilMapReset(Mat);
PETSC_INTERN PetscErrorCode MatStencilDeviceReset(Mat);
#else
  #define MatStencilFromAIJOnDevice(A, aij, done) (*(done) = PETSC_FALSE, PETSC_SUCCESS)
  #define MatStencilCopyToHost(A)                 PETSC_SUCCESS
  #define MatStencilMapReset(A)                   PETSC_SUCCESS
  #define MatStencilDeviceReset(A)                PETSC_SUCCESS
#endif

/* fill.c */
PETSC_INTERN PetscErrorCode MatStencilFillIsolated(Mat, Mat *);

/* mult.c */
PETSC_INTERN PetscErrorCode MatStencilGetDevice(Mat, void **stencil); /* see devicelevelimpl.h */
PETSC_INTERN void           MatStencilSetOps(Mat);
PETSC_INTERN PetscErrorCode MatStencilComposeMethods(Mat, PetscBool);

/* conjugate.c: two passes of conjugate gradients, see KSPKCG, and their buffers; zeros at first */
#define KC_CONJUGATE_SUMS 3
typedef struct {
  const KCycleBox *box;              /* that they are made for */
  PetscInt         n, nlines, nhalo; /* its sizes */
  PetscInt         threads;
  PetscScalar     *zhalo, *phalo; /* halos of z and p */
  PetscScalar     *line;          /* a line for each thread */
  PetscReal       *sum;           /* sums of each line */
} KCycleConjugate;
typedef struct {
  PetscBool  first;
  PetscReal  alpha, beta;
  PetscReal *sum; /* of the squares of r on this process, or NULL */
} KCycleConjugateStep;
PETSC_INTERN PetscErrorCode MatStencilConjugateReset(KCycleConjugate *);
PETSC_INTERN PetscErrorCode MatStencilConjugateRepeats(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatStencilConjugateDots(Mat, KCycleConjugate *, Vec z, Vec r, Vec w, PetscReal sum[]);
PETSC_INTERN PetscErrorCode MatStencilConjugateStep(Mat, KCycleConjugate *, const KCycleConjugateStep *, Vec z, Vec p,
                                                    Vec x, Vec r);

/* The coefficient that couples a point to another one, both relative to the owned box, or -1. Where a periodic
   direction has one or two points, one of the coefficients that reach the same point */
static inline int KCycleFindOffset(const KCycleBox *box, const KCycleShape *shape, const PetscInt row[],
                                   const PetscInt col[])
{
  int find = 0, index = 1;

  for (int d = 0; d < 3; d++) {
    const PetscInt size = box->size[d];
    PetscInt       away = col[d] - row[d];

    if (box->periodic[d]) {
      if (size <= 2) away = (col[d] + box->start[d] + size) % size - (row[d] + box->start[d] + size) % size;
      else if (away > 1) away -= size;
      else if (away < -1) away += size;
    }
    if (away < -1 || away > 1) return -1;
    find += index * (int)(away + 1);
    index *= 3;
  }
  return shape->find[find];
}
