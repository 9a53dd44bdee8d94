static char help[] =
    "Operators whose entries are not in rows (MATNEST, MATIS), and those with zeros on the diagonal; a DM with a \
coarse one on fewer processes.\n\
  -test <name>  nest, is, saddle, telescope\n\n";

#include "poisson.h"
#include <petscdmshell.h>
#include <petsckcycle/private/compat.h>

typedef struct {
  Mat      A;
  Vec      b, x;
  KSP      ksp;
  PetscInt its; /* of the last solve; -1 if it did not converge, or the residual is not small */
} Solver;

/* Generalised minimal residuals from the right, so that the true residual decides */
static PetscErrorCode Create(Mat A, Vec b, Solver *s)
{
  PetscFunctionBeginUser;
  s->A = A;
  s->b = b;
  PetscCall(VecDuplicate(b, &s->x));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &s->ksp));
  PetscCall(KSPSetType(s->ksp, KSPGMRES));
  PetscCall(KSPSetPCSide(s->ksp, PC_RIGHT));
  PetscCall(KSPSetTolerances(s->ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  PetscCall(KSPSetOperators(s->ksp, A, A));
  PetscCall(KSPSetFromOptions(s->ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(Solver *s)
{
  KSPConvergedReason reason;
  PetscReal          residual;

  PetscFunctionBeginUser;
  PetscCall(SolveSystem(s->ksp, s->b, s->x, &s->its, &reason));
  PetscCall(RelativeResidual(s->A, s->b, s->x, &residual));
  if (reason <= 0 || residual > 1e-7) s->its = -1;
  PetscFunctionReturn(0);
}

static PetscErrorCode Destroy(Solver *s)
{
  return DestroyAll(&s->x, &s->ksp);
}

/* A copy of an operator in MATAIJ, with a solver of its own */
static PetscErrorCode CreateCopy(const Solver *s, DM dm, Solver *copy)
{
  MatNullSpace nullspace;
  Mat          A;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(s->A, MATAIJ, MAT_INITIAL_MATRIX, &A));
  PetscCall(MatSetDM(A, dm));
  PetscCall(MatGetNullSpace(s->A, &nullspace));
  PetscCall(MatSetNullSpace(A, nullspace));
  PetscCall(Create(A, s->b, copy));
  PetscFunctionReturn(0);
}

/* Both solvers take as many iterations */
static PetscErrorCode Compare(Solver *s, Solver *copy, const char claim[])
{
  PetscFunctionBeginUser;
  PetscCall(MatConvert(s->A, MATAIJ, MAT_REUSE_MATRIX, &copy->A));
  PetscCall(Solve(s));
  PetscCall(Solve(copy));
  PetscCall(Claim(s->its > 0 && s->its == copy->its, claim));
  PetscFunctionReturn(0);
}

/* The same matrix in another type, row by row */
static PetscErrorCode CreateAs(Mat A, MatType type, Mat *B)
{
  PetscInt  n, start, end;
  PetscBool upper;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &n, NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, B));
  PetscCall(MatSetSizes(*B, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*B, type));
  PetscCall(MatSetUp(*B));
  PetscCall(MatSetOption(*B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(PetscStrcmp(type, MATSBAIJ, &upper));
  if (upper) PetscCall(MatSetOption(*B, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt row = start; row < end; row++) {
    PetscInt           ncols;
    const PetscInt    *cols;
    const PetscScalar *values;

    PetscCall(MatGetRow(A, row, &ncols, &cols, &values));
    PetscCall(MatSetValues(*B, 1, &row, ncols, cols, values, INSERT_VALUES));
    PetscCall(MatRestoreRow(A, row, &ncols, &cols, &values));
  }
  PetscCall(AssembleMat(*B));
  PetscFunctionReturn(0);
}

/* Blocks are copied where there is no grid: as many iterations as in MATAIJ */
static PetscErrorCode Blocks(Solver *aij)
{
  const char *const types[] = {MATBAIJ, MATSBAIJ};
  PetscBool         same    = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(Solve(aij));
  for (int i = 0; i < 2; i++) {
    Solver s;
    Mat    A;

    PetscCall(CreateAs(aij->A, types[i], &A));
    PetscCall(Create(A, aij->b, &s));
    for (int solve = 0; solve < 2; solve++) {
      PetscCall(Solve(&s));
      if (s.its != aij->its || s.its < 1) same = PETSC_FALSE;
      PetscCall(MatScale(A, 2.0));
    }
    PetscCall(Destroy(&s));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(Claim(same, "baij, sbaij"));
  PetscFunctionReturn(0);
}

/* PCGAMG makes a single level of six rows, all coupled; the view shows it */
static PetscErrorCode Tiny(void)
{
  const PetscInt n = 6;
  PetscInt       start, end;
  Mat            A;
  Vec            b;
  Solver         s;
  PetscViewer    viewer;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, n, NULL, n, NULL, &A));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    for (PetscInt j = 0; j < n; j++) PetscCall(MatSetValue(A, i, j, i == j ? 9 : -1.0 / (1 + i + j), INSERT_VALUES));
  }
  PetscCall(AssembleMat(A));
  PetscCall(MatCreateVecs(A, NULL, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(Create(A, b, &s));
  PetscCall(Solve(&s));
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, "/dev/null", &viewer));
  PetscCall(KSPView(s.ksp, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(Claim(s.its > 0, "six rows"));
  PetscCall(Destroy(&s));
  PetscCall(DestroyAll(&A, &b));
  PetscFunctionReturn(0);
}

/* Two Laplacians that a multiple of the identity couples */
static PetscErrorCode Nest(void)
{
  Poisson p;
  DM      da;
  Mat     K[4], A;
  Vec     b, part, filled;
  IS      rows[2];
  Solver  s, copy;

  PetscFunctionBeginUser;
  PetscCall(PoissonSetFromOptions(&p));
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, &p, &da));
  for (int i = 0; i < 4; i++) {
    PetscCall(DMCreateMatrix(da, &K[i]));
    if (i % 3 == 0) PetscCall(PoissonAssemble(&p, da, K[i]));
    PetscCall(AssembleMat(K[i]));
    if (i % 3) PetscCall(MatShift(K[i], 0.1));
  }
  PetscCall(MatCreateNest(PETSC_COMM_WORLD, 2, NULL, 2, NULL, K, &A));
  PetscCall(MatCreateVecs(A, NULL, &b));
  PetscCall(MatNestGetISs(A, rows, NULL));
  PetscCall(DMCreateGlobalVector(da, &filled));
  PetscCall(PoissonFill(&p, da, filled));
  for (int i = 0; i < 2; i++) {
    PetscCall(VecGetSubVector(b, rows[i], &part));
    PetscCall(VecCopy(filled, part));
    PetscCall(VecRestoreSubVector(b, rows[i], &part));
  }
  PetscCall(VecDestroy(&filled));
  PetscCall(Create(A, b, &s));
  PetscCall(CreateCopy(&s, NULL, &copy));
  PetscCall(Compare(&s, &copy, "nest"));
  PetscCall(MatScale(K[0], 3.0));
  PetscCall(AssembleMat(A));
  PetscCall(Compare(&s, &copy, "nest, other values"));
  PetscCall(Blocks(&copy));
  PetscCall(Tiny());
  PetscCall(Destroy(&s));
  PetscCall(MatDestroy(&copy.A));
  PetscCall(Destroy(&copy));
  for (int i = 0; i < 4; i++) PetscCall(MatDestroy(&K[i]));
  PetscCall(DestroyAll(&A, &b, &da));
  PetscFunctionReturn(0);
}

/* Bilinear elements, no Dirichlet points: each process adds those that it owns, times a factor */
static PetscErrorCode AssembleElements(DM da, PetscScalar factor, Mat A)
{
  const PetscReal element[4][4] = {{4, -1, -2, -1}, {-1, 4, -1, -2}, {-2, -1, 4, -1}, {-1, -2, -1, 4}};
  PetscInt        n, per;
  const PetscInt *e;

  PetscFunctionBeginUser;
  PetscCall(MatZeroEntries(A));
  PetscCall(DMDAGetElements(da, &n, &per, &e));
  for (PetscInt i = 0; i < n; i++) {
    PetscScalar values[16];

    for (int k = 0; k < 16; k++) values[k] = factor * element[k / 4][k % 4] / 6;
    PetscCall(MatSetValuesLocal(A, 4, &e[4 * i], 4, &e[4 * i], values, ADD_VALUES));
  }
  PetscCall(DMDARestoreElements(da, &n, &per, &e));
  PetscCall(AssembleMat(A));
  PetscFunctionReturn(0);
}

static PetscErrorCode Subdomains(void)
{
  Poisson p;
  DM      da;
  Mat     A;
  Vec     b;
  Solver  s, copy;

  PetscFunctionBeginUser;
  PetscCall(PoissonSetFromOptions(&p));
  p.neumann = PETSC_TRUE;
  PetscCall(MakeDM(PETSC_COMM_WORLD, 2, (PetscInt[]){p.n, p.n}, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, &da));
  PetscCall(DMSetMatType(da, MATIS));
  PetscCall(DMSetUp(da));
  PetscCall(DMDASetElementType(da, DMDA_ELEMENT_Q1));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(AssembleElements(da, 1, A));
  PetscCall(AttachConstants(A, NULL));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(PoissonFill(&p, da, b));
  PetscCall(Create(A, b, &s));
  PetscCall(CreateCopy(&s, da, &copy));
  PetscCall(Compare(&s, &copy, "is"));
  PetscCall(AssembleElements(da, 5, A));
  PetscCall(Compare(&s, &copy, "is, other values"));
  PetscCall(Destroy(&s));
  PetscCall(MatDestroy(&copy.A));
  PetscCall(Destroy(&copy));
  PetscCall(DestroyAll(&A, &b, &da));
  PetscFunctionReturn(0);
}

/* A Laplacian for the first unknown of a point; the second one is a multiplier, whose diagonal entry is zero where
   the last argument says so */
static PetscErrorCode AssembleSaddle(DM da, PetscInt n, PetscBool zero, Mat A)
{
  PetscInt start[2], width[2];

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], NULL, &width[0], &width[1], NULL));
  for (PetscInt j = start[1]; j < start[1] + width[1]; j++) {
    for (PetscInt i = start[0]; i < start[0] + width[0]; i++) {
      const MatStencil row = {.j = j, .i = i, .c = 0}, multiplier = {.j = j, .i = i, .c = 1};
      const MatStencil to[4] = {{.j = j, .i = i - 1}, {.j = j, .i = i + 1}, {.j = j - 1, .i = i}, {.j = j + 1, .i = i}};
      const PetscScalar coupling = -1, diagonal = 4, tie = 0.5, own = zero ? 0 : -1;

      for (int k = 0; k < 4; k++) {
        if (to[k].i >= 0 && to[k].j >= 0 && to[k].i < n && to[k].j < n)
          PetscCall(MatSetValuesStencil(A, 1, &row, 1, &to[k], &coupling, INSERT_VALUES));
      }
      PetscCall(MatSetValuesStencil(A, 1, &row, 1, &row, &diagonal, INSERT_VALUES));
      PetscCall(MatSetValuesStencil(A, 1, &row, 1, &multiplier, &tie, INSERT_VALUES));
      PetscCall(MatSetValuesStencil(A, 1, &multiplier, 1, &row, &tie, INSERT_VALUES));
      PetscCall(MatSetValuesStencil(A, 1, &multiplier, 1, &multiplier, &own, INSERT_VALUES));
    }
  }
  PetscCall(AssembleMat(A));
  PetscFunctionReturn(0);
}

