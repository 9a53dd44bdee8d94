static char help[] =
    "Errors on a device, after which solvers continue: too little memory for levels; launches and coarsest solvers\n\
that fail, also in cycles that are being recorded. For the stand-in of tests/cudahost, which can be told to fail.\n\n";

#include "../testing.h"
#include <petsc/private/pcimpl.h>
#include <petscdevice_cuda.h>
#include <stdlib.h>

static PetscErrorCode Limit(size_t more)
{
  size_t available, all;
  char   text[32];

  PetscFunctionBeginUser;
  PetscCallCUDA(cudaMemGetInfo(&available, &all));
  PetscCall(PetscSNPrintf(text, sizeof(text), "%zu", all - available + more));
  PetscCheck(!setenv("CUDAHOST_MEMORY", text, 1), PETSC_COMM_SELF, PETSC_ERR_SYS, "setenv() fails");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void MakeRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  row->value[0] = 4;
  for (PetscInt o = 0; o < 4; o++) {
    PetscInt to[3];

    StarNeighbour(at, o, to);
    if (IsInBox(to, (const PetscInt *)ctx, 2)) RowEntry(row, to, -1);
  }
}

/* With so much memory for levels, which set-up makes, or for the matrices of small ones, which the second application
   makes: they fit, or there is an error, and then a solve: on the host where levels did not fit, on the device without
   matrices */
static PetscErrorCode Solve(Mat A, Vec b, Vec x, PetscBool matrices, size_t more, PetscBool *fits)
{
  KSP            ksp;
  PC             pc;
  PetscErrorCode ierr;
  PetscInt       its;

  PetscFunctionBeginUser;
  PetscCall(MakeKSP(A, NULL, PCKCYCLE, &ksp, &pc));
  PetscCall(KSPSetFromOptions(ksp));
  if (matrices) PetscCall(KSPSetUp(ksp));
  if (matrices) PetscCall(PCApply(pc, b, x));
  PetscCall(Limit(more));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = matrices ? PCApply(pc, b, x) : PCSetUp(pc);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(!ierr || ierr == PETSC_ERR_MEM, PETSC_COMM_SELF, PETSC_ERR_PLIB, "error %d", (int)ierr);
  *fits = (PetscBool)!ierr;
  PetscCheck(!unsetenv("CUDAHOST_MEMORY"), PETSC_COMM_SELF, PETSC_ERR_SYS, "unsetenv() fails");
  if (ierr && !matrices) PetscCall(PCKCycleSetPlace(pc, PC_KCYCLE_PLACE_HOST));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s%s, %" PetscInt_FMT " iterations\n", ierr ? "too little memory" : "enough",
                        matrices ? " for matrices" : "", its));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A coarsest solver that fails when it is told */
static PetscInt left = PETSC_INT_MAX;

