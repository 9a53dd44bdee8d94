/*
  What cycles on a device launch: CUDA graphs, one kernel for small levels, products with matrices, kernels for the rims
  of halos, tiles. The limits are estimates, and options alone set them; docs/gpu.md says what they mean.
*/
#include "kcycleimpl.h"

/* Why the host has something to do between the steps of a level, or nothing */
static PetscErrorCode FindStepsObstacle(PC pc, const char *why[])
{
  PC_KCycle  *kc = KCycleOf(pc);
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  *why = size > 1 && use_gpu_aware_mpi             ? "halos between processes are sent by MPI"
         : size > 1                                ? "halos between processes go through the host"
         : kc->level[kc->nlevels - 1].event[0] > 0 ? "-pc_mg_log logs each step"
                                                   : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why cycles are launched kernel by kernel, or nothing. For each run */
PetscErrorCode PCKCycleGraphObstacle(PC pc, const char *why[])
{
  PetscFunctionBegin;
  PetscCall(FindStepsObstacle(pc, why));
  if (!KCycleOf(pc)->graph) *why = "-pc_kcycle_graph is off";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why each level has its own kernels, or nothing */
static PetscErrorCode FindBlockObstacle(PC pc, const char *why[])
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(FindStepsObstacle(pc, why));
  if (!kc->limits.block_below) *why = "-pc_kcycle_block_below is 0";
  else if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  else if (!kc->inverted) *why = "the host has to do with the coarsest problem";
  else if (kc->nlevels < 3) *why = "there is none between the finest and the coarsest one";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* When levels on a device have the inverse of the coarsest operator, or it is known that they have not */
PetscErrorCode PCKCycleBlockSetUp(PC pc)
{
  PC_KCycle  *kc = KCycleOf(pc);
  const char *why;

  PetscFunctionBegin;
  if (kc->at != KCYCLE_MEMORY_DEVICE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FindBlockObstacle(pc, &why));
  PetscCall((*kc->engine->share)(kc->levels, why ? 0 : kc->limits.block_below, kc->limits.matrix_below));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewGraph(PC pc, PetscViewer viewer)
{
  PC_KCycle        *kc = KCycleOf(pc);
  const KCycleCost *cost;
  const char       *why;
  PetscInt          n;

  PetscFunctionBegin;
  PetscCall(PCKCycleGraphObstacle(pc, &why));
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

static PetscErrorCode ViewBlock(PC pc, PetscViewer viewer)
{
  PC_KCycle    *kc = KCycleOf(pc);
  const char   *why;
  KCycleSharing sharing;

  PetscFunctionBegin;
  PetscCall(FindBlockObstacle(pc, &why));
  (*kc->engine->sharing)(kc->levels, &sharing);
  if (why) PetscCall(PetscViewerASCIIPrintf(viewer, "    each level has its own kernels: %s\n", why));
  else if (!sharing.level)
    PetscCall(PetscViewerASCIIPrintf(
        viewer,
        "    each level has its own kernels: level 1 does not relax points, is tiled, or has not "
        "fewer than %" PetscInt_FMT " unknowns\n",
        kc->limits.block_below));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "    one kernel does what cycles do on level %" PetscInt_FMT
                                     " and coarser ones: they have fewer than %" PetscInt_FMT " unknowns\n",
                                     sharing.level,
                                     sharing.products ? kc->limits.matrix_below : kc->limits.block_below));
  if (sharing.refused)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "    but for %" PetscInt_FMT " of these visits, which are too long for it\n", sharing.refused));
  if (sharing.products)
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "    from the second cycle on it is a product with a matrix of %" PetscInt_FMT
                                     "^2 numbers: %" PetscInt_FMT " of these\n",
                                     sharing.unknowns, sharing.matrices));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coarsest level on the device where it is so, if there is one */
static PetscErrorCode ViewOverlap(const PC_KCycle *kc, PetscViewer viewer)
{
  PetscInt first = kc->nlevels;

  PetscFunctionBegin;
  for (PetscInt l = kc->nlevels - 1; l > kc->split.level && kc->parts[l].overlaps; l--) first = l;
  if (first < kc->nlevels)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "    halos are sent while inner points are computed on level %" PetscInt_FMT " and finer ones\n",
        first + kc->gathered.below));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of levels on a device */
PetscErrorCode PCKCycleLaunchesView(PC pc, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(ViewOverlap(KCycleOf(pc), viewer));
  PetscCall(ViewBlock(pc, viewer));
  PetscCall(ViewGraph(pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How sweeps of level l are fused with residuals and transfers, or NULL. On a device that takes tiles */
const char *PCKCycleFused(const PC_KCycle *kc, PetscInt l)
{
  if (kc->engine && kc->at == KCYCLE_MEMORY_DEVICE && l > kc->split.level)
    return (*kc->engine->tiled)(kc->levels, l - kc->split.level);
  return kc->level[l].fused ? "fused" : NULL;
}
