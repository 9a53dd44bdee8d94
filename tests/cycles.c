static char help[] = "The kappa-cycle against cycles written out by hand: Algorithm 2 (F), Algorithm 3 (any kappa), "
                     "and its adjoint.\n\n";

#include "poisson.h"

/* The levels of a set-up PCMG, seen through its public interface; the finest is level n - 1 */
typedef struct {
  PC  pc;
  Vec b[16], x[16], r[16], correction[16];
} Levels;

static PetscErrorCode LevelsCreate(PC pc, Levels *lv)
{
  PetscInt n;
  KSP      ksp;
  Mat      A;

  PetscFunctionBeginUser;
  lv->pc = pc;
  PetscCall(PCMGGetLevels(pc, &n));
  for (PetscInt l = 0; l < n; l++) {
    PetscCall(PCMGGetSmoother(pc, l, &ksp));
    PetscCall(KSPGetOperators(ksp, &A, NULL));
    PetscCall(MatCreateVecs(A, &lv->x[l], &lv->b[l]));
    PetscCall(DuplicateVec(lv->x[l], &lv->r[l], &lv->correction[l]));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode LevelsDestroy(Levels *lv)
{
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetLevels(lv->pc, &n));
  for (PetscInt l = 0; l < n; l++) PetscCall(DestroyAll(&lv->b[l], &lv->x[l], &lv->r[l], &lv->correction[l]));
  PetscFunctionReturn(0);
}

/* The coarsest solver starts from zero, or from where it is if options say so */
static PetscErrorCode Smooth(Levels *lv, PetscInt l)
{
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetSmoother(lv->pc, l, &ksp));
  if (l) PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(KSPSolve(ksp, lv->b[l], lv->x[l]));
  PetscFunctionReturn(0);
}

/* Line 3: right side of the coarser level */
static PetscErrorCode RestrictResidual(Levels *lv, PetscInt l)
{
  KSP ksp;
  Mat A, R;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetSmoother(lv->pc, l, &ksp));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatResidual(A, lv->b[l], lv->x[l], lv->r[l]));
  PetscCall(PCMGGetRestriction(lv->pc, l, &R));
  PetscCall(MatRestrict(R, lv->r[l], lv->b[l - 1]));
  PetscCall(VecSet(lv->x[l - 1], 0.0));
  PetscFunctionReturn(0);
}

static PetscErrorCode AddCorrection(Levels *lv, PetscInt l)
{
  Mat P;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetInterpolation(lv->pc, l, &P));
  PetscCall(MatInterpolate(P, lv->x[l - 1], lv->correction[l]));
  PetscCall(VecAXPY(lv->x[l], 1.0, lv->correction[l]));
  PetscFunctionReturn(0);
}

/* Algorithm 1 with gamma = 1 */
static PetscErrorCode VCycle(Levels *lv, PetscInt l)
{
  PetscFunctionBeginUser;
  PetscCall(Smooth(lv, l));
  if (l == 0) PetscFunctionReturn(0);
  PetscCall(RestrictResidual(lv, l));
  PetscCall(VCycle(lv, l - 1));
  PetscCall(AddCorrection(lv, l));
  PetscCall(Smooth(lv, l));
  PetscFunctionReturn(0);
}

/* Algorithm 2 */
static PetscErrorCode FCycle(Levels *lv, PetscInt l)
{
  PetscFunctionBeginUser;
  PetscCall(Smooth(lv, l));
  if (l == 0) PetscFunctionReturn(0);
  PetscCall(RestrictResidual(lv, l));
  PetscCall(FCycle(lv, l - 1));
  PetscCall(VCycle(lv, l - 1));
  PetscCall(AddCorrection(lv, l));
  PetscCall(Smooth(lv, l));
  PetscFunctionReturn(0);
}

/* kappa = 3 on five levels with every call written down, by its finest level: c(l, kappa) = { c(l-1, kappa), c(l-1,
   kappa-1) } */
static PetscErrorCode ThreeCycle(Levels *lv, PetscInt l)
{
  PetscFunctionBeginUser;
  PetscCall(Smooth(lv, l));
  if (l == 0) PetscFunctionReturn(0);
  PetscCall(RestrictResidual(lv, l));
  PetscCall(ThreeCycle(lv, l - 1));
  PetscCall(FCycle(lv, l - 1));
  PetscCall(AddCorrection(lv, l));
  PetscCall(Smooth(lv, l));
  PetscFunctionReturn(0);
}

