static char help[] = "Memory of structured levels: what PETSc has allocated, in doubles per unknown.\n\
  -test held|sweeps|thin   memory while a system is solved; smoothers without work vectors; the search for clusters\n\
  -dim <3>, -n <65>     held, thin: dimensions, points in each direction\n\
  -kinds <0,1,2>        held: the problems\n\
  -held <a,b,c>         held: the most doubles per unknown, for each problem\n\
  -setup <a,b,c>        held: the most during set-up\n\
  -show                 held: the numbers\n\n";

#include "grids.h"
#include "twophase.h"

typedef enum {
  KIND_CONSTANT,
  KIND_VARYING, /* all grid lines differ, couplings by less than 3 */
  KIND_BALLS
} Kind;

static const char *const Kinds[] = {"constant coefficients", "all lines different", "27 balls of 1000:1"};

/* Bytes in use on all processes, and the most of each since the last time */
static PetscErrorCode Usage(PetscLogDouble bytes[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscMallocGetCurrentUsage(&bytes[0]));
  PetscCall(PetscMallocPopMaximumUsage(1, &bytes[1]));
  PetscCall(PetscMallocPushMaximumUsage(1));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bytes, 2, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

/* The grid is the program's; what is in use before the matrix is made */
static PetscErrorCode Create(Kind kind, PetscInt dim, PetscInt n, MatType type, DM *da, Mat *A, Vec *b, Vec *x,
                             PetscLogDouble before[])
{
  const PetscReal vary = kind == KIND_VARYING ? 0.9 : 0;
  Grid            g    = {11,
                          dim,
                          {n, dim > 1 ? n : 1, dim > 2 ? n : 1},
                          {0, 0, 0},
                          {{BOUNDARY_STORED}}, /* as all others */
                          PETSC_FALSE,
                          PETSC_FALSE,
                          {1, 1, 1},
                          vary};
  TwoPhase        t;

  PetscFunctionBeginUser;
  TwoPhaseInit(&t, 3, n, 1000);
  t.harmonic = PETSC_TRUE;
  PetscCall(GridCreateDM(&g, da));
  PetscCall(DMCreateGlobalVector(*da, x));
  PetscCall(VecDuplicate(*x, b));
  PetscCall(VecSet(*b, 1));
  PetscCall(DMSetMatType(*da, type));
  PetscCall(Usage(before));
  PetscCall(DMCreateMatrix(*da, A));
  if (kind == KIND_BALLS) PetscCall(TwoPhaseAssemble(&t, *da, *A));
  else PetscCall(GridAssemble(&g, *da, *A));
  PetscFunctionReturn(0);
}

/* Bytes that PETSc takes for the grids of the coarse levels: those of DMDAs that are made like them */
static PetscErrorCode CoarseGrids(PC pc, PetscLogDouble *bytes)
{
  PetscInt nlevels;

  PetscFunctionBeginUser;
  *bytes = 0;
  PetscCall(PCMGGetLevels(pc, &nlevels));
  for (PetscInt l = 0; l < nlevels - 1; l++) {
    PetscLogDouble  before[2], after[2];
    PetscInt        dim, size[3], nproc[3];
    const PetscInt *owned[3];
    KSP             ksp;
    Mat             A;
    DM              da, like;

    PetscCall(PCMGGetSmoother(pc, l, &ksp));
    PetscCall(KSPGetOperators(ksp, &A, NULL));
    PetscCall(MatGetDM(A, &da));
    if (!da) continue; /* the coarsest one, if it is assembled */
    PetscCall(DMDAGetInfo(da, &dim, &size[0], &size[1], &size[2], &nproc[0], &nproc[1], &nproc[2], NULL, NULL, NULL,
                          NULL, NULL, NULL));
    PetscCall(DMDAGetOwnershipRanges(da, &owned[0], &owned[1], &owned[2]));
    PetscCall(Usage(before));
    PetscCall(DMDACreate(PETSC_COMM_WORLD, &like));
    PetscCall(DMSetDimension(like, dim));
    PetscCall(DMDASetSizes(like, size[0], size[1], size[2]));
    PetscCall(DMDASetNumProcs(like, nproc[0], nproc[1], nproc[2]));
    PetscCall(DMDASetOwnershipRanges(like, owned[0], dim > 1 ? owned[1] : NULL, dim > 2 ? owned[2] : NULL));
    PetscCall(DMDASetDof(like, 1));
    PetscCall(DMDASetStencilType(like, DMDA_STENCIL_BOX));
    PetscCall(DMDASetStencilWidth(like, 1));
    PetscCall(DMSetUp(like));
    PetscCall(Usage(after));
    PetscCall(DMDestroy(&like));
    *bytes += after[0] - before[0];
  }
  PetscFunctionReturn(0);
}

/*
  Doubles per unknown, with CG's three vectors and a stencil matrix. The program's x and b, its grid and a matrix of
  type aij are not counted. Grids of coarse levels are not, either, as they differ from version to version of PETSc
*/
typedef struct {
  PetscReal setup, solve; /* most during set-up, and the solve */
  PetscReal held;         /* afterwards */
  PetscReal made;         /* left by the solve alone */
  PetscReal grids;        /* what PETSc takes for the grids of coarse levels */
  PetscBool converged;
} Memory;

static PetscErrorCode Measure(Kind kind, PetscInt dim, PetscInt n, MatType type, Memory *m)
{
  const PetscReal    doubles = (PetscReal)sizeof(double) * PetscPowRealInt((PetscReal)n, dim);
  PetscLogDouble     before[2], setup[2], solve[2], grids;
  PetscBool          stencil;
  KSPConvergedReason reason;
  System             s = {0};

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(type, MATSTENCIL, &stencil));
  PetscCall(Create(kind, dim, n, type, &s.da, &s.A, &s.b, &s.x, before));
  PetscCall(Usage(stencil ? setup : before));
  PetscCall(MakeSolver(s.A, KSPCG, 1e-8, 100, &s.ksp));
  PetscCall(KSPSetUp(s.ksp));
  PetscCall(Usage(setup));
  PetscCall(KSPSolve(s.ksp, s.b, s.x));
  PetscCall(Usage(solve));
  PetscCall(CoarseGrids(PCOf(s.ksp), &grids));
  m->setup = (setup[1] - before[0] - grids) / doubles;
  m->solve = (solve[1] - before[0] - grids) / doubles;
  m->held  = (solve[0] - before[0] - grids) / doubles;
  m->grids = grids / doubles;
  m->made  = (solve[0] - setup[0]) / doubles;
  PetscCall(KSPGetConvergedReason(s.ksp, &reason));
  m->converged = (PetscBool)(reason > 0);
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* What PETSc puts off to the first solve, a factorization of the coarsest level for instance, is less than a vector */
static PetscErrorCode TestHeld(void)
{
  const MatType types[] = {MATAIJ, MATSTENCIL};
  PetscReal     held[3] = {6, 6 + 4 * 8 / 7., 6 + 4 * 8 / 7.}, setup[3] = {6, 6 + 4 * 8 / 7., 6 + 4 * 8 / 7.};
  PetscInt      dim = 3, n = 65, nheld = 3, nsetup = 3, kinds[3] = {0, 1, 2}, nkinds = 3;
  PetscBool     show = PETSC_FALSE, given;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-kinds", kinds, &nkinds, &given));
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-held", held, &nheld, NULL));
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-setup", setup, &nsetup, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-show", &show, NULL));
  for (PetscInt k = 0; k < (given ? nkinds : 3); k++) {
    for (int t = 0; t < 2; t++) {
      const PetscInt kind = kinds[k];
      Memory         m;

      PetscCall(PetscMemzero(&m, sizeof(m)));
      PetscCall(Measure((Kind)kind, dim, n, types[t], &m));
      PetscCall(Print("%s, type %s: doubles an unknown at most %.1f %s, in set-up %.1f %s; the solve makes no "
                      "vector %s; converged %s\n",
                      Kinds[kind], types[t], (double)held[kind], YesNo(m.held <= held[kind]), (double)setup[kind],
                      YesNo(m.setup <= setup[kind]), YesNo(m.made < 0.9), YesNo(m.converged)));
      if (show)
        PetscCall(Print("  set-up %.3f, solve %.3f, held %.3f, made by the solve %.4f, coarse grids %.3f\n",
                        (double)m.setup, (double)m.solve, (double)m.held, (double)m.made, (double)m.grids));
    }
  }
  PetscFunctionReturn(0);
}

