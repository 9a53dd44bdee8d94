static char help[] =
    "Operators that are broken, and repaired. A failure is forgotten when its cause is gone, with and without a call\n\
of KSPSetOperators(). Solves then take the iterations of a new solver.\n\n";

#include "poisson.h"

typedef struct {
  const char *name, *options;
} Kind;

static const Kind Kinds[] = {
    {"relax", "-ksp_type cg -pc_type relax"},
    {"relax, lines", "-ksp_type gmres -pc_type relax -pc_relax_type zebra_x"},
    {"relax, sweeps", "-ksp_type richardson -pc_type relax"},
    {"incpoisson", "-ksp_type cg -pc_type incpoisson"},
    {"incpoisson, all entries", "-ksp_type cg -pc_type incpoisson -pc_incpoisson_pattern full"},
    {"deflsub around relax", "-ksp_type cg -pc_type deflsub -deflsub_pc_type relax"},
    {"deflsub around incpoisson", "-ksp_type cg -pc_type deflsub -deflsub_pc_type incpoisson"},
    {"deflsub around jacobi blocks", "-ksp_type cg -pc_type deflsub -deflsub_pc_type bjacobi"},
    {"kcycle", "-ksp_type cg -pc_type kcycle"},
    {"kcycle, ordinary levels", "-ksp_type cg -pc_type kcycle -pc_kcycle_structured off"},
    {"kcycle, blocks on its levels", "-ksp_type cg -pc_type kcycle -pc_kcycle_structured off -mg_levels_ksp_type "
                                     "richardson -mg_levels_pc_type bjacobi"},
    {"kcycle, a single level", "-ksp_type cg -pc_type kcycle -pc_kcycle_hierarchy single"},
};

typedef enum {
  GOOD,
  DIAGONAL, /* one point has a zero on the diagonal */
  PIVOT     /* two points are coupled to each other alone, and their rows add up to zero: factorizations meet a zero */
} State;

/* The row of the point i in the middle line */
static PetscErrorCode BreakRow(const Poisson *p, Mat A, State state, PetscInt i)
{
  const PetscInt   j = p->n / 2, other = i == j ? i + 1 : i - 1;
  const MatStencil to[5] = {
      {.j = j, .i = i}, {.j = j, .i = other}, {.j = j, .i = 2 * i - other}, {.j = j - 1, .i = i}, {.j = j + 1, .i = i}};
  const PetscScalar values[5] = {state == PIVOT ? 1. : 0., -1, 0, 0, 0};

  PetscFunctionBeginUser;
  PetscCall(MatSetValuesStencil(A, 1, to, state == PIVOT ? 5 : 1, to, values, INSERT_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode Assemble(const Poisson *p, DM da, State state, Mat A)
{
  const PetscInt middle = p->n / 2;
  PetscInt       s[2], m[2];

  PetscFunctionBeginUser;
  PetscCall(PoissonAssemble(p, da, A));
  PetscCall(DMDAGetCorners(da, &s[0], &s[1], NULL, &m[0], &m[1], NULL));
  for (PetscInt i = middle; i < middle + (state == PIVOT ? 2 : 1) && state; i++) {
    if (i >= s[0] && i < s[0] + m[0] && middle >= s[1] && middle < s[1] + m[1]) PetscCall(BreakRow(p, A, state, i));
  }
  PetscCall(AssembleMat(A));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(Mat A, KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, "case_"));
  PetscCall(KSPSetTolerances(*ksp, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, 2000));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

/* Whether the solver fails does not matter here: some can do with a zero on the diagonal */
static PetscErrorCode Repair(const Poisson *p, const Kind *kind, State state, DM da)
{
  Mat                A;
  Vec                x, b;
  KSP                ksp, fresh;
  PetscInt           its, expected;
  KSPConvergedReason reason, good;

  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(PoissonFill(p, da, b));
  PetscCall(Assemble(p, da, GOOD, A));
  PetscCall(Create(A, &fresh));
  PetscCall(SolveSystem(fresh, b, x, &expected, &good));
  PetscCall(KSPDestroy(&fresh));
  PetscCall(Assemble(p, da, state, A));
  PetscCall(Create(A, &ksp));
  for (int turn = 0; turn < 4; turn++) {
    PetscCall(Assemble(p, da, state, A));
    if (turn & 1) PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(SolveSystem(ksp, b, x, &its, &reason));
    if (turn > 1) PetscCall(SolveSystem(ksp, b, x, &its, &reason)); /* once more: it has not got better */
    PetscCall(Assemble(p, da, GOOD, A));
    if (turn & 1) PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(SolveSystem(ksp, b, x, &its, &reason));
    PetscCall(ClaimThat(good > 0 && reason == good && its == expected, "%s, %s%s%s", kind->name,
                        state == PIVOT ? "a zero pivot" : "a zero on the diagonal", turn > 1 ? ", again" : "",
                        turn & 1 ? ", told so" : ""));
  }
  PetscCall(DestroyAll(&ksp, &x, &b, &A));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Poisson p;
  DM      da;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF)); /* zeros to divide by are what this is about */
  PetscCall(PoissonSetFromOptions(&p));
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, &p, &da));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(Kinds); i++) {
    PetscOptions options;

    PetscCall(PetscOptionsCreate(&options));
    PetscCall(PetscOptionsPush(options));
    PetscCall(PetscOptionsPrefixPush(options, "case_"));
    PetscCall(PetscOptionsInsertString(options, Kinds[i].options));
    PetscCall(PetscOptionsPrefixPop(options));
    PetscCall(Repair(&p, &Kinds[i], DIAGONAL, da));
    PetscCall(Repair(&p, &Kinds[i], PIVOT, da));
    PetscCall(PopOptions(&options));
  }
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFPTrapPop());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: small
    nsize: {{1 3}}
    args: -n 17 -dm_mat_type {{aij stencil}}
    output_file: output/repair.out

TEST*/
