static char help[] = "The roofs of this machine, for -pc_kcycle_roofline: the bandwidth of memory, and how fast the\n\
kernels of PCKCYCLE are in cache.\n\
  -o <file>     that is written (default: roofline.txt)\n\
  -rounds <9>   of which the fastest counts\n\n";

/*
  Bandwidth is that of STREAM's triad. What its store reads first is counted. Rates are those of V-cycles of one sweep
  and of three on grids that fit in cache, with short and with long lines. Their difference is the time of two sweeps on
  both sides, and the rest is residual, restriction, interpolation and addition. The time of a tiny grid is that of
  visits. A pass over a grid in memory has two times, of arithmetic and of memory. Red-black cycles show how much of the
  shorter one is not hidden. They also show what a conjugate gradient method adds.

  Times are of a processor, and the least of all rounds. Run with as many processes as the solver will have, as they
  share memory.
*/
#include "timing.h"
#include <petsckcycle/private/rooflineimpl.h>

typedef struct {
  const char *smoother;
  PetscInt    dim, points;
} Kernel;

static const Kernel Kernels[] = {
    {"jacobi", 2, 5},      {"chebyshev", 2, 5},   {"redblack", 2, 5},  {"zebra_x", 2, 5},     {"zebra_y", 2, 5},
    {"alternating", 2, 5}, {"jacobi", 2, 9},      {"chebyshev", 2, 9}, {"fourcolor", 2, 9},   {"zebra_x", 2, 9},
    {"zebra_y", 2, 9},     {"alternating", 2, 9}, {"jacobi", 3, 7},    {"chebyshev", 3, 7},   {"redblack", 3, 7},
    {"zebra_x", 3, 7},     {"zebra_y", 3, 7},     {"zebra_z", 3, 7},   {"alternating", 3, 7}, {"jacobi", 3, 27},
    {"chebyshev", 3, 27},  {"eightcolor", 3, 27}, {"zebra_x", 3, 27},  {"zebra_y", 3, 27},    {"zebra_z", 3, 27}};

/* Couplings with the neighbours, those beyond the boundary left out; box: diagonal ones, too */
typedef struct {
  PetscInt  dim;
  PetscInt  n[3];
  PetscBool box;
} Operator;

static void MakeRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const Operator *op = (const Operator *)ctx;

  for (int o = 0; o < 27; o++) {
    const PetscInt to[3]    = {at[0] + o % 3 - 1, at[1] + o / 3 % 3 - 1, at[2] + o / 9 - 1},
                   distance = PetscAbs(to[0] - at[0]) + PetscAbs(to[1] - at[1]) + PetscAbs(to[2] - at[2]);

    if (!distance || (distance > 1 && !op->box) || (op->dim < 3 && to[2] != at[2])) continue;
    RowCoupling(row, to, 1 / (PetscReal)distance, IsInBox(to, op->n, op->dim));
  }
}

/* Each process has a grid of its own */
static PetscErrorCode CreateMatrix(const Kernel *k, const PetscInt n[], DM *da, Mat *A)
{
  const Operator op = {k->dim, {n[0], n[1], n[2]}, (PetscBool)(k->points > 2 * k->dim + 1)};

  PetscFunctionBeginUser;
  PetscCall(MakeDM(PETSC_COMM_SELF, k->dim, n, DM_BOUNDARY_NONE, op.box ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR, da));
  PetscCall(DMSetMatType(*da, "stencil"));
  PetscCall(DMSetUp(*da));
  PetscCall(DMCreateMatrix(*da, A));
  PetscCall(AssembleRows(*da, MakeRow, &op, *A));
  PetscFunctionReturn(0);
}

/* V-cycles with sweeps on each side of all levels; points and lines: sweeps of these levels, but the coarsest one */
#define MOST 32
typedef struct {
  KSP       ksp;
  PC        pc;
  Vec       b, x;
  PetscInt  nlevels;
  PetscReal point[MOST], line[MOST], points, lines; /* of each level, and of all */
} Cycles;

