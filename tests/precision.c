static char help[] = "Cycles in single and in double precision, and what single precision is not for.\n\n";

#include "grids.h"
#include "poisson.h"

/* A problem, and the options of its solver. Coefficients vary by the part vary, at random; entries are multiplied by
   units */
typedef struct {
  const char  *name;
  PetscInt     dim, size[3];
  GridBoundary boundary;
  PetscBool    box;
  PetscReal    strength, vary, units;
  const char  *options;
} Case;

#define SQUARE(name, n, options)                                             \
  {                                                                          \
    name, 2, {n, n, 1}, BOUNDARY_ELIMINATED, PETSC_FALSE, 1, 0.3, 1, options \
  }

static const Case Cases[] = {
    {"2D", 2, {65, 49, 1}, BOUNDARY_STORED, PETSC_FALSE, 1, 0.3, 1, ""},
    {"2D, no variation", 2, {64, 64, 1}, BOUNDARY_NEUMANN, PETSC_FALSE, 1, 0, 1, ""},
    {"3D", 3, {24, 17, 20}, BOUNDARY_ELIMINATED, PETSC_FALSE, 1, 0.5, 1, ""},
    {"2D, nine points", 2, {33, 40, 1}, BOUNDARY_ELIMINATED, PETSC_TRUE, 1, 0.5, 1, ""},
    {"3D, 27 points", 3, {17, 12, 15}, BOUNDARY_STORED, PETSC_TRUE, 1, 0.3, 1, ""},
    {"singular, no flux", 3, {16, 16, 16}, BOUNDARY_NEUMANN, PETSC_FALSE, 1, 0.5, 1, ""},
    {"singular, periodic", 2, {48, 31, 1}, BOUNDARY_PERIODIC, PETSC_FALSE, 1, 0.3, 1, ""},
    {"anisotropic", 3, {24, 24, 24}, BOUNDARY_ELIMINATED, PETSC_FALSE, 0.01, 0.2, 1, ""},
    {"tiny entries", 2, {50, 50, 1}, BOUNDARY_ELIMINATED, PETSC_FALSE, 1, 0.3, 1e-30, ""},
    {"huge entries", 3, {20, 20, 20}, BOUNDARY_NEUMANN, PETSC_FALSE, 1, 0.3, 1e30, ""},
    SQUARE("W-cycle", 65, "-pc_kcycle_kappa w"),
    SQUARE("kappa 3, two cycles", 65, "-pc_kcycle_kappa 3 -pc_mg_multiplicative_cycles 2"),
    SQUARE("full multigrid", 64, "-pc_mg_type full -ksp_type fcg"),
    {"Jacobi", 2, {40, 64, 1}, BOUNDARY_ELIMINATED, PETSC_FALSE, 1, 0.3, 1, "-mg_levels_pc_relax_type jacobi"},
    {"Chebyshev", 3, {20, 20, 20}, BOUNDARY_STORED, PETSC_FALSE, 1, 0.3, 1, "-mg_levels_pc_relax_type chebyshev"},
    {"clusters", 2, {48, 48, 1}, BOUNDARY_ELIMINATED, PETSC_FALSE, 1, 0.999, 1, "-mg_levels_pc_relax_clusters on"},
    {"flexible GMRES", 3, {20, 20, 20}, BOUNDARY_ELIMINATED, PETSC_FALSE, 1, 0.3, 1, "-ksp_type fgmres"},
    {"GMRES", 2, {60, 60, 1}, BOUNDARY_ELIMINATED, PETSC_FALSE, 1, 0.3, 1, "-ksp_type gmres -ksp_gmres_restart 3"},
    SQUARE("Richardson", 64, "-ksp_type richardson"),
    SQUARE("sweeps after levels only", 64, "-ksp_type fgmres -pc_mg_distinct_smoothup -mg_levels_up_ksp_max_it 3"),
    SQUARE("coarsest by sweeps", 64,
           "-pc_mg_levels 3 -mg_coarse_ksp_type richardson -mg_coarse_ksp_max_it 5 -mg_coarse_pc_type jacobi "
           "-pc_kcycle_kappa 2")};