/* Is the smoother of the finest level an incomplete factorization, in blocks on several processes? */
static PetscErrorCode SmoothsByFactors(KSP ksp, PetscBool *does)
{
  PC       pc;
  KSP      smoother;
  PetscInt nlevels;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGGetLevels(pc, &nlevels));
  PetscCall(PCMGGetSmoother(pc, nlevels - 1, &smoother));
  PetscCall(KSPGetPC(smoother, &pc));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, does, PCILU, PCBJACOBI, ""));
  *does = (PetscBool)(*does && nlevels > 1);
  PetscFunctionReturn(0);
}

static PetscErrorCode Saddle(void)
{
  const PetscInt n = 24;
  DM             da;
  Mat            A;
  Vec            b;
  Solver         s;
  PetscBool      factors[2];

  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, PETSC_DECIDE,
                         PETSC_DECIDE, 2, 1, NULL, NULL, &da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(Create(A, b, &s));
  for (int i = 0; i < 2; i++) {
    PetscCall(AssembleSaddle(da, n, (PetscBool)(i == 1), A));
    PetscCall(Solve(&s));
    PetscCall(SmoothsByFactors(s.ksp, &factors[i]));
    PetscCall(Claim(s.its >= 0, i == 0 ? "no zeros" : "zeros in later values"));
  }
  PetscCall(Destroy(&s));
  PetscCall(Claim(!factors[0] && factors[1], "factorizations where there are zeros"));
  PetscCall(Create(A, b, &s));
  PetscCall(Solve(&s));
  PetscCall(Claim(s.its > 0, "zeros from the start"));
  PetscCall(Destroy(&s));
  PetscCall(PetscOptionsSetValue(NULL, "-mg_levels_pc_type", "sor"));
  PetscCall(Create(A, b, &s));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF)); /* a failed preconditioner gives Inf */
  PetscCall(Solve(&s));
  PetscCall(PetscFPTrapPop());
  PetscCall(Claim(s.its == -1, "a chosen smoother stays, and fails"));
  PetscCall(Destroy(&s));
  PetscCall(PetscOptionsClearValue(NULL, "-mg_levels_pc_type"));
  PetscCall(MatSetDM(A, NULL));
  PetscCall(Create(A, b, &s));
  PetscCall(Solve(&s));
  PetscCall(Claim(s.its >= 0, "without a grid"));
  PetscCall(Destroy(&s));
  PetscCall(DestroyAll(&A, &b, &da));
  PetscFunctionReturn(0);
}

