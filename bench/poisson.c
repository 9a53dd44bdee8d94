static char help[] = "Poisson's equation on the unit square or cube: multigrid, full multigrid and sine transforms.\n\
  -dim <2> -L <8>              2^L intervals in each direction, their boundary points left out\n\
  -task solve                  (default) cycles to -ksp_rtol, counted by residuals of whole cycles, and their time\n\
        fmg                    one application of -pc_mg_type full, its error and time\n\
        fft                    the same by FFTW, where the program has it: -effort estimate|measure|patient\n\
                               -tridiagonal: the slowest direction by tridiagonal systems instead of transforms\n\
        products               two products with a matrix of eigenvectors in each direction\n\
        direct                 one application of any -pc_type with KSPPREONLY, its error and time\n\
        profile                seconds by the clock of each component on each level, in the fastest of\n\
                               -cycles <10> from zero; takes -pc_mg_log; -apart: components in passes of their own\n\
        residual               seconds of a residual\n\
        sweeps                 seconds of 1 to -sweeps <20> damped Jacobi sweeps, tiled and one after the other\n\
        flops                  operations of a V(1,1)-cycle, counted in the operators of its levels\n\
  -start zero|random           of solve: right side sin(pi x) sin(pi y), or zero (default zero)\n\
  -whole <true>                of solve; false: the norm is tested inside of cycles, as the library does by itself\n\
  -repeat <3>                  the fastest one counts\n\n";

/*
  C. Feng, S. Shu, J. Xu, C.-S. Zhang, Numerical study of geometric multigrid methods on CPU-GPU heterogeneous
  computers; P. Ghysels, W. Vanroose, Modeling the performance of geometric multigrid stencils on multicore computer
  architectures.

      - Laplacian u = f, u = 0 on the boundary; 5 or 7 points, with 2 dim on the diagonal and -1 off it. Coarse
  operators that the program assembles are those of h^dim times the Laplacian, as transposed interpolation restricts.

  The options of the levels come from bench/poisson.py, as a user would write them; -pc_relax_type separate is a
  smoother of this program: Jacobi's sweeps as they are in the appendix of Ghysels and Vanroose, each a pass over
  memory.

  Lines printed, comma separated, seconds of the processor:
    solve,iterations,relative residual,factor,set-up,seconds    residual: of the solution, by its definition; factor:
                                                                of the last cycle, 0 where norms are not of whole ones
    error,||u - u_h||,set-up,seconds                     norm: (sum / (2^L + 1)^dim)^(1/2); set-up: with plans of FFTW
    event,component,level,calls,seconds                  level 0 is the finest
    residual,seconds                                     products,seconds
    sweeps,number,tiled seconds,separate seconds
    flops,residual,smoothing,restriction,interpolation,norm,all    operations for each unknown
*/
#include "timing.h"
#include <petsckcycle/private/smootherimpl.h>
#if defined(BENCH_FFTW) && !defined(PETSC_USE_COMPLEX) && defined(PETSC_USE_REAL_DOUBLE)
  #include <fftw3.h>
  #include <petscblaslapack.h>
  #define POISSON_FFTW
#endif

typedef struct {
  PetscInt  dim, L, n, repeat; /* n: points in each direction */
  PetscReal h;
  DM        da;
  Mat       A;
  Vec       b, x, exact;
  KSP       ksp;
  PC        pc;
} Problem;

/* Rows of any level; factor: of the stencil with 2 dim on its diagonal */
typedef struct {
  PetscInt  dim, n[3];
  PetscReal factor;
} Level;

static void MakeRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const Level *l = (const Level *)ctx;

  row->value[0] = l->factor * 2 * (PetscReal)l->dim;
  for (PetscInt o = 0; o < 2 * l->dim; o++) {
    PetscInt to[3];

    StarNeighbour(at, o, to);
    if (IsInBox(to, l->n, l->dim)) RowEntry(row, to, -l->factor);
  }
}

