static char help[] =
    "What the program has chosen stays: solvers of levels, the coarsest solver, parameters and null spaces that it \
touched before the first set-up, between solves and around a reset; and options are read when they are asked for.\n\
  -coarse  only the coarsest solver\n\n";

#include "poisson.h"
#include <petsckcycle/private/compat.h>

/* A solver whose operator has the grid, or not */
static PetscErrorCode Create(PetscInt n, PetscBool grid, PoissonSolver *s)
{
  PetscFunctionBeginUser;
  PetscCall(PoissonSetFromOptions(&s->p));
  s->p.n = n;
  s->da  = NULL;
  PetscCall(PoissonSolverCreate(PETSC_COMM_WORLD, KSPFGMRES, s));
  if (!grid) PetscCall(MatSetDM(s->A, NULL));
  PetscFunctionReturn(0);
}

/* The first row is coupled to the last one, which no grid has */
static PetscErrorCode HideGrid(PoissonSolver *s)
{
  const PetscScalar values[4] = {1, -1, -1, 1};
  PetscInt          rows[2]   = {0, 0};

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(s->A, &rows[1], NULL));
  rows[1]--;
  PetscCall(MatSetOption(s->A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  if (!PetscGlobalRank) PetscCall(MatSetValues(s->A, 2, rows, 2, rows, values, ADD_VALUES));
  PetscCall(AssembleMat(s->A));
  PetscFunctionReturn(0);
}

/* Smoother of level l, counted from the coarsest */
static PetscErrorCode Smoother(PoissonSolver *s, PetscInt l, KSP *ksp, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCMGGetSmoother(s->pc, l, ksp));
  PetscCall(KSPGetPC(*ksp, pc));
  PetscFunctionReturn(0);
}

/* A change of a smoother, and whether it is set up by the program */
static PetscErrorCode Relaxed(PetscBool solved, PetscBool setup, size_t len, char text[])
{
  PoissonSolver s;
  KSP           ksp;
  PC            pc;

  PetscFunctionBeginUser;
  PetscCall(Create(33, PETSC_TRUE, &s));
  PetscCall(KSPSetFromOptions(s.ksp));
  if (solved) PetscCall(PoissonSolverSolve(&s, len, text));
  else PetscCall(KSPSetUp(s.ksp));
  PetscCall(Smoother(&s, 2, &ksp, &pc));
  PetscCall(PCRelaxSetOmega(pc, 0.9));
  if (setup) PetscCall(PCSetUp(pc));
  PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 3));
  PetscCall(PoissonSolverSolve(&s, len, text));
  PetscCall(PoissonSolverDestroy(&s));
  PetscFunctionReturn(0);
}

/* Smoothers that the program changes and sets up */
static PetscErrorCode SetUpSmoother(void)
{
  char text[4][64];

  PetscFunctionBeginUser;
  for (int i = 0; i < 4; i++) PetscCall(Relaxed((PetscBool)(i / 2), (PetscBool)(i % 2), sizeof(text[i]), text[i]));
  for (int i = 1; i < 4; i++) PetscCall(ClaimSame(text[0], text[i], PETSC_TRUE, "a smoother that the program changed"));
  PetscFunctionReturn(0);
}

/* Its values change between solves, those of a coarse level: smoothers see them as with levels of PCMG */
static PetscErrorCode CoarseValues(void)
{
  char          text[2][64];
  PoissonSolver s;
  KSP           ksp;
  PC            pc;
  Mat           A;

  PetscFunctionBeginUser;
  for (int watched = 0; watched < 2; watched++) {
    PetscCall(Create(33, PETSC_TRUE, &s));
    PetscCall(KSPSetFromOptions(s.ksp));
    PetscCall(PoissonSolverSolve(&s, sizeof(text[watched]), text[watched]));
    PetscCall(Smoother(&s, 2, &ksp, &pc));
    PetscCall(KSPGetOperators(ksp, &A, NULL));
    PetscCall(MatScale(A, 1.25));
    if (watched) PetscCall(KSPSetNormType(ksp, KSP_NORM_PRECONDITIONED)); /* PCMG runs the levels */
    if (watched) PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
    PetscCall(PoissonSolverSolve(&s, sizeof(text[watched]), text[watched]));
    PetscCall(PoissonSolverDestroy(&s));
  }
  PetscCall(ClaimSame(text[0], text[1], PETSC_TRUE, "values of a coarse operator that the program changed"));
  PetscFunctionReturn(0);
}

