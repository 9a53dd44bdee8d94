/*
  The couplings of a point in the search for clusters.
*/
#include "searchimpl.h"

/* Collective. The coefficients of the points around the owned box. Only what lies at its faces is exchanged */
PetscErrorCode KCycleSearchExchange(KCycleSearch *s)
{
  const KCycleBox *box = s->st->box;
  PetscScalar     *x;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(box->npoints, &x));
  for (int o = 0; o < s->nc; o++) {
    for (PetscInt line = 0; line < box->nlines; line++) {
      const PetscInt    j = line % box->n[1], k = line / box->n[1];
      const PetscInt    step = KCycleBoxLineIsSeen(box, j, k) ? 1 : PetscMax(box->n[0] - 1, 1);
      const KCycleLine *l    = KCycleLineCacheAt(&s->lines, j, k);

      for (PetscInt i = 0; i < box->n[0]; i += step) x[line * box->n[0] + i] = KCycleLineCoefficient(l, o, i);
    }
    PetscCall(KCycleBoxHaloCreate(box, &s->row[o]));
    PetscCall(KCycleBoxExchange(box, (PetscBool)(s->st->shape.box != 0), x, s->row[o]));
  }
  PetscCall(PetscFree(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entry opposite to coefficient o, of the row of the point with this column */
static PetscReal Opposite(KCycleSearch *s, PetscInt column, int o)
{
  const KCycleBox *box = s->st->box;
  PetscInt         at[3];

  if (column >= box->npoints) return PetscRealPart(s->row[s->nc - 1 - o][column - box->npoints]);
  KCycleCoordinates(box->n, column, at);
  return PetscRealPart(KCycleLineCoefficient(KCycleLineCacheAt(&s->lines, at[1], at[2]), s->nc - 1 - o, at[0]));
}

/* A point whose couplings are looked at */
typedef struct {
  const KCycleLine *l;
  PetscInt          p, at[3];
  PetscBool         inside; /* all of its neighbours are in the box */
  PetscReal         sign;   /* of minus the diagonal */
} Point;

static inline Point PointOf(KCycleSearch *s, PetscInt p)
{
  const KCycleBox *box = s->st->box;
  Point            c;

  KCycleCoordinates(box->n, p, c.at);
  c.p      = p;
  c.l      = KCycleLineCacheAt(&s->lines, c.at[1], c.at[2]);
  c.sign   = PetscRealPart(KCycleLineCoefficient(c.l, s->nc / 2, c.at[0])) < 0 ? 1 : -1;
  c.inside = KCycleBoxIsInside(box, c.at);
  return c;
}

/* The coupling by a coefficient, minus the entry, made symmetric; q: the point that it leads to */
static inline PetscReal Coupling(KCycleSearch *s, const Point *c, int o, PetscInt *q)
{
  const KCycleBox   *box   = s->st->box;
  const KCycleShape *shape = &s->st->shape;
  const PetscInt    *at    = c->at;
  const PetscReal    w =
      c->sign * PetscRealPart(c->inside ? KCycleLineArray(c->l, o)[at[0]] : KCycleLineCoefficient(c->l, o, at[0]));
  PetscInt column;

  *q = KC_OUTSIDE;
  if (w == 0 || o == s->nc / 2) return 0;
  column = c->inside ? c->p + s->delta[o]
                     : KCycleBoxColumn(box, at[0] + shape->dx[o], at[1] + shape->dy[shape->line[o]],
                                       at[2] + shape->dz[shape->line[o]]);
  if (column < box->npoints) *q = column;
  if (column == c->p) return 0;
  return c->inside && s->symmetric ? w : (w + c->sign * Opposite(s, column, o)) / 2;
}

/* The couplings of a point, 0 where they are negative, and the points that they lead to; t becomes the diagonal with
   what these lack */
void KCycleSearchCouplings(KCycleSearch *s, PetscInt p, PetscReal w[], PetscInt q[], PetscReal *t)
{
  const Point c = PointOf(s, p);

  *t = PetscAbsReal(PetscRealPart(KCycleLineCoefficient(c.l, s->nc / 2, c.at[0])));
  for (int o = 0; o < s->nc; o++) {
    const PetscReal v = Coupling(s, &c, o, &q[o]);

    *t += PetscMax(-v, 0);
    w[o] = PetscMax(v, 0);
  }
}
