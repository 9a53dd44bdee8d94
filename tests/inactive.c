static char help[] =
    "Inactive cells: rows with a diagonal alone, in bodies with ragged rims, and islands between them.\n\n";

#include "poisson.h"
#include <petsckcycle/private/compat.h>

#define MAX_ITS           20
#define MAX_ITS_STRETCHED 13

/* Which inactive cells hold a value that their neighbours feel */
typedef enum {
  HELD_NONE,
  HELD_SOME,
  HELD_ALL
} Held;

typedef struct {
  PetscInt  dim, n[3];
  PetscReal part;     /* of the cells that is inactive, about */
  PetscReal reaction; /* holds islands, which are closed else */
  Held      held;
  PetscBool columns; /* which has been set in their rows only: their columns are there */
  PetscReal flat;    /* couplings along the last direction are stronger by this factor */
  PetscReal growth;  /* of cells, from one to the next: in y, and in x the square of it; 1: they are even */
} Problem;

/* The length of cells in direction d */
static PetscReal Length(const Problem *p, PetscInt d, PetscInt at)
{
  return d < 2 ? PetscPowReal(p->growth, (PetscReal)((2 - d) * at)) : 1;
}

/* The face of a cell in direction d over the distance from the next one */
static PetscReal Face(const Problem *p, PetscInt d, const PetscInt at[], PetscInt next)
{
  PetscReal face = 2 / (Length(p, d, at[d]) + Length(p, d, next));

  for (PetscInt e = 0; e < p->dim; e++) face *= e == d ? 1 : Length(p, e, at[e]);
  return face;
}

/* Waves of several lengths, and a little of each cell's own for the rim */
static PetscBool IsActive(const Problem *p, const PetscInt at[])
{
  const PetscInt  i = at[0], j = at[1], k = at[2];
  const PetscReal wave =
      PetscSinReal(0.31 * i + 0.7 * k) + PetscSinReal(0.23 * j + 1) + PetscSinReal(0.17 * (i + j) - k);
  const PetscReal own = (PetscReal)((i * 7919 + j * 104729 + k * 1299709) % 101) / 101;

  return (PetscBool)(wave + own > 3.5 * p->part - 1);
}

static PetscBool IsHeld(const Problem *p, const PetscInt at[])
{
  return (PetscBool)(!IsActive(p, at) &&
                     (p->held == HELD_ALL || (p->held == HELD_SOME && (at[0] + 2 * at[1] + 3 * at[2]) % 5 == 0)));
}

/* No flux through the boundary but at the low end of x, and none to inactive cells unless they hold a value */
static void MakeRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const Problem *p = (const Problem *)ctx;

  row->value[0] = IsActive(p, at) ? p->reaction + (at[0] == 0 ? 2 : 0) : 3;
  for (PetscInt o = 0; o < 2 * p->dim && IsActive(p, at); o++) {
    const PetscInt d = o / 2;
    PetscInt       to[3];

    StarNeighbour(at, o, to);
    if (!IsInBox(to, p->n, p->dim) || (!IsActive(p, to) && !IsHeld(p, to))) continue;
    RowCoupling(row, to,
                (d == p->dim - 1 ? p->flat : 1) * (1 + 0.5 * (PetscMin(at[d], to[d]) % 3)) * Face(p, d, at, to[d]),
                (PetscBool)(IsActive(p, to) || p->columns));
  }
}

static PetscErrorCode CreateDM(const Problem *p, DM *da)
{
  PetscFunctionBeginUser;
  PetscCall(MakeDM(PETSC_COMM_WORLD, p->dim, p->n, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, da));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(0);
}

