static char help[] = "The bytes that the kernels of levels move, and norms that are taken inside of a pass.\n\n";

#include "grids.h"
#include "poisson.h"
#include <petsckcycle/private/smootherimpl.h>

typedef struct {
  const char *name;
  PetscInt    dim, size[3];
  PetscBool   box;
  PetscReal   vary;
  const char *options;
} Case;

static const Case Cases[] = {{"2D", 2, {64, 63, 1}, PETSC_FALSE, 0, ""},
                             {"2D, coefficients that vary", 2, {64, 63, 1}, PETSC_FALSE, 0.3, ""},
                             {"2D, nine points", 2, {40, 48, 1}, PETSC_TRUE, 0.3, ""},
                             {"3D", 3, {24, 17, 20}, PETSC_FALSE, 0.3, ""},
                             {"3D, 27 points", 3, {17, 16, 20}, PETSC_TRUE, 0.3, ""},
                             {"clusters", 2, {48, 48, 1}, PETSC_FALSE, 0.999, "-mg_levels_pc_relax_clusters on"},
                             {"Jacobi", 2, {40, 64, 1}, PETSC_FALSE, 0.3, "-mg_levels_pc_relax_type jacobi"},
                             {"Chebyshev", 2, {40, 64, 1}, PETSC_FALSE, 0.3, "-mg_levels_pc_relax_type chebyshev"},
                             {"damped", 2, {64, 63, 1}, PETSC_FALSE, 0.3, "-mg_levels_pc_relax_omega 0.9"},
                             {"kappa 3", 2, {64, 63, 1}, PETSC_FALSE, 0.3, "-pc_kcycle_kappa 3"}};

static PetscErrorCode Create(const Case *c, DM *da, Mat *A, Vec *b)
{
  Grid g = {.number = 5, .box = c->box, .vary = c->vary};

  PetscFunctionBeginUser;
  PetscCall(GridInit(&g, c->dim, c->size, BOUNDARY_ELIMINATED));
  PetscCall(GridCreateSystem(&g, MATAIJ, da, A, b));
  PetscFunctionReturn(0);
}

#define NSOLVES 30

/* Richardson with the norms of residuals; its: how many iterations to tolerances that are close together, so that
   norms must agree */
static PetscErrorCode Solve(const char options[], Mat A, Vec b, Vec x, PetscInt its[])
{
  PetscOptions own;
  KSP          ksp;
  PC           pc;

  PetscFunctionBeginUser;
  PetscCall(PushOptions(options, &own));
  PetscCall(MakeKSP(A, KSPRICHARDSON, PCKCYCLE, &ksp, &pc));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetFromOptions(ksp));
  for (int i = 0; i < NSOLVES; i++) {
    PetscCall(KSPSetTolerances(ksp, PetscPowReal(10, -1 - 0.3 * i), PETSC_DEFAULT, PETSC_DEFAULT, 200));
    PetscCall(SolveSystem(ksp, b, x, &its[i], NULL));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PopOptions(&own));
  PetscFunctionReturn(0);
}

/* The cycle on arrays, counted and not, and that of PCMG's objects */
static PetscErrorCode Compare(const Case *c)
{
  const char *const more[3] = {"", "-pc_kcycle_count_bytes", "-mg_levels_ksp_richardson_scale 0.9999999999999999"};
  char              options[256];
  PetscInt          its[3][NSOLVES];
  PetscReal         apart[3], size;
  PetscBool         same[3] = {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE};
  DM                da;
  Mat               A;
  Vec               b, x[3];

  PetscFunctionBeginUser;
  PetscCall(Create(c, &da, &A, &b));
  for (int i = 0; i < 3; i++) {
    PetscCall(VecDuplicate(b, &x[i]));
    PetscCall(PetscSNPrintf(options, sizeof(options), "%s %s", c->options, more[i]));
    PetscCall(Solve(options, A, b, x[i], its[i]));
    for (int t = 0; t < NSOLVES; t++) same[i] = (PetscBool)(same[i] && its[i][t] == its[0][t]);
  }
  PetscCall(VecNorm(x[0], NORM_2, &size));
  for (int i = 1; i < 3; i++) {
    PetscCall(VecAXPY(x[i], -1, x[0]));
    PetscCall(VecNorm(x[i], NORM_2, &apart[i]));
  }
  PetscCall(ClaimThat(its[0][NSOLVES - 1] > 3 && same[1] && apart[1] == 0, "%s: counting changes nothing", c->name));
  PetscCall(ClaimThat(same[2] && apart[2] < 1e-10 * size, "%s: norms are those of PCMG's residuals", c->name));
  for (int i = 0; i < 3; i++) PetscCall(VecDestroy(&x[i]));
  PetscCall(DestroyAll(&b, &A, &da));
  PetscFunctionReturn(0);
}

