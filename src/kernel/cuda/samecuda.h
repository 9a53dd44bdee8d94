/*
  Is what kernels would be launched with the same? What lies between members may be anything.
*/
#pragma once

#include "workcuda.h"

template <typename Number> static inline int Same(int n, const Number *a, const Number *b)
{
  while (n > 0 && a[n - 1] == b[n - 1]) n--;
  return n == 0;
}

/* Each operator and each transfer has arrays of its own */
static inline int Same(const KCycleCudaStencil &a, const KCycleCudaStencil &b)
{
  return a.set == b.set;
}

static inline int Same(const KCycleCudaTransfer &a, const KCycleCudaTransfer &b)
{
  return a.set == b.set;
}

static inline int Same(const KCycleCudaScaleWork &a, const KCycleCudaScaleWork &b)
{
  return a.n == b.n && a.factor == b.factor && a.y == b.y;
}

static inline int Same(const KCycleCudaMoveWork &a, const KCycleCudaMoveWork &b)
{
  return a.n == b.n && a.from == b.from && a.x == b.x && a.to == b.to && a.y == b.y;
}

static inline int Same(const KCycleCudaGatherWork &a, const KCycleCudaGatherWork &b)
{
  return a.n == b.n && a.start == b.start && a.from == b.from && a.x == b.x && a.to == b.to && a.y == b.y;
}

static inline int Same(const KCycleCudaComputeWork &a, const KCycleCudaComputeWork &b)
{
  const KCycleCudaStep &s = a.step, &t = b.step;

  return Same(a.st, b.st) && s.op == t.op && s.w == t.w && s.x == t.x && s.b == t.b && s.y == t.y && s.d == t.d &&
         s.keep == t.keep;
}

static inline int Same(const KCycleCudaColourWork &a, const KCycleCudaColourWork &b)
{
  const KCycleCudaColour &s = a.colour, &t = b.colour;

  return Same(a.st, b.st) && s.b == t.b && s.x == t.x && s.w == t.w && s.zeroguess == t.zeroguess && s.each == t.each &&
         s.colour == t.colour && Same(3, s.parity, t.parity);
}

static inline int Same(const KCycleCudaInterpolateWork &a, const KCycleCudaInterpolateWork &b)
{
  return Same(a.tr, b.tr) && a.e == b.e && a.add == b.add && a.x == b.x;
}

static inline int Same(const KCycleCudaRestrictWork &a, const KCycleCudaRestrictWork &b)
{
  return Same(a.tr, b.tr) && a.r == b.r && a.b == b.b;
}

static inline int Same(const KCycleCudaInvertWork &a, const KCycleCudaInvertWork &b)
{
  return a.inverse.n == b.inverse.n && a.inverse.count == b.inverse.count && a.inverse.M == b.inverse.M &&
         a.transpose == b.transpose && a.factor == b.factor && a.b == b.b && a.x == b.x;
}
