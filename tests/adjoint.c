static char help[] =
    "The transposed application is the adjoint, (M x, y) = (x, M^T y), and blocks are columns: PCRELAX alone, and \
cycles with every smoother.\n\
  -hierarchies  levels of PCMG, of PCGAMG; else PCRELAX alone and structured levels\n\n";

#include "grids.h"
#include <petsckcycle/private/compat.h>

/* A problem, and what is asked of a solver */
typedef struct {
  PetscInt     dim, size[3];
  GridBoundary boundary;
  PetscReal    strength, wind; /* strength of the last direction; of upwind differences */
  PetscBool    box;
  const char  *options;
  MatType      type; /* of the operator; NULL: MATAIJ */
} Case;

/* Upwind differences in the first direction */
static PetscErrorCode AddWind(const Case *c, DM da, Mat A)
{
  PetscInt s[3], n[3], at[3];

  PetscFunctionBeginUser;
  if (c->wind == 0) PetscFunctionReturn(0);
  PetscCall(DMDAGetCorners(da, &s[0], &s[1], &s[2], &n[0], &n[1], &n[2]));
  FOR_BOX(at, s, n) {
    const MatStencil  row = {at[2], at[1], at[0], 0}, columns[] = {{at[2], at[1], at[0] - 1, 0}, row};
    const PetscScalar values[] = {-c->wind, c->wind};

    if (at[0]) PetscCall(MatSetValuesStencil(A, 1, &row, 2, columns, values, ADD_VALUES));
  }
  PetscCall(AssembleMat(A));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(const Case *c, MatType type, DM *da, Mat *A)
{
  Grid g = {.number = 3, .box = c->box, .vary = 0.3};

  PetscFunctionBeginUser;
  PetscCall(GridInit(&g, c->dim, c->size, c->boundary));
  g.strength[c->dim - 1] = c->strength;
  PetscCall(GridCreateDM(&g, da));
  PetscCall(GridCreateMat(&g, *da, type, A));
  PetscCall(AddWind(c, *da, *A));
  if (c->wind == 0) PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(0);
}

/* Vectors of random numbers; consistent ones where the operator is singular */
static PetscErrorCode CreateVecs(const Case *c, DM da, Vec *x, Vec *y)
{
  Vec         v[2];
  PetscScalar sum;
  PetscInt    n;

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    Grid g = {0};

    for (PetscInt d = 0; d < 3; d++) g.size[d] = d < c->dim ? c->size[d] : 1;
    PetscCall(DMCreateGlobalVector(da, &v[i]));
    PetscCall(GridFill(&g, da, 7 + i, v[i]));
    if (c->boundary < BOUNDARY_NEUMANN) continue;
    PetscCall(VecSum(v[i], &sum));
    PetscCall(VecGetSize(v[i], &n));
    PetscCall(VecShift(v[i], -sum / (PetscReal)n));
  }
  *x = v[0];
  *y = v[1];
  PetscFunctionReturn(0);
}

/* |(M x, y) - (x, M^T y)| / (|M x| |y|), without conjugation */
static PetscErrorCode Difference(void *solver, PetscErrorCode (*apply)(void *, Vec, Vec),
                                 PetscErrorCode (*transpose)(void *, Vec, Vec), Vec x, Vec y, PetscReal *difference)
{
  Vec         Mx, My;
  PetscScalar left, right;
  PetscReal   norm, scale;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &Mx));
  PetscCall(VecDuplicate(y, &My));
  PetscCall((*apply)(solver, x, Mx));
  PetscCall((*transpose)(solver, y, My));
  PetscCall(VecTDot(Mx, y, &left));
  PetscCall(VecTDot(x, My, &right));
  PetscCall(VecNorm(Mx, NORM_2, &norm));
  PetscCall(VecNorm(y, NORM_2, &scale));
  *difference = PetscAbsScalar(left - right) / (norm * scale);
  PetscCall(DestroyAll(&Mx, &My));
  PetscFunctionReturn(0);
}

static PetscErrorCode Apply(void *pc, Vec x, Vec y)
{
  return PCApply((PC)pc, x, y);
}

static PetscErrorCode ApplyTranspose(void *pc, Vec x, Vec y)
{
  return PCApplyTranspose((PC)pc, x, y);
}

