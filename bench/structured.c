static char help[] = "Multigrid on structured grids: PCKCYCLE beside the solvers it competes with, all in one run.\n\
  -case constant|smooth|balls|jumps|box27|anisotropic   the coefficient, or the stencil\n\
  -dim 2|3 -n <points in each direction>\n\
  -boundary stored|interior|cells|periodic              Dirichlet (rows stored or not), Neumann cells, periodic\n\
  -contrast <ratio>                                     of the coefficient, or of the anisotropy\n\
  -solvers <a,b,...>                                    names of the table below (default: all that fit the case)\n\
  -list                                                 prints their names and ends\n\
  -repeat <3> -patience <seconds>                       a solver that took longer than this is not repeated\n\
  -processor_time                                       seconds of a processor instead of those of a clock\n\
Options of one solver carry its name with _ for -: -mg_galerkin_pc_mg_levels 4\n\n";

/*
  Diffusion, -div c grad u = f in the unit square or cube, multiplied by h^dim, so that transposed interpolation
  restricts residuals. All matrices are symmetric: rows of stored Dirichlet points are diagonal, and so are their
  columns.

  A solver is set up from scratch in each repetition, with a grid of its own; its matrix is assembled once. Set-up is
  KSPSetUp(), which for multigrid with rediscretised operators includes the assembly of coarse matrices; the assembly of
  the fine one is reported apart. Times are of the slowest process between barriers, medians of the repetitions.

  Lines printed, comma separated, the first word says of what kind:
    result, see ResultHeader[];  kernel, see KernelHeader[];  triad: processes, GB/s;  running: the solver that starts
    now
*/

#include <petscksp.h>
#include <petscdmda.h>
#include <petsctime.h>
#include <petsckcycle/private/compat.h>
#include "hypre.h"
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#if defined(__GLIBC__)
  #include <malloc.h>
  #if __GLIBC_PREREQ(2, 33)
    #define BENCH_HAVE_MALLINFO2 1
  #endif
#endif

static const char ResultHeader[] = "result,case,dim,n,boundary,procs,solver,assembly_s,setup_s,solve_s,total_s,"
                                   "iterations,residual,matrix_doubles,memory_doubles,ratio,status\n";
static const char KernelHeader[] =
    "kernel,case,dim,n,boundary,procs,solver,kernel,seconds,bytes,GB/s,fraction_of_triad\n";

enum {
  MAX_REPEAT  = 25,
  MAX_SOLVERS = 32,
  COARSEST    = 5, /* points in each direction that end the coarsening, as in PETSc's ex45 and in PCKCYCLE */
  LARGE       = 40 /* a coarsest grid with more points in each direction is not for a direct solver */
};

typedef enum {
  CASE_CONSTANT,
  CASE_SMOOTH,
  CASE_BALLS,
  CASE_JUMPS,
  CASE_BOX27,
  CASE_ANISOTROPIC
} Case;
static const char *const Cases[] = {"constant",    "smooth", "balls", "jumps", "box27",
                                    "anisotropic", "Case",   "CASE_", NULL};

typedef enum {
  BOUNDARY_STORED,
  BOUNDARY_INTERIOR,
  BOUNDARY_CELLS,
  BOUNDARY_PERIODIC
} Boundary;
static const char *const Boundaries[] = {"stored", "interior", "cells", "periodic", "Boundary", "BOUNDARY_", NULL};

typedef struct {
  Case      kind;
  Boundary  boundary;
  PetscInt  dim;
  PetscInt  n;
  PetscReal contrast;
} Problem;

/* How a solver gets its grids */
typedef enum {
  GRID_NONE, /* it sees the matrix only */
  GRID_FULL, /* coarsened by 2 in each direction */
  GRID_SEMI, /* coarsened in the strongly coupled direction until the problem is isotropic, then in each */
  GRID_FLAT  /* of MATHYPRESTRUCT, which has three dimensions only: 2D is one plane */
} GridUse;

typedef struct {
  const char       *name;
  GridUse           grid;
  PetscBool         peer;
  const char       *mat_type;
  const char       *package; /* what PETSc must have been configured with, or NULL */
  const char       *options; /* NULL: conjugate gradients and PFMG of hypre, without PETSc */
  BenchHypreSetting setting;
} Solver;

#define BOOMERAMG "-pc_type hypre -pc_hypre_type boomeramg "
#define HMIS                                                                                                        \
  "-pc_hypre_boomeramg_coarsen_type HMIS -pc_hypre_boomeramg_interp_type ext+i -pc_hypre_boomeramg_relax_type_all " \
  "l1scaled-SOR/Jacobi "

static const Solver Solvers[] = {
    {"mg", GRID_FULL, PETSC_TRUE, MATAIJ, NULL, "-pc_type mg"},
    {"mg-sor", GRID_FULL, PETSC_TRUE, MATAIJ, NULL,
     "-pc_type mg -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1 -mg_levels_pc_type sor"},
    {"mg-galerkin", GRID_FULL, PETSC_TRUE, MATAIJ, NULL, "-pc_type mg -pc_mg_galerkin both"},
    {"mg-semi", GRID_SEMI, PETSC_TRUE, MATAIJ, NULL, "-pc_type mg"},
    {"pfmg", GRID_FLAT, PETSC_TRUE, MATHYPRESTRUCT, "hypre", "-pc_type pfmg"},
    {"pfmg-redblack", GRID_FLAT, PETSC_TRUE, MATHYPRESTRUCT, "hypre",
     "-pc_type pfmg -pc_pfmg_relax_type symmetric-Red/Black-Gauss-Seidel -pc_pfmg_rap_type non-Galerkin"},
    {"pfmg-direct", GRID_NONE, PETSC_TRUE, MATAIJ, NULL, NULL, {1, 0, 0}},
    {"pfmg-direct-nongalerkin", GRID_NONE, PETSC_TRUE, MATAIJ, NULL, NULL, {1, 1, 0}},
    {"pfmg-direct-redblack", GRID_NONE, PETSC_TRUE, MATAIJ, NULL, NULL, {2, 1, 0}},
    {"pfmg-direct-skip", GRID_NONE, PETSC_TRUE, MATAIJ, NULL, NULL, {2, 1, 1}},
    {"smg", GRID_FLAT, PETSC_TRUE, MATHYPRESTRUCT, "hypre", "-pc_type smg"},
    {"boomeramg", GRID_NONE, PETSC_TRUE, MATAIJ, "hypre", BOOMERAMG},
    {"boomeramg-pmis", GRID_NONE, PETSC_TRUE, MATAIJ, "hypre",
     BOOMERAMG "-pc_hypre_boomeramg_coarsen_type PMIS -pc_hypre_boomeramg_interp_type ext+i -pc_hypre_boomeramg_agg_nl "
               "1 -pc_hypre_boomeramg_P_max 4 "
               "-pc_hypre_boomeramg_strong_threshold 0.5"},
    {"boomeramg-hmis-2d", GRID_NONE, PETSC_TRUE, MATAIJ, "hypre",
     BOOMERAMG HMIS "-pc_hypre_boomeramg_strong_threshold 0.25"},
    {"boomeramg-hmis-3d", GRID_NONE, PETSC_TRUE, MATAIJ, "hypre",
     BOOMERAMG HMIS "-pc_hypre_boomeramg_strong_threshold 0.5"},
    {"boomeramg-pmax", GRID_NONE, PETSC_TRUE, MATAIJ, "hypre",
     BOOMERAMG HMIS "-pc_hypre_boomeramg_strong_threshold 0.25 -pc_hypre_boomeramg_P_max 4"},
    {"gamg", GRID_NONE, PETSC_TRUE, MATAIJ, NULL, "-pc_type gamg"},
    {"gamg-tuned", GRID_NONE, PETSC_TRUE, MATAIJ, NULL,
     "-pc_type gamg -pc_gamg_threshold 0.02 -mg_levels_ksp_max_it 1"},
    {"kcycle", GRID_FULL, PETSC_FALSE, MATAIJ, NULL, "-pc_type kcycle"},
    {"kcycle-kcg", GRID_FULL, PETSC_FALSE, MATAIJ, NULL, "-pc_type kcycle -ksp_type kcg"},
    {"kcycle-double", GRID_FULL, PETSC_FALSE, MATAIJ, NULL, "-pc_type kcycle -pc_kcycle_precision double"},
    {"kcycle-richardson", GRID_FULL, PETSC_FALSE, MATAIJ, NULL,
     "-pc_type kcycle -ksp_type richardson -pc_kcycle_overcorrect 1.06"},
    {"kcycle-stencil", GRID_FULL, PETSC_FALSE, "stencil", NULL, "-pc_type kcycle"},
    {"kcycle-semi", GRID_SEMI, PETSC_FALSE, "stencil", NULL, "-pc_type kcycle"},
};

