static char help[] =
    "A gas bubble rises in a box of liquid: a pressure solve with new coefficients in each time step.\n\
  ./projection -n 128 -steps 50 -contrast 1000 -ksp_converged_reason\n\
  ./projection -dm_mat_type stencil -output rise              files rise-0000.vts, ... for ParaView\n\n";

/*
  Chorin's projection on a staggered grid of n x n cells in the unit square, walls all around:

      u* = u + dt g,   div (beta grad p) = div u* / dt,   u = u* - dt beta grad p,   beta = 1 / density.

  The pressure is stored in cells, a velocity on each face. The density of the liquid is 1, that of the gas
  1 / contrast. A face has the mean density of its two cells. The bubble is a disc that moves with the mean velocity of
  its gas. Liquid and gas start at rest; what the velocity carries along is neglected, as it is small at first.

  It shows a singular operator (no flux through walls) whose values change in each step, while grid, KSP and
  preconditioner stay.
*/
#include <petsckcycle.h>
#include <petscdmda.h>

typedef struct {
  DM        cells, faces; /* faces: two unknowns for each cell, the velocities on its left and on its lower side */
  Mat       A;            /* - div beta grad, times h^2 */
  Vec       p, b, density, u;
  KSP       ksp;
  PetscInt  n;
  PetscReal dt, contrast, radius, at[2]; /* of the bubble */
  char      output[PETSC_MAX_PATH_LEN];
} Flow;

static PetscReal Density(const Flow *f, PetscInt i, PetscInt j)
{
  const PetscReal x = (i + 0.5) / f->n - f->at[0], y = (j + 0.5) / f->n - f->at[1];

  return x * x + y * y < f->radius * f->radius ? 1 / f->contrast : 1;
}

/* On the left side of cell (i, j) or, in direction 1, on its lower one; zero on walls */
static PetscReal Beta(const Flow *f, PetscInt direction, PetscInt i, PetscInt j)
{
  if (direction == 0) return i == 0 || i == f->n ? 0 : 2 / (Density(f, i - 1, j) + Density(f, i, j));
  return j == 0 || j == f->n ? 0 : 2 / (Density(f, i, j - 1) + Density(f, i, j));
}

static PetscErrorCode SetRow(const Flow *f, PetscInt i, PetscInt j)
{
  const PetscReal beta[4] = {Beta(f, 0, i, j), Beta(f, 0, i + 1, j), Beta(f, 1, i, j), Beta(f, 1, i, j + 1)};
  const PetscInt  di[4] = {-1, 1, 0, 0}, dj[4] = {0, 0, -1, 1};
  MatStencil      columns[5];
  PetscScalar     v[5];
  PetscInt        m = 1;

  PetscFunctionBeginUser;
  columns[0].i = i, columns[0].j = j, columns[0].k = 0, columns[0].c = 0;
  v[0] = beta[0] + beta[1] + beta[2] + beta[3];
  for (PetscInt l = 0; l < 4; l++) {
    if (beta[l] == 0) continue;
    columns[m].i = i + di[l], columns[m].j = j + dj[l], columns[m].k = 0, columns[m].c = 0;
    v[m++] = -beta[l];
  }
  PetscCall(MatSetValuesStencil(f->A, 1, columns, m, columns, v, INSERT_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetOperator(const Flow *f)
{
  PetscInt xs, ys, xm, ym;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(f->cells, &xs, &ys, NULL, &xm, &ym, NULL));
  for (PetscInt j = ys; j < ys + ym; j++) {
    for (PetscInt i = xs; i < xs + xm; i++) PetscCall(SetRow(f, i, j));
  }
  PetscCall(MatAssemblyBegin(f->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(f->A, MAT_FINAL_ASSEMBLY));
  PetscCall(KSPSetOperators(f->ksp, f->A, f->A));
  PetscFunctionReturn(0);
}

/* Gravity 1; walls have no velocity */
static PetscErrorCode AddGravity(const Flow *f)
{
  PetscScalar ***u;
  PetscInt       xs, ys, xm, ym;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(f->cells, &xs, &ys, NULL, &xm, &ym, NULL));
  PetscCall(DMDAVecGetArrayDOF(f->faces, f->u, &u));
  for (PetscInt j = PetscMax(ys, 1); j < ys + ym; j++) {
    for (PetscInt i = xs; i < xs + xm; i++) u[j][i][1] -= f->dt;
  }
  PetscCall(DMDAVecRestoreArrayDOF(f->faces, f->u, &u));
  PetscFunctionReturn(0);
}

/* b = - h div u / dt, for - div beta grad p times h^2 */
static PetscErrorCode Divergence(const Flow *f, Vec b)
{
  Vec            local;
  PetscScalar ***u, **a;
  PetscInt       xs, ys, xm, ym;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(f->cells, &xs, &ys, NULL, &xm, &ym, NULL));
  PetscCall(DMGetLocalVector(f->faces, &local));
  PetscCall(DMGlobalToLocal(f->faces, f->u, INSERT_VALUES, local));
  PetscCall(DMDAVecGetArrayDOFRead(f->faces, local, &u));
  PetscCall(DMDAVecGetArrayWrite(f->cells, b, &a));
  for (PetscInt j = ys; j < ys + ym; j++) {
    for (PetscInt i = xs; i < xs + xm; i++) {
      const PetscScalar right = i + 1 < f->n ? u[j][i + 1][0] : 0, upper = j + 1 < f->n ? u[j + 1][i][1] : 0;

      a[j][i] = -(right - u[j][i][0] + upper - u[j][i][1]) / (f->dt * f->n);
    }
  }
  PetscCall(DMDAVecRestoreArrayWrite(f->cells, b, &a));
  PetscCall(DMDAVecRestoreArrayDOFRead(f->faces, local, &u));
  PetscCall(DMRestoreLocalVector(f->faces, &local));
  PetscFunctionReturn(0);
}

static PetscErrorCode SubtractGradient(const Flow *f)
{
  Vec            local;
  PetscScalar ***u, **p;
  PetscInt       xs, ys, xm, ym;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(f->cells, &xs, &ys, NULL, &xm, &ym, NULL));
  PetscCall(DMGetLocalVector(f->cells, &local));
  PetscCall(DMGlobalToLocal(f->cells, f->p, INSERT_VALUES, local));
  PetscCall(DMDAVecGetArrayRead(f->cells, local, &p));
  PetscCall(DMDAVecGetArrayDOF(f->faces, f->u, &u));
  for (PetscInt j = ys; j < ys + ym; j++) {
    for (PetscInt i = xs; i < xs + xm; i++) {
      if (i > 0) u[j][i][0] -= f->dt * f->n * Beta(f, 0, i, j) * (p[j][i] - p[j][i - 1]);
      if (j > 0) u[j][i][1] -= f->dt * f->n * Beta(f, 1, i, j) * (p[j][i] - p[j - 1][i]);
    }
  }
  PetscCall(DMDAVecRestoreArrayDOF(f->faces, f->u, &u));
  PetscCall(DMDAVecRestoreArrayRead(f->cells, local, &p));
  PetscCall(DMRestoreLocalVector(f->cells, &local));
  PetscFunctionReturn(0);
}

