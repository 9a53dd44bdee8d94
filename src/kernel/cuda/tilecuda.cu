/*
  Red-black half sweeps in tiles: each value is read once for up to KC_CUDA_TILE of them, for the interpolation before
  and for residual and restriction after.

  A block of threads has a part of a plane, in 2D of a line, and marches through the planes (lines) of the grid. What
  its steps work on is in shared memory, in a ring of planes. As on the host (passes.c) steps run after each other, one
  plane apart:

    plane     t              t - 1    t - 2    t - 3     t - 4    t - 5
    from x    loaded         red      black    red       black    residual, restriction
    zeros     loaded, red    black    red      black     residual, restriction

  Each step needs points next to its own as the step before left them. So a part has a rim as wide as there are steps,
  which is computed by its neighbours as well: x goes in and y comes out, as neighbours read x at any time. The same
  holds for the first and the last planes, where the march is cut into several ones, so that all processors work.

  In shared memory a line is split into its points of even and of odd index, as in tile.c, so that the points of a
  colour, and each of their neighbours, lie side by side.
*/
#include "tilecuda.h"

#define WIDTH(nc)   ((nc) == 7 ? 64 : 512) /* points of a line of a part, its rims included */
#define THREADS(nc) ((nc) == 7 ? 512 : 256)
#define LOADS(nc)   ((nc) == 7 ? (sizeof(KCScalar) == 4 ? 8 : 6) : 2) /* points of a plane for each thread, at most */
#define SHORTEST    16                                                /* march */

/* How the work is shared out */
typedef struct {
  PetscInt own[3];           /* points that a part writes in x, in y (3D), and planes */
  PetscInt rim, width, rows; /* points of a line, and lines, with rims */
  PetscInt nx, nb;           /* planes of x and b in the ring */
} Shares;

/* A part, and where it has come to */
typedef struct {
  PetscInt  at[2];       /* the grid's point that its first one is, outside the grid perhaps */
  PetscInt  first, end;  /* planes that it writes */
  PetscInt  low, planes; /* the first one that it loads, and all of the grid */
  PetscInt  size;        /* numbers of a plane */
  KCScalar *x, *b, *sums;
} Part;

/* Where point i of a line of a part is */
template <int NC> static __device__ __forceinline__ PetscInt Local(PetscInt row, PetscInt i)
{
  return row * WIDTH(NC) + (i & 1) * (WIDTH(NC) / 2) + (i >> 1);
}

/* The point of the grid */
template <int NC>
static __device__ __forceinline__ Point PointOf(const KCycleCudaTile &a, const Part &part, PetscInt row, PetscInt i,
                                                PetscInt plane)
{
  Point p;

  p.i     = part.at[0] + i;
  p.j     = NC == 7 ? part.at[1] + row : plane;
  p.k     = NC == 7 ? plane : 0;
  p.line  = p.j + a.st.box.n[1] * p.k;
  p.index = p.i + a.st.box.n[0] * p.line;
  return p;
}

/* Is it a point of the grid, and at that distance from the edge of the part? */
template <int NC>
static __device__ __forceinline__ bool IsInside(const KCycleCudaTile &a, const Shares &shares, const Part &part,
                                                PetscInt margin, PetscInt row, PetscInt i)
{
  const PetscInt gi = part.at[0] + i, gj = part.at[1] + row;

  if (i < margin || i >= shares.width - margin || gi < 0 || gi >= a.st.box.n[0]) return false;
  return NC != 7 || (row >= margin && row < shares.rows - margin && gj >= 0 && gj < a.st.box.n[1]);
}

/* A plane of x, those just outside the grid included */
static __device__ __forceinline__ KCScalar *PlaneOfX(const Shares &shares, const Part &part, PetscInt plane)
{
  return part.x + (plane + 2) % shares.nx * part.size;
}

static __device__ __forceinline__ KCScalar *PlaneOfB(const Shares &shares, const Part &part, PetscInt plane)
{
  return part.b + (plane + 2) % shares.nb * part.size;
}

static __device__ __forceinline__ bool IsPlane(const Part &part, PetscInt plane)
{
  return plane >= 0 && plane < part.planes;
}

