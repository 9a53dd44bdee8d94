static char help[] = "Zebra relaxation: lines of any direction, and planes, are solved exactly, also those that "
                     "processes cut or that wrap around.\n\n";

#include "poisson.h"

#define MAX_POINTS 100

typedef struct {
  PetscInt  dim, size[3];
  PetscBool periodic[3], box;
  PetscBool planes; /* are relaxed, and not lines */
  PetscReal omega;  /* damping; 0: none */
} Problem;

/* A number from 0 to 1 for each coupling */
static PetscReal Number(const PetscInt at[], const PetscInt off[])
{
  return (PetscReal)((at[0] * 7919 + at[1] * 104729 + at[2] * 1299709 + off[0] * 31 + off[1] * 57 + off[2] * 91 + 500) %
                     101) /
         101;
}

static PetscInt Index(const Problem *p, const PetscInt at[])
{
  return at[0] + p->size[0] * (at[1] + p->size[1] * at[2]);
}

/* The neighbour at an offset, around the grid where it is periodic */
static PetscBool Neighbour(const Problem *p, const PetscInt at[], const PetscInt off[], PetscInt to[])
{
  for (PetscInt d = 0; d < 3; d++) {
    to[d] = at[d] + off[d];
    if (to[d] >= 0 && to[d] < p->size[d]) continue;
    if (d >= p->dim || !p->periodic[d]) return PETSC_FALSE;
    to[d] = (to[d] + p->size[d]) % p->size[d];
  }
  return PETSC_TRUE;
}

/* The coupling with the neighbour at an offset; nonsymmetric, of both signs, 0 where the stencil has none */
static PetscReal Coupling(const Problem *p, const PetscInt at[], const PetscInt off[])
{
  const PetscInt distance = PetscAbs(off[0]) + PetscAbs(off[1]) + PetscAbs(off[2]);

  if (!distance) return (p->box ? (p->dim == 3 ? 27 : 9) : 2 * p->dim + 1) + Number(at, off);
  return distance > 1 && !p->box ? 0 : -Number(at, off) - (off[0] > 0 ? 0.2 : -0.2);
}

/* Calls of do for all offsets of the stencil */
#define FOR_OFFSETS(p, off)                                                          \
  for (off[2] = (p)->dim > 2 ? -1 : 0; off[2] <= ((p)->dim > 2 ? 1 : 0); off[2]++)   \
    for (off[1] = (p)->dim > 1 ? -1 : 0; off[1] <= ((p)->dim > 1 ? 1 : 0); off[1]++) \
      for (off[0] = -1; off[0] <= 1; off[0]++)

static const PetscInt Origin[3] = {0, 0, 0};

static PetscReal RightSide(const PetscInt at[])
{
  const PetscInt none[3] = {3, 2, 1};

  return Number(at, none) - 0.4;
}

static PetscReal Guess(const PetscInt at[])
{
  const PetscInt none[3] = {1, 5, 9};

  return Number(at, none) + 0.1;
}

