static char help[] =
    "Matrices of type stencil from aijcusparse whose values were set on the device, and those from aij on the\n\
host.\n\
  -da_grid_x ... -ends <bits>: the grid, its directions and those that wrap around; -box: all neighbours; -symmetric\n\
  -strays <value>: entries between points that are no neighbours; -corners <value>: between those that are in a box\n\
  -star: the stencil of the DMDA is a star all the same, on one process\n\
  -compare: coefficients and products with those from the host, to the last digit; -solve: so are solutions\n\n";

#include "../testing.h"
#include <petscdevice_cuda.h>

/* The entries that this process has, by rows and columns of matrices */
typedef struct {
  DM           da;
  PetscInt     dim, n, *row, *col;
  PetscScalar *value;
  PetscBool    box, symmetric;
  PetscReal    strays, corners;
} Entries;

/* A number of 17 binary digits from two others and the time: sums of few of them are exact, products not */
static PetscScalar Value(PetscInt row, PetscInt col, PetscInt step)
{
  const PetscInt64 mixed = (row + 1) * (PetscInt64)7919 + (col + 1) * (PetscInt64)104729 + step * (PetscInt64)15485863;

  return (row == col ? 100 : -1) - (PetscReal)(mixed % 131071) / 131072;
}

static void Add(Entries *e, PetscInt row, PetscInt col, PetscReal kind)
{
  for (PetscInt k = e->n - 1; k >= 0 && e->row[k] == row; k--) {
    if (e->col[k] == col) return; /* a grid of two points that wraps around */
  }
  e->row[e->n]     = row;
  e->col[e->n]     = col;
  e->value[e->n++] = kind;
}

/* Value: 1, or the kind of entry, which a step does not change */
static PetscErrorCode EntriesCreate(Entries *e)
{
  ISLocalToGlobalMapping map;
  const PetscInt        *global;
  DMDALocalInfo          info;
  DMBoundaryType         ends[3];

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(e->da, &info));
  PetscCall(
      DMDAGetInfo(e->da, &e->dim, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &ends[0], &ends[1], &ends[2], NULL));
  PetscCall(DMGetLocalToGlobalMapping(e->da, &map));
  PetscCall(ISLocalToGlobalMappingGetIndices(map, &global));
  PetscCall(PetscMalloc3(29 * info.xm * info.ym * info.zm, &e->row, 29 * info.xm * info.ym * info.zm, &e->col,
                         29 * info.xm * info.ym * info.zm, &e->value));
  e->n = 0;
  for (PetscInt k = info.zs; k < info.zs + info.zm; k++) {
    for (PetscInt j = info.ys; j < info.ys + info.ym; j++) {
      for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
        const PetscInt at[3] = {i, j, k}, size[3] = {info.mx, info.my, info.mz},
                       start[3] = {info.gxs, info.gys, info.gzs};
        const PetscInt row      = global[i - start[0] + info.gxm * (j - start[1] + info.gym * (k - start[2]))];

        for (PetscInt f = 0; f < 27; f++) {
          const PetscInt d[3] = {f % 3 - 1, f / 3 % 3 - 1, f / 9 - 1},
                         away = PetscAbs(d[0]) + PetscAbs(d[1]) + PetscAbs(d[2]);
          PetscBool inside    = (PetscBool)(away < 2 || e->box || e->corners >= 0);

          for (PetscInt c = 0; c < 3; c++) {
            const PetscInt to = at[c] + d[c];

            if ((c >= e->dim && d[c]) || (ends[c] != DM_BOUNDARY_PERIODIC && (to < 0 || to >= size[c])))
              inside = PETSC_FALSE;
          }
          if (!inside) continue;
          Add(e, row, global[i + d[0] - start[0] + info.gxm * (j + d[1] - start[1] + info.gym * (k + d[2] - start[2]))],
              away < 2 || e->box ? 2 : e->corners);
        }
        /* far away in x */
        if (e->strays >= 0 && i == info.xs && info.xm > 3) Add(e, row, row + 3, e->strays);
      }
    }
  }
  PetscCall(ISLocalToGlobalMappingRestoreIndices(map, &global));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of a step, on the device or on the host */