/* The numbers of this thread of the plane that comes next, which are on their way meanwhile */
template <int NC>
static __device__ __forceinline__ void Fetch(const KCycleCudaTile &a, const Shares &shares, const Part &part,
                                             PetscInt plane, KCScalar x[], KCScalar b[])
{
  const PetscInt behind = plane - Lag(a);

  KC_UNROLL
  for (int q = 0; q < LOADS(NC); q++) {
    const PetscInt n = (PetscInt)threadIdx.x + q * THREADS(NC), row = n / WIDTH(NC), i = n % WIDTH(NC);
    const bool     inside = row < shares.rows && IsInside<NC>(a, shares, part, 0, row, i);

    x[q] = inside && a.x && IsPlane(part, plane) ? a.x[PointOf<NC>(a, part, row, i, plane).index] : (KCScalar)0;
    b[q] = inside && IsPlane(part, behind) && behind >= part.low + Lag(a)
               ? a.b[PointOf<NC>(a, part, row, i, behind).index]
               : (KCScalar)0;
  }
}

/* They come to the ring */
template <int NC>
static __device__ __forceinline__ void Keep(const KCycleCudaTile &a, const Shares &shares, const Part &part,
                                            PetscInt plane, const KCScalar x[], const KCScalar b[])
{
  KCScalar *to = PlaneOfX(shares, part, plane), *tob = PlaneOfB(shares, part, plane - Lag(a));

  KC_UNROLL
  for (int q = 0; q < LOADS(NC); q++) {
    const PetscInt n = (PetscInt)threadIdx.x + q * THREADS(NC), at = Local<NC>(n / WIDTH(NC), n % WIDTH(NC));

    if (n / WIDTH(NC) >= shares.rows) continue;
    to[at]  = x[q];
    tob[at] = b[q];
  }
}

/* Adds the correction of the coarser level to the points that this thread has kept */
template <int NC>
static __device__ __forceinline__ void Correct(const KCycleCudaTile &a, const Shares &shares, const Part &part,
                                               PetscInt plane)
{
  KCScalar *x = PlaneOfX(shares, part, plane);

  if (!a.e || !IsPlane(part, plane)) return;
  KC_NO_UNROLL
  for (PetscInt n = (PetscInt)threadIdx.x; n < WIDTH(NC) * shares.rows; n += THREADS(NC)) {
    const PetscInt row = n / WIDTH(NC), i = n % WIDTH(NC), at = Local<NC>(row, i);
    const Point    p = PointOf<NC>(a, part, row, i, plane);

    if (IsInside<NC>(a, shares, part, 0, row, i)) x[at] = Corrected(a, p, x[at]);
  }
}

/* The planes that a step reads */
typedef struct {
  const KCScalar *before, *on, *behind;
} Planes;

static __device__ __forceinline__ Planes PlanesOf(const Shares &shares, const Part &part, PetscInt plane)
{
  const Planes planes = {PlaneOfX(shares, part, plane - 1), PlaneOfX(shares, part, plane),
                         PlaneOfX(shares, part, plane + 1)};

  return planes;
}

/* Point i and its neighbours, in the order of their coefficients */
template <int NC>
static __device__ __forceinline__ void Beside(const Planes &planes, PetscInt row, PetscInt i, KCScalar v[])
{
  const PetscInt at = Local<NC>(row, i), left = Local<NC>(row, i - 1), right = Local<NC>(row, i + 1);
  int            o = 0;

  v[o++] = planes.before[at];
  if (NC == 7) v[o++] = planes.on[at - WIDTH(NC)];
  v[o++] = planes.on[left];
  v[o++] = planes.on[at];
  v[o++] = planes.on[right];
  if (NC == 7) v[o++] = planes.on[at + WIDTH(NC)];
  v[o++] = planes.behind[at];
}

/* Half sweep s on a plane: a thread has two points side by side in x, of which one has the colour */
template <int NC>
static __device__ __forceinline__ void Relax(const KCycleCudaTile &a, const Shares &shares, const Part &part,
                                             PetscInt s, PetscInt plane)
{
  const PetscInt margin = s + Lag(a), half = WIDTH(NC) / 2;
  const PetscInt odd =
      (a.colours >> s) + a.parity[0] + a.parity[1] + a.parity[2] + plane + part.at[0] + (NC == 7 ? part.at[1] : 0);
  const Planes    planes = PlanesOf(shares, part, plane);
  const KCScalar *b      = PlaneOfB(shares, part, plane);
  KCScalar       *x      = PlaneOfX(shares, part, plane);

  if (plane < part.low + margin || !IsPlane(part, plane)) return;
  KC_NO_UNROLL
  for (PetscInt n = (PetscInt)threadIdx.x; n < half * shares.rows; n += THREADS(NC)) {
    const PetscInt row = n / half, i = 2 * (n % half) + ((odd + row) & 1), at = Local<NC>(row, i);
    KCScalar       v[NC] = {0}, sum, inverse;

    if (!IsInside<NC>(a, shares, part, margin, row, i)) continue;
    if (a.x || s > 0) Beside<NC>(planes, row, i, v);
    inverse = SumOf<NC>(a, PointOf<NC>(a, part, row, i, plane), v, &sum);
    x[at]   = KCyclePointFinish(KC_RELAX, sum, b[at], v[NC / 2], a.w, inverse);
  }
}

