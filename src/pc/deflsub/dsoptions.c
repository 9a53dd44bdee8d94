/*
  Functions and options of PCDEFLSUB.
*/
#include "deflsubimpl.h"

const char *const PCDeflSubTypes[]       = {"stripe", "box", "interface", "user", "PCDeflSubType", "PC_DEFLSUB_", NULL};
const char *const PCDeflSubFormTypes[]   = {"bnn", "adef2", "pt", "PCDeflSubFormType", "PC_DEFLSUB_", NULL};
const char *const PCDeflSubCoarseTypes[] = {"auto", "factor", "inverse", "PCDeflSubCoarseType", "PC_DEFLSUB_COARSE_",
                                            NULL};

/*@
  PCDeflSubSetType - Sets the kind of subdomains.

  Logically Collective

  Input Parameters:
+ pc - the preconditioner
- type - `PC_DEFLSUB_STRIPE`, `PC_DEFLSUB_BOX`, `PC_DEFLSUB_INTERFACE` or `PC_DEFLSUB_USER`

  Options Database Key:
. -pc_deflsub_type (stripe|box|interface|user) - the kind of subdomains

  Level: beginner

  Notes:
  Stripes are parts of equal size of the natural numbers of a grid, as in Gupta's thesis. Boxes need a quarter of their
  number for the same convergence. Where coefficients jump, only subdomains that follow the interfaces make convergence
  independent of the contrast: `PC_DEFLSUB_INTERFACE`, the default, which are boxes where nothing jumps.

  All but `PC_DEFLSUB_USER` need a `DMDA` with one unknown at a point, from `PCSetDM()`, `KSPSetDM()` or `MatSetDM()`,
  whose order of points the rows of the operator have, and are independent of the number of processes.

.seealso: `PCDEFLSUB`, `PCDeflSubGetType()`
@*/
PetscErrorCode PCDeflSubSetType(PC pc, PCDeflSubType type)
{
  KC_PC_SET_ENUM(pc, PCDEFLSUB, PC_DeflSub, type, PCDeflSubTypes, type);
}

/*@
  PCDeflSubGetType - Gets the kind of subdomains.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. type - `PC_DEFLSUB_STRIPE`, `PC_DEFLSUB_BOX`, `PC_DEFLSUB_INTERFACE` or `PC_DEFLSUB_USER`

  Level: beginner

.seealso: `PCDEFLSUB`, `PCDeflSubSetType()`
@*/
PetscErrorCode PCDeflSubGetType(PC pc, PCDeflSubType *type)
{
  KC_PC_GET(pc, PCDEFLSUB, PC_DeflSub, type, type);
}

/*@
  PCDeflSubSetForm - Sets how inner preconditioner, correction and projection are combined.

  Logically Collective

  Input Parameters:
+ pc - the preconditioner
- form - `PC_DEFLSUB_BNN`, `PC_DEFLSUB_ADEF2` or `PC_DEFLSUB_PT`

  Options Database Key:
. -pc_deflsub_form (bnn|adef2|pt) - how inner preconditioner, correction and projection are combined

  Level: intermediate

  Notes:
  P^T M^-1 P + Q (bnn) is symmetric and takes any start, so that it also works as a smoother or inside another
  preconditioner. P^T M^-1 + Q (adef2) and P^T M^-1 (pt) save one solve with E; they give the same iterates from the
  start Q b + P^T x, which `KSPSolve()` makes for them; applied in any other way they are an error, and so is another
  operator than that of the Krylov method, see `PCSetUseAmat()`. With pt, errors of the solve with E are not corrected
  any more, and convergence stalls at their size.

.seealso: `PCDEFLSUB`, `PCDeflSubGetForm()`
@*/
PetscErrorCode PCDeflSubSetForm(PC pc, PCDeflSubFormType form)
{
  PC_DeflSub *ds;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, form, 2);
  PetscCall(KCycleCheckChoice(pc, PCDeflSubFormTypes, (int)form));
  PetscCall(KCyclePCQuery(pc, PCDEFLSUB, &ds));
  if (ds) ds->form = form;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCDeflSubGetForm - Gets how inner preconditioner, correction and projection are combined.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. form - `PC_DEFLSUB_BNN`, `PC_DEFLSUB_ADEF2` or `PC_DEFLSUB_PT`

  Level: intermediate

.seealso: `PCDEFLSUB`, `PCDeflSubSetForm()`
@*/
PetscErrorCode PCDeflSubGetForm(PC pc, PCDeflSubFormType *form)
{
  KC_PC_GET(pc, PCDEFLSUB, PC_DeflSub, form, form);
}

