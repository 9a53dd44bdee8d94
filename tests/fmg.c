static char help[] = "Full multigrid with kappa-cycles reaches the discretisation error in one application.\n\n";

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
    for (PetscInt d = 0; d < p->dim; d++, index /= p->n)
      a[row - start] *= index % p->n == 0 || index % p->n == p->n - 1 ? 0 : PetscSinReal(PETSC_PI * h * (index % p->n));
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
  PetscCall(PoissonMakeKSP(p, da, PCKCYCLE, &ksp, &pc));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(KSPSetTolerances(ksp, 1e-11, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(PCMGSetType(pc, PC_MG_FULL));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(DMCreateGlobalVector(da, &exact));
  PetscCall(DuplicateVec(exact, &b, &x));
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
  PetscCall(DestroyAll(&exact, &b, &x, &ksp, &da));
  PetscFunctionReturn(0);
}

/* Three sizes: as accurate as the discrete solution, which is of order 2 */
static PetscErrorCode Order(Poisson *p)
{
  PetscReal fmg[3], discrete[3], factor;
  PetscBool near = PETSC_TRUE;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 3; i++, p->n = 2 * p->n - 1) {
    PetscCall(Errors(p, &fmg[i], &discrete[i]));
    if (fmg[i] > 2 * discrete[i]) near = PETSC_FALSE;
    if (Given("-show"))
      PetscCall(Print("n %3" PetscInt_FMT "  one application %.4e  discrete solution %.4e\n", p->n, (double)fmg[i],
                      (double)discrete[i]));
  }
  factor = discrete[1] / discrete[2];
  PetscCall(Claim(near, "error of one application below twice the discretisation error"));
  PetscCall(Claim(factor > 3.8 && factor < 4.1, "which is of order 2"));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Poisson p;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PoissonSetFromOptions(&p));
  PetscCall(Order(&p));
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
      nsize: {{1 4}}
      args: -dim 2 -n 17

    test:
      suffix: 3d
      nsize: {{1 3}}
      args: -dim 3 -n 9

TEST*/
