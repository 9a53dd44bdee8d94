/*
  Tridiagonal systems side by side. Those of lines in y and z are solved row by row: row i of all lines, then row
  i + 1. Of lines in x, KC_SYSTEMS are taken together, and blocks of KC_SYSTEMS points are transposed for that.
*/
#include <petsckcycle/private/systemsimpl.h>

/* Of products in double precision */
#define KC_PIVOT ((PetscReal)2e-13)

/*
  T = L D U in place: from the coefficients lower, diagonal and upper to those of L, 1 / D and those of U, of m systems.
  A pivot that is nothing but rounding, by the epsilon of the numbers, belongs to a singular system, such as that of
  points without couplings to others: there 1 / D is 0, so that systems with a solution get one of them. Coefficients
  of coarse grids have the rounding of products, and a line may be all of such a grid.
*/
KC_VERSIONS void KCycleTridiagonalFactor(PetscInt n, PetscInt m, PetscReal epsilon, KCScalar *KC_RESTRICT lower,
                                         KCScalar *KC_RESTRICT diagonal, KCScalar *KC_RESTRICT upper)
{
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal own = 4 * (i + 1) * epsilon, bound = own > KC_PIVOT ? own : KC_PIVOT;

    for (PetscInt s = i * m; s < (i + 1) * m; s++) {
      const KCScalar d = diagonal[s];
      KCScalar       p = d;

      if (i) {
        p -= lower[s] * upper[s - m];
        lower[s] *= diagonal[s - m];
      }
      diagonal[s] = KCycleSquare(p) > bound * bound * KCycleSquare(d) ? (KCScalar)1.0 / p : (KCScalar)0.0;
      upper[s] *= diagonal[s];
    }
  }
}

/* y <- T^-1 y */
KC_VERSIONS void KCycleTridiagonalSolve(PetscInt n, PetscInt m, const KCScalar *lower, const KCScalar *inverse,
                                        const KCScalar *upper, KCScalar *y)
{
  for (PetscInt i = 1; i < n; i++) {
    KC_IVDEP for (PetscInt s = i * m; s < (i + 1) * m; s++) y[s] -= lower[s] * y[s - m];
  }
  for (PetscInt s = (n - 1) * m; s < n * m; s++) y[s] *= inverse[s];
  for (PetscInt i = n - 2; i >= 0; i--) {
    KC_IVDEP for (PetscInt s = i * m; s < (i + 1) * m; s++) y[s] = y[s] * inverse[s] - upper[s] * y[s + m];
  }
}

/* Where systems first to end - 1 begin to share factors, and where they have their own again */
KC_POINT void Shared(const KCycleFactors *f, PetscInt first, PetscInt end, PetscInt cut[2])
{
  if (f->low == f->high) {
    cut[0] = cut[1] = end;
    return;
  }
  cut[0] = f->low < first ? first : f->low > end ? end : f->low;
  cut[1] = f->high < first ? first : f->high > end ? end : f->high;
}

KC_POINT void Forward(const int shared, const int step, PetscInt n, const KCScalar *lower, const KCScalar *t,
                      const KCScalar *last, KCScalar *y)
{
  const KCScalar l = lower[0];

  KC_IVDEP for (PetscInt s = 0; s < n; s++) y[s] = KCyclePointForward(t[step * s], shared ? l : lower[s], last[s]);
}

/* Row i of y = L^-1 t for systems first to end - 1, whose numbers have a step in t; from: t, and row i - 1 of y */
KC_POINT void ForwardRow(const int step, const KCycleFactors *f, PetscInt i, PetscInt first, PetscInt end,
                         const KCScalar *const from[2], KCScalar *y)
{
  const KCScalar *lower = f->lower + i * f->m, *t = from[0], *last = from[1];
  PetscInt        cut[2], a, b;

  Shared(f, first, end, cut);
  a = cut[0] - first;
  b = cut[1] - first;
  if (a) Forward(0, step, a, lower + first, t, last, y);
  if (b > a) Forward(1, step, b - a, lower + f->low, t + step * a, last + a, y + a);
  if (cut[1] < end)
    Forward(0, step, end - cut[1], lower + KCycleFactorsIndex(f, cut[1]), t + step * b, last + b, y + b);
}