static PetscErrorCode Solve(void *ksp, Vec x, Vec y)
{
  return KSPSolve((KSP)ksp, x, y);
}

static PetscErrorCode SolveTranspose(void *ksp, Vec x, Vec y)
{
  return KSPSolveTranspose((KSP)ksp, x, y);
}

/* Largest difference of a column of the block that is found together from what it is alone */
static PetscErrorCode BlockDifference(PC pc, PetscInt width, PetscErrorCode (*block)(PC, Mat, Mat),
                                      PetscErrorCode (*alone)(PC, Vec, Vec), Vec x, Vec y, PetscReal *difference)
{
  Mat       B, X;
  Vec       column;
  PetscInt  m;
  PetscReal norm, error;

  PetscFunctionBeginUser;
  *difference = 0;
  PetscCall(VecGetLocalSize(x, &m));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, m, PETSC_DECIDE, PETSC_DETERMINE, width, NULL, &B));
  for (PetscInt j = 0; j < width; j++) {
    PetscCall(MatDenseGetColumnVecWrite(B, j, &column));
    PetscCall(VecCopy(x, column));
    PetscCall(VecAXPY(column, (PetscScalar)j, y));
    PetscCall(MatDenseRestoreColumnVecWrite(B, j, &column));
  }
  PetscCall(AssembleMat(B));
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  PetscCall((*block)(pc, B, X));
  for (PetscInt j = 0; j < width; j++) {
    Vec b, z;

    PetscCall(DuplicateVec(x, &b, &z));
    PetscCall(MatGetColumnVector(B, b, j));
    PetscCall((*alone)(pc, b, z));
    PetscCall(VecNorm(z, NORM_2, &norm));
    PetscCall(MatGetColumnVector(X, b, j));
    PetscCall(VecAXPY(z, -1, b));
    PetscCall(VecNorm(z, NORM_2, &error));
    *difference = PetscMax(*difference, error / norm);
    PetscCall(DestroyAll(&b, &z));
  }
  PetscCall(DestroyAll(&B, &X));
  PetscFunctionReturn(0);
}

static PetscErrorCode Judge(const char what[], PetscReal difference, PetscBool *holds)
{
  PetscFunctionBeginUser;
  if (difference <= 10000 * PETSC_MACHINE_EPSILON) PetscFunctionReturn(0);
  *holds = PETSC_FALSE;
  PetscCall(Print("  NO: %s: %g\n", what, (double)difference));
  PetscFunctionReturn(0);
}

