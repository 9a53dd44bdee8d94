/*
  The time of a cycle: T = alpha launches + beta operations + gamma messages, section 3 of Avnat and Yavneh, On the
  Recursive Structure of Multigrid Cycles, with messages between processes added. No object of PETSc is known here.

  The sums go over visits of levels. How many these are follows from kappa; what one of them takes was timed.
*/
#pragma once

#include <petsckcycle/private/cycleimpl.h>

/* One level. All processes have the same numbers */
typedef struct {
  PetscReal rows;
  PetscReal launches;   /* of kernels, or passes through the grid, in a visit */
  PetscReal operations; /* entries that these multiply with, on a process that has its share */
  PetscReal messages;   /* rounds of them */
  PetscReal seconds[2]; /* of a visit from zero, and of one that goes on from an iterate */
  char      solver[128];
} KCycleModelLevel;

typedef struct {
  PetscInt          nlevels, processes;
  KCycleModelLevel *level;              /* finest first, those on fewer processes included */
  PetscReal         outside;            /* seconds of an application without the visits of its levels */
  PetscReal         alpha, beta, gamma; /* seconds of a launch, of an operation, of a round of messages */
} KCycleModel;

/* What visits of all levels come to */
typedef struct {
  PetscReal launches, operations, messages, seconds;
} KCycleModelSum;

PETSC_INTERN void      KCycleModelVisits(const KCycleVisit *, PetscInt nlevels, PetscInt level, PetscReal visits[2]);
PETSC_INTERN void      KCycleModelAdd(const KCycleModel *, const KCycleVisit *, KCycleModelSum *);
PETSC_INTERN PetscBool KCycleModelIsTimed(const KCycleModel *);
PETSC_INTERN void      KCycleModelFit(KCycleModel *);
PETSC_INTERN PetscReal KCycleModelTurningPoint(const KCycleModel *, PetscInt kappa);
PETSC_INTERN PetscBool KCycleModelSame(const KCycleModel *, const KCycleModel *);

/* What a small matrix that a method of Arnoldi has made says of the operator; it is overwritten */
PETSC_INTERN PetscReal KCycleModelRadius(PetscInt n, PetscScalar a[]);
PETSC_INTERN PetscBool KCycleModelInvert(PetscInt n, PetscScalar a[]);

PETSC_INTERN PetscReal KCycleModelMedian(PetscInt, PetscReal[]);
