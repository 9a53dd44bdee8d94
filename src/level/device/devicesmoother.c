/*
  What smoothers have on a device in addition to the operator. It goes with them: new values are a new smoother.
*/
#include <petsckcycle/private/devicelevelimpl.h>

/* Made when it is first asked for */
PetscErrorCode KCycleDeviceSmootherCopy(KCycleSmoother *s)
{
  PetscFunctionBegin;
  if (s->kind == KCYCLE_SWEEPS_CLUSTERS) PetscCall(KCycleDeviceSmootherCopy(s->inner));
  if (s->copy) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->kind == KCYCLE_SWEEPS_ZEBRA) PetscCall(KCycleDeviceLinesCreate(s));
  if (s->kind == KCYCLE_SWEEPS_PLANES) PetscCall(KCycleDevicePlanesCreate(s));
  if (s->kind == KCYCLE_SWEEPS_CLUSTERS) PetscCall(KCycleDeviceClustersCreate(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
