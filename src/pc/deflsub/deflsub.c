/*
  PCDEFLSUB: subdomain deflation around an inner preconditioner.

    Q = Z E^-1 Z^T,   E = Z^T A Z,   P = I - A Q,   P^T = I - Q A

  A Z is stored, so neither P nor P^T needs a product with A:

    P x = x - (A Z) E^-1 Z^T x,   P^T x = x - Z E^-1 (A Z)^T x
*/
#include "deflsubimpl.h"
#include <petsckcycle/private/registerimpl.h>

PetscLogEvent PCDeflSubEvents[DEFLSUB_NUM_EVENTS];

/* The projections that make and keep residuals orthogonal to Z have to be those of the operator of the Krylov
   method. what: asks for that */
PetscErrorCode PCDeflSubCheckOperator(PC pc, const char what[])
{
  PetscFunctionBegin;
  PetscCheck(PCDeflSubOperator(pc) == pc->mat, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "%s deflates the operator of the Krylov method, and Z^T A Z is made from another matrix, that for "
             "preconditioners: use -pc_use_amat, or -ksp_type cg with "
             "-pc_deflsub_form bnn",
             what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By a matrix of a device, if there is one, or by arrays */
PetscErrorCode PCDeflSubMultiply(PC pc, PCDeflSubProduct product, Vec from, Vec to)
{
  const PC_DeflSub    *ds       = (const PC_DeflSub *)pc->data;
  const Mat            matrix[] = {ds->ZT, ds->AZT, ds->Z, ds->C};
  const PetscBool      adds     = (PetscBool)(product >= DEFLSUB_PRODUCT_Z);
  const PetscLogEvent  event    = PCDeflSubEvents[product == DEFLSUB_PRODUCT_ZT ? DEFLSUB_ZT : DEFLSUB_CORRECT];
  const PetscLogDouble flops    = product % 2 ? 2.0 * ds->start[ds->npairs] : ds->n;
  const PetscScalar   *x;
  PetscScalar         *y;
  void (*const kernel[])(const PC_DeflSub *, const PetscScalar *, PetscScalar *) = {PCDeflSubZT, PCDeflSubAZT,
                                                                                    PCDeflSubZ, PCDeflSubAZ};

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(event, pc, NULL, NULL, NULL));
  if (matrix[product]) {
    if (adds) PetscCall(PCDeflSubDeviceTo(ds, matrix[product], from, to));
    else PetscCall(PCDeflSubDeviceFrom(ds, matrix[product], from, to));
  } else {
    PetscCall(VecGetArrayRead(from, &x));
    if (adds) PetscCall(VecGetArray(to, &y));
    else PetscCall(VecGetArrayWrite(to, &y));
    kernel[product](ds, x, y);
    if (adds) PetscCall(VecRestoreArray(to, &y));
    else PetscCall(VecRestoreArrayWrite(to, &y));
    PetscCall(VecRestoreArrayRead(from, &x));
    PetscCall(PetscLogFlops(flops));
  }
  PetscCall(PetscLogEventEnd(event, pc, NULL, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a = E^-1 Z^T x */
PetscErrorCode PCDeflSubSolveZT(PC pc, Vec x, Vec a)
{
  PetscFunctionBegin;
  PetscCall(PCDeflSubMultiply(pc, DEFLSUB_PRODUCT_ZT, x, a));
  PetscCall(PCDeflSubCoarseSolve(pc, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = P^T M^-1 P r + Q r: with y = E^-1 Z^T r and u = M^-1 (r - A Z y) it is u + Z (y - E^-1 (A Z)^T u) */
static PetscErrorCode ApplyBalanced(PC pc, Vec r, Vec z, PetscBool transpose)
{
  PC_DeflSub *ds = (PC_DeflSub *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCDeflSubSolveZT(pc, r, ds->a));
  PetscCall(VecCopy(r, ds->t));
  PetscCall(PCDeflSubMultiply(pc, DEFLSUB_PRODUCT_AZ, ds->a, ds->t));
  if (transpose) PetscCall(PCApplyTranspose(ds->inner, ds->t, z));
  else PetscCall(PCApply(ds->inner, ds->t, z));
  PetscCall(PCDeflSubMultiply(pc, DEFLSUB_PRODUCT_AZT, z, ds->b));
  PetscCall(PCDeflSubCoarseSolve(pc, ds->b));
  PetscCall(VecAXPY(ds->a, -1, ds->b));
  PetscCall(PCDeflSubMultiply(pc, DEFLSUB_PRODUCT_Z, ds->a, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = P^T M^-1 r, and with correction + Q r: with u = M^-1 r it is u + Z E^-1 (Z^T r - (A Z)^T u) */
static PetscErrorCode ApplyProjected(PC pc, Vec r, Vec z)
{
  PC_DeflSub *ds = (PC_DeflSub *)pc->data;

  PetscFunctionBegin;
  PetscCheck(ds->solves > 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "-pc_deflsub_form %s needs the start that KSPSolve() gives to its own preconditioner, and is applied "
             "without it: use -pc_deflsub_form bnn here",
             PCDeflSubFormTypes[ds->form]);
  PetscCall(PCApply(ds->inner, r, z));
  PetscCall(PCDeflSubMultiply(pc, DEFLSUB_PRODUCT_AZT, z, ds->b));
  PetscCall(VecScale(ds->b, -1));
  if (ds->form == PC_DEFLSUB_ADEF2) {
    PetscCall(PCDeflSubMultiply(pc, DEFLSUB_PRODUCT_ZT, r, ds->a));
    PetscCall(VecAXPY(ds->b, 1, ds->a));
  }
  PetscCall(PCDeflSubCoarseSolve(pc, ds->b));
  PetscCall(PCDeflSubMultiply(pc, DEFLSUB_PRODUCT_Z, ds->b, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_DeflSub(PC pc, Vec r, Vec z)
{
  PetscFunctionBegin;
  if (((PC_DeflSub *)pc->data)->form == PC_DEFLSUB_BNN) PetscCall(ApplyBalanced(pc, r, z, PETSC_FALSE));
  else PetscCall(ApplyProjected(pc, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a symmetric operator */
static PetscErrorCode PCApplyTranspose_DeflSub(PC pc, Vec r, Vec z)
{
  PC_DeflSub *ds = (PC_DeflSub *)pc->data;

  PetscFunctionBegin;
  PetscCheck(ds->form == PC_DEFLSUB_BNN && !PetscDefined(USE_COMPLEX), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PCDEFLSUB has a transpose for real numbers and -pc_deflsub_form bnn only");
  PetscCall(ApplyBalanced(pc, r, z, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A right side that has a part in the kernel is made consistent by KSP, if a null space is attached, and known to be
   that of the transpose too */
static PetscErrorCode ReportRightSide(PC pc, Vec b)
{
  PetscScalar sum;
  PetscReal   norm;

  PetscFunctionBegin;
  PetscCall(VecSum(b, &sum));
  PetscCall(VecNorm(b, NORM_1, &norm));
  if (PetscAbsScalar(sum) > 1e-8 * norm)
    PetscCall(PetscInfo(pc,
                        "The operator is singular and the right side is not consistent: the sum of its entries is %g "
                        "of their absolute sum. "
                        "KSP projects it if the null space is attached, with MatSetNullSpace(), to a matrix that is "
                        "known to be symmetric, by MatSetOption() with "
                        "MAT_SYMMETRIC, or with MatSetTransposeNullSpace()\n",
                        (double)(PetscAbsScalar(sum) / norm)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The start x + Q (b - A x) = Q b + P^T x */
static PetscErrorCode PCPreSolve_DeflSub(PC pc, KSP ksp, Vec b, Vec x)
{
  PC_DeflSub  *ds = (PC_DeflSub *)pc->data;
  MatNullSpace nullspace;
  char         what[64];

  PetscFunctionBegin;
  PetscCall(PCSetUp(pc)); /* KSP has not done it if values changed without KSPSetOperators() */
  if (ds->nomitted) PetscCall(ReportRightSide(pc, b));
  if (ds->form == PC_DEFLSUB_BNN) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(what, sizeof(what), "-pc_deflsub_form %s", PCDeflSubFormTypes[ds->form]));
  PetscCall(PCDeflSubCheckOperator(pc, what));
  if (!ds->solves++) PetscCall(KSPGetInitialGuessNonzero(ksp, &ds->nonzero));
  if (ksp->guess_zero) {
    PetscCall(VecSet(x, 0));
    PetscCall(VecCopy(b, ds->t));
  } else {
    PetscCall(MatMult(pc->mat, x, ds->t));
    PetscCall(VecAYPX(ds->t, -1, b));
  }
  PetscCall(MatGetTransposeNullSpace(pc->pmat, &nullspace)); /* KSP removes it from the right side, but later */
  if (nullspace) PetscCall(MatNullSpaceRemove(nullspace, ds->t));
  PetscCall(PCDeflSubSolveZT(pc, ds->t, ds->a));
  PetscCall(PCDeflSubMultiply(pc, DEFLSUB_PRODUCT_Z, ds->a, x));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPostSolve_DeflSub(PC pc, KSP ksp, Vec b, Vec x)
{
  PC_DeflSub *ds = (PC_DeflSub *)pc->data;

  PetscFunctionBegin;
  (void)b;
  (void)x;
  if (!ds->solves) PetscFunctionReturn(PETSC_SUCCESS);
  if (!--ds->solves) PetscCall(KSPSetInitialGuessNonzero(ksp, ds->nonzero));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDeflSubCreateInner(PC pc)
{
  PC_DeflSub *ds = (PC_DeflSub *)pc->data;
  const char *prefix;

  PetscFunctionBegin;
  if (ds->inner) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCCreate(PetscObjectComm((PetscObject)pc), &ds->inner));
  PetscCall(PetscObjectIncrementTabLevel((PetscObject)ds->inner, (PetscObject)pc, 1));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PCSetOptionsPrefix(ds->inner, prefix));
  PetscCall(PCAppendOptionsPrefix(ds->inner, "deflsub_"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpInner(PC pc)
{
  PC_DeflSub    *ds = (PC_DeflSub *)pc->data;
  PCFailedReason reason;
  DM             dm;

  PetscFunctionBegin;
  PetscCall(PCDeflSubCreateInner(pc));
  PetscCall(PCGetDM(pc, &dm));
  if (dm) PetscCall(PCSetDM(ds->inner, dm));
  PetscCall(PCSetOperators(ds->inner, pc->mat, pc->pmat));
  if (!pc->setupcalled) PetscCall(PCSetFromOptions(ds->inner));
  PetscCall(PCSetErrorIfFailure(ds->inner, pc->erroriffailure));
  PetscCall(PCSetUp(ds->inner));
  PetscCall(PCGetFailedReason(ds->inner, &reason));
  if (reason) PetscCall(PCSetFailedReason(pc, reason));
  if (!ds->t) PetscCall(MatCreateVecs(pc->pmat, NULL, &ds->t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Subdomains, A Z, E: what has not changed since the last set-up is kept */
static PetscErrorCode SetUpDeflation(PC pc)
{
  PC_DeflSub *ds = (PC_DeflSub *)pc->data;
  KCycleRows *rows;
  PetscBool   same;

  PetscFunctionBegin;
  PetscCall(KCycleRowsCreate(PCDeflSubOperator(pc), "PCDEFLSUB", &rows));
  PetscCall(PCDeflSubLabel(pc, rows, &same));
  ds->known = PETSC_FALSE;
  PetscCall(PetscLogEventBegin(PCDeflSubEvents[DEFLSUB_AZ], pc, NULL, NULL, NULL));
  PetscCall(PCDeflSubSpaceCreate(pc, rows, &same));
  PetscCall(PetscLogEventEnd(PCDeflSubEvents[DEFLSUB_AZ], pc, NULL, NULL, NULL));
  PetscCall(KCycleRowsDestroy(&rows));
  PetscCall(PCDeflSubCoarseCreateKSP(pc));
  if (!pc->setupcalled) PetscCall(KSPSetFromOptions(ds->coarse));
  PetscCall(PCDeflSubCoarseSetUp(pc, same));
  ds->known = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* That of the last set-up, and those of the solvers that it may have come from */
static PetscErrorCode ForgetFailures(PC pc)
{
  PC_DeflSub    *ds = (PC_DeflSub *)pc->data;
  PCFailedReason reason;
  PC             coarse;

  PetscFunctionBegin;
  PetscCall(PCGetFailedReason(pc, &reason));
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  if (!reason) PetscFunctionReturn(PETSC_SUCCESS);
  if (ds->inner) PetscCall(KCyclePCForgetFailure(ds->inner));
  if (!ds->coarse) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetPC(ds->coarse, &coarse));
  PetscCall(KCyclePCForgetFailure(coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_DeflSub(PC pc)
{
  PetscFunctionBegin;
  PetscCall(ForgetFailures(pc));
  PetscCall(SetUpDeflation(pc));
  PetscCall(SetUpInner(pc));
  PetscCall(PCDeflSubShowLabels(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUpOnBlocks_DeflSub(PC pc)
{
  PC_DeflSub    *ds = (PC_DeflSub *)pc->data;
  PCFailedReason reason;

  PetscFunctionBegin;
  PetscCall(PCSetUp(pc)); /* values may have been repaired without KSPSetOperators() */
  PetscCall(PCSetUpOnBlocks(ds->inner));
  PetscCall(PCGetFailedReason(ds->inner, &reason));
  if (reason) PetscCall(PCSetFailedReason(pc, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCReset_DeflSub(PC pc)
{
  PC_DeflSub *ds = (PC_DeflSub *)pc->data;

  PetscFunctionBegin;
  if (ds->inner) PetscCall(PCReset(ds->inner));
  if (ds->coarse) PetscCall(KSPReset(ds->coarse));
  PetscCall(PCDeflSubSpaceReset(ds));
  PetscCall(PCDeflSubDeviceReset(ds));
  PetscCall(PetscFree(ds->label));
  ds->known = PETSC_FALSE;
  PetscCall(PetscSFDestroy(&ds->sf));
  PetscCall(MatDestroy(&ds->E));
  PetscCall(VecDestroy(&ds->scale));
  PetscCall(VecDestroy(&ds->s));
  PetscCall(VecDestroy(&ds->y));
  PetscCall(PCDeflSubInverseReset(ds));
  PetscCall(VecDestroy(&ds->t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_DeflSub(PC pc)
{
  PC_DeflSub *ds = (PC_DeflSub *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCReset_DeflSub(pc));
  PetscCall(PCDestroy(&ds->inner));
  PetscCall(KSPDestroy(&ds->coarse));
  PetscCall(VecDestroy(&ds->coefficient));
  PetscCall(PetscViewerDestroy(&ds->viewer));
  PetscCall(ISDestroy(&ds->given));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  PCDEFLSUB - "deflsub" - Subdomain deflation around any preconditioner, so that plain `KSPCG` becomes deflated PCG.

  Options Database Keys:
+ -pc_deflsub_type (stripe|box|interface|user) - subdomains
. -pc_deflsub_form (bnn|adef2|pt)              - how inner preconditioner, correction and projection are combined
. -pc_deflsub_coarse (auto|factor|inverse)     - how to solve with E
. -pc_deflsub_boxes (x,y,z)                    - boxes in each direction, or number of stripes (default chosen)
. -pc_deflsub_size (integer)                   - unknowns that a subdomain is to have, instead
. -pc_deflsub_jump (real)                      - couplings that differ by more than this factor are an interface
      (default 1.4)
. -pc_deflsub_view_labels (viewer)             - shows the labels of all unknowns as a `Vec` (default none)
. -deflsub_pc_type (type)                      - the inner preconditioner, with its options
- -deflsub_coarse_pc_type (type)               - the solver for E, with its options

  Level: beginner

  Notes:
  For symmetric positive definite or semi-definite operators A of type `MATAIJ` or `MATSTENCIL`. Z has a column for each
  subdomain, 1 on its unknowns, E = Z^T A Z, Q = Z E^-1 Z^T, P = I - A Q; with the inner preconditioner M^-1 the default
  is P^T M^-1 P + Q. Errors that are constant on subdomains are solved directly, those that M^-1 reduces slowly since
  coefficients jump among them, if subdomains follow the interfaces.

  Where A maps the constants of subdomains that are connected to zero, E is singular, and one vector of them is left out
  of Z. An isolated unknown belongs to a subdomain, but its row of Z is zero: M^-1 solves for it.

  When the values of A change, subdomains of type interface are sought again. As long as they stay where they are, and
  always with the other types, only numbers are renewed: A Z, E and its factors.

  E is on the first process, which factors it: by Cholesky, with more than one process inside a `PCBJACOBI`
  (-deflsub_coarse_sub_pc_type). Its dense inverse can be made from that.

  Source: Gupta, Implementation of the Deflated Preconditioned Conjugate Gradient Method for Bubbly Flow on the GPU,
  section 3.3, equation (91) and Algorithm 8.

.seealso: `KSPDPCG`, `PCDeflSubSetType()`, `PCDeflSubSetForm()`, `PCDeflSubSetCoarse()`, `PCDeflSubSetBoxes()`,
`PCDeflSubSetSize()`, `PCDeflSubSetJump()`, `PCDeflSubSetLabelIS()`,
          `PCDeflSubSetCoefficient()`, `PCDeflSubGetPC()`, `PCDeflSubGetCoarseKSP()`, `PCDEFLATION`
M*/
PetscErrorCode PCCreate_DeflSub(PC pc)
{
  static const char *const events[] = {"PCDeflSubLabel", "PCDeflSubAZ",     "PCDeflSubE",      "PCDeflSubFactor",
                                       "PCDeflSubZT",    "PCDeflSubSolveE", "PCDeflSubCorrect"};
  PC_DeflSub              *ds;

  PetscFunctionBegin;
  PetscCall(PetscNew(&ds));
  pc->data                = (void *)ds;
  ds->type                = PC_DEFLSUB_INTERFACE;
  ds->jump                = KC_DEFLSUB_JUMP;
  pc->ops->setup          = PCSetUp_DeflSub;
  pc->ops->setuponblocks  = PCSetUpOnBlocks_DeflSub;
  pc->ops->apply          = PCApply_DeflSub;
  pc->ops->applytranspose = PCApplyTranspose_DeflSub;
  pc->ops->presolve       = PCPreSolve_DeflSub;
  pc->ops->postsolve      = PCPostSolve_DeflSub;
  pc->ops->setfromoptions = PCSetFromOptions_DeflSub;
  pc->ops->reset          = PCReset_DeflSub;
  pc->ops->destroy        = PCDestroy_DeflSub;
  pc->ops->view           = PCView_DeflSub;
  PetscCall(KCycleRegisterEvents(PC_CLASSID, DEFLSUB_NUM_EVENTS, events, PCDeflSubEvents));
  PetscFunctionReturn(PETSC_SUCCESS);
}
