static char help[] = "Solvers that are used again: after a change they give the numbers of a new solver.\n\n";

#include "poisson.h"
#include <petsc/private/petscimpl.h>

/* What all cases share: a grid whose operators have 5 or 9 entries in a row */
typedef struct {
  Poisson   p;
  PetscBool user; /* the solver gets interpolations instead of the grid */
  KSPType   ksptype;
  DM        da;
  Mat       A;
  Vec       b, x;
  KSP       ksp; /* the solver that is used again */
  PC        pc;
  Residuals first, again, fresh;
} Case;

static PetscErrorCode CreateGrid(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(MakeDM(PETSC_COMM_WORLD, 2, (PetscInt[]){c->p.n, c->p.n}, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, &c->da));
  PetscCall(DMSetUp(c->da));
  PetscCall(DMSetMatrixPreallocateOnly(c->da, PETSC_TRUE));
  PetscCall(DMCreateGlobalVector(c->da, &c->b));
  PetscCall(VecDuplicate(c->b, &c->x));
  PetscCall(PoissonFill(&c->p, c->da, c->b));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateOperator(Case *c, PetscReal anisotropy, Mat *A)
{
  Poisson p = c->p;

  PetscFunctionBeginUser;
  p.anisotropy = anisotropy;
  PetscCall(DMCreateMatrix(c->da, A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(*A, MAT_SORTED_FULL, PETSC_FALSE)); /* the DMDA promised sorted rows */
  PetscCall(PoissonAssemble(&p, c->da, *A));
  PetscFunctionReturn(0);
}

/* New values at the old places */
static PetscErrorCode ChangeValues(Case *c, PetscReal anisotropy)
{
  Poisson p = c->p;

  PetscFunctionBeginUser;
  p.anisotropy = anisotropy;
  PetscCall(MatZeroEntries(c->A));
  PetscCall(PoissonAssemble(&p, c->da, c->A));
  PetscFunctionReturn(0);
}

/* Couples an inner point to those of its four diagonal neighbours that are inner points, as in a 9-point scheme */
static PetscErrorCode CoupleDiagonally(const Case *c, PetscInt i, PetscInt j, Mat A)
{
  MatStencil  row = {.j = j, .i = i}, columns[5];
  PetscScalar values[5];
  PetscInt    m = 0;

  PetscFunctionBeginUser;
  for (PetscInt dj = -1; dj <= 1; dj += 2) {
    for (PetscInt di = -1; di <= 1; di += 2) {
      const MatStencil column = {.j = j + dj, .i = i + di};
      const PetscInt   at[3] = {column.i, column.j, 0}, size[3] = {c->p.n, c->p.n, 1};

      if (PoissonIsBoundary(&c->p, size, at)) continue;
      columns[m]  = column;
      values[m++] = -0.25;
    }
  }
  columns[m]  = row;
  values[m++] = 1.0;
  PetscCall(MatSetValuesStencil(A, 1, &row, m, columns, values, ADD_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode ChangePattern(Case *c, Mat A)
{
  PetscInt i0, j0, m, n;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(c->da, &i0, &j0, NULL, &m, &n, NULL));
  for (PetscInt j = PetscMax(j0, 1); j < PetscMin(j0 + n, c->p.n - 1); j++) {
    for (PetscInt i = PetscMax(i0, 1); i < PetscMin(i0 + m, c->p.n - 1); i++) PetscCall(CoupleDiagonally(c, i, j, A));
  }
  PetscCall(AssembleMat(A));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolver(Case *c, Mat A, KSP *ksp, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(MakeKSP(A, c->ksptype ? c->ksptype : KSPGMRES, PCKCYCLE, ksp, pc));
  PetscCall(KSPSetTolerances(*ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 60));
  if (c->user) PetscCall(PoissonGiveInterpolations(NULL, c->da, *pc, 4));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(Case *c, KSP ksp, Residuals *residuals)
{
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(KSPMonitorCancel(ksp));
  PetscCall(KSPMonitorSet(ksp, KeepResiduals, residuals, NULL));
  PetscCall(SolveSystem(ksp, c->b, c->x, NULL, &reason));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "Not converged: %s", KSPConvergedReasons[reason]);
  PetscFunctionReturn(0);
}

/* The solver that is used again */
static PetscErrorCode Create(Case *c, PetscReal anisotropy)
{
  PetscFunctionBeginUser;
  PetscCall(CreateGrid(c));
  PetscCall(CreateOperator(c, anisotropy, &c->A));
  PetscCall(CreateSolver(c, c->A, &c->ksp, &c->pc));
  PetscFunctionReturn(0);
}

/* ... and its first solve */
static PetscErrorCode Begin(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(Create(c, 1.0));
  PetscCall(Solve(c, c->ksp, &c->first));
  PetscFunctionReturn(0);
}

/* What a solver that was reset has to be given again */
static PetscErrorCode SetOperators(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(KSPSetOperators(c->ksp, c->A, c->A));
  if (c->user) PetscCall(PoissonGiveInterpolations(NULL, c->da, c->pc, 4));
  PetscFunctionReturn(0);
}

/* Another matrix, which the solver is to be given */
static PetscErrorCode ReplaceOperator(Case *c, PetscReal anisotropy)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&c->A));
  PetscCall(CreateOperator(c, anisotropy, &c->A));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetUpFails(Case *c, const char claim[])
{
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(SolveSystem(c->ksp, c->b, c->x, NULL, &reason));
  PetscCall(Claim(reason == KSP_DIVERGED_PC_FAILED, claim));
  PetscFunctionReturn(0);
}

/* Solves with the operator as it is now, by the solver that is used again and by a new one; both get the kappa if it
   is not 0 */
static PetscErrorCode Compare(Case *c, PetscInt kappa, const char claim[])
{
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(Solve(c, c->ksp, &c->again));
  PetscCall(CreateSolver(c, c->A, &ksp, &pc));
  if (kappa) PetscCall(PCKCycleSetKappa(pc, kappa));
  PetscCall(Solve(c, ksp, &c->fresh));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(ClaimEqual(&c->again, &c->fresh, PETSC_TRUE, claim));
  PetscFunctionReturn(0);
}

static PetscErrorCode End(Case *c)
{
  return DestroyAll(&c->ksp, &c->A, &c->b, &c->x, &c->da);
}

static PetscErrorCode Values(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(Begin(c));
  PetscCall(Compare(c, 0, "nothing changed"));
  PetscCall(ChangeValues(c, 5.0));
  PetscCall(Compare(c, 0, "changed values"));
  PetscCall(ClaimEqual(&c->first, &c->again, PETSC_FALSE, "the change shows"));
  PetscCall(ChangeValues(c, 1.0));
  PetscCall(Compare(c, 0, "changed back"));
  PetscCall(ClaimEqual(&c->first, &c->again, PETSC_TRUE, "gives the first numbers again"));
  PetscCall(End(c));
  PetscFunctionReturn(0);
}

static PetscErrorCode Pattern(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(Begin(c));
  PetscCall(ChangePattern(c, c->A));
  PetscCall(Compare(c, 0, "changed pattern"));
  PetscCall(ClaimEqual(&c->first, &c->again, PETSC_FALSE, "the change shows"));
  PetscCall(ChangeValues(c, 3.0));
  PetscCall(ChangePattern(c, c->A)); /* nothing but zeros there would be the old pattern for a new stencil */
  PetscCall(Compare(c, 0, "changed values after it"));
  PetscCall(End(c));
  PetscFunctionReturn(0);
}

/* Couples each fifth point of the middle row with the point two ahead, and the other way round: this fits no stencil
   of width 1, unless the value is zero */
static PetscErrorCode CoupleFar(Case *c, PetscReal value)
{
  PetscInt i0, j0, m, n;
  AO       ao;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetAO(c->da, &ao));
  PetscCall(DMDAGetCorners(c->da, &i0, &j0, NULL, &m, &n, NULL));
  for (PetscInt i = i0; c->p.n / 2 >= j0 && c->p.n / 2 < j0 + n && i < i0 + m; i++) {
    for (PetscInt side = -2; side <= 2; side += 4) {
      const PetscScalar values[2] = {value, -value};
      PetscInt          number[2] = {i + c->p.n * (c->p.n / 2), i + side + c->p.n * (c->p.n / 2)};

      if (i % 5 != (side > 0 ? 1 : 3) || i + side < 1 || i + side > c->p.n - 2) continue;
      PetscCall(AOApplicationToPetsc(ao, 2, number)); /* two points away is beyond the ghost points */
      PetscCall(MatSetValues(c->A, 1, number, 2, number, values, ADD_VALUES));
    }
  }
  PetscCall(AssembleMat(c->A));
  PetscFunctionReturn(0);
}

/* A matrix that no longer is a stencil, and one that is again */
static PetscErrorCode Far(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(Begin(c));
  PetscCall(CoupleFar(c, 0.5));
  PetscCall(Compare(c, 0, "a changed pattern that fits no stencil"));
  PetscCall(ClaimEqual(&c->first, &c->again, PETSC_FALSE, "the change shows"));
  PetscCall(ChangeValues(c, 1.0));
  PetscCall(CoupleFar(c, 0.7));
  PetscCall(Compare(c, 0, "changed values after it"));
  PetscCall(ReplaceOperator(c, 2.0));
  PetscCall(CoupleFar(c, 0));
  PetscCall(KSPSetOperators(c->ksp, c->A, c->A));
  PetscCall(Solve(c, c->ksp, &c->again));
  PetscCall(KSPReset(c->ksp));
  PetscCall(SetOperators(c));
  PetscCall(Compare(c, 0, "zeros are at the places outside the stencil"));
  PetscCall(CoupleFar(c, 0.3));
  PetscCall(Compare(c, 0, "then they are no zeros"));
  PetscCall(End(c));
  PetscFunctionReturn(0);
}

/* Directions of weak couplings come and go */
static PetscErrorCode Anisotropy(Case *c)
{
  const PetscReal anisotropy[] = {4, 0.25, 1};

  PetscFunctionBeginUser;
  PetscCall(Begin(c));
  for (int i = 0; i < 3; i++) {
    PetscCall(ChangeValues(c, anisotropy[i]));
    PetscCall(Compare(c, 0, "other directions are the strong ones"));
  }
  PetscCall(End(c));
  PetscFunctionReturn(0);
}

static PetscErrorCode OtherMatrix(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(Begin(c));
  PetscCall(ReplaceOperator(c, 5.0));
  PetscCall(KSPSetOperators(c->ksp, c->A, c->A));
  PetscCall(Compare(c, 0, "another matrix"));
  PetscCall(ReplaceOperator(c, 2.0));
  PetscCall(ChangePattern(c, c->A));
  PetscCall(KSPSetOperators(c->ksp, c->A, c->A));
  PetscCall(Compare(c, 0, "another matrix with another pattern"));
  PetscCall(End(c));
  PetscFunctionReturn(0);
}

/* Changes with the coarsest operator and with its values */
static PetscErrorCode CoarseState(PC pc, PetscObjectState *state)
{
  KSP           coarse;
  Mat           A;
  PetscObjectId id;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetCoarseSolve(pc, &coarse));
  PetscCall(KSPGetOperators(coarse, &A, NULL));
  PetscCall(PetscObjectStateGet((PetscObject)A, state));
  PetscCall(PetscObjectGetId((PetscObject)A, &id));
  *state += 100000 * id;
  PetscFunctionReturn(0);
}

static PetscErrorCode ReusePreconditioner(Case *c)
{
  PetscObjectState before, after;

  PetscFunctionBeginUser;
  PetscCall(Begin(c));
  PetscCall(CoarseState(c->pc, &before));
  PetscCall(KSPSetReusePreconditioner(c->ksp, PETSC_TRUE));
  PetscCall(ChangeValues(c, 2.0));
  PetscCall(Solve(c, c->ksp, &c->again));
  PetscCall(CoarseState(c->pc, &after));
  PetscCall(Claim(before == after, "a preconditioner that is kept keeps its coarse operators, and converges"));
  PetscCall(KSPSetReusePreconditioner(c->ksp, PETSC_FALSE));
  PetscCall(Compare(c, 0, "no longer kept"));
  PetscCall(CoarseState(c->pc, &after));
  PetscCall(Claim(before != after, "it has new ones"));
  PetscCall(End(c));
  PetscFunctionReturn(0);
}

/* The grid of the solver is replaced by one of n points */
static PetscErrorCode ChangeGrid(Case *c, PetscInt n)
{
  PetscFunctionBeginUser;
  PetscCall(DestroyAll(&c->A, &c->b, &c->x, &c->da));
  c->p.n = n;
  PetscCall(CreateGrid(c));
  PetscCall(CreateOperator(c, 1.0, &c->A));
  PetscFunctionReturn(0);
}

static PetscErrorCode Reset(Case *c)
{
  const PetscInt n = c->p.n;

  PetscFunctionBeginUser;
  PetscCall(Begin(c));
  PetscCall(KSPReset(c->ksp));
  PetscCall(SetOperators(c));
  PetscCall(Compare(c, 0, "after KSPReset()"));
  PetscCall(PCReset(c->pc));
  PetscCall(SetOperators(c));
  PetscCall(Compare(c, 0, "after PCReset()"));
  PetscCall(KSPReset(c->ksp));
  PetscCall(ChangeGrid(c, 17));
  PetscCall(SetOperators(c));
  PetscCall(Compare(c, 0, "on a smaller grid"));
  PetscCall(KSPReset(c->ksp));
  PetscCall(ChangeGrid(c, 65));
  PetscCall(SetOperators(c));
  PetscCall(Compare(c, 0, "on a larger grid"));
  PetscCall(End(c));
  c->p.n = n;
  PetscFunctionReturn(0);
}

/* One level alone: the solver is that of the operator as it is now */
static PetscErrorCode SolveAlone(Case *c, const char claim[])
{
  PetscReal relative;

  PetscFunctionBeginUser;
  PetscCall(KSPSolve(c->ksp, c->b, c->x));
  PetscCall(RelativeResidual(c->A, c->b, c->x, &relative));
  PetscCall(Claim(relative < 1e-10, claim));
  PetscFunctionReturn(0);
}

static PetscErrorCode SingleLevel(Case *c)
{
  const PetscBool user = c->user;

  PetscFunctionBeginUser;
  c->user    = PETSC_FALSE;
  c->ksptype = KSPPREONLY;
  PetscCall(Create(c, 1.0));
  PetscCall(PCKCycleSetHierarchy(c->pc, PC_KCYCLE_HIERARCHY_SINGLE));
  PetscCall(SolveAlone(c, "a single level"));
  PetscCall(ReplaceOperator(c, 5.0));
  PetscCall(KSPSetOperators(c->ksp, c->A, c->A));
  PetscCall(SolveAlone(c, "with another matrix"));
  PetscCall(ChangeValues(c, 2.0));
  PetscCall(SolveAlone(c, "and with changed values of that"));
  PetscCall(End(c));
  c->ksptype = NULL;
  c->user    = user;
  PetscFunctionReturn(0);
}

/* A reset solver and a new one: are their residuals the same, on levels of PCMG? */
static PetscErrorCode AsNew(Case *c, PetscBool *same)
{
  KSP       ksp;
  PC        pc;
  PetscBool equal;

  PetscFunctionBeginUser;
  PetscCall(PCReset(c->pc));
  PetscCall(KSPSetOperators(c->ksp, c->A, c->A));
  PetscCall(PCKCycleSetStructured(c->pc, PC_KCYCLE_STRUCTURED_OFF));
  PetscCall(Solve(c, c->ksp, &c->again));
  PetscCall(CreateSolver(c, c->A, &ksp, &pc));
  PetscCall(PCKCycleSetStructured(pc, PC_KCYCLE_STRUCTURED_OFF));
  PetscCall(Solve(c, ksp, &c->fresh));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(ResidualsEqual(&c->again, &c->fresh, &equal));
  if (!equal) *same = PETSC_FALSE;
  PetscFunctionReturn(0);
}

/* From structured levels to those of PCMG, as many or fewer, and to other smoothers */
static PetscErrorCode OtherLevels(Case *c)
{
  const PetscInt  n    = c->p.n;
  const PetscBool user = c->user;
  PetscBool       kind = PETSC_TRUE, smoothers = PETSC_TRUE;

  PetscFunctionBeginUser;
  c->user = PETSC_FALSE;
  for (c->p.n = 6; c->p.n < 16; c->p.n++) {
    PetscCall(Begin(c));
    PetscCall(AsNew(c, &kind));
    PetscCall(PetscOptionsSetValue(NULL, "-mg_levels_1_pc_type", "jacobi"));
    PetscCall(PCReset(c->pc));
    PetscCall(KSPSetOperators(c->ksp, c->A, c->A));
    PetscCall(KSPSetFromOptions(c->ksp));
    PetscCall(AsNew(c, &smoothers));
    PetscCall(PetscOptionsClearValue(NULL, "-mg_levels_1_pc_type"));
    PetscCall(End(c));
  }
  PetscCall(Claim(kind, "after PCReset() to levels of another kind"));
  PetscCall(Claim(smoothers, "and to other smoothers"));
  c->p.n  = n;
  c->user = user;
  PetscFunctionReturn(0);
}

/* Destroyed before anything was set up */
static PetscErrorCode Destroy(Case *c)
{
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCKCYCLE));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(CreateGrid(c));
  PetscCall(CreateOperator(c, 1.0, &c->A));
  PetscCall(CreateSolver(c, c->A, &ksp, &pc));
  PetscCall(KSPReset(ksp));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(CreateSolver(c, c->A, &ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(CreateSolver(c, c->A, &c->ksp, &c->pc));
  PetscCall(KSPSetUp(c->ksp));
  PetscCall(PCSetType(c->pc, PCNONE));
  PetscCall(PCSetType(c->pc, PCKCYCLE));
  if (c->user) PetscCall(PoissonGiveInterpolations(NULL, c->da, c->pc, 4));
  PetscCall(KSPSetFromOptions(c->ksp));
  PetscCall(Compare(c, 0, "destroyed and reset before set-up, and after other types"));
  PetscCall(End(c));
  PetscFunctionReturn(0);
}

static PetscErrorCode Kappa(Case *c)
{
  const PetscInt kappa[] = {1, 3, PC_KCYCLE_KAPPA_W, 2};
  PetscInt       usual;

  PetscFunctionBeginUser;
  PetscCall(Begin(c));
  PetscCall(PCKCycleGetKappa(c->pc, &usual));
  for (PetscInt i = 0; i < 4; i++) {
    PetscCall(PCKCycleSetKappa(c->pc, kappa[i]));
    PetscCall(Compare(c, kappa[i], "another kappa"));
    PetscCall(ClaimEqual(&c->first, &c->again, (PetscBool)(kappa[i] == usual), "differs from the default, or is it"));
  }
  PetscCall(End(c));
  PetscFunctionReturn(0);
}

/* Set-up fails, with the solve and not with an error, until the values are repaired */
static PetscErrorCode Repair(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF)); /* bad numbers are what this is about */
  PetscCall(Create(c, INFINITY));
  PetscCall(SetUpFails(c, "set-up fails"));
  PetscCall(ChangeValues(c, 3.0));
  PetscCall(Compare(c, 0, "repaired values"));
  PetscCall(ChangeValues(c, INFINITY));
  PetscCall(SetUpFails(c, "set-up fails when there is a hierarchy, too"));
  PetscCall(ChangeValues(c, 2.0));
  PetscCall(Compare(c, 0, "repaired again"));
  PetscCall(End(c));
  PetscCall(PetscFPTrapPop());
  PetscFunctionReturn(0);
}

