/*
  Are the rows of a matrix the points of a grid in some numbering? Every entry is looked at, by its indices; its value
  matters where a stored zero can be no coupling.
*/
#include <petsckcycle/private/findimpl.h>
#include <petsckcycle/private/point.h>

/* The most rows that are compared at once with those before them */
#define ROWS_AT_ONCE 64

/* What is counted of entries: those that couple neighbours in each direction, those of them that wrap around; all
   that wrap around; those that couple neighbours in several directions at once */
enum {
  COUNT_PAIRS,
  COUNT_AROUND  = 3,
  COUNT_WRAPS   = 6,
  COUNT_CORNERS = 9,
  COUNT_ZEROS, /* that were passed over */
  COUNT_NUM
};

typedef PetscInt Point[3];

PetscErrorCode KCycleIndicesGet(Mat A, KCycleIndices *ix)
{
  PetscFunctionBegin;
  ix->A    = A;
  ix->comm = PetscObjectComm((PetscObject)A);
  PetscCallMPI(MPI_Comm_rank(ix->comm, &ix->rank));
  PetscCallMPI(MPI_Comm_size(ix->comm, &ix->size));
  PetscCall(MatGetOwnershipRange(A, &ix->start, NULL));
  PetscCall(MatGetLocalSize(A, &ix->n, NULL));
  PetscCall(MatGetSize(A, &ix->N, NULL));
  PetscCall(KCycleAIJGet(A, PETSC_TRUE, &ix->aij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleNumberingDestroy(KCycleNumbering **g)
{
  PetscFunctionBegin;
  if (!*g) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleBoxDestroy(&(*g)->box));
  PetscCall(PetscFree(*g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(PetscInt dim, const PetscInt nproc[], const PetscInt *const owned[], PetscMPIInt rank,
                             KCycleNumbering **g)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(g));
  PetscCall(KCycleBoxCreate(dim, 1, nproc, owned, rank, &(*g)->box));
  (*g)->wrong[0] = (*g)->wrong[1] = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Line after line, as in one box that holds all points */
PetscErrorCode KCycleNumberingLines(const KCycleIndices *ix, PetscInt dim, const PetscInt size[], KCycleNumbering **g)
{
  const PetscInt        one[3]   = {1, 1, 1};
  const PetscInt *const owned[3] = {&size[0], &size[1], &size[2]};

  PetscFunctionBegin;
  PetscCall(Create(dim, one, owned, 0, g));
  (*g)->shift = ix->start;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Box after box, as DMDA numbers them; owned: the points of each process in each direction. NULL if processes own
   other numbers of rows */
PetscErrorCode KCycleNumberingBoxes(const KCycleIndices *ix, PetscInt dim, const PetscInt nproc[],
                                    PetscInt *const owned[], KCycleNumbering **g)
{
  PetscInt fits, all;

  PetscFunctionBegin;
  PetscCall(Create(dim, nproc, (const PetscInt *const *)owned, ix->rank, g));
  fits = ix->n == (*g)->box.npoints && ix->start == (*g)->box.rows[ix->rank];
  PetscCallMPI(MPI_Allreduce(&fits, &all, 1, MPIU_INT, MPI_MIN, ix->comm));
  if (!all) PetscCall(KCycleNumberingDestroy(g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Directions in which two points, relative to the owned box, are neighbours around the grid; -1: they are no
   neighbours */
static PetscInt Wraps(const KCycleBox *box, const PetscInt row[], const PetscInt col[])
{
  PetscInt wraps = 0;

  for (PetscInt d = 0; d < 3; d++) {
    const PetscInt distance = PetscAbsInt(col[d] - row[d]);

    if (distance > 1 && distance != box->size[d] - 1) return -1;
    wraps += distance > 1;
  }
  return wraps;
}

/* Counts neighbours */
static void Count(const PetscInt row[], const PetscInt col[], PetscInt count[])
{
  PetscInt away = 0, which = 0, around = 0;

  for (PetscInt d = 0; d < 3; d++) {
    const PetscInt distance = PetscAbsInt(col[d] - row[d]), wraps = distance > 1;

    count[COUNT_WRAPS + d] += wraps;
    around += wraps;
    away += distance > 0;
    if (distance) which = d;
  }
  if (away == 1) {
    count[COUNT_PAIRS + which]++;
    count[COUNT_AROUND + which] += around;
  } else count[COUNT_CORNERS] += away > 1;
}

/* An entry, its row and its column by number and by point */
typedef struct {
  PetscInt        row, column;
  const PetscInt *from, *to;
  PetscScalar     value;
} Entry;

/* An entry is kept if it is no neighbour, or the first one that wraps around, which not all directions can */
static PetscBool CheckEntry(KCycleNumbering *g, const Entry *entry, PetscInt count[])
{
  const PetscInt wraps = Wraps(&g->box, entry->from, entry->to);

  if (wraps && entry->value == (PetscScalar)0.0) {
    count[COUNT_ZEROS]++;
    return PETSC_TRUE;
  }
  if (wraps >= 0) Count(entry->from, entry->to, count);
  if (!wraps || (wraps > 0 && g->wrong[0] >= 0)) return PETSC_TRUE;
  g->wrong[0] = entry->row;
  g->wrong[1] = entry->column;
  return (PetscBool)(wraps > 0);
}

/* points: of columns of other processes */
static PetscBool CheckRow(const KCycleIndices *ix, KCycleNumbering *g, const Point points[], PetscInt r,
                          const PetscInt row[], PetscInt count[])
{
  const PetscInt *n = g->box.n;

  for (PetscInt e = ix->aij.i[0][r]; e < ix->aij.i[0][r + 1]; e++) {
    const PetscInt number = ix->aij.j[0][e] + g->shift, line = number / n[0],
                   col[3] = {number - line * n[0], line % n[1], line / n[1]};
    const Entry entry     = {ix->start + r, ix->start + ix->aij.j[0][e], row, col, ix->aij.a[0][e]};

    if (!CheckEntry(g, &entry, count)) return PETSC_FALSE;
  }
  for (PetscInt e = ix->aij.i[1] ? ix->aij.i[1][r] : 0; e < (ix->aij.i[1] ? ix->aij.i[1][r + 1] : 0); e++) {
    const Entry entry = {ix->start + r, ix->aij.columns[ix->aij.j[1][e]], row, points[ix->aij.j[1][e]],
                         ix->aij.a[1][e]};

    if (!CheckEntry(g, &entry, count)) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Have rows [first, end) the columns of the rows `before` rows earlier, shifted? */
KC_VERSIONS static PetscBool AreAlike(const KCycleIndices *ix, PetscInt first, PetscInt end, PetscInt before)
{
  const PetscInt *i = ix->aij.i[0], begin = i[first], m = begin - i[first - before], count = i[end] - begin,
                 *j = ix->aij.j[0] + begin;
  PetscInt wrong    = 0;

  if (ix->aij.i[1] && ix->aij.i[1][end] != ix->aij.i[1][first - before]) return PETSC_FALSE;
  for (PetscInt r = first; r < end; r++) wrong |= i[r + 1] - i[r + 1 - before] - m;
  if (wrong) return PETSC_FALSE;
  for (PetscInt e = 0; e < count; e++) wrong |= j[e] - j[e - m] - before;
  return (PetscBool)!wrong;
}

/* The m rows from r on are points of a line, the first of them at the index "at"; rows inside the line that are like
   the one before couple what that one couples */
static PetscBool CheckLine(const KCycleIndices *ix, KCycleNumbering *g, const Point points[], PetscInt r, PetscInt m,
                           const PetscInt at[], PetscInt64 total[])
{
  const PetscInt inside = PetscMin(m, g->box.n[0] - 1 - at[0]);
  PetscInt       i      = 0;

  while (i < m) {
    const PetscInt row[3] = {at[0] + i, at[1], at[2]};
    PetscInt       first = i + 1, count[COUNT_NUM] = {0};

    if (!CheckRow(ix, g, points, r + i, row, count)) return PETSC_FALSE;
    for (PetscInt more = 8; row[0] > 0 && first < inside && !count[COUNT_ZEROS];
         more          = PetscMin(2 * more, ROWS_AT_ONCE)) {
      const PetscInt end = PetscMin(first + more, inside);

      if (!AreAlike(ix, r + first, r + end, 1)) break;
      first = end;
    }
    for (int c = 0; c < COUNT_NUM; c++) total[c] += (PetscInt64)count[c] * (first - i);
    i = first;
  }
  return PETSC_TRUE;
}

/* Is a line not at a boundary of the box? */
static PetscBool IsInside(const KCycleBox *box, const PetscInt at[])
{
  for (PetscInt d = 1; d < box->dim; d++) {
    if (at[d] == 0 || at[d] == box->n[d] - 1) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Lines inside the box that are like the one before couple what that one couples */
static PetscErrorCode CheckOwned(const KCycleIndices *ix, KCycleNumbering *g, PetscInt64 total[], PetscBool *fits)
{
  const PetscInt *n = g->box.n;
  Point          *points;
  PetscInt        m;
  PetscInt64      count[COUNT_NUM];
  PetscBool       before = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(ix->aij.ncolumns, &points));
  for (PetscInt c = 0; c < ix->aij.ncolumns; c++) {
    (void)KCycleBoxRowToPoint(&g->box, ix->aij.columns[c], points[c]);
    for (PetscInt d = 0; d < 3; d++) points[c][d] -= g->box.start[d];
  }
  for (PetscInt r = 0; r < ix->n && *fits; r += m) {
    const PetscInt  line = (r + g->shift) / n[0], at[3] = {r + g->shift - line * n[0], line % n[1], line / n[1]};
    const PetscBool inside = IsInside(&g->box, at);

    m = PetscMin(n[0] - at[0], ix->n - r);
    if (!inside || !before || m < n[0] || !AreAlike(ix, r, r + m, m)) {
      PetscCall(PetscArrayzero(count, COUNT_NUM));
      *fits = CheckLine(ix, g, points, r, m, at, count);
    }
    before = (PetscBool)(inside && m == n[0] && !count[COUNT_ZEROS]);
    for (int c = 0; c < COUNT_NUM; c++) total[c] += count[c];
  }
  PetscCall(PetscFree(points));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first entry that a process has kept, of those that are to be looked at */
static PetscErrorCode FindWrong(const KCycleIndices *ix, PetscBool looked, KCycleNumbering *g)
{
  const PetscInt row = looked && g->wrong[0] >= 0 ? g->wrong[0] : PETSC_INT_MAX;
  PetscInt       mine;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&row, &g->wrong[0], 1, MPIU_INT, MPI_MIN, ix->comm));
  mine = row == g->wrong[0] ? g->wrong[1] : -1;
  PetscCallMPI(MPI_Allreduce(&mine, &g->wrong[1], 1, MPIU_INT, MPI_MAX, ix->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Collective. The first entry that is wrong on any process, or what the entries say of the grid. A direction wraps
  around if its lines do, or most; lines whose last points are coupled to the first points of the next ones, as in a
  band, are those of no grid.
*/
PetscErrorCode KCycleNumberingCheck(const KCycleIndices *ix, KCycleNumbering *g)
{
  PetscInt64 total[COUNT_NUM + 1] = {0}, all[COUNT_NUM + 1];
  PetscBool  fits                 = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(CheckOwned(ix, g, total, &fits));
  total[COUNT_NUM] = !fits;
  PetscCallMPI(MPI_Allreduce(total, all, COUNT_NUM + 1, MPIU_INT64, MPI_SUM, ix->comm));
  if (all[COUNT_NUM]) {
    PetscCall(FindWrong(ix, (PetscBool)!fits, g));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt d = 0; d < 3; d++) {
    g->pairs[d]        = all[COUNT_PAIRS + d];
    g->box.periodic[d] = (PetscBool)(all[COUNT_WRAPS + d] > 0);
    if (g->box.periodic[d] && 2 * g->box.size[d] * all[COUNT_AROUND + d] < g->pairs[d] + 1) fits = PETSC_FALSE;
  }
  g->box.star = (PetscBool)!all[COUNT_CORNERS];
  g->zeros    = (PetscBool)(all[COUNT_ZEROS] > 0);
  if (fits) g->wrong[0] = g->wrong[1] = -1;
  else PetscCall(FindWrong(ix, PETSC_TRUE, g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each process as near as can be to the planes that it owns rows of, and one plane at least */
static void CutPlanes(PetscInt p, PetscInt planes, PetscInt plane, const PetscInt ranges[], PetscInt range[])
{
  for (PetscInt q = 0; q <= p; q++) {
    const PetscInt nearest = (ranges[q] + plane / 2) / plane;

    range[q] = PetscMin(q ? PetscMax(nearest, range[q - 1] + 1) : 0, planes - p + q);
  }
}

/* Lines after lines become boxes: slabs of whole planes (lines in 2D). fits: there is a plane for each process */
PetscErrorCode KCycleNumberingSlabs(const KCycleIndices *ix, KCycleNumbering *g, PetscBool *fits)
{
  KCycleBox     *box    = &g->box;
  const PetscInt d      = box->dim - 1;
  const PetscInt planes = box->size[d], plane = ix->N / planes, *ranges;

  PetscFunctionBegin;
  *fits = (PetscBool)(planes >= ix->size);
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetOwnershipRanges(ix->A, &ranges));
  PetscCall(PetscFree(box->range[d]));
  PetscCall(PetscMalloc1(ix->size + 1, &box->range[d]));
  CutPlanes(ix->size, planes, plane, ranges, box->range[d]);
  for (PetscInt q = 0; q < ix->size; q++) g->moved = (PetscBool)(g->moved || ranges[q] != plane * box->range[d][q]);
  box->nproc[d] = ix->size;
  g->shift      = 0;
  PetscCall(KCycleBoxLay(box, ix->rank));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is a DMDA that of this grid? */
PetscErrorCode KCycleNumberingFitsDM(const KCycleNumbering *g, DM dm, PetscBool *fits)
{
  KCycleBox *box;

  PetscFunctionBegin;
  PetscCall(KCycleBoxGet(dm, KCYCLE_BOX_ROWS, &box));
  *fits = (PetscBool)(box->star == g->box.star && KCycleBoxIsSame(box, &g->box));
  PetscFunctionReturn(PETSC_SUCCESS);
}
