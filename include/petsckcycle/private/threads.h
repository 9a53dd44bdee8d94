/*
  Threads that share the lines of a grid, with make OPENMP=1; without it the calling thread has them all.

  KC_PARALLEL is written before a statement that all threads run, each for its share of the lines; files that have it
  include policyimpl.h, for the number of points from which on they do. The statement calls neither PETSc nor MPI, which
  are not written for threads. What belongs to a line is computed by one thread, and sums over lines are added up in the
  same order as by one thread: results do not depend on the number of threads.
*/
#pragma once

#include <petscmacros.h>
#include <petscsystypes.h>

#if defined(_OPENMP)
  #include <omp.h>
  #define KC_PRAGMA(...)      _Pragma(#__VA_ARGS__)
  #define KC_PARALLEL(points) KC_PRAGMA(omp parallel num_threads(KCycleThreads()) if ((points) > KCYCLE_THREAD_POINTS))
  #define KC_BARRIER          KC_PRAGMA(omp barrier)

/* threads.c: what work space is made for, and how many of them are in use */
PETSC_INTERN int KCycleThreadsMost(void);
PETSC_INTERN int KCycleThreads(void);

/* Which thread of how many this is */
static inline int KCycleThread(void)
{
  return omp_get_thread_num();
}

static inline int KCycleTeam(void)
{
  return omp_get_num_threads();
}
#else
  #define KC_PARALLEL(points) (void)(points);
  #define KC_BARRIER

static inline int KCycleThreadsMost(void)
{
  return 1;
}

static inline int KCycleThreads(void)
{
  return 1;
}

static inline int KCycleThread(void)
{
  return 0;
}

static inline int KCycleTeam(void)
{
  return 1;
}
#endif

/* Where the share of a thread begins, and that of the one before it ends */
static inline PetscInt KCycleShareStart(PetscInt low, PetscInt high, int thread)
{
  return low + (PetscInt)((PetscInt64)(high - low) * thread / KCycleTeam());
}

/* This thread's share of low to high - 1 */
static inline void KCycleShare(PetscInt low, PetscInt high, PetscInt *first, PetscInt *end)
{
  *first = KCycleShareStart(low, high, KCycleThread());
  *end   = KCycleShareStart(low, high, KCycleThread() + 1);
}
