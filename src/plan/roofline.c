/*
  The roofline model, see rooflineimpl.h.
*/
#include <petsckcycle/private/rooflineimpl.h>

/* (4.1), with the operations in a second of (2.1) */
static PetscReal Seconds(const KCycleRoofs *roofs, const KCycleWork *work)
{
  return work->flops > 0 ? work->flops / PetscMin(roofs->peak, roofs->bandwidth * (work->flops / work->bytes)) : 0;
}

/* (3.20) */
PetscInt KCycleRoofCycles(PetscReal factor, PetscReal tolerance)
{
  return (PetscInt)PetscCeilReal(PetscLogReal(tolerance) / PetscLogReal(factor));
}

/* (3.21), its bound: operations for each point of the finest grid, five points in 2D */
PetscReal KCycleRoofOperations(PetscInt nu, PetscInt cycles)
{
  return (PetscReal)(9 * nu + 19) * (PetscReal)cycles * 4 / 3;
}

/*
  (4.2): seconds for each point of the finest grid. Sweeps of damped Jacobi have 9 operations and move three numbers a
  point; tiled ones move these once for all sweeps of a side (4.3). Residual, restriction, interpolation and addition
  have 7, 11/4, 2 and 1 operations of a fine point, and move 24, 10, 10 and 24 bytes.
*/
PetscReal KCycleRoofCost(const KCycleRoofs *roofs, const PetscInt nu[2], PetscInt cycles, PetscBool tiled)
{
  const KCycleWork rest[]  = {{7, 24}, {(PetscReal)2.75, 10}, {2, 10}, {1, 24}};
  PetscReal        seconds = 0;

  for (int i = 0; i < 2; i++) {
    const KCycleWork sweeps = {(PetscReal)(9 * nu[i]), (PetscReal)(24 * (tiled ? 1 : nu[i]))};

    seconds += Seconds(roofs, &sweeps);
  }
  for (int i = 0; i < 4; i++) seconds += Seconds(roofs, &rest[i]);
  return seconds * (PetscReal)cycles * 4 / 3;
}

/* Of this smoother in this precision in as many dimensions, with points as near as possible; NULL: there is none */
const KCycleRate *KCycleRooflineRate(const KCycleRoofline *roofline, const char smoother[], PetscBool single,
                                     PetscInt dim, PetscInt points)
{
  const KCycleRate *best = NULL;

  for (PetscInt i = 0; i < roofline->n; i++) {
    const KCycleRate *rate = &roofline->rate[i];

    if (rate->dim != dim || rate->single != single || strcmp(rate->smoother, smoother)) continue;
    if (!best || PetscAbsInt(rate->points - points) < PetscAbsInt(best->points - points)) best = rate;
  }
  return best;
}
