/*
  Structured levels of PCKCYCLE: the operator as a stencil, coarser grids of any size, interpolation without indices,
  Galerkin products that are stencils again. The cycle runs on them as on any levels of PCMG.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/coarsenimpl.h>
#include <petsckcycle/private/relaximpl.h>

const char *const PCKCycleStructuredTypes[] = {"auto", "on", "off", "PCKCycleStructuredType", "PC_KCYCLE_STRUCTURED_",
                                               NULL};
const char *const PCKCycleGridTypes[] = {"auto", "vertex", "interior", "cell", "PCKCycleGridType", "PC_KCYCLE_GRID_",
                                         NULL};

PetscErrorCode PCKCycleStructuredReset(PC_KCycle *kc)
{
  PetscFunctionBegin;
  PetscCall(PCKCycleFallbackReset(kc));
  PCKCycleSplitReset(kc);
  PetscCall(PCKCycleEngineReset(kc));
  PetscCall(PCKCycleBalanceReset(kc));
  /* an error may have left a level behind the last one */
  for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(kc->structure); l++) {
    PetscCall(MatDestroy(&kc->structure[l].A));
    PetscCall(MatDestroy(&kc->structure[l].P));
    PetscCall(DMDestroy(&kc->structure[l].dm));
  }
  PetscCall(PCKCycleGridsReset(kc));
  PetscCall(PCKCycleUnknownsReset(kc));
  PetscCall(MatDestroy(&kc->coarsest));
  for (int i = 0; i < 2; i++) {
    PetscCall(VecDestroy(&kc->host[i]));
    PetscCall(VecDestroy(&kc->gathered.there[i]));
  }
  PCKCycleGatheredForget(kc);
  kc->nstructured = 0;
  if (!kc->kappa_set) kc->kappa = 2; /* structured levels choose another */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver that was chosen here, and that nobody has changed since, is that of PCMG again; keep: but for its number of
   iterations */
