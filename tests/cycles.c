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
  PetscCall(MatMult(A, lv->x[l], lv->r[l]));
  PetscCall(VecAYPX(lv->r[l], -1.0, lv->b[l]));
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
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(VecAXPY(x, -1.0, lv.x[n - 1]));
  PetscCall(VecNorm(x, NORM_2, &difference));
  PetscCall(ClaimThat(difference <= 1e-14 * norm, "kappa %" PetscInt_FMT " is the cycle written out by hand", kappa));
  PetscCall(LevelsDestroy(&lv));
  PetscFunctionReturn(0);
}

/* <M u, v> = <u, M^T v>, without conjugation */
static PetscErrorCode CheckAdjoint(PC pc, Vec u, Vec v, const char name[])
{
  Vec         Mu, Mv;
  PetscScalar left, right;
  PetscReal   scale, norm;

  PetscFunctionBeginUser;
  PetscCall(DuplicateVec(u, &Mu, &Mv));
  PetscCall(PCApply(pc, u, Mu));
  PetscCall(PCApplyTranspose(pc, v, Mv));
  PetscCall(VecTDot(Mu, v, &left));
  PetscCall(VecTDot(u, Mv, &right));
  PetscCall(VecNorm(Mu, NORM_2, &norm));
  PetscCall(VecNorm(v, NORM_2, &scale));
  PetscCall(ClaimThat(PetscAbsScalar(left - right) <= 1e-12 * norm * scale, "%s: transpose is the adjoint", name));
  PetscCall(DestroyAll(&Mu, &Mv));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckAdjoints(PC pc, Vec u, Vec v)
{
  const PetscInt kappas[] = {1, 2, 3, PC_KCYCLE_KAPPA_W};
  char           name[64];

  PetscFunctionBeginUser;
  for (PetscInt type = 0; type < 2; type++) {
    PetscCall(PCMGSetType(pc, type ? PC_MG_FULL : PC_MG_MULTIPLICATIVE));
    for (PetscInt i = 0; i < 4; i++) {
      PetscCall(PCKCycleSetKappa(pc, kappas[i]));
      if (i < 3)
        PetscCall(
            PetscSNPrintf(name, sizeof(name), "%s, kappa %" PetscInt_FMT, type ? "full" : "multiplicative", kappas[i]));
      else PetscCall(PetscSNPrintf(name, sizeof(name), "%s, kappa w", type ? "full" : "multiplicative"));
      PetscCall(CheckAdjoint(pc, u, v, name));
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolver(DM da, Poisson *p, PCType type, KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetDM(*ksp, da));
  PetscCall(KSPSetComputeOperators(*ksp, PoissonComputeOperators, p));
  PetscCall(PCSetType(PCOf(*ksp), type));
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
  PetscCall(CreateSolver(da, &p, PCMG, &hand));
  PetscCall(CreateSolver(da, &p, PCKCYCLE, &ours));
  PetscCall(KSPGetPC(hand, &mg));
  PetscCall(KSPGetPC(ours, &kcycle));
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
