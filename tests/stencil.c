static char help[] =
    "MATSTENCIL and MATAIJ: random stencils on random grids and process grids; every operation gives the same.\n\
  -first <0> -cases <60>   which random cases\n\
  -kind <-1>               only this kind of coefficients\n\
  -errors                  shows what is refused instead\n\n";

/*
  An entry depends on the point of its row and its offset; of a symmetric matrix the upper one of a pair counts. Kinds:
  constant, by layers in (y, z), variable, and a mixture, so that all forms of storage occur.
*/

#include "grids.h"

typedef enum {
  CONSTANT,
  LAYERED,
  VARIABLE,
  MIXED,
  NUM_KINDS
} Kind;

typedef enum {
  BY_STENCIL,
  BY_LOCAL,
  BY_GLOBAL,
  TO_NEIGHBOURS,
  BY_COLUMNS,
  NUM_WAYS
} Way;

typedef struct {
  Grid      g;
  PetscBool symmetric, identity;
  Kind      kind;
  Way       way;
  DM        da;
} Case;

/* What is the same of both, and its name */
#define PROPERTIES(X)                   \
  X(MULT, "mult")                       \
  X(MULTADD, "multadd")                 \
  X(TRANSPOSE, "multtranspose")         \
  X(RESIDUAL, "residual")               \
  X(DIAGONAL, "diagonal")               \
  X(NORMS, "norms")                     \
  X(ROWS, "getrow")                     \
  X(CONVERT, "convert to AIJ")          \
  X(CONVERT_BACK, "convert from AIJ")   \
  X(SCALE, "scale")                     \
  X(SHIFT, "shift")                     \
  X(DIAGONALSCALE, "diagonalscale")     \
  X(AXPY, "axpy")                       \
  X(COPY, "copy")                       \
  X(DUPLICATE, "duplicate")             \
  X(ZEROROWS, "zerorows")               \
  X(ZEROROWSCOLUMNS, "zerorowscolumns") \
  X(LOAD, "load")                       \
  X(AGAIN, "assembled again")           \
  X(SUBMATRIX, "submatrix")             \
  X(WIDENED, "axpy of a box")           \
  X(MATPRODUCT, "matrix products")      \
  X(TRANSPOSED, "transpose")            \
  X(SYMMETRY, "symmetry")               \
  X(OTHERS, "rows of others")           \
  X(INPLACE, "convert in place")        \
  X(FORGOTTEN, "without its DM")
#define PROPERTY(name, claim) name,
#define CLAIM(name, claim)    claim,

typedef enum {
  PROPERTIES(PROPERTY) NUM_PROPERTIES
} Property;

static const char *const Claims[NUM_PROPERTIES] = {PROPERTIES(CLAIM)};

static PetscBool IsIdentity(const Case *c, const PetscInt at[])
{
  return (PetscBool)(c->identity && (at[0] == 0 || at[0] == c->g.size[0] - 1));
}

/* The entry of a row at an offset; both points are on the grid */
static PetscScalar Entry(const Case *c, const PetscInt row[], const PetscInt off[])
{
  PetscInt       at[3], o[3], to[3];
  const PetscInt place = off[0] + 3 * off[1] + 9 * off[2];
  Kind           kind  = c->kind;

  for (PetscInt d = 0; d < 3; d++) to[d] = GridWrap(&c->g, d, row[d] + off[d]);
  if (place && (IsIdentity(c, row) || IsIdentity(c, to))) return 0;
  if (IsIdentity(c, row)) return 1;
  for (PetscInt d = 0; d < 3; d++) {
    const PetscBool swap = (PetscBool)(c->symmetric && place < 0);

    at[d] = swap ? to[d] : row[d];
    o[d]  = swap ? -off[d] : off[d];
  }
  if (kind == MIXED) kind = (at[1] + 2 * at[2]) % 7 < 3 ? CONSTANT : VARIABLE;
  return (place ? -1 : 8) * (0.1 + GridHash(o[0] + 3 * o[1] + 9 * o[2], kind == VARIABLE ? at[0] : 0,
                                            kind == CONSTANT ? 0 : at[1], kind == CONSTANT ? 0 : at[2]));
}

static PetscErrorCode CaseMake(Case *c, PetscInt number, PetscInt kind, PetscBool *possible)
{
  const PetscInt sizes[]      = {1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 23, 31, 33};
  const PetscInt number_of[4] = {0, 14, 14, 9};
  Grid          *g            = &c->g;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(c, sizeof(*c)));
  g->number = number;
  g->dim    = 1 + GridChoose(g, 0, 3);
  for (PetscInt d = 0; d < 3; d++) {
    const PetscInt which = d < g->dim ? GridChoose(g, 4 + d, 3) : 0;

    g->size[d]        = d < g->dim ? sizes[GridChoose(g, 1 + d, number_of[g->dim])] : 1;
    g->boundary[d][0] = g->boundary[d][1] = which == 2 ? BOUNDARY_PERIODIC : BOUNDARY_ELIMINATED;
    g->ghosted[d]                         = (PetscBool)(which == 1);
  }
  g->box       = (PetscBool)(g->dim > 1 && GridChoose(g, 7, 2));
  c->symmetric = (PetscBool)GridChoose(g, 8, 2);
  c->identity  = (PetscBool)(GridChoose(g, 9, 3) == 0);
  g->uneven    = (PetscBool)GridChoose(g, 10, 2);
  c->kind      = kind >= 0 ? (Kind)kind : (Kind)GridChoose(g, 11, NUM_KINDS);
  c->way       = (Way)GridChoose(g, 12, NUM_WAYS);
  PetscCall(GridDistribute(g, possible));
  PetscFunctionReturn(0);
}