static PetscErrorCode CompareWithHand(PC mg, PC kcycle, Vec b, Vec x, PetscInt kappa,
                                      PetscErrorCode (*cycle)(Levels *, PetscInt))
{
  Levels    lv;
  PetscInt  n;
  PetscReal norm, difference;

  PetscFunctionBeginUser;
  PetscCall(LevelsCreate(mg, &lv));
  PetscCall(PCMGGetLevels(mg, &n));
  PetscCall(VecCopy(b, lv.b[n - 1]));
  PetscCall(VecSet(lv.x[n - 1], 0.0));
  PetscCall((*cycle)(&lv, n - 1));
  PetscCall(PCKCycleSetKappa(kcycle, kappa));
  PetscCall(PCApply(kcycle, b, x));
  PetscCall(DifferenceNorms(x, lv.x[n - 1], NORM_2, &difference, &norm));
  PetscCall(ClaimThat(difference <= 1e-14 * norm, "kappa %" PetscInt_FMT " is the cycle written out by hand", kappa));
  PetscCall(LevelsDestroy(&lv));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckAdjoints(PC pc, Vec u, Vec v)
{
  const PetscInt    kappas[] = {1, 2, 3, PC_KCYCLE_KAPPA_W};
  const char *const names[]  = {"1", "2", "3", "w"};
  PetscReal         error;

  PetscFunctionBeginUser;
  for (PetscInt type = 0; type < 2; type++) {
    PetscCall(PCMGSetType(pc, type ? PC_MG_FULL : PC_MG_MULTIPLICATIVE));
    for (PetscInt i = 0; i < 4; i++) {
      PetscCall(PCKCycleSetKappa(pc, kappas[i]));
      PetscCall(AdjointError(pc, PETSC_TRUE, u, v, &error));
      PetscCall(ClaimThat(error <= 1e-12, "%s, kappa %s: transpose is the adjoint", type ? "full" : "multiplicative",
                          names[i]));
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolver(DM da, Poisson *p, PCType type, KSP *ksp, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PoissonMakeKSP(p, da, type, ksp, pc));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPSetUp(*ksp));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Poisson p;
  DM      da;
  KSP     hand, ours;
  PC      mg, kcycle;
  Vec     b, x;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PoissonSetFromOptions(&p));
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, &p, &da));
  PetscCall(CreateSolver(da, &p, PCMG, &hand, &mg));
  PetscCall(CreateSolver(da, &p, PCKCYCLE, &ours, &kcycle));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(PoissonFill(&p, da, b));
  if (!Given("-adjoint")) {
    PetscCall(CompareWithHand(mg, kcycle, b, x, 1, VCycle));
    PetscCall(CompareWithHand(mg, kcycle, b, x, 2, FCycle));
    PetscCall(CompareWithHand(mg, kcycle, b, x, 3, ThreeCycle));
  } else {
    PetscCall(VecSet(x, 1.0));
    PetscCall(VecPointwiseMult(x, b, b));
    PetscCall(CheckAdjoints(kcycle, b, x));
  }
  PetscCall(DestroyAll(&b, &x, &hand, &ours, &da));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -pc_kcycle_structured off -pc_mg_levels 5
    nsize: {{1 2 4}}
    output_file: output/cycles_hand.out

    test:
      suffix: hand
      args: -n 65 -pc_mg_galerkin {{none both}}

    test:
      suffix: hand_3d
      args: -dim 3 -n 17 -mg_levels_pc_type jacobi

    test:
      suffix: hand_continued
      args: -n 65 -mg_levels_pc_type jacobi -mg_coarse_ksp_type richardson -mg_coarse_ksp_richardson_scale 0.7 -mg_coarse_ksp_max_it 2 -mg_coarse_pc_type jacobi
      args: -mg_coarse_ksp_initial_guess_nonzero

  testset:
    args: -pc_kcycle_structured off -pc_mg_levels 4 -adjoint
    nsize: {{1 2 3}}
    output_file: output/cycles_adjoint.out

    test:
      suffix: adjoint
      args: -n 33 -mg_levels_ksp_type richardson -mg_levels_ksp_max_it {{1 2}} -mg_levels_pc_type jacobi -mg_levels_ksp_richardson_scale 0.7

    test:
      suffix: adjoint_distinct
      args: -n 33 -pc_mg_distinct_smoothup -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1 -mg_levels_up_ksp_type richardson -mg_levels_up_ksp_max_it 3 -mg_levels_pc_type jacobi -mg_levels_up_pc_type jacobi -mg_levels_ksp_richardson_scale 0.5

TEST*/
