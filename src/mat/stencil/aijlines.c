/*
  Rows of an AIJ matrix on a grid as the coefficients of a stencil, one line after the other.
*/
#include "matstencil.h"

/* Rows that are read at once, without questions, if they are alike */
#define KC_ROWS 64

/* If processes own parts of planes of a grid, rows of a process are not just its points: row "shift" is the first
   point, and points before and after the rows are fetched */
struct _KCycleAIJLines {
  const KCycleBox  *box;
  PetscBool         moved;
  PetscInt          nrows, shift;
  PetscInt          below, above; /* rows that other processes have, first and last ones */
  KCycleFetchedRows fetched;
  KCycleAIJ         aij;
  PetscInt (*point)[3]; /* of each other column, relative to the owned box */
  PetscInt wrong[2];    /* row and column of an entry that does not fit */
};

/* Columns that points inside a line have inside the box: differences to the row, ascending, and their coefficients */
typedef struct {
  int      m, which[KC_MAX_COEFFS];
  PetscInt difference[KC_MAX_COEFFS];
} Pattern;

/* Rows of other processes that are points of this one, the first ones and the last ones of its grid */
static PetscErrorCode RowsFetch(Mat A, KCycleAIJLines *rows)
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

/* moved: rows are those of other processes than the points */
PetscErrorCode KCycleAIJLinesCreate(Mat A, const KCycleBox *box, PetscBool moved, KCycleAIJLines **lines)
{
  KCycleAIJLines *rows;

  PetscFunctionBegin;
  PetscCall(PetscNew(lines));
  rows           = *lines;
  rows->box      = box;
  rows->wrong[0] = -1;
  rows->moved    = moved;
  rows->nrows    = A->rmap->n;
  rows->shift    = moved ? box->rows[box->rank] - A->rmap->rstart : 0;
  if (moved) PetscCall(RowsFetch(A, rows));
  PetscCall(KCycleAIJGet(A, PETSC_TRUE, &rows->aij));
  PetscCall(PetscMalloc1(rows->aij.ncolumns, &rows->point));
  for (PetscInt c = 0; c < rows->aij.ncolumns; c++) MatStencilPointOf(box, rows->aij.columns[c], rows->point[c]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* wrong: row and column of an entry that fits no stencil, or -1; or NULL */
PetscErrorCode KCycleAIJLinesDestroy(KCycleAIJLines **lines, PetscInt wrong[])
{
  KCycleAIJLines *rows = *lines;

  PetscFunctionBegin;
  if (!rows) PetscFunctionReturn(PETSC_SUCCESS);
  if (wrong) PetscCall(PetscArraycpy(wrong, rows->wrong, 2));
  PetscCall(KCycleAIJRestore(&rows->aij));
  PetscCall(PetscFree(rows->point));
  PetscCall(KCycleAIJFetchedRowsDestroy(&rows->fetched));
  PetscCall(PetscFree(*lines));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do the rows [first, end) belong to this process? */
static inline PetscBool AreOwned(const KCycleAIJLines *rows, PetscInt first, PetscInt end)
{
  return (PetscBool)(first >= 0 && end <= rows->nrows);
}

/* at: the row of the first point of line (j, k). Across planes in parts it is rows that tell which neighbours are on
   this process */
static void PatternMake(const KCycleAIJLines *rows, const KCycleShape *shape, PetscInt at, PetscInt j, PetscInt k,
                        Pattern *p)
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
static KCycleFit SetEntry(KCycleAIJLines *rows, const KCycleShape *shape, const PetscInt row[], const PetscInt col[],
                          PetscScalar value, PetscScalar values[])
{
  const int o = KCycleFindOffset(rows->box, shape, row, col);

  if (value == (PetscScalar)0.0) return KC_FITS;
  if (o < 0) {
    const PetscInt *s    = rows->box->start;
    const PetscInt  r[3] = {row[0] + s[0], row[1] + s[1], row[2] + s[2]},
                   c[3]  = {col[0] + s[0], col[1] + s[1], col[2] + s[2]};
    KCycleShape box;

    KCycleShapeCreate(rows->box->dim, KC_BOX | shape->flat, &box);
    if (KCycleFindOffset(rows->box, &box, row, col) >= 0) return KC_FITS_BOX;
    rows->wrong[0] = KCycleBoxPointToRow(rows->box, r);
    rows->wrong[1] = KCycleBoxPointToRow(rows->box, c);
    return KC_FITS_NOT;
  }
  values[o * rows->box->n[0] + row[0]] += value;
  return KC_FITS;
}

/* Entries [e, end) of a row, whose columns are on this process */
static KCycleFit SetRow(KCycleAIJLines *rows, const KCycleShape *shape, const PetscInt row[], PetscInt e, PetscInt end,
                        PetscScalar values[])
{
  const PetscInt *n   = rows->box->n;
  KCycleFit       fit = KC_FITS;

  for (; e < end; e++) {
    const PetscInt column = rows->aij.j[0][e] - rows->shift, line = column / n[0];
    PetscInt       col[3] = {column - line * n[0], line % n[1], line / n[1]};

    if (column < 0 || column >= rows->box->npoints)
      MatStencilPointOf(rows->box, rows->box->rows[rows->box->rank] + column, col);
    fit = PetscMax(fit, SetEntry(rows, shape, row, col, rows->aij.a[0][e], values));
  }
  return fit;
}

/* Entries in columns of other processes */
static KCycleFit SetOffRow(KCycleAIJLines *rows, const KCycleShape *shape, const PetscInt row[], PetscInt at,
                           PetscScalar values[])
{
  KCycleFit fit = KC_FITS;

  for (PetscInt e = rows->aij.i[1][at]; e < rows->aij.i[1][at + 1]; e++)
    fit = PetscMax(fit, SetEntry(rows, shape, row, rows->point[rows->aij.j[1][e]], rows->aij.a[1][e], values));
  return fit;
}

static KCycleFit SetFetchedRow(KCycleAIJLines *rows, const KCycleShape *shape, const PetscInt row[], PetscInt point,
                               PetscScalar values[])
{
  const KCycleAIJ *f  = &rows->fetched.aij;
  const PetscInt   at = point < rows->below ? point : point - (rows->box->npoints - rows->above) + rows->below;
  PetscInt         col[3];
  KCycleFit        fit = KC_FITS;

  for (PetscInt e = f->i[0][at]; e < f->i[0][at + 1]; e++) {
    MatStencilPointOf(rows->box, f->j[0][e], col);
    fit = PetscMax(fit, SetEntry(rows, shape, row, col, f->a[0][e], values));
  }
  return fit;
}

static inline PetscBool IsBeyond(PetscInt n, PetscInt i)
{
  return (PetscBool)(i < 0 || i >= n);
}

/* Columns in the order of the pattern, some missing, as at the ends of lines; the slow way from where they are not */
static KCycleFit SetRowMerged(KCycleAIJLines *rows, const KCycleShape *shape, const Pattern *p, const PetscInt row[],
                              PetscInt at, PetscScalar values[])
{
  const PetscInt n = rows->box->n[0], end = rows->aij.i[0][at + 1];
  PetscInt       e;
  int            t = 0;

  for (e = rows->aij.i[0][at]; e < end; e++) {
    const PetscInt difference = rows->aij.j[0][e] - at;

    if (rows->aij.a[0][e] == (PetscScalar)0.0) continue;
    while (t < p->m && (p->difference[t] < difference || IsBeyond(n, row[0] + shape->dx[p->which[t]]))) t++;
    if (t == p->m || p->difference[t] != difference) break;
    values[p->which[t] * n + row[0]] = rows->aij.a[0][e];
  }
  return e < end ? SetRow(rows, shape, row, e, end, values) : KC_FITS;
}

/* Do rows [begin, end) of a line, at: that of its first point, all have just the columns of the pattern? If the
   first has them, the others differ from the row before by one */
KC_VERSIONS static PetscBool IsRegular(const KCycleAIJLines *rows, const Pattern *p, PetscInt at, PetscInt begin,
                                       PetscInt end)
{
  const PetscInt  m = p->m, *length = rows->aij.i[0] + at, first = length[begin], count = (end - begin - 1) * m;
  const PetscInt *j     = rows->aij.j[0] + first;
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

static inline __attribute__((always_inline)) void SetRegularRows(const KCycleAIJLines *rows, const Pattern *p,
                                                                 const int m, PetscInt at, PetscInt begin, PetscInt end,
                                                                 PetscScalar values[])
{
  const PetscInt     n = rows->box->n[0];
  const PetscScalar *a = rows->aij.a[0] + rows->aij.i[0][at + begin];
  PetscScalar       *to[KC_MAX_COEFFS];
  PetscInt           i = begin;

  for (int t = 0; t < m; t++) to[t] = values + p->which[t] * n;
  for (; m >= 4 && i + 4 <= end; i += 4, a += 4 * m) SetFourRows(m, a, to, i);
  for (; i < end; i++, a += m) {
    for (int t = 0; t < m; t++) to[t][i] = a[t];
  }
}

KC_VERSIONS static void SetRegular(const KCycleAIJLines *rows, const Pattern *p, PetscInt at, PetscInt begin,
                                   PetscInt end, PetscScalar values[])
{
  if (p->m == 7) SetRegularRows(rows, p, 7, at, begin, end, values);
  else if (p->m == 5) SetRegularRows(rows, p, 5, at, begin, end, values);
  else SetRegularRows(rows, p, p->m, at, begin, end, values);
}

/* Coefficient o of point i of a line is values[o * n + i] */
KCycleFit KCycleAIJLinesGet(KCycleAIJLines *rows, const KCycleShape *shape, PetscInt l, PetscScalar values[])
{
  const PetscInt *n = rows->box->n, at = l * n[0] + rows->shift;
  PetscInt        row[3] = {0, l % n[1], l / n[1]};
  Pattern         pattern;
  KCycleFit       fit = KC_FITS;

  PatternMake(rows, shape, at, row[1], row[2], &pattern);
  for (int o = 0, t = 0; o < shape->ncoeffs; o++) {
    if (t < pattern.m && pattern.which[t] == o) t++;
    else memset(values + o * n[0], 0, sizeof(*values) * (size_t)n[0]);
  }
  for (PetscInt i = 0; i < n[0]; i++) {
    const PetscInt end = PetscMin(i + KC_ROWS, n[0] - 2); /* rows next to the ends may lack entries */

    if (i > 1 && i < end && AreOwned(rows, at + i, at + end) && IsRegular(rows, &pattern, at, i, end)) {
      SetRegular(rows, &pattern, at, i, end, values);
      i = end - 1;
      continue;
    }
    row[0] = i;
    for (int t = 0; t < pattern.m; t++) values[pattern.which[t] * n[0] + i] = 0;
    if (!AreOwned(rows, at + i, at + i + 1)) fit = PetscMax(fit, SetFetchedRow(rows, shape, row, l * n[0] + i, values));
    else fit = PetscMax(fit, SetRowMerged(rows, shape, &pattern, row, at + i, values));
  }
  if (!rows->aij.mat[1] || (AreOwned(rows, at, at + n[0]) && rows->aij.i[1][at] == rows->aij.i[1][at + n[0]]))
    return fit;
  for (row[0] = 0; row[0] < n[0]; row[0]++) {
    if (AreOwned(rows, at + row[0], at + row[0] + 1))
      fit = PetscMax(fit, SetOffRow(rows, shape, row, at + row[0], values));
  }
  return fit;
}

/* Has a line all its neighbours in the box, in y and z, so that differences of rows and columns say which neighbour
   is meant? */
static PetscBool IsInside(const KCycleAIJLines *rows, PetscInt l)
{
  const KCycleBox *box   = rows->box;
  const PetscInt   at[3] = {0, l % box->n[1], l / box->n[1]}, first = l * box->n[0] + rows->shift;

  for (PetscInt d = 1; d < box->dim; d++) {
    if (at[d] == 0 || at[d] == box->n[d] - 1) return PETSC_FALSE;
  }
  return (PetscBool)(!rows->aij.mat[1] || (AreOwned(rows, first, first + box->n[0]) &&
                                           rows->aij.i[1][first] == rows->aij.i[1][first + box->n[0]]));
}

/* Have two such lines the same rows? */
KC_VERSIONS static PetscBool AreAlike(const KCycleAIJLines *rows, PetscInt l, PetscInt m)
{
  const PetscInt n = rows->box->n[0], shift = (l - m) * n, *i = rows->aij.i[0] + rows->shift + l * n, *i0 = i - shift,
                 *j = rows->aij.j[0] + i[0], *j0 = rows->aij.j[0] + i0[0], count = i[n] - i[0];
  PetscInt wrong = 0;

  if (count != i0[n] - i0[0] || memcmp(rows->aij.a[0] + i[0], rows->aij.a[0] + i0[0], count * sizeof(*rows->aij.a[0])))
    return PETSC_FALSE;
  for (PetscInt r = 1; r < n; r++) wrong |= i[r] - i[0] - i0[r] + i0[0];
  for (PetscInt e = 0; e < count; e++) wrong |= j[e] - j0[e] - shift;
  return (PetscBool)!wrong;
}

/* Has a line the rows of the line before, but for the numbers of the columns? */
PetscBool KCycleAIJLinesRepeat(const KCycleAIJLines *rows, PetscInt l)
{
  return (PetscBool)(l > 0 && IsInside(rows, l) && IsInside(rows, l - 1) && AreAlike(rows, l, l - 1));
}
