/*
  The cycle on PCMG's objects, see cycle.c.
*/
#pragma once

#include "kcycleimpl.h"

typedef enum {
  KCYCLE_VECTORS,
  KCYCLE_TRANSPOSED, /* smoothers, transfers and sub-cycles change places */
  KCYCLE_BLOCKS      /* of right sides */
} KCycleKind;

typedef struct {
  PC             pc;
  PC_KCycle     *kc;
  PC_MG_Levels **levels; /* coarsest first */
  KCycleKind     kind;
} KCycleObjects;

static inline KCycleObjects KCycleObjectsOf(PC pc, KCycleKind kind)
{
  const KCycleObjects c = {pc, KCycleOf(pc), ((PC_MG *)pc->data)->levels, kind};

  return c;
}

PETSC_INTERN PetscErrorCode KCycleObjectsResidual(const KCycleObjects *, PetscInt);
PETSC_INTERN PetscErrorCode KCycleObjectsDown(const KCycleObjects *, PetscInt, PetscBool zeroguess);
PETSC_INTERN PetscErrorCode KCycleObjectsUp(const KCycleObjects *, PetscInt, PetscInt kappa);
PETSC_INTERN PetscErrorCode KCycleObjectsApply(const KCycleObjects *, const KCycleVisit *);
