/*
  MATSTENCILTRANSFER: interpolation between two DMDA grids, and restriction as its transpose, without indices.
*/
#include "mattransfer.h"

const char *const KCycleInterpolations[] = {"auto", "linear", "simplex", "constant", "operator", "KCycleInterpolation", "KCYCLE_INTERPOLATION_", NULL};

PetscErrorCode MatStencilTransferIs(Mat P, PetscBool *is)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)P, MATSTENCILTRANSFER, is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt FloorHalf(PetscInt i)
{
  return i >= 0 ? i / 2 : -((1 - i) / 2);
}

const KCycleTransfer *KCycleTransferOf(Mat P)
{
  return &((Mat_StencilTransfer *)P->data)->t;
}

/* The coarse lines that fine line (j, k) touches, in the numbering of the owned boxes, halo lines included */
void KCycleTransferTouch(const KCycleTransfer *tr, PetscInt j, PetscInt k, KCycleTouch *touch)
{
  const PetscInt fine[2] = {j, k}, e = KCycleBoxExtended(tr->fine, j, k);
  PetscInt       low[2], count[2];

  for (int d = 0; d < 2; d++) {
    const PetscInt away = fine[d] - tr->shift[d + 1];

    low[d]   = tr->factor[d + 1] == 1 ? away : FloorHalf(away);
    count[d] = tr->factor[d + 1] == 1 || 2 * low[d] == away ? 1 : 2;
  }
  touch->count = 0;
  for (PetscInt kk = 0; kk < count[1]; kk++) {
    for (PetscInt jj = 0; jj < count[0]; jj++) {
      const PetscInt q = touch->count++;

      touch->j[q] = low[0] + jj;
      touch->k[q] = low[1] + kk;
      touch->w[q] = tr->weights[4 * e + q];
    }
  }
}

/* The first coarse line at fine line j or behind it */
static PetscInt CoarseFrom(const KCycleTransfer *tr, PetscInt j)
{
  return tr->factor[1] == 1 ? j - tr->shift[1] : FloorHalf(j - tr->shift[1] + 1);
}

/*
  Restriction adds several fine lines to one coarse line. So each thread has a share of the coarse lines, in y, and takes all fine lines that these
  touch: what is between the shares of two threads is read by both. Of fine lines low to high - 1, threads share out of which first and end are this thread's
*/
void KCycleTransferShare(const KCycleTransfer *tr, PetscInt low, PetscInt high, KCycleTransferLines *lines)
{
  const PetscInt factor = tr->factor[1], shift = tr->shift[1];
  const int      me = KCycleThread();

  lines->low[1] = lines->low[0] = -PETSC_INT_MAX;
  lines->high[1] = lines->high[0] = PETSC_INT_MAX;
  if (me > 0) {
    lines->low[1] = CoarseFrom(tr, KCycleShareStart(low, high, me));
    lines->low[0] = factor * lines->low[1] + shift - (factor - 1);
  }
  if (me < KCycleTeam() - 1) {
    lines->high[1] = CoarseFrom(tr, KCycleShareStart(low, high, me + 1));
    lines->high[0] = factor * (lines->high[1] - 1) + shift + factor;
  }
}

/* Which points between coarse ones this process owns: the one before its first coarse point, the one behind its last */
static void OwnedBetween(const KCycleTransfer *tr, PetscBool *before, PetscBool *behind)
{
  *before = (PetscBool)(tr->shift[0] > 0);
  *behind = (PetscBool)(2 * (tr->coarse->n[0] - 1) + tr->shift[0] + 1 < tr->fine->n[0]);
}

/* Points 2 I and 2 I + 1 of x (x starts at the first coarse point) from one coarse line */
KC_VERSIONS static void AddPairs(PetscInt n, const PetscScalar *same, const PetscScalar *left, const PetscScalar *right, const PetscScalar *e, PetscScalar *KC_RESTRICT x)
{
  for (PetscInt i = 0; i < n; i++) {
    x[2 * i] += same[i] * e[i];
    x[2 * i + 1] += left[i] * e[i] + right[i] * e[i + 1];
  }
}

