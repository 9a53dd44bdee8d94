/*
  Agglomeration: levels with few points on each process are agglomerated, in the end on one.

  The coarsest level of a PCKCYCLE is then gathered by PCTELESCOPE, which makes a communicator of some of the processes
  and gives them grid and operator, and an inner PCKCYCLE has the levels from that grid on. The cycle passes from one to
  the other with its right side, its iterate and its kappa, so that it is the cycle of all levels together: the numbers
  are those of one process. The inner one is told what was found on the finer levels, and follows their options.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/stencilimpl.h>
#include <petsckcycle/private/coarsenimpl.h>

/* Names of what is composed with the PCTELESCOPE: of each process, right side and solution at the points that it has of
   agglomerated levels, if any, and the scatter to them */
static const char *const Here[2]   = {"PCKCycleGatherRightSide", "PCKCycleGatherSolution"};
static const char        Scatter[] = "PCKCycleGatherScatter";

/* and its own PCSetFromOptions() */
static const char OwnOptions[] = "PCKCycleGatherOwnOptions_C";

/* Has the program, or an option, chosen the solver of the coarsest level? */
static PetscErrorCode CoarseIsChosen(PC pc, PetscBool *chosen)
{
  PC_MG    *mg = (PC_MG *)pc->data;
  PetscBool preonly, standard;
  PC        solver;

  PetscFunctionBegin;
  *chosen = KCycleLevelIsTheirs(KCycleOf(pc), 0);
  if (*chosen || !mg->levels || mg->nlevels == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetPC(mg->levels[0]->smoothd, &solver));
  PetscCall(PetscObjectTypeCompare((PetscObject)mg->levels[0]->smoothd, KSPPREONLY, &preonly));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)solver, &standard, PCREDUNDANT, PCTELESCOPE, ""));
  *chosen = (PetscBool)(!preonly || !standard);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Levels whose number or solvers the program has chosen it may look for on all processes, as those of operators that it
  assembles. Where a number was asked for that the DM has, too, it is to be seen whether structured levels are as many
*/
PetscErrorCode PCKCycleFixLevels(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscInt   asked, most, chosen;
  PetscBool  given, yes = PETSC_FALSE, stencil;

  PetscFunctionBegin;
  if (kc->ready || kc->finer.exists || kc->nlevels_fixed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCKCycleLevelsAsked(pc, &asked));
  given = (PetscBool)(kc->nlevels_option > 0);
  PetscCall(MatStencilIs(pc->pmat, &stencil));
  if (given && !stencil && pc->dm != kc->found.dm && kc->structured != PC_KCYCLE_STRUCTURED_ON) {
    PetscCall(KCycleDMCountLevels(pc->dm, &most, &chosen));
    yes = (PetscBool)(asked <= most);
  }
  if (!kc->levels_used && KCycleLevelsAreTheirs(kc)) yes = PETSC_TRUE;
  kc->nlevels_fixed = (PetscBool)(yes || kc->assembled || (asked && !given));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* May levels be agglomerated? PCTELESCOPE does not know grids of one dimension, where a direct solver takes no
   more than a sweep */
PetscErrorCode PCKCycleMayGather(PC pc, PetscBool *may)
{
  PC_KCycle  *kc = KCycleOf(pc);
  PetscMPIInt size;
  PetscBool   chosen;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  PetscCall(CoarseIsChosen(pc, &chosen));
  *may = (PetscBool)(size > 1 && !chosen && !kc->nlevels_fixed && KCycleStencilOf(kc->grids[0].A)->box->dim > 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where levels are agglomerated already, the next ones are on one process if the factor is larger than the number of
   processes, which PCTELESCOPE takes for an error: options are those of the first agglomeration */
static PetscErrorCode PCSetFromOptions_Gathered(PC gather, KCycleOptionItems PetscOptionsObject)
{
  const char  *prefix = ((PetscObject)gather)->prefix, *factor = "-pc_telescope_reduction_factor";
  PetscOptions options = ((PetscObject)gather)->options;
  PetscErrorCode (*own)(PC, KCycleOptionItems), ierr;
  char        name[256], given[64], all[64];
  PetscInt    number = 0;
  PetscMPIInt size;
  PetscBool   has;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)gather, OwnOptions, &own));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)gather), &size));
  PetscCall(PetscOptionsGetInt(options, prefix, factor, &number, NULL));
  if (number <= size) {
    PetscCall((*own)(gather, PetscOptionsObject));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscSNPrintf(name, sizeof(name), "-%s%s", prefix, factor + 1));
  PetscCall(PetscSNPrintf(all, sizeof(all), "%d", size));
  PetscCall(PetscOptionsGetString(options, NULL, name, given, sizeof(given), NULL));
  PetscCall(PetscOptionsSetValue(options, name, all));
  ierr = (*own)(gather, PetscOptionsObject);
  PetscCall(PetscOptionsSetValue(options, name, given));
  PetscCall(PetscOptionsHasName(options, NULL, name, &has)); /* so that it counts as used */
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Is the coarsest grid to be gathered? Where levels have stopped for it, and where it is too large for a direct solver
  on every process. The options of the PCTELESCOPE begin with mg_gather_; those of the coarsest solver are for the one
  below the last level
