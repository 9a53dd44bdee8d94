/*
  The search for clusters of PCRELAX: small groups of points that are coupled much more strongly among themselves than
  with all others.

  Points are joined from strong to weak couplings, all couplings of about the same strength at once (a rank, from 0 on;
  ranks are half powers of two). What a point is joined with at a rank, its group, does not depend on any order. Groups
  that outgrow the largest clusters are dead, and kill what joins them; of the others those with a small d_C = 1^T A 1
  are clusters, unless lines are relaxed that solve them: then d_C must be small beside the couplings across these, too.

  A cluster ends where couplings jump. So the search starts from points with such couplings alone, and works on other
  points when it gets there; in regions where nothing jumps it soon meets the dead. Most of the dead are known
  beforehand, see sift.c.

  On several processes each first searches its own points. Groups that end before they reach a cut are done with. Of the
  others, the candidates, each process asks for the groups that its own ones are joined with, and searches again, see
  candidates.c: a cluster is made by the process that has its first point.
*/
#include "searchimpl.h"

/* largest d_C, relative to the sum of the diagonals; no round number, which regular grids would meet to rounding */
#define KC_CLUSTER_TIGHT  0.2503
#define KC_CLUSTER_ACROSS 0.3503 /* and relative to the sum without couplings along lines that are solved */
#define KC_CLUSTER_GROWTH 1.5    /* a cluster is larger than those in it by this factor, */
#define KC_CLUSTER_GAIN   0.1    /* or d_C relative to the sum of the diagonals is smaller by this one */

#define KC_AHEAD 4 /* so many couplings ahead */

