static char help[] = "Levels that are swept with ghost points give what they give without.\n\
  -cases <20>    grids of random sizes, ends, coefficients and cuts into processes\n\
  -first <0>     number of the first one\n\
  -even          ends that wrap around have even numbers of points, as ghost points need\n\
  -rounding <1e-12>\n\
  -transpose     compares transposed solves\n\
  -again         compares second solves, with other values and the same preconditioner\n\n";

#include "grids.h"

static Grid Choose(PetscInt number, PetscInt dim, PetscBool even)
{
  Grid g = {.number = number, .dim = dim, .size = {1, 1, 1}, .strength = {1, 1, 1}};

  for (PetscInt d = 0; d < dim; d++) {
    const PetscInt kind = GridChoose(&g, 40 + d, 6);

    g.size[d] = 6 + GridChoose(&g, d, dim == 3 ? 26 : 60);
    for (PetscInt side = 0; side < 2; side++)
      g.boundary[d][side] = kind == 5 ? BOUNDARY_PERIODIC : (GridBoundary)((kind + side * GridChoose(&g, 50, 2)) % 3);
    if (kind == 5 && even) g.size[d] += g.size[d] % 2;
    g.strength[d] = 1 + GridHash(number, d, 6, 6) / 2;
  }
  g.uneven = (PetscBool)GridChoose(&g, 30, 2);
  g.vary   = GridChoose(&g, 31, 2) ? 0.9 : 0;
  return g;
}

/* points: ghost points that a process may have beyond as many as its own; again: a second solve, with values that have
   changed while the hierarchy is kept */
static PetscErrorCode SolveWith(const Grid *g, DM da, Mat A, const char points[], PetscBool transpose, PetscBool again,
                                Vec *x)
{
  KSP ksp;
  Vec b;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-pc_kcycle_ghost_points", points));
  PetscCall(MatCreateVecs(A, x, &b));
  PetscCall(GridFill(g, da, 1, b));
  PetscCall(GridFill(g, da, 2, *x));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(transpose ? KSPSolveTranspose(ksp, b, *x) : KSPSolve(ksp, b, *x));
  if (again) {
    PetscCall(MatScale(A, 1.5));
    PetscCall(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
    PetscCall(KSPSolve(ksp, b, *x));
    PetscCall(MatScale(A, 1 / 1.5));
  }
  PetscCall(DestroyAll(&ksp, &b));
  PetscFunctionReturn(0);
}

static PetscErrorCode Compare(const Grid *g, PetscReal rounding, PetscBool transpose, PetscBool again, PetscInt *wrong)
{
  DM        da;
  Mat       A;
  Vec       x[2];
  PetscReal norm, difference;

  PetscFunctionBeginUser;
  PetscCall(GridCreateDM(g, &da));
  PetscCall(GridCreateMat(g, da, MATAIJ, &A));
  for (int i = 0; i < 2; i++) PetscCall(SolveWith(g, da, A, i ? "-1" : "10000000", transpose, again, &x[i]));
  PetscCall(DifferenceNorms(x[0], x[1], NORM_INFINITY, &difference, &norm));
  if (!(norm > 0 && difference <= rounding * norm)) {
    ++*wrong;
    PetscCall(Print("  they differ by %g\n", (double)(difference / norm)));
    PetscCall(GridShow(g, again ? "reused" : transpose ? "transposed" : "solved"));
  }
  for (int i = 0; i < 2; i++) PetscCall(VecDestroy(&x[i]));
  PetscCall(DestroyAll(&A, &da));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt  cases = 20, first = 0, wrong = 0;
  PetscReal rounding = 1e-12;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cases", &cases, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-first", &first, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-rounding", &rounding, NULL));
  for (PetscInt c = first; c < first + cases; c++) {
    Grid      g        = Choose(c, 2 + c % 2, Given("-even"));
    PetscBool possible = PETSC_FALSE;

    PetscCall(GridDistribute(&g, &possible));
    if (possible) PetscCall(Compare(&g, rounding, Given("-transpose"), Given("-again"), &wrong));
  }
  PetscCall(Claim(!wrong, "with ghost points as without"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: !complex double
    nsize: {{1 3 8}}
    args: -pc_type kcycle -ksp_type preonly -pc_kcycle_process_eq_limit 1
    output_file: output/ghosts_1.out

    test:
      suffix: 1
      args: -even {{yes no}}

    test:
      suffix: cycles
      args: -even -cases 8 -pc_kcycle_kappa {{2 w}} -pc_mg_type full

    test:
      suffix: smoothers
      args: -even -cases 8 -first 20 -mg_levels_ksp_max_it {{1 4}} -mg_levels_pc_relax_order symmetric -transpose

    test:
      suffix: interpolation
      args: -even -cases 8 -first 28 -pc_kcycle_interpolation {{operator simplex}}

    test:
      suffix: again
      args: -even -cases 6 -first 36 -again

    test:
      suffix: polynomials
      args: -even -cases 8 -first 48 -mg_levels_pc_relax_type {{jacobi chebyshev}} -pc_kcycle_kappa {{1 2}}

    test:
      suffix: single
      args: -even -cases 6 -first 42 -pc_kcycle_precision single -rounding 1e-5

  # with the test of the residual inside the cycle, and without
  testset:
    requires: !complex double
    nsize: 3
    args: -pc_type kcycle -ksp_type richardson -ksp_max_it 3 -pc_kcycle_process_eq_limit 1 -even -cases 8
    output_file: output/ghosts_1.out

    test:
      suffix: richardson
      args: -ksp_norm_type {{none unpreconditioned}} -ksp_initial_guess_nonzero {{yes no}} -mg_levels_pc_relax_type {{redblack chebyshev}}

TEST*/