/* Ghosted local number */
static PetscErrorCode LocalNumber(const Case *c, const PetscInt at[], PetscInt *number)
{
  PetscInt s[3], n[3];

  PetscFunctionBeginUser;
  PetscCall(DMDAGetGhostCorners(c->da, &s[0], &s[1], &s[2], &n[0], &n[1], &n[2]));
  for (PetscInt d = c->g.dim; d < 3; d++) {
    s[d] = 0;
    n[d] = 1;
  }
  *number = at[0] - s[0] + n[0] * (at[1] - s[1] + n[1] * (at[2] - s[2]));
  PetscFunctionReturn(0);
}

/* The row of one point by one of the ways */
static PetscErrorCode SetRow(const Case *c, Mat A, PetscInt m, PetscInt at[], PetscInt to[][3], PetscScalar value[])
{
  ISLocalToGlobalMapping map;
  PetscInt               row, col[27];
  MatStencil             srow, scol[27];

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalToGlobalMapping(A, &map, NULL));
  PetscCall(LocalNumber(c, at, &row));
  for (PetscInt i = 0; i < m; i++) PetscCall(LocalNumber(c, to[i], &col[i]));
  if (c->way == BY_STENCIL) {
    srow = (MatStencil){at[2], at[1], at[0], 0};
    for (PetscInt i = 0; i < m; i++) scol[i] = (MatStencil){to[i][2], to[i][1], to[i][0], 0};
    PetscCall(MatSetValuesStencil(A, 1, &srow, m, scol, value, INSERT_VALUES));
  } else if (c->way == BY_GLOBAL) {
    PetscCall(ISLocalToGlobalMappingApply(map, 1, &row, &row));
    PetscCall(ISLocalToGlobalMappingApply(map, m, col, col));
    PetscCall(MatSetValues(A, 1, &row, m, col, value, INSERT_VALUES));
  } else PetscCall(MatSetValuesLocal(A, 1, &row, m, col, value, c->way == BY_LOCAL ? INSERT_VALUES : ADD_VALUES));
  PetscFunctionReturn(0);
}

