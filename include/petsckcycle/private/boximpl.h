/*
  The part of a DMDA that a process owns, as lines in x, and the halo lines around it.

  Line (j, k) holds the points (0..n[0]-1, j, k) of the owned box. Lines with j = -1 or n[1], k = -1 or n[2] belong to
  neighbours and lie in a halo buffer; those outside the grid are one line of zeros there. So a kernel needs pointers to
  neighbour lines and no padded copy of a vector:

                 k+1   . . . o . . .           halo buffer: [ zeros | halo lines | points left of lines | points right of lines ]
       y         k     . . o x o . .
       |__ x     k-1   . . . o . . .
*/
#pragma once

#include <petsckcycle/private/compat.h>
#include <petsckcycle/private/threads.h>
#include <petscdmda.h>
#include <petscsf.h>

typedef struct {
  PetscInt    dim;
  PetscInt    size[3];  /* points of the grid; 1 in directions beyond dim */
  PetscInt    start[3]; /* first point of the owned box */
  PetscInt    n[3];     /* points of the owned box */
  PetscBool   periodic[3];
  PetscBool   star; /* the DMDA has a star stencil */
  PetscInt    nproc[3];
  PetscInt   *first[3]; /* first point of each process, and one past the last */
  PetscInt   *rows;     /* first global row of each process */
  PetscMPIInt rank;
  PetscInt    npoints;     /* owned points */
  PetscInt    nlines;      /* owned lines */
  PetscInt    reach[3];    /* 1 in directions of the grid, 0 beyond: halo lines on each side */
  PetscInt    nextended;   /* owned and halo lines */
  PetscInt   *slot;        /* where each extended line starts in the halo buffer; -1: owned; 0: outside the grid */
  PetscBool   ends;        /* points left and right of lines exist: x is periodic or cut */
  PetscInt    left, right; /* where these points start in the halo buffer, in the order of extended lines */
  PetscInt    nhalo;       /* length of a halo buffer */
  PetscSF     sf[2];       /* exchange without and with the corner lines: the same where none are corners */
} KCycleBox;

PETSC_INTERN PetscErrorCode KCycleDMDACheck(DM, size_t, char[]);
PETSC_INTERN PetscErrorCode KCycleNumberRows(const PetscInt[], PetscInt *const[], PetscInt, PetscInt **);

/* Attached to the DM, made when first asked for; lives as long as the DM */
PETSC_INTERN PetscErrorCode KCycleBoxGet(DM, KCycleBox **);
PETSC_INTERN PetscErrorCode KCycleBoxCheck(DM, size_t, char[]);
PETSC_INTERN PetscErrorCode KCycleBoxHaloCreate(const KCycleBox *, PetscScalar **);
PETSC_INTERN PetscErrorCode KCycleBoxExchangeBegin(const KCycleBox *, PetscBool, const PetscScalar *, PetscScalar *);
PETSC_INTERN PetscErrorCode KCycleBoxExchangeEnd(const KCycleBox *, PetscBool, const PetscScalar *, PetscScalar *);
PETSC_EXTERN PetscErrorCode KCycleBoxExchange(const KCycleBox *, PetscBool, const PetscScalar *, PetscScalar *); /* for smoothers of programs */
PETSC_INTERN PetscErrorCode KCycleBoxReduce(const KCycleBox *, const PetscScalar *, PetscScalar *);
PETSC_INTERN PetscErrorCode KCycleBoxRowToPoint(const KCycleBox *, PetscInt, PetscInt[]);
PETSC_INTERN PetscInt       KCycleBoxPointToRow(const KCycleBox *, const PetscInt[]);

static inline PetscInt KCycleBoxExtended(const KCycleBox *box, PetscInt j, PetscInt k)
{
  return (j + box->reach[1]) + (box->n[1] + 2 * box->reach[1]) * (k + box->reach[2]);
}

/* The points of line (j, k), owned or not */
static inline const PetscScalar *KCycleBoxLine(const KCycleBox *box, const PetscScalar *x, const PetscScalar *halo, PetscInt j, PetscInt k)
{
  if (j >= 0 && j < box->n[1] && k >= 0 && k < box->n[2]) return x + box->n[0] * (j + box->n[1] * k);
  return halo + box->slot[KCycleBoxExtended(box, j, k)];
}

/* Does any process hold points that another one reads, or does the grid wrap around? */
static inline PetscBool KCycleBoxTalks(const KCycleBox *box)
{
  for (PetscInt d = 0; d < box->dim; d++) {
    if (box->periodic[d] || box->nproc[d] > 1) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* Do neighbours read all points of line (j, k)? Of other lines they read the two ends at most, where box->ends */
static inline PetscBool KCycleBoxLineIsSeen(const KCycleBox *box, PetscInt j, PetscInt k)
{
  const PetscInt at[3] = {0, j, k};

  for (PetscInt d = 1; d < box->dim; d++) {
    if ((box->periodic[d] || box->nproc[d] > 1) && (at[d] == 0 || at[d] == box->n[d] - 1)) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}
