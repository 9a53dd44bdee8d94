static char help[] = "KSPKCG and KSPCG: the same residuals, iterations, reasons and eigenvalues.\n\n";

#include "grids.h"
#include "poisson.h"

/* A problem, and the options of its solver */
typedef struct {
  const char  *name;
  PetscInt     dim, size[3];
  GridBoundary boundary;
  PetscBool    box;
  PetscReal    vary;
  MatType      type;
  const char  *options;
  const char  *passes; /* in the view of the solver */
} Case;

#define IN_CACHE "two passes, which compute A z and A p in the cache"
#define STORED   "two passes, the first one with the product A z"
#define UPDATES  "one pass for the updates"
/* Rounding in single precision would be that of other residuals */
#define CYCLES   "-pc_type kcycle -pc_kcycle_precision double"
#define SINGLE   "-pc_type kcycle -pc_kcycle_precision single"
#define SQUARE(name, n, vary, options, passes)                                          \
  {                                                                                     \
    name, 2, {n, n, 1}, BOUNDARY_ELIMINATED, PETSC_FALSE, vary, MATAIJ, options, passes \
  }

static const Case Cases[] = {
    {"2D, constant", 2, {33, 40, 1}, BOUNDARY_ELIMINATED, PETSC_FALSE, 0, MATAIJ, CYCLES, IN_CACHE},
    {"3D, constant, stored boundary", 3, {17, 20, 19}, BOUNDARY_STORED, PETSC_FALSE, 0, MATSTENCIL, CYCLES, IN_CACHE},
    {"1D", 1, {200, 1, 1}, BOUNDARY_ELIMINATED, PETSC_FALSE, 0, MATSTENCIL, "-pc_type jacobi", IN_CACHE},
    {"2D, a point in y", 2, {60, 1, 1}, BOUNDARY_ELIMINATED, PETSC_FALSE, 0, MATSTENCIL, "-pc_type jacobi", IN_CACHE},
    {"2D, periodic", 2, {24, 32, 1}, BOUNDARY_PERIODIC, PETSC_FALSE, 0, MATAIJ, CYCLES, IN_CACHE},
    {"3D, 27 points", 3, {14, 12, 15}, BOUNDARY_ELIMINATED, PETSC_TRUE, 0, MATAIJ, CYCLES, IN_CACHE},
    {"3D, periodic, 27 points", 3, {8, 12, 10}, BOUNDARY_PERIODIC, PETSC_TRUE, 0, MATAIJ, CYCLES, IN_CACHE},
    {"3D, variable", 3, {15, 17, 12}, BOUNDARY_ELIMINATED, PETSC_FALSE, 0.5, MATAIJ, CYCLES, STORED},
    {"2D, variable, no flux", 2, {40, 31, 1}, BOUNDARY_NEUMANN, PETSC_TRUE, 0.5, MATSTENCIL, CYCLES, STORED},
    {"single precision", 3, {16, 16, 16}, BOUNDARY_ELIMINATED, PETSC_FALSE, 0, MATAIJ, SINGLE, IN_CACHE},
    SQUARE("levels of PCMG", 33, 0, CYCLES " -pc_kcycle_structured off -pc_kcycle_kappa 1", UPDATES),
    {"no preconditioner", 2, {20, 20, 1}, BOUNDARY_ELIMINATED, PETSC_FALSE, 0, MATSTENCIL, "-pc_type none", IN_CACHE},
    SQUARE("block Jacobi with incomplete Cholesky", 30, 0.5, "-pc_type bjacobi -sub_pc_type icc", UPDATES),
    SQUARE("deflation", 30, 0.5, "-pc_type deflsub -deflsub_pc_type jacobi", UPDATES),
    SQUARE("passes of PETSc's", 30, 0, CYCLES " -ksp_kcg_fuse false", "by operations of PETSc")};

