/*
  Values for rows of other processes: kept aside until assembly, which sends each to the owner of its row, in the order
  of the processes that set them.
*/
#include "matstencil.h"
#include <petscsf.h>

/* One coefficient of one row */
typedef struct {
  PetscInt    row, coefficient;
  PetscScalar value;
} Away;

PetscErrorCode MatStencilOffProcessAdd(Mat A, PetscInt row, int coefficient, PetscScalar value, InsertMode mode)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;
  Away        *away;

  PetscFunctionBegin;
  PetscCheck(!A->nooffprocentries, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "Row %" PetscInt_FMT " belongs to another process, though MatSetOption(mat, MAT_NO_OFF_PROC_ENTRIES, "
             "PETSC_TRUE) was called: set values of own rows only, or drop that call",
             row);
  if (!st->away) PetscCall(PetscSegBufferCreate(sizeof(*away), 256, &st->away));
  PetscCall(PetscSegBufferGet(st->away, 1, &away));
  away->row         = row;
  away->coefficient = coefficient;
  away->value       = value;
  st->awaymode      = mode;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilOffProcessReset(Mat A)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;

  PetscFunctionBegin;
  PetscCall(PetscSegBufferDestroy(&st->away));
  st->awaymode = NOT_SET_VALUES;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does any process have something for others, and do those that have all add or all insert? */
static PetscErrorCode FindMode(Mat A, InsertMode *mode)
{
  const InsertMode mine    = ((Mat_Stencil *)A->data)->awaymode;
  int              here[2] = {mine == ADD_VALUES, mine == INSERT_VALUES}, any[2];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(here, any, 2, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  PetscCheck(
      !any[0] || !any[1], PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
      "Some processes added values to rows of others, some inserted them: assemble with MAT_FLUSH_ASSEMBLY in between");
  *mode = any[0] ? ADD_VALUES : any[1] ? INSERT_VALUES : NOT_SET_VALUES;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What arrives, row by row; degree: how much for each row */
static void Put(Mat_Stencil *st, InsertMode mode, const PetscInt degree[], const Away *away)
{
  const PetscInt n = st->s.box->n[0];

  for (PetscInt r = 0; r < st->s.box->npoints; r++) {
    PetscScalar *to = st->dense + (size_t)(r / n) * st->s.shape.ncoeffs * n + r % n;

    for (PetscInt d = 0; d < degree[r]; d++, away++) {
      if (mode == ADD_VALUES) to[away->coefficient * n] += away->value;
      else to[away->coefficient * n] = away->value;
    }
  }
}

/* The leaves of the star forest are the values to send, its roots the rows */
PetscErrorCode MatStencilOffProcessSend(Mat A)
{
  Mat_Stencil    *st   = (Mat_Stencil *)A->data;
  InsertMode      mode = NOT_SET_VALUES;
  KCycleCount     n    = 0;
  Away           *away = NULL, *received;
  const PetscInt *degree;
  PetscInt       *rows, total = 0;
  MPI_Datatype    unit;
  PetscSF         sf;

  PetscFunctionBegin;
  if (A->nooffprocentries) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FindMode(A, &mode));
  if (mode == NOT_SET_VALUES) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStencilExpand(A));
  if (st->away) {
    PetscCall(PetscSegBufferGetSize(st->away, &n));
    PetscCall(PetscSegBufferExtractInPlace(st->away, &away));
  }
  PetscCall(PetscMalloc1(n, &rows));
  for (KCycleCount i = 0; i < n; i++) rows[i] = away[i].row;
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)A), &sf));
  PetscCall(PetscSFSetRankOrder(sf, PETSC_TRUE));
  PetscCall(PetscSFSetGraphLayout(sf, A->rmap, (PetscInt)n, NULL, PETSC_OWN_POINTER, rows));
  PetscCall(PetscSFComputeDegreeBegin(sf, &degree));
  PetscCall(PetscSFComputeDegreeEnd(sf, &degree));
  for (PetscInt r = 0; r < A->rmap->n; r++) total += degree[r];
  PetscCall(PetscMalloc1(total, &received));
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)sizeof(Away), MPI_BYTE, &unit));
  PetscCallMPI(MPI_Type_commit(&unit));
  PetscCall(PetscSFGatherBegin(sf, unit, away, received));
  PetscCall(PetscSFGatherEnd(sf, unit, away, received));
  PetscCallMPI(MPI_Type_free(&unit));
  Put(st, mode, degree, received);
  PetscCall(PetscFree(received));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(PetscFree(rows));
  PetscCall(MatStencilOffProcessReset(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
