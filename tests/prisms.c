static char help[] = "Coarse operators of 15 points: those of a star that is coarsened in one direction alone.\n\
Each is compared with the same product as a stencil of 27 points, of which 12 are zero.\n\
  -pc_kcycle_semicoarsen x|y|z   the direction\n\
  -skew <0>                      the part of couplings that is not symmetric\n\
  -periodic                      grids wrap around\n\
  -n <11>                        points in each direction, at least\n\n";

#include "poisson.h"

typedef struct {
  PetscInt  n[3];
  PetscReal skew;
  PetscBool periodic;
} Problem;

static PetscReal Random(const Problem *p, const PetscInt at[], uint64_t which)
{
  return RandomFrom(UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(1 + at[0] + p->n[0] * (at[1] + p->n[1] * at[2])) +
                    UINT64_C(0x2545f4914f6cdd1d) * which);
}

/* The coupling of the point with the next one in a direction */
static PetscReal Coupling(const Problem *p, const PetscInt at[], PetscInt d)
{
  PetscInt place[3];

  for (PetscInt e = 0; e < 3; e++) place[e] = (at[e] + p->n[e]) % p->n[e];
  return 1 + 9 * Random(p, place, (uint64_t)d);
}

static void MakeRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const Problem *p = (const Problem *)ctx;

  row->value[0] = 0.01;
  for (PetscInt o = 0; o < 6; o++) {
    PetscInt to[3];

    StarNeighbour(at, o, to);
    if (p->periodic || IsInBox(to, p->n, 3))
      RowCoupling(row, to, Coupling(p, o % 2 ? at : to, o / 2) * (1 + (o % 2 ? p->skew : -p->skew)), PETSC_TRUE);
  }
}

static PetscErrorCode Create(const Problem *p, Mat *A)
{
  const DMBoundaryType ends = p->periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  DM                   da;

  PetscFunctionBeginUser;
  PetscCall(MakeDM(PETSC_COMM_WORLD, 3, p->n, ends, DMDA_STENCIL_STAR, &da));
  PetscCall(DMSetMatType(da, MATSTENCIL));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, A));
  PetscCall(AssembleRows(da, MakeRow, p, *A));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

/* Do vectors agree but for rounding? */
static PetscErrorCode Agree(Vec x, Vec y, PetscReal rounding, PetscBool *same)
{
  PetscReal norm, difference;

  PetscFunctionBeginUser;
  PetscCall(DifferenceNorms(y, x, NORM_2, &difference, &norm));
  *same = (PetscBool)(*same && norm > 0 && difference <= rounding * norm);
  PetscFunctionReturn(0);
}

