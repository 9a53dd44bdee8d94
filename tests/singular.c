static char help[] = "Singular operators converge without any solver option.\n\n";

#include "poisson.h"

#define MAX_ITS 16

/* How a problem reaches the solver */
typedef enum {
  ASSEMBLED_ANEW, /* on each level, by KSPSetComputeOperators() */
  OPERATOR_ONLY   /* one matrix from DMCreateMatrix(), nothing else */
} Way;

/* What is done to the scheme A, with a diagonal D */
typedef enum {
  PLAIN,     /* A: the kernels of A and of A^T are the constants */
  SYMMETRIC, /* D A D: both kernels are D^{-1} 1 */
  ROWS       /* D A: constants from the right, D^{-1} 1 from the left */
} Scaling;

typedef struct {
  Poisson      p;
  PetscBool    attached; /* a null space is attached to the operator */
  Way          way;
  PetscBool    inconsistent; /* constants are not removed from the right side */
  Scaling      scaling;
  const char  *kernel;    /* what the view says of it */
  const char  *solver;    /* and of what is done about it */
  MatNullSpace nullspace; /* the attached one */
} Problem;

/* KSP projects solutions by the kernel, and right sides if the operator is known to be symmetric */
static PetscErrorCode Attach(Problem *problem, Mat A)
{
  PetscFunctionBeginUser;
  if (problem->scaling != ROWS) PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  if (problem->attached) PetscCall(MatSetNullSpace(A, problem->nullspace));
  PetscFunctionReturn(0);
}

static PetscErrorCode ComputeOperators(KSP ksp, Mat J, Mat A, void *ctx)
{
  Problem *problem = (Problem *)ctx;
  DM       da;

  PetscFunctionBeginUser;
  PetscCall(KSPGetDM(ksp, &da));
  PetscCall(PoissonAssemble(&problem->p, da, A));
  PetscCall(Attach(problem, J));
  PetscFunctionReturn(0);
}

/* D A or D A D; for the latter D^{-1} 1, normed, is the only vector of the null space */
static PetscErrorCode Scale(Problem *problem, DM da, Mat A)
{
  Vec d;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(da, &d));
  PetscCall(PoissonFill(&problem->p, da, d));
  PetscCall(VecScale(d, 0.2));
  PetscCall(VecShift(d, 1.0));
  PetscCall(MatDiagonalScale(A, d, problem->scaling == SYMMETRIC ? d : NULL));
  if (problem->scaling == SYMMETRIC) {
    PetscCall(VecReciprocal(d));
    PetscCall(VecNormalize(d, NULL));
    PetscCall(MatNullSpaceDestroy(&problem->nullspace));
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 1, &d, &problem->nullspace));
  }
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetOperators(Problem *problem, DM da, KSP ksp)
{
  Mat A;

  PetscFunctionBeginUser;
  if (problem->way == ASSEMBLED_ANEW) {
    PetscCall(KSPSetDM(ksp, da));
    PetscCall(KSPSetComputeOperators(ksp, ComputeOperators, problem));
  } else {
    PetscCall(DMCreateMatrix(da, &A));
    PetscCall(PoissonAssemble(&problem->p, da, A));
    if (problem->scaling != PLAIN) PetscCall(Scale(problem, da, A));
    PetscCall(Attach(problem, A));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(0);
}

/* Right side in the range of the operator, by our own hand unless KSP is to do it */
static PetscErrorCode FillRightSide(Problem *problem, DM da, KSP ksp, Vec b, Vec consistent)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(PoissonFill(&problem->p, da, b));
  PetscCall(VecScale(b, problem->p.scale));
  if (problem->inconsistent) PetscCall(VecShift(b, problem->p.scale));
  if (problem->scaling == ROWS) {
    PetscCall(KSPGetOperators(ksp, &A, NULL));
    PetscCall(MatMult(A, b, consistent));
    PetscCall(VecScale(consistent, 1 / problem->p.scale));
  } else {
    PetscCall(VecCopy(b, consistent));
    PetscCall(MatNullSpaceRemove(problem->nullspace, consistent));
  }
  if (!problem->inconsistent) PetscCall(VecCopy(consistent, b));
  PetscFunctionReturn(0);
}

