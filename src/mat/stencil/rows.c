/*
  Single rows of a stencil matrix: they are shown, or made rows of the identity.
*/
#include "matstencil.h"

static PetscErrorCode MatGetRow_Stencil(Mat A, PetscInt row, PetscInt *m, PetscInt **cols, PetscScalar **values)
{
  Mat_Stencil    *st = (Mat_Stencil *)A->data;
  const PetscInt *n = st->s.box->n, r = row - A->rmap->rstart, at[3] = {r % n[0], r / n[0] % n[1], r / n[0] / n[1]};
  KCycleLine      l;
  PetscInt        count;

  PetscFunctionBegin;
  PetscCheck(row >= A->rmap->rstart && row < A->rmap->rend, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Row %" PetscInt_FMT " is not on this process", row);
  PetscCall(MatStencilNeedValues(A));
  KCycleLineCoefficients(&st->s, at[1], at[2], &l);
  count = MatStencilRow(&st->s, &l, at, st->rowcols, st->rowvalues);
  if (m) *m = count;
  if (cols) *cols = st->rowcols;
  if (values) *values = st->rowvalues;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of rows of this process; zero where the stencil has no entry */
static PetscErrorCode MatGetValues_Stencil(Mat A, PetscInt m, const PetscInt rows[], PetscInt n, const PetscInt cols[],
                                           PetscScalar values[])
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < m; r++) {
    PetscScalar *v;
    PetscInt    *own, count;

    if (rows[r] < 0) continue;
    PetscCall(MatGetRow_Stencil(A, rows[r], &count, &own, &v));
    for (PetscInt c = 0; c < n; c++) {
      PetscInt at;

      if (cols[c] < 0) continue;
      PetscCheck(cols[c] < A->cmap->N, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
                 "Column too large: %" PetscInt_FMT " of %" PetscInt_FMT, cols[c], A->cmap->N);
      PetscCall(PetscFindInt(cols[c], count, own, &at));
      values[r * n + c] = at < 0 ? 0 : v[at];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b = diagonal x in the rows that are replaced */
static PetscErrorCode SetRightSide(PetscInt m, const PetscInt rows[], PetscScalar diagonal, Vec x, Vec b)
{
  const PetscScalar *xa;
  PetscScalar       *ba;

  PetscFunctionBegin;
  if (!x || !b) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(VecGetArray(b, &ba));
  for (PetscInt r = 0; r < m; r++) ba[rows[r]] = diagonal * xa[rows[r]];
  PetscCall(VecRestoreArray(b, &ba));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of this process, by their number in it */
static void ReplaceRows(Mat_Stencil *st, PetscInt m, const PetscInt rows[], PetscScalar diagonal)
{
  const PetscInt n = st->s.box->n[0], nc = st->s.shape.ncoeffs;

  for (PetscInt r = 0; r < m; r++) {
    PetscScalar *entry = st->dense + (size_t)(rows[r] / n) * nc * n + rows[r] % n;

    for (int o = 0; o < nc; o++) entry[o * n] = o == nc / 2 ? diagonal : 0;
  }
}

static PetscErrorCode MatZeroRows_Stencil(Mat A, PetscInt m, const PetscInt rows[], PetscScalar diagonal, Vec x, Vec b)
{
  PetscInt count, *mine;

  PetscFunctionBegin;
  PetscCall(MatStencilExpand(A));
  PetscCall(PetscLayoutMapLocal(A->rmap, m, rows, &count, &mine, NULL));
  ReplaceRows((Mat_Stencil *)A->data, count, mine, diagonal);
  PetscCall(SetRightSide(count, mine, diagonal, x, b));
  PetscCall(PetscFree(mine));
  PetscCall(MatStencilStoreDense(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What marked columns, known for the owned box and its halo, contribute to the rows of a line goes to b */
static void ZeroColumns(Mat_Stencil *st, PetscInt line, const PetscScalar *mark, const PetscScalar *x, PetscScalar *b)
{
  const KCycleBox   *box   = st->s.box;
  const KCycleShape *shape = &st->s.shape;
  const PetscInt     n = box->n[0], j = line % box->n[1], k = line / box->n[1];

  for (int o = 0; o < shape->ncoeffs; o++) {
    const PetscInt jj = j + shape->dy[shape->line[o]], kk = k + shape->dz[shape->line[o]],
                   e         = KCycleBoxExtended(box, jj, kk);
    const PetscScalar *marks = KCycleBoxLine(box, mark, st->back, jj, kk),
                      *xs    = x ? KCycleBoxLine(box, x, st->s.halo, jj, kk) : NULL;
    PetscScalar *v           = st->dense + ((size_t)line * shape->ncoeffs + o) * n;

    for (PetscInt i = 0; i < n; i++) {
      const PetscInt  at = i + shape->dx[o], index = at < 0 ? box->left + e : box->right + e;
      const PetscBool out = (PetscBool)(at < 0 || at >= n);

      if (out && !box->xhalo) continue;
      if ((out ? st->back[index] : marks[at]) == (PetscScalar)0.0) continue;
      if (x && b) b[line * n + i] -= v[i] * (out ? st->s.halo[index] : xs[at]);
      v[i] = 0;
    }
  }
}

static PetscErrorCode MatZeroRowsColumns_Stencil(Mat A, PetscInt m, const PetscInt rows[], PetscScalar diagonal, Vec x,
                                                 Vec b)
{
  Mat_Stencil       *st = (Mat_Stencil *)A->data;
  PetscInt           count, *mine;
  PetscScalar       *mark, *ba = NULL;
  const PetscScalar *xa = NULL;

  PetscFunctionBegin;
  PetscCall(MatStencilExpand(A));
  PetscCall(MatStencilGetBack(st));
  PetscCall(PetscLayoutMapLocal(A->rmap, m, rows, &count, &mine, NULL));
  PetscCall(PetscCalloc1(st->s.box->npoints, &mark));
  for (PetscInt r = 0; r < count; r++) mark[mine[r]] = 1;
  PetscCall(KCycleBoxExchange(st->s.box, PETSC_TRUE, mark, st->back));
  if (x) {
    PetscCall(VecGetArrayRead(x, &xa));
    PetscCall(KCycleBoxExchange(st->s.box, PETSC_TRUE, xa, st->s.halo));
  }
  if (b) PetscCall(VecGetArray(b, &ba));
  for (PetscInt line = 0; line < st->s.box->nlines; line++) ZeroColumns(st, line, mark, xa, ba);
  if (b) PetscCall(VecRestoreArray(b, &ba));
  if (x) PetscCall(VecRestoreArrayRead(x, &xa));
  ReplaceRows(st, count, mine, diagonal);
  PetscCall(SetRightSide(count, mine, diagonal, x, b));
  PetscCall(PetscFree(mine));
  PetscCall(PetscFree(mark));
  PetscCall(MatStencilStoreDense(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void MatStencilSetRowOps(Mat A)
{
  A->ops->getrow          = MatGetRow_Stencil;
  A->ops->getvalues       = MatGetValues_Stencil;
  A->ops->zerorows        = MatZeroRows_Stencil;
  A->ops->zerorowscolumns = MatZeroRowsColumns_Stencil;
}