/* Gaussian elimination with pivoting; b becomes the solution */
static void SolveDense(PetscInt n, PetscReal a[MAX_POINTS][MAX_POINTS], PetscReal b[])
{
  for (PetscInt k = 0; k < n; k++) {
    PetscInt most = k;

    for (PetscInt i = k + 1; i < n; i++) {
      if (PetscAbsReal(a[i][k]) > PetscAbsReal(a[most][k])) most = i;
    }
    for (PetscInt j = 0; j < n; j++) {
      const PetscReal t = a[k][j];

      a[k][j]    = a[most][j];
      a[most][j] = t;
    }
    {
      const PetscReal t = b[k];

      b[k]    = b[most];
      b[most] = t;
    }
    for (PetscInt i = k + 1; i < n; i++) {
      const PetscReal f = a[i][k] / a[k][k];

      for (PetscInt j = k; j < n; j++) a[i][j] -= f * a[k][j];
      b[i] -= f * b[k];
    }
  }
  for (PetscInt k = n - 1; k >= 0; k--) {
    for (PetscInt j = k + 1; j < n; j++) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
}

/* Is direction e one of those of a line along d, or of a plane across d? */
static PetscBool Along(const Problem *p, PetscInt d, PetscInt e)
{
  return (PetscBool)(p->planes ? e != d : e == d);
}

/* Number of a point on its line or in its plane */
static PetscInt Place(const Problem *p, PetscInt d, const PetscInt at[])
{
  PetscInt place = 0;

  for (PetscInt e = 2; e >= 0; e--) {
    if (Along(p, d, e)) place = place * p->size[e] + at[e];
  }
  return place;
}

static PetscBool SameGroup(const Problem *p, PetscInt d, const PetscInt at[], const PetscInt through[])
{
  for (PetscInt e = 0; e < 3; e++) {
    if (!Along(p, d, e) && at[e] != through[e]) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* x += omega times the exact solution for the residual on the line or plane through a point */
static void SolveGroup(const Problem *p, PetscInt d, const PetscInt through[], const PetscReal r[], PetscReal x[])
{
  static PetscReal a[MAX_POINTS][MAX_POINTS], y[MAX_POINTS];
  PetscInt         at[3], to[3], off[3], n = 0;

  memset(a, 0, sizeof(a));
  FOR_BOX(at, Origin, p->size) {
    if (!SameGroup(p, d, at, through)) continue;
    n++;
    y[Place(p, d, at)] = r[Index(p, at)];
    FOR_OFFSETS(p, off) {
      const PetscInt none[3] = {0, 0, 0};

      if (SameGroup(p, d, off, none) && Neighbour(p, at, off, to))
        a[Place(p, d, at)][Place(p, d, to)] += Coupling(p, at, off);
    }
  }
  SolveDense(n, a, y);
  FOR_BOX(at, Origin, p->size) {
    if (SameGroup(p, d, at, through)) x[Index(p, at)] += (p->omega > 0 ? p->omega : 1) * y[Place(p, d, at)];
  }
}

/* The colour of a point's line or plane */
static PetscInt ColourOf(const Problem *p, PetscInt d, const PetscInt at[])
{
  const PetscInt a = at[d == 0 ? 1 : 0] % 2, b = at[d == 2 ? 1 : 2] % 2;

  if (p->planes) return at[d] % 2;
  return p->box ? a + 2 * b : (a + b) % 2;
}

/* All lines or planes of one colour */
static void SolveColour(const Problem *p, PetscInt d, PetscInt colour, PetscReal r[], PetscReal x[])
{
  PetscInt at[3], off[3], to[3];

  FOR_BOX(at, Origin, p->size) {
    PetscReal sum = RightSide(at);

    FOR_OFFSETS(p, off) {
      if (Neighbour(p, at, off, to)) sum -= Coupling(p, at, off) * x[Index(p, to)];
    }
    r[Index(p, at)] = sum;
  }
  FOR_BOX(at, Origin, p->size) {
    if (Place(p, d, at) == 0 && ColourOf(p, d, at) == colour) SolveGroup(p, d, at, r, x);
  }
}

static void Sweep(const Problem *p, PetscInt from, PetscInt to, PetscBool back, PetscReal r[], PetscReal x[])
{
  const PetscInt ncolours = p->dim == 1 ? 1 : p->dim == 3 && p->box && !p->planes ? 4 : 2;

  for (PetscInt i = from; i <= to; i++) {
    for (PetscInt c = 0; c < ncolours; c++)
      SolveColour(p, back ? to - (i - from) : i, back ? ncolours - 1 - c : c, r, x);
  }
}

static void MakeAnyRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const Problem *p = (const Problem *)ctx;
  PetscInt       off[3], to[3];

  FOR_OFFSETS(p, off) {
    const PetscReal value = Coupling(p, at, off);

    for (PetscInt d = 0; d < 3; d++) to[d] = at[d] + off[d];
    if (!off[0] && !off[1] && !off[2]) row->value[0] += value;
    else if (value != 0 && Neighbour(p, at, off, (PetscInt[3]){0})) RowEntry(row, to, value);
  }
}

static PetscErrorCode CreateMatrix(const Problem *p, DM *da, Mat *A)
{
  const DMBoundaryType no = DM_BOUNDARY_NONE, around = DM_BOUNDARY_PERIODIC;

  PetscFunctionBeginUser;
  PetscCall(MakeDM(PETSC_COMM_WORLD, p->dim, p->size, no, p->box ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR, da));
  PetscCall(DMDASetBoundaryType(*da, p->periodic[0] ? around : no, p->periodic[1] ? around : no,
                                p->periodic[2] ? around : no));
  PetscCall(DMSetMatType(*da, "stencil"));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(DMSetUp(*da));
  PetscCall(DMCreateMatrix(*da, A));
  PetscCall(AssembleRows(*da, MakeAnyRow, p, *A));
  PetscFunctionReturn(0);
}

/* v = f at the points of this process, or the largest difference of both */
static PetscErrorCode Compare(const Problem *p, DM da, Vec v, PetscReal (*f)(const PetscInt[]), const PetscReal x[],
                              PetscReal *difference)
{
  PetscInt     s[3], m[3], at[3], i = 0;
  PetscReal    mine = 0;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &s[0], &s[1], &s[2], &m[0], &m[1], &m[2]));
  PetscCall(VecGetArray(v, &a));
  FOR_BOX(at, s, m) {
    if (f) a[i] = (*f)(at);
    else mine = PetscMax(mine, PetscAbsScalar(a[i] - x[Index(p, at)]));
    i++;
  }
  PetscCall(VecRestoreArray(v, &a));
  if (difference) PetscCallMPI(MPI_Allreduce(&mine, difference, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

/* Two sweeps from a guess, or from zero, with KSPRICHARDSON */
static PetscErrorCode Relax(Mat A, const char type[], PetscBool guess, Vec b, Vec x)
{
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(MakeSweeps(A, type, 2, guess, &ksp, &pc));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode Test(Problem *p, const char type[], PetscInt from, PetscInt to)
{
  PetscReal       *r, *x, difference[2];
  PetscInt         at[3];
  PCRelaxOrderType order = PC_RELAX_ORDER_FORWARD;
  Mat              A;
  Vec              b, v;
  DM               da;
  char             claim[128];

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-pc_relax_order", PCRelaxOrderTypes, (PetscEnum *)&order, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-pc_relax_omega", &p->omega, NULL));
  PetscCall(CreateMatrix(p, &da, &A));
  PetscCall(MatCreateVecs(A, &v, &b));
  PetscCall(PetscMalloc2(p->size[0] * p->size[1] * p->size[2], &r, p->size[0] * p->size[1] * p->size[2], &x));
  for (int guess = 0; guess < 2; guess++) {
    FOR_BOX(at, Origin, p->size) {
      x[Index(p, at)] = guess ? Guess(at) : 0;
    }
    for (PetscInt its = 0; its < 2; its++) {
      if (order != PC_RELAX_ORDER_BACKWARD) Sweep(p, from, to, PETSC_FALSE, r, x);
      if (order != PC_RELAX_ORDER_FORWARD) Sweep(p, from, to, PETSC_TRUE, r, x);
    }
    PetscCall(Compare(p, da, b, RightSide, NULL, NULL));
    PetscCall(Compare(p, da, v, Guess, NULL, NULL));
    PetscCall(Relax(A, type, (PetscBool)guess, b, v));
    PetscCall(Compare(p, da, v, NULL, x, &difference[guess]));
  }
  PetscCall(PetscSNPrintf(claim, sizeof(claim), "%" PetscInt_FMT "D, %s stencil%s, %s", p->dim, p->box ? "box" : "star",
                          p->periodic[0] || p->periodic[1] || p->periodic[2] ? ", periodic" : "", type));
  if (PetscMax(difference[0], difference[1]) >= 1e-12)
    PetscCall(Print("differences %g %g\n", (double)difference[0], (double)difference[1]));
  PetscCall(Claim(PetscMax(difference[0], difference[1]) < 1e-12, claim));
  PetscCall(PetscFree2(r, x));
  PetscCall(DestroyAll(&A, &b, &v, &da));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestSmall(void)
{
  Problem problems[] = {
      {1, {1, 1, 1}, {PETSC_FALSE}, PETSC_FALSE},
      {1, {2, 1, 1}, {PETSC_TRUE}, PETSC_FALSE},
      {2, {1, 9, 1}, {PETSC_FALSE}, PETSC_FALSE},
      {2, {9, 2, 1}, {PETSC_FALSE, PETSC_TRUE}, PETSC_FALSE},
      {2, {3, 3, 1}, {PETSC_TRUE, PETSC_TRUE}, PETSC_TRUE},
      {3, {2, 3, 1}, {PETSC_FALSE}, PETSC_FALSE},
      {3, {3, 2, 4}, {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE}, PETSC_FALSE},
  };

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(problems); i++)
    PetscCall(Test(&problems[i], "alternating", 0, problems[i].dim - 1));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestAll(void)
{
  static const char *const zebra[] = {"zebra_x", "zebra_y", "zebra_z"};
  Problem                  wide[]  = {
                        {2, {301, 5, 1}, {PETSC_FALSE}, PETSC_FALSE},
                        {3, {43, 5, 6}, {PETSC_FALSE}, PETSC_FALSE},
                        {3, {42, 6, 5}, {PETSC_FALSE}, PETSC_TRUE},
  };
  Problem problems[] = {
      {1, {16, 1, 1}, {PETSC_FALSE}, PETSC_FALSE},
      {1, {15, 1, 1}, {PETSC_TRUE}, PETSC_FALSE},
      {2, {13, 12, 1}, {PETSC_FALSE}, PETSC_FALSE},
      {2, {9, 14, 1}, {PETSC_FALSE}, PETSC_TRUE},
      {2, {8, 10, 1}, {PETSC_TRUE, PETSC_TRUE}, PETSC_FALSE},
      {2, {13, 9, 1}, {PETSC_TRUE, PETSC_FALSE}, PETSC_TRUE},
      {3, {9, 8, 11}, {PETSC_FALSE}, PETSC_FALSE},
      {3, {8, 9, 7}, {PETSC_FALSE}, PETSC_TRUE},
      {3, {7, 9, 8}, {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE}, PETSC_FALSE},
      {3, {8, 6, 5}, {PETSC_FALSE, PETSC_TRUE, PETSC_TRUE}, PETSC_TRUE},
  };

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(problems); i++) {
    for (PetscInt d = 0; d < problems[i].dim; d++) PetscCall(Test(&problems[i], zebra[d], d, d));
    PetscCall(Test(&problems[i], "alternating", 0, problems[i].dim - 1));
  }
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(wide); i++) {
    for (PetscInt d = 1; d < wide[i].dim; d++) PetscCall(Test(&wide[i], zebra[d], d, d));
  }
  PetscFunctionReturn(0);
}

/* Planes are solved exactly where the solver of planes has one level. thin: a process may have one plane, or two */
static PetscErrorCode TestPlanes(PetscBool thin)
{
  Problem few[] = {
      {3, {6, 4, 4}, {PETSC_FALSE}, PETSC_FALSE, PETSC_TRUE},
      {3, {4, 6, 4}, {PETSC_FALSE}, PETSC_TRUE, PETSC_TRUE},
      {3, {4, 4, 4}, {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE}, PETSC_FALSE, PETSC_TRUE},
      {3, {4, 5, 5}, {PETSC_FALSE, PETSC_TRUE, PETSC_TRUE}, PETSC_TRUE, PETSC_TRUE},
  };
  Problem many[] = {
      {3, {7, 6, 8}, {PETSC_FALSE}, PETSC_FALSE, PETSC_TRUE},
      {3, {6, 8, 6}, {PETSC_FALSE}, PETSC_TRUE, PETSC_TRUE},
      {3, {6, 9, 8}, {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE}, PETSC_FALSE, PETSC_TRUE},
      {3, {8, 6, 7}, {PETSC_FALSE, PETSC_TRUE, PETSC_TRUE}, PETSC_TRUE, PETSC_TRUE},
  };

  Problem *problems = thin ? few : many;

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(many); i++) {
    for (PetscInt d = 0; d < 3; d++) {
      const char directions[2] = {(char)('x' + d), 0};

      PetscCall(PetscOptionsSetValue(NULL, "-pc_relax_directions", directions));
      PetscCall(Test(&problems[i], "planes", d, d));
    }
    PetscCall(PetscOptionsClearValue(NULL, "-pc_relax_directions"));
    PetscCall(Test(&problems[i], "planes", 0, 2));
  }
  PetscFunctionReturn(0);
}

