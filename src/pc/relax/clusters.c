/*
  Corrections of PCRELAX for clusters: small groups of points that are coupled much more strongly among themselves than
  with all others.

  Where coefficients jump, the error may be constant on such a group and anything outside. Point by point a smoother
  cannot change it, and a coarse grid without a point of the group does not see it. So a sweep is followed by
  corrections

    x_C <- x_C + 1^T (b - A x)_C / d_C,   d_C = 1^T A 1 on C, or a bit more,

  the exact ones if x may change by the same amount on all of C. Groups may lie in each other: the inner ones are of an
  earlier generation, and those of the same generation have no point in common.

  Clusters of one generation are corrected at once, as Jacobi's method does. With a_CD = 1_C^T A 1_D and r_C the sum of
  the rows of C, the error of a symmetric positive definite A does not grow in the norm of A if 2 diag(d) - (a_CD) has
  no negative eigenvalue, as with 2 d_C >= a_CC + sum |a_CD| over the others. That sum is at most a_CC - r_C + 2 p_C,
  where p_C is the sum of the positive couplings that leave C. So d_C is the larger one of a_CC and
  a_CC + p_C - r_C / 2: a_CC itself for M-matrices.

  Of a cluster its row 1^T A is kept, as one coarse unknown: members first, then all that they are coupled to. Of a
  cluster that processes share, each keeps the part of its points; their residuals are added up by
  one of them, the owner.

  Rows are kept as sliced ELLPACK does (SELL-C-sigma of Kreutzer and others, 2014): eight rows of about the same length
  side by side, so that eight sums are on their way at once. A long row has a slice for itself, and its entries go round
  the eight lanes. Which of both it is depends on nothing but the row, and so does the order of its sum.
*/
#include "searchimpl.h"

#define KC_WINDOW 1024 /* rows in the order of points that are sorted by length: they still lie near each other */
#define KC_LONG   64   /* entries of a row that has all lanes of a slice */

/* What the rows are made with, and a window of them that are not in slices yet */
typedef struct {
  KCycleLineCache lines;
  PetscInt        delta[KC_MAX_COEFFS]; /* what a coefficient adds to the column of a point inside the box */
  PetscInt       *position;             /* position of a column in the row that is made, else -1 */
  PetscInt        n;                    /* rows: */
  PetscInt        cluster[KC_WINDOW];   /* which one of the list */
  PetscInt        start[KC_WINDOW + 1], size[KC_WINDOW];
  PetscBool       far[KC_WINDOW]; /* it has points of the halo */
  PetscScalar     inverse[KC_WINDOW];
  PetscInt        key[KC_WINDOW], row[2][KC_WINDOW]; /* to sort them */
  PetscInt       *column;
  PetscScalar    *value;
  PetscInt        mostcolumns, mostvalues, mostpacked[2]; /* entries that there is memory for, in rows and in slices */
  PetscInt       *order;                                  /* of the clusters in slices */
} Maker;

/* Adds row p of the matrix to the row of a cluster whose members come before outside, and which ends before end */
static void AddRow(Maker *maker, PetscInt p, PetscInt outside, PetscInt *end, KCycleClusterSums *sums)
{
  const KCycleShape *shape = &maker->lines.st->shape;
  const KCycleBox   *box   = maker->lines.st->box;
  const KCycleLine  *l;
  PetscBool          inside;
  PetscScalar        diagonal;
  PetscInt           at[3];

  KCycleCoordinates(box->n, p, at);
  l        = KCycleLineCacheAt(&maker->lines, at[1], at[2]);
  inside   = KCycleBoxIsInside(box, at);
  diagonal = KCycleLineCoefficient(l, shape->ncoeffs / 2, at[0]);
  sums->t += PetscAbsScalar(diagonal);
  for (int o = 0; o < shape->ncoeffs; o++) {
    const PetscScalar a = inside ? KCycleLineArray(l, o)[at[0]] : KCycleLineCoefficient(l, o, at[0]);
    PetscInt          q;

    if (a == (PetscScalar)0.0) continue;
    q = inside ? p + maker->delta[o]
               : KCycleBoxColumn(box, at[0] + shape->dx[o], at[1] + shape->dy[shape->line[o]],
                                 at[2] + shape->dz[shape->line[o]]);
    if (maker->position[q] < 0) {
      maker->position[q]  = *end;
      maker->value[*end]  = 0;
      maker->column[*end] = q;
      *end += 1;
    }
    maker->value[maker->position[q]] += a;
    KCycleClusterAdd(sums, diagonal, a, (PetscBool)(maker->position[q] < outside));
  }
}

