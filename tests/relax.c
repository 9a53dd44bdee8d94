static char help[] =
    "PCRELAX and loops over points: each smoother, order, start and number of sweeps, on random grids; and what is \
refused.\n\
  -first <0> -cases <150>   which random cases\n\
  -norms                    a few grids, and what is refused\n\
  -seams                    strong couplings where odd grids wrap around\n\n";

/*
  The reference runs on each process over the whole grid, from the rows of grids.h. The points of a colour are updated
  together. Where an odd grid wraps around, neighbours have one colour and read old values of each other. They are
  damped if those couplings are strong.
*/

#include "grids.h"

typedef enum {
  AUTO,
  JACOBI,
  CHEBYSHEV,
  REDBLACK,
  FOURCOLOR,
  EIGHTCOLOR,
  ZEBRA_Z
} Smoother;
static const PCRelaxType Names[] = {PC_RELAX_AUTO,      PC_RELAX_JACOBI,     PC_RELAX_CHEBYSHEV, PC_RELAX_REDBLACK,
                                    PC_RELAX_FOURCOLOR, PC_RELAX_EIGHTCOLOR, PC_RELAX_ZEBRA_Z};

typedef struct {
  Grid             g;
  Smoother         type;
  PCRelaxOrderType order;
  PetscReal        omega;
  PetscInt         its, degree;
  PetscBool        zeroguess, aij;
} Case;

/* All rows; row i has its entries at 27 i, the diagonal first */
typedef struct {
  PetscInt     n, *count, *col, (*at)[3];
  PetscScalar *value;
  PetscReal    bound; /* of the eigenvalues of D^-1 A, by Gershgorin */
} Rows;

static PetscErrorCode CaseMake(Case *c, PetscInt number, PetscBool *possible)
{
  const PetscInt sizes[]      = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 23};
  const PetscInt number_of[4] = {0, 14, 14, 9};
  const Smoother types[3][4]  = {{AUTO, JACOBI, CHEBYSHEV, REDBLACK},
                                 {AUTO, JACOBI, FOURCOLOR, REDBLACK},
                                 {EIGHTCOLOR, JACOBI, CHEBYSHEV, REDBLACK}};
  Grid          *g            = &c->g;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(c, sizeof(*c)));
  GridMake(g, number, sizes, number_of);
  g->vary      = GridChoose(g, 12, 3) * 0.3;
  c->type      = types[g->dim - 1][GridChoose(g, 13, 4)];
  c->order     = (PCRelaxOrderType)GridChoose(g, 14, 3);
  c->omega     = GridChoose(g, 15, 2) * 0.7;
  c->its       = 1 + GridChoose(g, 16, 4) * GridChoose(g, 60, 5);
  c->degree    = 1 + GridChoose(g, 17, 4);
  c->zeroguess = (PetscBool)GridChoose(g, 18, 2);
  c->aij       = (PetscBool)GridChoose(g, 19, 2);
  if (g->box && c->type == REDBLACK) c->type = g->dim == 2 ? FOURCOLOR : EIGHTCOLOR;
  PetscCall(GridDistribute(g, possible));
  PetscFunctionReturn(0);
}

