/*
  How far a DM can be coarsened.
*/
#pragma once

#include <petscdm.h>

/*
  Numbers of levels, the given DM counted in:
    most    what DMCoarsen() and DMCreateInterpolation() of a DMDA can do; PETSC_INT_MAX for a DM whose limit is not
            known
    chosen  what a solver should use: as far as coarsening goes, but no further than a coarsest grid of a few points
*/
PETSC_INTERN PetscErrorCode KCycleDMCountLevels(DM, PetscInt *most, PetscInt *chosen);

/* Says in words what the DM is ("8 x 8 x 8 grid"), and for a DMDA why it cannot be coarsened and which sizes could */
PETSC_INTERN PetscErrorCode KCycleDMDescribe(DM, size_t, char[]);
PETSC_INTERN PetscErrorCode KCycleDMExplain(DM, size_t, char[]);
