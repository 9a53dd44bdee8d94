/*
  A tile for box stencils: the planes of x that the steps of a coloured pass work on, copied to a ring of planes in
  cache.

  In it lines lie at fixed distances, with zeros before and behind them and in place of lines outside the grid. So whole
  vectors are computed from the first point of a line to its last, none of them apart. The coefficients stay where they
  are.

  Both colours of a line need the same sum over the other lines, which do not change meanwhile: it is found once.
*/
#include "tile.h"

/* Lines beside the middle one */
#define MOST (KC_MAX_LINES - 1)

/* Line l of plane t; both may be one outside the grid */
static inline KCScalar *LineAt(const KCycleBoxTile *w, PetscInt t, PetscInt l)
{
  return w->ring + ((t + w->planes) % w->planes * w->lines + l + w->lead) * w->length + KC_VECTOR;
}

PetscErrorCode KCycleBoxTileDestroy(KCycleBoxTile **tile)
{
  PetscFunctionBegin;
  if (!*tile) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree((*tile)->memory));
  PetscCall(PetscFree((*tile)->coefficients));
  PetscCall(PetscFree(*tile));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Those of line (j, k). Couplings with lines before it may be kept by these: of point i that of point i - 1, i or i
   + 1 there */
static void FindCoefficients(const KCycleStencil *st, PetscInt j, PetscInt k, KCycleBoxCoefficients *c)
{
  const KCycleShape *shape = &st->shape;
  const PetscInt     n = st->box->n[0], set = KCycleClassOf(st, j, k);
  const int          nl = shape->nl, mid = shape->ncoeffs / 2;
  const PetscBool    mirrored = (PetscBool)(set < 0 && st->half);

  c->constant = set < 0 ? NULL : KCycleClassConstant(st, set);
  c->diagonal = KCycleCoefficientsFrom(st, j, k, mid);
  c->right    = c->diagonal + n;
  c->left     = mirrored ? c->right - 1 : c->diagonal - n;
  c->step[0]  = mirrored ? 1 - n : n;
  c->step[1]  = n;
  for (int q = 0; q < nl / 2; q++) {
    c->c[nl / 2 + q] = c->diagonal + (2 + 3 * q) * n;
    if (mirrored) {
      const KCScalar *opposite = KCycleCoefficientsFrom(st, j + shape->dy[q], k + shape->dz[q], 3 * (nl - 1 - q));

      c->c[q] = opposite ? opposite + 2 * n - 1 : c->diagonal + 2 * n; /* beyond the grid, where x is zero */
    } else c->c[q] = c->diagonal + (3 * q - mid) * n;
  }
}