/* Prints what does not hold, if anything */
static PetscErrorCode Judge(Problem *problem, KSP ksp, Vec b, Vec x, PetscBool *good)
{
  KSPConvergedReason reason;
  PetscInt           its;
  Mat                A;
  PetscReal          residual;
  PetscBool          kernel = PETSC_FALSE, solver = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(RelativeResidual(A, b, x, &residual));
  PetscCall(ViewHas(PCOf(ksp), problem->kernel, &kernel));
  PetscCall(ViewHas(PCOf(ksp), problem->solver, &solver));
  *good = (PetscBool)(reason > 0 && its <= MAX_ITS && residual < 1e-5 && kernel && solver);
  PetscCall(PetscInfo(ksp, "%" PetscInt_FMT " iterations, true residual %g\n", its, (double)residual));
  if (*good) PetscFunctionReturn(0);
  PetscCall(Print("NO: %" PetscInt_FMT "D %s: %s, %" PetscInt_FMT
                  " iterations, true residual %g, the view says \"%s\": %d, \"%s\": %d\n",
                  problem->p.dim, problem->p.periodic ? "periodic" : "Neumann", KSPConvergedReasons[reason], its,
                  (double)residual, problem->kernel, kernel, problem->solver, solver));
  PetscFunctionReturn(0);
}

/* KSPCG with PCKCYCLE (KSPGMRES where symmetry is lost), and options only if the test gives some */
static PetscErrorCode Solve(Problem *problem, PetscBool *good)
{
  DM  da;
  KSP ksp;
  Vec b, consistent, x;

  PetscFunctionBeginUser;
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, &problem->p, &da));
  /* PETSc has no interpolation from cells in 1D */
  if (problem->p.dim == 1) PetscCall(DMDASetInterpolationType(da, DMDA_Q1));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &problem->nullspace));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, problem->scaling == ROWS ? KSPGMRES : KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-8, 1e-300, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(PCSetType(PCOf(ksp), PCKCYCLE));
  PetscCall(SetOperators(problem, da, ksp));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(DuplicateVec(b, &consistent, &x));
  PetscCall(FillRightSide(problem, da, ksp, b, consistent));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(Judge(problem, ksp, consistent, x, good));
  PetscCall(DestroyAll(&b, &consistent, &x, &problem->nullspace, &ksp, &da));
  PetscFunctionReturn(0);
}

/* Neumann and periodic in 1D, 2D and 3D */
static PetscErrorCode SolveAll(Problem *problem, const char claim[])
{
  const PetscInt n[] = {0, 64, 32, 16};
  PetscBool      all = PETSC_TRUE, good = PETSC_FALSE;

  PetscFunctionBeginUser;
  for (problem->p.dim = 1; problem->p.dim <= 3; problem->p.dim++) {
    for (PetscInt periodic = 0; periodic < 2; periodic++) {
      problem->p.periodic = periodic ? PETSC_TRUE : PETSC_FALSE;
      problem->p.neumann  = periodic ? PETSC_FALSE : PETSC_TRUE;
      problem->p.n        = n[problem->p.dim] + (problem->p.dim == 1 && !periodic);
      PetscCall(Solve(problem, &good));
      if (!good) all = PETSC_FALSE;
    }
  }
  PetscCall(Claim(all, claim));
  PetscFunctionReturn(0);
}

static PetscErrorCode ConstantKernel(Problem *problem)
{
  const char *const claim[2][2] = {
      {"zero row sums, assembled on each grid", "zero row sums, operator only"},
      {"null space attached, assembled on each grid", "null space attached, operator only"}};

  PetscFunctionBeginUser;
  problem->solver = "constants span the kernel";
  for (PetscInt attached = 0; attached < 2; attached++) {
    for (PetscInt way = 0; way < 2; way++) {
      problem->attached = attached ? PETSC_TRUE : PETSC_FALSE;
      problem->way      = way ? OPERATOR_ONLY : ASSEMBLED_ANEW;
      problem->kernel =
          attached ? "singular operator: null space attached" : "singular operator: all row sums are zero";
      PetscCall(SolveAll(problem, claim[attached][way]));
    }
  }
  problem->inconsistent = PETSC_TRUE;
  problem->way          = ASSEMBLED_ANEW;
  PetscCall(SolveAll(problem, "null space attached, right side inconsistent, assembled on each grid"));
  problem->way = OPERATOR_ONLY;
  PetscCall(SolveAll(problem, "null space attached, right side inconsistent, operator only"));
  PetscFunctionReturn(0);
}

