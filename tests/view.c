static char help[] = "What the view says, and what the log counts.\n\n";

#include "poisson.h"

#define LEVELS 5

typedef struct {
  Poisson p;
  DM      da;
  Mat     A;
  Vec     b, x;
  PC      pc;
} Problem;

static PetscErrorCode Create(Problem *s, PetscInt kappa)
{
  PetscFunctionBeginUser;
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, &s->p, &s->da));
  PetscCall(DMCreateMatrix(s->da, &s->A));
  PetscCall(PoissonAssemble(&s->p, s->da, s->A));
  PetscCall(MatCreateVecs(s->A, &s->x, &s->b));
  PetscCall(PoissonFill(&s->p, s->da, s->b));
  PetscCall(MakePC(s->A, PCKCYCLE, &s->pc));
  PetscCall(PCMGSetLevels(s->pc, LEVELS, NULL));
  if (kappa) PetscCall(PCKCycleSetKappa(s->pc, kappa));
  PetscCall(PCSetFromOptions(s->pc));
  PetscFunctionReturn(0);
}

static PetscErrorCode Destroy(Problem *s)
{
  return DestroyAll(&s->pc, &s->A, &s->b, &s->x, &s->da);
}

static PetscErrorCode IsStructured(PC pc, PetscBool *structured)
{
  PCKCycleStructuredType choice;

  PetscFunctionBeginUser;
  PetscCall(PCKCycleGetStructured(pc, &choice));
  *structured = (PetscBool)(choice == PC_KCYCLE_STRUCTURED_ON);
  PetscFunctionReturn(0);
}

static PetscErrorCode ClaimSays(PC pc, const char words[])
{
  PetscBool has = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(ViewHas(pc, words, &has));
  PetscCall(ClaimThat(has, "the view says \"%s\"", words));
  PetscFunctionReturn(0);
}

/*
  The table of levels, on the process that has it: level, rows, entries, calls, bytes, where, solver, finest first.
  Structured levels have no more entries in a row than the finest, and store less than all entries
*/
static PetscErrorCode CheckTable(const char text[], PetscInt n, PetscInt kappa, PetscBool structured, PetscBool *good)
{
  const char *line = strstr(text, "level         rows");
  double      rows, entries, calls, bytes, sums[3] = {0, 0, 0};
  int         level;
  PetscInt64  expected;
  char        where[16];

  PetscFunctionBeginUser;
  *good = PETSC_FALSE;
  for (PetscInt l = LEVELS - 1; l >= 0; l--) {
    line = line ? strchr(line, '\n') : NULL;
    if (!line || sscanf(++line, "%d %lf %lf %lf %lf %15s", &level, &rows, &entries, &calls, &bytes, where) != 6)
      PetscFunctionReturn(0);
    PetscCall(PCKCycleComputeLevelCalls(kappa, LEVELS - l, &expected));
    if (level != l || calls != (double)expected || rows != (double)(n * n) ||
        bytes <= (structured ? 0 : entries * (double)sizeof(PetscScalar)) || strcmp(where, "host"))
      PetscFunctionReturn(0);
    n = (n + 1) / 2;
    sums[0] += rows;
    sums[1] += calls;
    sums[2] += bytes;
  }
  line = strchr(line, '\n');
  if (!line || sscanf(++line, " calls in a cycle %lf, grid complexity %lf", &calls, &rows) != 2) PetscFunctionReturn(0);
  line = strstr(line, "operator complexity");
  if (!line || sscanf(line, "operator complexity %lf, %lf bytes", &entries, &bytes) != 2) PetscFunctionReturn(0);
  PetscCall(PCKCycleComputeTotalCalls(kappa, LEVELS, &expected));
  *good = (PetscBool)(calls == (double)expected && calls == sums[1] && bytes == sums[2] && rows > 1 && rows < 2 &&
                      (structured || entries > rows));
  PetscFunctionReturn(0);
}

