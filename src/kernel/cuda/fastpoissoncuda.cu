/*
  PCFASTPOISSON on a device, in PETSc's numbers: what surrounds the transforms of cuFFT, tridiagonal systems, and the
  division by eigenvalues.

  cuFFT has real transforms of periodic lines alone. A sine or cosine transform is one of

      DST-I, DCT-I      a full period, odd or even: 2 (n + 1), 2 (n - 1) numbers
      DST-II, DCT-II    n numbers, even places ascending, then odd ones descending; then modes are turned by an angle
                        (J. Makhoul, A fast cosine transform in one and two dimensions, IEEE Trans. ASSP 28, 1980);
                        with the sign of every second number changed, modes come in the other order and are sines
      DST-III, DCT-III  the inverse of that, from complex numbers
      DST-IV, DCT-IV    a full period of 4 n numbers, of whose modes every second one is zero
*/
#include "launchcuda.h"
#include <petsckcycle/private/fpcudaimpl.h>

#if !defined(KCYCLE_SINGLE)

PetscInt KCycleCudaFPLength(KCycleFPTransform transform, PetscInt n)
{
  switch (transform) {
  case KCYCLE_FP_DST1:
    return 2 * (n + 1);
  case KCYCLE_FP_DCT1:
    return 2 * (n - 1);
  case KCYCLE_FP_DST4:
  case KCYCLE_FP_DCT4:
    return 4 * n;
  default:
    return n;
  }
}

PetscInt KCycleCudaFPFromComplex(KCycleFPTransform transform)
{
  return transform == KCYCLE_FP_DST3 || transform == KCYCLE_FP_DCT3 || transform == KCYCLE_FP_INVERSE_DFT;
}

/* Where line l of these begins in the array */
static __device__ __forceinline__ PetscInt LineAt(const KCycleCudaFPLines &lines, PetscInt l)
{
  const PetscInt line = lines.first + l, row = KCycleCudaQuotient(line, lines.row);

  return row * lines.stride[2] + (line - row * lines.row.number) * lines.stride[1];
}

/* Thread t has number i of line l */
static __device__ __forceinline__ void Share(const KCycleCudaFPLines &lines, const KCycleCudaDivisor &each, PetscInt t,
                                             PetscInt *i, PetscInt *l)
{
  const PetscInt quotient = KCycleCudaQuotient(t, each), rest = t - quotient * each.number;

  *i = lines.width ? quotient : rest;
  *l = lines.width ? rest : quotient;
}

/* Where number i of line l is in a buffer, of `pitch` numbers a line */
static __device__ __forceinline__ PetscInt BufferAt(const KCycleCudaFPLines &lines, PetscInt pitch, PetscInt i,
                                                    PetscInt l)
{
  return lines.width ? i * lines.width + l : l * pitch + i;
}

/* Which point is number i of a real line, and with which sign; 0: none */
static __device__ PetscInt PointOf(KCycleFPTransform transform, PetscInt n, PetscInt i, PetscReal *sign)
{
  const PetscInt half = i < 2 * n ? i : i - 2 * n;

  *sign = 1;
  switch (transform) {
  case KCYCLE_FP_DST1:
    *sign = i == 0 || i == n + 1 ? 0 : i <= n ? 1 : -1;
    return *sign == 0 ? 0 : i <= n ? i - 1 : 2 * n + 1 - i;
  case KCYCLE_FP_DCT1:
    return i < n ? i : 2 * (n - 1) - i;
  case KCYCLE_FP_DST2:
    *sign = 2 * i < n ? 1 : -1;
    return 2 * i < n ? 2 * i : 2 * (n - i) - 1;
  case KCYCLE_FP_DCT2:
    return 2 * i < n ? 2 * i : 2 * (n - i) - 1;
  case KCYCLE_FP_DST4:
    *sign = i < 2 * n ? 1 : -1;
    return half < n ? half : 2 * n - 1 - half;
  case KCYCLE_FP_DCT4:
    *sign = (half < n) == (i < 2 * n) ? 1 : -1;
    return half < n ? half : 2 * n - 1 - half;
  default:
    return i;
  }
}

