/*
  Connected parts of the grid of a stencil matrix, which of them nothing flows out of, and the positive diagonal D with
  which D A is symmetric, if there is one: of coupled points p and q d(p) a(p, q) = d(q) a(q, p), so that d is known in
  a part but for a factor, and products of ratios around each cycle of couplings are one.

  Points come in the order of their lines, and get the piece, and d, of a neighbour before them; where pieces meet one
  gets a factor. Pieces of several processes that meet take the number, and the factor, of the one whose first row is
  the lowest, round by round.
*/
#include "matstencil.h"

/* A coupling that is less than this part of the diagonals of both points is rounding */
#define KC_NOTHING (100 * PETSC_MACHINE_EPSILON)

/* The least factor of D, and the inverse of the largest: products of a few stay finite */
#define KC_LEAST_FACTOR PetscPowReal(PETSC_SMALL, 8)

typedef struct {
  Mat            A;
  KCycleParts   *parts;
  PetscInt      *parent; /* of each piece: another one that it is part of, or itself, */
  PetscScalar   *times;  /* by which d is multiplied then */
  PetscInt       room;
  PetscBool     *open;
  PetscSegBuffer edges;
  PetscInt       nedges;
  KCycleEdge    *edge;
  PetscScalar   *field, *halo, *diagonal, *dhalo;
} Search;

/* A product of two factors, or a / b; where factors lie so far apart D is of no use, and the product is one */
static PetscScalar Factor(KCycleParts *parts, PetscScalar c)
{
  const PetscReal size = PetscAbsScalar(c);

  if (size >= KC_LEAST_FACTOR && size <= 1 / KC_LEAST_FACTOR) return c;
  parts->balanced = PETSC_FALSE;
  return 1;
}

/* b / a of two couplings, one where either is zero */
static PetscScalar Ratio(KCycleParts *parts, PetscScalar a, PetscScalar b)
{
  const PetscReal mine = PetscAbsScalar(a), theirs = PetscAbsScalar(b);

  if (mine == 0 || theirs == 0) return 1;
  if (mine >= KC_LEAST_FACTOR * theirs && theirs >= KC_LEAST_FACTOR * mine) return b / a;
  parts->balanced = PETSC_FALSE;
  return 1;
}

/* The piece that a piece is part of; times: the factor of d */
static PetscInt Find(const Search *s, PetscInt piece, PetscScalar *times)
{
  *times = 1;
  while (s->parent[piece] != piece) {
    *times = Factor(s->parts, *times * s->times[piece]);
    piece  = s->parent[piece];
  }
  return piece;
}

/* The same for a point, whose chain becomes shorter; d of the point comes out */
static PetscInt PieceOf(Search *s, PetscInt point, PetscScalar *d)
{
  const PetscInt piece = s->parts->piece[point], whole = Find(s, piece, d);

  s->times[piece]  = *d;
  s->parent[piece] = whole;
  *d               = Factor(s->parts, *d * s->parts->d[point]);
  return whole;
}

