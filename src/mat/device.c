/*
  Where the arithmetic of matrices and vectors runs.
*/
#include <petsckcycle/private/deviceimpl.h>

/*
  Is it a type of vectors for devices? Kokkos computes on the host where PETSc has no GPU, and counts then only where
  all types for devices do. It cannot be bound to the host: in PETSc 3.18 all of its vectors say that they are, in 3.26
  those without a GPU
*/
static PetscErrorCode IsDevice(VecType type, PetscBool bound, PetscBool all, PetscBool *device)
{
  const PetscMemType kokkos = PetscDefined(HAVE_KOKKOS_WITHOUT_GPU) ? PETSC_MEMTYPE_HOST : PETSC_MEMTYPE_KOKKOS;
  char              *cuda, *hip, *found;

  PetscFunctionBegin;
  PetscCall(PetscStrstr(type, "cuda", &cuda));
  PetscCall(PetscStrstr(type, "hip", &hip));
  PetscCall(PetscStrstr(type, "kokkos", &found));
  *device = (PetscBool)(found ? all || !PetscMemTypeHost(kokkos) : (cuda || hip) && !bound);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By the vectors that it makes */
static PetscErrorCode MatIsDevice(Mat A, PetscBool all, PetscBool *device)
{
  VecType   type;
  PetscBool bound;

  PetscFunctionBegin;
  PetscCall(MatGetVecType(A, &type));
  PetscCall(MatBoundToCPU(A, &bound));
  PetscCall(IsDevice(type, bound, all, device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleMatOnDevice(Mat A, PetscBool *device)
{
  return MatIsDevice(A, PETSC_FALSE, device);
}

/* Is its type one for devices, wherever that computes? */
PetscErrorCode KCycleMatForDevices(Mat A, PetscBool *fordevices)
{
  return MatIsDevice(A, PETSC_TRUE, fordevices);
}

/* By the type of its vectors */
PetscErrorCode KCycleDMOnDevice(DM dm, PetscBool *device)
{
  VecType type;

  PetscFunctionBegin;
  PetscCall(DMGetVecType(dm, &type));
  PetscCall(IsDevice(type, PETSC_FALSE, PETSC_FALSE, device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleVecOnDevice(Vec v, PetscBool *device)
{
  VecType   type;
  PetscBool bound;

  PetscFunctionBegin;
  PetscCall(VecGetType(v, &type));
  PetscCall(VecBoundToCPU(v, &bound));
  PetscCall(IsDevice(type, bound, PETSC_FALSE, device));
  PetscFunctionReturn(PETSC_SUCCESS);
}