*/
PetscErrorCode PCKCycleGather(PC pc)
{
  const char *const types[] = {"-pc_type", "-redundant_pc_type"};
  KSP               coarse  = ((PC_MG *)pc->data)->levels[0]->smoothd;
  PC_KCycle        *kc      = KCycleOf(pc);
  PC                gather;
  PetscInt          rows, dim, factor;
  PetscMPIInt       size;
  PetscBool         given, standard;
  KCycleGridLevel  *level = KCycleGridOf(kc, 0);

  PetscFunctionBegin;
  dim = KCycleStencilOf(level->A)->box->dim;
  PetscCall(MatGetSize(level->A, &rows, NULL));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  PetscCall(KSPGetPC(coarse, &gather));
  PetscCall(PetscObjectTypeCompare((PetscObject)gather, PCREDUNDANT, &standard));
  PetscCall(KCycleHasOption((PetscObject)coarse, PETSC_STATIC_ARRAY_LENGTH(types), types, &given));
  if (KCycleLevelIsTheirs(kc, 0)) given = PETSC_TRUE;
  if (level->gathers == KCYCLE_GATHERS_NOT && standard && !given && dim > 1 && size > 1 && rows > KCYCLE_MAX_REPLICATED)
    level->gathers = KCYCLE_GATHERS_LARGE;
  if (level->gathers == KCYCLE_GATHERS_NOT) PetscFunctionReturn(PETSC_SUCCESS);
  kc->choice[0][0].chose = PETSC_TRUE;
  factor                 = level->gathers == KCYCLE_GATHERS_LARGE ? size : KCyclePolicyReduction(rows, size);
  PetscCall(PCSetType(gather, PCTELESCOPE));
  PetscCall(PCTelescopeSetIgnoreKSPComputeOperators(gather, PETSC_TRUE)); /* it is to gather the matrix */
  PetscCall(PCTelescopeSetReductionFactor(gather, factor));
  PetscCall(KSPSetOptionsPrefix(coarse, ((PetscObject)pc)->prefix));
  PetscCall(KSPAppendOptionsPrefix(coarse, "mg_gather_"));
  if (!kc->finer.exists) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectComposeFunction((PetscObject)gather, OwnOptions, gather->ops->setfromoptions));
  gather->ops->setfromoptions = PCSetFromOptions_Gathered;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On processes of agglomerated levels: a vector on their communicator that has the numbers of the one here */
