static char help[] =
    "Functions of PCMG before the first set-up, after it and between solves: each works, or is an error that says \
what to do.\n\
  -only <number>  one of them\n\
  -eisenstat      PCEISENSTAT\n\n";

#include "poisson.h"

/* When a function is called */
typedef enum {
  BEFORE, /* set-up */
  SET_UP, /* and not used */
  SOLVED,
  APPLIED, /* as SOLVED, but the preconditioner is then applied by itself first */
  NUM_TIMES
} Time;

static const char *const Times[] = {"before set-up", "after set-up", "between solves", "before an application"};

typedef struct {
  const char *name;
  PetscErrorCode (*call)(PoissonSolver *);
  /* words of the error: with levels of PCMG, with structured levels; before set-up, after it. NULL: it works */
  const char *error[2][2];
  PetscBool   set_up; /* it needs levels that are set up */
} Call;

/* Level l of the solver, counted from the coarsest */
static PetscErrorCode Smoother(PoissonSolver *p, PetscInt l, KSP *ksp, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCMGGetSmoother(p->pc, l, ksp));
  PetscCall(KSPGetPC(*ksp, pc));
  PetscFunctionReturn(0);
}

/* A function that is one call; one of a smoother */
#define CALL(name, call)                       \
  static PetscErrorCode name(PoissonSolver *p) \
  {                                            \
    return call;                               \
  }
#define SMOOTHER_CALL(name, call)              \
  static PetscErrorCode name(PoissonSolver *p) \
  {                                            \
    KSP ksp;                                   \
    PC  pc;                                    \
                                               \
    PetscFunctionBeginUser;                    \
    PetscCall(Smoother(p, 2, &ksp, &pc));      \
    PetscCall(call);                           \
    PetscFunctionReturn(0);                    \
  }

SMOOTHER_CALL(SmootherJacobi, PCSetType(pc, PCJACOBI))
SMOOTHER_CALL(SmootherSOR, PCSetType(pc, PCSOR))
SMOOTHER_CALL(SmootherBJacobi, PCSetType(pc, PCBJACOBI))
SMOOTHER_CALL(SmootherRelax, PCSetType(pc, PCRELAX))

static PetscErrorCode SmootherEisenstat(PoissonSolver *p)
{
  KSP      ksp;
  PC       pc;
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetLevels(p->pc, &n));
  PetscCall(Smoother(p, n - 1, &ksp, &pc));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(PCSetType(pc, PCEISENSTAT));
  PetscFunctionReturn(0);
}

SMOOTHER_CALL(SmootherGMRES, KSPSetType(ksp, KSPGMRES))
SMOOTHER_CALL(SmootherRichardson, KSPSetType(ksp, KSPRICHARDSON))
SMOOTHER_CALL(SmootherChebyshev, KSPSetType(ksp, KSPCHEBYSHEV))
SMOOTHER_CALL(SmootherPreonly, KSPSetType(ksp, KSPPREONLY))

static PetscErrorCode SmootherMonitor(KSP ksp, PetscInt it, PetscReal rnorm, void *ctx)
{
  (void)ksp;
  (void)it;
  (void)rnorm;
  ++*(PetscInt *)ctx;
  return 0;
}

static PetscInt monitored;

static PetscErrorCode MonitorSmoother(PoissonSolver *p)
{
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(Smoother(p, 2, &ksp, &pc));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_PRECONDITIONED));
  PetscCall(KSPMonitorSet(ksp, SmootherMonitor, &monitored, NULL));
  PetscFunctionReturn(0);
}

SMOOTHER_CALL(ResetSmoother, KSPReset(ksp))
SMOOTHER_CALL(ResetSmootherPC, PCReset(pc))

static PetscErrorCode ReplaceSmootherPC(PoissonSolver *p)
{
  KSP ksp;
  PC  pc;
  Mat A, P;

  PetscFunctionBeginUser;
  PetscCall(Smoother(p, 2, &ksp, &pc));
  PetscCall(KSPGetOperators(ksp, &A, &P));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, P));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetPC(ksp, pc));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(0);
}

