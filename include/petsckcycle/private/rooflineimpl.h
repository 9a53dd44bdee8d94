/*
  The roofline model of the time of a cycle: Ghysels and Vanroose, Modeling the performance of geometric multigrid
  stencils on multicore computer architectures. No object of PETSc is known here.

  What a pass through a grid takes is the longer one of two times, that of moving its bytes, and that of its operations,
  at the rate that its kernels reach in cache; and of the shorter one the part that is not hidden behind the longer one,
  which is measured. Rates depend on the length of lines, as Hockney's do: with lines of as many points as its n_1/2 a
  kernel has half of the rate that it has with endless ones.
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

PETSC_INTERN PetscInt  KCycleRoofCycles(PetscReal factor, PetscReal tolerance);
PETSC_INTERN PetscReal KCycleRoofOperations(PetscInt nu, PetscInt cycles);
PETSC_INTERN PetscReal KCycleRoofCost(const KCycleRoofs *, const PetscInt nu[2], PetscInt cycles, PetscBool tiled);

/* Operations in a second with endless lines, and points of lines with which there are half as many */
typedef struct {
  PetscReal rate, half;
} KCycleSpeed;

/* What the kernels of a smoother reach in cache: its sweeps, and in addition residual, restriction, interpolation
   and addition */
typedef struct {
  char        smoother[32];
  PetscBool   single; /* in single precision */
  PetscInt    dim, points;
  KCycleSpeed sweep, rest;
} KCycleRate;

#define KCYCLE_RATES 96

/* A file of "make roofline" */
typedef struct {
  PetscInt   processes;
  PetscReal  bandwidth;       /* of memory, of one of them, while all are at work */
  PetscReal  cached;          /* of cache */
  PetscReal  cache;           /* bytes that stay in it */
  PetscReal  visit;           /* seconds of one of a tiny level */
  PetscReal  exposed[2];      /* in 2D and 3D: the part of the shorter one of two times of a pass that is not hidden */
  PetscReal  krylov[2][2][2]; /* in 2D and 3D: seconds for each point of an iteration of KSPCG, KSPKCG, without the
                                 preconditioner: in cache, in memory; 0: not known */
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

/* Seconds of a pass whose operations, and whose bytes, would take so long alone */
static inline PetscReal KCycleRooflinePass(PetscReal operations, PetscReal bytes, PetscReal exposed)
{
  return PetscMax(operations, bytes) + exposed * PetscMin(operations, bytes);
}

/* Seconds of a number of operations at each point of a grid with a number of lines */
static inline PetscReal KCycleSpeedSeconds(const KCycleSpeed *speed, PetscReal flops, PetscReal points, PetscReal lines)
{
  return flops * (points + speed->half * lines) / speed->rate;
}

/* Numbers that a pass moves which sweeps, and computes and restricts the residual before that of the coarser level, or
   interpolates and adds a correction after it; trips: times that it goes through the grid */
static inline PetscReal KCycleRooflineWords(PetscReal trips, PetscBool behind, PetscReal points, PetscReal coarse)
{
  return (3 * trips - (behind ? 0 : 1)) * points + (behind ? 2 : 1) * coarse;
}

PETSC_INTERN const KCycleRate *KCycleRooflineRate(const KCycleRoofline *, const char smoother[], PetscBool single,
                                                  PetscInt dim, PetscInt points);
