/*
  Where the arithmetic of matrices and vectors runs.
*/
#include <petsckcycle/private/deviceimpl.h>

static PetscErrorCode IsDevice(VecType type, PetscBool bound, PetscBool *device)
{
  const char *const devices[] = {"cuda", "hip", "kokkos"};
  char             *found;

  PetscFunctionBegin;
  *device = PETSC_FALSE;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(devices) && !bound; i++) {
    PetscCall(PetscStrstr(type, devices[i], &found));
    if (found) *device = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By the vectors that it makes */
PetscErrorCode KCycleMatOnDevice(Mat A, PetscBool *device)
{
  VecType   type;
  PetscBool bound;

  PetscFunctionBegin;
  PetscCall(MatGetVecType(A, &type));
  PetscCall(MatBoundToCPU(A, &bound));
  PetscCall(IsDevice(type, bound, device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleVecOnDevice(Vec v, PetscBool *device)
{
  VecType   type;
  PetscBool bound;

  PetscFunctionBegin;
  PetscCall(VecGetType(v, &type));
  PetscCall(VecBoundToCPU(v, &bound));
  PetscCall(IsDevice(type, bound, device));
  PetscFunctionReturn(PETSC_SUCCESS);
}
