/*
  PCFASTPOISSON reads the rows of a matrix on a DMDA once, line by line in x: the entries of a line become seven arrays,
  one for each neighbour.
*/
#include "fastpoissonimpl.h"

#if defined(KCYCLE_HAVE_FASTPOISSON)

static void Note(KCycleFPFault *fault, PetscInt row, PetscInt column, PetscReal found, PetscReal expected)
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
  MPI_Comm    comm  = PetscObjectComm((PetscObject)pc);
  PetscInt    first = fault->row;
  PetscMPIInt rank, size, mine;
  PetscReal   values[2] = {fault->found, fault->expected};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Allreduce(&fault->row, &first, 1, MPIU_INT, MPI_MIN, comm));
  if (first == PETSC_INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  rank = fault->row == first ? rank : size;
  PetscCallMPI(MPI_Allreduce(&rank, &mine, 1, MPI_INT, MPI_MIN, comm));
  fault->row = first;
  PetscCallMPI(MPI_Bcast(&fault->column, 1, MPIU_INT, mine, comm));
  PetscCallMPI(MPI_Bcast(values, 2, MPIU_REAL, mine, comm));
  fault->found    = values[0];
  fault->expected = values[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A fault of any process is an error, or a failure where it is no number */
PetscErrorCode KCycleFPFaultCheck(PC pc, KCycleFPFault *fault)
{
  char text[256];

  PetscFunctionBegin;
  PetscCall(KCycleFPFaultFirst(pc, fault));
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

static PetscErrorCode BeginStencil(Mat A, KCycleFPRows *r)
{
  PetscFunctionBegin;
  PetscCall(MatStencilNeedValues(A));
  r->st = KCycleStencilOf(A);
  PetscCheck(KCycleBoxIsSame(r->st->box, r->box), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
             "The matrix is a stencil on another grid than the DM of the preconditioner: give both the same DM");
  PetscCall(PetscMalloc1(r->st->shape.ncoeffs * r->box->n[0], &r->dense));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BeginAIJ(Mat A, PetscBool parallel, KCycleFPRows *r)
{
  PetscFunctionBegin;
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &r->diagonal, &r->off, NULL));
  else r->diagonal = A;
  PetscCall(KCycleAIJGetArrays(r->diagonal, &r->i, &r->j, &r->a));
  if (r->off) PetscCall(KCycleAIJGetArrays(r->off, &r->oi, &r->oj, &r->oa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleFPRowsBegin(Mat A, const KCycleBox *box, KCycleFPRows *r)
{
  PetscBool stencil, seqaij, mpiaij, half, has;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(r, sizeof(*r)));
  r->A   = A;
  r->box = box;
  PetscCall(MatGetOwnershipRange(A, &r->start, NULL));
  PetscCall(MatStencilIs(A, &stencil));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &seqaij));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpiaij));
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, &half, MATSEQSBAIJ, MATMPISBAIJ, ""));
  PetscCall(MatHasOperation(A, MATOP_GET_ROW, &has));
  PetscCheck(has && !half, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "PCFASTPOISSON reads the rows of the operator, and one of type %s does not show whole ones: use -mat_type "
             "aij or -dm_mat_type stencil",
             ((PetscObject)A)->type_name);
  if (stencil) PetscCall(BeginStencil(A, r));
  else if (seqaij || mpiaij) PetscCall(BeginAIJ(A, mpiaij, r));
  for (int q = 0; q < KC_STAR; q++) PetscCall(PetscCalloc1(box->n[0], &r->own[q]));
  PetscCall(PetscCalloc1(box->n[0], &r->zeros));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleFPRowsEnd(KCycleFPRows *r)
{
  PetscFunctionBegin;
  if (r->i) PetscCall(KCycleAIJRestoreArrays(r->diagonal, &r->i, &r->j, &r->a));
  if (r->oi) PetscCall(KCycleAIJRestoreArrays(r->off, &r->oi, &r->oj, &r->oa));
  for (int q = 0; q < KC_STAR; q++) PetscCall(PetscFree(r->own[q]));
  PetscCall(PetscFree(r->zeros));
  PetscCall(PetscFree(r->dense));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which entry of a star leads from a point of this process to one step numbers behind it, if that is a neighbour, too;
   or -1 */
static int DecodeOwn(const KCycleBox *box, const PetscInt at[], PetscInt step)
{
  PetscInt stride = 1;

  if (!step) return KC_STAR_DIAGONAL;
  for (int d = 0; d < 3; d++) {
    const PetscInt place = at[d] - box->start[d];

    if (step == stride && place + 1 < box->n[d]) return KC_STAR_OF(d, 1);
    if (step == -stride && place > 0) return KC_STAR_OF(d, 0);
    stride *= box->n[d];
  }
  return -1;
}

/* Which entry of a star leads from a point, whose row that is, to a column, or -1 */
static int Decode(const KCycleBox *box, const PetscInt at[], PetscInt row, PetscInt column)
{
  const PetscInt first = box->rows[box->rank], end = box->rows[box->rank + 1];
  PetscInt       to[3];
  int            q = column >= first && column < end ? DecodeOwn(box, at, column - row) : -1;

  if (q >= 0) return q;
  q = KC_STAR_DIAGONAL;

  (void)KCycleBoxRowToPoint(box, column, to);
  for (int d = 0; d < 3; d++) {
    PetscInt step = to[d] - at[d];

    if (!step) continue;
    if (box->periodic[d] && box->size[d] > 2 && PetscAbs(step) == box->size[d] - 1) step = step > 0 ? -1 : 1;
    if (PetscAbs(step) > 1 || q != KC_STAR_DIAGONAL) return -1;
    q = KC_STAR_OF(d, step > 0);
  }
  return q;
}

/* The row of a point, in coordinates of the grid, that this process owns */
PetscErrorCode KCycleFPRowsPoint(KCycleFPRows *r, const PetscInt at[], PetscReal c[], KCycleFPFault *fault)
{
  const PetscInt     row = KCycleBoxPointToRow(r->box, at);
  const PetscInt    *cols;
  const PetscScalar *values;
  PetscInt           m;

  PetscFunctionBegin;
  for (int q = 0; q < KC_STAR; q++) c[q] = 0;
  PetscCall(MatGetRow(r->A, row, &m, &cols, &values));
  for (PetscInt e = 0; e < m; e++) {
    const int q = Decode(r->box, at, row, cols[e]);

    if (q >= 0) c[q] += values[e];
    else if (values[e] != 0) Note(fault, row, cols[e], values[e], 0);
    if (PetscIsInfOrNanReal(values[e])) Note(fault, row, cols[e], values[e], 0);
  }
  PetscCall(MatRestoreRow(r->A, row, &m, &cols, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Point i of a line, entry by entry */
static PetscErrorCode ReadPoint(KCycleFPRows *r, PetscInt i, PetscInt j, PetscInt k, KCycleFPFault *fault)
{
  const PetscInt *start = r->box->start, at[3] = {start[0] + i, start[1] + j, start[2] + k};
  PetscReal       c[KC_STAR];

  PetscFunctionBegin;
  PetscCall(KCycleFPRowsPoint(r, at, c, fault));
  for (int q = 0; q < KC_STAR; q++) {
    if (c[q] != 0 && !(r->mask & 1u << q)) PetscCall(PetscArrayzero(r->own[q], r->box->n[0]));
    if (c[q] != 0) r->mask |= 1u << q;
    if (r->mask & 1u << q) r->own[q][i] = c[q];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows from i on that have m entries, which lead where those of the row before i do; the first row that has not */
static inline PetscInt CopyRows(const KCycleFPRows *r, PetscInt base, PetscInt i, PetscInt m, const PetscInt off[],
                                PetscScalar *const to[])
{
  const PetscInt n = r->box->n[0];

  for (; i < n; i++) {
    const PetscInt     row = base + i, *j = r->j + r->i[row];
    const PetscScalar *a     = r->a + r->i[row];
    PetscInt           wrong = r->i[row + 1] - r->i[row] - m;

    if (r->oi) wrong |= r->oi[row + 1] - r->oi[row];
    if (wrong) break;
    for (PetscInt e = 0; e < m; e++) wrong |= j[e] - row - off[e];
    if (wrong) break;
    for (PetscInt e = 0; e < m; e++) to[e][i] = a[e];
  }
  return i;
}

/* Most rows of a line have their entries in the same places; the row at hand tells where */
static PetscErrorCode ReadLineAIJ(KCycleFPRows *r, PetscInt j, PetscInt k, KCycleFPFault *fault)
{
  const KCycleBox *box  = r->box;
  const PetscInt   base = box->n[0] * (j + box->n[1] * k);

  PetscFunctionBegin;
  r->mask = 0;
  for (PetscInt i = 0; i < box->n[0];) {
    const PetscInt row = base + i, first = r->i[row], m = r->i[row + 1] - first;
    const PetscInt at[3] = {box->start[0] + i, box->start[1] + j, box->start[2] + k};
    PetscInt       off[KC_STAR];
    PetscScalar   *to[KC_STAR];
    unsigned       mask    = 0;
    PetscBool      regular = (PetscBool)(i > 0 && m <= KC_STAR && !(r->oi && r->oi[row + 1] > r->oi[row]));

    for (PetscInt e = 0; e < m && regular; e++) {
      const int q = Decode(box, at, r->start + row, r->start + r->j[first + e]);

      regular = (PetscBool)(q >= 0 && !(mask & 1u << q));
      if (!regular) break;
      off[e] = r->j[first + e] - row;
      to[e]  = r->own[q];
      mask |= 1u << q;
    }
    /* Arrays that others of these points do not set must be zero there */
    if (regular && (i == 1 || mask == r->mask)) {
      for (int q = 0; q < KC_STAR; q++) {
        if ((mask & ~r->mask & 1u << q) && i > 0) PetscCall(PetscArrayzero(r->own[q], i));
        if (r->mask & ~mask & 1u << q) PetscCall(PetscArrayzero(r->own[q] + i, box->n[0] - i));
      }
      r->mask |= mask;
      i = m == 5   ? CopyRows(r, base, i, 5, off, to)
          : m == 7 ? CopyRows(r, base, i, 7, off, to)
                   : CopyRows(r, base, i, m, off, to);
    } else PetscCall(ReadPoint(r, i++, j, k, fault));
  }
  for (int q = 0; q < KC_STAR; q++) r->c[q] = r->mask & 1u << q ? r->own[q] : NULL;
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
      Note(fault, row, KCycleBoxPointToRow(box, at), r->dense[o * box->n[0] + i], 0);
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

static PetscErrorCode ReadLineStencil(KCycleFPRows *r, PetscInt j, PetscInt k, KCycleFPFault *fault)
{
  const KCycleShape *shape   = &r->st->shape;
  const PetscInt     line[3] = {0, j, k}, n = r->box->n[0];
  const int          find[KC_STAR] = {4, 10, 12, 13, 14, 16, 22}; /* places in shape->find */

  PetscFunctionBegin;
  PetscCall(MatStencilGetLine(r->A, j + r->box->n[1] * k, r->dense));
  for (int q = 0; q < KC_STAR; q++) r->c[q] = shape->find[find[q]] < 0 ? NULL : r->dense + shape->find[find[q]] * n;
  if (shape->box) PetscCall(CheckCorners(r, j, k, fault));
  Fold(r, line);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r->c: arrays with the entries of the points of a line of this process, or NULL: all zero */
PetscErrorCode KCycleFPRowsLine(KCycleFPRows *r, PetscInt j, PetscInt k, KCycleFPFault *fault)
{
  PetscFunctionBegin;
  if (r->st) PetscCall(ReadLineStencil(r, j, k, fault));
  else if (r->i) PetscCall(ReadLineAIJ(r, j, k, fault));
  else {
    r->mask = 0;
    for (PetscInt i = 0; i < r->box->n[0]; i++) PetscCall(ReadPoint(r, i, j, k, fault));
    for (int q = 0; q < KC_STAR; q++) r->c[q] = r->mask & 1u << q ? r->own[q] : NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