/* The residual of a plane, in b's memory */
template <int NC>
static __device__ __forceinline__ void Residual(const KCycleCudaTile &a, const Shares &shares, const Part &part,
                                                PetscInt plane)
{
  const Planes planes = PlanesOf(shares, part, plane);
  KCScalar    *b      = PlaneOfB(shares, part, plane);

  if (plane < part.low + shares.rim - 1 || !IsPlane(part, plane)) return;
  KC_NO_UNROLL
  for (PetscInt n = (PetscInt)threadIdx.x; n < WIDTH(NC) * shares.rows; n += THREADS(NC)) {
    const PetscInt row = n / WIDTH(NC), i = n % WIDTH(NC), at = Local<NC>(row, i);
    KCScalar       v[NC], sum;

    if (!IsInside<NC>(a, shares, part, shares.rim - 1, row, i)) continue;
    Beside<NC>(planes, row, i, v);
    (void)SumOf<NC>(a, PointOf<NC>(a, part, row, i, plane), v, &sum);
    b[at] = KCyclePointFinish(KC_RESIDUAL, sum, b[at], v[NC / 2], 0, 0);
  }
}

/* Coarse points of which a part has the fine ones: the first ones in x and y, and how many there are */
typedef struct {
  PetscInt c, j, nc, nj;
} Cells;

template <int NC>
static __device__ __forceinline__ Cells CellsOf(const KCycleCudaTile &a, const Shares &shares, const Part &part)
{
  Cells cells;

  cells.c  = CoarseFrom(a.tr, 0, part.at[0] + shares.rim);
  cells.nc = CoarseFrom(a.tr, 0, part.at[0] + shares.rim + shares.own[0]) - cells.c;
  cells.j  = NC == 7 ? CoarseFrom(a.tr, 1, part.at[1] + shares.rim) : 0;
  cells.nj = NC == 7 ? CoarseFrom(a.tr, 1, part.at[1] + shares.rim + shares.own[1]) - cells.j : 1;
  return cells;
}

/* A coarse point, by its line in a plane */
typedef struct {
  PetscInt c, j, plane;
} Cell;

/* sum and what a coarse point gets from fine plane f */
template <int NC>
static __device__ __forceinline__ KCScalar FromPlane(const KCycleCudaTile &a, const Shares &shares, const Part &part,
                                                     PetscInt f, const Cell &cell, KCScalar sum)
{
  const KCycleCudaTransfer &tr    = a.tr;
  const int                 d     = NC == 7 ? 2 : 1;
  const KCScalar           *r     = PlaneOfB(shares, part, f);
  const PetscInt            start = part.at[0], above = f - tr.factor[d] * cell.plane - tr.shift[d],
                 wide = NC == 7 ? tr.factor[1] - 1 : 0;
  const PetscInt c[3] = {cell.c, NC == 7 ? cell.j : cell.plane, NC == 7 ? cell.plane : 0}, one[3] = {1, 1, 1};
  const bool     known = HasWeights(a, c, one);

  for (PetscInt jj = -wide; jj <= wide; jj++) {
    const PetscInt line = tr.factor[1] * cell.j + tr.shift[1] + jj, row = NC == 7 ? line - part.at[1] : 0;
    const FineLine fine = {NC == 7 ? line : f, NC == 7 ? f : 0, {NC == 7 ? jj : above, NC == 7 ? above : 0}};

    const auto at = [=](PetscInt i) { return r[Local<NC>(row, i - start)]; };

    if (known) sum += FromKnown(a, fine, at, cell.c);
    else AddFromFine(tr, cell.c, fine, at, &sum);
  }
  return sum;
}

/* Fine plane f goes to the one or two coarse planes that it touches: sums are complete after the last one that touches
   a coarse plane */