static PetscErrorCode CreateCycles(const Kernel *k, const char precision[], const PetscInt n[], PetscInt nu, Cycles *c)
{
  PetscOptions own;
  char         options[256];
  PetscInt     length = n[0];
  DM           da;
  Mat          A;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(options, sizeof(options),
                          "-mg_levels_pc_relax_type %s -mg_levels_ksp_max_it %" PetscInt_FMT " -pc_kcycle_precision %s",
                          k->smoother, nu, precision));
  PetscCall(PushOptions(options, &own));
  PetscCall(CreateMatrix(k, n, &da, &A));
  PetscCall(MatCreateVecs(A, &c->x, &c->b));
  PetscCall(VecSet(c->b, 1));
  PetscCall(MakeKSP(A, NULL, PCKCYCLE, &c->ksp, &c->pc));
  PetscCall(KSPSetFromOptions(c->ksp));
  PetscCall(KSPSetUp(c->ksp));
  PetscCall(PCMGGetLevels(c->pc, &c->nlevels));
  c->points = c->lines = 0;
  for (PetscInt l = c->nlevels - 1; l > 0; l--, length = (length + 1) / 2) {
    KSP      smoother;
    Mat      operator;
    PetscInt rows;

    PetscCall(PCMGGetSmoother(c->pc, l, &smoother));
    PetscCall(KSPGetOperators(smoother, &operator, NULL));
    PetscCall(MatGetSize(operator, & rows, NULL));
    c->point[l] = (PetscReal)rows;
    c->line[l]  = (PetscReal)rows / (PetscReal)length;
    c->points += c->point[l];
    c->lines += c->line[l];
  }
  PetscCall(DestroyAll(&A, &da));
  PetscCall(PopOptions(&own));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyCycles(Cycles *c)
{
  return DestroyAll(&c->ksp, &c->x, &c->b);
}

/* Of one cycle, the least of all rounds so far */
static PetscErrorCode TimeCycles(Cycles *c, PetscReal *least)
{
  const int number = (int)(3e5 / c->points) + 1;
  PetscReal start;

  PetscFunctionBeginUser;
  start = Seconds();
  for (int i = 0; i < number; i++) PetscCall(PCApply(c->pc, c->b, c->x));
  *least = PetscMin(*least, (Seconds() - start) / number);
  PetscFunctionReturn(0);
}

/* seconds = flops (points + half lines) / rate, on two grids */
static KCycleSpeed Fit(PetscReal flops, const Cycles *c[2], const PetscReal seconds[2])
{
  const PetscReal determinant = c[0]->points * c[1]->lines - c[1]->points * c[0]->lines;
  PetscReal       each        = (seconds[0] * c[1]->lines - seconds[1] * c[0]->lines) / determinant;
  PetscReal       line        = (c[0]->points * seconds[1] - c[1]->points * seconds[0]) / determinant;

  if (line < 0 || each <= 0) { /* noise is larger than what the length of lines does */
    line = 0;
    each = PetscMax((seconds[0] + seconds[1]) / (c[0]->points + c[1]->points), (PetscReal)1e-12);
  }
  return (KCycleSpeed){flops / each, line / each};
}

/* Of a number of its operations for each point, on all levels */
static PetscReal SpeedSeconds(const KCycleSpeed *speed, PetscReal flops, const Cycles *c)
{
  return KCycleSpeedSeconds(speed, flops, c->points, c->lines);
}

static PetscReal SweepFlops(const Kernel *k)
{
  const PetscBool chebyshev = (PetscBool)!strcmp(k->smoother, "chebyshev"),
                  lines     = (PetscBool)!strcmp(k->smoother, "alternating");

  return KCycleSweepFlops(k->points) * (PetscReal)(lines ? k->dim : chebyshev ? 2 : 1);
}

