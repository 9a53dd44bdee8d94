/*
  The Galerkin product P^T A P of a stencil and an interpolation, again a stencil (3, 9, 15 or 27 points), or that
  product collapsed to a star.

  One coarse line at a time: the fine lines that touch it, with their weights as restriction, times what their rows of A
  P are on the nine coarse lines around. All loops run along coarse points; fine points that coincide with coarse ones
  and those between are worked on split, so that the index of each array differs from that of the loop by a constant.
*/
#include "mattransfer.h"

#define LINES_AROUND 9
#define FINE_AROUND  25

/* What coarse line depends on; two lines that agree have the same product */
typedef struct {
  PetscInt set[LINES_AROUND], weights[FINE_AROUND * 4];
} Signature;

/* Rows of A P of a fine line, on the coarse lines around (J, K) */
typedef struct {
  PetscInt     line, J, K;
  PetscScalar *ap; /* [points that coincide, points between][offset: coarse line around, x - 1, x, x + 1][-1 to n] */
  PetscBool    used[2][27];
} Rows;

typedef struct {
  const KCycleStencil  *st; /* fine */
  const KCycleTransfer *tr;
  Mat                   A;
  const KCycleOverlap  *ov;
  PetscInt              n, pad; /* coarse points of a line; n + 2 */
  KCycleSplitLines      split;
  Rows                  rows[KC_NEAR * KC_NEAR]; /* of the fine lines that were needed last */
  PetscScalar          *out;                     /* [offset][-1 to n] */
  PetscBool             fill;                    /* empty rows get a diagonal */
  int                   low, end;                /* the offsets that the grid has */
  /* those from this on are worked out: of a symmetric product only the diagonal and those after it */
  int                   first;
} Product;

