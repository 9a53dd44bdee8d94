/*
  PCINCPOISSON: the incomplete Poisson preconditioner, M^-1 = K K^T with K made from the lower triangle of the operator.

  With A = L + D + L^T the factor is, one after the other formula (56) of the thesis and the same of D^-1/2 A D^-1/2:

      scaling none       K = I - L D^-1                        = (D - L) D^-1
      scaling diagonal   K = D^-1/2 (I - D^-1/2 L D^-1/2)      = D^-1 (D - L) D^-1/2
*/
#include "incpoissonimpl.h"
#include <petsckcycle/private/registerimpl.h>

const char *const PCIncPoissonPatternTypes[] = {"matrix", "full", "PCIncPoissonPatternType", "PC_INCPOISSON_PATTERN_",
                                                NULL};
const char *const PCIncPoissonScalingTypes[] = {"diagonal", "none", "PCIncPoissonScalingType", "PC_INCPOISSON_SCALING_",
                                                NULL};

static PetscErrorCode PCReset_IncPoisson(PC pc)
{
  PC_IncPoisson *ip = (PC_IncPoisson *)pc->data;

  PetscFunctionBegin;
  PetscCall(MatDestroy(&ip->M));
  PetscCall(MatDestroy(&ip->K));
  PetscCall(MatDestroy(&ip->Kt));
  PetscCall(VecDestroy(&ip->work));
  ip->known = ip->simple = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The smallest row that any process names; PETSC_INT_MAX: none does */
PetscErrorCode PCIncPoissonFirstRow(PC pc, PetscInt mine, PetscInt *row)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&mine, row, 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A fault in the numbers of a row, if any process has one, or else PETSC_INT_MAX: the solve fails with
   KSP_DIVERGED_PC_FAILED */
static PetscErrorCode Fail(PC pc, PetscInt mine, const char format[])
{
  PC_IncPoisson *ip = (PC_IncPoisson *)pc->data;
  PetscInt       row;

  PetscFunctionBegin;
  PetscCall(PCIncPoissonFirstRow(pc, mine, &row));
  if (row == PETSC_INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);
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
  PetscCheck(rows == cols, comm, PETSC_ERR_ARG_SIZ,
             "PCINCPOISSON needs a square matrix, this one has %" PetscInt_FMT " rows and %" PetscInt_FMT " columns",
             rows, cols);
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)pc->pmat, &known, MATSEQAIJ, MATMPIAIJ, MATSTENCIL, ""));
  PetscCheck(known, comm, PETSC_ERR_SUP,
             "PCINCPOISSON is for matrices of type aij, with those for devices, and stencil, not %s: convert it, "
             "MatConvert(A, MATAIJ, ...)",
             type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* mine: the first row with a NaN or Inf on this process, or PETSC_INT_MAX */
PetscErrorCode PCIncPoissonFailNotFinite(PC pc, PetscInt mine)
{
  PetscFunctionBegin;
  PetscCall(Fail(pc, mine,
                 "The operator has a NaN or Inf in row %" PetscInt_FMT
                 ": look for a division by zero or an unset coefficient in its assembly"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckDiagonal(PC pc, Vec diagonal)
{
  const PetscScalar *d;
  PetscInt           start, end, bad = PETSC_INT_MAX;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(diagonal, &start, &end));
  PetscCall(VecGetArrayRead(diagonal, &d));
  for (PetscInt i = end - start - 1; i >= 0; i--) {
    if (!(PetscRealPart(d[i]) > 0 && PetscRealPart(d[i]) <= PETSC_MAX_REAL && PetscImaginaryPart(d[i]) == 0))
      bad = start + i;
  }
  PetscCall(VecRestoreArrayRead(diagonal, &d));
  PetscCall(Fail(pc, bad,
                 "The diagonal entry of row %" PetscInt_FMT
                 " is not a positive number: it is zero, missing, negative, not real, or NaN or Inf. The operator must "
                 "be positive definite; of a negative definite one solve the negative"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each entry above the diagonal must have one below, and they must be as many */
static PetscErrorCode CheckSymmetric(PC pc, PetscInt64 excess, PetscInt unpaired)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCheck(excess == 0, comm, PETSC_ERR_ARG_INCOMP,
             "PCINCPOISSON needs a symmetric operator, this one has %" PetscInt64_FMT
             " entries more %s the diagonal than %s it. Where rows of boundary points were cleared, clear "
             "their columns too: MatZeroRowsColumns()",
             PetscAbs(excess), excess > 0 ? "below" : "above", excess > 0 ? "above" : "below");
  PetscCheck(unpaired == PETSC_INT_MAX, comm, PETSC_ERR_ARG_INCOMP,
             "PCINCPOISSON needs a symmetric operator, this one has an entry in row %" PetscInt_FMT
             " above the diagonal without one below it",
             unpaired);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_IncPoisson(PC pc)
{
  PC_IncPoisson *ip       = (PC_IncPoisson *)pc->data;
  PetscInt64     excess   = 0;
  PetscInt       unpaired = PETSC_INT_MAX;
  PetscObjectId  id;
  Vec            diagonal;

  PetscFunctionBegin;
  ip->failure[0] = '\0';
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &id)); /* MatHeaderReplace() makes it another matrix */
  if (pc->flag == DIFFERENT_NONZERO_PATTERN || id != ip->id) PetscCall(PCReset_IncPoisson(pc));
  ip->id = id;
  PetscCall(CheckKind(pc));
  PetscCall(PetscLogEventBegin(ip->event, pc, 0, 0, 0));
  PetscCall(MatCreateVecs(pc->pmat, &diagonal, NULL));
  PetscCall(MatGetDiagonal(pc->pmat, diagonal));
  PetscCall(CheckDiagonal(pc, diagonal));
  if (!ip->failure[0] && !ip->known) PetscCall(PCIncPoissonPatternFind(pc, &excess, &unpaired));
  if (!ip->failure[0] && ip->known) {
    if (ip->simple) PetscCall(PCIncPoissonSimpleSetUp(pc, diagonal));
    else PetscCall(PCIncPoissonFactorSetUp(pc, diagonal));
  }
  PetscCall(VecDestroy(&diagonal));
  PetscCall(PetscLogEventEnd(ip->event, pc, 0, 0, 0));
  PetscCall(CheckSymmetric(pc, excess, unpaired));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a failed set-up the answer is Inf: KSP, when it finds that, asks for the reason and ends with
   KSP_DIVERGED_PC_FAILED */
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
  The complete product is applied as two, with K^T and with K, which together have fewer entries than their product: 8 a
  row instead of 13 for the 7-point stencil. It is positive definite for every operator with a positive diagonal, and
  takes about as many iterations.

  What is kept on the pattern of the operator needs one product, and one exchange between processes. With scaling
  diagonal and a 5- or 7-point stencil it is positive definite if no eigenvalue of D^-1 A is larger than 2, so for all
  that are diagonally dominant. Otherwise it need not be, and `KSPCG` ends with `KSP_DIVERGED_INDEFINITE_PC`.

.seealso: `PCINCPOISSON`, `PCIncPoissonGetPattern()`
@*/
PetscErrorCode PCIncPoissonSetPattern(PC pc, PCIncPoissonPatternType pattern)
{
  KC_PC_SET_ENUM(pc, PCINCPOISSON, PC_IncPoisson, pattern, PCIncPoissonPatternTypes, pattern);
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
PetscErrorCode PCIncPoissonGetPattern(PC pc, PCIncPoissonPatternType *pattern)
{
  KC_PC_GET(pc, PCINCPOISSON, PC_IncPoisson, pattern, pattern);
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
  Without scaling it is the formula as it was published, for constant coefficients, where both are the same up to a
  factor. Where coefficients jump, what is kept of its product on the pattern of the operator is often not positive
  definite, and CG fails: it is for comparison.

.seealso: `PCINCPOISSON`, `PCIncPoissonGetScaling()`
@*/
PetscErrorCode PCIncPoissonSetScaling(PC pc, PCIncPoissonScalingType scaling)
{
  KC_PC_SET_ENUM(pc, PCINCPOISSON, PC_IncPoisson, scaling, PCIncPoissonScalingTypes, scaling);
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
PetscErrorCode PCIncPoissonGetScaling(PC pc, PCIncPoissonScalingType *scaling)
{
  KC_PC_GET(pc, PCINCPOISSON, PC_IncPoisson, scaling, scaling);
}

static PetscErrorCode PCSetFromOptions_IncPoisson(PC pc, KCycleOptionItems PetscOptionsObject)
{
  PC_IncPoisson          *ip      = (PC_IncPoisson *)pc->data;
  PCIncPoissonPatternType pattern = ip->pattern;
  PCIncPoissonScalingType scaling = ip->scaling;
  PetscBool               flg;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Incomplete Poisson options");
  PetscCall(PetscOptionsEnum("-pc_incpoisson_pattern", "Which entries of the product are kept",
                             "PCIncPoissonSetPattern", PCIncPoissonPatternTypes, (PetscEnum)pattern,
                             (PetscEnum *)&pattern, &flg));
  if (flg) PetscCall(PCIncPoissonSetPattern(pc, pattern));
  PetscCall(PetscOptionsEnum("-pc_incpoisson_scaling", "How the operator is scaled before", "PCIncPoissonSetScaling",
                             PCIncPoissonScalingTypes, (PetscEnum)scaling, (PetscEnum *)&scaling, &flg));
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
  PetscCall(PetscViewerASCIIPrintf(viewer, "  pattern %s, scaling %s\n", PCIncPoissonPatternTypes[ip->pattern],
                                   PCIncPoissonScalingTypes[ip->scaling]));
  if (ip->failure[0]) PetscCall(PetscViewerASCIIPrintf(viewer, "  set-up failed: %s\n", ip->failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_IncPoisson(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_IncPoisson(pc));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  PCINCPOISSON - "incpoisson" - The incomplete Poisson preconditioner: an approximate inverse K K^T that is applied as a
  sparse product.

  Options Database Keys:
+ -pc_incpoisson_pattern (matrix|full)  - which entries of the product are kept
- -pc_incpoisson_scaling (diagonal|none) - how the operator is scaled before

  Level: beginner

  Notes:
  With the operator A = L + D + L^T, its diagonal D and its lower triangle L, the inverse of A is approximated by

.vb
    D^-1/2 (I - L') (I - L')^T D^-1/2   with L' = D^-1/2 L D^-1/2, scaling diagonal,
           (I - L D^-1) (I - L D^-1)^T                             scaling none,
.ve

  by default with only those entries that A has. Applying it costs what a product with A costs: no triangular solve, so
  that it runs in parallel on many processes and on a device, and gives the same iterations on any number of processes
  as long as the numbering of the unknowns is the same; another numbering has another L. Set-up takes time in proportion
  to the entries; what depends on their pattern only is done once.

  Seen from elsewhere it is one step of symmetric Gauss-Seidel, (D + L)^-T D (D + L)^-1 with the triangles in the other
  order, whose inverses have been replaced by the two first terms of their Neumann series, (I + L')^-1 = I - L' + L'^2 -
  ... On the pattern of a matrix without triangles in its graph, such as the 5- and the 7-point stencil, it is the
  polynomial 2 I - D^-1/2 A D^-1/2 of degree one with a positive diagonal matrix added.

  The operator must be symmetric (Hermitian) and have a positive diagonal; of its values, only the pattern is checked
  for symmetry. Matrices of types `MATAIJ`, with those for devices, and `MATSTENCIL`. A diagonal entry that is not
  positive, a NaN or an Inf end the solve with `KSP_DIVERGED_PC_FAILED`.

  References:
  M. Ament, G. Knittel, D. Weiskopf, W. Strasser, A parallel preconditioned conjugate gradient solver for the Poisson
  problem on a multi-GPU platform, 2010; R. Gupta, Implementation of the deflated preconditioned conjugate gradient
  method for bubbly flow on the graphical processing unit, 2010, equation (56).

.seealso: `PCIncPoissonSetPattern()`, `PCIncPoissonSetScaling()`, `PCJACOBI`, `PCICC`, `PCSOR`
M*/
PetscErrorCode PCCreate_IncPoisson(PC pc)
{
  static const char *const event[] = {"PCIncPoisSetUp"};
  PC_IncPoisson           *ip;

  PetscFunctionBegin;
  PetscCall(PetscNew(&ip));
  pc->data                = (void *)ip;
  pc->ops->setup          = PCSetUp_IncPoisson;
  pc->ops->setuponblocks  = KCyclePCSetUpOnBlocks;
  pc->ops->apply          = PCApply_IncPoisson;
  pc->ops->applytranspose = PCApplyTranspose_IncPoisson;
  pc->ops->setfromoptions = PCSetFromOptions_IncPoisson;
  pc->ops->reset          = PCReset_IncPoisson;
  pc->ops->destroy        = PCDestroy_IncPoisson;
  pc->ops->view           = PCView_IncPoisson;
  PetscCall(KCycleRegisterEvents(PC_CLASSID, 1, event, &ip->event));
  PetscFunctionReturn(PETSC_SUCCESS);
}
