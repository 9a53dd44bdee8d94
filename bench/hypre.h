/*
  PFMG as the preconditioner of conjugate gradients, both of hypre, called through its struct interface without PETSc:
  symmetric storage, and constant coefficients where they are. Functions return hypre's error, 0 if there is none.
*/
#pragma once

#include <mpi.h>

/* As hypre numbers them: relax 0 Jacobi, 1 weighted Jacobi, 2 symmetric red-black; rap 0 Galerkin, 1 non-Galerkin */
typedef struct {
  int relax, rap, skip;
} BenchHypreSetting;

typedef struct BenchHypre BenchHypre;

/* The first is true if this was compiled with hypre. The box low to high of each process; values of each point: of
   the couplings with its neighbours before it in each direction, and the diagonal; of one point where they are
   constant */
int BenchHypreExists(void);
int BenchHypreCreate(MPI_Comm, int dim, const int low[], const int high[], int constant, const double values[],
                     const double b[], BenchHypre **);
int BenchHypreSetUp(BenchHypre *, BenchHypreSetting, double rtol);
int BenchHypreSolve(BenchHypre *, int *iterations);
int BenchHypreGetSolution(BenchHypre *, double x[]);
int BenchHypreDestroy(BenchHypre **);
