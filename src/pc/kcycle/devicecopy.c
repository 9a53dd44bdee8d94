/*
  Levels on a device beside the same levels on the host. A smoother of planes has a PCKCYCLE for them, and works on the
  host or, with arrays that are there, on a device: what is made at set-up is the host's, and gets a copy when it is
  first asked for. Nothing of a run on the copy needs the host with one process, so that the caller can record it.
*/
#include "kcycleimpl.h"

PetscErrorCode PCKCycleThereReset(PC_KCycle *kc)
{
  PetscFunctionBegin;
  if (kc->engine) PetscCall((*kc->engine->destroy)(&kc->there.levels));
  PetscCall(PetscFree(kc->there.parts));
  for (int i = 0; i < 2; i++) PetscCall(VecDestroy(&kc->there.vec[i]));
  kc->there.tried = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
         : !kc->engine->borrows                               ? "their cycles are in single precision"
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

/* The only level has the caller's vectors, which are no vectors here */
static void Lend(PC pc, PC_KCycle *kc, PetscBool lend)
{
  PC_MG_Levels *lv = ((PC_MG *)pc->data)->levels[0];

  if (kc->nlevels > 1) return;
  lv->b = lend ? kc->there.vec[0] : NULL;
  lv->x = lend ? kc->there.vec[1] : NULL;
}

/* On one process the inverses of the coarsest level's systems */
static PetscErrorCode GiveInverse(PC pc)
{
  PC_KCycle   *kc = KCycleOf(pc);
  KCycleThere *there;
  PetscMPIInt  size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  if (size > 1) PetscFunctionReturn(PETSC_SUCCESS);
  there = &kc->there;
  Lend(pc, kc, PETSC_TRUE);
  PetscCall(PCKCycleInverseGive(pc, there->levels, CountSystems(kc), &there->why));
  Lend(pc, kc, PETSC_FALSE);
  if (!there->why) PetscCall((*kc->engine->share)(there->levels, kc->limits.block_below, 0));
  else there->why = "their coarsest problem is solved there, by somebody's choice, or since it is large";
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateLevels(PC pc)
{
  PC_KCycle   *kc = KCycleOf(pc);
  Mat          A;
  KCycleThere *there = &kc->there;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(kc->nlevels, &there->parts));
  PetscCall(PetscArraycpy(there->parts, kc->parts, kc->nlevels));
  for (PetscInt l = 0; l < kc->nlevels; l++) {
    there->parts[l].calls = &there->calls;
    there->parts[l].timer = &there->timer;
    there->parts[l].event = there->event;
  }
  PetscCall((*kc->engine->create)(PetscObjectComm((PetscObject)pc), KCYCLE_MEMORY_DEVICE, kc->nlevels, there->parts, 1,
                                  &there->levels));
  PetscCall(KSPGetOperators(((PC_MG *)pc->data)->levels[0]->smoothd, &A, NULL));
  if (kc->nlevels == 1) PetscCall(MatCreateVecs(A, &there->vec[1], &there->vec[0]));
  PetscCall(GiveInverse(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* why: nothing, or why there are no levels on a device */
static PetscErrorCode PCKCycleAttachThere_KCycle(PC pc, const char *why[])
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (!kc->there.tried) {
    kc->there.tried = PETSC_TRUE;
    PetscCall(FindObstacle(pc, &kc->there.why));
    if (!kc->there.why) PetscCall(CreateLevels(pc));
  }
  *why = kc->there.why;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCKCycleApplyThere_KCycle(PC pc, const PetscScalar *b, PetscScalar *x)
{
  PC_KCycle     *kc = KCycleOf(pc);
  PetscErrorCode ierr;

  Lend(pc, kc, PETSC_TRUE);
  ierr = PCKCycleEngineApplyThere(pc, b, x);
  Lend(pc, kc, PETSC_FALSE);
  return ierr;
}

PetscErrorCode PCKCycleThereCompose(PC pc, PetscBool compose)
{
  PetscObject o = (PetscObject)pc;

  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction(o, "PCKCycleAttachThere_C", compose ? PCKCycleAttachThere_KCycle : NULL));
  PetscCall(PetscObjectComposeFunction(o, "PCKCycleApplyThere_C", compose ? PCKCycleApplyThere_KCycle : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