/* On grids with short and with long lines, and on a tiny one: one sweep on each side and three, in turn */
static PetscErrorCode MeasureKernel(const Kernel *k, PetscBool single, PetscInt rounds, KCycleRate *rate,
                                    PetscReal *visit)
{
  const PetscInt  sizes[2][3][3] = {{{127, 127, 1}, {511, 63, 1}, {7, 7, 1}}, {{47, 39, 39}, {159, 23, 23}, {5, 5, 5}}};
  const PetscReal sweeps = SweepFlops(k), rests = KCycleRestFlops(k->points);
  Cycles          c[3][2];
  const Cycles   *two[2] = {&c[0][0], &c[1][0]};
  PetscReal       least[3][2], sweep[3], rest[3], v = 0;

  PetscFunctionBeginUser;
  for (int i = 0; i < 6; i++) {
    PetscCall(CreateCycles(k, single ? "single" : "double", sizes[k->dim - 2][i / 2], i % 2 ? 3 : 1, &c[i / 2][i % 2]));
    least[i / 2][i % 2] = 1e30;
  }
  for (PetscInt round = 0; round < rounds; round++) {
    for (int i = 0; i < 6; i++) PetscCall(TimeCycles(&c[i / 2][i % 2], &least[i / 2][i % 2]));
  }
  for (int i = 0; i < 3; i++) sweep[i] = (least[i][1] - least[i][0]) / 4;
  rate->sweep = Fit(sweeps, two, sweep);
  for (int turn = 0; turn < 20; turn++) { /* time = 2 sweeps, the rest, and visits, on all grids */
    for (int i = 0; i < 2; i++)
      rest[i] = PetscMax(least[i][0] - 2 * sweep[i] - (PetscReal)c[i][0].nlevels * v, sweep[i] / 4);
    rate->rest = Fit(rests, two, rest);
    v          = PetscMax(0, least[2][0] - 2 * sweep[2] - SpeedSeconds(&rate->rest, rests, &c[2][0])) /
        (PetscReal)c[2][0].nlevels;
  }
  PetscCall(PetscStrncpy(rate->smoother, k->smoother, sizeof(rate->smoother)));
  rate->single = single;
  rate->dim    = k->dim;
  rate->points = k->points;
  *visit       = PetscMin(*visit, PetscMax(v, (PetscReal)1e-9));
  for (int i = 0; i < 6; i++) PetscCall(DestroyCycles(&c[i / 2][i % 2]));
  PetscFunctionReturn(0);
}

/* Of an iteration of a method without its preconditioner */
static PetscErrorCode TimeMethod(KSPType type, PetscReal apply, PetscInt rounds, Cycles *c, PetscReal *each)
{
  const PetscInt number[2] = {2, 6};
  PetscReal      least[2]  = {1e30, 1e30};

  PetscFunctionBeginUser;
  PetscCall(KSPSetType(c->ksp, type));
  PetscCall(KSPSetNormType(c->ksp, KSP_NORM_PRECONDITIONED));
  for (PetscInt round = 0; round < rounds; round++) {
    for (int i = 0; i < 2; i++) {
      PetscReal start;

      PetscCall(KSPSetTolerances(c->ksp, 0, 0, 1e30, number[i]));
      start = Seconds();
      PetscCall(KSPSolve(c->ksp, c->b, c->x));
      least[i] = PetscMin(least[i], Seconds() - start);
    }
  }
  *each =
      PetscMax(1e-12, ((least[1] - least[0]) / (PetscReal)(number[1] - number[0]) - apply) / c->point[c->nlevels - 1]);
  PetscFunctionReturn(0);
}

