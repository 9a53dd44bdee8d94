static char help[] = "BoomerAMG in the place of cycles that converge too slowly, -pc_kcycle_fallback.\n\
  -test falls|stays|renewed|uses|without  which part\n\
  -dim <2>                                dimensions\n\
  -n <96>                                 points in each direction\n\
  -hard <0.59>                            part of the points that are 1e6, where cycles are slow\n\n";

#include "grids.h"
#include "poisson.h"

#define CONTRAST 1e6

/* Points that have one of two values, each by itself; Dirichlet or Neumann all around */
typedef struct {
  PetscInt  dim, n;
  PetscReal part, contrast;
  PetscBool closed;
  DM        da;
  Mat       A;
  Vec       b, x;
  KSP       ksp;
  PC        pc;
} Mixture;

static PetscReal Coefficient(const Mixture *m, const PetscInt at[])
{
  return GridHash(at[0], at[1], at[2], 7) < m->part ? m->contrast : 1;
}

static void MakeRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const Mixture  *m       = (const Mixture *)ctx;
  const PetscInt  size[3] = {m->n, m->n, m->n};
  const PetscReal me      = Coefficient(m, at);

  for (PetscInt o = 0; o < 2 * m->dim; o++) {
    PetscInt  to[3];
    PetscReal other, coupling;
    PetscBool inside;

    StarNeighbour(at, o, to);
    inside   = IsInBox(to, size, m->dim);
    other    = inside ? Coefficient(m, to) : me;
    coupling = 2 * me * other / (me + other);
    if (inside || !m->closed) RowCoupling(row, to, inside ? coupling : 2 * coupling, inside);
  }
}

static PetscErrorCode Assemble(Mixture *m, PetscReal part, PetscReal contrast)
{
  MatNullSpace kernel;

  PetscFunctionBeginUser;
  m->part     = part;
  m->contrast = contrast;
  PetscCall(AssembleRows(m->da, MakeRow, m, m->A));
  if (!m->closed) PetscFunctionReturn(0);
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &kernel));
  PetscCall(MatSetNullSpace(m->A, kernel));
  PetscCall(MatSetTransposeNullSpace(m->A, kernel));
  PetscCall(MatNullSpaceRemove(kernel, m->b));
  PetscCall(MatNullSpaceDestroy(&kernel));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(Mixture *m)
{
  PetscFunctionBeginUser;
  m->dim = 2;
  m->n   = 96;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &m->dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &m->n, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-closed", &m->closed, NULL));
  PetscCall(MakeDM(PETSC_COMM_WORLD, 3, (PetscInt[]){m->n, m->n, m->dim == 3 ? m->n : 1}, DM_BOUNDARY_NONE,
                   DMDA_STENCIL_STAR, &m->da));
  PetscCall(DMSetFromOptions(m->da));
  PetscCall(DMSetUp(m->da));
  PetscCall(DMCreateMatrix(m->da, &m->A));
  PetscCall(MatCreateVecs(m->A, &m->x, &m->b));
  PetscCall(VecSetRandom(m->b, NULL));
  PetscFunctionReturn(0);
}

/* Another solver, with the options of the moment */
static PetscErrorCode Renew(Mixture *m)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&m->ksp));
  PetscCall(MakeKSP(m->A, KSPCG, PCKCYCLE, &m->ksp, &m->pc));
  PetscCall(KSPSetNormType(m->ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(m->ksp, 1e-8, 1e-300, PETSC_DEFAULT, 400));
  PetscCall(KSPSetFromOptions(m->ksp));
  PetscFunctionReturn(0);
}

/* A solve, whether BoomerAMG was there, and iterations */
static PetscErrorCode Solve(Mixture *m, PetscBool *falls, PetscInt *its)
{
  KSPConvergedReason reason;
  PetscReal          residual;
  PC                 inner;

  PetscFunctionBeginUser;
  PetscCall(SolveSystem(m->ksp, m->b, m->x, its, &reason));
  PetscCall(PCKCycleGetFallback(m->pc, NULL, &inner));
  *falls = (PetscBool)(inner != NULL);
  PetscCall(RelativeResidual(m->A, m->b, m->x, &residual));
  if (reason < 0 || !(residual < 1e-7))
    PetscCall(Print("  reason %d, residual %g, %" PetscInt_FMT " iterations\n", (int)reason, (double)residual, *its));
  PetscFunctionReturn(0);
}

