static char help[] =
    "Grids of matrices that have no DM: found, or given by their sizes, and as good as with a DMDA.\n\n";

#include "grids.h"
#include "poisson.h"

/* Who owns which rows */
typedef enum {
  LINES_WHOLE, /* in the order of lines, whole planes */
  LINES_CUT,   /* in the order of lines, processes cut planes */
  BOXES,       /* as DMDA numbers them */
  NUM_LAYOUTS
} Layout;

static const char *const Layouts[] = {"whole planes", "cut planes", "boxes"};

/* Counts of a sequence of cases */
typedef struct {
  PetscInt cases, notfound, iterations, solutions, views;
} Findings;

/* What differs between problems of the same grid */
typedef struct {
  PetscBool   constants; /* the null space that is attached */
  PetscInt    pin;       /* 1: the first row is the identity, 2: and its column is zero */
  PetscScalar sign;
} Change;

/* Local rows of natural order: those of the planes of a DMDA, or some more on the first process */
static PetscErrorCode LocalRows(const Grid *g, Layout layout, PetscInt *n)
{
  const PetscInt planes = g->size[g->dim - 1], plane = GridPoints(g) / planes;

  PetscFunctionBeginUser;
  *n = plane * (planes / PetscGlobalSize + (PetscGlobalRank < planes % PetscGlobalSize));
  if (layout == LINES_CUT && PetscGlobalRank == 0) *n += PetscGlobalSize > 1 ? plane / 3 : 0;
  if (layout == LINES_CUT && PetscGlobalRank == PetscGlobalSize - 1) *n -= PetscGlobalSize > 1 ? plane / 3 : 0;
  PetscFunctionReturn(0);
}

/* Rows in natural order, from the row function of the grid; zeros that are stored with those entries, as in
   diagonals that run through all lines, and further away */
static PetscErrorCode CreateLinesAndZeros(const Grid *g, Layout layout, PetscInt nzeros, const PetscInt distance[],
                                          Mat *A)
{
  PetscInt    n = 0, start, col[27], to[27][3];
  PetscScalar value[27];

  PetscFunctionBeginUser;
  PetscCall(LocalRows(g, layout, &n));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, n, n, PETSC_DETERMINE, PETSC_DETERMINE, 27, NULL, 27, NULL, A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(*A, &start, NULL));
  for (PetscInt row = start; row < start + n; row++) {
    const PetscInt at[3] = {row % g->size[0], row / g->size[0] % g->size[1], row / g->size[0] / g->size[1]};
    const PetscInt m     = GridRow(g, at, col, to, value);

    PetscCall(MatSetValues(*A, 1, &row, m, col, value, ADD_VALUES));
    for (PetscInt z = 0; z < nzeros; z++) {
      const PetscInt column = row + distance[z];

      if (column >= 0 && column < GridPoints(g)) PetscCall(MatSetValue(*A, row, column, 0, ADD_VALUES));
    }
  }
  PetscCall(AssembleMat(*A));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateLines(const Grid *g, Layout layout, Mat *A)
{
  return CreateLinesAndZeros(g, layout, 0, NULL, A);
}

/* The matrix with its DMDA, and the one without */
static PetscErrorCode CreatePair(Grid *g, Layout layout, DM *da, Mat *with, Mat *without)
{
  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < 3; d++)
    g->nproc[d] = layout == BOXES && d < g->dim ? PETSC_DECIDE : d == g->dim - 1 ? PetscGlobalSize : 1;
  PetscCall(GridCreateDM(g, da));
  PetscCall(GridCreateMat(g, *da, MATAIJ, with));
  if (layout == BOXES) {
    PetscCall(MatDuplicate(*with, MAT_COPY_VALUES, without));
    PetscCall(MatSetDM(*without, NULL));
  } else PetscCall(CreateLines(g, layout, without));
  PetscFunctionReturn(0);
}

static PetscErrorCode ChangeMat(const Change *change, Mat A)
{
  const PetscInt row = 0, nrows = 1;
  PetscInt       start;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, NULL));
  if (change->pin == 1) PetscCall(MatZeroRows(A, start ? 0 : nrows, &row, 1.0, NULL, NULL));
  if (change->pin == 2) PetscCall(MatZeroRowsColumns(A, start ? 0 : nrows, &row, 1.0, NULL, NULL));
  if (change->sign != (PetscScalar)1.0) PetscCall(MatScale(A, change->sign));
  if (!change->constants) PetscFunctionReturn(0);
  PetscCall(AttachConstants(A, NULL));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolver(Mat A, KSP *ksp)
{
  return MakeSolver(A, KSPGMRES, 1e-9, 60, ksp);
}

/* A right side that depends on the numbers of rows only, in the range of a singular operator */
static PetscErrorCode Solve(KSP ksp, Vec *x, PetscInt *its)
{
  Mat          A;
  Vec          b;
  MatNullSpace nullspace;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatCreateVecs(A, x, &b));
  PetscCall(FillRows(b, 5));
  PetscCall(MatGetNullSpace(A, &nullspace));
  if (nullspace) PetscCall(MatNullSpaceRemove(nullspace, b));
  PetscCall(SolveSystem(ksp, b, *x, its, NULL));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(0);
}

