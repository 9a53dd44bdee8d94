/*
  What programs of this folder share: the helpers of the tests, and a clock.
*/
#pragma once

#include "../tests/testing.h"
#include <time.h>

/* Processor time of this process */
static inline PetscReal Seconds(void)
{
  struct timespec t;

  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (PetscReal)t.tv_sec + (PetscReal)1e-9 * (PetscReal)t.tv_nsec;
}