/* Where levels come from */
typedef enum {
  STRUCTURED,
  GRID,
  GAMG,
  SINGLE,
  NUM_KINDS
} Kind;

static PetscErrorCode CreateKind(Kind kind, PoissonSolver *s)
{
  PetscFunctionBeginUser;
  PetscCall(Create(kind == GRID ? 34 : 33, (PetscBool)(kind != GAMG), s));
  if (kind == GRID) PetscCall(PCKCycleSetStructured(s->pc, PC_KCYCLE_STRUCTURED_OFF));
  if (kind == GAMG) PetscCall(HideGrid(s));
  if (kind == SINGLE) PetscCall(PCKCycleSetHierarchy(s->pc, PC_KCYCLE_HIERARCHY_SINGLE));
  PetscFunctionReturn(0);
}

/* An option that is given after KSPSetFromOptions() is meant for another solver; PCGAMG itself reads those of PCMG when
   it makes its levels */
static PetscErrorCode LaterOptions(void)
{
  const char *const later[][2] = {{"-pc_type", "jacobi"},
                                  {"-pc_kcycle_kappa", "w"},
                                  {"-pc_mg_levels", "2"},
                                  {"-pc_mg_type", "additive"},
                                  {"-pc_mg_distinct_smoothup", "true"}};
  char              text[2][64];
  PetscBool         good = PETSC_TRUE;
  PoissonSolver     s;

  PetscFunctionBeginUser;
  for (int kind = 0; kind < NUM_KINDS; kind++) {
    for (int i = -1; i < (kind == GAMG ? 2 : 5); i++) {
      PetscBool same = PETSC_TRUE;

      PetscCall(CreateKind((Kind)kind, &s));
      PetscCall(KSPSetFromOptions(s.ksp));
      if (i >= 0) PetscCall(PetscOptionsSetValue(NULL, later[i][0], later[i][1]));
      PetscCall(PoissonSolverSolve(&s, sizeof(text[0]), text[i >= 0]));
      if (i >= 0) PetscCall(PetscOptionsClearValue(NULL, later[i][0]));
      if (i >= 0) PetscCall(PetscStrcmp(text[0], text[1], &same));
      if (!same) PetscCall(Print("  %d %s: %s | %s\n", kind, later[i][0], text[0], text[1]));
      good = (PetscBool)(good && same);
      PetscCall(PoissonSolverDestroy(&s));
    }
  }
  PetscCall(Claim(good, "options that are given after KSPSetFromOptions() are for other solvers"));
  PetscFunctionReturn(0);
}

static PetscErrorCode KappaAfterOption(void)
{
  PetscInt      kappa;
  PoissonSolver s;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, "-pc_kcycle_kappa 1"));
  PetscCall(Create(34, PETSC_TRUE, &s));
  PetscCall(KSPSetFromOptions(s.ksp));
  PetscCall(PCKCycleSetKappa(s.pc, 3));
  PetscCall(PoissonSolverSolve(&s, 0, NULL));
  PetscCall(PCKCycleGetKappa(s.pc, &kappa));
  PetscCall(PoissonSolverDestroy(&s));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_kcycle_kappa"));
  PetscCall(Claim(kappa == 3, "PCKCycleSetKappa() after the option"));
  PetscFunctionReturn(0);
}

/* Conjugate gradients with Jacobi for the coarsest problem: chosen before anything is set up, there they are, whatever
   the levels; and after a reset */
static PetscErrorCode Coarse(void)
{
  PetscBool     good = PETSC_TRUE;
  PoissonSolver s;
  KSP           coarse, now;

  PetscFunctionBeginUser;
  for (int kind = 0; kind < NUM_KINDS; kind++) {
    PetscCall(CreateKind((Kind)kind, &s));
    PetscCall(KSPSetFromOptions(s.ksp));
    PetscCall(PCMGGetCoarseSolve(s.pc, &coarse));
    PetscCall(KSPSetType(coarse, KSPCG));
    PetscCall(KSPSetTolerances(coarse, 1e-3, PETSC_DEFAULT, PETSC_DEFAULT, 77));
    PetscCall(PCSetType(PCOf(coarse), PCJACOBI));
    for (int again = 0; again < 2; again++) {
      PetscInt its;

      PetscCall(PoissonSolverSolve(&s, 0, NULL));
      PetscCall(PCMGGetCoarseSolve(s.pc, &now));
      PetscCall(KSPGetTolerances(now, NULL, NULL, NULL, &its));
      good = (PetscBool)(good && now == coarse && its == 77 && HasType(now, KSPCG) && HasType(PCOf(now), PCJACOBI));
      if (!good) PetscCall(Print("  kind %d, solve %d\n", kind, again));
      PetscCall(KSPReset(s.ksp));
      PetscCall(KSPSetOperators(s.ksp, s.A, s.A));
    }
    PetscCall(PoissonSolverDestroy(&s));
  }
  PetscCall(Claim(good, "the program's coarsest solver"));
  PetscFunctionReturn(0);
}

