/*
  Products, residuals and relaxation with a stencil, one thread a point. A shape of stencils is known by the number of
  its coefficients, for which loops are unrolled; where they lie stands in KCycleShape.
*/
#include "launchcuda.h"

/* A point of the owned box, its line and where it stands in a vector */
typedef struct {
  PetscInt i, j, k, line, place;
} Point;

static __device__ __forceinline__ Point PointAt(const KCycleCudaBox &box, PetscInt place)
{
  Point p;

  p.place = place;
  p.line  = place / box.n[0];
  p.i     = place - p.line * box.n[0];
  p.k     = p.line / box.n[1];
  p.j     = p.line - p.k * box.n[1];
  return p;
}

static __device__ __forceinline__ PetscInt Extended(const KCycleCudaBox &box, PetscInt j, PetscInt k)
{
  return (j + box.reach[1]) + (box.n[1] + 2 * box.reach[1]) * (k + box.reach[2]);
}

/* Coefficient o of point i of line (j, k), which may be one of the halo, from its class or its block */
static __device__ __forceinline__ KCScalar CoefficientOf(const KCycleCudaStencil &st, PetscInt j, PetscInt k, int o,
                                                         PetscInt i)
{
  const PetscInt e = Extended(st.box, j, k), line = j + st.box.n[1] * k, n = st.box.n[0];

  if (st.box.offset[e] < 0 && st.set[line] >= 0) return st.shared[(size_t)st.set[line] * st.length + o * n + i];
  return st.block[e] < 0 ? (KCScalar)0 : st.own[st.block[e] + (o - st.half) * n + i];
}

/* Those of a point whose line has a block: the upper ones are its own, the lower ones the neighbours' */
template <int NC>
static __device__ __forceinline__ void BlockCoefficients(const KCycleCudaStencil &st, const Point &p, KCScalar c[])
{
  const PetscInt  n     = st.box.n[0];
  const KCScalar *block = st.own + st.block[Extended(st.box, p.j, p.k)];

  if (p.i == 0 || p.i == n - 1) {
    block += (NC - st.half) * n + (p.i == 0 ? 0 : NC);
    KC_UNROLL
    for (int o = 0; o < NC; o++) c[o] = block[o];
    return;
  }
  KC_UNROLL
  for (int o = 0; o < NC; o++) {
    const int q = st.shape.line[o];

    if (o >= st.half) c[o] = block[(o - st.half) * n + p.i];
    else c[o] = CoefficientOf(st, p.j + st.shape.dy[q], p.k + st.shape.dz[q], NC - 1 - o, p.i + st.shape.dx[o]);
  }
}

/* Returns the inverse of the diagonal */
template <int NC>
static __device__ __forceinline__ KCScalar Coefficients(const KCycleCudaStencil &st, const Point &p, KCScalar c[])
{
  const PetscInt set = st.set[p.line];

  if (set < 0) BlockCoefficients<NC>(st, p, c);
  else {
    const KCycleClass *shared = st.classes + set;
    const bool         middle = p.i >= shared->a && p.i < shared->b;
    const KCScalar    *from   = middle ? shared->middle : st.shared + (size_t)set * st.length + p.i;
    const PetscInt     stride = middle ? 1 : st.box.n[0];

    KC_UNROLL
    for (int o = 0; o < NC; o++) c[o] = from[o * stride];
  }
  return c[NC / 2] == (KCScalar)0 ? (KCScalar)0 : (KCScalar)1 / c[NC / 2];
}

/* Point i of line (j, k) of x, owned or not */
static __device__ __forceinline__ KCScalar ValueAt(const KCycleCudaStencil &st, const KCScalar *x, PetscInt i,
                                                   PetscInt j, PetscInt k)
{
  const KCycleCudaBox &box = st.box;
  const PetscInt       e = Extended(box, j, k), n = box.n[0];

  if (i < 0 || i >= n) return box.xhalo ? st.halo[(i < 0 ? box.left : box.right) + e] : (KCScalar)0;
  return box.offset[e] < 0 ? x[i + n * (j + box.n[1] * k)] : st.halo[box.offset[e] + i];
}

template <int NC>
static __device__ __forceinline__ void Neighbours(const KCycleCudaStencil &st, const KCScalar *x, const Point &p,
                                                  KCScalar v[])
{
  const PetscInt *n      = st.box.n;
  const bool      inside = p.i > 0 && p.i < n[0] - 1 && (!st.box.reach[1] || (p.j > 0 && p.j < n[1] - 1)) &&
                      (!st.box.reach[2] || (p.k > 0 && p.k < n[2] - 1));

  KC_UNROLL
  for (int o = 0; o < NC; o++) {
    const int dx = st.shape.dx[o], dy = st.shape.dy[st.shape.line[o]], dz = st.shape.dz[st.shape.line[o]];

    v[o] = inside ? x[p.place + dx + n[0] * (dy + n[1] * dz)] : ValueAt(st, x, p.i + dx, p.j + dy, p.k + dz);
  }
}

/* The sum of a point; zeros: x is zero. Returns the inverse of the diagonal */
template <int NC>
static __device__ __forceinline__ KCScalar Sum(const KCycleCudaStencil &st, const KCScalar *x, const Point &p,
                                               KCScalar *sum, KCScalar *middle)
{
  KCScalar       c[NC], v[NC];
  const KCScalar inverse = Coefficients<NC>(st, p, c);

  *sum = *middle = 0;
  if (!x) return inverse;
  Neighbours<NC>(st, x, p, v);
  *sum    = KCyclePointDot(NC, c, v);
  *middle = v[NC / 2];
  return inverse;
}

