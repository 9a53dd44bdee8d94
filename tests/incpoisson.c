static char help[] = "PCINCPOISSON and the product it stands for, its iterations, new values, bad input.\n\
  -test product|iterations|reuse|refusals   which part\n\
  -type <aij>                                type of the matrices on grids\n\n";

#include "grids.h"
#include "poisson.h"

/* Hermitian, with triangles in its graph, some of them across processes, and columns as in natural order */
static PetscScalar GraphEntry(PetscInt i, PetscInt j)
{
  const PetscInt low = PetscMin(i, j), high = PetscMax(i, j);
  PetscScalar    value;

  if (GridHash(low, high, 1, 1) > 0.12) return 0;
  value = -GridHash(low, high, 1, 2);
#if defined(PETSC_USE_COMPLEX)
  value *= PetscCMPLX(0.8, i < j ? 0.6 : -0.6);
#endif
  return value;
}

static PetscErrorCode CreateGraph(PetscInt n, Mat *A)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 40, NULL, 40, NULL, A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscReal sum = GridHash(i, 3, 4, 5);

    for (PetscInt j = 0; j < n; j++) {
      const PetscScalar value = j == i ? (PetscScalar)0.0 : GraphEntry(i, j);

      if (value == (PetscScalar)0.0) continue;
      sum += PetscAbsScalar(value);
      PetscCall(MatSetValue(*A, i, j, value, INSERT_VALUES));
    }
    PetscCall(MatSetValue(*A, i, i, sum, INSERT_VALUES));
  }
  PetscCall(AssembleMat(*A));
  PetscFunctionReturn(0);
}

/* A path, and three unknowns in a triangle, which on several processes belong to three of them: the only one */
static PetscErrorCode CreateTriangle(PetscInt n, Mat *A)
{
  const PetscInt corner[3] = {0, n / 2, n - 1};
  PetscInt       start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 5, NULL, 5, NULL, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscCall(MatSetValue(*A, i, i, 4.0 + i, INSERT_VALUES));
    if (i > 0) PetscCall(MatSetValue(*A, i, i - 1, -1.0, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(*A, i, i + 1, -1.0, INSERT_VALUES));
    for (int c = 0; c < 9; c++) {
      if (corner[c / 3] == i && c / 3 != c % 3) PetscCall(MatSetValue(*A, i, corner[c % 3], -0.5, INSERT_VALUES));
    }
  }
  PetscCall(AssembleMat(*A));
  PetscFunctionReturn(0);
}

