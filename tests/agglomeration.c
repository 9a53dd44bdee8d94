static char help[] = "Agglomerated levels have the numbers of one process: residuals of whole solves are compared.\n\
  -test numbers|levels|changes   which part\n\
  -show                          what differs\n\n";

#include "grids.h"
#include "poisson.h"

#define MOST 60

/* A solve: norms of residuals, and a product with the transposed cycle */
typedef struct {
  PetscInt  n, nlevels;
  PetscReal norm[MOST], product;
} Solution;

typedef struct {
  PetscInt     dim, size[3];
  GridBoundary boundary;
  PetscInt     nproc[3]; /* 0: as PETSc decides */
  const char  *what;
} Case;

/* All processes, or one alone; 8 of them cut the grid in directions that are then short */
static PetscErrorCode SetUpCase(const Case *c, PetscInt number, PetscBool alone, Grid *g)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(g, sizeof(*g)));
  g->number = number;
  g->dim    = c->dim;
  g->vary   = 0.3;
  g->alone  = alone;
  for (PetscInt d = 0; d < 3; d++) {
    g->size[d]     = c->size[d];
    g->strength[d] = 1;
    if (!alone && c->nproc[0]) g->nproc[d] = c->nproc[d] < 0 ? PetscGlobalSize : c->nproc[d];
  }
  GridSetBoundaries(g, c->boundary);
  PetscFunctionReturn(0);
}

/* Right sides of singular operators have nothing of the kernel */
static PetscErrorCode RemoveConstants(Mat A, Vec b, Vec y)
{
  MatNullSpace constants;

  PetscFunctionBeginUser;
  PetscCall(AttachConstants(A, NULL));
  PetscCall(MatGetNullSpace(A, &constants));
  PetscCall(MatNullSpaceRemove(constants, b));
  PetscCall(MatNullSpaceRemove(constants, y));
  PetscFunctionReturn(0);
}

typedef struct {
  Grid g;
  DM   da;
  Mat  A;
  Vec  b, x, y;
  KSP  ksp;
} Problem;

