/*
  Cycles on a device that are recorded as CUDA graphs, and what a cycle launches.
*/
#include "kcycleimpl.h"

/* Why the host has something to do between the steps of a level, or nothing */
PetscErrorCode PCKCycleStepsObstacle(PC pc, const char *why[])
{
  PC_KCycle  *kc;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  *why = size > 1 && use_gpu_aware_mpi             ? "halos between processes are sent by MPI"
         : size > 1                                ? "halos between processes go through the host"
         : kc->level[kc->nlevels - 1].event[0] > 0 ? "-pc_mg_log logs each step"
                                                   : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why cycles are launched kernel by kernel, or nothing */
static PetscErrorCode FindObstacle(PC pc, const char *why[])
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  PetscCall(PCKCycleStepsObstacle(pc, why));
  if (!kc->graph) *why = "-pc_kcycle_graph is off";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For each run */
PetscErrorCode PCKCycleGraphIsUsed(PC pc, PetscBool *used)
{
  const char *why;

  PetscFunctionBegin;
  PetscCall(FindObstacle(pc, &why));
  *used = (PetscBool)(why == NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of levels on a device */
PetscErrorCode PCKCycleGraphView(PC pc, PetscViewer viewer)
{
  PC_KCycle        *kc;
  const KCycleCost *cost;
  const char       *why;
  PetscInt          n;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  PetscCall(FindObstacle(pc, &why));
  PetscCall(PetscViewerASCIIPrintf(viewer, "    cycles %s%s\n",
                                   why ? "are launched kernel by kernel: " : "are recorded as CUDA graphs",
                                   why ? why : ""));
  n = (*kc->engine->costs)(kc->levels, &cost);
  for (PetscInt i = 0; i < n; i++) {
    char kappa[16] = "w";

    if (cost[i].kappa < PC_KCYCLE_KAPPA_W) PetscCall(PetscSNPrintf(kappa, 16, "%" PetscInt_FMT, cost[i].kappa));
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "    %s with kappa %s: %" PetscInt64_FMT " kernels, %" PetscInt64_FMT " launch%s\n",
        cost[i].full ? "full multigrid" : "a cycle", kappa, cost[i].kernels, cost[i].calls,
        cost[i].calls == 1 ? "" : "es"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCKCycleSetGraph_KCycle(PC pc, PetscBool graph)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  kc->graph = graph;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleSetGraph - Sets whether cycles on a device are recorded as CUDA graphs, and then launched as a whole.

  Logically Collective

  Input Parameters:
+ pc - the preconditioner
- graph - `PETSC_TRUE` (the default): where that can be done

  Options Database Key:
. -pc_kcycle_graph <true> - whether

  Level: advanced

  Notes:
  For structured levels on a device of one process. A cycle that is asked for a second time, with the same kappa and the
  same arrays of right side and solution, is recorded, and replayed from the third time on; 64 of them are kept, those
  that were used last. Where the host solves the coarsest problem, has levels of its own or tests the residual, the
  recording is in parts, 64 at most. With several processes, while levels are timed and with `-pc_mg_log` each kernel
  is launched by itself. `-ksp_view` says what is done, and how many kernels and launches a cycle has.

  Operations that are logged, and the calls of levels, are those of the cycles that run.

.seealso: `PCKCYCLE`, `PCKCycleGetGraph()`, `PCKCycleSetPlace()`
@*/
PetscErrorCode PCKCycleSetGraph(PC pc, PetscBool graph)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, graph, 2);
  PetscTryMethod(pc, "PCKCycleSetGraph_C", (PC, PetscBool), (pc, graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCKCycleGetGraph_KCycle(PC pc, PetscBool *graph)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  *graph = kc->graph;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetGraph - Gets whether cycles on a device are to be recorded as CUDA graphs.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. graph - whether

  Level: advanced

.seealso: `PCKCYCLE`, `PCKCycleSetGraph()`
@*/
PetscErrorCode PCKCycleGetGraph(PC pc, PetscBool *graph)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(graph, 2);
  PetscUseMethod(pc, "PCKCycleGetGraph_C", (PC, PetscBool *), (pc, graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called with the options of PCKCYCLE */
PetscErrorCode PCKCycleGraphSetFromOptions(PC pc, KCycleOptionItems PetscOptionsObject)
{
  PC_KCycle *kc;
  PetscBool  graph, flg;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  graph = kc->graph;
  PetscCall(PetscOptionsBool("-pc_kcycle_graph", "Cycles on a device are recorded as CUDA graphs", "PCKCycleSetGraph",
                             graph, &graph, &flg));
  if (flg) PetscCall(PCKCycleSetGraph(pc, graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCKCycleGraphCompose(PC pc, PetscBool compose)
{
  PetscObject o = (PetscObject)pc;

  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction(o, "PCKCycleSetGraph_C", compose ? PCKCycleSetGraph_KCycle : NULL));
  PetscCall(PetscObjectComposeFunction(o, "PCKCycleGetGraph_C", compose ? PCKCycleGetGraph_KCycle : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