#define GROWTH 1.1

/* Length of cell i of n: they grow from the middle */
static PetscReal Length(PetscInt n, PetscInt i)
{
  return PetscPowReal(GROWTH, PetscAbsReal(i + 0.5 - 0.5 * (PetscReal)n));
}

/* Finite volumes on a tensor grid, values at the boundary */
static void MakeRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const Poisson *p      = (const Poisson *)ctx;
  PetscReal      volume = 1;

  for (PetscInt d = 0; d < p->dim; d++) volume *= Length(p->n, at[d]);
  for (PetscInt o = 0; o < 2 * p->dim; o++) {
    const PetscReal here = Length(p->n, at[o / 2]);
    PetscInt        to[3];
    PetscBool       inside;

    StarNeighbour(at, o, to);
    inside = (PetscBool)(to[o / 2] >= 0 && to[o / 2] < p->n);
    RowCoupling(row, to, volume / here / (0.5 * (here + (inside ? Length(p->n, to[o / 2]) : 0))), inside);
  }
}

/* CG on a stretched grid, with sweeps by lines or points */
static PetscErrorCode Iterations(const Poisson *p, DM da, Mat A, const char type[], PetscInt sweeps, PetscInt *its)
{
  KSPConvergedReason reason;
  KSP                ksp;
  Vec                b, x;
  char               options[128];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(options, sizeof(options), "-mg_levels_pc_relax_type %s -mg_levels_ksp_max_it %" PetscInt_FMT,
                          type, sweeps));
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(PoissonFill(p, da, b));
  PetscCall(MakeSolver(A, KSPCG, 1e-8, 500, &ksp));
  PetscCall(SolveSystem(ksp, b, x, its, &reason));
  if (reason < 0) *its = 500;
  PetscCall(DestroyAll(&ksp, &b, &x));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestSolve(void)
{
  PetscFunctionBeginUser;
  for (PetscInt dim = 2; dim < 4; dim++) {
    Poisson  p = {0};
    PetscInt lines, points;
    DM       da;
    Mat      A;

    p.dim = dim;
    p.n   = dim == 2 ? 120 : 30;
    PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, &p, &da));
    PetscCall(DMCreateMatrix(da, &A));
    PetscCall(MatSetDM(A, da));
    PetscCall(AssembleRows(da, MakeRow, &p, A));
    PetscCall(Iterations(&p, da, A, "alternating", 1, &lines));
    PetscCall(Iterations(&p, da, A, "redblack", 2, &points));
    PetscCall(Print("%" PetscInt_FMT "D, stretched: %" PetscInt_FMT " iterations by lines\n", dim, lines));
    PetscCall(Claim(points > lines, "  points take more"));
    PetscCall(DestroyAll(&A, &da));
  }
  PetscFunctionReturn(0);
}

