static char help[] =
    "A block of elastic material, held at one side, bends under its weight: three unknowns at a point.\n\
  ./elasticity -n 17 -pc_type kcycle -ksp_view\n\
  ./elasticity -n 17 -pc_type gamg           with the rigid body modes, which are attached to the matrix\n\n";

/*
  - div sigma = (0, 0, -1),   sigma = lambda tr(e) + 2 mu e,   e = (grad u + grad u^T) / 2

  in the unit cube, u = 0 at x = 0, no forces on the other sides. Trilinear elements on n^3 points; Young's modulus is
  1.
*/
#include <petsckcycle.h>
#include <petscdmda.h>

/* Corner c of an element: 0 or 1 in each direction */
static PetscInt Corner(PetscInt c, PetscInt direction)
{
  return (c >> direction) & 1;
}

/* Derivatives of the eight shape functions at a point of the unit cube, divided by the size h of an element */
static void Derivatives(const PetscReal at[3], PetscReal h, PetscReal d[8][3])
{
  for (PetscInt c = 0; c < 8; c++) {
    for (PetscInt l = 0; l < 3; l++) {
      d[c][l] = 1 / h;
      for (PetscInt m = 0; m < 3; m++) {
        if (m == l) d[c][l] *= Corner(c, m) ? 1 : -1;
        else d[c][l] *= Corner(c, m) ? at[m] : 1 - at[m];
      }
    }
  }
}

/* The stiffness of an element, row 3 c + i for component i at corner c; 2 x 2 x 2 Gauss points */
static void Stiffness(PetscReal h, PetscReal poisson, PetscScalar K[24 * 24])
{
  const PetscReal lambda = poisson / ((1 + poisson) * (1 - 2 * poisson)), mu = 1 / (2 * (1 + poisson)),
                  weight = h * h * h / 8;

  for (PetscInt e = 0; e < 24 * 24; e++) K[e] = 0;
  for (PetscInt gauss = 0; gauss < 8; gauss++) {
    PetscReal at[3], d[8][3];

    for (PetscInt l = 0; l < 3; l++) at[l] = 0.5 + (Corner(gauss, l) ? 0.5 : -0.5) / PetscSqrtReal(3.0);
    Derivatives(at, h, d);
    for (PetscInt row = 0; row < 24; row++) {
      for (PetscInt column = 0; column < 24; column++) {
        const PetscReal *a = d[row / 3], *b = d[column / 3];
        const PetscInt   i = row % 3, j = column % 3;

        K[24 * row + column] += weight * (lambda * a[i] * b[j] + mu * a[j] * b[i] +
                                          (i == j ? mu * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) : 0));
      }
    }
  }
}

/* Points at x = 0 do not move: their rows and columns keep the diagonal */
static void Hold(PetscScalar K[24 * 24])
{
  for (PetscInt row = 0; row < 24; row++) {
    for (PetscInt column = 0; column < 24; column++) {
      if (row != column && (!Corner(row / 3, 0) || !Corner(column / 3, 0))) K[24 * row + column] = 0;
    }
  }
}

