/*
  The coarsest problem on a device: the inverse of its operator is made at set-up, column by column, by the solver that
  the host would call, and is a matrix there. So a cycle on one process needs nothing of the host.
*/
#include "kcycleimpl.h"

/* Was an option of the coarsest solver given? */
static PetscErrorCode HasOptions(KSP coarse, PetscBool *has)
{
  char *all, *found, name[256];

  PetscFunctionBegin;
  PetscCall(
      PetscSNPrintf(name, sizeof(name), "-%s", ((PetscObject)coarse)->prefix ? ((PetscObject)coarse)->prefix : ""));
  PetscCall(PetscOptionsGetAll(((PetscObject)coarse)->options, &all));
  PetscCall(PetscStrstr(all, name, &found));
  *has = (PetscBool)(found != NULL);
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is it the one that solves by default: factors, or a pseudo-inverse, without a monitor? */
static PetscErrorCode IsDefault(KSP coarse, PetscBool *is)
{
  PetscBool preonly, direct, options = PETSC_FALSE;
  PC        pc;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(coarse, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)coarse, KSPPREONLY, &preonly));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &direct, PCLU, PCCHOLESKY, PCSVD, ""));
  PetscCall(HasOptions(coarse, &options));
  *is = (PetscBool)(preonly && direct && !options && !coarse->numbermonitors);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why the coarsest problem, of count independent systems, is solved on the host; or nothing */
static PetscErrorCode FindObstacle(PC pc, PetscInt count, const char *why[])
{
  PC_KCycle  *kc = KCycleOf(pc);
  PetscMPIInt size;
  PetscBool   is = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  PetscCall(IsDefault(((PC_MG *)pc->data)->levels[0]->smoothd, &is));
  *why = size > 1                                                  ? "which several processes share"
         : !is || kc->coarse_continues                             ? "which somebody chose"
         : kc->parts[0].st->box->npoints / count > KCYCLE_INVERTED ? "which has too many unknowns for the inverse"
                                                                   : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The part of the right side that no solution has: it is rounding, which factors of a singular operator make as large
   as their pivots are small */
PetscErrorCode KCycleCoarsestMakeConsistent(const PC_MG_Levels *coarsest, Vec b)
{
  Mat          A;
  MatNullSpace kernel;

  PetscFunctionBegin;
  PetscCall(KSPGetOperators(coarsest->smoothd, &A, NULL));
  PetscCall(MatGetTransposeNullSpace(A, &kernel));
  if (!kernel) PetscCall(MatGetNullSpace(A, &kernel));
  if (kernel) PetscCall(MatNullSpaceRemove(kernel, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Column j of all systems: what the solver does with consistent right sides; finite becomes false with Inf and NaN */
static PetscErrorCode Column(PC_MG_Levels *lv, PetscInt n, const KCycleInverse *inverse, PetscInt j, PetscBool *finite)
{
  const PetscInt     size   = n / inverse->count;
  PetscScalar       *column = inverse->column + j * n;
  const PetscScalar *x;

  PetscFunctionBegin;
  PetscCall(VecZeroEntries(lv->b));
  for (PetscInt k = 0; k < inverse->count; k++) PetscCall(VecSetValue(lv->b, j + size * k, 1, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(lv->b));
  PetscCall(VecAssemblyEnd(lv->b));
  PetscCall(KCycleCoarsestMakeConsistent(lv, lv->b));
  PetscCall(VecZeroEntries(lv->x));
  PetscCall(KSPSolve(lv->smoothd, lv->b, lv->x));
  PetscCall(VecGetArrayRead(lv->x, &x));
  for (PetscInt i = 0; i < n; i++) {
    column[i] = x[i];
    if (PetscIsInfOrNanScalar(x[i])) *finite = PETSC_FALSE;
  }
  PetscCall(VecRestoreArrayRead(lv->x, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For levels on a device, whose coarsest problem has count systems. why: nothing, or why they need the host for it. A
   solver that fails does so each time that it is called, as on the host */
PetscErrorCode PCKCycleInverseCreate(PC pc, KCycleLevels *levels, PetscInt count, const char *why[])
{
  PC_KCycle    *kc      = KCycleOf(pc);
  KCycleInverse inverse = {count, NULL};
  PetscInt      n;
  PetscBool     finite = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(FindObstacle(pc, count, why));
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  n = kc->parts[0].st->box->npoints;
  PetscCall(PetscMalloc1(n * (n / count), &inverse.column));
  for (PetscInt j = 0; j < n / count && finite; j++)
    PetscCall(Column(((PC_MG *)pc->data)->levels[0], n, &inverse, j, &finite));
  if (finite) PetscCall((*kc->engine->setinverse)(levels, &inverse));
  else *why = "which fails";
  PetscCall(PetscFree(inverse.column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* When the engine has its levels */
PetscErrorCode PCKCycleInverseSetUp(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  kc->inverted = PETSC_FALSE;
  if (kc->at != KCYCLE_MEMORY_DEVICE || kc->split.level || kc->gathered.ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCKCycleInverseCreate(pc, kc->levels, 1, &kc->notinverted));
  kc->inverted = (PetscBool)(kc->notinverted == NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}
