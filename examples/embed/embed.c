/* A program that is linked with the library and calls its functions: a matrix without a grid, levels by PCGAMG */
#include <petsckcycle.h>

int main(int argc, char **argv)
{
  const PetscInt n = 1000;
  PetscInt       start, end, kappa;
  Mat            A;
  Vec            x, b;
  KSP            ksp;
  PC             pc;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(KCycleInitializePackage());
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 3, NULL, 2, NULL, &A));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    const PetscInt    columns[3] = {i - 1, i, i + 1 < n ? i + 1 : -1}; /* -1: no entry */
    const PetscScalar v[3]       = {-1, 2, -1};

    PetscCall(MatSetValues(A, 1, &i, 3, columns, v, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCKCYCLE));
  PetscCall(PCKCycleSetHierarchy(pc, PC_KCYCLE_HIERARCHY_GAMG));
  PetscCall(PCKCycleSetKappa(pc, 3));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(PCKCycleGetKappa(pc, &kappa));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solved with kappa %d\n", (int)kappa));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  return PetscFinalize();
}