/* Largest difference of two vectors whose rows may be on other processes */
static PetscErrorCode Difference(Vec x, Vec y, PetscReal *relative)
{
  PetscInt   n, start;
  PetscReal  norm;
  IS         rows;
  VecScatter scatter;
  Vec        moved;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &moved));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetOwnershipRange(x, &start, NULL));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, n, start, 1, &rows));
  PetscCall(VecScatterCreate(y, rows, moved, rows, &scatter));
  PetscCall(VecScatterBegin(scatter, y, moved, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, y, moved, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(DifferenceNorms(moved, x, NORM_2, relative, &norm));
  *relative /= norm;
  PetscCall(DestroyAll(&moved, &scatter, &rows));
  PetscFunctionReturn(0);
}

/* Are these the sizes that the solver has found? */
static PetscErrorCode HasSizes(KSP ksp, const Grid *g, PetscBool *has)
{
  PetscInt dim, size[3];

  PetscFunctionBeginUser;
  PetscCall(PCKCycleGetGridSizes(PCOf(ksp), &dim, size));
  *has = (PetscBool)(dim == g->dim);
  for (PetscInt d = 0; d < dim; d++) *has = (PetscBool)(*has && size[d] == g->size[d]);
  PetscFunctionReturn(0);
}

/* Solvers of a problem with its DMDA and without, and what they give */
typedef struct {
  DM        da;
  Mat       A[2];
  KSP       ksp[2];
  Vec       x[2];
  PetscInt  its[2];
  PetscReal difference;
  PetscBool found; /* the sizes of the grid, without */
} Pair;

/* given: the second solver is given the sizes */
static PetscErrorCode SolvePair(const Grid *g, const Change *change, PetscBool given, Pair *p)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    if (change) PetscCall(ChangeMat(change, p->A[i]));
    PetscCall(CreateSolver(p->A[i], &p->ksp[i]));
    if (i && given) PetscCall(PCKCycleSetGridSizes(PCOf(p->ksp[i]), g->dim, g->size));
    PetscCall(Solve(p->ksp[i], &p->x[i], &p->its[i]));
  }
  PetscCall(Difference(p->x[0], p->x[1], &p->difference));
  PetscCall(HasSizes(p->ksp[1], g, &p->found));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyPair(Pair *p)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) PetscCall(DestroyAll(&p->x[i], &p->ksp[i], &p->A[i]));
  PetscCall(DMDestroy(&p->da));
  PetscFunctionReturn(0);
}

/* One grid, with and without its DM. Singular operators have solutions up to constants */
static PetscErrorCode Compare(Grid *g, Layout layout, const Change *change, PetscBool give, Findings *f)
{
  Pair      p;
  PetscBool structured = PETSC_FALSE, line = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(CreatePair(g, layout, &p.da, &p.A[0], &p.A[1]));
  PetscCall(SolvePair(g, change, give, &p));
  PetscCall(
      ViewHas(PCOf(p.ksp[1]), PetscDefined(USE_COMPLEX) ? "hierarchy grid" : "  structured levels\n", &structured));
  PetscCall(ViewHas(PCOf(p.ksp[1]), give ? " given by -pc_kcycle_grid_sizes" : " found in the matrix", &line));
  if (!p.found || !structured) PetscCall(GridShow(g, "not found"));
  if (p.its[0] != p.its[1]) PetscCall(GridShow(g, "other iterations"));
  if (p.difference > 1e-7) PetscCall(GridShow(g, "another solution"));
  f->cases++;
  f->notfound += !p.found || !structured;
  f->views += !line;
  f->iterations += p.its[0] != p.its[1];
  f->solutions += p.difference > 1e-7;
  PetscCall(DestroyPair(&p));
  PetscFunctionReturn(0);
}

static PetscErrorCode Report(const char what[], const Findings *f)
{
  PetscFunctionBeginUser;
  PetscCall(Print("%s: found %s, same iterations as with a DMDA %s, same solutions %s, shown %s\n", what,
                  YesNo(!f->notfound), YesNo(!f->iterations), YesNo(!f->solutions), YesNo(!f->views)));
  if (!f->cases) PetscCall(Print("  NO: no case\n"));
  PetscFunctionReturn(0);
}

/* A grid of some sizes and ends; at least two lines for each process */
static PetscErrorCode ChooseGrid(PetscInt number, PetscInt dim, Grid *g)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(g, sizeof(*g)));
  g->number = number;
  g->dim    = dim;
  g->vary   = 0.5;
  g->box    = (PetscBool)(number % 3 == 2);
  for (PetscInt d = 0; d < 3; d++) {
    const GridBoundary low = (GridBoundary)GridChoose(g, d, 4), high = (GridBoundary)GridChoose(g, 10 + d, 3);

    g->size[d]        = d < dim ? 8 + GridChoose(g, 5 + d, dim == 3 ? 7 : 30) : 1;
    g->boundary[d][0] = low;
    g->boundary[d][1] = low == BOUNDARY_PERIODIC ? low : high;
    g->strength[d]    = 1;
  }
  g->size[dim - 1] = PetscMax(g->size[dim - 1], 2 * PetscGlobalSize);
  PetscFunctionReturn(0);
}