/* Half of each coupling from either side, by a block of two rows */
static PetscErrorCode AddPair(const Case *c, Mat A, PetscInt at[], PetscInt to[], PetscInt off[])
{
  const PetscInt  back[3] = {-off[0], -off[1], -off[2]};
  PetscInt        number[2], wrapped[3];
  PetscScalar     v[4]     = {0, 0, 0, 0};
  const PetscBool diagonal = (PetscBool)(!off[0] && !off[1] && !off[2]);

  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < 3; d++) wrapped[d] = GridWrap(&c->g, d, to[d]);
  PetscCall(LocalNumber(c, at, &number[0]));
  PetscCall(LocalNumber(c, to, &number[1]));
  v[1] = 0.5 * Entry(c, at, off);
  v[2] = 0.5 * Entry(c, wrapped, back);
  if (diagonal) {
    v[0] = Entry(c, at, off);
    PetscCall(MatSetValuesLocal(A, 1, number, 1, number, v, ADD_VALUES));
  } else if (c->way == BY_COLUMNS) {
    const PetscScalar w[4] = {v[0], v[2], v[1], v[3]};

    PetscCall(MatSetOption(A, MAT_ROW_ORIENTED, PETSC_FALSE));
    PetscCall(MatSetValuesLocal(A, 2, number, 2, number, w, ADD_VALUES));
    PetscCall(MatSetOption(A, MAT_ROW_ORIENTED, PETSC_TRUE));
  } else PetscCall(MatSetValuesLocal(A, 2, number, 2, number, v, ADD_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetPoint(const Case *c, Mat A, PetscInt at[])
{
  PetscInt    m = 0, to[27][3], off[27][3], wrapped[3];
  PetscScalar value[27];

  PetscFunctionBeginUser;
  for (PetscInt o = 0; o < 27; o++) {
    PetscInt away = 0;

    for (PetscInt d = 0, rest = o; d < 3; d++, rest /= 3) {
      off[m][d]  = rest % 3 - 1;
      to[m][d]   = at[d] + off[m][d];
      wrapped[d] = GridWrap(&c->g, d, to[m][d]);
      away += off[m][d] != 0;
      if (off[m][d] && d >= c->g.dim) away = 9;
    }
    if (away > (c->g.box ? 3 : 1) || !IsInBox(wrapped, c->g.size, c->g.dim)) continue;
    value[m] = Entry(c, at, off[m]);
    m++;
  }
  if (c->way == TO_NEIGHBOURS || c->way == BY_COLUMNS) {
    for (PetscInt i = 0; i < m; i++) PetscCall(AddPair(c, A, at, to[i], off[i]));
  } else PetscCall(SetRow(c, A, m, at, to, value));
  PetscFunctionReturn(0);
}

static PetscErrorCode Assemble(const Case *c, Mat A)
{
  PetscInt s[3], n[3], at[3];

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(c->da, &s[0], &s[1], &s[2], &n[0], &n[1], &n[2]));
  FOR_BOX(at, s, n) PetscCall(SetPoint(c, A, at));
  PetscCall(AssembleMat(A));
  PetscFunctionReturn(0);
}

static PetscErrorCode Equal(Vec a, Vec b, PetscBool *equal)
{
  PetscReal norm, size;

  PetscFunctionBeginUser;
  PetscCall(DifferenceNorms(b, a, NORM_INFINITY, &norm, &size));
  *equal = (PetscBool)(norm <= 1e-13 * PetscMax(size, 1));
  PetscFunctionReturn(0);
}

/* Do an AIJ matrix and another one have the same products? */
static PetscErrorCode Products(Mat A, Mat B, PetscBool equal[])
{
  Vec x, y, z, w;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(DuplicateVec(y, &z, &w));
  PetscCall(FillRows(x, 1));
  PetscCall(FillRows(w, 2));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(B, x, z));
  PetscCall(Equal(y, z, &equal[MULT]));
  PetscCall(MatMultAdd(A, x, w, y));
  PetscCall(MatMultAdd(B, x, w, z));
  PetscCall(Equal(y, z, &equal[MULTADD]));
  PetscCall(VecCopy(w, z));
  PetscCall(MatMultAdd(B, x, z, z));
  if (equal[MULTADD]) PetscCall(Equal(y, z, &equal[MULTADD]));
  PetscCall(MatMultTranspose(A, x, y));
  PetscCall(MatMultTranspose(B, x, z));
  PetscCall(Equal(y, z, &equal[TRANSPOSE]));
  PetscCall(MatMultTransposeAdd(A, x, w, y));
  PetscCall(MatMultTransposeAdd(B, x, w, z));
  if (equal[TRANSPOSE]) PetscCall(Equal(y, z, &equal[TRANSPOSE]));
  PetscCall(VecCopy(w, z));
  PetscCall(MatMultTransposeAdd(B, x, z, z));
  if (equal[TRANSPOSE]) PetscCall(Equal(y, z, &equal[TRANSPOSE]));
  PetscCall(MatResidual(A, w, x, y));
  PetscCall(MatResidual(B, w, x, z));
  PetscCall(Equal(y, z, &equal[RESIDUAL]));
  PetscCall(MatGetDiagonal(A, y));
  PetscCall(MatGetDiagonal(B, z));
  PetscCall(Equal(y, z, &equal[DIAGONAL]));
  PetscCall(DestroyAll(&x, &y, &z, &w));
  PetscFunctionReturn(0);
}

static PetscErrorCode SameProducts(Mat A, Mat B, PetscBool *same)
{
  PetscBool equal[NUM_PROPERTIES];

  PetscFunctionBeginUser;
  PetscCall(Products(A, B, equal));
  *same = (PetscBool)(equal[MULT] && equal[MULTADD] && equal[TRANSPOSE] && equal[RESIDUAL] && equal[DIAGONAL]);
  PetscFunctionReturn(0);
}

