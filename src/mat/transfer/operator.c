/*
  Interpolation from the operator, as in black box multigrid (Dendy): a fine point takes the value that its own equation gives it from the
  points around it that are closer to coarse points, the equation being summed over the directions in which the point coincides with a coarse one.

  With S the directions in which the point lies between coarse points, c(o) the coefficients summed over the directions not in S, and w(o) = |c(o)|:

    P(p, :) = sum_o w(o) P(p + o, :) / (sum_o w(o) + excess)

  first for points between two coarse points, then for those between four, then eight. The excess of the diagonal counts where a neighbour in S is
  missing or is a stored boundary point. Taking |c| keeps the weights positive where Galerkin products have couplings of both signs.

  Lines are worked on as a whole, and the points that the set S is not that of are left out when the line is written.
*/
#include <petsckcycle/private/transferimpl.h>

typedef struct {
  const Mat_StencilTransfer *tr;
  const Mat_Stencil         *st;
  const PetscScalar         *mask, *maskhalo;
  PetscScalar               *slots, *halos;
  PetscInt                   n;
  PetscScalar               *values;  /* coefficients of a line */
  PetscScalar               *c;       /* collapsed: [27][n] */
  PetscScalar               *inverse; /* of what the weights are divided by */
  PetscScalar               *row;     /* weights: [8 slots][n] */
} Operator;

/* Directions in which a coordinate of the owned box lies between coarse points */
static int Between(const Mat_StencilTransfer *tr, PetscInt d, PetscInt i)
{
  return tr->factor[d] == 2 && ((i - tr->shift[d]) & 1) ? 1 << d : 0;
}

/* A value at a point of the owned box or beside it */
static PetscScalar At(const KCycleBox *box, const PetscScalar *x, const PetscScalar *halo, PetscInt i, PetscInt j, PetscInt k)
{
  const PetscInt e = KCycleBoxExtended(box, j, k);

  if (box->slot[e] == 0) return 0;
  if (i < 0) return box->ends ? halo[box->left + e] : 0;
  if (i >= box->n[0]) return box->ends ? halo[box->right + e] : 0;
  return KCycleBoxLine(box, x, halo, j, k)[i];
}

/* c(o), o = (dx + 1) + 3 (dy + 1) + 9 (dz + 1): coefficients of a line summed over the directions not in S; those that are there */
static void Collapse(const Operator *op, int S, PetscBool there[])
{
  const KCycleShape *shape = &op->st->shape;

  for (int o = 0; o < 27; o++) there[o] = PETSC_FALSE;
  for (int o = 0; o < shape->ncoeffs; o++) {
    const int q = shape->line[o], dx = S & 1 ? shape->dx[o] : 0, dy = S & 2 ? shape->dy[q] : 0, dz = S & 4 ? shape->dz[q] : 0;
    const int to                     = (dx + 1) + 3 * (dy + 1) + 9 * (dz + 1);
    const PetscScalar *restrict from = op->values + o * op->n;
    PetscScalar *restrict c          = op->c + to * op->n;

    if (there[to]) {
      for (PetscInt i = 0; i < op->n; i++) c[i] += from[i];
    } else {
      for (PetscInt i = 0; i < op->n; i++) c[i] = from[i];
    }
    there[to] = PETSC_TRUE;
  }
}

/* Is the excess of the equation that of a boundary? */
static PetscBool AtEnd(const Operator *op, int S, PetscInt i, PetscInt j, PetscInt k)
{
  const KCycleBox *box   = op->tr->fine;
  const PetscInt   at[3] = {i, j, k};

  for (PetscInt d = 0; d < box->dim; d++) {
    for (int side = -1; side <= 1 && (S & 1 << d); side += 2) {
      PetscInt       to[3]  = {i, j, k};
      const PetscInt global = at[d] + box->start[d] + side;

      to[d] += side;
      if (!box->periodic[d] && (global < 0 || global >= box->size[d])) return PETSC_TRUE;
      if (op->mask && At(box, op->mask, op->maskhalo, to[0], to[1], to[2]) == (PetscScalar)0.0) return PETSC_TRUE;
    }
  }
  return PETSC_FALSE;
}

KC_VERSIONS static void AddProducts(PetscInt n, const PetscScalar *restrict c, const PetscScalar *restrict inverse, const PetscScalar *restrict from, PetscScalar *restrict to)
{
  for (PetscInt i = 0; i < n; i++) to[i] += PetscAbsScalar(c[i]) * inverse[i] * from[i];
}

KC_VERSIONS static void AddSums(PetscInt n, const PetscScalar *restrict c, PetscScalar *restrict all, PetscScalar *restrict sum)
{
  for (PetscInt i = 0; i < n; i++) {
    all[i] += PetscAbsScalar(c[i]);
    sum[i] -= c[i];
  }
}

/* inverse[i] = 1 / (sum of weights + excess), 0 for a point that is coupled to nobody */
static void Divisors(const Operator *op, int S, const PetscBool there[], PetscInt j, PetscInt k)
{
  const PetscInt n              = op->n;
  PetscScalar *restrict inverse = op->inverse, *restrict sum = op->row; /* row is free yet */
  PetscBool inside = (PetscBool)!op->mask;

  for (PetscInt i = 0; i < n; i++) inverse[i] = sum[i] = 0;
  for (int o = 0; o < 27; o++) {
    const PetscScalar *restrict c = op->c + o * n;

    if (!there[o] || o == 13) continue;
    AddSums(n, c, inverse, sum);
  }
  inside = (PetscBool)(inside && n > 2 && !AtEnd(op, S, 1, j, k)); /* then the two end points are the only ones that may lie at an end */
  for (PetscInt i = 0; i < n; i++) {
    if (inside && i > 0 && i < n - 1) continue;
    if (AtEnd(op, S, i, j, k)) inverse[i] += PetscMax(PetscRealPart(op->c[13 * n + i] - sum[i]), 0);
  }
  for (PetscInt i = 0; i < n; i++) inverse[i] = inverse[i] == (PetscScalar)0.0 ? 0 : 1 / inverse[i];
}