static PetscErrorCode RowsCreate(const Grid *g, Rows *r)
{
  PetscInt to[27][3];

  PetscFunctionBeginUser;
  r->n = GridPoints(g);
  PetscCall(PetscMalloc4(r->n, &r->count, 27 * r->n, &r->col, 27 * r->n, &r->value, r->n, &r->at));
  r->bound = 0;
  for (PetscInt i = 0; i < r->n; i++) {
    PetscReal sum = 0;

    r->at[i][0] = i % g->size[0];
    r->at[i][1] = i / g->size[0] % g->size[1];
    r->at[i][2] = i / g->size[0] / g->size[1];
    r->count[i] = GridRow(g, r->at[i], r->col + 27 * i, to, r->value + 27 * i);
    for (PetscInt m = 0; m < r->count[i]; m++) sum += PetscAbsScalar(r->value[27 * i + m]);
    r->bound = PetscMax(r->bound, sum / PetscAbsScalar(r->value[27 * i]));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode RowsDestroy(Rows *r)
{
  return PetscFree4(r->count, r->col, r->value, r->at);
}

/* z = D^-1 (b - A x) */
static void ScaledResidual(const Rows *r, const PetscScalar b[], const PetscScalar x[], PetscScalar z[])
{
  for (PetscInt i = 0; i < r->n; i++) {
    z[i] = b[i];
    for (PetscInt m = 0; m < r->count[i]; m++) z[i] -= r->value[27 * i + m] * x[r->col[27 * i + m]];
    z[i] /= r->value[27 * i];
  }
}

/* The Chebyshev iteration in three terms for eigenvalues from bound / (4 dim) to bound */
static PetscErrorCode Chebyshev(const Case *c, const Rows *r, const PetscScalar b[], PetscScalar x[])
{
  const PetscReal lower = r->bound / (4 * c->g.dim), theta = (r->bound + lower) / 2,
                  rho = (r->bound - lower) / (r->bound + lower);
  PetscReal    omega  = 1;
  PetscScalar *z, *before;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(r->n, &z, r->n, &before));
  for (PetscInt k = 0; k < c->degree; k++) {
    ScaledResidual(r, b, x, z);
    if (k) omega = 1 / (1 - rho * rho * (k == 1 ? 2 : omega) / 4);
    for (PetscInt i = 0; i < r->n; i++) {
      const PetscScalar now = x[i];

      x[i]      = k ? before[i] + omega * (now + z[i] / theta - before[i]) : now + z[i] / theta;
      before[i] = now;
    }
  }
  PetscCall(PetscFree2(z, before));
  PetscFunctionReturn(0);
}

static Smoother Used(const Case *c)
{
  if (c->type != AUTO) return c->type;
  return !c->g.box ? REDBLACK : c->g.dim == 2 ? FOURCOLOR : EIGHTCOLOR;
}

static PetscInt Colour(Smoother type, const PetscInt at[])
{
  return type == JACOBI     ? 0
         : type == REDBLACK ? (at[0] + at[1] + at[2]) % 2
                            : at[0] % 2 + 2 * (at[1] % 2) + 4 * (at[2] % 2);
}

/* The damping of coloured sweeps: points of one colour that are coupled are relaxed as by Jacobi */
static PetscReal ColourDamping(Smoother type, const Rows *r)
{
  PetscReal most = 0;

  for (PetscInt i = 0; i < r->n; i++) {
    PetscReal within = 0;

    for (PetscInt m = 1; m < r->count[i]; m++) {
      const PetscInt j = r->col[27 * i + m];

      if (Colour(type, r->at[j]) == Colour(type, r->at[i]))
        within +=
            PetscAbsScalar(r->value[27 * i + m]) / PetscSqrtReal(PetscAbsScalar(r->value[27 * i] * r->value[27 * j]));
    }
    most = PetscMax(most, within);
  }
  return PetscMin(1, 1.9 / (1 + most));
}

static PetscErrorCode Sweep(const Case *c, const Rows *r, PetscBool backward, const PetscScalar b[], PetscScalar x[])
{
  const Smoother  type     = Used(c);
  const PetscInt  ncolours = type == JACOBI ? 1 : type == REDBLACK ? 2 : type == FOURCOLOR ? 4 : 8;
  const PetscReal chosen   = type == JACOBI ? 2 / (r->bound * (1 + 1. / (2 * c->g.dim))) : ColourDamping(type, r),
                  omega    = c->omega == 0 ? chosen : c->omega;
  PetscScalar *z;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(r->n, &z));
  for (PetscInt k = 0; k < ncolours; k++) {
    ScaledResidual(r, b, x, z);
    for (PetscInt i = 0; i < r->n; i++) {
      if (Colour(type, r->at[i]) == (backward ? ncolours - 1 - k : k)) x[i] += omega * z[i];
    }
  }
  PetscCall(PetscFree(z));
  PetscFunctionReturn(0);
}

static PetscErrorCode Reference(const Case *c, const Rows *r, const PetscScalar b[], PetscScalar x[])
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < c->its; i++) {
    if (Used(c) == CHEBYSHEV) PetscCall(Chebyshev(c, r, b, x));
    else if (Used(c) == JACOBI) PetscCall(Sweep(c, r, PETSC_FALSE, b, x));
    else {
      if (c->order != PC_RELAX_ORDER_BACKWARD) PetscCall(Sweep(c, r, PETSC_FALSE, b, x));
      if (c->order != PC_RELAX_ORDER_FORWARD) PetscCall(Sweep(c, r, PETSC_TRUE, b, x));
    }
  }
  PetscFunctionReturn(0);
}