/*@
  PCDeflSubSetCoarse - Sets how to solve with E = Z^T A Z.

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- coarse - `PC_DEFLSUB_COARSE_AUTO`, `PC_DEFLSUB_COARSE_FACTOR` or `PC_DEFLSUB_COARSE_INVERSE`

  Options Database Key:
. -pc_deflsub_coarse (auto|factor|inverse) - how to solve with E

  Level: intermediate

  Notes:
  The dense inverse is made at set-up by a solve with E for each subdomain, and needs the square of their number in
  memory; then E^-1 is one product with a dense matrix instead of two triangular solves, which a device does much
  faster. It is of type `MATSEQDENSECUDA` if the operator is `MATAIJCUSPARSE`, of type `MATSEQDENSE` otherwise. More
  than 4096 subdomains are an error.

  The inverse is what the coarse solver (`PCDeflSubGetCoarseKSP()`) gives: an inexact one has an inexact inverse.

.seealso: `PCDEFLSUB`, `PCDeflSubGetCoarse()`, `PCDeflSubGetCoarseKSP()`
@*/
PetscErrorCode PCDeflSubSetCoarse(PC pc, PCDeflSubCoarseType coarse)
{
  KC_PC_SET_ENUM(pc, PCDEFLSUB, PC_DeflSub, coarsetype, PCDeflSubCoarseTypes, coarse);
}

/*@
  PCDeflSubGetCoarse - Gets how to solve with E = Z^T A Z.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. coarse - `PC_DEFLSUB_COARSE_AUTO`, `PC_DEFLSUB_COARSE_FACTOR` or `PC_DEFLSUB_COARSE_INVERSE`, as it was set

  Level: intermediate

.seealso: `PCDEFLSUB`, `PCDeflSubSetCoarse()`
@*/
PetscErrorCode PCDeflSubGetCoarse(PC pc, PCDeflSubCoarseType *coarse)
{
  KC_PC_GET(pc, PCDEFLSUB, PC_DeflSub, coarsetype, coarse);
}

/*@
  PCDeflSubSetSize - Sets how many unknowns a subdomain is to have.

  Logically Collective

  Input Parameters:
+ pc - the preconditioner
- size - number of unknowns; 0 has it chosen

  Options Database Key:
. -pc_deflsub_size (integer) - how many unknowns a subdomain is to have

  Level: beginner

  Notes:
  Boxes have about this number of points, with sides as equal as the grid allows. Chosen are 512, on large grids more,
  for 10,000 boxes.

  The number of boxes, if it is given by `PCDeflSubSetBoxes()`, counts more.

.seealso: `PCDEFLSUB`, `PCDeflSubGetSize()`
@*/
PetscErrorCode PCDeflSubSetSize(PC pc, PetscInt size)
{
  KC_PC_SET(pc, PCDEFLSUB, PC_DeflSub, size, Int, size,
            PetscCheck(size >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
                       "A subdomain must have at least 1 unknown (0: chosen), not %" PetscInt_FMT, size));
}

/*@
  PCDeflSubGetSize - Gets how many unknowns a subdomain is to have.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. size - number of unknowns; 0 has it chosen

  Level: beginner

.seealso: `PCDEFLSUB`, `PCDeflSubSetSize()`
@*/
PetscErrorCode PCDeflSubGetSize(PC pc, PetscInt *size)
{
  KC_PC_GET(pc, PCDEFLSUB, PC_DeflSub, size, size);
}

/*@
  PCDeflSubSetJump - Sets by which factor couplings differ at an interface.

  Logically Collective

  Input Parameters:
+ pc - the preconditioner
- jump - factor greater than 1

  Options Database Key:
. -pc_deflsub_jump (real) - by which factor couplings differ at an interface

  Level: intermediate

  Notes:
  Two points of a box are separated where their coupling is weaker by more than this factor than the strongest one of
  either point, the couplings of each direction being measured by their mean. If it is not weaker by more than 3, the
  jump must be sharp: the coupling is strong for one of the points, and none of their couplings differs more. With a
  coefficient (`PCDeflSubSetCoefficient()`): where the coefficients differ by more than the factor.

  Default: 1.4.

.seealso: `PCDEFLSUB`, `PCDeflSubGetJump()`
@*/
PetscErrorCode PCDeflSubSetJump(PC pc, PetscReal jump)
{
  KC_PC_SET(pc, PCDEFLSUB, PC_DeflSub, jump, Real, jump,
            PetscCheck(jump > 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
                       "The factor of a jump must be greater than 1, not %g", (double)jump));
}

