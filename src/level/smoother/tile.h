/*
  Planes of a grid in the form that sweeps are fast on, for tile.c and boxtile.c.
*/
#pragma once

#include <petsckcycle/private/vectorsimpl.h>

/* Steps of a pass that may run after each other through a tile */
#define KC_TILE_STEPS 6

/* Lines first, first + by ... of plane t, before end */
typedef struct {
  PetscInt t, first, end, by;
} KCyclePlaneLines;

/* Restriction adds to the given lines of b */
typedef struct {
  const KCycleTransfer *tr;
  KCycleTransferLines   lines;
  KCScalar             *b;
} KCycleRestriction;

/* A class of lines */
typedef struct {
  const KCycleClass *constant; /* if it is constant but at its ends, or NULL */
  /* coefficients of the first and the last points, the inverse of each diagonal after them; if not constant: all
     coefficients */
  KCScalar          *ends;
} KCycleTileClass;

/* A few planes of x, b and coefficients in the form that red-black passes are fast on; see tile.c */
typedef struct {
  const KCycleStencil *st;
  const KCycleVectors *vectors;     /* where x and b are, or NULL */
  int                  nc, words;   /* coefficients; lines kept of each grid line */
  PetscInt             half, split; /* numbers of half a line, with and without the zeros before it */
  PetscInt             lead;        /* lines before the first one of a plane */
  /* lines of a strip; lines of a plane of the ring: of a strip, and what lies next to it */
  PetscInt             width, lines;
  PetscInt             base;          /* grid line that comes first in a plane of the ring */
  KCScalar            *memory, *ring; /* as allocated, and from the first address that suits vectors */
  /* coefficients of the first and the last point of each line of the ring that has its own block, the inverse
     of the diagonal after them */
  KCScalar            *ends;
  KCycleTileClass     *classes;
  PetscInt             nclasses;
  KCScalar            *residual; /* half a line for each thread */
  KCScalar            *line;     /* two lines for each thread */
  PetscReal           *sums;     /* of a pass */
} KCycleTile;

/* Numbers of a vector: lines of tiles begin at a multiple, after as many zeros */
#define KC_VECTOR 8

/* The coefficients of a line of a box stencil, or of a prism; those of point i on line q next to it, in its order:
   c[q][i], and where there are three c[q][i + step], c[q][i + 2 step] */
typedef struct {
  const KCScalar    *c[KC_MAX_LINES - 1], *left, *diagonal, *right;
  PetscInt           step[2]; /* for the lines before the middle one, and for those after it */
  const KCycleClass *constant;
} KCycleBoxCoefficients;

/* A few planes of x for passes with box stencils; see boxtile.c */
typedef struct {
  const KCycleStencil   *st;
  PetscInt               length;        /* numbers of a line */
  PetscInt               lead, lines;   /* lines before the first one of a plane; lines of a plane */
  PetscInt               planes;        /* of the ring */
  KCScalar              *memory, *ring; /* as allocated, and from the first address that suits vectors */
  KCScalar              *work;          /* two lines for each thread */
  PetscReal             *sums;          /* of a pass */
  KCycleBoxCoefficients *coefficients;  /* of each line */
} KCycleBoxTile;

/* tile.c */
PETSC_INTERN PetscErrorCode KCycleTileCreate(const KCycleStencil *, const KCycleVectors *, KCycleTile **);
PETSC_INTERN PetscErrorCode KCycleTileDestroy(KCycleTile **);
PETSC_INTERN void KCycleTilePackX(const KCycleTile *, const KCScalar *x, PetscInt plane, PetscInt low, PetscInt high);
PETSC_INTERN void KCycleTileStart(const KCycleTile *, const KCycleStart *, PetscInt plane, PetscInt low, PetscInt high);
PETSC_INTERN void KCycleTilePackB(const KCycleTile *, const KCScalar *b, PetscInt plane, PetscInt low, PetscInt high);
PETSC_INTERN void KCycleTileUnpack(const KCycleTile *, PetscInt plane, PetscInt low, PetscInt high, PetscBool converts,
                                   KCScalar *x);
PETSC_INTERN void KCycleTileRelaxZero(const KCycleTile *, const KCScalar *b, PetscInt plane, PetscInt low,
                                      PetscInt high, PetscInt parity);
PETSC_INTERN void KCycleTileRelax(const KCycleTile *, PetscInt plane, PetscInt low, PetscInt high, PetscInt parity);
PETSC_INTERN void KCycleTileRestrict(const KCycleTile *, PetscInt plane, PetscInt low, PetscInt high, PetscInt parity,
                                     const KCycleRestriction *);
PETSC_INTERN void KCycleTileInterpolate(const KCycleTile *, PetscInt plane, PetscInt low, PetscInt high,
                                        PetscInt parity, const KCycleTransfer *, const KCScalar *);

/* boxtile.c */
PETSC_INTERN PetscErrorCode KCycleBoxTileCreate(const KCycleStencil *, KCycleBoxTile **);
PETSC_INTERN PetscErrorCode KCycleBoxTileDestroy(KCycleBoxTile **);
PETSC_INTERN void           KCycleBoxTilePack(const KCycleBoxTile *, const KCScalar *x, PetscInt plane, PetscInt low,
                                              PetscInt high);
PETSC_INTERN void KCycleBoxTileUnpack(const KCycleBoxTile *, PetscInt plane, PetscInt low, PetscInt high, KCScalar *x);
PETSC_INTERN void KCycleBoxTileRelax(const KCycleBoxTile *, KCyclePlaneLines, PetscBool alone, const KCScalar *b,
                                     const KCScalar *const weights[]);
PETSC_INTERN void KCycleBoxTileRestrict(const KCycleBoxTile *, KCyclePlaneLines, const KCScalar *b,
                                        const KCycleRestriction *);
PETSC_INTERN void KCycleBoxTileInterpolate(const KCycleBoxTile *, PetscInt plane, PetscInt first, PetscInt end,
                                           const KCycleTransfer *, const KCScalar *);
