static char help[] = "What structured levels look like: which directions are coarsened, what is found at ends, where "
                     "coarsening stops.\n\n";

#include "grids.h"
#include "poisson.h"

/* A symmetric 5-point operator on cells, insulated in y */
typedef struct {
  PetscInt  size[2];
  PetscReal strength[2]; /* couplings in x and y */
  PetscReal excess[2];   /* of the diagonal at the low and the high end in x, relative to the couplings in x */
  PetscInt  walls;       /* at so many points of each of these ends there is none */
  PetscReal jump;        /* couplings of the cells in the middle are larger by this factor, if not 0 */
} Problem;

static PetscReal Coefficient(const Problem *p, const PetscInt at[])
{
  PetscBool middle = PETSC_TRUE;

  for (int d = 0; d < 2; d++) middle = (PetscBool)(middle && PetscAbs(2 * at[d] - p->size[d]) < p->size[d] / 2);
  return p->jump > 0 && middle ? p->jump : 1;
}

static void MakeRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const Problem  *p    = (const Problem *)ctx;
  const PetscReal mine = Coefficient(p, at);

  for (PetscInt o = 0; o < 4; o++) {
    PetscInt to[3];

    StarNeighbour(at, o, to);
    if (IsInBox(to, p->size, 2)) {
      const PetscReal other = Coefficient(p, to);

      RowCoupling(row, to, p->strength[o / 2] * 2 * mine * other / (mine + other), PETSC_TRUE);
    } else if (o < 2 && at[1] >= p->walls) row->value[0] += p->excess[o] * p->strength[0] * mine;
  }
}

