static char help[] = "Singular operators converge without any solver option.\n\n";

#include "poisson.h"

#define MAX_ITS 16

/* How a problem reaches the solver */
typedef enum {
  ASSEMBLED_ANEW, /* on each level, by KSPSetComputeOperators() */
  OPERATOR_ONLY   /* one matrix from DMCreateMatrix(), nothing else */
} Way;

/* What is done to the scheme A, with a diagonal D */
typedef enum {
  PLAIN,     /* A: the kernels of A and of A^T are the constants */
  SYMMETRIC, /* D A D: both kernels are D^{-1} 1 */
  ROWS       /* D A: constants from the right, D^{-1} 1 from the left */
} Scaling;

typedef struct {
  Poisson      p;
  PetscBool    attached; /* a null space is attached to the operator */
  Way          way;
  PetscBool    inconsistent; /* constants are not removed from the right side */
  Scaling      scaling;
  const char  *kernel;    /* what the view says of it */
  const char  *solver;    /* and of what is done about it */
  MatNullSpace nullspace; /* the attached one */
} Problem;

/* KSP projects solutions by the kernel, and right sides if the operator is known to be symmetric */
static PetscErrorCode Attach(Problem *problem, Mat A)
{
  PetscFunctionBeginUser;
  if (problem->scaling != ROWS) PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  if (problem->attached) PetscCall(MatSetNullSpace(A, problem->nullspace));
  PetscFunctionReturn(0);
}

static PetscErrorCode ComputeOperators(KSP ksp, Mat J, Mat A, void *ctx)
{
  Problem *problem = (Problem *)ctx;
  DM       da;

  PetscFunctionBeginUser;
  PetscCall(KSPGetDM(ksp, &da));
  PetscCall(PoissonAssemble(&problem->p, da, A));
  PetscCall(Attach(problem, J));
  PetscFunctionReturn(0);
}

/* D A or D A D; for the latter D^{-1} 1, normed, is the only vector of the null space */
static PetscErrorCode Scale(Problem *problem, DM da, Mat A)
{
  Vec d;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(da, &d));
  PetscCall(PoissonFill(&problem->p, da, d));
  PetscCall(VecScale(d, 0.2));
  PetscCall(VecShift(d, 1.0));
  PetscCall(MatDiagonalScale(A, d, problem->scaling == SYMMETRIC ? d : NULL));
  if (problem->scaling == SYMMETRIC) {
    PetscCall(VecReciprocal(d));
    PetscCall(VecNormalize(d, NULL));
    PetscCall(MatNullSpaceDestroy(&problem->nullspace));
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 1, &d, &problem->nullspace));
  }
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetOperators(Problem *problem, DM da, KSP ksp)
{
  Mat A;

  PetscFunctionBeginUser;
  if (problem->way == ASSEMBLED_ANEW) {
    PetscCall(KSPSetDM(ksp, da));
    PetscCall(KSPSetComputeOperators(ksp, ComputeOperators, problem));
  } else {
    PetscCall(DMCreateMatrix(da, &A));
    PetscCall(PoissonAssemble(&problem->p, da, A));
    if (problem->scaling != PLAIN) PetscCall(Scale(problem, da, A));
    PetscCall(Attach(problem, A));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(0);
}

/* Right side in the range of the operator, by our own hand unless KSP is to do it */
static PetscErrorCode FillRightSide(Problem *problem, DM da, KSP ksp, Vec b, Vec consistent)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(PoissonFill(&problem->p, da, b));
  PetscCall(VecScale(b, problem->p.scale));
  if (problem->inconsistent) PetscCall(VecShift(b, problem->p.scale));
  if (problem->scaling == ROWS) {
    PetscCall(KSPGetOperators(ksp, &A, NULL));
    PetscCall(MatMult(A, b, consistent));
    PetscCall(VecScale(consistent, 1 / problem->p.scale));
  } else {
    PetscCall(VecCopy(b, consistent));
    PetscCall(MatNullSpaceRemove(problem->nullspace, consistent));
  }
  if (!problem->inconsistent) PetscCall(VecCopy(consistent, b));
  PetscFunctionReturn(0);
}

