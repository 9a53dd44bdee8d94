/*
  PCFASTPOISSON on a device, by cuFFT, cuBLAS and kernels: as on the host (fpsolve.c), but for all lines of a direction
  at a time, or as many as buffers of a part of the memory hold.

      array -> buffer 0, real -> buffer 1, complex -> array        and with complex numbers first the other way round

  Set-up makes tables and buffers, in one allocation; a solve allocates nothing.
*/
#include "fastpoissonimpl.h"
#include <petsckcycle/private/deviceimpl.h>

#if defined(KCYCLE_HAVE_FASTPOISSON_DEVICE)
  #include <petsckcycle/private/devicelevelimpl.h>
  #include <petsckcycle/private/fpcudaimpl.h>
  #include <cufft.h>

  #define KC_NUMBERS 134217728 /* in a buffer at most: cuFFT counts with 32 bits, */
  #define KC_PART    16        /* and in no larger part of the free memory */

/* PetscCallCUFFT() is for C++, where the enumeration has this name */
typedef cufftResult cufftResult_t;

  /* A function that launches kernels, in the current stream */
  #define LAUNCH(function, ...)                       \
    do {                                              \
      cudaStream_t stream_;                           \
                                                      \
      PetscCall(PetscGetCurrentCUDAStream(&stream_)); \
      PetscCallCUDA(function(stream_, __VA_ARGS__));  \
    } while (0)

typedef struct {
  KCycleFPTransform transform[2]; /* from points to modes, and back */
  cufftHandle       plan[2];
  PetscInt          width;     /* lines at a time */
  const PetscReal  *before;    /* as those of the host, or NULL */
  const PetscReal  *turn[2];   /* cosine and sine of each angle, or NULL */
  const PetscReal  *matrix[2]; /* of eigenvectors, or NULL */
  const PetscReal  *lambda, *g, *d;
} DeviceDirection;

struct _KCycleFPDevice {
  DeviceDirection     dir[3];
  int                 nplans; /* of all directions: */
  cufftHandle         plan[6];
  KCycleCudaFPSystems systems; /* their tables */
  const PetscReal    *inverse;
  const PetscInt     *stored;
  PetscScalar        *buffer[2];
  size_t              nbuffer[2]; /* numbers */
  void               *work;
  size_t              nwork; /* bytes of cuFFT */
  char               *memory;
  size_t              used;  /* of it, so far */
  size_t              bytes; /* of it */
};

