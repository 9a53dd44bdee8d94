/*
  Levels with ghost points, see ghostsimpl.h: their operator and interpolation have the numbers that the owners of the
  points have.
*/
#include "mattransfer.h"
#include <petsckcycle/private/ghostsimpl.h>

/* A line of the grid with ghost points: what this process has of it, and numbers of the other points in their order */
typedef struct {
  PetscBool          owned;
  PetscInt           j, k, nhalo;
  const PetscScalar *halo;
} Source;

/* Has the line two before it the same weights? */
static PetscBool IsAsTwoBefore(const KCycleTransfer *from, const Source *now, const Source *before)
{
  const PetscInt *set;

  if (!before->halo || now->owned != before->owned || now->k != before->k) return PETSC_FALSE;
  if (memcmp(now->halo, before->halo, (size_t)(KC_POINT_WEIGHTS * now->nhalo) * sizeof(*now->halo))) return PETSC_FALSE;
  if (!now->owned) return PETSC_TRUE;
  set = KCycleTransferSets(from, KCycleBoxExtended(from->fine, now->j, now->k));
  return (PetscBool)!memcmp(set, set - 8, 4 * sizeof(*set));
}

/* Two weights of point i on a coarse line */
static void Put(const KCycleTransfer *tr, PetscInt i, const PetscScalar numbers[], PetscScalar *w)
{
  PetscInt       count;
  const PetscInt n = tr->coarse->n[0], c = KCycleTouched(tr->factor[0], tr->shift[0], i, &count);

  if (count == 1) w[1 + c] = numbers[0];
  else {
    w[n + 3 + c]     = numbers[0];
    w[2 * n + 4 + c] = numbers[1];
  }
}

static void PutLine(const KCycleTransfer *from, const KCycleTransfer *to, PetscInt low, const Source *line,
                    PetscScalar *temp)
{
  const KCycleBox   *box    = from->fine;
  const PetscScalar *halo   = line->halo;
  KCycleGhostSource  source = {.tr = from, .m = KC_POINT_WEIGHTS, .j = -1};

  for (PetscInt i = 0; i < to->fine->n[0]; i++) {
    PetscScalar        own[KC_POINT_WEIGHTS];
    const PetscScalar *numbers = own;

    if (line->owned && i >= low && i - low < box->n[0]) KCycleGhostSourceGet(&source, i - low, line->j, line->k, own);
    else {
      numbers = halo;
      halo += KC_POINT_WEIGHTS;
    }
    for (int q = 0; q < 4; q++) Put(to, i, numbers + 2 * q, temp + q * to->stride);
  }
}

