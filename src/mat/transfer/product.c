/*
  MatPtAP() and MatGalerkin() of a MATSTENCIL and a MATSTENCILTRANSFER: a MATSTENCIL.
*/
#include "mattransfer.h"

/* The interpolation must be that of the operator's grid */
static PetscErrorCode CheckGrids(Mat product)
{
  return KCycleBoxCheckSame(PetscObjectComm((PetscObject)product), KCycleStencilOf(product->product->A)->box,
                            KCycleTransferOf(product->product->B)->fine, "The operator is");
}

/* The factors may have been replaced since the product was made */
static PetscErrorCode MatProductNumeric_PtAP_Stencil_StencilTransfer(Mat product)
{
  PetscFunctionBegin;
  PetscCall(CheckGrids(product));
  PetscCall(KCycleBoxCheckSame(PetscObjectComm((PetscObject)product), KCycleStencilOf(product)->box,
                               KCycleTransferOf(product->product->B)->coarse, "The product is"));
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

PetscErrorCode MatProductSetFromOptions_Stencil_StencilTransfer(Mat product)
{
  PetscFunctionBegin;
  PetscCheck(product->product->type == MATPRODUCT_PtAP, PetscObjectComm((PetscObject)product), PETSC_ERR_SUP,
             "A matrix of type stencil and one of type stenciltransfer have the product P^T A P, not %s: use MatPtAP()",
             MatProductTypes[product->product->type]);
  PetscCall(CheckGrids(product));
  product->ops->productsymbolic = MatProductSymbolic_PtAP_Stencil_StencilTransfer;
  PetscFunctionReturn(PETSC_SUCCESS);
}
