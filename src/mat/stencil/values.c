/*
  How values get into a stencil matrix: from numbers of rows and columns to places in an array.
*/
#include "matstencil.h"

/* In both numberings a column next to a row is found from the difference of their numbers, if the row's point has all
   its neighbours in the box */
void MatStencilMakeFrames(Mat A)
{
  Mat_Stencil     *st  = (Mat_Stencil *)A->data;
  const KCycleBox *box = st->s.box;
  PetscInt         width[3], tiny = 0;

  for (PetscInt d = 0; d < 3; d++) {
    const PetscInt  end   = box->start[d] + box->n[d];
    const PetscBool lower = (PetscBool)(d < box->dim && !box->periodic[d] && box->start[d] == 0),
                    upper = (PetscBool)(d < box->dim && !box->periodic[d] && end == box->size[d]);

    tiny                 = PetscMax(tiny, box->periodic[d] && box->size[d] <= 2);
    st->local.low[d]     = lower;
    st->local.high[d]    = box->n[d] - upper;
    st->global.low[d]    = box->reach[d];
    st->global.high[d]   = box->n[d] - box->reach[d];
    st->global.corner[d] = 0;
    width[d]             = box->n[d];
  }
  st->global.width  = width[0];
  st->global.height = width[1];
  st->global.plane  = width[0] * width[1];
  st->global.count  = box->npoints;
  for (int c = 0; c < KC_MAX_COEFFS; c++) {
    st->local.difference[c] = st->global.difference[c] = 0;
    st->local.offset[c] = st->global.offset[c] = st->s.shape.ncoeffs / 2;
  }
  if (tiny) st->local.high[0] = st->global.high[0] = 0;
}

