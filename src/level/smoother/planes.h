/*
  What smoothers of planes have, and where the planes of a parity are, for planes.c and deviceplanes.c.
*/
#pragma once

#include <petsckcycle/private/smootherimpl.h>

typedef struct {
  PetscScalar    *r, *e; /* residual and correction of the planes of a colour, on their own grid */
  KCScalar       *line;
  KCycleSmoother *lines; /* that are relaxed after the planes; or NULL */
} KCyclePlanesData;
