/*
  The search for clusters of PCRELAX: small groups of points that are coupled much more strongly among themselves than with all others.

  Points are joined from strong to weak couplings, all couplings of about the same strength at once (a rank, from 0 on; ranks are half powers of two).
  What a point is joined with at a rank, its group, does not depend on any order. Groups that outgrow KC_CLUSTER_POINTS are dead, and kill what
  joins them; of the others those with a small d_C = 1^T A 1 are clusters.

  A cluster ends where couplings jump. So the search starts from points with such couplings alone, and works on other points when it gets there; in
  regions where nothing jumps it soon meets the dead.

  On several processes each first searches its own points. Groups that end before they reach a cut are done with. Points of the others, the
  candidates, go to all processes near them, which search among them again: a cluster is made by the process that has its first point.
*/
#include <petsckcycle/private/relaximpl.h>

#define KC_CLUSTER_POINTS   100                            /* of the largest clusters: coarse grids see larger ones */
#define KC_CLUSTER_REACH    16                             /* points beyond its own that a process hears of */
#define KC_CLUSTER_STRONG   0.02                           /* couplings weaker than this part of both diagonals join nobody */
#define KC_CLUSTER_TIGHT    0.2503                         /* largest d_C, relative to the sum of the diagonals; no round number, which regular grids would meet to rounding */
#define KC_CLUSTER_SINGULAR (1000 * PETSC_MACHINE_EPSILON) /* and the smallest */
#define KC_CLUSTER_GROWTH   1.5                            /* a cluster is larger than those in it by this factor */
#define KC_CLUSTER_SHIFT    1.083                          /* nor are the limits of ranks round numbers */
#define KC_RANKS            4300
#define KC_NEVER            KC_RANKS /* rank of what joins nobody, and of the death of the living */
#define KC_NONE             -1       /* what else stands where a node may: nobody yet */
#define KC_ROUGH            -2       /* nor here, and couplings jump */
#define KC_OUTSIDE          -3       /* points of other processes, or beyond the grid */
#define KC_DEAD             -4       /* joined the dead before it had a node */
#define KC_SEED             -1       /* from nobody: a point that the search starts from, as it lies at a cut, */
#define KC_ROUGH_SEED       -2       /* or as its couplings jump */

/* A point and, if it is the root of its group, the group */
typedef struct {
  PetscReal t, d;            /* sum of the diagonals, sum of all entries between members */
  PetscInt  at[3];           /* place, from the first point of the process, or of the grid */
  PetscInt  point;           /* number of the place, see Search */
  PetscInt  tail, size;      /* last member, number of them */
  PetscInt  largest, inside; /* of the clusters found in it: size of the largest, number of generations */
  PetscInt  cut;             /* rank of its strongest coupling across a cut */
  PetscBool rough;           /* couplings of a member jump */
} Node;

/* A coupling: the node that it leads from, the number of the place that it leads to (of candidates: the node). Or a point that the search starts from */
typedef struct {
  PetscInt from, to;
} Edge;

/* Couplings of one rank, and the next such chunk; this many, so that a chunk is a few cache lines */
#define KC_CHUNK 23
typedef struct {
  PetscInt count, below;
  Edge     edge[KC_CHUNK];
} Chunk;

typedef struct {
  const Mat_Stencil *st;
  int                nc;
  PetscInt           nnodes, maxnodes, nchunks, maxchunks, ntouched, maxtouched, nseeds;
  Node              *node;
  PetscInt          *parent; /* towards the root of a group, which is its own */
  PetscInt          *next;   /* member of the same group */
  unsigned short    *death;  /* of roots: rank at which the group died */
  PetscScalar       *a;      /* coefficients, point by point */
  unsigned short    *rank;   /* of couplings, point by point */
  Chunk             *chunk;
  PetscInt           unused;         /* first chunk that is free again */
  PetscInt           head[KC_RANKS]; /* chunk of each rank */
  PetscInt           now;            /* rank that is worked on, */
  PetscReal          weakest;        /* and its weakest coupling */
  PetscInt          *touched;        /* points joined at this rank */
  KCycleClusterList  found;          /* members are nodes */
  /* the process's own points */
  PetscInt           npoints, width[2];    /* the owned box with a layer around: points; of a line and of a plane */
  PetscInt           delta[KC_MAX_COEFFS]; /* what a coefficient adds to the number of a point in it */
  PetscInt          *index;                /* node of each point in it, also where the grid wraps around; or what KC_NONE and the others say */
  PetscScalar       *row[KC_MAX_COEFFS];   /* coefficients of points in the halo */
  KCycleLines        lines;
  /* candidates */
  PetscInt          *neighbour; /* nodes of neighbours, point by point; KC_DEAD: nobody, or not known here */
} Search;

