/*
  What conjugate gradients do with a stencil matrix between two preconditioners, in two passes over memory: inner
  products with A z; then a new direction p and a step along it. Work goes line by line: products with A stay in the
  cache.
*/
#include "matstencil.h"

/* Is A p computed anew in the step? Coefficients that are the same along lines are in the cache; others are read from
   memory, and once an iteration: A z is stored, and A p updated. A process decides for itself */
PetscErrorCode MatStencilConjugateRepeats(Mat A, PetscBool *repeats)
{
  PetscFunctionBegin;
  PetscCall(MatStencilNeedValues(A));
  *repeats = (PetscBool)!KCycleStencilHasBlocks(&((Mat_Stencil *)A->data)->s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Buffers are made when first needed; those that fit are kept */
static PetscErrorCode MakeBuffers(const KCycleStencil *st, KCycleConjugate *c)
{
  const KCycleBox *box     = st->box;
  const PetscInt   threads = KCycleThreadsMost();

  PetscFunctionBegin;
  if (c->box == box && c->n == box->n[0] && c->nlines == box->nlines && c->nhalo == box->nhalo && c->threads == threads)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStencilConjugateReset(c));
  PetscCall(KCycleBoxHaloCreate(box, &c->zhalo));
  PetscCall(KCycleBoxHaloCreate(box, &c->phalo));
  PetscCall(PetscMalloc2(threads * box->n[0], &c->line, KC_CONJUGATE_SUMS * box->nlines, &c->sum));
  c->box     = box;
  c->n       = box->n[0];
  c->nlines  = box->nlines;
  c->nhalo   = box->nhalo;
  c->threads = threads;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilConjugateReset(KCycleConjugate *c)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(c->zhalo));
  PetscCall(PetscFree(c->phalo));
  PetscCall(PetscFree2(c->line, c->sum));
  PetscCall(PetscMemzero(c, sizeof(*c)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscReal SumFour(const Four *x)
{
  const PetscReal *part = (const PetscReal *)x;
  PetscReal        sum  = 0;

  for (int p = 0; p < KC_SIDE; p++) sum += part[p];
  return sum;
}

/* (z, r), (z, w) and (z, z) on a line of n real numbers; in two parts, as one sum waits for the one before */
KC_VERSIONS static void DotReals(PetscInt n, const PetscReal *z, const PetscReal *r, const PetscReal *w,
                                 PetscReal sum[])
{
  const PetscInt whole = n / (2 * KC_SIDE) * (2 * KC_SIDE);
  Four           s[2][3];

  for (int h = 0; h < 2; h++) {
    for (int q = 0; q < 3; q++) s[h][q] = (Four){0};
  }
  for (PetscInt i = 0; i < whole; i += 2 * KC_SIDE) {
    for (int h = 0; h < 2; h++) {
      const PetscInt at = i + h * KC_SIDE;
      const Four     zi = *(const Four *)(z + at);

      s[h][0] += zi * *(const Four *)(r + at);
      s[h][1] += zi * *(const Four *)(w + at);
      s[h][2] += zi * zi;
    }
  }
  for (int q = 0; q < 3; q++) {
    s[0][q] += s[1][q];
    sum[q] = SumFour(&s[0][q]);
  }
  for (PetscInt i = whole; i < n; i++) {
    sum[0] += z[i] * r[i];
    sum[1] += z[i] * w[i];
    sum[2] += z[i] * z[i];
  }
}

/* Complex numbers are pairs of real ones: the real part of x times the conjugate of y is the sum of their products */
static void DotLine(PetscInt n, const PetscScalar *z, const PetscScalar *r, const PetscScalar *w, PetscReal sum[])
{
  const PetscInt parts = (PetscInt)(sizeof(PetscScalar) / sizeof(PetscReal));

  DotReals(parts * n, (const PetscReal *)z, (const PetscReal *)r, (const PetscReal *)w, sum);
}

/* p = z + beta p; the first p is z, whatever it was */
KC_VERSIONS static void Direct(PetscInt n, PetscBool first, PetscReal beta, const PetscScalar *z,
                               PetscScalar *KC_RESTRICT p)
{
  if (first) {
    for (PetscInt i = 0; i < n; i++) p[i] = z[i];
  } else {
    for (PetscInt i = 0; i < n; i++) p[i] = z[i] + beta * p[i];
  }
}

/* x += alpha p, r -= alpha w */
KC_VERSIONS static void StepLine(PetscInt n, PetscReal alpha, const PetscScalar *p, const PetscScalar *w,
                                 PetscScalar *KC_RESTRICT x, PetscScalar *KC_RESTRICT r)
{
  for (PetscInt i = 0; i < n; i++) {
    x[i] += alpha * p[i];
    r[i] -= alpha * w[i];
  }
}

/* w: A z, or NULL, where that is not kept */
static void DotShare(const KCycleStencil *st, const KCycleConjugate *c, PetscBool inner, const PetscScalar *z,
                     const PetscScalar *r, PetscScalar *w)
{
  const KCycleBox *box = st->box;
  PetscInt         first, end;

  KCycleShare(0, box->nlines, &first, &end);
  for (PetscInt line = first; line < end; line++) {
    const PetscInt j = line % box->n[1], k = line / box->n[1], at = box->n[0] * line;
    PetscScalar   *product = w ? w + at : c->line + KCycleThread() * c->n;
    KCycleLine     l;

    if (inner != KCycleBoxLineIsInner(box, j, k)) continue;
    KCycleLineGather(st, z, c->zhalo, j, k, &l);
    KCycleLineCompute(&st->shape, KC_MULT, &l, NULL, NULL, product);
    DotLine(box->n[0], z + at, r + at, product, c->sum + KC_CONJUGATE_SUMS * line);
  }
}

static void DotLines(const KCycleStencil *st, const KCycleConjugate *c, PetscBool inner, const PetscScalar *z,
                     const PetscScalar *r, PetscScalar *w)
{
  KC_PARALLEL(st->box->npoints)
  DotShare(st, c, inner, z, r, w);
}

/* (z, r), (z, A z) and (z, z) of the points of this process. The halo of z is kept for the next direction; A z in w,
   or not at all where w is NULL */
PetscErrorCode MatStencilConjugateDots(Mat A, KCycleConjugate *c, Vec z, Vec r, Vec w, PetscReal sum[])
{
  Mat_Stencil         *st      = (Mat_Stencil *)A->data;
  const KCycleStencil *s       = &st->s;
  const PetscBool      corners = (PetscBool)(s->shape.box != 0);
  const PetscScalar   *za, *ra;
  PetscScalar         *wa = NULL;

  PetscFunctionBegin;
  PetscCall(MakeBuffers(s, c));
  if (w) PetscCall(VecGetArrayWrite(w, &wa));
  PetscCall(VecGetArrayRead(z, &za));
  PetscCall(VecGetArrayRead(r, &ra));
  PetscCall(KCycleBoxExchangeBegin(s->box, corners, za, c->zhalo));
  DotLines(s, c, PETSC_TRUE, za, ra, wa);
  PetscCall(KCycleBoxExchangeEnd(s->box, corners, za, c->zhalo));
  DotLines(s, c, PETSC_FALSE, za, ra, wa);
  PetscCall(VecRestoreArrayRead(r, &ra));
  PetscCall(VecRestoreArrayRead(z, &za));
  if (w) PetscCall(VecRestoreArrayWrite(w, &wa));
  sum[0] = sum[1] = sum[2] = 0;
  for (PetscInt line = 0; line < s->box->nlines; line++) {
    for (int i = 0; i < KC_CONJUGATE_SUMS; i++) sum[i] += c->sum[KC_CONJUGATE_SUMS * line + i];
  }
  PetscCall(PetscLogFlops(2.0 * (s->shape.ncoeffs + 3) * s->box->npoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a step works with */
typedef struct {
  const KCycleStencil *st;
  KCycleConjugate     *c;
  PetscBool            first, norm;
  PetscReal            alpha, beta;
  const PetscScalar   *z;
  PetscScalar         *p, *x, *r;
} Step;

/* The step on a line, where p is complete on all lines that A couples with it */
static void StepOn(const Step *s, PetscInt line)
{
  const KCycleBox *box = s->st->box;
  const PetscInt   n = box->n[0], at = n * line;
  PetscScalar     *w = s->c->line + KCycleThread() * n;
  KCycleLine       l;

  KCycleLineGather(s->st, s->p, s->c->phalo, line % box->n[1], line / box->n[1], &l);
  KCycleLineCompute(&s->st->shape, KC_MULT, &l, NULL, NULL, w);
  StepLine(n, s->alpha, s->p + at, w, s->x + at, s->r + at);
  if (s->norm) s->c->sum[line] = KCycleSumSquares(n, s->r + at);
}

/* Directions lead by as many lines as A reaches. Lines that another thread's directions are needed for come last */
static void StepShare(const Step *s)
{
  const KCycleBox *box = s->st->box;
  const PetscInt   n = box->n[0], ahead = box->reach[2] ? box->n[1] + 1 : box->reach[1];
  PetscInt         first, end, low, high;

  KCycleShare(0, box->nlines, &first, &end);
  low  = first > 0 ? PetscMin(first + ahead, end) : first;
  high = PetscMax(end - ahead, low);
  for (PetscInt line = first; line < end; line++) {
    Direct(n, s->first, s->beta, s->z + n * line, s->p + n * line);
    if (line - ahead >= low && line - ahead < high) StepOn(s, line - ahead);
  }
  KC_BARRIER
  for (PetscInt line = first; line < low; line++) StepOn(s, line);
  for (PetscInt line = high; line < end; line++) StepOn(s, line);
}

static void StepLines(const Step *s)
{
  KC_PARALLEL(s->st->box->npoints)
  StepShare(s);
}

/* p = z + beta p, or z at first; x += alpha p; r -= alpha A p. The inner products with this z come before */
PetscErrorCode MatStencilConjugateStep(Mat A, KCycleConjugate *c, const KCycleConjugateStep *step, Vec z, Vec p, Vec x,
                                       Vec r)
{
  const KCycleStencil *st = &((Mat_Stencil *)A->data)->s;
  Step                 s  = {.st    = st,
                             .c     = c,
                             .first = step->first,
                             .norm  = (PetscBool)(step->sum != NULL),
                             .alpha = step->alpha,
                             .beta  = step->beta};

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(z, &s.z));
  PetscCall(VecGetArray(p, &s.p));
  PetscCall(VecGetArray(x, &s.x));
  PetscCall(VecGetArray(r, &s.r));
  Direct(st->box->nhalo, s.first, s.beta, c->zhalo, c->phalo);
  StepLines(&s);
  PetscCall(VecRestoreArray(r, &s.r));
  PetscCall(VecRestoreArray(x, &s.x));
  PetscCall(VecRestoreArray(p, &s.p));
  PetscCall(VecRestoreArrayRead(z, &s.z));
  if (s.norm) {
    *step->sum = 0;
    for (PetscInt line = 0; line < st->box->nlines; line++) *step->sum += c->sum[line];
  }
  PetscCall(PetscLogFlops(2.0 * (st->shape.ncoeffs + 3 + (s.norm ? 1 : 0)) * st->box->npoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}
