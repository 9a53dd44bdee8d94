/*
  Registration of everything the plugin brings, reached by KCycleInitializePackage() and by PETSc's loader.
*/
#include <petsckcycle/private/registerimpl.h>
#include <stdio.h>

static PetscBool KCyclePackageInitialized = PETSC_FALSE;

/*
  A plugin works with the PETSc it was built for and no other: the layout of PETSc's objects is part of its interface.
  Nothing of PETSc may be used here before it is known to be ours, hence fprintf() and the order of the checks.
*/
static PetscErrorCode KCycleCheckPetsc(void)
{
  PetscInt      major, minor, subminor, release;
  PetscDataType scalar;
  PetscBool     found;
  size_t        isize, ssize;

  if (PETSC_COMM_WORLD == MPI_COMM_NULL) {
    fprintf(stderr, "petsc-kcycle: the PETSc library that this plugin found is not initialized: either "
                    "PetscInitialize() has not been called yet, "
                    "or the program uses another copy of PETSc (statically linked, or another version). "
                    "Rebuild the plugin with the program's PETSC_DIR and PETSC_ARCH; a static program must be linked "
                    "with -rdynamic.\n");
    return PETSC_ERR_LIB;
  }
  PetscFunctionBegin;
  PetscCall(PetscDataTypeGetSize(PETSC_INT, &isize));
  /* PETSC_SCALAR is fixed when the plugin is compiled, this answer is PETSc's */
  PetscCall(PetscDataTypeFromString("Scalar", &scalar, &found));
  PetscCall(PetscDataTypeGetSize(scalar, &ssize));
  PetscCheck(isize == sizeof(PetscInt) && ssize == sizeof(PetscScalar) && scalar == PETSC_SCALAR, PETSC_COMM_SELF,
             PETSC_ERR_LIB,
             "petsc-kcycle was built for a PETSc with %d-byte integers and %s numbers of %d bytes, this PETSc has "
             "%d-byte integers and %s numbers of %d bytes: rebuild it with "
             "this PETSC_DIR and PETSC_ARCH",
             (int)sizeof(PetscInt), PETSC_SCALAR == PETSC_COMPLEX ? "complex" : "real", (int)sizeof(PetscScalar),
             (int)isize, scalar == PETSC_COMPLEX ? "complex" : "real", (int)ssize);
  PetscCall(PetscGetVersionNumber(&major, &minor, &subminor, &release));
  PetscCheck(major == KCYCLE_PETSC_MAJOR && minor == KCYCLE_PETSC_MINOR && release == KCYCLE_PETSC_RELEASE,
             PETSC_COMM_SELF, PETSC_ERR_LIB,
             "petsc-kcycle was built for PETSc %d.%d%s, this is PETSc %" PetscInt_FMT ".%" PetscInt_FMT
             "%s: rebuild it with this PETSC_DIR and PETSC_ARCH",
             KCYCLE_PETSC_MAJOR, KCYCLE_PETSC_MINOR, KCYCLE_PETSC_RELEASE ? "" : " (development)", major, minor,
             release ? "" : " (development)");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  KCycleFinalizePackage - Forgets everything that `KCycleInitializePackage()` registered.

  Not Collective

  Level: developer

  Note:
  `PetscFinalize()` calls it, so that a later `PetscInitialize()` in the same process can register the types again.

.seealso: `KCycleInitializePackage()`, `PCKCYCLE`
@*/
PetscErrorCode KCycleFinalizePackage(void)
{
  PetscFunctionBegin;
  KCyclePackageInitialized = PETSC_FALSE;
  PetscCall(PCFinalizePackage_KCycle());
  PetscCall(KCycleSmootherFinalize());
  PetscCall(KCycleSmootherFinalize_Single());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  KCycleInitializePackage - Registers the types of petsc-kcycle with PETSc: `PCKCYCLE`, `PCDEFLSUB`, `KSPDPCG` and
  others.

  Logically Collective

  Level: developer

  Notes:
  A program that is linked with `-lpetsckcycle` calls this once after `PetscInitialize()`. The option
  `-dll_append <path>/libpetsckcycle.so` makes the call unnecessary. Calling it again does nothing.

.seealso: `KCycleFinalizePackage()`, `PCKCYCLE`
@*/
PetscErrorCode KCycleInitializePackage(void)
{
  PetscFunctionBegin;
  if (KCyclePackageInitialized) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleCheckPetsc());
  KCyclePackageInitialized = PETSC_TRUE;
  PetscCall(PCRegister(PCKCYCLE, PCCreate_KCycle));
  PetscCall(PCRegister(PCRELAX, PCCreate_Relax));
  PetscCall(KCycleSmootherRegisterAll());
  PetscCall(KCycleSmootherRegisterAll_Single());
  PetscCall(PCRegister(PCINCPOISSON, PCCreate_IncPoisson));
  PetscCall(PCRegister(PCFASTPOISSON, PCCreate_FastPoisson));
  PetscCall(PCRegister(PCDEFLSUB, PCCreate_DeflSub));
  PetscCall(KSPRegister(KSPDPCG, KSPCreate_DPCG));
  PetscCall(KSPRegister(KSPKCG, KSPCreate_KCG));
  PetscCall(MatRegister(MATSTENCIL, MatCreate_Stencil));
  PetscCall(MatStencilRegisterFactors());
  PetscCall(MatRegister(MATSTENCILTRANSFER, MatCreate_StencilTransfer));
  PetscCall(PetscRegisterFinalize(KCycleFinalizePackage));
  PetscCall(PetscInfo(NULL, "petsc-kcycle %s registered\n", PETSCKCYCLE_VERSION));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc looks for PetscDLLibraryRegister_<file name without lib and .so>; the second name serves a renamed copy or
   link */
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_petsckcycle(void);
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_kcycle(void);

PetscErrorCode PetscDLLibraryRegister_petsckcycle(void)
{
  return KCycleInitializePackage();
}

PetscErrorCode PetscDLLibraryRegister_kcycle(void)
{
  return KCycleInitializePackage();
}
