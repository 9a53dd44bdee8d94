static char help[] = "Linear interpolation at corners and edges of a grid, of an operator with mixed derivatives.\n\n";

/*
  - sum k_de u_de with a full matrix k of constants: box stencils whose couplings with opposite neighbours of a corner
  differ. Dirichlet points lie one cell beyond the grid, so that weights are products of halves there as elsewhere, and
  those of each coarse point add up to 2^dim.
*/
#include <petsckcycle.h>
#include "poisson.h"

static PetscReal Coupling(const PetscInt o[], PetscInt dim)
{
  const PetscReal k[3][3] = {{1, 0.45, -0.3}, {0.45, 0.8, 0.25}, {-0.3, 0.25, 0.9}};
  PetscInt        steps = 0, d[3] = {0, 0, 0};

  for (PetscInt t = 0; t < dim; t++) {
    if (o[t]) d[steps++] = t;
  }
  if (steps == 0) return 2 * (k[0][0] + k[1][1] + (dim > 2 ? k[2][2] : 0));
  if (steps == 1) return -k[d[0]][d[0]];
  return steps == 2 ? -0.5 * k[d[0]][d[1]] * (PetscReal)(o[d[0]] * o[d[1]]) : 0;
}

static PetscErrorCode Assemble(DM da, PetscInt dim, Mat A)
{
  PetscInt n[3], s[3], m[3];

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(da, NULL, &n[0], &n[1], &n[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(da, &s[0], &s[1], &s[2], &m[0], &m[1], &m[2]));
  for (PetscInt p = 0; p < m[0] * m[1] * m[2]; p++) {
    const PetscInt   at[3] = {s[0] + p % m[0], s[1] + p / m[0] % m[1], s[2] + p / (m[0] * m[1])};
    const MatStencil row   = {at[2], at[1], at[0], 0};

    for (PetscInt q = 0; q < (dim == 3 ? 27 : 9); q++) {
      const PetscInt    o[3]   = {q % 3 - 1, q / 3 % 3 - 1, dim == 3 ? q / 9 - 1 : 0};
      const MatStencil  column = {at[2] + o[2], at[1] + o[1], at[0] + o[0], 0};
      const PetscScalar value  = Coupling(o, dim);
      PetscBool         inside = PETSC_TRUE;

      for (PetscInt t = 0; t < 3; t++) inside = (PetscBool)(inside && at[t] + o[t] >= 0 && at[t] + o[t] < n[t]);
      if (inside) PetscCall(MatSetValuesStencil(A, 1, &row, 1, &column, &value, INSERT_VALUES));
    }
  }
  PetscCall(AssembleMat(A));
  PetscFunctionReturn(0);
}

/* Largest difference of the sums of weights from 2^dim, on all levels */
static PetscErrorCode Difference(PC pc, PetscInt dim, PetscReal *difference)
{
  PetscInt nlevels;

  PetscFunctionBeginUser;
  *difference = 0;
  PetscCall(PCMGGetLevels(pc, &nlevels));
  for (PetscInt l = 1; l < nlevels; l++) {
    Mat       P;
    Vec       ones, sums;
    PetscReal norm;

    PetscCall(PCMGGetInterpolation(pc, l, &P));
    PetscCall(MatCreateVecs(P, &sums, &ones));
    PetscCall(VecSet(ones, 1));
    PetscCall(MatMultTranspose(P, ones, sums));
    PetscCall(VecShift(sums, -(PetscScalar)(1 << dim)));
    PetscCall(VecNorm(sums, NORM_INFINITY, &norm));
    *difference = PetscMax(*difference, norm);
    PetscCall(DestroyAll(&ones, &sums));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt  dim = 2, n = 31;
  PetscReal difference;
  DM        da;
  Mat       A;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  if (dim == 3) n = 15;
  PetscCall(DMDACreate(PETSC_COMM_WORLD, &da));
  PetscCall(DMSetDimension(da, dim));
  PetscCall(DMDASetSizes(da, n, n, dim == 3 ? n : 1));
  PetscCall(DMDASetDof(da, 1));
  PetscCall(DMDASetStencilWidth(da, 1));
  PetscCall(DMDASetStencilType(da, DMDA_STENCIL_BOX));
  PetscCall(DMSetMatType(da, MATSTENCIL));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(Assemble(da, dim, A));
  PetscCall(MakePC(A, PCKCYCLE, &pc));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(Difference(pc, dim, &difference));
  PetscCall(ClaimThat(difference < 1e-12, "weights of each coarse point add up to %d", 1 << dim));
  PetscCall(DestroyAll(&pc, &A, &da));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: 2d
    nsize: {{1 2 6}}
    args: -dim 2 -pc_kcycle_structured on -pc_kcycle_interpolation linear -pc_kcycle_semicoarsen xy -pc_mg_levels 3
    requires: !complex

  test:
    suffix: 3d
    nsize: {{1 4 8}}
    args: -dim 3 -pc_kcycle_structured on -pc_kcycle_interpolation linear -pc_kcycle_semicoarsen xyz -pc_mg_levels 3
    requires: !complex

TEST*/
