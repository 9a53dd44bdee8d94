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

static void MakeRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const Problem *p = (const Problem *)ctx;

  row->value[0] = PetscRealConstant(0.1);
  for (PetscInt o = 0; o < 6; o++) {
    PetscInt to[3];

    StarNeighbour(at, o, to);
    if (IsInBox(to, p->size, 3))
      RowCoupling(row, to, Coupling(o / 2, o % 2 ? at : to) * (o % 2 ? 1 : 1 + p->units * PETSC_MACHINE_EPSILON),
                  PETSC_TRUE);
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
  PetscCall(MakeDM(PETSC_COMM_WORLD, 3, p.size, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, &s.da));
  PetscCall(DMSetUp(s.da));
  PetscCall(DMCreateMatrix(s.da, &s.A));
  PetscCall(AssembleRows(s.da, MakeRow, &p, s.A));
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
