/*
  Cubic interpolation between the grids of two levels: weights, and coarse points of others, which are fetched first.
*/
#include <petsckcycle/private/memoryimpl.h>

/* The coarse points around those of the process come to their array, unless they are all that it owns; e: these */
static PetscErrorCode Fetch(const KCycleStarter *starter, const KCScalar *coarse, const KCScalar **e)
{
  PetscFunctionBegin;
  *e = coarse;
  if (!starter->sf) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSFBcastBegin(starter->sf, KC_MPI_NUMBER, coarse, starter->around, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(starter->sf, KC_MPI_NUMBER, coarse, starter->around, MPI_REPLACE));
  *e = (const KCScalar *)starter->around;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void StartShare(const KCycleStart *start, const KCycleBox *box, KCScalar *work, KCScalar *x)
{
  PetscInt first, end;

  KCycleShare(0, box->nlines, &first, &end);
  for (PetscInt l = first; l < end; l++)
    KCycleStartLine(start, l % box->n[1], l / box->n[1], work + KCycleThread() * start->cubic->m[0], x + l * box->n[0]);
}

/* x = cubic interpolation of the coarse points */
PetscErrorCode KCycleStarterInterpolate(const KCycleStarter *starter, const KCycleBox *fine, const KCScalar *coarse,
                                        KCScalar *x)
{
  KCycleStart start = {NULL, &starter->cubic, NULL};

  PetscFunctionBegin;
  PetscCall(Fetch(starter, coarse, &start.e));
  PetscCall(PetscLogFlops(8.0 * fine->npoints));
  KC_PARALLEL(fine->npoints)
  StartShare(&start, fine, (KCScalar *)starter->work, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if !defined(KCYCLE_SINGLE)

/* Weights of the polynomial through points first to first + count - 1, at `at` */
static void Lagrange(PetscReal at, KCycleCubicPoint *point)
{
  for (int p = 0; p < point->count; p++) {
    point->w[p] = 1;
    for (int q = 0; q < point->count; q++) {
      if (q != p) point->w[p] *= (at - (PetscReal)(point->first + q)) / (PetscReal)(p - q);
    }
  }
}

/* The fine point at `at`, in the numbering of the coarse grid, whose points low to high - 1 are there in this
   direction */
static void FindPoint(PetscReal at, PetscInt low, PetscInt high, PetscBool periodic, KCycleCubicPoint *point)
{
  const PetscInt before = (PetscInt)PetscFloorReal(at);
  const PetscInt few    = at < low || at > high - 1 ? 3 : 4; /* beyond the last point */

  point->first = before;
  point->count = 1;
  point->w[0]  = 1;
  if (at == (PetscReal)before && (periodic || (before >= low && before < high))) return;
  point->count = periodic ? 4 : (int)PetscMin(few, high - low);
  point->first = periodic ? before - 1 : PetscMax(low, PetscMin(before - 1, high - point->count));
  Lagrange(at, point);
}

/* Of one direction; dirichlet: coarse points at its ends are those of stored Dirichlet values, which coarse right sides
   do not have; low: the first of the coarse points that are needed */
static PetscErrorCode FindPoints(const KCycleTransfer *tr, int d, const PetscBool dirichlet[], KCycleCubic *c,
                                 PetscInt *low)
{
  const KCycleBox *fine = tr->fine, *coarse = tr->coarse;
  const PetscInt   size = coarse->size[d], begin = dirichlet[0] && size > 2 ? 1 : 0,
                 end = dirichlet[1] && size > 2 ? size - 1 : size;
  PetscInt high      = 0;

  PetscFunctionBegin;
  c->n[d] = fine->n[d];
  PetscCall(PetscMalloc1(fine->n[d], &c->point[d]));
  for (PetscInt i = 0; i < fine->n[d]; i++) {
    const PetscInt    away  = fine->start[d] + i - tr->origin[d];
    KCycleCubicPoint *point = &c->point[d][i];

    FindPoint((PetscReal)away / (PetscReal)tr->factor[d], begin, end, coarse->periodic[d], point);
    *low = i ? PetscMin(*low, point->first) : point->first;
    high = i ? PetscMax(high, point->first + point->count) : point->first + point->count;
  }
  if (coarse->nproc[d] == 1 && !coarse->periodic[d]) { /* all that the process owns, then, where it is */
    *low = 0;
    high = size;
  }
  c->m[d] = high - *low;
  for (PetscInt i = 0; i < fine->n[d]; i++) c->point[d][i].first -= *low;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of x the coarse points after which weights are those in the middle of a grid, and all lines go on in pairs */
static void FindPairs(const KCycleTransfer *tr, PetscInt low, PetscBool dirichlet, KCycleCubic *c)
{
  c->factor = tr->factor[0];
  c->shift  = 2 * low + tr->origin[0] - tr->fine->start[0];
  c->low    = dirichlet ? 2 : 1;
  while (2 * c->low + c->shift < 0) c->low++;
  c->high = PetscMax(c->low, c->m[0] - 3);
  while (c->high > c->low && 2 * c->high + c->shift > c->n[0]) c->high--;
  if (c->high > c->low) return;
  while (2 * c->low + c->shift > c->n[0]) c->low--; /* there are none */
  c->high = c->low;
}

/* Where the coarse points from low on come from */
static PetscErrorCode FetchCreate(MPI_Comm comm, const KCycleBox *box, const PetscInt low[], KCycleStarter *starter)
{
  const PetscInt *m = starter->cubic.m, n = m[0] * m[1] * m[2];
  PetscSFNode    *from;
  PetscInt        i = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &from));
  for (PetscInt k = 0; k < m[2]; k++) {
    for (PetscInt j = 0; j < m[1]; j++) {
      for (PetscInt l = 0; l < m[0]; l++, i++) {
        const PetscInt at[3] = {low[0] + l, low[1] + j, low[2] + k};

        from[i] = KCycleBoxRoot(box, at);
      }
    }
  }
  PetscCall(PetscSFCreate(comm, &starter->sf));
  PetscCall(PetscSFSetGraph(starter->sf, box->npoints, n, NULL, PETSC_OWN_POINTER, from, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(starter->sf));
  PetscCall(PetscMalloc1(n, (PetscScalar **)&starter->around));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleStarterDestroy(KCycleStarter **starter)
{
  PetscFunctionBegin;
  if (!*starter) PetscFunctionReturn(PETSC_SUCCESS);
  for (int d = 0; d < 3; d++) PetscCall(PetscFree((*starter)->cubic.point[d]));
  PetscCall(PetscSFDestroy(&(*starter)->sf));
  PetscCall(PetscFree((*starter)->around));
  PetscCall(PetscFree((*starter)->work));
  PetscCall(PetscFree(*starter));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. The grids are those of an interpolation between levels */
PetscErrorCode KCycleStarterCreate(MPI_Comm comm, const KCycleTransfer *tr, const PetscBool dirichlet[3][2],
                                   KCycleStarter **starter)
{
  const KCycleBox *coarse = tr->coarse;
  KCycleStarter   *s;
  PetscInt         low[3];
  int              here = 1, all;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  *starter = s;
  for (int d = 0; d < 3; d++) {
    PetscCall(FindPoints(tr, d, dirichlet[d], &s->cubic, &low[d]));
    if (low[d] != coarse->start[d] || s->cubic.m[d] != coarse->n[d]) here = 0;
  }
  FindPairs(tr, low[0], (PetscBool)(dirichlet[0][0] || dirichlet[0][1]), &s->cubic);
  PetscCallMPI(MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_MIN, comm));
  if (!all) PetscCall(FetchCreate(comm, coarse, low, s));
  PetscCall(PetscMalloc1((size_t)KCycleThreadsMost() * (size_t)s->cubic.m[0], (PetscScalar **)&s->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
