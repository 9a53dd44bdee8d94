/*
  A fallback that is measured: where facts of the operator say that points or lines may not do, a few cycles on A x = 0
  after set-up show how much they leave of an error, and where that is too much BoomerAMG takes their place.

  The levels stay as they are, for calls that ask for them and for the next measurement; an application is one of the
  other preconditioner. Noise tells how many errors are slow, and not only how slow the slowest is: a Krylov method
  finds a few slow ones soon.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/deviceimpl.h>
#include <petsckcycle/private/relaximpl.h>
#include <petsckcycle/private/stencilimpl.h>

const char *const PCKCycleFallbackTypes[] = {"auto", "off", "PCKCycleFallbackType", "PC_KCYCLE_FALLBACK_", NULL};

/* Levels are others, or go */
PetscErrorCode PCKCycleFallbackReset(PC_KCycle *kc)
{
  PetscFunctionBegin;
  PetscCall(PCDestroy(&kc->fallback.pc));
  PetscCall(MatDestroy(&kc->fallback.A));
  kc->fallback.cycles = 0;
  kc->fallback.its    = 0;
  kc->fallback.grown  = PETSC_FALSE;
  kc->fallback.why    = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are there clusters on the finest level that hold more than a few of its points? */
static PetscErrorCode HasClusters(const PC_KCycle *kc, PetscBool *has)
{
  const KCycleSmoother *smoother = kc->parts[kc->nlevels - 1].smoother[0];
  const Mat             A        = kc->grids[0].A;
  PetscInt64            points   = 0;
  PetscInt              rows;

  PetscFunctionBegin;
  *has = PETSC_FALSE;
  if (!smoother->clusters) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCallMPI(
      MPI_Allreduce(&smoother->clusters->found[1], &points, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)A)));
  *has = (PetscBool)((PetscReal)points > KCYCLE_FALLBACK_CLUSTERS * (PetscReal)rows);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* May points or lines not do on the finest level: do coefficients jump by much at clusters, lines or planes? With
   convection cycles are faster in all cases of the battery */
static PetscErrorCode FactsAsk(const PC_KCycle *kc, PetscBool *ask)
{
  const KCycleGridLevel *level = &kc->grids[0];
  const KCycleScan      *facts;

  PetscFunctionBegin;
  *ask = PETSC_FALSE;
  if (!kc->use_structure || kc->failure[0] || kc->finer.exists || !kc->engine || kc->nlevels < 2 || kc->convects)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStencilScan(level->A, &facts));
  if (!level->jumps || facts->jump <= KCYCLE_FALLBACK_JUMP) PetscFunctionReturn(PETSC_SUCCESS);
  *ask = (PetscBool)(level->lines[0] || level->planes[0]);
  if (!*ask) PetscCall(HasClusters(kc, ask));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Was what the smoothers of a level do chosen by the program or an option? */
static PetscErrorCode SmootherIsChosen(const PC_KCycle *kc, KSP smoother, const KCycleChoice *choice, PetscBool *chosen)
{
  const PC_Relax *relax;
  PetscBool       isrelax;

  PetscFunctionBegin;
  *chosen = PETSC_TRUE;
  if (!choice->chose || !choice->sweeps || PCKCycleSweepsAsked(kc)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)smoother->pc, PCRELAX, &isrelax));
  if (!isrelax) PetscFunctionReturn(PETSC_SUCCESS);
  relax = (const PC_Relax *)smoother->pc->data;
  PetscCall(PCRelaxIsAuto(smoother->pc, chosen));
  *chosen = (PetscBool)(!*chosen || relax->omega != 0 || relax->order != PC_RELAX_ORDER_AUTO ||
                        relax->clustering != PC_RELAX_CLUSTERS_AUTO);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the program or an option has chosen of levels and cycles, which stay then; or NULL */
