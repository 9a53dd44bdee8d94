/*
  What a cycle is: how often it visits coarse levels, and what it makes of their corrections.
*/
#include "kcycleimpl.h"

/* Do cycles revisit coarser levels? Sweeps depend on it, and stay while kappa is tried */
static PetscBool RevisitsCoarser(const PC_KCycle *kc)
{
  return kc->finer.exists ? kc->finer.revisits : (PetscBool)(kc->kappa > 1 && !kc->automatic.wanted);
}

/* Kappa, unless it was chosen by the program or an option. What the finest level relaxes is known when it has its
   smoothers */
void PCKCycleChooseKappa(PC_KCycle *kc, const char planes[])
{
  if (!kc->kappa_set && kc->finer.exists) kc->kappa = kc->finer.kappa;
  else if (!kc->kappa_set)
    kc->kappa = KCyclePolicyKappa(kc->convects, (PetscBool)(planes[0] != 0), kc->grids[0].factor);
  kc->revisits = RevisitsCoarser(kc);
}

/* Where kappa has changed */
PetscErrorCode PCKCycleFollowKappa(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (!kc->ready || !kc->use_structure || kc->revisits == RevisitsCoarser(kc)) PetscFunctionReturn(PETSC_SUCCESS);
  kc->revisits = RevisitsCoarser(kc);
  PetscCall(PCKCycleRenewSweeps(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleSetKappa - Sets the cycle counter kappa: how often coarse levels are visited.

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- kappa - cycle counter, at least 1: 1 is the V-cycle, 2 the F-cycle, `PC_KCYCLE_KAPPA_W` or any number not below the
      number of levels the W-cycle; or `PC_KCYCLE_KAPPA_AUTO`

  Options Database Key:
. -pc_kcycle_kappa (1|2|3|...|v|f|w|auto) - cycle counter, a whole number from 1 on, or v, f, w, or auto

  Level: beginner

  Notes:
  Additive and Kaskade multigrid (`PCMGSetType()`) have no cycle counter; setting one is an error at set-up.

  The cycle counter may be changed between solves; it takes effect at once. Unless a number of sweeps is given
  (`-mg_levels_ksp_max_it`), smoothers of coarse structured levels make more of them with kappa = 1, and with
  `PC_KCYCLE_KAPPA_AUTO`, than with a larger kappa.

  With `PC_KCYCLE_KAPPA_AUTO` set-up chooses among 1, 2, 3, 4 and w the one with which a solve takes the least time.
  Times of cycles are predicted (`PCKCycleSetCalibrate()`). How fast a cycle converges is estimated by 8 steps of
  Arnoldi's method for each kappa, from a vector that is the same on any number of processes and is first smoothed by 12
  V-cycles; larger kappas are left out once they bring nothing. `KSPRICHARDSON` is charged for the spectral radius of
  the error propagation, other methods for the square root of the ratio of the eigenvalues. The choice is kept until
  set-up finds other levels, or an operator that differs from the one at the choice by more than its size and a tenth;
  `-ksp_view` shows it, what was estimated, and what that took.

  Avnat and Yavneh, On the Recursive Structure of Multigrid Cycles, Algorithm 3.

.seealso: `PCKCYCLE`, `PCKCycleGetKappa()`, `PCKCycleComputeTotalCalls()`
@*/
PetscErrorCode PCKCycleSetKappa(PC pc, PetscInt kappa)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, kappa, 2);
  PetscCheck(kappa > 0 || kappa == PC_KCYCLE_KAPPA_AUTO, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "kappa must be at least 1 (the V-cycle), not %" PetscInt_FMT, kappa);
  kc = KCycleOf(pc);
  if (!kc) PetscFunctionReturn(PETSC_SUCCESS);
  kc->automatic.wanted = (PetscBool)(kappa == PC_KCYCLE_KAPPA_AUTO);
  if (!kc->automatic.wanted) PetscCall(PCKCycleAutoReset(kc));
  if (!kc->automatic.wanted) kc->kappa = kappa;
  else if (!kc->automatic.chosen) kc->kappa = 1; /* until there is a choice */
  kc->kappa_set      = PETSC_TRUE;
  kc->kappa_of_cycle = PETSC_FALSE;
  PetscCall(PCKCycleFollowKappa(pc));
  PetscCall(PCKCycleGatheredFollow(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetKappa - Gets the cycle counter kappa.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. kappa - cycle counter; `PC_KCYCLE_KAPPA_W` for the W-cycle; where it is to be chosen, before that is done
      `PC_KCYCLE_KAPPA_AUTO`, and then what was chosen

  Level: beginner

.seealso: `PCKCYCLE`, `PCKCycleSetKappa()`
@*/
PetscErrorCode PCKCycleGetKappa(PC pc, PetscInt *kappa)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(kappa, 2);
  PetscCall(PCKCycleGetContext(pc, &kc));
  *kappa = kc->automatic.wanted && !kc->automatic.chosen ? PC_KCYCLE_KAPPA_AUTO : kc->kappa;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of corrections to level l: 1 but on the finest level of all */
PetscReal PCKCycleOvercorrectFactor(const PC_KCycle *kc, PetscInt l)
{
  return l == kc->nlevels - 1 && !kc->finer.exists ? kc->overcorrect : 1;
}

/*@
  PCKCycleSetOvercorrect - Sets a factor of the correction that the finest level gets from the coarser ones.

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- factor - above 0 and below 2 (default 1)

  Options Database Key:
. -pc_kcycle_overcorrect <factor> - the factor

  Level: advanced

  Notes:
  x <- x + factor P x_coarse, on the finest level of each cycle; the start of full multigrid is not changed. Coarser
  levels take smooth errors away, and what remains of others has one sign: factors such as 1.06 halve that, and
  `KSPRICHARDSON` takes one iteration less in two of three cases of the battery in bench. Under `KSPCG`, which does that
  by itself, iterations stay the same in the mean. The cycle stays symmetric.

  An error with `-pc_mg_type` additive and kaskade.

  References:
. * - Dietrich Braess, Towards Algebraic Multigrid for Elliptic Problems of Second Order, Computing 55, 1995

.seealso: `PCKCYCLE`, `PCKCycleGetOvercorrect()`, `KSPRICHARDSON`
@*/
PetscErrorCode PCKCycleSetOvercorrect(PC pc, PetscReal factor)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, factor, 2);
  PetscCheck(factor > 0 && factor < 2, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_kcycle_overcorrect is a number between 0 and 2, such as 1.06, not %g", (double)factor);
  KC_KCYCLE_CHANGE(pc, overcorrect, factor);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetOvercorrect - Gets the factor of the correction that the finest level gets from the coarser ones.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. factor - 1 unless set

  Level: advanced

.seealso: `PCKCYCLE`, `PCKCycleSetOvercorrect()`
@*/
PetscErrorCode PCKCycleGetOvercorrect(PC pc, PetscReal *factor)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(factor, 2);
  KC_KCYCLE_GET(pc, overcorrect, factor);
  PetscFunctionReturn(PETSC_SUCCESS);
}