/* What a program may do with a smoother */
typedef enum {
  USE_PLAIN,
  USE_DAMPED,
  USE_SELFSCALE,
  USE_MONITOR,
  USE_NORM,
  USE_JACOBI,
  USE_TRANSPOSE,
  USE_KERNEL,
  NUSES
} Use;

static const char *const Uses[NUSES] = {"sweeps",      "damped",      "self-scaled", "with a monitor",
                                        "with a norm", "with Jacobi", "transposed",  "with a null space"};

static PetscErrorCode CountCalls(KSP ksp, PetscInt it, PetscReal rnorm, void *ctx)
{
  PetscFunctionBeginUser;
  (void)ksp;
  (void)rnorm;
  *(PetscInt *)ctx += it + 1;
  PetscFunctionReturn(0);
}

/* Two sweeps from x = 0.5 */
static PetscErrorCode Smooth(KSP ksp, Use use, Vec b, Vec x, PetscInt *calls)
{
  PetscFunctionBeginUser;
  *calls = 0;
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  if (use == USE_DAMPED) PetscCall(KSPRichardsonSetScale(ksp, 0.7));
  if (use == USE_SELFSCALE) PetscCall(KSPRichardsonSetSelfScale(ksp, PETSC_TRUE));
  if (use == USE_MONITOR) PetscCall(KSPMonitorSet(ksp, CountCalls, calls, NULL));
  if (use == USE_NORM) PetscCall(KSPSetNormType(ksp, KSP_NORM_PRECONDITIONED));
  if (use == USE_JACOBI) PetscCall(PCSetType(PCOf(ksp), PCJACOBI));
  PetscCall(VecSet(x, 0.5));
  if (use == USE_TRANSPOSE) PetscCall(KSPSolveTranspose(ksp, b, x));
  else PetscCall(KSPSolve(ksp, b, x));
  PetscFunctionReturn(0);
}

