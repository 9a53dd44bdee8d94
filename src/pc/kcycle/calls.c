/*
  How often a kappa-cycle visits its levels: by formulas, and counted.
*/
#include "kcycleimpl.h"

/* b <- a choose b, for the small numbers that occur here; every intermediate value is itself a binomial coefficient */
static PetscInt64 Binomial(PetscInt a, PetscInt b)
{
  PetscInt64 value = 1;

  for (PetscInt j = 1; j <= b; j++) value = value * (a - b + j) / j;
  return value;
}

/*@
  PCKCycleComputeLevelCalls - Number of times that one kappa-cycle is called on a level.

  Not Collective

  Input Parameters:
+ kappa - cycle counter, at least 1; `PC_KCYCLE_KAPPA_W` for the W-cycle
- level - level, counted from 1, the finest; at most 60

  Output Parameter:
. calls - number of calls, sum_{j=0}^{min(kappa,level)-1} binomial(level-1, j)

  Level: advanced

  Note:
  Avnat and Yavneh, Proposition 2.2. The coarsest level counts like the others; where its solver starts from zero the
  second of two calls in a row would repeat the first, and is answered without solving.

.seealso: `PCKCYCLE`, `PCKCycleComputeTotalCalls()`, `PCKCycleGetLevelCalls()`
@*/
PetscErrorCode PCKCycleComputeLevelCalls(PetscInt kappa, PetscInt level, PetscInt64 *calls)
{
  PetscFunctionBegin;
  PetscAssertPointer(calls, 3);
  PetscCheck(kappa > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "kappa must be at least 1, not %" PetscInt_FMT,
             kappa);
  PetscCheck(level > 0 && level <= 60, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "The level must lie in 1 (finest) to 60, not %" PetscInt_FMT, level);
  *calls = 0;
  for (PetscInt j = 0; j < PetscMin(kappa, level); j++) *calls += Binomial(level - 1, j);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleComputeTotalCalls - Number of calls that one kappa-cycle makes on all levels together.

  Not Collective

  Input Parameters:
+ kappa   - cycle counter, at least 1; `PC_KCYCLE_KAPPA_W` for the W-cycle
- nlevels - number of levels, 1 to 60

  Output Parameter:
. calls - number of calls, sum_{j=1}^{min(kappa,nlevels)} binomial(nlevels, j): a polynomial of degree kappa in the
      number of levels

  Level: advanced

  Note:
  Avnat and Yavneh, Proposition 2.4.

.seealso: `PCKCYCLE`, `PCKCycleComputeLevelCalls()`
@*/
PetscErrorCode PCKCycleComputeTotalCalls(PetscInt kappa, PetscInt nlevels, PetscInt64 *calls)
{
  PetscFunctionBegin;
  PetscAssertPointer(calls, 3);
  PetscCheck(kappa > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "kappa must be at least 1, not %" PetscInt_FMT,
             kappa);
  PetscCheck(nlevels > 0 && nlevels <= 60, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "The number of levels must lie in 1 to 60, not %" PetscInt_FMT, nlevels);
  *calls = 0;
  for (PetscInt j = 1; j <= PetscMin(kappa, nlevels); j++) *calls += Binomial(nlevels, j);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCKCycleGetLevelCalls - Gets how often the cycle has been called on each level since the last set-up.

  Not Collective

  Input Parameter:
. pc - the preconditioner, set up

  Output Parameters:
+ nlevels - number of levels, or `NULL`
- calls   - number of calls on each level, the finest first; owned by the preconditioner; or `NULL`

  Level: advanced

  Note:
  Divided by the number of calls on the finest level these are the numbers of `PCKCycleComputeLevelCalls()`.

.seealso: `PCKCYCLE`, `PCKCycleComputeLevelCalls()`
@*/
PetscErrorCode PCKCycleGetLevelCalls(PC pc, PetscInt *nlevels, const PetscInt64 *calls[])
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  if (nlevels) PetscAssertPointer(nlevels, 2);
  if (calls) PetscAssertPointer(calls, 3);
  PetscCall(PCKCycleGetContext(pc, &kc));
  PetscCheck(kc->ready, PetscObjectComm((PetscObject)pc), PETSC_ERR_ORDER, "Levels are known after PCSetUp()");
  for (PetscInt l = 0; l < kc->nlevels; l++) kc->calls[l] = kc->level[kc->nlevels - 1 - l].calls;
  if (nlevels) *nlevels = kc->nlevels;
  if (calls) *calls = kc->calls;
  PetscFunctionReturn(PETSC_SUCCESS);
}
