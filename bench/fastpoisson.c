/*
  PCFASTPOISSON beside FFTW called by hand, beside PCKCYCLE with a reduction of 1e-8, and beside the matrix products of
  eigenvectors: seconds of a processor in this process, smallest of several runs that take turns. One line of numbers
  for each case, NAME=value.
*/
#include <petsckcycle.h>
#include <petscdmda.h>
#include <petscblaslapack.h>
#include <fftw3.h>
#include <time.h>

typedef struct {
  PetscInt  dim, n;
  PetscBool stretched, stencil;
  PetscInt  repeat;
} Case;

static double Now(void)
{
  struct timespec t;

  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Distance of point i from the one before it */
static PetscReal Distance(const Case *c, PetscInt i)
{
  const PetscReal s = (PetscReal)i / c->n - 0.5;

  return c->stretched ? 0.3 + 2 * s * s : 1;
}

static PetscErrorCode Assemble(const Case *c, DM da, Mat A)
{
  PetscInt s[3], m[3], at[3];

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &s[0], &s[1], &s[2], &m[0], &m[1], &m[2]));
  for (at[2] = s[2]; at[2] < s[2] + m[2]; at[2]++) {
    for (at[1] = s[1]; at[1] < s[1] + m[1]; at[1]++) {
      for (at[0] = s[0]; at[0] < s[0] + m[0]; at[0]++) {
        MatStencil  col[7];
        PetscScalar v[7];
        PetscReal   volume = 1;
        PetscInt    count  = 1;

        col[0] = (MatStencil){at[2], at[1], at[0], 0};
        v[0]   = 0;
        for (PetscInt d = 0; d < c->dim; d++) volume *= (Distance(c, at[d]) + Distance(c, at[d] + 1)) / 2;
        for (PetscInt d = 0; d < c->dim; d++) {
          for (PetscInt side = 0; side < 2; side++) {
            PetscInt        to[3] = {at[0], at[1], at[2]};
            const PetscReal h     = (Distance(c, at[d]) + Distance(c, at[d] + 1)) / 2;
            const PetscReal value = volume / (h * Distance(c, at[d] + side));

            to[d] += side ? 1 : -1;
            v[0] += value;
            if (to[d] < 0 || to[d] >= c->n) continue;
            col[count] = (MatStencil){to[2], to[1], to[0], 0};
            v[count++] = -value;
          }
        }
        PetscCall(MatSetValuesStencil(A, 1, col, count, col, v, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(const Case *c, DM *da, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(DMDACreate(PETSC_COMM_WORLD, da));
  PetscCall(DMSetDimension(*da, c->dim));
  PetscCall(DMDASetSizes(*da, c->n, c->dim > 1 ? c->n : 1, c->dim > 2 ? c->n : 1));
  PetscCall(DMDASetDof(*da, 1));
  PetscCall(DMDASetStencilType(*da, DMDA_STENCIL_STAR));
  PetscCall(DMDASetStencilWidth(*da, 1));
  PetscCall(DMSetUp(*da));
  PetscCall(DMSetMatType(*da, c->stencil ? MATSTENCIL : MATAIJ));
  PetscCall(DMCreateMatrix(*da, A));
  PetscCall(Assemble(c, *da, *A));
  PetscFunctionReturn(0);
}

/* Sine transforms of all directions, division by eigenvalues, and back, as one would call FFTW by hand: plans and all.
   only: of so many directions, the fastest in memory, and without the division */
static PetscErrorCode PlainFFTW(const Case *c, int only, const PetscScalar *b, PetscScalar *x, double *seconds)
{
  const int n = (int)c->n, dim = only ? only : (int)c->dim, sizes[3] = {n, n, n};
  const int distance = dim == 1 ? n : n * n, many = dim == (int)c->dim ? 1 : n * n * (c->dim == 3 ? n : 1) / distance;
  const PetscInt      lines   = c->dim == 3 ? c->n * c->n : c->n;
  const fftw_r2r_kind kind[3] = {FFTW_RODFT00, FFTW_RODFT00, FFTW_RODFT00};
  const double        start = Now(), norm = 1 / PetscPowReal(2.0 * (n + 1), dim);
  PetscReal          *lambda;
  fftw_plan           forth, back;

  PetscFunctionBeginUser;
  forth =
      fftw_plan_many_r2r(dim, sizes, many, (double *)b, NULL, 1, distance, x, NULL, 1, distance, kind, FFTW_ESTIMATE);
  back = fftw_plan_many_r2r(dim, sizes, many, x, NULL, 1, distance, x, NULL, 1, distance, kind, FFTW_ESTIMATE);
  fftw_execute(forth);
  if (!only) {
    PetscCall(PetscMalloc1(n, &lambda));
    for (int k = 0; k < n; k++) lambda[k] = 2 - 2 * cos(PETSC_PI * (k + 1) / (n + 1));
    for (PetscInt l = 0; l < lines; l++) {
      const PetscReal other = lambda[l % n] + (c->dim == 3 ? lambda[l / n] : 0);

      for (PetscInt i = 0; i < n; i++) x[l * n + i] *= norm / (lambda[i] + other);
    }
    PetscCall(PetscFree(lambda));
  }
  fftw_execute(back);
  *seconds = Now() - start;
  fftw_destroy_plan(forth);
  fftw_destroy_plan(back);
  PetscFunctionReturn(0);
}

/* Two products with a matrix of n columns in each of so many directions, as one call of DGEMM each */
static PetscErrorCode PlainProducts(const Case *c, int directions, const PetscScalar *b, PetscScalar *x,
                                    double *seconds)
{
  const PetscScalar one = 1, zero = 0;
  PetscBLASInt      n = (PetscBLASInt)c->n, m = (PetscBLASInt)(c->dim == 3 ? c->n * c->n : c->n);
  PetscScalar      *q;
  double            start;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)n * n, &q));
  for (PetscInt i = 0; i < n * n; i++) q[i] = 1.0 / (1 + i);
  start = Now();
  for (int p = 0; p < 2 * directions; p++) BLASgemm_("N", "N", &n, &m, &n, &one, q, &n, b, &n, &zero, x, &n);
  *seconds = Now() - start;
  PetscCall(PetscFree(q));
  PetscFunctionReturn(0);
}

/* A new solver: seconds of its set-up and of the solve, and the norm of what is left of the right side */
static PetscErrorCode Solve(const char type[], KSPType ksptype, Mat A, DM da, Vec b, Vec x, double seconds[],
                            PetscReal *left)
{
  KSP       ksp;
  PC        pc;
  Vec       r;
  PetscReal norm;
  double    start;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, ksptype));
  if (strcmp(ksptype, KSPPREONLY)) PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, 1e-8, 0, PETSC_DEFAULT, 100));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, type));
  PetscCall(PCSetDM(pc, da));
  PetscCall(KSPSetFromOptions(ksp));
  start = Now();
  PetscCall(KSPSetUp(ksp));
  seconds[0] = Now() - start;
  start      = Now();
  PetscCall(KSPSolve(ksp, b, x));
  seconds[1] = Now() - start;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, left));
  PetscCall(VecNorm(b, NORM_2, &norm));
  *left /= norm;
  PetscCall(VecDestroy(&r));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

