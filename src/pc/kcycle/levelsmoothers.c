/*
  Smoothers of structured levels, unless others were chosen: points, lines or planes, and how many sweeps.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/relaximpl.h>

/* Lines; planes are tried when a smoother asks for them */
static PetscErrorCode ChooseLines(const PC_KCycle *kc, KCycleGridLevel *level)
{
  const KCycleScan *facts;

  PetscFunctionBegin;
  level->lines[0]  = 0;
  level->planes[0] = 0;
  level->tried     = PETSC_FALSE;
  if (kc->anisotropy == PC_KCYCLE_ANISOTROPY_OFF) PetscFunctionReturn(PETSC_SUCCESS);
  if (kc->convects) PetscCall(MatStencilScanAsymmetry(level->A, &facts));
  else PetscCall(MatStencilScan(level->A, &facts));
  if (KCyclePolicySeeksRuns(facts, level->factor)) PetscCall(MatStencilScanWeakRuns(level->A, &facts));
  KCyclePolicyLines(facts, kc->convects, level->factor, level->lines);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where a direction is weaker than both others, lines may leave errors that oscillate along it */
static PetscErrorCode TryLines(KCycleGridLevel *level)
{
  const KCycleStencil *st      = KCycleStencilOf(level->A);
  PetscReal            left[3] = {0, 0, 0};
  KCycleSmoother      *s       = NULL;
  const KCycleScan    *facts;

  PetscFunctionBegin;
  PetscCall(MatStencilScan(level->A, &facts));
  for (int d = 0; d < 3 && level->lines[0]; d++) {
    if (!KCyclePolicyTriesPlanes(facts, level->factor, d) || st->box->size[d] < 2) continue;
    if (!s) {
      PetscCall(KCycleSmootherCreate(PetscObjectComm((PetscObject)level->A), st, facts, PC_RELAX_ALTERNATING, &s));
      s->directions = level->lines;
      s->origin     = level->origin;
      PetscCall(KCycleSmootherSetUp(s));
    }
    PetscCall(KCycleSmootherTry(s, KCycleTransferOf(level->P), d, &left[d]));
  }
  PetscCall(KCycleSmootherDestroy(&s));
  KCyclePolicyPlanes(facts, left, level->planes, level->lines);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines and planes of a level for its smoother, unless the type of that was chosen. Where lines are cut
   planes are not worth their time */
static PetscErrorCode SetLines(const PC_KCycle *kc, KCycleGridLevel *level, PC pc, PetscBool *given)
{
  PetscFunctionBegin;
  PetscCall(PCRelaxIsAuto(pc, given));
  if (!*given) PetscFunctionReturn(PETSC_SUCCESS);
  if (!level->tried && !kc->cutlines) PetscCall(TryLines(level));
  level->tried = PETSC_TRUE;
  PetscCall(PCRelaxSetLines(pc, level->lines, level->planes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels are numbered from the coarsest of all, also where that is on fewer processes: options with the number of a
   level mean the same on any number of processes */
PetscErrorCode PCKCycleNumberSolver(PC pc, KSP solver, PetscInt number, PetscBool theirs)
{
  const char levels[] = "mg_levels_", *before = ((PetscObject)pc)->prefix ? ((PetscObject)pc)->prefix : "", *own, *tail;
  char       prefix[256];
  size_t     len;
  PetscBool  begins = PETSC_FALSE, same;

  PetscFunctionBegin;
  PetscCall(KSPGetOptionsPrefix(solver, &own));
  PetscCall(PetscStrlen(before, &len));
  if (own && !strncmp(own, before, len)) PetscCall(PetscStrbeginswith(own + len, levels, &begins));
  tail = begins ? strchr(own + len + sizeof(levels) - 1, '_') : NULL;
  if (!tail) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(prefix, sizeof(prefix), "%s%s%" PetscInt_FMT "%s", before, levels, number, tail));
  PetscCall(PetscStrcmp(own, prefix, &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPSetOptionsPrefix(solver, prefix));
  if (KCycleOf(pc)->ready && !theirs) PetscCall(KSPSetFromOptions(solver));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of points of the finest grid over that of a level */
PetscInt KCycleCoarseningRatio(const PC_KCycle *kc, PetscInt l)
{
  PetscInt ratio = kc->finer.exists ? kc->finer.ratio : 1;

  for (PetscInt i = 0; i < l; i++) ratio *= kc->grids[i].factor[0] * kc->grids[i].factor[1] * kc->grids[i].factor[2];
  return ratio;
}

/* Sweeps of a smoother of level l, 0 being the finest. Unless what it relaxes was chosen, it is given the
   lines and planes */
static PetscErrorCode ChooseSweeps(PC_KCycle *kc, PetscInt l, KSP smoother, PetscInt *sweeps)
{
  KCycleGridLevel     *level = &kc->grids[l];
  const KCycleStencil *st    = KCycleStencilOf(level->A);
  KCycleSweepFacts facts = {st->box->dim, st->shape.ncoeffs, KCycleCoarseningRatio(kc, l), kc->revisits, PETSC_FALSE,
                            PETSC_FALSE,  kc->cutlines,      PCKCycleSweepsAsked(kc)};
  PC               pc;
  PetscBool        given;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(smoother, &pc));
  PetscCall(SetLines(kc, level, pc, &given));
  facts.lines  = (PetscBool)(given && level->lines[0]);
  facts.planes = (PetscBool)(given && level->planes[0]);
  *sweeps      = KCyclePolicySweeps(&facts);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  PCMG's smoother is two iterations of Chebyshev with SOR; unless another was chosen it becomes sweeps of PCRELAX, or
  Chebyshev with Jacobi where Chebyshev was asked for. Another KSP or number of iterations was chosen by the program
*/
static PetscErrorCode ChooseSmoother(PC_KCycle *kc, PetscInt l, KSP smoother, KCycleChoice *choice)
{
  PC        relax;
  PetscBool untouched, chebyshev, given, counted, ours = PETSC_TRUE, richardson;
  PetscInt  its, sweeps;
  char      type[64];

  PetscFunctionBegin;
  PetscCall(KSPGetPC(smoother, &relax));
  PetscCall(KCycleSmootherIsFree(smoother, choice, &untouched));
  PetscCall(PetscObjectTypeCompare((PetscObject)smoother, KSPCHEBYSHEV, &chebyshev));
  PetscCall(PetscOptionsGetString(((PetscObject)smoother)->options, ((PetscObject)smoother)->prefix, "-pc_type", type,
                                  sizeof(type), &given));
  if (given) PetscCall(PetscStrcmp(type, PCRELAX, &ours));
  /* another PC needs PCMG's Chebyshev around it: Jacobi alone is no smoother */
  if (!untouched || !ours) PetscFunctionReturn(PETSC_SUCCESS);
  choice->chose = PETSC_TRUE;
  PetscCall(
      PetscOptionsHasName(((PetscObject)smoother)->options, ((PetscObject)smoother)->prefix, "-ksp_max_it", &counted));
  PetscCall(PCSetType(relax, PCRELAX));
  PetscCall(ChooseSweeps(kc, l, smoother, &sweeps));
  PetscCall(KSPGetTolerances(smoother, NULL, NULL, NULL, &its));
  richardson = chebyshev;
  PetscCall(PetscOptionsGetString(((PetscObject)smoother)->options, ((PetscObject)smoother)->prefix, "-ksp_type", type,
                                  sizeof(type), &given));
  if (given) PetscCall(PetscStrcmp(type, KSPCHEBYSHEV, &chebyshev));
  if (given) PetscCall(PetscStrcmp(type, KSPRICHARDSON, &richardson));
  if (given && chebyshev) {
    PetscCall(PCRelaxSetType(relax, PC_RELAX_JACOBI));
    PetscCall(PCRelaxSetOmega(relax, 1));
  }
  choice->sweeps = (PetscBool)(!given && !counted && richardson && its == KCYCLE_PCMG_ITS);
  if (choice->sweeps) PetscCall(KSPSetTolerances(smoother, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT, sweeps));
  if (!richardson) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPSetType(smoother, KSPRICHARDSON));
  PetscCall(KCycleKSPDelayWork(smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of sweeps that was chosen for other values of the operator becomes the one that suits them now */
static PetscErrorCode RenewSweeps(PC_KCycle *kc, PetscInt l, KSP smoother, const KCycleChoice *choice)
{
  PetscInt sweeps;

  PetscFunctionBegin;
  PetscCall(ChooseSweeps(kc, l, smoother, &sweeps));
  if (choice->sweeps && !choice->theirs[KCYCLE_ASPECT_SWEEPS])
    PetscCall(KSPSetTolerances(smoother, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT, sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smoothers of PCRELAX are told how the level is coarsened, for the clusters that they leave to the coarser grid.
   Not where points that were isolated have tiny couplings there, the only ones of many a cluster */
static PetscErrorCode SetCoarsening(const PC_KCycle *kc, PetscInt l, KSP smoother)
{
  const KCycleGridLevel *level   = &kc->grids[l];
  const PetscInt         none[3] = {0, 0, 0};
  const PetscBool        filled  = MatStencilTransferFilled(kc->grids[0].P);
  PC                     pc;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(smoother, &pc));
  PetscCall(PCRelaxSetCoarsened(pc, filled ? none : level->factor, level->origin, KCycleCoarseningRatio(kc, l)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Has the program, or an option, made smoothers before and after the coarser levels distinct? */
PetscErrorCode PCKCycleSmoothersAreDistinct(PC pc, PetscBool *distinct)
{
  PC_MG      *mg = (PC_MG *)pc->data;
  PC_KCycle  *kc = KCycleOf(pc);
  const char *prefix;

  PetscFunctionBegin;
  *distinct = (PetscBool)(kc->distinct || (kc->finer.exists && kc->finer.distinct));
  for (PetscInt l = 1; mg->levels && l < mg->nlevels && !*distinct; l++) {
    PetscCall(KSPGetOptionsPrefix(mg->levels[l]->smoothu, &prefix));
    if (prefix && mg->levels[l]->smoothu != mg->levels[l]->smoothd)
      PetscCall(PetscStrendswith(prefix, "_up_", distinct));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines, sweeps and operators of the smoothers of level l, 0 being the finest */
PetscErrorCode PCKCycleSetSmoothers(PC pc, PetscInt l)
{
  PC_KCycle       *kc        = KCycleOf(pc);
  KCycleGridLevel *level     = &kc->grids[l];
  const PetscInt   number    = kc->ngrids - 1 - l;
  PC_MG_Levels    *lv        = ((PC_MG *)pc->data)->levels[number];
  const KSP        solver[2] = {lv->smoothd, lv->smoothu};
  KCycleChoice    *choice    = kc->choice[number];

  PetscFunctionBegin;
  PetscCall(ChooseLines(kc, level));
  for (int i = 0; i < (solver[0] == solver[1] ? 1 : 2); i++) {
    PetscCall(PCKCycleNumberSolver(pc, solver[i], number + kc->gathered.below, KCycleLevelIsTheirs(kc, number)));
    if (!kc->ready) PetscCall(ChooseSmoother(kc, l, solver[i], &choice[i]));
    else if (choice[i].chose) PetscCall(RenewSweeps(kc, l, solver[i], &choice[i]));
    PetscCall(SetCoarsening(kc, l, solver[i]));
    PetscCall(KSPSetOperators(solver[i], level->A, level->A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sweeps of levels that are set up become those of a new solver */
PetscErrorCode PCKCycleRenewSweeps(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(PCKCycleSolversNotice(pc));
  for (PetscInt l = 0; l < kc->ngrids - 1; l++) {
    const PetscInt number    = kc->ngrids - 1 - l;
    const KSP      solver[2] = {mg->levels[number]->smoothd, mg->levels[number]->smoothu};
    KCycleChoice  *choice    = kc->choice[number];

    for (int i = 0; i < (solver[0] == solver[1] ? 1 : 2); i++) {
      if (choice[i].chose) PetscCall(RenewSweeps(kc, l, solver[i], &choice[i]));
    }
  }
  PetscCall(PCKCycleSolversKeep(pc));
  PetscCall(PCKCycleEngineSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}
