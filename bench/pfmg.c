/*
  Loaded into a program that uses PETSc (-dll_append): -ksp_type hyprepcg, conjugate gradients with PFMG, both of hypre
  and called through its struct interface. PETSc's MATHYPRESTRUCT stores both couplings of a pair of points, and all
  coefficients where they are constant; this does not. For symmetric AIJ matrices of 5 or 7 points on a DMDA; stored
  boundary points, whose rows are diagonal, are left out.

  hypre's matrix is made by KSPSetFromOptions(), as that of MATHYPRESTRUCT by the program's assembly: it is in no time.

    -ksp_hyprepcg_relax <1>   1: weighted Jacobi, 2: symmetric red-black Gauss-Seidel
    -ksp_hyprepcg_rap <0>     coarse operators, 0: Galerkin, 1: of as few points as the fine one
    -ksp_hyprepcg_skip <0>    1: no relaxation on grids where it does little
*/
#include <petsc/private/kspimpl.h>
#include <petscdmda.h>
#include <petsckcycle/private/compat.h>
#include <HYPRE.h>
#include <HYPRE_struct_ls.h>
#include <HYPRE_utilities.h>

typedef struct {
  PetscInt            dim, stored[3][2];                  /* stored: 1 where the points of a side are boundary points */
  int                 first[3], last[3], low[3], high[3]; /* what this process owns, and what hypre has of it */
  HYPRE_StructGrid    grid;
  HYPRE_StructStencil stencil;
  HYPRE_StructMatrix  A;
  HYPRE_StructVector  b, x;
  HYPRE_StructSolver  pcg, pfmg;
} HyprePCG;

#define CheckHypre() PetscCheck(!HYPRE_GetError(), PETSC_COMM_SELF, PETSC_ERR_LIB, "hypre: error %d", HYPRE_GetError())

/* Of each owned point: the couplings with the neighbours before it, and the diagonal. range: the largest of each, and
   of minus each, over all points but stored ones */
