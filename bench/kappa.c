static char help[] =
    "Rotated anisotropic diffusion: the cycles of the kappa-cycle's paper on structured levels, alone and within CG.\n\
  -solver jacobi|alternating|zebra  smoother, with the levels that the paper has for it (default jacobi)\n\
  -n <7>                            levels; the finest grid has (2^n - 1)^2 points\n\
  -angle <45> -epsilon <1e-4>       of the strong direction against the grid, in degrees; diffusion across it\n\
  -kappas <1,2,3,4,0>               cycle counters, 0: W-cycles\n\
  -seed <1>                         number of the random start\n\
  -methods <alone,cg>               also: factor, the asymptotic error factor of a cycle alone; cycle, its time\n\
  -calls                            prints the calls on n levels, and ends\n\n";

/*
  O. Avnat and I. Yavneh, On the Recursive Structure of Multigrid Cycles, section 4:

      - epsilon u_xx - u_yy = 0 in the unit square, u = 0 on the boundary, x and y turned by an angle against the grid,

  with nine points, bilinear interpolation, full weighting, random start. The solution is zero, so the iterate is the
  error. All operators are multiplied by h^2 and transposed interpolation restricts, which is the paper's scaling of
  both times the same number.

    jacobi       two damped sweeps on each side, the stencil again on each level
    alternating  zebra lines along x and then along y, once on each side; Galerkin products
    zebra        zebra lines along x, twice on each side; coarsening in y alone; Galerkin products

  Sweeps on both sides have the same order: lines 1, 3, 5 and so on, then those that the coarser grid keeps.

  Lines printed, comma separated:
    result,solver,method,n,angle,epsilon,kappa,value,seconds     value: iterations, or the error factor;
                                                                  seconds: of the processor
    calls,n,kappa,finest,...,coarsest
*/
#include "timing.h"

enum {
  MAX_LEVELS = 14,
  CYCLES     = 300, /* and steps of GMRES after them, for the error factor */
  STEPS      = 30,
  BLOCKS     = 9, /* of cycles, or solves, that are timed: the median counts */
  BLOCK      = 10
};
#define ENOUGH 0.1 /* seconds of solves */

typedef struct {
  PetscInt  n, seed; /* levels; number of the random start */
  PetscReal angle, epsilon, c, s;
  char      solver[16];
  DM        da;
  KSP       ksp;
  Vec       x, b, start;
} Problem;

/* Coupling of a point with the one di to the right and dj above it, multiplied by h^2 */
static PetscReal Stencil(const Problem *p, PetscInt di, PetscInt dj)
{
  const PetscReal e = p->epsilon, c2 = p->c * p->c, s2 = p->s * p->s, corner = 0.5 * (1 - e) * p->c * p->s;

  if (di && dj) return di * dj < 0 ? corner : -corner;
  if (di) return -(c2 + e * s2);
  if (dj) return -(e * c2 + s2);
  return 2 * (1 + e);
}

/* Damping that Yavneh and Olvovsky give for this stencil: 2 / (3 - smax), smax the largest symbol off the diagonal
   at high frequencies */
static PetscReal Damping(const Problem *p)
{
  const PetscReal e = p->epsilon, c2 = p->c * p->c, s2 = p->s * p->s, b = (1 - e) * p->s * p->c / (1 + e),
                  largest = PetscMax(e * c2 + s2, c2 + e * s2) / (1 + e);

  return 2 / (3 - PetscSqrtReal(largest * largest + b * b));
}

/* A level, and the points of it in each direction */
typedef struct {
  const Problem *p;
  PetscInt       size[2];
} Level;

static void MakeRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const Level *l = (const Level *)ctx;

  row->value[0] = Stencil(l->p, 0, 0);
  for (int o = 0; o < 9; o++) {
    const PetscInt to[3] = {at[0] + o % 3 - 1, at[1] + o / 3 - 1, 0};

    if (o != 4 && IsInBox(to, l->size, 2)) RowEntry(row, to, Stencil(l->p, o % 3 - 1, o / 3 - 1));
  }
}