CALL(FewerLevels, PCMGSetLevels(p->pc, 3, NULL))

static PetscErrorCode FewerThenMoreLevels(PoissonSolver *p)
{
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetLevels(p->pc, &n));
  PetscCall(PCMGSetLevels(p->pc, 2, NULL));
  PetscCall(PCMGSetLevels(p->pc, n, NULL));
  PetscFunctionReturn(0);
}

CALL(TooManyLevels, PCMGSetLevels(p->pc, 12, NULL))

static PetscErrorCode LevelsByOptions(PoissonSolver *p)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-pc_mg_levels", "3"));
  PetscCall(KSPSetFromOptions(p->ksp));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_mg_levels"));
  PetscFunctionReturn(0);
}

static PetscErrorCode SmootherUp(PoissonSolver *p)
{
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetSmootherUp(p->pc, 2, &ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode SmootherDown(PoissonSolver *p)
{
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetSmootherDown(p->pc, 2, &ksp));
  PetscCall(PCSetType(PCOf(ksp), PCJACOBI));
  PetscFunctionReturn(0);
}

CALL(DistinctSmoothers, PCMGSetDistinctSmoothUp(p->pc))

static PetscErrorCode CoarseSolver(PoissonSolver *p)
{
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetCoarseSolve(p->pc, &ksp));
  PetscCall(KSPSetType(ksp, KSPRICHARDSON));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 20));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscFunctionReturn(0);
}

CALL(Full, PCMGSetType(p->pc, PC_MG_FULL))
CALL(Additive, PCMGSetType(p->pc, PC_MG_ADDITIVE))
CALL(Kaskade, PCMGSetType(p->pc, PC_MG_KASKADE))
CALL(CycleType, PCMGSetCycleType(p->pc, PC_MG_CYCLE_W))
CALL(CycleTypeOnLevel, PCMGSetCycleTypeOnLevel(p->pc, 2, PC_MG_CYCLE_W))
CALL(NumberSmooth, PCMGSetNumberSmooth(p->pc, 3))

SMOOTHER_CALL(NumberSmoothZero, KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 0))

CALL(TwoCycles, PCMGMultiplicativeSetCycles(p->pc, 2))
CALL(GalerkinBoth, PCMGSetGalerkin(p->pc, PC_MG_GALERKIN_BOTH))
CALL(GalerkinPmat, PCMGSetGalerkin(p->pc, PC_MG_GALERKIN_PMAT))
CALL(GalerkinNone, PCMGSetGalerkin(p->pc, PC_MG_GALERKIN_NONE))
CALL(GalerkinExternal, PCMGSetGalerkin(p->pc, PC_MG_GALERKIN_EXTERNAL))

static PetscErrorCode Interpolation(PoissonSolver *p)
{
  Mat P;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetInterpolation(p->pc, 2, &P));
  PetscCall(PCMGSetInterpolation(p->pc, 2, P));
  PetscCall(PCMGSetRestriction(p->pc, 2, P));
  PetscFunctionReturn(0);
}

/* Another interpolation of the same size: a copy where matrices can be copied, or zero */
static PetscErrorCode OtherInterpolation(PoissonSolver *p)
{
  Mat       P, Q;
  PetscInt  m, n;
  PetscBool aij;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetInterpolation(p->pc, 2, &P));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)P, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  if (aij) PetscCall(MatDuplicate(P, MAT_COPY_VALUES, &Q));
  else {
    PetscCall(MatGetLocalSize(P, &m, &n));
    PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, m, n, PETSC_DETERMINE, PETSC_DETERMINE, 1, NULL, 1, NULL, &Q));
    PetscCall(AssembleMat(Q));
  }
  PetscCall(PCMGSetInterpolation(p->pc, 2, Q));
  PetscCall(PCMGSetRestriction(p->pc, 2, Q));
  PetscCall(MatDestroy(&Q));
  PetscFunctionReturn(0);
}

