static char help[] =
    "Products, sweeps, transfers and cycles on random grids, again with other numbers of threads: the same bits each \
time.\n\
  -first <0> -cases <24>   which random cases\n\n";

/*
  A library made with OPENMP=1 brings omp_set_num_threads(); without it everything just runs again. Grids are large
  enough for threads to share their lines.
*/

#include "grids.h"
#include <dlfcn.h>

#define RUNS   4 /* with 1, 2, ... threads */
#define MOST   8 /* results of a run */
#define SWEEPS 5

typedef struct {
  Grid g;
  DM   da;
  Mat  A, B; /* symmetric, and with rows scaled by numbers of their own: lines of B keep all their coefficients */
  Vec  x, b, result[MOST];
  PC   relax[2], kcycle[2];
} Case;

static void SetThreads(int n)
{
  void (*set)(int);

  *(void **)(&set) = dlsym(NULL, "omp_set_num_threads");
  if (set) (*set)(n);
}

static PetscErrorCode CaseGrid(Case *c, PetscInt number, PetscBool *possible)
{
  Grid *g = &c->g;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(c, sizeof(*c)));
  g->number = number;
  g->dim    = number % 6 == 0 ? 1 : number % 6 == 1 ? 2 : 3;
  for (PetscInt d = 0; d < 3; d++) {
    g->size[d]        = d >= g->dim   ? 1
                        : g->dim == 3 ? (d == 2 ? 4 : 58) + GridChoose(g, 1 + d, 20)
                                      : 20 + GridChoose(g, 1 + d, 180);
    g->strength[d]    = 0.5 + GridHash(number, d, 5, 6);
    g->boundary[d][0] = (GridBoundary)GridChoose(g, 4 + d, 4);
    g->boundary[d][1] =
        g->boundary[d][0] == BOUNDARY_PERIODIC ? BOUNDARY_PERIODIC : (GridBoundary)GridChoose(g, 7 + d, 3);
  }
  g->box  = (PetscBool)(g->dim > 1 && GridChoose(g, 10, 3) == 0);
  g->vary = GridChoose(g, 12, 2) * 0.6;
  PetscCall(GridDistribute(g, possible));
  PetscFunctionReturn(0);
}

/* Sweeps on both matrices, and a cycle with coloured sweeps, whose transfers are fused with them, or with Jacobi
   sweeps, whose transfers are not */
static PetscErrorCode CaseSolvers(Case *c)
{
  const PetscInt    number           = c->g.number;
  const PCRelaxType types[2][SWEEPS] = {
      {PC_RELAX_REDBLACK, PC_RELAX_JACOBI, PC_RELAX_REDBLACK, PC_RELAX_CHEBYSHEV, PC_RELAX_REDBLACK},
      {c->g.dim == 3 ? PC_RELAX_EIGHTCOLOR : PC_RELAX_FOURCOLOR, PC_RELAX_JACOBI, PC_RELAX_AUTO, PC_RELAX_CHEBYSHEV,
       PC_RELAX_AUTO}};

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 2; i++) {
    const PCRelaxType type = types[c->g.box || (c->g.dim > 1 && number % 4 == 3)][(number + i) % SWEEPS];

    PetscCall(MakePC(i ? c->B : c->A, PCRELAX, &c->relax[i]));
    PetscCall(PCRelaxSetType(c->relax[i], type));
    PetscCall(PCRelaxSetOrder(c->relax[i], (PCRelaxOrderType)(number % 3)));
    if (GridChoose(&c->g, 30 + i, 3) == 0) PetscCall(PCRelaxSetOmega(c->relax[i], 0.8));
    PetscCall(PCSetUp(c->relax[i]));
    PetscCall(MakePC(c->A, PCKCYCLE, &c->kcycle[i]));
    PetscCall(PCSetOptionsPrefix(c->kcycle[i], i ? "jacobi_" : "coloured_"));
    PetscCall(PCSetFromOptions(c->kcycle[i]));
    PetscCall(PCSetUp(c->kcycle[i]));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CaseCreate(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(GridCreateDM(&c->g, &c->da));
  PetscCall(GridCreateMat(&c->g, c->da, MATSTENCIL, &c->A));
  PetscCall(MatCreateVecs(c->A, &c->x, &c->b));
  PetscCall(GridFill(&c->g, c->da, 1, c->x));
  PetscCall(GridFill(&c->g, c->da, 2, c->b));
  for (PetscInt i = 0; i < MOST; i++) PetscCall(VecDuplicate(c->b, &c->result[i]));
  PetscCall(VecShift(c->x, 2));
  PetscCall(MatDuplicate(c->A, MAT_COPY_VALUES, &c->B));
  PetscCall(MatDiagonalScale(c->B, c->x, NULL));
  PetscCall(CaseSolvers(c));
  PetscFunctionReturn(0);
}

static PetscErrorCode CaseDestroy(Case *c)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 2; i++) PetscCall(DestroyAll(&c->relax[i], &c->kcycle[i]));
  for (PetscInt i = 0; i < MOST; i++) PetscCall(VecDestroy(&c->result[i]));
  PetscCall(DestroyAll(&c->x, &c->b, &c->A, &c->B, &c->da));
  PetscFunctionReturn(0);
}

