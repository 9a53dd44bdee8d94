static char help[] = "Coefficients that jump: clusters of strongly coupled points.\n\
  -test solve|exact|adjoint|choices|processes|sizes|changed|sweeps|kept|reactions|walls|seen|lines\n\
                                                which part\n\
  -dim <2>                                      dimensions\n\
  -n <48>                                       points in each direction\n\
  -show                                         solve, reactions: the numbers of iterations\n\
  -cycles <true>                                processes: cycles, not only sweeps\n\
  -cut <0>                                      relative excess of couplings across the middle of x, before it\n\
  -rounding <0>                                 relative error of some couplings beyond the middle of x\n\n";

#include "testing.h"

typedef enum {
  FIELD_BALLS, /* discs or balls, 3 in each direction */
  FIELD_RANDOM,
  FIELD_CHECKERBOARD, /* of cells with 3 points in each direction */
  FIELD_MIXED,        /* two values, each point by itself */
  FIELD_BLOCK,        /* two points in each direction in the middle of the grid, all others as weak as each other */
  FIELD_CONSTANT,
  FIELD_INLET, /* half of the first points in x */
  FIELD_PLATE  /* the points of the block in one layer across the last direction */
} Field;

typedef enum {
  BOUNDARY_STORED,  /* Dirichlet points are stored, and isolated */
  BOUNDARY_NEUMANN, /* no flux */
  BOUNDARY_PERIODIC
} Boundary;

static const char *const Fields[] = {"balls", "random", "checkerboard", "mixed", "block", "constant", "inlet", "plate"};
static const char *const Boundaries[] = {"stored", "cell", "periodic"};

typedef struct {
  PetscInt  dim, n[3];
  Field     field;
  Boundary  boundary;
  PetscReal contrast;
  PetscReal reaction; /* added to the diagonal where the field reactive has something: everywhere, if it is constant */
  Field     reactive;
  PetscBool holes;    /* balls that nothing flows into, their points isolated */
  PetscInt  layer;    /* of the plate */
  PetscReal cut;      /* relative excess of couplings across the middle of x, in rows before it */
  PetscReal rounding; /* relative error of couplings backward in x, in rows beyond the middle */
} Problem;

/* Between 0 and 1, at random: points are independent of their neighbours */
static PetscReal Random(const Problem *p, const PetscInt at[])
{
  return RandomFrom(UINT64_C(0x9e3779b97f4a7c15) *
                    (uint64_t)(1 + at[0] + p->n[0] * (at[1] + p->n[1] * (p->dim == 3 ? at[2] : 0))));
}

/* Is the point in what a field has of the second value? */
static PetscBool IsIn(const Problem *p, Field field, const PetscInt at[])
{
  PetscReal away = 0;
  PetscInt  sum  = 0;
  PetscBool in   = PETSC_TRUE;

  for (PetscInt d = 0; d < p->dim; d++) {
    const PetscReal part = p->n[d] / 3., x = at[d] + 0.5 - part * PetscFloorReal((at[d] + 0.5) / part) - part / 2;

    away += PetscSqr(x / part);
    sum += at[d] / 3;
    if (field == FIELD_PLATE && d == p->dim - 1) in = (PetscBool)(in && at[d] == p->layer);
    else in = (PetscBool)(in && (at[d] == p->n[d] / 2 - 1 || at[d] == p->n[d] / 2));
  }
  if (field == FIELD_BALLS) in = (PetscBool)(away < PetscSqr(0.35));
  if (field == FIELD_MIXED) in = (PetscBool)(Random(p, at) < 0.5);
  if (field == FIELD_CHECKERBOARD) in = (PetscBool)(sum % 2 == 1);
  if (field == FIELD_INLET) in = (PetscBool)(at[0] == 0 && at[1] < p->n[1] / 2);
  return in;
}

static PetscReal Coefficient(const Problem *p, const PetscInt at[])
{
  if (p->field == FIELD_RANDOM) return PetscPowReal(p->contrast, Random(p, at));
  return p->field != FIELD_CONSTANT && IsIn(p, p->field, at) ? p->contrast : 1;
}

