/*
  A window for box stencils: the planes of x that the steps of a coloured pass work on, copied to a ring of planes in
  cache.

  In it lines lie at fixed distances, with zeros before and behind them and in place of lines outside the grid. So whole
  vectors are computed from the first point of a line to its last, none of them apart. The coefficients stay where they
  are.

  Both colours of a line need the same sum over the other lines, which do not change meanwhile: it is found once.
*/
#include "window.h"

/* Lines beside the middle one */
#define MOST (KC_MAX_LINES - 1)

/* Line l of plane t; both may be one outside the grid */
static inline KCScalar *LineAt(const KCycleBoxWindow *w, PetscInt t, PetscInt l)
{
  return w->ring + ((t + w->planes) % w->planes * w->lines + l + w->lead) * w->length + KC_VECTOR;
}

PetscErrorCode KCycleBoxWindowDestroy(KCycleBoxWindow **window)
{
  PetscFunctionBegin;
  if (!*window) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree((*window)->memory));
  PetscCall(PetscFree((*window)->coefficients));
  PetscCall(PetscFree(*window));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Those of line (j, k). Couplings with lines before it may be kept by these: of point i that of point i - 1, i or i
   + 1 there */
static void FindCoefficients(const KCycleStencil *st, PetscInt j, PetscInt k, KCycleBoxCoefficients *c)
{
  const KCycleShape *shape = &st->shape;
  const PetscInt     n = st->box->n[0], kind = KCycleClassOf(st, j, k);
  const int          nl = shape->nl, mid = shape->ncoeffs / 2;
  const PetscBool    mirrored = (PetscBool)(kind < 0 && st->half);

  c->constant = kind < 0 ? NULL : KCycleClassConstant(st, kind);
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
PetscErrorCode KCycleBoxWindowCreate(const KCycleStencil *st, KCycleBoxWindow **window)
{
  const KCycleBox *box   = st->box;
  const uintptr_t  bytes = KC_VECTOR * sizeof(KCScalar);
  KCycleBoxWindow *w;
  PetscInt         ring;

  PetscFunctionBegin;
  PetscCall(PetscNew(&w));
  *window   = w;
  w->st     = st;
  w->length = (box->n[0] + KC_VECTOR - 1) / KC_VECTOR * KC_VECTOR + KC_VECTOR;
  w->lead   = box->dim == 3 ? 1 : 0;
  w->lines  = box->dim == 3 ? box->n[1] + 2 : 1;
  w->planes = KC_WINDOW_STEPS + 2;
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
void KCycleBoxWindowPack(const KCycleBoxWindow *w, const KCScalar *x, PetscInt t, PetscInt low, PetscInt high)
{
  const KCycleBox *box = w->st->box;

  for (PetscInt l = low; l < high; l++) {
    if (x)
      memcpy(LineAt(w, t, l), KCycleBoxLine(box, x, w->st->halo, w->lead ? l : t, w->lead ? t : 0),
             box->n[0] * sizeof(KCScalar));
    else memset(LineAt(w, t, l), 0, box->n[0] * sizeof(KCScalar));
  }
}

void KCycleBoxWindowUnpack(const KCycleBoxWindow *w, PetscInt t, PetscInt low, PetscInt high, KCScalar *x)
{
  const PetscInt n = w->st->box->n[0];

  for (PetscInt l = low; l < high; l++)
    memcpy(x + n * (w->lead ? l + w->st->box->n[1] * t : t), LineAt(w, t, l), n * sizeof(KCScalar));
}

/*
  t = b - the share of some lines, which are apart from each other by so much, at m points, a multiple of a vector. The
  first of them, low, have one step between coefficients, the others another; or all points have the same coefficients.
  Those of another line are asked for on the way
*/
KC_POINT void SubtractLines(const int constant, const int lines, const int low, PetscInt m, const KCScalar *const c_[],
                            const PetscInt step_[], const KCScalar *const next_[], const PetscInt nextstep_[],
                            const KCScalar *same, const KCScalar *x, PetscInt apart, const KCScalar *b, KCScalar *t)
{
  const KCScalar *c[3]    = {NULL, NULL, NULL}, *next[3];
  const int       fetched = constant ? 0 : lines;
  PetscInt        step[3], nextstep[3];
  KCScalar        middle[9];

  for (int q = 0; q < lines; q++) {
    if (!constant) c[q] = c_[q];
    step[q]     = constant ? 0 : step_[q < low ? 0 : 1];
    next[q]     = next_[q];
    nextstep[q] = nextstep_[q < low ? 0 : 1];
    for (int e = 0; e < 3; e++) middle[3 * q + e] = constant ? same[3 * q + e] : 0;
  }
  for (PetscInt v = 0; v < m; v += KC_VECTOR) {
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
  const KCycleBoxCoefficients *c;
} Line;

/* t = b - the share of all lines beside the middle one, of m points from point a on; alone: of lines in the same
   plane only */
KC_POINT void SubtractBeside(const int constant, const int lines, PetscBool alone, PetscInt a, PetscInt m,
                             PetscInt length, const Line *l, const KCycleBoxCoefficients *after, const KCScalar *b)
{
  const KCycleBoxCoefficients *of = l->c;
  const KCScalar              *c[MOST], *next[MOST], *same = constant ? of->constant->middle : NULL;
  KCScalar                    *t = l->t + a;

  b += a;
  for (int q = 0; q < lines; q++) {
    c[q]    = of->c[q] + a;
    next[q] = after->c[q] + a;
  }
  if (lines == 2) {
    if (alone && t != b) memcpy(t, b, m * sizeof(KCScalar));
    if (alone) return;
    SubtractLines(constant, 1, 1, m, c, of->step, next, after->step, same, l->beside[0] + a, 0, b, t);
    SubtractLines(constant, 1, 0, m, c + 1, of->step, next + 1, after->step, same + 6, l->beside[2] + a, 0, t, t);
    return;
  }
  SubtractLines(constant, 1, 1, m, c + 3, of->step, next + 3, after->step, same + 9, l->beside[1] - length + a, 0, b,
                t);
  SubtractLines(constant, 1, 0, m, c + 4, of->step, next + 4, after->step, same + 15, l->beside[1] + length + a, 0, t,
                t);
  if (alone) return;
  SubtractLines(constant, 3, 3, m, c, of->step, next, after->step, same, l->beside[0] - length + a, length, t, t);
  SubtractLines(constant, 3, 0, m, c + 5, of->step, next + 5, after->step, same + 18, l->beside[2] - length + a, length,
                t, t);
}

/* The same of all points. Vectors that lie in the constant part of a line need no arrays. m > n: vectors would read
   b beyond the line */
KC_POINT void Share(const int lines, PetscBool alone, PetscInt n, PetscInt m, PetscInt length, const Line *l,
                    const KCycleBoxCoefficients *after, const KCScalar *b)
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
    SubtractBeside(0, lines, alone, 0, m, length, l, after, b);
    return;
  }
  SubtractBeside(0, lines, alone, 0, first, length, l, after, b);
  SubtractBeside(1, lines, alone, first, end - first, length, l, after, b);
  SubtractBeside(0, lines, alone, end, m - end, length, l, after, b);
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

/* Lines first, first + by ... of plane t, before end, are relaxed, or their residuals restricted. alone: the planes
   beside it count as zero */
typedef struct {
  PetscInt                   t, first, end, by;
  PetscBool                  alone;
  const KCScalar            *b;
  const KCScalar            *weights[2];
  const KCycleTransfer      *tr;
  const KCycleTransferLines *lines;
  KCScalar                  *coarse;
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

KC_POINT void ComputePlane(const KCycleBoxWindow *w, const int lines, const int op, const Plane *p)
{
  const PetscInt               n = w->st->box->n[0], length = w->length;
  KCScalar                    *plane[3] = {LineAt(w, p->t - 1, 0), LineAt(w, p->t, 0), LineAt(w, p->t + 1, 0)};
  const KCScalar              *b        = p->b + (w->lead ? n * w->st->box->n[1] : n) * p->t;
  /* in 2D a plane is a line */
  const KCycleBoxCoefficients *of       = w->coefficients + (w->lead ? w->st->box->n[1] : 1) * p->t;
  KCScalar                    *y        = w->work + (2 * KCycleThread() + 1) * length + KC_VECTOR;
  Line                         line;

  line.t = y - length;
  for (PetscInt l = p->first; l < p->end; l += p->by) {
    const PetscInt               after = l + p->by < p->end ? l + p->by : l;
    const KCycleBoxCoefficients *next  = of + after;

    line.c = of + l;
    Fetch(lines, n, line.c->constant != NULL, next, b + n * after);
    for (int q = 0; q < 3; q++) line.beside[q] = plane[q] + l * length;
    line.x = plane[1] + l * length;
    Share(lines, p->alone, n, length - KC_VECTOR, length, &line, next, b + n * l);
    if (op == KC_RELAX) {
      RelaxAlong(n, line.c, line.t, p->weights[0], line.x, y);
      RelaxAlong(n, line.c, line.t, p->weights[1], y, line.x);
    } else {
      SubtractAlong(n, line.c, line.x, line.t);
      if (w->sums) w->sums[2 * (line.c - w->coefficients)] = KCycleSumSquares(n, line.t);
      KCycleTransferRestrictLine(p->tr, line.t, w->lead ? l : p->t, w->lead ? p->t : 0, p->lines, p->coarse);
    }
  }
}

#define KC_BOX_PLANES(nl)                                                         \
  KC_VERSIONS static void Relax_##nl(const KCycleBoxWindow *w, const Plane *p)    \
  {                                                                               \
    ComputePlane(w, nl - 1, KC_RELAX, p);                                         \
  }                                                                               \
                                                                                  \
  KC_VERSIONS static void Restrict_##nl(const KCycleBoxWindow *w, const Plane *p) \
  {                                                                               \
    ComputePlane(w, nl - 1, KC_RESIDUAL, p);                                      \
  }

KC_BOX_PLANES(3)
KC_BOX_PLANES(9)

/* Relaxes lines first, first + by ... of plane t, before end: of each its points of the first weights, then those of
   the second. alone: x counts as zero in the planes beside it */
void KCycleBoxWindowRelax(const KCycleBoxWindow *w, PetscInt t, PetscInt first, PetscInt end, PetscInt by,
                          PetscBool alone, const KCScalar *b, const KCScalar *const weights[])
{
  const Plane p = {t, first, end, by, alone, b, {weights[0], weights[1]}, NULL, NULL, NULL};

  if (w->lead) Relax_9(w, &p);
  else Relax_3(w, &p);
}

/* Adds the residual of lines first to end - 1 of plane t to the given lines of the restricted residual */
void KCycleBoxWindowRestrict(const KCycleBoxWindow *w, PetscInt t, PetscInt first, PetscInt end, const KCScalar *b,
                             const KCycleTransfer *tr, const KCycleTransferLines *lines, KCScalar *coarse)
{
  const Plane p = {t, first, end, 1, PETSC_FALSE, b, {NULL, NULL}, tr, lines, coarse};

  if (w->lead) Restrict_9(w, &p);
  else Restrict_3(w, &p);
}

/* Adds the interpolated correction to lines first to end - 1 of plane t */
void KCycleBoxWindowInterpolate(const KCycleBoxWindow *w, PetscInt t, PetscInt first, PetscInt end,
                                const KCycleTransfer *tr, const KCScalar *e)
{
  for (PetscInt l = first; l < end; l++)
    KCycleTransferInterpolateLine(tr, e, w->lead ? l : t, w->lead ? t : 0, PETSC_TRUE, LineAt(w, t, l));
}