/* As for PCTELESCOPE: the first process alone has a coarse DM */
static PetscErrorCode Telescope(void)
{
  Poisson p;
  DM      da, fine, coarse = NULL;
  Mat     A;
  Vec     b;
  Solver  s;

  PetscFunctionBeginUser;
  PetscCall(PoissonSetFromOptions(&p));
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, &p, &da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(PoissonAssemble(&p, da, A));
  PetscCall(MatSetDM(A, NULL));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(PoissonFill(&p, da, b));
  PetscCall(DMShellCreate(PETSC_COMM_WORLD, &fine));
  if (PetscGlobalRank == 0) PetscCall(DMShellCreate(PETSC_COMM_SELF, &coarse));
  PetscCall(DMSetCoarseDM(fine, coarse));
  PetscCall(DMDestroy(&coarse));
  PetscCall(Create(A, b, &s));
  PetscCall(KSPSetDM(s.ksp, fine));
  PetscCall(KCycleKSPSetDMInactive(s.ksp));
  PetscCall(Solve(&s));
  PetscCall(Claim(s.its > 0 && s.its < 20, "a coarse DM on one process"));
  PetscCall(Destroy(&s));
  PetscCall(DestroyAll(&fine, &A, &b, &da));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const TestPart parts[] = {
      {"nest", Nest}, {"is", Subdomains}, {"saddle", Saddle}, {"telescope", Telescope}, {NULL, NULL}};

  return RunTests(argc, argv, help, parts);
}

/*TEST

  testset:
    args: -pc_type kcycle

    test:
      suffix: nest
      nsize: {{1 2 4}}
      args: -test nest -pc_gamg_reuse_interpolation 0

    test:
      suffix: is
      nsize: {{1 2 4}}
      args: -test is

    test:
      suffix: saddle
      nsize: {{1 2 4}}
      args: -test saddle

    test:
      suffix: telescope
      nsize: {{2 4}}
      args: -test telescope

TEST*/
