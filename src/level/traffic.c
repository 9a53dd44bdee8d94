/*
  The bytes that kernels of levels on the host move between memory and processor at least: each array once in a pass
  through the grid, the coefficients included, and nothing that is in cache.
*/
#include "levels.h"

/* Words per point of a level */
PetscInt64 KCycleBytesVectors(const KCycleLevelData *level, PetscInt words)
{
  return (PetscInt64)words * level->st->box->npoints * (PetscInt64)sizeof(KCScalar);
}

/* The coefficients, those that lines share once */
static PetscInt64 Operator(const KCycleStencil *st)
{
  const PetscInt length  = KCycleBlockLength(st->box, &st->shape, st->half);
  PetscInt64     numbers = 0;

  for (PetscInt line = 0; line < st->box->nlines; line++) numbers += KCycleClassOfLine(st, line) < 0 ? length : 0;
  for (PetscInt c = 0; c < st->nclasses; c++) numbers += (PetscInt64)st->shape.ncoeffs * st->box->n[0];
  return numbers * (PetscInt64)sizeof(KCScalar);
}

/* x and b read, and what is computed is written */
PetscInt64 KCycleBytesResidual(const KCycleLevelData *level)
{
  return KCycleBytesVectors(level, 3) + Operator(level->st);
}

/* The same of sweeps and what rides with them on a grid with ghost points */
static PetscInt64 Ghosted(const KCycleLevelData *level, int which, const KCycleSweeps *sweeps)
{
  const KCycleGhosted *g     = level->ghosted;
  const PetscInt       trips = KCycleSmootherTrips(g->smoother[which], sweeps, PETSC_TRUE);
  const PetscInt64     words =
      (3 * trips - (sweeps->zeroguess ? 1 : 0) - (sweeps->unwritten ? 1 : 0)) * (PetscInt64)g->st->box->npoints;

  return words * (PetscInt64)sizeof(KCScalar) + trips * Operator(g->st);
}

/* x is read and written, b read; in the first pass from zero x is only written, if at all */
PetscInt64 KCycleBytesSweeps(const KCycleLevelData *level, int which, const KCycleSweeps *sweeps, PetscBool rides)
{
  const PetscInt trips = KCycleSmootherTrips(level->smoother[which], sweeps, rides);

  if (level->ghosted && rides) return Ghosted(level, which, sweeps);
  if (!trips) return sweeps->zeroguess ? KCycleBytesVectors(level, 1) : 0;
  return trips * (KCycleBytesVectors(level, 3) + Operator(level->st)) -
         (sweeps->zeroguess || sweeps->start ? KCycleBytesVectors(level, 1) : 0) -
         (sweeps->unwritten ? KCycleBytesVectors(level, 1) : 0) +
         (sweeps->start ? KCycleBytesVectors(level - 1, 1) : 0);
}
