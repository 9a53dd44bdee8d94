/*
  MATSTENCILTRANSFER: interpolation between two DMDA grids, and restriction as its transpose, without indices.
*/
#include "mattransfer.h"
#include <petsckcycle/private/levelimpl.h>
#include <petsckcycle/private/registerimpl.h>

const char *const PCKCycleInterpolationTypes[] = {
    "auto", "linear", "simplex", "constant", "operator", "PCKCycleInterpolationType", "PC_KCYCLE_INTERPOLATION_", NULL};

PetscErrorCode MatStencilTransferIs(Mat P, PetscBool *is)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)P, MATSTENCILTRANSFER, is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const KCycleTransfer *KCycleTransferOf(Mat P)
{
  return &((Mat_StencilTransfer *)P->data)->t;
}

/* to = P from, or P^T from; or that is added to sum */
static PetscErrorCode Multiply(Mat P, PetscBool transpose, Vec from, Vec sum, Vec to)
{
  const PetscScalar *x;
  PetscScalar       *y;

  PetscFunctionBegin;
  if (sum && sum != to) PetscCall(VecCopy(sum, to));
  if (transpose && !sum) PetscCall(VecSet(to, 0));
  PetscCall(VecGetArrayRead(from, &x));
  PetscCall(VecGetArray(to, &y));
  if (transpose) PetscCall(KCycleTransferRestrict(KCycleTransferOf(P), x, y));
  else PetscCall(KCycleTransferInterpolate(KCycleTransferOf(P), x, (PetscBool)(sum != NULL), y));
  PetscCall(VecRestoreArray(to, &y));
  PetscCall(VecRestoreArrayRead(from, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_StencilTransfer(Mat P, Vec e, Vec x)
{
  return Multiply(P, PETSC_FALSE, e, NULL, x);
}

static PetscErrorCode MatMultAdd_StencilTransfer(Mat P, Vec e, Vec y, Vec x)
{
  return Multiply(P, PETSC_FALSE, e, y, x);
}

static PetscErrorCode MatMultTranspose_StencilTransfer(Mat P, Vec r, Vec b)
{
  return Multiply(P, PETSC_TRUE, r, NULL, b);
}

static PetscErrorCode MatMultTransposeAdd_StencilTransfer(Mat P, Vec r, Vec c, Vec b)
{
  return Multiply(P, PETSC_TRUE, r, c, b);
}

static PetscErrorCode MatDestroy_StencilTransfer(Mat P)
{
  Mat_StencilTransfer *p = (Mat_StencilTransfer *)P->data;

  PetscFunctionBegin;
  PetscCall(KCyclePoolDestroy(&p->t.weights));
  PetscCall(MatDestroy(&p->overlap.P));
  PetscCall(PetscFree(p->t.set));
  PetscCall(PetscFree(p->t.halo));
  PetscCall(PetscFree(p->t.line));
  PetscCall(PetscObjectComposeFunction((PetscObject)P, "MatProductSetFromOptions_stencil_stenciltransfer_C", NULL));
  PetscCall(DMDestroy(&p->finedm));
  PetscCall(DMDestroy(&p->coarsedm));
  PetscCall(PetscFree(P->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetInfo_StencilTransfer(Mat P, MatInfoType type, MatInfo *info)
{
  const KCycleTransfer *tr = KCycleTransferOf(P);
  PetscReal             local, all;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(info, sizeof(*info)));
  info->block_size = 1;
  local = all = sizeof(PetscScalar) * ((PetscReal)tr->weights.used + tr->coarse->nhalo) +
                4.0 * sizeof(PetscInt) * tr->fine->nextended;
  if (type == MAT_GLOBAL_SUM)
    PetscCallMPI(MPI_Allreduce(&local, &all, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)P)));
  if (type == MAT_GLOBAL_MAX)
    PetscCallMPI(MPI_Allreduce(&local, &all, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)P)));
  info->memory = all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the weights are */
PCKCycleInterpolationType MatStencilTransferInterpolation(Mat P)
{
  return ((Mat_StencilTransfer *)P->data)->interpolation;
}

/* Do isolated points take part in coarser levels? */
PetscBool MatStencilTransferFilled(Mat P)
{
  return ((Mat_StencilTransfer *)P->data)->filled;
}

/* What it is in words; its entries as those of AIJ */
static PetscErrorCode MatView_StencilTransfer(Mat P, PetscViewer viewer)
{
  const KCycleTransfer *tr = KCycleTransferOf(P);
  PetscViewerFormat     format;
  const char           *name;
  MatInfo               info;
  PetscBool             ascii;
  Mat                   aij;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (ascii && format == PETSC_VIEWER_ASCII_FACTOR_INFO) PetscFunctionReturn(PETSC_SUCCESS);
  if (!ascii || (format != PETSC_VIEWER_ASCII_INFO && format != PETSC_VIEWER_ASCII_INFO_DETAIL)) {
    PetscCall(MatConvert(P, MATAIJ, MAT_INITIAL_MATRIX, &aij));
    PetscCall(PetscObjectGetName((PetscObject)P, &name));
    PetscCall(PetscObjectSetName((PetscObject)aij, name));
    PetscCall((*aij->ops->view)(aij, viewer));
    PetscCall(MatDestroy(&aij));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetInfo_StencilTransfer(P, MAT_GLOBAL_SUM, &info));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "%s interpolation, factors %" PetscInt_FMT " %" PetscInt_FMT " %" PetscInt_FMT ", %.0f bytes\n",
      PCKCycleInterpolationTypes[((Mat_StencilTransfer *)P->data)->interpolation], tr->factor[0], tr->factor[1],
      tr->factor[2], (double)info.memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  MATSTENCILTRANSFER - "stenciltransfer" - Interpolation from a coarse to a fine `DMDA`, without indices; its transpose
  is the restriction.

  Level: intermediate

  Notes:
  `PCKCYCLE` makes these matrices for its structured levels (`-pc_kcycle_structured`). Rows belong to the fine grid,
  columns to the coarse one, which may have any size; each direction is coarsened by a factor of two or not at all.

  Weights that repeat from line to line are stored once. `MatPtAP()` of a `MATSTENCIL` and such a matrix is a
  `MATSTENCIL`. `MatConvert()` makes a `MATAIJ` of it, with zeros where there are no weights, and `MatView()` shows
  and writes its entries through that.

.seealso: `PCKCYCLE`, `MATSTENCIL`, `PCKCycleInterpolationType`
M*/
PetscErrorCode MatCreate_StencilTransfer(Mat P)
{
  Mat_StencilTransfer *p;

  PetscFunctionBegin;
  PetscCall(PetscNew(&p));
  P->data                  = (void *)p;
  P->ops->mult             = MatMult_StencilTransfer;
  P->ops->multadd          = MatMultAdd_StencilTransfer;
  P->ops->multtranspose    = MatMultTranspose_StencilTransfer;
  P->ops->multtransposeadd = MatMultTransposeAdd_StencilTransfer;
  P->ops->destroy          = MatDestroy_StencilTransfer;
  P->ops->getinfo          = MatGetInfo_StencilTransfer;
  P->ops->view             = MatView_StencilTransfer;
  P->ops->convert          = MatConvert_StencilTransfer;
  PetscCall(PetscObjectComposeFunction((PetscObject)P, "MatProductSetFromOptions_stencil_stenciltransfer_C",
                                       MatProductSetFromOptions_Stencil_StencilTransfer));
  PetscCall(PetscObjectChangeTypeName((PetscObject)P, MATSTENCILTRANSFER));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An interpolation without weights yet. Each process owns the coarse points whose fine points it owns, and at least
   one */
PetscErrorCode MatStencilTransferCreate(DM fine, DM coarse, const PetscInt factor[], const PetscInt origin[], Mat *P)
{
  Mat_StencilTransfer *p;
  KCycleTransfer      *tr;

  PetscFunctionBegin;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)fine), P));
  PetscCall(MatSetType(*P, MATSTENCILTRANSFER));
  p  = (Mat_StencilTransfer *)(*P)->data;
  tr = &p->t;
  PetscCall(KCycleBoxGet(fine, KCYCLE_BOX_KERNELS, &tr->fine));
  PetscCall(KCycleBoxGet(coarse, KCYCLE_BOX_KERNELS, &tr->coarse));
  PetscCall(PetscObjectReference((PetscObject)fine));
  PetscCall(PetscObjectReference((PetscObject)coarse));
  p->finedm   = fine;
  p->coarsedm = coarse;
  for (PetscInt d = 0; d < 3; d++) {
    tr->factor[d] = factor[d];
    tr->origin[d] = origin[d];
    tr->shift[d]  = factor[d] * tr->coarse->start[d] + origin[d] - tr->fine->start[d];
    PetscCheck(factor[d] * tr->coarse->n[d] + tr->shift[d] >= tr->fine->n[d] - 1 && tr->shift[d] >= 0 &&
                   tr->shift[d] <= 1 && (tr->coarse->n[d] - 1) * factor[d] + tr->shift[d] < tr->fine->n[d],
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "Coarse points are not where their fine points are");
  }
  tr->stride = 3 * tr->coarse->n[0] + 4;
  PetscCall(MatSetSizes(*P, tr->fine->npoints, tr->coarse->npoints, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(PetscLayoutSetUp((*P)->rmap));
  PetscCall(PetscLayoutSetUp((*P)->cmap));
  PetscCall(PetscMalloc1(4 * (size_t)tr->fine->nextended, &tr->set));
  for (PetscInt i = 0; i < 4 * tr->fine->nextended; i++) tr->set[i] = -1;
  PetscCall(PetscMalloc1((size_t)KCycleThreadsMost() * tr->fine->n[0], &tr->line));
  PetscCall(KCycleBoxHaloCreate(tr->coarse, &tr->halo));
  (*P)->preallocated = (*P)->assembled = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
