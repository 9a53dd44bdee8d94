/*
  A tile for box stencils: the planes of x that the steps of a coloured pass work on, copied to a ring of planes in
  cache.

  In it lines lie at fixed distances, with zeros before and behind them and in place of lines outside the grid. So whole
  vectors are computed from the first point of a line to its last, none of them apart. The coefficients stay where they
  are.

  Both colours of a line need the same sum over the other lines, which do not change meanwhile: it is found once.
*/
#include "tile.h"

/* Line l of plane t; both may be one outside the grid */
static inline KCScalar *LineAt(const KCycleBoxTile *w, PetscInt t, PetscInt l)
{
  return w->ring + ((t + w->planes) % w->planes * w->lines + l + w->lead) * (PetscInt64)w->length + KC_VECTOR;
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

/* The first coefficient of a line */
static int FirstOf(const KCycleShape *shape, int q)
{
  int o = 0;

  while (shape->line[o] < q) o++;
  return o;
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
    const int back = FirstOf(shape, q), ahead = FirstOf(shape, nl / 2 + 1 + q), opposite = FirstOf(shape, nl - 1 - q);

    c->c[nl / 2 + q] = c->diagonal + (ahead - mid) * n;
    if (mirrored) {
      const KCScalar *from = KCycleCoefficientsFrom(st, j + shape->dy[q], k + shape->dz[q], opposite);
      const PetscInt  last = shape->line[back + 1] == q ? 2 * n - 1 : 0; /* of one line or three */

      c->c[q] = from ? from + last : c->diagonal + last + 1; /* beyond the grid, where x is zero */
    } else c->c[q] = c->diagonal + (back - mid) * n;
  }
}

