/*
  Corrections of PCRELAX for clusters: small groups of points that are coupled much more strongly among themselves than
  with all others.

  Where coefficients jump, the error may be constant on such a group and anything outside. Point by point a smoother
  cannot change it, and a coarse grid without a point of the group does not see it. So a sweep is followed by
  corrections

    x_C <- x_C + 1^T (b - A x)_C / d_C,   d_C = 1^T A 1 on C,

  the exact ones if x may change by the same amount on all of C. Groups may lie in each other: the inner ones are of an
  earlier generation, and those of the same generation have no point in common.

  Of a cluster its row 1^T A is kept, as one coarse unknown: members first, then all that they are coupled to. Of a
  cluster that several processes have points of, each keeps the part of its own points; their residuals are added up by
  one of them, the owner.
*/
#include <petsckcycle/private/relaximpl.h>

/* Where the value of a point stands: in the owned box, also where the grid wraps around within the process, or
   behind it in the halo buffer */
static PetscInt Column(const KCycleBox *box, PetscInt i, PetscInt j, PetscInt k)
{
  PetscInt at[3] = {i, j, k}, e;

  for (int d = 0; d < 3; d++) {
    if (box->periodic[d] && box->nproc[d] == 1) at[d] = (at[d] + box->n[d]) % box->n[d];
  }
  e = KCycleBoxExtended(box, at[1], at[2]);
  if (at[0] < 0) return box->npoints + box->left + e;
  if (at[0] >= box->n[0]) return box->npoints + box->right + e;
  return box->offset[e] < 0 ? at[0] + box->n[0] * (at[1] + box->n[1] * at[2]) : box->npoints + box->offset[e] + at[0];
}

/* What the rows are made with */
typedef struct {
  KCycleLines lines;
  PetscInt    delta[KC_MAX_COEFFS]; /* what a coefficient adds to the column of a point inside the box */
  PetscInt   *place;                /* where a column stands in the row that is made, else -1 */
  size_t      most;                 /* entries that there is memory for */
} Maker;

/* Adds row p of the matrix to the row of a cluster that ends before end, and its diagonal to t */
static void AddRow(Maker *maker, PetscInt p, KCycleClusters *cl, PetscInt *end, PetscReal *t)
{
  const KCycleShape *shape = &maker->lines.st->shape;
  const KCycleBox   *box   = maker->lines.st->box;
  const PetscInt     i = p % box->n[0], j = p / box->n[0] % box->n[1], k = p / box->n[0] / box->n[1];
  const PetscInt    *reach  = box->reach;
  const KCycleLine  *l      = KCycleLinesAt(&maker->lines, j, k);
  const PetscBool    inside = (PetscBool)(i > 0 && i < box->n[0] - 1 && j >= reach[1] && j < box->n[1] - reach[1] &&
                                       k >= reach[2] && k < box->n[2] - reach[2]);

  for (int o = 0; o < shape->ncoeffs; o++) {
    const PetscScalar a = inside ? KCycleLineArray(l, o)[i] : KCycleLineCoefficient(l, o, i);
    PetscInt          q;

    if (a == (PetscScalar)0.0) continue;
    if (o == shape->ncoeffs / 2) *t += PetscAbsScalar(a);
    q = inside ? p + maker->delta[o]
               : Column(box, i + shape->dx[o], j + shape->dy[shape->line[o]], k + shape->dz[shape->line[o]]);
    if (maker->place[q] < 0) {
      maker->place[q]  = *end;
      cl->value[*end]  = 0;
      cl->column[*end] = q;
      *end += 1;
    }
    cl->value[maker->place[q]] += a;
  }
}

