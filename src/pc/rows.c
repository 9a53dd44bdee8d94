/*
  Rows of an operator, stored as AIJ or as a stencil.
*/
#include <petsckcycle/private/deviceimpl.h>
#include <petsckcycle/private/rowsimpl.h>

static PetscErrorCode CreateFromAIJ(Mat A, KCycleRows *r)
{
  const PetscInt *i, *oi;
  PetscInt        most = 0;

  PetscFunctionBegin;
  PetscCall(KCycleAIJGet(A, PETSC_TRUE, &r->aij));
  r->nghost = r->aij.ncolumns;
  i         = r->aij.i[0];
  oi        = r->aij.i[1];
  for (PetscInt row = 0; oi && row < r->n; row++) most = PetscMax(most, i[row + 1] - i[row] + oi[row + 1] - oi[row]);
  if (r->aij.mat[1]) PetscCall(PetscMalloc2(most, &r->cols, most, &r->values));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)A), &r->sf));
  PetscCall(PetscSFSetGraphLayout(r->sf, A->rmap, r->nghost, NULL, PETSC_OWN_POINTER, r->aij.columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateFromStencil(Mat A, KCycleRows *r)
{
  PetscFunctionBegin;
  PetscCall(MatStencilNeedValues(A));
  r->st     = KCycleStencilOf(A);
  r->nghost = r->st->box->nhalo;
  r->line   = -1;
  r->sf     = KCycleBoxGetSF(r->st->box, PETSC_TRUE);
  PetscCall(PetscObjectReference((PetscObject)r->sf));
  PetscCall(PetscMalloc2(KC_MAX_COEFFS, &r->cols, KC_MAX_COEFFS, &r->values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* user: who needs the rows, for the error message */
PetscErrorCode KCycleRowsCreate(Mat A, const char user[], KCycleRows **rows)
{
  PetscBool stencil, seqaij, mpiaij;

  PetscFunctionBegin;
  PetscCall(PetscNew(rows));
  PetscCall(MatGetLocalSize(A, &(*rows)->n, NULL));
  PetscCall(MatStencilIs(A, &stencil));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &seqaij));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpiaij));
  PetscCheck(stencil || seqaij || mpiaij, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "%s reads the rows of the operator, and one of type %s does not show them: use -mat_type aij or "
             "-dm_mat_type stencil",
             user, ((PetscObject)A)->type_name);
  if (stencil) PetscCall(CreateFromStencil(A, *rows));
  else PetscCall(CreateFromAIJ(A, *rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The type of the rows that an AIJ matrix has on this process if it is one for devices; NULL if it is the host's, as
   that of a stencil is */
PetscErrorCode KCycleRowsDeviceType(Mat A, MatType *type)
{
  PetscBool seqaij, mpiaij, fordevices;

  PetscFunctionBegin;
  *type = NULL;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &seqaij));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpiaij));
  if (!seqaij && !mpiaij) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleMatForDevices(A, &fordevices));
  if (!fordevices) PetscFunctionReturn(PETSC_SUCCESS);
  if (mpiaij) PetscCall(MatMPIAIJGetSeqAIJ(A, &A, NULL, NULL));
  PetscCall(MatGetType(A, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleRowsDestroy(KCycleRows **rows)
{
  KCycleRows *r = *rows;

  PetscFunctionBegin;
  if (!r) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleAIJRestore(&r->aij));
  PetscCall(PetscSFDestroy(&r->sf));
  PetscCall(PetscFree2(r->cols, r->values));
  PetscCall(PetscFree(*rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From what owned points have to ghosts */
PetscErrorCode KCycleRowsExchange(const KCycleRows *r, MPI_Datatype unit, const void *own, void *ghosts)
{
  PetscFunctionBegin;
  PetscCall(PetscSFBcastBegin(r->sf, unit, own, ghosts, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(r->sf, unit, own, ghosts, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the points of the neighbour lines of a line stand */
static void EnterLine(KCycleRows *r, PetscInt line)
{
  const KCycleBox   *box   = r->st->box;
  const KCycleShape *shape = &r->st->shape;
  const PetscInt     j = line % box->n[1], k = line / box->n[1];
  PetscInt           start[KC_MAX_LINES];

  r->line = line;
  KCycleLineCoefficients(r->st, j, k, &r->at);
  for (int q = 0; q < shape->nl; q++) {
    const PetscInt  jj = j + shape->dy[q], kk = k + shape->dz[q], e = KCycleBoxExtended(box, jj, kk);
    const PetscBool owned = (PetscBool)(box->offset[e] < 0);

    r->outside[q] = !owned && !box->offset[e];
    start[q]      = owned ? box->n[0] * (jj + box->n[1] * kk) : box->npoints + box->offset[e];
    r->left[q]    = box->xhalo && !r->outside[q] ? box->npoints + box->left + e : -1;
    r->right[q]   = box->xhalo && !r->outside[q] ? box->npoints + box->right + e : -1;
  }
  for (int o = 0; o < shape->ncoeffs; o++) {
    r->coefficient[o] = r->at.constant ? r->at.end[0] + o * r->at.stride : r->at.c[o];
    r->column[o]      = start[shape->line[o]] + shape->dx[o];
  }
}

/* The first and the last point of a line */
static PetscInt EndRow(KCycleRows *r, PetscInt i)
{
  const KCycleShape *shape = &r->st->shape;
  PetscInt           m     = 0;

  for (int o = 0; o < shape->ncoeffs; o++) {
    const PetscInt    q = shape->line[o], to = i + shape->dx[o];
    const PetscScalar value = KCycleLineCoefficient(&r->at, o, i);
    const PetscInt column   = r->outside[q] ? -1 : to < 0 ? r->left[q] : to >= r->at.n ? r->right[q] : r->column[o] + i;

    if (value == (PetscScalar)0.0 || column < 0) continue;
    r->cols[m]     = column;
    r->values[m++] = value;
  }
  return m;
}

PetscInt KCycleRowsStencil(KCycleRows *r, PetscInt row)
{
  const KCycleShape *shape = &r->st->shape;
  const PetscInt     n = r->st->box->n[0], line = row / n, i = row - line * n;
  PetscInt           m = 0;

  if (line != r->line) EnterLine(r, line);
  if (i == 0 || i == n - 1) return EndRow(r, i);
  for (int o = 0; o < shape->ncoeffs; o++) {
    const PetscScalar value = r->coefficient[o][i];

    r->cols[m]   = r->column[o] + i;
    r->values[m] = value;
    m += value != (PetscScalar)0.0 && !r->outside[shape->line[o]];
  }
  return m;
}

/* Is a point isolated? */
PetscBool KCycleRowsIsIsolated(KCycleRows *r, PetscInt row)
{
  const PetscInt    *cols;
  const PetscScalar *values;
  PetscInt           m;

  if (r->st) {
    const PetscInt n = r->st->box->n[0], line = row / n, i = row - line * n, middle = r->st->shape.ncoeffs / 2;

    if (line != r->line) EnterLine(r, line);
    if (i > 0 && i < n - 1 && r->coefficient[middle + 1][i] != (PetscScalar)0.0) return PETSC_FALSE;
  }
  m = KCycleRowsGet(r, row, &cols, &values);
  for (PetscInt k = 0; k < m; k++) {
    if (cols[k] != row && values[k] != (PetscScalar)0.0) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}