static PetscErrorCode ProblemCreate(const Case *c, PetscInt number, PetscBool alone, Problem *p)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(SetUpCase(c, number, alone, &p->g));
  PetscCall(GridCreateDM(&p->g, &p->da));
  PetscCall(GridCreateMat(&p->g, p->da, number % 2 ? MATAIJ : MATSTENCIL, &p->A));
  PetscCall(MatSetOption(p->A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatCreateVecs(p->A, &p->x, &p->b));
  PetscCall(VecDuplicate(p->b, &p->y));
  PetscCall(GridFill(&p->g, p->da, 1, p->b));
  PetscCall(GridFill(&p->g, p->da, 9, p->y));
  if (c->boundary >= BOUNDARY_NEUMANN) PetscCall(RemoveConstants(p->A, p->b, p->y));
  PetscCall(MakeKSP(p->A, KSPCG, PCKCYCLE, &p->ksp, &pc));
  PetscCall(KSPSetOptionsPrefix(p->ksp, "a_"));
  PetscCall(KSPSetNormType(p->ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(p->ksp, 1e-8, 1e-50, 1e10, MOST - 1));
  PetscCall(KSPSetFromOptions(p->ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode ProblemDestroy(Problem *p)
{
  return DestroyAll(&p->ksp, &p->x, &p->b, &p->y, &p->A, &p->da);
}

/* Other values of the same operator */
static PetscErrorCode ProblemRenew(Problem *p)
{
  PetscFunctionBeginUser;
  p->g.vary        = 0.5;
  p->g.strength[0] = 1.2;
  PetscCall(MatZeroEntries(p->A));
  PetscCall(GridAssemble(&p->g, p->da, p->A));
  PetscFunctionReturn(0);
}

/* KSPRICHARDSON with a cycle of its own has no history of norms, but a solution */
static PetscErrorCode ProblemSolve(Problem *p, PetscBool transpose, Solution *s)
{
  KSPConvergedReason reason;
  const PetscReal   *history;
  PC                 pc;
  PetscScalar        product = 0;
  PetscBool          has;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscCall(VecSet(p->x, 0));
  PetscCall(KSPSetResidualHistory(p->ksp, NULL, PETSC_DECIDE, PETSC_TRUE));
  PetscCall(transpose ? KSPSolveTranspose(p->ksp, p->b, p->x) : KSPSolve(p->ksp, p->b, p->x));
  PetscCall(KSPGetConvergedReason(p->ksp, &reason));
  PetscCall(KSPGetIterationNumber(p->ksp, &s->n));
  PetscCall(KSPGetResidualHistory(p->ksp, &history, &s->nlevels));
  for (PetscInt i = 0; i < PetscMin(s->nlevels, MOST); i++) s->norm[i] = history[i];
  PetscCall(VecDot(p->x, p->y, &product));
  s->norm[MOST - 1] = PetscRealPart(product);
  if (reason < 0) s->n = -1;
  PetscCall(KSPGetPC(p->ksp, &pc));
  PetscCall(PCMGGetLevels(pc, &s->nlevels));
  PetscCall(PCApplyTransposeExists(pc, &has));
  if (has) PetscCall(PCApplyTranspose(pc, p->b, p->x));
  PetscCall(VecDot(p->x, p->y, &product));
  s->product = PetscRealPart(product);
  PetscFunctionReturn(0);
}

/* Of the first process, which solves alone */
static PetscErrorCode Share(Solution *s, PetscInt n)
{
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Bcast(s, (PetscMPIInt)(n * (PetscInt)sizeof(*s)), MPI_BYTE, 0, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

/* Norms of residuals: to the rounding of the first one, and to a small part of themselves */
static PetscErrorCode Same(const Case *c, const Solution *alone, const Solution *all, PetscReal tolerance,
                           PetscBool *same)
{
  PetscBool show = PETSC_FALSE, kaskade = PETSC_FALSE, good;
  PetscReal most     = 0, product;
  char      type[32] = "";

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-show", &show, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-a_pc_mg_type", type, sizeof(type), NULL));
  PetscCall(PetscStrcmp(type, "kaskade", &kaskade)); /* has no exact transpose, and need not converge with it */
  good = (PetscBool)(alone->n == all->n && (all->n > 0 || kaskade));
  for (PetscInt i = 0; i < MOST - 1 && good && alone->norm[0] > 0; i++)
    most = PetscMax(most, PetscAbsReal(alone->norm[i] - all->norm[i]) / (1e-3 * alone->norm[0] + alone->norm[i]));
  product = PetscAbsReal(alone->product - all->product) / PetscAbsReal(alone->product);
  product = PetscMax(product,
                     PetscAbsReal(alone->norm[MOST - 1] - all->norm[MOST - 1]) / PetscAbsReal(alone->norm[MOST - 1]));
  if (!(most < tolerance) || !(product < tolerance)) good = PETSC_FALSE;
  if (!good) *same = PETSC_FALSE;
  if (show || !good)
    PetscCall(Print("  %s %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT ", %s: %" PetscInt_FMT
                    " iterations, alone %" PetscInt_FMT ", norms differ by %.2g, products by %.2g\n",
                    c->what, c->size[0], c->size[1], c->size[2], GridBoundaries[c->boundary], all->n, alone->n,
                    (double)most, (double)product));
  PetscFunctionReturn(0);
}

/* A solve, one with the transposed operator, one with new values */
static PetscErrorCode SolveThrice(const Case *c, PetscInt number, PetscBool alone, Solution s[])
{
  Problem p;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(c, number, alone, &p));
  PetscCall(ProblemSolve(&p, PETSC_FALSE, &s[0]));
  PetscCall(ProblemSolve(&p, PETSC_TRUE, &s[1]));
  PetscCall(ProblemRenew(&p));
  PetscCall(ProblemSolve(&p, PETSC_FALSE, &s[2]));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(0);
}

/* Every step-th of the cases, from the first one on */
static PetscErrorCode NumbersWith(const char options[], const char claim[], PetscReal tolerance, PetscInt first,
                                  PetscInt step)
{
  const Case cases[] = {{2, {9, 9, 1}, BOUNDARY_ELIMINATED, {0}, ""},
                        {2, {17, 17, 1}, BOUNDARY_NEUMANN, {0}, ""},
                        {2, {5, 100, 1}, BOUNDARY_ELIMINATED, {0}, ""},
                        {2, {70, 47, 1}, BOUNDARY_STORED, {-1, 1, 1}, "slabs in x,"},
                        {2, {40, 64, 1}, BOUNDARY_PERIODIC, {1, -1, 1}, "slabs in y,"},
                        {3, {9, 9, 9}, BOUNDARY_NEUMANN, {0}, ""},
                        {3, {33, 8, 8}, BOUNDARY_ELIMINATED, {0}, ""},
                        {3, {8, 19, 21}, BOUNDARY_NEUMANN, {-1, 1, 1}, "slabs in x,"},
                        {3, {25, 22, 23}, BOUNDARY_ELIMINATED, {0}, ""}};
  PetscBool  same    = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, options));
  for (PetscInt i = first; i < (PetscInt)PETSC_STATIC_ARRAY_LENGTH(cases); i += step) {
    Solution alone[3], all[3];

    PetscCall(PetscMemzero(alone, sizeof(alone)));
    if (PetscGlobalRank == 0) PetscCall(SolveThrice(&cases[i], i, PETSC_TRUE, alone));
    PetscCall(Share(alone, 3));
    PetscCall(SolveThrice(&cases[i], i, PETSC_FALSE, all));
    for (int k = 0; k < 3; k++) PetscCall(Same(&cases[i], &alone[k], &all[k], tolerance, &same));
  }
  PetscCall(Claim(same, claim));
  PetscFunctionReturn(0);
}

static PetscErrorCode Clear(const char options[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsClear(NULL));
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscFunctionReturn(0);
}

/* options: of all cycles */
static PetscErrorCode Numbers(const char options[])
{
  PetscFunctionBeginUser;
  PetscCall(NumbersWith("", "the V-cycle is that of one process", 1e-10, 0, 1));
  PetscCall(NumbersWith("-a_pc_kcycle_kappa 2", "the F-cycle", 1e-10, 0, 2));
  PetscCall(NumbersWith("-a_pc_kcycle_kappa 3", "kappa = 3", 1e-10, 1, 2));
  PetscCall(NumbersWith("-a_pc_kcycle_kappa w", "the W-cycle", 1e-10, 0, 3));
  PetscCall(NumbersWith("-a_pc_kcycle_kappa 2 -a_pc_mg_type full", "full multigrid with F-cycles", 1e-10, 1, 3));
  PetscCall(NumbersWith("-a_mg_levels_ksp_norm_type unpreconditioned", "the same on levels of PCMG", 1e-10, 0, 2));
  PetscCall(NumbersWith("-a_pc_mg_type multiplicative", "and the F-cycle", 1e-10, 1, 2));
  PetscCall(NumbersWith("-a_pc_kcycle_kappa w", "and the W-cycle", 1e-10, 2, 3));
  PetscCall(Clear(options));
  PetscCall(NumbersWith("-a_pc_mg_type additive", "additive multigrid", 1e-10, 1, 3));
  PetscCall(NumbersWith("-a_pc_mg_type kaskade", "Kaskade multigrid", 1e-10, 2, 3));
  PetscCall(Clear(options));
  PetscCall(NumbersWith("-a_pc_mg_multiplicative_cycles 2 -a_pc_kcycle_kappa 2", "two F-cycles", 1e-10, 0, 3));
  PetscCall(Clear(options));
  PetscCall(NumbersWith("-a_ksp_type richardson -a_ksp_norm_type preconditioned", "KSPRICHARDSON", 1e-8, 0, 2));
  PetscCall(NumbersWith("-a_pc_kcycle_kappa 3", "and with kappa = 3", 1e-8, 1, 3));
  PetscCall(Clear(options));
  PetscCall(NumbersWith("-a_pc_kcycle_precision single", "in single precision, up to its rounding", 1e-2, 0, 3));
  PetscCall(NumbersWith("-a_pc_kcycle_kappa 2", "and the F-cycle", 1e-2, 1, 3));
  PetscFunctionReturn(0);
}

/* Options mean the same on any number of processes, and do something */
static PetscErrorCode Levels(const char options[])
{
  PetscFunctionBeginUser;
  PetscCall(NumbersWith("-a_mg_levels_ksp_max_it 1", "sweeps of all levels", 1e-10, 0, 2));
  PetscCall(NumbersWith("-a_mg_levels_1_ksp_max_it 7 -a_mg_levels_3_ksp_max_it 5", "and of some", 1e-10, 1, 2));
  PetscCall(Clear(options));
  PetscCall(NumbersWith("-a_pc_mg_levels 3", "three levels", 1e-10, 2, 3));
  PetscCall(NumbersWith("-a_mg_levels_pc_relax_type jacobi -a_mg_levels_1_pc_relax_type chebyshev",
                        "Jacobi's method, and Chebyshev's on one level", 1e-10, 0, 3));
  PetscCall(NumbersWith("-a_pc_kcycle_kappa 2", "and with F-cycles", 1e-10, 2, 3));
  PetscCall(Clear(options));
  PetscCall(NumbersWith("-a_mg_coarse_pc_type jacobi", "a poor solver on the coarsest level of all", 1e-10, 2, 2));
  PetscCall(NumbersWith("-a_mg_coarse_ksp_type richardson -a_mg_coarse_ksp_max_it 2 "
                        "-a_mg_coarse_ksp_initial_guess_nonzero -a_pc_kcycle_kappa 2",
                        "one that goes on from the iterate", 1e-10, 3, 3));
  PetscCall(Clear(options));
  PetscCall(NumbersWith("-a_pc_mg_distinct_smoothup -a_mg_levels_2_up_ksp_max_it 1 -a_mg_levels_1_up_ksp_max_it 6",
                        "distinct smoothers after the coarser levels", 1e-10, 1, 3));
  PetscCall(Clear(options));
  PetscCall(NumbersWith("-a_pc_kcycle_interpolation operator -a_pc_kcycle_semicoarsen xy",
                        "interpolation and directions", 1e-10, 2, 2));
  PetscFunctionReturn(0);
}

/* Of a solver that is set up: products with the cycle, and what is changed between them */
static PetscErrorCode ChangeSolver(const Case *c, PetscBool alone, PetscReal product[])
{
  Problem     p;
  PC          pc;
  PetscScalar dot;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(c, 2, alone, &p));
  PetscCall(KSPSetUp(p.ksp));
  PetscCall(KSPGetPC(p.ksp, &pc));
  for (int i = 0; i < 7; i++) {
    if (i == 1) PetscCall(PCKCycleSetKappa(pc, 2));
    if (i == 2) PetscCall(PCKCycleSetKappa(pc, PC_KCYCLE_KAPPA_W));
    if (i == 3) PetscCall(PCMGSetType(pc, PC_MG_FULL));
    if (i == 4) PetscCall(PCMGSetType(pc, PC_MG_MULTIPLICATIVE));
    if (i == 4) PetscCall(PCKCycleSetKappa(pc, 1));
    if (i == 5) PetscCall(PCKCycleSetPrecision(pc, PC_KCYCLE_PRECISION_SINGLE));
    if (i == 6) PetscCall(PCKCycleSetPrecision(pc, PC_KCYCLE_PRECISION_DOUBLE));
    if (i == 6) PetscCall(PCReset(pc));
    if (i == 6) PetscCall(PCSetOperators(pc, p.A, p.A));
    if (i == 6) PetscCall(PCSetUp(pc));
    PetscCall(PCApply(pc, p.b, p.x));
    PetscCall(VecDot(p.x, p.y, &dot));
    product[i] = PetscRealPart(dot);
  }
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(0);
}

