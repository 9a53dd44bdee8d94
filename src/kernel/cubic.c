/*
  Cubic interpolation of one line, for solutions that full multigrid takes to the next finer level.
*/
#include <petsckcycle/private/kernelimpl.h>

/* y = the sum of four weighted lines, or y += it */
KC_VERSIONS static void SetToSum(PetscInt n, const KCScalar w[], const KCScalar *a, const KCScalar *b,
                                 const KCScalar *c, const KCScalar *d, KCScalar *KC_RESTRICT y)
{
  for (PetscInt i = 0; i < n; i++) y[i] = (w[0] * a[i] + w[1] * b[i]) + (w[2] * c[i] + w[3] * d[i]);
}

KC_VERSIONS static void AddSum(PetscInt n, const KCScalar w[], const KCScalar *a, const KCScalar *b, const KCScalar *c,
                               const KCScalar *d, KCScalar *KC_RESTRICT y)
{
  for (PetscInt i = 0; i < n; i++) y[i] += (w[0] * a[i] + w[1] * b[i]) + (w[2] * c[i] + w[3] * d[i]);
}

/* The points that coincide with n coarse ones, and those after them */
KC_VERSIONS static void Pairs(PetscInt n, const KCScalar *e, KCScalar *KC_RESTRICT x)
{
  const KCScalar near = (KCScalar)(9.0 / 16.0), far = (KCScalar)(1.0 / 16.0);

  for (PetscInt i = 0; i < n; i++) {
    x[2 * i]     = e[i];
    x[2 * i + 1] = near * (e[i] + e[i + 1]) - far * (e[i - 1] + e[i + 2]);
  }
}

/* Coarse line (j, k) of those around */
static const KCScalar *CoarseLine(const KCycleCubic *c, const KCScalar *e, PetscInt j, PetscInt k)
{
  return e + c->m[0] * (j + c->m[1] * k);
}

/* The coarse points on a fine line: of one coarse line, or sums of four or sixteen, less near the ends */
static const KCScalar *Across(const KCycleCubic *c, const KCScalar *e, PetscInt j, PetscInt k, KCScalar *work)
{
  const KCycleCubicPoint *y = &c->point[1][j], *z = &c->point[2][k];

  if (y->count == 1 && z->count == 1) return CoarseLine(c, e, y->first, z->first);
  for (int q = 0; q < z->count; q++) {
    const KCScalar *line[4];
    KCScalar        w[4];

    for (int p = 0; p < 4; p++) {
      w[p]    = p < y->count ? (KCScalar)(y->w[p] * z->w[q]) : (KCScalar)0.0;
      line[p] = CoarseLine(c, e, y->first + (p < y->count ? p : 0), z->first + q);
    }
    if (q) AddSum(c->m[0], w, line[0], line[1], line[2], line[3], work);
    else SetToSum(c->m[0], w, line[0], line[1], line[2], line[3], work);
  }
  return work;
}

/* One point of a line */
static KCScalar Point(const KCycleCubicPoint *point, const KCScalar *e)
{
  KCScalar x = 0;

  for (int p = 0; p < point->count; p++) x += (KCScalar)point->w[p] * e[point->first + p];
  return x;
}

/* Fine line (j, k) */
static void CubicLine(const KCycleCubic *c, const KCScalar *e, PetscInt j, PetscInt k, KCScalar *work, KCScalar *x)
{
  const KCScalar *line  = Across(c, e, j, k, work);
  const PetscInt  first = 2 * c->low + c->shift, end = 2 * c->high + c->shift;

  if (c->factor == 1) {
    memcpy(x, line, (size_t)c->n[0] * sizeof(KCScalar));
    return;
  }
  for (PetscInt i = 0; i < first; i++) x[i] = Point(&c->point[0][i], line);
  Pairs(c->high - c->low, line + c->low, x + first);
  for (PetscInt i = end; i < c->n[0]; i++) x[i] = Point(&c->point[0][i], line);
}

void KCycleStartLine(const KCycleStart *start, PetscInt j, PetscInt k, KCScalar *work, KCScalar *x)
{
  if (start->cubic) CubicLine(start->cubic, start->e, j, k, work, x);
  else KCycleTransferInterpolateLine(start->tr, start->e, j, k, PETSC_FALSE, x);
}
