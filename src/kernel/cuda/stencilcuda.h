/*
  Products, residuals and relaxation with a stencil: what one thread does. A shape of stencils is known by the number of
  its coefficients, for which loops are unrolled; KCycleShape says where they lie.
*/
#pragma once

#include "launchcuda.h"

/* A shape with another number of coefficients is one more of these */
#define BY_SHAPE(kernel, st)                \
  ((st)->shape.ncoeffs == 3    ? kernel<3>  \
   : (st)->shape.ncoeffs == 5  ? kernel<5>  \
   : (st)->shape.ncoeffs == 7  ? kernel<7>  \
   : (st)->shape.ncoeffs == 9  ? kernel<9>  \
   : (st)->shape.ncoeffs == 15 ? kernel<15> \
   : (st)->shape.ncoeffs == 27 ? kernel<27> \
                               : NULL)

/* A point of the owned box, its line and where it is in a vector */
typedef struct {
  PetscInt i, j, k, line, index;
} Point;

/* Point i of a line */
static __device__ __forceinline__ Point PointOf(const KCycleCudaBox &box, PetscInt line, PetscInt i)
{
  Point p;

  p.index = i + line * box.n[0];
  p.line  = line;
  p.i     = i;
  p.k     = KCycleCudaQuotient(line, box.plane);
  p.j     = line - p.k * box.n[1];
  return p;
}

static __device__ __forceinline__ Point PointAt(const KCycleCudaBox &box, PetscInt index)
{
  const PetscInt line = KCycleCudaQuotient(index, box.line);

  return PointOf(box, line, index - line * box.n[0]);
}

/* Coefficient o of point i of line (j, k), which may be one of the halo, from its class or its block */
static __device__ __forceinline__ KCScalar CoefficientOf(const KCycleCudaStencil &st, PetscInt j, PetscInt k, int o,
                                                         PetscInt i)
{
  const PetscInt e = Extended(st.box, j, k), line = j + st.box.n[1] * k, n = st.box.n[0];

  if (st.box.offset[e] < 0 && st.set[line] >= 0) return st.shared[(size_t)st.set[line] * st.length + o * n + i];
  return st.block[e] < 0 ? (KCScalar)0 : st.own[st.block[e] + (o - st.half) * n + i];
}

/* Those from first on, PART of them, of a point whose line has a block: the upper ones are its own, the lower ones the
   neighbours' */
template <int NC, int PART>
static __device__ __forceinline__ void BlockCoefficients(const KCycleCudaStencil &st, const Point &p, int first,
                                                         KCScalar c[])
{
  const PetscInt  n     = st.box.n[0];
  const KCScalar *block = st.own + st.block[Extended(st.box, p.j, p.k)];

  if (p.i == 0 || p.i == n - 1) {
    block += (NC - st.half) * n + (p.i == 0 ? 0 : NC);
    KC_UNROLL
    for (int l = 0; l < PART; l++) c[l] = block[first + l];
    return;
  }
  KC_UNROLL
  for (int l = 0; l < PART; l++) {
    const int o = first + l, q = st.shape.line[o];

    if (o >= st.half) c[l] = block[(o - st.half) * n + p.i];
    else c[l] = CoefficientOf(st, p.j + st.shape.dy[q], p.k + st.shape.dz[q], NC - 1 - o, p.i + st.shape.dx[o]);
  }
}

template <int NC, int PART>
static __device__ __forceinline__ void Coefficients(const KCycleCudaStencil &st, const Point &p, int first,
                                                    KCScalar c[])
{
  const PetscInt set = st.set[p.line];

  if (set < 0) BlockCoefficients<NC, PART>(st, p, first, c);
  else {
    const KCycleClass *shared = st.classes + set;
    const bool         middle = p.i >= shared->a && p.i < shared->b;
    const KCScalar    *from   = middle ? shared->middle : st.shared + (size_t)set * st.length + p.i;
    const PetscInt     stride = middle ? 1 : st.box.n[0];

    KC_UNROLL
    for (int l = 0; l < PART; l++) c[l] = from[(first + l) * stride];
  }
}

template <int PART>
static __device__ __forceinline__ void Neighbours(const KCycleCudaStencil &st, const KCScalar *x, const Point &p,
                                                  int first, KCScalar v[])
{
  const PetscInt *n      = st.box.n;
  const bool      inside = p.i > 0 && p.i < n[0] - 1 && (!st.box.reach[1] || (p.j > 0 && p.j < n[1] - 1)) &&
                      (!st.box.reach[2] || (p.k > 0 && p.k < n[2] - 1));

  if (inside) {
    KC_UNROLL
    for (int l = 0; l < PART; l++) v[l] = x[p.index + st.away[first + l]];
    return;
  }
  KC_UNROLL
  for (int l = 0; l < PART; l++) {
    const int o = first + l, q = st.shape.line[o];

    v[l] = ValueAt(st.box, st.halo, x, p.i + st.shape.dx[o], p.j + st.shape.dy[q], p.k + st.shape.dz[q]);
  }
}

