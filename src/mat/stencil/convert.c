/*
  From AIJ to stencil: straight through the rows of one line after the other.
*/
#include "matstencil.h"

/* So many rows at once are tried to be read without questions */
#define KC_ROWS 64

/* How well entries fit, ascending */
typedef enum {
  FITS,
  FITS_BOX, /* the stencil must be a box */
  FITS_NOT
} Fit;

/*
  Rows of this process: columns among them, and the others. Where processes own parts of planes of a grid its rows are
  not just the points of the process: row "shift" is the first point, and points before and behind the rows are fetched
*/
typedef struct {
  const KCycleBox   *box;
  PetscBool          moved;
  PetscInt           nrows, shift;
  PetscInt           below, above; /* rows that other processes have, first and last ones */
  KCycleFetchedRows  fetched;
  Mat                mat, diagonal, off;
  const PetscInt    *i, *j, *oi, *oj;
  const PetscScalar *a, *oa;
  PetscInt (*point)[3]; /* of each other column, relative to the owned box */
  PetscInt wrong[2];    /* row and column of an entry that does not fit */
} Rows;

/* Columns that points inside a line have inside the box: differences to the row, ascending, and their coefficients */
typedef struct {
  int      m, which[KC_MAX_COEFFS];
  PetscInt difference[KC_MAX_COEFFS];
} Pattern;

