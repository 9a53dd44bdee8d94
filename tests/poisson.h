/*
  A scalar elliptic model problem on a DMDA of any dimension, for the tests: minus the Laplacian, finite differences,
  with Dirichlet boundary points stored as rows of their own, or Neumann (cells), or periodic.

  Right sides and solutions depend on global indices only, so that every number of processes solves the same problem.
*/
#pragma once

#include "testing.h"

typedef struct {
  PetscInt  dim;
  PetscInt  n;          /* points in each direction */
  PetscReal scale;      /* factor of all entries */
  PetscReal anisotropy; /* factor of the couplings in x */
  PetscBool neumann;    /* no Dirichlet points: missing couplings are left out */
  PetscBool periodic;   /* in every direction */
} Poisson;

static inline PetscErrorCode PoissonSetFromOptions(Poisson *p)
{
  PetscFunctionBeginUser;
  p->dim        = 2;
  p->n          = 33;
  p->scale      = 1;
  p->anisotropy = 1;
  p->neumann = p->periodic = PETSC_FALSE;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &p->dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &p->n, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-scale", &p->scale, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-anisotropy", &p->anisotropy, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-neumann", &p->neumann, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-periodic", &p->periodic, NULL));
  PetscFunctionReturn(0);
}

/* A set-up DMDA with coordinates in the unit interval, square or cube; its application context is the problem */
static inline PetscErrorCode PoissonCreateDM(MPI_Comm comm, Poisson *p, DM *da)
{
  const DMBoundaryType b = p->periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;

  PetscFunctionBeginUser;
  PetscCall(MakeDM(comm, p->dim, (PetscInt[]){p->n, p->n, p->n}, b, DMDA_STENCIL_STAR, da));
  if (p->neumann && !p->periodic) PetscCall(DMDASetInterpolationType(*da, DMDA_Q0));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(DMSetUp(*da));
  PetscCall(DMSetApplicationContext(*da, p));
  PetscFunctionReturn(0);
}

/* Is the point a stored Dirichlet point? */
static inline PetscBool PoissonIsBoundary(const Poisson *p, const PetscInt size[], const PetscInt at[])
{
  if (p->neumann || p->periodic) return PETSC_FALSE;
  for (PetscInt d = 0; d < p->dim; d++) {
    if (at[d] == 0 || at[d] == size[d] - 1) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* Length of a cell */
static inline PetscReal PoissonSpacing(const Poisson *p, const PetscInt size[])
{
  return 1.0 / (p->neumann || p->periodic ? size[0] : PetscMax(size[0] - 1, 1));
}

/* One row: 2 dim + 1 entries at most, h^dim times the operator, so that transposed interpolation restricts right
   sides as it should */
static inline PetscErrorCode PoissonRow(const Poisson *p, const PetscInt size[], const PetscInt at[], Mat A)
{
  MatStencil  row, col[7];
  PetscScalar value[7], diagonal = 0;
  PetscInt    m        = 0;
  PetscBool   boundary = PoissonIsBoundary(p, size, at);

  PetscFunctionBeginUser;
  row.i = at[0];
  row.j = at[1];
  row.k = at[2];
  row.c = 0;
  for (PetscInt d = 0; d < p->dim; d++) {
    const PetscReal coupling = p->scale * (d ? 1 : p->anisotropy) * PetscPowReal(PoissonSpacing(p, size), p->dim - 2);

    for (PetscInt side = -1; side <= 1; side += 2) {
      PetscInt to[3] = {at[0], at[1], at[2]};

      to[d] += side;
      if (!p->periodic && (to[d] < 0 || to[d] >= size[d])) {
        if (!p->neumann) diagonal += coupling;
        continue;
      }
      diagonal += coupling;
      if (boundary || PoissonIsBoundary(p, size, to)) continue;
      col[m].i   = to[0];
      col[m].j   = to[1];
      col[m].k   = to[2];
      col[m].c   = 0;
      value[m++] = -coupling;
    }
  }
  col[m]     = row;
  value[m++] = diagonal;
  PetscCall(MatSetValuesStencil(A, 1, &row, m, col, value, INSERT_VALUES));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode PoissonAssemble(const Poisson *p, DM da, Mat A)
{
  PetscInt size[3], start[3], width[3], at[3];

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(da, NULL, &size[0], &size[1], &size[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], &start[2], &width[0], &width[1], &width[2]));
  FOR_BOX(at, start, width) PetscCall(PoissonRow(p, size, at, A));
  PetscCall(AssembleMat(A));
  PetscFunctionReturn(0);
}

/* For KSPSetComputeOperators() */
static inline PetscErrorCode PoissonComputeOperators(KSP ksp, Mat J, Mat A, void *ctx)
{
  DM da;

  PetscFunctionBeginUser;
  PetscCall(KSPGetDM(ksp, &da));
  PetscCall(PoissonAssemble((const Poisson *)ctx, da, A));
  (void)J;
  PetscFunctionReturn(0);
}

/* A solver that assembles the problem on the grids of its levels */
static inline PetscErrorCode PoissonMakeKSP(Poisson *p, DM da, PCType type, KSP *ksp, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)da), ksp));
  PetscCall(KSPSetDM(*ksp, da));
  PetscCall(KSPSetComputeOperators(*ksp, PoissonComputeOperators, p));
  PetscCall(KSPGetPC(*ksp, pc));
  PetscCall(PCSetType(*pc, type));
  PetscFunctionReturn(0);
}