/* The mean velocity of the gas, weighed by how much of a face is gas */
static PetscErrorCode MoveBubble(Flow *f)
{
  PetscScalar ***u;
  PetscReal      sums[4] = {0, 0, 0, 0};
  PetscInt       xs, ys, xm, ym;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(f->cells, &xs, &ys, NULL, &xm, &ym, NULL));
  PetscCall(DMDAVecGetArrayDOFRead(f->faces, f->u, &u));
  for (PetscInt j = ys; j < ys + ym; j++) {
    for (PetscInt i = xs; i < xs + xm; i++) {
      for (PetscInt direction = 0; direction < 2; direction++) {
        const PetscReal beta = Beta(f, direction, i, j), gas = beta > 0 ? PetscMax(0, 1 - 1 / beta) : 0;

        sums[direction] += gas * PetscRealPart(u[j][i][direction]);
        sums[2 + direction] += gas;
      }
    }
  }
  PetscCall(DMDAVecRestoreArrayDOFRead(f->faces, f->u, &u));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, sums, 4, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  for (PetscInt direction = 0; direction < 2; direction++) {
    if (sums[2 + direction] > 0) f->at[direction] += f->dt * sums[direction] / sums[2 + direction];
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode FillDensity(const Flow *f)
{
  PetscScalar **a;
  PetscInt      xs, ys, xm, ym;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(f->cells, &xs, &ys, NULL, &xm, &ym, NULL));
  PetscCall(DMDAVecGetArrayWrite(f->cells, f->density, &a));
  for (PetscInt j = ys; j < ys + ym; j++) {
    for (PetscInt i = xs; i < xs + xm; i++) a[j][i] = Density(f, i, j);
  }
  PetscCall(DMDAVecRestoreArrayWrite(f->cells, f->density, &a));
  PetscFunctionReturn(0);
}