/* Levels for a problem, set up */
static PetscErrorCode CreateLevels(const Problem *p, const char options[], DM *da, PC *pc)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MakeDM(PETSC_COMM_WORLD, 2, p->size, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, da));
  PetscCall(DMSetMatType(*da, MATSTENCIL));
  PetscCall(DMSetUp(*da));
  PetscCall(DMCreateMatrix(*da, &A));
  PetscCall(AssembleRows(*da, MakeRow, p, A));
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(MakePC(A, PCKCYCLE, pc));
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(PCSetUp(*pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/* Points of a level in each direction; 0 is the finest */
static PetscErrorCode LevelSize(PC pc, PetscInt level, PetscInt size[])
{
  KSP      ksp;
  DM       da;
  PetscInt nlevels;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetLevels(pc, &nlevels));
  PetscCall(PCMGGetSmoother(pc, nlevels - 1 - level, &ksp));
  PetscCall(KSPGetDM(ksp, &da));
  if (level < nlevels - 1) {
    Mat A;

    PetscCall(KSPGetOperators(ksp, &A, NULL));
    PetscCall(MatGetDM(A, &da));
  }
  PetscCall(DMDAGetInfo(da, NULL, &size[0], &size[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscFunctionReturn(0);
}

/* Weak couplings are those below 0.6 of the strongest, on each level: a direction of those waits until its couplings
   are not weak any more */
static PetscErrorCode Directions(void)
{
  const struct {
    PetscReal strength[2];
    PetscInt  size[2]; /* of the second level, from 48 x 64 */
  } cases[] = {{{1, 1}, {24, 32}},    {{1, 0.65}, {24, 32}}, {{1, 0.55}, {24, 64}}, {{1, 0.25}, {24, 64}},
               {{0.65, 1}, {24, 32}}, {{0.55, 1}, {48, 32}}, {{0.25, 1}, {48, 32}}, {{3e-5, 1e-4}, {48, 32}}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    Problem  p = {{48, 64}, {cases[i].strength[0], cases[i].strength[1]}, {0, 0}, 0, 0};
    DM       da;
    PC       pc;
    PetscInt size[2];

    PetscCall(CreateLevels(&p, "", &da, &pc));
    PetscCall(LevelSize(pc, 1, size));
    PetscCall(ClaimThat(size[0] == cases[i].size[0] && size[1] == cases[i].size[1],
                        "couplings %g : %g: coarsened in %s%s", (double)p.strength[0], (double)p.strength[1],
                        cases[i].size[0] < 48 ? "x" : "", cases[i].size[1] < 64 ? "y" : ""));
    PetscCall(DestroyAll(&pc, &da));
  }
  PetscFunctionReturn(0);
}

/* What interpolation makes of ones at an end in x, away from corners: 1 if the end is closed, less if it goes on */
static PetscErrorCode AtEnd(PC pc, DM da, int side, PetscReal *most)
{
  Mat           P;
  Vec           ones, v;
  PetscInt      nlevels, s[2], n[2], size[2];
  PetscScalar **a;
  PetscReal     mine = 0;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetLevels(pc, &nlevels));
  PetscCall(PCMGGetInterpolation(pc, nlevels - 1, &P));
  PetscCall(MatCreateVecs(P, &ones, NULL));
  PetscCall(DMCreateGlobalVector(da, &v));
  PetscCall(VecSet(ones, 1));
  PetscCall(MatMult(P, ones, v));
  PetscCall(DMDAGetCorners(da, &s[0], &s[1], NULL, &n[0], &n[1], NULL));
  PetscCall(DMDAGetInfo(da, NULL, &size[0], &size[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAVecGetArrayRead(da, v, &a));
  for (PetscInt j = PetscMax(s[1], 2); j < PetscMin(s[1] + n[1], size[1] - 2); j++) {
    for (PetscInt i = s[0]; i < s[0] + n[0]; i++) {
      if (i == (side ? size[0] - 1 : 0)) mine = PetscMax(mine, PetscRealPart(a[j][i]));
    }
  }
  PetscCall(DMDAVecRestoreArrayRead(da, v, &a));
  PetscCallMPI(MPI_Allreduce(&mine, most, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCall(DestroyAll(&ones, &v));
  PetscFunctionReturn(0);
}

/* A point next to an end is interpolated by a / (a + e), with its coupling a inward and the excess e of its row sum. If
   the first point of an end is kept, nearly nothing flows out of it */
static PetscErrorCode EndsAreFound(void)
{
  const struct {
    PetscReal excess[2]; /* a is 1 */
    PetscInt  walls;     /* of 96 points */
    PetscBool kept;      /* the first point */
  } cases[] = {{{0, 0}, 0, PETSC_TRUE},   {{1, 1}, 0, PETSC_FALSE},      {{0, 1}, 0, PETSC_TRUE},
               {{2, 0}, 0, PETSC_FALSE},  {{0.06, 0.15}, 0, PETSC_TRUE}, {{0.15, 0.06}, 0, PETSC_FALSE},
               {{7, 15}, 0, PETSC_FALSE}, {{1, 1}, 3, PETSC_FALSE},      {{1, 1}, 8, PETSC_FALSE}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    const PetscInt n = 24 + (PetscInt)(cases[i].kept ? 0 : 1); /* a size at which the last point is not kept */
    Problem        p = {{n, 96}, {1, 1}, {cases[i].excess[0], cases[i].excess[1]}, cases[i].walls, 0};
    DM             da;
    PC             pc;
    PetscReal      value[2], weight[2];
    PetscBool      good = PETSC_TRUE;
    char           claim[128];

    PetscCall(CreateLevels(&p, "-pc_kcycle_interpolation linear", &da, &pc));
    for (int side = 0; side < 2; side++) {
      PetscCall(AtEnd(pc, da, side, &value[side]));
      weight[side] = (cases[i].kept && side == 0) || p.walls ? 1 : 1 / (1 + p.excess[side]);
      good         = (PetscBool)(good && PetscAbsReal(value[side] - weight[side]) < 1e-12);
    }
    PetscCall(PetscSNPrintf(claim, sizeof(claim),
                            "excess %g and %g, %" PetscInt_FMT " points with a wall: weights %.4f and %.4f",
                            (double)p.excess[0], (double)p.excess[1], p.walls, (double)weight[0], (double)weight[1]));
    PetscCall(Claim(good, claim));
    if (!good) PetscCall(Print("  %g and %g\n", (double)value[0], (double)value[1]));
    PetscCall(DestroyAll(&pc, &da));
  }
  PetscCall(PetscOptionsClearValue(NULL, "-pc_kcycle_interpolation"));
  PetscFunctionReturn(0);
}

/* Down to 3 points in each direction, also where coefficients jump; a grid of 2 points still goes on in a direction
   next to a long one */
static PetscErrorCode Coarsest(void)
{
  const struct {
    PetscInt  size[2];
    PetscReal strength[2], jump;
    PetscInt  coarsest[2], nlevels;
  } cases[] = {{{48, 48}, {1, 1}, 0, {3, 3}, 5},
               {{64, 64}, {1, 1}, 0, {2, 2}, 6},
               {{72, 72}, {1, 1}, 1e4, {3, 3}, 6},
               {{2, 96}, {1e6, 1}, 0, {1, 3}, 7}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    Problem p = {
        {cases[i].size[0], cases[i].size[1]}, {cases[i].strength[0], cases[i].strength[1]}, {0, 0}, 0, cases[i].jump};
    DM       da;
    PC       pc;
    PetscInt size[2], nlevels;
    char     claim[128];

    PetscCall(CreateLevels(&p, "", &da, &pc));
    PetscCall(PCMGGetLevels(pc, &nlevels));
    PetscCall(LevelSize(pc, nlevels - 1, size));
    PetscCall(PetscSNPrintf(claim, sizeof(claim),
                            "%" PetscInt_FMT " x %" PetscInt_FMT " points%s: %" PetscInt_FMT
                            " levels, the coarsest has %" PetscInt_FMT " x %" PetscInt_FMT,
                            p.size[0], p.size[1], p.jump > 0 ? " and a jump" : "", cases[i].nlevels,
                            cases[i].coarsest[0], cases[i].coarsest[1]));
    PetscCall(Claim(nlevels == cases[i].nlevels && size[0] == cases[i].coarsest[0] && size[1] == cases[i].coarsest[1],
                    claim));
    if (nlevels != cases[i].nlevels || size[0] != cases[i].coarsest[0])
      PetscCall(
          Print("  %" PetscInt_FMT " levels, %" PetscInt_FMT " x %" PetscInt_FMT "\n", nlevels, size[0], size[1]));
    PetscCall(DestroyAll(&pc, &da));
  }
  PetscFunctionReturn(0);
}

/* Assembles any of the grids of a program that wants to assemble them all */
static PetscErrorCode Compute(KSP ksp, Mat J, Mat A, void *ctx)
{
  Grid g = *(Grid *)ctx;
  DM   da;

  PetscFunctionBeginUser;
  (void)J;
  PetscCall(KSPGetDM(ksp, &da));
  PetscCall(DMDAGetInfo(da, NULL, &g.size[0], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(MatZeroEntries(A));
  PetscCall(GridAssemble(&g, da, A));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetUpAssembled(KSP ksp)
{
  return KSPSetUp(ksp);
}

/* Is the grid one that a program can assemble coarse operators for? Words are those of an error, if levels are not
   structured */
static PetscErrorCode IsAssembled(GridBoundary low, GridBoundary high, PetscInt n, PetscBool *is)
{
  Grid           g = {0};
  DM             da;
  KSP            ksp;
  PetscErrorCode ierr;
  char           words[ERROR_LENGTH] = "";

  PetscFunctionBeginUser;
  g.dim     = 1;
  g.size[0] = n;
  g.size[1] = g.size[2] = 1;
  g.strength[0]         = 1;
  GridSetBoundaries(&g, low);
  g.boundary[0][1] = high;
  PetscCall(GridCreateDM(&g, &da));
  PetscCall(DMSetMatType(da, MATSTENCIL));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, da));
  PetscCall(KSPSetComputeOperators(ksp, Compute, &g));
  PetscCall(KSPSetOptionsPrefix(ksp, "assembled_"));
  PetscCall(PetscOptionsInsertString(
      NULL, "-assembled_pc_type kcycle -assembled_pc_kcycle_structured on -assembled_pc_mg_galerkin none"));
  PetscCall(KSPSetFromOptions(ksp));
  KeepErrorOf(SetUpAssembled(ksp), ierr, words);
  *is = (PetscBool)!ierr;
  if (!ierr) {
    PetscInt nlevels;

    PetscCall(PCMGGetLevels(PCOf(ksp), &nlevels));
    *is = (PetscBool)(nlevels > 1);
  } else if (!strstr(words, "makes no even grid")) PetscCall(Print("  NO: %s\n", words));
  PetscCall(DestroyAll(&ksp, &da));
  PetscFunctionReturn(0);
}

/* Every second point makes an even grid on the same domain for one parity of the number of points, for both, or for
   none */
static PetscErrorCode Assembled(void)
{
  const struct {
    GridBoundary low, high;
    PetscBool    even, odd;
  } cases[] = {{BOUNDARY_STORED, BOUNDARY_STORED, PETSC_FALSE, PETSC_TRUE},
               {BOUNDARY_ELIMINATED, BOUNDARY_ELIMINATED, PETSC_FALSE, PETSC_TRUE},
               {BOUNDARY_NEUMANN, BOUNDARY_NEUMANN, PETSC_TRUE, PETSC_TRUE},
               {BOUNDARY_PERIODIC, BOUNDARY_PERIODIC, PETSC_TRUE, PETSC_FALSE},
               {BOUNDARY_STORED, BOUNDARY_ELIMINATED, PETSC_TRUE, PETSC_FALSE},
               {BOUNDARY_ELIMINATED, BOUNDARY_STORED, PETSC_TRUE, PETSC_FALSE},
               {BOUNDARY_NEUMANN, BOUNDARY_STORED, PETSC_FALSE, PETSC_TRUE},
               {BOUNDARY_STORED, BOUNDARY_NEUMANN, PETSC_FALSE, PETSC_TRUE},
               {BOUNDARY_NEUMANN, BOUNDARY_ELIMINATED, PETSC_FALSE, PETSC_FALSE},
               {BOUNDARY_ELIMINATED, BOUNDARY_NEUMANN, PETSC_FALSE, PETSC_FALSE}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    PetscBool even, odd;

    PetscCall(IsAssembled(cases[i].low, cases[i].high, 24, &even));
    PetscCall(IsAssembled(cases[i].low, cases[i].high, 25, &odd));
    PetscCall(ClaimThat(even == cases[i].even && odd == cases[i].odd,
                        "%s-%s, coarse operators of the program: for %s numbers of points",
                        GridBoundaries[cases[i].low], GridBoundaries[cases[i].high],
                        cases[i].even  ? (cases[i].odd ? "all" : "even")
                        : cases[i].odd ? "odd"
                                       : "no"));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(Directions());
  PetscCall(EndsAreFound());
  PetscCall(Coarsest());
  PetscCall(Assembled());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: small
    requires: !complex
    nsize: {{1 2}}
    args: -pc_kcycle_process_eq_limit 0

TEST*/
