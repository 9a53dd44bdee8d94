/*
  The weights of a MATSTENCILTRANSFER: arrays of one line on one coarse line, each of which is kept once.
*/
#include "mattransfer.h"

/* Sets of this length, for `lines` lines if no two of them agree, on their way to a pool */
PetscErrorCode KCycleSetsBegin(PetscInt length, PetscInt lines, KCyclePool *pool, KCycleSets *sets)
{
  PetscFunctionBegin;
  sets->length = length;
  sets->pool   = pool;
  PetscCall(KCyclePoolDestroy(pool));
  PetscCall(KCyclePoolCreate((PetscInt64)length * lines, pool));
  PetscCall(PetscHMapICreate(&sets->map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSetsEnd(KCycleSets *sets)
{
  PetscFunctionBegin;
  PetscCall(PetscHMapIDestroy(&sets->map));
  PetscCall(KCyclePoolTrim(sets->pool));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps one set, or finds that it is kept already */
PetscErrorCode KCycleSetsKeep(KCycleSets *sets, const PetscScalar v[], PetscInt *number)
{
  const PetscInt key = KCycleKey(v, sets->length);
  PetscInt64     at;

  PetscFunctionBegin;
  PetscCall(PetscHMapIGet(sets->map, key, number));
  if (*number >= 0 && !memcmp(sets->pool->v + *number * (PetscInt64)sets->length, v, (size_t)sets->length * sizeof(*v)))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCyclePoolNew(sets->pool, sets->length, &at));
  PetscCall(PetscArraycpy(sets->pool->v + at, v, sets->length));
  if (*number < 0) PetscCall(PetscHMapISet(sets->map, key, (PetscInt)(at / sets->length)));
  *number = (PetscInt)(at / sets->length);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleWeightsBegin(Mat P, PCKCycleInterpolationType interpolation, KCycleSets *sets)
{
  Mat_StencilTransfer *p = (Mat_StencilTransfer *)P->data;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < 4 * p->t.fine->nextended; i++) p->t.set[i] = -1;
  PetscCall(KCycleSetsBegin(p->t.stride, p->t.fine->nextended, &p->t.weights, sets));
  p->interpolation = interpolation;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleWeightsEnd(Mat P, KCycleSets *sets)
{
  PetscFunctionBegin;
  PetscCall(KCycleSetsEnd(sets));
  PetscCall(PetscObjectStateIncrease((PetscObject)P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the weights of a line. Two lines further there may be one with the same */
PetscErrorCode KCycleWeightsStore(KCycleWeights *ws, PetscInt j, PetscInt k, const KCycleTouch *touch)
{
  const KCycleTransfer *tr  = ws->tr;
  PetscInt             *set = KCycleTransferSets(tr, KCycleBoxExtended(tr->fine, j, k));

  PetscFunctionBegin;
  for (PetscInt q = 0; q < touch->count; q++) {
    const PetscScalar *v = ws->temp + q * tr->stride, *likely = j >= 2 ? KCycleTransferWeights(tr, set[q - 8]) : NULL;
    PetscBool          zero = PETSC_TRUE;

    set[q] = likely ? set[q - 8] : -1;
    if (likely && !memcmp(likely, v, tr->stride * sizeof(*v))) continue;
    set[q] = -1;
    for (PetscInt i = 0; i < tr->stride && zero; i++) zero = (PetscBool)(v[i] == (PetscScalar)0.0);
    if (!zero) PetscCall(KCycleSetsKeep(ws->sets, v, &set[q]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
