/*
  The kappa-cycle: Algorithm 3 of Avnat and Yavneh, On the Recursive Structure of Multigrid Cycles.

  What a cycle does on a level is a table of steps, so that the recursion is written once: for vectors, for the
  transposed operator, and for blocks of right sides.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/relaximpl.h>

typedef struct {
  PetscBool transpose; /* visit sub-cycles in the reverse order */
  /* x <- S(x, b); x starts from zero if the flag says so */
  PetscErrorCode (*presmooth)(PC, PC_MG_Levels *, PetscBool);
  PetscErrorCode (*postsmooth)(PC, PC_MG_Levels *);                 /* x <- S'(x, b) */
  PetscErrorCode (*residual)(PC_MG_Levels *);                       /* r <- b - A x */
  PetscErrorCode (*restrictres)(PC_MG_Levels *, PC_MG_Levels *);    /* b_coarse <- R r */
  PetscErrorCode (*restrictrhs)(PC_MG_Levels *, PC_MG_Levels *);    /* b_coarse <- R b */
  PetscErrorCode (*interpolate)(PC_MG_Levels *, PC_MG_Levels *);    /* x <- P x_coarse */
  PetscErrorCode (*interpolateadd)(PC_MG_Levels *, PC_MG_Levels *); /* x <- x + P x_coarse */
  PetscErrorCode (*coarsesolve)(PC, PC_MG_Levels *, PetscBool);     /* x <- A^{-1} b, from zero if the flag says so */
} KCycleSteps;

/* Telling a smoother that it starts from zero spares it a residual; a second visit starts from what the first one
   left */
