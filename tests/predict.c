static char help[] =
    "Factors of cycles by local Fourier analysis are those that are measured, and those of the paper. They choose the\n\
number of sweeps.\n\
  -options  what is chosen, and refused\n\n";

#include "grids.h"
#include "poisson.h"
#include <unistd.h>

/* Ghysels and Vanroose, section 3.2: damped Jacobi of 4/5 in 2D, 1024 intervals */
static PetscErrorCode Paper(void)
{
  const PetscReal factors[] = {0.6, 0.36, 0.216, 0.13657}, roofs[] = {44.5e9, 79.6e9};
  const PetscInt  cycles[] = {55, 28, 19, 14}, operations[] = {2053, 1381, 1165, 1027};
  PetscInt        m, best[3]                                = {0, 0, 0};
  PetscReal       factor, smoothing, all, seconds[2], least[3] = {1e30, 1e30, 1e30}, tiled[20];
  PetscBool       digits = PETSC_TRUE, counts = PETSC_TRUE, work = PETSC_TRUE, flat = PETSC_TRUE;

  PetscFunctionBeginUser;
  for (PetscInt nu = 1; nu <= 20; nu++) {
    const PetscInt both[2] = {nu, 0};

    PetscCall(PCKCycleComputeFactors("jacobi", 0.8, 2, 1024, both, &factor, &smoothing));
    PetscCall(PCKCycleComputeCost(nu, factor, 1e-12, roofs, &m, &all, seconds));
    if (nu <= 4) {
      digits = (PetscBool)(digits && PetscAbsReal(factor - factors[nu - 1]) < 5.5e-6 &&
                           PetscAbsReal(smoothing - PetscPowReal(0.6, nu)) < 1e-4);
      counts = (PetscBool)(counts && m == cycles[nu - 1]);
      work   = (PetscBool)(work && PetscAbsReal(all - (PetscReal)operations[nu - 1]) < 0.5);
    }
    if (all < least[0]) best[0] = nu;
    if (seconds[0] < least[1]) best[1] = nu;
    if (seconds[1] < least[2]) best[2] = nu;
    least[0]      = PetscMin(least[0], all);
    least[1]      = PetscMin(least[1], seconds[0]);
    least[2]      = PetscMin(least[2], seconds[1]);
    tiled[nu - 1] = seconds[1];
  }
  for (PetscInt nu = 5; nu <= 14; nu++) flat = (PetscBool)(flat && tiled[nu - 1] < 1.14 * least[2]);
  PetscCall(Claim(digits, "factors .60000 .36000 .21600 .13657"));
  PetscCall(Claim(counts, "cycles 55 28 19 14"));
  PetscCall(Claim(work, "operations 2053 1381 1165 1027"));
  PetscCall(Claim(best[0] == 4 && best[1] == 4, "4 sweeps are best by operations, and one by one"));
  PetscCall(Claim(best[2] == 6 && flat && tiled[3] > 1.05 * least[2], "6 tiled, in a flat valley"));
  PetscFunctionReturn(0);
}

typedef struct {
  const char *type;
  PetscInt    dim;
  PetscInt    nu[2];
  PetscReal   factor, smoothing; /* Trottenberg, Oosterlee and Schueller, Multigrid, or 0 */
} Known;

/* Numbers that books have: sweeps of red-black points in the same order on both sides are two before */
static const Known Knowns[] = {{"redblack", 2, {1, 0}, 0.25, 0.25},
                               {"redblack", 2, {2, 0}, 0.074, 0.0625},
                               {"redblack", 3, {1, 0}, 0.444, 0},
                               {"zebra_x", 2, {1, 0}, 0, 0.25},
                               {"jacobi", 1, {1, 0}, 1. / 3, 1. / 3}};

static PetscErrorCode Books(void)
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(Knowns); i++) {
    const Known *k = &Knowns[i];
    PetscReal    factor, smoothing;
    PetscBool    yes;

    PetscCall(PCKCycleComputeFactors(k->type, k->dim == 1 ? 2. / 3 : 0, k->dim, 4096, k->nu, &factor, &smoothing));
    yes = (PetscBool)((k->factor == 0 || PetscAbsReal(factor - k->factor) < 2e-3) &&
                      (k->smoothing == 0 || PetscAbsReal(smoothing - k->smoothing) < 2e-3));
    if (!yes) PetscCall(Print("  %g %g\n", (double)factor, (double)smoothing));
    PetscCall(ClaimThat(yes, "%s in %" PetscInt_FMT "D as in books", k->type, k->dim));
  }
  PetscFunctionReturn(0);
}