/* Prints what does not hold, if anything */
static PetscErrorCode Judge(Problem *problem, KSP ksp, Vec b, Vec x, PetscBool *good)
{
  KSPConvergedReason reason;
  PetscInt           its;
  Mat                A;
  PetscReal          residual;
  PetscBool          kernel = PETSC_FALSE, solver = PETSC_FALSE;
  PC                 pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(PoissonResidual(A, b, x, &residual));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PoissonViewHas(pc, problem->kernel, &kernel));
  PetscCall(PoissonViewHas(pc, problem->solver, &solver));
  *good = (PetscBool)(reason > 0 && its <= MAX_ITS && residual < 1e-5 && kernel && solver);
  PetscCall(PetscInfo(ksp, "%" PetscInt_FMT " iterations, true residual %g\n", its, (double)residual));
  if (*good) PetscFunctionReturn(0);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "NO: %" PetscInt_FMT "D %s: %s, %" PetscInt_FMT
                        " iterations, true residual %g, the view says \"%s\": %d, \"%s\": %d\n",
                        problem->p.dim, problem->p.periodic ? "periodic" : "Neumann", KSPConvergedReasons[reason], its,
                        (double)residual, problem->kernel, kernel, problem->solver, solver));
  PetscFunctionReturn(0);
}

/* KSPCG with PCKCYCLE (KSPGMRES where symmetry is lost), and options only if the test gives some */
static PetscErrorCode Solve(Problem *problem, PetscBool *good)
{
  DM  da;
  KSP ksp;
  PC  pc;
  Vec b, consistent, x;

  PetscFunctionBeginUser;
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, &problem->p, &da));
  /* PETSc has no interpolation from cells in 1D */
  if (problem->p.dim == 1) PetscCall(DMDASetInterpolationType(da, DMDA_Q1));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &problem->nullspace));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, problem->scaling == ROWS ? KSPGMRES : KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-8, 1e-300, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCKCYCLE));
  PetscCall(SetOperators(problem, da, ksp));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(VecDuplicate(b, &consistent));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(FillRightSide(problem, da, ksp, b, consistent));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(Judge(problem, ksp, consistent, x, good));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&consistent));
  PetscCall(VecDestroy(&x));
  PetscCall(MatNullSpaceDestroy(&problem->nullspace));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

/* Neumann and periodic in 1D, 2D and 3D */
static PetscErrorCode SolveAll(Problem *problem, const char claim[])
{
  const PetscInt n[] = {0, 64, 32, 16};
  PetscBool      all = PETSC_TRUE, good = PETSC_FALSE;

  PetscFunctionBeginUser;
  for (problem->p.dim = 1; problem->p.dim <= 3; problem->p.dim++) {
    for (PetscInt periodic = 0; periodic < 2; periodic++) {
      problem->p.periodic = periodic ? PETSC_TRUE : PETSC_FALSE;
      problem->p.neumann  = periodic ? PETSC_FALSE : PETSC_TRUE;
      problem->p.n        = n[problem->p.dim] + (problem->p.dim == 1 && !periodic);
      PetscCall(Solve(problem, &good));
      if (!good) all = PETSC_FALSE;
    }
  }
  PetscCall(PoissonClaim(all, claim));
  PetscFunctionReturn(0);
}

static PetscErrorCode ConstantKernel(Problem *problem)
{
  const char *const claim[2][2] = {
      {"zero row sums, assembled on each grid", "zero row sums, operator only"},
      {"null space attached, assembled on each grid", "null space attached, operator only"}};

  PetscFunctionBeginUser;
  problem->solver = "constants span the kernel";
  for (PetscInt attached = 0; attached < 2; attached++) {
    for (PetscInt way = 0; way < 2; way++) {
      problem->attached = attached ? PETSC_TRUE : PETSC_FALSE;
      problem->way      = way ? OPERATOR_ONLY : ASSEMBLED_ANEW;
      problem->kernel =
          attached ? "singular operator: null space attached" : "singular operator: all row sums are zero";
      PetscCall(SolveAll(problem, claim[attached][way]));
    }
  }
  problem->inconsistent = PETSC_TRUE;
  problem->way          = ASSEMBLED_ANEW;
  PetscCall(SolveAll(problem, "null space attached, right side inconsistent, assembled on each grid"));
  problem->way = OPERATOR_ONLY;
  PetscCall(SolveAll(problem, "null space attached, right side inconsistent, operator only"));
  PetscFunctionReturn(0);
}

