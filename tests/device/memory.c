static char help[] =
    "A device without enough memory for levels: an error, and nothing is lost. For the stand-in of tests/cudahost,\n\
whose device has as much memory as it is told.\n\n";

#include <petscdmda.h>
#include <petscksp.h>
#include <petsckcycle.h>
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

static PetscErrorCode Fill(DM da, Mat A)
{
  DMDALocalInfo info;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &info));
  for (PetscInt j = info.ys; j < info.ys + info.ym; j++) {
    for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
      const MatStencil  row      = {0, j, i, 0};
      const PetscScalar value[5] = {-1, -1, 4, -1, -1};
      MatStencil        col[5] = {{0, j - 1, i, 0}, {0, j, i - 1, 0}, {0, j, i, 0}, {0, j, i + 1, 0}, {0, j + 1, i, 0}};

      if (j == 0) col[0].j = -1;
      if (j == info.my - 1) col[4].j = -1;
      if (i == 0) col[1].i = -1;
      if (i == info.mx - 1) col[3].i = -1;
      PetscCall(MatSetValuesStencil(A, 1, &row, 5, col, value, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With so much memory for levels: they fit, or there is an error, and then a solve on the host */
static PetscErrorCode Solve(Mat A, Vec b, Vec x, size_t more, PetscBool *fits)
{
  KSP            ksp;
  PC             pc;
  PetscErrorCode ierr;
  PetscInt       its;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(Limit(more));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = PCSetUp(pc);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(!ierr || ierr == PETSC_ERR_MEM, PETSC_COMM_SELF, PETSC_ERR_PLIB, "error %d", (int)ierr);
  *fits = (PetscBool)!ierr;
  PetscCheck(!unsetenv("CUDAHOST_MEMORY"), PETSC_COMM_SELF, PETSC_ERR_SYS, "unsetenv() fails");
  if (ierr) PetscCall(PCKCycleSetPlace(pc, PC_KCYCLE_PLACE_HOST));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(
      PetscPrintf(PETSC_COMM_SELF, "%s, %" PetscInt_FMT " iterations\n", ierr ? "too little memory" : "enough", its));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for the matrices of small levels, which the second application makes, and then a later one */
static PetscErrorCode Apply(Mat A, Vec b, Vec x, size_t more, PetscBool *fits)
{
  KSP            ksp;
  PC             pc;
  PetscErrorCode ierr;
  PetscInt       its;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCApply(pc, b, x));
  PetscCall(Limit(more));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = PCApply(pc, b, x);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(!ierr || ierr == PETSC_ERR_MEM, PETSC_COMM_SELF, PETSC_ERR_PLIB, "error %d", (int)ierr);
  *fits = (PetscBool)!ierr;
  PetscCheck(!unsetenv("CUDAHOST_MEMORY"), PETSC_COMM_SELF, PETSC_ERR_SYS, "unsetenv() fails");
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s for matrices, %" PetscInt_FMT " iterations\n",
                        ierr ? "too little memory" : "enough", its));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  PetscBool fits = PETSC_FALSE;
  DM        da;
  Mat       A;
  Vec       b, x;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 33, 33, 1, 1, 1, 1,
                         NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(Fill(da, A));
  PetscCall(VecSet(b, 1));
  PetscCall(VecSet(x, 0));
  for (size_t more = 0; !fits; more += 20000) PetscCall(Solve(A, b, x, more, &fits));
  fits = PETSC_FALSE;
  for (size_t more = 0; !fits; more += 20000) PetscCall(Apply(A, b, x, more, &fits));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
