/*
  Rows of an AIJ matrix: its arrays, and rows that other processes own.
*/
#include <petsckcycle/private/stencilimpl.h>

/* The compressed rows of a sequential AIJ matrix: columns alone, and with values */
PetscErrorCode KCycleAIJGetColumns(Mat A, const PetscInt **i, const PetscInt **j)
{
  PetscInt  n;
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, i, j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "A matrix of type %s does not show its rows",
             ((PetscObject)A)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleAIJRestoreColumns(Mat A, const PetscInt **i, const PetscInt **j)
{
  PetscInt  n;
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, i, j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleAIJGetArrays(Mat A, const PetscInt **i, const PetscInt **j, const PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCall(KCycleAIJGetColumns(A, i, j));
  PetscCall(MatSeqAIJGetArrayRead(A, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleAIJRestoreArrays(Mat A, const PetscInt **i, const PetscInt **j, const PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCall(MatSeqAIJRestoreArrayRead(A, a));
  PetscCall(KCycleAIJRestoreColumns(A, i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective */
PetscErrorCode KCycleAIJFetchRows(Mat A, IS rows, KCycleFetchedRows *fetched)
{
  PetscInt n;
  IS       all;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, NULL, &n));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, n, 0, 1, &all));
  PetscCall(ISSetIdentity(all));
  PetscCall(MatCreateSubMatrices(A, 1, &rows, &all, MAT_INITIAL_MATRIX, &fetched->A));
  PetscCall(ISDestroy(&all));
  PetscCall(KCycleAIJGetArrays(fetched->A[0], &fetched->i, &fetched->j, &fetched->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleAIJFetchedRowsDestroy(KCycleFetchedRows *fetched)
{
  PetscFunctionBegin;
  if (!fetched->A) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleAIJRestoreArrays(fetched->A[0], &fetched->i, &fetched->j, &fetched->a));
  PetscCall(MatDestroySubMatrices(1, &fetched->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