/* For a matrix with a box stencil in two or three dimensions */
PetscErrorCode KCycleBoxTileCreate(const KCycleStencil *st, KCycleBoxTile **tile)
{
  const KCycleBox *box   = st->box;
  const uintptr_t  bytes = KC_VECTOR * sizeof(KCScalar);
  KCycleBoxTile   *w;
  PetscInt         ring;

  PetscFunctionBegin;
  PetscCall(PetscNew(&w));
  *tile     = w;
  w->st     = st;
  w->length = (box->n[0] + KC_VECTOR - 1) / KC_VECTOR * KC_VECTOR + KC_VECTOR;
  w->lead   = box->dim == 3 ? 1 : 0;
  w->lines  = box->dim == 3 ? box->n[1] + 2 : 1;
  w->planes = KC_TILE_STEPS + 2;
  ring      = w->planes * w->lines * w->length;
  PetscCall(PetscCalloc1(ring + 2 * KCycleThreadsMost() * w->length + 2 * KC_VECTOR, &w->memory));
  w->ring = (KCScalar *)(((uintptr_t)w->memory + bytes - 1) / bytes * bytes);
  w->work = w->ring + ring;
  PetscCall(PetscMalloc1(box->nlines, &w->coefficients));
  for (PetscInt line = 0; line < box->nlines; line++)
    FindCoefficients(st, line % box->n[1], line / box->n[1], &w->coefficients[line]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines low to high - 1 of plane t, which may be a halo plane; what lies outside the grid is zero. No x: all is zero */
void KCycleBoxTilePack(const KCycleBoxTile *w, const KCScalar *x, PetscInt t, PetscInt low, PetscInt high)
{
  const KCycleBox *box = w->st->box;

  for (PetscInt l = low; l < high; l++) {
    if (x)
      memcpy(LineAt(w, t, l), KCycleBoxLine(box, x, w->st->halo, w->lead ? l : t, w->lead ? t : 0),
             box->n[0] * sizeof(KCScalar));
    else memset(LineAt(w, t, l), 0, box->n[0] * sizeof(KCScalar));
  }
}

void KCycleBoxTileUnpack(const KCycleBoxTile *w, PetscInt t, PetscInt low, PetscInt high, KCScalar *x)
{
  const PetscInt n = w->st->box->n[0];

  for (PetscInt l = low; l < high; l++)
    memcpy(x + n * (w->lead ? l + w->st->box->n[1] * t : t), LineAt(w, t, l), n * sizeof(KCScalar));
}

/* Some lines beside the middle one, apart from each other by so much: the coefficients of m points, a multiple of a
   vector, and of another line, which are asked for on the way */
typedef struct {
  const KCScalar *const *c, *const *next;
  const PetscInt *step, *nextstep;
  const KCScalar *same; /* coefficients that all points have, three for each line */
  PetscInt        apart, m;
} Beside;

/* The lines from the first or a later one on, and from where their coefficients are that all points have */
KC_POINT Beside Further(const int constant, Beside s, int lines, int same)
{
  s.c += lines;
  s.next += lines;
  if (constant) s.same += same;
  return s;
}

/*
  t = b - the share of so many lines of x. The first of them, low, have one step between coefficients, the others
  another; or all points have the same coefficients
*/
KC_POINT void SubtractLines(const int constant, const int lines, const int low, const Beside s, const KCScalar *x,
                            const KCScalar *b, KCScalar *t)
{
  const KCScalar *c[3]    = {NULL, NULL, NULL}, *next[3];
  const int       fetched = constant ? 0 : lines;
  const PetscInt  apart   = s.apart;
  PetscInt        step[3], nextstep[3];
  KCScalar        middle[9];

  for (int q = 0; q < lines; q++) {
    if (!constant) c[q] = s.c[q];
    step[q]     = constant ? 0 : s.step[q < low ? 0 : 1];
    next[q]     = s.next[q];
    nextstep[q] = s.nextstep[q < low ? 0 : 1];
    for (int e = 0; e < 3; e++) middle[3 * q + e] = constant ? s.same[3 * q + e] : 0;
  }
  for (PetscInt v = 0; v < s.m; v += KC_VECTOR) {
    KC_UNROLL
    for (int q = 0; q < fetched; q++) {
      KC_UNROLL
      for (int e = 0; e < 3; e++) __builtin_prefetch(next[q] + v + e * nextstep[q]);
    }
    KC_IVDEP for (PetscInt i = v; i < v + KC_VECTOR; i++)
    {
      KCScalar sum[3] = {0, 0, 0};

      KC_UNROLL
      for (int q = 0; q < lines; q++) {
        KC_UNROLL
        for (int e = 0; e < 3; e++)
          sum[e] += (constant ? middle[3 * q + e] : c[q][i + e * step[q]]) * x[q * apart + i + e - 1];
      }
      t[i] = b[i] - (sum[0] + sum[1] + sum[2]);
    }
  }
}

/* The line of a plane that is worked on, and the lines around it */
typedef struct {
  KCScalar                    *x;
  const KCScalar              *beside[3]; /* the same line in the planes before, of and behind it */
  KCScalar                    *t;         /* work space */
  const KCycleBoxCoefficients *c, *after; /* of the line, and of the one that is next */
  PetscInt                     length;    /* from a line of the plane to the next one */
  PetscBool                    alone;     /* the planes beside it count as zero */
} Line;

/* t = b - the share of all lines beside the middle one, of m points from point a on */
KC_POINT void SubtractBeside(const int constant, const int lines, PetscInt a, PetscInt m, const Line *l,
                             const KCScalar *b)
{
  const KCycleBoxCoefficients *of = l->c, *after = l->after;
  const KCScalar              *c[MOST], *next[MOST];
  const PetscInt               length = l->length;
  KCScalar                    *t      = l->t + a;
  Beside s = {NULL, NULL, of->step, after->step, constant ? of->constant->middle : NULL, length, m};

  b += a;
  for (int q = 0; q < lines; q++) {
    c[q]    = of->c[q] + a;
    next[q] = after->c[q] + a;
  }
  s.c    = c;
  s.next = next;
  if (lines == 2) {
    if (l->alone && t != b) memcpy(t, b, m * sizeof(KCScalar));
    if (l->alone) return;
    SubtractLines(constant, 1, 1, s, l->beside[0] + a, b, t);
    SubtractLines(constant, 1, 0, Further(constant, s, 1, 6), l->beside[2] + a, t, t);
    return;
  }
  SubtractLines(constant, 1, 1, Further(constant, s, 3, 9), l->beside[1] - length + a, b, t);
  SubtractLines(constant, 1, 0, Further(constant, s, 4, 15), l->beside[1] + length + a, t, t);
  if (l->alone) return;
  SubtractLines(constant, 3, 3, s, l->beside[0] - length + a, t, t);
  SubtractLines(constant, 3, 0, Further(constant, s, 5, 18), l->beside[2] - length + a, t, t);
}

/* The same of all points. Vectors that lie in the constant part of a line need no arrays. m > n: vectors would read
   b beyond the line */
KC_POINT void Share(const int lines, PetscInt n, PetscInt m, const Line *l, const KCScalar *b)
{
  const KCycleClass *constant = l->c->constant;
  const PetscInt     first    = constant ? (constant->a + KC_VECTOR - 1) / KC_VECTOR * KC_VECTOR : m,
                 end          = constant ? constant->b / KC_VECTOR * KC_VECTOR : m;

  if (m > n) {
    memcpy(l->t, b, n * sizeof(KCScalar));
    memset(l->t + n, 0, (m - n) * sizeof(KCScalar));
    b = l->t;
  }
  if (first >= end) {
    SubtractBeside(0, lines, 0, m, l, b);
    return;
  }
  SubtractBeside(0, lines, 0, first, l, b);
  SubtractBeside(1, lines, first, end - first, l, b);
  SubtractBeside(0, lines, end, m - end, l, b);
}

/* y = x + w ((t - couplings along the line) / d - x) */
KC_POINT void RelaxAlong(PetscInt n, const KCycleBoxCoefficients *c, const KCScalar *t, const KCScalar *w,
                         const KCScalar *x, KCScalar *y)
{
  const KCScalar *left = c->left, *diagonal = c->diagonal, *right = c->right;

  KC_IVDEP for (PetscInt i = 0; i < n; i++) y[i] =
      x[i] + w[i] * ((t[i] - left[i] * x[i - 1] - right[i] * x[i + 1]) / diagonal[i] - x[i]);
}

KC_POINT void SubtractAlong(PetscInt n, const KCycleBoxCoefficients *c, const KCScalar *x, KCScalar *t)
{
  const KCScalar *left = c->left, *diagonal = c->diagonal, *right = c->right;

  KC_IVDEP for (PetscInt i = 0; i < n; i++) t[i] -= left[i] * x[i - 1] + diagonal[i] * x[i] + right[i] * x[i + 1];
}

/* Lines of a plane are relaxed, or their residuals restricted. alone: the planes beside it count as zero */
typedef struct {
  KCyclePlaneLines         lines;
  PetscBool                alone;
  const KCScalar          *b, *weights[2];
  const KCycleRestriction *to;
} Plane;

/* Asks for what the next line needs and a line before it does not ask for on the way: all of it, if that one has no
   arrays */
KC_POINT void Fetch(const int lines, PetscInt n, int all, const KCycleBoxCoefficients *c, const KCScalar *b)
{
  KCycleFetch(n, b);
  if (c->constant) return;
  KCycleFetch(n, c->diagonal);
  KCycleFetch(n, c->right);
  for (int q = 0; all && q < lines; q++) {
    for (int e = 0; e < 3; e++) KCycleFetch(n, c->c[q] + e * c->step[q < lines / 2 ? 0 : 1]);
  }
}

KC_POINT void ComputePlane(const KCycleBoxTile *w, const int lines, const int op, const Plane *p)
{
  const PetscInt               n = w->st->box->n[0], length = w->length, t = p->lines.t, by = p->lines.by;
  KCScalar                    *plane[3] = {LineAt(w, t - 1, 0), LineAt(w, t, 0), LineAt(w, t + 1, 0)};
  const KCScalar              *b        = p->b + (w->lead ? n * w->st->box->n[1] : n) * t;
  /* in 2D a plane is a line */
  const KCycleBoxCoefficients *of       = w->coefficients + (w->lead ? w->st->box->n[1] : 1) * t;
  KCScalar                    *y        = w->work + (2 * KCycleThread() + 1) * length + KC_VECTOR;
  Line                         line;

  line.t      = y - length;
  line.length = length;
  line.alone  = p->alone;
  for (PetscInt l = p->lines.first; l < p->lines.end; l += by) {
    const PetscInt after = l + by < p->lines.end ? l + by : l;

    line.c     = of + l;
    line.after = of + after;
    Fetch(lines, n, line.c->constant != NULL, line.after, b + n * after);
    for (int q = 0; q < 3; q++) line.beside[q] = plane[q] + l * length;
    line.x = plane[1] + l * length;
    Share(lines, n, length - KC_VECTOR, &line, b + n * l);
    if (op == KC_RELAX) {
      RelaxAlong(n, line.c, line.t, p->weights[0], line.x, y);
      RelaxAlong(n, line.c, line.t, p->weights[1], y, line.x);
    } else {
      SubtractAlong(n, line.c, line.x, line.t);
      if (w->sums) w->sums[2 * (line.c - w->coefficients)] = KCycleSumSquares(n, line.t);
      KCycleTransferRestrictLine(p->to->tr, line.t, w->lead ? l : t, w->lead ? t : 0, &p->to->lines, p->to->b);
    }
  }
}

#define KC_BOX_PLANES(nl)                                                       \
  KC_VERSIONS static void Relax_##nl(const KCycleBoxTile *w, const Plane *p)    \
  {                                                                             \
    ComputePlane(w, nl - 1, KC_RELAX, p);                                       \
  }                                                                             \
                                                                                \
  KC_VERSIONS static void Restrict_##nl(const KCycleBoxTile *w, const Plane *p) \
  {                                                                             \
    ComputePlane(w, nl - 1, KC_RESIDUAL, p);                                    \
  }

KC_BOX_PLANES(3)
KC_BOX_PLANES(9)

/* Of each line its points of the first weights, then those of the second. alone: x counts as zero in the planes beside
   it */
void KCycleBoxTileRelax(const KCycleBoxTile *w, KCyclePlaneLines lines, PetscBool alone, const KCScalar *b,
                        const KCScalar *const weights[])
{
  const Plane p = {lines, alone, b, {weights[0], weights[1]}, NULL};

  if (w->lead) Relax_9(w, &p);
  else Relax_3(w, &p);
}

/* Restricts the residual */
void KCycleBoxTileRestrict(const KCycleBoxTile *w, KCyclePlaneLines lines, const KCScalar *b,
                           const KCycleRestriction *to)
{
  const Plane p = {lines, PETSC_FALSE, b, {NULL, NULL}, to};

  if (w->lead) Restrict_9(w, &p);
  else Restrict_3(w, &p);
}

/* Adds the interpolated correction to lines first to end - 1 of plane t */
void KCycleBoxTileInterpolate(const KCycleBoxTile *w, PetscInt t, PetscInt first, PetscInt end,
                              const KCycleTransfer *tr, const KCScalar *e)
{
  for (PetscInt l = first; l < end; l++)
    KCycleTransferInterpolateLine(tr, e, w->lead ? l : t, w->lead ? t : 0, PETSC_TRUE, LineAt(w, t, l));
}
