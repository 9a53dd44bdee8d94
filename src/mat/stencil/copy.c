/*
  Copies of stencil matrices: what is stored is copied as it is.
*/
#include "matstencil.h"

static PetscErrorCode CopyStore(Mat A, Mat B)
{
  Mat_Stencil *a = (Mat_Stencil *)A->data, *b = (Mat_Stencil *)B->data;

  PetscFunctionBegin;
  PetscCall(MatStencilBring(A));
  PetscCall(PetscFree(b->dense));
  if (a->s.shape.ncoeffs != b->s.shape.ncoeffs) PetscCall(PetscObjectCompose((PetscObject)B, KC_STENCIL_AIJ, NULL));
  b->s.shape = a->s.shape;
  b->slack   = a->slack;
  MatStencilMakeFrames(B);
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
  b->dmview         = a->dmview;
  if (option == MAT_COPY_VALUES) PetscCall(CopyStore(A, *B));
  else PetscCall(MatStencilStoreZeros(*B));
  (*B)->assembled = A->assembled;
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

static PetscErrorCode MatCopy_Stencil(Mat A, Mat B, MatStructure structure)
{
  PetscBool same;
  int       mine, all;

  PetscFunctionBegin;
  (void)structure;
  PetscCall(MatStencilIs(B, &same));
  if (same) {
    const KCycleBox *a = ((Mat_Stencil *)A->data)->s.box, *b = ((Mat_Stencil *)B->data)->s.box;

    for (PetscInt d = 0; d < 3; d++)
      same = (PetscBool)(same && a->size[d] == b->size[d] && a->nproc[d] == b->nproc[d] && a->n[d] == b->n[d] &&
                         a->periodic[d] == b->periodic[d]);
  }
  mine = same;
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)A)));
  if (all) PetscCall(CopyStore(A, B));
  else PetscCall(CopyRows(A, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilSetCopyOps(Mat A)
{
  PetscFunctionBegin;
  A->ops->duplicate = MatDuplicate_Stencil;
  A->ops->copy      = MatCopy_Stencil;
  PetscFunctionReturn(PETSC_SUCCESS);
}
