/*
  Sweeps of PCRELAX on vectors of a device.
*/
#include <petsckcycle/private/devicelevelimpl.h>
#include <petsckcycle/private/deviceimpl.h>
#include <petsckcycle/private/relaximpl.h>

#if defined(KCYCLE_HAVE_CUDA)
/* Does the smoother have kernels for a device that both vectors are on? */
PetscErrorCode KCycleRelaxIsOnDevice(const PC_Relax *relax, Vec b, Vec x, PetscBool *device)
{
  char keeps[300];

  PetscFunctionBegin;
  PetscCall(KCycleVecOnDevice(b, device));
  if (*device) PetscCall(KCycleVecOnDevice(x, device));
  if (!*device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleSmootherObstacle(relax->smoother, sizeof(keeps), keeps));
  *device = (PetscBool)!keeps[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Work vectors are kept, and so is what the smoother has on the device */
PetscErrorCode KCycleRelaxSweepsOnDevice(PC_Relax *relax, const KCycleSweeps *sweeps, Vec b, Vec x)
{
  const int            n = KCycleDeviceSmootherWork(relax->smoother);
  KCycleDeviceStencil *st;
  const PetscScalar   *ba;
  PetscScalar         *xa, *work[2] = {NULL, NULL};

  PetscFunctionBegin;
  PetscCall(MatStencilGetDevice(relax->A, (void **)&st));
  PetscCall(KCycleDeviceSmootherCopy(relax->smoother));
  for (int i = 0; i < n; i++) {
    if (!relax->work[i]) PetscCall(VecDuplicate(x, &relax->work[i]));
    PetscCall(VecGetArrayWriteAndMemType(relax->work[i], &work[i], NULL));
  }
  PetscCall(VecGetArrayReadAndMemType(b, &ba, NULL));
  if (sweeps->zeroguess) PetscCall(VecGetArrayWriteAndMemType(x, &xa, NULL));
  else PetscCall(VecGetArrayAndMemType(x, &xa, NULL));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(KCycleDeviceStencilSweeps(st, relax->smoother, sweeps, ba, xa, work));
  PetscCall(PetscLogGpuTimeEnd());
  if (sweeps->zeroguess) PetscCall(VecRestoreArrayWriteAndMemType(x, &xa));
  else PetscCall(VecRestoreArrayAndMemType(x, &xa));
  PetscCall(VecRestoreArrayReadAndMemType(b, &ba));
  for (int i = 0; i < n; i++) PetscCall(VecRestoreArrayWriteAndMemType(relax->work[i], &work[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
