/*
  From stencil to AIJ. Rows have all columns of the stencil, zeros included, so that the pattern never changes.
*/
#include "matstencil.h"

/* The row of a point of this process, its line given: columns ascending; returns how many */
PetscInt MatStencilRow(const KCycleStencil *st, const KCycleLine *l, const PetscInt point[], PetscInt cols[],
                       PetscScalar values[])
{
  const KCycleBox   *box   = st->box;
  const KCycleShape *shape = &st->shape;
  PetscInt           m     = 0;

  for (int o = 0; o < shape->ncoeffs; o++) {
    const PetscInt    at[3] = {point[0] + shape->dx[o], point[1] + shape->dy[shape->line[o]],
                               point[2] + shape->dz[shape->line[o]]};
    const PetscScalar value = KCycleLineCoefficient(l, o, point[0]);
    PetscInt          col, to;

    if (at[0] >= 0 && at[0] < box->n[0] && at[1] >= 0 && at[1] < box->n[1] && at[2] >= 0 && at[2] < box->n[2]) {
      col = box->rows[box->rank] + at[0] + box->n[0] * (at[1] + box->n[1] * at[2]);
    } else {
      const PetscInt global[3] = {at[0] + box->start[0], at[1] + box->start[1], at[2] + box->start[2]};

      col = KCycleBoxPointToRow(box, global);
      if (col < 0) continue;
    }
    for (to = m; to > 0 && cols[to - 1] > col; to--) {
    }
    if (to > 0 && cols[to - 1] == col) {
      values[to - 1] += value;
      continue;
    }
    for (PetscInt t = m++; t > to; t--) {
      cols[t]   = cols[t - 1];
      values[t] = values[t - 1];
    }
    cols[to]   = col;
    values[to] = value;
  }
  return m;
}

/* Writes all rows one after the other */
static void FillRows(const KCycleStencil *st, PetscInt start[], PetscInt cols[], PetscScalar values[])
{
  const PetscInt *n = st->box->n;
  KCycleLine      l;

  start[0] = 0;
  for (PetscInt r = 0; r < st->box->npoints; r++) {
    const PetscInt at[3] = {r % n[0], r / n[0] % n[1], r / n[0] / n[1]};

    if (!at[0]) KCycleLineCoefficients(st, at[1], at[2], &l);
    start[r + 1] = start[r] + MatStencilRow(st, &l, at, cols + start[r], values + start[r]);
  }
}

/* B takes the place of A, with what belongs to the problem rather than to the type: its DM, numberings and null
   spaces */
