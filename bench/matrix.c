static char help[] = "One system with a matrix from a file, for bench/compare.py.\n\
  -matrix <file>     in PETSc's binary format\n\
  -rhs <file>        a vector in PETSc's binary format; otherwise numbers at random\n\
  -grid <nx,ny,nz>   unknowns are those of the points of a grid, line by line: the solver gets a DMDA\n\
  -check             reads, looks at the matrix and ends\n\n";

/*
  Conjugate gradients where the matrix is symmetric with a positive diagonal, else GMRES. Where rows sum to zero
  constants are the null space, and the right side is made consistent.
*/

#include "../tests/testing.h"
#include <petsckcycle/private/compat.h>

typedef struct {
  Mat       A; /* as it is solved with */
  Vec       b;
  DM        da;
  PetscInt  n[3]; /* points of the grid, the first 0: none */
  PetscBool singular, symmetric;
} Loaded;

/* Files */

static PetscErrorCode LoadMatrix(const char name[], Mat *A)
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_READ, &viewer));
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatLoad(*A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LoadVector(const char name[], Vec b)
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_READ, &viewer));
  PetscCall(VecLoad(b, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Between 1 and 3, the same for any number of processes */
static PetscErrorCode FillAtRandom(Vec b)
{
  PetscInt     start, end;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(b, &start, &end));
  PetscCall(VecGetArrayWrite(b, &a));
  for (PetscInt i = start; i < end; i++) a[i - start] = 1 + (PetscReal)((PetscInt64)(i + 1) * 40503 % 65536) / 32768;
  PetscCall(VecRestoreArrayWrite(b, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers that are none, and rows of zeros. Do rows sum to zero, are diagonals positive? */
static PetscErrorCode CheckRows(Loaded *s)
{
  PetscInt start, end, answers[2] = {1, 1};

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(s->A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscInt           n;
    const PetscInt    *j;
    const PetscScalar *a;
    PetscScalar        sum = 0, diagonal = 0;
    PetscReal          size = 0;

    PetscCall(MatGetRow(s->A, i, &n, &j, &a));
    for (PetscInt k = 0; k < n; k++) {
      sum += a[k];
      size += PetscAbsScalar(a[k]);
      if (j[k] == i) diagonal = a[k];
    }
    PetscCall(MatRestoreRow(s->A, i, &n, &j, &a));
    PetscCheck(!PetscIsInfOrNanReal(size), PETSC_COMM_SELF, PETSC_ERR_FP,
               "row %" PetscInt_FMT " (from 0) holds NaN or infinity: look at the program that has written the file",
               i);
    PetscCheck(size > 0, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT,
               "row %" PetscInt_FMT " (from 0) is zero: the matrix is singular, leave this unknown out, or give it a "
               "diagonal",
               i);
    if (PetscAbsScalar(sum) > 1e-10 * size) answers[0] = 0;
    if (PetscRealPart(diagonal) <= 0) answers[1] = 0;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, answers, 2, MPIU_INT, MPI_MIN, PETSC_COMM_WORLD));
  s->singular  = (PetscBool)(answers[0] > 0);
  s->symmetric = (PetscBool)(answers[1] > 0);
  if (s->symmetric) {
    PetscReal norm;

    PetscCall(MatNorm(s->A, NORM_INFINITY, &norm));
    PetscCall(MatIsSymmetric(s->A, 1e-12 * norm, &s->symmetric));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a grid */

/* Point and component of an unknown, numbered line by line */
static void Place(const PetscInt n[], PetscInt dof, PetscInt row, PetscInt at[])
{
  const PetscInt point = row / dof;

  at[0] = point % n[0];
  at[1] = point / n[0] % n[1];
  at[2] = point / n[0] / n[1];
  at[3] = row % dof;
}

/* Are diagonal neighbours coupled? Those more than one point away are an error */
static PetscErrorCode FindStencil(const Loaded *s, PetscInt dof, PetscBool *box)
{
  PetscInt start, end, diagonal = 0;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(s->A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscInt           n, p[4], q[4];
    const PetscInt    *j;
    const PetscScalar *a;

    PetscCall(MatGetRow(s->A, i, &n, &j, &a));
    Place(s->n, dof, i, p);
    for (PetscInt k = 0; k < n; k++) {
      PetscInt away = 0, directions = 0;

      if (a[k] == (PetscScalar)0) continue;
      Place(s->n, dof, j[k], q);
      for (int d = 0; d < 3; d++) {
        away = PetscMax(away, PetscAbsInt(p[d] - q[d]));
        directions += p[d] != q[d];
      }
      PetscCheck(away < 2, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
                 "on the grid the point (%" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT
                 ") is coupled with (%" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT
                 "), more than one point away: the grid has other sizes, or leave -grid out",
                 p[0], p[1], p[2], q[0], q[1], q[2]);
      if (directions > 1) diagonal = 1;
    }
    PetscCall(MatRestoreRow(s->A, i, &n, &j, &a));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &diagonal, 1, MPIU_INT, MPI_MAX, PETSC_COMM_WORLD));
  *box = (PetscBool)(diagonal > 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateGrid(Loaded *s, PetscInt dof)
{
  const PetscInt dim = s->n[2] > 1 ? 3 : s->n[1] > 1 ? 2 : 1;
  PetscBool      box;

  PetscFunctionBeginUser;
  PetscCall(FindStencil(s, dof, &box));
  PetscCall(DMDACreate(PETSC_COMM_WORLD, &s->da));
  PetscCall(DMSetDimension(s->da, dim));
  PetscCall(DMDASetSizes(s->da, s->n[0], s->n[1], s->n[2]));
  PetscCall(DMDASetDof(s->da, dof));
  PetscCall(DMDASetStencilWidth(s->da, 1));
  PetscCall(DMDASetStencilType(s->da, box ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR));
  PetscCall(DMSetFromOptions(s->da));
  PetscCall(DMSetUp(s->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of "ordered" are those of the DMDA */
static PetscErrorCode FillMatrix(const Loaded *s, PetscInt dof, Mat ordered, Mat A)
{
  AO       ao;
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetAO(s->da, &ao));
  PetscCall(MatGetOwnershipRange(ordered, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscInt           n, at[4], row = i;
    const PetscInt    *j;
    const PetscScalar *a;

    PetscCall(AOPetscToApplication(ao, 1, &row));
    PetscCall(MatGetRow(ordered, i, &n, &j, &a));
    for (PetscInt k = 0; k < n; k++) {
      PetscInt   column = j[k];
      MatStencil to, from;

      if (a[k] == (PetscScalar)0) continue;
      PetscCall(AOPetscToApplication(ao, 1, &column));
      Place(s->n, dof, row, at);
      to.i = at[0], to.j = at[1], to.k = at[2], to.c = at[3];
      Place(s->n, dof, column, at);
      from.i = at[0], from.j = at[1], from.k = at[2], from.c = at[3];
      PetscCall(MatSetValuesStencil(A, 1, &to, 1, &from, &a[k], INSERT_VALUES));
    }
    PetscCall(MatRestoreRow(ordered, i, &n, &j, &a));
  }
  PetscCall(AssembleMat(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Matrix and right side, numbered line by line, become those of a DMDA */
static PetscErrorCode MoveToGrid(Loaded *s)
{
  const PetscInt points = s->n[0] * s->n[1] * s->n[2];
  PetscInt       rows, dof, start, local, *own;
  Mat            ordered, A;
  Vec            b;
  IS             is;
  AO             ao;
  VecScatter     scatter;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(s->A, &rows, NULL));
  PetscCheck(points > 0 && rows % points == 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ,
             "-grid has %" PetscInt_FMT " points, the matrix %" PetscInt_FMT " rows: rows for each point is no whole "
             "number",
             points, rows);
  dof = rows / points;
  PetscCall(CreateGrid(s, dof));
  PetscCall(DMCreateMatrix(s->da, &A));
  PetscCall(DMCreateGlobalVector(s->da, &b));
  PetscCall(VecGetOwnershipRange(b, &start, NULL));
  PetscCall(VecGetLocalSize(b, &local));
  PetscCall(PetscMalloc1(local, &own));
  for (PetscInt i = 0; i < local; i++) own[i] = start + i;
  PetscCall(DMDAGetAO(s->da, &ao));
  PetscCall(AOPetscToApplication(ao, local, own));
  PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, local, own, PETSC_OWN_POINTER, &is));
  PetscCall(MatCreateSubMatrix(s->A, is, is, MAT_INITIAL_MATRIX, &ordered));
  PetscCall(FillMatrix(s, dof, ordered, A));
  PetscCall(VecScatterCreate(s->b, is, b, NULL, &scatter));
  PetscCall(VecScatterBegin(scatter, s->b, b, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, s->b, b, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(DestroyAll(&scatter, &ordered, &is, &s->A, &s->b));
  s->A = A;
  s->b = b;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LoadSystem(Loaded *s)
{
  char      name[PETSC_MAX_PATH_LEN];
  PetscInt  number = 3;
  PetscBool given;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-matrix", name, sizeof(name), &given));
  PetscCheck(given, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-matrix <file> is missing");
  PetscCall(LoadMatrix(name, &s->A));
  PetscCall(CheckRows(s));
  PetscCall(MatCreateVecs(s->A, NULL, &s->b));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-rhs", name, sizeof(name), &given));
  if (given) PetscCall(LoadVector(name, s->b));
  else PetscCall(FillAtRandom(s->b));
  s->n[0] = s->n[1] = s->n[2] = 1;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-grid", s->n, &number, &given));
  if (given) PetscCall(MoveToGrid(s));
  else s->n[0] = 0;
  if (s->singular) PetscCall(AttachConstants(s->A, s->symmetric ? s->b : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(const Loaded *s)
{
  KSP ksp;
  Vec x;

  PetscFunctionBeginUser;
  PetscCall(MakeKSP(s->A, s->symmetric ? KSPCG : KSPGMRES, PCJACOBI, &ksp, NULL));
  if (s->da) {
    PetscCall(KSPSetDM(ksp, s->da));
    PetscCall(KCycleKSPSetDMInactive(ksp));
  }
  if (!s->symmetric) PetscCall(KSPSetPCSide(ksp, PC_RIGHT));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, 1e-8, 1e-300, 1e10, 10000));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(VecDuplicate(s->b, &x));
  PetscCall(KSPSolve(ksp, s->b, x));
  PetscCall(DestroyAll(&x, &ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Loaded    s = {NULL, NULL, NULL, {0, 0, 0}, PETSC_FALSE, PETSC_FALSE};
  PetscInt  rows;
  PetscBool check;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LoadSystem(&s));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-check", &check));
  PetscCall(MatGetSize(s.A, &rows, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " unknowns, %ssymmetric with a positive diagonal%s\n", rows,
                        s.symmetric ? "" : "not ",
                        s.singular ? ", rows sum to zero: constants are its null space" : ""));
  if (!check) PetscCall(Solve(&s));
  PetscCall(DestroyAll(&s.A, &s.b, &s.da));
  PetscCall(PetscFinalize());
  return 0;
}
