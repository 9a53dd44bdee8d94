static char help[] = "Closed parts: what nothing flows to, one point or more, leaves the rest undisturbed.\n\n";

#include "poisson.h"

#define MAX_ITS 18

typedef struct {
  PetscInt  dim, n;
  PetscBool open;  /* Dirichlet ends around the grid; else the rest is closed as well */
  PetscReal value; /* of couplings */
} Problem;

/* The part that a point belongs to: 0 is the rest, closed ones are single points, pairs and blocks */
static PetscInt Part(const Problem *p, const PetscInt at[])
{
  const PetscInt i = at[0] % 8, j = at[1] % 8, k = p->dim == 3 ? at[2] % 8 : 3;

  for (PetscInt d = 0; d < p->dim; d++) {
    if (at[d] < 0 || at[d] >= p->n) return p->open ? 0 : -1;
  }
  if (k == 3 && ((i == 1 && j == 1) || (i == 6 && j == 5))) return 1;
  if (k == 3 && j == 6 && i < 2) return 2;
  return i > 1 && i < 5 && j > 1 && j < 5 && k > 1 && k < 5 ? 3 : 0;
}

/* Couplings within parts, and nothing else; coefficients of the rest jump */
static void MakeRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const Problem *p    = (const Problem *)ctx;
  const PetscInt part = Part(p, at);

  for (PetscInt o = 0; o < 2 * p->dim; o++) {
    const PetscInt lower = at[o / 2] - (o % 2 ? 0 : 1); /* the coupling belongs to the lower one of both */
    PetscInt       to[3];

    StarNeighbour(at, o, to);
    if (Part(p, to) == part)
      RowCoupling(row, to, p->value * (1 + 0.3 * (PetscReal)((lower + 1) % 3)),
                  (PetscBool)(to[o / 2] >= 0 && to[o / 2] < p->n));
  }
}

/* For a right side that has a solution */
static PetscErrorCode Solve(const Problem *p, KSP ksp, Mat A, const char claim[])
{
  Poisson            other = {.dim = p->dim, .n = p->n};
  KSPConvergedReason reason;
  PetscReal          residual;
  PetscInt           its;
  PetscBool          good;
  Vec                b, x;
  DM                 da;

  PetscFunctionBeginUser;
  PetscCall(MatGetDM(A, &da));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(PoissonFill(&other, da, x));
  PetscCall(MatMult(A, x, b));
  PetscCall(SolveSystem(ksp, b, x, &its, &reason));
  PetscCall(RelativeResidual(A, b, x, &residual));
  good = (PetscBool)(reason > 0 && its <= MAX_ITS && residual < 1e-6);
  if (!good)
    PetscCall(Print("NO: %s, %" PetscInt_FMT " iterations, true residual %g\n", KSPConvergedReasons[reason], its,
                    (double)residual));
  PetscCall(Claim(good, claim));
  PetscCall(DestroyAll(&x, &b));
  PetscFunctionReturn(0);
}

/* An empty row whose right side is not zero has no solution: that is no success */
static PetscErrorCode SolveInconsistent(KSP ksp, Mat A)
{
  KSPConvergedReason reason;
  Vec                b, x;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(SolveSystem(ksp, b, x, NULL, &reason));
  PetscCall(Claim(reason < 0, "  a right side without a solution does not converge"));
  PetscCall(DestroyAll(&x, &b));
  PetscFunctionReturn(0);
}

static PetscErrorCode SolveAll(Problem *p)
{
  Poisson grid = {.dim = p->dim, .n = p->n};
  System  s    = {0};

  PetscFunctionBeginUser;
  PetscCall(Print("%" PetscInt_FMT "D, the rest is %s\n", p->dim, p->open ? "open" : "closed"));
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, &grid, &s.da));
  PetscCall(DMCreateMatrix(s.da, &s.A));
  PetscCall(MatSetDM(s.A, s.da));
  PetscCall(MakeSolver(s.A, KSPCG, 1e-8, 100, &s.ksp));
  PetscCall(AssembleRows(s.da, MakeRow, p, s.A));
  PetscCall(Solve(p, s.ksp, s.A, "  closed parts"));
  p->value *= 1e-9;
  PetscCall(AssembleRows(s.da, MakeRow, p, s.A));
  PetscCall(Solve(p, s.ksp, s.A, "  other values"));
  if (p->open) PetscCall(SolveInconsistent(s.ksp, s.A));
  p->value *= 1e9;
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem p = {2, 80, PETSC_TRUE, 1};

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  for (int closed = 0; closed < 2; closed++) {
    p.open = closed ? PETSC_FALSE : PETSC_TRUE;
    p.dim  = 2;
    p.n    = 80;
    PetscCall(SolveAll(&p));
    p.dim = 3;
    p.n   = 24;
    PetscCall(SolveAll(&p));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: !complex
    output_file: output/closed.out

    test:
      suffix: processes
      nsize: {{1 2 4}}

    test:
      suffix: types
      args: -dm_mat_type {{aij stencil}} -ksp_type {{cg gmres}}

    test:
      suffix: smoothers
      args: -mg_levels_pc_relax_type {{jacobi redblack chebyshev}} -mg_levels_ksp_max_it 4 -pc_mg_levels 2

TEST*/