/* finest: points of the finest grid in each direction */
static PetscErrorCode Assemble(DM da, PetscInt finest, Mat A)
{
  Level l;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(da, &l.dim, &l.n[0], &l.n[1], &l.n[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  l.factor = PetscPowReal((PetscReal)(finest + 1) / (PetscReal)(l.n[0] + 1), (PetscReal)l.dim - 2);
  PetscCall(AssembleRows(da, MakeRow, &l, A));
  PetscFunctionReturn(0);
}

/* For -pc_mg_galerkin none */
static PetscErrorCode ComputeOperators(KSP ksp, Mat J, Mat A, void *ctx)
{
  DM da;

  PetscFunctionBeginUser;
  (void)J;
  PetscCall(KSPGetDM(ksp, &da));
  PetscCall(Assemble(da, ((const Problem *)ctx)->n, A));
  PetscFunctionReturn(0);
}

/* exact = prod sin(pi x_d) */
static PetscErrorCode FillExact(Problem *p)
{
  PetscInt     s[3], m[3];
  PetscScalar *u;
  PetscReal   *sine;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(p->da, &s[0], &s[1], &s[2], &m[0], &m[1], &m[2]));
  PetscCall(PetscMalloc1(p->n, &sine));
  for (PetscInt i = 0; i < p->n; i++) sine[i] = PetscSinReal(PETSC_PI * p->h * (PetscReal)(i + 1));
  PetscCall(VecGetArrayWrite(p->exact, &u));
  for (PetscInt k = 0, at = 0; k < m[2]; k++) {
    for (PetscInt j = 0; j < m[1]; j++) {
      const PetscReal across = sine[s[1] + j] * (p->dim == 3 ? sine[s[2] + k] : 1);

      for (PetscInt i = 0; i < m[0]; i++) u[at++] = across * sine[s[0] + i];
    }
  }
  PetscCall(VecRestoreArrayWrite(p->exact, &u));
  PetscCall(PetscFree(sine));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateProblem(Problem *p)
{
  const PetscInt size[3] = {p->n, p->n, p->n};

  PetscFunctionBeginUser;
  PetscCall(MakeDM(PETSC_COMM_WORLD, p->dim, size, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, &p->da));
  PetscCall(DMSetMatType(p->da, MATSTENCIL));
  PetscCall(DMSetFromOptions(p->da));
  PetscCall(DMSetUp(p->da));
  PetscCall(DMCreateMatrix(p->da, &p->A));
  PetscCall(Assemble(p->da, p->n, p->A));
  PetscCall(DMCreateGlobalVector(p->da, &p->x));
  PetscCall(DuplicateVec(p->x, &p->b, &p->exact));
  PetscCall(FillExact(p));
  /* -Laplacian u = dim pi^2 u */
  PetscCall(VecAXPBY(p->b, p->h * p->h * (PetscReal)p->dim * PETSC_PI * PETSC_PI, 0, p->exact));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolver(Problem *p, KSPType type, PetscReal *setup)
{
  PetscFunctionBeginUser;
  *setup = Seconds();
  PetscCall(MakeKSP(p->A, type, PCKCYCLE, &p->ksp, &p->pc));
  PetscCall(KSPSetDM(p->ksp, p->da));
  PetscCall(KCycleKSPSetDMInactive(p->ksp));
  PetscCall(DMKSPSetComputeOperators(p->da, ComputeOperators, p));
  PetscCall(KSPSetTolerances(p->ksp, 1e-6, 0, PETSC_DEFAULT, 1000));
  PetscCall(KSPSetFromOptions(p->ksp));
  PetscCall(KSPSetUp(p->ksp));
  *setup = Seconds() - *setup;
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyProblem(Problem *p)
{
  return DestroyAll(&p->ksp, &p->x, &p->b, &p->exact, &p->A, &p->da);
}

/* Jacobi's sweeps one after the other, each a pass over memory */

typedef struct {
  PetscInt     slab, nslabs; /* points of a line in 2D, of a plane in 3D; their number */
  PetscReal    inverse;      /* of the factor of the stencil with 2 dim on its diagonal */
  PetscScalar *work, *old[2], *zeros;
} Separate;

/* v = u - weight (diagonal u - neighbours - inverse f) on a line; below and above: NULL in 2D */
static void SeparateLine(PetscInt n, PetscInt dim, PetscReal omega, PetscReal inverse,
                         const PetscScalar *PETSC_RESTRICT u, const PetscScalar *const near[],
                         const PetscScalar *PETSC_RESTRICT f, PetscScalar *PETSC_RESTRICT v)
{
  const PetscReal                   diagonal = 2 * (PetscReal)dim, weight = omega / diagonal;
  const PetscScalar *PETSC_RESTRICT south = near[0], *PETSC_RESTRICT north = near[1], *PETSC_RESTRICT below = near[2],
                                    *PETSC_RESTRICT above = near[3];

  for (PetscInt i = 0; i < n; i += PetscMax(n - 1, 1)) { /* both ends */
    const PetscScalar west = i ? u[i - 1] : 0, east = i < n - 1 ? u[i + 1] : 0, deep = below ? below[i] + above[i] : 0;

    v[i] = u[i] - weight * (diagonal * u[i] - west - east - south[i] - north[i] - deep - inverse * f[i]);
  }
  if (below) {
    for (PetscInt i = 1; i < n - 1; i++)
      v[i] = u[i] - weight * (diagonal * u[i] - u[i - 1] - u[i + 1] - south[i] - north[i] - below[i] - above[i] -
                              inverse * f[i]);
  } else {
    for (PetscInt i = 1; i < n - 1; i++)
      v[i] = u[i] - weight * (diagonal * u[i] - u[i - 1] - u[i + 1] - south[i] - north[i] - inverse * f[i]);
  }
}

/* One slab: before, u and after are the old values of three, outside of the grid zeros */
static void SeparateSlab(const KCycleBox *box, PetscReal omega, const Separate *own, const PetscScalar *before,
                         const PetscScalar *u, const PetscScalar *after, const PetscScalar *f, PetscScalar *v)
{
  const PetscInt n = box->n[0], m = own->slab / n;

  for (PetscInt j = 0; j < m; j++) {
    const PetscInt     at        = n * j;
    const PetscScalar *near[4]   = {before, after, NULL, NULL},
                      *near3d[4] = {j ? u + at - n : own->zeros, j < m - 1 ? u + at + n : own->zeros, before + at,
                                    after + at};

    SeparateLine(n, box->dim, omega, own->inverse, u + at, box->dim == 3 ? near3d : near, f + at, v + at);
  }
}

/* From x to y; in place where they are the same: then the old values of the last two slabs are kept */
static void SeparateSweep(const KCycleBox *box, PetscReal omega, Separate *own, const PetscScalar *b, PetscScalar *x,
                          PetscScalar *y)
{
  const PetscInt q = own->slab;

  for (PetscInt t = 0; t < own->nslabs; t++) {
    const PetscScalar *u = x + q * t, *before = t ? u - q : own->zeros,
                      *after = t < own->nslabs - 1 ? u + q : own->zeros;

    if (x == y) {
      for (PetscInt i = 0; i < q; i++) own->old[t & 1][i] = u[i];
      u = own->old[t & 1];
      if (t) before = own->old[(t - 1) & 1];
    }
    SeparateSlab(box, omega, own, before, u, after, b + q * t, y + q * t);
  }
}

/* As in the paper the result goes from one array to the other; the first of an odd number of sweeps is in place */
static PetscErrorCode SeparateSweeps(KCycleSmoother *s, const KCycleSweeps *sweeps, const PetscScalar *b,
                                     PetscScalar *x)
{
  Separate        *own  = (Separate *)s->data;
  const KCycleBox *box  = s->st->box;
  PetscScalar     *from = x, *to = own->work, *swap;

  PetscFunctionBegin;
  if (sweeps->zeroguess) PetscCall(PetscArrayzero(x, box->npoints));
  if (sweeps->its & 1) SeparateSweep(box, s->weight, own, b, x, x);
  for (PetscInt i = sweeps->its & 1; i < sweeps->its; i++) {
    SeparateSweep(box, s->weight, own, b, from, to);
    swap = from;
    from = to;
    to   = swap;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode SeparateSetUp(KCycleSmoother *s)
{
  Separate        *own = (Separate *)s->data;
  const KCycleBox *box = s->st->box;
  KCycleLine       l;

  PetscFunctionBegin;
  PetscCheck(box->nproc[0] * box->nproc[1] * box->nproc[2] == 1, s->comm, PETSC_ERR_SUP,
             "Separate sweeps are those of one process");
  own->nslabs = box->n[box->dim - 1];
  own->slab   = box->npoints / own->nslabs;
  PetscCall(
      PetscMalloc4(box->npoints, &own->work, own->slab, &own->old[0], own->slab, &own->old[1], own->slab, &own->zeros));
  PetscCall(PetscArrayzero(own->zeros, own->slab));
  KCycleLineCoefficients(s->st, 0, 0, &l);
  own->inverse = 2 * (PetscReal)box->dim / PetscRealPart(KCycleLineCoefficient(&l, (int)box->dim, 0));
  s->weight    = s->omega == 0 ? 0.8 : s->omega;
  PetscFunctionReturn(0);
}

static PetscErrorCode SeparateDestroy(KCycleSmoother *s)
{
  Separate *own = (Separate *)s->data;

  PetscFunctionBegin;
  PetscCall(PetscFree4(own->work, own->old[0], own->old[1], own->zeros));
  PetscFunctionReturn(0);
}

static PetscErrorCode SeparateCreate(KCycleSmoother *s)
{
  Separate *own;

  PetscFunctionBegin;
  PetscCall(PetscNew(&own));
  s->data        = own;
  s->ops.setup   = SeparateSetUp;
  s->ops.sweeps  = SeparateSweeps;
  s->ops.destroy = SeparateDestroy;
  PetscFunctionReturn(0);
}

/* Solves */

typedef struct {
  PetscReal first, last, factor; /* factor: of the last cycle */
} Norms;

/* Of whole cycles, with the norm that the paper has; any other test than PETSc's keeps KSPRICHARDSON from leaving it to
   the cycle */
static PetscErrorCode TestWhole(KSP ksp, PetscInt it, PetscReal rnorm, KSPConvergedReason *reason, void *ctx)
{
  Norms    *norms = (Norms *)ctx;
  PetscReal rtol;

  PetscFunctionBeginUser;
  PetscCall(KSPGetTolerances(ksp, &rtol, NULL, NULL, NULL));
  if (it == 0) norms->first = rnorm;
  else norms->factor = rnorm / norms->last;
  norms->last = rnorm;
  *reason     = rnorm <= rtol * norms->first ? KSP_CONVERGED_RTOL : KSP_CONVERGED_ITERATING;
  PetscFunctionReturn(0);
}

static PetscErrorCode FillStart(Problem *p, PetscBool random)
{
  PetscRandom r;

  PetscFunctionBeginUser;
  if (!random) {
    PetscCall(VecSet(p->x, 0));
    PetscFunctionReturn(0);
  }
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &r));
  PetscCall(PetscRandomSetType(r, PETSCRAND48));
  PetscCall(VecSetRandom(p->x, r));
  PetscCall(PetscRandomDestroy(&r));
  PetscFunctionReturn(0);
}

static PetscErrorCode Residual(Problem *p, Vec x, PetscReal *norm)
{
  Vec r;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &r));
  PetscCall(MatResidual(p->A, p->b, x, r));
  PetscCall(VecNorm(r, NORM_2, norm));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(Problem *p)
{
  Norms              norms = {0};
  PetscReal          setup, best = PETSC_MAX_REAL, start, before, after;
  PetscBool          whole = PETSC_TRUE, random = PETSC_FALSE;
  char               text[16] = "zero";
  PetscInt           its;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-whole", &whole, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-start", text, sizeof(text), NULL));
  PetscCall(PetscStrcmp(text, "random", &random));
  if (random) PetscCall(VecSet(p->b, 0));
  PetscCall(CreateSolver(p, KSPRICHARDSON, &setup));
  if (whole) {
    PetscCall(KSPSetNormType(p->ksp, KSP_NORM_UNPRECONDITIONED));
    PetscCall(KSPSetConvergenceTest(p->ksp, TestWhole, &norms, NULL));
  }
  PetscCall(KSPSetInitialGuessNonzero(p->ksp, random));
  for (PetscInt i = 0; i < p->repeat; i++) {
    PetscCall(FillStart(p, random));
    PetscCall(Residual(p, p->x, &before));
    start = Seconds();
    PetscCall(KSPSolve(p->ksp, p->b, p->x));
    best = PetscMin(best, Seconds() - start);
  }
  PetscCall(KSPGetConvergedReason(p->ksp, &reason));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "the solver ended with %s",
             KSPConvergedReasons[reason]);
  PetscCall(Residual(p, p->x, &after));
  PetscCall(KSPGetIterationNumber(p->ksp, &its));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solve,%" PetscInt_FMT ",%.4e,%.5f,%.4e,%.4e\n", its,
                        (double)(after / before), (double)norms.factor, (double)setup, (double)best));
  PetscCall(KSPViewFromOptions(p->ksp, NULL, "-view"));
  PetscFunctionReturn(0);
}

