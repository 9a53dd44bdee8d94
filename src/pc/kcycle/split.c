/*
  Levels on a device and, from one level on, on the host: which these are with -pc_kcycle_host_below auto. The first
  solve runs some cycles: with all levels on the device, with the two coarsest ones on the host, the three coarsest
  ones, and so on as long as that makes them faster.

  Feng, Shu, Xu, Zhang, Numerical Study of Geometric Multigrid Methods on CPU-GPU Heterogeneous Computers, Algorithm 3.3
  (L_theta).
*/
#include "kcycleimpl.h"

/* Of cycles whose mean counts, and of means of which the median does */
#define CYCLES 4
#define MEANS  3

/* Levels are others */
void PCKCycleSplitReset(PC_KCycle *kc)
{
  kc->split.chosen  = PETSC_FALSE;
  kc->split.fastest = 0;
  kc->split.tried   = 0;
}

/* Seconds of an application as levels are now. In the first two cycles are recorded; a norm waits for the device */
static PetscErrorCode Time(PC pc, Vec b, Vec x, PetscReal *seconds)
{
  const MPI_Comm    comm  = PetscObjectComm((PetscObject)pc);
  const KCycleVisit visit = KCycleApplication(pc, KCycleOf(pc)->kappa, PETSC_FALSE);
  PetscReal         mean[MEANS], norm;

  PetscFunctionBegin;
  for (int i = -1; i < MEANS; i++) {
    PetscLogDouble start;

    PetscCallMPI(MPI_Barrier(comm));
    start = MPI_Wtime();
    for (int c = 0; c < CYCLES; c++) PetscCall(PCKCycleVisit(pc, &visit, b, x));
    PetscCall(VecNorm(x, NORM_INFINITY, &norm));
    if (i >= 0) mean[i] = (PetscReal)(MPI_Wtime() - start) / CYCLES;
  }
  *seconds = KCycleModelMedian(MEANS, mean);
  PetscCallMPI(MPI_Bcast(seconds, 1, MPIU_REAL, 0, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One level more on the host, as long as that is faster */
static PetscErrorCode Try(PC pc, Vec b, Vec x)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscReal  seconds;
  PetscInt   fastest = 0, level = -1;

  PetscFunctionBegin;
  kc->split.tried = 0;
  for (PetscInt l = 0; l < kc->nlevels - 1; l++) {
    kc->split.fastest = l;
    if (l) PetscCall(PCKCycleEngineSetUp(pc));
    if (kc->at != KCYCLE_MEMORY_DEVICE) break;
    if (l && kc->split.level == level) continue; /* a smoother keeps more levels there anyway */
    level = kc->split.level;
    PetscCall(Time(pc, b, x, &seconds));
    if (!kc->split.tried) kc->split.all = seconds;
    if (kc->split.tried++ && seconds >= kc->split.best) break;
    kc->split.best = seconds;
    fastest        = l;
  }
  if (kc->split.fastest != fastest) {
    kc->split.fastest = fastest;
    PetscCall(PCKCycleEngineSetUp(pc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before the first solve on these levels, if they are on a device. For levels of finer ones that is done there */
PetscErrorCode PCKCycleSplitSetUp(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);
  Vec        b, x;

  PetscFunctionBegin;
  if (kc->limits.host_below != KCYCLE_HOST_BELOW_AUTO || kc->split.chosen || !kc->engine ||
      kc->at != KCYCLE_MEMORY_DEVICE)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(pc->pmat, &x, &b));
  PetscCall(PCKCycleFillWithNoise(pc, x));
  PetscCall(MatMult(pc->pmat, x, b)); /* a right side that a singular operator has a solution for, and not zero */
  PetscCall(PCKCycleModelPause(pc, PETSC_TRUE));
  PetscCall(Try(pc, b, x));
  PetscCall(PCKCycleModelPause(pc, PETSC_FALSE));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  kc->split.chosen = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What was tried */
PetscErrorCode PCKCycleSplitView(const PC_KCycle *kc, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (!kc->split.chosen) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "    -pc_kcycle_host_below auto: %" PetscInt_FMT
                                   " ways tried, %g s a cycle; %g s with all levels on the device\n",
                                   kc->split.tried, (double)kc->split.best, (double)kc->split.all));
  PetscFunctionReturn(PETSC_SUCCESS);
}