static PetscErrorCode RScaleInjection(PoissonSolver *p)
{
  Mat P;
  Vec v;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetInterpolation(p->pc, 2, &P));
  PetscCall(MatCreateVecs(P, &v, NULL));
  PetscCall(VecSet(v, 1));
  PetscCall(PCMGSetRScale(p->pc, 2, v));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(0);
}

static PetscInt residuals;

static PetscErrorCode CountingResidual(Mat A, Vec b, Vec x, Vec r)
{
  PetscFunctionBeginUser;
  residuals++;
  PetscCall(PCMGResidualDefault(A, b, x, r));
  PetscFunctionReturn(0);
}

static PetscErrorCode Residual(PoissonSolver *p)
{
  KSP ksp;
  PC  pc;
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(Smoother(p, 2, &ksp, &pc));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(PCMGSetResidual(p->pc, 2, CountingResidual, A));
  PetscFunctionReturn(0);
}

typedef PetscErrorCode (*SetVector)(PC, PetscInt, Vec);

static PetscErrorCode LevelVectors(PoissonSolver *p)
{
  const SetVector set[] = {PCMGSetRhs, PCMGSetX, PCMGSetR};
  Mat             P;
  Vec             v;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetInterpolation(p->pc, 3, &P));
  for (int i = 0; i < 3; i++) {
    PetscCall(MatCreateVecs(P, &v, NULL));
    PetscCall((*set[i])(p->pc, 2, v));
    PetscCall(VecDestroy(&v));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode FinestVectors(PoissonSolver *p)
{
  PetscInt n;
  Vec      v;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetLevels(p->pc, &n));
  PetscCall(VecDuplicate(p->b, &v));
  PetscCall(PCMGSetR(p->pc, n - 1, v));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(0);
}

static PetscErrorCode LevelOperators(PoissonSolver *p)
{
  KSP ksp;
  PC  pc;
  Mat A, B;

  PetscFunctionBeginUser;
  PetscCall(Smoother(p, 2, &ksp, &pc));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatScale(B, 1.1));
  PetscCall(PCMGSetOperators(p->pc, 2, B, B));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

CALL(AdaptInterpolation, PCMGSetAdaptInterpolation(p->pc, PETSC_TRUE))

static PetscErrorCode AdaptCR(PoissonSolver *p)
{
  return PCMGSetAdaptCR(p->pc, PETSC_TRUE);
}

static PetscErrorCode Getters(PoissonSolver *p)
{
  PetscInt  n, m;
  PetscReal grid, operators;
  Mat      *A, *P, R;
  Vec       scale;
  KSP       ksp;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetLevels(p->pc, &n));
  PetscCall(PCMGGetGridComplexity(p->pc, &grid, &operators));
  PetscCall(PCGetCoarseOperators(p->pc, &m, &A));
  for (PetscInt l = 0; l < m - 1; l++) PetscCall(MatDestroy(&A[l]));
  PetscCall(PetscFree(A));
  PetscCall(PCGetInterpolations(p->pc, &m, &P));
  for (PetscInt l = 0; l < m - 1; l++) PetscCall(MatDestroy(&P[l]));
  PetscCall(PetscFree(P));
  for (PetscInt l = 1; l < n; l++) {
    PetscCall(PCMGGetInterpolation(p->pc, l, &R));
    PetscCall(PCMGGetRestriction(p->pc, l, &R));
    PetscCall(PCMGGetInjection(p->pc, l, &R));
    PetscCall(PCMGGetRScale(p->pc, l, &scale));
    PetscCall(PCMGGetSmoother(p->pc, l, &ksp));
  }
  PetscFunctionReturn(0);
}