static PetscErrorCode CaseRun(Case *c)
{
  PCRichardsonConvergedReason reason;
  PetscInt                    its;
  Vec                        *y = c->result;

  PetscFunctionBeginUser;
  PetscCall(MatMult(c->A, c->x, y[0]));
  PetscCall(MatResidual(c->B, c->b, c->x, y[1]));
  PetscCall(MatMultTranspose(c->B, c->x, y[2]));
  PetscCall(MatMultAdd(c->B, c->x, c->b, y[3]));
  for (PetscInt i = 0; i < 2; i++) {
    const PetscBool zero = (PetscBool)((c->g.number + i) % 2);

    PetscCall(VecCopy(c->x, y[4 + i]));
    PetscCall(PCApplyRichardson(c->relax[i], c->b, y[4 + i], NULL, 0, 0, 0, 1 + c->g.number % 4, zero, &its, &reason));
    PetscCall(PCApply(c->kcycle[i], c->b, y[6 + i]));
  }
  PetscFunctionReturn(0);
}

/* Are the results those of the first run, bit by bit? */
static PetscErrorCode Compare(const Case *c, PetscScalar *first, PetscBool keep, PetscInt *different)
{
  PetscInt n;

  PetscFunctionBeginUser;
  *different = -1;
  PetscCall(VecGetLocalSize(c->b, &n));
  for (PetscInt i = 0; i < MOST; i++) {
    const PetscScalar *a;

    PetscCall(VecGetArrayRead(c->result[i], &a));
    if (keep) PetscCall(PetscArraycpy(first + i * n, a, n));
    else if (*different < 0 && memcmp(first + i * n, a, (size_t)n * sizeof(PetscScalar))) *different = i;
    PetscCall(VecRestoreArrayRead(c->result[i], &a));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, different, 1, MPIU_INT, MPI_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

static PetscErrorCode CaseAll(Case *c, PetscInt *wrong)
{
  const char *const names[MOST] = {"product",         "residual",     "product with the transpose",
                                   "product and sum", "sweeps",       "sweeps, unsymmetric",
                                   "cycle",           "cycle, Jacobi"};
  PetscScalar      *first;
  PetscInt          n, different;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(c->b, &n));
  PetscCall(PetscMalloc1(MOST * n, &first));
  for (int run = 0; run < RUNS; run++) {
    SetThreads(1 + run);
    PetscCall(CaseRun(c));
    PetscCall(Compare(c, first, (PetscBool)(run == 0), &different));
    if (different < 0) continue;
    PetscCall(GridShow(&c->g, names[different]));
    PetscCall(Print("  with %d threads\n", 1 + run));
    (*wrong)++;
  }
  SetThreads(RUNS);
  PetscCall(PetscFree(first));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt first = 0, cases = 24, done = 0, wrong = 0;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-first", &first, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cases", &cases, NULL));
  for (PetscInt number = first; number < first + cases; number++) {
    Case      c;
    PetscBool possible = PETSC_FALSE;

    PetscCall(CaseGrid(&c, number, &possible));
    if (!possible) continue;
    PetscCall(CaseCreate(&c));
    PetscCall(CaseAll(&c, &wrong));
    PetscCall(CaseDestroy(&c));
    done++;
  }
  PetscCall(ClaimThat(!wrong, "%" PetscInt_FMT " random grids, %d runs each: the same numbers", done, RUNS));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    requires: defined(KCYCLE_HAVE_OPENMP)
    suffix: bits
    requires: !complex
    nsize: {{1 2}}
    env: OMP_NUM_THREADS=4
    args: -jacobi_pc_kcycle_structured on -jacobi_mg_levels_pc_relax_type jacobi -coloured_pc_kcycle_structured on

TEST*/
