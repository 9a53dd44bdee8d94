/*
  The rows of an operator one after the other, whether it is stored as AIJ or as a stencil.

  Columns are numbers on this process: owned points come first, then ghosts, which an exchange fills from their owners:

    column  0 ... n - 1 | n ... n + nghost - 1
            owned         ghosts
*/
#pragma once

#include <petsckcycle/private/stencilimpl.h>

typedef struct {
  PetscInt             n, nghost;
  PetscSF              sf; /* from owned points to ghosts; ghosts that it does not reach are read by no row */
  KCycleAIJ            aij;
  /* stencil */
  const KCycleStencil *st;
  PetscInt             line; /* the line that is at hand: */
  KCycleLine           at;
  /* of its points but the first and the last */
  const PetscScalar   *coefficient[KC_MAX_COEFFS];
  /* of what the coefficients of its first point multiply, if there were points left of it */
  PetscInt             column[KC_MAX_COEFFS];
  /* is a neighbour line outside the grid; columns left and right of it, or -1 */
  PetscInt             outside[KC_MAX_LINES], left[KC_MAX_LINES], right[KC_MAX_LINES];
  /* one row */
  PetscInt            *cols;
  PetscScalar         *values;
} KCycleRows;

PETSC_INTERN PetscErrorCode KCycleRowsCreate(Mat, const char user[], KCycleRows **);
PETSC_INTERN PetscErrorCode KCycleRowsDestroy(KCycleRows **);
PETSC_INTERN PetscErrorCode KCycleRowsDeviceType(Mat, MatType *);
PETSC_INTERN PetscErrorCode KCycleRowsExchange(const KCycleRows *, MPI_Datatype, const void *own, void *ghosts);
PETSC_INTERN PetscInt       KCycleRowsStencil(KCycleRows *, PetscInt row);
PETSC_INTERN PetscBool      KCycleRowsIsIsolated(KCycleRows *, PetscInt row);

/* Entries of a row: how many; valid until the next call */
static inline PetscInt KCycleRowsGet(KCycleRows *r, PetscInt row, const PetscInt **cols, const PetscScalar **values)
{
  PetscInt m, mo;

  if (r->st) {
    *cols   = r->cols;
    *values = r->values;
    return KCycleRowsStencil(r, row);
  }
  m       = r->aij.i[0][row + 1] - r->aij.i[0][row];
  mo      = r->aij.mat[1] ? r->aij.i[1][row + 1] - r->aij.i[1][row] : 0;
  *cols   = r->aij.j[0] + r->aij.i[0][row];
  *values = r->aij.a[0] + r->aij.i[0][row];
  if (!mo) return m;
  for (PetscInt e = 0; e < m; e++) {
    r->cols[e]   = (*cols)[e];
    r->values[e] = (*values)[e];
  }
  for (PetscInt e = 0; e < mo; e++) {
    r->cols[m + e]   = r->n + r->aij.j[1][r->aij.i[1][row] + e];
    r->values[m + e] = r->aij.a[1][r->aij.i[1][row] + e];
  }
  *cols   = r->cols;
  *values = r->values;
  return m + mo;
}