static PetscErrorCode TestRandom(void)
{
  const Change none  = {PETSC_FALSE, 0, 1.0};
  PetscInt     cases = 6;
  PetscBool    cut   = PETSC_TRUE;
  char         what[64];

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cases", &cases, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-cut", &cut, NULL));
  for (PetscInt layout = 0; layout < NUM_LAYOUTS; layout++) {
    for (PetscInt dim = 1; dim <= 3; dim++) {
      Findings f = {0, 0, 0, 0, 0};

      if (layout == LINES_CUT && !cut) continue;
      for (PetscInt number = 0; number < cases; number++) {
        Grid g;

        PetscCall(ChooseGrid(100 * dim + number, dim, &g));
        PetscCall(Compare(&g, (Layout)layout, &none, (PetscBool)(number % 4 == 3), &f));
      }
      PetscCall(PetscSNPrintf(what, sizeof(what), "%" PetscInt_FMT "D, %s", dim, Layouts[layout]));
      PetscCall(Report(what, &f));
    }
  }
  PetscFunctionReturn(0);
}

/* A square or cube of a Laplacian with equal ends */
static void SetGrid(Grid *g, PetscInt dim, PetscInt nx, PetscInt ny, PetscInt nz, GridBoundary boundary)
{
  const Grid grid = {.number = 7, .dim = dim, .size = {nx, ny, nz}, .strength = {1, 1, 1}};

  *g = grid;
  GridSetBoundaries(g, boundary);
}

static PetscErrorCode TestKinds(void)
{
  const struct {
    const char  *name;
    GridBoundary boundary;
    Change       change;
  } kinds[] = {{"periodic, null space", BOUNDARY_PERIODIC, {PETSC_TRUE, 0, 1.0}},
               {"cells, null space", BOUNDARY_NEUMANN, {PETSC_TRUE, 0, 1.0}},
               {"pinned row", BOUNDARY_NEUMANN, {PETSC_FALSE, 1, 1.0}},
               {"pinned row and column", BOUNDARY_NEUMANN, {PETSC_FALSE, 2, 1.0}},
               {"pinned row, negative definite", BOUNDARY_NEUMANN, {PETSC_FALSE, 1, -1.0}},
               {"stored ends, negative definite", BOUNDARY_STORED, {PETSC_FALSE, 0, -1.0}}};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); k++) {
    Findings f = {0, 0, 0, 0, 0};

    for (PetscInt layout = 0; layout < NUM_LAYOUTS; layout++) {
      for (PetscInt dim = 2; dim <= 3; dim++) {
        Grid g;

        SetGrid(&g, dim, dim == 3 ? 12 : 40, dim == 3 ? 9 : 27, dim == 3 ? 10 : 1, kinds[k].boundary);
        PetscCall(Compare(&g, (Layout)layout, &kinds[k].change, PETSC_FALSE, &f));
      }
    }
    PetscCall(Report(kinds[k].name, &f));
  }
  PetscFunctionReturn(0);
}

/* Gradient: from cells to the faces between them, in x, then in y; the first faces of periodic lines lead around */
static PetscErrorCode CreateGradient(const Grid *g, Mat *G)
{
  const PetscInt *size = g->size, N = GridPoints(g);
  PetscInt        n, start, end;

  PetscFunctionBeginUser;
  PetscCall(LocalRows(g, LINES_CUT, &n));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, n, 2 * N, N, 2, NULL, 2, NULL, G));
  PetscCall(MatGetOwnershipRange(*G, &start, &end));
  for (PetscInt face = start; face < end; face++) {
    const PetscInt d = face / N, cell = face % N, at[3] = {cell % size[0], cell / size[0], 0};
    const PetscInt before[3] = {GridWrap(g, 0, at[0] - (d == 0)), GridWrap(g, 1, at[1] - (d == 1)), 0};

    if (before[d] < 0) continue; /* a wall */
    PetscCall(MatSetValue(*G, face, cell, 1.0, INSERT_VALUES));
    PetscCall(MatSetValue(*G, face, GridNumber(g, before), -1.0, INSERT_VALUES));
  }
  PetscCall(AssembleMat(*G));
  PetscFunctionReturn(0);
}

/* Divergence times gradient, as codes with staggered velocities make their pressure matrix: minus the Laplacian of
   cells, or of a periodic grid */
