/*
  Copies of stencil matrices: what is stored is copied as it is.
*/
#include "matstencil.h"

static PetscErrorCode CopyStore(Mat A, Mat B)
{
  Mat_Stencil *a = (Mat_Stencil *)A->data, *b = (Mat_Stencil *)B->data;

  PetscFunctionBegin;
  PetscCall(MatStencilNeedValues(A));
  PetscCall(PetscFree(b->dense));
  PetscCall(MatStencilOffProcessReset(B));
  PetscCall(MatStencilSetShape(B, &a->s.shape));
  b->slack = a->slack;
  PetscCall(MatStencilStoreBegin(B, a->s.half));
  b->s.nclasses = b->maxclasses = a->s.nclasses;
  PetscCall(PetscMalloc1(a->s.nclasses, &b->s.classes));
  PetscCall(PetscArraycpy(b->s.classes, a->s.classes, a->s.nclasses));
  PetscCall(PetscArraycpy(b->s.set, a->s.set, a->s.box->nlines));
  PetscCall(PetscArraycpy(b->s.block, a->s.block, a->s.box->nextended));
  PetscCall(KCyclePoolCopy(&a->s.shared, &b->s.shared));
  PetscCall(KCyclePoolCopy(&a->s.own, &b->s.own));
  PetscCall(PetscHMapIDestroy(&b->map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDuplicate_Stencil(Mat A, MatDuplicateOption option, Mat *B)
{
  Mat_Stencil *a = (Mat_Stencil *)A->data, *b;

  PetscFunctionBegin;
  PetscCall(MatStencilCreateOnDM(a->dm, KCycleShapeKind(&a->s.shape), B));
  PetscCall(PetscLayoutReference(A->rmap, &(*B)->rmap));
  PetscCall(PetscLayoutReference(A->cmap, &(*B)->cmap));
  b                 = (Mat_Stencil *)(*B)->data;
  b->columnoriented = a->columnoriented;
  b->ignoreothers   = a->ignoreothers;
  b->ignorenew      = a->ignorenew;
  b->dmview         = a->dmview;
  if (option == MAT_COPY_VALUES) PetscCall(CopyStore(A, *B));
  else PetscCall(MatStencilStoreZeros(*B));
  (*B)->assembled = A->assembled;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* To a stencil that has all neighbours of A and more, on the same grid */
static PetscErrorCode CopyLines(Mat A, Mat B)
{
  PetscFunctionBegin;
  PetscCall(MatStencilNeedValues(A));
  PetscCall(MatZeroEntries(B));
  PetscCall(MatStencilAddLines(B, 1, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* To another type, or another grid: row by row */
static PetscErrorCode CopyRows(Mat A, Mat B)
{
  PetscFunctionBegin;
  PetscCall(MatZeroEntries(B));
  for (PetscInt row = A->rmap->rstart; row < A->rmap->rend; row++) {
    const PetscInt    *cols;
    const PetscScalar *values;
    PetscInt           m;

    PetscCall(MatGetRow(A, row, &m, &cols, &values));
    PetscCall(MatSetValues(B, 1, &row, m, cols, values, INSERT_VALUES));
    PetscCall(MatRestoreRow(A, row, &m, &cols, &values));
  }
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* B keeps the places that it has, as those of AIJ: values may come there later */
static PetscErrorCode MatCopy_Stencil(Mat A, Mat B, MatStructure structure)
{
  const KCycleStencil *a = KCycleStencilOf(A), *b;
  PetscBool            is;

  PetscFunctionBegin;
  (void)structure;
  PetscCall(MatStencilIs(B, &is));
  b = is ? KCycleStencilOf(B) : NULL;
  if (!b || !KCycleBoxIsSame(a->box, b->box)) PetscCall(CopyRows(A, B));
  else if (KCycleShapeHas(&a->shape, &b->shape)) PetscCall(CopyStore(A, B));
  else {
    PetscCall(MatStencilWiden(B, &a->shape));
    PetscCall(CopyLines(A, B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

void MatStencilSetCopyOps(Mat A)
{
  A->ops->duplicate = MatDuplicate_Stencil;
  A->ops->copy      = MatCopy_Stencil;
}
