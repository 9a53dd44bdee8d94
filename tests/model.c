static char help[] =
    "The model of the time of a cycle: what is predicted is the sum over visits of levels, whose times come\n\
from cycles that were timed, or are made up.\n\
  -n points in each direction; -view shows what cycles come to, with times that are known\n\n";

#include "poisson.h"
#include <petsckcycle/private/modelimpl.h>
#include <petsc/private/petscimpl.h>

#define ALPHA 2e-6 /* of a made-up machine */
#define BETA  1e-9

static const PetscInt Kappas[] = {1, 2, 3, 4, PC_KCYCLE_KAPPA_W};

static PetscErrorCode CreateSolver(Poisson *p, PetscBool calibrate, KSP *ksp)
{
  System s = {0};

  PetscFunctionBeginUser;
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, p, &s.da));
  PetscCall(DMCreateMatrix(s.da, &s.A));
  PetscCall(PoissonAssemble(p, s.da, s.A));
  PetscCall(MakeKSP(s.A, NULL, PCKCYCLE, ksp, &s.pc));
  if (calibrate) PetscCall(PCKCycleSetCalibrate(s.pc, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* As tests alone can have it; fit: its times have been replaced */
static PetscErrorCode GetModel(PC pc, PetscBool fit, KCycleModel **model)
{
  PetscFunctionBeginUser;
  PetscUseMethod(pc, "PCKCycleGetModel_C", (PC, PetscBool, KCycleModel **), (pc, fit, model));
  PetscFunctionReturn(0);
}

/* The recursion itself, without its arithmetic; level 0 is the finest */
static PetscReal Recursion(const KCycleModel *c, PetscInt kappa, PetscInt level, PetscBool zero)
{
  const PetscReal own = c->level[level].seconds[zero ? 0 : 1];

  if (level == c->nlevels - 1) return own;
  return own + Recursion(c, kappa, level + 1, PETSC_TRUE) +
         (kappa > 1 ? Recursion(c, kappa - 1, level + 1, PETSC_FALSE) : 0);
}

static PetscErrorCode ComparePredictions(PC pc, const char what[])
{
  PetscBool    sums = PETSC_TRUE, grow = PETSC_TRUE, same = PETSC_TRUE;
  PetscReal    before = 0;
  KCycleModel *c;

  PetscFunctionBeginUser;
  PetscCall(GetModel(pc, PETSC_FALSE, &c));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(Kappas); i++) {
    const double expected = c->outside + Recursion(c, Kappas[i], 0, PETSC_TRUE);
    PetscReal    seconds, most[2], own[2];

    PetscCall(PCKCyclePredictTime(pc, Kappas[i], &seconds));
    if (!(seconds > 0) || PetscAbs(seconds - expected) > 1e-6 * expected) sums = PETSC_FALSE;
    if (seconds < before) grow = PETSC_FALSE;
    before = seconds;
    own[0] = seconds;
    own[1] = -seconds;
    PetscCallMPI(MPI_Allreduce(own, most, 2, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
    if (most[0] + most[1] != 0) same = PETSC_FALSE;
  }
  PetscCall(ClaimThat(sums, "%s: predictions are sums over the visits of Algorithm 3", what));
  PetscCall(ClaimThat(grow, "%s: they grow with kappa", what));
  PetscCall(ClaimThat(same, "%s: all processes have the same", what));
  PetscFunctionReturn(0);
}

/* Times, and what does not change them */
static PetscErrorCode TimeCycles(Poisson *p)
{
  KSP               ksp;
  PC                pc;
  PetscReal         first, later;
  PetscInt          nlevels;
  const PetscInt64 *calls;
  KCycleModel      *model;
  Mat               A;
  Vec               x, b;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(p, PETSC_TRUE, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PCKCycleGetLevelCalls(pc, &nlevels, &calls));
  PetscCall(Claim(calls[0] == 0 && calls[nlevels - 1] == 0, "cycles that are timed do not count"));
  PetscCall(ComparePredictions(pc, "timed"));
  PetscCall(PCKCyclePredictTime(pc, 2, &first));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatScale(A, 2));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(PCKCyclePredictTime(pc, 2, &later));
  PetscCall(Claim(first == later, "times are kept for other values"));
  PetscCall(GetModel(pc, PETSC_FALSE, &model));
  model->level[0].seconds[0] = 1000;
  PetscCall(PetscObjectReference((PetscObject)A));
  PetscCall(KSPReset(ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(MatDestroy(&A));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(PCKCyclePredictTime(pc, 2, &later));
  PetscCall(Claim(later > 0 && later < 1000, "they are taken anew after KSPReset()"));
  PetscCall(DestroyAll(&x, &b, &ksp));
  PetscFunctionReturn(0);
}

/* Times as the model has them */
static PetscErrorCode MakeUp(Poisson *p, PetscBool view)
{
  KSP          ksp;
  PC           pc;
  KCycleModel *model;
  Mat          A;
  Vec          x, b;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(p, PETSC_TRUE, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPSetUp(ksp));
  PetscCall(GetModel(pc, PETSC_FALSE, &model));
  for (PetscInt l = 0; l < model->nlevels; l++) {
    KCycleModelLevel *level = &model->level[l];

    level->seconds[0] = level->seconds[1] = ALPHA * (level->launches + level->messages) + BETA * level->operations;
  }
  model->outside = 0;
  PetscCall(GetModel(pc, PETSC_TRUE, &model));
  if (!view) PetscCall(ComparePredictions(pc, "made up"));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  for (int i = 0; i < 3; i++) PetscCall(PCApply(pc, b, x));
  if (view) PetscCall(KSPView(ksp, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(DestroyAll(&x, &b, &ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode Refuse(Poisson *p)
{
  KSP            ksp;
  PC             pc;
  PetscReal      seconds;
  PetscErrorCode ierr;
  PetscBool      calibrate;
  char           text[ERROR_LENGTH] = "";

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(p, PETSC_FALSE, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscPushErrorHandler(KeepError, text));
  ierr = PCKCyclePredictTime(pc, 1, &seconds);
  PetscCall(Print("before set-up: %s\n", ierr ? text : "NO error"));
  PetscCall(PetscPopErrorHandler());
  PetscCall(KSPSetUp(ksp));
  PetscCall(PCKCycleGetCalibrate(pc, &calibrate));
  PetscCall(PetscPushErrorHandler(KeepError, text));
  ierr = PCKCyclePredictTime(pc, 1, &seconds);
  PetscCall(Print("nothing timed: %s\n", ierr && !calibrate ? text : "NO error"));
  ierr = PCKCyclePredictTime(pc, 0, &seconds);
  PetscCall(Print("kappa 0: %s\n", ierr ? text : "NO error"));
  PetscCall(PetscPopErrorHandler());
  PetscCall(KSPDestroy(&ksp));
  PetscCall(CreateSolver(p, PETSC_FALSE, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCKCycleSetCalibrate(pc, PETSC_TRUE));
  PetscCall(PCMGSetType(pc, PC_MG_ADDITIVE));
  KeepErrorOf(KSPSetUp(ksp), ierr, text);
  PetscCall(Print("additive: %s\n", ierr ? text : "NO error"));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

/* What is timed is work: solvers of the coarsest problem of a singular operator have some, too */
static PetscErrorCode Work(Poisson *p)
{
  KSP      ksp, coarse;
  PetscInt its;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(p, PETSC_FALSE, &ksp));
  PetscCall(PCKCycleSetCalibrate(PCOf(ksp), PETSC_TRUE));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PCMGGetCoarseSolve(PCOf(ksp), &coarse));
  PetscCall(KSPGetTotalIterations(coarse, &its));
  PetscCall(Claim(its > 0, "the coarsest problem is solved while cycles are timed"));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

/* With the options that there are */
static PetscErrorCode Once(Poisson *p)
{
  KSP       ksp;
  PetscReal seconds;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(p, PETSC_FALSE, &ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PCKCyclePredictTime(PCOf(ksp), PC_KCYCLE_KAPPA_W, &seconds));
  PetscCall(Claim(seconds > 0, "there is a prediction"));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Poisson p;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PoissonSetFromOptions(&p));
  if (Given("-once")) PetscCall(Once(&p));
  else if (Given("-work")) PetscCall(Work(&p));
  else {
    PetscCall(TimeCycles(&p));
    PetscCall(MakeUp(&p, Given("-view")));
  }
  if (Given("-refuse")) PetscCall(Refuse(&p));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -n 65 -ksp_type cg -pc_kcycle_precision double

    test:
      suffix: levels
      nsize: {{1 2 4}}
      args: -pc_kcycle_structured {{auto off}}

    test:
      suffix: solvers
      nsize: {{1 3}}
      output_file: output/model_levels.out
      args: -n 33 -ksp_type {{cg richardson}} -pc_kcycle_process_eq_limit {{0 2000}} -mg_levels_pc_relax_type {{jacobi zebra_x}}

    test:
      suffix: gamg
      nsize: {{1 2}}
      output_file: output/model_levels.out
      args: -pc_kcycle_hierarchy gamg

    test:
      suffix: full
      nsize: 2
      output_file: output/model_levels.out
      args: -pc_mg_type full

    test:
      suffix: single
      nsize: 2
      output_file: output/model_levels.out
      args: -pc_kcycle_precision single

    test:
      suffix: one
      output_file: output/model_levels.out
      args: -pc_mg_levels 1

    test:
      suffix: refuse
      args: -refuse -n 33 -ksp_type richardson -mg_levels_pc_relax_type jacobi

  testset:
    args: -view -n 65 -mg_levels_pc_relax_type jacobi
    filter: sed -n "s|: [-.0-9e]* s a cycle.*turning|, turning|; s|: [-.0-9e]* s, again.*||; /model:/p; /kappa [1-9w]:/p; /a visit of level/p; s| cycles, [-.0-9e]* s each.*| cycles|; /since then/p"

    test:
      suffix: view

    test:
      suffix: view_parallel
      nsize: 2
      args: -pc_kcycle_process_eq_limit 600

  test:
    suffix: work
    nsize: {{1 3}}
    args: -work -n 33 -ksp_type cg -neumann -pc_mg_levels {{1 2}} -mg_coarse_ksp_type cg -mg_coarse_pc_type jacobi

  test:
    suffix: once
    args: -once -pc_kcycle_calibrate

TEST*/
