/*
  Rows of an AIJ matrix: its arrays, and rows that other processes own.
*/
#include <petsckcycle/private/aijimpl.h>
#include <petsc/private/petscimpl.h>

PetscErrorCode KCycleAIJGet(Mat A, PetscBool values, KCycleAIJ *aij)
{
  PetscBool parallel, done;
  PetscInt  n;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(aij, sizeof(*aij)));
  aij->mat[0] = A;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &aij->mat[0], &aij->mat[1], &aij->columns));
  if (parallel) PetscCall(MatGetSize(aij->mat[1], NULL, &aij->ncolumns));
  for (int b = 0; b < 2 && aij->mat[b]; b++) {
    PetscCall(MatGetRowIJ(aij->mat[b], 0, PETSC_FALSE, PETSC_FALSE, &n, &aij->i[b], &aij->j[b], &done));
    PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "A matrix of type %s does not show its rows",
               ((PetscObject)aij->mat[b])->type_name);
    if (values) PetscCall(MatSeqAIJGetArrayRead(aij->mat[b], &aij->a[b]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleAIJRestore(KCycleAIJ *aij)
{
  PetscBool done;
  PetscInt  n;

  PetscFunctionBegin;
  for (int b = 0; b < 2 && aij->mat[b]; b++) {
    if (aij->a[b]) PetscCall(MatSeqAIJRestoreArrayRead(aij->mat[b], &aij->a[b]));
    PetscCall(MatRestoreRowIJ(aij->mat[b], 0, PETSC_FALSE, PETSC_FALSE, &n, &aij->i[b], &aij->j[b], &done));
  }
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
  PetscCall(KCycleAIJGet(fetched->A[0], PETSC_TRUE, &fetched->aij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleAIJFetchedRowsDestroy(KCycleFetchedRows *fetched)
{
  PetscFunctionBegin;
  if (!fetched->A) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleAIJRestore(&fetched->aij));
  PetscCall(MatDestroySubMatrices(1, &fetched->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
