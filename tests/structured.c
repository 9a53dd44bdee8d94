static char help[] = "PCKCYCLE on structured levels.\n\
  -test sizes|ways|choices|ends   which part\n\
  -samples <12>                        sizes: grids of each dimension and kind\n\
  -show                                sizes: the worst grids\n\n";

#include "grids.h"
#include "poisson.h"
#include <petscdmplex.h>

/* One solve: the KSP takes its options, its DM is that of the operator */
typedef struct {
  DM                 da;
  Mat                A;
  Vec                b, x;
  KSP                ksp;
  Residuals          residuals;
  PetscInt           its;
  KSPConvergedReason reason;
} Solve;

static PetscBool IsSingular(const Grid *g)
{
  for (PetscInt d = 0; d < g->dim; d++) {
    for (int side = 0; side < 2; side++) {
      if (g->boundary[d][side] == BOUNDARY_STORED || g->boundary[d][side] == BOUNDARY_ELIMINATED) return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}

/* For an operator that is made */
static PetscErrorCode SolveCreateKSP(const char prefix[], Solve *s)
{
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &s->ksp));
  PetscCall(KSPSetOptionsPrefix(s->ksp, prefix));
  PetscCall(KSPSetType(s->ksp, KSPCG));
  PetscCall(KSPSetNormType(s->ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(s->ksp, 1e-8, 1e-50, 1e10, 150));
  PetscCall(KSPSetOperators(s->ksp, s->A, s->A));
  PetscFunctionReturn(0);
}

static PetscErrorCode SolveCreate(const Grid *g, MatType type, const char prefix[], Solve *s)
{
  PetscScalar sum;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscCall(GridCreateDM(g, &s->da));
  PetscCall(GridCreateMat(g, s->da, type, &s->A));
  PetscCall(MatCreateVecs(s->A, &s->x, &s->b));
  PetscCall(GridFill(g, s->da, 1, s->b));
  if (IsSingular(g)) {
    PetscCall(VecSum(s->b, &sum));
    PetscCall(VecShift(s->b, -sum / (PetscReal)GridPoints(g)));
  }
  PetscCall(SolveCreateKSP(prefix, s));
  PetscFunctionReturn(0);
}

static PetscErrorCode SolveRun(Solve *s)
{
  PetscFunctionBeginUser;
  PetscCall(PCSetType(PCOf(s->ksp), PCKCYCLE));
  PetscCall(KSPMonitorCancel(s->ksp));
  PetscCall(KSPMonitorSet(s->ksp, KeepResiduals, &s->residuals, NULL));
  PetscCall(KSPSetFromOptions(s->ksp));
  PetscCall(VecSet(s->x, 0));
  PetscCall(SolveSystem(s->ksp, s->b, s->x, &s->its, &s->reason));
  PetscFunctionReturn(0);
}

static PetscErrorCode SolveDestroy(Solve *s)
{
  return DestroyAll(&s->ksp, &s->x, &s->b, &s->A, &s->da);
}

/* Kinds of ends: the four of grids.h, and mixtures of them */
#define NUM_MIXED 3
static const GridBoundary Mixed[NUM_MIXED][3][2] = {
    {{BOUNDARY_STORED, BOUNDARY_NEUMANN}, {BOUNDARY_PERIODIC, BOUNDARY_PERIODIC}, {BOUNDARY_STORED, BOUNDARY_STORED}},
    {{BOUNDARY_NEUMANN, BOUNDARY_ELIMINATED},
     {BOUNDARY_STORED, BOUNDARY_ELIMINATED},
     {BOUNDARY_NEUMANN, BOUNDARY_NEUMANN}},
    {{BOUNDARY_NEUMANN, BOUNDARY_NEUMANN}, {BOUNDARY_STORED, BOUNDARY_STORED}, {BOUNDARY_PERIODIC, BOUNDARY_PERIODIC}}};

static void SetKind(Grid *g, PetscInt kind)
{
  if (kind < 4) GridSetBoundaries(g, (GridBoundary)kind);
  else {
    for (PetscInt d = 0; d < 3; d++) {
      for (int side = 0; side < 2; side++) g->boundary[d][side] = Mixed[kind - 4][d][side];
    }
  }
}

/* The worst of many sizes; a direction in four is long in 2D */
static PetscErrorCode WorstOfSizes(PetscInt dim, PetscInt kind, const PetscReal strength[], PetscInt samples,
                                   PetscInt *worst)
{
  PetscBool show = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-show", &show, NULL));
  *worst = 0;
  for (PetscInt number = 0; number < samples; number++) {
    Grid      g;
    Solve     s;
    PetscBool possible = PETSC_FALSE;

    PetscCall(PetscMemzero(&g, sizeof(g)));
    g.number = number;
    g.dim    = dim;
    for (PetscInt d = 0; d < 3; d++) {
      g.size[d]     = d >= dim ? 1
                               : 5 + GridChoose(&g, 1 + d, dim == 2 ? 36 : 28) *
                                     (dim == 2 && GridChoose(&g, 5 + d, 4) == 0 ? 5 : 1);
      g.strength[d] = strength[d];
    }
    SetKind(&g, kind);
    PetscCall(GridDistribute(&g, &possible));
    if (!possible) continue;
    g.nproc[0] = 0;
    PetscCall(SolveCreate(&g, number % 2 ? MATAIJ : MATSTENCIL, NULL, &s));
    PetscCall(SolveRun(&s));
    if (s.reason <= 0) s.its = 999;
    if (show && s.its > PetscMax(*worst, 9))
      PetscCall(Print("    %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT ": %" PetscInt_FMT " iterations\n",
                      g.size[0], g.size[1], g.size[2], s.its));
    *worst = PetscMax(*worst, s.its);
    PetscCall(SolveDestroy(&s));
  }
  PetscFunctionReturn(0);
}

/* Periodic directions that are coarsened to a single point while others are not */
static PetscErrorCode Thin(void)
{
  const PetscInt  sizes[][3]    = {{8, 13, 25}, {8, 8, 24}, {27, 32, 6}};
  const PetscReal strength[][3] = {{100, 1, 1}, {100, 1, 1}, {1, 1, 100}};
  PetscInt        worst         = 0;

  PetscFunctionBeginUser;
  for (int i = 0; i < 3; i++) {
    Grid  g;
    Solve s;

    PetscCall(PetscMemzero(&g, sizeof(g)));
    PetscCall(GridInit(&g, 3, sizes[i], BOUNDARY_PERIODIC));
    for (PetscInt d = 0; d < 3; d++) g.strength[d] = strength[i][d];
    PetscCall(SolveCreate(&g, MATSTENCIL, NULL, &s));
    PetscCall(SolveRun(&s));
    worst = PetscMax(worst, s.reason > 0 ? s.its : 999);
    PetscCall(SolveDestroy(&s));
  }
  PetscCall(Claim(worst <= 8, "periodic directions of one point on coarse grids: at most 8 iterations"));
  if (worst > 8) PetscCall(Print("  %" PetscInt_FMT "\n", worst));
  PetscFunctionReturn(0);
}

static PetscErrorCode Sizes(void)
{
  const char *const kinds[]       = {"stored", "interior", "cell", "periodic", "mixed 1", "mixed 2", "mixed 3"};
  const PetscReal   strength[][3] = {{1, 1, 1}, {1, 1, 100}, {1, 100, 100}, {100, 1, 1}, {1, 100, 1}, {100, 1, 100}};
  PetscInt          samples = 12, worst, all = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-samples", &samples, NULL));
  for (PetscInt dim = 2; dim <= 3; dim++) {
    for (PetscInt kind = 0; kind < 4 + NUM_MIXED; kind++) {
      PetscCall(WorstOfSizes(dim, kind, strength[0], samples, &worst));
      PetscCall(ClaimThat(worst <= 12, "%" PetscInt_FMT "D %s, any size: at most 12 iterations", dim, kinds[kind]));
      if (worst > 12) PetscCall(Print("  %" PetscInt_FMT "\n", worst));
    }
  }
  for (PetscInt a = 1; a < 6; a++) {
    all = 0;
    for (PetscInt kind = 0; kind < 4 + NUM_MIXED; kind++) {
      PetscCall(WorstOfSizes(3, kind, strength[a], 1 + samples / 6, &worst));
      all = PetscMax(all, worst);
    }
    PetscCall(ClaimThat(all <= 15, "couplings %g : %g : %g: at most 15 iterations", (double)strength[a][0],
                        (double)strength[a][1], (double)strength[a][2]));
    if (all > 15) PetscCall(Print("  %" PetscInt_FMT "\n", all));
  }
  PetscCall(Thin());
  PetscFunctionReturn(0);
}

/* A monitor of smoothers keeps their steps apart */
static PetscErrorCode NoMonitor(KSP ksp, PetscInt it, PetscReal rnorm, void *ctx)
{
  PetscFunctionBeginUser;
  (void)ksp;
  (void)it;
  (void)rnorm;
  (void)ctx;
  PetscFunctionReturn(0);
}

static PetscErrorCode KeepApart(Solve *s)
{
  PetscInt nlevels;
  KSP      smoother;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetLevels(PCOf(s->ksp), &nlevels));
  for (PetscInt l = 1; l < nlevels; l++) {
    PetscCall(PCMGGetSmoother(PCOf(s->ksp), l, &smoother));
    PetscCall(KSPMonitorSet(smoother, NoMonitor, NULL, NULL));
  }
  PetscCall(MatScale(s->A, 1.0));
  PetscFunctionReturn(0);
}

