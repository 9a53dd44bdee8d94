/*
  Levels on a device in addition to the same levels on the host. A smoother of planes has a PCKCYCLE for them, and works
  on the host or, with arrays that are there, on a device: what is made at set-up is the host's, and gets a copy when it
  is first asked for. Nothing of a run on the copy needs the host with one process, so that the caller can record it.
*/
#include "kcycleimpl.h"

/* Why they cannot be copied, or nothing */
static PetscErrorCode FindObstacle(PC pc, const char *why[])
{
  const PCMGType type = ((PC_MG *)pc->data)->am;
  PC_KCycle     *kc   = KCycleOf(pc);

  PetscFunctionBegin;
  *why = !KCycleKernelsOf(KCYCLE_MEMORY_DEVICE)               ? "the library was built without CUDA"
         : kc->failure[0]                                     ? "the set-up of their cycles failed"
         : kc->place == PC_KCYCLE_PLACE_HOST                  ? "their cycles have -pc_kcycle_place host"
         : PCKCycleCounts(kc)                                 ? "their cycles have -pc_kcycle_count_bytes"
         : !kc->engine                                        ? "PCMG runs their cycles"
         : !kc->engine->inplace                               ? "their cycles are in single precision"
         : kc->d || kc->always                                ? "their cycles take other right sides"
         : type != PC_MG_MULTIPLICATIVE && type != PC_MG_FULL ? "PCMG runs their cycles"
                                                              : NULL;
  for (PetscInt l = 1; l < kc->nlevels && !*why; l++) {
    for (int i = 0; i < 2 && !*why; i++) {
      char keeps[300];

      PetscCall(KCycleSmootherObstacle(kc->parts[l].smoother[i], sizeof(keeps), keeps));
      if (keeps[0]) *why = "a smoother of their cycles has no kernels for devices";
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Systems of the coarsest level: its planes, unless levels are coarsened across them */
static PetscInt CountSystems(const PC_KCycle *kc)
{
  for (PetscInt l = 1; l < kc->nlevels; l++) {
    if (kc->parts[l].tr->factor[2] > 1) return 1;
  }
  return kc->parts[0].st->box->n[2];
}

/* The only level works on the caller's vectors, which are arrays here: it gets vectors, or has them no more */
static void SetVectors(PC pc, PC_KCycle *kc, PetscBool set)
{
  PC_MG_Levels *lv = ((PC_MG *)pc->data)->levels[0];

  if (kc->nlevels > 1) return;
  lv->b = set ? kc->devicecopy.vec[0] : NULL;
  lv->x = set ? kc->devicecopy.vec[1] : NULL;
}

/* On one process the inverses of the coarsest level's systems */
static PetscErrorCode SetInverse(PC pc)
{
  PC_KCycle        *kc = KCycleOf(pc);
  KCycleDeviceCopy *copy;
  PetscMPIInt       size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  if (size > 1) PetscFunctionReturn(PETSC_SUCCESS);
  copy = &kc->devicecopy;
  SetVectors(pc, kc, PETSC_TRUE);
  PetscCall(PCKCycleInverseCreate(pc, copy->levels, CountSystems(kc), &copy->why));
  SetVectors(pc, kc, PETSC_FALSE);
  if (!copy->why) PetscCall((*kc->engine->share)(copy->levels, kc->limits.block_below, 0));
  else copy->why = "their coarsest problem is solved there, by somebody's choice, or since it is large";
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateLevels(PC pc)
{
  PC_KCycle        *kc = KCycleOf(pc);
  Mat               A;
  KCycleDeviceCopy *copy = &kc->devicecopy;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(kc->nlevels, &copy->parts));
  PetscCall(PetscArraycpy(copy->parts, kc->parts, kc->nlevels));
  for (PetscInt l = 0; l < kc->nlevels; l++) {
    copy->parts[l].calls = &copy->calls;
    copy->parts[l].timer = &copy->timer;
    copy->parts[l].event = copy->event;
  }
  PetscCall((*kc->engine->create)(PetscObjectComm((PetscObject)pc), KCYCLE_MEMORY_DEVICE, kc->nlevels, copy->parts, 1,
                                  &copy->levels));
  PetscCall(KSPGetOperators(((PC_MG *)pc->data)->levels[0]->smoothd, &A, NULL));
  if (kc->nlevels == 1) PetscCall(MatCreateVecs(A, &copy->vec[1], &copy->vec[0]));
  PetscCall(SetInverse(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* why: nothing, or why there are no levels on a device */
static PetscErrorCode PCKCycleAttachDeviceCopy_KCycle(PC pc, const char *why[])
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (!kc->devicecopy.tried) {
    kc->devicecopy.tried = PETSC_TRUE;
    PetscCall(FindObstacle(pc, &kc->devicecopy.why));
    if (!kc->devicecopy.why) PetscCall(CreateLevels(pc));
  }
  *why = kc->devicecopy.why;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCKCycleApplyDeviceCopy_KCycle(PC pc, const PetscScalar *b, PetscScalar *x)
{
  PC_KCycle     *kc = KCycleOf(pc);
  PetscErrorCode ierr;

  SetVectors(pc, kc, PETSC_TRUE);
  ierr = PCKCycleEngineApplyCopy(pc, b, x);
  SetVectors(pc, kc, PETSC_FALSE);
  return ierr;
}

PetscErrorCode PCKCycleDeviceCopyCompose(PC pc, PetscBool compose)
{
  PetscObject o = (PetscObject)pc;

  PetscFunctionBegin;
  PetscCall(
      PetscObjectComposeFunction(o, "PCKCycleAttachDeviceCopy_C", compose ? PCKCycleAttachDeviceCopy_KCycle : NULL));
  PetscCall(
      PetscObjectComposeFunction(o, "PCKCycleApplyDeviceCopy_C", compose ? PCKCycleApplyDeviceCopy_KCycle : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
