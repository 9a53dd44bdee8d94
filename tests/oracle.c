static char help[] = "The kappa-cycle against PCMG: V, W, full, additive and Kaskade multigrid give PCMG's numbers to "
                     "all printed digits.\n\n";

#include "poisson.h"

#define MAX_HISTORY 100

/* What a solve left behind, as text: the residual norms, and norms of the solution */
typedef struct {
  PetscInt length;
  char     line[MAX_HISTORY][32];
} History;

static PetscErrorCode HistoryAdd(History *h, PetscReal value)
{
  PetscFunctionBeginUser;
  PetscCheck(h->length < MAX_HISTORY, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "History too long");
  PetscCall(PetscSNPrintf(h->line[h->length++], sizeof(h->line[0]), "%14.12e", (double)value));
  PetscFunctionReturn(0);
}

static PetscErrorCode Monitor(KSP ksp, PetscInt it, PetscReal rnorm, void *ctx)
{
  (void)ksp;
  (void)it;
  return HistoryAdd((History *)ctx, rnorm);
}

/* kappa 0: PCMG itself, with the given cycle */
static PetscErrorCode Solve(Poisson *p, PetscInt kappa, PCMGCycleType cycle, PetscBool monitored, History *history)
{
  DM        da;
  KSP       ksp;
  PC        pc;
  Vec       b, x;
  PetscInt  its;
  PetscReal norm;
  PetscBool without;

  PetscFunctionBeginUser;
  history->length = 0;
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, p, &da));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, da));
  PetscCall(KSPSetComputeOperators(ksp, PoissonComputeOperators, p));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, kappa ? PCKCYCLE : PCMG));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-without_kappa", &without));
  if (kappa && !without) PetscCall(PCKCycleSetKappa(pc, kappa));
  PetscCall(KSPSetFromOptions(ksp));
  if (!kappa) PetscCall(PCMGSetCycleType(pc, cycle));
  if (monitored) PetscCall(KSPMonitorSet(ksp, Monitor, history, NULL));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(PoissonFill(p, da, b));
  PetscCall(SolveSystem(ksp, b, x, &its, NULL));
  PetscCall(HistoryAdd(history, (PetscReal)its));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(HistoryAdd(history, norm));
  PetscCall(VecNorm(x, NORM_INFINITY, &norm));
  PetscCall(HistoryAdd(history, norm));
  PetscCall(DestroyAll(&b, &x, &ksp, &da));
  PetscFunctionReturn(0);
}

static PetscErrorCode Compare(const char claim[], const History *a, const History *b, PetscBool expect_same)
{
  PetscBool same = (PetscBool)(a->length == b->length);

  PetscFunctionBeginUser;
  for (PetscInt i = 0; same && i < a->length; i++) PetscCall(PetscStrcmp(a->line[i], b->line[i], &same));
  PetscCall(ClaimThat(same == expect_same, "%s", claim));
  if (same == expect_same) PetscFunctionReturn(0);
  for (PetscInt i = 0; i < PetscMax(a->length, b->length); i++) {
    PetscCall(Print("  %3" PetscInt_FMT "  %20s  %20s\n", i, i < a->length ? a->line[i] : "",
                    i < b->length ? b->line[i] : ""));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Poisson   p;
  History   v, w, one, two, many;
  PetscBool monitored = PETSC_TRUE, control = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PoissonSetFromOptions(&p));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-monitored", &monitored, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-control", &control, NULL));
  PetscCall(Solve(&p, 0, PC_MG_CYCLE_V, monitored, &v));
  PetscCall(Solve(&p, 1, PC_MG_CYCLE_V, monitored, &one));
  PetscCall(Compare("kappa 1 is PCMG's V-cycle to all printed digits", &v, &one, PETSC_TRUE));
  if (!Given("-only_v")) {
    PetscCall(Solve(&p, 0, PC_MG_CYCLE_W, monitored, &w));
    PetscCall(Solve(&p, PC_KCYCLE_KAPPA_W, PC_MG_CYCLE_V, monitored, &many));
    PetscCall(Compare("kappa w is PCMG's W-cycle to all printed digits", &w, &many, PETSC_TRUE));
    PetscCall(Solve(&p, 5, PC_MG_CYCLE_V, monitored, &many));
    PetscCall(Compare("so is kappa 5 on 5 levels", &w, &many, PETSC_TRUE));
  }
  if (control && !Given("-only_v")) {
    PetscCall(Solve(&p, 2, PC_MG_CYCLE_V, monitored, &two));
    PetscCall(Compare("kappa 2 is neither", &v, &two, PETSC_FALSE));
    PetscCall(Compare("kappa 2 is neither", &w, &two, PETSC_FALSE));
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