/* The weights of all lines, from those of owned points and what has come of others */
static PetscErrorCode FillWeights(Mat P, const KCycleOverlap *ov, const PetscScalar *halo)
{
  const KCycleTransfer *from = KCycleTransferOf(P), *to = KCycleTransferOf(ov->P);
  const KCycleBox      *box = from->fine, *all = to->fine;
  Source                last[3] = {{.halo = NULL}, {.halo = NULL}, {.halo = NULL}};
  KCycleSets            sets;
  KCycleWeights         ws = {.tr = &((Mat_StencilTransfer *)ov->P->data)->t, .sets = &sets};
  KCycleTouch           touch;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)4 * to->stride, &ws.temp));
  PetscCall(KCycleWeightsBegin(ov->P, MatStencilTransferInterpolation(P), &sets));
  for (PetscInt line = 0; line < all->nlines; line++) {
    const PetscInt J = line % all->n[1], K = line / all->n[1];
    PetscInt      *set = KCycleTransferSets(to, KCycleBoxExtended(all, J, K));
    Source        *now = &last[line % 3];

    now->j     = J - ov->low[1];
    now->k     = K - ov->low[2];
    now->owned = (PetscBool)(now->j >= 0 && now->j < box->n[1] && now->k >= 0 && now->k < box->n[2]);
    now->nhalo = all->n[0] - (now->owned ? box->n[0] : 0);
    now->halo  = halo;
    halo += KC_POINT_WEIGHTS * now->nhalo;
    if (J >= 2 && IsAsTwoBefore(from, now, &last[(line - 2) % 3])) {
      PetscCall(PetscArraycpy(set, set - 8, 4));
      continue;
    }
    PetscCall(PetscArrayzero(ws.temp, 4 * to->stride));
    PutLine(from, to, ov->low[0], now, ws.temp);
    KCycleTransferTouch(to, J, K, &touch);
    PetscCall(KCycleWeightsStore(&ws, J, K, &touch));
  }
  PetscCall(KCycleWeightsEnd(ov->P, &sets));
  PetscCall(PetscFree(ws.temp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An exchange from owned points to all of a grid that others own; all: the grid, after low points of which are those
   that this process owns. number: the points come after each other, not to their places in the grid; it says for each
   line which one is the first */
static PetscErrorCode CreateExchange(MPI_Comm comm, const KCycleBox *box, const KCycleBox *all, const PetscInt low[],
                                     PetscInt number[], PetscSF *sf)
{
  const PetscInt most = all->npoints - box->npoints;
  PetscInt      *leaf, n = 0;
  PetscSFNode   *root;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(most, &leaf));
  PetscCall(PetscMalloc1(most, &root));
  for (PetscInt line = 0; line < all->nlines; line++) {
    const PetscInt  J = line % all->n[1], K = line / all->n[1], j = J - low[1], k = K - low[2];
    const PetscBool owned = (PetscBool)(j >= 0 && j < box->n[1] && k >= 0 && k < box->n[2]);

    if (number) number[line] = n;
    for (PetscInt i = 0; i < all->n[0]; i++) {
      const PetscInt at[3] = {box->start[0] + i - low[0], box->start[1] + j, box->start[2] + k};

      if (owned && i >= low[0] && i < low[0] + box->n[0]) continue;
      root[n]   = KCycleBoxRoot(box, at);
      leaf[n++] = line * all->n[0] + i;
    }
  }
  PetscCall(PetscSFCreate(comm, sf));
  PetscCall(PetscSFSetGraph(*sf, box->npoints, n, number ? NULL : leaf, PETSC_COPY_VALUES, root, PETSC_OWN_POINTER));
  PetscCall(PetscFree(leaf));
  PetscCall(PetscSFSetUp(*sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The grids, and the exchanges between them */
static PetscErrorCode Lay(KCycleGhosts *g, Mat P, const KCycleOverlap *ov)
{
  const KCycleTransfer *tr = KCycleTransferOf(P), *all = KCycleTransferOf(ov->P);
  MPI_Comm              comm = PetscObjectComm((PetscObject)P);

  PetscFunctionBegin;
  g->P         = ov->P;
  g->tr        = all;
  g->box       = tr->fine;
  g->coarsebox = tr->coarse;
  for (int d = 0; d < 3; d++) {
    g->low[d]          = ov->low[d];
    g->coarselow[d]    = ov->coarse[d];
    g->ghostrows[d][0] = ov->low[d];
    g->ghostrows[d][1] = all->fine->n[d] - ov->low[d] - tr->fine->n[d];
    g->depth           = PetscMax(g->depth, PetscMax(g->ghostrows[d][0], g->ghostrows[d][1]));
  }
  PetscCall(PetscMalloc1(all->fine->nlines, &g->number));
  PetscCall(CreateExchange(comm, tr->fine, all->fine, ov->low, g->number, &g->fine));
  PetscCall(CreateExchange(comm, tr->coarse, all->coarse, ov->coarse, NULL, &g->coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. The numbers of the ghost points */
static PetscErrorCode Fill(KCycleGhosts *g, Mat A, Mat P, const PetscInt depth[], const KCycleOverlap *ov)
{
  const KCycleTransfer *tr      = KCycleTransferOf(P);
  const KCycleBox      *all     = KCycleTransferOf(ov->P)->fine;
  KCycleGhostSource     entries = {.st = KCycleStencilOf(A), .m = KCycleStencilOf(A)->shape.ncoeffs, .j = -1};
  KCycleGhostSource     weights = {.tr = tr, .m = KC_POINT_WEIGHTS, .j = -1};
  PetscBool             byrule;
  PetscScalar          *halo;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)PetscMax(entries.m, weights.m) * (all->npoints - tr->fine->npoints), &halo));
  PetscCall(KCycleGhostNumbers(P, ov, depth, &entries, halo));
  PetscCall(KCycleOverlapOperator(A, ov, halo, &g->A));
  PetscCall(KCycleWeightsAreByRule(P, A, &byrule));
  if (byrule) PetscCall(KCycleWeightsByRule(P, ov->P, g->A));
  else {
    PetscCall(KCycleGhostNumbers(P, ov, depth, &weights, halo));
    PetscCall(FillWeights(P, ov, halo));
  }
  PetscCall(PetscFree(halo));
  g->st = KCycleStencilOf(g->A);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* None where an odd number of points wraps around: there fine and coarse points do not alternate */
PetscErrorCode KCycleGhostsCreate(Mat A, Mat P, PetscInt depth, KCycleGhosts **ghosts)
{
  const PetscInt   deep[3] = {depth, depth, depth};
  const KCycleBox *box     = KCycleTransferOf(P)->fine;
  KCycleOverlap    ov      = {0};
  KCycleGhosts    *g;

  PetscFunctionBegin;
  *ghosts = NULL;
  for (int d = 0; d < 3; d++) {
    if (box->periodic[d] && box->size[d] % 2) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscNew(&g));
  PetscCall(KCycleOverlapCreate(KCycleTransferOf(P), deep, &ov));
  PetscCall(Lay(g, P, &ov));
  PetscCall(Fill(g, A, P, deep, &ov));
  *ghosts = g;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleGhostsDestroy(KCycleGhosts **ghosts)
{
  PetscFunctionBegin;
  if (!*ghosts) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDestroy(&(*ghosts)->A));
  PetscCall(MatDestroy(&(*ghosts)->P));
  PetscCall(PetscSFDestroy(&(*ghosts)->fine));
  PetscCall(PetscSFDestroy(&(*ghosts)->coarse));
  PetscCall(PetscFree((*ghosts)->number));
  PetscCall(PetscFree(*ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}