static PetscErrorCode ChosenByHand(PC pc, const char *why[])
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);
  PetscInt   asked;
  PetscBool  automatic, chosen = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PCKCycleLevelsAsked(pc, &asked));
  PetscCall(PetscStrcmp(kc->semicoarsen, "auto", &automatic));
  for (PetscInt l = 0; l < kc->nlevels && !chosen; l++) {
    chosen = KCycleLevelIsTheirs(kc, l);
    if (l && !chosen) PetscCall(SmootherIsChosen(kc, mg->levels[l]->smoothd, &kc->choice[l][0], &chosen));
  }
  *why = kc->structured == PC_KCYCLE_STRUCTURED_ON || kc->hierarchy != PC_KCYCLE_HIERARCHY_AUTO
             ? "structured levels were asked for"
         : kc->kappa_set                                              ? "kappa was chosen"
         : asked                                                      ? "the number of levels was chosen"
         : mg->am != PC_MG_MULTIPLICATIVE                             ? "the type of multigrid was chosen"
         : mg->cyclesperpcapply != 1                                  ? "the number of cycles was chosen"
         : kc->overcorrect != 1                                       ? "over-correction was chosen"
         : kc->precision == PC_KCYCLE_PRECISION_SINGLE                ? "single precision was asked for"
         : !automatic                                                 ? "the directions to coarsen were chosen"
         : kc->interpolation != PC_KCYCLE_INTERPOLATION_AUTO          ? "the interpolation was chosen"
         : kc->anisotropy != PC_KCYCLE_ANISOTROPY_AUTO                ? "what smoothers relax was chosen"
         : kc->assembled                                              ? "the program assembles coarse operators"
         : chosen || mg->levels[1]->smoothd != mg->levels[1]->smoothu ? "smoothers or the coarsest solver were chosen"
                                                                      : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why nothing can, or may, take the place of cycles; or NULL */
static PetscErrorCode FindObstacle(PC pc, const char *why[])
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscBool  device, symmetric, exists;

  PetscFunctionBegin;
  PetscCall(ChosenByHand(pc, why));
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleMatOnDevice(pc->pmat, &device));
  PetscCall(MatStencilIsNearlySymmetric(kc->grids[0].A, &symmetric));
  PetscCall(KCycleFallbackExists(pc, &exists));
  *why = device || kc->device || kc->at == KCYCLE_MEMORY_DEVICE ? "the solver is on a device"
         : !symmetric                                           ? "the operator is not symmetric"
         : kc->nclosed                                          ? "parts of the grid are closed"
         : kc->d && kc->found.ghostrows                         ? "rows are scaled, and have moved between processes"
         : !exists                                              ? "PETSc has no hypre"
                                                                : NULL;
#if defined(PETSC_USE_COMPLEX)
  *why = "numbers are complex";
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is it plain that little will be left? Later cycles leave larger parts than earlier ones, by less than half of what is
   missing to all */
static PetscBool IsPlain(PetscInt cycles, const PetscReal norm[])
{
  if (!cycles) return PETSC_FALSE;
  return (PetscBool)(KCyclePolicyAhead(cycles, norm[cycles] / norm[0], (1 + norm[cycles] / norm[cycles - 1]) / 2) <=
                     KCYCLE_FALLBACK_LEFT);
}

