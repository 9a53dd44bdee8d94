/*
  petsc-kcycle: what the plugin libpetsckcycle.so adds to PETSc.

  A program that chooses by options needs none of this: -dll_append libpetsckcycle.so -pc_type kcycle
*/
#pragma once

#include <petscksp.h>

/* Types */
#define PCKCYCLE "kcycle"

/* The kappa of a W-cycle: more than any number of levels */
#define PC_KCYCLE_KAPPA_W 2147483647

/*E
  PCKCycleHierarchy - where `PCKCYCLE` takes its levels from

  Values:
+ `PC_KCYCLE_HIERARCHY_AUTO` - what is there: interpolations given through the `PCMG` interface, else a grid
. `PC_KCYCLE_HIERARCHY_DM`   - a `DM`, by `DMCoarsen()`
. `PC_KCYCLE_HIERARCHY_USER` - interpolations given with `PCMGSetInterpolation()` or `PCMGSetRestriction()`
- `PC_KCYCLE_HIERARCHY_GAMG` - `PCGAMG` builds the levels from the matrix

  Level: beginner

.seealso: `PCKCYCLE`, `PCKCycleSetHierarchy()`
E*/
typedef enum {
  PC_KCYCLE_HIERARCHY_AUTO,
  PC_KCYCLE_HIERARCHY_DM,
  PC_KCYCLE_HIERARCHY_USER,
  PC_KCYCLE_HIERARCHY_GAMG
} PCKCycleHierarchy;
PETSC_EXTERN const char *const PCKCycleHierarchies[];

/* Package */
PETSC_EXTERN PetscErrorCode KCycleInitializePackage(void);
PETSC_EXTERN PetscErrorCode KCycleFinalizePackage(void);

/* PCKCYCLE */
PETSC_EXTERN PetscErrorCode PCKCycleSetKappa(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCKCycleGetKappa(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCKCycleSetHierarchy(PC, PCKCycleHierarchy);
PETSC_EXTERN PetscErrorCode PCKCycleGetHierarchy(PC, PCKCycleHierarchy *);
PETSC_EXTERN PetscErrorCode PCKCycleGetLevelCalls(PC, PetscInt *, const PetscInt64 *[]);
PETSC_EXTERN PetscErrorCode PCKCycleComputeLevelCalls(PetscInt, PetscInt, PetscInt64 *);
PETSC_EXTERN PetscErrorCode PCKCycleComputeTotalCalls(PetscInt, PetscInt, PetscInt64 *);
