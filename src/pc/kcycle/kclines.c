/*
  What the smoothers of structured levels relax, where nobody has chosen: points, lines or planes.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/relaximpl.h>

/* Lines; planes are tried when a smoother asks for them */
PetscErrorCode KCycleStructureChooseLines(const PC_KCycle *kc, KCycleStructure *level)
{
  const KCycleScan *facts;

  PetscFunctionBegin;
  level->lines[0]  = 0;
  level->planes[0] = 0;
  level->tried     = PETSC_FALSE;
  if (kc->anisotropy == PC_KCYCLE_ANISOTROPY_OFF) PetscFunctionReturn(PETSC_SUCCESS);
  if (kc->convects) PetscCall(MatStencilScanDrift(level->A, &facts));
  else PetscCall(MatStencilScan(level->A, &facts));
  if (KCyclePolicySeeksRuns(facts, level->factor)) PetscCall(MatStencilScanRuns(level->A, &facts));
  KCyclePolicyLines(facts, kc->convects, level->factor, level->lines);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where directions are weak beside both others, lines may leave errors that oscillate along them */
static PetscErrorCode TryLines(KCycleStructure *level)
{
  const KCycleStencil *st      = KCycleStencilOf(level->A);
  PetscReal            left[3] = {0, 0, 0};
  KCycleSmoother      *s       = NULL;
  const KCycleScan    *facts;

  PetscFunctionBegin;
  PetscCall(MatStencilScan(level->A, &facts));
  for (int d = 0; d < 3 && level->lines[0]; d++) {
    if (!KCyclePolicyTriesPlanes(facts, level->factor, d) || st->box->size[d] < 2) continue;
    if (!s) {
      PetscCall(KCycleSmootherCreate(PetscObjectComm((PetscObject)level->A), st, facts, PC_RELAX_ALTERNATING, &s));
      s->directions = level->lines;
      s->origin     = level->origin;
      PetscCall(KCycleSmootherSetUp(s));
    }
    PetscCall(KCycleSmootherTry(s, KCycleTransferOf(level->P), d, &left[d]));
  }
  PetscCall(KCycleSmootherDestroy(&s));
  KCyclePolicyPlanes(facts, left, level->planes, level->lines);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines and planes of a level for its smoother, unless somebody has chosen the type of that. Where lines are broken
   planes are not worth their time */
PetscErrorCode KCycleStructureGiveLines(const PC_KCycle *kc, KCycleStructure *level, PC pc, PetscBool *given)
{
  PetscFunctionBegin;
  PetscCall(PCRelaxIsAuto(pc, given));
  if (!*given) PetscFunctionReturn(PETSC_SUCCESS);
  if (!level->tried && !kc->broken) PetscCall(TryLines(level));
  level->tried = PETSC_TRUE;
  PetscCall(PCRelaxSetLines(pc, level->lines, level->planes));
  PetscFunctionReturn(PETSC_SUCCESS);
}
