/*
  What kernels solve in addition: tridiagonal systems of grid lines, and sums of the operator over clusters of points.
*/
#pragma once

#include <petsckcycle/private/kernelimpl.h>

/* tridiagonal.c */
#define KC_SYSTEMS 16 /* lines in x that are solved together */

/*
  Factors T = L D U of tridiagonal systems side by side: numbers of row i begin at i * m, those of system s are at
  KCycleFactorsIndex(). Systems low to high - 1 are the same, and share factors; low == high: none do.
*/
typedef struct {
  const KCScalar *lower, *inverse, *upper; /* of L, 1 / D and U */
  const KCScalar *before, *behind;         /* or NULL: T^-1 of the couplings of the first and of the last point */
  PetscInt        m, low, high;
} KCycleFactors;

KC_POINT PetscInt KCycleFactorsIndex(const KCycleFactors *f, PetscInt s)
{
  return s < f->low || f->low == f->high ? s : s < f->high ? f->low : s - (f->high - f->low) + 1;
}

/* Where the factors of some lines are among those of all */
typedef struct {
  size_t    at;
  PetscInt  m, low, high;
  PetscBool symmetric; /* the first row of L is U, one point further */
} KCycleLineSet;

/* A set keeps 1 / D, U, where parts of lines are coupled T^-1 of these couplings, and L unless U says what it is.
   n: points of a line */
KC_POINT void KCycleLineSetFactors(const KCycleLineSet *set, const KCScalar *factors, PetscInt n, int cut,
                                   KCycleFactors *f)
{
  const size_t    all = (size_t)n * (size_t)set->m;
  const KCScalar *a   = factors + set->at;

  f->m       = set->m;
  f->low     = set->low;
  f->high    = set->high;
  f->inverse = a;
  f->upper   = a + all;
  f->before  = cut ? a + 2 * all : NULL;
  f->behind  = cut ? a + 3 * all : NULL;
  f->lower   = set->symmetric ? f->upper - set->m : a + (cut ? 4 : 2) * all;
}

PETSC_INTERN void KCycleTridiagonalFactor(PetscInt n, PetscInt m, PetscReal epsilon, KCScalar *lower,
                                          KCScalar *diagonal, KCScalar *upper);
PETSC_INTERN void KCycleTridiagonalSolve(PetscInt n, PetscInt m, const KCScalar *lower, const KCScalar *inverse,
                                         const KCScalar *upper, KCScalar *y);
PETSC_INTERN void KCycleTridiagonalForward(const KCycleFactors *, PetscInt i, PetscInt first, PetscInt end,
                                           const KCScalar *t, const KCScalar *last, KCScalar *y);
PETSC_INTERN void KCycleTridiagonalForwardIn(const KCycleFactors *, PetscInt i, PetscInt first, PetscInt m,
                                             const KCScalar *last, KCScalar *y);
PETSC_INTERN void KCycleTridiagonalBack(const KCycleFactors *, PetscInt i, PetscInt first, PetscInt end,
                                        const KCScalar *next, KCScalar *y);
PETSC_INTERN void KCycleTridiagonalCouple(const KCycleFactors *, PetscInt i, PetscInt first, PetscInt end,
                                          const KCScalar *before, const KCScalar *behind, KCScalar *y);
PETSC_INTERN void KCycleTridiagonalSolveLines(const KCycleFactors *, PetscInt n, PetscInt distance, KCScalar *y);
PETSC_INTERN void KCycleTridiagonalCoupleLine(const KCycleFactors *, PetscInt n, PetscInt s, KCScalar before,
                                              KCScalar behind, KCScalar *y);
PETSC_INTERN void KCycleLineAdd(PetscInt n, PetscInt stride, KCScalar weight, const KCScalar *y, KCScalar *x);
PETSC_INTERN void KCycleLineAddBoth(PetscInt n, KCScalar weight, const KCScalar *even, const KCScalar *odd,
                                    KCScalar *x);
PETSC_INTERN void KCycleLineSplit(PetscInt n, const KCScalar *t, KCScalar *even, KCScalar *odd);
PETSC_INTERN void KCycleLineCouple(int count, PetscInt n, PetscBool constant, const KCScalar *const c[],
                                   KCScalar weight, const KCScalar *const e[], KCScalar *r);

/* Rows of clusters, see clusters.c, of the operator in PETSc's numbers: slices of eight lanes side by side, each one a
   row, or all of them a long row, whose entries go round the lanes. Lanes are filled up with zeros */
#define KC_CLUSTER_LANES 8
typedef struct {
  const PetscInt    *start;   /* of each slice, in entries of a lane */
  const PetscInt    *members; /* of each lane of each slice: how many of its first entries are in their columns */
  const PetscInt    *column;  /* owned points, and after them the halo */
  const PetscScalar *value;
  const KCScalar    *halo;
  PetscInt           npoints;
} KCycleClusterRows;

/* Of 1^T b of a lane of a slice the part of its entries first, first + step... */
KC_POINT PetscScalar KCycleClusterRight(const KCycleClusterRows *rows, PetscInt slice, PetscInt lane, PetscInt first,
                                        PetscInt step, const KCScalar *b)
{
  const PetscInt *column  = rows->column + KC_CLUSTER_LANES * rows->start[slice] + lane;
  const PetscInt  members = rows->members[KC_CLUSTER_LANES * slice + lane];
  PetscScalar     sum     = 0;

  for (PetscInt e = first; e < members; e += step) sum += b[column[KC_CLUSTER_LANES * e]];
  return sum;
}

/* Of 1^T A x */
KC_POINT PetscScalar KCycleClusterLeft(const KCycleClusterRows *rows, PetscInt slice, PetscInt lane, PetscInt first,
                                       PetscInt step, const KCScalar *x)
{
  const PetscInt end = KC_CLUSTER_LANES * rows->start[slice + 1];
  PetscScalar    sum = 0;

  for (PetscInt e = KC_CLUSTER_LANES * (rows->start[slice] + first) + lane; e < end; e += KC_CLUSTER_LANES * step) {
    const PetscInt column = rows->column[e];

    sum += rows->value[e] * (column < rows->npoints ? x[column] : rows->halo[column - rows->npoints]);
  }
  return sum;
}
