/*
  Conjugate gradients with PFMG through hypre's struct interface; see hypre.h
*/
#include "hypre.h"

#if defined(BENCH_HAVE_HYPRE)
  #include <HYPRE.h>
  #include <HYPRE_struct_ls.h>
  #include <HYPRE_utilities.h>
  #include <stdlib.h>

struct BenchHypre {
  MPI_Comm            comm;
  int                 low[3], high[3];
  HYPRE_StructGrid    grid;
  HYPRE_StructStencil stencil;
  HYPRE_StructMatrix  A;
  HYPRE_StructVector  b, x;
  HYPRE_StructSolver  pcg, pfmg;
};

int BenchHypreExists(void)
{
  return 1;
}

/* Neighbours before a point, then the point */
static void CreateMatrix(BenchHypre *h, int dim, int constant, const double values[])
{
  int entries[4] = {0, 1, 2, 3};

  HYPRE_StructStencilCreate(dim, dim + 1, &h->stencil);
  for (int e = 0; e <= dim; e++) {
    int offset[3] = {0, 0, 0};

    if (e < dim) offset[e] = -1;
    HYPRE_StructStencilSetElement(h->stencil, e, offset);
  }
  HYPRE_StructMatrixCreate(h->comm, h->grid, h->stencil, &h->A);
  HYPRE_StructMatrixSetSymmetric(h->A, 1);
  if (constant) HYPRE_StructMatrixSetConstantEntries(h->A, dim + 1, entries);
  HYPRE_StructMatrixInitialize(h->A);
  if (constant) HYPRE_StructMatrixSetConstantValues(h->A, dim + 1, entries, (double *)values);
  else HYPRE_StructMatrixSetBoxValues(h->A, h->low, h->high, dim + 1, entries, (double *)values);
  HYPRE_StructMatrixAssemble(h->A);
}

int BenchHypreCreate(MPI_Comm comm, int dim, const int low[], const int high[], int constant, const double values[],
                     const double b[], BenchHypre **hypre)
{
  BenchHypre *h = (BenchHypre *)calloc(1, sizeof(*h));

  *hypre  = h;
  h->comm = comm;
  for (int d = 0; d < 3; d++) {
    h->low[d]  = low[d];
    h->high[d] = high[d];
  }
  HYPRE_Init();
  HYPRE_StructGridCreate(comm, dim, &h->grid);
  HYPRE_StructGridSetExtents(h->grid, h->low, h->high);
  HYPRE_StructGridAssemble(h->grid);
  CreateMatrix(h, dim, constant, values);
  HYPRE_StructVectorCreate(comm, h->grid, &h->b);
  HYPRE_StructVectorInitialize(h->b);
  HYPRE_StructVectorSetBoxValues(h->b, h->low, h->high, (double *)b);
  HYPRE_StructVectorAssemble(h->b);
  HYPRE_StructVectorCreate(comm, h->grid, &h->x);
  HYPRE_StructVectorInitialize(h->x);
  HYPRE_StructVectorAssemble(h->x);
  return HYPRE_GetError();
}

static void DestroySolver(BenchHypre *h)
{
  if (!h->pcg) return;
  HYPRE_StructPCGDestroy(h->pcg);
  HYPRE_StructPFMGDestroy(h->pfmg);
  h->pcg = h->pfmg = NULL;
}

/* Anew at each call */
int BenchHypreSetUp(BenchHypre *h, BenchHypreSetting setting, double rtol)
{
  DestroySolver(h);
  HYPRE_StructVectorSetConstantValues(h->x, 0.0);
  HYPRE_StructPCGCreate(h->comm, &h->pcg);
  HYPRE_StructPCGSetMaxIter(h->pcg, 500);
  HYPRE_StructPCGSetTol(h->pcg, rtol);
  HYPRE_StructPCGSetTwoNorm(h->pcg, 1);
  HYPRE_StructPFMGCreate(h->comm, &h->pfmg);
  HYPRE_StructPFMGSetMaxIter(h->pfmg, 1);
  HYPRE_StructPFMGSetTol(h->pfmg, 0.0);
  HYPRE_StructPFMGSetZeroGuess(h->pfmg);
  HYPRE_StructPFMGSetRAPType(h->pfmg, setting.rap);
  HYPRE_StructPFMGSetRelaxType(h->pfmg, setting.relax);
  HYPRE_StructPFMGSetNumPreRelax(h->pfmg, 1);
  HYPRE_StructPFMGSetNumPostRelax(h->pfmg, 1);
  HYPRE_StructPFMGSetSkipRelax(h->pfmg, setting.skip);
  HYPRE_StructPCGSetPrecond(h->pcg, HYPRE_StructPFMGSolve, HYPRE_StructPFMGSetup, h->pfmg);
  HYPRE_StructPCGSetup(h->pcg, h->A, h->b, h->x);
  return HYPRE_GetError();
}

int BenchHypreSolve(BenchHypre *h, int *iterations)
{
  HYPRE_StructPCGSolve(h->pcg, h->A, h->b, h->x);
  HYPRE_StructPCGGetNumIterations(h->pcg, iterations);
  return HYPRE_GetError();
}

int BenchHypreGetSolution(BenchHypre *h, double x[])
{
  HYPRE_StructVectorGetBoxValues(h->x, h->low, h->high, x);
  return HYPRE_GetError();
}

int BenchHypreDestroy(BenchHypre **hypre)
{
  BenchHypre *h = *hypre;

  if (!h) return 0;
  DestroySolver(h);
  HYPRE_StructVectorDestroy(h->b);
  HYPRE_StructVectorDestroy(h->x);
  HYPRE_StructMatrixDestroy(h->A);
  HYPRE_StructStencilDestroy(h->stencil);
  HYPRE_StructGridDestroy(h->grid);
  free(h);
  *hypre = NULL;
  HYPRE_ClearAllErrors();
  return 0;
}

#else

int BenchHypreExists(void)
{
  return 0;
}

int BenchHypreCreate(MPI_Comm comm, int dim, const int low[], const int high[], int constant, const double values[],
                     const double b[], BenchHypre **h)
{
  (void)comm, (void)dim, (void)low, (void)high, (void)constant, (void)values, (void)b, (void)h;
  return 1;
}

int BenchHypreSetUp(BenchHypre *h, BenchHypreSetting setting, double rtol)
{
  (void)h, (void)setting, (void)rtol;
  return 1;
}

int BenchHypreSolve(BenchHypre *h, int *iterations)
{
  (void)h, (void)iterations;
  return 1;
}

int BenchHypreGetSolution(BenchHypre *h, double x[])
{
  (void)h, (void)x;
  return 1;
}

int BenchHypreDestroy(BenchHypre **h)
{
  (void)h;
  return 0;
}
#endif
