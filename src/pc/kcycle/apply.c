/*
  Applications of PCKCYCLE: as a preconditioner of vectors and of blocks, and as the iteration of KSPRICHARDSON.
*/
#include "cycle.h"

/* An application as a preconditioner */
KCycleVisit KCycleApplication(PC pc, PetscInt kappa, PetscBool transpose)
{
  const PC_MG      *mg    = (PC_MG *)pc->data;
  const KCycleVisit visit = {kappa,     mg->cyclesperpcapply, (PetscBool)(mg->am == PC_MG_FULL),
                             transpose, PETSC_TRUE,           PETSC_FALSE};

  return visit;
}

/* What the finest level works with in an application */
typedef struct {
  Vec                b, x; /* the caller's vectors */
  const PetscScalar *ba;   /* and their arrays */
  PetscScalar       *xa;
  Vec                hb, hx;    /* what the finest level works with */
  Vec                padded;    /* x, or a copy that has ghost rows */
  Vec                kept;      /* right side of that level before, given through PCMGSetRhs() */
  Vec                r;         /* and its residual before, where levels are on a device */
  PetscBool          on_device; /* levels take the vectors where they are */
  PetscBool          transpose;
} KCycleFinest;

/*
  Levels that work on the host use the arrays of the caller's vectors. Vectors on a device are so copied once to the
  host, and once back when they are used there again, whatever the cycle does in between. zero: x holds nothing yet
*/
static PetscErrorCode KCycleGetArrays(PC_KCycle *kc, PetscBool zero, KCycleFinest *finest, Vec *b, Vec *x)
{
  PetscFunctionBegin;
  finest->b = *b;
  finest->x = *x;
  if (!kc->host[0] || finest->on_device) PetscFunctionReturn(PETSC_SUCCESS);
  *b = kc->host[0];
  *x = kc->host[1];
  if (kc->found.ghostrows) {
    PetscCall(PCKCycleGhostRowsGetVectors(kc, finest->b, finest->x, zero, &finest->padded));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayRead(finest->b, &finest->ba));
  if (zero) PetscCall(VecGetArrayWrite(finest->x, &finest->xa));
  else PetscCall(VecGetArray(finest->x, &finest->xa));
  PetscCall(VecPlaceArray(*b, finest->ba));
  PetscCall(VecPlaceArray(*x, finest->xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KCycleRestoreArrays(PC_KCycle *kc, KCycleFinest *finest)
{
  PetscFunctionBegin;
  if (!kc->host[0] || finest->on_device) PetscFunctionReturn(PETSC_SUCCESS);
  if (kc->found.ghostrows) {
    PetscCall(PCKCycleGhostRowsRestoreVectors(kc, finest->padded, finest->x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecResetArray(kc->host[0]));
  PetscCall(VecResetArray(kc->host[1]));
  PetscCall(VecRestoreArrayRead(finest->b, &finest->ba));
  PetscCall(VecRestoreArray(finest->x, &finest->xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The finest level uses the caller's vectors; a right side given through PCMGSetRhs() comes back afterwards,
   after an error, too */
static PetscErrorCode KCycleSetVectors(PC pc, PC_KCycle *kc, Vec b, Vec x, PetscBool zero, KCycleFinest *finest)
{
  PC_MG_Levels *fine = ((PC_MG *)pc->data)->levels[kc->nlevels - 1];

  PetscFunctionBegin;
  finest->r = fine->r;
  if (finest->on_device) {
    if (!kc->residual) PetscCall(VecDuplicate(x, &kc->residual));
    fine->r = kc->residual;
  }
  PetscCall(KCycleGetArrays(kc, zero, finest, &b, &x));
  PetscCall(PCKCyclePrepare(kc, finest->transpose, &b));
  finest->hb   = b;
  finest->hx   = x;
  finest->kept = fine->b;
  if (kc->rhs) PetscCall(VecCopy(b, kc->rhs));
  fine->b = kc->rhs ? kc->rhs : b;
  fine->x = x;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KCycleRestoreVectors(PC pc, PC_KCycle *kc, KCycleFinest *finest)
{
  PC_MG_Levels *fine = ((PC_MG *)pc->data)->levels[kc->nlevels - 1];

  PetscFunctionBegin;
  PetscCall(PCKCycleFinish(kc, finest->transpose, fine->x));
  fine->b = finest->kept;
  fine->x = NULL;
  fine->r = finest->r;
  PetscCall(KCycleRestoreArrays(kc, finest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As a preconditioner, or as levels that go on with the visit of finer ones. After a failed set-up the answer is Inf:
   KSP, when it finds that, asks for the reason of the failure and ends with KSP_DIVERGED_PC_FAILED */
PetscErrorCode PCKCycleVisit(PC pc, const KCycleVisit *visit, Vec b, Vec x)
{
  PC_KCycle          *kc = KCycleOf(pc);
  const KCycleObjects c  = KCycleObjectsOf(pc, visit->transpose ? KCYCLE_TRANSPOSED : KCYCLE_VECTORS);
  KCycleFinest        finest;
  PetscBool           arrays;
  PetscErrorCode      ierr;

  if (kc->failure[0]) {
    KCycleCall(VecSet(x, INFINITY));
    return PETSC_SUCCESS;
  }
  KCycleCall(KCycleLevelsCheck(pc));
  PetscCheck(kc->fmg.interpolation == PC_KCYCLE_FMG_LINEAR || !visit->full || !visit->transpose,
             PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "Full multigrid with cubic interpolation has no transpose: use -pc_kcycle_fmg_interpolation linear");
  if (visit->transpose) KCycleCall(PCKCycleSORAddTranspose(pc));
  KCycleCall(PCKCycleEngineIsUsed(pc, visit->transpose, &arrays));
  finest.on_device = (PetscBool)(arrays && kc->at == KCYCLE_MEMORY_DEVICE);
  finest.transpose = visit->transpose;
  KCycleCall(KCycleSetVectors(pc, kc, b, x, visit->zeroguess, &finest));
  ierr = arrays ? PCKCycleEngineApply(pc, visit, finest.hb, finest.hx) : KCycleObjectsApply(&c, visit);
  KCycleCall(KCycleRestoreVectors(pc, kc, &finest));
  KCycleCall(ierr);
  return PETSC_SUCCESS;
}

/* One application as a preconditioner */
static PetscErrorCode KCycleApplyVec(PC pc, PetscBool transpose, Vec b, Vec x)
{
  const PCMGType       type  = ((PC_MG *)pc->data)->am;
  PC_KCycle           *kc    = KCycleOf(pc);
  const KCycleVisit    visit = KCycleApplication(pc, kc->kappa, transpose);
  const PetscLogDouble start = MPI_Wtime();

  PetscFunctionBegin;
  if (!kc->failure[0] && type != PC_MG_MULTIPLICATIVE &&
      type != PC_MG_FULL) { /* since PCMGSetType(), which is not followed by a set-up */
    PetscCall(PCKCycleInstall(pc));
    PetscCall(transpose ? (*pc->ops->applytranspose)(pc, b, x) : (*pc->ops->apply)(pc, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (kc->fallback.pc && !kc->failure[0]) {
    PetscCall(PCKCyclePrepare(kc, transpose, &b));
    PetscCall(PCApply(kc->fallback.pc, b, x)); /* symmetric, as the operator is */
    PetscCall(PCKCycleFinish(kc, transpose, x));
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
  PC_KCycle     *kc = KCycleOf(pc);
  KCycleFinest   finest;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCheck(kc->precision != PC_KCYCLE_PRECISION_SINGLE, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_kcycle_precision single is for kappa-cycles, and this is -pc_mg_type %s: use double",
             PCMGTypes[((PC_MG *)pc->data)->am]);
  PetscCheck(kc->overcorrect == 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_kcycle_overcorrect is for kappa-cycles, and this is -pc_mg_type %s: leave it out",
             PCMGTypes[((PC_MG *)pc->data)->am]);
  PetscCall(PCKCycleGatheredFollow(pc));
  finest.on_device = PETSC_FALSE;
  PetscCall(KCycleGetArrays(kc, PETSC_TRUE, &finest, &b, &x));
  PetscCall(PCKCyclePrepare(kc, transpose, &b));
  ierr = (*apply)(pc, b, x);
  PetscCall(PCKCycleFinish(kc, transpose, x));
  PetscCall(KCycleRestoreArrays(kc, &finest));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApplyInherited_KCycle(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(ApplyInherited(pc, KCycleOf(pc)->base.apply, PETSC_FALSE, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApplyTransposeInherited_KCycle(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(PCKCycleSORAddTranspose(pc));
  PetscCall(ApplyInherited(pc, KCycleOf(pc)->base.applytranspose, PETSC_TRUE, b, x));
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
  PC_MG              *mg    = (PC_MG *)pc->data;
  PC_KCycle          *kc    = KCycleOf(pc);
  const KCycleVisit   visit = KCycleApplication(pc, kc->kappa, PETSC_FALSE);
  const KCycleObjects c     = KCycleObjectsOf(pc, KCYCLE_BLOCKS);
  PC_MG_Levels       *fine;
  PetscBool           arrays;
  PetscErrorCode      ierr;

  PetscFunctionBegin;
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
  ierr    = KCycleObjectsApply(&c, &visit);
  fine->B = NULL;
  fine->X = NULL;
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smoothers work on the full system here, not on a residual: a small residual must not stop them early */
static PetscErrorCode KCycleLoosenSmoothers(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
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

/* On the levels of PCMG; its: how many at most, and how many there were. The residual is compared after the
   pre-smoother, as PCMG does */
static PetscErrorCode KCycleIterateVecs(PC pc, const KCycleStop *stop, PetscBool zeroguess, PetscInt *its,
                                        PCRichardsonConvergedReason *reason)
{
  const KCycleObjects c    = KCycleObjectsOf(pc, KCYCLE_VECTORS);
  PC_KCycle          *kc   = c.kc;
  const PetscInt      fine = kc->nlevels - 1;
  PetscReal           norm;
  PetscInt            i;

  PetscFunctionBegin;
  PCKCycleProfileStart(kc);
  for (i = 0; i < *its; i++) {
    kc->level[fine].calls++;
    PetscCall(KCycleObjectsDown(&c, fine, (PetscBool)(zeroguess && i == 0)));
    if (stop->target > 0) {
      PetscCall(KCycleProfileBegin(&kc->level[fine].profile, NULL));
      PetscCall(VecNorm(c.levels[fine]->r, NORM_2, &norm));
      PetscCall(KCycleProfileEnd(&kc->level[fine].profile, NULL, KCYCLE_ROW_OTHER));
      PetscCall(PCKCycleTestNorm(pc, norm, stop, reason));
    }
    if (*reason) break;
    PetscCall(KCycleObjectsUp(&c, fine, kc->kappa));
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
  const KCycleObjects c    = KCycleObjectsOf(pc, KCYCLE_VECTORS);
  PC_KCycle          *kc   = c.kc;
  PetscReal           norm = 0;
  PetscBool           arrays;
  PC_MG_Levels       *fine = ((PC_MG *)pc->data)->levels[kc->nlevels - 1];

  PetscFunctionBegin;
  if (rtol > 0) {
    if (!zeroguess) PetscCall(KCycleObjectsResidual(&c, kc->nlevels - 1));
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
  PC_KCycle       *kc    = KCycleOf(pc);
  KCycleVisit      visit = {0, 0, PETSC_FALSE, PETSC_FALSE, zeroguess, PETSC_FALSE};
  KCycleFinest     finest;
  PetscLogDouble   start = MPI_Wtime();
  PetscErrorCode   ierr;

  PetscFunctionBegin;
  (void)w;
  if (kc->failure[0]) {
    *outits = 0;
    *reason = (PCRichardsonConvergedReason)KSP_DIVERGED_PC_FAILED;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KCycleLevelsCheck(pc));
  if (kc->nlevels == 1) {
    *outits = its;
    PetscCall(PCKCyclePrepare(kc, PETSC_FALSE, &b));
    PetscCall(PCKCycleGatheredIterate(pc, &relative, zeroguess, b, x, outits, reason));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KCycleLoosenSmoothers(pc));
  finest.on_device = (PetscBool)(kc->engine && kc->at == KCYCLE_MEMORY_DEVICE);
  finest.transpose = PETSC_FALSE;
  PetscCall(KCycleSetVectors(pc, kc, b, x, zeroguess, &finest));
  *outits = its;
  ierr    = KCycleIterate(pc, rtol, stop, zeroguess, outits, reason);
  PetscCall(KCycleRestoreVectors(pc, kc, &finest));
  PetscCall(ierr);
  visit.kappa  = kc->kappa;
  visit.cycles = *outits;
  PCKCycleModelCompare(kc, &visit, (PetscReal)(MPI_Wtime() - start));
  PetscFunctionReturn(PETSC_SUCCESS);
}