/* A ring of unknowns; last: all on the last process, or shared by the processes, some of which may get none */
static PetscErrorCode CreateRing(PetscBool last, PetscInt n, Mat *A)
{
  PetscInt start, end, local;

  PetscFunctionBeginUser;
  local = last ? (PetscGlobalRank == PetscGlobalSize - 1 ? n : 0) : PETSC_DECIDE;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, local, local, n, n, 3, NULL, 2, NULL, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscCall(MatSetValue(*A, i, i, 3.0 + i, INSERT_VALUES));
    PetscCall(MatSetValue(*A, i, (i + 1) % n, -1.0, INSERT_VALUES));
    PetscCall(MatSetValue(*A, i, (i + n - 1) % n, -1.0, INSERT_VALUES));
  }
  PetscCall(AssembleMat(*A));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateOnGrid(PetscInt dim, PetscBool box, GridBoundary boundary, PetscInt width, Mat *A)
{
  Grid      g        = {.number = 7, .dim = dim, .size = {6, 7, 1}, .box = box, .strength = {1, 2, 3}, .vary = 0.6};
  PetscBool possible = PETSC_FALSE;
  DM        da;

  PetscFunctionBeginUser;
  if (dim == 3) g.size[0] = g.size[1] = g.size[2] = 4;
  if (width) g.size[0] = width;
  GridSetBoundaries(&g, boundary);
  PetscCall(GridDistribute(&g, &possible));
  PetscCheck(possible, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ, "Too many processes");
  PetscCall(GridCreateDM(&g, &da));
  PetscCall(GridCreateMat(&g, da, TypeOption(), A));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreatePC(Mat A, PCIncPoissonPatternType pattern, PCIncPoissonScalingType scaling, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(MakePC(A, PCINCPOISSON, pc));
  PetscCall(PCIncPoissonSetPattern(*pc, pattern));
  PetscCall(PCIncPoissonSetScaling(*pc, scaling));
  PetscFunctionReturn(0);
}

/* All entries on all processes, by rows; has is 1 where the matrix has an entry, zero or not */
static PetscErrorCode Gather(Mat A, PetscInt n, PetscScalar *a, PetscScalar *has)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(PetscArrayzero(a, n * n));
  PetscCall(PetscArrayzero(has, n * n));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    const PetscInt    *cols;
    const PetscScalar *values;
    PetscInt           m;

    PetscCall(MatGetRow(A, i, &m, &cols, &values));
    for (PetscInt e = 0; e < m; e++) {
      a[i * n + cols[e]]   = values[e];
      has[i * n + cols[e]] = 1;
    }
    PetscCall(MatRestoreRow(A, i, &m, &cols, &values));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, a, (PetscMPIInt)(n * n), MPIU_SCALAR, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, has, (PetscMPIInt)(n * n), MPIU_SCALAR, MPIU_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

/* The formula, with dense matrices: D^-1/2 (I - L') (I - L')^H D^-1/2, L' the lower triangle of D^-1/2 A D^-1/2; or
   (I - L D^-1) (I - L D^-1)^H */
static void Explicit(PetscInt n, const PetscScalar *a, PCIncPoissonScalingType scaling, PetscScalar *m)
{
  const PetscBool scaled = (PetscBool)(scaling == PC_INCPOISSON_SCALING_DIAGONAL);

  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt j = 0; j < n; j++) {
      const PetscReal di = PetscRealPart(a[i * n + i]), dj = PetscRealPart(a[j * n + j]);
      PetscScalar     sum = 0;

      for (PetscInt k = 0; k <= PetscMin(i, j); k++) {
        const PetscReal dk   = PetscRealPart(a[k * n + k]);
        PetscScalar     left = k == i ? 1 : -a[i * n + k] / (scaled ? PetscSqrtReal(di * dk) : dk),
                    right    = k == j ? 1 : -a[j * n + k] / (scaled ? PetscSqrtReal(dj * dk) : dk);

        sum += left * PetscConj(right);
      }
      m[i * n + j] = scaled ? sum / PetscSqrtReal(di * dj) : sum;
    }
  }
}