/* The numbers of both matrices, and what they take */
static PetscErrorCode CompareMatrices(Mat prism, Mat box, PetscBool *same, PetscBool *smaller)
{
  MatInfo   info[2];
  Vec       x, y[2];
  Mat       C;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(MatGetInfo(prism, MAT_GLOBAL_SUM, &info[0]));
  PetscCall(MatGetInfo(box, MAT_GLOBAL_SUM, &info[1]));
  *smaller = (PetscBool)(*smaller && info[0].memory < 0.8 * info[1].memory);
  PetscCall(MatCreateVecs(prism, &x, &y[0]));
  PetscCall(VecDuplicate(x, &y[1]));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(prism, x, y[0]));
  PetscCall(MatMult(box, x, y[1]));
  PetscCall(Agree(y[0], y[1], 1e-14, same));
  PetscCall(MatMultTranspose(prism, x, y[0]));
  PetscCall(MatMultTranspose(box, x, y[1]));
  PetscCall(Agree(y[0], y[1], 1e-14, same));
  for (int i = 0; i < 2; i++) { /* a sum of both has 27 points, too */
    PetscCall(MatDuplicate(i ? box : prism, MAT_COPY_VALUES, &C));
    PetscCall(MatAXPY(C, -1, i ? prism : box, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatNorm(C, NORM_INFINITY, &norm));
    *same = (PetscBool)(*same && norm < 1e-12);
    PetscCall(MatDestroy(&C));
  }
  PetscCall(MatConvert(prism, MATAIJ, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatMult(C, x, y[0]));
  PetscCall(MatMult(box, x, y[1]));
  PetscCall(Agree(y[0], y[1], 1e-13, same));
  PetscCall(DestroyAll(&C, &x));
  for (int i = 0; i < 2; i++) PetscCall(VecDestroy(&y[i]));
  PetscFunctionReturn(0);
}

/* Sweeps, and cycles in both precisions, which coarsen further in the same direction, and then in others */
static PetscErrorCode CompareSolvers(Mat prism, Mat box, PetscBool *sweeps, PetscBool *cycles)
{
  const char *const types[] = {PC_RELAX_AUTO,    PC_RELAX_EIGHTCOLOR, PC_RELAX_JACOBI, PC_RELAX_CHEBYSHEV,
                               PC_RELAX_ZEBRA_X, PC_RELAX_ZEBRA_Y,    PC_RELAX_ZEBRA_Z};
  const Mat         A[2]    = {prism, box};
  Vec               b, x[2];
  PetscInt          its[2];

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(prism, &b, &x[0]));
  PetscCall(VecDuplicate(b, &x[1]));
  PetscCall(VecSetRandom(b, NULL));
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
    for (int i = 0; i < 2; i++) {
      PC pc;

      PetscCall(MakePC(A[i], PCRELAX, &pc));
      PetscCall(PCRelaxSetType(pc, types[t]));
      PetscCall(PCApply(pc, b, x[i]));
      PetscCall(PCDestroy(&pc));
    }
    PetscCall(Agree(x[0], x[1], 1e-13, sweeps));
  }
  for (int precision = 0; precision < 2; precision++) {
    for (int i = 0; i < 2; i++) {
      KSP ksp;
      PC  pc;

      PetscCall(MakeKSP(A[i], KSPRICHARDSON, PCKCYCLE, &ksp, &pc));
      PetscCall(PCKCycleSetPrecision(pc, precision ? PC_KCYCLE_PRECISION_SINGLE : PC_KCYCLE_PRECISION_DOUBLE));
      PetscCall(KSPSetFromOptions(ksp));
      PetscCall(KSPSetTolerances(ksp, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, 60));
      PetscCall(SolveSystem(ksp, b, x[i], &its[i], NULL));
      PetscCall(KSPDestroy(&ksp));
    }
    *cycles = (PetscBool)(*cycles && its[0] == its[1] && its[0] < 60);
    PetscCall(Agree(x[0], x[1], precision ? 1e-6 : 1e-11, cycles));
  }
  PetscCall(VecDestroy(&b));
  for (int i = 0; i < 2; i++) PetscCall(VecDestroy(&x[i]));
  PetscFunctionReturn(0);
}

/* Level number of a hierarchy, from the coarsest, and the product that it is */
static PetscErrorCode CompareLevel(PC pc, PetscInt number, PetscBool yes[])
{
  KSP solver[2];
  Mat prism, fine, P, box;

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) PetscCall(PCMGGetSmoother(pc, number + i, &solver[i]));
  PetscCall(KSPGetOperators(solver[0], &prism, NULL));
  PetscCall(KSPGetOperators(solver[1], &fine, NULL));
  PetscCall(PCMGGetInterpolation(pc, number + 1, &P));
  PetscCall(MatPtAP(fine, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &box));
  PetscCall(CompareMatrices(prism, box, &yes[0], &yes[1]));
  PetscCall(CompareSolvers(prism, box, &yes[2], &yes[3]));
  PetscCall(MatDestroy(&box));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem   p      = {{11, 11, 11}, 0, PETSC_FALSE};
  PetscBool yes[4] = {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE};
  PetscInt  nlevels;
  Mat       A;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &p.n[0], NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-skew", &p.skew, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-periodic", &p.periodic, NULL));
  p.n[1] = p.n[0] + 1;
  p.n[2] = p.n[0] + 2;
  PetscCall(Create(&p, &A));
  PetscCall(MakePC(A, PCKCYCLE, &pc));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(PCMGGetLevels(pc, &nlevels));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_kcycle_semicoarsen"));
  for (PetscInt l = nlevels - 2; l > 0; l--) PetscCall(CompareLevel(pc, l, yes));
  yes[0] = (PetscBool)(yes[0] && nlevels > 2);
  PetscCall(Claim(yes[0], "the same products, transposes and sums as with 27 points"));
  PetscCall(Claim(yes[1], "less memory"));
  PetscCall(Claim(yes[2], "the same sweeps"));
  PetscCall(Claim(yes[3], "the same cycles, in both precisions"));
  PetscCall(DestroyAll(&pc, &A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: !complex
    nsize: {{1 3}}
    args: -pc_kcycle_semicoarsen {{x y z}} -pc_kcycle_process_eq_limit 0
    output_file: output/prisms.out

    test:

    test:
      suffix: skew
      args: -skew 0.2

    test:
      suffix: periodic
      args: -periodic -n 13

TEST*/