static PetscErrorCode NewPiece(Search *s, PetscInt point)
{
  KCycleParts *parts = s->parts;

  PetscFunctionBegin;
  if (parts->npieces == s->room) {
    s->room = PetscMax(64, 2 * s->room);
    PetscCall(PetscRealloc(s->room * sizeof(*s->parent), &s->parent));
    PetscCall(PetscRealloc(s->room * sizeof(*s->times), &s->times));
    PetscCall(PetscRealloc(s->room * sizeof(*s->open), &s->open));
    PetscCall(PetscRealloc(s->room * sizeof(*parts->root), &parts->root));
  }
  s->parent[parts->npieces]   = parts->npieces;
  s->times[parts->npieces]    = 1;
  s->open[parts->npieces]     = PETSC_FALSE;
  parts->root[parts->npieces] = point;
  parts->piece[point]         = parts->npieces++;
  parts->d[point]             = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does d (p) a = d (q) b not hold? */
static PetscBool Differ(PetscScalar a, PetscScalar b)
{
  return (PetscBool) !(PetscAbsScalar(a - b) <= KC_BALANCED * PetscMax(PetscAbsScalar(a), PetscAbsScalar(b)));
}

/* What two couplings of two points with each other say of the whole matrix; false: nothing, they are rounding. size:
   the diagonals of both */
static PetscBool Compare(KCycleParts *parts, PetscScalar a, PetscScalar b, PetscReal mine, PetscReal theirs)
{
  if (PetscAbsScalar(a) <= KC_NOTHING * mine && PetscAbsScalar(b) <= KC_NOTHING * theirs) return PETSC_FALSE;
  if (a == (PetscScalar)0.0 || b == (PetscScalar)0.0) parts->balanced = PETSC_FALSE;
  if (PetscAbsScalar(a - b) > 1000 * PETSC_MACHINE_EPSILON * PetscMax(mine, theirs)) parts->unequal = PETSC_TRUE;
  return PETSC_TRUE;
}

/* Points p and q, of which q came before, are coupled by a and, of q with p, b */
static void Link(Search *s, PetscInt p, PetscInt q, PetscScalar a, PetscScalar b)
{
  KCycleParts      *parts = s->parts;
  const PetscScalar ratio = Ratio(parts, a, b);
  PetscScalar       mine, theirs;
  PetscInt          to, from;

  if (parts->piece[p] < 0) {
    parts->piece[p] = parts->piece[q];
    parts->d[p]     = Factor(parts, parts->d[q] * ratio);
    return;
  }
  from = PieceOf(s, p, &mine);
  to   = PieceOf(s, q, &theirs);
  if (from == to) {
    if (Differ(mine * a, theirs * b)) parts->balanced = PETSC_FALSE;
    return;
  }
  s->parent[PetscMax(from, to)] = PetscMin(from, to);
  s->times[PetscMax(from, to)]  = Factor(parts, from > to ? theirs * ratio / mine : mine / (theirs * ratio));
  s->open[PetscMin(from, to)]   = (PetscBool)(s->open[from] || s->open[to]);
}

/* Is the row of a point not empty but for its diagonal? open: its sum is not zero */
static PetscBool IsCoupled(const KCycleShape *shape, const KCycleLine *l, PetscInt i, PetscReal rounding,
                           PetscBool *open)
{
  const PetscReal diagonal = PetscAbsScalar(KCycleLineCoefficient(l, shape->ncoeffs / 2, i));
  PetscScalar     sum      = 0;
  PetscReal       others   = 0;

  for (int o = 0; o < shape->ncoeffs; o++) {
    const PetscScalar v = KCycleLineCoefficient(l, o, i);

    sum += v;
    others += o == shape->ncoeffs / 2 ? 0 : PetscAbsScalar(v);
  }
  *open = (PetscBool) !(PetscAbsScalar(sum) <= rounding * diagonal);
  return (PetscBool)(others > 0);
}

/* A point with those before it on this process; lines: of its neighbours, NULL: elsewhere */
static PetscErrorCode AddPoint(Search *s, const KCycleLine *const lines[], PetscInt line, PetscInt i,
                               PetscReal rounding)
{
  const KCycleStencil *st    = KCycleStencilOf(s->A);
  const KCycleShape   *shape = &st->shape;
  const KCycleLine    *l     = lines[shape->line[shape->ncoeffs / 2]];
  const int            nc    = shape->ncoeffs;
  const PetscInt       p     = line * l->n + i;
  PetscBool            open, coupled = IsCoupled(shape, l, i, rounding, &open);
  PetscScalar          d;

  PetscFunctionBegin;
  s->parts->piece[p] = -1;
  s->parts->d[p]     = 1;
  s->diagonal[p]     = KCycleLineCoefficient(l, nc / 2, i);
  for (int o = 0; o < nc / 2; o++) {
    const int         row = shape->line[o];
    const PetscInt    at  = i + shape->dx[o];
    const PetscInt    q   = (line + shape->dy[row] + st->box->n[1] * shape->dz[row]) * l->n + at;
    const KCycleLine *m   = lines[row];
    PetscScalar       a, b;

    if (!m || at < 0 || at >= l->n) continue;
    a = KCycleLineCoefficient(l, o, i);
    b = KCycleLineCoefficient(m, nc - 1 - o, at);
    if (a == (PetscScalar)0.0 && b == (PetscScalar)0.0) continue;
    if (s->parts->piece[q] < 0) open = PETSC_TRUE; /* a value is held there */
    else if (!coupled) s->open[PieceOf(s, q, &d)] = PETSC_TRUE;
    else if (Compare(s->parts, a, b, PetscAbsScalar(s->diagonal[p]), PetscAbsScalar(s->diagonal[q])))
      Link(s, p, q, a, b);
  }
  if (!coupled) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->parts->piece[p] < 0) PetscCall(NewPiece(s, p));
  if (open) s->open[PieceOf(s, p, &d)] = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All points of this process; early: only while D A may be symmetric */
static PetscErrorCode AddPoints(Search *s, PetscReal rounding, PetscBool early)
{
  const KCycleStencil *st    = KCycleStencilOf(s->A);
  const KCycleShape   *shape = &st->shape;
  const PetscInt      *n     = st->box->n;
  KCycleLine           line[KC_MAX_LINES];
  const KCycleLine    *lines[KC_MAX_LINES];

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n[2]; k++) {
    for (PetscInt j = 0; j < n[1]; j++) {
      for (int q = 0; q <= shape->line[shape->ncoeffs / 2]; q++) {
        const PetscInt jj = j + shape->dy[q], kk = k + shape->dz[q];

        lines[q] = jj >= 0 && jj < n[1] && kk >= 0 && kk < n[2] ? &line[q] : NULL;
        if (lines[q]) MatStencilLineArrays(st, jj + n[1] * kk, &line[q]);
      }
      for (PetscInt i = 0; i < n[0]; i++) PetscCall(AddPoint(s, lines, j + n[1] * k, i, rounding));
      if (early && !s->parts->balanced) PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* field and halo: marked, points that are coupled */
static PetscErrorCode AddEdge(void *context, const KCycleEdge *edge)
{
  Search          *s   = (Search *)context;
  const KCycleBox *box = KCycleStencilOf(s->A)->box;
  PetscScalar      there, mark, d;
  KCycleEdge      *added;

  PetscFunctionBegin;
  if (s->parts->piece[edge->point] < 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (edge->a == (PetscScalar)0.0 && edge->b == (PetscScalar)0.0) PetscFunctionReturn(PETSC_SUCCESS);
  (void)MatStencilValueAt(box, s->diagonal, s->dhalo, edge->at, &there);
  (void)MatStencilValueAt(box, s->field, s->halo, edge->at, &mark);
  if (mark == (PetscScalar)0.0) s->open[PieceOf(s, edge->point, &d)] = PETSC_TRUE;
  else if (Compare(s->parts, edge->a, edge->b, PetscAbsScalar(s->diagonal[edge->point]), PetscAbsScalar(there))) {
    PetscCall(PetscSegBufferGet(s->edges, 1, &added));
    *added = *edge;
    s->nedges++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective */
static PetscErrorCode FindEdges(Search *s)
{
  const KCycleBox *box = KCycleStencilOf(s->A)->box;

  PetscFunctionBegin;
  PetscCall(PetscSegBufferCreate(sizeof(KCycleEdge), 64, &s->edges));
  for (PetscInt p = 0; p < box->npoints; p++) s->field[p] = s->parts->piece[p] < 0 ? 0 : 1;
  PetscCall(KCycleBoxExchange(box, PETSC_TRUE, s->field, s->halo));
  PetscCall(KCycleBoxExchange(box, PETSC_TRUE, s->diagonal, s->dhalo));
  PetscCall(MatStencilVisitEdges(s->A, 0, AddEdge, s));
  PetscCall(PetscSegBufferExtractInPlace(s->edges, &s->edge));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What neighbours are told of the point of an edge: number of the part, and is it open? d */
static void Tell(Search *s, const KCycleEdge *edge, PetscScalar *number, PetscScalar *d)
{
  const PetscInt whole = PieceOf(s, edge->point, &d[edge->point]);

  number[edge->point] = 2 * (PetscReal)s->parts->root[whole] + (s->open[whole] ? 1 : 0);
  d[edge->point]      = Factor(s->parts, d[edge->point] * s->parts->factor[whole]);
}

/* Takes the number of a neighbour's part, if that is lower, with its factor */
static PetscBool Listen(Search *s, const KCycleEdge *edge, PetscScalar number, PetscScalar theirs)
{
  KCycleParts    *parts = s->parts;
  PetscScalar     mine;
  const PetscInt  whole = PieceOf(s, edge->point, &mine), root = (PetscInt)(PetscRealPart(number) / 2);
  const PetscBool open = (PetscBool)(PetscRealPart(number) > 2 * (PetscReal)root + 0.5);

  if (root < parts->root[whole]) {
    parts->root[whole]   = root;
    parts->factor[whole] = Factor(parts, theirs * Ratio(parts, edge->a, edge->b) / mine);
    s->open[whole]       = (PetscBool)(s->open[whole] || open);
    return PETSC_TRUE;
  }
  if (root > parts->root[whole] || !open || s->open[whole]) return PETSC_FALSE;
  s->open[whole] = PETSC_TRUE;
  return PETSC_TRUE;
}

/* Collective. Pieces that meet across processes get the same number; then their couplings are compared */
static PetscErrorCode Join(Search *s)
{
  const KCycleBox *box = KCycleStencilOf(s->A)->box;
  PetscScalar     *d, *dhalo, number, theirs;
  int              changed, any;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(box->npoints, &d));
  PetscCall(KCycleBoxHaloCreate(box, &dhalo));
  do {
    changed = 0;
    for (PetscInt e = 0; e < s->nedges; e++) Tell(s, &s->edge[e], s->field, d);
    PetscCall(KCycleBoxExchange(box, PETSC_TRUE, s->field, s->halo));
    PetscCall(KCycleBoxExchange(box, PETSC_TRUE, d, dhalo));
    for (PetscInt e = 0; e < s->nedges; e++) {
      (void)MatStencilValueAt(box, s->field, s->halo, s->edge[e].at, &number);
      (void)MatStencilValueAt(box, d, dhalo, s->edge[e].at, &theirs);
      if (Listen(s, &s->edge[e], number, theirs)) changed = 1;
    }
    PetscCallMPI(MPI_Allreduce(&changed, &any, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)s->A)));
  } while (any);
  for (PetscInt e = 0; e < s->nedges; e++) {
    const KCycleEdge *edge = &s->edge[e];

    (void)MatStencilValueAt(box, d, dhalo, edge->at, &theirs);
    if (Differ(d[edge->point] * edge->a, theirs * edge->b)) s->parts->balanced = PETSC_FALSE;
  }
  PetscCall(PetscFree(d));
  PetscCall(PetscFree(dhalo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pieces have the number of their part: numbers of points become those of pieces that are no part of another */
static PetscErrorCode Settle(Search *s)
{
  const KCycleBox *box   = KCycleStencilOf(s->A)->box;
  KCycleParts     *parts = s->parts;
  PetscInt         start = box->rows[box->rank], *number, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(parts->npieces, &number));
  parts->nclosed = 0;
  for (PetscInt piece = 0; piece < parts->npieces; piece++) {
    if (s->parent[piece] != piece) continue;
    number[piece]    = n;
    parts->root[n]   = parts->root[piece];
    parts->factor[n] = parts->factor[piece];
    parts->closed[n] = (PetscBool)!s->open[piece];
    if (parts->closed[n] && parts->root[n] >= start && parts->root[n] < start + box->npoints) parts->nclosed++;
    n++;
  }
  for (PetscInt p = 0; p < box->npoints; p++) {
    PetscScalar d;

    if (parts->piece[p] < 0) continue;
    parts->piece[p] = number[PieceOf(s, p, &d)];
    parts->d[p]     = Factor(parts, d * parts->factor[parts->piece[p]]);
  }
  parts->npieces = n;
  PetscCall(PetscFree(number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. The first factors: diagonals of D A are as large as the largest one of A where parts begin. D is positive
   where all rows have the same sign, else D A has a positive diagonal */
static PetscErrorCode Begin(Search *s, PetscReal scale, PetscBool *mixed)
{
  const KCycleBox *box      = KCycleStencilOf(s->A)->box;
  KCycleParts     *parts    = s->parts;
  int              signs[2] = {0, 0}, all[2];

  PetscFunctionBegin;
  for (PetscInt p = 0; p < box->npoints; p++) {
    if (parts->piece[p] >= 0) signs[PetscRealPart(s->diagonal[p]) > 0 ? 1 : 0] = 1;
  }
  PetscCallMPI(MPI_Allreduce(signs, all, 2, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)s->A)));
  *mixed = (PetscBool)(all[0] && all[1]);
  PetscCall(PetscMalloc1(parts->npieces, &parts->factor));
  PetscCall(PetscMalloc1(parts->npieces, &parts->closed));
  for (PetscInt piece = 0; piece < parts->npieces; piece++) {
    const PetscScalar diagonal = s->diagonal[parts->root[piece]];

    parts->factor[piece] = Ratio(parts, *mixed ? diagonal : (PetscScalar)PetscAbsScalar(diagonal), scale);
    parts->root[piece] += box->rows[box->rank];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. Is D of use? Signs, and numbers that are not too far apart. Isolated points get a diagonal like others */
static PetscErrorCode Judge(Search *s, PetscReal scale, PetscBool mixed)
{
  KCycleParts *parts   = s->parts;
  /* not balanced; of A and D A the largest diagonal, the smallest; unequal */
  PetscReal    mine[6] = {0, 0, 0, 0, 0, 0}, all[6];
  PetscReal    before, now;

  PetscFunctionBegin;
  for (PetscInt p = 0; p < KCycleStencilOf(s->A)->box->npoints; p++) {
    const PetscScalar a    = s->diagonal[p];
    const PetscReal   size = PetscAbsScalar(a);

    if (parts->piece[p] < 0) parts->d[p] = Ratio(parts, mixed ? a : (PetscScalar)size, scale);
    else {
      now = PetscAbsScalar(parts->d[p] * a);
      if (!(PetscRealPart(mixed ? parts->d[p] * a : parts->d[p]) > 0)) mine[0] = 1;
      if (!(PetscMin(now, size) > 1 / PETSC_MAX_REAL && now < PETSC_MAX_REAL)) mine[0] = 1;
      else {
        mine[1] = PetscMax(mine[1], size);
        mine[2] = PetscMax(mine[2], 1 / size);
        mine[3] = PetscMax(mine[3], now);
        mine[4] = PetscMax(mine[4], 1 / now);
      }
    }
  }
  if (!parts->balanced) mine[0] = 1;
  if (parts->unequal) mine[5] = 1;
  PetscCallMPI(MPI_Allreduce(mine, all, 6, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)s->A)));
  before          = PetscSqrtReal(all[1]) * PetscSqrtReal(all[2]); /* roots, as the products may be infinite */
  now             = PetscSqrtReal(all[3]) * PetscSqrtReal(all[4]);
  parts->unequal  = (PetscBool)(all[5] > 0);
  parts->balanced = (PetscBool)(all[0] == 0 && now <= PetscMax(before, PetscSqrtReal(KC_BALANCED_RANGE)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective */
static PetscErrorCode SearchAll(Search *s, PetscReal rounding, PetscBool early)
{
  const KCycleScan *scan;
  PetscBool         mixed = PETSC_FALSE;
  int               mine, all;

  PetscFunctionBegin;
  PetscCall(MatStencilScan(s->A, &scan));
  PetscCall(AddPoints(s, rounding, early));
  mine = s->parts->balanced;
  if (early) PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)s->A)));
  if (early && !all) s->parts->balanced = PETSC_FALSE;
  if (early && !all) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Begin(s, scan->scale, &mixed));
  if (KCycleBoxTalks(KCycleStencilOf(s->A)->box)) {
    PetscCall(FindEdges(s));
    PetscCall(Join(s));
  }
  PetscCall(Settle(s));
  PetscCall(Judge(s, scan->scale, mixed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCyclePartsDestroy(KCycleParts *parts)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(parts->piece));
  PetscCall(PetscFree(parts->d));
  PetscCall(PetscFree(parts->root));
  PetscCall(PetscFree(parts->factor));
  PetscCall(PetscFree(parts->closed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. rounding: a row sum that is no larger, relative to the diagonal, is zero; early: nothing is wanted unless
   D A is symmetric. Sums of parts are over points that are coupled: a value that is held at another one holds a part,
   too */
PetscErrorCode MatStencilFindParts(Mat A, PetscReal rounding, PetscBool early, KCycleParts *parts)
{
  const KCycleBox *box = KCycleStencilOf(A)->box;
  Search           s   = {.A = A, .parts = parts};
  PetscInt         closed;

  PetscFunctionBegin;
  PetscCall(MatStencilCopyToHost(A));
  PetscCall(PetscMemzero(parts, sizeof(*parts)));
  parts->balanced = PETSC_TRUE;
  PetscCall(PetscMalloc1(box->npoints, &parts->piece));
  PetscCall(PetscMalloc1(box->npoints, &parts->d));
  PetscCall(PetscMalloc2(box->npoints, &s.field, box->npoints, &s.diagonal));
  PetscCall(KCycleBoxHaloCreate(box, &s.halo));
  PetscCall(KCycleBoxHaloCreate(box, &s.dhalo));
  PetscCall(SearchAll(&s, rounding, early));
  PetscCallMPI(MPI_Allreduce(&parts->nclosed, &closed, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)A)));
  parts->nclosed = closed;
  PetscCall(PetscFree(s.parent));
  PetscCall(PetscFree(s.times));
  PetscCall(PetscFree(s.open));
  PetscCall(PetscFree2(s.field, s.diagonal));
  PetscCall(PetscFree(s.halo));
  PetscCall(PetscFree(s.dhalo));
  PetscCall(PetscSegBufferDestroy(&s.edges));
  PetscFunctionReturn(PETSC_SUCCESS);
}
