/*
  Memory for many arrays of which nobody knows how many there will be: one allocation, which grows, and whose rest is
  given back at the end. Large ones are moved by the system without a copy.
*/
#include <petsckcycle/private/stencilimpl.h>

/* The first allocation is this part of what there may be */
#define FIRST 64

/* On the host, as all functions here */
PetscErrorCode KCyclePoolCreate(PetscInt64 most, KCyclePool *pool)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(pool, sizeof(*pool)));
  pool->most      = most;
  pool->precision = KC_PRECISION;
  pool->place     = KCYCLE_PLACE_HOST;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCyclePoolDestroy(KCyclePool *pool)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(pool->v));
  PetscCall(PetscMemzero(pool, sizeof(*pool)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Resize(KCyclePool *pool, PetscInt64 room)
{
  PetscFunctionBegin;
  PetscAssert(KCyclePoolIsAt(pool, KCYCLE_PLACE_HOST), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The pool is not on the host");
  PetscCall(PetscRealloc((size_t)room * sizeof(*pool->v), &pool->v));
  pool->room = room;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where an array is, which is not filled */
PetscErrorCode KCyclePoolNew(KCyclePool *pool, PetscInt64 length, PetscInt64 *offset)
{
  const PetscInt64 used = pool->used + length;

  PetscFunctionBegin;
  if (used > pool->room) {
    const PetscInt64 room = used + PetscMax(pool->most / FIRST, pool->used / 2);

    PetscCall(Resize(pool, used > pool->most ? room : PetscMin(room, pool->most)));
  }
  *offset    = pool->used;
  pool->used = used;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* There will be no more arrays */
PetscErrorCode KCyclePoolTrim(KCyclePool *pool)
{
  PetscFunctionBegin;
  if (pool->room > pool->used) PetscCall(Resize(pool, pool->used));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* To an empty pool */
PetscErrorCode KCyclePoolCopy(const KCyclePool *from, KCyclePool *to)
{
  PetscFunctionBegin;
  to->used = from->used;
  PetscCall(Resize(to, from->used));
  PetscCall(PetscArraycpy(to->v, from->v, (size_t)from->used));
  PetscFunctionReturn(PETSC_SUCCESS);
}