/*@
  PCDeflSubGetJump - Gets by which factor couplings differ at an interface.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. jump - factor greater than 1

  Level: intermediate

.seealso: `PCDEFLSUB`, `PCDeflSubSetJump()`
@*/
PetscErrorCode PCDeflSubGetJump(PC pc, PetscReal *jump)
{
  KC_PC_GET(pc, PCDEFLSUB, PC_DeflSub, jump, jump);
}

/*@
  PCDeflSubSetBoxes - Sets the number of boxes in each direction.

  Logically Collective

  Input Parameters:
+ pc - the preconditioner
. x  - boxes in x, or stripes; 0 has the number chosen, see `PCDeflSubSetSize()`
. y  - boxes in y; 0: 1
- z  - boxes in z; 0: 1

  Options Database Key:
. -pc_deflsub_boxes (x,y,z) - the number of boxes in each direction

  Level: beginner

.seealso: `PCDEFLSUB`, `PCDeflSubGetBoxes()`, `PCDeflSubSetSize()`, `PCDeflSubGetNumber()`
@*/
PetscErrorCode PCDeflSubSetBoxes(PC pc, PetscInt x, PetscInt y, PetscInt z)
{
  PC_DeflSub *ds;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, x, 2);
  PetscValidLogicalCollectiveInt(pc, y, 3);
  PetscValidLogicalCollectiveInt(pc, z, 4);
  PetscCheck(x >= 0 && y >= 0 && z >= 0 && (x > 0 || (y == 0 && z == 0)), PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE,
             "Boxes are counted from 1 in every direction, not %" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT, x,
             y, z);
  PetscCall(KCyclePCQuery(pc, PCDEFLSUB, &ds));
  if (!ds) PetscFunctionReturn(PETSC_SUCCESS);
  if (ds->boxes[0] != x || ds->boxes[1] != y || ds->boxes[2] != z) pc->setupcalled = PETSC_FALSE;
  ds->boxes[0] = x;
  ds->boxes[1] = y;
  ds->boxes[2] = z;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCDeflSubGetBoxes - Gets the number of boxes in each direction, as it was set.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameters:
+ x - boxes in x, or stripes; 0: chosen at set-up
. y - boxes in y
- z - boxes in z

  Level: beginner

