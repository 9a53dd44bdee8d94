static char help[] = "Structured levels whose coarse operators the program assembles.\n\n";

#include "poisson.h"

/* What the callback is given: it counts its calls, and looks whether the grids have the coordinates that they should
   have */
typedef struct {
  Poisson   p;
  PetscInt  calls;
  PetscBool coordinates; /* look at them */
  PetscBool right;
} Context;

static PetscErrorCode LookAtCoordinates(Context *c, DM da)
{
  PetscInt           size[3] = {1, 1, 1}, s[3], n[3], at[3];
  const PetscScalar *x;
  Vec                coordinates;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(da, NULL, &size[0], &size[1], &size[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(da, &s[0], &s[1], &s[2], &n[0], &n[1], &n[2]));
  PetscCall(DMGetCoordinates(da, &coordinates));
  PetscCall(VecGetArrayRead(coordinates, &x));
  FOR_BOX(at, s, n) {
    for (PetscInt d = 0; d < c->p.dim; d++) {
      const PetscReal expected = (at[d] + (c->p.neumann ? 0.5 : 0)) * PoissonSpacing(&c->p, size);

      if (PetscAbsScalar(x[c->p.dim * (at[0] - s[0] + n[0] * (at[1] - s[1] + n[1] * (at[2] - s[2]))) + d] - expected) >
          1e-12)
        c->right = PETSC_FALSE;
    }
  }
  PetscCall(VecRestoreArrayRead(coordinates, &x));
  PetscFunctionReturn(0);
}

static PetscErrorCode Compute(KSP ksp, Mat J, Mat A, void *ctx)
{
  Context *c = (Context *)ctx;
  DM       da;

  PetscFunctionBeginUser;
  (void)J;
  PetscCall(KSPGetDM(ksp, &da));
  /* coarse operators never take the way through another type */
  if (c->calls++ && !HasType(A, MATSTENCIL) && c->coordinates) c->right = PETSC_FALSE;
  if (c->coordinates) PetscCall(LookAtCoordinates(c, da));
  PetscCall(MatZeroEntries(A));
  PetscCall(PoissonAssemble(&c->p, da, A));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateGrid(MPI_Comm comm, Context *c, DM *da)
{
  const PetscReal shift = c->p.neumann ? 0.5 / c->p.n : 0, end = c->p.periodic ? 1 : 1 - shift;

  PetscFunctionBeginUser;
  PetscCall(PoissonCreateDM(comm, &c->p, da));
  PetscCall(DMDASetUniformCoordinates(*da, shift, end, shift, end, shift, end));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolver(MPI_Comm comm, Context *c, KSP *ksp, PC *pc)
{
  DM da;

  PetscFunctionBeginUser;
  c->calls = 0;
  PetscCall(CreateGrid(comm, c, &da));
  PetscCall(KSPCreate(comm, ksp));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetTolerances(*ksp, 1e-9, 1e-50, 1e10, 60));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetDM(*ksp, da));
  PetscCall(KSPSetComputeOperators(*ksp, Compute, c));
  PetscCall(KSPGetPC(*ksp, pc));
  PetscCall(PCSetType(*pc, PCKCYCLE));
  PetscCall(PCKCycleSetStructured(*pc, PC_KCYCLE_STRUCTURED_ON));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(const Context *c, DM da, KSP ksp, Residuals *residuals)
{
  Vec                b, x;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  if (!da) PetscCall(KSPGetDM(ksp, &da));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(PoissonFill(&c->p, da, b));
  PetscCall(KSPMonitorCancel(ksp));
  PetscCall(KSPMonitorSet(ksp, KeepResiduals, residuals, NULL));
  PetscCall(SolveSystem(ksp, b, x, NULL, &reason));
  if (reason < 0) residuals->length = 0;
  PetscCall(DestroyAll(&b, &x));
  PetscFunctionReturn(0);
}

static PetscErrorCode Agree(const Residuals *a, const Residuals *b, const char claim[])
{
  PetscBool agree = (PetscBool)(a->length == b->length && a->length > 2);

  PetscFunctionBeginUser;
  for (PetscInt i = 0; agree && i < a->length; i++)
    agree = (PetscBool)(PetscAbsReal(a->value[i] - b->value[i]) <= 1e-11 * a->value[0]);
  PetscCall(Claim(agree, claim));
  for (PetscInt i = 0; !agree && i < PetscMax(a->length, b->length); i++)
    PetscCall(Print("  %" PetscInt_FMT "  %g  %g\n", i, i < a->length ? (double)a->value[i] : 0.,
                    i < b->length ? (double)b->value[i] : 0.));
  PetscFunctionReturn(0);
}

/* PCMG with the transfers of structured levels, and operators that are assembled as ordinary matrices on the grids
   of DMCoarsen(): on one process, where rows have the same order */
static PetscErrorCode SolveAsPCMG(Context *c, PC structured, Residuals *residuals)
{
  PetscInt nlevels;
  KSP      ksp, smoother;
  PC       pc;
  DM       fine, da, coarse;
  Mat      A, P;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetLevels(structured, &nlevels));
  PetscCall(PoissonCreateDM(PETSC_COMM_SELF, &c->p, &fine));
  PetscCall(PetscObjectReference((PetscObject)fine));
  da = fine;
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-9, 1e-50, 1e10, 60));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCMG));
  PetscCall(PCMGSetLevels(pc, nlevels, NULL));
  for (PetscInt l = nlevels - 1; l >= 0; l--) {
    PetscCall(PCMGGetSmoother(pc, l, &smoother));
    PetscCall(DMSetMatType(da, MATAIJ));
    PetscCall(DMCreateMatrix(da, &A));
    PetscCall(PoissonAssemble(&c->p, da, A));
    PetscCall(KSPSetOperators(smoother, A, A));
    if (l == nlevels - 1) PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(MatDestroy(&A));
    if (l == 0) break;
    PetscCall(PCMGGetInterpolation(structured, l, &P));
    PetscCall(MatComputeOperator(P, MATAIJ, &A));
    PetscCall(PCMGSetInterpolation(pc, l, A));
    PetscCall(MatDestroy(&A));
    PetscCall(DMCoarsen(da, PETSC_COMM_SELF, &coarse));
    PetscCall(DMDestroy(&da));
    da = coarse;
  }
  PetscCall(DMDestroy(&da));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(Solve(c, fine, ksp, residuals));
  PetscCall(DestroyAll(&ksp, &fine));
  PetscFunctionReturn(0);
}