static PetscErrorCode Rows(Mat A, Mat B, PetscBool *equal)
{
  PetscInt     first, end, N;
  PetscScalar *row;
  int          same = 1, all;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  PetscCall(MatGetSize(A, NULL, &N));
  PetscCall(PetscCalloc1(N, &row));
  for (PetscInt r = first; r < end; r++) {
    const PetscInt    *cols;
    const PetscScalar *v;
    PetscInt           m;

    PetscCall(MatGetRow(A, r, &m, &cols, &v));
    for (PetscInt i = 0; i < m; i++) row[cols[i]] += v[i];
    PetscCall(MatRestoreRow(A, r, &m, &cols, &v));
    PetscCall(MatGetRow(B, r, &m, &cols, &v));
    for (PetscInt i = 0; i < m; i++) {
      if (i && cols[i] <= cols[i - 1]) same = 0;
      row[cols[i]] -= v[i];
    }
    PetscCall(MatRestoreRow(B, r, &m, &cols, &v));
    for (PetscInt i = 0; i < N; i++) {
      if (PetscAbsScalar(row[i]) > 1e-13) same = 0;
      row[i] = 0;
    }
  }
  PetscCall(PetscFree(row));
  PetscCallMPI(MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
  *equal = (PetscBool)all;
  PetscFunctionReturn(0);
}

static PetscErrorCode NormsAndRows(Mat A, Mat B, PetscBool equal[])
{
  const NormType types[3] = {NORM_1, NORM_INFINITY, NORM_FROBENIUS};
  Mat            C;

  PetscFunctionBeginUser;
  equal[NORMS] = PETSC_TRUE;
  for (int t = 0; t < 3; t++) {
    PetscReal a, b;

    PetscCall(MatNorm(A, types[t], &a));
    PetscCall(MatNorm(B, types[t], &b));
    if (PetscAbsReal(a - b) > 1e-13 * a) equal[NORMS] = PETSC_FALSE;
  }
  PetscCall(Rows(A, B, &equal[ROWS]));
  PetscCall(MatConvert(B, MATAIJ, MAT_INITIAL_MATRIX, &C));
  PetscCall(Rows(A, C, &equal[CONVERT]));
  PetscCall(MatScale(C, 3.0));
  PetscCall(MatConvert(B, MATAIJ, MAT_REUSE_MATRIX, &C));
  if (equal[CONVERT]) PetscCall(Rows(A, C, &equal[CONVERT]));
  PetscCall(MatDestroy(&C));
  PetscCall(MatConvert(A, MATSTENCIL, MAT_INITIAL_MATRIX, &C));
  PetscCall(SameProducts(A, C, &equal[CONVERT_BACK]));
  PetscCall(MatScale(C, 3.0));
  PetscCall(MatConvert(A, MATSTENCIL, MAT_REUSE_MATRIX, &C));
  if (equal[CONVERT_BACK]) PetscCall(SameProducts(A, C, &equal[CONVERT_BACK]));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(0);
}

/* Changes of both matrices; A0 is a copy of the first */
static PetscErrorCode Changes(const Case *c, Mat A, Mat B, PetscBool equal[])
{
  Vec l, r;
  Mat A0, B0;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &r, &l));
  PetscCall(FillRows(l, 5));
  PetscCall(FillRows(r, 6));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &A0));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &B0));
  PetscCall(SameProducts(A0, B0, &equal[DUPLICATE]));
  PetscCall(MatScale(A, 1.7));
  PetscCall(MatScale(B, 1.7));
  PetscCall(SameProducts(A, B, &equal[SCALE]));
  PetscCall(MatShift(A, 0.3));
  PetscCall(MatShift(B, 0.3));
  PetscCall(SameProducts(A, B, &equal[SHIFT]));
  PetscCall(MatDiagonalScale(A, l, r));
  PetscCall(MatDiagonalScale(B, l, r));
  PetscCall(SameProducts(A, B, &equal[DIAGONALSCALE]));
  PetscCall(MatAXPY(A, -0.6, A0, SAME_NONZERO_PATTERN));
  PetscCall(MatAXPY(B, -0.6, B0, SAME_NONZERO_PATTERN));
  PetscCall(SameProducts(A, B, &equal[AXPY]));
  PetscCall(MatCopy(B0, B, SAME_NONZERO_PATTERN));
  PetscCall(SameProducts(A0, B, &equal[COPY]));
  PetscCall(MatCopy(B, A, SAME_NONZERO_PATTERN));
  if (equal[COPY]) PetscCall(SameProducts(A, B0, &equal[COPY]));
  PetscCall(DestroyAll(&A0, &B0));
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &B0));
  PetscCall(MatZeroEntries(A));
  if (equal[DUPLICATE]) PetscCall(SameProducts(A, B0, &equal[DUPLICATE]));
  PetscCall(MatZeroEntries(B));
  PetscCall(SameProducts(A, B, &equal[AGAIN]));
  PetscCall(Assemble(c, A));
  PetscCall(Assemble(c, B));
  if (equal[AGAIN]) PetscCall(SameProducts(A, B, &equal[AGAIN]));
  PetscCall(DestroyAll(&B0, &l, &r));
  PetscFunctionReturn(0);
}

static PetscErrorCode ZeroRows(const Case *c, Mat A, Mat B, PetscBool columns, PetscBool *equal)
{
  Vec       x, b, d;
  PetscInt  N, rows[40], m = 0;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &d));
  PetscCall(FillRows(x, 8));
  PetscCall(FillRows(b, 9));
  PetscCall(FillRows(d, 9));
  PetscCall(VecGetSize(x, &N));
  for (PetscInt r = 0; r < N && m < 40; r++) {
    if (GridHash(r, c->g.number, 1, columns) < 0.3) rows[m++] = r;
  }
  if (columns) {
    PetscCall(MatZeroRowsColumns(A, m, rows, 2.5, x, b));
    PetscCall(MatZeroRowsColumns(B, m, rows, 2.5, x, d));
  } else {
    PetscCall(MatZeroRows(A, m, rows, 2.5, x, b));
    PetscCall(MatZeroRows(B, m, rows, 2.5, x, d));
  }
  PetscCall(SameProducts(A, B, equal));
  PetscCall(Equal(b, d, &same));
  *equal = (PetscBool)(*equal && same);
  PetscCall(DestroyAll(&x, &b, &d));
  PetscFunctionReturn(0);
}

/* Written as AIJ, read as stencil, and the other way round */
static PetscErrorCode Load(const Case *c, Mat A, Mat B, PetscBool *equal)
{
  PetscViewer viewer;
  Mat         C;

  PetscFunctionBeginUser;
  for (int way = 0; way < 2; way++) {
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, "stencil.petsc", FILE_MODE_WRITE, &viewer));
    PetscCall(MatView(way ? B : A, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    PetscCall(MatDuplicate(way ? A : B, MAT_DO_NOT_COPY_VALUES, &C));
    if (way) {
      PetscCall(MatDestroy(&C));
      PetscCall(DMSetMatType(c->da, MATAIJ));
      PetscCall(DMCreateMatrix(c->da, &C));
    }
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, "stencil.petsc", FILE_MODE_READ, &viewer));
    PetscCall(MatLoad(C, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    if (!way || *equal) PetscCall(SameProducts(A, C, equal));
    PetscCall(MatDestroy(&C));
  }
  PetscFunctionReturn(0);
}

