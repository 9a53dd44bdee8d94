/*
  PCFASTPOISSON compares all rows with the operator that it has found on three lines of the grid.
*/
#include "fastpoissonimpl.h"

#if defined(KCYCLE_HAVE_FASTPOISSON)

  /* Differences that rounding may make, relative to a row */
  #define KC_SEPARABLE (64 * PETSC_MACHINE_EPSILON)

/* What a line must have; x: of the core, begins at point first of the line, count of them */
typedef struct {
  PetscInt         first, count;
  const PetscReal *d, *low, *mid, *up; /* along x */
  PetscReal        across;             /* D of y and z */
  PetscReal        c[KC_STAR];         /* M of y and z; the sum of their diagonals and sigma is in the middle */
  PetscReal        sum;                /* of absolute values on that diagonal */
} Line;

/* The largest difference beyond what rounding may make */
KC_VERSIONS static PetscBool Differs(const Line *l, PetscScalar *const c[], const PetscScalar *zeros)
{
  const PetscReal *KC_RESTRICT d = l->d, *KC_RESTRICT low = l->low, *KC_RESTRICT mid = l->mid, *KC_RESTRICT up = l->up;
  const PetscScalar *KC_RESTRICT x0 = c[2] + l->first, *KC_RESTRICT x1 = c[3] + l->first,
                                 *KC_RESTRICT x2  = c[4] + l->first;
  PetscInt                                    bad = 0;

  for (PetscInt i = 0; i < l->count; i++) {
    const PetscReal p = l->across * d[i], t = KC_SEPARABLE * PetscAbsReal(p) * (PetscAbsReal(mid[i]) + l->sum);

    bad |= !(PetscAbsReal(x0[i] - p * low[i]) <= t);
    bad |= !(PetscAbsReal(x1[i] - p * (mid[i] + l->c[KC_STAR_DIAGONAL])) <= t);
    bad |= !(PetscAbsReal(x2[i] - p * up[i]) <= t);
  }
  for (int q = 0; q < KC_STAR; q++) {
    const PetscScalar *KC_RESTRICT y = c[q] + l->first;

    if ((q >= 2 && q <= 4) || (l->c[q] == 0 && c[q] == zeros)) continue;
    for (PetscInt i = 0; i < l->count; i++) {
      const PetscReal p = l->across * d[i], t = KC_SEPARABLE * PetscAbsReal(p) * (PetscAbsReal(mid[i]) + l->sum);

      bad |= !(PetscAbsReal(y[i] - p * l->c[q]) <= t);
    }
  }
  return (PetscBool)(bad != 0);
}

/* An entry that is not as it should be */
static void Compare(const KCycleBox *box, const PetscInt at[], int q, PetscReal found, PetscReal expected,
                    PetscReal slack, KCycleFPFault *fault)
{
  if (!(PetscAbsReal(found - expected) <= slack))
    KCycleFPFaultNote(fault, KCycleBoxPointToRow(box, at), KCycleFPColumn(box, at, q), found, expected);
}

/* The first entry of a line that differs */
static void FindDifference(const PC_FastPoisson *fp, const Line *l, PetscScalar *const c[], PetscInt j, PetscInt k,
                           KCycleFPFault *fault)
{
  const PetscInt *start = fp->box->start;

  for (PetscInt i = 0; i < l->count; i++) {
    const PetscInt  at[3] = {start[0] + l->first + i, start[1] + j, start[2] + k};
    const PetscReal p = l->across * l->d[i], t = KC_SEPARABLE * PetscAbsReal(p) * (PetscAbsReal(l->mid[i]) + l->sum);

    for (int q = 0; q < KC_STAR; q++) {
      const PetscReal m = q == 2 ? l->low[i] : q == 4 ? l->up[i] : q == 3 ? l->mid[i] + l->c[3] : l->c[q];

      Compare(fp->box, at, q, c[q][l->first + i], p * m, t, fault);
    }
  }
}

/* Points a <= i < b of a line are stored Dirichlet points */
static void CopyStored(PC_FastPoisson *fp, PetscScalar *const c[], PetscInt a, PetscInt b, PetscInt j, PetscInt k,
                       KCycleFPFault *fault)
{
  const KCycleBox *box = fp->box;

  for (PetscInt i = a; i < b; i++) {
    const PetscInt at[3] = {box->start[0] + i, box->start[1] + j, box->start[2] + k};

    for (int q = 0; q < KC_STAR; q++) {
      if (q != KC_STAR_DIAGONAL) Compare(box, at, q, c[q][i], 0, 0, fault);
    }
    if (!(PetscAbsReal(c[KC_STAR_DIAGONAL][i]) > 0))
      Compare(box, at, KC_STAR_DIAGONAL, c[KC_STAR_DIAGONAL][i], 1, 0, fault);
    fp->stored[fp->nstored]    = i + box->n[0] * (j + box->n[1] * k);
    fp->inverse[fp->nstored++] = 1 / c[KC_STAR_DIAGONAL][i];
  }
}