typedef struct {
  const char *name;
  PetscInt    dim, n;
  PetscBool   box;
  PetscReal   strength[3];
  const char *options;
} Case;

/* With levels enough to be V-cycles, or two */
#define STAR(name, dim, n, x, y, z, options)      \
  {                                               \
    name, dim, n, PETSC_FALSE, {x, y, z}, options \
  }
#define BOX(name, dim, n, x, y, z, options)      \
  {                                              \
    name, dim, n, PETSC_TRUE, {x, y, z}, options \
  }
static const Case Cases[] = {
    STAR("default, 2D", 2, 127, 1, 1, 1, ""),
    STAR("red-black, two levels", 2, 63, 1, 1, 1, "-pc_mg_levels 2 -mg_levels_ksp_max_it 1"),
    STAR("Jacobi", 2, 63, 1, 1, 1, "-pc_mg_levels 2 -mg_levels_pc_relax_type jacobi -mg_levels_pc_relax_omega 0.8"),
    STAR("Chebyshev", 2, 63, 1, 1, 1, "-pc_mg_levels 2 -mg_levels_pc_relax_type chebyshev -mg_levels_ksp_max_it 1"),
    STAR("four colours, simplex", 2, 63, 1, 1, 1,
         "-pc_mg_levels 2 -pc_kcycle_interpolation simplex -mg_levels_pc_relax_type fourcolor -mg_levels_ksp_max_it 1"),
    BOX("nine points, four colours", 2, 63, 1, 1, 1, "-pc_mg_levels 2 -mg_levels_ksp_max_it 1"),
    STAR("operator weights", 2, 63, 1, 0.7, 1,
         "-pc_mg_levels 2 -pc_kcycle_interpolation operator -mg_levels_ksp_max_it 1"),
    STAR("zebra", 2, 63, 1, 0.1, 1, "-pc_mg_levels 2 -pc_kcycle_semicoarsen xy -mg_levels_pc_relax_type zebra_x"),
    STAR("alternating, F-cycle", 2, 63, 1, 0.3, 1,
         "-pc_kcycle_kappa 2 -pc_kcycle_semicoarsen xy -mg_levels_pc_relax_type alternating"),
    STAR("semicoarsening", 2, 63, 1, 0.05, 1, "-pc_mg_levels 2 -pc_kcycle_semicoarsen x"),
    STAR("default, 3D", 3, 31, 1, 1, 1, ""),
    STAR("Jacobi, 3D", 3, 31, 1, 1, 1, "-pc_mg_levels 3 -mg_levels_pc_relax_type jacobi -mg_levels_ksp_max_it 1"),
    BOX("27 points, eight colours", 3, 31, 1, 1, 1, "-pc_mg_levels 3 -mg_levels_ksp_max_it 1"),
    STAR("zebra, 3D", 3, 31, 1, 1, 0.1,
         "-pc_mg_levels 3 -pc_kcycle_semicoarsen xyz -mg_levels_pc_relax_type alternating "
         "-mg_levels_pc_relax_directions "
         "xy -mg_levels_ksp_max_it 1"),
};

static PetscErrorCode Create(const Case *c, PetscReal vary, DM *da, Mat *A, Vec *x, Vec *b)
{
  const PetscInt size[3] = {c->n, c->dim > 1 ? c->n : 1, c->dim > 2 ? c->n : 1};
  Grid           g       = {.number = 3, .box = c->box, .vary = vary};

  PetscFunctionBeginUser;
  PetscCall(GridInit(&g, c->dim, size, BOUNDARY_ELIMINATED));
  for (PetscInt d = 0; d < 3; d++) g.strength[d] = c->strength[d];
  PetscCall(GridCreateDM(&g, da));
  PetscCall(GridCreateMat(&g, *da, "stencil", A));
  PetscCall(DMCreateGlobalVector(*da, x));
  PetscCall(VecDuplicate(*x, b));
  PetscCall(GridFill(&g, *da, 9, *x));
  PetscFunctionReturn(0);
}

