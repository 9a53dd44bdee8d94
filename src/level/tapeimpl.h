/*
  Cycles that a place does again by few calls: what its kernels are asked to do, once as ever and once recorded, is
  then played. A tape is of one kind of cycle with one right side and one solution on the finest level, whose arrays
  are the caller's; a new pair of them is a new tape. Those that have not been used for longest make room.

  A cycle on a tape comes in parts where the host has something to do between: the coarsest problem, or a test.
*/
#pragma once

#include <petsckcycle/private/cycleimpl.h>

#define KC_TAPES      64 /* methods like GMRES hand out a pair of vectors for each of 30 iterations, in turn */
#define KC_TAPE_PARTS 64

/* What the host does behind a part */
typedef enum {
  KCYCLE_BEHIND_NOTHING,
  KCYCLE_BEHIND_COARSEST,
  KCYCLE_BEHIND_TEST
} KCycleBehind;

typedef struct {
  KCycleRecord *record;
  KCycleBehind  behind;
  KCycleVisit   visit; /* of the coarsest level */
  PetscInt64   *calls; /* of the cycle on each level, in this part */
} KCycleTapePart;

/* What a cycle is; b and x: of the finest level */
typedef struct {
  KCycleVisit     visit;
  PetscBool       tested;
  const KCScalar *b, *x;
} KCycleTapeKey;

typedef struct {
  KCycleTapeKey   key;
  PetscInt64      used; /* when last; 0: never */
  PetscBool       ran;  /* as ever and to its end, so that bottoms have been written that it has */
  PetscBool       done, refused;
  PetscInt64      kernels; /* in all parts */
  PetscInt        nparts;
  KCycleTapePart *part; /* room for KC_TAPE_PARTS of them */
} KCycleTape;

typedef struct {
  const KCycleKernels    *place;
  PetscInt                nlevels;
  const KCycleLevelParts *parts;
  KCycleTape             *tape;
  KCycleTape             *now;     /* that is being recorded */
  PetscInt64             *before;  /* calls when its part began, */
  PetscInt64              kernels; /* and kernels */
  PetscInt64              clock;
} KCycleTapes;

PETSC_INTERN PetscErrorCode KCycleTapesCreate(const KCycleKernels *, PetscInt, const KCycleLevelParts[],
                                              KCycleTapes **);
PETSC_INTERN PetscErrorCode KCycleTapesForget(KCycleTapes *);
PETSC_INTERN PetscErrorCode KCycleTapesDestroy(KCycleTapes **);
PETSC_INTERN PetscErrorCode KCycleTapesFind(KCycleTapes *, const KCycleTapeKey *, KCycleTape **, PetscBool *again);
PETSC_INTERN PetscErrorCode KCycleTapeBegin(KCycleTapes *, KCycleTape *);
PETSC_INTERN PetscErrorCode KCycleTapeEnd(KCycleTapes *);
PETSC_INTERN PetscErrorCode KCycleTapeCut(KCycleTapes *, KCycleBehind, const KCycleVisit *);
PETSC_INTERN PetscErrorCode KCycleTapeResume(KCycleTapes *);
PETSC_INTERN PetscErrorCode KCycleTapeDrop(KCycleTapes *);
PETSC_INTERN PetscErrorCode KCycleTapePlay(const KCycleTapes *, const KCycleTapePart *);