/* The columns of what a PC applies */
static PetscErrorCode Applied(PC pc, PetscInt n, PetscScalar *m)
{
  Mat                A;
  Vec                e, x;
  const PetscScalar *values;
  PetscInt           start, end;

  PetscFunctionBeginUser;
  PetscCall(PCGetOperators(pc, NULL, &A));
  PetscCall(MatCreateVecs(A, &e, &x));
  PetscCall(VecGetOwnershipRange(x, &start, &end));
  PetscCall(PetscArrayzero(m, n * n));
  for (PetscInt j = 0; j < n; j++) {
    PetscCall(VecSet(e, 0.0));
    if (j >= start && j < end) PetscCall(VecSetValue(e, j, 1.0, INSERT_VALUES));
    PetscCall(AssembleVec(e));
    PetscCall(PCApply(pc, e, x));
    PetscCall(VecGetArrayRead(x, &values));
    for (PetscInt i = start; i < end; i++) m[i * n + j] = values[i - start];
    PetscCall(VecRestoreArrayRead(x, &values));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, m, (PetscMPIInt)(n * n), MPIU_SCALAR, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCall(DestroyAll(&e, &x));
  PetscFunctionReturn(0);
}

/* By Cholesky's factorization, which overwrites m */
static PetscBool IsDefinite(PetscInt n, PetscScalar *m)
{
  for (PetscInt k = 0; k < n; k++) {
    if (!(PetscRealPart(m[k * n + k]) > 0)) return PETSC_FALSE;
    for (PetscInt i = k + 1; i < n; i++) {
      for (PetscInt j = k + 1; j <= i; j++) m[i * n + j] -= m[i * n + k] * PetscConj(m[j * n + k]) / m[k * n + k];
    }
  }
  return PETSC_TRUE;
}

/* Differences to the formula and to the own transpose, relative to the largest entry */
static PetscErrorCode CompareProducts(PC pc, PetscInt n, PetscReal *difference, PetscReal *skew, PetscBool *definite)
{
  PCIncPoissonPatternType pattern;
  PCIncPoissonScalingType scaling;
  PetscScalar            *a, *has, *want, *got;
  PetscReal               largest = 0;
  Mat                     A;

  PetscFunctionBeginUser;
  PetscCall(PCIncPoissonGetPattern(pc, &pattern));
  PetscCall(PCIncPoissonGetScaling(pc, &scaling));
  PetscCall(PetscMalloc4(n * n, &a, n * n, &has, n * n, &want, n * n, &got));
  PetscCall(PCGetOperators(pc, NULL, &A));
  PetscCall(Gather(A, n, a, has));
  Explicit(n, a, scaling, want);
  PetscCall(Applied(pc, n, got));
  *difference = *skew = 0;
  for (PetscInt i = 0; i < n * n; i++) {
    if (pattern == PC_INCPOISSON_PATTERN_MATRIX) want[i] *= has[i];
    largest     = PetscMax(largest, PetscAbsScalar(want[i]));
    *difference = PetscMax(*difference, PetscAbsScalar(got[i] - want[i]));
    *skew       = PetscMax(*skew, PetscAbsScalar(got[i] - PetscConj(got[i % n * n + i / n])));
  }
  *difference /= largest;
  *skew /= largest;
  *definite = IsDefinite(n, got);
  PetscCall(PetscFree4(a, has, want, got));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckProducts(const char name[], Mat A)
{
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &n, NULL));
  for (int pattern = 0; pattern < 2; pattern++) {
    for (int scaling = 0; scaling < 2; scaling++) {
      PetscReal difference = 1, skew = 1;
      PetscBool definite = PETSC_FALSE;
      PC        pc;

      PetscCall(CreatePC(A, (PCIncPoissonPatternType)pattern, (PCIncPoissonScalingType)scaling, &pc));
      PetscCall(CompareProducts(pc, n, &difference, &skew, &definite));
      PetscCall(Print("%s, pattern %s, scaling %s: as the formula: %s, symmetric: %s, definite: %s\n", name,
                      PCIncPoissonPatternTypes[pattern], PCIncPoissonScalingTypes[scaling], YesNo(difference < 1e-14),
                      YesNo(skew < 1e-14), YesNo(definite)));
      PetscCall(PCDestroy(&pc));
    }
  }
  PetscFunctionReturn(0);
}

/* Five points on n x n cells, numbered by rows on any number of processes, with coefficient contrast in nine discs
   and 1 elsewhere: harmonic means, no flux; constant: Dirichlet (4, -1) */
typedef struct {
  PetscInt  n;
  PetscReal contrast; /* 0: constant */
} Square;

static PetscReal SquareCoefficient(const Square *sq, PetscInt i, PetscInt j)
{
  const PetscReal x = 3 * (i + 0.5) / sq->n, y = 3 * (j + 0.5) / sq->n;

  return PetscSqr(x - PetscFloorReal(x) - 0.5) + PetscSqr(y - PetscFloorReal(y) - 0.5) < 0.09 ? sq->contrast : 1;
}

static PetscErrorCode SquareCreate(const Square *sq, Mat *A)
{
  const PetscInt n = sq->n, step[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
  PetscInt       start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n, 5, NULL, 5, NULL, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt row = start; row < end; row++) {
    const PetscInt i = row % n, j = row / n;
    PetscReal      diagonal = 0;

    for (int d = 0; d < 4; d++) {
      const PetscInt to[2] = {i + step[d][0], j + step[d][1]};
      PetscReal      c     = 1;

      if (to[0] < 0 || to[1] < 0 || to[0] == n || to[1] == n) {
        if (sq->contrast == 0) diagonal += 1;
        continue;
      }
      if (sq->contrast > 0) c = 2 / (1 / SquareCoefficient(sq, i, j) + 1 / SquareCoefficient(sq, to[0], to[1]));
      diagonal += c;
      PetscCall(MatSetValue(*A, row, to[0] + n * to[1], -c, INSERT_VALUES));
    }
    PetscCall(MatSetValue(*A, row, row, diagonal, INSERT_VALUES));
  }
  PetscCall(AssembleMat(*A));
  PetscFunctionReturn(0);
}

