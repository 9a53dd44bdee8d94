/*
  Compressed rows of AIJ matrices.
*/
#pragma once

#include <petsckcycle/private/compat.h>
#include <petscmat.h>

/* Rows of this process: 0: columns among the owned ones, 1: the others; mat[1] is NULL if there are none */
typedef struct {
  Mat                mat[2];
  const PetscInt    *i[2], *j[2];
  const PetscScalar *a[2];    /* or NULL: not asked for */
  const PetscInt    *columns; /* global numbers of the others, */
  PetscInt           ncolumns;
} KCycleAIJ;

/* Rows that other processes may own, as the rows of a matrix of this one; columns are global */
typedef struct {
  Mat      *A;
  KCycleAIJ aij;
} KCycleFetchedRows;

PETSC_INTERN PetscErrorCode KCycleAIJGet(Mat, PetscBool values, KCycleAIJ *);
PETSC_INTERN PetscErrorCode KCycleAIJRestore(KCycleAIJ *);
PETSC_INTERN PetscErrorCode KCycleAIJFetchRows(Mat, IS, KCycleFetchedRows *);
PETSC_INTERN PetscErrorCode KCycleAIJFetchedRowsDestroy(KCycleFetchedRows *);
