static char help[] =
    "The model of the time of a cycle: what is predicted is the sum over visits of levels, whose times come\n\
from cycles that were timed, or from a file, which must be one of these levels.\n\
  -n points in each direction; -view shows what cycles come to, with times that are known\n\n";

#include "poisson.h"
#include <unistd.h>

#define ALPHA 2e-6 /* of a made-up machine */
#define BETA  1e-9
#define MOST  20

typedef struct {
  int    processes, nlevels;
  double rows[MOST], launches[MOST], operations[MOST], messages[MOST], zero[MOST], again[MOST], outside;
  char   solver[MOST][128];
} Calibration;

static const PetscInt Kappas[] = {1, 2, 3, 4, PC_KCYCLE_KAPPA_W};

static PetscErrorCode CreateSolver(Poisson *p, const char save[], const char load[], KSP *ksp)
{
  DM  da;
  Mat A;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, p, &da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(PoissonAssemble(p, da, A));
  PetscCall(MakeKSP(A, NULL, PCKCYCLE, ksp, &pc));
  if (save) PetscCall(PCKCycleSetCalibrationSave(pc, save));
  if (load) PetscCall(PCKCycleSetCalibrationLoad(pc, load));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(DestroyAll(&A, &da));
  PetscFunctionReturn(0);
}