/* The tables divide by the number of points with those of the boundary */
static PetscErrorCode PrintError(Problem *p, PetscReal setup, PetscReal seconds)
{
  PetscReal error;

  PetscFunctionBeginUser;
  PetscCall(VecAXPY(p->x, -1, p->exact));
  PetscCall(VecNorm(p->x, NORM_2, &error));
  error *= PetscPowReal(p->h / (1 + p->h), (PetscReal)p->dim / 2);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "error,%.6e,%.4e,%.4e\n", (double)error, (double)setup, (double)seconds));
  PetscFunctionReturn(0);
}

static PetscErrorCode Direct(Problem *p, PetscBool full)
{
  PetscReal setup, best = PETSC_MAX_REAL, start;
  PetscBool same;

  PetscFunctionBeginUser;
  if (full) PetscCall(PetscOptionsInsertString(NULL, "-pc_mg_type full"));
  PetscCall(CreateSolver(p, KSPPREONLY, &setup));
  PetscCall(PetscObjectTypeCompare((PetscObject)p->pc, PCKCYCLE, &same));
  if (full) PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG, "-task fmg is for -pc_type kcycle");
  for (PetscInt i = 0; i < p->repeat; i++) {
    start = Seconds();
    PetscCall(KSPSolve(p->ksp, p->b, p->x));
    best = PetscMin(best, Seconds() - start);
  }
  PetscCall(PrintError(p, setup, best));
  PetscCall(KSPViewFromOptions(p->ksp, NULL, "-view"));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckAlone(const char task[])
{
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCheck(size == 1, PETSC_COMM_WORLD, PETSC_ERR_WRONG_MPI_SIZE, "-task %s is for one process", task);
  PetscFunctionReturn(0);
}

