/*
  Recordings of cycles, see recordingimpl.h.
*/
#include "levels.h"

PetscErrorCode KCycleRecordingsCreate(const KCycleLevels *levels, KCycleRecordings **recordings)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(recordings));
  (*recordings)->levels = levels;
  PetscCall(PetscCalloc1(KC_RECORDINGS, &(*recordings)->recording));
  PetscCall(PetscCalloc1(levels->nlevels, &(*recordings)->before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After the segments that are whole there may be one that is being recorded */
static PetscErrorCode Empty(const KCycleRecordings *recordings, KCycleRecording *recording)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; recording->segment && i < PetscMin(recording->nsegments + 1, KC_RECORDING_SEGMENTS); i++) {
    PetscCall((*recordings->levels->kernels->forget)(&recording->segment[i].record));
    PetscCall(PetscFree(recording->segment[i].calls));
  }
  PetscCall(PetscFree(recording->segment));
  recording->kernels   = 0;
  recording->nsegments = 0;
  recording->done      = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What kernels work on may be elsewhere now */
PetscErrorCode KCycleRecordingsForget(KCycleRecordings *recordings)
{
  PetscFunctionBegin;
  if (!recordings) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < KC_RECORDINGS; i++) {
    PetscCall(Empty(recordings, &recordings->recording[i]));
    recordings->recording[i].used = 0;
  }
  recordings->now = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleRecordingsDestroy(KCycleRecordings **recordings)
{
  PetscFunctionBegin;
  if (!*recordings) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleRecordingsForget(*recordings));
  PetscCall(PetscFree((*recordings)->recording));
  PetscCall(PetscFree((*recordings)->before));
  PetscCall(PetscFree(*recordings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool Same(const KCycleRecordingKey *a, const KCycleRecordingKey *b)
{
  return (PetscBool)(a->visit.kappa == b->visit.kappa && a->visit.full == b->visit.full &&
                     a->visit.transpose == b->visit.transpose && a->visit.zeroguess == b->visit.zeroguess &&
                     a->tested == b->tested && a->b == b->b && a->x == b->x);
}

/* again: such a cycle has been asked for before. Where more kinds come in turn than there are recordings, each finds
   that its own is gone, and none is recorded */
PetscErrorCode KCycleRecordingsFind(KCycleRecordings *recordings, const KCycleRecordingKey *key,
                                    KCycleRecording **recording, PetscBool *again)
{
  KCycleRecording *oldest = recordings->recording;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < KC_RECORDINGS; i++) {
    KCycleRecording *t = &recordings->recording[i];

    *again = (PetscBool)(t->used && Same(&t->key, key));
    if (*again || t->used < oldest->used) oldest = t;
    if (*again) break;
  }
  if (!*again) {
    PetscCall(Empty(recordings, oldest));
    oldest->key     = *key;
    oldest->refused = PETSC_FALSE;
    oldest->ran     = PETSC_FALSE;
  }
  oldest->used = ++recordings->clock;
  *recording   = oldest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleRecordingResume(KCycleRecordings *recordings)
{
  KCycleRecording *recording = recordings ? recordings->now : NULL;

  PetscFunctionBegin;
  if (!recording) PetscFunctionReturn(PETSC_SUCCESS);
  if (recording->nsegments == KC_RECORDING_SEGMENTS) { /* the rest of this cycle, and later ones, go on as ever */
    PetscCall(KCycleRecordingDrop(recordings));
    recording->refused = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt l = 0; l < recordings->levels->nlevels; l++)
    recordings->before[l] = *recordings->levels->parts[l].calls;
  recordings->launched = (*recordings->levels->kernels->launches)();
  PetscCall((*recordings->levels->kernels->record)(&recording->segment[recording->nsegments].record));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends a segment and replays it, as it has only been recorded */
PetscErrorCode KCycleRecordingCut(KCycleRecordings *recordings, KCycleBehind behind, const KCycleVisit *visit)
{
  KCycleRecording        *recording = recordings ? recordings->now : NULL;
  KCycleRecordingSegment *segment;

  PetscFunctionBegin;
  if (!recording) PetscFunctionReturn(PETSC_SUCCESS);
  segment         = &recording->segment[recording->nsegments++];
  segment->behind = behind;
  if (visit) segment->visit = *visit;
  PetscCall(PetscMalloc1(recordings->levels->nlevels, &segment->calls));
  for (PetscInt l = 0; l < recordings->levels->nlevels; l++)
    segment->calls[l] = *recordings->levels->parts[l].calls - recordings->before[l];
  recording->kernels += (*recordings->levels->kernels->launches)() - recordings->launched;
  PetscCall((*recordings->levels->kernels->recorded)(segment->record));
  PetscCall((*recordings->levels->kernels->replay)(segment->record, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleRecordingBegin(KCycleRecordings *recordings, KCycleRecording *recording)
{
  PetscFunctionBegin;
  recordings->now = recording;
  PetscCall(PetscCalloc1(KC_RECORDING_SEGMENTS, &recording->segment));
  PetscCall(KCycleRecordingResume(recordings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleRecordingEnd(KCycleRecordings *recordings)
{
  KCycleRecording *recording = recordings->now;

  PetscFunctionBegin;
  if (!recording) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleRecordingCut(recordings, KCYCLE_BEHIND_NOTHING, NULL));
  recordings->now = NULL;
  recording->done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cycle ends here: between segments, or with an error; or it has too many of them */
PetscErrorCode KCycleRecordingDrop(KCycleRecordings *recordings)
{
  PetscFunctionBegin;
  if (recordings && recordings->now) PetscCall(Empty(recordings, recordings->now));
  if (recordings) recordings->now = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Once more, with its operations and calls counted */
PetscErrorCode KCycleRecordingReplay(const KCycleRecordings *recordings, const KCycleRecordingSegment *segment)
{
  PetscFunctionBegin;
  PetscCall((*recordings->levels->kernels->replay)(segment->record, PETSC_TRUE));
  for (PetscInt l = 0; l < recordings->levels->nlevels; l++) *recordings->levels->parts[l].calls += segment->calls[l];
  PetscFunctionReturn(PETSC_SUCCESS);
}
