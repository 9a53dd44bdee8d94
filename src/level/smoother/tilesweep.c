/*
  What red-black passes compute on the planes of a tile (tile.c).

  Relaxation without over-relaxation does not read what it replaces: x = (b - neighbours) / d. So what it leaves is
  without residual at its points, and what interpolation adds at points that are relaxed next is never read: restriction
  and interpolation leave out that colour.
*/
#include "tilering.h"

KC_VERSIONS static void Scale(PetscInt n, const KCScalar *KC_RESTRICT b, KCScalar s, KCScalar *KC_RESTRICT x)
{
  for (PetscInt i = 0; i < n; i++) x[i] = s * b[i];
}

KC_VERSIONS static void Multiply(PetscInt n, const KCScalar *KC_RESTRICT b, const KCScalar *KC_RESTRICT s,
                                 KCScalar *KC_RESTRICT x)
{
  for (PetscInt i = 0; i < n; i++) x[i] = s[i] * b[i];
}

/* What is known of a line */
typedef struct {
  const KCycleClass *constant; /* class, if it is constant but at its ends */
  /* coefficients of the points at its ends, the inverse of the diagonal after those of each point; NULL: none of
     their own */
  const KCScalar    *ends;
  const KCScalar    *split; /* all coefficients of its class, or NULL */
  PetscInt           a, b;  /* points 0 to a - 1 and b to n - 1 are at its ends */
} Line;

static inline Line LineOf(const KCycleTile *w, PetscInt t, PetscInt l, Slot slot)
{
  const PetscInt         n = w->st->box->n[0], set = KCycleClassOf(w->st, w->lead ? l : t, w->lead ? t : 0);
  const KCycleTileClass *known = set < 0 ? NULL : &w->classes[set];
  Line                   k     = {NULL, NULL, NULL, 1, PetscMax(n - 1, 1)};

  if (!known) k.ends = EndsOf(w, slot);
  else if (!known->constant) k.split = known->ends;
  else {
    k.constant = known->constant;
    k.ends     = known->ends;
    k.a        = known->constant->a;
    k.b        = known->constant->b;
  }
  return k;
}

/* (b - neighbours) / d, or b - A x, at points that have the same coefficients; m is a multiple of KC_VECTOR. y may be x
   of these points */
KC_POINT void HalfConstant(const int op, const int nc, PetscInt m, const KCScalar *const x[], const KCScalar *b,
                           const KCycleClass *k, KCScalar *y)
{
  const KCScalar inverse = k->inverse;
  KCScalar       c[MOST];

  for (int o = 0; o < nc; o++) c[o] = k->middle[o];
  KC_IVDEP for (PetscInt i = 0; i < m / KC_VECTOR * KC_VECTOR; i++)
  {
    const KCScalar r = b[i] - KCyclePointNeighboursConstant(nc, c, x, i);

    y[i] = op == KC_RELAX ? r * inverse : r - c[nc / 2] * x[nc / 2][i];
  }
}

/* The same with their own coefficients, the inverse in place of the diagonal */
KC_POINT void HalfArray(const int op, const int nc, PetscInt m, const KCScalar *const x[], const KCScalar *b,
                        const KCScalar *const c[], KCScalar *y)
{
  KC_IVDEP for (PetscInt i = 0; i < m / KC_VECTOR * KC_VECTOR; i++)
  {
    const KCScalar r = b[i] - KCyclePointNeighbours(nc, c, x, i);

    y[i] = op == KC_RELAX ? r * c[nc / 2][i] : r - x[nc / 2][i] / c[nc / 2][i];
  }
}

/* The points of one parity of a line */
typedef struct {
  PetscInt               parity;
  const KCScalar *const *x;
  const KCScalar        *b;
  KCScalar              *y;
} HalfLine;

/* Those among low to high - 1, at an end of a line */
KC_POINT void HalfEnds(const int op, const int nc, PetscInt low, PetscInt high, const KCScalar *c, const HalfLine h)
{
  for (PetscInt p = low + ((low ^ h.parity) & 1); p < high; p += 2) {
    const KCScalar *of = c + (p - low) * (nc + 1);
    const PetscInt  i  = p / 2;
    const KCScalar  r  = h.b[i] - KCyclePointNeighboursConstant(nc, of, h.x, i);

    h.y[i] = op == KC_RELAX ? r * of[nc] : r - of[nc / 2] * h.x[nc / 2][i];
  }
}