/* Over-relaxation on all levels, whose number the program has given or not */
static PetscErrorCode OverRelaxed(void)
{
  PetscBool     good = PETSC_TRUE;
  PoissonSolver s;
  KSP           ksp;
  PC            pc;

  PetscFunctionBeginUser;
  for (int given = 0; given < 2; given++) {
    PetscInt n;

    PetscCall(Create(33, PETSC_TRUE, &s));
    if (given) PetscCall(PCMGSetLevels(s.pc, 4, NULL));
    PetscCall(KSPSetFromOptions(s.ksp));
    PetscCall(PCMGGetLevels(s.pc, &n));
    for (PetscInt l = 1; l < n; l++) {
      PetscCall(Smoother(&s, l, &ksp, &pc));
      PetscCall(PCSORSetOmega(pc, 1.4));
    }
    for (int again = 0; again < 2; again++) {
      PetscInt now;

      PetscCall(PoissonSolverSolve(&s, 0, NULL));
      PetscCall(PCMGGetLevels(s.pc, &now));
      if (n != now) good = PETSC_FALSE;
      for (PetscInt l = 1; l < now; l++) {
        PetscReal omega = 0;

        PetscCall(Smoother(&s, l, &ksp, &pc));
        if (HasType(pc, PCSOR)) PetscCall(PCSORGetOmega(pc, &omega));
        good = (PetscBool)(good && omega == (PetscReal)1.4 && HasType(ksp, KSPCHEBYSHEV));
      }
      PetscCall(KSPReset(s.ksp));
      PetscCall(KSPSetOperators(s.ksp, s.A, s.A));
    }
    PetscCall(PoissonSolverDestroy(&s));
  }
  PetscCall(Claim(good, "the program's over-relaxation, PCSORSetOmega(1.4)"));
  PetscFunctionReturn(0);
}

/* Bounds of eigenvalues that the program gives */
static PetscErrorCode Eigenvalues(void)
{
  PoissonSolver s;
  KSP           ksp;
  PC            pc;

  PetscFunctionBeginUser;
  PetscCall(Create(33, PETSC_TRUE, &s));
  PetscCall(KSPSetFromOptions(s.ksp));
  PetscCall(Smoother(&s, 2, &ksp, &pc));
  PetscCall(KSPChebyshevSetEigenvalues(ksp, 1.2, 0.3));
  PetscCall(PoissonSolverSolve(&s, 0, NULL));
  PetscCall(Smoother(&s, 2, &ksp, &pc));
  PetscCall(Claim(HasType(ksp, KSPCHEBYSHEV) && HasType(pc, PCSOR),
                  "its bounds of eigenvalues, KSPChebyshevSetEigenvalues()"));
  PetscCall(PoissonSolverDestroy(&s));
  PetscFunctionReturn(0);
}

/* A set-up that fails, as the operator has an infinite entry, and its repair */
static PetscErrorCode Fail(PoissonSolver *s, PetscBool fail)
{
  Poisson p = s->p;

  PetscFunctionBeginUser;
  if (fail) p.anisotropy = INFINITY;
  PetscCall(MatZeroEntries(s->A));
  PetscCall(PoissonAssemble(&p, s->da, s->A));
  if (!fail) PetscFunctionReturn(0);
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
  (void)!KSPSolve(s->ksp, s->b, s->x);
  PetscCall(PetscFPTrapPop());
  PetscFunctionReturn(0);
}

