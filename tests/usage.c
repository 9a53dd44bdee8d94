static char help[] =
    "Calls of PETSc's that change a solver between solves, and solvers at the same time, with PCKCYCLE; and grids \
that do not fit the operator.\n\
  -misfits  shows how the latter are refused\n\n";

#include "poisson.h"
#include <petsckcycle/private/compat.h>

static PetscErrorCode Create(MPI_Comm comm, PetscInt n, PetscReal anisotropy, DM da, PoissonSolver *s)
{
  PetscFunctionBeginUser;
  PetscCall(PoissonSetFromOptions(&s->p));
  s->p.n          = n;
  s->p.anisotropy = anisotropy;
  s->da           = da;
  PetscCall(PoissonSolverCreate(comm, KSPCG, s));
  PetscCall(KSPSetFromOptions(s->ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode Reset(void)
{
  char          first[64], again[64];
  PoissonSolver s;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_COMM_WORLD, 33, 1, NULL, &s));
  PetscCall(PoissonSolverSolve(&s, sizeof(first), first));
  PetscCall(PCReset(s.pc));
  PetscCall(KSPSetOperators(s.ksp, s.A, s.A));
  PetscCall(PoissonSolverSolve(&s, sizeof(again), again));
  PetscCall(ClaimSame(first, again, PETSC_TRUE, "PCReset(): the next solve is as the first one"));
  PetscCall(KSPReset(s.ksp));
  PetscCall(KSPSetOperators(s.ksp, s.A, s.A));
  PetscCall(PoissonSolverSolve(&s, sizeof(again), again));
  PetscCall(ClaimSame(first, again, PETSC_TRUE, "KSPReset(), too"));
  PetscCall(PoissonSolverDestroy(&s));
  PetscFunctionReturn(0);
}

/* A grid that was found, or that the operator has, does not stay with the PC when it becomes another type and this
   one again */
static PetscErrorCode AnotherType(void)
{
  char          first[64], again[64];
  PetscBool     good = PETSC_TRUE, same;
  PoissonSolver s;

  PetscFunctionBeginUser;
  for (int found = 0; found < 2; found++) {
    PetscCall(Create(PETSC_COMM_WORLD, 33, 1, NULL, &s));
    if (found) PetscCall(MatSetDM(s.A, NULL));
    PetscCall(PoissonSolverSolve(&s, sizeof(first), first));
    for (int i = 0; i < 2; i++) {
      DM dm;

      PetscCall(PCSetType(s.pc, PCJACOBI));
      PetscCall(PCGetDM(s.pc, &dm));
      if (dm) good = PETSC_FALSE;
      PetscCall(PCSetType(s.pc, PCKCYCLE));
      PetscCall(PCSetFromOptions(s.pc));
      PetscCall(PoissonSolverSolve(&s, sizeof(again), again));
      PetscCall(PetscStrcmp(first, again, &same));
      good = (PetscBool)(good && same);
    }
    PetscCall(PoissonSolverDestroy(&s));
  }
  PetscCall(Claim(good, "PCSetType() to another and back"));
  PetscFunctionReturn(0);
}

/* Solvers on one DM, and matrices of different values, take turns */
static PetscErrorCode OneDM(void)
{
  char          alone[2][64], together[64];
  PoissonSolver s[2];

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    PetscCall(Create(PETSC_COMM_WORLD, 33, i ? 5 : 1, NULL, &s[i]));
    PetscCall(PoissonSolverSolve(&s[i], sizeof(alone[i]), alone[i]));
    PetscCall(PoissonSolverDestroy(&s[i]));
  }
  PetscCall(Create(PETSC_COMM_WORLD, 33, 1, NULL, &s[0]));
  PetscCall(Create(PETSC_COMM_WORLD, 33, 5, s[0].da, &s[1]));
  for (int turn = 0; turn < 4; turn++) {
    PetscCall(PoissonSolverSolve(&s[turn % 2], sizeof(together), together));
    PetscCall(ClaimSame(alone[turn % 2], together, PETSC_TRUE,
                        turn % 2 ? "two solvers on one DM: the second as alone"
                                 : "two solvers on one DM: the first as alone"));
  }
  PetscCall(PoissonSolverDestroy(&s[0]));
  PetscCall(PoissonSolverSolve(&s[1], sizeof(together), together));
  PetscCall(ClaimSame(alone[1], together, PETSC_TRUE, "and after the first is gone"));
  PetscCall(PoissonSolverDestroy(&s[1]));
  PetscFunctionReturn(0);
}

