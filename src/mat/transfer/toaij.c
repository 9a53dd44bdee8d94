/*
  The entries of an interpolation, for those who want them as rows: it becomes a matrix of type AIJ. A row has a place
  for each coarse point that may count, so that the pattern never changes.
*/
#include "mattransfer.h"

/* At most, in each of three directions two */
#define MOST 8

/* The row of point i of a fine line */
static PetscInt RowOf(const KCycleTransfer *tr, const KCycleTouch *touch, PetscInt i, PetscInt cols[],
                      PetscScalar values[])
{
  const KCycleBox *box = tr->coarse;
  PetscInt         m   = 0, count;
  const PetscInt   n = box->n[0], low = KCycleTouched(tr->factor[0], tr->shift[0], i, &count);

  for (PetscInt q = 0; q < touch->count; q++) {
    const PetscScalar *w = touch->w[q];

    for (PetscInt x = low; x < low + count; x++) {
      const PetscInt at[3] = {box->start[0] + x, box->start[1] + touch->j[q], box->start[2] + touch->k[q]};

      cols[m] = KCycleBoxPointToRow(box, at);
      if (cols[m] < 0) continue;
      if (!w) values[m++] = 0;
      else if (count == 1) values[m++] = KCycleWeightsSame(w)[x];
      else values[m++] = x == low ? KCycleWeightsLeft(w, n)[x] : KCycleWeightsRight(w, n)[low];
    }
  }
  return m;
}

/* The same coarse point may be reached from both sides, where a direction wraps around */
static PetscErrorCode FillRows(Mat P, Mat aij)
{
  const KCycleTransfer *tr = KCycleTransferOf(P);
  const PetscInt       *n  = tr->fine->n;
  PetscInt              cols[MOST];
  PetscScalar           values[MOST];
  KCycleTouch           touch;

  PetscFunctionBegin;
  for (PetscInt line = 0; line < tr->fine->nlines; line++) {
    KCycleTransferTouch(tr, line % n[1], line / n[1], &touch);
    for (PetscInt i = 0; i < n[0]; i++) {
      const PetscInt row = P->rmap->rstart + line * n[0] + i, m = RowOf(tr, &touch, i, cols, values);

      PetscCall(MatSetValues(aij, 1, &row, m, cols, values, ADD_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(aij, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(aij, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Through AIJ, whatever the type */
PetscErrorCode MatConvert_StencilTransfer(Mat P, MatType type, MatReuse reuse, Mat *B)
{
  Mat aij;

  PetscFunctionBegin;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)P), &aij));
  PetscCall(MatSetSizes(aij, P->rmap->n, P->cmap->n, P->rmap->N, P->cmap->N));
  PetscCall(MatSetType(aij, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(aij, MOST, NULL));
  PetscCall(MatMPIAIJSetPreallocation(aij, MOST, NULL, MOST, NULL));
  PetscCall(FillRows(P, aij));
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatConvert(aij, type, MAT_REUSE_MATRIX, B));
    PetscCall(MatDestroy(&aij));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatConvert(aij, type, MAT_INPLACE_MATRIX, &aij));
  if (reuse == MAT_INPLACE_MATRIX) PetscCall(MatHeaderReplace(P, &aij));
  else *B = aij;
  PetscFunctionReturn(PETSC_SUCCESS);
}