template <int NC>
static __device__ __forceinline__ void Restrict(const KCycleCudaTile &a, const Shares &shares, const Part &part,
                                                PetscInt f)
{
  const KCycleCudaTransfer &tr    = a.tr;
  const int                 d     = NC == 7 ? 2 : 1;
  const Cells               cells = CellsOf<NC>(a, shares, part);
  PetscInt                  count;
  const PetscInt            low = KCycleTouched(tr.factor[d], tr.shift[d], f, &count);

  if (!IsPlane(part, f)) return;
  KC_NO_UNROLL
  for (PetscInt n = (PetscInt)threadIdx.x; n < cells.nc * cells.nj; n += THREADS(NC)) {
    for (PetscInt plane = low; plane < low + count; plane++) {
      const Cell     cell = {cells.c + n % cells.nc, cells.j + n / cells.nc, plane};
      const PetscInt on   = tr.factor[d] * plane + tr.shift[d];
      KCScalar       sum;

      if (on < part.first || on >= part.end || plane < 0 || plane >= tr.coarse.n[d]) continue;
      sum = FromPlane<NC>(a, shares, part, f, cell, part.sums[n]);
      if (f - on == tr.factor[d] - 1 || f == part.planes - 1) {
        a.coarse[cell.c + tr.coarse.n[0] * (NC == 7 ? cell.j + tr.coarse.n[1] * plane : plane)] = sum;

        sum = 0;
      }
      part.sums[n] = sum;
    }
  }
}

/* What the half sweeps have left of a plane */
template <int NC>
static __device__ __forceinline__ void Write(const KCycleCudaTile &a, const Shares &shares, const Part &part,
                                             PetscInt plane)
{
  const KCScalar *x = PlaneOfX(shares, part, plane);

  if (plane < part.first || plane >= part.end) return;
  KC_NO_UNROLL
  for (PetscInt n = (PetscInt)threadIdx.x; n < WIDTH(NC) * shares.rows; n += THREADS(NC)) {
    const PetscInt row = n / WIDTH(NC), i = n % WIDTH(NC);

    if (IsInside<NC>(a, shares, part, shares.rim, row, i))
      a.y[PointOf<NC>(a, part, row, i, plane).index] = x[Local<NC>(row, i)];
  }
}

template <int NC>
static __device__ __forceinline__ Part PartOf(const KCycleCudaTile &a, const Shares &shares, KCScalar *memory)
{
  Part part;

  part.at[0]  = (PetscInt)blockIdx.x * shares.own[0] - shares.rim;
  part.at[1]  = NC == 7 ? (PetscInt)blockIdx.y * shares.own[1] - shares.rim : 0;
  part.planes = a.st.box.n[NC == 7 ? 2 : 1];
  part.first  = (PetscInt)blockIdx.z * shares.own[2];
  part.end    = part.first + shares.own[2] < part.planes ? part.first + shares.own[2] : part.planes;
  part.low    = part.first - shares.rim;
  part.size   = WIDTH(NC) * shares.rows;
  part.x      = memory;
  part.b      = memory + shares.nx * part.size;
  part.sums   = part.b + shares.nb * part.size;
  return part;
}

/* Barriers: after each step, since others read what it leaves. What is written last in a turn is read no more when the
   next plane takes its place in the ring, but for the residual */
template <int NC>
static __global__ void __launch_bounds__(THREADS(NC), NC == 7 ? 1 : 2)
    Sweeps(const KCycleCudaTile a, const Shares shares)
{
  extern __shared__ KCScalar memory[];
  const Part                 part = PartOf<NC>(a, shares, memory);
  KCScalar                   x[LOADS(NC)], b[LOADS(NC)];

  if (a.coarse) {
    const Cells cells = CellsOf<NC>(a, shares, part);

    for (PetscInt n = (PetscInt)threadIdx.x; n < cells.nc * cells.nj; n += THREADS(NC)) part.sums[n] = 0;
  }
  Fetch<NC>(a, shares, part, part.low < -1 ? -1 : part.low, x, b);
  for (PetscInt plane = part.low < -1 ? -1 : part.low; plane < part.end + shares.rim; plane++) {
    const PetscInt last = plane - (a.nhalf - 1 + Lag(a));

    Keep<NC>(a, shares, part, plane, x, b);
    if (plane + 1 < part.end + shares.rim) Fetch<NC>(a, shares, part, plane + 1, x, b);
    Correct<NC>(a, shares, part, plane);
    __syncthreads();
    for (PetscInt s = 0; s < a.nhalf; s++) {
      Relax<NC>(a, shares, part, s, plane - s - Lag(a));
      __syncthreads();
    }
    Write<NC>(a, shares, part, last);
    if (!a.coarse) continue;
    Residual<NC>(a, shares, part, last - 1);
    __syncthreads();
    Restrict<NC>(a, shares, part, last - 1);
    __syncthreads();
  }
}