/* Length of a list is to become so much: memory for it */
PetscErrorCode KCycleGrow(PetscInt length, PetscInt *most, size_t size, void *list)
{
  PetscFunctionBegin;
  if (length <= *most) PetscFunctionReturn(PETSC_SUCCESS);
  *most = PetscMax(1024, length + length / 2);
  PetscCall(PetscRealloc(*most * size, (void **)list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ListGrow(KCycleClusterList *list, PetscInt m)
{
  PetscInt most[3];

  PetscFunctionBegin;
  for (int i = 0; i < 3; i++) most[i] = list->most;
  PetscCall(KCycleGrow(list->n + 2, &most[0], sizeof(PetscInt), &list->first));
  PetscCall(KCycleGrow(list->n + 2, &most[1], sizeof(PetscInt), &list->generation));
  PetscCall(KCycleGrow(list->n + 2, &most[2], sizeof(PetscInt), &list->slot));
  PetscCall(KCycleGrow(list->n + 2, &list->most, sizeof(PetscMPIInt), &list->owner));
  PetscCall(KCycleGrow(list->nmembers + m, &list->mostmembers, sizeof(PetscInt), &list->member));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A new cluster, or a part of one; its members are appended by the caller */
PetscErrorCode KCycleClusterListAppend(KCycleClusterList *list, PetscInt m, PetscInt generation, PetscMPIInt owner,
                                       PetscInt slot)
{
  PetscFunctionBegin;
  PetscCall(ListGrow(list, m));
  list->first[list->n]      = list->nmembers;
  list->generation[list->n] = generation;
  list->owner[list->n]      = owner;
  list->slot[list->n]       = slot;
  list->first[++list->n]    = list->nmembers + m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleClusterListDestroy(KCycleClusterList *list)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(list->first));
  PetscCall(PetscFree(list->generation));
  PetscCall(PetscFree(list->slot));
  PetscCall(PetscFree(list->owner));
  PetscCall(PetscFree(list->inverse));
  PetscCall(PetscFree(list->member));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Groups */

static PetscBool IsDead(const KCycleSearch *s, PetscInt root)
{
  return (PetscBool)(s->death[root] < KC_NEVER);
}

/* The node of a neighbour, or none */
static PetscInt Neighbour(const KCycleSearch *s, PetscInt p, int o)
{
  return s->neighbour ? s->neighbour[(size_t)p * s->nc + o] : s->index[s->node[p].point + s->delta[o]];
}

/* The weakest coupling of a rank */
static PetscReal WeakestOf(PetscInt rank)
{
  return (PetscReal)(ldexp(rank % 2 ? 0.5 : 0.70710678118654752, (int)(1024 - rank / 2)) / KC_CLUSTER_SHIFT);
}

/* Memory for twice as many nodes */
static PetscErrorCode GrowNodes(KCycleSearch *s)
{
  PetscFunctionBegin;
  s->maxnodes = PetscMax(1024, 2 * s->maxnodes);
  PetscCall(PetscRealloc((size_t)s->maxnodes * s->nc * sizeof(PetscScalar), &s->a));
  PetscCall(PetscRealloc((size_t)s->maxnodes * s->nc * sizeof(*s->rank), &s->rank));
  PetscCall(PetscRealloc((size_t)s->maxnodes * sizeof(PetscInt), &s->parent));
  PetscCall(PetscRealloc((size_t)s->maxnodes * sizeof(PetscInt), &s->next));
  PetscCall(PetscRealloc((size_t)s->maxnodes * sizeof(*s->death), &s->death));
  PetscCall(PetscRealloc((size_t)s->maxnodes * sizeof(PetscInt), &s->blame));
  PetscCall(PetscRealloc((size_t)s->maxnodes * sizeof(KCycleNode), &s->node));
  if (s->lined) PetscCall(PetscRealloc(3 * (size_t)s->maxnodes * sizeof(PetscReal), &s->across));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSearchNode(KCycleSearch *s, const PetscInt at[], PetscBool rough, PetscInt *made)
{
  KCycleNode *node;

  PetscFunctionBegin;
  if (s->nnodes == s->maxnodes) PetscCall(GrowNodes(s));
  *made = s->nnodes++;
  node  = &s->node[*made];
  for (int d = 0; d < 3; d++) node->at[d] = at[d];
  node->t = node->d = 0;
  node->tail        = *made;
  node->size        = 1;
  node->largest = node->inside = 0;
  node->tight                  = 1;
  node->cut                    = KC_NEVER;
  node->jumps = node->rough = rough;
  s->parent[*made]          = *made;
  s->next[*made]            = KC_NONE;
  s->death[*made]           = KC_NEVER;
  s->blame[*made]           = KC_NONE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A chunk for a rank whose last one is full */
static PetscErrorCode NewChunk(KCycleSearch *s, PetscInt rank)
{
  PetscInt c = s->unused;

  PetscFunctionBegin;
  if (c >= 0) s->unused = s->chunk[c].below;
  else {
    if (s->nchunks == s->maxchunks) {
      s->maxchunks = PetscMax(256, 2 * s->maxchunks);
      PetscCall(PetscRealloc((size_t)s->maxchunks * sizeof(KCycleChunk), &s->chunk));
    }
    c = s->nchunks++;
  }
  s->chunk[c].count = 0;
  s->chunk[c].below = s->head[rank];
  s->head[rank]     = c;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSearchEdge(KCycleSearch *s, PetscInt from, PetscInt to, PetscInt rank)
{
  KCycleChunk *c;

  PetscFunctionBegin;
  if (rank < s->now) rank = s->now;
  if (rank >= KC_RANKS) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->head[rank] < 0 || s->chunk[s->head[rank]].count == KC_EDGES_OF_CHUNK) PetscCall(NewChunk(s, rank));
  c                      = &s->chunk[s->head[rank]];
  c->edge[c->count].from = from;
  c->edge[c->count++].to = to;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is taken soon comes into the cache meanwhile: the ends of a coupling; the chunk below one, from its end on */
static inline void FetchEdge(const KCycleSearch *s, const KCycleEdge *e)
{
  __builtin_prefetch(&s->parent[e->from]);
  if (!s->neighbour) __builtin_prefetch(&s->index[e->to]);
}

static inline void FetchChunk(const KCycleSearch *s, PetscInt chunk)
{
  if (chunk < 0) return;
  for (size_t at = sizeof(KCycleChunk); at; at -= PetscMin(at, 64))
    __builtin_prefetch((const char *)&s->chunk[chunk] + at - 1);
}

/* Takes the coupling of a rank that came last, if there is one */
static PetscBool TakeEdge(KCycleSearch *s, PetscInt rank, KCycleEdge *e)
{
  const PetscInt top = s->head[rank];
  KCycleChunk   *c;

  if (top < 0) return PETSC_FALSE;
  c  = &s->chunk[top];
  *e = c->edge[--c->count];
  if (c->count >= KC_AHEAD) FetchEdge(s, &c->edge[c->count - KC_AHEAD]);
  if (c->count == 0) {
    s->head[rank] = c->below;
    c->below      = s->unused;
    s->unused     = top;
    if (s->head[rank] >= 0) FetchChunk(s, s->chunk[s->head[rank]].below);
  }
  return PETSC_TRUE;
}

/* Two groups become one; entries between them are found from the smaller one */
static void Merge(KCycleSearch *s, PetscInt a, PetscInt b)
{
  const PetscInt l = s->node[a].size < s->node[b].size ? b : a, k = l == a ? b : a;
  KCycleNode    *node = s->node, *large = &node[l], *small = &node[k];
  PetscReal      between = 0;

  for (PetscInt m = k; m >= 0; m = s->next[m]) {
    const PetscScalar *c    = s->a + (size_t)m * s->nc;
    const PetscReal    sign = PetscRealPart(c[s->nc / 2]) < 0 ? -1 : 1;

    for (int o = 0; o < s->nc; o++) {
      PetscInt q;

      if (c[o] == (PetscScalar)0.0 || o == s->nc / 2) continue;
      q = Neighbour(s, m, o);
      if (q >= 0 && KCycleSearchRoot(s->parent, q) == l) between += sign * PetscRealPart(c[o]);
    }
  }
  large->t += small->t;
  large->d += small->d + 2 * between;
  large->size += small->size;
  for (int d = 0; d < 3 && s->lined; d++) s->across[3 * l + d] += s->across[3 * k + d];
  if (small->largest > large->largest) {
    large->largest = small->largest;
    large->tight   = small->tight;
  }
  large->inside        = PetscMax(large->inside, small->inside);
  large->cut           = PetscMin(large->cut, small->cut);
  large->rough         = (PetscBool)(large->rough || small->rough);
  s->next[large->tail] = k;
  large->tail          = small->tail;
  s->parent[k]         = l;
}

static void Kill(KCycleSearch *s, PetscInt root, PetscInt blame)
{
  if (IsDead(s, root)) return;
  s->death[root] = (unsigned short)s->now;
  s->blame[root] = blame;
}

/* A group is joined with the dead, or becomes too large with it: whose fault is that? */
static PetscInt Blame(const KCycleSearch *s, PetscInt other, PetscInt size)
{
  return size <= s->most && IsDead(s, other) && s->blame[other] != KC_NONE ? other : KC_NONE;
}

static PetscErrorCode Join(KCycleSearch *s, PetscInt p, PetscInt q)
{
  const PetscInt a = KCycleSearchRoot(s->parent, p), b = KCycleSearchRoot(s->parent, q);
  const PetscInt size = s->node[a].size + s->node[b].size;

  PetscFunctionBegin;
  if (a == b) PetscFunctionReturn(PETSC_SUCCESS);
  if (IsDead(s, a) || IsDead(s, b) || size > s->most) {
    const PetscInt blame[2] = {Blame(s, b, size), Blame(s, a, size)};

    Kill(s, a, blame[0]);
    Kill(s, b, blame[1]);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Merge(s, a, b);
  PetscCall(KCycleGrow(s->ntouched + 1, &s->maxtouched, sizeof(PetscInt), &s->touched));
  s->touched[s->ntouched++] = p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sums of a point, whose coefficients are there */
void KCycleSearchWeigh(KCycleSearch *s, PetscInt p)
{
  const PetscInt     step[3] = {1, 3, 9};
  const PetscScalar *a       = s->a + (size_t)p * s->nc;
  KCycleNode        *node    = &s->node[p];

  node->t = node->d = PetscAbsScalar(a[s->nc / 2]);
  for (int d = 0; d < 3 && s->lined; d++) {
    const int before = s->st->shape.find[13 - step[d]], behind = s->st->shape.find[13 + step[d]];

    s->across[3 * p + d] = node->t - (before < 0 ? 0 : PetscAbsScalar(a[before]) + PetscAbsScalar(a[behind]));
  }
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
   leave is not the same as the largest part of it */
static PetscErrorCode Consider(KCycleSearch *s, PetscInt root)
{
  KCycleNode *node = &s->node[root];

  PetscFunctionBegin;
  if (IsDead(s, root) || !node->rough) PetscFunctionReturn(PETSC_SUCCESS);
  if (node->size < KC_CLUSTER_GROWTH * node->largest && node->d > KC_CLUSTER_GAIN * node->tight * node->t)
    PetscFunctionReturn(PETSC_SUCCESS);
  if (!(node->d <= KC_CLUSTER_TIGHT * node->t && node->d > s->singular * node->t) || IsSolved(s, root))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleClusterListAppend(&s->found, node->size, node->inside++, -1, 0));
  for (PetscInt m = root; m >= 0; m = s->next[m]) s->found.member[s->found.nmembers++] = m;
  node->largest = node->size;
  node->tight   = node->d / node->t;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The process's own points */

/* Where the value of a point beside the owned box stands in the halo buffer */
static PetscInt HaloPlace(const KCycleBox *box, const PetscInt at[])
{
  const PetscInt e = KCycleBoxExtended(box, at[1], at[2]);

  if (at[0] < 0) return box->left + e;
  if (at[0] >= box->n[0]) return box->right + e;
  return box->offset[e] + at[0];
}

/* Where the grid wraps around within this process, a place in the layer around the box becomes one in it */
static void WrapPlace(const KCycleBox *box, PetscInt at[])
{
  for (int d = 0; d < 3; d++) {
    if (box->periodic[d] && box->nproc[d] == 1) at[d] = (at[d] + box->n[d]) % box->n[d];
  }
}

/* All numbers of a place get its node: also those in the layer around the box */
static void SetIndex(KCycleSearch *s, const PetscInt at[], PetscInt node)
{
  const KCycleBox *box = s->st->box;
  PetscInt         low[3], high[3], to[3];

  for (int d = 0; d < 3; d++) {
    const PetscBool wraps = (PetscBool)(box->periodic[d] && box->nproc[d] == 1);

    low[d]  = wraps && at[d] == box->n[d] - 1 ? -1 : 0;
    high[d] = wraps && at[d] == 0 ? 1 : 0;
  }
  for (PetscInt z = low[2]; z <= high[2]; z++) {
    for (PetscInt y = low[1]; y <= high[1]; y++) {
      for (PetscInt x = low[0]; x <= high[0]; x++) {
        to[0]                               = at[0] + x * box->n[0];
        to[1]                               = at[1] + y * box->n[1];
        to[2]                               = at[2] + z * box->n[2];
        s->index[KCycleSearchNumber(s, to)] = node;
      }
    }
  }
}

/* The rank of a coupling of a new node with a point of this process, or with one of another. What stands elsewhere
   is looked at where it counts */
static PetscInt RankOf(KCycleSearch *s, PetscInt p, int o, PetscBool here)
{
  const int          nc = s->nc, opposite = nc - 1 - o;
  const PetscScalar *a = s->a + (size_t)p * nc;
  const PetscReal sign = PetscRealPart(a[nc / 2]) < 0 ? -1 : 1, least = KC_CLUSTER_STRONG * PetscAbsScalar(a[nc / 2]);
  PetscReal       w = -sign * PetscRealPart(a[o]);
  PetscScalar     other, diagonal;
  PetscInt        to[3];

  if (a[o] == (PetscScalar)0.0 || o == nc / 2) return KC_NEVER;
  if (here && s->st->half) {
    if (w <= 0) return KC_NEVER;
    if (w >= least) return KCycleRank(w);
  }
  KCycleSearchBeside(s, s->node[p].at, o, to);
  WrapPlace(s->st->box, to);
  if (here) {
    const KCycleLine *l = KCycleLinesAt(&s->lines, to[1], to[2]);

    other    = KCycleLineCoefficient(l, opposite, to[0]);
    diagonal = KCycleLineCoefficient(l, nc / 2, to[0]);
  } else {
    const PetscInt place = HaloPlace(s->st->box, to);

    other    = s->row[opposite][place];
    diagonal = s->row[nc / 2][place];
  }
  if (!here || !s->st->half) w = (w - sign * PetscRealPart(other)) / 2;
  return w > 0 && w >= PetscMin(least, KC_CLUSTER_STRONG * PetscAbsScalar(diagonal)) ? KCycleRank(w) : KC_NEVER;
}

/* The rank of the coupling of a new node with the node of a neighbour, if it has one: as seen from there */
static PetscInt RankWith(KCycleSearch *s, PetscInt p, int o, PetscInt q)
{
  if (q == p) return KC_NEVER;
  if (q >= 0) return s->rank[(size_t)q * s->nc + s->nc - 1 - o];
  return RankOf(s, p, o, (PetscBool)(q != KC_OUTSIDE));
}

/* Is an owned point coupled to the dead, and not weaker than what is joined now? Then it need not become a node */
static PetscBool IsStillborn(const KCycleSearch *s, PetscInt point, const PetscScalar a[])
{
  const PetscReal sign  = PetscRealPart(a[s->nc / 2]) < 0 ? -1 : 1,
                  least = PetscMax(s->weakest, KC_CLUSTER_STRONG * PetscAbsScalar(a[s->nc / 2]));

  for (int o = 0; o < s->nc; o++) {
    const PetscInt q = s->index[point + s->delta[o]];

    if (-sign * PetscRealPart(a[o]) < least) continue;
    if (q == KC_DEAD || (q >= 0 && IsDead(s, KCycleSearchRoot(s->parent, q)))) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* An owned point becomes a group of its own, or is dead at once: then made is KC_DEAD */
static PetscErrorCode Activate(KCycleSearch *s, const PetscInt at[], PetscBool rough, PetscInt *made)
{
  const KCycleLine *l     = KCycleLinesAt(&s->lines, at[1], at[2]);
  const PetscInt    point = KCycleSearchNumber(s, at);
  const int         nc    = s->nc;
  PetscScalar       a[KC_MAX_COEFFS];
  PetscInt          p;

  PetscFunctionBegin;
  *made = KC_DEAD;
  for (int o = 0; o < nc; o++) a[o] = KCycleLineCoefficient(l, o, at[0]);
  if (IsStillborn(s, point, a)) {
    SetIndex(s, at, KC_DEAD);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KCycleSearchNode(s, at, rough, &p));
  SetIndex(s, at, p);
  s->node[p].point = point;
  PetscCall(PetscArraycpy(s->a + (size_t)p * nc, a, nc));
  KCycleSearchWeigh(s, p);
  for (int o = 0; o < nc; o++) {
    const PetscInt q = s->index[point + s->delta[o]], rank = RankWith(s, p, o, q);

    s->rank[(size_t)p * nc + o] = (unsigned short)rank;
    if (rank >= KC_NEVER) continue;
    if (q == KC_OUTSIDE) s->node[p].cut = PetscMin(s->node[p].cut, rank);
    else if (q < 0) PetscCall(KCycleSearchEdge(s, p, point + s->delta[o], rank));
  }
  *made = p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The place of a number */
static void PlaceOf(const KCycleSearch *s, PetscInt point, PetscInt at[])
{
  const PetscInt *reach = s->st->box->reach;

  at[2] = point / s->width[1] - reach[2];
  point = point % s->width[1];
  at[1] = point / s->width[0] - reach[1];
  at[0] = point % s->width[0] - reach[0];
}

/* A coupling whose turn it is. One that leads to the dead, or from a candidate to a point that is not known, is the
   death of a group */
static PetscErrorCode Follow(KCycleSearch *s, PetscInt p, PetscInt to)
{
  const PetscInt root = KCycleSearchRoot(s->parent, p);
  PetscInt       q    = s->neighbour ? to : s->index[to], at[3];

  PetscFunctionBegin;
  if (q < 0 && IsDead(s, root)) PetscFunctionReturn(PETSC_SUCCESS);
  if (q == KC_NONE) {
    PlaceOf(s, to, at);
    WrapPlace(s->st->box, at);
    PetscCall(Activate(s, at, PETSC_FALSE, &q));
  }
  if (q < 0) Kill(s, root, q == KC_UNKNOWN ? root : KC_NONE);
  else PetscCall(Join(s, root, q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does a cluster have most of the weight of the group that it is in at last? */
PetscBool KCycleSearchFills(KCycleSearch *s, PetscInt c)
{
  const KCycleClusterList *found = &s->found;
  PetscReal                t     = 0;

  for (PetscInt i = found->first[c]; i < found->first[c + 1]; i++)
    t += PetscAbsScalar(s->a[(size_t)found->member[i] * s->nc + s->nc / 2]);
  return (PetscBool)(t > s->node[KCycleSearchRoot(s->parent, found->member[found->first[c]])].t / 2);
}

/* And is that group closed, so that its rows have sums of zero? A constant on the cluster is then as well a constant on
   the few light points around it, which sweeps see to; and what is left of the sum of a large right side that should be
   zero, to rounding, would become a large correction */
static PetscBool FillsClosed(KCycleSearch *s, PetscInt c)
{
  const PetscInt    root = KCycleSearchRoot(s->parent, s->found.member[s->found.first[c]]);
  const KCycleNode *node = &s->node[root];

  return (PetscBool)(!IsDead(s, root) && PetscAbsReal(node->d) <= s->singular * node->t && KCycleSearchFills(s, c));
}

/* Leaves out such clusters; those that lie around them are such, too */
static void LeaveClosed(KCycleSearch *s)
{
  KCycleClusterList *found = &s->found;
  PetscInt           n = 0, end = 0;

  for (PetscInt c = 0; c < found->n; c++) {
    const PetscInt first = found->first[c], m = found->first[c + 1] - first;

    if (FillsClosed(s, c)) continue;
    for (PetscInt i = 0; i < m; i++) found->member[end + i] = found->member[first + i];
    found->generation[n] = found->generation[c];
    found->first[n++]    = end;
    end += m;
  }
  if (found->n) found->first[n] = end;
  found->n        = n;
  found->nmembers = end;
}

/* Joins points from strong to weak couplings and looks at the groups that arise */
PetscErrorCode KCycleSearchRun(KCycleSearch *s)
{
  KCycleEdge e;

  PetscFunctionBegin;
  for (s->now = 0; s->now < KC_RANKS; s->now++) {
    s->ntouched = 0;
    s->weakest  = WeakestOf(s->now);
    while (TakeEdge(s, s->now, &e)) PetscCall(Follow(s, e.from, e.to));
    for (PetscInt i = 0; i < s->ntouched; i++) PetscCall(Consider(s, KCycleSearchRoot(s->parent, s->touched[i])));
  }
  LeaveClosed(s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is this the first or last one in a direction in which neighbours belong to other processes? */
static PetscBool AtCut(const KCycleBox *box, int d, PetscInt i)
{
  if (box->nproc[d] == 1) return PETSC_FALSE;
  return (PetscBool)((i == 0 && (box->start[d] > 0 || box->periodic[d])) ||
                     (i == box->n[d] - 1 && (box->start[d] + box->n[d] < box->size[d] || box->periodic[d])));
}

/* A word of points that the search starts from: those with jumps, and those at cuts, but not the dead */
static uint64_t SeedsOf(const KCycleSearch *s, PetscInt j, PetscInt k, PetscInt w)
{
  const KCycleBox *box  = s->st->box;
  const PetscInt   last = box->n[0] - 1, n = PetscMin(KC_WORD, box->n[0] - KC_WORD * w);
  const PetscInt   at    = KCycleSieveLine(&s->sieve, j, k) + KC_WORD * w;
  uint64_t         seeds = KCycleSieveBits(s->sieve.rough, at, n);

  if (AtCut(box, 1, j) || AtCut(box, 2, k)) seeds = ~UINT64_C(0) >> (KC_WORD - n);
  if (w == 0 && AtCut(box, 0, 0)) seeds |= 1;
  if (w == last / KC_WORD && AtCut(box, 0, last)) seeds |= UINT64_C(1) << last % KC_WORD;
  return seeds & ~KCycleSieveBits(s->sieve.dead, at, n);
}

/* They become nodes in their order, which is easy on the cache */
static PetscErrorCode PlantSeeds(KCycleSearch *s)
{
  const KCycleBox *box = s->st->box;
  PetscInt         made;

  PetscFunctionBegin;
  for (PetscInt line = 0; line < box->nlines; line++) {
    PetscInt at[3] = {0, line % box->n[1], line / box->n[1]};

    for (PetscInt w = 0; KC_WORD * w < box->n[0]; w++) {
      const uint64_t rough =
          KCycleSieveBits(s->sieve.rough, KCycleSieveLine(&s->sieve, at[1], at[2]) + KC_WORD * w, KC_WORD);

      for (uint64_t seeds = SeedsOf(s, at[1], at[2], w); seeds; seeds &= seeds - 1) {
        const int bit = __builtin_ctzll(seeds);

        at[0] = KC_WORD * w + bit;
        PetscCall(Activate(s, at, (PetscBool)(rough >> bit & 1), &made));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coefficients of the points around the owned box; only what lies at its faces is sent */
static PetscErrorCode FillHaloRows(KCycleSearch *s)
{
  const KCycleBox *box = s->st->box;
  PetscScalar     *x;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(box->npoints, &x));
  for (int o = 0; o < s->nc; o++) {
    for (PetscInt line = 0; line < box->nlines; line++) {
      const PetscInt    j = line % box->n[1], k = line / box->n[1];
      const PetscInt    step = AtCut(box, 1, j) || AtCut(box, 2, k) ? 1 : PetscMax(box->n[0] - 1, 1);
      const KCycleLine *l    = KCycleLinesAt(&s->lines, j, k);

      for (PetscInt i = 0; i < box->n[0]; i += step) x[line * box->n[0] + i] = KCycleLineCoefficient(l, o, i);
    }
    PetscCall(KCycleBoxHaloCreate(box, &s->row[o]));
    PetscCall(KCycleBoxExchange(box, (PetscBool)(s->st->shape.box != 0), x, s->row[o]));
  }
  PetscCall(PetscFree(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSearchCreate(const KCycleStencil *st, const PetscBool along[], PetscReal singular,
                                  KCycleSearch **search)
{
  const KCycleBox *box = st->box;
  KCycleSearch    *s;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  s->st       = st;
  s->nc       = st->shape.ncoeffs;
  s->singular = singular;
  s->most     = box->dim == 3 ? KCYCLE_CLUSTER_POINTS_3D : KCYCLE_CLUSTER_POINTS;
  for (int d = 0; d < 3; d++) s->along[d] = along[d];
  s->lined = (PetscBool)(along[0] || along[1] || along[2]);
  for (PetscInt g = 0; g < KC_RANKS; g++) s->head[g] = KC_NONE;
  s->width[0] = box->n[0] + 2 * box->reach[0];
  s->width[1] = s->width[0] * (box->n[1] + 2 * box->reach[1]);
  PetscCall(PetscIntCast((PetscInt64)s->width[1] * (box->n[2] + 2 * box->reach[2]), &s->npoints));
  for (int o = 0; o < s->nc; o++)
    s->delta[o] =
        st->shape.dx[o] + s->width[0] * st->shape.dy[st->shape.line[o]] + s->width[1] * st->shape.dz[st->shape.line[o]];
  KCycleLinesCreate(st, &s->lines);
  s->unused  = KC_NONE;
  s->weakest = PETSC_MAX_REAL;
  *search    = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSearchDestroy(KCycleSearch **search)
{
  KCycleSearch *s = *search;

  PetscFunctionBegin;
  PetscCall(PetscFree(s->node));
  PetscCall(PetscFree(s->across));
  PetscCall(PetscFree(s->parent));
  PetscCall(PetscFree(s->next));
  PetscCall(PetscFree(s->death));
  PetscCall(PetscFree(s->blame));
  PetscCall(PetscFree(s->a));
  PetscCall(PetscFree(s->rank));
  PetscCall(PetscFree(s->chunk));
  PetscCall(PetscFree(s->touched));
  PetscCall(PetscFree(s->index));
  PetscCall(PetscFree2(s->sieve.rough, s->sieve.dead));
  PetscCall(PetscFree(s->neighbour));
  for (int o = 0; o < s->nc; o++) PetscCall(PetscFree(s->row[o]));
  PetscCall(KCycleClusterListDestroy(&s->found));
  PetscCall(PetscFree(*search));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nobody has a node yet. Points in the layer around the box are outside, unless the grid wraps around within this
   process */
static PetscErrorCode MakeIndex(KCycleSearch *s)
{
  const KCycleBox *box = s->st->box;
  const PetscInt  *n = box->n, *reach = box->reach;
  PetscInt         at[3], to[3];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(s->npoints, &s->index));
  for (at[2] = -reach[2]; at[2] < n[2] + reach[2]; at[2]++) {
    for (at[1] = -reach[1]; at[1] < n[1] + reach[1]; at[1]++) {
      PetscInt *index, line;

      at[0] = -1;
      index = s->index + KCycleSearchNumber(s, at);
      for (int d = 0; d < 3; d++) to[d] = at[d];
      WrapPlace(box, to);
      if (to[1] < 0 || to[1] >= n[1] || to[2] < 0 || to[2] >= n[2]) {
        for (PetscInt i = 0; i < s->width[0]; i++) index[i] = KC_OUTSIDE;
        continue;
      }
      line = KCycleSieveLine(&s->sieve, to[1], to[2]);
      for (PetscInt i = 0; i < n[0]; i++)
        index[i + 1] = KCycleSieveBits(s->sieve.dead, line + i, 1) ? KC_DEAD : KC_NONE;
      index[0]        = to[0] < 0 ? KC_OUTSIDE : index[n[0]];
      index[n[0] + 1] = to[0] < 0 ? KC_OUTSIDE : index[1];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Clusters among the process's own points become part of the list; members are then owned points */
static PetscErrorCode ListOwned(KCycleSearch *s, PetscInt c, KCycleClusterList *list)
{
  const KCycleClusterList *found = &s->found;
  const PetscInt           m     = found->first[c + 1] - found->first[c];

  PetscFunctionBegin;
  PetscCall(KCycleClusterListAppend(list, m, found->generation[c], -1, 0));
  for (PetscInt i = 0; i < m; i++)
    list->member[list->nmembers++] = KCycleBoxPoint(s->st->box, s->node[found->member[found->first[c] + i]].at);
  list->nclusters++;
  list->npoints += m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is needed for its points no more, when it has run */
static PetscErrorCode SearchTrim(KCycleSearch *s)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(s->across));
  PetscCall(PetscFree(s->chunk));
  PetscCall(PetscFree(s->touched));
  PetscCall(PetscFree(s->neighbour));
  PetscCall(PetscFree2(s->sieve.rough, s->sieve.dead));
  for (int o = 0; o < s->nc; o++) PetscCall(PetscFree(s->row[o]));
  PetscCall(KCycleClusterListDestroy(&s->found));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The clusters of an operator, or the parts of them that this process has */
PetscErrorCode KCycleClustersSearch(Mat A, const KCycleSmoother *smoother, const KCycleSeeds *seeds,
                                    KCycleClusterList *list)
{
  KCycleSearch     *s;
  const KCycleScan *scan;
  MPI_Comm          comm = PetscObjectComm((PetscObject)A);
  PetscMPIInt       nprocs;
  int               here, any;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &nprocs));
  PetscCall(KCycleSearchCreate(KCycleStencilOf(A), smoother->along, seeds->singular, &s));
  /* where constants are the kernel, those on one part of the points and on the others do the same: with the larger part
     rounding would be made as large as what couples both is weak. LeaveClosed() does not see this where the group of
     all points is too large to be followed; and this does not see closed parts of an operator */
  PetscCall(MatStencilScan(A, &scan));
  if (scan->sums <= KC_CLUSTER_CLOSED) s->most = PetscMin(s->most, A->rmap->N / 2);
  PetscCall(KCycleSift(s, seeds));
  here = (int)KCycleSieveHasRough(&s->sieve);
  PetscCallMPI(MPI_Allreduce(&here, &any, 1, MPI_INT, MPI_LOR, comm));
  if (any) {
    PetscCall(MakeIndex(s));
    if (nprocs > 1) PetscCall(FillHaloRows(s));
    PetscCall(PlantSeeds(s));
    PetscCall(KCycleSearchRun(s));
    for (PetscInt c = 0; c < s->found.n; c++) {
      if (!KCycleSearchIsCandidate(s, s->found.member[s->found.first[c]])) PetscCall(ListOwned(s, c, list));
    }
    PetscCall(SearchTrim(s));
    if (nprocs > 1) PetscCall(KCycleSearchCandidates(comm, s, list));
  }
  PetscCall(KCycleSearchDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
