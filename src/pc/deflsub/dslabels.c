/*
  The subdomains of PCDEFLSUB.
*/
#include "deflsubimpl.h"

/* Has every process as many of something as it has unknowns? Either all processes go on, or none */
PetscErrorCode PCDeflSubCheckCount(PC pc, PetscInt unknowns, PetscInt count, const char what[])
{
  int here = unknowns != count, any;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&here, &any, 1, MPI_INT, MPI_LOR, PetscObjectComm((PetscObject)pc)));
  PetscCheck(!here, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "This process has %" PetscInt_FMT " unknowns and %" PetscInt_FMT " %s", unknowns, count, what);
  PetscCheck(!any, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "Another process has more or fewer unknowns than %s", what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The grid of the PC, or of its operator */
static PetscErrorCode FindGrid(PC pc, KCycleSubdomains *sub)
{
  const Mat  A    = PCDeflSubOperator(pc);
  MPI_Comm   comm = PetscObjectComm((PetscObject)pc);
  DM         dm;
  DMType     type;
  PetscBool  isda;
  KCycleBox *box;
  PetscInt   n, local;

  PetscFunctionBegin;
  PetscCall(PCGetDM(pc, &dm));
  if (!dm) PetscCall(MatGetDM(A, &dm));
  PetscCheck(dm, comm, PETSC_ERR_ARG_WRONGSTATE,
             "PCDEFLSUB cuts the grid of a DMDA into subdomains, and there is none: give it with KSPSetDM(), PCSetDM() "
             "or MatSetDM(), or give labels with PCDeflSubSetLabelIS()");
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &isda));
  PetscCall(DMGetType(dm, &type));
  PetscCheck(isda, comm, PETSC_ERR_SUP,
             "Boxes need a DMDA, and this is a DM of type %s: give labels with PCDeflSubSetLabelIS()", type);
  PetscCall(KCycleBoxGet(dm, KCYCLE_BOX_ROWS, &box));
  PetscCheck(box->dof == 1, comm, PETSC_ERR_SUP,
             "Boxes need a DMDA with one unknown a point, and this one has %" PetscInt_FMT
             ": give labels with PCDeflSubSetLabelIS()",
             box->dof);
  sub->grid    = box;
  sub->npoints = KCycleBoxGlobalRows(box);
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCheck(n == sub->npoints, comm, PETSC_ERR_ARG_SIZ,
             "The DMDA has %" PetscInt_FMT " points, and the operator %" PetscInt_FMT " rows", sub->npoints, n);
  PetscCall(MatGetLocalSize(A, &local, NULL));
  PetscCall(PCDeflSubCheckCount(pc, local, box->npoints, "points of the DMDA: use the matrix of DMCreateMatrix()"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Parts of equal size of the natural numbers */
static PetscErrorCode LabelStripes(PC pc, const KCycleSubdomains *sub, PetscInt label[], PetscInt *number)
{
  PC_DeflSub *ds = (PC_DeflSub *)pc->data;

  PetscFunctionBegin;
  for (PetscInt d = 1; d < 3; d++)
    PetscCheck(ds->boxes[d] <= 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
               "Stripes are numbers of one direction: -pc_deflsub_boxes <number of stripes>");
  *number = ds->boxes[0] ? ds->boxes[0] : sub->nboxes;
  PetscCheck(*number <= sub->npoints, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " subdomains are more than the %" PetscInt_FMT " unknowns", *number, sub->npoints);
  KCycleSubdomainsNatural(sub, label);
  for (PetscInt i = 0; i < ds->n; i++) label[i] = (PetscInt)((PetscInt64)label[i] * *number / sub->npoints);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LabelAsGiven(PC pc, PetscInt label[], PetscInt *number)
{
  PC_DeflSub     *ds = (PC_DeflSub *)pc->data;
  const PetscInt *given;
  PetscInt        n;

  PetscFunctionBegin;
  PetscCheck(ds->given, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "-pc_deflsub_type user needs labels: call PCDeflSubSetLabelIS()");
  PetscCall(ISGetLocalSize(ds->given, &n));
  PetscCall(PCDeflSubCheckCount(pc, ds->n, n, "labels"));
  PetscCall(ISGetIndices(ds->given, &given));
  PetscCall(PetscArraycpy(label, given, n));
  PetscCall(ISRestoreIndices(ds->given, &given));
  PetscCall(KCycleLabelsCheck(PetscObjectComm((PetscObject)pc), ds->n, label, number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LabelGrid(PC pc, KCycleRows *rows, PetscInt label[], PetscInt *number)
{
  const PetscInt   chosen[3] = {0, 0, 0};
  PC_DeflSub      *ds        = (PC_DeflSub *)pc->data;
  KCycleSubdomains sub;

  PetscFunctionBegin;
  PetscCall(FindGrid(pc, &sub));
  PetscCall(KCycleSubdomainsChoose(PetscObjectComm((PetscObject)pc), &sub,
                                   ds->type == PC_DEFLSUB_STRIPE ? chosen : ds->boxes, ds->size));
  *number = sub.nboxes;
  if (ds->type == PC_DEFLSUB_STRIPE) PetscCall(LabelStripes(pc, &sub, label, number));
  else if (ds->type == PC_DEFLSUB_BOX) KCycleSubdomainsBoxes(&sub, label);
  else PetscCall(PCDeflSubCutInterface(pc, rows, &sub, label, number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers of unknowns of the smallest and the largest subdomain */
static PetscErrorCode MeasureSizes(PC pc)
{
  PC_DeflSub *ds = (PC_DeflSub *)pc->data;
  PetscInt   *count, *all;
  PetscMPIInt number;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(ds->number, &number));
  PetscCall(PetscCalloc2(ds->number, &count, ds->number, &all));
  for (PetscInt i = 0; i < ds->n; i++) count[ds->label[i]]++;
  PetscCallMPI(MPI_Allreduce(count, all, number, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  ds->sizes[0] = ds->sizes[1] = all[0];
  for (PetscInt l = 1; l < ds->number; l++) {
    ds->sizes[0] = PetscMin(ds->sizes[0], all[l]);
    ds->sizes[1] = PetscMax(ds->sizes[1], all[l]);
  }
  PetscCall(PetscFree2(count, all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Labels of all unknowns; same: they are those of the last set-up. Only an interface moves when values change */
PetscErrorCode PCDeflSubLabel(PC pc, KCycleRows *rows, PetscBool *same)
{
  PC_DeflSub *ds    = (PC_DeflSub *)pc->data;
  PetscInt   *label = NULL, number = 0;
  int         here = 0, all;

  PetscFunctionBegin;
  *same = (PetscBool)(ds->known && pc->flag != DIFFERENT_NONZERO_PATTERN && ds->type != PC_DEFLSUB_INTERFACE);
  if (*same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(PCDeflSubEvents[DEFLSUB_LABEL], pc, NULL, NULL, NULL));
  ds->n = rows->n;
  PetscCall(PetscMalloc1(rows->n, &label));
  if (ds->type == PC_DEFLSUB_USER) PetscCall(LabelAsGiven(pc, label, &number));
  else PetscCall(LabelGrid(pc, rows, label, &number));
  if (ds->known && number == ds->number && pc->flag != DIFFERENT_NONZERO_PATTERN) {
    here = 1;
    for (PetscInt i = 0; i < ds->n && here; i++) here = label[i] == ds->label[i];
  }
  PetscCallMPI(MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_LAND, PetscObjectComm((PetscObject)pc)));
  PetscCall(PetscFree(ds->label));
  ds->label  = label;
  ds->number = number;
  *same      = (PetscBool)all;
  if (!*same) PetscCall(MeasureSizes(pc));
  PetscCall(PetscLogEventEnd(PCDeflSubEvents[DEFLSUB_LABEL], pc, NULL, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
