/*
  Red-black half sweeps in tiles that do not march: a block has its part of the grid in shared memory, with rims, and
  does up to KC_CUDA_TILE half sweeps there, each after one barrier, with interpolation before or residual and
  restriction after them. For levels that are too small to give each processor a march (tilecuda.cu).

  Each step needs points next to its own as the step before left them: what it computes begins a point further inside.

    margin    from x: loaded 0, half sweeps 1, 2, 3, 4, residual 5, what the part writes 6
              zeros:  loaded 0, half sweeps 0, 1, 2, 3, residual 4, what the part writes 5

  Blocks read x from one vector and write what they own to another one. A line is split into its points of even and of
  odd index, so that the points of a colour, and each of their neighbours, lie side by side.
*/
#include "tilecuda.h"

#define THREADS 512
#define LOADS   4 /* that a thread has under way */

/* A part: the grid's point that its first one is, outside the grid perhaps; from a row, and a plane, to the next; x and
   b */
typedef struct {
  PetscInt  at[3], half, row, plane;
  KCScalar *x, *b;
} Part;

/* A point of a part */
typedef struct {
  PetscInt i, j, k;
} Spot;

static __device__ __forceinline__ PetscInt IndexOf(const Part &part, const Spot &s)
{
  return s.k * part.plane + s.j * part.row + (s.i & 1) * part.half + (s.i >> 1);
}

/* Lines of a plane, and planes, at a distance from the edge of the part */
template <int NC> static __device__ __forceinline__ PetscInt Lines(const KCycleCudaShares &shares, PetscInt margin)
{
  return shares.rows[margin].number * (NC == 7 ? shares.n[2] - 2 * margin : 1);
}

/* Number n of the points (pairs of points) that are at that distance from the edge of the part, or further */
template <int NC>
static __device__ __forceinline__ Spot SpotOf(const KCycleCudaShares &shares, const KCycleCudaDivisor &width,
                                              PetscInt margin, PetscInt n)
{
  const PetscInt line = KCycleCudaQuotient(n, width);
  Spot           s;

  s.i = n - line * width.number;
  s.k = NC == 7 ? KCycleCudaQuotient(line, shares.rows[margin]) : 0;
  s.j = line - s.k * shares.rows[margin].number + margin;
  if (NC == 7) s.k += margin;
  return s;
}

static __device__ __forceinline__ bool IsInside(const KCycleCudaTile &a, const Part &part, const Spot &s)
{
  const PetscInt i = part.at[0] + s.i, j = part.at[1] + s.j, k = part.at[2] + s.k, *n = a.st.box.n;

  return i >= 0 && i < n[0] && j >= 0 && j < n[1] && k >= 0 && k < n[2];
}

static __device__ __forceinline__ Point PointOf(const KCycleCudaTile &a, const Part &part, const Spot &s)
{
  Point p;

  p.i     = part.at[0] + s.i;
  p.j     = part.at[1] + s.j;
  p.k     = part.at[2] + s.k;
  p.line  = p.j + a.st.box.n[1] * p.k;
  p.index = p.i + a.st.box.n[0] * p.line;
  return p;
}

/* Point number n of a part, if it is one of the grid's */
template <int NC>
static __device__ __forceinline__ bool Loaded(const KCycleCudaTile &a, const KCycleCudaShares &shares, const Part &part,
                                              PetscInt n, Spot *s)
{
  if (n >= shares.width[0].number * Lines<NC>(shares, 0)) return false;
  *s = SpotOf<NC>(shares, shares.width[0], 0, n);
  return IsInside(a, part, *s);
}

/* x, which is zero outside the grid, and b */
template <int NC>
static __device__ __forceinline__ void Load(const KCycleCudaTile &a, const KCycleCudaShares &shares, const Part &part)
{
  const PetscInt all = shares.width[0].number * Lines<NC>(shares, 0);

  KC_NO_UNROLL
  for (PetscInt first = (PetscInt)threadIdx.x; first < all; first += LOADS * THREADS) {
    KCScalar x[LOADS], b[LOADS];

    KC_UNROLL
    for (int q = 0; q < LOADS; q++) {
      Spot           s;
      const bool     is    = Loaded<NC>(a, shares, part, first + q * THREADS, &s);
      const PetscInt index = is ? PointOf(a, part, s).index : 0;

      x[q] = is && a.x ? a.x[index] : (KCScalar)0;
      b[q] = is ? a.b[index] : (KCScalar)0;
    }
    KC_UNROLL
    for (int q = 0; q < LOADS; q++) {
      const PetscInt n = first + q * THREADS;

      if (n >= all) continue;
      part.x[IndexOf(part, SpotOf<NC>(shares, shares.width[0], 0, n))] = x[q];
      part.b[IndexOf(part, SpotOf<NC>(shares, shares.width[0], 0, n))] = b[q];
    }
  }
}

