/*
  The coarse end of a cycle as one kernel. On a device a launch takes longer than the work of a small level, and cycles
  with kappa > 1 come to small levels often. A subcycle is what a visit does on a level and on all coarser ones, the
  coarsest problem included; which steps these are depends on the level and on what is left of kappa there. It is
  written down when it is visited for the first time, by the same recursion, and later visits perform it.

  What such a visit makes of a right side, from a solution of zero, is linear: on a level of few unknowns it is a
  matrix, made column by column by the same program, and later cycles multiply with it, which takes one kernel of many
  blocks. The first cycle has no matrices: it may be the only one.
*/
#pragma once

#include <petsckcycle/private/cycleimpl.h>

typedef struct {
  PetscBool      tried;   /* to write it */
  PetscBool      done;    /* it was performed, so that its operations and calls have been counted once */
  PetscBool      linear;  /* it starts from zero */
  KCycleProgram *program; /* NULL: it cannot be one */
  KCycleMatrix  *matrix;  /* NULL: there is none yet */
  PetscInt64    *calls;   /* of the cycle, on its levels */
} KCycleSubcycle;

typedef struct {
  const KCycleLevels *levels;   /* whose cycles they are */
  KCycleSharing       sharing;  /* which levels may be in a subcycle, and what has become of these */
  PetscInt            pending;  /* matrices that wait for the next cycle */
  KCycleSubcycle    **subcycle; /* of each level, for all visits that it can have, see KCycleSubcycleFind() */
  KCycleSubcycle     *now;      /* that is being written */
} KCycleSubcycles;

PETSC_INTERN PetscErrorCode  KCycleSubcyclesCreate(const KCycleLevels *, KCycleSubcycles **);
PETSC_INTERN PetscErrorCode  KCycleSubcyclesForget(KCycleSubcycles *);
PETSC_INTERN PetscErrorCode  KCycleSubcyclesDestroy(KCycleSubcycles **);
PETSC_INTERN PetscErrorCode  KCycleSubcyclesSetTop(KCycleSubcycles *, PetscInt unknowns, PetscInt few);
PETSC_INTERN PetscErrorCode  KCycleSubcyclesMakeMatrices(KCycleSubcycles *);
PETSC_INTERN KCycleSubcycle *KCycleSubcycleFind(KCycleSubcycles *, PetscInt level, const KCycleVisit *);
PETSC_INTERN PetscErrorCode  KCycleSubcycleBegin(KCycleSubcycles *, PetscInt level, KCycleSubcycle *);
PETSC_INTERN PetscErrorCode  KCycleSubcycleEnd(KCycleSubcycles *, PetscInt level, PetscBool failed);
PETSC_INTERN PetscErrorCode  KCycleSubcycleRun(const KCycleSubcycles *, PetscInt level, KCycleSubcycle *);
