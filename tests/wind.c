static char help[] = "Convection and diffusion: what PCKCYCLE chooses where operators are not symmetric, and how many "
                     "iterations that takes.\n\n";

#include "poisson.h"

typedef enum {
  CONSTANT, /* 30 degrees from x, in 3D 20 out of the plane */
  ALONG_X,
  EDDY /* sin cos */
} WindKind;

/* Upwind differences on cubes as cells. stored: rows of end points are those of the identity, and the columns are kept
 */
typedef struct {
  Poisson   poisson;
  WindKind  wind;
  PetscReal peclet; /* highest speed times width of a cell, over the diffusion */
  PetscBool stored;
  PetscBool islands; /* of 2 x 2 cells, in what diffuses 50 times less */
} Problem;

/* The speed along d at a place in the unit cube */
static PetscReal WindAt(const Problem *p, PetscInt d, const PetscReal x[])
{
  const PetscReal constant[2][3] = {{0.866025403784, 0.5, 0}, {0.813797681349, 0.469846310393, 0.342020143326}};
  PetscReal       value          = 1;

  if (p->wind == ALONG_X) return d == 0;
  if (p->wind == CONSTANT) return constant[p->poisson.dim - 2][d];
  for (PetscInt e = 0; e < p->poisson.dim; e++)
    value *= e == d ? PetscSinReal(PETSC_PI * x[e]) : PetscCosReal(PETSC_PI * x[e]);
  return d ? -value / (PetscReal)(p->poisson.dim - 1) : value;
}

static PetscReal DiffusionAt(const Problem *p, const PetscInt at[])
{
  return !p->islands || (at[0] % 6 < 2 && at[1] % 6 < 2) ? 1 : 0.02;
}

static void MakeRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const Problem *p    = (const Problem *)ctx;
  const PetscInt size = p->poisson.n;
  PetscBool      end  = PETSC_FALSE;

  for (PetscInt o = 0; o < 2 * p->poisson.dim; o++) {
    const PetscInt d = o / 2, side = o % 2;
    PetscInt       to[3];
    PetscReal      x[3] = {0, 0, 0}, inflow;
    PetscBool      outside;

    StarNeighbour(at, o, to);
    for (PetscInt e = 0; e < p->poisson.dim; e++) x[e] = ((PetscReal)at[e] + 0.5) / (PetscReal)size;
    x[d]    = (PetscReal)(at[d] + side) / (PetscReal)size;
    end     = (PetscBool)(end || at[d] == 0 || at[d] == size - 1);
    outside = (PetscBool)(to[d] < 0 || to[d] == size);
    inflow  = p->peclet * WindAt(p, d, x) * (side ? -1 : 1);
    RowCoupling(row, to, (outside ? 2 : 1) * PetscMin(DiffusionAt(p, at), DiffusionAt(p, to)) + PetscMax(inflow, 0),
                (PetscBool)!outside);
  }
  if (p->stored && end) row->n = 1;
}

static PetscErrorCode CreateMatrix(Problem *p, DM *da, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, &p->poisson, da));
  PetscCall(DMCreateMatrix(*da, A));
  PetscCall(MatSetDM(*A, *da));
  PetscCall(AssembleRows(*da, MakeRow, p, *A));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolver(Mat A, KSPType type, KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(MakeKSP(A, type, PCKCYCLE, ksp, NULL));
  PetscCall(KSPSetPCSide(*ksp, PC_RIGHT));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscFunctionReturn(0);
}

