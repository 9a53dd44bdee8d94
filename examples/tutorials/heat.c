static char help[] = "Heat that spreads in a cube, by implicit time steps: one solver for all of them.\n\
  ./heat -steps 20 -dt 0.002 -pc_type kcycle -ksp_view\n\
  ./heat -double 10                  the time step is doubled after 10 steps: same solver, new values\n\n";

/*
  u_t = laplace u in the unit cube, no heat through its walls, n^3 cells. A time step (Crank and Nicolson) solves

      (I - dt/2 L) u_new = (I + dt/2 L) u_old,    L: 7 points, rows sum to 0.

  The operator stays until the time step changes, and KSP sets the preconditioner up only when the operator has changed.
  The start is an eigenvector of L, so that what the time steps must give is known to the last digit.
*/
#include <petsckcycle.h>
#include <petscdmda.h>

typedef struct {
  DM       da;
  Mat      L, A; /* A = I - dt/2 L */
  KSP      ksp;
  PetscInt n;
} Heat;

static PetscErrorCode CreateLaplace(DM da, Mat *L)
{
  DMDALocalInfo in;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &in));
  PetscCall(DMCreateMatrix(da, L));
  for (PetscInt k = in.zs; k < in.zs + in.zm; k++) {
    for (PetscInt j = in.ys; j < in.ys + in.ym; j++) {
      for (PetscInt i = in.xs; i < in.xs + in.xm; i++) {
        const PetscInt    at[6][3] = {{i - 1, j, k}, {i + 1, j, k}, {i, j - 1, k},
                                      {i, j + 1, k}, {i, j, k - 1}, {i, j, k + 1}};
        const PetscScalar c        = (PetscReal)in.mx * in.mx;
        MatStencil        columns[7];
        PetscScalar       v[7];
        PetscInt          m = 1;

        columns[0].i = i, columns[0].j = j, columns[0].k = k, columns[0].c = 0;
        v[0] = 0;
        for (PetscInt l = 0; l < 6; l++) {
          if (at[l][0] < 0 || at[l][0] >= in.mx || at[l][1] < 0 || at[l][1] >= in.my || at[l][2] < 0 ||
              at[l][2] >= in.mz)
            continue;
          columns[m].i = at[l][0], columns[m].j = at[l][1], columns[m].k = at[l][2], columns[m].c = 0;
          v[m++] = c;
          v[0] -= c;
        }
        PetscCall(MatSetValuesStencil(*L, 1, columns, m, columns, v, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(*L, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*L, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* cos(pi x) cos(pi y) cos(pi z) at the centres of cells: an eigenvector of L */
static PetscErrorCode FillStart(DM da, Vec u)
{
  DMDALocalInfo  in;
  PetscScalar ***a;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &in));
  PetscCall(DMDAVecGetArray(da, u, &a));
  for (PetscInt k = in.zs; k < in.zs + in.zm; k++) {
    for (PetscInt j = in.ys; j < in.ys + in.ym; j++) {
      for (PetscInt i = in.xs; i < in.xs + in.xm; i++) {
        a[k][j][i] = PetscCosReal(PETSC_PI * (i + 0.5) / in.mx) * PetscCosReal(PETSC_PI * (j + 0.5) / in.my) *
                     PetscCosReal(PETSC_PI * (k + 0.5) / in.mz);
      }
    }
  }
  PetscCall(DMDAVecRestoreArray(da, u, &a));
  PetscFunctionReturn(0);
}

/* A = I - dt/2 L, in place: the solver notices that values have changed, keeps its grids and renews its coefficients */
static PetscErrorCode SetTimeStep(Heat *heat, PetscReal dt)
{
  PetscFunctionBeginUser;
  PetscCall(MatCopy(heat->L, heat->A, SAME_NONZERO_PATTERN));
  PetscCall(MatScale(heat->A, -dt / 2));
  PetscCall(MatShift(heat->A, 1));
  PetscCall(KSPSetOperators(heat->ksp, heat->A, heat->A));
  PetscFunctionReturn(0);
}

static PetscErrorCode HeatCreate(Heat *heat)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR,
                         heat->n, heat->n, heat->n, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL,
                         &heat->da));
  PetscCall(DMSetFromOptions(heat->da));
  PetscCall(DMSetUp(heat->da));
  PetscCall(CreateLaplace(heat->da, &heat->L));
  PetscCall(MatDuplicate(heat->L, MAT_COPY_VALUES, &heat->A));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &heat->ksp));
  PetscCall(KSPSetType(heat->ksp, KSPCG));
  PetscCall(KSPSetTolerances(heat->ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(heat->ksp, &pc));
  PetscCall(PCSetType(pc, PCKCYCLE));
  PetscCall(KSPSetInitialGuessNonzero(heat->ksp, PETSC_TRUE)); /* the last time step's solution */
  PetscCall(KSPSetErrorIfNotConverged(heat->ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(heat->ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode HeatDestroy(Heat *heat)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&heat->ksp));
  PetscCall(MatDestroy(&heat->A));
  PetscCall(MatDestroy(&heat->L));
  PetscCall(DMDestroy(&heat->da));
  PetscFunctionReturn(0);
}

/* b = (I + dt/2 L) u, then a solve; the most iterations so far */
static PetscErrorCode Step(Heat *heat, PetscReal dt, Vec u, Vec b, PetscInt *most)
{
  PetscInt its;

  PetscFunctionBeginUser;
  PetscCall(MatMult(heat->L, u, b));
  PetscCall(VecAYPX(b, dt / 2, u));
  PetscCall(KSPSolve(heat->ksp, b, u));
  PetscCall(KSPGetIterationNumber(heat->ksp, &its));
  *most = PetscMax(*most, its);
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Heat      heat  = {.n = 32};
  PetscInt  steps = 10, change = -1, limit = 8, most = 0;
  PetscReal dt = 0.002, error, decay = 1, eigenvalue;
  Vec       u, b, start;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(KCycleInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &heat.n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &steps, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-double", &change, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-limit", &limit, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-dt", &dt, NULL));
  PetscCheck(heat.n >= 2, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-n is the number of cells in each direction, at least 2, not %" PetscInt_FMT, heat.n);
  PetscCheck(dt > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-dt is a time step, which is positive, not %g",
             (double)dt);
  PetscCall(HeatCreate(&heat));
  PetscCall(MatCreateVecs(heat.L, &u, &b));
  PetscCall(VecDuplicate(u, &start));
  PetscCall(FillStart(heat.da, start));
  PetscCall(VecCopy(start, u));
  PetscCall(SetTimeStep(&heat, dt));
  eigenvalue = -12.0 * heat.n * heat.n * PetscSqr(PetscSinReal(PETSC_PI / (2 * heat.n)));
  for (PetscInt step = 0; step < steps; step++) {
    if (step == change) PetscCall(SetTimeStep(&heat, dt *= 2));
    PetscCall(Step(&heat, dt, u, b, &most));
    decay *= (1 + dt / 2 * eigenvalue) / (1 - dt / 2 * eigenvalue);
  }
  PetscCall(VecAXPY(u, -decay, start));
  PetscCall(VecNorm(u, NORM_INFINITY, &error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " time steps of at most %" PetscInt_FMT " iterations: %s\n",
                        steps, limit, most <= limit ? "yes" : "NO"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the heat has fallen to %.5f, right to 1e-8: %s\n", (double)decay,
                        error < 1e-8 ? "yes" : "NO"));
  PetscCall(VecDestroy(&start));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&u));
  PetscCall(HeatDestroy(&heat));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    nsize: {{1 3}}

    test:
      suffix: 1

    test:
      suffix: stencil
      requires: !complex
      output_file: output/heat_1.out
      args: -dm_mat_type stencil

    test:
      suffix: double
      args: -double 5

TEST*/
