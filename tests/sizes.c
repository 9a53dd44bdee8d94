static char help[] = "Grids of any size: PCKCYCLE works, or says which sizes it wants.\n\n";

#include "poisson.h"

typedef enum {
  POINTS,
  PERIODIC,
  CELLS,
  NUM_KINDS
} Kind;

static const char *const kinds[] = {"points", "periodic", "cells"};

typedef enum {
  IMPOSSIBLE, /* no such DMDA on this number of processes */
  WORKS,
  REFUSED, /* with words of our own */
  FAILED
} Outcome;

/* A DMDA of any size; 0 if there is none on these processes */
static PetscErrorCode CreateGrid(const Poisson *p, const PetscInt n[], DM *da)
{
  const DMBoundaryType b = p->periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  PetscErrorCode       ierr;
  char                 words[ERROR_LENGTH] = "";
  PetscBool            coordinates;
  PetscInt             factor = 2;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate(PETSC_COMM_WORLD, da));
  PetscCall(DMSetDimension(*da, p->dim));
  PetscCall(DMDASetSizes(*da, n[0], p->dim > 1 ? n[1] : 1, p->dim > 2 ? n[2] : 1));
  PetscCall(DMDASetBoundaryType(*da, b, b, b));
  PetscCall(DMDASetStencilType(*da, DMDA_STENCIL_STAR));
  PetscCall(DMDASetStencilWidth(*da, 1));
  PetscCall(DMDASetDof(*da, 1));
  if (p->neumann) PetscCall(DMDASetInterpolationType(*da, DMDA_Q0));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-factor", &factor, NULL));
  PetscCall(DMDASetRefinementFactor(*da, factor, factor, factor));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(PetscPushErrorHandler(KeepError, words));
  ierr = DMSetUp(*da);
  PetscCall(PetscOptionsHasName(NULL, NULL, "-coordinates", &coordinates));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF)); /* PETSc divides by zero for a grid of one point in a direction */
  if (!ierr && coordinates) PetscCall(DMDASetUniformCoordinates(*da, 0, 1, 0, 1, 0, 1));
  PetscCall(PetscFPTrapPop());
  PetscCall(PetscPopErrorHandler());
  if (ierr) PetscCall(DMDestroy(da));
  PetscFunctionReturn(0);
}

static PetscErrorCode SolveOn(KSP ksp, Vec b, Vec x)
{
  PetscFunctionBeginUser;
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscFunctionReturn(0);
}

/* The solver has the matrix only; words are those of the error, if there is one */
static PetscErrorCode Try(const Poisson *p, const PetscInt n[], Outcome *outcome, char words[])
{
  System             s = {0};
  PetscErrorCode     ierr;
  PetscBool          ours;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;

  PetscFunctionBeginUser;
  words[0] = 0;
  *outcome = IMPOSSIBLE;
  PetscCall(CreateGrid(p, n, &s.da));
  if (!s.da) PetscFunctionReturn(0);
  PetscCall(DMCreateMatrix(s.da, &s.A));
  PetscCall(PoissonAssemble(p, s.da, s.A));
  PetscCall(MatCreateVecs(s.A, &s.x, &s.b));
  PetscCall(PoissonFill(p, s.da, s.b));
  PetscCall(MakeKSP(s.A, KSPCG, PCKCYCLE, &s.ksp, &s.pc));
  PetscCall(KSPSetTolerances(s.ksp, 1e-6, 1e-12, PETSC_DEFAULT, 30));
  KeepErrorOf(SolveOn(s.ksp, s.b, s.x), ierr, words);
  if (!ierr) PetscCall(KSPGetConvergedReason(s.ksp, &reason));
  PetscCall(PetscStrncmp(words, "PCKCYCLE cannot coarsen the ", 28, &ours));
  if (!ierr && reason > 0) *outcome = WORKS;
  else *outcome = ierr && ours ? REFUSED : FAILED;
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

static PetscErrorCode MakeTransfers(DM da, DM coarse)
{
  Mat       P;
  PetscBool injects;

  PetscFunctionBeginUser;
  PetscCall(DMCreateInterpolation(coarse, da, &P, NULL));
  PetscCall(MatDestroy(&P));
  PetscCall(DMHasCreateInjection(coarse, &injects));
  if (injects) PetscCall(DMCreateInjection(coarse, da, &P));
  PetscCall(MatDestroy(&P));
  PetscFunctionReturn(0);
}

/*
  Could PETSc make a smaller grid, interpolate from it and inject into it? Not with coordinates or another factor, where
  errors come late and leave memory. On one process only: on several some would wait for those with an error.
*/
static PetscErrorCode PETScCoarsens(const Poisson *p, const PetscInt n[], PetscBool *coarsens)
{
  DM             da, coarse = NULL;
  char           words[ERROR_LENGTH] = "";
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  *coarsens = PETSC_FALSE;
  for (PetscInt d = 0; d < p->dim; d++) {
    if (n[d] == 1) PetscFunctionReturn(0); /* PETSc divides by zero here and there */
  }
  PetscCall(CreateGrid(p, n, &da));
  PetscCall(PetscPushErrorHandler(KeepError, words));
  ierr = DMCoarsen(da, PETSC_COMM_WORLD, &coarse);
  if (!ierr) ierr = MakeTransfers(da, coarse);
  PetscCall(PetscPopErrorHandler());
  PetscCall(DestroyAll(&coarse, &da));
  *coarsens = (PetscBool)!ierr;
  PetscFunctionReturn(0);
}

/* "use 16 or 18 points": both do, on one process */
static PetscErrorCode FollowAdvice(const Poisson *p, const char words[], PetscBool *good)
{
  const char *advice;
  char        ignored[ERROR_LENGTH];
  int         use[2];
  Outcome     outcome;

  PetscFunctionBeginUser;
  *good  = PETSC_TRUE;
  advice = strstr(words, "use ");
  if (!advice || sscanf(advice, "use %d or %d points", &use[0], &use[1]) != 2) PetscFunctionReturn(0);
  for (PetscInt i = 0; i < 2; i++) {
    const PetscInt n[3] = {use[i], use[i], use[i]};

    PetscCall(Try(p, n, &outcome, ignored));
    if (outcome != WORKS) *good = PETSC_FALSE;
  }
  PetscFunctionReturn(0);
}

typedef struct {
  PetscInt  works, refused;
  PetscBool sound;     /* each works or is refused with a reason */
  PetscBool justified; /* PETSc could not coarsen those that are refused */
  PetscBool advised;   /* the sizes that an error names do work */
} Findings;

/* PETSc's cells are points in disguise in 1D, and with coordinates (a few sizes coarsen, none well); elsewhere it
   supports a factor of 2 only */
static PetscErrorCode Unfit(const Poisson *p, PetscBool *unfit)
{
  PetscBool coordinates;
  PetscInt  factor = 2;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-coordinates", &coordinates));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-factor", &factor, NULL));
  *unfit = (PetscBool)(p->neumann && (p->dim == 1 || coordinates || factor != 2));
  PetscFunctionReturn(0);
}