KC_VERSIONS static void RestrictPairs(PetscInt n, const PetscScalar *same, const PetscScalar *left, const PetscScalar *right, const PetscScalar *KC_RESTRICT r,
                                      PetscScalar *KC_RESTRICT b)
{
  for (PetscInt i = 0; i < n; i++) b[i] += right[i - 1] * r[2 * i - 1] + same[i] * r[2 * i] + left[i] * r[2 * i + 1];
}

/* x += P e on one fine line, from coarse line e with the points before and behind it */
static void InterpolateFromLine(const KCycleTransfer *tr, const PetscScalar *w, const PetscScalar *e, PetscScalar before, PetscScalar behind, PetscScalar *x)
{
  const PetscInt     n = tr->coarse->n[0], shift = tr->shift[0];
  const PetscScalar *same = KCycleWeightsSame(w), *left = KCycleWeightsLeft(w, n), *right = KCycleWeightsRight(w, n);
  PetscBool          first, last;

  if (tr->factor[0] == 1) {
    for (PetscInt i = 0; i < n; i++) x[i] += same[i] * e[i];
    return;
  }
  OwnedBetween(tr, &first, &last);
  if (first) x[0] += left[-1] * before + right[-1] * e[0];
  AddPairs(n - 1, same, left, right, e, x + shift);
  x[2 * (n - 1) + shift] += same[n - 1] * e[n - 1];
  if (last) x[2 * (n - 1) + shift + 1] += left[n - 1] * e[n - 1] + right[n - 1] * behind;
}

/* Fine line (j, k) of x = P e or x += P e; halo lines of e are in tr->halo */
void KCycleTransferInterpolateLine(const KCycleTransfer *tr, const PetscScalar *e, PetscInt j, PetscInt k, PetscBool add, PetscScalar *x)
{
  const KCycleBox *box = tr->coarse;
  KCycleTouch      touch;

  if (!add) {
    for (PetscInt i = 0; i < tr->fine->n[0]; i++) x[i] = 0;
  }
  KCycleTransferTouch(tr, j, k, &touch);
  for (PetscInt q = 0; q < touch.count; q++) {
    const PetscInt f = KCycleBoxExtended(box, touch.j[q], touch.k[q]);

    if (!touch.w[q] || box->slot[f] == 0) continue;
    InterpolateFromLine(tr, touch.w[q], KCycleBoxLine(box, e, tr->halo, touch.j[q], touch.k[q]), box->ends ? tr->halo[box->left + f] : 0, box->ends ? tr->halo[box->right + f] : 0,
                        x);
  }
}

/* b += P^T r of one fine line; before and behind: the coarse points there, which other processes may own */
static void RestrictToLine(const KCycleTransfer *tr, const PetscScalar *w, const PetscScalar *r, PetscScalar *before, PetscScalar *behind, PetscScalar *b)
{
  const PetscInt     n = tr->coarse->n[0], shift = tr->shift[0];
  const PetscScalar *same = KCycleWeightsSame(w), *left = KCycleWeightsLeft(w, n), *right = KCycleWeightsRight(w, n);
  PetscBool          first, last;

  if (tr->factor[0] == 1) {
    for (PetscInt i = 0; i < n; i++) b[i] += same[i] * r[i];
    return;
  }
  OwnedBetween(tr, &first, &last);
  r += shift;
  if (first) {
    *before += left[-1] * r[-1];
    b[0] += right[-1] * r[-1];
  }
  if (last) {
    *behind += right[n - 1] * r[2 * n - 1];
    b[n - 1] += left[n - 1] * r[2 * n - 1];
  }
  if (n == 1) {
    b[0] += same[0] * r[0];
    return;
  }
  b[0] += same[0] * r[0] + left[0] * r[1];
  RestrictPairs(n - 2, same + 1, left + 1, right + 1, r + 2, b + 1);
  b[n - 1] += right[n - 2] * r[2 * n - 3] + same[n - 1] * r[2 * n - 2];
}

