static char help[] = "A matrix in natural order and no DM: the grid is found in the matrix.\n\
  ./nodm -n 100 -pc_type kcycle -ksp_view                             \"grid 100 x 100 found in the matrix\"\n\
  ./nodm -n 100 -pc_type kcycle -pc_kcycle_grid_sizes 100,100         the same, told\n\
  ./nodm -n 100 -pc_type kcycle -pc_kcycle_hierarchy gamg             levels of PCGAMG, which need no grid\n\n";

/*
  - u_xx - u_yy = 1 in the unit square, u = 0 on its boundary, as many codes assemble it: an AIJ matrix, in which the
      point (i, j) has the number i + n j, and no DMDA.
  The program does not name petsc-kcycle.
*/
#include <petscksp.h>

static PetscErrorCode Assemble(PetscInt n, Mat *A)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n, 5, NULL, 4, NULL, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt row = start; row < end; row++) {
    const PetscInt    i = row % n, j = row / n;
    /* -1: no entry */
    const PetscInt    columns[5] = {row, i > 0 ? row - 1 : -1, i < n - 1 ? row + 1 : -1, j > 0 ? row - n : -1,
                                 j < n - 1 ? row + n : -1};
    const PetscScalar v[5]       = {4, -1, -1, -1, -1};

    PetscCall(MatSetValues(*A, 1, &row, 5, columns, v, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt  n = 127, its, limit = 6;
  PetscReal largest;
  Mat       A;
  Vec       x, b;
  KSP       ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-limit", &limit, NULL));
  PetscCheck(n >= 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-n is the number of points in each direction, at least 1, not %" PetscInt_FMT, n);
  PetscCall(Assemble(n, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0 / ((n + 1) * (n + 1))));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(VecMax(x, NULL, &largest));
  PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "at most %" PetscInt_FMT " iterations: %s\n", limit, its <= limit ? "yes" : "NO"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "u at the centre: %.5f (0.07367 on fine grids)\n", (double)largest));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -dll_append ${KCYCLE_LIB} -pc_type kcycle
    nsize: {{1 3}}

    test:
      suffix: 1
      requires: !complex

    test:
      suffix: sizes
      requires: !complex
      output_file: output/nodm_1.out
      args: -pc_kcycle_grid_sizes 127,127

    test:
      suffix: view
      requires: !complex
      args: -n 100 -ksp_view
      filter: grep -o "grid 100 x 100 found in the matrix"

    test:
      suffix: gamg
      args: -pc_kcycle_hierarchy gamg -limit 15

TEST*/