/* Their numbers are the even ones of t */
KC_VERSIONS void KCycleTridiagonalForward(const KCycleFactors *f, PetscInt i, PetscInt first, PetscInt end,
                                          const KCScalar *t, const KCScalar *last, KCScalar *y)
{
  const KCScalar *const from[2] = {t, last};

  if (i) ForwardRow(2, f, i, first, end, from, y);
  else {
    for (PetscInt s = 0; s < end - first; s++) y[s] = t[2 * s];
  }
}

/* The same in place, for m systems; not for the first row, which stays as it is */
KC_VERSIONS void KCycleTridiagonalForwardIn(const KCycleFactors *f, PetscInt i, PetscInt first, PetscInt m,
                                            const KCScalar *last, KCScalar *y)
{
  const KCScalar *const from[2] = {y, last};

  ForwardRow(1, f, i, first, first + m, from, y);
}

KC_POINT void Back(const int shared, PetscInt n, const KCScalar *inverse, const KCScalar *upper, const KCScalar *next,
                   KCScalar *y)
{
  const KCScalar d = inverse[0], u = upper[0];

  KC_IVDEP for (PetscInt s = 0; s < n; s++) y[s] =
      KCyclePointBack(y[s], shared ? d : inverse[s], shared ? u : upper[s], next[s]);
}

/* Row i of y <- (D U)^-1 y; next: row i + 1 of the result, zeros after the last one */
KC_VERSIONS void KCycleTridiagonalBack(const KCycleFactors *f, PetscInt i, PetscInt first, PetscInt end,
                                       const KCScalar *next, KCScalar *y)
{
  const KCScalar *inverse = f->inverse + i * f->m, *upper = f->upper + i * f->m;
  PetscInt        cut[2], a, b, index;

  Shared(f, first, end, cut);
  a     = cut[0] - first;
  b     = cut[1] - first;
  index = KCycleFactorsIndex(f, cut[1]);
  if (a) Back(0, a, inverse + first, upper + first, next, y);
  if (b > a) Back(1, b - a, inverse + f->low, upper + f->low, next + a, y + a);
  if (cut[1] < end) Back(0, end - cut[1], inverse + index, upper + index, next + b, y + b);
}

/* Row i of y for systems first to end - 1, less what comes before their lines and after them */
KC_VERSIONS void KCycleTridiagonalCouple(const KCycleFactors *f, PetscInt i, PetscInt first, PetscInt end,
                                         const KCScalar *before, const KCScalar *behind, KCScalar *y)
{
  for (PetscInt s = first; s < end; s++) {
    const PetscInt index = i * f->m + KCycleFactorsIndex(f, s);

    y[s - first] =
        KCyclePointCouple(y[s - first], f->before[index], before[s - first], f->behind[index], behind[s - first]);
  }
}

/* The same for all points of system s */
KC_VERSIONS void KCycleTridiagonalCoupleLine(const KCycleFactors *f, PetscInt n, PetscInt s, KCScalar before,
                                             KCScalar behind, KCScalar *y)
{
  const KCScalar *v = f->before + KCycleFactorsIndex(f, s), *w = f->behind + KCycleFactorsIndex(f, s);

  for (PetscInt i = 0; i < n; i++) y[i] = KCyclePointCouple(y[i], v[i * f->m], before, w[i * f->m], behind);
}

#define SIDE   4 /* of squares that are transposed in registers */
#define GROUPS (KC_SYSTEMS / SIDE)

#if defined(__has_builtin) && !defined(__CUDACC__) && (!defined(PETSC_USE_COMPLEX) || defined(KCYCLE_SINGLE))
  #if __has_builtin(__builtin_shufflevector)
    #define HAVE_VECTORS
  #endif
#endif

#if defined(HAVE_VECTORS)
  #if defined(__GNUC__)
    #pragma GCC diagnostic ignored "-Wpsabi" /* functions with such arguments are inlined */
  #endif
typedef KCScalar Four __attribute__((vector_size(SIDE * sizeof(KCScalar)), aligned(sizeof(KCScalar)), may_alias));

/* SIDE numbers that are the same in memory, if shared */
KC_POINT Four Load(const int shared, const KCScalar *from)
{
  const Four same = {from[0], from[0], from[0], from[0]};

  return shared ? same : *(const Four *)from;
}