#if defined(POISSON_FFTW)
typedef struct {
  PetscInt   dim, n, modes; /* modes: points of a line in 2D, of a plane in 3D, without the slowest direction */
  PetscReal  scale;         /* of both transforms */
  PetscBool  rest;          /* tridiagonal systems along the slowest direction instead of transforms */
  PetscReal *eigenvalue;    /* 4 sin^2(k pi h / 2) */
  PetscReal *pivots;        /* inverses of those of the tridiagonal systems */
  double    *work;
  fftw_plan  plan;
} Transforms;

/* Sums of the eigenvalues of all directions but the slowest one, for the modes of a slab */
static PetscReal Mode(const Transforms *t, PetscInt mode)
{
  return t->eigenvalue[mode % t->n] + (t->dim == 3 ? t->eigenvalue[mode / t->n] : 0);
}

static PetscErrorCode CreateTransforms(const Problem *p, PetscBool rest, unsigned effort, Transforms *t)
{
  const int           n[3]    = {(int)p->n, (int)p->n, (int)p->n};
  const fftw_r2r_kind kind[3] = {FFTW_RODFT00, FFTW_RODFT00, FFTW_RODFT00};
  const int           dim     = (int)p->dim - (rest ? 1 : 0);

  PetscFunctionBeginUser;
  t->dim   = p->dim;
  t->n     = p->n;
  t->modes = p->dim == 3 ? p->n * p->n : p->n;
  t->rest  = rest;
  t->scale = PetscPowReal(p->h / 2, (PetscReal)dim);
  t->work  = fftw_alloc_real((size_t)(t->modes * t->n));
  PetscCheck(t->work, PETSC_COMM_WORLD, PETSC_ERR_MEM, "No memory for the transforms");
  t->plan = fftw_plan_many_r2r(dim, n, rest ? n[0] : 1, t->work, NULL, 1, (int)t->modes, t->work, NULL, 1,
                               (int)t->modes, kind, effort | FFTW_UNALIGNED); /* vectors are PETSc's */
  PetscCall(PetscMalloc1(t->n, &t->eigenvalue));
  for (PetscInt i = 0; i < t->n; i++)
    t->eigenvalue[i] = 4 * PetscSqr(PetscSinReal(PETSC_PI * p->h * (PetscReal)(i + 1) / 2));
  if (!rest) PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(t->modes * t->n, &t->pivots));
  for (PetscInt k = 0; k < t->n; k++) {
    for (PetscInt i = 0; i < t->modes; i++)
      t->pivots[k * t->modes + i] = 1 / (2 + Mode(t, i) - (k ? t->pivots[(k - 1) * t->modes + i] : 0));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyTransforms(Transforms *t)
{
  PetscFunctionBeginUser;
  fftw_destroy_plan(t->plan);
  fftw_free(t->work);
  PetscCall(PetscFree(t->eigenvalue));
  PetscCall(PetscFree(t->pivots));
  PetscFunctionReturn(0);
}

static void Divide(const Transforms *t, double *u)
{
  for (PetscInt k = 0; k < t->n; k++) {
    for (PetscInt j = 0; j < t->modes / t->n; j++) {
      const PetscReal across = t->eigenvalue[k] + (t->dim == 3 ? t->eigenvalue[j] : 0);

      for (PetscInt i = 0; i < t->n; i++) *u++ *= t->scale / (t->eigenvalue[i] + across);
    }
  }
}

/* Thomas' algorithm, all modes at once */
static void SolveTridiagonal(const Transforms *t, double *PETSC_RESTRICT u)
{
  const PetscInt                  m      = t->modes;
  const PetscReal                 scale  = t->scale;
  const PetscReal *PETSC_RESTRICT pivots = t->pivots;

  for (PetscInt i = 0; i < m; i++) u[i] *= scale * pivots[i];
  for (PetscInt at = m; at < m * t->n; at++) u[at] = (scale * u[at] + u[at - m]) * pivots[at];
  for (PetscInt at = m * (t->n - 1) - 1; at >= 0; at--) u[at] += u[at + m] * pivots[at];
}

static PetscErrorCode FFT(Problem *p)
{
  PetscReal    setup = Seconds(), best = PETSC_MAX_REAL, start;
  PetscBool    measure, patient, rest = PETSC_FALSE;
  char         effort[16] = "measure";
  Transforms   t          = {0};
  PetscScalar *x;

  PetscFunctionBeginUser;
  PetscCall(CheckAlone("fft"));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-tridiagonal", &rest, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-effort", effort, sizeof(effort), NULL));
  PetscCall(PetscStrcmp(effort, "measure", &measure));
  PetscCall(PetscStrcmp(effort, "patient", &patient));
  PetscCall(CreateTransforms(p, rest, patient ? FFTW_PATIENT : measure ? FFTW_MEASURE : FFTW_ESTIMATE, &t));
  setup = Seconds() - setup;
  for (PetscInt i = 0; i < p->repeat; i++) {
    PetscCall(VecCopy(p->b, p->x));
    PetscCall(VecGetArray(p->x, &x));
    start = Seconds();
    fftw_execute_r2r(t.plan, x, x);
    if (rest) SolveTridiagonal(&t, x);
    else Divide(&t, x);
    fftw_execute_r2r(t.plan, x, x);
    best = PetscMin(best, Seconds() - start);
    PetscCall(VecRestoreArray(p->x, &x));
  }
  PetscCall(PrintError(p, setup, best));
  PetscCall(DestroyTransforms(&t));
  PetscFunctionReturn(0);
}

