static char help[] =
    "Iterations of PCKCYCLE do not depend on how many processes there are, and which points each has.\n\
  -test counts|single|gather   which part\n\
  -show                        numbers of iterations\n\n";

#include "grids.h"
#include "poisson.h"

/* How points are distributed */
typedef enum {
  DECIDED, /* by PETSc */
  CUT_X,   /* in this direction only, into even parts */
  CUT_Y,
  CUT_Z,
  UNEVEN, /* very different parts */
  THIN,   /* one process has all but a few points */
  NUM_PARTS
} Parts;

static const char *const parts[] = {"decided by PETSc", "cut in x", "cut in y", "cut in z", "uneven", "thin"};

typedef struct {
  PetscInt     dim, size[3];
  PetscReal    strength[3];
  GridBoundary boundary;
} Case;

static PetscErrorCode SetUpGrid(const Case *c, Parts how, PetscInt number, Grid *g, PetscBool *possible)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(g, sizeof(*g)));
  g->number = number;
  g->dim    = c->dim;
  for (PetscInt d = 0; d < 3; d++) {
    g->size[d]     = c->size[d];
    g->strength[d] = c->strength[d];
  }
  GridSetBoundaries(g, c->boundary);
  *possible = PETSC_TRUE;
  if (how >= CUT_X && how <= CUT_Z) {
    for (PetscInt d = 0; d < 3; d++) g->nproc[d] = d == (PetscInt)how - CUT_X ? PetscGlobalSize : 1;
    *possible = (PetscBool)((PetscInt)how - CUT_X < g->dim && g->size[how - CUT_X] >= PetscGlobalSize);
  } else if (how != DECIDED) PetscCall(GridDistribute(g, possible));
  g->uneven = (PetscBool)(how == UNEVEN || how == THIN);
  g->thin   = (PetscBool)(how == THIN);
  PetscFunctionReturn(0);
}

/* Operator and right side. If the operator is singular its null space is attached, and the right side has none of it */
static PetscErrorCode CreateProblem(const Grid *g, MatType type, System *s)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscCall(GridCreateDM(g, &s->da));
  PetscCall(GridCreateMat(g, s->da, type, &s->A));
  PetscCall(MatCreateVecs(s->A, &s->x, &s->b));
  PetscCall(GridFill(g, s->da, 1, s->b));
  if (g->boundary[0][0] >= BOUNDARY_NEUMANN) PetscCall(AttachConstants(s->A, s->b));
  PetscFunctionReturn(0);
}

/* A solver with options, on an operator that is there */
static PetscErrorCode CreateSolver(Mat A, const char prefix[], const char options[], KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(MakeKSP(A, KSPCG, PCKCYCLE, ksp, NULL));
  PetscCall(KSPSetOptionsPrefix(*ksp, prefix));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, 1e-50, 1e10, 100));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