/* KSPRICHARDSON as a program makes it */
static PetscErrorCode CreateRichardson(Mat A, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(MakeKSP(A, KSPRICHARDSON, PCRELAX, ksp, &pc));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_NONE));
  PetscCall(KSPSetConvergenceTest(*ksp, KSPConvergedSkip, NULL, NULL));
  PetscCall(KSPSetTolerances(*ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 2));
  PetscFunctionReturn(0);
}

/* The finest smoother of a solver that has been set up, and a KSPRICHARDSON of the same sweeps */
static PetscErrorCode CompareUse(Use use, PetscBool *same, PetscBool *none)
{
  PetscLogDouble before[2], after[2];
  PetscReal      away, size;
  PetscInt       nlevels, n, calls[2];
  DM             da;
  Mat            A;
  Vec            b, x, y;
  KSP            ksp, smoother, plain;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(Create(KIND_VARYING, 3, 17, MATSTENCIL, &da, &A, &b, &x, before));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecGetSize(x, &n));
  PetscCall(MakeKSP(A, NULL, PCKCYCLE, &ksp, &pc));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PCMGGetLevels(pc, &nlevels));
  PetscCall(PCMGGetSmoother(pc, nlevels - 1, &smoother));
  PetscCall(CreateRichardson(A, &plain));
  if (use == USE_KERNEL) {
    PetscCall(AttachConstants(A, NULL));
  }
  PetscCall(Smooth(plain, use, b, y, &calls[0]));
  PetscCall(Usage(before));
  PetscCall(Smooth(smoother, use, b, x, &calls[1]));
  PetscCall(Usage(after));
  *none = (PetscBool)(after[0] - before[0] < (double)n * sizeof(PetscScalar) / 2);
  PetscCall(DifferenceNorms(x, y, NORM_2, &away, &size));
  *same = (PetscBool)(away <= 1e-14 * size && calls[0] == calls[1] && (calls[0] > 0) == (use == USE_MONITOR));
  PetscCall(DestroyAll(&plain, &ksp, &y, &x, &b, &A, &da));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestSweeps(void)
{
  PetscFunctionBeginUser;
  for (int use = 0; use < NUSES; use++) {
    PetscBool same = PETSC_FALSE, none = PETSC_FALSE;

    PetscCall(CompareUse((Use)use, &same, &none));
    PetscCall(Print("smoother, %s: as KSPRICHARDSON %s%s\n", Uses[use], YesNo(same),
                    use    ? ""
                    : none ? ", no work vector made yes"
                           : ", no work vector made NO"));
  }
  PetscFunctionReturn(0);
}

