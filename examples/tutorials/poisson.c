#include <petsc.h> /* -u_xx - u_yy = 1, u = 0 on the boundary (GHOSTED: no entries there). It names no petsc-kcycle */

int main(int argc, char **argv)
{
  DM            da;
  DMDALocalInfo in;
  Mat           A;
  Vec           x, b;
  KSP           ksp;
  PetscReal     largest;
  PetscScalar   v[5] = {4, -1, -1, -1, -1};

  PetscCall(PetscInitialize(&argc, &argv, NULL, "-dll_append /path/libpetsckcycle.so -ksp_type cg -pc_type kcycle\n"));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_GHOSTED, DM_BOUNDARY_GHOSTED, DMDA_STENCIL_STAR, 127, 127,
                         PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da)); /* -da_grid_x 255 -da_grid_y 255 -dm_mat_type stencil */
  PetscCall(DMSetUp(da));
  PetscCall(DMDAGetLocalInfo(da, &in));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  for (PetscInt j = in.ys; j < in.ys + in.ym; j++)
    for (PetscInt i = in.xs; i < in.xs + in.xm; i++) {
      MatStencil at[5] = {{0, j, i, 0}, {0, j, i - 1, 0}, {0, j, i + 1, 0}, {0, j - 1, i, 0}, {0, j + 1, i, 0}};
      PetscCall(MatSetValuesStencil(A, 1, at, 5, at, v, INSERT_VALUES));
    }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(VecSet(b, 1.0 / ((in.mx + 1) * (in.my + 1))));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(VecMax(x, NULL, &largest));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "u at the centre: %.5f (0.07367 on fine grids)\n", (double)largest));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  return PetscFinalize();
}

/*TEST

  testset:
    nsize: {{1 3}}
    args: -dll_append ${KCYCLE_LIB} -ksp_type cg -ksp_rtol 1e-8 -ksp_converged_reason -pc_type kcycle

    test:
      suffix: 1

    test:
      suffix: any_size
      args: -da_grid_x 100 -da_grid_y 100

    test:
      suffix: stencil
      requires: !complex
      output_file: output/poisson_1.out
      args: -dm_mat_type stencil

TEST*/