static PetscErrorCode ComputeOperator(KSP ksp, Mat J, Mat A, void *ctx)
{
  Level l = {(const Problem *)ctx, {0, 0}};
  DM    da;

  PetscFunctionBeginUser;
  (void)J;
  PetscCall(KSPGetDM(ksp, &da));
  PetscCall(DMDAGetInfo(da, NULL, &l.size[0], &l.size[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(AssembleRows(da, MakeRow, &l, A));
  PetscFunctionReturn(0);
}

/* Evenly distributed between 0 and 1 as in the paper, the same on any number of processes */
static PetscReal Noise(PetscInt start, PetscInt point)
{
  return RandomFrom((uint64_t)((PetscInt64)start * 1000003 + point + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

static PetscErrorCode FillStart(Problem *p)
{
  PetscScalar **a;
  PetscInt      m, xs, ys, nx, ny;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(p->da, NULL, &m, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(p->da, &xs, &ys, NULL, &nx, &ny, NULL));
  PetscCall(DMDAVecGetArray(p->da, p->start, &a));
  for (PetscInt j = ys; j < ys + ny; j++) {
    for (PetscInt i = xs; i < xs + nx; i++) a[j][i] = Noise(p->seed, i + m * j);
  }
  PetscCall(DMDAVecRestoreArray(p->da, p->start, &a));
  PetscFunctionReturn(0);
}

/* As the options that a user would write; up: the solvers of the way up */
static PetscErrorCode ChooseSmoother(const char type[], PetscInt sweeps, PetscReal omega)
{
  const char *const way[] = {"levels", "levels_up"}, *const order[] = {"backward", "forward"};
  char options[512];

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    PetscCall(PetscSNPrintf(options, sizeof(options),
                            "-mg_%s_ksp_type richardson -mg_%s_ksp_max_it %" PetscInt_FMT
                            " -mg_%s_pc_type relax -mg_%s_pc_relax_type %s -mg_%s_pc_relax_omega %.16g"
                            " -mg_%s_pc_relax_order %s -mg_%s_pc_relax_clusters off",
                            way[i], way[i], sweeps, way[i], way[i], type, way[i], (double)omega, way[i], order[i],
                            way[i]));
    PetscCall(PetscOptionsInsertString(NULL, options));
  }
  PetscFunctionReturn(0);
}

/* With distinct smoothers the order after the coarse levels, which the cycle reverses, is reversed once more.
   Backward sweeps begin with the lines that the coarser grid leaves out, and with the last direction */
static PetscErrorCode ChooseOptions(const Problem *p)
{
  const PetscBool jacobi = (PetscBool)!strcmp(p->solver, "jacobi");
  const PetscBool zebra  = (PetscBool)!strcmp(p->solver, "zebra");
  char            levels[32];

  PetscFunctionBeginUser;
  PetscCheck(jacobi || zebra || !strcmp(p->solver, "alternating"), PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-solver is jacobi, alternating or zebra, not %s", p->solver);
  PetscCall(PetscSNPrintf(levels, sizeof(levels), "-pc_mg_levels %" PetscInt_FMT, p->n));
  PetscCall(PetscOptionsInsertString(NULL, levels));
  PetscCall(PetscOptionsInsertString(NULL, "-pc_kcycle_structured on -pc_kcycle_grid interior"
                                           " -pc_kcycle_interpolation linear -pc_mg_distinct_smoothup"));
  if (jacobi) {
    PetscCall(PetscOptionsInsertString(NULL, "-pc_mg_galerkin none -pc_kcycle_semicoarsen xy"));
    PetscCall(ChooseSmoother(PC_RELAX_JACOBI, 2, Damping(p)));
  } else if (zebra) {
    PetscCall(PetscOptionsInsertString(NULL, "-pc_kcycle_semicoarsen y"));
    PetscCall(ChooseSmoother(PC_RELAX_ZEBRA_X, 2, 1));
  } else {
    PetscCall(PetscOptionsInsertString(NULL, "-pc_kcycle_semicoarsen xy -mg_levels_pc_relax_directions yx"
                                             " -mg_levels_up_pc_relax_directions yx"));
    PetscCall(ChooseSmoother(PC_RELAX_ALTERNATING, 1, 1));
  }
  PetscFunctionReturn(0);
}

/* Stops when the error, which is the iterate, has shrunk by 1e-8 */
static PetscErrorCode TestError(KSP ksp, PetscInt it, PetscReal rnorm, KSPConvergedReason *reason, void *ctx)
{
  PetscReal *first = (PetscReal *)ctx, norm;
  Vec        x;

  PetscFunctionBeginUser;
  (void)rnorm;
  PetscCall(KSPGetSolution(ksp, &x));
  PetscCall(VecNorm(x, NORM_2, &norm));
  if (it == 0) *first = norm;
  *reason = norm <= 1e-8 * *first ? KSP_CONVERGED_ITS : KSP_CONVERGED_ITERATING;
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolver(Problem *p, PetscInt kappa)
{
  PC       pc;
  PetscInt size[2] = {((PetscInt)1 << p->n) - 1, ((PetscInt)1 << p->n) - 1};

  PetscFunctionBeginUser;
  PetscCall(MakeDM(PETSC_COMM_WORLD, 2, size, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, &p->da));
  PetscCall(DMSetMatType(p->da, MATSTENCIL));
  PetscCall(DMSetUp(p->da));
  PetscCall(DMCreateGlobalVector(p->da, &p->x));
  PetscCall(DuplicateVec(p->x, &p->b, &p->start));
  PetscCall(FillStart(p));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &p->ksp));
  PetscCall(KSPSetDM(p->ksp, p->da));
  PetscCall(KSPSetComputeOperators(p->ksp, ComputeOperator, p));
  PetscCall(KSPSetInitialGuessNonzero(p->ksp, PETSC_TRUE));
  PetscCall(KSPSetTolerances(p->ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 100000));
  PetscCall(KSPGetPC(p->ksp, &pc));
  PetscCall(PCSetType(pc, PCKCYCLE));
  PetscCall(PCKCycleSetKappa(pc, kappa ? kappa : PC_KCYCLE_KAPPA_W));
  PetscCall(KSPSetFromOptions(p->ksp));
  PetscCall(KSPSetUp(p->ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroySolver(Problem *p)
{
  return DestroyAll(&p->ksp, &p->start, &p->b, &p->x, &p->da);
}

/* Counted in the cycles that have run, against the formula */
static PetscErrorCode CheckCalls(const Problem *p, PetscInt kappa)
{
  const PetscInt64 *calls;
  PetscInt64        expected;
  PetscInt          n;
  PetscMPIInt       size;
  PC                pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(p->ksp, &pc));
  PetscCall(PCKCycleGetLevelCalls(pc, &n, &calls));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCheck(n == p->n || size > 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " levels, not %" PetscInt_FMT, n,
             p->n);
  for (PetscInt l = 0; l < n; l++) {
    PetscCall(PCKCycleComputeLevelCalls(kappa ? kappa : PC_KCYCLE_KAPPA_W, l + 1, &expected));
    PetscCheck(calls[l] == expected * calls[0], PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "level %" PetscInt_FMT " was called %" PetscInt64_FMT " times in %" PetscInt64_FMT
               " cycles, not %" PetscInt64_FMT " times in each",
               l + 1, calls[l], calls[0], expected);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CountIterations(Problem *p, KSPType type, PetscReal *its, PetscReal *seconds)
{
  PetscReal          first, start, times[BLOCKS], all = 0;
  PetscInt           count, n = 0;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(KSPSetType(p->ksp, type));
  PetscCall(KSPSetConvergenceTest(p->ksp, TestError, &first, NULL));
  PetscCall(KSPSetUp(p->ksp));
  while (n < BLOCKS && all < ENOUGH) {
    PetscCall(VecCopy(p->start, p->x));
    start = Seconds();
    PetscCall(KSPSolve(p->ksp, p->b, p->x));
    times[n] = Seconds() - start;
    all += times[n++];
    PetscCall(KSPGetConvergedReason(p->ksp, &reason));
    PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "the solver ended with %s",
               KSPConvergedReasons[reason]);
    PetscCallMPI(MPI_Bcast(&all, 1, MPIU_REAL, 0, PETSC_COMM_WORLD));
  }
  PetscCall(PetscSortReal(n, times));
  PetscCall(KSPGetIterationNumber(p->ksp, &count));
  *its     = (PetscReal)count;
  *seconds = times[n / 2];
  PetscFunctionReturn(0);
}

/* Cycles without a Krylov method */
static PetscErrorCode Cycles(Problem *p, PetscInt count)
{
  PetscFunctionBeginUser;
  PetscCall(KSPSetType(p->ksp, KSPRICHARDSON));
  PetscCall(KSPSetConvergenceTest(p->ksp, KSPConvergedSkip, NULL, NULL));
  PetscCall(KSPSetNormType(p->ksp, KSP_NORM_NONE));
  PetscCall(KSPSetTolerances(p->ksp, 1e-50, 1e-300, 1e5, count));
  PetscCall(KSPSolve(p->ksp, p->b, p->x));
  PetscFunctionReturn(0);
}

/* Eigenvalues are of no use after a breakdown */
static PetscErrorCode TestResidual(KSP ksp, PetscInt it, PetscReal rnorm, KSPConvergedReason *reason, void *ctx)
{
  PetscReal *first = (PetscReal *)ctx;

  PetscFunctionBeginUser;
  (void)ksp;
  if (it == 0) *first = rnorm;
  *reason = rnorm <= 1e-11 * *first ? KSP_CONVERGED_RTOL : KSP_CONVERGED_ITERATING;
  PetscFunctionReturn(0);
}

/* The spectral radius of I - M A, from the eigenvalues that GMRES finds for M A; cycles leave the slow errors before */
static PetscErrorCode ErrorFactor(Problem *p, PetscReal *factor)
{
  PetscReal re[STEPS], im[STEPS], first;
  PetscInt  found;

  PetscFunctionBeginUser;
  PetscCall(VecCopy(p->start, p->x));
  for (PetscInt i = 0; i < CYCLES / BLOCK; i++) {
    PetscCall(VecNormalize(p->x, NULL));
    PetscCall(Cycles(p, BLOCK));
  }
  PetscCall(VecNormalize(p->x, NULL));
  PetscCall(KSPSetType(p->ksp, KSPGMRES));
  PetscCall(KSPGMRESSetRestart(p->ksp, STEPS));
  PetscCall(KSPSetComputeEigenvalues(p->ksp, PETSC_TRUE));
  PetscCall(KSPSetNormType(p->ksp, KSP_NORM_PRECONDITIONED));
  PetscCall(KSPSetTolerances(p->ksp, 1e-50, 1e-300, 1e5, STEPS));
  PetscCall(KSPSetConvergenceTest(p->ksp, TestResidual, &first, NULL));
  PetscCall(KSPSolve(p->ksp, p->b, p->x));
  PetscCall(KSPComputeEigenvalues(p->ksp, STEPS, re, im, &found));
  *factor = 0;
  for (PetscInt i = 0; i < found; i++) {
    *factor = PetscMax(*factor, PetscSqrtReal((1 - re[i]) * (1 - re[i]) + im[i] * im[i]));
  }
  PetscFunctionReturn(0);
}

/* Median of the mean times of a few blocks of cycles */
static PetscErrorCode CycleTime(Problem *p, PetscReal *seconds)
{
  PetscReal times[BLOCKS], start;

  PetscFunctionBeginUser;
  for (int i = -1; i < BLOCKS; i++) {
    PetscCall(VecCopy(p->start, p->x));
    start = Seconds();
    PetscCall(Cycles(p, BLOCK));
    if (i >= 0) times[i] = (Seconds() - start) / BLOCK;
  }
  PetscCall(PetscSortReal(BLOCKS, times));
  *seconds = times[BLOCKS / 2];
  PetscFunctionReturn(0);
}

static PetscErrorCode Run(Problem *p, const char method[], PetscReal *value, PetscReal *seconds)
{
  PetscFunctionBeginUser;
  *value = *seconds = 0;
  if (!strcmp(method, "factor")) PetscCall(ErrorFactor(p, value));
  else if (!strcmp(method, "cycle")) PetscCall(CycleTime(p, seconds));
  else if (!strcmp(method, "alone")) PetscCall(CountIterations(p, KSPRICHARDSON, value, seconds));
  else if (!strcmp(method, "cg")) PetscCall(CountIterations(p, KSPCG, value, seconds));
  else SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-methods are alone, cg, factor and cycle, not %s", method);
  PetscFunctionReturn(0);
}

static PetscErrorCode PrintCalls(PetscInt n, const PetscInt kappas[], PetscInt nkappas)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < nkappas; i++) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "calls,%" PetscInt_FMT ",%" PetscInt_FMT, n, kappas[i]));
    for (PetscInt l = 1; l <= n; l++) {
      PetscInt64 calls;

      PetscCall(PCKCycleComputeLevelCalls(kappas[i] ? kappas[i] : PC_KCYCLE_KAPPA_W, l, &calls));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, ",%" PetscInt64_FMT, calls));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadOptions(Problem *p)
{
  PetscFunctionBeginUser;
  p->n       = 7;
  p->seed    = 1;
  p->angle   = 45;
  p->epsilon = 1e-4;
  PetscCall(PetscStrncpy(p->solver, "jacobi", sizeof(p->solver)));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-solver", p->solver, sizeof(p->solver), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &p->n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seed", &p->seed, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-epsilon", &p->epsilon, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-angle", &p->angle, NULL));
  PetscCheck(p->n >= 1 && p->n <= MAX_LEVELS, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-n lies in 1 to %d, and is not %" PetscInt_FMT, MAX_LEVELS, p->n);
  PetscCheck(p->epsilon > 0 && p->epsilon <= 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-epsilon lies above 0 and up to 1, and is not %g", (double)p->epsilon);
  p->c = PetscCosReal(p->angle * PETSC_PI / 180);
  p->s = PetscSinReal(p->angle * PETSC_PI / 180);
  PetscFunctionReturn(0);
}

static PetscErrorCode RunAll(Problem *p, const PetscInt kappas[], PetscInt nkappas, char *const methods[],
                             PetscInt nmethods)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < nkappas; i++) {
    for (PetscInt j = 0; j < nmethods; j++) {
      PetscReal value, seconds;

      PetscCall(CreateSolver(p, kappas[i]));
      PetscCall(Run(p, methods[j], &value, &seconds));
      PetscCall(CheckCalls(p, kappas[i]));
      PetscCall(DestroySolver(p));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "result,%s,%s,%" PetscInt_FMT ",%g,%g,%" PetscInt_FMT ",%.6g,%.4g\n",
                            p->solver, methods[j], p->n, (double)p->angle, (double)p->epsilon, kappas[i], (double)value,
                            (double)seconds));
    }
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem   p          = {0};
  PetscInt  kappas[16] = {1, 2, 3, 4, 0}, nkappas = 16, nmethods = 4;
  char     *methods[4];
  PetscBool given, calls = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(KCycleInitializePackage());
  PetscCall(ReadOptions(&p));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-calls", &calls, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-kappas", kappas, &nkappas, &given));
  if (!given) nkappas = 5;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-methods", methods, &nmethods, &given));
  if (!given) {
    nmethods = 2;
    PetscCall(PetscStrallocpy("alone", &methods[0]));
    PetscCall(PetscStrallocpy("cg", &methods[1]));
  }
  if (calls) PetscCall(PrintCalls(p.n, kappas, nkappas));
  else {
    PetscCall(ChooseOptions(&p));
    PetscCall(RunAll(&p, kappas, nkappas, methods, nmethods));
  }
  for (PetscInt j = 0; j < nmethods; j++) PetscCall(PetscFree(methods[j]));
  PetscCall(PetscFinalize());
  return 0;
}