/* -1: not converged, or to something else */
static PetscErrorCode Iterations(const Grid *g, const char prefix[], PetscInt *its)
{
  System             s;
  PetscReal          relative;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(CreateProblem(g, MATSTENCIL, &s));
  PetscCall(CreateSolver(s.A, prefix, "", &s.ksp));
  PetscCall(SolveSystem(s.ksp, s.b, s.x, its, &reason));
  PetscCall(RelativeResidual(s.A, s.b, s.x, &relative));
  if (reason <= 0 || relative > 2e-8) *its = -1;
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* On one process */
static PetscErrorCode Reference(const Grid *g, PetscInt *its)
{
  Grid alone = *g;

  PetscFunctionBeginUser;
  alone.alone    = PETSC_TRUE;
  alone.uneven   = PETSC_FALSE;
  alone.nproc[0] = 0;
  if (PetscGlobalRank == 0) PetscCall(Iterations(&alone, NULL, its));
  PetscCallMPI(MPI_Bcast(its, 1, MPIU_INT, 0, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

/* One more is forgiven */
static PetscErrorCode CountsOf(const Case *c, PetscBool *same)
{
  PetscBool show = PETSC_FALSE, possible = PETSC_FALSE;
  PetscInt  alone = 0, its;
  Grid      g;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-show", &show, NULL));
  for (int how = 0; how < NUM_PARTS; how++) {
    PetscBool good;

    PetscCall(SetUpGrid(c, (Parts)how, 1 + c->size[0] + c->size[1], &g, &possible));
    if (how == 0) PetscCall(Reference(&g, &alone));
    if (!possible) continue;
    PetscCall(Iterations(&g, NULL, &its));
    good = (PetscBool)(alone > 0 && its > 0 && its <= alone + 1);
    if (!good) *same = PETSC_FALSE;
    if (!good || show) {
      PetscCall(Print("  %s: %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT
                      ", couplings %g : %g : %g, %s, %s: %" PetscInt_FMT " iterations, one process %" PetscInt_FMT "\n",
                      good ? "" : "NO", c->size[0], c->size[1], c->size[2], (double)c->strength[0],
                      (double)c->strength[1], (double)c->strength[2], GridBoundaries[c->boundary], parts[how], its,
                      alone));
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Counts(void)
{
  const struct {
    const char *what;
    PetscInt    dim, size[3];
    PetscReal   strength[3];
  } grids[] = {{"one dimension, few points", 1, {15, 1, 1}, {1, 1, 1}},
               {"one dimension", 1, {1000, 1, 1}, {1, 1, 1}},
               {"two dimensions, few points", 2, {19, 23, 1}, {1, 1, 1}},
               {"two dimensions", 2, {179, 165, 1}, {1, 1, 1}},
               {"strong in x", 2, {120, 200, 1}, {1e4, 1, 1}},
               {"strong in y", 2, {300, 100, 1}, {1, 1e4, 1}},
               {"three dimensions, few points", 3, {15, 17, 16}, {1, 1, 1}},
               {"three dimensions", 3, {31, 23, 27}, {1, 1, 1}},
               {"strong in x, three dimensions", 3, {24, 25, 30}, {1e6, 1, 1}},
               {"strong in y, three dimensions", 3, {29, 20, 26}, {1, 1e6, 1}},
               {"strong in z, three dimensions", 3, {28, 28, 18}, {1, 1, 1e6}},
               {"weak in z", 3, {20, 22, 25}, {1e6, 1e6, 1}},
               {"much stronger in z", 3, {300, 8, 4}, {1, 1, 1e5}}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(grids); i++) {
    PetscBool same = PETSC_TRUE;

    for (int end = BOUNDARY_ELIMINATED; end <= BOUNDARY_PERIODIC; end++) {
      Case c = {grids[i].dim,
                {grids[i].size[0], grids[i].size[1], grids[i].size[2]},
                {grids[i].strength[0], grids[i].strength[1], grids[i].strength[2]},
                (GridBoundary)end};

      PetscCall(CountsOf(&c, &same));
    }
    PetscCall(ClaimThat(same, "%s: at most one iteration more than on one process", grids[i].what));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(KSP ksp, Vec b, Vec x, PetscInt *its)
{
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(VecSet(x, 0));
  PetscCall(SolveSystem(ksp, b, x, its, &reason));
  if (reason <= 0) *its = -1;
  PetscFunctionReturn(0);
}

/* The coarsest solver of a single level, what it is called and what it is */
static PetscErrorCode CoarseIs(KSP ksp, const char prefix[], const char name[], PCType type, PetscBool *is)
{
  PC          pc;
  KSP         coarse;
  PetscInt    nlevels;
  const char *has;
  char        should[64];

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGGetLevels(pc, &nlevels));
  PetscCall(PCMGGetCoarseSolve(pc, &coarse));
  PetscCall(KSPGetOptionsPrefix(coarse, &has));
  PetscCall(PetscSNPrintf(should, sizeof(should), "%s%s", prefix, name));
  PetscCall(PetscStrcmp(has, should, is));
  *is = (PetscBool)(*is && HasType(PCOf(coarse), type) && nlevels == 1);
  PetscFunctionReturn(0);
}

/* A single level is the coarsest problem, structured or not, singular or not: solved in one iteration, with the
   options of the coarsest solver */
static PetscErrorCode Single(void)
{
  const char *const options[] = {"", "-a_pc_kcycle_structured off", "-a_pc_kcycle_structured off",
                                 "-a_mg_coarse_pc_type jacobi",
                                 "-a_mg_coarse_ksp_type cg -a_mg_coarse_ksp_rtol 1e-12 -a_mg_coarse_pc_type jacobi"};
  const char *const claims[]  = {"structured", "levels of PCMG", "levels of PCMG, a matrix of type aij",
                                 "a coarsest solver that is Jacobi's method is Jacobi's method",
                                 "one that is conjugate gradients"};
  PetscInt          its[2];

  PetscFunctionBeginUser;
  for (int i = 0; i < 5; i++) {
    PetscBool good = PETSC_TRUE, is = PETSC_FALSE;

    for (int end = BOUNDARY_STORED; end <= BOUNDARY_PERIODIC; end++) {
      Grid            g = {0};
      System          s;
      MatNullSpace    left;
      const PetscBool attach = (PetscBool)(end == BOUNDARY_PERIODIC);

      PetscCall(GridInit(&g, 2, (PetscInt[]){21, 17, 1}, (GridBoundary)end));
      PetscCall(CreateProblem(&g, i == 2 ? MATAIJ : MATSTENCIL, &s));
      if (!attach) PetscCall(MatSetNullSpace(s.A, NULL));
      PetscCall(CreateSolver(s.A, "a_", options[i], &s.ksp));
      PetscCall(PetscOptionsInsertString(NULL, "-a_pc_mg_levels 1"));
      PetscCall(KSPSetFromOptions(s.ksp));
      for (int again = 0; again < 2; again++) {
        PetscCall(Solve(s.ksp, s.b, s.x, &its[again]));
        PetscCall(MatScale(s.A, 2.0));
      }
      PetscCall(MatGetNullSpace(s.A, &left));
      PetscCall(CoarseIs(s.ksp, "a_", "mg_coarse_", i >= 3 ? PCJACOBI : PetscGlobalSize > 1 ? PCREDUNDANT : PCLU, &is));
      good = (PetscBool)(good && is && its[0] == its[1] && (i == 3 ? its[0] > 20 : its[0] == 1) &&
                         (left != NULL) == attach);
      if (!good)
        PetscCall(Print("  %s: %" PetscInt_FMT ", %" PetscInt_FMT " iterations, coarsest solver %s, null space %s\n",
                        GridBoundaries[end], its[0], its[1], is ? "as it should be" : "another",
                        left ? "attached" : "none"));
      PetscCall(SystemDestroy(&s));
    }
    PetscCall(Claim(good, claims[i]));
    PetscCall(PetscOptionsClearValue(NULL, "-a_mg_coarse_pc_type"));
    PetscCall(PetscOptionsClearValue(NULL, "-a_pc_kcycle_structured"));
  }
  PetscFunctionReturn(0);
}

/* Levels of a solver, and of those that go on where processes are left out: on the first process they are all.
   attached: do they all have the null space? */
static PetscErrorCode CountLevels(KSP ksp, PetscInt *nlevels, PetscInt *ngathers, PetscMPIInt *smallest,
                                  PetscInt *kappa, PetscMPIInt *attached)
{
  PetscBool gathers = PETSC_TRUE, has = PETSC_FALSE, unknown = PETSC_FALSE;

  PetscFunctionBeginUser;
  *nlevels  = 1;
  *ngathers = -1;
  *attached = 1;
  while (ksp && gathers) {
    const PC pc = PCOf(ksp);
    PetscInt n;

    if (!HasType(pc, PCKCYCLE)) break;
    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), smallest));
    PetscCall(PCMGGetLevels(pc, &n));
    PetscCall(PCKCycleGetKappa(pc, kappa));
    PetscCall(ViewHas(pc, "singular operator: null space attached", &has));
    PetscCall(ViewHas(pc, "singular operator: all row sums", &unknown));
    *attached = *attached && has && !unknown;
    *nlevels += n - 1;
    ++*ngathers;
    PetscCall(PCMGGetCoarseSolve(pc, &ksp));
    gathers = HasType(PCOf(ksp), PCTELESCOPE);
    if (gathers) PetscCall(PCTelescopeGetKSP(PCOf(ksp), &ksp));
  }
  PetscCallMPI(MPI_Bcast(nlevels, 1, MPIU_INT, 0, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Bcast(ngathers, 1, MPIU_INT, 0, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Bcast(smallest, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Bcast(kappa, 1, MPIU_INT, 0, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Bcast(attached, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

/* Little flows through the ends in y of a grid of cells: more on coarser levels, relative to what flows inside */
static PetscErrorCode AddLeaks(const Grid *g, DM da, Mat A)
{
  PetscInt s[2], n[2];

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &s[0], &s[1], NULL, &n[0], &n[1], NULL));
  for (PetscInt j = s[1]; j < s[1] + n[1]; j++) {
    for (PetscInt i = s[0]; i < s[0] + n[0]; i++) {
      const MatStencil  row   = {0, j, i, 0};
      const PetscScalar value = 0.05 * g->strength[1];

      if (j == 0 || j == g->size[1] - 1) PetscCall(MatSetValuesStencil(A, 1, &row, 1, &row, &value, ADD_VALUES));
    }
  }
  PetscCall(AssembleMat(A));
  PetscCall(MatSetNullSpace(A, NULL));
  PetscFunctionReturn(0);
}

/* A grid that all processes cut in the direction of strong couplings: its coarsest level is gathered */
static PetscErrorCode CreateGathered(MatType type, PetscBool leaks, PetscBool alone, Grid *g, System *s)
{
  const Case c        = {2, {1100, 40, 1}, {1, 1e4, 1}, BOUNDARY_NEUMANN};
  PetscBool  possible = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(SetUpGrid(&c, CUT_Y, 1, g, &possible));
  PetscCheck(possible, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ, "Too many processes");
  g->alone = alone;
  g->vary  = 0.2;
  if (alone) g->nproc[0] = 0;
  PetscCall(CreateProblem(g, type, s));
  if (leaks) PetscCall(AddLeaks(g, s->da, s->A));
  PetscFunctionReturn(0);
}

/* (M x, y), which is (x, M^T y), but for the rounding of strong couplings; y is made of the grid's numbers */
static PetscErrorCode Product(const Grid *g, KSP ksp, Vec x, PetscReal *product, PetscBool *adjoint)
{
  DM           da;
  Mat          A;
  Vec          y, Mx, My;
  PetscScalar  a, b;
  MatNullSpace constants;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatGetDM(A, &da));
  PetscCall(DuplicateVec(x, &y, &Mx, &My));
  PetscCall(GridFill(g, da, 9, y));
  PetscCall(MatGetNullSpace(A, &constants));
  if (constants) PetscCall(MatNullSpaceRemove(constants, y));
  PetscCall(PCApply(PCOf(ksp), x, Mx));
  PetscCall(PCApplyTranspose(PCOf(ksp), y, My));
  PetscCall(VecDot(Mx, y, &a));
  PetscCall(VecDot(x, My, &b));
  *product = PetscRealPart(a);
  *adjoint = (PetscBool)(PetscAbsScalar(a - b) <= 1e-8 * PetscAbsScalar(a));
  PetscCall(DestroyAll(&y, &Mx, &My));
  PetscFunctionReturn(0);
}

/* What a solver is on one process: iterations, levels, a product with it */
typedef struct {
  PetscInt  its, nlevels;
  PetscReal product;
} Alone;

static PetscErrorCode SolveAlone(PetscBool leaks, Alone *alone)
{
  Grid      g;
  System    s;
  PetscBool adjoint;

  PetscFunctionBeginUser;
  if (PetscGlobalRank == 0) {
    PetscCall(CreateGathered(MATSTENCIL, leaks, PETSC_TRUE, &g, &s));
    PetscCall(CreateSolver(s.A, "b_", "", &s.ksp));
    PetscCall(Solve(s.ksp, s.b, s.x, &alone->its));
    PetscCall(PCMGGetLevels(PCOf(s.ksp), &alone->nlevels));
    PetscCall(Product(&g, s.ksp, s.b, &alone->product, &adjoint));
    PetscCall(SystemDestroy(&s));
  }
  PetscCallMPI(MPI_Bcast(&alone->its, 1, MPIU_INT, 0, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Bcast(&alone->nlevels, 1, MPIU_INT, 0, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Bcast(&alone->product, 1, MPIU_REAL, 0, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

static PetscErrorCode CompareAlone(const Grid *g, KSP ksp, Vec b, PetscInt its, PetscBool leaks, PetscInt gathers)
{
  PetscMPIInt smallest = 0, attached;
  PetscInt    nlevels, ngathers, kappa[2];
  PetscReal   product;
  PetscBool   adjoint = PETSC_FALSE, good;
  Alone       alone   = {0, 0, 0};

  PetscFunctionBeginUser;
  PetscCall(SolveAlone(leaks, &alone));
  PetscCall(CountLevels(ksp, &nlevels, &ngathers, &smallest, &kappa[1], &attached));
  PetscCall(PCKCycleGetKappa(PCOf(ksp), &kappa[0]));
  good = (PetscBool)(nlevels == alone.nlevels && its > 0 && PetscAbs(its - alone.its) <= 1 && kappa[0] == kappa[1]);
  PetscCall(Claim(good, "  levels, kappa and iterations of one process"));
  if (!good)
    PetscCall(Print("  %" PetscInt_FMT " and %" PetscInt_FMT " levels, %" PetscInt_FMT " and %" PetscInt_FMT
                    " iterations\n",
                    nlevels, alone.nlevels, its, alone.its));
  PetscCall(Claim(PetscGlobalSize == 1 || (smallest == 1 && ngathers >= 1 && (!gathers || ngathers == gathers)),
                  "  gathered as often as it should be, in the end on one process"));
  PetscCall(Claim(leaks != (PetscBool)attached, "  a null space is known to all levels, and to none without one"));
  PetscCall(Product(g, ksp, b, &product, &adjoint));
  good = (PetscBool)(PetscAbsReal(product - alone.product) <= 1e-6 * PetscAbsReal(product));
  PetscCall(Claim(good, "  the cycle is that of one process"));
  if (!good) PetscCall(Print("  %.12g and %.12g\n", (double)product, (double)alone.product));
  PetscCall(Claim(adjoint, "  the transposed cycle is the adjoint"));
  PetscFunctionReturn(0);
}

static PetscErrorCode GatherWith(const char what[], PetscBool leaks, PetscInt gathers)
{
  Grid      g;
  System    s;
  KSP       fresh;
  PetscInt  its[3];
  PetscBool same;
  char     *before, *after;

  PetscFunctionBeginUser;
  PetscCall(Print("%s:\n", what));
  PetscCall(CreateGathered(MATAIJ, leaks, PETSC_FALSE, &g, &s));
  PetscCall(CreateSolver(s.A, "b_", "", &s.ksp));
  PetscCall(PetscOptionsGetAll(NULL, &before));
  PetscCall(Solve(s.ksp, s.b, s.x, &its[0]));
  PetscCall(PetscOptionsGetAll(NULL, &after));
  PetscCall(PetscStrcmp(before, after, &same));
  PetscCall(PetscFree(before));
  PetscCall(PetscFree(after));
  PetscCall(Claim(same, "  options stay as they were"));
  PetscCall(CompareAlone(&g, s.ksp, s.b, its[0], leaks, gathers));
  g.strength[1] = 3e3;
  g.vary        = 0.4;
  PetscCall(MatZeroEntries(s.A));
  PetscCall(GridAssemble(&g, s.da, s.A));
  if (leaks) PetscCall(AddLeaks(&g, s.da, s.A));
  PetscCall(Solve(s.ksp, s.b, s.x, &its[1]));
  PetscCall(CreateSolver(s.A, "b_", "", &fresh));
  PetscCall(Solve(fresh, s.b, s.x, &its[2]));
  PetscCall(Claim(its[1] == its[2] && its[1] > 0, "  new values take as many iterations as a fresh solver"));
  PetscCall(KSPDestroy(&fresh));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

static PetscErrorCode Gather(void)
{
  PetscInt halvings = 0;

  PetscFunctionBeginUser;
  PetscCall(GatherWith("gathered as by default", PETSC_FALSE, 0));
  PetscCall(GatherWith("with leaks", PETSC_TRUE, 0));
  PetscCall(PetscOptionsInsertString(NULL, "-b_pc_kcycle_kappa 2"));
  PetscCall(GatherWith("the F-cycle", PETSC_FALSE, 0));
  PetscCall(PetscOptionsClearValue(NULL, "-b_pc_kcycle_kappa"));
  for (PetscMPIInt n = PetscGlobalSize; n > 1; n /= 2) halvings++;
  PetscCall(PetscOptionsInsertString(NULL, "-b_mg_gather_pc_telescope_reduction_factor 2"));
  PetscCall(GatherWith("gathered step by step", PETSC_FALSE, halvings));
  PetscFunctionReturn(0);
}

/* Points that the next level keeps, all odd between interior ends, are relaxed first: after one sweep the equations
   of the other colour hold, and theirs do not */
static PetscErrorCode KeptFirst(KSP ksp, DM da, Mat A, Vec b)
{
  PC                   pc;
  KSP                  smoother;
  Vec                  x, r;
  PetscInt             nlevels, s[3], n[3];
  PetscReal            mine[2] = {0, 0}, largest[2];
  const PetscScalar ***a;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGGetLevels(pc, &nlevels));
  PetscCall(PCMGGetSmoother(pc, nlevels - 1, &smoother));
  PetscCall(KSPGetPC(smoother, &pc));
  PetscCall(DuplicateVec(b, &x, &r));
  PetscCall(PCApply(pc, b, x));
  PetscCall(MatResidual(A, b, x, r));
  PetscCall(DMDAGetCorners(da, &s[0], &s[1], &s[2], &n[0], &n[1], &n[2]));
  PetscCall(DMDAVecGetArrayRead(da, r, &a));
  for (PetscInt k = s[2]; k < s[2] + n[2]; k++) {
    for (PetscInt j = s[1]; j < s[1] + n[1]; j++) {
      for (PetscInt i = s[0]; i < s[0] + n[0]; i++)
        mine[(i + j + k) % 2] = PetscMax(mine[(i + j + k) % 2], PetscAbsScalar(a[k][j][i]));
    }
  }
  PetscCall(DMDAVecRestoreArrayRead(da, r, &a));
  PetscCallMPI(MPI_Allreduce(mine, largest, 2, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCall(Claim(largest[0] < 1e-13 && largest[1] > 0.01, "points that the next level keeps are relaxed first"));
  PetscCall(DestroyAll(&x, &r));
  PetscFunctionReturn(0);
}

/* Which colour comes first belongs to a smoother, not to a matrix that two solvers have: each solves as it would
   alone */
static PetscErrorCode Colours(void)
{
  Grid      g = {0};
  DM        da;
  Mat       A;
  Vec       b, x[2], y[2];
  KSP       ksp[2], plain;
  PetscInt  its;
  PetscBool same[2];

  PetscFunctionBeginUser;
  /* in two dimensions the colours of (0, 0) and (1, 1) are one */
  PetscCall(GridInit(&g, 3, (PetscInt[]){17, 21, 19}, BOUNDARY_ELIMINATED));
  PetscCall(GridCreateDM(&g, &da));
  PetscCall(GridCreateMat(&g, da, MATSTENCIL, &A));
  PetscCall(MatCreateVecs(A, &x[0], &b));
  PetscCall(GridFill(&g, da, 1, b));
  PetscCall(VecDuplicate(b, &x[1]));
  for (int i = 0; i < 2; i++) PetscCall(VecDuplicate(b, &y[i]));
  PetscCall(
      PetscOptionsInsertString(NULL, "-d_pc_type relax -d_ksp_type richardson -d_ksp_max_it 3 -d_ksp_norm_type none"));
  PetscCall(CreateSolver(A, "d_", "", &plain));
  PetscCall(Solve(plain, b, y[0], &its));
  PetscCall(CreateSolver(A, "c0_", "-c0_ksp_max_it 2", &ksp[0]));
  PetscCall(CreateSolver(A, "c1_", "-c1_ksp_max_it 2 -c1_pc_kcycle_grid cell", &ksp[1]));
  PetscCall(Solve(ksp[0], b, x[0], &its));
  PetscCall(KeptFirst(ksp[0], da, A, b));
  PetscCall(Solve(plain, b, y[1], &its));
  PetscCall(VecEqual(y[0], y[1], &same[0]));
  PetscCall(Claim(same[0], "a smoother alone is not disturbed by PCKCYCLE on its matrix"));
  PetscCall(KSPSetUp(ksp[1]));
  PetscCall(Solve(ksp[0], b, x[1], &its));
  PetscCall(VecEqual(x[0], x[1], &same[0]));
  PetscCall(Solve(ksp[1], b, y[0], &its));
  PetscCall(KSPDestroy(&ksp[0]));
  PetscCall(KSPReset(ksp[1]));
  PetscCall(KSPSetOperators(ksp[1], A, A));
  PetscCall(Solve(ksp[1], b, y[1], &its));
  PetscCall(VecEqual(y[0], y[1], &same[1]));
  PetscCall(
      Claim(same[0] && same[1], "two solvers that coarsen one matrix in different ways do not disturb each other"));
  PetscCall(VecEqual(x[0], y[0], &same[0]));
  PetscCall(Claim(!same[0], "  which do differ"));
  PetscCall(DestroyAll(&ksp[1], &plain));
  for (int i = 0; i < 2; i++) PetscCall(DestroyAll(&x[i], &y[i]));
  PetscCall(DestroyAll(&b, &A, &da));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const TestPart parts[] = {
      {"counts", Counts}, {"single", Single}, {"gather", Gather}, {"colours", Colours}, {NULL, NULL}};

  return RunTests(argc, argv, help, parts);
}

/*TEST

  testset:
    requires: !complex double

    test:
      suffix: counts
      nsize: {{2 3 4 8}}
      args: -pc_kcycle_process_eq_limit 0

    test:
      suffix: single
      nsize: {{1 2 4}}
      args: -test single

    test:
      suffix: gather
      nsize: {{2 4 8}}
      args: -test gather -b_pc_kcycle_precision double

    test:
      suffix: colours
      nsize: {{1 2}}
      args: -test colours

TEST*/