/* Coarse grids have it, and then it is found with the factors of the coarsest operator, or they are regular */
static PetscErrorCode OtherKernel(Problem *problem)
{
  PetscFunctionBeginUser;
  problem->scaling  = SYMMETRIC;
  problem->attached = PETSC_TRUE;
  problem->way      = OPERATOR_ONLY;
  problem->kernel   = "singular operator: null space attached";
  problem->solver   = "null space attached";
  PetscCall(SolveAll(problem, "kernel other than constants, null space attached"));
  problem->inconsistent = PETSC_TRUE;
  PetscCall(SolveAll(problem, "kernel other than constants, null space attached, right side inconsistent"));
  problem->scaling      = ROWS;
  problem->solver       = "projected out of the coarsest problem";
  problem->inconsistent = PETSC_FALSE;
  PetscCall(SolveAll(problem, "constants from the right only, null space attached"));
  problem->attached = PETSC_FALSE;
  problem->kernel   = "singular operator: all row sums are zero";
  PetscCall(SolveAll(problem, "constants from the right only, zero row sums"));
  PetscFunctionReturn(0);
}

static PetscErrorCode LevelsOfGAMG(Problem *problem)
{
  PetscFunctionBeginUser;
  problem->way    = OPERATOR_ONLY;
  problem->kernel = "singular operator: all row sums are zero";
  problem->solver = "type: svd";
  PetscCall(SolveAll(problem, "levels of PCGAMG, zero row sums"));
  problem->attached = PETSC_TRUE;
  problem->kernel   = "singular operator: null space attached";
  PetscCall(SolveAll(problem, "levels of PCGAMG, null space attached"));
  problem->inconsistent = PETSC_TRUE;
  PetscCall(SolveAll(problem, "levels of PCGAMG, null space attached, right side inconsistent"));
  PetscFunctionReturn(0);
}

/* Cells with balances between them, Neumann at the ends; what is done to the matrix */
typedef struct {
  PetscInt  dim, n;
  PetscBool periodic, hole, wall, solid,
      held;                    /* a solid cell; a wall, thin or of solid cells; a value held at one end */
  PetscReal          stretch;  /* growth of cells from the middle */
  PetscReal          wind;     /* that turns around the middle */
  PetscReal          powers;   /* rows are multiplied by 10 to at most these, up or down, */
  PetscBool          negative; /* and some by -1 */
  PetscBool          attach;   /* the kernel is said to the solver */
  PetscReal          gap;      /* this part of the right side is in no image */
  const char        *type;     /* of KSP */
  /* what comes out */
  PetscInt           its;
  KSPConvergedReason reason;
  PetscReal          residual; /* relative, of the rest */
  PetscBool          told;     /* the view tells of an inconsistent right side */
  /* with which */
  DM                 da;
  Mat                A;
  Vec                x, b, rest, left;
  KSP                ksp;
} Cells;

/* Without a pattern, from 0 to 1 */
static PetscReal Noise(const PetscInt at[], PetscInt which)
{
  const PetscReal x = 1e4 * PetscSinReal(1 + 12.9898 * at[0] + 78.233 * at[1] + 37.719 * at[2] + 11.1 * which);

  return x - PetscFloorReal(x);
}

static PetscBool IsSolid(const Cells *c, const PetscInt at[])
{
  return (PetscBool)((c->hole && at[0] == c->n / 3 && at[1] == c->n / 3) || (c->solid && at[0] == c->n / 2));
}

static PetscReal Width(const Cells *c, PetscInt i)
{
  return c->stretch > 0 ? PetscPowReal(c->stretch, PetscAbsInt(2 * i + 1 - c->n) / 2.0) : 1;
}

static PetscReal RowFactor(const Cells *c, const PetscInt at[])
{
  const PetscReal size = c->powers > 0 ? PetscPowReal(10, c->powers * (2 * Noise(at, 0) - 1)) : 1;

  return c->negative && Noise(at, 1) < 0.5 ? -size : size;
}