/* The first operator is a stencil of the program, and its set-up fails; the next one is another matrix */
static PetscErrorCode Strangers(Case *c)
{
  Mat       stencil;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF)); /* a zero operator is what this is about */
  PetscCall(CreateGrid(c));
  PetscCall(DMSetMatType(c->da, MATSTENCIL));
  PetscCall(DMCreateMatrix(c->da, &stencil));
  PetscCall(PoissonAssemble(&c->p, c->da, stencil));
  PetscCall(MatScale(stencil, 0));
  PetscCall(CreateSolver(c, stencil, &c->ksp, &c->pc));
  PetscCall(SetUpFails(c, "set-up fails with a stencil of the program"));
  PetscCall(DMSetMatType(c->da, MATAIJ));
  PetscCall(CreateOperator(c, 1.0, &c->A));
  PetscCall(KSPSetOperators(c->ksp, c->A, c->A));
  PetscCall(Compare(c, 0, "then another matrix"));
  PetscCall(MatMult(stencil, c->b, c->x));
  PetscCall(VecNorm(c->x, NORM_2, &norm));
  PetscCall(Claim(norm == 0, "the program's stencil is as it was"));
  PetscCall(MatDestroy(&stencil));
  PetscCall(End(c));
  PetscCall(PetscFPTrapPop());
  PetscFunctionReturn(0);
}