static PetscBool IsStored(const Problem *p, const PetscInt at[])
{
  for (PetscInt d = 0; d < p->dim && p->boundary == BOUNDARY_STORED; d++) {
    if (at[d] == 0 || at[d] == p->n[d] - 1) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* The row of a point: finite volumes, with the harmonic mean of the coefficients on both sides */
static void MakeRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const Problem  *p    = (const Problem *)ctx;
  const PetscReal me   = Coefficient(p, at);
  const PetscBool hole = (PetscBool)(p->holes && IsIn(p, FIELD_BALLS, at));

  if (!IsStored(p, at) && (p->reactive == FIELD_CONSTANT || IsIn(p, p->reactive, at))) row->value[0] = p->reaction;
  if (hole) row->value[0] = 1;
  for (PetscInt o = 0; o < 2 * p->dim && !hole; o++) {
    PetscInt  to[3], place[3];
    PetscReal other, c;
    PetscBool outside;

    StarNeighbour(at, o, to);
    outside = (PetscBool)(p->boundary != BOUNDARY_PERIODIC && !IsInBox(to, p->n, p->dim));
    if (outside && p->boundary == BOUNDARY_NEUMANN) continue;
    for (PetscInt d = 0; d < 3; d++) place[d] = d < p->dim ? (to[d] + p->n[d]) % p->n[d] : 0;
    if (!outside && p->holes && IsIn(p, FIELD_BALLS, place)) continue;
    other = outside ? me : Coefficient(p, place);
    c     = 2 * me * other / (me + other);
    if (o == 1 && to[0] == p->n[0] / 2) c *= 1 + p->cut;
    if (o == 0 && to[0] >= p->n[0] / 2) c *= 1 + p->rounding;
    RowCoupling(row, to, c, (PetscBool)(!outside && !IsStored(p, at) && !IsStored(p, to)));
  }
}

/* All rows of an operator, which may have had other values */
static PetscErrorCode Fill(const Problem *p, Mat A)
{
  DM da;

  PetscFunctionBeginUser;
  PetscCall(MatGetDM(A, &da));
  PetscCall(AssembleRows(da, MakeRow, p, A));
  PetscFunctionReturn(0);
}

static PetscErrorCode RightSide(DM da, Vec b)
{
  PetscInt     s[3], m[3], at[3];
  PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &s[0], &s[1], &s[2], &m[0], &m[1], &m[2]));
  PetscCall(VecGetArray(b, &values));
  FOR_BOX(at, s, m) *values++ = PetscSinReal(3 * at[0] + 5 * at[1] * at[1] + 7 * at[2]) + 0.3;
  PetscCall(VecRestoreArray(b, NULL));
  PetscFunctionReturn(0);
}

/* Operator and right side. Options are for the grids of all processes: alone a process has all of the grid */
static PetscErrorCode Create(MPI_Comm comm, const Problem *p, Mat *A, Vec *b)
{
  const DMBoundaryType t = p->boundary == BOUNDARY_PERIODIC ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  DM                   da;

  PetscFunctionBeginUser;
  PetscCall(MakeDM(comm, p->dim, p->n, t, DMDA_STENCIL_STAR, &da));
  if (comm == PETSC_COMM_WORLD) PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, A));
  PetscCall(DMCreateGlobalVector(da, b));
  PetscCall(Fill(p, *A));
  PetscCall(RightSide(da, *b));
  if (p->boundary != BOUNDARY_STORED && p->reaction == 0) PetscCall(AttachConstants(*A, *b));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolver(Mat A, KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(MakeKSP(A, KSPCG, PCKCYCLE, ksp, NULL));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, 1e-50, 1e10, 100));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

/* Those of a solve from zero; 1000 if it fails */
static PetscErrorCode Count(KSP ksp, Vec b, PetscInt *its)
{
  KSPConvergedReason reason;
  Vec                x;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &x));
  PetscCall(SolveSystem(ksp, b, x, its, &reason));
  if (reason < 0) *its = 1000;
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