/* Coarse grids have it, and then it is found with the factors of the coarsest operator, or they are regular */
static PetscErrorCode OtherKernel(Problem *problem)
{
  PetscFunctionBeginUser;
  problem->scaling  = SYMMETRIC;
  problem->attached = PETSC_TRUE;
  problem->way      = OPERATOR_ONLY;
  problem->kernel   = "singular operator: null space attached";
  problem->solver   = "null space attached";
  PetscCall(SolveAll(problem, "kernel other than constants, null space attached"));
  problem->inconsistent = PETSC_TRUE;
  PetscCall(SolveAll(problem, "kernel other than constants, null space attached, right side inconsistent"));
  problem->scaling      = ROWS;
  problem->solver       = "a kernel of dimension 1 is projected out";
  problem->inconsistent = PETSC_FALSE;
  PetscCall(SolveAll(problem, "constants from the right only, null space attached"));
  problem->attached = PETSC_FALSE;
  problem->kernel   = "singular operator: all row sums are zero";
  PetscCall(SolveAll(problem, "constants from the right only, zero row sums"));
  PetscFunctionReturn(0);
}

static PetscErrorCode LevelsOfGAMG(Problem *problem)
{
  PetscFunctionBeginUser;
  problem->way    = OPERATOR_ONLY;
  problem->kernel = "singular operator: all row sums are zero";
  problem->solver = "type: svd";
  PetscCall(SolveAll(problem, "levels of PCGAMG, zero row sums"));
  problem->attached = PETSC_TRUE;
  problem->kernel   = "singular operator: null space attached";
  PetscCall(SolveAll(problem, "levels of PCGAMG, null space attached"));
  problem->inconsistent = PETSC_TRUE;
  PetscCall(SolveAll(problem, "levels of PCGAMG, null space attached, right side inconsistent"));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem   problem = {0};
  PetscBool other = PETSC_FALSE, gamg = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(KCycleInitializePackage());
  PetscCall(PoissonSetFromOptions(&problem.p));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-other", &other, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-gamg", &gamg, NULL));
  if (gamg) PetscCall(LevelsOfGAMG(&problem));
  else if (other) PetscCall(OtherKernel(&problem));
  else PetscCall(ConstantKernel(&problem));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:

    test:
      suffix: constants
      nsize: {{1 3 8}}
      args: -pc_kcycle_structured {{off auto}}
      output_file: output/singular_constants.out

    test:
      suffix: other
      nsize: {{1 4}}
      args: -other -pc_kcycle_structured {{off auto}}
      output_file: output/singular_other.out

    # more rows than dense matrices are for
    test:
      suffix: other_large
      nsize: {{1 2}}
      args: -other -pc_kcycle_structured {{off auto}} -pc_mg_levels 2
      output_file: output/singular_other.out

    # real numbers only: zgesvd() of OpenBLAS 0.3.21 reads memory before its arrays, and crashes at times
    test:
      suffix: gamg
      nsize: {{1 4}}
      requires: !complex
      args: -gamg -pc_kcycle_hierarchy gamg
      output_file: output/singular_gamg.out

  testset:
    args: -scale {{1e-15 1e12}}
    nsize: 2

    test:
      suffix: constants_units
      args: -pc_kcycle_structured {{off auto}}
      output_file: output/singular_constants.out

    test:
      suffix: other_units
      args: -other -pc_kcycle_structured {{off auto}}
      output_file: output/singular_other.out

    test:
      suffix: gamg_units
      requires: !complex
      args: -gamg -pc_kcycle_hierarchy gamg
      output_file: output/singular_gamg.out

  testset:
    nsize: 2
    args: -pc_kcycle_structured {{off auto}}
    output_file: output/singular_constants.out

    test:
      suffix: kappa
      args: -pc_kcycle_kappa {{1 w}}

    test:
      suffix: galerkin
      args: -pc_mg_galerkin both

    test:
      suffix: full
      args: -pc_mg_type full -ksp_type gmres

    # factorizations that were chosen by hand shift zero pivots, too
    test:
      suffix: factors
      nsize: 1
      args: -mg_coarse_pc_type {{lu cholesky}}

    test:
      suffix: redundant
      nsize: {{1 3}}
      args: -mg_coarse_pc_type redundant -mg_coarse_redundant_pc_type {{lu cholesky svd}}

TEST*/
