static char help[] =
    "Sweeps by polynomials in one march through a grid, on random grids, and the same steps one by one: the same \
bits.\n\
  -first <0> -cases <24>   which random cases\n\
  -cycles                  cycles on one process, and PCMG with its own residuals and transfers\n\n";

/*
  Sweeps: a process that has the grid marches, several that share it go step by step. Cycles: on arrays x is not kept
  between the way down and the way up; PCMG's vectors keep it.
*/

#include "grids.h"
#include "poisson.h"

static PetscErrorCode CaseGrid(PetscInt number, Grid *g, PetscBool *possible)
{
  const PetscInt most[3] = {0, 70, 34};

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(g, sizeof(*g)));
  g->number = number;
  g->dim    = 2 + number % 2;
  for (PetscInt d = 0; d < 3; d++) {
    g->size[d]        = d < g->dim ? 1 + GridChoose(g, 1 + d, most[g->dim - 1]) : 1;
    g->strength[d]    = (PetscReal)(1 << GridChoose(g, 13 + d, 3)); /* bounds of eigenvalues have no rounding */
    g->boundary[d][0] = (GridBoundary)GridChoose(g, 4 + d, 3);
    g->boundary[d][1] = (GridBoundary)GridChoose(g, 7 + d, 3);
  }
  g->boundary[0][0] = (GridBoundary)GridChoose(g, 4, 2); /* regular */
  g->box            = (PetscBool)(GridChoose(g, 10, 3) == 0);
  g->uneven         = (PetscBool)GridChoose(g, 11, 2);
  g->vary           = GridChoose(g, 12, 2) * 0.6;
  PetscCall(GridDistribute(g, possible));
  PetscFunctionReturn(0);
}

/* Sweeps from zero, or from what x is */
static PetscErrorCode Sweep(const Grid *g, DM da, Vec x)
{
  const PetscBool             zero = (PetscBool)GridChoose(g, 31, 2);
  PCRichardsonConvergedReason reason;
  PetscInt                    its;
  Mat                         A;
  Vec                         b, work;
  PC                          pc;

  PetscFunctionBeginUser;
  PetscCall(GridCreateMat(g, da, MATSTENCIL, &A));
  PetscCall(DuplicateVec(x, &b, &work));
  PetscCall(GridFill(g, da, 1, x));
  PetscCall(GridFill(g, da, 2, b));
  PetscCall(MakePC(A, PCRELAX, &pc));
  PetscCall(PCRelaxSetType(pc, GridChoose(g, 32, 3) ? PC_RELAX_CHEBYSHEV : PC_RELAX_JACOBI));
  PetscCall(PCRelaxSetDegree(pc, 1 + GridChoose(g, 33, 6)));
  PetscCall(PCSetUp(pc));
  PetscCall(PCApplyRichardson(pc, b, x, work, 0, 0, 0, 1 + GridChoose(g, 34, 5), zero, &its, &reason));
  PetscCall(DestroyAll(&pc, &b, &work, &A));
  PetscFunctionReturn(0);
}

/* On all processes, and on each by itself */
static PetscErrorCode CompareSweeps(const Grid *g, PetscInt *wrong)
{
  Grid               own = *g;
  DM                 da, alone;
  Vec                x, y;
  const PetscScalar *a, *b;
  PetscInt           s[3], n[3], different = 0;

  PetscFunctionBeginUser;
  own.alone    = PETSC_TRUE;
  own.nproc[0] = 0;
  PetscCall(GridCreateDM(g, &da));
  PetscCall(GridCreateDM(&own, &alone));
  PetscCall(DMCreateGlobalVector(da, &x));
  PetscCall(DMCreateGlobalVector(alone, &y));
  PetscCall(Sweep(g, da, x));
  PetscCall(Sweep(&own, alone, y));
  PetscCall(DMDAGetCorners(da, &s[0], &s[1], &s[2], &n[0], &n[1], &n[2]));
  PetscCall(VecGetArrayRead(x, &a));
  PetscCall(VecGetArrayRead(y, &b));
  for (PetscInt line = 0; line < n[1] * n[2]; line++) {
    const PetscInt at[3] = {s[0], s[1] + line % n[1], s[2] + line / n[1]};

    different |= memcmp(a + n[0] * line, b + GridNumber(g, at), (size_t)n[0] * sizeof(*a)) != 0;
  }
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCall(VecRestoreArrayRead(y, &b));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &different, 1, MPIU_INT, MPI_MAX, PETSC_COMM_WORLD));
  if (different) PetscCall(GridShow(g, "sweeps"));
  *wrong += different;
  PetscCall(DestroyAll(&x, &y, &da, &alone));
  PetscFunctionReturn(0);
}

