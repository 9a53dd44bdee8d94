/*
  The arithmetic at one grid point, for host and device. There is no PETSc object here.

  A stencil reaches nl lines (1 in 1D, 3 in 2D, 5 in a 3D star, 9 in a 3D box), in the order of (dz, dy); a box has
  three coefficients on each, for dx = -1, 0, 1, a star has three on the middle line and one on the others. So
  coefficient o of n belongs to the opposite offset of coefficient n - 1 - o, and the diagonal is coefficient n / 2.

  Prisms are what a star in 3D becomes where one direction alone is coarsened: a star in the others, three times along
  that one. They have 15 coefficients; lines that are wide have three of them:

    along x           along y             along z
      .  3  .         1  1  1             1  3  1
      3  3  3         3  3  3             1  3  1         dy -> , dz down: coefficients on each line
      .  3  .         1  1  1             1  3  1
*/
#pragma once

#include <petscmacros.h>
#include <petscsystypes.h>

/* The numbers that kernels compute with: each of their sources is right for both */
#if defined(KCYCLE_SINGLE)
typedef float KCScalar;
  #define KC_PRECISION KCYCLE_PRECISION_SINGLE
#else
typedef PetscScalar KCScalar;
  #define KC_PRECISION KCYCLE_PRECISION_PETSC
#endif

#if defined(__CUDACC__)
  #define KC_POINT  static __host__ __device__ __forceinline__
  #define KC_UNROLL _Pragma("unroll")
#elif defined(__HIP__)
  #define KC_POINT  static __host__ __device__ inline __attribute__((always_inline))
  #define KC_UNROLL _Pragma("unroll")
#else
  #define KC_POINT  static inline __attribute__((always_inline))
  #define KC_UNROLL _Pragma("GCC unroll 9")
#endif

/* What C and C++, gcc, clang and nvcc spell differently: no other name in this scope leads to the memory; iterations
   of the loop that follows do not depend on each other */
#define KC_RESTRICT __restrict__
#if defined(__clang__)
  #pragma clang diagnostic ignored "-Wpass-failed" /* a loop that is left as it is, is right too */
  #define KC_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
  #define KC_IVDEP _Pragma("GCC ivdep")
#else
  #define KC_IVDEP
#endif

/* For the functions with the hot loops: the compiler makes a version for each kind of vector unit, and the machine
   that loads the library chooses. Each has fused products and sums for vectors of all lengths, or for none: what a
   point becomes does not depend on where it is. With sanitizers there is one version, and where KCYCLE_ONE_VERSION asks
   for it: more take minutes to compile */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && \
    !defined(PETSC_USE_COMPLEX) && !defined(__SANITIZE_ADDRESS__) && !defined(KCYCLE_ONE_VERSION)
  #if __GNUC__ >= 12
    #define KC_VERSIONS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
  #else
    #define KC_VERSIONS __attribute__((target_clones("avx512f", "fma", "default"))) /* without vectors of integers */
  #endif
#else
  #define KC_VERSIONS
#endif

/* |x|^2 */
KC_POINT PetscReal KCycleSquare(KCScalar x)
{
#if defined(PETSC_USE_COMPLEX) && !defined(KCYCLE_SINGLE)
  const PetscReal *part = (const PetscReal *)&x; /* real and imaginary part lie side by side */

  return part[0] * part[0] + part[1] * part[1];
#else
  return (PetscReal)x * (PetscReal)x;
#endif
}

/* Between a level and the solvers of its planes, which have PETSc's numbers, and the operator that was not divided: a
   residual on its way to them, and a change of x on its way back */
KC_POINT PetscScalar KCyclePlaneResidual(PetscReal divisor, KCScalar r)
{
  return (PetscScalar)divisor * (PetscScalar)r;
}

KC_POINT KCScalar KCyclePlaneChange(PetscReal weight, PetscScalar e)
{
  return (KCScalar)(weight * e);
}

/* Shapes in the order in which they are tested for: 0 is a star, all others have corners */
#define KC_BOX     1
#define KC_PRISM_X 2 /* and y, z */
#define KC_PRISM_Y 3
#define KC_PRISM_Z 4

/* To star or box in 3D: its planes across z are not coupled, and the stencil is that of a grid in 2D */
#define KC_FLAT 8

/* Has line q three coefficients? */
#define KC_WIDE(nl, box, q)                                                                              \
  ((q) == (nl) / 2 || (box) == KC_BOX || (box) == KC_PRISM_X || ((box) == KC_PRISM_Y && (q) / 3 == 1) || \
   ((box) == KC_PRISM_Z && (q) % 3 == 1))

/* Number of coefficients */
#define KC_COUNT(nl, box) ((box) >= KC_PRISM_X ? 15 : (box) ? 3 * (nl) : (nl) + 2)