static PetscErrorCode Smooth(PC pc, KSP ksp, PetscErrorCode (*solve)(KSP, Vec, Vec), PC_MG_Levels *lv,
                             PetscBool zeroguess)
{
  PetscFunctionBegin;
  PetscCall(KSPSetInitialGuessNonzero(ksp, zeroguess ? PETSC_FALSE : PETSC_TRUE));
  if (solve) PetscCall((*solve)(ksp, lv->b, lv->x));
  else PetscCall(KSPMatSolve(ksp, lv->B, lv->X));
  PetscCall(KSPCheckSolve(ksp, pc, solve ? lv->x : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The smoother behind the coarse levels, with the colours in reverse order, which makes the cycle symmetric; its
  transpose comes before the coarse levels of the transposed cycle
*/
static PetscErrorCode SmoothReversed(PC pc, PetscErrorCode (*solve)(KSP, Vec, Vec), PC_MG_Levels *lv,
                                     PetscBool zeroguess)
{
  PC             relax;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(lv->smoothu, &relax));
  PetscCall(PCRelaxSetReverse(relax, PETSC_TRUE));
  ierr = Smooth(pc, lv->smoothu, solve, lv, zeroguess);
  PetscCall(PCRelaxSetReverse(relax, PETSC_FALSE)); /* after an error, too */
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Steps for vectors; solve is KSPSolve() or KSPSolveTranspose(), or NULL for blocks */

static PetscErrorCode CoarseSolve(PC pc, PetscErrorCode (*solve)(KSP, Vec, Vec), PC_MG_Levels *lv, PetscBool zero)
{
  PetscFunctionBegin;
  if (zero) PetscCall(VecZeroEntries(lv->x));
  PetscCall((*solve)(lv->smoothd, lv->b, lv->x));
  PetscCall(KSPCheckSolve(lv->smoothd, pc, lv->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KCyclePreSmooth_Vec(PC pc, PC_MG_Levels *lv, PetscBool zeroguess)
{
  return Smooth(pc, lv->smoothd, KSPSolve, lv, zeroguess);
}

/* Compatible relaxation (-pc_mg_adapt_cr), on a homogeneous problem from a random vector: how well a level smooths,
   shown by the monitors of mg_levels_<l>_cr_ */
static PetscErrorCode RelaxCompatibly(PC pc, PC_MG_Levels *lv)
{
  PetscFunctionBegin;
  PetscCall(VecSetRandom(lv->crx, NULL));
  PetscCall(KSPSolve(lv->cr, lv->crb, lv->crx));
  PetscCall(KSPCheckSolve(lv->cr, pc, lv->crx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KCyclePostSmooth_Vec(PC pc, PC_MG_Levels *lv)
{
  PetscFunctionBegin;
  PetscCall(SmoothReversed(pc, KSPSolve, lv, PETSC_FALSE));
  if (lv->cr) PetscCall(RelaxCompatibly(pc, lv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KCycleResidual_Vec(PC_MG_Levels *lv)
{
  return (*lv->residual)(lv->A, lv->b, lv->x, lv->r);
}

static PetscErrorCode KCycleRestrictResidual_Vec(PC_MG_Levels *fine, PC_MG_Levels *coarse)
{
  return MatRestrict(fine->restrct, fine->r, coarse->b);
}

static PetscErrorCode KCycleRestrictRHS_Vec(PC_MG_Levels *fine, PC_MG_Levels *coarse)
{
  return MatRestrict(fine->restrct, fine->b, coarse->b);
}

static PetscErrorCode KCycleInterpolate_Vec(PC_MG_Levels *fine, PC_MG_Levels *coarse)
{
  return MatInterpolate(fine->interpolate, coarse->x, fine->x);
}

static PetscErrorCode KCycleInterpolateAdd_Vec(PC_MG_Levels *fine, PC_MG_Levels *coarse)
{
  return MatInterpolateAdd(fine->interpolate, coarse->x, fine->x, fine->x);
}

static PetscErrorCode KCycleCoarseSolve_Vec(PC pc, PC_MG_Levels *lv, PetscBool zero)
{
  return CoarseSolve(pc, KSPSolve, lv, zero);
}

/* Steps for the transposed operator: smoothers, transfers and sub-cycles change places */

static PetscErrorCode KCyclePreSmooth_Transpose(PC pc, PC_MG_Levels *lv, PetscBool zeroguess)
{
  return SmoothReversed(pc, KSPSolveTranspose, lv, zeroguess);
}

static PetscErrorCode KCyclePostSmooth_Transpose(PC pc, PC_MG_Levels *lv)
{
  return Smooth(pc, lv->smoothd, KSPSolveTranspose, lv, PETSC_FALSE);
}

static PetscErrorCode KCycleResidual_Transpose(PC_MG_Levels *lv)
{
  return (*lv->residualtranspose)(lv->A, lv->b, lv->x, lv->r);
}

static PetscErrorCode KCycleRestrictResidual_Transpose(PC_MG_Levels *fine, PC_MG_Levels *coarse)
{
  return MatRestrict(fine->interpolate, fine->r, coarse->b);
}

static PetscErrorCode KCycleInterpolateAdd_Transpose(PC_MG_Levels *fine, PC_MG_Levels *coarse)
{
  return MatInterpolateAdd(fine->restrct, coarse->x, fine->x, fine->x);
}

static PetscErrorCode KCycleCoarseSolve_Transpose(PC pc, PC_MG_Levels *lv, PetscBool zero)
{
  return CoarseSolve(pc, KSPSolveTranspose, lv, zero);
}

/* Steps for blocks of right sides; coarse blocks are made by the first application of a width and kept */

static PetscErrorCode RestrictBlock(Mat restrct, Mat from, PC_MG_Levels *coarse)
{
  PetscFunctionBegin;
  PetscCall(MatMatRestrict(restrct, from, &coarse->B));
  if (!coarse->X) PetscCall(MatDuplicate(coarse->B, MAT_DO_NOT_COPY_VALUES, &coarse->X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KCyclePreSmooth_Block(PC pc, PC_MG_Levels *lv, PetscBool zeroguess)
{
  return Smooth(pc, lv->smoothd, NULL, lv, zeroguess);
}

static PetscErrorCode KCyclePostSmooth_Block(PC pc, PC_MG_Levels *lv)
{
  return SmoothReversed(pc, NULL, lv, PETSC_FALSE);
}

static PetscErrorCode KCycleResidual_Block(PC_MG_Levels *lv)
{
  PetscFunctionBegin;
  if (!lv->R) PetscCall(MatDuplicate(lv->B, MAT_DO_NOT_COPY_VALUES, &lv->R));
  PetscCall((*lv->matresidual)(lv->A, lv->B, lv->X, lv->R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KCycleRestrictResidual_Block(PC_MG_Levels *fine, PC_MG_Levels *coarse)
{
  return RestrictBlock(fine->restrct, fine->R, coarse);
}

static PetscErrorCode KCycleRestrictRHS_Block(PC_MG_Levels *fine, PC_MG_Levels *coarse)
{
  return RestrictBlock(fine->restrct, fine->B, coarse);
}

static PetscErrorCode KCycleInterpolate_Block(PC_MG_Levels *fine, PC_MG_Levels *coarse)
{
  return MatMatInterpolate(fine->interpolate, coarse->X, &fine->X);
}

static PetscErrorCode KCycleInterpolateAdd_Block(PC_MG_Levels *fine, PC_MG_Levels *coarse)
{
  return MatMatInterpolateAdd(fine->interpolate, coarse->X, fine->X, &fine->X);
}

static PetscErrorCode KCycleCoarseSolve_Block(PC pc, PC_MG_Levels *lv, PetscBool zero)
{
  PetscFunctionBegin;
  if (zero) PetscCall(MatZeroEntries(lv->X));
  PetscCall(KSPMatSolve(lv->smoothd, lv->B, lv->X));
  PetscCall(KSPCheckSolve(lv->smoothd, pc, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const KCycleSteps StepsVec = {PETSC_FALSE,           KCyclePreSmooth_Vec,        KCyclePostSmooth_Vec,
                                     KCycleResidual_Vec,    KCycleRestrictResidual_Vec, KCycleRestrictRHS_Vec,
                                     KCycleInterpolate_Vec, KCycleInterpolateAdd_Vec,   KCycleCoarseSolve_Vec};

/* The transposed full cycle is not a full cycle of transposed steps (see KCycleFullTranspose()): two steps are never
   taken */
static const KCycleSteps StepsTranspose = {PETSC_TRUE,
                                           KCyclePreSmooth_Transpose,
                                           KCyclePostSmooth_Transpose,
                                           KCycleResidual_Transpose,
                                           KCycleRestrictResidual_Transpose,
                                           NULL,
                                           NULL,
                                           KCycleInterpolateAdd_Transpose,
                                           KCycleCoarseSolve_Transpose};

static const KCycleSteps StepsBlock = {PETSC_FALSE,
                                       KCyclePreSmooth_Block,
                                       KCyclePostSmooth_Block,
                                       KCycleResidual_Block,
                                       KCycleRestrictResidual_Block,
                                       KCycleRestrictRHS_Block,
                                       KCycleInterpolate_Block,
                                       KCycleInterpolateAdd_Block,
                                       KCycleCoarseSolve_Block};

/* Runs one step and logs it as a phase of a level, and as a row of its profile */
#define KCycleLogged(kc, l, phase, row, call)                                                  \
  do {                                                                                         \
    KCycleLevel *level_ = &(kc)->level[l];                                                     \
                                                                                               \
    if (level_->event[phase]) PetscCall(PetscLogEventBegin(level_->event[phase], 0, 0, 0, 0)); \
    PetscCall(KCycleProfileBegin(&level_->profile, NULL));                                     \
    PetscCall(call);                                                                           \
    PetscCall(KCycleProfileEnd(&level_->profile, NULL, row));                                  \
    if (level_->event[phase]) PetscCall(PetscLogEventEnd(level_->event[phase], 0, 0, 0, 0));   \
  } while (0)

/* The coarsest level, or those that go on on fewer processes. A solver that starts from zero gives the same answer to
   the same right side, so a second call in a row has it already. full: full multigrid has come down to here */
static PetscErrorCode KCycleCoarsest(PC pc, PC_KCycle *kc, const KCycleSteps *steps, PetscInt kappa,
                                     PetscBool zeroguess, PetscBool full)
{
  const KCycleVisit   visit   = {kappa, 1, full, steps->transpose, zeroguess, PETSC_FALSE};
  const PetscLogEvent event   = kc->level[0].event[KCYCLE_COARSE];
  PC_MG_Levels       *lv      = ((PC_MG *)pc->data)->levels[0];
  KCycleTimer        *timer   = &kc->level[0].timer;
  KCycleProfile      *profile = &kc->level[0].profile;

  kc->level[0].calls++;
  if (!zeroguess && !kc->coarse_continues && !kc->gathered.ours) return PETSC_SUCCESS;
  KCycleTimerStart(timer);
  KCycleCall(KCycleProfileBegin(profile, NULL));
  if (kc->gathered.ours) {
    KCycleCall(PCKCycleGoOn(pc, &visit, lv->b, lv->x));
    KCycleCall(KCycleProfileEnd(profile, NULL, KCYCLE_ROW_COARSE));
    KCycleTimerPause(timer);
    KCycleTimerKeep(timer, zeroguess);
    return PETSC_SUCCESS;
  }
  if (event) KCycleCall(PetscLogEventBegin(event, 0, 0, 0, 0));
  KCycleCall((*steps->coarsesolve)(pc, lv, (PetscBool)(zeroguess && kc->coarse_reads)));
  KCycleCall(KCycleProfileEnd(profile, NULL, KCYCLE_ROW_COARSE));
  if (event) KCycleCall(PetscLogEventEnd(event, 0, 0, 0, 0));
  KCycleTimerPause(timer);
  KCycleTimerKeep(timer, zeroguess);
  return PETSC_SUCCESS;
}

/* Lines 2 and 3 of Algorithm 3, up to the residual */
static PetscErrorCode KCycleDown(PC pc, PC_KCycle *kc, const KCycleSteps *steps, PetscInt l, PetscBool zeroguess)
{
  PC_MG *mg = (PC_MG *)pc->data;

  PetscFunctionBegin;
  KCycleLogged(kc, l, KCYCLE_SMOOTH, KCYCLE_ROW_SMOOTH, (*steps->presmooth)(pc, mg->levels[l], zeroguess));
  KCycleLogged(kc, l, KCYCLE_RESIDUAL, KCYCLE_ROW_RESIDUAL, (*steps->residual)(mg->levels[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KCycleRestrict(PC pc, PC_KCycle *kc, const KCycleSteps *steps, PetscInt l)
{
  PC_MG *mg = (PC_MG *)pc->data;

  PetscFunctionBegin;
  KCycleLogged(kc, l, KCYCLE_RESTRICT, KCYCLE_ROW_RESTRICT, (*steps->restrictres)(mg->levels[l], mg->levels[l - 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The correction from the coarser levels, of vectors or of blocks of them */
static PetscErrorCode Scale(const KCycleSteps *steps, PC_MG_Levels *coarse, PetscReal factor)
{
  PetscFunctionBegin;
  if (steps == &StepsBlock) PetscCall(MatScale(coarse->X, factor));
  else PetscCall(VecScale(coarse->x, factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines 7 and 8 of Algorithm 3 */
static PetscErrorCode KCycleCorrect(PC pc, PC_KCycle *kc, const KCycleSteps *steps, PetscInt l)
{
  PC_MG          *mg     = (PC_MG *)pc->data;
  const PetscReal factor = PCKCycleOvercorrectFactor(kc, l);

  PetscFunctionBegin;
  if (factor != 1)
    KCycleLogged(kc, l, KCYCLE_INTERPOLATE, KCYCLE_ROW_INTERPOLATE, Scale(steps, mg->levels[l - 1], factor));
  KCycleLogged(kc, l, KCYCLE_INTERPOLATE, KCYCLE_ROW_INTERPOLATE,
               (*steps->interpolateadd)(mg->levels[l], mg->levels[l - 1]));
  KCycleLogged(kc, l, KCYCLE_SMOOTH, KCYCLE_ROW_SMOOTH, (*steps->postsmooth)(pc, mg->levels[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KCycle(PC, PC_KCycle *, const KCycleSteps *, PetscInt, PetscInt, PetscBool);

/* Lines 4 to 6 of Algorithm 3: the sub-cycles. In the transposed cycle the weaker one comes first */
static PetscErrorCode KCycleSubCycles(PC pc, PC_KCycle *kc, const KCycleSteps *steps, PetscInt l, PetscInt kappa)
{
  const PetscInt first  = steps->transpose && kappa > 1 ? kappa - 1 : kappa;
  const PetscInt second = steps->transpose ? kappa : kappa - 1;

  KCycleCall(KCycle(pc, kc, steps, l - 1, first, PETSC_TRUE));
  if (kappa > 1) KCycleCall(KCycle(pc, kc, steps, l - 1, second, PETSC_FALSE));
  return PETSC_SUCCESS;
}

/* Lines 3 to 8 of Algorithm 3, from the restriction on */
static PetscErrorCode KCycleUp(PC pc, PC_KCycle *kc, const KCycleSteps *steps, PetscInt l, PetscInt kappa)
{
  KCycleTimerResume(&kc->level[l].timer);
  KCycleCall(KCycleRestrict(pc, kc, steps, l));
  KCycleTimerPause(&kc->level[l].timer);
  KCycleCall(KCycleSubCycles(pc, kc, steps, l, kappa));
  KCycleTimerResume(&kc->level[l].timer);
  KCycleCall(KCycleCorrect(pc, kc, steps, l));
  KCycleTimerPause(&kc->level[l].timer);
  return PETSC_SUCCESS;
}

/*
  x <- kappa-cycle(x, b) on level l, Algorithm 3: one recursive call that inherits kappa, then one with kappa - 1 if
  that is positive. kappa = 1 is the V-cycle, 2 the F-cycle, at least the number of levels the W-cycle.
*/
static PetscErrorCode KCycle(PC pc, PC_KCycle *kc, const KCycleSteps *steps, PetscInt l, PetscInt kappa,
                             PetscBool zeroguess)
{
  if (!l) {
    KCycleCall(KCycleCoarsest(pc, kc, steps, kappa, zeroguess, PETSC_FALSE));
    return PETSC_SUCCESS;
  }
  kc->level[l].calls++;
  KCycleTimerStart(&kc->level[l].timer);
  KCycleCall(KCycleDown(pc, kc, steps, l, zeroguess));
  KCycleTimerPause(&kc->level[l].timer);
  KCycleCall(KCycleUp(pc, kc, steps, l, kappa));
  KCycleTimerKeep(&kc->level[l].timer, zeroguess);
  return PETSC_SUCCESS;
}

/* The right side of the next coarser level, unless that was given */
static PetscErrorCode RestrictRightSide(PC_KCycle *kc, const KCycleSteps *steps, PC_MG_Levels *fine,
                                        PC_MG_Levels *coarse)
{
  PetscBool given;

  PetscFunctionBegin;
  PetscCall(PCKCycleFMGTakeRhs(kc, coarse->level, coarse->b, &given));
  if (!given) PetscCall((*steps->restrictrhs)(fine, coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a cycle of full multigrid starts with */
static PetscErrorCode StartLevel(PC_KCycle *kc, const KCycleSteps *steps, PC_MG_Levels *fine, PC_MG_Levels *coarse)
{
  PetscFunctionBegin;
  if (kc->fmg.starter[fine->level]) PetscCall(PCKCycleFMGStart(kc, fine->level, coarse->x, fine->x));
  else PetscCall((*steps->interpolate)(fine, coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How much two more cycles change the solution of a level, which is then as it was */
static PetscErrorCode WatchLevel(PC pc, PC_KCycle *kc, const KCycleSteps *steps, PetscInt l, PetscInt kappa)
{
  Vec          x = ((PC_MG *)pc->data)->levels[l]->x;
  PetscScalar *a;

  PetscFunctionBegin;
  for (int stage = 0; stage < 4 && kc->fmg.watched; stage++) {
    if (l && (stage == 1 || stage == 2)) PetscCall(KCycle(pc, kc, steps, l, kappa, PETSC_FALSE));
    PetscCall(VecGetArray(x, &a));
    PetscCall(PCKCycleFMGSee(pc, l, stage, a));
    PetscCall(VecRestoreArray(x, &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Full multigrid: right sides are restricted to the coarsest level, then each level's solution starts a kappa-cycle
   on the next */
static PetscErrorCode KCycleFull(PC pc, PC_KCycle *kc, const KCycleSteps *steps, PetscInt kappa)
{
  PC_MG *mg = (PC_MG *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCKCycleFMGWatch(pc, NULL));
  for (PetscInt l = kc->nlevels - 1; l > 0; l--)
    KCycleLogged(kc, l, KCYCLE_RESTRICT, KCYCLE_ROW_RESTRICT,
                 RestrictRightSide(kc, steps, mg->levels[l], mg->levels[l - 1]));
  PetscCall(KCycleCoarsest(pc, kc, steps, kappa, PETSC_TRUE, PETSC_TRUE));
  PetscCall(WatchLevel(pc, kc, steps, 0, kappa));
  for (PetscInt l = 1; l < kc->nlevels; l++) {
    KCycleLogged(kc, l, KCYCLE_INTERPOLATE, KCYCLE_ROW_INTERPOLATE,
                 StartLevel(kc, steps, mg->levels[l], mg->levels[l - 1]));
    PetscCall(KCycle(pc, kc, steps, l, kappa, PETSC_FALSE));
    PetscCall(WatchLevel(pc, kc, steps, l, kappa));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The full cycle is M_l = E_l P M_{l-1} R + N_l with the cycle N_l from zero and its error propagation E_l = I - N_l
  A_l, hence M_l^T = R^T M_{l-1}^T P^T (I - A_l^T N_l^T) + N_l^T: transposed cycles on the way down, transposed
  restrictions on the way up.
*/
static PetscErrorCode KCycleFullTranspose(PC pc, PC_KCycle *kc, const KCycleSteps *steps, PetscInt kappa)
{
  PC_MG *mg = (PC_MG *)pc->data;

  PetscFunctionBegin;
  for (PetscInt l = kc->nlevels - 1; l > 0; l--) {
    PetscCall(KCycle(pc, kc, steps, l, kappa, PETSC_TRUE));
    KCycleLogged(kc, l, KCYCLE_RESIDUAL, KCYCLE_ROW_RESIDUAL, (*steps->residual)(mg->levels[l]));
    KCycleLogged(kc, l, KCYCLE_RESTRICT, KCYCLE_ROW_RESTRICT, (*steps->restrictres)(mg->levels[l], mg->levels[l - 1]));
  }
  PetscCall(KCycleCoarsest(pc, kc, steps, kappa, PETSC_TRUE, PETSC_TRUE));
  for (PetscInt l = 1; l < kc->nlevels; l++)
    KCycleLogged(kc, l, KCYCLE_INTERPOLATE, KCYCLE_ROW_INTERPOLATE,
                 (*steps->interpolateadd)(mg->levels[l], mg->levels[l - 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The finest level already knows its right side and its solution */
static PetscErrorCode KCycleApply(PC pc, PC_KCycle *kc, const KCycleSteps *steps, const KCycleVisit *visit)
{
  PC_MG *mg = (PC_MG *)pc->data;

  PetscFunctionBegin;
  if (mg->stageApply) PetscCall(PetscLogStagePush(mg->stageApply));
  PCKCycleProfileStart(kc);
  if (visit->full) {
    if (steps->transpose) PetscCall(KCycleFullTranspose(pc, kc, steps, visit->kappa));
    else PetscCall(KCycleFull(pc, kc, steps, visit->kappa));
  } else {
    for (PetscInt i = 0; i < visit->cycles; i++)
      PetscCall(KCycle(pc, kc, steps, kc->nlevels - 1, visit->kappa, (PetscBool)(visit->zeroguess && i == 0)));
  }
  PCKCycleProfileStop(kc, visit->full ? 1 : visit->cycles);
  if (mg->stageApply) PetscCall(PetscLogStagePop());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the finest level borrows for an application */
typedef struct {
  Vec                b, x; /* the caller's vectors */
  const PetscScalar *ba;   /* and their arrays */
  PetscScalar       *xa;
  Vec                hb, hx; /* what the finest level works with */
  Vec                padded; /* x, or a copy that has pads for rows of other processes */
  Vec                kept;   /* right side of that level before, given through PCMGSetRhs() */
  Vec                r;      /* and its residual before, where levels are on a device */
  PetscBool          stays;  /* vectors are not borrowed from: levels take them where they are */
  PetscBool          transpose;
} KCycleLoan;

/*
  Levels that work on the host borrow the arrays of the caller's vectors. Vectors on a device are so copied once to the
  host, and once back when they are used there again, whatever the cycle does in between. zero: x holds nothing yet
*/
static PetscErrorCode KCycleBorrowArrays(PC_KCycle *kc, PetscBool zero, KCycleLoan *loan, Vec *b, Vec *x)
{
  PetscFunctionBegin;
  loan->b = *b;
  loan->x = *x;
  if (!kc->host[0] || loan->stays) PetscFunctionReturn(PETSC_SUCCESS);
  *b = kc->host[0];
  *x = kc->host[1];
  if (kc->found.pads) {
    PetscCall(PCKCyclePadsBorrow(kc, loan->b, loan->x, zero, &loan->padded));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayRead(loan->b, &loan->ba));
  if (zero) PetscCall(VecGetArrayWrite(loan->x, &loan->xa));
  else PetscCall(VecGetArray(loan->x, &loan->xa));
  PetscCall(VecPlaceArray(*b, loan->ba));
  PetscCall(VecPlaceArray(*x, loan->xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KCycleReturnArrays(PC_KCycle *kc, KCycleLoan *loan)
{
  PetscFunctionBegin;
  if (!kc->host[0] || loan->stays) PetscFunctionReturn(PETSC_SUCCESS);
  if (kc->found.pads) {
    PetscCall(PCKCyclePadsReturn(kc, loan->padded, loan->x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecResetArray(kc->host[0]));
  PetscCall(VecResetArray(kc->host[1]));
  PetscCall(VecRestoreArrayRead(loan->b, &loan->ba));
  PetscCall(VecRestoreArray(loan->x, &loan->xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The finest level borrows the caller's vectors; a right side given through PCMGSetRhs() comes back afterwards,
   after an error, too */
static PetscErrorCode KCycleLendVectors(PC pc, PC_KCycle *kc, Vec b, Vec x, PetscBool zero, KCycleLoan *loan)
{
  PC_MG_Levels *fine = ((PC_MG *)pc->data)->levels[kc->nlevels - 1];

  PetscFunctionBegin;
  loan->r = fine->r;
  if (loan->stays) {
    if (!kc->residual) PetscCall(VecDuplicate(x, &kc->residual));
    fine->r = kc->residual;
  }
  PetscCall(KCycleBorrowArrays(kc, zero, loan, &b, &x));
  PetscCall(PCKCyclePrepare(kc, loan->transpose, &b));
  loan->hb   = b;
  loan->hx   = x;
  loan->kept = fine->b;
  if (kc->rhs) PetscCall(VecCopy(b, kc->rhs));
  fine->b = kc->rhs ? kc->rhs : b;
  fine->x = x;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KCycleReturnVectors(PC pc, PC_KCycle *kc, KCycleLoan *loan)
{
  PC_MG_Levels *fine = ((PC_MG *)pc->data)->levels[kc->nlevels - 1];

  PetscFunctionBegin;
  PetscCall(PCKCycleFinish(kc, loan->transpose, fine->x));
  fine->b = loan->kept;
  fine->x = NULL;
  fine->r = loan->r;
  PetscCall(KCycleReturnArrays(kc, loan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As a preconditioner, or as levels that go on with the visit of finer ones. After a failed set-up the answer is Inf:
   KSP, when it finds that, asks for the reason of the failure and ends with KSP_DIVERGED_PC_FAILED */
PetscErrorCode PCKCycleVisit(PC pc, const KCycleVisit *visit, Vec b, Vec x)
{
  PC_KCycle     *kc;
  KCycleLoan     loan;
  PetscBool      arrays;
  PetscErrorCode ierr;

  KCycleCall(PCKCycleGetContext(pc, &kc));
  if (kc->failure[0]) {
    KCycleCall(VecSet(x, INFINITY));
    return PETSC_SUCCESS;
  }
  KCycleCall(KCycleLevelsCheck(pc));
  KCycleCall(PCKCycleFMGCheck(pc, visit));
  if (visit->transpose) KCycleCall(PCKCycleSORGiveTranspose(pc));
  KCycleCall(PCKCycleEngineIsUsed(pc, visit->transpose, &arrays));
  loan.stays     = (PetscBool)(arrays && kc->at == KCYCLE_MEMORY_DEVICE);
  loan.transpose = visit->transpose;
  KCycleCall(KCycleLendVectors(pc, kc, b, x, visit->zeroguess, &loan));
  ierr = arrays ? PCKCycleEngineApply(pc, visit, loan.hb, loan.hx)
                : KCycleApply(pc, kc, visit->transpose ? &StepsTranspose : &StepsVec, visit);
  KCycleCall(KCycleReturnVectors(pc, kc, &loan));
  KCycleCall(ierr);
  return PETSC_SUCCESS;
}

/* One application as a preconditioner */
static PetscErrorCode KCycleApplyVec(PC pc, PetscBool transpose, Vec b, Vec x)
{
  PC_MG         *mg   = (PC_MG *)pc->data;
  const PCMGType type = mg->am;
  PC_KCycle     *kc;
  KCycleVisit    visit = {0, mg->cyclesperpcapply, (PetscBool)(type == PC_MG_FULL), transpose, PETSC_TRUE, PETSC_FALSE};
  PetscLogDouble start;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  visit.kappa = kc->kappa;
  start       = MPI_Wtime();
  if (!kc->failure[0] && type != PC_MG_MULTIPLICATIVE &&
      type != PC_MG_FULL) { /* since PCMGSetType(), which is not followed by a set-up */
    PetscCall(PCKCycleInstall(pc));
    PetscCall(transpose ? (*pc->ops->applytranspose)(pc, b, x) : (*pc->ops->apply)(pc, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (kc->fallback.pc && !kc->failure[0]) {
    PetscCall(PCKCycleFallbackApply(pc, transpose, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCKCycleVisit(pc, &visit, b, x));
  PCKCycleModelCompare(kc, &visit, (PetscReal)(MPI_Wtime() - start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApply_KCycle(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(KCycleApplyVec(pc, PETSC_FALSE, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApplyTranspose_KCycle(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(KCycleApplyVec(pc, PETSC_TRUE, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Additive and Kaskade multigrid */
static PetscErrorCode ApplyInherited(PC pc, PetscErrorCode (*apply)(PC, Vec, Vec), PetscBool transpose, Vec b, Vec x)
{
  PC_KCycle     *kc;
  KCycleLoan     loan;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  PetscCheck(kc->precision != PC_KCYCLE_PRECISION_SINGLE, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_kcycle_precision single is for kappa-cycles, and this is -pc_mg_type %s: use double",
             PCMGTypes[((PC_MG *)pc->data)->am]);
  PetscCheck(kc->overcorrect == 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_kcycle_overcorrect is for kappa-cycles, and this is -pc_mg_type %s: leave it out",
             PCMGTypes[((PC_MG *)pc->data)->am]);
  PetscCall(PCKCycleGatheredFollow(pc));
  loan.stays = PETSC_FALSE;
  PetscCall(KCycleBorrowArrays(kc, PETSC_TRUE, &loan, &b, &x));
  PetscCall(PCKCyclePrepare(kc, transpose, &b));
  ierr = (*apply)(pc, b, x);
  PetscCall(PCKCycleFinish(kc, transpose, x));
  PetscCall(KCycleReturnArrays(kc, &loan));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApplyInherited_KCycle(PC pc, Vec b, Vec x)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  PetscCall(ApplyInherited(pc, kc->base.apply, PETSC_FALSE, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApplyTransposeInherited_KCycle(PC pc, Vec b, Vec x)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  PetscCall(PCKCycleSORGiveTranspose(pc));
  PetscCall(ApplyInherited(pc, kc->base.applytranspose, PETSC_TRUE, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks of another width or type than the last ones are made anew */
static PetscErrorCode KCycleResetBlocks(PC_MG *mg, PetscInt nlevels, Mat B)
{
  PC_MG_Levels *fine = mg->levels[nlevels - 1];
  PetscInt      width, oldwidth;
  PetscBool     same;

  PetscFunctionBegin;
  if (!fine->R) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(B, NULL, &width));
  PetscCall(MatGetSize(fine->R, NULL, &oldwidth));
  PetscCall(PetscObjectTypeCompare((PetscObject)fine->R, ((PetscObject)B)->type_name, &same));
  if (same && width == oldwidth) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDestroy(&fine->R));
  for (PetscInt l = 0; l < nlevels - 1; l++) {
    PetscCall(MatDestroy(&mg->levels[l]->R));
    PetscCall(MatDestroy(&mg->levels[l]->B));
    PetscCall(MatDestroy(&mg->levels[l]->X));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KCycleFillInf(Mat X)
{
  PetscInt n;
  Vec      x;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, NULL, &n));
  for (PetscInt j = 0; j < n; j++) {
    PetscCall(MatDenseGetColumnVecWrite(X, j, &x));
    PetscCall(VecSet(x, INFINITY));
    PetscCall(MatDenseRestoreColumnVecWrite(X, j, &x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the cycle runs on arrays, blocks are columns */
static PetscErrorCode KCycleApplyColumns(PC pc, Mat B, Mat X)
{
  PetscInt n;
  Vec      b, x;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, NULL, &n));
  for (PetscInt j = 0; j < n; j++) {
    PetscCall(MatDenseGetColumnVecRead(B, j, &b));
    PetscCall(MatDenseGetColumnVecWrite(X, j, &x));
    PetscCall(KCycleApplyVec(pc, PETSC_FALSE, b, x));
    PetscCall(MatDenseRestoreColumnVecWrite(X, j, &x));
    PetscCall(MatDenseRestoreColumnVecRead(B, j, &b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCMatApply_KCycle(PC pc, Mat B, Mat X)
{
  PC_MG         *mg = (PC_MG *)pc->data;
  PC_MG_Levels  *fine;
  PC_KCycle     *kc;
  KCycleVisit    visit = {0,           mg->cyclesperpcapply, (PetscBool)(mg->am == PC_MG_FULL),
                          PETSC_FALSE, PETSC_TRUE,           PETSC_FALSE};
  PetscBool      arrays;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  visit.kappa = kc->kappa;
  if (kc->failure[0]) {
    PetscCall(KCycleFillInf(X));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KCycleLevelsCheck(pc));
  PetscCall(PCKCycleEngineIsUsed(pc, PETSC_FALSE, &arrays));
  if (arrays || kc->fallback.pc) {
    PetscCall(KCycleApplyColumns(pc, B, X));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KCycleResetBlocks(mg, kc->nlevels, B));
  fine = mg->levels[kc->nlevels - 1];
  PetscCall(MatDestroy(&fine->B));
  fine->B = B;
  fine->X = X;
  ierr    = KCycleApply(pc, kc, &StepsBlock, &visit);
  fine->B = NULL;
  fine->X = NULL;
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smoothers work on the full system here, not on a residual: a small residual must not stop them early */
static PetscErrorCode KCycleLoosenSmoothers(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  for (PetscInt l = 1; l < kc->nlevels; l++) {
    PetscCall(KSPSetTolerances(mg->levels[l]->smoothd, 0, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT));
    PetscCall(KSPSetTolerances(mg->levels[l]->smoothu, 0, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT));
  }
  if (kc->gathered.pc) PetscCall(KCycleLoosenSmoothers(kc->gathered.pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCKCycleTestNorm(PC pc, PetscReal norm, const KCycleStop *stop, PCRichardsonConvergedReason *reason)
{
  PetscFunctionBegin;
  if (PetscIsInfOrNanReal(norm)) *reason = (PCRichardsonConvergedReason)KSP_DIVERGED_NANORINF;
  else if (norm <= stop->target)
    *reason = norm < stop->abstol ? PCRICHARDSON_CONVERGED_ATOL : PCRICHARDSON_CONVERGED_RTOL;
  else if (stop->limit > 0 && norm > stop->limit) *reason = PCRICHARDSON_DIVERGED_DTOL;
  if (*reason)
    PetscCall(PetscInfo(pc, "Iteration stopped: residual norm %g, target %g, divergence limit %g\n", (double)norm,
                        (double)stop->target, (double)stop->limit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the levels of PCMG; its: how many at most, and how many there were. The residual is compared behind the
   pre-smoother, as PCMG does */
static PetscErrorCode KCycleIterateVecs(PC pc, const KCycleStop *stop, PetscBool zeroguess, PetscInt *its,
                                        PCRichardsonConvergedReason *reason)
{
  PC_MG_Levels *fine;
  PC_KCycle    *kc;
  PetscReal     norm;
  PetscInt      i;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  fine = ((PC_MG *)pc->data)->levels[kc->nlevels - 1];
  PCKCycleProfileStart(kc);
  for (i = 0; i < *its; i++) {
    kc->level[fine->level].calls++;
    PetscCall(KCycleDown(pc, kc, &StepsVec, fine->level, (PetscBool)(zeroguess && i == 0)));
    if (stop->target > 0) {
      PetscCall(KCycleProfileBegin(&kc->level[fine->level].profile, NULL));
      PetscCall(VecNorm(fine->r, NORM_2, &norm));
      PetscCall(KCycleProfileEnd(&kc->level[fine->level].profile, NULL, KCYCLE_ROW_OTHER));
      PetscCall(PCKCycleTestNorm(pc, norm, stop, reason));
    }
    if (*reason) break;
    PetscCall(KCycleUp(pc, kc, &StepsVec, fine->level, kc->kappa));
  }
  PCKCycleProfileStop(kc, i);
  *its = i;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cycles on the vectors that the finest level has. rtol, and limit, are relative to the first residual, if rtol is
   not zero */
static PetscErrorCode KCycleIterate(PC pc, PetscReal rtol, KCycleStop stop, PetscBool zeroguess, PetscInt *its,
                                    PCRichardsonConvergedReason *reason)
{
  PC_MG_Levels *fine;
  PC_KCycle    *kc;
  PetscReal     norm = 0;
  PetscBool     arrays;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  fine = ((PC_MG *)pc->data)->levels[kc->nlevels - 1];
  if (rtol > 0) {
    if (!zeroguess) PetscCall(KCycleResidual_Vec(fine));
    PetscCall(VecNorm(zeroguess ? fine->b : fine->r, NORM_2, &norm));
  }
  stop.target = PetscMax(rtol * norm, stop.abstol);
  stop.limit *= norm;
  *reason =
      PetscIsInfOrNanReal(norm) ? (PCRichardsonConvergedReason)KSP_DIVERGED_NANORINF : (PCRichardsonConvergedReason)0;
  if (*reason) *its = 0;
  PetscCall(PCKCycleEngineIsUsed(pc, PETSC_FALSE, &arrays));
  if (!arrays) PetscCall(KCycleIterateVecs(pc, &stop, zeroguess, its, reason));
  else if (*its) PetscCall(PCKCycleEngineIterate(pc, &stop, zeroguess, fine->b, fine->x, its, reason));
  if (!*reason) *reason = PCRICHARDSON_CONVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApplyRichardson_KCycle(PC pc, Vec b, Vec x, Vec w, PetscReal rtol, PetscReal abstol, PetscReal dtol,
                                        PetscInt its, PetscBool zeroguess, PetscInt *outits,
                                        PCRichardsonConvergedReason *reason)
{
  const KCycleStop stop = {0, abstol, dtol}, relative = {rtol, abstol, dtol};
  PC_KCycle       *kc;
  KCycleVisit      visit = {0, 0, PETSC_FALSE, PETSC_FALSE, zeroguess, PETSC_FALSE};
  KCycleLoan       loan;
  PetscLogDouble   start = MPI_Wtime();
  PetscErrorCode   ierr;

  PetscFunctionBegin;
  (void)w;
  PetscCall(PCKCycleGetContext(pc, &kc));
  if (kc->failure[0]) {
    *outits = 0;
    *reason = (PCRichardsonConvergedReason)KSP_DIVERGED_PC_FAILED;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KCycleLevelsCheck(pc));
  if (kc->nlevels == 1) {
    *outits = its;
    PetscCall(PCKCyclePrepare(kc, PETSC_FALSE, &b));
    PetscCall(PCKCycleGoOnIterating(pc, &relative, zeroguess, b, x, outits, reason));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KCycleLoosenSmoothers(pc));
  loan.stays     = (PetscBool)(kc->engine && kc->at == KCYCLE_MEMORY_DEVICE);
  loan.transpose = PETSC_FALSE;
  PetscCall(KCycleLendVectors(pc, kc, b, x, zeroguess, &loan));
  *outits = its;
  ierr    = KCycleIterate(pc, rtol, stop, zeroguess, outits, reason);
  PetscCall(KCycleReturnVectors(pc, kc, &loan));
  PetscCall(ierr);
  visit.kappa  = kc->kappa;
  visit.cycles = *outits;
  PCKCycleModelCompare(kc, &visit, (PetscReal)(MPI_Wtime() - start));
  PetscFunctionReturn(PETSC_SUCCESS);
}