/* Each as one call of DGEMM */
static PetscErrorCode Products(Problem *p)
{
  const PetscScalar one = 1, zero = 0, *b;
  PetscBLASInt      n = (PetscBLASInt)p->n, m = p->dim == 3 ? n * n : n;
  PetscReal         best = PETSC_MAX_REAL, start;
  PetscScalar      *q, *x;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)n * (size_t)n, &q));
  for (PetscInt i = 0; i < n * n; i++) q[i] = 1.0 / (1 + (PetscReal)i);
  PetscCall(VecGetArrayRead(p->b, &b));
  PetscCall(VecGetArray(p->x, &x));
  for (PetscInt i = 0; i < p->repeat; i++) {
    start = Seconds();
    for (PetscInt k = 0; k < 2 * p->dim; k++) BLASgemm_("N", "N", &n, &m, &n, &one, q, &n, b, &n, &zero, x, &n);
    best = PetscMin(best, Seconds() - start);
  }
  PetscCall(VecRestoreArray(p->x, &x));
  PetscCall(VecRestoreArrayRead(p->b, &b));
  PetscCall(PetscFree(q));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "products,%.4e\n", (double)best));
  PetscFunctionReturn(0);
}
#else
static PetscErrorCode FFT(Problem *p)
{
  PetscFunctionBeginUser;
  PetscCheck(!p, PETSC_COMM_WORLD, PETSC_ERR_SUP,
             "The program was compiled without FFTW: install libfftw3-dev, take a PETSc with real numbers in double "
             "precision, and start bench/poisson.py again");
  PetscFunctionReturn(0);
}
  #define Products FFT
