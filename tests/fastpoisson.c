static char help[] = "PCFASTPOISSON: solutions of separable operators, what it refuses, new values.\n\
  -test ends|shifts|nearest|reuse|wisdom   which part\n\
  -dim <1>, -cases <n>, -mat_type <aij>      of ends\n\n";

#include "grids.h"
#include "poisson.h"

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
    {"DD", PETSC_FALSE}, {"dd", PETSC_FALSE}, {"DN", PETSC_FALSE}, {"dn", PETSC_FALSE}, {"NN", PETSC_FALSE}, {"nn", PETSC_FALSE},
    {"ND", PETSC_FALSE}, {"nd", PETSC_FALSE}, {"pp", PETSC_FALSE}, {"MM", PETSC_FALSE}, {"DM", PETSC_FALSE}, {"Dn", PETSC_FALSE},
    {"nD", PETSC_FALSE}, {"dN", PETSC_FALSE}, {"Nd", PETSC_FALSE}, {"Nn", PETSC_FALSE}, {"Dd", PETSC_FALSE}, {"ss", PETSC_FALSE},
    {"SS", PETSC_FALSE}, {"sn", PETSC_FALSE}, {"DS", PETSC_FALSE}, {"DD", PETSC_TRUE},  {"nn", PETSC_TRUE},  {"MN", PETSC_TRUE},
    {"pp", PETSC_TRUE},  {"Sd", PETSC_TRUE},
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

/* For PoissonAssembleRows(), with values that are added up by MatSetValuesStencil() */
static void MakeRow(const void *ctx, const PetscInt at[], PetscInt *m, MatStencil col[], PetscScalar v[])
{
  const Operator *o       = (const Operator *)ctx;
  PetscReal       product = o->factor, sum = o->sigma;

  *m     = 1;
  col[0] = (MatStencil){at[2], at[1], at[0], 0};
  if (IsStored(o, at)) {
    v[0] = o->factor * (1 + GridHash(at[0], at[1], at[2], 9));
    return;
  }
  for (PetscInt d = 0; d < o->dim; d++) {
    product *= o->dir[d].d[at[d]];
    sum += o->dir[d].mid[at[d]] / o->dir[d].d[at[d]];
  }
  v[0] = product * sum;
  for (PetscInt d = 0; d < o->dim; d++) {
    const Direction *dir = &o->dir[d];

    for (PetscInt side = 0; side < 2; side++) {
      PetscInt        to[3] = {at[0], at[1], at[2]};
      const PetscReal value = (side ? dir->up : dir->low)[at[d]];

      to[d] += side ? 1 : -1;
      if ((to[d] < 0 || to[d] >= dir->n) && dir->kind.ends[0] != 'p') continue;
      if (dir->kind.ends[side] == 's' && to[d] == (side ? dir->n - 1 : 0)) continue;
      col[*m]    = (MatStencil){to[2], to[1], to[0], 0};
      v[(*m)++] = product / dir->d[at[d]] * value;
    }
  }
}

static PetscErrorCode Assemble(const Operator *o, DM da, Mat A)
{
  PetscInt s[3], m[3], at[3], n;

  PetscFunctionBeginUser;
  PetscCall(MatZeroEntries(A));
  PetscCall(DMDAGetCorners(da, &s[0], &s[1], &s[2], &m[0], &m[1], &m[2]));
  for (at[2] = s[2]; at[2] < s[2] + m[2]; at[2]++) {
    for (at[1] = s[1]; at[1] < s[1] + m[1]; at[1]++) {
      for (at[0] = s[0]; at[0] < s[0] + m[0]; at[0]++) {
        MatStencil  col[7];
        PetscScalar v[7];

        MakeRow(o, at, &n, col, v);
        PetscCall(MatSetValuesStencil(A, 1, col, n, col, v, ADD_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
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
  PetscCall(DMSetMatType(*da, type));
  PetscCall(DMCreateMatrix(*da, A));
  PetscCall(Assemble(o, *da, *A));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreatePC(Mat A, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PetscObjectComm((PetscObject)A), pc));
  PetscCall(PCSetType(*pc, PCFASTPOISSON));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetFromOptions(*pc));
  PetscFunctionReturn(0);
}

/* Numbers that depend on the place alone */
static PetscErrorCode Fill(DM da, PetscInt seed, Vec v)
{
  Grid g = {.dim = 3};

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(da, NULL, &g.size[0], &g.size[1], &g.size[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
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
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

static PetscErrorCode ShowCase(const Operator *o, const char what[], PetscReal error)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  NO: %s, case %" PetscInt_FMT ", error %g, sigma %g, factor %g:", what, o->number, (double)error, (double)o->sigma, (double)o->factor));
  for (PetscInt d = 0; d < o->dim; d++)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %s%s %" PetscInt_FMT, o->dir[d].kind.ends, o->dir[d].kind.stretched ? " stretched" : "", o->dir[d].n));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestCase(Operator *o, MatType type, PetscReal *most)
{
  PetscBool possible = PETSC_FALSE;
  PetscReal error;
  DM        da;
  Mat       A;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(Create(o, type, &da, &A, &possible));
  if (!possible) PetscFunctionReturn(0);
  PetscCall(CreatePC(A, &pc));
  for (PetscInt t = 0; t < 2; t++) {
    PetscCall(SolveError(pc, A, da, (PetscBool)t, &error));
    if (!(error <= 1e-12)) PetscCall(ShowCase(o, t ? "transposed" : "solution", error));
    *most = PetscMax(*most, error);
  }
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

/* All kinds of directions, in 1D with all sizes, in 2D all pairs, in 3D some */
static PetscErrorCode TestEnds(MatType type)
{
  static const PetscReal factors[] = {1, 1e-30, 1e30};
  static const PetscInt  sizes[]   = {1, 2, 3, 4, 5, 7, 8, 11, 13, 17, 19, 20, 31};
  PetscInt               dim = 2, cases, done = 0;
  PetscReal              most = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  cases = dim == 1 ? 20 * NKINDS : NKINDS * NKINDS;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cases", &cases, NULL));
  for (PetscInt c = 0; c < cases; c++) {
    Operator o = {.dim = dim, .number = c};

    for (PetscInt d = 0; d < dim; d++) {
      o.dir[d].n    = dim == 1 ? 1 + c / NKINDS : sizes[(PetscInt)(GridHash(c, d, 7, dim) * 13)];
      o.dir[d].kind = kinds[dim == 1 ? c % NKINDS : dim == 3 || cases < NKINDS * NKINDS ? (PetscInt)(GridHash(c, d, 8, dim) * NKINDS) : d ? c / NKINDS : c % NKINDS];
    }
    o.sigma  = c % 3 == 1 ? 0.3 : 0;
    o.factor = factors[c / 2 % 3];
    PetscCall(TestCase(&o, type, &most));
    done++;
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT "D, %" PetscInt_FMT " operators, errors below 1e-12: %s\n", dim, done, most <= 1e-12 ? "yes" : "NO"));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const char *const tests[]  = {"ends", "shifts", "nearest", "reuse", "wisdom"};
  char              type[64] = MATAIJ;
  PetscInt          test     = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(KCycleInitializePackage());
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-test", tests, 5, &test, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_type", type, sizeof(type), NULL));
  if (test == 0) PetscCall(TestEnds(type));
  PetscCall(PetscFinalize());
  return 0;
}
