/*
  The search for clusters of PCRELAX: small groups of points that are coupled much more strongly among themselves than
  with all others.

  As in Kruskal's algorithm points are joined from strong to weak couplings; all couplings of about the same strength
  at once (a rank, from 0 on; ranks are half powers of two), so that no order matters. A group has the sum of its
  diagonals, less the couplings between its members whose turn has come: what leaves it, or a bit more. If that is small
  the group is a cluster, unless lines are relaxed that solve it: then it must be small compared with the couplings
  across these, too. A group that outgrows the largest clusters is rejected, and so is one that it would join.

  A cluster ends where couplings jump. So the search starts from points with such couplings, each at the rank of its
  strongest one, and adds other points when a coupling leads to them. In regions where nothing jumps, groups are soon
  rejected.

  Each process first searches its own points. A group that is rejected before it reaches a cut is done with. The others,
  the candidates, are searched again among those of processes around, see candidates.c.
*/
#include "searchimpl.h"

/* largest d, relative to the sum of the diagonals; no round number, which regular grids would meet to rounding */
#define KC_CLUSTER_TIGHT  0.2903
#define KC_CLUSTER_ACROSS 0.3503 /* and relative to the sum without couplings along lines that are solved */
#define KC_CLUSTER_GROWTH 1.5    /* a cluster is larger than those in it by this factor, */
#define KC_CLUSTER_GAIN   0.1    /* or d relative to the sum of the diagonals is smaller by this one */

/* A new cluster, or a part of one; its members are appended by the caller */
PetscErrorCode KCycleClusterListAppend(KCycleClusterList *list, PetscInt m, PetscInt generation, PetscMPIInt owner,
                                       PetscInt slot)
{
  PetscFunctionBegin;
  PetscCall(KCycleGrow(list->n + 2, &list->most, sizeof(KCycleClusterPart), &list->part));
  PetscCall(KCycleGrow(list->nmembers + m, &list->mostmembers, sizeof(PetscInt), &list->member));
  list->part[list->n++]     = (KCycleClusterPart){list->nmembers, generation, owner, slot, 0};
  list->part[list->n].first = list->nmembers + m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleClusterListDestroy(KCycleClusterList *list)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(list->part));
  PetscCall(PetscFree(list->inverse));
  PetscCall(PetscFree(list->member));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Couplings by ranks */