/* Rows of other processes that are points of this one, the first ones and the last ones of its grid */
static PetscErrorCode RowsFetch(Mat A, Rows *rows)
{
  const PetscInt first = rows->box->rows[rows->box->rank], end = first + rows->box->npoints;
  PetscInt      *row;
  IS             which;

  PetscFunctionBegin;
  rows->below = PetscMax(PetscMin(end, A->rmap->rstart) - first, 0);
  rows->above = PetscMax(end - PetscMax(first, A->rmap->rend), 0);
  PetscCall(PetscMalloc1(rows->below + rows->above, &row));
  for (PetscInt r = 0; r < rows->below; r++) row[r] = first + r;
  for (PetscInt r = 0; r < rows->above; r++) row[rows->below + r] = end - rows->above + r;
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, rows->below + rows->above, row, PETSC_OWN_POINTER, &which));
  PetscCall(KCycleAIJFetchRows(A, which, &rows->fetched));
  PetscCall(ISDestroy(&which));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsGet(Mat A, const KCycleBox *box, PetscBool moved, Rows *rows)
{
  const PetscInt *columns = NULL;
  PetscBool       parallel;
  PetscInt        n;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(rows, sizeof(*rows)));
  rows->box      = box;
  rows->mat      = A;
  rows->diagonal = A;
  rows->wrong[0] = -1;
  rows->moved    = moved;
  rows->nrows    = A->rmap->n;
  rows->shift    = moved ? box->rows[box->rank] - A->rmap->rstart : 0;
  if (moved) PetscCall(RowsFetch(A, rows));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &rows->diagonal, &rows->off, &columns));
  PetscCall(KCycleAIJGetArrays(rows->diagonal, &rows->i, &rows->j, &rows->a));
  if (!parallel) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleAIJGetArrays(rows->off, &rows->oi, &rows->oj, &rows->oa));
  PetscCall(MatGetSize(rows->off, NULL, &n));
  PetscCall(PetscMalloc1(n, &rows->point));
  for (PetscInt c = 0; c < n; c++) MatStencilPointOf(box, columns[c], rows->point[c]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsRestore(Rows *rows)
{
  PetscFunctionBegin;
  PetscCall(KCycleAIJRestoreArrays(rows->diagonal, &rows->i, &rows->j, &rows->a));
  if (rows->off) PetscCall(KCycleAIJRestoreArrays(rows->off, &rows->oi, &rows->oj, &rows->oa));
  PetscCall(PetscFree(rows->point));
  PetscCall(KCycleAIJFetchedRowsDestroy(&rows->fetched));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do the rows [first, end) belong to this process? */
static inline PetscBool AreOwned(const Rows *rows, PetscInt first, PetscInt end)
{
  return (PetscBool)(first >= 0 && end <= rows->nrows);
}

/* at: the row of the first point of line (j, k). Across planes in parts it is rows that tell which neighbours are on
   this process */
static void PatternMake(const Rows *rows, const KCycleShape *shape, PetscInt at, PetscInt j, PetscInt k, Pattern *p)
{
  const PetscInt *n = rows->box->n, last = rows->moved ? rows->box->dim - 1 : 3;

  p->m = 0;
  for (int o = 0; o < shape->ncoeffs; o++) {
    const int      dy = shape->dy[shape->line[o]], dz = shape->dz[shape->line[o]];
    const PetscInt jj = j + dy, kk = k + dz, line = n[0] * (dy + n[1] * dz);

    if ((last != 1 && (jj < 0 || jj >= n[1])) || (last != 2 && (kk < 0 || kk >= n[2])) ||
        !AreOwned(rows, at + line, at + line + n[0]))
      continue;
    p->which[p->m]        = o;
    p->difference[p->m++] = shape->dx[o] + line;
  }
}

/* One entry anywhere */
static Fit SetEntry(Rows *rows, const KCycleShape *shape, const PetscInt row[], const PetscInt col[], PetscScalar value,
                    PetscScalar values[])
{
  const int o = KCycleFindOffset(rows->box, shape, row, col);

  if (value == (PetscScalar)0.0) return FITS;
  if (o < 0) {
    const PetscInt *s    = rows->box->start;
    const PetscInt  r[3] = {row[0] + s[0], row[1] + s[1], row[2] + s[2]},
                   c[3]  = {col[0] + s[0], col[1] + s[1], col[2] + s[2]};
    KCycleShape box;

    KCycleShapeCreate(rows->box->dim, KC_BOX | shape->flat, &box);
    if (KCycleFindOffset(rows->box, &box, row, col) >= 0) return FITS_BOX;
    rows->wrong[0] = KCycleBoxPointToRow(rows->box, r);
    rows->wrong[1] = KCycleBoxPointToRow(rows->box, c);
    return FITS_NOT;
  }
  values[o * rows->box->n[0] + row[0]] += value;
  return FITS;
}

/* Entries [e, end) of a row, whose columns are on this process */
static Fit SetRow(Rows *rows, const KCycleShape *shape, const PetscInt row[], PetscInt e, PetscInt end,
                  PetscScalar values[])
{
  const PetscInt *n   = rows->box->n;
  Fit             fit = FITS;

  for (; e < end; e++) {
    const PetscInt column = rows->j[e] - rows->shift, line = column / n[0];
    PetscInt       col[3] = {column - line * n[0], line % n[1], line / n[1]};

    if (column < 0 || column >= rows->box->npoints)
      MatStencilPointOf(rows->box, rows->box->rows[rows->box->rank] + column, col);
    fit = PetscMax(fit, SetEntry(rows, shape, row, col, rows->a[e], values));
  }
  return fit;
}

static Fit SetOffRow(Rows *rows, const KCycleShape *shape, const PetscInt row[], PetscInt at, PetscScalar values[])
{
  Fit fit = FITS;

  for (PetscInt e = rows->oi[at]; e < rows->oi[at + 1]; e++)
    fit = PetscMax(fit, SetEntry(rows, shape, row, rows->point[rows->oj[e]], rows->oa[e], values));
  return fit;
}

static Fit SetFetchedRow(Rows *rows, const KCycleShape *shape, const PetscInt row[], PetscInt point,
                         PetscScalar values[])
{
  const KCycleFetchedRows *f  = &rows->fetched;
  const PetscInt           at = point < rows->below ? point : point - (rows->box->npoints - rows->above) + rows->below;
  PetscInt                 col[3];
  Fit                      fit = FITS;

  for (PetscInt e = f->i[at]; e < f->i[at + 1]; e++) {
    MatStencilPointOf(rows->box, f->j[e], col);
    fit = PetscMax(fit, SetEntry(rows, shape, row, col, f->a[e], values));
  }
  return fit;
}

/* A row inside a line: columns in the order of the pattern, some missing; the slow way from where they are not */
static Fit SetRowMerged(Rows *rows, const KCycleShape *shape, const Pattern *p, const PetscInt row[], PetscInt at,
                        PetscScalar values[])
{
  const PetscInt end = rows->i[at + 1];
  PetscInt       e;
  int            t = 0;

  for (e = rows->i[at]; e < end; e++) {
    const PetscInt difference = rows->j[e] - at;

    if (rows->a[e] == (PetscScalar)0.0) continue;
    while (t < p->m && p->difference[t] < difference) t++;
    if (t == p->m || p->difference[t] != difference) break;
    values[p->which[t] * rows->box->n[0] + row[0]] = rows->a[e];
  }
  return e < end ? SetRow(rows, shape, row, e, end, values) : FITS;
}

/* Do rows [begin, end) of a line, at: that of its first point, all have just the columns of the pattern? If the
   first has them, the others differ from the row before by one */
KC_VERSIONS static PetscBool IsRegular(const Rows *rows, const Pattern *p, PetscInt at, PetscInt begin, PetscInt end)
{
  const PetscInt  m = p->m, *length = rows->i + at, first = length[begin], count = (end - begin - 1) * m;
  const PetscInt *j     = rows->j + first;
  PetscInt        wrong = 0;

  for (PetscInt i = begin; i < end; i++) wrong |= length[i + 1] - length[i] - m;
  if (wrong) return PETSC_FALSE;
  for (PetscInt t = 0; t < m; t++) wrong |= j[t] - (at + begin) - p->difference[t];
  for (PetscInt e = 0; e < count; e++) wrong |= j[e + m] - j[e] - 1;
  return (PetscBool)!wrong;
}

#if defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_COMPLEX) && defined(__GNUC__) && \
    !defined(__clang__) /* which has no __builtin_shuffle() */
typedef PetscScalar Four __attribute__((vector_size(4 * sizeof(PetscScalar))));
typedef int64_t     Places __attribute__((vector_size(4 * sizeof(int64_t))));

/* Columns t to t + 3 of four rows of m entries: blocks of 4 x 4 are transposed */
static inline __attribute__((always_inline)) void SetFourRows(const int m, const PetscScalar *a,
                                                              PetscScalar *const to[], PetscInt i)
{
  const Places even = {0, 4, 2, 6}, odd = {1, 5, 3, 7}, low = {0, 1, 4, 5}, high = {2, 3, 6, 7};

  KC_UNROLL
  for (int block = 0; block < (m + 3) / 4; block++) {
    const int t = 4 * block + 4 > m ? m - 4 : 4 * block;
    Four      row[4], pair[4], column[4];

    KC_UNROLL
    for (int r = 0; r < 4; r++) memcpy(&row[r], a + m * r + t, sizeof(row[r]));
    KC_UNROLL
    for (int r = 0; r < 4; r += 2) {
      pair[r]     = __builtin_shuffle(row[r], row[r + 1], even);
      pair[r + 1] = __builtin_shuffle(row[r], row[r + 1], odd);
    }
    KC_UNROLL
    for (int c = 0; c < 2; c++) {
      column[c]     = __builtin_shuffle(pair[c], pair[c + 2], low);
      column[c + 2] = __builtin_shuffle(pair[c], pair[c + 2], high);
    }
    KC_UNROLL
    for (int c = 0; c < 4; c++) memcpy(to[t + c] + i, &column[c], sizeof(column[c]));
  }
}
#else
static inline void SetFourRows(const int m, const PetscScalar *a, PetscScalar *const to[], PetscInt i)
{
  for (int r = 0; r < 4; r++) {
    for (int t = 0; t < m; t++) to[t][i + r] = a[m * r + t];
  }
}
#endif

static inline __attribute__((always_inline)) void SetRegularRows(const Rows *rows, const Pattern *p, const int m,
                                                                 PetscInt at, PetscInt begin, PetscInt end,
                                                                 PetscScalar values[])
{
  const PetscInt     n = rows->box->n[0];
  const PetscScalar *a = rows->a + rows->i[at + begin];
  PetscScalar       *to[KC_MAX_COEFFS];
  PetscInt           i = begin;

  for (int t = 0; t < m; t++) to[t] = values + p->which[t] * n;
  for (; m >= 4 && i + 4 <= end; i += 4, a += 4 * m) SetFourRows(m, a, to, i);
  for (; i < end; i++, a += m) {
    for (int t = 0; t < m; t++) to[t][i] = a[t];
  }
}

KC_VERSIONS static void SetRegular(const Rows *rows, const Pattern *p, PetscInt at, PetscInt begin, PetscInt end,
                                   PetscScalar values[])
{
  if (p->m == 7) SetRegularRows(rows, p, 7, at, begin, end, values);
  else if (p->m == 5) SetRegularRows(rows, p, 5, at, begin, end, values);
  else SetRegularRows(rows, p, p->m, at, begin, end, values);
}

static Fit SetLine(Rows *rows, const KCycleShape *shape, PetscInt l, PetscScalar values[])
{
  const PetscInt *n = rows->box->n, at = l * n[0] + rows->shift;
  PetscInt        row[3] = {0, l % n[1], l / n[1]};
  Pattern         pattern;
  Fit             fit = FITS;

  PatternMake(rows, shape, at, row[1], row[2], &pattern);
  memset(values, 0, sizeof(*values) * (size_t)(shape->ncoeffs * n[0]));
  for (PetscInt i = 0; i < n[0]; i++) {
    const PetscInt end = PetscMin(i + KC_ROWS, n[0] - 2); /* rows beside the ends may lack entries */

    if (i > 1 && i < end && AreOwned(rows, at + i, at + end) && IsRegular(rows, &pattern, at, i, end)) {
      SetRegular(rows, &pattern, at, i, end, values);
      i = end - 1;
      continue;
    }
    row[0] = i;
    if (!AreOwned(rows, at + i, at + i + 1)) fit = PetscMax(fit, SetFetchedRow(rows, shape, row, l * n[0] + i, values));
    else if (i > 0 && i < n[0] - 1) fit = PetscMax(fit, SetRowMerged(rows, shape, &pattern, row, at + i, values));
    else fit = PetscMax(fit, SetRow(rows, shape, row, rows->i[at + i], rows->i[at + i + 1], values));
  }
  if (!rows->off || (AreOwned(rows, at, at + n[0]) && rows->oi[at] == rows->oi[at + n[0]])) return fit;
  for (row[0] = 0; row[0] < n[0]; row[0]++) {
    if (AreOwned(rows, at + row[0], at + row[0] + 1))
      fit = PetscMax(fit, SetOffRow(rows, shape, row, at + row[0], values));
  }
  return fit;
}

/* Has a line all its neighbours in the box, in y and z, so that differences of rows and columns say which neighbour
   is meant? */
static PetscBool IsInside(const Rows *rows, PetscInt l)
{
  const KCycleBox *box   = rows->box;
  const PetscInt   at[3] = {0, l % box->n[1], l / box->n[1]}, first = l * box->n[0] + rows->shift;

  for (PetscInt d = 1; d < box->dim; d++) {
    if (at[d] == 0 || at[d] == box->n[d] - 1) return PETSC_FALSE;
  }
  return (PetscBool)(!rows->off ||
                     (AreOwned(rows, first, first + box->n[0]) && rows->oi[first] == rows->oi[first + box->n[0]]));
}

/* Have two such lines the same rows? */
KC_VERSIONS static PetscBool AreAlike(const Rows *rows, PetscInt l, PetscInt m)
{
  const PetscInt n = rows->box->n[0], shift = (l - m) * n, *i = rows->i + rows->shift + l * n, *i0 = i - shift,
                 *j = rows->j + i[0], *j0 = rows->j + i0[0], count = i[n] - i[0];
  PetscInt wrong = 0;

  if (count != i0[n] - i0[0] || memcmp(rows->a + i[0], rows->a + i0[0], count * sizeof(*rows->a))) return PETSC_FALSE;
  for (PetscInt r = 1; r < n; r++) wrong |= i[r] - i[0] - i0[r] + i0[0];
  for (PetscInt e = 0; e < count; e++) wrong |= j[e] - j0[e] - shift;
  return (PetscBool)!wrong;
}

/* All lines, in the shape that the matrix has now; an attempt with half of the coefficients comes first */
static PetscErrorCode StoreLines(Mat A, Rows *rows, Fit *fit)
{
  Mat_Stencil *st   = (Mat_Stencil *)A->data;
  PetscBool    same = PETSC_FALSE;
  PetscScalar *values;

  PetscFunctionBegin;
  *fit = FITS;
  PetscCall(PetscMalloc1((size_t)KC_MAX_COEFFS * st->s.box->n[0], &values));
  for (int half = 1; half >= 0 && !same && *fit == FITS; half--) {
    same = PETSC_TRUE;
    PetscCall(MatStencilStoreBegin(A, (PetscBool)half));
    for (PetscInt l = 0; l < st->s.box->nlines && same && *fit == FITS; l++) {
      if (l && st->s.set[l - 1] >= 0 && IsInside(rows, l) && IsInside(rows, l - 1) && AreAlike(rows, l, l - 1)) {
        PetscCall(MatStencilStoreSame(A, l, l - 1));
        continue;
      }
      *fit = SetLine(rows, &st->s.shape, l, values);
      if (*fit == FITS) PetscCall(MatStencilStoreLine(A, l, values, &same));
    }
  }
  if (*fit == FITS) PetscCall(MatStencilStoreEnd(A));
  else PetscCall(MatStencilStoreReset(A));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In the shape that the matrix has, if that is enough everywhere, else in a box */
static PetscErrorCode StoreRows(Mat A, Rows *rows, PetscBool *fits)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;
  KCycleShape  box;
  int          mine, all;
  Fit          fit;

  PetscFunctionBegin;
  PetscCall(PetscFree(st->dense));
  PetscCall(MatStencilStashReset(A));
  do {
    PetscCall(StoreLines(A, rows, &fit));
    mine = (int)fit;
    PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
    if (all != (int)FITS_BOX) break;
    KCycleShapeCreate(st->s.box->dim, KC_BOX | st->s.shape.flat, &box);
    PetscCall(MatStencilSetShape(A, &box));
  } while (PETSC_TRUE);
  *fits = (PetscBool)(all != (int)FITS_NOT);
  if (!*fits) PetscCall(MatStencilStoreReset(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How a stencil is made from AIJ */
typedef struct {
  int       flat;  /* KC_FLAT, or 0, of a new stencil */
  PetscBool moved; /* rows are those of other processes than the points */
  PetscBool stays; /* values that are on a device need not come to the host */
  MatReuse  reuse;
} Source;

/* On the host. wrong: row and column of an entry that does not fit, or -1 */
static PetscErrorCode ReadRows(Mat aij, const KCycleBox *box, const Source *from, Mat stencil, PetscBool *fits,
                               PetscInt wrong[])
{
  Rows rows;

  PetscFunctionBegin;
  PetscCall(RowsGet(aij, box, from->moved, &rows));
  PetscCall(StoreRows(stencil, &rows, fits));
  PetscCall(RowsRestore(&rows));
  wrong[0] = rows.wrong[0];
  wrong[1] = rows.wrong[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FromAIJ(Mat aij, DM dm, const Source *from, Mat *stencil, PetscBool *fits, PetscInt wrong[])
{
  KCycleBox *box;
  PetscInt   equal, all;
  char       why[256];
  PetscBool  taken = PETSC_FALSE;

  PetscFunctionBegin;
  wrong[0] = -1;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)aij, fits, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCall(KCycleBoxCheck(dm, KCYCLE_BOX_KERNELS, sizeof(why), why));
  if (!*fits || why[0]) {
    *fits = PETSC_FALSE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KCycleBoxGet(dm, KCYCLE_BOX_KERNELS, &box));
  equal = from->moved || (aij->rmap->n == box->npoints && aij->cmap->n == box->npoints);
  PetscCallMPI(MPI_Allreduce(&equal, &all, 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)aij)));
  *fits = (PetscBool)all;
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  if (from->reuse == MAT_INITIAL_MATRIX) {
    PetscCall(MatStencilCreateOnDM(dm, from->flat, stencil));
    MatStencilExpectRounding(*stencil, KC_ASSEMBLY_ROUNDING);
  } else
    PetscCall(KCycleBoxCheckSame(PetscObjectComm((PetscObject)aij), KCycleStencilOf(*stencil)->box, box,
                                 "The matrix of type stencil that is to get the values is"));
  if (from->stays) PetscCall(MatStencilTakeOnDevice(*stencil, aij, &taken));
  if (!taken) PetscCall(ReadRows(aij, box, from, *stencil, fits, wrong));
  (*stencil)->assembled     = *fits;
  (*stencil)->was_assembled = PETSC_FALSE;
  PetscCall(PetscObjectStateIncrease((PetscObject)*stencil));
  if (!*fits && from->reuse == MAT_INITIAL_MATRIX) PetscCall(MatDestroy(stencil));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilFromAIJ(Mat aij, DM dm, int flat, PetscBool moved, MatReuse reuse, Mat *stencil,
                                 PetscBool *fits)
{
  const Source from = {flat, moved, PETSC_FALSE, reuse};
  PetscInt     wrong[2];

  PetscFunctionBegin;
  PetscCall(FromAIJ(aij, dm, &from, stencil, fits, wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For MatConvert() to this type: of AIJ on host or device, and through AIJ of all others */
PetscErrorCode MatConvertFrom_Stencil(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  const Source from = {0, PETSC_FALSE, PETSC_TRUE, MAT_REUSE_MATRIX};
  PetscBool    isaij, fits, is = PETSC_TRUE;
  Mat          aij = A, stencil = reuse == MAT_REUSE_MATRIX ? *B : NULL;
  PetscInt     wrong[2];
  KCycleBox   *box;
  char         why[256];
  DM           dm;

  PetscFunctionBegin;
  (void)type;
  PetscCall(MatGetDM(A, &dm));
  PetscCall(KCycleBoxCheck(dm, KCYCLE_BOX_KERNELS, sizeof(why), why));
  PetscCheck(!why[0], PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "The matrix cannot become one of type stencil: %s%s", why,
             dm ? "" : ". Call MatSetDM() with the DMDA of its grid");
  if (stencil) PetscCall(MatStencilIs(stencil, &is));
  PetscCheck(!stencil || is, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
             "The matrix to reuse is of type %s, not stencil: make it with MatConvert(mat, MATSTENCIL, "
             "MAT_INITIAL_MATRIX, &stencil)",
             ((PetscObject)stencil)->type_name);
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, &isaij, MATSEQAIJ, MATMPIAIJ, ""));
  if (!isaij) PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
  PetscCall(KCycleBoxGet(dm, KCYCLE_BOX_KERNELS, &box));
  /* of a box, whatever the entries of now, others may come */
  if (!stencil) PetscCall(MatStencilCreateOnDM(dm, box->star ? 0 : KC_BOX, &stencil));
  PetscCall(FromAIJ(aij, dm, &from, &stencil, &fits, wrong));
  PetscCheck(wrong[0] < 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "The matrix cannot become one of type stencil: the entry in row %" PetscInt_FMT ", column %" PetscInt_FMT
             " couples points that are no neighbours on its DMDA",
             wrong[0], wrong[1]);
  PetscCheck(fits, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "The matrix cannot become one of type stencil: it does not fit its DMDA, or has entries between points "
             "that are no neighbours");
  if (!isaij) PetscCall(MatDestroy(&aij));
  if (reuse == MAT_INPLACE_MATRIX) PetscCall(MatStencilReplaceHeader(A, &stencil));
  else *B = stencil;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For MatAXPY() with a matrix of another type: an empty one that has the places of both */
PetscErrorCode MatAXPYGetPreallocation_Stencil(Mat Y, Mat X, Mat *B)
{
  PetscBool isaij, fits;
  Mat       aij = X, stencil;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)X, &isaij, MATSEQAIJ, MATMPIAIJ, ""));
  if (!isaij) PetscCall(MatConvert(X, MATAIJ, MAT_INITIAL_MATRIX, &aij));
  PetscCall(MatStencilFromAIJ(aij, ((Mat_Stencil *)Y->data)->dm, 0, PETSC_FALSE, MAT_INITIAL_MATRIX, &stencil, &fits));
  PetscCheck(
      fits, PetscObjectComm((PetscObject)Y), PETSC_ERR_ARG_OUTOFRANGE,
      "The matrix that is added to one of type stencil does not fit its DMDA, or has entries between points that "
      "are no neighbours");
  if (!isaij) PetscCall(MatDestroy(&aij));
  PetscCall(MatDuplicate(Y, MAT_DO_NOT_COPY_VALUES, B));
  PetscCall(MatStencilWiden(*B, &KCycleStencilOf(stencil)->shape));
  PetscCall(MatDestroy(&stencil));
  PetscFunctionReturn(PETSC_SUCCESS);
}