KC_POINT void Store(Four v, KCScalar *to)
{
  *(Four *)to = v;
}

KC_POINT Four Times(Four a, Four b)
{
  return a * b;
}

KC_POINT Four Less(Four a, Four b, Four c)
{
  return a - b * c;
}

/* Columns of a square */
KC_POINT void LoadColumns(PetscInt distance, const KCScalar *from, Four to[SIDE])
{
  const Four a = Load(0, from), b = Load(0, from + distance);
  const Four c = Load(0, from + 2 * distance), d = Load(0, from + 3 * distance);
  const Four p = __builtin_shufflevector(a, b, 0, 4, 2, 6), q = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const Four r = __builtin_shufflevector(c, d, 0, 4, 2, 6), s = __builtin_shufflevector(c, d, 1, 5, 3, 7);

  to[0] = __builtin_shufflevector(p, r, 0, 1, 4, 5);
  to[1] = __builtin_shufflevector(q, s, 0, 1, 4, 5);
  to[2] = __builtin_shufflevector(p, r, 2, 3, 6, 7);
  to[3] = __builtin_shufflevector(q, s, 2, 3, 6, 7);
}
#else
typedef struct {
  KCScalar v[SIDE];
} Four;

KC_POINT Four Load(const int shared, const KCScalar *from)
{
  Four v;

  for (int i = 0; i < SIDE; i++) v.v[i] = from[shared ? 0 : i];
  return v;
}

KC_POINT void Store(Four v, KCScalar *to)
{
  for (int i = 0; i < SIDE; i++) to[i] = v.v[i];
}

KC_POINT Four Times(Four a, Four b)
{
  for (int i = 0; i < SIDE; i++) a.v[i] *= b.v[i];
  return a;
}

KC_POINT Four Less(Four a, Four b, Four c)
{
  for (int i = 0; i < SIDE; i++) a.v[i] -= b.v[i] * c.v[i];
  return a;
}

KC_POINT void LoadColumns(PetscInt distance, const KCScalar *from, Four to[SIDE])
{
  for (int i = 0; i < SIDE * SIDE; i++) to[i % SIDE].v[i / SIDE] = from[i / SIDE * distance + i % SIDE];
}
#endif

/* Rows of KC_SYSTEMS numbers become columns */
KC_POINT void Transpose(PetscInt distance, KCScalar *y)
{
  for (int r = 0; r < KC_SYSTEMS; r += SIDE) {
    for (int c = 0; c <= r; c += SIDE) {
      Four a[SIDE], b[SIDE];

      LoadColumns(distance, y + r * distance + c, a);
      LoadColumns(distance, y + c * distance + r, b);
      for (int i = 0; i < SIDE; i++) {
        Store(a[i], y + (c + i) * distance + r);
        Store(b[i], y + (r + i) * distance + c);
      }
    }
  }
}

/* shared: all systems are the same */
KC_POINT void SolveLines(const int shared, const KCycleFactors *f, PetscInt n, PetscInt distance, KCScalar *y)
{
  const PetscInt  m = shared ? 1 : KC_SYSTEMS, step = shared ? 0 : SIDE;
  const KCScalar *lower = f->lower, *inverse = f->inverse + n * m, *upper = f->upper + n * m;
  const KCScalar  zero = 0;
  Four            last[GROUPS];

  for (int g = 0; g < GROUPS; g++) last[g] = Load(1, &zero);
  for (PetscInt at = 0; at < n; at += KC_SYSTEMS) {
    KCScalar *row = y + at;

    Transpose(distance, row);
    for (PetscInt i = at; i < n && i < at + KC_SYSTEMS; i++, row += distance, lower += m) {
      for (int g = 0; g < GROUPS; g++) {
        last[g] = i ? Less(Load(0, row + g * SIDE), Load(shared, lower + g * step), last[g]) : Load(0, row + g * SIDE);
        Store(last[g], row + g * SIDE);
      }
    }
  }
  for (int g = 0; g < GROUPS; g++) last[g] = Load(1, &zero);
  for (PetscInt at = (n - 1) / KC_SYSTEMS * KC_SYSTEMS; at >= 0; at -= KC_SYSTEMS) {
    for (PetscInt i = (n < at + KC_SYSTEMS ? n : at + KC_SYSTEMS) - 1; i >= at; i--) {
      KCScalar *row = y + at + (i - at) * distance;

      inverse -= m;
      upper -= m;
      for (int g = 0; g < GROUPS; g++) {
        last[g] = Less(Times(Load(0, row + g * SIDE), Load(shared, inverse + g * step)), Load(shared, upper + g * step),
                       last[g]);
        Store(last[g], row + g * SIDE);
      }
    }
    Transpose(distance, y + at);
  }
}