/* On one process it is the matrix itself; else the diagonal block belongs to a matrix of type aij */
static PetscErrorCode TestBlock(void)
{
  PetscLogDouble before[2], after[2];
  DM             da;
  Mat            A, block;
  Vec            b, x;

  PetscFunctionBeginUser;
  PetscCall(Create(KIND_VARYING, 3, 17, MATSTENCIL, &da, &A, &b, &x, before));
  PetscCall(Usage(before));
  PetscCall(MatGetDiagonalBlock(A, &block));
  PetscCall(Usage(after));
  PetscCall(Claim((after[0] > before[0]) == (PetscGlobalSize > 1),
                  "the diagonal block is made on several processes, and only there"));
  PetscCall(DestroyAll(&x, &b, &A, &da));
  PetscFunctionReturn(0);
}

/* Diffusion in a slab of three points across one direction. It is a thousand times as large on every second field of a
   checkerboard of 20 x 20 points, which are too large for clusters */
typedef struct {
  PetscInt size[3];
  int      across;
} Slab;

static void MakeRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const Slab *slab = (const Slab *)ctx;

  for (PetscInt o = 0; o < 6; o++) {
    PetscInt to[3], here = 0, there = 0;

    StarNeighbour(at, o, to);
    for (int d = 0; d < 3; d++) {
      here += d == slab->across ? 0 : at[d] / 20;
      there += d == slab->across ? 0 : (to[d] + 20) / 20 - 1;
    }
    RowCoupling(row, to, here % 2 && there % 2 ? 1000 : 1, IsInBox(to, slab->size, 3));
  }
}

