/*
  Levels that processes cut across the planes of passes through the cache get ghost points, see ghostsimpl.h.
*/
#include <petsckcycle/private/ghostsimpl.h>
#include "kcycleimpl.h"

/* The distance of the points that what a sweep leaves at a point depends on. 0: it cannot work with ghost points */
static PetscInt ReachOf(const KCycleSmoother *s)
{
  if (s->single || s->clusters || !s->ops.smoothrestrict) return 0;
  return s->kind == KCYCLE_SWEEPS_REDBLACK    ? s->nsteps
         : s->kind == KCYCLE_SWEEPS_JACOBI    ? 1
         : s->kind == KCYCLE_SWEEPS_CHEBYSHEV ? s->degree
                                              : 0;
}

/* The most ghost points that a process has; owned: the points that it owns. Directions of the grid in
   which there is a process with neighbours on both sides decide */
static PetscReal GhostPoints(const KCycleBox *box, PetscInt depth, PetscReal *owned)
{
  PetscReal all = 1;

  *owned = 1;
  for (int d = 0; d < 3; d++) {
    PetscInt most = 0, n = 0;

    for (PetscInt p = 0; p < box->nproc[d]; p++) {
      const PetscInt low = box->range[d][p], high = box->range[d][p + 1], size = box->size[d];
      const PetscInt ghosts = d >= box->dim      ? 0
                              : box->periodic[d] ? 2 * depth
                                                 : PetscMin(depth, low) + PetscMin(depth, size - high);

      if (ghosts + high - low <= most) continue;
      n    = high - low;
      most = ghosts + n;
    }
    *owned *= (PetscReal)n;
    all *= (PetscReal)most;
  }
  return all - *owned;
}

/* Ghost points for a level: as many as its sweeps need; 0: none */
static PetscInt DepthOf(const PC_KCycle *kc, const KCycleLevelParts *parts)
{
  const KCycleBox *box = parts->st->box;
  PetscInt         depth, reach[2], most;
  PetscReal        owned;

  if (kc->limits.ghost_points < 0 || kc->at == KCYCLE_MEMORY_DEVICE || kc->split.level) return 0;
  if (!KCycleBoxTalks(box) || KCyclePlanesAreWhole(box) || parts->st->shape.flat) return 0;
  if (box->dim == 1) return 0; /* a plane is all of it */
  for (int i = 0; i < 2; i++) {
    reach[i] = ReachOf(parts->smoother[i]);
    if (!reach[i]) return 0;
    reach[i] *= parts->its[i] * (parts->order[i] == PC_RELAX_ORDER_SYMMETRIC ? 2 : 1);
  }
  most  = PetscMax(reach[0], reach[1]); /* the transposed cycle has the smoothers the other way round */
  /* sweeps that are done once more going up, see KCycleSmootherUnwritten(), come before those after coarser levels */
  depth = KCycleGhostsDepth(most, parts->smoother[0]->ops.repeats ? reach[0] + reach[1] : most);
  return GhostPoints(box, depth, &owned) <= owned + kc->limits.ghost_points ? depth : 0;
}

/* Collective. When it is known which levels there are, and where they are */
PetscErrorCode PCKCycleGhostsSetUp(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  for (PetscInt l = 1; l < kc->nlevels; l++) {
    KCycleLevelParts *parts = &kc->parts[l];
    KCycleGhosts     *ghosts;
    const PetscInt    depth = DepthOf(kc, parts);

    if (!depth) continue;
    PetscCall(KCycleGhostsCreate(KCycleGridOf(kc, l)->A, KCycleGridOf(kc, l)->P, depth, &ghosts));
    parts->ghosts = ghosts;
    if (!ghosts) continue;
    for (int d = 0; d < 3; d++)
      ghosts->origin[d] = (parts->st->box->start[d] + parts->smoother[0]->origin[d] + ghosts->low[d]) & 1;
    kc->level[l].fused = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
