/*
  PCINCPOISSON on the operator's pattern, scaled, where no three unknowns are coupled with each other, as with 5 and 7
  points: no product K_ik K_jk of two entries beside the diagonal falls on the pattern, and what is left of K K^T, K =
  D^-1 (D - L) D^-1/2, is

    M_ij = - a_ij / (d_i d_j),   i != j,        M_ii = 1 / d_i + sum over k < i of |a_ik|^2 / (d_i^2 d_k)
*/
#include "incpoissonimpl.h"

/* AIJ: the diagonal of M. number: of rows, those of ghosts, too; bad: first row with a NaN or Inf */
static void FindDiagonal(KCycleRows *rows, const PetscScalar inverse[], const PetscInt number[], PetscScalar diagonal[],
                         PetscInt *bad)
{
  const PetscInt    *cols;
  const PetscScalar *values;

  for (PetscInt i = 0; i < rows->n; i++) {
    const PetscInt  m   = KCycleRowsGet(rows, i, &cols, &values);
    const PetscReal di  = PetscRealPart(inverse[i]);
    PetscReal       d   = di;
    PetscScalar     sum = 0;

    for (PetscInt e = 0; e < m; e++) {
      sum += values[e];
      if (number[cols[e]] < number[i])
        d += PetscRealPart(values[e] * PetscConj(values[e])) * di * (di * PetscRealPart(inverse[cols[e]]));
    }
    diagonal[i] = d;
    if (sum - sum != (PetscScalar)0.0) *bad = PetscMin(*bad, number[i]); /* Inf - Inf is NaN */
  }
}

