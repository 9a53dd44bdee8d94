/*
  The number of threads.
*/
#include <petsckcycle/private/threads.h>
#include <petscsys.h>

#if defined(_OPENMP)
/* As many as there may be when this is asked for first: work space is made for them, and stays valid if a program
   takes fewer or more afterwards */
int KCycleThreadsMost(void)
{
  static int most = 0;

  if (!most) most = omp_get_max_threads();
  return most;
}

int KCycleThreads(void)
{
  return PetscMin(KCycleThreadsMost(), omp_get_max_threads());
}
#endif
