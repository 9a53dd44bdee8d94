/*
  The number of sweeps, and what is predicted of a solve: the factor of a cycle and the time to a tolerance, with what
  was measured.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/stencilimpl.h>

/* Sweeps on the finest level of all that were asked for, or chosen here; 0: the usual ones */
PetscInt PCKCycleSweepsAsked(const PC_KCycle *kc)
{
  if (kc->finer.exists) return kc->finer.sweeps;
  return kc->predict.sweeps > 0 ? kc->predict.sweeps : kc->predict.chosen;
}

/* Levels are others, or will be */
PetscErrorCode PCKCyclePredictReset(PC_KCycle *kc)
{
  PetscFunctionBegin;
  kc->predict.ready  = PETSC_FALSE;
  kc->predict.n      = 0;
  kc->predict.why[0] = 0;
  kc->predict.its    = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whose number of sweeps is not chosen here: what there is in the place of that, or empty */
static PetscErrorCode Others(PC pc, size_t len, char what[])
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  what[0] = 0;
  if (!kc->use_structure)
    PetscCall(PetscSNPrintf(what, len, "levels are not structured%s%s", kc->general[0] ? ": " : "", kc->general));
  for (PetscInt l = 1; l < kc->nlevels && !what[0]; l++) {
    const PC_MG_Levels *lv = ((PC_MG *)pc->data)->levels[l];

    for (int i = 0; i < (lv->smoothd == lv->smoothu ? 1 : 2); i++) {
      const KCycleChoice *choice = &kc->choice[l][i];

      if (choice->chose && choice->sweeps && !choice->theirs[KCYCLE_ASPECT_SWEEPS]) continue;
      PetscCall(PetscSNPrintf(what, len,
                              "the smoother of level %" PetscInt_FMT
                              " has its own type or number of iterations (-mg_levels_ksp_max_it, -mg_levels_ksp_type)",
                              l + kc->gathered.below));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes the number of sweeps that was chosen */
static PetscErrorCode Use(PC pc, PetscInt nu)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (kc->predict.chosen == nu) PetscFunctionReturn(PETSC_SUCCESS);
  kc->predict.chosen = nu;
  PetscCall(PCKCycleRenewSweeps(pc));
  PetscCall(PCKCycleGatheredFollow(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two levels in 3D, where the analysis of three takes as long as some solves, and says the same where coarser levels
   have more sweeps */
static PetscErrorCode Analyse(PC pc, KCycleFourier *f)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscInt   most;

  PetscFunctionBegin;
  most = kc->use_structure && KCycleStencilOf(kc->grids[0].A)->box->dim == 3 ? 2 : KCYCLE_FOURIER_LEVELS;
  PetscCall(PCKCycleFourierTake(pc, most, f, sizeof(kc->predict.why), kc->predict.why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Looks at the levels, if they are others than at the last time. Chosen sweeps are for these */
static PetscErrorCode Look(PC pc)
{
  PC_KCycle     *kc = KCycleOf(pc);
  KCycleFourier  now;
  char           what[448];
  KCyclePredict *predict = &kc->predict;

  PetscFunctionBegin;
  if (predict->sweeps) PetscCall(Others(pc, sizeof(what), what));
  PetscCheck(predict->sweeps <= 0 || !what[0], PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "-pc_kcycle_sweeps %" PetscInt_FMT
             " is for structured levels with the smoothers that PCKCYCLE chooses, and "
             "here %s: leave it out",
             predict->sweeps, what);
  if (predict->sweeps != PC_KCYCLE_SWEEPS_AUTO && !predict->file) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCKCycleRooflineLoad(pc));
  PetscCall(Analyse(pc, &now));
  if (predict->sweeps == PC_KCYCLE_SWEEPS_AUTO && !predict->why[0] && what[0])
    PetscCall(PetscStrncpy(predict->why, what, sizeof(predict->why)));
  if (!predict->why[0]) {
    const PetscBool known = (PetscBool)(predict->n && !memcmp(&now, &predict->analysed, sizeof(now)));

    if (known && predict->single != kc->engine->inplace) PetscFunctionReturn(PETSC_SUCCESS);
    predict->analysed = now;
    PetscCall(PCKCycleForecastMake(pc, known));
  }
  if (predict->why[0]) predict->n = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After set-up, and before a solve where options have changed since */
PetscErrorCode PCKCyclePredictSetUp(PC pc)
{
  PC_KCycle     *kc      = KCycleOf(pc);
  KCyclePredict *predict = &kc->predict;

  PetscFunctionBegin;
  if (kc->finer.exists || kc->failure[0]) PetscFunctionReturn(PETSC_SUCCESS);
  predict->why[0] = 0;
  predict->its    = 0;
  PetscCall(Look(pc));
  if (predict->sweeps == PC_KCYCLE_SWEEPS_AUTO) {
    PetscCall(Use(pc, predict->n ? predict->forecast[PCKCycleForecastBest(kc)].nu : 0));
    /* so that the choice itself is no other analysis */
    if (predict->n) PetscCall(Analyse(pc, &predict->analysed));
  }
  predict->ready = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solver is known now */
PetscErrorCode PCKCyclePredictBegin(PC pc, KSP ksp)
{
  PC_KCycle     *kc = KCycleOf(pc);
  PetscBool      richardson;
  KCyclePredict *predict = &kc->predict;

  PetscFunctionBegin;
  if (!kc->ready || kc->finer.exists || (!predict->sweeps && !predict->file)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPRICHARDSON, &richardson));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPKCG, &predict->kcg));
  if (!predict->ready || richardson != predict->richardson || (predict->n && predict->single == kc->engine->inplace)) {
    predict->richardson = richardson;
    if (!predict->ready || !predict->n || predict->single == kc->engine->inplace) PetscCall(PCKCyclePredictSetUp(pc));
    else if (predict->sweeps == PC_KCYCLE_SWEEPS_AUTO) {
      PetscCall(Use(pc, predict->forecast[PCKCycleForecastBest(kc)].nu));
      PetscCall(Analyse(pc, &predict->analysed));
    }
  }
  predict->start = MPI_Wtime();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What has become of the residual, where iterations began with zero */
PetscErrorCode PCKCyclePredictEnd(PC pc, KSP ksp, Vec b, Vec x)
{
  const PetscLogDouble now = MPI_Wtime();
  PC_KCycle           *kc  = KCycleOf(pc);
  PetscReal            norm[2];
  Vec                  r;
  KCyclePredict       *predict = &kc->predict;

  PetscFunctionBegin;
  if (!predict->n || kc->failure[0] || kc->fallback.pc || !ksp->guess_zero || ksp->transpose_solve ||
      ksp->reason <= 0 || !ksp->its)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(pc->mat, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(b, NORM_2, &norm[0]));
  PetscCall(VecNorm(r, NORM_2, &norm[1]));
  PetscCall(VecDestroy(&r));
  if (!(norm[1] > 0 && norm[1] < norm[0])) PetscFunctionReturn(PETSC_SUCCESS);
  predict->its     = ksp->its;
  predict->reduced = norm[1] / norm[0];
  predict->elapsed = (PetscReal)(now - predict->start);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The forecast that the levels agree with */
static const KCycleForecast *Current(const PC_KCycle *kc)
{
  const PetscInt nu = kc->parts ? kc->parts[kc->nlevels - 1].its[0] : 0;

  for (PetscInt i = 0; i < kc->predict.n; i++) {
    if (kc->predict.forecast[i].nu == nu) return &kc->predict.forecast[i];
  }
  return NULL;
}

static PetscErrorCode ViewForecast(const PC_KCycle *kc, const KCycleForecast *forecast, PetscViewer viewer)
{
  const KCyclePredict *predict = &kc->predict;
  const PetscReal      its     = PCKCycleForecastIterations(predict, forecast);
  const PetscReal      each    = PCKCycleForecastSeconds(predict, forecast);
  const KCycleForecast first   = predict->forecast[0];
  char                 time[96];

  PetscFunctionBegin;
  if (predict->timed)
    PetscCall(PetscSNPrintf(time, sizeof(time), "of %.4g s: %.4g s", (double)each, (double)(its * each)));
  else
    PetscCall(PetscSNPrintf(
        time, sizeof(time), "in %.3g of the time with %" PetscInt_FMT,
        (double)(its * each / (PCKCycleForecastIterations(predict, &first) * PCKCycleForecastSeconds(predict, &first))),
        first.nu));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "      %" PetscInt_FMT " sweeps: factor %.4f a cycle, %.3g iterations to %g %s%s\n", forecast->nu,
      (double)forecast->factor, (double)its, (double)KCYCLE_FORECAST, time,
      predict->sweeps == PC_KCYCLE_SWEEPS_AUTO && forecast == Current(kc) ? ", chosen" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The last solve */
static PetscErrorCode ViewMeasured(const KCyclePredict *predict, PetscViewer viewer)
{
  PetscReal rate, each, its;

  PetscFunctionBegin;
  if (!predict->its) PetscFunctionReturn(PETSC_SUCCESS);
  rate = PetscPowReal(predict->reduced, 1 / (PetscReal)predict->its);
  each = predict->elapsed / (PetscReal)predict->its;
  its  = PetscLogReal(KCYCLE_FORECAST) / PetscLogReal(rate);
  PetscCall(PetscViewerASCIIPrintf(
      viewer,
      "      measured: %" PetscInt_FMT " iterations, factor %.4f each, %.3g iterations to %g of %.4g s: %.4g s\n",
      predict->its, (double)rate, (double)its, (double)KCYCLE_FORECAST, (double)each, (double)(its * each)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCKCyclePredictView(PC pc, PetscViewer viewer)
{
  PC_KCycle           *kc = KCycleOf(pc);
  PetscBool            automatic;
  const KCyclePredict *predict = &kc->predict;

  PetscFunctionBegin;
  automatic = (PetscBool)(predict->sweeps == PC_KCYCLE_SWEEPS_AUTO);
  if (kc->finer.exists) PetscFunctionReturn(PETSC_SUCCESS);
  if (predict->sweeps > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "    sweeps on the finest level: %" PetscInt_FMT ", as asked for\n",
                                     predict->sweeps));
  if (!automatic && !predict->file) PetscFunctionReturn(PETSC_SUCCESS);
  if (predict->why[0])
    PetscCall(PetscViewerASCIIPrintf(viewer, "    %sthere is no prediction: %s\n",
                                     automatic ? "sweeps are the usual ones, " : "", predict->why));
  if (!predict->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "    predicted for %s, by the analysis of %d levels and %s\n",
                                   predict->richardson ? "KSPRICHARDSON" : "a Krylov method", predict->analysed.nlevels,
                                   predict->timed ? predict->file : "ratios of no machine"));
  for (PetscInt i = 0; i < predict->n; i++) PetscCall(ViewForecast(kc, &predict->forecast[i], viewer));
  PetscCall(ViewMeasured(predict, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleSetSweeps - Sets how many sweeps structured levels have before and after the coarser ones.

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- sweeps - on the finest level, at least 1; `PC_KCYCLE_SWEEPS_AUTO`, or `PC_KCYCLE_SWEEPS_DEFAULT` for the usual ones

  Options Database Key:
. -pc_kcycle_sweeps (1|2|3|...|auto) - a whole number from 1 on, or auto

  Level: intermediate

  Notes:
  This number of sweeps is on the finest level; coarser ones have no fewer, and more where they usually do.
  `-mg_levels_ksp_max_it` sets the number on all levels, or on one of them. They take effect at once.

  With `PC_KCYCLE_SWEEPS_AUTO` set-up takes the number with which a solve takes the least time. By which factor a cycle
  shrinks errors is computed by local Fourier analysis of up to three levels, with the operators, weights and smoothers
  that they have; `KSPRICHARDSON` is charged for this factor, other methods for the ratio of eigenvalues that it says
  of a symmetric cycle. What a cycle takes is counted in operations and bytes, and is the roofline's time, with the
  rates of the file of `PCKCycleSetRoofline()`, else with ratios that suit many machines. `-ksp_view` shows all that.

  The analysis is for constant coefficients, which means at all points that are not within two of the ends of the grid,
  and for Jacobi, Chebyshev, coloured sweeps and zebra lines. Elsewhere sweeps are the usual ones, and the view says
  why. It is an error to ask for a number where levels are not structured, or have smoothers or numbers of sweeps that
  were chosen by other options or calls.

  Ghysels and Vanroose, Modeling the performance of geometric multigrid stencils on multicore computer architectures,
  sections 3.2 and 4.

.seealso: `PCKCYCLE`, `PCKCycleGetSweeps()`, `PCKCycleSetRoofline()`, `PCKCyclePredictFactor()`
@*/
PetscErrorCode PCKCycleSetSweeps(PC pc, PetscInt sweeps)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, sweeps, 2);
  PetscCheck((sweeps > 0 && sweeps <= 1000) || sweeps == PC_KCYCLE_SWEEPS_AUTO || sweeps == PC_KCYCLE_SWEEPS_DEFAULT,
             PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_kcycle_sweeps must be a whole number from 1 to 1000, or auto, not %" PetscInt_FMT, sweeps);
  kc = KCycleOf(pc);
  if (!kc) PetscFunctionReturn(PETSC_SUCCESS);
  if (kc->predict.sweeps == sweeps) PetscFunctionReturn(PETSC_SUCCESS);
  kc->predict.sweeps = sweeps;
  kc->predict.chosen = 0;
  PetscCall(PCKCyclePredictReset(kc));
  if (!kc->ready || kc->busy || kc->failure[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (kc->use_structure) {
    PetscCall(PCKCycleRenewSweeps(pc));
    PetscCall(PCKCycleGatheredFollow(pc));
  }
  PetscCall(PCKCyclePredictSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetSweeps - Gets how many sweeps the finest structured level has before and after the coarser ones.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. sweeps - the number that was set or chosen; `PC_KCYCLE_SWEEPS_DEFAULT` for the usual one, `PC_KCYCLE_SWEEPS_AUTO`
           where it is to be chosen, or there was nothing to choose

  Level: intermediate

.seealso: `PCKCYCLE`, `PCKCycleSetSweeps()`
@*/
PetscErrorCode PCKCycleGetSweeps(PC pc, PetscInt *sweeps)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(sweeps, 2);
  PetscCall(PCKCycleGetContext(pc, &kc));
  *sweeps = kc->predict.sweeps == PC_KCYCLE_SWEEPS_AUTO && kc->predict.chosen ? kc->predict.chosen : kc->predict.sweeps;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCyclePredictFactor - Predicts by which factor a cycle shrinks errors.

  Collective

  Input Parameter:
. pc - the preconditioner, set up

  Output Parameter:
. factor - the largest spectral radius of the cycle's error propagation over all frequencies; the same on all processes

  Level: advanced

  Notes:
  By local Fourier analysis of the finest levels, three at most, as if the last of them were solved exactly; with the
  kappa, sweeps, orders and weights in use. It is an error where that does not apply, see `PCKCycleSetSweeps()`.

  Ghysels and Vanroose, Modeling the performance of geometric multigrid stencils on multicore computer architectures,
  equation (3.19).

.seealso: `PCKCYCLE`, `PCKCycleSetSweeps()`, `PCKCyclePredictTime()`, `PCKCycleComputeFactors()`
@*/
PetscErrorCode PCKCyclePredictFactor(PC pc, PetscReal *factor)
{
  PC_KCycle     *kc;
  KCycleFourier *f;
  PetscBool      sound = PETSC_FALSE;
  char           why[128];

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(factor, 2);
  PetscCall(PCKCycleGetContext(pc, &kc));
  PetscCheck(kc->ready, PetscObjectComm((PetscObject)pc), PETSC_ERR_ORDER,
             "The factor of a cycle can be predicted after PCSetUp()");
  PetscCall(PetscNew(&f));
  PetscCall(PCKCycleFourierTake(pc, KCYCLE_FOURIER_LEVELS, f, sizeof(why), why));
  if (!why[0]) sound = KCycleFourierFactor(f, factor);
  PetscCall(PetscFree(f));
  PetscCheck(!why[0], PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "The factor of a cycle is predicted for structured levels with constant coefficients, and here %s", why);
  PetscCheck(sound, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "The factor of a cycle cannot be predicted: an operator is singular at a frequency");
  PetscFunctionReturn(PETSC_SUCCESS);
}