/* One solve with the options of the command line, whose view tells the bytes */
static PetscErrorCode View(void)
{
  PetscInt which = 0;
  System   s     = {0};

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-case", &which, NULL));
  PetscCall(Create(&Cases[which], &s.da, &s.A, &s.b));
  PetscCall(VecDuplicate(s.b, &s.x));
  PetscCall(MakeKSP(s.A, NULL, PCKCYCLE, &s.ksp, &s.pc));
  PetscCall(KSPSetFromOptions(s.ksp));
  PetscCall(KSPSetUp(s.ksp));
  PetscCall(PCApply(s.pc, s.b, s.x));
  PetscCall(KSPView(s.ksp, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* A smoother that does nothing, and leaves coefficients in a place that no kernels work on */
static PetscErrorCode SmoothNothing(KCycleSmoother *s, const KCycleSweeps *sweeps, const PetscScalar *b, PetscScalar *x)
{
  (void)s;
  (void)sweeps;
  (void)b;
  (void)x;
  return 0;
}

static PetscErrorCode Move(KCycleSmoother *s)
{
  ((KCycleStencil *)s->st)->own.memory = KCYCLE_MEMORY_COUNTED;
  return 0;
}

static PetscErrorCode CreateMoving(KCycleSmoother *s)
{
  s->ops.setup  = Move;
  s->ops.sweeps = SmoothNothing;
  return 0;
}

/* Where PCMG runs the levels there is nothing to count; levels whose place has no kernels are not run */
static PetscErrorCode Refuse(const char expected[], const char claim[])
{
  char           words[ERROR_LENGTH] = "";
  System         sys                 = {0};
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  PetscCall(Create(&Cases[0], &sys.da, &sys.A, &sys.b));
  PetscCall(MakeKSP(sys.A, NULL, PCKCYCLE, &sys.ksp, &sys.pc));
  PetscCall(KSPSetFromOptions(sys.ksp));
  KeepErrorOf(KSPSetUp(sys.ksp), ierr, words);
  PetscCall(ClaimError(ierr, words, expected, claim));
  PetscCall(SystemDestroy(&sys));
  PetscFunctionReturn(0);
}

int main(int argc, char **args)
{
  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &args, help));
  PetscCall(PCRelaxRegister("moving", CreateMoving));
  if (Given("-view")) PetscCall(View());
  else if (Given("-refuse"))
    PetscCall(Refuse("count_bytes is for structured levels with smoothers of PCRELAX, and here",
                     "levels of PCMG are refused"));
  else if (Given("-elsewhere"))
    PetscCall(Refuse("do not reach the operator and the transfer of level", "levels in another place are refused"));
  else {
    for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(Cases); i++) PetscCall(Compare(&Cases[i]));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: !complex

  test:
    nsize: {{1 2 4}}
    output_file: output/counted.out

  testset:
    args: -view -pc_kcycle_count_bytes
    filter: sed -n "/bytes moved/,/^ *1 /p"

    test:
      suffix: view

    test:
      suffix: processes
      nsize: 2
      args: -pc_kcycle_process_eq_limit 0
      filter: sed -n "/bytes moved/,/^ *[12] /p"

    test:
      suffix: rounds
      nsize: 4
      args: -pc_kcycle_process_eq_limit 0 -case 3 -pc_kcycle_ghost_points {{-1 5000}separate output}
      filter: grep rounds | sed "s/smoothing.*calls;//"

    test:
      suffix: variable
      args: -case 1

    test:
      suffix: single
      args: -case 1 -pc_kcycle_precision single

    test:
      suffix: jacobi
      args: -case 1 -mg_levels_pc_relax_type jacobi -mg_levels_ksp_max_it 2

  test:
    suffix: refusal
    args: -refuse -pc_kcycle_count_bytes -pc_kcycle_structured off

  test:
    suffix: elsewhere
    args: -elsewhere -mg_levels_pc_relax_type moving

TEST*/
