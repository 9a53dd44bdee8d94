static char help[] = "Seconds for a sweep of each smoother of PCRELAX, on one grid.\n\n";

/*
  Prints CSV lines: smoother,NAME,SETUP,SWEEP seconds, one for each round, smoothers in turn.
*/
#include <petscdmda.h>
#include <petscksp.h>
#include <petsckcycle.h>
#include <time.h>

typedef struct {
  PetscInt  dim, n, sweeps, rounds;
  PetscBool box, variable;
} Options;

/* Processor time of this process */
static PetscLogDouble Seconds(void)
{
  struct timespec t;

  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (PetscLogDouble)t.tv_sec + 1e-9 * (PetscLogDouble)t.tv_nsec;
}

/* The coefficient at a point: 1, or from 1/e^2 to e^2, no two rows alike */
static PetscReal Coefficient(const Options *o, const PetscInt at[])
{
  PetscReal s = 0;

  if (!o->variable) return 1;
  for (PetscInt d = 0; d < o->dim; d++)
    s += PetscSinReal((PetscReal)(7 + 3 * d) * (PetscReal)at[d] / (PetscReal)o->n + (PetscReal)d);
  return PetscExpReal(2 * s / (PetscReal)o->dim);
}

/* Couplings with the neighbours, and with values at the boundary */
static PetscErrorCode SetRow(const Options *o, Mat A, const PetscInt at[])
{
  const PetscInt reach[3] = {1, o->dim > 1, o->dim > 2};
  MatStencil     row      = {at[2], at[1], at[0], 0}, col[27];
  PetscScalar    v[27];
  PetscInt       n = 1, off[3];

  PetscFunctionBeginUser;
  col[0] = row;
  v[0]   = 0;
  for (off[2] = -reach[2]; off[2] <= reach[2]; off[2]++) {
    for (off[1] = -reach[1]; off[1] <= reach[1]; off[1]++) {
      for (off[0] = -reach[0]; off[0] <= reach[0]; off[0]++) {
        const PetscInt to[3]    = {at[0] + off[0], at[1] + off[1], at[2] + off[2]},
                       distance = PetscAbs(off[0]) + PetscAbs(off[1]) + PetscAbs(off[2]);
        PetscBool inside        = PETSC_TRUE;

        if (!distance || (distance > 1 && !o->box)) continue;
        for (PetscInt d = 0; d < o->dim; d++) inside = (PetscBool)(inside && to[d] >= 0 && to[d] < o->n);
        v[n] = -(inside ? PetscSqrtReal(Coefficient(o, at) * Coefficient(o, to)) : Coefficient(o, at)) /
               (PetscReal)distance;
        v[0] -= v[n];
        col[n] = (MatStencil){to[2], to[1], to[0], 0};
        if (inside) n++;
      }
    }
  }
  PetscCall(MatSetValuesStencil(A, 1, &row, n, col, v, INSERT_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateMatrix(const Options *o, Mat *A)
{
  const DMBoundaryType no = DM_BOUNDARY_NONE;
  DMDALocalInfo        info;
  PetscInt             at[3];
  DM                   da;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate(PETSC_COMM_WORLD, &da));
  PetscCall(DMSetDimension(da, o->dim));
  PetscCall(DMDASetSizes(da, o->n, o->dim > 1 ? o->n : 1, o->dim > 2 ? o->n : 1));
  PetscCall(DMDASetBoundaryType(da, no, no, no));
  PetscCall(DMDASetStencilType(da, o->box ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR));
  PetscCall(DMDASetStencilWidth(da, 1));
  PetscCall(DMDASetDof(da, 1));
  PetscCall(DMSetMatType(da, "stencil"));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, A));
  PetscCall(DMDAGetLocalInfo(da, &info));
  for (at[2] = info.zs; at[2] < info.zs + info.zm; at[2]++) {
    for (at[1] = info.ys; at[1] < info.ys + info.ym; at[1]++) {
      for (at[0] = info.xs; at[0] < info.xs + info.xm; at[0]++) PetscCall(SetRow(o, *A, at));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolver(const Options *o, Mat A, const char type[], KSP *ksp, PetscLogDouble *seconds)
{
  PetscLogDouble start, end;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, KSPRICHARDSON));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_NONE));
  PetscCall(KSPSetTolerances(*ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, o->sweeps));
  PetscCall(KSPSetInitialGuessNonzero(*ksp, PETSC_TRUE));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCRELAX));
  PetscCall(PCRelaxSetType(pc, type));
  PetscCall(KSPSetFromOptions(*ksp));
  start = Seconds();
  PetscCall(KSPSetUp(*ksp));
  end      = Seconds();
  *seconds = end - start;
  PetscFunctionReturn(0);
}

/* Smoothers in turn; the first round warms up */
static PetscErrorCode Measure(const Options *o, Mat A, PetscInt ntypes, char *types[])
{
  PetscLogDouble setup[16], start, end;
  KSP            ksp[16];
  Vec            b, x;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(x, 1));
  PetscCall(VecSet(b, 1));
  for (PetscInt i = 0; i < ntypes; i++) PetscCall(CreateSolver(o, A, types[i], &ksp[i], &setup[i]));
  for (PetscInt round = 0; round <= o->rounds; round++) {
    for (PetscInt i = 0; i < ntypes; i++) {
      PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
      start = Seconds();
      PetscCall(KSPSolve(ksp[i], b, x));
      end = Seconds();
      if (round)
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "smoother,%s,%.3e,%.3e\n", types[i], setup[i],
                              (end - start) / (PetscLogDouble)o->sweeps));
    }
  }
  for (PetscInt i = 0; i < ntypes; i++) PetscCall(KSPDestroy(&ksp[i]));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

int main(int argc, char **args)
{
  Options  o = {2, 1024, 20, 5, PETSC_FALSE, PETSC_FALSE};
  char    *types[16];
  PetscInt ntypes = 16;
  Mat      A;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(KCycleInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &o.dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &o.n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-sweeps", &o.sweeps, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-rounds", &o.rounds, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-box", &o.box, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-variable", &o.variable, NULL));
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-smoothers", types, &ntypes, NULL));
  PetscCall(CreateMatrix(&o, &A));
  PetscCall(Measure(&o, A, ntypes, types));
  for (PetscInt i = 0; i < ntypes; i++) PetscCall(PetscFree(types[i]));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
