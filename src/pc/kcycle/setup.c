/*
  Set-up of PCKCYCLE: a list of steps around the set-up of the type it inherits from.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/deviceimpl.h>

/* Are coarse operators and interpolations made here, and not by PCMG or PCGAMG? */
PetscBool KCycleMakesOperators(const PC_KCycle *kc)
{
  return (PetscBool)(kc->use_structure || kc->use_grids);
}

/* Coarse operators can be assembled anew by whoever told the DM how (KSPSetComputeOperators(), SNES), or were given
   level by level */
static PetscErrorCode CoarseOperatorsAreProvided(PC pc, PetscBool *provided)
{
  PC_MG *mg                                        = (PC_MG *)pc->data;
  PetscErrorCode (*compute)(KSP, Mat, Mat, void *) = NULL;

  PetscFunctionBegin;
  *provided = PETSC_TRUE;
  if (pc->dm) PetscCall(DMKSPGetComputeOperators(pc->dm, &compute, NULL));
  if (compute) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt l = 0; l < mg->nlevels - 1; l++) {
    PetscBool set;

    PetscCall(KSPGetOperatorsSet(mg->levels[l]->smoothd, NULL, &set));
    if (!set) *provided = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ChooseCoarseOperators(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);
  PetscBool  provided;

  PetscFunctionBegin;
  if (kc->ready) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CoarseOperatorsAreProvided(pc, &provided));
  PetscCheck(provided || mg->galerkin != PC_MG_GALERKIN_EXTERNAL || kc->levels_from == PC_KCYCLE_HIERARCHY_GAMG,
             PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "-pc_mg_galerkin external says that the program gives the operators of coarse levels, and it has not: "
             "call PCMGSetOperators() for each, or leave out the option");
  if (kc->galerkin_set || mg->galerkin != PC_MG_GALERKIN_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  if (provided) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCMGSetGalerkin(pc, PC_MG_GALERKIN_BOTH));
  kc->galerkin_chosen = PETSC_TRUE;
  PetscCall(PetscInfo(pc, "The program provides no coarse operators: using Galerkin products\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A stencil keeps the shape it was made with, and so do the levels below it */
static PetscErrorCode ForgetOldShape(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscBool  adapt;

  PetscFunctionBegin;
  PetscCall(PCMGGetAdaptInterpolation(pc, &adapt));
  if (!kc->ready || !KCycleMakesOperators(kc) || (pc->flag != DIFFERENT_NONZERO_PATTERN && !adapt))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(
      pc, "The pattern of the operator has changed, or interpolations are to be adapted: building levels anew\n"));
  PetscCall(PCKCycleLevelsDrop(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Galerkin products keep the pattern they were made with: another pattern needs new ones. Transfers that the user
   gave are kept */
static PetscErrorCode ForgetOldPattern(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);
  Mat       *kept;

  PetscFunctionBegin;
  if (!kc->ready || pc->flag != DIFFERENT_NONZERO_PATTERN || mg->galerkin >= PC_MG_GALERKIN_NONE)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(pc, "The pattern of the operator has changed: building coarse operators anew\n"));
  PetscCall(PetscCalloc1(2 * mg->nlevels, &kept));
  for (PetscInt l = 1; l < mg->nlevels && kc->levels_from == PC_KCYCLE_HIERARCHY_USER; l++) {
    kept[2 * l]     = mg->levels[l]->interpolate;
    kept[2 * l + 1] = mg->levels[l]->restrct;
    PetscCall(PetscObjectReference((PetscObject)kept[2 * l]));
    PetscCall(PetscObjectReference((PetscObject)kept[2 * l + 1]));
  }
  PetscCall((*kc->base.reset)(pc));
  for (PetscInt l = 1; l < mg->nlevels; l++) {
    if (kept[2 * l]) PetscCall(PCMGSetInterpolation(pc, l, kept[2 * l]));
    if (kept[2 * l + 1]) PetscCall(PCMGSetRestriction(pc, l, kept[2 * l + 1]));
    PetscCall(MatDestroy(&kept[2 * l]));
    PetscCall(MatDestroy(&kept[2 * l + 1]));
  }
  PetscCall(PetscFree(kept));
  kc->ready = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RenewPC(KSP solver, const KCycleChoice *choice)
{
  PC   pc;
  char type[64];

  PetscFunctionBegin;
  PetscCall(KSPGetPC(solver, &pc));
  if (!((PetscObject)pc)->type_name || choice->theirs[KCYCLE_ASPECT_PC]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrncpy(type, ((PetscObject)pc)->type_name, sizeof(type)));
  PetscCall(PCSetType(pc, PCNONE));
  PetscCall(PCSetType(pc, type));
  PetscCall(PCSetFromOptions(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A factorization keeps the ordering that it chose for one type of matrices, which those of other types may not
   take: solvers of levels are made anew for another type, unless the program has chosen them */
static PetscErrorCode RenewForType(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);
  MatType    type;
  PetscBool  same;

  PetscFunctionBegin;
  if (kc->use_structure || kc->gamg) kc->type[0] = 0;
  if (kc->use_structure || kc->gamg) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetType(kc->use_grids ? kc->grids[0].A : pc->pmat, &type));
  PetscCall(PetscStrcmp(type, kc->type, &same));
  for (PetscInt l = 0; kc->type[0] && !same && l < mg->nlevels; l++) {
    PetscCall(RenewPC(mg->levels[l]->smoothd, &kc->choice[l][0]));
    if (mg->levels[l]->smoothu != mg->levels[l]->smoothd) PetscCall(RenewPC(mg->levels[l]->smoothu, &kc->choice[l][1]));
  }
  PetscCall(PetscStrncpy(kc->type, type, sizeof(kc->type)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCMG passes the news that operators have changed to down smoothers that have a grid only: estimates of eigenvalues
   would stay as they were */
static PetscErrorCode AnnounceChange(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (!kc->ready || (mg->galerkin == PC_MG_GALERKIN_EXTERNAL && !KCycleMakesOperators(kc)))
    PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt l = 0; l < mg->nlevels; l++) {
    KSP down = mg->levels[l]->smoothd, up = mg->levels[l]->smoothu;

    if (down->setupstage != KSP_SETUP_NEW) down->setupstage = KSP_SETUP_NEWMATRIX;
    if (up->setupstage != KSP_SETUP_NEW) up->setupstage = KSP_SETUP_NEWMATRIX;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Residuals are taken with the operators that the smoothers have, also after KSPSetOperators() with another matrix */
static PetscErrorCode FinishOperators(PC pc)
{
  PC_MG *mg = (PC_MG *)pc->data;

  PetscFunctionBegin;
  for (PetscInt l = 0; l < mg->nlevels; l++) {
    PC_MG_Levels *lv = mg->levels[l];
    Mat           A;

    if (lv->A && lv->residual && lv->residual != PCMGResidualDefault) continue;
    PetscCall(KSPGetOperators(lv->smoothd, &A, NULL));
    PetscCall(PetscObjectReference((PetscObject)A));
    PetscCall(MatDestroy(&lv->A));
    lv->A = A;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Some smoothers (PCEISENSTAT) change the right side that they are given, and get a copy */
static PetscErrorCode FinishRightSide(PC pc)
{
  PC_KCycle    *kc = KCycleOf(pc);
  PC            smoother;
  PetscBool     down = PETSC_FALSE, up = PETSC_FALSE;
  PC_MG_Levels *fine = ((PC_MG *)pc->data)->levels[kc->nlevels - 1];

  PetscFunctionBegin;
  PetscCall(KSPGetPC(fine->smoothd, &smoother));
  PetscTryMethod(smoother, "PCPreSolveChangeRHS_C", (PC, PetscBool *), (smoother, &down));
  PetscCall(KSPGetPC(fine->smoothu, &smoother));
  PetscTryMethod(smoother, "PCPreSolveChangeRHS_C", (PC, PetscBool *), (smoother, &up));
  PetscCall(VecDestroy(&kc->rhs));
  if (down || up) PetscCall(MatCreateVecs(fine->A, NULL, &kc->rhs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The events of a level, which has the same name on any number of processes; PetscLogEventRegister() wants all of them
   to take the events of all levels, those on fewer processes, too */
static PetscErrorCode RegisterEvents(PetscInt number, PetscLogEvent event[])
{
  const char *const phases[KCYCLE_NUM_PHASES] = {"KCSmooth", "KCResidual", "KCRestrict", "KCInterp", "KCCoarse"};

  PetscFunctionBegin;
  for (PetscInt phase = 0; phase < KCYCLE_NUM_PHASES; phase++) {
    char name[64];

    if ((phase == KCYCLE_COARSE) != (number == 0)) continue;
    PetscCall(PetscSNPrintf(name, sizeof(name), "%s Level %" PetscInt_FMT, phases[phase], number));
    PetscCall(PetscLogEventGetId(name, &event[phase]));
    if (event[phase] < 0) PetscCall(PetscLogEventRegister(name, PC_CLASSID, &event[phase]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coarsest level here logs nothing where others go on with it */
static PetscErrorCode LogLevels(PC pc)
{
  PC_KCycle    *kc = KCycleOf(pc);
  PetscLogEvent unused[KCYCLE_NUM_PHASES];

  PetscFunctionBegin;
  for (PetscInt number = 0; number < kc->nlevels + kc->gathered.below; number++) {
    const PetscInt l = number - kc->gathered.below;

    PetscCall(RegisterEvents(number, l > 0 || number == 0 ? kc->level[PetscMax(l, 0)].event : unused));
  }
  if (kc->gathered.below) PetscCall(PetscArrayzero(kc->level[0].event, KCYCLE_NUM_PHASES));
  if (kc->gathered.pc) PetscCall(LogLevels(kc->gathered.pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the cycle itself needs in addition to the hierarchy */
static PetscErrorCode FinishCycle(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (kc->nlevels != mg->nlevels) {
    PetscCall(PetscFree2(kc->level, kc->calls));
    kc->nlevels = mg->nlevels;
    PetscCall(PetscCalloc2(kc->nlevels, &kc->level, kc->nlevels, &kc->calls));
    PetscCall(PCKCycleProfileReset(kc));
  } else {
    for (PetscInt l = 0; l < kc->nlevels; l++)
      PetscCall(PetscMemzero(&kc->level[l], offsetof(KCycleLevel, profile))); /* what is known of times stays */
    PetscCall(PCKCycleProfileFollow(kc));
  }
  if (mg->stageApply) PetscCall(LogLevels(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What depends on the solvers of the levels */
PetscErrorCode PCKCycleFinishLevels(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);
  PetscBool  preonly;

  PetscFunctionBegin;
  PetscCall(FinishOperators(pc));
  PetscCall(KSPGetInitialGuessNonzero(mg->levels[0]->smoothd, &kc->coarse_reads));
  PetscCall(PetscObjectTypeCompare((PetscObject)mg->levels[0]->smoothd, KSPPREONLY, &preonly));
  kc->coarse_continues = (PetscBool)(kc->coarse_reads && !preonly);
  PetscCall(FinishRightSide(pc));
  PetscCall(PCKCycleEngineSetUp(pc));
  PetscCall(KCycleLevelsStamp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver that has the operator that the PC was set up for last gets the new one */
static PetscErrorCode RenewOperator(PC pc, PetscObjectId last, KSP solver)
{
  PetscObjectId its;
  PetscBool     set, amat;
  Mat           P;

  PetscFunctionBegin;
  PetscCall(KSPGetOperatorsSet(solver, NULL, &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetOperators(solver, NULL, &P));
  PetscCall(PetscObjectGetId((PetscObject)P, &its));
  if (its != last) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGetUseAmat(pc, &amat));
  PetscCall(KSPSetOperators(solver, amat ? pc->mat : pc->pmat, pc->pmat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCMG leaves its finest solvers the matrix that they had from the PC, also where the program has come with another */
static PetscErrorCode RenewFinest(PC pc)
{
  PC_MG        *mg = (PC_MG *)pc->data;
  PC_KCycle    *kc = KCycleOf(pc);
  PetscObjectId now;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &now));
  if (mg->levels && now != kc->operator_id) {
    PC_MG_Levels *fine = mg->levels[mg->nlevels - 1];

    PetscCall(RenewOperator(pc, kc->operator_id, fine->smoothd));
    PetscCall(RenewOperator(pc, kc->operator_id, fine->smoothu));
  }
  kc->operator_id = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Has the program given the only level another operator than the PC's? */
static PetscErrorCode OnlyIsTheirs(PC pc, PetscBool *theirs)
{
  const KSP only = ((PC_MG *)pc->data)->levels[0]->smoothd;
  PetscBool set;
  Mat       P;

  PetscFunctionBegin;
  *theirs = PETSC_FALSE;
  PetscCall(KSPGetOperatorsSet(only, NULL, &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetOperators(only, NULL, &P));
  *theirs = (PetscBool)(P != pc->pmat && P != KCycleOf(pc)->coarsest);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the coarsest problem is the program's own operator a null space is attached to a copy, which has those that the
   program has attached */
static PetscErrorCode OwnCoarsest(PC pc)
{
  PC_MG       *mg = (PC_MG *)pc->data;
  PC_KCycle   *kc = KCycleOf(pc);
  MatNullSpace attached[2];
  PetscBool    has, theirs = PETSC_FALSE;

  PetscFunctionBegin;
  if (kc->use_structure || mg->nlevels != 1 || mg->galerkin == PC_MG_GALERKIN_EXTERNAL)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(OnlyIsTheirs(pc, &theirs));
  if (theirs) PetscFunctionReturn(PETSC_SUCCESS);
  if (kc->coarsest) PetscCall(KSPSetOperators(mg->levels[0]->smoothd, pc->pmat, pc->pmat));
  PetscCall(MatDestroy(&kc->coarsest));
  PetscCall(MatHasOperation(pc->pmat, MATOP_DUPLICATE, &has));
  if (kc->kernel == KCYCLE_REGULAR || !has) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDuplicate(pc->pmat, MAT_COPY_VALUES, &kc->coarsest));
  PetscCall(MatGetNullSpace(pc->pmat, &attached[0]));
  PetscCall(MatGetTransposeNullSpace(pc->pmat, &attached[1]));
  PetscCall(MatSetNullSpace(kc->coarsest, attached[0]));
  PetscCall(MatSetTransposeNullSpace(kc->coarsest, attached[1]));
  PetscCall(KSPSetOperators(mg->levels[0]->smoothd, kc->coarsest, kc->coarsest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSquare(PC pc)
{
  PetscInt M, N;

  PetscFunctionBegin;
  PetscCall(MatGetSize(pc->pmat, &M, &N));
  PetscCheck(M == N, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ,
             "PCKCYCLE needs a square operator, this one has %" PetscInt_FMT " rows and %" PetscInt_FMT
             " columns; for least squares use the normal equations (MatCreateNormal())",
             M, N);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpInherited(PC pc)
{
  PC_KCycle     *kc = KCycleOf(pc);
  PetscErrorCode ierr;
  char           levels[64] = "";

  PetscFunctionBegin;
  if (!kc->ready && kc->dimension && kc->set_coordinates) /* PCGAMG's: other levels have no use for them */
    PetscCall((*kc->set_coordinates)(pc, kc->dimension, kc->ncoordinates, kc->coordinates));
  /* PCGAMG would have PCMG read them again, also where it has made fewer */
  if (kc->gamg) PetscCall(PCKCycleHideLevels(pc, PETSC_TRUE, sizeof(levels), levels));
  if (kc->gamg) PetscCall(PCKCycleCoarseBeforeGAMG(pc));
  ierr = (*kc->base.setup)(pc);
  PetscCall(PCKCycleHideLevels(pc, PETSC_FALSE, sizeof(levels), levels));
  PetscCall(ierr);
  if (kc->gamg) PetscCall(PCKCycleCoarseAfterGAMG(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operators and interpolations of all levels, or what PCMG and PCGAMG are to make */
static PetscErrorCode BuildLevels(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (kc->use_structure) {
    PetscCall(PCKCycleStructuredSetUp(pc));
    if (kc->use_structure) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PCKCycleRefuseMeaningless(pc));
    PetscCall(PCKCycleSetUpLevels(pc));
    PetscCall(PCKCycleCheckOperator(pc));
  }
  if (kc->use_grids) PetscCall(PCKCycleGridsSetUp(pc));
  else {
    PetscCall(ChooseCoarseOperators(pc));
    PetscCall(ForgetOldPattern(pc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUp(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(CheckSquare(pc));
  PetscCall(PCKCycleRefuseChanges(pc));
  PetscCall(KCycleLevelsCheck(pc));
  PetscCall(PCKCycleCoarseForget(pc));
  PetscCall(PCKCycleFindGrid(pc));
  PetscCall(PCKCycleUnknownsFollow(pc));
  PetscCall(ForgetOldShape(pc));
  PetscCall(PCKCycleResolveHierarchy(pc));
  PetscCall(PCKCycleCheckGrid(pc));
  PetscCall(PCKCycleStructuredChoose(pc));
  PetscCall(PCKCycleFoundSettle(pc));
  PetscCall(PCKCycleChooseInstead(pc));
  PetscCall(PCKCycleRefuseMeaningless(pc));
  PetscCall(PCKCycleSetUpLevels(pc));
  PetscCall(PCKCycleCheckOperator(pc));
  if (kc->failure[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BuildLevels(pc));
  PetscCall(RenewForType(pc));
  PetscCall(AnnounceChange(pc));
  if (!kc->ready) pc->setupcalled = PETSC_FALSE;
  PetscCall(RenewFinest(pc));
  PetscCall(OwnCoarsest(pc));
  PetscCall(PCKCycleCoarseBefore(pc));
  PetscCall(SetUpInherited(pc));
  PetscCall(PCKCycleCoarseAfter(pc));
  if (!kc->ready) PetscCall(KCycleMatOnDevice(pc->pmat, &kc->device)); /* until a solver shows its vectors */
  PetscCall(FinishCycle(pc));
  PetscCall(PCKCycleFinishLevels(pc));
  kc->ready = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After an error PETSc would take the operator for one that has been set up for */
static PetscErrorCode SetUpOnce(PC pc)
{
  PC_KCycle     *kc = KCycleOf(pc);
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PCKCycleCopyInstall(pc));
  ierr = SetUp(pc);
  PetscCall(PCKCycleCopyRemove(pc));
  PetscCall(PCKCycleSolversKeep(pc));
  if (ierr) pc->setupcalled = PETSC_FALSE;
  PetscCall(ierr);
  kc->levels_used = PETSC_TRUE;
  PetscCall(PCKCycleInstall(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetUp_KCycle(PC pc)
{
  PC_KCycle *kc    = KCycleOf(pc);
  PetscBool  again = PETSC_TRUE, failed;

  PetscFunctionBegin;
  failed   = kc->busy;
  kc->busy = PETSC_FALSE;
  PetscCall(PCKCycleSolversNotice(pc));
  if (failed) PetscCall(PCKCycleStartAnew(pc));
  kc->busy = PETSC_TRUE;
  while (again) {
    PetscCall(SetUpOnce(pc));
    PetscCall(PCKCycleUnknownsJudge(pc, &again));
  }
  kc->answer.due   = PETSC_TRUE;
  kc->answer.wrong = PETSC_FALSE;
  PetscCall(PCKCyclePredictSetUp(pc));
  PetscCall(PCKCycleModelChanged(pc));
  PetscCall(PCKCycleModelSetUp(pc));
  PetscCall(PCKCycleFallbackSetUp(pc));
  kc->busy = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
