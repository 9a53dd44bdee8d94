/*
  Clusters of strongly coupled points, whose corrections follow the sweeps of a smoother.
*/
#pragma once

#include <petsckcycle/private/smootherimpl.h>

/* Clusters by generations: those of one generation have no point in common; those in parts come first */
struct _KCycleClusters {
  int          references;   /* smoothers that have them */
  PetscInt     ngenerations; /* the same on all processes */
  PetscInt     nclusters;    /* with parts of clusters */
  PetscInt    *generation;   /* first cluster of each generation */
  PetscInt    *start;        /* first entry of each cluster's row, the sum of its members' rows */
  PetscInt    *size;         /* members: the first entries of a row stand in their columns */
  PetscInt    *column;       /* owned points, and behind them the halo buffer */
  PetscScalar *value;
  PetscScalar *inverse; /* 1 / sum of the matrix over the members; 1 for parts */
  PetscScalar *change;  /* of each cluster of a generation */
  PetscInt    *nparts;  /* of each generation */
  PetscSF     *sf;      /* of each generation: from parts to sums; NULL: no process has parts */
  PetscInt     nslots;
  PetscScalar *slotinverse, *sum; /* of clusters in parts that this process adds up */
  PetscInt64   found[2];          /* clusters and points found by this process */
};

/* A sweep with its corrections is asked for by itself: what one of these is, or two where it is symmetric */
static inline int KCycleClustersSplitSweeps(const KCycleSweeps *sweeps, KCycleSweeps one[2])
{
  const PetscBool    both    = (PetscBool)(sweeps->order == PC_RELAX_SYMMETRIC);
  const KCycleSweeps forward = {1, PETSC_FALSE, (PetscBool)(sweeps->reverse && !both),
                                both ? PC_RELAX_FORWARD : sweeps->order};

  one[0] = one[1] = forward;
  one[1].reverse  = PETSC_TRUE;
  return both ? 2 : 1;
}

/* clusters.c */
PETSC_INTERN PetscErrorCode KCycleClustersDestroy(KCycleClusters **);

/* corrections.c */
PETSC_INTERN PetscErrorCode KCycleClustersAddUp(const KCycleClusters *, PetscInt g, PetscScalar *parts);
PETSC_INTERN PetscErrorCode KCycleSmootherWrapClusters(KCycleClusters *, KCycleSmoother **);