/* What is not hidden of the shorter times of passes, of red-black V-cycles with one sweep on each side */
static PetscReal Exposed(const Cycles *c, const KCycleRate *rate, const KCycleRoofline *r, PetscReal seconds)
{
  PetscReal longer = r->visit, shorter = 0, coarse = 1;

  for (PetscInt l = 1; l < c->nlevels; l++) {
    const PetscReal points     = c->point[l],
                    bandwidth  = 4 * points * (PetscReal)sizeof(PetscScalar) > r->cache ? r->bandwidth : r->cached,
                    operations = KCycleSpeedSeconds(&rate->sweep, KCycleSweepFlops(rate->points), points, c->line[l]) +
                                 KCycleSpeedSeconds(&rate->rest, KCycleRestFlops(rate->points) / 2, points, c->line[l]);

    longer += r->visit;
    for (int after = 0; after < 2; after++) {
      const PetscReal words = KCycleRooflineWords(1, after ? PETSC_TRUE : PETSC_FALSE, points, coarse),
                      bytes = words * (PetscReal)sizeof(PetscScalar) / bandwidth;

      longer += PetscMax(operations, bytes);
      shorter += PetscMin(operations, bytes);
    }
    coarse = points;
  }
  return PetscMax(0, seconds - longer) / shorter;
}

/* What rates in cache do not say, in 2D (0) or 3D */
static PetscErrorCode MeasureMemory(int which, PetscInt rounds, KCycleRoofline *r)
{
  const Kernel   k           = {"redblack", which + 2, 2 * which + 5};
  const PetscInt sizes[2][3] = {{2047, 2047, 1}, {159, 159, 159}}, small[2][3] = {{127, 127, 1}, {31, 31, 31}};
  KCycleRate    *rate = r->rate;

  PetscFunctionBeginUser;
  while (strcmp(rate->smoother, k.smoother) || rate->single || rate->dim != k.dim) rate++;
  for (int memory = 0; memory < 2; memory++) {
    PetscReal least = 1e30;
    Cycles    c;

    PetscCall(CreateCycles(&k, "double", memory ? sizes[which] : small[which], 1, &c));
    for (PetscInt round = 0; round < rounds; round++) PetscCall(TimeCycles(&c, &least));
    if (memory) r->exposed[which] = Exposed(&c, rate, r, least);
    PetscCall(TimeMethod(KSPCG, least, rounds, &c, &r->krylov[which][0][memory]));
    PetscCall(TimeMethod(KSPKCG, least, rounds, &c, &r->krylov[which][1][memory]));
    PetscCall(DestroyCycles(&c));
  }
  PetscFunctionReturn(0);
}

/* Bytes a second of a triad on arrays of n numbers; all processes at once */
static PetscErrorCode MeasureBandwidth(PetscInt n, PetscInt rounds, PetscReal *bandwidth)
{
  const PetscInt times = PetscMax(1, 4000000 / n);
  PetscReal     *a, *b, *c, least = 1e30;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(n, &a, n, &b, n, &c));
  for (PetscInt i = 0; i < n; i++) {
    a[i] = 0;
    b[i] = 1;
    c[i] = 2;
  }
  for (PetscInt round = 0; round <= rounds; round++) {
    PetscReal start;

    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    start = Seconds();
    for (PetscInt t = 0; t < times; t++) {
      const PetscReal s = (PetscReal)(t + 1);

      for (PetscInt i = 0; i < n; i++) a[i] = b[i] + s * c[i];
      if (a[n / 2] < 0) PetscCall(PetscPrintf(PETSC_COMM_SELF, "never\n")); /* so that it is done */
    }
    if (round) least = PetscMin(least, (Seconds() - start) / (PetscReal)times);
  }
  *bandwidth = 4 * (PetscReal)n * (PetscReal)sizeof(PetscReal) / least;
  PetscCall(PetscFree3(a, b, c));
  PetscFunctionReturn(0);
}