/* Coefficients of the points of this parity: of a class, or from the tile, the lower half as the upper one of
   neighbours */
KC_POINT void HalfCoefficients(const KCycleTile *w, const int nc, const Line *line, Slot slot, Slot before,
                               PetscInt parity, const KCScalar *c[])
{
  const int  mid   = nc / 2;
  const Slot below = {slot.plane, slot.line - 1};

  for (int o = 0; line->split && o < nc; o++) c[o] = line->split + (2 * o + parity) * w->split;
  if (line->split) return;
  for (int o = mid; o < nc; o++) c[o] = Half(w, slot, WORD_INVERSE + o - mid, parity);
  c[mid - 1] = Half(w, slot, WORD_UPPER, 1 - parity) - (parity ? 0 : 1);
  c[0]       = Half(w, before, WORD_UPPER + mid - 1, parity);
  if (mid == 3) c[1] = Half(w, below, WORD_UPPER + 1, parity);
}

/* A plane, and the places in the ring of the one before, of this one, and of the next */
typedef struct {
  PetscInt t, slot[3];
} Planes;

static inline Planes PlanesOf(PetscInt t)
{
  const Planes planes = {t, {(t + RING - 1) % RING, t % RING, (t + 1) % RING}};

  return planes;
}

/* The points of one parity of line l of a plane */
KC_POINT void ComputeHalf(const KCycleTile *w, const int op, const int nc, const Planes *planes, PetscInt l,
                          PetscInt parity, KCScalar *y)
{
  const PetscInt n = w->st->box->n[0], m = (n + 1 - parity) / 2, padded = (m + KC_VECTOR - 1) / KC_VECTOR * KC_VECTOR,
                 at      = l - w->base;
  const Slot      before = {planes->slot[0], at}, slot = {planes->slot[1], at}, behind = {planes->slot[2], at};
  const KCScalar *own = Half(w, slot, WORD_X, parity), *other = Half(w, slot, WORD_X, 1 - parity),
                 *b   = Half(w, slot, WORD_B, parity), *x[MOST], *c[MOST];
  const Line     line = LineOf(w, planes->t, l, slot);
  const HalfLine h    = {parity, x, b, y};
  int            o    = 0;

  x[o++] = Half(w, before, WORD_X, parity);
  if (nc == 7) x[o++] = other - w->half;
  x[o++] = parity ? other : other - 1;
  x[o++] = own;
  x[o++] = parity ? other + 1 : other;
  if (nc == 7) x[o++] = other + w->half;
  x[o++] = Half(w, behind, WORD_X, parity);
  if (line.constant) HalfConstant(op, nc, padded, x, b, line.constant, y);
  else {
    HalfCoefficients(w, nc, &line, slot, before, parity, c);
    HalfArray(op, nc, padded, x, b, c, y);
  }
  if (m < padded) y[m] = 0;
  if (!line.ends) return;
  HalfEnds(op, nc, 0, line.a, line.ends, h);
  HalfEnds(op, nc, line.b, n, line.ends + line.a * (nc + 1), h);
}

/* The squares of a residual at these points */
KC_POINT void SumHalf(const KCycleTile *w, PetscInt t, PetscInt l, PetscInt parity, const KCScalar *residual)
{
  const size_t line = w->lead ? l + w->st->box->n[1] * t : t;

  w->sums[2 * line + parity] = KCycleSumSquares((w->st->box->n[0] + 1 - parity) / 2, residual);
}

