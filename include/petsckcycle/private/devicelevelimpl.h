/*
  Levels on a device: copies of grids, operators and transfers that are made once, after the set-up on the host, and
  what runs on them. Streams are those of PETSc's device context.

  Halos between processes are packed on the device. MPI takes them from there where it can (-use_gpu_aware_mpi), else
  they go through memory of the host that does not move; those that a process has of itself, where a direction wraps
  around, stay on the device.
*/
#pragma once

#include <petsckcycle/private/memoryimpl.h>

#if defined(KCYCLE_HAVE_CUDA)

  #include <petsckcycle/private/cudaimpl.h>
  #if defined(KCYCLE_HAVE_HIP)
    #include <petscdevice_hip.h>
    #define PetscCallCUDA             PetscCallHIP
    #define PetscGetCurrentCUDAStream PetscGetCurrentHIPStream
    #define KCYCLE_DEVICE             PETSC_DEVICE_HIP
    #define KCYCLE_DEVICE_MEMORY      PETSC_MEMTYPE_HIP
  #else
    #include <petscdevice_cuda.h>
    #define KCYCLE_DEVICE        PETSC_DEVICE_CUDA
    #define KCYCLE_DEVICE_MEMORY PETSC_MEMTYPE_CUDA
  #endif
  #include <petsc/private/petscimpl.h>

  /* Launches in PETSc's stream */
  #define KCycleCallKernel(launch, ...)               \
    do {                                              \
      cudaStream_t stream_;                           \
                                                      \
      PetscCall(PetscGetCurrentCUDAStream(&stream_)); \
      PetscCallCUDA(launch(stream_, __VA_ARGS__));    \
    } while (0)

/* Places of an exchange of halos: roots in the vector, leaves in the halo */
typedef struct {
  PetscInt  npairs, *leaf, *root;      /* within the process, each leaf with its root */
  PetscInt  nsums, *sum, *start, *add; /* the same for sums: roots, and the leaves that are added to each */
  PetscInt  nsent, *sent;              /* roots that other processes read */
  PetscInt  ngot, *got;                /* leaves that are read from them */
  KCScalar *packed[2];                 /* on the device: of roots, of leaves */
  PetscBool aware;                     /* MPI is called with these */
  KCScalar *staged[2];                 /* on the host */
  PetscSF   sf;                        /* between these; NULL: no process reads from another */
} KCycleDeviceExchange;

/* The points of a process, or the pairs of points side by side in x: those that read no halo of others, and the
   rest */
typedef struct {
  KCycleCudaPart inner, rim;
} KCycleDeviceParts;

/* A grid; exchanges without and with the corner lines */
typedef struct {
  KCycleCudaBox         box;
  const KCycleBox      *of;
  PetscInt              nhalo;
  PetscBool             talks;
  KCScalar             *halo;
  KCycleDeviceExchange *exchange[2];
  PetscBool             overlaps; /* inner points are computed while halos are on their way */
  KCycleDeviceParts     points, pairs;
} KCycleDeviceGrid;

/* An operator */
typedef struct {
  KCycleDeviceGrid *grid;
  KCycleCudaStencil st;
} KCycleDeviceStencil;

/* Red-black sweeps in tiles; unless these march, the parts for each kind of launch */
typedef struct {
  KCycleCudaTile   tile;
  PetscInt         most; /* half sweeps of a launch */
  PetscBool        away; /* the iterate is in the residual's vector */
  PetscBool        marches;
  KCycleCudaShares shares[KC_CUDA_TILE][2][2];
} KCycleDeviceTile;

/* A kind of launch of tiles */
typedef struct {
  PetscInt  nhalf;
  PetscBool zeros, restricts; /* from zeros; residual and restriction are after the half sweeps */
} KCycleTileKind;

/* What sweeps work with: an operator, and as many vectors as the smoother needs */
typedef struct {
  const KCycleDeviceStencil *st;
  KCScalar *const           *work;
} KCycleDeviceWork;