/* Interpolations of the DMDA's levels, for a solver without the grid; with a problem its operators on
   coarse levels, too */
static inline PetscErrorCode PoissonGiveInterpolations(const Poisson *p, DM da, PC pc, PetscInt nlevels)
{
  DM  fine = da, coarse;
  Mat P, A;
  KSP smoother;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectReference((PetscObject)fine));
  PetscCall(PCMGSetLevels(pc, nlevels, NULL));
  for (PetscInt l = nlevels - 1; l > 0; l--) {
    PetscCall(DMCoarsen(fine, PETSC_COMM_WORLD, &coarse));
    PetscCall(DMCreateInterpolation(coarse, fine, &P, NULL));
    PetscCall(PCMGSetInterpolation(pc, l, P));
    PetscCall(MatDestroy(&P));
    if (p) {
      PetscCall(DMCreateMatrix(coarse, &A));
      PetscCall(PoissonAssemble(p, coarse, A));
      PetscCall(MatSetDM(A, NULL));
      PetscCall(PCMGGetSmoother(pc, l - 1, &smoother));
      PetscCall(KSPSetOperators(smoother, A, A));
      PetscCall(MatDestroy(&A));
    }
    PetscCall(DMDestroy(&fine));
    fine = coarse;
  }
  PetscCall(DMDestroy(&fine));
  PetscFunctionReturn(0);
}

/* A vector with smooth and oscillating parts, the same for every number of processes; its mean is removed where the
   operator is singular */
static inline PetscErrorCode PoissonFill(const Poisson *p, DM da, Vec v)
{
  Vec          natural;
  PetscInt     start, end;
  PetscScalar *a, sum;
  PetscInt     size;

  PetscFunctionBeginUser;
  PetscCall(DMDACreateNaturalVector(da, &natural));
  PetscCall(VecGetOwnershipRange(natural, &start, &end));
  PetscCall(VecGetSize(natural, &size));
  PetscCall(VecGetArrayWrite(natural, &a));
  for (PetscInt i = start; i < end; i++)
    a[i - start] =
        PetscSinReal(3 * (PetscReal)i / size) + 0.3 * PetscCosReal((PetscReal)(7 * i)) + ((i * 37) % 101) / 101.0;
  PetscCall(VecRestoreArrayWrite(natural, &a));
  if (p->neumann || p->periodic) {
    PetscCall(VecSum(natural, &sum));
    PetscCall(VecShift(natural, -sum / (PetscReal)size));
  }
  PetscCall(DMDANaturalToGlobalBegin(da, natural, INSERT_VALUES, v));
  PetscCall(DMDANaturalToGlobalEnd(da, natural, INSERT_VALUES, v));
  PetscCall(VecDestroy(&natural));
  PetscFunctionReturn(0);
}

/* A model problem and its solver, with PCKCYCLE */
typedef struct {
  Poisson p;
  DM      da;
  Mat     A;
  Vec     b, x;
  KSP     ksp;
  PC      pc;
} PoissonSolver;

/* The problem is set; so is its grid, or there is none yet. Options are not read */
static inline PetscErrorCode PoissonSolverCreate(MPI_Comm comm, KSPType type, PoissonSolver *s)
{
  PetscFunctionBeginUser;
  if (s->da) PetscCall(PetscObjectReference((PetscObject)s->da));
  else PetscCall(PoissonCreateDM(comm, &s->p, &s->da));
  PetscCall(DMCreateMatrix(s->da, &s->A));
  PetscCall(PoissonAssemble(&s->p, s->da, s->A));
  PetscCall(MatCreateVecs(s->A, &s->x, &s->b));
  PetscCall(PoissonFill(&s->p, s->da, s->b));
  PetscCall(MakeKSP(s->A, type, PCKCYCLE, &s->ksp, &s->pc));
  PetscCall(KSPSetTolerances(s->ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode PoissonSolverDestroy(PoissonSolver *s)
{
  return DestroyAll(&s->ksp, &s->A, &s->b, &s->x, &s->da);
}

/* Iterations and solution of a solve, as a text; the solve must converge */
static inline PetscErrorCode PoissonSolverSolve(PoissonSolver *s, size_t len, char text[])
{
  KSPConvergedReason reason;
  PetscReal          norm;
  PetscInt           its;

  PetscFunctionBeginUser;
  PetscCall(VecSet(s->x, 0));
  PetscCall(KSPSolve(s->ksp, s->b, s->x));
  PetscCall(KSPGetConvergedReason(s->ksp, &reason));
  PetscCall(KSPGetIterationNumber(s->ksp, &its));
  PetscCall(VecNorm(s->x, NORM_2, &norm));
  if (text) PetscCall(PetscSNPrintf(text, len, "%" PetscInt_FMT " %.11e", its, (double)norm));
  PetscCheck(reason > 0, PETSC_COMM_SELF, PETSC_ERR_NOT_CONVERGED, "%s", KSPConvergedReasons[reason]);
  PetscFunctionReturn(0);
}
