/*
  Clusters of PCRELAX: small groups of points that are coupled much more strongly among themselves than with all others.

  Where coefficients jump, the error may be constant on such a group and anything outside. Point by point a smoother cannot change it, and a
  coarse grid without a point of the group does not see it. So a sweep is followed by corrections

    x_C <- x_C + 1^T (b - A x)_C / d_C,   d_C = 1^T A 1 on C,

  the exact ones if x may change by the same amount on all of C. Set-up joins points from strong to weak couplings and takes from the
  groups that arise those with a small d_C. Groups may lie in each other: the inner ones are of an earlier generation, and those of the
  same generation have no point in common.

  Of a cluster its row 1^T A is kept, as one coarse unknown: members first, then all that they are coupled to. Points are numbered with a layer of
  others around, as lines of KCycleBoxExtended() with one point more at each end, until the rows are made.
*/
#include <petsckcycle/private/relaximpl.h>

#define KC_CLUSTER_POINTS 100  /* of the largest clusters: coarse grids see larger ones */
#define KC_CLUSTER_STRONG 0.02 /* couplings weaker than this part of both diagonals join nobody */
#define KC_CLUSTER_TIGHT  0.25 /* largest d_C, relative to the sum of the diagonals */
#define KC_CLUSTER_GROWTH 1.5  /* a cluster is larger than those in it by this factor */
#define KC_CLUSTER_GROUPS 4300 /* couplings are sorted by half powers of two */
#define KC_DEAD           -1

/* A point and, if it is the root of its group, the group */
typedef struct {
  PetscReal t, d;             /* sum of the diagonals, sum of all entries between members */
  PetscInt  parent;           /* itself: root; KC_DEAD: of a group that is too large, or not of this process */
  PetscInt  next, tail, size; /* list of members */
  PetscInt  largest, inside;  /* of the clusters found in it: size of the largest, number of generations */
} Node;

typedef struct {
  const Mat_Stencil *st;
  PetscInt           length, npoints;      /* of an extended line, of all of them */
  PetscInt           delta[KC_MAX_COEFFS]; /* what a coefficient adds to the number of a point */
  PetscInt          *alias;                /* where the grid wraps around within this process: the owned point in place of each */
  PetscScalar       *a;                    /* coefficients, point by point */
  Node              *node;
  PetscInt           group[KC_CLUSTER_GROUPS + 1];
  PetscInt          *from;  /* couplings: their first point */
  unsigned char     *which; /* and coefficient */
  PetscInt           nclusters, maxclusters, nmembers, maxmembers, nentries, maxentries;
  PetscInt          *first, *generation, *member; /* clusters as they are found */
} Search;

static PetscInt Neighbour(const Search *s, PetscInt p, int o)
{
  const PetscInt q = p + s->delta[o];

  return s->alias ? s->alias[q] : q;
}

static PetscInt Number(const Search *s, PetscInt i, PetscInt j, PetscInt k)
{
  return KCycleBoxExtended(s->st->box, j, k) * s->length + i + 1;
}

