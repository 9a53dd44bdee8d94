static char help[] = "Linear interpolation at corners and edges of a grid, of an operator with mixed derivatives.\n\n";

/*
  - sum k_de u_de with a full matrix k of constants: box stencils whose couplings with opposite neighbours of a corner
  differ. Dirichlet points lie one cell beyond the grid. So weights are products of halves everywhere, and those of
  each coarse point add up to 2^dim.
*/
#include "testing.h"

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

typedef struct {
  PetscInt dim, size[3];
} Problem;

static void MakeRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const Problem *p = (const Problem *)ctx;

  for (PetscInt q = 0; q < 27; q++) {
    const PetscInt o[3]  = {q % 3 - 1, q / 3 % 3 - 1, q / 9 - 1};
    const PetscInt to[3] = {at[0] + o[0], at[1] + o[1], at[2] + o[2]};

    if (q == 13) row->value[0] = Coupling(o, p->dim);
    else if (IsInBox(to, p->size, 3)) RowEntry(row, to, Coupling(o, p->dim));
  }
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
  Problem   p = {2, {31, 31, 1}};
  PetscReal difference;
  DM        da;
  Mat       A;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &p.dim, NULL));
  for (int d = 0; d < 3 && p.dim == 3; d++) p.size[d] = 15;
  PetscCall(MakeDM(PETSC_COMM_WORLD, p.dim, p.size, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, &da));
  PetscCall(DMSetMatType(da, MATSTENCIL));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(AssembleRows(da, MakeRow, &p, A));
  PetscCall(MakePC(A, PCKCYCLE, &pc));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(Difference(pc, p.dim, &difference));
  PetscCall(ClaimThat(difference < 1e-12, "weights of each coarse point add up to %d", 1 << p.dim));
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
