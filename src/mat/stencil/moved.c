/*
  Rows of an AIJ matrix that are points of this process on its grid, but belong to other processes: where processes own
  parts of planes. Few do, and they are sent.
*/
#include <petsckcycle/private/stencilimpl.h>

/* Collective; rows [first, first + n) are points of this process */
PetscErrorCode KCycleSentRowsGet(Mat A, PetscInt first, PetscInt n, KCycleSentRows *sent)
{
  PetscInt start, end, N, *row;
  IS       which, all;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(MatGetSize(A, &N, NULL));
  sent->below = PetscMax(PetscMin(first + n, start) - first, 0);
  sent->above = PetscMax(first + n - PetscMax(first, end), 0);
  PetscCall(PetscMalloc1(sent->below + sent->above, &row));
  for (PetscInt r = 0; r < sent->below; r++) row[r] = first + r;
  for (PetscInt r = 0; r < sent->above; r++) row[sent->below + r] = first + n - sent->above + r;
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, sent->below + sent->above, row, PETSC_OWN_POINTER, &which));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, N, 0, 1, &all));
  PetscCall(MatCreateSubMatrices(A, 1, &which, &all, MAT_INITIAL_MATRIX, &sent->A));
  PetscCall(ISDestroy(&which));
  PetscCall(ISDestroy(&all));
  PetscCall(KCycleAIJGetArrays(sent->A[0], &sent->i, &sent->j, &sent->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSentRowsRestore(KCycleSentRows *sent)
{
  PetscFunctionBegin;
  if (!sent->A) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleAIJRestoreArrays(sent->A[0], &sent->i, &sent->j, &sent->a));
  PetscCall(MatDestroySubMatrices(1, &sent->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