/* Some iterations of Richardson's method without monitors: the PC runs them itself where it can. What they leave
   are norms */
static PetscErrorCode Richardson(Case *c, KSP ksp, Residuals *norms)
{
  Vec       r;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(KSPMonitorCancel(ksp));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
  PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
  PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 3));
  PetscCall(KSPSolve(ksp, c->b, c->x));
  PetscCall(VecDuplicate(c->b, &r));
  PetscCall(MatResidual(c->A, c->b, c->x, r));
  PetscCall(VecNorm(c->x, NORM_2, &norm));
  PetscCall(KeepResiduals(ksp, 0, norm, norms));
  PetscCall(VecNorm(c->x, NORM_INFINITY, &norm));
  PetscCall(KeepResiduals(ksp, 1, norm, norms));
  PetscCall(VecNorm(r, NORM_2, &norm));
  PetscCall(KeepResiduals(ksp, 2, norm, norms));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}

static PetscErrorCode Types(Case *c)
{
  const PCMGType type[]  = {PC_MG_FULL,    PC_MG_ADDITIVE, PC_MG_MULTIPLICATIVE,
                            PC_MG_KASKADE, PC_MG_FULL,     PC_MG_MULTIPLICATIVE};
  const char    *claim[] = {"from multiplicative to full", "to additive", "to multiplicative", "to Kaskade", "to full",
                            "to multiplicative again"};
  Residuals      ours[6];
  PetscInt       usual;
  KSP            ksp;
  PC             pc;

  PetscFunctionBeginUser;
  c->ksptype = KSPRICHARDSON;
  PetscCall(Create(c, 1.0));
  PetscCall(Richardson(c, c->ksp, &c->first));
  for (PetscInt i = 0; i < 6; i++) {
    PetscCall(PCMGSetType(c->pc, type[i]));
    PetscCall(Richardson(c, c->ksp, &ours[i]));
    PetscCall(CreateSolver(c, c->A, &ksp, &pc));
    PetscCall(PCMGSetType(pc, type[i]));
    PetscCall(Richardson(c, ksp, &c->fresh));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(ClaimEqual(&ours[i], &c->fresh, PETSC_TRUE, claim[i]));
  }
  PetscCall(ClaimEqual(&c->first, &ours[2], PETSC_TRUE, "multiplicative is what it was at first"));
  PetscCall(PCKCycleGetKappa(c->pc, &usual));
  PetscCall(PCKCycleSetKappa(c->pc, usual == 1 ? 3 : 1));
  PetscCall(Richardson(c, c->ksp, &c->again));
  PetscCall(ClaimEqual(&ours[5], &c->again, PETSC_FALSE, "kappa counts: PCMG's own cycle would ignore it"));
  PetscCall(PCKCycleSetKappa(c->pc, usual));
  PetscCall(Richardson(c, c->ksp, &c->again));
  PetscCall(ClaimEqual(&c->first, &c->again, PETSC_TRUE, "and may be changed back"));
  PetscCall(End(c));
  c->ksptype = NULL;
  PetscFunctionReturn(0);
}

