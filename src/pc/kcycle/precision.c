/*
  The precision of structured levels.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/stencilimpl.h>
#include <float.h>

const char *const PCKCyclePrecisionTypes[] = {
    "double", "single", "auto", "PCKCyclePrecisionType", "PC_KCYCLE_PRECISION_", NULL};

/* The transposed cycle on arrays is that of operators which are symmetric */
PetscErrorCode KCycleOperatorsAreSymmetric(PC_KCycle *kc, PetscBool *symmetric)
{
  PetscFunctionBegin;
  if (!kc->symmetric_known) {
    kc->symmetric = PETSC_TRUE;
    for (PetscInt i = 0; i < kc->ngrids - 1 && kc->symmetric; i++)
      PetscCall(MatStencilIsNearlySymmetric(kc->grids[i].A, &kc->symmetric));
    kc->symmetric_known = PETSC_TRUE;
  }
  *symmetric = kc->symmetric;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Times the sum over directions of 1 in one half of the grid and -1 in the other */
static void TimesHalves(const KCycleBox *box, PetscScalar a[])
{
  for (PetscInt i = 0, rest; i < box->npoints; i++) {
    PetscReal sum = 0;

    rest = i;
    for (int d = 0; d < 3; rest /= box->n[d++])
      if (box->size[d] > 1) sum += 2 * (box->start[d] + rest % box->n[d]) < box->size[d] ? 1 : -1;
    a[i] *= sum;
  }
}

/* The largest entry of A^-1 D 1, D the diagonal of A: the numbers whose difference a residual is exceed a right side
   by this factor. The coarsest problem tells; from level to level it grows as the sum of the diagonal does.
   With a kernel, the sum over directions of 1 in one half of the grid and -1 in the other */
static PetscErrorCode FindGain(PC pc, const KCycleScan *facts, PetscReal *gain)
{
  PC_MG_Levels *lv    = ((PC_MG *)pc->data)->levels[0];
  KCycleVisit   visit = {1, 1, PETSC_FALSE, PETSC_FALSE, PETSC_TRUE, PETSC_FALSE};
  PC_KCycle    *kc    = KCycleOf(pc);
  PetscScalar  *a, *x;
  PetscReal     sum, most;
  PetscBool     rests;
  Vec           b, to;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(lv->b, &b));
  PetscCall(VecDuplicate(lv->b, &to));
  PetscCall(MatGetDiagonal(KCycleGridOf(kc, 0)->A, b));
  PetscCall(VecNorm(b, NORM_1, &sum));
  PetscCall(VecGetArray(b, &a));
  if (kc->kernel != KCYCLE_REGULAR) TimesHalves(kc->parts[0].st->box, a);
  PetscCall(VecRestoreArray(b, &a));
  if (!kc->gathered.ours) PetscCall(KCycleCoarsestMakeConsistent(lv, b));
  PetscCall(VecGetArray(b, &a));
  PetscCall(VecGetArray(to, &x));
  rests = kc->timing.paused;
  if (!rests) PetscCall(PCKCycleModelPause(pc, PETSC_TRUE));
  PetscCall(PCKCycleSolveCoarsest(pc, &visit, a, x));
  if (!rests) PetscCall(PCKCycleModelPause(pc, PETSC_FALSE));
  PetscCall(VecRestoreArray(to, &x));
  PetscCall(VecRestoreArray(b, &a));
  PetscCall(VecNorm(to, NORM_INFINITY, &most));
  *gain = sum > 0 ? most * (facts->sum[0] + facts->sum[1] + facts->sum[2]) / sum : 0;
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The Krylov method is known now. Does it compute its residuals from the solution, or as that changes? Then rounding in
  corrections does not spoil them. KSPGMRES and others take the preconditioner for a linear function; KSPRICHARDSON
  iterates inside of the cycle, in double precision alone
*/
PetscErrorCode PCKCyclePrecisionFollow(PC pc, KSP ksp)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscBool  tolerant;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &tolerant, KSPCG, KSPKCG, KSPFCG, KSPFGMRES, KSPGCR, ""));
  kc->followed = PETSC_TRUE;
  if (tolerant == kc->tolerant && !kc->waits) PetscFunctionReturn(PETSC_SUCCESS);
  kc->tolerant = tolerant;
  if (!kc->engine || kc->precision != PC_KCYCLE_PRECISION_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCKCycleEngineSetUp(pc));
  PetscCall(PCKCycleModelChanged(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Have all smoothers kernels in single precision? Those that a program has registered may have none */
static PetscErrorCode HaveSingle(const PC_KCycle *kc, PetscBool *have)
{
  PetscFunctionBegin;
  *have = PETSC_TRUE;
  for (PetscInt l = 1; l < kc->nlevels; l++) {
    for (int w = 0; w < 2 && *have; w++) PetscCall(KCycleSmootherExists_Single(kc->parts[l].smoother[w]->name, have));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why levels cannot be in single precision, or NULL */
static const char *NotSingle(const PC_KCycle *kc, const KCycleScan *facts, PetscBool symmetric)
{
#if defined(PETSC_USE_COMPLEX)
  (void)kc;
  (void)facts;
  (void)symmetric;
  return "numbers are complex";
#else
  return kc->nlevels == 1                    ? "there is one level"
         : kc->followed && !kc->tolerant     ? "the Krylov method takes it for a linear function"
         : kc->at == KCYCLE_MEMORY_DEVICE    ? "levels are on a device"
         : !symmetric                        ? "the operator is not symmetric"
         : facts->jump > KCYCLE_ROUNDED_JUMP ? "coefficients jump too much"
         : kc->gaps || facts->cuts           ? "there may be pockets that hardly anything is coupled to"
                                             : NULL;
#endif
}

/* Are levels in single precision? Where that is to be found out, kc->precise says why they are not */
PetscErrorCode PCKCycleChoosePrecision(PC pc, const KCycleScan *facts, PetscBool *single)
{
  PC_KCycle  *kc        = KCycleOf(pc);
  PetscBool   symmetric = PETSC_FALSE, have;
  PetscReal   gain      = 0, rounding;
  const char *why;

  PetscFunctionBegin;
  kc->precise[0] = 0;
  *single        = (PetscBool)(kc->precision == PC_KCYCLE_PRECISION_SINGLE && kc->nlevels > 1);
  if (kc->precision != PC_KCYCLE_PRECISION_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  kc->engine = &KCycleEngine_Double; /* while it is not known */
  if (kc->tolerant || !kc->followed) PetscCall(KCycleOperatorsAreSymmetric(kc, &symmetric));
  PetscCall(HaveSingle(kc, &have));
  why = have ? NotSingle(kc, facts, symmetric) : "a smoother that the program has registered has no kernels for it";
  if (why) {
    PetscCall(PetscStrncpy(kc->precise, why, sizeof(kc->precise)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(FindGain(pc, facts, &gain));
  PetscCall(PetscInfo(pc, "A^-1 D 1 has entries of up to %g\n", (double)gain));
  rounding = gain * FLT_EPSILON / 2;
  *single  = (PetscBool)(rounding <= KCYCLE_ROUNDED);
  if (!*single)
    PetscCall(PetscSNPrintf(kc->precise, sizeof(kc->precise),
                            "rounding of single precision would be %.2g of a right side", (double)rounding));
  kc->waits = (PetscBool)(*single && !kc->followed);
  if (!kc->waits) PetscFunctionReturn(PETSC_SUCCESS);
  *single = PETSC_FALSE;
  PetscCall(PetscStrncpy(kc->precise, "the Krylov method is known when a solve begins", sizeof(kc->precise)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleSetPrecision - Sets the precision that the cycle computes with.

  Logically Collective

  Input Parameters:
+ pc - the preconditioner
- precision - `PC_KCYCLE_PRECISION_DOUBLE`, `PC_KCYCLE_PRECISION_SINGLE` or `PC_KCYCLE_PRECISION_AUTO`

  Options Database Key:
. -pc_kcycle_precision (auto|double|single) - the precision of the cycle (default auto)

  Level: intermediate

  Notes:
  In single precision all structured levels are copies in numbers of 4 bytes, halos and transfers included; the right
  side and the correction are converted at the finest level, and the coarsest problem is solved in PETSc's precision.
  Numbers are scaled, so that the size of the operator's entries does not matter. The Krylov method keeps its precision,
  and reaches the same tolerances as with a cycle in double precision; `KSPGMRES`, which takes corrections for a linear
  function of residuals until it restarts, stays above 1e-7 until then: use `KSPFGMRES`. `KSPRICHARDSON` computes
  residuals with the operator itself.

  With `PC_KCYCLE_PRECISION_AUTO`, the default, the cycle is in single precision in solves of `KSPCG`, `KSPKCG`,
  `KSPFCG`, `KSPFGMRES` and `KSPGCR`, whose residuals do not suffer from its rounding, where levels allow it, the
  operator A is symmetric, and rounding does not spoil it. A residual is the difference of numbers that are larger than
  a right side by up to the largest entry of A^{-1} D 1, D the diagonal of A; the coarsest problem, which is solved
  once, tells how large that is.
  Double precision is kept where coefficients jump by more than 1e5, where missing couplings may leave pockets, and on
  devices. `PCView()` says what was taken, and why.

  `PC_KCYCLE_PRECISION_SINGLE` is an error where levels are not structured, where a smoother is not `PCRELAX` in
  undamped `KSPRICHARDSON`, and for the transpose of an operator that is not symmetric.

.seealso: `PCKCYCLE`, `PCKCycleGetPrecision()`, `PCKCycleSetStructured()`, `PCRELAX`
@*/
PetscErrorCode PCKCycleSetPrecision(PC pc, PCKCyclePrecisionType precision)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, precision, 2);
  PetscCall(KCycleCheckChoice(pc, PCKCyclePrecisionTypes, (int)precision));
  /* Levels that are there are copied at once */
  KC_KCYCLE_CHANGE(pc, precision, precision);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetPrecision - Gets the precision that the cycle computes with.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. precision - `PC_KCYCLE_PRECISION_DOUBLE`, `PC_KCYCLE_PRECISION_SINGLE` or `PC_KCYCLE_PRECISION_AUTO`

  Level: intermediate

.seealso: `PCKCYCLE`, `PCKCycleSetPrecision()`
@*/
PetscErrorCode PCKCycleGetPrecision(PC pc, PCKCyclePrecisionType *precision)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(precision, 2);
  KC_KCYCLE_GET(pc, precision, precision);
  PetscFunctionReturn(PETSC_SUCCESS);
}