static PetscErrorCode Table(Problem *s)
{
  const PetscInt kappa[]    = {1, 2, 3, 4, 5, PC_KCYCLE_KAPPA_W};
  PetscMPIInt    good       = 1;
  PetscBool      structured = PETSC_FALSE;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 6; i++) {
    char     *text;
    PetscBool right = PETSC_TRUE;

    PetscCall(Create(s, kappa[i]));
    PetscCall(PCSetUp(s->pc));
    PetscCall(ViewText(s->pc, &text));
    PetscCall(IsStructured(s->pc, &structured));
    if (!PetscGlobalRank) PetscCall(CheckTable(text, s->p.n, kappa[i], structured, &right));
    if (!right) good = 0;
    if (!right) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s\n", text));
    free(text);
    PetscCall(Destroy(s));
  }
  PetscCallMPI(MPI_Bcast(&good, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  PetscCall(Claim(good ? PETSC_TRUE : PETSC_FALSE, "calls per level and totals of the view are those of the formulas"));
  PetscFunctionReturn(0);
}

static PetscErrorCode Words(Problem *s)
{
  PetscBool structured = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(Create(s, 0));
  PetscCall(ClaimSays(s->pc, "kappa-cycle of Avnat and Yavneh, kappa=2 (F-cycle)"));
  PetscCall(PCSetUp(s->pc));
  PetscCall(ClaimSays(s->pc, "5 levels, hierarchy dm"));
  PetscCall(IsStructured(s->pc, &structured));
  PetscCall(ClaimSays(s->pc, structured ? "coarse operators: Galerkin products, as stencils"
                                        : "coarse operators: Galerkin products (the program provides no others)"));
  PetscCall(ClaimSays(s->pc, structured ? "4 grid 33 x 33 x 1, 5 points"
                                        : "levels are not structured: -pc_kcycle_structured off"));
  PetscCall(PCKCycleSetKappa(s->pc, 1));
  PetscCall(ClaimSays(s->pc, "kappa=1 (V-cycle)"));
  PetscCall(PCKCycleSetKappa(s->pc, 4));
  PetscCall(ClaimSays(s->pc, "kappa=4"));
  PetscCall(PCKCycleSetKappa(s->pc, 5));
  PetscCall(ClaimSays(s->pc, "kappa=5 (W-cycle)"));
  PetscCall(PCKCycleSetKappa(s->pc, PC_KCYCLE_KAPPA_W));
  PetscCall(ClaimSays(s->pc, "kappa=infinity (W-cycle)"));
  PetscCall(PCMGSetType(s->pc, PC_MG_FULL));
  PetscCall(ClaimSays(s->pc, "full multigrid with the kappa-cycle"));
  PetscCall(Destroy(s));
  PetscCall(Create(s, 0));
  PetscCall(PCMGSetType(s->pc, PC_MG_ADDITIVE));
  PetscCall(PCSetUp(s->pc));
  PetscCall(ClaimSays(s->pc, "additive multigrid: kappa is not used"));
  PetscCall(PCMGSetType(s->pc, PC_MG_KASKADE));
  PetscCall(ClaimSays(s->pc, "Kaskade multigrid: kappa is not used"));
  PetscCall(Destroy(s));
  PetscFunctionReturn(0);
}

/* How often an event of a level occurs in one application, and whether it does arithmetic */
static PetscErrorCode CheckEvent(PetscLogStage stage, const char phase[], PetscInt level, PetscInt64 before,
                                 PetscInt64 expected, PetscBool *good)
{
  char               name[64];
  PetscLogEvent      event;
  PetscEventPerfInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(name, sizeof(name), "%s Level %" PetscInt_FMT, phase, level));
  PetscCall(PetscLogEventGetId(name, &event));
  if (event < 0) *good = PETSC_FALSE;
  if (event < 0) PetscFunctionReturn(0);
  PetscCall(PetscLogEventGetPerfInfo(stage, event, &info));
  if (info.count == before + expected && info.flops > 0) PetscFunctionReturn(0);
  *good = PETSC_FALSE;
  PetscCall(
      Print("  %s: %d instead of %d, flops %g\n", name, info.count, (int)(before + expected), (double)info.flops));
  PetscFunctionReturn(0);
}

/* The smoother twice in each call but on the coarsest level, whose second call in a row has nothing to do */
static PetscErrorCode CheckEvents(PetscInt64 before[], PetscInt kappa, PetscBool *good)
{
  PetscLogStage stage;
  PetscInt64    calls;

  PetscFunctionBeginUser;
  *good = PETSC_TRUE;
  PetscCall(PetscLogStageGetId("MG Apply", &stage));
  PetscCheck(stage >= 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "No stage for -pc_mg_log");
  for (PetscInt l = 1; l < LEVELS; l++) {
    PetscCall(PCKCycleComputeLevelCalls(kappa, LEVELS - l, &calls));
    PetscCall(CheckEvent(stage, "KCSmooth", l, 2 * before[l], 2 * calls, good));
    PetscCall(CheckEvent(stage, "KCResidual", l, before[l], calls, good));
    PetscCall(CheckEvent(stage, "KCRestrict", l, before[l], calls, good));
    PetscCall(CheckEvent(stage, "KCInterp", l, before[l], calls, good));
    if (l == 1) PetscCall(CheckEvent(stage, "KCCoarse", 0, before[1], calls, good));
    before[l] += calls;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Log(Problem *s)
{
  const PetscInt    kappa[]        = {1, 2, 3, PC_KCYCLE_KAPPA_W};
  const char *const names[]        = {"1", "2", "3", "w"};
  PetscInt64        before[LEVELS] = {0};
  PetscBool         good;
  char              claim[128];

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 4; i++) {
    PetscCall(Create(s, kappa[i]));
    PetscCall(PCApply(s->pc, s->b, s->x));
    PetscCall(CheckEvents(before, kappa[i], &good));
    PetscCall(PetscSNPrintf(
        claim, sizeof(claim),
        "kappa %s: events of each phase and level are counted as the formulas say, with their flops", names[i]));
    PetscCall(Claim(good, claim));
    PetscCall(Destroy(s));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem s = {0};

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PoissonSetFromOptions(&s.p));
  if (Given("-pc_mg_log")) PetscCall(PetscLogDefaultBegin());
  if (Given("-pc_mg_log")) PetscCall(Log(&s));
  else {
    PetscCall(Words(&s));
    PetscCall(Table(&s));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    nsize: {{1 2 4}}
    args: -mg_levels_ksp_type richardson

    test:
      suffix: small
      args: -pc_kcycle_structured off

    test:
      suffix: structured
      requires: !complex
      args: -pc_kcycle_structured on

    # Jacobi: steps that run as one count as smoothing
    test:
      suffix: log
      requires: defined(PETSC_USE_LOG)
      args: -pc_mg_log -mg_levels_pc_type jacobi -pc_kcycle_structured {{off auto}}

  test:
    suffix: citation
    args: -citations
    filter: grep -o "On the Recursive Structure of Multigrid Cycles"

  test:
    suffix: help
    args: -help
    filter: grep -o "^ *-pc_kcycle_[a-z]*" | sort -u

TEST*/
