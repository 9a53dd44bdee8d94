static char help[] = "Blocks of right sides, and transposed ones, give what single right sides give.\n\n";

#include "poisson.h"
#include <petsckcycle/private/compat.h>

typedef struct {
  Poisson p;
  DM      da;
  Mat     A;
  KSP     ksp;
  PC      pc;
} Problem;

/* Upwind differences in x make the operator differ from its transpose */
static PetscErrorCode AddWind(Problem *problem)
{
  PetscInt start[3], width[3], at[3] = {0, 0, 0};

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(problem->da, &start[0], &start[1], NULL, &width[0], &width[1], NULL));
  for (at[1] = start[1]; at[1] < start[1] + width[1]; at[1]++) {
    for (at[0] = start[0]; at[0] < start[0] + width[0]; at[0]++) {
      const MatStencil  row = {.j = at[1], .i = at[0]}, columns[] = {{.j = at[1], .i = at[0] - 1}, row};
      const PetscScalar values[] = {-0.3, 0.3};

      if (at[0] < 2 || at[0] == problem->p.n - 1 || at[1] == 0 || at[1] == problem->p.n - 1) continue;
      PetscCall(MatSetValuesStencil(problem->A, 1, &row, 2, columns, values, ADD_VALUES));
    }
  }
  PetscCall(AssembleMat(problem->A));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(Problem *problem)
{
  PetscFunctionBeginUser;
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, &problem->p, &problem->da));
  PetscCall(DMCreateMatrix(problem->da, &problem->A));
  PetscCall(PoissonAssemble(&problem->p, problem->da, problem->A));
  PetscCall(AddWind(problem));
  PetscCall(MakeKSP(problem->A, KSPRICHARDSON, PCKCYCLE, &problem->ksp, &problem->pc));
  PetscCall(KSPSetTolerances(problem->ksp, 1e-13, PETSC_DEFAULT, PETSC_DEFAULT, 10));
  PetscCall(KSPSetFromOptions(problem->ksp));
  PetscCall(KSPSetUp(problem->ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode Destroy(Problem *problem)
{
  return DestroyAll(&problem->ksp, &problem->A, &problem->da);
}

/* A block whose columns differ */
static PetscErrorCode CreateBlocks(Problem *problem, PetscInt width, Mat *B, Mat *X)
{
  PetscInt m;
  Vec      b;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(problem->A, &m, NULL));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, m, PETSC_DECIDE, PETSC_DETERMINE, width, NULL, B));
  for (PetscInt j = 0; j < width; j++) {
    PetscCall(MatDenseGetColumnVecWrite(*B, j, &b));
    PetscCall(PoissonFill(&problem->p, problem->da, b));
    PetscCall(VecScale(b, (PetscReal)(j + 1)));
    PetscCall(VecShift(b, 0.1 * (PetscReal)(j * j)));
    PetscCall(MatDenseRestoreColumnVecWrite(*B, j, &b));
  }
  PetscCall(AssembleMat(*B));
  PetscCall(MatDuplicate(*B, MAT_DO_NOT_COPY_VALUES, X));
  PetscFunctionReturn(0);
}

typedef PetscErrorCode (*Single)(Problem *, Vec, Vec);

static PetscErrorCode SolveSingle(Problem *problem, Vec b, Vec x)
{
  return KSPSolve(problem->ksp, b, x);
}

static PetscErrorCode ApplySingle(Problem *problem, Vec b, Vec x)
{
  return PCApply(problem->pc, b, x);
}

/* Largest difference of a column of X from what b alone gives, relative to it */
static PetscErrorCode Difference(Problem *problem, Mat B, Mat X, Single single, PetscReal *difference)
{
  PetscInt  width;
  PetscReal norm, error;
  Vec       b, c, x, y;

  PetscFunctionBeginUser;
  *difference = 0;
  PetscCall(MatGetSize(B, NULL, &width));
  PetscCall(MatCreateVecs(problem->A, &y, &c));
  for (PetscInt j = 0; j < width; j++) {
    PetscCall(MatDenseGetColumnVecRead(B, j, &b));
    PetscCall(VecCopy(b, c));
    PetscCall(MatDenseRestoreColumnVecRead(B, j, &b));
    PetscCall((*single)(problem, c, y));
    PetscCall(VecNorm(y, NORM_2, &norm));
    PetscCall(MatDenseGetColumnVecRead(X, j, &x));
    PetscCall(VecAXPY(y, -1.0, x));
    PetscCall(MatDenseRestoreColumnVecRead(X, j, &x));
    PetscCall(VecNorm(y, NORM_2, &error));
    *difference = PetscMax(*difference, error / norm);
  }
  PetscCall(DestroyAll(&y, &c));
  PetscFunctionReturn(0);
}

