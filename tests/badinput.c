static char help[] =
    "Bad input: each case ends with a message of PCKCYCLE's own, or with a reason that KSP reports.\n\n";

#include "poisson.h"

typedef enum {
  OPTION_ERROR, /* an error while options are read, where PETSc leaves memory of its own */
  ERROR,        /* an error that leaves nothing */
  NO_ERROR      /* KSP says how it ended, the view why */
} Ending;

typedef struct {
  const char *name;
  const char *options[3];                     /* for the time of the case */
  PetscErrorCode (*prepare)(PoissonSolver *); /* before the options are read */
  PetscErrorCode (*use)(PoissonSolver *);     /* instead of one solve */
  PetscInt dim, n;                            /* 0: 2, 17 */
  Ending   ending;
} Case;

/* What is wrong */

static PetscErrorCode SetKappaZero(PoissonSolver *s)
{
  return PCKCycleSetKappa(s->pc, 0);
}

static PetscErrorCode SetCycleTypeOnLevel(PoissonSolver *s)
{
  PetscFunctionBeginUser;
  PetscCall(PCMGSetLevels(s->pc, 3, NULL));
  PetscCall(PCMGSetCycleTypeOnLevel(s->pc, 1, PC_MG_CYCLE_W));
  PetscFunctionReturn(0);
}

/* Nor is one found in the matrix, whose first row is coupled to one in the middle */
static PetscErrorCode ForgetGrid(PoissonSolver *s)
{
  PetscInt start, n;

  PetscFunctionBeginUser;
  PetscCall(MatSetOption(s->A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(s->A, &start, NULL));
  PetscCall(MatGetSize(s->A, &n, NULL));
  if (!start) PetscCall(MatSetValue(s->A, 0, n / 2, 0.1, INSERT_VALUES));
  PetscCall(AssembleMat(s->A));
  PetscCall(MatSetDM(s->A, NULL));
  PetscFunctionReturn(0);
}

/* Three levels with one interpolation */
static PetscErrorCode GiveOneInterpolation(PoissonSolver *s)
{
  DM  coarse;
  Mat P;

  PetscFunctionBeginUser;
  PetscCall(DMCoarsen(s->da, PETSC_COMM_WORLD, &coarse));
  PetscCall(DMCreateInterpolation(coarse, s->da, &P, NULL));
  PetscCall(PCMGSetLevels(s->pc, 3, NULL));
  PetscCall(PCMGSetInterpolation(s->pc, 2, P));
  PetscCall(DestroyAll(&P, &coarse));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetEntry(Mat A, MatStencil row, MatStencil column, PetscReal value)
{
  const PetscScalar entry = value;
  PetscInt          start;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, NULL));
  if (!start) PetscCall(MatSetValuesStencil(A, 1, &row, 1, &column, &entry, INSERT_VALUES));
  PetscCall(AssembleMat(A));
  PetscFunctionReturn(0);
}

static PetscErrorCode PutNaN(PoissonSolver *s)
{
  return SetEntry(s->A, (MatStencil){.i = 0}, (MatStencil){.i = 0}, NAN);
}

static PetscErrorCode PutInf(PoissonSolver *s)
{
  return SetEntry(s->A, (MatStencil){.i = 1}, (MatStencil){.i = 0}, INFINITY);
}

/* On the diagonal of an inner point, where all around is regular: row 76 */
static PetscErrorCode PutInside(PoissonSolver *s, PetscReal value)
{
  const MatStencil at = {.j = 4, .i = 8};

  PetscFunctionBeginUser;
  PetscCall(SetEntry(s->A, at, at, value));
  PetscFunctionReturn(0);
}

static PetscErrorCode PutNaNInside(PoissonSolver *s)
{
  return PutInside(s, NAN);
}

static PetscErrorCode PutInfInside(PoissonSolver *s)
{
  return PutInside(s, INFINITY);
}

static PetscErrorCode PutZeroInside(PoissonSolver *s)
{
  return PutInside(s, 0);
}

static PetscErrorCode PutNaNIntoRightSide(PoissonSolver *s)
{
  PetscInt start;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(s->b, &start, NULL));
  if (!start) PetscCall(VecSetValue(s->b, 0, NAN, INSERT_VALUES));
  PetscCall(AssembleVec(s->b));
  PetscFunctionReturn(0);
}

