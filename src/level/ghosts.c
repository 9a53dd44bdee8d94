/*
  Levels with ghost points, see ghostsimpl.h: what others own of the vectors of a level comes before each visit, to
  arrays of its own, see vectorsimpl.h.
*/
#include <petsckcycle/private/memoryimpl.h>

/* Between an array of the points that a process owns and one of those of the coarser grid */
static void CopyCoarse(const KCycleGhosts *g, const KCycleBox *all, PetscBool in, KCScalar *owned, KCScalar *grid)
{
  const KCycleBox *box = g->coarsebox;
  const PetscInt   n   = box->n[0];

  for (PetscInt line = 0; line < box->nlines; line++) {
    const PetscInt j = line % box->n[1] + g->coarselow[1], k = line / box->n[1] + g->coarselow[2];
    KCScalar      *mine = owned + line * n, *there = grid + g->coarselow[0] + all->n[0] * (j + all->n[1] * k);

    memcpy(in ? there : mine, in ? mine : there, (size_t)n * sizeof(KCScalar));
  }
}

/* All lines to an array of the grid, or from there */
static void CopyAll(const KCycleGhosted *g, PetscBool in, KCScalar *owned, KCScalar *others, KCScalar *grid)
{
  const KCycleBox  *all = g->st->box;
  KCycleVectorsLine line;

  for (PetscInt l = 0; l < all->nlines; l++) {
    KCycleVectorsFind(all, &g->vectors, l % all->n[1], l / all->n[1], &line);
    for (int p = 0; p < line.count; grid += line.n[p++]) {
      KCScalar *part = (line.owned[p] ? owned : others) + line.at[p];

      memcpy(in ? grid : part, in ? part : grid, (size_t)line.n[p] * sizeof(KCScalar));
    }
  }
}

/* Right side and x of points of others. The right side comes in the numbers that its owners have. step: the beginning
   or the end */
