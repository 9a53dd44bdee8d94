static char help[] = "Full multigrid with kappa-cycles reaches the discretisation error in one application.\n\
  -L <levels> -table <error>   instead: one application is as accurate as in Tables 12 and 14 of Feng and others\n\n";

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
  PetscBool near = PETSC_TRUE, show;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-show", &show));
  for (PetscInt i = 0; i < 3; i++, p->n = 2 * p->n - 1) {
    PetscCall(Errors(p, &fmg[i], &discrete[i]));
    if (fmg[i] > 2 * discrete[i]) near = PETSC_FALSE;
    if (show)
      PetscCall(Print("n %3" PetscInt_FMT "  one application %.4e  discrete solution %.4e\n", p->n, (double)fmg[i],
                      (double)discrete[i]));
  }
  factor = discrete[1] / discrete[2];
  PetscCall(Claim(near, "error of one application below twice the discretisation error"));
  PetscCall(Claim(factor > 3.8 && factor < 4.1, "which is of order 2"));
  PetscFunctionReturn(0);
}

/* The operator of the table: 2^L - 1 points in each direction, boundary points left out, 2 dim on the diagonal; its
   right side for u = prod sin(pi x_d) */
static PetscErrorCode FillTable(PetscInt dim, PetscReal h, DM da, Mat A, Vec exact, Vec rhs)
{
  PetscInt       s[3], n[3], at[3];
  const PetscInt end = (PetscInt)(1 / h) - 1;
  PetscScalar   *a;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &s[0], &s[1], &s[2], &n[0], &n[1], &n[2]));
  PetscCall(VecGetArrayWrite(exact, &a));
  FOR_BOX(at, s, n) {
    const MatStencil row  = {at[2], at[1], at[0], 0};
    MatStencil       c[7] = {row};
    PetscScalar v[7] = {(PetscScalar)(2 * dim)}, *u = &a[at[0] - s[0] + n[0] * (at[1] - s[1] + n[1] * (at[2] - s[2]))];
    PetscInt    m = 1;

    *u = 1;
    for (PetscInt d = 0; d < dim; d++) {
      *u *= PetscSinReal(PETSC_PI * h * (at[d] + 1));
      for (PetscInt side = -1; side <= 1; side += 2) {
        if (at[d] + side < 0 || at[d] + side >= end) continue;
        c[m] = row;
        if (d == 0) c[m].i += side;
        else if (d == 1) c[m].j += side;
        else c[m].k += side;
        v[m++] = -1;
      }
    }
    PetscCall(MatSetValuesStencil(A, 1, &row, m, c, v, INSERT_VALUES));
  }
  PetscCall(VecRestoreArrayWrite(exact, &a));
  PetscCall(AssembleMat(A));
  PetscCall(VecAXPBY(rhs, h * h * dim * PETSC_PI * PETSC_PI, 0.0, exact));
  PetscFunctionReturn(0);
}

static PetscErrorCode Table(PetscInt dim, PetscInt L, PetscReal expected)
{
  Poisson         p = {dim, ((PetscInt)1 << L) - 1, 1, 1, PETSC_FALSE, PETSC_FALSE};
  const PetscReal h = 1.0 / ((PetscInt)1 << L);
  DM              da;
  Mat             A;
  PC              pc;
  Vec             exact, b, x;
  PetscReal       error;

  PetscFunctionBeginUser;
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, &p, &da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(DMCreateGlobalVector(da, &exact));
  PetscCall(DuplicateVec(exact, &b, &x));
  PetscCall(FillTable(dim, h, da, A, exact, b));
  PetscCall(MakePC(A, PCKCYCLE, &pc));
  PetscCall(PCMGSetType(pc, PC_MG_FULL));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCApply(pc, b, x));
  PetscCall(VecAXPY(x, -1.0, exact));
  PetscCall(VecNorm(x, NORM_2, &error));
  error *= PetscPowReal(h / (1 + h), dim / 2.0); /* the table divides by (2^L + 1)^dim */
  PetscCall(Claim(PetscAbsReal(error - expected) < 0.0005 * expected,
                  "the error of one application is the table's, to all its digits"));
  if (!(PetscAbsReal(error - expected) < 0.0005 * expected))
    PetscCall(Print("  it is %.4e instead of %.4e\n", (double)error, (double)expected));
  PetscCall(DestroyAll(&exact, &b, &x, &pc, &A, &da));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Poisson   p;
  PetscInt  L     = 0;
  PetscReal table = 0;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PoissonSetFromOptions(&p));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-L", &L, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-table", &table, NULL));
  if (L) PetscCall(Table(p.dim, L, table));
  else PetscCall(Order(&p));
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

  # Pre- and post-smoothing steps
  testset:
    requires: !complex
    output_file: output/fmg_table.out
    args: -dim 2 -L 9 -pc_mg_levels 9 -pc_kcycle_kappa 1 -pc_kcycle_grid interior -pc_kcycle_interpolation simplex -pc_mg_galerkin both -pc_mg_distinct_smoothup
    args: -mg_levels_ksp_type richardson -mg_levels_pc_type relax -mg_levels_pc_relax_type fourcolor
    args: -mg_levels_up_ksp_type richardson -mg_levels_up_pc_type relax -mg_levels_up_pc_relax_type fourcolor

    test:
      suffix: table_11
      args: -mg_levels_ksp_max_it 1 -mg_levels_up_ksp_max_it 1 -table 1.001e-5

    test:
      suffix: table_12
      args: -mg_levels_ksp_max_it 1 -mg_levels_up_ksp_max_it 2 -table 1.242e-6

    test:
      suffix: table_22
      args: -mg_levels_ksp_max_it 2 -mg_levels_up_ksp_max_it 2 -table 1.004e-6

    test:
      suffix: table_23
      args: -mg_levels_ksp_max_it 2 -mg_levels_up_ksp_max_it 3 -table 7.028e-7

    test:
      suffix: table_33
      args: -mg_levels_ksp_max_it 3 -mg_levels_up_ksp_max_it 3 -table 7.145e-7

  testset:
    requires: !complex
    output_file: output/fmg_table.out
    args: -dim 3 -L 5 -pc_mg_levels 5 -pc_kcycle_kappa 1 -pc_kcycle_grid interior -pc_kcycle_interpolation simplex -pc_mg_galerkin both -pc_mg_distinct_smoothup
    args: -mg_levels_ksp_type richardson -mg_levels_pc_type relax -mg_levels_pc_relax_type eightcolor
    args: -mg_levels_up_ksp_type richardson -mg_levels_up_pc_type relax -mg_levels_up_pc_relax_type eightcolor

    test:
      suffix: table_3d_11
      args: -mg_levels_ksp_max_it 1 -mg_levels_up_ksp_max_it 1 -table 6.509e-3

    test:
      suffix: table_3d_12
      args: -mg_levels_ksp_max_it 1 -mg_levels_up_ksp_max_it 2 -table 2.733e-3

    test:
      suffix: table_3d_22
      args: -mg_levels_ksp_max_it 2 -mg_levels_up_ksp_max_it 2 -table 1.246e-3

    test:
      suffix: table_3d_23
      args: -mg_levels_ksp_max_it 2 -mg_levels_up_ksp_max_it 3 -table 7.873e-4

    test:
      suffix: table_3d_33
      args: -mg_levels_ksp_max_it 3 -mg_levels_up_ksp_max_it 3 -table 5.296e-4

TEST*/