PetscErrorCode KCycleSearchEdge(KCycleSearch *s, PetscInt from, PetscInt to, PetscReal w, PetscInt rank)
{
  PetscInt c;

  PetscFunctionBegin;
  rank = PetscMax(rank, s->now);
  if (rank >= KC_RANKS) PetscFunctionReturn(PETSC_SUCCESS);
  c = s->head[rank];
  if (c < 0 || s->chunk[c].count == KC_EDGES_OF_CHUNK) {
    if (s->unused >= 0) {
      c         = s->unused;
      s->unused = s->chunk[c].below;
    } else {
      PetscCall(KCycleGrow(s->nchunks + 1, &s->maxchunks, sizeof(KCycleChunk), &s->chunk));
      c = s->nchunks++;
    }
    s->chunk[c].count = 0;
    s->chunk[c].below = s->head[rank];
    s->head[rank]     = c;
  }
  s->chunk[c].edge[s->chunk[c].count].w    = w;
  s->chunk[c].edge[s->chunk[c].count].from = from;
  s->chunk[c].edge[s->chunk[c].count++].to = to;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes the coupling of a rank that came last, if there is one */
static PetscBool TakeEdge(KCycleSearch *s, PetscInt rank, KCycleEdge *e)
{
  const PetscInt top = s->head[rank];
  KCycleChunk   *c;

  if (top < 0) return PETSC_FALSE;
  c  = &s->chunk[top];
  *e = c->edge[--c->count];
  if (c->count == 0) {
    s->head[rank] = c->below;
    c->below      = s->unused;
    s->unused     = top;
  }
  return PETSC_TRUE;
}

/* Nodes and groups */

static PetscBool IsRejected(const KCycleSearch *s, PetscInt root)
{
  return (PetscBool)(s->rejected[root] <= s->now);
}

static void Reject(KCycleSearch *s, PetscInt root)
{
  s->rejected[root] = PetscMin(s->rejected[root], s->now);
}

static void Merge(KCycleSearch *s, PetscInt l, PetscInt k)
{
  KCycleNode *large = &s->node[l], *small = &s->node[k];

  large->t += small->t;
  large->d += small->d;
  large->size += small->size;
  for (int d = 0; d < 3 && s->lined; d++) s->across[3 * l + d] += s->across[3 * k + d];
  if (small->largest > large->largest) {
    large->largest = small->largest;
    large->tight   = small->tight;
  }
  s->rejected[l]            = PetscMin(s->rejected[l], s->rejected[k]);
  large->inside             = PetscMax(large->inside, small->inside);
  large->cut                = PetscMin(large->cut, small->cut);
  large->anyjumps           = (PetscBool)(large->anyjumps || small->anyjumps);
  s->node[large->tail].next = k;
  large->tail               = small->tail;
  s->parent[k]              = l;
}

/* A coupling between two groups, or within one */
static PetscErrorCode Join(KCycleSearch *s, PetscInt a, PetscInt b, PetscReal w)
{
  const PetscInt l = s->node[a].size < s->node[b].size ? b : a;

  PetscFunctionBegin;
  if (a != b && (IsRejected(s, a) || IsRejected(s, b) || s->node[a].size + s->node[b].size > s->most)) {
    Reject(s, a);
    Reject(s, b);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (a != b) Merge(s, l, a + b - l);
  s->node[l].d -= 2 * w;
  if (s->node[l].changed == s->now) PetscFunctionReturn(PETSC_SUCCESS);
  s->node[l].changed = s->now;
  PetscCall(KCycleGrow(s->nchanged + 1, &s->maxchanged, sizeof(PetscInt), &s->changed));
  s->changed[s->nchanged++] = l;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A coupling whose turn it is. A group that it leads to a rejected one from is rejected */
static PetscErrorCode Follow(KCycleSearch *s, const KCycleEdge *e)
{
  PetscInt root, q = s->index[e->to];

  PetscFunctionBegin;
  if (e->from < 0) {
    const PetscInt strongest = KC_SEED(e->from);

    if (q != KC_START && q != KC_JUMPS) PetscFunctionReturn(PETSC_SUCCESS);
    if (strongest >= 0 && KCycleSearchIsRejected(s, s->index[strongest], s->now)) s->index[e->to] = KC_REJECTED;
    else PetscCall(KCycleSearchActivate(s, e->to, &q));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  root = KCycleRoot(s->parent, e->from);
  if (q <= 0 && IsRejected(s, root)) PetscFunctionReturn(PETSC_SUCCESS);
  if (q <= 0 && q != KC_REJECTED) PetscCall(KCycleSearchActivate(s, e->to, &q));
  if (q == KC_REJECTED) Reject(s, root);
  else PetscCall(Join(s, root, KCycleRoot(s->parent, q), e->w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do lines do what a correction would? They are solved, so that couplings along them hold no group together */
static PetscBool IsSolved(const KCycleSearch *s, PetscInt root)
{
  for (int d = 0; d < 3; d++) {
    if (s->along[d] && s->node[root].d > KC_CLUSTER_ACROSS * s->across[3 * root + d]) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* Is a group a cluster, and not about the same as one that was found in it? One that nothing but weak couplings
   leave is not the same as the largest one in it */
static PetscErrorCode Consider(KCycleSearch *s, PetscInt root)
{
  KCycleNode *node = &s->node[root];

  PetscFunctionBegin;
  if (s->parent[root] != root || IsRejected(s, root) || !node->anyjumps) PetscFunctionReturn(PETSC_SUCCESS);
  if (node->size == node->largest) {
    node->tight = node->d / node->t;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (node->size < KC_CLUSTER_GROWTH * node->largest && node->d > KC_CLUSTER_GAIN * node->tight * node->t)
    PetscFunctionReturn(PETSC_SUCCESS);
  if (!(node->d <= KC_CLUSTER_TIGHT * node->t && node->d > s->singular * node->t) || IsSolved(s, root))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleClusterListAppend(&s->found, node->size, node->inside++, -1, 0));
  s->found.part[s->found.n - 1].weight = node->t;
  for (PetscInt m = root; m >= 0; m = s->node[m].next) s->found.member[s->found.nmembers++] = m;
  node->largest = node->size;
  node->tight   = node->d / node->t;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does a cluster have most of the weight of a group that is closed at last, so that its rows have sums of zero? A
   constant on the cluster is then as well a constant on the few light points around it, which sweeps see to; and what
   is left of the sum of a large right side that should be zero, to rounding, would become a large correction */
static PetscBool FillsClosed(KCycleSearch *s, PetscInt c)
{
  const PetscInt    root = KCycleRoot(s->parent, KCycleClusterMembers(&s->found, c)[0]);
  const KCycleNode *node = &s->node[root];

  return (PetscBool)(!IsRejected(s, root) && PetscAbsReal(node->d) <= s->singular * node->t &&
                     s->found.part[c].weight > node->t / 2);
}

/* Leaves out such clusters; those that lie around them are such, too */
static void LeaveClosed(KCycleSearch *s)
{
  KCycleClusterList *found = &s->found;
  PetscInt           n = 0, end = 0;

  for (PetscInt c = 0; c < found->n; c++) {
    const PetscInt first = found->part[c].first, m = KCycleClusterSize(found, c);

    if (FillsClosed(s, c)) continue;
    for (PetscInt i = 0; i < m; i++) found->member[end + i] = found->member[first + i];
    found->part[n]         = found->part[c];
    found->part[n++].first = end;
    end += m;
  }
  if (found->n) found->part[n].first = end;
  found->n        = n;
  found->nmembers = end;
}

/* The couplings of a rank within groups of lower ranks */
static PetscErrorCode CountInside(KCycleSearch *s)
{
  PetscFunctionBegin;
  s->nchanged = 0;
  for (PetscInt c = s->head[s->now]; c >= 0; c = s->chunk[c].below) {
    for (PetscInt i = 0; i < s->chunk[c].count; i++) {
      KCycleEdge    *e = &s->chunk[c].edge[i];
      const PetscInt q = s->index[e->to];
      PetscInt       root;

      if (e->from < 0 || q <= 0) continue;
      root = KCycleRoot(s->parent, e->from);
      if (root != KCycleRoot(s->parent, q)) continue;
      if (!IsRejected(s, root)) PetscCall(Join(s, root, root, e->w));
      e->from = KC_SEED(KC_OUTSIDE);
    }
  }
  for (PetscInt i = 0; i < s->nchanged; i++) {
    PetscCall(Consider(s, s->changed[i]));
    s->node[s->changed[i]].changed = -1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Joins points from strong to weak couplings and looks at the groups that change */
PetscErrorCode KCycleSearchRun(KCycleSearch *s)
{
  KCycleEdge e;

  PetscFunctionBegin;
  for (s->now = 0; s->now < KC_RANKS; s->now++) {
    PetscCall(CountInside(s));
    s->nchanged = 0;
    while (TakeEdge(s, s->now, &e)) PetscCall(Follow(s, &e));
    for (PetscInt i = 0; i < s->nchanged; i++) PetscCall(Consider(s, s->changed[i]));
  }
  LeaveClosed(s);
  PetscCall(PetscFree(s->chunk));
  PetscCall(PetscFree(s->changed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSearchCreate(const KCycleStencil *st, const PetscBool along[], PetscReal singular, PetscInt most,
                                  KCycleSearch **search)
{
  KCycleSearch *s;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  s->st       = st;
  s->nc       = st->shape.ncoeffs;
  s->singular = singular;
  s->most     = most;
  for (int d = 0; d < 3; d++) s->along[d] = along[d];
  s->lined  = (PetscBool)(along[0] || along[1] || along[2]);
  s->nnodes = 1;
  s->unused = -1;
  for (PetscInt g = 0; g < KC_RANKS; g++) s->head[g] = -1;
  KCycleStencilDeltas(st, s->delta);
  KCycleLineCacheCreate(st, &s->lines);
  *search = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSearchDestroy(KCycleSearch **search)
{
  KCycleSearch *s = *search;

  PetscFunctionBegin;
  PetscCall(PetscFree(s->node));
  PetscCall(PetscFree(s->parent));
  PetscCall(PetscFree(s->rejected));
  PetscCall(PetscFree(s->across));
  PetscCall(PetscFree(s->chunk));
  PetscCall(PetscFree(s->changed));
  PetscCall(PetscFree(s->index));
  for (int o = 0; o < s->nc; o++) PetscCall(PetscFree(s->row[o]));
  PetscCall(KCycleClusterListDestroy(&s->found));
  PetscCall(PetscFree(*search));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Clusters among the process's own points become part of the list; members are then owned points */
static PetscErrorCode ListOwned(KCycleSearch *s, PetscInt c, KCycleClusterList *list)
{
  const PetscInt *member = KCycleClusterMembers(&s->found, c), m = KCycleClusterSize(&s->found, c);

  PetscFunctionBegin;
  if (KCycleSearchIsCandidate(s, member[0])) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleClusterListAppend(list, m, s->found.part[c].generation, -1, 0));
  for (PetscInt i = 0; i < m; i++) list->member[list->nmembers++] = s->node[member[i]].point;
  list->nclusters++;
  list->npoints += m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The clusters of an operator, or the parts of them that this process has */
PetscErrorCode KCycleClustersSearch(Mat A, const KCycleSmoother *smoother, const KCycleSeeds *seeds,
                                    KCycleClusterList *list)
{
  const KCycleStencil *st   = KCycleStencilOf(A);
  MPI_Comm             comm = PetscObjectComm((PetscObject)A);
  PetscInt             most = st->box->dim == 3 ? KCYCLE_CLUSTER_POINTS_3D : KCYCLE_CLUSTER_POINTS;
  KCycleSearch        *s;
  const KCycleScan    *scan;
  PetscMPIInt          nprocs;
  PetscBool            jumps;
  int                  here, any;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &nprocs));
  /* If constants are the kernel, those on one half of the points and on the other do the same: with the larger half
     rounding would be made as large as what couples both is weak. LeaveClosed() does not see this if the group of
     all points is too large to be followed; and this does not see closed regions of an operator */
  PetscCall(MatStencilScan(A, &scan));
  if (scan->sums <= KC_CLUSTER_CLOSED) most = PetscMin(most, A->rmap->N / 2);
  PetscCall(KCycleSearchCreate(st, smoother->along, seeds->singular, most, &s));
  s->symmetric = MatStencilLinesAreSymmetric(st, 10 * PETSC_MACHINE_EPSILON); /* then a row tells its couplings */
  if (nprocs > 1) PetscCall(KCycleSearchExchange(s));
  PetscCall(KCycleSearchStart(s, seeds, &jumps));
  here = (int)jumps;
  PetscCallMPI(MPI_Allreduce(&here, &any, 1, MPI_INT, MPI_LOR, comm));
  if (any) {
    PetscCall(KCycleSearchRun(s));
    for (PetscInt c = 0; c < s->found.n; c++) PetscCall(ListOwned(s, c, list));
    if (nprocs > 1) PetscCall(KCycleSearchCandidates(comm, &s, list));
  }
  if (s) PetscCall(KCycleSearchDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
