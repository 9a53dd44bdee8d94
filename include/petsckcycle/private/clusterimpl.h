/*
  Clusters of strongly coupled points, whose corrections follow the sweeps of a smoother.
*/
#pragma once

#include <petsckcycle/private/smootherimpl.h>
#include <petsckcycle/private/systemsimpl.h>

/* Clusters by generations: those of one generation have no point in common; those in parts come first. Their rows are
   in slices, see KCycleClusterRows */
struct _KCycleClusters {
  int          references;   /* smoothers that have them */
  PetscInt     ngenerations; /* the same on all processes */
  PetscInt     nclusters;    /* with parts of clusters */
  PetscInt     nslices;
  PetscInt    *generation; /* first slice of the parts, and of the others, of each generation */
  PetscInt    *first;      /* first cluster of each slice: as many as lanes, fewer, or a long one */
  PetscBool   *near;       /* of each slice: it has no points of the halo */
  PetscInt    *start, *members, *column;
  PetscScalar *value;
  PetscInt64   nentries; /* of all rows, without what fills up lanes */
  PetscScalar *inverse;  /* 1 / sum of the matrix over the members; 1 for parts */
  PetscScalar *right;    /* of each cluster: 1^T b of all sweeps that are asked for together */
  PetscScalar *change;   /* of each cluster of a generation */
  PetscInt    *nparts;   /* of each generation */
  PetscSF     *sf;       /* of each generation: from parts to sums; NULL: no process has parts */
  PetscInt     nslots;
  PetscScalar *slotinverse, *sum; /* of clusters in parts that this process adds up */
  PetscInt64   found[2];          /* clusters and points found by this process */
};

/* Clusters of a slice */
static inline PetscInt KCycleClustersOfSlice(const KCycleClusters *cl, PetscInt slice)
{
  return cl->first[slice + 1] - cl->first[slice];
}

/* clusters.c */
PETSC_INTERN PetscErrorCode KCycleClustersDestroy(KCycleClusters **);

/* corrections.c */
PETSC_INTERN PetscErrorCode KCycleClustersAddUp(const KCycleClusters *, PetscInt g, PetscScalar *parts);
PETSC_INTERN PetscErrorCode KCycleSmootherWrapClusters(KCycleClusters *, KCycleSmoother **);