/* sum_o c[o][i] x(i + offset o), coefficients in arrays; x[q] is line q of the stencil */
KC_POINT KCScalar KCyclePointSum(const int nl, const int box, const KCScalar *const c[], const KCScalar *const x[],
                                 PetscInt i)
{
  KCScalar sum = 0;
  int      o   = 0;

  KC_UNROLL
  for (int q = 0; q < nl; q++) {
    if (KC_WIDE(nl, box, q)) {
      sum += c[o][i] * x[q][i - 1];
      sum += c[o + 1][i] * x[q][i];
      sum += c[o + 2][i] * x[q][i + 1];
      o += 3;
    } else {
      sum += c[o][i] * x[q][i];
      o++;
    }
  }
  return sum;
}

/* The same with coefficients that are the same along the line */
KC_POINT KCScalar KCyclePointSumConstant(const int nl, const int box, const KCScalar c[], const KCScalar *const x[],
                                         PetscInt i)
{
  KCScalar sum = 0;
  int      o   = 0;

  KC_UNROLL
  for (int q = 0; q < nl; q++) {
    if (KC_WIDE(nl, box, q)) {
      sum += c[o] * x[q][i - 1];
      sum += c[o + 1] * x[q][i];
      sum += c[o + 2] * x[q][i + 1];
      o += 3;
    } else {
      sum += c[o] * x[q][i];
      o++;
    }
  }
  return sum;
}

/* The same for a shape of any kind: coefficients and neighbours of one point, in their order, or n of them, which are
   added to the sum of those before */
KC_POINT KCScalar KCyclePointDot(const int n, KCScalar sum, const KCScalar c[], const KCScalar x[])
{
  KC_UNROLL
  for (int o = 0; o < n; o++) sum += c[o] * x[o];
  return sum;
}

/* The sum without the diagonal; x[o] and c[o] belong to coefficient o of n */
KC_POINT KCScalar KCyclePointNeighbours(const int n, const KCScalar *const c[], const KCScalar *const x[], PetscInt i)
{
  KCScalar sum = 0;

  KC_UNROLL
  for (int o = 0; o < n; o++) {
    if (o != n / 2) sum += c[o][i] * x[o][i];
  }
  return sum;
}

KC_POINT KCScalar KCyclePointNeighboursConstant(const int n, const KCScalar c[], const KCScalar *const x[], PetscInt i)
{
  KCScalar sum = 0;

  KC_UNROLL
  for (int o = 0; o < n; o++) {
    if (o != n / 2) sum += c[o] * x[o][i];
  }
  return sum;
}

/* What becomes of the sum s = (A x)_i */
typedef enum {
  KC_MULT,     /* y = s */
  KC_ADD,      /* y = b + s */
  KC_RESIDUAL, /* y = b - s */
  KC_RELAX,    /* y = x + w (b - s) / d */
  KC_NUM_OPS
} KCyclePointOp;

KC_POINT KCScalar KCyclePointFinish(const int op, KCScalar s, KCScalar b, KCScalar x, KCScalar w, KCScalar inverse)
{
  return op == KC_MULT ? s : op == KC_ADD ? b + s : op == KC_RESIDUAL ? b - s : x + w * (b - s) * inverse;
}

/* A step of an iteration by polynomials in D^-1 A: y = x + keep (x - what it was before the last step) + w (b - s) with
   s = (A x)_i, w = weight / d; no sum here has two products, so that compilers have no choice what to contract */
typedef enum {
  KC_STEP_FIRST,  /* keep is 0 */
  KC_STEP_SECOND, /* x was 0 before the last step */
  KC_STEP_NEXT,
  KC_STEP_RESIDUAL, /* y = b - s */
  KC_NUM_STEPS
} KCyclePointStep;

KC_POINT KCScalar KCyclePointAdvance(const int step, KCScalar s, KCScalar b, KCScalar x, KCScalar before, KCScalar keep,
                                     KCScalar w)
{
  const KCScalar r = b - s;

  if (step == KC_STEP_RESIDUAL) return r;
  if (step == KC_STEP_FIRST) return x + w * r;
  if (step == KC_STEP_SECOND) return keep * x + x + w * r;
  return keep * (x - before) + x + w * r;
}

KC_POINT KCScalar KCyclePointInverse(KCScalar d)
{
  return d == (KCScalar)0.0 ? (KCScalar)0.0 : (KCScalar)1.0 / d;
}

/* Rows of T = L D U: of y = L^-1 t, from row i - 1 of y; of (D U)^-1 y, from row i + 1 of it; and less what comes
   before a part of a line and after it, see lineends.c */
KC_POINT KCScalar KCyclePointForward(KCScalar t, KCScalar lower, KCScalar last)
{
  return t - lower * last;
}

KC_POINT KCScalar KCyclePointBack(KCScalar y, KCScalar inverse, KCScalar upper, KCScalar next)
{
  return y * inverse - upper * next;
}

KC_POINT KCScalar KCyclePointCouple(KCScalar y, KCScalar v, KCScalar before, KCScalar w, KCScalar behind)
{
  return y - (v * before + w * behind);
}
