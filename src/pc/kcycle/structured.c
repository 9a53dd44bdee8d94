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

PetscErrorCode PCKCycleGridsReset(PC_KCycle *kc)
{
  PetscFunctionBegin;
  for (PetscInt l = 0; l < KCYCLE_MAX_LEVELS; l++) { /* an error may have left a level after the last one */
    KCycleGridLevel *level = &kc->grids[l];

    PetscCall(KCycleMeshDestroy(&level->mesh));
    PetscCall(MatDestroy(&level->A));
    PetscCall(MatDestroy(&level->P));
    PetscCall(DMDestroy(&level->dm));
    PetscCall(PetscFree(level->single));
  }
  PetscCall(PetscArrayzero(kc->grids, KCYCLE_MAX_LEVELS));
  kc->ngrids    = 0;
  kc->use_grids = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCKCycleLevelsReset(PC_KCycle *kc)
{
  PetscFunctionBegin;
  PetscCall(PCKCycleFallbackReset(kc));
  PCKCycleSplitReset(kc);
  PetscCall(PCKCycleEngineReset(kc));
  PetscCall(PCKCycleBalanceReset(kc));
  PetscCall(PCKCycleGridsReset(kc));
  kc->unknowns.use   = PETSC_FALSE;
  kc->unknowns.tried = 0; /* what a trial has shown stays for the next set-up */
  PetscCall(VecDestroy(&kc->unknowns.image));
  PetscCall(MatDestroy(&kc->coarsest));
  for (int i = 0; i < 2; i++) {
    PetscCall(VecDestroy(&kc->host[i]));
    PetscCall(VecDestroy(&kc->gathered.vec[i]));
  }
  PCKCycleGatheredForget(kc);
  if (!kc->kappa_set) kc->kappa = 2; /* structured levels choose another */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver that was chosen here, and not changed since, is that of PCMG again; keep: but for its number of
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

/* A solver of a level is as it was before there were structured levels, and estimates eigenvalues anew */
static PetscErrorCode RestoreLevel(PC pc, PetscInt l, int up)
{
  PC_MG     *mg     = (PC_MG *)pc->data;
  const KSP  solver = up ? mg->levels[l]->smoothu : mg->levels[l]->smoothd;
  PC_KCycle *kc     = KCycleOf(pc);

  PetscFunctionBegin;
  if (kc->choice[l][up].chose && kc->ngrids)
    PetscCall(RestoreSolver(mg, ((PetscObject)pc)->prefix, l, solver, kc->choice[l][up].theirs[KCYCLE_ASPECT_SWEEPS]));
  kc->choice[l][up].chose = PETSC_FALSE;
  if (l && kc->ngrids) PetscCall(PCKCycleNumberSolver(pc, solver, l, PETSC_TRUE));
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
  if (!kc->ngrids || !kc->grids[0].dm || !mg->levels) PetscFunctionReturn(PETSC_SUCCESS);
  coarse = mg->levels[0]->smoothd;
  if (coarse->dm != KCycleGridOf(kc, 0)->dm) PetscFunctionReturn(PETSC_SUCCESS);
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
PetscErrorCode PCKCycleLevelsDrop(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (kc->ngrids > (kc->use_grids ? 1 : 0) && mg->galerkin == PC_MG_GALERKIN_EXTERNAL)
    PetscCall(PCMGSetGalerkin(pc, kc->galerkin_before));
  kc->ready = PETSC_FALSE;
  for (PetscInt l = 0; mg->levels && l < mg->nlevels; l++) {
    for (int up = 0; up < 2; up++) PetscCall(RestoreLevel(pc, l, up));
  }
  PetscCall(ForgetCoarsestGrid(pc));
  if (kc->unknowns.use && mg->levels && !kc->choice[0][0].theirs[KCYCLE_ASPECT_PC])
    PetscCall(PCKCycleUnknownsRemove(pc, mg->levels[0]->smoothd));
  PetscCall(PCKCycleLevelsReset(kc));
  PetscCall((*kc->base.reset)(pc));
  PetscCall(PCKCycleSolversKeep(pc));
  PetscCall(LeaveGAMG(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCMG is given coarse operators from now on; what it was to do for them returns with PCKCycleLevelsDrop() */
PetscErrorCode PCKCycleMakeOperators(PC pc)
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
  kc->assembled = (PetscBool)(kc->galerkin_none && ((PC_MG *)pc->data)->galerkin == PC_MG_GALERKIN_NONE);
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
  KCycleGridLevel *fine;
  PetscBool        is, fits, renew, moved;

  PetscFunctionBegin;
  PetscCall(PCKCycleBalanceUndo(kc));
  fine   = &kc->grids[0];
  why[0] = 0;
  renew  = (PetscBool)(kc->ready && fine->A && kc->source);
  PetscCall(MatStencilIs(pc->pmat, &is));
  if (is) PetscCall(PetscObjectReference((PetscObject)pc->pmat));
  if (is || !renew) PetscCall(MatDestroy(&fine->A));
  kc->source = 0;
  if (is) {
    fine->A = pc->pmat;
    PetscCall(MatStencilCopyToHost(fine->A)); /* set-up is on the host */
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  moved = (PetscBool)(kc->found.moved && pc->dm == kc->found.dm);
  if (moved && !kc->found.ghostrows) PetscCall(PCKCycleGhostRowsCreate(pc->pmat, pc->dm, &kc->found));
  PetscCall(MatStencilFromAIJ(pc->pmat, pc->dm, kc->finer.flat, moved, renew ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX,
                              &fine->A, &fits));
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &kc->source));
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &kc->source_state));
  if (!fits)
    PetscCall(PetscSNPrintf(why, len, "the operator is of type %s and has no form as a stencil on its grid",
                            ((PetscObject)pc->pmat)->type_name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Structured levels or not? The finest operator comes out as grids[0].A */
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
  if (kc->general[0] && kc->ready) PetscCall(PCKCycleLevelsDrop(pc));
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
  A         = kc->grids[0].A;
  plain     = kc->plain;
  d         = kc->d;
  kc->plain = NULL;
  kc->d     = NULL;
  PetscCall(PetscObjectReference((PetscObject)A));
  PetscCall(PCKCycleLevelsDrop(pc));
  kc->grids[0].A = A;
  kc->plain      = plain;
  kc->d          = d;
  PetscCall(PetscInfo(pc, "Other grids suit the new values: building levels anew\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coarsens until the grid is small, or as often as was asked for, or renews the values of levels that exist */
PetscErrorCode PCKCycleBuildLevels(PC pc, PetscInt most, KCycleCoarsen *coarsen)
{
  const PetscBool asked   = (PetscBool)(most < KCYCLE_MAX_LEVELS);
  PC_KCycle      *kc      = KCycleOf(pc);
  PetscBool       coarser = PETSC_TRUE, changed = PETSC_FALSE, exist;

  PetscFunctionBegin;
  exist = (PetscBool)(kc->ngrids > 0);
  for (PetscInt l = 0; exist && coarser && !changed && l < most - 1; l++)
    PetscCall((*coarsen)(pc, &kc->grids[l], asked, PETSC_TRUE, &coarser, &changed));
  if (changed) PetscCall(ForgetCoarser(pc));
  if (exist && !changed) PetscFunctionReturn(PETSC_SUCCESS);
  if (kc->use_structure) {
    PetscCall(PetscObjectReference((PetscObject)pc->dm));
    kc->grids[0].dm = pc->dm;
  } else PetscCall(KCycleMeshCreate(pc->dm, &kc->grids[0].mesh));
  kc->ngrids = 1;
  for (coarser = PETSC_TRUE; coarser && kc->ngrids < most; kc->ngrids += coarser)
    PetscCall((*coarsen)(pc, KCycleGridOf(kc, 0), asked, PETSC_FALSE, &coarser, &changed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coarsest operator goes to PETSc's solvers as an ordinary matrix, with its grid */
static PetscErrorCode SetCoarsest(PC pc, const KCycleGridLevel *level)
{
  KSP        coarse = ((PC_MG *)pc->data)->levels[0]->smoothd;
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
  The finest level works on the host, on vectors that use the arrays of the solver's right side and solution, which
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
  PetscCall(MatGetLocalSize(kc->grids[0].A, &n, NULL));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  for (int i = 0; i < 2 && !kc->host[i]; i++) {
    if (size == 1) PetscCall(VecCreateSeqWithArray(comm, 1, n, NULL, &kc->host[i]));
    else PetscCall(VecCreateMPIWithArray(comm, 1, n, PETSC_DECIDE, NULL, &kc->host[i]));
  }
  PetscCall(ShowVectors(kc, fine->smoothd));
  PetscCall(ShowVectors(kc, fine->smoothu));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Hands operators, interpolations and smoothers to PCMG, whose finest level is the last */
static PetscErrorCode SetLevels(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(PCKCycleMakeOperators(pc));
  PetscCall(CreateHostVectors(pc));
  PetscCall(SetCoarsest(pc, KCycleGridOf(kc, 0)));
  PCKCycleChooseKappa(kc, "");
  for (PetscInt l = 0; l < kc->ngrids - 1; l++) {
    const PetscInt   number = kc->ngrids - 1 - l;
    KCycleGridLevel *level  = &kc->grids[l];

    PetscCall(PCMGSetInterpolation(pc, number, level->P));
    PetscCall(PCKCycleSetSmoothers(pc, l));
    if (l == 0) PCKCycleChooseKappa(kc, level->planes);
  }
  PetscCall(PCKCycleGatheredFollow(pc));
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
  built = kc->ngrids;
  if (kc->ready || kc->finer.exists || wanted <= built || kc->structured == PC_KCYCLE_STRUCTURED_ON ||
      kc->grids[built - 1].gathers != KCYCLE_GATHERS_NOT)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStencilIs(pc->pmat, &stencil));
  PetscCall(KCycleDMCountLevels(pc->dm, &most, &chosen));
  if (stencil || pc->dm == kc->found.dm || wanted > most) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCKCycleLevelsDrop(pc));
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
  PetscCall(PCKCycleBuildLevels(pc, wanted, KCycleStructureCoarsen));
  PetscCall(LeaveToDM(pc, wanted));
  if (!kc->use_structure) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCKCycleUseLevels(pc, kc->ngrids, wanted));
  PetscCall(SetLevels(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}