#endif

/* Profiles */

enum {
  PHASES = 5
};

typedef struct {
  PetscLogEvent event[PHASES];
  PetscReal     before[PHASES], best[PHASES]; /* seconds by the clock, until now and of the fastest cycle */
  PetscInt      all[PHASES], calls[PHASES];   /* until now, and in a cycle */
} LevelProfile;

/* Residuals of a program's own keep levels from passes in which several components go through memory together */
static PetscErrorCode OwnResidual(Mat A, Vec b, Vec x, Vec r)
{
  PetscFunctionBeginUser;
  PetscCall(MatResidual(A, b, x, r));
  PetscFunctionReturn(0);
}

static PetscErrorCode TakeApart(Problem *p, PetscInt levels)
{
  PetscFunctionBeginUser;
  for (PetscInt l = 1; l < levels; l++) {
    KSP smoother;
    Mat A;

    PetscCall(PCMGGetSmoother(p->pc, l, &smoother));
    PetscCall(KSPGetOperators(smoother, &A, NULL));
    PetscCall(PCMGSetResidual(p->pc, l, OwnResidual, A));
  }
  PetscFunctionReturn(0);
}

/* A phase of a level that logs nothing has no event */
static PetscErrorCode FindEvents(PetscInt levels, LevelProfile profile[])
{
  const char *const phases[PHASES] = {"KCSmooth", "KCResidual", "KCRestrict", "KCInterp", "KCCoarse"};

  PetscFunctionBeginUser;
  for (PetscInt l = 0; l < levels; l++) {
    for (int i = 0; i < PHASES; i++) {
      char name[64];

      PetscCall(PetscSNPrintf(name, sizeof(name), "%s Level %" PetscInt_FMT, phases[i], levels - 1 - l));
      PetscCall(PetscLogEventGetId(name, &profile[l].event[i]));
      profile[l].best[i] = PETSC_MAX_REAL;
    }
  }
  PetscFunctionReturn(0);
}

/* Of the cycle that has ended */
static PetscErrorCode ReadEvents(PetscInt levels, LevelProfile profile[])
{
  PetscLogStage      stage;
  PetscEventPerfInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscLogStageGetId("MG Apply", &stage));
  PetscCheck(stage >= 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONGSTATE, "-task profile is for -pc_mg_log");
  for (PetscInt l = 0; l < levels; l++) {
    for (int i = 0; i < PHASES; i++) {
      if (profile[l].event[i] < 0) continue;
      PetscCall(PetscLogEventGetPerfInfo(stage, profile[l].event[i], &info));
      profile[l].best[i]   = PetscMin(profile[l].best[i], info.time - profile[l].before[i]);
      profile[l].before[i] = info.time;
      profile[l].calls[i]  = info.count - profile[l].all[i];
      profile[l].all[i]    = info.count;
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode PrintProfile(PetscInt levels, const LevelProfile profile[])
{
  const char *const names[PHASES] = {"smoothing", "residual", "restriction", "interpolation", "coarse"};

  PetscFunctionBeginUser;
  for (PetscInt l = 0; l < levels; l++) {
    for (int i = 0; i < PHASES; i++) {
      if (profile[l].event[i] < 0 || !profile[l].calls[i]) continue;
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "event,%s,%" PetscInt_FMT ",%" PetscInt_FMT ",%.4e\n", names[i], l,
                            profile[l].calls[i], (double)profile[l].best[i]));
    }
  }
  PetscFunctionReturn(0);
}

/* The square of the norm, as in (4.9) */
static PetscErrorCode TimeNorm(Problem *p, PetscInt times)
{
  PetscReal   best = PETSC_MAX_REAL;
  PetscScalar square;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < times; i++) {
    const double start = MPI_Wtime();

    PetscCall(VecDot(p->x, p->x, &square));
    best = PetscMin(best, MPI_Wtime() - start);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "event,norm,0,1,%.4e\n", (double)best));
  PetscFunctionReturn(0);
}

