static char help[] = "The thresholds of the policy: what the plan says on both sides of each.\n\n";

#include "poisson.h"

typedef enum {
  FACE,  /* one coupling along x, in the middle of the grid */
  ALONG, /* all couplings along the last direction */
  STRIP, /* those in a fifth of the grid */
  WIDTH, /* those in this part of the grid, where they are 0.05 */
  PLATE, /* those along the last direction in this part of the grid, where they are 1e-4 */
  CELLS, /* all, as of cells whose widths grow by this factor from the middle on */
  CRACK, /* one as in FACE, next to a plate in PLATE_PART of the grid */
  THIN,  /* every second one of them in this part of the grid, 0.9; the others are 10 */
  BEYOND /* the couplings of all end points with points outside the grid */
} Where;

/* Two problems on either side of a threshold: couplings are 1, and value in some places. words: what the view of the
   first one says, and that of the second does not */
typedef struct {
  const char *threshold;
  PetscInt    dim, n[2];
  Where       where;
  PetscReal   value[2];
  const char *words, *options[2];
} Case;

#define PLATE_PART 0.3 /* there lines leave 1.6 % of the points of 40^3 */

static const Case Cases[] = {
    {"JUMP", 2, {64, 64}, FACE, {3.05, 2.95}, "by operator interpolation", {"", ""}},
    {"JUMP", 3, {20, 20}, FACE, {3.05, 2.95}, "by operator interpolation", {"", ""}},
    {"STRONG", 2, {64, 64}, ALONG, {0.61, 0.59}, "coarsened in xy", {"", ""}},
    {"STRONG", 3, {20, 20}, ALONG, {0.61, 0.59}, "coarsened in xyz", {"", ""}},
    {"WEAK", 2, {100, 100}, STRIP, {0.098, 0.102}, "100 x 100 x 1, 5 points, lines along x,", {"", ""}},
    {"WEAK", 3, {30, 30}, STRIP, {0.098, 0.102}, "30 x 30 x 30, 7 points, lines along xy,", {"", ""}},
    {"LINES", 3, {40, 40}, WIDTH, {0.075, 0.025}, "40 x 40 x 40, 7 points, lines along xy,", {"", ""}},
    {"PLANES", 3, {40, 40}, PLATE, {0.3, 0.25}, "40 x 40 x 40, 7 points, planes across z,", {"", ""}},
    {"PLANES_JUMPS", 3, {40, 40}, CRACK, {2.95, 3.05}, "40 x 40 x 40, 7 points, planes across z,", {"", ""}},
    {"PLANES_OTHERS", 3, {40, 40}, CELLS, {1.22, 1.2}, "40 x 40 x 40, 7 points, planes across xyz,", {"", ""}},
    {"RUNS", 2, {300, 300}, WIDTH, {0.01, 0.005}, "300 x 300 x 1, 5 points, lines along x,", {"", ""}},
    {"STAR", 2, {300, 300}, THIN, {0.01, 0.003}, "300 x 150 x 1, 9 points", {"", ""}},
    {"STAR", 3, {40, 40}, THIN, {0.1, 0}, "40 x 40 x 20, 15 points", {"", "-pc_kcycle_interpolation operator"}},
    {"SWEEPS_LINES", 2, {64, 64}, STRIP, {0.05, 1}, "richardson(1)+relax", {"", ""}},
    {"SWEEPS_LINES_COARSE", 2, {64, 64}, STRIP, {0.05, 0.05}, "richardson(2)+relax", {"", "-pc_mg_levels 3"}},
    {"COARSE_LINES", 2, {64, 64}, STRIP, {0.05, 0.05}, "richardson(2)+relax", {"-pc_mg_levels 4", "-pc_mg_levels 3"}},
    {"COARSE_LINES", 3, {32, 32}, STRIP, {0.05, 0.05}, "richardson(2)+relax", {"-pc_mg_levels 4", "-pc_mg_levels 3"}},
    {"CLOSED", 2, {65, 65}, BEYOND, {0.099, 0.101}, "grid 33 x 33", {"", ""}},
    {"COARSEST", 2, {24, 32}, BEYOND, {1, 1}, "  4 levels", {"", ""}},
    {"COARSEST", 2, {32, 64}, BEYOND, {1, 1}, "  5 levels", {"", ""}},
    {"SWEEPS", 2, {4, 3}, BEYOND, {1, 1}, "richardson(2)+relax", {"", ""}},
    {"SWEEPS_SECOND", 2, {8, 4}, BEYOND, {1, 1}, "richardson(3)+relax", {"", ""}},
    {"SWEEPS_COARSE", 2, {16, 8}, BEYOND, {1, 1}, "richardson(4)+relax", {"", ""}},
    {"COARSEST_ROWS",
     2,
     {45, 43},
     BEYOND,
     {1, 1},
     "  3 levels",
     {"-pc_kcycle_structured off -pc_kcycle_hierarchy grid", "-pc_kcycle_structured off -pc_kcycle_hierarchy grid"}},
    {"FEW_POINTS",
     2,
     {49, 33},
     BEYOND,
     {1, 1},
     "  5 levels",
     {"-pc_kcycle_structured off -pc_kcycle_hierarchy dm", "-pc_kcycle_structured off -pc_kcycle_hierarchy dm"}},
    {"JACOBI_PART", 2, {32, 32}, BEYOND, {1, 1}, "omega 0.8 (chosen)", {"-mg_levels_pc_relax_type jacobi", ""}}};

