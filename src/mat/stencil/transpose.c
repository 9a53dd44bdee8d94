/*
  Products with the transpose: columns are scattered to the lines they reach, and what is a neighbour's goes there. And
  the transpose itself.
*/
#include "matstencil.h"

PetscErrorCode MatStencilGetBack(Mat_Stencil *st)
{
  PetscFunctionBegin;
  if (st->back) PetscCall(PetscArrayzero(st->back, st->s.box->nhalo));
  else PetscCall(KCycleBoxHaloCreate(st->s.box, &st->back));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One coefficient of one line: to[i + dx] += c(i) x[i], where x is NULL the sum of absolute values */
KC_VERSIONS static void Scatter(const KCycleLine *l, int o, int dx, const PetscScalar *x, PetscScalar *to,
                                PetscScalar *left, PetscScalar *right)
{
  const PetscInt     n = l->n;
  const PetscScalar *c = l->constant ? l->end[0] + o * l->stride : l->c[o];

  for (PetscInt i = 0; i < n; i += PetscMax(n - 1, 1)) {
    const PetscScalar value = KCycleLineCoefficient(l, o, i), term = x ? value * x[i] : PetscAbsScalar(value);

    if (i + dx >= 0 && i + dx < n) to[i + dx] += term;
    else if (left) *(i + dx < 0 ? left : right) += term;
  }
  if (x) {
    KC_IVDEP for (PetscInt i = 1; i < n - 1; i++) to[i + dx] += c[i] * x[i];
  } else {
    for (PetscInt i = 1; i < n - 1; i++) to[i + dx] += PetscAbsScalar(c[i]);
  }
}

static PetscInt Within(PetscInt i, PetscInt n)
{
  return i < 0 ? 0 : i < n ? i : n - 1;
}

/* What goes to this thread's share of the lines, and to the halo lines next to them, comes from these lines and those
   around: in the same order for any number of threads */
static void ScatterToShare(const Mat_Stencil *st, const PetscScalar *x, PetscScalar *y)
{
  const KCycleBox   *box   = st->s.box;
  const KCycleShape *shape = &st->s.shape;
  const PetscInt     away  = box->n[2] > 1 ? box->n[1] + 1 : 1;
  PetscInt           first, end;

  KCycleShare(0, box->nlines, &first, &end);
  for (PetscInt line = PetscMax(first - away, 0); line < PetscMin(end + away, box->nlines); line++) {
    const PetscInt j = line % box->n[1], k = line / box->n[1];
    KCycleLine     l;

    KCycleLineCoefficients(&st->s, j, k, &l);
    for (int o = 0; o < shape->ncoeffs; o++) {
      const PetscInt jj = j + shape->dy[shape->line[o]], kk = k + shape->dz[shape->line[o]],
                     e  = KCycleBoxExtended(box, jj, kk);
      const PetscInt to = Within(jj, box->n[1]) + box->n[1] * Within(kk, box->n[2]);

      if (!box->offset[e] || to < first || to >= end) continue;
      Scatter(&l, o, shape->dx[o], x ? x + line * box->n[0] : NULL,
              box->offset[e] < 0 ? y + box->n[0] * to : st->back + box->offset[e],
              box->xhalo ? st->back + box->left + e : NULL, box->xhalo ? st->back + box->right + e : NULL);
    }
  }
}

/* y += A^T x, or sums of the columns' absolute values */
static PetscErrorCode ScatterLines(Mat A, const PetscScalar *x, PetscScalar *y)
{
  Mat_Stencil     *st  = (Mat_Stencil *)A->data;
  const KCycleBox *box = st->s.box;

  PetscFunctionBegin;
  PetscCall(MatStencilNeedValues(A));
  PetscCall(MatStencilGetBack(st));
  KC_PARALLEL(box->npoints)
  ScatterToShare(st, x, y);
  if (KCycleBoxTalks(box)) PetscCall(KCycleBoxReduce(box, st->back, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddTranspose(Mat A, Vec x, Vec y)
{
  const PetscScalar *xa;
  PetscScalar       *ya;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(VecGetArray(y, &ya));
  PetscCall(ScatterLines(A, xa, ya));
  PetscCall(VecRestoreArray(y, &ya));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCall(PetscLogFlops(2.0 * ((Mat_Stencil *)A->data)->s.shape.ncoeffs * A->rmap->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTranspose_Stencil(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(VecSet(y, 0));
  PetscCall(AddTranspose(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTransposeAdd_Stencil(Mat A, Vec x, Vec b, Vec y)
{
  PetscFunctionBegin;
  if (b != y) PetscCall(VecCopy(b, y));
  PetscCall(AddTranspose(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest column sum of absolute values: norm 1. Columns that two coefficients of a row reach count as often,
   where a periodic direction has one or two points */
PetscErrorCode MatStencilColumnSums(Mat A, PetscReal *norm)
{
  PetscScalar *sum;
  PetscReal    mine = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(A->cmap->n, &sum));
  PetscCall(ScatterLines(A, NULL, sum));
  for (PetscInt i = 0; i < A->cmap->n; i++) mine = PetscMax(mine, PetscRealPart(sum[i]));
  PetscCall(PetscFree(sum));
  PetscCallMPI(MPI_Allreduce(&mine, norm, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coefficient o of the transpose is the opposite one of the point there */
static PetscErrorCode FillTranspose(Mat A, Mat B)
{
  const Mat_Stencil *a     = (Mat_Stencil *)A->data;
  Mat_Stencil       *b     = (Mat_Stencil *)B->data;
  const KCycleBox   *box   = a->s.box;
  const KCycleShape *shape = &a->s.shape;
  const PetscInt     n     = box->n[0];
  PetscScalar       *c, *halo;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(box->npoints, &c));
  PetscCall(KCycleBoxHaloCreate(box, &halo));
  for (int o = 0; o < shape->ncoeffs; o++) {
    MatStencilCopyCoefficient(&a->s, shape->ncoeffs - 1 - o, c);
    PetscCall(KCycleBoxExchange(box, PETSC_TRUE, c, halo));
    for (PetscInt r = 0; r < box->npoints; r++) {
      const PetscInt line = r / n, there[3] = {r % n + shape->dx[o], line % box->n[1] + shape->dy[shape->line[o]],
                                               line / box->n[1] + shape->dz[shape->line[o]]};
      PetscScalar   *to = b->dense + ((size_t)line * shape->ncoeffs + o) * n + r % n;

      if (!MatStencilValueAt(box, c, halo, there, to)) *to = 0;
    }
  }
  PetscCall(PetscFree(c));
  PetscCall(PetscFree(halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatTranspose_Stencil(Mat A, MatReuse reuse, Mat *B)
{
  const MatNullSpace right = A->nullsp;
  PetscBool          is;
  Mat                T;

  PetscFunctionBegin;
  PetscCall(MatStencilNeedValues(A));
  if (reuse == MAT_REUSE_MATRIX) {
    T = *B;
    PetscCall(MatStencilIs(T, &is));
    PetscCheck(is && KCycleBoxIsSame(KCycleStencilOf(T)->box, KCycleStencilOf(A)->box), PetscObjectComm((PetscObject)A),
               PETSC_ERR_ARG_WRONG,
               "The matrix to reuse is no transpose of this one: make it with MatTranspose(mat, MAT_INITIAL_MATRIX, "
               "&transpose)");
    PetscCall(MatCopy(A, T, SAME_NONZERO_PATTERN)); /* brings the shape */
  } else PetscCall(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &T));
  PetscCall(MatStencilExpand(T));
  PetscCall(FillTranspose(A, T));
  PetscCall(MatStencilStoreDense(T));
  PetscCall(PetscObjectStateIncrease((PetscObject)T));
  if (reuse == MAT_INPLACE_MATRIX) {
    A->nullsp      = A->transnullsp;
    A->transnullsp = right;
    PetscCall(MatStencilReplaceHeader(A, &T));
  } else *B = T;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void MatStencilSetTransposeOps(Mat A)
{
  A->ops->multtranspose    = MatMultTranspose_Stencil;
  A->ops->multtransposeadd = MatMultTransposeAdd_Stencil;
  A->ops->transpose        = MatTranspose_Stencil;
}