/* Each process solves the whole problem */
static PetscErrorCode SolveAlone(Context *c, Residuals *residuals)
{
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(PETSC_COMM_SELF, c, &ksp, &pc));
  PetscCall(KSPSetUp(ksp));
  PetscCall(SolveAsPCMG(c, pc, residuals));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode Assembled(Context *c)
{
  KSP       ksp, again;
  PC        pc;
  PetscInt  nlevels;
  Residuals first, other, fresh;

  PetscFunctionBeginUser;
  c->coordinates = c->right = PETSC_TRUE;
  PetscCall(CreateSolver(PETSC_COMM_WORLD, c, &ksp, &pc));
  PetscCall(Solve(c, NULL, ksp, &first));
  PetscCall(PCMGGetLevels(pc, &nlevels));
  PetscCall(Claim(first.length > 0 && nlevels == 4, "converges on 4 levels"));
  PetscCall(Claim(c->calls == nlevels, "the program assembled each level once"));
  PetscCall(
      Claim(c->right, "coarse matrices are stencils, and their grids have the coordinates that they should have"));
  PetscCall(ClaimView(pc, "assembled on the coarse grids, as stencils", PETSC_TRUE, "the view says so"));
  c->coordinates = PETSC_FALSE;
  PetscCall(SolveAlone(c, &other));
  PetscCall(Agree(
      &first, &other,
      "residual norms are those of PCMG, on one process, with the same smoothers, transfers and coarse operators"));
  c->p.scale = 7;
  PetscCall(KSPSetComputeOperators(ksp, Compute, c));
  c->calls = 0;
  PetscCall(Solve(c, NULL, ksp, &other));
  PetscCall(Claim(c->calls == nlevels, "for new values each level is assembled again"));
  PetscCall(CreateSolver(PETSC_COMM_WORLD, c, &again, &pc));
  PetscCall(Solve(c, NULL, again, &fresh));
  PetscCall(KSPDestroy(&again));
  PetscCall(Agree(&other, &fresh, "with the residual norms of a new solver"));
  PetscCall(KSPReset(ksp));
  PetscCall(Solve(c, NULL, ksp, &other));
  PetscCall(Agree(&other, &fresh, "also after KSPReset()"));
  c->p.scale = 1;
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

/* What cannot be: an error says so, with the number of points */
static PetscErrorCode Refused(Context *c)
{
  const PetscInt n = c->p.n;
  KSP            ksp;
  PC             pc;
  PetscErrorCode ierr;
  char           words[ERROR_LENGTH] = "";

  PetscFunctionBeginUser;
  c->p.n = c->p.periodic ? 35 : 36;
  PetscCall(CreateSolver(PETSC_COMM_WORLD, c, &ksp, &pc));
  KeepErrorOf(KSPSetUp(ksp), ierr, words);
  PetscCall(ClaimError(ierr, words, c->p.periodic ? "every second of 35 points in x" : "every second of 36 points in x",
                       "a size of which every second point makes no even grid is an error that says so"));
  PetscCall(KSPDestroy(&ksp));
  c->p.n = n;
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Context c = {0};

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PoissonSetFromOptions(&c.p));
  PetscCall(Assembled(&c));
  if (!c.p.neumann) PetscCall(Refused(&c));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: !complex
    args: -pc_mg_galerkin none -pc_kcycle_kappa 1 -pc_mg_levels 4 -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 2 -mg_levels_pc_type jacobi -mg_levels_ksp_richardson_scale 0.8

    test:
      suffix: stored
      nsize: {{1 2 4}}
      args: -dim {{1 2}} -n 33

    test:
      suffix: stored_3d
      nsize: {{1 4}}
      args: -dim 3 -n 17
      output_file: output/assembled_stored.out

    test:
      suffix: periodic
      nsize: {{1 3}}
      args: -dim 2 -n 32 -periodic -mg_coarse_pc_type svd
      output_file: output/assembled_stored.out

    test:
      suffix: periodic_3d
      nsize: {{1 2}}
      args: -dim 3 -n 16 -periodic -mg_coarse_pc_type svd
      output_file: output/assembled_stored.out

    test:
      suffix: cells
      nsize: {{1 3}}
      args: -dim 2 -n 32 -neumann -mg_coarse_pc_type svd

    test:
      suffix: cells_3d
      nsize: {{1 2}}
      args: -dim 3 -n 16 -neumann -mg_coarse_pc_type svd
      output_file: output/assembled_cells.out

TEST*/