static const Call calls[] = {
    {"PCMGGetSmoother(), PCSetType(jacobi)", SmootherJacobi, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGGetSmoother(), PCSetType(sor)", SmootherSOR, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGGetSmoother(), PCSetType(bjacobi)", SmootherBJacobi, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGGetSmoother(), PCSetType(relax)", SmootherRelax, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGGetSmoother(), KSPSetType(gmres)", SmootherGMRES, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGGetSmoother(), KSPSetType(richardson)", SmootherRichardson, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGGetSmoother(), KSPSetType(chebyshev)", SmootherChebyshev, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGGetSmoother(), KSPSetType(preonly)",
     SmootherPreonly,
     {{"preonly", "preonly"}, {"preonly", "preonly"}},
     PETSC_FALSE},
    {"PCMGGetSmoother(), KSPMonitorSet()", MonitorSmoother, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGGetSmoother(), KSPReset()", ResetSmoother, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGGetSmoother(), PCReset()", ResetSmootherPC, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGGetSmoother(), KSPSetPC()", ReplaceSmootherPC, {{NULL, NULL}, {NULL, NULL}}, PETSC_TRUE},
    {"PCMGSetLevels(), fewer", FewerLevels, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGSetLevels(), fewer, then as many", FewerThenMoreLevels, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGSetLevels(), too many", TooManyLevels, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"-pc_mg_levels, KSPSetFromOptions()", LevelsByOptions, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGGetSmootherUp()", SmootherUp, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGGetSmootherDown()", SmootherDown, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGSetDistinctSmoothUp()", DistinctSmoothers, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGGetCoarseSolve()", CoarseSolver, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGSetType(full)", Full, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGSetType(additive)", Additive, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGSetType(kaskade)", Kaskade, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGSetCycleType()", CycleType, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGSetCycleTypeOnLevel()",
     CycleTypeOnLevel,
     {{"types that differ", "types that differ"}, {"types that differ", "types that differ"}},
     PETSC_FALSE},
    {"PCMGSetNumberSmooth()", NumberSmooth, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGGetSmoother(), no sweeps", NumberSmoothZero, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGMultiplicativeSetCycles()", TwoCycles, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGSetGalerkin(both)", GalerkinBoth, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGSetGalerkin(pmat)", GalerkinPmat, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGSetGalerkin(none)", GalerkinNone, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGSetGalerkin(external)", GalerkinExternal, {{"external says", NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGSetInterpolation()", Interpolation, {{NULL, NULL}, {NULL, NULL}}, PETSC_TRUE},
    {"PCMGSetInterpolation(), another",
     OtherInterpolation,
     {{NULL, NULL}, {NULL, "was given another interpolation"}},
     PETSC_TRUE},
    {"PCMGSetRScale()", RScaleInjection, {{NULL, NULL}, {NULL, NULL}}, PETSC_TRUE},
    {"PCMGSetResidual()", Residual, {{NULL, NULL}, {NULL, NULL}}, PETSC_TRUE},
    {"PCMGSetRhs(), PCMGSetX(), PCMGSetR()", LevelVectors, {{NULL, NULL}, {NULL, NULL}}, PETSC_TRUE},
    {"PCMGSetR() on the finest level", FinestVectors, {{NULL, NULL}, {NULL, NULL}}, PETSC_FALSE},
    {"PCMGSetOperators()",
     LevelOperators,
     {{NULL, "was given another operator"}, {NULL, "was given another operator"}},
     PETSC_TRUE},
    {"PCMGSetAdaptInterpolation()",
     AdaptInterpolation,
     {{"-pc_mg_adapt_interp_n", "-pc_mg_adapt_interp_n"}, {"-pc_mg_adapt_interp_n", "-pc_mg_adapt_interp_n"}},
     PETSC_FALSE},
    {"PCMGSetAdaptCR()",
     AdaptCR,
     {{"-pc_mg_adapt_cr", "-pc_mg_adapt_cr"}, {"-pc_mg_adapt_cr", "-pc_mg_adapt_cr"}},
     PETSC_FALSE},
    {"Get functions", Getters, {{NULL, NULL}, {NULL, NULL}}, PETSC_TRUE},
};

/* PETSc has it for one process */
static const Call eisenstat = {"PCMGGetSmoother(), PCSetType(eisenstat)",
                               SmootherEisenstat,
                               {{NULL, NULL}, {NULL, "PCEISENSTAT on level"}},
                               PETSC_FALSE};

static PetscErrorCode Create(PoissonSolver *p, PetscBool structured)
{
  PetscFunctionBeginUser;
  p->da = NULL;
  PetscCall(PoissonSolverCreate(PETSC_COMM_WORLD, KSPFGMRES, p));
  PetscCall(KSPSetTolerances(p->ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  PetscCall(PCKCycleSetStructured(p->pc, structured ? PC_KCYCLE_STRUCTURED_AUTO : PC_KCYCLE_STRUCTURED_OFF));
  PetscCall(KSPSetFromOptions(p->ksp));
  PetscFunctionReturn(0);
}

/* A solution in few iterations */
static PetscErrorCode Solve(PoissonSolver *p, PetscBool *good)
{
  PetscReal          residual;
  PetscInt           its;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(SolveSystem(p->ksp, p->b, p->x, &its, &reason));
  PetscCall(RelativeResidual(p->A, p->b, p->x, &residual));
  *good = (PetscBool)(*good && reason > 0 && its <= 25 && residual < 1e-7);
  PetscCall(PetscInfo(p->ksp, "%" PetscInt_FMT " iterations, true residual %g\n", its, (double)residual));
  PetscFunctionReturn(0);
}

/* The call, a solve, and one with other values */
static PetscErrorCode Try(PoissonSolver *p, const Call *call, Time when, PetscBool *good)
{
  PetscFunctionBeginUser;
  if (when == BEFORE) PetscCall(PCMGSetLevels(p->pc, 4, NULL));
  else if (when == SET_UP) PetscCall(KSPSetUp(p->ksp));
  else PetscCall(Solve(p, good));
  PetscCall((*call->call)(p));
  if (when == APPLIED) PetscCall(PCApply(p->pc, p->b, p->x));
  PetscCall(Solve(p, good));
  PetscCall(MatShift(p->A, 0.1));
  PetscCall(Solve(p, good));
  PetscFunctionReturn(0);
}

static PetscErrorCode Run(PoissonSolver *p, const Call *call, PetscBool structured, Time when, PetscBool *all)
{
  const char    *expected = call->error[structured][when != BEFORE];
  char           words[ERROR_LENGTH], *found = NULL;
  PetscBool      good = PETSC_TRUE;
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  words[0] = 0;
  PetscCall(Create(p, structured));
  KeepErrorOf(Try(p, call, when, &good), ierr, words);
  if (expected) PetscCall(PetscStrstr(words, expected, &found));
  if (expected ? !ierr || !found : ierr || !good) {
    *all = PETSC_FALSE;
    PetscCall(Print("  NO: %s levels, %s: %s\n", structured ? "structured" : "PCMG's", Times[when],
                    ierr ? words : "no error, but no good solution"));
  }
  PetscCall(PoissonSolverDestroy(p));
  PetscFunctionReturn(0);
}

static PetscErrorCode RunTimes(PoissonSolver *p, const Call *call)
{
  PetscBool all = PETSC_TRUE;

  PetscFunctionBeginUser;
  for (int structured = 0; structured < 2; structured++) {
    for (int when = call->set_up ? SET_UP : BEFORE; when < NUM_TIMES; when++)
      PetscCall(Run(p, call, (PetscBool)structured, (Time)when, &all));
  }
  PetscCall(Claim(all, call->name));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PoissonSolver problem = {0};
  PetscInt      only    = -1;
  PetscBool     alone   = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PoissonSetFromOptions(&problem.p));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-only", &only, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-eisenstat", &alone, NULL));
  for (PetscInt i = 0; !alone && i < (PetscInt)PETSC_STATIC_ARRAY_LENGTH(calls); i++) {
    if (only < 0 || i == only) PetscCall(RunTimes(&problem, &calls[i]));
  }
  if (alone) PetscCall(RunTimes(&problem, &eisenstat));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: small
    nsize: {{1 2}}
    args: -pc_kcycle_process_eq_limit 0
    output_file: output/mgcalls.out

  test:
    suffix: eisenstat
    args: -eisenstat

TEST*/
