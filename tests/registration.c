static char help[] = "The types are known, in every PetscInitialize() to PetscFinalize() of one process.\n\n";

#include "testing.h"
#include <petsckcycle/private/compat.h>

/* One solve with PCKCYCLE, which finds the grid through the matrix */
static PetscErrorCode Solve(PetscInt pass)
{
  System             s = {0};
  PetscInt           i, start, end, n = 65, kappa;
  PetscReal          norm;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, n, 1, 1, NULL, &s.da));
  PetscCall(DMSetUp(s.da));
  PetscCall(DMCreateMatrix(s.da, &s.A));
  PetscCall(MatGetOwnershipRange(s.A, &start, &end));
  for (i = start; i < end; i++) {
    const MatStencil  row = {.i = i}, columns[] = {{.i = i - 1}, {.i = i}, {.i = i + 1}};
    const PetscScalar values[] = {-1.0, 2.0, -1.0};
    const PetscInt    first = i == 0, count = 3 - (i == 0) - (i == n - 1);

    PetscCall(MatSetValuesStencil(s.A, 1, &row, count, columns + first, values + first, INSERT_VALUES));
  }
  PetscCall(AssembleMat(s.A));
  PetscCall(MatCreateVecs(s.A, &s.x, &s.b));
  PetscCall(VecSet(s.b, 1.0 / (PetscReal)((n + 1) * (n + 1))));

  PetscCall(MakeKSP(s.A, NULL, PCKCYCLE, &s.ksp, &s.pc));
  PetscCall(KSPSetTolerances(s.ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(PCKCycleSetKappa(s.pc, 3));
  PetscCall(KSPSetFromOptions(s.ksp));
  PetscCall(KSPSolve(s.ksp, s.b, s.x));
  PetscCall(KSPGetConvergedReason(s.ksp, &reason));
  PetscCall(PCKCycleGetKappa(s.pc, &kappa));
  PetscCall(VecNorm(s.x, NORM_INFINITY, &norm));
  /* u = x (1 - x) / 2, exact at the points */
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "pass %" PetscInt_FMT ": kappa %" PetscInt_FMT ", converged: %s, largest value %.6f\n", pass,
                        kappa, reason > 0 ? "yes" : "no", (double)norm));

  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt pass;

  /* MPI outlives PETSc here, which leaves it alone if it did not start it */
  if (MPI_Init(&argc, &argv)) return 1;
  for (pass = 1; pass <= 2; pass++) {
    PetscFunctionBeginUser;
    PetscCall(PetscInitialize(&argc, &argv, NULL, help));
    PetscCall(KCycleInitializePackage());
    PetscCall(KCycleInitializePackage()); /* calling it again does nothing */
    PetscCall(Solve(pass));
    PetscCall(PetscFinalize());
  }
  return MPI_Finalize();
}

/*TEST

  testset:
    output_file: output/registration.out
    test:
      suffix: small
    test:
      suffix: small_two_processes
      nsize: 2
    test:
      suffix: linked_and_loaded
      nsize: {{1 2}}
      args: -dll_append ${KCYCLE_LIB}

TEST*/