static PetscErrorCode Create(const Case *c, DM *da, Mat *A, Vec *b)
{
  Grid g = {.number = 5, .box = c->box, .vary = c->vary};

  PetscFunctionBeginUser;
  PetscCall(GridInit(&g, c->dim, c->size, c->boundary));
  PetscCall(GridCreateSystem(&g, c->type, da, A, b));
  if (c->boundary >= BOUNDARY_NEUMANN) PetscCall(AttachConstants(*A, *b));
  PetscFunctionReturn(0);
}

/* What a solve has to tell */
#define MOST 200
typedef struct {
  PetscInt           its, length, neigenvalues;
  PetscReal          history[MOST], eigenvalue[MOST], imaginary[MOST], extreme[2];
  PetscReal          true_residual, residual; /* b - A x, and its difference to what KSPBuildResidual() makes */
  KSPConvergedReason reason;
} Told;

/* These options, until DestroyKSP(); and what the command line says of passes */
static PetscOptions Own;
static PetscBool    Fuse = PETSC_TRUE;

static PetscErrorCode CreateKSP(const char options[], KSPType type, Mat A, KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsCreate(&Own));
  PetscCall(PetscOptionsInsertString(Own, options));
  if (!Fuse) PetscCall(PetscOptionsInsertString(Own, "-ksp_kcg_fuse false"));
  PetscCall(PetscOptionsPush(Own));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetTolerances(*ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, MOST - 1));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyKSP(KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(ksp));
  PetscCall(PopOptions(&Own));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(KSP ksp, Vec b, Vec x, Told *t)
{
  const PetscReal *history;
  Mat              A;
  Vec              r, other;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(KSPSetResidualHistory(ksp, NULL, MOST, PETSC_TRUE));
  PetscCall(SolveSystem(ksp, b, x, &t->its, &t->reason));
  PetscCall(KSPGetResidualHistory(ksp, &history, &t->length));
  PetscCall(PetscArraycpy(t->history, history, PetscMin(t->length, MOST)));
  PetscCall(RelativeResidual(A, b, x, &t->true_residual));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatResidual(A, b, x, r));
  PetscCall(KSPBuildResidual(ksp, NULL, NULL, &other));
  PetscCall(VecAXPY(r, -1, other));
  PetscCall(VecNorm(r, NORM_2, &t->residual));
  PetscCall(DestroyAll(&other, &r));
  PetscFunctionReturn(0);
}

