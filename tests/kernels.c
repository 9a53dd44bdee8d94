static char help[] =
    "One solver, and operators with and without a kernel in turn: what one needed does not stay for the next.\n\n";

#include "poisson.h"

typedef struct {
  Poisson          p;
  PetscBool        user, rows, aij; /* interpolations are given; rows are scaled; no stencil as operator */
  MatType          type;
  KSPType          ksptype;
  const PetscReal *diagonal; /* what is added to the diagonal, in turn */
  DM               da;
  Vec              b, x;
} Problem;

/* Scaled by rows that differ, so that the kernel from the left is not the constants */
static PetscErrorCode Assemble(Problem *problem, PetscReal diagonal, Mat A)
{
  Vec d;

  PetscFunctionBeginUser;
  PetscCall(MatZeroEntries(A));
  PetscCall(PoissonAssemble(&problem->p, problem->da, A));
  if (problem->rows) {
    PetscCall(DMCreateGlobalVector(problem->da, &d));
    PetscCall(PoissonFill(&problem->p, problem->da, d));
    PetscCall(VecScale(d, 0.2));
    PetscCall(VecShift(d, 1.0));
    PetscCall(MatDiagonalScale(A, d, NULL));
    PetscCall(VecDestroy(&d));
  }
  if (diagonal != 0) PetscCall(MatShift(A, diagonal));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolver(Problem *problem, Mat A, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(MakeKSP(A, problem->ksptype, PCKCYCLE, ksp, &pc));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, 1e-300, PETSC_DEFAULT, 60));
  if (problem->user) PetscCall(PoissonGiveInterpolations(NULL, problem->da, pc, 3));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

/* A right side in the range of the operator */
static PetscErrorCode FillRightSide(Problem *problem, Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(PoissonFill(&problem->p, problem->da, problem->x));
  PetscCall(MatMult(A, problem->x, problem->b));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(Problem *problem, KSP ksp, Residuals *residuals, KSPConvergedReason *reason)
{
  PetscFunctionBeginUser;
  PetscCall(KSPMonitorCancel(ksp));
  PetscCall(KSPMonitorSet(ksp, KeepResiduals, residuals, NULL));
  PetscCall(VecSet(problem->x, 0));
  PetscCall(SolveSystem(ksp, problem->b, problem->x, NULL, reason));
  PetscFunctionReturn(0);
}

/* One solver against fresh ones; another matrix each time, or another diagonal in one */
static PetscErrorCode Turns(Problem *problem, PetscBool other, PetscBool *holds)
{
  KSP                ksp, fresh;
  Mat                A = NULL;
  Residuals          ours, theirs;
  KSPConvergedReason reason, freshreason;
  PetscBool          equal;

  PetscFunctionBeginUser;
  PetscCall(DMSetMatType(problem->da, problem->type));
  for (PetscInt turn = 0; turn < 4; turn++) {
    if (other) PetscCall(MatDestroy(&A));
    if (!A) PetscCall(DMCreateMatrix(problem->da, &A));
    PetscCall(Assemble(problem, problem->diagonal[turn], A));
    PetscCall(FillRightSide(problem, A));
    if (turn) PetscCall(KSPSetOperators(ksp, A, A));
    else PetscCall(CreateSolver(problem, A, &ksp));
    PetscCall(Solve(problem, ksp, &ours, &reason));
    PetscCall(CreateSolver(problem, A, &fresh));
    PetscCall(Solve(problem, fresh, &theirs, &freshreason));
    PetscCall(KSPDestroy(&fresh));
    PetscCall(ResidualsEqual(&ours, &theirs, &equal));
    if (equal && reason > 0) continue;
    *holds = PETSC_FALSE;
    PetscCall(Print("  NO: %s, %s, %s matrices, turn %" PetscInt_FMT ": %s in %" PetscInt_FMT
                    ", a fresh one %s in %" PetscInt_FMT "\n",
                    problem->ksptype, problem->type, other ? "other" : "same", turn, KSPConvergedReasons[reason],
                    ours.length - 1, KSPConvergedReasons[freshreason], theirs.length - 1));
  }
  PetscCall(DestroyAll(&A, &ksp));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const KSPType   ksptypes[2]    = {KSPCG, KSPRICHARDSON};
  const PetscReal diagonals[][4] = {{0, 1e-3, 0, 10}, {1e-3, 0, 1e-3, 0}};
  Problem         problem        = {0};
  PetscBool       holds          = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PoissonSetFromOptions(&problem.p));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-user", &problem.user, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-rows", &problem.rows, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-aij", &problem.aij, NULL));
  problem.p.neumann = PETSC_TRUE;
  problem.p.n       = 32;
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, &problem.p, &problem.da));
  PetscCall(DMCreateGlobalVector(problem.da, &problem.b));
  PetscCall(VecDuplicate(problem.b, &problem.x));
  for (int run = 0; run < 16; run++) {
    problem.ksptype  = problem.rows && run % 2 == 0 ? KSPGMRES : ksptypes[run % 2];
    problem.type     = run / 2 % 2 ? MATSTENCIL : MATAIJ;
    problem.diagonal = diagonals[run / 4 % 2];
    if (problem.aij && run / 2 % 2) continue;
    PetscCall(Turns(&problem, (PetscBool)(run / 8), &holds));
  }
  PetscCall(Claim(holds, "a solver that is used again gives the numbers of a fresh one"));
  PetscCall(DestroyAll(&problem.b, &problem.x, &problem.da));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    nsize: {{1 3}}
    output_file: output/kernels.out

    test:
      suffix: small
      args: -pc_kcycle_structured {{off auto}} -pc_kcycle_kappa {{1 3}}

    test:
      suffix: rows
      requires: !complex
      args: -rows -aij -pc_kcycle_structured {{off auto}}

    test:
      suffix: user
      args: -user -aij

  # one process: coarsening is not reproducible on several
  test:
    suffix: gamg
    requires: !complex
    args: -aij -pc_kcycle_hierarchy gamg -pc_gamg_reuse_interpolation 0
    output_file: output/kernels.out

TEST*/