/* y <- T^-1 y for KC_SYSTEMS lines of n points, from line to line at a distance; there is room for whole blocks of
   KC_SYSTEMS points */
KC_VERSIONS void KCycleTridiagonalSolveLines(const KCycleFactors *f, PetscInt n, PetscInt distance, KCScalar *y)
{
  if (f->m == 1) SolveLines(1, f, n, distance, y);
  else SolveLines(0, f, n, distance, y);
}

/* x += weight y at points of x at a stride */
KC_VERSIONS void KCycleLineAdd(PetscInt n, PetscInt stride, KCScalar weight, const KCScalar *KC_RESTRICT y,
                               KCScalar *KC_RESTRICT x)
{
  if (stride == 1) {
    for (PetscInt i = 0; i < n; i++) x[i] += weight * y[i];
  } else {
    for (PetscInt i = 0; i < n; i++) x[i * stride] += weight * y[i];
  }
}

/* The n points of a row become those of even index and those of odd index */
KC_VERSIONS void KCycleLineSplit(PetscInt n, const KCScalar *KC_RESTRICT t, KCScalar *KC_RESTRICT even,
                                 KCScalar *KC_RESTRICT odd)
{
  for (PetscInt i = 0; i < n / 2; i++) {
    even[i] = t[2 * i];
    odd[i]  = t[2 * i + 1];
  }
  if (n % 2) even[n / 2] = t[n - 1];
}

/* x += weight times both */
KC_VERSIONS void KCycleLineAddBoth(PetscInt n, KCScalar weight, const KCScalar *KC_RESTRICT even,
                                   const KCScalar *KC_RESTRICT odd, KCScalar *KC_RESTRICT x)
{
  for (PetscInt i = 0; i < n / 2; i++) {
    x[2 * i] += weight * even[i];
    x[2 * i + 1] += weight * odd[i];
  }
  if (n % 2) x[n - 1] += weight * even[n / 2];
}

KC_POINT void Couple(const int count, PetscInt n, const KCScalar *const c[], KCScalar weight, const KCScalar *const e[],
                     KCScalar *KC_RESTRICT r)
{
  for (PetscInt k = 0; k < n; k++) {
    KCScalar sum = 0;

    KC_UNROLL
    for (int o = count - 1; o >= 0; o--) sum += c[o][2 * k] * e[o][k];
    r[k] -= weight * sum;
  }
}

KC_POINT void CoupleConstant(const int count, PetscInt n, const KCScalar *const c[], KCScalar weight,
                             const KCScalar *const e[], KCScalar *KC_RESTRICT r)
{
  KCScalar a[6];

  for (int o = 0; o < count; o++) a[o] = weight * c[o][0];
  for (PetscInt k = 0; k < n; k++) {
    KCScalar sum = 0;

    KC_UNROLL
    for (int o = count - 1; o >= 0; o--) sum += a[o] * e[o][k];
    r[k] -= sum;
  }
}

/* n points at a stride of 2 lose what their neighbours of the other colour, 2, 4 or 6 of them, have found: e[o][0] to
   e[o][n - 1]. c: couplings with these, the same for all or at a stride of 2 */
KC_VERSIONS void KCycleLineCouple(int count, PetscInt n, PetscBool constant, const KCScalar *const c[], KCScalar weight,
                                  const KCScalar *const e[], KCScalar *r)
{
  if (constant) {
    if (count == 2) CoupleConstant(2, n, c, weight, e, r);
    else if (count == 4) CoupleConstant(4, n, c, weight, e, r);
    else CoupleConstant(6, n, c, weight, e, r);
  } else {
    if (count == 2) Couple(2, n, c, weight, e, r);
    else if (count == 4) Couple(4, n, c, weight, e, r);
    else Couple(6, n, c, weight, e, r);
  }
}