/* All rows in reverse order */
static PetscErrorCode Submatrix(Mat A, Mat B, PetscBool *equal)
{
  PetscInt N, first, end;
  IS       is;
  Mat      SA, SB;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &N, NULL));
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, end - first, N - 1 - first, -1, &is));
  PetscCall(MatCreateSubMatrix(A, is, is, MAT_INITIAL_MATRIX, &SA));
  PetscCall(MatCreateSubMatrix(B, is, is, MAT_INITIAL_MATRIX, &SB));
  PetscCall(SameProducts(SA, SB, equal));
  PetscCall(DestroyAll(&is, &SA, &SB));
  PetscFunctionReturn(0);
}

/* A box stencil is added to whatever the case has, which a star has no entries for */
static PetscErrorCode Widened(const Case *c, Mat A, Mat B, PetscBool *equal)
{
  Case box = *c;
  Mat  A0, B0, X[2];

  PetscFunctionBeginUser;
  box.g.box = PETSC_TRUE;
  PetscCall(GridCreateDM(&box.g, &box.da));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &A0));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &B0));
  for (int i = 0; i < 2; i++) {
    PetscCall(DMSetMatType(box.da, i ? MATSTENCIL : MATAIJ));
    PetscCall(DMCreateMatrix(box.da, &X[i]));
    PetscCall(Assemble(&box, X[i]));
  }
  PetscCall(MatAXPY(A0, 0.4, X[0], DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatAXPY(B0, 0.4, X[1], DIFFERENT_NONZERO_PATTERN));
  PetscCall(SameProducts(A0, B0, equal));
  PetscCall(MatScale(A0, 2.0));
  PetscCall(MatScale(B0, 2.0));
  if (*equal) PetscCall(SameProducts(A0, B0, equal));
  for (int i = 0; i < 2; i++) PetscCall(MatDestroy(&X[i]));
  PetscCall(DestroyAll(&A0, &B0, &box.da));
  PetscFunctionReturn(0);
}

/* Products with AIJ matrices and with itself, made twice: the values of the stencil change in between */
static PetscErrorCode MatrixProducts(Mat A, Mat B, PetscBool *equal)
{
  Mat A0, B0, expected[3], got[3];

  PetscFunctionBeginUser;
  *equal = PETSC_TRUE;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &A0));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &B0));
  for (int again = 0; again < 2; again++) {
    const MatReuse reuse = again ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX;

    PetscCall(MatMatMult(A0, A, reuse, PETSC_DEFAULT, &expected[0]));
    PetscCall(MatMatMult(B0, A, reuse, PETSC_DEFAULT, &got[0]));
    PetscCall(MatMatMult(A, A0, reuse, PETSC_DEFAULT, &expected[1]));
    PetscCall(MatMatMult(A, B0, reuse, PETSC_DEFAULT, &got[1]));
    PetscCall(MatPtAP(A0, A, reuse, PETSC_DEFAULT, &expected[2]));
    PetscCall(MatPtAP(B0, A, reuse, PETSC_DEFAULT, &got[2]));
    for (int i = 0; i < 3 && *equal; i++) PetscCall(SameProducts(expected[i], got[i], equal));
    PetscCall(MatShift(A0, 3.0));
    PetscCall(MatShift(B0, 3.0));
  }
  for (int i = 0; i < 3; i++) PetscCall(DestroyAll(&expected[i], &got[i]));
  PetscCall(MatMatMult(A0, A0, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &expected[0]));
  PetscCall(MatMatMult(B0, B0, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &got[0]));
  if (*equal) PetscCall(SameProducts(expected[0], got[0], equal));
  PetscCall(DestroyAll(&expected[0], &got[0], &A0, &B0));
  PetscFunctionReturn(0);
}

/* The transpose as a matrix of its own, made again with other values, and in place of the matrix */
static PetscErrorCode Transposed(Mat A, Mat B, PetscBool *equal)
{
  Mat A0, B0, AT, BT;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &A0));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &B0));
  PetscCall(MatTranspose(A0, MAT_INITIAL_MATRIX, &AT));
  PetscCall(MatTranspose(B0, MAT_INITIAL_MATRIX, &BT));
  PetscCall(SameProducts(AT, BT, equal));
  PetscCall(MatScale(A0, 3.0));
  PetscCall(MatScale(B0, 3.0));
  PetscCall(MatTranspose(A0, MAT_REUSE_MATRIX, &AT));
  PetscCall(MatTranspose(B0, MAT_REUSE_MATRIX, &BT));
  if (*equal) PetscCall(SameProducts(AT, BT, equal));
  PetscCall(MatTranspose(B0, MAT_INPLACE_MATRIX, &B0));
  if (*equal) PetscCall(SameProducts(AT, B0, equal));
  PetscCall(DestroyAll(&AT, &BT, &A0, &B0));
  PetscFunctionReturn(0);
}

