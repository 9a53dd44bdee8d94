/*
  A copy of an operator with some of its rows on other processes. Most rows stay where they are, so they are copied as they lie in memory, and only the others are sent.
*/
#include <petsckcycle/private/kcycleimpl.h>
#include <petsckcycle/private/findimpl.h>

/* Rows [first, end) of the copy: so many come from processes below and above, the others are owned */
typedef struct {
  KCycleIndices      ix;
  PetscInt           first, end, below, above;
  const PetscScalar *a, *oa;
  Mat               *sent;
  const PetscInt    *si, *sj;
  const PetscScalar *sa;
} Rows;

static PetscErrorCode Fetch(Rows *rows)
{
  const KCycleIndices *ix = &rows->ix;
  PetscInt             n, *row;
  PetscBool            done;
  IS                   which, all;

  PetscFunctionBegin;
  rows->below = PetscMax(PetscMin(rows->end, ix->start) - rows->first, 0);
  rows->above = PetscMax(rows->end - PetscMax(rows->first, ix->start + ix->n), 0);
  PetscCall(PetscMalloc1(rows->below + rows->above, &row));
  for (PetscInt r = 0; r < rows->below; r++) row[r] = rows->first + r;
  for (PetscInt r = 0; r < rows->above; r++) row[rows->below + r] = rows->end - rows->above + r;
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, rows->below + rows->above, row, PETSC_OWN_POINTER, &which));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, ix->N, 0, 1, &all));
  PetscCall(MatCreateSubMatrices(ix->A, 1, &which, &all, MAT_INITIAL_MATRIX, &rows->sent));
  PetscCall(ISDestroy(&which));
  PetscCall(ISDestroy(&all));
  PetscCall(MatGetRowIJ(rows->sent[0], 0, PETSC_FALSE, PETSC_FALSE, &n, &rows->si, &rows->sj, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "The matrix does not show its rows");
  PetscCall(MatSeqAIJGetArrayRead(rows->sent[0], &rows->sa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Release(Rows *rows)
{
  PetscInt  n;
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJRestoreArrayRead(rows->sent[0], &rows->sa));
  PetscCall(MatRestoreRowIJ(rows->sent[0], 0, PETSC_FALSE, PETSC_FALSE, &n, &rows->si, &rows->sj, &done));
  PetscCall(MatDestroySubMatrices(1, &rows->sent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of the copy: columns that are its own, counted from its first one, and others by their global numbers */
typedef struct {
  PetscInt    *i, *j, *oi, *oj;
  PetscScalar *a, *oa;
} Arrays;

static PetscErrorCode ArraysDestroy(KCycleCtxDestroyArg arg)
{
  Arrays *to = (Arrays *)KCycleCtxFromDestroyArg(arg);

  PetscFunctionBegin;
  PetscCall(PetscFree3(to->i, to->j, to->a));
  PetscCall(PetscFree3(to->oi, to->oj, to->oa));
  PetscCall(PetscFree(to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline void Put(const Rows *rows, PetscInt column, PetscScalar value, Arrays *to, PetscInt *m, PetscInt *om)
{
  if (column >= rows->first && column < rows->end) {
    to->j[*m]     = column - rows->first;
    to->a[(*m)++] = value;
  } else {
    to->oj[*om]     = column;
    to->oa[(*om)++] = value;
  }
}

/* An owned row, its columns ascending: those of other processes lie below and above */
static void CopyOwned(const Rows *rows, PetscInt r, Arrays *to, PetscInt *m, PetscInt *om)
{
  const KCycleIndices *ix = &rows->ix;
  PetscInt             e  = ix->oi[r];

  for (; e < ix->oi[r + 1] && ix->columns[ix->oj[e]] < ix->start; e++) Put(rows, ix->columns[ix->oj[e]], rows->oa[e], to, m, om);
  for (PetscInt d = ix->i[r]; d < ix->i[r + 1]; d++) Put(rows, ix->start + ix->j[d], rows->a[d], to, m, om);
  for (; e < ix->oi[r + 1]; e++) Put(rows, ix->columns[ix->oj[e]], rows->oa[e], to, m, om);
}

/* The copy keeps the arrays, which it does not own */
static PetscErrorCode CreateCopy(const Rows *rows, Mat *B)
{
  const KCycleIndices *ix = &rows->ix;
  const PetscInt       n = rows->end - rows->first, owned = n - rows->below - rows->above, nsent = rows->below + rows->above;
  const PetscInt       first    = rows->first + rows->below - ix->start; /* of the owned ones */
  PetscInt             nonzeros = rows->si[nsent], m = 0, om = 0;
  PetscContainer       container;
  Arrays              *to;

  PetscFunctionBegin;
  if (owned) nonzeros += ix->i[first + owned] - ix->i[first] + ix->oi[first + owned] - ix->oi[first];
  PetscCall(PetscNew(&to));
  PetscCall(PetscMalloc3(n + 1, &to->i, nonzeros, &to->j, nonzeros, &to->a));
  PetscCall(PetscMalloc3(n + 1, &to->oi, nonzeros, &to->oj, nonzeros, &to->oa));
  to->i[0] = to->oi[0] = 0;
  for (PetscInt r = 0; r < n; r++) {
    const PetscInt sent = r < rows->below ? r : r - owned;

    if (r >= rows->below && r < rows->below + owned) CopyOwned(rows, first + r - rows->below, to, &m, &om);
    else {
      for (PetscInt e = rows->si[sent]; e < rows->si[sent + 1]; e++) Put(rows, rows->sj[e], rows->sa[e], to, &m, &om);
    }
    to->i[r + 1]  = m;
    to->oi[r + 1] = om;
  }
  PetscCall(MatCreateMPIAIJWithSplitArrays(ix->comm, n, n, ix->N, ix->N, to->i, to->j, to->a, to->oi, to->oj, to->oa, B));
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, to));
  PetscCall(KCycleContainerSetCtxDestroy(container, ArraysDestroy));
  PetscCall(PetscObjectCompose((PetscObject)*B, "KCycleArrays", (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective; on several processes. Rows [first, end) are those that this process has of the copy, and its columns */
PetscErrorCode KCycleMatMoveRows(Mat A, PetscInt first, PetscInt end, Mat *B)
{
  Rows rows;

  PetscFunctionBegin;
  PetscCall(KCycleIndicesGet(A, &rows.ix));
  PetscCall(MatSeqAIJGetArrayRead(rows.ix.diagonal, &rows.a));
  PetscCall(MatSeqAIJGetArrayRead(rows.ix.off, &rows.oa));
  rows.first = first;
  rows.end   = end;
  PetscCall(Fetch(&rows));
  PetscCall(CreateCopy(&rows, B));
  PetscCall(Release(&rows));
  PetscCall(MatSeqAIJRestoreArrayRead(rows.ix.diagonal, &rows.a));
  PetscCall(MatSeqAIJRestoreArrayRead(rows.ix.off, &rows.oa));
  PetscCall(KCycleIndicesRestore(&rows.ix));
  PetscFunctionReturn(PETSC_SUCCESS);
}
