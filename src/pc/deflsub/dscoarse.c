/*
  E = Z^T A Z of PCDEFLSUB, and its inverse. All rows of E are on the first process, where the coarse solver works;
  coarse vectors likewise.
*/
#include "deflsubimpl.h"

PetscErrorCode PCDeflSubCoarseCreateKSP(PC pc)
{
  PC_DeflSub *ds = (PC_DeflSub *)pc->data;
  const char *prefix;
  PetscMPIInt nproc;
  PC          coarse;

  PetscFunctionBegin;
  if (ds->coarse) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)pc), &ds->coarse));
  PetscCall(PetscObjectIncrementTabLevel((PetscObject)ds->coarse, (PetscObject)pc, 1));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(KSPSetOptionsPrefix(ds->coarse, prefix));
  PetscCall(KSPAppendOptionsPrefix(ds->coarse, "deflsub_coarse_"));
  PetscCall(KSPSetType(ds->coarse, KSPPREONLY));
  PetscCall(KSPGetPC(ds->coarse, &coarse));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &nproc));
  PetscCall(PCSetType(coarse, nproc > 1 ? PCBJACOBI : PetscDefined(USE_COMPLEX) ? PCLU : PCCHOLESKY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the entries of E come from: pairs of subdomains, then the diagonal */
static PetscErrorCode CreateE(PC pc)
{
  PC_DeflSub *ds   = (PC_DeflSub *)pc->data;
  MPI_Comm    comm = PetscObjectComm((PetscObject)pc);
  PetscInt   *rows, *cols, m = 0;
  PetscMPIInt rank;
  PetscInt    mine;
  PetscLayout layout;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  mine = rank ? 0 : ds->number;
  PetscCall(MatDestroy(&ds->E));
  PetscCall(VecDestroy(&ds->s));
  PetscCall(VecDestroy(&ds->y));
  PetscCall(VecDestroy(&ds->scale));
  PetscCall(MatCreate(comm, &ds->E));
  PetscCall(MatSetSizes(ds->E, mine, mine, ds->number, ds->number));
  PetscCall(MatSetType(ds->E, MATAIJ));
  PetscCall(PetscMalloc2(ds->npairs + ds->nlocal + mine, &rows, ds->npairs + ds->nlocal + mine, &cols));
  for (PetscInt p = 0; p < ds->npairs; p++) {
    if (ds->other[p] == ds->nlocal) continue;
    rows[m]   = ds->global[ds->own[p]];
    cols[m++] = ds->global[ds->other[p]];
  }
  for (PetscInt l = 0; l < ds->nlocal; l++) rows[m] = cols[m] = ds->global[l], m++;
  for (PetscInt l = 0; l < mine; l++) rows[m] = cols[m] = l, m++;
  PetscCall(MatSetPreallocationCOO(ds->E, m, rows, cols));
  PetscCall(PetscFree2(rows, cols));
  PetscCall(MatSetOption(ds->E, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(ds->E, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
  PetscCall(MatCreateVecs(ds->E, &ds->s, &ds->y));
  PetscCall(VecDuplicate(ds->s, &ds->scale));
  PetscCall(VecGetLayout(ds->s, &layout)); /* from coarse vectors to the local numbers of subdomains */
  PetscCall(PetscSFDestroy(&ds->sf));
  PetscCall(PetscSFCreate(comm, &ds->sf));
  PetscCall(PetscSFSetGraphLayout(ds->sf, layout, ds->nlocal, NULL, PETSC_OWN_POINTER, ds->global));
  PetscCall(PetscSFSetUp(ds->sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* s = the sum over all processes of what each has for the subdomains that it touches */
static PetscErrorCode SumParts(const PC_DeflSub *ds, const PetscScalar *parts, Vec s)
{
  PetscScalar *array;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(s, &n));
  PetscCall(VecGetArrayWrite(s, &array));
  PetscCall(PetscArrayzero(array, n));
  PetscCall(PetscSFReduceBegin(ds->sf, MPIU_SCALAR, parts, array, MPIU_SUM));
  PetscCall(PetscSFReduceEnd(ds->sf, MPIU_SCALAR, parts, array, MPIU_SUM));
  PetscCall(VecRestoreArrayWrite(s, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums of the entries of pairs; s: what binds subdomains to the exterior */
static PetscErrorCode FillE(PC pc)
{
  PC_DeflSub  *ds = (PC_DeflSub *)pc->data;
  PetscScalar *values, *diagonal, *bound;
  PetscInt     mine, m = 0;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(ds->E, &mine, NULL));
  PetscCall(PetscCalloc3(ds->npairs + ds->nlocal + mine, &values, ds->nlocal, &diagonal, ds->nlocal, &bound));
  for (PetscInt p = 0; p < ds->npairs; p++) {
    PetscScalar sum = 0;

    for (PetscInt k = ds->start[p]; k < ds->start[p + 1]; k++) sum += ds->value[k];
    diagonal[ds->own[p]] -= sum;
    if (ds->other[p] == ds->nlocal) bound[ds->own[p]] += PetscAbsScalar(sum);
    else values[m++] = sum;
  }
  for (PetscInt l = 0; l < ds->nlocal; l++) values[m++] = diagonal[l];
  PetscCall(MatSetValuesCOO(ds->E, values, INSERT_VALUES));
  PetscCall(SumParts(ds, bound, ds->s));
  PetscCall(PetscFree3(values, diagonal, bound));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Scales E to a diagonal of ones. Of subdomains that are connected with each other and bound to no exterior the first is
  left out: E is singular with all of them. Those without a coupled point, which no process touches, have no column in
  Z. s: what binds; columns: that remain
*/
static PetscErrorCode ChooseScale(PC_DeflSub *ds, PetscInt *columns)
{
  PetscInt           n, m, *parent;
  const PetscInt    *cols, *touched;
  const PetscScalar *values, *bound;
  PetscScalar       *scale;
  PetscReal         *sum;

  PetscFunctionBegin;
  PetscCall(MatGetDiagonal(ds->E, ds->scale));
  PetscCall(PetscSFComputeDegreeBegin(ds->sf, &touched));
  PetscCall(PetscSFComputeDegreeEnd(ds->sf, &touched));
  PetscCall(VecGetLocalSize(ds->s, &n));
  PetscCall(PetscMalloc2(n, &parent, n, &sum));
  PetscCall(VecGetArrayRead(ds->s, &bound));
  PetscCall(VecGetArray(ds->scale, &scale));
  for (PetscInt i = 0; i < n; i++) {
    parent[i] = i;
    sum[i]    = 0;
  }
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(MatGetRow(ds->E, i, &m, &cols, &values));
    for (PetscInt k = 0; k < m; k++) {
      const PetscInt a = KCycleRoot(parent, i), b = KCycleRoot(parent, cols[k]);

      if (values[k] != (PetscScalar)0.0) parent[PetscMax(a, b)] = PetscMin(a, b);
    }
    PetscCall(MatRestoreRow(ds->E, i, &m, &cols, &values));
  }
  for (PetscInt i = 0; i < n; i++) sum[KCycleRoot(parent, i)] += PetscRealPart(bound[i]);
  for (PetscInt i = 0; i < n; i++) {
    const PetscBool omitted = (PetscBool)(parent[i] == i && sum[i] == 0 && touched[i]);

    ds->nomitted += omitted;
    *columns += touched[i] && !omitted;
    scale[i] = omitted || scale[i] == (PetscScalar)0.0 ? 0 : 1 / PetscSqrtReal(PetscAbsScalar(scale[i]));
  }
  PetscCall(VecRestoreArray(ds->scale, &scale));
  PetscCall(VecRestoreArrayRead(ds->s, &bound));
  PetscCall(PetscFree2(parent, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A row of the identity for each vector that is left out */
static PetscErrorCode ScaleE(PC_DeflSub *ds)
{
  const PetscScalar *scale;
  const PetscScalar  one = 1;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(MatDiagonalScale(ds->E, ds->scale, ds->scale));
  PetscCall(VecGetLocalSize(ds->s, &n));
  PetscCall(VecGetArrayRead(ds->scale, &scale));
  for (PetscInt i = 0; i < n; i++) {
    if (scale[i] == (PetscScalar)0.0) PetscCall(MatSetValues(ds->E, 1, &i, 1, &i, &one, INSERT_VALUES));
  }
  PetscCall(VecRestoreArrayRead(ds->scale, &scale));
  PetscCall(MatAssemblyBegin(ds->E, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(ds->E, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LeaveOut(PC pc)
{
  PC_DeflSub *ds      = (PC_DeflSub *)pc->data;
  MPI_Comm    comm    = PetscObjectComm((PetscObject)pc);
  PetscInt    columns = 0;

  PetscFunctionBegin;
  ds->nomitted = 0;
  PetscCall(ChooseScale(ds, &columns));
  PetscCallMPI(MPI_Bcast(&ds->nomitted, 1, MPIU_INT, 0, comm));
  PetscCallMPI(MPI_Bcast(&columns, 1, MPIU_INT, 0, comm));
  PetscCheck(columns > 0 || !ds->nomitted, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The operator maps constants to zero, so that one subdomain of each connected part is left out of Z, "
             "%" PetscInt_FMT " in all, and there is no other: use more subdomains",
             ds->nomitted);
  if (ds->nomitted)
    PetscCall(PetscInfo(pc, "E is singular: %" PetscInt_FMT " of %" PetscInt_FMT " vectors are left out of Z\n",
                        ds->nomitted, ds->number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A factorization that fails is a failure of the preconditioner, which KSP reports */
static PetscErrorCode Factor(PC pc, PetscBool inverse)
{
  PC_DeflSub    *ds = (PC_DeflSub *)pc->data;
  PC             coarse;
  PCFailedReason reason;
  int            here, any;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PCDeflSubEvents[DEFLSUB_FACTOR], pc, ds->E, NULL, NULL));
  PetscCall(KSPSetOperators(ds->coarse, ds->E, ds->E));
  PetscCall(KSPSetErrorIfNotConverged(ds->coarse, pc->erroriffailure));
  PetscCall(KSPSetUp(ds->coarse));
  PetscCall(KSPSetUpOnBlocks(ds->coarse));
  PetscCall(KSPGetPC(ds->coarse, &coarse));
  PetscCall(PCGetFailedReason(coarse, &reason));
  here = (int)reason;
  PetscCallMPI(MPI_Allreduce(&here, &any, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  if (any) {
    PetscCall(PetscInfo(pc, "The factorization of E failed: is the operator symmetric and positive definite?\n"));
    PetscCall(PCSetFailedReason(pc, PC_SUBPC_ERROR));
  }
  if (inverse && !any) PetscCall(PCDeflSubInverseSetUp(pc));
  else PetscCall(PCDeflSubInverseReset(ds));
  PetscCall(PetscLogEventEnd(PCDeflSubEvents[DEFLSUB_FACTOR], pc, ds->E, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first process has the only block that is not empty */
static PetscErrorCode ChooseBlockSolver(PC_DeflSub *ds)
{
  PC        coarse, block;
  KSP      *subs;
  PetscInt  n;
  PetscBool bjacobi;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ds->coarse, &coarse));
  PetscCall(PetscObjectTypeCompare((PetscObject)coarse, PCBJACOBI, &bjacobi));
  if (!bjacobi) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPSetOperators(ds->coarse, ds->E, ds->E));
  PetscCall(KSPSetUp(ds->coarse));
  PetscCall(PCBJacobiGetSubKSP(coarse, &n, NULL, &subs));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(KSPGetPC(subs[i], &block));
    PetscCall(PCSetType(block, PetscDefined(USE_COMPLEX) ? PCLU : PCCHOLESKY));
    PetscCall(KSPSetFromOptions(subs[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* same: the pattern of E is that of the last set-up, as on all processes */
PetscErrorCode PCDeflSubCoarseSetUp(PC pc, PetscBool same)
{
  PC_DeflSub *ds = (PC_DeflSub *)pc->data;
  PetscBool   inverse;

  PetscFunctionBegin;
  PetscCall(PCDeflSubInverseChoose(pc, &inverse));
  PetscCall(PetscLogEventBegin(PCDeflSubEvents[DEFLSUB_E], pc, NULL, NULL, NULL));
  if (!same) PetscCall(CreateE(pc));
  PetscCall(FillE(pc));
  PetscCall(LeaveOut(pc));
  PetscCall(ScaleE(ds));
  PetscCall(PetscLogEventEnd(PCDeflSubEvents[DEFLSUB_E], pc, NULL, NULL, NULL));
  if (!same) PetscCall(KSPReset(ds->coarse));
  if (!same) PetscCall(ChooseBlockSolver(ds));
  PetscCall(Factor(pc, inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = E^-1 s, by the solver for E with a diagonal of ones; s is overwritten */
PetscErrorCode PCDeflSubCoarseSolveScaled(PC pc)
{
  PC_DeflSub        *ds = (PC_DeflSub *)pc->data;
  KSPConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(VecPointwiseMult(ds->s, ds->s, ds->scale));
  PetscCall(KSPSolve(ds->coarse, ds->s, ds->y));
  PetscCall(KSPGetConvergedReason(ds->coarse, &reason));
  if (reason < 0 && reason != KSP_DIVERGED_ITS) PetscCall(PCSetFailedReason(pc, PC_SUBPC_ERROR));
  PetscCall(VecPointwiseMult(ds->y, ds->y, ds->scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a = E^-1 a, by way of the first process; before: parts of this process of a sum over all, after: values of the
   subdomains that it touches */
PetscErrorCode PCDeflSubCoarseSolve(PC pc, Vec a)
{
  PC_DeflSub        *ds = (PC_DeflSub *)pc->data;
  const Vec          in = ds->inverse ? ds->in : ds->s, out = ds->inverse ? ds->out : ds->y;
  const PetscScalar *y;
  PetscScalar       *values;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PCDeflSubEvents[DEFLSUB_SOLVE], pc, NULL, NULL, NULL));
  if (ds->direct) {
    PetscCall(MatMult(ds->inverse, a, ds->out));
    PetscCall(VecCopy(ds->out, a));
  } else {
    PetscCall(VecGetArray(a, &values));
    PetscCall(SumParts(ds, values, in));
    if (ds->inverse) PetscCall(MatMult(ds->inverse, in, out));
    else PetscCall(PCDeflSubCoarseSolveScaled(pc));
    PetscCall(VecGetArrayRead(out, &y));
    PetscCall(PetscSFBcastBegin(ds->sf, MPIU_SCALAR, y, values, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(ds->sf, MPIU_SCALAR, y, values, MPI_REPLACE));
    PetscCall(VecRestoreArrayRead(out, &y));
    values[ds->nlocal] = 0;
    PetscCall(VecRestoreArray(a, &values));
  }
  PetscCall(PetscLogEventEnd(PCDeflSubEvents[DEFLSUB_SOLVE], pc, NULL, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