/* A new solver falls back, or not, and its view says so in these words */
static PetscErrorCode ClaimSolve(Mixture *m, PetscBool expected, PetscInt most, const char words[], const char claim[])
{
  PetscBool falls, has;
  PetscInt  its;

  PetscFunctionBeginUser;
  PetscCall(Renew(m));
  PetscCall(Solve(m, &falls, &its));
  PetscCall(ViewHas(m->pc, words, &has));
  if (its > most) PetscCall(Print("  %" PetscInt_FMT " iterations\n", its));
  if (!has || falls != expected) PetscCall(PCView(m->pc, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(Claim(falls == expected && its <= most && has, claim));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestFalls(Mixture *m, PetscReal hard)
{
  PetscFunctionBeginUser;
  PetscCall(Assemble(m, hard, CONTRAST));
  PetscCall(
      ClaimSolve(m, PETSC_TRUE, 20, "another preconditioner takes their place", "BoomerAMG where cycles are slow"));
  PetscCall(PetscOptionsSetValue(NULL, "-kcycle_fallback_pc_hypre_boomeramg_strong_threshold", "0.375"));
  PetscCall(ClaimSolve(m, PETSC_TRUE, 25, "Threshold for strong coupling 0.375", "its options are heard"));
  PetscCall(PetscOptionsClearValue(NULL, "-kcycle_fallback_pc_hypre_boomeramg_strong_threshold"));
  PetscCall(PetscOptionsSetValue(NULL, "-kcycle_fallback_pc_type", "redundant"));
  PetscCall(ClaimSolve(m, PETSC_TRUE, 3, "type: redundant", "so is another type"));
  PetscCall(PetscOptionsClearValue(NULL, "-kcycle_fallback_pc_type"));
  PetscFunctionReturn(0);
}

/* Cycles stay with an option, and the view says why */
static PetscErrorCode StaysWith(Mixture *m, const char option[], const char value[], const char words[])
{
  char claim[128];

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, option, value));
  PetscCall(PetscSNPrintf(claim, sizeof(claim), "cycles with %s %s", option, value));
  PetscCall(ClaimSolve(m, PETSC_FALSE, 400, words, claim));
  PetscCall(PetscOptionsClearValue(NULL, option));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestStays(Mixture *m, PetscReal hard)
{
  PCKCycleFallbackType which;

  PetscFunctionBeginUser;
  PetscCall(Assemble(m, 0.05, CONTRAST));
  PetscCall(ClaimSolve(m, PETSC_FALSE, 30, ": not more than", "cycles where they are fast"));
  PetscCall(Assemble(m, 0, 1));
  PetscCall(ClaimSolve(m, PETSC_FALSE, 12, "structured levels", "cycles where nothing jumps"));
  PetscCall(ClaimView(m->pc, "of noise", PETSC_FALSE, "where nothing is measured"));
  PetscCall(Assemble(m, hard, CONTRAST));
  PetscCall(StaysWith(m, "-pc_kcycle_fallback", "off", "structured levels"));
  PetscCall(PCKCycleGetFallback(m->pc, &which, NULL));
  PetscCall(Claim(which == PC_KCYCLE_FALLBACK_OFF, "which is known"));
  PetscCall(StaysWith(m, "-pc_kcycle_kappa", "2", "kappa was chosen"));
  PetscCall(StaysWith(m, "-pc_kcycle_structured", "on", "structured levels were asked for"));
  PetscCall(StaysWith(m, "-mg_levels_ksp_max_it", "3", "smoothers or the coarsest solver were chosen"));
  PetscCall(StaysWith(m, "-mg_levels_pc_relax_clusters", "on", "smoothers or the coarsest solver were chosen"));
  PetscCall(StaysWith(m, "-pc_kcycle_interpolation", "operator", "the interpolation was chosen"));
  PetscFunctionReturn(0);
}

/* As in a PETSc that was configured without hypre */
static PetscErrorCode TestWithout(Mixture *m, PetscReal hard)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFunctionListAdd(&PCList, PCHYPRE, NULL));
  PetscCall(Assemble(m, hard, CONTRAST));
  PetscCall(ClaimSolve(m, PETSC_FALSE, 400, "PETSc has no hypre", "cycles without hypre"));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestRenewed(Mixture *m, PetscReal hard)
{
  PetscBool falls[3];
  PetscInt  its[3];
  PC        inner, before;

  PetscFunctionBeginUser;
  PetscCall(Assemble(m, hard, CONTRAST));
  PetscCall(Renew(m));
  PetscCall(Solve(m, &falls[0], &its[0]));
  PetscCall(PCKCycleGetFallback(m->pc, NULL, &before));
  PetscCall(MatScale(m->A, 3));
  PetscCall(Solve(m, &falls[1], &its[1]));
  PetscCall(PCKCycleGetFallback(m->pc, NULL, &inner));
  PetscCall(Claim(falls[0] && inner == before && PetscAbsInt(its[1] - its[0]) <= 1, "the same for other values"));
  PetscCall(Assemble(m, 0, 1));
  PetscCall(Solve(m, &falls[1], &its[1]));
  PetscCall(Claim(!falls[1] && its[1] <= 12, "cycles where the operator no longer asks"));
  PetscCall(Assemble(m, 0.5, CONTRAST));
  PetscCall(Renew(m));
  PetscCall(KSPSetTolerances(m->ksp, 0.1, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(SolveSystem(m->ksp, m->b, m->x, &its[0], NULL));
  PetscCall(KSPSetTolerances(m->ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(Assemble(m, hard, CONTRAST));
  PetscCall(Solve(m, &falls[1], &its[1]));
  PetscCall(MatScale(m->A, 3));
  PetscCall(Solve(m, &falls[2], &its[2]));
  PetscCall(Claim(!falls[1] && 2 * its[1] > 3 * its[0] && falls[2] && its[2] <= 20,
                  "measured again when iterations have grown"));
  PetscFunctionReturn(0);
}

/* x of the preconditioner, and by how much it differs from another one */
static PetscErrorCode ApplyTo(Mixture *m, Vec x, PetscReal *apart)
{
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(PCApply(m->pc, m->b, m->x));
  PetscCall(VecNorm(m->x, NORM_2, &norm));
  PetscCall(VecAXPY(m->x, -1, x));
  PetscCall(VecNorm(m->x, NORM_2, apart));
  *apart /= norm;
  PetscFunctionReturn(0);
}

static PetscErrorCode TestKept(Mixture *m)
{
  PetscReal apart[2];
  Vec       x;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(m->x, &x));
  PetscCall(PCApply(m->pc, m->b, x));
  PetscCall(KSPSetReusePreconditioner(m->ksp, PETSC_TRUE));
  PetscCall(MatScale(m->A, 2));
  PetscCall(KSPSolve(m->ksp, m->b, m->x));
  PetscCall(ApplyTo(m, x, &apart[0]));
  PetscCall(KSPSetReusePreconditioner(m->ksp, PETSC_FALSE));
  PetscCall(KSPSolve(m->ksp, m->b, m->x));
  PetscCall(ApplyTo(m, x, &apart[1]));
  PetscCall(Claim(apart[0] < 1e-12 && apart[1] > 0.9, "kept with KSPSetReusePreconditioner()"));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

/* Products with two vectors are those with each */
static PetscErrorCode TestBlock(Mixture *m)
{
  PetscInt  n;
  PetscReal apart;
  Mat       B, X;
  Vec       x;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(m->b, &n));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, PETSC_DECIDE, 2, NULL, &B));
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  for (PetscInt j = 0; j < 2; j++) {
    PetscCall(MatDenseGetColumnVecWrite(B, j, &x));
    PetscCall(VecCopy(m->b, x));
    PetscCall(MatDenseRestoreColumnVecWrite(B, j, &x));
  }
  PetscCall(AssembleMat(B));
  PetscCall(PCMatApply(m->pc, B, X));
  PetscCall(MatDenseGetColumnVecRead(X, 1, &x));
  PetscCall(ApplyTo(m, x, &apart));
  PetscCall(MatDenseRestoreColumnVecRead(X, 1, &x));
  PetscCall(Claim(apart < 1e-12, "for several right sides"));
  PetscCall(DestroyAll(&B, &X));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestUses(Mixture *m, PetscReal hard)
{
  PetscBool falls, same;
  PetscInt  its[2], nlevels;
  PC        inner;
  KSP       smoother;
  PetscReal residual;

  PetscFunctionBeginUser;
  PetscCall(Assemble(m, hard, CONTRAST));
  PetscCall(Renew(m));
  PetscCall(Solve(m, &falls, &its[0]));
  PetscCall(KSPSolveTranspose(m->ksp, m->b, m->x));
  PetscCall(RelativeResidual(m->A, m->b, m->x, &residual));
  PetscCall(Claim(falls && residual < 1e-7, "transposed"));
  PetscCall(TestBlock(m));
  PetscCall(TestKept(m));
  PetscCall(KSPSetType(m->ksp, KSPRICHARDSON));
  PetscCall(Solve(m, &falls, &its[1]));
  PetscCall(Claim(falls && its[1] > its[0] && its[1] < 100, "iterated"));
  PetscCall(KSPSetType(m->ksp, KSPCG));
  PetscCall(PCReset(m->pc));
  PetscCall(KSPSetOperators(m->ksp, m->A, m->A));
  PetscCall(PCKCycleGetFallback(m->pc, NULL, &inner));
  PetscCall(Solve(m, &falls, &its[1]));
  PetscCall(Claim(!inner && falls && its[1] == its[0], "again after PCReset()"));
  PetscCall(PCKCycleSetFallback(m->pc, PC_KCYCLE_FALLBACK_OFF));
  PetscCall(Solve(m, &falls, &its[1]));
  PetscCall(Claim(!falls && its[1] > its[0], "cycles when it is switched off"));
  PetscCall(PCKCycleSetFallback(m->pc, PC_KCYCLE_FALLBACK_AUTO));
  PetscCall(MatScale(m->A, 2));
  PetscCall(Solve(m, &falls, &its[1]));
  PetscCall(PCMGGetLevels(m->pc, &nlevels));
  PetscCall(PCMGGetSmoother(m->pc, nlevels - 1, &smoother));
  PetscCall(KSPSetTolerances(smoother, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 3));
  PetscCall(Solve(m, &falls, &its[1]));
  PetscCall(ViewHas(m->pc, "smoothers or the coarsest solver were chosen", &same));
  PetscCall(Claim(!falls && same, "cycles when the program has chosen a smoother"));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mixture   m    = {0};
  PetscReal hard = 0.59;
  char      test[32];
  PetscBool is;

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-hard", &hard, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-test", test, sizeof(test), &is));
  PetscCheck(is, PETSC_COMM_WORLD, PETSC_ERR_USER, "Give -test");
  PetscCall(Create(&m));
  if (!strcmp(test, "falls")) PetscCall(TestFalls(&m, hard));
  if (!strcmp(test, "stays")) PetscCall(TestStays(&m, hard));
  if (!strcmp(test, "renewed")) PetscCall(TestRenewed(&m, hard));
  if (!strcmp(test, "uses")) PetscCall(TestUses(&m, hard));
  if (!strcmp(test, "without")) PetscCall(TestWithout(&m, hard));
  PetscCall(DestroyAll(&m.ksp, &m.b, &m.x, &m.A, &m.da));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: !complex double hypre
    nsize: {{1 2 4}}

    test:
      suffix: falls
      args: -test falls -malloc_dump

    test:
      suffix: stencil
      output_file: output/fallback_falls.out
      args: -test falls -dm_mat_type stencil -pc_kcycle_fallback auto

    test:
      suffix: closed
      output_file: output/fallback_falls.out
      args: -test falls -closed

    test:
      suffix: renewed
      args: -test renewed -malloc_dump

    test:
      suffix: uses
      args: -test uses -malloc_dump

  testset:
    requires: !complex double
    nsize: {{1 4}}

    test:
      suffix: stays
      requires: hypre
      args: -test stays

    test:
      suffix: without
      args: -test without

TEST*/
