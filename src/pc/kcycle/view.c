/*
  What -ksp_view shows of PCKCYCLE.
*/
#include <petsckcycle/private/ghostsimpl.h>
#include "kcycleimpl.h"
#include <petsckcycle/private/relaximpl.h>
#include <petsckcycle/private/deviceimpl.h>

/* Bytes of a matrix over all processes: what a stencil says it takes, else entries with their columns; 0 where the
   type does not say how many it stores */
PetscErrorCode KCycleMatSize(Mat A, PetscLogDouble *entries, PetscLogDouble *bytes)
{
  MatInfo   info;
  PetscInt  rows;
  PetscBool has = PETSC_FALSE, stencil, transfer;

  PetscFunctionBegin;
  *entries = *bytes = 0;
  if (A) PetscCall(MatHasOperation(A, MATOP_GETINFO, &has));
  if (!has) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  PetscCall(MatGetSize(A, &rows, NULL));
  *entries = info.nz_used;
  PetscCall(MatStencilIs(A, &stencil));
  PetscCall(MatStencilTransferIs(A, &transfer));
  *bytes = info.memory;
  if (!stencil && !transfer)
    *bytes = info.nz_used * (PetscLogDouble)(sizeof(PetscScalar) + sizeof(PetscInt)) +
             rows * (PetscLogDouble)sizeof(PetscInt);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A level's operator, transfers and three work vectors */
static PetscErrorCode LevelSize(PC_MG_Levels *lv, PetscInt *rows, PetscLogDouble *entries, PetscLogDouble *bytes)
{
  PetscLogDouble ignored, interpolation, restriction = 0;

  PetscFunctionBegin;
  PetscCall(MatGetSize(lv->A, rows, NULL));
  PetscCall(KCycleMatSize(lv->A, entries, bytes));
  PetscCall(KCycleMatSize(lv->interpolate, &ignored, &interpolation));
  if (lv->restrct != lv->interpolate) PetscCall(KCycleMatSize(lv->restrct, &ignored, &restriction));
  *bytes += interpolation + restriction + 3 * *rows * (PetscLogDouble)sizeof(PetscScalar);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* device: the operator is on one, which sweeps through its rows do not use */
static PetscErrorCode SolverName(KSP ksp, PetscBool device, size_t len, char name[])
{
  KSPType   type;
  PCType    pctype;
  PC        pc;
  PetscInt  its;
  PetscBool host;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &host, PCSOR, PCEISENSTAT, PCKACZMARZ, PCRELAX, ""));
  PetscCall(KSPGetType(ksp, &type));
  PetscCall(PCGetType(pc, &pctype));
  PetscCall(KSPGetTolerances(ksp, NULL, NULL, NULL, &its));
  if (ksp->normtype == KSP_NORM_NONE && its < 1000)
    PetscCall(PetscSNPrintf(name, len, "%s(%" PetscInt_FMT ")+%s", type, its, pctype));
  else PetscCall(PetscSNPrintf(name, len, "%s+%s", type, pctype));
  if (device && host) PetscCall(PetscStrlcat(name, " on the host", len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With those on other processes */
static PetscInt CountLevels(const PC_KCycle *kc)
{
  return kc->finer.nlevels + kc->nlevels + kc->gathered.below;
}

static PetscErrorCode ViewLevelLine(PC pc, PC_KCycle *kc, PetscInt l, PetscLogDouble total[], PetscViewer viewer)
{
  PC_MG_Levels  *lv = ((PC_MG *)pc->data)->levels[l];
  PetscInt       rows;
  PetscInt64     calls;
  PetscLogDouble entries, bytes;
  PetscBool      device;
  char           down[64], up[64] = "";

  PetscFunctionBegin;
  PetscCall(LevelSize(lv, &rows, &entries, &bytes));
  PetscCall(KCycleMatOnDevice(lv->A, &device));
  PetscCall(SolverName(lv->smoothd, device, sizeof(down), down));
  if (lv->smoothu != lv->smoothd) {
    PetscCall(PetscStrncpy(up, ", up ", sizeof(up)));
    PetscCall(SolverName(lv->smoothu, device, sizeof(up) - 5, up + 5));
  }
  PetscCall(PCKCycleComputeLevelCalls(kc->kappa, kc->finer.nlevels + kc->nlevels - l, &calls));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "    %5" PetscInt_FMT " %12" PetscInt_FMT " %13.0f %9" PetscInt64_FMT " %13.0f  %-6s  %s%s\n",
      l + kc->gathered.below, rows, entries, calls, bytes,
      device || (kc->engine && kc->at == KCYCLE_MEMORY_DEVICE && (l > kc->split.level || kc->inverted)) ? "device"
                                                                                                        : "host",
      down, up));
  total[0] += rows;
  total[1] += entries;
  total[2] += bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What has been counted, on all processes together */
static PetscErrorCode ViewTraffic(PC pc, PC_KCycle *kc, PetscViewer viewer)
{
  static const char *const phases[KCYCLE_NUM_PHASES] = {"smoothing", "residual", "restriction", "interpolation", ""};

  PetscMPIInt nprocs;

  PetscFunctionBegin;
  if (!kc->count || !kc->engine) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &nprocs));
  PetscCall(PetscViewerASCIIPrintf(viewer, "    bytes moved since set-up, calls of kernels%s\n",
                                   nprocs > 1 ? ", rounds of messages" : ""));
  for (PetscInt l = kc->nlevels - 1; l > 0; l--) {
    const KCycleTraffic *mine = &kc->level[l].traffic;
    KCycleTraffic        all;

    PetscCallMPI(MPI_Allreduce(mine->bytes, all.bytes, KCYCLE_NUM_PHASES, MPIU_INT64, MPI_SUM,
                               PetscObjectComm((PetscObject)pc)));
    PetscCall(PetscViewerASCIIPrintf(viewer, "    %5" PetscInt_FMT, l + kc->gathered.below));
    PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
    for (int p = 0, n = 0; p < KCYCLE_NUM_PHASES; p++) {
      if (mine->calls[p])
        PetscCall(PetscViewerASCIIPrintf(viewer, "%s %s %" PetscInt64_FMT " in %" PetscInt64_FMT " calls",
                                         n++ ? "," : "", phases[p], all.bytes[p], mine->calls[p]));
    }
    if (nprocs > 1) PetscCall(PetscViewerASCIIPrintf(viewer, "; %" PetscInt64_FMT " rounds", mine->rounds));
    PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
    PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewLevels(PC pc, PC_KCycle *kc, PetscViewer viewer)
{
  PC_MG_Levels  *fine = ((PC_MG *)pc->data)->levels[kc->nlevels - 1];
  PetscInt       rows;
  PetscInt64     calls;
  PetscLogDouble total[3] = {0, 0, 0}, entries, bytes;

  PetscFunctionBegin;
  PetscCall(
      PetscViewerASCIIPrintf(viewer, "    level         rows       entries     calls         bytes  where   solver\n"));
  for (PetscInt l = kc->nlevels - 1; l >= 0; l--) PetscCall(ViewLevelLine(pc, kc, l, total, viewer));
  PetscCall(LevelSize(fine, &rows, &entries, &bytes));
  PetscCall(PCKCycleComputeTotalCalls(kc->kappa, CountLevels(kc), &calls));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "    calls in a cycle %" PetscInt64_FMT ", grid complexity %.4g, operator complexity %.4g, %.0f bytes\n",
      calls, total[0] / rows, entries > 0 ? total[1] / entries : 0., total[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewCoarseOperators(PC pc, PC_KCycle *kc, PetscViewer viewer)
{
  const char *text;

  PetscFunctionBegin;
  switch (((PC_MG *)pc->data)->galerkin) {
  case PC_MG_GALERKIN_NONE:
    text = "given, or assembled on the coarse grids";
    break;
  case PC_MG_GALERKIN_EXTERNAL:
    if (kc->use_grids) text = kc->unknowns.use ? "the operator, unknown by unknown" : "Galerkin products";
    else
      text = kc->use_structure
                 ? (kc->assembled ? "assembled on the coarse grids, as stencils" : "Galerkin products, as stencils")
                 : "made with the hierarchy";
    break;
  case PC_MG_GALERKIN_PMAT:
    text = "Galerkin products for the preconditioning matrix";
    break;
  case PC_MG_GALERKIN_MAT:
    text = "Galerkin products for the operator";
    break;
  default:
    text = kc->galerkin_chosen ? "Galerkin products (the program provides no others)" : "Galerkin products";
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "  coarse operators: %s\n", text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On how many processes agglomerated levels are, and why */
static PetscErrorCode ViewGathered(PC pc, PC_KCycle *kc, PetscViewer viewer)
{
  const KCycleGridLevel *level   = KCycleGridOf(kc, 0);
  char                   why[96] = "no more levels are wanted, and it is too large for a direct solver on each";
  PetscMPIInt            size;

  PetscFunctionBegin;
  if (!kc->gathered.ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  if (level->gathers == KCYCLE_GATHERS_EMPTY)
    PetscCall(PetscSNPrintf(why, sizeof(why), "some of them would keep no point of the next level"));
  if (level->gathers == KCYCLE_GATHERS_FEW)
    PetscCall(
        PetscSNPrintf(why, sizeof(why), "each of them has fewer than %" PetscInt_FMT " points", kc->proc_eq_limit));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "    from level %" PetscInt_FMT " on %" PetscInt_FMT " of %d processes: %s\n",
                                   kc->gathered.below, kc->gathered.processes, size, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewGrids(const PC_KCycle *kc, PetscViewer viewer)
{
  PetscFunctionBegin;
  for (PetscInt l = kc->ngrids - 1; l >= 0; l--) {
    const KCycleGridLevel *level  = KCycleGridOf(kc, l);
    const KCycleStencil   *st     = KCycleStencilOf(level->A);
    const PetscInt        *size   = st->box->size;
    const char            *fused  = PCKCycleFused(kc, l);
    const KCycleGhosts    *ghosts = kc->parts && l ? kc->parts[l].ghosts : NULL;
    char                   to[96] = "", lines[64] = "", deep[64] = "";

    if (level->P) {
      PetscCall(PetscSNPrintf(to, sizeof(to), ", coarsened in %s%s%s by %s interpolation%s",
                              level->factor[0] == 2 ? "x" : "", level->factor[1] == 2 ? "y" : "",
                              level->factor[2] == 2 ? "z" : "",
                              PCKCycleInterpolationTypes[MatStencilTransferInterpolation(level->P)],
                              MatStencilTransferFilled(level->P) ? " with inactive points" : ""));
      PetscCall(PetscSNPrintf(lines, sizeof(lines), "%s%s%s%s", level->planes[0] ? ", planes across " : "",
                              level->planes, level->lines[0] ? ", lines along " : "", level->lines));
    }
    if (ghosts)
      PetscCall(PetscSNPrintf(deep, sizeof(deep), " with ghost points, %" PetscInt_FMT " deep", ghosts->depth));
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "    %5" PetscInt_FMT " grid %" PetscInt_FMT " x %" PetscInt_FMT
                                     " x %" PetscInt_FMT ", %d points%s%s%s%s%s%s\n",
                                     l + kc->gathered.below, size[0], size[1], size[2], st->shape.ncoeffs, lines,
                                     fused ? ", " : "", fused ? fused : "", deep, to,
                                     level->blocked && !kc->gathered.ours ? ", not coarsened further on these processes"
                                                                          : ""));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewStructure(PC pc, PC_KCycle *kc, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (kc->nlevels_asked > kc->nlevels + kc->gathered.below)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %" PetscInt_FMT " levels were asked for, and are more than there are\n",
                                     kc->nlevels_asked));
  if (kc->nlevels > 1 && PCKCycleOvercorrectFactor(kc, kc->nlevels - 1) != 1)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  corrections from coarser levels to the finest one are multiplied by %g\n", (double)kc->overcorrect));
  if (kc->fmg.interpolation == PC_KCYCLE_FMG_CUBIC)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  solutions come to finer levels by cubic interpolation\n"));
  if (kc->copy) PetscCall(PetscViewerASCIIPrintf(viewer, "  levels are made from a copy of the operator in aij\n"));
  if (kc->instead[0])
    PetscCall(
        PetscViewerASCIIPrintf(viewer, "  hierarchy %s: %s\n", PCKCycleHierarchyTypes[kc->levels_from], kc->instead));
  if (!kc->use_structure) {
    if (kc->levels_from == PC_KCYCLE_HIERARCHY_DM || kc->use_grids)
      PetscCall(PetscViewerASCIIPrintf(viewer, "  levels are not structured: %s\n", kc->general));
    if (kc->use_grids) PetscCall(PCKCycleGridsView(pc, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "  structured levels\n"));
  PetscCall(PCKCyclePlaceView(pc, viewer));
  if (kc->engine && !kc->engine->inplace)
    PetscCall(PetscViewerASCIIPrintf(viewer, "    in %s precision, %s excepted\n", kc->engine->name,
                                     kc->split.level ? "levels on the host" : "the coarsest problem"));
  if (kc->engine && kc->precise[0])
    PetscCall(PetscViewerASCIIPrintf(viewer, "    in %s precision: %s\n", kc->engine->name, kc->precise));
  if (kc->handed[0]) PetscCall(PetscViewerASCIIPrintf(viewer, "    run by PCMG: %s\n", kc->handed));
  PetscCall(ViewGrids(kc, viewer));
  PetscCall(ViewGathered(pc, kc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is projected out of the coarsest problem */
static PetscErrorCode ViewCoarsestKernel(const PC_KCycle *kc, PetscViewer viewer)
{
  MatNullSpace found = NULL;
  PetscInt     n     = 0;

  PetscFunctionBegin;
  if (kc->nclosed) {
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "    constants on closed parts, %" PetscInt_FMT ", span the kernel and are projected out\n",
        kc->nclosed));
  } else if (kc->kernel_constant)
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "    constants span the kernel and are projected out of the coarsest problem\n"));
  else if (kc->singular) {
    PetscCall(MatGetNullSpace(kc->singular, &found));
    if (found) PetscCall(MatNullSpaceGetVecs(found, NULL, &n, NULL));
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "    a kernel of dimension %" PetscInt_FMT " is projected out of the coarsest problem\n", n));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewKernel(const PC_KCycle *kc, PetscViewer viewer)
{
  const char *const how[] = {
      "row sums of closed parts are zero", "null space attached",
      "all row sums are zero, and no null space is attached (MatSetNullSpace() lets KSP project right sides)"};

  PetscFunctionBegin;
  if (kc->d)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  rows are scaled, so that the operator of levels is symmetric\n"));
  if (kc->kernel == KCYCLE_REGULAR && !kc->nclosed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  singular operator: %s\n", how[kc->kernel]));
  PetscCall(ViewCoarsestKernel(kc, viewer));
  if (kc->gap > KCYCLE_ROUNDING)
    PetscCall(PetscViewerASCIIPrintf(viewer, "    a part of the last right side, %g of it, is not in the range\n",
                                     (double)kc->gap));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a kappa is called, "" where it is nothing else */
static const char *CycleName(const PC_KCycle *kc)
{
  if (kc->kappa == 1) return " (V-cycle)";
  if (kc->kappa == PC_KCYCLE_KAPPA_W || (kc->ready && kc->kappa >= CountLevels(kc))) return " (W-cycle)";
  return kc->kappa == 2 ? " (F-cycle)" : "";
}

static PetscErrorCode ViewCycle(PC pc, PC_KCycle *kc, PetscViewer viewer)
{
  PC_MG *mg        = (PC_MG *)pc->data;
  char   kappa[32] = "infinity";

  PetscFunctionBegin;
  if (mg->am == PC_MG_ADDITIVE || mg->am == PC_MG_KASKADE) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %s multigrid: kappa is not used\n",
                                     mg->am == PC_MG_ADDITIVE ? "additive" : "Kaskade"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (kc->kappa != PC_KCYCLE_KAPPA_W) PetscCall(PetscSNPrintf(kappa, sizeof(kappa), "%" PetscInt_FMT, kc->kappa));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %skappa-cycle of Avnat and Yavneh, kappa=%s%s\n",
                                   mg->am == PC_MG_FULL ? "full multigrid with the " : "", kappa, CycleName(kc)));
  PetscCall(PCKCycleAutoView(pc, viewer));
  if (mg->cyclesperpcapply > 1)
    PetscCall(PetscViewerASCIIPrintf(viewer, "    cycles per application=%" PetscInt_FMT "\n", mg->cyclesperpcapply));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solvers of the levels in full */
static PetscErrorCode ViewSolvers(PC_MG *mg, PetscInt below, PetscViewer viewer)
{
  PetscFunctionBegin;
  for (PetscInt l = 0; l < mg->nlevels; l++) {
    PC_MG_Levels *lv = mg->levels[l];

    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     l ? "Down solver (pre-smoother) on level %" PetscInt_FMT "\n"
                                       : "Coarse grid solver, level %" PetscInt_FMT "\n",
                                     l + below));
    PetscCall(PetscViewerASCIIPushTab(viewer));
    PetscCall(KSPView(lv->smoothd, viewer));
    PetscCall(PetscViewerASCIIPopTab(viewer));
    if (l && lv->smoothd == lv->smoothu)
      PetscCall(PetscViewerASCIIPrintf(viewer, "Up solver (post-smoother) same as down solver (pre-smoother)\n"));
    if (lv->smoothd == lv->smoothu) continue;
    PetscCall(PetscViewerASCIIPrintf(viewer, "Up solver (post-smoother) on level %" PetscInt_FMT "\n", l + below));
    PetscCall(PetscViewerASCIIPushTab(viewer));
    PetscCall(KSPView(lv->smoothu, viewer));
    PetscCall(PetscViewerASCIIPopTab(viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first of the solvers that have the levels counts them all */
static PetscErrorCode ViewHierarchy(const PC_KCycle *kc, PetscViewer viewer)
{
  const PetscInt n = kc->nlevels + kc->gathered.below;

  PetscFunctionBegin;
  if (kc->finer.exists)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  levels %" PetscInt_FMT " to 0 of the hierarchy\n", n - 1));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %" PetscInt_FMT " levels, hierarchy %s%s\n", n,
                                     PCKCycleHierarchyTypes[kc->levels_from],
                                     n == 1 ? ": a single level is the coarsest problem" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_KCycle(PC pc, PetscViewer viewer)
{
  PC_MG            *mg = (PC_MG *)pc->data;
  PC_KCycle        *kc = KCycleOf(pc);
  PetscBool         isascii;
  PetscViewerFormat format;

  PetscFunctionBegin;
  PetscCall(PetscViewerGetFormat(viewer, &format));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &isascii));
  if (!isascii) {
    PetscCall((*kc->base.view)(pc, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ViewCycle(pc, kc, viewer));
  if (kc->failure[0]) PetscCall(PetscViewerASCIIPrintf(viewer, "  set-up failed: %s\n", kc->failure));
  if (!kc->ready) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCKCycleFallbackView(pc, viewer));
  if (kc->answer.wrong)
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "  warning: KSP converged by its norm, to %.1e, but the residual b - A x was %.1e "
                                     "of b (-pc_kcycle_check makes it an error)\n",
                                     (double)kc->answer.claimed, (double)kc->answer.reduced));
  PetscCall(ViewHierarchy(kc, viewer));
  PetscCall(PCKCycleFoundView(pc, viewer));
  PetscCall(ViewCoarseOperators(pc, kc, viewer));
  PetscCall(ViewStructure(pc, kc, viewer));
  PetscCall(ViewKernel(kc, viewer));
  PetscCall(ViewLevels(pc, kc, viewer));
  PetscCall(ViewTraffic(pc, kc, viewer));
  PetscCall(PCKCycleModelView(pc, viewer));
  PetscCall(PCKCyclePredictView(pc, viewer));
  if (kc->profiling.wanted && kc->profiling.cycles && !kc->finer.exists)
    PetscCall(PCKCycleProfileShow(pc, PETSC_FALSE, viewer));
  if (format == PETSC_VIEWER_ASCII_INFO_DETAIL) PetscCall(KCyclePolicyView(viewer));
  if (mg->view && kc->nlevels > 1) PetscCall((*mg->view)(pc, viewer)); /* PCGAMG's wants two levels */
  PetscCall(ViewSolvers(mg, kc->gathered.below, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