/* Appends the row 1^T A of one cluster, or of a part. t: the sum of the diagonals */
static PetscErrorCode MakeRow(Maker *maker, PetscInt m, PetscInt member[], KCycleClusters *cl, PetscReal *t)
{
  const PetscInt begin = cl->start[cl->nclusters];
  PetscInt       end   = begin, needed;

  PetscFunctionBegin;
  PetscCall(PetscIntCast(begin + (PetscInt64)m * maker->lines.st->shape.ncoeffs, &needed));
  if ((size_t)needed > maker->most) {
    maker->most = 2 * (size_t)needed;
    PetscCall(PetscRealloc(maker->most * sizeof(PetscInt), &cl->column));
    PetscCall(PetscRealloc(maker->most * sizeof(PetscScalar), &cl->value));
  }
  PetscCall(PetscSortInt(m, member));
  for (PetscInt r = 0; r < m; r++) {
    maker->place[member[r]] = end;
    cl->value[end]          = 0;
    cl->column[end++]       = member[r];
  }
  for (PetscInt r = 0; r < m; r++) AddRow(maker, member[r], cl, &end, t);
  for (PetscInt e = begin; e < end; e++) maker->place[cl->column[e]] = -1;
  cl->size[cl->nclusters]    = m;
  cl->start[++cl->nclusters] = end;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nothing is in place yet */
static PetscErrorCode MakerCreate(const KCycleStencil *st, Maker *maker)
{
  const KCycleBox *box = st->box;

  PetscFunctionBegin;
  KCycleLinesCreate(st, &maker->lines);
  for (int o = 0; o < st->shape.ncoeffs; o++)
    maker->delta[o] =
        st->shape.dx[o] + box->n[0] * (st->shape.dy[st->shape.line[o]] + box->n[1] * st->shape.dz[st->shape.line[o]]);
  PetscCall(PetscMalloc1(box->npoints + box->nhalo, &maker->place));
  for (PetscInt p = 0; p < box->npoints + box->nhalo; p++) maker->place[p] = -1;
  maker->most = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 1 / d_C; 0 where d_C is nothing but rounding, as on all of a small grid without boundary values */
static PetscScalar Inverse(const KCycleClusters *cl, PetscInt c, PetscReal t)
{
  PetscScalar d = 0;

  for (PetscInt e = cl->start[c]; e < cl->start[c] + cl->size[c]; e++) d += cl->value[e];
  return PetscAbsScalar(d) > KC_CLUSTER_SINGULAR * t ? 1 / d : (PetscScalar)0.0;
}

/* Clusters in the order of points, for the sake of the cache. place is -1 before and behind */
static PetscErrorCode SortClusters(const KCycleClusterList *list, PetscInt npoints, PetscInt place[], PetscInt order[])
{
  PetscInt *next, count = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(list->n, &next));
  for (PetscInt c = 0; c < list->n; c++) {
    PetscInt first = npoints;

    for (PetscInt i = list->first[c]; i < list->first[c + 1]; i++) first = PetscMin(first, list->member[i]);
    next[c]      = place[first];
    place[first] = c;
  }
  for (PetscInt p = 0; p < npoints; p++) {
    for (PetscInt c = place[p]; c >= 0; c = next[c]) order[count++] = c;
    place[p] = -1;
  }
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of all clusters, generation by generation; those in parts come first. order becomes the order of the rows */
static PetscErrorCode MakeRows(const KCycleStencil *st, const KCycleClusterList *list, KCycleClusters *cl,
                               PetscInt order[])
{
  PetscInt *sorted, most = 0;
  Maker    *maker;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(1, &maker));
  PetscCall(MakerCreate(st, maker));
  PetscCall(PetscMalloc1(list->n, &sorted));
  PetscCall(SortClusters(list, st->box->npoints, maker->place, sorted));
  PetscCall(PetscMalloc1(list->n + 1, &cl->start));
  PetscCall(PetscMalloc1(list->n, &cl->size));
  PetscCall(PetscMalloc1(list->n, &cl->inverse));
  cl->start[0] = 0;
  for (PetscInt g = 0; g < cl->ngenerations; g++) {
    for (int whole = 0; whole < 2; whole++) {
      for (PetscInt i = 0; i < list->n; i++) {
        const PetscInt c = sorted[i];
        PetscReal      t = 0;

        if (list->generation[c] != g || (list->owner[c] < 0) != whole) continue;
        order[cl->nclusters] = c;
        PetscCall(MakeRow(maker, list->first[c + 1] - list->first[c], list->member + list->first[c], cl, &t));
        cl->inverse[cl->nclusters - 1] = whole ? Inverse(cl, cl->nclusters - 1, t) : 1;
      }
      if (!whole) cl->nparts[g] = cl->nclusters - cl->generation[g];
    }
    cl->generation[g + 1] = cl->nclusters;
    most                  = PetscMax(most, cl->nclusters - cl->generation[g]);
  }
  PetscCall(PetscFree(sorted));
  PetscCall(PetscFree(maker->place));
  PetscCall(PetscFree(maker));
  PetscCall(PetscMalloc1(most, &cl->change));
  PetscCall(PetscRealloc((size_t)cl->start[cl->nclusters] * sizeof(PetscInt), &cl->column));
  PetscCall(PetscRealloc((size_t)cl->start[cl->nclusters] * sizeof(PetscScalar), &cl->value));
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
  for (PetscInt i = 0; i < cl->nslots; i++)
    cl->slotinverse[i] = list->sum[i] == (PetscScalar)0.0 ? (PetscScalar)0.0 : 1 / list->sum[i];
  PetscCall(PetscMalloc1(cl->ngenerations, &any));
  PetscCallMPI(MPI_Allreduce(cl->nparts, any, (PetscMPIInt)cl->ngenerations, MPIU_INT, MPI_MAX, comm));
  PetscCall(PetscCalloc1(cl->ngenerations, &cl->sf));
  for (PetscInt g = 0; g < cl->ngenerations; g++) {
    PetscSFNode *root;

    if (!any[g]) continue;
    PetscCall(PetscMalloc1(cl->nparts[g], &root));
    for (PetscInt i = 0; i < cl->nparts[g]; i++) {
      const PetscInt c = order[cl->generation[g] + i];

      root[i].rank  = list->owner[c];
      root[i].index = list->slot[c];
    }
    PetscCall(PetscSFCreate(comm, &cl->sf[g]));
    PetscCall(PetscSFSetGraph(cl->sf[g], cl->nslots, cl->nparts[g], NULL, PETSC_COPY_VALUES, root, PETSC_COPY_VALUES));
    PetscCall(PetscSFSetUp(cl->sf[g]));
    PetscCall(PetscFree(root));
  }
  PetscCall(PetscFree(any));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of the smoother that has them last */
PetscErrorCode KCycleClustersDestroy(KCycleClusters **clusters)
{
  KCycleClusters *cl = *clusters;

  PetscFunctionBegin;
  if (!cl) PetscFunctionReturn(PETSC_SUCCESS);
  *clusters = NULL;
  if (--cl->references > 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt g = 0; cl->sf && g < cl->ngenerations; g++) PetscCall(PetscSFDestroy(&cl->sf[g]));
  PetscCall(PetscFree(cl->sf));
  PetscCall(PetscFree(cl->generation));
  PetscCall(PetscFree(cl->nparts));
  PetscCall(PetscFree(cl->start));
  PetscCall(PetscFree(cl->size));
  PetscCall(PetscFree(cl->column));
  PetscCall(PetscFree(cl->value));
  PetscCall(PetscFree(cl->inverse));
  PetscCall(PetscFree(cl->change));
  PetscCall(PetscFree(cl->slotinverse));
  PetscCall(PetscFree(cl->sum));
  PetscCall(PetscFree(cl));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Clusters of an operator, or none: then *clusters is NULL on all processes */
static PetscErrorCode ClustersCreate(Mat A, const KCycleSeeds *seeds, KCycleClusters **clusters)
{
  const KCycleStencil *st           = KCycleStencilOf(A);
  MPI_Comm             comm         = PetscObjectComm((PetscObject)A);
  PetscInt             ngenerations = 0, *order;
  KCycleClusterList    list;
  KCycleClusters      *cl;

  PetscFunctionBegin;
  *clusters = NULL;
  PetscCall(PetscMemzero(&list, sizeof(list)));
  PetscCall(KCycleClustersSearch(A, seeds, &list));
  for (PetscInt c = 0; c < list.n; c++) ngenerations = PetscMax(ngenerations, list.generation[c] + 1);
  PetscCall(PetscNew(&cl));
  cl->references = 1;
  PetscCallMPI(MPI_Allreduce(&ngenerations, &cl->ngenerations, 1, MPIU_INT, MPI_MAX, comm));
  if (cl->ngenerations) {
    PetscCall(PetscCalloc1(cl->ngenerations + 1, &cl->generation));
    PetscCall(PetscCalloc1(cl->ngenerations, &cl->nparts));
    PetscCall(PetscMalloc1(list.n, &order));
    PetscCall(MakeRows(st, &list, cl, order));
    PetscCall(ConnectParts(comm, &list, order, cl));
    PetscCall(PetscFree(order));
    cl->found[0] = list.nclusters;
    cl->found[1] = list.npoints;
    *clusters    = cl;
  } else PetscCall(KCycleClustersDestroy(&cl));
  PetscCall(KCycleClusterListDestroy(&list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where there are clusters the smoother becomes one that corrects them behind each sweep */
PetscErrorCode KCycleSmootherCorrectClusters(Mat A, KCycleSmoother **smoother, const KCycleSeeds *seeds)
{
  KCycleClusters *clusters;

  PetscFunctionBegin;
  PetscCall(ClustersCreate(A, seeds, &clusters));
  if (clusters) PetscCall(KCycleSmootherWrapClusters(clusters, smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}
