/*
  The roofline model of the time of a cycle: Ghysels and Vanroose, Modeling the performance of geometric multigrid
  stencils on multicore computer architectures. No object of PETSc is known here.

  What a pass through a grid takes is the longer one of two times: that of moving its bytes, and that of its operations,
  at the rate that its kernels reach in cache.
*/
#pragma once

#include <petscsys.h>

/* Of a point of the grid */
typedef struct {
  PetscReal flops, bytes;
} KCycleWork;

typedef struct {
  PetscReal bandwidth, peak; /* bytes and operations in a second */
} KCycleRoofs;

PETSC_INTERN PetscReal KCycleRoof(const KCycleRoofs *, PetscReal intensity);
PETSC_INTERN PetscReal KCycleRoofSeconds(const KCycleRoofs *, const KCycleWork *);
PETSC_INTERN PetscInt  KCycleRoofCycles(PetscReal factor, PetscReal tolerance);
PETSC_INTERN PetscReal KCycleRoofOperations(PetscInt nu, PetscInt cycles);
PETSC_INTERN PetscReal KCycleRoofCost(const KCycleRoofs *, const PetscInt nu[2], PetscInt cycles, PetscBool tiled);

/* What the kernels of a smoother reach in cache: operations in a second of its sweeps, and of residual, restriction,
   interpolation and addition beside them */
typedef struct {
  char      smoother[32];
  PetscBool single; /* in single precision */
  PetscInt  dim, points;
  PetscReal sweep, rest;
} KCycleRate;

#define KCYCLE_RATES 96

/* A file of "make roofline" */
typedef struct {
  PetscInt   processes;
  PetscReal  bandwidth; /* of memory, of one of them, while all are at work */
  PetscReal  cached;    /* of cache */
  PetscReal  cache;     /* bytes that stay in it */
  PetscReal  visit;     /* seconds of one of a tiny level */
  PetscInt   n;
  KCycleRate rate[KCYCLE_RATES];
} KCycleRoofline;

/* Operations of a point, as they are counted */
static inline PetscReal KCycleSweepFlops(PetscInt points)
{
  return (PetscReal)(2 * points + 3);
}

static inline PetscReal KCycleRestFlops(PetscInt points)
{
  return (PetscReal)(2 * points + 9);
}

PETSC_INTERN const KCycleRate *KCycleRooflineRate(const KCycleRoofline *, const char smoother[], PetscBool single,
                                                  PetscInt dim, PetscInt points);