static PetscErrorCode RestoreSolver(PC_MG *mg, const char prefix[], PetscInt l, KSP solver, PetscBool keep)
{
  PC        pc;
  PetscBool ours, sor, richardson;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(solver, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, l ? PCRELAX : PCTELESCOPE, &ours));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSOR, &sor));
  if (ours) PetscCall(PCSetType(pc, l ? PCSOR : PCREDUNDANT));
  if (ours && !l) {
    PetscCall(KSPSetOptionsPrefix(solver, prefix));
    PetscCall(KSPAppendOptionsPrefix(solver, "mg_coarse_"));
  }
  PetscCall(PetscObjectTypeCompare((PetscObject)solver, KSPRICHARDSON, &richardson));
  if (!l || (!ours && !sor) || !richardson) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPSetType(solver, KSPCHEBYSHEV));
  if (!keep) PetscCall(KSPSetTolerances(solver, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT, mg->default_smoothd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels are numbered from the coarsest of all, also where that is on fewer processes: options with the number of a
   level mean the same on any number of processes */
static PetscErrorCode NumberSolver(PC pc, KSP solver, PetscInt number, PetscBool theirs)
{
  const char levels[] = "mg_levels_", *before = ((PetscObject)pc)->prefix ? ((PetscObject)pc)->prefix : "", *own, *tail;
  char       prefix[256];
  size_t     len;
  PetscBool  begins = PETSC_FALSE, same;
  PC_KCycle *kc     = KCycleOf(pc);

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
  if (kc->ready && !theirs) PetscCall(KSPSetFromOptions(solver));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver of a level is as it was before there were structured levels, and estimates eigenvalues anew */
static PetscErrorCode RestoreLevel(PC pc, PetscInt l, int up)
{
  PC_MG     *mg     = (PC_MG *)pc->data;
  const KSP  solver = up ? mg->levels[l]->smoothu : mg->levels[l]->smoothd;
  PC_KCycle *kc     = KCycleOf(pc);

  PetscFunctionBegin;
  if (kc->choice[l][up].chose && (kc->nstructured || kc->ngrids))
    PetscCall(RestoreSolver(mg, ((PetscObject)pc)->prefix, l, solver, kc->choice[l][up].theirs[KCYCLE_ASPECT_SWEEPS]));
  kc->choice[l][up].chose = PETSC_FALSE;
  if (l && kc->nstructured) PetscCall(NumberSolver(pc, solver, l, PETSC_TRUE));
  PetscCall(PCKCycleEstimateAnew(solver));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coarsest solver has no grid any more: PCMG would make vectors of it */
static PetscErrorCode ForgetCoarsestGrid(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);
  KSP        coarse;

  PetscFunctionBegin;
  if (!kc->nstructured || !mg->levels) PetscFunctionReturn(PETSC_SUCCESS);
  coarse = mg->levels[0]->smoothd;
  if (coarse->dm != kc->structure[kc->nstructured - 1].dm) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMDestroy(&coarse->dm));
  PetscCall(PCSetDM(coarse->pc, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCGAMG made levels where nothing else could. The operator that comes may have a grid: PCMG again, but not where the
   PC is destroyed */
static PetscErrorCode LeaveGAMG(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (!kc->gamg || kc->hierarchy != PC_KCYCLE_HIERARCHY_AUTO || ((PetscObject)pc)->refct < 1)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCKCycleInherit(pc, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nothing is set up any more, and levels may be of another kind or number */
PetscErrorCode PCKCycleStructuredDrop(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if ((kc->nstructured || kc->ngrids > 1) && mg->galerkin == PC_MG_GALERKIN_EXTERNAL)
    PetscCall(PCMGSetGalerkin(pc, kc->galerkin_before));
  kc->ready = PETSC_FALSE;
  for (PetscInt l = 0; mg->levels && l < mg->nlevels; l++) {
    for (int up = 0; up < 2; up++) PetscCall(RestoreLevel(pc, l, up));
  }
  PetscCall(ForgetCoarsestGrid(pc));
  if (kc->apart.use && mg->levels && !kc->choice[0][0].theirs[KCYCLE_ASPECT_PC])
    PetscCall(PCKCycleUnknownsTake(pc, mg->levels[0]->smoothd));
  PetscCall(PCKCycleStructuredReset(kc));
  PetscCall((*kc->base.reset)(pc));
  PetscCall(PCKCycleSolversKeep(pc));
  PetscCall(LeaveGAMG(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCMG is given coarse operators from now on; what it was to do for them returns with PCKCycleStructuredDrop() */
PetscErrorCode PCKCycleGiveOperators(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (!kc->ready || mg->galerkin != PC_MG_GALERKIN_EXTERNAL) kc->galerkin_before = mg->galerkin;
  PetscCall(PCMGSetGalerkin(pc, PC_MG_GALERKIN_EXTERNAL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smoothers that work on stencils */
static PetscErrorCode SmootherFits(const char type[], PetscBool *fits)
{
  const char *const types[] = {PCRELAX, PCJACOBI, PCNONE};
  PetscInt          which;

  PetscFunctionBegin;
  PetscCall(PetscEListFind(PETSC_STATIC_ARRAY_LENGTH(types), types, type, &which, fits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do the smoothers' options ask for something that needs the entries of an ordinary matrix? */
static PetscErrorCode SmootherIsForeign(PC pc, PetscInt l, PetscBool *foreign)
{
  const char *const sor[] = {"-pc_sor_omega",           "-pc_sor_its",           "-pc_sor_lits",
                             "-pc_sor_symmetric",       "-pc_sor_forward",       "-pc_sor_backward",
                             "-pc_sor_local_symmetric", "-pc_sor_local_forward", "-pc_sor_local_backward"};
  const char       *pcprefix;
  char              prefix[256], type[64];
  PetscBool         given, fits;

  PetscFunctionBegin;
  *foreign = PETSC_FALSE;
  PetscCall(PCGetOptionsPrefix(pc, &pcprefix));
  PetscCall(PetscSNPrintf(prefix, sizeof(prefix), "%smg_levels_%" PetscInt_FMT "_", pcprefix ? pcprefix : "", l));
  PetscCall(PetscOptionsGetString(((PetscObject)pc)->options, prefix, "-pc_type", type, sizeof(type), &given));
  if (given) {
    PetscCall(SmootherFits(type, &fits));
    *foreign = (PetscBool)!fits;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(sor) && !*foreign; i++)
    PetscCall(PetscOptionsHasName(((PetscObject)pc)->options, prefix, sor[i], foreign));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smoothers that the program itself has chosen through PCMGGetSmoother() and that do not work on stencils */
static PetscErrorCode ProgramChoseSmoothers(PC pc, PetscBool *chose)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  *chose = PETSC_FALSE;
  for (PetscInt l = 1; mg->levels && l < mg->nlevels && !*chose; l++) {
    for (int up = 0; up < 2; up++) {
      const KSP smoother = up ? mg->levels[l]->smoothu : mg->levels[l]->smoothd;
      PetscBool fits     = PETSC_TRUE, free;

      if (((PetscObject)smoother->pc)->type_name)
        PetscCall(SmootherFits(((PetscObject)smoother->pc)->type_name, &fits));
      PetscCall(KCycleSmootherIsFree(smoother, &kc->choice[l][up], &free));
      *chose = (PetscBool)(*chose || (!fits && !free));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why levels cannot be structured, or nothing */
static PetscErrorCode WhyNot(PC pc, size_t len, char why[])
{
  PC_MG     *mg                                    = (PC_MG *)pc->data;
  PC_KCycle *kc                                    = KCycleOf(pc);
  PetscBool  yes                                   = PETSC_FALSE;
  PetscErrorCode (*compute)(KSP, Mat, Mat, void *) = NULL;

  PetscFunctionBegin;
  why[0] = 0;
  if (kc->levels_from != PC_KCYCLE_HIERARCHY_DM) {
    PetscCall(PetscSNPrintf(why, len, "levels do not come from a grid"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KCycleBoxCheck(pc->dm, KCYCLE_BOX_KERNELS, len, why));
  if (!why[0]) PetscCall(PCKCycleCheckRatio(pc, len, why));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  kc->assembled = (PetscBool)(kc->galerkin_none && mg->galerkin == PC_MG_GALERKIN_NONE);
  PetscCall(DMKSPGetComputeOperators(pc->dm, &compute, NULL));
  if (kc->assembled && !compute)
    PetscCall(
        PetscSNPrintf(why, len, "-pc_mg_galerkin none, and no KSPSetComputeOperators() assembles coarse operators"));
  if (!why[0]) PetscCall(PCKCycleCheckCoarse(pc, len, why));
  for (PetscInt l = 1; l < 32 && !why[0]; l++) {
    PetscCall(SmootherIsForeign(pc, l, &yes));
    if (yes) PetscCall(PetscSNPrintf(why, len, "the smoother of level %" PetscInt_FMT " needs an ordinary matrix", l));
  }
  if (!why[0]) PetscCall(ProgramChoseSmoothers(pc, &yes));
  if (!why[0] && yes) PetscCall(PetscSNPrintf(why, len, "the program chose smoothers that need an ordinary matrix"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator as a stencil. One that was made here before is renewed; the program's own, and one of a set-up that
   failed, which may be of another grid, are not */
static PetscErrorCode FindStencil(PC pc, size_t len, char why[])
{
  PC_KCycle       *kc = KCycleOf(pc);
  KCycleStructure *fine;
  PetscBool        is, fits, renew, moved;

  PetscFunctionBegin;
  PetscCall(PCKCycleBalanceUndo(kc));
  fine   = &kc->structure[0];
  why[0] = 0;
  renew  = (PetscBool)(kc->ready && fine->A && kc->source);
  PetscCall(MatStencilIs(pc->pmat, &is));
  if (is) PetscCall(PetscObjectReference((PetscObject)pc->pmat));
  if (is || !renew) PetscCall(MatDestroy(&fine->A));
  kc->source = 0;
  if (is) {
    fine->A = pc->pmat;
    PetscCall(MatStencilBring(fine->A)); /* set-up is on the host */
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  moved = (PetscBool)(kc->found.moved && pc->dm == kc->found.dm);
  if (moved && !kc->found.pads) PetscCall(PCKCyclePadsCreate(pc->pmat, pc->dm, &kc->found));
  PetscCall(MatStencilFromAIJ(pc->pmat, pc->dm, kc->finer.flat, moved, renew ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX,
                              &fine->A, &fits));
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &kc->source));
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &kc->source_state));
  if (!fits)
    PetscCall(PetscSNPrintf(why, len, "the operator is of type %s and has no form as a stencil on its grid",
                            ((PetscObject)pc->pmat)->type_name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Structured levels or not? The finest operator comes out as structure[0] */
PetscErrorCode PCKCycleStructuredChoose(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (kc->structured == PC_KCYCLE_STRUCTURED_OFF) {
    PetscCall(PetscSNPrintf(kc->general, sizeof(kc->general), "-pc_kcycle_structured off"));
    kc->use_structure = PETSC_FALSE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!kc->ready) PetscCall(WhyNot(pc, sizeof(kc->general), kc->general));
  else if (!kc->use_structure) PetscFunctionReturn(PETSC_SUCCESS);
  if (!kc->general[0]) PetscCall(FindStencil(pc, sizeof(kc->general), kc->general));
  if (!kc->general[0] && !kc->ready && kc->assembled)
    PetscCall(KCycleStructureCheckAssembled(pc, sizeof(kc->general), kc->general));
  if (kc->general[0] && kc->ready) PetscCall(PCKCycleStructuredDrop(pc));
  PetscCheck(!kc->general[0] || kc->structured != PC_KCYCLE_STRUCTURED_ON, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_SUP, "-pc_kcycle_structured on: levels cannot be structured: %s", kc->general);
  kc->use_structure = (PetscBool)!kc->general[0];
  if (kc->general[0]) PetscCall(PetscInfo(pc, "Levels are not structured: %s\n", kc->general));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All coarser levels go, the finest operator stays */
static PetscErrorCode ForgetCoarser(PC pc)
{
  PC_KCycle   *kc = KCycleOf(pc);
  Mat          A, plain;
  PetscScalar *d;

  PetscFunctionBegin;
  A         = kc->structure[0].A;
  plain     = kc->plain;
  d         = kc->d;
  kc->plain = NULL;
  kc->d     = NULL;
  PetscCall(PetscObjectReference((PetscObject)A));
  PetscCall(PCKCycleStructuredDrop(pc));
  kc->structure[0].A = A;
  kc->plain          = plain;
  kc->d              = d;
  PetscCall(PetscInfo(pc, "Other grids suit the new values: building structured levels anew\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coarsens until the grid is small, or as often as was asked for */
static PetscErrorCode BuildStructure(PC pc, PetscInt most)
{
  PC_KCycle *kc      = KCycleOf(pc);
  PetscBool  coarser = PETSC_TRUE, changed = PETSC_FALSE, asked, exists;

  PetscFunctionBegin;
  asked  = (PetscBool)(most < (PetscInt)PETSC_STATIC_ARRAY_LENGTH(kc->structure));
  exists = (PetscBool)(kc->nstructured > 0);
  for (PetscInt l = 0; exists && coarser && !changed && l < most - 1; l++)
    PetscCall(KCycleStructureCoarsen(pc, &kc->structure[l], asked, PETSC_TRUE, &coarser, &changed));
  if (changed) PetscCall(ForgetCoarser(pc));
  if (exists && !changed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectReference((PetscObject)pc->dm));
  kc->structure[0].dm = pc->dm;
  kc->nstructured     = 1;
  for (coarser = PETSC_TRUE; coarser && kc->nstructured < most; kc->nstructured += coarser)
    PetscCall(KCycleStructureCoarsen(pc, &kc->structure[kc->nstructured - 1], asked, PETSC_FALSE, &coarser, &changed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of points of the finest grid over that of a level */
static PetscInt Fewer(const PC_KCycle *kc, PetscInt l)
{
  PetscInt fewer = kc->finer.exists ? kc->finer.fewer : 1;

  for (PetscInt i = 0; i < l; i++)
    fewer *= kc->structure[i].factor[0] * kc->structure[i].factor[1] * kc->structure[i].factor[2];
  return fewer;
}

/* Sweeps of a smoother of level l, 0 being the finest. Where nobody has chosen what it relaxes, it gets to know the
   lines and planes */
static PetscErrorCode ChooseSweeps(PC_KCycle *kc, PetscInt l, KSP smoother, PetscInt *sweeps)
{
  KCycleStructure     *level = &kc->structure[l];
  const KCycleStencil *st    = KCycleStencilOf(level->A);
  KCycleSweepFacts     facts = {st->box->dim, st->shape.ncoeffs, Fewer(kc, l), kc->several,
                                PETSC_FALSE,  PETSC_FALSE,       kc->broken,   PCKCycleSweepsAsked(kc)};
  PC                   pc;
  PetscBool            given;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(smoother, &pc));
  PetscCall(KCycleStructureGiveLines(kc, level, pc, &given));
  facts.lines  = (PetscBool)(given && level->lines[0]);
  facts.planes = (PetscBool)(given && level->planes[0]);
  *sweeps      = KCyclePolicySweeps(&facts);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  PCMG's smoother is two iterations of Chebyshev with SOR; where nobody chose another it becomes sweeps of PCRELAX, or
  Chebyshev with Jacobi where Chebyshev was asked for. Another KSP or number of iterations was chosen by the program
*/
static PetscErrorCode ChooseSmoother(PC_KCycle *kc, PetscInt l, KSP smoother, KCycleChoice *choice, PetscInt *sweeps)
{
  PC        relax;
  PetscBool untouched, chebyshev, given, counted, ours = PETSC_TRUE, richardson;
  PetscInt  its;
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
  PetscCall(ChooseSweeps(kc, l, smoother, sweeps));
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
  if (choice->sweeps) PetscCall(KSPSetTolerances(smoother, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT, *sweeps));
  if (!richardson) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPSetType(smoother, KSPRICHARDSON));
  PetscCall(KCycleKSPDelayWork(smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of sweeps that was chosen for other values of the operator becomes the one that suits them now */
static PetscErrorCode RenewSweeps(PC_KCycle *kc, PetscInt l, KSP smoother, const KCycleChoice *choice, PetscInt *sweeps)
{
  PetscFunctionBegin;
  PetscCall(ChooseSweeps(kc, l, smoother, sweeps));
  if (choice->sweeps && !choice->theirs[KCYCLE_ASPECT_SWEEPS])
    PetscCall(KSPSetTolerances(smoother, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT, *sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coarsest operator goes to PETSc's solvers as an ordinary matrix, with its grid */
static PetscErrorCode GiveCoarsest(PC pc, const KCycleStructure *level)
{
  PC_MG     *mg     = (PC_MG *)pc->data;
  KSP        coarse = mg->levels[0]->smoothd;
  PC_KCycle *kc     = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(MatConvert(level->A, MATAIJ, kc->coarsest ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, &kc->coarsest));
  PetscCall(KSPSetOperators(coarse, kc->coarsest, kc->coarsest));
  if (!kc->ready) {
    PetscCall(DMSetUp(level->dm)); /* of a grid found in the matrix that is the only level */
    PetscCall(KSPSetDM(coarse, level->dm));
    PetscCall(KCycleKSPSetDMInactive(coarse));
    PetscCall(PCKCycleGather(pc));
  }
  PetscCall(PCKCycleGatheredSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShowVectors(PC_KCycle *kc, KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)kc->host[0]));
  PetscCall(VecDestroy(&ksp->vec_rhs));
  ksp->vec_rhs = kc->host[0];
  PetscCall(PetscObjectReference((PetscObject)kc->host[1]));
  PetscCall(VecDestroy(&ksp->vec_sol));
  ksp->vec_sol = kc->host[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The finest level works on the host, on vectors that borrow the arrays of the solver's right side and solution, which
  may be on a device. Its smoothers and PCMG see them before they make theirs (KSPCreateVecs()), and do not take such as
  the grid makes
*/
static PetscErrorCode CreateHostVectors(PC pc)
{
  PC_MG_Levels  *fine = ((PC_MG *)pc->data)->levels[((PC_MG *)pc->data)->nlevels - 1];
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PC_KCycle     *kc   = KCycleOf(pc);
  PetscInt       n;
  PetscMPIInt    size;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(kc->structure[0].A, &n, NULL));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  for (int i = 0; i < 2 && !kc->host[i]; i++) {
    if (size == 1) PetscCall(VecCreateSeqWithArray(comm, 1, n, NULL, &kc->host[i]));
    else PetscCall(VecCreateMPIWithArray(comm, 1, n, PETSC_DECIDE, NULL, &kc->host[i]));
  }
  PetscCall(ShowVectors(kc, fine->smoothd));
  PetscCall(ShowVectors(kc, fine->smoothu));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smoothers of PCRELAX get to know how the level is coarsened, for the clusters that they leave to the coarser grid.
   Not where points that were coupled to nobody have tiny couplings there, the only ones of many a cluster */
static PetscErrorCode GiveCoarsening(const PC_KCycle *kc, PetscInt l, KSP smoother)
{
  const KCycleStructure *level   = &kc->structure[l];
  const PetscInt         none[3] = {0, 0, 0};
  const PetscBool        filled  = MatStencilTransferFilled(kc->structure[0].P);
  PC                     pc;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(smoother, &pc));
  PetscCall(PCRelaxSetCoarsened(pc, filled ? none : level->factor, level->origin, Fewer(kc, l)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do cycles come to coarser levels more than once? Sweeps depend on it, and stay while kappa is tried */
static PetscBool ComeAgain(const PC_KCycle *kc)
{
  return kc->finer.exists ? kc->finer.several : (PetscBool)(kc->kappa > 1 && !kc->automatic.wanted);
}

/* Kappa, where nobody has chosen it. What the finest level relaxes is known when it has its smoothers */
static void ChooseKappa(PC_KCycle *kc, const char planes[])
{
  if (!kc->kappa_set && kc->finer.exists) kc->kappa = kc->finer.kappa;
  else if (!kc->kappa_set)
    kc->kappa = KCyclePolicyKappa(kc->convects, (PetscBool)(planes[0] != 0), kc->structure[0].factor);
  kc->several = ComeAgain(kc);
}

/* Sweeps of levels that are set up become those of a new solver */
PetscErrorCode PCKCycleRenewSweeps(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(PCKCycleSolversNotice(pc));
  for (PetscInt l = 0; l < kc->nstructured - 1; l++) {
    const PetscInt number    = kc->nstructured - 1 - l;
    const KSP      solver[2] = {mg->levels[number]->smoothd, mg->levels[number]->smoothu};
    KCycleChoice  *choice    = kc->choice[number];

    for (int i = 0; i < (solver[0] == solver[1] ? 1 : 2); i++) {
      if (choice[i].chose) PetscCall(RenewSweeps(kc, l, solver[i], &choice[i], &kc->structure[l].sweeps[i]));
    }
  }
  PetscCall(PCKCycleSolversKeep(pc));
  PetscCall(PCKCycleEngineSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where kappa has changed */
PetscErrorCode PCKCycleFollowKappa(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (!kc->ready || !kc->use_structure || kc->several == ComeAgain(kc)) PetscFunctionReturn(PETSC_SUCCESS);
  kc->several = ComeAgain(kc);
  PetscCall(PCKCycleRenewSweeps(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Hands operators, interpolations and smoothers to PCMG, whose finest level is the last */
static PetscErrorCode GiveLevels(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(PCKCycleGiveOperators(pc));
  PetscCall(CreateHostVectors(pc));
  PetscCall(GiveCoarsest(pc, &kc->structure[kc->nstructured - 1]));
  ChooseKappa(kc, "");
  for (PetscInt l = 0; l < kc->nstructured - 1; l++) {
    const PetscInt   number    = kc->nstructured - 1 - l;
    KCycleStructure *level     = &kc->structure[l];
    KCycleChoice    *choice    = kc->choice[number];
    KSP              solver[2] = {mg->levels[number]->smoothd, mg->levels[number]->smoothu};

    PetscCall(PCMGSetInterpolation(pc, number, level->P));
    PetscCall(KCycleStructureChooseLines(kc, level));
    for (int i = 0; i < (solver[0] == solver[1] ? 1 : 2); i++) {
      PetscCall(NumberSolver(pc, solver[i], number + kc->gathered.below, KCycleLevelIsTheirs(kc, number)));
      if (!kc->ready) PetscCall(ChooseSmoother(kc, l, solver[i], &choice[i], &level->sweeps[i]));
      else if (choice[i].chose) PetscCall(RenewSweeps(kc, l, solver[i], &choice[i], &level->sweeps[i]));
      PetscCall(GiveCoarsening(kc, l, solver[i]));
      PetscCall(KSPSetOperators(solver[i], level->A, level->A));
    }
    if (l == 0) ChooseKappa(kc, level->planes);
  }
  PetscCall(PCKCycleGatheredFollow(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of points of the finest grid over that of the coarsest one */
PetscInt PCKCycleFewer(const PC_KCycle *kc)
{
  return kc->nstructured ? Fewer(kc, kc->nstructured - 1) : 1;
}

/* Has the program changed the smoother of a level? Another number of levels would lose it */
PetscBool KCycleLevelsAreTheirs(const PC_KCycle *kc)
{
  PetscBool theirs = PETSC_FALSE;

  for (PetscInt l = 1; l < kc->nchoices; l++) theirs = (PetscBool)(theirs || KCycleLevelIsTheirs(kc, l));
  return theirs;
}

/* The number of levels that options or program ask for, or 0 */
PetscErrorCode PCKCycleLevelsAsked(PC pc, PetscInt *asked)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  *asked = kc->finer.exists ? kc->finer.wanted : kc->nlevels_option;
  if (kc->finer.exists || *asked) PetscFunctionReturn(PETSC_SUCCESS);
  if (mg->levels && mg->nlevels != kc->nlevels_chosen) *asked = mg->nlevels;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same, or that of the levels whose solvers the program has chosen, or as many as there are */
PetscErrorCode PCKCycleLevelsWanted(PC pc, PetscInt *wanted)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(PCKCycleLevelsAsked(pc, wanted));
  if (!*wanted && KCycleLevelsAreTheirs(kc)) *wanted = ((PC_MG *)pc->data)->nlevels;
  if (!*wanted) *wanted = kc->nlevels_asked ? kc->nlevels_asked : (PetscInt)PETSC_STATIC_ARRAY_LENGTH(kc->structure);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Set-up has found so many levels, where so many were wanted. Smoothers that the program has chosen would be lost with
  another number: only there that is an error
*/
PetscErrorCode PCKCycleUseLevels(PC pc, PetscInt nlevels, PetscInt wanted)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  kc->nlevels_asked = wanted < (PetscInt)PETSC_STATIC_ARRAY_LENGTH(kc->structure) && wanted > nlevels ? wanted : 0;
  if (kc->nlevels_asked)
    PetscCall(PetscInfo(pc, "%" PetscInt_FMT " levels are wanted, the grid has %" PetscInt_FMT "\n", wanted, nlevels));
  if (nlevels == mg->nlevels) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!KCycleLevelsAreTheirs(kc), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "The program has chosen solvers on %" PetscInt_FMT " levels, and this grid has %" PetscInt_FMT
             ": choose them after PCSetUp(), or call PCMGSetLevels() with fewer levels",
             mg->nlevels, nlevels);
  kc->nlevels_chosen = nlevels;
  kc->choosing       = PETSC_TRUE;
  PetscCall(PCMGSetLevels(pc, nlevels, NULL));
  kc->choosing = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* More levels than structured ones were asked for by number, and the DM has them: then levels are those of the DM,
   unless structured ones were asked for by name */
static PetscErrorCode LeaveToDM(PC pc, PetscInt wanted)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscInt   most, chosen, built;
  PetscBool  stencil;

  PetscFunctionBegin;
  built = kc->nstructured;
  if (kc->ready || kc->finer.exists || wanted <= built || kc->structured == PC_KCYCLE_STRUCTURED_ON ||
      kc->structure[built - 1].gathers != KCYCLE_GATHERS_NOT)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStencilIs(pc->pmat, &stencil));
  PetscCall(KCycleDMCountLevels(pc->dm, &most, &chosen));
  if (stencil || pc->dm == kc->found.dm || wanted > most) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCKCycleStructuredDrop(pc));
  kc->use_structure = PETSC_FALSE;
  PetscCall(PetscSNPrintf(kc->general, sizeof(kc->general),
                          "%" PetscInt_FMT " levels were asked for, and there would be %" PetscInt_FMT, wanted, built));
  PetscCall(PetscInfo(pc, "Levels are not structured: %s\n", kc->general));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Builds the levels, or renews their values. Afterwards levels may not be structured any more */
PetscErrorCode PCKCycleStructuredSetUp(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscInt   wanted;

  PetscFunctionBegin;
  PetscCall(PCKCycleLevelsWanted(pc, &wanted));
  PetscCall(PCKCycleFixLevels(pc));
  PetscCall(BuildStructure(pc, wanted));
  PetscCall(LeaveToDM(pc, wanted));
  if (!kc->use_structure) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCKCycleUseLevels(pc, kc->nstructured, wanted));
  PetscCall(GiveLevels(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Has the program, or an option, made smoothers before and behind the coarser levels distinct? */
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

/* The number of vectors that span the operator's null space */
static PetscErrorCode CountKernel(PC pc, PetscInt *nullity)
{
  PC_KCycle   *kc = KCycleOf(pc);
  MatNullSpace nullspace;
  PetscBool    constant;

  PetscFunctionBegin;
  *nullity = 1;
  if (kc->finer.exists) *nullity = kc->finer.nullity;
  if (kc->finer.exists) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetNullSpace(pc->pmat, &nullspace));
  if (!nullspace) PetscCall(MatGetNullSpace(pc->mat, &nullspace));
  if (!nullspace) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatNullSpaceGetVecs(nullspace, &constant, nullity, NULL));
  *nullity += constant;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What was found on these levels, for those of the solver that goes on with their coarsest grid */
PetscErrorCode PCKCycleStructuredHandOn(PC pc, PC solver)
{
  PC_KCycle             *kc = KCycleOf(pc), *inner = KCycleOf(solver);
  KCycleFiner           *finer;
  PetscInt               asked;
  const KCycleStructure *level = &kc->structure[kc->nstructured - 1];

  PetscFunctionBegin;
  finer = &inner->finer;
  PetscCall(PetscArraycpy(&finer->boundary[0][0], &level->boundary[0][0], 6));
  PetscCall(PCKCycleLevelsWanted(pc, &asked));
  if (asked == (PetscInt)PETSC_STATIC_ARRAY_LENGTH(kc->structure)) asked = 0;
  finer->exists            = PETSC_TRUE;
  finer->fewer             = Fewer(kc, kc->nstructured - 1);
  finer->nlevels           = kc->nstructured - 1 + (kc->finer.exists ? kc->finer.nlevels : 0);
  finer->wanted            = level->gathers == KCYCLE_GATHERS_LARGE ? 1 : PetscMax(asked - kc->nstructured + 1, 0);
  finer->walls             = kc->walls;
  finer->holes             = kc->holes;
  finer->convects          = kc->convects;
  finer->broken            = kc->broken;
  finer->several           = kc->several;
  finer->sweeps            = PCKCycleSweepsAsked(kc);
  finer->flat              = KCycleStencilOf(level->A)->shape.flat;
  finer->kappa             = kc->kappa;
  finer->kernel            = kc->kernel;
  finer->kernel_constant   = kc->kernel_constant;
  inner->precision         = inner->ready ? inner->precision : kc->precision;
  inner->count             = kc->count;
  inner->profiling.wanted  = kc->profiling.wanted;
  inner->fmg.interpolation = kc->fmg.interpolation;
  inner->fmg.monitor       = kc->fmg.monitor;
  PetscCall(CountKernel(pc, &finer->nullity));
  PetscCall(PCKCycleSmoothersAreDistinct(pc, &finer->distinct));
  PetscFunctionReturn(PETSC_SUCCESS);
}
