/*
  Levels on a device. Operator, transfer and smoother of a level are on the host, where set-up made them; attach makes
  copies of what kernels read, and arrays. Of the coarsest level right side and solution come to the host and go back.
*/
#include <petsckcycle/private/devicelevelimpl.h>

struct _KCycleDeviceLevel {
  KCycleDeviceStencil *st;
  KCycleCudaTransfer   tr;
  KCycleDeviceTile    *tile;    /* or NULL */
  KCScalar            *arrays;  /* all that the level has, in one allocation */
  size_t               narrays; /* their numbers */
  KCScalar            *change;  /* of x, for polynomials */
  KCScalar            *staged;  /* on the host, of the coarsest level */
  KCycleCudaInverse    inverse; /* of its operator; or no M */
  PetscReal           *scratch; /* of the finest level: for sums, */
  PetscReal           *parts;   /* and their parts on the host */
};

static size_t Bytes(const KCycleLevelData *level)
{
  return (size_t)level->st->box->npoints * sizeof(KCScalar);
}

static PetscErrorCode Smooth(const KCycleLevelData *level, int which, const KCycleSweeps *sweeps)
{
  KCScalar *const work[2] = {level->r, level->device->change};

  PetscFunctionBegin;
  PetscCall(KCycleDeviceStencilSweeps(level->device->st, level->smoother[which], sweeps, level->b, level->x, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Residual(const KCycleLevelData *level)
{
  const KCycleCudaStep step = {KC_RESIDUAL, 0, level->x, level->b, level->r, NULL, 0};

  PetscFunctionBegin;
  PetscCall(KCycleDeviceStencilStep(level->device->st, &step));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Restriction(const KCycleLevelData *level, const KCScalar *r)
{
  const KCycleLevelData *coarse = level - 1;

  PetscFunctionBegin;
  KCycleCallKernel(KCycleCudaRestrict, &level->device->tr, r, coarse->b);
  PetscCall(KCycleDeviceGridReduce(coarse->device->st->grid, coarse->b));
  PetscCall(PetscLogGpuFlops(4.0 * level->st->box->npoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Interpolate(const KCycleLevelData *level, PetscBool add)
{
  const KCycleLevelData *coarse = level - 1;

  PetscFunctionBegin;
  if (add) PetscCall(KCycleDeviceTileSettle(level->device->tile, level));
  PetscCall(KCycleDeviceGridExchange(coarse->device->st->grid, PETSC_TRUE, coarse->x));
  KCycleCallKernel(KCycleCudaInterpolate, &level->device->tr, coarse->x, add, level->x);
  PetscCall(PetscLogGpuFlops(4.0 * level->st->box->npoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Scale(const KCycleLevelData *level, PetscReal factor)
{
  const KCycleLevelData *coarse = level - 1;

  PetscFunctionBegin;
  KCycleCallKernel(KCycleCudaScale, coarse->st->box->npoints, factor, coarse->x);
  PetscCall(PetscLogGpuFlops(1.0 * coarse->st->box->npoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parts of a sum or maximum, on the host */
static PetscErrorCode GetParts(const KCycleLevelData *level)
{
  return KCycleDeviceToHost(KC_CUDA_PARTS * sizeof(PetscReal), level->device->scratch, level->device->parts);
}

static PetscErrorCode SumSquares(const KCycleLevelData *level, const KCScalar *x, PetscReal *sum)
{
  PetscFunctionBegin;
  KCycleCallKernel(KCycleCudaSumSquares, level->st->box->npoints, x, level->device->scratch);
  PetscCall(GetParts(level));
  *sum = 0;
  for (int i = 0; i < KC_CUDA_PARTS; i++) *sum += level->device->parts[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Largest(const KCycleLevelData *level, const PetscScalar *x, PetscReal *most, PetscBool *bad)
{
  PetscFunctionBegin;
  KCycleCallKernel(KCycleCudaLargest, level->st->box->npoints, x, level->device->scratch);
  PetscCall(GetParts(level));
  *most = 0;
  *bad  = PETSC_FALSE;
  for (int i = 0; i < KC_CUDA_PARTS; i++) {
    *most = PetscMax(*most, level->device->parts[i]);
    if (level->device->parts[i] < 0) *bad = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ConvertIn(const KCycleLevelData *level, const PetscScalar *x, PetscReal divisor, KCScalar *y)
{
  PetscFunctionBegin;
  KCycleCallKernel(KCycleCudaConvertIn, level->st->box->npoints, x, divisor, y);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ConvertOut(const KCycleLevelData *level, const KCScalar *x, PetscReal factor, PetscScalar *y)
{
  PetscFunctionBegin;
  KCycleCallKernel(KCycleCudaConvertOut, level->st->box->npoints, x, factor, y);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Fill(const KCycleLevelData *level, PetscScalar value, PetscScalar *y)
{
  PetscFunctionBegin;
  KCycleCallKernel(KCycleCudaFill, level->st->box->npoints, value, y);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyToHost(const KCycleLevelData *level, const KCScalar *x, PetscReal factor, PetscScalar *y)
{
  const KCScalar *staged = level->device->staged;

  PetscFunctionBegin;
  PetscCall(KCycleDeviceToHost(Bytes(level), x, level->device->staged));
  for (PetscInt i = 0; i < level->st->box->npoints; i++) y[i] = (PetscScalar)staged[i] * factor;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The array on the host is free again when the next one is brought, which waits */
static PetscErrorCode CopyFromHost(const KCycleLevelData *level, const PetscScalar *x, KCScalar *y)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < level->st->box->npoints; i++) level->device->staged[i] = (KCScalar)x[i];
  PetscCall(KCycleDeviceToDevice(Bytes(level), level->device->staged, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetInverse(const KCycleLevelData *level, const KCycleInverse *from)
{
  const PetscInt     n  = level->st->box->npoints;
  KCycleCudaInverse *to = &level->device->inverse;

  PetscFunctionBegin;
  PetscCall(KCycleDeviceFree(to->M));
  to->n     = n;
  to->count = from->count;
  PetscCall(KCycleDeviceCopy(from->column, (size_t)n * (size_t)(n / from->count) * sizeof(PetscScalar), &to->M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Invert(const KCycleLevelData *level, PetscBool transpose, PetscReal factor)
{
  const KCycleCudaInverse *inverse = &level->device->inverse;

  PetscFunctionBegin;
  KCycleCallKernel(KCycleCudaInvert, inverse, transpose, factor, level->b, level->x);
  PetscCall(PetscLogGpuFlops(2.0 * inverse->n * (inverse->n / inverse->count)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeMatrix(const KCycleLevelData level[], PetscInt l, const KCycleProgram *program,
                                 KCycleMatrix **M)
{
  KCycleDeviceNumbers *part;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(2 * (l + 1), &part));
  for (PetscInt i = 0; i <= l; i++) {
    const KCycleDeviceLevel  *device = level[i].device;
    const KCycleDeviceNumbers arrays = {device->arrays, device->narrays},
                              halo   = {device->st->grid->halo, (size_t)device->st->grid->nhalo};

    part[2 * i]     = arrays;
    part[2 * i + 1] = halo;
  }
  PetscCall(KCycleDeviceMatrixCreate(program, 2 * (l + 1), part, &level[l], M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *Tiled(const KCycleLevelData *level)
{
  if (!level->device->tile) return NULL;
  return level->device->tile->marches ? "tiled" : "tiled in parts";
}

static PetscInt64 Launches(void)
{
  return KCycleCudaLaunches;
}

/* Levels that are tiled are not asked for the residual */
static PetscErrorCode SmoothRestrict(const KCycleLevelData *level, int which, const KCycleSweeps *sweeps,
                                     PetscReal *sum)
{
  PetscFunctionBegin;
  PetscCheck(!sum, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Tiles leave no residual");
  PetscCall(KCycleDeviceTileDown(level->device->tile, level, which, sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InterpolateSmooth(const KCycleLevelData *level, int which, const KCycleSweeps *sweeps)
{
  return KCycleDeviceTileUp(level->device->tile, level, which, sweeps);
}

static PetscErrorCode AttachTransfer(const KCycleLevelData *level)
{
  const KCycleTransfer   *from   = level->tr;
  const KCycleDeviceGrid *coarse = level[-1].device->st->grid;
  KCycleCudaTransfer     *tr     = &level->device->tr;

  PetscFunctionBegin;
  PetscCheck(from->coarse == coarse->of && from->fine == level->device->st->grid->of, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "A transfer is between other grids than those of its levels");
  tr->fine   = level->device->st->grid->box;
  tr->coarse = coarse->box;
  tr->halo   = coarse->halo;
  tr->stride = from->stride;
  PetscCall(PetscArraycpy(tr->factor, from->factor, 3));
  PetscCall(PetscArraycpy(tr->shift, from->shift, 3));
  PetscCall(KCycleDeviceCopy(from->weights.v, (size_t)from->weights.used * sizeof(KCScalar), &tr->weights));
  PetscCall(KCycleDeviceCopy(from->set, 4 * (size_t)from->fine->nextended * sizeof(*from->set), &tr->set));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Arrays for the residual, for polynomials, and for right side and solution unless these are the caller's */
static PetscErrorCode AttachArrays(KCycleLevelData *level, PetscBool own)
{
  const size_t n      = (size_t)level->st->box->npoints;
  PetscBool    change = PETSC_FALSE;
  KCScalar    *next;

  PetscFunctionBegin;
  for (int i = 0; i < 2 && level->tr; i++) {
    if (KCycleDeviceSmootherWork(level->smoother[i]) > 1) change = PETSC_TRUE;
  }
  level->device->narrays = ((own ? 2 : 0) + (level->tr ? 1 : 0) + (change ? 1 : 0)) * n;
  PetscCall(KCycleDeviceMalloc(level->device->narrays * sizeof(KCScalar), &level->device->arrays));
  next = level->device->arrays;
  if (own) {
    level->b = next;
    level->x = next + n;
    next += 2 * n;
  }
  level->r              = level->tr ? next : NULL;
  level->device->change = change ? next + n : NULL;
  if (!level->tr) PetscCallCUDA(cudaMallocHost((void **)&level->device->staged, Bytes(level)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Attach(KCycleLevelData *level, PetscBool own, PetscBool finest)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(&level->device));
  PetscCall(KCycleDeviceStencilCreate(level->st, level->overlaps, &level->device->st));
  if (level->tr) PetscCall(AttachTransfer(level));
  for (int i = 0; i < 2 && level->tr; i++) PetscCall(KCycleDeviceSmootherCopy(level->smoother[i]));
  PetscCall(AttachArrays(level, own));
  PetscCall(KCycleDeviceTileCreate(level, level->device->st, &level->device->tr, &level->device->tile));
  if (finest) {
    PetscCall(KCycleDeviceMalloc(KC_CUDA_SCRATCH * sizeof(PetscReal), &level->device->scratch));
    PetscCallCUDA(cudaMallocHost((void **)&level->device->parts, KC_CUDA_PARTS * sizeof(PetscReal)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Detach(KCycleLevelData *level)
{
  KCycleDeviceLevel *device = level->device;

  PetscFunctionBegin;
  if (!device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree(device->tile));
  PetscCall(KCycleDeviceStencilDestroy(&device->st));
  PetscCall(KCycleDeviceFree(device->tr.weights));
  PetscCall(KCycleDeviceFree(device->tr.set));
  PetscCall(KCycleDeviceFree(device->arrays));
  PetscCall(KCycleDeviceFree(device->inverse.M));
  PetscCall(KCycleDeviceFree(device->scratch));
  if (device->parts) PetscCallCUDA(cudaFreeHost(device->parts));
  if (device->staged) PetscCallCUDA(cudaFreeHost(device->staged));
  PetscCall(PetscFree(level->device));
  level->b = level->x = level->r = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator has new values */
static PetscErrorCode Renew(const KCycleLevelData *level)
{
  PetscFunctionBegin;
  PetscCall(KCycleDeviceStencilFill(level->st, level->device->st));
  PetscCall(PetscFree(level->device->tile));
  PetscCall(KCycleDeviceTileCreate(level, level->device->st, &level->device->tr, &level->device->tile));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const KCycleKernels KCycleKernels_Device = {
    .name              = "device",
    .memory            = KCYCLE_MEMORY_HOST,
    .smooth            = Smooth,
    .smoothrestrict    = SmoothRestrict,
    .interpolatesmooth = InterpolateSmooth,
    .residual          = Residual,
    .restriction       = Restriction,
    .interpolate       = Interpolate,
    .scale             = Scale,
    .sumsquares        = SumSquares,
    .largest           = Largest,
    .convertin         = ConvertIn,
    .convertout        = ConvertOut,
    .fill              = Fill,
    .copytohost        = CopyToHost,
    .copyfromhost      = CopyFromHost,
    .attach            = Attach,
    .detach            = Detach,
    .renew             = Renew,
    .wait              = KCycleDeviceWait,
    .setinverse        = SetInverse,
    .invert            = Invert,
    .record            = KCycleDeviceRecord,
    .recorded          = KCycleDeviceRecorded,
    .replay            = KCycleDeviceReplay,
    .forget            = KCycleDeviceForget,
    .write             = KCycleDeviceWrite,
    .written           = KCycleDeviceWritten,
    .perform           = KCycleDevicePerform,
    .erase             = KCycleDeviceErase,
    .makematrix        = MakeMatrix,
    .multiply          = KCycleDeviceMatrixMultiply,
    .erasematrix       = KCycleDeviceMatrixErase,
    .tiled             = Tiled,
    .launches          = Launches,
};
