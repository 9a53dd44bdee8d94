/*
  D A, where rows of A are those of a symmetric matrix that have been multiplied by numbers, as programs do that divide
  the balance of a cell by its volume: a diagonal D makes the matrix symmetric again.
*/
#include "matstencil.h"

/* Does a coupling differ from the opposite one? Those that are one-way say nothing */
static PetscErrorCode CompareEdge(void *context, const KCycleEdge *edge)
{
  PetscFunctionBegin;
  if (edge->a != (PetscScalar)0.0 && edge->b != (PetscScalar)0.0 &&
      PetscAbsScalar(edge->a - edge->b) > 1000 * PETSC_MACHINE_EPSILON * PetscAbsScalar(edge->a))
    *(int *)context = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. Do couplings with points of other processes, or around a periodic end, differ from the opposite ones? */
static PetscErrorCode EdgesDiffer(Mat A, PetscBool *differ)
{
  int mine = 0, all;

  PetscFunctionBegin;
  *differ = PETSC_FALSE;
  if (!KCycleBoxTalks(KCycleStencilOf(A)->box)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStencilVisitEdges(A, KCycleStencilOf(A)->shape.ncoeffs / 2 + 1, CompareEdge, &mine));
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  *differ = (PetscBool)all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Couplings of a line with points where others have coefficient o with it, in the means of what both rows say, and the
   same row sum as before. c: coefficient o of all points */
static void BalanceLine(const KCycleStencil *st, PetscInt line, int o, const PetscScalar *const d[2],
                        const PetscScalar *const c[2], PetscScalar *values)
{
  const KCycleShape *shape = &st->shape;
  const PetscInt     n = st->box->n[0], j = line % st->box->n[1], k = line / st->box->n[1];
  PetscScalar       *coupling = values + (shape->ncoeffs - 1 - o) * n, *diagonal = values + shape->ncoeffs / 2 * n;

  for (PetscInt i = 0; i < n; i++) {
    const PetscInt    at[3] = {i - shape->dx[o], j - shape->dy[shape->line[o]], k - shape->dz[shape->line[o]]};
    const PetscScalar mine  = d[0][line * n + i] * coupling[i];
    PetscScalar       theirs, factor;

    coupling[i] = mine;
    if (mine == (PetscScalar)0.0 || !MatStencilValueAt(st->box, c[0], c[1], at, &theirs)) continue;
    (void)MatStencilValueAt(st->box, d[0], d[1], at, &factor);
    if (theirs == (PetscScalar)0.0) continue; /* the row of a value that is held there */
    coupling[i] = (mine + factor * theirs) / 2;
    diagonal[i] += mine - coupling[i];
  }
}

/* Collective. A matrix of the caller */
static PetscErrorCode Scale(Mat A, const PetscScalar *d, Mat *B)
{
  const KCycleStencil *st  = KCycleStencilOf(A);
  const KCycleBox     *box = st->box;
  const PetscInt       n   = box->n[0];
  PetscScalar         *dhalo, *c, *halo, *dense;

  PetscFunctionBegin;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
  PetscCall(MatStencilExpand(*B));
  dense = ((Mat_Stencil *)(*B)->data)->dense;
  PetscCall(PetscMalloc1(box->npoints, &c));
  PetscCall(KCycleBoxHaloCreate(box, &dhalo));
  PetscCall(KCycleBoxHaloCreate(box, &halo));
  PetscCall(KCycleBoxExchange(box, PETSC_TRUE, d, dhalo));
  for (PetscInt line = 0; line < box->nlines; line++) {
    PetscScalar *diagonal = dense + ((size_t)line * st->shape.ncoeffs + st->shape.ncoeffs / 2) * n;

    for (PetscInt i = 0; i < n; i++) diagonal[i] *= d[line * n + i];
  }
  for (int o = 0; o < st->shape.ncoeffs; o++) {
    const PetscScalar *const factor[2] = {d, dhalo}, *const coefficient[2] = {c, halo};

    if (o == st->shape.ncoeffs / 2) continue;
    MatStencilCopyCoefficient(st, o, c);
    PetscCall(KCycleBoxExchange(box, PETSC_TRUE, c, halo));
    for (PetscInt line = 0; line < box->nlines; line++)
      BalanceLine(st, line, o, factor, coefficient, dense + (size_t)line * st->shape.ncoeffs * n);
  }
  PetscCall(PetscFree(c));
  PetscCall(PetscFree(dhalo));
  PetscCall(PetscFree(halo));
  PetscCall(MatStencilStoreDense(*B));
  PetscCall(PetscObjectStateIncrease((PetscObject)*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. B = D A of the caller, symmetric; NULL where A is symmetric, or there is no such D. d: D on the points of
   this process, of the caller */
PetscErrorCode MatStencilBalance(Mat A, PetscScalar **d, Mat *B)
{
  const KCycleScan *scan;
  KCycleParts       parts;
  PetscBool         differ = PETSC_TRUE;

  PetscFunctionBegin;
  *d = NULL;
  *B = NULL;
  PetscCall(MatStencilScanAsymmetry(A, &scan));
  if (!(scan->unequal > 1000 * PETSC_MACHINE_EPSILON)) PetscCall(EdgesDiffer(A, &differ));
  if (!differ) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStencilFindParts(A, 0, PETSC_TRUE, &parts));
  if (parts.balanced && parts.unequal) {
    PetscCall(Scale(A, parts.d, B));
    *d      = parts.d;
    parts.d = NULL;
  }
  PetscCall(KCyclePartsDestroy(&parts));
  PetscFunctionReturn(PETSC_SUCCESS);
}
