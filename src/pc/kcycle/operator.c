/*
  What PCKCYCLE looks at before it builds anything: is the operator sound, and does it have a kernel?
*/
#include <petsckcycle/private/failureimpl.h>
#include "kcycleimpl.h"
#include <petsckcycle/private/stencilimpl.h>

static const char NotFinite[] = "The operator has a NaN or Inf in row %" PetscInt_FMT
                                ": look for a division by zero or an unset coefficient in its assembly";
static const char ZeroDiagonal[] = "The operator has a zero diagonal entry in row %" PetscInt_FMT
                                   ", which point smoothers divide by: check the assembly of that row, or choose a "
                                   "smoother that does without, -mg_levels_pc_type ilu for instance";
static const char AllZero[] =
    "The operator for the preconditioner is zero in all rows: assemble it, or use -pc_type none, as SNESASPIN does";

/*
  A fault in the numbers: the solve fails with KSP_DIVERGED_PC_FAILED, as PETSc's factorizations do, so that SNES and TS
  can recover. The reason is shown by -ksp_view and -info; with -ksp_error_if_not_converged it is an error.
*/
static PetscErrorCode KCycleFail(PC pc, const char format[], PetscInt row)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(kc->failure, sizeof(kc->failure), format, row));
  PetscCall(PetscInfo(pc, "%s\n", kc->failure));
  PetscCall(PCSetFailedReason(pc, PC_SUBPC_ERROR));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Global number of the first entry that is zero, or not finite; -1 if none is. On the host: only called when a
   reduction has found that there is one */
static PetscErrorCode FindEntry(Vec v, PetscBool zero, PetscInt *row)
{
  const PetscScalar *a;
  PetscInt           n, start, local = PETSC_INT_MAX, first;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetOwnershipRange(v, &start, NULL));
  PetscCall(VecGetArrayRead(v, &a));
  for (PetscInt i = 0; i < n && local == PETSC_INT_MAX; i++) {
    if (zero ? a[i] == (PetscScalar)0 : PetscIsInfOrNanScalar(a[i]) != 0) local = start + i;
  }
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscCallMPI(MPI_Allreduce(&local, &first, 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)v)));
  *row = first == PETSC_INT_MAX ? -1 : first;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does the smoother of the finest level divide by the diagonal? Its options have not been read yet, and levels on
   coarser grids may not be there */
static PetscErrorCode SmootherDivides(PC pc, PetscBool *divides)
{
  const char *const points[] = {PCSOR, PCJACOBI, PCPBJACOBI, PCEISENSTAT, PCRELAX};
  PC_MG            *mg       = (PC_MG *)pc->data;
  PetscObject       o        = (PetscObject)pc;
  char              type[64] = PCSOR;
  PC_KCycle        *kc       = KCycleOf(pc);
  PC                smoother;

  PetscFunctionBegin;
  if (mg->levels && (mg->nlevels > 1 || !KCycleMakesOperators(kc))) {
    if (!kc->ready) PetscCall(KSPSetFromOptions(mg->levels[mg->nlevels - 1]->smoothd));
    PetscCall(KSPGetPC(mg->levels[mg->nlevels - 1]->smoothd, &smoother));
    PetscCall(PetscStrncpy(type, ((PetscObject)smoother)->type_name ? ((PetscObject)smoother)->type_name : PCSOR,
                           sizeof(type)));
  } else if (kc->use_grids)
    PetscCall(PetscOptionsGetString(o->options, o->prefix, "-mg_levels_pc_type", type, sizeof(type), NULL));
  *divides = PETSC_FALSE;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(points) && !*divides; i++)
    PetscCall(PetscStrcmp(type, points[i], divides));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Several unknowns at a point may have zeros on the diagonal by right: unless smoothers were chosen, there are some that
  do without it. Levels on coarser grids get them when they are made
