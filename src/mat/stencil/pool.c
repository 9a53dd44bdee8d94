/*
  Memory for many arrays of which nobody knows how many there will be: taken in pieces, given back all at once. No more
  is asked for than is used, but for a part of the last piece.
*/
#include <petsckcycle/private/stencilimpl.h>

/* So many pieces hold the most that there may be */
#define PIECES 128

PetscErrorCode KCyclePoolCreate(PetscInt64 most, KCyclePool *pool)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(pool, sizeof(*pool)));
  pool->size = most / PIECES + 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCyclePoolDestroy(KCyclePool *pool)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < pool->n; i++) PetscCall(PetscFree(pool->piece[i]));
  PetscCall(PetscFree(pool->piece));
  PetscCall(PetscMemzero(pool, sizeof(*pool)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An array, not filled, that stays where it is */
PetscErrorCode KCyclePoolNew(KCyclePool *pool, PetscInt64 length, PetscScalar **array)
{
  PetscFunctionBegin;
  if (length > pool->left) {
    pool->left = PetscMax(pool->size / length, 1) * length; /* filled to the end by arrays of this length */
    PetscCall(PetscRealloc((size_t)(pool->n + 1) * sizeof(*pool->piece), &pool->piece));
    PetscCall(PetscMalloc1((size_t)pool->left, &pool->piece[pool->n]));
    pool->next = pool->piece[pool->n++];
  }
  *array = pool->next;
  pool->next += length;
  pool->left -= length;
  pool->used += length;
  PetscFunctionReturn(PETSC_SUCCESS);
}