static PetscErrorCode SetValues(Mat A, const Entries *e, PetscInt step, PetscBool device)
{
  PetscScalar *v, *there;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(e->n, &v));
  for (PetscInt k = 0; k < e->n; k++)
    v[k] = PetscRealPart(e->value[k]) != 2 ? e->value[k]
           : e->symmetric                  ? Value(PetscMin(e->row[k], e->col[k]), PetscMax(e->row[k], e->col[k]), step)
                                           : Value(e->row[k], e->col[k], step);
  if (device) {
    PetscCallCUDA(cudaMalloc((void **)&there, e->n * sizeof(*v)));
    PetscCallCUDA(cudaMemcpy(there, v, e->n * sizeof(*v), cudaMemcpyHostToDevice));
    PetscCall(MatSetValuesCOO(A, there, INSERT_VALUES));
    PetscCallCUDA(cudaFree(there));
  } else PetscCall(MatSetValuesCOO(A, v, INSERT_VALUES));
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(const Entries *e, MatType type, Mat *A)
{
  PetscInt *row, *col, n;
  Vec       x;

  PetscFunctionBeginUser;
  PetscCall(DMGetGlobalVector(e->da, &x));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(DMRestoreGlobalVector(e->da, &x));
  PetscCall(PetscMalloc2(e->n, &row, e->n, &col));
  PetscCall(PetscArraycpy(row, e->row, e->n));
  PetscCall(PetscArraycpy(col, e->col, e->n));
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetPreallocationCOO(*A, e->n, row, col));
  PetscCall(PetscFree2(row, col));
  PetscCall(MatSetDM(*A, e->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* S is what comes of A, and H the same matrix on the host */
static PetscErrorCode Compare(Mat S, Mat H, Vec x, Vec y)
{
  Mat       T, s, t;
  Vec       z;
  MatInfo   info[2];
  PetscBool same, equal;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(H, MATSTENCIL, MAT_INITIAL_MATRIX, &T));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(MatMult(T, x, z));
  PetscCall(VecEqual(y, z, &equal));
  PetscCall(MatConvert(S, MATAIJ, MAT_INITIAL_MATRIX, &s));
  PetscCall(MatConvert(T, MATAIJ, MAT_INITIAL_MATRIX, &t));
  PetscCall(MatEqual(s, t, &same));
  PetscCall(MatGetInfo(S, MAT_GLOBAL_SUM, &info[0]));
  PetscCall(MatGetInfo(T, MAT_GLOBAL_SUM, &info[1]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "coefficients %s, products %s, stored %s\n", same ? "equal" : "differ",
                        equal ? "equal" : "differ", info[0].memory == info[1].memory ? "equal" : "differ"));
  PetscCall(MatMult(S, x, z)); /* what was brought to the host goes up again where it takes less room */
  PetscCall(VecEqual(y, z, &equal));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "product after that %s\n", equal ? "equal" : "differs"));
  PetscCall(DestroyAll(&s, &t, &T, &z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Vary(Vec x)
{
  PetscInt     start, n;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(x, &start, NULL));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayWrite(x, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = PetscSinReal((PetscReal)(start + i));
  PetscCall(VecRestoreArrayWrite(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with S, and with what comes of H on the host, T: the same iterations and solutions */
static PetscErrorCode Solve(KSP ksp[2], Mat S, Mat H, Mat *T, Vec b)
{
  Vec       x[2];
  PetscInt  its[2];
  PetscBool equal;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(H, MATSTENCIL, *T ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, T));
  for (int i = 0; i < 2; i++) {
    PetscCall(VecDuplicate(b, &x[i]));
    if (!ksp[i]) {
      PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp[i]));
      PetscCall(KSPSetOperators(ksp[i], i ? *T : S, i ? *T : S));
      PetscCall(KSPSetFromOptions(ksp[i]));
    }
    PetscCall(KSPSolve(ksp[i], b, x[i]));
    PetscCall(KSPGetIterationNumber(ksp[i], &its[i]));
  }
  PetscCall(VecEqual(x[0], x[1], &equal));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " iterations, solutions %s\n", its[0],
                        equal && its[0] == its[1] ? "equal" : "differ"));
  for (int i = 0; i < 2; i++) PetscCall(VecDestroy(&x[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Steps(const Entries *e, PetscBool compare, PetscBool device, PetscBool solve)
{
  Mat A, H, S = NULL, T = NULL;
  KSP ksp[2] = {NULL, NULL};
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(Create(e, MATAIJCUSPARSE, &A));
  PetscCall(Create(e, MATAIJ, &H));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(Vary(x));
  for (PetscInt step = 0; step < 3; step++) {
    PetscCall(SetValues(A, e, step, device));
    PetscCall(SetValues(H, e, step, PETSC_FALSE));
    if (step) {
      PetscCall(MatScale(A, 1.0 / 3));
      PetscCall(MatScale(H, 1.0 / 3));
    }
    PetscCall(MatConvert(A, MATSTENCIL, step ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, &S));
    PetscCall(MatMult(S, x, y));
    if (compare) PetscCall(Compare(S, H, x, y));
    if (solve) PetscCall(Solve(ksp, S, H, &T, x));
  }
  PetscCall(MatViewFromOptions(S, NULL, "-stencil_view"));
  PetscCall(DestroyAll(&x, &y, &A, &H, &S, &T, &ksp[0], &ksp[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Entries        e    = {NULL, 3, 0, NULL, NULL, NULL, PETSC_FALSE, PETSC_FALSE, -1, -1};
  PetscInt       ends = 0;
  DMBoundaryType type[3];

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &e.dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-ends", &ends, NULL));
  e.box       = Given("-box");
  e.symmetric = Given("-symmetric");
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-strays", &e.strays, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-corners", &e.corners, NULL));
  for (int d = 0; d < 3; d++) type[d] = (ends >> d) & 1 ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  PetscCall(DMDACreate(PETSC_COMM_WORLD, &e.da));
  PetscCall(DMSetDimension(e.da, e.dim));
  PetscCall(DMDASetSizes(e.da, 12, e.dim > 1 ? 10 : 1, e.dim > 2 ? 8 : 1));
  PetscCall(DMDASetBoundaryType(e.da, type[0], type[1], type[2]));
  PetscCall(DMDASetStencilType(e.da, e.box || e.corners >= 0 ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR));
  if (Given("-star")) PetscCall(DMDASetStencilType(e.da, DMDA_STENCIL_STAR));
  PetscCall(DMDASetStencilWidth(e.da, 1));
  PetscCall(DMDASetDof(e.da, 1));
  PetscCall(DMSetVecType(e.da, VECCUDA));
  PetscCall(DMSetFromOptions(e.da));
  PetscCall(DMSetUp(e.da));
  PetscCall(EntriesCreate(&e));
  PetscCall(Steps(&e, Given("-compare"), (PetscBool)!Given("-host"), Given("-solve")));
  PetscCall(PetscFree3(e.row, e.col, e.value));
  PetscCall(DMDestroy(&e.da));
  PetscCall(PetscFinalize());
  return 0;
}
