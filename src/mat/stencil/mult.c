/*
  Products with a stencil matrix.
*/
#include "matstencil.h"
#include <petsckcycle/private/levelimpl.h>
#include <petsckcycle/private/deviceimpl.h>
#include <petsckcycle/private/devicelevelimpl.h>
#include <petsckcycle/private/policyimpl.h>

#if defined(KCYCLE_HAVE_CUDA)
/* The copy for products on a device, with the values of now */
PetscErrorCode MatStencilGetDevice(Mat A, void **stencil)
{
  Mat_Stencil     *st = (Mat_Stencil *)A->data;
  PetscObjectState state;

  PetscFunctionBegin;
  if (st->ondevice) {
    *stencil = st->device;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatStencilNeedValues(A));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (!st->device)
    PetscCall(KCycleDeviceStencilCreate(&st->s, KCycleBoxOverlaps(st->s.box, KCYCLE_OVERLAP),
                                        (KCycleDeviceStencil **)&st->device));
  else if (st->device_state != state) PetscCall(KCycleDeviceStencilFill(&st->s, (KCycleDeviceStencil *)st->device));
  st->device_state = state;
  *stencil         = st->device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ComputeOnDevice(Mat A, int op, Vec x, Vec b, Vec y)
{
  const PetscScalar *xa, *ba = NULL;
  KCycleCudaStep     step;
  void              *stencil;
  PetscScalar       *ya;

  PetscFunctionBegin;
  PetscCall(MatStencilGetDevice(A, &stencil));
  PetscCall(VecGetArrayReadAndMemType(x, &xa, NULL));
  if (b && b != y) PetscCall(VecGetArrayReadAndMemType(b, &ba, NULL));
  if (b == y) PetscCall(VecGetArrayAndMemType(y, &ya, NULL));
  else PetscCall(VecGetArrayWriteAndMemType(y, &ya, NULL));
  step.op = op;
  step.x  = xa;
  step.b  = b == y ? ya : ba;
  step.y  = ya;
  step.w = step.keep = 0;
  step.d             = NULL;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(KCycleDeviceStencilStep((KCycleDeviceStencil *)stencil, &step));
  PetscCall(PetscLogGpuTimeEnd());
  if (b == y) PetscCall(VecRestoreArrayAndMemType(y, &ya));
  else PetscCall(VecRestoreArrayWriteAndMemType(y, &ya));
  if (b && b != y) PetscCall(VecRestoreArrayReadAndMemType(b, &ba));
  PetscCall(VecRestoreArrayReadAndMemType(x, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilDeviceReset(Mat A)
{
  return KCycleDeviceStencilDestroy((KCycleDeviceStencil **)&((Mat_Stencil *)A->data)->device);
}
#endif

/* y = A x, b + A x or b - A x */
static PetscErrorCode Compute(Mat A, int op, Vec x, Vec b, Vec y)
{
  Mat_Stencil       *st = (Mat_Stencil *)A->data;
  const PetscScalar *xa, *ba = NULL;
  PetscScalar       *ya;

  PetscFunctionBegin;
#if defined(KCYCLE_HAVE_CUDA)
  const Vec v[3]   = {x, b ? b : x, y};
  PetscBool device = PETSC_TRUE;

  for (int i = 0; i < 3 && device; i++) PetscCall(KCycleVecOnDevice(v[i], &device));
  if (device) {
    PetscCall(ComputeOnDevice(A, op, x, b, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(MatStencilNeedValues(A));
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
  return Compute(A, KC_MULT, x, NULL, y);
}

static PetscErrorCode MatMultAdd_Stencil(Mat A, Vec x, Vec b, Vec y)
{
  return Compute(A, KC_ADD, x, b, y);
}

static PetscErrorCode MatResidual_Stencil(Mat A, Vec b, Vec x, Vec r)
{
  return Compute(A, KC_RESIDUAL, x, b, r);
}

void MatStencilSetOps(Mat A)
{
  A->ops->mult     = MatMult_Stencil;
  A->ops->multadd  = MatMultAdd_Stencil;
  A->ops->residual = MatResidual_Stencil;
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
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatAXPYGetPreallocation_C",
                                       compose ? MatAXPYGetPreallocation_Stencil : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
