/*
  The Galerkin product P^T A P of a stencil and an interpolation, again a stencil (3, 9 or 27 points), or that product collapsed to a star.

  One coarse line at a time: the fine lines that touch it, with their weights as restriction, times what their rows of A P are on the
  nine coarse lines around. All loops run along coarse points; fine points that coincide with coarse ones and those between
  are worked on apart, so that the index of each array differs from that of the loop by a constant.
*/
#include <petsckcycle/private/transferimpl.h>

#define LINES_AROUND 9
#define FINE_AROUND  25

/* What coarse line depends on; two lines that agree have the same product */
typedef struct {
  PetscInt           kind[LINES_AROUND];
  const PetscScalar *weights[FINE_AROUND * 4];
} Signature;

typedef struct {
  Mat_Stencil         *st; /* fine */
  Mat_StencilTransfer *tr;
  Mat                  A;
  PetscInt             n, pad;   /* coarse points of a line; n + 2 */
  PetscScalar         *values;   /* of a fine line */
  PetscScalar         *apart[2]; /* the same, points that coincide and points between: [coefficient][-1 to n] */
  PetscScalar         *ap;       /* [coarse line around][x - 1, x, x + 1][-1 to n] */
  PetscScalar         *out;      /* [27 offsets][-1 to n] */
  PetscBool            used[LINES_AROUND * 3];
  PetscBool            fill; /* empty rows get a diagonal */
} Product;

