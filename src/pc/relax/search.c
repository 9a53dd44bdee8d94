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

#define KC_CLUSTER_POINTS 100    /* of the largest clusters: coarse grids see larger ones */
#define KC_CLUSTER_REACH  16     /* points beyond its own that a process hears of */
#define KC_CLUSTER_STRONG 0.02   /* couplings weaker than this part of both diagonals join nobody */
#define KC_CLUSTER_TIGHT  0.2503 /* largest d_C, relative to the sum of the diagonals; no round number, which regular grids would meet to rounding */
#define KC_CLUSTER_GROWTH 1.5    /* a cluster is larger than those in it by this factor */
#define KC_CLUSTER_SHIFT  1.083  /* nor are the limits of ranks round numbers */
#define KC_RANKS          4300
#define KC_NEVER          KC_RANKS /* rank of what joins nobody, and of the death of the living */
#define KC_NONE           -1
#define KC_LINES          64 /* lines of coefficients at hand */

/* A point and, if it is the root of its group, the group */
typedef struct {
  PetscReal t, d;             /* sum of the diagonals, sum of all entries between members */
  PetscInt  at[3];            /* place, from the first point of the process, or of the grid */
  PetscInt  parent;           /* itself: root */
  PetscInt  next, tail, size; /* list of members */
  PetscInt  largest, inside;  /* of the clusters found in it: size of the largest, number of generations */
  PetscInt  death;            /* rank at which it died */
  PetscInt  cut;              /* rank of its strongest coupling across a cut */
  PetscBool rough;            /* couplings of a member jump */
} Node;

typedef struct {
  PetscInt from, next; /* its first point; the next one of its rank */
  int      o;          /* coefficient */
} Edge;

