/*
  Levels on the host.
*/
#include <petsckcycle/private/memoryimpl.h>

static PetscErrorCode Smooth(const KCycleLevelData *level, int which, const KCycleSweeps *sweeps)
{
  return KCycleSmootherSweeps(level->smoother[which], sweeps, level->b, level->x);
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
  return KCycleStencilCompute(level->st, KC_RESIDUAL, level->x, level->b, level->r);
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
  return KCycleTransferInterpolate(level->tr, level[-1].x, add, level->x);
}

static PetscErrorCode Start(const KCycleLevelData *level)
{
  PetscFunctionBegin;
  if (level->starter) PetscCall(KCycleStarterInterpolate(level->starter, level->st->box, level[-1].x, level->x));
  else PetscCall(Interpolate(level, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SumSquares(const KCycleLevelData *level, const KCScalar *x, PetscReal *sum)
{
  PetscFunctionBegin;
  *sum = KCycleSumSquares(level->st->box->npoints, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In eight parts, as vectors go; zero: 0, or NaN if any of the numbers is Inf or NaN */
KC_VERSIONS static PetscReal LargestOf(PetscInt n, const PetscScalar *x, PetscReal *zero)
{
  PetscReal most[8] = {0, 0, 0, 0, 0, 0, 0, 0}, none[8] = {0, 0, 0, 0, 0, 0, 0, 0};

  for (PetscInt i = 0; i < n / 8 * 8; i += 8) {
    for (int p = 0; p < 8; p++) {
      const PetscReal size = PetscAbsScalar(x[i + p]);

      most[p] = size > most[p] ? size : most[p];
      none[p] += 0 * size;
    }
  }
  for (PetscInt i = n / 8 * 8; i < n; i++) {
    const PetscReal size = PetscAbsScalar(x[i]);

    most[0] = size > most[0] ? size : most[0];
    none[0] += 0 * size;
  }
  for (int p = 1; p < 8; p++) {
    most[0] = most[p] > most[0] ? most[p] : most[0];
    none[0] += none[p];
  }
  *zero = none[0];
  return most[0];
}

static PetscErrorCode Largest(const KCycleLevelData *level, const PetscScalar *x, PetscReal *most, PetscBool *bad)
{
  PetscReal zero;

  PetscFunctionBegin;
  *most = LargestOf(level->st->box->npoints, x, &zero);
  *bad  = (PetscBool) !(zero == 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

KC_VERSIONS static void Divide(PetscInt n, const PetscScalar *x, PetscReal divisor, KCScalar *KC_RESTRICT y)
{
  for (PetscInt i = 0; i < n; i++) y[i] = (KCScalar)(x[i] / divisor);
}

KC_VERSIONS static void Multiply(PetscInt n, const KCScalar *x, PetscReal factor, PetscScalar *KC_RESTRICT y)
{
  for (PetscInt i = 0; i < n; i++) y[i] = (PetscScalar)x[i] * factor;
}

KC_VERSIONS static void MultiplyBy(PetscInt n, KCScalar factor, KCScalar *x)
{
  for (PetscInt i = 0; i < n; i++) x[i] *= factor;
}

static PetscErrorCode Scale(const KCycleLevelData *level, PetscReal factor)
{
  PetscFunctionBegin;
  MultiplyBy(level[-1].st->box->npoints, (KCScalar)factor, level[-1].x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ConvertIn(const KCycleLevelData *level, const PetscScalar *x, PetscReal divisor, KCScalar *y)
{
  PetscFunctionBegin;
  Divide(level->st->box->npoints, x, divisor, y);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ConvertOut(const KCycleLevelData *level, const KCScalar *x, PetscReal factor, PetscScalar *y)
{
  PetscFunctionBegin;
  Multiply(level->st->box->npoints, x, factor, y);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Fill(const KCycleLevelData *level, PetscScalar value, PetscScalar *y)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < level->st->box->npoints; i++) y[i] = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyFromHost(const KCycleLevelData *level, const PetscScalar *x, KCScalar *y)
{
  return ConvertIn(level, x, 1, y);
}

static const KCycleKernels Host = {
    .name              = "host",
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
    .convertin         = ConvertIn,
    .convertout        = ConvertOut,
    .fill              = Fill,
    .copytohost        = ConvertOut,
    .copyfromhost      = CopyFromHost,
};

const KCycleKernels *KCycleKernelsOf(KCycleMemorySpace memory)
{
#if defined(KCYCLE_HAVE_CUDA)
  if (memory == KCYCLE_MEMORY_DEVICE) return &KCycleKernels_Device;
#endif
  return memory == KCYCLE_MEMORY_DEVICE ? NULL : &Host;
}
