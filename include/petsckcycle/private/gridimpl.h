/*
  Grids of any size and any number of unknowns at a point, coarsened by leaving out every second point of a direction.
  Plain data: what is known of a DMDA, and of grids that no DMDA exists for, since a process may own none of their
  points.
*/
#pragma once

#include <petscdmda.h>

typedef struct {
  PetscInt    dim, dof;
  PetscInt    size[3];     /* points; 1 in directions beyond dim */
  PetscInt    period[3];   /* length of a periodic direction in cells of the finest grid, 0 for others */
  PetscInt    nproc[3];    /* processes */
  PetscInt   *first[3];    /* first point of each process, and one past the last */
  PetscInt   *position[3]; /* of each point, in cells of the finest grid */
  PetscInt   *rows;        /* first row of each process, and one past the last */
  PetscMPIInt rank;        /* of this process */
} KCycleMesh;

PETSC_INTERN PetscErrorCode KCycleMeshCheck(DM, size_t, char[]);
PETSC_INTERN PetscErrorCode KCycleMeshCreate(DM, KCycleMesh *);
PETSC_INTERN PetscErrorCode KCycleMeshCoarsen(const KCycleMesh *, const PetscBool[], KCycleMesh *);
PETSC_INTERN PetscErrorCode KCycleMeshDestroy(KCycleMesh *);
PETSC_INTERN PetscErrorCode KCycleMeshInterpolation(const KCycleMesh *, const KCycleMesh *, const PetscBool[],
                                                    const PetscBool[], MatType, MPI_Comm, Mat *);
PETSC_INTERN PetscErrorCode KCycleMeshLook(const KCycleMesh *, Mat, PetscReal[], PetscBool[]);

/* The rows of this process */
static inline PetscInt KCycleMeshLocalRows(const KCycleMesh *mesh)
{
  return mesh->rows[mesh->rank + 1] - mesh->rows[mesh->rank];
}

/* The coarse point that a fine one becomes, or -1. The ends are kept */
static inline PetscInt KCycleMeshKept(const KCycleMesh *mesh, PetscInt d, PetscInt i)
{
  const PetscInt n = mesh->size[d];

  if (n == 2) return i == 0 ? 0 : -1;
  if (i % 2 == 0) return i / 2;
  return i == n - 1 && !mesh->period[d] ? n / 2 : -1;
}