static PetscErrorCode Profile(Problem *p)
{
  PetscInt     cycles = 10, levels;
  PetscBool    apart  = PETSC_FALSE;
  PetscReal    setup, best = PETSC_MAX_REAL;
  LevelProfile profile[16] = {0};

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cycles", &cycles, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-apart", &apart, NULL));
  PetscCall(PetscLogDefaultBegin());
  PetscCall(CreateSolver(p, KSPPREONLY, &setup));
  PetscCall(PCMGGetLevels(p->pc, &levels));
  if (apart) PetscCall(TakeApart(p, levels));
  PetscCall(FindEvents(levels, profile));
  for (PetscInt i = 0; i <= cycles; i++) {
    const double start = MPI_Wtime();

    PetscCall(KSPSolve(p->ksp, p->b, p->x));
    if (i) best = PetscMin(best, MPI_Wtime() - start);
    PetscCall(ReadEvents(levels, profile));
  }
  PetscCall(PrintProfile(levels, profile));
  PetscCall(TimeNorm(p, cycles));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "cycle,%.4e\n", (double)best));
  PetscFunctionReturn(0);
}

/* Operations of a value that is a weighted sum: terms of equal weight are added up before they are multiplied, and
   those of weight zero are none */
static PetscInt Operations(PetscInt n, const PetscScalar value[])
{
  PetscInt multiplications = 0, terms = 0;

  for (PetscInt i = 0; i < n; i++) {
    PetscInt same = 0;

    if (value[i] == 0) continue;
    terms++;
    while (same < i && value[same] != value[i]) same++;
    if (same == i && PetscAbsScalar(value[i]) != 1) multiplications++;
  }
  return terms - 1 + multiplications;
}

/* Of a row of A in the middle: with the right side added, or solved for its unknown by a multiplication with the
   inverse of the diagonal */
static PetscErrorCode CountRow(Mat A, PetscInt row, PetscInt *residual, PetscInt *relaxation)
{
  const PetscScalar *value;
  PetscInt           n;
  Mat                aij;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
  PetscCall(MatGetRow(aij, row, &n, NULL, &value));
  *residual   = Operations(n, value) + 1;
  *relaxation = n - 1 + 1;
  PetscCall(MatRestoreRow(aij, row, &n, NULL, &value));
  PetscCall(MatDestroy(&aij));
  PetscFunctionReturn(0);
}

/* Interpolation and addition, at the 2^dim fine points of a coarse cell in the middle; restriction, with weights as
   printed in (4.5), at a coarse point: its column, scaled so that no weight is 1 */
static PetscErrorCode CountTransfer(const Problem *p, Mat P, PetscInt *interpolation, PetscInt *restriction)
{
  const PetscInt     n = p->n, middle = n / 2, coarse = (n - 1) / 2, at = coarse / 2;
  const PetscScalar *value;
  PetscScalar        weight[27];
  const PetscInt    *column;
  PetscInt           m, row, own = at + coarse * (at + (p->dim == 3 ? coarse * at : 0)), count = 0;
  Mat                aij;

  PetscFunctionBeginUser;
  *interpolation = 0;
  PetscCall(MatConvert(P, MATAIJ, MAT_INITIAL_MATRIX, &aij));
  for (PetscInt c = 0; c < (1 << p->dim); c++) {
    row = middle + (c & 1) + n * (middle + ((c >> 1) & 1) + (p->dim == 3 ? n * (middle + (c >> 2)) : 0));
    PetscCall(MatGetRow(aij, row, &m, NULL, &value));
    *interpolation += Operations(m, value) + 1;
    PetscCall(MatRestoreRow(aij, row, &m, NULL, &value));
  }
  for (row = 0; row < (p->dim == 3 ? n * n * n : n * n); row++) {
    PetscCall(MatGetRow(aij, row, &m, &column, &value));
    for (PetscInt i = 0; i < m; i++) {
      if (column[i] == own && count < 27) weight[count++] = value[i] / 4;
    }
    PetscCall(MatRestoreRow(aij, row, &m, &column, &value));
  }
  *restriction = Operations(count, weight);
  PetscCall(MatDestroy(&aij));
  PetscFunctionReturn(0);
}

/* Table 8: V(1,1) on an endless number of levels */
static PetscErrorCode Flops(Problem *p)
{
  PetscInt        residual = 0, relaxation = 0, interpolation = 0, restriction = 0, levels, size;
  PetscReal       setup, each[5];
  const PetscReal cell = (PetscReal)(1 << p->dim),
                  all  = cell / (cell - 1); /* points of all levels, in those of the finest */
  Mat P;

  PetscFunctionBeginUser;
  PetscCall(CheckAlone("flops"));
  PetscCall(CreateSolver(p, KSPPREONLY, &setup));
  PetscCall(PCMGGetLevels(p->pc, &levels));
  PetscCall(PCMGGetInterpolation(p->pc, levels - 1, &P));
  PetscCall(VecGetSize(p->x, &size));
  PetscCall(CountRow(p->A, size / 2, &residual, &relaxation));
  PetscCall(CountTransfer(p, P, &interpolation, &restriction));
  each[0] = (PetscReal)residual * (all + 1);
  each[1] = 2 * (PetscReal)relaxation * all;
  each[2] = (PetscReal)restriction * (all - 1);
  each[3] = (PetscReal)interpolation / cell * all;
  each[4] = 2;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "flops,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f\n", (double)each[0], (double)each[1],
                        (double)each[2], (double)each[3], (double)each[4],
                        (double)(each[0] + each[1] + each[2] + each[3] + each[4])));
  PetscFunctionReturn(0);
}