static PetscErrorCode ProductCreate(Mat A, Mat P, Product *pr)
{
  PetscFunctionBegin;
  pr->A   = A;
  pr->st  = (Mat_Stencil *)A->data;
  pr->tr  = (Mat_StencilTransfer *)P->data;
  pr->n   = pr->tr->coarse->n[0];
  pr->pad = pr->n + 2;
  PetscCall(PetscMalloc1(pr->st->shape.ncoeffs * pr->st->box->n[0], &pr->values));
  PetscCall(PetscMalloc2(KC_MAX_COEFFS * pr->pad, &pr->apart[0], KC_MAX_COEFFS * pr->pad, &pr->apart[1]));
  PetscCall(PetscMalloc2(27 * pr->pad, &pr->ap, 27 * pr->pad, &pr->out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProductDestroy(Product *pr)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(pr->values));
  PetscCall(PetscFree2(pr->apart[0], pr->apart[1]));
  PetscCall(PetscFree2(pr->ap, pr->out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coefficients of fine line (j, k), sorted into points that coincide and points between; those of other processes are zero */
static PetscErrorCode TakeApart(Product *pr, PetscInt j, PetscInt k)
{
  const PetscInt nf = pr->st->box->n[0], f = pr->tr->factor[0], shift = pr->tr->shift[0];

  PetscFunctionBegin;
  PetscCall(MatStencilGetLine(pr->A, j + pr->st->box->n[1] * k, pr->values));
  for (int x = 0; x < f; x++) {
    for (int o = 0; o < pr->st->shape.ncoeffs; o++) {
      PetscScalar *to = pr->apart[x] + o * pr->pad + 1;

      for (PetscInt i = -1; i <= pr->n; i++) {
        const PetscInt at = f * i + shift + x;

        to[i] = i == pr->n || at < 0 || at >= nf ? 0 : pr->values[o * nf + at];
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y += a b, point by point */
KC_VERSIONS static void MultiplyAdd(PetscInt n, const PetscScalar *restrict a, const PetscScalar *restrict b, PetscScalar *restrict y)
{
  for (PetscInt i = 0; i < n; i++) y[i] += a[i] * b[i];
}

/* Where in ap the products with the coarse point x away on coarse line l gather */
static PetscScalar *Gather(Product *pr, PetscInt l, PetscInt x)
{
  PetscScalar *ap = pr->ap + (3 * l + x + 1) * pr->pad + 1;

  if (!pr->used[3 * l + x + 1]) {
    for (PetscInt i = -1; i <= pr->n; i++) ap[i] = 0;
  }
  pr->used[3 * l + x + 1] = PETSC_TRUE;
  return ap;
}

/* Adds coefficient a times the row of P of the fine points that lie "to" away from the coinciding ones, on one coarse line */
static void TimesRow(Product *pr, const PetscScalar *a, const PetscScalar *w, PetscInt to, PetscInt l)
{
  const PetscScalar *same = KCycleWeightsSame(w), *left = KCycleWeightsLeft(w, pr->n), *right = KCycleWeightsRight(w, pr->n);
  PetscScalar       *ap;
  PetscInt           first;

  if (pr->tr->factor[0] == 1 || to == 0 || to == 2) {
    const PetscInt c = pr->tr->factor[0] == 1 ? to : to / 2;

    ap    = Gather(pr, l, c);
    first = PetscMax(-1, -1 - c);
    MultiplyAdd(pr->n - first, a + first, same + first + c, ap + first);
  } else {
    const PetscInt c = to == 1 ? 0 : -1;

    first = -1 - c;
    ap    = Gather(pr, l, c);
    MultiplyAdd(pr->n - first, a + first, left + first + c, ap + first);
    ap = Gather(pr, l, c + 1);
    MultiplyAdd(pr->n - first, a + first, right + first + c, ap + first);
  }
}

/* Rows of A P of the points x of fine line (j, k), on the coarse lines around (J, K) */
static void RowsOfAP(Product *pr, PetscInt j, PetscInt k, int x, PetscInt J, PetscInt K)
{
  const KCycleShape *shape = &pr->st->shape;
  const KCycleBox   *box   = pr->st->box;

  for (int i = 0; i < LINES_AROUND * 3; i++) pr->used[i] = PETSC_FALSE;
  for (int o = 0; o < shape->ncoeffs; o++) {
    const int      line = shape->line[o];
    const PetscInt jj = j + shape->dy[line], kk = k + shape->dz[line];
    KCycleTouch    touch;

    if (box->slot[KCycleBoxExtended(box, jj, kk)] == 0) continue;
    KCycleTransferTouch(pr->tr, jj, kk, &touch);
    for (PetscInt q = 0; q < touch.count; q++) {
      const PetscInt l = (touch.j[q] - J + 1) + 3 * (touch.k[q] - K + 1);

      if (touch.w[q]) TimesRow(pr, pr->apart[x] + o * pr->pad + 1, touch.w[q], x + shape->dx[o], l);
    }
  }
}

/* out += weight times ap, for coarse rows that are "row" further than the loop index */
static void TimesColumn(Product *pr, const PetscScalar *weight, PetscInt row)
{
  for (PetscInt l = 0; l < LINES_AROUND; l++) {
    for (PetscInt x = -1; x <= 1; x++) {
      const PetscInt dx = x - row;

      if (!pr->used[3 * l + x + 1] || dx < -1) continue;
      MultiplyAdd(pr->n + 1, weight - 1, pr->ap + (3 * l + x + 1) * pr->pad, pr->out + (3 * l + dx + 1) * pr->pad + row);
    }
  }
}

/* Coarse points that take no corrections (stored Dirichlet points) have empty rows: they get the diagonal of their fine points */
static PetscErrorCode FillEmptyRows(Product *pr, PetscInt j, PetscInt k)
{
  const PetscInt     nf       = pr->st->box->n[0];
  const PetscScalar *diagonal = pr->values + pr->st->shape.ncoeffs / 2 * nf, *w = pr->tr->weights[4 * KCycleBoxExtended(pr->st->box, j, k)];
  PetscScalar       *out = pr->out + 13 * pr->pad + 1;
  PetscBool          got = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < pr->n; i++) {
    if (w && KCycleWeightsSame(w)[i] != (PetscScalar)0.0) continue;
    if (!got) PetscCall(MatStencilGetLine(pr->A, j + pr->st->box->n[1] * k, pr->values));
    got    = PETSC_TRUE;
    out[i] = diagonal[pr->tr->factor[0] * i + pr->tr->shift[0]];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the owned fine lines give to coarse line (J, K): coefficients for points -1 to n, in the order of 27 offsets */
static PetscErrorCode ProductLine(Product *pr, PetscInt J, PetscInt K)
{
  const Mat_StencilTransfer *tr  = pr->tr;
  const KCycleBox           *box = tr->fine;
  const PetscInt             fj = tr->factor[1] * J + tr->shift[1], fk = tr->factor[2] * K + tr->shift[2], ry = tr->factor[1] - 1, rz = tr->factor[2] - 1;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(pr->out, 27 * pr->pad));
  for (PetscInt k = PetscMax(0, fk - rz); k <= PetscMin(box->n[2] - 1, fk + rz); k++) {
    for (PetscInt j = PetscMax(0, fj - ry); j <= PetscMin(box->n[1] - 1, fj + ry); j++) {
      KCycleTouch        touch;
      const PetscScalar *w = NULL;

      KCycleTransferTouch(tr, j, k, &touch);
      for (PetscInt q = 0; q < touch.count; q++) w = touch.j[q] == J && touch.k[q] == K ? touch.w[q] : w;
      if (!w) continue;
      PetscCall(TakeApart(pr, j, k));
      RowsOfAP(pr, j, k, 0, J, K);
      TimesColumn(pr, KCycleWeightsSame(w), 0);
      if (tr->factor[0] == 1) continue;
      RowsOfAP(pr, j, k, 1, J, K);
      TimesColumn(pr, KCycleWeightsLeft(w, pr->n), 0);
      TimesColumn(pr, KCycleWeightsRight(w, pr->n), 1);
    }
  }
  if (pr->fill && J >= 0 && J < tr->coarse->n[1] && K >= 0 && K < tr->coarse->n[2]) PetscCall(FillEmptyRows(pr, fj, fk));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All that ProductLine() of an owned line reads; kind[0] is -2 if the line cannot be the same as another */
static void Sign(const Product *pr, PetscInt J, PetscInt K, Signature *s)
{
  const Mat_StencilTransfer *tr  = pr->tr;
  const KCycleBox           *box = tr->fine;
  const PetscInt             fj = tr->factor[1] * J + tr->shift[1], fk = tr->factor[2] * K + tr->shift[2], ry = tr->factor[1] - 1, rz = tr->factor[2] - 1;
  int                        nkind = 0, nweights = 0;

  memset(s, 0, sizeof(*s));
  for (PetscInt k = fk - 2; k <= fk + 2; k++) {
    for (PetscInt j = fj - 2; j <= fj + 2; j++) {
      const PetscBool near = (PetscBool)(PetscAbs(j - fj) <= ry && PetscAbs(k - fk) <= rz), owned = (PetscBool)(j >= 0 && j < box->n[1] && k >= 0 && k < box->n[2]);

      if (near) s->kind[nkind++] = owned ? pr->st->kind[j + box->n[1] * k] : -3;
      if (near && owned && pr->st->kind[j + box->n[1] * k] < 0) s->kind[0] = -2;
      if (owned) memcpy(&s->weights[nweights], &tr->weights[4 * KCycleBoxExtended(box, j, k)], 4 * sizeof(*s->weights));
      nweights += 4;
      if (s->kind[0] == -2) return;
    }
  }
}

/* The line before, or the one in the plane before, if it depends on the same; else -1. signs: of the last lines, one for each place in a plane */
static PetscInt LineAlike(const KCycleBox *box, PetscInt line, const Signature *now, const Signature signs[])
{
  const PetscInt J = line % box->n[1];

  if (now->kind[0] == -2) return -1;
  if (J && !memcmp(now, &signs[J - 1], sizeof(*now))) return line - 1;
  return line >= box->n[1] && !memcmp(now, &signs[J], sizeof(*now)) ? line - box->n[1] : -1;
}

/* Coarse lines whose coefficients are complete on this process, in order */
static PetscErrorCode ProductToBox(Product *pr, Mat Ac, PetscBool half, PetscBool *same)
{
  Mat_Stencil       *sc    = (Mat_Stencil *)Ac->data;
  const KCycleShape *shape = &sc->shape;
  const KCycleBox   *box   = sc->box;
  Signature         *signs, now;
  PetscScalar       *values;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(box->n[1], &signs));
  PetscCall(PetscMalloc1(shape->ncoeffs * pr->n, &values));
  PetscCall(MatStencilStoreBegin(Ac, half));
  *same = PETSC_TRUE;
  for (PetscInt line = 0; line < box->nlines && *same; line++) {
    const PetscInt J = line % box->n[1];
    PetscInt       alike;

    Sign(pr, J, line / box->n[1], &now);
    alike = LineAlike(box, line, &now, signs);
    if (alike >= 0 && sc->kind[alike] >= 0) PetscCall(MatStencilStoreSame(Ac, line, alike));
    else {
      PetscCall(ProductLine(pr, J, line / box->n[1]));
      for (int i = 0; i < 27; i++) {
        if (shape->find[i] >= 0) PetscCall(PetscArraycpy(values + shape->find[i] * pr->n, pr->out + i * pr->pad + 1, pr->n));
      }
      PetscCall(MatStencilStoreLine(Ac, line, values, same));
    }
    signs[J] = now;
  }
  PetscCall(PetscFree(signs));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Fields that the product of a line is added to: its coefficients, or, collapsed to a star, for each direction the sums of the coefficients
  that look forward and of those that look back, and last the sum of all.
*/
static PetscInt FieldOf(const KCycleShape *shape, PetscBool star, PetscInt dim, int i, int which)
{
  const int d[3] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};

  if (!star) return which == 0 ? shape->find[i] : -1;
  if (which == 3) return 2 * dim;
  return which < dim && d[which] ? 2 * which + (d[which] > 0 ? 0 : 1) : -1;
}

static void AddToFields(const Product *pr, const KCycleShape *shape, PetscBool star, PetscInt J, PetscInt K, PetscScalar *fields, PetscScalar *halos)
{
  const KCycleBox *box = pr->tr->coarse;
  const PetscInt   e   = KCycleBoxExtended(box, J, K);

  for (int i = 0; i < 27; i++) {
    const PetscScalar *out = pr->out + i * pr->pad + 1;

    for (int which = 0; which < 4; which++) {
      const PetscInt field = FieldOf(shape, star, box->dim, i, which);
      PetscScalar   *halo  = halos + (size_t)field * box->nhalo, *line;

      if (field < 0) continue;
      line = (PetscScalar *)KCycleBoxLine(box, fields + (size_t)field * box->npoints, halo, J, K);
      for (PetscInt x = 0; x < pr->n; x++) line[x] += out[x];
      if (!box->ends) continue;
      halo[box->left + e] += out[-1];
      halo[box->right + e] += out[pr->n];
    }
  }
}

/* Coefficients of a line from the fields of a star: the coupling of two neighbours is the mean of what both say */
static void StarLine(const KCycleShape *shape, const KCycleBox *box, PetscInt line, const PetscScalar *fields, const PetscScalar *halos, PetscScalar *values)
{
  const PetscInt n = box->n[0], j = line % box->n[1], k = line / box->n[1], dim = box->dim, e = KCycleBoxExtended(box, j, k);
  PetscScalar   *diagonal = values + shape->ncoeffs / 2 * n;

  for (PetscInt i = 0; i < n; i++) diagonal[i] = fields[(size_t)2 * dim * box->npoints + line * n + i];
  for (PetscInt d = 0; d < dim; d++) {
    for (int side = 0; side < 2; side++) {
      const PetscInt     step = side ? -1 : 1, to[3] = {d == 0 ? step : 0, d == 1 ? step : 0, d == 2 ? step : 0};
      const PetscScalar *mine = fields + (size_t)(2 * d + side) * box->npoints + line * n, *other = fields + (size_t)(2 * d + 1 - side) * box->npoints;
      const PetscScalar *halo = halos + (size_t)(2 * d + 1 - side) * box->nhalo, *there = KCycleBoxLine(box, other, halo, j + to[1], k + to[2]);
      PetscScalar       *c = values + shape->find[(to[0] + 1) + 3 * (to[1] + 1) + 9 * (to[2] + 1)] * n;

      for (PetscInt i = 0; i < n; i++) {
        const PetscInt    at   = i + to[0];
        const PetscScalar says = at < 0 ? (box->ends ? halo[box->left + e] : 0) : at >= n ? (box->ends ? halo[box->right + e] : 0) : there[at];

        c[i] = 0.5 * (mine[i] + says);
        diagonal[i] -= c[i];
      }
    }
  }
}

/* Where a direction wraps around to the point itself its couplings belong to the diagonal, which smoothers divide by */
static void FoldSelf(const KCycleShape *shape, const KCycleBox *box, PetscScalar *values)
{
  for (int i = 0; i < 27; i++) {
    const int o = shape->find[i], d[3] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
    int       to = 13;

    for (int k = 0, place = 1; k < 3; k++, place *= 3) to += box->periodic[k] && box->size[k] == 1 ? 0 : place * d[k];
    if (o < 0 || to == i) continue;
    for (PetscInt x = 0; x < box->n[0]; x++) {
      values[shape->find[to] * box->n[0] + x] += values[o * box->n[0] + x];
      values[o * box->n[0] + x] = 0;
    }
  }
}

static PetscErrorCode FieldsToMat(Mat Ac, PetscBool star, const PetscScalar *fields, const PetscScalar *halos, PetscBool half, PetscBool *same)
{
  Mat_Stencil     *sc  = (Mat_Stencil *)Ac->data;
  const KCycleBox *box = sc->box;
  const PetscInt   n   = box->n[0];
  PetscScalar     *values;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(sc->shape.ncoeffs * n, &values));
  PetscCall(MatStencilStoreBegin(Ac, half));
  *same = PETSC_TRUE;
  for (PetscInt line = 0; line < box->nlines && *same; line++) {
    if (star) StarLine(&sc->shape, box, line, fields, halos, values);
    else {
      for (int o = 0; o < sc->shape.ncoeffs; o++) PetscCall(PetscArraycpy(values + o * n, fields + (size_t)o * box->npoints + line * n, n));
    }
    FoldSelf(&sc->shape, box, values);
    PetscCall(MatStencilStoreLine(Ac, line, values, same));
  }
  PetscCall(PetscFree(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A line whose product is that of an earlier one */
static void CopyFields(const KCycleBox *box, PetscInt nfields, PetscInt line, PetscInt from, PetscScalar *fields)
{
  for (PetscInt f = 0; f < nfields; f++) {
    PetscScalar *field = fields + (size_t)f * box->npoints;

    memcpy(field + line * box->n[0], field + from * box->n[0], box->n[0] * sizeof(*field));
  }
}

/* Lines that are complete on this process */
static PetscErrorCode FillFields(Product *pr, const KCycleShape *shape, PetscBool star, PetscInt nfields, PetscScalar *fields, PetscScalar *halos)
{
  const KCycleBox *box = pr->tr->coarse;
  Signature       *signs, now;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(box->n[1], &signs));
  for (PetscInt line = 0; line < box->nlines; line++) {
    const PetscInt J = line % box->n[1], K = line / box->n[1];
    PetscInt       alike;

    Sign(pr, J, K, &now);
    alike = LineAlike(box, line, &now, signs);
    if (alike >= 0) CopyFields(box, nfields, line, alike, fields);
    else {
      PetscCall(ProductLine(pr, J, K));
      AddToFields(pr, shape, star, J, K, fields, halos);
    }
    signs[J] = now;
  }
  PetscCall(PetscFree(signs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines that several processes add to, or that wrap around */
static PetscErrorCode GatherFields(Product *pr, const KCycleShape *shape, PetscBool star, PetscInt nfields, PetscScalar *fields, PetscScalar *halos)
{
  const KCycleBox *box = pr->tr->coarse;

  PetscFunctionBegin;
  for (PetscInt K = -box->reach[2]; K < box->n[2] + box->reach[2]; K++) {
    for (PetscInt J = -box->reach[1]; J < box->n[1] + box->reach[1]; J++) {
      if (box->slot[KCycleBoxExtended(box, J, K)] == 0) continue;
      PetscCall(ProductLine(pr, J, K));
      AddToFields(pr, shape, star, J, K, fields, halos);
    }
  }
  for (PetscInt f = 0; f < nfields; f++) {
    PetscScalar *halo = halos + (size_t)f * box->nhalo, *field = fields + (size_t)f * box->npoints;

    PetscCall(KCycleBoxReduce(box, halo, field));
    PetscCall(PetscArrayzero(halo, box->nhalo));
    PetscCall(KCycleBoxExchange(box, PETSC_FALSE, field, halo));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Through fields: neighbours add to each other's lines, or the product is collapsed */
static PetscErrorCode ProductToFields(Product *pr, Mat Ac, PetscBool star)
{
  Mat_Stencil     *sc      = (Mat_Stencil *)Ac->data;
  const KCycleBox *box     = sc->box;
  const PetscInt   nfields = star ? 2 * box->dim + 1 : sc->shape.ncoeffs;
  PetscScalar     *fields, *halos;
  PetscBool        same = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscCalloc2((size_t)nfields * box->npoints, &fields, (size_t)nfields * box->nhalo, &halos));
  if (KCycleBoxTalks(box)) PetscCall(GatherFields(pr, &sc->shape, star, nfields, fields, halos));
  else PetscCall(FillFields(pr, &sc->shape, star, nfields, fields, halos));
  for (int half = 1; half >= 0 && !same; half--) PetscCall(FieldsToMat(Ac, star, fields, halos, (PetscBool)half, &same));
  PetscCall(PetscFree2(fields, halos));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Ac = P^T A P on the coarse grid of P. star: collapsed to a star whose couplings in each direction are the sums over the directions across, with
  the same row sums; exact for functions of one coordinate. fill: coarse points that take no corrections get a diagonal. Ac is made if it is NULL, else
  its values are replaced.
*/
PetscErrorCode MatStencilGalerkin(Mat A, Mat P, PetscBool star, PetscBool fill, Mat *Ac)
{
  Mat_StencilTransfer *tr   = (Mat_StencilTransfer *)P->data;
  PetscBool            same = PETSC_FALSE;
  Product              pr;

  PetscFunctionBegin;
  if (tr->coarse->dim == 1) star = PETSC_FALSE;
  if (!*Ac) PetscCall(MatStencilCreateOnDM(tr->coarsedm, (PetscBool)!star, Ac));
  ((Mat_Stencil *)(*Ac)->data)->slack = 1000 * PETSC_MACHINE_EPSILON;
  PetscCall(ProductCreate(A, P, &pr));
  pr.fill = fill;
  if (star || KCycleBoxTalks(tr->coarse)) PetscCall(ProductToFields(&pr, *Ac, star));
  else {
    for (int half = 1; half >= 0 && !same; half--) PetscCall(ProductToBox(&pr, *Ac, (PetscBool)half, &same));
  }
  PetscCall(ProductDestroy(&pr));
  PetscCall(MatStencilStoreEnd(*Ac));
  PetscCall(MatAssemblyBegin(*Ac, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*Ac, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscObjectStateIncrease((PetscObject)*Ac));
  PetscFunctionReturn(PETSC_SUCCESS);
}