static PetscInt Bytes(const KCycleCudaTile *a, const Shares *shares)
{
  const bool     three = a->st.shape.ncoeffs == 7;
  const PetscInt width = three ? WIDTH(7) : WIDTH(5);
  PetscInt       sums  = 0;

  if (a->coarse) sums = (width / a->tr.factor[0] + 1) * (three ? shares->rows / a->tr.factor[1] + 1 : 1);
  return ((shares->nx + shares->nb) * width * shares->rows + sums) * (PetscInt)sizeof(KCScalar);
}

static PetscInt Parts(PetscInt n, PetscInt most)
{
  return (n + most - 1) / most;
}

/* As many lines as fit */
static void ShareRows(const KCycleCudaTile *a, Shares *shares)
{
  const PetscInt restricts = a->coarse ? 1 : 0, from = a->x ? 1 : 0;

  shares->rim  = a->nhalf - 1 + from + 2 * restricts;
  shares->nx   = a->nhalf + 1 + from + restricts;
  shares->nb   = a->nhalf + restricts;
  shares->rows = 1;
  if (a->st.shape.ncoeffs != 7) return;
  shares->rows = LOADS(7) * THREADS(7) / WIDTH(7);
  while (shares->rows > 1 && Bytes(a, shares) > a->limits.bytes) shares->rows--;
}

/* Parts of the same size, and marches as long as leaves each processor two blocks */
template <int NC> static Shares ShareOut(const KCycleCudaTile *a, dim3 *grid)
{
  const PetscInt *n = a->st.box.n, planes = n[NC == 7 ? 2 : 1];
  Shares          shares;
  PetscInt        parts[3];

  ShareRows(a, &shares);
  parts[0]      = Parts(n[0], WIDTH(NC) - 2 * shares.rim);
  parts[1]      = NC == 7 ? Parts(n[1], shares.rows - 2 * shares.rim) : 1;
  parts[2]      = Parts(2 * a->limits.processors, parts[0] * parts[1]);
  parts[2]      = parts[2] < Parts(planes, SHORTEST) ? parts[2] : Parts(planes, SHORTEST);
  shares.own[0] = Parts(n[0], parts[0]);
  shares.own[1] = NC == 7 ? Parts(n[1], parts[1]) : 1;
  shares.own[2] = Parts(planes, parts[2]);
  shares.width  = shares.own[0] + 2 * shares.rim;
  if (NC == 7) shares.rows = shares.own[1] + 2 * shares.rim;
  *grid = dim3((unsigned)parts[0], (unsigned)parts[1], (unsigned)Parts(planes, shares.own[2]));
  return shares;
}

template <int NC> static cudaError_t Launch(cudaStream_t stream, const KCycleCudaTile *a)
{
  dim3         grid;
  const Shares shares = ShareOut<NC>(a, &grid);

  return KCycleCudaLaunchGrid(stream, grid, THREADS(NC), (size_t)Bytes(a, &shares), Sweeps<NC>, *a, shares);
}

cudaError_t KCycleCudaTileSweeps(cudaStream_t stream, const KCycleCudaTile *a)
{
  if (a->nhalf < 1 || a->nhalf > KC_CUDA_TILE || a->y == a->x) return cudaErrorInvalidValue;
  return a->st.shape.ncoeffs == 7 ? Launch<7>(stream, a) : Launch<5>(stream, a);
}

/* Fewer half sweeps where a block has too little memory for a part that is wider than its rims */
static PetscInt MostHalves(const KCycleCudaTile *tile, PetscInt *blocks)
{
  static const KCScalar any = 0;
  KCycleCudaTile        a   = *tile;
  Shares                shares;
  dim3                  grid;

  a.x      = &any;
  a.coarse = (KCScalar *)&any;
  for (a.nhalf = KC_CUDA_TILE; a.nhalf > 1; a.nhalf--) {
    ShareRows(&a, &shares);
    if (a.st.shape.ncoeffs != 7 || shares.rows > 4 * shares.rim) break;
  }
  if (a.st.shape.ncoeffs == 7) (void)ShareOut<7>(&a, &grid);
  else (void)ShareOut<5>(&a, &grid);
  *blocks = (PetscInt)(grid.x * grid.y * grid.z);
  return a.nhalf;
}

cudaError_t KCycleCudaTilePrepare(KCycleCudaTile *tile, PetscInt *most, PetscInt *blocks)
{
  const void *const kernel = tile->st.shape.ncoeffs == 7 ? (const void *)Sweeps<7> : (const void *)Sweeps<5>;
  cudaError_t       status;
  int               device;

  status = cudaGetDevice(&device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&tile->limits.bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&tile->limits.processors, cudaDevAttrMultiProcessorCount, device);
  if (status == cudaSuccess)
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, tile->limits.bytes);
  *most = MostHalves(tile, blocks);
  return status;
}
