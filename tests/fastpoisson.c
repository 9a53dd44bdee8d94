static char help[] = "PCFASTPOISSON: solutions of separable operators, what it refuses, new values.\n\
  -test ends|rest|choices|missing|device   which part\n\
  -cases <n>, -type <aij>      of ends\n\n";

#include "grids.h"
#include "poisson.h"
#include <dlfcn.h>

/*
  One direction. Its ends: D Dirichlet, one cell beyond; d Dirichlet, half a cell beyond; n Neumann, half a cell beyond;
  N Neumann at the point, whose cell is half; M the same, mirrored; s stored Dirichlet point, S with its column.
  Uniform, or stretched; periodic.
*/
typedef struct {
  const char *ends; /* p: periodic */
  PetscBool   stretched;
} Kind;

static const Kind kinds[] = {
    {"DD", PETSC_FALSE}, {"dd", PETSC_FALSE}, {"DN", PETSC_FALSE}, {"dn", PETSC_FALSE}, {"NN", PETSC_FALSE},
    {"nn", PETSC_FALSE}, {"ND", PETSC_FALSE}, {"nd", PETSC_FALSE}, {"pp", PETSC_FALSE}, {"MM", PETSC_FALSE},
    {"DM", PETSC_FALSE}, {"Dn", PETSC_FALSE}, {"nD", PETSC_FALSE}, {"dN", PETSC_FALSE}, {"Nd", PETSC_FALSE},
    {"Nn", PETSC_FALSE}, {"Dd", PETSC_FALSE}, {"ss", PETSC_FALSE}, {"SS", PETSC_FALSE}, {"sn", PETSC_FALSE},
    {"DS", PETSC_FALSE}, {"DD", PETSC_TRUE},  {"nn", PETSC_TRUE},  {"MN", PETSC_TRUE},  {"pp", PETSC_TRUE},
    {"Sd", PETSC_TRUE},
};
#define NKINDS ((PetscInt)(sizeof(kinds) / sizeof(kinds[0])))
#define MAXN   64

typedef struct {
  PetscInt  n;
  Kind      kind;
  PetscReal low[MAXN], mid[MAXN], up[MAXN], d[MAXN];
} Direction;

typedef struct {
  PetscInt  dim, number;
  Direction dir[3];
  PetscReal sigma, factor;
} Operator;

static void MakeEnd(Direction *dir, PetscInt i, char end, PetscReal beyond, PetscReal inside)
{
  PetscReal *to = i ? &dir->low[i] : &dir->up[i];

  if (end == 'd') dir->mid[i] += beyond;
  if (end == 'n' || end == 'N' || end == 'M') dir->mid[i] -= beyond;
  if (end == 'N') dir->d[i] /= 2;
  if (end == 'M' && dir->n > 1) {
    dir->mid[i] += inside;
    *to -= inside;
  }
}

static void MakeDirection(Direction *dir, PetscReal c, PetscInt seed)
{
  const PetscInt n = dir->n;
  PetscReal      k[MAXN + 1];

  for (PetscInt i = 0; i <= n; i++) k[i] = c * (dir->kind.stretched ? 0.4 + GridHash(seed, i, 3, 1) : 1);
  if (dir->kind.ends[0] == 'p') k[n] = k[0];
  for (PetscInt i = 0; i < n; i++) {
    dir->low[i] = -k[i];
    dir->up[i]  = -k[i + 1];
    dir->mid[i] = k[i] + k[i + 1];
    dir->d[i]   = dir->kind.stretched ? 0.4 + GridHash(seed, i, 5, 2) : 1;
  }
  MakeEnd(dir, 0, dir->kind.ends[0], k[0], k[1]);
  MakeEnd(dir, n - 1, dir->kind.ends[1], k[n], k[n - 1]);
}

static PetscBool Stores(char end)
{
  return (PetscBool)(end == 's' || end == 'S');
}

