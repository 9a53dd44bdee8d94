/*
  -ksp_view of PCDEFLSUB.
*/
#include "deflsubimpl.h"

/* Bytes on all processes of A Z, of E, of the operator where it is AIJ (else 0), and of Z, A Z and their transposes
   on a device */
static PetscErrorCode CountBytes(PC pc, PetscReal bytes[4])
{
  PC_DeflSub    *ds       = (PC_DeflSub *)pc->data;
  const PetscInt n        = ds->start[ds->npairs];
  const Mat      matrix[] = {ds->E, PCDeflSubOperator(pc), ds->Z, ds->ZT, ds->C, ds->AZT};
  PetscReal      mine[4]  = {0, 0, 0, 0};
  MatInfo        info;

  PetscFunctionBegin;
  mine[0] = (PetscReal)n * (sizeof(PetscInt) + sizeof(PetscScalar)) + (3.0 * ds->npairs + 1) * sizeof(PetscInt);
  for (int m = 0; m < 6; m++) {
    if (!matrix[m]) continue;
    PetscCall(MatGetInfo(matrix[m], MAT_LOCAL, &info));
    mine[PetscMin(m + 1, 3)] += info.nz_used * (sizeof(PetscInt) + sizeof(PetscScalar));
  }
  PetscCallMPI(MPI_Allreduce(mine, bytes, 4, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewSubdomains(PC pc, PetscViewer viewer)
{
  PC_DeflSub *ds = (PC_DeflSub *)pc->data;
  PetscReal   bytes[4];
  PetscInt    n;
  MatType     type;

  PetscFunctionBegin;
  PetscCall(VecGetSize(ds->t, &n));
  PetscCall(CountBytes(pc, bytes));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "  %" PetscInt_FMT " subdomains of %" PetscInt_FMT " to %" PetscInt_FMT " unknowns, %g on average\n",
      ds->number, ds->sizes[0], ds->sizes[1], (double)((PetscReal)n / ds->number)));
  if (ds->nomitted)
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "  the operator maps constants to zero: %" PetscInt_FMT " vector%s left out\n",
                                     ds->nomitted, ds->nomitted == 1 ? " is" : "s are"));
  if (ds->onesided)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  the operator is not symmetric, as KSPCG needs it: points are coupled "
                                             "to isolated ones\n"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  A Z has %g bytes, E has %g, the entries of the operator as aij %g\n",
                                   (double)bytes[0], (double)bytes[1], (double)bytes[2]));
  if (ds->Z) {
    PetscCall(MatGetType(ds->Z, &type));
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  on the device Z, A Z and their transposes are matrices of type %s with %g bytes\n", type,
        (double)bytes[3]));
  }
  if (!ds->inverse) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetType(ds->inverse, &type));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  E^-1 is a dense matrix of type %s with %g bytes\n", type,
                                   (double)((PetscReal)ds->number * ds->number * sizeof(PetscScalar))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_DeflSub(PC pc, PetscViewer viewer)
{
  PC_DeflSub *ds = (PC_DeflSub *)pc->data;
  PetscBool   ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  form %s, subdomains %s\n", PCDeflSubFormTypes[ds->form],
                                   PCDeflSubTypes[ds->type]));
  if (ds->E && ds->t) PetscCall(ViewSubdomains(pc, viewer));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  if (ds->inner) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "inner preconditioner:\n"));
    PetscCall(PCView(ds->inner, viewer));
  }
  if (ds->coarse) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "solver for E:\n"));
    PetscCall(KSPView(ds->coarse, viewer));
  }
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
