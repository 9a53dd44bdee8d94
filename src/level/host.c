/*
  Levels on the host.
*/
#include <petsckcycle/private/placeimpl.h>

static PetscErrorCode Smooth(const KCycleLevelData *level, int which, const KCycleSweeps *sweeps)
{
  PetscFunctionBegin;
  PetscCall(KCycleSmootherSweeps(level->smoother[which], sweeps, level->b, level->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SmoothRestrict(const KCycleLevelData *level, int which, const KCycleSweeps *sweeps,
                                     PetscReal *sum)
{
  KCycleSmoother        *s      = level->smoother[which];
  const KCycleLevelData *coarse = level - 1;

  PetscFunctionBegin;
  if (level->ghosted) {
    PetscCall(KCycleGhostedSmoothRestrict(level, which, sweeps));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscArrayzero(coarse->b, coarse->st->box->npoints));
  PetscCall((*s->ops.smoothrestrict)(s, sweeps, level->b, level->x, level->tr, coarse->b, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InterpolateSmooth(const KCycleLevelData *level, int which, const KCycleSweeps *sweeps)
{
  KCycleSmoother *s = level->smoother[which];

  PetscFunctionBegin;
  if (level->ghosted) PetscCall(KCycleGhostedInterpolateSmooth(level, which, sweeps));
  else PetscCall((*s->ops.interpolatesmooth)(s, sweeps, level->tr, level[-1].x, level->b, level->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Residual(const KCycleLevelData *level)
{
  PetscFunctionBegin;
  PetscCall(KCycleStencilCompute(level->st, KC_RESIDUAL, level->x, level->b, level->r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Restriction(const KCycleLevelData *level, const KCScalar *r)
{
  const KCycleLevelData *coarse = level - 1;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(coarse->b, coarse->st->box->npoints));
  PetscCall(KCycleTransferRestrict(level->tr, r, coarse->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Interpolate(const KCycleLevelData *level, PetscBool add)
{
  PetscFunctionBegin;
  PetscCall(KCycleTransferInterpolate(level->tr, level[-1].x, add, level->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SumSquares(const KCycleLevelData *level, const KCScalar *x, PetscReal *sum)
{
  PetscFunctionBegin;
  *sum = KCycleSumSquares(level->st->box->npoints, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Largest(const KCycleLevelData *level, const PetscScalar *x, PetscReal *most, PetscBool *bad)
{
  PetscFunctionBegin;
  *most = 0;
  *bad  = PETSC_FALSE;
  for (PetscInt i = 0; i < level->st->box->npoints; i++) {
    *most = PetscMax(*most, PetscAbsScalar(x[i]));
    if (PetscIsInfOrNanScalar(x[i])) *bad = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Take(const KCycleLevelData *level, const PetscScalar *x, PetscReal divisor, KCScalar *y)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < level->st->box->npoints; i++) y[i] = (KCScalar)(x[i] / divisor);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Give(const KCycleLevelData *level, const KCScalar *x, PetscReal factor, PetscScalar *y)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < level->st->box->npoints; i++) y[i] = (PetscScalar)x[i] * factor;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Fill(const KCycleLevelData *level, PetscScalar value, PetscScalar *y)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < level->st->box->npoints; i++) y[i] = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Send(const KCycleLevelData *level, const PetscScalar *x, KCScalar *y)
{
  PetscFunctionBegin;
  PetscCall(Take(level, x, 1, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const KCycleKernels KCycleKernels_Host = {
    .name              = "host",
    .memory            = KCYCLE_PLACE_HOST,
    .smooth            = Smooth,
    .smoothrestrict    = SmoothRestrict,
    .interpolatesmooth = InterpolateSmooth,
    .residual          = Residual,
    .restriction       = Restriction,
    .interpolate       = Interpolate,
    .sumsquares        = SumSquares,
    .largest           = Largest,
    .take              = Take,
    .give              = Give,
    .fill              = Fill,
    .bring             = Give,
    .send              = Send,
};
