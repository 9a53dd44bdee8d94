/*
  Subdomains of deflation: every point gets a label, 0 ... number of subdomains - 1.

  Points are known by their natural number i + nx (j + ny k), so that subdomains do not depend on the process grid. A
  piece, a connected part of a box, is known by the least natural number of its points; what is in no other piece of
  box b is piece N + b, N being the number of points.
*/
#pragma once

#include <petsckcycle/private/rowsimpl.h>

/* The grid of a DMDA with one unknown a point, cut into boxes */
typedef struct {
  const KCycleBox *grid;
  PetscInt         npoints; /* of the grid */
  PetscInt         boxes[3], nboxes;
} KCycleSubdomains;

/* Pieces of a grid, while they are found and merged */
typedef struct {
  MPI_Comm                comm;
  const KCycleSubdomains *sub;
  const KCycleRows       *rows;          /* numbers and exchange of points and ghosts */
  const PetscInt         *natural, *box; /* of points: their natural numbers, in which box they are */
  /* of points, while they are joined: towards the first of its tree; -1: isolated, and in no piece */
  PetscInt               *parent;
  PetscInt                nlocal;    /* pieces that have points on this process */
  PetscInt               *local;     /* of points, afterwards and in the same array: which of these; -1: none */
  PetscInt               *id;        /* of pieces */
  PetscInt               *size;      /* of pieces, their parts on other processes included */
  PetscInt               *at;        /* of points and ghosts: the piece, by its id; -1: none; if there are ghosts */
  PetscLayout             directory; /* who keeps what is known of a piece, by its id */
  PetscSF                 sf;        /* from the directory to pieces */
} KCyclePieces;

PETSC_INTERN PetscErrorCode KCycleSubdomainsChoose(MPI_Comm, KCycleSubdomains *, const PetscInt boxes[], PetscInt size);
PETSC_INTERN void           KCycleSubdomainsNatural(const KCycleSubdomains *, PetscInt[]);
PETSC_INTERN void           KCycleSubdomainsBoxes(const KCycleSubdomains *, PetscInt[]);
PETSC_INTERN PetscInt       KCycleSubdomainsBoxOf(const KCycleSubdomains *, PetscInt natural);
PETSC_INTERN PetscErrorCode KCycleLabelsCheck(MPI_Comm, PetscInt, const PetscInt[], PetscInt *number);

/* pieces.c; cross: pairs of a point and a ghost that are connected */
PETSC_INTERN PetscErrorCode KCyclePiecesCreate(MPI_Comm, const KCycleSubdomains *, const KCycleRows *,
                                               const PetscInt natural[], const PetscInt box[], KCyclePieces **);
PETSC_INTERN PetscErrorCode KCyclePiecesDestroy(KCyclePieces **);
PETSC_INTERN PetscErrorCode KCyclePiecesFind(KCyclePieces *, PetscInt ncross, const PetscInt cross[]);
PETSC_INTERN PetscErrorCode KCyclePiecesBest(const KCyclePieces *, PetscReal best[]);
PETSC_INTERN PetscErrorCode KCyclePiecesMerge(KCyclePieces *, const PetscInt choice[]);
PETSC_INTERN PetscErrorCode KCyclePiecesBound(KCyclePieces *, PetscInt most);
PETSC_INTERN PetscErrorCode KCyclePiecesNumber(const KCyclePieces *, PetscInt label[], PetscInt *number);

/* The piece, by its id, of a point or ghost; -1: none */
static inline PetscInt KCyclePiecesIdAt(const KCyclePieces *p, PetscInt i)
{
  if (i >= p->rows->n) return p->at[i];
  return p->local[i] < 0 ? -1 : p->id[p->local[i]];
}
