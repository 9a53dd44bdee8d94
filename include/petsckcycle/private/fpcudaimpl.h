/*
  PCFASTPOISSON on a device: what its kernels work on, and the functions that launch them; see cudaimpl.h.

  Lines go through a buffer. If the numbers of a line follow each other in the array they do in the buffer. Otherwise
  those of all lines at the same point do, so that neighbouring threads read and write neighbouring numbers:

      width 0      line 0 | line 1 | ...
      width w      first numbers of w lines | second ones | ...
*/
#pragma once

#include <petsckcycle/private/cudaimpl.h>
#include <petsckcycle/private/fppoint.h>

/* Lines along one direction of a box of points, some of all */
typedef struct {
  PetscInt n;              /* points of a line */
  PetscInt first;          /* of these lines, and */
  PetscInt count;          /* how many there are */
  PetscInt stride[3];      /* of positions in the array: along a line, from line to line of a row, from row to row */
  KCycleCudaDivisor row;   /* lines of a row */
  PetscInt          width; /* of the buffer */
} KCycleCudaFPLines;

/* Between an array and the numbers, real or complex, of a transform of cuFFT */
typedef struct {
  KCycleCudaFPLines  lines;
  KCycleFPTransform  transform;
  PetscInt           m;      /* threads of a line; */
  KCycleCudaDivisor  each;   /* its lines, or m, whichever is counted first */
  const PetscReal   *before; /* factors of points, or NULL */
  const PetscReal   *turn;   /* cosines and sines of the transform's angles */
  const PetscScalar *from;
  PetscScalar       *to;
} KCycleCudaFPMove;

/* Tridiagonal systems of all lines; numbers of rows, and eigenvalues of the two other directions */
typedef struct {
  KCycleCudaFPLines  lines;
  const PetscReal   *low, *mid, *up, *factor, *w;
  const PetscReal   *across, *rows;
  PetscReal          sigma;
  PetscInt           singular; /* a system whose shift is zero is */
  const PetscScalar *b;
  PetscScalar       *x, *inverse;
} KCycleCudaFPSystems;

/* What all points of a box are multiplied or divided by, of three directions */
typedef struct {
  KCycleCudaFPLines lines;
  KCycleCudaDivisor each;
  const PetscReal  *along, *across, *rows;
} KCycleCudaFPBox;

/* Points of the core next to a face, and those of the face: a step further */
typedef struct {
  PetscInt          n, first, stride[2], step;
  KCycleCudaDivisor row;
  PetscReal         coupling;
  const PetscReal  *d[2];
  PetscInt          transpose;
} KCycleCudaFPFace;

#if !defined(KCYCLE_SINGLE)
/* fastpoissoncuda.cu: numbers that a transform of n points needs, that are complex, or that threads of a line
   write before it */
PETSC_INTERN PetscInt KCycleCudaFPLength(KCycleFPTransform, PetscInt n);
PETSC_INTERN PetscInt KCycleCudaFPFromComplex(KCycleFPTransform);

/* before a transform, from an array to a buffer; and after it, from a buffer to an array */
PETSC_INTERN cudaError_t KCycleCudaFPBefore(cudaStream_t, const KCycleCudaFPMove *);
PETSC_INTERN cudaError_t KCycleCudaFPBehind(cudaStream_t, const KCycleCudaFPMove *);
PETSC_INTERN cudaError_t KCycleCudaFPSolve(cudaStream_t, const KCycleCudaFPSystems *);

/* x *= norm / (sum of eigenvalues and sigma), or nothing where that is not above least; x = b times, or by, the
   product of three */
PETSC_INTERN cudaError_t KCycleCudaFPDivide(cudaStream_t, const KCycleCudaFPBox *, PetscReal sigma, PetscReal norm,
                                            PetscReal least, PetscScalar *x);
PETSC_INTERN cudaError_t KCycleCudaFPBalance(cudaStream_t, const KCycleCudaFPBox *, PetscBool invert,
                                             const PetscScalar *b, PetscScalar *x);

/* At listed points x = (b - w) inverse, where NULL is no number, or 1; x -= C x, or C^T x, of a face */
PETSC_INTERN cudaError_t KCycleCudaFPStore(cudaStream_t, PetscInt n, const PetscInt *list, const PetscReal *inverse,
                                           const PetscScalar *b, const PetscScalar *w, PetscScalar *x);
PETSC_INTERN cudaError_t KCycleCudaFPCouple(cudaStream_t, const KCycleCudaFPFace *, PetscScalar *x);
#endif
