/*
  How far the errors of the levels of full multigrid are below those of their discretisation.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/transferimpl.h>

/* Room for the monitor; run: on arrays, or NULL */
PetscErrorCode PCKCycleFMGWatch(PC pc, KCycleRun *run)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscInt   n;

  PetscFunctionBegin;
  if (!kc->fmg.monitor || kc->timing.paused) PetscFunctionReturn(PETSC_SUCCESS);
  n = KCycleStencilOf(kc->grids[0].A)->box->npoints;
  if (!kc->fmg.watched) PetscCall(PetscMalloc3(n, &kc->fmg.watched, n, &kc->fmg.kept[0], n, &kc->fmg.kept[1]));
  if (run) run->watched = kc->fmg.watched;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest difference between two vectors, up to a constant where solutions are known up to one. Point i of the
   second one is number index[i] of the first; NULL: i */
static PetscErrorCode Difference(PC pc, PetscInt n, const PetscScalar *x, const PetscInt *index, const PetscScalar *y,
                                 PetscReal *most)
{
  MPI_Comm    comm   = PetscObjectComm((PetscObject)pc);
  PetscScalar sum[2] = {0, (PetscScalar)n}, all[2] = {0, 1};
  PetscReal   mine = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) sum[0] += x[index ? index[i] : i] - y[i];
  if (KCycleOf(pc)->kernel != KCYCLE_REGULAR) PetscCallMPI(MPI_Allreduce(sum, all, 2, MPIU_SCALAR, MPIU_SUM, comm));
  for (PetscInt i = 0; i < n; i++)
    mine = PetscMax(mine, PetscAbsScalar(x[index ? index[i] : i] - y[i] - all[0] / all[1]));
  PetscCallMPI(MPI_Allreduce(&mine, most, 1, MPIU_REAL, MPIU_MAX, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By how much the solution of a level differs from that of the next coarser one, at the points of that */
static PetscErrorCode CoarserDifference(PC pc, PetscInt l, const PetscScalar *x, PetscReal *most)
{
  PC_KCycle            *kc = KCycleOf(pc);
  const KCycleBox      *coarse;
  PetscInt             *index;
  const KCycleTransfer *tr = KCycleTransferOf(KCycleGridOf(kc, l)->P);

  PetscFunctionBegin;
  coarse = tr->coarse;
  PetscCall(PetscMalloc1(coarse->npoints, &index));
  for (PetscInt i = 0; i < coarse->npoints; i++) {
    const PetscInt at[3] = {i % coarse->n[0], i / coarse->n[0] % coarse->n[1], i / coarse->n[0] / coarse->n[1]};

    index[i] = 0;
    for (int d = 2; d >= 0; d--) index[i] = index[i] * tr->fine->n[d] + tr->factor[d] * at[d] + tr->shift[d];
  }
  PetscCall(Difference(pc, coarse->npoints, x, index, kc->fmg.kept[0], most));
  PetscCall(PetscFree(index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What two cycles have changed is the error that they found, but for a small part; of order 2 the error of the
   discretisation is a third of the difference to the next coarser solution */
static PetscErrorCode Judge(PC pc, PetscInt l, const PetscScalar *x)
{
  PC_KCycle       *kc = KCycleOf(pc);
  PetscReal        algebraic, discretisation;
  const KCycleBox *box = KCycleStencilOf(KCycleGridOf(kc, l)->A)->box;

  PetscFunctionBegin;
  if (!l && kc->gathered.ours) PetscFunctionReturn(PETSC_SUCCESS); /* is shown there */
  if (!l) {
    PetscCall(PetscPrintf(PetscObjectComm((PetscObject)pc),
                          "    FMG level 0: %" PetscInt_FMT " unknowns, coarse solver\n", KCycleBoxGlobalRows(box)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Difference(pc, box->npoints, x, NULL, kc->fmg.kept[1], &algebraic));
  PetscCall(CoarserDifference(pc, l, x, &discretisation));
  discretisation /= 3;
  PetscCall(PetscPrintf(PetscObjectComm((PetscObject)pc),
                        "    FMG level %" PetscInt_FMT ": %" PetscInt_FMT
                        " unknowns, algebraic error %.3e, discretisation error %.3e, ratio %.3g\n",
                        l + kc->gathered.below, KCycleBoxGlobalRows(box), (double)algebraic, (double)discretisation,
                        discretisation > 0 ? (double)(algebraic / discretisation) : 0.));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x of level l: when its cycle is done (stage 0), after two more (2); then it gets back what it was (3) */
PetscErrorCode PCKCycleFMGSee(PC pc, PetscInt l, int stage, PetscScalar *x)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscInt   n  = KCycleStencilOf(KCycleGridOf(kc, l)->A)->box->npoints;

  PetscFunctionBegin;
  if (stage == 0) PetscCall(PetscArraycpy(kc->fmg.kept[1], x, n));
  if (stage == 2) {
    PetscCall(Judge(pc, l, x));
    PetscCall(PetscArraycpy(kc->fmg.kept[0], x, n));
  }
  if (stage == 3) PetscCall(PetscArraycpy(x, kc->fmg.kept[1], n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleSetFMGMonitor - Sets whether full multigrid shows, for each level, the error of its solution and that of
  the discretisation.

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner
- monitor - whether errors are shown

  Options Database Key:
. -pc_kcycle_fmg_monitor - shows them with each application

  Level: intermediate

  Notes:
  In the maximum norm. When the cycle on a level is done, two more are, which are then undone: what they change is the
  algebraic error, but for the small part that they leave. The error of the discretisation is estimated from two grids,
  as a third of the difference to the solution of the next coarser level at its points, for order 2. Where solutions are
  known up to a constant, differences are so, too. A ratio below 1 says that the level is solved to the accuracy of its
  discretisation. Answers do not change.

  It is an error with levels that are not structured or are on a device, and with another `-pc_mg_type` than full.

.seealso: `PCKCYCLE`, `PCKCycleGetFMGMonitor()`, `PCKCycleSetFMGInterpolation()`
@*/
PetscErrorCode PCKCycleSetFMGMonitor(PC pc, PetscBool monitor)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, monitor, 2);
  KC_KCYCLE_CHANGE(pc, fmg.monitor, monitor);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetFMGMonitor - Gets whether full multigrid shows the errors of its levels.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. monitor - whether errors are shown

  Level: intermediate

.seealso: `PCKCYCLE`, `PCKCycleSetFMGMonitor()`
@*/
PetscErrorCode PCKCycleGetFMGMonitor(PC pc, PetscBool *monitor)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(monitor, 2);
  KC_KCYCLE_GET(pc, fmg.monitor, monitor);
  PetscFunctionReturn(PETSC_SUCCESS);
}