/* The smoother in a KSPRICHARDSON, as in multigrid */
static PetscErrorCode Solve(const Case *c, Mat A, Vec b, Vec x)
{
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(MakeSweeps(A, Names[c->type], c->its, (PetscBool)!c->zeroguess, &ksp, &pc));
  PetscCall(PCRelaxSetOrder(pc, c->order));
  PetscCall(PCRelaxSetOmega(pc, c->omega));
  PetscCall(PCRelaxSetDegree(pc, c->degree));
  if (c->g.seam > 0) PetscCall(PCRelaxSetClusters(pc, PC_RELAX_CLUSTERS_OFF));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

/* The difference to the reference, relative to it */
static PetscErrorCode Compare(const Case *c, DM da, Vec x, PetscReal *difference)
{
  Rows               r;
  PetscInt          *row, first, end;
  PetscScalar       *rb, *rx;
  const PetscScalar *a;
  PetscReal          norms[2] = {0, 0}, all[2];

  PetscFunctionBeginUser;
  PetscCall(RowsCreate(&c->g, &r));
  PetscCall(GridRows(da, r.n, &row));
  PetscCall(PetscMalloc2(r.n, &rb, r.n, &rx));
  for (PetscInt i = 0; i < r.n; i++) {
    rb[i] = GridHash(i, 1, 3, 5) - 0.4;
    rx[i] = c->zeroguess ? 0 : GridHash(i, 2, 3, 5) - 0.4;
  }
  PetscCall(Reference(c, &r, rb, rx));
  PetscCall(VecGetOwnershipRange(x, &first, &end));
  PetscCall(VecGetArrayRead(x, &a));
  for (PetscInt i = 0; i < r.n; i++) {
    norms[0] = PetscMax(norms[0], PetscAbsScalar(rx[i]));
    if (row[i] >= first && row[i] < end) norms[1] = PetscMax(norms[1], PetscAbsScalar(rx[i] - a[row[i] - first]));
    if (row[i] >= first && row[i] < end && PetscIsInfOrNanScalar(a[row[i] - first])) norms[1] = 1e30;
  }
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCallMPI(MPI_Allreduce(norms, all, 2, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  *difference = all[1] / all[0];
  PetscCall(PetscFree2(rb, rx));
  PetscCall(PetscFree(row));
  PetscCall(RowsDestroy(&r));
  PetscFunctionReturn(0);
}

/* Half of the smoothers work on copies: these must have all that whole vectors read */
static PetscErrorCode RunCase(const Case *c, PetscReal *difference, PetscReal *norm)
{
  DM  da;
  Mat A, made;
  Vec b, x;

  PetscFunctionBeginUser;
  PetscCall(GridCreateDM(&c->g, &da));
  PetscCall(GridCreateMat(&c->g, da, c->aij ? MATAIJ : MATSTENCIL, &A));
  if (c->g.number % 2) {
    made = A;
    PetscCall(MatDuplicate(made, MAT_COPY_VALUES, &A));
    PetscCall(MatDestroy(&made));
  }
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(GridFill(&c->g, da, 1, b));
  PetscCall(GridFill(&c->g, da, 2, x));
  PetscCall(Solve(c, A, b, x));
  PetscCall(Compare(c, da, x, difference));
  PetscCall(VecNorm(x, NORM_2, norm));
  PetscCall(DestroyAll(&x, &b, &A, &da));
  PetscFunctionReturn(0);
}

static PetscErrorCode Randoms(PetscInt first, PetscInt cases)
{
  PetscBool holds[6] = {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE};
  PetscInt  runs[6]  = {0, 0, 0, 0, 0, 0};

  PetscFunctionBeginUser;
  for (PetscInt number = first; number < first + cases; number++) {
    Case      c;
    PetscBool possible = PETSC_FALSE;
    PetscReal difference, norm;

    PetscCall(CaseMake(&c, number, &possible));
    if (!possible) continue;
    PetscCall(RunCase(&c, &difference, &norm));
    runs[Used(&c)]++;
    if (difference <= 1e-13) continue;
    holds[Used(&c)] = PETSC_FALSE;
    PetscCall(GridShow(&c.g, Names[Used(&c)]));
    PetscCall(Print("    order %s, %" PetscInt_FMT " sweeps, %s guess, %s, degree %" PetscInt_FMT ", omega %g: %g\n",
                    PCRelaxOrderTypes[c.order], c.its, c.zeroguess ? "zero" : "other", c.aij ? "aij" : "stencil",
                    c.degree, (double)c.omega, (double)difference));
  }
  for (int t = JACOBI; t <= EIGHTCOLOR; t++) {
    PetscCall(ClaimThat(holds[t] && (runs[t] || cases < 100), "%s is what it says", Names[t]));
  }
  PetscFunctionReturn(0);
}

/* The same numbers on any number of processes */
static PetscErrorCode Norms(void)
{
  const struct {
    Smoother     type;
    PetscInt     dim, size[3];
    PetscBool    box;
    GridBoundary boundary;
  } cases[] = {{REDBLACK, 1, {41, 1, 1}, PETSC_FALSE, BOUNDARY_PERIODIC},
               {REDBLACK, 2, {17, 19, 1}, PETSC_FALSE, BOUNDARY_PERIODIC},
               {FOURCOLOR, 2, {17, 20, 1}, PETSC_TRUE, BOUNDARY_PERIODIC},
               {JACOBI, 2, {13, 20, 1}, PETSC_TRUE, BOUNDARY_ELIMINATED},
               {EIGHTCOLOR, 3, {9, 8, 11}, PETSC_TRUE, BOUNDARY_PERIODIC},
               {EIGHTCOLOR, 3, {9, 8, 11}, PETSC_FALSE, BOUNDARY_NEUMANN},
               {CHEBYSHEV, 3, {9, 8, 11}, PETSC_TRUE, BOUNDARY_STORED},
               {REDBLACK, 3, {12, 13, 8}, PETSC_FALSE, BOUNDARY_STORED}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    Case      c = {.g = {.box = cases[i].box, .vary = 0.5}, .type = cases[i].type, .its = 3, .degree = 3};
    PetscReal difference, norm;

    c.order = (PCRelaxOrderType)(i % 3);
    PetscCall(GridInit(&c.g, cases[i].dim, cases[i].size, cases[i].boundary));
    for (PetscInt d = 0; d < 3; d++) c.g.strength[d] = 1 + d;
    PetscCall(RunCase(&c, &difference, &norm));
    PetscCall(ClaimThat(difference <= 1e-13, "%s, %" PetscInt_FMT "D %s, %s: norm %.9e, as the reference",
                        Names[c.type], c.g.dim, c.g.box ? "box" : "star", GridBoundaries[cases[i].boundary],
                        (double)norm));
  }
  PetscFunctionReturn(0);
}

/* By how much sweeps reduce the energy norm of an error */
static PetscErrorCode Reduction(const Case *c, PetscReal *factor)
{
  PetscScalar energy[2];
  System      s = {0};

  PetscFunctionBeginUser;
  PetscCall(GridCreateDM(&c->g, &s.da));
  PetscCall(GridCreateMat(&c->g, s.da, MATSTENCIL, &s.A));
  PetscCall(MatCreateVecs(s.A, &s.x, &s.b));
  PetscCall(GridFill(&c->g, s.da, 2, s.x));
  for (int i = 0; i < 2; i++) {
    PetscCall(MatMult(s.A, s.x, s.b));
    PetscCall(VecDot(s.x, s.b, &energy[i]));
    PetscCall(VecSet(s.b, 0));
    if (i == 0) PetscCall(Solve(c, s.A, s.b, s.x));
  }
  *factor = PetscSqrtReal(PetscAbsScalar(energy[1] / energy[0]));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* Where an odd number of points wraps around two neighbours have one colour. If they are coupled strongly only
   damped sweeps reduce what differs between them */
static PetscErrorCode Seams(void)
{
  const struct {
    Smoother type;
    PetscInt dim, size[3];
  } cases[] = {{REDBLACK, 1, {33, 1, 1}},
               {REDBLACK, 2, {9, 21, 1}},
               {FOURCOLOR, 2, {9, 21, 1}},
               {REDBLACK, 3, {9, 5, 11}},
               {EIGHTCOLOR, 3, {9, 5, 11}}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    Case      c = {.g = {.seam = 1e4}, .type = cases[i].type, .its = 60, .degree = 1};
    PetscReal difference, norm, damped, undamped;

    PetscCall(GridInit(&c.g, cases[i].dim, cases[i].size, BOUNDARY_PERIODIC));
    PetscCall(RunCase(&c, &difference, &norm));
    PetscCall(Reduction(&c, &damped));
    c.omega = 1;
    PetscCall(Reduction(&c, &undamped));
    PetscCall(
        Print("%s, %" PetscInt_FMT
              "D: as the reference: %s, damped sweeps take away what differs across the seam: %s, others do not: %s\n",
              Names[c.type], c.g.dim, YesNo(difference <= 1e-11), YesNo(damped < 0.02), YesNo(undamped > 0.3)));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Refusal(Grid *g, MatType type, PetscBool detached, Smoother relax, const char expected[])
{
  DM             da;
  Mat            A, B;
  PC             pc;
  char           words[ERROR_LENGTH] = "", claim[256];
  PetscBool      possible;
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  PetscCall(GridDistribute(g, &possible));
  PetscCall(GridCreateDM(g, &da));
  PetscCall(GridCreateMat(g, da, type, &A));
  if (detached) {
    PetscCall(MatSetDM(A, NULL));
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
    PetscCall(MatDestroy(&A));
    A = B;
  }
  PetscCall(MakePC(A, PCRELAX, &pc));
  PetscCall(PCRelaxSetType(pc, Names[relax]));
  KeepErrorOf(PCSetUp(pc), ierr, words);
  PetscCall(PetscSNPrintf(claim, sizeof(claim), "%s on a %s in %" PetscInt_FMT "D%s is an error that says so",
                          Names[relax], g->box ? "box" : "star", g->dim, detached ? " without a grid" : ""));
  PetscCall(ClaimError(ierr, words, expected, claim));
  PetscCall(DestroyAll(&pc, &A, &da));
  PetscFunctionReturn(0);
}

static PetscErrorCode Refusals(void)
{
  Grid g;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(&g, sizeof(g)));
  PetscCall(GridInit(&g, 2, (PetscInt[]){9, 9, 1}, BOUNDARY_ELIMINATED));
  PetscCall(Refusal(&g, MATSTENCIL, PETSC_FALSE, EIGHTCOLOR, "eightcolor is for three dimensions"));
  PetscCall(Refusal(&g, MATSTENCIL, PETSC_FALSE, ZEBRA_Z, "zebra_z has lines along z, and the grid has 2 dimensions"));
  PetscCall(Refusal(&g, MATAIJ, PETSC_TRUE, AUTO, "PCRELAX needs a matrix of type stencil"));
  g.box = PETSC_TRUE;
  PetscCall(
      Refusal(&g, MATSTENCIL, PETSC_FALSE, REDBLACK, "Two colours do not separate the points of a 9-point stencil"));
  g.dim     = 3;
  g.size[2] = 9;
  PetscCall(Refusal(&g, MATAIJ, PETSC_FALSE, FOURCOLOR, "fourcolor is for two dimensions"));
  PetscCall(Refusal(&g, MATAIJ, PETSC_FALSE, REDBLACK, "27-point stencil"));
  PetscFunctionReturn(0);
}

/* Two fluids side by side, 1:1e-12; one row of the light one has another coupling than its neighbour, by a factor */
typedef struct {
  PetscInt  size[2];
  PetscReal factor;
} Fluids;

static void MakeFluidRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const Fluids *f = (const Fluids *)ctx;

  for (PetscInt o = 0; o < 4; o++) {
    PetscInt  to[3];
    PetscReal c;

    StarNeighbour(at, o, to);
    c = PetscMax(at[0], to[0]) < f->size[0] / 2 ? 1 : 1e-12;
    row->value[0] += c;
    if (IsInBox(to, f->size, 2))
      RowEntry(row, to, -c * (at[0] == f->size[0] - 3 && o == 1 && at[1] == f->size[1] / 2 ? f->factor : 1));
  }
}

static PetscErrorCode SetFluids(DM da, PetscReal factor, Mat A)
{
  Fluids f = {{0, 0}, factor};

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(da, NULL, &f.size[0], &f.size[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(AssembleRows(da, MakeFluidRow, &f, A));
  PetscFunctionReturn(0);
}

/* Asked of each operator, point by point */
static PetscErrorCode Symmetry(void)
{
  DM             da;
  Mat            A;
  Vec            b, x;
  PC             pc;
  char           words[ERROR_LENGTH] = "";
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  PetscCall(MakeDM(PETSC_COMM_WORLD, 2, (PetscInt[]){12, 9}, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, &da));
  PetscCall(DMSetMatType(da, MATSTENCIL));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(MakePC(A, PCRELAX, &pc));
  PetscCall(SetFluids(da, 1, A));
  PetscCall(PCApplyTranspose(pc, b, x));
  PetscCall(SetFluids(da, 1.5, A));
  KeepErrorOf(PCApplyTranspose(pc, b, x), ierr, words);
  PetscCall(
      ClaimError(ierr, words, "is not symmetric",
                 "the transpose for an operator that is symmetric no more, in the lighter of two fluids, is an error"));
  PetscCall(DestroyAll(&pc, &x, &b, &A, &da));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt first = 0, cases = 150;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-first", &first, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cases", &cases, NULL));
  if (Given("-seams")) PetscCall(Seams());
  else if (Given("-norms")) {
    PetscCall(Norms());
    PetscCall(Refusals());
    PetscCall(Symmetry());
  } else PetscCall(Randoms(first, cases));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: !complex
    nsize: {{1 3}}
    args: -fp_trap

    test:
      suffix: random

    test:
      suffix: norms
      args: -norms

    test:
      suffix: seams
      args: -seams

TEST*/
