/*
  Is a stencil symmetric to the last bit? Answered without products or vectors, from the coefficients of neighbouring
  lines. Or is it but for rounding?
*/
#include "matstencil.h"

/* How much a coupling and the opposite one, or its conjugate, may differ: so much, and so much of the larger
   diagonal */
typedef struct {
  PetscReal absolute, relative;
  PetscBool conjugate;
} Tolerance;

/* 0, or 1 where coupling a of one point and b of another, which have such diagonals, differ or are no numbers */
KC_POINT int Differ(PetscScalar a, PetscScalar b, PetscScalar da, PetscScalar db, Tolerance tol)
{
  const PetscReal mine = PetscAbsScalar(da), theirs = PetscAbsScalar(db);

  return PetscAbsScalar(a - (tol.conjugate ? PetscConj(b) : b)) <=
                 tol.absolute + tol.relative * (mine > theirs ? mine : theirs)
             ? 0
             : 1;
}

KC_VERSIONS static PetscInt Differences(PetscInt n, Tolerance tol, const PetscScalar *KC_RESTRICT a,
                                        const PetscScalar *KC_RESTRICT b, const PetscScalar *KC_RESTRICT da,
                                        const PetscScalar *KC_RESTRICT db)
{
  int count = 0;

  for (PetscInt i = 0; i < n; i++) count += Differ(a[i], b[i], da[i], db[i], tol);
  return count;
}

/* Do the couplings o of line l and the opposite ones of line m, which it leads to, agree? */
static PetscBool CouplingsAgree(const KCycleLine *l, const KCycleLine *m, const KCycleShape *shape, int o,
                                Tolerance tol)
{
  /* both points lie between the ends of their lines */
  const int      opposite = shape->ncoeffs - 1 - o, middle = shape->ncoeffs / 2, dx = shape->dx[o];
  const PetscInt n = l->n, low = dx < 0 ? 2 : 1, high = dx > 0 ? n - 2 : n - 1;

  for (PetscInt i = PetscMax(0, -dx); i < PetscMin(n, n - dx); i++) {
    if (i == low && high > low) i = high;
    if (i < n - PetscMax(dx, 0) &&
        Differ(KCycleLineCoefficient(l, o, i), KCycleLineCoefficient(m, opposite, i + dx),
               KCycleLineCoefficient(l, middle, i), KCycleLineCoefficient(m, middle, i + dx), tol))
      return PETSC_FALSE;
  }
  return (PetscBool)(high <= low || Differences(high - low, tol, l->c[o] + low, m->c[opposite] + low + dx,
                                                l->c[middle] + low, m->c[middle] + low + dx) == 0);
}

/* Is line (j, k) symmetric, with the lines behind it? last: the classes that were compared last, for each
   coefficient. The diagonal is compared with itself, which tells what is real and what is a number at all */
static PetscBool LineIsSymmetric(const KCycleStencil *st, PetscInt j, PetscInt k, int first, Tolerance tol,
                                 PetscInt last[][2])
{
  const KCycleBox   *box   = st->box;
  const KCycleShape *shape = &st->shape;
  const PetscInt     line  = j + box->n[1] * k;
  KCycleLine         l, m;

  MatStencilLineArrays(st, line, &l);
  for (int o = first; o < shape->ncoeffs; o++) {
    const int       q  = shape->line[o];
    const PetscInt  jj = j + shape->dy[q], kk = k + shape->dz[q], other = jj + box->n[1] * kk;
    const PetscBool once = (PetscBool)(st->half && !tol.conjugate && o > shape->ncoeffs / 2);

    if (jj < 0 || jj >= box->n[1] || kk >= box->n[2]) continue;
    if (once && st->set[line] < 0 && st->set[other] < 0) continue; /* kept once for both */
    if (st->set[line] >= 0 && st->set[line] == last[o][0] && st->set[other] == last[o][1]) continue;
    MatStencilLineArrays(st, other, &m);
    if (!CouplingsAgree(&l, &m, shape, o, tol)) return PETSC_FALSE;
    if (st->set[other] < 0) continue; /* all that have coefficients of their own are alike there */
    last[o][0] = st->set[line];
    last[o][1] = st->set[other];
  }
  return PETSC_TRUE;
}

