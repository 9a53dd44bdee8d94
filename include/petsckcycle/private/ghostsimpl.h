/*
  A level with the points around those that a process owns, so many in each direction (ghost zones): there a process
  does all sweeps of a visit, the residual and its restriction, or the interpolation and sweeps, as if it were alone.
  Sweeps spoil what they compute from points further away, one point more with each step, and the owned points are
  right in the end. So there are two exchanges in a visit, whatever the number of steps, and the passes through the
  cache run under every cut of the grid into processes.
*/
#pragma once

#include <petsckcycle/private/smootherimpl.h>

/* The grids are those of one process. In each direction; 0: the low side, 1: the high side */
struct _KCycleGhosts {
  const KCycleStencilDouble  *st; /* the operator, and the interpolation from the coarser grid */
  const KCycleTransferDouble *tr;
  const KCycleBox            *box, *coarsebox;      /* what the process owns of both grids, */
  PetscInt                    low[3], coarselow[3]; /* behind so many points of those above */
  PetscInt                    all[3];               /* points of the fine grid above */
  PetscInt                    pad[3][2];            /* points that others own */
  PetscInt                    depth;                /* the most of them at a side */
  PetscInt                    origin[3];            /* parity of the points that the coarser grid keeps */
  PetscInt                   *number; /* of each line: which of the points that others own is its first one */
  PetscSF                     fine;   /* from owned points of the fine grid to those of others, in their order */
  PetscSF                     coarse; /* from owned points of the coarser grid to all there */
  Mat                         A, P;
};

/* The right side and x on such a grid: what the process owns of them is in arrays of the level, as always, and what
   others own is here, line by line */
struct _KCycleGhostVectors {
  const KCycleGhosts *ghosts;
  KCScalar           *b, *x;
};

/* A line of such a vector: its parts lie behind each other on the grid */
typedef struct {
  int       count;
  PetscInt  n[3];
  KCScalar *v[3];
} KCycleGhostsLine;

/* Line (j, k) of the grid with ghost points; owned: what the level has of the vector; others: the rest */
static inline void KCycleGhostsFind(const KCycleGhosts *g, const KCScalar *owned, const KCScalar *others, PetscInt j,
                                    PetscInt k, KCycleGhostsLine *parts)
{
  const PetscInt n = g->box->n[0], all = g->all[0], low = g->low[0], oj = j - g->low[1], ok = k - g->low[2];
  KCScalar      *ghost = (KCScalar *)others + g->number[j + g->all[1] * k];

  parts->count = 0;
  if (oj < 0 || oj >= g->box->n[1] || ok < 0 || ok >= g->box->n[2]) {
    parts->n[0]              = all;
    parts->v[parts->count++] = ghost;
    return;
  }
  if (low) {
    parts->n[0]              = low;
    parts->v[parts->count++] = ghost;
  }
  parts->n[parts->count]   = n;
  parts->v[parts->count++] = (KCScalar *)owned + n * (oj + g->box->n[1] * ok);
  if (all == low + n) return;
  parts->n[parts->count]   = all - low - n;
  parts->v[parts->count++] = ghost + low;
}

/* The line comes to an array, or from there */
static inline void KCycleGhostsCopy(const KCycleGhostsLine *parts, PetscBool in, KCScalar *line)
{
  for (int p = 0; p < parts->count; line += parts->n[p++])
    memcpy(in ? line : parts->v[p], in ? parts->v[p] : line, (size_t)parts->n[p] * sizeof(KCScalar));
}

/* So many points the steps of a visit need: its sweeps, which leave two right, then the residual and its restriction;
   or the interpolation, and its sweeps, which leave none */
static inline PetscInt KCycleGhostsDepth(PetscInt before, PetscInt behind)
{
  return PetscMax(before + 2, behind);
}

/* Collective. depth: so many points; origin: of the smoother, see KCycleSmoother */
PETSC_INTERN PetscErrorCode KCycleGhostsCreate(Mat A, Mat P, PetscInt depth, KCycleGhosts **);
PETSC_INTERN PetscErrorCode KCycleGhostsDestroy(KCycleGhosts **);
