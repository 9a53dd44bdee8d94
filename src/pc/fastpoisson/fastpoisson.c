/*
  PCFASTPOISSON: the exact solve of separable operators on a DMDA.
*/
#include "fastpoissonimpl.h"
#include <petsckcycle/private/deviceimpl.h>
#include <petsckcycle/private/registerimpl.h>

#if defined(KCYCLE_HAVE_FASTPOISSON)

PetscLogEvent PCFastPoissonEvents[KCYCLE_FP_NUM_EVENTS];

static const char *const events[] = {"PCFastPoisSetUp", "PCFastPoisTransf", "PCFastPoisSystem", "PCFastPoisExchg"};

static PetscErrorCode PCReset_FastPoisson(PC pc)
{
  PC_FastPoisson *fp = (PC_FastPoisson *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCFastPoissonLayoutsDestroy(fp));
  PetscCall(PCFastPoissonDirectionsDestroy(fp));
  PetscCall(PetscFree2(fp->stored, fp->inverse));
  PetscCall(VecDestroy(&fp->root));
  PetscCall(VecDestroy(&fp->work));
  PetscCall(PCFastPoissonDeviceDestroy(fp));
  fp->ready = fp->nearest = fp->coupled = fp->apart = fp->empty = PETSC_FALSE;
  fp->nstages                                                   = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A fault in the numbers: the solve fails with KSP_DIVERGED_PC_FAILED */
PetscErrorCode PCFastPoissonFail(PC pc, const char text[])
{
  PC_FastPoisson *fp = (PC_FastPoisson *)pc->data;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(fp->failure, text, sizeof(fp->failure)));
  PetscCall(PetscInfo(pc, "%s\n", fp->failure));
  PetscCall(PCSetFailedReason(pc, PC_SUBPC_ERROR));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors are those of the operator, or of the DMDA */
static PetscErrorCode FindMemorySpace(PC pc, DM dm)
{
  PC_FastPoisson *fp = (PC_FastPoisson *)pc->data;
  PetscBool       grid;
  VecType         type;

  PetscFunctionBegin;
  PetscCall(KCycleMatForDevices(pc->pmat, &fp->fordevice));
  PetscCall(KCycleDMOnDevice(dm, &grid));
  if (fp->fordevice) PetscCall(MatGetVecType(pc->pmat, &type));
  else PetscCall(DMGetVecType(dm, &type));
  fp->fordevice = (PetscBool)(fp->fordevice || grid);
  #if defined(KCYCLE_HAVE_FASTPOISSON_DEVICE)
  if (fp->fordevice) PetscCall(PCFastPoissonDeviceCheck(pc, type));
  #else
  PetscCheck(!fp->fordevice, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PCFASTPOISSON works on the host here, and vectors are of type %s: use -dm_mat_type aij "
             "-dm_vec_type standard, or a library built with nvcc and a PETSc that has cuFFT, or -pc_type kcycle",
             type);
  #endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The grid: the preconditioner's DM, or the matrix's */
static PetscErrorCode FindGrid(PC pc)
{
  PC_FastPoisson *fp   = (PC_FastPoisson *)pc->data;
  MPI_Comm        comm = PetscObjectComm((PetscObject)pc);
  DM              dm;
  PetscBool       is = PETSC_FALSE;
  PetscInt        rows, cols, dof, own;
  KCycleBox      *box;

  PetscFunctionBegin;
  PetscCall(PCGetDM(pc, &dm));
  if (!dm) PetscCall(MatGetDM(pc->pmat, &dm));
  if (dm) PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &is));
  PetscCheck(
      is, comm, PETSC_ERR_ARG_WRONGSTATE,
      "PCFASTPOISSON needs a DMDA, and there is %s: give it with PCSetDM() or KSPSetDM(), or use -pc_type kcycle",
      dm ? "a DM of another type" : "no DM");
  PetscCall(DMDAGetInfo(dm, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &dof, NULL, NULL, NULL, NULL, NULL));
  PetscCheck(dof == 1, comm, PETSC_ERR_SUP,
             "PCFASTPOISSON solves for one unknown at a point, this DMDA has %" PetscInt_FMT
             ": use -pc_type fieldsplit with a fastpoisson for each, or -pc_type kcycle",
             dof);
  PetscCall(KCycleBoxGet(dm, KCYCLE_BOX_ROWS, &box));
  fp->box = box;
  PetscCall(MatGetSize(pc->pmat, &rows, &cols));
  PetscCall(MatGetLocalSize(pc->pmat, &own, NULL));
  PetscCheck(rows == cols && rows == KCycleBoxGlobalRows(box), comm, PETSC_ERR_ARG_SIZ,
             "The operator has %" PetscInt_FMT " rows and %" PetscInt_FMT " columns, the DMDA %" PetscInt_FMT
             " points: give PCFASTPOISSON the DMDA whose DMCreateMatrix() made the operator",
             rows, cols, KCycleBoxGlobalRows(box));
  PetscCheck(own == box->npoints, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "The operator has %" PetscInt_FMT " rows on this process, the DMDA %" PetscInt_FMT
             " points: give PCFASTPOISSON the DMDA whose DMCreateMatrix() made the operator",
             own, box->npoints);
  PetscCall(FindMemorySpace(pc, dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator, exact or nearest; or a failure, or an error */
static PetscErrorCode FindOperator(PC pc)
{
  PC_FastPoisson *fp       = (PC_FastPoisson *)pc->data;
  KCycleFPFault   fault[2] = {{PETSC_INT_MAX, 0, 0, 0}, {PETSC_INT_MAX, 0, 0, 0}};
  KCycleFPRows    rows;

  PetscFunctionBegin;
  PetscCall(KCycleFPRowsBegin(pc->pmat, fp->box, &rows));
  PetscCall(PCFastPoissonFit(pc, &rows, &fault[0]));
  PCFastPoissonFitConstants(fp);
  PetscCall(PCFastPoissonCheck(pc, &rows, fault));
  for (int f = 0; f < 2; f++) PetscCall(KCycleFPFaultFirst(pc, &fault[f]));
  if (fault[1].row < fault[0].row) fault[0] = fault[1];
  fp->nearest = (PetscBool)(fault[0].row < PETSC_INT_MAX && fault[1].row == PETSC_INT_MAX && fp->approximate &&
                            !PetscIsInfOrNanReal(fault[0].found));
  if (fp->nearest) PetscCall(PCFastPoissonAverage(pc, &rows));
  PetscCall(KCycleFPRowsEnd(&rows));
  if (!fp->nearest) PetscCall(KCycleFPFaultCheck(pc, &fault[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_FastPoisson(PC pc)
{
  PC_FastPoisson *fp = (PC_FastPoisson *)pc->data;

  PetscFunctionBegin;
  fp->failure[0] = '\0';
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  PetscCall(PCReset_FastPoisson(pc));
  PetscCall(FindGrid(pc));
  PetscCall(PetscLogEventBegin(PCFastPoissonEvents[KCYCLE_FP_SETUP], pc, 0, 0, 0));
  PetscCall(FindOperator(pc));
  if (!fp->failure[0]) {
    PetscCall(PCFastPoissonFitScaling(pc));
    PetscCall(PCFastPoissonWisdomLoad(pc));
    if (!fp->empty) PetscCall(PCFastPoissonChoose(pc));
    PetscCall(PCFastPoissonWisdomSave(pc));
    PetscCall(PCFastPoissonStoredSetUp(pc));
    if (fp->fordevice) PetscCall(PCFastPoissonDeviceCreate(pc));
    fp->ready = PETSC_TRUE;
  }
  PetscCall(PetscLogEventEnd(PCFastPoissonEvents[KCYCLE_FP_SETUP], pc, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUpOnBlocks_FastPoisson(PC pc)
{
  PetscFunctionBegin;
  /* KSP asks here again for a failure */
  if (((PC_FastPoisson *)pc->data)->failure[0]) PetscCall(PCSetFailedReason(pc, PC_SUBPC_ERROR));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With G = W D^-1 of all directions, a diagonal matrix, the transposed inverse is G A^-1 G^-1; of a symmetric operator
   G is a number */
static PetscErrorCode Balance(PC pc, PetscBool invert, const PetscScalar *b, PetscScalar *x)
{
  PC_FastPoisson          *fp  = (PC_FastPoisson *)pc->data;
  const KCycleFPDirection *dir = fp->dir;
  const KCycleBox         *l   = &fp->grid;
  const PetscInt          *n = fp->box->n, *start = fp->box->start;

  PetscFunctionBegin;
  for (PetscInt k = l->start[2]; k < l->start[2] + l->n[2]; k++) {
    for (PetscInt j = l->start[1]; j < l->start[1] + l->n[1]; j++) {
      const PetscInt  at = dir[0].lo - start[0] + n[0] * (j + dir[1].lo - start[1] + n[1] * (k + dir[2].lo - start[2]));
      const PetscReal g  = dir[1].w[j] / dir[1].d[j] * (dir[2].w[k] / dir[2].d[k]);

      for (PetscInt i = l->start[0]; i < l->start[0] + l->n[0]; i++) {
        const PetscReal value = g * (dir[0].w[i] / dir[0].d[i]);

        x[at + i] = invert ? b[at + i] / value : b[at + i] * value;
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const KCycleFPOps KCycleFPOps_Host = {
    .transform = PCFastPoissonTransform,
    .last      = PCFastPoissonLast,
    .balance   = Balance,
    .store     = PCFastPoissonStore,
    .couple    = PCFastPoissonCouple,
};

/* Where both vectors are */
static PetscErrorCode ChooseOps(PC pc, Vec b, Vec x, const KCycleFPOps **ops)
{
  PC_FastPoisson *fp   = (PC_FastPoisson *)pc->data;
  MPI_Comm        comm = PetscObjectComm((PetscObject)pc);
  PetscBool       device[2];

  PetscFunctionBegin;
  *ops = &KCycleFPOps_Host;
  PetscCall(KCycleVecOnDevice(b, &device[0]));
  PetscCall(KCycleVecOnDevice(x, &device[1]));
  if (!device[0] && !device[1]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(device[0] && device[1], comm, PETSC_ERR_SUP,
             "One of these vectors is on a device and the other one is not: PCFASTPOISSON needs both of the same type");
  PetscCheck(fp->device, comm, PETSC_ERR_SUP,
             "These vectors are on a device, and those of the operator and its DMDA are not: use "
             "-dm_vec_type cuda, or vectors of DMCreateGlobalVector(), or -dm_vec_type standard");
  #if defined(KCYCLE_HAVE_FASTPOISSON_DEVICE)
  *ops = &KCycleFPOps_Device;
  #endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_FastPoisson(PC pc, Vec b, Vec x)
{
  PC_FastPoisson    *fp      = (PC_FastPoisson *)pc->data;
  const PetscBool    inplace = (PetscBool)(fp->coupled || fp->root);
  const KCycleFPOps *ops;
  const PetscScalar *ba;
  PetscScalar       *xa;

  PetscFunctionBegin;
  if (!fp->ready) {
    PetscCall(VecSet(x, PETSC_INFINITY));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ChooseOps(pc, b, x, &ops));
  if (fp->coupled) PetscCall(PCFastPoissonStoredBefore(pc, ops, b, x));
  if (fp->root) PetscCall(VecPointwiseMult(x, fp->coupled ? x : b, fp->root));
  PetscCall(VecGetArrayReadAndMemType(b, &ba, NULL));
  if (inplace) PetscCall(VecGetArrayAndMemType(x, &xa, NULL));
  else PetscCall(VecGetArrayWriteAndMemType(x, &xa, NULL));
  PetscCall(PCFastPoissonSolve(pc, ops, inplace ? xa : ba, xa));
  PetscCall((*ops->store)(pc, ba, NULL, PETSC_TRUE, xa)); /* their roots are 1 */
  if (inplace) PetscCall(VecRestoreArrayAndMemType(x, &xa));
  else PetscCall(VecRestoreArrayWriteAndMemType(x, &xa));
  PetscCall(VecRestoreArrayReadAndMemType(b, &ba));
  if (fp->root) PetscCall(VecPointwiseMult(x, x, fp->root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x_I = A_I^-T b_I,  x_B = (b_B - C^T x_I) / d */
static PetscErrorCode PCApplyTranspose_FastPoisson(PC pc, Vec b, Vec x)
{
  PC_FastPoisson    *fp = (PC_FastPoisson *)pc->data;
  const KCycleFPOps *ops;
  const PetscScalar *ba;
  PetscScalar       *xa;

  PetscFunctionBegin;
  if (!fp->ready) {
    PetscCall(VecSet(x, PETSC_INFINITY));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ChooseOps(pc, b, x, &ops));
  if (fp->root) PetscCall(VecPointwiseMult(x, b, fp->root));
  PetscCall(VecGetArrayReadAndMemType(b, &ba, NULL));
  PetscCall(VecGetArrayAndMemType(x, &xa, NULL));
  if (!fp->root && !fp->empty) PetscCall((*ops->balance)(pc, PETSC_TRUE, ba, xa));
  PetscCall(PCFastPoissonSolve(pc, ops, xa, xa));
  if (!fp->root && !fp->empty) PetscCall((*ops->balance)(pc, PETSC_FALSE, xa, xa));
  PetscCall(VecRestoreArrayAndMemType(x, &xa));
  PetscCall(VecRestoreArrayReadAndMemType(b, &ba));
  if (fp->root) PetscCall(VecPointwiseMult(x, x, fp->root));
  PetscCall(PCFastPoissonStoredAfter(pc, ops, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_FastPoisson(PC pc, PetscViewer viewer)
{
  PC_FastPoisson *fp = (PC_FastPoisson *)pc->data;
  PetscBool       ascii;
  char            text[256];

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  effort %s, tridiagonal %s, approximate %s\n",
                                   PCFastPoissonEffortTypes[fp->effort], PCFastPoissonTridiagonalTypes[fp->tridiagonal],
                                   PetscBools[fp->approximate]));
  if (fp->failure[0]) PetscCall(PetscViewerASCIIPrintf(viewer, "  set-up failed: %s\n", fp->failure));
  if (!fp->ready) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  the operator is %s%s%s\n",
                                   fp->nearest ? "not separable: the nearest one that is, is solved" : "separable",
                                   fp->singular ? ", singular: means are removed" : "",
                                   fp->coupled ? ", with columns of stored points" : ""));
  for (int d = 0; d < fp->box->dim && !fp->empty; d++) {
    PetscCall(PCFastPoissonDescribe(fp, d, sizeof(text), text));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %s\n", text));
  }
  PetscCall(PCFastPoissonDeviceView(fp, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_FastPoisson(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_FastPoisson(pc));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/*MC
  PCFASTPOISSON - "fastpoisson" - The exact solve of separable operators on a `DMDA`, by fast sine, cosine and Fourier
  transforms, products with eigenvectors, and tridiagonal systems.

  Options Database Keys:
+ -pc_fastpoisson_approximate                       - takes the nearest separable operator where it is not one
. -pc_fastpoisson_effort (estimate|measure|patient) - how long FFTW looks for fast transforms
. -pc_fastpoisson_tridiagonal (auto|none|x|y|z)     - direction whose systems are tridiagonal
. -pc_fastpoisson_wisdom_load <file>                - file that FFTW's wisdom is read from (default: none)
- -pc_fastpoisson_wisdom_save <file>                - file that FFTW's wisdom is written to (default: none)

  Level: beginner

  Notes:
  With `KSPPREONLY` it is a direct solver. It finds from the matrix whether it is, with 3, 5 or 7 points,

.vb
    T_x D_y D_z + D_x T_y D_z + D_x D_y T_z + sigma D_x D_y D_z
.ve

  (Kronecker products) with diagonal matrices D that are positive, and T that are tridiagonal and that a scaling of rows
  makes symmetric, or that wrap around. A direction whose T is a multiple of the second difference, with usual ends, is
  solved by a transform, others by products with the eigenvectors of T x = lambda D x, and one by tridiagonal systems
  in between. Stored Dirichlet points are left out first. `-ksp_view` says what has been found. An operator that is not
  separable is an error that names an entry.

  The operator may be singular: the constant part of right side and solution is left out, in the mean that is weighted
  with D. It may be indefinite, as with a shift; eigenvalues that are zero but for rounding have no part in the
  solution.

  Matrices of types `MATAIJ`, `MATSTENCIL`, and others that show their rows, of real numbers in double precision.
  Any number of processes: each direction is solved where no process cuts it, with exchanges in between. `PCSetUp()`
  reads the whole matrix whenever it has changed.

  Vectors of the host; on one process those of `VECCUDA`, too, by cuFFT, where the operator has such ones.

  The library must have been built where FFTW is.

  References:
  R. W. Hockney, A fast direct solution of Poisson's equation using Fourier analysis, J. ACM 12, 1965; R. E. Lynch,
  J. R. Rice, D. H. Thomas, Direct solution of partial difference equations by tensor product methods, Numer. Math. 6,
  1964; P. N. Swarztrauber, The methods of cyclic reduction, Fourier analysis and the FACR algorithm, SIAM Review 19,
  1977; M. Frigo, S. G. Johnson, The design and implementation of FFTW3, Proc. IEEE 93, 2005.

.seealso: `PCFastPoissonSetApproximate()`, `PCFastPoissonSetEffort()`, `PCFastPoissonSetTridiagonal()`,
  `PCFastPoissonSetWisdomLoad()`, `PCFastPoissonSetWisdomSave()`, `PCKCYCLE`
M*/
PetscErrorCode PCCreate_FastPoisson(PC pc)
{
  PC_FastPoisson *fp;

  PetscFunctionBegin;
#if !defined(KCYCLE_HAVE_FFTW)
  PetscCheck(
      PETSC_FALSE, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
      "PCFASTPOISSON needs FFTW, and the library was built without it: install FFTW (Debian: libfftw3-dev), where "
      "pkg-config fftw3 finds it, and build the library again, or use -pc_type kcycle");
#elif !defined(KCYCLE_HAVE_FASTPOISSON)
  PetscCheck(
      PETSC_FALSE, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
      "PCFASTPOISSON is for real numbers in double precision, and this PETSc has others: use one that has them, or "
      "-pc_type kcycle");
#endif
  PetscCall(PetscNew(&fp));
  pc->data                = (void *)fp;
  pc->ops->setfromoptions = PCSetFromOptions_FastPoisson;
#if defined(KCYCLE_HAVE_FASTPOISSON)
  pc->ops->setup          = PCSetUp_FastPoisson;
  pc->ops->setuponblocks  = PCSetUpOnBlocks_FastPoisson;
  pc->ops->apply          = PCApply_FastPoisson;
  pc->ops->applytranspose = PCApplyTranspose_FastPoisson;
  pc->ops->reset          = PCReset_FastPoisson;
  pc->ops->destroy        = PCDestroy_FastPoisson;
  pc->ops->view           = PCView_FastPoisson;
  PetscCall(KCycleRegisterEvents(PC_CLASSID, KCYCLE_FP_NUM_EVENTS, events, PCFastPoissonEvents));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
