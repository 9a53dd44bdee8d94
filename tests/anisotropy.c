static char help[] =
    "Lines where points do not do: what PCKCYCLE chooses on stretched grids, and by which options not.\n\n";

#include "poisson.h"

/* A grid whose cells grow from the middle, each by this factor */
typedef struct {
  Poisson   poisson;
  PetscReal growth;
} Stretched;

static PetscReal Length(const Stretched *s, PetscInt i)
{
  return PetscPowReal(s->growth, PetscAbsReal(i + 0.5 - 0.5 * (PetscReal)s->poisson.n));
}

/* Finite volumes, values at the boundary */
static void MakeRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const Stretched *s      = (const Stretched *)ctx;
  PetscReal        volume = 1;

  for (PetscInt d = 0; d < s->poisson.dim; d++) volume *= Length(s, at[d]);
  for (PetscInt o = 0; o < 2 * s->poisson.dim; o++) {
    const PetscReal here = Length(s, at[o / 2]);
    PetscInt        to[3];
    PetscBool       inside;

    StarNeighbour(at, o, to);
    inside = (PetscBool)(to[o / 2] >= 0 && to[o / 2] < s->poisson.n);
    RowCoupling(row, to, volume / here / (0.5 * (here + (inside ? Length(s, to[o / 2]) : 0))), inside);
  }
}

static PetscErrorCode CreateMatrix(Stretched *s, DM *da, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, &s->poisson, da));
  PetscCall(DMCreateMatrix(*da, A));
  PetscCall(MatSetDM(*A, *da));
  PetscCall(AssembleRows(*da, MakeRow, s, *A));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolver(Mat A, const char options[], KSP *ksp)
{
  PetscOptions own;

  PetscFunctionBeginUser;
  PetscCall(PushOptions(options, &own));
  PetscCall(MakeSolver(A, KSPCG, 1e-8, 500, ksp));
  PetscCall(KSPSetUp(*ksp));
  PetscCall(PopOptions(&own));
  PetscFunctionReturn(0);
}

static PetscErrorCode Iterations(const Stretched *s, DM da, KSP ksp, PetscInt *its)
{
  KSPConvergedReason reason;
  Mat                A;
  Vec                b, x;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(PoissonFill(&s->poisson, da, b));
  PetscCall(SolveSystem(ksp, b, x, its, &reason));
  if (reason < 0) *its = 500;
  PetscCall(DestroyAll(&b, &x));
  PetscFunctionReturn(0);
}

/* Iterations with these options; does the view have the words? */
static PetscErrorCode Solve(Stretched *s, const char options[], const char words[], PetscInt *its, PetscBool *has)
{
  System sys = {0};

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(s, &sys.da, &sys.A));
  PetscCall(CreateSolver(sys.A, options, &sys.ksp));
  PetscCall(Iterations(s, sys.da, sys.ksp, its));
  PetscCall(KSPGetPC(sys.ksp, &sys.pc));
  PetscCall(ViewHas(sys.pc, words, has));
  PetscCall(SystemDestroy(&sys));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestChoice(Stretched *s, const char precision[])
{
  const char *const others[] = {"-pc_kcycle_anisotropy off", "-mg_levels_pc_relax_type redblack",
                                "-pc_mg_distinct_smoothup -mg_levels_up_pc_relax_type redblack"};
  char              options[128], words[32];
  PetscInt          lines, its;
  PetscBool         has;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(words, sizeof(words), "lines along %s", s->poisson.dim == 2 ? "xy" : "xyz"));
  PetscCall(Solve(s, precision, words, &lines, &has));
  PetscCall(Print("%" PetscInt_FMT "D, stretched: %" PetscInt_FMT " iterations\n", s->poisson.dim, lines));
  PetscCall(Claim(has, "  the view has the lines"));
  PetscCall(PetscSNPrintf(options, sizeof(options), "%s -pc_mg_distinct_smoothup", precision));
  PetscCall(Solve(s, options, "alternating, order forward", &its, &has));
  PetscCall(Claim(has && its == lines, "  the same with separate smoothers after coarser levels"));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(others); i++) {
    PetscCall(PetscSNPrintf(options, sizeof(options), "%s %s", precision, others[i]));
    PetscCall(Solve(s, options, "redblack", &its, &has));
    PetscCall(ClaimThat(has && its > lines + 1, "  more with %s", others[i]));
  }
  PetscFunctionReturn(0);
}