/* What one solver gave */
typedef struct {
  const Solver *solver;
  PetscBool     ok;
  char          status[256];
  PetscReal     assembly, setup, solve, residual;
  PetscReal     matrix, memory; /* doubles per unknown */
  PetscInt      iterations;
} Result;

/* The objects of one solver, together so that they can be destroyed after an error too */
typedef struct {
  const Problem *problem;
  const Solver  *solver;
  char           prefix[64];
  DM             da; /* grid of the matrix */
  Mat            A;
  Vec            b, x;
  KSP            ksp; /* of the last repetition */
  BenchHypre    *hypre;
  PetscInt       iterations; /* of hypre */
} Run;

/* Measuring */

/* -processor_time: for machines that others use as well */
static PetscErrorCode Now(PetscLogDouble *now)
{
  PetscBool processor;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-processor_time", &processor));
  if (processor) *now = (PetscLogDouble)clock() / CLOCKS_PER_SEC;
  else PetscCall(PetscTime(now));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Seconds between start and stop, of the slowest process; collective */
static PetscErrorCode ClockStart(PetscLogDouble *start)
{
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(Now(start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ClockStop(PetscLogDouble start, PetscReal *seconds)
{
  PetscLogDouble now;

  PetscFunctionBeginUser;
  PetscCall(Now(&now));
  *seconds = (PetscReal)(now - start);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, seconds, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes in use on all processes: what malloc() has given away, else, outside glibc, the resident memory */
static PetscErrorCode BytesInUse(PetscReal *bytes)
{
  PetscFunctionBeginUser;
#if defined(BENCH_HAVE_MALLINFO2)
  {
    struct mallinfo2 info = mallinfo2();

    *bytes = (PetscReal)info.uordblks + (PetscReal)info.hblkhd;
  }
#else
  {
    PetscLogDouble resident;

    PetscCall(PetscMemoryGetCurrentUsage(&resident));
    *bytes = (PetscReal)resident;
  }
#endif
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bytes, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Median(PetscInt n, PetscReal values[], PetscReal *median)
{
  PetscFunctionBeginUser;
  PetscCall(PetscSortReal(n, values));
  *median = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a = b + s c as STREAM counts it: 24 bytes an element. Each array is four times the last-level cache, each process
   has its part */
static PetscErrorCode Triad(PetscReal *rate)
{
  PetscMPIInt    size;
  long           cache = 0;
  size_t         n;
  double        *a, *b, *c;
  PetscReal      best = PETSC_MAX_REAL, seconds;
  PetscLogDouble start;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
#if defined(_SC_LEVEL3_CACHE_SIZE)
  cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
  if (cache < 1 << 25) cache = 1 << 25; /* virtual machines may hide it */
  n = 4 * (size_t)cache / sizeof(double) / (size_t)size;
  PetscCall(PetscMalloc3(n, &a, n, &b, n, &c));
  for (size_t i = 0; i < n; i++) {
    a[i] = 0;
    b[i] = 1;
    c[i] = 2;
  }
  for (int k = 0; k < 10; k++) {
    PetscCall(ClockStart(&start));
    for (size_t i = 0; i < n; i++) a[i] = b[i] + 3.0 * c[i];
    PetscCall(ClockStop(start, &seconds));
    best = PetscMin(best, seconds);
    b[k] = a[n - 1]; /* what is never read could be left out by the compiler */
  }
  *rate = 24.0 * (PetscReal)n * size / best;
  PetscCall(PetscFree3(a, b, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The problem */

static PetscBool ProblemIsSingular(const Problem *p)
{
  return (p->boundary == BOUNDARY_CELLS || p->boundary == BOUNDARY_PERIODIC) ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode ProblemSetFromOptions(Problem *p)
{
  PetscFunctionBeginUser;
  p->kind     = CASE_CONSTANT;
  p->boundary = BOUNDARY_STORED;
  p->dim      = 3;
  p->n        = 33;
  p->contrast = 1000;
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-case", Cases, (PetscEnum *)&p->kind, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-boundary", Boundaries, (PetscEnum *)&p->boundary, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &p->dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &p->n, NULL));
  if (p->kind == CASE_ANISOTROPIC) p->contrast = 100;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-contrast", &p->contrast, NULL));
  PetscCheck(p->dim == 2 || p->dim == 3, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-dim must be 2 or 3, not %" PetscInt_FMT, p->dim);
  PetscCheck(p->n > 2, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-n must be at least 3, not %" PetscInt_FMT, p->n);
  PetscCheck(p->contrast > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-contrast must be positive");
  PetscCheck(p->kind != CASE_BOX27 || p->boundary != BOUNDARY_CELLS, PETSC_COMM_WORLD, PETSC_ERR_SUP,
             "-case box27 has finite elements, and no cells");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Distance of neighbouring points */
static PetscReal Spacing(const Problem *p, PetscInt size)
{
  if (p->boundary == BOUNDARY_STORED) return 1.0 / (PetscReal)(size - 1);
  if (p->boundary == BOUNDARY_INTERIOR) return 1.0 / (PetscReal)(size + 1);
  return 1.0 / (PetscReal)size;
}

static PetscReal Position(const Problem *p, PetscInt size, PetscInt i)
{
  const PetscReal shift = p->boundary == BOUNDARY_STORED ? 0 : (p->boundary == BOUNDARY_INTERIOR ? 1 : 0.5);

  return ((PetscReal)i + shift) * Spacing(p, size);
}

static PetscReal Coefficient(const Problem *p, const PetscReal x[])
{
  PetscReal wave = 1, radius2 = 0;
  PetscBool inside = PETSC_TRUE;

  for (PetscInt d = 0; d < p->dim; d++) {
    const PetscReal ball = 3 * x[d] - PetscFloorReal(3 * x[d]) - 0.5; /* three balls in each direction */

    if (p->kind == CASE_SMOOTH) wave *= PetscCosReal(2 * PETSC_PI * x[d]);
    radius2 += ball * ball;
    if (x[d] < 1.0 / 3 || x[d] > 2.0 / 3) inside = PETSC_FALSE;
  }
  if (p->kind == CASE_SMOOTH) return PetscPowReal(p->contrast, (1 + wave) / 2);
  if (p->kind == CASE_BALLS) return radius2 < 0.35 * 0.35 ? p->contrast : 1;
  if (p->kind == CASE_JUMPS) return inside ? p->contrast : 1; /* the square of ex29 */
  return 1;
}

/* A grid of any level while its matrix is assembled */
typedef struct {
  const Problem *p;
  PetscInt       size[3], start[3], width[3];
  PetscReal      h[3];
  PetscReal      volume;
  PetscReal     *c; /* coefficient at owned points and one layer around them; NULL: 1 */
} Grid;

static inline PetscInt GridIndex(const Grid *g, const PetscInt at[])
{
  return (at[0] - g->start[0] + 1) +
         (g->width[0] + 2) * ((at[1] - g->start[1] + 1) + (g->width[1] + 2) * (at[2] - g->start[2] + 1));
}

static PetscErrorCode GridCreate(const Problem *p, DM da, Grid *g)
{
  PetscInt  at[3];
  PetscReal x[3];

  PetscFunctionBeginUser;
  g->p = p;
  g->c = NULL;
  PetscCall(DMDAGetInfo(da, NULL, &g->size[0], &g->size[1], &g->size[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                        NULL));
  PetscCall(DMDAGetCorners(da, &g->start[0], &g->start[1], &g->start[2], &g->width[0], &g->width[1], &g->width[2]));
  g->volume = 1;
  for (PetscInt d = 0; d < p->dim; d++) {
    g->h[d] = Spacing(p, g->size[d]);
    g->volume *= g->h[d];
  }
  if (p->kind == CASE_CONSTANT || p->kind == CASE_ANISOTROPIC || p->kind == CASE_BOX27)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1((g->width[0] + 2) * (g->width[1] + 2) * (g->width[2] + 2), &g->c));
  for (at[2] = g->start[2] - 1; at[2] <= g->start[2] + g->width[2]; at[2]++) {
    for (at[1] = g->start[1] - 1; at[1] <= g->start[1] + g->width[1]; at[1]++) {
      for (at[0] = g->start[0] - 1; at[0] <= g->start[0] + g->width[0]; at[0]++) {
        for (PetscInt d = 0; d < p->dim; d++) x[d] = Position(p, g->size[d], at[d]);
        g->c[GridIndex(g, at)] = Coefficient(p, x);
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the point a stored Dirichlet point? */
static inline PetscBool GridIsDirichlet(const Grid *g, const PetscInt at[])
{
  if (g->p->boundary != BOUNDARY_STORED) return PETSC_FALSE;
  for (PetscInt d = 0; d < g->p->dim; d++) {
    if (at[d] == 0 || at[d] == g->size[d] - 1) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

static inline PetscBool GridHas(const Grid *g, const PetscInt at[])
{
  if (g->p->boundary == BOUNDARY_PERIODIC) return PETSC_TRUE;
  for (PetscInt d = 0; d < g->p->dim; d++) {
    if (at[d] < 0 || at[d] >= g->size[d]) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

typedef struct {
  PetscInt    n;
  MatStencil  col[27];
  PetscScalar value[27];
} Row;

static inline void RowAdd(Row *row, const PetscInt at[], PetscReal value)
{
  row->col[row->n].i   = at[0];
  row->col[row->n].j   = at[1];
  row->col[row->n].k   = at[2];
  row->col[row->n].c   = 0;
  row->value[row->n++] = value;
}

/* Finite volumes: through a face flows the harmonic mean of both coefficients times the difference. The diagonal
   comes first */
static inline void RowStar(const Grid *g, const PetscInt at[], Row *row)
{
  const PetscBool dirichlet = GridIsDirichlet(g, at);
  const PetscReal here      = g->c ? g->c[GridIndex(g, at)] : 1;
  PetscReal       diagonal  = 0;

  row->n = 0;
  RowAdd(row, at, 0);
  for (PetscInt d = 0; d < g->p->dim; d++) {
    const PetscReal strength =
        g->volume / (g->h[d] * g->h[d]) * (g->p->kind == CASE_ANISOTROPIC && d == g->p->dim - 1 ? g->p->contrast : 1);

    for (PetscInt side = -1; side <= 1; side += 2) {
      PetscInt  to[3] = {at[0], at[1], at[2]};
      PetscReal there, coupling = strength;

      to[d] += side;
      if (g->p->boundary == BOUNDARY_CELLS && !GridHas(g, to)) continue;
      if (g->c) {
        there = g->c[GridIndex(g, to)];
        coupling *= 2 * here * there / (here + there);
      }
      diagonal += coupling;
      if (dirichlet || !GridHas(g, to) || GridIsDirichlet(g, to)) continue;
      RowAdd(row, to, -coupling);
    }
  }
  row->value[0] = diagonal;
}

/* Trilinear (2D: bilinear) finite elements: a sum over directions of products of (-1, 2, -1) / h and h (1, 4, 1) / 6 */
static inline void RowBox(const Grid *g, const PetscInt at[], Row *row)
{
  const PetscInt  dim       = g->p->dim;
  const PetscBool dirichlet = GridIsDirichlet(g, at);
  PetscInt        o[3];

  row->n = 0;
  for (o[2] = dim > 2 ? -1 : 0; o[2] <= (dim > 2 ? 1 : 0); o[2]++) {
    for (o[1] = -1; o[1] <= 1; o[1]++) {
      for (o[0] = -1; o[0] <= 1; o[0]++) {
        const PetscInt  to[3]  = {at[0] + o[0], at[1] + o[1], at[2] + o[2]};
        const PetscBool centre = (o[0] || o[1] || o[2]) ? PETSC_FALSE : PETSC_TRUE;
        PetscReal       value  = 0;

        if (!centre && (dirichlet || !GridHas(g, to) || GridIsDirichlet(g, to))) continue;
        for (PetscInt d = 0; d < dim; d++) {
          PetscReal product = (o[d] ? -1 : 2) / g->h[d];

          for (PetscInt e = 0; e < dim; e++) {
            if (e != d) product *= g->h[e] * (o[e] ? 1 : 4) / 6;
          }
          value += product;
        }
        RowAdd(row, to, value);
      }
    }
  }
}

static PetscErrorCode ProblemAssemble(const Problem *p, DM da, Mat A)
{
  Grid       g;
  Row        row;
  MatStencil r;
  PetscInt   at[3];

  PetscFunctionBeginUser;
  PetscCall(GridCreate(p, da, &g));
  r.c = 0;
  for (at[2] = g.start[2]; at[2] < g.start[2] + g.width[2]; at[2]++) {
    for (at[1] = g.start[1]; at[1] < g.start[1] + g.width[1]; at[1]++) {
      for (at[0] = g.start[0]; at[0] < g.start[0] + g.width[0]; at[0]++) {
        if (p->kind == CASE_BOX27) RowBox(&g, at, &row);
        else RowStar(&g, at, &row);
        r.i = at[0];
        r.j = at[1];
        r.k = at[2];
        PetscCall(MatSetValuesStencil(A, 1, &r, row.n, row.col, row.value, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree(g.c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For DMKSPSetComputeOperators(): a coarse operator, rediscretised */
static PetscErrorCode ComputeOperators(KSP ksp, Mat J, Mat A, void *problem)
{
  DM da;

  PetscFunctionBeginUser;
  (void)J;
  PetscCall(KSPGetDM(ksp, &da));
  PetscCall(ProblemAssemble((const Problem *)problem, da, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProblemCreateMatrix(const Problem *p, DM da, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(da, A));
  PetscCall(ProblemAssemble(p, da, *A));
  PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  if (ProblemIsSingular(p)) {
    MatNullSpace constants;

    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
    PetscCall(MatSetNullSpace(*A, constants));
    PetscCall(MatNullSpaceDestroy(&constants));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smooth and rough, the same for each number of processes: 1 plus a hash of the point's index, in [-1, 1] */
static PetscErrorCode ProblemFillRightSide(const Problem *p, DM da, Vec b)
{
  Grid         g;
  PetscInt     at[3], m = 0;
  PetscScalar *value;

  PetscFunctionBeginUser;
  PetscCall(GridCreate(p, da, &g));
  PetscCall(VecGetArrayWrite(b, &value));
  for (at[2] = g.start[2]; at[2] < g.start[2] + g.width[2]; at[2]++) {
    for (at[1] = g.start[1]; at[1] < g.start[1] + g.width[1]; at[1]++) {
      for (at[0] = g.start[0]; at[0] < g.start[0] + g.width[0]; at[0]++) {
        const PetscInt64 index = at[0] + g.size[0] * (at[1] + (PetscInt64)g.size[1] * at[2]);
        const PetscReal  hash  = (PetscReal)((index + 1) * 40503 % 65536) / 32768 - 1;

        value[m++] = GridIsDirichlet(&g, at) ? 0 : g.volume * (1 + hash);
      }
    }
  }
  PetscCall(VecRestoreArrayWrite(b, &value));
  PetscCall(PetscFree(g.c));
  if (ProblemIsSingular(p)) {
    PetscScalar sum;
    PetscInt    size;

    PetscCall(VecSum(b, &sum));
    PetscCall(VecGetSize(b, &size));
    PetscCall(VecShift(b, -sum / (PetscReal)size));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Grids and solvers */

/* Points on the next coarser grid, or 0 */
static PetscInt Coarser(const Problem *p, PetscInt size)
{
  const PetscBool cells = ProblemIsSingular(p);

  if (size <= COARSEST) return 0;
  if (cells) return size % 2 ? 0 : size / 2;
  return (size - 1) % 2 ? 0 : (size - 1) / 2 + 1;
}

/* The factors of semi-coarsening, the finest last, as -da_refine_hierarchy_... wants them, and the coarsest sizes */
static PetscErrorCode SemiFactors(const Problem *p, PetscInt *nlevels, PetscInt size[], PetscInt factor[][32])
{
  PetscReal strength = p->contrast; /* of the last direction, relative to the others */
  PetscInt  n        = 0, reversed[3][32];

  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < 3; d++) size[d] = d < p->dim ? p->n : 1;
  for (; n < 31; n++) {
    const PetscBool alone = (strength > 2 && Coarser(p, size[p->dim - 1])) ? PETSC_TRUE : PETSC_FALSE;
    PetscBool       any   = PETSC_FALSE;

    for (PetscInt d = 0; d < p->dim; d++) {
      const PetscInt coarser = alone && d < p->dim - 1 ? 0 : Coarser(p, size[d]);

      reversed[d][n] = coarser ? 2 : 1;
      if (!coarser) continue;
      size[d] = coarser;
      any     = PETSC_TRUE;
    }
    if (alone) strength /= 4;
    if (!any) break;
  }
  *nlevels = n + 1;
  for (PetscInt d = 0; d < p->dim; d++) {
    for (PetscInt k = 0; k < n; k++) factor[d][k] = reversed[d][n - 1 - k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateDMDA(const Run *run, const PetscInt size[], MatType mat_type, DM *da)
{
  const Problem       *p      = run->problem;
  const PetscInt       dim    = run->solver->grid == GRID_FLAT ? 3 : p->dim;
  const DMBoundaryType b      = p->boundary == BOUNDARY_PERIODIC ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  const PetscBool      box    = p->kind == CASE_BOX27 ? PETSC_TRUE : PETSC_FALSE;
  const DMBoundaryType b_last = p->dim < 3 ? DM_BOUNDARY_NONE : b;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate(PETSC_COMM_WORLD, da));
  PetscCall(DMSetOptionsPrefix(*da, run->prefix));
  PetscCall(DMSetDimension(*da, dim));
  PetscCall(DMDASetSizes(*da, size[0], size[1], size[2]));
  PetscCall(DMDASetBoundaryType(*da, b, b, b_last));
  PetscCall(DMDASetDof(*da, 1));
  PetscCall(DMDASetStencilType(*da, box ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR));
  PetscCall(DMDASetStencilWidth(*da, 1));
  if (p->boundary == BOUNDARY_CELLS) PetscCall(DMDASetInterpolationType(*da, DMDA_Q0));
  PetscCall(DMSetMatType(*da, mat_type));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A DMDA remembers the factors of semi-coarsening only if it was refined, so the finest grid is made from the
   coarsest */
static PetscErrorCode CreateSemiGrid(const Run *run, DM *da)
{
  PetscInt nlevels, size[3], factor[3][32];

  PetscFunctionBeginUser;
  PetscCall(SemiFactors(run->problem, &nlevels, size, factor));
  for (PetscInt d = 0; d < run->problem->dim; d++) {
    char name[128], text[128] = "";

    for (PetscInt k = 0; k < nlevels - 1; k++)
      PetscCall(PetscStrlcat(text, factor[d][k] == 2 ? (k ? ",2" : "2") : (k ? ",1" : "1"), sizeof(text)));
    PetscCall(PetscSNPrintf(name, sizeof(name), "-%sda_refine_hierarchy_%c", run->prefix, (char)('x' + d)));
    PetscCall(PetscOptionsSetValue(NULL, name, text));
  }
  PetscCall(CreateDMDA(run, size, run->solver->mat_type, da));
  for (PetscInt k = 0; k < nlevels - 1; k++) {
    DM fine;

    PetscCall(DMRefine(*da, PETSC_COMM_WORLD, &fine));
    PetscCall(DMDestroy(da));
    *da = fine;
  }
  PetscCall(DMSetMatType(*da, run->solver->mat_type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A new grid each time: a DM remembers its coarse grids, and a set-up from scratch must make them */
static PetscErrorCode CreateGrid(const Run *run, DM *da)
{
  const PetscInt n = run->problem->n, size[3] = {n, n, run->problem->dim > 2 ? n : 1};

  PetscFunctionBeginUser;
  if (run->solver->grid == GRID_SEMI) PetscCall(CreateSemiGrid(run, da));
  else PetscCall(CreateDMDA(run, size, run->solver->mat_type, da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCMG does not choose its number of levels; PCKCYCLE does */
static PetscErrorCode SetLevels(const Run *run)
{
  char      name[128], value[16];
  PetscInt  nlevels = 1, size = run->problem->n, sizes[3], factor[3][32];
  PetscBool given;

  PetscFunctionBeginUser;
  if (run->solver->grid == GRID_SEMI) {
    PetscCall(SemiFactors(run->problem, &nlevels, sizes, factor));
    size = sizes[0];
  } else {
    for (PetscInt next = Coarser(run->problem, size); next; next = Coarser(run->problem, size)) {
      size = next;
      nlevels++;
    }
  }
  PetscCheck(size <= LARGE, PETSC_COMM_WORLD, PETSC_ERR_SUP,
             "the grid coarsens to %" PetscInt_FMT " points in each direction only", size);
  PetscCall(PetscSNPrintf(name, sizeof(name), "-%spc_mg_levels", run->prefix));
  PetscCall(PetscOptionsHasName(NULL, NULL, name, &given));
  if (given) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(value, sizeof(value), "%" PetscInt_FMT, nlevels));
  PetscCall(PetscOptionsSetValue(NULL, name, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The grid goes to the PC and not to the KSP, which would assemble the fine matrix once more */
static PetscErrorCode CreateKSP(const Run *run, PetscReal rtol, KSP *ksp)
{
  PC pc;
  DM da;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, run->prefix));
  PetscCall(KSPSetOperators(*ksp, run->A, run->A));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(*ksp, rtol, PETSC_CURRENT, PETSC_CURRENT, 500));
  PetscCall(KSPGetPC(*ksp, &pc));
  if (run->solver->grid == GRID_FULL || run->solver->grid == GRID_SEMI) {
    PetscCall(CreateGrid(run, &da));
    PetscCall(DMKSPSetComputeOperators(da, ComputeOperators, (void *)run->problem));
    PetscCall(PCSetDM(pc, da));
    PetscCall(DMDestroy(&da));
  }
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |b - A x| / |b| with a matrix of PETSc's own, whatever the solver's matrix type computes */
static PetscErrorCode TrueResidual(const Run *run, PetscReal *residual)
{
  Mat       A;
  Vec       r;
  DM        da;
  PetscBool aij;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)run->A, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  if (aij) {
    PetscCall(PetscObjectReference((PetscObject)run->A));
    A = run->A;
  } else {
    PetscCall(CreateGrid(run, &da));
    PetscCall(DMSetMatType(da, MATAIJ));
    PetscCall(ProblemCreateMatrix(run->problem, da, &A));
    PetscCall(DMDestroy(&da));
  }
  PetscCall(VecDuplicate(run->b, &r));
  PetscCall(MatResidual(A, run->b, run->x, r));
  PetscCall(VecNorm(r, NORM_2, residual));
  PetscCall(VecNorm(run->b, NORM_2, &norm));
  *residual /= norm;
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solver's options under its prefix; those of the command line come last and so win */
static PetscErrorCode InsertOptions(Run *run, int *argc, char ***args)
{
  PetscBool mg;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(run->prefix, sizeof(run->prefix), "%s_", run->solver->name));
  for (char *c = run->prefix; *c; c++) {
    if (*c == '-') *c = '_';
  }
  PetscCall(PetscOptionsPrefixPush(NULL, run->prefix));
  if (run->solver->options) PetscCall(PetscOptionsInsertString(NULL, run->solver->options));
  PetscCall(PetscOptionsPrefixPop(NULL));
  PetscCall(PetscOptionsInsert(NULL, argc, args, NULL));
  PetscCall(PetscStrbeginswith(run->solver->name, "mg", &mg));
  if (mg) PetscCall(SetLevels(run));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* hypre without PETSc */

/* What a process has of its grid: all points but stored Dirichlet points */
static void HypreBox(const Grid *g, int low[], int high[])
{
  for (PetscInt d = 0; d < 3; d++) {
    const PetscInt stored = d < g->p->dim && g->p->boundary == BOUNDARY_STORED;

    low[d]  = (int)PetscMax(g->start[d], stored);
    high[d] = (int)PetscMin(g->start[d] + g->width[d], g->size[d] - stored) - 1;
  }
}

/* Couplings with the neighbours before a point, and the diagonal */
static void HypreRow(const Grid *g, const PetscInt at[], double values[])
{
  Row row;

  RowStar(g, at, &row);
  for (PetscInt d = 0; d < g->p->dim; d++) values[d] = 0;
  values[g->p->dim] = (double)PetscRealPart(row.value[0]);
  for (PetscInt e = 1; e < row.n; e++) {
    const PetscInt away[3] = {row.col[e].i - at[0], row.col[e].j - at[1], row.col[e].k - at[2]};

    for (PetscInt d = 0; d < g->p->dim; d++) {
      if (away[d] < 0) values[d] = (double)PetscRealPart(row.value[e]);
    }
  }
}

/* Copies between a vector of the DMDA and the box, in the order of both */
static PetscErrorCode HypreCopy(const Grid *g, Vec v, double box[], PetscBool back)
{
  int          low[3], high[3];
  PetscScalar *a;

  PetscFunctionBeginUser;
  HypreBox(g, low, high);
  PetscCall(VecGetArray(v, &a));
  for (int k = low[2]; k <= high[2]; k++) {
    for (int j = low[1]; j <= high[1]; j++) {
      PetscScalar *line = a + g->width[0] * ((j - g->start[1]) + g->width[1] * (k - g->start[2])) - g->start[0];

      for (int i = low[0]; i <= high[0]; i++, box++) {
        if (back) line[i] = *box;
        else *box = (double)PetscRealPart(line[i]);
      }
    }
  }
  PetscCall(VecRestoreArray(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With constant coefficients where they are: each point but those that were left out has the same row */
static PetscErrorCode HypreCreate(Run *run, Result *result)
{
  const Problem  *p = run->problem;
  const PetscBool constant =
      (PetscBool)((p->kind == CASE_CONSTANT || p->kind == CASE_ANISOTROPIC) && p->boundary != BOUNDARY_CELLS);
  int            low[3], high[3], m = 0;
  PetscInt       at[3];
  double        *values, *b;
  PetscReal      before, after;
  PetscLogDouble start;
  Grid           g;

  PetscFunctionBeginUser;
  PetscCheck(p->kind != CASE_BOX27 && p->boundary != BOUNDARY_PERIODIC, PETSC_COMM_WORLD, PETSC_ERR_SUP,
             "not for box stencils and periodic grids");
  PetscCall(BytesInUse(&before));
  PetscCall(ClockStart(&start));
  PetscCall(GridCreate(p, run->da, &g));
  HypreBox(&g, low, high);
  PetscCall(PetscMalloc2((p->dim + 1) * g.width[0] * g.width[1] * g.width[2], &values,
                         g.width[0] * g.width[1] * g.width[2], &b));
  for (at[2] = low[2]; at[2] <= high[2]; at[2]++) {
    for (at[1] = low[1]; at[1] <= high[1]; at[1]++) {
      for (at[0] = low[0]; at[0] <= high[0] && !(constant && m); at[0]++) HypreRow(&g, at, values + (p->dim + 1) * m++);
    }
  }
  for (PetscInt d = 0; constant && d < p->dim; d++)
    values[d] =
        -(double)(g.volume / (g.h[d] * g.h[d]) * (p->kind == CASE_ANISOTROPIC && d == p->dim - 1 ? p->contrast : 1));
  PetscCall(HypreCopy(&g, run->b, b, PETSC_FALSE));
  PetscCheck(!BenchHypreCreate(PETSC_COMM_WORLD, (int)p->dim, low, high, constant, values, b, &run->hypre),
             PETSC_COMM_SELF, PETSC_ERR_LIB, "hypre makes no matrix");
  PetscCall(PetscFree2(values, b));
  PetscCall(PetscFree(g.c));
  PetscCall(ClockStop(start, &result->assembly));
  PetscCall(BytesInUse(&after));
  result->matrix = after - before; /* with two vectors, as others have them */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HypreRunOnce(Run *run, PetscReal rtol, PetscReal *setup, PetscReal *solve, PetscReal *bytes)
{
  PetscReal      before;
  PetscLogDouble start;
  int            its = 0;

  PetscFunctionBeginUser;
  PetscCall(BytesInUse(&before));
  PetscCall(ClockStart(&start));
  PetscCheck(!BenchHypreSetUp(run->hypre, run->solver->setting, (double)rtol), PETSC_COMM_SELF, PETSC_ERR_LIB,
             "hypre's set-up fails");
  PetscCall(ClockStop(start, setup));
  PetscCall(ClockStart(&start));
  PetscCheck(!BenchHypreSolve(run->hypre, &its), PETSC_COMM_SELF, PETSC_ERR_LIB, "hypre does not converge");
  PetscCall(ClockStop(start, solve));
  PetscCall(BytesInUse(bytes));
  *bytes -= before;
  run->iterations = its;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HypreGetSolution(Run *run)
{
  Grid    g;
  double *x;

  PetscFunctionBeginUser;
  PetscCall(GridCreate(run->problem, run->da, &g));
  PetscCall(PetscMalloc1(g.width[0] * g.width[1] * g.width[2], &x));
  PetscCheck(!BenchHypreGetSolution(run->hypre, x), PETSC_COMM_SELF, PETSC_ERR_LIB, "hypre has no solution");
  PetscCall(VecSet(run->x, 0)); /* the right side is zero at stored Dirichlet points */
  PetscCall(HypreCopy(&g, run->x, x, PETSC_TRUE));
  PetscCall(PetscFree(x));
  PetscCall(PetscFree(g.c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assembles the matrix, once, and makes the vectors */
static PetscErrorCode RunCreate(Run *run, Result *result)
{
  PetscReal      before, after;
  PetscInt       size;
  PetscLogDouble start;

  PetscFunctionBeginUser;
  PetscCall(CreateGrid(run, &run->da));
  PetscCall(DMCreateGlobalVector(run->da, &run->b));
  PetscCall(VecDuplicate(run->b, &run->x));
  PetscCall(ProblemFillRightSide(run->problem, run->da, run->b));
  PetscCall(BytesInUse(&before));
  PetscCall(ClockStart(&start));
  PetscCall(ProblemCreateMatrix(run->problem, run->da, &run->A));
  PetscCall(ClockStop(start, &result->assembly));
  PetscCall(BytesInUse(&after));
  PetscCall(VecGetSize(run->b, &size));
  result->matrix = after - before;
  if (!run->solver->options) PetscCall(HypreCreate(run, result));
  result->matrix /= (PetscReal)sizeof(double) * (PetscReal)size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One set-up and one solve. Memory is what they leave in use, the grid excepted, in the first repetition: later ones
   find buffers that libraries keep */
static PetscErrorCode RunOnce(Run *run, PetscReal rtol, PetscReal *setup, PetscReal *solve, PetscReal *bytes)
{
  PetscReal      before;
  PetscLogDouble start;

  PetscFunctionBeginUser;
  if (run->hypre) {
    PetscCall(HypreRunOnce(run, rtol, setup, solve, bytes));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KSPDestroy(&run->ksp));
  PetscCall(CreateKSP(run, rtol, &run->ksp));
  PetscCall(VecSet(run->x, 0));
  PetscCall(BytesInUse(&before));
  PetscCall(ClockStart(&start));
  PetscCall(KSPSetUp(run->ksp));
  PetscCall(ClockStop(start, setup));
  PetscCall(ClockStart(&start));
  PetscCall(KSPSolve(run->ksp, run->b, run->x));
  PetscCall(ClockStop(start, solve));
  PetscCall(BytesInUse(bytes));
  *bytes -= before;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunRepeated(Run *run, PetscInt repeat, PetscReal patience, PetscReal rtol, Result *result)
{
  PetscReal          setup[MAX_REPEAT], solve[MAX_REPEAT], bytes;
  PetscInt           n      = 0, size;
  KSPConvergedReason reason = KSP_CONVERGED_RTOL;

  PetscFunctionBeginUser;
  do {
    PetscCall(RunOnce(run, rtol, &setup[n], &solve[n], &bytes));
    if (n == 0) {
      PetscCall(VecGetSize(run->b, &size));
      result->memory = result->matrix + bytes / (PetscReal)sizeof(double) / (PetscReal)size;
    }
    n++;
  } while (n < repeat && setup[n - 1] + solve[n - 1] < patience);
  PetscCall(Median(n, setup, &result->setup));
  PetscCall(Median(n, solve, &result->solve));
  if (run->hypre) {
    PetscCall(HypreGetSolution(run));
    result->iterations = run->iterations;
  } else {
    PetscCall(KSPGetIterationNumber(run->ksp, &result->iterations));
    PetscCall(KSPGetConvergedReason(run->ksp, &reason));
  }
  PetscCall(TrueResidual(run, &result->residual));
  result->ok = (reason > 0 && result->residual <= 2 * rtol) ? PETSC_TRUE : PETSC_FALSE; /* not so for NaN */
  if (result->ok) PetscCall(PetscSNPrintf(result->status, sizeof(result->status), "ok"));
  else
    PetscCall(PetscSNPrintf(result->status, sizeof(result->status), "FAILED: %s with residual %.1e",
                            KSPConvergedReasons[reason], (double)result->residual));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunDestroy(Run *run)
{
  PetscFunctionBeginUser;
  PetscCheck(!BenchHypreDestroy(&run->hypre), PETSC_COMM_SELF, PETSC_ERR_LIB, "hypre cannot free its objects");
  PetscCall(KSPDestroy(&run->ksp));
  PetscCall(MatDestroy(&run->A));
  PetscCall(VecDestroy(&run->b));
  PetscCall(VecDestroy(&run->x));
  PetscCall(DMDestroy(&run->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Kernels of a multigrid cycle on the finest level */

/*
  Bytes that a product with the matrix must read. AIJ: its values and indices. Matrices without entries of their own
  (MatGetInfo() knows none in AIJ's sense): the memory they report, that is the coefficient arrays.
*/
static PetscErrorCode MatrixBytes(Mat A, PetscReal *bytes)
{
  MatInfo   info;
  PetscBool aij;
  PetscInt  rows;

  PetscFunctionBeginUser;
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCall(MatGetSize(A, &rows, NULL));
  *bytes = aij ? (PetscReal)info.nz_used * (sizeof(PetscScalar) + sizeof(PetscInt)) + (PetscReal)rows * sizeof(PetscInt)
               : (PetscReal)info.memory;
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  KSP smoother;
  Mat A, interpolation, restriction;
  Vec b, x, r, coarse;
} Finest;

typedef PetscErrorCode (*Kernel)(Finest *);

static PetscErrorCode KernelSweep(Finest *f)
{
  PetscFunctionBeginUser;
  PetscCall(KSPSolve(f->smoother, f->b, f->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KernelRestrict(Finest *f)
{
  PetscFunctionBeginUser;
  PetscCall(MatResidual(f->A, f->b, f->x, f->r));
  PetscCall(MatRestrict(f->restriction, f->r, f->coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KernelInterpolate(Finest *f)
{
  PetscFunctionBeginUser;
  PetscCall(MatInterpolateAdd(f->interpolation, f->coarse, f->x, f->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Best of as many calls as fit into half a second, as STREAM takes the best */
static PetscErrorCode KernelTime(Kernel kernel, Finest *f, PetscReal *best)
{
  PetscReal      spent = 0, seconds;
  PetscLogDouble start;

  PetscFunctionBeginUser;
  *best = PETSC_MAX_REAL;
  for (PetscInt k = 0; k < 3 || (k < 100 && spent < 0.5); k++) {
    PetscCall(ClockStart(&start));
    PetscCall(kernel(f));
    PetscCall(ClockStop(start, &seconds));
    *best = PetscMin(*best, seconds);
    spent += seconds;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KernelPrint(const Run *run, const char name[], PetscReal seconds, PetscReal bytes,
                                  PetscReal triad)
{
  const Problem *p = run->problem;
  PetscMPIInt    size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "kernel,%s,%" PetscInt_FMT ",%" PetscInt_FMT ",%s,%d,%s,%s,%.3e,%.4e,%.2f,%.3f\n",
                  Cases[p->kind], p->dim, p->n, Boundaries[p->boundary], size, run->solver->name, name, (double)seconds,
                  (double)bytes, (double)(bytes / seconds * 1e-9), (double)(bytes / seconds / triad)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Words counted are those that a perfect kernel moves between memory and cache, each once; the residual r is none of
  them, because it can be restricted while it is in cache:
    a sweep                   reads b, reads and writes x            3 for each point        + the matrix
    residual and restriction  reads b and x, writes the coarse b     2 + 1 for a coarse one  + matrix and restriction
    interpolation             reads the coarse x, reads and writes x 2 + 1 for a coarse one  + the interpolation
  A smoother of several sweeps is timed as a whole and divided by their number.
*/
static PetscErrorCode KernelsMeasure(const Run *run, Finest *f, PetscReal triad)
{
  PetscReal matrix, restriction, interpolation, seconds;
  PetscInt  n, coarse, sweeps;

  PetscFunctionBeginUser;
  PetscCall(VecGetSize(f->x, &n));
  PetscCall(VecGetSize(f->coarse, &coarse));
  PetscCall(MatrixBytes(f->A, &matrix));
  PetscCall(MatrixBytes(f->restriction, &restriction));
  PetscCall(MatrixBytes(f->interpolation, &interpolation));
  PetscCall(KSPGetTolerances(f->smoother, NULL, NULL, NULL, &sweeps));
  PetscCall(KSPSetInitialGuessNonzero(f->smoother, PETSC_TRUE));
  PetscCall(KernelTime(KernelSweep, f, &seconds));
  PetscCall(KernelPrint(run, "sweep", seconds / (PetscReal)sweeps, 8 * (3 * (PetscReal)n) + matrix, triad));
  PetscCall(KernelTime(KernelRestrict, f, &seconds));
  PetscCall(KernelPrint(run, "residual+restriction", seconds,
                        8 * (2 * (PetscReal)n + (PetscReal)coarse) + matrix + restriction, triad));
  PetscCall(VecSet(f->coarse, 1e-3)); /* added again and again */
  PetscCall(KernelTime(KernelInterpolate, f, &seconds));
  PetscCall(
      KernelPrint(run, "interpolation", seconds, 8 * (2 * (PetscReal)n + (PetscReal)coarse) + interpolation, triad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Only for PCMG and its heirs; the last repetition's solver is used up by it */
static PetscErrorCode Kernels(const Run *run, PetscReal triad)
{
  Finest    f;
  PC        pc;
  PetscInt  nlevels;
  PetscBool multigrid;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(run->ksp, &pc));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &multigrid, PCMG, "kcycle", ""));
  if (!multigrid) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCMGGetLevels(pc, &nlevels));
  if (nlevels < 2) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCMGGetSmoother(pc, nlevels - 1, &f.smoother));
  PetscCall(KSPGetOperators(f.smoother, &f.A, NULL));
  PetscCall(PCMGGetInterpolation(pc, nlevels - 1, &f.interpolation));
  PetscCall(PCMGGetRestriction(pc, nlevels - 1, &f.restriction));
  PetscCall(VecDuplicate(run->b, &f.b));
  PetscCall(VecCopy(run->b, f.b));
  PetscCall(VecDuplicate(run->x, &f.x));
  PetscCall(VecDuplicate(run->x, &f.r));
  PetscCall(VecCopy(run->x, f.x));
  PetscCall(MatCreateVecs(f.interpolation, &f.coarse, NULL));
  PetscCall(KernelsMeasure(run, &f, triad));
  PetscCall(VecDestroy(&f.b));
  PetscCall(VecDestroy(&f.x));
  PetscCall(VecDestroy(&f.r));
  PetscCall(VecDestroy(&f.coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All solvers of a run */

typedef struct {
  PetscInt  repeat;
  PetscReal patience, rtol, triad;
} Protocol;

/* An error handler that keeps the first message of an error, fit for one field of a CSV line, and lets the error
   climb */
static PetscErrorCode KeepMessage(MPI_Comm comm, int line, const char function[], const char file[],
                                  PetscErrorCode error, PetscErrorType type, const char message[], void *ctx)
{
  Result *result = (Result *)ctx;

  (void)comm;
  (void)line;
  (void)function;
  (void)file;
  result->ok = PETSC_FALSE;
  if (type != PETSC_ERROR_INITIAL) return error;
  snprintf(result->status, sizeof(result->status), "error %d: %s", (int)error, message ? message : "");
  for (char *c = result->status; *c; c++) {
    if (*c == ',') *c = ';';
    if (*c == '\n' || *c == '"') *c = ' ';
  }
  return error;
}

static PetscErrorCode SolverMeasure(Run *run, const Protocol *protocol, int *argc, char ***args, Result *result)
{
  PetscFunctionBeginUser;
  PetscCall(InsertOptions(run, argc, args));
  PetscCall(RunCreate(run, result));
  PetscCall(RunRepeated(run, protocol->repeat, protocol->patience, protocol->rtol, result));
  if (result->ok && run->ksp) PetscCall(Kernels(run, protocol->triad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An error of a solver is a result and does not end the run. What the solver has left in memory is lost then */
static PetscErrorCode SolverRun(const Problem *problem, const Solver *solver, const Protocol *protocol, int *argc,
                                char ***args, Result *result)
{
  Run            run;
  Result         unread;
  PetscBool      has = PETSC_TRUE;
  PetscErrorCode error, error_destroy;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(&run, sizeof(run)));
  PetscCall(PetscMemzero(result, sizeof(*result)));
  run.problem = problem;
  run.solver = result->solver = solver;
  if (solver->package) PetscCall(PetscHasExternalPackage(solver->package, &has));
  if (!solver->options && !BenchHypreExists()) {
    PetscCall(PetscSNPrintf(result->status, sizeof(result->status), "skipped: no headers of hypre"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!has) {
    PetscCall(PetscSNPrintf(result->status, sizeof(result->status), "skipped: this PETSc has no %s", solver->package));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (solver->grid == GRID_FLAT && problem->kind == CASE_BOX27) {
    PetscCall(
        PetscSNPrintf(result->status, sizeof(result->status), "skipped: %s has no box stencils", solver->mat_type));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "running,%s\n", solver->name));
  PetscCall(PetscPushErrorHandler(KeepMessage, result));
  error = SolverMeasure(&run, protocol, argc, args, result);
  PetscCall(PetscPopErrorHandler());
  PetscCall(PetscPushErrorHandler(KeepMessage, &unread)); /* what is half made may not be destroyed without errors */
  error_destroy = RunDestroy(&run);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(error || !error_destroy, PETSC_COMM_WORLD, error_destroy, "%s cannot be destroyed", solver->name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintResults(const Problem *p, PetscInt n, const Result results[])
{
  PetscReal   best = PETSC_MAX_REAL;
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (PetscInt i = 0; i < n; i++) {
    if (results[i].ok && results[i].solver->peer) best = PetscMin(best, results[i].setup + results[i].solve);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s", ResultHeader));
  for (PetscInt i = 0; i < n; i++) {
    const Result   *r     = &results[i];
    const PetscReal total = r->setup + r->solve;

    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "result,%s,%" PetscInt_FMT ",%" PetscInt_FMT ",%s,%d,%s,", Cases[p->kind],
                          p->dim, p->n, Boundaries[p->boundary], size, r->solver->name));
    if (r->ok) {
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%.4f,%.4f,%.4f,%.4f,%" PetscInt_FMT ",%.1e,%.1f,%.1f,",
                            (double)r->assembly, (double)r->setup, (double)r->solve, (double)total, r->iterations,
                            (double)r->residual, (double)r->matrix, (double)r->memory));
      if (best < PETSC_MAX_REAL) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%.2f", (double)(best / total)));
    } else PetscCall(PetscPrintf(PETSC_COMM_WORLD, ",,,,,,,,"));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, ",%s\n", r->status));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solvers named by -solvers, else all; semi-coarsening is for the anisotropic case */
static PetscErrorCode ChooseSolvers(const Problem *p, PetscInt *n, const Solver *chosen[])
{
  const PetscInt known = (PetscInt)PETSC_STATIC_ARRAY_LENGTH(Solvers);
  char          *names[MAX_SOLVERS];
  PetscInt       nnames = MAX_SOLVERS;
  PetscBool      given, same;

  PetscFunctionBeginUser;
  *n = 0;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-solvers", names, &nnames, &given));
  if (!given) {
    for (PetscInt i = 0; i < known; i++) {
      if (Solvers[i].grid != GRID_SEMI || p->kind == CASE_ANISOTROPIC) chosen[(*n)++] = &Solvers[i];
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt k = 0; k < nnames; k++) {
    PetscInt i = 0;

    for (same = PETSC_FALSE; i < known; i++) {
      PetscCall(PetscStrcmp(names[k], Solvers[i].name, &same));
      if (same) break;
    }
    PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG, "no solver is called %s", names[k]);
    chosen[(*n)++] = &Solvers[i];
    PetscCall(PetscFree(names[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintNames(PetscInt n, const Solver *const chosen[])
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n; i++) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solver,%s\n", chosen[i]->name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintTriad(PetscReal triad)
{
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "triad,%d,%.2f\n%s", size, (double)(triad * 1e-9), KernelHeader));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Benchmark(const Problem *problem, PetscInt n, const Solver *const chosen[], int *argc,
                                char ***args)
{
  Protocol protocol = {3, 20, 1e-8, 0};
  Result   results[MAX_SOLVERS];

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &protocol.repeat, NULL));
  protocol.repeat = PetscMax(1, PetscMin(protocol.repeat, MAX_REPEAT));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-patience", &protocol.patience, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-rtol", &protocol.rtol, NULL));
  PetscCall(Triad(&protocol.triad));
  PetscCall(PrintTriad(protocol.triad));
  for (PetscInt i = 0; i < n; i++) PetscCall(SolverRun(problem, chosen[i], &protocol, argc, args, &results[i]));
  PetscCall(PrintResults(problem, n, results));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  Problem       problem;
  const Solver *chosen[MAX_SOLVERS];
  PetscInt      n;
  PetscBool     list = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(ProblemSetFromOptions(&problem));
  PetscCall(ChooseSolvers(&problem, &n, chosen));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-list", &list, NULL));
  if (list) PetscCall(PrintNames(n, chosen));
  else PetscCall(Benchmark(&problem, n, chosen, &argc, &args));
  PetscCall(PetscFinalize());
  return 0;
}