/* Where coefficients jump, what is kept of the product without scaling need not be definite */
static PetscErrorCode CheckJumps(void)
{
  const Square sq       = {12, 1e3};
  PetscBool    claim[4] = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};
  Mat          A;

  PetscFunctionBeginUser;
  PetscCall(SquareCreate(&sq, &A));
  for (int t = 0; t < 4; t++) {
    PetscReal difference = 1, skew = 1;
    PC        pc;

    PetscCall(CreatePC(A, t / 2 ? PC_INCPOISSON_PATTERN_FULL : PC_INCPOISSON_PATTERN_MATRIX,
                       t % 2 ? PC_INCPOISSON_SCALING_NONE : PC_INCPOISSON_SCALING_DIAGONAL, &pc));
    PetscCall(CompareProducts(pc, sq.n * sq.n, &difference, &skew, &claim[t]));
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(Print("nine discs of 1000: definite with scaling: %s, without only if it is the full product: %s\n",
                  YesNo(claim[0] && claim[2]), YesNo(!claim[1] && claim[3])));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestProduct(void)
{
  const struct {
    const char  *name;
    PetscInt     dim;
    PetscBool    box;
    GridBoundary boundary;
    PetscInt     width;
  } cases[] = {{"5 points", 2, PETSC_FALSE, BOUNDARY_ELIMINATED, 0},
               {"5 points, stored boundary", 2, PETSC_FALSE, BOUNDARY_STORED, 0},
               {"5 points, periodic and three wide", 2, PETSC_FALSE, BOUNDARY_PERIODIC, 3},
               {"9 points, no flux", 2, PETSC_TRUE, BOUNDARY_NEUMANN, 0},
               {"9 points, stored boundary", 2, PETSC_TRUE, BOUNDARY_STORED, 0},
               {"7 points", 3, PETSC_FALSE, BOUNDARY_NEUMANN, 0},
               {"7 points, periodic", 3, PETSC_FALSE, BOUNDARY_PERIODIC, 0}};
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(CreateGraph(40, &A));
  PetscCall(CheckProducts("graph", A));
  PetscCall(MatDestroy(&A));
  PetscCall(CreateTriangle(17, &A));
  PetscCall(CheckProducts("one triangle", A));
  PetscCall(MatDestroy(&A));
  for (PetscInt n = 3; n <= 4; n++) { /* three: a triangle */
    PetscCall(CreateRing((PetscBool)(n == 4), n, &A));
    PetscCall(CheckProducts(n == 3 ? "three rows" : "rows on the last process only", A));
    PetscCall(MatDestroy(&A));
  }
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); c++) {
    PetscCall(CreateOnGrid(cases[c].dim, cases[c].box, cases[c].boundary, cases[c].width, &A));
    PetscCall(CheckProducts(cases[c].name, A));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(CheckJumps());
  PetscFunctionReturn(0);
}