/* Adds what fine line (j, k) of r gives to the given coarse lines of b = P^T r; shares of other processes' points gather in tr->halo */
void KCycleTransferRestrictLine(const KCycleTransfer *tr, const PetscScalar *r, PetscInt j, PetscInt k, const KCycleTransferLines *lines, PetscScalar *b)
{
  const KCycleBox *box        = tr->coarse;
  PetscScalar      nowhere[2] = {0, 0};
  KCycleTouch      touch;

  KCycleTransferTouch(tr, j, k, &touch);
  for (PetscInt q = 0; q < touch.count; q++) {
    const PetscInt f = KCycleBoxExtended(box, touch.j[q], touch.k[q]);

    if (!touch.w[q] || box->slot[f] == 0 || touch.j[q] < lines->low[1] || touch.j[q] >= lines->high[1]) continue;
    RestrictToLine(tr, touch.w[q], r, box->ends ? &tr->halo[box->left + f] : &nowhere[0], box->ends ? &tr->halo[box->right + f] : &nowhere[1],
                   (PetscScalar *)KCycleBoxLine(box, b, tr->halo, touch.j[q], touch.k[q]));
  }
}

KC_VERSIONS static void AddSame(PetscInt n, const PetscScalar *w, const PetscScalar *e, PetscScalar *KC_RESTRICT x)
{
  for (PetscInt i = 0; i < n; i++) x[i] += w[i] * e[i];
}

KC_VERSIONS static void AddBetween(PetscInt n, const PetscScalar *left, const PetscScalar *right, const PetscScalar *e, PetscScalar *KC_RESTRICT x)
{
  for (PetscInt i = 0; i < n; i++) x[i] += left[i] * e[i] + right[i] * e[i + 1];
}

KC_VERSIONS static void RestrictBetween(PetscInt n, const PetscScalar *left, const PetscScalar *right, const PetscScalar *r, PetscScalar *KC_RESTRICT b)
{
  for (PetscInt i = 0; i < n; i++) b[i] += right[i - 1] * r[i - 1] + left[i] * r[i];
}

/* The same for the points of one parity of a line, which lie side by side. Lines do not reach other processes, nor wrap around */
static void InterpolateHalfFromLine(const KCycleTransfer *tr, const PetscScalar *w, const PetscScalar *e, PetscInt parity, PetscScalar *x)
{
  const PetscInt     n = tr->coarse->n[0], shift = tr->shift[0];
  const PetscScalar *same = KCycleWeightsSame(w), *left = KCycleWeightsLeft(w, n), *right = KCycleWeightsRight(w, n);
  PetscBool          first, last;

  if (tr->factor[0] == 1) {
    for (PetscInt i = parity; i < n; i += 2) x[i / 2] += same[i] * e[i];
  } else if (parity == shift) AddSame(n, same, e, x);
  else {
    OwnedBetween(tr, &first, &last);
    if (first) x[0] += right[-1] * e[0];
    AddBetween(n - 1, left, right, e, x + shift);
    if (last) x[n - 1 + shift] += left[n - 1] * e[n - 1];
  }
}

static void RestrictHalfToLine(const KCycleTransfer *tr, const PetscScalar *w, const PetscScalar *r, PetscInt parity, PetscScalar *b)
{
  const PetscInt     n = tr->coarse->n[0], shift = tr->shift[0];
  const PetscScalar *same = KCycleWeightsSame(w), *left = KCycleWeightsLeft(w, n), *right = KCycleWeightsRight(w, n);
  PetscBool          first, last;

  if (tr->factor[0] == 1) {
    for (PetscInt i = parity; i < n; i += 2) b[i] += same[i] * r[i / 2];
  } else if (parity == shift) AddSame(n, same, r, b);
  else {
    OwnedBetween(tr, &first, &last);
    r += shift;
    if (first) b[0] += right[-1] * r[-1];
    if (last) b[n - 1] += left[n - 1] * r[n - 1];
    if (n == 1) return;
    b[0] += left[0] * r[0];
    RestrictBetween(n - 2, left + 1, right + 1, r + 1, b + 1);
    b[n - 1] += right[n - 2] * r[n - 2];
  }
}

