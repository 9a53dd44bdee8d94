/*
  The kernel of a singular coarsest operator. Constants are known to span it, or constants on each of its connected
  parts that nothing flows out of, or it is sought by inverse iteration with the factors of the operator, in which tiny
  pivots stand in place of those that were zero.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/stencilimpl.h>

/* Numbers without a pattern, that depend on the row and not on the processes */
static PetscErrorCode FillWithoutPattern(Vec v, PetscInt which)
{
  PetscScalar *a;
  PetscInt     start, end;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(v, &start, &end));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt row = start; row < end; row++) {
    const PetscReal x = 1e4 * PetscSinReal((PetscReal)(row + 1) * (PetscReal)(2 * which + 1));

    a[row - start] = x - PetscFloorReal(x) + 0.5;
  }
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector of length 1, orthogonal to others of length 1. Twice is enough */
PetscErrorCode KCycleVecOrthonormalize(PetscInt n, const Vec basis[], Vec v)
{
  PetscScalar dot;

  PetscFunctionBegin;
  PetscCall(VecNormalize(v, NULL));
  for (PetscInt i = 0; i < 2 * n; i++) {
    PetscCall(VecDot(v, basis[i % n], &dot));
    PetscCall(VecAXPY(v, -dot, basis[i % n]));
  }
  PetscCall(VecNormalize(v, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inverse iteration with all vectors */
static PetscErrorCode Iterate(PC factors, PetscBool transposed, PetscInt n, Vec v[])
{
  Vec work;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(v[0], &work));
  for (PetscInt i = 0; i < n; i++) PetscCall(FillWithoutPattern(v[i], i));
  for (int step = 0; step < 2; step++) {
    for (PetscInt i = 0; i < n; i++) {
      PetscCall(VecCopy(v[i], work));
      if (transposed) PetscCall(PCApplyTranspose(factors, work, v[i]));
      else PetscCall(PCApply(factors, work, v[i]));
      PetscCall(KCycleVecOrthonormalize(i, v, v[i]));
    }
  }
  PetscCall(VecDestroy(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Those of the vectors that the operator maps to nothing but rounding come first; scale: its largest diagonal entry */
static PetscErrorCode Select(Mat A, PetscBool transposed, PetscReal scale, PetscInt n, Vec v[], PetscInt *found)
{
  PetscReal norm;
  Vec       image, swap;

  PetscFunctionBegin;
  *found = 0;
  PetscCall(VecDuplicate(v[0], &image));
  for (PetscInt i = 0; i < n; i++) {
    if (transposed) PetscCall(MatMultTranspose(A, v[i], image));
    else PetscCall(MatMult(A, v[i], image));
    PetscCall(VecNorm(image, NORM_2, &norm));
    if (!(norm < KCYCLE_ROUNDING * scale)) continue;
    swap          = v[i];
    v[i]          = v[*found];
    v[(*found)++] = swap;
  }
  PetscCall(VecDestroy(&image));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* At most n vectors; NULL if there are none. Numbers of a complex transpose are conjugated, as products have them */
static PetscErrorCode FindKernel(PC factors, Mat A, PetscBool transposed, PetscReal scale, PetscInt n,
                                 MatNullSpace *kernel)
{
  Vec     *v, one;
  PetscInt found;

  PetscFunctionBegin;
  *kernel = NULL;
  PetscCall(MatCreateVecs(A, &one, NULL));
  PetscCall(VecDuplicateVecs(one, n, &v));
  PetscCall(Iterate(factors, transposed, n, v));
  PetscCall(Select(A, transposed, scale, n, v, &found));
  for (PetscInt i = 0; transposed && i < found; i++) PetscCall(VecConjugate(v[i]));
  if (found) PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)A), PETSC_FALSE, found, v, kernel));
  PetscCall(VecDestroyVecs(n, &v));
  PetscCall(VecDestroy(&one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the coarsest matrix had as its kernel before is kept; what the program has attached stays there */
static PetscErrorCode Attach(PC_KCycle *kc, Mat A, MatNullSpace right, MatNullSpace left)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)A));
  kc->singular = A;
  PetscCall(MatGetNullSpace(A, &kc->singular_had[0]));
  PetscCall(MatGetTransposeNullSpace(A, &kc->singular_had[1]));
  for (int i = 0; i < 2; i++) PetscCall(PetscObjectReference((PetscObject)kc->singular_had[i]));
  if (!kc->singular_had[0]) PetscCall(MatSetNullSpace(A, right));
  if (!kc->singular_had[1]) PetscCall(MatSetTransposeNullSpace(A, left));
  kc->singular_got[0] = right && !kc->singular_had[0] ? ((PetscObject)right)->id : 0;
  kc->singular_got[1] = left && !kc->singular_had[1] ? ((PetscObject)left)->id : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Row sums of the finest grid, relative to the diagonal, that are zero: where the operator is not known to be singular
  only the rounding of a sum, as a small reaction makes a part regular. On coarser grids that has grown with the squares
  of cells
*/
static PetscReal Rounding(const PC_KCycle *kc, const KCycleGridLevel *level)
{
  const PetscReal sum = 2 * KCycleStencilOf(level->A)->shape.ncoeffs * PETSC_MACHINE_EPSILON;

  return kc->kernel == KCYCLE_REGULAR ? sum : KCYCLE_ROUNDING;
}

/* The closed parts of the finest grid */
PetscErrorCode PCKCycleClosedFind(PC pc, KCycleClosed *closed)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(KCycleClosedFind(kc->grids[0].A, Rounding(kc, &kc->grids[0]), closed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Constants on each closed part of the coarsest grid, if the finest one may have several parts */
PetscErrorCode PCKCycleCoarseUseParts(PC pc, Mat A, PetscBool *used)
{
  PC_KCycle       *kc = KCycleOf(pc);
  KCycleGridLevel *level;
  MatNullSpace     kernel;
  PetscReal        rounding;
  KCycleClosed     closed;

  PetscFunctionBegin;
  *used = PETSC_FALSE;
  if (!kc->use_structure || !kc->holes || kc->gathered.ours) PetscFunctionReturn(PETSC_SUCCESS);
  level    = KCycleGridOf(kc, 0);
  rounding = Rounding(kc, level) * PetscPowReal((PetscReal)KCycleCoarseningRatio(kc, kc->ngrids - 1), 2 / (PetscReal)3);
  PetscCall(KCycleClosedFind(level->A, PetscMin(rounding, 1e-9), &closed));
  kc->nclosed = closed.n;
  *used       = (PetscBool)(closed.n > 0);
  if (*used) {
    PetscCall(KCycleClosedKernel(&closed, NULL, &kernel));
    PetscCall(Attach(kc, A, kernel, kernel));
    PetscCall(MatNullSpaceDestroy(&kernel));
  }
  PetscCall(KCycleClosedDestroy(&closed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSP projects constants out of right sides and solutions of the coarsest problem */
PetscErrorCode PCKCycleCoarseUseConstants(PC pc, Mat A)
{
  MatNullSpace constants;

  PetscFunctionBegin;
  PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)A), PETSC_TRUE, 0, NULL, &constants));
  PetscCall(Attach(KCycleOf(pc), A, constants, constants));
  PetscCall(MatNullSpaceDestroy(&constants));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of vectors that span the null space that is attached to the finest operator of all; 1: none is */
PetscErrorCode PCKCycleCountKernel(PC pc, PetscInt *nullity)
{
  PC_KCycle   *kc = KCycleOf(pc);
  MatNullSpace nullspace;
  PetscBool    constant;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetNullSpace(pc, &nullspace));
  *nullity = kc->finer.exists ? kc->finer.nullity : 1;
  if (kc->finer.exists || !nullspace) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatNullSpaceGetVecs(nullspace, &constant, nullity, NULL));
  *nullity += constant;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* or what its factors show to be the kernel, of as many dimensions as that of the finest operator; none if the
   coarsest one is regular */
PetscErrorCode PCKCycleCoarseFindKernel(PC pc, PC factors, Mat A)
{
  PC_KCycle   *kc = KCycleOf(pc);
  MatNullSpace right, left;
  PetscInt     n, M;
  PetscReal    scale;

  PetscFunctionBegin;
  PetscCall(PCKCycleCountKernel(pc, &n));
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(pc->pmat, &M, NULL));
  scale = kc->scale * PetscSqrtReal((PetscReal)M); /* a coarse row sums up those of many points, and their rounding */
  PetscCall(FindKernel(factors, A, PETSC_FALSE, scale, n, &right));
  PetscCall(FindKernel(factors, A, PETSC_TRUE, scale, n, &left));
  if (right || left) PetscCall(Attach(kc, A, right, left));
  PetscCall(MatNullSpaceDestroy(&right));
  PetscCall(MatNullSpaceDestroy(&left));
  PetscFunctionReturn(PETSC_SUCCESS);
}
