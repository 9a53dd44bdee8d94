/*
  A level with a number of points around those that a process owns in each direction (ghost zones): there a process does
  all sweeps of a visit, the residual and its restriction, or the interpolation and sweeps, as if it were alone. Sweeps
  spoil what they compute from points further away, one point more with each step, and the owned points are right in the
  end. So there are two exchanges in a visit, whatever the number of steps, and the passes through the cache run under
  every cut of the grid into processes.
*/
#pragma once

#include <petsckcycle/private/smootherimpl.h>

/* The grids are those of one process. In each direction; 0: the low side, 1: the high side */
struct _KCycleGhosts {
  const KCycleStencilDouble  *st; /* the operator, and the interpolation from the coarser grid */
  const KCycleTransferDouble *tr;
  const KCycleBox            *box, *coarsebox;      /* what the process owns of both grids, */
  PetscInt                    low[3], coarselow[3]; /* number of points above before these */
  PetscInt                    ghostrows[3][2];      /* points that others own */
  PetscInt                    depth;                /* the most of them at a side */
  PetscInt                    origin[3];            /* parity of the points that the coarser grid keeps */
  PetscInt                   *number; /* of each line: which of the points that others own is its first one */
  PetscSF                     fine;   /* from owned points of the fine grid to those of others, in their order */
  PetscSF                     coarse; /* from owned points of the coarser grid to all there */
  Mat                         A, P;
};

/* Ghost points that the steps of a visit need: its sweeps, which leave two right, then the residual and its
   restriction; or the interpolation, and its sweeps, which leave none */
static inline PetscInt KCycleGhostsDepth(PetscInt before, PetscInt behind)
{
  return PetscMax(before + 2, behind);
}

/* Collective. depth: number of ghost points; origin: of the smoother, see KCycleSmoother */
PETSC_INTERN PetscErrorCode KCycleGhostsCreate(Mat A, Mat P, PetscInt depth, KCycleGhosts **);
PETSC_INTERN PetscErrorCode KCycleGhostsDestroy(KCycleGhosts **);