static PetscErrorCode TestProduct(void)
{
  for (int periodic = 0; periodic < 2; periodic++) {
    const Change change = {PETSC_TRUE, 0, 1.0};
    Grid         g;
    Pair         p;
    Mat          G, D;

    PetscFunctionBeginUser;
    SetGrid(&g, 2, 31, 26, 1, periodic ? BOUNDARY_PERIODIC : BOUNDARY_NEUMANN);
    PetscCall(CreatePair(&g, LINES_WHOLE, &p.da, &p.A[0], &p.A[1]));
    PetscCall(MatDestroy(&p.A[1]));
    PetscCall(CreateGradient(&g, &G));
    PetscCall(MatTranspose(G, MAT_INITIAL_MATRIX, &D));
    PetscCall(MatScale(D, -1.0));
    PetscCall(MatMatMult(D, G, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &p.A[1]));
    PetscCall(MatScale(p.A[0], -1.0));
    PetscCall(SolvePair(&g, &change, PETSC_FALSE, &p));
    PetscCall(Print("divergence times gradient, %s: found %s, same iterations as with a DMDA %s, same solution %s\n",
                    periodic ? "periodic" : "cells", YesNo(p.found), YesNo(p.its[0] == p.its[1]),
                    YesNo(p.difference < 1e-7)));
    PetscCall(DestroyAll(&G, &D));
    PetscCall(DestroyPair(&p));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode TestSpecial(void)
{
  PetscFunctionBeginUser;
  PetscCall(TestKinds());
  PetscCall(TestProduct());
  PetscFunctionReturn(0);
}

/* Sets up, whatever comes of it, and tells whether the solver has found a grid */
static PetscErrorCode FindsGrid(KSP ksp, PetscBool *finds, char words[])
{
  PetscInt       dim, size[3];
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  words[0] = 0;
  KeepErrorOf(PCSetUp(PCOf(ksp)), ierr, words);
  if (!ierr) words[0] = 0;
  PetscCall(PCKCycleGetGridSizes(PCOf(ksp), &dim, size));
  *finds = dim ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(0);
}

/* Rows coupled at some distances from -64 to 64, but where "skip" rows in a sequence have no couplings ahead */
static PetscErrorCode CreateBand(PetscInt N, PetscInt n, const PetscInt distance[], PetscInt skip, PetscInt bs, Mat *A)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetBlockSize(*A, bs));
  PetscCall(MatSeqAIJSetPreallocation(*A, 30, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 30, NULL, 30, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt row = start; row < end; row++) {
    PetscCall(MatSetValue(*A, row, row, 2 * n + 1, INSERT_VALUES));
    for (PetscInt t = 0; t < n; t++) {
      if (row >= distance[t] && !(distance[t] == 1 && skip && row % skip == 0))
        PetscCall(MatSetValue(*A, row, row - distance[t], -1, INSERT_VALUES));
      if (row + distance[t] < N && !(distance[t] == 1 && skip && row % skip == skip - 1))
        PetscCall(MatSetValue(*A, row, row + distance[t], -1, INSERT_VALUES));
    }
  }
  PetscCall(AssembleMat(*A));
  PetscFunctionReturn(0);
}

/* What is no grid, or could be several; the last two show that the others could be found */
static PetscErrorCode TestDoubt(void)
{
  const struct {
    const char *name;
    PetscInt    N, n, distance[6], skip, bs;
    PetscBool   grid;
  } bands[] = {{"two neighbours in a line", 120, 2, {1, 2}, 0, 1, PETSC_FALSE},
               {"a band of 5", 120, 5, {1, 2, 3, 4, 5}, 0, 1, PETSC_FALSE},
               {"no diagonal, no neighbours", 120, 0, {0}, 0, 1, PETSC_FALSE},
               {"lines that go on in the next", 120, 2, {1, 10}, 0, 1, PETSC_FALSE},
               {"sizes that do not divide rows", 121, 2, {1, 10}, 0, 1, PETSC_FALSE},
               {"wide stencil", 400, 4, {1, 2, 20, 40}, 20, 1, PETSC_FALSE},
               {"blocks of 2", 120, 2, {1, 10}, 10, 2, PETSC_FALSE},
               {"three unknowns at a point", 120, 5, {1, 2, 3, 4, 5}, 0, 3, PETSC_FALSE},
               {"two points in a line", 120, 2, {1, 2}, 2, 1, PETSC_FALSE},
               {"12 x 10", 120, 2, {1, 10}, 10, 1, PETSC_TRUE},
               {"line", 120, 1, {1}, 0, 1, PETSC_TRUE}};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(bands); k++) {
    char      words[ERROR_LENGTH];
    Mat       A;
    KSP       ksp;
    PetscBool finds;

    PetscCall(CreateBand(bands[k].N, bands[k].n, bands[k].distance, bands[k].skip, bands[k].bs, &A));
    PetscCall(CreateSolver(A, &ksp));
    PetscCall(FindsGrid(ksp, &finds, words));
    PetscCall(Print("%s: %s%s\n", bands[k].name, finds ? "a grid" : "no grid", finds == bands[k].grid ? "" : ": NO"));
    PetscCall(DestroyAll(&ksp, &A));
  }
  PetscFunctionReturn(0);
}

/* Solves with an operator; iterations and the DM that the preconditioner has then */
static PetscErrorCode SolveWith(KSP ksp, Mat A, PetscInt *its, DM *dm)
{
  Vec x;

  PetscFunctionBeginUser;
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(Solve(ksp, &x, its));
  PetscCall(VecDestroy(&x));
  PetscCall(PCGetDM(PCOf(ksp), dm));
  PetscFunctionReturn(0);
}