static PetscErrorCode CreateSlab(PetscInt n, int across, Mat *A)
{
  Slab slab = {{n, n, n}, across};
  DM   da;

  PetscFunctionBeginUser;
  slab.size[across] = 3;
  PetscCall(MakeDM(PETSC_COMM_WORLD, 3, slab.size, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, &da));
  PetscCall(DMSetUp(da));
  PetscCall(DMSetMatType(da, MATSTENCIL));
  PetscCall(DMCreateMatrix(da, A));
  PetscCall(AssembleRows(da, MakeRow, &slab, *A));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

/* The most that the set-up of a smoother takes */
static PetscErrorCode SetUpPeak(Mat A, PCRelaxClustersType clustering, PetscLogDouble *bytes)
{
  PetscLogDouble before[2], after[2];
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(MakePC(A, PCRELAX, &pc));
  PetscCall(PCRelaxSetClusters(pc, clustering));
  PetscCall(Usage(before));
  PetscCall(PCSetUp(pc));
  PetscCall(Usage(after));
  *bytes = after[1] - before[0];
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(0);
}

/* The search for clusters takes memory for points, whichever direction is thin */
static PetscErrorCode TestThin(void)
{
  PetscInt  n    = 200;
  PetscReal most = 1;
  PetscBool show = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-held", &most, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-show", &show, NULL));
  for (int across = 0; across < 3; across++) {
    PetscLogDouble bytes[2];
    PetscReal      peak;
    Mat            A;

    PetscCall(CreateSlab(n, across, &A));
    PetscCall(SetUpPeak(A, PC_RELAX_CLUSTERS_OFF, &bytes[0]));
    PetscCall(SetUpPeak(A, PC_RELAX_CLUSTERS_AUTO, &bytes[1]));
    peak = (PetscReal)(bytes[1] - bytes[0]) / (3 * (PetscReal)(n * n) * (PetscReal)sizeof(double));
    PetscCall(ClaimThat(peak <= most, "three points in %c: the search takes at most %.1f doubles a point", 'x' + across,
                        (double)most));
    if (show) PetscCall(Print("  %.2f\n", (double)peak));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **args)
{
  char           which[16] = "held";
  PetscBool      held, thin;
  PetscLogDouble now[2];

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &args, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-test", which, sizeof(which), NULL));
  PetscCall(PetscStrcmp(which, "held", &held));
  PetscCall(PetscStrcmp(which, "thin", &thin));
  PetscLogMemory = PETSC_TRUE; /* else PETSc keeps no maxima */
  PetscCall(PetscMallocPushMaximumUsage(1));
  PetscCall(Usage(now));
  PetscCheck(now[0] > 0, PETSC_COMM_WORLD, PETSC_ERR_SUP,
             "PETSc does not count what it allocates: run with -malloc_dump");
  if (held) PetscCall(TestHeld());
  else if (thin) PetscCall(TestThin());
  else {
    PetscCall(TestSweeps());
    PetscCall(TestBlock());
  }
  PetscCall(PetscMallocPopMaximumUsage(1, now));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  # Three doubles are CG's vectors. Bounds are what is needed now, and a little more
  testset:
    requires: !complex double !defined(PETSC_USE_64BIT_INDICES)
    args: -pc_kcycle_precision double

    test:
      suffix: constant
      args: -kinds 0 -n 97 -held 5.5 -setup 5.5

    # on several processes each level keeps its overlap with neighbours for new values
    test:
      suffix: constant_2
      nsize: 2
      args: -kinds 0 -n 97 -held 5.8 -setup 5.8

    test:
      suffix: variable
      args: -kinds 1,2 -n 128 -held 6,10.4,9.2 -setup 6,10.4,9.2

    test:
      suffix: variable_2
      nsize: 2
      args: -kinds 1,2 -held 6,14.6,15.6 -setup 6,14.6,17.7

    # copies of coefficients in single precision, and x of the finest level
    test:
      suffix: single
      args: -kinds 0 -n 97 -held 6 -setup 6 -pc_kcycle_precision single

    test:
      suffix: single_variable
      args: -kinds 2 -n 128 -held 0,0,12.5 -setup 0,0,12.5 -pc_kcycle_precision single

    # what is never written counts too
    test:
      suffix: line
      args: -dim 1 -n 100001 -kinds 0 -held 33.8 -setup 33.8

    test:
      suffix: line_2
      nsize: 2
      args: -dim 1 -n 100001 -kinds 0 -held 37.9 -setup 37.9

    test:
      suffix: plane
      nsize: 2
      args: -dim 2 -n 401 -kinds 0,1 -held 6.7,12 -setup 6.7,12.3

  testset:
    requires: !complex double !defined(PETSC_USE_64BIT_INDICES)

    test:
      suffix: sweeps
      nsize: {{1 2}}
      args: -test sweeps

    test:
      suffix: thin
      args: -test thin -held 3

    # with what is known of points of other processes
    test:
      suffix: thin_3
      nsize: 3
      args: -test thin -held 6

TEST*/