enum {
  PLAIN,
  SAME,
  PRODUCTS,
  FAST_SETUP,
  FAST_SOLVE,
  FAST,
  KCYCLE_SETUP,
  KCYCLE_SOLVE,
  KCYCLE,
  NUM
};

static PetscErrorCode Run(const Case *c)
{
  const char        *names[NUM] = {"fftw", "fftw_same",    "products",     "setup", "solve",
                                   "both", "kcycle_setup", "kcycle_solve", "kcycle"};
  double             best[NUM], now[NUM] = {0};
  PetscReal          left[2];
  const PetscScalar *ba;
  PetscScalar       *xa;
  DM                 da;
  Mat                A;
  Vec                b, x;

  PetscFunctionBeginUser;
  PetscCall(Create(c, &da, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSetRandom(b, NULL));
  for (int i = 0; i < NUM; i++) best[i] = PETSC_MAX_REAL;
  for (PetscInt r = 0; r < c->repeat; r++) {
    PetscCall(VecGetArrayRead(b, &ba));
    PetscCall(VecGetArray(x, &xa));
    if (!c->stretched) PetscCall(PlainFFTW(c, 0, ba, xa, &now[PLAIN]));
    if (!c->stretched && c->dim > 1) PetscCall(PlainFFTW(c, (int)c->dim - 1, ba, xa, &now[SAME]));
    if (c->stretched) PetscCall(PlainProducts(c, (int)c->dim, ba, xa, &now[PRODUCTS]));
    PetscCall(VecRestoreArray(x, &xa));
    PetscCall(VecRestoreArrayRead(b, &ba));
    PetscCall(Solve(PCFASTPOISSON, KSPPREONLY, A, da, b, x, &now[FAST_SETUP], &left[0]));
    PetscCall(Solve(PCKCYCLE, KSPCG, A, da, b, x, &now[KCYCLE_SETUP], &left[1]));
    now[FAST]   = now[FAST_SETUP] + now[FAST_SOLVE];
    now[KCYCLE] = now[KCYCLE_SETUP] + now[KCYCLE_SOLVE];
    for (int i = 0; i < NUM; i++) best[i] = PetscMin(best[i], now[i]);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "dim=%d n=%d grid=%s matrix=%s", (int)c->dim, (int)c->n,
                        c->stretched ? "stretched" : "uniform", c->stencil ? "stencil" : "aij"));
  for (int i = 0; i < NUM; i++) {
    if (best[i] > 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %s=%.4g", names[i], best[i]));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, " residual=%.1e kcycle_residual=%.1e\n", (double)left[0], (double)left[1]));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Case c = {2, 255, PETSC_FALSE, PETSC_FALSE, 5};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(KCycleInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &c.dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &c.n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &c.repeat, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-stretched", &c.stretched, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-stencil", &c.stencil, NULL));
  PetscCall(Run(&c));
  PetscCall(PetscFinalize());
  return 0;
}