void KCycleTransferInterpolateHalf(const KCycleTransfer *tr, const PetscScalar *e, PetscInt parity, PetscInt j, PetscInt k, PetscScalar *x)
{
  const KCycleBox *box = tr->coarse;
  KCycleTouch      touch;

  KCycleTransferTouch(tr, j, k, &touch);
  for (PetscInt q = 0; q < touch.count; q++) {
    if (!touch.w[q] || box->slot[KCycleBoxExtended(box, touch.j[q], touch.k[q])] == 0) continue;
    InterpolateHalfFromLine(tr, touch.w[q], KCycleBoxLine(box, e, tr->halo, touch.j[q], touch.k[q]), parity, x);
  }
}

void KCycleTransferRestrictHalf(const KCycleTransfer *tr, const PetscScalar *r, PetscInt parity, PetscInt j, PetscInt k, const KCycleTransferLines *lines, PetscScalar *b)
{
  const KCycleBox *box = tr->coarse;
  KCycleTouch      touch;

  KCycleTransferTouch(tr, j, k, &touch);
  for (PetscInt q = 0; q < touch.count; q++) {
    if (!touch.w[q] || box->slot[KCycleBoxExtended(box, touch.j[q], touch.k[q])] == 0 || touch.j[q] < lines->low[1] || touch.j[q] >= lines->high[1]) continue;
    RestrictHalfToLine(tr, touch.w[q], r, parity, (PetscScalar *)KCycleBoxLine(box, b, tr->halo, touch.j[q], touch.k[q]));
  }
}

static void InterpolateShare(const KCycleTransfer *tr, const PetscScalar *e, PetscBool add, PetscScalar *x)
{
  const KCycleBox *box = tr->fine;
  PetscInt         first, end;

  KCycleShare(0, box->nlines, &first, &end);
  for (PetscInt line = first; line < end; line++) KCycleTransferInterpolateLine(tr, e, line % box->n[1], line / box->n[1], add, x + box->n[0] * line);
}

static void RestrictShare(const KCycleTransfer *tr, const PetscScalar *r, PetscScalar *b)
{
  const KCycleBox    *box = tr->fine;
  KCycleTransferLines lines;

  KCycleTransferShare(tr, 0, box->n[1], &lines);
  for (PetscInt k = 0; k < box->n[2]; k++) {
    for (PetscInt j = PetscMax(0, lines.low[0]); j < PetscMin(box->n[1], lines.high[0]); j++) {
      KCycleTransferRestrictLine(tr, r + box->n[0] * (j + box->n[1] * k), j, k, &lines, b);
    }
  }
}