static PetscBool IsStored(const Operator *o, const PetscInt at[])
{
  for (PetscInt d = 0; d < o->dim; d++) {
    const char *ends = o->dir[d].kind.ends;

    if ((at[d] == 0 && Stores(ends[0])) || (at[d] == o->dir[d].n - 1 && Stores(ends[1]))) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

static void MakeRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const Operator *o       = (const Operator *)ctx;
  PetscReal       product = o->factor, sum = o->sigma;

  if (IsStored(o, at)) {
    row->value[0] = o->factor * (1 + GridHash(at[0], at[1], at[2], 9));
    return;
  }
  for (PetscInt d = 0; d < o->dim; d++) {
    product *= o->dir[d].d[at[d]];
    sum += o->dir[d].mid[at[d]] / o->dir[d].d[at[d]];
  }
  row->value[0] = product * sum;
  for (PetscInt i = 0; i < 2 * o->dim; i++) {
    const PetscInt   d = i / 2, side = i % 2;
    const Direction *dir = &o->dir[d];
    PetscInt         to[3];

    StarNeighbour(at, i, to);
    if ((to[d] < 0 || to[d] >= dir->n) && dir->kind.ends[0] != 'p') continue;
    if (dir->kind.ends[side] == 's' && to[d] == (side ? dir->n - 1 : 0)) continue;
    RowEntry(row, to, product / dir->d[at[d]] * (side ? dir->up : dir->low)[at[d]]);
  }
}

/* Operator, grid and matrix from the sizes and kinds of the directions; possible: there are points for all processes */
static PetscErrorCode Create(Operator *o, MatType type, DM *da, Mat *A, PetscBool *possible)
{
  Grid g = {.number = o->number, .dim = o->dim, .size = {1, 1, 1}, .uneven = (PetscBool)(o->number % 2)};

  PetscFunctionBeginUser;
  GridSetBoundaries(&g, BOUNDARY_NEUMANN);
  for (PetscInt d = 0; d < o->dim; d++) {
    MakeDirection(&o->dir[d], 0.5 + GridHash(o->number, d, 1, 1), o->number + d);
    g.size[d] = o->dir[d].n;
    if (o->dir[d].kind.ends[0] == 'p') g.boundary[d][0] = g.boundary[d][1] = BOUNDARY_PERIODIC;
  }
  PetscCall(GridDistribute(&g, possible));
  if (!*possible) PetscFunctionReturn(0);
  PetscCall(GridCreateDM(&g, da));
  /* PETSc makes no baij of a grid in 1D */
  PetscCall(DMSetMatType(*da, o->dim == 1 && !strcmp(type, MATBAIJ) ? MATAIJ : type));
  PetscCall(DMCreateMatrix(*da, A));
  PetscCall(AssembleRows(*da, MakeRow, o, *A));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreatePC(Mat A, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(MakePC(A, PCFASTPOISSON, pc));
  PetscCall(PCSetFromOptions(*pc));
  PetscFunctionReturn(0);
}

/* Numbers that depend on the place alone */
static PetscErrorCode Fill(DM da, PetscInt seed, Vec v)
{
  Grid g = {.dim = 3};

  PetscFunctionBeginUser;
  PetscCall(
      DMDAGetInfo(da, NULL, &g.size[0], &g.size[1], &g.size[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(GridFill(&g, da, seed, v));
  PetscFunctionReturn(0);
}

/* The error of a solve, with the operator or its transpose, relative to the solution; of a singular operator but for
   constants */
static PetscErrorCode SolveError(PC pc, Mat A, DM da, PetscBool transpose, PetscReal *error)
{
  Vec         x, b, y;
  PetscReal   norm, zero, one;
  PetscScalar sum;
  PetscInt    n;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, b));
  PetscCall(VecNorm(b, NORM_INFINITY, &zero));
  PetscCall(MatNorm(A, NORM_INFINITY, &one));
  PetscCall(Fill(da, 3, x));
  if (transpose) PetscCall(MatMultTranspose(A, x, b));
  else PetscCall(MatMult(A, x, b));
  if (transpose) PetscCall(PCApplyTranspose(pc, b, y));
  else PetscCall(PCApply(pc, b, y));
  PetscCall(VecNorm(x, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(y, -1, x));
  if (zero <= 1e-14 * one && !transpose) {
    PetscCall(VecSum(y, &sum));
    PetscCall(VecGetSize(y, &n));
    PetscCall(VecShift(y, -sum / (PetscReal)n));
  }
  PetscCall(VecNorm(y, NORM_INFINITY, error));
  *error /= norm;
  if (zero <= 1e-14 * one && transpose) *error = 0;
  PetscCall(DestroyAll(&x, &b, &y));
  PetscFunctionReturn(0);
}

static PetscErrorCode ShowCase(const Operator *o, const char what[], PetscReal error)
{
  PetscFunctionBeginUser;
  PetscCall(Print("  NO: %s, case %" PetscInt_FMT ", error %g, sigma %g, factor %g:", what, o->number, (double)error,
                  (double)o->sigma, (double)o->factor));
  for (PetscInt d = 0; d < o->dim; d++)
    PetscCall(
        Print(" %s%s %" PetscInt_FMT, o->dir[d].kind.ends, o->dir[d].kind.stretched ? " stretched" : "", o->dir[d].n));
  PetscCall(Print("\n"));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestCase(Operator *o, PetscReal *most)
{
  PetscBool possible = PETSC_FALSE;
  PetscReal error;
  DM        da;
  Mat       A;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(Create(o, TypeOption(), &da, &A, &possible));
  if (!possible) PetscFunctionReturn(0);
  PetscCall(CreatePC(A, &pc));
  for (PetscInt t = 0; t < 2; t++) {
    PetscCall(SolveError(pc, A, da, (PetscBool)t, &error));
    if (!(error <= 1e-12)) PetscCall(ShowCase(o, t ? "transposed" : "solution", error));
    *most = PetscMax(*most, error);
  }
  PetscCall(DestroyAll(&pc, &A, &da));
  PetscFunctionReturn(0);
}

/* All kinds of directions, in 1D with all sizes, in 2D all pairs, in 3D some */
static PetscErrorCode TestEnds(PetscInt dim, PetscInt cases)
{
  static const PetscReal factors[] = {1, 1e-30, 1e30, -2};
  static const PetscInt  sizes[]   = {1, 2, 3, 4, 5, 7, 8, 11, 13, 17, 19, 20, 31};
  PetscReal              most      = 0;

  PetscFunctionBeginUser;
  for (PetscInt c = 0; c < cases; c++) {
    Operator o = {.dim = dim, .number = c};

    for (PetscInt d = 0; d < dim; d++) {
      const PetscInt pair = d ? c / NKINDS : c, any = (PetscInt)(GridHash(c, d, 8, dim) * NKINDS);

      o.dir[d].n    = dim == 1 ? 1 + c / NKINDS : sizes[(PetscInt)(GridHash(c, d, 7, dim) * 13)];
      o.dir[d].kind = kinds[dim == 1 || (dim == 2 && cases == NKINDS * NKINDS) ? pair % NKINDS : any];
    }
    o.sigma  = c % 3 == 1 ? 0.3 : 0;
    o.factor = factors[c / 2 % 4];
    PetscCall(TestCase(&o, &most));
  }
  PetscCall(
      ClaimThat(most <= 1e-12, "%" PetscInt_FMT "D, %" PetscInt_FMT " operators, errors below 1e-12", dim, cases));
  PetscFunctionReturn(0);
}

/* Or numbers in each dimension */
static PetscErrorCode TestAllEnds(void)
{
  PetscInt cases = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cases", &cases, NULL));
  PetscCall(TestEnds(1, cases ? cases : 20 * NKINDS));
  PetscCall(TestEnds(2, cases ? cases : NKINDS * NKINDS));
  PetscCall(TestEnds(3, cases ? cases : 400));
  PetscFunctionReturn(0);
}

/* A square or cube whose directions have these kinds; all have n points, or one more than the one before */
static PetscErrorCode CreateSimple(PetscInt dim, PetscInt n, Kind kind, MatType type, Operator *o, DM *da, Mat *A)
{
  PetscBool possible;

  PetscFunctionBeginUser;
  o->dim    = dim;
  o->number = 2;
  for (PetscInt d = 0; d < dim; d++) {
    o->dir[d].n    = n + d;
    o->dir[d].kind = kind;
  }
  PetscCall(Create(o, type, da, A, &possible));
  PetscCheck(possible, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ, "Too many processes");
  PetscFunctionReturn(0);
}

/* Shifts that make the operator indefinite, or singular with eigenvectors that vary: with 12 points and ends
   n, the eigenvalue of cos(pi (j + 1/2) / 2) is 2 c */
static PetscErrorCode TestShifts(void)
{
  const Kind kind = {"nn", PETSC_FALSE};
  Operator   o    = {.factor = 1};
  PetscReal  error, most = 0, residual, norm;
  Vec        x, b, r;
  DM         da;
  Mat        A;
  PC         pc;

  PetscFunctionBeginUser;
  for (PetscInt s = 0; s < 6; s++) {
    o.sigma = s < 3 ? -0.37 * (s + 1) : 1e-6 * PetscPowReal(100, s - 2);
    PetscCall(CreateSimple(2 + s % 2, 10, kind, MATAIJ, &o, &da, &A));
    PetscCall(CreatePC(A, &pc));
    PetscCall(SolveError(pc, A, da, PETSC_FALSE, &error));
    most = PetscMax(most, error);
    PetscCall(DestroyAll(&pc, &A, &da));
  }
  PetscCall(Claim(most <= 1e-11, "shifts, indefinite or small: errors below 1e-11"));
  o.sigma = 0;
  PetscCall(CreateSimple(2, 12, (Kind){"nn", PETSC_FALSE}, MATAIJ, &o, &da, &A));
  PetscCall(MatShift(A, -2 * (0.5 + GridHash(2, 0, 1, 1)) * (1 - PetscCosReal(PETSC_PI / 2))));
  PetscCall(CreatePC(A, &pc));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(Fill(da, 5, r));
  PetscCall(MatMult(A, r, b));
  PetscCall(PCApply(pc, b, x));
  PetscCall(MatMult(A, x, r));
  PetscCall(DifferenceNorms(r, b, NORM_2, &residual, &norm));
  PetscCall(Claim(residual <= 1e-12 * norm, "singular by its shift: what has a solution is solved"));
  PetscCall(ClaimView(pc, "DCT-II", PETSC_TRUE, "with transforms in all directions"));
  PetscCall(DestroyAll(&x, &b, &r, &pc, &A, &da));
  PetscFunctionReturn(0);
}

typedef struct {
  PetscInt  dim, n;
  PetscBool neumann;
  PetscReal contrast;
} Smooth;

static PetscReal Coefficient(const Smooth *s, const PetscReal at[])
{
  PetscReal wave = 1;

  for (PetscInt d = 0; d < s->dim; d++) wave *= PetscSinReal(PETSC_PI * (at[d] + 0.7 * at[(d + 1) % s->dim]) / s->n);
  return PetscPowReal(s->contrast, wave);
}

/* -div c grad, c between the points */
static void MakeSmoothRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const Smooth *s = (const Smooth *)ctx;

  for (PetscInt o = 0; o < 2 * s->dim; o++) {
    PetscReal middle[3] = {(PetscReal)at[0], (PetscReal)at[1], (PetscReal)at[2]};
    PetscInt  to[3];
    PetscBool inside;

    StarNeighbour(at, o, to);
    middle[o / 2] += o % 2 ? 0.5 : -0.5;
    inside = (PetscBool)(to[o / 2] >= 0 && to[o / 2] < s->n);
    if (inside || !s->neumann) RowCoupling(row, to, Coefficient(s, middle), inside);
  }
}

static PetscErrorCode CreateSmooth(const Smooth *s, DM *da, Mat *A)
{
  Grid g = {.dim = s->dim, .size = {s->n, s->n, s->dim > 2 ? s->n : 1}};

  PetscFunctionBeginUser;
  GridSetBoundaries(&g, BOUNDARY_NEUMANN);
  PetscCall(GridCreateDM(&g, da));
  PetscCall(DMSetMatType(*da, TypeOption()));
  PetscCall(DMCreateMatrix(*da, A));
  PetscCall(AssembleRows(*da, MakeSmoothRow, s, *A));
  PetscFunctionReturn(0);
}

static PetscErrorCode SmoothIterations(const Smooth *s, PetscInt *its)
{
  KSPConvergedReason reason;
  System             sys = {0};

  PetscFunctionBeginUser;
  PetscCall(CreateSmooth(s, &sys.da, &sys.A));
  PetscCall(MatCreateVecs(sys.A, &sys.x, &sys.b));
  PetscCall(Fill(sys.da, 7, sys.b));
  if (s->neumann) PetscCall(AttachConstants(sys.A, sys.b));
  PetscCall(MakeKSP(sys.A, KSPCG, PCFASTPOISSON, &sys.ksp, &sys.pc));
  PetscCall(KSPSetNormType(sys.ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(sys.ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(PCFastPoissonSetApproximate(sys.pc, PETSC_TRUE));
  PetscCall(SolveSystem(sys.ksp, sys.b, sys.x, its, &reason));
  if (reason <= 0) *its = 1000;
  PetscCall(SystemDestroy(&sys));
  PetscFunctionReturn(0);
}

/* Smooth coefficients of 10:1, and of more */
static PetscErrorCode TestNearest(void)
{
  const Smooth steep = {2, 50, PETSC_FALSE, 1000}, constant = {3, 9, PETSC_FALSE, 1};
  PetscInt     its, most = 0, hard, sizes[2] = {0, 0};

  PetscFunctionBeginUser;
  for (PetscInt s = 0; s < 4; s++) {
    const Smooth smooth = {2 + s % 2, s % 2 ? 16 : 50, (PetscBool)(s > 1), 10};

    PetscCall(SmoothIterations(&smooth, &its));
    if (its >= 20) PetscCall(Print("  NO: case %" PetscInt_FMT ": %" PetscInt_FMT " iterations\n", s, its));
    most = PetscMax(most, its);
  }
  PetscCall(Claim(most < 20, "smooth coefficients, 10:1: CG takes fewer than 20 iterations for 1e-8"));
  PetscCall(SmoothIterations(&steep, &hard));
  PetscCall(Claim(hard < 60, "1000:1: fewer than 60"));
  for (PetscInt s = 0; s < 2; s++) {
    const Smooth smooth = {2, s ? 80 : 40, PETSC_FALSE, 10};

    PetscCall(SmoothIterations(&smooth, &sizes[s]));
  }
  PetscCall(Claim(sizes[1] <= sizes[0] + 2, "as many on a finer grid"));
  PetscCall(SmoothIterations(&constant, &its));
  PetscCall(Claim(its == 1, "a separable operator is solved exactly"));
  PetscFunctionReturn(0);
}

/* New values of the same kind, of another kind, of none, and good ones again; the same PC */
static PetscErrorCode TestReuse(void)
{
  Operator          o                   = {.factor = 1};
  const MatStencil  at                  = {0, 1, 1, 0};
  const PetscScalar nine                = 9;
  char              words[ERROR_LENGTH] = "";
  PetscReal         error, most = 0;
  PetscErrorCode    ierr;
  PetscInt          start, *row;
  char              expected[80];
  DM                da;
  Mat               A;
  PC                pc;

  PetscFunctionBeginUser;
  PetscCall(CreateSimple(2, 9, kinds[0], TypeOption(), &o, &da, &A));
  PetscCall(CreatePC(A, &pc));
  PetscCall(SolveError(pc, A, da, PETSC_FALSE, &most));
  PetscCall(ClaimView(pc, "x: 9 points, constant, Dirichlet to Dirichlet: DST-I", PETSC_TRUE,
                      "a constant direction is recognised"));
  PetscCall(MatScale(A, 3));
  PetscCall(MatShift(A, 0.5));
  PetscCall(SolveError(pc, A, da, PETSC_FALSE, &error));
  most = PetscMax(most, error);
  for (PetscInt d = 0; d < 2; d++) {
    o.dir[d].kind = kinds[21];
    MakeDirection(&o.dir[d], 1, d);
  }
  PetscCall(AssembleRows(da, MakeRow, &o, A));
  PetscCall(SolveError(pc, A, da, PETSC_FALSE, &error));
  most = PetscMax(most, error);
  PetscCall(ClaimView(pc, "x: 9 points, arbitrary: eigenvectors", PETSC_TRUE, "and one that is not"));
  PetscCall(Claim(most <= 1e-12, "new values, and new kinds, are solved"));
  PetscCall(MatGetOwnershipRange(A, &start, NULL));
  if (!start) PetscCall(MatSetValuesStencil(A, 1, &at, 1, &at, &nine, INSERT_VALUES));
  PetscCall(AssembleMat(A));
  PetscCall(GridRows(da, 90, &row));
  PetscCall(PetscSNPrintf(expected, sizeof(expected), "row %" PetscInt_FMT ", column %" PetscInt_FMT " has 9", row[10],
                          row[10]));
  PetscCall(PetscFree(row));
  KeepErrorOf(PCSetUp(pc), ierr, words);
  PetscCall(ClaimError(ierr, words, expected, "an entry that does not fit is an error that names it"));
  PetscCall(AssembleRows(da, MakeRow, &o, A));
  PetscCall(SolveError(pc, A, da, PETSC_FALSE, &error));
  PetscCall(Claim(error <= 1e-12, "and nothing is lost"));
  PetscCall(DestroyAll(&pc, &A, &da));
  PetscFunctionReturn(0);
}

/* A file of FFTW's wisdom is written, read, damaged and refused */
static PetscErrorCode TestWisdom(void)
{
  Operator       o                   = {.factor = 1};
  char           words[ERROR_LENGTH] = "", file[] = "fastpoisson.wisdom";
  const char    *name;
  PetscReal      error;
  PetscErrorCode ierr;
  DM             da;
  Mat            A;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(CreateSimple(2, 9, kinds[0], MATAIJ, &o, &da, &A));
  PetscCall(CreatePC(A, &pc));
  PetscCall(PCFastPoissonSetWisdomSave(pc, file));
  KeepErrorOf(PCSetUp(pc), ierr, words);
  PetscCall(ClaimError(ierr, words, "-pc_fastpoisson_effort measure", "wisdom without measuring is an error"));
  PetscCall(PCFastPoissonSetEffort(pc, PC_FASTPOISSON_MEASURE));
  PetscCall(SolveError(pc, A, da, PETSC_FALSE, &error));
  PetscCall(PCFastPoissonGetWisdomSave(pc, &name));
  PetscCall(Claim(error <= 1e-12 && !strcmp(name, file), "measured, and written"));
  PetscCall(PCFastPoissonSetWisdomSave(pc, ""));
  PetscCall(PCFastPoissonSetWisdomLoad(pc, file));
  PetscCall(PCFastPoissonSetEffort(pc, PC_FASTPOISSON_PATIENT));
  PetscCall(SolveError(pc, A, da, PETSC_FALSE, &error));
  PetscCall(PCFastPoissonGetWisdomLoad(pc, &name));
  PetscCall(Claim(error <= 1e-12 && !strcmp(name, file), "and read"));
  for (PetscInt t = 0; t < 2; t++) {
    if (!PetscGlobalRank && !t) {
      FILE *f = fopen(file, "w");

      PetscCheck(f && fputs("(fftw-3.3 wis", f) >= 0 && !fclose(f), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "No file");
    } else if (!PetscGlobalRank) (void)remove(file);
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PCFastPoissonSetEffort(pc, t ? PC_FASTPOISSON_ESTIMATE : PC_FASTPOISSON_MEASURE));
    KeepErrorOf(PCSetUp(pc), ierr, words);
    PetscCall(Claim(ierr && strstr(words, t ? "cannot be read" : "is damaged"),
                    t ? "a file that is not there is an error" : "a damaged one is an error"));
  }
  PetscCall(DestroyAll(&pc, &A, &da));
  PetscFunctionReturn(0);
}

/* Choices that go in come out */
static PetscErrorCode TestChoices(void)
{
  PCFastPoissonTridiagonalType direction;
  PCFastPoissonEffortType      effort;
  PetscBool                    approximate;
  const char                  *file[2];
  PC                           pc;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCFASTPOISSON));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCFastPoissonGetTridiagonal(pc, &direction));
  PetscCall(PCFastPoissonGetEffort(pc, &effort));
  PetscCall(PCFastPoissonGetApproximate(pc, &approximate));
  PetscCall(PCFastPoissonGetWisdomLoad(pc, &file[0]));
  PetscCall(PCFastPoissonGetWisdomSave(pc, &file[1]));
  PetscCall(Print("effort %s, tridiagonal %s, approximate %s, wisdom from %s to %s\n", PCFastPoissonEffortTypes[effort],
                  PCFastPoissonTridiagonalTypes[direction], PetscBools[approximate], file[0], file[1]));
  PetscCall(PCFastPoissonSetTridiagonal(pc, PC_FASTPOISSON_TRIDIAGONAL_AUTO));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(0);
}

typedef struct {
  const char *words;
  PetscErrorCode (*create)(DM *, Mat *, PC);
} Refusal;

/* The matrix of another DMDA than the PC's */
static PetscErrorCode Boxes(PetscInt dof, PetscInt width, PetscInt n, DM *da, Mat *A)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, n, dof, width, NULL, da));
  PetscCall(DMSetUp(*da));
  PetscCall(DMCreateMatrix(*da, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    for (PetscInt j = PetscMax(0, i - width); j <= PetscMin(dof * n - 1, i + width); j++)
      PetscCall(MatSetValue(*A, i, j, i == j ? 4 : -1, INSERT_VALUES));
  }
  PetscCall(AssembleMat(*A));
  PetscFunctionReturn(0);
}

static PetscErrorCode MakeWide(DM *da, Mat *A, PC pc)
{
  (void)pc;
  return Boxes(1, 2, 12, da, A);
}

static PetscErrorCode MakeDof(DM *da, Mat *A, PC pc)
{
  (void)pc;
  return Boxes(2, 1, 12, da, A);
}

static PetscErrorCode MakeNoDM(DM *da, Mat *A, PC pc)
{
  PetscFunctionBeginUser;
  (void)pc;
  PetscCall(Boxes(1, 1, 12, da, A));
  PetscCall(MatSetDM(*A, NULL));
  PetscFunctionReturn(0);
}

static PetscErrorCode MakeOtherSize(DM *da, Mat *A, PC pc)
{
  PetscFunctionBeginUser;
  PetscCall(Boxes(1, 1, 12, da, A));
  PetscCall(PCSetDM(pc, *da));
  PetscCall(DestroyAll(da, A));
  PetscCall(Boxes(1, 1, 13, da, A));
  PetscFunctionReturn(0);
}

static PetscErrorCode MakePeriodic(DM *da, Mat *A, PC pc)
{
  Operator o = {.sigma = 1, .factor = 1};

  PetscFunctionBeginUser;
  PetscCall(CreateSimple(1, 9, kinds[8], MATAIJ, &o, da, A));
  PetscCall(PCFastPoissonSetTridiagonal(pc, PC_FASTPOISSON_TRIDIAGONAL_X));
  PetscFunctionReturn(0);
}

static PetscErrorCode MakeIndefinite(DM *da, Mat *A, PC pc)
{
  Operator o = {.sigma = -1, .factor = 1};

  PetscFunctionBeginUser;
  PetscCall(CreateSimple(1, 9, kinds[0], MATAIJ, &o, da, A));
  PetscCall(PCFastPoissonSetTridiagonal(pc, PC_FASTPOISSON_TRIDIAGONAL_X));
  PetscFunctionReturn(0);
}

static PetscErrorCode MakeOneWay(DM *da, Mat *A, PC pc)
{
  PetscInt start;

  PetscFunctionBeginUser;
  (void)pc;
  PetscCall(Boxes(1, 1, 12, da, A));
  PetscCall(MatGetOwnershipRange(*A, &start, NULL));
  if (!start) PetscCall(MatSetValue(*A, 3, 4, 0, INSERT_VALUES));
  PetscCall(AssembleMat(*A));
  PetscFunctionReturn(0);
}

static PetscErrorCode MakeShell(DM *da, Mat *A, PC pc)
{
  PetscFunctionBeginUser;
  (void)pc;
  PetscCall(Boxes(1, 1, 12, da, A));
  PetscCall(MatDestroy(A));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 12, 12, NULL, A));
  PetscCall(MatSetDM(*A, *da));
  PetscFunctionReturn(0);
}