/* One file a step; ParaView takes files whose names differ by a number for a series in time */
static PetscErrorCode Write(const Flow *f, PetscInt step)
{
  char        name[PETSC_MAX_PATH_LEN];
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(FillDensity(f));
  PetscCall(PetscSNPrintf(name, sizeof(name), "%s-%04d.vts", f->output, (int)step));
  PetscCall(PetscViewerVTKOpen(PETSC_COMM_WORLD, name, FILE_MODE_WRITE, &viewer));
  PetscCall(VecView(f->density, viewer));
  PetscCall(VecView(f->p, viewer));
  PetscCall(VecView(f->u, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(0);
}

static PetscErrorCode Step(Flow *f, PetscInt *most, PetscReal *left)
{
  PetscReal before, after;
  PetscInt  its;

  PetscFunctionBeginUser;
  PetscCall(AddGravity(f));
  PetscCall(Divergence(f, f->b));
  PetscCall(VecNorm(f->b, NORM_2, &before));
  PetscCall(SetOperator(f));
  PetscCall(KSPSolve(f->ksp, f->b, f->p));
  PetscCall(KSPGetIterationNumber(f->ksp, &its));
  PetscCall(SubtractGradient(f));
  PetscCall(Divergence(f, f->b));
  PetscCall(VecNorm(f->b, NORM_2, &after));
  *most = PetscMax(*most, its);
  *left = PetscMax(*left, after / before);
  PetscCall(MoveBubble(f));
  PetscFunctionReturn(0);
}

static PetscErrorCode FlowSetFromOptions(Flow *f)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &f->n, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-dt", &f->dt, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-contrast", &f->contrast, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-output", f->output, sizeof(f->output), NULL));
  PetscCheck(f->n >= 4, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-n is the number of cells in each direction, at least 4, not %" PetscInt_FMT, f->n);
  PetscCheck(f->dt > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-dt is a time step, which is positive, not %g",
             (double)f->dt);
  PetscCheck(f->contrast >= 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-contrast is the density of the liquid relative to the gas, at least 1, not %g", (double)f->contrast);
  PetscFunctionReturn(0);
}

/* Constants are the null space: KSP takes the mean off the right side */
static PetscErrorCode CreateOperator(Flow *f)
{
  MatNullSpace constants;

  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(f->cells, &f->A));
  PetscCall(MatSetOption(f->A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(f->A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
  PetscCall(MatSetNullSpace(f->A, constants));
  PetscCall(MatNullSpaceDestroy(&constants));
  PetscFunctionReturn(0);
}

static PetscErrorCode FlowCreate(Flow *f)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, f->n, f->n,
                         PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &f->cells));
  PetscCall(DMSetFromOptions(f->cells));
  PetscCall(DMSetUp(f->cells));
  PetscCall(DMDASetUniformCoordinates(f->cells, 0, 1, 0, 1, 0, 0));
  PetscCall(DMDACreateCompatibleDMDA(f->cells, 2, &f->faces));
  PetscCall(DMCreateGlobalVector(f->faces, &f->u));
  PetscCall(CreateOperator(f));
  PetscCall(DMCreateGlobalVector(f->cells, &f->p));
  PetscCall(VecDuplicate(f->p, &f->b));
  PetscCall(DMCreateGlobalVector(f->cells, &f->density));
  PetscCall(PetscObjectSetName((PetscObject)f->p, "pressure"));
  PetscCall(PetscObjectSetName((PetscObject)f->density, "density"));
  PetscCall(PetscObjectSetName((PetscObject)f->u, "velocity"));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &f->ksp));
  PetscCall(KSPSetType(f->ksp, KSPCG));
  PetscCall(KSPSetNormType(f->ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(f->ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(f->ksp, &pc));
  PetscCall(PCSetType(pc, PCKCYCLE));
  PetscCall(KSPSetInitialGuessNonzero(f->ksp, PETSC_TRUE)); /* the pressure of the last step */
  PetscCall(KSPSetErrorIfNotConverged(f->ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(f->ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode FlowDestroy(Flow *f)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&f->ksp));
  PetscCall(VecDestroy(&f->density));
  PetscCall(VecDestroy(&f->b));
  PetscCall(VecDestroy(&f->p));
  PetscCall(MatDestroy(&f->A));
  PetscCall(VecDestroy(&f->u));
  PetscCall(DMDestroy(&f->faces));
  PetscCall(DMDestroy(&f->cells));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Flow      f     = {.n = 64, .dt = 0.01, .contrast = 1000, .radius = 0.15, .at = {0.5, 0.3}};
  PetscInt  steps = 10, limit = 10, most = 0;
  PetscReal left = 0, start;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(KCycleInitializePackage());
  PetscCall(FlowSetFromOptions(&f));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &steps, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-limit", &limit, NULL));
  PetscCall(FlowCreate(&f));
  start = f.at[1];
  for (PetscInt step = 0; step < steps; step++) {
    PetscCall(Step(&f, &most, &left));
    if (f.output[0]) PetscCall(Write(&f, step));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " steps of at most %" PetscInt_FMT " iterations: %s\n",
                        steps, limit, most <= limit ? "yes" : "NO"));
  PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "the divergence falls to 1e-7 in each step: %s\n", left < 1e-7 ? "yes" : "NO"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the bubble has risen by %.5f\n", (double)(f.at[1] - start)));
  PetscCall(FlowDestroy(&f));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    nsize: {{1 3}}
    output_file: output/projection_1.out

    test:
      suffix: 1

    test:
      suffix: stencil
      requires: !complex
      args: -dm_mat_type stencil

    test:
      suffix: deflsub
      requires: !complex
      args: -pc_type deflsub -deflsub_pc_type incpoisson -limit 150
      output_file: output/projection_deflsub.out

  test:
    suffix: long
    nsize: 2
    args: -n 33 -steps 60

  test:
    suffix: equal
    args: -n 16 -contrast 1

TEST*/