/* To the levels of PCGAMG and back, before anything is set up */
static PetscErrorCode Hierarchies(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(Create(c, 1.0));
  PetscCall(PCKCycleSetHierarchy(c->pc, PC_KCYCLE_HIERARCHY_GAMG));
  PetscCall(KSPSetFromOptions(c->ksp));
  PetscCall(PCKCycleSetHierarchy(c->pc, PC_KCYCLE_HIERARCHY_AUTO));
  if (c->user) PetscCall(PoissonGiveInterpolations(NULL, c->da, c->pc, 4));
  PetscCall(KSPSetFromOptions(c->ksp));
  PetscCall(Compare(c, 0, "to the levels of PCGAMG and back before set-up"));
  PetscCall(KSPReset(c->ksp));
  PetscCall(PCKCycleSetHierarchy(c->pc, PC_KCYCLE_HIERARCHY_GAMG));
  PetscCall(KSPSetFromOptions(c->ksp));
  PetscCall(KSPSetOperators(c->ksp, c->A, c->A));
  PetscCall(Solve(c, c->ksp, &c->again));
  PetscCall(ClaimEqual(&c->fresh, &c->again, PETSC_FALSE, "after a reset to the levels of PCGAMG"));
  PetscCall(End(c));
  PetscFunctionReturn(0);
}