static PetscErrorCode Create(const Case *c, System *s)
{
  Grid g = {.number = 5, .box = c->box, .vary = c->vary};

  PetscFunctionBeginUser;
  PetscCall(GridInit(&g, c->dim, c->size, c->boundary));
  g.strength[c->dim - 1] = c->strength;
  PetscCall(GridCreateSystem(&g, MATAIJ, &s->da, &s->A, &s->b));
  PetscCall(MatScale(s->A, c->units));
  PetscCall(VecScale(s->b, c->units));
  if (c->boundary >= BOUNDARY_NEUMANN) PetscCall(AttachConstants(s->A, s->b));
  PetscFunctionReturn(0);
}

/* These options, until DestroyKSP(); those of the command line if there are none */
static PetscOptions Own;

static PetscErrorCode CreateKSP(const char options[], PCKCyclePrecisionType precision, System *s)
{
  PetscFunctionBeginUser;
  if (options[0]) PetscCall(PushOptions(options, &Own));
  PetscCall(MakeKSP(s->A, KSPCG, PCKCYCLE, &s->ksp, &s->pc));
  PetscCall(PCKCycleSetPrecision(s->pc, precision));
  PetscCall(KSPSetFromOptions(s->ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyKSP(KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(ksp));
  if (!Own) PetscFunctionReturn(0);
  PetscCall(PopOptions(&Own));
  PetscFunctionReturn(0);
}

static PetscErrorCode Destroy(System *s)
{
  PetscFunctionBeginUser;
  PetscCall(DestroyKSP(&s->ksp));
  PetscCall(SystemDestroy(s));
  PetscFunctionReturn(0);
}

/* Iterations to rtol; -1 if the residual is not what the method says it is */
static PetscErrorCode Iterations(const System *s, PetscReal rtol, PetscInt *its)
{
  Vec                x;
  PetscReal          residual;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(s->b, &x));
  PetscCall(KSPSetTolerances(s->ksp, rtol, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  PetscCall(SolveSystem(s->ksp, s->b, x, its, &reason));
  PetscCall(RelativeResidual(s->A, s->b, x, &residual));
  if (reason <= 0 || !(residual < 1000 * rtol)) *its = -1;
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

static PetscErrorCode Compare(const Case *c)
{
  const PetscReal rtol[2] = {1e-8, 1e-12};
  PetscInt        its[2][2];
  PetscBool       says = PETSC_FALSE, good = PETSC_TRUE;
  System          s = {0};

  PetscFunctionBeginUser;
  PetscCall(Create(c, &s));
  for (int p = 0; p < 2; p++) {
    PetscCall(CreateKSP(c->options, (PCKCyclePrecisionType)p, &s));
    for (int t = 0; t < 2; t++) PetscCall(Iterations(&s, rtol[t], &its[p][t]));
    if (p) PetscCall(ViewHas(s.pc, "in single precision", &says));
    PetscCall(DestroyKSP(&s.ksp));
  }
  for (int t = 0; t < 2; t++)
    good = (PetscBool)(good && its[0][t] > 0 && its[1][t] > 0 && PetscAbs(its[1][t] - its[0][t]) <= t + 1);
  PetscCall(ClaimThat(good && says, "%s: single precision takes the iterations of double precision", c->name));
  if (!good || !says)
    PetscCall(Print("  %" PetscInt_FMT " %" PetscInt_FMT " and %" PetscInt_FMT " %" PetscInt_FMT " iterations\n",
                    its[0][0], its[0][1], its[1][0], its[1][1]));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* Right sides of any size, one after the other: y belongs to b, and is multiplied as b is, to the last digit */
static PetscErrorCode Sizes(PC pc, Vec b, Vec y, Vec x, Vec z)
{
  const PetscReal power[] = {-600, -590, 30, 0, 900, -900, 900, -1010, 980};
  PetscBool       good    = PETSC_TRUE;
  PetscReal       norm;

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(power); i++) {
    PetscCall(VecCopy(b, z));
    PetscCall(VecScale(z, PetscPowReal(2, power[i])));
    PetscCall(PCApply(pc, z, x));
    PetscCall(VecScale(x, PetscPowReal(2, -power[i])));
    PetscCall(VecAXPY(x, -1, y));
    PetscCall(VecNorm(x, NORM_2, &norm));
    good = (PetscBool)(good && norm == 0);
  }
  PetscCall(Claim(good, "the size of the right side does not matter"));
  PetscCall(VecCopy(b, z));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
  PetscCall(VecSetValue(z, 0, NAN, ADD_VALUES));
  PetscCall(AssembleVec(z));
  PetscCall(PCApply(pc, z, x));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(PetscFPTrapPop());
  PetscCall(Claim(!(norm < PETSC_MAX_REAL), "no number for no number"));
  PetscCall(PCApply(pc, b, x));
  PetscCall(VecAXPY(x, -1, y));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(Claim(norm == 0, "and nothing of it is left"));
  PetscFunctionReturn(0);
}

/* The adjoint, a choice that changes between solves, and right sides of any size */
static PetscErrorCode Uses(void)
{
  const Case  c = {"", 2, {48, 40, 1}, BOUNDARY_ELIMINATED, PETSC_FALSE, 1, 0.3, 1, "-pc_kcycle_kappa 3"};
  PetscScalar left, right;
  PetscReal   norm[2], difference;
  System      s = {0};
  Vec         y, z;

  PetscFunctionBeginUser;
  PetscCall(Create(&c, &s));
  PetscCall(CreateKSP(c.options, PC_KCYCLE_PRECISION_DOUBLE, &s));
  PetscCall(DuplicateVec(s.b, &s.x, &y, &z));
  PetscCall(KSPSetUp(s.ksp));
  PetscCall(PCApply(s.pc, s.b, s.x));
  PetscCall(PCKCycleSetPrecision(s.pc, PC_KCYCLE_PRECISION_SINGLE));
  PetscCall(PCApply(s.pc, s.b, y));
  PetscCall(VecNorm(s.x, NORM_2, &norm[0]));
  PetscCall(VecAXPY(s.x, -1, y));
  PetscCall(VecNorm(s.x, NORM_2, &norm[1]));
  PetscCall(Claim(norm[1] > 0 && norm[1] < 1e-5 * norm[0], "the correction differs by rounding of single precision"));
  PetscCall(Sizes(s.pc, s.b, y, s.x, z));
  PetscCall(VecSet(z, 0));
  PetscCall(PCApply(s.pc, z, s.x));
  PetscCall(VecNorm(s.x, NORM_2, &norm[1]));
  PetscCall(Claim(norm[1] == 0, "zero for zero"));
  PetscCall(VecReciprocal(s.b));
  PetscCall(PCApplyTranspose(s.pc, s.b, s.x));
  PetscCall(VecDot(s.x, y, &right)); /* (M^T c, y), y = M b */
  PetscCall(VecReciprocal(s.b));
  PetscCall(PCApply(s.pc, y, z));
  PetscCall(VecReciprocal(s.b));
  PetscCall(VecDot(z, s.b, &left)); /* (M y, c) */
  PetscCall(VecNorm(z, NORM_2, &norm[0]));
  PetscCall(VecNorm(s.b, NORM_2, &norm[1]));
  difference = PetscAbsScalar(left - right) / (norm[0] * norm[1]);
  PetscCall(Claim(difference < 1e-6, "the transposed application is the adjoint"));
  if (!(difference < 1e-6)) PetscCall(Print("  %g\n", (double)difference));
  PetscCall(DestroyAll(&y, &z));
  PetscCall(Destroy(&s));
  PetscFunctionReturn(0);
}

/* What single precision is not for is an error with these words */
static PetscErrorCode Refuse(const char claim[], const char options[], const char expected[])
{
  const Case            c                   = {"", 2, {33, 33, 1}, BOUNDARY_ELIMINATED, PETSC_FALSE, 1, 0.3, 1, ""};
  char                  words[ERROR_LENGTH] = "";
  System                s                   = {0};
  PCKCyclePrecisionType precision;
  PetscErrorCode        ierr;

  PetscFunctionBeginUser;
  PetscCall(Create(&c, &s));
  PetscCall(VecDuplicate(s.b, &s.x));
  PetscCall(CreateKSP(options, PC_KCYCLE_PRECISION_SINGLE, &s));
  PetscCall(PCKCycleGetPrecision(s.pc, &precision));
  KeepErrorOf(KSPSolve(s.ksp, s.b, s.x), ierr, words);
  if (precision != PC_KCYCLE_PRECISION_SINGLE) ierr = 0;
  PetscCall(ClaimError(ierr, words, expected, claim));
  PetscCall(Destroy(&s));
  PetscFunctionReturn(0);
}

static PetscErrorCode Refusals(void)
{
  PetscFunctionBeginUser;
  PetscCall(Refuse("levels of PCMG", "-pc_kcycle_structured off", "levels are not structured"));
  PetscCall(Refuse("another smoother", "-mg_levels_pc_type jacobi", "its smoother is not plain sweeps of PCRELAX"));
  PetscCall(Refuse("a damped smoother", "-mg_levels_ksp_richardson_scale 0.9",
                   "its smoother is not plain sweeps of PCRELAX"));
  PetscCall(
      Refuse("additive multigrid", "-pc_mg_type additive", "is for kappa-cycles, and this is -pc_mg_type ADDITIVE"));
  PetscFunctionReturn(0);
}

/* What is taken where that is to be found out. shift: of the operator, relative to its size, where it is singular;
   ahead: couplings of one point with another are stronger than the other way round */
static PetscErrorCode Choose(const char claim[], GridBoundary boundary, PetscReal shift, PetscBool ahead,
                             const char expected[])
{
  const Case c = {"", 2, {48, 48, 1}, boundary, PETSC_FALSE, 1, 0.3, 1, "-pc_kcycle_precision auto -ksp_type fgmres"};
  PetscBool  says;
  PetscInt   its, low;
  System     s = {0};

  PetscFunctionBeginUser;
  PetscCall(Create(&c, &s));
  if (shift > 0) {
    PetscCall(MatSetNullSpace(s.A, NULL));
    PetscCall(MatShift(s.A, shift));
  }
  PetscCall(MatGetOwnershipRange(s.A, &low, NULL));
  if (ahead) {
    const PetscInt *columns;
    PetscInt        ncolumns, other;

    PetscCall(MatGetRow(s.A, low, &ncolumns, &columns, NULL));
    other = columns[0] == low ? columns[1] : columns[0];
    PetscCall(MatRestoreRow(s.A, low, &ncolumns, &columns, NULL));
    PetscCall(MatSetValue(s.A, low, low, 0.5, ADD_VALUES));
    PetscCall(MatSetValue(s.A, low, other, -0.25, ADD_VALUES));
  }
  PetscCall(AssembleMat(s.A));
  PetscCall(CreateKSP(c.options, PC_KCYCLE_PRECISION_AUTO, &s));
  PetscCall(Iterations(&s, 1e-8, &its));
  PetscCall(ViewHas(s.pc, expected, &says));
  PetscCall(Claim(its > 0 && its < 30 && says, claim));
  if (!says || its < 0 || its >= 30) PetscCall(Print("  %" PetscInt_FMT " iterations\n", its));
  PetscCall(Destroy(&s));
  PetscFunctionReturn(0);
}

/* Before the first solve nothing is known; as a preconditioner that a program applies by itself it is in double
   precision, with the numbers of one that always is */
static PetscErrorCode Wait(const System *s)
{
  PetscBool waits, is;
  PetscReal norm, difference;
  System    other = {.A = s->A};
  Vec       x, y;

  PetscFunctionBeginUser;
  PetscCall(DuplicateVec(s->b, &x, &y));
  PetscCall(KSPSetUp(s->ksp));
  PetscCall(ViewHas(s->pc, "in double precision: the Krylov method is known when a solve begins", &waits));
  PetscCall(PCApply(s->pc, s->b, x));
  PetscCall(ViewHas(s->pc, "in double precision: the Krylov method takes it for a linear function", &is));
  PetscCall(CreateKSP("-pc_kcycle_precision double", PC_KCYCLE_PRECISION_DOUBLE, &other));
  PetscCall(KSPSetUp(other.ksp));
  PetscCall(PCApply(other.pc, s->b, y));
  PetscCall(DifferenceNorms(y, x, NORM_2, &difference, &norm));
  PetscCall(Claim(waits && is && norm > 0 && difference == 0, "levels wait for the first solve"));
  PetscCall(DestroyKSP(&other.ksp));
  PetscCall(DestroyAll(&x, &y));
  PetscFunctionReturn(0);
}

/* A method that fails with rounding, then one that does not, and back */
static PetscErrorCode Follow(void)
{
  const Case  c        = {"", 2, {48, 48, 1}, BOUNDARY_ELIMINATED, PETSC_FALSE, 1, 0.3, 1, ""};
  const char *method[] = {KSPGMRES, KSPCG, KSPKCG, KSPGMRES};
  const char *says[]   = {"the Krylov method takes it for a linear function", "in single precision",
                          "in single precision", "the Krylov method takes it for a linear function"};
  PetscBool   good     = PETSC_TRUE, has;
  PetscInt    its;
  System      s = {0};

  PetscFunctionBeginUser;
  PetscCall(Create(&c, &s));
  PetscCall(CreateKSP(c.options, PC_KCYCLE_PRECISION_AUTO, &s));
  PetscCall(Wait(&s));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(method); i++) {
    PetscCall(KSPSetType(s.ksp, method[i]));
    PetscCall(Iterations(&s, 1e-11, &its));
    PetscCall(ViewHas(s.pc, says[i], &has));
    good = (PetscBool)(good && its > 0 && has);
  }
  PetscCall(Claim(good, "single for methods that converge with its rounding, and for no others"));
  PetscCall(Destroy(&s));
  PetscFunctionReturn(0);
}

static PetscErrorCode Choices(void)
{
  const char single[] = "in single precision", rounding[] = "in double precision: rounding of single precision";

  PetscFunctionBeginUser;
  PetscCall(Choose("single where it is safe", BOUNDARY_ELIMINATED, 0, PETSC_FALSE, single));
  PetscCall(Choose("single where boundary points are stored", BOUNDARY_STORED, 0, PETSC_FALSE, single));
  PetscCall(Choose("single where a kernel is known", BOUNDARY_NEUMANN, 0, PETSC_FALSE, single));
  PetscCall(Choose("single with a shift", BOUNDARY_NEUMANN, 1e-2, PETSC_FALSE, single));
  PetscCall(Choose("double where it is nearly singular", BOUNDARY_NEUMANN, 1e-8, PETSC_FALSE, rounding));
  PetscCall(Choose("double where it is not symmetric", BOUNDARY_ELIMINATED, 0, PETSC_TRUE,
                   "in double precision: the operator is not symmetric"));
  PetscCall(Follow());
  PetscFunctionReturn(0);
}

/* -pc_kcycle_precision is on the command line */
static PetscErrorCode Option(void)
{
  PetscBool             says = PETSC_FALSE;
  PetscInt              its;
  PCKCyclePrecisionType precision;
  System                s = {0};

  PetscFunctionBeginUser;
  PetscCall(Create(&Cases[0], &s));
  PetscCall(CreateKSP("", PC_KCYCLE_PRECISION_DOUBLE, &s));
  PetscCall(PCKCycleGetPrecision(s.pc, &precision));
  PetscCall(Iterations(&s, 1e-10, &its));
  PetscCall(ViewHas(s.pc, "in single precision, the coarsest problem excepted", &says));
  PetscCall(Claim(its > 0 && says && precision == PC_KCYCLE_PRECISION_SINGLE, "the option"));
  PetscCall(Destroy(&s));
  PetscFunctionReturn(0);
}

int main(int argc, char **args)
{
  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &args, help));
  if (Given("-refusals")) PetscCall(Refusals());
  else if (Given("-choices")) PetscCall(Choices());
  else if (Given("-option")) PetscCall(Option());
  else {
    for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(Cases); i++) PetscCall(Compare(&Cases[i]));
    PetscCall(Uses());
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: !complex

  test:
    nsize: {{1 2 4}}
    output_file: output/precision.out

  test:
    suffix: refusals
    args: -refusals

  test:
    suffix: choices
    nsize: {{1 3 4}}
    args: -choices

  test:
    suffix: option
    nsize: {{1 2}}
    args: -option -pc_kcycle_precision single

TEST*/
