/*
  What is done with all lines of a level that a process owns, halos included: arrays in, arrays out. Of these functions
  and of all kernels there is one source, compiled for PETSc's numbers and for single precision.
*/
#pragma once

#include <petsckcycle/private/boximpl.h>

/* steps.c: y = A x, b + A x or b - A x, see KCyclePointOp */
PETSC_INTERN PetscErrorCode KCycleStencilCompute(const KCycleStencil *, int op, const KCScalar *x, const KCScalar *b,
                                                 KCScalar *y);
PETSC_INTERN void           KCycleStencilDiagonal(const KCycleStencil *, KCScalar *d);

/* x = P e, or x += P e; b += P^T r. A smoother that restricts line by line does so between Begin and End */
PETSC_INTERN PetscErrorCode KCycleTransferInterpolate(const KCycleTransfer *, const KCScalar *e, PetscBool add,
                                                      KCScalar *x);
PETSC_INTERN PetscErrorCode KCycleTransferRestrict(const KCycleTransfer *, const KCScalar *r, KCScalar *b);
PETSC_INTERN PetscErrorCode KCycleTransferRestrictBegin(const KCycleTransfer *);
PETSC_INTERN PetscErrorCode KCycleTransferRestrictEnd(const KCycleTransfer *, KCScalar *b);

/* Cubic interpolation of a coarse solution, see start.c; `around` and `work` are used in any precision */
typedef struct {
  KCycleCubic cubic;
  PetscSF     sf;     /* from coarse points of processes to those around, or NULL: they are the process's own */
  void       *around; /* these */
  void       *work;   /* a coarse line for each thread */
} KCycleStarter;

#if !defined(KCYCLE_SINGLE)
PETSC_INTERN PetscErrorCode KCycleStarterCreate(MPI_Comm, const KCycleTransfer *, const PetscBool dirichlet[3][2],
                                                KCycleStarter **);
PETSC_INTERN PetscErrorCode KCycleStarterDestroy(KCycleStarter **);
#endif
PETSC_INTERN PetscErrorCode KCycleStarterInterpolate(const KCycleStarter *, const KCycleBox *fine,
                                                     const KCScalar *coarse, KCScalar *x);