static PetscErrorCode TimeResidual(Problem *p)
{
  PetscReal start, best = PETSC_MAX_REAL;
  Vec       r;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(p->x, &r));
  for (PetscInt i = 0; i <= p->repeat; i++) {
    start = Seconds();
    PetscCall(MatResidual(p->A, p->b, p->exact, r));
    if (i) best = PetscMin(best, Seconds() - start);
  }
  PetscCall(VecDestroy(&r));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "residual,%.4e\n", (double)best));
  PetscFunctionReturn(0);
}

/* Seconds of sweeps of a smoother, without set-up */
static PetscErrorCode TimeSweeps(Problem *p, KSP ksp, PetscInt number, PetscReal *best)
{
  PetscReal start;

  PetscFunctionBeginUser;
  PetscCall(KSPSetTolerances(ksp, 1e-50, 1e-300, PETSC_DEFAULT, number));
  PetscCall(VecCopy(p->exact, p->x));
  start = Seconds();
  PetscCall(KSPSolve(ksp, p->b, p->x));
  *best = PetscMin(*best, Seconds() - start);
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSweeps(Problem *p, const char type[], KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(MakeSweeps(p->A, type, 1, PETSC_TRUE, ksp, &pc));
  PetscCall(PCRelaxSetOmega(pc, 0.8));
  PetscCall(PCRelaxSetClusters(pc, PC_RELAX_CLUSTERS_OFF));
  PetscCall(KSPSetUp(*ksp));
  PetscFunctionReturn(0);
}

/* In turn, and both give the same */
static PetscErrorCode Sweeps(Problem *p)
{
  PetscInt  most = 20;
  PetscReal best[2], norm, size;
  Vec       other;
  KSP       ksp[2];

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-sweeps", &most, NULL));
  PetscCall(VecDuplicate(p->x, &other));
  PetscCall(CreateSweeps(p, PC_RELAX_JACOBI, &ksp[0]));
  PetscCall(CreateSweeps(p, "separate", &ksp[1]));
  for (PetscInt number = 1; number <= most; number += number < 10 ? 1 : number < 20 ? 5 : 20) {
    best[0] = best[1] = PETSC_MAX_REAL;
    for (PetscInt i = 0; i < p->repeat; i++) {
      PetscCall(TimeSweeps(p, ksp[0], number, &best[0]));
      PetscCall(VecCopy(p->x, other));
      PetscCall(TimeSweeps(p, ksp[1], number, &best[1]));
    }
    PetscCall(DifferenceNorms(other, p->x, NORM_2, &norm, &size));
    PetscCheck(norm <= 1e-13 * size, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "sweeps differ by %g", (double)(norm / size));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "sweeps,%" PetscInt_FMT ",%.4e,%.4e\n", number, (double)best[0],
                          (double)best[1]));
  }
  PetscCall(DestroyAll(&ksp[0], &ksp[1], &other));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadOptions(Problem *p, size_t len, char task[])
{
  PetscFunctionBeginUser;
  p->dim    = 2;
  p->L      = 8;
  p->repeat = 3;
  PetscCall(PetscStrncpy(task, "solve", len));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &p->dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-L", &p->L, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &p->repeat, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-task", task, len, NULL));
  PetscCheck(p->dim == 2 || p->dim == 3, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-dim is 2 or 3, not %" PetscInt_FMT, p->dim);
  PetscCheck(p->L >= 1 && p->L <= 14, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-L lies in 1 to 14, and is not %" PetscInt_FMT, p->L);
  p->n = ((PetscInt)1 << p->L) - 1;
  p->h = 1 / (PetscReal)(p->n + 1);
  PetscFunctionReturn(0);
}

static PetscErrorCode FullMultigrid(Problem *p)
{
  PetscFunctionBeginUser;
  PetscCall(Direct(p, PETSC_TRUE));
  PetscFunctionReturn(0);
}

static PetscErrorCode AnyDirect(Problem *p)
{
  PetscFunctionBeginUser;
  PetscCall(Direct(p, PETSC_FALSE));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const struct {
    const char *name;
    PetscErrorCode (*run)(Problem *);
  } tasks[] = {{"solve", Solve},       {"fmg", FullMultigrid}, {"direct", AnyDirect},      {"fft", FFT},
               {"products", Products}, {"profile", Profile},   {"residual", TimeResidual}, {"sweeps", Sweeps},
               {"flops", Flops}};
  Problem p = {0};
  char    task[16];
  size_t  which = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PCRelaxRegister("separate", SeparateCreate));
  PetscCall(ReadOptions(&p, sizeof(task), task));
  while (which < PETSC_STATIC_ARRAY_LENGTH(tasks) && strcmp(task, tasks[which].name)) which++;
  PetscCheck(which < PETSC_STATIC_ARRAY_LENGTH(tasks), PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-task %s: see -help", task);
  PetscCall(CreateProblem(&p));
  PetscCall(tasks[which].run(&p));
  PetscCall(DestroyProblem(&p));
  PetscCall(PetscFinalize());
  return 0;
}
