static char help[] =
    "Levels from a grid, from the operator's grid, from given interpolations, from PCGAMG and from a DMShell.\n\n";

#include "poisson.h"
#include <petscdmshell.h>

/* How a hierarchy reaches the solver */
typedef enum {
  FROM_DM,          /* PCSetDM(), or KSPSetDM() where operators are assembled anew */
  FROM_OPERATOR,    /* DMCreateMatrix() alone */
  FROM_USER,        /* PCMGSetInterpolation(), Galerkin products */
  FROM_USER_COARSE, /* PCMGSetInterpolation() and coarse operators */
  FROM_SHELL,       /* a DMShell that coarsens, with -pc_mg_levels */
  FROM_SHELL_CHAIN, /* a DMShell with DMSetCoarseDM() */
  FROM_GAMG         /* the matrix alone */
} Source;

/* The DMShell: a DMDA in hooks */

static PetscErrorCode ShellCreate(DM da, DM *shell);

static PetscErrorCode ShellCoarsen(DM shell, MPI_Comm comm, DM *coarse)
{
  DM da, dacoarse;

  PetscFunctionBeginUser;
  PetscCall(DMShellGetContext(shell, &da));
  PetscCall(DMCoarsen(da, comm, &dacoarse));
  PetscCall(ShellCreate(dacoarse, coarse));
  PetscCall(DMDestroy(&dacoarse));
  PetscFunctionReturn(0);
}

static PetscErrorCode ShellCreateInterpolation(DM coarse, DM fine, Mat *P, Vec *scaling)
{
  DM dacoarse, dafine;

  PetscFunctionBeginUser;
  PetscCall(DMShellGetContext(coarse, &dacoarse));
  PetscCall(DMShellGetContext(fine, &dafine));
  PetscCall(DMCreateInterpolation(dacoarse, dafine, P, scaling));
  PetscFunctionReturn(0);
}

static PetscErrorCode ShellCreateMatrix(DM shell, Mat *A)
{
  DM da;

  PetscFunctionBeginUser;
  PetscCall(DMShellGetContext(shell, &da));
  PetscCall(DMCreateMatrix(da, A));
  PetscCall(MatSetDM(*A, shell));
  PetscFunctionReturn(0);
}

static PetscErrorCode ShellCreateVector(DM shell, Vec *v)
{
  DM da;

  PetscFunctionBeginUser;
  PetscCall(DMShellGetContext(shell, &da));
  PetscCall(DMCreateGlobalVector(da, v));
  PetscCall(VecSetDM(*v, shell));
  PetscFunctionReturn(0);
}

static PetscErrorCode ShellCreate(DM da, DM *shell)
{
  PetscFunctionBeginUser;
  PetscCall(DMShellCreate(PETSC_COMM_WORLD, shell));
  PetscCall(DMShellSetContext(*shell, da));
  PetscCall(PetscObjectCompose((PetscObject)*shell, "grid", (PetscObject)da)); /* keeps a reference */
  PetscCall(DMShellSetCoarsen(*shell, ShellCoarsen));
  PetscCall(DMShellSetCreateInterpolation(*shell, ShellCreateInterpolation));
  PetscCall(DMShellSetCreateMatrix(*shell, ShellCreateMatrix));
  PetscCall(DMShellSetCreateGlobalVector(*shell, ShellCreateVector));
  PetscFunctionReturn(0);
}

/* Only a DMShell has the next coarser one */
static PetscErrorCode ShellCreateChain(DM da, PetscInt nlevels, DM *shell)
{
  DM dacoarse, coarse;

  PetscFunctionBeginUser;
  PetscCall(ShellCreate(da, shell));
  if (nlevels > 1) {
    PetscCall(DMCoarsen(da, PETSC_COMM_WORLD, &dacoarse));
    PetscCall(ShellCreateChain(dacoarse, nlevels - 1, &coarse));
    PetscCall(DMSetCoarseDM(*shell, coarse));
    PetscCall(DestroyAll(&coarse, &dacoarse));
  }
  PetscFunctionReturn(0);
}

