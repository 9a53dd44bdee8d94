/*
  PCINCPOISSON: the incomplete Poisson preconditioner, M^-1 = K K^T with K made from the lower triangle of the operator.

  With A = L + D + L^T the factor is, one after the other formula (56) of the thesis and the same of D^-1/2 A D^-1/2:

      scaling none       K = I - L D^-1                        = (D - L) D^-1
      scaling diagonal   K = D^-1/2 (I - D^-1/2 L D^-1/2)      = D^-1 (D - L) D^-1/2
*/
#include <petsckcycle/private/incpoissonimpl.h>

const char *const PCIncPoissonPatterns[] = {"matrix", "full", "PCIncPoissonPattern", "PC_INCPOISSON_PATTERN_", NULL};
const char *const PCIncPoissonScalings[] = {"diagonal", "none", "PCIncPoissonScaling", "PC_INCPOISSON_SCALING_", NULL};

typedef struct {
  /* parameters */
  PCIncPoissonPattern pattern;
  PCIncPoissonScaling scaling;

  /* made at set-up */
  Mat           M;            /* pattern matrix: the entries of K K^T where the operator has some */
  Mat           K, Kt;        /* pattern full */
  Vec           work;         /* pattern full: K^T b */
  char          failure[256]; /* why the last set-up failed, or empty */
  PetscLogEvent event;
} PC_IncPoisson;

/* What is known of the operator's rows on this process before values are looked at */
typedef struct {
  PetscInt   start, end, total; /* rows of this process, of all */
  PetscInt   longest;           /* entries in a row, at most */
  PetscInt   outside;           /* entries in columns of other processes */
  PetscInt  *below;             /* of each row: entries up to the diagonal in columns of this process, */
  PetscInt  *belowother;        /* and of others */
  PetscInt64 excess;            /* of all processes: entries below the diagonal less those above it */
  PetscInt   unpaired;          /* first row of this process with an entry above the diagonal that has none below for it, or PETSC_INT_MAX */
} Survey;

/* Rows of K on this process, compressed: its own, and those of the columns in which it has entries. Their numbers ascend */
typedef struct {
  Mat             all; /* sequential; K itself on one process */
  PetscInt        start, end, nlow, nghosts;
  PetscInt       *ghosts; /* the nlow first of them stand before start */
  const PetscInt *first, *cols;
  PetscScalar    *values;
} Rows;

