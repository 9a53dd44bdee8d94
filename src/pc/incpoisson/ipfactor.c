/*
  The factor K of PCINCPOISSON, from the lower triangle D - L of the operator, and the entries of K K^T on the
  operator's pattern.
*/
#include "incpoissonimpl.h"

/* Rows of K on this process, compressed: its own, and those of the columns in which it has entries. Their numbers
   ascend */
typedef struct {
  Mat             all; /* sequential; K itself on one process */
  PetscInt        start, end, nlow, nghosts;
  const PetscInt *ghosts; /* the nlow first of them stand before start */
  const PetscInt *first, *cols;
  PetscScalar    *values;
} Rows;

static PetscErrorCode SurveyCreate(PC pc)
{
  PC_IncPoisson  *ip     = (PC_IncPoisson *)pc->data;
  KCycleIPSurvey *sv     = &ip->survey;
  Mat             A      = pc->pmat;
  PetscInt64      excess = 0;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &sv->start, &sv->end));
  PetscCall(MatGetSize(A, &sv->total, NULL));
  PetscCall(PetscCalloc2(sv->end - sv->start, &sv->below, sv->end - sv->start, &sv->belowother));
  sv->longest = sv->outside = 0;
  for (PetscInt row = sv->start; row < sv->end; row++) {
    const PetscInt *cols;
    PetscInt        m;

    PetscCall(MatGetRow(A, row, &m, &cols, NULL));
    sv->longest = PetscMax(sv->longest, m);
    for (PetscInt e = 0; e < m; e++) {
      const PetscBool here = (PetscBool)(cols[e] >= sv->start && cols[e] < sv->end);

      excess += (cols[e] < row) - (cols[e] > row);
      sv->outside += !here;
      if (cols[e] <= row) (here ? sv->below : sv->belowother)[row - sv->start]++;
    }
    PetscCall(MatRestoreRow(A, row, &m, &cols, NULL));
  }
  PetscCallMPI(MPI_Allreduce(&excess, &ip->excess, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateFactor(PC pc, const KCycleIPSurvey *sv, Mat *K)
{
  const PetscInt n = sv->end - sv->start;
  PetscBool      aij;
  MatType        type;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)pc->pmat, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCall(MatGetType(pc->pmat, &type));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)pc), K));
  PetscCall(MatSetSizes(*K, n, n, sv->total, sv->total));
  PetscCall(MatSetType(*K, aij ? type : MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(*K, 0, sv->below));
  PetscCall(MatMPIAIJSetPreallocation(*K, 0, sv->below, 0, sv->belowother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* D - L */
static PetscErrorCode CopyLower(PC pc, const KCycleIPSurvey *sv, Mat K)
{
  PetscInt     bad = PETSC_INT_MAX, *lowercols;
  PetscScalar *lower;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(sv->longest, &lowercols, sv->longest, &lower));
  for (PetscInt i = sv->start; i < sv->end; i++) {
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

/* Columns of other processes in which this one has entries, ascending */
static PetscErrorCode FindGhosts(PC pc)
{
  PC_IncPoisson        *ip = (PC_IncPoisson *)pc->data;
  const KCycleIPSurvey *sv = &ip->survey;
  PetscInt              n  = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(sv->outside, &ip->ghosts));
  for (PetscInt i = sv->start; n < sv->outside; i++) {
    const PetscInt *cols;
    PetscInt        m;

    PetscCall(MatGetRow(pc->pmat, i, &m, &cols, NULL));
    for (PetscInt e = 0; e < m; e++) {
      if (cols[e] < sv->start || cols[e] >= sv->end) ip->ghosts[n++] = cols[e];
    }
    PetscCall(MatRestoreRow(pc->pmat, i, &m, &cols, NULL));
  }
  PetscCall(PetscSortRemoveDupsInt(&n, ip->ghosts));
  ip->nghost = n;
  for (ip->nlow = 0; ip->nlow < n && ip->ghosts[ip->nlow] < sv->start;) ip->nlow++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GatherRows(PC_IncPoisson *ip)
{
  const KCycleIPSurvey *sv = &ip->survey;
  const PetscInt        n = sv->end - sv->start, total = n + ip->nghost;
  const MatReuse        reuse = ip->all ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX;
  PetscInt             *numbers;
  IS                    is, columns;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(total, &numbers));
  PetscCall(PetscArraycpy(numbers, ip->ghosts, ip->nlow));
  for (PetscInt i = 0; i < n; i++) numbers[ip->nlow + i] = sv->start + i;
  PetscCall(PetscArraycpy(numbers + ip->nlow + n, ip->ghosts + ip->nlow, ip->nghost - ip->nlow));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, total, numbers, PETSC_OWN_POINTER, &is));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, sv->total, 0, 1, &columns));
  PetscCall(ISSetIdentity(columns));
  PetscCall(MatCreateSubMatrices(ip->K, 1, &is, &columns, reuse, &ip->all));
  PetscCall(ISDestroy(&is));
  PetscCall(ISDestroy(&columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsCreate(PC pc, Rows *rows)
{
  PC_IncPoisson *ip = (PC_IncPoisson *)pc->data;
  PetscBool      done;
  PetscMPIInt    size;
  PetscInt       n;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  if (!ip->ghosts) PetscCall(FindGhosts(pc));
  if (size > 1) PetscCall(GatherRows(ip));
  rows->all     = size > 1 ? ip->all[0] : ip->K;
  rows->start   = ip->survey.start;
  rows->end     = ip->survey.end;
  rows->nlow    = ip->nlow;
  rows->nghosts = ip->nghost;
  rows->ghosts  = ip->ghosts;
  PetscCall(MatGetRowIJ(rows->all, 0, PETSC_FALSE, PETSC_FALSE, &n, &rows->first, &rows->cols, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No compressed rows");
  PetscCall(MatSeqAIJGetArray(rows->all, &rows->values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsDestroy(Rows *rows)
{
  PetscBool done;
  PetscInt  n;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJRestoreArray(rows->all, &rows->values));
  PetscCall(MatRestoreRowIJ(rows->all, 0, PETSC_FALSE, PETSC_FALSE, &n, &rows->first, &rows->cols, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsFind(const Rows *rows, PetscInt row, PetscInt *place)
{
  PetscInt at;

  PetscFunctionBegin;
  if (row >= rows->start && row < rows->end) *place = rows->nlow + row - rows->start;
  else {
    PetscCall(PetscFindInt(row, rows->nghosts, rows->ghosts, &at));
    *place = row < rows->start ? at : at + rows->end - rows->start;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entry (a, b) of K K^T, and whether the lower triangle has the entry of the two rows: the later row has it in the
   column of the earlier one's diagonal, its last */
static PetscScalar RowsProduct(const Rows *rows, PetscInt a, PetscInt b, PetscBool *coupled)
{
  const PetscInt early = PetscMin(a, b), late = PetscMax(a, b);
  PetscInt       s = rows->first[early], t = rows->first[late];
  PetscScalar    sum = 0;

  *coupled = PETSC_FALSE;
  while (s < rows->first[early + 1] && t < rows->first[late + 1]) {
    if (rows->cols[s] < rows->cols[t]) s++;
    else if (rows->cols[s] > rows->cols[t]) t++;
    else {
      sum += a < b ? rows->values[s] * PetscConj(rows->values[t]) : rows->values[t] * PetscConj(rows->values[s]);
      *coupled = (PetscBool)(++s == rows->first[early + 1]);
      t++;
    }
  }
  return sum;
}

/* The entries of K K^T where the operator has some */
static PetscErrorCode MultiplyOnPattern(PC pc, const Rows *rows)
{
  PC_IncPoisson        *ip       = (PC_IncPoisson *)pc->data;
  const KCycleIPSurvey *sv       = &ip->survey;
  PetscInt              unpaired = PETSC_INT_MAX;
  PetscScalar          *product;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(sv->longest, &product));
  for (PetscInt i = sv->start; i < sv->end; i++) {
    const PetscInt *cols;
    PetscInt        m, place = 0;
    PetscBool       coupled;

    PetscCall(MatGetRow(pc->pmat, i, &m, &cols, NULL));
    for (PetscInt e = 0; e < m; e++) {
      PetscCall(RowsFind(rows, cols[e], &place));
      product[e] = RowsProduct(rows, rows->nlow + i - sv->start, place, &coupled);
      if (!coupled) unpaired = PetscMin(unpaired, i);
    }
    PetscCall(MatSetValues(ip->M, 1, &i, m, cols, product, INSERT_VALUES));
    PetscCall(MatRestoreRow(pc->pmat, i, &m, &cols, NULL));
  }
  PetscCall(PetscFree(product));
  PetscCall(MatAssemblyBegin(ip->M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(ip->M, MAT_FINAL_ASSEMBLY));
  if (!ip->known) PetscCall(PCIncPoissonFirstRow(pc, unpaired, &ip->unpaired));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpMatrix(PC pc)
{
  PC_IncPoisson *ip = (PC_IncPoisson *)pc->data;
  Rows           rows;

  PetscFunctionBegin;
  PetscCall(RowsCreate(pc, &rows));
  if (!ip->M) PetscCall(MatDuplicate(pc->pmat, MAT_DO_NOT_COPY_VALUES, &ip->M));
  PetscCall(MultiplyOnPattern(pc, &rows));
  PetscCall(RowsDestroy(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of K^T have the columns that the operator's have above the diagonal */
static PetscErrorCode CompareUpper(PC pc)
{
  PC_IncPoisson        *ip       = (PC_IncPoisson *)pc->data;
  const KCycleIPSurvey *sv       = &ip->survey;
  PetscInt              unpaired = PETSC_INT_MAX;

  PetscFunctionBegin;
  for (PetscInt i = sv->start; i < sv->end; i++) {
    const PetscInt *cols, *upper;
    PetscInt        m, n, u = 0;

    PetscCall(MatGetRow(pc->pmat, i, &m, &cols, NULL));
    PetscCall(MatGetRow(ip->Kt, i, &n, &upper, NULL));
    for (PetscInt e = 0; e < m; e++) {
      if (cols[e] < i) continue;
      if (u == n || upper[u++] != cols[e]) unpaired = PetscMin(unpaired, i);
    }
    PetscCall(MatRestoreRow(ip->Kt, i, &n, &upper, NULL));
    PetscCall(MatRestoreRow(pc->pmat, i, &m, &cols, NULL));
  }
  PetscCall(PCIncPoissonFirstRow(pc, unpaired, &ip->unpaired));
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

static PetscErrorCode SetUpFull(PC pc)
{
  PC_IncPoisson *ip = (PC_IncPoisson *)pc->data;

  PetscFunctionBegin;
  PetscCall(MatHermitianTranspose(ip->K, ip->Kt ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, &ip->Kt));
  if (!ip->known) PetscCall(CompareUpper(pc));
  if (!ip->work) PetscCall(MatCreateVecs(ip->K, &ip->work, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What depends on the pattern only is made at the first set-up; its asymmetry is left in excess and unpaired */
PetscErrorCode PCIncPoissonFactorSetUp(PC pc, Vec diagonal)
{
  PC_IncPoisson *ip = (PC_IncPoisson *)pc->data;

  PetscFunctionBegin;
  if (!ip->known) {
    PetscCall(PCIncPoissonFactorReset(ip));
    PetscCall(SurveyCreate(pc));
  }
  if (ip->excess) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DropOnDevice(ip));
  if (!ip->K) PetscCall(CreateFactor(pc, &ip->survey, &ip->K));
  PetscCall(CopyLower(pc, &ip->survey, ip->K));
  if (ip->failure[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ScaleFactor(pc, ip->K, diagonal));
  if (ip->pattern == PC_INCPOISSON_PATTERN_FULL) PetscCall(SetUpFull(pc));
  else PetscCall(SetUpMatrix(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCIncPoissonFactorReset(PC_IncPoisson *ip)
{
  PetscFunctionBegin;
  if (ip->all) PetscCall(MatDestroySubMatrices(1, &ip->all));
  PetscCall(MatDestroy(&ip->K));
  PetscCall(MatDestroy(&ip->Kt));
  PetscCall(VecDestroy(&ip->work));
  PetscCall(PetscFree2(ip->survey.below, ip->survey.belowother));
  PetscCall(PetscFree(ip->ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}
