/*
  Tapes of cycles, see recordingimpl.h.
*/
#include "recordingimpl.h"

/* parts: as those of the levels */
PetscErrorCode KCycleRecordingsCreate(const KCycleKernels *place, PetscInt nlevels, const KCycleLevelParts parts[],
                                      KCycleRecordings **tapes)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(tapes));
  (*tapes)->place   = place;
  (*tapes)->nlevels = nlevels;
  (*tapes)->parts   = parts;
  PetscCall(PetscCalloc1(KC_RECORDINGS, &(*tapes)->tape));
  PetscCall(PetscCalloc1(nlevels, &(*tapes)->before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Behind the parts that are whole there may be one that is being recorded */
static PetscErrorCode Empty(const KCycleRecordings *tapes, KCycleRecording *tape)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; tape->part && i < PetscMin(tape->nparts + 1, KC_RECORDING_SEGMENTS); i++) {
    PetscCall((*tapes->place->forget)(&tape->part[i].record));
    PetscCall(PetscFree(tape->part[i].calls));
  }
  PetscCall(PetscFree(tape->part));
  tape->kernels = 0;
  tape->nparts  = 0;
  tape->done    = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What kernels work on may be elsewhere now */
PetscErrorCode KCycleRecordingsForget(KCycleRecordings *tapes)
{
  PetscFunctionBegin;
  if (!tapes) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < KC_RECORDINGS; i++) {
    PetscCall(Empty(tapes, &tapes->tape[i]));
    tapes->tape[i].used = 0;
  }
  tapes->now = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleRecordingsDestroy(KCycleRecordings **tapes)
{
  PetscFunctionBegin;
  if (!*tapes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleRecordingsForget(*tapes));
  PetscCall(PetscFree((*tapes)->tape));
  PetscCall(PetscFree((*tapes)->before));
  PetscCall(PetscFree(*tapes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool Same(const KCycleRecordingKey *a, const KCycleRecordingKey *b)
{
  return (PetscBool)(a->visit.kappa == b->visit.kappa && a->visit.full == b->visit.full &&
                     a->visit.transpose == b->visit.transpose && a->visit.zeroguess == b->visit.zeroguess &&
                     a->tested == b->tested && a->b == b->b && a->x == b->x);
}

/* again: such a cycle has been asked for before. Where more kinds come in turn than there are tapes, each finds that
   its own is gone, and none is recorded */
PetscErrorCode KCycleRecordingsFind(KCycleRecordings *tapes, const KCycleRecordingKey *key, KCycleRecording **tape,
                                    PetscBool *again)
{
  KCycleRecording *oldest = tapes->tape;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < KC_RECORDINGS; i++) {
    KCycleRecording *t = &tapes->tape[i];

    *again = (PetscBool)(t->used && Same(&t->key, key));
    if (*again || t->used < oldest->used) oldest = t;
    if (*again) break;
  }
  if (!*again) {
    PetscCall(Empty(tapes, oldest));
    oldest->key     = *key;
    oldest->refused = PETSC_FALSE;
    oldest->ran     = PETSC_FALSE;
  }
  oldest->used = ++tapes->clock;
  *tape        = oldest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleRecordingResume(KCycleRecordings *tapes)
{
  KCycleRecording *tape = tapes ? tapes->now : NULL;

  PetscFunctionBegin;
  if (!tape) PetscFunctionReturn(PETSC_SUCCESS);
  if (tape->nparts == KC_RECORDING_SEGMENTS) { /* the rest of this cycle, and later ones, go on as ever */
    PetscCall(KCycleRecordingDrop(tapes));
    tape->refused = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt l = 0; l < tapes->nlevels; l++) tapes->before[l] = *tapes->parts[l].calls;
  tapes->kernels = (*tapes->place->launches)();
  PetscCall((*tapes->place->record)(&tape->part[tape->nparts].record));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends a part and plays it, as it has only been recorded */
PetscErrorCode KCycleRecordingCut(KCycleRecordings *tapes, KCycleBehind behind, const KCycleVisit *visit)
{
  KCycleRecording        *tape = tapes ? tapes->now : NULL;
  KCycleRecordingSegment *part;

  PetscFunctionBegin;
  if (!tape) PetscFunctionReturn(PETSC_SUCCESS);
  part         = &tape->part[tape->nparts++];
  part->behind = behind;
  if (visit) part->visit = *visit;
  PetscCall(PetscMalloc1(tapes->nlevels, &part->calls));
  for (PetscInt l = 0; l < tapes->nlevels; l++) part->calls[l] = *tapes->parts[l].calls - tapes->before[l];
  tape->kernels += (*tapes->place->launches)() - tapes->kernels;
  PetscCall((*tapes->place->recorded)(part->record));
  PetscCall((*tapes->place->play)(part->record, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleRecordingBegin(KCycleRecordings *tapes, KCycleRecording *tape)
{
  PetscFunctionBegin;
  tapes->now = tape;
  PetscCall(PetscCalloc1(KC_RECORDING_SEGMENTS, &tape->part));
  PetscCall(KCycleRecordingResume(tapes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleRecordingEnd(KCycleRecordings *tapes)
{
  KCycleRecording *tape = tapes->now;

  PetscFunctionBegin;
  if (!tape) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleRecordingCut(tapes, KCYCLE_BEHIND_NOTHING, NULL));
  tapes->now = NULL;
  tape->done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cycle ends here: between parts, or with an error; or it has too many of them */
PetscErrorCode KCycleRecordingDrop(KCycleRecordings *tapes)
{
  PetscFunctionBegin;
  if (tapes && tapes->now) PetscCall(Empty(tapes, tapes->now));
  if (tapes) tapes->now = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Once more, with its operations and calls counted */
PetscErrorCode KCycleRecordingReplay(const KCycleRecordings *tapes, const KCycleRecordingSegment *part)
{
  PetscFunctionBegin;
  PetscCall((*tapes->place->play)(part->record, PETSC_TRUE));
  for (PetscInt l = 0; l < tapes->nlevels; l++) *tapes->parts[l].calls += part->calls[l];
  PetscFunctionReturn(PETSC_SUCCESS);
}