static PetscErrorCode Examine(const Poisson *p, const PetscInt n[], PetscBool cube, Findings *f)
{
  Outcome   outcome;
  char      words[ERROR_LENGTH];
  PetscBool coarsens = PETSC_FALSE, good = PETSC_TRUE, unfit, compare = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(Unfit(p, &unfit));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-compare", &compare, NULL));
  PetscCall(Try(p, n, &outcome, words));
  if (outcome == WORKS) f->works++;
  if (outcome == REFUSED) f->refused++;
  if (outcome == FAILED) f->sound = PETSC_FALSE;
  if (outcome == REFUSED && PetscGlobalSize == 1) {
    if (compare && !unfit) PetscCall(PETScCoarsens(p, n, &coarsens));
    if (coarsens) f->justified = PETSC_FALSE;
    if (cube) PetscCall(FollowAdvice(p, words, &good));
    if (!good) f->advised = PETSC_FALSE;
  }
  if (outcome == FAILED || coarsens || !good)
    PetscCall(Print("NO: %" PetscInt_FMT "D %s %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT ": %s%s\n",
                    p->dim,
                    kinds[p->periodic  ? PERIODIC
                          : p->neumann ? CELLS
                                       : POINTS],
                    n[0], n[1], n[2], outcome == FAILED ? "failed: " : "should not have been refused: ", words));
  PetscFunctionReturn(0);
}

static PetscErrorCode Report(const Poisson *p, Kind kind, const Findings *f)
{
  PetscBool unfit;

  PetscFunctionBeginUser;
  PetscCall(Unfit(p, &unfit));
  PetscCall(
      ClaimThat(f->sound, "%" PetscInt_FMT "D %s: each size works or is refused with a reason", p->dim, kinds[kind]));
  PetscCall(Claim(unfit == (f->works == 0), unfit ? "  none works" : "  some work"));
  PetscCall(Claim(f->refused > 0, "  some are refused"));
  PetscCall(Claim(f->justified && f->advised, "  rightly, and with good advice"));
  PetscFunctionReturn(0);
}

/* The same size in all directions */
static PetscErrorCode Cubes(const Poisson *p, PetscInt last, Findings *f)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 1; i <= last; i++) {
    const PetscInt n[3] = {i, i, i};

    PetscCall(Examine(p, n, PETSC_TRUE, f));
  }
  PetscFunctionReturn(0);
}

/* Every combination of some sizes */
static PetscErrorCode Mixtures(const Poisson *p, Findings *f)
{
  const PetscInt sizes[] = {1, 2, 3, 5, 8, 9, 12, 16, 17, 40}, number = p->dim == 3 ? 7 : 10;

  PetscFunctionBeginUser;
  if (p->dim == 1) PetscFunctionReturn(0);
  for (PetscInt i = 0; i < number; i++) {
    for (PetscInt j = 0; j < number; j++) {
      for (PetscInt k = 0; k < (p->dim == 3 ? number : 1); k++) {
        const PetscInt n[3] = {sizes[i], sizes[j], sizes[k]};

        PetscCall(Examine(p, n, PETSC_FALSE, f));
      }
    }
  }
  PetscFunctionReturn(0);
}