/* Solvers with one hierarchy or the other */
static PetscErrorCode GiveHierarchy(Poisson *p, DM da, KSP ksp, Source source, PetscInt nlevels, PetscBool anew)
{
  Mat A;
  DM  dm = NULL;

  PetscFunctionBeginUser;
  if (source == FROM_DM) {
    PetscCall(PetscObjectReference((PetscObject)da));
    dm = da;
  } else if (source == FROM_SHELL) PetscCall(ShellCreate(da, &dm));
  else if (source == FROM_SHELL_CHAIN) PetscCall(ShellCreateChain(da, nlevels, &dm));
  if (dm && anew) PetscCall(KSPSetDM(ksp, dm));
  else if (dm) PetscCall(PCSetDM(PCOf(ksp), dm));
  PetscCall(DMDestroy(&dm));
  if (anew) {
    PetscCall(KSPSetComputeOperators(ksp, PoissonComputeOperators, p));
    PetscFunctionReturn(0);
  }
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(PoissonAssemble(p, da, A));
  if (source != FROM_OPERATOR) PetscCall(MatSetDM(A, NULL));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(MatDestroy(&A));
  if (source == FROM_USER || source == FROM_USER_COARSE)
    PetscCall(PoissonGiveInterpolations(source == FROM_USER_COARSE ? p : NULL, da, PCOf(ksp), nlevels));
  PetscFunctionReturn(0);
}

/* Convergence is checked; levels are those that were used */
static PetscErrorCode Solve(Poisson *p, PCType type, PetscInt kappa, Source source, PetscInt *nlevels, PetscBool anew,
                            Residuals *residuals)
{
  DM                 da;
  KSP                ksp;
  PC                 pc;
  Vec                b, x;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, p, &da));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPFCG));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 50));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, type));
  if (source == FROM_GAMG && kappa) PetscCall(PCKCycleSetHierarchy(pc, PC_KCYCLE_HIERARCHY_GAMG));
  if (kappa) PetscCall(PCKCycleSetKappa(pc, kappa));
  if (source == FROM_SHELL) PetscCall(PCMGSetLevels(pc, *nlevels, NULL));
  PetscCall(GiveHierarchy(p, da, ksp, source, *nlevels, anew));
  PetscCall(KSPMonitorSet(ksp, KeepResiduals, residuals, NULL));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(PoissonFill(p, da, b));
  PetscCall(SolveSystem(ksp, b, x, NULL, &reason));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "Not converged: %s", KSPConvergedReasons[reason]);
  PetscCall(PCMGGetLevels(pc, nlevels));
  PetscCall(DestroyAll(&b, &x, &ksp, &da));
  PetscFunctionReturn(0);
}

static PetscErrorCode CompareSources(Poisson *p)
{
  PetscInt  nlevels = 0, shell;
  Residuals galerkin, anew, other;

  PetscFunctionBeginUser;
  PetscCall(Solve(p, PCKCYCLE, 2, FROM_DM, &nlevels, PETSC_FALSE, &galerkin));
  PetscCall(Solve(p, PCKCYCLE, 2, FROM_DM, &nlevels, PETSC_TRUE, &anew));
  PetscCall(ClaimEqual(&galerkin, &anew, PETSC_FALSE, "Galerkin products are not operators assembled anew"));
  PetscCall(Solve(p, PCKCYCLE, 2, FROM_OPERATOR, &nlevels, PETSC_FALSE, &other));
  PetscCall(ClaimEqual(&galerkin, &other, PETSC_TRUE, "grid of the operator gives the numbers of PCSetDM()"));
  PetscCall(Solve(p, PCKCYCLE, 2, FROM_USER, &nlevels, PETSC_FALSE, &other));
  PetscCall(ClaimEqual(&galerkin, &other, PETSC_TRUE, "so do interpolations of the user"));
  PetscCall(Solve(p, PCKCYCLE, 2, FROM_USER_COARSE, &nlevels, PETSC_FALSE, &other));
  PetscCall(ClaimEqual(&anew, &other, PETSC_TRUE,
                       "interpolations and coarse operators of the user give those of KSPSetComputeOperators()"));
  shell = nlevels;
  PetscCall(Solve(p, PCKCYCLE, 2, FROM_SHELL, &shell, PETSC_FALSE, &other));
  PetscCall(ClaimEqual(&galerkin, &other, PETSC_TRUE,
                       "a DMShell that coarsens and has its number of levels gives those of PCSetDM()"));
  PetscCall(Solve(p, PCKCYCLE, 2, FROM_SHELL_CHAIN, &shell, PETSC_FALSE, &other));
  PetscCall(ClaimEqual(&galerkin, &other, PETSC_TRUE, "so does a chain of DMShells without a number of levels"));
  PetscCall(Claim(nlevels == shell, "with the same number of levels"));
  PetscFunctionReturn(0);
}