/* Types of smoothers that were chosen on levels that are set up; then a reset, a set-up that fails, or an error */
static PetscErrorCode Types(void)
{
  const char *const what[] = {"a reset", "a failed set-up", "an error"};
  char              words[ERROR_LENGTH];

  PetscFunctionBeginUser;
  for (int i = 0; i < 3; i++) {
    PoissonSolver s;
    KSP           ksp, other;
    PC            pc, otherpc;
    PetscBool     zebra;
    PetscInt      its;
    PCRelaxType   type = NULL;

    PetscCall(Create(33, PETSC_TRUE, &s));
    PetscCall(KSPSetFromOptions(s.ksp));
    PetscCall(PoissonSolverSolve(&s, 0, NULL));
    PetscCall(Smoother(&s, 2, &ksp, &pc));
    PetscCall(PCRelaxSetType(pc, PC_RELAX_ZEBRA_X));
    PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 3));
    PetscCall(Smoother(&s, 1, &other, &otherpc));
    PetscCall(PCSetType(otherpc, PCJACOBI));
    PetscCall(KSPSetType(other, KSPGMRES));
    if (i == 0) {
      PetscCall(KSPReset(s.ksp));
      PetscCall(KSPSetOperators(s.ksp, s.A, s.A));
    } else {
      PetscCall(PetscPushErrorHandler(KeepError, words));
      if (i == 2) PetscCall(KSPSetErrorIfNotConverged(s.ksp, PETSC_TRUE));
      (void)!Fail(&s, PETSC_TRUE);
      PetscCall(PetscPopErrorHandler());
      PetscCall(KSPSetErrorIfNotConverged(s.ksp, PETSC_FALSE));
      PetscCall(Fail(&s, PETSC_FALSE));
    }
    PetscCall(PoissonSolverSolve(&s, 0, NULL));
    PetscCall(Smoother(&s, 2, &ksp, &pc));
    PetscCall(KSPGetTolerances(ksp, NULL, NULL, NULL, &its));
    if (HasType(pc, PCRELAX)) PetscCall(PCRelaxGetType(pc, &type));
    PetscCall(PetscStrcmp(type, PC_RELAX_ZEBRA_X, &zebra));
    PetscCall(Smoother(&s, 1, &other, &otherpc));
    PetscCall(Claim(zebra && HasType(otherpc, PCJACOBI) && its == 3, what[i]));
    PetscCall(PoissonSolverDestroy(&s));
  }
  PetscFunctionReturn(0);
}

/* Full multigrid and two cycles, chosen before levels turn out to be those of PCGAMG, and when they no longer are */
static PetscErrorCode TypeAndCycles(void)
{
  PCMGType      type, again;
  char          text[4][64];
  PoissonSolver s, t;
  Mat           A;

  PetscFunctionBeginUser;
  for (int i = 0; i < 3; i++) {
    PetscCall(CreateKind(GAMG, &s));
    if (i == 1) PetscCall(PCMGSetType(s.pc, PC_MG_FULL));
    PetscCall(KSPSetFromOptions(s.ksp));
    if (i == 2) PetscCall(PCMGMultiplicativeSetCycles(s.pc, 2));
    PetscCall(PoissonSolverSolve(&s, sizeof(text[i]), text[i]));
    if (i == 1) {
      PetscCall(PCMGGetType(s.pc, &type));
      PetscCall(Create(33, PETSC_TRUE, &t));
      A = s.A;
      PetscCall(KSPSetOperators(s.ksp, t.A, t.A));
      s.A = t.A;
      PetscCall(PoissonSolverSolve(&s, sizeof(text[3]), text[3]));
      s.A = A;
      PetscCall(PCMGGetType(s.pc, &again));
      PetscCall(Claim(type == PC_MG_FULL && again == PC_MG_FULL,
                      "full multigrid, with the levels of PCGAMG and without them again"));
      PetscCall(PoissonSolverDestroy(&t));
    }
    PetscCall(PoissonSolverDestroy(&s));
  }
  PetscCall(ClaimSame(text[0], text[1], PETSC_FALSE, "it is full multigrid"));
  PetscCall(ClaimSame(text[0], text[2], PETSC_FALSE, "two cycles with the levels of PCGAMG"));
  PetscFunctionReturn(0);
}

/* The factorization of the coarsest problem; on several processes it is inside of PCREDUNDANT */
static PetscErrorCode CoarseFactor(PoissonSolver *s, PC *factor)
{
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetCoarseSolve(s->pc, &ksp));
  if (HasType(PCOf(ksp), PCREDUNDANT)) PetscCall(PCRedundantGetKSP(PCOf(ksp), &ksp));
  *factor = PCOf(ksp);
  PetscFunctionReturn(0);
}