/* Two sweeps on a grid that one process relaxes in strips of columns, or in 3D row by row, and several do not */
static PetscErrorCode TestWide(PetscInt dim, PetscInt n, const char type[])
{
  Poisson   p = {0};
  PetscReal norm[2];
  DM        da;
  Mat       A;
  Vec       b, x, r;

  PetscFunctionBeginUser;
  p.dim        = dim;
  p.n          = n;
  p.scale      = 1;
  p.anisotropy = 1;
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, &p, &da));
  PetscCall(DMSetMatType(da, MATSTENCIL));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(PoissonAssemble(&p, da, A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(PoissonFill(&p, da, b));
  PetscCall(VecZeroEntries(x));
  PetscCall(Relax(A, type, PETSC_TRUE, b, x));
  PetscCall(VecNorm(x, NORM_2, &norm[0]));
  PetscCall(MatResidual(A, b, x, r));
  PetscCall(VecNorm(r, NORM_2, &norm[1]));
  PetscCall(Print("%" PetscInt_FMT "D, %s: %.10g, residual %.10g\n", dim, type, (double)norm[0], (double)norm[1]));
  PetscCall(DestroyAll(&r, &b, &x, &A, &da));
  PetscFunctionReturn(0);
}

int main(int argc, char **args)
{
  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &args, help));
  if (Given("-planes") || Given("-thin")) PetscCall(TestPlanes(Given("-thin")));
  else if (Given("-small")) PetscCall(TestSmall());
  else if (Given("-solve")) PetscCall(TestSolve());
  else if (Given("-wide")) {
    PetscCall(TestWide(2, 801, "zebra_y"));
    PetscCall(TestWide(2, 801, "alternating"));
    PetscCall(TestWide(3, 41, "zebra_y"));
    PetscCall(TestWide(3, 41, "zebra_z"));
    PetscCall(TestWide(3, 41, "alternating"));
  } else PetscCall(TestAll());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: !complex

  test:
    suffix: dense
    nsize: {{1 2 3 4 8}}
    args: -pc_relax_order {{forward backward symmetric}}
    output_file: output/zebra.out

  test:
    suffix: damped
    nsize: {{1 3}}
    args: -pc_relax_order symmetric -pc_relax_omega 0.7
    output_file: output/zebra.out

  test:
    suffix: small
    args: -small -pc_relax_order {{forward symmetric}}

  test:
    suffix: planes
    nsize: {{1 2 3 4}}
    args: -planes -planes_pc_kcycle_hierarchy single -pc_relax_order {{forward backward symmetric}}

  test:
    suffix: thin
    nsize: {{1 3 4}}
    args: -thin -da_processors_x 1 -da_processors_y 1 -planes_pc_kcycle_hierarchy single -pc_relax_order {{forward symmetric}}
    output_file: output/zebra_planes.out

  test:
    suffix: wide
    nsize: {{1 2 3}}
    args: -wide

  test:
    suffix: wide_damped
    nsize: {{1 2}}
    args: -wide -pc_relax_omega 0.7

  testset:
    args: -solve
    output_file: output/zebra_solve.out

    test:
      suffix: solve
      nsize: {{1 2 3}}
      args: -pc_kcycle_precision double -dm_mat_type {{aij stencil}}

    test:
      suffix: single
      nsize: {{1 2}}
      args: -pc_kcycle_precision single

TEST*/