static PetscErrorCode Fetch(const KCycleLevelData *level, PetscBool right, PetscBool x,
                            PetscErrorCode (*step)(PetscSF, MPI_Datatype, const void *, void *, MPI_Op))
{
  const KCycleVectors *v  = &level->ghosted->vectors;
  PetscSF              sf = v->ghosts->fine;

  PetscFunctionBegin;
  if (right && v->from) PetscCall((*step)(sf, MPIU_SCALAR, v->from, v->others, MPI_REPLACE));
  else if (right) PetscCall((*step)(sf, KC_MPI_NUMBER, level->b, v->b, MPI_REPLACE));
  if (x) PetscCall((*step)(sf, KC_MPI_NUMBER, level->x, v->x, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- sweeps(x), coarse b <- R (b - A x) */
PetscErrorCode KCycleGhostedSmoothRestrict(const KCycleLevelData *level, int which, const KCycleSweeps *sweeps)
{
  KCycleGhosted       *g = level->ghosted;
  const KCycleVectors *v = &g->vectors;
  KCycleSmoother      *s = g->smoother[which];

  PetscFunctionBegin;
  KCycleRounds++;
  PetscCall(Fetch(level, PETSC_TRUE, (PetscBool)!sweeps->zeroguess, PetscSFBcastBegin));
  PetscCall(PetscArrayzero(g->coarseb, g->tr->coarse->npoints));
  PetscCall(Fetch(level, PETSC_TRUE, (PetscBool)!sweeps->zeroguess, PetscSFBcastEnd));
  if (!s->inparts) {
    CopyAll(g, PETSC_TRUE, level->b, v->b, g->b);
    if (!sweeps->zeroguess) CopyAll(g, PETSC_TRUE, level->x, v->x, g->x);
  }
  PetscCall((*s->ops.smoothrestrict)(s, sweeps, s->inparts ? level->b : g->b, s->inparts ? level->x : g->x, g->tr,
                                     g->coarseb, NULL));
  if (!s->inparts) CopyAll(g, PETSC_FALSE, level->x, v->x, g->x);
  CopyCoarse(v->ghosts, g->tr->coarse, PETSC_FALSE, level[-1].b, g->coarseb);
  g->holds = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- sweeps(x + P coarse x) */
PetscErrorCode KCycleGhostedInterpolateSmooth(const KCycleLevelData *level, int which, const KCycleSweeps *sweeps)
{
  KCycleGhosted       *g      = level->ghosted;
  const KCycleVectors *v      = &g->vectors;
  PetscSF              coarse = v->ghosts->coarse;
  KCycleSmoother      *s      = g->smoother[which];

  PetscFunctionBegin;
  KCycleRounds++;
  PetscCall(PetscSFBcastBegin(coarse, KC_MPI_NUMBER, level[-1].x, g->coarsex, MPI_REPLACE));
  PetscCall(Fetch(level, (PetscBool)!g->holds, (PetscBool)!sweeps->unwritten, PetscSFBcastBegin));
  CopyCoarse(v->ghosts, g->tr->coarse, PETSC_TRUE, level[-1].x, g->coarsex);
  PetscCall(PetscSFBcastEnd(coarse, KC_MPI_NUMBER, level[-1].x, g->coarsex, MPI_REPLACE));
  PetscCall(Fetch(level, (PetscBool)!g->holds, (PetscBool)!sweeps->unwritten, PetscSFBcastEnd));
  if (!s->inparts) {
    CopyAll(g, PETSC_TRUE, level->b, v->b, g->b);
    if (!sweeps->unwritten) CopyAll(g, PETSC_TRUE, level->x, v->x, g->x);
  }
  PetscCall((*s->ops.interpolatesmooth)(s, sweeps, g->tr, g->coarsex, s->inparts ? level->b : g->b,
                                        s->inparts ? level->x : g->x));
  if (!s->inparts) CopyAll(g, PETSC_FALSE, level->x, v->x, g->x);
  g->holds = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operator, interpolation and smoothers of the ghost points in the numbers of the levels; smoother: those without
   ghost points; converts: right sides come in PETSc's numbers, and levels have others */
PetscErrorCode KCycleGhostedCreate(const KCycleGhosts *ghosts, KCycleSmoother *const smoother[], PetscReal divisor,
                                   PetscBool converts, KCycleGhosted **ghosted)
{
  KCycleGhosted *g;
  KCycleVectors *v;
  PetscInt       n, others, nc;

  PetscFunctionBegin;
  PetscCall(PetscNew(&g));
  *ghosted          = g;
  g->vectors.ghosts = ghosts;
#if defined(KCYCLE_SINGLE)
  PetscCall(KCycleStencilSingleCreate(ghosts->st, divisor, (KCycleStencil **)&g->st));
  PetscCall(KCycleTransferSingleCreate(ghosts->tr, (KCycleTransfer **)&g->tr));
#else
  g->st = ghosts->st;
  g->tr = ghosts->tr;
#endif
  v      = &g->vectors;
  n      = g->st->box->npoints;
  others = n - ghosts->box->npoints;
  nc     = g->tr->coarse->npoints;
  PetscCall(PetscCalloc2(others, &v->b, others, &v->x));
  if (converts) PetscCall(PetscMalloc2(others, &v->others, KC_MOST * KCycleThreadsMost(), &v->most));
  PetscCall(KCycleSmoothersCreateLike(smoother, g->st, divisor, v, g->smoother));
  PetscCall(PetscCalloc2(nc, &g->coarseb, nc, &g->coarsex));
  if (!g->smoother[0]->inparts || !g->smoother[1]->inparts) PetscCall(PetscCalloc2(n, &g->b, n, &g->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleGhostedDestroy(KCycleGhosted **ghosted)
{
  KCycleGhosted *g = *ghosted;

  PetscFunctionBegin;
  if (!g) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleSmoothersDestroy(g->smoother));
#if defined(KCYCLE_SINGLE)
  PetscCall(KCycleStencilSingleDestroy((KCycleStencil **)&g->st));
  PetscCall(KCycleTransferSingleDestroy((KCycleTransfer **)&g->tr));
#endif
  PetscCall(PetscFree2(g->b, g->x));
  PetscCall(PetscFree2(g->coarseb, g->coarsex));
  PetscCall(PetscFree2(g->vectors.b, g->vectors.x));
  PetscCall(PetscFree2(g->vectors.others, g->vectors.most));
  PetscCall(PetscFree(*ghosted));
  PetscFunctionReturn(PETSC_SUCCESS);
}
