/*
  MATSTENCIL: the matrix of a stencil on a DMDA, without column indices. Here: the type and its assembly.
*/
#include "matstencil.h"
#include <petsckcycle/private/registerimpl.h>

/* Nonzero states of a matrix are 2^20 numbers of its own, so that a solver notices another one in its place:
   MatHeaderReplace() */
#define KC_STATES 20

PetscErrorCode MatStencilIs(Mat A, PetscBool *is)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSTENCIL, is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coefficients, for kernels; A is of type stencil */
const KCycleStencil *KCycleStencilOf(Mat A)
{
  return &((Mat_Stencil *)A->data)->s;
}

/* The grid, and a stencil on it */
static PetscErrorCode SetGrid(Mat A, DM dm)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;

  PetscFunctionBegin;
  PetscCall(KCycleBoxGet(dm, KCYCLE_BOX_KERNELS, &st->s.box));
  PetscCall(PetscObjectReference((PetscObject)dm));
  st->dm = dm;
  PetscCall(PetscLayoutSetUp(A->rmap));
  PetscCall(PetscLayoutSetUp(A->cmap));
  PetscCall(PetscCalloc1(st->s.box->n[0] + 2, &st->s.zeros));
  PetscCall(KCycleBoxHaloCreate(st->s.box, &st->s.halo));
  A->preallocated = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSetUp_Stencil(Mat A)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;
  DM           dm;
  VecType      vectors;
  PetscInt     size;
  char         why[256];

  PetscFunctionBegin;
  if (st->s.box) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetDM(A, &dm));
  PetscCall(KCycleBoxCheck(dm, KCYCLE_BOX_KERNELS, sizeof(why), why));
  PetscCheck(!why[0], PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "A matrix of type stencil cannot be made: %s. Make it with DMCreateMatrix() on a DMDA of one unknown and "
             "stencil width 1 after DMSetMatType(dm, MATSTENCIL), or use "
             "-dm_mat_type aij",
             dm ? why : "it has no DM");
  PetscCall(SetGrid(A, dm));
  PetscCall(DMGetVecType(dm, &vectors));
  PetscCall(MatSetVecType(A, vectors));
  PetscCall(MatGetSize(A, &size, NULL));
  PetscCheck(size == st->s.box->size[0] * st->s.box->size[1] * st->s.box->size[2] && A->rmap->n == st->s.box->npoints &&
                 A->cmap->n == st->s.box->npoints,
             PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "The matrix has %" PetscInt_FMT " rows here, its DMDA %" PetscInt_FMT " points", A->rmap->n,
             st->s.box->npoints);
  KCycleShapeCreate(st->s.box->dim, st->s.box->star ? 0 : KC_BOX, &st->s.shape);
  MatStencilMakeFrames(A);
  PetscCall(MatStencilStoreZeros(A));
  A->assembled = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_Stencil(Mat A)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;

  PetscFunctionBegin;
  PetscCall(MatStencilStoreReset(A));
  PetscCall(MatStencilDeviceReset(A));
  PetscCall(MatStencilMapReset(A));
  PetscCall(PetscFree(st->dense));
  PetscCall(MatStencilOffProcessReset(A));
  PetscCall(PetscFree(st->s.zeros));
  PetscCall(PetscFree(st->s.halo));
  PetscCall(PetscFree(st->back));
  PetscCall(PetscFree(st->inverse));
  PetscCall(DMDestroy(&st->dm));
  PetscCall(MatStencilComposeMethods(A, PETSC_FALSE));
  PetscCall(MatStencilComposeProducts(A, PETSC_FALSE));
  PetscCall(PetscFree(A->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAssemblyEnd_Stencil(Mat A, MatAssemblyType type)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;

  PetscFunctionBegin;
  PetscCall(MatStencilOffProcessSend(A));
  if (type == MAT_FLUSH_ASSEMBLY) PetscFunctionReturn(PETSC_SUCCESS);
  if (st->dense) PetscCall(MatStencilStoreDense(A));
  PetscCall(MatStencilKeepView(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatZeroEntries_Stencil(Mat A)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;

  PetscFunctionBegin;
  PetscCall(MatStencilOffProcessReset(A));
  if (st->dense) PetscCall(PetscArrayzero(st->dense, (size_t)st->s.box->npoints * st->s.shape.ncoeffs));
  else PetscCall(MatStencilStoreZeros(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All places of the stencil are there, whatever values come, and no others: what AIJ may be told of its places but to
   ignore others, and of how it sorts or keeps them, needs nothing */
static PetscErrorCode MatSetOption_Stencil(Mat A, MatOption option, PetscBool flag)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;

  PetscFunctionBegin;
  if (option == MAT_ROW_ORIENTED) st->columnoriented = (PetscBool)!flag;
  if (option == MAT_IGNORE_OFF_PROC_ENTRIES) st->ignoreothers = flag;
  if (option == MAT_NEW_NONZERO_LOCATIONS) st->ignorenew = (PetscBool)!flag;
  if (option == MAT_NEW_NONZERO_LOCATION_ERR || option == MAT_NEW_NONZERO_ALLOCATION_ERR) st->ignorenew = PETSC_FALSE;
  if (option == MAT_STRUCTURE_ONLY && flag) A->structure_only = PETSC_FALSE; /* PETSc has set it */
  PetscCheck(!flag || (option != MAT_STRUCTURE_ONLY && option != MAT_IGNORE_LOWER_TRIANGULAR &&
                       option != MAT_ERROR_LOWER_TRIANGULAR && option != MAT_GETROW_UPPERTRIANGULAR),
             PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "The option %s is not for matrices of type stencil, which have both triangles, and values: use "
             "-dm_mat_type aij or sbaij",
             MatOptions[option]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The one place where a matrix that was made gets another shape: its values are gone, and whatever was made for the old
   shape sees another nonzero state. Collective */
PetscErrorCode MatStencilSetShape(Mat A, const KCycleShape *shape)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;

  PetscFunctionBegin;
  if (KCycleShapeKind(&st->s.shape) == KCycleShapeKind(shape)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStencilStoreReset(A));
  PetscCall(MatStencilOffProcessReset(A));
  st->s.shape = *shape;
  MatStencilMakeFrames(A);
  PetscCall(PetscObjectCompose((PetscObject)A, KC_STENCIL_AIJ, NULL));
  A->nonzerostate++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes of a new matrix one on a DMDA whose stencil may differ from the DMDA's; its values come by
   MatStencilStoreLine() */
PetscErrorCode MatStencilMakeOnDM(Mat A, DM dm, int kind)
{
  KCycleBox   *b;
  Mat_Stencil *st;

  PetscFunctionBegin;
  PetscCall(KCycleBoxGet(dm, KCYCLE_BOX_KERNELS, &b));
  PetscCall(MatSetSizes(A, b->npoints, b->npoints, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(A, MATSTENCIL));
  PetscCall(MatSetDM(A, dm));
  st = (Mat_Stencil *)A->data;
  PetscCall(SetGrid(A, dm));
  KCycleShapeCreate(b->dim, kind, &st->s.shape);
  MatStencilMakeFrames(A);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilCreateOnDM(DM dm, int kind, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)dm), A));
  PetscCall(MatStencilMakeOnDM(*A, dm, kind));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* True as well while its sizes are not known */
static PetscErrorCode IsSquare(Mat A, PetscBool *square)
{
  PetscFunctionBegin;
  *square = PETSC_TRUE;
  if ((A->rmap->n < 0 && A->rmap->N < 0) || (A->cmap->n < 0 && A->cmap->N < 0)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLayoutSetUp(A->rmap));
  PetscCall(PetscLayoutSetUp(A->cmap));
  *square = (PetscBool)(A->rmap->N == A->cmap->N);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  MATSTENCIL - "stencil" - The matrix of a stencil on a `DMDA`, without column indices.

  Options Database Key:
. -dm_mat_type stencil - `DMCreateMatrix()` makes matrices of this type

  Level: beginner

  Notes:
  The `DMDA` has one unknown at a point, stencil width 1, any number of dimensions, star or box stencil, and boundaries
  that are none, ghosted or periodic. A program needs no change: `MatSetValues()`, `MatSetValuesLocal()` and
  `MatSetValuesStencil()` work as for `MATAIJ`. An entry outside the stencil is an error that names row and column,
  unless it is zero.

  Grid lines in x whose coefficients repeat are stored once, so that constant coefficients take no memory traffic; other
  lines keep one array for each offset, and half of them if the matrix is symmetric. `-ksp_view`, or `MatGetInfo()`,
  tells how much is stored.

  `MatConvert()` makes a matrix of this type from one that has the `DMDA` of its grid, see `MatSetDM()`, with all
  entries of the `DMDA`'s stencil, and `MATAIJ` from it; the `DMDA` goes along. Values of
  `MATAIJCUSPARSE` that are on the device are taken there by a kernel, and come to the host when something there asks
  for them. Factorizations by PETSc and by packages
  (`PCLU`, `PCILU`, `PCBJACOBI`, `PCREDUNDANT`), `PCGAMG`, `PCHYPRE`, submatrices, products with `MATAIJ` (`-pc_type mg
  -pc_mg_galerkin`) and the contents on a viewer go through a conversion to `MATAIJ`. `PCML`, `PCEISENSTAT` and
  Jacobians by differences with colouring (`-snes_fd_color`) are not for this type: use `-dm_mat_type aij`.

  `MatSetOption()`: `MAT_ROW_ORIENTED`, `MAT_IGNORE_OFF_PROC_ENTRIES` and `MAT_NO_OFF_PROC_ENTRIES` are as for `MATAIJ`.
  All places of the stencil are there from the start, zero or not, and there are no others: with
  `MAT_NEW_NONZERO_LOCATIONS` false entries outside are ignored, else each is an error, whatever
  `MAT_NEW_NONZERO_ALLOCATION_ERR` and `MAT_NEW_NONZERO_LOCATION_ERR` say. `MAT_STRUCTURE_ONLY` and the options for
  matrices with one triangle (`MAT_IGNORE_LOWER_TRIANGULAR` and others) are errors. What else `MATAIJ` may be told about
  its storage changes nothing.

  `MatCopy()`, `MatAXPY()` and `MatConvert()` into a matrix of this type give it a larger stencil where the entries need
  one, never a smaller one; solvers are then set up as for another pattern.

  A matrix that is not square becomes `MATAIJ` by `MatSetType()`, as `PCGAMG` makes its interpolation of the type that
  the matrix has.

  `MatLoad()` on several processes into a matrix that `DMCreateMatrix()` made makes it `MATAIJ`, as PETSc replaces it;
  not if it has been assembled, empty for instance.

.seealso: `PCKCYCLE`, `DMSetMatType()`, `MATAIJ`
M*/
PetscErrorCode MatCreate_Stencil(Mat A)
{
  Mat_Stencil  *st;
  PetscObjectId id;
  PetscBool     square;

  PetscFunctionBegin;
  PetscCall(IsSquare(A, &square));
  if (!square) {
    PetscCall(MatSetType(A, MATAIJ));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscNew(&st));
  PetscCall(PetscObjectGetId((PetscObject)A, &id));
  A->nonzerostate = id << KC_STATES;
#if !defined(PETSC_HAVE_MPIUNI)
  A->stash.blocktype = MPI_DATATYPE_NULL; /* MatSetOption() with MAT_SUBSET_OFF_PROC_ENTRIES frees it */
#endif
  A->data                = (void *)st;
  A->ops->setup          = MatSetUp_Stencil;
  A->ops->destroy        = MatDestroy_Stencil;
  A->ops->setvalues      = MatSetValues_Stencil;
  A->ops->setvalueslocal = MatSetValuesLocal_Stencil;
  A->ops->assemblyend    = MatAssemblyEnd_Stencil;
  A->ops->zeroentries    = MatZeroEntries_Stencil;
  A->ops->setoption      = MatSetOption_Stencil;
  MatStencilSetEntryOps(A);
  MatStencilSetRowOps(A);
  MatStencilSetTransposeOps(A);
  MatStencilSetSymmetryOps(A);
  MatStencilSetCopyOps(A);
  MatStencilSetAIJOps(A);
  MatStencilSetViewOps(A);
  MatStencilSetOps(A);
  PetscCall(MatStencilComposeMethods(A, PETSC_TRUE));
  PetscCall(MatStencilComposeProducts(A, PETSC_TRUE));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, MATSTENCIL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