static PetscErrorCode ProductCreate(Mat A, Mat P, const KCycleOverlap *ov, Product *pr)
{
  size_t   length;
  PetscInt places;

  PetscFunctionBegin;
  pr->A     = A;
  pr->ov    = ov;
  pr->st    = KCycleStencilOf(A);
  pr->tr    = KCycleTransferOf(P);
  pr->n     = pr->tr->coarse->n[0];
  pr->pad   = pr->n + 2;
  pr->first = pr->low = KCycleOffsetsFirst(pr->st->box->dim);
  pr->end             = 27 - pr->low;
  places              = KCycleNearLines(pr->st->box);
  length              = (size_t)(pr->end - pr->low) * pr->pad;
  PetscCall(KCycleSplitLinesCreate(A, pr->tr, &pr->split));
  PetscCall(PetscMalloc2(2 * places * length, &pr->rows[0].ap, length, &pr->out));
  for (PetscInt i = 0; i < places; i++) {
    pr->rows[i].line = -1;
    pr->rows[i].ap   = pr->rows[0].ap + 2 * i * length;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProductDestroy(Product *pr)
{
  PetscFunctionBegin;
  PetscCall(KCycleSplitLinesDestroy(&pr->split));
  PetscCall(PetscFree2(pr->rows[0].ap, pr->out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscScalar *OutOf(const Product *pr, int offset)
{
  return pr->out + (offset - pr->low) * pr->pad;
}

/* Coefficient a times the row of P of the fine points that lie "to" away from the coinciding ones, on one coarse
   line: columns x - 1, x, x + 1 */
static void TimesRow(const Product *pr, const PetscScalar *a, const PetscScalar *w, int to, KCycleTerms column[3])
{
  const PetscScalar *same = KCycleWeightsSame(w), *left = KCycleWeightsLeft(w, pr->n),
                    *right = KCycleWeightsRight(w, pr->n);

  if (pr->tr->factor[0] == 1) KCycleTermsAdd(&column[to + 1], a, same + to);
  else if (to == 0 || to == 2) KCycleTermsAdd(&column[1 + to / 2], a, same + to / 2);
  else {
    KCycleTermsAdd(&column[(to + 1) / 2], a, left + (to - 1) / 2);
    KCycleTermsAdd(&column[(to + 3) / 2], a, right + (to - 1) / 2);
  }
}

/* The terms of the rows of a fine line: for points that coincide with coarse ones, and for those between */
static void TermsOfAP(const Product *pr, const PetscScalar *const c[], PetscInt j, PetscInt k, const Rows *rows,
                      KCycleTerms column[][27])
{
  const KCycleShape *shape = &pr->st->shape;
  const KCycleBox   *box   = pr->st->box;
  KCycleTouch        touch;

  for (int i = pr->first / 3 * 3; i < pr->end; i++) column[0][i].m = column[1][i].m = 0;
  for (int o = 0, end; o < shape->ncoeffs; o = end) {
    const int      line = shape->line[o];
    const PetscInt jj = j + shape->dy[line], kk = k + shape->dz[line];

    for (end = o + 1; end < shape->ncoeffs && shape->line[end] == line; end++)
      ;
    if (box->offset[KCycleBoxExtended(box, jj, kk)] == 0) continue;
    KCycleTransferTouch(pr->tr, jj, kk, &touch);
    for (PetscInt q = 0; q < touch.count; q++) {
      const PetscInt l = (touch.j[q] - rows->J + 1) + 3 * (touch.k[q] - rows->K + 1);

      if (!touch.w[q] || 3 * l + 2 < pr->first) continue;
      for (int x = 0; x < pr->tr->factor[0]; x++) {
        for (int p = o; p < end; p++)
          TimesRow(pr, c[x] + p * pr->pad + 1 - x, touch.w[q] - x, x + shape->dx[p], &column[x][3 * l]);
      }
    }
  }
}

/* The rows; the first point between lies before the first coarse one */
static void RowsOfAP(const Product *pr, const PetscScalar *const c[], PetscInt j, PetscInt k, Rows *rows)
{
  KCycleTerms column[2][27];

  TermsOfAP(pr, c, j, k, rows, column);
  for (int x = 0; x < 2; x++) {
    for (int i = pr->first; i < pr->end; i++) {
      rows->used[x][i] = (PetscBool)(column[x][i].m > 0);
      if (rows->used[x][i])
        KCycleSumOfProducts(&column[x][i], pr->n + x, PETSC_FALSE,
                            rows->ap + ((pr->end - pr->low) * x + i - pr->low) * pr->pad + 1 - x);
    }
  }
}

/* All of a fine line. On an odd number of lines two coarse lines meet, and the second finds what the first has
   worked out */
static Rows *GetRows(Product *pr, PetscInt j, PetscInt k, PetscInt J, PetscInt K)
{
  const PetscInt     line = j + pr->st->box->n[1] * k;
  Rows              *rows = &pr->rows[j % KC_NEAR + KC_NEAR * (k % KC_NEAR)];
  const PetscScalar *c[2];

  if (rows->line == line && rows->K == K && (rows->J == J || rows->J == J - 1)) return rows;
  rows->line = line;
  rows->J    = J;
  rows->K    = K;
  KCycleSplitLinesGet(&pr->split, j, k, c);
  RowsOfAP(pr, c, j, k, rows);
  return rows;
}

/* out += weights times rows of A P; out is that of coarse line J */
static void TimesColumn(Product *pr, const Rows *rows, PetscInt J, const PetscScalar *w)
{
  const PetscScalar *same = KCycleWeightsSame(w), *left = KCycleWeightsLeft(w, pr->n),
                    *right = KCycleWeightsRight(w, pr->n);
  const int ahead          = (int)(J - rows->J); /* of the line in whose numbering rows are kept */

  for (int i = pr->first; i < pr->end; i++) {
    const int          from = i + 3 * ahead;
    const PetscScalar *ap0, *ap1, *next;
    PetscScalar       *out = OutOf(pr, i) + 1;
    KCycleTerms        terms;

    if (i / 3 % 3 + ahead > 2) continue;
    ap0     = rows->ap + (from - pr->low) * pr->pad + 1;
    ap1     = ap0 + (pr->end - pr->low) * pr->pad;
    next    = ap1 + pr->pad;
    terms.m = 0;
    if (rows->used[0][from]) KCycleTermsAdd(&terms, ap0, same);
    if (rows->used[1][from]) KCycleTermsAdd(&terms, ap1, left);
    if (i % 3 < 2 && rows->used[1][from + 1]) KCycleTermsAdd(&terms, next - 1, right - 1);
    KCycleSumOfProducts(&terms, pr->n, PETSC_TRUE, out);
  }
}

/* Coarse points that take no corrections (stored Dirichlet points) have empty rows: their diagonal is that of
   their fine points */
void KCycleProductFillEmpty(const KCycleStencil *st, const KCycleTransfer *tr, PetscInt J, PetscInt K,
                            PetscScalar *diagonal)
{
  const PetscInt     n = tr->coarse->n[0], j = tr->factor[1] * J + tr->shift[1], k = tr->factor[2] * K + tr->shift[2];
  const PetscScalar *w;
  KCycleLine         l;

  if (J < 0 || J >= tr->coarse->n[1] || K < 0 || K >= tr->coarse->n[2]) return;
  w = KCycleTransferWeights(tr, KCycleTransferSets(tr, KCycleBoxExtended(tr->fine, j, k))[0]);
  KCycleLineCoefficients(st, j, k, &l);
  for (PetscInt i = 0; i < n; i++) {
    if (!w || KCycleWeightsSame(w)[i] == (PetscScalar)0.0)
      diagonal[i] = KCycleLineCoefficient(&l, st->shape.ncoeffs / 2, tr->factor[0] * i + tr->shift[0]);
  }
}

/* Coarse line (J, K): coefficients in the order of 27 offsets, from pr->first on */
static PetscErrorCode ProductLine(Product *pr, PetscInt J, PetscInt K)
{
  const KCycleTransfer *tr  = pr->tr;
  const KCycleBox      *box = tr->fine;
  const PetscInt fj = tr->factor[1] * J + tr->shift[1], fk = tr->factor[2] * K + tr->shift[2], ry = tr->factor[1] - 1,
                 rz = tr->factor[2] - 1;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(OutOf(pr, pr->first), (pr->end - pr->first) * pr->pad));
  for (PetscInt k = PetscMax(0, fk - rz); k <= PetscMin(box->n[2] - 1, fk + rz); k++) {
    for (PetscInt j = PetscMax(0, fj - ry); j <= PetscMin(box->n[1] - 1, fj + ry); j++) {
      KCycleTouch        touch;
      const PetscScalar *w = NULL;

      KCycleTransferTouch(tr, j, k, &touch);
      for (PetscInt q = 0; q < touch.count; q++) w = touch.j[q] == J && touch.k[q] == K ? touch.w[q] : w;
      if (w) TimesColumn(pr, GetRows(pr, j, k, J, K), J, w);
    }
  }
  if (pr->fill) KCycleProductFillEmpty(pr->st, tr, J, K, OutOf(pr, 13) + 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All that ProductLine() reads; set[0] is -2 if the line cannot be the same as another */
static void Sign(const Product *pr, PetscInt J, PetscInt K, Signature *s)
{
  const KCycleTransfer *tr  = pr->tr;
  const KCycleBox      *box = tr->fine;
  const PetscInt fj = tr->factor[1] * J + tr->shift[1], fk = tr->factor[2] * K + tr->shift[2], ry = tr->factor[1] - 1,
                 rz = tr->factor[2] - 1;
  int nsets = 0, nweights = 0;

  memset(s, -1, sizeof(*s));
  for (PetscInt k = fk - 2; k <= fk + 2; k++) {
    for (PetscInt j = fj - 2; j <= fj + 2; j++) {
      const PetscBool near  = (PetscBool)(PetscAbs(j - fj) <= ry && PetscAbs(k - fk) <= rz),
                      owned = (PetscBool)(j >= 0 && j < box->n[1] && k >= 0 && k < box->n[2]);

      if (near) s->set[nsets++] = owned ? KCycleClassOf(pr->st, j, k) : -3;
      if (near && owned && KCycleClassOf(pr->st, j, k) < 0) s->set[0] = -2;
      if (j >= -box->reach[1] && j < box->n[1] + box->reach[1] && k >= -box->reach[2] && k < box->n[2] + box->reach[2])
        memcpy(&s->weights[nweights], KCycleTransferSets(tr, KCycleBoxExtended(box, j, k)), 4 * sizeof(*s->weights));
      nweights += 4;
      if (s->set[0] == -2) return;
    }
  }
}

/* The line before, or the one in the plane before, if it depends on the same; else -1. signs: of the last lines, one
   for each place in a plane */
static PetscInt LineAlike(const KCycleBox *box, PetscInt line, const Signature *now, const Signature signs[])
{
  const PetscInt J = line % box->n[1];

  if (now->set[0] == -2) return -1;
  if (J && !memcmp(now, &signs[J - 1], sizeof(*now))) return line - 1;
  return line >= box->n[1] && !memcmp(now, &signs[J], sizeof(*now)) ? line - box->n[1] : -1;
}

/* Where a direction wraps around to the point itself its couplings belong to the diagonal, which smoothers divide by */
void KCycleProductFold(const KCycleShape *shape, const KCycleBox *box, PetscScalar *values)
{
  for (int i = 0; i < 27; i++) {
    const int o = shape->find[i], d[3] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
    int       to = 13;

    for (int k = 0, index = 1; k < 3; k++, index *= 3) to += box->periodic[k] && box->size[k] == 1 ? 0 : index * d[k];
    if (o < 0 || to == i) continue;
    for (PetscInt x = 0; x < box->n[0]; x++) {
      values[shape->find[to] * box->n[0] + x] += values[o * box->n[0] + x];
      values[o * box->n[0] + x] = 0;
    }
  }
}

/* The owned coarse lines, in order */
static PetscErrorCode ProductToBox(Product *pr, Mat Ac, PetscBool half, PetscBool *same)
{
  const KCycleStencil *sc    = KCycleStencilOf(Ac);
  const KCycleShape   *shape = &sc->shape;
  const KCycleBox     *box   = sc->box;
  const PetscInt       n     = box->n[0];
  Signature           *signs, now;
  PetscScalar         *values;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(box->n[1], &signs));
  PetscCall(PetscMalloc1(shape->ncoeffs * n, &values));
  PetscCall(MatStencilStoreBegin(Ac, half));
  *same = PETSC_TRUE;
  for (PetscInt line = 0; line < box->nlines && *same; line++) {
    const PetscInt J = line % box->n[1] + pr->ov->coarse[1], K = line / box->n[1] + pr->ov->coarse[2];
    PetscInt       alike;

    Sign(pr, J, K, &now);
    alike = LineAlike(box, line, &now, signs);
    if (alike >= 0 && KCycleClassOfLine(sc, alike) >= 0) PetscCall(MatStencilStoreSame(Ac, line, alike));
    else {
      PetscCall(ProductLine(pr, J, K));
      for (int i = pr->first; i < pr->end; i++) {
        if (shape->find[i] >= 0)
          PetscCall(PetscArraycpy(values + shape->find[i] * n, OutOf(pr, i) + 1 + pr->ov->coarse[0], n));
      }
      if (pr->first == 13) MatStencilMirrorLine(sc, line, values);
      KCycleProductFold(shape, box, values);
      PetscCall(MatStencilStoreLine(Ac, line, values, same));
    }
    signs[line % box->n[1]] = now;
  }
  PetscCall(PetscFree(signs));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collapsed to a star: which coarse lines have their own products */
static PetscErrorCode ProductToStar(Product *pr, Mat Ac)
{
  const KCycleBox *box   = pr->tr->coarse;
  KCycleStarLines  lines = {1, NULL, NULL};
  Signature       *signs, now;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(box->n[1], &signs));
  PetscCall(PetscCalloc2(box->nextended, &lines.product, box->nextended, &lines.mine));
  for (PetscInt line = 0; line < box->nlines; line++) {
    const PetscInt J = line % box->n[1], K = line / box->n[1], e = KCycleBoxExtended(box, J, K);
    PetscInt       alike;

    Sign(pr, J, K, &now);
    alike         = LineAlike(box, line, &now, signs);
    signs[J]      = now;
    lines.mine[e] = (PetscBool)(alike < 0);
    lines.product[e] =
        alike < 0 ? lines.count++ : lines.product[KCycleBoxExtended(box, alike % box->n[1], alike / box->n[1])];
  }
  PetscCall(PetscFree(signs));
  PetscCall(KCycleStarStore(pr->A, pr->tr, pr->ov, pr->fill, &lines, Ac));
  PetscCall(PetscFree2(lines.product, lines.mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The shape of P^T A P: a star that is coarsened in one direction becomes a prism along it, and stays one as long as
   that direction is coarsened */
static int ProductShape(const KCycleShape *shape, const KCycleTransfer *tr)
{
  int prism = KC_BOX, n = 0;

  for (int d = 0; d < 3; d++) {
    if (tr->factor[d] == 1) continue;
    prism = KC_PRISM_X + d;
    n++;
  }
  if (shape->flat && tr->factor[2] == 1) return KC_BOX | KC_FLAT;
  return tr->fine->dim == 3 && n == 1 && (!shape->box || shape->box == prism) ? prism : KC_BOX;
}

/* Of the star that it collapses to */
static int StarShape(const KCycleShape *shape, const KCycleTransfer *tr)
{
  return tr->factor[2] == 1 ? shape->flat : 0;
}

/* The shape of Ac. A product may have more places than it needs, a star may not */
static void CoarseShape(const KCycleShape *shape, const KCycleTransfer *tr, PetscBool star, KCycleShape *coarse)
{
  const PetscInt dim = tr->coarse->dim;

  KCycleShapeCreate(dim, star && dim > 1 ? StarShape(shape, tr) : ProductShape(shape, tr), coarse);
}

static PetscBool Fits(const KCycleShape *wanted, PetscBool star, const KCycleShape *has)
{
  if (!star) return KCycleShapeHas(has, wanted);
  return (PetscBool)(KCycleShapeKind(wanted) == KCycleShapeKind(has));
}

/* Can Ac, which was made before, hold the operator that MatStencilCoarsen() makes now, or is it of another shape? */
PetscBool MatStencilCoarseFits(Mat A, Mat P, PetscBool star, Mat Ac)
{
  KCycleShape wanted;

  CoarseShape(&KCycleStencilOf(A)->shape, KCycleTransferOf(P), star, &wanted);
  return Fits(&wanted, star, &KCycleStencilOf(Ac)->shape);
}

/*
  Ac = P^T A P on the coarse grid of P, from the overlap of P and of A, Q and B. star: collapsed to a star whose
  couplings in each direction are the sums over the directions across, with the same row sums; exact for functions of
  one coordinate. fill: coarse points that take no corrections get a diagonal. Ac is made if it is NULL, else its values
  are replaced, and its shape where the product has couplings that this has not.
*/
PetscErrorCode KCycleGalerkin(Mat Q, Mat B, Mat P, PetscBool star, PetscBool fill, Mat *Ac)
{
  Mat_StencilTransfer *p    = (Mat_StencilTransfer *)P->data;
  PetscBool            same = PETSC_FALSE, symmetric;
  Product              pr;
  KCycleShape          shape;

  PetscFunctionBegin;
  if (p->t.coarse->dim == 1) star = PETSC_FALSE;
  CoarseShape(&KCycleStencilOf(B)->shape, &p->t, star, &shape);
  if (!*Ac) PetscCall(MatStencilCreateOnDM(p->coarsedm, KCycleShapeKind(&shape), Ac));
  else if (!Fits(&shape, star, &KCycleStencilOf(*Ac)->shape)) PetscCall(MatStencilSetShape(*Ac, &shape));
  MatStencilExpectRounding(*Ac, KC_PRODUCT_ROUNDING);
  PetscCall(ProductCreate(B, Q, &p->overlap, &pr));
  pr.fill = fill;
  if (star) PetscCall(ProductToStar(&pr, *Ac));
  else {
    PetscCall(MatStencilIsSymmetric(B, &symmetric));
    if (symmetric && Q == P) pr.first = 13;
    for (int half = 1; half >= 0 && !same; half--) PetscCall(ProductToBox(&pr, *Ac, (PetscBool)half, &same));
  }
  PetscCall(ProductDestroy(&pr));
  PetscCall(MatStencilStoreEnd(*Ac));
  PetscCall(MatAssemblyBegin(*Ac, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*Ac, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscObjectStateIncrease((PetscObject)*Ac));
  if (pr.first == 13) PetscCall(MatStencilSetSymmetric(*Ac, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for weights that exist already */
PetscErrorCode MatStencilGalerkin(Mat A, Mat P, PetscBool star, PetscBool fill, Mat *Ac)
{
  Mat Q, B;

  PetscFunctionBegin;
  PetscCall(KCycleOverlapGet(P, A, &Q, &B));
  PetscCall(KCycleGalerkin(Q, B, P, star, fill, Ac));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}