static PetscErrorCode ClaimSmall(PetscReal difference, const char what[], PetscInt width)
{
  PetscFunctionBeginUser;
  PetscCall(ClaimThat(difference < 1e-12, "%s of %" PetscInt_FMT " right sides is that of each", what, width));
  if (!(difference < 1e-12)) PetscCall(Print("  relative difference %g\n", (double)difference));
  PetscFunctionReturn(0);
}

static PetscErrorCode Blocks(Problem *problem, PetscInt width)
{
  Mat       B, X;
  PetscReal difference;

  PetscFunctionBeginUser;
  PetscCall(CreateBlocks(problem, width, &B, &X));
  PetscCall(PCMatApply(problem->pc, B, X));
  PetscCall(Difference(problem, B, X, ApplySingle, &difference));
  PetscCall(ClaimSmall(difference, "application to a block", width));
  PetscCall(KSPMatSolve(problem->ksp, B, X));
  PetscCall(Difference(problem, B, X, SolveSingle, &difference));
  PetscCall(ClaimSmall(difference, "solution for a block", width));
  PetscCall(DestroyAll(&B, &X));
  PetscFunctionReturn(0);
}

#if defined(KCYCLE_HAVE_PC_MATAPPLYTRANSPOSE)
static PetscErrorCode ApplyTransposeSingle(Problem *problem, Vec b, Vec x)
{
  return PCApplyTranspose(problem->pc, b, x);
}

static PetscErrorCode Transposed(Problem *problem, PetscInt width)
{
  Mat       B, X;
  PetscReal difference;

  PetscFunctionBeginUser;
  PetscCall(CreateBlocks(problem, width, &B, &X));
  PetscCall(PCMatApplyTranspose(problem->pc, B, X));
  PetscCall(Difference(problem, B, X, ApplyTransposeSingle, &difference));
  PetscCall(DestroyAll(&B, &X));
  PetscCall(ClaimSmall(difference, "transposed application to a block", width));
  PetscFunctionReturn(0);
}
#endif

int main(int argc, char **argv)
{
  const PetscInt width[]   = {3, 5, 3};
  Problem        problem   = {0};
  PetscBool      transpose = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PoissonSetFromOptions(&problem.p));
  PetscCall(Create(&problem));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-transpose", &transpose, NULL));
  for (PetscInt i = 0; i < 3; i++) {
#if defined(KCYCLE_HAVE_PC_MATAPPLYTRANSPOSE)
    if (transpose) PetscCall(Transposed(&problem, width[i]));
#endif
    if (!transpose) PetscCall(Blocks(&problem, width[i]));
  }
  PetscCall(Destroy(&problem));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    nsize: {{1 3}}
    args: -pc_kcycle_structured {{off auto}}
    output_file: output/matsolve.out

    test:
      suffix: small
      args: -pc_kcycle_kappa {{1 2 w}}

    test:
      suffix: full
      args: -pc_mg_type full

    test:
      suffix: gmres
      args: -ksp_type gmres -ksp_pc_side right

    test:
      suffix: two_cycles
      args: -pc_mg_multiplicative_cycles 2

    test:
      suffix: distinct
      args: -pc_mg_distinct_smoothup -mg_levels_ksp_type richardson -mg_levels_up_ksp_max_it 1

  test:
    requires: defined(KCYCLE_HAVE_PC_MATAPPLYTRANSPOSE)
    suffix: transpose
    nsize: {{1 3}}
    args: -pc_kcycle_structured off -transpose -mg_levels_pc_type jacobi -pc_kcycle_kappa {{1 2 w}}

TEST*/
