static char help[] =
    "Calls of the kappa-cycle, counted in real cycles, against Propositions 2.2 and 2.4 of Avnat and Yavneh.\n\n";

#include "poisson.h"

#define MAX_LEVELS 13
#define MAX_KAPPA  15

/* The table of the paper's recursion, filled by its own rule: calls(kappa, l + 1) = calls(kappa, l) + calls(kappa -
   1, l) */
static PetscInt64 Recursion(PetscInt kappa, PetscInt level)
{
  if (kappa == 0) return 0;
  if (level == 1) return 1;
  return Recursion(kappa, level - 1) + Recursion(kappa - 1, level - 1);
}

static PetscErrorCode CheckFormulas(void)
{
  PetscInt   wrong = 0;
  PetscInt64 calls, total, sum;

  PetscFunctionBeginUser;
  for (PetscInt kappa = 1; kappa <= MAX_KAPPA; kappa++) {
    sum = 0;
    for (PetscInt level = 1; level <= MAX_LEVELS; level++) {
      PetscCall(PCKCycleComputeLevelCalls(kappa, level, &calls));
      PetscCall(PCKCycleComputeTotalCalls(kappa, level, &total));
      sum += calls;
      wrong += (PetscInt)(calls != Recursion(kappa, level)) + (PetscInt)(total != sum);
    }
  }
  PetscCall(PCKCycleComputeTotalCalls(PC_KCYCLE_KAPPA_W, 60, &total));
  wrong += (PetscInt)(total != ((PetscInt64)1 << 60) - 1);
  PetscCall(Print("formulas differ from the recursion in %" PetscInt_FMT " places\n", wrong));
  PetscFunctionReturn(0);
}

/* Cycles on n levels with every kappa: multiplicative ones, or full multigrid, which starts one on each level */
static PetscErrorCode CountOnLevels(PetscInt n, PetscBool full, PetscInt *wrong, PetscInt64 *all)
{
  Poisson           p = {1, 1 + ((PetscInt)2 << (n - 1)), 1, 1, PETSC_FALSE, PETSC_FALSE};
  System            s = {0};
  PC                pc;
  PetscInt          nlevels;
  const PetscInt64 *counted;

  PetscFunctionBeginUser;
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, &p, &s.da));
  PetscCall(DMCreateMatrix(s.da, &s.A));
  PetscCall(PoissonAssemble(&p, s.da, s.A));
  PetscCall(MatCreateVecs(s.A, &s.x, &s.b));
  PetscCall(VecSet(s.b, 1.0));
  for (PetscInt kappa = 1; kappa <= MAX_KAPPA; kappa++) {
    PetscCall(MakePC(s.A, PCKCYCLE, &pc));
    PetscCall(PCMGSetLevels(pc, n, NULL));
    if (full) PetscCall(PCMGSetType(pc, PC_MG_FULL));
    PetscCall(PCKCycleSetKappa(pc, kappa == MAX_KAPPA ? PC_KCYCLE_KAPPA_W : kappa));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(PCApply(pc, s.b, s.x));
    PetscCall(PCKCycleGetLevelCalls(pc, &nlevels, &counted));
    *wrong += (PetscInt)(nlevels != n);
    for (PetscInt level = 1; level <= n; level++) {
      PetscInt64 expected = 0, calls;

      for (PetscInt start = 1; start <= (full ? level : 1); start++) {
        PetscCall(PCKCycleComputeLevelCalls(kappa, level - start + 1, &calls));
        expected += calls;
      }
      *wrong += (PetscInt)(counted[level - 1] != expected);
      *all += counted[level - 1];
    }
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt   wrong = 0, max = MAX_LEVELS;
  PetscInt64 all = 0;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-max_levels", &max, NULL));
  PetscCall(CheckFormulas());
  for (PetscInt n = 1; n <= max; n++) PetscCall(CountOnLevels(n, Given("-full"), &wrong, &all));
  PetscCall(Print("%" PetscInt64_FMT " calls counted, numbers differ from the formulas in %" PetscInt_FMT " places\n",
                  all, wrong));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -pc_kcycle_structured {{off auto}} -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1 -mg_levels_pc_type jacobi

    test:
      suffix: all
      nsize: 1

    test:
      suffix: full
      nsize: 1
      args: -full -max_levels 10

    test:
      suffix: parallel
      nsize: 2
      args: -max_levels 7

TEST*/