static __device__ __forceinline__ PetscScalar Value(const KCycleCudaFPMove &work, PetscInt index, PetscInt p)
{
  const PetscScalar value = work.from[index + p * work.lines.stride[0]];

  return work.before ? value * work.before[p] : value;
}

static __global__ void BeforeReal(const KCycleCudaFPMove work)
{
  const PetscInt t = KCycleCudaThread();
  PetscReal      sign;
  PetscInt       i, l, p;

  if (t >= work.m * work.lines.count) return;
  Share(work.lines, work.each, t, &i, &l);
  p                                           = PointOf(work.transform, work.lines.n, i, &sign);
  work.to[BufferAt(work.lines, work.m, i, l)] = sign == 0 ? 0 : sign * Value(work, LineAt(work.lines, l), p);
}

/* Number i of a complex line */
static __global__ void BeforeComplex(const KCycleCudaFPMove work)
{
  const PetscInt t = KCycleCudaThread(), n = work.lines.n;
  PetscInt       i, l, at, index;
  PetscScalar    a, b = 0, c = 1, s = 0;

  if (t >= work.m * work.lines.count) return;
  Share(work.lines, work.each, t, &i, &l);
  at    = LineAt(work.lines, l);
  index = 2 * BufferAt(work.lines, work.m, i, l);
  if (work.transform == KCYCLE_FP_INVERSE_DFT) {
    a = Value(work, at, i);
    if (i && 2 * i < n) b = -Value(work, at, n - i);
  } else {
    const PetscInt backwards = work.transform == KCYCLE_FP_DST3;

    a = Value(work, at, backwards ? n - 1 - i : i);
    if (i) b = Value(work, at, backwards ? i - 1 : n - i);
    c = work.turn[2 * i];
    s = work.turn[2 * i + 1];
  }
  work.to[index]     = c * a + s * b;
  work.to[index + 1] = s * a - c * b;
}

/* Mode k from complex numbers */
static __device__ PetscScalar Mode(const KCycleCudaFPMove &work, PetscInt k, PetscInt l)
{
  const PetscInt n = work.lines.n, all = work.m;
  PetscInt       q = k, far;
  PetscScalar    re, im, c, s;

  switch (work.transform) {
  case KCYCLE_FP_DST1:
    q = k + 1;
    break;
  case KCYCLE_FP_DST2:
    q = n - 1 - k;
    break;
  case KCYCLE_FP_DST4:
  case KCYCLE_FP_DCT4:
    q = 2 * k + 1;
    break;
  default:
    break;
  }
  far = 2 * q > all;
  re  = work.from[2 * BufferAt(work.lines, all / 2 + 1, far ? all - q : q, l)];
  im  = work.from[2 * BufferAt(work.lines, all / 2 + 1, far ? all - q : q, l) + 1];
  if (work.transform == KCYCLE_FP_DST1) return -im;
  if (work.transform == KCYCLE_FP_DCT1) return re;
  if (work.transform == KCYCLE_FP_DFT) return far ? im : re;
  if (far) im = -im;
  c = work.turn[work.transform == KCYCLE_FP_DST2 ? 2 * q : 2 * k];
  s = work.turn[work.transform == KCYCLE_FP_DST2 ? 2 * q + 1 : 2 * k + 1];
  if (work.transform == KCYCLE_FP_DST4) return (s * re - c * im) / 2;
  if (work.transform == KCYCLE_FP_DCT4) return (c * re + s * im) / 2;
  return 2 * (c * re + s * im);
}

static __global__ void BehindComplex(const KCycleCudaFPMove work)
{
  const PetscInt t = KCycleCudaThread();
  PetscInt       k, l;

  if (t >= work.lines.n * work.lines.count) return;
  Share(work.lines, work.each, t, &k, &l);
  work.to[LineAt(work.lines, l) + k * work.lines.stride[0]] = Mode(work, k, l);
}

