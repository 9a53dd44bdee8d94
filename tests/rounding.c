static char help[] =
    "An assembled matrix that is symmetric but for rounding is kept by half in PCKCYCLE's levels, and one that is not \
symmetric whole.\n\
  -units  by how many units of rounding couplings with earlier points differ from those with later ones\n\n";

#include "poisson.h"

/* Couplings that differ from point to point, as on a stretched grid */
static PetscReal Coupling(PetscInt d, const PetscInt at[])
{
  return 1 + PetscRealConstant(0.3) * PetscSinReal(PetscRealConstant(1.7) * (PetscReal)at[0] + (PetscReal)at[1]) +
         PetscRealConstant(0.2) * PetscCosReal((PetscReal)(at[2] + d));
}

typedef struct {
  PetscInt  size[3];
  PetscReal units;
} Problem;

static void MakeRow(const void *ctx, const PetscInt at[], PetscInt *n, MatStencil col[], PetscScalar v[])
{
  const Problem *p = (const Problem *)ctx;

  *n     = 1;
  col[0] = (MatStencil){at[2], at[1], at[0], 0};
  v[0]   = PetscRealConstant(0.1);
  for (PetscInt d = 0; d < 3; d++) {
    for (int side = -1; side <= 1; side += 2) {
      const PetscInt  to[3] = {at[0] + (d == 0 ? side : 0), at[1] + (d == 1 ? side : 0), at[2] + (d == 2 ? side : 0)};
      const PetscReal c     = Coupling(d, side < 0 ? to : at) * (side < 0 ? 1 + p->units * PETSC_MACHINE_EPSILON : 1);

      if (to[d] < 0 || to[d] >= p->size[d]) continue;
      v[0] += c;
      col[*n]   = (MatStencil){to[2], to[1], to[0], 0};
      v[(*n)++] = -c;
    }
  }
}

/* Numbers a point that the finest level keeps of its matrix */
static PetscErrorCode CountNumbers(PC pc, PetscReal *numbers)
{
  PetscInt nlevels, rows;
  MatInfo  info;
  Mat      A;
  KSP      smoother;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetLevels(pc, &nlevels));
  PetscCall(PCMGGetSmoother(pc, nlevels - 1, &smoother));
  PetscCall(KSPGetOperators(smoother, &A, NULL));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  PetscCall(MatGetSize(A, &rows, NULL));
  *numbers = (PetscReal)info.memory / (PetscReal)sizeof(PetscScalar) / (PetscReal)rows;
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem   p       = {{24, 22, 20}, 0};
  PetscReal numbers = 0;
  PetscInt  its;
  System    s = {0};

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-units", &p.units, NULL));
  PetscCall(MakeDM(PETSC_COMM_WORLD, 3, (PetscInt[]){p.size[0], p.size[1], p.size[2]}, DM_BOUNDARY_NONE,
                   DMDA_STENCIL_STAR, &s.da));
  PetscCall(DMSetUp(s.da));
  PetscCall(DMCreateMatrix(s.da, &s.A));
  PetscCall(PoissonAssembleRows(s.da, MakeRow, &p, s.A));
  PetscCall(MatCreateVecs(s.A, &s.x, &s.b));
  PetscCall(VecSet(s.x, 1));
  PetscCall(MatMult(s.A, s.x, s.b));
  PetscCall(VecSet(s.x, 0));
  PetscCall(MakeKSP(s.A, NULL, PCKCYCLE, &s.ksp, &s.pc));
  PetscCall(PCSetDM(s.pc, s.da));
  PetscCall(KSPSetTolerances(s.ksp, PetscRealConstant(1e-10), PETSC_DEFAULT, PETSC_DEFAULT, 50));
  PetscCall(KSPSetFromOptions(s.ksp));
  PetscCall(SolveSystem(s.ksp, s.b, s.x, &its, NULL));
  PetscCall(CountNumbers(s.pc, &numbers));
  PetscCall(Print("iterations: %d, the matrix is kept %s\n", (int)its, numbers > 7 ? "whole" : "by half"));
  PetscCall(SystemDestroy(&s));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: !complex

  testset:
    nsize: {{1 4}}
    args: -ksp_type cg
    test:
      suffix: half
      args: -units {{0 1 3}}
    test:
      suffix: whole
      args: -ksp_type gmres -units 100

TEST*/
