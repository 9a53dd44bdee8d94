/*
  Coefficients summed over the directions in which points coincide with coarse ones, as weights_operator.c takes weights
  from them.

  Galerkin products have couplings of both signs. If x alone has been coarsened, and couplings a_y along y are much
  stronger than a_x, the next points in x have positive couplings, which their diagonal neighbours balance:

      - a_y / 4     - 3 a_y / 2         - a_y / 4
      (a_y - a_x) / 2   diagonal    (a_y - a_x) / 2
      - a_y / 4     - 3 a_y / 2         - a_y / 4

  So what has the wrong sign is subtracted from the couplings with those diagonal neighbours, that is with points
  further in other directions of S: sums stay. Else, weights would change from point to point along y.
*/
#include "mattransfer.h"

KC_VERSIONS static void Sum(PetscInt n, const PetscScalar *a, const PetscScalar *b, PetscScalar *to)
{
  for (PetscInt i = 0; i < n; i++) to[i] = a[i] + b[i];
}

/* Of n couplings c those with the sign of the diagonal lose it to m others, as far as these go: all of them become
   smaller, their sum stays */
KC_VERSIONS static void MakeUp(PetscInt n, const PetscScalar *KC_RESTRICT diagonal, PetscScalar *KC_RESTRICT c, int m,
                               PetscScalar *const beside[])
{
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal sign = PetscRealPart(diagonal[i]) < 0 ? -1 : 1, wrong = sign * PetscRealPart(c[i]);
    PetscReal       right = 0, part;

    if (wrong <= 0) continue;
    for (int t = 0; t < m; t++) right += PetscMax(0, -sign * PetscRealPart(beside[t][i]));
    part = right > wrong ? wrong / right : right > 0 ? 1 : 0;
    for (int t = 0; t < m; t++) {
      const PetscScalar taken = -sign * PetscRealPart(beside[t][i]) > 0 ? part * beside[t][i] : 0;

      c[i] += taken;
      beside[t][i] -= taken;
    }
  }
}

static int DirectionsOf(int o)
{
  return (o % 3 != 1) + (o / 3 % 3 != 1) + (o / 9 != 1);
}

/* Does offset o look to the same side as another one in all directions of that one, and in others as well? */
static PetscBool IsBeside(int o, int other)
{
  PetscBool beside = (PetscBool)(DirectionsOf(o) > DirectionsOf(other));

  for (int d = 0; d < 3; d++, o /= 3, other /= 3)
    beside = (PetscBool)(beside && (other % 3 == 1 || o % 3 == other % 3));
  return beside;
}

/* Wrong signs among the collapsed couplings of a box, those of the next points first; c: all are in sums then */
static void MakeUpSigns(PetscInt n, const PetscScalar *diagonal, PetscScalar *sums, int low, const PetscScalar *c[])
{
  for (int o = 0; o < 27; o++) {
    PetscScalar *own = sums + (o - low) * n;

    if (!c[o] || o == 13) continue;
    if (c[o] != own) memcpy(own, c[o], n * sizeof(*own));
    c[o] = own;
  }
  for (int directions = 1; directions < 3; directions++) {
    for (int o = 0; o < 27; o++) {
      PetscScalar *beside[27];
      int          m = 0;

      if (!c[o] || o == 13 || DirectionsOf(o) != directions) continue;
      for (int p = 0; p < 27; p++) {
        if (c[p] && p != 13 && IsBeside(p, o)) beside[m++] = sums + (p - low) * n;
      }
      if (m) MakeUp(n, diagonal, sums + (o - low) * n, m, beside);
    }
  }
}

/* c[o], o = (dx + 1) + 3 (dy + 1) + 9 (dz + 1): coefficients of a line (from: those of its points of one kind)
   summed over the directions not in S, wrong signs made up for; NULL where there are none */
void KCycleCollapse(const KCycleStencil *st, PetscInt n, int S, const PetscScalar *from, PetscScalar *sums,
                    const PetscScalar *c[])
{
  const KCycleShape *shape = &st->shape;
  const int          low   = KCycleOffsetsFirst(st->box->dim);

  for (int o = 0; o < 27; o++) c[o] = NULL;
  for (int o = 0; o < shape->ncoeffs; o++) {
    const int q = shape->line[o], dx = S & 1 ? shape->dx[o] : 0, dy = S & 2 ? shape->dy[q] : 0,
              dz            = S & 4 ? shape->dz[q] : 0;
    const int          to   = (dx + 1) + 3 * (dy + 1) + 9 * (dz + 1);
    const PetscScalar *more = from + o * n;

    if (c[to]) Sum(n, c[to], more, sums + (to - low) * n);
    c[to] = c[to] ? sums + (to - low) * n : more;
  }
  if (shape->box && S & (S - 1))
    MakeUpSigns(n, from + shape->ncoeffs / 2 * n, sums, low, c); /* two directions at least */
}