/* -div c grad with a coefficient that is not separable: the first row that shows it */
static PetscErrorCode MakeVariable(DM *da, Mat *A, PC pc)
{
  const Smooth s = {2, 8, PETSC_FALSE, 10};

  PetscFunctionBeginUser;
  (void)pc;
  PetscCall(CreateSmooth(&s, da, A));
  PetscFunctionReturn(0);
}

static const Refusal refusals[] = {
    {"has -1, where 0 is expected. Use -pc_fastpoisson_approximate", MakeWide},
    {"one unknown at a point, this DMDA has 2", MakeDof},
    {"needs a DMDA, and there is no DM", MakeNoDM},
    {"The operator has 13 rows and 13 columns, the DMDA 12 points", MakeOtherSize},
    {"Systems in direction x are not tridiagonal, as it is periodic", MakePeriodic},
    {"not definite, so that tridiagonal systems in direction x may", MakeIndefinite},
    {"in direction x points 3 and 4 are coupled by 0", MakeOneWay},
    {"one of type shell does not show whole ones: use -mat_type aij", MakeShell},
    {"this one is none: row 0, column 0 has", MakeVariable},
};

static PetscErrorCode TestRefusals(void)
{
  PetscFunctionBeginUser;
  for (size_t r = 0; r < sizeof(refusals) / sizeof(refusals[0]); r++) {
    char           words[ERROR_LENGTH] = "";
    PetscErrorCode ierr;
    DM             da;
    Mat            A;
    PC             pc;

    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCFASTPOISSON));
    PetscCall(refusals[r].create(&da, &A, pc));
    PetscCall(PCSetOperators(pc, A, A));
    KeepErrorOf(PCSetUp(pc), ierr, words);
    PetscCall(ClaimError(ierr, words, refusals[r].words, refusals[r].words));
    PetscCall(DestroyAll(&pc, &A, &da));
  }
  PetscFunctionReturn(0);
}