/* Between a cell and the next one, to, in direction d */
static PetscReal Coupling(const Cells *c, PetscInt d, const PetscInt at[], const PetscInt to[])
{
  const PetscInt  side = to[d] - at[d], low = PetscMin(at[0], to[0]);
  const PetscReal X = (at[0] + 0.5) / c->n - 0.5, Y = (at[1] + 0.5) / c->n - 0.5, wind = d == 0 ? Y : d == 1 ? -X : 0;
  PetscReal       g = 1;

  if (!c->periodic && (to[d] < 0 || to[d] >= c->n)) return c->held && d == 0 && to[0] < 0 ? 1 : 0;
  if (c->wall && d == 0 && low == c->n / 2) return 0;
  if (c->stretch > 0) g = Width(c, at[1 - d]) / (0.5 * (Width(c, at[d]) + Width(c, to[d])));
  return g + PetscMax(0, -side * wind * c->wind);
}

static void MakeRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const Cells    *c      = (const Cells *)ctx;
  const PetscBool solid  = IsSolid(c, at);
  const PetscReal factor = RowFactor(c, at);

  if (solid) row->value[0] = factor;
  for (PetscInt o = 0; o < 2 * c->dim && !solid; o++) {
    const PetscInt d = o / 2;
    PetscInt       to[3];

    StarNeighbour(at, o, to);
    if (!IsSolid(c, to))
      RowCoupling(row, to, factor * Coupling(c, d, at, to), (PetscBool)(c->periodic || (to[d] >= 0 && to[d] < c->n)));
  }
}

