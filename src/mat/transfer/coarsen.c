/*
  Coarser levels of a stencil matrix: weights, by rule or from the operator, and Galerkin products, on the overlap of a
  process.
*/
#include "mattransfer.h"

/* m: 0 where c is zero, else 1. Are there zeros? */
KC_VERSIONS static PetscBool AreNotZero(PetscInt n, const PetscScalar *KC_RESTRICT c, PetscScalar *KC_RESTRICT m)
{
  PetscInt64 zeros = 0;

  for (PetscInt i = 0; i < n; i++) {
    m[i] = c[i] == (PetscScalar)0.0 ? 0 : 1;
    zeros |= c[i] == (PetscScalar)0.0 ? 1 : 0;
  }
  return (PetscBool)(zeros != 0);
}

static PetscErrorCode MaskLines(Mat A, KCycleMask *mask)
{
  const KCycleStencil *st  = KCycleStencilOf(A);
  const KCycleBox     *box = st->box;
  const PetscInt       n   = box->n[0];
  PetscScalar         *m;
  PetscInt             last = -1, before = -1; /* the last line, and its mask */
  PetscBool            inside;                 /* points between the ends that may be coupled to nobody */
  KCycleSets           sets;
  KCycleLine           l;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(box->nextended, &mask->set));
  for (PetscInt e = 0; e < box->nextended; e++) mask->set[e] = -1;
  mask->length = n + 2;
  PetscCall(KCycleSetsBegin(n + 2, box->nextended, &mask->pool, &sets));
  PetscCall(PetscCalloc1(n + 2, &m));
  for (PetscInt line = 0; line < box->nlines; line++) {
    PetscInt *set = &mask->set[KCycleBoxExtended(box, line % box->n[1], line / box->n[1])];

    if (line % box->n[1] && MatStencilLineIsLast(st, line, last)) {
      *set = set[-1];
      continue;
    }
    last = line;
    MatStencilLineArrays(st, line, &l);
    inside = (PetscBool)(n > 2 && AreNotZero(n - 2, l.c[st->shape.ncoeffs - 1] + 1, m + 2));
    m[1] = m[n] = 0;
    /* most points are coupled to the first one that is asked for */
    for (PetscInt i = 0; i < n; i += inside ? 1 : PetscMax(n - 1, 1)) {
      for (int o = 0; o < st->shape.ncoeffs && m[i + 1] == (PetscScalar)0.0; o++)
        m[i + 1] = o != st->shape.ncoeffs / 2 && KCycleLineCoefficient(&l, o, i) != (PetscScalar)0.0;
    }
    if (before < 0 || memcmp(mask->pool.v + (size_t)before * (size_t)mask->length, m, (size_t)(n + 2) * sizeof(*m)))
      PetscCall(KCycleSetsKeep(&sets, m, &before));
    *set = before;
  }
  PetscCall(KCycleSetsEnd(&sets));
  PetscCall(PetscFree(m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The weights that are kept, but for points that are masked, which take no corrections */
static PetscErrorCode MaskWeights(KCycleWeights *ws)
{
  const KCycleTransfer *tr  = ws->tr;
  const KCycleBox      *box = tr->fine;
  const PetscInt        n = tr->coarse->n[0], f = tr->factor[0];
  KCyclePool            all = tr->weights;
  KCycleTouch           touch;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&ws->tr->weights, sizeof(all)));
  PetscCall(KCycleSetsBegin(tr->stride, box->nextended, &ws->tr->weights, ws->sets));
  for (PetscInt line = 0; line < box->nlines; line++) {
    const PetscInt     j = line % box->n[1], k = line / box->n[1], e = KCycleBoxExtended(box, j, k);
    const PetscScalar *mask = KCycleMaskOf(ws->mask, e);

    KCycleTransferTouch(tr, j, k, &touch);
    PetscCall(PetscArrayzero(ws->temp, touch.count * tr->stride));
    for (PetscInt q = 0; q < touch.count; q++) {
      const PetscInt set  = KCycleTransferSets(tr, e)[q];
      PetscScalar   *same = ws->temp + q * tr->stride + 1, *left = same + n + 2, *right = left + n + 1;

      if (set < 0) continue;
      PetscCall(PetscArraycpy(same - 1, all.v + (PetscInt64)set * tr->stride, tr->stride));
      for (PetscInt i = 0; i < n; i++) same[i] *= mask[f * i + tr->shift[0]];
      for (PetscInt i = -1; i < n && f == 2; i++) {
        const PetscInt at = 2 * i + 1 + tr->shift[0];

        if (at < 0 || at >= box->n[0]) continue;
        left[i] *= mask[at];
        right[i] *= mask[at];
      }
    }
    PetscCall(KCycleWeightsStore(ws, j, k, &touch));
  }
  PetscCall(KCycleSetsEnd(ws->sets));
  PetscCall(KCyclePoolDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Weights by rule or from an operator on the grids of one process */
static PetscErrorCode SetWeights(KCycleWeights *ws, Mat P, Mat A)
{
  PetscFunctionBegin;
  PetscCall(KCycleWeightsBegin(P, ws->interpolation, ws->sets));
  if (ws->interpolation == PC_KCYCLE_INTERPOLATION_OPERATOR) PetscCall(KCycleOperatorWeights(ws, A));
  else PetscCall(KCycleRuleWeights(ws));
  PetscCall(KCycleWeightsEnd(P, ws->sets));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do the weights of P follow from boundaries of the operator as it is now? */
PetscErrorCode KCycleWeightsAreByRule(Mat P, Mat A, PetscBool *are)
{
  const Mat_StencilTransfer *p = (Mat_StencilTransfer *)P->data;
  PetscObjectId              id;
  PetscObjectState           state;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)A, &id));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  *are = (PetscBool)(p->byrule && p->operator_id == id && p->operator_state == state);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps what they follow from */
static PetscErrorCode KeepRule(Mat P, Mat A, const KCycleWeights *ws, PetscBool alone)
{
  Mat_StencilTransfer *p = (Mat_StencilTransfer *)P->data;

  PetscFunctionBegin;
  p->byrule = (PetscBool)(!alone && ws->interpolation != PC_KCYCLE_INTERPOLATION_OPERATOR);
  PetscCall(PetscArraycpy(p->neumann, ws->neumann, 6));
  PetscCall(PetscObjectGetId((PetscObject)A, &p->operator_id));
  PetscCall(PetscObjectStateGet((PetscObject)A, &p->operator_state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Weights of Q that follow the same rule as those of P, with an operator B on its fine grid */
PetscErrorCode KCycleWeightsByRule(Mat P, Mat Q, Mat B)
{
  const Mat_StencilTransfer *p = (Mat_StencilTransfer *)P->data;
  KCycleSets                 sets;
  KCycleWeights              ws = {.tr            = &((Mat_StencilTransfer *)Q->data)->t,
                                   .sets          = &sets,
                                   .interpolation = p->interpolation,
                                   .neumann       = p->neumann,
                                   .P             = P,
                                   .st            = KCycleStencilOf(B)};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)4 * ws.tr->stride, &ws.temp));
  PetscCall(SetWeights(&ws, Q, B));
  PetscCall(PetscFree(ws.temp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The weights of P, and, where Ac is asked for, the coarser operator, from Q and B, the overlap of P and the operator.
  Where points that are coupled to nobody have been given couplings the coarser operator has them, and is as large for
  corrections that leave such points alone
*/
static PetscErrorCode CoarsenOverlap(KCycleWeights *ws, Mat Q, Mat B, PetscBool star, Mat P, Mat *Ac)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)4 * ws->tr->stride, &ws->temp));
  PetscCall(SetWeights(ws, Q, B));
  if (Q != P) KCycleOverlapWrap(P);
  if (Ac) PetscCall(KCycleGalerkin(Q, B, P, star, PETSC_TRUE, Ac));
  if (ws->filled) PetscCall(MaskWeights(ws));
  if (Q != P) {
    PetscCall(KCycleWeightsBegin(P, ws->interpolation, ws->sets));
    PetscCall(KCycleOverlapCopyWeights(P, ws->sets, ws->temp));
    PetscCall(KCycleWeightsEnd(P, ws->sets));
  }
  PetscCall(PetscFree(ws->temp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The weights of P, and, where Ac is asked for, the coarser operator, see MatStencilGalerkin(). neumann: through which
  boundaries of the grid no flux leaves, low and high of each direction; A: the operator on the fine grid
*/
PetscErrorCode MatStencilCoarsen(Mat A, PCKCycleInterpolationType interpolation, const PetscBool neumann[],
                                 PetscBool star, Mat P, Mat *Ac)
{
  const KCycleScan *scan;
  KCycleWeights     ws     = {.interpolation = interpolation, .neumann = neumann};
  KCycleMask        mask   = {0};
  Mat               filled = NULL, Q, B, C;
  KCycleSets        sets;

  PetscFunctionBegin;
  PetscCall(MatStencilScan(A, &scan));
  PetscCall(KCycleOverlapGet(P, A, &Q, &B));
  ws.tr   = &((Mat_StencilTransfer *)Q->data)->t;
  ws.P    = P;
  ws.sets = &sets;
  if (scan->isolated) {
    PetscCall(MaskLines(B, &mask));
    ws.mask = &mask;
  }
  if (scan->isolated && scan->cuts && interpolation == PC_KCYCLE_INTERPOLATION_OPERATOR)
    PetscCall(MatStencilFillIsolated(A, &filled));
  ws.filled = ((Mat_StencilTransfer *)P->data)->filled = (PetscBool)(filled != NULL);
  PetscCall(KeepRule(P, A, &ws, scan->isolated));
  for (int S = 0; S < 8; S++) ws.along[S] = KCyclePolicyLineWeights(scan, ws.tr->factor, S);
  ws.gaps = (PetscBool)(scan->jump * KCYCLE_GAP > 1);
  if (filled) {
    PetscCall(KCycleOverlapGet(P, filled, &Q, &C));
    PetscCall(MatDestroy(&B));
    B = C;
  }
  ws.st = KCycleStencilOf(B);
  PetscCall(CoarsenOverlap(&ws, Q, B, star, P, Ac));
  PetscCall(KCyclePoolDestroy(&mask.pool));
  PetscCall(PetscFree(mask.set));
  PetscCall(MatDestroy(&filled));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}