/* Two couplings of a pair of points are one entry: the last value counts, or their sum, in any order */
static PetscBool IsTiny(const Grid *g)
{
  for (PetscInt d = 0; d < 3; d++) {
    if (g->boundary[d][0] == BOUNDARY_PERIODIC && g->size[d] <= 2) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* What PETSc finds in the AIJ matrix is found in the stencil: exactly, and with a tolerance after a change that is
   smaller. It remembers answers: a new matrix for each question */
static PetscErrorCode Symmetry(const Case *c, Mat A, Mat B, PetscBool *equal)
{
  const PetscReal tol[3] = {0, 1e-8, 1e-3};
  const PetscBool tiny   = IsTiny(&c->g);
  Vec             l;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &l, NULL));
  PetscCall(FillRows(l, 3));
  *equal = PETSC_TRUE;
  for (int ask = 0; ask < 6; ask++) {
    PetscBool yes[3] = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE}, structure = PETSC_TRUE;

    if (tiny && ask % 3 == 0) continue;
    for (int i = 0; i < 3; i++) {
      Mat M, change;
      int mine, all;

      PetscCall(MatDuplicate(i ? B : A, MAT_COPY_VALUES, &M));
      PetscCall(MatDuplicate(M, MAT_COPY_VALUES, &change));
      PetscCall(MatDiagonalScale(change, l, NULL));
      if (ask >= 3) PetscCall(MatAXPY(M, 1e-5, change, SAME_NONZERO_PATTERN));
      if (i < 2) PetscCall(MatIsSymmetric(M, tol[ask % 3], &yes[i]));
      else PetscCall(MatIsHermitian(M, tol[ask % 3], &yes[i]));
      mine = yes[i];
      /* of AIJ processes may answer for themselves */
      PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, PETSC_COMM_WORLD));
      yes[i] = (PetscBool)all;
      if (i) PetscCall(MatIsStructurallySymmetric(M, &structure));
      *equal = (PetscBool)(*equal && structure);
      PetscCall(DestroyAll(&M, &change));
    }
    *equal = (PetscBool)(*equal && yes[0] == yes[1] && (yes[0] == yes[2] || PetscDefined(USE_COMPLEX)) &&
                         (yes[1] || !c->symmetric || tiny || ask == 3 || ask == 4));
  }
  PetscCall(VecDestroy(&l));
  PetscFunctionReturn(0);
}

/* One coupling that differs from the opposite one is found, wherever it is */
static PetscErrorCode OneCoupling(const Case *c, Mat A, Mat B, PetscBool *equal)
{
  const PetscInt *cols;
  PetscInt        N, low, high, ncols, at[2];
  int             mine, changed;

  PetscFunctionBeginUser;
  *equal = PETSC_TRUE;
  if (!c->symmetric || IsTiny(&c->g)) PetscFunctionReturn(0);
  PetscCall(MatGetSize(A, &N, NULL));
  PetscCall(MatGetOwnershipRange(A, &low, &high));
  for (int ask = 0; ask < 8; ask++) {
    const PetscInt row = (N - 1) * ask / 7;
    Mat            M;
    PetscBool      yes;

    PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &M));
    mine = 0;
    if (row >= low && row < high) {
      at[0] = at[1] = row;
      PetscCall(MatGetRow(A, row, &ncols, &cols, NULL));
      if (ncols) at[1] = cols[ask * (ncols - 1) / 7];
      PetscCall(MatRestoreRow(A, row, &ncols, &cols, NULL));
      mine = at[0] != at[1];
      PetscCall(MatSetValue(M, at[0], at[1], 1e-3, ADD_VALUES));
    }
    PetscCallMPI(MPI_Allreduce(&mine, &changed, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
    PetscCall(AssembleMat(M));
    PetscCall(MatIsSymmetric(M, 1e-8, &yes));
    *equal = (PetscBool)(*equal && yes == !changed);
    PetscCall(MatDestroy(&M));
  }
  PetscFunctionReturn(0);
}

/* Rows [first, end) of a matrix that has all of them here, times a factor */
static PetscErrorCode SetRowsFrom(Mat all, PetscInt first, PetscInt end, PetscScalar factor, InsertMode mode, Mat B)
{
  const PetscInt    *cols;
  const PetscScalar *values;
  PetscScalar        scaled[64];
  PetscInt           m;

  PetscFunctionBeginUser;
  for (PetscInt row = first; row < end; row++) {
    PetscCall(MatGetRow(all, row, &m, &cols, &values));
    for (PetscInt i = 0; i < m; i++) scaled[i] = factor * values[i];
    PetscCall(MatSetValues(B, 1, &row, m, cols, scaled, mode));
    PetscCall(MatRestoreRow(all, row, &m, &cols, &values));
  }
  PetscCall(AssembleMat(B));
  PetscFunctionReturn(0);
}

/* Each process inserts the rows of the next one; all processes add their parts to all rows; rows of others are
   ignored where that is asked for */
