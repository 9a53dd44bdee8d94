static char help[] = "The profile of components and levels: rows add up to the time of the cycles, calls are those of "
                     "the kappa-cycle.\n\n";

#include "poisson.h"

#define CYCLES 4

/* Numbers of a component of a level, from the text of a profile */
static PetscErrorCode Find(const char text[], PetscInt level, const char component[], double *calls, double *seconds)
{
  char  row[128];
  char *at;
  long  n = 0;

  PetscFunctionBeginUser;
  *calls = *seconds = 0;
  PetscCall(PetscSNPrintf(row, sizeof(row), "\n%" PetscInt_FMT ",%s,", level, component));
  PetscCall(PetscStrstr(text, row, &at));
  if (at && sscanf(at + strlen(row), "%ld,%lf", &n, seconds) == 2) *calls = (double)n;
  PetscFunctionReturn(0);
}

/* Is the sum of the rows the time of all cycles, within 5 %? A cycle on a small level is over before the clock moves */
static PetscErrorCode AddsUp(const char text[], PetscBool *adds)
{
  const char *line = strchr(text, '\n');
  double      sum = 0, total = 0, seconds;
  char        level[8], component[64];
  long        calls;

  PetscFunctionBeginUser;
  for (; line && line[1]; line = strchr(line + 1, '\n')) {
    if (sscanf(line + 1, "%7[^,],%63[^,],%ld,%lf", level, component, &calls, &seconds) != 4) continue;
    if (strcmp(level, "all")) sum += seconds;
    else total = seconds;
  }
  *adds = (PetscBool)(total > 0 && sum <= 1.001 * total && sum >= 0.95 * total);
  if (!*adds) PetscCall(PetscPrintf(PETSC_COMM_SELF, "  rows %g s, cycles %g s\n", sum, total));
  PetscFunctionReturn(0);
}

/* On every level of a V-, F-, ... cycle; the coarsest problem is solved once for each visit of the level above it */
static PetscErrorCode CallsFit(PC pc, const char text[], PetscBool fused, PetscBool *fit)
{
  PetscInt nlevels, kappa;

  PetscFunctionBeginUser;
  *fit = PETSC_TRUE;
  PetscCall(PCMGGetLevels(pc, &nlevels));
  PetscCall(PCKCycleGetKappa(pc, &kappa));
  for (PetscInt l = 0; l < nlevels; l++) {
    PetscInt64 calls;
    double     found[5], seconds, expected;

    PetscCall(PCKCycleComputeLevelCalls(kappa, nlevels - PetscMax(l, 1), &calls));
    expected = CYCLES * (double)calls;
    PetscCall(Find(text, l, "coarse solve", &found[0], &seconds));
    if (!l && found[0] != expected) *fit = PETSC_FALSE;
    if (!l) continue;
    PetscCall(Find(text, l, fused ? "smoothing+residual+restriction" : "residual", &found[1], &seconds));
    PetscCall(Find(text, l, fused ? "interpolation+smoothing" : "interpolation", &found[2], &seconds));
    PetscCall(Find(text, l, "smoothing", &found[3], &seconds));
    PetscCall(Find(text, l, "restriction", &found[4], &seconds));
    if (found[1] != expected || found[2] != expected) *fit = PETSC_FALSE;
    if (found[3] != (fused ? 0 : 2 * expected) || found[4] != (fused ? 0 : expected)) *fit = PETSC_FALSE;
  }
  PetscFunctionReturn(0);
}

/* The profile as numbers between commas; "" on processes but the first */
static PetscErrorCode ProfileText(PC pc, char **text)
{
  size_t      len;
  FILE       *file = open_memstream(text, &len);
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "No memory for the view");
  PetscCall(PetscViewerASCIIOpenWithFILE(PetscObjectComm((PetscObject)pc), file, &viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_CSV));
  PetscCall(PCKCycleViewProfile(pc, viewer));
  PetscCall(PetscViewerPopFormat(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCheck(!fclose(file), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "The view cannot be closed");
  PetscFunctionReturn(0);
}

static PetscErrorCode Case(const char name[], PetscInt kappa, PetscBool ours, PetscBool single)
{
  PoissonSolver s;
  PetscBool     adds = PETSC_TRUE, fit = PETSC_TRUE, has, fused;
  char         *text;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(&s, sizeof(s)));
  s.p.dim        = 2;
  s.p.n          = ours ? 513 : 257;
  s.p.scale      = 1;
  s.p.anisotropy = 1;
  PetscCall(PoissonSolverCreate(PETSC_COMM_WORLD, KSPRICHARDSON, &s));
  PetscCall(PCKCycleSetKappa(s.pc, kappa));
  PetscCall(PCKCycleSetProcEqLim(s.pc, 0));
  PetscCall(PCKCycleSetProfile(s.pc, PETSC_TRUE));
  PetscCall(PCKCycleGetProfile(s.pc, &has));
  PetscCheck(has, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The profile is not wanted");
  if (single) PetscCall(PCKCycleSetPrecision(s.pc, PC_KCYCLE_PRECISION_SINGLE));
  if (!ours) PetscCall(PetscOptionsSetValue(NULL, "-mg_levels_ksp_type", "chebyshev"));
  PetscCall(KSPSetFromOptions(s.ksp));
  if (!ours) PetscCall(PetscOptionsClearValue(NULL, "-mg_levels_ksp_type"));
  PetscCall(PCSetUp(s.pc));
  PetscCall(PoissonFill(&s.p, s.da, s.b));
  for (int i = 0; i < CYCLES; i++) PetscCall(PCApply(s.pc, s.b, s.x));
  PetscCall(ViewHas(s.pc, "fused", &fused));
  PetscCall(ProfileText(s.pc, &text));
  if (PetscGlobalRank == 0) {
    PetscCall(AddsUp(text, &adds));
    PetscCall(CallsFit(s.pc, text, fused, &fit));
  }
  free(text);
  PetscCallMPI(MPI_Bcast(&adds, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Bcast(&fit, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  PetscCall(Print("%s\n", name));
  PetscCall(Claim(adds, "  rows add up to the time of the cycles"));
  PetscCall(Claim(fit, "  calls are those of the kappa-cycle"));
  PetscCall(ClaimView(s.pc, "profile: 4 cycles took", PETSC_TRUE, "  the view has it"));
  PetscCall(PoissonSolverDestroy(&s));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(Case("V-cycle on arrays", 1, PETSC_TRUE, PETSC_FALSE));
  PetscCall(Case("kappa 3 on arrays", 3, PETSC_TRUE, PETSC_FALSE));
#if !defined(PETSC_USE_COMPLEX)
  PetscCall(Case("kappa 2 in single precision", 2, PETSC_TRUE, PETSC_TRUE));
#else
  PetscCall(Case("kappa 2 in single precision", 2, PETSC_TRUE, PETSC_FALSE));
#endif
  PetscCall(Case("kappa 2, run by PCMG", 2, PETSC_FALSE, PETSC_FALSE));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    nsize: {{1 2}}

TEST*/
