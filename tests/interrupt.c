static char help[] =
    "An error inside of KSPSolve() leaves the solver as it was: operators, references, and solves that follow.\n\
  -setup  an error inside of a set-up\n\n";

#include "poisson.h"
#include <petsc/private/petscimpl.h>
#include <petsckcycle/private/compat.h>

typedef struct {
  Poisson  p;
  DM       da;
  Mat      A, other;
  KSP      ksp;
  Vec      b, x;
  PetscInt stop; /* iteration in which the monitor fails; -1: never */
  PetscBool
      inside; /* of the solve operators are the program's; their products, of a stencil if levels are structured */
} Problem;

static PetscErrorCode Monitor(KSP ksp, PetscInt it, PetscReal rnorm, void *ctx)
{
  Problem               *problem = (Problem *)ctx;
  Mat                    A, P;
  PetscObject            stencil;
  PCKCycleStructuredType structured;

  PetscFunctionBeginUser;
  (void)rnorm;
  PetscCall(KSPGetOperators(ksp, &A, &P));
  PetscCall(PCKCycleGetStructured(PCOf(ksp), &structured));
  PetscCall(PetscObjectQuery((PetscObject)A, "KCycleProducts", &stencil));
  if (!stencil != (structured == PC_KCYCLE_STRUCTURED_OFF) || A != P || (P != problem->A && P != problem->other))
    problem->inside = PETSC_FALSE;
  PetscCheck(it != problem->stop, PETSC_COMM_SELF, PETSC_ERR_USER, "The monitor of iteration %" PetscInt_FMT " fails",
             it);
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(Problem *problem)
{
  PetscFunctionBeginUser;
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, &problem->p, &problem->da));
  PetscCall(DMCreateMatrix(problem->da, &problem->A));
  PetscCall(PoissonAssemble(&problem->p, problem->da, problem->A));
  PetscCall(MatSetOption(problem->A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatDuplicate(problem->A, MAT_COPY_VALUES, &problem->other));
  PetscCall(MatShift(problem->other, 0.7));
  PetscCall(DMCreateGlobalVector(problem->da, &problem->b));
  PetscCall(VecDuplicate(problem->b, &problem->x));
  PetscCall(PoissonFill(&problem->p, problem->da, problem->b));
  PetscCall(MakeSolver(problem->A, KSPCG, 1e-10, 60, &problem->ksp));
  PetscCall(KSPMonitorSet(problem->ksp, Monitor, problem, NULL));
  problem->stop   = -1;
  problem->inside = PETSC_TRUE;
  PetscFunctionReturn(0);
}

static PetscErrorCode Destroy(Problem *problem)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&problem->ksp));
  PetscCall(Claim(((PetscObject)problem->A)->refct == 1 && ((PetscObject)problem->other)->refct == 1,
                  "the solver has returned all references to operators"));
  PetscCall(DestroyAll(&problem->b, &problem->x, &problem->A, &problem->other, &problem->da));
  PetscFunctionReturn(0);
}

/* A solve that fails; is everything as it was? */
static PetscErrorCode Interrupt(Problem *problem, PetscInt stop, PetscBool transpose, PetscBool *same)
{
  PetscErrorCode ierr;
  PetscInt       before, after;
  PetscObject    products;
  Mat            A, P;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectGetReference((PetscObject)problem->A, &before));
  problem->stop = stop;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = transpose ? KSPSolveTranspose(problem->ksp, problem->b, problem->x)
                   : KSPSolve(problem->ksp, problem->b, problem->x);
  PetscCall(PetscPopErrorHandler());
  problem->stop = -1;
  PetscCall(KSPGetOperators(problem->ksp, &A, &P));
  PetscCall(PetscObjectGetReference((PetscObject)problem->A, &after));
  PetscCall(PetscObjectQuery((PetscObject)A, "KCycleProducts", &products));
  *same = (PetscBool)(*same && ierr && A == problem->A && P == problem->A && after == before && !products);
  PetscFunctionReturn(0);
}

/* A solve that converges in as many iterations as that of a fresh solver, to the solution for this operator */
static PetscErrorCode Judge(Problem *problem, Mat A, const char claim[])
{
  PetscInt           its, fresh;
  PetscReal          residual;
  KSPConvergedReason reason;
  KSP                ksp;

  PetscFunctionBeginUser;
  PetscCall(VecSet(problem->x, 0));
  PetscCall(SolveSystem(problem->ksp, problem->b, problem->x, &its, &reason));
  PetscCall(RelativeResidual(A, problem->b, problem->x, &residual));
  PetscCall(MakeSolver(A, KSPCG, 1e-10, 60, &ksp));
  PetscCall(SolveSystem(ksp, problem->b, problem->x, &fresh, NULL));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(Claim(reason > 0 && its == fresh && residual < 1e-8, claim));
  if (its != fresh || residual >= 1e-8)
    PetscCall(Print("  %" PetscInt_FMT " iterations, %" PetscInt_FMT " of a fresh solver, residual %g\n", its, fresh,
                    (double)residual));
  PetscFunctionReturn(0);
}