/* row += weight times the row of the points o further. Bits of slots: the coarse point ahead in x, y, z; o decides those of the directions it moves in */
static void AddRows(const Operator *op, int S, int o, PetscInt j, PetscInt k)
{
  const KCycleBox *box = op->tr->fine;
  const PetscInt   n = op->n, dx = o % 3 - 1, jj = j + o / 3 % 3 - 1, kk = k + o / 9 - 1, e = KCycleBoxExtended(box, jj, kk);
  const int        moved = (dx != 0) | (jj != j) << 1 | (kk != k) << 2, ahead = (dx > 0) | (jj > j) << 1 | (kk > k) << 2;
  const PetscScalar *restrict c = op->c + o * n, *restrict inverse = op->inverse;

  if (box->slot[e] == 0) return;
  for (int bits = 0; bits < 8; bits++) {
    const PetscScalar *slots = op->slots + (size_t)bits * box->npoints, *halo = op->halos + (size_t)bits * box->nhalo;
    const PetscScalar *restrict from = KCycleBoxLine(box, slots, halo, jj, kk) + dx;
    PetscScalar *restrict to         = op->row + (bits | ahead) * n;

    if (bits & ~(S & ~moved)) continue;
    AddProducts(n - (dx != 0), c + (dx < 0), inverse + (dx < 0), from + (dx < 0), to + (dx < 0));
    if (!box->ends) continue;
    if (dx < 0) to[0] += PetscAbsScalar(c[0]) * inverse[0] * halo[box->left + e];
    if (dx > 0) to[n - 1] += PetscAbsScalar(c[n - 1]) * inverse[n - 1] * halo[box->right + e];
  }
}

/* Weights of the points of a line for which S is the set of directions in which they lie between coarse points */
static void LineWeights(const Operator *op, int S, PetscInt j, PetscInt k)
{
  const Mat_StencilTransfer *tr = op->tr;
  const PetscInt             n = op->n, at = n * (j + tr->fine->n[1] * k), step = tr->factor[0];
  const PetscInt             first = tr->factor[0] == 1 ? 0 : (S & 1) ? 1 - tr->shift[0] : tr->shift[0];
  PetscBool                  there[27];

  Collapse(op, S, there);
  Divisors(op, S, there, j, k);
  memset(op->row, 0, 8 * n * sizeof(PetscScalar));
  for (int o = 0; o < 27; o++) {
    if (there[o] && o != 13) AddRows(op, S, o, j, k);
  }
  for (int bits = 0; bits < 8; bits++) {
    PetscScalar       *to   = op->slots + (size_t)bits * tr->fine->npoints + at;
    const PetscScalar *from = op->row + bits * n;

    if (bits & ~S) continue;
    for (PetscInt i = first; i < n; i += step) to[i] = op->mask && op->mask[at + i] == (PetscScalar)0.0 ? 0 : from[i];
  }
}

/* Points that coincide with coarse ones take their values */
static void CoincidingPoints(const Operator *op, PetscInt j, PetscInt k)
{
  const Mat_StencilTransfer *tr = op->tr;
  const PetscInt             at = op->n * (j + tr->fine->n[1] * k);

  for (PetscInt i = tr->factor[0] == 1 ? 0 : tr->shift[0]; i < op->n; i += tr->factor[0]) op->slots[at + i] = op->mask ? op->mask[at + i] : 1;
}

/* Points that lie between coarse points in count directions; those with none coincide */
static PetscErrorCode Stage(const Operator *op, Mat A, int count)
{
  const Mat_StencilTransfer *tr  = op->tr;
  const KCycleBox           *box = tr->fine;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < box->n[2]; k++) {
    for (PetscInt j = 0; j < box->n[1]; j++) {
      const int yz = Between(tr, 1, j) | Between(tr, 2, k), lines = (yz >> 1 & 1) + (yz >> 2 & 1);

      if (count == 0 && lines == 0) CoincidingPoints(op, j, k);
      if (count == 0 || lines > count || lines < count - 1 || (lines == count - 1 && tr->factor[0] == 1)) continue;
      PetscCall(MatStencilGetLine(A, j + box->n[1] * k, op->values));
      LineWeights(op, lines == count ? yz : yz | 1, j, k);
    }
  }
  PetscCall(KCycleSlotsExchange(tr, op->slots, op->halos));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleOperatorWeights(Mat P, Mat A, const PetscScalar *mask, const PetscScalar *maskhalo, PetscScalar *slots, PetscScalar *halos)
{
  Operator op = {(Mat_StencilTransfer *)P->data, (Mat_Stencil *)A->data, mask, maskhalo, slots, halos, 0, NULL, NULL, NULL, NULL};

  PetscFunctionBegin;
  op.n = op.st->box->n[0];
  PetscCall(PetscMalloc4(op.st->shape.ncoeffs * op.n, &op.values, 27 * op.n, &op.c, op.n, &op.inverse, 8 * op.n, &op.row));
  for (int count = 0; count <= op.st->box->dim; count++) PetscCall(Stage(&op, A, count));
  PetscCall(PetscFree4(op.values, op.c, op.inverse, op.row));
  PetscFunctionReturn(PETSC_SUCCESS);
}
