/*
  Vertical wells in a grid: see reservoir.c. All processes store all wells, and each works on the cells that it owns.
*/
#pragma once

#include <petscdmda.h>

typedef struct {
  PetscInt  i, j, top, bottom; /* from 0 */
  PetscBool has_pressure;      /* or a rate */
  PetscReal value;
} Well;

/* A cell that a well is open to */
typedef struct {
  PetscInt  well, at[3];
  PetscReal index; /* flow for a difference of pressure of 1; 0: the cell is inactive */
  PetscReal rate;  /* share of the rate of the well */
} Perforation;

typedef struct {
  PetscInt     n, perforations;
  Well        *well;
  Perforation *perforation;
} Wells; /* all 0: none */

/* Wells from the option -wells, and from a file that the first process reads; n: sizes of the grid */
PETSC_EXTERN PetscErrorCode WellsAddFromOption(Wells *wells, const PetscInt n[3]);
PETSC_EXTERN PetscErrorCode WellsAddFromFile(Wells *wells, const char name[], const PetscInt n[3]);

/* Once all wells are there: the cells that they are open to. h: sizes of the cells in each direction; k: their
   permeabilities, 0 where they are inactive; mobility: what these are multiplied by */
PETSC_EXTERN PetscErrorCode WellsSetIndices(Wells *wells, DM da, PetscReal *const h[], const Vec k[],
                                            PetscReal mobility, PetscReal radius);

/* Values of a vector in these cells, on all processes */
PETSC_EXTERN PetscErrorCode WellsGetValues(const Wells *wells, DM da, Vec v, PetscReal value[]);

/* Adds to a vector the indices of wells with a pressure, to become the diagonal; or what wells bring, the right side */
PETSC_EXTERN PetscErrorCode WellsAddTerms(const Wells *wells, DM da, PetscBool indices, Vec v);

/* Rate of each well, and pressure in it; a well with a rate has the pressure that gives that rate */
PETSC_EXTERN PetscErrorCode WellsMeasure(const Wells *wells, DM da, Vec p, PetscReal rate[], PetscReal pressure[]);
PETSC_EXTERN PetscErrorCode WellsDestroy(Wells *wells);