PetscErrorCode MatStencilReplaceHeader(Mat A, Mat *B)
{
  DM dm;

  PetscFunctionBegin;
  PetscCall(MatGetDM(A, &dm));
  PetscCall(MatSetDM(*B, dm));
  if (A->rmap->mapping && A->cmap->mapping)
    PetscCall(MatSetLocalToGlobalMapping(*B, A->rmap->mapping, A->cmap->mapping));
  (*B)->stencil = A->stencil;
  PetscCall(MatSetNullSpace(*B, A->nullsp));
  PetscCall(MatSetTransposeNullSpace(*B, A->transnullsp));
  PetscCall(MatSetNearNullSpace(*B, A->nearnullsp));
  (*B)->nonzerostate = PetscMax(A->nonzerostate, (*B)->nonzerostate) + 1; /* the pattern is another's */
  PetscCall(MatHeaderReplace(A, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Has a matrix just these entries in its rows, on all processes? */
static PetscErrorCode HasPattern(Mat B, const PetscInt start[], const PetscInt cols[], PetscBool *has)
{
  int mine = 1, all;

  PetscFunctionBegin;
  for (PetscInt r = 0; mine && r < B->rmap->n; r++) {
    const PetscInt *own, m = start[r + 1] - start[r];
    PetscInt        n;

    PetscCall(MatGetRow(B, B->rmap->rstart + r, &n, &own, NULL));
    mine = n == m && !memcmp(own, cols + start[r], (size_t)m * sizeof(*cols));
    PetscCall(MatRestoreRow(B, B->rmap->rstart + r, &n, &own, NULL));
  }
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)B)));
  *has = (PetscBool)all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetPattern(Mat B, const PetscInt start[], const PetscInt cols[], const PetscScalar values[])
{
  PetscFunctionBegin;
  PetscCall(MatSeqAIJSetPreallocationCSR(B, start, cols, values));
  PetscCall(MatMPIAIJSetPreallocationCSR(B, start, cols, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values for an AIJ matrix that was made before; it gets a new pattern, too, where the stencil has another shape
   since */
static PetscErrorCode Refill(Mat B, const PetscInt start[], const PetscInt cols[], const PetscScalar values[])
{
  const PetscObjectState before = B->nonzerostate;
  PetscBool              has    = B->assembled;

  PetscFunctionBegin;
  if (has) PetscCall(HasPattern(B, start, cols, &has));
  if (!has) {
    PetscCall(SetPattern(B, start, cols, values));
    B->nonzerostate = PetscMax(B->nonzerostate, before + 1);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt r = 0; r < B->rmap->n; r++) {
    const PetscInt row = B->rmap->rstart + r;

    PetscCall(MatSetValues(B, 1, &row, start[r + 1] - start[r], cols + start[r], values + start[r], INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckReused(Mat A, Mat B)
{
  PetscBool isaij;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)B, &isaij, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCheck(isaij && B->rmap->n == A->rmap->n && B->cmap->n == A->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "The matrix to reuse is of type %s and has %" PetscInt_FMT " rows and %" PetscInt_FMT
             " columns on this process, where one of type aij with %" PetscInt_FMT " of each is needed: make it with "
             "MatConvert(mat, MATAIJ, MAT_INITIAL_MATRIX, &aij)",
             ((PetscObject)B)->type_name, B->rmap->n, B->cmap->n, A->rmap->n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatConvert_Stencil_AIJ(Mat A, MatType type, MatReuse reuse, Mat *aij)
{
  Mat_Stencil *st     = (Mat_Stencil *)A->data;
  const size_t length = (size_t)st->s.box->npoints * st->s.shape.ncoeffs;
  PetscInt    *start, *cols, most;
  PetscScalar *values;
  Mat          B = reuse == MAT_REUSE_MATRIX ? *aij : NULL;
  DM           dm;

  PetscFunctionBegin;
  PetscCall(MatStencilNeedValues(A));
  if (B) PetscCall(CheckReused(A, B));
  PetscCall(PetscIntCast((PetscInt64)length, &most)); /* places of rows are PetscInt in AIJ too */
  PetscCall(PetscMalloc3(st->s.box->npoints + 1, &start, length, &cols, length, &values));
  FillRows(&st->s, start, cols, values);
  if (!B) {
    PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &B));
    PetscCall(MatSetSizes(B, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
    PetscCall(MatSetType(B, type));
    PetscCall(SetPattern(B, start, cols, values));
    PetscCall(MatGetDM(A, &dm));
    PetscCall(MatSetDM(B, dm));
  } else PetscCall(Refill(B, start, cols, values));
  PetscCall(PetscFree3(start, cols, values));
  if (reuse == MAT_INPLACE_MATRIX) PetscCall(MatStencilReplaceHeader(A, &B));
  else *aij = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* To types other than AIJ: through it */
PetscErrorCode MatConvertTo_Stencil(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  Mat aij;

  PetscFunctionBegin;
  PetscCall(MatConvert_Stencil_AIJ(A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
  if (reuse == MAT_INPLACE_MATRIX) {
    PetscCall(MatConvert(aij, type, MAT_INPLACE_MATRIX, &aij));
    PetscCall(MatStencilReplaceHeader(A, &aij));
  } else {
    PetscCall(MatConvert(aij, type, reuse, B));
    PetscCall(MatDestroy(&aij));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