/* Point j from real numbers */
static __global__ void BehindReal(const KCycleCudaFPMove work)
{
  const PetscInt t = KCycleCudaThread(), n = work.lines.n;
  PetscInt       j, l, i;
  PetscReal      sign = 1;

  if (t >= n * work.lines.count) return;
  Share(work.lines, work.each, t, &j, &l);
  i = j;
  if (work.transform == KCYCLE_FP_DST3 || work.transform == KCYCLE_FP_DCT3) {
    if (work.transform == KCYCLE_FP_DST3 && j % 2) sign = -1;
    i = j % 2 ? n - (j + 1) / 2 : j / 2;
  }
  work.to[LineAt(work.lines, l) + j * work.lines.stride[0]] = sign * work.from[BufferAt(work.lines, work.m, i, l)];
}

/* The mean of a line, with W, of numbers times factors */
static __device__ PetscScalar Mean(const KCycleCudaFPSystems &work, const PetscScalar *v, const PetscReal *factor)
{
  PetscScalar sum    = 0;
  PetscReal   weight = 0;

  for (PetscInt k = 0; k < work.lines.n; k++) {
    const PetscScalar value = v[k * work.lines.stride[0]];

    sum += work.w[k] * (factor ? value * factor[k] : value);
    weight += work.w[k];
  }
  return sum / weight;
}

/* A thread has a line. Of the constant mode of a singular operator right side and solution lose their means, and the
   last unknown is zero first */
static __global__ void Solve(const KCycleCudaFPSystems work)
{
  const PetscInt     l = KCycleCudaThread(), n = work.lines.n, along = work.lines.stride[0], all = work.lines.count;
  PetscInt           at, row, closed;
  PetscReal          shift, inverse = 0;
  PetscScalar        z = 0, mean = 0;
  const PetscScalar *b;
  PetscScalar       *x;

  if (l >= all) return;
  at     = LineAt(work.lines, l);
  row    = KCycleCudaQuotient(work.lines.first + l, work.lines.row);
  shift  = work.across[work.lines.first + l - row * work.lines.row.number] + (work.rows[row] + work.sigma);
  closed = work.singular && shift == 0;
  b      = work.b + at;
  x      = work.x + at;
  if (closed) mean = Mean(work, b, work.factor);
  for (PetscInt k = 0; k < n; k++) {
    const PetscReal   low = k ? work.low[k] : 0;
    const PetscScalar r   = b[k * along] * work.factor[k] - mean;

    inverse                   = KCycleFPInversePivot(work.mid[k] + shift, k ? low * work.up[k - 1] : 0, inverse);
    z                         = closed && k == n - 1 ? 0 : KCycleFPEliminate(r, low, z, inverse);
    work.inverse[k * all + l] = inverse;
    x[k * along]              = z;
  }
  for (PetscInt k = n - 2; k >= 0; k--) {
    z            = KCycleFPSubstitute(x[k * along], work.up[k], work.inverse[k * all + l], z);
    x[k * along] = z;
  }
  if (!closed) return;
  mean = Mean(work, x, NULL);
  for (PetscInt k = 0; k < n; k++) x[k * along] -= mean;
}

/* Place of this thread's point in the array, and its numbers of the three directions; or -1 */
static __device__ PetscInt PointAt(const KCycleCudaFPBox &box, PetscReal number[3])
{
  const PetscInt t = KCycleCudaThread();
  PetscInt       i, l, row;

  if (t >= box.lines.n * box.lines.count) return -1;
  Share(box.lines, box.each, t, &i, &l);
  row       = KCycleCudaQuotient(l, box.lines.row);
  number[0] = box.along[i];
  number[1] = box.across[l - row * box.lines.row.number];
  number[2] = box.rows[row];
  return LineAt(box.lines, l) + i * box.lines.stride[0];
}

