/*
  MatPtAP() and MatGalerkin() of a MATSTENCIL and a MATSTENCILTRANSFER: a MATSTENCIL.
*/
#include "mattransfer.h"

static PetscErrorCode MatProductNumeric_PtAP_Stencil_StencilTransfer(Mat product)
{
  PetscFunctionBegin;
  PetscCall(MatStencilGalerkin(product->product->A, product->product->B, PETSC_FALSE, PETSC_FALSE, &product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductSymbolic_PtAP_Stencil_StencilTransfer(Mat product)
{
  PetscFunctionBegin;
  PetscCall(MatStencilMakeOnDM(product, ((Mat_StencilTransfer *)product->product->B->data)->coarsedm, KC_BOX));
  PetscCall(MatStencilStoreZeros(product));
  product->assembled           = PETSC_TRUE;
  product->ops->productnumeric = MatProductNumeric_PtAP_Stencil_StencilTransfer;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The interpolation must be that of the operator's grid */
PetscErrorCode MatProductSetFromOptions_Stencil_StencilTransfer(Mat product)
{
  const KCycleStencil  *st = KCycleStencilOf(product->product->A);
  const KCycleTransfer *tr = KCycleTransferOf(product->product->B);

  PetscFunctionBegin;
  PetscCheck(product->product->type == MATPRODUCT_PtAP, PetscObjectComm((PetscObject)product), PETSC_ERR_SUP,
             "A matrix of type stencil and one of type stenciltransfer have the product P^T A P, not %s: use MatPtAP()",
             MatProductTypes[product->product->type]);
  for (PetscInt d = 0; d < 3; d++) {
    PetscCheck(st->box->size[d] == tr->fine->size[d] && st->box->n[d] == tr->fine->n[d], PETSC_COMM_SELF,
               PETSC_ERR_ARG_SIZ,
               "The operator is on another grid than the interpolation: %" PetscInt_FMT " and %" PetscInt_FMT
               " points in %c, %" PetscInt_FMT " and %" PetscInt_FMT " of them on this process",
               st->box->size[d], tr->fine->size[d], (int)('x' + d), st->box->n[d], tr->fine->n[d]);
  }
  product->ops->productsymbolic = MatProductSymbolic_PtAP_Stencil_StencilTransfer;
  PetscFunctionReturn(PETSC_SUCCESS);
}
