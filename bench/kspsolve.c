/*
  Loaded before a PETSc program (LD_PRELOAD): the processor time of this process in the KSPSolve() that the program
  calls, set-up included, without its assembly. Printed when the process ends.
*/
#ifndef _GNU_SOURCE
  #define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>
#include <petscksp.h>

static double spent = 0;
static int    depth = 0; /* solvers inside solvers */

static double Now(void)
{
  struct timespec t;

  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

PetscErrorCode KSPSolve(KSP ksp, Vec b, Vec x)
{
  union {
    void *symbol;
    PetscErrorCode (*solve)(KSP, Vec, Vec);
  } next;
  PetscErrorCode ierr;
  const double   start = Now();

  next.symbol = dlsym(RTLD_NEXT, "KSPSolve");
  depth++;
  ierr = next.solve(ksp, b, x);
  depth--;
  if (!depth) spent += Now() - start;
  return ierr;
}

__attribute__((destructor)) static void Show(void)
{
  if (spent > 0) fprintf(stderr, "KSPSolve: %.5f s\n", spent);
}