/* Corner, relative to the owned box, and widths of the ghosted box: known once the DMDA is set up */
static PetscErrorCode MakeLocalFrame(Mat A)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;
  KCycleFrame *f  = &st->local;
  PetscInt     corner[3], width[3];

  PetscFunctionBegin;
  PetscCall(DMDAGetGhostCorners(st->dm, &corner[0], &corner[1], &corner[2], &width[0], &width[1], &width[2]));
  for (PetscInt d = 0; d < 3; d++) {
    f->corner[d] = d < st->s.box->dim ? corner[d] - st->s.box->start[d] : 0;
    if (d >= st->s.box->dim) width[d] = 1;
  }
  f->width  = width[0];
  f->height = width[1];
  f->plane  = width[0] * width[1];
  f->count  = f->plane * width[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The point of a number */
static inline void Decode(const KCycleFrame *f, PetscInt number, PetscInt at[])
{
  const PetscInt line = number / f->width;

  at[0] = number - line * f->width + f->corner[0];
  at[2] = line / f->height;
  at[1] = line - at[2] * f->height + f->corner[1];
  at[2] += f->corner[2];
}

/* Has the point all its neighbours in the frame, without wrapping around? */
static inline PetscBool IsInside(const KCycleFrame *f, const PetscInt at[])
{
  return (PetscBool)(at[0] >= f->low[0] && at[0] < f->high[0] && at[1] >= f->low[1] && at[1] < f->high[1] &&
                     at[2] >= f->low[2] && at[2] < f->high[2]);
}

/* The coefficient for a column whose number differs so much from that of a row inside, or -1 */
static inline int FindDifference(const KCycleFrame *f, const KCycleShape *shape, PetscInt difference)
{
  const PetscInt z = (difference > f->width + 1) - (difference < -f->width - 1), rest = difference - z * f->plane,
                 y = (rest > 1) - (rest < -1), x = rest - y * f->width;

  return x < -1 || x > 1 ? -1 : shape->find[x + 3 * y + 9 * z + 13];
}

static PetscBool InGrid(const KCycleBox *box, const PetscInt at[])
{
  for (PetscInt d = 0; d < 3; d++) {
    const PetscInt global = at[d] + box->start[d];

    if (!box->periodic[d] && (global < 0 || global >= box->size[d])) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Only zeros may be set where the stencil has no entry */
static PetscErrorCode CheckZero(const KCycleStencil *st, const PetscInt row[], const PetscInt col[], PetscScalar value)
{
  const KCycleBox *box  = st->box;
  const PetscInt  *s    = box->start;
  const PetscInt   r[3] = {row[0] + s[0], row[1] + s[1], row[2] + s[2]},
                 c[3]   = {col[0] + s[0], col[1] + s[1], col[2] + s[2]};

  PetscFunctionBegin;
  PetscCheck(
      value == (PetscScalar)0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
      "Row %" PetscInt_FMT ", point (%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT
      "), has no entry in column %" PetscInt_FMT ", point (%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT
      "): it is outside the %d-point stencil of this matrix. %suse -dm_mat_type aij",
      KCycleBoxPointToRow(box, r), r[0], r[1], r[2], KCycleBoxPointToRow(box, c), c[0], c[1], c[2], st->shape.ncoeffs,
      st->shape.box || box->dim == 1 ? "For wider stencils "
                                     : "Give the DMDA a box stencil, DMDASetStencilType(da, DMDA_STENCIL_BOX), or ");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Any entry, the slow way: rows of other processes, rows at the edge of the box, and whatever is wrong */
static PetscErrorCode SetEntry(Mat A, const PetscInt point[], const PetscInt col[], PetscScalar value, InsertMode mode)
{
  Mat_Stencil     *st     = (Mat_Stencil *)A->data;
  const KCycleBox *box    = st->s.box;
  PetscInt         row[3] = {point[0], point[1], point[2]};
  const int        o      = KCycleFindOffset(box, &st->s.shape, row, col);
  PetscBool        owned  = PETSC_TRUE;
  PetscScalar     *entry;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < 3; d++) {
    if (box->periodic[d] && box->nproc[d] == 1) row[d] = (row[d] + box->size[d]) % box->size[d];
    if (row[d] < 0 || row[d] >= box->n[d]) owned = PETSC_FALSE;
  }
  if ((!owned && st->ignoreothers) || (o < 0 && st->ignorenew)) PetscFunctionReturn(PETSC_SUCCESS);
  if (o < 0) {
    PetscCall(CheckZero(&st->s, point, col, value));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!owned) {
    const PetscInt r[3] = {row[0] + box->start[0], row[1] + box->start[1], row[2] + box->start[2]};

    PetscCall(MatStencilOffProcessAdd(A, KCycleBoxPointToRow(box, r), o, value, mode));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  entry = st->dense + ((size_t)(row[1] + box->n[1] * row[2]) * st->s.shape.ncoeffs + o) * box->n[0] + row[0];
  if (mode == ADD_VALUES) *entry += value;
  else *entry = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of one row, which come so far apart */
typedef struct {
  PetscInt           number, n;
  const PetscInt    *cols;
  const PetscScalar *values; /* NULL: zeros */
  PetscInt           stride;
} Row;

/* Entries of one row at a point that has all its neighbours in the frame, until one is not of the stencil: returns
   how many were set. Rows often look like the one before */
static inline PetscInt SetInside(Mat_Stencil *st, KCycleFrame *f, const PetscInt at[], const Row *row, InsertMode mode)
{
  const PetscInt length = st->s.box->n[0];
  PetscScalar   *place  = st->dense + (size_t)(at[1] + st->s.box->n[1] * at[2]) * st->s.shape.ncoeffs * length + at[0];

  if (row->n > KC_MAX_COEFFS) return 0;
  for (PetscInt c = 0; c < row->n; c++) {
    const PetscScalar value      = row->values ? row->values[c * row->stride] : 0;
    const PetscInt    difference = row->cols[c] - row->number;

    if (row->cols[c] < 0) continue;
    if (difference != f->difference[c]) {
      const int o = FindDifference(f, &st->s.shape, difference);

      if (o < 0) return c;
      f->difference[c] = difference;
      f->offset[c]     = o;
    }
    if (mode == ADD_VALUES) place[f->offset[c] * length] += value;
    else place[f->offset[c] * length] = value;
  }
  return row->n;
}

/* Not to be left to who made the numbers: what they mean would be a point elsewhere, or outside the grid */
static PetscErrorCode CheckLocal(const KCycleFrame *f, PetscInt number)
{
  PetscFunctionBegin;
  PetscCheck(number < f->count, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Local index %" PetscInt_FMT " is too large: this process has %" PetscInt_FMT
             " points, with those around that belong to others",
             number, f->count);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetValuesLocal_Stencil(Mat A, PetscInt m, const PetscInt rows[], PetscInt n, const PetscInt cols[],
                                         const PetscScalar values[], InsertMode mode)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;
  KCycleFrame *f  = &st->local;
  PetscInt     row[3], col[3];
  PetscBool    inside;

  PetscFunctionBegin;
  if (!st->dense) PetscCall(MatStencilExpand(A));
  if (!f->width) PetscCall(MakeLocalFrame(A));
  for (PetscInt r = 0; r < m; r++) {
    const PetscScalar *v   = values ? (st->columnoriented ? values + r : values + r * n) : NULL;
    const Row          all = {rows[r], n, cols, v, st->columnoriented ? m : 1};
    PetscInt           c   = 0;

    if (rows[r] < 0) continue;
    PetscCall(CheckLocal(f, rows[r]));
    Decode(f, rows[r], row);
    if (IsInside(f, row)) c = SetInside(st, f, row, &all, mode);
    if (c == n) continue;
    inside = InGrid(st->s.box, row);
    for (; c < n; c++) {
      if (cols[c] < 0) continue;
      PetscCall(CheckLocal(f, cols[c]));
      Decode(f, cols[c], col);
      if (inside && InGrid(st->s.box, col)) PetscCall(SetEntry(A, row, col, v ? v[c * all.stride] : 0, mode));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A global row as a point relative to the owned box; beyond the box the nearest image where the grid wraps around */
static PetscErrorCode GlobalToPoint(const KCycleBox *box, PetscInt row, PetscInt at[])
{
  PetscFunctionBegin;
  (void)KCycleBoxRowToPoint(box, row, at);
  for (PetscInt d = 0; d < 3; d++) {
    at[d] -= box->start[d];
    if (box->periodic[d] && at[d] > box->n[d] && at[d] - box->size[d] >= -1) at[d] -= box->size[d];
    if (box->periodic[d] && at[d] < -1 && at[d] + box->size[d] <= box->n[d]) at[d] += box->size[d];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetValues_Stencil(Mat A, PetscInt m, const PetscInt rows[], PetscInt n, const PetscInt cols[],
                                    const PetscScalar values[], InsertMode mode)
{
  Mat_Stencil   *st    = (Mat_Stencil *)A->data;
  KCycleFrame   *f     = &st->global;
  const PetscInt first = A->rmap->rstart, end = A->rmap->rend, size = A->rmap->N;
  PetscInt       row[3], col[3];

  PetscFunctionBegin;
  if (!st->dense) PetscCall(MatStencilExpand(A));
  for (PetscInt r = 0; r < m; r++) {
    const PetscScalar *v   = values ? (st->columnoriented ? values + r : values + r * n) : NULL;
    const Row          all = {rows[r], n, cols, v, st->columnoriented ? m : 1};
    PetscInt           c   = 0;

    if (rows[r] < 0) continue;
    PetscCheck(rows[r] < size, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "Row too large: %" PetscInt_FMT " of %" PetscInt_FMT, rows[r], size);
    if (rows[r] >= first && rows[r] < end) {
      Decode(f, rows[r] - first, row);
      if (IsInside(f, row)) c = SetInside(st, f, row, &all, mode);
    } else PetscCall(GlobalToPoint(st->s.box, rows[r], row));
    for (; c < n; c++) {
      if (cols[c] < 0) continue;
      PetscCheck(cols[c] < size, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
                 "Column too large: %" PetscInt_FMT " of %" PetscInt_FMT, cols[c], size);
      PetscCall(GlobalToPoint(st->s.box, cols[c], col));
      PetscCall(SetEntry(A, row, col, v ? v[c * all.stride] : 0, mode));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
