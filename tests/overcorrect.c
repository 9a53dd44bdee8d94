static char help[] = "Over-correction, -pc_kcycle_overcorrect: corrections of the finest level are multiplied, by \
our levels and by PCMG.\n\n";

#include "poisson.h"

/* x <- M b, M the preconditioner with a factor, or its transpose */
static PetscErrorCode Apply(PoissonSolver *s, PetscReal factor, PetscBool transpose, Vec x)
{
  PetscFunctionBeginUser;
  PetscCall(PCKCycleSetOvercorrect(s->pc, factor));
  PetscCall(PCSetUp(s->pc));
  PetscCall(transpose ? PCApplyTranspose(s->pc, s->b, x) : PCApply(s->pc, s->b, x));
  PetscFunctionReturn(0);
}

/* Relative to what the factor changes: M b is an affine function of the factor, as the correction is, and what it
   changes is what the correction changes. other: a solver whose levels PCMG runs has the same */
static PetscErrorCode IsAffine(PoissonSolver *s, PoissonSolver *other, PetscBool transpose, PetscReal rounding,
                               PetscBool *yes)
{
  Vec       one, more, twice;
  PetscReal change, rest, apart;

  PetscFunctionBeginUser;
  PetscCall(DuplicateVec(s->x, &one, &more, &twice));
  PetscCall(Apply(s, 1, transpose, one));
  PetscCall(Apply(s, 1.25, transpose, more));
  PetscCall(Apply(s, 1.5, transpose, twice));
  PetscCall(Apply(other, 1.5, transpose, other->x));
  PetscCall(VecAXPY(other->x, -1, twice));
  PetscCall(VecNorm(other->x, NORM_2, &apart));
  PetscCall(VecAXPY(more, -1, one));
  PetscCall(VecAXPY(twice, -1, one));
  PetscCall(VecNorm(twice, NORM_2, &change));
  PetscCall(VecAXPY(twice, -2, more));
  PetscCall(VecNorm(twice, NORM_2, &rest));
  *yes = (PetscBool)(change > 0.05 && rest < rounding * change && apart < rounding * change);
  if (!*yes) PetscCall(Print("  %g of %g, apart %g\n", (double)rest, (double)change, (double)apart));
  PetscCall(DestroyAll(&one, &more, &twice));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(PetscBool inherited, PetscReal *rounding, PoissonSolver *s)
{
  PCKCyclePrecisionType precision;
  KSP                   fine;
  PetscInt              nlevels;

  PetscFunctionBeginUser;
  PetscCall(PoissonSetFromOptions(&s->p));
  PetscCall(PoissonSolverCreate(PETSC_COMM_WORLD, KSPRICHARDSON, s));
  PetscCall(KSPSetFromOptions(s->ksp));
  PetscCall(PCKCycleGetPrecision(s->pc, &precision));
  *rounding = precision == PC_KCYCLE_PRECISION_SINGLE ? 1e-4 : 1e-9;
  if (inherited) PetscCall(PCKCycleSetPrecision(s->pc, PC_KCYCLE_PRECISION_DOUBLE));
  PetscCall(KSPSetUp(s->ksp));
  if (inherited) { /* a norm is something that arrays have not */
    PetscCall(PCMGGetLevels(s->pc, &nlevels));
    PetscCall(PCMGGetSmoother(s->pc, nlevels - 1, &fine));
    PetscCall(KSPSetNormType(fine, KSP_NORM_UNPRECONDITIONED));
  }
  PetscFunctionReturn(0);
}

/* Iterations of KSPRICHARDSON */
static PetscErrorCode Iterations(PoissonSolver *s, PetscReal factor, PetscInt *its)
{
  PetscFunctionBeginUser;
  PetscCall(PCKCycleSetOvercorrect(s->pc, factor));
  PetscCall(PoissonSolverSolve(s, 0, NULL));
  PetscCall(KSPGetIterationNumber(s->ksp, its));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PoissonSolver  s = {0}, other = {0};
  PetscInt       plain, over, its;
  PetscReal      rounding;
  PetscBool      yes, fewer;
  PetscErrorCode ierr;
  Vec            x;

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(Create(PETSC_TRUE, &rounding, &other));
  PetscCall(Create(PETSC_FALSE, &rounding, &s));
  PetscCall(IsAffine(&s, &other, PETSC_FALSE, rounding, &yes));
  PetscCall(Claim(yes, "corrections are multiplied, by PCMG too"));
  PetscCall(IsAffine(&s, &other, PETSC_TRUE, rounding, &yes));
  PetscCall(Claim(yes, "those of the transpose, too"));
  PetscCall(ClaimView(s.pc, "to the finest one are multiplied by 1.5", PETSC_TRUE, "the view says so"));
  fewer = PETSC_TRUE;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-fewer", &fewer, NULL));
  PetscCall(Iterations(&s, 1, &plain));
  PetscCall(Iterations(&s, 1.06, &over));
  yes = (PetscBool)(fewer ? over < plain : over <= plain);
  if (!yes) PetscCall(Print("  %" PetscInt_FMT " and %" PetscInt_FMT "\n", over, plain));
  PetscCall(Claim(yes, "KSPRICHARDSON does with fewer iterations"));
  PetscCall(Iterations(&other, 1.06, &its));
  PetscCall(Claim(PetscAbsInt(its - over) <= (rounding > 1e-6), "as many where PCMG runs levels"));
  PetscCall(PCMGSetType(other.pc, PC_MG_ADDITIVE));
  PetscCall(VecDuplicate(other.x, &x));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = PCApply(other.pc, other.b, x);
  PetscCall(PetscPopErrorHandler());
  yes = (PetscBool)(ierr == PETSC_ERR_SUP || ierr == PETSC_ERR_ARG_INCOMP); /* the second with -pc_kcycle_kappa */
  PetscCall(Claim(yes, "additive multigrid has none: an error"));
  PetscCall(VecDestroy(&x));
  PetscCall(PoissonSolverDestroy(&s));
  PetscCall(PoissonSolverDestroy(&other));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: !complex double
    output_file: output/overcorrect.out
    nsize: {{1 2 4}}

    test:
      args: -n 65 -malloc_dump

    test:
      suffix: kappa
      args: -pc_kcycle_kappa 3 -n 65 -fewer 0

    test:
      suffix: 3d
      args: -dim 3 -n 17 -neumann -pc_kcycle_process_eq_limit 0

    test:
      suffix: single
      args: -dim 3 -n 33 -pc_kcycle_precision single

    test:
      suffix: full
      args: -n 65 -pc_mg_type full -fewer 0

    test:
      suffix: general
      args: -n 65 -pc_kcycle_structured off -pc_mg_galerkin both -mg_levels_ksp_type richardson -mg_levels_pc_type jacobi -mg_levels_ksp_richardson_scale 0.8 -fewer 0

TEST*/
