/*
  PCFASTPOISSON reads the rows of a matrix on a DMDA line by line in x: the entries of a line become seven arrays, one
  for each neighbour.
*/
#include "fastpoissonimpl.h"

#if defined(KCYCLE_HAVE_FASTPOISSON)

/* Of the faults of this process the one in the first row is kept */
void KCycleFPFaultNote(KCycleFPFault *fault, PetscInt row, PetscInt column, PetscReal found, PetscReal expected)
{
  if (row >= fault->row) return;
  fault->row      = row;
  fault->column   = column;
  fault->found    = found;
  fault->expected = expected;
}

/* The first fault of all processes */
PetscErrorCode KCycleFPFaultFirst(PC pc, KCycleFPFault *fault)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)pc);
  PetscInt    first;
  PetscMPIInt rank, size, owner;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Allreduce(&fault->row, &first, 1, MPIU_INT, MPI_MIN, comm));
  if (first == PETSC_INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  if (fault->row != first) rank = size;
  PetscCallMPI(MPI_Allreduce(&rank, &owner, 1, MPI_INT, MPI_MIN, comm));
  PetscCallMPI(MPI_Bcast(fault, (PetscMPIInt)sizeof(*fault), MPI_BYTE, owner, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first fault of all processes is an error, or a failure where it is no number */
PetscErrorCode KCycleFPFaultCheck(PC pc, KCycleFPFault *fault)
{
  char text[256];

  PetscFunctionBegin;
  if (fault->row == PETSC_INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  if (PetscIsInfOrNanReal(fault->found)) {
    PetscCall(PetscSNPrintf(text, sizeof(text),
                            "The operator has a NaN or Inf in row %" PetscInt_FMT ", column %" PetscInt_FMT
                            ": look for a division by zero or an unset coefficient in its assembly",
                            fault->row, fault->column));
    PetscCall(PCFastPoissonFail(pc, text));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  SETERRQ(PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
          "PCFASTPOISSON is for separable operators with 3, 5 or 7 points, and this one is none: row %" PetscInt_FMT
          ", column %" PetscInt_FMT
          " has %.15g, where %.15g is expected. Use -pc_fastpoisson_approximate with -ksp_type cg, or -pc_type kcycle",
          fault->row, fault->column, (double)fault->found, (double)fault->expected);
}

/* The column of entry q of a star in the row of a point */
PetscInt KCycleFPColumn(const KCycleBox *box, const PetscInt at[], int q)
{
  PetscInt  to[3] = {at[0], at[1], at[2]};
  const int d     = q < KC_STAR_DIAGONAL ? KC_STAR_DIAGONAL - 1 - q : q - KC_STAR_DIAGONAL - 1;

  if (q != KC_STAR_DIAGONAL) to[d] = (to[d] + (q > KC_STAR_DIAGONAL ? 1 : box->size[d] - 1)) % box->size[d];
  return KCycleBoxPointToRow(box, to);
}

PetscErrorCode KCycleFPRowsBegin(Mat A, const KCycleBox *box, KCycleFPRows *r)
{
  const int          find[KC_STAR] = {4, 10, 12, 13, 14, 16, 22}; /* indices in shape->find */
  const KCycleShape *shape         = &r->star;
  PetscBool          stencil, aij, half, has;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(r, sizeof(*r)));
  r->A   = A;
  r->box = box;
  KCycleShapeCreate(box->dim, 0, &r->star);
  PetscCall(MatStencilIs(A, &stencil));
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, &half, MATSEQSBAIJ, MATMPISBAIJ, ""));
  PetscCall(MatHasOperation(A, MATOP_GET_ROW, &has));
  PetscCheck(has && !half, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "PCFASTPOISSON reads the rows of the operator, and one of type %s does not show whole ones: use -mat_type "
             "aij or -dm_mat_type stencil",
             ((PetscObject)A)->type_name);
  if (stencil) {
    PetscCall(MatStencilNeedValues(A));
    r->st = KCycleStencilOf(A);
    shape = &r->st->shape;
    PetscCheck(KCycleBoxIsSame(r->st->box, box), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
               "The matrix is a stencil on another grid than the DM of the preconditioner: give both the same DM");
  } else if (aij) PetscCall(KCycleAIJLinesCreate(A, box, PETSC_FALSE, &r->lines));
  PetscCall(PetscMalloc1(shape->ncoeffs * box->n[0], &r->dense));
  for (int q = 0; q < KC_STAR; q++)
    r->c[q] = shape->find[find[q]] < 0 ? NULL : r->dense + shape->find[find[q]] * box->n[0];
  PetscCall(PetscCalloc1(box->n[0], &r->zeros));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleFPRowsEnd(KCycleFPRows *r)
{
  PetscFunctionBegin;
  PetscCall(KCycleAIJLinesDestroy(&r->lines, NULL));
  PetscCall(PetscFree(r->zeros));
  PetscCall(PetscFree(r->dense));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which entry of a star leads from a point, relative to those of this process, to a column, or -1 */
static int Decode(const KCycleFPRows *r, const PetscInt at[], PetscInt column)
{
  PetscInt to[3];
  int      o;

  (void)KCycleBoxRowToPoint(r->box, column, to);
  for (int d = 0; d < 3; d++) to[d] -= r->box->start[d];
  o = KCycleFindOffset(r->box, &r->star, at, to);
  return o < 0 ? -1 : o - r->star.ncoeffs / 2 + KC_STAR_DIAGONAL;
}

/* The row of a point, in coordinates of the grid, that this process owns */
PetscErrorCode KCycleFPRowsPoint(KCycleFPRows *r, const PetscInt point[], PetscReal c[], KCycleFPFault *fault)
{
  const PetscInt    *start = r->box->start, at[3] = {point[0] - start[0], point[1] - start[1], point[2] - start[2]};
  const PetscInt     row = KCycleBoxPointToRow(r->box, point);
  const PetscInt    *cols;
  const PetscScalar *values;
  PetscInt           m;

  PetscFunctionBegin;
  for (int q = 0; q < KC_STAR; q++) c[q] = 0;
  PetscCall(MatGetRow(r->A, row, &m, &cols, &values));
  for (PetscInt e = 0; e < m; e++) {
    const int q = Decode(r, at, cols[e]);

    if (q >= 0) c[q] += values[e];
    else if (values[e] != 0) KCycleFPFaultNote(fault, row, cols[e], values[e], 0);
    if (PetscIsInfOrNanReal(values[e])) KCycleFPFaultNote(fault, row, cols[e], values[e], 0);
  }
  PetscCall(MatRestoreRow(r->A, row, &m, &cols, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entry by entry, where these do not fit a star, or rows are shown by nothing but MatGetRow() */
static PetscErrorCode ReadPoints(KCycleFPRows *r, PetscInt j, PetscInt k, KCycleFPFault *fault)
{
  const PetscInt *start = r->box->start;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < r->box->n[0]; i++) {
    const PetscInt at[3] = {start[0] + i, start[1] + j, start[2] + k};
    PetscReal      c[KC_STAR];

    PetscCall(KCycleFPRowsPoint(r, at, c, fault));
    for (int q = 0; q < KC_STAR; q++) {
      if (r->c[q]) r->c[q][i] = c[q];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coefficients outside the star must be zero */
static PetscErrorCode CheckCorners(KCycleFPRows *r, PetscInt j, PetscInt k, KCycleFPFault *fault)
{
  const KCycleShape *shape = &r->st->shape;
  const KCycleBox   *box   = r->box;

  PetscFunctionBegin;
  for (int o = 0; o < shape->ncoeffs; o++) {
    const int y = shape->dy[shape->line[o]], z = shape->dz[shape->line[o]];

    if ((shape->dx[o] != 0) + (y != 0) + (z != 0) < 2) continue;
    for (PetscInt i = 0; i < box->n[0]; i++) {
      PetscInt at[3] = {box->start[0] + i, box->start[1] + j, box->start[2] + k}, row;

      if (r->dense[o * box->n[0] + i] == 0) continue;
      row = KCycleBoxPointToRow(box, at);
      at[0] += shape->dx[o];
      at[1] += y;
      at[2] += z;
      for (int d = 0; d < 3; d++) at[d] = (at[d] + box->size[d]) % box->size[d];
      KCycleFPFaultNote(fault, row, KCycleBoxPointToRow(box, at), r->dense[o * box->n[0] + i], 0);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Directions that wrap around and have one point or two: both neighbours are the same */
static void Fold(KCycleFPRows *r, const PetscInt line[])
{
  const KCycleBox *box = r->box;

  for (int d = 0; d < box->dim; d++) {
    PetscScalar *low = r->c[KC_STAR_OF(d, 0)], *up = r->c[KC_STAR_OF(d, 1)];

    if (!box->periodic[d] || box->size[d] > 2 || !low || !up) continue;
    for (PetscInt i = 0; i < box->n[0]; i++) {
      const PetscInt at = box->start[d] + (d ? line[d] : i);
      PetscScalar   *to = box->size[d] == 1 ? &r->c[KC_STAR_DIAGONAL][i] : at ? &low[i] : &up[i], sum = low[i] + up[i];

      if (box->size[d] == 1) sum += *to;
      low[i] = up[i] = 0;
      *to            = sum;
    }
  }
}

/* r->c: arrays with the entries of the points of a line of this process, or NULL: all zero */
PetscErrorCode KCycleFPRowsLine(KCycleFPRows *r, PetscInt j, PetscInt k, KCycleFPFault *fault)
{
  const PetscInt at[3] = {0, j, k}, line = j + r->box->n[1] * k;

  PetscFunctionBegin;
  if (r->st) {
    PetscCall(MatStencilGetLine(r->A, line, r->dense));
    if (r->st->shape.box) PetscCall(CheckCorners(r, j, k, fault));
    Fold(r, at);
  } else {
    /* entries of other rows are likely not to fit, too */
    if (r->lines && KCycleAIJLinesGet(r->lines, &r->star, line, r->dense) != KC_FITS)
      PetscCall(KCycleAIJLinesDestroy(&r->lines, NULL));
    if (!r->lines) PetscCall(ReadPoints(r, j, k, fault));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