static PetscErrorCode Interpolate(Mat P, Vec e, Vec x, PetscBool add)
{
  const KCycleTransfer *tr  = KCycleTransferOf(P);
  const KCycleBox      *box = tr->fine;
  const PetscScalar    *ea;
  PetscScalar          *xa;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(e, &ea));
  PetscCall(VecGetArray(x, &xa));
  PetscCall(KCycleBoxExchange(tr->coarse, PETSC_TRUE, ea, tr->halo));
  KC_PARALLEL(box->npoints)
  InterpolateShare(tr, ea, add, xa);
  PetscCall(VecRestoreArray(x, &xa));
  PetscCall(VecRestoreArrayRead(e, &ea));
  PetscCall(PetscLogFlops(4.0 * box->npoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_StencilTransfer(Mat P, Vec e, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Interpolate(P, e, x, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultAdd_StencilTransfer(Mat P, Vec e, Vec y, Vec x)
{
  PetscFunctionBegin;
  if (x != y) PetscCall(VecCopy(y, x));
  PetscCall(Interpolate(P, e, x, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before fine lines are restricted into b, which holds what they are added to */
PetscErrorCode MatStencilTransferRestrictBegin(Mat P, PetscScalar *b)
{
  const KCycleTransfer *tr = KCycleTransferOf(P);

  PetscFunctionBegin;
  (void)b;
  PetscCall(PetscArrayzero(tr->halo, tr->coarse->nhalo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After it: the shares of other processes go to them; lines outside the grid are zero again */
PetscErrorCode MatStencilTransferRestrictEnd(Mat P, PetscScalar *b)
{
  const KCycleTransfer *tr = KCycleTransferOf(P);

  PetscFunctionBegin;
  if (!KCycleBoxTalks(tr->coarse)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleBoxReduce(tr->coarse, tr->halo, b));
  PetscCall(PetscArrayzero(tr->halo, tr->coarse->nhalo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Restrict(Mat P, Vec r, Vec b)
{
  const KCycleTransfer *tr  = KCycleTransferOf(P);
  const KCycleBox      *box = tr->fine;
  const PetscScalar    *ra;
  PetscScalar          *ba;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(r, &ra));
  PetscCall(VecGetArray(b, &ba));
  PetscCall(MatStencilTransferRestrictBegin(P, ba));
  KC_PARALLEL(box->npoints)
  RestrictShare(tr, ra, ba);
  PetscCall(MatStencilTransferRestrictEnd(P, ba));
  PetscCall(VecRestoreArray(b, &ba));
  PetscCall(VecRestoreArrayRead(r, &ra));
  PetscCall(PetscLogFlops(4.0 * box->npoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTranspose_StencilTransfer(Mat P, Vec r, Vec b)
{
  PetscFunctionBegin;
  PetscCall(VecSet(b, 0));
  PetscCall(Restrict(P, r, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTransposeAdd_StencilTransfer(Mat P, Vec r, Vec c, Vec b)
{
  PetscFunctionBegin;
  if (b != c) PetscCall(VecCopy(c, b));
  PetscCall(Restrict(P, r, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_StencilTransfer(Mat P)
{
  Mat_StencilTransfer *p = (Mat_StencilTransfer *)P->data;

  PetscFunctionBegin;
  PetscCall(MatStencilTransferResetWeights(P));
  PetscCall(PetscFree(p->t.weights));
  PetscCall(PetscFree(p->t.halo));
  PetscCall(PetscFree(p->t.line));
  PetscCall(PetscObjectComposeFunction((PetscObject)P, "MatProductSetFromOptions_stencil_stenciltransfer_C", NULL));
  PetscCall(DMDestroy(&p->finedm));
  PetscCall(DMDestroy(&p->coarsedm));
  PetscCall(PetscFree(P->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetInfo_StencilTransfer(Mat P, MatInfoType type, MatInfo *info)
{
  const KCycleTransfer *tr = KCycleTransferOf(P);
  PetscReal             local, all;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(info, sizeof(*info)));
  info->block_size = 1;
  local = all = sizeof(PetscScalar) * ((PetscReal)tr->nsets * tr->stride + tr->coarse->nhalo) + 4.0 * sizeof(void *) * tr->fine->nextended;
  if (type == MAT_GLOBAL_SUM) PetscCallMPI(MPI_Allreduce(&local, &all, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)P)));
  if (type == MAT_GLOBAL_MAX) PetscCallMPI(MPI_Allreduce(&local, &all, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)P)));
  info->memory = all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatView_StencilTransfer(Mat P, PetscViewer viewer)
{
  const KCycleTransfer *tr = KCycleTransferOf(P);
  MatInfo               info;
  PetscBool             ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetInfo_StencilTransfer(P, MAT_GLOBAL_SUM, &info));
  PetscCall(PetscViewerASCIIPrintf(viewer, "%s interpolation, factors %" PetscInt_FMT " %" PetscInt_FMT " %" PetscInt_FMT ", %.0f bytes\n", KCycleInterpolations[tr->interpolation],
                                   tr->factor[0], tr->factor[1], tr->factor[2], (double)info.memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  MATSTENCILTRANSFER - "stenciltransfer" - Interpolation from a coarse to a fine `DMDA`, without indices; its transpose is the restriction.

  Level: intermediate

  Notes:
  `PCKCYCLE` makes these matrices for its structured levels (`-pc_kcycle_structured`). Rows belong to the fine grid, columns to the coarse one, which may
  have any size; each direction is coarsened by a factor of two or not at all.

  Weights that repeat from line to line are stored once. `MatPtAP()` of a `MATSTENCIL` and such a matrix is a `MATSTENCIL`.

.seealso: `PCKCYCLE`, `MATSTENCIL`, `KCycleInterpolation`
M*/
PetscErrorCode MatCreate_StencilTransfer(Mat P)
{
  Mat_StencilTransfer *p;

  PetscFunctionBegin;
  PetscCall(PetscNew(&p));
  P->data                  = (void *)p;
  P->ops->mult             = MatMult_StencilTransfer;
  P->ops->multadd          = MatMultAdd_StencilTransfer;
  P->ops->multtranspose    = MatMultTranspose_StencilTransfer;
  P->ops->multtransposeadd = MatMultTransposeAdd_StencilTransfer;
  P->ops->destroy          = MatDestroy_StencilTransfer;
  P->ops->getinfo          = MatGetInfo_StencilTransfer;
  P->ops->view             = MatView_StencilTransfer;
  PetscCall(PetscObjectComposeFunction((PetscObject)P, "MatProductSetFromOptions_stencil_stenciltransfer_C", MatProductSetFromOptions_Stencil_StencilTransfer));
  PetscCall(PetscObjectChangeTypeName((PetscObject)P, MATSTENCILTRANSFER));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An interpolation without weights yet. Each process owns the coarse points whose fine points it owns, and at least one */
PetscErrorCode MatStencilTransferCreate(DM fine, DM coarse, const PetscInt factor[], const PetscInt first[], Mat *P)
{
  Mat_StencilTransfer *p;
  KCycleTransfer      *tr;

  PetscFunctionBegin;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)fine), P));
  PetscCall(MatSetType(*P, MATSTENCILTRANSFER));
  p  = (Mat_StencilTransfer *)(*P)->data;
  tr = &p->t;
  PetscCall(KCycleBoxGet(fine, &tr->fine));
  PetscCall(KCycleBoxGet(coarse, &tr->coarse));
  PetscCall(PetscObjectReference((PetscObject)fine));
  PetscCall(PetscObjectReference((PetscObject)coarse));
  p->finedm   = fine;
  p->coarsedm = coarse;
  for (PetscInt d = 0; d < 3; d++) {
    tr->factor[d] = factor[d];
    tr->first[d]  = first[d];
    tr->shift[d]  = factor[d] * tr->coarse->start[d] + first[d] - tr->fine->start[d];
    PetscCheck(factor[d] * tr->coarse->n[d] + tr->shift[d] >= tr->fine->n[d] - 1 && tr->shift[d] >= 0 && tr->shift[d] <= 1 &&
                   (tr->coarse->n[d] - 1) * factor[d] + tr->shift[d] < tr->fine->n[d],
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "Coarse points are not where their fine points are");
  }
  tr->stride = 3 * tr->coarse->n[0] + 4;
  PetscCall(MatSetSizes(*P, tr->fine->npoints, tr->coarse->npoints, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(PetscLayoutSetUp((*P)->rmap));
  PetscCall(PetscLayoutSetUp((*P)->cmap));
  PetscCall(PetscCalloc1(4 * tr->fine->nextended, &tr->weights));
  PetscCall(PetscMalloc1(KCycleThreadsMost() * tr->fine->n[0], &tr->line));
  PetscCall(KCycleBoxHaloCreate(tr->coarse, &tr->halo));
  (*P)->preallocated = (*P)->assembled = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
