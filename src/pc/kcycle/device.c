/*
  Where structured levels are: on the host, or on a device that has the vectors of the solver.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/deviceimpl.h>

const char *const PCKCyclePlaceTypes[] = {"auto", "host", "device", "PCKCyclePlaceType", "PC_KCYCLE_PLACE_", NULL};

/* What keeps levels from a device, or nothing */
static PetscErrorCode FindObstacle(const PC_KCycle *kc, PCMGType type, size_t len, char keeps[])
{
  PetscFunctionBegin;
  keeps[0] = 0;
  if (!KCycleKernelsOf(KCYCLE_MEMORY_DEVICE))
    PetscCall(PetscSNPrintf(keeps, len, "the library has no kernels for devices: it was built without CUDA and HIP"));
  else if (kc->handed[0]) PetscCall(PetscSNPrintf(keeps, len, "%s", kc->handed));
  else if (type != PC_MG_MULTIPLICATIVE && type != PC_MG_FULL)
    PetscCall(PetscSNPrintf(keeps, len, "PCMG runs -pc_mg_type %s", PCMGTypes[type]));
  else if (kc->found.ghostrows) PetscCall(PetscSNPrintf(keeps, len, "rows of the operator move to other processes"));
  else if (kc->count) PetscCall(PetscSNPrintf(keeps, len, "-pc_kcycle_count_bytes counts on the host"));
  else if (kc->profiling.wanted) PetscCall(PetscSNPrintf(keeps, len, "-pc_kcycle_profile is for levels on the host"));
  else if (kc->nlevels == 1) PetscCall(PetscSNPrintf(keeps, len, "there is one level only"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The finest level that is on the host, with all coarser ones, and why: it has few unknowns, or a smoother without
   kernels for devices; 0: none, but for the solver of the coarsest problem */
static PetscErrorCode FindSplit(PC_KCycle *kc, size_t len, char why[])
{
  PetscFunctionBegin;
  kc->split.level = 0;
  why[0]          = 0;
  for (PetscInt l = 1; l < kc->nlevels; l++) {
    if (l <= kc->split.fastest) {
      kc->split.level = l;
      PetscCall(PetscSNPrintf(why, len, "level %" PetscInt_FMT ": cycles are faster so", l + kc->gathered.below));
    }
    if (KCycleBoxGlobalRows(kc->parts[l].st->box) < kc->limits.host_below) {
      kc->split.level = l;
      PetscCall(PetscSNPrintf(why, len, "level %" PetscInt_FMT ": it has fewer unknowns than -pc_kcycle_host_below",
                              l + kc->gathered.below));
    }
    for (int i = 0; i < 2; i++) {
      char keeps[300];

      PetscCall(KCycleSmootherObstacle(kc->parts[l].smoother[i], sizeof(keeps), keeps));
      if (!keeps[0]) continue;
      kc->split.level = l;
      PetscCall(PetscSNPrintf(why, len, "level %" PetscInt_FMT ": %s", l + kc->gathered.below, keeps));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* When it is known which levels there are */
PetscErrorCode PCKCyclePlaceChoose(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);
  char       keeps[400];

  PetscFunctionBegin;
  kc->at          = PCKCycleCounts(kc) ? KCYCLE_MEMORY_COUNTED : KCYCLE_MEMORY_HOST;
  kc->onhost[0]   = 0;
  kc->split.level = 0;
  if (kc->finer.exists || kc->place == PC_KCYCLE_PLACE_HOST) PetscFunctionReturn(PETSC_SUCCESS);
  if (kc->place == PC_KCYCLE_PLACE_AUTO && !kc->device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FindObstacle(kc, ((PC_MG *)pc->data)->am, sizeof(keeps), keeps));
  if (!keeps[0]) PetscCall(FindSplit(kc, sizeof(kc->onhost), kc->onhost));
  if (!keeps[0] && kc->split.level == kc->nlevels - 1) {
    PetscCall(PetscStrncpy(keeps, kc->onhost, sizeof(keeps)));
    kc->split.level = 0;
  }
  PetscCheck(
      !keeps[0] || kc->place != PC_KCYCLE_PLACE_DEVICE, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
      "-pc_kcycle_place device is for structured levels whose finest one has a smoother with kernels for devices, "
      "and here %s: use auto or host",
      keeps);
  if (!keeps[0]) kc->at = KCYCLE_MEMORY_DEVICE;
  else PetscCall(PetscStrncpy(kc->onhost, keeps, sizeof(kc->onhost)));
  PetscCall(PetscInfo(pc, "Structured levels are on the %s%s%s\n", keeps[0] ? "host" : "device",
                      kc->onhost[0] ? ", not all: " : "", kc->onhost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The engine, or one on the device and one on the host, which computes in PETSc's numbers */
PetscErrorCode PCKCyclePlaceCreateLevels(PC pc, PetscReal scale)
{
  MPI_Comm     comm  = PetscObjectComm((PetscObject)pc);
  PC_KCycle   *kc    = KCycleOf(pc);
  KCycleSplit *split = &kc->split;
  PetscInt     n     = kc->nlevels - split->level;

  PetscFunctionBegin;
  if (!split->level) {
    PetscCall((*kc->engine->create)(comm, kc->at, n, kc->parts, scale, &kc->levels));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(n, &split->parts));
  PetscCall(PetscArraycpy(split->parts, kc->parts + split->level, n));
  split->parts[0].tr    = NULL;
  split->parts[0].calls = &split->calls;
  split->parts[0].timer = &split->timer;
  split->parts[0].event = split->event;
  PetscCall((*kc->engine->create)(comm, kc->at, n, split->parts, scale, &kc->levels));
  PetscCall((*KCycleEngine_Double.create)(comm, KCYCLE_MEMORY_HOST, split->level + 1, kc->parts, scale, &split->host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solver's vectors are known now */
PetscErrorCode PCKCyclePlaceFollow(PC pc)
{
  PC_KCycle        *kc = KCycleOf(pc);
  KCycleMemorySpace at;

  PetscFunctionBegin;
  if (!kc->engine) PetscFunctionReturn(PETSC_SUCCESS);
  at = kc->at;
  PetscCall(PCKCyclePlaceChoose(pc));
  if (kc->at != at) PetscCall(PCKCycleEngineSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vector itself if it is on a device, else one there, with its values if these are wanted */
static PetscErrorCode Stage(PC_KCycle *kc, Vec v, PetscBool values, int which, Vec *used)
{
  PetscBool device;
  PetscInt  n, N;

  PetscFunctionBegin;
  *used = v;
  PetscCall(KCycleVecOnDevice(v, &device));
  if (device) PetscFunctionReturn(PETSC_SUCCESS);
  if (!kc->staged[which]) {
    PetscCall(VecGetLocalSize(v, &n));
    PetscCall(VecGetSize(v, &N));
    PetscCall(VecCreate(PetscObjectComm((PetscObject)v), &kc->staged[which]));
    PetscCall(VecSetSizes(kc->staged[which], n, N));
    PetscCall(VecSetType(kc->staged[which], KCYCLE_DEVICE_VECTOR));
  }
  *used = kc->staged[which];
  if (values) PetscCall(VecCopy(v, *used));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A run on arrays of the device */
PetscErrorCode PCKCyclePlaceRun(PC_KCycle *kc, const KCycleRun *run, Vec b, Vec x)
{
  const PetscBool    zero = run->visit.zeroguess;
  const PetscScalar *ba;
  PetscScalar       *xa;
  Vec                used[2];
  PetscErrorCode     ierr;

  KCycleCall(Stage(kc, b, PETSC_TRUE, 0, &used[0]));
  KCycleCall(Stage(kc, x, (PetscBool)!zero, 1, &used[1]));
  KCycleCall(VecGetArrayReadAndMemType(used[0], &ba, NULL));
  KCycleCall(zero ? VecGetArrayWriteAndMemType(used[1], &xa, NULL) : VecGetArrayAndMemType(used[1], &xa, NULL));
  ierr = (*kc->engine->run)(kc->levels, run, ba, xa);
  KCycleCall(zero ? VecRestoreArrayWriteAndMemType(used[1], &xa) : VecRestoreArrayAndMemType(used[1], &xa));
  KCycleCall(VecRestoreArrayReadAndMemType(used[0], &ba));
  KCycleCall(ierr);
  if (used[1] != x) KCycleCall(VecCopy(used[1], x));
  return PETSC_SUCCESS;
}

/* What it costs that the solver's vectors are on a device and the levels on the host, or the other way round */
PetscErrorCode PCKCyclePlaceView(PC pc, PetscViewer viewer)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscBool  product;

  PetscFunctionBegin;
  if (kc->engine && kc->at == KCYCLE_MEMORY_DEVICE) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  structured levels on the device, set up on the host%s\n",
                                     kc->device ? "" : ": vectors are copied 2 times a cycle"));
    if (kc->split.level)
      PetscCall(PetscViewerASCIIPrintf(viewer,
                                       "    on the host: level %" PetscInt_FMT
                                       " and coarser ones, one vector goes there and back a visit; %s\n",
                                       kc->split.level + kc->gathered.below, kc->onhost));
    else if (kc->gathered.ours) PetscCall(PetscViewerASCIIPrintf(viewer, "    on the host: the agglomerated levels\n"));
    else if (kc->inverted)
      PetscCall(PetscViewerASCIIPrintf(viewer, "    coarsest problem: product with its inverse\n"));
    else
      PetscCall(
          PetscViewerASCIIPrintf(viewer, "    on the host: the solver of the coarsest problem, %s\n", kc->notinverted));
    PetscCall(PCKCycleSplitView(kc, viewer));
    PetscCall(PCKCycleLaunchesView(pc, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!kc->device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleMatOnDevice(pc->mat, &product));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  structured levels on the host: vectors are copied 2 times a cycle%s\n",
                                   product ? "" : ", and 2 times a product with the operator"));
  if (kc->onhost[0]) PetscCall(PetscViewerASCIIPrintf(viewer, "    not on the device: %s\n", kc->onhost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleSetPlace - Sets where structured levels are.

  Logically Collective

  Input Parameters:
+ pc - the preconditioner
- place - `PC_KCYCLE_PLACE_AUTO`, `PC_KCYCLE_PLACE_HOST` or `PC_KCYCLE_PLACE_DEVICE`

  Options Database Key:
. -pc_kcycle_place (auto|host|device) - the place

  Level: intermediate

  Notes:
  By default levels are on the device where the solver's vectors are (`VECCUDA`, `VECHIP`, `VECKOKKOS` with either), if
  the library was built with CUDA or HIP and the smoother of the finest level has kernels there, as those of `PCRELAX`
  have, unless the cycles of its planes need the host. A level with another smoother is on the host with all coarser
  ones; `-ksp_view` says where they are, and why.
  They are set up on the host and copied once; a cycle of one process copies nothing then, unless the solver of
  the coarsest problem was chosen. Several processes copy halos, first and last points of lines that they have parts of,
  and right side and solution of the coarsest level. Agglomerated levels stay on the host.

  `PC_KCYCLE_PLACE_DEVICE` is an error where that cannot be.

.seealso: `PCKCYCLE`, `PCKCycleGetPlace()`, `PCKCycleSetPrecision()`, `PCRELAX`
@*/
PetscErrorCode PCKCycleSetPlace(PC pc, PCKCyclePlaceType place)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, place, 2);
  PetscCall(KCycleCheckChoice(pc, PCKCyclePlaceTypes, (int)place));
  /* Levels that are there move at once */
  KC_KCYCLE_CHANGE(pc, place, place);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetPlace - Gets where structured levels are to be.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. place - `PC_KCYCLE_PLACE_AUTO`, `PC_KCYCLE_PLACE_HOST` or `PC_KCYCLE_PLACE_DEVICE`

  Level: intermediate

.seealso: `PCKCYCLE`, `PCKCycleSetPlace()`
@*/
PetscErrorCode PCKCycleGetPlace(PC pc, PCKCyclePlaceType *place)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(place, 2);
  KC_KCYCLE_GET(pc, place, place);
  PetscFunctionReturn(PETSC_SUCCESS);
}