static PetscErrorCode RowsOfOthers(Mat A, Mat B, PetscBool *equal)
{
  const PetscInt *ranges;
  PetscInt        N;
  Mat             B0, *all;
  IS              is;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRanges(A, &ranges));
  PetscCall(MatGetSize(A, &N, NULL));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, N, 0, 1, &is));
  PetscCall(MatCreateSubMatrices(A, 1, &is, &is, MAT_INITIAL_MATRIX, &all));
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &B0));
  PetscCall(SetRowsFrom(all[0], ranges[(PetscGlobalRank + 1) % PetscGlobalSize],
                        ranges[(PetscGlobalRank + 1) % PetscGlobalSize + 1], 1, INSERT_VALUES, B0));
  PetscCall(SameProducts(A, B0, equal));
  PetscCall(MatZeroEntries(B0));
  PetscCall(SetRowsFrom(all[0], 0, N, 1. / PetscGlobalSize, ADD_VALUES, B0));
  if (*equal) PetscCall(SameProducts(A, B0, equal));
  PetscCall(MatSetOption(B0, MAT_IGNORE_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(MatZeroEntries(B0));
  PetscCall(SetRowsFrom(all[0], 0, N, 1, ADD_VALUES, B0));
  if (*equal) PetscCall(SameProducts(A, B0, equal));
  PetscCall(MatDestroySubMatrices(1, &all));
  PetscCall(DestroyAll(&B0, &is));
  PetscFunctionReturn(0);
}

/* From stencil to AIJ and back, the matrix being zero on the way: its DM, null space, numberings and all places of
   its stencil are there afterwards */
static PetscErrorCode InPlace(const Case *c, Mat A, Mat B, PetscBool *equal)
{
  MatNullSpace constants, nullspace;
  Mat          M;
  DM           dm;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &M));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
  PetscCall(MatSetNullSpace(M, constants));
  *equal = PETSC_TRUE;
  for (int back = 0; back < 2; back++) {
    PetscCall(MatZeroEntries(M));
    PetscCall(MatConvert(M, back ? MATSTENCIL : MATAIJ, MAT_INPLACE_MATRIX, &M));
    PetscCall(MatGetDM(M, &dm));
    PetscCall(MatGetNullSpace(M, &nullspace));
    *equal = (PetscBool)(*equal && dm == c->da && nullspace == constants);
    PetscCall(Assemble(c, M));
    if (*equal) PetscCall(SameProducts(A, M, equal));
  }
  PetscCall(DestroyAll(&constants, &M));
  PetscFunctionReturn(0);
}

/* A matrix keeps the grid that it was made on */
static PetscErrorCode Forgotten(Case *c, Mat A, Mat B, PetscBool *equal)
{
  Mat copy;

  PetscFunctionBeginUser;
  PetscCall(MatSetDM(A, NULL));
  PetscCall(MatSetDM(B, NULL));
  PetscCall(DMDestroy(&c->da));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &copy));
  PetscCall(Rows(A, B, equal));
  if (*equal) PetscCall(MatMultEqual(A, copy, 2, equal));
  PetscCall(MatDestroy(&copy));
  PetscFunctionReturn(0);
}

static PetscErrorCode RunCase(Case *c, PetscBool equal[])
{
  Mat A, B;

  PetscFunctionBeginUser;
  PetscCall(GridCreateDM(&c->g, &c->da));
  PetscCall(DMSetMatType(c->da, MATAIJ));
  PetscCall(DMCreateMatrix(c->da, &A));
  PetscCall(DMSetMatType(c->da, MATSTENCIL));
  PetscCall(DMCreateMatrix(c->da, &B));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(Assemble(c, A));
  PetscCall(Assemble(c, B));
  PetscCall(Products(A, B, equal));
  PetscCall(NormsAndRows(A, B, equal));
  PetscCall(Transposed(A, B, &equal[TRANSPOSED]));
  PetscCall(Symmetry(c, A, B, &equal[SYMMETRY]));
  if (equal[SYMMETRY]) PetscCall(OneCoupling(c, A, B, &equal[SYMMETRY]));
  PetscCall(RowsOfOthers(A, B, &equal[OTHERS]));
  PetscCall(InPlace(c, A, B, &equal[INPLACE]));
  PetscCall(Changes(c, A, B, equal));
  PetscCall(Load(c, A, B, &equal[LOAD]));
  PetscCall(Submatrix(A, B, &equal[SUBMATRIX]));
  equal[WIDENED] = equal[MATPRODUCT] = PETSC_TRUE;
  if (c->g.number % 2) PetscCall(Widened(c, A, B, &equal[WIDENED]));
  if (c->g.number % 3 == 0) PetscCall(MatrixProducts(A, B, &equal[MATPRODUCT]));
  PetscCall(ZeroRows(c, A, B, PETSC_FALSE, &equal[ZEROROWS]));
  PetscCall(ZeroRows(c, A, B, PETSC_TRUE, &equal[ZEROROWSCOLUMNS]));
  PetscCall(Forgotten(c, A, B, &equal[FORGOTTEN]));
  PetscCall(DestroyAll(&A, &B));
  PetscFunctionReturn(0);
}

static PetscErrorCode ShowCase(const Case *c, Property p)
{
  PetscFunctionBeginUser;
  PetscCall(GridShow(&c->g, Claims[p]));
  PetscCall(Print("    kind %d, way %d%s%s\n", (int)c->kind, (int)c->way, c->symmetric ? ", symmetric" : "",
                  c->identity ? ", identity" : ""));
  PetscFunctionReturn(0);
}

