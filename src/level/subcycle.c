/*
  Bottoms of cycles, see subcycleimpl.h.
*/
#include "subcycleimpl.h"

/* Visits of level l: two cycles, full multigrid, or one cycle, from zero or not; the transpose or not; with kappa up to
   one more than its number of levels, which for two cycles is the W-cycle */
#define VISITS(l) (((l) + 2) * 8)

/* parts: as those of the levels */
PetscErrorCode KCycleSubcyclesCreate(const KCycleKernels *place, PetscInt nlevels, const KCycleLevelParts parts[],
                                     KCycleSubcycles **bottoms)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(bottoms));
  (*bottoms)->place   = place;
  (*bottoms)->nlevels = nlevels;
  (*bottoms)->parts   = parts;
  PetscCall(PetscCalloc1(nlevels, &(*bottoms)->bottom));
  for (PetscInt l = 0; l < nlevels; l++) PetscCall(PetscCalloc1(VISITS(l), &(*bottoms)->bottom[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What kernels work on may be elsewhere now */
PetscErrorCode KCycleSubcyclesForget(KCycleSubcycles *bottoms)
{
  PetscFunctionBegin;
  if (!bottoms) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt l = 0; l < bottoms->nlevels; l++) {
    for (PetscInt i = 0; i < VISITS(l); i++) {
      KCycleSubcycle *bottom = &bottoms->bottom[l][i];

      PetscCall((*bottoms->place->erase)(&bottom->program));
      PetscCall((*bottoms->place->erasematrix)(&bottom->matrix));
      PetscCall(PetscFree(bottom->calls));
      bottom->tried = bottom->done = PETSC_FALSE;
    }
  }
  bottoms->refused = bottoms->pending = bottoms->matrices = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSubcyclesDestroy(KCycleSubcycles **bottoms)
{
  PetscFunctionBegin;
  if (!*bottoms) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleSubcyclesForget(*bottoms));
  for (PetscInt l = 0; l < (*bottoms)->nlevels; l++) PetscCall(PetscFree((*bottoms)->bottom[l]));
  PetscCall(PetscFree((*bottoms)->bottom));
  PetscCall(PetscFree(*bottoms));
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
PetscErrorCode KCycleSubcyclesSetTop(KCycleSubcycles *bottoms, PetscInt unknowns, PetscInt few)
{
  PetscFunctionBegin;
  PetscCall(KCycleSubcyclesForget(bottoms));
  bottoms->top      = 0;
  bottoms->products = PETSC_FALSE;
  for (PetscInt l = 0; l < bottoms->nlevels - 1; l++) {
    const KCycleLevelParts *parts = &bottoms->parts[l];

    if (parts->st->box->npoints >= unknowns || (l && (!Fits(parts->smoother[0]) || !Fits(parts->smoother[1])))) break;
    if (bottoms->products && parts->st->box->npoints >= few) break;
    bottoms->top      = l;
    bottoms->products = (PetscBool)(l && parts->st->box->npoints < few);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NULL: it is none, or within the one that is being written */
KCycleSubcycle *KCycleSubcycleFind(KCycleSubcycles *bottoms, PetscInt level, const KCycleVisit *visit)
{
  const PetscInt  kappa = PetscMin(visit->kappa, level + 2);
  const PetscInt  kind  = visit->full ? 3 : visit->cycles > 1 ? 2 : visit->zeroguess ? 1 : 0;
  KCycleSubcycle *bottom;

  if (!bottoms || bottoms->now || !level || level > bottoms->top) return NULL;
  bottom         = &bottoms->bottom[level][(kappa - 1) * 8 + (visit->transpose ? 4 : 0) + kind];
  bottom->linear = (PetscBool)(kind > 0);
  return bottom;
}

PetscErrorCode KCycleSubcycleBegin(KCycleSubcycles *bottoms, PetscInt level, KCycleSubcycle *bottom)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(level + 1, &bottom->calls));
  for (PetscInt l = 0; l <= level; l++) bottom->calls[l] = *bottoms->parts[l].calls;
  PetscCall((*bottoms->place->write)());
  bottoms->now = bottom;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nothing of it has been done. broken: it ended with an error, and is written anew when it is visited again */
PetscErrorCode KCycleSubcycleEnd(KCycleSubcycles *bottoms, PetscInt level, PetscBool broken)
{
  KCycleSubcycle *bottom = bottoms->now;

  PetscFunctionBegin;
  bottoms->now  = NULL;
  bottom->tried = (PetscBool)!broken;
  PetscCall((*bottoms->place->written)(&bottom->program));
  for (PetscInt l = 0; l <= level; l++) {
    const PetscInt64 calls = *bottoms->parts[l].calls - bottom->calls[l];

    *bottoms->parts[l].calls = bottom->calls[l];
    bottom->calls[l]         = calls;
  }
  if (broken) {
    PetscCall((*bottoms->place->erase)(&bottom->program));
    PetscCall(PetscFree(bottom->calls));
  } else if (!bottom->program) bottoms->refused++;
  else if (bottoms->products && bottom->linear) bottoms->pending++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nothing is left of a matrix for which there is not enough memory */
static PetscErrorCode MakeMatrix(const KCycleSubcycles *bottoms, const KCycleLevelData level[], PetscInt l,
                                 KCycleSubcycle *bottom)
{
  PetscErrorCode ierr;

  PetscFunctionBegin;
  ierr = (*bottoms->place->makematrix)(level, l, bottom->program, &bottom->matrix);
  if (ierr) PetscCall((*bottoms->place->erasematrix)(&bottom->matrix));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Between cycles: makes matrices of what earlier ones have visited */
PetscErrorCode KCycleSubcyclesMakeMatrices(KCycleSubcycles *bottoms, const KCycleLevelData level[])
{
  PetscFunctionBegin;
  if (!bottoms || !bottoms->pending) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt l = 1; l <= bottoms->top; l++) {
    for (PetscInt i = 0; i < VISITS(l); i++) {
      KCycleSubcycle *bottom = &bottoms->bottom[l][i];

      if (!bottom->program || !bottom->linear || bottom->matrix) continue;
      PetscCall(MakeMatrix(bottoms, level, l, bottom));
      bottoms->matrices++;
    }
  }
  bottoms->pending = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSubcycleRun(const KCycleSubcycles *bottoms, const KCycleLevelData levels[], PetscInt level,
                                 KCycleSubcycle *bottom)
{
  PetscFunctionBegin;
  if (bottom->matrix) PetscCall((*bottoms->place->multiply)(&levels[level], bottom->matrix));
  else PetscCall((*bottoms->place->perform)(bottom->program, bottom->done));
  for (PetscInt l = 0; l <= level; l++) *bottoms->parts[l].calls += bottom->calls[l];
  bottom->done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