/* Length of a list is to become so much: memory for it */
static PetscErrorCode Grow(PetscInt length, PetscInt *most, size_t size, void *list)
{
  PetscFunctionBegin;
  if (length <= *most) PetscFunctionReturn(PETSC_SUCCESS);
  *most = PetscMax(1024, 2 * length);
  PetscCall(PetscRealloc(*most * size, (void **)list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ListGrow(KCycleClusterList *list, PetscInt m)
{
  PetscInt most[3];

  PetscFunctionBegin;
  for (int i = 0; i < 3; i++) most[i] = list->most;
  PetscCall(Grow(list->n + 2, &most[0], sizeof(PetscInt), &list->first));
  PetscCall(Grow(list->n + 2, &most[1], sizeof(PetscInt), &list->generation));
  PetscCall(Grow(list->n + 2, &most[2], sizeof(PetscInt), &list->slot));
  PetscCall(Grow(list->n + 2, &list->most, sizeof(PetscMPIInt), &list->owner));
  PetscCall(Grow(list->nmembers + m, &list->mostmembers, sizeof(PetscInt), &list->member));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A new cluster, or a part of one; its members are appended by the caller */
static PetscErrorCode ListAppend(KCycleClusterList *list, PetscInt m, PetscInt generation, PetscMPIInt owner, PetscInt slot)
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
  PetscCall(PetscFree(list->sum));
  PetscCall(PetscFree(list->member));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Groups */

/* The root of a point's group; paths become shorter on the way */
static PetscInt Root(PetscInt *parent, PetscInt p)
{
  while (parent[p] != p) p = parent[p] = parent[parent[p]];
  return p;
}

static PetscBool IsDead(const Search *s, PetscInt root)
{
  return (PetscBool)(s->death[root] < KC_NEVER);
}

/* The place beside a point where a coefficient leads */
static void Beside(const Search *s, const PetscInt at[], int o, PetscInt to[])
{
  const KCycleShape *shape = &s->st->shape;

  to[0] = at[0] + shape->dx[o];
  to[1] = at[1] + shape->dy[shape->line[o]];
  to[2] = at[2] + shape->dz[shape->line[o]];
}

/* The number of a place in the owned box or the layer around it */
static PetscInt Number(const Search *s, const PetscInt at[])
{
  const PetscInt *reach = s->st->box->reach;

  return at[0] + reach[0] + s->width[0] * (at[1] + reach[1]) + s->width[1] * (at[2] + reach[2]);
}

/* The node of a neighbour, or none */
static PetscInt Neighbour(const Search *s, PetscInt p, int o)
{
  return s->neighbour ? s->neighbour[(size_t)p * s->nc + o] : s->index[s->node[p].point + s->delta[o]];
}

/* The rank of a coupling, which is minus the off-diagonal entry if the diagonal is positive. Strong couplings have low ranks */
static PetscInt Rank(PetscReal w)
{
  int          exponent;
  const double m = frexp(KC_CLUSTER_SHIFT * (double)w, &exponent);

  return PetscMin(PetscMax(2 * (1024 - exponent) + (m < 0.70710678118654752), 0), KC_RANKS - 1);
}

/* The weakest coupling of a rank */
static PetscReal WeakestOf(PetscInt rank)
{
  return (PetscReal)(ldexp(rank % 2 ? 0.5 : 0.70710678118654752, (int)(1024 - rank / 2)) / KC_CLUSTER_SHIFT);
}

/* Memory for twice as many nodes */
static PetscErrorCode GrowNodes(Search *s)
{
  PetscFunctionBegin;
  s->maxnodes = PetscMax(1024, 2 * s->maxnodes);
  PetscCall(PetscRealloc(s->maxnodes * s->nc * sizeof(PetscScalar), &s->a));
  PetscCall(PetscRealloc(s->maxnodes * s->nc * sizeof(*s->rank), &s->rank));
  PetscCall(PetscRealloc(s->maxnodes * sizeof(PetscInt), &s->parent));
  PetscCall(PetscRealloc(s->maxnodes * sizeof(PetscInt), &s->next));
  PetscCall(PetscRealloc(s->maxnodes * sizeof(*s->death), &s->death));
  PetscCall(PetscRealloc(s->maxnodes * sizeof(Node), &s->node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NewNode(Search *s, const PetscInt at[], PetscBool rough, PetscInt *made)
{
  Node *node;

  PetscFunctionBegin;
  if (s->nnodes == s->maxnodes) PetscCall(GrowNodes(s));
  *made = s->nnodes++;
  node  = &s->node[*made];
  for (int d = 0; d < 3; d++) node->at[d] = at[d];
  node->t = node->d = 0;
  node->tail        = *made;
  node->size        = 1;
  node->largest = node->inside = 0;
  node->cut                    = KC_NEVER;
  node->rough                  = rough;
  s->parent[*made]             = *made;
  s->next[*made]               = KC_NONE;
  s->death[*made]              = KC_NEVER;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A chunk for a rank whose last one is full */
static PetscErrorCode NewChunk(Search *s, PetscInt rank)
{
  PetscInt c = s->unused;

  PetscFunctionBegin;
  if (c >= 0) s->unused = s->chunk[c].below;
  else {
    if (s->nchunks == s->maxchunks) {
      s->maxchunks = PetscMax(256, 2 * s->maxchunks);
      PetscCall(PetscRealloc(s->maxchunks * sizeof(Chunk), &s->chunk));
    }
    c = s->nchunks++;
  }
  s->chunk[c].count = 0;
  s->chunk[c].below = s->head[rank];
  s->head[rank]     = c;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NewEdge(Search *s, PetscInt from, PetscInt to, PetscInt rank)
{
  Chunk *c;

  PetscFunctionBegin;
  if (rank < s->now) rank = s->now;
  if (rank >= KC_RANKS) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->head[rank] < 0 || s->chunk[s->head[rank]].count == KC_CHUNK) PetscCall(NewChunk(s, rank));
  c                      = &s->chunk[s->head[rank]];
  c->edge[c->count].from = from;
  c->edge[c->count++].to = to;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes the coupling of a rank that came last, if there is one */
static PetscBool TakeEdge(Search *s, PetscInt rank, Edge *e)
{
  const PetscInt top = s->head[rank];
  Chunk         *c;

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

/* Two groups become one; entries between them are found from the smaller one */
static void Merge(Search *s, PetscInt a, PetscInt b)
{
  const PetscInt l = s->node[a].size < s->node[b].size ? b : a, k = l == a ? b : a;
  Node          *node = s->node, *large = &node[l], *small = &node[k];
  PetscReal      between = 0;

  for (PetscInt m = k; m >= 0; m = s->next[m]) {
    const PetscScalar *c    = s->a + (size_t)m * s->nc;
    const PetscReal    sign = PetscRealPart(c[s->nc / 2]) < 0 ? -1 : 1;

    for (int o = 0; o < s->nc; o++) {
      PetscInt q;

      if (c[o] == (PetscScalar)0.0 || o == s->nc / 2) continue;
      q = Neighbour(s, m, o);
      if (q >= 0 && Root(s->parent, q) == l) between += sign * PetscRealPart(c[o]);
    }
  }
  large->t += small->t;
  large->d += small->d + 2 * between;
  large->size += small->size;
  large->largest       = PetscMax(large->largest, small->largest);
  large->inside        = PetscMax(large->inside, small->inside);
  large->cut           = PetscMin(large->cut, small->cut);
  large->rough         = (PetscBool)(large->rough || small->rough);
  s->next[large->tail] = k;
  large->tail          = small->tail;
  s->parent[k]         = l;
}

static void Kill(Search *s, PetscInt root)
{
  s->death[root] = (unsigned short)PetscMin((PetscInt)s->death[root], s->now);
}

static PetscErrorCode Join(Search *s, PetscInt p, PetscInt q)
{
  const PetscInt a = Root(s->parent, p), b = Root(s->parent, q);

  PetscFunctionBegin;
  if (a == b) PetscFunctionReturn(PETSC_SUCCESS);
  if (IsDead(s, a) || IsDead(s, b) || s->node[a].size + s->node[b].size > KC_CLUSTER_POINTS) {
    Kill(s, a);
    Kill(s, b);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Merge(s, a, b);
  PetscCall(Grow(s->ntouched + 1, &s->maxtouched, sizeof(PetscInt), &s->touched));
  s->touched[s->ntouched++] = p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is a group a cluster, and not about the same as one that was found in it? */
static PetscErrorCode Consider(Search *s, PetscInt root)
{
  Node *node = &s->node[root];

  PetscFunctionBegin;
  if (IsDead(s, root) || !node->rough || node->size < KC_CLUSTER_GROWTH * node->largest) PetscFunctionReturn(PETSC_SUCCESS);
  if (!(node->d <= KC_CLUSTER_TIGHT * node->t && node->d > KC_CLUSTER_SINGULAR * node->t)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ListAppend(&s->found, node->size, node->inside++, -1, 0));
  for (PetscInt m = root; m >= 0; m = s->next[m]) s->found.member[s->found.nmembers++] = m;
  node->largest = node->size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The process's own points */

/* Where the value of a point beside the owned box stands in the halo buffer */
static PetscInt HaloPlace(const KCycleBox *box, const PetscInt at[])
{
  const PetscInt e = KCycleBoxExtended(box, at[1], at[2]);

  if (at[0] < 0) return box->left + e;
  if (at[0] >= box->n[0]) return box->right + e;
  return box->slot[e] + at[0];
}

/* Where the grid wraps around within this process, a place in the layer around the box becomes one in it */
static void WrapPlace(const KCycleBox *box, PetscInt at[])
{
  for (int d = 0; d < 3; d++) {
    if (box->periodic[d] && box->nproc[d] == 1) at[d] = (at[d] + box->n[d]) % box->n[d];
  }
}

/* All numbers of a place get its node: also those in the layer around the box */
static void SetIndex(Search *s, const PetscInt at[], PetscInt node)
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
        to[0]                   = at[0] + x * box->n[0];
        to[1]                   = at[1] + y * box->n[1];
        to[2]                   = at[2] + z * box->n[2];
        s->index[Number(s, to)] = node;
      }
    }
  }
}

/* The rank of a coupling of a new node with a point of this process, or with one of another. What stands elsewhere is looked at where it counts */
static PetscInt RankOf(Search *s, PetscInt p, int o, PetscBool here)
{
  const int          nc = s->nc, opposite = nc - 1 - o;
  const PetscScalar *a    = s->a + (size_t)p * nc;
  const PetscReal    sign = PetscRealPart(a[nc / 2]) < 0 ? -1 : 1, least = KC_CLUSTER_STRONG * PetscAbsScalar(a[nc / 2]);
  PetscReal          w = -sign * PetscRealPart(a[o]);
  PetscScalar        other, diagonal;
  PetscInt           to[3];

  if (a[o] == (PetscScalar)0.0 || o == nc / 2) return KC_NEVER;
  if (here && s->st->half && w > 0 && w >= least) return Rank(w);
  Beside(s, s->node[p].at, o, to);
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
  return w > 0 && w >= PetscMin(least, KC_CLUSTER_STRONG * PetscAbsScalar(diagonal)) ? Rank(w) : KC_NEVER;
}

/* Is a point coupled to the dead, and not weaker than what is joined now? Then it need not become a node */
static PetscBool IsStillborn(const Search *s, const PetscInt at[], const KCycleLine *l, PetscInt point)
{
  const PetscScalar diagonal = KCycleLineCoefficient(l, s->nc / 2, at[0]);
  const PetscReal   sign = PetscRealPart(diagonal) < 0 ? -1 : 1, least = PetscMax(s->weakest, KC_CLUSTER_STRONG * PetscAbsScalar(diagonal));

  for (int o = 0; o < s->nc; o++) {
    const PetscInt q = s->index[point + s->delta[o]];

    if (q != KC_DEAD && !(q >= 0 && IsDead(s, Root(s->parent, q)))) continue;
    if (-sign * PetscRealPart(KCycleLineCoefficient(l, o, at[0])) >= least) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* An owned point becomes a group of its own, or is dead at once: then made is KC_DEAD. Couplings with living groups have been seen from there */
static PetscErrorCode Activate(Search *s, const PetscInt at[], PetscInt *made)
{
  const KCycleLine *l     = KCycleLinesAt(&s->lines, at[1], at[2]);
  const PetscInt    point = Number(s, at);
  const int         nc    = s->nc;
  PetscInt          p;

  PetscFunctionBegin;
  *made = KC_DEAD;
  if (IsStillborn(s, at, l, point)) {
    SetIndex(s, at, KC_DEAD);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(NewNode(s, at, (PetscBool)(s->index[point] == KC_ROUGH), &p));
  SetIndex(s, at, p);
  s->node[p].point = point;
  for (int o = 0; o < nc; o++) s->a[(size_t)p * nc + o] = KCycleLineCoefficient(l, o, at[0]);
  s->node[p].t = s->node[p].d = PetscAbsScalar(s->a[(size_t)p * nc + nc / 2]);
  for (int o = 0; o < nc; o++) {
    const PetscInt  q    = Neighbour(s, p, o);
    unsigned short *rank = &s->rank[(size_t)p * nc + o];

    *rank = (unsigned short)(q == p ? KC_NEVER : RankOf(s, p, o, (PetscBool)(q != KC_OUTSIDE)));
    if (*rank == KC_NEVER) continue;
    if (q == KC_OUTSIDE) s->node[p].cut = PetscMin(s->node[p].cut, (PetscInt)*rank);
    else if (q < 0 || IsDead(s, Root(s->parent, q))) PetscCall(NewEdge(s, p, point + s->delta[o], *rank));
  }
  *made = p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The place of a number */
static void PlaceOf(const Search *s, PetscInt point, PetscInt at[])
{
  const PetscInt *reach = s->st->box->reach;

  at[2] = point / s->width[1] - reach[2];
  point = point % s->width[1];
  at[1] = point / s->width[0] - reach[1];
  at[0] = point % s->width[0] - reach[0];
}

/* A point that the search starts from, at the rank of its strongest coupling */
static PetscErrorCode Begin(Search *s, PetscInt point)
{
  PetscInt at[3], made;

  PetscFunctionBegin;
  if (s->index[point] != KC_NONE && s->index[point] != KC_ROUGH) PetscFunctionReturn(PETSC_SUCCESS);
  PlaceOf(s, point, at);
  WrapPlace(s->st->box, at);
  PetscCall(Activate(s, at, &made));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A coupling whose turn it is. One that leads to the dead, or from a candidate to a point that is not known, is the death of a group */
static PetscErrorCode Follow(Search *s, PetscInt p, PetscInt to)
{
  const PetscInt root = Root(s->parent, p);
  PetscInt       q    = s->neighbour ? to : s->index[to], at[3];

  PetscFunctionBegin;
  if (q < 0 && IsDead(s, root)) PetscFunctionReturn(PETSC_SUCCESS);
  if (q == KC_NONE || q == KC_ROUGH) {
    PlaceOf(s, to, at);
    WrapPlace(s->st->box, at);
    PetscCall(Activate(s, at, &q));
  }
  if (q < 0) Kill(s, root);
  else PetscCall(Join(s, root, q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Joins points from strong to weak couplings and looks at the groups that arise */
static PetscErrorCode Run(Search *s)
{
  Edge e;

  PetscFunctionBegin;
  for (s->now = 0; s->now < KC_RANKS; s->now++) {
    s->ntouched = 0;
    s->weakest  = WeakestOf(s->now);
    while (TakeEdge(s, s->now, &e)) {
      if (e.from < 0) PetscCall(Begin(s, e.to));
      else PetscCall(Follow(s, e.from, e.to));
    }
    for (PetscInt i = 0; i < s->ntouched; i++) PetscCall(Consider(s, Root(s->parent, s->touched[i])));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does a coupling of a point jump to that with the opposite neighbour, and is it strong? */
KC_POINT PetscReal Jump(PetscScalar a, PetscScalar b, PetscScalar diagonal)
{
  const PetscReal x = PetscAbsScalar(a), y = PetscAbsScalar(b), low = PetscMin(x, y), high = PetscMax(x, y);

  return (low > 0 && high > KCYCLE_JUMP * low && high >= KC_CLUSTER_STRONG * PetscAbsScalar(diagonal)) ? 1 : 0;
}

KC_VERSIONS static void AddJumps(PetscInt n, const PetscScalar *restrict a, const PetscScalar *restrict b, const PetscScalar *restrict diagonal, PetscReal *restrict rough)
{
  for (PetscInt i = 1; i < n - 1; i++) rough[i] += Jump(a[i], b[i], diagonal[i]);
}

/* The points of a line whose couplings jump */
static void FindJumps(const KCycleLine *l, int nc, PetscReal rough[])
{
  for (PetscInt i = 0; i < l->n; i++) rough[i] = 0;
  for (int o = 0; o < nc / 2; o++) {
    AddJumps(l->n, KCycleLineArray(l, o), KCycleLineArray(l, nc - 1 - o), KCycleLineArray(l, nc / 2), rough);
    for (PetscInt i = 0; i < l->n; i += PetscMax(l->n - 1, 1)) {
      rough[i] += Jump(KCycleLineCoefficient(l, o, i), KCycleLineCoefficient(l, nc - 1 - o, i), KCycleLineCoefficient(l, nc / 2, i));
    }
  }
}

/* Is this the first or last one in a direction in which neighbours belong to other processes? */
static PetscBool AtCut(const KCycleBox *box, int d, PetscInt i)
{
  if (box->nproc[d] == 1) return PETSC_FALSE;
  return (PetscBool)((i == 0 && (box->start[d] > 0 || box->periodic[d])) || (i == box->n[d] - 1 && (box->start[d] + box->n[d] < box->size[d] || box->periodic[d])));
}

/* The strongest coupling of a point, as its row has it */
static PetscReal Strongest(const KCycleLine *l, int nc, PetscInt i)
{
  const PetscReal sign      = PetscRealPart(KCycleLineCoefficient(l, nc / 2, i)) < 0 ? -1 : 1;
  PetscReal       strongest = 0;

  for (int o = 0; o < nc; o++) {
    if (o != nc / 2) strongest = PetscMax(strongest, -sign * PetscRealPart(KCycleLineCoefficient(l, o, i)));
  }
  return strongest;
}

/* The points that the search starts from, in the order of their strongest couplings: those with jumps, or all, and those at cuts. many: how many jump */
static PetscErrorCode PlantSeeds(Search *s, PetscBool all, PetscInt *many)
{
  const KCycleBox *box  = s->st->box;
  PetscInt         last = -1;
  PetscReal       *rough;

  PetscFunctionBegin;
  *many = 0;
  PetscCall(PetscMalloc1(box->n[0], &rough));
  for (PetscInt line = 0; line < box->nlines; line++) {
    PetscInt          at[3] = {0, line % box->n[1], line / box->n[1]};
    const PetscBool   cut   = (PetscBool)(AtCut(box, 1, at[1]) || AtCut(box, 2, at[2]));
    const KCycleLine *l     = KCycleLinesAt(&s->lines, at[1], at[2]);
    const PetscInt    first = Number(s, at);

    if (!all && !MatStencilLineIsLast(s->st, line, last)) FindJumps(l, s->nc, rough);
    last = line;
    for (; at[0] < box->n[0]; at[0]++) {
      const PetscBool jumps = (PetscBool)(all || rough[at[0]] > 0);
      PetscReal       w;

      if (!jumps && !cut && !AtCut(box, 0, at[0])) continue;
      *many += jumps;
      s->nseeds++;
      w = Strongest(l, s->nc, at[0]);
      if (w > 0) PetscCall(NewEdge(s, jumps ? KC_ROUGH_SEED : KC_SEED, first + at[0], Rank(w)));
    }
  }
  PetscCall(PetscFree(rough));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coefficients of the points around the owned box; only what lies at its faces is sent */
static PetscErrorCode FillHaloRows(Search *s)
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

static PetscErrorCode SearchCreate(const Mat_Stencil *st, Search **search)
{
  const KCycleBox *box = st->box;
  Search          *s;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  s->st = st;
  s->nc = st->shape.ncoeffs;
  for (PetscInt g = 0; g < KC_RANKS; g++) s->head[g] = KC_NONE;
  s->width[0] = box->n[0] + 2 * box->reach[0];
  s->width[1] = s->width[0] * (box->n[1] + 2 * box->reach[1]);
  s->npoints  = s->width[1] * (box->n[2] + 2 * box->reach[2]);
  for (int o = 0; o < s->nc; o++) s->delta[o] = st->shape.dx[o] + s->width[0] * st->shape.dy[st->shape.line[o]] + s->width[1] * st->shape.dz[st->shape.line[o]];
  KCycleLinesCreate(st, &s->lines);
  s->unused = KC_NONE;
  *search   = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SearchDestroy(Search **search)
{
  Search *s = *search;

  PetscFunctionBegin;
  PetscCall(PetscFree(s->node));
  PetscCall(PetscFree(s->parent));
  PetscCall(PetscFree(s->next));
  PetscCall(PetscFree(s->death));
  PetscCall(PetscFree(s->a));
  PetscCall(PetscFree(s->rank));
  PetscCall(PetscFree(s->chunk));
  PetscCall(PetscFree(s->touched));
  PetscCall(PetscFree(s->index));
  PetscCall(PetscFree(s->neighbour));
  for (int o = 0; o < s->nc; o++) PetscCall(PetscFree(s->row[o]));
  PetscCall(KCycleClusterListDestroy(&s->found));
  PetscCall(PetscFree(*search));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nobody has a node yet. Points in the layer around the box are outside, unless the grid wraps around within this process */
static PetscErrorCode MakeIndex(Search *s)
{
  const KCycleBox *box = s->st->box;
  const PetscInt  *n = box->n, *reach = box->reach;
  PetscInt         at[3], to[3];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(s->npoints, &s->index));
  for (at[2] = -reach[2]; at[2] < n[2] + reach[2]; at[2]++) {
    for (at[1] = -reach[1]; at[1] < n[1] + reach[1]; at[1]++) {
      PetscInt *index;

      at[0] = -1;
      index = s->index + Number(s, at);
      for (int d = 0; d < 3; d++) to[d] = at[d];
      WrapPlace(box, to);
      for (PetscInt i = 0; i < s->width[0]; i++) index[i] = to[1] >= 0 && to[1] < n[1] && to[2] >= 0 && to[2] < n[2] ? KC_NONE : KC_OUTSIDE;
      if (to[0] < 0) index[0] = index[n[0] + 1] = KC_OUTSIDE;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where most points are seeds they become nodes in their order, which is easy on the cache; else each when it is its turn, as it may be dead by then */
static PetscErrorCode SearchOwned(Search *s, PetscBool cut)
{
  const PetscBool most    = (PetscBool)(s->nseeds > s->st->box->npoints / 2);
  const PetscInt  nchunks = s->nchunks;

  PetscFunctionBegin;
  PetscCall(MakeIndex(s));
  if (cut) PetscCall(FillHaloRows(s));
  for (PetscInt c = 0; c < nchunks; c++) {
    for (PetscInt i = 0; i < s->chunk[c].count; i++) {
      PetscInt at[3];

      PlaceOf(s, s->chunk[c].edge[i].to, at);
      if (s->chunk[c].edge[i].from == KC_ROUGH_SEED) SetIndex(s, at, KC_ROUGH);
    }
  }
  for (PetscInt point = 0; most && point < s->npoints; point++) {
    if (s->index[point] == KC_ROUGH) PetscCall(Begin(s, point));
  }
  PetscCall(Run(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Candidates */

/* What processes get from each other, by ranks */
typedef struct {
  PetscMPIInt n, *rank, *count; /* senders, and how many records each has sent */
  char       *data;
} Mail;

static PetscErrorCode MailDestroy(Mail *mail)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(mail->rank));
  PetscCall(PetscFree(mail->count));
  PetscCall(PetscFree(mail->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sends count[r] records of so many bytes to each process r; data has those for process 0 first */
static PetscErrorCode Post(MPI_Comm comm, size_t size, const PetscMPIInt count[], const char data[], Mail *mail)
{
  PetscMPIInt  nprocs, nto = 0, *to, *tocount, tag;
  MPI_Datatype record;
  MPI_Request *request;
  size_t       total = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &nprocs));
  PetscCall(PetscMalloc2(nprocs, &to, nprocs, &tocount));
  for (PetscMPIInt r = 0; r < nprocs; r++) {
    if (!count[r]) continue;
    to[nto]        = r;
    tocount[nto++] = count[r];
  }
  PetscCall(PetscCommBuildTwoSided(comm, 1, MPI_INT, nto, to, tocount, &mail->n, &mail->rank, (void *)&mail->count));
  PetscCall(PetscSortMPIIntWithArray(mail->n, mail->rank, mail->count));
  for (PetscMPIInt i = 0; i < mail->n; i++) total += (size_t)mail->count[i] * size;
  PetscCall(PetscMalloc1(total, &mail->data));
  PetscCall(PetscMalloc1(mail->n + nto, &request));
  PetscCall(PetscCommGetNewTag(comm, &tag));
  PetscCallMPI(MPI_Type_contiguous((int)size, MPI_BYTE, &record));
  PetscCallMPI(MPI_Type_commit(&record));
  total = 0;
  for (PetscMPIInt i = 0; i < mail->n; i++) {
    PetscCallMPI(MPI_Irecv(mail->data + total, mail->count[i], record, mail->rank[i], tag, comm, &request[i]));
    total += (size_t)mail->count[i] * size;
  }
  for (PetscMPIInt i = 0; i < nto; i++) {
    PetscCallMPI(MPI_Isend(data, tocount[i], record, to[i], tag, comm, &request[mail->n + i]));
    data += (size_t)tocount[i] * size;
  }
  PetscCallMPI(MPI_Waitall(mail->n + nto, request, MPI_STATUSES_IGNORE));
  PetscCallMPI(MPI_Type_free(&record));
  PetscCall(PetscFree(request));
  PetscCall(PetscFree2(to, tocount));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Can the group of a point reach across a cut while it lives? */
static PetscBool IsCandidate(Search *s, PetscInt p)
{
  const PetscInt root = Root(s->parent, p);

  return (PetscBool)(s->node[root].cut < (PetscInt)s->death[root]);
}

/* Does a process hear of a point? i: its place in direction d in the grid; process: in that direction */
static PetscBool IsNear(const KCycleBox *box, int d, PetscInt i, PetscInt process)
{
  const PetscInt low = box->first[d][process] - KC_CLUSTER_REACH, high = box->first[d][process + 1] + KC_CLUSTER_REACH, size = box->size[d];

  if (i >= low && i < high) return PETSC_TRUE;
  return (PetscBool)(box->periodic[d] && ((i + size >= low && i + size < high) || (i - size >= low && i - size < high)));
}

/* A record: place, rank of death, whether rough; ranks and values of the couplings */
static size_t RecordSize(int nc)
{
  return 5 * sizeof(PetscInt) + nc * (sizeof(unsigned short) + sizeof(PetscScalar));
}

static void WriteRecord(Search *s, PetscInt p, char *to)
{
  const Node     *node    = &s->node[p];
  const PetscInt *start   = s->st->box->start;
  const PetscInt  head[5] = {node->at[0] + start[0], node->at[1] + start[1], node->at[2] + start[2], (PetscInt)s->death[Root(s->parent, p)], (PetscInt)node->rough};

  memcpy(to, head, sizeof(head));
  to += sizeof(head);
  memcpy(to, s->rank + (size_t)p * s->nc, s->nc * sizeof(*s->rank));
  memcpy(to + s->nc * sizeof(*s->rank), s->a + (size_t)p * s->nc, s->nc * sizeof(PetscScalar));
}

static PetscErrorCode ReadRecord(Search *s, const char *from)
{
  PetscInt head[5], p;

  PetscFunctionBegin;
  memcpy(head, from, sizeof(head));
  from += sizeof(head);
  PetscCall(NewNode(s, head, (PetscBool)head[4], &p));
  memcpy(s->rank + (size_t)p * s->nc, from, s->nc * sizeof(*s->rank));
  memcpy(s->a + (size_t)p * s->nc, from + s->nc * sizeof(*s->rank), s->nc * sizeof(PetscScalar));
  s->node[p].t = s->node[p].d = PetscAbsScalar(s->a[(size_t)p * s->nc + s->nc / 2]);
  PetscCall(NewEdge(s, p, KC_DEAD, head[3]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Candidates go to all processes near them. First they are counted, then written behind each other: next[r] is where the next one for process r goes */
static void Address(Search *s, PetscInt p, PetscMPIInt count[], char *next[])
{
  const KCycleBox *box = s->st->box;
  const PetscInt  *at  = s->node[p].at;

  for (PetscInt z = 0; z < box->nproc[2]; z++) {
    if (!IsNear(box, 2, at[2] + box->start[2], z)) continue;
    for (PetscInt y = 0; y < box->nproc[1]; y++) {
      if (!IsNear(box, 1, at[1] + box->start[1], y)) continue;
      for (PetscInt x = 0; x < box->nproc[0]; x++) {
        const PetscInt r = x + box->nproc[0] * (y + box->nproc[1] * z);

        if (r == box->rank || !IsNear(box, 0, at[0] + box->start[0], x)) continue;
        if (!next) {
          count[r]++;
          continue;
        }
        WriteRecord(s, p, next[r]);
        next[r] += RecordSize(s->nc);
      }
    }
  }
}

static PetscErrorCode SendCandidates(MPI_Comm comm, Search *s, Mail *mail)
{
  const PetscInt nprocs = s->st->box->nproc[0] * s->st->box->nproc[1] * s->st->box->nproc[2];
  PetscMPIInt   *count;
  size_t         total = 0;
  char          *data, **next;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(nprocs, &count));
  PetscCall(PetscMalloc1(nprocs, &next));
  for (PetscInt p = 0; p < s->nnodes; p++) {
    if (IsCandidate(s, p)) Address(s, p, count, NULL);
  }
  for (PetscInt r = 0; r < nprocs; r++) total += (size_t)count[r] * RecordSize(s->nc);
  PetscCall(PetscMalloc1(total, &data));
  total = 0;
  for (PetscInt r = 0; r < nprocs; r++) {
    next[r] = data + total;
    total += (size_t)count[r] * RecordSize(s->nc);
  }
  for (PetscInt p = 0; p < s->nnodes; p++) {
    if (IsCandidate(s, p)) Address(s, p, count, next);
  }
  PetscCall(Post(comm, RecordSize(s->nc), count, data, mail));
  PetscCall(PetscFree(data));
  PetscCall(PetscFree(next));
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt Natural(const KCycleBox *box, const PetscInt at[])
{
  return at[0] + box->size[0] * (at[1] + box->size[1] * at[2]);
}

/* Neighbours by their numbers in the grid, then the couplings in order. One that leads to a point that is not known here is the death of a group: the point is no candidate, or far away */
static PetscErrorCode ConnectCandidates(Search *s)
{
  const KCycleBox *box = s->st->box;
  const int        nc  = s->nc;
  PetscHMapI       map;
  PetscInt         to[3];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)s->nnodes * nc, &s->neighbour));
  PetscCall(PetscHMapICreate(&map));
  for (PetscInt p = 0; p < s->nnodes; p++) PetscCall(PetscHMapISet(map, Natural(box, s->node[p].at), p));
  for (PetscInt p = 0; p < s->nnodes; p++) {
    for (int o = 0; o < nc; o++) {
      PetscInt *q = &s->neighbour[(size_t)p * nc + o], rank = s->rank[(size_t)p * nc + o];

      *q = KC_DEAD;
      if (s->a[(size_t)p * nc + o] == (PetscScalar)0.0) continue;
      Beside(s, s->node[p].at, o, to);
      for (int d = 0; d < 3; d++) to[d] = box->periodic[d] ? (to[d] + box->size[d]) % box->size[d] : to[d];
      PetscCall(PetscHMapIGet(map, Natural(box, to), q));
      if (*q < 0) *q = KC_DEAD;
      if (rank < KC_NEVER && (*q < 0 || o > nc / 2)) PetscCall(NewEdge(s, p, *q, rank));
    }
  }
  PetscCall(PetscHMapIDestroy(&map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt OwnedPoint(const KCycleBox *box, const PetscInt at[])
{
  return at[0] + box->n[0] * (at[1] + box->n[1] * at[2]);
}

/* Clusters among the process's own points become part of the list; members are then owned points */
static PetscErrorCode ListOwned(Search *s, PetscInt c, KCycleClusterList *list)
{
  const KCycleClusterList *found = &s->found;
  const PetscInt           m     = found->first[c + 1] - found->first[c];

  PetscFunctionBegin;
  PetscCall(ListAppend(list, m, found->generation[c], -1, 0));
  for (PetscInt i = 0; i < m; i++) list->member[list->nmembers++] = OwnedPoint(s->st->box, s->node[found->member[found->first[c] + i]].at);
  list->nclusters++;
  list->npoints += m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Members of a cluster on a process become a part of it there: generation, slot, number of members, members */
typedef struct {
  PetscInt    *data, length, most;
  PetscMPIInt *rank; /* of each number, where it goes */
  PetscInt     mostranks;
} Letters;

static PetscErrorCode Write(Letters *l, PetscMPIInt rank, PetscInt number)
{
  PetscFunctionBegin;
  PetscCall(Grow(l->length + 1, &l->most, sizeof(PetscInt), &l->data));
  PetscCall(Grow(l->length + 1, &l->mostranks, sizeof(PetscMPIInt), &l->rank));
  l->rank[l->length]   = rank;
  l->data[l->length++] = number;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sum of the matrix over a cluster; the lists of groups are used up already, and next marks its members */
static PetscScalar Sum(Search *s, PetscInt c)
{
  const PetscInt *first = s->found.member + s->found.first[c], *last = s->found.member + s->found.first[c + 1];
  PetscScalar     sum = 0;

  for (const PetscInt *m = first; m < last; m++) s->next[*m] = c;
  for (const PetscInt *m = first; m < last; m++) {
    for (int o = 0; o < s->nc; o++) {
      const PetscInt q = o == s->nc / 2 ? *m : s->neighbour[(size_t)*m * s->nc + o];

      if (q >= 0 && s->next[q] == c) sum += s->a[(size_t)*m * s->nc + o];
    }
  }
  for (const PetscInt *m = first; m < last; m++) s->next[*m] = KC_NONE;
  return sum;
}

/* A cluster among candidates, if the process has its first point. home: the process that has each candidate */
static PetscErrorCode ListShared(Search *s, PetscInt c, const PetscMPIInt home[], KCycleClusterList *list, Letters *letters)
{
  const KCycleBox         *box    = s->st->box;
  const KCycleClusterList *found  = &s->found;
  const PetscInt          *member = found->member + found->first[c], m = found->first[c + 1] - found->first[c];
  PetscInt                 first = member[0], slot = -1;

  PetscFunctionBegin;
  for (PetscInt i = 1; i < m; i++) {
    if (Natural(box, s->node[member[i]].at) < Natural(box, s->node[first].at)) first = member[i];
  }
  if (home[first] != box->rank) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < m; i++) {
    if (home[member[i]] != box->rank) slot = list->nslots;
  }
  if (slot >= 0) {
    PetscCall(Grow(slot + 1, &list->mostslots, sizeof(PetscScalar), &list->sum));
    list->sum[list->nslots++] = Sum(s, c);
  }
  list->nclusters++;
  list->npoints += m;
  for (PetscInt i = 0; i < m; i++) { /* each process once */
    const PetscMPIInt rank  = home[member[i]];
    PetscInt          count = 0;

    for (PetscInt j = 0; j < m; j++) {
      if (home[member[j]] != rank) continue;
      if (j < i) break;
      count++;
    }
    if (!count) continue;
    if (rank == box->rank) PetscCall(ListAppend(list, count, found->generation[c], slot < 0 ? -1 : rank, slot));
    else {
      PetscCall(Write(letters, rank, found->generation[c]));
      PetscCall(Write(letters, rank, slot));
      PetscCall(Write(letters, rank, count));
    }
    for (PetscInt j = i; j < m; j++) {
      const Node *node  = &s->node[member[j]];
      PetscInt    at[3] = {node->at[0] - box->start[0], node->at[1] - box->start[1], node->at[2] - box->start[2]};

      if (home[member[j]] != rank) continue;
      if (rank == box->rank) list->member[list->nmembers++] = OwnedPoint(box, at);
      else PetscCall(Write(letters, rank, Natural(box, node->at)));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Letters in the order of processes, and then the parts that come from others */
static PetscErrorCode SendParts(MPI_Comm comm, const KCycleBox *box, const Letters *letters, KCycleClusterList *list)
{
  const PetscInt nprocs = box->nproc[0] * box->nproc[1] * box->nproc[2];
  PetscInt      *data, *next;
  PetscMPIInt   *count;
  Mail           mail;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(nprocs, &count));
  PetscCall(PetscCalloc1(nprocs + 1, &next));
  PetscCall(PetscMalloc1(letters->length, &data));
  for (PetscInt i = 0; i < letters->length; i++) count[letters->rank[i]]++;
  for (PetscInt r = 0; r < nprocs; r++) next[r + 1] = next[r] + count[r];
  for (PetscInt i = 0; i < letters->length; i++) data[next[letters->rank[i]]++] = letters->data[i];
  PetscCall(Post(comm, sizeof(PetscInt), count, (const char *)data, &mail));
  PetscCall(PetscFree(data));
  PetscCall(PetscFree(next));
  PetscCall(PetscFree(count));
  data = (PetscInt *)mail.data;
  for (PetscMPIInt f = 0; f < mail.n; f++) {
    const PetscInt *end = data + mail.count[f];

    while (data < end) {
      const PetscInt m = data[2];

      PetscCall(ListAppend(list, m, data[0], mail.rank[f], data[1]));
      for (PetscInt i = 0; i < m; i++) {
        const PetscInt p     = data[3 + i],
                       at[3] = {p % box->size[0] - box->start[0], p / box->size[0] % box->size[1] - box->start[1], p / box->size[0] / box->size[1] - box->start[2]};

        list->member[list->nmembers++] = OwnedPoint(box, at);
      }
      data += 3 + m;
    }
  }
  PetscCall(MailDestroy(&mail));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The search among candidates: those of this process, then those of others */
static PetscErrorCode SearchCandidates(MPI_Comm comm, Search *own, KCycleClusterList *list)
{
  Search      *s;
  Mail         mail;
  Letters      letters = {NULL, 0, 0, NULL, 0};
  PetscMPIInt *home;
  char        *record;
  PetscInt     p = 0;

  PetscFunctionBegin;
  PetscCall(SearchCreate(own->st, &s));
  PetscCall(SendCandidates(comm, own, &mail));
  PetscCall(PetscMalloc1(RecordSize(s->nc), &record));
  for (PetscInt q = 0; q < own->nnodes; q++) {
    if (!IsCandidate(own, q)) continue;
    WriteRecord(own, q, record);
    PetscCall(ReadRecord(s, record));
  }
  PetscCall(PetscFree(record));
  p      = s->nnodes;
  record = mail.data;
  for (PetscMPIInt f = 0; f < mail.n; f++) {
    for (PetscMPIInt i = 0; i < mail.count[f]; i++, record += RecordSize(s->nc)) PetscCall(ReadRecord(s, record));
  }
  PetscCall(PetscMalloc1(s->nnodes, &home));
  for (PetscInt q = 0; q < p; q++) home[q] = s->st->box->rank;
  for (PetscMPIInt f = 0; f < mail.n; f++) {
    for (PetscMPIInt i = 0; i < mail.count[f]; i++) home[p++] = mail.rank[f];
  }
  PetscCall(MailDestroy(&mail));
  PetscCall(ConnectCandidates(s));
  PetscCall(Run(s));
  for (PetscInt q = 0; q < s->nnodes; q++) s->next[q] = KC_NONE;
  for (PetscInt c = 0; c < s->found.n; c++) PetscCall(ListShared(s, c, home, list, &letters));
  PetscCall(SendParts(comm, s->st->box, &letters, list));
  PetscCall(PetscFree(letters.data));
  PetscCall(PetscFree(letters.rank));
  PetscCall(PetscFree(home));
  PetscCall(SearchDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The clusters of an operator, or the parts of them that this process has. all: start from all points, not from those with jumps */
PetscErrorCode KCycleClustersSearch(Mat A, PetscBool all, KCycleClusterList *list)
{
  Search     *s;
  MPI_Comm    comm = PetscObjectComm((PetscObject)A);
  PetscMPIInt nprocs;
  PetscInt    many, most;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &nprocs));
  PetscCall(SearchCreate((Mat_Stencil *)A->data, &s));
  PetscCall(PlantSeeds(s, all, &many));
  PetscCallMPI(MPI_Allreduce(&many, &most, 1, MPIU_INT, MPI_MAX, comm));
  if (most) {
    PetscCall(SearchOwned(s, (PetscBool)(nprocs > 1)));
    for (PetscInt c = 0; c < s->found.n; c++) {
      if (!IsCandidate(s, s->found.member[s->found.first[c]])) PetscCall(ListOwned(s, c, list));
    }
    if (nprocs > 1) PetscCall(SearchCandidates(comm, s, list));
  }
  PetscCall(SearchDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