/* As many as a new solver takes? */
static PetscErrorCode TakesAsNew(Mat A, PetscInt its, PetscBool *same)
{
  PetscInt fresh;
  KSP      ksp;
  DM       dm;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(A, &ksp));
  PetscCall(SolveWith(ksp, A, &fresh, &dm));
  PetscCall(KSPDestroy(&ksp));
  *same = fresh == its ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(0);
}

/* Other values, another matrix of the same grid, one of another grid, one that has its own DM, and a DM that the
   program gives */
static PetscErrorCode Changes(const Grid g[], DM da[], Mat with[], Mat without[])
{
  DM        first, dm;
  Mat       copy;
  KSP       ksp;
  PetscInt  its;
  PetscBool same, found;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(without[0], &ksp));
  PetscCall(SolveWith(ksp, without[0], &its, &first));
  PetscCall(MatShift(without[0], 3.0));
  PetscCall(SolveWith(ksp, without[0], &its, &dm));
  PetscCall(TakesAsNew(without[0], its, &same));
  PetscCall(Claim(same && dm == first, "other values: same grid, iterations of a new solver"));
  PetscCall(MatDuplicate(without[0], MAT_COPY_VALUES, &copy));
  PetscCall(SolveWith(ksp, copy, &its, &dm));
  PetscCall(MatDestroy(&copy));
  PetscCall(Claim(dm == first, "another matrix of the same pattern: same grid"));
  PetscCall(KSPReset(ksp));
  PetscCall(SolveWith(ksp, without[1], &its, &dm));
  PetscCall(TakesAsNew(without[1], its, &same));
  PetscCall(HasSizes(ksp, &g[1], &found));
  PetscCall(Claim(same && found && dm != first, "another pattern: another grid, iterations of a new solver"));
  PetscCall(MatGetDM(without[1], &dm));
  PetscCall(Claim(!dm, "the matrix has no DM after that"));
  PetscCall(SolveWith(ksp, with[1], &its, &dm));
  PetscCall(HasSizes(ksp, &g[1], &found));
  PetscCall(Claim(dm == da[1], "a matrix with a DM: that one"));
  PetscCall(KSPReset(ksp));
  PetscCall(SolveWith(ksp, without[0], &its, &dm));
  PetscCall(KSPReset(ksp));
  PetscCall(PCSetDM(PCOf(ksp), da[0]));
  PetscCall(MatCopy(without[0], with[0], SAME_NONZERO_PATTERN));
  PetscCall(MatSetDM(with[0], NULL));
  PetscCall(SolveWith(ksp, with[0], &its, &dm));
  PetscCall(TakesAsNew(with[0], its, &same));
  PetscCall(Claim(same && dm == da[0], "a DM that the program gives later: that one"));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