static PetscErrorCode AddElement(Mat A, PetscInt i, PetscInt j, PetscInt k, const PetscScalar K[])
{
  MatStencil at[24];

  PetscFunctionBeginUser;
  for (PetscInt row = 0; row < 24; row++) {
    at[row].i = i + Corner(row / 3, 0);
    at[row].j = j + Corner(row / 3, 1);
    at[row].k = k + Corner(row / 3, 2);
    at[row].c = row % 3;
  }
  PetscCall(MatSetValuesStencil(A, 24, at, 24, at, K, ADD_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode Assemble(DM da, PetscReal poisson, Mat *A)
{
  PetscScalar   K[24 * 24], held[24 * 24];
  PetscInt      x, y, z, nx, ny, nz;
  DMDALocalInfo in;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &in));
  PetscCall(DMDAGetElementsCorners(da, &x, &y, &z));
  PetscCall(DMDAGetElementsSizes(da, &nx, &ny, &nz));
  Stiffness(1.0 / (in.mx - 1), poisson, K);
  Stiffness(1.0 / (in.mx - 1), poisson, held);
  Hold(held);
  PetscCall(DMCreateMatrix(da, A));
  for (PetscInt k = z; k < z + nz; k++) {
    for (PetscInt j = y; j < y + ny; j++) {
      for (PetscInt i = x; i < x + nx; i++) PetscCall(AddElement(*A, i, j, k, i == 0 ? held : K));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(0);
}

/* Translations and rotations, which algebraic multigrid needs */
static PetscErrorCode AttachRigidBodyModes(DM da, Mat A)
{
  Vec          coordinates;
  MatNullSpace modes;

  PetscFunctionBeginUser;
  PetscCall(DMDASetUniformCoordinates(da, 0, 1, 0, 1, 0, 1));
  PetscCall(DMGetCoordinates(da, &coordinates));
  PetscCall(MatNullSpaceCreateRigidBody(coordinates, &modes));
  PetscCall(MatSetNearNullSpace(A, modes));
  PetscCall(MatNullSpaceDestroy(&modes));
  PetscFunctionReturn(0);
}

/* The weight of the elements around each point; none where the block is held */
static PetscErrorCode FillWeight(DM da, Vec b)
{
  DMDALocalInfo   in;
  PetscScalar ****a;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &in));
  PetscCall(VecSet(b, 0));
  PetscCall(DMDAVecGetArrayDOF(da, b, &a));
  for (PetscInt k = in.zs; k < in.zs + in.zm; k++) {
    for (PetscInt j = in.ys; j < in.ys + in.ym; j++) {
      for (PetscInt i = PetscMax(in.xs, 1); i < in.xs + in.xm; i++) {
        const PetscInt ends = (i == in.mx - 1) + (j % (in.my - 1) == 0) + (k % (in.mz - 1) == 0);

        a[k][j][i][2] = -1 / (PetscPowRealInt((PetscReal)(in.mx - 1), 3) * (1 << ends));
      }
    }
  }
  PetscCall(DMDAVecRestoreArrayDOF(da, b, &a));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(Mat A, Vec b, Vec u)
{
  KSP      ksp;
  PC       pc;
  PetscInt its, limit = 10;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCKCYCLE));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, u));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-limit", &limit, NULL));
  PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "at most %" PetscInt_FMT " iterations: %s\n", limit, its <= limit ? "yes" : "NO"));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt  n       = 17;
  PetscReal poisson = 0.3, lowest;
  DM        da;
  Mat       A;
  Vec       b, u;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(KCycleInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-poisson", &poisson, NULL));
  PetscCheck(n >= 2, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-n is the number of points in each direction, at least 2, not %" PetscInt_FMT, n);
  PetscCheck(poisson > -1 && poisson < 0.5, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-poisson lies between -1 and 0.5 and is not %g", (double)poisson);
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, n, n,
                         n, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 3, 1, NULL, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(Assemble(da, poisson, &A));
  PetscCall(AttachRigidBodyModes(da, A));
  PetscCall(MatCreateVecs(A, &u, &b));
  PetscCall(FillWeight(da, b));
  PetscCall(Solve(A, b, u));
  PetscCall(VecStrideMin(u, 2, NULL, &lowest));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the free end sinks by %.4f\n", (double)-lowest));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    nsize: {{1 3}}
    output_file: output/elasticity_1.out

    test:
      suffix: 1

    test:
      suffix: any_size
      args: -n 16
      output_file: output/elasticity_any_size.out

    test:
      suffix: w
      args: -pc_kcycle_kappa w

    test:
      suffix: gamg
      args: -pc_type gamg -limit 20
      output_file: output/elasticity_gamg.out

    test:
      suffix: kcycle_gamg
      args: -pc_kcycle_hierarchy gamg -limit 20
      output_file: output/elasticity_gamg.out

  test:
    suffix: thin
    nsize: 8
    args: -poisson 0.45

TEST*/
