/*
  Interpolation, of one fine point, and restriction, to one coarse point: both gather, so that no two threads write to
  the same place. See kernelimpl.h for weights and lines.
*/
#pragma once

#include "launchcuda.h"

/* The share of one coarse line in point i of a fine line; w: its weights */
static __device__ __forceinline__ KCScalar FromLine(const KCycleCudaTransfer &tr, const KCScalar *w, const KCScalar *e,
                                                    PetscInt i, const PetscInt at[2])
{
  const PetscInt n = tr.coarse.n[0];
  PetscInt       count;
  const PetscInt c = KCycleTouched(tr.factor[0], tr.shift[0], i, &count);

  if (count == 1) return w[1 + c] * ValueAt(tr.coarse, tr.halo, e, c, at[0], at[1]);
  return w[n + 3 + c] * ValueAt(tr.coarse, tr.halo, e, c, at[0], at[1]) +
         w[2 * n + 4 + c] * ValueAt(tr.coarse, tr.halo, e, c + 1, at[0], at[1]);
}

/* sum and the share of all coarse points in point i of fine line (j, k) */
static __device__ __forceinline__ KCScalar Interpolated(const KCycleCudaTransfer &tr, const KCScalar *e, PetscInt i,
                                                        PetscInt j, PetscInt k, KCScalar sum)
{
  const PetscInt fine = Extended(tr.fine, j, k);
  PetscInt       low[2], count[2];

  low[0] = KCycleTouched(tr.factor[1], tr.shift[1], j, &count[0]);
  low[1] = KCycleTouched(tr.factor[2], tr.shift[2], k, &count[1]);
  for (PetscInt q = 0; q < count[0] * count[1]; q++) {
    const PetscInt at[2] = {low[0] + (q & (count[0] - 1)), low[1] + (q >> (count[0] - 1))}, set = tr.set[4 * fine + q];

    if (set >= 0 && tr.coarse.offset[Extended(tr.coarse, at[0], at[1])] != 0)
      sum += FromLine(tr, tr.weights + (size_t)set * tr.stride, e, i, at);
  }
  return sum;
}

static __device__ __forceinline__ void InterpolatePoint(const KCycleCudaInterpolateWork &work, PetscInt index)
{
  const KCycleCudaBox &fine = work.tr.fine;
  const PetscInt       line = KCycleCudaQuotient(index, fine.line), k = KCycleCudaQuotient(line, fine.plane),
                 j = line - k * fine.n[1];

  if (index >= fine.npoints) return;
  work.x[index] = Interpolated(work.tr, work.e, index - line * fine.n[0], j, k, work.add ? work.x[index] : (KCScalar)0);
}

/* What coarse point c gets from a fine line, whose points are line(i); w: weights on its coarse line */
template <typename Line>
static __device__ __forceinline__ KCScalar FromFine(const KCycleCudaTransfer &tr, const KCScalar *w, const Line &line,
                                                    PetscInt c)
{
  const PetscInt n = tr.coarse.n[0], m = tr.fine.n[0], i = tr.factor[0] * c + tr.shift[0];
  KCScalar       sum = 0;

  if (tr.factor[0] == 2 && i > 0 && i <= m) sum += w[2 * n + 4 + c - 1] * line(i - 1);
  if (c >= 0 && c < n) sum += w[1 + c] * line(i);
  if (tr.factor[0] == 2 && i >= -1 && i < m - 1) sum += w[n + 3 + c] * line(i + 1);
  return sum;
}

/* A fine line, and how many lines it lies above a coarse one */
typedef struct {
  PetscInt j, k, above[2];
} FineLine;

/* Adds what coarse point c gets from a fine line, if there is one, whose points are line(i) */
template <typename Line>
static __device__ __forceinline__ void AddFromFine(const KCycleCudaTransfer &tr, PetscInt c, const FineLine &at,
                                                   const Line &line, KCScalar *sum)
{
  PetscInt set;

  if (at.j < 0 || at.j >= tr.fine.n[1] || at.k < 0 || at.k >= tr.fine.n[2]) return;
  set = tr.set[4 * Extended(tr.fine, at.j, at.k) + (at.above[0] < 0 ? 1 : 0) +
               (at.above[1] < 0 ? 1 : 0) * (at.above[0] ? 2 : 1)];
  if (set >= 0) *sum += FromFine(tr, tr.weights + (size_t)set * tr.stride, line, c);
}

/* All that coarse point c of line (j, k) gets */
static __device__ __forceinline__ KCScalar Collect(const KCycleCudaTransfer &tr, const KCScalar *r, PetscInt c,
                                                   PetscInt j, PetscInt k)
{
  const PetscInt wide[2] = {tr.factor[1] - 1, tr.factor[2] - 1},
                 at[2]   = {tr.factor[1] * j + tr.shift[1], tr.factor[2] * k + tr.shift[2]};
  KCScalar sum           = 0;

  for (PetscInt kk = -wide[1]; kk <= wide[1]; kk++) {
    for (PetscInt jj = -wide[0]; jj <= wide[0]; jj++) {
      const FineLine  fine = {at[0] + jj, at[1] + kk, {jj, kk}};
      const KCScalar *r0   = r + tr.fine.n[0] * (fine.j + tr.fine.n[1] * fine.k);
      const auto      line = [=](PetscInt i) { return r0[i]; };

      AddFromFine(tr, c, fine, line, &sum);
    }
  }
  return sum;
}

/* thread: a coarse point, or one of the halo */
static __device__ __forceinline__ void RestrictPoint(const KCycleCudaRestrictWork &work, PetscInt thread)
{
  const KCycleCudaTransfer &tr  = work.tr;
  const KCycleCudaBox      &box = tr.coarse;
  const PetscInt f = KCycleCudaQuotient(thread, box.widerline), plane = KCycleCudaQuotient(f, box.widerplane);
  const PetscInt c = thread - f * box.widerline.number - box.xhalo, k = plane - box.reach[2],
                 j = f - plane * box.widerplane.number - box.reach[1];
  KCScalar sum;

  if (plane >= box.n[2] + 2 * box.reach[2] || box.offset[f] == 0) return;
  sum = Collect(tr, work.r, c, j, k);
  if (c < 0 || c >= box.n[0]) tr.halo[(c < 0 ? box.left : box.right) + f] = sum;
  else if (box.offset[f] < 0) work.b[c + box.n[0] * (j + box.n[1] * k)] = sum;
  else tr.halo[box.offset[f] + c] = sum;
}
