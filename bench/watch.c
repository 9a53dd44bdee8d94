/*
  Loaded into a program that uses PETSc (-dll_append): what its solves take and how good they are, written into the file
  of -watch_file. bench/compare.py starts programs with it, unchanged.

  PETSc tells of its events. Watched are solvers that no other solver contains; those inside count as parts. Lines, the
  first word says of what; seconds are of the slowest process, by the clock and of a processor:

    petsc,<processes>
    begin,<solver>,<prefix>,<type of the KSP>,<of the PC>,<of the matrix>,<has a grid>,<its levels above the coarsest>
    at,<solver>,<iteration>,<seconds since the solve began>,<norm>               first solve only
    level,<solver>,<level, 0 is the finest>,<rows>,<entries>,<longest row>       with -watch_levels; first solve only
    kernel,<solver>,<name>,<seconds, processor>,<bytes>                          with -watch_kernels; first solve only
    solve,<solver>,<prefix>,<unknowns>,<iterations>,<reason>,<set-up>,<set-up, processor>,<solve>,<solve, processor>,
          <rtol>,<|b - A x| / |b|>,<bytes that the processes have had at most, above those they started with>
    end

  A field is empty where there is nothing to say. The first process of PETSC_COMM_WORLD writes, of the solvers that it
  has a part in.
*/
#include <petsc/private/kspimpl.h>
#include <petsckcycle/private/compat.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#if !defined(PETSC_USE_LOG)
  #error "PETSc was configured without logging (--with-log=0): nothing can be watched"
#endif

#define MOST_SOLVERS 256
#define MOST_NORMS   20000

typedef struct {
  double wall, processor;
} Seconds;

/* What an object's set-ups have taken that no solve has been charged with */
typedef struct {
  PetscObjectId id;
  Seconds       spent;
} SetUp;

static struct {
  FILE         *file; /* of the process that writes */
  PetscLogEvent solve, setup[3];
  int           depth;
  PetscBool     busy, levels, kernels; /* busy: what happens now is ours */
  Seconds       start;
  PetscInt      nsetups, nsolvers, nnorms;
  SetUp         setups[MOST_SOLVERS];
  PetscObjectId solvers[MOST_SOLVERS];
  PetscBool     first; /* of this solver, the solve under way */
  double        at[MOST_NORMS];
  PetscReal     norm[MOST_NORMS];
  double        memory; /* at the start */
  /* Who listened before, and goes on */
  PetscErrorCode (*begin)(PetscLogEvent, int, PetscObject, PetscObject, PetscObject, PetscObject);
  PetscErrorCode (*end)(PetscLogEvent, int, PetscObject, PetscObject, PetscObject, PetscObject);
} watch;

static Seconds Now(void)
{
  struct timespec t;
  Seconds         now;

  clock_gettime(CLOCK_MONOTONIC, &t);
  now.wall = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  now.processor = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
  return now;
}

static double MostMemory(void)
{
  struct rusage usage;

  getrusage(RUSAGE_SELF, &usage);
  return 1024. * (double)usage.ru_maxrss;
}

static void Charge(Seconds *account, Seconds start)
{
  const Seconds now = Now();

  account->wall += now.wall - start.wall;
  account->processor += now.processor - start.processor;
}

/* The account of an object. What was never solved with may fill the list: its first one is given up */
static SetUp *Account(PetscObjectId id)
{
  PetscInt at = watch.nsetups < MOST_SOLVERS ? watch.nsetups : 0;

  for (PetscInt i = 0; i < watch.nsetups; i++) {
    if (watch.setups[i].id == id) return &watch.setups[i];
  }
  if (watch.nsetups < MOST_SOLVERS) watch.nsetups++;
  watch.setups[at].id              = id;
  watch.setups[at].spent.wall      = 0;
  watch.setups[at].spent.processor = 0;
  return &watch.setups[at];
}

