/*
  The solver of the coarsest problem, which may be singular: pivots, null spaces, a pseudo-inverse.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/stencilimpl.h>

/* The PC that factors the coarsest operator: inside PCREDUNDANT on several processes, NULL if the coarse solver is
   of another kind */
static PetscErrorCode CoarseFactorPC(PC coarse, PC *factor)
{
  PetscBool redundant, factors;
  KSP       inner;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)coarse, PCREDUNDANT, &redundant));
  if (redundant) {
    PetscCall(PCRedundantGetKSP(coarse, &inner));
    if (!coarse->setupcalled) PetscCall(KSPSetFromOptions(inner)); /* as PCREDUNDANT does at set-up */
    PetscCall(KSPGetPC(inner, &coarse));
  }
  PetscCall(PetscObjectTypeCompareAny((PetscObject)coarse, &factors, PCLU, PCCHOLESKY, ""));
  *factor = factors ? coarse : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest entry on the diagonal of the coarsest operator and its rows, or the entry of the finest one and 1 row
   while that is not known */
static PetscErrorCode CoarseScale(const PC_KCycle *kc, KSP coarse, PetscReal *scale, PetscInt *rows)
{
  Mat       A;
  Vec       diagonal;
  PetscBool set;

  PetscFunctionBegin;
  *scale = kc->scale;
  *rows  = 1;
  PetscCall(KSPGetOperatorsSet(coarse, NULL, &set));
  if (!KCycleMakesOperators(kc) || !set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetOperators(coarse, &A, NULL));
  PetscCall(MatGetSize(A, rows, NULL));
  PetscCall(MatCreateVecs(A, &diagonal, NULL));
  PetscCall(MatGetDiagonal(A, diagonal));
  PetscCall(VecNorm(diagonal, NORM_INFINITY, scale));
  PetscCall(VecDestroy(&diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  What counts as a zero pivot, and takes its place: a tiny one, so that inverse iteration finds a kernel; but where
  parts of the grid may be closed, each with a zero pivot, a huge one holds its point, and what remains are the
  equations of the others. PETSc adds it to the pivot, of which nothing may be left. The last pivot of a part has the
  rounding of all that was subtracted from it.
*/
static PetscErrorCode SetZeroPivot(PC_KCycle *kc, PC factor, PetscReal scale, PetscInt rows)
{
  const PetscReal    many     = PetscMax(10, PetscSqrtReal((PetscReal)rows));
  const PetscReal    zero     = (kc->gaps ? many : 1) * 100 * PETSC_MACHINE_EPSILON;
  const PetscReal    amount   = kc->gaps ? 1 / (PETSC_MACHINE_EPSILON * PETSC_MACHINE_EPSILON) : 10 * zero;
  const PetscReal    standard = 100 * PETSC_MACHINE_EPSILON; /* of PETSc */
  KCyclePivot       *pivot    = &kc->pivot;
  const PetscObject  o        = (PetscObject)factor;
  MatFactorShiftType shift;
  PetscReal          now[2];
  PetscBool          given, other = (PetscBool)(pivot->pc != o->id);

  PetscFunctionBegin;
  PetscCall(PCFactorGetZeroPivot(factor, &now[0]));
  PetscCall(PCFactorGetShiftAmount(factor, &now[1]));
  PetscCall(PetscOptionsHasName(o->options, o->prefix, "-pc_factor_zeropivot", &given));
  if (!given && now[0] == (other ? standard : pivot->zero)) PetscCall(PCFactorSetZeroPivot(factor, zero * scale));
  PetscCall(PetscOptionsHasName(o->options, o->prefix, "-pc_factor_shift_amount", &given));
  if (!given && now[1] == (other ? standard : pivot->amount)) PetscCall(PCFactorSetShiftAmount(factor, amount * scale));
  PetscCall(PCFactorGetShiftType(factor, &shift));
  PetscCall(PetscOptionsHasName(o->options, o->prefix, "-pc_factor_shift_type", &given));
  if (!given && shift == MAT_SHIFT_NONE) PetscCall(PCFactorSetShiftType(factor, MAT_SHIFT_INBLOCKS));
  pivot->pc     = o->id;
  pivot->zero   = zero * scale;
  pivot->amount = amount * scale;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Before the hierarchy is set up, while the coarse solver can still be told what to do. PETSc takes a pivot for zero
  below an absolute 2e-14; that is made relative to the operator, so that small units are no singularity and a singular
  operator is one in any units.
*/
PetscErrorCode PCKCycleCoarseBefore(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);
  KSP        coarse;
  PC         solver, factor;
  PetscReal  scale;
  PetscInt   rows;

  PetscFunctionBegin;
  if (mg->galerkin == PC_MG_GALERKIN_EXTERNAL && !KCycleMakesOperators(kc)) PetscFunctionReturn(PETSC_SUCCESS);
  coarse = mg->levels[0]->smoothd;
  if (!kc->ready) PetscCall(KSPSetFromOptions(coarse));
  PetscCall(KSPGetPC(coarse, &solver));
  PetscCall(CoarseFactorPC(solver, &factor));
  if (!factor) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CoarseScale(kc, coarse, &scale, &rows));
  PetscCall(SetZeroPivot(kc, factor, scale, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is there one of these options, with the prefix of the object? */
PetscErrorCode KCycleHasOption(PetscObject o, size_t n, const char *const names[], PetscBool *has)
{
  PetscFunctionBegin;
  *has = PETSC_FALSE;
  for (size_t i = 0; i < n && !*has; i++) PetscCall(PetscOptionsHasName(o->options, o->prefix, names[i], has));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  What the last set-up did because the operator was singular is undone: the next operator may be regular. The coarsest
  matrix has the null spaces that it had, and the coarsest solver its own preconditioner, unless the program has chosen
  others since
*/
PetscErrorCode PCKCycleCoarseForget(PC pc)
{
  PC_MG     *mg  = (PC_MG *)pc->data;
  PC_KCycle *kc  = KCycleOf(pc);
  PetscBool  svd = PETSC_FALSE;

  PetscFunctionBegin;
  if (kc->singular) {
    MatNullSpace now[2];

    PetscCall(MatGetNullSpace(kc->singular, &now[0]));
    PetscCall(MatGetTransposeNullSpace(kc->singular, &now[1]));
    if (now[0] && ((PetscObject)now[0])->id == kc->singular_got[0])
      PetscCall(MatSetNullSpace(kc->singular, kc->singular_had[0]));
    if (now[1] && ((PetscObject)now[1])->id == kc->singular_got[1])
      PetscCall(MatSetTransposeNullSpace(kc->singular, kc->singular_had[1]));
  }
  PetscCall(MatDestroy(&kc->singular));
  for (int i = 0; i < 2; i++) PetscCall(MatNullSpaceDestroy(&kc->singular_had[i]));
  if (kc->svd) PetscCall(PetscObjectTypeCompare((PetscObject)kc->svd, PCSVD, &svd));
  if (svd && mg->levels && mg->levels[0]->smoothd->pc == kc->svd)
    PetscCall(KSPSetPC(mg->levels[0]->smoothd, kc->svd_before));
  PetscCall(PCDestroy(&kc->svd));
  PetscCall(PCDestroy(&kc->svd_before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCSVD's threshold is absolute and has no setter: it is made relative to the operator through its option */
static PetscErrorCode SetThreshold(PC svd, PetscReal scale)
{
  PetscOptions options = ((PetscObject)svd)->options;
  PetscBool    given;
  char         name[256], value[64];
  const char  *prefix;

  PetscFunctionBegin;
  PetscCall(PCGetOptionsPrefix(svd, &prefix));
  PetscCall(PetscSNPrintf(name, sizeof(name), "-%spc_svd_zero_sing", prefix));
  PetscCall(PetscSNPrintf(value, sizeof(value), "%g", (double)(KCYCLE_ROUNDING * scale)));
  PetscCall(PetscOptionsHasName(options, NULL, name, &given));
  if (!given) PetscCall(PetscOptionsSetValue(options, name, value));
  PetscCall(PCSetFromOptions(svd));
  if (!given) PetscCall(PetscOptionsClearValue(options, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pseudo-inverse by SVD, in the place of the coarsest solver's preconditioner */
static PetscErrorCode CoarseUseSVD(PC pc, KSP coarse)
{
  PC_KCycle  *kc = KCycleOf(pc);
  Mat         A, P;
  PetscInt    rows;
  const char *prefix;

  PetscFunctionBegin;
  PetscCall(KSPGetOperators(coarse, &A, &P));
  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCheck(rows <= KCYCLE_MAX_SVD_ROWS, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "The coarsest operator is singular and has %" PetscInt_FMT
             " rows, too many for a pseudo-inverse by SVD (at most %d): use more levels, or choose a solver with "
             "-mg_coarse_pc_type",
             rows, KCYCLE_MAX_SVD_ROWS);
  PetscCall(KSPGetPC(coarse, &kc->svd_before));
  PetscCall(PetscObjectReference((PetscObject)kc->svd_before));
  PetscCall(PCCreate(PetscObjectComm((PetscObject)coarse), &kc->svd));
  PetscCall(PetscObjectIncrementTabLevel((PetscObject)kc->svd, (PetscObject)coarse, 0));
  PetscCall(PetscObjectSetOptions((PetscObject)kc->svd, ((PetscObject)coarse)->options));
  PetscCall(KSPGetOptionsPrefix(coarse, &prefix));
  PetscCall(PCSetOptionsPrefix(kc->svd, prefix));
  PetscCall(PCSetOperators(kc->svd, A, P));
  PetscCall(PCSetType(kc->svd, PCSVD));
  PetscCall(SetThreshold(kc->svd, kc->scale));
  PetscCall(KSPSetPC(coarse, kc->svd));
  PetscCall(KSPSetUp(coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  When the coarsest operator exists. Whether the finest one is singular is not known where it has closed parts and
  others: the coarsest one says that. KSP projects its kernel out of right side and solution, and a factorization is as
  good as a pseudo-inverse; where the coarsest solver is none that factors the whole operator there is one by SVD.
*/
PetscErrorCode PCKCycleCoarseAfter(PC pc)
{
  const char *const types[] = {"-ksp_type", "-pc_type", "-redundant_pc_type", "-sub_pc_type"};
  PC_MG            *mg      = (PC_MG *)pc->data;
  PC_KCycle        *kc      = KCycleOf(pc);
  KSP               coarse  = mg->levels[0]->smoothd;
  PC                solver, factor;
  Mat               A;
  PetscBool         given, parts;

  PetscFunctionBegin;
  if (kc->unknowns.use) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetOperators(coarse, &A, NULL));
  PetscCall(PCKCycleCoarseUseParts(pc, A, &parts));
  PetscCall(PCKCycleFindClosed(pc));
  if (kc->kernel == KCYCLE_REGULAR || parts) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleHasOption((PetscObject)coarse, PETSC_STATIC_ARRAY_LENGTH(types), types, &given));
  PetscCall(KSPGetPC(coarse, &solver));
  PetscCall(CoarseFactorPC(solver, &factor));
  if (kc->kernel_constant && (mg->galerkin != PC_MG_GALERKIN_EXTERNAL || KCycleMakesOperators(kc)))
    PetscCall(PCKCycleCoarseUseConstants(pc, A));
  else if (factor) PetscCall(PCKCycleCoarseFindKernel(pc, solver, A));
  else if (!given && !kc->choice[0][0].chose && !KCycleLevelIsTheirs(kc, 0)) PetscCall(CoarseUseSVD(pc, coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}
