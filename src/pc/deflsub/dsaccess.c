/*
  Labels of PCDEFLSUB, its inner solvers, and its operators Q, P and P^T.
*/
#include "deflsubimpl.h"

/* The data of a PCDEFLSUB that is set up */
static PetscErrorCode GetSetUp(PC pc, PC_DeflSub **ds)
{
  PetscFunctionBegin;
  PetscCall(KCyclePCRequire(pc, PCDEFLSUB, ds));
  PetscCheck((*ds)->E, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "PCDEFLSUB has no subdomains yet: call PCSetUp() or KSPSetUp() first");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCDeflSubSetLabelIS - Gives each unknown the label of its subdomain.

  Collective

  Input Parameters:
+ pc     - the preconditioner
- labels - entry i is the label of unknown i of the process

  Level: intermediate

  Notes:
  Labels are 0, 1, ... without gaps, in any order and on any process. The type becomes `PC_DEFLSUB_USER`. It is an error
  at set-up if a label is negative, if none of the unknowns has one of them, or if there are not as many labels as
  unknowns.

.seealso: `PCDEFLSUB`, `PCDeflSubGetLabelIS()`
@*/
PetscErrorCode PCDeflSubSetLabelIS(PC pc, IS labels)
{
  PC_DeflSub *ds;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidHeaderSpecific(labels, IS_CLASSID, 2);
  PetscCall(KCyclePCQuery(pc, PCDEFLSUB, &ds));
  if (!ds) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectReference((PetscObject)labels));
  PetscCall(ISDestroy(&ds->given));
  ds->given       = labels;
  ds->type        = PC_DEFLSUB_USER;
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCDeflSubGetLabelIS - Gets the label of the subdomain of each unknown.

  Collective

  Input Parameter:
. pc - the preconditioner, set up

  Output Parameter:
. labels - entry i is the label of unknown i of the process; to be destroyed with `ISDestroy()`

  Options Database Key:
. -pc_deflsub_view_labels (viewer) - shows the labels at the end of each set-up

  Level: intermediate

.seealso: `PCDEFLSUB`, `PCDeflSubSetLabelIS()`
@*/
PetscErrorCode PCDeflSubGetLabelIS(PC pc, IS *labels)
{
  PC_DeflSub *ds;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(labels, 2);
  PetscCall(GetSetUp(pc, &ds));
  PetscCall(ISCreateGeneral(PetscObjectComm((PetscObject)pc), ds->n, ds->label, PETSC_COPY_VALUES, labels));
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

.seealso: `PCDEFLSUB`, `PCDeflSubSetBoxes()`, `PCDeflSubGetLabelIS()`
@*/
PetscErrorCode PCDeflSubGetNumber(PC pc, PetscInt *number, PetscInt *omitted)
{
  PC_DeflSub *ds;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(GetSetUp(pc, &ds));
  if (number) *number = ds->number;
  if (omitted) *omitted = ds->nomitted;
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
  PC_DeflSub *ds;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(inner, 2);
  PetscCall(KCyclePCRequire(pc, PCDEFLSUB, &ds));
  PetscCall(PCDeflSubCreateInner(pc));
  *inner = ds->inner;
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
  PC_DeflSub *ds;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(ksp, 2);
  PetscCall(KCyclePCRequire(pc, PCDEFLSUB, &ds));
  PetscCall(PCDeflSubCoarseCreateKSP(pc));
  *ksp = ds->coarse;
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
  PC_DeflSub *ds;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidHeaderSpecific(b, VEC_CLASSID, 2);
  PetscValidHeaderSpecific(x, VEC_CLASSID, 3);
  PetscCall(GetSetUp(pc, &ds));
  PetscCall(PCDeflSubSolveZT(pc, b, ds->a));
  PetscCall(VecSet(x, 0));
  PetscCall(PCDeflSubMultiply(pc, DEFLSUB_PRODUCT_Z, ds->a, x));
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
  PC_DeflSub *ds;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidHeaderSpecific(x, VEC_CLASSID, 2);
  PetscValidHeaderSpecific(y, VEC_CLASSID, 3);
  PetscCall(GetSetUp(pc, &ds));
  PetscCall(PCDeflSubSolveZT(pc, x, ds->a));
  PetscCall(VecCopy(x, y));
  PetscCall(PCDeflSubMultiply(pc, DEFLSUB_PRODUCT_AZ, ds->a, y));
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
  PC_DeflSub *ds;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidHeaderSpecific(x, VEC_CLASSID, 2);
  PetscValidHeaderSpecific(y, VEC_CLASSID, 3);
  PetscCall(GetSetUp(pc, &ds));
  PetscCall(PCDeflSubMultiply(pc, DEFLSUB_PRODUCT_AZT, x, ds->b));
  PetscCall(PCDeflSubCoarseSolve(pc, ds->b));
  PetscCall(VecScale(ds->b, -1));
  PetscCall(VecCopy(x, y));
  PetscCall(PCDeflSubMultiply(pc, DEFLSUB_PRODUCT_Z, ds->b, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
