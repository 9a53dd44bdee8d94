/*
  Where a red-black tile (tile.c) has its numbers.

  In it a line is split into its points of even and of odd index, so that a half sweep computes the points of one colour
  only, from neighbours that lie side by side, and reads each array from its start:

    points       0 1 2 3 4 5 6                      even half    . 0 2 4 6 .
    red of odd lines, black of even ones            odd half     . 1 3 5 .        . is zero for x
*/
#pragma once

#include "tile.h"
#include <petsckcycle/private/systemsimpl.h>

#define MOST 7 /* coefficients of a star */

/* Planes of the ring: the steps of a pass, one plane after each other, and a plane on each side */
#define RING (KC_TILE_STEPS + 2)

/* Coefficients, of matrices that have lines with their own blocks: the upper half, as the lower one is that of
   neighbours */
typedef enum {
  WORD_X,
  WORD_B,
  WORD_INVERSE, /* of the diagonal */
  WORD_UPPER    /* +x, +y, +z */
} Word;

/* Where a line is in the ring */
typedef struct {
  PetscInt plane, line;
} Slot;

/* Line l of plane t; both may be one outside the grid */
static inline Slot SlotOf(const KCycleTile *w, PetscInt t, PetscInt l)
{
  const Slot slot = {(t + RING) % RING, l - w->base};

  return slot;
}

/*
  Points 0, 2, 4... or 1, 3, 5... of a word of a line. All halves of one colour in a plane follow each other, so that a
  half sweep reads and writes in long streams: the halves next to one, in y and along x, are neighbours in the stream of
  the other colour
*/
static inline KCScalar *Half(const KCycleTile *w, Slot slot, int word, PetscInt parity)
{
  return w->ring +
         (((slot.plane * w->words + word) * 2 + (parity ^ (slot.line & 1))) * w->lines + slot.line) *
             (PetscInt64)w->half +
         KC_VECTOR;
}

/* Coefficients of the two points at the ends of a line */
static inline KCScalar *EndsOf(const KCycleTile *w, Slot slot)
{
  return w->ends + (slot.plane * w->lines + slot.line) * 2 * (w->nc + 1);
}

/* x of the line after the last one of a plane, where lines up to high - 1 came to the tile */
static inline void ZeroBeyond(const KCycleTile *w, PetscInt t, PetscInt high)
{
  for (int parity = 0; w->lead && high == w->st->box->n[1] && parity < 2; parity++) {
    memset(Half(w, SlotOf(w, t, high), WORD_X, parity) - KC_VECTOR, 0, (size_t)w->half * sizeof(KCScalar));
  }
}
