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

/* The diagonal is compared with itself, which tells what is real and what is a number at all */
static PetscBool CompareLines(void *context, const KCycleShape *shape, const KCycleLine *l, const KCycleLine *m, int o,
                              PetscBool again)
{
  return (PetscBool)(again || CouplingsAgree(l, m, shape, o, *(const Tolerance *)context));
}

/* Are couplings between points of this process symmetric? finite: all entries are known to be numbers */
static PetscBool LinesAreSymmetric(const KCycleStencil *st, Tolerance tol, PetscBool finite)
{
  return MatStencilVisitLines(st, st->shape.ncoeffs / 2 + (finite && !tol.conjugate ? 1 : 0), tol.conjugate,
                              CompareLines, &tol);
}

/* Not collective: are they, but for this part of the diagonal? */
PetscBool MatStencilLinesAreSymmetric(const KCycleStencil *st, PetscReal part)
{
  const Tolerance tol = {0, part, PETSC_FALSE};

  return LinesAreSymmetric(st, tol, PETSC_TRUE);
}

/* Not collective: yes is true if all rows of this process are symmetric and have no neighbours on others, nor around
   a periodic end. Kept until the matrix changes */
PetscErrorCode MatStencilIsSymmetric(Mat A, PetscBool *yes)
{
  Mat_Stencil     *st = (Mat_Stencil *)A->data;
  PetscObjectState state;

  PetscFunctionBegin;
  *yes = st->symmetric;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (st->symmetric_state == state) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStencilCopyToHost(A));
  *yes = (PetscBool)(!KCycleBoxTalks(st->s.box) && MatStencilLinesAreSymmetric(&st->s, 0));
  PetscCall(MatStencilSetSymmetric(A, *yes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If the caller says so */
PetscErrorCode MatStencilSetSymmetric(Mat A, PetscBool yes)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;

  PetscFunctionBegin;
  st->symmetric = yes;
  PetscCall(PetscObjectStateGet((PetscObject)A, &st->symmetric_state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coefficient o of all points of this process */
void MatStencilCopyCoefficient(const KCycleStencil *st, int o, PetscScalar *field)
{
  const PetscInt n = st->box->n[0];
  KCycleLine     l;

  for (PetscInt line = 0; line < st->box->nlines; line++) {
    MatStencilLineArrays(st, line, &l);
    for (PetscInt i = 0; i < n; i++) field[line * n + i] = KCycleLineCoefficient(&l, o, i);
  }
}

/* The value of a field at a point at most one beyond the box; false: it is outside the grid */
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

/* What edges are compared with */
typedef struct {
  const KCycleBox *box;
  Tolerance        tol;
  PetscScalar     *d, *dhalo; /* the diagonal */
  PetscBool        agree;
} Comparison;

static PetscErrorCode CompareEdge(void *context, const KCycleEdge *edge)
{
  Comparison *c        = (Comparison *)context;
  PetscScalar diagonal = 0;

  PetscFunctionBegin;
  (void)MatStencilValueAt(c->box, c->d, c->dhalo, edge->at, &diagonal);
  if (Differ(edge->a, edge->b, c->d[edge->point], diagonal, c->tol)) c->agree = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. Are couplings with points of other processes symmetric, and those around periodic ends? */
static PetscErrorCode EdgesAreSymmetric(Mat A, Tolerance tol, PetscBool *yes)
{
  const KCycleStencil *st = KCycleStencilOf(A);
  Comparison           c  = {.box = st->box, .tol = tol, .agree = PETSC_TRUE};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(st->box->npoints, &c.d));
  PetscCall(KCycleBoxHaloCreate(st->box, &c.dhalo));
  MatStencilCopySeen(st, st->shape.ncoeffs / 2, c.d);
  PetscCall(KCycleBoxExchange(st->box, PETSC_TRUE, c.d, c.dhalo));
  PetscCall(MatStencilVisitEdges(A, st->shape.ncoeffs / 2 + 1, CompareEdge, &c));
  PetscCall(PetscFree(c.d));
  PetscCall(PetscFree(c.dhalo));
  *yes = (PetscBool)(*yes && c.agree);
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
  PetscCall(MatStencilCopyToHost(A));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  *yes =
      LinesAreSymmetric(st, tol, (PetscBool)(scan->done && scan->state == state && scan->notfinite == PETSC_INT_MAX));
  if (KCycleBoxTalks(st->box)) PetscCall(EdgesAreSymmetric(A, tol, yes));
  mine = *yes ? 1 : 0;
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)A)));
  *yes = (PetscBool)all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. Relative to the diagonals of both points, as couplings of a light fluid are rounding compared with those
   of a heavy one */
PetscErrorCode MatStencilIsNearlySymmetric(Mat A, PetscBool *yes)
{
  const Tolerance tol = {0, 1000 * PETSC_MACHINE_EPSILON, PETSC_FALSE};

  return CompareOpposites(A, tol, yes);
}

static PetscErrorCode MatIsSymmetric_Stencil(Mat A, PetscReal absolute, PetscBool *yes)
{
  const Tolerance tol = {absolute, 0, PETSC_FALSE};

  return CompareOpposites(A, tol, yes);
}

static PetscErrorCode MatIsHermitian_Stencil(Mat A, PetscReal absolute, PetscBool *yes)
{
  const Tolerance tol = {absolute, 0, PETSC_TRUE};

  return CompareOpposites(A, tol, yes);
}

/* Rows have all entries of the stencil, zeros included, and a stencil reaches both ways */
static PetscErrorCode MatIsStructurallySymmetric_Stencil(Mat A, PetscBool *yes)
{
  PetscFunctionBegin;
  (void)A;
  *yes = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void MatStencilSetSymmetryOps(Mat A)
{
  A->ops->issymmetric             = MatIsSymmetric_Stencil;
  A->ops->ishermitian             = MatIsHermitian_Stencil;
  A->ops->isstructurallysymmetric = MatIsStructurallySymmetric_Stencil;
}