/* Planes, where lines do not do: on grids that grow faster */
static PetscErrorCode TestPlanes(Stretched *s, const char precision[])
{
  const PetscReal growth = s->growth;
  char            options[160];
  PetscInt        planes, lines, its;
  PetscBool       has, says;

  PetscFunctionBeginUser;
  PetscCall(Solve(s, precision, "planes across", &lines, &has));
  PetscCall(Claim(!has, "  lines alone are relaxed"));
  s->growth = 1.6;
  PetscCall(Solve(s, precision, "planes across xyz", &planes, &has));
  PetscCall(Print("3D, stretched more: %" PetscInt_FMT " iterations\n", planes));
  PetscCall(Claim(has, "  the view has planes"));
  PetscCall(Solve(s, precision, "kappa=infinity", &lines, &has));
  PetscCall(PetscSNPrintf(options, sizeof(options), "%s -pc_kcycle_kappa 1", precision));
  PetscCall(Solve(s, options, "kappa=1 ", &its, &says));
  PetscCall(Claim(has && says && its > planes, "  by W-cycles, which take fewer than V-cycles"));
  PetscCall(PetscSNPrintf(options, sizeof(options), "%s -mg_levels_pc_relax_type planes", precision));
  PetscCall(Solve(s, options, "planes across x, y, z are relaxed by a cycle each", &lines, &has));
  PetscCall(Claim(has && lines <= planes, "  at most as many with planes on all levels"));
  PetscCall(PetscStrlcat(options, " -mg_levels_planes_pc_kcycle_structured off", sizeof(options)));
  PetscCall(Solve(s, options, "planes across x, y, z are relaxed by a cycle each", &its, &has));
  PetscCall(Claim(has && its <= 4 * planes, "  at most four times if levels of planes are not structured"));
  PetscCall(PetscSNPrintf(options, sizeof(options), "%s -mg_levels_pc_relax_type alternating", precision));
  PetscCall(Solve(s, options, "planes across", &lines, &has));
  PetscCall(Claim(!has && lines > 3 * planes, "  three times as many with lines"));
  s->growth = growth;
  PetscFunctionReturn(0);
}

/* Values change: from cubes to a stretched grid, and back */
static PetscErrorCode TestValues(Stretched *s)
{
  const PetscReal growth[] = {1, s->growth, 1};
  PetscInt        its, fresh;
  PetscBool       has;
  KSP             ksp;
  DM              da;
  Mat             A;

  PetscFunctionBeginUser;
  s->growth = 1;
  PetscCall(CreateMatrix(s, &da, &A));
  PetscCall(CreateSolver(A, "", &ksp));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(growth); i++) {
    s->growth = growth[i];
    PetscCall(AssembleRows(da, MakeRow, s, A));
    PetscCall(Iterations(s, da, ksp, &its));
    PetscCall(Solve(s, "", "lines along", &fresh, &has));
    PetscCall(Claim(its == fresh && has == (PetscBool)(s->growth > 1),
                    s->growth > 1 ? "new values, stretched: as a new solver" : "new values, cubes: as a new solver"));
  }
  s->growth = growth[1];
  PetscCall(DestroyAll(&ksp, &A, &da));
  PetscFunctionReturn(0);
}