template <int NC> static __global__ void Compute(KCycleCudaStencil st, KCycleCudaStep step)
{
  const PetscInt place = KCycleCudaThread();
  KCScalar       sum, middle, inverse;

  if (place >= st.box.npoints) return;
  inverse       = Sum<NC>(st, step.x, PointAt(st.box, place), &sum, &middle);
  step.y[place] = KCyclePointFinish(step.op, sum, step.b ? step.b[place] : (KCScalar)0, middle, step.w, inverse);
}

/* d <- keep d + w D^-1 (b - A x), y = x + d */
template <int NC> static __global__ void Change(KCycleCudaStencil st, KCycleCudaStep step)
{
  const PetscInt place = KCycleCudaThread();
  KCScalar       sum, middle, inverse, d;

  if (place >= st.box.npoints) return;
  inverse = Sum<NC>(st, step.x, PointAt(st.box, place), &sum, &middle);
  d = KCyclePointFinish(KC_RELAX, sum, step.b[place], step.keep == 0 ? (KCScalar)0 : step.keep * step.d[place], step.w,
                        inverse);
  step.d[place] = d;
  step.y[place] = middle + d;
}

/* A thread has two points beside each other in x, of which one may have the colour */
template <int NC> static __global__ void RelaxColour(KCycleCudaStencil st, KCycleCudaColour colour)
{
  const PetscInt n = st.box.n[0], pairs = (n + 1) / 2, thread = KCycleCudaThread();
  const PetscInt line = thread / pairs, first = line * n + 2 * (thread - line * pairs), at = first - line * n;
  PetscInt       parity[3], wanted, end;

  if (line >= st.box.n[1] * st.box.n[2]) return;
  end       = at + 1 < n ? first + 2 : first + 1;
  parity[2] = (line / st.box.n[1] + colour.parity[2]) & 1;
  parity[1] = (line % st.box.n[1] + colour.parity[1]) & 1;
  parity[0] = colour.parity[0] & 1;
  if (colour.each) {
    const bool lines = parity[1] == ((colour.colour >> 1) & 1) && parity[2] == ((colour.colour >> 2) & 1);

    wanted = lines ? (colour.colour + parity[0]) & 1 : 2;
  } else wanted = (colour.colour + parity[0] + parity[1] + parity[2]) & 1;
  for (PetscInt place = first; place < end; place++) {
    KCScalar sum, middle, inverse;

    if (((place - line * n) & 1) == wanted) {
      inverse         = Sum<NC>(st, colour.zeroguess ? NULL : colour.x, PointAt(st.box, place), &sum, &middle);
      colour.x[place] = KCyclePointFinish(KC_RELAX, sum, colour.b[place], middle, colour.w, inverse);
    } else if (colour.zeroguess) colour.x[place] = 0;
  }
}

/* One thread for each point of the lines */
template <int NC>
static __global__ void LineResidual(KCycleCudaStencil st, KCycleCudaLines z, const KCScalar *b, const KCScalar *x)
{
  const PetscInt thread = KCycleCudaThread();
  PetscInt       l, i, row, number, place;
  KCScalar       sum, middle;

  if (thread >= z.nlines * z.n) return;
  KCycleCudaLinePoint(&z, thread, &l, &i);
  place = KCycleCudaLineAt(&z, l, &row, &number) + i * z.step[0];
  (void)Sum<NC>(st, x, PointAt(st.box, place), &sum, &middle);
  z.y[i * z.nlines + l] = KCyclePointFinish(KC_RESIDUAL, sum, b[place], middle, 0, 0);
}

/* A shape with another number of coefficients is one more of these */
#define BY_SHAPE(kernel, st)                \
  ((st)->shape.ncoeffs == 3    ? kernel<3>  \
   : (st)->shape.ncoeffs == 5  ? kernel<5>  \
   : (st)->shape.ncoeffs == 7  ? kernel<7>  \
   : (st)->shape.ncoeffs == 9  ? kernel<9>  \
   : (st)->shape.ncoeffs == 15 ? kernel<15> \
   : (st)->shape.ncoeffs == 27 ? kernel<27> \
                               : NULL)

cudaError_t KCycleCudaCompute(cudaStream_t stream, const KCycleCudaStencil *st, const KCycleCudaStep *step)
{
  void (*const compute)(KCycleCudaStencil, KCycleCudaStep) = BY_SHAPE(Compute, st);
  void (*const change)(KCycleCudaStencil, KCycleCudaStep)  = BY_SHAPE(Change, st);

  if (!compute || !change) return cudaErrorInvalidValue;
  return KCycleCudaLaunch(stream, st->box.npoints, step->d ? change : compute, *st, *step);
}

cudaError_t KCycleCudaRelaxColour(cudaStream_t stream, const KCycleCudaStencil *st, const KCycleCudaColour *colour)
{
  void (*const relax)(KCycleCudaStencil, KCycleCudaColour) = BY_SHAPE(RelaxColour, st);

  if (!relax) return cudaErrorInvalidValue;
  return KCycleCudaLaunch(stream, (st->box.n[0] + 1) / 2 * st->box.n[1] * st->box.n[2], relax, *st, *colour);
}

cudaError_t KCycleCudaLineResidual(cudaStream_t stream, const KCycleCudaStencil *st, const KCycleCudaLines *z,
                                   const KCScalar *b, const KCScalar *x)
{
  void (*const residual)(KCycleCudaStencil, KCycleCudaLines, const KCScalar *, const KCScalar *) =
      BY_SHAPE(LineResidual, st);

  if (!residual) return cudaErrorInvalidValue;
  return KCycleCudaLaunch(stream, z->nlines * z->n, residual, *st, *z, b, x);
}
