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
static void Put(Mat_Stencil *st, InsertMode mode, const PetscInt degree[], const PetscInt coefficient[],
                const PetscScalar value[])
{
  const PetscInt n  = st->s.box->n[0];
  PetscInt       at = 0;

  for (PetscInt r = 0; r < st->s.box->npoints; r++) {
    PetscScalar *to = st->dense + (size_t)(r / n) * st->s.shape.ncoeffs * n + r % n;

    for (PetscInt d = 0; d < degree[r]; d++, at++) {
      if (mode == ADD_VALUES) to[coefficient[at] * n] += value[at];
      else to[coefficient[at] * n] = value[at];
    }
  }
}

/* The leaves of the star forest are the values to send, its roots the rows */
static PetscErrorCode Exchange(Mat A, InsertMode mode, PetscInt n, const PetscInt rows[], const PetscInt coefficients[],
                               const PetscScalar values[])
{
  const PetscInt *degree;
  PetscInt        total = 0, *coefficient;
  PetscScalar    *value;
  PetscSF         sf;

  PetscFunctionBegin;
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)A), &sf));
  PetscCall(PetscSFSetRankOrder(sf, PETSC_TRUE));
  PetscCall(PetscSFSetGraphLayout(sf, A->rmap, n, NULL, PETSC_OWN_POINTER, rows));
  PetscCall(PetscSFComputeDegreeBegin(sf, &degree));
  PetscCall(PetscSFComputeDegreeEnd(sf, &degree));
  for (PetscInt r = 0; r < A->rmap->n; r++) total += degree[r];
  PetscCall(PetscMalloc2(total, &coefficient, total, &value));
  PetscCall(PetscSFGatherBegin(sf, MPIU_INT, coefficients, coefficient));
  PetscCall(PetscSFGatherEnd(sf, MPIU_INT, coefficients, coefficient));
  PetscCall(PetscSFGatherBegin(sf, MPIU_SCALAR, values, value));
  PetscCall(PetscSFGatherEnd(sf, MPIU_SCALAR, values, value));
  Put((Mat_Stencil *)A->data, mode, degree, coefficient, value);
  PetscCall(PetscFree2(coefficient, value));
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilOffProcessSend(Mat A)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;
  InsertMode   mode;
  KCycleCount  n    = 0;
  Away        *away = NULL;
  PetscInt    *rows, *coefficients;
  PetscScalar *values;

  PetscFunctionBegin;
  if (A->nooffprocentries) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FindMode(A, &mode));
  if (mode == NOT_SET_VALUES) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStencilExpand(A));
  if (st->away) {
    PetscCall(PetscSegBufferGetSize(st->away, &n));
    PetscCall(PetscSegBufferExtractInPlace(st->away, &away));
  }
  PetscCall(PetscMalloc3(n, &rows, n, &coefficients, n, &values));
  for (KCycleCount i = 0; i < n; i++) {
    rows[i]         = away[i].row;
    coefficients[i] = away[i].coefficient;
    values[i]       = away[i].value;
  }
  PetscCall(Exchange(A, mode, (PetscInt)n, rows, coefficients, values));
  PetscCall(PetscFree3(rows, coefficients, values));
  PetscCall(MatStencilOffProcessReset(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