/* The same solver on each process, on a copy of the communicator, and on two halves at once with different problems */
static PetscErrorCode Communicators(void)
{
  char          world[64], other[64];
  MPI_Comm      comm;
  PoissonSolver s;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_COMM_WORLD, 17, 1, NULL, &s));
  PetscCall(PoissonSolverSolve(&s, sizeof(world), world));
  PetscCall(PoissonSolverDestroy(&s));
  PetscCallMPI(MPI_Comm_dup(PETSC_COMM_WORLD, &comm));
  PetscCall(Create(comm, 17, 1, NULL, &s));
  PetscCall(PoissonSolverSolve(&s, sizeof(other), other));
  PetscCall(ClaimSame(world, other, PETSC_TRUE, "on a copy of the communicator"));
  PetscCall(PoissonSolverDestroy(&s));
  PetscCallMPI(MPI_Comm_free(&comm));
  PetscCall(Create(PETSC_COMM_SELF, 17 + 4 * PetscGlobalRank, 1, NULL, &s));
  PetscCall(PoissonSolverSolve(&s, sizeof(other), other));
  PetscCall(PoissonSolverDestroy(&s));
  PetscCallMPI(MPI_Comm_split(PETSC_COMM_WORLD, PetscGlobalRank % 2, PetscGlobalRank, &comm));
  PetscCall(Create(comm, 17 + 16 * (PetscGlobalRank % 2), 1, NULL, &s));
  PetscCall(PoissonSolverSolve(&s, sizeof(other), other));
  PetscCall(PoissonSolverDestroy(&s));
  PetscCallMPI(MPI_Comm_free(&comm));
  PetscCall(Claim(PETSC_TRUE, "on each process by itself, and on halves of them at once, all converge"));
  PetscFunctionReturn(0);
}

/* The operator of the residuals is not that of the preconditioner */
static PetscErrorCode UseAmat(void)
{
  char          plain[64], other[64];
  Mat           twice;
  PoissonSolver s;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_COMM_WORLD, 33, 1, NULL, &s));
  PetscCall(PoissonSolverSolve(&s, sizeof(plain), plain));
  PetscCall(PCSetUseAmat(s.pc, PETSC_TRUE));
  PetscCall(PCReset(s.pc));
  PetscCall(KSPSetOperators(s.ksp, s.A, s.A));
  PetscCall(PoissonSolverSolve(&s, sizeof(other), other));
  PetscCall(ClaimSame(plain, other, PETSC_TRUE, "PCSetUseAmat() changes nothing where there is one matrix"));
  PetscCall(PCSetUseAmat(s.pc, PETSC_FALSE));
  PetscCall(PCReset(s.pc));
  PetscCall(MatDuplicate(s.A, MAT_COPY_VALUES, &twice));
  PetscCall(MatScale(twice, 2));
  PetscCall(KSPSetOperators(s.ksp, twice, s.A));
  PetscCall(VecScale(s.b, 2));
  PetscCall(PoissonSolverSolve(&s, sizeof(other), other));
  PetscCall(ClaimSame(plain, other, PETSC_TRUE, "with another matrix, not used, solves are as before"));
  PetscCall(MatDestroy(&twice));
  PetscCall(PoissonSolverDestroy(&s));
  PetscFunctionReturn(0);
}

/* Coordinates are for hierarchies that ask for them, and hurt no other */
static PetscErrorCode Coordinates(void)
{
  char          plain[64], other[64];
  PetscInt      n;
  PetscReal    *coordinates;
  PoissonSolver s;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_COMM_WORLD, 33, 1, NULL, &s));
  PetscCall(PoissonSolverSolve(&s, sizeof(plain), plain));
  PetscCall(PoissonSolverDestroy(&s));
  PetscCall(Create(PETSC_COMM_WORLD, 33, 1, NULL, &s));
  PetscCall(VecGetLocalSize(s.x, &n));
  PetscCall(PetscCalloc1(2 * n, &coordinates));
  for (PetscInt i = 0; i < 2 * n; i++) coordinates[i] = (PetscReal)i / n;
  PetscCall(PCSetCoordinates(s.pc, 2, n, coordinates));
  PetscCall(PoissonSolverSolve(&s, sizeof(other), other));
  PetscCall(ClaimSame(plain, other, PETSC_TRUE, "PCSetCoordinates() changes nothing on a grid"));
  PetscCall(PetscFree(coordinates));
  PetscCall(PoissonSolverDestroy(&s));
  PetscFunctionReturn(0);
}