static PetscErrorCode CreateGatheredVector(KSP inner, Vec here, Vec *moved)
{
  Mat          A;
  PetscInt     m, M;
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(KSPGetOperators(inner, &A, NULL));
  PetscCall(MatGetSize(A, &M, NULL));
  PetscCall(VecGetLocalSize(here, &m));
  PetscCall(VecGetArray(here, &a));
  PetscCall(VecCreateMPIWithArray(PetscObjectComm((PetscObject)inner), 1, m, M, a, moved));
  PetscCall(VecRestoreArray(here, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateVectors(PC_KCycle *kc, PC gather, KSP inner, IS rows, Vec all)
{
  VecScatter scatter;
  Vec        here;
  PetscInt   m;

  PetscFunctionBegin;
  PetscCall(ISGetLocalSize(rows, &m));
  for (int i = 0; i < 2; i++) {
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, m, &here));
    PetscCall(VecDestroy(&kc->gathered.vec[i]));
    if (inner) PetscCall(CreateGatheredVector(inner, here, &kc->gathered.vec[i]));
    if (i == 0) {
      PetscCall(VecScatterCreate(all, rows, here, NULL, &scatter));
      PetscCall(PetscObjectCompose((PetscObject)gather, Scatter, (PetscObject)scatter));
      PetscCall(VecScatterDestroy(&scatter));
    }
    PetscCall(PetscObjectCompose((PetscObject)gather, Here[i], (PetscObject)here));
    PetscCall(VecDestroy(&here));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The points that this process has of agglomerated levels, in the order of its new box of the grid. Their rows follow
   from the box alone: an AO would have those of all processes on each */
static PetscErrorCode PrepareScatter(PC_KCycle *kc, KSP inner, PC gather)
{
  const KCycleGridLevel *level = KCycleGridOf(kc, 0);
  const KCycleBox       *box   = KCycleStencilOf(level->A)->box;
  DM                     part;
  Vec                    all;
  IS                     rows;
  PetscInt               s[3] = {0, 0, 0}, n[3] = {0, 0, 0}, *row, m = 0, at[3];

  PetscFunctionBegin;
  if (inner) {
    PetscCall(KSPGetDM(inner, &part));
    PetscCall(DMDAGetCorners(part, &s[0], &s[1], &s[2], &n[0], &n[1], &n[2]));
  }
  PetscCall(PetscMalloc1(n[0] * n[1] * n[2], &row));
  for (at[2] = s[2]; at[2] < s[2] + n[2]; at[2]++) {
    for (at[1] = s[1]; at[1] < s[1] + n[1]; at[1]++) {
      for (at[0] = s[0]; at[0] < s[0] + n[0]; at[0]++) row[m++] = KCycleBoxPointToRow(box, at);
    }
  }
  PetscCall(ISCreateGeneral(PetscObjectComm((PetscObject)level->dm), m, row, PETSC_OWN_POINTER, &rows));
  PetscCall(MatCreateVecs(kc->coarsest, &all, NULL));
  PetscCall(CreateVectors(kc, gather, inner, rows, all));
  PetscCall(ISDestroy(&rows));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* To the processes of agglomerated levels, or back from them */
static PetscErrorCode Move(PC gather, int which, ScatterMode mode, Vec v)
{
  VecScatter scatter;
  Vec        here;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)gather, Scatter, (PetscObject *)&scatter));
  PetscCall(PetscObjectQuery((PetscObject)gather, Here[which], (PetscObject *)&here));
  PetscCall(VecScatterBegin(scatter, mode == SCATTER_FORWARD ? v : here, mode == SCATTER_FORWARD ? here : v,
                            INSERT_VALUES, mode));
  PetscCall(VecScatterEnd(scatter, mode == SCATTER_FORWARD ? v : here, mode == SCATTER_FORWARD ? here : v,
                          INSERT_VALUES, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCTELESCOPE has no transpose, which PCMG's own cycles, and cycles with another solver than PCKCYCLE, want */
static PetscErrorCode PCApplyTranspose_Gathered(PC gather, Vec x, Vec y)
{
  KSP inner;
  Vec here[2], moved[2];

  PetscFunctionBegin;
  for (int i = 0; i < 2; i++) PetscCall(PetscObjectQuery((PetscObject)gather, Here[i], (PetscObject *)&here[i]));
  PetscCall(PCTelescopeGetKSP(gather, &inner));
  PetscCall(Move(gather, 0, SCATTER_FORWARD, x));
  if (inner) {
    for (int i = 0; i < 2; i++) PetscCall(CreateGatheredVector(inner, here[i], &moved[i]));
    PetscCall(KSPSolveTranspose(inner, moved[0], moved[1]));
    PetscCall(KSPCheckSolve(inner, gather, moved[1]));
    for (int i = 0; i < 2; i++) PetscCall(VecDestroy(&moved[i]));
  }
  PetscCall(Move(gather, 1, SCATTER_REVERSE, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Continues a visit, on the vectors of the coarsest level here */
PetscErrorCode PCKCycleGatheredVisit(PC pc, const KCycleVisit *visit, Vec b, Vec x)
{
  PC_KCycle     *kc = KCycleOf(pc);
  PC             gather;
  PCFailedReason reason;

  KCycleCall(KSPGetPC(((PC_MG *)pc->data)->levels[0]->smoothd, &gather));
  KCycleCall(Move(gather, 0, SCATTER_FORWARD, b));
  if (!visit->zeroguess) KCycleCall(Move(gather, 1, SCATTER_FORWARD, x));
  if (kc->gathered.pc) {
    for (int i = 0; i < 2; i++) KCycleCall(PetscObjectStateIncrease((PetscObject)kc->gathered.vec[i]));
    KCycleTimerPause(&kc->level[0].timer);
    KCycleCall(KCycleProfilePause(&kc->level[0].profile, KCYCLE_ROW_COARSE));
    KCycleCall(PCKCycleVisit(kc->gathered.pc, visit, kc->gathered.vec[0], kc->gathered.vec[1]));
    KCycleTimerResume(&kc->level[0].timer);
    KCycleCall(KCycleProfileBegin(&kc->level[0].profile, NULL));
    KCycleCall(PCGetFailedReason(kc->gathered.pc, &reason));
    if (reason) KCycleCall(PCSetFailedReason(pc, reason));
  }
  KCycleCall(Move(gather, 1, SCATTER_REVERSE, x));
  return PETSC_SUCCESS;
}

/* The same for iterations of KSPRICHARDSON, where there is no level here but the gathered one; the target is relative
   to the first norm */
PetscErrorCode PCKCycleGatheredIterate(PC pc, const KCycleStop *stop, PetscBool zeroguess, Vec b, Vec x, PetscInt *its,
                                       PCRichardsonConvergedReason *reason)
{
  PC_KCycle *kc = KCycleOf(pc);
  PC         gather;
  PetscInt   done[2] = {0, 0};

  PetscFunctionBegin;
  PetscCall(KSPGetPC(((PC_MG *)pc->data)->levels[0]->smoothd, &gather));
  PetscCall(Move(gather, 0, SCATTER_FORWARD, b));
  PetscCall(Move(gather, 1, SCATTER_FORWARD, x));
  if (kc->gathered.pc) {
    for (int i = 0; i < 2; i++) PetscCall(PetscObjectStateIncrease((PetscObject)kc->gathered.vec[i]));
    PetscCall(PCApplyRichardson_KCycle(kc->gathered.pc, kc->gathered.vec[0], kc->gathered.vec[1], NULL, stop->target,
                                       stop->abstol, stop->limit, *its, zeroguess, &done[0], reason));
    done[1] = (PetscInt)*reason;
  }
  PetscCallMPI(MPI_Bcast(done, 2, MPIU_INT, 0, PetscObjectComm((PetscObject)pc)));
  *its    = done[0];
  *reason = (PCRichardsonConvergedReason)done[1];
  PetscCall(Move(gather, 1, SCATTER_REVERSE, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What was found on these levels, for the agglomerated ones of the inner solver */
static PetscErrorCode HandOn(PC pc, PC solver)
{
  PC_KCycle             *kc = KCycleOf(pc), *inner = KCycleOf(solver);
  KCycleFiner           *finer;
  PetscInt               asked;
  const KCycleGridLevel *level = KCycleGridOf(kc, 0);

  PetscFunctionBegin;
  finer = &inner->finer;
  PetscCall(PetscArraycpy(&finer->boundary[0][0], &level->boundary[0][0], 6));
  PetscCall(PCKCycleLevelsWanted(pc, &asked));
  if (asked == KCYCLE_MAX_LEVELS) asked = 0;
  finer->exists            = PETSC_TRUE;
  finer->ratio             = KCycleCoarseningRatio(kc, kc->ngrids - 1);
  finer->nlevels           = kc->ngrids - 1 + (kc->finer.exists ? kc->finer.nlevels : 0);
  finer->wanted            = level->gathers == KCYCLE_GATHERS_LARGE ? 1 : PetscMax(asked - kc->ngrids + 1, 0);
  finer->gaps              = kc->gaps;
  finer->holes             = kc->holes;
  finer->convects          = kc->convects;
  finer->cutlines          = kc->cutlines;
  finer->revisits          = kc->revisits;
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
  PetscCall(PCKCycleCountKernel(pc, &finer->nullity));
  PetscCall(PCKCycleSmoothersAreDistinct(pc, &finer->distinct));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels like those that end here. They have the prefix of the finer ones, and so their options */
static PetscErrorCode ChooseGathered(PC pc, PC solver)
{
  PC_KCycle *kc = KCycleOf(pc), *inner;
  PetscBool  given;

  PetscFunctionBegin;
  PetscCall(PetscOptionsHasName(((PetscObject)solver)->options, ((PetscObject)solver)->prefix, "-pc_type", &given));
  if (given) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSetType(solver, PCKCYCLE));
  inner = KCycleOf(solver);
  PetscCall(PetscObjectSetOptions((PetscObject)solver, ((PetscObject)pc)->options));
  PetscCall(PCSetOptionsPrefix(solver, ((PetscObject)pc)->prefix));
  inner->structured    = kc->structured;
  inner->interpolation = kc->interpolation;
  inner->proc_eq_limit = kc->proc_eq_limit;
  inner->anisotropy    = kc->anisotropy;
  PetscCall(PetscStrncpy(inner->semicoarsen, kc->semicoarsen, sizeof(inner->semicoarsen)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What may change without another set-up */
PetscErrorCode PCKCycleGatheredFollow(PC pc)
{
  const PCMGType type  = ((PC_MG *)pc->data)->am;
  PC_KCycle     *kc    = KCycleOf(pc), *coarser;
  PC             inner = kc->gathered.pc;

  PetscFunctionBegin;
  if (!inner) PetscFunctionReturn(PETSC_SUCCESS);
  coarser        = KCycleOf(inner);
  coarser->kappa = kc->kappa;
  if (((PC_MG *)inner->data)->am != type) {
    PetscCall(PCMGSetType(inner, type));
    PetscCall(PCKCycleInstall(inner));
  }
  PetscCall(PCKCycleSetPrecision(inner, kc->precision));
  coarser->finer.revisits = kc->revisits;
  PetscCall(PCKCycleFollowKappa(inner));
  if (coarser->finer.sweeps != PCKCycleSweepsAsked(kc)) {
    coarser->finer.sweeps = PCKCycleSweepsAsked(kc);
    if (coarser->ready && coarser->use_structure) PetscCall(PCKCycleRenewSweeps(inner));
  }
  PetscCall(PCKCycleSetFMGMonitor(inner, kc->fmg.monitor));
  PetscCall(PCKCycleSetProfile(inner, kc->profiling.wanted));
  if (coarser->count != kc->count) {
    coarser->count = kc->count;
    PetscCall(PCKCycleEngineSetUp(inner));
  }
  PetscCall(PCKCycleGatheredFollow(inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How agglomerated levels have been set up is made known to all processes: whether these are levels of ours, and their
   number without the first */
static PetscErrorCode Agree(PC pc)
{
  PC_KCycle  *kc      = KCycleOf(pc), *inner;
  PetscMPIInt size    = 0;
  PetscInt    mine[4] = {0, 0, 0, 0}, all[4];

  PetscFunctionBegin;
  if (kc->gathered.pc) {
    inner = KCycleOf(kc->gathered.pc);
    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)kc->gathered.pc), &size));
    mine[0] = 1;
    mine[1] = inner->nlevels - 1 + inner->gathered.below;
    mine[2] = size;
    mine[3] = inner->nclosed;
  }
  PetscCallMPI(MPI_Allreduce(mine, all, 4, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  kc->gathered.ours      = (PetscBool)all[0];
  kc->gathered.below     = all[1];
  kc->gathered.processes = all[2];
  kc->nclosed            = all[3];
  PetscFunctionReturn(PETSC_SUCCESS);
}

void PCKCycleGatheredForget(PC_KCycle *kc)
{
  kc->gathered.ours      = PETSC_FALSE;
  kc->gathered.pc        = NULL;
  kc->gathered.below     = 0;
  kc->gathered.processes = 0;
}

/* The inner solver is set up with the coarsest level here; PCTELESCOPE would leave that to the first cycle */
PetscErrorCode PCKCycleGatheredSetUp(PC pc)
{
  KSP        coarse = ((PC_MG *)pc->data)->levels[0]->smoothd, inner;
  PC_KCycle *kc     = KCycleOf(pc);
  PC         gather, solver;
  PetscInt   factor;
  PetscBool  gathers, ours;

  PetscFunctionBegin;
  PCKCycleGatheredForget(kc);
  if (!kc->use_structure || !kc->choice[0][0].chose) PetscFunctionReturn(PETSC_SUCCESS);
  if (!kc->ready) PetscCall(KSPSetFromOptions(coarse));
  PetscCall(KSPGetPC(coarse, &gather));
  PetscCall(PetscObjectTypeCompare((PetscObject)gather, PCTELESCOPE, &gathers));
  if (!gathers) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCTelescopeGetReductionFactor(gather, &factor));
  PetscCheck(factor > 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-mg_gather_pc_telescope_reduction_factor must be at least 2, not %" PetscInt_FMT
             ": levels are agglomerated on fewer processes. To keep all of them give another coarse solver "
             "(-mg_coarse_pc_type)",
             factor);
  PetscCall(KSPSetUp(coarse));
  PetscCall(PCTelescopeGetKSP(gather, &inner));
  if (!kc->ready) PetscCall(PrepareScatter(kc, inner, gather));
  gather->ops->applytranspose = PCApplyTranspose_Gathered;
  if (inner) {
    PetscCall(KSPGetPC(inner, &solver));
    if (!kc->ready) PetscCall(ChooseGathered(pc, solver));
    PetscCall(PetscObjectTypeCompare((PetscObject)solver, PCKCYCLE, &ours));
    if (ours) PetscCall(HandOn(pc, solver));
    PetscCall(KSPSetUp(inner));
    PetscCall(PetscObjectTypeCompare((PetscObject)inner, KSPPREONLY, &gathers));
    if (ours && gathers) kc->gathered.pc = solver;
    PetscCall(PCKCycleGatheredFollow(pc));
  }
  PetscCall(Agree(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}
