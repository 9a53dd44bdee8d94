/*
  How the coefficients of a stencil matrix are kept.

  Lines with the same coefficients share one class of coefficients. A line that shares with no other has a block of its
  own, one array for each offset; of a symmetric matrix only those from the diagonal on, as a(i, i - o) = a(i - o, i) is
  in the block of a neighbour. The two end points keep all their coefficients after the arrays:

    block: [ diagonal | +x | +y ... | all of point 0 | all of point n - 1 ]

  Lines come in their order, so that what a line shares with earlier ones can be checked on arrival.
*/
#include "matstencil.h"

PetscErrorCode MatStencilStoreReset(Mat A)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;

  PetscFunctionBegin;
  st->s.nclasses = st->maxclasses = 0;
  st->ondevice                    = PETSC_FALSE;
  PetscCall(PetscFree(st->s.classes));
  PetscCall(PetscFree(st->s.set));
  PetscCall(PetscFree(st->s.block));
  PetscCall(KCyclePoolDestroy(&st->s.shared));
  PetscCall(KCyclePoolDestroy(&st->s.own));
  PetscCall(PetscHMapIDestroy(&st->map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt BlockLength(const KCycleStencil *st)
{
  return KCycleBlockLength(st->box, &st->shape, st->half);
}

/* Values will come by MatStencilStoreLine(), all lines in order; whether half of them suffices must be known */
PetscErrorCode MatStencilStoreBegin(Mat A, PetscBool half)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;

  PetscFunctionBegin;
  PetscCall(MatStencilStoreReset(A));
  PetscCall(PetscHMapICreate(&st->map));
  st->s.half = half;
  st->shared = 0;
  PetscCall(PetscMalloc1(st->s.box->nlines, &st->s.set));
  PetscCall(PetscMalloc1(st->s.box->nextended, &st->s.block));
  for (PetscInt e = 0; e < st->s.box->nextended; e++) st->s.block[e] = -1;
  PetscCall(KCyclePoolCreate(0, &st->s.shared));
  PetscCall(KCyclePoolCreate((PetscInt64)st->s.box->nextended * BlockLength(&st->s), &st->s.own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The longest run of points around the middle with the same coefficients, end points excepted; all but at most 6 of the
   others, or none */
static void FindConstantRun(const KCycleShape *shape, PetscInt n, const PetscScalar all[], KCycleClass *k)
{
  const PetscInt    m        = n / 2;
  const PetscScalar diagonal = all[shape->ncoeffs / 2 * n + m];

  for (int o = 0; o < shape->ncoeffs; o++) k->middle[o] = all[o * n + m];
  k->inverse = diagonal == (PetscScalar)0.0 ? 0 : 1 / diagonal;
  k->a       = 1;
  k->b       = n - 1;
  for (int o = 0; o < shape->ncoeffs; o++) {
    const PetscScalar *c = all + o * n;
    PetscInt           a = m, b = m;

    while (a > 1 && c[a - 1] == c[m]) a--;
    while (b < n - 1 && c[b] == c[m]) b++;
    k->a = PetscMax(k->a, a);
    k->b = PetscMin(k->b, b);
  }
  if (k->b - k->a < n - 2 - 6 || k->b - k->a < 4) k->a = k->b = 0;
}

/* What is kept in addition to the coefficients of a class follows them. Points at the ends are worked on one by one:
   their coefficients side by side */
void MatStencilClassChanged(const KCycleStencil *st, PetscInt c)
{
  const int          nc  = st->shape.ncoeffs;
  const PetscInt     n   = st->box->n[0];
  const PetscScalar *all = KCycleClassCoefficients(st, c);
  PetscScalar       *end = KCycleClassEnds(st, c);
  KCycleClass       *k   = &st->classes[c];
  PetscInt           head, tail;

  FindConstantRun(&st->shape, n, all, k);
  head = k->b > k->a ? k->a : 1;
  tail = k->b > k->a ? n - k->b : n > 1;
  for (PetscInt p = 0; p < head + tail; p++) {
    const PetscInt i = p < head ? p : n - tail + p - head;

    for (int o = 0; o < nc; o++) end[p * nc + o] = all[o * n + i];
  }
}

static PetscErrorCode NewClass(Mat_Stencil *st, const PetscScalar values[])
{
  const PetscInt n = st->s.shape.ncoeffs * st->s.box->n[0], length = KCycleClassLength(st->s.box, &st->s.shape);
  PetscInt64     at;

  PetscFunctionBegin;
  if (st->s.nclasses == st->maxclasses) {
    st->maxclasses = PetscMax(8, 2 * st->maxclasses);
    PetscCall(PetscRealloc(st->maxclasses * sizeof(*st->s.classes), &st->s.classes));
  }
  PetscCall(KCyclePoolNew(&st->s.shared, length, &at));
  PetscCall(PetscArraycpy(st->s.shared.v + at, values, n));
  PetscCall(PetscArrayzero(st->s.shared.v + at + n, length - n));
  st->s.classes[st->s.nclasses].uses = 0;
  MatStencilClassChanged(&st->s, st->s.nclasses++);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define KC_SUMS 16

/* The bits of a value, or the first of them */
KC_POINT uint64_t Bits(const PetscScalar *v)
{
  uint64_t bits = 0;

  memcpy(&bits, v, PetscMin(sizeof(bits), sizeof(*v)));
  return bits;
}

/* Sums of values that are 3 times as large at each step, side by side; at most as many steps after each other as
   there are */
KC_VERSIONS static void AddToKey(const PetscScalar *v, PetscInt steps, uint64_t sums[])
{
  uint64_t h[KC_SUMS];

  for (int k = 0; k < KC_SUMS; k++) h[k] = sums[k];
  for (PetscInt s = 0; s < steps; s++) {
    for (int k = 0; k < KC_SUMS; k++) h[k] += (h[k] << 1) + Bits(&v[s * KC_SUMS + k]);
  }
  for (int k = 0; k < KC_SUMS; k++) sums[k] = h[k];
}

/* A number from all values, of 30 bits */
PetscInt KCycleKey(const PetscScalar *v, PetscInt count)
{
  uint64_t       h[KC_SUMS] = {0}, key = 1;
  const PetscInt steps = count / KC_SUMS;

  AddToKey(v, steps, h);
  for (PetscInt i = steps * KC_SUMS; i < count; i++)
    h[i - steps * KC_SUMS] += (h[i - steps * KC_SUMS] << 1) + Bits(&v[i]);
  for (int k = 0; k < KC_SUMS; k++) key = (key ^ h[k] ^ (h[k] >> 32)) * UINT64_C(1099511628211);
  return (PetscInt)(key >> 33 & 0x3fffffff);
}

/* That of a line, from its diagonal and its last couplings, two of them as a mirrored line agrees in one: lines that
   agree in all are few, and compared */
static PetscInt LineKey(const KCycleShape *shape, PetscInt n, const PetscScalar values[])
{
  return KCycleKey(values + shape->ncoeffs / 2 * n, n) ^ KCycleKey(values + (shape->ncoeffs - 2) * n, 2 * n);
}

/* The class that has these values, or -1. Neighbours are likely to have it. key: 0 or, if the map was asked, where a
   new class goes */
static PetscErrorCode FindClass(const Mat_Stencil *st, PetscInt line, const PetscScalar values[], PetscInt *key,
                                PetscInt *found)
{
  const size_t   bytes     = sizeof(PetscScalar) * st->s.shape.ncoeffs * st->s.box->n[0];
  const PetscInt likely[3] = {line > 0 ? st->s.set[line - 1] : -1,
                              line >= st->s.box->n[1] ? st->s.set[line - st->s.box->n[1]] : -1,
                              line > 1 ? st->s.set[line - 2] : -1};

  PetscFunctionBegin;
  *found = -1;
  for (int i = 0; i < 3; i++) {
    if (likely[i] < 0 || memcmp(KCycleClassCoefficients(&st->s, likely[i]), values, bytes)) continue;
    *found = likely[i];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *key = LineKey(&st->s.shape, st->s.box->n[0], values);
  PetscCall(PetscHMapIGet(st->map, *key, found));
  if (*found >= 0 && memcmp(KCycleClassCoefficients(&st->s, *found), values, bytes)) *found = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do two arrays differ by more than rounding? */
KC_VERSIONS static PetscBool Differ(PetscInt n, const PetscScalar *a, const PetscScalar *b, const PetscScalar *diagonal,
                                    PetscReal slack)
{
  PetscInt64 wrong = 0;

  for (PetscInt i = 0; i < n; i++) wrong |= PetscAbsScalar(a[i] - b[i]) <= slack * PetscAbsScalar(diagonal[i]) ? 0 : 1;
  return (PetscBool)(wrong != 0);
}

/* What owned lines that came before, or the line itself, keep of coefficient o of its lower half: that of point i +
   dx is the one of point i. NULL: not owned, or outside the grid */
static const PetscScalar *UpperOf(const KCycleStencil *st, PetscInt j, PetscInt k, const PetscScalar values[], int o)
{
  const KCycleShape *shape = &st->shape;
  const int          q = shape->line[o], opposite = shape->ncoeffs - 1 - o;
  const PetscInt     jj = j + shape->dy[q], kk = k + shape->dz[q];

  if (st->box->offset[KCycleBoxExtended(st->box, jj, kk)] >= 0) return NULL;
  return o < shape->ncoeffs / 2 - 1 ? KCycleCoefficientsFrom(st, jj, kk, opposite) : values + opposite * st->box->n[0];
}

/* Is the lower half of a line what other lines of this process have, or will have? */
static PetscErrorCode CheckLower(const Mat_Stencil *st, PetscInt j, PetscInt k, const PetscScalar values[],
                                 PetscBool *same)
{
  const KCycleShape *shape    = &st->s.shape;
  const PetscInt     n        = st->s.box->n[0];
  const PetscScalar *diagonal = values + shape->ncoeffs / 2 * n;

  PetscFunctionBegin;
  for (int o = 0; *same && o < shape->ncoeffs / 2; o++) {
    const int          dx    = shape->dx[o];
    const PetscInt     first = PetscMax(0, -dx), end = PetscMin(n, n - dx);
    const PetscScalar *upper = UpperOf(&st->s, j, k, values, o);

    if (upper && Differ(end - first, upper + first + dx, values + o * n + first, diagonal + first, st->slack))
      *same = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lower half of a line is kept for lines that belong to a neighbour */
static PetscErrorCode StoreLower(Mat_Stencil *st, PetscInt j, PetscInt k, const PetscScalar values[])
{
  const KCycleShape *shape = &st->s.shape;
  const PetscInt     n     = st->s.box->n[0];

  PetscFunctionBegin;
  for (int o = 0; o < shape->ncoeffs / 2; o++) {
    const int      q = shape->line[o], dx = shape->dx[o];
    const PetscInt e = KCycleBoxExtended(st->s.box, j + shape->dy[q], k + shape->dz[q]);
    PetscScalar   *to;

    if (st->s.box->offset[e] <= 0) continue;
    if (st->s.block[e] < 0) {
      PetscCall(KCyclePoolNew(&st->s.own, BlockLength(&st->s), &st->s.block[e]));
      PetscCall(PetscArrayzero(KCycleBlock(&st->s, e), BlockLength(&st->s)));
    }
    to = KCycleBlock(&st->s, e) + (shape->ncoeffs / 2 - o) * n + dx;
    for (PetscInt i = PetscMax(0, -dx); i < PetscMin(n, n - dx); i++) to[i] = values[o * n + i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines that come may be those of a symmetric matrix to rounding only, of that many units of it in their diagonal */
void MatStencilExpectRounding(Mat A, PetscReal units)
{
  ((Mat_Stencil *)A->data)->slack = units * PETSC_MACHINE_EPSILON;
}

/* The lower half of the next line of a symmetric matrix of which this process has all rows: what lines stored before
   say, and the upper half itself */
void MatStencilMirrorLine(const KCycleStencil *st, PetscInt line, PetscScalar values[])
{
  const KCycleShape *shape = &st->shape;
  const PetscInt     n = st->box->n[0], j = line % st->box->n[1], k = line / st->box->n[1];

  for (int o = 0; o < shape->ncoeffs / 2; o++) {
    const int          dx    = shape->dx[o];
    const PetscInt     first = PetscMax(0, -dx), end = PetscMin(n, n - dx);
    const PetscScalar *upper = UpperOf(st, j, k, values, o);
    PetscScalar       *to    = values + o * n;

    memset(to, 0, n * sizeof(*to));
    if (upper) memcpy(to + first, upper + first + dx, (end - first) * sizeof(*to));
  }
}

static PetscErrorCode StoreBlock(Mat_Stencil *st, PetscInt line, const PetscScalar values[], PetscBool *same)
{
  const KCycleShape *shape = &st->s.shape;
  const PetscInt     n = st->s.box->n[0], j = line % st->s.box->n[1], k = line / st->s.box->n[1],
                 e  = KCycleBoxExtended(st->s.box, j, k);
  const int    half = st->s.half ? shape->ncoeffs / 2 : 0;
  PetscScalar *to;

  PetscFunctionBegin;
  PetscCall(KCyclePoolNew(&st->s.own, BlockLength(&st->s), &st->s.block[e]));
  st->s.set[line] = -1;
  to              = KCycleBlock(&st->s, e);
  PetscCall(PetscArraycpy(to, values + half * n, (shape->ncoeffs - half) * n));
  to += (shape->ncoeffs - half) * n;
  for (int o = 0; o < shape->ncoeffs; o++) {
    to[o]                  = values[o * n];
    to[shape->ncoeffs + o] = values[o * n + n - 1];
  }
  if (!st->s.half) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckLower(st, j, k, values, same));
  PetscCall(StoreLower(st, j, k, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coefficient o of point i is values[o * n + i]. same becomes false where half of the coefficients was to suffice
   and does not: start again with all */
PetscErrorCode MatStencilStoreLine(Mat A, PetscInt line, const PetscScalar values[], PetscBool *same)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;
  PetscInt     set, key = 0;

  PetscFunctionBegin;
  *same = PETSC_TRUE;
  PetscCall(FindClass(st, line, values, &key, &set));
  if (set < 0 && st->s.nclasses < KCYCLE_CLASSES + st->shared / 4) {
    set = st->s.nclasses;
    PetscCall(PetscHMapISet(st->map, key, set));
    PetscCall(NewClass(st, values));
  }
  if (set >= 0) {
    st->s.set[line] = set;
    st->shared += st->s.classes[set].uses++ > 0;
  } else PetscCall(StoreBlock(st, line, values, same));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A line that is to keep all its coefficients, those too that lead out of the grid: it goes to the shared ones, and
   replaces none of them */
PetscErrorCode MatStencilStoreWhole(Mat A, PetscInt line, const PetscScalar values[])
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;
  PetscInt     set, key = 0;

  PetscFunctionBegin;
  PetscCall(FindClass(st, line, values, &key, &set));
  if (set < 0) {
    set = st->s.nclasses;
    st->shared += 4;
    PetscCall(PetscHMapISet(st->map, key, set));
    PetscCall(NewClass(st, values));
  }
  st->s.set[line] = set;
  st->s.classes[set].uses += 2;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A line that has the coefficients of an earlier one, which shares its own */
PetscErrorCode MatStencilStoreSame(Mat A, PetscInt line, PetscInt as)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;

  PetscFunctionBegin;
  st->s.set[line] = st->s.set[as];
  st->s.classes[st->s.set[line]].uses++;
  st->shared++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes up less room: a line of a box stencil that was stored to be shared and never was, if it is as in its
   neighbours' blocks */
static PetscErrorCode MoveSingles(Mat_Stencil *st)
{
  const PetscInt nlines = st->s.box->nlines, length = KCycleClassLength(st->s.box, &st->s.shape);
  PetscInt      *to, kept                           = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(st->s.nclasses, &to));
  for (PetscInt line = 0; line < nlines; line++) {
    const PetscInt     set = st->s.set[line];
    const PetscScalar *all;
    PetscBool          same = PETSC_TRUE;

    if (set < 0 || st->s.classes[set].uses > 1 || KCycleClassConstant(&st->s, set)) continue;
    all = KCycleClassCoefficients(&st->s, set);
    PetscCall(CheckLower(st, line % st->s.box->n[1], line / st->s.box->n[1], all, &same));
    if (!same) continue;
    PetscCall(StoreBlock(st, line, all, &same));
    st->s.classes[set].uses = 0;
  }
  for (PetscInt c = 0; c < st->s.nclasses; c++) {
    to[c] = kept;
    if (!st->s.classes[c].uses) continue;
    if (kept < c)
      PetscCall(PetscArraycpy(KCycleClassCoefficients(&st->s, kept), KCycleClassCoefficients(&st->s, c), length));
    st->s.classes[kept++] = st->s.classes[c];
  }
  for (PetscInt line = 0; line < nlines; line++) {
    if (st->s.set[line] >= 0) st->s.set[line] = to[st->s.set[line]];
  }
  st->s.nclasses    = kept;
  st->s.shared.used = kept * (PetscInt64)length;
  PetscCall(PetscFree(to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilStoreEnd(Mat A)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;

  PetscFunctionBegin;
  if (st->s.shape.box && st->s.half) PetscCall(MoveSingles(st));
  PetscCall(KCyclePoolTrim(&st->s.shared));
  PetscCall(KCyclePoolTrim(&st->s.own));
  PetscCall(PetscHMapIDestroy(&st->map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Zeros everywhere */
PetscErrorCode MatStencilStoreZeros(Mat A)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;
  PetscScalar *zeros;
  PetscBool    same;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1((size_t)st->s.shape.ncoeffs * st->s.box->n[0], &zeros));
  PetscCall(MatStencilStoreBegin(A, PETSC_TRUE));
  for (PetscInt l = 0; l < st->s.box->nlines; l++) PetscCall(MatStencilStoreLine(A, l, zeros, &same));
  PetscCall(MatStencilStoreEnd(A));
  PetscCall(PetscFree(zeros));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From what MatSetValues() has collected */
PetscErrorCode MatStencilStoreDense(Mat A)
{
  Mat_Stencil   *st     = (Mat_Stencil *)A->data;
  const PetscInt length = st->s.shape.ncoeffs * st->s.box->n[0];
  PetscBool      same   = PETSC_FALSE;

  PetscFunctionBegin;
  for (int half = 1; half >= 0 && !same; half--) {
    same = PETSC_TRUE;
    PetscCall(MatStencilStoreBegin(A, (PetscBool)half));
    for (PetscInt l = 0; l < st->s.box->nlines && same; l++)
      PetscCall(MatStencilStoreLine(A, l, st->dense + (size_t)l * length, &same));
  }
  PetscCall(MatStencilStoreEnd(A));
  PetscCall(PetscFree(st->dense));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coefficients of a line: c[o] are those of the points 1 to n - 2, end those of the first and the last. Not while
   values are set */
void MatStencilLineArrays(const KCycleStencil *st, PetscInt line, KCycleLine *l)
{
  KCycleLineCoefficients(st, line % st->box->n[1], line / st->box->n[1], l);
  for (int o = 0; l->constant && o < st->shape.ncoeffs; o++) l->c[o] = l->end[0] + o * l->n;
}

/* All coefficients of a line, in the form that MatStencilStoreLine() takes */
PetscErrorCode MatStencilGetLine(Mat A, PetscInt line, PetscScalar values[])
{
  Mat_Stencil       *st    = (Mat_Stencil *)A->data;
  const KCycleShape *shape = &st->s.shape;
  const PetscInt     n     = st->s.box->n[0];
  KCycleLine         l;

  PetscFunctionBegin;
  PetscCall(MatStencilCopyToHost(A));
  if (st->dense) {
    PetscCall(PetscArraycpy(values, st->dense + (size_t)line * shape->ncoeffs * n, shape->ncoeffs * n));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  MatStencilLineArrays(&st->s, line, &l);
  for (int o = 0; o < shape->ncoeffs; o++) {
    values[o * n] = l.end[0][o * l.stride];
    if (n > 2) PetscCall(PetscArraycpy(values + o * n + 1, l.c[o] + 1, n - 2));
    values[o * n + n - 1] = l.end[1][o * l.stride];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is there nothing but zeros? Not sought in more than one set of coefficients */
static PetscBool IsZero(const Mat_Stencil *st)
{
  if (st->s.nclasses != 1 || st->s.own.used) return PETSC_FALSE;
  for (PetscInt i = 0; i < st->s.shape.ncoeffs * st->s.box->n[0]; i++) {
    if (st->s.shared.v[i] != (PetscScalar)0.0) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Back to the form that MatSetValues() can write to */
PetscErrorCode MatStencilExpand(Mat A)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;
  PetscScalar *dense;
  PetscInt     nlines, length;

  PetscFunctionBegin;
  if (st->dense) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSetUp(A));
  PetscCall(MatStencilCopyToHost(A));
  length = st->s.shape.ncoeffs * st->s.box->n[0];
  nlines = !st->s.set || IsZero(st) ? 0 : st->s.box->nlines;
  PetscCall(PetscCalloc1((size_t)st->s.box->nlines * length, &dense));
  for (PetscInt l = 0; l < nlines; l++) PetscCall(MatStencilGetLine(A, l, dense + (size_t)l * length));
  st->dense = dense;
  PetscCall(MatStencilStoreReset(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