/* One solver with all cycles, multiplicative and full */
static PetscErrorCode RunCycles(const Case *c, PetscBool *holds)
{
  const PetscInt kappas[]   = {1, 2, PC_KCYCLE_KAPPA_W};
  System         s          = {0};
  PetscReal      difference = 0;
  char           name[256];

  PetscFunctionBeginUser;
  PetscCall(Create(c, c->type ? c->type : MATAIJ, &s.da, &s.A));
  PetscCall(CreateVecs(c, s.da, &s.x, &s.b));
  PetscCall(MakeKSP(s.A, NULL, PCKCYCLE, &s.ksp, &s.pc));
  PetscCall(KSPSetFromOptions(s.ksp));
  for (int run = 0; run < 6; run++) {
    PetscCall(PCMGSetType(s.pc, run < 3 ? PC_MG_MULTIPLICATIVE : PC_MG_FULL));
    PetscCall(PCKCycleSetKappa(s.pc, kappas[run % 3]));
    PetscCall(KSPSetUp(s.ksp));
    for (int part = 0; part < 3; part++) {
      const char *const parts[] = {"adjoint", "block", "transposed block"};

      difference = 0;
      if (part == 0) PetscCall(Difference(s.pc, Apply, ApplyTranspose, s.x, s.b, &difference));
      else if (part == 1)
        PetscCall(BlockDifference(s.pc, 3 + 2 * (run % 2), PCMatApply, PCApply, s.x, s.b, &difference));
#if defined(KCYCLE_HAVE_PC_MATAPPLYTRANSPOSE)
      else
        PetscCall(
            BlockDifference(s.pc, 3 + 2 * (run % 2), PCMatApplyTranspose, PCApplyTranspose, s.x, s.b, &difference));
#endif
      PetscCall(PetscSNPrintf(name, sizeof(name), "%s, %s, kappa %" PetscInt_FMT ", %" PetscInt_FMT "D, %s, \"%s\"",
                              parts[part], run < 3 ? "multiplicative" : "full", kappas[run % 3], c->dim,
                              GridBoundaries[c->boundary], c->options));
      PetscCall(Judge(name, difference, holds));
    }
  }
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* PCRELAX, once and in several sweeps of a KSPRICHARDSON */
static PetscErrorCode RunRelax(const Case *c, PetscBool *holds)
{
  System    s          = {0};
  PetscReal difference = 0;
  char      name[256];

  PetscFunctionBeginUser;
  PetscCall(Create(c, MATSTENCIL, &s.da, &s.A));
  PetscCall(CreateVecs(c, s.da, &s.x, &s.b));
  PetscCall(MakeSweeps(s.A, PC_RELAX_AUTO, 3, PETSC_FALSE, &s.ksp, &s.pc));
  PetscCall(KSPSetFromOptions(s.ksp));
  PetscCall(KSPSetUp(s.ksp));
  PetscCall(PetscSNPrintf(name, sizeof(name), "once, %" PetscInt_FMT "D, %s, \"%s\"", c->dim,
                          GridBoundaries[c->boundary], c->options));
  PetscCall(Difference(s.pc, Apply, ApplyTranspose, s.x, s.b, &difference));
  PetscCall(Judge(name, difference, holds));
  PetscCall(PetscSNPrintf(name, sizeof(name), "sweeps, %" PetscInt_FMT "D, %s, \"%s\"", c->dim,
                          GridBoundaries[c->boundary], c->options));
  PetscCall(Difference(s.ksp, Solve, SolveTranspose, s.x, s.b, &difference));
  PetscCall(Judge(name, difference, holds));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* All cases, each with the options of its own */
static PetscErrorCode RunAll(PetscInt n, const Case cases[], PetscErrorCode (*run)(const Case *, PetscBool *),
                             const char claim[])
{
  PetscBool holds = PETSC_TRUE;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n; i++) {
    PetscOptions options;

    PetscCall(PushOptions(cases[i].options, &options));
    PetscCall((*run)(&cases[i], &holds));
    PetscCall(PopOptions(&options));
  }
  PetscCall(ClaimThat(holds, "%s", claim));
  PetscFunctionReturn(0);
}

static PetscErrorCode Relax(void)
{
  const Case star[] = {
      {1, {41, 1, 1}, BOUNDARY_STORED, 1, 0, PETSC_FALSE, ""},
      {2, {21, 20, 1}, BOUNDARY_ELIMINATED, 1, 0, PETSC_FALSE, ""},
      {2, {21, 23, 1}, BOUNDARY_PERIODIC, 1, 0, PETSC_FALSE, "-pc_relax_order backward"},
      {3, {13, 12, 11}, BOUNDARY_STORED, 1, 0, PETSC_FALSE, ""},
      {3, {13, 12, 11}, BOUNDARY_NEUMANN, 1, 0, PETSC_FALSE, "-pc_relax_omega 1.2"},
      {3, {13, 12, 11}, BOUNDARY_ELIMINATED, 1, 0, PETSC_FALSE, "-pc_relax_order symmetric"},
      {3, {13, 12, 11}, BOUNDARY_ELIMINATED, 1, 0, PETSC_FALSE, "-pc_relax_type chebyshev -pc_relax_degree 4"},
      {3, {13, 12, 11}, BOUNDARY_ELIMINATED, 1, 0, PETSC_FALSE, "-pc_relax_type jacobi"},
      {3, {13, 12, 11}, BOUNDARY_ELIMINATED, 1, 0, PETSC_FALSE, "-pc_relax_type eightcolor"},
      {2, {21, 20, 1}, BOUNDARY_ELIMINATED, 1000, 0, PETSC_FALSE, "-pc_relax_clusters on"},
      {2, {21, 20, 1}, BOUNDARY_ELIMINATED, 1000, 0, PETSC_FALSE, "-pc_relax_clusters on -pc_relax_order symmetric"},
      {2, {21, 20, 1}, BOUNDARY_ELIMINATED, 1000, 0, PETSC_FALSE, "-pc_relax_clusters on -pc_relax_type jacobi"},
      {2, {5, 4, 1}, BOUNDARY_NEUMANN, 1000, 0, PETSC_FALSE, "-pc_relax_clusters on"},
      {3, {13, 12, 11}, BOUNDARY_ELIMINATED, 1, 0.4, PETSC_FALSE, "-pc_relax_type jacobi"}};
  const Case box[] = {
      {2, {21, 20, 1}, BOUNDARY_ELIMINATED, 1, 0, PETSC_TRUE, ""},
      {2, {21, 23, 1}, BOUNDARY_PERIODIC, 1, 0, PETSC_TRUE, "-pc_relax_order backward"},
      {3, {13, 12, 11}, BOUNDARY_STORED, 1, 0, PETSC_TRUE, ""},
      {3, {9, 12, 11}, BOUNDARY_PERIODIC, 1, 0, PETSC_TRUE, ""},
      {2, {21, 20, 1}, BOUNDARY_ELIMINATED, 1000, 0, PETSC_TRUE, "-pc_relax_clusters on"},
      {3, {13, 12, 11}, BOUNDARY_ELIMINATED, 1000, 0, PETSC_TRUE, "-pc_relax_clusters on -pc_relax_order symmetric"}};

  PetscFunctionBeginUser;
  PetscCall(RunAll(PETSC_STATIC_ARRAY_LENGTH(star), star, RunRelax, "PCRELAX, stars"));
  PetscCall(RunAll(PETSC_STATIC_ARRAY_LENGTH(box), box, RunRelax, "PCRELAX, boxes"));
  PetscFunctionReturn(0);
}

/* Cases that differ by their options */
#define RECTANGLE(wind, options)                                       \
  {                                                                    \
    2, {31, 20, 1}, BOUNDARY_ELIMINATED, 1, wind, PETSC_FALSE, options \
  }
#define BLOCK(options)                                               \
  {                                                                  \
    3, {11, 10, 13}, BOUNDARY_ELIMINATED, 1, 0, PETSC_FALSE, options \
  }
#define OFF(strength, wind, options)                                                                   \
  {                                                                                                    \
    2, {33, 33, 1}, BOUNDARY_STORED, strength, wind, PETSC_FALSE, "-pc_kcycle_structured off " options \
  }
#define GAMG(wind, options)                                                                     \
  {                                                                                             \
    2, {33, 33, 1}, BOUNDARY_STORED, 1, wind, PETSC_FALSE, "-pc_kcycle_hierarchy gamg " options \
  }
#define RICHARDSON "-mg_levels_ksp_type richardson"
#define SOR        "-mg_levels_pc_sor_omega 0.8 -mg_levels_ksp_max_it 2"

static PetscErrorCode Structured(void)
{
  const Case cases[] = {
      {1, {61, 1, 1}, BOUNDARY_STORED, 1, 0, PETSC_FALSE, ""},
      {2, {31, 20, 1}, BOUNDARY_ELIMINATED, 1, 0, PETSC_FALSE, ""},
      {2, {31, 20, 1}, BOUNDARY_NEUMANN, 1, 0, PETSC_TRUE, ""},
      {3, {21, 20, 17}, BOUNDARY_STORED, 1, 0, PETSC_FALSE, ""},
      {3, {11, 10, 13}, BOUNDARY_PERIODIC, 1, 0, PETSC_FALSE, ""},
      {3, {11, 10, 13}, BOUNDARY_ELIMINATED, 100, 0, PETSC_FALSE, ""},
      BLOCK("-mg_levels_pc_relax_type jacobi"),
      BLOCK("-mg_levels_pc_relax_type chebyshev"),
      BLOCK("-mg_levels_pc_relax_order symmetric"),
      BLOCK("-mg_levels_pc_relax_order backward -mg_levels_ksp_richardson_scale 0.8"),
      {2, {31, 20, 1}, BOUNDARY_ELIMINATED, 1000, 0, PETSC_FALSE, "-mg_levels_pc_relax_clusters on"},
      {3, {11, 10, 13}, BOUNDARY_STORED, 1, 0.4, PETSC_FALSE, "-mg_levels_pc_relax_type jacobi"},
      RECTANGLE(0, "-mg_levels_ksp_type chebyshev"),
      RECTANGLE(0.4, "-mg_levels_pc_type jacobi -mg_levels_ksp_type richardson -mg_levels_ksp_richardson_scale 0.7"),
      RECTANGLE(0, "-mg_levels_pc_type jacobi"),
      RECTANGLE(0, "-pc_mg_distinct_smoothup -mg_levels_up_ksp_max_it 1 -mg_levels_1_pc_relax_order backward"),
      RECTANGLE(0, "-pc_mg_multiplicative_cycles 2"),
      RECTANGLE(0, "-pc_mg_levels 3 -mg_coarse_ksp_type richardson -mg_coarse_ksp_max_it 3 -mg_coarse_pc_type jacobi"),
      RECTANGLE(0, "-mg_levels_ksp_max_it 3 -pc_kcycle_semicoarsen x")};

  PetscFunctionBeginUser;
  PetscCall(RunAll(PETSC_STATIC_ARRAY_LENGTH(cases), cases, RunCycles, "structured levels"));
  PetscFunctionReturn(0);
}

static const Case OnPCMG[] = {
    OFF(1, 0, ""),
    OFF(1, 0, RICHARDSON " -mg_levels_pc_type sor"),
    OFF(1, 0.4, "-mg_levels_pc_type jacobi"),
    OFF(1, 0.4, "-mg_levels_pc_type bjacobi"),
    OFF(1, 0.4, ""),
    {2, {33, 33, 1}, BOUNDARY_STORED, 1, 0.4, PETSC_FALSE, "-pc_kcycle_hierarchy grid", MATSELL},
    OFF(1, 0.4, "-mg_levels_pc_sor_omega 0.8 -mg_levels_pc_sor_diagonal_shift 0.1"),
    {2, {30, 33, 1}, BOUNDARY_STORED, 1, 0.4, PETSC_FALSE, "-pc_kcycle_structured off " SOR},
    OFF(1, 0.4, "-mg_levels_ksp_type richardson -mg_levels_pc_sor_local_forward -mg_levels_pc_sor_its 2"),
    OFF(1, 0, "-mg_levels_pc_sor_local_backward -mg_levels_pc_sor_lits 2"),
    OFF(1, 0.4, "-pc_mg_multiplicative_cycles 2"),
    OFF(1, 0.4, "-pc_mg_distinct_smoothup " RICHARDSON " -mg_levels_up_ksp_max_it 1")};
static const Case Relaxed[] = {
    OFF(1, 0, RICHARDSON " -mg_levels_pc_type relax"),
    OFF(1, 0, "-mg_levels_pc_type relax"),
    OFF(1000, 0, RICHARDSON " -mg_levels_pc_type relax -mg_levels_pc_relax_clusters on"),
    OFF(1, 0, "-pc_mg_distinct_smoothup " RICHARDSON " -mg_levels_pc_type relax -mg_levels_up_ksp_max_it 1"),
    {3,
     {9, 9, 17},
     BOUNDARY_STORED,
     1,
     0,
     PETSC_FALSE,
     "-pc_kcycle_structured off -mg_levels_pc_type relax " RICHARDSON}};
static const Case OnPCGAMG[] = {GAMG(0, "-mg_levels_pc_type jacobi"), GAMG(0.4, "-mg_levels_pc_type jacobi"),
                                GAMG(0, RICHARDSON " -mg_levels_pc_type sor"), GAMG(0.4, "-mg_levels_pc_type sor")};

static PetscErrorCode Others(void)
{
  PetscFunctionBeginUser;
  PetscCall(RunAll(PETSC_STATIC_ARRAY_LENGTH(OnPCMG), OnPCMG, RunCycles, "levels of PCMG"));
  if (PetscDefined(USE_COMPLEX)) PetscFunctionReturn(0);
  PetscCall(RunAll(PETSC_STATIC_ARRAY_LENGTH(Relaxed), Relaxed, RunCycles, "levels of PCMG, PCRELAX"));
  PetscCall(RunAll(PETSC_STATIC_ARRAY_LENGTH(OnPCGAMG), OnPCGAMG, RunCycles, "levels of PCGAMG"));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  if (Given("-hierarchies")) PetscCall(Others());
  else {
    PetscCall(Relax());
    PetscCall(Structured());
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    nsize: {{1 2 4}}

    test:
      suffix: small
      requires: !complex
      output_file: output/adjoint.out

    test:
      suffix: hierarchies
      requires: !complex
      args: -hierarchies

    test:
      suffix: complex
      requires: complex
      args: -hierarchies

TEST*/