static PetscErrorCode OwnResidual(Mat A, Vec b, Vec x, Vec r)
{
  return MatResidual(A, b, x, r);
}

/* Cycles in turn; objects: PCMG's levels, with residuals by the program */
static PetscErrorCode Cycle(const Grid *g, DM da, Mat A, PetscBool objects, PetscBool single, Vec b, Vec x[3])
{
  char         options[256];
  PetscOptions own;
  PetscInt     nlevels;
  KSP          ksp;
  PC           pc;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(options, sizeof(options),
                          "-mg_levels_pc_relax_type %s -mg_levels_pc_relax_degree %d -mg_levels_ksp_max_it %d "
                          "-pc_kcycle_kappa %d -pc_kcycle_semicoarsen %s %s",
                          GridChoose(g, 32, 3) ? "chebyshev" : "jacobi", (int)(1 + GridChoose(g, 33, 4)),
                          (int)(1 + GridChoose(g, 34, 3)), (int)(1 + GridChoose(g, 35, 3)),
                          g->dim == 3 && GridChoose(g, 36, 4) == 0 ? "yz" : "xyz",
                          single ? "-pc_kcycle_precision single" : ""));
  PetscCall(PushOptions(options, &own));
  PetscCall(MakeKSP(A, KSPRICHARDSON, PCKCYCLE, &ksp, &pc));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, 1e-30, 1e-300, PETSC_DEFAULT, 1));
  PetscCall(PCSetDM(pc, da));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PCMGGetLevels(pc, &nlevels));
  for (PetscInt l = 1; objects && l < nlevels; l++) PetscCall(PCMGSetResidual(pc, l, OwnResidual, NULL));
  PetscCall(PCApply(pc, b, x[0]));
  PetscCall(PCApplyTranspose(pc, b, x[1]));
  PetscCall(KSPSolve(ksp, b, x[2]));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PopOptions(&own));
  PetscFunctionReturn(0);
}

/* Transposed cycles, whose coarsest solves have another rounding */
static PetscErrorCode Near(const Grid *g, const char what[], Vec x, Vec y, PetscInt *wrong)
{
  PetscReal size, apart;

  PetscFunctionBeginUser;
  PetscCall(DifferenceNorms(y, x, NORM_2, &apart, &size));
  if (apart > 1e-12 * size) PetscCall(GridShow(g, what));
  *wrong += apart > 1e-12 * size ? 1 : 0;
  PetscFunctionReturn(0);
}

static PetscErrorCode Same(const Grid *g, const char what[], Vec x, Vec y, PetscInt *wrong)
{
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(VecEqual(x, y, &same));
  if (!same) PetscCall(GridShow(g, what));
  *wrong += same ? 0 : 1;
  PetscFunctionReturn(0);
}

/* Cycles on arrays and on PCMG's objects; and from zero with a norm taken in the pass, which needs x, and without */
static PetscErrorCode CompareCycles(const Grid *g, PetscInt *wrong)
{
  DM  da;
  Mat A;
  Vec b, x[3][3];

  PetscFunctionBeginUser;
  PetscCall(GridCreateDM(g, &da));
  PetscCall(GridCreateMat(g, da, MATSTENCIL, &A));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(GridFill(g, da, 2, b));
  for (int i = 0; i < 9; i++) PetscCall(VecDuplicate(b, &x[i / 3][i % 3]));
  for (int i = 0; i < 3; i++) PetscCall(Cycle(g, da, A, (PetscBool)(i == 1), (PetscBool)(i == 2), b, x[i]));
  PetscCall(Same(g, "a cycle and PCMG's", x[0][0], x[1][0], wrong));
  PetscCall(Near(g, "the transposed cycle and PCMG's", x[0][1], x[1][1], wrong));
  PetscCall(Same(g, "a cycle with and without norm", x[0][0], x[0][2], wrong));
  PetscCall(Same(g, "a cycle with and without norm, in single precision", x[2][0], x[2][2], wrong));
  for (int i = 0; i < 9; i++) PetscCall(VecDestroy(&x[i / 3][i % 3]));
  PetscCall(DestroyAll(&b, &A, &da));
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
    Grid      g;
    PetscBool possible = PETSC_FALSE;

    PetscCall(CaseGrid(number, &g, &possible));
    if (!possible) continue;
    PetscCall(Given("-cycles") ? CompareCycles(&g, &wrong) : CompareSweeps(&g, &wrong));
    done++;
  }
  PetscCall(Claim(done > cases / 2 && !wrong, "random grids, the same bits"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: sweeps
    nsize: {{2 4}}

  test:
    suffix: cycles
    requires: !complex
    args: -cycles

TEST*/
