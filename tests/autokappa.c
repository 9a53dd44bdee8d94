static char help[] =
    "The choice of kappa, by estimates of convergence that do not depend on the number of processes, and by times of\n\
cycles. The times are made up for some machines. -view shows the estimates.\n\n";

#include "poisson.h"
#include <petsckcycle/private/modelimpl.h>
#include <petsc/private/petscimpl.h>
#include <unistd.h>

static char ViewName[64];

/* An operator whose strong couplings lie along x, by a factor */
static PetscErrorCode CreateMatrix(Poisson *p, PetscReal anisotropy, Mat *A)
{
  DM da;

  PetscFunctionBeginUser;
  p->anisotropy = anisotropy;
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, p, &da));
  PetscCall(DMCreateMatrix(da, A));
  PetscCall(PoissonAssemble(p, da, *A));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolver(Poisson *p, PetscInt kappa, KSP *ksp)
{
  Mat A;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(p, 4, &A));
  PetscCall(MakeKSP(A, NULL, PCKCYCLE, ksp, &pc));
  PetscCall(PCKCycleSetKappa(pc, kappa));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/* The line of the view that says what the choice has cost; empty: there is none */
static PetscErrorCode ReadView(KSP ksp, char line[512])
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, ViewName, &viewer));
  PetscCall(KSPView(ksp, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  if (!PetscGlobalRank) {
    FILE *file = fopen(ViewName, "r");
    char  factor[256];

    line[0] = 0;
    while (file && fgets(line, 256, file) && !strstr(line, "kappa was chosen")) line[0] = 0;
    if (file && line[0] && fgets(factor, 256, file)) { /* times alone may be the same by chance */
      if (strstr(factor, " iterations")) *strstr(factor, " iterations") = 0;
      strcat(line, factor);
    }
    if (file) (void)fclose(file);
    (void)unlink(ViewName);
  }
  PetscCallMPI(MPI_Bcast(line, 512, MPI_CHAR, 0, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(KSP ksp, PetscInt *kappa, PetscBool *fine)
{
  Mat                A;
  Vec                x, b;
  PetscInt           own[2], most[2];
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(A, x, b)); /* which a singular operator has a solution for */
  PetscCall(SolveSystem(ksp, b, x, NULL, &reason));
  PetscCall(PCKCycleGetKappa(PCOf(ksp), kappa));
  own[0] = *kappa;
  own[1] = -*kappa;
  PetscCallMPI(MPI_Allreduce(own, most, 2, MPIU_INT, MPI_MAX, PETSC_COMM_WORLD));
  *fine = (PetscBool)(reason > 0 && most[0] == -most[1] && ((*kappa > 0 && *kappa < 5) || *kappa == PC_KCYCLE_KAPPA_W));
  PetscCall(DestroyAll(&x, &b));
  PetscFunctionReturn(0);
}

/* On a machine on which a visit of the finest level takes a second, and one of others this long */
static PetscErrorCode ChooseOn(Poisson *p, PetscReal coarse, PetscInt *kappa)
{
  KSP          ksp;
  KCycleModel *model;
  PetscBool    fine;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(p, 1, &ksp));
  PetscCall(PCKCycleSetCalibrate(PCOf(ksp), PETSC_TRUE));
  PetscCall(KSPSetUp(ksp));
  PetscUseMethod(PCOf(ksp), "PCKCycleGetModel_C", (PC, PetscBool, KCycleModel **), (PCOf(ksp), PETSC_FALSE, &model));
  for (PetscInt l = 0; l < model->nlevels; l++)
    model->level[l].seconds[0] = model->level[l].seconds[1] = l ? coarse : 1;
  PetscCall(PCKCycleSetKappa(PCOf(ksp), PC_KCYCLE_KAPPA_AUTO));
  PetscCall(Solve(ksp, kappa, &fine));
  PetscCall(Claim(fine, "a solve with the chosen kappa converges"));
  if (p->scale > 1) PetscCall(KSPView(ksp, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

/* With the clock of this machine */
static PetscErrorCode Remember(Poisson *p)
{
  KSP               ksp;
  PC                pc;
  Mat               A;
  PetscInt          before, after, nlevels;
  const PetscInt64 *calls;
  PetscBool         fine;
  char              first[512], second[512];

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(p, PC_KCYCLE_KAPPA_AUTO, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCKCycleGetKappa(pc, &before));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PCKCycleGetKappa(pc, &after));
  PetscCall(PCKCycleGetLevelCalls(pc, &nlevels, &calls));
  PetscCall(Claim(before == PC_KCYCLE_KAPPA_AUTO && after > 0, "set-up chooses"));
  PetscCall(Claim(calls[0] == 0 && calls[nlevels - 1] == 0, "its cycles do not count"));
  PetscCall(Solve(ksp, &after, &fine));
  PetscCall(Claim(fine, "one of the candidates, the same on all processes, with which solves converge"));
  PetscCall(ReadView(ksp, first));
  PetscCall(Solve(ksp, &after, &fine));
  PetscCall(ReadView(ksp, second));
  PetscCall(Claim(first[0] && !strcmp(first, second), "the next solve remembers it"));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatScale(A, 1000));
  PetscCall(Solve(ksp, &after, &fine));
  PetscCall(ReadView(ksp, second));
  PetscCall(Claim(!strcmp(first, second), "and so does one with another size of the operator"));
  PetscCall(CreateMatrix(p, 40, &A));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(MatDestroy(&A));
  PetscCall(Solve(ksp, &after, &fine));
  PetscCall(ReadView(ksp, second));
  PetscCall(Claim(fine && strcmp(first, second), "with another operator it is chosen anew"));
  PetscCall(PCKCycleSetKappa(pc, 3));
  PetscCall(Solve(ksp, &after, &fine));
  PetscCall(ReadView(ksp, second));
  PetscCall(Claim(fine && after == 3 && !second[0], "a kappa that is given is taken"));
  PetscCall(PCKCycleSetKappa(pc, PC_KCYCLE_KAPPA_AUTO));
  PetscCall(Solve(ksp, &after, &fine));
  PetscCall(ReadView(ksp, second));
  PetscCall(Claim(fine && second[0], "a solver that is set up can be told to choose"));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode Refuse(Poisson *p)
{
  KSP            ksp;
  Mat            A;
  Vec            x, b;
  PetscErrorCode ierr;
  char           text[ERROR_LENGTH] = "";

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(p, PC_KCYCLE_KAPPA_AUTO, &ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(PCMGSetType(PCOf(ksp), PC_MG_ADDITIVE));
  KeepErrorOf(KSPSolve(ksp, b, x), ierr, text);
  PetscCall(DestroyAll(&x, &b));
  PetscCall(Print("additive: %s\n", ierr ? text : "NO error"));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Poisson   p;
  PetscInt  costly, cheap;
  PetscBool view = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PoissonSetFromOptions(&p));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-view", &view, NULL));
  PetscCall(PetscSNPrintf(ViewName, sizeof(ViewName), "autokappa-view-%d.txt", PetscGlobalSize));
  if (view) p.scale = 2;
  if (Given("-machines") || view) {
    PetscCall(ChooseOn(&p, 0, &cheap));
    if (!view) PetscCall(ChooseOn(&p, 5, &costly));
    if (!view) PetscCall(Claim(cheap > 1, "where coarse levels cost nothing, more than V"));
    if (!view) PetscCall(Claim(costly == 1, "where they cost more than the finest one, V"));
  } else PetscCall(Remember(&p));
  if (Given("-refuse")) PetscCall(Refuse(&p));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -n 65 -ksp_max_it 1000

    test:
      suffix: remember
      nsize: {{1 2 4}}
      args: -ksp_type {{cg gmres}} -pc_kcycle_structured {{auto off}} -mg_levels_ksp_type richardson

    test:
      suffix: alone
      nsize: {{1 3}}
      output_file: output/autokappa_remember.out
      args: -ksp_type richardson -pc_kcycle_precision {{double single}} -pc_kcycle_kappa auto

    test:
      suffix: gamg
      nsize: 2
      output_file: output/autokappa_remember.out
      args: -ksp_type cg -pc_kcycle_hierarchy gamg

    test:
      suffix: full
      output_file: output/autokappa_remember.out
      args: -ksp_type gmres -pc_mg_type full

    test:
      suffix: cycles
      output_file: output/autokappa_remember.out
      args: -ksp_type gmres -pc_mg_multiplicative_cycles 2

    test:
      suffix: singular
      nsize: 2
      output_file: output/autokappa_remember.out
      args: -ksp_type gmres -neumann -n 64

    test:
      suffix: machines
      nsize: {{1 2}}
      args: -machines -ksp_type richardson -pc_kcycle_semicoarsen xy -pc_kcycle_anisotropy off -mg_levels_pc_relax_type jacobi

    test:
      suffix: refuse
      args: -refuse -machines -ksp_type richardson -pc_kcycle_semicoarsen xy -pc_kcycle_anisotropy off -mg_levels_pc_relax_type jacobi

    test:
      suffix: view
      nsize: {{1 2 4}}
      args: -view -ksp_type richardson -pc_kcycle_semicoarsen xy -pc_kcycle_anisotropy off -mg_levels_pc_relax_type jacobi
      filter: sed -n "s|, by [0-9]* cycles, in .*||; s|, eigenvalues.*digit||; /kappa was chosen/p; /error factor/p"

    test:
      suffix: view_singular
      nsize: {{1 3}}
      args: -view -ksp_type gmres -neumann -n 64
      filter: sed -n "s|, by [0-9]* cycles, in .*||; s|, eigenvalues.*digit||; /kappa was chosen/p; /error factor/p"

TEST*/