/* In one solver a matrix that shows no grid and one that does */
static PetscErrorCode Turns(const Mat A[], PetscBool reset, const char claim[])
{
  PetscBool all = PETSC_TRUE;
  KSP       ksp;

  PetscFunctionBeginUser;
  for (int first = 0; first < 2; first++) {
    PetscCall(CreateSolver(A[first], &ksp));
    for (int k = 0; k < 4; k++) {
      const int grid = (first + k) % 2;
      PetscInt  its;
      PetscBool same;
      DM        dm;

      PetscCall(SolveWith(ksp, A[grid], &its, &dm));
      PetscCall(TakesAsNew(A[grid], its, &same));
      if (!same || (dm != NULL) != (grid == 1)) all = PETSC_FALSE;
      if (reset) PetscCall(KSPReset(ksp));
    }
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(Claim(all, claim));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestTurns(void)
{
  const PetscInt band[] = {1, 2, 3, 4, 5}, lines[] = {1, 10};
  Mat            A[2];

  PetscFunctionBeginUser;
  PetscCall(CreateBand(200, 5, band, 0, 1, &A[0]));
  PetscCall(CreateBand(120, 2, lines, 10, 1, &A[1]));
  PetscCall(Turns(A, PETSC_TRUE, "with and without a grid in turns: iterations of new solvers"));
  PetscCall(MatDestroy(&A[0]));
  PetscCall(CreateBand(120, 5, band, 0, 1, &A[0]));
  PetscCall(Turns(A, PETSC_FALSE, "the same without KSPReset()"));
  for (int i = 0; i < 2; i++) PetscCall(MatDestroy(&A[i]));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestChange(void)
{
  for (PetscInt layout = 0; layout < NUM_LAYOUTS; layout++) {
    Grid g[2];
    DM   da[2];
    Mat  with[2], without[2];

    PetscFunctionBeginUser;
    if (layout == LINES_CUT) continue; /* rows of with[] and without[] are then on other processes */
    SetGrid(&g[0], 2, 40, 27, 1, BOUNDARY_NEUMANN);
    SetGrid(&g[1], 2, 24, 45, 1, BOUNDARY_PERIODIC);
    for (int i = 0; i < 2; i++) {
      PetscCall(CreatePair(&g[i], (Layout)layout, &da[i], &with[i], &without[i]));
      PetscCall(MatShift(with[i], 0.1));
      PetscCall(MatShift(without[i], 0.1));
    }
    PetscCall(Print("%s\n", Layouts[layout]));
    PetscCall(Changes(g, da, with, without));
    for (int i = 0; i < 2; i++) PetscCall(DestroyAll(&with[i], &without[i], &da[i]));
  }
  PetscCall(TestTurns());
  PetscFunctionReturn(0);
}

/* What is given and does not fit */
static PetscErrorCode TestErrors(void)
{
  const struct {
    const char *name;
    PetscInt    dim, size[3];
    const char *options[2];
    PetscBool   dm, band;
  } cases[]             = {{"other sizes", 2, {40, 26, 1}, {NULL}, PETSC_FALSE, PETSC_FALSE},
                           {"sizes the wrong way", 2, {27, 40, 1}, {NULL}, PETSC_FALSE, PETSC_FALSE},
                           {"another dimension", 3, {40, 9, 3}, {NULL}, PETSC_FALSE, PETSC_FALSE},
                           {"no grid", 2, {40, 27, 1}, {NULL}, PETSC_FALSE, PETSC_TRUE},
                           {"a DM of other sizes", 2, {27, 40, 1}, {NULL}, PETSC_TRUE, PETSC_FALSE},
                           {"a DM of the same sizes", 2, {40, 27, 1}, {NULL}, PETSC_TRUE, PETSC_FALSE},
                           {"PCGAMG", 2, {40, 27, 1}, {"-pc_kcycle_hierarchy", "gamg"}, PETSC_FALSE, PETSC_FALSE},
                           {"no size", 2, {40, 0, 1}, {NULL}, PETSC_FALSE, PETSC_FALSE},
                           {"four sizes", 4, {40, 27, 1}, {NULL}, PETSC_FALSE, PETSC_FALSE}};
  const PetscInt far[2] = {1, 5};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
    char           words[ERROR_LENGTH] = "";
    Grid           g;
    DM             da;
    Mat            A[2];
    KSP            ksp;
    PetscErrorCode ierr;

    SetGrid(&g, 2, 40, 27, 1, BOUNDARY_NEUMANN);
    PetscCall(CreatePair(&g, LINES_WHOLE, &da, &A[0], &A[1]));
    if (cases[k].band) {
      PetscCall(MatDestroy(&A[1]));
      PetscCall(CreateBand(GridPoints(&g), 2, far, 0, 1, &A[1]));
    }
    if (cases[k].options[0]) PetscCall(PetscOptionsSetValue(NULL, cases[k].options[0], cases[k].options[1]));
    PetscCall(CreateSolver(A[cases[k].dm ? 0 : 1], &ksp));
    PetscCall(PetscPushErrorHandler(KeepError, words));
    ierr = PCKCycleSetGridSizes(PCOf(ksp), cases[k].dim, cases[k].size);
    if (!ierr) ierr = PCSetUp(PCOf(ksp));
    PetscCall(PetscPopErrorHandler());
    PetscCall(Print("%s: %s\n", cases[k].name, ierr ? words : "no error"));
    if (cases[k].options[0]) PetscCall(PetscOptionsClearValue(NULL, cases[k].options[0]));
    PetscCall(KSPDestroy(&ksp));
    for (int i = 0; i < 2; i++) PetscCall(MatDestroy(&A[i]));
    PetscCall(DMDestroy(&da));
  }
  PetscFunctionReturn(0);
}

/* More processes than lines: found is nothing, given is an error; so it is where lines are cut and levels not
   structured */
static PetscErrorCode TestFew(void)
{
  for (int given = 0; given < 3; given++) {
    char      words[ERROR_LENGTH];
    Grid      g;
    Mat       A;
    KSP       ksp;
    PetscBool finds;

    PetscFunctionBeginUser;
    SetGrid(&g, 2, 40, given == 2 ? 19 : 3, 1, BOUNDARY_NEUMANN);
    PetscCall(CreateLines(&g, given == 2 ? LINES_CUT : LINES_WHOLE, &A));
    PetscCall(MatShift(A, 0.1));
    PetscCall(CreateSolver(A, &ksp));
    if (given) PetscCall(PCKCycleSetGridSizes(PCOf(ksp), g.dim, g.size));
    if (given == 2) PetscCall(PCKCycleSetStructured(PCOf(ksp), PC_KCYCLE_STRUCTURED_OFF));
    PetscCall(FindsGrid(ksp, &finds, words));
    if (given) PetscCall(Print("%s\n", words));
    else PetscCall(Claim(!finds, "no grid is found that has fewer lines than there are processes"));
    PetscCall(DestroyAll(&ksp, &A));
  }
  PetscFunctionReturn(0);
}

/* -pc_kcycle_grid_sizes 24,17 */
static PetscErrorCode TestOption(void)
{
  Grid      g;
  Mat       A;
  KSP       ksp;
  DM        dm;
  PetscInt  its;
  PetscBool has = PETSC_FALSE, line = PETSC_FALSE;

  PetscFunctionBeginUser;
  SetGrid(&g, 2, 24, 17, 1, BOUNDARY_ELIMINATED);
  PetscCall(CreateLines(&g, LINES_CUT, &A));
  PetscCall(CreateSolver(A, &ksp));
  PetscCall(HasSizes(ksp, &g, &has));
  PetscCall(SolveWith(ksp, A, &its, &dm));
  PetscCall(ViewHas(PCOf(ksp), "  grid 24 x 17 given by -pc_kcycle_grid_sizes", &line));
  PetscCall(Claim(has && line && dm, "sizes from the option"));
  PetscCall(DestroyAll(&ksp, &A));
  PetscFunctionReturn(0);
}

/* Stored zeros are no couplings; once they are others, the matrix is no grid any more */
static PetscErrorCode TestZeros(void)
{
  const PetscInt distance[] = {-1, 1, -7, 7, 63};

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 4; k++) {
    const PetscInt dim = 2 + k % 2;
    Grid           g;
    Pair           p;
    DM             dm;
    PetscInt       other, start;
    PetscBool      still;

    SetGrid(&g, dim, dim == 3 ? 12 : 40, dim == 3 ? 9 : 27, dim == 3 ? 10 : 1, BOUNDARY_ELIMINATED);
    PetscCall(CreatePair(&g, LINES_WHOLE, &p.da, &p.A[0], &p.A[1]));
    PetscCall(MatDestroy(&p.A[1]));
    PetscCall(CreateLinesAndZeros(&g, k < 2 ? LINES_WHOLE : LINES_CUT, PETSC_STATIC_ARRAY_LENGTH(distance), distance,
                                  &p.A[1]));
    PetscCall(SolvePair(&g, NULL, PETSC_FALSE, &p));
    PetscCall(MatGetOwnershipRange(p.A[1], &start, NULL));
    if (!start) PetscCall(MatSetValue(p.A[1], 20, 27, -0.1, INSERT_VALUES));
    PetscCall(AssembleMat(p.A[1]));
    PetscCall(SolveWith(p.ksp[1], p.A[1], &other, &dm));
    PetscCall(HasSizes(p.ksp[1], &g, &still));
    PetscCall(
        Print("%" PetscInt_FMT
              "D, %s: found %s, same iterations as with a DMDA %s, same solution %s; with an entry there: no grid %s\n",
              dim, Layouts[k < 2 ? LINES_WHOLE : LINES_CUT], YesNo(p.found), YesNo(p.its[0] == p.its[1]),
              YesNo(p.difference < 1e-7), YesNo(!still)));
    PetscCall(DestroyPair(&p));
  }
  PetscFunctionReturn(0);
}

/* Directions of one or two points, which only sizes that are given can have */
static PetscErrorCode TestThin(void)
{
  const Change   none       = {PETSC_FALSE, 0, 1.0};
  const PetscInt sizes[][4] = {{2, 1, 40, 1},  {2, 2, 40, 1},  {3, 1, 1, 40},  {3, 20, 1, 16},
                               {3, 1, 20, 16}, {3, 20, 2, 16}, {3, 2, 20, 16}, {2, 40, 1, 1},
                               {2, 40, 2, 1},  {3, 20, 20, 1}, {3, 20, 20, 2}};
  Findings       f          = {0, 0, 0, 0, 0};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); k++) {
    Grid g;

    SetGrid(&g, sizes[k][0], sizes[k][1], sizes[k][2], sizes[k][3], BOUNDARY_ELIMINATED);
    if (g.size[g.dim - 1] < PetscGlobalSize) continue; /* see TestFew() */
    PetscCall(Compare(&g, LINES_WHOLE, &none, PETSC_TRUE, &f));
    if (g.size[g.dim - 1] > 2 * PetscGlobalSize) PetscCall(Compare(&g, LINES_CUT, &none, PETSC_TRUE, &f));
  }
  PetscCall(Report("directions of one or two points", &f));
  PetscFunctionReturn(0);
}

