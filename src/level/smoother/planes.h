/*
  What smoothers of planes have, and where the planes of a parity are, for planes.c and deviceplanes.c.
*/
#pragma once

#include <petsckcycle/private/smootherimpl.h>

typedef struct {
  PetscScalar    *r, *e; /* residual and correction of the planes of a colour, on their own grid */
  KCScalar       *line;
  KCycleSmoother *lines; /* that are relaxed behind the planes; or NULL */
} KCyclePlanesData;

/* The parity of the planes across direction d that come first, or second (c is 1) */
static inline int KCyclePlanesParity(const KCycleSmoother *s, int d, int c, PetscBool back)
{
  return (int)(s->origin[d] & 1) ^ c ^ (back ? 1 : 0);
}

/* The sweep of lines behind planes; backward before them */
static inline KCycleSweeps KCyclePlanesLines(PetscBool back, PetscBool zero)
{
  const KCycleSweeps one = {
      1, (PetscBool)(back && zero), PETSC_FALSE, back ? PC_RELAX_ORDER_BACKWARD : PC_RELAX_ORDER_FORWARD, 0, NULL};

  return one;
}