static PetscErrorCode PutZeros(PoissonSolver *s)
{
  return MatZeroEntries(s->A);
}

/* Rows 0 and 1 become (0 1; 1 4): regular, but no smoother may divide by the diagonal */
static PetscErrorCode PutZero(PoissonSolver *s)
{
  PetscFunctionBeginUser;
  PetscCall(SetEntry(s->A, (MatStencil){.i = 0}, (MatStencil){.i = 0}, 0.0));
  PetscCall(SetEntry(s->A, (MatStencil){.i = 0}, (MatStencil){.i = 1}, 1.0));
  PetscCall(SetEntry(s->A, (MatStencil){.i = 1}, (MatStencil){.i = 0}, 1.0));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetRectangle(PoissonSolver *s)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 10, 8, 1, NULL, 1, NULL, &A));
  PetscCall(AssembleMat(A));
  PetscCall(KSPSetOperators(s->ksp, A, A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

static PetscErrorCode ChangeHierarchyLate(PoissonSolver *s)
{
  PetscFunctionBeginUser;
  PetscCall(KSPSetUp(s->ksp));
  PetscCall(PCKCycleSetHierarchy(s->pc, PC_KCYCLE_HIERARCHY_GAMG));
  PetscFunctionReturn(0);
}

static PetscErrorCode AskForCallsEarly(PoissonSolver *s)
{
  return PCKCycleGetLevelCalls(s->pc, NULL, NULL);
}

static PetscErrorCode SetUp(PoissonSolver *s)
{
  return KSPSetUp(s->ksp);
}

static PetscErrorCode SetTypeLate(PoissonSolver *s)
{
  PetscFunctionBeginUser;
  PetscCall(KSPSetUp(s->ksp));
  PetscCall(PCKCycleSetKappa(s->pc, 3));
  PetscCall(PCMGSetType(s->pc, PC_MG_ADDITIVE));
  PetscCall(KSPSolve(s->ksp, s->b, s->x));
  PetscFunctionReturn(0);
}

/* An option that no call has read is what PETSc reports as left */
static PetscErrorCode AskWhetherUsed(PoissonSolver *s)
{
  PetscInt  n;
  char    **names, **values;
  PetscBool right = PETSC_FALSE, wrong = PETSC_FALSE, same;

  PetscFunctionBeginUser;
  PetscCall(KSPSetUp(s->ksp));
  PetscCall(PetscOptionsLeftGet(NULL, &n, &names, &values));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(PetscStrcmp(names[i], "pc_kcycle_kappa", &same));
    if (same) right = PETSC_TRUE;
    PetscCall(PetscStrcmp(names[i], "pc_kcycle_kapa", &same));
    if (same) wrong = PETSC_TRUE;
  }
  PetscCall(PetscOptionsLeftRestore(NULL, &n, &names, &values));
  PetscCall(Claim(!right && wrong, "  the misspelt option is left, the right one is not"));
  PetscFunctionReturn(0);
}

#define FAIL "-ksp_error_if_not_converged"

static const Case cases[] = {
    {"kappa 0", {"-pc_kcycle_kappa 0"}, NULL, NULL, 0, 0, OPTION_ERROR},
    {"kappa -3", {"-pc_kcycle_kappa -3"}, NULL, NULL, 0, 0, OPTION_ERROR},
    {"kappa abc", {"-pc_kcycle_kappa abc"}, NULL, NULL, 0, 0, OPTION_ERROR},
    {"kappa 2.5", {"-pc_kcycle_kappa 2.5"}, NULL, NULL, 0, 0, OPTION_ERROR},
    {"sweeps 0", {"-pc_kcycle_sweeps 0"}, NULL, NULL, 0, 0, OPTION_ERROR},
    {"sweeps 2x", {"-pc_kcycle_sweeps 2x"}, NULL, NULL, 0, 0, OPTION_ERROR},
    {"kappa 0 by PCKCycleSetKappa()", {NULL}, SetKappaZero, NULL, 0, 0, ERROR},
    {"kappa with additive multigrid", {"-pc_mg_type additive", "-pc_kcycle_kappa 2"}, NULL, NULL, 0, 0, OPTION_ERROR},
    {"kappa with Kaskade multigrid", {"-pc_mg_type kaskade", "-pc_kcycle_kappa 2"}, NULL, NULL, 0, 0, OPTION_ERROR},
    {"the same after set-up", {NULL}, NULL, SetTypeLate, 0, 0, ERROR},
    {"cycle type and another kappa", {"-pc_mg_cycle_type w", "-pc_kcycle_kappa 2"}, NULL, NULL, 0, 0, OPTION_ERROR},
    {"cycle type of a level", {NULL}, SetCycleTypeOnLevel, NULL, 0, 0, OPTION_ERROR},
    {"no grid", {NULL}, ForgetGrid, NULL, 0, 0, NO_ERROR},
    {"no grid, hierarchy dm", {"-pc_kcycle_hierarchy dm"}, ForgetGrid, NULL, 0, 0, ERROR},
    {"no grid, hierarchy grid", {"-pc_kcycle_hierarchy grid"}, ForgetGrid, NULL, 0, 0, ERROR},
    {"no grid, number of levels", {"-pc_mg_levels 3"}, ForgetGrid, NULL, 0, 0, NO_ERROR},
    {"no interpolation, hierarchy user", {"-pc_kcycle_hierarchy user"}, NULL, NULL, 0, 0, ERROR},
    {"one interpolation missing", {NULL}, GiveOneInterpolation, NULL, 0, 0, ERROR},
    {"too many levels", {"-pc_mg_levels 9"}, NULL, NULL, 0, 0, NO_ERROR},
    {"too many levels of the DM", {"-pc_mg_levels 9", "-pc_kcycle_hierarchy dm"}, NULL, NULL, 0, 0, OPTION_ERROR},
    {"cube of 8 of the DM", {"-pc_kcycle_hierarchy dm"}, NULL, NULL, 3, 8, OPTION_ERROR},
    {"interpolation of structured levels", {"-pc_kcycle_interpolation simplex"}, NULL, NULL, 0, 0, OPTION_ERROR},
    {"points of structured levels", {"-pc_kcycle_grid cell"}, NULL, NULL, 0, 0, OPTION_ERROR},
    {"semicoarsening by the DM",
     {"-pc_kcycle_semicoarsen x", "-pc_kcycle_hierarchy dm"},
     NULL,
     NULL,
     0,
     0,
     OPTION_ERROR},
    {"NaN in the operator", {FAIL}, PutNaN, NULL, 0, 0, ERROR},
    {"Inf in the operator", {FAIL}, PutInf, NULL, 0, 0, ERROR},
    {"zero on the diagonal", {FAIL}, PutZero, NULL, 0, 0, ERROR},
    {"rectangular operator", {NULL}, SetRectangle, SetUp, 0, 0, ERROR},
    {"hierarchy changed late", {NULL}, NULL, ChangeHierarchyLate, 0, 0, ERROR},
    {"calls asked for early", {NULL}, NULL, AskForCallsEarly, 0, 0, ERROR},
    {"NaN in the operator, watched", {NULL}, PutNaN, NULL, 0, 0, NO_ERROR},
    {"NaN, GMRES", {"-ksp_type gmres"}, PutNaN, NULL, 0, 0, NO_ERROR},
    {"NaN, Richardson", {"-ksp_type richardson"}, PutNaN, NULL, 0, 0, NO_ERROR},
    {"NaN, additive", {"-pc_mg_type additive"}, PutNaN, NULL, 0, 0, NO_ERROR},
    {"Inf, full", {"-pc_mg_type full", "-ksp_type fgmres"}, PutInf, NULL, 0, 0, NO_ERROR},
    {"zero on the diagonal, watched", {NULL}, PutZero, NULL, 0, 0, NO_ERROR},
    {"zero, smoothers that do not divide",
     {"-mg_levels_ksp_type gmres", "-mg_levels_pc_type none", "-ksp_type fgmres"},
     PutZero,
     NULL,
     0,
     0,
     NO_ERROR},
    {"NaN inside", {NULL}, PutNaNInside, NULL, 0, 0, NO_ERROR},
    {"Inf inside", {NULL}, PutInfInside, NULL, 0, 0, NO_ERROR},
    {"nothing assembled", {"-pc_kcycle_structured off"}, PutZeros, NULL, 0, 0, NO_ERROR},
    {"zero inside", {NULL}, PutZeroInside, NULL, 0, 0, NO_ERROR},
    {"NaN in the right side", {NULL}, PutNaNIntoRightSide, NULL, 0, 0, NO_ERROR},
    {"NaN in the right side, Richardson", {"-ksp_type richardson"}, PutNaNIntoRightSide, NULL, 0, 0, NO_ERROR},
    {"misspelt option", {"-pc_kcycle_kapa 3", "-pc_kcycle_kappa 3"}, NULL, AskWhetherUsed, 0, 0, NO_ERROR}};

static PetscErrorCode Create(const Case *c, PoissonSolver *s)
{
  PetscFunctionBeginUser;
  PetscCall(PoissonSetFromOptions(&s->p));
  s->p.dim = c->dim ? c->dim : 2;
  s->p.n   = c->n ? c->n : 17;
  PetscCall(PoissonSolverCreate(PETSC_COMM_WORLD, KSPCG, s));
  PetscFunctionReturn(0);
}

static PetscErrorCode Run(const Case *c, PoissonSolver *s)
{
  PetscFunctionBeginUser;
  if (c->prepare) PetscCall((*c->prepare)(s));
  PetscCall(KSPSetFromOptions(s->ksp));
  if (c->use) PetscCall((*c->use)(s));
  else PetscCall(KSPSolve(s->ksp, s->b, s->x));
  PetscFunctionReturn(0);
}

/* How the solve ended, and the line of the view that says why */
static PetscErrorCode Tell(PoissonSolver *s)
{
  KSPConvergedReason reason;
  char              *text, *line, *end;

  PetscFunctionBeginUser;
  PetscCall(KSPGetConvergedReason(s->ksp, &reason));
  if (reason) PetscCall(Print("  %s\n", reason > 0 ? "converged" : KSPConvergedReasons[reason]));
  PetscCall(ViewText(s->pc, &text));
  PetscCall(PetscStrstr(text, "set-up failed", &line));
  if (line) {
    PetscCall(PetscStrchr(line, '\n', &end));
    if (end) *end = 0;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %s\n", line)); /* the text is there on the first process only */
  }
  free(text);
  PetscFunctionReturn(0);
}

static PetscErrorCode Try(const Case *c)
{
  PoissonSolver  s                   = {0};
  char           words[ERROR_LENGTH] = "";
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  PetscCall(Print("%s\n", c->name));
  for (PetscInt i = 0; i < 3 && c->options[i]; i++) PetscCall(PetscOptionsInsertString(NULL, c->options[i]));
  PetscCall(Create(c, &s));
  PetscCall(PetscPushErrorHandler(KeepError, words));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF)); /* bad numbers are what this is about */
  ierr = Run(c, &s);
  PetscCall(PetscFPTrapPop());
  PetscCall(PetscPopErrorHandler());
  if (ierr) PetscCall(Print("  %s\n", words));
  if ((ierr != 0) != (c->ending != NO_ERROR)) PetscCall(Print("  NO: %s\n", ierr ? "an error" : "no error"));
  if (!ierr) PetscCall(Tell(&s));
  PetscCall(PoissonSolverDestroy(&s));
  for (PetscInt i = 0; i < 3 && c->options[i]; i++) {
    char name[64], *space;

    PetscCall(PetscStrncpy(name, c->options[i], sizeof(name)));
    PetscCall(PetscStrchr(name, ' ', &space));
    if (space) *space = 0;
    PetscCall(PetscOptionsClearValue(NULL, name));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char      only[64] = "";
  PetscBool given, same;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-case", only, sizeof(only), &given));
  if (Given("-option_errors")) PetscCall(PetscOptionsClearValue(NULL, "-malloc_dump"));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    PetscCall(PetscStrcmp(only, cases[i].name, &same));
    if (given ? same : (PetscBool)((cases[i].ending == OPTION_ERROR) == Given("-option_errors")))
      PetscCall(Try(&cases[i]));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    nsize: {{1 2}}

    test:
      suffix: options
      args: -option_errors -pc_kcycle_structured off

    test:
      suffix: small
      args: -pc_kcycle_structured {{off auto}}

TEST*/
