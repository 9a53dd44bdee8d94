/*
  Cycles that few calls replay: what kernels are asked to do is done as ever the first time, and recorded the second
  time. A recording is of one kind of cycle with one right side and one solution on the finest level. These arrays are
  the caller's; a new pair of them is a new recording. Those that have not been used for longest make room.

  A recorded cycle has segments. Between them the host solves the coarsest problem, or tests the residual.
*/
#pragma once

#include <petsckcycle/private/cycleimpl.h>

#define KC_RECORDINGS         64 /* methods like GMRES hand out a pair of vectors for each of 30 iterations, in turn */
#define KC_RECORDING_SEGMENTS 64

/* What the host does after a segment */
typedef enum {
  KCYCLE_BEHIND_NOTHING,
  KCYCLE_BEHIND_COARSEST,
  KCYCLE_BEHIND_TEST
} KCycleBehind;

typedef struct {
  KCycleRecord *record;
  KCycleBehind  behind;
  KCycleVisit   visit; /* of the coarsest level */
  PetscInt64   *calls; /* of the cycle on each level, in this segment */
} KCycleRecordingSegment;

/* What a cycle is; b and x: of the finest level */
typedef struct {
  KCycleVisit     visit;
  PetscBool       tested;
  const KCScalar *b, *x;
} KCycleRecordingKey;

typedef struct {
  KCycleRecordingKey      key;
  PetscInt64              used; /* when last; 0: never */
  PetscBool               ran;  /* as ever and to its end, so that sub-cycles have been written that it has */
  PetscBool               done, refused;
  PetscInt64              kernels; /* in all segments */
  PetscInt                nsegments;
  KCycleRecordingSegment *segment; /* room for KC_RECORDING_SEGMENTS of them */
} KCycleRecording;

typedef struct {
  const KCycleLevels *levels; /* whose cycles they are */
  KCycleRecording    *recording;
  KCycleRecording    *now;      /* that is being recorded */
  PetscInt64         *before;   /* calls when its segment began, */
  PetscInt64          launched; /* and kernels launched */
  PetscInt64          clock;
} KCycleRecordings;

PETSC_INTERN PetscErrorCode KCycleRecordingsCreate(const KCycleLevels *, KCycleRecordings **);
PETSC_INTERN PetscErrorCode KCycleRecordingsForget(KCycleRecordings *);
PETSC_INTERN PetscErrorCode KCycleRecordingsDestroy(KCycleRecordings **);
PETSC_INTERN PetscErrorCode KCycleRecordingsFind(KCycleRecordings *, const KCycleRecordingKey *, KCycleRecording **,
                                                 PetscBool *again);
PETSC_INTERN PetscErrorCode KCycleRecordingBegin(KCycleRecordings *, KCycleRecording *);
PETSC_INTERN PetscErrorCode KCycleRecordingEnd(KCycleRecordings *);
PETSC_INTERN PetscErrorCode KCycleRecordingCut(KCycleRecordings *, KCycleBehind, const KCycleVisit *);
PETSC_INTERN PetscErrorCode KCycleRecordingResume(KCycleRecordings *);
PETSC_INTERN PetscErrorCode KCycleRecordingDrop(KCycleRecordings *);
PETSC_INTERN PetscErrorCode KCycleRecordingReplay(const KCycleRecordings *, const KCycleRecordingSegment *);