/* Iterations, 100 where the solution is none */
static PetscErrorCode Iterations(const Problem *p, DM da, KSP ksp, PetscInt *its)
{
  PetscReal residual;
  Mat       A;
  Vec       b, x;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(PoissonFill(&p->poisson, da, b));
  PetscCall(SolveSystem(ksp, b, x, its, NULL));
  PetscCall(RelativeResidual(A, b, x, &residual));
  if (!(residual < 1.1e-8)) *its = 100;
  PetscCall(DestroyAll(&b, &x));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(Problem *p, KSPType type, PetscInt *its)
{
  System s = {0};

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(p, &s.da, &s.A));
  PetscCall(CreateSolver(s.A, type, &s.ksp));
  PetscCall(Iterations(p, s.da, s.ksp, its));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* At most this number of iterations, of GMRES and of BiCGStab, each of whose has two products */
static PetscErrorCode TestIterations(void)
{
  const char *const names[] = {"constant", "along x", "eddy"};
  const struct {
    WindKind  wind;
    PetscInt  dim, most[2];
    PetscReal peclet;
  } cases[] = {{CONSTANT, 2, {7, 4}, 0.01}, {CONSTANT, 2, {8, 5}, 1},  {CONSTANT, 2, {12, 8}, 10},
               {CONSTANT, 2, {14, 9}, 100}, {ALONG_X, 2, {5, 3}, 100}, {EDDY, 2, {8, 5}, 1},
               {EDDY, 2, {14, 9}, 10},      {EDDY, 2, {18, 12}, 100},  {CONSTANT, 3, {8, 5}, 1},
               {CONSTANT, 3, {9, 6}, 100},  {ALONG_X, 3, {5, 3}, 100}, {EDDY, 3, {8, 5}, 1},
               {EDDY, 3, {12, 8}, 100}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    Problem  p = {.wind = cases[i].wind, .peclet = cases[i].peclet};
    char     claim[128];
    PetscInt its;

    p.poisson.dim = cases[i].dim;
    p.poisson.n   = p.poisson.dim == 2 ? 100 : 24;
    for (int m = 0; m < 2; m++) {
      PetscCall(Solve(&p, m ? KSPBCGS : KSPGMRES, &its));
      PetscCall(PetscSNPrintf(claim, sizeof(claim),
                              "%" PetscInt_FMT "D, %s, Peclet %g: at most %" PetscInt_FMT " iterations of %s",
                              p.poisson.dim, names[p.wind], (double)p.peclet, cases[i].most[m], m ? "bcgs" : "gmres"));
      PetscCall(Claim(its <= cases[i].most[m], claim));
      if (its > cases[i].most[m]) PetscCall(Print("  %" PetscInt_FMT "\n", its));
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Says(Problem *p, const char words[], PetscBool *says)
{
  System s = {0};

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(p, &s.da, &s.A));
  PetscCall(CreateSolver(s.A, KSPGMRES, &s.ksp));
  PetscCall(KSPSetUp(s.ksp));
  PetscCall(KSPGetPC(s.ksp, &s.pc));
  PetscCall(ViewHas(s.pc, words, says));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* The view of the first has the words, that of the second does not */
static PetscErrorCode TestThresholds(void)
{
  const struct {
    const char *name, *words;
    WindKind    wind;
    PetscReal   peclet[2];
    PetscBool   stored, islands;
  } cases[] = {
      {"SKEW", "by operator interpolation", EDDY, {0.006, 0.0045}, PETSC_FALSE},
      {"DRIFT", "64 x 64 x 1, 5 points, lines along xy", ALONG_X, {0.95, 0.7}, PETSC_FALSE},
      {"KAPPA_CONVECTION", "kappa=2", EDDY, {1, 0}, PETSC_FALSE},
      {"KAPPA_CONVECTION, one direction coarsened", "kappa=2", CONSTANT, {1, 0}, PETSC_FALSE},
      {"columns of stored boundary points are no wind", "by operator", EDDY, {0.006, 0}, PETSC_TRUE},
      {"DRIFT, clusters", "clusters of strongly coupled points", CONSTANT, {0.01, 10}, PETSC_FALSE, PETSC_TRUE}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    PetscBool says[2];

    for (int m = 0; m < 2; m++) {
      Problem p = {
          .wind = cases[i].wind, .peclet = cases[i].peclet[m], .stored = cases[i].stored, .islands = cases[i].islands};

      p.poisson.dim = 2;
      p.poisson.n   = 64;
      if (i == 3 && m) {
        p.wind   = ALONG_X;
        p.peclet = 100;
      }
      PetscCall(Says(&p, cases[i].words, &says[m]));
    }
    PetscCall(Claim(says[0] && !says[1], cases[i].name));
  }
  PetscFunctionReturn(0);
}

/* Wind rises, and calms down */
static PetscErrorCode TestValues(PetscInt dim)
{
  const PetscReal peclet[] = {0, 10, 0.5, 0};
  Problem         p        = {.wind = EDDY};
  PetscInt        its, fresh;
  System          s = {0};

  PetscFunctionBeginUser;
  p.poisson.dim = dim;
  p.poisson.n   = dim == 2 ? 50 : 16;
  PetscCall(CreateMatrix(&p, &s.da, &s.A));
  PetscCall(CreateSolver(s.A, KSPGMRES, &s.ksp));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(peclet); i++) {
    p.peclet = peclet[i];
    PetscCall(AssembleRows(s.da, MakeRow, &p, s.A));
    PetscCall(Iterations(&p, s.da, s.ksp, &its));
    PetscCall(Solve(&p, KSPGMRES, &fresh));
    PetscCall(ClaimThat(its == fresh && its < 100, "%" PetscInt_FMT "D, Peclet becomes %g: as a new solver", dim,
                        (double)p.peclet));
  }
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

int main(int argc, char **args)
{
  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &args, help));
  PetscCall(TestIterations());
  PetscCall(TestThresholds());
  for (PetscInt dim = 2; dim < 4; dim++) PetscCall(TestValues(dim));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: !complex

  test:
    nsize: {{1 2 3}}
    args: -dm_mat_type {{aij stencil}}
    output_file: output/wind.out

TEST*/
