/*
  Sweeps, residual and restriction, or interpolation and sweeps, of a smoother by polynomials in one march through the
  grid; see march.c.
*/
#pragma once

#include <petsckcycle/private/vectorsimpl.h>

typedef struct _KCycleMarch KCycleMarch;

/* What is done, in this order: its[0] sweeps; interpolation and addition; its[1] sweeps; residual and restriction */
typedef struct {
  const KCScalar       *b;
  KCScalar             *x;
  PetscBool             zeroguess; /* x counts as zero, and may hold anything; there are sweeps then */
  PetscBool             writes;    /* x */
  PetscInt              its[2];
  const KCycleTransfer *tr;
  const KCScalar       *e;        /* coarse correction, or NULL */
  KCScalar             *coarse;   /* restricted residual is added to it, or NULL */
  PetscReal            *sum;      /* of the squares of the residual, or NULL */
  PetscBool             converts; /* x goes where vectors say */
  const KCycleStart    *start;    /* of x, or NULL: it is there */
} KCycleMarchTask;

PETSC_INTERN PetscErrorCode KCycleMarchCreate(const KCycleStencil *, const KCycleVectors *, PetscInt nterms,
                                              const KCycleTerm[], KCycleMarch **);
PETSC_INTERN PetscErrorCode KCycleMarchRenew(KCycleMarch *);
PETSC_INTERN PetscErrorCode KCycleMarchDestroy(KCycleMarch **);
PETSC_INTERN PetscInt       KCycleMarchSweeps(const KCycleMarch *);
PETSC_INTERN PetscErrorCode KCycleMarchRun(const KCycleMarch *, const KCycleMarchTask *);
