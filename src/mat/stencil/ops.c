/*
  Products with a stencil matrix.
*/
#include "matstencil.h"
#include <petsckcycle/private/levelimpl.h>

/* y = A x, b + A x or b - A x */
PetscErrorCode MatStencilCompute(Mat A, int op, Vec x, Vec b, Vec y)
{
  Mat_Stencil       *st = (Mat_Stencil *)A->data;
  const PetscScalar *xa, *ba = NULL;
  PetscScalar       *ya;

  PetscFunctionBegin;
  PetscCheck(st->s.set, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The matrix is not assembled: call MatAssemblyBegin() and MatAssemblyEnd()");
  PetscCall(VecGetArrayRead(x, &xa));
  if (b && b != y) PetscCall(VecGetArrayRead(b, &ba));
  PetscCall(VecGetArray(y, &ya));
  PetscCall(KCycleStencilCompute(&st->s, op, xa, b == y ? ya : ba, ya));
  PetscCall(VecRestoreArray(y, &ya));
  if (b && b != y) PetscCall(VecRestoreArrayRead(b, &ba));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_Stencil(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatStencilCompute(A, KC_MULT, x, NULL, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultAdd_Stencil(Mat A, Vec x, Vec b, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatStencilCompute(A, KC_ADD, x, b, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatResidual_Stencil(Mat A, Vec b, Vec x, Vec r)
{
  PetscFunctionBegin;
  PetscCall(MatStencilCompute(A, KC_RESIDUAL, x, b, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilSetOps(Mat A)
{
  PetscFunctionBegin;
  A->ops->mult     = MatMult_Stencil;
  A->ops->multadd  = MatMultAdd_Stencil;
  A->ops->residual = MatResidual_Stencil;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilComposeMethods(Mat A, PetscBool compose)
{
  const char *const types[] = {"aij", "seqaij", "mpiaij"};
  char              name[64];

  PetscFunctionBegin;
  for (int t = 0; t < 3; t++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "MatConvert_stencil_%s_C", types[t]));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, name, compose ? MatConvert_Stencil_AIJ : NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