/* Operators and solvers that there are kernels for */
PetscErrorCode PCFastPoissonDeviceCheck(PC pc, VecType type)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)pc);
  char       *cuda;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCall(PetscStrstr(type, "cuda", &cuda));
  PetscCheck(cuda, comm, PETSC_ERR_SUP,
             "PCFASTPOISSON solves vectors of the host and of CUDA, and these are of type %s: use -dm_mat_type "
             "aij -dm_vec_type standard, or -dm_mat_type aijcusparse -dm_vec_type cuda, or -pc_type kcycle",
             type);
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCheck(size == 1, comm, PETSC_ERR_SUP,
             "PCFASTPOISSON works on a device with one process, and these are %d: use -dm_mat_type aij -dm_vec_type "
             "standard, or -pc_type kcycle",
             (int)size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines of a direction; both arrays are those of the DMDA's points */
static KCycleCudaFPLines Lines(const PC_FastPoisson *fp, int d, PetscInt width)
{
  const PetscInt *n = fp->box->n, *core = fp->grid.n, stride[3] = {1, n[0], n[0] * n[1]};
  int             a, b;

  KCycleFPLines(core, d, &a, &b);
  return (KCycleCudaFPLines){.n      = core[d],
                             .count  = core[a] * core[b],
                             .stride = {stride[d], stride[a], stride[b]},
                             .row    = KCycleDeviceDivisor(core[a]),
                             .width  = d == 0 ? 0 : width};
}

/* As many lines at a time as buffers have room for; size: numbers that a line needs in each */
static PetscErrorCode ChooseWidths(PC_FastPoisson *fp)
{
  KCycleFPDevice *dev       = fp->device;
  size_t          available = 0, all = 0, most;

  PetscFunctionBegin;
  PetscCallCUDA(cudaMemGetInfo(&available, &all));
  most = PetscMin((size_t)KC_NUMBERS, available / sizeof(PetscScalar) / KC_PART);
  for (int s = 0; s < fp->nstages; s++) {
    const KCycleFPDirection *dir   = &fp->dir[fp->order[s]];
    DeviceDirection         *to    = &dev->dir[fp->order[s]];
    const PetscBool          plans = (PetscBool)(dir->method == KCYCLE_FP_TRANSFORM);
    const PetscInt           n = dir->n, lines = fp->grid.npoints / n;
    PetscInt                 size[2];

    for (int w = 0; w < 2; w++) to->transform[w] = plans ? dir->kind->transform[w] : KCYCLE_FP_COPY;
    size[0]   = dir->method == KCYCLE_FP_TRIDIAGONAL ? n : KCycleCudaFPLength(to->transform[0], n);
    size[1]   = plans ? 2 * (size[0] / 2 + 1) : dir->method == KCYCLE_FP_VECTORS ? n : 0;
    to->width = (PetscInt)PetscMax(1, PetscMin((size_t)lines, most / (size_t)PetscMax(size[0], size[1])));
    for (int i = 0; i < 2; i++) dev->nbuffer[i] = PetscMax(dev->nbuffer[i], (size_t)to->width * (size_t)size[i]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Plans that share their memory. Numbers of a line are next to each other in direction x, else those of all lines */
static PetscErrorCode CreatePlans(PC_FastPoisson *fp)
{
  KCycleFPDevice *dev = fp->device;

  PetscFunctionBegin;
  for (int s = 0; s < fp->nstages; s++) {
    const int        d   = fp->order[s];
    DeviceDirection *dir = &dev->dir[d];

    for (int w = 0; w < 2 && fp->dir[d].method == KCYCLE_FP_TRANSFORM; w++) {
      const PetscBool z2d  = (PetscBool)KCycleCudaFPFromComplex(dir->transform[w]);
      int             n    = (int)KCycleCudaFPLength(dir->transform[w], fp->dir[d].n);
      int             half = n / 2 + 1, stride = d == 0 ? 1 : (int)dir->width, real = d == 0 ? n : 1;
      int             other = d == 0 ? half : 1;
      size_t          bytes = 0;

      PetscCallCUFFT(cufftCreate(&dir->plan[w]));
      dev->plan[dev->nplans++] = dir->plan[w];
      PetscCallCUFFT(cufftSetAutoAllocation(dir->plan[w], 0));
      PetscCallCUFFT(cufftMakePlanMany(dir->plan[w], 1, &n, z2d ? &half : &n, stride, z2d ? other : real,
                                       z2d ? &n : &half, stride, z2d ? real : other, z2d ? CUFFT_Z2D : CUFFT_D2Z,
                                       (int)dir->width, &bytes));
      dev->nwork = PetscMax(dev->nwork, bytes);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next part of the memory, with what is on the host unless that is NULL; before there is memory it is counted */
static PetscErrorCode Copy(KCycleFPDevice *dev, size_t bytes, const void *from, void *to)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  if (dev->memory) {
    *(void **)to = dev->memory + dev->used;
    if (from && bytes) {
      PetscCall(PetscGetCurrentCUDAStream(&stream));
      PetscCallCUDA(cudaMemcpyAsync(dev->memory + dev->used, from, bytes, cudaMemcpyHostToDevice, stream));
      PetscCallCUDA(cudaStreamSynchronize(stream));
      PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
    }
  }
  dev->used += (bytes + 255) / 256 * 256;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyReals(KCycleFPDevice *dev, PetscInt n, const PetscReal *from, const PetscReal **to)
{
  PetscFunctionBegin;
  if (from) PetscCall(Copy(dev, (size_t)n * sizeof(*from), from, (void *)to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Angles of modes, see fastpoissoncuda.cu */
static PetscErrorCode CopyTurns(KCycleFPDevice *dev, PetscInt n, KCycleFPTransform transform, const PetscReal **to)
{
  const PetscBool fourth = (PetscBool)(transform == KCYCLE_FP_DST4 || transform == KCYCLE_FP_DCT4);
  PetscReal      *turn;

  PetscFunctionBegin;
  if (transform == KCYCLE_FP_DST1 || transform == KCYCLE_FP_DCT1 || transform >= KCYCLE_FP_DFT)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(2 * n, &turn));
  for (PetscInt k = 0; k < n; k++) {
    const PetscReal angle = PETSC_PI * (fourth ? (2 * k + 1) / (4 * (PetscReal)n) : k / (2 * (PetscReal)n));

    turn[2 * k]     = PetscCosReal(angle);
    turn[2 * k + 1] = PetscSinReal(angle);
  }
  PetscCall(CopyReals(dev, 2 * n, turn, to));
  PetscCall(PetscFree(turn));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyDirection(const PC_FastPoisson *fp, int d)
{
  KCycleFPDevice          *dev = fp->device;
  const KCycleFPDirection *dir = &fp->dir[d];
  DeviceDirection         *to  = &dev->dir[d];
  const PetscInt           n   = dir->n;
  PetscReal               *g;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &g));
  for (PetscInt i = 0; i < n; i++) g[i] = dir->w[i] / dir->d[i];
  PetscCall(CopyReals(dev, n, g, &to->g));
  PetscCall(PetscFree(g));
  PetscCall(CopyReals(dev, n, dir->d, &to->d));
  PetscCall(CopyReals(dev, n, dir->lambda, &to->lambda));
  PetscCall(CopyReals(dev, n, dir->before, &to->before));
  if (dir->method == KCYCLE_FP_VECTORS) {
    PetscCall(CopyReals(dev, n * n, dir->ahead, &to->matrix[0]));
    PetscCall(CopyReals(dev, n * n, dir->back, &to->matrix[1]));
  }
  for (int w = 0; w < 2 && dir->method == KCYCLE_FP_TRANSFORM; w++)
    PetscCall(CopyTurns(dev, n, to->transform[w], &to->turn[w]));
  if (dir->method != KCYCLE_FP_TRIDIAGONAL) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CopyReals(dev, n, dir->low, &dev->systems.low));
  PetscCall(CopyReals(dev, n, dir->mid, &dev->systems.mid));
  PetscCall(CopyReals(dev, n, dir->up, &dev->systems.up));
  PetscCall(CopyReals(dev, n, dir->w, &dev->systems.w));
  PetscCall(CopyReals(dev, n, fp->factor, &dev->systems.factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyAll(const PC_FastPoisson *fp)
{
  KCycleFPDevice *dev = fp->device;

  PetscFunctionBegin;
  dev->used = 0;
  for (int d = 0; d < 3 && !fp->empty; d++) PetscCall(CopyDirection(fp, d));
  PetscCall(CopyReals(dev, fp->nstored, fp->inverse, &dev->inverse));
  PetscCall(Copy(dev, (size_t)fp->nstored * sizeof(PetscInt), fp->stored, (void *)&dev->stored));
  for (int i = 0; i < 2; i++)
    PetscCall(Copy(dev, dev->nbuffer[i] * sizeof(PetscScalar), NULL, (void *)&dev->buffer[i]));
  PetscCall(Copy(dev, dev->nwork, NULL, (void *)&dev->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCFastPoissonDeviceCreate(PC pc)
{
  PC_FastPoisson *fp        = (PC_FastPoisson *)pc->data;
  size_t          available = 0, all = 0;

  PetscFunctionBegin;
  PetscCall(PetscDeviceInitialize(KCYCLE_DEVICE));
  PetscCall(PetscNew(&fp->device));
  PetscCall(ChooseWidths(fp));
  PetscCall(CreatePlans(fp));
  PetscCall(CopyAll(fp));
  fp->device->bytes = fp->device->used;
  PetscCallCUDA(cudaMemGetInfo(&available, &all));
  PetscCheck(fp->device->bytes <= available, PETSC_COMM_SELF, PETSC_ERR_MEM,
             "PCFASTPOISSON needs %zu bytes more on the device, and %zu of its %zu are free: use -dm_mat_type aij "
             "-dm_vec_type standard, or a coarser grid",
             fp->device->bytes, available, all);
  PetscCall(KCycleDeviceMalloc(fp->device->bytes, &fp->device->memory));
  PetscCall(CopyAll(fp));
  for (int p = 0; p < fp->device->nplans; p++) PetscCallCUFFT(cufftSetWorkArea(fp->device->plan[p], fp->device->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCFastPoissonDeviceDestroy(PC_FastPoisson *fp)
{
  PetscFunctionBegin;
  if (!fp->device) PetscFunctionReturn(PETSC_SUCCESS);
  for (int p = 0; p < fp->device->nplans; p++) PetscCallCUFFT(cufftDestroy(fp->device->plan[p]));
  PetscCall(KCycleDeviceFree(fp->device->memory));
  PetscCall(PetscFree(fp->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCFastPoissonDeviceView(const PC_FastPoisson *fp, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (fp->device)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  solves vectors of a device there, with %zu bytes of its memory\n",
                                     fp->device->bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products with eigenvectors, from buffer 0 to buffer 1 */
static PetscErrorCode Multiply(const KCycleFPDevice *dev, int d, int sense, const KCycleCudaFPLines *lines)
{
  const PetscScalar one = 1, zero = 0;
  const PetscReal  *matrix = dev->dir[d].matrix[sense];
  const int         n = (int)lines->n, m = (int)lines->count, width = (int)lines->width;
  cublasHandle_t    handle;

  PetscFunctionBegin;
  PetscCall(PetscCUBLASGetHandle(&handle));
  if (width)
    PetscCallCUBLAS(cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, m, n, n, &one, dev->buffer[0], width, matrix, n,
                                &zero, dev->buffer[1], width));
  else
    PetscCallCUBLAS(cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, n, &one, matrix, n, dev->buffer[0], n, &zero,
                                dev->buffer[1], n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Some lines of a direction, through the buffers */
static PetscErrorCode TransformSome(const PC_FastPoisson *fp, int d, int sense, const KCycleCudaFPLines *lines,
                                    const PetscScalar *in, PetscScalar *out)
{
  const KCycleFPDevice   *dev = fp->device;
  const DeviceDirection  *dir = &dev->dir[d];
  const KCycleFPTransform t   = dir->transform[sense];
  const PetscInt          n = lines->n, all = KCycleCudaFPLength(t, n), z2d = KCycleCudaFPFromComplex(t);
  KCycleCudaFPMove        move = {.lines = *lines, .transform = t, .turn = dir->turn[sense]};
  cudaStream_t            stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  move.m      = z2d ? all / 2 + 1 : all;
  move.each   = KCycleDeviceDivisor(lines->width ? lines->count : move.m);
  move.before = sense ? NULL : dir->before;
  move.from   = in;
  move.to     = dev->buffer[z2d ? 1 : 0];
  LAUNCH(KCycleCudaFPBefore, &move);
  if (t == KCYCLE_FP_COPY) PetscCall(Multiply(dev, d, sense, lines));
  else {
    PetscCallCUFFT(cufftSetStream(dir->plan[sense], stream));
    if (z2d) PetscCallCUFFT(cufftExecZ2D(dir->plan[sense], (cufftDoubleComplex *)dev->buffer[1], dev->buffer[0]));
    else PetscCallCUFFT(cufftExecD2Z(dir->plan[sense], dev->buffer[0], (cufftDoubleComplex *)dev->buffer[1]));
  }
  move.m    = all;
  move.each = KCycleDeviceDivisor(lines->width ? lines->count : n);
  move.from = dev->buffer[z2d ? 0 : 1];
  move.to   = out;
  LAUNCH(KCycleCudaFPBehind, &move);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Transform(const PC_FastPoisson *fp, int d, int sense, const PetscScalar *in, PetscScalar *out)
{
  const PetscInt    width = fp->device->dir[d].width;
  KCycleCudaFPLines lines = Lines(fp, d, width);
  const PetscInt    all   = lines.count;

  PetscFunctionBegin;
  for (lines.first = 0; lines.first < all; lines.first += width) {
    lines.count = PetscMin(width, all - lines.first);
    PetscCall(TransformSome(fp, d, sense, &lines, in, out));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tridiagonal systems of the last direction */
static PetscErrorCode Systems(const PC_FastPoisson *fp, int d, const PetscScalar *in, PetscScalar *out)
{
  const KCycleFPDevice *dev  = fp->device;
  KCycleCudaFPSystems   work = dev->systems;
  PetscInt              all;
  int                   a, b;

  PetscFunctionBegin;
  KCycleFPLines(fp->grid.n, d, &a, &b);
  work.lines    = Lines(fp, d, 0);
  work.across   = dev->dir[a].lambda;
  work.rows     = dev->dir[b].lambda;
  work.sigma    = fp->sigma;
  work.singular = fp->singular ? 1 : 0;
  work.b        = in;
  work.x        = out;
  work.inverse  = dev->buffer[0];
  all           = work.lines.count;
  for (work.lines.first = 0; work.lines.first < all; work.lines.first += dev->dir[d].width) {
    work.lines.count = PetscMin(dev->dir[d].width, all - work.lines.first);
    LAUNCH(KCycleCudaFPSolve, &work);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All points of the core, with numbers of their three directions */
static KCycleCudaFPBox Box(const PC_FastPoisson *fp, int d, const PetscReal *const number[])
{
  KCycleCudaFPBox box;
  int             a, b;

  KCycleFPLines(fp->grid.n, d, &a, &b);
  box.lines       = Lines(fp, d, 0);
  box.lines.width = d == 0 ? 0 : box.lines.count;
  box.each        = KCycleDeviceDivisor(d == 0 ? box.lines.n : box.lines.count);
  box.along       = number[d];
  box.across      = number[a];
  box.rows        = number[b];
  return box;
}

/* The last direction, transformed: forth, division, and back */
static PetscErrorCode Modes(const PC_FastPoisson *fp, int d, const PetscScalar *in, PetscScalar *out)
{
  const DeviceDirection *dir       = fp->device->dir;
  const PetscReal *const lambda[3] = {dir[0].lambda, dir[1].lambda, dir[2].lambda};
  const KCycleCudaFPBox  box       = Box(fp, d, lambda);

  PetscFunctionBegin;
  PetscCall(Transform(fp, d, 0, in, out));
  LAUNCH(KCycleCudaFPDivide, &box, fp->sigma, fp->norm, 16 * PETSC_MACHINE_EPSILON * fp->size, out);
  PetscCall(Transform(fp, d, 1, out, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TransformAll(PC pc, int n, const int d[], int sense, const KCycleFPView *in,
                                   const KCycleFPView *out, const KCycleBox *layout)
{
  PetscFunctionBegin;
  (void)layout;
  PetscCall(PetscLogGpuTimeBegin());
  for (int i = 0; i < n; i++)
    PetscCall(Transform((const PC_FastPoisson *)pc->data, d[i], sense, i ? out->v : in->v, out->v));
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Last(PC pc, const KCycleFPView *in, const KCycleFPView *out)
{
  PC_FastPoisson *fp   = (PC_FastPoisson *)pc->data;
  const int       last = fp->order[fp->nstages - 1];

  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  if (fp->dir[last].method == KCYCLE_FP_TRIDIAGONAL) PetscCall(Systems(fp, last, in->v, out->v));
  else PetscCall(Modes(fp, last, in->v, out->v));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(fp->flops[0] + fp->flops[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Balance(PC pc, PetscBool invert, const PetscScalar *b, PetscScalar *x)
{
  PC_FastPoisson        *fp   = (PC_FastPoisson *)pc->data;
  const DeviceDirection *dir  = fp->device->dir;
  const PetscReal *const g[3] = {dir[0].g, dir[1].g, dir[2].g};
  const KCycleCudaFPBox  box  = Box(fp, 0, g);

  PetscFunctionBegin;
  LAUNCH(KCycleCudaFPBalance, &box, invert, b + KCycleFPCoreAt(fp), x + KCycleFPCoreAt(fp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Store(PC pc, const PetscScalar *b, const PetscScalar *w, PetscBool divide, PetscScalar *x)
{
  PC_FastPoisson       *fp  = (PC_FastPoisson *)pc->data;
  const KCycleFPDevice *dev = fp->device;

  PetscFunctionBegin;
  LAUNCH(KCycleCudaFPStore, fp->nstored, dev->stored, divide ? dev->inverse : NULL, b, w, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Couple(PC pc, PetscBool transpose, PetscScalar *x)
{
  PC_FastPoisson *fp   = (PC_FastPoisson *)pc->data;
  const PetscInt *n    = fp->box->n;
  const PetscInt  st[] = {1, n[0], n[0] * n[1]};

  PetscFunctionBegin;
  for (int f = 0; f < 6; f++) {
    const int        d = f / 2, side = f % 2, e = d == 0 ? 1 : 0, g = d == 2 ? 1 : 2;
    PetscInt         at;
    const PetscReal  coupling = KCycleFPFace(fp, d, side, &at);
    KCycleCudaFPFace face     = {.coupling = coupling, .transpose = transpose ? 1 : 0};

    if (coupling == 0) continue;
    face.n         = fp->dir[e].n * fp->dir[g].n;
    face.row       = KCycleDeviceDivisor(fp->dir[e].n);
    face.first     = KCycleFPCoreAt(fp) + at * st[d];
    face.stride[0] = st[e];
    face.stride[1] = st[g];
    face.step      = side ? st[d] : -st[d];
    face.d[0]      = fp->device->dir[e].d;
    face.d[1]      = fp->device->dir[g].d;
    LAUNCH(KCycleCudaFPCouple, &face, x);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

const KCycleFPOps KCycleFPOps_Device = {
    .transform = TransformAll,
    .last      = Last,
    .balance   = Balance,
    .store     = Store,
    .couple    = Couple,
};
#endif