/* The program's operator of the finest level, twice the one that is preconditioned */
static PetscErrorCode FinestOperator(void)
{
  PetscBool     has;
  PoissonSolver s;
  KSP           ksp;
  PC            pc;
  Mat           twice, A;

  PetscFunctionBeginUser;
  PetscCall(Create(33, PETSC_TRUE, &s));
  PetscCall(MatDuplicate(s.A, MAT_COPY_VALUES, &twice));
  PetscCall(MatScale(twice, 2));
  PetscCall(PCMGSetLevels(s.pc, 4, NULL));
  PetscCall(KSPSetFromOptions(s.ksp));
  PetscCall(Smoother(&s, 3, &ksp, &pc));
  PetscCall(KSPSetOperators(ksp, twice, twice));
  PetscCall(PoissonSolverSolve(&s, 0, NULL));
  PetscCall(Smoother(&s, 3, &ksp, &pc));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(ViewHas(s.pc, "the program gave the finest level another operator", &has));
  PetscCall(Claim(A == twice && has, "its operator of the finest level"));
  PetscCall(MatDestroy(&twice));
  PetscCall(PoissonSolverDestroy(&s));
  PetscFunctionReturn(0);
}

/* What counts as a zero pivot: chosen before the first set-up, or between solves; then the operator is scaled */
static PetscErrorCode ZeroPivot(void)
{
  PetscBool     good = PETSC_TRUE;
  PoissonSolver s;
  PC            factor;

  PetscFunctionBeginUser;
  for (int kind = 0; kind < 4; kind++) {
    PetscReal zero, amount;

    PetscCall(CreateKind(kind % 2 ? SINGLE : STRUCTURED, &s));
    PetscCall(KSPSetFromOptions(s.ksp));
    if (kind / 2) PetscCall(PoissonSolverSolve(&s, 0, NULL));
    PetscCall(CoarseFactor(&s, &factor));
    PetscCall(PCFactorSetZeroPivot(factor, 1e-30));
    PetscCall(PCFactorSetShiftAmount(factor, 1e-20));
    for (int i = 0; i < 2; i++) {
      PetscCall(MatScale(s.A, 8));
      PetscCall(PoissonSolverSolve(&s, 0, NULL));
      PetscCall(CoarseFactor(&s, &factor));
      PetscCall(PCFactorGetZeroPivot(factor, &zero));
      PetscCall(PCFactorGetShiftAmount(factor, &amount));
      good = (PetscBool)(good && zero == (PetscReal)1e-30 && amount == (PetscReal)1e-20);
    }
    PetscCall(PoissonSolverDestroy(&s));
  }
  PetscCall(Claim(good, "what counts as a zero pivot, PCFactorSetZeroPivot(1e-30)"));
  PetscFunctionReturn(0);
}

/* A null space that is no constant: the operator is scaled from both sides, D A D with row and column sums of A zero */
static PetscErrorCode NullSpace(void)
{
  MatNullSpace  kernel, now;
  PetscBool     good = PETSC_TRUE;
  PetscInt      start, end;
  Vec           d;
  char          text[64];
  PoissonSolver s;

  PetscFunctionBeginUser;
  PetscCall(CreateKind(SINGLE, &s));
  s.p.neumann = PETSC_TRUE;
  PetscCall(MatZeroEntries(s.A));
  PetscCall(PoissonAssemble(&s.p, s.da, s.A));
  PetscCall(VecDuplicate(s.b, &d));
  PetscCall(VecGetOwnershipRange(d, &start, &end));
  for (PetscInt i = start; i < end; i++) PetscCall(VecSetValue(d, i, 1 + (PetscReal)(i % 3), INSERT_VALUES));
  PetscCall(AssembleVec(d));
  PetscCall(MatDiagonalScale(s.A, d, d));
  PetscCall(VecReciprocal(d));
  PetscCall(VecNormalize(d, NULL));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 1, &d, &kernel));
  PetscCall(MatSetNullSpace(s.A, kernel));
  PetscCall(MatSetTransposeNullSpace(s.A, kernel));
  PetscCall(KSPSetFromOptions(s.ksp));
  for (int i = 0; i < 2; i++) {
    PetscCall(PoissonSolverSolve(&s, sizeof(text), text));
    PetscCall(MatGetNullSpace(s.A, &now));
    good = (PetscBool)(good && now == kernel && text[0] == '1' && text[1] == ' '); /* the solver is direct */
    PetscCall(MatScale(s.A, 2));
  }
  PetscCall(Claim(good, "a null space that the program has attached to the only level"));
  PetscCall(DestroyAll(&kernel, &d));
  PetscCall(PoissonSolverDestroy(&s));
  PetscFunctionReturn(0);
}

/* In a monitor the operators are those of the program, and their products are right when it has changed their values */
typedef struct {
  PoissonSolver *s;
  PetscBool      good;
} Watch;