/* A factor that structured levels do not have: the DM coarsens its grid by it, and what is asked for by name is
   refused */
static PetscErrorCode Factor(void)
{
  const char *const asked[2]            = {"-pc_kcycle_structured on", "-pc_kcycle_hierarchy grid"};
  const char *const names[2]            = {"-pc_kcycle_structured", "-pc_kcycle_hierarchy"};
  char              words[ERROR_LENGTH] = "", text[64], given[16] = "auto";
  PetscBool         has, from, off;
  Poisson           p;
  DM                da;
  PoissonSolver     s;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-pc_kcycle_structured", given, sizeof(given), NULL));
  PetscCall(PoissonSetFromOptions(&p));
  p.n = 28;
  PetscCall(PetscOptionsInsertString(NULL, "-da_refine_x 3 -da_refine_y 3"));
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, &p, &da));
  PetscCall(PetscOptionsClearValue(NULL, "-da_refine_x"));
  PetscCall(PetscOptionsClearValue(NULL, "-da_refine_y"));
  PetscCall(Create(PETSC_COMM_WORLD, 28, 1, da, &s));
  PetscCall(PoissonSolverSolve(&s, sizeof(text), text));
  PetscCall(ViewHas(s.pc, "hierarchy dm", &from));
  PetscCall(ViewHas(s.pc, "-da_refine_x asks for a factor of 3", &has));
  PetscCall(PetscStrcmp(given, "off", &off));
  PetscCall(Claim(from && (has || off), "-da_refine_x 3: the DM's levels are used, and the view says why"));
  PetscCall(PoissonSolverDestroy(&s));
  for (int i = 0; i < 2; i++) {
    PetscCall(PetscOptionsInsertString(NULL, asked[i]));
    PetscCall(Create(PETSC_COMM_WORLD, 28, 1, da, &s));
    PetscCall(PetscPushErrorHandler(KeepError, words));
    (void)!KSPSolve(s.ksp, s.b, s.x);
    PetscCall(PetscPopErrorHandler());
    PetscCall(Print("%s: %s\n", asked[i], words));
    PetscCall(PoissonSolverDestroy(&s));
    PetscCall(PetscOptionsClearValue(NULL, names[i]));
    PetscCall(PetscOptionsSetValue(NULL, "-pc_kcycle_structured", given));
  }
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

/* Grids that the operator is not on */
typedef enum {
  OTHER_SIZE,
  OTHER_DOF,
  OTHER_GRID_OF_MATRIX,
  OTHER_LAYOUT,
  NUM_MISFITS
} Misfit;

static PetscErrorCode GiveMisfit(Misfit which, PoissonSolver *s)
{
  const PetscInt uneven[2] = {25, 8};
  DM             da;

  PetscFunctionBeginUser;
  if (which != OTHER_GRID_OF_MATRIX) PetscCall(MatSetDM(s->A, NULL));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR,
                         which == OTHER_SIZE             ? 31
                         : which == OTHER_GRID_OF_MATRIX ? 1089 / 11
                                                         : 33,
                         which == OTHER_GRID_OF_MATRIX ? 11 : 33, which == OTHER_LAYOUT ? 1 : PETSC_DECIDE,
                         which == OTHER_LAYOUT ? PetscGlobalSize : PETSC_DECIDE, which == OTHER_DOF ? 2 : 1, 1, NULL,
                         which == OTHER_LAYOUT && PetscGlobalSize == 2 ? uneven : NULL, &da));
  PetscCall(DMSetUp(da));
  PetscCall(KSPSetDM(s->ksp, da));
  PetscCall(KCycleKSPSetDMInactive(s->ksp));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

static PetscErrorCode Misfits(void)
{
  const char *const names[NUM_MISFITS] = {"other size", "other number of unknowns at a point",
                                          "other grid than the matrix", "other layout"};

  PetscFunctionBeginUser;
  for (int which = 0; which < NUM_MISFITS; which++) {
    char          words[ERROR_LENGTH] = "";
    PoissonSolver s;

    PetscCall(Create(PETSC_COMM_WORLD, 33, 1, NULL, &s));
    PetscCall(GiveMisfit((Misfit)which, &s));
    PetscCall(PetscPushErrorHandler(KeepError, words));
    (void)!KSPSolve(s.ksp, s.b, s.x);
    PetscCall(PetscPopErrorHandler());
    PetscCall(Print("%s: %s\n", names[which], words));
    PetscCall(PoissonSolverDestroy(&s));
  }
  PetscFunctionReturn(0);
}

