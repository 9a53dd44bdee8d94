/*
  Memory for many arrays, whose number is not known before: one allocation, which grows, and whose rest is
  given back at the end. Large ones are moved by the system without a copy, and memory that is not written to is not
  there.
*/
#include <petsckcycle/private/boximpl.h>
#if defined(PETSC_HAVE_SYS_TYPES_H) && defined(__linux__)
  #include <sys/mman.h>
  #include <unistd.h>
#endif

/* The first allocation is 1 / FIRST of what there may be, and each other one GROWTH times the one before: each is
   moved, and huge pages may be split by that */
#define FIRST  64
#define GROWTH 4

/* Asks for huge pages, if the system has them for who asks, for memory that is larger than some of them: it is there
   sooner, and its addresses are found faster. It is no error if they are not given */
void KCycleMemoryAdvise(void *memory, size_t bytes)
{
#if defined(MADV_HUGEPAGE)
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), start = ((size_t)memory + page - 1) / page * page;

  if (bytes < 8 * ((size_t)1 << 20)) return;
  (void)madvise((void *)start, ((size_t)memory + bytes - start) / page * page, MADV_HUGEPAGE);
#else
  (void)memory;
  (void)bytes;
#endif
}

/* On the host, as all functions here */
PetscErrorCode KCyclePoolCreate(PetscInt64 most, KCyclePool *pool)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(pool, sizeof(*pool)));
  pool->most      = most;
  pool->precision = KC_PRECISION;
  pool->memory    = KCYCLE_MEMORY_HOST;
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
  PetscAssert(KCyclePoolIsAt(pool, KCYCLE_MEMORY_HOST), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The pool is not on the host");
  PetscCall(PetscRealloc((size_t)room * sizeof(*pool->v), &pool->v));
  if (room > pool->room) KCycleMemoryAdvise(pool->v, (size_t)room * sizeof(*pool->v));
  pool->room = room;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where an array is, which is not filled */
PetscErrorCode KCyclePoolNew(KCyclePool *pool, PetscInt64 length, PetscInt64 *offset)
{
  const PetscInt64 used = pool->used + length;

  PetscFunctionBegin;
  if (used > pool->room) {
    const PetscInt64 more = used + pool->used / 2, first = used + pool->most / FIRST;

    if (used > pool->most) PetscCall(Resize(pool, more));
    else PetscCall(Resize(pool, PetscMin(PetscMax(first, GROWTH * pool->used), pool->most)));
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
