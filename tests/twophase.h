/*
  Pressure equations with jumps for the tests of deflation: cells of the unit square or cube, discs or balls of another
  coefficient in it.

  Every number depends on indices of the grid only, so that any number of processes works on the same problem.
*/
#pragma once

#include "poisson.h"

typedef struct {
  PetscInt  dim, n;
  PetscInt  across;   /* discs in each direction */
  PetscReal contrast; /* coefficient in the discs, 1 around them */
  PetscReal radius;   /* of a disc, relative to its part of the square */
  PetscReal x;        /* couplings in x, 1 in the other directions */
  PetscReal y;        /* those in y in the right half of the grid */
  PetscReal vary;     /* by which part coefficients differ from point to point, seemingly at random */
  PetscBool harmonic; /* mean of coefficients at faces; or arithmetic */
  PetscBool closed;   /* no flux through the boundary; or Dirichlet cells beyond it */
  PetscBool stored;   /* the outer cells are Dirichlet points that are stored; */
  PetscBool onesided; /* others are coupled to them, and A is not symmetric */
  PetscBool periodic;
  MatType   type;
} TwoPhase;

/* The usual problem: nine discs */
static inline void TwoPhaseInit(TwoPhase *t, PetscInt dim, PetscInt n, PetscReal contrast)
{
  (void)memset(t, 0, sizeof(*t));
  t->dim      = dim;
  t->n        = n;
  t->across   = 3;
  t->contrast = contrast;
  t->radius   = 0.3;
  t->x        = 1;
  t->y        = 1;
  t->type     = TypeOption();
}

static inline PetscReal TwoPhaseCoefficient(const TwoPhase *t, const PetscInt at[])
{
  const PetscReal part  = t->n / (PetscReal)t->across,
                  other = 1 + t->vary * PetscSinReal((PetscReal)((at[0] * 37 + at[1] * 101 + at[2] * 61) % 1009));
  PetscReal away        = 0;

  for (PetscInt d = 0; d < t->dim; d++) {
    const PetscReal x = at[d] + 0.5, middle = (PetscFloorReal(x / part) + 0.5) * part;

    away += (x - middle) * (x - middle);
  }
  return away < PetscSqr(t->radius * part) ? t->contrast * other : other;
}

static inline PetscBool TwoPhaseIsStored(const TwoPhase *t, const PetscInt at[])
{
  for (PetscInt d = 0; d < t->dim && t->stored; d++) {
    if (at[d] == 0 || at[d] == t->n - 1) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

static inline void TwoPhaseRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const TwoPhase *t  = (const TwoPhase *)ctx;
  const PetscReal me = TwoPhaseCoefficient(t, at);

  for (PetscInt o = 0; o < 2 * t->dim; o++) {
    PetscInt  to[3], place[3] = {at[0], at[1], at[2]};
    PetscReal other, c;
    PetscBool outside;

    StarNeighbour(at, o, to);
    outside      = (PetscBool)(!t->periodic && (to[o / 2] < 0 || to[o / 2] >= t->n));
    place[o / 2] = (to[o / 2] + t->n) % t->n;
    if (outside && t->closed) continue;
    other = outside ? me : TwoPhaseCoefficient(t, place);
    c     = (o < 2                        ? t->x
             : o < 4 && 2 * at[0] >= t->n ? t->y
                                          : 1) *
        (t->harmonic ? 2 * me * other / (me + other) : (me + other) / 2);
    RowCoupling(row, to, c,
                (PetscBool)(!outside && !TwoPhaseIsStored(t, at) && (!TwoPhaseIsStored(t, to) || t->onesided)));
  }
}

static inline PetscErrorCode TwoPhaseAssemble(const TwoPhase *t, DM da, Mat A)
{
  return AssembleRows(da, TwoPhaseRow, t, A);
}

/* The coefficient of each cell */
static inline PetscErrorCode TwoPhaseFillCoefficient(const TwoPhase *t, DM da, Vec v)
{
  PetscInt     s[3] = {0, 0, 0}, m[3] = {1, 1, 1}, at[3];
  PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &s[0], &s[1], &s[2], &m[0], &m[1], &m[2]));
  PetscCall(VecGetArray(v, &values));
  FOR_BOX(at, s, m)
    values[(at[0] - s[0]) + m[0] * ((at[1] - s[1]) + m[1] * (at[2] - s[2]))] = TwoPhaseCoefficient(t, at);
  PetscCall(VecRestoreArray(v, &values));
  PetscFunctionReturn(0);
}

