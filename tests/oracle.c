static char help[] = "The kappa-cycle against PCMG: V, W, full, additive and Kaskade multigrid give PCMG's numbers to "
                     "all printed digits.\n\n";

#include "poisson.h"

/* Residual norms of a solve, and norms of the solution */
static PetscErrorCode Keep(Residuals *history, PetscReal value)
{
  return KeepResiduals(NULL, history->length, value, history);
}

/* kappa 0: PCMG itself, with the given cycle */
static PetscErrorCode Solve(Poisson *p, PetscInt kappa, PCMGCycleType cycle, PetscBool monitored, Residuals *history)
{
  PetscInt  its;
  PetscReal norm;
  System    s = {0};

  PetscFunctionBeginUser;
  history->length = 0;
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, p, &s.da));
  PetscCall(PoissonMakeKSP(p, s.da, kappa ? PCKCYCLE : PCMG, &s.ksp, &s.pc));
  if (kappa && !Given("-without_kappa")) PetscCall(PCKCycleSetKappa(s.pc, kappa));
  PetscCall(KSPSetFromOptions(s.ksp));
  if (!kappa) PetscCall(PCMGSetCycleType(s.pc, cycle));
  if (monitored) PetscCall(KSPMonitorSet(s.ksp, KeepResiduals, history, NULL));
  PetscCall(DMCreateGlobalVector(s.da, &s.b));
  PetscCall(VecDuplicate(s.b, &s.x));
  PetscCall(PoissonFill(p, s.da, s.b));
  PetscCall(SolveSystem(s.ksp, s.b, s.x, &its, NULL));
  PetscCall(Keep(history, (PetscReal)its));
  PetscCall(VecNorm(s.x, NORM_2, &norm));
  PetscCall(Keep(history, norm));
  PetscCall(VecNorm(s.x, NORM_INFINITY, &norm));
  PetscCall(Keep(history, norm));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Poisson   p;
  Residuals v, w, one, two, many;
  PetscBool monitored = PETSC_TRUE, control = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PoissonSetFromOptions(&p));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-monitored", &monitored, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-control", &control, NULL));
  PetscCall(Solve(&p, 0, PC_MG_CYCLE_V, monitored, &v));
  PetscCall(Solve(&p, 1, PC_MG_CYCLE_V, monitored, &one));
  PetscCall(ClaimEqual(&v, &one, PETSC_TRUE, "kappa 1 is PCMG's V-cycle to all printed digits"));
  if (!Given("-only_v")) {
    PetscCall(Solve(&p, 0, PC_MG_CYCLE_W, monitored, &w));
    PetscCall(Solve(&p, PC_KCYCLE_KAPPA_W, PC_MG_CYCLE_V, monitored, &many));
    PetscCall(ClaimEqual(&w, &many, PETSC_TRUE, "kappa w is PCMG's W-cycle to all printed digits"));
    PetscCall(Solve(&p, 5, PC_MG_CYCLE_V, monitored, &many));
    PetscCall(ClaimEqual(&w, &many, PETSC_TRUE, "so is kappa 5 on 5 levels"));
  }
  if (control && !Given("-only_v")) {
    PetscCall(Solve(&p, 2, PC_MG_CYCLE_V, monitored, &two));
    PetscCall(ClaimEqual(&v, &two, PETSC_FALSE, "kappa 2 is neither"));
    PetscCall(ClaimEqual(&w, &two, PETSC_FALSE, "kappa 2 is neither"));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -pc_kcycle_structured off -pc_mg_levels 5 -ksp_rtol 1e-10
    nsize: {{1 4}}
    output_file: output/oracle.out

    test:
      suffix: preconditioner
      args: -n 65 -ksp_type {{cg gmres}} -pc_mg_galerkin {{none both}}

    test:
      suffix: solver_monitored
      args: -n 33 -ksp_type richardson -ksp_max_it 30

    test:
      suffix: solver_unmonitored
      args: -n 33 -ksp_type richardson -monitored 0 -ksp_max_it 3

    test:
      suffix: guess
      args: -n 33 -ksp_type richardson -monitored 0 -ksp_initial_guess_nonzero -ksp_max_it 3

    test:
      suffix: solver_converged
      args: -n 33 -ksp_type richardson -monitored 0 -control 0
      output_file: output/oracle_converged.out

    test:
      suffix: 3d
      args: -dim 3 -n 17 -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1

    test:
      suffix: two_cycles
      args: -dim 1 -n 129 -mg_levels_pc_type jacobi -pc_mg_multiplicative_cycles 2 -anisotropy 3

    test:
      suffix: full
      args: -n 65 -pc_mg_type full -ksp_type gmres

  testset:
    args: -pc_kcycle_structured off -pc_mg_levels 5 -ksp_rtol 1e-10 -only_v
    nsize: {{1 2}}
    output_file: output/oracle_v.out

    test:
      suffix: distinct
      args: -n 65 -pc_mg_distinct_smoothup -mg_levels_up_ksp_max_it 3 -ksp_type gmres

    test:
      suffix: other_types
      args: -n 33 -ksp_type gmres -pc_mg_type {{additive kaskade}} -without_kappa

  test:
    suffix: eisenstat
    nsize: 1
    args: -pc_kcycle_structured off -pc_mg_levels 5 -ksp_rtol 1e-10 -only_v -n 33 -ksp_type gmres -mg_levels_pc_type eisenstat -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1
    output_file: output/oracle_v.out

TEST*/
