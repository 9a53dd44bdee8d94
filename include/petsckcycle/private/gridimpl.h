/*
  Grids of any size and any number of unknowns at a point, coarsened by leaving out every second point of a direction,
  and linear interpolation between them. Plain data: no DMDA exists for them, since a process may own none of their
  points.
*/
#pragma once

#include <petsckcycle/private/boximpl.h>

typedef struct {
  KCycleBox box;
  PetscInt  period[3];   /* length of a periodic direction in cells of the finest grid, 0 for others */
  PetscInt *position[3]; /* of each point, in cells of the finest grid */
} KCycleMesh;

PETSC_INTERN PetscErrorCode KCycleMeshCreate(DM, KCycleMesh *);
PETSC_INTERN PetscErrorCode KCycleMeshCoarsen(const KCycleMesh *, const PetscBool[], KCycleMesh *);
PETSC_INTERN PetscErrorCode KCycleMeshDestroy(KCycleMesh *);
PETSC_INTERN PetscErrorCode KCycleMeshInterpolation(const KCycleMesh *, const KCycleMesh *, const PetscBool[],
                                                    const PetscBool[], MatType, MPI_Comm, Mat *);
PETSC_INTERN PetscErrorCode KCycleMeshLook(const KCycleMesh *, Mat, PetscReal[], PetscBool[]);

/* The coarse point that a fine one becomes, or -1. The boundary is kept */
static inline PetscInt KCycleMeshKept(const KCycleMesh *mesh, PetscInt d, PetscInt i)
{
  const PetscInt n = mesh->box.size[d];

  if (n == 2) return i == 0 ? 0 : -1;
  if (i % 2 == 0) return i / 2;
  return i == n - 1 && !mesh->box.periodic[d] ? n / 2 : -1;
}