/* The row 1^T A of one cluster, or of a part, in the window */
static PetscErrorCode MakeRow(Maker *maker, PetscInt m, PetscInt member[], PetscInt cluster, PetscBool whole)
{
  const PetscInt    r = maker->n, begin = maker->start[r], npoints = maker->lines.st->box->npoints;
  const PetscInt    needed = begin + m * maker->lines.st->shape.ncoeffs;
  PetscInt          end    = begin;
  KCycleClusterSums sums   = {0, 0, 0, 0, 0};

  PetscFunctionBegin;
  PetscCall(KCycleGrow(needed, &maker->mostcolumns, sizeof(PetscInt), &maker->column));
  PetscCall(KCycleGrow(needed, &maker->mostvalues, sizeof(PetscScalar), &maker->value));
  PetscCall(PetscSortInt(m, member));
  for (PetscInt i = 0; i < m; i++) {
    maker->position[member[i]] = end;
    maker->value[end]          = 0;
    maker->column[end++]       = member[i];
  }
  for (PetscInt i = 0; i < m; i++) AddRow(maker, member[i], begin + m, &end, &sums);
  maker->far[r] = PETSC_FALSE;
  for (PetscInt e = begin; e < end; e++) {
    maker->position[maker->column[e]] = -1;
    if (maker->column[e] >= npoints) maker->far[r] = PETSC_TRUE;
  }
  maker->cluster[r]   = cluster;
  maker->size[r]      = m;
  maker->start[r + 1] = end;
  maker->inverse[r]   = whole ? KCycleClusterInverse(&sums) : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A new slice with depth entries of each lane, not filled yet, for n rows */
static PetscErrorCode NewSlice(Maker *maker, PetscInt n, const PetscInt row[], PetscInt depth, KCycleClusters *cl)
{
  const PetscInt slice = cl->nslices++, begin = cl->start[slice];
  PetscInt       end;

  PetscFunctionBegin;
  PetscCall(PetscIntCast((begin + (PetscInt64)depth) * KC_CLUSTER_LANES, &end));
  PetscCall(KCycleGrow(end, &maker->mostpacked[0], sizeof(PetscInt), &cl->column));
  PetscCall(KCycleGrow(end, &maker->mostpacked[1], sizeof(PetscScalar), &cl->value));
  cl->start[slice + 1] = begin + depth;
  cl->near[slice]      = PETSC_TRUE;
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt r = row[i];

    if (maker->far[r]) cl->near[slice] = PETSC_FALSE;
    cl->nentries += maker->start[r + 1] - maker->start[r];
    cl->inverse[cl->nclusters]    = maker->inverse[r];
    maker->order[cl->nclusters++] = maker->cluster[r];
  }
  cl->first[slice + 1] = cl->nclusters;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Up to eight short rows, one in each lane, or a long one, whose entries go round the lanes. A lane that ends early is
   filled with zeros */
static PetscErrorCode Pack(Maker *maker, PetscInt n, const PetscInt row[], PetscBool round, KCycleClusters *cl)
{
  const PetscInt slice = cl->nslices, lanes = KC_CLUSTER_LANES, step = round ? lanes : 1;
  PetscInt       depth = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++)
    depth = PetscMax(depth, (maker->start[row[i] + 1] - maker->start[row[i]] + step - 1) / step);
  PetscCall(NewSlice(maker, n, row, depth, cl));
  for (PetscInt l = 0; l < lanes; l++) {
    const PetscInt r = row[l < n ? l : 0], begin = maker->start[r] + (round ? l : 0);
    const PetscInt end    = round || l < n ? maker->start[r + 1] : begin;
    PetscInt      *column = cl->column + lanes * cl->start[slice] + l;
    PetscScalar   *value  = cl->value + lanes * cl->start[slice] + l;

    cl->members[lanes * slice + l] = round ? (maker->size[r] + lanes - 1 - l) / lanes : l < n ? maker->size[r] : 0;
    for (PetscInt e = 0; e < depth; e++) {
      const PetscInt from = begin + step * e;

      column[lanes * e] = maker->column[from < end ? from : maker->start[r]];
      value[lanes * e]  = from < end ? maker->value[from] : (PetscScalar)0.0;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sorts rows by keys below 2 KC_LONG; those with the same one stay in their order */
static void SortRows(PetscInt n, const PetscInt key[], const PetscInt *from, PetscInt *to)
{
  PetscInt start[2 * KC_LONG + 1] = {0};

  for (PetscInt i = 0; i < n; i++) start[key[i] + 1]++;
  for (int k = 0; k < 2 * KC_LONG; k++) start[k + 1] += start[k];
  for (PetscInt i = 0; i < n; i++) to[start[key[from[i]]]++] = from[i];
}

/* The rows of the window go to slices: rows of about the same length, and of as many members, side by side. Those with
   points of the halo are kept apart */
static PetscErrorCode PackWindow(Maker *maker, KCycleClusters *cl)
{
  const PetscInt n   = maker->n;
  PetscInt      *key = maker->key, *row = maker->row[0];

  PetscFunctionBegin;
  for (PetscInt r = 0; r < n; r++) {
    row[r] = r;
    key[r] = maker->start[r + 1] - maker->start[r];
  }
  SortRows(n, key, row, maker->row[1]);
  for (PetscInt r = 0; r < n; r++) key[r] = maker->size[r] + (maker->far[r] ? KC_LONG : 0);
  SortRows(n, key, maker->row[1], row);
  for (PetscInt i = 0; i < n; i += KC_CLUSTER_LANES)
    PetscCall(Pack(maker, PetscMin(KC_CLUSTER_LANES, n - i), row + i, PETSC_FALSE, cl));
  maker->n = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The row that is made is empty */
static PetscErrorCode MakerCreate(const KCycleStencil *st, PetscInt order[], Maker *maker)
{
  const KCycleBox *box = st->box;

  PetscFunctionBegin;
  KCycleLineCacheCreate(st, &maker->lines);
  KCycleStencilDeltas(st, maker->delta);
  PetscCall(PetscMalloc1(box->npoints + box->nhalo, &maker->position));
  for (PetscInt p = 0; p < box->npoints + box->nhalo; p++) maker->position[p] = -1;
  maker->order = order;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which part of a generation a cluster is in */
static PetscInt GroupOf(const KCycleClusterList *list, PetscInt c)
{
  return 2 * list->part[c].generation + (list->part[c].owner < 0);
}

/* Clusters by generations, parts first, and then in the order of points, for the sake of the cache. position is -1
   before and after. start becomes where each group starts, and has zeros before */
static PetscErrorCode SortClusters(const KCycleClusterList *list, PetscInt npoints, PetscInt position[],
                                   PetscInt ngroups, PetscInt start[], PetscInt order[])
{
  PetscInt *next;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(list->n, &next));
  for (PetscInt c = 0; c < list->n; c++) {
    PetscInt first = npoints;

    for (PetscInt i = list->part[c].first; i < list->part[c + 1].first; i++) first = PetscMin(first, list->member[i]);
    next[c]         = position[first];
    position[first] = c;
    start[GroupOf(list, c) + 1]++;
  }
  for (PetscInt g = 0; g < ngroups; g++) start[g + 1] += start[g];
  for (PetscInt p = 0; p < npoints; p++) {
    for (PetscInt c = position[p]; c >= 0; c = next[c]) order[start[GroupOf(list, c)]++] = c;
    position[p] = -1;
  }
  for (PetscInt g = ngroups; g > 0; g--) start[g] = start[g - 1];
  start[0] = 0;
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of some clusters of a generation */
static PetscErrorCode MakeGroup(Maker *maker, const KCycleClusterList *list, PetscInt n, const PetscInt cluster[],
                                PetscBool whole, KCycleClusters *cl)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt c = cluster[i], r = maker->n;

    PetscCall(MakeRow(maker, KCycleClusterSize(list, c), KCycleClusterMembers(list, c), c, whole));
    if (maker->start[r + 1] - maker->start[r] >= KC_LONG) PetscCall(Pack(maker, 1, &r, PETSC_TRUE, cl));
    else maker->n++;
    if (maker->n == KC_WINDOW) PetscCall(PackWindow(maker, cl));
  }
  PetscCall(PackWindow(maker, cl));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Memory for the rows of n clusters */
static PetscErrorCode ResizeRows(KCycleClusters *cl, PetscInt n, PetscInt nslices)
{
  PetscFunctionBegin;
  PetscCall(PetscRealloc((size_t)n * sizeof(PetscScalar), &cl->inverse));
  PetscCall(PetscRealloc((size_t)(nslices + 1) * sizeof(PetscInt), &cl->start));
  PetscCall(PetscRealloc((size_t)(nslices + 1) * sizeof(PetscInt), &cl->first));
  PetscCall(PetscRealloc((size_t)nslices * sizeof(PetscBool), &cl->near));
  PetscCall(PetscRealloc((size_t)nslices * KC_CLUSTER_LANES * sizeof(PetscInt), &cl->members));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of all clusters, generation by generation; those in parts come first. order becomes the order of the rows */
static PetscErrorCode MakeRows(const KCycleStencil *st, const KCycleClusterList *list, KCycleClusters *cl,
                               PetscInt order[])
{
  const PetscInt ngroups = 2 * cl->ngenerations;
  PetscInt      *sorted, *start, most = 0;
  Maker         *maker;

  PetscFunctionBegin;
  PetscCall(PetscNew(&maker));
  PetscCall(MakerCreate(st, order, maker));
  PetscCall(PetscMalloc1(list->n, &sorted));
  PetscCall(PetscCalloc1(ngroups + 1, &start));
  PetscCall(SortClusters(list, st->box->npoints, maker->position, ngroups, start, sorted));
  PetscCall(ResizeRows(cl, list->n, list->n));
  cl->start[0] = cl->first[0] = 0;
  for (PetscInt g = 0; g < ngroups; g++) {
    PetscCall(MakeGroup(maker, list, start[g + 1] - start[g], sorted + start[g], (PetscBool)(g % 2), cl));
    cl->generation[g + 1] = cl->nslices;
    if (g % 2) most = PetscMax(most, start[g + 1] - start[g - 1]);
    else cl->nparts[g / 2] = start[g + 1] - start[g];
  }
  PetscCall(PetscFree(start));
  PetscCall(PetscFree(sorted));
  PetscCall(PetscFree(maker->position));
  PetscCall(PetscFree(maker->column));
  PetscCall(PetscFree(maker->value));
  PetscCall(PetscFree(maker));
  PetscCall(ResizeRows(cl, cl->nclusters, cl->nslices));
  PetscCall(PetscMalloc1(cl->nclusters, &cl->right));
  PetscCall(PetscMalloc1(most, &cl->change));
  PetscCall(PetscRealloc((size_t)KC_CLUSTER_LANES * cl->start[cl->nslices] * sizeof(PetscInt), &cl->column));
  PetscCall(PetscRealloc((size_t)KC_CLUSTER_LANES * cl->start[cl->nslices] * sizeof(PetscScalar), &cl->value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For each generation the way of parts to the process that adds them up, and back */
static PetscErrorCode ConnectParts(MPI_Comm comm, const KCycleClusterList *list, const PetscInt order[],
                                   KCycleClusters *cl)
{
  PetscInt *any;

  PetscFunctionBegin;
  cl->nslots = list->nslots;
  PetscCall(PetscMalloc1(cl->nslots, &cl->slotinverse));
  PetscCall(PetscMalloc1(cl->nslots, &cl->sum));
  for (PetscInt i = 0; i < cl->nslots; i++) cl->slotinverse[i] = list->inverse[i];
  PetscCall(PetscMalloc1(cl->ngenerations, &any));
  PetscCallMPI(MPI_Allreduce(cl->nparts, any, (PetscMPIInt)cl->ngenerations, MPIU_INT, MPI_MAX, comm));
  PetscCall(PetscCalloc1(cl->ngenerations, &cl->sf));
  for (PetscInt g = 0; g < cl->ngenerations; g++) {
    PetscSFNode *root;

    if (!any[g]) continue;
    PetscCall(PetscMalloc1(cl->nparts[g], &root));
    for (PetscInt i = 0; i < cl->nparts[g]; i++) {
      const KCycleClusterPart *part = &list->part[order[cl->first[cl->generation[2 * g]] + i]];

      root[i].rank  = part->owner;
      root[i].index = part->slot;
    }
    PetscCall(PetscSFCreate(comm, &cl->sf[g]));
    PetscCall(PetscSFSetGraph(cl->sf[g], cl->nslots, cl->nparts[g], NULL, PETSC_COPY_VALUES, root, PETSC_COPY_VALUES));
    PetscCall(PetscSFSetUp(cl->sf[g]));
    PetscCall(PetscFree(root));
  }
  PetscCall(PetscFree(any));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If the operator has clusters the smoother becomes one that corrects them after each sweep */
PetscErrorCode KCycleSmootherCorrectClusters(Mat A, KCycleSmoother **smoother, const KCycleSeeds *seeds)
{
  const KCycleStencil *st           = KCycleStencilOf(A);
  MPI_Comm             comm         = PetscObjectComm((PetscObject)A);
  PetscInt             ngenerations = 0, *order;
  KCycleClusterList    list;
  KCycleClusters      *cl;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&list, sizeof(list)));
  PetscCall(KCycleClustersSearch(A, *smoother, seeds, &list));
  for (PetscInt c = 0; c < list.n; c++) ngenerations = PetscMax(ngenerations, list.part[c].generation + 1);
  PetscCall(PetscNew(&cl));
  cl->references = 1;
  PetscCallMPI(MPI_Allreduce(&ngenerations, &cl->ngenerations, 1, MPIU_INT, MPI_MAX, comm));
  if (cl->ngenerations) {
    PetscCall(PetscCalloc1(2 * cl->ngenerations + 1, &cl->generation));
    PetscCall(PetscCalloc1(cl->ngenerations, &cl->nparts));
    PetscCall(PetscMalloc1(list.n, &order));
    PetscCall(MakeRows(st, &list, cl, order));
    PetscCall(ConnectParts(comm, &list, order, cl));
    PetscCall(PetscFree(order));
    cl->found[0] = list.nclusters;
    cl->found[1] = list.npoints;
    PetscCall(KCycleSmootherWrapClusters(cl, smoother));
  } else PetscCall(KCycleClustersDestroy(&cl));
  PetscCall(KCycleClusterListDestroy(&list));
  PetscFunctionReturn(PETSC_SUCCESS);
}
