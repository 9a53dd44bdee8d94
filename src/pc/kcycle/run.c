/*
  Runs of the cycle on arrays, see engine.c: as a preconditioner, and as the iteration of KSPRICHARDSON.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/relaximpl.h>

/* What the functions of a run work with */
typedef struct {
  PC                          pc;
  KCycleStop                  stop;
  PetscInt                    tests;
  PCRichardsonConvergedReason reason;
} Solve;

/* On the coarsest level, in PETSc's vectors: their norms are kept, so that arrays are not theirs */
PetscErrorCode PCKCycleSolveCoarsest(PC pc, const KCycleVisit *visit, const PetscScalar *b, PetscScalar *x)
{
  PC_MG_Levels      *lv = ((PC_MG *)pc->data)->levels[0];
  PC_KCycle         *kc = KCycleOf(pc);
  const PetscScalar *xr;
  PetscScalar       *a;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(lv->b, &n));
  PetscCall(VecGetArrayWrite(lv->b, &a));
  PetscCall(PetscArraycpy(a, b, n));
  PetscCall(VecRestoreArrayWrite(lv->b, &a));
  if (!kc->engine->inplace && !kc->gathered.ours) PetscCall(KCycleCoarsestMakeConsistent(lv, lv->b));
  if (visit->zeroguess && kc->coarse_reads) PetscCall(VecZeroEntries(lv->x));
  else if (!visit->zeroguess) {
    PetscCall(VecGetArrayWrite(lv->x, &a));
    PetscCall(PetscArraycpy(a, x, n));
    PetscCall(VecRestoreArrayWrite(lv->x, &a));
  }
  if (kc->gathered.ours) PetscCall(PCKCycleGatheredVisit(pc, visit, lv->b, lv->x));
  else {
    PetscCall(visit->transpose ? KSPSolveTranspose(lv->smoothd, lv->b, lv->x) : KSPSolve(lv->smoothd, lv->b, lv->x));
    PetscCall(KSPCheckSolve(lv->smoothd, pc, lv->x));
  }
  PetscCall(VecGetArrayRead(lv->x, &xr));
  PetscCall(PetscArraycpy(x, xr, n));
  PetscCall(VecRestoreArrayRead(lv->x, &xr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveCoarsest(void *ctx, const KCycleVisit *visit, const PetscScalar *b, PetscScalar *x)
{
  KCycleCall(PCKCycleSolveCoarsest(((Solve *)ctx)->pc, visit, b, x));
  return PETSC_SUCCESS;
}

/* Levels on the host go on with the visit of those on a device */
static PetscErrorCode VisitHost(void *ctx, const KCycleVisit *visit, const PetscScalar *b, PetscScalar *x)
{
  PC_KCycle *kc  = KCycleOf(((Solve *)ctx)->pc);
  KCycleRun  run = {0};

  run.visit     = *visit;
  run.ctx       = ctx;
  run.coarsest  = SolveCoarsest;
  run.continues = (PetscBool)(kc->coarse_continues || kc->gathered.ours);
  KCycleCall((*KCycleEngine_Double.run)(kc->split.host, &run, b, x));
  return PETSC_SUCCESS;
}

/* Compares the residual after the pre-smoother, as PCMG does */
static PetscErrorCode Test(void *ctx, PetscReal sum, PetscBool *stop)
{
  Solve    *solve = (Solve *)ctx;
  PetscReal all;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&sum, &all, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)solve->pc)));
  solve->tests++;
  PetscCall(PCKCycleTestNorm(solve->pc, PetscSqrtReal(all), &solve->stop, &solve->reason));
  *stop = (PetscBool)(solve->reason != 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solutions of levels, for the monitor of full multigrid */
static PetscErrorCode See(void *ctx, PetscInt l, int stage, PetscScalar *x)
{
  PetscFunctionBegin;
  PetscCall(PCKCycleFMGSee(((Solve *)ctx)->pc, l, stage, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Residuals of fused levels are in cache only: their vectors get no memory */
static PetscBool NeedsResidual(const PC_KCycle *kc, PetscInt l, const KCycleRun *run)
{
  if (run->test && l == kc->nlevels - 1 && kc->parts[l].ghosts) return PETSC_TRUE; /* its own residual */
  return (PetscBool)(!kc->level[l].fused || (run->visit.full && run->visit.transpose));
}

/* The finest level that works on arrays of PCMG's vectors, or 0 */
static PetscInt FinestInPlace(const PC_KCycle *kc)
{
  if (kc->at == KCYCLE_MEMORY_DEVICE) return kc->split.level;
  return kc->engine->inplace ? kc->nlevels - 1 : 0;
}

/* Levels between the finest and the coarsest use the arrays of their vectors, and all those of residuals; use:
   VecGetArray(), or VecRestoreArray() */
static PetscErrorCode UseArrays(PC pc, PC_KCycle *kc, const KCycleRun *run, PetscErrorCode (*use)(Vec, PetscScalar **))
{
  PC_MG         *mg  = (PC_MG *)pc->data;
  const PetscInt top = FinestInPlace(kc);

  PetscFunctionBegin;
  for (PetscInt l = 1; l <= top; l++) {
    if (NeedsResidual(kc, l, run)) PetscCall((*use)(mg->levels[l]->r, &kc->parts[l].r));
    if (l == top) continue;
    PetscCall((*use)(mg->levels[l]->b, &kc->parts[l].b));
    PetscCall((*use)(mg->levels[l]->x, &kc->parts[l].x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A preconditioner that is kept sweeps with the operator's new values */
static PetscErrorCode Renew(PC pc, PC_KCycle *kc)
{
  const PC_MG_Levels *fine = ((PC_MG *)pc->data)->levels[kc->nlevels - 1];
  PC                  smoother;
  PetscObjectState    state;

  PetscFunctionBegin;
  if (!kc->engine->inplace || kc->nlevels == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectStateGet((PetscObject)kc->grids[0].A, &state));
  PetscCall(MatStencilCopyToHost(kc->grids[0].A));
  if (state != kc->attached && kc->parts[kc->nlevels - 1].ghosts) PetscCall(PCKCycleEngineSetUp(pc));
  else if (state != kc->attached) PetscCall((*kc->engine->renew)(kc->levels));
  kc->attached = state;
  PetscCall(KSPGetPC(fine->smoothd, &smoother));
  PetscCall(PCRelaxRenew(smoother));
  if (fine->smoothu == fine->smoothd) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetPC(fine->smoothu, &smoother));
  PetscCall(PCRelaxRenew(smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the arrays of vectors */
static PetscErrorCode RunOnHost(PC_KCycle *kc, const KCycleRun *run, Vec b, Vec x)
{
  const PetscScalar *ba;
  PetscScalar       *xa;
  PetscErrorCode     ierr;

  KCycleCall(VecGetArrayRead(b, &ba));
  KCycleCall(VecGetArray(x, &xa));
  ierr = (*kc->engine->run)(kc->levels, run, ba, xa);
  KCycleCall(VecRestoreArray(x, &xa));
  KCycleCall(VecRestoreArrayRead(b, &ba));
  KCycleCall(ierr);
  return PETSC_SUCCESS;
}

/* Vectors are in the order of the finest grid; on the host, unless levels are on a device */
static PetscErrorCode Run(Solve *solve, KCycleRun *run, Vec b, Vec x)
{
  PC             pc = solve->pc;
  PC_MG         *mg = (PC_MG *)pc->data;
  PC_KCycle     *kc = KCycleOf(pc);
  const char    *why;
  PetscErrorCode ierr;

  run->continues = (PetscBool)(kc->coarse_continues || kc->gathered.ours || kc->split.level);
  run->ctx       = solve;
  run->coarsest  = kc->split.level ? VisitHost : SolveCoarsest;
  KCycleCall(PCKCycleGraphObstacle(pc, &why));
  run->replays = (PetscBool)!why;
  KCycleCall(Renew(pc, kc));
  if (mg->stageApply) KCycleCall(PetscLogStagePush(mg->stageApply));
  KCycleCall(UseArrays(pc, kc, run, VecGetArray));
  if (run->visit.full) KCycleCall(PCKCycleFMGUseRhs(kc, PETSC_TRUE));
  if (run->visit.full) KCycleCall(PCKCycleFMGWatch(pc, run));
  if (run->watched) run->monitor = See;
  PCKCycleProfileStart(kc);
  ierr = kc->at == KCYCLE_MEMORY_DEVICE ? PCKCyclePlaceRun(kc, run, b, x) : RunOnHost(kc, run, b, x);
  PCKCycleProfileStop(kc, run->visit.full ? 1 : run->visit.cycles);
  if (run->visit.full) KCycleCall(PCKCycleFMGUseRhs(kc, PETSC_FALSE));
  KCycleCall(UseArrays(pc, kc, run, VecRestoreArray));
  if (mg->stageApply) KCycleCall(PetscLogStagePop());
  KCycleCall(ierr);
  return PETSC_SUCCESS;
}

/* x <- x + M (b - A x), or with transposes, where a run starts from zero */
static PetscErrorCode Correct(Solve *solve, KCycleRun *run, Vec b, Vec x)
{
  PC_KCycle    *kc = KCycleOf(solve->pc);
  PC_MG_Levels *fine;

  fine                 = ((PC_MG *)solve->pc->data)->levels[kc->nlevels - 1];
  run->visit.zeroguess = PETSC_TRUE;
  if (!kc->correction) KCycleCall(VecDuplicate(fine->r, &kc->correction));
  KCycleCall(MatResidual(fine->A, b, x, fine->r));
  KCycleCall(Run(solve, run, fine->r, kc->correction));
  KCycleCall(VecAXPY(x, 1, kc->correction));
  return PETSC_SUCCESS;
}

/* As a preconditioner, or as levels that go on with the visit of finer ones */
PetscErrorCode PCKCycleEngineApply(PC pc, const KCycleVisit *visit, Vec b, Vec x)
{
  Solve     solve = {pc, {0, 0, 0}, 0, (PCRichardsonConvergedReason)0};
  KCycleRun run   = {0};

  run.visit = *visit;
  if (visit->zeroguess || KCycleOf(pc)->engine->inplace) KCycleCall(Run(&solve, &run, b, x));
  else KCycleCall(Correct(&solve, &run, b, x));
  return PETSC_SUCCESS;
}

/* As a preconditioner, on arrays of a device. Nothing is recorded by itself: the caller may be doing so */
PetscErrorCode PCKCycleEngineApplyCopy(PC pc, const PetscScalar *b, PetscScalar *x)
{
  PC_KCycle *kc    = KCycleOf(pc);
  Solve      solve = {pc, {0, 0, 0}, 0, (PCRichardsonConvergedReason)0};
  KCycleRun  run   = {0};

  run.visit     = KCycleApplication(pc, kc->kappa, PETSC_FALSE);
  run.continues = (PetscBool)(kc->coarse_continues || kc->gathered.ours);
  run.ctx       = &solve;
  run.coarsest  = SolveCoarsest;
  KCycleCall((*kc->engine->run)(kc->devicecopy.levels, &run, b, x));
  return PETSC_SUCCESS;
}

/* Cycles that go on from x, on arrays of the caller; its: how many at most, and how many there were. A target of zero:
   no test */
static PetscErrorCode IterateInPlace(Solve *solve, PetscBool zeroguess, Vec b, Vec x, PetscInt *its)
{
  PC_KCycle *kc  = KCycleOf(solve->pc);
  KCycleRun  run = {0};

  PetscFunctionBegin;
  run.visit.kappa     = kc->kappa;
  run.visit.cycles    = *its;
  run.visit.zeroguess = zeroguess;
  run.test            = solve->stop.target > 0 ? Test : NULL;
  PetscCall(Run(solve, &run, b, x));
  if (solve->reason) *its = solve->tests - 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Corrections of residuals, which are computed with the operator itself */
static PetscErrorCode IterateByCorrections(Solve *solve, PetscBool zeroguess, Vec b, Vec x, PetscInt *its)
{
  PC_KCycle    *kc  = KCycleOf(solve->pc);
  KCycleRun     run = {0};
  PetscReal     norm;
  PetscInt      i;
  PC_MG_Levels *fine = ((PC_MG *)solve->pc->data)->levels[kc->nlevels - 1];

  PetscFunctionBegin;
  run.visit.kappa     = kc->kappa;
  run.visit.cycles    = 1;
  run.visit.zeroguess = PETSC_TRUE;
  if (zeroguess) PetscCall(VecZeroEntries(x));
  if (!kc->correction) PetscCall(VecDuplicate(fine->r, &kc->correction));
  for (i = 0; i < *its; i++) {
    PetscCall(MatResidual(fine->A, b, x, fine->r));
    if (solve->stop.target > 0) {
      PetscCall(VecNorm(fine->r, NORM_2, &norm));
      PetscCall(PCKCycleTestNorm(solve->pc, norm, &solve->stop, &solve->reason));
    }
    if (solve->reason) break;
    PetscCall(Run(solve, &run, fine->r, kc->correction));
    PetscCall(VecAXPY(x, 1, kc->correction));
  }
  *its = i;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As KSPRICHARDSON asks for */
PetscErrorCode PCKCycleEngineIterate(PC pc, const KCycleStop *stop, PetscBool zeroguess, Vec b, Vec x, PetscInt *its,
                                     PCRichardsonConvergedReason *reason)
{
  Solve solve = {pc, *stop, 0, (PCRichardsonConvergedReason)0};

  PetscFunctionBegin;
  if (KCycleOf(pc)->engine->inplace) PetscCall(IterateInPlace(&solve, zeroguess, b, x, its));
  else PetscCall(IterateByCorrections(&solve, zeroguess, b, x, its));
  *reason = solve.reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}