/* Solutions with and without a DMDA */
static PetscErrorCode CompareSolutions(const char what[], KSP ksp[], Vec b[], Vec x[], PetscBool transpose)
{
  PetscInt  its[2];
  PetscReal difference;

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    if (transpose) PetscCall(KSPSolveTranspose(ksp[i], b[i], x[i]));
    else PetscCall(KSPSolve(ksp[i], b[i], x[i]));
    PetscCall(KSPGetIterationNumber(ksp[i], &its[i]));
  }
  PetscCall(Difference(x[0], x[1], &difference));
  PetscCall(Print("  %s: same iterations as with a DMDA %s, same solution %s\n", what, YesNo(its[0] == its[1]),
                  YesNo(difference < 1e-7)));
  PetscFunctionReturn(0);
}

/* Two right sides at once */
static PetscErrorCode CompareBlocks(KSP ksp[], Vec b[], Vec x[])
{
  PetscReal difference;

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    PetscInt n;
    Mat      B, X;
    Vec      column;

    PetscCall(VecGetLocalSize(b[i], &n));
    PetscCall(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, PETSC_DETERMINE, 2, NULL, &B));
    PetscCall(MatZeroEntries(B));
    PetscCall(MatDenseGetColumnVecWrite(B, 1, &column));
    PetscCall(VecCopy(b[i], column));
    PetscCall(MatDenseRestoreColumnVecWrite(B, 1, &column));
    PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &X));
    PetscCall(KSPMatSolve(ksp[i], B, X));
    PetscCall(MatDenseGetColumnVecRead(X, 1, &column));
    PetscCall(VecCopy(column, x[i]));
    PetscCall(MatDenseRestoreColumnVecRead(X, 1, &column));
    PetscCall(DestroyAll(&B, &X));
  }
  PetscCall(Difference(x[0], x[1], &difference));
  PetscCall(Print("  two right sides: same solutions %s\n", YesNo(difference < 1e-7)));
  PetscFunctionReturn(0);
}

