/*
  The time of a cycle: functions and options of PCKCYCLE, and what -ksp_view shows of it.
*/
#include "kcycleimpl.h"

/*@
  PCKCycleSetCalibrate - Sets whether visits of levels are timed, so that times of cycles can be predicted.

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- calibrate - whether a few cycles are timed at set-up

  Options Database Key:
. -pc_kcycle_calibrate - times a few cycles at set-up, for `-ksp_view` and `PCKCyclePredictTime()`

  Level: advanced

  Notes:
  The model is T = alpha launches + beta operations + gamma messages: launches of kernels, or passes through the grid;
  entries of operators and transfers that are multiplied with; rounds of messages. What a visit of a level comes to
  follows from its operator and its smoother, how often it is visited from kappa. Two F-cycles in a row are run at
  least 5 times, and each visit is timed; medians are kept until a set-up finds other levels. They are summed up for a
  prediction. Alpha, beta and gamma are fitted to them and are shown by `-ksp_view`, as are the times of cycles with
  kappa 1, 2, 3, 4 and w, the sizes of grids from which on operations take longer than launches and messages, and
  the time of all cycles since then and what is predicted for them.

  Cycles that are timed do not count in `PCKCycleGetLevelCalls()`.

  It is an error with `-pc_mg_type` additive and kaskade.

  Avnat and Yavneh, On the Recursive Structure of Multigrid Cycles, section 3: equations (3.1), (3.2), (3.4), Tables
  3.1 and 3.3.

.seealso: `PCKCYCLE`, `PCKCycleGetCalibrate()`, `PCKCyclePredictTime()`
@*/
PetscErrorCode PCKCycleSetCalibrate(PC pc, PetscBool calibrate)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, calibrate, 2);
  kc = KCycleOf(pc);
  if (!kc) PetscFunctionReturn(PETSC_SUCCESS);
  if (kc->timing.calibrate == calibrate) PetscFunctionReturn(PETSC_SUCCESS);
  kc->timing.calibrate = calibrate;
  if (!calibrate) PetscCall(PCKCycleModelReset(kc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetCalibrate - Gets whether visits of levels are timed.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. calibrate - whether a few cycles are timed at set-up

  Level: advanced

.seealso: `PCKCYCLE`, `PCKCycleSetCalibrate()`
@*/
PetscErrorCode PCKCycleGetCalibrate(PC pc, PetscBool *calibrate)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(calibrate, 2);
  KC_KCYCLE_GET(pc, timing.calibrate, calibrate);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCyclePredictTime - Predicts the time of a kappa-cycle.

  Collective

  Input Parameters:
+ pc    - the preconditioner, set up, with `PCKCycleSetCalibrate()`
- kappa - cycle counter, at least 1; `PC_KCYCLE_KAPPA_W` for the W-cycle

  Output Parameter:
. seconds - of a cycle that starts from zero, as one application of the preconditioner does, on the clock; the same on
      all processes

  Options Database Key:
. -pc_kcycle_calibrate - times a few cycles at set-up

  Level: advanced

  Notes:
  The kappa that is asked for need not be the one in use. The time is the sum over all levels of the number of their
  visits (Avnat and Yavneh, Proposition 2.2) times the seconds of a visit, which were timed; see
  `PCKCycleSetCalibrate()`. It is an error where nothing has been timed.

  Avnat and Yavneh, On the Recursive Structure of Multigrid Cycles, equation (3.1).

.seealso: `PCKCYCLE`, `PCKCycleSetCalibrate()`, `PCKCycleComputeLevelCalls()`
@*/
PetscErrorCode PCKCyclePredictTime(PC pc, PetscInt kappa, PetscReal *seconds)
{
  const KCycleVisit visit = {kappa, 1, PETSC_FALSE, PETSC_FALSE, PETSC_TRUE, PETSC_FALSE};
  PC_KCycle        *kc;
  KCycleModelSum    sum = {0};

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, kappa, 2);
  PetscAssertPointer(seconds, 3);
  PetscCheck(kappa > 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "kappa must be at least 1 (the V-cycle), not %" PetscInt_FMT, kappa);
  PetscCall(PCKCycleGetContext(pc, &kc));
  PetscCheck(kc->ready, PetscObjectComm((PetscObject)pc), PETSC_ERR_ORDER,
             "The time of a cycle can be predicted after PCSetUp()");
  PetscCall(PCKCycleModelSetUp(pc));
  PetscCheck(kc->timing.ready || !kc->timing.described, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "Cycles take no time that the clock can tell, so it cannot be predicted");
  PetscCheck(kc->timing.ready, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "No cycles have been timed, so their time cannot be predicted: use -pc_kcycle_calibrate "
             "(PCKCycleSetCalibrate())");
  KCycleModelAdd(&kc->timing.model, &visit, &sum);
  *seconds = sum.seconds;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For tests, which replace times: the model, fitted to those that it has now */
PetscErrorCode PCKCycleGetModel_KCycle(PC pc, PetscBool fit, KCycleModel **model)
{
  PetscFunctionBegin;
  *model = &KCycleOf(pc)->timing.model;
  if (fit) KCycleModelFit(*model);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What cycles come to, what they take, and from which size on operations take longer than launches and messages */
static PetscErrorCode ViewCycles(const KCycleModel *model, PetscViewer viewer)
{
  static const PetscInt kappas[] = {1, 2, 3, 4, PC_KCYCLE_KAPPA_W};

  PetscFunctionBegin;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(kappas); i++) {
    const KCycleVisit visit   = {kappas[i], 1, PETSC_FALSE, PETSC_FALSE, PETSC_TRUE, PETSC_FALSE};
    const PetscReal   turning = KCycleModelTurningPoint(model, kappas[i]);
    KCycleModelSum    sum     = {0};
    char              name[8] = "w", point[64] = "none";

    if (kappas[i] != PC_KCYCLE_KAPPA_W) PetscCall(PetscSNPrintf(name, sizeof(name), "%" PetscInt_FMT, kappas[i]));
    if (turning > 0) PetscCall(PetscSNPrintf(point, sizeof(point), "%.3g unknowns", (double)turning));
    KCycleModelAdd(model, &visit, &sum);
    PetscCall(PetscViewerASCIIPrintf(
        viewer,
        "      kappa %s: %.0f launches, %.0f operations, %.0f messages: %.4g s a cycle, model %.4g s, turning point "
        "%s\n",
        name, (double)sum.launches, (double)sum.operations, (double)sum.messages, (double)sum.seconds,
        (double)(model->alpha * sum.launches + model->beta * sum.operations + model->gamma * sum.messages), point));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCKCycleModelView(PC pc, PetscViewer viewer)
{
  PC_KCycle         *kc    = KCycleOf(pc);
  const KCycleModel *model = &kc->timing.model;

  PetscFunctionBegin;
  if (!kc->timing.ready && kc->timing.described)
    PetscCall(PetscViewerASCIIPrintf(viewer, "    time of a cycle: not known, the clock cannot tell it\n"));
  if (!kc->timing.ready) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "    time of a cycle, from %" PetscInt_FMT " cycles\n", kc->timing.cycles));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "      model: alpha %.3g s a launch, beta %.3g s an operation, gamma %.3g s a round of messages\n",
      (double)model->alpha, (double)model->beta, (double)model->gamma));
  PetscCall(ViewCycles(model, viewer));
  for (PetscInt l = 0; l < model->nlevels; l++) {
    const KCycleModelLevel *level = &model->level[l];

    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "      a visit of level %" PetscInt_FMT
                                     ": %.0f launches, %.0f operations, %.0f messages: %.4g s, again %.4g s\n",
                                     model->nlevels - 1 - l, (double)level->launches, (double)level->operations,
                                     (double)level->messages, (double)level->seconds[0], (double)level->seconds[1]));
  }
  if (kc->timing.compared)
    PetscCall(
        PetscViewerASCIIPrintf(viewer, "      since then: %" PetscInt64_FMT " cycles, %.4g s each, predicted %.4g s\n",
                               kc->timing.compared, (double)(kc->timing.measured / (PetscReal)kc->timing.compared),
                               (double)(kc->timing.predicted / (PetscReal)kc->timing.compared)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