/* A NaN ends the solve with a reason, which the view tells */
static PetscErrorCode TestNaN(void)
{
  Operator           o    = {.factor = 1};
  const PetscScalar  zero = 0;
  KSPConvergedReason reason[2];
  PetscBool          has;
  PetscInt           start;
  System             s = {0};

  PetscFunctionBeginUser;
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF)); /* bad numbers are what this is about */
  PetscCall(CreateSimple(2, 9, kinds[0], MATAIJ, &o, &s.da, &s.A));
  PetscCall(MatCreateVecs(s.A, &s.x, &s.b));
  PetscCall(VecSet(s.b, 1));
  PetscCall(MatGetOwnershipRange(s.A, &start, NULL));
  if (!start) PetscCall(MatSetValue(s.A, 1, 0, 0 / zero, INSERT_VALUES));
  PetscCall(AssembleMat(s.A));
  PetscCall(MakeKSP(s.A, KSPPREONLY, PCFASTPOISSON, &s.ksp, &s.pc));
  PetscCall(SolveSystem(s.ksp, s.b, s.x, NULL, &reason[0]));
  PetscCall(ViewHas(s.pc, "has a NaN or Inf in row 1, column 0", &has));
  PetscCall(AssembleRows(s.da, MakeRow, &o, s.A));
  PetscCall(SolveSystem(s.ksp, s.b, s.x, NULL, &reason[1]));
  PetscCall(Claim(reason[0] == KSP_DIVERGED_PC_FAILED && has && reason[1] > 0,
                  "a NaN ends the solve, the view says where, repaired it is solved"));
  PetscCall(PetscFPTrapPop());
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* Of complex numbers, or without FFTW */
static PetscErrorCode TestMissing(void)
{
  char           words[ERROR_LENGTH] = "";
  PetscErrorCode ierr;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  KeepErrorOf(PCSetType(pc, PCFASTPOISSON), ierr, words);
  PetscCall(Print("%s%s\n", ierr ? "an error: " : "no error", words));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(0);
}

