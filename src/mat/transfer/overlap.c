/*
  What a process owns of a level with the points that are at most two further, as a level of one process: there the
  weights and the rows of the coarser operator that the process owns are worked out without its neighbours, from
  coefficients that are exchanged once.

  Two points suffice where a direction is coarsened, and one where it is not: a fine point next to the owned ones that
  belongs to an owned coarse point lies between two, and the next one is a coarse point.

  Where a periodic direction has an odd number of points, coarse points 0 and -1 are neighbours on the fine grid. In the
  overlap the point beyond that end is there twice, where a point between two coarse ones is expected, and as the coarse
  point: the first of the two takes the value of the second.
*/
#include "mattransfer.h"

static PetscErrorCode CreateGrid(PetscInt dim, const PetscInt n[], DM *dm)
{
  PetscFunctionBegin;
  PetscCall(DMDACreate(PETSC_COMM_SELF, dm));
  PetscCall(DMSetDimension(*dm, dim));
  PetscCall(DMDASetSizes(*dm, n[0], n[1], n[2]));
  PetscCall(DMDASetNumProcs(*dm, 1, 1, 1));
  PetscCall(DMDASetDof(*dm, 1));
  PetscCall(DMDASetStencilType(*dm, DMDA_STENCIL_BOX));
  PetscCall(DMDASetStencilWidth(*dm, 1));
  PetscCall(DMDASetOwnershipRanges(*dm, &n[0], &n[1], &n[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The two grids of an overlap that is so deep, and the interpolation between them, without weights yet */
PetscErrorCode KCycleOverlapCreate(const KCycleTransfer *tr, const PetscInt deep[], KCycleOverlap *ov)
{
  const KCycleBox *box = tr->fine;
  PetscInt         n[3], nc[3], origin[3];
  DM               fine, coarse;

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) {
    const PetscInt f = tr->factor[d], depth = d < box->dim ? deep[d] : 0;
    const PetscInt high = box->periodic[d] ? depth : PetscMin(depth, box->size[d] - box->start[d] - box->n[d]);

    ov->low[d]    = box->periodic[d] ? depth : PetscMin(depth, box->start[d]);
    ov->coarse[d] = (tr->shift[d] + ov->low[d]) / f;
    origin[d]     = tr->shift[d] + ov->low[d] - f * ov->coarse[d];
    n[d]          = ov->low[d] + box->n[d] + high;
    for (int side = 0; side < 2; side++)
      ov->wraps[d][side] = (PetscBool)(box->periodic[d] && f == 2 && box->size[d] % 2 == 1 &&
                                       (side ? box->start[d] + box->n[d] == box->size[d] : box->start[d] == 0));
    nc[d] = (n[d] - origin[d] + f - 1) / f;
  }
  PetscCall(CreateGrid(box->dim, n, &fine));
  PetscCall(CreateGrid(box->dim, nc, &coarse));
  PetscCall(MatStencilTransferCreate(fine, coarse, tr->factor, origin, &ov->P));
  PetscCall(DMDestroy(&fine));
  PetscCall(DMDestroy(&coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What has come for points that are not owned */
static void CopyBeyond(const KCycleOverlap *ov, const KCycleBox *box, const KCycleBox *all, const PetscScalar *halo,
                       KCycleLineWeights *al)
{
  for (PetscInt line = 0; line < all->nlines; line++) {
    const PetscInt  j = line % all->n[1] - ov->low[1], k = line / all->n[1] - ov->low[2];
    const PetscBool owned = (PetscBool)(j >= 0 && j < box->n[1] && k >= 0 && k < box->n[2]);
    PetscInt        row;
    const PetscBool has = KCycleLineWeightsLine(al, line % all->n[1], line / all->n[1], &row);

    for (PetscInt i = 0; i < all->n[0]; i++) {
      const PetscInt at = has ? KCycleLineWeightsIndex(al, i) : -1;

      if (owned && i >= ov->low[0] && i < ov->low[0] + box->n[0]) continue;
      for (int t = 0; at >= 0 && t < al->m; t++) al->w[t * al->npoints + row + at] = halo[t];
      halo += al->m;
    }
  }
}

/* Collective. Weights of points of some kind, known at owned points, for points of the overlap next to these */
PetscErrorCode KCycleOverlapExchange(Mat P, KCycleLineWeights *al)
{
  Mat_StencilTransfer *p      = (Mat_StencilTransfer *)P->data;
  const KCycleOverlap *ov     = &p->overlap;
  KCycleGhostSource    source = {.al = al, .low = ov->low, .m = al->m, .j = -1};
  const KCycleBox     *all;
  PetscScalar         *halo;

  PetscFunctionBegin;
  if (!ov->P) PetscFunctionReturn(PETSC_SUCCESS);
  all = KCycleTransferOf(ov->P)->fine;
  PetscCall(PetscMalloc1((size_t)al->m * (all->npoints - p->t.fine->npoints), &halo));
  PetscCall(KCycleGhostNumbers(P, ov, p->t.factor, &source, halo));
  CopyBeyond(ov, p->t.fine, all, halo, al);
  PetscCall(PetscFree(halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n points from the halo, after those of a line that are there */
static void FromHalo(int nc, PetscInt width, PetscInt first, PetscInt end, const PetscScalar **halo,
                     PetscScalar *values)
{
  for (PetscInt i = first; i < end; i++) {
    for (int o = 0; o < nc; o++) values[o * width + i] = *(*halo)++;
  }
}

/* The operator of the overlap, B, while it is made of A and of what comes from others */
typedef struct {
  Mat                  A, B;
  const KCycleOverlap *ov;
  const PetscScalar   *halo;         /* that is next */
  PetscScalar         *own, *values; /* a line of A, and of B */
} Fill;

/* Line "to" of B that is owned in part, as a line of A. It shares the coefficients of the line before where that does
   so there, and where the points next to them agree */
static PetscErrorCode OwnedLine(Fill *f, PetscInt line, PetscInt to, PetscBool *same)
{
  const KCycleStencil *st = KCycleStencilOf(f->A), *sb = KCycleStencilOf(f->B);
  const int            nc = st->shape.ncoeffs;
  const PetscInt       n = st->box->n[0], width = sb->box->n[0], beside = nc * (width - n), low = f->ov->low[0];

  PetscFunctionBegin;
  if (line % st->box->n[1] && MatStencilLineIsLast(st, line, line - 1) && KCycleClassOfLine(sb, to - 1) >= 0 &&
      !memcmp(f->halo, f->halo - beside, beside * sizeof(*f->halo))) {
    PetscCall(MatStencilStoreSame(f->B, to, to - 1));
    f->halo += beside;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatStencilGetLine(f->A, line, f->own));
  FromHalo(nc, width, 0, low, &f->halo, f->values);
  for (int o = 0; o < nc; o++) PetscCall(PetscArraycpy(f->values + o * width + low, f->own + o * n, n));
  FromHalo(nc, width, low + n, width, &f->halo, f->values);
  PetscCall(MatStencilStoreLine(f->B, to, f->values, same));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All lines of the overlap; others' lines keep what they say of points beyond it */
static PetscErrorCode FillMatrix(Mat A, const KCycleOverlap *ov, const PetscScalar *halo, Mat B, PetscBool half,
                                 PetscBool *same)
{
  const KCycleStencil *st  = KCycleStencilOf(A);
  const KCycleBox     *box = st->box, *all = KCycleStencilOf(B)->box;
  Fill                 f = {A, B, ov, halo, NULL, NULL};

  PetscFunctionBegin;
  *same = PETSC_TRUE;
  PetscCall(PetscMalloc2(st->shape.ncoeffs * box->n[0], &f.own, st->shape.ncoeffs * all->n[0], &f.values));
  PetscCall(MatStencilStoreBegin(B, half));
  for (PetscInt to = 0; to < all->nlines && *same; to++) {
    const PetscInt j = to % all->n[1] - ov->low[1], k = to / all->n[1] - ov->low[2];

    if (j >= 0 && j < box->n[1] && k >= 0 && k < box->n[2]) PetscCall(OwnedLine(&f, j + box->n[1] * k, to, same));
    else {
      FromHalo(st->shape.ncoeffs, all->n[0], 0, all->n[0], &f.halo, f.values);
      PetscCall(MatStencilStoreWhole(B, to, f.values));
    }
  }
  PetscCall(PetscFree2(f.own, f.values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator on an overlap, of A and the coefficients of the points that are not owned, point by point */
PetscErrorCode KCycleOverlapOperator(Mat A, const KCycleOverlap *ov, const PetscScalar *halo, Mat *B)
{
  const KCycleStencil *st   = KCycleStencilOf(A);
  PetscBool            same = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatStencilCreateOnDM(((Mat_StencilTransfer *)ov->P->data)->finedm, KCycleShapeKind(&st->shape), B));
  MatStencilExpectRounding(*B, KC_PRODUCT_ROUNDING);
  for (int half = st->half; half >= 0 && !same; half--) PetscCall(FillMatrix(A, ov, halo, *B, (PetscBool)half, &same));
  PetscCall(MatStencilStoreEnd(*B));
  PetscCall(PetscObjectStateIncrease((PetscObject)*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. The interpolation P and an operator A on its fine grid, of the overlap; Q belongs to P, B to the
   caller. Where a process has no neighbours the overlap is the level itself */
PetscErrorCode KCycleOverlapGet(Mat P, Mat A, Mat *Q, Mat *B)
{
  const KCycleTransfer *tr     = KCycleTransferOf(P);
  KCycleOverlap        *ov     = &((Mat_StencilTransfer *)P->data)->overlap;
  KCycleGhostSource     source = {.st = KCycleStencilOf(A), .m = KCycleStencilOf(A)->shape.ncoeffs, .j = -1};
  PetscScalar          *halo;

  PetscFunctionBegin;
  if (!ov->P && KCycleBoxTalks(tr->fine)) PetscCall(KCycleOverlapCreate(tr, tr->factor, ov));
  if (!ov->P) {
    *Q = P;
    *B = A;
    PetscCall(PetscObjectReference((PetscObject)A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *Q = ov->P;
  PetscCall(PetscMalloc1((size_t)source.m * (KCycleTransferOf(ov->P)->fine->npoints - tr->fine->npoints), &halo));
  PetscCall(KCycleGhostNumbers(P, ov, tr->factor, &source, halo));
  PetscCall(KCycleOverlapOperator(A, ov, halo, B));
  PetscCall(PetscFree(halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The points between that a wrapped side has in place of coarse ones take the values of these */
static void PutWrapped(const KCycleOverlap *ov, const KCycleTransfer *to)
{
  const PetscInt n = to->coarse->n[0], m = n - 2;

  for (PetscInt64 at = 0; at < to->weights.used; at += to->stride) {
    PetscScalar *same = to->weights.v + at + 1, *left = same + n + 2, *right = left + n + 1;

    if (ov->wraps[0][0]) {
      left[0]  = same[0];
      right[0] = 0;
    }
    if (ov->wraps[0][1]) {
      left[m]  = 0;
      right[m] = same[n - 1];
    }
  }
}

/* The same of whole lines */
static void PutLines(const KCycleOverlap *ov, const KCycleTransfer *to)
{
  const KCycleBox *box = to->fine;

  for (int d = 1; d < 3; d++) {
    for (int side = 0; side < 2; side++) {
      const PetscInt index = side ? box->n[d] - 2 : 1, step = side ? 1 : -1;

      for (PetscInt i = 0; i < box->n[3 - d] && ov->wraps[d][side]; i++) {
        const PetscInt j = d == 1 ? index : i, k = d == 1 ? i : index, jj = d == 1 ? j + step : j,
                       kk    = d == 1 ? k : k + step;
        PetscInt       *set  = KCycleTransferSets(to, KCycleBoxExtended(box, j, k));
        const PetscInt *from = KCycleTransferSets(to, KCycleBoxExtended(box, jj, kk));
        KCycleTouch     touch, there;

        KCycleTransferTouch(to, j, k, &touch);
        KCycleTransferTouch(to, jj, kk, &there);
        for (PetscInt q = 0; q < touch.count; q++) {
          set[q] = -1;
          for (PetscInt s = 0; s < there.count; s++) {
            if (touch.j[q] == there.j[s] && touch.k[q] == there.k[s]) set[q] = from[s];
          }
        }
      }
    }
  }
}

/* Where directions wrap around the weights of the overlap of P are made those that the Galerkin product needs */
void KCycleOverlapWrap(Mat P)
{
  const KCycleOverlap *ov = &((Mat_StencilTransfer *)P->data)->overlap;

  PutWrapped(ov, KCycleTransferOf(ov->P));
  PutLines(ov, KCycleTransferOf(ov->P));
}

/* Weights of one line on one coarse line, without those of points further away */
static void CutWeights(const KCycleTransfer *tr, const KCycleTransfer *from, PetscInt low, const PetscScalar *w,
                       PetscScalar *to)
{
  const PetscInt n = tr->coarse->n[0], m = from->coarse->n[0];

  for (PetscInt i = -1; i <= n; i++) {
    const PetscInt at = i + low;

    to[1 + i] = at >= -1 && at <= m ? KCycleWeightsSame(w)[at] : 0;
    if (i == n) break;
    to[n + 3 + i]     = at >= -1 && at < m ? KCycleWeightsLeft(w, m)[at] : 0;
    to[2 * n + 4 + i] = at >= -1 && at < m ? KCycleWeightsRight(w, m)[at] : 0;
  }
}

/* The weights of P from those of its overlap, of which each line may be the same as two lines before */
PetscErrorCode KCycleOverlapCopyWeights(Mat P, KCycleSets *sets, PetscScalar *temp)
{
  Mat_StencilTransfer  *p  = (Mat_StencilTransfer *)P->data;
  const KCycleTransfer *tr = &p->t, *from = KCycleTransferOf(p->overlap.P);
  const KCycleBox      *box = tr->fine;
  const PetscInt       *low = p->overlap.low;

  PetscFunctionBegin;
  for (PetscInt k = -box->reach[2]; k < box->n[2] + box->reach[2]; k++) {
    for (PetscInt j = -box->reach[1]; j < box->n[1] + box->reach[1]; j++) {
      const PetscInt  e     = KCycleBoxExtended(box, j, k);
      const PetscInt *there = KCycleTransferSets(from, KCycleBoxExtended(from->fine, j + low[1], k + low[2]));
      PetscInt       *set   = KCycleTransferSets(tr, e);

      for (PetscInt q = 0; q < 4 && box->offset[e]; q++) {
        if (there[q] < 0) continue;
        if (j + box->reach[1] >= 2 && there[q - 8] == there[q]) {
          set[q] = set[q - 8];
          continue;
        }
        CutWeights(tr, from, p->overlap.coarse[0], KCycleTransferWeights(from, there[q]), temp);
        PetscCall(KCycleSetsKeep(sets, temp, &set[q]));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
