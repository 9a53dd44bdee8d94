/*
  Operations on all entries of a stencil matrix; those that keep equal lines equal work on what is stored.
*/
#include "matstencil.h"

static PetscErrorCode MatGetDiagonal_Stencil(Mat A, Vec d)
{
  Mat_Stencil   *st = (Mat_Stencil *)A->data;
  const PetscInt n = st->s.box->n[0], o = st->s.shape.ncoeffs / 2;
  PetscScalar   *a;

  PetscFunctionBegin;
  PetscCall(MatStencilNeedValues(A));
  PetscCall(VecGetArrayWrite(d, &a));
  for (PetscInt line = 0; line < st->s.box->nlines; line++) {
    PetscScalar *to = a + line * n;
    KCycleLine   l;

    if (st->s.set[line] >= 0) PetscCall(PetscArraycpy(to, KCycleClassCoefficients(&st->s, st->s.set[line]) + o * n, n));
    else {
      KCycleLineCoefficients(&st->s, line % st->s.box->n[1], line / st->s.box->n[1], &l);
      to[0] = l.end[0][o];
      if (n > 2) PetscCall(PetscArraycpy(to + 1, l.c[o] + 1, n - 2));
      to[n - 1] = l.end[1][o];
    }
  }
  PetscCall(VecRestoreArrayWrite(d, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For PCPBJACOBI, whose blocks are points here */
static PetscErrorCode MatInvertBlockDiagonal_Stencil(Mat A, const PetscScalar **values)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;
  Vec          d;

  PetscFunctionBegin;
  if (!st->inverse) PetscCall(PetscMalloc1(A->rmap->n, &st->inverse));
  PetscCall(VecCreateMPIWithArray(PetscObjectComm((PetscObject)A), 1, A->rmap->n, A->rmap->N, st->inverse, &d));
  PetscCall(MatGetDiagonal_Stencil(A, d));
  PetscCall(VecDestroy(&d));
  for (PetscInt i = 0; i < A->rmap->n; i++) {
    if (st->inverse[i] == (PetscScalar)0.0) A->factorerrortype = MAT_FACTOR_NUMERIC_ZEROPIVOT;
    st->inverse[i] = 1 / st->inverse[i];
  }
  *values = st->inverse;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatScale_Stencil(Mat A, PetscScalar s)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;

  PetscFunctionBegin;
  PetscCall(MatStencilNeedValues(A));
  for (PetscInt64 i = 0; i < st->s.shared.used; i++) st->s.shared.v[i] *= s;
  for (PetscInt64 i = 0; i < st->s.own.used; i++) st->s.own.v[i] *= s;
  for (PetscInt c = 0; c < st->s.nclasses; c++) MatStencilClassChanged(&st->s, c);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShift_Stencil(Mat A, PetscScalar s)
{
  Mat_Stencil   *st = (Mat_Stencil *)A->data;
  const PetscInt n = st->s.box->n[0], nc = st->s.shape.ncoeffs, o = nc / 2, half = st->s.half ? o : 0;

  PetscFunctionBegin;
  PetscCall(MatStencilNeedValues(A));
  for (PetscInt c = 0; c < st->s.nclasses; c++) {
    PetscScalar *to = KCycleClassCoefficients(&st->s, c) + o * n;

    for (PetscInt i = 0; i < n; i++) to[i] += s;
    MatStencilClassChanged(&st->s, c);
  }
  for (PetscInt line = 0; line < st->s.box->nlines; line++) {
    PetscScalar *to;

    if (st->s.set[line] >= 0) continue;
    to = KCycleBlock(&st->s, KCycleBoxExtended(st->s.box, line % st->s.box->n[1], line / st->s.box->n[1]));
    for (PetscInt i = 0; i < n; i++) to[(o - half) * n + i] += s;
    to += (nc - half) * n;
    to[o] += s;
    to[nc + o] += s;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coefficients of a line of L A R; L, R: NULL is the identity. halo: of R */
void MatStencilScaleLine(const KCycleStencil *st, PetscInt line, const PetscScalar *l, const PetscScalar *r,
                         const PetscScalar *halo, PetscScalar values[])
{
  const KCycleBox   *box   = st->box;
  const KCycleShape *shape = &st->shape;
  const PetscInt     n = box->n[0], j = line % box->n[1], k = line / box->n[1];

  for (int o = 0; o < shape->ncoeffs; o++) {
    const PetscInt jj = j + shape->dy[shape->line[o]], kk = k + shape->dz[shape->line[o]],
                   e         = KCycleBoxExtended(box, jj, kk);
    const PetscScalar *right = r ? KCycleBoxLine(box, r, halo, jj, kk) : NULL, *left = l ? l + line * n : NULL;
    PetscScalar       *v  = values + o * n;
    const int          dx = r ? shape->dx[o] : 0;

    for (PetscInt i = PetscMax(0, -dx); i < PetscMin(n, n - dx); i++)
      v[i] *= (left ? left[i] : 1) * (right ? right[i + dx] : 1); /* symmetric to the last digit where L is R */
    if (dx) {
      const PetscInt    i      = dx < 0 ? 0 : n - 1;
      const PetscScalar beyond = box->xhalo ? halo[(dx < 0 ? box->left : box->right) + e] : 0;

      v[i] *= (left ? left[i] : 1) * beyond;
    }
  }
}

static PetscErrorCode MatDiagonalScale_Stencil(Mat A, Vec left, Vec right)
{
  Mat_Stencil       *st = (Mat_Stencil *)A->data;
  const PetscScalar *l = NULL, *r = NULL;

  PetscFunctionBegin;
  PetscCall(MatStencilNeedValues(A));
  PetscCall(MatStencilExpand(A));
  if (left) PetscCall(VecGetArrayRead(left, &l));
  if (right) {
    PetscCall(VecGetArrayRead(right, &r));
    PetscCall(KCycleBoxExchange(st->s.box, PETSC_TRUE, r, st->s.halo));
  }
  for (PetscInt line = 0; line < st->s.box->nlines; line++)
    MatStencilScaleLine(&st->s, line, l, r, st->s.halo,
                        st->dense + (size_t)line * st->s.shape.ncoeffs * st->s.box->n[0]);
  if (left) PetscCall(VecRestoreArrayRead(left, &l));
  if (right) PetscCall(VecRestoreArrayRead(right, &r));
  PetscCall(MatStencilStoreDense(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The stencil gets the neighbours of another one, too, with zeros where it had no entries; values are dense then. Where
   neither of the two shapes has all it becomes a box */
PetscErrorCode MatStencilWiden(Mat A, const KCycleShape *other)
{
  Mat_Stencil      *st  = (Mat_Stencil *)A->data;
  const KCycleShape old = st->s.shape;
  const PetscInt    n   = st->s.box->n[0];
  KCycleShape       shape;
  PetscScalar      *narrow;

  PetscFunctionBegin;
  if (KCycleShapeHas(&old, other)) PetscFunctionReturn(PETSC_SUCCESS);
  shape = *other;
  if (!KCycleShapeHas(other, &old)) KCycleShapeCreate(st->s.box->dim, KC_BOX | (old.flat & other->flat), &shape);
  PetscCall(MatStencilExpand(A));
  narrow = st->dense;
  PetscCall(MatStencilSetShape(A, &shape));
  PetscCall(PetscCalloc1((size_t)st->s.box->npoints * shape.ncoeffs, &st->dense));
  for (PetscInt line = 0; line < st->s.box->nlines; line++) {
    for (int o = 0; o < old.ncoeffs; o++) {
      const int to = shape.find[KCycleShapeOffset(&old, o)];

      PetscCall(PetscArraycpy(st->dense + ((size_t)line * shape.ncoeffs + to) * n,
                              narrow + ((size_t)line * old.ncoeffs + o) * n, n));
    }
  }
  PetscCall(PetscFree(narrow));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Y += a X, whose neighbours Y has, on the same grid */
PetscErrorCode MatStencilAddLines(Mat Y, PetscScalar a, Mat X)
{
  Mat_Stencil       *y = (Mat_Stencil *)Y->data;
  const KCycleShape *x = &KCycleStencilOf(X)->shape;
  const PetscInt     n = y->s.box->n[0];
  PetscScalar       *values;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)x->ncoeffs * n, &values));
  PetscCall(MatStencilExpand(Y));
  for (PetscInt line = 0; line < y->s.box->nlines; line++) {
    PetscCall(MatStencilGetLine(X, line, values));
    for (int o = 0; o < x->ncoeffs; o++) {
      PetscScalar *to = y->dense + ((size_t)line * y->s.shape.ncoeffs + y->s.shape.find[KCycleShapeOffset(x, o)]) * n;

      for (PetscInt i = 0; i < n; i++) to[i] += a * values[o * n + i];
    }
  }
  PetscCall(PetscFree(values));
  PetscCall(MatStencilStoreDense(Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Y += a X for matrices of this type on the same grid. The stencil of Y gets what X has more, unless the entries of X
   are said to be among those of Y */
static PetscErrorCode MatAXPY_Stencil(Mat Y, PetscScalar a, Mat X, MatStructure structure)
{
  Mat_Stencil *y = (Mat_Stencil *)Y->data, *x = (Mat_Stencil *)X->data;

  PetscFunctionBegin;
  PetscCall(MatStencilNeedValues(X));
  PetscCall(MatStencilNeedValues(Y));
  PetscCall(KCycleBoxCheckSame(PetscObjectComm((PetscObject)Y), x->s.box, y->s.box,
                               "MatAXPY(): the matrix that is added is"));
  PetscCheck(
      structure == DIFFERENT_NONZERO_PATTERN || structure == UNKNOWN_NONZERO_PATTERN ||
          KCycleShapeHas(&y->s.shape, &x->s.shape),
      PetscObjectComm((PetscObject)Y), PETSC_ERR_SUP,
      "MatAXPY() of matrices of type stencil with SAME_NONZERO_PATTERN or SUBSET_NONZERO_PATTERN needs a stencil "
      "in the first (%d points) that has all of the second (%d points): use DIFFERENT_NONZERO_PATTERN",
      y->s.shape.ncoeffs, x->s.shape.ncoeffs);
  PetscCall(MatStencilWiden(Y, &x->s.shape));
  PetscCall(MatStencilAddLines(Y, a, X));
  PetscCall(PetscObjectStateIncrease((PetscObject)Y)); /* which MatAXPY() leaves to types */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums or maxima over the rows of this process */
static PetscErrorCode MatNorm_Stencil(Mat A, NormType type, PetscReal *norm)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;
  PetscInt     cols[KC_MAX_COEFFS];
  PetscScalar  values[KC_MAX_COEFFS];
  PetscReal    mine = 0;
  KCycleLine   l;

  PetscFunctionBegin;
  PetscCall(MatStencilNeedValues(A));
  if (type == NORM_1) {
    PetscCall(MatStencilColumnSums(A, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(type == NORM_FROBENIUS || type == NORM_INFINITY, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "A matrix of type stencil has norms 1, infinity and Frobenius");
  for (PetscInt r = 0; r < st->s.box->npoints; r++) {
    const PetscInt *n = st->s.box->n, at[3] = {r % n[0], r / n[0] % n[1], r / n[0] / n[1]};
    PetscReal       sum = 0;
    PetscInt        m;

    if (!at[0]) KCycleLineCoefficients(&st->s, at[1], at[2], &l);
    m = MatStencilRow(&st->s, &l, at, cols, values);
    for (PetscInt i = 0; i < m; i++)
      sum += type == NORM_INFINITY ? PetscAbsScalar(values[i]) : PetscRealPart(PetscConj(values[i]) * values[i]);
    mine = type == NORM_INFINITY ? PetscMax(mine, sum) : mine + sum;
  }
  PetscCallMPI(MPI_Allreduce(&mine, norm, 1, MPIU_REAL, type == NORM_INFINITY ? MPIU_MAX : MPIU_SUM,
                             PetscObjectComm((PetscObject)A)));
  if (type == NORM_FROBENIUS) *norm = PetscSqrtReal(*norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is stored, and what is not zero among the entries */
static PetscErrorCode MatGetInfo_Stencil(Mat A, MatInfoType which, MatInfo *info)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;
  PetscReal    in[2], out[2];

  PetscFunctionBegin;
  PetscCall(PetscMemzero(info, sizeof(*info)));
  in[0] = (PetscReal)st->s.box->npoints * st->s.shape.ncoeffs;
  in[1] = (PetscReal)sizeof(PetscScalar) *
          ((PetscReal)st->s.own.used + (PetscReal)st->s.nclasses * st->s.shape.ncoeffs * st->s.box->n[0] +
           (st->dense || st->ondevice ? in[0] : 0));
  out[0] = in[0];
  out[1] = in[1];
  if (which != MAT_LOCAL)
    PetscCallMPI(MPI_Allreduce(in, out, 2, MPIU_REAL, which == MAT_GLOBAL_MAX ? MPIU_MAX : MPIU_SUM,
                               PetscObjectComm((PetscObject)A)));
  info->block_size   = 1;
  info->nz_allocated = info->nz_used = out[0];
  info->memory                       = out[1];
  info->assemblies                   = A->num_ass;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMissingDiagonal_Stencil(Mat A, PetscBool *missing, PetscInt *row)
{
  PetscFunctionBegin;
  (void)A;
  *missing = PETSC_FALSE;
  if (row) *row = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void MatStencilSetEntryOps(Mat A)
{
  A->ops->getdiagonal         = MatGetDiagonal_Stencil;
  A->ops->invertblockdiagonal = MatInvertBlockDiagonal_Stencil;
  A->ops->scale               = MatScale_Stencil;
  A->ops->shift               = MatShift_Stencil;
  A->ops->diagonalscale       = MatDiagonalScale_Stencil;
  A->ops->axpy                = MatAXPY_Stencil;
  A->ops->norm                = MatNorm_Stencil;
  A->ops->getinfo             = MatGetInfo_Stencil;
  KCYCLE_SET_MISSING_DIAGONAL(A, MatMissingDiagonal_Stencil);
}