/* On more than two processes PCGAMG adds contributions as they arrive, and its own last digits change from run to
   run */
static PetscErrorCode ClaimLikeGAMG(const Residuals *gamg, const Residuals *v, const char claim[])
{
  PetscBool close = (PetscBool)(gamg->length == v->length);

  PetscFunctionBeginUser;
  if (PetscGlobalSize <= 2) {
    PetscCall(ClaimEqual(gamg, v, PETSC_TRUE, claim));
    PetscFunctionReturn(0);
  }
  for (PetscInt i = 0; close && i < v->length; i++)
    close = (PetscBool)(PetscAbsReal(v->value[i] / gamg->value[i] - 1) < 1e-6);
  PetscCall(Claim(close, claim));
  PetscFunctionReturn(0);
}

static PetscErrorCode LevelsOfGAMG(Poisson *p)
{
  PetscInt  nlevels;
  Residuals gamg, v, f, w;

  PetscFunctionBeginUser;
  PetscCall(Solve(p, PCGAMG, 0, FROM_GAMG, &nlevels, PETSC_FALSE, &gamg));
  PetscCall(Solve(p, PCKCYCLE, 1, FROM_GAMG, &nlevels, PETSC_FALSE, &v));
  PetscCall(ClaimLikeGAMG(&gamg, &v, "kappa 1 on the levels of PCGAMG gives the numbers of PCGAMG"));
  PetscCall(Solve(p, PCKCYCLE, 2, FROM_GAMG, &nlevels, PETSC_FALSE, &f));
  PetscCall(Solve(p, PCKCYCLE, PC_KCYCLE_KAPPA_W, FROM_GAMG, &nlevels, PETSC_FALSE, &w));
  PetscCall(Claim(nlevels > 3, "there are at least four levels"));
  PetscCall(ClaimEqual(&gamg, &f, PETSC_FALSE, "kappa 2 converges with other numbers"));
  PetscCall(ClaimEqual(&f, &w, PETSC_FALSE, "kappa w converges with again other numbers"));
  PetscCall(Claim(w.length <= f.length && f.length <= v.length, "larger kappa does not need more iterations"));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Poisson p;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PoissonSetFromOptions(&p));
  if (Given("-gamg")) PetscCall(LevelsOfGAMG(&p));
  else PetscCall(CompareSources(&p));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    nsize: {{1 2 3 4}}
    output_file: output/hierarchies_sources.out

    test:
      suffix: small_sources
      args: -pc_kcycle_structured off -dim {{1 2}} -n 33

    test:
      suffix: sources_3d
      args: -pc_kcycle_structured off -dim 3 -n 17

  test:
    suffix: sources_cells
    nsize: {{1 2 4}}
    args: -pc_kcycle_structured off -dim 2 -n 40 -neumann -ksp_type cg
    output_file: output/hierarchies_sources.out

  testset:
    nsize: {{1 2 3 4}}
    output_file: output/hierarchies_gamg.out

    test:
      suffix: gamg
      args: -gamg -n 65 -pc_gamg_coarse_eq_limit 5

    test:
      suffix: gamg_3d
      args: -gamg -dim 3 -n 17 -pc_gamg_coarse_eq_limit 5

TEST*/