/* Residual norms agree to rounding */
static PetscErrorCode Agree(const Residuals *a, const Residuals *b, PetscReal tolerance, PetscBool *agree)
{
  PetscFunctionBeginUser;
  *agree = (PetscBool)(a->length == b->length && a->length > 1);
  for (PetscInt i = 0; *agree && i < a->length; i++)
    *agree = (PetscBool)(PetscAbsReal(a->value[i] - b->value[i]) <= tolerance * a->value[0]);
  PetscFunctionReturn(0);
}

static void SetGrid(Grid *g, PetscInt dim, PetscInt kind, PetscReal vary)
{
  const PetscInt sizes[3] = {22, 17, 13};

  (void)memset(g, 0, sizeof(*g));
  g->dim  = dim;
  g->vary = vary;
  for (PetscInt d = 0; d < 3; d++) {
    g->size[d]     = d < dim ? sizes[d] : 1;
    g->strength[d] = 1 + 0.2 * d;
  }
  SetKind(g, kind);
}

/* Planes that the cache does not hold: they are worked on in strips of lines */
static void SetPlate(Grid *g)
{
  const PetscInt sizes[3] = {601, 67, 5};

  for (PetscInt d = 0; d < 3; d++) g->size[d] = sizes[d];
}

/* One kind of grid and smoother: fused or not, matrix of one type or the other, set up again or afresh */
static PetscErrorCode WaysOf(const Grid *g, PetscBool holds[])
{
  Solve     a, b;
  Residuals first;
  PetscBool agree;
  Grid      other = *g;

  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < 3; d++) other.strength[d] *= 1.7;
  other.vary += 0.05;
  PetscCall(SolveCreate(g, MATSTENCIL, NULL, &a));
  PetscCall(SolveRun(&a));
  first    = a.residuals;
  holds[0] = (PetscBool)(holds[0] && a.reason > 0);
  PetscCall(KeepApart(&a));
  PetscCall(SolveRun(&a));
  PetscCall(Agree(&first, &a.residuals, 1e-12, &agree));
  holds[1] = (PetscBool)(holds[1] && agree);
  PetscCall(SolveDestroy(&a));
  for (int way = 0; way < 2; way++) {
    PetscCall(SolveCreate(g, way ? MATAIJ : MATSTENCIL, NULL, &a));
    PetscCall(SolveRun(&a));
    if (way) PetscCall(Agree(&first, &a.residuals, 0, &agree));
    if (way) holds[2] = (PetscBool)(holds[2] && agree);
    PetscCall(SolveCreate(&other, way ? MATAIJ : MATSTENCIL, NULL, &b));
    PetscCall(SolveRun(&b));
    PetscCall(MatZeroEntries(a.A));
    PetscCall(GridAssemble(&other, a.da, a.A));
    PetscCall(SolveRun(&a));
    PetscCall(Agree(&a.residuals, &b.residuals, 1e-12, &agree));
    holds[0] = (PetscBool)(holds[0] && a.reason > 0 && b.reason > 0);
    holds[3] = (PetscBool)(holds[3] && agree);
    PetscCall(SolveDestroy(&a));
    PetscCall(SolveDestroy(&b));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Ways(void)
{
  const PetscInt    nkinds   = 4 + NUM_MIXED;
  const char *const claims[] = {"all solves converge", "steps one after the other give what steps apart give",
                                "aij and stencil operators give the same", "new values give what a fresh set-up gives"};
  PetscBool         all[4]   = {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE};

  PetscFunctionBeginUser;
  for (PetscInt dim = 1; dim <= 3; dim++) {
    for (PetscInt kind = 0; kind < nkinds + (dim == 3); kind++) {
      for (int vary = 0; vary < 2; vary++) {
        PetscBool holds[4] = {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE};
        Grid      g;

        SetGrid(&g, dim, kind % nkinds, 0.4 * vary);
        g.box = (PetscBool)(dim > 1 && (kind + vary) % 3 == 0);
        if (kind == nkinds) SetPlate(&g);
        PetscCall(WaysOf(&g, holds));
        for (int i = 0; i < 4; i++) {
          if (!holds[i]) PetscCall(GridShow(&g, claims[i]));
          all[i] = (PetscBool)(all[i] && holds[i]);
        }
      }
    }
  }
  for (int i = 0; i < 4; i++) PetscCall(Claim(all[i], claims[i]));
  PetscFunctionReturn(0);
}

/* Grids that levels cannot be structured on */
typedef enum {
  TWO_UNKNOWNS,
  WIDTH_TWO,
  ENTRIES_FAR,
  GALERKIN_NONE,
  SOR,
  PLEX,
  NUM_CHOICES
} Choice;

static PetscErrorCode ChoiceCreate(Choice choice, DM *dm, Mat *A)
{
  Grid     g;
  PetscInt first, end;

  PetscFunctionBeginUser;
  SetGrid(&g, 2, BOUNDARY_STORED, 0);
  g.size[0] = g.size[1] = 17;
  if (choice == PLEX) {
    PetscSection section;

    PetscCall(
        PetscOptionsInsertString(NULL, "-dm_plex_dim 2 -dm_plex_box_faces 8,8 -dm_plex_simplex 0 -dm_distribute 0"));
    PetscCall(DMCreate(PETSC_COMM_WORLD, dm)); /* a square */
    PetscCall(DMSetType(*dm, DMPLEX));
    PetscCall(DMSetFromOptions(*dm));
    PetscCall(PetscSectionCreate(PETSC_COMM_WORLD, &section));
    PetscCall(DMPlexGetDepthStratum(*dm, 0, &first, &end));
    PetscCall(PetscSectionSetChart(section, first, end));
    for (PetscInt p = first; p < end; p++) PetscCall(PetscSectionSetDof(section, p, 1));
    PetscCall(PetscSectionSetUp(section));
    PetscCall(DMSetLocalSection(*dm, section));
    PetscCall(PetscSectionDestroy(&section));
  } else {
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 17, 17,
                           PETSC_DECIDE, PETSC_DECIDE, choice == TWO_UNKNOWNS ? 2 : 1,
                           choice == WIDTH_TWO || choice == ENTRIES_FAR ? 2 : 1, NULL, NULL, dm));
    PetscCall(DMSetUp(*dm));
  }
  PetscCall(DMSetMatType(*dm, MATAIJ));
  PetscCall(DMCreateMatrix(*dm, A));
  if (choice == GALERKIN_NONE || choice == SOR || choice == WIDTH_TWO) PetscCall(GridAssemble(&g, *dm, *A));
  else {
    PetscCall(AssembleMat(*A));
    PetscCall(MatShift(*A, 1.0));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode SetUp(PC pc, PCKCycleStructuredType structured, const char prefix[], char words[])
{
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  PetscCall(PCSetOptionsPrefix(pc, prefix));
  PetscCall(PCSetType(pc, PCKCYCLE));
  PetscCall(PCKCycleSetStructured(pc, structured));
  words[0] = 0;
  PetscCall(PetscPushErrorHandler(KeepError, words));
  ierr = PCSetFromOptions(pc);
  if (!ierr) ierr = PCSetUp(pc);
  PetscCall(PetscPopErrorHandler());
  if (!ierr) words[0] = 0;
  PetscFunctionReturn(0);
}

static PetscErrorCode Choices(void)
{
  const struct {
    Choice      choice;
    const char *name, *prefix, *why;
  } choices[] = {{TWO_UNKNOWNS, "two unknowns at a point", "two_", "2 unknowns at a point"},
                 {WIDTH_TWO, "stencil width 2", "width_", "the stencil width of its DMDA is 2"},
                 {GALERKIN_NONE, "-pc_mg_galerkin none", "none_", "-pc_mg_galerkin none"},
                 {SOR, "smoother sor", "sor_", "needs an ordinary matrix"},
                 {PLEX, "DMPlex", "plex_", "it is not on a DMDA"}};

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, "-none_pc_mg_galerkin none -sor_mg_levels_pc_type sor"));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(choices); i++) {
    DM        dm;
    Mat       A;
    PC        pc;
    char      words[ERROR_LENGTH], claim[128];
    PetscBool has = PETSC_FALSE;

    PetscCall(ChoiceCreate(choices[i].choice, &dm, &A));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(SetUp(pc, PC_KCYCLE_STRUCTURED_ON, choices[i].prefix, words));
    PetscCall(
        PetscSNPrintf(claim, sizeof(claim), "%s: -pc_kcycle_structured on is an error that says so", choices[i].name));
    PetscCall(ClaimError(1, words, choices[i].why, claim));
    PetscCall(PCDestroy(&pc));
    if (choices[i].choice != PLEX && choices[i].choice != GALERKIN_NONE) {
      PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
      PetscCall(PCSetOperators(pc, A, A));
      PetscCall(SetUp(pc, PC_KCYCLE_STRUCTURED_AUTO, choices[i].prefix, words));
      if (!words[0]) PetscCall(ViewHas(pc, choices[i].why, &has));
      PetscCall(ClaimThat(has, "%s: auto does without, and the view says why", choices[i].name));
      if (words[0]) PetscCall(Print("  it says: %s\n", words));
      PetscCall(PCDestroy(&pc));
    }
    PetscCall(DestroyAll(&A, &dm));
  }
  PetscFunctionReturn(0);
}