/* Do two solves have the same residuals but for rounding, and end alike? */
static PetscBool Agree(const Told *a, const Told *b)
{
  if (a->its != b->its || a->length != b->length || a->reason != b->reason) return PETSC_FALSE;
  for (PetscInt i = 0; i < a->length; i++) {
    if (!(PetscAbsReal(a->history[i] - b->history[i]) <= 1e-5 * a->history[i] + 1e-13 * a->history[0]))
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

static PetscErrorCode ClaimAgree(const Told *a, const Told *b, const char claim[])
{
  const PetscBool agree = Agree(a, b);

  PetscFunctionBeginUser;
  PetscCall(Claim(agree, claim));
  if (agree) PetscFunctionReturn(0);
  PetscCall(Print("  %s and %s\n", KSPConvergedReasons[a->reason], KSPConvergedReasons[b->reason]));
  for (PetscInt i = 0; i < PetscMax(a->length, b->length); i++)
    PetscCall(Print("  %3" PetscInt_FMT "  %.12e  %.12e\n", i, (double)(i < a->length ? a->history[i] : 0),
                    (double)(i < b->length ? b->history[i] : 0)));
  PetscFunctionReturn(0);
}

/* All norms, from zero and from another start */
static PetscErrorCode Compare(const Case *c)
{
  const KSPNormType norms[] = {KSP_NORM_PRECONDITIONED, KSP_NORM_UNPRECONDITIONED, KSP_NORM_NATURAL, KSP_NORM_NONE};
  const KSPType     types[] = {KSPCG, KSPKCG};
  char              claim[128];
  Told              told[2];
  DM                da;
  Mat               A;
  Vec               b, x[2];
  KSP               ksp[2];
  PetscReal         norm[2];
  PetscBool         says, good;

  PetscFunctionBeginUser;
  PetscCall(Create(c, &da, &A, &b));
  for (int s = 0; s < 2; s++) PetscCall(VecDuplicate(b, &x[s]));
  for (size_t n = 0; n < PETSC_STATIC_ARRAY_LENGTH(norms); n++) {
    for (int s = 0; s < 2; s++) {
      PetscCall(CreateKSP(c->options, types[s], A, &ksp[s]));
      PetscCall(KSPSetNormType(ksp[s], norms[n]));
      if (norms[n] == KSP_NORM_NONE) PetscCall(KSPSetTolerances(ksp[s], 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 4));
      PetscCall(KSPSetInitialGuessNonzero(ksp[s], (PetscBool)(n % 2 == 1)));
      PetscCall(VecSet(x[s], 0.5));
      PetscCall(Solve(ksp[s], b, x[s], &told[s]));
      if (s) PetscCall(ObjectHas((PetscObject)ksp[s], PETSC_VIEWER_DEFAULT, c->passes, &says));
      PetscCall(DestroyKSP(&ksp[s]));
    }
    PetscCall(DifferenceNorms(x[1], x[0], NORM_2, &norm[1], &norm[0]));
    good = (PetscBool)(norm[1] <= 1e-7 * norm[0] && told[1].residual <= 1e-9 && says);
    PetscCall(PetscSNPrintf(claim, sizeof(claim), "%s, %s: the residuals of KSPCG", c->name, KSPNormTypes[norms[n]]));
    PetscCall(ClaimAgree(&told[0], &told[1], claim));
    if (!good)
      PetscCall(Print("  solutions differ by %g of %g, residuals by %g, view %d\n", (double)norm[1], (double)norm[0],
                      (double)told[1].residual, says));
  }
  for (int s = 0; s < 2; s++) PetscCall(VecDestroy(&x[s]));
  PetscCall(DestroyAll(&b, &A, &da));
  PetscFunctionReturn(0);
}

/* What else solvers are asked for, on one problem with each kind of passes */
static PetscErrorCode Uses(const Case *c)
{
  const KSPType types[] = {KSPCG, KSPKCG};
  Told          told[2], again[2], late[2], guess[2];
  System        sys  = {0};
  PetscReal     most = 0;

  PetscFunctionBeginUser;
  PetscCall(Print("%s\n", c->name));
  PetscCall(Create(c, &sys.da, &sys.A, &sys.b));
  PetscCall(VecDuplicate(sys.b, &sys.x));
  for (int s = 0; s < 2; s++) {
    PetscCall(CreateKSP(c->options, types[s], sys.A, &sys.ksp));
    PetscCall(KSPSetComputeEigenvalues(sys.ksp, PETSC_TRUE));
    PetscCall(Solve(sys.ksp, sys.b, sys.x, &told[s]));
    PetscCall(KSPComputeEigenvalues(sys.ksp, MOST, told[s].eigenvalue, told[s].imaginary, &told[s].neigenvalues));
    PetscCall(KSPComputeExtremeSingularValues(sys.ksp, &told[s].extreme[0], &told[s].extreme[1]));
    PetscCall(MatScale(sys.A, 3));
    PetscCall(Solve(sys.ksp, sys.b, sys.x, &again[s]));
    PetscCall(MatScale(sys.A, 1.0 / 3));
    PetscCall(KSPSetCheckNormIteration(sys.ksp, 2));
    PetscCall(Solve(sys.ksp, sys.b, sys.x, &late[s]));
    PetscCall(KSPSetCheckNormIteration(sys.ksp, -1));
    PetscCall(KSPSetInitialGuessNonzero(sys.ksp, PETSC_TRUE));
    PetscCall(Solve(sys.ksp, sys.b, sys.x, &guess[s]));
    PetscCall(DestroyKSP(&sys.ksp));
  }
  for (PetscInt i = 0; i < told[0].neigenvalues; i++)
    most = PetscMax(most, PetscAbsReal(told[0].eigenvalue[i] - told[1].eigenvalue[i]) / told[0].extreme[0]);
  for (int e = 0; e < 2; e++)
    most = PetscMax(most, PetscAbsReal(told[0].extreme[e] - told[1].extreme[e]) / told[0].extreme[0]);
  PetscCall(Claim(told[0].neigenvalues == told[1].neigenvalues && most < 1e-5, "  the eigenvalues of KSPCG"));
  if (!(most < 1e-5)) PetscCall(Print("  they differ by %g\n", (double)most));
  PetscCall(ClaimAgree(&again[0], &again[1], "  new values of the operator"));
  PetscCall(ClaimAgree(&late[0], &late[1], "  norms from the second iteration on"));
  PetscCall(
      Claim(guess[1].its == guess[0].its && guess[1].reason == guess[0].reason, "  a start that is the solution"));
  PetscCall(SystemDestroy(&sys));
  PetscFunctionReturn(0);
}

/* The end of a solve with an operator A + shift I, a preconditioner of two signs, or a right side of zeros or NaN */
static PetscErrorCode End(const char claim[], const char options[], MatType type, PetscReal shift, PetscReal rhs,
                          KSPConvergedReason expected)
{
  const Case    c       = {"", 2, {24, 20, 1}, BOUNDARY_ELIMINATED, PETSC_FALSE, 0, type, "", ""};
  const KSPType types[] = {KSPCG, KSPKCG};
  Told          told[2];
  System        sys = {0};
  PetscBool     good;

  PetscFunctionBeginUser;
  PetscCall(Create(&c, &sys.da, &sys.A, &sys.b));
  PetscCall(MatShift(sys.A, shift));
  PetscCall(VecDuplicate(sys.b, &sys.x));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
  if (rhs != 1) PetscCall(VecSet(sys.b, rhs));
  for (int s = 0; s < 2; s++) {
    PetscCall(CreateKSP(options, types[s], sys.A, &sys.ksp));
    PetscCall(SolveSystem(sys.ksp, sys.b, sys.x, &told[s].its, &told[s].reason));
    PetscCall(DestroyKSP(&sys.ksp));
  }
  PetscCall(PetscFPTrapPop());
  good = (PetscBool)(told[1].reason == expected && told[0].reason == expected && told[0].its == told[1].its);
  PetscCall(Claim(good, claim));
  if (!good)
    PetscCall(Print("  KSPCG %s after %" PetscInt_FMT ", KSPKCG %s after %" PetscInt_FMT "\n",
                    KSPConvergedReasons[told[0].reason], told[0].its, KSPConvergedReasons[told[1].reason],
                    told[1].its));
  PetscCall(SystemDestroy(&sys));
  PetscFunctionReturn(0);
}

/* With this type of matrix, and its vectors, and with stencils */
static PetscErrorCode Ends(void)
{
  char          type[32] = MATAIJ;
  const MatType types[]  = {type, MATSTENCIL};

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  for (int t = 0; t < 2; t++) {
    PetscCall(Print("%s\n", types[t]));
    PetscCall(End("  an indefinite operator", "-pc_type none", types[t], -2, 1, KSP_DIVERGED_INDEFINITE_MAT));
    PetscCall(End("  a negative one", "-pc_type none", types[t], -20, 1, KSP_CONVERGED_RTOL));
    PetscCall(End("  a right side of zeros", "-pc_type jacobi", types[t], 0, 0, KSP_CONVERGED_ATOL));
    PetscCall(End("  one that is no number", "-pc_type jacobi", types[t], 0, NAN, KSP_DIVERGED_NANORINF));
    PetscCall(End("  one that is no number, unpreconditioned norm", "-pc_type jacobi -ksp_norm_type unpreconditioned",
                  types[t], 0, NAN, KSP_DIVERGED_NANORINF));
    PetscCall(End("  too few iterations", "-pc_type jacobi -ksp_max_it 3", types[t], 0, 1, KSP_DIVERGED_ITS));
    PetscCall(End("  as many as asked for",
                  "-pc_type jacobi -ksp_max_it 3 -ksp_norm_type none -ksp_convergence_test skip", types[t], 0, 1,
                  KSP_CONVERGED_ITS));
  }
  PetscCall(End("a preconditioner that fails", "-pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_shift_type none",
                MATAIJ, -4, 1, KSP_DIVERGED_PC_FAILED));
  PetscFunctionReturn(0);
}

#if defined(PETSC_USE_COMPLEX)
/* Complex operators: a real one turned by phases, which is Hermitian, and one with an imaginary diagonal, which is
   symmetric */
static PetscErrorCode MakeComplex(Mat A, Vec phase, PetscBool hermitian)
{
  PetscScalar *a;
  PetscInt     n, low;

  PetscFunctionBeginUser;
  if (!hermitian) {
    PetscCall(MatShift(A, 0.005 * PETSC_i));
    PetscFunctionReturn(0);
  }
  PetscCall(VecGetOwnershipRange(phase, &low, NULL));
  PetscCall(VecGetLocalSize(phase, &n));
  PetscCall(VecGetArray(phase, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = PetscExpScalar(PETSC_i * (PetscReal)((low + i) % 7));
  PetscCall(VecRestoreArray(phase, &a));
  PetscCall(MatDiagonalScale(A, NULL, phase));
  PetscCall(VecConjugate(phase));
  PetscCall(MatDiagonalScale(A, phase, NULL));
  PetscFunctionReturn(0);
}

/* The variant of -ksp_kcg_type */
static PetscErrorCode Complex(void)
{
  const Case    c           = {"", 2, {24, 20, 1}, BOUNDARY_ELIMINATED, PETSC_FALSE, 0.5, MATAIJ, "", ""};
  const KSPType types[]     = {KSPCG, KSPKCG};
  char          variant[16] = "hermitian", options[128];
  Told          told[2];
  DM            da;
  Mat           A;
  Vec           b, x, phase;
  PetscBool     hermitian;
  KSP           ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-ksp_kcg_type", variant, sizeof(variant), NULL));
  PetscCall(PetscStrcmp(variant, "hermitian", &hermitian));
  PetscCall(Create(&c, &da, &A, &b));
  PetscCall(DuplicateVec(b, &x, &phase));
  PetscCall(MakeComplex(A, phase, hermitian));
  for (int s = 0; s < 2; s++) {
    PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_type jacobi -ksp_%s_type %s", types[s], variant));
    PetscCall(CreateKSP(options, types[s], A, &ksp));
    PetscCall(Solve(ksp, b, x, &told[s]));
    PetscCall(DestroyKSP(&ksp));
  }
  PetscCall(Print("%s\n", variant));
  PetscCall(ClaimAgree(&told[0], &told[1], "  the residuals of KSPCG"));
  PetscCall(Claim(told[1].true_residual < 1e-7, "  which solve it"));
  PetscCall(DestroyAll(&phase, &x, &b, &A, &da));
  PetscFunctionReturn(0);
}
#endif

int main(int argc, char **args)
{
  PetscBool ends = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &args, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-ends", &ends, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-ksp_kcg_fuse", &Fuse, NULL));
#if defined(PETSC_USE_COMPLEX)
  (void)ends;
  PetscCall(Complex());
#else
  if (ends) PetscCall(Ends());
  else {
    for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(Cases); i++) PetscCall(Compare(&Cases[i]));
    PetscCall(Uses(&Cases[0]));
    PetscCall(Uses(&Cases[7]));
    PetscCall(Uses(&Cases[12]));
  }
#endif
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    requires: !complex
    nsize: {{1 2 4 8}}
    output_file: output/kcg.out

  test:
    requires: !complex
    suffix: ends
    nsize: {{1 3}}
    args: -ends

  test:
    requires: !complex
    suffix: operations
    args: -ends -ksp_kcg_fuse false
    output_file: output/kcg_ends.out

  test:
    requires: complex
    suffix: complex
    nsize: {{1 2}}
    args: -ksp_kcg_type {{hermitian symmetric}separate output}

TEST*/