*/
static PetscErrorCode ChooseFactors(PC pc, PetscBool *done)
{
  PC_MG     *mg     = (PC_MG *)pc->data;
  PC_KCycle *kc     = KCycleOf(pc);
  PetscBool  chosen = PETSC_FALSE;
  PetscInt   bs;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(pc->pmat, &bs));
  *done = PETSC_FALSE;
  if (kc->use_structure || kc->gamg || bs == 1) PetscFunctionReturn(PETSC_SUCCESS);
  if (kc->use_grids)
    PetscCall(
        PetscOptionsHasName(((PetscObject)pc)->options, ((PetscObject)pc)->prefix, "-mg_levels_pc_type", &chosen));
  *done = (PetscBool)(kc->use_grids && !chosen);
  for (PetscInt l = 1; !kc->use_grids && l < mg->nlevels; l++)
    PetscCall(KCycleLevelFactor(mg->levels[l], kc->choice[l], done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FailUnlessSmoothersStand(PC pc, PetscInt row)
{
  PetscBool divides = PETSC_TRUE, chosen = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(SmootherDivides(pc, &divides));
  if (divides) PetscCall(ChooseFactors(pc, &chosen));
  if (divides && !chosen) PetscCall(KCycleFail(pc, ZeroDiagonal, row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckDiagonal(PC pc, Vec diagonal, Vec work)
{
  PetscReal smallest, norm = 1;
  PetscInt  row = -1;
  PetscBool has;

  PetscFunctionBegin;
  PetscCall(VecCopy(diagonal, work));
  PetscCall(VecAbs(work));
  PetscCall(VecMin(work, NULL, &smallest));
  if (smallest > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatHasOperation(pc->pmat, MATOP_NORM, &has));
  if (has && KCycleOf(pc)->scale == 0) PetscCall(MatNorm(pc->pmat, NORM_FROBENIUS, &norm));
  if (norm == 0) {
    PetscCall(KCycleFail(pc, AllZero, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(FindEntry(diagonal, PETSC_TRUE, &row));
  PetscCall(FailUnlessSmoothersStand(pc, row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Largest row sum relative to the diagonal: zero, up to rounding, if the operator maps constants to zero */
static PetscErrorCode RelativeSums(Vec sums, Vec diagonal, Vec work, PetscReal *largest)
{
  PetscFunctionBegin;
  PetscCall(VecPointwiseDivide(work, sums, diagonal));
  PetscCall(VecNorm(work, NORM_INFINITY, largest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* May constants, and nothing else, span the kernel of an operator that maps them to zero? */
static PetscErrorCode KernelMayBeConstant(Mat A, MatNullSpace nullspace, PetscBool *may)
{
  PetscInt  extra        = 0, bs;
  PetscBool has_constant = PETSC_TRUE;

  PetscFunctionBegin;
  if (nullspace) PetscCall(MatNullSpaceGetVecs(nullspace, &has_constant, &extra, NULL));
  PetscCall(MatGetBlockSize(A, &bs));
  *may = (PetscBool)(has_constant && !extra && bs == 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Do constants, and nothing else, span the kernel of the operator and that of its transpose? Then projecting them out of
  right sides and solutions makes any factorization a pseudo-inverse. Both vectors are overwritten.
*/
static PetscErrorCode KernelIsConstant(Mat A, MatNullSpace nullspace, Vec ones, Vec work, PetscBool *constant)
{
  PetscBool has_transpose;
  PetscReal columns;

  PetscFunctionBegin;
  PetscCall(KernelMayBeConstant(A, nullspace, constant));
  PetscCall(MatHasOperation(A, MATOP_MULT_TRANSPOSE, &has_transpose));
  if (!has_transpose) *constant = PETSC_FALSE;
  if (!*constant) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMultTranspose(A, ones, work));
  PetscCall(MatGetDiagonal(A, ones));
  PetscCall(RelativeSums(work, ones, work, &columns));
  *constant = (PetscBool)(columns < KCYCLE_ROUNDING);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The null space that is attached to the operator, or NULL */
PetscErrorCode PCKCycleGetNullSpace(PC pc, MatNullSpace *nullspace)
{
  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(pc->pmat, nullspace));
  if (!*nullspace) PetscCall(MatGetNullSpace(pc->mat, nullspace));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* rows: the largest row sum relative to the diagonal */
static PetscErrorCode ChooseKernel(PC pc, PetscReal rows, MatNullSpace *nullspace)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(PCKCycleGetNullSpace(pc, nullspace));
  kc->kernel_constant = PETSC_FALSE;
  if (*nullspace) kc->kernel = KCYCLE_NULLSPACE;
  else if (rows < KCYCLE_ROUNDING) {
    kc->kernel = KCYCLE_ZERO_ROW_SUMS;
    PetscCall(PetscInfo(pc, "All row sums of the operator are zero and no null space is attached: taken as singular "
                            "with constants in its kernel. Attach it with "
                            "MatSetNullSpace(), so that KSP makes right sides consistent\n"));
  } else kc->kernel = KCYCLE_REGULAR;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckKernel(PC pc, Vec ones, Vec sums, Vec diagonal, Vec work)
{
  MatNullSpace nullspace;
  PetscReal    rows;

  PetscFunctionBegin;
  PetscCall(RelativeSums(sums, diagonal, work, &rows));
  PetscCall(ChooseKernel(pc, rows, &nullspace));
  if (rows < KCYCLE_ROUNDING)
    PetscCall(KernelIsConstant(pc->pmat, nullspace, ones, work, &KCycleOf(pc)->kernel_constant));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same of a stencil whose row sums are zero; those of its columns are, too, if it is symmetric */
static PetscErrorCode StencilKernelIsConstant(Mat A, MatNullSpace nullspace, PetscBool *constant)
{
  PetscBool symmetric;
  Vec       ones, work;

  PetscFunctionBegin;
  PetscCall(MatStencilIsSymmetric(A, &symmetric));
  if (symmetric) {
    PetscCall(KernelMayBeConstant(A, nullspace, constant));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatCreateVecs(A, &ones, &work));
  PetscCall(VecSet(ones, 1.0));
  PetscCall(KernelIsConstant(A, nullspace, ones, work, constant));
  PetscCall(VecDestroy(&ones));
  PetscCall(VecDestroy(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckStencil(PC pc)
{
  PC_KCycle        *kc = KCycleOf(pc);
  MatNullSpace      nullspace;
  const KCycleScan *scan;
  Mat               A = kc->grids[0].A;

  PetscFunctionBegin;
  PetscCall(MatStencilScan(A, &scan));
  kc->gaps  = (PetscBool)(scan->cuts || scan->empty < PETSC_INT_MAX);
  kc->holes = (PetscBool)(kc->gaps || scan->isolated);
  if (scan->notfinite < PETSC_INT_MAX) PetscCall(KCycleFail(pc, NotFinite, scan->notfinite));
  else if (scan->scale == 0) PetscCall(KCycleFail(pc, AllZero, 0));
  else if (scan->zero < PETSC_INT_MAX) PetscCall(FailUnlessSmoothersStand(pc, scan->zero));
  if (kc->failure[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCKCycleBalance(pc));
  A = kc->grids[0].A;
  PetscCall(MatStencilScan(A, &scan));
  kc->scale = scan->scale;
  PetscCall(ChooseKernel(pc, scan->sums, &nullspace));
  if (scan->sums < KCYCLE_ROUNDING) PetscCall(StencilKernelIsConstant(A, nullspace, &kc->kernel_constant));
  if (scan->empty < PETSC_INT_MAX) PetscCall(PCKCyclePinEmptyRows(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  One product with the vector of ones finds NaN and Inf anywhere in the operator, and zero row sums.
*/
static PetscErrorCode CheckMatrix(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);
  Vec        ones, sums, diagonal, work;
  PetscInt   row = -1;
  PetscReal  norm;
  PetscBool  has;

  PetscFunctionBegin;
  PetscCall(MatHasOperation(pc->pmat, MATOP_GET_DIAGONAL, &has));
  if (!has) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(pc->pmat, &ones, &sums));
  PetscCall(VecDuplicate(sums, &diagonal));
  PetscCall(VecDuplicate(sums, &work));
  PetscCall(VecSet(ones, 1.0));
  PetscCall(MatSetErrorIfFailure(pc->pmat, PETSC_FALSE)); /* MatMult() would stop at a NaN and not say where it is */
  PetscCall(MatMult(pc->pmat, ones, sums));
  PetscCall(MatSetErrorIfFailure(pc->pmat, pc->erroriffailure));
  PetscCall(VecNorm(sums, NORM_1, &norm));
  if (PetscIsInfOrNanReal(norm)) PetscCall(FindEntry(sums, PETSC_FALSE, &row));
  if (row >= 0) PetscCall(KCycleFail(pc, NotFinite, row));
  else {
    PetscCall(MatGetDiagonal(pc->pmat, diagonal));
    PetscCall(VecNorm(diagonal, NORM_INFINITY, &kc->scale));
    PetscCall(CheckDiagonal(pc, diagonal, work));
    if (!kc->failure[0]) PetscCall(CheckKernel(pc, ones, sums, diagonal, work));
  }
  PetscCall(VecDestroy(&ones));
  PetscCall(VecDestroy(&sums));
  PetscCall(VecDestroy(&diagonal));
  PetscCall(VecDestroy(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* That of the last set-up, and those of the solvers of levels that it may have come from */
static PetscErrorCode ForgetFailures(PC pc)
{
  PC_MG         *mg = (PC_MG *)pc->data;
  PCFailedReason reason;
  PC             level;

  PetscFunctionBegin;
  PetscCall(PCGetFailedReason(pc, &reason));
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  for (PetscInt l = 0; reason && mg->levels && l < mg->nlevels; l++) {
    PetscCall(KSPGetPC(mg->levels[l]->smoothd, &level));
    PetscCall(KCyclePCForgetFailure(level));
    if (mg->levels[l]->smoothu == mg->levels[l]->smoothd || !mg->levels[l]->smoothu) continue;
    PetscCall(KSPGetPC(mg->levels[l]->smoothu, &level));
    PetscCall(KCyclePCForgetFailure(level));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCKCycleCheckOperator(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  kc->failure[0] = 0;
  PetscCall(ForgetFailures(pc));
  kc->kernel          = KCYCLE_REGULAR;
  kc->kernel_constant = PETSC_FALSE;
  kc->scale           = 1.0;
  kc->gaps            = PETSC_FALSE;
  kc->holes           = PETSC_FALSE;
  kc->nclosed         = 0;
  if (kc->use_structure) PetscCall(CheckStencil(pc));
  else PetscCall(CheckMatrix(pc));
  if (kc->finer.exists) {
    kc->kernel          = kc->finer.kernel;
    kc->kernel_constant = kc->finer.kernel_constant;
    if (kc->finer.gaps) kc->gaps = PETSC_TRUE;
    if (kc->finer.holes) kc->holes = PETSC_TRUE;
  }
  PetscCheck(!kc->failure[0] || !pc->erroriffailure, PetscObjectComm((PetscObject)pc), PETSC_ERR_NOT_CONVERGED, "%s",
             kc->failure);
  PetscFunctionReturn(PETSC_SUCCESS);
}
