/*
  What a stencil matrix leaves to AIJ: submatrices, rows for orderings, graphs for algebraic multigrid, the diagonal
  block of a process, contents on a viewer.
*/
#include "matstencil.h"

static const char RowsIJ[] = "KCycleStencilRowIJ";

/* An operation on an AIJ form that is made for it */
#define THROUGH_AIJ(A, call)                                    \
  do {                                                          \
    Mat aij;                                                    \
                                                                \
    PetscFunctionBegin;                                         \
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &aij)); \
    PetscCall(call);                                            \
    PetscCall(MatDestroy(&aij));                                \
    PetscFunctionReturn(PETSC_SUCCESS);                         \
  } while (0)

static PetscErrorCode MatCreateSubMatrices_Stencil(Mat A, PetscInt n, const IS rows[], const IS cols[], MatReuse reuse,
                                                   Mat *submat[])
{
  THROUGH_AIJ(A, MatCreateSubMatrices(aij, n, rows, cols, reuse, submat));
}

static PetscErrorCode MatCreateSubMatricesMPI_Stencil(Mat A, PetscInt n, const IS rows[], const IS cols[],
                                                      MatReuse reuse, Mat *submat[])
{
  THROUGH_AIJ(A, MatCreateSubMatricesMPI(aij, n, rows, cols, reuse, submat));
}

static PetscErrorCode MatCreateSubMatrix_Stencil(Mat A, IS rows, IS cols, MatReuse reuse, Mat *submat)
{
  THROUGH_AIJ(A, MatCreateSubMatrix(aij, rows, cols, reuse, submat));
}

static PetscErrorCode MatIncreaseOverlap_Stencil(Mat A, PetscInt n, IS is[], PetscInt overlap)
{
  THROUGH_AIJ(A, MatIncreaseOverlap(aij, n, is, overlap));
}

/* The AIJ form is kept, as the block belongs to it. On one process the matrix itself is the block */
static PetscErrorCode MatGetDiagonalBlock_Stencil(Mat A, Mat *block)
{
  Mat_Stencil     *st = (Mat_Stencil *)A->data;
  Mat              aij;
  PetscObjectState state;
  PetscMPIInt      size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  if (size == 1) {
    *block = A;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  PetscCall(PetscObjectQuery((PetscObject)A, KC_STENCIL_AIJ, (PetscObject *)&aij));
  if (!aij) {
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
    PetscCall(PetscObjectCompose((PetscObject)A, KC_STENCIL_AIJ, (PetscObject)aij));
    PetscCall(PetscObjectDereference((PetscObject)aij));
    PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  } else if (state != st->aijstate) PetscCall(MatConvert(A, MATAIJ, MAT_REUSE_MATRIX, &aij));
  st->aijstate = state;
  PetscCall(MatGetDiagonalBlock(aij, block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Row by row in any case: an ordering of rows that AIJ takes together would not be expanded */
static PetscErrorCode MatGetRowIJ_Stencil(Mat A, PetscInt shift, PetscBool symmetric, PetscBool compressed, PetscInt *n,
                                          const PetscInt *ia[], const PetscInt *ja[], PetscBool *done)
{
  PetscMPIInt size;
  Mat         aij;

  PetscFunctionBegin;
  (void)compressed;
  *done = PETSC_FALSE;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  if (size > 1) PetscFunctionReturn(PETSC_SUCCESS);
  *n    = A->rmap->n;
  *done = PETSC_TRUE;
  if (!ia) PetscFunctionReturn(PETSC_SUCCESS); /* of AIJ that would be rows taken together */
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
  PetscCall(PetscObjectCompose((PetscObject)A, RowsIJ, (PetscObject)aij));
  PetscCall(PetscObjectDereference((PetscObject)aij));
  PetscCall(MatGetRowIJ(aij, shift, symmetric, PETSC_FALSE, n, ia, ja, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatRestoreRowIJ_Stencil(Mat A, PetscInt shift, PetscBool symmetric, PetscBool compressed,
                                              PetscInt *n, const PetscInt *ia[], const PetscInt *ja[], PetscBool *done)
{
  Mat aij;

  PetscFunctionBegin;
  (void)compressed;
  PetscCall(PetscObjectQuery((PetscObject)A, RowsIJ, (PetscObject *)&aij));
  if (aij) PetscCall(MatRestoreRowIJ(aij, shift, symmetric, PETSC_FALSE, n, ia, ja, done));
  PetscCall(PetscObjectCompose((PetscObject)A, RowsIJ, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreateGraph_Stencil(Mat A, PetscBool symmetrize, PetscBool scale, PetscReal filter,
                                             KCYCLE_GRAPH_INDEX_PARAMETERS Mat *graph)
{
  THROUGH_AIJ(A, MatCreateGraph(aij, symmetrize, scale, filter, KCYCLE_GRAPH_INDEX_ARGUMENTS graph));
}

static PetscErrorCode MatFDColoringCreate_Stencil(Mat A, ISColoring coloring, MatFDColoring fd)
{
  PetscFunctionBegin;
  (void)coloring;
  PetscCheck(!fd, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "Jacobians by differences with colouring, -snes_fd_color, are not for matrices of type stencil: use "
             "-dm_mat_type aij");
  PetscFunctionReturn(PETSC_SUCCESS);
}

void MatStencilSetAIJOps(Mat A)
{
  A->ops->createsubmatrices    = MatCreateSubMatrices_Stencil;
  A->ops->createsubmatricesmpi = MatCreateSubMatricesMPI_Stencil;
  A->ops->createsubmatrix      = MatCreateSubMatrix_Stencil;
  A->ops->increaseoverlap      = MatIncreaseOverlap_Stencil;
  A->ops->getdiagonalblock     = MatGetDiagonalBlock_Stencil;
  A->ops->getrowij             = MatGetRowIJ_Stencil;
  A->ops->restorerowij         = MatRestoreRowIJ_Stencil;
  A->ops->creategraph          = MatCreateGraph_Stencil;
  A->ops->fdcoloringcreate     = MatFDColoringCreate_Stencil;
  A->ops->sor                  = MatSOR_Stencil;
  A->ops->convertfrom          = MatConvertFrom_Stencil;
  A->ops->convert              = MatConvertTo_Stencil;
}
