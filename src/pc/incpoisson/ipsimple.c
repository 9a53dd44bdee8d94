/*
  PCINCPOISSON on the operator's pattern, scaled, where no three unknowns are coupled with each other, as with 5 and 7
  points: no product K_ik K_jk of two entries off the diagonal falls on the pattern, and what is left of K K^T, K =
  D^-1 (D - L) D^-1/2, is

    M_ij = - a_ij / (d_i d_j),   i != j,        M_ii = 1 / d_i + sum over k < i of |a_ik|^2 / (d_i^2 d_k)
*/
#include "incpoissonimpl.h"

/* 1 / d and the numbers of rows, of the points of this process and ghosts */
static PetscErrorCode Prepare(const KCycleRows *rows, PetscInt start, Vec diagonal, PetscScalar *inverse,
                              PetscInt *number)
{
  const PetscScalar *d;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(diagonal, &d));
  for (PetscInt i = 0; i < rows->n; i++) {
    inverse[i] = 1 / PetscRealPart(d[i]);
    number[i]  = start + i;
  }
  PetscCall(VecRestoreArrayRead(diagonal, &d));
  PetscCall(KCycleRowsExchange(rows, MPIU_SCALAR, inverse, inverse + rows->n));
  PetscCall(KCycleRowsExchange(rows, MPIU_INT, number, number + rows->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonal of M. bad: first row with a NaN or Inf */
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

/* Line by line: half of the coefficients is stored if that suffices for the operator */
static PetscErrorCode FillStencil(Mat A, const PetscScalar inverse[], const PetscScalar diagonal[], Mat M)
{
  const KCycleStencil *st   = KCycleStencilOf(A);
  const PetscInt       n    = st->box->n[0];
  PetscBool            same = PETSC_FALSE;
  PetscScalar         *values, *centre;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(st->shape.ncoeffs * n, &values));
  centre = values + st->shape.ncoeffs / 2 * n;
  for (int half = st->half; half >= 0 && !same; half--) {
    same = PETSC_TRUE;
    PetscCall(MatStencilStoreBegin(M, (PetscBool)half));
    for (PetscInt line = 0; line < st->box->nlines && same; line++) {
      PetscCall(MatStencilGetLine(A, line, values));
      MatStencilScaleLine(st, line, inverse, inverse, inverse + st->box->npoints, values);
      for (PetscInt i = 0; i < st->shape.ncoeffs * n; i++) values[i] = -values[i];
      PetscCall(PetscArraycpy(centre, diagonal + line * n, n));
      PetscCall(MatStencilStoreLine(M, line, values, &same));
    }
  }
  PetscCall(MatStencilStoreEnd(M));
  PetscCall(PetscObjectStateIncrease((PetscObject)M));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCIncPoissonSimpleSetUp(PC pc, Vec diagonal)
{
  PC_IncPoisson *ip  = (PC_IncPoisson *)pc->data;
  PetscInt       bad = PETSC_INT_MAX, start, *number;
  PetscScalar   *inverse, *d;
  KCycleRows    *rows;
  Vec            own;

  PetscFunctionBegin;
  if (!ip->M) PetscCall(MatDuplicate(pc->pmat, MAT_DO_NOT_COPY_VALUES, &ip->M));
  PetscCall(KCycleRowsCreate(pc->pmat, "PCINCPOISSON", &rows));
  PetscCall(MatGetOwnershipRange(pc->pmat, &start, NULL));
  PetscCall(
      PetscCalloc2(rows->n + rows->nghost, &inverse, rows->n + rows->nghost, &number)); /* zeros beyond boundaries */
  PetscCall(Prepare(rows, start, diagonal, inverse, number));
  PetscCall(VecDuplicate(diagonal, &own));
  PetscCall(VecGetArrayWrite(own, &d));
  FindDiagonal(rows, inverse, number, d, &bad);
  if (rows->st) PetscCall(FillStencil(pc->pmat, inverse, d, ip->M));
  PetscCall(VecRestoreArrayWrite(own, &d));
  if (!rows->st) {
    PetscCall(VecReciprocal(diagonal));
    PetscCall(MatCopy(pc->pmat, ip->M, SAME_NONZERO_PATTERN));
    PetscCall(MatDiagonalScale(ip->M, diagonal, diagonal));
    PetscCall(MatScale(ip->M, -1));
    PetscCall(MatDiagonalSet(ip->M, own, INSERT_VALUES));
  }
  PetscCall(VecDestroy(&own));
  PetscCall(PetscFree2(inverse, number));
  PetscCall(KCycleRowsDestroy(&rows));
  PetscCall(PCIncPoissonFailNotFinite(pc, bad));
  PetscFunctionReturn(PETSC_SUCCESS);
}