/* The area between a cell and the next one in direction d over the distance of their middles */
static PetscReal BetweenCells(const Case *c, int which, const PetscInt at[], PetscInt d)
{
  PetscReal coupling = 1, width[2];

  for (PetscInt e = 0; e < c->dim; e++) {
    for (int i = 0; i < 2; i++)
      width[i] = PetscPowReal(c->value[which], PetscAbsReal(PetscMax(at[e] + i, 0) - (PetscReal)(c->n[which] - 1) / 2));
    coupling *= e == d ? 2 / (width[0] + width[1]) : width[0];
  }
  return coupling;
}

/* The coupling of a point with the next one in direction d */
static PetscReal Coupling(const Case *c, int which, const PetscInt at[], PetscInt d)
{
  const PetscInt  n     = c->n[which];
  const PetscBool face  = (PetscBool)(c->where == FACE || c->where == CRACK);
  const PetscReal plate = c->where == PLATE ? c->value[which] : c->where == CRACK ? PLATE_PART : 0;
  PetscBool       here  = PETSC_FALSE;

  if (c->where == CELLS) return BetweenCells(c, which, at, d);
  if (at[d] < 0 || at[d] == n - 1) return c->where == BEYOND ? c->value[which] : 1;
  if (d == c->dim - 1 && at[0] < plate * n) return 1e-4;
  if (c->where == ALONG) here = (PetscBool)(d == c->dim - 1);
  if (c->where == STRIP) here = (PetscBool)(d == c->dim - 1 && 5 * at[0] < n);
  if (c->where == WIDTH) return d == c->dim - 1 && at[0] < c->value[which] * n ? 0.05 : 1;
  if (c->where == THIN && d == c->dim - 1) return at[d] % 2 || at[0] >= c->value[which] * n ? 10 : 0.9;
  if (face) here = (PetscBool)(d == 0);
  for (PetscInt e = 0; face && e < c->dim; e++) here = (PetscBool)(here && at[e] == n / 2);
  return here ? c->value[which] : 1;
}

/* A case, and which of its values */
typedef struct {
  const Case *c;
  int         which;
} Choice;

static void MakeRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const Choice *choice = (const Choice *)ctx;
  const Case   *c      = choice->c;

  for (PetscInt o = 0; o < 2 * c->dim; o++) {
    const PetscInt d = o / 2;
    PetscInt       to[3];

    StarNeighbour(at, o, to);
    RowCoupling(row, to, Coupling(c, choice->which, o % 2 ? at : to, d),
                (PetscBool)(to[d] >= 0 && to[d] < c->n[choice->which]));
  }
}

static PetscErrorCode Assemble(const Case *c, int which, DM da, Mat *A)
{
  PetscFunctionBeginUser;
  if (!*A) PetscCall(DMCreateMatrix(da, A));
  PetscCall(AssembleRows(da, MakeRow, &(Choice){c, which}, *A));
  PetscFunctionReturn(0);
}

