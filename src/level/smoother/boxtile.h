/*
  What a tile for box stencils computes on a plane, for one shape of the stencil. Each file of shapes makes its own with
  KC_BOX_PLANES(), so that compilers work on them side by side.
*/
#pragma once

#include "tile.h"

/* Line l of plane t; both may be one outside the grid */
static inline KCScalar *LineAt(const KCycleBoxTile *w, PetscInt t, PetscInt l)
{
  return w->ring + ((t + w->planes) % w->planes * w->lines + l + w->lead) * (PetscInt64)w->length + KC_VECTOR;
}

/* Some lines next to the middle one: from which of the shape on, how many of them */
typedef struct {
  int from, lines;
} Group;

/* The number of a line next to the middle one, and of its first coefficient */
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
  const KCScalar              *beside[3]; /* the same line in the planes before, of and after it */
  KCScalar                    *t;         /* work space */
  const KCycleBoxCoefficients *c, *after; /* of the line, and of the one that is next */
  PetscInt                     length;    /* from a line of the plane to the next one */
  PetscBool                    alone;     /* the planes next to it count as zero */
} Line;

/* m points of the line, from point a on: numbers of x, b, t; m is a multiple of a vector */
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

/* t = b - the share of all lines next to the middle one, of m points from point a on */
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

/* Lines of a plane are relaxed, or their residuals restricted. alone: the planes next to it count as zero */
typedef struct {
  KCyclePlaneLines         lines;
  PetscBool                alone;
  const KCScalar          *b, *weights[2];
  const KCycleRestriction *to;
} KCycleBoxPlane;

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

KC_POINT void ComputePlane(const KCycleBoxTile *w, const int nl, const int box, const int op, const KCycleBoxPlane *p)
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

typedef struct {
  void (*relax)(const KCycleBoxTile *, const KCycleBoxPlane *);
  void (*restrictresidual)(const KCycleBoxTile *, const KCycleBoxPlane *);
} KCycleBoxKernels;

PETSC_INTERN const KCycleBoxKernels KCycleBoxPlanesOfBoxes[2];  /* of single lines, and in 3D */
PETSC_INTERN const KCycleBoxKernels KCycleBoxPlanesOfPrisms[3]; /* along x, y and z */

#define KC_BOX_PLANES(name, nl, box)                                                       \
  KC_VERSIONS static void Relax_##name(const KCycleBoxTile *w, const KCycleBoxPlane *p)    \
  {                                                                                        \
    ComputePlane(w, nl, box, KC_RELAX, p);                                                 \
  }                                                                                        \
                                                                                           \
  KC_VERSIONS static void Restrict_##name(const KCycleBoxTile *w, const KCycleBoxPlane *p) \
  {                                                                                        \
    ComputePlane(w, nl, box, KC_RESIDUAL, p);                                              \
  }
