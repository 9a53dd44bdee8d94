static char help[] =
    "Levels of ordinary matrices on grids of any size: several unknowns at a point, wide stencils, other types of \
matrices.\n\
  -test <name>  iterations, interpolation, values, smoothers\n\n";

#include "poisson.h"

/* Two couplings a direction and side: at distance 1 and 2 */
typedef struct {
  const char    *name;
  PetscInt       dim, dof, width;
  PetscInt       size[3];
  DMBoundaryType boundary;
  PetscReal      strength[3]; /* of couplings in each direction */
  const char    *type;
  PetscBool      stored; /* ends are Dirichlet points that are stored */
  PetscInt       most;   /* iterations */
} Case;

typedef struct {
  DM  da;
  Mat A;
  Vec b, x;
  KSP ksp;
} Problem;

static const Case cases[] = {
    {"2 unknowns, 20 x 20", 2, 2, 1, {20, 20, 1}, DM_BOUNDARY_NONE, {1, 1, 1}, MATAIJ, PETSC_FALSE, 11},
    {"3 unknowns, 12 x 13 x 9", 3, 3, 1, {12, 13, 9}, DM_BOUNDARY_NONE, {1, 1, 1}, MATAIJ, PETSC_TRUE, 11},
    {"4 unknowns, 101 points", 1, 4, 1, {101, 1, 1}, DM_BOUNDARY_NONE, {1, 1, 1}, MATAIJ, PETSC_FALSE, 8},
    {"width 2, 31 x 26", 2, 1, 2, {31, 26, 1}, DM_BOUNDARY_NONE, {1, 1, 1}, MATAIJ, PETSC_FALSE, 11},
    {"width 2, 2 unknowns, periodic", 2, 2, 2, {24, 30, 1}, DM_BOUNDARY_PERIODIC, {1, 1, 1}, MATAIJ, PETSC_FALSE, 11},
    {"1:1000, 2 unknowns, 24 x 21", 2, 2, 1, {24, 21, 1}, DM_BOUNDARY_NONE, {1, 1000, 1}, MATAIJ, PETSC_FALSE, 11},
    {"1000:1, 3 unknowns, stored", 3, 3, 1, {11, 12, 13}, DM_BOUNDARY_NONE, {1000, 1, 1}, MATAIJ, PETSC_TRUE, 11},
    {"baij", 2, 2, 1, {20, 23, 1}, DM_BOUNDARY_NONE, {1, 1, 1}, MATBAIJ, PETSC_TRUE, 11},
    {"sbaij", 2, 2, 1, {20, 23, 1}, DM_BOUNDARY_NONE, {1, 1, 1}, MATSBAIJ, PETSC_FALSE, 11},
    {"sell", 2, 1, 2, {20, 23, 1}, DM_BOUNDARY_NONE, {1, 1, 1}, MATSELL, PETSC_FALSE, 11},
    {"one point", 2, 2, 1, {1, 1, 1}, DM_BOUNDARY_NONE, {1, 1, 1}, MATAIJ, PETSC_FALSE, 1},
    {"2 x 3 points", 2, 3, 1, {2, 3, 1}, DM_BOUNDARY_NONE, {1, 1, 1}, MATAIJ, PETSC_FALSE, 1}};