static PetscErrorCode Collect(PetscObject object, Seconds *sum)
{
  PetscObjectId id;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId(object, &id));
  for (PetscInt i = 0; i < watch.nsetups; i++) {
    if (watch.setups[i].id != id) continue;
    sum->wall += watch.setups[i].spent.wall;
    sum->processor += watch.setups[i].spent.processor;
    watch.setups[i] = watch.setups[--watch.nsetups];
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *TypeOf(PetscObject object)
{
  return object && object->type_name ? object->type_name : "";
}

static PetscErrorCode Monitor(KSP ksp, PetscInt it, PetscReal norm, void *ctx)
{
  (void)ksp;
  (void)it;
  (void)ctx;
  PetscFunctionBegin;
  if (watch.first && !watch.busy && watch.nnorms < MOST_NORMS) {
    watch.at[watch.nnorms]     = Now().wall - watch.start.wall;
    watch.norm[watch.nnorms++] = norm;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Its number, and whether it is new; -1 if there are too many */
static PetscErrorCode Number(KSP ksp, PetscInt *number, PetscBool *is_new)
{
  PetscObjectId id;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)ksp, &id));
  *is_new = PETSC_FALSE;
  *number = -1;
  for (PetscInt i = 0; i < watch.nsolvers; i++) {
    if (watch.solvers[i] == id) *number = i;
  }
  if (*number < 0 && watch.nsolvers < MOST_SOLVERS) {
    *number                = watch.nsolvers++;
    watch.solvers[*number] = id;
    *is_new                = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveBegin(KSP ksp)
{
  PetscInt    number, refined = 0;
  const char *prefix;
  Mat         A;
  DM          dm = ksp->dm;

  PetscFunctionBegin;
  PetscCall(Number(ksp, &number, &watch.first));
  watch.nnorms = 0;
  if (!watch.first) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPMonitorSet(ksp, Monitor, NULL, NULL));
  if (!watch.file) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
  PetscCall(KSPGetOperators(ksp, NULL, &A));
  if (dm && !strcmp(TypeOf((PetscObject)dm), DMSHELL)) dm = NULL; /* made by KSPGetDM() */
  if (dm) PetscCall(DMGetRefineLevel(dm, &refined));
  fprintf(watch.file, "begin,%d,%s,%s,%s,%s,%d,%d\n", (int)number, prefix ? prefix : "", TypeOf((PetscObject)ksp),
          TypeOf((PetscObject)ksp->pc), TypeOf((PetscObject)A), dm ? 1 : 0, (int)refined);
  fflush(watch.file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Norms, not of a transposed or scaled system; -1: there is no such number */
static PetscErrorCode TrueResidual(KSP ksp, PetscReal *residual)
{
  Mat       A;
  Vec       b, x, r;
  PetscReal norm;
  PetscBool scaled;

  PetscFunctionBegin;
  *residual = -1;
  PetscCall(PetscOptionsHasName(NULL, ((PetscObject)ksp)->prefix, "-ksp_diagonal_scale", &scaled));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(KSPGetRhs(ksp, &b));
  PetscCall(KSPGetSolution(ksp, &x));
  if (!A || !b || !x || scaled || ksp->transpose_solve) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(VecDestroy(&r));
  *residual = norm > 0 ? *residual / norm : -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LongestRow(Mat A, PetscReal *longest)
{
  PetscInt  start, end;
  PetscBool rows;

  PetscFunctionBegin;
  *longest = -1;
  PetscCall(MatHasOperation(A, MATOP_GET_ROW, &rows));
  if (rows) {
    PetscCall(MatGetOwnershipRange(A, &start, &end));
    for (PetscInt i = start; i < end; i++) {
      PetscInt n;

      PetscCall(MatGetRow(A, i, &n, NULL, NULL));
      *longest = PetscMax(*longest, n);
      PetscCall(MatRestoreRow(A, i, &n, NULL, NULL));
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, longest, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WriteLevel(PetscInt number, PetscInt level, Mat A)
{
  PetscInt  rows;
  PetscReal longest;
  PetscBool has;
  MatInfo   info;
  char      entries[32] = "", width[32] = "";

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCall(MatHasOperation(A, MATOP_GETINFO, &has));
  if (has) {
    PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
    if (info.nz_used > 0) PetscCall(PetscSNPrintf(entries, sizeof(entries), "%.0f", (double)info.nz_used));
  }
  PetscCall(LongestRow(A, &longest));
  if (longest > 0) PetscCall(PetscSNPrintf(width, sizeof(width), "%.0f", (double)longest));
  if (watch.file)
    fprintf(watch.file, "level,%d,%d,%lld,%s,%s\n", (int)number, (int)level, (long long)rows, entries, width);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All that have a matrix; PCGetCoarseOperators() counts the finest level, but does not give it */
static PetscErrorCode WriteLevels(KSP ksp, PetscInt number)
{
  PetscInt n  = 0;
  Mat     *op = NULL, A;
  PetscErrorCode (*get)(PC, PetscInt *, Mat **);

  PetscFunctionBegin;
  PetscCall(KSPGetOperators(ksp, NULL, &A));
  PetscCall(WriteLevel(number, 0, A));
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp->pc, "PCGetCoarseOperators_C", &get));
  if (!get) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGetCoarseOperators(ksp->pc, &n, &op));
  for (PetscInt l = n - 2; l >= 0; l--) {
    if (op[l]) PetscCall(WriteLevel(number, n - 1 - l, op[l]));
    PetscCall(MatDestroy(&op[l]));
  }
  PetscCall(PetscFree(op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Kernels of the finest level of PCMG and its heirs, compared with a = b + s c as STREAM counts it. The words that a
  perfect kernel moves between memory and cache are counted once each. The residual r is not counted, as it can be
  restricted while it is in cache:
    a sweep                   reads b, reads and writes x            3 for each point        + the matrix
    residual and restriction  reads b and x, writes the coarse b     2 + 1 for a coarse one  + matrix and restriction
    interpolation             reads the coarse x, reads and writes x 2 + 1 for a coarse one  + the interpolation
  A smoother of several sweeps is timed as a whole and divided by their number.
*/
typedef enum {
  KERNEL_TRIAD,
  KERNEL_SWEEP,
  KERNEL_RESTRICT,
  KERNEL_INTERPOLATE
} Kernel;
static const char *const Kernels[] = {"triad", "sweep", "residual+restriction", "interpolation"};

typedef struct {
  KSP        smoother;
  Mat        A, interpolation, restriction;
  Vec        b, x, r, coarse;
  PetscInt   n;
  PetscReal *triad[3]; /* n numbers, more than caches hold */
} Finest;

static PetscErrorCode RunKernel(const Finest *f, Kernel kernel)
{
  PetscReal *a = f->triad[0], *b = f->triad[1], *c = f->triad[2];

  PetscFunctionBegin;
  if (kernel == KERNEL_SWEEP) PetscCall(KSPSolve(f->smoother, f->b, f->x));
  if (kernel == KERNEL_RESTRICT) PetscCall(MatResidual(f->A, f->b, f->x, f->r));
  if (kernel == KERNEL_RESTRICT) PetscCall(MatRestrict(f->restriction, f->r, f->coarse));
  if (kernel == KERNEL_INTERPOLATE) PetscCall(MatInterpolateAdd(f->interpolation, f->coarse, f->x, f->x));
  if (kernel != KERNEL_TRIAD) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < f->n; i++) a[i] = b[i] + 3 * c[i];
  b[0] = a[f->n - 1]; /* what is never read could be left out by the compiler */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* AIJ: values and indices; others: the memory they report, that is their coefficients */
static PetscErrorCode MatrixBytes(Mat A, PetscReal *bytes)
{
  MatInfo   info;
  PetscBool aij;
  PetscInt  rows;

  PetscFunctionBegin;
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCall(MatGetSize(A, &rows, NULL));
  *bytes = aij ? (PetscReal)info.nz_used * (sizeof(PetscScalar) + sizeof(PetscInt)) + (PetscReal)rows * sizeof(PetscInt)
               : (PetscReal)info.memory;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Best of as many calls as fit into half a second, as STREAM takes the best */
static PetscErrorCode WriteKernel(PetscInt number, const Finest *f, Kernel kernel, PetscReal bytes, PetscInt times)
{
  double best = PETSC_MAX_REAL, spent = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < 3 || (k < 100 && spent < 0.5); k++) {
    const double start = Now().processor;
    double       seconds;

    PetscCall(RunKernel(f, kernel));
    seconds = Now().processor - start;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)f->A)));
    best = PetscMin(best, seconds);
    spent += seconds;
  }
  if (watch.file)
    fprintf(watch.file, "kernel,%d,%s,%.4e,%.4e\n", (int)number, Kernels[kernel], best / (double)times, (double)bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solver is used up by it */
static PetscErrorCode WriteKernels(KSP ksp, PetscInt number)
{
  const PetscReal word = sizeof(PetscScalar);
  Finest          f;
  PetscInt        levels = 0, n, coarse, sweeps;
  PetscMPIInt     size;
  PetscReal       matrix, restriction, interpolation;
  PetscBool       multigrid;
  Vec             b, x;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp->pc, &multigrid, PCMG, "kcycle", ""));
  if (multigrid) PetscCall(PCMGGetLevels(ksp->pc, &levels));
  if (levels < 2) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCMGGetSmoother(ksp->pc, levels - 1, &f.smoother));
  PetscCall(KSPGetOperators(f.smoother, &f.A, NULL));
  PetscCall(PCMGGetInterpolation(ksp->pc, levels - 1, &f.interpolation));
  PetscCall(PCMGGetRestriction(ksp->pc, levels - 1, &f.restriction));
  PetscCall(KSPGetRhs(ksp, &b));
  PetscCall(KSPGetSolution(ksp, &x));
  PetscCall(VecDuplicate(b, &f.b));
  PetscCall(VecDuplicate(x, &f.x));
  PetscCall(VecDuplicate(x, &f.r));
  PetscCall(VecCopy(b, f.b));
  PetscCall(VecCopy(x, f.x));
  PetscCall(MatCreateVecs(f.interpolation, &f.coarse, NULL));
  PetscCall(VecGetSize(x, &n));
  PetscCall(VecGetSize(f.coarse, &coarse));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  f.n = 16000000 / size;
  PetscCall(PetscMalloc3(f.n, &f.triad[0], f.n, &f.triad[1], f.n, &f.triad[2]));
  for (PetscInt i = 0; i < f.n; i++) f.triad[0][i] = f.triad[1][i] = f.triad[2][i] = 1;
  PetscCall(MatrixBytes(f.A, &matrix));
  PetscCall(MatrixBytes(f.restriction, &restriction));
  PetscCall(MatrixBytes(f.interpolation, &interpolation));
  PetscCall(KSPGetTolerances(f.smoother, NULL, NULL, NULL, &sweeps));
  PetscCall(KSPSetInitialGuessNonzero(f.smoother, PETSC_TRUE));
  PetscCall(WriteKernel(number, &f, KERNEL_TRIAD, 3 * sizeof(PetscReal) * (PetscReal)f.n * size, 1));
  PetscCall(WriteKernel(number, &f, KERNEL_SWEEP, 3 * word * n + matrix, sweeps));
  PetscCall(WriteKernel(number, &f, KERNEL_RESTRICT, word * (2 * n + coarse) + matrix + restriction, 1));
  PetscCall(VecSet(f.coarse, 1e-3)); /* added again and again */
  PetscCall(WriteKernel(number, &f, KERNEL_INTERPOLATE, word * (2 * n + coarse) + interpolation, 1));
  PetscCall(PetscFree3(f.triad[0], f.triad[1], f.triad[2]));
  PetscCall(VecDestroy(&f.b));
  PetscCall(VecDestroy(&f.x));
  PetscCall(VecDestroy(&f.r));
  PetscCall(VecDestroy(&f.coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WriteSolve(KSP ksp, PetscInt number, const double seconds[], double memory)
{
  PetscInt           its, n;
  PetscReal          rtol, residual;
  KSPConvergedReason reason;
  const char        *prefix;
  Vec                x;
  char               text[32] = "";

  PetscFunctionBegin;
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetTolerances(ksp, &rtol, NULL, NULL, NULL));
  PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
  PetscCall(KSPGetSolution(ksp, &x));
  PetscCall(VecGetSize(x, &n));
  PetscCall(TrueResidual(ksp, &residual));
  if (residual >= 0 || PetscIsInfOrNanReal(residual))
    PetscCall(PetscSNPrintf(text, sizeof(text), "%.3e", (double)residual));
  if (!watch.file) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < watch.nnorms; i++)
    fprintf(watch.file, "at,%d,%d,%.6f,%.6e\n", (int)number, (int)i, watch.at[i], (double)watch.norm[i]);
  fprintf(watch.file, "solve,%d,%s,%lld,%d,%s,%.6f,%.6f,%.6f,%.6f,%g,%s,%.0f\n", (int)number, prefix ? prefix : "",
          (long long)n, (int)its, KSPConvergedReasons[reason], seconds[0], seconds[1], seconds[2], seconds[3],
          (double)rtol, text, memory);
  fflush(watch.file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveEnd(KSP ksp)
{
  const MPI_Comm comm  = PetscObjectComm((PetscObject)ksp);
  Seconds        setup = {0, 0}, solve = {0, 0};
  double         memory = MostMemory() - watch.memory, seconds[4];
  PetscInt       number;
  PetscBool      is_new;

  PetscFunctionBegin;
  Charge(&solve, watch.start);
  PetscCall(Collect((PetscObject)ksp, &setup));
  PetscCall(Collect((PetscObject)ksp->pc, &setup));
  seconds[0] = setup.wall;
  seconds[1] = setup.processor;
  seconds[2] = solve.wall;
  seconds[3] = solve.processor;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, seconds, 4, MPI_DOUBLE, MPI_MAX, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &memory, 1, MPI_DOUBLE, MPI_SUM, comm));
  PetscCall(Number(ksp, &number, &is_new));
  PetscCall(WriteSolve(ksp, number, seconds, memory));
  if (watch.first && watch.levels) PetscCall(WriteLevels(ksp, number));
  if (watch.first && watch.kernels) PetscCall(WriteKernels(ksp, number));
  watch.first = PETSC_FALSE;
  if (watch.file) fflush(watch.file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool IsSetUp(PetscLogEvent event)
{
  return (PetscBool)(event == watch.setup[0] || event == watch.setup[1] || event == watch.setup[2]);
}

static PetscErrorCode EventBegin(PetscLogEvent event, int unused, PetscObject o1, PetscObject o2, PetscObject o3,
                                 PetscObject o4)
{
  PetscFunctionBegin;
  if (watch.begin) PetscCall((*watch.begin)(event, unused, o1, o2, o3, o4));
  if (watch.busy || !(event == watch.solve || IsSetUp(event)) || watch.depth++) PetscFunctionReturn(PETSC_SUCCESS);
  watch.busy = PETSC_TRUE;
  if (event == watch.solve) PetscCall(SolveBegin((KSP)o1));
  watch.busy = PETSC_FALSE;
  PetscCallMPI(MPI_Barrier(PetscObjectComm(o1)));
  watch.start = Now();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EventEnd(PetscLogEvent event, int unused, PetscObject o1, PetscObject o2, PetscObject o3,
                               PetscObject o4)
{
  PetscFunctionBegin;
  if (!watch.busy && (event == watch.solve || IsSetUp(event)) && --watch.depth == 0) {
    watch.busy = PETSC_TRUE;
    if (event == watch.solve) PetscCall(SolveEnd((KSP)o1));
    else {
      PetscObjectId id;

      PetscCall(PetscObjectGetId(o1, &id));
      Charge(&Account(id)->spent, watch.start);
    }
    watch.busy = PETSC_FALSE;
  }
  if (watch.end) PetscCall((*watch.end)(event, unused, o1, o2, o3, o4));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Finish(void)
{
  PetscFunctionBegin;
  if (watch.file) {
    fprintf(watch.file, "end\n");
    fclose(watch.file);
    watch.file = NULL;
  }
  watch.busy = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_watch(void);

PetscErrorCode PetscDLLibraryRegister_watch(void)
{
  char        name[PETSC_MAX_PATH_LEN];
  PetscBool   given;
  PetscMPIInt rank, size;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&watch, sizeof(watch)));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-watch_file", name, sizeof(name), &given));
  if (!given) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsHasName(NULL, NULL, "-watch_levels", &watch.levels));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-watch_kernels", &watch.kernels));
  PetscCall(KSPInitializePackage());
  PetscCall(PetscLogEventGetId("KSPSolve", &watch.solve));
  PetscCall(PetscLogEventGetId("KSPSetUp", &watch.setup[0]));
  PetscCall(PetscLogEventGetId("PCSetUp", &watch.setup[1]));
  PetscCall(PetscLogEventGetId("PCSetUpOnBlocks", &watch.setup[2]));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (!rank) {
    watch.file = fopen(name, "w");
    PetscCheck(watch.file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "-watch_file %s cannot be written", name);
    fprintf(watch.file, "petsc,%d\n", (int)size);
  }
  watch.memory = MostMemory();
  watch.begin  = KCYCLE_LOG_BEGIN;
  watch.end    = KCYCLE_LOG_END;
  PetscCall(KCycleLogListen(EventBegin, EventEnd));
  PetscCall(PetscRegisterFinalize(Finish));
  PetscFunctionReturn(PETSC_SUCCESS);
}