/* What is refused, and in which words */
typedef enum {
  OUTSIDE_STAR,
  OUTSIDE_BOX,
  OTHERS_BARRED,
  OTHERS_MIXED,
  TRANSPOSE_REUSED,
  DOF,
  WIDTH,
  NO_DM,
  NO_STENCIL,
  NUM_ERRORS
} Refusal;

static PetscErrorCode RefusedMatrix(Refusal which, DM *da, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE,
                         which == OUTSIDE_BOX ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR, 5, 8, 1, PETSC_DECIDE,
                         which == DOF ? 2 : 1, which == WIDTH ? 2 : 1, NULL, NULL, da));
  PetscCall(DMSetUp(*da));
  PetscCall(DMSetMatType(*da, which == NO_STENCIL ? MATAIJ : MATSTENCIL));
  if (which == NO_DM) {
    PetscCall(MatCreate(PETSC_COMM_WORLD, A));
    PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, 40, 40));
    PetscCall(MatSetType(*A, MATSTENCIL));
    PetscCall(MatSetUp(*A));
  } else PetscCall(DMCreateMatrix(*da, A));
  PetscFunctionReturn(0);
}

static PetscErrorCode Refused(Refusal which, DM *da, Mat *A)
{
  PetscInt    row = 0, col = 1;
  PetscScalar one = 1;
  Mat         other;

  PetscFunctionBeginUser;
  PetscCall(RefusedMatrix(which, da, A));
  if (which == OUTSIDE_STAR) col = 6;
  if (which == OUTSIDE_BOX) col = 7;
  if (which == OTHERS_BARRED) PetscCall(MatSetOption(*A, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  if (which == OTHERS_BARRED || which == OTHERS_MIXED) row = col = PetscGlobalRank ? 0 : 37;
  if (which == TRANSPOSE_REUSED) {
    PetscCall(MatConvert(*A, MATAIJ, MAT_INITIAL_MATRIX, &other));
    PetscCall(MatTransposeSetPrecursor(*A, other));
    PetscCall(MatTranspose(*A, MAT_REUSE_MATRIX, &other));
  }
  if (which == NO_STENCIL) {
    PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    col = 2;
  }
  if (!PetscGlobalRank || which == OTHERS_MIXED)
    PetscCall(MatSetValues(*A, 1, &row, 1, &col, &one, PetscGlobalRank ? ADD_VALUES : INSERT_VALUES));
  if (which != NO_STENCIL && which != OTHERS_MIXED) PetscFunctionReturn(0);
  PetscCall(AssembleMat(*A));
  PetscCall(MatConvert(*A, MATSTENCIL, MAT_INPLACE_MATRIX, A));
  PetscFunctionReturn(0);
}

static PetscErrorCode ShowErrors(void)
{
  char words[ERROR_LENGTH];

  PetscFunctionBeginUser;
  for (int which = 0; which < NUM_ERRORS; which++) {
    DM  da = NULL;
    Mat A  = NULL;

    words[0] = 0;
    PetscCall(PetscPushErrorHandler(KeepError, words));
    (void)!Refused((Refusal)which, &da, &A);
    PetscCall(PetscPopErrorHandler());
    PetscCall(Print("%d: %s\n", which, words));
    PetscCall(DMDestroy(&da));
    if (which != DOF && which != WIDTH) PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt  first = 0, cases = 60, kind = -1, done = 0;
  PetscBool all[NUM_PROPERTIES];

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-first", &first, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cases", &cases, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-kind", &kind, NULL));
  if (Given("-errors")) {
    PetscCall(PetscOptionsClearValue(NULL, "-malloc_dump")); /* PETSc forgets what it was making when an error came */
    PetscCall(ShowErrors());
    PetscCall(PetscFinalize());
    return 0;
  }
  for (int p = 0; p < NUM_PROPERTIES; p++) all[p] = PETSC_TRUE;
  for (PetscInt number = first; number < first + cases; number++) {
    PetscBool equal[NUM_PROPERTIES], possible = PETSC_FALSE;
    Case      c;

    PetscCall(CaseMake(&c, number, kind, &possible));
    if (!possible) continue;
    done++;
    PetscCall(RunCase(&c, equal));
    for (int p = 0; p < NUM_PROPERTIES; p++) {
      if (!equal[p]) PetscCall(ShowCase(&c, (Property)p));
      all[p] = (PetscBool)(all[p] && equal[p]);
    }
  }
  for (int p = 0; p < NUM_PROPERTIES; p++) {
    PetscCall(ClaimThat(all[p], "%s: as AIJ", Claims[p]));
  }
  PetscCall(Claim(done > cases / 3, "enough cases"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    nsize: {{1 2 4}}
    args: -cases 60 -malloc_dump -fp_trap
    output_file: output/stencil.out

  test:
    suffix: three
    nsize: 3
    args: -first 60 -cases 60
    output_file: output/stencil.out

  test:
    suffix: blocks
    nsize: {{1 2}}
    args: -first 200 -cases 40 -kind {{0 1 2 3}}
    output_file: output/stencil.out

  test:
    suffix: errors
    nsize: 2
    args: -errors

TEST*/