static PetscErrorCode PCReset_IncPoisson(PC pc)
{
  PC_IncPoisson *ip = (PC_IncPoisson *)pc->data;

  PetscFunctionBegin;
  PetscCall(MatDestroy(&ip->M));
  PetscCall(MatDestroy(&ip->K));
  PetscCall(MatDestroy(&ip->Kt));
  PetscCall(VecDestroy(&ip->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A fault in the numbers: the solve fails with KSP_DIVERGED_PC_FAILED */
static PetscErrorCode Fail(PC pc, const char format[], PetscInt row)
{
  PC_IncPoisson *ip = (PC_IncPoisson *)pc->data;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(ip->failure, sizeof(ip->failure), format, row));
  PetscCall(PetscInfo(pc, "%s\n", ip->failure));
  PetscCall(PCSetFailedReason(pc, PC_SUBPC_ERROR));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckKind(PC pc)
{
  MPI_Comm  comm = PetscObjectComm((PetscObject)pc);
  PetscBool known;
  MatType   type;
  PetscInt  rows, cols;

  PetscFunctionBegin;
  PetscCall(MatGetType(pc->pmat, &type));
  PetscCall(MatGetSize(pc->pmat, &rows, &cols));
  PetscCheck(rows == cols, comm, PETSC_ERR_ARG_SIZ, "PCINCPOISSON needs a square matrix, this one has %" PetscInt_FMT " rows and %" PetscInt_FMT " columns", rows, cols);
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)pc->pmat, &known, MATSEQAIJ, MATMPIAIJ, MATSTENCIL, ""));
  PetscCheck(known, comm, PETSC_ERR_SUP, "PCINCPOISSON is for matrices of type aij, with those for devices, and stencil, not %s: convert it, MatConvert(A, MATAIJ, ...)", type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The smallest row that any process names; PETSC_INT_MAX: none does */
static PetscErrorCode FirstRow(PC pc, PetscInt mine, PetscInt *row)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&mine, row, 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckDiagonal(PC pc, Vec diagonal)
{
  const PetscScalar *d;
  PetscInt           start, end, bad = PETSC_INT_MAX, row;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(diagonal, &start, &end));
  PetscCall(VecGetArrayRead(diagonal, &d));
  for (PetscInt i = end - start - 1; i >= 0; i--) {
    if (PetscIsInfOrNanScalar(d[i]) || PetscRealPart(d[i]) <= 0 || PetscImaginaryPart(d[i]) != 0) bad = start + i;
  }
  PetscCall(VecRestoreArrayRead(diagonal, &d));
  PetscCall(FirstRow(pc, bad, &row));
  if (row < PETSC_INT_MAX) {
    PetscCall(Fail(pc,
                   "The diagonal entry of row %" PetscInt_FMT " is not a positive number: it is zero, missing, negative, not real, or NaN or Inf. The operator must be positive "
                   "definite; of a negative definite one solve the negative",
                   row));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SurveyCreate(PC pc, Survey *sv)
{
  Mat        A      = pc->pmat;
  PetscInt64 excess = 0;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &sv->start, &sv->end));
  PetscCall(MatGetSize(A, &sv->total, NULL));
  PetscCall(PetscCalloc2(sv->end - sv->start, &sv->below, sv->end - sv->start, &sv->belowother));
  sv->longest = sv->outside = 0;
  sv->unpaired              = PETSC_INT_MAX;
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
  PetscCallMPI(MPI_Allreduce(&excess, &sv->excess, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the pattern symmetric? Each entry above the diagonal must have one below, and they must be as many */
static PetscErrorCode SurveyDestroy(PC pc, Survey *sv)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PetscInt row;

  PetscFunctionBegin;
  PetscCall(PetscFree2(sv->below, sv->belowother));
  PetscCall(FirstRow(pc, sv->unpaired, &row));
  PetscCheck(sv->excess == 0, comm, PETSC_ERR_ARG_INCOMP,
             "PCINCPOISSON needs a symmetric operator, this one has %" PetscInt64_FMT " entries more %s the diagonal than %s it. Where rows of boundary points were cleared, clear "
             "their columns too: MatZeroRowsColumns()",
             PetscAbs(sv->excess), sv->excess > 0 ? "below" : "above", sv->excess > 0 ? "above" : "below");
  PetscCheck(row == PETSC_INT_MAX, comm, PETSC_ERR_ARG_INCOMP,
             "PCINCPOISSON needs a symmetric operator, this one has an entry in row %" PetscInt_FMT " above the diagonal without one below it", row);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateFactor(PC pc, const Survey *sv, Mat *K)
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
static PetscErrorCode CopyLower(PC pc, const Survey *sv, Mat K)
{
  PetscInt     bad = PETSC_INT_MAX, row, *lowercols;
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
  PetscCall(FirstRow(pc, bad, &row));
  if (row < PETSC_INT_MAX) PetscCall(Fail(pc, "The operator has a NaN or Inf in row %" PetscInt_FMT ": look for a division by zero or an unset coefficient in its assembly", row));
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
static PetscErrorCode FindGhosts(PC pc, const Survey *sv, Rows *rows)
{
  PetscInt n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(sv->outside, &rows->ghosts));
  for (PetscInt i = sv->start; n < sv->outside; i++) {
    const PetscInt *cols;
    PetscInt        m;

    PetscCall(MatGetRow(pc->pmat, i, &m, &cols, NULL));
    for (PetscInt e = 0; e < m; e++) {
      if (cols[e] < sv->start || cols[e] >= sv->end) rows->ghosts[n++] = cols[e];
    }
    PetscCall(MatRestoreRow(pc->pmat, i, &m, &cols, NULL));
  }
  PetscCall(PetscSortRemoveDupsInt(&n, rows->ghosts));
  rows->nghosts = n;
  for (rows->nlow = 0; rows->nlow < n && rows->ghosts[rows->nlow] < sv->start;) rows->nlow++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GatherRows(const Survey *sv, Mat K, Rows *rows)
{
  const PetscInt n = rows->end - rows->start, total = n + rows->nghosts;
  PetscInt      *numbers;
  IS             is, all;
  Mat           *sub;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(total, &numbers));
  PetscCall(PetscArraycpy(numbers, rows->ghosts, rows->nlow));
  for (PetscInt i = 0; i < n; i++) numbers[rows->nlow + i] = rows->start + i;
  PetscCall(PetscArraycpy(numbers + rows->nlow + n, rows->ghosts + rows->nlow, rows->nghosts - rows->nlow));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, total, numbers, PETSC_OWN_POINTER, &is));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, sv->total, 0, 1, &all));
  PetscCall(ISSetIdentity(all));
  PetscCall(MatCreateSubMatrices(K, 1, &is, &all, MAT_INITIAL_MATRIX, &sub));
  PetscCall(PetscObjectReference((PetscObject)sub[0]));
  rows->all = sub[0];
  PetscCall(MatDestroySubMatrices(1, &sub));
  PetscCall(ISDestroy(&is));
  PetscCall(ISDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsCreate(PC pc, const Survey *sv, Mat K, Rows *rows)
{
  PetscBool   done;
  PetscMPIInt size;
  PetscInt    n;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  rows->start = sv->start;
  rows->end   = sv->end;
  PetscCall(FindGhosts(pc, sv, rows));
  if (size > 1) PetscCall(GatherRows(sv, K, rows));
  else {
    PetscCall(PetscObjectReference((PetscObject)K));
    rows->all = K;
  }
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
  PetscCall(MatDestroy(&rows->all));
  PetscCall(PetscFree(rows->ghosts));
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

/* Entry (a, b) of K K^T, and whether the lower triangle has the entry of the two rows: the later row has it in the column of the earlier one's diagonal, its last */
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
static PetscErrorCode MultiplyOnPattern(PC pc, Survey *sv, const Rows *rows, Mat M)
{
  PetscScalar *product;

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
      if (!coupled) sv->unpaired = PetscMin(sv->unpaired, i);
    }
    PetscCall(MatSetValues(M, 1, &i, m, cols, product, INSERT_VALUES));
    PetscCall(MatRestoreRow(pc->pmat, i, &m, &cols, NULL));
  }
  PetscCall(PetscFree(product));
  PetscCall(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpMatrix(PC pc, Survey *sv, Vec diagonal)
{
  PC_IncPoisson *ip = (PC_IncPoisson *)pc->data;
  Mat            K;
  Rows           rows;

  PetscFunctionBegin;
  PetscCall(CreateFactor(pc, sv, &K));
  PetscCall(CopyLower(pc, sv, K));
  if (!ip->failure[0]) {
    PetscCall(ScaleFactor(pc, K, diagonal));
    PetscCall(RowsCreate(pc, sv, K, &rows));
    if (!ip->M) PetscCall(MatDuplicate(pc->pmat, MAT_DO_NOT_COPY_VALUES, &ip->M));
    PetscCall(MultiplyOnPattern(pc, sv, &rows, ip->M));
    PetscCall(RowsDestroy(&rows));
  }
  PetscCall(MatDestroy(&K));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of K^T have the columns that the operator's have above the diagonal */
static PetscErrorCode CompareUpper(PC pc, Survey *sv, Mat Kt)
{
  PetscFunctionBegin;
  for (PetscInt i = sv->start; i < sv->end; i++) {
    const PetscInt *cols, *upper;
    PetscInt        m, n, u = 0;

    PetscCall(MatGetRow(pc->pmat, i, &m, &cols, NULL));
    PetscCall(MatGetRow(Kt, i, &n, &upper, NULL));
    for (PetscInt e = 0; e < m; e++) {
      if (cols[e] < i) continue;
      if (u == n || upper[u++] != cols[e]) sv->unpaired = PetscMin(sv->unpaired, i);
    }
    PetscCall(MatRestoreRow(Kt, i, &n, &upper, NULL));
    PetscCall(MatRestoreRow(pc->pmat, i, &m, &cols, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpFull(PC pc, Survey *sv, Vec diagonal)
{
  PC_IncPoisson *ip = (PC_IncPoisson *)pc->data;

  PetscFunctionBegin;
  if (!ip->K) PetscCall(CreateFactor(pc, sv, &ip->K));
  PetscCall(CopyLower(pc, sv, ip->K));
  if (ip->failure[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ScaleFactor(pc, ip->K, diagonal));
  PetscCall(MatHermitianTranspose(ip->K, ip->Kt ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, &ip->Kt));
  PetscCall(CompareUpper(pc, sv, ip->Kt));
  if (!ip->work) PetscCall(MatCreateVecs(ip->K, &ip->work, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_IncPoisson(PC pc)
{
  PC_IncPoisson *ip       = (PC_IncPoisson *)pc->data;
  PetscBool      surveyed = PETSC_FALSE;
  Survey         sv;
  Vec            diagonal;

  PetscFunctionBegin;
  ip->failure[0] = '\0';
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  if (pc->flag == DIFFERENT_NONZERO_PATTERN) PetscCall(PCReset_IncPoisson(pc));
  PetscCall(CheckKind(pc));
  PetscCall(PetscLogEventBegin(ip->event, pc, 0, 0, 0));
  PetscCall(MatCreateVecs(pc->pmat, &diagonal, NULL));
  PetscCall(MatGetDiagonal(pc->pmat, diagonal));
  PetscCall(CheckDiagonal(pc, diagonal));
  if (!ip->failure[0]) {
    PetscCall(SurveyCreate(pc, &sv));
    surveyed = PETSC_TRUE;
    if (sv.excess == 0 && ip->pattern == PC_INCPOISSON_PATTERN_FULL) PetscCall(SetUpFull(pc, &sv, diagonal));
    else if (sv.excess == 0) PetscCall(SetUpMatrix(pc, &sv, diagonal));
  }
  PetscCall(VecDestroy(&diagonal));
  PetscCall(PetscLogEventEnd(ip->event, pc, 0, 0, 0));
  if (surveyed) PetscCall(SurveyDestroy(pc, &sv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSP asks for the reason of a failure after this, and would find that of an earlier solve where values were repaired without KSPSetOperators() */
static PetscErrorCode PCSetUpOnBlocks_IncPoisson(PC pc)
{
  PetscFunctionBegin;
  if (((PC_IncPoisson *)pc->data)->failure[0]) PetscCall(PCSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a failed set-up the answer is Inf: KSP, when it finds that, asks for the reason and ends with KSP_DIVERGED_PC_FAILED */
static PetscErrorCode PCApply_IncPoisson(PC pc, Vec b, Vec x)
{
  PC_IncPoisson *ip = (PC_IncPoisson *)pc->data;

  PetscFunctionBegin;
  if (ip->failure[0]) PetscCall(VecSet(x, INFINITY));
  else if (ip->pattern == PC_INCPOISSON_PATTERN_MATRIX) PetscCall(MatMult(ip->M, b, x));
  else {
    PetscCall(MatMult(ip->Kt, b, ip->work));
    PetscCall(MatMult(ip->K, ip->work, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyTranspose_IncPoisson(PC pc, Vec b, Vec x)
{
  PC_IncPoisson *ip = (PC_IncPoisson *)pc->data;

  PetscFunctionBegin;
  if (ip->failure[0]) PetscCall(VecSet(x, INFINITY));
  else if (ip->pattern == PC_INCPOISSON_PATTERN_MATRIX) PetscCall(MatMultTranspose(ip->M, b, x));
  else {
    PetscCall(MatMultTranspose(ip->K, b, ip->work));
    PetscCall(MatMultTranspose(ip->Kt, ip->work, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCIncPoissonSetPattern_IncPoisson(PC pc, PCIncPoissonPattern pattern)
{
  PC_IncPoisson *ip = (PC_IncPoisson *)pc->data;

  PetscFunctionBegin;
  if (ip->pattern == pattern) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCReset_IncPoisson(pc));
  ip->pattern     = pattern;
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCIncPoissonSetPattern - Sets which entries of the product K K^T are kept.

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner
- pattern - `PC_INCPOISSON_PATTERN_MATRIX` or `PC_INCPOISSON_PATTERN_FULL`

  Options Database Key:
. -pc_incpoisson_pattern (matrix|full) - which entries are kept

  Level: intermediate

  Note:
  The complete product is applied as two, with K^T and with K, which together have fewer entries than their product: 8 a row instead of 13 for the 7-point stencil. It is positive
  definite for every operator with a positive diagonal, and takes about as many iterations.

  What is kept on the pattern of the operator needs one product, and one exchange between processes. With scaling diagonal and a 5- or 7-point stencil it is positive definite if no
  eigenvalue of D^-1 A is larger than 2, so for all that are diagonally dominant. Otherwise it need not be, and `KSPCG` ends with `KSP_DIVERGED_INDEFINITE_PC`.

.seealso: `PCINCPOISSON`, `PCIncPoissonGetPattern()`
@*/
PetscErrorCode PCIncPoissonSetPattern(PC pc, PCIncPoissonPattern pattern)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, pattern, 2);
  PetscTryMethod(pc, "PCIncPoissonSetPattern_C", (PC, PCIncPoissonPattern), (pc, pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCIncPoissonGetPattern_IncPoisson(PC pc, PCIncPoissonPattern *pattern)
{
  PetscFunctionBegin;
  *pattern = ((PC_IncPoisson *)pc->data)->pattern;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCIncPoissonGetPattern - Gets which entries of the product K K^T are kept.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. pattern - `PC_INCPOISSON_PATTERN_MATRIX` or `PC_INCPOISSON_PATTERN_FULL`

  Level: intermediate

.seealso: `PCINCPOISSON`, `PCIncPoissonSetPattern()`
@*/
PetscErrorCode PCIncPoissonGetPattern(PC pc, PCIncPoissonPattern *pattern)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(pattern, 2);
  PetscUseMethod(pc, "PCIncPoissonGetPattern_C", (PC, PCIncPoissonPattern *), (pc, pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCIncPoissonSetScaling_IncPoisson(PC pc, PCIncPoissonScaling scaling)
{
  PC_IncPoisson *ip = (PC_IncPoisson *)pc->data;

  PetscFunctionBegin;
  if (ip->scaling == scaling) PetscFunctionReturn(PETSC_SUCCESS);
  ip->scaling     = scaling;
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCIncPoissonSetScaling - Sets how the operator is scaled before the factor is made from it.

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner
- scaling - `PC_INCPOISSON_SCALING_DIAGONAL` or `PC_INCPOISSON_SCALING_NONE`

  Options Database Key:
. -pc_incpoisson_scaling (diagonal|none) - how the operator is scaled

  Level: intermediate

  Note:
  Without scaling it is the formula as it was published, for constant coefficients, where both are the same up to a factor. Where coefficients jump, what is kept of its product on the
  pattern of the operator is often not positive definite, and CG fails: it is there for comparison.

.seealso: `PCINCPOISSON`, `PCIncPoissonGetScaling()`
@*/
PetscErrorCode PCIncPoissonSetScaling(PC pc, PCIncPoissonScaling scaling)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, scaling, 2);
  PetscTryMethod(pc, "PCIncPoissonSetScaling_C", (PC, PCIncPoissonScaling), (pc, scaling));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCIncPoissonGetScaling_IncPoisson(PC pc, PCIncPoissonScaling *scaling)
{
  PetscFunctionBegin;
  *scaling = ((PC_IncPoisson *)pc->data)->scaling;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCIncPoissonGetScaling - Gets how the operator is scaled before the factor is made from it.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. scaling - `PC_INCPOISSON_SCALING_DIAGONAL` or `PC_INCPOISSON_SCALING_NONE`

  Level: intermediate

.seealso: `PCINCPOISSON`, `PCIncPoissonSetScaling()`
@*/
PetscErrorCode PCIncPoissonGetScaling(PC pc, PCIncPoissonScaling *scaling)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(scaling, 2);
  PetscUseMethod(pc, "PCIncPoissonGetScaling_C", (PC, PCIncPoissonScaling *), (pc, scaling));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_IncPoisson(PC pc, KCycleOptionItems PetscOptionsObject)
{
  PC_IncPoisson      *ip      = (PC_IncPoisson *)pc->data;
  PCIncPoissonPattern pattern = ip->pattern;
  PCIncPoissonScaling scaling = ip->scaling;
  PetscBool           flg;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Incomplete Poisson options");
  PetscCall(PetscOptionsEnum("-pc_incpoisson_pattern", "Which entries of the product are kept", "PCIncPoissonSetPattern", PCIncPoissonPatterns, (PetscEnum)pattern,
                             (PetscEnum *)&pattern, &flg));
  if (flg) PetscCall(PCIncPoissonSetPattern(pc, pattern));
  PetscCall(PetscOptionsEnum("-pc_incpoisson_scaling", "How the operator is scaled before", "PCIncPoissonSetScaling", PCIncPoissonScalings, (PetscEnum)scaling,
                             (PetscEnum *)&scaling, &flg));
  if (flg) PetscCall(PCIncPoissonSetScaling(pc, scaling));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_IncPoisson(PC pc, PetscViewer viewer)
{
  PC_IncPoisson *ip = (PC_IncPoisson *)pc->data;
  PetscBool      ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  pattern %s, scaling %s\n", PCIncPoissonPatterns[ip->pattern], PCIncPoissonScalings[ip->scaling]));
  if (ip->failure[0]) PetscCall(PetscViewerASCIIPrintf(viewer, "  set-up failed: %s\n", ip->failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ComposeMethods(PC pc, PetscBool compose)
{
  PetscObject o = (PetscObject)pc;

  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction(o, "PCIncPoissonSetPattern_C", compose ? PCIncPoissonSetPattern_IncPoisson : NULL));
  PetscCall(PetscObjectComposeFunction(o, "PCIncPoissonGetPattern_C", compose ? PCIncPoissonGetPattern_IncPoisson : NULL));
  PetscCall(PetscObjectComposeFunction(o, "PCIncPoissonSetScaling_C", compose ? PCIncPoissonSetScaling_IncPoisson : NULL));
  PetscCall(PetscObjectComposeFunction(o, "PCIncPoissonGetScaling_C", compose ? PCIncPoissonGetScaling_IncPoisson : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_IncPoisson(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_IncPoisson(pc));
  PetscCall(ComposeMethods(pc, PETSC_FALSE));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  PCINCPOISSON - "incpoisson" - The incomplete Poisson preconditioner: an approximate inverse K K^T that is applied as a sparse product.

  Options Database Keys:
+ -pc_incpoisson_pattern (matrix|full)  - which entries of the product are kept
- -pc_incpoisson_scaling (diagonal|none) - how the operator is scaled before

  Level: beginner

  Notes:
  With the operator A = L + D + L^T, its diagonal D and what stands below it L, the inverse of A is approximated by

.vb
    D^-1/2 (I - L') (I - L')^T D^-1/2   with L' = D^-1/2 L D^-1/2, scaling diagonal,
           (I - L D^-1) (I - L D^-1)^T                             scaling none,
.ve

  by default with only those entries that A has. Applying it costs what a product with A costs: no triangular solve, so that it runs in parallel on many processes and on a device, and gives the
  same iterations on any number of processes as long as the numbering of the unknowns is the same; another numbering has another L. Set-up takes time in proportion to the entries.

  Seen from elsewhere it is one step of symmetric Gauss-Seidel, (D + L)^-T D (D + L)^-1 with the triangles in the other order, whose inverses have been replaced by the two first terms of their
  Neumann series, (I + L')^-1 = I - L' + L'^2 - ... On the pattern of a matrix without triangles in its graph, such as the 5- and the 7-point stencil, it is the polynomial
  2 I - D^-1/2 A D^-1/2 of degree one with a positive diagonal matrix added.

  The operator must have a positive diagonal and a symmetric pattern; only its lower triangle is used. Matrices of types `MATAIJ`, with those for devices, and `MATSTENCIL`. A diagonal entry that is not
  positive, a NaN or an Inf end the solve with `KSP_DIVERGED_PC_FAILED`.

  References:
  M. Ament, G. Knittel, D. Weiskopf, W. Strasser, A parallel preconditioned conjugate gradient solver for the Poisson problem on a multi-GPU platform, 2010; R. Gupta, Implementation of the
  deflated preconditioned conjugate gradient method for bubbly flow on the graphical processing unit, 2010, equation (56).

.seealso: `PCIncPoissonSetPattern()`, `PCIncPoissonSetScaling()`, `PCJACOBI`, `PCICC`, `PCSOR`
M*/
PetscErrorCode PCCreate_IncPoisson(PC pc)
{
  PC_IncPoisson *ip;

  PetscFunctionBegin;
  PetscCall(PetscNew(&ip));
  pc->data                = (void *)ip;
  pc->ops->setup          = PCSetUp_IncPoisson;
  pc->ops->setuponblocks  = PCSetUpOnBlocks_IncPoisson;
  pc->ops->apply          = PCApply_IncPoisson;
  pc->ops->applytranspose = PCApplyTranspose_IncPoisson;
  pc->ops->setfromoptions = PCSetFromOptions_IncPoisson;
  pc->ops->reset          = PCReset_IncPoisson;
  pc->ops->destroy        = PCDestroy_IncPoisson;
  pc->ops->view           = PCView_IncPoisson;
  PetscCall(ComposeMethods(pc, PETSC_TRUE));
  PetscCall(PetscLogEventGetId("PCIncPoisSetUp", &ip->event));
  if (ip->event < 0) PetscCall(PetscLogEventRegister("PCIncPoisSetUp", PC_CLASSID, &ip->event));
  PetscFunctionReturn(PETSC_SUCCESS);
}