/* By the first process; the others are told */
static PetscErrorCode ReadFile(const char name[], Calibration *c)
{
  int good = 0, l;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(c, sizeof(*c)));
  if (!PetscGlobalRank) {
    FILE *file = fopen(name, "r");

    if (file && fscanf(file, "petsc-kcycle calibration 1\nprocesses %d\nlevels %d\n", &c->processes, &c->nlevels) == 2)
      good = 1;
    for (l = 0; l < PetscMin(c->nlevels, MOST) && good; l++) {
      int number;

      good =
          fscanf(file, "level %d rows %lf launches %lf operations %lf messages %lf zero %lf again %lf solver %127s\n",
                 &number, &c->rows[l], &c->launches[l], &c->operations[l], &c->messages[l], &c->zero[l], &c->again[l],
                 c->solver[l]) == 8;
    }
    if (good) good = fscanf(file, "outside %lf\nend\n", &c->outside) == 1;
    if (file) (void)fclose(file);
    if (!good) c->nlevels = 0;
  }
  PetscCallMPI(MPI_Bcast(c, sizeof(*c), MPI_BYTE, 0, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

static PetscErrorCode WriteFile(const char name[], const Calibration *c)
{
  PetscFunctionBeginUser;
  if (!PetscGlobalRank) {
    FILE *file = fopen(name, "w");

    PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s cannot be written", name);
    (void)fprintf(file, "petsc-kcycle calibration 1\nprocesses %d\nlevels %d\n", c->processes, c->nlevels);
    for (int l = 0; l < c->nlevels; l++)
      (void)fprintf(
          file, "level %d rows %.0f launches %.0f operations %.0f messages %.0f zero %.9e again %.9e solver %s\n", l,
          c->rows[l], c->launches[l], c->operations[l], c->messages[l], c->zero[l], c->again[l], c->solver[l]);
    (void)fprintf(file, "outside %.9e\nend\n", c->outside);
    (void)fclose(file);
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

/* The recursion itself, without its arithmetic; level 0 is the finest */
static double Recursion(const Calibration *c, PetscInt kappa, int level, PetscBool zero)
{
  const double own = zero ? c->zero[level] : c->again[level];

  if (level == c->nlevels - 1) return own;
  return own + Recursion(c, kappa, level + 1, PETSC_TRUE) +
         (kappa > 1 ? Recursion(c, kappa - 1, level + 1, PETSC_FALSE) : 0);
}

static PetscErrorCode ComparePredictions(PC pc, const Calibration *c, const char what[])
{
  PetscBool sums = PETSC_TRUE, grow = PETSC_TRUE, same = PETSC_TRUE;
  PetscReal before = 0;

  PetscFunctionBeginUser;
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

/* The first bytes of the file, with something behind them */
static PetscErrorCode Cut(const char name[], size_t bytes, const char more[])
{
  char text[8192];

  PetscFunctionBeginUser;
  if (!PetscGlobalRank) {
    FILE  *file   = fopen(name, "r");
    size_t length = file ? fread(text, 1, sizeof(text), file) : 0;

    if (file) (void)fclose(file);
    file = fopen(name, "w");
    PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s cannot be written", name);
    (void)fwrite(text, 1, PetscMin(bytes, length), file);
    (void)fputs(more, file);
    (void)fclose(file);
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

/* Times, and what does not change them */
static PetscErrorCode TimeAndSave(Poisson *p, const char name[], Calibration *c)
{
  KSP               ksp;
  PC                pc;
  PetscReal         first, later;
  PetscInt          nlevels;
  const PetscInt64 *calls;
  const char       *file;
  Mat               A;
  Vec               x, b;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(p, name, NULL, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCKCycleGetCalibrationSave(pc, &file));
  PetscCall(KSPSetUp(ksp));
  PetscCall(ReadFile(name, c));
  PetscCall(Claim(file[0] && c->nlevels > 0, "set-up writes the file"));
  PetscCall(PCKCycleGetLevelCalls(pc, &nlevels, &calls));
  PetscCall(Claim(calls[0] == 0 && calls[nlevels - 1] == 0, "cycles that are timed do not count"));
  PetscCall(ComparePredictions(pc, c, "timed"));
  PetscCall(PCKCyclePredictTime(pc, 2, &first));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatScale(A, 2));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(PCKCyclePredictTime(pc, 2, &later));
  PetscCall(Claim(first == later, "times are kept for other values"));
  PetscCall(Cut(name, 0, "nothing\n"));
  PetscCall(PetscObjectReference((PetscObject)A));
  PetscCall(KSPReset(ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(MatDestroy(&A));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(ReadFile(name, c));
  PetscCall(Claim(c->nlevels > 0, "they are taken and written anew after KSPReset()"));
  PetscCall(DestroyAll(&x, &b, &ksp));
  PetscFunctionReturn(0);
}

/* Times as the model has them */
static PetscErrorCode LoadMadeUp(Poisson *p, const char name[], Calibration *c, PetscBool view)
{
  KSP         ksp;
  PC          pc;
  Mat         A;
  Vec         x, b;
  const char *file;

  PetscFunctionBeginUser;
  for (int l = 0; l < c->nlevels; l++)
    c->zero[l] = c->again[l] = ALPHA * (c->launches[l] + c->messages[l]) + BETA * c->operations[l];
  c->outside = 0;
  PetscCall(WriteFile(name, c));
  PetscCall(CreateSolver(p, NULL, name, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCKCycleGetCalibrationLoad(pc, &file));
  PetscCall(KSPSetUp(ksp));
  if (!view) PetscCall(ComparePredictions(pc, c, "from the file"));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  for (int i = 0; i < 3; i++) PetscCall(PCApply(pc, b, x));
  if (view) PetscCall(KSPView(ksp, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(DestroyAll(&x, &b, &ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode Refused(Poisson *p, const char name[], const char what[])
{
  KSP            ksp;
  PC             pc;
  PetscReal      seconds;
  PetscErrorCode ierr;
  char           text[ERROR_LENGTH] = "";

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(p, NULL, name, &ksp));
  KeepErrorOf(KSPSetUp(ksp), ierr, text);
  PetscCall(Print("%s: %s\n", what, ierr ? text : "NO error"));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCKCycleSetCalibrationLoad(pc, ""));
  PetscCall(PCKCycleSetCalibrate(pc, PETSC_TRUE));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PCKCyclePredictTime(pc, 1, &seconds));
  if (!(seconds > 0)) PetscCall(Print("the solver is of NO use afterwards\n"));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode RefuseFiles(Poisson *p, const char name[], const Calibration *good)
{
  Calibration c;
  Poisson     other = *p;

  PetscFunctionBeginUser;
  other.n = 2 * p->n - 1;
  PetscCall(Refused(&other, name, "more levels"));
  other.n = p->n - 2;
  PetscCall(Refused(&other, name, "another grid"));
  c = *good;
  c.processes += 3;
  PetscCall(WriteFile(name, &c));
  PetscCall(Refused(p, name, "more processes"));
  c = *good;
  PetscCall(PetscStrncpy(c.solver[0], "3*magic", sizeof(c.solver[0])));
  PetscCall(WriteFile(name, &c));
  PetscCall(Refused(p, name, "another smoother"));
  c = *good;
  c.operations[0] += 1;
  PetscCall(WriteFile(name, &c));
  PetscCall(Refused(p, name, "another operator"));
  c         = *good;
  c.zero[1] = (double)NAN;
  PetscCall(WriteFile(name, &c));
  PetscCall(Refused(p, name, "not a number"));
  c         = *good;
  c.zero[0] = 0;
  PetscCall(WriteFile(name, &c));
  PetscCall(Refused(p, name, "nothing measured"));
  c          = *good;
  c.again[0] = -1;
  PetscCall(WriteFile(name, &c));
  PetscCall(Refused(p, name, "negative"));
  PetscCall(WriteFile(name, good));
  PetscCall(Cut(name, 200, ""));
  PetscCall(Refused(p, name, "cut off"));
  PetscCall(Cut(name, 40, "\n"));
  PetscCall(Refused(p, name, "cut off early"));
  PetscCall(Cut(name, 0, "Dear diary\n"));
  PetscCall(Refused(p, name, "another file"));
  PetscCall(Cut(name, 0, ""));
  PetscCall(Refused(p, name, "empty"));
  PetscCall(Refused(p, "no/such/file", "none"));
  PetscFunctionReturn(0);
}

static PetscErrorCode RefuseOthers(Poisson *p)
{
  KSP            ksp;
  PC             pc;
  PetscReal      seconds;
  PetscErrorCode ierr;
  PetscBool      calibrate;
  char           text[ERROR_LENGTH] = "";

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(p, NULL, NULL, &ksp));
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
  PetscCall(CreateSolver(p, NULL, NULL, &ksp));
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
  PetscCall(CreateSolver(p, NULL, NULL, &ksp));
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
  PetscCall(CreateSolver(p, NULL, NULL, &ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PCKCyclePredictTime(PCOf(ksp), PC_KCYCLE_KAPPA_W, &seconds));
  PetscCall(Claim(seconds > 0, "there is a prediction"));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Poisson     p;
  Calibration c;
  char        name[64];

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PoissonSetFromOptions(&p));
  PetscCall(PetscSNPrintf(name, sizeof(name), "calibration-%d.txt", PetscGlobalSize));
  if (Given("-once")) PetscCall(Once(&p));
  else if (Given("-work")) PetscCall(Work(&p));
  else PetscCall(TimeAndSave(&p, name, &c));
  if (!Given("-once") && !Given("-work")) PetscCall(LoadMadeUp(&p, name, &c, Given("-view")));
  if (Given("-refuse")) PetscCall(RefuseFiles(&p, name, &c));
  if (Given("-refuse")) PetscCall(RefuseOthers(&p));
  if (!PetscGlobalRank) (void)unlink(name);
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
    suffix: file
    test:
      args: -once -pc_kcycle_calibrate
    test:
      args: -once -pc_kcycle_calibration_save model-once.txt
    test:
      args: -once -pc_kcycle_calibration_load model-once.txt

TEST*/