/* Bytes of the largest arrays that move as if they were in cache rather than in memory */
static PetscErrorCode MeasureCache(PetscInt rounds, KCycleRoofline *r)
{
  const PetscReal between = PetscSqrtReal(r->bandwidth * r->cached);

  PetscFunctionBeginUser;
  r->cache = 3 * 16000 * (PetscReal)sizeof(PetscReal);
  for (PetscInt n = 32000; n <= 4096000; n *= 2) {
    PetscReal here;

    PetscCall(MeasureBandwidth(n, rounds, &here));
    if (here < between) break;
    r->cache = 3 * (PetscReal)n * (PetscReal)sizeof(PetscReal);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Reduce(PetscInt n, PetscReal x[], MPI_Op op)
{
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, x, (PetscMPIInt)n, MPIU_REAL, op, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

/* The slowest process's */
static PetscErrorCode Agree(KCycleRoofline *r)
{
  PetscFunctionBeginUser;
  PetscCall(Reduce(1, &r->bandwidth, MPI_MIN));
  PetscCall(Reduce(1, &r->cached, MPI_MIN));
  PetscCall(Reduce(1, &r->cache, MPI_MIN));
  PetscCall(Reduce(1, &r->visit, MPI_MAX));
  PetscCall(Reduce(2, r->exposed, MPI_MAX));
  PetscCall(Reduce(8, &r->krylov[0][0][0], MPI_MAX));
  for (PetscInt i = 0; i < r->n; i++) {
    PetscCall(Reduce(1, &r->rate[i].sweep.rate, MPI_MIN));
    PetscCall(Reduce(1, &r->rate[i].sweep.half, MPI_MAX));
    PetscCall(Reduce(1, &r->rate[i].rest.rate, MPI_MIN));
    PetscCall(Reduce(1, &r->rate[i].rest.half, MPI_MAX));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Write(const char name[], const KCycleRoofline *r)
{
  FILE *file;

  PetscFunctionBeginUser;
  PetscCall(PetscFOpen(PETSC_COMM_WORLD, name, "w", &file));
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file,
                         "petsc-kcycle roofline 2\nprocesses %" PetscInt_FMT
                         "\nbandwidth %.4g cached %.4g cache %.0f\nvisit %.4g\n",
                         r->processes, (double)r->bandwidth, (double)r->cached, (double)r->cache, (double)r->visit));
  for (int i = 0; i < 2; i++)
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "dim %d exposed %.3g cg %.4g %.4g kcg %.4g %.4g\n", i + 2,
                           (double)r->exposed[i], (double)r->krylov[i][0][0], (double)r->krylov[i][0][1],
                           (double)r->krylov[i][1][0], (double)r->krylov[i][1][1]));
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "kernels %" PetscInt_FMT "\n", r->n));
  for (PetscInt i = 0; i < r->n; i++)
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file,
                           "kernel %s %s dim %" PetscInt_FMT " points %" PetscInt_FMT
                           " sweep %.4g half %.3g rest %.4g half %.3g\n",
                           r->rate[i].smoother, r->rate[i].single ? "single" : "double", r->rate[i].dim,
                           r->rate[i].points, (double)r->rate[i].sweep.rate, (double)r->rate[i].sweep.half,
                           (double)r->rate[i].rest.rate, (double)r->rate[i].rest.half));
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "end\n"));
  PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  PetscFunctionReturn(0);
}

int main(int argc, char **args)
{
  KCycleRoofline r;
  PetscInt       rounds = 9;
  PetscMPIInt    size;
  char           name[PETSC_MAX_PATH_LEN] = "roofline.txt";

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &args, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-rounds", &rounds, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-o", name, sizeof(name), NULL));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscMemzero(&r, sizeof(r)));
  r.processes = size;
  r.visit     = 1;
  PetscCall(MeasureBandwidth(8000000, rounds, &r.bandwidth));
  PetscCall(MeasureBandwidth(16000, rounds, &r.cached));
  PetscCall(MeasureCache(rounds, &r));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(Kernels); i++) {
    for (int single = 0; single < 2; single++)
      PetscCall(MeasureKernel(&Kernels[i], single ? PETSC_TRUE : PETSC_FALSE, rounds, &r.rate[r.n++], &r.visit));
  }
  for (int which = 0; which < 2; which++) PetscCall(MeasureMemory(which, rounds, &r));
  PetscCall(Agree(&r));
  PetscCall(Write(name, &r));
  PetscCall(PetscFinalize());
  return 0;
}