/*
  A grid whose first process has a single point in x at a boundary: its lines are all alike, those of the next process
  are not. At the boundary all points have a reaction of a half; but for one line the next points have it, too, so that
  the boundary is insulated in the mean.
*/
static void MakeThinRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const PetscInt size[2] = {*(const PetscInt *)ctx, *(const PetscInt *)ctx};

  row->value[0] = at[0] == 0 || (at[0] == 1 && at[1] != 1) ? 0.5 : 0.01;
  for (PetscInt o = 0; o < 4; o++) {
    PetscInt to[3];

    StarNeighbour(at, o, to);
    if (IsInBox(to, size, 2)) RowCoupling(row, to, 1, PETSC_TRUE);
  }
}

static PetscErrorCode ThinCreate(PetscInt n, DM *da, Mat *A)
{
  PetscInt owned[2] = {1, n - 1};

  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, PetscGlobalSize,
                         1, 1, 1, PetscGlobalSize == 2 ? owned : NULL, NULL, da));
  PetscCall(DMSetUp(*da));
  PetscCall(DMSetMatType(*da, MATAIJ));
  PetscCall(DMCreateMatrix(*da, A));
  PetscCall(AssembleRows(*da, MakeThinRow, &n, *A));
  PetscFunctionReturn(0);
}

