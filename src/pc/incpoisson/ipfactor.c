/*
  The factor K of PCINCPOISSON, from the lower triangle D - L of the operator, and the entries of K K^T on the
  operator's pattern.
*/
#include "incpoissonimpl.h"

/* With the pattern of the lower triangle */
static PetscErrorCode CreateFactor(PC pc)
{
  PC_IncPoisson *ip = (PC_IncPoisson *)pc->data;
  Mat            A  = pc->pmat;
  PetscInt       start, end, *own, *other;
  PetscBool      aij;
  MatType        type;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(PetscCalloc2(end - start, &own, end - start, &other));
  ip->longest = 0;
  for (PetscInt row = start; row < end; row++) {
    const PetscInt *cols;
    PetscInt        m;

    PetscCall(MatGetRow(A, row, &m, &cols, NULL));
    ip->longest = PetscMax(ip->longest, m);
    for (PetscInt e = 0; e < m; e++) {
      if (cols[e] <= row) (cols[e] < start ? other : own)[row - start]++;
    }
    PetscCall(MatRestoreRow(A, row, &m, &cols, NULL));
  }
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCall(MatGetType(A, &type));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)pc), &ip->K));
  PetscCall(MatSetSizes(ip->K, end - start, end - start, A->rmap->N, A->rmap->N));
  PetscCall(MatSetType(ip->K, aij ? type : MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(ip->K, 0, own));
  PetscCall(MatMPIAIJSetPreallocation(ip->K, 0, own, 0, other));
  PetscCall(PetscFree2(own, other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* D - L */
static PetscErrorCode CopyLower(PC pc, Mat K)
{
  const PetscInt longest = ((PC_IncPoisson *)pc->data)->longest;
  PetscInt       bad     = PETSC_INT_MAX, *lowercols;
  PetscScalar   *lower;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(longest, &lowercols, longest, &lower));
  for (PetscInt i = K->rmap->rstart; i < K->rmap->rend; i++) {
    const PetscInt    *cols;
    const PetscScalar *values;
    PetscScalar        sum = 0;
    PetscInt           m, count = 0;

    PetscCall(MatGetRow(pc->pmat, i, &m, &cols, &values));
    for (PetscInt e = 0; e < m; e++) {
      sum += values[e];
      if (cols[e] > i) continue;
      lowercols[count] = cols[e];
      lower[count++]   = cols[e] < i ? -values[e] : values[e];
    }
    PetscCall(MatRestoreRow(pc->pmat, i, &m, &cols, &values));
    if (PetscIsInfOrNanScalar(sum)) bad = PetscMin(bad, i);
    PetscCall(MatSetValues(K, 1, &i, count, lowercols, lower, INSERT_VALUES));
  }
  PetscCall(PetscFree2(lowercols, lower));
  PetscCall(MatAssemblyBegin(K, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(K, MAT_FINAL_ASSEMBLY));
  PetscCall(PCIncPoissonFailNotFinite(pc, bad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* D - L becomes K; the diagonal is overwritten */
static PetscErrorCode ScaleFactor(PC pc, Mat K, Vec diagonal)
{
  Vec root;

  PetscFunctionBegin;
  PetscCall(VecReciprocal(diagonal));
  if (((PC_IncPoisson *)pc->data)->scaling == PC_INCPOISSON_SCALING_NONE) {
    PetscCall(MatDiagonalScale(K, NULL, diagonal));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecDuplicate(diagonal, &root));
  PetscCall(VecCopy(diagonal, root));
  PetscCall(VecSqrtAbs(root));
  PetscCall(MatDiagonalScale(K, diagonal, root));
  PetscCall(VecDestroy(&root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries of K K^T where the operator has some; columns of both ascend */
static PetscErrorCode KeepPattern(PC pc, Mat product)
{
  PC_IncPoisson *ip = (PC_IncPoisson *)pc->data;
  PetscScalar   *kept;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(ip->longest, &kept));
  for (PetscInt i = product->rmap->rstart; i < product->rmap->rend; i++) {
    const PetscInt    *cols, *all;
    const PetscScalar *values;
    PetscInt           m, n, e = 0;

    PetscCall(MatGetRow(pc->pmat, i, &m, &cols, NULL));
    PetscCall(MatGetRow(product, i, &n, &all, &values));
    for (PetscInt k = 0; k < n && e < m; k++) {
      if (all[k] == cols[e]) kept[e++] = values[k];
    }
    PetscCall(MatRestoreRow(product, i, &n, &all, &values));
    PetscCall(MatSetValues(ip->M, 1, &i, e, cols, kept, INSERT_VALUES));
    PetscCall(MatRestoreRow(pc->pmat, i, &m, &cols, NULL));
  }
  PetscCall(PetscFree(kept));
  PetscCall(MatAssemblyBegin(ip->M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(ip->M, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpMatrix(PC pc)
{
  PC_IncPoisson *ip = (PC_IncPoisson *)pc->data;
  MatType        device;
  Mat            K, transpose, product;

  PetscFunctionBegin;
  if (!ip->M) PetscCall(MatDuplicate(pc->pmat, MAT_DO_NOT_COPY_VALUES, &ip->M));
  PetscCall(KCycleRowsDeviceType(ip->K, &device));
  if (device) PetscCall(MatConvert(ip->K, MATAIJ, MAT_INITIAL_MATRIX, &K)); /* the product is read on the host */
  else PetscCall(PetscObjectReference((PetscObject)(K = ip->K)));
  PetscCall(MatHermitianTranspose(K, MAT_INITIAL_MATRIX, &transpose));
  PetscCall(MatMatMult(K, transpose, MAT_INITIAL_MATRIX, 2, &product));
  PetscCall(KeepPattern(pc, product));
  PetscCall(MatDestroy(&K));
  PetscCall(MatDestroy(&product));
  PetscCall(MatDestroy(&transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On device types MatTranspose() may leave the values that a device has of an earlier transpose (cusparse of PETSc
   3.26.1, Kokkos of 3.18): both factors are made anew */
static PetscErrorCode DropOnDevice(PC_IncPoisson *ip)
{
  MatType device;

  PetscFunctionBegin;
  if (!ip->Kt) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleRowsDeviceType(ip->K, &device));
  if (!device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDestroy(&ip->K));
  PetscCall(MatDestroy(&ip->Kt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* K has the pattern of the first set-up */
PetscErrorCode PCIncPoissonFactorSetUp(PC pc, Vec diagonal)
{
  PC_IncPoisson *ip = (PC_IncPoisson *)pc->data;

  PetscFunctionBegin;
  PetscCall(DropOnDevice(ip));
  if (!ip->K) PetscCall(CreateFactor(pc));
  PetscCall(CopyLower(pc, ip->K));
  if (ip->failure[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ScaleFactor(pc, ip->K, diagonal));
  if (ip->pattern == PC_INCPOISSON_PATTERN_FULL) {
    PetscCall(MatHermitianTranspose(ip->K, ip->Kt ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, &ip->Kt));
    if (!ip->work) PetscCall(MatCreateVecs(ip->K, &ip->work, NULL));
  } else PetscCall(SetUpMatrix(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}
