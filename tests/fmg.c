static char help[] = "Full multigrid with kappa-cycles reaches the discretisation error, of order 2, in one application.\n\n";

#include "poisson.h"

/* Exact solution u = prod sin(pi x_d), zero on the boundary; its right side is h^dim dim pi^2 u */
static PetscErrorCode FillExact(const Poisson *p, DM da, Vec exact, Vec rhs)
{
  Vec             natural;
  PetscScalar    *a;
  PetscInt        start, end;
  const PetscReal h = 1.0 / (p->n - 1);

  PetscFunctionBeginUser;
  PetscCall(DMDACreateNaturalVector(da, &natural));
  PetscCall(VecGetOwnershipRange(natural, &start, &end));
  PetscCall(VecGetArrayWrite(natural, &a));
  for (PetscInt row = start; row < end; row++) {
    PetscInt index = row;

    a[row - start] = 1;
    for (PetscInt d = 0; d < p->dim; d++, index /= p->n) a[row - start] *= index % p->n == 0 || index % p->n == p->n - 1 ? 0 : PetscSinReal(PETSC_PI * h * (index % p->n));
  }
  PetscCall(VecRestoreArrayWrite(natural, &a));
  PetscCall(DMDANaturalToGlobalBegin(da, natural, INSERT_VALUES, exact));
  PetscCall(DMDANaturalToGlobalEnd(da, natural, INSERT_VALUES, exact));
  PetscCall(VecDestroy(&natural));
  PetscCall(VecAXPBY(rhs, p->dim * PETSC_PI * PETSC_PI * PetscPowReal(h, p->dim), 0.0, exact));
  PetscFunctionReturn(0);
}

/* Mean square errors of one application, and of the solution of the discrete equations */
static PetscErrorCode Errors(Poisson *p, PetscReal *fmg, PetscReal *discrete)
{
  DM       da;
  KSP      ksp;
  PC       pc;
  Vec      exact, b, x;
  PetscInt size;

  PetscFunctionBeginUser;
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, p, &da));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, da));
  PetscCall(KSPSetComputeOperators(ksp, PoissonComputeOperators, p));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(KSPSetTolerances(ksp, 1e-11, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCKCYCLE));
  PetscCall(PCMGSetType(pc, PC_MG_FULL));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(DMCreateGlobalVector(da, &exact));
  PetscCall(VecDuplicate(exact, &b));
  PetscCall(VecDuplicate(exact, &x));
  PetscCall(FillExact(p, da, exact, b));
  PetscCall(VecGetSize(x, &size));
  PetscCall(PCApply(pc, b, x));
  PetscCall(VecAXPY(x, -1.0, exact));
  PetscCall(VecNorm(x, NORM_2, fmg));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(VecAXPY(x, -1.0, exact));
  PetscCall(VecNorm(x, NORM_2, discrete));
  *fmg /= PetscSqrtReal((PetscReal)size);
  *discrete /= PetscSqrtReal((PetscReal)size);
  PetscCall(VecDestroy(&exact));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Poisson   p;
  PetscReal fmg[3], discrete[3], order;
  PetscBool near = PETSC_TRUE, show;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(KCycleInitializePackage());
  PetscCall(PoissonSetFromOptions(&p));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-show", &show));
  for (PetscInt i = 0; i < 3; i++, p.n = 2 * p.n - 1) {
    PetscCall(Errors(&p, &fmg[i], &discrete[i]));
    if (fmg[i] > 3 * discrete[i]) near = PETSC_FALSE;
    if (show) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "n %3" PetscInt_FMT "  one application %.4e  discrete solution %.4e\n", p.n, (double)fmg[i], (double)discrete[i]));
  }
  order = PetscLog2Real(fmg[1] / fmg[2]);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "error of one application below three times the discretisation error: %s\n", near ? "yes" : "NO"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "halving h makes it smaller by a factor of at least 3: %s\n", order > PetscLog2Real(3.0) ? "yes" : "NO"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    output_file: output/fmg.out
    args: -pc_kcycle_structured {{off auto}} -pc_kcycle_kappa {{1 2 w}} -mg_levels_pc_type jacobi -mg_levels_ksp_max_it 3

    test:
      suffix: 1d
      args: -dim 1 -n 33

    test:
      suffix: 2d
      nsize: {{1 2 4}}
      args: -dim 2 -n 17

    test:
      suffix: 3d
      nsize: {{1 3}}
      args: -dim 3 -n 17

TEST*/