/* The matrix; a solution; cells that are not solid, over the factors of their rows */
static PetscErrorCode FillCells(const Cells *c, DM da, Mat A, Vec exact, Vec left)
{
  PetscInt     s[3], m[3], at[3], p = 0;
  PetscScalar *e, *l;

  PetscFunctionBeginUser;
  PetscCall(AssembleRows(da, MakeRow, c, A));
  PetscCall(DMDAGetCorners(da, &s[0], &s[1], &s[2], &m[0], &m[1], &m[2]));
  PetscCall(VecGetArrayWrite(exact, &e));
  PetscCall(VecGetArrayWrite(left, &l));
  FOR_BOX(at, s, m) {
    e[p]   = IsSolid(c, at)
                 ? 0
                 : PetscSinReal((7.0 * at[0] + 1) / c->n) * PetscCosReal(5.0 * at[1] / c->n) + 0.1 * Noise(at, 2);
    l[p++] = IsSolid(c, at) ? 0 : 1 / RowFactor(c, at);
  }
  PetscCall(VecRestoreArrayWrite(exact, &e));
  PetscCall(VecRestoreArrayWrite(left, &l));
  PetscCall(VecNormalize(left, NULL));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateGrid(Cells *c)
{
  const DMBoundaryType b = c->periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, b, b, c->dim == 3 ? b : DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, c->n, c->n,
                         c->dim == 3 ? c->n : 1, PETSC_DECIDE, PETSC_DECIDE, c->dim == 3 ? PETSC_DECIDE : 1, 1, 1, NULL,
                         NULL, NULL, &c->da));
  PetscCall(DMSetFromOptions(c->da));
  PetscCall(DMSetUp(c->da));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateCells(Cells *c)
{
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(CreateGrid(c));
  PetscCall(DMCreateMatrix(c->da, &c->A));
  PetscCall(MatCreateVecs(c->A, &c->x, &c->b));
  PetscCall(DuplicateVec(c->x, &c->rest, &c->left));
  PetscCall(FillCells(c, c->da, c->A, c->x, c->left));
  PetscCall(MatMult(c->A, c->x, c->rest));
  PetscCall(VecZeroEntries(c->x));
  PetscCall(VecCopy(c->rest, c->b));
  PetscCall(VecNorm(c->b, NORM_2, &norm));
  PetscCall(VecAXPY(c->b, c->gap * norm, c->left));
  if (c->attach) PetscCall(AttachConstants(c->A, NULL));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyCells(Cells *c)
{
  return DestroyAll(&c->ksp, &c->x, &c->b, &c->rest, &c->left, &c->A, &c->da);
}

static PetscErrorCode SolveCells(Cells *c)
{
  PetscFunctionBeginUser;
  PetscCall(CreateCells(c));
  PetscCall(MakeSolver(c->A, c->type, 1e-9, 100, &c->ksp));
  PetscCall(SolveSystem(c->ksp, c->b, c->x, &c->its, &c->reason));
  PetscCall(RelativeResidual(c->A, c->rest, c->x, &c->residual));
  PetscCall(ViewHas(PCOf(c->ksp), "is not in the range", &c->told));
  PetscCall(DestroyCells(c));
  PetscFunctionReturn(0);
}

/* Does a solve end well, in at most this number of iterations? */
static PetscErrorCode Expect(Cells *c, PetscInt most, PetscReal residual, PetscBool *all)
{
  PetscFunctionBeginUser;
  PetscCall(SolveCells(c));
  if (c->reason > 0 && c->its <= most && c->residual < residual) PetscFunctionReturn(0);
  *all = PETSC_FALSE;
  PetscCall(Print("NO: %" PetscInt_FMT "D, %s: %s, %" PetscInt_FMT " iterations, of %" PetscInt_FMT
                  ", true residual %g\n",
                  c->dim, c->type, KSPConvergedReasons[c->reason], c->its, most, (double)c->residual));
  PetscFunctionReturn(0);
}

/* With rows as they come from balances, and multiplied by anything: as many iterations */
static PetscErrorCode RowsTimesAnything(void)
{
  const char *const type[3] = {KSPGMRES, KSPFGMRES, KSPBCGS};
  PetscBool         all     = PETSC_TRUE;

  PetscFunctionBeginUser;
  for (PetscInt which = 0; which < 14; which++) {
    Cells plain = {.dim = 2, .n = 32, .type = type[which % 3]}, rows;

    plain.dim      = which < 10 ? 2 : 3;
    plain.n        = which < 10 ? 32 : 16;
    plain.periodic = (PetscBool)(which == 2 || which == 3 || which == 12);
    plain.hole     = (PetscBool)(which == 4 || which == 5 || which == 13);
    plain.held     = (PetscBool)(which == 6 || which == 7);
    plain.solid    = (PetscBool)(which == 8 || which == 9);
    plain.attach   = (PetscBool)(which % 2 == 1 && !plain.hole && !plain.held && !plain.solid);
    rows           = plain;
    rows.powers    = which % 3 ? 2 : 8;
    rows.negative  = (PetscBool)(which % 4 == 3);
    PetscCall(Expect(&plain, 16, 1e-6, &all));
    PetscCall(Expect(&rows, plain.its + 1, 1e-6, &all));
  }
  PetscCall(Claim(all, "rows multiplied by anything from 1e-8 to 1e8, of both signs: iterations as without"));
  PetscFunctionReturn(0);
}

static PetscErrorCode ClosedParts(void)
{
  PetscBool all = PETSC_TRUE;

  PetscFunctionBeginUser;
  for (PetscInt which = 0; which < 7; which++) {
    Cells c = {.dim = 2, .n = 32, .type = KSPCG};

    c.hole  = (PetscBool)(which < 2);
    c.wall  = (PetscBool)(which > 0 && which < 4);
    c.solid = (PetscBool)(which > 3 && which < 6);
    c.held  = (PetscBool)(which == 3 || which == 5);
    if (which == 6) c.stretch = 1.05;
    if (which == 6) c.n = 128;
    PetscCall(Expect(&c, 12, 1e-8, &all));
  }
  PetscCall(Claim(all, "parts that nothing flows out of, next to solid cells, and others, without a null space"));
  PetscFunctionReturn(0);
}

static PetscErrorCode Inconsistent(void)
{
  PetscBool all = PETSC_TRUE;
  char      words[ERROR_LENGTH], *found;
  int       ierr;
  Cells     c = {.dim = 2, .n = 32, .attach = PETSC_TRUE, .gap = 1e-3, .type = KSPFGMRES};

  PetscFunctionBeginUser;
  for (PetscInt which = 0; which < 5; which++) {
    Cells some = {.dim = 2, .n = 32, .gap = 1e-3};

    some.attach = (PetscBool)(which % 2 == 0 && which < 4);
    some.powers = which / 2 == 1 ? 2 : 0;
    some.type   = some.powers > 0 ? KSPGMRES : KSPCG;
    some.hole   = (PetscBool)(which == 4);
    PetscCall(Expect(&some, 16, 1.1e-3, &all));
    if (!some.told) all = PETSC_FALSE;
  }
  PetscCall(Claim(all, "a right side that is not consistent: the solution for the rest, and the view says so"));
  PetscCall(CreateCells(&c));
  PetscCall(MakeSolver(c.A, c.type, 1e-9, 12, &c.ksp));
  PetscCall(KSPSetErrorIfNotConverged(c.ksp, PETSC_TRUE));
  KeepErrorOf((int)KSPSolve(c.ksp, c.b, c.x), ierr, words);
  PetscCall(DestroyCells(&c));
  PetscCall(PetscStrstr(words, "is not in its range", &found));
  PetscCall(Claim(ierr == PETSC_ERR_NOT_CONVERGED && found, "an error that names the cause"));
  PetscFunctionReturn(0);
}

/* Constants are the kernel from the right alone, and no scaling of rows changes that */
static PetscErrorCode Transport(void)
{
  PetscBool all = PETSC_TRUE;

  PetscFunctionBeginUser;
  for (PetscInt which = 0; which < 4; which++) {
    Cells c = {.dim = 2, .n = 48, .wind = which % 2 ? 20. : 2., .attach = (PetscBool)(which > 1), .type = KSPGMRES};

    PetscCall(Expect(&c, 16, 1e-6, &all));
  }
  PetscCall(Claim(all, "transport around the middle, between walls"));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem problem = {0};

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PoissonSetFromOptions(&problem.p));
  if (Given("-cells")) {
    PetscCall(RowsTimesAnything());
    PetscCall(ClosedParts());
    PetscCall(Transport());
    PetscCall(Inconsistent());
  } else if (Given("-gamg")) PetscCall(LevelsOfGAMG(&problem));
  else if (Given("-other")) PetscCall(OtherKernel(&problem));
  else PetscCall(ConstantKernel(&problem));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:

    test:
      suffix: constants
      nsize: {{1 3 8}}
      args: -pc_kcycle_structured {{off auto}}

    test:
      suffix: other
      nsize: {{1 4}}
      args: -other -pc_kcycle_structured {{off auto}}

    # more rows than dense matrices are for
    test:
      suffix: other_large
      nsize: {{1 2}}
      args: -other -pc_kcycle_structured {{off auto}} -pc_mg_levels 2
      output_file: output/singular_other.out

    # real numbers only: zgesvd() of OpenBLAS 0.3.21 reads memory before its arrays, and crashes at times
    test:
      suffix: gamg
      nsize: {{1 4}}
      requires: !complex
      args: -gamg -pc_kcycle_hierarchy gamg

    test:
      suffix: cells
      nsize: {{1 3}}
      requires: !complex
      args: -cells -dm_mat_type {{aij stencil}}

  testset:
    args: -scale {{1e-15 1e12}}
    nsize: 2

    test:
      suffix: constants_units
      args: -pc_kcycle_structured {{off auto}}
      output_file: output/singular_constants.out

    test:
      suffix: other_units
      args: -other -pc_kcycle_structured {{off auto}}
      output_file: output/singular_other.out

    test:
      suffix: gamg_units
      requires: !complex
      args: -gamg -pc_kcycle_hierarchy gamg
      output_file: output/singular_gamg.out

  testset:
    nsize: 2
    args: -pc_kcycle_structured {{off auto}}
    output_file: output/singular_constants.out

    test:
      suffix: kappa
      args: -pc_kcycle_kappa {{1 w}}

    test:
      suffix: galerkin
      args: -pc_mg_galerkin both

    test:
      suffix: full
      args: -pc_mg_type full -ksp_type gmres

    # factorizations that were chosen by hand shift zero pivots, too
    test:
      suffix: factors
      nsize: 1
      args: -mg_coarse_pc_type {{lu cholesky}}

    test:
      suffix: redundant
      nsize: {{1 3}}
      args: -mg_coarse_pc_type redundant -mg_coarse_redundant_pc_type {{lu cholesky svd}}

TEST*/
