/*
  Levels with ghost points, see ghostsimpl.h: the owned points of the vectors of a level lie among those of others,
  which come before each visit.
*/
#include <petsckcycle/private/placeimpl.h>

#if defined(KCYCLE_SINGLE)
  #define NUMBER MPI_FLOAT
#else
  #define NUMBER MPIU_SCALAR
#endif

/* Between an array of the points that a process owns and one of those of a grid, behind low of which these are */
static void Copy(const KCycleBox *box, const KCycleBox *all, const PetscInt low[], PetscBool in, KCScalar *owned,
                 KCScalar *grid)
{
  const PetscInt n = box->n[0];

  for (PetscInt line = 0; line < box->nlines; line++) {
    const PetscInt j = line % box->n[1] + low[1], k = line / box->n[1] + low[2];
    KCScalar      *mine = owned + line * n, *there = grid + low[0] + all->n[0] * (j + all->n[1] * k);

    memcpy(in ? there : mine, in ? mine : there, n * sizeof(KCScalar));
  }
}

/* x <- sweeps(x), coarse b <- R (b - A x). x stays among the ghost points until the visit goes on */
PetscErrorCode KCycleGhostedSmoothRestrict(const KCycleLevelData *level, int which, const KCycleSweeps *sweeps)
{
  KCycleGhosted         *g      = level->ghosted;
  const KCycleGhosts    *ghosts = g->ghosts;
  const KCycleLevelData *coarse = level - 1;
  KCycleSmoother        *s      = g->smoother[which];

  PetscFunctionBegin;
  KCycleRounds++;
  Copy(ghosts->box, g->st->box, ghosts->low, PETSC_TRUE, level->b, g->b);
  PetscCall(PetscSFBcastBegin(ghosts->fine, NUMBER, g->b, g->b, MPI_REPLACE));
  if (!sweeps->zeroguess) {
    Copy(ghosts->box, g->st->box, ghosts->low, PETSC_TRUE, level->x, g->x);
    PetscCall(PetscSFBcastBegin(ghosts->fine, NUMBER, g->x, g->x, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(ghosts->fine, NUMBER, g->x, g->x, MPI_REPLACE));
  }
  PetscCall(PetscArrayzero(g->coarseb, g->tr->coarse->npoints));
  PetscCall(PetscSFBcastEnd(ghosts->fine, NUMBER, g->b, g->b, MPI_REPLACE));
  PetscCall((*s->ops.smoothrestrict)(s, sweeps, g->b, g->x, g->tr, g->coarseb, NULL));
  Copy(ghosts->coarsebox, g->tr->coarse, ghosts->coarselow, PETSC_FALSE, coarse->b, g->coarseb);
  g->holds = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- sweeps(x + P coarse x) */
PetscErrorCode KCycleGhostedInterpolateSmooth(const KCycleLevelData *level, int which, const KCycleSweeps *sweeps)
{
  KCycleGhosted      *g      = level->ghosted;
  const KCycleGhosts *ghosts = g->ghosts;
  KCycleSmoother     *s      = g->smoother[which];

  PetscFunctionBegin;
  KCycleRounds += g->holds ? 1 : 2;
  if (!g->holds) {
    Copy(ghosts->box, g->st->box, ghosts->low, PETSC_TRUE, level->b, g->b);
    Copy(ghosts->box, g->st->box, ghosts->low, PETSC_TRUE, level->x, g->x);
    PetscCall(PetscSFBcastBegin(ghosts->fine, NUMBER, g->b, g->b, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(ghosts->fine, NUMBER, g->b, g->b, MPI_REPLACE));
  }
  if (!sweeps->unwritten) PetscCall(PetscSFBcastBegin(ghosts->fine, NUMBER, g->x, g->x, MPI_REPLACE));
  PetscCall(PetscSFBcastBegin(ghosts->coarse, NUMBER, level[-1].x, g->coarsex, MPI_REPLACE));
  Copy(ghosts->coarsebox, g->tr->coarse, ghosts->coarselow, PETSC_TRUE, level[-1].x, g->coarsex);
  PetscCall(PetscSFBcastEnd(ghosts->coarse, NUMBER, level[-1].x, g->coarsex, MPI_REPLACE));
  if (!sweeps->unwritten) PetscCall(PetscSFBcastEnd(ghosts->fine, NUMBER, g->x, g->x, MPI_REPLACE));
  PetscCall((*s->ops.interpolatesmooth)(s, sweeps, g->tr, g->coarsex, g->b, g->x));
  Copy(ghosts->box, g->st->box, ghosts->low, PETSC_FALSE, level->x, g->x);
  g->holds = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operator, interpolation and smoothers of the ghost points in the numbers of the levels; smoother: those without
   ghost points */
PetscErrorCode KCycleGhostedCreate(const KCycleGhosts *ghosts, KCycleSmoother *const smoother[], PetscReal divisor,
                                   KCycleGhosted **ghosted)
{
  KCycleGhosted *g;
  PetscInt       n, nc;

  PetscFunctionBegin;
  PetscCall(PetscNew(&g));
  *ghosted  = g;
  g->ghosts = ghosts;
#if defined(KCYCLE_SINGLE)
  PetscCall(KCycleStencilSingleCreate(ghosts->st, divisor, (KCycleStencil **)&g->st));
  PetscCall(KCycleTransferSingleCreate(ghosts->tr, (KCycleTransfer **)&g->tr));
#else
  g->st = ghosts->st;
  g->tr = ghosts->tr;
#endif
  n  = g->st->box->npoints;
  nc = g->tr->coarse->npoints;
  for (int i = 0; i < 2; i++) {
    if (i && smoother[1] == smoother[0]) g->smoother[1] = g->smoother[0];
    else PetscCall(KCycleSmootherCreateLike(smoother[i], g->st, divisor, ghosts, &g->smoother[i]));
  }
  PetscCall(PetscCalloc4(n, &g->b, n, &g->x, nc, &g->coarseb, nc, &g->coarsex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleGhostedDestroy(KCycleGhosted **ghosted)
{
  KCycleGhosted *g = *ghosted;

  PetscFunctionBegin;
  if (!g) PetscFunctionReturn(PETSC_SUCCESS);
  if (g->smoother[1] != g->smoother[0]) PetscCall(KCycleSmootherDestroy(&g->smoother[1]));
  PetscCall(KCycleSmootherDestroy(&g->smoother[0]));
#if defined(KCYCLE_SINGLE)
  PetscCall(KCycleStencilSingleDestroy((KCycleStencil **)&g->st));
  PetscCall(KCycleTransferSingleDestroy((KCycleTransfer **)&g->tr));
#endif
  PetscCall(PetscFree4(g->b, g->x, g->coarseb, g->coarsex));
  PetscCall(PetscFree(*ghosted));
  PetscFunctionReturn(PETSC_SUCCESS);
}