/* Inactive cells get what their own row says, whatever the others do */
static PetscErrorCode LargestError(const Problem *p, DM da, Vec b, Vec x, PetscReal *error)
{
  const PetscScalar *ba, *xa;
  PetscInt           s[3], m[3], at[3], i = 0;
  PetscReal          mine = 0;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(b, &ba));
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(DMDAGetCorners(da, &s[0], &s[1], &s[2], &m[0], &m[1], &m[2]));
  FOR_BOX(at, s, m) {
    if (!IsActive(p, at)) mine = PetscMax(mine, PetscAbsScalar(xa[i] - ba[i] / 3.0));
    i++;
  }
  PetscCall(VecRestoreArrayRead(b, &ba));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCallMPI(MPI_Allreduce(&mine, error, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(const Problem *p, DM da, KSP ksp, Mat A, Vec b, const char name[])
{
  KSPConvergedReason reason;
  PetscReal          residual, error;
  PetscInt           its;
  PetscBool          said = PETSC_FALSE, lines = PETSC_FALSE;
  Vec                x;
  PC                 pc;
  const PetscInt     most = p->growth > 1 ? MAX_ITS_STRETCHED : MAX_ITS;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &x));
  PetscCall(SolveSystem(ksp, b, x, &its, &reason));
  PetscCall(RelativeResidual(A, b, x, &residual));
  PetscCall(LargestError(p, da, b, x, &error));
  if (reason < 0 || its > most || residual > 1e-7 || error > 1e-6)
    PetscCall(Print("NO: %s, %" PetscInt_FMT " iterations, true residual %g, error of inactive cells %g\n",
                    KSPConvergedReasons[reason], its, (double)residual, (double)error));
  PetscCall(ClaimThat(reason > 0 && its <= most && residual <= 1e-7 && error <= 1e-6, "%s in %" PetscInt_FMT "D", name,
                      p->dim));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(ViewHas(pc, "interpolation with inactive points", &said));
  PetscCall(Claim(said == (p->held != HELD_ALL), "  -ksp_view says whether they are on coarser levels"));
  if (p->flat > 1 && p->held != HELD_ALL) {
    PetscCall(ViewHas(pc, p->dim == 2 ? "lines along y, coarsened in xy" : "lines along z, coarsened in xyz", &lines));
    /* or, on one process */
    PetscCall(ViewHas(
        pc, p->dim == 2 ? "lines along y, fused, coarsened in xy" : "lines along z, fused, coarsened in xyz", &said));
    lines = (PetscBool)(lines || said);
    PetscCall(Claim(lines, "  all directions are coarsened, and lines relaxed along the strong one"));
  }
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

int main(int argc, char **args)
{
  const struct {
    const char *name;
    PetscReal   part, reaction;
    Held        held;
  } cases[] = {
      {"some inactive cells", 0.3, 1e-6, HELD_NONE},   {"half of the cells inactive", 0.5, 1e-6, HELD_NONE},
      {"most cells inactive", 0.7, 1e-2, HELD_NONE},   {"cells of which some hold values", 0.5, 1e-6, HELD_SOME},
      {"cells that hold values", 0.5, 1e-6, HELD_ALL},
  };
  PetscReal flat = 1, growth = 1;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &args, help));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-flat", &flat, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-growth", &growth, NULL));
  for (PetscInt dim = growth > 1 ? 3 : 2; dim < 4; dim++) {
    Problem p = {
        dim, {dim == 2 ? 150 : 31, dim == 2 ? 131 : 40, dim == 2 ? 1 : 28}, 0, 0, HELD_NONE, PETSC_FALSE, flat, growth};
    Poisson grid = {.dim = dim};
    System  s    = {0};

    PetscCall(CreateDM(&p, &s.da));
    PetscCall(DMCreateMatrix(s.da, &s.A));
    PetscCall(MatCreateVecs(s.A, NULL, &s.b));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &s.ksp));
    PetscCall(KSPSetDM(s.ksp, s.da));
    PetscCall(KCycleKSPSetDMInactive(s.ksp));
    PetscCall(KSPSetType(s.ksp, KSPCG));
    PetscCall(KSPSetNormType(s.ksp, KSP_NORM_UNPRECONDITIONED));
    PetscCall(KSPSetTolerances(s.ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
    PetscCall(KSPSetFromOptions(s.ksp));
    for (size_t i = 0; i < (growth > 1 ? 3 : PETSC_STATIC_ARRAY_LENGTH(cases)); i++) {
      p.part     = cases[i].part;
      p.reaction = cases[i].reaction;
      p.held     = cases[i].held;
      p.columns  = Given("-columns");
      PetscCall(AssembleRows(s.da, MakeRow, &p, s.A));
      PetscCall(PoissonFill(&grid, s.da, s.b));
      PetscCall(KSPSetOperators(s.ksp, s.A, s.A));
      PetscCall(Solve(&p, s.da, s.ksp, s.A, s.b, cases[i].name));
    }
    PetscCall(SystemDestroy(&s));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: !complex

  testset:
    args: -pc_type kcycle
    output_file: output/inactive.out

    test:
      suffix: solve
      nsize: {{1 2 3 4}}
      args: -dm_mat_type {{aij stencil}}

    test:
      suffix: single
      args: -pc_kcycle_precision single

    test:
      suffix: columns
      nsize: {{1 2}}
      args: -columns -ksp_type gmres -ksp_pc_side right

    test:
      suffix: flat
      nsize: {{1 2 4}}
      args: -flat 100
      output_file: output/inactive_flat.out

    test:
      suffix: stretched
      nsize: {{1 2 4}}
      args: -growth 1.15
      output_file: output/inactive_stretched.out

    test:
      suffix: kappa
      nsize: {{1 2}}
      args: -pc_kcycle_kappa {{2 w}}

TEST*/
