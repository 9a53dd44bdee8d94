/*
  Levels on the host, with the calls of their kernels counted, rounds of messages in them, and the bytes that these move
  between memory and processor at least: each array once in a pass through the grid, the coefficients included, and
  nothing that is in cache.
*/
#include <petsckcycle/private/memoryimpl.h>

/* So many words a point of a level */
static PetscInt64 Words(const KCycleLevelData *level, PetscInt words)
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

/* before: rounds of messages before the call */
static void Count(const KCycleLevelData *level, KCyclePhase phase, PetscInt64 before, PetscInt64 bytes)
{
  level->traffic->calls[phase]++;
  level->traffic->bytes[phase] += bytes;
  level->traffic->rounds += KCycleRounds - before;
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
static PetscInt64 Sweeps(const KCycleLevelData *level, int which, const KCycleSweeps *sweeps, PetscBool rides)
{
  const PetscInt trips = KCycleSmootherTrips(level->smoother[which], sweeps, rides);

  if (level->ghosted && rides) return Ghosted(level, which, sweeps);
  if (!trips) return sweeps->zeroguess ? Words(level, 1) : 0;
  return trips * (Words(level, 3) + Operator(level->st)) - (sweeps->zeroguess || sweeps->start ? Words(level, 1) : 0) -
         (sweeps->unwritten ? Words(level, 1) : 0) + (sweeps->start ? Words(level - 1, 1) : 0);
}

static PetscErrorCode Smooth(const KCycleLevelData *level, int which, const KCycleSweeps *sweeps)
{
  const PetscInt64 before = KCycleRounds;

  PetscFunctionBegin;
  PetscCall((*KCycleKernels_Host.smooth)(level, which, sweeps));
  Count(level, KCYCLE_SMOOTH, before, Sweeps(level, which, sweeps, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SmoothRestrict(const KCycleLevelData *level, int which, const KCycleSweeps *sweeps,
                                     PetscReal *sum)
{
  const PetscInt64 before = KCycleRounds;

  PetscFunctionBegin;
  PetscCall((*KCycleKernels_Host.smoothrestrict)(level, which, sweeps, sum));
  Count(level, KCYCLE_SMOOTH, before, Sweeps(level, which, sweeps, PETSC_TRUE) + Words(level - 1, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InterpolateSmooth(const KCycleLevelData *level, int which, const KCycleSweeps *sweeps)
{
  const PetscInt64 before = KCycleRounds;

  PetscFunctionBegin;
  PetscCall((*KCycleKernels_Host.interpolatesmooth)(level, which, sweeps));
  Count(level, KCYCLE_SMOOTH, before, Sweeps(level, which, sweeps, PETSC_TRUE) + Words(level - 1, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Residual(const KCycleLevelData *level)
{
  const PetscInt64 before = KCycleRounds;

  PetscFunctionBegin;
  PetscCall((*KCycleKernels_Host.residual)(level));
  Count(level, KCYCLE_RESIDUAL, before, Words(level, 3) + Operator(level->st));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Restriction(const KCycleLevelData *level, const KCScalar *r)
{
  const PetscInt64 before = KCycleRounds;

  PetscFunctionBegin;
  PetscCall((*KCycleKernels_Host.restriction)(level, r));
  Count(level, KCYCLE_RESTRICT, before, Words(level, 1) + Words(level - 1, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Interpolate(const KCycleLevelData *level, PetscBool add)
{
  const PetscInt64 before = KCycleRounds;

  PetscFunctionBegin;
  PetscCall((*KCycleKernels_Host.interpolate)(level, add));
  Count(level, KCYCLE_INTERPOLATE, before, Words(level, add ? 2 : 1) + Words(level - 1, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Start(const KCycleLevelData *level)
{
  const PetscInt64 before = KCycleRounds;

  PetscFunctionBegin;
  PetscCall((*KCycleKernels_Host.start)(level));
  Count(level, KCYCLE_INTERPOLATE, before, Words(level, 1) + Words(level - 1, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Scale(const KCycleLevelData *level, PetscReal factor)
{
  const PetscInt64 before = KCycleRounds;

  PetscFunctionBegin;
  PetscCall((*KCycleKernels_Host.scale)(level, factor));
  Count(level, KCYCLE_INTERPOLATE, before, Words(level - 1, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SumSquares(const KCycleLevelData *level, const KCScalar *x, PetscReal *sum)
{
  return (*KCycleKernels_Host.sumsquares)(level, x, sum);
}

static PetscErrorCode Largest(const KCycleLevelData *level, const PetscScalar *x, PetscReal *most, PetscBool *bad)
{
  return (*KCycleKernels_Host.largest)(level, x, most, bad);
}

static PetscErrorCode Take(const KCycleLevelData *level, const PetscScalar *x, PetscReal divisor, KCScalar *y)
{
  return (*KCycleKernels_Host.take)(level, x, divisor, y);
}

static PetscErrorCode Give(const KCycleLevelData *level, const KCScalar *x, PetscReal factor, PetscScalar *y)
{
  return (*KCycleKernels_Host.give)(level, x, factor, y);
}

static PetscErrorCode Fill(const KCycleLevelData *level, PetscScalar value, PetscScalar *y)
{
  return (*KCycleKernels_Host.fill)(level, value, y);
}

static PetscErrorCode Send(const KCycleLevelData *level, const PetscScalar *x, KCScalar *y)
{
  return (*KCycleKernels_Host.send)(level, x, y);
}

const KCycleKernels KCycleKernels_Counted = {
    .name              = "counted",
    .memory            = KCYCLE_MEMORY_HOST,
    .smooth            = Smooth,
    .smoothrestrict    = SmoothRestrict,
    .interpolatesmooth = InterpolateSmooth,
    .residual          = Residual,
    .restriction       = Restriction,
    .interpolate       = Interpolate,
    .start             = Start,
    .scale             = Scale,
    .sumsquares        = SumSquares,
    .largest           = Largest,
    .take              = Take,
    .give              = Give,
    .fill              = Fill,
    .bring             = Give,
    .send              = Send,
};
