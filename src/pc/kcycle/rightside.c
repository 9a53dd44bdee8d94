/*
  Operators whose rows are those of a symmetric one, multiplied by numbers: with D from MatStencilBalance() levels are
  those of D A, with kernels, clusters and transfers of a symmetric operator, and the preconditioner of A is M D with
  that of D A, M.

  A singular operator has no solution for some right sides. Where the part of them that is left over is more than
  rounding cycles work on the rest, as Krylov methods do where they know the kernel from the left, and the view and
  -info say so; the program's right side is as it was.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/stencilimpl.h>
#include <petsckcycle/private/transferimpl.h>

PetscErrorCode PCKCycleBalanceReset(PC_KCycle *kc)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(kc->d));
  PetscCall(MatDestroy(&kc->plain));
  for (int i = 0; i < 2; i++) PetscCall(VecDestroy(&kc->prepared[i]));
  PetscCall(MatNullSpaceDestroy(&kc->range));
  PetscCall(MatNullSpaceDestroy(&kc->nullspace));
  kc->projects = kc->always = PETSC_FALSE;
  kc->gap                   = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The stencil of the program's operator is the finest one again, to get its new values */
PetscErrorCode PCKCycleBalanceUndo(PC_KCycle *kc)
{
  PetscFunctionBegin;
  if (kc->plain) {
    PetscCall(MatDestroy(&kc->grids[0].A));
    kc->grids[0].A = kc->plain;
    kc->plain      = NULL;
  }
  PetscCall(PCKCycleBalanceReset(kc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The finest operator becomes D A; not where the program assembles coarser ones */
PetscErrorCode PCKCycleBalance(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);
  Mat        balanced;

  PetscFunctionBegin;
  PetscCall(PCKCycleBalanceUndo(kc));
  if (kc->finer.exists || kc->assembled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStencilBalance(kc->grids[0].A, &kc->d, &balanced));
  if (!balanced) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(pc, "The operator is symmetric when its rows are scaled: levels are those of the scaled one\n"));
  kc->plain      = kc->grids[0].A;
  kc->grids[0].A = balanced;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors like b, and D in the first one */
static PetscErrorCode CreateVectors(PC_KCycle *kc, Vec b)
{
  PetscScalar *a;
  PetscInt     n;

  PetscFunctionBegin;
  for (int i = kc->d ? 0 : 1; i < 2; i++) {
    PetscCall(VecDestroy(&kc->prepared[i]));
    PetscCall(VecDuplicate(b, &kc->prepared[i]));
  }
  if (!kc->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(b, &n));
  PetscCall(VecGetArrayWrite(kc->prepared[0], &a));
  PetscCall(PetscArraycpy(a, kc->d, n));
  PetscCall(VecRestoreArrayWrite(kc->prepared[0], &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For vectors like v, if they are not there */
static PetscErrorCode NeedVectors(PC_KCycle *kc, Vec v)
{
  VecType   type;
  PetscBool same = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(VecGetType(v, &type));
  if (kc->prepared[1] && (!kc->d || kc->prepared[0]))
    PetscCall(PetscObjectTypeCompare((PetscObject)kc->prepared[1], type, &same));
  if (!same) PetscCall(CreateVectors(kc, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector like v, that is not in use between cycles */
PetscErrorCode PCKCycleGetWork(PC_KCycle *kc, Vec v, Vec *work)
{
  PetscFunctionBegin;
  PetscCall(NeedVectors(kc, v));
  *work = kc->prepared[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A right side becomes that of the finest level, D times the part that solutions have, in another vector */
PetscErrorCode PCKCyclePrepare(PC_KCycle *kc, PetscBool transpose, Vec *b)
{
  PetscFunctionBegin;
  if (transpose || (!kc->d && !kc->projects)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(NeedVectors(kc, *b));
  if (kc->projects) PetscCall(VecCopy(*b, kc->prepared[1]));
  if (kc->projects) PetscCall(MatNullSpaceRemove(kc->range, kc->prepared[1]));
  if (kc->d) PetscCall(VecPointwiseMult(kc->prepared[1], kc->projects ? kc->prepared[1] : *b, kc->prepared[0]));
  *b = kc->prepared[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the finest level has found becomes the answer; with transposes that is D M^T b */
PetscErrorCode PCKCycleFinish(PC_KCycle *kc, PetscBool transpose, Vec x)
{
  PetscFunctionBegin;
  if (kc->projects && !transpose) PetscCall(MatNullSpaceRemove(kc->nullspace, x));
  if (!kc->d || !transpose) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(NeedVectors(kc, x));
  PetscCall(VecPointwiseMult(x, x, kc->prepared[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* D times the vectors of a kernel of D A, orthonormal: what right sides have nothing of */
static PetscErrorCode GetRange(PC_KCycle *kc, MatNullSpace kernel, Vec b, MatNullSpace *range)
{
  PetscBool  constant;
  PetscInt   n, m;
  const Vec *v;
  Vec       *w;

  PetscFunctionBegin;
  *range = kernel;
  PetscCall(PetscObjectReference((PetscObject)kernel));
  if (!kc->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatNullSpaceGetVecs(kernel, &constant, &n, &v));
  m = n + (constant ? 1 : 0);
  PetscCall(NeedVectors(kc, b));
  PetscCall(VecDuplicateVecs(b, m, &w));
  for (PetscInt i = 0; i < m; i++) {
    if (i < n) PetscCall(VecPointwiseMult(w[i], v[i], kc->prepared[0]));
    else PetscCall(VecCopy(kc->prepared[0], w[i]));
    PetscCall(KCycleVecOrthonormalize(i, w, w[i]));
  }
  PetscCall(MatNullSpaceDestroy(range));
  PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)kernel), PETSC_FALSE, m, w, range));
  PetscCall(VecDestroyVecs(m, &w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the closed parts */
static PetscErrorCode UseClosed(PC_KCycle *kc, const KCycleClosed *closed)
{
  PetscFunctionBegin;
  PetscCall(MatNullSpaceDestroy(&kc->nullspace));
  PetscCall(MatNullSpaceDestroy(&kc->range));
  PetscCall(KCycleClosedKernel(closed, NULL, &kc->nullspace));
  PetscCall(KCycleClosedKernel(closed, kc->d, &kc->range));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of the finest operator, if it is known and symmetric: its kernel, and what right sides have nothing of. Vectors are
   as the finest level has them; NULL: not known */
static PetscErrorCode GetKernel(PC pc, Vec b)
{
  PC_KCycle   *kc = KCycleOf(pc);
  PetscBool    symmetric;
  MatNullSpace kernel = NULL;
  KCycleClosed closed;

  PetscFunctionBegin;
  if (kc->nclosed) {
    PetscCall(PCKCycleClosedFind(pc, &closed));
    if (closed.n) PetscCall(UseClosed(kc, &closed));
    PetscCall(KCycleClosedDestroy(&closed));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (kc->kernel_constant)
    PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)pc), PETSC_TRUE, 0, NULL, &kernel));
  else {
    PetscCall(MatStencilIsNearlySymmetric(kc->grids[0].A, &symmetric));
    if (symmetric) PetscCall(PCKCycleGetNullSpace(pc, &kernel));
    PetscCall(PetscObjectReference((PetscObject)kernel));
  }
  if (kernel) PetscCall(GetRange(kc, kernel, b, &kc->range));
  kc->nullspace = kernel;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where isolated points have tiny couplings on coarser grids, these make closed parts regular there that are singular
   here, but with a factor that makes rounding large */
PetscErrorCode PCKCycleFindClosed(PC pc)
{
  PC_KCycle   *kc = KCycleOf(pc);
  KCycleClosed closed;

  PetscFunctionBegin;
  kc->always = PETSC_FALSE;
  if (!kc->use_structure || kc->finer.exists || !kc->grids[0].P || !MatStencilTransferFilled(kc->grids[0].P) ||
      kc->found.ghostrows)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCKCycleClosedFind(pc, &closed));
  kc->always  = (PetscBool)(closed.n > 1 || (closed.n && closed.others));
  kc->nclosed = closed.n;
  if (kc->always) PetscCall(UseClosed(kc, &closed));
  PetscCall(KCycleClosedDestroy(&closed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The part of a right side that is in no image, relative */
static PetscErrorCode FindGap(PC_KCycle *kc, Vec b)
{
  PetscReal all, rest;
  Vec       part = NULL;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetWork(kc, b, &part));
  PetscCall(VecCopy(b, part));
  PetscCall(MatNullSpaceRemove(kc->range, part));
  PetscCall(VecAXPY(part, -1, b));
  PetscCall(VecNorm(b, NORM_2, &all));
  PetscCall(VecNorm(part, NORM_2, &rest));
  kc->gap = all > 0 ? rest / all : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a right side that is not consistent */
static const char Inconsistent[] =
    "The operator is singular, and a part of the right side, %g of it, is not in its range: no residual is smaller, "
    "and the solution is that for the rest. Take it out (MatNullSpaceRemove()), or have KSP do so: attach the null "
    "space of the transpose (MatSetTransposeNullSpace()), or, with a null space attached, say that the operator is "
    "symmetric "
    "(MatSetOption() with MAT_SYMMETRIC)";

/* Is there a kernel that KSP does not take out of the right side of a solve, and that ends it in another way? */
static PetscErrorCode AsksForKernel(PC pc, KSP ksp, PetscBool *asks)
{
  PC_KCycle   *kc = KCycleOf(pc);
  MatNullSpace left;
  PetscBool    preonly;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPPREONLY, &preonly));
  PetscCall(MatGetTransposeNullSpace(pc->mat, &left));
  *asks = (PetscBool)(!left && !preonly && pc->mat == pc->pmat && (kc->kernel != KCYCLE_REGULAR || kc->nclosed));
  /* rows of vectors are others than those of the grid */
  if (kc->found.ghostrows && (kc->d || kc->nclosed || !kc->kernel_constant)) *asks = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before a solve: is its right side one that a singular operator has a solution for? KSP makes it so if a null
   space of the transpose is attached */
PetscErrorCode PCKCycleCheckRightSide(PC pc, KSP ksp, Vec b)
{
  PC_KCycle *kc   = KCycleOf(pc);
  PetscBool  asks = PETSC_FALSE;
  char       what[512];

  PetscFunctionBegin;
  kc->gap      = 0;
  kc->projects = PETSC_FALSE;
  if (!kc->ready || kc->failure[0] || !kc->use_structure || ksp->transpose_solve) PetscFunctionReturn(PETSC_SUCCESS);
  kc->projects = kc->always;
  PetscCall(AsksForKernel(pc, ksp, &asks));
  if (!asks) PetscFunctionReturn(PETSC_SUCCESS);
  if (!kc->always) {
    PetscCall(MatNullSpaceDestroy(&kc->range));
    PetscCall(MatNullSpaceDestroy(&kc->nullspace));
    PetscCall(GetKernel(pc, b));
  }
  if (!kc->range) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FindGap(kc, b));
  if (kc->gap <= PetscMax(KCYCLE_ROUNDING, 0.01 * ksp->rtol)) PetscFunctionReturn(PETSC_SUCCESS);
  kc->projects = PETSC_TRUE;
  PetscCall(PetscSNPrintf(what, sizeof(what), Inconsistent, (double)kc->gap));
  PetscCall(PetscInfo(pc, "%s\n", what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a solve: with -ksp_error_if_not_converged the cause is named */
PetscErrorCode PCKCycleExplainRightSide(PC pc, KSP ksp)
{
  PC_KCycle *kc           = KCycleOf(pc);
  PetscBool  inconsistent = (PetscBool)(kc->projects && kc->gap > KCYCLE_ROUNDING);

  PetscFunctionBegin;
  kc->projects = PETSC_FALSE;
  PetscCheck(!inconsistent || ksp->reason >= 0 || !ksp->errorifnotconverged, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_NOT_CONVERGED, Inconsistent, (double)kc->gap);
  PetscFunctionReturn(PETSC_SUCCESS);
}