/* Does the view of the PC say so? */
static PetscErrorCode Says(const Case *c, int which, PetscBool *says)
{
  Poisson      p = {.dim = c->dim, .n = c->n[which]};
  PetscOptions own;
  DM           da;
  Mat          A = NULL;
  PC           pc;

  PetscFunctionBeginUser;
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, &p, &da));
  PetscCall(Assemble(c, which, da, &A));
  PetscCall(PushOptions(c->options[which], &own));
  PetscCall(MakePC(A, PCKCYCLE, &pc));
  PetscCall(PCSetDM(pc, da));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(ViewHas(pc, c->words, says));
  PetscCall(PCDestroy(&pc));
  PetscCall(PopOptions(&own));
  PetscCall(DestroyAll(&A, &da));
  PetscFunctionReturn(0);
}

/* The preconditioner of the first value gets values on either side of its threshold. It is kept until they are beyond
   it by more than a part of it; then it becomes what a new one would be */
static PetscErrorCode Kept(const Case *c, PetscReal inside, PetscReal outside, PetscBool *kept)
{
  const PetscReal value[4] = {c->value[0], inside, c->value[1], outside};
  Poisson         p        = {.dim = c->dim, .n = c->n[0]};
  DM              da;
  Mat             A = NULL;
  PC              pc;

  PetscFunctionBeginUser;
  *kept = PETSC_TRUE;
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, &p, &da));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCKCYCLE));
  PetscCall(PCSetDM(pc, da));
  for (int i = 0; i < 4; i++) {
    Case      now = *c;
    PetscBool says;

    now.value[0] = value[i];
    PetscCall(Assemble(&now, 0, da, &A));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetUp(pc));
    PetscCall(ViewHas(pc, c->words, &says));
    if (says != (PetscBool)(i < 3)) *kept = PETSC_FALSE;
  }
  PetscCall(DestroyAll(&A, &pc, &da));
  PetscFunctionReturn(0);
}

/* Thresholds that levels are built by */
static PetscErrorCode KeptAll(void)
{
  static const struct {
    Case      c;
    PetscReal inside, outside;
  } hover[] = {
      {{"STRONG", 2, {64, 64}, ALONG, {0.61, 0.59}, "coarsened in xy", {"", ""}}, 0.52, 0.5},
      {{"STRONG", 2, {64, 64}, ALONG, {0.59, 0.61}, "coarsened in x by", {"", ""}}, 0.68, 0.7},
      {{"STRONG", 3, {20, 20}, ALONG, {0.61, 0.59}, "coarsened in xyz", {"", ""}}, 0.52, 0.5},
      {{"JUMP", 2, {64, 64}, FACE, {3.05, 2.95}, "by operator interpolation", {"", ""}}, 2.6, 2.5},
      {{"JUMP", 2, {64, 64}, FACE, {2.95, 3.05}, "64 x 64 x 1, 5 points, fused, coarsened in xy by linear", {"", ""}},
       3.4,
       3.5},
      {{"CLOSED", 2, {65, 65}, BEYOND, {0.099, 0.101}, "grid 33 x 33", {"", ""}}, 0.114, 0.116},
      {{"CLOSED", 2, {65, 65}, BEYOND, {0.101, 0.099}, "grid 32 x 32", {"", ""}}, 0.086, 0.084},
  };

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(hover); i++) {
    PetscBool kept;

    PetscCall(Kept(&hover[i].c, hover[i].inside, hover[i].outside, &kept));
    PetscCall(ClaimThat(kept, "KEPT, %s in %" PetscInt_FMT "D", hover[i].c.threshold, hover[i].c.dim));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **args)
{
  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &args, help));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(Cases); i++) {
    const Case *c = &Cases[i];
    PetscBool   says[2];

    for (int which = 0; which < 2; which++) PetscCall(Says(c, which, &says[which]));
    PetscCall(ClaimThat(says[0] && !says[1], "%s in %" PetscInt_FMT "D", c->threshold, c->dim));
  }
  PetscCall(KeptAll());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: !complex

  test:
    nsize: {{1 2}}
    output_file: output/policy.out

TEST*/