/* The one on the diagonal alone */
template <int NC> static __device__ __forceinline__ KCScalar DiagonalOf(const KCycleCudaStencil &st, const Point &p)
{
  const PetscInt set = st.set[p.line], n = st.box.n[0];

  if (set < 0) {
    const KCScalar *block = st.own + st.block[Extended(st.box, p.j, p.k)];

    if (p.i == 0 || p.i == n - 1) return block[(NC - st.half) * n + (p.i == 0 ? 0 : NC) + NC / 2];
    return block[(NC / 2 - st.half) * n + p.i];
  }
  if (p.i >= st.classes[set].a && p.i < st.classes[set].b) return st.classes[set].middle[NC / 2];
  return st.shared[(size_t)set * st.length + NC / 2 * n + p.i];
}

/* The sum of a point, PART products at a time; x NULL: it is zero, and nothing but the diagonal is read. Returns the
   inverse of that */
template <int NC, int PART>
static __device__ __forceinline__ KCScalar Sum(const KCycleCudaStencil &st, const KCScalar *x, const Point &p,
                                               KCScalar *sum, KCScalar *middle)
{
  KCScalar diagonal = 0;

  *sum = *middle = 0;
  if (!x) return KCyclePointInverse(DiagonalOf<NC>(st, p));
#pragma unroll 1
  for (int first = 0; first < NC; first += PART) {
    const bool has = first == NC / 2 / PART * PART;
    KCScalar   c[PART], v[PART];

    Coefficients<NC, PART>(st, p, first, c);
    Neighbours<PART>(st, x, p, first, v);
    *sum = KCyclePointDot(PART, *sum, c, v);
    if (!has) continue;
    diagonal = c[NC / 2 % PART];
    *middle  = v[NC / 2 % PART];
  }
  return KCyclePointInverse(diagonal);
}

template <int NC, int PART>
static __device__ __forceinline__ void ComputePoint(const KCycleCudaComputeWork &work, PetscInt index)
{
  const KCycleCudaStencil &st   = work.st;
  const KCycleCudaStep    &step = work.step;
  KCScalar                 sum, middle, inverse;

  if (index >= st.box.npoints) return;
  inverse       = Sum<NC, PART>(st, step.x, PointAt(st.box, index), &sum, &middle);
  step.y[index] = KCyclePointFinish(step.op, sum, step.b ? step.b[index] : (KCScalar)0, middle, step.w, inverse);
}

/* d <- keep d + w D^-1 (b - A x), y = x + d */
template <int NC, int PART>
static __device__ __forceinline__ void ChangePoint(const KCycleCudaComputeWork &work, PetscInt index)
{
  const KCycleCudaStencil &st   = work.st;
  const KCycleCudaStep    &step = work.step;
  KCScalar                 sum, middle, inverse, d;

  if (index >= st.box.npoints) return;
  inverse = Sum<NC, PART>(st, step.x, PointAt(st.box, index), &sum, &middle);
  d = KCyclePointFinish(KC_RELAX, sum, step.b[index], step.keep == 0 ? (KCScalar)0 : step.keep * step.d[index], step.w,
                        inverse);
  step.d[index] = d;
  step.y[index] = middle + d;
}

/* A thread has two points side by side in x, of which one may have the colour */
template <int NC, int PART>
static __device__ __forceinline__ void RelaxColourPair(const KCycleCudaColourWork &work, PetscInt thread)
{
  const KCycleCudaStencil &st     = work.st;
  const KCycleCudaColour  &colour = work.colour;
  const PetscInt line = KCycleCudaQuotient(thread, st.box.pairs), first = 2 * (thread - line * st.box.pairs.number);
  Point          p = PointOf(st.box, line, first);
  PetscInt       parity[3], wanted;
  KCScalar       sum, middle, inverse;

  if (line >= st.box.n[1] * st.box.n[2]) return;
  parity[2] = (p.k + colour.parity[2]) & 1;
  parity[1] = (p.j + colour.parity[1]) & 1;
  parity[0] = colour.parity[0] & 1;
  if (colour.each) {
    const bool lines = parity[1] == ((colour.colour >> 1) & 1) && parity[2] == ((colour.colour >> 2) & 1);

    wanted = lines ? (colour.colour + parity[0]) & 1 : 2;
  } else wanted = (colour.colour + parity[0] + parity[1] + parity[2]) & 1;
  if (colour.zeroguess && wanted != 0) colour.x[p.index] = 0;
  if (colour.zeroguess && wanted != 1 && first + 1 < st.box.n[0]) colour.x[p.index + 1] = 0;
  p.i += wanted;
  p.index += wanted;
  if (wanted == 2 || p.i >= st.box.n[0]) return;
  inverse           = Sum<NC, PART>(st, colour.zeroguess ? NULL : colour.x, p, &sum, &middle);
  colour.x[p.index] = KCyclePointFinish(KC_RELAX, sum, colour.b[p.index], middle, colour.w, inverse);
}