/* For a matrix with a box stencil in two or three dimensions */
PetscErrorCode KCycleBoxTileCreate(const KCycleStencil *st, KCycleBoxTile **tile)
{
  const KCycleBox *box   = st->box;
  const uintptr_t  bytes = KC_VECTOR * sizeof(KCScalar);
  KCycleBoxTile   *w;
  size_t           ring;

  PetscFunctionBegin;
  PetscCall(PetscNew(&w));
  *tile     = w;
  w->st     = st;
  w->length = (box->n[0] + KC_VECTOR - 1) / KC_VECTOR * KC_VECTOR + KC_VECTOR;
  w->lead   = box->dim == 3 ? 1 : 0;
  w->lines  = box->dim == 3 ? box->n[1] + 2 : 1;
  w->planes = PetscMin(KC_TILE_STEPS, KCyclePlanes(box)) + 2;
  ring      = (size_t)w->planes * w->lines * w->length;
  PetscCall(PetscCalloc1(ring + (size_t)2 * KCycleThreadsMost() * w->length + 2 * KC_VECTOR, &w->memory));
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

/* Some lines beside the middle one: from which of the shape on, how many of them */
typedef struct {
  int from, lines;
} Group;

/* The number of a line beside the middle one, and of its first coefficient */
KC_POINT int LineOf(const int nl, int beside)
{
  return beside < nl / 2 ? beside : beside + 1;
}

KC_POINT int CoefficientOf(const int nl, const int box, int beside)
{
  int o = 0;

  for (int q = 0; q < LineOf(nl, beside); q++) o += KC_WIDE(nl, box, q) ? 3 : 1;
  return o;
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

/* m points of the line, from point a on: places of x, b, t; m is a multiple of a vector */
typedef struct {
  PetscInt        a, m;
  const KCScalar *x, *b;
  KCScalar       *t;
} Part;

/*
  t = b - the share of a group of lines of x. The coefficients of the line that is next are asked for on the way.
  constant: all points have the same coefficients
*/
KC_POINT void SubtractLines(const int constant, const int nl, const int box, const Group g, const Line *l, const Part p)
{
  const KCScalar *x = p.x, *b = p.b;
  KCScalar       *t       = p.t;
  const KCScalar *c[3]    = {NULL, NULL, NULL}, *next[3];
  const int       fetched = constant ? 0 : g.lines, lines = g.lines;
  const PetscInt  apart = l->length;
  PetscInt        step[3], nextstep[3];
  KCScalar        middle[9];

  for (int q = 0; q < lines; q++) {
    const int side = g.from + q < nl / 2 ? 0 : 1, wide = KC_WIDE(nl, box, LineOf(nl, g.from + q));

    if (!constant) c[q] = l->c->c[g.from + q] + p.a;
    step[q]     = constant ? 0 : l->c->step[side];
    next[q]     = l->after->c[g.from + q] + p.a;
    nextstep[q] = l->after->step[side];
    for (int e = 0; e < 3; e++)
      middle[3 * q + e] = constant && (wide || e == 1)
                              ? l->c->constant->middle[CoefficientOf(nl, box, g.from + q) + (wide ? e : 0)]
                              : 0;
  }
  for (PetscInt v = 0; v < p.m; v += KC_VECTOR) {
    KC_UNROLL
    for (int q = 0; q < fetched; q++) {
      const int wide = KC_WIDE(nl, box, LineOf(nl, g.from + q));

      KC_UNROLL
      for (int e = 0; e < 3; e++) {
        if (wide || e == 0) __builtin_prefetch(next[q] + v + e * nextstep[q]);
      }
    }
    KC_IVDEP for (PetscInt i = v; i < v + KC_VECTOR; i++)
    {
      KCScalar sum[3] = {0, 0, 0};

      KC_UNROLL
      for (int q = 0; q < lines; q++) {
        const int wide = KC_WIDE(nl, box, LineOf(nl, g.from + q));

        KC_UNROLL
        for (int e = 0; e < 3; e++) {
          if (wide || e == 1)
            sum[e] += (constant ? middle[3 * q + e] : c[q][i + (wide ? e : 0) * step[q]]) * x[q * apart + i + e - 1];
        }
      }
      t[i] = b[i] - (sum[0] + sum[1] + sum[2]);
    }
  }
}

/* t = b - the share of all lines beside the middle one, of m points from point a on */
KC_POINT void SubtractBeside(const int constant, const int nl, const int box, PetscInt a, PetscInt m, const Line *l,
                             const KCScalar *b)
{
  const PetscInt length = l->length;
  const int      plane  = nl == 9 ? 3 : 1; /* lines of a plane that are reached */
  KCScalar      *t      = l->t + a;

  b += a;
  if (nl == 3 && l->alone && t != b) memcpy(t, b, m * sizeof(KCScalar));
  if (nl > 3) {
    const Group before = {plane, 1}, behind = {plane + 1, 1};
    const Part  first = {a, m, l->beside[1] - length + a, b, t}, second = {a, m, l->beside[1] + length + a, t, t};

    SubtractLines(constant, nl, box, before, l, first);
    SubtractLines(constant, nl, box, behind, l, second);
  }
  if (!l->alone) {
    const Group before = {0, plane}, behind = {nl - 1 - plane, plane};
    const Part  first = {a, m, l->beside[0] - plane / 2 * length + a, nl == 3 ? b : t, t},
               second = {a, m, l->beside[2] - plane / 2 * length + a, t, t};

    SubtractLines(constant, nl, box, before, l, first);
    SubtractLines(constant, nl, box, behind, l, second);
  }
}

/* The same of all points. Vectors that lie in the constant part of a line need no arrays. m > n: vectors would read
   b beyond the line */
KC_POINT void Share(const int nl, const int box, PetscInt n, PetscInt m, const Line *l, const KCScalar *b)
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
    SubtractBeside(0, nl, box, 0, m, l, b);
    return;
  }
  SubtractBeside(0, nl, box, 0, first, l, b);
  SubtractBeside(1, nl, box, first, end - first, l, b);
  SubtractBeside(0, nl, box, end, m - end, l, b);
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
KC_POINT void Fetch(const int nl, const int box, PetscInt n, int all, const KCycleBoxCoefficients *c, const KCScalar *b)
{
  KCycleFetch(n, b);
  if (c->constant) return;
  KCycleFetch(n, c->diagonal);
  KCycleFetch(n, c->right);
  for (int q = 0; all && q < nl - 1; q++) {
    for (int e = 0; e < (KC_WIDE(nl, box, LineOf(nl, q)) ? 3 : 1); e++)
      KCycleFetch(n, c->c[q] + e * c->step[q < nl / 2 ? 0 : 1]);
  }
}

KC_POINT void ComputePlane(const KCycleBoxTile *w, const int nl, const int box, const int op, const Plane *p)
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
    Fetch(nl, box, n, line.c->constant != NULL, line.after, b + n * after);
    for (int q = 0; q < 3; q++) line.beside[q] = plane[q] + l * length;
    line.x = plane[1] + l * length;
    Share(nl, box, n, length - KC_VECTOR, &line, b + n * l);
    if (op == KC_RELAX) {
      RelaxAlong(n, line.c, line.t, p->weights[0], line.x, y);
      RelaxAlong(n, line.c, line.t, p->weights[1], y, line.x);
    } else {
      SubtractAlong(n, line.c, line.x, line.t);
      if (w->sums && l >= p->to->lines.own) w->sums[2 * (line.c - w->coefficients)] = KCycleSumSquares(n, line.t);
      KCycleTransferRestrictLine(p->to->tr, line.t, w->lead ? l : t, w->lead ? t : 0, &p->to->lines, p->to->b);
    }
  }
}

