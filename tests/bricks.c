static char help[] = "Clusters of operators with positive couplings: sweeps that correct them are positive.\n\
  -dim <2> -n <8>   dimensions, points in each direction\n\
  -cube             bricks have two points in each direction, not two along x in the bond of a wall\n\n";

#include "testing.h"

/* Stiff bricks that a kernel couples, 1 2 1 in each direction: positive definite, and no M-matrix */
typedef struct {
  PetscInt  dim, n;
  PetscBool cube;
} Wall;

static PetscInt BrickOf(const Wall *w, const PetscInt at[])
{
  const PetscInt y = at[1], z = at[2];

  if (w->cube) return at[0] / 2 + w->n * (y / 2 + w->n * (z / 2));
  return (at[0] + y + z) / 2 + 2 * w->n * (y + w->n * z);
}

static void MakeRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const Wall    *w       = (const Wall *)ctx;
  const PetscInt size[3] = {w->n, w->n, w->dim > 2 ? w->n : 1};

  row->value[0] = 1e-3;
  for (int o = 0; o < 27; o++) {
    const PetscInt to[3] = {at[0] + o % 3 - 1, at[1] + o / 3 % 3 - 1, at[2] + o / 9 - 1};
    PetscScalar    a     = 1;
    PetscInt       away  = 0;

    for (PetscInt d = 0; d < 3; d++) {
      away += PetscAbsInt(to[d] - at[d]);
      if (size[d] > 1) a *= to[d] == at[d] ? 0.5 : 0.25;
    }
    if (!IsInBox(to, size, 3)) continue;
    if (away == 0) row->value[0] += a;
    else {
      const PetscScalar stiff = away == 1 && BrickOf(w, to) == BrickOf(w, at) ? 100 : 0;

      row->value[0] += stiff;
      RowEntry(row, to, a - stiff);
    }
  }
}

static PetscErrorCode Create(const Wall *w, Mat *A)
{
  DM da;

  PetscFunctionBeginUser;
  PetscCall(MakeDM(PETSC_COMM_WORLD, w->dim, (PetscInt[]){w->n, w->n, w->n}, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, A));
  PetscCall(AssembleRows(da, MakeRow, w, *A));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

/* <B u, v> = <u, B v> */
static PetscErrorCode IsSymmetric(PC pc, Mat A, PetscReal tolerance, PetscBool *yes)
{
  Vec       u, v;
  PetscReal error;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &u, &v));
  PetscCall(VecSetRandom(u, NULL));
  PetscCall(VecSetRandom(v, NULL));
  PetscCall(VecShift(v, -0.5));
  PetscCall(AdjointError(pc, PETSC_FALSE, u, v, &error));
  *yes = (PetscBool)(error <= tolerance);
  PetscCall(DestroyAll(&u, &v));
  PetscFunctionReturn(0);
}

/* One symmetric sweep B has I - B A = S^* S, with S of the forward one and its adjoint in the scalar product of A. So
   all eigenvalues of B A are at most 1, and all are positive if and only if S reduces every error */
static PetscErrorCode TestSweeps(Mat A, PCRelaxType type)
{
  PetscInt   n;
  PetscBool  yes = PETSC_FALSE, has;
  PetscReal *real, *imaginary, least = 2, most = 0, other = 0;
  KSP        ksp;
  PC         pc;

  PetscFunctionBeginUser;
  PetscCall(MakeKSP(A, KSPCG, PCRELAX, &ksp, &pc));
  PetscCall(PCRelaxSetType(pc, type));
  PetscCall(PCRelaxSetOrder(pc, PC_RELAX_ORDER_SYMMETRIC));
  PetscCall(PCRelaxSetClusters(pc, PC_RELAX_CLUSTERS_ON));
  PetscCall(KSPSetUp(ksp));
  PetscCall(ViewHas(pc, "clusters of strongly", &has));
  PetscCall(ClaimThat(has, "%s: there are clusters", type));
  PetscCall(IsSymmetric(pc, A, 1e-12, &yes));
  PetscCall(ClaimThat(yes, "%s: a sweep is symmetric", type));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(PetscCalloc2(n, &real, n, &imaginary));
  PetscCall(KSPComputeEigenvaluesExplicitly(ksp, n, real, imaginary)); /* the first process has them */
  for (PetscInt i = 0; i < n; i++) {
    least = PetscMin(least, real[i]);
    most  = PetscMax(most, real[i]);
    other = PetscMax(other, PetscAbsReal(imaginary[i]));
  }
  PetscCall(ClaimThat(least > 0 && most <= 1 + 1e-10 && other < 1e-8, "%s: and positive, and smaller than the inverse",
                      type));
  PetscCall(PetscFree2(real, imaginary));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

/* Cycles are as good as without corrections, at least */
static PetscErrorCode TestCycles(Mat A, PCKCyclePrecisionType precision)
{
  PetscInt           its[2];
  KSPConvergedReason reason;
  Vec                b, x;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSetRandom(b, NULL));
  for (int off = 0; off < 2; off++) {
    KSP ksp;
    PC  pc;

    PetscCall(PetscOptionsSetValue(NULL, "-mg_levels_pc_relax_clusters", off ? "off" : "on"));
    PetscCall(MakeKSP(A, KSPCG, PCKCYCLE, &ksp, &pc));
    PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
    PetscCall(PCKCycleSetPrecision(pc, precision));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(SolveSystem(ksp, b, x, &its[off], &reason));
    if (reason <= 0) its[off] = 1000 + (int)reason;
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(ClaimThat(its[0] < 1000 + KSP_DIVERGED_ITS && its[0] <= its[1],
                      "%s: at most as many with clusters as without",
                      precision ? "cycles in single precision" : "cycles"));
  if (its[0] > its[1]) PetscCall(Print("  %" PetscInt_FMT " %" PetscInt_FMT "\n", its[0], its[1]));
  PetscCall(DestroyAll(&b, &x));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Wall w = {2, 8, PETSC_FALSE};
  Mat  A;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &w.dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &w.n, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-cube", &w.cube, NULL));
  PetscCall(Create(&w, &A));
  PetscCall(TestSweeps(A, PC_RELAX_JACOBI));
  PetscCall(TestSweeps(A, w.dim == 3 ? PC_RELAX_EIGHTCOLOR : PC_RELAX_FOURCOLOR));
  PetscCall(TestSweeps(A, PC_RELAX_ZEBRA_Y));
  if (w.cube) PetscCall(TestSweeps(A, PC_RELAX_ALTERNATING));
  PetscCall(MatDestroy(&A));
  w.n *= 4;
  PetscCall(Create(&w, &A));
  for (int p = 0; p < 2; p++) PetscCall(TestCycles(A, (PCKCyclePrecisionType)p));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: !complex

  testset:
    nsize: {{1 3}}

    test:
      suffix: 2d
      args: -n 8

    test:
      suffix: 3d
      args: -dim 3 -n 6

    test:
      suffix: cubes
      args: -dim 3 -n 8 -cube

TEST*/