static __global__ void Divide(const KCycleCudaFPBox box, PetscReal sigma, PetscReal norm, PetscReal least,
                              PetscScalar *x)
{
  PetscReal      lambda[3];
  const PetscInt at = PointAt(box, lambda);

  if (at < 0) return;
  x[at] *= KCycleFPInverseEigenvalue(lambda[0] + (lambda[1] + (sigma + lambda[2])), norm, least);
}

static __global__ void Balance(const KCycleCudaFPBox box, PetscInt invert, const PetscScalar *b, PetscScalar *x)
{
  PetscReal      g[3];
  const PetscInt at = PointAt(box, g);

  if (at < 0) return;
  x[at] = invert ? b[at] / (g[1] * g[2] * g[0]) : b[at] * (g[1] * g[2] * g[0]);
}

static __global__ void Store(PetscInt n, const PetscInt *list, const PetscReal *inverse, const PetscScalar *b,
                             const PetscScalar *w, PetscScalar *x)
{
  const PetscInt t = KCycleCudaThread();
  PetscInt       i;

  if (t >= n) return;
  i    = list[t];
  x[i] = ((b ? b[i] : 0) - (w ? w[i] : 0)) * (inverse ? inverse[t] : 1);
}

static __global__ void Couple(const KCycleCudaFPFace face, PetscScalar *x)
{
  const PetscInt t = KCycleCudaThread();
  PetscInt       i, row, in;
  PetscReal      c;

  if (t >= face.n) return;
  row = KCycleCudaQuotient(t, face.row);
  in  = t - row * face.row.number;
  i   = face.first + in * face.stride[0] + row * face.stride[1];
  c   = face.coupling * face.d[0][in] * face.d[1][row];
  if (face.transpose) x[i + face.step] -= c * x[i];
  else x[i] -= c * x[i + face.step];
}

cudaError_t KCycleCudaFPBefore(cudaStream_t stream, const KCycleCudaFPMove *work)
{
  return KCycleCudaLaunch(stream, work->m * work->lines.count,
                          KCycleCudaFPFromComplex(work->transform) ? BeforeComplex : BeforeReal, *work);
}

cudaError_t KCycleCudaFPBehind(cudaStream_t stream, const KCycleCudaFPMove *work)
{
  const PetscInt real = KCycleCudaFPFromComplex(work->transform) || work->transform == KCYCLE_FP_COPY;

  return KCycleCudaLaunch(stream, work->lines.n * work->lines.count, real ? BehindReal : BehindComplex, *work);
}

cudaError_t KCycleCudaFPSolve(cudaStream_t stream, const KCycleCudaFPSystems *work)
{
  return KCycleCudaLaunchFew(stream, work->lines.count, Solve, *work);
}

cudaError_t KCycleCudaFPDivide(cudaStream_t stream, const KCycleCudaFPBox *box, PetscReal sigma, PetscReal norm,
                               PetscReal least, PetscScalar *x)
{
  return KCycleCudaLaunch(stream, box->lines.n * box->lines.count, Divide, *box, sigma, norm, least, x);
}

cudaError_t KCycleCudaFPBalance(cudaStream_t stream, const KCycleCudaFPBox *box, PetscBool invert, const PetscScalar *b,
                                PetscScalar *x)
{
  return KCycleCudaLaunch(stream, box->lines.n * box->lines.count, Balance, *box, invert ? 1 : 0, b, x);
}

cudaError_t KCycleCudaFPStore(cudaStream_t stream, PetscInt n, const PetscInt *list, const PetscReal *inverse,
                              const PetscScalar *b, const PetscScalar *w, PetscScalar *x)
{
  return KCycleCudaLaunch(stream, n, Store, n, list, inverse, b, w, x);
}

cudaError_t KCycleCudaFPCouple(cudaStream_t stream, const KCycleCudaFPFace *face, PetscScalar *x)
{
  return KCycleCudaLaunch(stream, face->n, Couple, *face, x);
}
#endif