/* The number of levels that PCKCYCLE chooses */
static PetscErrorCode CountLevels(const Poisson *p, const PetscInt n[], PetscInt *nlevels)
{
  DM  da;
  PC  pc;
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(CreateGrid(p, n, &da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(PoissonAssemble(p, da, A));
  PetscCall(MakePC(A, PCKCYCLE, &pc));
  PetscCall(PCKCycleSetStructured(pc, PC_KCYCLE_STRUCTURED_OFF));
  PetscCall(PCSetUp(pc));
  PetscCall(PCMGGetLevels(pc, nlevels));
  PetscCall(DestroyAll(&pc, &A, &da));
  PetscFunctionReturn(0);
}

/* As far as the grid goes, but no further than 5 points in the longest direction; on many processes until they run
   out of points */
static PetscErrorCode NumbersOfLevels(Poisson *p)
{
  const struct {
    PetscInt dim;
    Kind     kind;
    PetscInt n[3];
    PetscInt nlevels[4]; /* on 1, 2, 4, 8 processes */
  } expected[] = {{1, POINTS, {7, 1, 1}, {2, 2, 2, 0}},     {1, POINTS, {17, 1, 1}, {3, 3, 3, 2}},
                  {1, POINTS, {49, 1, 1}, {5, 5, 5, 3}},    {1, PERIODIC, {48, 1, 1}, {5, 5, 4, 3}},
                  {2, POINTS, {65, 9, 1}, {4, 4, 4, 4}},    {2, CELLS, {40, 40, 1}, {4, 4, 4, 4}},
                  {2, PERIODIC, {24, 12, 1}, {3, 3, 3, 3}}, {3, POINTS, {33, 17, 5}, {3, 3, 3, 3}},
                  {3, CELLS, {32, 16, 8}, {3, 3, 3, 3}},    {3, PERIODIC, {12, 12, 12}, {3, 3, 3, 3}}};
  char claim[128];

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(expected); i++) {
    const PetscInt *n = expected[i].n, wanted = expected[i].nlevels[PetscGlobalSize == 8 ? 3 : PetscGlobalSize / 2];
    PetscInt        nlevels = 0;

    p->dim      = expected[i].dim;
    p->periodic = (PetscBool)(expected[i].kind == PERIODIC);
    p->neumann  = (PetscBool)(expected[i].kind == CELLS);
    if (wanted) PetscCall(CountLevels(p, n, &nlevels));
    PetscCall(PetscSNPrintf(claim, sizeof(claim),
                            "%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " %s: as many levels as expected",
                            n[0], n[1], n[2], kinds[expected[i].kind]));
    PetscCall(Claim(nlevels == wanted, claim));
    if (nlevels != wanted) PetscCall(Print("  %" PetscInt_FMT " instead of %" PetscInt_FMT "\n", nlevels, wanted));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Poisson  p;
  PetscInt last = 40;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PoissonSetFromOptions(&p));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-last", &last, NULL));
  if (Given("-levels")) PetscCall(NumbersOfLevels(&p));
  for (PetscInt kind = 0; kind < NUM_KINDS && !Given("-levels"); kind++) {
    Findings f = {0, 0, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE};

    p.periodic = (PetscBool)(kind == PERIODIC);
    p.neumann  = (PetscBool)(kind == CELLS);
    PetscCall(Cubes(&p, last, &f));
    PetscCall(Mixtures(&p, &f));
    PetscCall(Report(&p, (Kind)kind, &f));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    nsize: {{1 2 3 4 8}}

    test:
      suffix: 1d
      args: -pc_kcycle_hierarchy dm -pc_kcycle_structured off -dim 1 -last 24

    test:
      suffix: 2d
      args: -pc_kcycle_hierarchy dm -pc_kcycle_structured off -dim 2 -last 24

    test:
      suffix: 3d
      args: -pc_kcycle_hierarchy dm -pc_kcycle_structured off -dim 3 -last 12

  test:
    suffix: levels
    nsize: {{1 2 4}}
    args: -levels

  test:
    suffix: short
    nsize: 2
    args: -pc_kcycle_hierarchy dm -pc_kcycle_structured off -dim 2 -last 10
    output_file: output/sizes_2d.out

  test:
    suffix: coordinates
    nsize: {{1 2}}
    args: -pc_kcycle_hierarchy dm -pc_kcycle_structured off -dim 2 -last 20 -compare 0 -coordinates

  test:
    suffix: factor
    nsize: {{1 2}}
    args: -pc_kcycle_hierarchy dm -pc_kcycle_structured off -dim 2 -last 20 -compare 0 -factor 3
    output_file: output/sizes_coordinates.out

TEST*/