/* How often tests/cudahost has copied to its device and to the host; without it never */
static void Copies(long count[2])
{
  void (*counts)(long[9]);
  long all[9] = {0};

  *(void **)&counts = dlsym(RTLD_DEFAULT, "HostCounts");
  if (counts) (*counts)(all);
  count[0] = all[0];
  count[1] = all[2];
}

/* One solve, with nothing copied */
static PetscErrorCode TestNoCopies(PC pc, Mat A, DM da)
{
  long      before[2], after[2];
  PetscBool has;
  Vec       x, b;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(da, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(Fill(da, 3, x));
  PetscCall(MatMult(A, x, b));
  PetscCall(PCApply(pc, b, x)); /* b may have been on the host */
  Copies(before);
  PetscCall(PCApply(pc, b, x));
  PetscCall(PCApplyTranspose(pc, b, x));
  Copies(after);
  PetscCall(ViewHas(pc, "solves vectors of a device there", &has));
  PetscCall(Claim(has && before[0] == after[0] && before[1] == after[1], "solves are on the device, and copy nothing"));
  PetscCall(DestroyAll(&x, &b));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestRefused(PC pc, Vec b, Vec x, const char expected[])
{
  char           words[ERROR_LENGTH] = "";
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  KeepErrorOf(PCApply(pc, b, x), ierr, words);
  PetscCall(ClaimError(ierr, words, expected, expected));
  PetscFunctionReturn(0);
}

/* Vectors on both sides, with an operator on the device; and the reverse */
static PetscErrorCode TestSides(PC pc, Mat A, DM da)
{
  PetscReal norm, error;
  DM        host;
  Mat       H;
  Vec       x, b, hx, hb, hy;
  PC        other;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(da, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &H));
  PetscCall(DMClone(da, &host));
  PetscCall(DMSetVecType(host, VECSTANDARD));
  PetscCall(MatSetDM(H, host));
  PetscCall(MatSetVecType(H, VECSTANDARD));
  PetscCall(MatCreateVecs(H, &hx, &hb));
  PetscCall(VecDuplicate(hx, &hy));
  PetscCall(Fill(da, 3, hx));
  PetscCall(MatMult(H, hx, hb));
  PetscCall(PCApply(pc, hb, hy));
  PetscCall(DifferenceNorms(hy, hx, NORM_INFINITY, &error, &norm));
  PetscCall(Claim(error <= 1e-12 * norm, "vectors of the host are solved there"));
  PetscCall(TestRefused(pc, hb, x, "One of these vectors is on a device"));
  PetscCall(CreatePC(H, &other));
  PetscCall(PCSetUp(other));
  PetscCall(VecSet(b, 1));
  PetscCall(TestRefused(other, b, x, "those of the operator and its DMDA are not"));
  PetscCall(DestroyAll(&other, &H, &host, &x, &b, &hx, &hb, &hy));
  PetscFunctionReturn(0);
}

/* On one process, with -dm_vec_type cuda: see device_fastpoisson.sh */
static PetscErrorCode TestDevice(void)
{
  Operator  o = {.factor = 1};
  PetscReal most;
  DM        da;
  Mat       A;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(CreateSimple(2, 9, kinds[18], TypeOption(), &o, &da, &A));
  PetscCall(CreatePC(A, &pc));
  PetscCall(TestNoCopies(pc, A, da));
  PetscCall(TestSides(pc, A, da));
  PetscCall(MatScale(A, 3));
  PetscCall(SolveError(pc, A, da, PETSC_FALSE, &most));
  PetscCall(Claim(most <= 1e-12, "new values are solved"));
  PetscCall(DestroyAll(&pc, &A, &da));
  PetscFunctionReturn(0);
}

/* All but ends */
static PetscErrorCode TestRest(void)
{
  PetscFunctionBeginUser;
  PetscCall(TestShifts());
  PetscCall(TestNearest());
  PetscCall(TestReuse());
  PetscCall(TestWisdom());
  PetscCall(TestRefusals());
  PetscCall(TestNaN());
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const TestPart parts[] = {{"ends", TestAllEnds},    {"rest", TestRest},     {"choices", TestChoices},
                            {"missing", TestMissing}, {"device", TestDevice}, {NULL, NULL}};

  return RunTests(argc, argv, help, parts);
}

/*TEST

  testset:
    requires: defined(KCYCLE_HAVE_FASTPOISSON)

    test:
      suffix: ends

    test:
      suffix: none
      args: -pc_fastpoisson_tridiagonal none -cases 40
      output_file: output/fastpoisson_some.out

    test:
      suffix: stencil
      nsize: {{1 4}}
      args: -type stencil -cases 40
      output_file: output/fastpoisson_some.out

    test:
      suffix: processes
      nsize: {{2 3 8}}
      args: -cases 40
      output_file: output/fastpoisson_some.out

    test:
      suffix: baij
      nsize: 2
      args: -type baij -cases 40
      output_file: output/fastpoisson_some.out

    test:
      suffix: rest
      nsize: {{1 3}}
      args: -test rest

    test:
      suffix: options
      args: -test choices -pc_fastpoisson_approximate -pc_fastpoisson_effort patient -pc_fastpoisson_tridiagonal y
      args: -pc_fastpoisson_wisdom_load there -pc_fastpoisson_wisdom_save here

  test:
    suffix: complex
    requires: complex
    args: -test missing

TEST*/