static PetscErrorCode Monitor(KSP ksp, PetscInt it, PetscReal rnorm, void *ctx)
{
  Watch    *watch = (Watch *)ctx;
  Mat       A, P;
  Vec       y[2];
  PetscReal norm[2];

  PetscFunctionBeginUser;
  (void)rnorm;
  PetscCall(KSPGetOperators(ksp, &A, &P));
  watch->good = (PetscBool)(watch->good && A == watch->s->A && P == A);
  if (it != 1) PetscFunctionReturn(0);
  for (int i = 0; i < 2; i++) {
    PetscCall(MatCreateVecs(A, NULL, &y[i]));
    if (i) PetscCall(MatShift(A, 1));
    PetscCall(MatMult(A, watch->s->b, y[i]));
    if (i) PetscCall(MatShift(A, -1));
  }
  PetscCall(VecAXPY(y[1], -1, y[0]));
  PetscCall(VecAXPY(y[1], -1, watch->s->b));
  PetscCall(VecNorm(y[1], NORM_2, &norm[0]));
  PetscCall(VecNorm(y[0], NORM_2, &norm[1]));
  watch->good = (PetscBool)(watch->good && norm[0] < 1e-12 * norm[1]);
  for (int i = 0; i < 2; i++) PetscCall(VecDestroy(&y[i]));
  PetscFunctionReturn(0);
}

static PetscErrorCode Operators(void)
{
  char          text[2][64];
  PoissonSolver s;
  Watch         watch = {&s, PETSC_TRUE};

  PetscFunctionBeginUser;
  PetscCall(Create(33, PETSC_TRUE, &s));
  PetscCall(KSPSetFromOptions(s.ksp));
  PetscCall(PoissonSolverSolve(&s, sizeof(text[0]), text[0]));
  PetscCall(KSPMonitorSet(s.ksp, Monitor, &watch, NULL));
  PetscCall(PoissonSolverSolve(&s, sizeof(text[1]), text[1]));
  PetscCall(Claim(watch.good, "a monitor sees the program's operators"));
  PetscCall(ClaimSame(text[0], text[1], PETSC_TRUE, "and changes nothing"));
  PetscCall(PoissonSolverDestroy(&s));
  PetscFunctionReturn(0);
}

/* More levels than any grid has: 70 of the same size, each with the identity as its interpolation */
static PetscErrorCode ManyLevels(void)
{
  const PetscInt n = 70;
  PetscInt       now, first, last;
  PoissonSolver  s;
  Mat            P;

  PetscFunctionBeginUser;
  PetscCall(Create(5, PETSC_TRUE, &s));
  PetscCall(MatGetOwnershipRange(s.A, &first, &last));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, last - first, last - first, PETSC_DETERMINE, PETSC_DETERMINE, 1, NULL, 0,
                         NULL, &P));
  for (PetscInt i = first; i < last; i++) PetscCall(MatSetValue(P, i, i, 1, INSERT_VALUES));
  PetscCall(AssembleMat(P));
  PetscCall(PCMGSetLevels(s.pc, n, NULL));
  PetscCall(PCMGSetGalerkin(s.pc, PC_MG_GALERKIN_BOTH));
  for (PetscInt l = 1; l < n; l++) PetscCall(PCMGSetInterpolation(s.pc, l, P));
  PetscCall(MatDestroy(&P));
  PetscCall(KSPSetFromOptions(s.ksp));
  PetscCall(PoissonSolverSolve(&s, 0, NULL));
  PetscCall(PCReset(s.pc));
  PetscCall(PCMGGetLevels(s.pc, &now));
  PetscCall(Claim(now == n, "70 levels"));
  PetscCall(PoissonSolverDestroy(&s));
  PetscFunctionReturn(0);
}

static PetscErrorCode All(void)
{
  PetscFunctionBeginUser;
  PetscCall(SetUpSmoother());
  PetscCall(CoarseValues());
  PetscCall(LaterOptions());
  PetscCall(KappaAfterOption());
  PetscCall(OverRelaxed());
  PetscCall(Eigenvalues());
  PetscCall(Types());
  PetscCall(TypeAndCycles());
  PetscCall(FinestOperator());
  PetscCall(ZeroPivot());
  PetscCall(NullSpace());
  PetscCall(Operators());
  PetscCall(ManyLevels());
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(Coarse());
  if (!Given("-coarse")) PetscCall(All());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    nsize: {{1 3}}
    args: -pc_kcycle_process_eq_limit 0
    output_file: output/choices.out

  test:
    suffix: gathered
    nsize: 3
    args: -coarse

TEST*/