/* A sweep of PCRELAX on x */
static PetscErrorCode Sweep(Mat A, const char type[], const char directions[], Vec b, Vec x)
{
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(MakeSweeps(A, type, 1, PETSC_TRUE, &ksp, &pc));
  PetscCall(PCRelaxSetDirections(pc, directions));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

/* Alternating lines are those of one direction after the other */
static PetscErrorCode TestDirections(Stretched *s)
{
  const char *const directions[] = {"yx", "zxy", "zx", ""};
  Vec               b, x, y;
  DM                da;
  Mat               A;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(s, &da, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(PoissonFill(&s->poisson, da, b));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(directions); i++) {
    const char *d = directions[i][0] ? directions[i] : s->poisson.dim == 2 ? "xy" : "xyz";
    PetscReal   norm[2];
    char        type[] = "zebra_x";

    if (s->poisson.dim == 2 && strchr(d, 'z')) continue;
    PetscCall(VecCopy(b, x));
    PetscCall(VecCopy(b, y));
    PetscCall(Sweep(A, "alternating", directions[i], b, x));
    for (; *d; d++) {
      type[6] = *d;
      PetscCall(Sweep(A, type, "", b, y));
    }
    PetscCall(DifferenceNorms(x, y, NORM_2, &norm[1], &norm[0]));
    PetscCall(
        ClaimThat(norm[0] > 0 && norm[1] <= 1e-13 * norm[0], "alternating lines, directions \"%s\"", directions[i]));
  }
  PetscCall(DestroyAll(&b, &x, &y, &A, &da));
  PetscFunctionReturn(0);
}

static PetscErrorCode Refuses(Mat A, const char type[], const char directions[], const char words[])
{
  char           said[ERROR_LENGTH] = "", *found;
  PC             pc;
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  PetscCall(MakePC(A, PCRELAX, &pc));
  PetscCall(PCRelaxSetType(pc, type));
  PetscCall(PetscPushErrorHandler(KeepError, said));
  ierr = PCRelaxSetDirections(pc, directions);
  if (!ierr) ierr = PCSetUp(pc);
  PetscCall(PetscPopErrorHandler());
  PetscCall(PetscStrstr(said, words, &found));
  PetscCall(ClaimThat(ierr && found, "%s with directions \"%s\" is an error that says so", type, directions));
  if (!found) PetscCall(Print("  it says: %s\n", said));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestErrors(Stretched *s)
{
  char           said[ERROR_LENGTH] = "";
  PetscErrorCode ierr;
  System         sys = {0};

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(s, &sys.da, &sys.A));
  PetscCall(Refuses(sys.A, "alternating", "xx", "cannot be \"xx\""));
  PetscCall(Refuses(sys.A, "alternating", "xw", "cannot be \"xw\""));
  PetscCall(Refuses(sys.A, "alternating", "xyzx", "cannot be \"xyzx\""));
  if (s->poisson.dim == 2)
    PetscCall(Refuses(sys.A, "alternating", "xz", "has lines along z, and the grid has 2 dimensions"));
  PetscCall(Refuses(sys.A, "planes", "yy", "cannot be \"yy\""));
  if (s->poisson.dim == 2)
    PetscCall(Refuses(sys.A, "planes", "", "is for grids of three dimensions, and this one has 2"));
  PetscCall(Refuses(sys.A, "zebra_y", "x", "is for -pc_relax_type alternating or planes, and the type is zebra_y"));
  PetscCall(CreateSolver(sys.A, "", &sys.ksp));
  PetscCall(KSPGetPC(sys.ksp, &sys.pc));
  KeepErrorOf(PCKCycleSetAnisotropy(sys.pc, PC_KCYCLE_ANISOTROPY_OFF), ierr, said);
  PetscCall(ClaimError(ierr, said, "call PCReset() before PCKCycleSetAnisotropy()",
                       "PCKCycleSetAnisotropy() after the set-up is an error"));
  PetscCall(SystemDestroy(&sys));
  PetscFunctionReturn(0);
}

int main(int argc, char **args)
{
  PetscBool single = PETSC_FALSE, errors = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &args, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-single", &single, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-errors", &errors, NULL));
  for (PetscInt dim = 2; dim < 4; dim++) {
    Stretched s;

    PetscCall(PetscMemzero(&s, sizeof(s)));
    s.poisson.dim = dim;
    s.poisson.n   = dim == 2 ? 120 : 32;
    s.growth      = dim == 2 ? 1.1 : 1.2;
    if (errors) PetscCall(TestErrors(&s));
    else PetscCall(TestChoice(&s, single ? "-pc_kcycle_precision single" : ""));
    if (!errors && dim == 3) PetscCall(TestPlanes(&s, single ? "-pc_kcycle_precision single" : ""));
    if (errors || single) continue;
    PetscCall(TestValues(&s));
    PetscCall(TestDirections(&s));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: !complex

  test:
    suffix: choice
    nsize: {{1 2 3}}
    args: -dm_mat_type {{aij stencil}}

  test:
    suffix: single
    nsize: {{1 2}}
    args: -single

  test:
    suffix: errors
    nsize: {{1 2}}
    args: -errors

TEST*/