/* e <- (I - M A) e, at most so often. Norms of e before each time and after the last one */
static PetscErrorCode Iterate(PC pc, MatNullSpace kernel, Vec e, PetscInt *cycles, PetscReal norm[])
{
  KCycleVisit    visit = {0, 1, PETSC_FALSE, PETSC_FALSE, PETSC_TRUE, PETSC_FALSE};
  const PetscInt most  = *cycles;
  PC_KCycle     *kc    = KCycleOf(pc);
  Vec            r, z;
  Mat            A;

  PetscFunctionBegin;
  visit.kappa = kc->kappa;
  A           = kc->found.ghostrows ? pc->pmat : kc->plain ? kc->plain : kc->grids[0].A;
  PetscCall(VecDuplicate(e, &r));
  PetscCall(VecDuplicate(e, &z));
  for (*cycles = 0;; (*cycles)++) {
    if (kernel) PetscCall(MatNullSpaceRemove(kernel, e));
    PetscCall(VecNorm(e, NORM_2, &norm[*cycles]));
    if (*cycles == most || !(norm[*cycles] > 0) || IsPlain(*cycles, norm)) break;
    PetscCall(MatMult(A, e, r));
    PetscCall(PCKCycleVisit(pc, &visit, r, z));
    PetscCall(VecAXPY(e, -1, z));
  }
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a few cycles leave of noise, and the last one of what was left before */
static PetscErrorCode Measure(PC pc)
{
  MatNullSpace         kernel;
  Vec                  e;
  PetscReal            norm[KCYCLE_FALLBACK_CYCLES + 1];
  PetscInt             n        = KCYCLE_FALLBACK_CYCLES;
  KCycleFallbackState *fallback = &KCycleOf(pc)->fallback;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(pc->pmat, &e, NULL));
  PetscCall(PCKCycleGetKernel(pc, &kernel));
  PetscCall(PCKCycleFillWithNoise(pc, e));
  PetscCall(PCKCycleModelPause(pc, PETSC_TRUE));
  PetscCall(Iterate(pc, kernel, e, &n, norm));
  PetscCall(PCKCycleModelPause(pc, PETSC_FALSE));
  PetscCall(MatNullSpaceDestroy(&kernel));
  PetscCall(VecDestroy(&e));
  fallback->cycles = n;
  fallback->left   = n && norm[n] > 0 ? norm[n] / norm[0] : 0;
  fallback->last   = n && norm[n] > 0 ? norm[n] / norm[n - 1] : 0;
  fallback->its    = 0;
  fallback->grown  = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a measurement */
static PetscErrorCode Decide(PC pc)
{
  KCycleFallbackState *fallback = &KCycleOf(pc)->fallback;

  PetscFunctionBegin;
  fallback->ahead = KCyclePolicyAhead(fallback->cycles, fallback->left, fallback->last);
  PetscCall(PetscInfo(pc, "Of noise %g is left after %" PetscInt_FMT " cycles, after %d it may be %g\n",
                      (double)fallback->left, fallback->cycles, KCYCLE_FALLBACK_AHEAD, (double)fallback->ahead));
  if (fallback->ahead <= KCYCLE_FALLBACK_LEFT) {
    PetscCall(PCDestroy(&fallback->pc));
    PetscCall(MatDestroy(&fallback->A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCKCycleFallbackSetUpInner(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* At the end of a set-up: is there anything to measure, or to renew? */
PetscErrorCode PCKCycleFallbackSetUp(PC pc)
{
  PC_KCycle           *kc  = KCycleOf(pc);
  const char          *why = NULL;
  PetscBool            ask;
  KCycleFallbackState *fallback = &kc->fallback;

  PetscFunctionBegin;
  PetscCall(FactsAsk(kc, &ask));
  if (fallback->wanted == PC_KCYCLE_FALLBACK_OFF || !ask) PetscCall(PCKCycleFallbackReset(kc));
  else {
    PetscCall(FindObstacle(pc, &why));
    if (why) {
      PetscCall(PCKCycleFallbackReset(kc));
      fallback->why = why;
      PetscCall(PetscInfo(pc, "Coefficients jump, but no other solver is considered: %s\n", why));
    } else if (!fallback->cycles || fallback->grown) {
      fallback->why = NULL;
      PetscCall(Measure(pc));
      PetscCall(Decide(pc));
    } else if (fallback->pc) PetscCall(PCKCycleFallbackSetUpInner(pc));
  }
  PetscCall(PCKCycleInstall(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before a solve: what the program has chosen since set-up counts */
PetscErrorCode PCKCycleFallbackFollow(PC pc)
{
  PC_KCycle  *kc  = KCycleOf(pc);
  const char *why = NULL;

  PetscFunctionBegin;
  if (!kc->fallback.pc) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FindObstacle(pc, &why));
  if (!why && kc->fallback.wanted == PC_KCYCLE_FALLBACK_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCKCycleFallbackReset(kc));
  kc->fallback.why = why;
  PetscCall(PCKCycleInstall(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a solve */
PetscErrorCode PCKCycleFallbackNote(PC pc, KSP ksp)
{
  KCycleFallbackState *fallback = &KCycleOf(pc)->fallback;

  PetscFunctionBegin;
  if (!fallback->cycles || ksp->transpose_solve) PetscFunctionReturn(PETSC_SUCCESS);
  if (!fallback->its) fallback->its = PetscMax(ksp->its, KCYCLE_FALLBACK_FEW);
  else if ((PetscReal)ksp->its > KCYCLE_FALLBACK_GROWN * (PetscReal)fallback->its) fallback->grown = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCKCycleFallbackView(PC pc, PetscViewer viewer)
{
  const KCycleFallbackState *fallback = &KCycleOf(pc)->fallback;

  PetscFunctionBegin;
  if (fallback->cycles) {
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "  after %" PetscInt_FMT " cycle%s %.2g of noise is left, the last one has left "
                                     "%.2g of what was there\n",
                                     fallback->cycles, fallback->cycles > 1 ? "s" : "", (double)fallback->left,
                                     (double)fallback->last));
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "    after %d it may be %.2g: %s than %g%s\n", KCYCLE_FALLBACK_AHEAD, (double)fallback->ahead,
        fallback->ahead > KCYCLE_FALLBACK_LEFT ? "more" : "not more", (double)KCYCLE_FALLBACK_LEFT,
        fallback->pc ? ", so that another preconditioner takes their place" : ""));
  }
  if (fallback->why)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  cycles stay, although coefficients jump, which they may converge slowly for: %s\n", fallback->why));
  if (!fallback->pc) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(PCView(fallback->pc, viewer));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleSetFallback - Sets whether another preconditioner takes the place of cycles that converge too slowly.

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- which - `PC_KCYCLE_FALLBACK_AUTO` or `PC_KCYCLE_FALLBACK_OFF`

  Options Database Key:
. -pc_kcycle_fallback (auto|off) - whether another preconditioner takes the place of cycles that converge too slowly

  Level: intermediate

  Notes:
  With `PC_KCYCLE_FALLBACK_AUTO` set-up looks at structured levels on which coefficients jump by more than 30,000
  at clusters of strongly coupled points, lines or planes. There up to 3 cycles on A x = 0 from noise, the same on
  any number of processes, are measured, and where 6 of them would leave too much of it, BoomerAMG of `PCHYPRE` is
  applied in their place; the levels stay as they are. `-ksp_view` shows what was measured, and why nothing was where
  coefficients jump so much.

  Its options have the prefix `-kcycle_fallback_`, as in `-kcycle_fallback_pc_hypre_boomeramg_strong_threshold 0.5`;
  `-kcycle_fallback_pc_type` chooses another type. By default BoomerAMG coarsens by HMIS, with the threshold 0.25,
  interpolates by ext+i with at most 4 entries a row, and relaxes by l1-Gauss-Seidel, backward after the coarser
  levels, without CF-relaxation.

  Cycles stay where anything of them was chosen (kappa, levels, smoothers, interpolation and so on), on
  devices, for operators that are not symmetric, where parts of the grid are closed, and without hypre. With new values
  of the operator the choice is kept, until a solve has taken more iterations, by half, than the first one.

  `PC_KCYCLE_FALLBACK_OFF` takes effect at once, `PC_KCYCLE_FALLBACK_AUTO` at the next set-up.

.seealso: `PCKCYCLE`, `PCKCycleGetFallback()`, `PCHYPRE`
@*/
PetscErrorCode PCKCycleSetFallback(PC pc, PCKCycleFallbackType which)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, which, 2);
  PetscCall(KCycleCheckChoice(pc, PCKCycleFallbackTypes, (int)which));
  kc = KCycleOf(pc);
  if (!kc) PetscFunctionReturn(PETSC_SUCCESS);
  kc->fallback.wanted = which;
  if (which == PC_KCYCLE_FALLBACK_OFF) PetscCall(PCKCycleFallbackReset(kc));
  PetscCall(PCKCycleInstall(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetFallback - Gets whether another preconditioner takes the place of cycles that converge too slowly.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameters:
+ which - `PC_KCYCLE_FALLBACK_AUTO` or `PC_KCYCLE_FALLBACK_OFF`; or `NULL`
- inner - the other preconditioner, which this one owns, or `NULL` if cycles converge fast enough or nothing can take
          their place; or `NULL`

  Level: intermediate

.seealso: `PCKCYCLE`, `PCKCycleSetFallback()`
@*/
PetscErrorCode PCKCycleGetFallback(PC pc, PCKCycleFallbackType *which, PC *inner)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  if (which) PetscAssertPointer(which, 2);
  if (inner) PetscAssertPointer(inner, 3);
  PetscCall(PCKCycleGetContext(pc, &kc));
  if (which) *which = kc->fallback.wanted;
  if (inner) *inner = kc->fallback.pc;
  PetscFunctionReturn(PETSC_SUCCESS);
}
