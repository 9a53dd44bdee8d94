/*
  Boxes of a DMDA: who owns what, and the exchange of halo lines.
*/
#include <petsckcycle/private/boximpl.h>

PetscInt64 KCycleRounds = 0;

/* Exchanges without and with the corner lines: the same where none are corners */
struct _KCycleExchange {
  PetscSF sf[2];
};

static const char Container[] = "KCycleBox";

PetscErrorCode KCycleBoxDestroy(KCycleBox *box)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < 3; d++) PetscCall(PetscFree(box->range[d]));
  PetscCall(PetscFree(box->rows));
  PetscCall(PetscFree(box->offset));
  for (int corners = 0; box->exchange && corners < 2; corners++) PetscCall(PetscSFDestroy(&box->exchange->sf[corners]));
  PetscCall(PetscFree(box->exchange));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Detach(KCycleCtxDestroyArg arg)
{
  KCycleBox *box = (KCycleBox *)KCycleCtxFromDestroyArg(arg);

  PetscFunctionBegin;
  PetscCall(KCycleBoxDestroy(box));
  PetscCall(PetscFree(box));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points that a line may have on a process: all its coefficients, and those of points at its ends, have numbers */
static PetscInt LongestLine(PetscInt dim)
{
  return PETSC_INT_MAX / (dim == 3 ? 27 : dim == 2 ? 9 : 3) - 8;
}

/* Why the kernels do not suit a DMDA */
static PetscErrorCode CheckKernels(DM dm, size_t len, char why[])
{
  PetscInt       dof, width, dim, M, m;
  DMBoundaryType boundary[3];

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(dm, &dim, &M, NULL, NULL, &m, NULL, NULL, &dof, &width, &boundary[0], &boundary[1],
                        &boundary[2], NULL));
  if (dof != 1) PetscCall(PetscSNPrintf(why, len, "its DMDA has %" PetscInt_FMT " unknowns at a point, not 1", dof));
  else if (width != 1)
    PetscCall(PetscSNPrintf(why, len, "the stencil width of its DMDA is %" PetscInt_FMT ", not 1", width));
  else if (m > 0 && M / m > LongestLine(dim))
    PetscCall(PetscSNPrintf(why, len,
                            "a line of its DMDA has %" PetscInt_FMT " points on a process, more than %" PetscInt_FMT,
                            M / m, LongestLine(dim)));
  for (PetscInt d = 0; d < dim && !why[0]; d++) {
    if (boundary[d] == DM_BOUNDARY_NONE || boundary[d] == DM_BOUNDARY_GHOSTED || boundary[d] == DM_BOUNDARY_PERIODIC)
      continue;
    PetscCall(PetscSNPrintf(why, len, "the boundary of its DMDA in %c is %s, not none, ghosted or periodic",
                            (int)('x' + d), DMBoundaryTypes[boundary[d]]));
  }
  if (PetscDefined(USE_COMPLEX) && !why[0])
    PetscCall(PetscSNPrintf(why, len, "this PETSc computes with complex numbers"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleBoxCheck(DM dm, KCycleBoxUse use, size_t len, char why[])
{
  PetscBool      isda = PETSC_FALSE;
  PetscInt       dim;
  DMBoundaryType boundary[3];

  PetscFunctionBegin;
  why[0] = 0;
  if (dm) PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &isda));
  if (!isda) PetscCall(PetscSNPrintf(why, len, "it is not on a DMDA"));
  else if (use == KCYCLE_BOX_KERNELS) PetscCall(CheckKernels(dm, len, why));
  if (why[0] || use != KCYCLE_BOX_MATRICES) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMDAGetInfo(dm, &dim, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &boundary[0], &boundary[1],
                        &boundary[2], NULL));
  for (PetscInt d = 0; d < dim; d++) {
    if (boundary[d] == DM_BOUNDARY_TWIST)
      PetscCall(PetscSNPrintf(why, len, "the boundary of its DMDA in %c is twist", (int)('x' + d)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What follows from ranges of points. Processes are numbered x first, and so are rows from process to process. A vector
   of a DM would tell too, but stay with the DM */
PetscErrorCode KCycleBoxLay(KCycleBox *box, PetscMPIInt rank)
{
  const PetscInt *m = box->nproc, nproc = m[0] * m[1] * m[2];

  PetscFunctionBegin;
  PetscCall(PetscFree(box->rows));
  PetscCall(PetscMalloc1(nproc + 1, &box->rows));
  box->rank    = rank;
  box->rows[0] = 0;
  for (PetscInt p = 0; p < nproc; p++) {
    const PetscInt at[3] = {p % m[0], p / m[0] % m[1], p / m[0] / m[1]};
    PetscInt       n     = box->dof;

    for (int d = 0; d < 3; d++) {
      const PetscInt points = box->range[d][at[d] + 1] - box->range[d][at[d]];

      n *= points;
      if (p != rank) continue;
      box->start[d] = box->range[d][at[d]];
      box->n[d]     = points;
    }
    box->rows[p + 1] = box->rows[p] + n;
  }
  for (PetscInt d = 0; d < 3; d++) {
    box->size[d]  = box->range[d][m[d]];
    box->reach[d] = d < box->dim;
  }
  box->nlines  = box->n[1] * box->n[2];
  box->npoints = box->n[0] * box->nlines;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of the processes in each direction and the points that each of them owns there */
PetscErrorCode KCycleBoxCreate(PetscInt dim, PetscInt dof, const PetscInt nproc[], const PetscInt *const owned[],
                               PetscMPIInt rank, KCycleBox *box)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(box, sizeof(*box)));
  box->dim = dim;
  box->dof = dof;
  for (PetscInt d = 0; d < 3; d++) {
    box->nproc[d] = d < dim ? nproc[d] : 1;
    PetscCall(PetscMalloc1(box->nproc[d] + 1, &box->range[d]));
    box->range[d][0] = 0;
    for (PetscInt p = 0; p < box->nproc[d]; p++) box->range[d][p + 1] = box->range[d][p] + (d < dim ? owned[d][p] : 1);
  }
  PetscCall(KCycleBoxLay(box, rank));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* DMSetUp() need not have been called if the DMDA was given sizes, processes and ownership */
static PetscErrorCode CreateFromDM(DM dm, KCycleBox *box)
{
  const PetscInt *owned[3];
  PetscInt        dim, dof, nproc[3];
  PetscMPIInt     rank;
  DMBoundaryType  boundary[3];
  DMDAStencilType type;

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(dm, &dim, NULL, NULL, NULL, &nproc[0], &nproc[1], &nproc[2], &dof, NULL, &boundary[0],
                        &boundary[1], &boundary[2], &type));
  PetscCall(DMDAGetOwnershipRanges(dm, &owned[0], &owned[1], &owned[2]));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)dm), &rank));
  PetscCall(KCycleBoxCreate(dim, dof, nproc, owned, rank, box));
  box->star = (PetscBool)(type == DMDA_STENCIL_STAR);
  for (PetscInt d = 0; d < dim; d++) box->periodic[d] = (PetscBool)(boundary[d] == DM_BOUNDARY_PERIODIC);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The grid of the points that are kept, each by the process that has it: every factor-th one from the origin on; last:
  that at the upper boundary as well.