/* Are couplings between points of this process symmetric? finite: all entries are known to be numbers */
static PetscBool LinesAreSymmetric(const KCycleStencil *st, Tolerance tol, PetscBool finite)
{
  const KCycleBox *box   = st->box;
  const int        first = st->shape.ncoeffs / 2 + (finite && !tol.conjugate ? 1 : 0);
  PetscInt         last[KC_MAX_COEFFS][2];

  for (int o = 0; o < KC_MAX_COEFFS; o++) last[o][0] = last[o][1] = -1;
  for (PetscInt line = 0; line < box->nlines; line++) {
    if (!LineIsSymmetric(st, line % box->n[1], line / box->n[1], first, tol, last)) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Not collective: yes is true if all rows of this process are symmetric and have no neighbours on others, nor around
   a periodic end. Kept until the matrix changes */
PetscErrorCode MatStencilIsSymmetric(Mat A, PetscBool *yes)
{
  Mat_Stencil     *st  = (Mat_Stencil *)A->data;
  const Tolerance  tol = {0, 0, PETSC_FALSE};
  PetscObjectState state;

  PetscFunctionBegin;
  *yes = st->symmetric;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (st->symmetric_state == state) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStencilBring(A));
  *yes = (PetscBool)(!KCycleBoxTalks(st->s.box) && LinesAreSymmetric(&st->s, tol, PETSC_TRUE));
  PetscCall(MatStencilSetSymmetric(A, *yes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For who knows */
PetscErrorCode MatStencilSetSymmetric(Mat A, PetscBool yes)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;

  PetscFunctionBegin;
  st->symmetric = yes;
  PetscCall(PetscObjectStateGet((PetscObject)A, &st->symmetric_state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coefficient o of all points of this process */
void MatStencilTakeCoefficient(const KCycleStencil *st, int o, PetscScalar *field)
{
  const PetscInt n = st->box->n[0];
  KCycleLine     l;

  for (PetscInt line = 0; line < st->box->nlines; line++) {
    MatStencilLineArrays(st, line, &l);
    for (PetscInt i = 0; i < n; i++) field[line * n + i] = KCycleLineCoefficient(&l, o, i);
  }
}

/* The value of a field at a point at most one beside the box; false: it is outside the grid */
PetscBool MatStencilValueAt(const KCycleBox *box, const PetscScalar *field, const PetscScalar *halo,
                            const PetscInt at[], PetscScalar *value)
{
  const PetscInt e = KCycleBoxExtended(box, at[1], at[2]);

  if (box->offset[e] == 0) return PETSC_FALSE;
  if (at[0] >= 0 && at[0] < box->n[0]) *value = KCycleBoxLine(box, field, halo, at[1], at[2])[at[0]];
  else if (box->xhalo) *value = halo[(at[0] < 0 ? box->left : box->right) + e];
  else return PETSC_FALSE;
  return PETSC_TRUE;
}

/* Do the points of a line say of the couplings opposite to o what points beside those of this process say? d and c: the
   diagonal and coefficient o there */
static PetscBool LineAgrees(const KCycleStencil *st, PetscInt line, int o, Tolerance tol, const PetscScalar *const d[2],
                            const PetscScalar *const c[2])
{
  const KCycleShape *shape    = &st->shape;
  const KCycleBox   *box      = st->box;
  const int          opposite = shape->ncoeffs - 1 - o, middle = shape->ncoeffs / 2;
  const PetscInt     n = box->n[0], j = line % box->n[1], k = line / box->n[1];
  const PetscInt     jj = j - shape->dy[shape->line[o]], kk = k - shape->dz[shape->line[o]];
  const PetscBool    within = (PetscBool)(jj >= 0 && jj < box->n[1] && kk >= 0 && kk < box->n[2]);
  KCycleLine         l;

  if (KCycleBoxLineIsInner(box, j, k) || (within && !(box->xhalo && shape->dx[o]))) return PETSC_TRUE;
  MatStencilLineArrays(st, line, &l);
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt there[3] = {i - shape->dx[o], jj, kk};
    PetscScalar    theirs, diagonal;

    if ((within && there[0] >= 0 && there[0] < n) || !MatStencilValueAt(box, c[0], c[1], there, &theirs)) continue;
    (void)MatStencilValueAt(box, d[0], d[1], there, &diagonal);
    if (Differ(KCycleLineCoefficient(&l, opposite, i), theirs, KCycleLineCoefficient(&l, middle, i), diagonal, tol))
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Collective. Are couplings with points of other processes symmetric, and those around periodic ends? */
static PetscErrorCode SeenAreSymmetric(Mat A, Tolerance tol, PetscBool *yes)
{
  const KCycleStencil *st  = &((Mat_Stencil *)A->data)->s;
  const KCycleBox     *box = st->box;
  PetscScalar         *d, *dhalo, *c, *chalo;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(box->npoints, &d, box->npoints, &c));
  PetscCall(KCycleBoxHaloCreate(box, &dhalo));
  PetscCall(KCycleBoxHaloCreate(box, &chalo));
  MatStencilTakeSeen(st, st->shape.ncoeffs / 2, d);
  PetscCall(KCycleBoxExchange(box, PETSC_TRUE, d, dhalo));
  for (int o = st->shape.ncoeffs / 2 + 1; o < st->shape.ncoeffs; o++) {
    const PetscScalar *const diagonal[2] = {d, dhalo}, *const coefficient[2] = {c, chalo};

    MatStencilTakeSeen(st, o, c);
    PetscCall(KCycleBoxExchange(box, PETSC_TRUE, c, chalo));
    for (PetscInt line = 0; *yes && line < box->nlines; line++)
      *yes = LineAgrees(st, line, o, tol, diagonal, coefficient);
  }
  PetscCall(PetscFree2(d, c));
  PetscCall(PetscFree(dhalo));
  PetscCall(PetscFree(chalo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective */
static PetscErrorCode CompareOpposites(Mat A, Tolerance tol, PetscBool *yes)
{
  const KCycleStencil *st   = &((Mat_Stencil *)A->data)->s;
  const KCycleScan    *scan = &((Mat_Stencil *)A->data)->scan;
  PetscObjectState     state;
  int                  mine, all;

  PetscFunctionBegin;
  PetscCall(MatStencilBring(A));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  *yes =
      LinesAreSymmetric(st, tol, (PetscBool)(scan->done && scan->state == state && scan->notfinite == PETSC_INT_MAX));
  if (KCycleBoxTalks(st->box)) PetscCall(SeenAreSymmetric(A, tol, yes));
  mine = *yes ? 1 : 0;
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)A)));
  *yes = (PetscBool)all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. Relative to the diagonals of both points, as couplings of a light fluid are rounding beside those of a
   heavy one */
PetscErrorCode MatStencilIsNearlySymmetric(Mat A, PetscBool *yes)
{
  const Tolerance tol = {0, 1000 * PETSC_MACHINE_EPSILON, PETSC_FALSE};

  PetscFunctionBegin;
  PetscCall(CompareOpposites(A, tol, yes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatIsSymmetric_Stencil(Mat A, PetscReal absolute, PetscBool *yes)
{
  const Tolerance tol = {absolute, 0, PETSC_FALSE};

  PetscFunctionBegin;
  PetscCall(CompareOpposites(A, tol, yes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatIsHermitian_Stencil(Mat A, PetscReal absolute, PetscBool *yes)
{
  const Tolerance tol = {absolute, 0, PETSC_TRUE};

  PetscFunctionBegin;
  PetscCall(CompareOpposites(A, tol, yes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows have all entries of the stencil, zeros included, and a stencil reaches both ways */
static PetscErrorCode MatIsStructurallySymmetric_Stencil(Mat A, PetscBool *yes)
{
  PetscFunctionBegin;
  (void)A;
  *yes = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilSetSymmetryOps(Mat A)
{
  PetscFunctionBegin;
  A->ops->issymmetric             = MatIsSymmetric_Stencil;
  A->ops->ishermitian             = MatIsHermitian_Stencil;
  A->ops->isstructurallysymmetric = MatIsStructurallySymmetric_Stencil;
  PetscFunctionReturn(PETSC_SUCCESS);
}