/* Whether points are coarsened from the first one on is to depend on all equations, whoever has them */
static PetscErrorCode Boundary(void)
{
  Solve    s;
  PC       pc;
  PetscInt levels;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(&s, sizeof(s)));
  PetscCall(ThinCreate(17, &s.da, &s.A));
  PetscCall(MatCreateVecs(s.A, &s.x, &s.b));
  PetscCall(VecSet(s.b, 1));
  PetscCall(SolveCreateKSP(NULL, &s));
  PetscCall(KSPGetPC(s.ksp, &pc));
  PetscCall(PCSetType(pc, PCKCYCLE));
  PetscCall(PCKCycleSetStructured(pc, PC_KCYCLE_STRUCTURED_ON));
  PetscCall(SolveRun(&s));
  PetscCall(PCMGGetLevels(pc, &levels));
  PetscCall(Print("a single point at an end: %" PetscInt_FMT " levels, %" PetscInt_FMT " iterations\n", levels, s.its));
  PetscCall(SolveDestroy(&s));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const TestPart parts[] = {{"sizes", Sizes}, {"ways", Ways}, {"choices", Choices}, {"ends", Boundary}, {NULL, NULL}};

  return RunTests(argc, argv, help, parts);
}

/*TEST

  testset:
    requires: !complex

    test:
      suffix: sizes
      nsize: {{1 4}}

    test:
      suffix: ways
      nsize: {{1 3}}
      args: -test ways -pc_kcycle_kappa {{1 3}} -pc_kcycle_precision double

    test:
      suffix: smoothers
      nsize: {{1 2}}
      args: -test ways -mg_levels_pc_relax_order symmetric -mg_levels_ksp_max_it 3 -pc_kcycle_kappa w
      args: -pc_kcycle_precision double
      output_file: output/structured_ways.out

    test:
      suffix: choices
      nsize: {{1 2}}
      args: -test choices

    test:
      suffix: ends
      nsize: {{1 2}}
      args: -test ends -pc_kcycle_process_eq_limit 0

TEST*/