/* Not converged is an error, too */
static PetscErrorCode NotConverged(Problem *problem)
{
  PetscBool same = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(KSPSetErrorIfNotConverged(problem->ksp, PETSC_TRUE));
  PetscCall(KSPSetTolerances(problem->ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 1));
  PetscCall(Interrupt(problem, -1, PETSC_FALSE, &same));
  PetscCall(KSPSetErrorIfNotConverged(problem->ksp, PETSC_FALSE));
  PetscCall(KSPSetTolerances(problem->ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 60));
  PetscCall(Claim(same, "after -ksp_error_if_not_converged the solver has the operators and references that it had"));
  PetscFunctionReturn(0);
}

/* Assembles, or fails: on the level whose grid has this number of points */
typedef struct {
  Poisson  p;
  PetscInt fails;
} Assembly;

static PetscErrorCode ComputeOperators(KSP ksp, Mat J, Mat A, void *ctx)
{
  Assembly *assembly = (Assembly *)ctx;
  DM        da;
  PetscInt  n;

  PetscFunctionBeginUser;
  (void)J;
  PetscCall(KSPGetDM(ksp, &da));
  PetscCall(DMDAGetInfo(da, NULL, &n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCheck(n != assembly->fails, PETSC_COMM_SELF, PETSC_ERR_USER, "The assembly on %" PetscInt_FMT " points fails",
             n);
  PetscCall(PoissonAssemble(&assembly->p, da, A));
  PetscFunctionReturn(0);
}

/* Set-up fails, the first one or a later one, on a coarse level; the next one does not */
static PetscErrorCode SetUpFails(Problem *problem, PetscBool first)
{
  Assembly           assembly = {problem->p, -1};
  KSP                ksp;
  PetscErrorCode     ierr;
  PetscReal          residual;
  PetscInt           its;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, problem->da));
  PetscCall(KSPSetComputeOperators(ksp, ComputeOperators, &assembly));
  PetscCall(KCycleKSPSetDMInactive(ksp)); /* the finest operator does not come from there */
  PetscCall(KSPSetOperators(ksp, problem->A, problem->A));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 30));
  /* after an error KSPGMRES makes its vectors again, and loses those that it had */
  PetscCall(KSPSetType(ksp, KSPCG));
  /* so the tolerance holds for the residual that is looked at */
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(PCSetType(PCOf(ksp), PCKCYCLE));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_mg_galerkin", "none")); /* coarse operators are assembled */
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_mg_galerkin"));
  if (!first) PetscCall(KSPSolve(ksp, problem->b, problem->x));
  assembly.p.anisotropy = first ? 0.5 : 0.8;
  PetscCall(MatZeroEntries(problem->A));
  PetscCall(PoissonAssemble(&assembly.p, problem->da, problem->A));
  assembly.fails = 1 + (problem->p.n - 1) / 4;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = KSPSolve(ksp, problem->b, problem->x);
  PetscCall(PetscPopErrorHandler());
  assembly.fails = -1;
  PetscCall(SolveSystem(ksp, problem->b, problem->x, &its, &reason));
  PetscCall(RelativeResidual(problem->A, problem->b, problem->x, &residual));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(Claim(ierr && reason > 0 && its < 25 && residual < 1e-8,
                  first ? "after a first set-up with an error the next solve is right" : "after a later one, too"));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem   problem = {0};
  PetscBool same    = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PoissonSetFromOptions(&problem.p));
  PetscCall(Create(&problem));
  if (Given("-setup")) {
    PetscCall(SetUpFails(&problem, PETSC_TRUE));
    PetscCall(SetUpFails(&problem, PETSC_FALSE));
    PetscCall(Destroy(&problem));
    PetscCall(PetscFinalize());
    return 0;
  }
  PetscCall(KSPSetUp(problem.ksp));
  /* first: PETSc counts levels of solves, and does not forget those that errors have ended */
  PetscCall(NotConverged(&problem));
  for (PetscInt i = 0; i < 4; i++) PetscCall(Interrupt(&problem, i % 3, (PetscBool)(i == 2), &same));
  PetscCall(Claim(same, "after an error the solver has the operators and references that it had"));
  PetscCall(Judge(&problem, problem.A, "the next solve is right"));
  PetscCall(Claim(problem.inside,
                  "inside of a solve operators are the program's, and products use the stencil of structured levels"));
  PetscCall(MatScale(problem.A, 3));
  PetscCall(Judge(&problem, problem.A, "and the one with other values"));
  PetscCall(Interrupt(&problem, 1, PETSC_FALSE, &same));
  PetscCall(KSPSetOperators(problem.ksp, problem.other, problem.other));
  PetscCall(Judge(&problem, problem.other, "and the one with another operator"));
  PetscCall(KSPSetOperators(problem.ksp, problem.A, problem.A));
  PetscCall(KSPSetUp(problem.ksp));
  PetscCall(Interrupt(&problem, 0, PETSC_FALSE, &same));
  PetscCall(KSPReset(problem.ksp));
  PetscCall(KSPSetOperators(problem.ksp, problem.A, problem.A));
  PetscCall(Judge(&problem, problem.A, "and the one after a reset"));
  PetscCall(Interrupt(&problem, 1, PETSC_FALSE, &same));
  PetscCall(Claim(same, "each error has left everything as it was"));
  PetscCall(Destroy(&problem));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: small
    nsize: {{1 3}}
    args: -pc_kcycle_structured {{off auto}}
    output_file: output/interrupt.out

  test:
    suffix: setup
    nsize: {{1 3}}
    args: -setup -pc_kcycle_structured {{off auto}}

TEST*/