/* Rows that two processes at least have to hand on: a solver's vectors in all its uses */
static PetscErrorCode Uses(Mat A[], KSP ksp[], Vec b[], Vec x[])
{
  PetscFunctionBeginUser;
  PetscCall(CompareSolutions("solve", ksp, b, x, PETSC_FALSE));
  for (int i = 0; i < 2; i++) {
    PetscCall(KSPSetInitialGuessNonzero(ksp[i], PETSC_TRUE));
    PetscCall(VecScale(x[i], 0.9));
  }
  PetscCall(CompareSolutions("initial guess", ksp, b, x, PETSC_FALSE));
  for (int i = 0; i < 2; i++) {
    PetscCall(KSPSetInitialGuessNonzero(ksp[i], PETSC_FALSE));
    PetscCall(MatShift(A[i], 0.5));
  }
  PetscCall(CompareSolutions("other values", ksp, b, x, PETSC_FALSE));
  PetscCall(CompareSolutions("transposed", ksp, b, x, PETSC_TRUE));
  for (int i = 0; i < 2; i++) {
    PetscCall(KSPSetReusePreconditioner(ksp[i], PETSC_TRUE));
    PetscCall(MatShift(A[i], 0.5));
  }
  PetscCall(CompareSolutions("preconditioner kept for other values", ksp, b, x, PETSC_FALSE));
  for (int i = 0; i < 2; i++) {
    PetscCall(KSPSetReusePreconditioner(ksp[i], PETSC_FALSE));
    PetscCall(PCReset(PCOf(ksp[i])));
    PetscCall(KSPSetOperators(ksp[i], A[i], A[i]));
  }
  PetscCall(CompareSolutions("after PCReset()", ksp, b, x, PETSC_FALSE));
  PetscCall(CompareBlocks(ksp, b, x));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestUses(void)
{
  const KSPType types[] = {KSPCG, KSPBCGS, KSPFGMRES, KSPRICHARDSON};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < 2 * PETSC_STATIC_ARRAY_LENGTH(types); k++) {
    const PetscInt dim = k % 2 ? 3 : 2;
    Grid           g;
    DM             da;
    Mat            A[2];
    KSP            ksp[2];
    Vec            b[2], x[2];

    SetGrid(&g, dim, dim == 3 ? 12 : 40, dim == 3 ? 9 : 27, dim == 3 ? 10 : 1, BOUNDARY_ELIMINATED);
    PetscCall(CreatePair(&g, LINES_CUT, &da, &A[0], &A[1]));
    for (int i = 0; i < 2; i++) {
      PetscCall(CreateSolver(A[i], &ksp[i]));
      PetscCall(KSPSetType(ksp[i], types[k / 2]));
      PetscCall(MatCreateVecs(A[i], &x[i], &b[i]));
      PetscCall(FillRows(b[i], 5));
    }
    PetscCall(Print("%" PetscInt_FMT "D, %s\n", dim, types[k / 2]));
    PetscCall(Uses(A, ksp, b, x));
    for (int i = 0; i < 2; i++) PetscCall(DestroyAll(&b[i], &x[i], &ksp[i], &A[i]));
    PetscCall(DMDestroy(&da));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const TestPart parts[] = {
      {"random", TestRandom}, {"special", TestSpecial}, {"doubt", TestDoubt}, {"change", TestChange},
      {"errors", TestErrors}, {"option", TestOption},   {"few", TestFew},     {"uses", TestUses},
      {"zeros", TestZeros},   {"thin", TestThin},       {NULL, NULL}};

  return RunTests(argc, argv, help, parts);
}

/*TEST

  testset:
    nsize: {{1 2 3 4}}

    test:
      suffix: found
      requires: !complex

    test:
      suffix: special
      requires: !complex
      args: -test special

    test:
      suffix: doubt
      args: -test doubt

    test:
      suffix: change
      args: -test change

    test:
      suffix: errors
      args: -test errors

    test:
      suffix: work
      requires: !complex
      args: -cases 4 -ksp_type bcgs
      output_file: output/nodm_found.out

    test:
      suffix: uses
      requires: !complex
      args: -test uses

    test:
      suffix: zeros
      requires: !complex
      args: -test zeros

    test:
      suffix: thin
      requires: !complex
      args: -test thin

    test:
      suffix: option
      requires: !complex
      args: -test option -pc_kcycle_grid_sizes 24,17

  test:
    suffix: few
    requires: !complex
    nsize: 4
    args: -test few

  test:
    suffix: complex
    requires: complex
    nsize: {{1 2 4}}
    args: -cut 0

TEST*/
