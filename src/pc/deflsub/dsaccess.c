/*
  Labels of PCDEFLSUB, its inner solvers, and its operators Q, P and P^T.
*/
#include "deflsubimpl.h"

static PetscErrorCode RequireSetUp(PC pc)
{
  PetscFunctionBegin;
  PetscCheck(((PC_DeflSub *)pc->data)->E, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "PCDEFLSUB has no subdomains yet: call PCSetUp() or KSPSetUp() first");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes labels over; type user follows */
static PetscErrorCode TakeLabels(PC pc, PetscInt n, PetscInt *labels)
{
  PC_DeflSub *ds = (PC_DeflSub *)pc->data;

  PetscFunctionBegin;
  PetscCall(PetscFree(ds->given));
  ds->given       = labels;
  ds->ngiven      = n;
  ds->type        = PC_DEFLSUB_USER;
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDeflSubSetLabels_DeflSub(PC pc, Vec labels)
{
  MPI_Comm           comm = PetscObjectComm((PetscObject)pc);
  const PetscScalar *values;
  PetscInt          *copy, n, start, wrong = PETSC_INT_MAX, first;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(labels, &n));
  PetscCall(VecGetOwnershipRange(labels, &start, NULL));
  PetscCall(PetscMalloc1(n, &copy));
  PetscCall(VecGetArrayRead(labels, &values));
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal value = PetscRealPart(values[i]);

    if (value != PetscFloorReal(value) || PetscAbsReal(value) >= (PetscReal)PETSC_INT_MAX ||
        PetscImaginaryPart(values[i]) != 0)
      wrong = PetscMin(wrong, start + i);
    else copy[i] = (PetscInt)value;
  }
  PetscCall(VecRestoreArrayRead(labels, &values));
  PetscCallMPI(MPI_Allreduce(&wrong, &first, 1, MPIU_INT, MPI_MIN, comm));
  if (first < PETSC_INT_MAX) PetscCall(PetscFree(copy));
  PetscCheck(first == PETSC_INT_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The label of unknown %" PetscInt_FMT " is no integer", first);
  PetscCall(TakeLabels(pc, n, copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCDeflSubSetLabels - Gives each unknown the label of its subdomain.

  Collective

  Input Parameters:
+ pc     - the preconditioner
- labels - an integer for each unknown, in the layout of the operator; copied

  Level: intermediate

  Notes:
  Labels are 0, 1, ... without gaps, in any order and on any process. The type becomes `PC_DEFLSUB_USER`. It is an error
  at set-up if a label is negative, if none of the unknowns has one of them, or if there are not as many labels as
  unknowns.

.seealso: `PCDEFLSUB`, `PCDeflSubGetLabels()`, `PCDeflSubSetLabelIS()`
@*/
PetscErrorCode PCDeflSubSetLabels(PC pc, Vec labels)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidHeaderSpecific(labels, VEC_CLASSID, 2);
  PetscTryMethod(pc, "PCDeflSubSetLabels_C", (PC, Vec), (pc, labels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDeflSubGetLabels_DeflSub(PC pc, Vec labels)
{
  PC_DeflSub  *ds = (PC_DeflSub *)pc->data;
  PetscScalar *values;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(RequireSetUp(pc));
  PetscCall(VecGetLocalSize(labels, &n));
  PetscCall(PCDeflSubCheckCount(pc, ds->n, n, "places for labels in the vector"));
  PetscCall(VecGetArrayWrite(labels, &values));
  for (PetscInt i = 0; i < n; i++) values[i] = (PetscScalar)ds->label[i];
  PetscCall(VecRestoreArrayWrite(labels, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCDeflSubGetLabels - Gets the label of the subdomain of each unknown, to draw them for instance.

  Collective

  Input Parameter:
. pc - the preconditioner, set up

  Output Parameter:
. labels - a vector in the layout of the operator, which is filled

  Options Database Key:
. -pc_deflsub_view_labels (viewer) - shows the labels at the end of each set-up

  Level: intermediate

.seealso: `PCDEFLSUB`, `PCDeflSubSetLabels()`, `PCDeflSubGetLabelIS()`
@*/
PetscErrorCode PCDeflSubGetLabels(PC pc, Vec labels)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidHeaderSpecific(labels, VEC_CLASSID, 2);
  PetscUseMethod(pc, "PCDeflSubGetLabels_C", (PC, Vec), (pc, labels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDeflSubSetLabelIS_DeflSub(PC pc, IS labels)
{
  const PetscInt *values;
  PetscInt       *copy, n;

  PetscFunctionBegin;
  PetscCall(ISGetLocalSize(labels, &n));
  PetscCall(PetscMalloc1(n, &copy));
  PetscCall(ISGetIndices(labels, &values));
  PetscCall(PetscArraycpy(copy, values, n));
  PetscCall(ISRestoreIndices(labels, &values));
  PetscCall(TakeLabels(pc, n, copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCDeflSubSetLabelIS - Gives each unknown the label of its subdomain, as an index set.

  Collective

  Input Parameters:
+ pc     - the preconditioner
- labels - entry i is the label of unknown i of the process, as `PCDeflSubSetLabels()` says; copied

  Level: intermediate

.seealso: `PCDEFLSUB`, `PCDeflSubGetLabelIS()`, `PCDeflSubSetLabels()`
@*/
PetscErrorCode PCDeflSubSetLabelIS(PC pc, IS labels)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidHeaderSpecific(labels, IS_CLASSID, 2);
  PetscTryMethod(pc, "PCDeflSubSetLabelIS_C", (PC, IS), (pc, labels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDeflSubGetLabelIS_DeflSub(PC pc, IS *labels)
{
  PC_DeflSub *ds = (PC_DeflSub *)pc->data;

  PetscFunctionBegin;
  PetscCall(RequireSetUp(pc));
  PetscCall(ISCreateGeneral(PetscObjectComm((PetscObject)pc), ds->n, ds->label, PETSC_COPY_VALUES, labels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCDeflSubGetLabelIS - Gets the label of the subdomain of each unknown, as an index set.

  Collective

  Input Parameter:
. pc - the preconditioner, set up

  Output Parameter:
. labels - entry i is the label of unknown i of the process; to be destroyed with `ISDestroy()`

  Level: intermediate

.seealso: `PCDEFLSUB`, `PCDeflSubSetLabelIS()`, `PCDeflSubGetLabels()`
@*/
PetscErrorCode PCDeflSubGetLabelIS(PC pc, IS *labels)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(labels, 2);
  PetscUseMethod(pc, "PCDeflSubGetLabelIS_C", (PC, IS *), (pc, labels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDeflSubGetNumber_DeflSub(PC pc, PetscInt *number, PetscInt *omitted)
{
  PC_DeflSub *ds = (PC_DeflSub *)pc->data;

  PetscFunctionBegin;
  PetscCall(RequireSetUp(pc));
  if (number) *number = ds->number;
  if (omitted) *omitted = ds->nomitted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCDeflSubGetNumber - Gets the number of subdomains.

  Not Collective

  Input Parameter:
. pc - the preconditioner, set up

  Output Parameters:
+ number - subdomains
- omitted - vectors that are left out of Z since E is singular with them

  Level: intermediate

.seealso: `PCDEFLSUB`, `PCDeflSubSetBoxes()`, `PCDeflSubGetLabels()`
@*/
PetscErrorCode PCDeflSubGetNumber(PC pc, PetscInt *number, PetscInt *omitted)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCDeflSubGetNumber_C", (PC, PetscInt *, PetscInt *), (pc, number, omitted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDeflSubGetPC_DeflSub(PC pc, PC *inner)
{
  PetscFunctionBegin;
  PetscCall(PCDeflSubCreateInner(pc));
  *inner = ((PC_DeflSub *)pc->data)->inner;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCDeflSubGetPC - Gets the inner preconditioner M^-1.

  Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. inner - the inner preconditioner, with the prefix deflsub_; not to be destroyed

  Level: beginner

.seealso: `PCDEFLSUB`, `PCDeflSubGetCoarseKSP()`
@*/
PetscErrorCode PCDeflSubGetPC(PC pc, PC *inner)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(inner, 2);
  PetscUseMethod(pc, "PCDeflSubGetPC_C", (PC, PC *), (pc, inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDeflSubGetCoarseKSP_DeflSub(PC pc, KSP *ksp)
{
  PetscFunctionBegin;
  PetscCall(PCDeflSubCoarseCreateKSP(pc));
  *ksp = ((PC_DeflSub *)pc->data)->coarse;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCDeflSubGetCoarseKSP - Gets the solver for E = Z^T A Z.

  Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. ksp - the solver, with the prefix deflsub_coarse_; not to be destroyed

  Level: intermediate

  Note:
  Its operator is E scaled to a diagonal of ones, with all rows on the first process.

.seealso: `PCDEFLSUB`, `PCDeflSubGetPC()`
@*/
PetscErrorCode PCDeflSubGetCoarseKSP(PC pc, KSP *ksp)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(ksp, 2);
  PetscUseMethod(pc, "PCDeflSubGetCoarseKSP_C", (PC, KSP *), (pc, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCDeflSubCorrect - Computes the correction x = Q b, Q = Z E^-1 Z^T.

  Collective

  Input Parameters:
+ pc - the preconditioner, set up
- b  - a vector

  Output Parameter:
. x - another vector

  Level: advanced

  Note:
  Equation (91) of Gupta's thesis.

.seealso: `PCDEFLSUB`, `PCDeflSubProject()`, `PCDeflSubProjectTranspose()`
@*/
PetscErrorCode PCDeflSubCorrect(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidHeaderSpecific(b, VEC_CLASSID, 2);
  PetscValidHeaderSpecific(x, VEC_CLASSID, 3);
  PetscUseMethod(pc, "PCDeflSubCorrect_C", (PC, Vec, Vec), (pc, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCDeflSubProject - Computes the projection y = P x, P = I - A Q.

  Collective

  Input Parameters:
+ pc - the preconditioner, set up
- x  - a vector

  Output Parameter:
. y - another vector

  Level: advanced

  Note:
  Equation (91) of Gupta's thesis. P A Z = 0 and Z^T P = 0.

.seealso: `PCDEFLSUB`, `PCDeflSubCorrect()`, `PCDeflSubProjectTranspose()`
@*/
PetscErrorCode PCDeflSubProject(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidHeaderSpecific(x, VEC_CLASSID, 2);
  PetscValidHeaderSpecific(y, VEC_CLASSID, 3);
  PetscUseMethod(pc, "PCDeflSubProject_C", (PC, Vec, Vec), (pc, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCDeflSubProjectTranspose - Computes the projection y = P^T x, P^T = I - Q A.

  Collective

  Input Parameters:
+ pc - the preconditioner, set up
- x  - a vector

  Output Parameter:
. y - another vector

  Level: advanced

  Note:
  The solution of A x = b is Q b + P^T x, equation (87) of Gupta's thesis.

.seealso: `PCDEFLSUB`, `PCDeflSubCorrect()`, `PCDeflSubProject()`
@*/
PetscErrorCode PCDeflSubProjectTranspose(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidHeaderSpecific(x, VEC_CLASSID, 2);
  PetscValidHeaderSpecific(y, VEC_CLASSID, 3);
  PetscUseMethod(pc, "PCDeflSubProjectTranspose_C", (PC, Vec, Vec), (pc, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDeflSubComposeAccess(PC pc, PetscBool compose)
{
  PetscObject o = (PetscObject)pc;

  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction(o, "PCDeflSubSetLabels_C", compose ? PCDeflSubSetLabels_DeflSub : NULL));
  PetscCall(PetscObjectComposeFunction(o, "PCDeflSubGetLabels_C", compose ? PCDeflSubGetLabels_DeflSub : NULL));
  PetscCall(PetscObjectComposeFunction(o, "PCDeflSubSetLabelIS_C", compose ? PCDeflSubSetLabelIS_DeflSub : NULL));
  PetscCall(PetscObjectComposeFunction(o, "PCDeflSubGetLabelIS_C", compose ? PCDeflSubGetLabelIS_DeflSub : NULL));
  PetscCall(PetscObjectComposeFunction(o, "PCDeflSubGetNumber_C", compose ? PCDeflSubGetNumber_DeflSub : NULL));
  PetscCall(PetscObjectComposeFunction(o, "PCDeflSubGetPC_C", compose ? PCDeflSubGetPC_DeflSub : NULL));
  PetscCall(PetscObjectComposeFunction(o, "PCDeflSubGetCoarseKSP_C", compose ? PCDeflSubGetCoarseKSP_DeflSub : NULL));
  PetscCall(PetscObjectComposeFunction(o, "PCDeflSubCorrect_C", compose ? PCDeflSubCorrect_DeflSub : NULL));
  PetscCall(PetscObjectComposeFunction(o, "PCDeflSubProject_C", compose ? PCDeflSubProject_DeflSub : NULL));
  PetscCall(
      PetscObjectComposeFunction(o, "PCDeflSubProjectTranspose_C", compose ? PCDeflSubProjectTranspose_DeflSub : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