static PetscErrorCode ReadRows(HyprePCG *h, DM da, Mat A, double values[], double range[])
{
  const PetscInt        *global;
  PetscInt               row, last[3], ghost[3], wide[3], at[3];
  double                *v = values;
  ISLocalToGlobalMapping map;

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(da, NULL, &last[0], &last[1], &last[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(MatGetOwnershipRange(A, &row, NULL));
  PetscCall(DMDAGetGhostCorners(da, &ghost[0], &ghost[1], &ghost[2], &wide[0], &wide[1], &wide[2]));
  PetscCall(DMGetLocalToGlobalMapping(da, &map));
  PetscCall(ISLocalToGlobalMappingGetIndices(map, &global));
  for (at[2] = h->first[2]; at[2] <= h->last[2]; at[2]++) {
    for (at[1] = h->first[1]; at[1] <= h->last[1]; at[1]++) {
      for (at[0] = h->first[0]; at[0] <= h->last[0]; at[0]++, row++, v += h->dim + 1) {
        const PetscInt     here   = at[0] - ghost[0] + wide[0] * (at[1] - ghost[1] + wide[1] * (at[2] - ghost[2]));
        const PetscInt     way[4] = {1, wide[0], wide[0] * wide[1], 0}, *column;
        const PetscScalar *a;
        PetscInt           n, coupled = 0;

        PetscCall(MatGetRow(A, row, &n, &column, &a));
        for (PetscInt m = 0; m < n; m++) coupled += column[m] != row && a[m] != (PetscScalar)0;
        for (PetscInt d = 0; d <= h->dim; d++) {
          const PetscInt before = d == h->dim ? row : at[d] ? global[here - way[d]] : -1;

          v[d] = 0;
          for (PetscInt m = 0; m < n && before >= 0; m++) v[d] += column[m] == before ? (double)PetscRealPart(a[m]) : 0;
          if (!coupled) continue;
          if (v[d] != 0) range[d] = PetscMax(range[d], v[d]);
          if (v[d] != 0) range[4 + d] = PetscMax(range[4 + d], -v[d]);
          if (d < h->dim && at[d] == 0) h->stored[d][0] = 0;
          if (d < h->dim && at[d] == last[d] - 1) h->stored[d][1] = 0;
        }
        PetscCall(MatRestoreRow(A, row, &n, &column, &a));
      }
    }
  }
  PetscCall(ISLocalToGlobalMappingRestoreIndices(map, &global));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, range, 8, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)A)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, h->stored, 6, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)A)));
  for (PetscInt d = 0; d < 3; d++) {
    h->low[d]  = PetscMax(h->first[d], (int)h->stored[d][0]);
    h->high[d] = PetscMin(h->last[d], (int)(last[d] - h->stored[d][1]) - 1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeMatrix(HyprePCG *h, MPI_Comm comm, double values[], double range[])
{
  const int m          = (int)h->dim + 1;
  int       entries[4] = {0, 1, 2, 3}, constant = 1;

  PetscFunctionBegin;
  for (int e = 0; e < m; e++) constant = constant && range[e] + range[4 + e] <= 1e-13 * PetscAbsReal(range[e]);
  HYPRE_StructGridCreate(comm, (int)h->dim, &h->grid);
  HYPRE_StructGridSetExtents(h->grid, h->low, h->high);
  HYPRE_StructGridAssemble(h->grid);
  HYPRE_StructStencilCreate((int)h->dim, m, &h->stencil);
  for (int e = 0; e < m; e++) {
    int offset[3] = {-(e == 0 && m > 1), -(e == 1 && m > 2), -(e == 2 && m > 3)};

    HYPRE_StructStencilSetElement(h->stencil, e, offset);
  }
  HYPRE_StructMatrixCreate(comm, h->grid, h->stencil, &h->A);
  HYPRE_StructMatrixSetSymmetric(h->A, 1);
  if (constant) HYPRE_StructMatrixSetConstantEntries(h->A, m, entries);
  HYPRE_StructMatrixInitialize(h->A);
  if (constant) HYPRE_StructMatrixSetConstantValues(h->A, m, entries, range);
  else HYPRE_StructMatrixSetBoxValues2(h->A, h->low, h->high, m, entries, h->first, h->last, values);
  HYPRE_StructMatrixAssemble(h->A);
  for (int i = 0; i < 2; i++) {
    HYPRE_StructVector *v = i ? &h->x : &h->b;

    HYPRE_StructVectorCreate(comm, h->grid, v);
    HYPRE_StructVectorInitialize(*v);
    HYPRE_StructVectorAssemble(*v);
  }
  CheckHypre();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Assemble(KSP ksp)
{
  HyprePCG       *h = (HyprePCG *)ksp->data;
  PetscInt        start[3], width[3];
  double         *values, range[8];
  DMBoundaryType  ends[3] = {DM_BOUNDARY_NONE};
  DMDAStencilType shape   = DMDA_STENCIL_BOX;
  PetscBool       grid    = PETSC_FALSE;
  Mat             A;
  DM              da;

  PetscFunctionBegin;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatGetDM(A, &da));
  if (da) PetscCall(PetscObjectTypeCompare((PetscObject)da, DMDA, &grid));
  if (grid)
    PetscCall(
        DMDAGetInfo(da, &h->dim, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &ends[0], &ends[1], &ends[2], &shape));
  PetscCheck(h->dim > 1 && shape == DMDA_STENCIL_STAR && !ends[0] && !ends[1] && !ends[2], PETSC_COMM_WORLD,
             PETSC_ERR_SUP, "hyprepcg is for 5 or 7 points on a DMDA that is not periodic");
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], &start[2], &width[0], &width[1], &width[2]));
  for (PetscInt d = 0; d < 3; d++) {
    h->first[d]     = (int)start[d];
    h->last[d]      = (int)(start[d] + width[d]) - 1;
    h->stored[d][0] = h->stored[d][1] = d < h->dim;
  }
  for (int e = 0; e < 8; e++) range[e] = PETSC_MIN_REAL;
  HYPRE_Init();
  PetscCall(PetscMalloc1((h->dim + 1) * width[0] * width[1] * width[2], &values));
  PetscCall(ReadRows(h, da, A, values, range));
  PetscCall(MakeMatrix(h, PetscObjectComm((PetscObject)ksp), values, range));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetFromOptions_HyprePCG(KSP ksp, KCycleOptionItems unused)
{
  PetscFunctionBegin;
  (void)unused;
  if (!((HyprePCG *)ksp->data)->A) PetscCall(Assemble(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetUp_HyprePCG(KSP ksp)
{
  HyprePCG      *h    = (HyprePCG *)ksp->data;
  const MPI_Comm comm = PetscObjectComm((PetscObject)ksp);
  const char    *prefix;
  PetscInt       relax = 1, rap = 0, skip = 0;

  PetscFunctionBegin;
  PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
  PetscCall(PetscOptionsGetInt(NULL, prefix, "-ksp_hyprepcg_relax", &relax, NULL));
  PetscCall(PetscOptionsGetInt(NULL, prefix, "-ksp_hyprepcg_rap", &rap, NULL));
  PetscCall(PetscOptionsGetInt(NULL, prefix, "-ksp_hyprepcg_skip", &skip, NULL));
  HYPRE_StructPCGCreate(comm, &h->pcg);
  HYPRE_StructPCGSetMaxIter(h->pcg, (int)ksp->max_it);
  HYPRE_StructPCGSetTol(h->pcg, (double)ksp->rtol);
  HYPRE_StructPCGSetTwoNorm(h->pcg, 1);
  HYPRE_StructPFMGCreate(comm, &h->pfmg);
  HYPRE_StructPFMGSetMaxIter(h->pfmg, 1);
  HYPRE_StructPFMGSetTol(h->pfmg, 0.0);
  HYPRE_StructPFMGSetZeroGuess(h->pfmg);
  HYPRE_StructPFMGSetRAPType(h->pfmg, (int)rap);
  HYPRE_StructPFMGSetRelaxType(h->pfmg, (int)relax);
  HYPRE_StructPFMGSetNumPreRelax(h->pfmg, 1);
  HYPRE_StructPFMGSetNumPostRelax(h->pfmg, 1);
  HYPRE_StructPFMGSetSkipRelax(h->pfmg, (int)skip);
  HYPRE_StructPCGSetPrecond(h->pcg, HYPRE_StructPFMGSolve, HYPRE_StructPFMGSetup, h->pfmg);
  HYPRE_StructPCGSetup(h->pcg, h->A, h->b, h->x);
  CheckHypre();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From zero. Errors of hypre are those of conjugate gradients that do not converge */
static PetscErrorCode KSPSolve_HyprePCG(KSP ksp)
{
  HyprePCG    *h   = (HyprePCG *)ksp->data;
  int          its = 0;
  double       residual;
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(VecGetArray(ksp->vec_rhs, &a));
  HYPRE_StructVectorSetBoxValues2(h->b, h->low, h->high, h->first, h->last, a);
  PetscCall(VecRestoreArray(ksp->vec_rhs, &a));
  HYPRE_StructVectorSetConstantValues(h->x, 0.0);
  HYPRE_StructPCGSolve(h->pcg, h->A, h->b, h->x);
  HYPRE_ClearAllErrors();
  HYPRE_StructPCGGetNumIterations(h->pcg, &its);
  HYPRE_StructPCGGetFinalRelativeResidualNorm(h->pcg, &residual);
  PetscCall(VecSet(ksp->vec_sol, 0));
  PetscCall(VecGetArray(ksp->vec_sol, &a));
  HYPRE_StructVectorGetBoxValues2(h->x, h->low, h->high, h->first, h->last, a);
  PetscCall(VecRestoreArray(ksp->vec_sol, &a));
  CheckHypre();
  ksp->its    = its;
  ksp->reason = residual <= (double)ksp->rtol ? KSP_CONVERGED_RTOL : KSP_DIVERGED_ITS; /* not so for NaN */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* hypre's objects stay: the program ends */
static PetscErrorCode KSPCreate_HyprePCG(KSP ksp)
{
  HyprePCG *h;

  PetscFunctionBegin;
  PetscCall(PetscNew(&h));
  ksp->data                = h;
  ksp->ops->setfromoptions = KSPSetFromOptions_HyprePCG;
  ksp->ops->setup          = KSPSetUp_HyprePCG;
  ksp->ops->solve          = KSPSolve_HyprePCG;
  ksp->ops->destroy        = KSPDestroyDefault;
  ksp->ops->buildsolution  = KSPBuildSolutionDefault;
  ksp->ops->buildresidual  = KSPBuildResidualDefault;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_pfmg(void);

PetscErrorCode PetscDLLibraryRegister_pfmg(void)
{
  PetscFunctionBegin;
  PetscCall(KSPRegister("hyprepcg", KSPCreate_HyprePCG));
  PetscFunctionReturn(PETSC_SUCCESS);
}