/* Numbers that steps of a level write */
typedef struct {
  KCScalar *first;
  size_t    n;
} KCycleDeviceNumbers;

/* A program; deviceblock.c */
struct _KCycleProgram {
  KCycleCudaSteps        steps;
  PetscInt               ninstructions;
  KCycleCudaInstruction *instruction; /* on the host */
  PetscLogDouble         flops;
};

/* devicegrid.c */
PETSC_INTERN PetscErrorCode    KCycleDeviceWait(void);
PETSC_INTERN PetscErrorCode    KCycleDeviceMalloc(size_t bytes, void *pointer);
PETSC_INTERN PetscErrorCode    KCycleDeviceCopy(const void *from, size_t bytes, void *pointer);
PETSC_INTERN PetscErrorCode    KCycleDeviceFree(const void *);
PETSC_INTERN PetscErrorCode    KCycleDeviceToHost(size_t bytes, const void *from, void *to);
PETSC_INTERN PetscErrorCode    KCycleDeviceToDevice(size_t bytes, const void *from, void *to);
PETSC_INTERN PetscErrorCode    KCycleDeviceGridCreate(const KCycleBox *, PetscBool overlaps, KCycleDeviceGrid **);
PETSC_INTERN PetscErrorCode    KCycleDeviceGridDestroy(KCycleDeviceGrid **);
PETSC_INTERN PetscErrorCode    KCycleDeviceGridExchangeBegin(const KCycleDeviceGrid *, PetscBool corners,
                                                             const KCScalar *x);
PETSC_INTERN PetscErrorCode    KCycleDeviceGridExchangeEnd(const KCycleDeviceGrid *, PetscBool corners);
PETSC_INTERN PetscErrorCode    KCycleDeviceGridExchange(const KCycleDeviceGrid *, PetscBool corners, const KCScalar *x);
PETSC_INTERN PetscErrorCode    KCycleDeviceGridReduce(const KCycleDeviceGrid *, KCScalar *x);
PETSC_INTERN KCycleCudaDivisor KCycleDeviceDivisor(PetscInt);

/* devicegraph.c */
PETSC_INTERN PetscErrorCode KCycleDeviceRecord(KCycleRecord **);
PETSC_INTERN PetscErrorCode KCycleDeviceRecorded(KCycleRecord *);
PETSC_INTERN PetscErrorCode KCycleDeviceReplay(const KCycleRecord *, PetscBool again);
PETSC_INTERN PetscErrorCode KCycleDeviceForget(KCycleRecord **);

/* deviceblock.c */
PETSC_INTERN PetscErrorCode KCycleDeviceWrite(void);
PETSC_INTERN PetscErrorCode KCycleDeviceWritten(KCycleProgram **);
PETSC_INTERN PetscErrorCode KCycleDevicePerform(const KCycleProgram *, PetscBool again);
PETSC_INTERN PetscErrorCode KCycleDeviceErase(KCycleProgram **);

/* devicematrix.c */
PETSC_INTERN PetscErrorCode KCycleDeviceMatrixCreate(const KCycleProgram *, PetscInt nparts, KCycleDeviceNumbers[],
                                                     const KCycleLevelData *, KCycleMatrix **);
PETSC_INTERN PetscErrorCode KCycleDeviceMatrixMultiply(const KCycleLevelData *, const KCycleMatrix *);
PETSC_INTERN PetscErrorCode KCycleDeviceMatrixErase(KCycleMatrix **);

/* devicestencil.c */
PETSC_INTERN PetscErrorCode KCycleDeviceStencilCreate(const KCycleStencil *, PetscBool overlaps,
                                                      KCycleDeviceStencil **);
PETSC_INTERN PetscErrorCode KCycleDeviceStencilCreateEmpty(const KCycleStencil *, PetscBool overlaps,
                                                           KCycleDeviceStencil **);