/* Where the grid is periodic and not cut, points beyond its end are those at its beginning */
static PetscErrorCode MakeAliases(Search *s)
{
  const KCycleBox *box = s->st->box;
  PetscBool        wraps[3], any = PETSC_FALSE;

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) {
    wraps[d] = (PetscBool)(d < box->dim && box->periodic[d] && box->nproc[d] == 1);
    any      = (PetscBool)(any || wraps[d]);
  }
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(s->npoints, &s->alias));
  for (PetscInt k = -box->reach[2]; k < box->n[2] + box->reach[2]; k++) {
    for (PetscInt j = -box->reach[1]; j < box->n[1] + box->reach[1]; j++) {
      for (PetscInt i = -1; i <= box->n[0]; i++) {
        PetscInt at[3] = {i, j, k};

        for (int d = 0; d < 3; d++) at[d] = wraps[d] ? (at[d] + box->n[d]) % box->n[d] : at[d];
        s->alias[Number(s, i, j, k)] = Number(s, at[0], at[1], at[2]);
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coefficients point by point; every owned point is a group of its own */
static PetscErrorCode FillPoints(Mat A, Search *s)
{
  const KCycleBox *box = s->st->box;
  const PetscInt   n = box->n[0], nc = s->st->shape.ncoeffs;
  PetscScalar     *values;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1((size_t)s->npoints * nc, &s->a));
  PetscCall(PetscMalloc1(s->npoints, &s->node));
  for (PetscInt p = 0; p < s->npoints; p++) s->node[p].parent = s->node[p].next = KC_DEAD;
  PetscCall(PetscMalloc1(nc * n, &values));
  for (PetscInt line = 0; line < box->nlines; line++) {
    const PetscInt p0 = Number(s, 0, line % box->n[1], line / box->n[1]);

    PetscCall(MatStencilGetLine(A, line, values));
    for (PetscInt i = 0; i < n; i++) {
      PetscScalar *a    = s->a + (size_t)(p0 + i) * nc;
      Node        *node = &s->node[p0 + i];

      for (PetscInt o = 0; o < nc; o++) a[o] = values[o * n + i];
      node->parent = node->tail = p0 + i;
      node->size                = 1;
      node->largest = node->inside = 0;
      node->t = node->d = PetscAbsScalar(a[nc / 2]);
    }
  }
  PetscCall(PetscFree(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How strongly a point and its neighbour are coupled: minus the off-diagonal entry if the diagonal is positive; 0: not worth joining */
static PetscReal Strength(const Search *s, PetscInt p, int o)
{
  const PetscInt     nc = s->st->shape.ncoeffs, q = Neighbour(s, p, o);
  const PetscScalar *a = s->a + (size_t)p * nc, *b = s->a + (size_t)q * nc;
  const PetscReal    sum = PetscRealPart(a[o] + b[nc - 1 - o]) / 2, w = PetscRealPart(a[nc / 2]) < 0 ? sum : -sum;

  if (!(w > 0) || s->node[q].parent == KC_DEAD || q == p) return 0;
  return w >= KC_CLUSTER_STRONG * PetscMin(PetscAbsScalar(a[nc / 2]), PetscAbsScalar(b[nc / 2])) ? w : 0;
}

/* Strong couplings come first */
static PetscInt Group(PetscReal w)
{
  int          exponent;
  const double m = frexp((double)w, &exponent);

  return PetscMin(PetscMax(2 * (1024 - exponent) + (m < 0.70710678118654752), 0), KC_CLUSTER_GROUPS - 1);
}

/* All couplings worth joining, sorted by groups */
static PetscErrorCode SortCouplings(Search *s)
{
  const int nc    = s->st->shape.ncoeffs;
  PetscInt  total = 0;

  PetscFunctionBegin;
  for (int pass = 0; pass < 2; pass++) {
    for (PetscInt p = 0; p < s->npoints; p++) {
      if (s->node[p].parent == KC_DEAD) continue;
      for (int o = nc / 2 + 1; o < nc; o++) {
        const PetscReal w = Strength(s, p, o);

        if (w == 0) continue;
        if (pass) {
          const PetscInt e = s->group[Group(w)]++;

          s->from[e]  = p;
          s->which[e] = (unsigned char)o;
        } else s->group[Group(w)]++;
      }
    }
    if (pass) break;
    for (PetscInt g = 0; g <= KC_CLUSTER_GROUPS; g++) {
      const PetscInt count = s->group[g];

      s->group[g] = total;
      total += count;
    }
    PetscCall(PetscMalloc2(total, &s->from, total, &s->which));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The root of a point's group, or KC_DEAD; paths become shorter on the way */
static PetscInt Root(Node *node, PetscInt p)
{
  while (node[p].parent != p) {
    const PetscInt parent = node[p].parent;

    if (parent == KC_DEAD) return KC_DEAD;
    p = node[p].parent = node[parent].parent == KC_DEAD ? KC_DEAD : node[parent].parent;
    if (p == KC_DEAD) return KC_DEAD;
  }
  return p;
}

/* Two groups become one; entries between them are found from the smaller one. One that is too large is dead, and kills what joins it */
static void Join(Search *s, PetscInt p, PetscInt q)
{
  const int nc   = s->st->shape.ncoeffs;
  Node     *node = s->node, *large, *small;
  PetscInt  a = Root(node, p), b = Root(node, q);
  PetscReal between = 0;

  if (a == b) return;
  if (a == KC_DEAD || b == KC_DEAD || node[a].size + node[b].size > KC_CLUSTER_POINTS) {
    if (a != KC_DEAD) node[a].parent = KC_DEAD;
    if (b != KC_DEAD) node[b].parent = KC_DEAD;
    return;
  }
  large = &node[node[a].size < node[b].size ? b : a];
  small = &node[node[a].size < node[b].size ? a : b];
  for (PetscInt m = small->parent; m >= 0; m = node[m].next) {
    const PetscScalar *c    = s->a + (size_t)m * nc;
    const PetscReal    sign = PetscRealPart(c[nc / 2]) < 0 ? -1 : 1;

    for (int o = 0; o < nc; o++) {
      if (c[o] != (PetscScalar)0.0 && o != nc / 2 && Root(node, Neighbour(s, m, o)) == large->parent) between += sign * PetscRealPart(c[o]);
    }
  }
  large->t += small->t;
  large->d += small->d + 2 * between;
  large->size += small->size;
  large->largest         = PetscMax(large->largest, small->largest);
  large->inside          = PetscMax(large->inside, small->inside);
  node[large->tail].next = small->parent;
  large->tail            = small->tail;
  small->parent          = large->parent;
}

/* Length of a list is to become so much: memory for it */
static PetscErrorCode Grow(PetscInt length, PetscInt *most, size_t size, void *list)
{
  PetscFunctionBegin;
  if (length <= *most) PetscFunctionReturn(PETSC_SUCCESS);
  *most = PetscMax(1024, 2 * length);
  PetscCall(PetscRealloc(*most * size, (void **)list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is a group a cluster, and not about the same as one that was found in it? */
static PetscErrorCode Consider(Search *s, PetscInt root)
{
  Node    *node = &s->node[root];
  PetscInt most = s->maxclusters;

  PetscFunctionBegin;
  if (node->size < 2 || node->size < KC_CLUSTER_GROWTH * node->largest) PetscFunctionReturn(PETSC_SUCCESS);
  if (!(node->d <= KC_CLUSTER_TIGHT * node->t && node->d > 1000 * PETSC_MACHINE_EPSILON * node->t)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Grow(s->nclusters + 2, &most, sizeof(PetscInt), &s->first));
  PetscCall(Grow(s->nclusters + 2, &s->maxclusters, sizeof(PetscInt), &s->generation));
  PetscCall(Grow(s->nmembers + node->size, &s->maxmembers, sizeof(PetscInt), &s->member));
  s->first[s->nclusters]      = s->nmembers;
  s->generation[s->nclusters] = node->inside++;
  for (PetscInt m = root; m >= 0; m = s->node[m].next) s->member[s->nmembers++] = m;
  s->first[++s->nclusters] = s->nmembers;
  node->largest            = node->size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Joins points from strong to weak couplings and looks at the groups that arise */
static PetscErrorCode FindClusters(Search *s)
{
  PetscInt e = 0;

  PetscFunctionBegin;
  for (PetscInt g = 0; g < KC_CLUSTER_GROUPS; g++) { /* sorting has moved each group's start to its end */
    const PetscInt begin = e;

    for (; e < s->group[g]; e++) Join(s, s->from[e], Neighbour(s, s->from[e], s->which[e]));
    for (PetscInt f = begin; f < e; f++) {
      const PetscInt root = Root(s->node, s->from[f]);

      if (root != KC_DEAD) PetscCall(Consider(s, root));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where a point's value stands: in the owned box, behind it in the halo buffer, or nowhere: -1 */
static PetscInt Column(const Search *s, PetscInt p)
{
  const KCycleBox *box = s->st->box;
  const PetscInt   e = p / s->length, i = p % s->length - 1, width = box->n[1] + 2 * box->reach[1], j = e % width - box->reach[1], k = e / width - box->reach[2];

  if (i < 0) return box->ends ? box->npoints + box->left + e : -1;
  if (i >= box->n[0]) return box->ends ? box->npoints + box->right + e : -1;
  if (box->slot[e] < 0) return i + box->n[0] * (j + box->n[1] * k);
  return box->slot[e] ? box->npoints + box->slot[e] + i : -1;
}

/* Appends the row 1^T A of one cluster; its members come first. While it is made, next is a point's place in it */
static PetscErrorCode MakeRow(Search *s, PetscInt m, const PetscInt member[], KCycleClusters *cl)
{
  const int   nc    = s->st->shape.ncoeffs;
  PetscInt    begin = cl->start[cl->nclusters], end = begin, most = s->maxentries;
  PetscScalar d = 0;
  PetscReal   t = 0;

  PetscFunctionBegin;
  PetscCall(Grow(begin + m * nc, &most, sizeof(PetscInt), &cl->column));
  PetscCall(Grow(begin + m * nc, &s->maxentries, sizeof(PetscScalar), &cl->value));
  for (PetscInt r = 0; r < m; r++) {
    s->node[member[r]].next = end;
    cl->value[end]          = 0;
    cl->column[end++]       = member[r];
  }
  for (PetscInt r = 0; r < m; r++) {
    const PetscScalar *a = s->a + (size_t)member[r] * nc;

    for (int o = 0; o < nc; o++) {
      const PetscInt q = Neighbour(s, member[r], o);

      if (a[o] == (PetscScalar)0.0) continue;
      if (s->node[q].next < 0) {
        s->node[q].next   = end;
        cl->value[end]    = 0;
        cl->column[end++] = q;
      }
      cl->value[s->node[q].next] += a[o];
    }
    t += PetscAbsScalar(a[nc / 2]);
  }
  for (PetscInt r = begin; r < end; r++) {
    if (r < begin + m) d += cl->value[r];
    s->node[cl->column[r]].next = KC_DEAD;
  }
  if (!(PetscAbsScalar(d) > 1000 * PETSC_MACHINE_EPSILON * t)) PetscFunctionReturn(PETSC_SUCCESS);
  cl->inverse[cl->nclusters] = 1 / d;
  cl->size[cl->nclusters++]  = m;
  for (PetscInt r = begin, to = begin; r < end; r++) {
    const PetscInt column = Column(s, cl->column[r]);

    if (column >= 0) {
      cl->column[to]  = column;
      cl->value[to++] = cl->value[r];
    }
    cl->start[cl->nclusters] = to;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Clusters in the order of points, for the sake of the cache; tail of a point becomes the first cluster that starts there */
static PetscErrorCode SortClusters(Search *s, PetscInt *order[])
{
  PetscInt *next, count = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(s->nclusters, order));
  PetscCall(PetscMalloc1(s->nclusters, &next));
  for (PetscInt p = 0; p < s->npoints; p++) s->node[p].tail = -1;
  for (PetscInt c = 0; c < s->nclusters; c++) {
    Node *node = &s->node[s->member[s->first[c]]];

    next[c]    = node->tail;
    node->tail = c;
  }
  for (PetscInt p = 0; p < s->npoints; p++) {
    for (PetscInt c = s->node[p].tail; c >= 0; c = next[c]) (*order)[count++] = c;
  }
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of all clusters, generation by generation; all processes count the same generations */
static PetscErrorCode MakeRows(MPI_Comm comm, Search *s, KCycleClusters *cl)
{
  PetscInt ngenerations = 0, most = 0, *order = NULL;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < s->nclusters; c++) ngenerations = PetscMax(ngenerations, s->generation[c] + 1);
  PetscCallMPI(MPI_Allreduce(&ngenerations, &cl->ngenerations, 1, MPIU_INT, MPI_MAX, comm));
  if (!cl->ngenerations) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1(cl->ngenerations + 1, &cl->generation));
  PetscCall(PetscMalloc1(s->nclusters + 1, &cl->start));
  PetscCall(PetscMalloc1(s->nclusters, &cl->size));
  PetscCall(PetscMalloc1(s->nclusters, &cl->inverse));
  cl->start[0] = 0;
  if (s->nclusters) PetscCall(SortClusters(s, &order));
  for (PetscInt p = 0; p < (s->nclusters ? s->npoints : 0); p++) s->node[p].next = KC_DEAD;
  for (PetscInt g = 0; g < cl->ngenerations; g++) {
    for (PetscInt i = 0; i < s->nclusters; i++) {
      const PetscInt c = order[i];

      if (s->generation[c] == g) PetscCall(MakeRow(s, s->first[c + 1] - s->first[c], s->member + s->first[c], cl));
    }
    cl->generation[g + 1] = cl->nclusters;
    most                  = PetscMax(most, cl->nclusters - cl->generation[g]);
  }
  PetscCall(PetscFree(order));
  PetscCall(PetscMalloc1(most, &cl->change));
  PetscCall(PetscRealloc(cl->start[cl->nclusters] * sizeof(PetscInt), &cl->column));
  PetscCall(PetscRealloc(cl->start[cl->nclusters] * sizeof(PetscScalar), &cl->value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Clusters of an operator, or none: then *clusters is NULL on all processes. search: does it jump on this process? */
PetscErrorCode KCycleClustersCreate(Mat A, PetscBool search, KCycleClusters **clusters)
{
  const Mat_Stencil *st  = (Mat_Stencil *)A->data;
  const KCycleBox   *box = st->box;
  KCycleClusters    *cl;
  Search            *s;

  PetscFunctionBegin;
  *clusters = NULL;
  PetscCall(PetscNew(&cl));
  PetscCall(PetscNew(&s));
  s->st = st;
  if (search) {
    s->length  = box->n[0] + 2;
    s->npoints = box->nextended * s->length;
    for (int o = 0; o < st->shape.ncoeffs; o++) s->delta[o] = Number(s, st->shape.dx[o], st->shape.dy[st->shape.line[o]], st->shape.dz[st->shape.line[o]]) - Number(s, 0, 0, 0);
    PetscCall(MakeAliases(s));
    PetscCall(FillPoints(A, s));
    PetscCall(SortCouplings(s));
    PetscCall(FindClusters(s));
    PetscCall(PetscFree2(s->from, s->which));
  }
  PetscCall(MakeRows(PetscObjectComm((PetscObject)A), s, cl));
  PetscCall(PetscFree(s->alias));
  PetscCall(PetscFree(s->a));
  PetscCall(PetscFree(s->node));
  PetscCall(PetscFree(s->first));
  PetscCall(PetscFree(s->generation));
  PetscCall(PetscFree(s->member));
  PetscCall(PetscFree(s));
  if (cl->ngenerations) *clusters = cl;
  else PetscCall(KCycleClustersDestroy(&cl));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleClustersDestroy(KCycleClusters **clusters)
{
  PetscFunctionBegin;
  if (!*clusters) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree((*clusters)->generation));
  PetscCall(PetscFree((*clusters)->start));
  PetscCall(PetscFree((*clusters)->size));
  PetscCall(PetscFree((*clusters)->column));
  PetscCall(PetscFree((*clusters)->value));
  PetscCall(PetscFree((*clusters)->inverse));
  PetscCall(PetscFree((*clusters)->change));
  PetscCall(PetscFree(*clusters));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One generation: all changes are computed before x changes, so that their order does not matter */
static void CorrectGeneration(const KCycleClusters *cl, PetscInt g, const KCycleBox *box, const PetscScalar *halo, const PetscScalar *b, PetscScalar *x)
{
  const PetscInt first = cl->generation[g];

  for (PetscInt c = first; c < cl->generation[g + 1]; c++) {
    PetscScalar r = 0;

    for (PetscInt e = cl->start[c]; e < cl->start[c] + cl->size[c]; e++) r += b[cl->column[e]];
    for (PetscInt e = cl->start[c]; e < cl->start[c + 1]; e++) {
      const PetscInt column = cl->column[e];

      r -= cl->value[e] * (column < box->npoints ? x[column] : halo[column - box->npoints]);
    }
    cl->change[c - first] = r * cl->inverse[c];
  }
  for (PetscInt c = first; c < cl->generation[g + 1]; c++) {
    for (PetscInt e = cl->start[c]; e < cl->start[c] + cl->size[c]; e++) x[cl->column[e]] += cl->change[c - first];
  }
}

/* Corrections of all clusters, the inner ones first, or last */
PetscErrorCode KCycleClustersCorrect(const KCycleClusters *cl, Mat A, PetscBool innerlast, const PetscScalar *b, PetscScalar *x)
{
  const Mat_Stencil *st      = (Mat_Stencil *)A->data;
  const PetscBool    corners = (PetscBool)(st->shape.box != 0);

  PetscFunctionBegin;
  for (PetscInt i = 0; i < cl->ngenerations; i++) {
    PetscCall(KCycleBoxExchange(st->box, corners, x, st->halo));
    CorrectGeneration(cl, innerlast ? cl->ngenerations - 1 - i : i, st->box, st->halo, b, x);
  }
  PetscCall(PetscLogFlops(2.0 * cl->start[cl->nclusters]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