*/
PetscErrorCode KCycleBoxCoarsen(const KCycleBox *fine, const PetscInt factor[], const PetscInt origin[], PetscBool last,
                                KCycleBox *coarse)
{
  PetscFunctionBegin;
  *coarse          = *fine;
  coarse->rows     = NULL;
  coarse->offset   = NULL;
  coarse->exchange = NULL;
  for (PetscInt d = 0; d < 3; d++) {
    const PetscInt f = factor[d], n = fine->size[d];
    const PetscInt more = last && n > f && (n - 1 - origin[d]) % f && !fine->periodic[d];

    PetscCall(PetscMalloc1(fine->nproc[d] + 1, &coarse->range[d]));
    for (PetscInt p = 0; p <= fine->nproc[d]; p++) {
      const PetscInt i = fine->range[d][p];

      coarse->range[d][p] = (i - origin[d] + f - 1) / f + (i == n ? more : 0);
    }
  }
  PetscCall(KCycleBoxLay(coarse, fine->rank));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Direction i of the grid becomes what direction order[i] was. Processes are numbered anew, so that nothing but
   KCycleBoxCreateDM() is for it */
PetscErrorCode KCycleBoxTurn(KCycleBox *box, const int order[])
{
  const KCycleBox old = *box;

  PetscFunctionBegin;
  for (int i = 0; i < 3; i++) {
    box->size[i]     = old.size[order[i]];
    box->start[i]    = old.start[order[i]];
    box->n[i]        = old.n[order[i]];
    box->periodic[i] = old.periodic[order[i]];
    box->nproc[i]    = old.nproc[order[i]];
    box->range[i]    = old.range[order[i]];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleBoxCreateDM(MPI_Comm comm, const KCycleBox *box, DM *dm)
{
  PetscInt      *owned[3];
  DMBoundaryType boundary[3];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < 3; d++) {
    PetscCall(PetscMalloc1(box->nproc[d], &owned[d]));
    for (PetscInt p = 0; p < box->nproc[d]; p++) owned[d][p] = box->range[d][p + 1] - box->range[d][p];
    boundary[d] = box->periodic[d] ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  }
  PetscCall(DMDACreate(comm, dm));
  PetscCall(DMSetDimension(*dm, box->dim));
  PetscCall(DMDASetSizes(*dm, box->size[0], box->size[1], box->size[2]));
  PetscCall(DMDASetNumProcs(*dm, box->nproc[0], box->nproc[1], box->nproc[2]));
  PetscCall(DMDASetBoundaryType(*dm, boundary[0], boundary[1], boundary[2]));
  PetscCall(DMDASetDof(*dm, box->dof));
  PetscCall(DMDASetStencilType(*dm, box->star ? DMDA_STENCIL_STAR : DMDA_STENCIL_BOX));
  PetscCall(DMDASetStencilWidth(*dm, 1));
  PetscCall(DMDASetOwnershipRanges(*dm, owned[0], owned[1], owned[2]));
  for (PetscInt d = 0; d < 3; d++) PetscCall(PetscFree(owned[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is a point one of the grid, if need be around it? */
static PetscBool IsOnGrid(const KCycleBox *box, const PetscInt at[])
{
  for (PetscInt d = 0; d < 3; d++) {
    if ((at[d] < 0 || at[d] >= box->size[d]) && !box->periodic[d]) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

static PetscErrorCode BoxLayHalo(KCycleBox *box)
{
  const PetscInt *n = box->n, *reach = box->reach;
  PetscInt64      next = n[0], nhalo;

  PetscFunctionBegin;
  box->nextended = (n[1] + 2 * reach[1]) * (n[2] + 2 * reach[2]);
  PetscCall(PetscMalloc1(box->nextended, &box->offset));
  for (PetscInt k = -reach[2]; k < n[2] + reach[2]; k++) {
    for (PetscInt j = -reach[1]; j < n[1] + reach[1]; j++) {
      PetscInt      *offset = &box->offset[KCycleBoxExtended(box, j, k)];
      const PetscInt at[3]  = {box->start[0], box->start[1] + j, box->start[2] + k};

      if (j >= 0 && j < n[1] && k >= 0 && k < n[2]) *offset = -1;
      else if (!IsOnGrid(box, at)) *offset = 0;
      else {
        *offset = (PetscInt)next;
        next += n[0];
      }
    }
  }
  box->xhalo = (PetscBool)(box->periodic[0] || box->nproc[0] > 1);
  nhalo      = next + (box->xhalo ? 2 * (PetscInt64)box->nextended : 0);
  PetscCall(PetscIntCast(nhalo, &box->nhalo));
  box->left  = (PetscInt)next;
  box->right = (PetscInt)next + (box->xhalo ? box->nextended : 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of those that share a direction, the process that has a place in it */
PetscInt KCycleBoxProcess(const KCycleBox *box, int d, PetscInt at)
{
  PetscInt low = 0, high = box->nproc[d];

  while (high - low > 1) {
    const PetscInt middle = (low + high) / 2;

    if (box->range[d][middle] <= at) low = middle;
    else high = middle;
  }
  return low;
}

/* The process that owns a point, of the grid or around it, and the number of the point among those that it owns */
PetscSFNode KCycleBoxRoot(const KCycleBox *box, const PetscInt at[])
{
  PetscSFNode root;
  PetscInt    rank = 0, index = 0;

  for (int d = 2; d >= 0; d--) {
    const PetscInt size = box->size[d], i = at[d] < 0 || at[d] >= size ? (at[d] % size + size) % size : at[d],
                   p = KCycleBoxProcess(box, d, i), first = box->range[d][p];

    rank  = rank * box->nproc[d] + p;
    index = index * (box->range[d][p + 1] - first) + i - first;
  }
  root.rank  = (PetscMPIInt)rank;
  root.index = index;
  return root;
}

/* Of its first unknown; -1: the point is not on the grid */
PetscInt KCycleBoxPointToRow(const KCycleBox *box, const PetscInt at[])
{
  PetscSFNode root;

  if (!IsOnGrid(box, at)) return -1;
  root = KCycleBoxRoot(box, at);
  return box->rows[root.rank] + box->dof * root.index;
}

/* Returns which unknown of the point it is */
PetscInt KCycleBoxRowToPoint(const KCycleBox *box, PetscInt row, PetscInt at[])
{
  PetscInt rank = box->rank, index;

  if (row < box->rows[rank] || row >= box->rows[rank + 1]) {
    PetscInt high = box->nproc[0] * box->nproc[1] * box->nproc[2];

    for (rank = 0; high - rank > 1;) {
      const PetscInt middle = (rank + high) / 2;

      if (box->rows[middle] <= row) rank = middle;
      else high = middle;
    }
  }
  index = (row - box->rows[rank]) / box->dof;
  row   = (row - box->rows[rank]) % box->dof;
  for (PetscInt d = 0; d < 3; d++) {
    const PetscInt p = rank % box->nproc[d], n = box->range[d][p + 1] - box->range[d][p];

    at[d] = box->range[d][p] + index % n;
    index /= n;
    rank /= box->nproc[d];
  }
  return row;
}

/* One leaf of the exchange if the point is on the grid */
static void AddLeaf(const KCycleBox *box, PetscInt i, PetscInt j, PetscInt k, PetscInt index, KCycleLeaves *leaves)
{
  const PetscInt at[3] = {box->start[0] + i, box->start[1] + j, box->start[2] + k};

  if (!IsOnGrid(box, at)) return;
  leaves->root[leaves->n]   = KCycleBoxRoot(box, at);
  leaves->leaf[leaves->n++] = index;
}

/* What a star needs of line (j, k): all of it beyond the box, its end points inside */
static PetscErrorCode BoxCreateExchange(DM dm, KCycleBox *box, PetscBool corners, PetscSF *sf)
{
  const PetscInt *n = box->n, *reach = box->reach;
  KCycleLeaves    leaves = {0, NULL, NULL};

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(box->nhalo, &leaves.leaf, box->nhalo, &leaves.root));
  for (PetscInt k = -reach[2]; k < n[2] + reach[2]; k++) {
    for (PetscInt j = -reach[1]; j < n[1] + reach[1]; j++) {
      const PetscInt e       = KCycleBoxExtended(box, j, k);
      const PetscInt outside = (j < 0 || j >= n[1]) + (k < 0 || k >= n[2]);

      if (outside > 1 && !corners) continue;
      for (PetscInt i = 0; box->offset[e] > 0 && i < n[0]; i++) AddLeaf(box, i, j, k, box->offset[e] + i, &leaves);
      if (!box->xhalo || (outside && !corners)) continue;
      AddLeaf(box, -1, j, k, box->left + e, &leaves);
      AddLeaf(box, n[0], j, k, box->right + e, &leaves);
    }
  }
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)dm), sf));
  PetscCall(
      PetscSFSetGraph(*sf, box->npoints, leaves.n, leaves.leaf, PETSC_COPY_VALUES, leaves.root, PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(*sf));
  PetscCall(PetscFree2(leaves.leaf, leaves.root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are there points beyond the box in two directions at once? */
static PetscBool HasCorners(const KCycleBox *box)
{
  PetscInt talking = 0;

  for (PetscInt d = 0; d < box->dim; d++) talking += box->periodic[d] || box->nproc[d] > 1;
  return (PetscBool)(talking > 1);
}

/* What kernels need in addition */
static PetscErrorCode CreateHalos(DM dm, KCycleBox *box)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(&box->exchange));
  PetscCall(BoxLayHalo(box));
  PetscCall(BoxCreateExchange(dm, box, PETSC_FALSE, &box->exchange->sf[0]));
  if (HasCorners(box)) PetscCall(BoxCreateExchange(dm, box, PETSC_TRUE, &box->exchange->sf[1]));
  else {
    PetscCall(PetscObjectReference((PetscObject)box->exchange->sf[0]));
    box->exchange->sf[1] = box->exchange->sf[0];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleBoxGet(DM dm, KCycleBoxUse use, KCycleBox **box)
{
  PetscContainer container;
  char           why[256];

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)dm, Container, (PetscObject *)&container));
  if (container) PetscCall(PetscContainerGetPointer(container, (void **)box));
  if (container && (use == KCYCLE_BOX_ROWS || (*box)->exchange)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleBoxCheck(dm, use, sizeof(why), why));
  PetscCheck(!why[0], PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP, "The matrix has no structured form: %s", why);
  if (!container) {
    PetscCall(PetscNew(box));
    PetscCall(CreateFromDM(dm, *box));
    PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
    PetscCall(PetscContainerSetPointer(container, *box));
    PetscCall(KCycleContainerSetCtxDestroy(container, Detach));
    PetscCall(PetscObjectCompose((PetscObject)dm, Container, (PetscObject)container));
    PetscCall(PetscContainerDestroy(&container));
  }
  if (use == KCYCLE_BOX_KERNELS) PetscCall(CreateHalos(dm, *box));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Have two grids the same points, that wrap around alike and belong to the same processes? */
PetscBool KCycleBoxIsSame(const KCycleBox *a, const KCycleBox *b)
{
  if (a == b) return PETSC_TRUE;
  if (a->dim != b->dim || a->dof != b->dof) return PETSC_FALSE;
  for (int d = 0; d < 3; d++) {
    if (a->size[d] != b->size[d] || a->periodic[d] != b->periodic[d] || a->nproc[d] != b->nproc[d]) return PETSC_FALSE;
    for (PetscInt p = 0; p < a->nproc[d]; p++) {
      if (a->range[d][p] != b->range[d][p]) return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}

static PetscErrorCode Describe(const KCycleBox *box, size_t len, char words[])
{
  const PetscInt *n = box->size, *m = box->nproc;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(words, len,
                          "%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT "%s%s%s%s on %" PetscInt_FMT
                          " x %" PetscInt_FMT " x %" PetscInt_FMT " processes, %" PetscInt_FMT "D",
                          n[0], n[1], n[2],
                          box->periodic[0] || box->periodic[1] || box->periodic[2] ? ", periodic in " : "",
                          box->periodic[0] ? "x" : "", box->periodic[1] ? "y" : "", box->periodic[2] ? "z" : "", m[0],
                          m[1], m[2], box->dim));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what: that has grid a, and is to go together with grid b */
PetscErrorCode KCycleBoxCheckSame(MPI_Comm comm, const KCycleBox *a, const KCycleBox *b, const char what[])
{
  char      words[2][128];
  PetscBool alike;

  PetscFunctionBegin;
  if (KCycleBoxIsSame(a, b)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Describe(a, sizeof(words[0]), words[0]));
  PetscCall(Describe(b, sizeof(words[1]), words[1]));
  PetscCall(PetscStrcmp(words[0], words[1], &alike));
  SETERRQ(comm, PETSC_ERR_ARG_INCOMP, "%s on another grid: %s, not %s%s", what, words[0], words[1],
          alike ? " with the same points on each of them" : "");
}

/* Zeros: what lies outside the grid stays so */
PetscErrorCode KCycleBoxHaloCreate(const KCycleBox *box, PetscScalar **halo)
{
  PetscFunctionBegin;
  PetscCall(PetscCalloc1(box->nhalo, halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The exchange, with the corner lines or without them */
PetscSF KCycleBoxGetSF(const KCycleBox *box, PetscBool corners)
{
  return box->exchange->sf[corners];
}