#define KC_BOX_PLANES(name, nl, box)                                              \
  KC_VERSIONS static void Relax_##name(const KCycleBoxTile *w, const Plane *p)    \
  {                                                                               \
    ComputePlane(w, nl, box, KC_RELAX, p);                                        \
  }                                                                               \
                                                                                  \
  KC_VERSIONS static void Restrict_##name(const KCycleBoxTile *w, const Plane *p) \
  {                                                                               \
    ComputePlane(w, nl, box, KC_RESIDUAL, p);                                     \
  }

KC_BOX_PLANES(3, 3, KC_BOX)
KC_BOX_PLANES(9, 9, KC_BOX)
KC_BOX_PLANES(X, 5, KC_PRISM_X)
KC_BOX_PLANES(Y, 9, KC_PRISM_Y)
KC_BOX_PLANES(Z, 9, KC_PRISM_Z)

typedef void (*PlaneKernel)(const KCycleBoxTile *, const Plane *);

/* That for lines which stand alone, then those of the shapes in 3D */
static const PlaneKernel Relax[]    = {Relax_3, Relax_9, Relax_X, Relax_Y, Relax_Z},
                         Restrict[] = {Restrict_3, Restrict_9, Restrict_X, Restrict_Y, Restrict_Z};

/* Of each line its points of the first weights, then those of the second. alone: x counts as zero in the planes beside
   it */
void KCycleBoxTileRelax(const KCycleBoxTile *w, KCyclePlaneLines lines, PetscBool alone, const KCScalar *b,
                        const KCScalar *const weights[])
{
  const Plane p = {lines, alone, b, {weights[0], weights[1]}, NULL};

  (*Relax[w->lead ? w->st->shape.box : 0])(w, &p);
}

/* Restricts the residual */
void KCycleBoxTileRestrict(const KCycleBoxTile *w, KCyclePlaneLines lines, const KCScalar *b,
                           const KCycleRestriction *to)
{
  const Plane p = {lines, PETSC_FALSE, b, {NULL, NULL}, to};

  (*Restrict[w->lead ? w->st->shape.box : 0])(w, &p);
}

/* Adds the interpolated correction to lines first to end - 1 of plane t */
void KCycleBoxTileInterpolate(const KCycleBoxTile *w, PetscInt t, PetscInt first, PetscInt end,
                              const KCycleTransfer *tr, const KCScalar *e)
{
  for (PetscInt l = first; l < end; l++)
    KCycleTransferInterpolateLine(tr, e, w->lead ? l : t, w->lead ? t : 0, PETSC_TRUE, LineAt(w, t, l));
}