static PetscErrorCode DistinctSmoothers(Case *c)
{
  PetscFunctionBeginUser;
  PetscCall(Begin(c));
  PetscCall(KSPDestroy(&c->ksp));
  PetscCall(CreateSolver(c, c->A, &c->ksp, &c->pc));
  PetscCall(PCMGSetDistinctSmoothUp(c->pc));
  PetscCall(KSPSetFromOptions(c->ksp));
  PetscCall(Solve(c, c->ksp, &c->again));
  PetscCall(
      ClaimEqual(&c->first, &c->again, PETSC_TRUE, "distinct smoothers of one kind give the numbers of common ones"));
  PetscCall(ChangeValues(c, 5.0));
  PetscCall(Compare(c, 0, "also with changed values"));
  PetscCall(ChangePattern(c, c->A));
  PetscCall(Compare(c, 0, "and with a changed pattern"));
  PetscCall(End(c));
  PetscFunctionReturn(0);
}

/* M_2 b = x + M (b - A x) with x = M b, where M_2 is two cycles */
static PetscErrorCode TwoCycles(Case *c)
{
  Vec       x, r, y;
  PetscReal norm, error;

  PetscFunctionBeginUser;
  PetscCall(Begin(c));
  PetscCall(DuplicateVec(c->b, &x, &r, &y));
  PetscCall(PCApply(c->pc, c->b, x));
  PetscCall(MatResidual(c->A, c->b, x, r));
  PetscCall(PCApply(c->pc, r, y));
  PetscCall(VecAXPY(x, 1.0, y));
  PetscCall(PCMGMultiplicativeSetCycles(c->pc, 2));
  PetscCall(PCApply(c->pc, c->b, y));
  PetscCall(DifferenceNorms(y, x, NORM_2, &error, &norm));
  PetscCall(Claim(error < 1e-12 * norm, "two cycles in one application are two cycles"));
  PetscCall(DestroyAll(&x, &r, &y));
  PetscCall(End(c));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Case c = {0};

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PoissonSetFromOptions(&c.p));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-user", &c.user, NULL));
  PetscCall(Values(&c));
  PetscCall(Pattern(&c));
  PetscCall(Far(&c));
  PetscCall(Anisotropy(&c));
  PetscCall(OtherMatrix(&c));
  PetscCall(ReusePreconditioner(&c));
  PetscCall(SingleLevel(&c));
  PetscCall(Reset(&c));
  PetscCall(OtherLevels(&c));
  PetscCall(Destroy(&c));
  PetscCall(Kappa(&c));
  PetscCall(Repair(&c));
  PetscCall(Strangers(&c));
  PetscCall(Types(&c));
  PetscCall(Hierarchies(&c));
  PetscCall(DistinctSmoothers(&c));
  PetscCall(TwoCycles(&c));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: small
    nsize: {{1 2 3 4}}
    args: -user {{0 1}} -pc_kcycle_structured {{off auto}}
    output_file: output/reuse.out

TEST*/
