/*
  The kappa-cycle: Algorithm 3 of Avnat and Yavneh, On the Recursive Structure of Multigrid Cycles, on PCMG's objects:
  on vectors, with the transposed operator, and on blocks of right sides.
*/
#include "cycle.h"
#include <petsckcycle/private/relaximpl.h>

/* By smoothers and the coarsest solver */
static PetscErrorCode Solve(const KCycleObjects *c, KSP ksp, PC_MG_Levels *lv)
{
  if (c->kind == KCYCLE_BLOCKS) KCycleCall(KSPMatSolve(ksp, lv->B, lv->X));
  else if (c->kind == KCYCLE_TRANSPOSED) KCycleCall(KSPSolveTranspose(ksp, lv->b, lv->x));
  else KCycleCall(KSPSolve(ksp, lv->b, lv->x));
  KCycleCall(KSPCheckSolve(ksp, c->pc, c->kind == KCYCLE_BLOCKS ? NULL : lv->x));
  return PETSC_SUCCESS;
}

/*
  x <- S(x, b). Smoothers after the coarser levels have the colours in reverse order, which makes the cycle symmetric;
  in the transposed cycle they come before. Telling a smoother that it starts from zero spares it a residual
*/
static PetscErrorCode Smooth(const KCycleObjects *c, PetscInt l, PetscBool after, PetscBool zeroguess)
{
  const PetscBool up  = (PetscBool)(after != (c->kind == KCYCLE_TRANSPOSED));
  const KSP       ksp = up ? c->levels[l]->smoothu : c->levels[l]->smoothd;
  PC              relax;
  PetscErrorCode  ierr;

  PetscFunctionBegin;
  PetscCall(KSPSetInitialGuessNonzero(ksp, (PetscBool)!zeroguess));
  PetscCall(KSPGetPC(ksp, &relax));
  if (up) PetscCall(PCRelaxSetReverse(relax, PETSC_TRUE));
  ierr = Solve(c, ksp, c->levels[l]);
  if (up) PetscCall(PCRelaxSetReverse(relax, PETSC_FALSE)); /* after an error, too */
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r <- b - A x */
PetscErrorCode KCycleObjectsResidual(const KCycleObjects *c, PetscInt l)
{
  PC_MG_Levels *lv = c->levels[l];

  PetscFunctionBegin;
  if (c->kind == KCYCLE_BLOCKS) {
    if (!lv->R) PetscCall(MatDuplicate(lv->B, MAT_DO_NOT_COPY_VALUES, &lv->R));
    PetscCall((*lv->matresidual)(lv->A, lv->B, lv->X, lv->R));
  } else if (c->kind == KCYCLE_TRANSPOSED) PetscCall((*lv->residualtranspose)(lv->A, lv->b, lv->x, lv->r));
  else PetscCall((*lv->residual)(lv->A, lv->b, lv->x, lv->r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b_coarse <- R r, or R b. Coarse blocks are made by the first application of a width and kept */
static PetscErrorCode Restrict(const KCycleObjects *c, PetscInt l, PetscBool residual)
{
  PC_MG_Levels *fine = c->levels[l], *coarse = c->levels[l - 1];
  const Mat     R = c->kind == KCYCLE_TRANSPOSED ? fine->interpolate : fine->restrct;

  PetscFunctionBegin;
  if (c->kind == KCYCLE_BLOCKS) {
    PetscCall(MatMatRestrict(R, residual ? fine->R : fine->B, &coarse->B));
    if (!coarse->X) PetscCall(MatDuplicate(coarse->B, MAT_DO_NOT_COPY_VALUES, &coarse->X));
  } else PetscCall(MatRestrict(R, residual ? fine->r : fine->b, coarse->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- P x_coarse, or x + P x_coarse */
static PetscErrorCode Interpolate(const KCycleObjects *c, PetscInt l, PetscBool add)
{
  PC_MG_Levels *fine = c->levels[l], *coarse = c->levels[l - 1];
  const Mat     P = c->kind == KCYCLE_TRANSPOSED ? fine->restrct : fine->interpolate;

  PetscFunctionBegin;
  if (c->kind == KCYCLE_BLOCKS) {
    if (add) PetscCall(MatMatInterpolateAdd(P, coarse->X, fine->X, &fine->X));
    else PetscCall(MatMatInterpolate(P, coarse->X, &fine->X));
  } else if (add) PetscCall(MatInterpolateAdd(P, coarse->x, fine->x, fine->x));
  else PetscCall(MatInterpolate(P, coarse->x, fine->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- factor x */
static PetscErrorCode Scale(const KCycleObjects *c, PetscInt l, PetscReal factor)
{
  PetscFunctionBegin;
  if (c->kind == KCYCLE_BLOCKS) PetscCall(MatScale(c->levels[l]->X, factor));
  else PetscCall(VecScale(c->levels[l]->x, factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- 0. Vectors know then that their norm is 0, which PETSc's preonly asks for since 3.26 */
static PetscErrorCode SetZero(const KCycleObjects *c, PetscInt l)
{
  PetscFunctionBegin;
  if (c->kind == KCYCLE_BLOCKS) PetscCall(MatZeroEntries(c->levels[l]->X));
  else PetscCall(VecZeroEntries(c->levels[l]->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs one step and logs it as a phase of a level, and as a row of its profile */
#define KCycleLogged(c, l, phase, row, call)                                                   \
  do {                                                                                         \
    KCycleLevel *level_ = &(c)->kc->level[l];                                                  \
                                                                                               \
    if (level_->event[phase]) PetscCall(PetscLogEventBegin(level_->event[phase], 0, 0, 0, 0)); \
    PetscCall(KCycleProfileBegin(&level_->profile, NULL));                                     \
    PetscCall(call);                                                                           \
    PetscCall(KCycleProfileEnd(&level_->profile, NULL, row));                                  \
    if (level_->event[phase]) PetscCall(PetscLogEventEnd(level_->event[phase], 0, 0, 0, 0));   \
  } while (0)

/* x <- A^{-1} b on the coarsest level, or on the agglomerated levels */
static PetscErrorCode SolveCoarsest(const KCycleObjects *c, const KCycleVisit *visit)
{
  const PetscLogEvent event = c->kc->level[0].event[KCYCLE_COARSE];
  PC_MG_Levels       *lv    = c->levels[0];

  if (c->kc->gathered.ours) {
    KCycleCall(PCKCycleGatheredVisit(c->pc, visit, lv->b, lv->x));
    return PETSC_SUCCESS;
  }
  if (event) KCycleCall(PetscLogEventBegin(event, 0, 0, 0, 0));
  if (visit->zeroguess && c->kc->coarse_reads) KCycleCall(SetZero(c, 0));
  KCycleCall(Solve(c, lv->smoothd, lv));
  if (event) KCycleCall(PetscLogEventEnd(event, 0, 0, 0, 0));
  return PETSC_SUCCESS;
}

/* A solver that starts from zero gives the same answer to the same right side, so a second call in a row has it
   already. full: full multigrid has come down to here */
static PetscErrorCode Coarsest(const KCycleObjects *c, PetscInt kappa, PetscBool zeroguess, PetscBool full)
{
  const PetscBool   transpose = (PetscBool)(c->kind == KCYCLE_TRANSPOSED);
  const KCycleVisit visit     = {kappa, 1, full, transpose, zeroguess, PETSC_FALSE};
  KCycleLevel      *level     = &c->kc->level[0];

  level->calls++;
  if (!zeroguess && !c->kc->coarse_continues && !c->kc->gathered.ours) return PETSC_SUCCESS;
  KCycleTimerStart(&level->timer);
  KCycleCall(KCycleProfileBegin(&level->profile, NULL));
  KCycleCall(SolveCoarsest(c, &visit));
  KCycleCall(KCycleProfileEnd(&level->profile, NULL, KCYCLE_ROW_COARSE));
  KCycleTimerPause(&level->timer);
  KCycleTimerKeep(&level->timer, zeroguess);
  return PETSC_SUCCESS;
}

/* Lines 2 and 3 of Algorithm 3, up to the residual */
PetscErrorCode KCycleObjectsDown(const KCycleObjects *c, PetscInt l, PetscBool zeroguess)
{
  PetscFunctionBegin;
  KCycleLogged(c, l, KCYCLE_SMOOTH, KCYCLE_ROW_SMOOTH, Smooth(c, l, PETSC_FALSE, zeroguess));
  KCycleLogged(c, l, KCYCLE_RESIDUAL, KCYCLE_ROW_RESIDUAL, KCycleObjectsResidual(c, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestrictResidual(const KCycleObjects *c, PetscInt l)
{
  PetscFunctionBegin;
  KCycleLogged(c, l, KCYCLE_RESTRICT, KCYCLE_ROW_RESTRICT, Restrict(c, l, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines 7 and 8 of Algorithm 3 */
static PetscErrorCode Correct(const KCycleObjects *c, PetscInt l)
{
  const PetscReal factor = PCKCycleOvercorrectFactor(c->kc, l);

  PetscFunctionBegin;
  if (factor != 1) KCycleLogged(c, l, KCYCLE_INTERPOLATE, KCYCLE_ROW_INTERPOLATE, Scale(c, l - 1, factor));
  KCycleLogged(c, l, KCYCLE_INTERPOLATE, KCYCLE_ROW_INTERPOLATE, Interpolate(c, l, PETSC_TRUE));
  KCycleLogged(c, l, KCYCLE_SMOOTH, KCYCLE_ROW_SMOOTH, Smooth(c, l, PETSC_TRUE, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Cycle(const KCycleObjects *, PetscInt, PetscInt, PetscBool);

/* Lines 4 to 6 of Algorithm 3: the sub-cycles. In the transposed cycle the weaker one comes first */
static PetscErrorCode SubCycles(const KCycleObjects *c, PetscInt l, PetscInt kappa)
{
  const PetscBool transpose = (PetscBool)(c->kind == KCYCLE_TRANSPOSED && kappa > 1);

  KCycleCall(Cycle(c, l - 1, transpose ? kappa - 1 : kappa, PETSC_TRUE));
  if (kappa > 1) KCycleCall(Cycle(c, l - 1, transpose ? kappa : kappa - 1, PETSC_FALSE));
  return PETSC_SUCCESS;
}

/* Lines 3 to 8 of Algorithm 3, from the restriction on */
PetscErrorCode KCycleObjectsUp(const KCycleObjects *c, PetscInt l, PetscInt kappa)
{
  KCycleTimer *timer = &c->kc->level[l].timer;

  KCycleTimerResume(timer);
  KCycleCall(RestrictResidual(c, l));
  KCycleTimerPause(timer);
  KCycleCall(SubCycles(c, l, kappa));
  KCycleTimerResume(timer);
  KCycleCall(Correct(c, l));
  KCycleTimerPause(timer);
  return PETSC_SUCCESS;
}

/*
  x <- kappa-cycle(x, b) on level l, Algorithm 3: one recursive call that inherits kappa, then one with kappa - 1 if
  that is positive. kappa = 1 is the V-cycle, 2 the F-cycle, at least the number of levels the W-cycle.
*/
static PetscErrorCode Cycle(const KCycleObjects *c, PetscInt l, PetscInt kappa, PetscBool zeroguess)
{
  KCycleLevel *level = &c->kc->level[l];

  if (!l) {
    KCycleCall(Coarsest(c, kappa, zeroguess, PETSC_FALSE));
    return PETSC_SUCCESS;
  }
  level->calls++;
  KCycleTimerStart(&level->timer);
  KCycleCall(KCycleObjectsDown(c, l, zeroguess));
  KCycleTimerPause(&level->timer);
  KCycleCall(KCycleObjectsUp(c, l, kappa));
  KCycleTimerKeep(&level->timer, zeroguess);
  return PETSC_SUCCESS;
}

/* The right side of the next coarser level, unless that was given */
static PetscErrorCode RestrictRightSide(const KCycleObjects *c, PetscInt l)
{
  const Vec given = c->kc->fmg.rhs[l - 1 + c->kc->gathered.below];

  PetscFunctionBegin;
  if (given) PetscCall(VecCopy(given, c->levels[l - 1]->b));
  else PetscCall(Restrict(c, l, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a cycle of full multigrid starts with */
static PetscErrorCode StartLevel(const KCycleObjects *c, PetscInt l)
{
  PetscFunctionBegin;
  if (c->kc->fmg.starter[l]) PetscCall(PCKCycleFMGStart(c->kc, l, c->levels[l - 1]->x, c->levels[l]->x));
  else PetscCall(Interpolate(c, l, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How much two more cycles change the solution of a level, which is then as it was */
static PetscErrorCode WatchLevel(const KCycleObjects *c, PetscInt l, PetscInt kappa)
{
  PetscScalar *a;

  PetscFunctionBegin;
  for (int stage = 0; stage < 4 && c->kc->fmg.watched; stage++) {
    if (l && (stage == 1 || stage == 2)) PetscCall(Cycle(c, l, kappa, PETSC_FALSE));
    PetscCall(VecGetArray(c->levels[l]->x, &a));
    PetscCall(PCKCycleFMGSee(c->pc, l, stage, a));
    PetscCall(VecRestoreArray(c->levels[l]->x, &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Full multigrid: right sides are restricted to the coarsest level, then each level's solution starts a kappa-cycle
   on the next */
static PetscErrorCode Full(const KCycleObjects *c, PetscInt kappa)
{
  PetscFunctionBegin;
  PetscCall(PCKCycleFMGWatch(c->pc, NULL));
  for (PetscInt l = c->kc->nlevels - 1; l > 0; l--)
    KCycleLogged(c, l, KCYCLE_RESTRICT, KCYCLE_ROW_RESTRICT, RestrictRightSide(c, l));
  PetscCall(Coarsest(c, kappa, PETSC_TRUE, PETSC_TRUE));
  PetscCall(WatchLevel(c, 0, kappa));
  for (PetscInt l = 1; l < c->kc->nlevels; l++) {
    KCycleLogged(c, l, KCYCLE_INTERPOLATE, KCYCLE_ROW_INTERPOLATE, StartLevel(c, l));
    PetscCall(Cycle(c, l, kappa, PETSC_FALSE));
    PetscCall(WatchLevel(c, l, kappa));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The full cycle is M_l = E_l P M_{l-1} R + N_l with the cycle N_l from zero and its error propagation E_l = I - N_l
  A_l, hence M_l^T = R^T M_{l-1}^T P^T (I - A_l^T N_l^T) + N_l^T: transposed cycles on the way down, transposed
  restrictions on the way up.
*/
static PetscErrorCode FullTranspose(const KCycleObjects *c, PetscInt kappa)
{
  PetscFunctionBegin;
  for (PetscInt l = c->kc->nlevels - 1; l > 0; l--) {
    PetscCall(Cycle(c, l, kappa, PETSC_TRUE));
    KCycleLogged(c, l, KCYCLE_RESIDUAL, KCYCLE_ROW_RESIDUAL, KCycleObjectsResidual(c, l));
    PetscCall(RestrictResidual(c, l));
  }
  PetscCall(Coarsest(c, kappa, PETSC_TRUE, PETSC_TRUE));
  for (PetscInt l = 1; l < c->kc->nlevels; l++)
    KCycleLogged(c, l, KCYCLE_INTERPOLATE, KCYCLE_ROW_INTERPOLATE, Interpolate(c, l, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The finest level already has its right side and its solution */
PetscErrorCode KCycleObjectsApply(const KCycleObjects *c, const KCycleVisit *visit)
{
  const PC_MG *mg = (PC_MG *)c->pc->data;

  PetscFunctionBegin;
  if (mg->stageApply) PetscCall(PetscLogStagePush(mg->stageApply));
  PCKCycleProfileStart(c->kc);
  if (visit->full) PetscCall(c->kind == KCYCLE_TRANSPOSED ? FullTranspose(c, visit->kappa) : Full(c, visit->kappa));
  for (PetscInt i = 0; i < visit->cycles && !visit->full; i++)
    PetscCall(Cycle(c, c->kc->nlevels - 1, visit->kappa, (PetscBool)(visit->zeroguess && i == 0)));
  PCKCycleProfileStop(c->kc, visit->full ? 1 : visit->cycles);
  if (mg->stageApply) PetscCall(PetscLogStagePop());
  PetscFunctionReturn(PETSC_SUCCESS);
}