static PetscErrorCode ApplyFailing(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCheck(left-- > 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_LIB, "This solver fails");
  PetscCall(VecCopy(b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateFailing(PC pc)
{
  PetscFunctionBegin;
  pc->ops->apply = ApplyFailing;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Fail(PetscBool coarsest, PetscInt after)
{
  char text[32];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(text, sizeof(text), "%" PetscInt_FMT, after));
  if (coarsest) left = after;
  else PetscCheck(!setenv("CUDAHOST_LAUNCHES", text, 1), PETSC_COMM_SELF, PETSC_ERR_SYS, "setenv() fails");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The caller's stream is current, and no stream is captured: memory can be had */
static PetscErrorCode CheckDevice(PetscDeviceContext before, PetscInt after)
{
  PetscDeviceContext now;
  void              *p      = NULL;
  const cudaError_t  status = cudaMalloc(&p, 8);

  PetscFunctionBeginUser;
  PetscCall(PetscDeviceContextGetCurrentContext(&now));
  PetscCheck(now == before, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "Error after %" PetscInt_FMT " steps: another context is current", after);
  PetscCheck(status == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "Error after %" PetscInt_FMT " steps: a stream is captured", after);
  PetscCallCUDA(cudaFree(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc locks the right side of a solver, and an error leaves it locked */
static PetscErrorCode Unlock(PC pc)
{
  PetscInt locks = 0;
  KSP      coarse;
  Vec      b;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetCoarseSolve(pc, &coarse));
  PetscCall(KSPGetRhs(coarse, &b));
  if (b) PetscCall(VecLockGet(b, &locks));
  for (; locks > 0; locks--) PetscCall(VecLockReadPop(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver that has applied some cycles: in the next one each launch fails once, then none; or the coarsest solver
   once, as PETSc does not let a KSP fail more than twice. The cycles after that are those of another solver */
static PetscErrorCode Recover(Mat A, Vec b, Vec x, PetscInt applied, PetscBool coarsest, PetscReal part)
{
  PetscInt           failures = 0;
  PetscErrorCode     ierr     = PETSC_SUCCESS;
  PetscDeviceContext context;
  PetscReal          error = 0, all = 0;
  Vec                y;
  PC                 pc[2];

  PetscFunctionBeginUser;
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(VecDuplicate(x, &y));
  for (int i = 0; i < 2; i++) {
    PetscCall(MakePC(A, PCKCYCLE, &pc[i]));
    PetscCall(PCSetFromOptions(pc[i]));
    PetscCall(PCSetUp(pc[i]));
    for (PetscInt k = 0; k < applied; k++) PetscCall(PCApply(pc[i], b, x));
  }
  do {
    PetscCall(Fail(coarsest, !coarsest ? failures : failures ? PETSC_INT_MAX : 1));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    ierr = PCApply(pc[0], b, x);
    PetscCall(PetscPopErrorHandler());
    PetscCheck(!unsetenv("CUDAHOST_LAUNCHES"), PETSC_COMM_SELF, PETSC_ERR_SYS, "unsetenv() fails");
    left = PETSC_INT_MAX;
    PetscCall(CheckDevice(context, failures));
    if (ierr) failures++;
    if (ierr && coarsest) PetscCall(Unlock(pc[0]));
    PetscCheck(failures < 1000, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A cycle fails again and again with error %d",
               (int)ierr);
  } while (ierr);
  for (int k = 0; k < 3; k++) {
    PetscCall(PCApply(pc[1], b, y));
    PetscCall(VecNorm(y, NORM_2, &all));
    PetscCall(VecAXPY(y, -1, x));
    PetscCall(VecNorm(y, NORM_2, &error));
    PetscCheck(error <= part * all, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A cycle is wrong by %g of %g", (double)error,
               (double)all);
    PetscCall(PCApply(pc[0], b, x));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s failed %" PetscInt_FMT " times after %" PetscInt_FMT " cycles\n",
                        coarsest ? "the coarsest solver" : "a launch", failures, applied));
  for (int i = 0; i < 2; i++) PetscCall(PCDestroy(&pc[i]));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  PetscInt  size[2] = {33, 33};
  PetscBool fits;
  PetscReal part = 1e-12;
  DM        da;
  Mat       A;
  Vec       b, x;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &args, help));
  PetscCall(PCRegister("failing", CreateFailing));
  PetscCall(MakeDM(PETSC_COMM_WORLD, 2, size, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMDAGetInfo(da, NULL, &size[0], &size[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(AssembleRows(da, MakeRow, size, A));
  PetscCall(VecSet(b, 1));
  PetscCall(VecSet(x, 0));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-part", &part, NULL));
  for (int matrices = 0; matrices < 2 && !Given("-fail"); matrices++) {
    fits = PETSC_FALSE;
    for (size_t more = 0; !fits; more += 20000) PetscCall(Solve(A, b, x, (PetscBool)matrices, more, &fits));
  }
  for (PetscInt applied = 0; applied < 3 && Given("-fail"); applied++)
    PetscCall(Recover(A, b, x, applied, Given("-coarsest"), part));
  PetscCall(DestroyAll(&A, &b, &x, &da));
  PetscCall(PetscFinalize());
  return 0;
}
