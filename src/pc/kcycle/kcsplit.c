/*
  Levels on a device and, from one level on, on the host: which are there.
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
  const PC_MG   *mg   = (PC_MG *)pc->data;
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PC_KCycle     *kc;
  KCycleVisit    visit = {1,           mg->cyclesperpcapply, (PetscBool)(mg->am == PC_MG_FULL),
                          PETSC_FALSE, PETSC_TRUE,           PETSC_FALSE};
  PetscReal      mean[MEANS], norm;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  visit.kappa = kc->kappa;
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
  PC_KCycle *kc;
  PetscReal  seconds;
  PetscInt   fastest = 0, level = -1;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
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
  PC_KCycle *kc;
  Vec        b, x;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  if (kc->host_below != PC_KCYCLE_HOST_BELOW_AUTO || kc->split.chosen || !kc->engine || kc->at != KCYCLE_MEMORY_DEVICE)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(pc->pmat, &x, &b));
  PetscCall(PCKCycleFillWithNoise(pc, x));
  PetscCall(MatMult(pc->pmat, x, b)); /* a right side that a singular operator has a solution for, and not zero */
  PetscCall(PCKCycleModelRest(pc, PETSC_TRUE));
  PetscCall(Try(pc, b, x));
  PetscCall(PCKCycleModelRest(pc, PETSC_FALSE));
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

/* A number that is not negative, or "auto" */
static PetscErrorCode Parse(PC pc, const char text[], PetscInt *unknowns)
{
  char     *end;
  long long number;
  PetscBool is;

  PetscFunctionBegin;
  *unknowns = PC_KCYCLE_HOST_BELOW_AUTO;
  PetscCall(PetscStrcasecmp(text, "auto", &is));
  if (is) PetscFunctionReturn(PETSC_SUCCESS);
  number = strtoll(text, &end, 10);
  PetscCheck(end != text && !*end && number >= 0 && number <= PETSC_INT_MAX, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "-pc_kcycle_host_below is a number of unknowns, or auto, not \"%s\"", text);
  *unknowns = (PetscInt)number;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called with the options of PCKCYCLE */
PetscErrorCode PCKCycleSplitSetFromOptions(PC pc, KCycleOptionItems PetscOptionsObject)
{
  PC_KCycle *kc;
  PetscInt   unknowns;
  PetscBool  flg;
  char       text[64] = "auto";

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  if (kc->host_below != PC_KCYCLE_HOST_BELOW_AUTO)
    PetscCall(PetscSNPrintf(text, sizeof(text), "%" PetscInt_FMT, kc->host_below));
  PetscCall(PetscOptionsString("-pc_kcycle_host_below", "Levels with fewer unknowns are on the host: a number, or auto",
                               "PCKCycleSetHostBelow", text, text, sizeof(text), &flg));
  if (!flg) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Parse(pc, text, &unknowns));
  PetscCall(PCKCycleSetHostBelow(pc, unknowns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCKCycleSetHostBelow_KCycle(PC pc, PetscInt unknowns)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  if (kc->host_below == unknowns) PetscFunctionReturn(PETSC_SUCCESS);
  kc->host_below = unknowns;
  PCKCycleSplitReset(kc);
  if (kc->ready && !kc->busy) PetscCall(PCKCycleEngineSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleSetHostBelow - Keeps small levels on the host where structured levels live on a device.

  Logically Collective

  Input Parameters:
+ pc - the preconditioner
- unknowns - levels with fewer unknowns than these, on all processes together, are on the host; 0 (the default): none;
    or `PC_KCYCLE_HOST_BELOW_AUTO`

  Options Database Key:
. -pc_kcycle_host_below (<unknowns>|auto) - the number

  Level: advanced

  Notes:
  Small levels do not fill a device, and cycles with kappa > 1 come to them often. One right side goes down and one
  solution comes back each time that the levels on the host are visited; these compute in PETSc's precision. The cycle
  is the same. Levels on the host alone are not changed by it.

  With `PC_KCYCLE_HOST_BELOW_AUTO` the first solve runs some cycles: with all levels on the device, with the two
  coarsest ones on the host, the three coarsest ones, and so on as long as that makes them faster. The fastest way stays
  until levels are others; `-ksp_view` shows it.

  Source:
  Feng, Shu, Xu, Zhang, Numerical Study of Geometric Multigrid Methods on CPU-GPU Heterogeneous Computers, Algorithm
  3.3 (`L_theta`).

.seealso: `PCKCYCLE`, `PCKCycleGetHostBelow()`, `PCKCycleSetPlace()`
@*/
PetscErrorCode PCKCycleSetHostBelow(PC pc, PetscInt unknowns)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, unknowns, 2);
  PetscCheck(unknowns >= 0 || unknowns == PC_KCYCLE_HOST_BELOW_AUTO, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "-pc_kcycle_host_below is a number of unknowns, or auto, not %" PetscInt_FMT,
             unknowns);
  PetscTryMethod(pc, "PCKCycleSetHostBelow_C", (PC, PetscInt), (pc, unknowns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCKCycleGetHostBelow_KCycle(PC pc, PetscInt *unknowns)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  *unknowns = kc->host_below;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetHostBelow - Gets the number of unknowns below which levels stay on the host.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. unknowns - the number, or `PC_KCYCLE_HOST_BELOW_AUTO`

  Level: advanced

.seealso: `PCKCYCLE`, `PCKCycleSetHostBelow()`
@*/
PetscErrorCode PCKCycleGetHostBelow(PC pc, PetscInt *unknowns)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(unknowns, 2);
  PetscUseMethod(pc, "PCKCycleGetHostBelow_C", (PC, PetscInt *), (pc, unknowns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCKCycleSplitCompose(PC pc, PetscBool compose)
{
  PetscObject o = (PetscObject)pc;

  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction(o, "PCKCycleSetHostBelow_C", compose ? PCKCycleSetHostBelow_KCycle : NULL));
  PetscCall(PetscObjectComposeFunction(o, "PCKCycleGetHostBelow_C", compose ? PCKCycleGetHostBelow_KCycle : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