/* 1 / d takes the place of the diagonal of A */
static PetscErrorCode FillAIJ(Mat A, KCycleRows *rows, const PetscScalar inverse[], Vec diagonal, Mat M, PetscInt *bad)
{
  const PetscInt n = rows->n;
  PetscInt      *number;
  PetscScalar   *d;
  Vec            own;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n + rows->nghost, &number));
  for (PetscInt i = 0; i < n; i++) number[i] = A->rmap->rstart + i;
  PetscCall(KCycleRowsExchange(rows, MPIU_INT, number, number + n));
  PetscCall(VecReciprocal(diagonal));
  PetscCall(VecDuplicate(diagonal, &own));
  PetscCall(VecCopy(diagonal, own));
  PetscCall(VecScale(own, -1));
  PetscCall(MatCopy(A, M, SAME_NONZERO_PATTERN));
  PetscCall(MatDiagonalScale(M, own, diagonal));
  PetscCall(VecGetArrayWrite(own, &d));
  FindDiagonal(rows, inverse, number, d, bad);
  PetscCall(VecRestoreArrayWrite(own, &d));
  PetscCall(MatDiagonalSet(M, own, INSERT_VALUES));
  PetscCall(VecDestroy(&own));
  PetscCall(PetscFree(number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Has the point that coefficient o of a point of a line leads to a row before? Rows are in the order of the coordinate
   in which both differ */
static PetscBool IsBefore(const KCycleStencil *st, PetscInt line, int o, PetscInt i)
{
  const KCycleBox   *box    = st->box;
  const KCycleShape *shape  = &st->shape;
  const PetscInt     at[3]  = {i + shape->dx[o], line % box->n[1] + shape->dy[shape->line[o]],
                               line / box->n[1] + shape->dz[shape->line[o]]};
  PetscBool          before = (PetscBool)(o < shape->ncoeffs / 2);

  for (int d = 0; d < 3; d++) {
    if (box->start[d] + at[d] < 0 || box->start[d] + at[d] >= box->size[d]) before = (PetscBool)!before; /* around */
  }
  return before;
}

/* The coefficients m of M along a line from those of A, a, and scaled ones; own: 1 / d. NaN, Inf spoil the diagonal */
static void FillLine(const KCycleStencil *st, PetscInt line, const PetscScalar own[], const PetscScalar a[],
                     PetscScalar m[])
{
  const PetscInt n = st->box->n[0], part[] = {0, PetscMin(1, n - 1), n - 1, n};
  const int      middle   = st->shape.ncoeffs / 2;
  PetscScalar   *diagonal = m + middle * n;

  for (PetscInt i = 0; i < n; i++) diagonal[i] = own[i];
  for (int o = 0; o < st->shape.ncoeffs; o++) {
    for (int p = 0; p < 3 && o != middle; p++) {
      const PetscReal before = IsBefore(st, line, o, part[p]) ? 1 : 0;

      for (PetscInt i = part[p]; i < part[p + 1]; i++) {
        diagonal[i] += before * PetscRealPart(PetscConj(a[o * n + i]) * m[o * n + i]) * PetscRealPart(own[i]);
        m[o * n + i] = -m[o * n + i];
      }
    }
  }
}

/* Half of the coefficients is stored if that suffices for the operator */
static PetscErrorCode FillStencil(Mat A, const PetscScalar inverse[], Mat M, PetscInt *bad)
{
  const KCycleStencil *st = KCycleStencilOf(A);
  const PetscInt       n = st->box->n[0], all = st->shape.ncoeffs * n;
  PetscBool            same = PETSC_FALSE;
  PetscScalar         *a, *m;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(all, &a, all, &m));
  for (int half = st->half; half >= 0 && !same; half--) {
    same = PETSC_TRUE;
    PetscCall(MatStencilStoreBegin(M, (PetscBool)half));
    for (PetscInt line = 0; line < st->box->nlines && same; line++) {
      PetscCall(MatStencilGetLine(A, line, a));
      PetscCall(PetscArraycpy(m, a, all));
      MatStencilScaleLine(st, line, inverse, inverse, inverse + st->box->npoints, m);
      FillLine(st, line, inverse + line * n, a, m);
      for (PetscInt i = 0; i < n; i++) {
        const PetscScalar d = m[st->shape.ncoeffs / 2 * n + i];

        if (d - d != (PetscScalar)0.0) *bad = PetscMin(*bad, A->rmap->rstart + line * n + i);
      }
      PetscCall(MatStencilStoreLine(M, line, m, &same));
    }
  }
  PetscCall(MatStencilStoreEnd(M));
  PetscCall(PetscObjectStateIncrease((PetscObject)M));
  PetscCall(PetscFree2(a, m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCIncPoissonSimpleSetUp(PC pc, Vec diagonal)
{
  PC_IncPoisson     *ip  = (PC_IncPoisson *)pc->data;
  PetscInt           bad = PETSC_INT_MAX;
  const PetscScalar *d;
  PetscScalar       *inverse;
  KCycleRows        *rows;

  PetscFunctionBegin;
  if (!ip->M) PetscCall(MatDuplicate(pc->pmat, MAT_DO_NOT_COPY_VALUES, &ip->M));
  PetscCall(KCycleRowsCreate(pc->pmat, "PCINCPOISSON", &rows));
  PetscCall(PetscCalloc1(rows->n + rows->nghost, &inverse)); /* zeros beyond boundaries */
  PetscCall(VecGetArrayRead(diagonal, &d));
  for (PetscInt i = 0; i < rows->n; i++) inverse[i] = 1 / PetscRealPart(d[i]);
  PetscCall(VecRestoreArrayRead(diagonal, &d));
  PetscCall(KCycleRowsExchange(rows, MPIU_SCALAR, inverse, inverse + rows->n));
  if (rows->st) PetscCall(FillStencil(pc->pmat, inverse, ip->M, &bad));
  else PetscCall(FillAIJ(pc->pmat, rows, inverse, diagonal, ip->M, &bad));
  PetscCall(PetscFree(inverse));
  PetscCall(KCycleRowsDestroy(&rows));
  PetscCall(PCIncPoissonFailNotFinite(pc, bad));
  PetscFunctionReturn(PETSC_SUCCESS);
}
