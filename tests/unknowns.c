static char help[] =
    "Several unknowns at a point, of different kinds: what levels suit them, and whether solves end where they say.\n\
  -show   iterations and residuals\n\n";

#include "poisson.h"

/* Row u of a point: diffusion with a conductivity that jumps, upwind transport, reaction; and what it has of the
   other unknown, in the place and by its own couplings */
typedef struct {
  PetscReal diffusion[3], jump, wind[3], reaction, other, flux, size;
  PetscBool closed; /* no value is given at either end of x */
} Kind;

typedef struct {
  PetscInt n[3], dof;
  Kind     kind[3];
  DM       da;
  Mat      A;
  Vec      b, x, r;
  KSP      ksp;
} Equations;

static PetscReal Conductivity(const Kind *kind, const PetscInt at[])
{
  return (at[0] / 5 + at[1] / 7 + at[2] / 3) % 3 == 0
             ? kind->jump
             : 1 + 0.5 * PetscSinReal(at[0] + 2 * at[1] + 3 * (PetscReal)at[2]);
}

/* Couplings of unknown u at a point with all unknowns at that on one side in a direction, or with what lies outside */
static PetscErrorCode AddNeighbour(Equations *s, PetscInt u, const PetscInt at[], PetscInt d, PetscInt side)
{
  const Kind     *kind = &s->kind[u], *other = &s->kind[(u + 1) % s->dof];
  const PetscReal up = PetscMax(0, -(PetscReal)side * kind->wind[d]);
  PetscInt        to[3];
  PetscReal       here = Conductivity(kind, at), there, own, flux;
  MatStencil      row, col[2];
  PetscScalar     v[2];

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 3; i++) to[i] = at[i] + (i == d ? side : 0);
  row = (MatStencil){at[2], at[1], at[0], u};
  if (to[d] < 0 || to[d] >= s->n[d]) {
    v[0] = kind->size * (up + (d == 0 && !kind->closed ? 2 * kind->diffusion[d] * here : 0));
    PetscCall(MatSetValuesStencil(s->A, 1, &row, 1, &row, v, ADD_VALUES));
    PetscFunctionReturn(0);
  }
  there  = Conductivity(kind, to);
  own    = kind->diffusion[d] * 2 * here * there / (here + there) + up;
  flux   = kind->flux * other->diffusion[d];
  col[0] = row;
  col[1] = (MatStencil){to[2], to[1], to[0], u};
  v[0]   = kind->size * own;
  v[1]   = -kind->size * own;
  PetscCall(MatSetValuesStencil(s->A, 1, &row, 2, col, v, ADD_VALUES));
  col[0].c = col[1].c = (u + 1) % s->dof;
  v[0]                = kind->size * flux;
  v[1]                = -kind->size * flux;
  if (s->dof > 1) PetscCall(MatSetValuesStencil(s->A, 1, &row, 2, col, v, ADD_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode Assemble(Equations *s)
{
  PetscInt at[3], start[3], n[3];

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(s->da, &start[0], &start[1], &start[2], &n[0], &n[1], &n[2]));
  PetscCall(MatZeroEntries(s->A));
  FOR_BOX(at, start, n) {
    for (PetscInt u = 0; u < s->dof; u++) {
      const MatStencil  row = {at[2], at[1], at[0], u}, col[2] = {row, {at[2], at[1], at[0], (u + 1) % s->dof}};
      const PetscScalar v[2] = {s->kind[u].size * s->kind[u].reaction, s->kind[u].size * s->kind[u].other};

      PetscCall(MatSetValuesStencil(s->A, 1, &row, s->dof > 1 ? 2 : 1, col, v, ADD_VALUES));
      for (PetscInt d = 0; d < 3; d++) {
        PetscCall(AddNeighbour(s, u, at, d, -1));
        PetscCall(AddNeighbour(s, u, at, d, 1));
      }
    }
  }
  PetscCall(AssembleMat(s->A));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(PetscInt dof, Equations *s)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  s->n[0] = s->n[1] = 12;
  s->n[2]           = 6;
  s->dof            = dof;
  for (PetscInt u = 0; u < dof; u++) {
    s->kind[u].jump = s->kind[u].size = 1;
    for (PetscInt d = 0; d < 3; d++) s->kind[u].diffusion[d] = 1;
  }
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR,
                         s->n[0], s->n[1], s->n[2], PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, dof, 1, NULL, NULL, NULL,
                         &s->da));
  PetscCall(DMSetFromOptions(s->da));
  PetscCall(DMSetUp(s->da));
  PetscCall(DMCreateMatrix(s->da, &s->A));
  PetscCall(MatCreateVecs(s->A, &s->x, &s->b));
  PetscCall(VecDuplicate(s->b, &s->r));
  PetscCall(VecSet(s->b, 1));
  PetscCall(MakeKSP(s->A, KSPGMRES, PCKCYCLE, &s->ksp, &pc));
  PetscCall(KSPSetTolerances(s->ksp, 1e-8, 1e-50, 1e50, 100));
  PetscCall(KSPSetFromOptions(s->ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode Destroy(Equations *s)
{
  return DestroyAll(&s->ksp, &s->x, &s->b, &s->r, &s->A, &s->da);
}

/* Solves, with b = A random, and says whether that took few iterations and the right levels */
static PetscErrorCode Solve(Equations *s, PCKCycleHierarchyType hierarchy, PetscInt most, const char claim[])
{
  KSPConvergedReason    reason;
  PCKCycleHierarchyType is;
  PetscInt              its;
  PetscReal             norm[2];
  PetscBool             show = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(Assemble(s));
  PetscCall(VecSetRandom(s->r, NULL));
  PetscCall(MatMult(s->A, s->r, s->b));
  PetscCall(SolveSystem(s->ksp, s->b, s->x, &its, &reason));
  PetscCall(PCKCycleGetHierarchy(PCOf(s->ksp), &is));
  PetscCall(DifferenceNorms(s->x, s->r, NORM_2, &norm[1], &norm[0]));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-show", &show, NULL));
  if (show)
    PetscCall(Print("  %s levels, %" PetscInt_FMT " iterations, reason %d, error %.1e\n", PCKCycleHierarchyTypes[is],
                    its, (int)reason, (double)(norm[1] / norm[0])));
  PetscCall(Claim(is == hierarchy && (most == 0 || (reason > 0 && its <= most && norm[1] < 1e-4 * norm[0])), claim));
  PetscFunctionReturn(0);
}

/* A closed part of a fluid: there is no solution to most right sides */
static PetscErrorCode CreateClosed(Equations *s)
{
  PetscFunctionBeginUser;
  PetscCall(Create(1, s));
  s->kind[0].closed = PETSC_TRUE;
  PetscCall(Assemble(s));
  PetscCall(VecSetRandom(s->b, NULL));
  PetscFunctionReturn(0);
}

/* No null space is attached, and structured levels find it: the answer is right for the part that has a solution.
   size: of the part that has none, relative to that of the other one */
static PetscErrorCode Right(PetscReal size, const char claim[])
{
  KSPConvergedReason reason;
  MatNullSpace       constants;
  PetscReal          norm[2];
  PetscBool          warns = PETSC_FALSE;
  PetscErrorCode     ierr;
  Equations          s;

  PetscFunctionBeginUser;
  PetscCall(CreateClosed(&s));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
  PetscCall(MatNullSpaceRemove(constants, s.b));
  PetscCall(VecNormalize(s.b, NULL));
  PetscCall(VecShift(s.b, size / PetscSqrtReal(s.n[0] * s.n[1] * (PetscReal)s.n[2])));
  PetscCall(PCKCycleSetCheck(PCOf(s.ksp), PETSC_TRUE));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = KSPSolve(s.ksp, s.b, s.x);
  PetscCall(PetscPopErrorHandler());
  PetscCall(KSPGetConvergedReason(s.ksp, &reason));
  PetscCall(ViewHas(PCOf(s.ksp), "warning: KSP converged by its norm", &warns));
  PetscCall(MatResidual(s.A, s.b, s.x, s.r));
  PetscCall(VecNorm(s.r, NORM_2, &norm[0]));
  PetscCall(MatNullSpaceRemove(constants, s.r));
  PetscCall(VecNorm(s.r, NORM_2, &norm[1]));
  PetscCall(Claim(!ierr && reason > 0 && !warns && norm[0] > 0.99 * size && norm[1] < 1e-6, claim));
  PetscCall(MatNullSpaceDestroy(&constants));
  PetscCall(Destroy(&s));
  PetscFunctionReturn(0);
}

/* Without structured levels KSP, which is not told that the operator is symmetric, finds an answer all the same */
static PetscErrorCode Wrong(void)
{
  KSPConvergedReason reason;
  PetscBool          warns = PETSC_FALSE, check;
  PetscErrorCode     ierr;
  Equations          s;
  PC                 pc;

  PetscFunctionBeginUser;
  PetscCall(CreateClosed(&s));
  PetscCall(AttachConstants(s.A, NULL));
  PetscCall(KSPGetPC(s.ksp, &pc));
  PetscCall(PCKCycleSetStructured(pc, PC_KCYCLE_STRUCTURED_OFF));
  PetscCall(KSPSetUp(s.ksp));
  PetscCall(PCKCycleSetCheck(pc, PETSC_FALSE));
  PetscCall(SolveSystem(s.ksp, s.b, s.x, NULL, &reason));
  PetscCall(ViewHas(pc, "warning: KSP converged by its norm", &warns));
  PetscCall(Claim(reason > 0 && warns, "no solution: the view warns"));
  PetscCall(PCKCycleSetCheck(pc, PETSC_TRUE));
  PetscCall(PCKCycleGetCheck(pc, &check));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = KSPSolve(s.ksp, s.b, s.x);
  PetscCall(PetscPopErrorHandler());
  PetscCall(Claim(check && ierr == PETSC_ERR_NOT_CONVERGED, "an error where solves are checked"));
  PetscCall(MatSetOption(s.A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(KSPSolve(s.ksp, s.b, s.x));
  PetscCall(ClaimView(pc, "warning", PETSC_FALSE, "none where KSP has the null space, and solves what can be solved"));
  PetscCall(Destroy(&s));
  PetscFunctionReturn(0);
}

/* A pressure, with conductivities that jump, on flat cells, and a temperature that it transports */
static void Transport(Equations *s, PetscReal wind)
{
  s->kind[0].jump         = 1e4;
  s->kind[0].diffusion[2] = 50;
  s->kind[0].other        = 0.05;
  for (PetscInt d = 0; d < 3; d++) s->kind[1].diffusion[d] = wind ? 0.01 : 1;
  s->kind[1].wind[0]  = wind;
  s->kind[1].reaction = 1;
  s->kind[1].flux     = 0.01;
}

/* Hierarchies that are asked for */
static PetscErrorCode Named(void)
{
  Equations s;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-pc_kcycle_hierarchy", "grid"));
  PetscCall(Create(2, &s));
  Transport(&s, 50);
  PetscCall(Solve(&s, PC_KCYCLE_HIERARCHY_GRID, 0, "coarser grids that were asked for stay"));
  PetscCall(Destroy(&s));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_kcycle_hierarchy", "unknowns"));
  PetscCall(Create(2, &s));
  s.kind[0].flux = s.kind[1].flux = 0.1;
  PetscCall(MatSetOption(s.A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(KSPSetType(s.ksp, KSPCG));
  PetscCall(Solve(&s, PC_KCYCLE_HIERARCHY_UNKNOWNS, 12, "one by one where that was asked for, symmetric"));
  PetscCall(Destroy(&s));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Equations s;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(Create(2, &s));
  Transport(&s, 50);
  PetscCall(Solve(&s, PC_KCYCLE_HIERARCHY_UNKNOWNS, 10, "a pressure and what it transports, one by one"));
  PetscCall(
      ClaimView(PCOf(s.ksp), "grids for all unknowns together do not suit them", PETSC_TRUE, "the view says why"));
  s.kind[0].reaction = 1e-3;
  PetscCall(Solve(&s, PC_KCYCLE_HIERARCHY_UNKNOWNS, 10, "other values of hardly another operator"));
  s.kind[0].jump         = 1;
  s.kind[0].diffusion[2] = 1;
  for (PetscInt d = 0; d < 3; d++) s.kind[1].diffusion[d] = 1;
  s.kind[1].wind[0] = 0;
  PetscCall(Solve(&s, PC_KCYCLE_HIERARCHY_GRID, 10, "nothing is transported any more: together again"));
  Transport(&s, 50);
  PetscCall(Solve(&s, PC_KCYCLE_HIERARCHY_UNKNOWNS, 10, "and again"));
  PetscCall(KSPReset(s.ksp));
  PetscCall(KSPSetOperators(s.ksp, s.A, s.A));
  s.kind[0].size = 1e8;
  s.kind[1].size = 1e-4;
  PetscCall(Solve(&s, PC_KCYCLE_HIERARCHY_UNKNOWNS, 15, "rows of other sizes, after KSPReset()"));
  PetscCall(Destroy(&s));
  PetscCall(Create(2, &s));
  for (PetscInt u = 0; u < 2; u++) {
    s.kind[u].reaction = 100;
    s.kind[u].other    = -100;
  }
  s.kind[1].wind[0] = 1;
  PetscCall(Solve(&s, PC_KCYCLE_HIERARCHY_GRID, 10, "a stiff reaction of two unknowns: together"));
  PetscCall(Destroy(&s));
  PetscCall(Create(3, &s));
  Transport(&s, 50);
  s.kind[2]         = s.kind[1];
  s.kind[2].wind[1] = -20;
  s.kind[2].flux    = 0;
  s.kind[1].other   = 0.1;
  PetscCall(Solve(&s, PC_KCYCLE_HIERARCHY_UNKNOWNS, 10, "three unknowns, two of them transported"));
  PetscCall(Destroy(&s));
  PetscCall(Named());
  PetscCall(PetscOptionsSetValue(NULL, "-pc_kcycle_hierarchy", "auto"));
  PetscCall(Right(1, "no solution to a part of the right side: the answer to the rest is right"));
  PetscCall(Right(1e6, "so it is where that part is nearly all"));
  PetscCall(Wrong());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    requires: !complex double
    nsize: {{1 3}}
    args: -pc_kcycle_check

TEST*/