#define KC_TILE_LINES(nc)                                                                                              \
  KC_VERSIONS static void Relax_##nc(const KCycleTile *w, PetscInt t, PetscInt low, PetscInt high, PetscInt parity)    \
  {                                                                                                                    \
    const Planes planes = PlanesOf(t);                                                                                 \
                                                                                                                       \
    for (PetscInt l = low; l < high; l++) {                                                                            \
      const PetscInt p = (parity + l) & 1;                                                                             \
                                                                                                                       \
      ComputeHalf(w, KC_RELAX, nc, &planes, l, p, Half(w, SlotOf(w, t, l), WORD_X, p));                                \
    }                                                                                                                  \
  }                                                                                                                    \
                                                                                                                       \
  KC_VERSIONS static void Restrict_##nc(const KCycleTile *w, PetscInt t, PetscInt low, PetscInt high, PetscInt parity, \
                                        const KCycleRestriction *to, KCScalar *residual)                               \
  {                                                                                                                    \
    const Planes planes = PlanesOf(t);                                                                                 \
                                                                                                                       \
    for (PetscInt l = low; l < high; l++) {                                                                            \
      ComputeHalf(w, KC_RESIDUAL, nc, &planes, l, (parity + l) & 1, residual);                                         \
      if (w->sums && l >= to->lines.own) SumHalf(w, t, l, (parity + l) & 1, residual);                                 \
      KCycleTransferRestrictHalf(to->tr, residual, (parity + l) & 1, w->lead ? l : t, w->lead ? t : 0, &to->lines,     \
                                 to->b);                                                                               \
    }                                                                                                                  \
  }

KC_TILE_LINES(5)
KC_TILE_LINES(7)

/* Relaxes on lines low to high - 1 of plane t the points of this parity on line 0, of the other on line 1, and so on */
void KCycleTileRelax(const KCycleTile *w, PetscInt t, PetscInt low, PetscInt high, PetscInt parity)
{
  if (w->nc == MOST) Relax_7(w, t, low, high, parity);
  else Relax_5(w, t, low, high, parity);
}

/* x = b / d at the points of one parity, 0 at the others */
static void ScaleHalf(const KCycleTile *w, PetscInt t, PetscInt l, PetscInt parity)
{
  const PetscInt  n = w->st->box->n[0], m = (n + 1 - parity) / 2;
  const int       nc   = w->nc;
  const Slot      slot = SlotOf(w, t, l);
  const Line      line = LineOf(w, t, l, slot);
  const KCScalar *b    = Half(w, slot, WORD_B, parity);
  KCScalar       *x    = Half(w, slot, WORD_X, parity);

  memset(Half(w, slot, WORD_X, 1 - parity), 0, (size_t)w->split * sizeof(KCScalar));
  if (line.constant) Scale(m, b, line.constant->inverse, x);
  else
    Multiply(m, b, line.split ? line.split + (2 * (nc / 2) + parity) * w->split : Half(w, slot, WORD_INVERSE, parity),
             x);
  for (int e = 0; line.ends && e < 2; e++) {
    const PetscInt  low = e ? line.b : 0, high = e ? n : line.a;
    const KCScalar *c = line.ends + (e ? line.a : 0) * (nc + 1);

    for (PetscInt p = low + ((low ^ parity) & 1); p < high; p += 2) x[p / 2] = b[p / 2] * c[(p - low) * (nc + 1) + nc];
  }
}

/* The same from zero, of b that is packed on the way; the points of the other parity become zero */
void KCycleTileRelaxZero(const KCycleTile *w, const KCScalar *b, PetscInt t, PetscInt low, PetscInt high,
                         PetscInt parity)
{
  KCycleTilePackB(w, b, t, low, high);
  for (PetscInt l = low; l < high; l++) ScaleHalf(w, t, l, (parity + l) & 1);
  ZeroBeyond(w, t, high);
}

/* Adds the share of these points to the given lines of the restricted residual */
void KCycleTileRestrict(const KCycleTile *w, PetscInt t, PetscInt low, PetscInt high, PetscInt parity,
                        const KCycleRestriction *to)
{
  KCScalar *residual = w->residual + KCycleThread() * w->half;

  if (w->nc == MOST) Restrict_7(w, t, low, high, parity, to, residual);
  else Restrict_5(w, t, low, high, parity, to, residual);
}

/* Adds the interpolated correction to these points */
void KCycleTileInterpolate(const KCycleTile *w, PetscInt t, PetscInt low, PetscInt high, PetscInt parity,
                           const KCycleTransfer *tr, const KCScalar *e)
{
  for (PetscInt l = low; l < high; l++) {
    KCycleTransferInterpolateHalf(tr, e, (parity + l) & 1, w->lead ? l : t, w->lead ? t : 0,
                                  Half(w, SlotOf(w, t, l), WORD_X, (parity + l) & 1));
  }
}