typedef struct {
  const Mat_Stencil *st;
  int                nc;
  PetscInt           nnodes, maxnodes, nedges, maxedges, ntouched, maxtouched;
  Node              *node;
  PetscScalar       *a;    /* coefficients, point by point */
  unsigned short    *rank; /* of couplings, point by point */
  Edge              *edge;
  PetscInt           head[KC_RANKS]; /* first coupling of each rank that is not done with */
  PetscInt           now;            /* rank that is worked on */
  PetscInt          *touched;        /* points joined at this rank */
  KCycleClusterList  found;          /* members are nodes */
  /* the process's own points */
  PetscInt          *index;              /* node of each owned point */
  PetscScalar       *row[KC_MAX_COEFFS]; /* coefficients of points in the halo */
  PetscInt           key[KC_LINES];      /* lines at hand, and which they are */
  KCycleLine         line[KC_LINES];
  /* candidates */
  PetscInt          *neighbour; /* nodes of neighbours, point by point; KC_NONE: nobody, or not known here */
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
  PetscInt most[4];

  PetscFunctionBegin;
  for (int i = 0; i < 4; i++) most[i] = list->most;
  PetscCall(Grow(list->n + 2, &most[0], sizeof(PetscInt), &list->first));
  PetscCall(Grow(list->n + 2, &most[1], sizeof(PetscInt), &list->generation));
  PetscCall(Grow(list->n + 2, &most[2], sizeof(PetscInt), &list->slot));
  PetscCall(Grow(list->n + 2, &most[3], sizeof(PetscMPIInt), &list->owner));
  PetscCall(Grow(list->n + 2, &list->most, sizeof(PetscScalar), &list->d));
  PetscCall(Grow(list->nmembers + m, &list->mostmembers, sizeof(PetscInt), &list->member));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A new cluster, or a part of one; its members are appended by the caller */
static PetscErrorCode ListAppend(KCycleClusterList *list, PetscInt m, PetscInt generation, PetscScalar d, PetscMPIInt owner, PetscInt slot)
{
  PetscFunctionBegin;
  PetscCall(ListGrow(list, m));
  list->first[list->n]      = list->nmembers;
  list->generation[list->n] = generation;
  list->d[list->n]          = d;
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
  PetscCall(PetscFree(list->d));
  PetscCall(PetscFree(list->member));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Groups */

/* The root of a point's group; paths become shorter on the way */
static PetscInt Root(Node *node, PetscInt p)
{
  while (node[p].parent != p) p = node[p].parent = node[node[p].parent].parent;
  return p;
}

/* The place beside a point where a coefficient leads; the grid wraps around where it is periodic and all of it at hand */
static void Beside(const Search *s, const PetscInt at[], int o, PetscInt to[])
{
  const KCycleShape *shape = &s->st->shape;
  const KCycleBox   *box   = s->st->box;

  to[0] = at[0] + shape->dx[o];
  to[1] = at[1] + shape->dy[shape->line[o]];
  to[2] = at[2] + shape->dz[shape->line[o]];
  for (int d = 0; d < 3; d++) {
    if (!box->periodic[d] || (s->index && box->nproc[d] > 1)) continue;
    if (to[d] < 0) to[d] += box->size[d];
    else if (to[d] >= box->size[d]) to[d] -= box->size[d];
  }
}

static PetscBool IsOwned(const KCycleBox *box, const PetscInt at[])
{
  return (PetscBool)(at[0] >= 0 && at[0] < box->n[0] && at[1] >= 0 && at[1] < box->n[1] && at[2] >= 0 && at[2] < box->n[2]);
}

static PetscInt Owned(const KCycleBox *box, const PetscInt at[])
{
  return at[0] + box->n[0] * (at[1] + box->n[1] * at[2]);
}

/* The node of a neighbour, if it is one */
static PetscInt Neighbour(const Search *s, PetscInt p, int o)
{
  PetscInt to[3];

  if (s->neighbour) return s->neighbour[p * s->nc + o];
  Beside(s, s->node[p].at, o, to);
  return IsOwned(s->st->box, to) ? s->index[Owned(s->st->box, to)] : KC_NONE;
}

/* How strongly two points are coupled: minus the off-diagonal entry if the diagonal is positive. Strong couplings have low ranks */
static PetscInt Rank(PetscScalar a, PetscScalar b, PetscScalar diagonal, PetscScalar other)
{
  const PetscReal sum = PetscRealPart(a + b) / 2, w = PetscRealPart(diagonal) < 0 ? sum : -sum;
  int             exponent;
  double          m;

  if (!(w > 0 && w >= KC_CLUSTER_STRONG * PetscMin(PetscAbsScalar(diagonal), PetscAbsScalar(other)))) return KC_NEVER;
  m = frexp(KC_CLUSTER_SHIFT * (double)w, &exponent);
  return PetscMin(PetscMax(2 * (1024 - exponent) + (m < 0.70710678118654752), 0), KC_RANKS - 1);
}

static PetscErrorCode NewNode(Search *s, const PetscInt at[], PetscBool rough, PetscInt *made)
{
  PetscInt most[2] = {s->maxnodes, s->maxnodes};
  Node    *node;

  PetscFunctionBegin;
  PetscCall(Grow(s->nnodes + 1, &most[0], s->nc * sizeof(PetscScalar), &s->a));
  PetscCall(Grow(s->nnodes + 1, &most[1], s->nc * sizeof(*s->rank), &s->rank));
  PetscCall(Grow(s->nnodes + 1, &s->maxnodes, sizeof(Node), &s->node));
  *made = s->nnodes++;
  node  = &s->node[*made];
  PetscCall(PetscMemzero(node, sizeof(*node)));
  for (int d = 0; d < 3; d++) node->at[d] = at[d];
  node->parent = node->tail = *made;
  node->next                = KC_NONE;
  node->size                = 1;
  node->death = node->cut = KC_NEVER;
  node->rough             = rough;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NewEdge(Search *s, PetscInt from, int o, PetscInt rank)
{
  PetscInt e;

  PetscFunctionBegin;
  rank = PetscMax(rank, s->now);
  if (rank >= KC_RANKS) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Grow(s->nedges + 1, &s->maxedges, sizeof(Edge), &s->edge));
  e               = s->nedges++;
  s->edge[e].from = from;
  s->edge[e].o    = o;
  s->edge[e].next = s->head[rank];
  s->head[rank]   = e;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two groups become one; entries between them are found from the smaller one */
static void Merge(Search *s, PetscInt a, PetscInt b)
{
  Node     *node = s->node, *large = &node[node[a].size < node[b].size ? b : a], *small = &node[node[a].size < node[b].size ? a : b];
  PetscReal between = 0;

  for (PetscInt m = small->parent; m >= 0; m = node[m].next) {
    const PetscScalar *c    = s->a + (size_t)m * s->nc;
    const PetscReal    sign = PetscRealPart(c[s->nc / 2]) < 0 ? -1 : 1;

    for (int o = 0; o < s->nc; o++) {
      PetscInt q;

      if (c[o] == (PetscScalar)0.0 || o == s->nc / 2) continue;
      q = Neighbour(s, m, o);
      if (q >= 0 && Root(node, q) == large->parent) between += sign * PetscRealPart(c[o]);
    }
  }
  large->t += small->t;
  large->d += small->d + 2 * between;
  large->size += small->size;
  large->largest         = PetscMax(large->largest, small->largest);
  large->inside          = PetscMax(large->inside, small->inside);
  large->cut             = PetscMin(large->cut, small->cut);
  large->rough           = (PetscBool)(large->rough || small->rough);
  node[large->tail].next = small->parent;
  large->tail            = small->tail;
  small->parent          = large->parent;
}

static void Kill(Search *s, PetscInt root)
{
  s->node[root].death = PetscMin(s->node[root].death, s->now);
}

static PetscErrorCode Join(Search *s, PetscInt p, PetscInt q)
{
  const PetscInt a = Root(s->node, p), b = Root(s->node, q);

  PetscFunctionBegin;
  if (a == b) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->node[a].death < KC_NEVER || s->node[b].death < KC_NEVER || s->node[a].size + s->node[b].size > KC_CLUSTER_POINTS) {
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
  Node       *node = &s->node[root];
  PetscScalar d    = 0;

  PetscFunctionBegin;
  if (node->death < KC_NEVER || !node->rough || node->size < 2 || node->size < KC_CLUSTER_GROWTH * node->largest) PetscFunctionReturn(PETSC_SUCCESS);
  if (!(node->d <= KC_CLUSTER_TIGHT * node->t)) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt m = root; m >= 0; m = s->node[m].next) {
    for (int o = 0; o < s->nc; o++) {
      const PetscInt q = o == s->nc / 2 ? m : Neighbour(s, m, o);

      if (q >= 0 && Root(s->node, q) == root) d += s->a[(size_t)m * s->nc + o];
    }
  }
  if (!(PetscAbsScalar(d) > 1000 * PETSC_MACHINE_EPSILON * node->t)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ListAppend(&s->found, node->size, node->inside++, d, -1, 0));
  for (PetscInt m = root; m >= 0; m = s->node[m].next) s->found.member[s->found.nmembers++] = m;
  node->largest = node->size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The process's own points */

/* The coefficients of an owned line */
static const KCycleLine *LineAt(Search *s, PetscInt j, PetscInt k)
{
  const PetscInt line = j + s->st->box->n[1] * k, place = (j + 5 * k) & (KC_LINES - 1);

  if (s->key[place] != line) {
    KCycleLineCoefficients(s->st, j, k, &s->line[place]);
    s->key[place] = line;
  }
  return &s->line[place];
}

/* Where the value of a point beside the owned box stands in the halo buffer */
static PetscInt HaloPlace(const KCycleBox *box, const PetscInt at[])
{
  const PetscInt e = KCycleBoxExtended(box, at[1], at[2]);

  if (at[0] < 0) return box->left + e;
  if (at[0] >= box->n[0]) return box->right + e;
  return box->slot[e] + at[0];
}

/* The rank of a coupling of a new node, which leads to another place */
static PetscInt RankTo(Search *s, PetscInt p, int o, const PetscInt to[])
{
  const KCycleBox   *box = s->st->box;
  const int          nc = s->nc, opposite = nc - 1 - o;
  const PetscScalar *a = s->a + (size_t)p * nc;

  if (a[o] == (PetscScalar)0.0) return KC_NEVER;
  if (IsOwned(box, to)) {
    const KCycleLine *l = LineAt(s, to[1], to[2]);

    if (s->index[Owned(box, to)] == p) return KC_NEVER;
    return Rank(a[o], KCycleLineCoefficient(l, opposite, to[0]), a[nc / 2], KCycleLineCoefficient(l, nc / 2, to[0]));
  }
  return Rank(a[o], s->row[opposite][HaloPlace(box, to)], a[nc / 2], s->row[nc / 2][HaloPlace(box, to)]);
}

/* An owned point becomes a group of its own. Of its couplings those with living groups have been seen from there; those with the dead are looked at first */
static PetscErrorCode Activate(Search *s, const PetscInt at[], PetscBool rough, PetscInt *made)
{
  const KCycleBox  *box = s->st->box;
  const KCycleLine *l   = LineAt(s, at[1], at[2]);
  const int         nc  = s->nc;
  PetscInt          p, to[3];

  PetscFunctionBegin;
  PetscCall(NewNode(s, at, rough, &p));
  s->index[Owned(box, at)] = p;
  for (int o = 0; o < nc; o++) s->a[(size_t)p * nc + o] = KCycleLineCoefficient(l, o, at[0]);
  s->node[p].t = s->node[p].d = PetscAbsScalar(s->a[(size_t)p * nc + nc / 2]);
  for (int dead = 0; dead < 2; dead++) {
    for (int o = 0; o < nc; o++) {
      unsigned short *rank = &s->rank[(size_t)p * nc + o];
      PetscInt        q    = KC_NONE;

      Beside(s, at, o, to);
      if (!dead) *rank = (unsigned short)(o == nc / 2 ? KC_NEVER : RankTo(s, p, o, to));
      if (*rank == KC_NEVER) continue;
      if (IsOwned(box, to)) {
        q = s->index[Owned(box, to)];
        if (q >= 0 ? dead && s->node[Root(s->node, q)].death < KC_NEVER : !dead) PetscCall(NewEdge(s, p, o, *rank));
      } else s->node[p].cut = PetscMin(s->node[p].cut, (PetscInt)*rank);
    }
  }
  *made = p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A coupling whose turn it is. That of a candidate with itself: its group is known to die now */
static PetscErrorCode Follow(Search *s, PetscInt e)
{
  const PetscInt p = s->edge[e].from, root = Root(s->node, p);
  const int      o = s->edge[e].o;
  PetscInt       q = o == s->nc / 2 ? KC_NONE : Neighbour(s, p, o);

  PetscFunctionBegin;
  if (q < 0 && s->node[root].death < KC_NEVER) PetscFunctionReturn(PETSC_SUCCESS);
  if (q < 0 && s->neighbour) {
    Kill(s, root);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (q < 0) {
    PetscInt to[3];

    Beside(s, s->node[p].at, o, to);
    PetscCall(Activate(s, to, PETSC_FALSE, &q));
  }
  PetscCall(Join(s, p, q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Joins points from strong to weak couplings and looks at the groups that arise */
static PetscErrorCode Run(Search *s)
{
  PetscFunctionBegin;
  for (s->now = 0; s->now < KC_RANKS; s->now++) {
    s->ntouched = 0;
    while (s->head[s->now] >= 0) {
      const PetscInt e = s->head[s->now];

      s->head[s->now] = s->edge[e].next;
      PetscCall(Follow(s, e));
    }
    for (PetscInt i = 0; i < s->ntouched; i++) PetscCall(Consider(s, Root(s->node, s->touched[i])));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds one where the couplings of a point with opposite neighbours jump */
KC_VERSIONS static void MarkJumps(PetscInt n, const PetscScalar *restrict a, const PetscScalar *restrict b, PetscReal *restrict rough)
{
  for (PetscInt i = 1; i < n - 1; i++) {
    const PetscReal x = PetscAbsScalar(a[i]), y = PetscAbsScalar(b[i]), low = PetscMin(x, y), high = PetscMax(x, y);

    rough[i] += low > 0 && high > KCYCLE_JUMP * low ? 1 : 0;
  }
}

/* The points of a line whose couplings jump */
static void FindJumps(const KCycleLine *l, int nc, PetscReal rough[])
{
  for (PetscInt i = 0; i < l->n; i++) rough[i] = 0;
  for (int o = 0; o < nc / 2; o++) {
    const int          opposite = nc - 1 - o;
    const PetscScalar *a = l->constant ? l->end[0] + o * l->stride : l->c[o], *b = l->constant ? l->end[0] + opposite * l->stride : l->c[opposite];

    MarkJumps(l->n, a, b, rough);
    for (PetscInt i = 0; i < l->n; i += PetscMax(l->n - 1, 1)) {
      const PetscReal x = PetscAbsScalar(KCycleLineCoefficient(l, o, i)), y = PetscAbsScalar(KCycleLineCoefficient(l, opposite, i));

      rough[i] += PetscMin(x, y) > 0 && PetscMax(x, y) > KCYCLE_JUMP * PetscMin(x, y) ? 1 : 0;
    }
  }
}

/* Is this the first or last one in a direction in which neighbours belong to other processes? */
static PetscBool AtCut(const KCycleBox *box, int d, PetscInt i)
{
  if (box->nproc[d] == 1) return PETSC_FALSE;
  return (PetscBool)((i == 0 && (box->start[d] > 0 || box->periodic[d])) || (i == box->n[d] - 1 && (box->start[d] + box->n[d] < box->size[d] || box->periodic[d])));
}

/* The points that the search starts from: those with jumps, or all, and those at cuts */
static PetscErrorCode ActivateSeeds(Search *s, PetscBool all)
{
  const KCycleBox *box = s->st->box;
  PetscInt         made, last = -1;
  PetscReal       *rough;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(box->n[0], &rough));
  for (PetscInt line = 0; line < box->nlines; line++) {
    PetscInt        at[3] = {0, line % box->n[1], line / box->n[1]};
    const PetscBool cut   = (PetscBool)(AtCut(box, 1, at[1]) || AtCut(box, 2, at[2]));

    if (!all && !MatStencilLineIsLast(s->st, line, last)) FindJumps(LineAt(s, at[1], at[2]), s->nc, rough);
    last = line;
    for (; at[0] < box->n[0]; at[0]++) {
      const PetscBool starts = (PetscBool)(all || rough[at[0]] > 0);

      if (starts || cut || AtCut(box, 0, at[0])) PetscCall(Activate(s, at, starts, &made));
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
      const KCycleLine *l    = LineAt(s, j, k);

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
  Search *s;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  s->st = st;
  s->nc = st->shape.ncoeffs;
  for (PetscInt g = 0; g < KC_RANKS; g++) s->head[g] = KC_NONE;
  for (int i = 0; i < KC_LINES; i++) s->key[i] = KC_NONE;
  *search = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SearchDestroy(Search **search)
{
  Search *s = *search;

  PetscFunctionBegin;
  PetscCall(PetscFree(s->node));
  PetscCall(PetscFree(s->a));
  PetscCall(PetscFree(s->rank));
  PetscCall(PetscFree(s->edge));
  PetscCall(PetscFree(s->touched));
  PetscCall(PetscFree(s->index));
  PetscCall(PetscFree(s->neighbour));
  for (int o = 0; o < s->nc; o++) PetscCall(PetscFree(s->row[o]));
  PetscCall(KCycleClusterListDestroy(&s->found));
  PetscCall(PetscFree(*search));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SearchOwned(Search *s, PetscBool all, PetscBool cut)
{
  const KCycleBox *box = s->st->box;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(box->npoints, &s->index));
  for (PetscInt i = 0; i < box->npoints; i++) s->index[i] = KC_NONE;
  if (cut) PetscCall(FillHaloRows(s));
  PetscCall(ActivateSeeds(s, all));
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
  const Node *group = &s->node[Root(s->node, p)];

  return (PetscBool)(group->cut < group->death);
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
  const PetscInt  head[5] = {node->at[0] + start[0], node->at[1] + start[1], node->at[2] + start[2], s->node[Root(s->node, p)].death, (PetscInt)node->rough};

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
  PetscCall(NewEdge(s, p, s->nc / 2, head[3]));
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

      *q = KC_NONE;
      if (s->a[(size_t)p * nc + o] == (PetscScalar)0.0) continue;
      Beside(s, s->node[p].at, o, to);
      PetscCall(PetscHMapIGet(map, Natural(box, to), q));
      if (rank < KC_NEVER && (*q < 0 || o > nc / 2)) PetscCall(NewEdge(s, p, o, rank));
    }
  }
  PetscCall(PetscHMapIDestroy(&map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Clusters among the process's own points become part of the list; members are then owned points */
static PetscErrorCode ListOwned(Search *s, PetscInt c, KCycleClusterList *list)
{
  const KCycleClusterList *found = &s->found;
  const PetscInt           m     = found->first[c + 1] - found->first[c];

  PetscFunctionBegin;
  PetscCall(ListAppend(list, m, found->generation[c], found->d[c], -1, 0));
  for (PetscInt i = 0; i < m; i++) list->member[list->nmembers++] = Owned(s->st->box, s->node[found->member[found->first[c] + i]].at);
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
  if (slot >= 0) list->nslots++;
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
    if (rank == box->rank) PetscCall(ListAppend(list, count, found->generation[c], found->d[c], slot < 0 ? -1 : rank, slot));
    else {
      PetscCall(Write(letters, rank, found->generation[c]));
      PetscCall(Write(letters, rank, slot));
      PetscCall(Write(letters, rank, count));
    }
    for (PetscInt j = i; j < m; j++) {
      const Node *node  = &s->node[member[j]];
      PetscInt    at[3] = {node->at[0] - box->start[0], node->at[1] - box->start[1], node->at[2] - box->start[2]};

      if (home[member[j]] != rank) continue;
      if (rank == box->rank) list->member[list->nmembers++] = Owned(box, at);
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

      PetscCall(ListAppend(list, m, data[0], 0, mail.rank[f], data[1]));
      for (PetscInt i = 0; i < m; i++) {
        const PetscInt p     = data[3 + i],
                       at[3] = {p % box->size[0] - box->start[0], p / box->size[0] % box->size[1] - box->start[1], p / box->size[0] / box->size[1] - box->start[2]};

        list->member[list->nmembers++] = Owned(box, at);
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

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &nprocs));
  PetscCall(SearchCreate((Mat_Stencil *)A->data, &s));
  PetscCall(SearchOwned(s, all, (PetscBool)(nprocs > 1)));
  for (PetscInt c = 0; c < s->found.n; c++) {
    if (!IsCandidate(s, s->found.member[s->found.first[c]])) PetscCall(ListOwned(s, c, list));
  }
  if (nprocs > 1) PetscCall(SearchCandidates(comm, s, list));
  PetscCall(SearchDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
