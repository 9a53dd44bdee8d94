/*
  What the recursion of the kappa-cycle (cycle.c) and those who make and run levels (engine.c) share.

  In single precision levels have copies of operators and transfers, and their own arrays. Operators are divided by
  their largest diagonal entry, and the right side by its largest entry, so that numbers of any size fit: by powers of
  two of that size, so that nothing is rounded, and any size near it gives the same numbers. The coarsest problem is
  solved in double precision.
*/
#pragma once

#include "recordingimpl.h"
#include "subcycleimpl.h"

struct _KCycleLevels {
  MPI_Comm                comm;
  PetscInt                nlevels;
  const KCycleLevelParts *parts; /* of who made it */
  KCycleLevelData        *level;
  const KCycleKernels    *kernels;
  PetscBool               counts;  /* calls, bytes and rounds of messages of kernels */
  const KCycleRun        *run;     /* that is going on, */
  PetscBool               stopped; /* until its test said stop */
  PetscBool               watched; /* its steps are logged or timed, each by itself */
  /* right side and solution of the coarsest level for its solver, where that cannot have the level's arrays; or NULL */
  PetscScalar            *coarse[2];
  PetscBool               inverse; /* the kernels have the inverse of the coarsest operator, and need no solver */
  /* of levels with their own numbers: */
  PetscReal               divisor;    /* of operators, else 1 */
  PetscReal               size;       /* of the right side of the run, or of the one before */
  KCycleRecordings       *recordings; /* of cycles, where the kernels record them; or NULL */
  KCycleSubcycles        *subcycles;  /* of cycles, where the kernels perform them by one kernel; or NULL */
  PetscInt                ncosts;     /* of cycles that have run */
  KCycleCost              cost[KC_COSTS];
};

/* The same of what is done in addition to the steps of a cycle, on the finest level */
#define KC_PROFILED(levels, call)                                             \
  do {                                                                        \
    KCycleProfile *profile_ = (levels)->parts[(levels)->nlevels - 1].profile; \
                                                                              \
    KCycleCall(KCycleProfileBegin(profile_, NULL));                           \
    KCycleCall(call);                                                         \
    KCycleCall(KCycleProfileEnd(profile_, NULL, KCYCLE_ROW_OTHER));           \
  } while (0)

/* Is the residual of a level to be tested? */
static inline PetscBool KCycleLevelIsTested(const KCycleLevels *levels, PetscInt l)
{
  return (PetscBool)(levels->run->test && l == levels->nlevels - 1);
}

/* cycle.c */
PETSC_INTERN PetscBool      KCycleLevelsAreFused(const KCycleLevels *, PetscInt l, int which, PetscBool tested);
PETSC_INTERN PetscErrorCode KCycleLevelsCycle(KCycleLevels *);

/* traffic.c: bytes that kernels move between memory and processor at least */
PETSC_INTERN PetscInt64 KCycleBytesVectors(const KCycleLevelData *, PetscInt words);
PETSC_INTERN PetscInt64 KCycleBytesResidual(const KCycleLevelData *);
PETSC_INTERN PetscInt64 KCycleBytesSweeps(const KCycleLevelData *, int which, const KCycleSweeps *, PetscBool rides);
