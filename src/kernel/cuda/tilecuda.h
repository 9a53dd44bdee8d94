/*
  What both kinds of tiles do (tilecuda.cu, parttilecuda.cu): the numbers are those of a launch for each step.
*/
#pragma once

#include "stencilcuda.h"
#include "transfercuda.h"

/* Loops that need all registers as they are */
#if defined(__CUDACC__) || defined(__HIP__)
  #define KC_NO_UNROLL _Pragma("unroll 1")
#else
  #define KC_NO_UNROLL
#endif

/* From x, half sweeps begin a point further inside, or a plane later */
static __device__ __forceinline__ PetscInt Lag(const KCycleCudaTile &a)
{
  return a.x ? 1 : 0;
}

/* Have these coarse points the weights that are arguments of the kernel? */
static __device__ __forceinline__ bool HasWeights(const KCycleCudaTile &a, const PetscInt c[], const PetscInt count[])
{
  return c[0] >= a.from[0] && c[0] + count[0] <= a.end[0] && c[1] >= a.from[1] && c[1] + count[1] <= a.end[1] &&
         c[2] >= a.from[2] && c[2] + count[2] <= a.end[2];
}

/* As Interpolated() */
static __device__ __forceinline__ KCScalar Corrected(const KCycleCudaTile &a, const Point &p, KCScalar sum)
{
  const KCycleCudaTransfer &tr = a.tr;
  const PetscInt           *n  = tr.coarse.n;
  PetscInt                  count[3], c[3];

  c[0] = KCycleTouched(tr.factor[0], tr.shift[0], p.i, &count[0]);
  c[1] = KCycleTouched(tr.factor[1], tr.shift[1], p.j, &count[1]);
  c[2] = KCycleTouched(tr.factor[2], tr.shift[2], p.k, &count[2]);
  if (!HasWeights(a, c, count)) return Interpolated(tr, a.e, p.i, p.j, p.k, sum);
  for (PetscInt k = c[2]; k < c[2] + count[2]; k++) {
    for (PetscInt j = c[1]; j < c[1] + count[1]; j++) {
      const PetscInt  above[2] = {p.j - tr.factor[1] * j - tr.shift[1], p.k - tr.factor[2] * k - tr.shift[2]};
      const KCScalar *w = a.weights + 3 * (above[0] + 1) + 9 * (above[1] + 1), *e = a.e + c[0] + n[0] * (j + n[1] * k);

      sum += count[0] == 1 ? w[1] * e[0] : w[2] * e[0] + w[0] * e[1];
    }
  }
  return sum;
}

/* The sum of a point; returns the inverse of the diagonal. Coefficients of most points are arguments of the kernel */
template <int NC>
static __device__ __forceinline__ KCScalar SumOf(const KCycleCudaTile &a, const Point &p, const KCScalar v[],
                                                 KCScalar *sum)
{
  KCScalar c[NC];

  if (p.i >= a.low[0] && p.i < a.high[0] && p.j >= a.low[1] && p.j < a.high[1] && p.k >= a.low[2] && p.k < a.high[2]) {
    *sum = KCyclePointDot(NC, 0, a.c, v);
    return a.inverse;
  }
  Coefficients<NC, NC>(a.st, p, 0, c);
  *sum = KCyclePointDot(NC, 0, c, v);
  return c[NC / 2] == (KCScalar)0 ? (KCScalar)0 : (KCScalar)1 / c[NC / 2];
}

/* The first coarse point at fine point i or after it, or one past the last */
static __device__ __forceinline__ PetscInt CoarseFrom(const KCycleCudaTransfer &tr, int d, PetscInt i)
{
  const PetscInt away = i - tr.shift[d], c = tr.factor[d] == 1 ? away : KCycleFloorHalf(away + 1);

  return c < 0 ? 0 : c < tr.coarse.n[d] ? c : tr.coarse.n[d];
}

/* As FromFine() with the weights that are arguments of the kernel */
template <typename Line>
static __device__ __forceinline__ KCScalar FromKnown(const KCycleCudaTile &a, const FineLine &fine, const Line &line,
                                                     PetscInt c)
{
  const KCScalar *w   = a.weights + 3 * (fine.above[0] + 1) + 9 * (fine.above[1] + 1);
  const PetscInt  i   = a.tr.factor[0] * c + a.tr.shift[0];
  KCScalar        sum = 0;

  if (a.tr.factor[0] == 2) sum += w[0] * line(i - 1);
  sum += w[1] * line(i);
  if (a.tr.factor[0] == 2) sum += w[2] * line(i + 1);
  return sum;
}