/* A smooth solution: the one that the table of iterations is for */
static inline PetscErrorCode TwoPhaseSolution(const TwoPhase *t, DM da, Vec x)
{
  PetscInt     s[3] = {0, 0, 0}, m[3] = {1, 1, 1}, at[3];
  PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &s[0], &s[1], &s[2], &m[0], &m[1], &m[2]));
  PetscCall(VecGetArray(x, &values));
  FOR_BOX(at, s, m) {
    const PetscReal X = PETSC_PI * (at[0] + 0.5) / t->n, Y = PETSC_PI * (at[1] + 0.5) / t->n,
                    Z = t->dim == 3 ? PETSC_PI * (at[2] + 0.5) / t->n : 0;

    values[(at[0] - s[0]) + m[0] * ((at[1] - s[1]) + m[1] * (at[2] - s[2]))] =
        PetscCosReal(X) * PetscCosReal(Y) * PetscCosReal(Z) + 0.3 * PetscCosReal(2 * X) + 0.2 * PetscCosReal(3 * Y);
  }
  PetscCall(VecRestoreArray(x, &values));
  PetscFunctionReturn(0);
}

/* Operator with its DM and, where it has one, its null space; right side of the smooth solution */
static inline PetscErrorCode TwoPhaseCreate(const TwoPhase *t, DM *da, Mat *A, Vec *b)
{
  const DMBoundaryType e = t->periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  VecType              vectors;
  Vec                  x;

  PetscFunctionBeginUser;
  PetscCall(MakeDM(PETSC_COMM_WORLD, t->dim, (PetscInt[]){t->n, t->n, t->n}, e, DMDA_STENCIL_STAR, da));
  PetscCall(DMSetMatType(*da, t->type));
  PetscCall(DMSetUp(*da));
  PetscCall(DMCreateMatrix(*da, A));
  PetscCall(MatGetVecType(*A, &vectors));
  /* those of coarser grids have to be of the device that interpolations are for */
  PetscCall(DMSetVecType(*da, vectors));
  PetscCall(TwoPhaseAssemble(t, *da, *A));
  PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatCreateVecs(*A, &x, b));
  PetscCall(TwoPhaseSolution(t, *da, x));
  if ((t->closed || t->periodic) && !t->stored) PetscCall(AttachConstants(*A, NULL));
  PetscCall(MatMult(*A, x, *b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

/* A solver with deflation of interface boxes around Jacobi, all of which options may change */
static inline PetscErrorCode TwoPhaseCreateKSP(Mat A, KSPType type, PetscReal rtol, KSP *ksp, PC *pc)
{
  PC inner;

  PetscFunctionBeginUser;
  PetscCall(MakeKSP(A, type, PCDEFLSUB, ksp, pc));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(*ksp, rtol, 1e-50, 1e10, 1000));
  PetscCall(PCDeflSubGetPC(*pc, &inner));
  PetscCall(PCSetType(inner, PCJACOBI));
  PetscFunctionReturn(0);
}

/* The problem with that solver */
static inline PetscErrorCode TwoPhaseCreateSystem(const TwoPhase *t, KSPType type, PetscReal rtol, System *s)
{
  PetscFunctionBeginUser;
  PetscCall(TwoPhaseCreate(t, &s->da, &s->A, &s->b));
  PetscCall(TwoPhaseCreateKSP(s->A, type, rtol, &s->ksp, &s->pc));
  PetscFunctionReturn(0);
}