/* Coordinate of a point of this process in the core, or -1 */
static PetscInt InCore(const PC_FastPoisson *fp, int d, PetscInt i)
{
  const PetscInt at = fp->box->start[d] + i - fp->dir[d].lo;

  return at >= 0 && at < fp->dir[d].n ? at : -1;
}

static void MakeLine(const PC_FastPoisson *fp, PetscInt y, PetscInt z, Line *l)
{
  const KCycleFPDirection *dx = &fp->dir[0], *dy = &fp->dir[1], *dz = &fp->dir[2];
  const PetscInt           x = fp->grid.start[0];

  l->count  = fp->grid.n[0];
  l->first  = l->count ? dx->lo + x - fp->box->start[0] : 0;
  l->d      = dx->d + x;
  l->low    = dx->low + x;
  l->mid    = dx->mid + x;
  l->up     = dx->up + x;
  l->across = dy->d[y] * dz->d[z];
  l->c[0]   = dz->low[z];
  l->c[1]   = dy->low[y];
  l->c[3]   = dy->mid[y] + dz->mid[z] + fp->sigma;
  l->c[5]   = dy->up[y];
  l->c[6]   = dz->up[z];
  l->sum    = PetscAbsReal(dy->mid[y]) + PetscAbsReal(dz->mid[z]) + PetscAbsReal(fp->sigma);
}

static PetscBool SameAcross(const Line *a, const Line *b)
{
  if (a->across != b->across) return PETSC_FALSE;
  for (int q = 0; q < KC_STAR; q++) {
    if (a->c[q] != b->c[q]) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* One line of this process. last: the line before it that was compared, which a line of a stencil may share its
   coefficients with */
static PetscErrorCode CheckLine(PC_FastPoisson *fp, KCycleFPRows *rows, PetscInt j, PetscInt k, PetscInt *lastline,
                                Line *last, KCycleFPFault fault[])
{
  const PetscInt y = InCore(fp, 1, j), z = InCore(fp, 2, k), n = fp->box->n[0], line = j + fp->box->n[1] * k;
  PetscScalar   *c[KC_STAR];
  Line           l = {0};

  PetscFunctionBegin;
  if (y >= 0 && z >= 0 && !fp->empty) MakeLine(fp, y, z, &l);
  if (rows->st && *lastline >= 0 && l.count == n && SameAcross(&l, last) &&
      MatStencilLineIsLast(rows->st, line, *lastline))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleFPRowsLine(rows, j, k, fault));
  for (int q = 0; q < KC_STAR; q++) c[q] = rows->c[q] ? rows->c[q] : rows->zeros;
  CopyStored(fp, c, 0, l.first, j, k, &fault[1]);
  if (l.count && Differs(&l, c, rows->zeros)) FindDifference(fp, &l, c, j, k, fault);
  CopyStored(fp, c, l.first + l.count, n, j, k, &fault[1]);
  *lastline = l.count == n ? line : -1;
  *last     = l;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* fault: the first entries on this process that differ, of the core, and of stored points */
PetscErrorCode PCFastPoissonCheck(PC pc, KCycleFPRows *rows, KCycleFPFault fault[])
{
  PC_FastPoisson *fp   = (PC_FastPoisson *)pc->data;
  const PetscInt  n    = fp->box->npoints - fp->grid.npoints;
  PetscInt        last = -1, at;
  Line            l    = {0};

  PetscFunctionBegin;
  if (!fp->stored) PetscCall(PetscMalloc2(n, &fp->stored, n, &fp->inverse));
  fp->nstored = 0;
  fp->coupled = PETSC_FALSE;
  for (int side = 0; side < 6; side++) {
    if (KCycleFPFace(fp, side / 2, side % 2, &at) != 0) fp->coupled = PETSC_TRUE;
  }
  for (PetscInt k = 0; k < fp->box->n[2]; k++) {
    for (PetscInt j = 0; j < fp->box->n[1]; j++) PetscCall(CheckLine(fp, rows, j, k, &last, &l, fault));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