/* Two unknowns at a point and no grid: PCGAMG's levels take the coordinates that were given before the set-up has
   chosen them */
static PetscErrorCode CoordinatesWithoutGrid(void)
{
  char          text[3][64];
  PetscInt      n;
  PetscReal    *coordinates;
  PoissonSolver s;
  Mat           blocks, A;
  KSP           ksp;
  PC            pc;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_COMM_WORLD, 33, 1, NULL, &s));
  PetscCall(VecGetLocalSize(s.x, &n));
  PetscCall(PetscCalloc1(2 * n, &coordinates));
  for (PetscInt i = 0; i < n; i++) {
    coordinates[2 * i]     = i % 33;
    coordinates[2 * i + 1] = i / 33;
  }
  PetscCall(MatCreateMAIJ(s.A, 2, &blocks));
  PetscCall(MatConvert(blocks, MATAIJ, MAT_INITIAL_MATRIX, &A));
  PetscCall(MatSetBlockSize(A, 2));
  PetscCall(DestroyAll(&blocks, &s.A, &s.x, &s.b));
  s.A = A;
  PetscCall(MatCreateVecs(A, &s.x, &s.b));
  PetscCall(VecSet(s.b, 1));
  for (int which = 0; which < 3; which++) {
    PetscCall(MakeKSP(A, KSPCG, PCKCYCLE, &ksp, &pc));
    if (which == 1) PetscCall(PCKCycleSetHierarchy(pc, PC_KCYCLE_HIERARCHY_GAMG));
    PetscCall(KSPSetFromOptions(ksp));
    if (which < 2) PetscCall(PCSetCoordinates(pc, 2, n, coordinates));
    PetscCall(KSPDestroy(&s.ksp));
    s.ksp = ksp;
    PetscCall(PoissonSolverSolve(&s, sizeof(text[which]), text[which]));
  }
  PetscCall(ClaimSame(text[0], text[1], PETSC_TRUE, "PCSetCoordinates() reaches PCGAMG's levels"));
  PetscCall(ClaimSame(text[0], text[2], PETSC_FALSE, "where they matter"));
  PetscCall(PetscFree(coordinates));
  PetscCall(PoissonSolverDestroy(&s));
  PetscFunctionReturn(0);
}

/* As many levels as structured ones can be, more, which the DM has, and more than there are; values renewed */
static PetscErrorCode NumberOfLevels(void)
{
  const PetscInt asked[] = {5, 6, 12};
  PetscBool      good    = PETSC_TRUE;

  PetscFunctionBeginUser;
  for (int i = 0; i < 3; i++) {
    char      text[2][64];
    PetscInt  n[2];
    PetscBool same;

    for (int off = 0; off < 2; off++) {
      PoissonSolver s;

      PetscCall(Create(PETSC_COMM_WORLD, 33, 1, NULL, &s));
      PetscCall(PCKCycleSetStructured(s.pc, off ? PC_KCYCLE_STRUCTURED_OFF : PC_KCYCLE_STRUCTURED_AUTO));
      PetscCall(PCMGSetLevels(s.pc, asked[i], NULL));
      PetscCall(PoissonSolverSolve(&s, sizeof(text[off]), text[off]));
      PetscCall(MatScale(s.A, 2.0));
      PetscCall(PoissonSolverSolve(&s, sizeof(text[off]), text[off]));
      PetscCall(PCMGGetLevels(s.pc, &n[off]));
      PetscCall(PoissonSolverDestroy(&s));
    }
    PetscCall(PetscStrcmp(text[0], text[1], &same));
    if (n[0] != PetscMin(asked[i], i == 2 ? 5 : 6)) good = PETSC_FALSE;
    if (i == 1 && (!same || n[1] != 6)) good = PETSC_FALSE;
  }
  PetscCall(Claim(good, "more levels than structured ones are those of the DM, if it has them"));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  if (Given("-misfits")) PetscCall(Misfits());
  else {
    PetscCall(Reset());
    PetscCall(AnotherType());
    PetscCall(OneDM());
    PetscCall(Communicators());
    PetscCall(UseAmat());
    PetscCall(Coordinates());
    PetscCall(CoordinatesWithoutGrid());
    PetscCall(Factor());
    PetscCall(NumberOfLevels());
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    nsize: {{1 2 4}}
    args: -pc_kcycle_structured {{off auto}}
    output_file: output/usage.out

  test:
    suffix: misfits
    args: -misfits

  test:
    suffix: misfits_parallel
    nsize: 2
    args: -misfits -pc_kcycle_structured {{off auto}}

TEST*/