static PetscErrorCode Make(Mat A, KSPType type, const char prefix[], KSP *ksp, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(MakeKSP(A, type, PCKCYCLE, ksp, pc));
  PetscCall(KSPSetOptionsPrefix(*ksp, prefix));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPSetUp(*ksp));
  PetscFunctionReturn(0);
}

/* Options are taken back, whatever comes of it */
static PetscErrorCode CreateSolver(Mat A, const char options[], KSPType type, KSP *ksp, PC *pc)
{
  PetscOptions   own;
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  PetscCall(PushOptions(options, &own));
  ierr = Make(A, type, NULL, ksp, pc);
  PetscCall(PopOptions(&own));
  PetscFunctionReturn(ierr);
}

#define FIRST 60
#define LAST  80

/* What cycles leave of an error in A x = 0 */
static PetscErrorCode Measure(const Case *c)
{
  PetscReal predicted, measured, norm[2];
  PetscBool yes;
  System    s = {0};

  PetscFunctionBeginUser;
  PetscCall(Create(c, 0, &s.da, &s.A, &s.x, &s.b));
  PetscCall(CreateSolver(s.A, c->options, KSPRICHARDSON, &s.ksp, &s.pc));
  PetscCall(PCKCyclePredictFactor(s.pc, &predicted));
  PetscCall(KSPSetNormType(s.ksp, KSP_NORM_NONE));
  PetscCall(KSPSetInitialGuessNonzero(s.ksp, PETSC_TRUE));
  for (int i = 0; i < 2; i++) {
    PetscCall(KSPSetTolerances(s.ksp, 1e-90, 1e-290, PETSC_DEFAULT, i ? LAST - FIRST : FIRST));
    PetscCall(KSPSolve(s.ksp, s.b, s.x));
    PetscCall(VecNorm(s.x, NORM_2, &norm[i]));
  }
  measured = PetscPowReal(norm[1] / norm[0], 1.0 / (LAST - FIRST));
  yes      = (PetscBool)(PetscAbsReal(predicted - measured) < 0.01);
  if (!yes) PetscCall(Print("  predicted %g, measured %g\n", (double)predicted, (double)measured));
  PetscCall(PetscInfo(s.ksp, "%s: predicted %g, measured %g\n", c->name, (double)predicted, (double)measured));
  PetscCall(ClaimThat(yes, "%s: factor", c->name));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* A made-up machine */
static PetscErrorCode WriteRoofline(const char name[], const char processes[], PetscReal sweep, PetscBool whole)
{
  PetscFunctionBeginUser;
  if (!PetscGlobalRank) {
    FILE *file = fopen(name, "w");

    PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s", name);
    (void)fprintf(file,
                  "petsc-kcycle roofline 2\nprocesses %s\nbandwidth 1e10 cached 1e10 cache 1\nvisit 1e-9\ndim 2 "
                  "exposed 0.5 cg 1e-9 1e-9 kcg 1e-9 1e-9\ndim 3 exposed 0.5 cg 1e-9 1e-9 kcg 1e-9 1e-9\n",
                  processes);
    (void)fprintf(file,
                  "kernels 2\nkernel redblack double dim 2 points 5 sweep %g half 10 rest 1e9 half 10\nkernel redblack "
                  "single dim 2 points 5 sweep %g half 10 rest 1e9 half 10\n%s",
                  (double)sweep, (double)sweep, whole ? "end\n" : "");
    (void)fclose(file);
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

/* Set-up with these options is an error with these words */
static PetscErrorCode Refused(Mat A, const char options[], const char expected[], const char claim[])
{
  char           words[ERROR_LENGTH] = "", *found;
  KSP            ksp                 = NULL;
  PC             pc;
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  KeepErrorOf(CreateSolver(A, options, KSPCG, &ksp, &pc), ierr, words);
  PetscCall(PetscStrstr(words, expected, &found));
  if (!found) PetscCall(Print("  %d %s\n", (int)ierr, words));
  PetscCall(Claim(ierr != 0 && found, claim));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

#define FILE_NAME "predict-roofline.txt"

static PetscErrorCode Refusals(Mat A, Mat variable, PetscMPIInt size)
{
  char own[16], other[16];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(own, sizeof(own), "%d", size));
  PetscCall(PetscSNPrintf(other, sizeof(other), "%d", size + 1));
  PetscCall(Refused(A, "-pc_kcycle_sweeps 3 -mg_levels_ksp_max_it 1", "has its own type or number of iterations",
                    "two numbers"));
  PetscCall(Refused(A, "-pc_kcycle_sweeps 3 -pc_kcycle_structured off", "here levels are not structured",
                    "levels of no structure"));
  PetscCall(
      Refused(variable, "-pc_kcycle_roofline /nowhere/roofline", "cannot be read (-pc_kcycle_roofline)", "no file"));
  PetscCall(WriteRoofline(FILE_NAME, other, 1e9, PETSC_TRUE));
  PetscCall(Refused(A, "-pc_kcycle_roofline " FILE_NAME, "make one with \"make roofline PROCS=", "a file of others"));
  PetscCall(WriteRoofline(FILE_NAME, own, 1e9, PETSC_FALSE));
  PetscCall(Refused(A, "-pc_kcycle_roofline " FILE_NAME, "is damaged: line 10 cannot be read", "half a file"));
  PetscCall(WriteRoofline(FILE_NAME, own, -1, PETSC_TRUE));
  PetscCall(Refused(A, "-pc_kcycle_roofline " FILE_NAME, "is damaged: line 8 cannot be read", "a rate below zero"));
  PetscFunctionReturn(0);
}

/* Iterations of a solve, and sweeps then */
static PetscErrorCode Solve(Mat A, const char options[], KSPType type, PetscInt *its, PetscInt *sweeps,
                            const char words[], PetscBool *says)
{
  System s = {0};

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(A, options, type, &s.ksp, &s.pc));
  PetscCall(MatCreateVecs(A, &s.x, &s.b));
  PetscCall(VecSet(s.b, 1));
  PetscCall(KSPSetTolerances(s.ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(SolveSystem(s.ksp, s.b, s.x, its, NULL));
  PetscCall(PCKCycleGetSweeps(s.pc, sweeps));
  PetscCall(ViewHas(s.pc, words, says));
  if (!*says) PetscCall(KSPView(s.ksp, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* More sweeps where these are cheap, fewer where they are expensive; as many as usual where nothing is known */
static PetscErrorCode Choices(Mat A, Mat variable, PetscMPIInt size)
{
  const PetscReal rates[] = {1e7, 1e9, 1e12};
  char            own[16];
  PetscInt        its[4], sweeps[4];
  PetscBool       says, all = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(own, sizeof(own), "%d", size));
  for (int i = 0; i < 3; i++) {
    PetscCall(WriteRoofline(FILE_NAME, own, rates[i], PETSC_TRUE));
    PetscCall(Solve(A, "-pc_kcycle_sweeps auto -pc_kcycle_roofline " FILE_NAME, i ? KSPCG : KSPRICHARDSON, &its[i],
                    &sweeps[i], "measured: ", &says));
    all = (PetscBool)(all && says);
  }
  PetscCall(Claim(all, "the view has what was measured"));
  all = (PetscBool)(sweeps[0] >= 1 && sweeps[0] < sweeps[2] && sweeps[1] <= sweeps[2] && its[2] <= its[1]);
  if (!all)
    PetscCall(Print("  %" PetscInt_FMT " %" PetscInt_FMT " %" PetscInt_FMT "\n", sweeps[0], sweeps[1], sweeps[2]));
  PetscCall(Claim(all, "cheap sweeps are many"));
  PetscCall(Solve(A, "-pc_kcycle_sweeps auto", KSPCG, &its[0], &sweeps[0], "ratios of no machine", &says));
  PetscCall(Claim(says && sweeps[0] > 0, "without a file by ratios"));
  PetscCall(Solve(variable, "-pc_kcycle_sweeps auto", KSPCG, &its[0], &sweeps[0],
                  "sweeps are the usual ones, there is no prediction: the coefficients vary", &says));
  PetscCall(Solve(variable, "", KSPCG, &its[1], &sweeps[1], "structured", &all));
  PetscCall(
      Claim(says && sweeps[0] == PC_KCYCLE_SWEEPS_AUTO && its[0] == its[1], "usual ones where coefficients vary"));
  PetscCall(Solve(A, "-pc_kcycle_sweeps 1", KSPCG, &its[0], &sweeps[0], "sweeps on the finest level: 1, as asked for",
                  &says));
  PetscCall(Solve(A, "-pc_kcycle_sweeps 5", KSPCG, &its[1], &sweeps[1], "richardson(5)", &all));
  PetscCall(Claim(says && sweeps[0] == 1 && its[1] < its[0], "a number"));
  PetscFunctionReturn(0);
}

/* By the command line: a file, its name, and that there is none */
static PetscErrorCode Functions(Mat A, PetscMPIInt size)
{
  const char *name[2];
  char        own[16];
  KSP         ksp;
  PC          pc;
  PetscBool   same, none, says[2];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(own, sizeof(own), "%d", size));
  PetscCall(WriteRoofline(FILE_NAME, own, 1e9, PETSC_TRUE));
  PetscCall(Make(A, KSPCG, "file_", &ksp, &pc));
  PetscCall(PCKCycleGetRoofline(pc, &name[0]));
  PetscCall(PetscStrcmp(name[0], FILE_NAME, &same));
  PetscCall(KSPSetUp(ksp));
  PetscCall(ViewHas(pc, "by the analysis of 3 levels and " FILE_NAME, &says[0]));
  PetscCall(PCKCycleSetRoofline(pc, ""));
  PetscCall(PCKCycleGetRoofline(pc, &name[1]));
  none = (PetscBool)!name[1][0];
  PetscCall(ViewHas(pc, "by the analysis", &says[1]));
  PetscCall(Claim(same && none && says[0] && !says[1], "a file of the command line, taken away by a function"));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

/* A number that is set after a solve is used in the next one, and forgotten again */
static PetscErrorCode Later(Mat A)
{
  PetscInt  its[4];
  PetscReal factor[3];
  System    s = {0};

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(A, "", KSPCG, &s.ksp, &s.pc));
  PetscCall(MatCreateVecs(A, &s.x, &s.b));
  PetscCall(VecSet(s.b, 1));
  for (int i = 0; i < 3; i++) {
    PetscCall(PCKCycleSetSweeps(s.pc, i == 1 ? 6 : PC_KCYCLE_SWEEPS_DEFAULT));
    PetscCall(SolveSystem(s.ksp, s.b, s.x, &its[i], NULL));
    PetscCall(PCKCyclePredictFactor(s.pc, &factor[i]));
  }
  PetscCall(Claim(its[1] < its[0] && its[2] == its[0] && factor[1] < factor[0] && factor[2] == factor[0], "later"));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

static PetscErrorCode Options(void)
{
  const Case c = {"", 2, 63, PETSC_FALSE, {1, 1, 1}, ""};
  DM         da[2];
  Mat        A[2];
  Vec        x[2], b[2];

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) PetscCall(Create(&c, i ? 0.3 : 0, &da[i], &A[i], &x[i], &b[i]));
  PetscCall(Refusals(A[0], A[1], PetscGlobalSize));
  PetscCall(Choices(A[0], A[1], PetscGlobalSize));
  PetscCall(Functions(A[0], PetscGlobalSize));
  PetscCall(Later(A[0]));
  if (!PetscGlobalRank) (void)unlink(FILE_NAME);
  for (int i = 0; i < 2; i++) PetscCall(DestroyAll(&x[i], &b[i], &A[i], &da[i]));
  PetscFunctionReturn(0);
}

int main(int argc, char **args)
{
  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &args, help));
  if (Given("-options")) PetscCall(Options());
  else {
    PetscCall(Paper());
    PetscCall(Books());
    for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(Cases); i++) PetscCall(Measure(&Cases[i]));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: !complex double

  test:
    nsize: {{1 2}}
    output_file: output/predict.out

  test:
    suffix: options
    nsize: {{1 2}}
    args: -options -file_pc_kcycle_sweeps 3 -file_pc_kcycle_roofline predict-roofline.txt

TEST*/
