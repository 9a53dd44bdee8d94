/*
  Boxes of a DMDA: who owns what, and the exchange of halo lines.
*/
#include <petsckcycle/private/boximpl.h>

/* Exchanges without and with the corner lines: the same where none are corners */
struct _KCycleExchange {
  PetscSF sf[2];
};

static const char Container[] = "KCycleBox";

static PetscErrorCode BoxDestroy(KCycleCtxDestroyArg arg)
{
  KCycleBox *box = (KCycleBox *)KCycleCtxFromDestroyArg(arg);

  PetscFunctionBegin;
  for (PetscInt d = 0; d < 3; d++) PetscCall(PetscFree(box->first[d]));
  PetscCall(PetscFree(box->rows));
  PetscCall(PetscFree(box->slot));
  PetscCall(PetscSFDestroy(&box->exchange->sf[0]));
  PetscCall(PetscSFDestroy(&box->exchange->sf[1]));
  PetscCall(PetscFree(box->exchange));
  PetscCall(PetscFree(box));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Says that a DM is no DMDA, or nothing */
PetscErrorCode KCycleDMDACheck(DM dm, size_t len, char why[])
{
  PetscBool isda = PETSC_FALSE;

  PetscFunctionBegin;
  why[0] = 0;
  if (dm) PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &isda));
  if (!isda) PetscCall(PetscSNPrintf(why, len, "it is not on a DMDA"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Says why a DM has no box, or nothing */
PetscErrorCode KCycleBoxCheck(DM dm, size_t len, char why[])
{
  PetscInt       dof, width, dim;
  DMBoundaryType boundary[3];

  PetscFunctionBegin;
  PetscCall(KCycleDMDACheck(dm, len, why));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMDAGetInfo(dm, &dim, NULL, NULL, NULL, NULL, NULL, NULL, &dof, &width, &boundary[0], &boundary[1],
                        &boundary[2], NULL));
  if (dof != 1) PetscCall(PetscSNPrintf(why, len, "its DMDA has %" PetscInt_FMT " unknowns at a point, not 1", dof));
  else if (width != 1)
    PetscCall(PetscSNPrintf(why, len, "the stencil width of its DMDA is %" PetscInt_FMT ", not 1", width));
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

/* Processes are numbered x first, and so are rows from process to process: the first row of each, and one past the
   last. A vector of the DM would tell too, but stay with the DM */
PetscErrorCode KCycleNumberRows(const PetscInt m[], PetscInt *const first[], PetscInt dof, PetscInt **rows)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(m[0] * m[1] * m[2] + 1, rows));
  (*rows)[0] = 0;
  for (PetscInt p = 0; p < m[0] * m[1] * m[2]; p++) {
    const PetscInt at[3] = {p % m[0], p / m[0] % m[1], p / m[0] / m[1]};
    PetscInt       n     = dof;

    for (int d = 0; d < 3; d++) n *= first[d][at[d] + 1] - first[d][at[d]];
    (*rows)[p + 1] = (*rows)[p] + n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sizes, owned box, and the boxes of all processes. DMSetUp() need not have been called if the DMDA was given these */
static PetscErrorCode BoxFindOwnership(DM dm, KCycleBox *box)
{
  const PetscInt *owned[3];
  PetscMPIInt     p;
  DMBoundaryType  boundary[3];
  DMDAStencilType type;

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(dm, &box->dim, &box->size[0], &box->size[1], &box->size[2], &box->nproc[0], &box->nproc[1],
                        &box->nproc[2], NULL, NULL, &boundary[0], &boundary[1], &boundary[2], &type));
  PetscCall(DMDAGetOwnershipRanges(dm, &owned[0], &owned[1], &owned[2]));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)dm), &box->rank));
  p         = box->rank;
  box->star = (PetscBool)(type == DMDA_STENCIL_STAR);
  for (PetscInt d = 0; d < 3; d++) {
    const PetscBool used = (PetscBool)(d < box->dim);

    if (!used) box->size[d] = box->nproc[d] = 1;
    box->reach[d]    = used;
    box->periodic[d] = (PetscBool)(used && boundary[d] == DM_BOUNDARY_PERIODIC);
    PetscCall(PetscMalloc1(box->nproc[d] + 1, &box->first[d]));
    box->first[d][0] = 0;
    for (PetscInt q = 0; q < box->nproc[d]; q++) box->first[d][q + 1] = box->first[d][q] + (used ? owned[d][q] : 1);
    box->start[d] = box->first[d][p % box->nproc[d]];
    box->n[d]     = box->first[d][p % box->nproc[d] + 1] - box->start[d];
    p /= box->nproc[d];
  }
  box->nlines  = box->n[1] * box->n[2];
  box->npoints = box->n[0] * box->nlines;
  PetscCall(KCycleNumberRows(box->nproc, box->first, 1, &box->rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Wraps a coordinate around, or says that it lies outside the grid */
static PetscBool Wrap(const KCycleBox *box, PetscInt at[])
{
  for (PetscInt d = 0; d < 3; d++) {
    if (at[d] >= 0 && at[d] < box->size[d]) continue;
    if (!box->periodic[d]) return PETSC_FALSE;
    at[d] = (at[d] + box->size[d]) % box->size[d];
  }
  return PETSC_TRUE;
}

static PetscErrorCode BoxLayHalo(KCycleBox *box)
{
  const PetscInt *n = box->n, *reach = box->reach;
  PetscInt        next = n[0];

  PetscFunctionBegin;
  box->nextended = (n[1] + 2 * reach[1]) * (n[2] + 2 * reach[2]);
  PetscCall(PetscMalloc1(box->nextended, &box->slot));
  for (PetscInt k = -reach[2]; k < n[2] + reach[2]; k++) {
    for (PetscInt j = -reach[1]; j < n[1] + reach[1]; j++) {
      PetscInt *slot  = &box->slot[KCycleBoxExtended(box, j, k)];
      PetscInt  at[3] = {box->start[0], box->start[1] + j, box->start[2] + k};

      if (j >= 0 && j < n[1] && k >= 0 && k < n[2]) *slot = -1;
      else if (!Wrap(box, at)) *slot = 0;
      else {
        *slot = next;
        next += n[0];
      }
    }
  }
  box->ends  = (PetscBool)(box->periodic[0] || box->nproc[0] > 1);
  box->left  = next;
  box->right = next + (box->ends ? box->nextended : 0);
  box->nhalo = box->right + (box->ends ? box->nextended : 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The process that owns a point of the grid, the point's place in its box, and how many points this has */
PetscMPIInt KCycleBoxOwner(const KCycleBox *box, const PetscInt at[], PetscInt inside[], PetscInt n[])
{
  PetscInt rank = 0;

  for (PetscInt d = 2; d >= 0; d--) {
    PetscInt low = 0, high = box->nproc[d];

    while (high - low > 1) {
      const PetscInt middle = (low + high) / 2;

      if (box->first[d][middle] <= at[d]) low = middle;
      else high = middle;
    }
    rank      = rank * box->nproc[d] + low;
    inside[d] = at[d] - box->first[d][low];
    n[d]      = box->first[d][low + 1] - box->first[d][low];
  }
  return (PetscMPIInt)rank;
}

static void FindOwner(const KCycleBox *box, const PetscInt at[], PetscSFNode *node)
{
  PetscInt inside[3], n[3];

  node->rank  = KCycleBoxOwner(box, at, inside, n);
  node->index = inside[0] + n[0] * (inside[1] + n[1] * inside[2]);
}

PetscInt KCycleBoxPointToRow(const KCycleBox *box, const PetscInt at[])
{
  PetscSFNode node;
  PetscInt    wrapped[3] = {at[0], at[1], at[2]};

  if (!Wrap(box, wrapped)) return -1;
  FindOwner(box, wrapped, &node);
  return box->rows[node.rank] + node.index;
}

PetscErrorCode KCycleBoxRowToPoint(const KCycleBox *box, PetscInt row, PetscInt at[])
{
  PetscInt low = 0, high = box->nproc[0] * box->nproc[1] * box->nproc[2], p[3], place;

  PetscFunctionBegin;
  while (high - low > 1) {
    const PetscInt middle = (low + high) / 2;

    if (box->rows[middle] <= row) low = middle;
    else high = middle;
  }
  place = row - box->rows[low];
  p[0]  = low % box->nproc[0];
  p[1]  = low / box->nproc[0] % box->nproc[1];
  p[2]  = low / box->nproc[0] / box->nproc[1];
  for (PetscInt d = 0; d < 3; d++) {
    const PetscInt n = box->first[d][p[d] + 1] - box->first[d][p[d]];

    at[d] = box->first[d][p[d]] + place % n;
    place /= n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One leaf of the exchange if the point is on the grid */
static void AddLeaf(const KCycleBox *box, PetscInt i, PetscInt j, PetscInt k, PetscInt place, KCycleLeaves *leaves)
{
  PetscInt at[3] = {box->start[0] + i, box->start[1] + j, box->start[2] + k};

  if (!Wrap(box, at)) return;
  FindOwner(box, at, &leaves->root[leaves->n]);
  leaves->leaf[leaves->n++] = place;
}

/* What a star needs of line (j, k): all of it beside the box, its end points inside */
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
      for (PetscInt i = 0; box->slot[e] > 0 && i < n[0]; i++) AddLeaf(box, i, j, k, box->slot[e] + i, &leaves);
      if (!box->ends || (outside && !corners)) continue;
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

/* Are there points beside the box in two directions at once? */
static PetscBool HasCorners(const KCycleBox *box)
{
  PetscInt talking = 0;

  for (PetscInt d = 0; d < box->dim; d++) talking += box->periodic[d] || box->nproc[d] > 1;
  return (PetscBool)(talking > 1);
}

PetscErrorCode KCycleBoxGet(DM dm, KCycleBox **box)
{
  PetscContainer container;
  char           why[256];

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)dm, Container, (PetscObject *)&container));
  if (container) {
    PetscCall(PetscContainerGetPointer(container, (void **)box));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KCycleBoxCheck(dm, sizeof(why), why));
  PetscCheck(!why[0], PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP, "The matrix has no structured form: %s", why);
  PetscCall(PetscNew(box));
  PetscCall(PetscNew(&(*box)->exchange));
  PetscCall(BoxFindOwnership(dm, *box));
  PetscCall(BoxLayHalo(*box));
  PetscCall(BoxCreateExchange(dm, *box, PETSC_FALSE, &(*box)->exchange->sf[0]));
  if (HasCorners(*box)) PetscCall(BoxCreateExchange(dm, *box, PETSC_TRUE, &(*box)->exchange->sf[1]));
  else {
    PetscCall(PetscObjectReference((PetscObject)(*box)->exchange->sf[0]));
    (*box)->exchange->sf[1] = (*box)->exchange->sf[0];
  }
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, *box));
  PetscCall(KCycleContainerSetCtxDestroy(container, BoxDestroy));
  PetscCall(PetscObjectCompose((PetscObject)dm, Container, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
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