/* CG from zero to a smooth solution, true residual relative to the right side */
static PetscErrorCode SquareIterations(const Square *sq, PCIncPoissonPatternType pattern,
                                       PCIncPoissonScalingType scaling, PetscReal rtol, PetscInt *its)
{
  System             s = {0};
  PetscInt           start, end;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(SquareCreate(sq, &s.A));
  PetscCall(MatCreateVecs(s.A, &s.x, &s.b));
  PetscCall(VecGetOwnershipRange(s.x, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    const PetscReal X = (i % sq->n + 0.5) / sq->n * PETSC_PI, Y = (i / sq->n + 0.5) / sq->n * PETSC_PI;

    PetscCall(VecSetValue(s.x, i,
                          PetscCosReal(X) * PetscCosReal(Y) + 0.3 * PetscCosReal(2 * X) + 0.2 * PetscCosReal(3 * Y),
                          INSERT_VALUES));
  }
  PetscCall(AssembleVec(s.x));
  PetscCall(MatMult(s.A, s.x, s.b));
  PetscCall(MakeKSP(s.A, KSPCG, PCINCPOISSON, &s.ksp, &s.pc));
  PetscCall(KSPSetNormType(s.ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(s.ksp, rtol, PETSC_DEFAULT, PETSC_DEFAULT, 3000));
  PetscCall(PCIncPoissonSetPattern(s.pc, pattern));
  PetscCall(PCIncPoissonSetScaling(s.pc, scaling));
  PetscCall(KSPSetFromOptions(s.ksp));
  PetscCall(SolveSystem(s.ksp, s.b, s.x, its, &reason));
  if (reason < 0) *its = 3000;
  PetscCall(PetscInfo(s.ksp, "contrast %g, pattern %s, scaling %s: %" PetscInt_FMT "\n", (double)sq->contrast,
                      PCIncPoissonPatternTypes[pattern], PCIncPoissonScalingTypes[scaling], *its));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestIterations(void)
{
  const Square constant = {128, 0}, same = {64, 1}, jumps = {64, 1e-6};
  PetscInt     its[6];

  PetscFunctionBeginUser;
  PetscCall(SquareIterations(&constant, PC_INCPOISSON_PATTERN_MATRIX, PC_INCPOISSON_SCALING_DIAGONAL, 1e-6, &its[0]));
  PetscCall(SquareIterations(&constant, PC_INCPOISSON_PATTERN_MATRIX, PC_INCPOISSON_SCALING_NONE, 1e-6, &its[1]));
  PetscCall(SquareIterations(&constant, PC_INCPOISSON_PATTERN_FULL, PC_INCPOISSON_SCALING_DIAGONAL, 1e-6, &its[2]));
  PetscCall(
      Print("constant coefficients: 163 iterations: %s, without scaling the same: %s, with the full product 168: %s\n",
            YesNo(its[0] == 163), YesNo(its[0] == its[1]), YesNo(its[2] == 168)));
  PetscCall(SquareIterations(&same, PC_INCPOISSON_PATTERN_MATRIX, PC_INCPOISSON_SCALING_DIAGONAL, 1e-8, &its[3]));
  PetscCall(SquareIterations(&jumps, PC_INCPOISSON_PATTERN_MATRIX, PC_INCPOISSON_SCALING_DIAGONAL, 1e-8, &its[4]));
  PetscCall(SquareIterations(&jumps, PC_INCPOISSON_PATTERN_MATRIX, PC_INCPOISSON_SCALING_NONE, 1e-8, &its[5]));
  PetscCall(Print("nine discs of 1e-6: less than three times the iterations without: %s, without scaling more "
                  "than five times those, or no solution: %s\n",
                  YesNo(its[4] < 3 * its[3]), YesNo(its[5] > 5 * its[4])));
  PetscFunctionReturn(0);
}

/* The largest difference of two vectors that are the same but for rounding, relative to the entries */
static PetscErrorCode Difference(Vec x, Vec y, PetscReal *largest)
{
  PetscFunctionBeginUser;
  PetscCall(VecAXPY(y, -1.0, x));
  PetscCall(VecPointwiseDivide(y, y, x));
  PetscCall(VecNorm(y, NORM_INFINITY, largest));
  PetscFunctionReturn(0);
}

/* x as from a new PC, and the transpose is the conjugate */
static PetscErrorCode CompareFresh(PC pc, PetscReal *fresh, PetscReal *transposed)
{
  PCIncPoissonPatternType pattern;
  PCIncPoissonScalingType scaling;
  Mat                     A;
  Vec                     b, x, y;
  PC                      other;

  PetscFunctionBeginUser;
  PetscCall(PCGetOperators(pc, NULL, &A));
  PetscCall(PCIncPoissonGetPattern(pc, &pattern));
  PetscCall(PCIncPoissonGetScaling(pc, &scaling));
  PetscCall(CreatePC(A, pattern, scaling, &other));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(MatGetDiagonal(A, b));
  PetscCall(VecReciprocal(b));
  PetscCall(PCSetUp(pc));
  PetscCall(PCApply(pc, b, x));
  PetscCall(PCApply(other, b, y));
  PetscCall(Difference(x, y, fresh));
  PetscCall(VecConjugate(b));
  PetscCall(PCApplyTranspose(pc, b, y));
  PetscCall(VecConjugate(y));
  PetscCall(Difference(x, y, transposed));
  PetscCall(DestroyAll(&other, &b, &x, &y));
  PetscFunctionReturn(0);
}

/* One PC whose parameters change and whose matrix gets new values, by turns; sometimes it gets another matrix, with
   fewer points in its stencil */
static PetscErrorCode ReuseOf(PetscBool box)
{
  PetscReal worst[2] = {0, 0};
  PetscBool got      = PETSC_TRUE;
  Mat       A, other;
  PC        pc;
  Vec       shift;

  PetscFunctionBeginUser;
  PetscCall(CreateOnGrid(2, box, BOUNDARY_ELIMINATED, 0, &A));
  PetscCall(MatCreateVecs(A, &shift, NULL));
  PetscCall(CreatePC(A, PC_INCPOISSON_PATTERN_MATRIX, PC_INCPOISSON_SCALING_DIAGONAL, &pc));
  for (int t = 0; t < 16; t++) {
    const PCIncPoissonPatternType pattern = (PCIncPoissonPatternType)(t / 4 % 2);
    const PCIncPoissonScalingType scaling = (PCIncPoissonScalingType)(t / 2 % 2);
    PCIncPoissonPatternType       p;
    PCIncPoissonScalingType       s;
    PetscReal                     fresh = 1, transposed = 1;

    PetscCall(PCIncPoissonSetPattern(pc, pattern));
    PetscCall(PCIncPoissonSetScaling(pc, scaling));
    PetscCall(PCIncPoissonGetPattern(pc, &p));
    PetscCall(PCIncPoissonGetScaling(pc, &s));
    got = (PetscBool)(got && p == pattern && s == scaling);
    PetscCall(VecSet(shift, 1.0 + t));
    if (t % 2) PetscCall(MatDiagonalSet(A, shift, ADD_VALUES));
    PetscCall(CompareFresh(pc, &fresh, &transposed));
    worst[0] = PetscMax(worst[0], fresh);
    worst[1] = PetscMax(worst[1], transposed);
    if (t % 4 < 3) continue;
    PetscCall(CreateOnGrid(2, (PetscBool)!box, BOUNDARY_NEUMANN, 0, &other));
    PetscCall(PCSetOperators(pc, other, other));
    PetscCall(CompareFresh(pc, &fresh, &transposed));
    worst[0] = PetscMax(worst[0], fresh);
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(MatDestroy(&other));
  }
  PetscCall(Print("%s: parameters come back: %s, new ones, new values and another matrix are as in a new "
                  "preconditioner: %s, the transpose is the conjugate: %s\n",
                  box ? "box" : "star", YesNo(got), YesNo(worst[0] == 0), YesNo(worst[1] < 1e-12)));
  PetscCall(DestroyAll(&pc, &shift, &A));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestReuse(void)
{
  PetscFunctionBeginUser;
  PetscCall(ReuseOf(PETSC_TRUE));
  PetscCall(ReuseOf(PETSC_FALSE));
  PetscFunctionReturn(0);
}

/* Rows 0 and 1 of a tridiagonal matrix get faults */
typedef enum {
  FAULT_NONE,
  FAULT_ZERO,
  FAULT_MISSING,
  FAULT_NEGATIVE,
  FAULT_NAN_DIAGONAL,
  FAULT_NAN,
  FAULT_LOWER_ONLY,
  FAULT_ELSEWHERE,
  FAULT_RECTANGLE,
  FAULT_DENSE
} Fault;

static PetscErrorCode CreateFaulty(Fault fault, PetscInt n, Mat *A)
{
  PetscInt    start, end;
  PetscScalar zero = 0;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n + (fault == FAULT_RECTANGLE), 4, NULL, 4,
                         NULL, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    if (i > 0) PetscCall(MatSetValue(*A, i, i - 1, -1.0, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(*A, i, i + 1, i == 2 && fault == FAULT_NAN ? 0 / zero : -1.0, INSERT_VALUES));
    if (i != 1 || fault == FAULT_NONE || fault > FAULT_NAN_DIAGONAL)
      PetscCall(MatSetValue(*A, i, i, 3.0, INSERT_VALUES));
    else if (fault != FAULT_MISSING)
      PetscCall(MatSetValue(*A, i, i,
                            fault == FAULT_ZERO       ? 0.0
                            : fault == FAULT_NEGATIVE ? -3.0
                                                      : 0 / zero,
                            INSERT_VALUES));
    if (i == 5 && fault == FAULT_LOWER_ONLY) PetscCall(MatSetValue(*A, i, 2, -0.5, INSERT_VALUES));
    if (i == 5 && fault == FAULT_ELSEWHERE) PetscCall(MatSetValue(*A, i, 2, -0.5, INSERT_VALUES));
    if (i == 3 && fault == FAULT_ELSEWHERE) PetscCall(MatSetValue(*A, i, 7, -0.5, INSERT_VALUES));
  }
  PetscCall(AssembleMat(*A));
  if (fault == FAULT_DENSE) PetscCall(MatConvert(*A, MATDENSE, MAT_INPLACE_MATRIX, A));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestRefusal(Fault fault, PCIncPoissonPatternType pattern, PCIncPoissonScalingType scaling,
                                  const char expected[])
{
  char           words[ERROR_LENGTH] = "", claim[256];
  PetscErrorCode ierr;
  Mat            A;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(CreateFaulty(fault, 12, &A));
  PetscCall(CreatePC(A, pattern, scaling, &pc));
  KeepErrorOf(PCSetUp(pc), ierr, words);
  PetscCall(PetscSNPrintf(claim, sizeof(claim), "pattern %s: an error with \"%s\"", PCIncPoissonPatternTypes[pattern],
                          expected));
  PetscCall(ClaimError(ierr, words, expected, claim));
  PetscCall(DestroyAll(&pc, &A));
  PetscFunctionReturn(0);
}

/* The solve ends with a reason, the view names the row, and the next matrix is solved with */
static PetscErrorCode TestFailure(Fault fault, PCIncPoissonPatternType pattern, const char name[],
                                  const char expected[])
{
  KSPConvergedReason reason[2];
  PetscBool          says = PETSC_FALSE;
  Mat                A, good;
  Vec                x, b;
  KSP                ksp;
  PC                 pc;

  PetscFunctionBeginUser;
  PetscCall(CreateFaulty(fault, 12, &A));
  PetscCall(CreateFaulty(FAULT_NONE, 12, &good));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(MakeKSP(A, KSPCG, PCINCPOISSON, &ksp, &pc));
  PetscCall(PCIncPoissonSetPattern(pc, pattern));
  PetscCall(SolveSystem(ksp, b, x, NULL, &reason[0]));
  PetscCall(ViewHas(pc, expected, &says));
  if (fault == FAULT_MISSING) PetscCall(KSPSetOperators(ksp, good, good));
  else PetscCall(MatCopy(good, A, SAME_NONZERO_PATTERN));
  PetscCall(SolveSystem(ksp, b, x, NULL, &reason[1]));
  PetscCall(Print("%s, pattern %s: the solve fails: %s, the view says \"%s\": %s, repaired it converges: %s\n", name,
                  PCIncPoissonPatternTypes[pattern], YesNo(reason[0] == KSP_DIVERGED_PC_FAILED), expected, YesNo(says),
                  YesNo(reason[1] > 0)));
  PetscCall(DestroyAll(&ksp, &x, &b, &A, &good));
  PetscFunctionReturn(0);
}

/* In a stencil */
static PetscErrorCode TestStencil(void)
{
  const PetscScalar  zero = 0;
  KSPConvergedReason reason;
  PetscBool          says = PETSC_FALSE;
  PetscInt           start;
  System             s = {0};

  PetscFunctionBeginUser;
  if (!PetscDefined(USE_COMPLEX)) PetscCall(PetscOptionsSetValue(NULL, "-type", MATSTENCIL));
  PetscCall(CreateOnGrid(2, PETSC_FALSE, BOUNDARY_NEUMANN, 0, &s.A));
  PetscCall(MatGetOwnershipRange(s.A, &start, NULL));
  if (!start) PetscCall(MatSetValue(s.A, 1, 0, 0 / zero, INSERT_VALUES));
  PetscCall(AssembleMat(s.A));
  PetscCall(MatCreateVecs(s.A, &s.x, &s.b));
  PetscCall(VecSet(s.b, 1.0));
  PetscCall(MakeKSP(s.A, KSPCG, PCINCPOISSON, &s.ksp, &s.pc));
  PetscCall(SolveSystem(s.ksp, s.b, s.x, NULL, &reason));
  PetscCall(ViewHas(s.pc, "NaN or Inf in row 1", &says));
  PetscCall(Print("NaN in a stencil: the solve fails: %s, the view names the row: %s\n",
                  YesNo(reason == KSP_DIVERGED_PC_FAILED), YesNo(says)));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestRefusals(void)
{
  static const char positive[] = "diagonal entry of row 1 is not a positive number";

  PetscFunctionBeginUser;
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF)); /* bad numbers are what this is about */
  for (int p = 0; p < 2; p++) {
    const PCIncPoissonPatternType pattern = (PCIncPoissonPatternType)p;

    PetscCall(TestFailure(FAULT_ZERO, pattern, "zero on the diagonal", positive));
    PetscCall(TestFailure(FAULT_MISSING, pattern, "no diagonal entry", positive));
    PetscCall(TestFailure(FAULT_NEGATIVE, pattern, "negative diagonal entry", positive));
    PetscCall(TestFailure(FAULT_NAN_DIAGONAL, pattern, "NaN on the diagonal", positive));
    PetscCall(TestFailure(FAULT_NAN, pattern, "NaN off the diagonal", "NaN or Inf in row 2"));
    PetscCall(TestRefusal(FAULT_LOWER_ONLY, pattern, PC_INCPOISSON_SCALING_DIAGONAL,
                          "1 entries more below the diagonal than above it"));
    PetscCall(TestRefusal(FAULT_ELSEWHERE, pattern, PC_INCPOISSON_SCALING_DIAGONAL,
                          "an entry in row 3 above the diagonal without one below it"));
    PetscCall(TestRefusal(FAULT_RECTANGLE, pattern, PC_INCPOISSON_SCALING_DIAGONAL,
                          "needs a square matrix, this one has 12 rows and 13 columns"));
    PetscCall(TestRefusal(FAULT_DENSE, pattern, PC_INCPOISSON_SCALING_DIAGONAL, "dense: convert it"));
  }
  PetscCall(TestRefusal(FAULT_ELSEWHERE, PC_INCPOISSON_PATTERN_MATRIX, PC_INCPOISSON_SCALING_NONE,
                        "an entry in row 3 above the diagonal without one below it"));
  PetscCall(TestStencil());
  PetscCall(PetscFPTrapPop());
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const TestPart parts[] = {{"product", TestProduct},
                            {"iterations", TestIterations},
                            {"reuse", TestReuse},
                            {"refusals", TestRefusals},
                            {NULL, NULL}};

  return RunTests(argc, argv, help, parts);
}

/*TEST

  testset:
    nsize: {{1 2 4}}

    test:
      suffix: product
      args: -test product

    test:
      suffix: product_stencil
      requires: !complex
      args: -test product -type stencil
      output_file: output/incpoisson_product.out

    test:
      suffix: iterations
      args: -test iterations

    test:
      suffix: reuse
      args: -test reuse

    test:
      suffix: reuse_stencil
      requires: !complex
      args: -test reuse -type stencil
      output_file: output/incpoisson_reuse.out

    test:
      suffix: refusals
      args: -test refusals

TEST*/