/* Adds the correction of the coarser level to the points that this thread has loaded */
template <int NC>
static __device__ __forceinline__ void Correct(const KCycleCudaTile &a, const KCycleCudaShares &shares,
                                               const Part &part)
{
  const PetscInt all = shares.width[0].number * Lines<NC>(shares, 0);

  if (!a.e) return;
  KC_NO_UNROLL
  for (PetscInt n = (PetscInt)threadIdx.x; n < all; n += THREADS) {
    const Spot s = SpotOf<NC>(shares, shares.width[0], 0, n);
    KCScalar  *x = part.x + IndexOf(part, s);

    if (IsInside(a, part, s)) *x = Corrected(a, PointOf(a, part, s), *x);
  }
}

/* A point and its neighbours, in the order of their coefficients */
template <int NC> static __device__ __forceinline__ void Beside(const Part &part, const Spot &s, KCScalar v[])
{
  const Spot      left = {s.i - 1, s.j, s.k}, right = {s.i + 1, s.j, s.k};
  const KCScalar *x = part.x + IndexOf(part, s);
  int             o = 0;

  if (NC == 7) v[o++] = x[-part.plane];
  v[o++] = x[-part.row];
  v[o++] = part.x[IndexOf(part, left)];
  v[o++] = x[0];
  v[o++] = part.x[IndexOf(part, right)];
  v[o++] = x[part.row];
  if (NC == 7) v[o++] = x[part.plane];
}

/* Half sweep number h: a thread has two points side by side in x, of which one has the colour */
template <int NC>
static __device__ __forceinline__ void Relax(const KCycleCudaTile &a, const KCycleCudaShares &shares, const Part &part,
                                             PetscInt h)
{
  const PetscInt margin = h + Lag(a), all = shares.pairs[margin].number * Lines<NC>(shares, margin);
  const PetscInt odd =
      (a.colours >> h) + a.parity[0] + a.parity[1] + a.parity[2] + part.at[0] + part.at[1] + part.at[2] + margin;

  KC_NO_UNROLL
  for (PetscInt n = (PetscInt)threadIdx.x; n < all; n += THREADS) {
    Spot      s     = SpotOf<NC>(shares, shares.pairs[margin], margin, n);
    KCScalar  v[NC] = {0}, sum, inverse;
    KCScalar *x;

    s.i = 2 * s.i + margin + ((odd + s.j + s.k) & 1);
    if (s.i >= shares.n[0] - margin || !IsInside(a, part, s)) continue;
    if (a.x || h > 0) Beside<NC>(part, s, v);
    x       = part.x + IndexOf(part, s);
    inverse = SumOf<NC>(a, PointOf(a, part, s), v, &sum);
    *x      = KCyclePointFinish(KC_RELAX, sum, part.b[IndexOf(part, s)], v[NC / 2], a.w, inverse);
  }
}

/* The residual, in b's memory */
template <int NC>
static __device__ __forceinline__ void Residual(const KCycleCudaTile &a, const KCycleCudaShares &shares,
                                                const Part &part)
{
  const PetscInt margin = shares.rim - 1, all = shares.width[margin].number * Lines<NC>(shares, margin);

  KC_NO_UNROLL
  for (PetscInt n = (PetscInt)threadIdx.x; n < all; n += THREADS) {
    Spot      s = SpotOf<NC>(shares, shares.width[margin], margin, n);
    KCScalar  v[NC], sum;
    KCScalar *b;

    s.i += margin;
    if (!IsInside(a, part, s)) continue;
    b = part.b + IndexOf(part, s);
    Beside<NC>(part, s, v);
    (void)SumOf<NC>(a, PointOf(a, part, s), v, &sum);
    *b = KCyclePointFinish(KC_RESIDUAL, sum, *b, v[NC / 2], 0, 0);
  }
}

/* All that a coarse point gets */
static __device__ __forceinline__ KCScalar Gathered(const KCycleCudaTile &a, const Part &part, const PetscInt c[3])
{
  const KCycleCudaTransfer &tr     = a.tr;
  const PetscInt            one[3] = {1, 1, 1}, wide[2] = {tr.factor[1] - 1, tr.factor[2] - 1};
  const bool                known = HasWeights(a, c, one);
  KCScalar                  sum   = 0;

  for (PetscInt kk = -wide[1]; kk <= wide[1]; kk++) {
    for (PetscInt jj = -wide[0]; jj <= wide[0]; jj++) {
      const FineLine fine = {tr.factor[1] * c[1] + tr.shift[1] + jj, tr.factor[2] * c[2] + tr.shift[2] + kk, {jj, kk}};
      const auto     line = [=](PetscInt i) {
        const Spot s = {i - part.at[0], fine.j - part.at[1], fine.k - part.at[2]};

        return part.b[IndexOf(part, s)];
      };

      if (known) sum += FromKnown(a, fine, line, c[0]);
      else AddFromFine(tr, c[0], fine, line, &sum);
    }
  }
  return sum;
}