static PetscBool IsStored(const Case *c, const PetscInt at[])
{
  for (PetscInt d = 0; d < c->dim; d++) {
    if (c->stored && (at[d] == 0 || at[d] == c->size[d] - 1)) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* One row of the symmetric operator that couples unknowns at a point, and each with itself at others. Upper triangle
   alone for MATSBAIJ */
static PetscErrorCode Row(const Case *c, const PetscReal strength[], const PetscInt at[], PetscInt unknown, Mat A)
{
  const PetscReal   far      = c->width == 2 ? 0.2 : 0;
  const MatStencil  row      = {.k = at[2], .j = at[1], .i = at[0], .c = unknown};
  PetscScalar       diagonal = 0.001;
  const PetscScalar tie = -0.2 * strength[0], one = 1;

  PetscFunctionBeginUser;
  if (IsStored(c, at)) {
    PetscCall(MatSetValuesStencil(A, 1, &row, 1, &row, &one, INSERT_VALUES));
    PetscFunctionReturn(0);
  }
  for (PetscInt d = 0; d < c->dim; d++) {
    for (PetscInt step = -c->width; step <= c->width; step++) {
      PetscInt          to[3]    = {at[0], at[1], at[2]};
      const PetscScalar coupling = -strength[d] * (PetscAbsInt(step) == 1 ? 1 : far);
      MatStencil        column   = row;

      to[d] += step;
      if (!step) continue;
      diagonal -= coupling;
      if (c->boundary == DM_BOUNDARY_NONE && (to[d] < 0 || to[d] >= c->size[d])) continue;
      if (IsStored(c, to)) continue;
      column.i = to[0];
      column.j = to[1];
      column.k = to[2];
      PetscCall(MatSetValuesStencil(A, 1, &row, 1, &column, &coupling, INSERT_VALUES));
    }
  }
  for (PetscInt other = unknown - 1; other <= unknown + 1; other += 2) {
    const MatStencil column = {.k = at[2], .j = at[1], .i = at[0], .c = other};

    if (other < 0 || other >= c->dof) continue;
    diagonal -= tie;
    PetscCall(MatSetValuesStencil(A, 1, &row, 1, &column, &tie, INSERT_VALUES));
  }
  PetscCall(MatSetValuesStencil(A, 1, &row, 1, &row, &diagonal, INSERT_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode Assemble(const Case *c, const PetscReal strength[], Problem *p)
{
  PetscInt start[3], n[3], at[3];

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(p->da, &start[0], &start[1], &start[2], &n[0], &n[1], &n[2]));
  FOR_BOX(at, start, n) {
    for (PetscInt unknown = 0; unknown < c->dof; unknown++) PetscCall(Row(c, strength, at, unknown, p->A));
  }
  PetscCall(AssembleMat(p->A));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(const Case *c, Problem *p)
{
  PetscBool upper;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate(c->size[0] > 3 ? PETSC_COMM_WORLD : PETSC_COMM_SELF, &p->da));
  PetscCall(DMSetDimension(p->da, c->dim));
  PetscCall(DMDASetSizes(p->da, c->size[0], c->size[1], c->size[2]));
  PetscCall(DMDASetDof(p->da, c->dof));
  PetscCall(DMDASetStencilWidth(p->da, c->width));
  PetscCall(DMDASetStencilType(p->da, DMDA_STENCIL_STAR));
  PetscCall(DMDASetBoundaryType(p->da, c->boundary, c->boundary, c->boundary));
  PetscCall(DMSetMatType(p->da, c->type));
  PetscCall(DMSetUp(p->da));
  PetscCall(DMCreateMatrix(p->da, &p->A));
  PetscCall(PetscStrcmp(c->type, MATSBAIJ, &upper));
  if (upper) PetscCall(MatSetOption(p->A, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
  PetscCall(Assemble(c, c->strength, p));
  PetscCall(MatCreateVecs(p->A, &p->x, &p->b));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)p->da), &p->ksp));
  PetscCall(KSPSetType(p->ksp, KSPCG));
  PetscCall(KSPSetOperators(p->ksp, p->A, p->A));
  PetscCall(KSPSetNormType(p->ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(p->ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  PetscCall(KSPSetFromOptions(p->ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode Destroy(Problem *p)
{
  return DestroyAll(&p->ksp, &p->x, &p->b, &p->A, &p->da);
}

/* A right side that is the same for any number of processes */
static PetscErrorCode Fill(Problem *p)
{
  Vec      natural;
  PetscInt low, high;

  PetscFunctionBeginUser;
  PetscCall(DMDACreateNaturalVector(p->da, &natural));
  PetscCall(VecGetOwnershipRange(natural, &low, &high));
  for (PetscInt i = low; i < high; i++)
    PetscCall(VecSetValue(natural, i, PetscSinReal((PetscReal)(i * i % 997)), INSERT_VALUES));
  PetscCall(AssembleVec(natural));
  PetscCall(DMDANaturalToGlobalBegin(p->da, natural, INSERT_VALUES, p->b));
  PetscCall(DMDANaturalToGlobalEnd(p->da, natural, INSERT_VALUES, p->b));
  PetscCall(VecDestroy(&natural));
  PetscFunctionReturn(0);
}

/* Iterations, or -1 if the true residual is too large */
static PetscErrorCode Solve(Problem *p, PetscInt *its)
{
  PetscReal residual, norm;
  Vec       r;

  PetscFunctionBeginUser;
  PetscCall(Fill(p));
  PetscCall(SolveSystem(p->ksp, p->b, p->x, its, NULL));
  PetscCall(VecDuplicate(p->b, &r));
  PetscCall(MatMult(p->A, p->x, r));
  PetscCall(DifferenceNorms(r, p->b, NORM_2, &residual, &norm));
  if (!(residual < 1e-6 * norm)) *its = -1;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}

static PetscErrorCode Iterations(const Case *c)
{
  Problem               p;
  PetscInt              its;
  PCKCycleHierarchyType hierarchy;

  PetscFunctionBeginUser;
  PetscCall(Create(c, &p));
  PetscCall(Solve(&p, &its));
  PetscCall(PCKCycleGetHierarchy(PCOf(p.ksp), &hierarchy));
  PetscCall(PetscInfo(p.ksp, "%s: %" PetscInt_FMT " iterations\n", c->name, its));
  PetscCall(Claim(its >= 0 && its <= c->most && hierarchy == PC_KCYCLE_HIERARCHY_GRID, c->name));
  PetscCall(Destroy(&p));
  PetscFunctionReturn(0);
}

/* Points that are kept, rows of one entry, give the coarse coordinates; from these the interpolation makes the fine
   ones */
static PetscErrorCode CheckInterpolation(Mat P, Vec fine, Vec *coarse, PetscBool *good)
{
  PetscInt           low, high, ncols;
  const PetscInt    *cols;
  const PetscScalar *values, *x;
  PetscReal          error;
  Vec                back;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(P, coarse, &back));
  PetscCall(VecSet(*coarse, -1));
  PetscCall(MatGetOwnershipRange(P, &low, &high));
  PetscCall(VecGetArrayRead(fine, &x));
  for (PetscInt i = low; i < high; i++) {
    PetscCall(MatGetRow(P, i, &ncols, &cols, &values));
    if (ncols == 1 && values[0] == (PetscScalar)1) PetscCall(VecSetValue(*coarse, cols[0], x[i - low], INSERT_VALUES));
    PetscCall(MatRestoreRow(P, i, &ncols, &cols, &values));
  }
  PetscCall(VecRestoreArrayRead(fine, &x));
  PetscCall(AssembleVec(*coarse));
  PetscCall(MatMult(P, *coarse, back));
  PetscCall(VecAXPY(back, -1, fine));
  PetscCall(VecNorm(back, NORM_INFINITY, &error));
  if (!(error < 1e-12)) *good = PETSC_FALSE;
  PetscCall(VecDestroy(&back));
  PetscFunctionReturn(0);
}

/* The coordinate x + 100 y + 10000 z of each unknown's point, and a part of its own */
static PetscErrorCode Coordinates(const Case *c, Problem *p, Vec x)
{
  PetscInt start[3], n[3], low;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(p->da, &start[0], &start[1], &start[2], &n[0], &n[1], &n[2]));
  PetscCall(VecGetOwnershipRange(x, &low, NULL));
  for (PetscInt i = 0; i < n[0] * n[1] * n[2] * c->dof; i++) {
    const PetscInt at = i / c->dof;

    PetscCall(VecSetValue(x, low + i,
                          start[0] + at % n[0] + 100 * (start[1] + at / n[0] % n[1]) +
                              10000 * (start[2] + at / n[0] / n[1]) + 0.1 * (i % c->dof),
                          INSERT_VALUES));
  }
  PetscCall(AssembleVec(x));
  PetscFunctionReturn(0);
}

static PetscErrorCode Interpolation(const Case *c)
{
  Problem   p;
  PetscInt  nlevels;
  PetscBool good = PETSC_TRUE;
  Vec       fine, coarse;

  PetscFunctionBeginUser;
  /* one point of two has no line through it */
  if (c->stored || c->boundary != DM_BOUNDARY_NONE || c->strength[1] > 1) PetscFunctionReturn(0);
  PetscCall(Create(c, &p));
  PetscCall(KSPSetUp(p.ksp));
  PetscCall(PCMGGetLevels(PCOf(p.ksp), &nlevels));
  PetscCall(VecDuplicate(p.b, &fine));
  PetscCall(Coordinates(c, &p, fine));
  for (PetscInt l = nlevels - 1; l > 0; l--) {
    Mat P;

    PetscCall(PCMGGetInterpolation(PCOf(p.ksp), l, &P));
    PetscCall(CheckInterpolation(P, fine, &coarse, &good));
    PetscCall(VecDestroy(&fine));
    fine = coarse;
  }
  PetscCall(VecDestroy(&fine));
  PetscCall(Claim(good && (nlevels > 1 || c->size[0] <= 3), c->name));
  PetscCall(Destroy(&p));
  PetscFunctionReturn(0);
}

/* Values renewed, in the same directions and in others, make the solver that new ones make */
static PetscErrorCode Values(const Case *c)
{
  const PetscReal others[2][3] = {{2, 2, 2}, {1, 300, 1}};
  Case            now          = *c;
  Problem         p, fresh;
  PetscBool       good = PETSC_TRUE;
  PetscInt        its, same;

  PetscFunctionBeginUser;
  PetscCall(Create(c, &p));
  PetscCall(Solve(&p, &its));
  for (int i = 0; i < 2; i++) {
    for (int d = 0; d < 3; d++) now.strength[d] = others[i][d];
    PetscCall(Assemble(c, others[i], &p));
    PetscCall(Solve(&p, &its));
    PetscCall(Create(&now, &fresh));
    PetscCall(Solve(&fresh, &same));
    if (its != same || its < 0) good = PETSC_FALSE;
    PetscCall(Destroy(&fresh));
  }
  PetscCall(Claim(good, c->name));
  PetscCall(Destroy(&p));
  PetscFunctionReturn(0);
}

/* Has the smoother of the finest level this type, with SOR if it was chosen by itself, and its iterations? */
static PetscErrorCode CheckSmoother(PC pc, const char type[], const char sweep[], PetscInt its, PetscBool *good)
{
  PetscInt nlevels, found;
  KSP      smoother;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetLevels(pc, &nlevels));
  PetscCall(PCMGGetSmoother(pc, nlevels - 1, &smoother));
  PetscCall(KSPGetTolerances(smoother, NULL, NULL, NULL, &found));
  *good = (PetscBool)(HasType(smoother, type) && HasType(PCOf(smoother), sweep) && found == its);
  PetscFunctionReturn(0);
}

/* A sweep of SOR on one process where no other smoother was chosen, which PCMG's is again on other levels; a
   coarsest grid for a direct solver */
static PetscErrorCode Smoothers(void)
{
  const Case c = {"2 unknowns, 41 x 41", 2, 2, 1, {41, 41, 1}, DM_BOUNDARY_NONE, {1, 1, 1}, MATAIJ, PETSC_FALSE, 11};
  const struct {
    const char *option, *value, *type, *sweep;
    PetscInt    its;
  } choices[] = {{NULL, NULL, KSPRICHARDSON, PCSOR, 1},
                 {"-mg_levels_ksp_max_it", "3", KSPRICHARDSON, PCSOR, 3},
                 {"-mg_levels_ksp_type", "chebyshev", KSPCHEBYSHEV, PCSOR, 2},
                 {"-mg_levels_ksp_chebyshev_esteig", "0,0.2,0,1.1", KSPCHEBYSHEV, PCSOR, 2},
                 {"-mg_levels_pc_type", "pbjacobi", KSPCHEBYSHEV, PCPBJACOBI, 2}};
  Problem   p;
  PC        pc;
  KSP       coarse;
  Mat       A;
  PetscInt  its, nlevels, rows;
  PetscBool good;

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(choices); i++) {
    if (choices[i].option) PetscCall(PetscOptionsSetValue(NULL, choices[i].option, choices[i].value));
    PetscCall(Create(&c, &p));
    PetscCall(Solve(&p, &its));
    PetscCall(KSPGetPC(p.ksp, &pc));
    PetscCall(CheckSmoother(pc, PetscGlobalSize > 1 ? KSPCHEBYSHEV : choices[i].type, choices[i].sweep,
                            PetscGlobalSize > 1 && i == 0 ? 2 : choices[i].its, &good));
    PetscCall(Claim(good && its >= 0 && its <= c.most, choices[i].option ? choices[i].option : "no option"));
    if (choices[i].option) PetscCall(PetscOptionsClearValue(NULL, choices[i].option));
    if (i == 0) {
      PetscCall(PCMGGetLevels(pc, &nlevels));
      PetscCall(PCMGGetCoarseSolve(pc, &coarse));
      PetscCall(KSPGetOperators(coarse, &A, NULL));
      PetscCall(MatGetSize(A, &rows, NULL));
      PetscCall(Claim(nlevels == 3 && rows == 2 * 11 * 11, "the coarsest grid has at most 500 unknowns"));
      PetscCall(PCReset(pc));
      PetscCall(KSPSetOperators(p.ksp, p.A, p.A));
      PetscCall(PCKCycleSetHierarchy(pc, PC_KCYCLE_HIERARCHY_DM));
      PetscCall(PCKCycleSetStructured(pc, PC_KCYCLE_STRUCTURED_OFF));
      PetscCall(Solve(&p, &its));
      PetscCall(CheckSmoother(pc, KSPCHEBYSHEV, PCSOR, 2, &good));
      PetscCall(Claim(good && its >= 0, "PCMG's on its own levels"));
    }
    PetscCall(Destroy(&p));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const char *const tests[] = {"iterations", "interpolation", "values", "smoothers"};
  PetscInt          which   = 0;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-test", tests, 4, &which, NULL));
  if (which == 3) PetscCall(Smoothers());
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases) && which < 3; i++) {
    if (which == 0) PetscCall(Iterations(&cases[i]));
    else if (which == 1) PetscCall(Interpolation(&cases[i]));
    else PetscCall(Values(&cases[i]));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -pc_type kcycle

    test:
      suffix: iterations
      nsize: {{1 2 4}}
      args: -test iterations

    test:
      suffix: interpolation
      nsize: {{1 3}}
      args: -test interpolation -pc_kcycle_hierarchy grid

    test:
      suffix: values
      nsize: {{1 3}}
      args: -test values

    test:
      suffix: smoothers
      nsize: {{1 2}}
      args: -test smoothers

TEST*/