.seealso: `PCDEFLSUB`, `PCDeflSubSetBoxes()`, `PCDeflSubGetNumber()`
@*/
PetscErrorCode PCDeflSubGetBoxes(PC pc, PetscInt *x, PetscInt *y, PetscInt *z)
{
  PC_DeflSub *ds;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(KCyclePCRequire(pc, PCDEFLSUB, &ds));
  if (x) *x = ds->boxes[0];
  if (y) *y = ds->boxes[1];
  if (z) *z = ds->boxes[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCDeflSubSetCoefficient - Sets a coefficient whose jumps are the interfaces, instead of those of the operator.

  Collective

  Input Parameters:
+ pc          - the preconditioner
- coefficient - a value for each unknown, in the layout of the operator; or NULL

  Level: intermediate

  Notes:
  Interfaces of `PC_DEFLSUB_INTERFACE` are where the coefficients of two coupled points differ by more than the factor
  of `PCDeflSubSetJump()`. The vector is not copied: its values at the time of a set-up count.

  With arithmetic means of coefficients, points next to an interface are strongly coupled to those beyond it, and should
  belong to their subdomain; interfaces found from the operator (the default) heed that, those of a coefficient do not.

.seealso: `PCDEFLSUB`, `PCDeflSubGetCoefficient()`, `PCDeflSubSetJump()`
@*/
PetscErrorCode PCDeflSubSetCoefficient(PC pc, Vec coefficient)
{
  PC_DeflSub      *ds;
  PetscObjectState state = 0;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  if (coefficient) PetscValidHeaderSpecific(coefficient, VEC_CLASSID, 2);
  PetscCall(KCyclePCQuery(pc, PCDEFLSUB, &ds));
  if (!ds) PetscFunctionReturn(PETSC_SUCCESS);
  if (coefficient) PetscCall(PetscObjectStateGet((PetscObject)coefficient, &state));
  if (coefficient == ds->coefficient && state == ds->coefficient_state) PetscFunctionReturn(PETSC_SUCCESS);
  if (coefficient) PetscCall(PetscObjectReference((PetscObject)coefficient));
  PetscCall(VecDestroy(&ds->coefficient));
  ds->coefficient       = coefficient;
  ds->coefficient_state = state;
  pc->setupcalled       = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCDeflSubGetCoefficient - Gets the coefficient whose jumps are the interfaces.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. coefficient - the vector, which is not to be destroyed; NULL: interfaces are found from the operator

  Level: intermediate

.seealso: `PCDEFLSUB`, `PCDeflSubSetCoefficient()`
@*/
PetscErrorCode PCDeflSubGetCoefficient(PC pc, Vec *coefficient)
{
  KC_PC_GET(pc, PCDEFLSUB, PC_DeflSub, coefficient, coefficient);
}

/* -pc_deflsub_view_labels; on a DMDA in natural order */
PetscErrorCode PCDeflSubShowLabels(PC pc)
{
  PC_DeflSub     *ds = (PC_DeflSub *)pc->data;
  DM              dm;
  Vec             labels;
  PetscBool       isda = PETSC_FALSE;
  PetscScalar    *values;
  const PetscInt *label;
  IS              is;

  PetscFunctionBegin;
  if (!ds->viewer) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGetDM(pc, &dm));
  if (!dm) PetscCall(MatGetDM(pc->pmat, &dm));
  if (dm) PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &isda));
  if (isda) PetscCall(DMCreateGlobalVector(dm, &labels));
  else PetscCall(VecDuplicate(ds->t, &labels));
  PetscCall(PetscObjectSetName((PetscObject)labels, "subdomains"));
  PetscCall(PCDeflSubGetLabelIS(pc, &is));
  PetscCall(ISGetIndices(is, &label));
  PetscCall(VecGetArrayWrite(labels, &values));
  for (PetscInt i = 0; i < ds->n; i++) values[i] = (PetscScalar)label[i];
  PetscCall(VecRestoreArrayWrite(labels, &values));
  PetscCall(ISRestoreIndices(is, &label));
  PetscCall(ISDestroy(&is));
  PetscCall(PetscViewerPushFormat(ds->viewer, ds->format));
  PetscCall(VecView(labels, ds->viewer));
  PetscCall(PetscViewerPopFormat(ds->viewer));
  PetscCall(VecDestroy(&labels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_DeflSub(PC pc, KCycleOptionItems PetscOptionsObject)
{
  PC_DeflSub         *ds     = (PC_DeflSub *)pc->data;
  PCDeflSubType       type   = ds->type;
  PCDeflSubFormType   form   = ds->form;
  PCDeflSubCoarseType coarse = ds->coarsetype;
  PetscInt            size = ds->size, boxes[3] = {ds->boxes[0], ds->boxes[1], ds->boxes[2]}, m = 3;
  PetscReal           jump = ds->jump;
  PetscBool           flg;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Subdomain deflation options");
  PetscCall(PetscOptionsEnum("-pc_deflsub_type", "Subdomains", "PCDeflSubSetType", PCDeflSubTypes, (PetscEnum)type,
                             (PetscEnum *)&type, &flg));
  if (flg) PetscCall(PCDeflSubSetType(pc, type));
  PetscCall(PetscOptionsEnum("-pc_deflsub_form", "Combination of inner preconditioner, correction and projection",
                             "PCDeflSubSetForm", PCDeflSubFormTypes, (PetscEnum)form, (PetscEnum *)&form, &flg));
  if (flg) PetscCall(PCDeflSubSetForm(pc, form));
  PetscCall(PetscOptionsEnum("-pc_deflsub_coarse", "How to solve with E", "PCDeflSubSetCoarse", PCDeflSubCoarseTypes,
                             (PetscEnum)coarse, (PetscEnum *)&coarse, &flg));
  if (flg) PetscCall(PCDeflSubSetCoarse(pc, coarse));
  PetscCall(PetscOptionsIntArray("-pc_deflsub_boxes", "Boxes in each direction", "PCDeflSubSetBoxes", boxes, &m, &flg));
  if (flg) PetscCall(PCDeflSubSetBoxes(pc, boxes[0], m > 1 ? boxes[1] : 0, m > 2 ? boxes[2] : 0));
  PetscCall(PetscOptionsInt("-pc_deflsub_size", "Unknowns that a subdomain is to have; 0: chosen", "PCDeflSubSetSize",
                            size, &size, &flg));
  if (flg) PetscCall(PCDeflSubSetSize(pc, size));
  PetscCall(PetscOptionsReal("-pc_deflsub_jump", "Factor by which couplings differ at an interface", "PCDeflSubSetJump",
                             jump, &jump, &flg));
  if (flg) PetscCall(PCDeflSubSetJump(pc, jump));
  PetscCall(PetscViewerDestroy(&ds->viewer));
  PetscCall(PetscOptionsViewer("-pc_deflsub_view_labels", "Shows the labels of all unknowns", "PCDeflSubGetLabelIS",
                               &ds->viewer, &ds->format, &flg));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}