static PetscErrorCode Changes(void)
{
  const Case        c        = {2, {61, 40, 1}, BOUNDARY_ELIMINATED, {0}, ""};
  const char *const claims[] = {"the V-cycle",
                                "kappa = 2 reaches all levels at once",
                                "kappa = infinity, too",
                                "full multigrid, too",
                                "and V-cycles again",
                                "single precision, too",
                                "PCReset(), and levels anew"};
  PetscReal         alone[7], all[7];

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(alone, sizeof(alone)));
  if (PetscGlobalRank == 0) PetscCall(ChangeSolver(&c, PETSC_TRUE, alone));
  PetscCallMPI(MPI_Bcast(alone, 7, MPIU_REAL, 0, PETSC_COMM_WORLD));
  PetscCall(ChangeSolver(&c, PETSC_FALSE, all));
  for (int i = 0; i < 7; i++) {
    const PetscReal tolerance = i == 5 ? 1e-5 : 1e-10;
    const PetscBool differs   = (PetscBool)(i == 0 || i == 6 || alone[i] != alone[i - 1]);

    PetscCall(Claim(differs && PetscAbsReal(alone[i] - all[i]) < tolerance * PetscAbsReal(alone[i]), claims[i]));
  }
  PetscFunctionReturn(0);
}

/* What the view says of the change from level to level, and which processes have a part of coarser levels */
static PetscErrorCode Views(void)
{
  const Case c[2] = {{2, {61, 40, 1}, BOUNDARY_ELIMINATED, {0}, ""},
                     {3, {8, 19, 21}, BOUNDARY_NEUMANN, {-1, 1, 1}, ""}};
  Problem    p;
  PC         pc;
  PetscInt   limit, nlevels;
  char       text[2][128];
  PetscBool  has[3];

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(&c[0], 0, PETSC_FALSE, &p));
  PetscCall(KSPGetPC(p.ksp, &pc));
  PetscCall(PCKCycleGetProcEqLim(pc, &limit));
  PetscCall(Claim(limit == 1000, "a thousand points a process by default"));
  PetscCall(PCKCycleSetProcEqLim(pc, 700));
  PetscCall(KSPSetUp(p.ksp));
  PetscCall(PCKCycleGetProcEqLim(pc, &limit));
  PetscCall(PetscSNPrintf(text[0], sizeof(text[0]),
                          "from level 3 on 1 of %d processes: each of them has fewer than 700 points",
                          PetscGlobalSize));
  PetscCall(ViewHas(pc, text[0], &has[0]));
  PetscCall(ViewHas(pc, "5 levels, hierarchy dm", &has[1]));
  PetscCall(PCMGGetLevels(pc, &nlevels));
  PetscCall(Claim(limit == 700 && has[0] == (PetscGlobalSize > 1) && has[1] && nlevels == (PetscGlobalSize > 1 ? 2 : 5),
                  "few points: the view says so, and counts all levels"));
  PetscCall(ProblemDestroy(&p));
  PetscCall(ProblemCreate(&c[1], 0, PETSC_FALSE, &p));
  PetscCall(KSPGetPC(p.ksp, &pc));
  PetscCall(PCKCycleSetProcEqLim(pc, 0));
  PetscCall(KSPSetUp(p.ksp));
  PetscCall(
      PetscSNPrintf(text[1], sizeof(text[1]), " of %d processes: some of them would keep no point", PetscGlobalSize));
  PetscCall(ViewHas(pc, text[1], &has[0]));
  PetscCall(Claim(has[0] == (PetscGlobalSize > 1), "no point: the view says so"));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const char *const names[] = {"numbers", "levels", "changes", "views"};
  char             *options;
  PetscInt          which = 0;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-test", names, PETSC_STATIC_ARRAY_LENGTH(names), &which, NULL));
  PetscCall(PetscOptionsInsertString(NULL, "-options_left no")); /* those of a case are cleared after it */
  PetscCall(PetscOptionsGetAll(NULL, &options));
  if (which == 0) PetscCall(Numbers(options));
  if (which == 1) PetscCall(Levels(options));
  if (which == 2) PetscCall(Changes());
  if (which == 3) PetscCall(Views());
  PetscCall(PetscFree(options));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: !complex double
    args: -pc_kcycle_precision double -a_pc_kcycle_precision double

    test:
      suffix: numbers
      nsize: {{1 2 8}}

    test:
      suffix: numbers_halves
      output_file: output/agglomeration_numbers.out
      nsize: {{8 4}}
      args: -a_mg_gather_pc_telescope_reduction_factor 2

    test:
      suffix: numbers_late
      output_file: output/agglomeration_numbers.out
      nsize: 8
      args: -a_pc_kcycle_process_eq_limit 0

    test:
      suffix: levels
      nsize: {{1 4 8}}
      args: -test levels

    test:
      suffix: changes
      nsize: {{1 2 8}}
      args: -test changes

    test:
      suffix: changes_quarters
      output_file: output/agglomeration_changes.out
      nsize: 8
      args: -test changes -a_mg_gather_pc_telescope_reduction_factor 4

    test:
      suffix: views
      nsize: {{1 2 8}}
      args: -test views

TEST*/
