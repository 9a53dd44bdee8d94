/*
  Coarse sub-cycles, see subcycleimpl.h.
*/
#include "levels.h"

/* Visits of level l: two cycles, full multigrid, or one cycle, from zero or not; the transpose or not; with kappa up to
   one more than its number of levels, which for two cycles is the W-cycle */
#define VISITS(l) (((l) + 2) * 8)

PetscErrorCode KCycleSubcyclesCreate(const KCycleLevels *levels, KCycleSubcycles **subcycles)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(subcycles));
  (*subcycles)->levels = levels;
  PetscCall(PetscCalloc1(levels->nlevels, &(*subcycles)->subcycle));
  for (PetscInt l = 0; l < levels->nlevels; l++) PetscCall(PetscCalloc1(VISITS(l), &(*subcycles)->subcycle[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What kernels work on may be elsewhere now */
PetscErrorCode KCycleSubcyclesForget(KCycleSubcycles *subcycles)
{
  PetscFunctionBegin;
  if (!subcycles) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt l = 0; l < subcycles->levels->nlevels; l++) {
    for (PetscInt i = 0; i < VISITS(l); i++) {
      KCycleSubcycle *subcycle = &subcycles->subcycle[l][i];

      PetscCall((*subcycles->levels->kernels->erase)(&subcycle->program));
      PetscCall((*subcycles->levels->kernels->erasematrix)(&subcycle->matrix));
      PetscCall(PetscFree(subcycle->calls));
      subcycle->tried = subcycle->done = PETSC_FALSE;
    }
  }
  subcycles->sharing.refused = subcycles->sharing.matrices = subcycles->pending = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSubcyclesDestroy(KCycleSubcycles **subcycles)
{
  PetscFunctionBegin;
  if (!*subcycles) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleSubcyclesForget(*subcycles));
  for (PetscInt l = 0; l < (*subcycles)->levels->nlevels; l++) PetscCall(PetscFree((*subcycles)->subcycle[l]));
  PetscCall(PetscFree((*subcycles)->subcycle));
  PetscCall(PetscFree(*subcycles));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Has it the kernels that one block can run? */
static PetscBool Fits(const KCycleSmoother *s)
{
  return (PetscBool)(!s->clusters && (s->kind == KCYCLE_SWEEPS_JACOBI || s->kind == KCYCLE_SWEEPS_CHEBYSHEV ||
                                      s->kind == KCYCLE_SWEEPS_REDBLACK || s->kind == KCYCLE_SWEEPS_COLOURS));
}

/*
  Levels with fewer unknowns, but for the finest one, whose arrays are the caller's. A program that ended with a product
  would have it done by one block: where some levels have few unknowns, and with them matrices, finer ones have kernels
  of their own
*/
PetscErrorCode KCycleSubcyclesSetTop(KCycleSubcycles *subcycles, PetscInt unknowns, PetscInt few)
{
  KCycleSharing *sharing = &subcycles->sharing;

  PetscFunctionBegin;
  PetscCall(KCycleSubcyclesForget(subcycles));
  sharing->level    = 0;
  sharing->products = PETSC_FALSE;
  for (PetscInt l = 0; l < subcycles->levels->nlevels - 1; l++) {
    const KCycleLevelParts *parts = &subcycles->levels->parts[l];
    const PetscInt          n     = parts->st->box->npoints;

    if (n >= unknowns || (l && (!Fits(parts->smoother[0]) || !Fits(parts->smoother[1])))) break;
    if (sharing->products && n >= few) break;
    sharing->level    = l;
    sharing->unknowns = n;
    sharing->products = (PetscBool)(l && n < few);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NULL: it is none, or within the one that is being written */
KCycleSubcycle *KCycleSubcycleFind(KCycleSubcycles *subcycles, PetscInt level, const KCycleVisit *visit)
{
  const PetscInt  kappa = PetscMin(visit->kappa, level + 2);
  const PetscInt  kind  = visit->full ? 3 : visit->cycles > 1 ? 2 : visit->zeroguess ? 1 : 0;
  KCycleSubcycle *subcycle;

  if (!subcycles || subcycles->now || !level || level > subcycles->sharing.level) return NULL;
  subcycle         = &subcycles->subcycle[level][(kappa - 1) * 8 + (visit->transpose ? 4 : 0) + kind];
  subcycle->linear = (PetscBool)(kind > 0);
  return subcycle;
}

PetscErrorCode KCycleSubcycleBegin(KCycleSubcycles *subcycles, PetscInt level, KCycleSubcycle *subcycle)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(level + 1, &subcycle->calls));
  for (PetscInt l = 0; l <= level; l++) subcycle->calls[l] = *subcycles->levels->parts[l].calls;
  PetscCall((*subcycles->levels->kernels->write)());
  subcycles->now = subcycle;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nothing of it has been done. failed: it ended with an error, and is written anew when it is visited again */
PetscErrorCode KCycleSubcycleEnd(KCycleSubcycles *subcycles, PetscInt level, PetscBool failed)
{
  KCycleSubcycle *subcycle = subcycles->now;

  PetscFunctionBegin;
  subcycles->now  = NULL;
  subcycle->tried = (PetscBool)!failed;
  PetscCall((*subcycles->levels->kernels->written)(&subcycle->program));
  for (PetscInt l = 0; l <= level; l++) {
    const PetscInt64 calls = *subcycles->levels->parts[l].calls - subcycle->calls[l];

    *subcycles->levels->parts[l].calls = subcycle->calls[l];
    subcycle->calls[l]                 = calls;
  }
  if (failed) {
    PetscCall((*subcycles->levels->kernels->erase)(&subcycle->program));
    PetscCall(PetscFree(subcycle->calls));
  } else if (!subcycle->program) subcycles->sharing.refused++;
  else if (subcycles->sharing.products && subcycle->linear) subcycles->pending++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nothing is left of a matrix for which there is not enough memory */
static PetscErrorCode MakeMatrix(const KCycleLevels *levels, PetscInt l, KCycleSubcycle *subcycle)
{
  PetscErrorCode ierr;

  PetscFunctionBegin;
  ierr = (*levels->kernels->makematrix)(levels->level, l, subcycle->program, &subcycle->matrix);
  if (ierr) PetscCall((*levels->kernels->erasematrix)(&subcycle->matrix));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Between cycles: makes matrices of what earlier ones have visited */
PetscErrorCode KCycleSubcyclesMakeMatrices(KCycleSubcycles *subcycles)
{
  PetscFunctionBegin;
  if (!subcycles || !subcycles->pending) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt l = 1; l <= subcycles->sharing.level; l++) {
    for (PetscInt i = 0; i < VISITS(l); i++) {
      KCycleSubcycle *subcycle = &subcycles->subcycle[l][i];

      if (!subcycle->program || !subcycle->linear || subcycle->matrix) continue;
      PetscCall(MakeMatrix(subcycles->levels, l, subcycle));
      subcycles->sharing.matrices++;
    }
  }
  subcycles->pending = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSubcycleRun(const KCycleSubcycles *subcycles, PetscInt level, KCycleSubcycle *subcycle)
{
  const KCycleLevels *levels = subcycles->levels;

  PetscFunctionBegin;
  if (subcycle->matrix) PetscCall((*levels->kernels->multiply)(&levels->level[level], subcycle->matrix));
  else PetscCall((*levels->kernels->perform)(subcycle->program, subcycle->done));
  for (PetscInt l = 0; l <= level; l++) *levels->parts[l].calls += subcycle->calls[l];
  subcycle->done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
