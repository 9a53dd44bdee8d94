/*
  What a device is asked to do, recorded as a CUDA graph and played by one launch.

  PETSc's stream may be CUDA's own one, from which nothing can be recorded: a device context with another stream stands
  in its place meanwhile.
*/
#include <petsckcycle/private/devicelevelimpl.h>

#if defined(KCYCLE_HAVE_CUDA)

struct _KCycleRecord {
  PetscDeviceContext caller, own; /* while it is recorded */
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
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleDeviceRecorded(KCycleRecord *r)
{
  const PetscLogDouble before = r->flops;
  cudaStream_t         stream;
  cudaGraph_t          graph;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaStreamEndCapture(stream, &graph));
  PetscCallCUDA(cudaGraphInstantiateWithFlags(&r->graph, graph, 0));
  PetscCallCUDA(cudaGraphDestroy(graph));
  PetscCall(PetscGetFlops(&r->flops));
  r->flops -= before;
  PetscCall(PetscDeviceContextSetCurrentContext(r->caller));
  PetscCall(PetscDeviceContextDestroy(&r->own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* again: its operations have been logged before */
PetscErrorCode KCycleDevicePlay(const KCycleRecord *r, PetscBool again)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaGraphLaunch(r->graph, stream));
  if (again) PetscCall(PetscLogGpuFlops(r->flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleDeviceForget(KCycleRecord **record)
{
  PetscFunctionBegin;
  if (*record && (*record)->graph) PetscCallCUDA(cudaGraphExecDestroy((*record)->graph));
  PetscCall(PetscFree(*record));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