/* To the coarse points of whose fine points the part has those of the same parity */
template <int NC>
static __device__ __forceinline__ void Restrict(const KCycleCudaTile &a, const KCycleCudaShares &shares,
                                                const Part &part)
{
  PetscInt from[3] = {0, 0, 0}, n[3] = {1, 1, 1};

  KC_UNROLL
  for (int d = 0; d < (NC == 7 ? 3 : 2); d++) {
    from[d] = CoarseFrom(a.tr, d, part.at[d] + shares.rim);
    n[d]    = CoarseFrom(a.tr, d, part.at[d] + shares.rim + shares.own[d]) - from[d];
  }
  KC_NO_UNROLL
  for (PetscInt q = (PetscInt)threadIdx.x; q < n[0] * n[1] * n[2]; q += THREADS) {
    const PetscInt line = q / n[0], plane = line / n[1];
    const PetscInt c[3] = {from[0] + q - line * n[0], from[1] + line - plane * n[1], from[2] + plane};

    a.coarse[c[0] + a.tr.coarse.n[0] * (c[1] + a.tr.coarse.n[1] * c[2])] = Gathered(a, part, c);
  }
}

/* What the half sweeps have left */
template <int NC>
static __device__ __forceinline__ void Write(const KCycleCudaTile &a, const KCycleCudaShares &shares, const Part &part)
{
  const PetscInt all = shares.width[shares.rim].number * Lines<NC>(shares, shares.rim);

  KC_NO_UNROLL
  for (PetscInt n = (PetscInt)threadIdx.x; n < all; n += THREADS) {
    Spot s = SpotOf<NC>(shares, shares.width[shares.rim], shares.rim, n);

    s.i += shares.rim;
    if (IsInside(a, part, s)) a.y[PointOf(a, part, s).index] = part.x[IndexOf(part, s)];
  }
}

template <int NC> static __device__ __forceinline__ Part PartOf(const KCycleCudaShares &shares, KCScalar *memory)
{
  Part part;

  part.at[0] = (PetscInt)blockIdx.x * shares.own[0] - shares.rim;
  part.at[1] = (PetscInt)blockIdx.y * shares.own[1] - shares.rim;
  part.at[2] = NC == 7 ? (PetscInt)blockIdx.z * shares.own[2] - shares.rim : 0;
  part.half  = shares.pairs[0].number;
  part.row   = 2 * part.half;
  part.plane = part.row * shares.n[1];
  part.x     = memory;
  part.b     = memory + part.plane * shares.n[2];
  return part;
}

template <int NC>
static __global__ void __launch_bounds__(THREADS, 1) PartSweeps(const KCycleCudaTile a, const KCycleCudaShares shares)
{
  extern __shared__ KCScalar memory[];
  const Part                 part = PartOf<NC>(shares, memory);

  Load<NC>(a, shares, part);
  Correct<NC>(a, shares, part);
  __syncthreads();
  for (PetscInt h = 0; h < a.nhalf; h++) {
    Relax<NC>(a, shares, part, h);
    __syncthreads();
  }
  Write<NC>(a, shares, part);
  if (!a.coarse) return;
  Residual<NC>(a, shares, part);
  __syncthreads();
  Restrict<NC>(a, shares, part);
}

cudaError_t KCycleCudaPartSweeps(cudaStream_t stream, const KCycleCudaTile *a, const KCycleCudaShares *shares)
{
  const dim3 grid((unsigned)shares->parts[0], (unsigned)shares->parts[1], (unsigned)shares->parts[2]);

  if (a->nhalf < 1 || a->nhalf > KC_CUDA_TILE || a->y == a->x) return cudaErrorInvalidValue;
  return KCycleCudaLaunchGrid(stream, grid, THREADS, (size_t)shares->bytes,
                              a->st.shape.ncoeffs == 7 ? PartSweeps<7> : PartSweeps<5>, *a, *shares);
}

cudaError_t KCycleCudaPartPrepare(const KCycleCudaTile *a)
{
  const void *const kernel = a->st.shape.ncoeffs == 7 ? (const void *)PartSweeps<7> : (const void *)PartSweeps<5>;

  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, a->limits.bytes);
}
