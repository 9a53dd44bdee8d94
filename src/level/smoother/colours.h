/*
  What coloured sweeps share.
*/
#pragma once

#include "tile.h"

typedef struct {
  KCScalar      *weights; /* weight, 0, weight, 0, ... */
  KCScalar      *line;    /* two lines of x for each thread, while they are computed */
  PetscBool      planar;  /* four colours, of grids in two dimensions, and not eight */
  KCycleTile    *tile;    /* of red-black sweeps, or NULL */
  KCycleBoxTile *boxtile;
} KCycleColours;

PETSC_INTERN PetscErrorCode KCycleColoursCreate(KCycleSmoother *);
PETSC_INTERN PetscErrorCode KCycleColoursSetUp(KCycleSmoother *);
PETSC_INTERN void           KCycleColoursRelaxLine(const KCyclePass *, PetscInt j, PetscInt k, PetscInt parity,
                                                   PetscBool zeroguess);

static inline const KCycleColours *KCycleColoursOf(const KCyclePass *pass)
{
  return (const KCycleColours *)pass->smoother->data;
}

/* Parity of a coordinate of the owned box, even for points that coarse grids keep */
static inline PetscInt KCycleParity(const KCyclePass *pass, PetscInt d, PetscInt i)
{
  return (i + pass->st->box->start[d] + pass->smoother->origin[d]) & 1;
}
