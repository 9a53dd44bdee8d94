/*
  The grid whose points are the rows of a matrix.
*/
#pragma once

#include <petsckcycle/private/aijimpl.h>
#include <petsckcycle/private/boximpl.h>

/* Indices of the entries of AIJ */
typedef struct {
  Mat         A;
  MPI_Comm    comm;
  PetscMPIInt rank, size; /* processes */
  PetscInt    n, start, N;
  KCycleAIJ   aij; /* with values: a stored zero couples nothing */
} KCycleIndices;

/*
  A numbering of the points of a grid by rows: that of a DMDA, box after box, or line after line, whatever rows
  processes own. The box has no halo; its star: each point is coupled to neighbours in one direction only.
*/
typedef struct {
  KCycleBox  box;
  PetscInt   shift; /* number of the first owned row among the points of the box */
  /* stored zeros between points that are no neighbours, or that are only around the grid, were passed over: other
     values may be no grid */
  PetscBool  zeros;
  PetscBool  moved;    /* processes cut planes of the grid (lines in 2D): rows have to move */
  PetscInt64 pairs[3]; /* couplings with neighbours in each direction */
  PetscInt   wrong[2]; /* row and column of an entry that couples points that are no neighbours; -1: there is none */
} KCycleNumbering;

/* numbering.c */
PETSC_INTERN PetscErrorCode KCycleIndicesGet(Mat, KCycleIndices *);
PETSC_INTERN PetscErrorCode KCycleNumberingLines(const KCycleIndices *, PetscInt, const PetscInt[], KCycleNumbering **);
PETSC_INTERN PetscErrorCode KCycleNumberingBoxes(const KCycleIndices *, PetscInt, const PetscInt[], PetscInt *const[],
                                                 KCycleNumbering **);
PETSC_INTERN PetscErrorCode KCycleNumberingCheck(const KCycleIndices *, KCycleNumbering *);
PETSC_INTERN PetscErrorCode KCycleNumberingSlabs(const KCycleIndices *, KCycleNumbering *, PetscBool *);
PETSC_INTERN PetscErrorCode KCycleNumberingDestroy(KCycleNumbering **);
PETSC_INTERN PetscErrorCode KCycleNumberingFitsDM(const KCycleNumbering *, DM, PetscBool *);

/* find.c */
PETSC_INTERN PetscErrorCode KCycleSizesText(PetscInt, const PetscInt[], size_t, char[]);
PETSC_INTERN PetscErrorCode KCycleNumberingFind(Mat, KCycleNumbering **, size_t, char[]);
PETSC_INTERN PetscErrorCode KCycleNumberingGiven(Mat, PetscInt, const PetscInt[], KCycleNumbering **);
