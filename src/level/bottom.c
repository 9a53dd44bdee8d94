/*
  Bottoms of cycles, see bottomimpl.h.
*/
#include <petsckcycle/private/bottomimpl.h>

/* Visits of level l: with kappa up to its number of levels, which is the W-cycle, of a cycle or full multigrid, its
   transpose or not, from zero or not */
#define VISITS(l) (((l) + 1) * 8)

/* parts: as those of the levels */
PetscErrorCode KCycleBottomsCreate(const KCycleKernels *place, PetscInt nlevels, const KCycleLevelParts parts[],
                                   KCycleBottoms **bottoms)
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
PetscErrorCode KCycleBottomsForget(KCycleBottoms *bottoms)
{
  PetscFunctionBegin;
  if (!bottoms) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt l = 0; l < bottoms->nlevels; l++) {
    for (PetscInt i = 0; i < VISITS(l); i++) {
      KCycleBottom *bottom = &bottoms->bottom[l][i];

      PetscCall((*bottoms->place->erase)(&bottom->program));
      PetscCall(PetscFree(bottom->calls));
      bottom->tried = bottom->done = PETSC_FALSE;
    }
  }
  bottoms->refused = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleBottomsDestroy(KCycleBottoms **bottoms)
{
  PetscFunctionBegin;
  if (!*bottoms) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleBottomsForget(*bottoms));
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

/* Levels with fewer unknowns, but for the finest one, whose arrays are the caller's */
PetscErrorCode KCycleBottomsSetTop(KCycleBottoms *bottoms, PetscInt unknowns)
{
  PetscFunctionBegin;
  PetscCall(KCycleBottomsForget(bottoms));
  bottoms->top = 0;
  for (PetscInt l = 0; l < bottoms->nlevels - 1; l++) {
    const KCycleLevelParts *parts = &bottoms->parts[l];

    if (parts->st->box->npoints >= unknowns || (l && (!Fits(parts->smoother[0]) || !Fits(parts->smoother[1])))) break;
    bottoms->top = l;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NULL: it is none, or within the one that is being written */
KCycleBottom *KCycleBottomFind(KCycleBottoms *bottoms, PetscInt level, const KCycleVisit *visit)
{
  const PetscInt kappa = PetscMin(visit->kappa, level + 1);

  if (!bottoms || bottoms->now || !level || level > bottoms->top) return NULL;
  return &bottoms->bottom[level][(kappa - 1) * 8 + (visit->full ? 4 : 0) + (visit->transpose ? 2 : 0) +
                                 (visit->zeroguess ? 1 : 0)];
}

PetscErrorCode KCycleBottomBegin(KCycleBottoms *bottoms, PetscInt level, KCycleBottom *bottom)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(level + 1, &bottom->calls));
  for (PetscInt l = 0; l <= level; l++) bottom->calls[l] = *bottoms->parts[l].calls;
  PetscCall((*bottoms->place->write)());
  bottoms->now = bottom;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nothing of it has been done */
PetscErrorCode KCycleBottomEnd(KCycleBottoms *bottoms, PetscInt level)
{
  KCycleBottom *bottom = bottoms->now;

  PetscFunctionBegin;
  bottoms->now  = NULL;
  bottom->tried = PETSC_TRUE;
  PetscCall((*bottoms->place->written)(&bottom->program));
  for (PetscInt l = 0; l <= level; l++) {
    const PetscInt64 calls = *bottoms->parts[l].calls - bottom->calls[l];

    *bottoms->parts[l].calls = bottom->calls[l];
    bottom->calls[l]         = calls;
  }
  if (!bottom->program) bottoms->refused++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleBottomRun(const KCycleBottoms *bottoms, PetscInt level, KCycleBottom *bottom)
{
  PetscFunctionBegin;
  PetscCall((*bottoms->place->perform)(bottom->program, bottom->done));
  for (PetscInt l = 0; l <= level; l++) *bottoms->parts[l].calls += bottom->calls[l];
  bottom->done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