static PetscErrorCode Iterations(MPI_Comm comm, const Problem *p, PetscInt *its)
{
  System s = {0};

  PetscFunctionBeginUser;
  PetscCall(Create(comm, p, &s.A, &s.b));
  PetscCall(CreateSolver(s.A, &s.ksp));
  PetscCall(Count(s.ksp, s.b, its));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* Few iterations, however large the jumps */
static PetscErrorCode TestSolve(Problem *p, Boundary boundary, PetscBool show)
{
  const PetscReal contrasts[] = {1e2, 1e4, 1e6};

  PetscFunctionBeginUser;
  p->boundary = boundary;
  for (int f = FIELD_BALLS; f <= FIELD_MIXED; f++) {
    PetscInt its, least = 1000, most = 0;

    p->field = (Field)f;
    for (int c = 0; c < 3; c++) {
      p->contrast = contrasts[c];
      PetscCall(Iterations(PETSC_COMM_WORLD, p, &its));
      if (show) PetscCall(Print("  contrast %g: %" PetscInt_FMT "\n", (double)contrasts[c], its));
      least = PetscMin(least, its);
      most  = PetscMax(most, its);
    }
    PetscCall(Print("%s, %s: at most 20 iterations: %s", Fields[f], Boundaries[boundary], YesNo(most <= 20)));
    if (f != FIELD_RANDOM && f != FIELD_MIXED)
      PetscCall(Print("; the contrast makes a difference of at most 3: %s", YesNo(most - least <= 3)));
    PetscCall(Print("\n"));
  }
  PetscFunctionReturn(0);
}

/* Reactions of any size, everywhere, in bodies and at random points, where couplings are constant and where they
   jump: time steps, penalties, porous bodies */
static PetscErrorCode TestReactions(Problem *p, Boundary boundary, PetscBool show)
{
  const PetscReal reactions[] = {1, 10, 1e3, 1e6};
  const Field     reactive[]  = {FIELD_CONSTANT, FIELD_BALLS, FIELD_MIXED};

  PetscFunctionBeginUser;
  p->boundary = boundary;
  p->contrast = 1e3;
  for (int f = 0; f < 2; f++) {
    p->field = f ? FIELD_BALLS : FIELD_CONSTANT;
    for (int i = 0; i < 3; i++) {
      PetscInt its, most = 0;

      p->reactive = reactive[i];
      for (int r = 0; r < 4; r++) {
        p->reaction = reactions[r];
        PetscCall(Iterations(PETSC_COMM_WORLD, p, &its));
        if (show) PetscCall(Print("  reaction %g: %" PetscInt_FMT "\n", (double)reactions[r], its));
        most = PetscMax(most, its);
      }
      PetscCall(ClaimThat(most <= 15, "couplings: %s, reactions: %s, %s: at most 15 iterations", Fields[p->field],
                          i ? Fields[p->reactive] : "everywhere", Boundaries[boundary]));
    }
  }
  PetscFunctionReturn(0);
}

/* Interpolation stops at the rims of holes in the grid. It does not fall to zero at the closed part of an end that has
   an inlet */
static PetscErrorCode TestWalls(Problem *p)
{
  const char *const names[] = {"holes", "an end that is open in part"};

  PetscFunctionBeginUser;
  p->field = FIELD_CONSTANT;
  for (int i = 0; i < 2; i++) {
    PetscInt its[2];

    p->holes    = (PetscBool)(i == 0);
    p->boundary = i ? BOUNDARY_NEUMANN : BOUNDARY_STORED;
    p->reactive = FIELD_INLET;
    p->reaction = i ? 2 : 0;
    PetscCall(Iterations(PETSC_COMM_WORLD, p, &its[0]));
    PetscCall(Iterations(PETSC_COMM_SELF, p, &its[1]));
    PetscCall(Print("%s: at most 9 iterations: %s; as many as on one process: %s\n", names[i], YesNo(its[0] <= 9),
                    YesNo(its[0] == its[1])));
  }
  PetscFunctionReturn(0);
}

/* Grids of sizes that need care: cells that wrap around, stiff bodies next to a boundary, a grid that is as small as
   coarsest ones may be */
static PetscErrorCode TestSizes(void)
{
  const Problem problems[] = {
      {3, {27, 27, 39}, FIELD_CHECKERBOARD, BOUNDARY_PERIODIC, 1e6, 0, FIELD_CONSTANT, PETSC_FALSE, 0},
      {3, {33, 120, 22}, FIELD_BALLS, BOUNDARY_STORED, 1e6, 0, FIELD_CONSTANT, PETSC_FALSE, 0},
      {3, {8, 8, 8}, FIELD_CHECKERBOARD, BOUNDARY_NEUMANN, 1e6, 0, FIELD_CONSTANT}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(problems); i++) {
    const Problem *p = &problems[i];
    PetscInt       its;

    PetscCall(Iterations(PETSC_COMM_WORLD, p, &its));
    PetscCall(ClaimThat(its <= 12,
                        "%s, %s, %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT ": at most 12 iterations",
                        Fields[p->field], Boundaries[p->boundary], p->n[0], p->n[1], p->n[2]));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateRelax(Mat A, PCRelaxClustersType clustering, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(MakePC(A, PCRELAX, pc));
  PetscCall(PCRelaxSetClusters(*pc, clustering));
  PetscFunctionReturn(0);
}

/* 1 at the points of a body, 0 at others */
static PetscErrorCode CreateBody(const Problem *p, Mat A, Vec *body)
{
  PetscScalar *a;
  PetscInt     n;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, body, NULL));
  PetscCall(MatGetDiagonal(A, *body));
  PetscCall(VecGetLocalSize(*body, &n));
  PetscCall(VecGetArray(*body, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = PetscRealPart(a[i]) > p->contrast ? 1 : 0;
  PetscCall(VecRestoreArray(*body, &a));
  PetscFunctionReturn(0);
}

/* Sum of the residuals of a body's points after an application */
static PetscErrorCode SumOfResiduals(PC pc, Mat A, Vec b, Vec body, PetscScalar *sum)
{
  Vec x, r;

  PetscFunctionBeginUser;
  PetscCall(DuplicateVec(b, &x, &r));
  PetscCall(PCApply(pc, b, x));
  PetscCall(MatResidual(A, b, x, r));
  PetscCall(VecDot(r, body, sum));
  PetscCall(DestroyAll(&x, &r));
  PetscFunctionReturn(0);
}

/* One cluster alone: after a sweep the residuals of its points add up to zero, also where the cluster is cut into
   processes */
static PetscErrorCode TestExact(Problem *p)
{
  Mat         A;
  Vec         b, block;
  PC          pc;
  PetscScalar sum[2];
  PetscReal   norm;

  PetscFunctionBeginUser;
  p->field    = FIELD_BLOCK;
  p->contrast = 1e6;
  PetscCall(Create(PETSC_COMM_WORLD, p, &A, &b));
  PetscCall(CreateBody(p, A, &block));
  for (int on = 0; on < 2; on++) {
    PetscCall(CreateRelax(A, on ? PC_RELAX_CLUSTERS_AUTO : PC_RELAX_CLUSTERS_OFF, &pc));
    PetscCall(PCRelaxSetOrder(pc, PC_RELAX_ORDER_FORWARD));
    PetscCall(SumOfResiduals(pc, A, b, block, &sum[on]));
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(VecNorm(block, NORM_1, &norm));
  PetscCall(Print(
      "after a sweep the residuals of the block's points add up to zero: %s, without the cluster they do not: %s\n",
      YesNo(norm == (p->dim == 2 ? 4 : 8) && PetscAbsScalar(sum[1]) < 1e-8), YesNo(PetscAbsScalar(sum[0]) > 1e-3)));
  PetscCall(DestroyAll(&b, &block, &A));
  PetscFunctionReturn(0);
}

/* Are the points of a body, a block or a plate, corrected as a cluster by the smoother of the finest level? Then their
   residuals after a sweep add up to zero. its: of CG */
static PetscErrorCode IsCorrected(const Problem *p, PetscBool *yes, PetscInt *its)
{
  Mat         A;
  Vec         b, x, body;
  KSP         ksp, smoother;
  PetscScalar sum;
  PetscInt    nlevels;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_COMM_WORLD, p, &A, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(CreateBody(p, A, &body));
  PetscCall(MakeSolver(A, KSPCG, 1e-8, 200, &ksp));
  PetscCall(SolveSystem(ksp, b, x, its, NULL));
  PetscCall(PCMGGetLevels(PCOf(ksp), &nlevels));
  PetscCall(PCMGGetSmoother(PCOf(ksp), nlevels - 1, &smoother));
  PetscCall(SumOfResiduals(PCOf(smoother), A, b, body, &sum));
  *yes = (PetscBool)(PetscAbsScalar(sum) < 1e-8);
  PetscCall(DestroyAll(&ksp, &b, &x, &body, &A));
  PetscFunctionReturn(0);
}

/* If only the last direction is coarsened, the coarser grid represents a block, and a plate in a layer that it keeps.
   It does not represent a plate in the next layer */
static PetscErrorCode TestSeen(Problem *p)
{
  PetscInt  plates = 0, its[3];
  PetscBool block, plate;

  PetscFunctionBeginUser;
  p->contrast = 1e6;
  p->field    = FIELD_BLOCK;
  PetscCall(IsCorrected(p, &block, &its[0]));
  p->field = FIELD_PLATE;
  for (int i = 0; i < 2; i++) {
    p->layer = p->n[0] / 2 - i;
    PetscCall(IsCorrected(p, &plate, &its[1 + i]));
    plates += plate;
  }
  PetscCall(
      Print("corrected after a sweep: the block: %s, plates: %" PetscInt_FMT " of 2\n", block ? "yes" : "no", plates));
  PetscCall(Claim(PetscMax(PetscMax(its[0], its[1]), its[2]) <= 12, "at most 12 iterations"));
  PetscFunctionReturn(0);
}

/* <M u, v> = <u, M^T v>; transposed is false for an M that is symmetric itself */
static PetscErrorCode CheckAdjoint(PC pc, PetscBool transposed, Vec u, Vec v, const char name[])
{
  PetscReal error;

  PetscFunctionBeginUser;
  PetscCall(AdjointError(pc, transposed, u, v, &error));
  PetscCall(Claim(error <= 1e-9, name));
  PetscFunctionReturn(0);
}

/* Generations of clusters backwards are the adjoint of generations forwards */
static PetscErrorCode TestAdjoint(Problem *p)
{
  Mat A;
  Vec u, v;
  PC  pc;

  PetscFunctionBeginUser;
  p->field    = FIELD_RANDOM;
  p->contrast = 1e4;
  PetscCall(Create(PETSC_COMM_WORLD, p, &A, &u));
  PetscCall(VecDuplicate(u, &v));
  PetscCall(VecPointwiseMult(v, u, u));
  PetscCall(CreateRelax(A, PC_RELAX_CLUSTERS_AUTO, &pc));
  PetscCall(CheckAdjoint(pc, PETSC_TRUE, u, v, "the transpose of a sweep with clusters is its adjoint"));
  PetscCall(PCRelaxSetOrder(pc, PC_RELAX_ORDER_SYMMETRIC));
  PetscCall(CheckAdjoint(pc, PETSC_FALSE, u, v, "a symmetric sweep with clusters is symmetric"));
  PetscCall(PCDestroy(&pc));
  PetscCall(MakePC(A, PCKCYCLE, &pc));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(CheckAdjoint(pc, PETSC_FALSE, u, v, "a cycle with clusters is symmetric"));
  PetscCall(DestroyAll(&pc, &u, &v, &A));
  PetscFunctionReturn(0);
}

/* Where nothing jumps auto finds no clusters; on looks for them all the same */
static PetscErrorCode TestChoices(Problem *p)
{
  const PCRelaxClustersType choice[] = {PC_RELAX_CLUSTERS_OFF, PC_RELAX_CLUSTERS_AUTO, PC_RELAX_CLUSTERS_ON};
  PCRelaxClustersType       got;
  PetscErrorCode            ierr;
  PetscBool                 same;
  Mat                       A;
  Vec                       b, x[3];
  PC                        pc;

  PetscFunctionBeginUser;
  p->field = FIELD_CONSTANT;
  PetscCall(Create(PETSC_COMM_WORLD, p, &A, &b));
  for (int c = 0; c < 3; c++) {
    PetscCall(VecDuplicate(b, &x[c]));
    PetscCall(CreateRelax(A, choice[c], &pc));
    PetscCall(PCApply(pc, b, x[c]));
    PetscCall(PCRelaxGetClusters(pc, &got));
    PetscCall(VecEqual(x[0], x[c], &same));
    PetscCall(Print("clusters %s: got back: %s", PCRelaxClustersTypes[choice[c]], YesNo(got == choice[c])));
    if (choice[c] != PC_RELAX_CLUSTERS_ON) PetscCall(Print(", no change without jumps: %s", YesNo(same)));
    PetscCall(Print("\n"));
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(CreateRelax(A, PC_RELAX_CLUSTERS_ON, &pc));
  PetscCall(PCRelaxSetType(pc, PC_RELAX_CHEBYSHEV));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = PCSetUp(pc);
  PetscCall(PetscPopErrorHandler());
  PetscCall(Claim(ierr == PETSC_ERR_ARG_INCOMP, "clusters after Chebyshev polynomials are refused"));
  PetscCall(PCDestroy(&pc));
  for (int c = 0; c < 3; c++) PetscCall(VecDestroy(&x[c]));
  PetscCall(DestroyAll(&b, &A));
  PetscFunctionReturn(0);
}

/* Lines through all points of a plate solve it, so that it is no cluster for them: a plate of two points in 2D, and
   lines along both. Four points in 3D are more than a line has */
static PetscErrorCode TestLines(Problem *p)
{
  const char *const types[] = {PC_RELAX_REDBLACK, PC_RELAX_ZEBRA_X, PC_RELAX_ZEBRA_Y, PC_RELAX_ALTERNATING};
  Mat               A;
  Vec               b, x[2];
  PC                pc;
  PetscBool         same;

  PetscFunctionBeginUser;
  p->field    = FIELD_PLATE;
  p->contrast = 1e6;
  p->layer    = p->n[0] / 2;
  PetscCall(Create(PETSC_COMM_WORLD, p, &A, &b));
  for (int i = 0; i < 2; i++) PetscCall(VecDuplicate(b, &x[i]));
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
    for (int i = 0; i < 2; i++) {
      PetscCall(CreateRelax(A, i ? PC_RELAX_CLUSTERS_AUTO : PC_RELAX_CLUSTERS_OFF, &pc));
      PetscCall(PCRelaxSetType(pc, types[t]));
      PetscCall(PCApply(pc, b, x[i]));
      PetscCall(PCDestroy(&pc));
    }
    PetscCall(VecEqual(x[0], x[1], &same));
    PetscCall(Print("after %s the plate is %s\n", types[t], same ? "left as it is" : "corrected"));
  }
  for (int i = 0; i < 2; i++) PetscCall(VecDestroy(&x[i]));
  PetscCall(DestroyAll(&b, &A));
  PetscFunctionReturn(0);
}

/* What a sweep and a solver make of a changed matrix is what new ones do: its coefficients are looked at anew */
static PetscErrorCode TestChanged(Problem *p)
{
  const Field fields[] = {FIELD_CONSTANT, FIELD_CHECKERBOARD, FIELD_CONSTANT, FIELD_RANDOM, FIELD_MIXED, FIELD_BALLS};
  Mat         A;
  Vec         b, x, y;
  PC          pc;
  KSP         ksp;

  PetscFunctionBeginUser;
  p->contrast = 1e6;
  PetscCall(Create(PETSC_COMM_WORLD, p, &A, &b));
  PetscCall(DuplicateVec(b, &x, &y));
  PetscCall(CreateRelax(A, PC_RELAX_CLUSTERS_AUTO, &pc));
  PetscCall(CreateSolver(A, &ksp));
  for (size_t f = 0; f < PETSC_STATIC_ARRAY_LENGTH(fields); f++) {
    PetscInt  its[2];
    PetscBool same;
    Mat       B;
    Vec       c;
    PC        relax;

    p->field = fields[f];
    PetscCall(Fill(p, A));
    PetscCall(PCApply(pc, b, x));
    PetscCall(Count(ksp, b, &its[0]));
    PetscCall(Create(PETSC_COMM_WORLD, p, &B, &c));
    PetscCall(CreateRelax(B, PC_RELAX_CLUSTERS_AUTO, &relax));
    PetscCall(PCApply(relax, b, y));
    PetscCall(VecEqual(x, y, &same));
    PetscCall(DestroyAll(&relax, &c, &B));
    PetscCall(Iterations(PETSC_COMM_WORLD, p, &its[1]));
    PetscCall(Print("%s: sweeps of a new smoother: %s, iterations of a new solver: %s\n", Fields[p->field], YesNo(same),
                    YesNo(its[0] == its[1])));
  }
  PetscCall(DestroyAll(&ksp, &pc, &b, &x, &y, &A));
  PetscFunctionReturn(0);
}

/* Preconditioners that are kept while the operator changes: sweeps are those of the new values, and a solver still
   solves */
static PetscErrorCode TestKept(Problem *p)
{
  const Field fields[] = {FIELD_CONSTANT, FIELD_RANDOM, FIELD_BALLS, FIELD_CONSTANT};
  Mat         A;
  Vec         b, x, y;
  PC          kept, fresh;
  KSP         ksp;

  PetscFunctionBeginUser;
  p->field    = FIELD_CONSTANT;
  p->contrast = 2;
  PetscCall(Create(PETSC_COMM_WORLD, p, &A, &b));
  PetscCall(DuplicateVec(b, &x, &y));
  PetscCall(CreateRelax(A, PC_RELAX_CLUSTERS_OFF, &kept));
  PetscCall(CreateSolver(A, &ksp));
  for (size_t f = 0; f < PETSC_STATIC_ARRAY_LENGTH(fields); f++) {
    PetscInt  its;
    PetscBool same;

    p->field = fields[f];
    PetscCall(Fill(p, A));
    PetscCall(PCSetReusePreconditioner(kept, f > 0 ? PETSC_TRUE : PETSC_FALSE));
    PetscCall(KSPSetReusePreconditioner(ksp, f > 0 ? PETSC_TRUE : PETSC_FALSE));
    PetscCall(CreateRelax(A, PC_RELAX_CLUSTERS_OFF, &fresh));
    PetscCall(PCApply(kept, b, x));
    PetscCall(PCApply(fresh, b, y));
    PetscCall(VecEqual(x, y, &same));
    PetscCall(PCDestroy(&fresh));
    PetscCall(Count(ksp, b, &its));
    PetscCall(
        Print("%s: sweeps with the new values: %s, solved: %s\n", Fields[p->field], YesNo(same), YesNo(its <= 20)));
  }
  PetscCall(DestroyAll(&ksp, &kept, &b, &x, &y, &A));
  PetscFunctionReturn(0);
}

/* Sweeps on the finest level */
static PetscErrorCode GetSweeps(KSP ksp, KSP *smoother, PetscInt *sweeps)
{
  PetscInt levels;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetLevels(PCOf(ksp), &levels));
  PetscCall(PCMGGetSmoother(PCOf(ksp), levels - 1, smoother));
  PetscCall(KSPGetTolerances(*smoother, NULL, NULL, NULL, sweeps));
  PetscFunctionReturn(0);
}

/* Sweeps that somebody has chosen are kept when other values come */
static PetscErrorCode TestSweeps(Problem *p)
{
  const Field fields[] = {FIELD_BLOCK, FIELD_MIXED, FIELD_BLOCK};
  Mat         A;
  Vec         b;
  KSP         ksp, smoother;
  PetscInt    sweeps[3], its;
  PetscBool   given;

  PetscFunctionBeginUser;
  p->contrast = 1e6;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-mg_levels_ksp_max_it", &given));
  PetscCall(Create(PETSC_COMM_WORLD, p, &A, &b));
  PetscCall(CreateSolver(A, &ksp));
  for (int f = 0; f < 3; f++) {
    p->field = fields[f];
    PetscCall(Fill(p, A));
    PetscCall(Count(ksp, b, &its));
    PetscCall(GetSweeps(ksp, &smoother, &sweeps[f]));
    PetscCall(ClaimThat(its <= 20, "%s: at most 20 iterations", Fields[p->field]));
  }
  PetscCall(ClaimThat(sweeps[0] == sweeps[1] && sweeps[1] == sweeps[2] && sweeps[0] == (given ? 4 : 2), "%s sweeps",
                      given ? "four" : "two"));
  PetscCall(KSPSetTolerances(smoother, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 3));
  p->field = FIELD_MIXED;
  PetscCall(Fill(p, A));
  PetscCall(Count(ksp, b, &its));
  PetscCall(GetSweeps(ksp, &smoother, &sweeps[0]));
  PetscCall(Claim(sweeps[0] == 3, "sweeps that the program chose are kept"));
  PetscCall(DestroyAll(&ksp, &b, &A));
  PetscFunctionReturn(0);
}

/* What a symmetric sweep with clusters gives, and the number of iterations */
typedef struct {
  PetscReal   norm;
  PetscScalar product;
  PetscInt    its;
} Outcome;

static PetscErrorCode Measure(MPI_Comm comm, const Problem *p, PetscBool cycles, Outcome *outcome)
{
  Mat A;
  Vec b, x;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(Create(comm, p, &A, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(CreateRelax(A, PC_RELAX_CLUSTERS_AUTO, &pc));
  PetscCall(PCRelaxSetOrder(pc, PC_RELAX_ORDER_SYMMETRIC));
  PetscCall(PCApply(pc, b, x));
  PetscCall(VecNorm(x, NORM_2, &outcome->norm));
  PetscCall(VecTDot(b, x, &outcome->product));
  PetscCall(DestroyAll(&pc, &b, &x, &A));
  outcome->its = 0;
  if (cycles) PetscCall(Iterations(comm, p, &outcome->its));
  PetscFunctionReturn(0);
}

/* Clusters that are cut into processes are found and corrected as on one */
static PetscErrorCode TestProcesses(Problem *p, PetscBool cycles)
{
  PetscFunctionBeginUser;
  p->contrast = 1e6;
  for (int e = BOUNDARY_STORED; e <= BOUNDARY_PERIODIC; e++) {
    for (int f = FIELD_BALLS; f <= FIELD_MIXED; f++) {
      Outcome alone, all;
      int     same, mine = 1;

      p->boundary = (Boundary)e;
      p->field    = (Field)f;
      PetscCall(Measure(PETSC_COMM_WORLD, p, cycles, &all));
      if (!PetscGlobalRank) {
        PetscCall(Measure(PETSC_COMM_SELF, p, cycles, &alone));
        mine = (PetscAbsReal(all.norm - alone.norm) <= 1e-7 * alone.norm &&
                PetscAbsScalar(all.product - alone.product) <= 1e-7 * PetscAbsScalar(alone.product) &&
                all.its == alone.its);
      }
      PetscCallMPI(MPI_Allreduce(&mine, &same, 1, MPI_INT, MPI_LAND, PETSC_COMM_WORLD));
      PetscCall(ClaimThat(same, "%s, %s: as on one process", Fields[f], Boundaries[e]));
    }
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const char *const tests[] = {"solve",  "exact", "adjoint",   "choices", "processes", "sizes", "changed",
                               "sweeps", "kept",  "reactions", "walls",   "seen",      "lines"};
  Problem           p       = {2, {48, 48, 48}, FIELD_BALLS, BOUNDARY_STORED, 1, 0, FIELD_CONSTANT, PETSC_FALSE, 0};
  PetscInt          test    = 0;
  PetscBool         cycles  = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-test", tests, 13, &test, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &p.dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &p.n[0], NULL));
  p.n[1] = p.n[2] = p.n[0];
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-cycles", &cycles, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-cut", &p.cut, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-rounding", &p.rounding, NULL));
  for (int e = BOUNDARY_STORED; e <= BOUNDARY_PERIODIC && test == 0; e++)
    PetscCall(TestSolve(&p, (Boundary)e, Given("-show")));
  for (int e = BOUNDARY_STORED; e <= BOUNDARY_PERIODIC && test == 9; e++)
    PetscCall(TestReactions(&p, (Boundary)e, Given("-show")));
  if (test == 1) PetscCall(TestExact(&p));
  if (test == 2) PetscCall(TestAdjoint(&p));
  if (test == 3) PetscCall(TestChoices(&p));
  if (test == 4) PetscCall(TestProcesses(&p, cycles));
  if (test == 5) PetscCall(TestSizes());
  if (test == 6) PetscCall(TestChanged(&p));
  if (test == 7) PetscCall(TestSweeps(&p));
  if (test == 8) PetscCall(TestKept(&p));
  if (test == 10) PetscCall(TestWalls(&p));
  if (test == 11) PetscCall(TestSeen(&p));
  if (test == 12) PetscCall(TestLines(&p));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  # an odd number of the checkerboard's cells wraps around: stiff ones meet
  test:
    suffix: 3d_odd
    requires: !complex
    args: -dim 3 -n 27
    output_file: output/jumps.out

  testset:
    requires: !complex
    nsize: {{1 2 4}}
    output_file: output/jumps.out

    test:
      suffix: 2d

    test:
      suffix: 3d
      args: -dim 3 -n 18

  testset:
    nsize: {{1 3}}
    requires: !complex
    args: -pc_kcycle_precision single
    output_file: output/jumps.out

    test:
      suffix: single

    test:
      suffix: single_3d
      args: -dim 3 -n 18

  testset:
    requires: !complex
    nsize: {{1 3}}
    args: -test reactions
    output_file: output/jumps_reactions.out

    test:
      suffix: reactions
      args: -n 65

    test:
      suffix: reactions_3d
      args: -dim 3 -n 33

  testset:
    requires: !complex
    nsize: {{1 3 8}}
    args: -test walls
    output_file: output/jumps_walls.out

    test:
      suffix: walls
      args: -n 65

    test:
      suffix: walls_3d
      args: -dim 3 -n 33

  testset:
    nsize: {{1 2 4}}
    requires: !complex

    test:
      suffix: exact
      args: -test exact -dim {{2 3}} -n 14

    test:
      suffix: seen
      requires: !complex
      args: -test seen -dim 2 -pc_kcycle_semicoarsen y

    test:
      suffix: seen_3d
      requires: !complex
      args: -test seen -dim 3 -n 18 -pc_kcycle_semicoarsen z
      output_file: output/jumps_seen.out

    test:
      suffix: unseen
      requires: !complex
      args: -test seen -dim 3 -n 18 -pc_kcycle_semicoarsen {{xyz xz}}

    test:
      suffix: lines
      args: -test lines -dim 2 -n 48

    test:
      suffix: lines_3d
      args: -test lines -dim 3 -n 18

    test:
      suffix: adjoint
      args: -test adjoint -dim {{2 3}} -n 16

    test:
      suffix: choices
      args: -test choices

    test:
      suffix: changed
      requires: !complex
      args: -test changed -dim {{2 3}} -n 17 -dm_mat_type {{aij stencil}}

    test:
      suffix: kept
      requires: !complex
      args: -test kept -dim {{2 3}} -n 17 -dm_mat_type stencil

    test:
      suffix: sweeps
      requires: !complex
      args: -test sweeps -dim 3 -n 32 -pc_mg_levels 3

    test:
      suffix: sweeps_given
      requires: !complex
      args: -test sweeps -dim 3 -n 32 -pc_mg_levels 3 -mg_levels_ksp_max_it 4

    test:
      suffix: sizes
      requires: !complex
      args: -test sizes

  testset:
    requires: !complex
    args: -test processes
    output_file: output/jumps_processes.out

    test:
      suffix: processes
      nsize: {{2 3 4 8}}
      args: -n 28

    test:
      suffix: processes_3d
      nsize: {{2 4 8}}
      args: -dim 3 -n 14

    test:
      suffix: processes_thin
      nsize: 8
      args: -dim {{2 3}} -n 12 -da_processors_x 8 -cycles 0

    # each process has a symmetric part, or one of them up to rounding, yet all of them exchange what lies across cuts
    test:
      suffix: processes_half
      nsize: {{2 4}}
      args: -dim {{2 3}} -n 12 -cycles 0 -cut {{0 1}} -rounding {{0 1e-15}}

TEST*/