PETSC_INTERN PetscErrorCode KCycleDeviceStencilMakeBlocks(const KCycleStencil *, KCycleDeviceStencil *, KCScalar **own);
PETSC_INTERN PetscErrorCode KCycleDeviceStencilDestroy(KCycleDeviceStencil **);
PETSC_INTERN PetscErrorCode KCycleDeviceStencilFill(const KCycleStencil *, KCycleDeviceStencil *);
PETSC_INTERN PetscErrorCode KCycleDeviceStencilExchange(const KCycleDeviceStencil *, const KCScalar *x);
PETSC_INTERN PetscErrorCode KCycleDeviceStencilStep(const KCycleDeviceStencil *, const KCycleCudaStep *);
PETSC_INTERN PetscErrorCode KCycleDeviceStencilSweeps(const KCycleDeviceStencil *, KCycleSmoother *,
                                                      const KCycleSweeps *, const KCScalar *b, KCScalar *x,
                                                      KCScalar *const work[2]);

/* devicesmoother.c */
PETSC_INTERN PetscErrorCode KCycleDeviceSmootherCopy(KCycleSmoother *);

/* devicelines.c */
PETSC_INTERN PetscErrorCode KCycleDeviceLinesCreate(KCycleSmoother *);
PETSC_INTERN PetscErrorCode KCycleDeviceLinesSweeps(const KCycleDeviceStencil *, const KCycleSmoother *,
                                                    const KCycleSweeps *, const KCScalar *b, KCScalar *x,
                                                    KCScalar *work);

/* deviceclusters.c */
PETSC_INTERN PetscErrorCode KCycleDeviceClustersCreate(KCycleSmoother *);
PETSC_INTERN PetscErrorCode KCycleDeviceClustersCorrect(void *work, const KCycleSmoother *, PetscBool innerlast,
                                                        const KCScalar *b, KCScalar *x);

/* deviceplanes.c */
PETSC_INTERN PetscErrorCode KCycleDevicePlanesCreate(KCycleSmoother *);
PETSC_INTERN PetscErrorCode KCycleDevicePlanesRelax(void *work, const KCycleSmoother *, int which, int parity,
                                                    PetscBool zero, const KCScalar *b, KCScalar *x);

/* Vectors that sweeps need in addition */
static inline int KCycleDeviceSmootherWork(const KCycleSmoother *s)
{
  const KCycleSweepsKind kind = s->kind == KCYCLE_SWEEPS_CLUSTERS ? s->inner->kind : s->kind;

  if (kind == KCYCLE_SWEEPS_CHEBYSHEV) return 2;
  return kind == KCYCLE_SWEEPS_JACOBI || kind == KCYCLE_SWEEPS_ZEBRA || kind == KCYCLE_SWEEPS_PLANES ? 1 : 0;
}

/* deviceparts.c */
PETSC_INTERN PetscErrorCode    KCycleDevicePartsCreate(KCycleDeviceTile *, PetscInt *most);
PETSC_INTERN KCycleCudaShares *KCycleDevicePartsOf(KCycleDeviceTile *, const KCycleTileKind *);

/* devicetile.c */
PETSC_INTERN PetscErrorCode KCycleDeviceTileCreate(const KCycleLevelData *, const KCycleDeviceStencil *,
                                                   const KCycleCudaTransfer *, KCycleDeviceTile **);
PETSC_INTERN PetscErrorCode KCycleDeviceTileSettle(KCycleDeviceTile *, const KCycleLevelData *);
PETSC_INTERN PetscErrorCode KCycleDeviceTileDown(KCycleDeviceTile *, const KCycleLevelData *, int which,
                                                 const KCycleSweeps *);
PETSC_INTERN PetscErrorCode KCycleDeviceTileUp(KCycleDeviceTile *, const KCycleLevelData *, int which,
                                               const KCycleSweeps *);
#endif
