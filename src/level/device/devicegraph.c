/*
  What a device is asked to do, recorded as a CUDA graph and replayed by one launch.

  PETSc's stream may be CUDA's own one, from which nothing can be recorded: a device context with another stream
  replaces it meanwhile.
*/
#include <petsckcycle/private/devicelevelimpl.h>

struct _KCycleRecord {
  PetscDeviceContext caller, own; /* while it is recorded; own: or NULL */
  cudaStream_t       stream;      /* that is being captured, or NULL */
  cudaGraphExec_t    graph;
  PetscLogDouble     flops;
};

PetscErrorCode KCycleDeviceRecord(KCycleRecord **record)
{
  KCycleRecord *r;
  PetscDevice   device;
  cudaStream_t  stream;

  PetscFunctionBegin;
  PetscCall(PetscNew(&r));
  *record = r;
  PetscCall(PetscDeviceContextGetCurrentContext(&r->caller));
  PetscCall(PetscDeviceContextGetDevice(r->caller, &device));
  PetscCall(PetscDeviceContextCreate(&r->own));
  PetscCall(PetscDeviceContextSetDevice(r->own, device));
  PetscCall(PetscDeviceContextSetStreamType(r->own, KCYCLE_STREAM_NONBLOCKING));
  PetscCall(PetscDeviceContextSetUp(r->own));
  PetscCall(PetscDeviceContextSetCurrentContext(r->own));
  PetscCall(PetscGetFlops(&r->flops));
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  r->stream = stream;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The caller's stream is current again */
static PetscErrorCode Return(KCycleRecord *r)
{
  PetscFunctionBegin;
  if (!r->own) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscDeviceContextSetCurrentContext(r->caller));
  PetscCall(PetscDeviceContextDestroy(&r->own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleDeviceRecorded(KCycleRecord *r)
{
  const PetscLogDouble before = r->flops;
  cudaGraph_t          graph;
  cudaError_t          status;

  PetscFunctionBegin;
  status    = cudaStreamEndCapture(r->stream, &graph);
  r->stream = NULL;
  PetscCallCUDA(status);
  status = cudaGraphInstantiateWithFlags(&r->graph, graph, 0);
  if (status != cudaSuccess) r->graph = NULL;
  PetscCallCUDA(cudaGraphDestroy(graph));
  PetscCallCUDA(status);
  PetscCall(PetscGetFlops(&r->flops));
  r->flops -= before;
  PetscCall(Return(r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An error has come while it was recorded: nothing of it is kept */
static PetscErrorCode BreakOff(KCycleRecord *r)
{
  cudaGraph_t graph = NULL;

  PetscFunctionBegin;
  if (r->stream) {
    cudaError_t status = cudaStreamEndCapture(r->stream, &graph); /* fails where the error has ended it */

    r->stream = NULL;
    if (status == cudaSuccess && graph) PetscCallCUDA(cudaGraphDestroy(graph));
    status = cudaGetLastError(); /* no later call is to find it */
    (void)status;
  }
  PetscCall(Return(r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* again: its operations have been logged before */
PetscErrorCode KCycleDeviceReplay(const KCycleRecord *r, PetscBool again)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaGraphLaunch(r->graph, stream));
  if (again) PetscCall(PetscLogGpuFlops(r->flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Also of one that is being recorded */
PetscErrorCode KCycleDeviceForget(KCycleRecord **record)
{
  PetscFunctionBegin;
  if (!*record) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BreakOff(*record));
  if ((*record)->graph) PetscCallCUDA(cudaGraphExecDestroy((*record)->graph));
  PetscCall(PetscFree(*record));
  PetscFunctionReturn(PETSC_SUCCESS);
}
