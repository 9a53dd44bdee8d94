/*
  Points in the search for clusters: their couplings, and the groups that they begin as.
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
  return (w + c->sign * Opposite(s, column, o)) / 2;
}

/* The same if opposite entries are the same, and all neighbours in the box */
static inline PetscReal InnerCoupling(const KCycleSearch *s, const Point *c, int o, PetscInt *q)
{
  const PetscReal w = o == s->nc / 2 ? 0 : c->sign * PetscRealPart(KCycleLineArray(c->l, o)[c->at[0]]);

  *q = w == 0 ? KC_OUTSIDE : c->p + s->delta[o];
  return w;
}

static inline void AddCoupling(PetscReal v, PetscReal *w, PetscReal *t)
{
  *t += PetscMax(-v, 0);
  *w = PetscMax(v, 0);
}

static inline void Couplings(KCycleSearch *s, PetscInt p, PetscReal w[], PetscInt q[], PetscReal *t)
{
  const Point c = PointOf(s, p);

  *t = PetscAbsReal(PetscRealPart(KCycleLineCoefficient(c.l, s->nc / 2, c.at[0])));
  if (c.inside && s->symmetric) {
    for (int o = 0; o < s->nc; o++) AddCoupling(InnerCoupling(s, &c, o, &q[o]), &w[o], t);
  } else {
    for (int o = 0; o < s->nc; o++) AddCoupling(Coupling(s, &c, o, &q[o]), &w[o], t);
  }
}

/* The couplings of a point, 0 where they are negative, and the points that they lead to; t becomes the diagonal with
   what these lack */
void KCycleSearchCouplings(KCycleSearch *s, PetscInt p, PetscReal w[], PetscInt q[], PetscReal *t)
{
  Couplings(s, p, w, q, t);
}

PetscErrorCode KCycleSearchNode(KCycleSearch *s, PetscInt point, PetscBool jumps, PetscReal t, const PetscReal w[],
                                PetscInt *made)
{
  const int   step[3] = {1, 3, 9}, *find = s->st->shape.find;
  KCycleNode *node;
  PetscInt    p = s->nnodes;

  PetscFunctionBegin;
  PetscCall(KCycleGrow(p + 1, &s->maxnodes, sizeof(KCycleNode), &s->node));
  PetscCall(KCycleGrow(p + 1, &s->maxparent, sizeof(PetscInt), &s->parent));
  PetscCall(KCycleGrow(p + 1, &s->maxrejected, sizeof(PetscInt), &s->rejected));
  if (s->lined) PetscCall(KCycleGrow(3 * (p + 1), &s->maxacross, sizeof(PetscReal), &s->across));
  *made = s->nnodes++;
  node  = &s->node[p];
  PetscCall(PetscMemzero(node, sizeof(*node)));
  node->t = node->d = t;
  node->tight       = 1;
  node->next        = -1;
  node->tail        = p;
  node->size        = 1;
  node->point       = point;
  node->cut         = KC_NEVER;
  node->changed     = -1;
  node->jumps = node->anyjumps = jumps;
  s->parent[p]                 = p;
  s->rejected[p]               = KC_NEVER;
  for (int d = 0; d < 3 && s->lined; d++) {
    const int before = find[13 - step[d]], after = find[13 + step[d]];

    s->across[3 * p + d] = t - (before < 0 ? 0 : w[before] + w[after]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An owned point becomes a group, or is rejected at once: then made is KC_REJECTED. Couplings weaker than one to a
   rejected group do not matter */
PetscErrorCode KCycleSearchActivate(KCycleSearch *s, PetscInt p, PetscInt *made)
{
  PetscReal w[KC_MAX_COEFFS], t;
  PetscInt  q[KC_MAX_COEFFS], rank[KC_MAX_COEFFS], rejected = KC_NEVER, cut = KC_NEVER;

  PetscFunctionBegin;
  Couplings(s, p, w, q, &t);
  for (int o = 0; o < s->nc && rejected > s->now; o++) {
    rank[o] = KCycleRank(w[o]);
    if (rank[o] >= rejected) continue;
    if (q[o] < 0) cut = PetscMin(cut, rank[o]);
    else if (KCycleSearchIsRejected(s, s->index[q[o]], rank[o])) rejected = rank[o];
  }
  if (rejected <= s->now) {
    s->index[p] = *made = KC_REJECTED;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KCycleSearchNode(s, p, (PetscBool)(s->index[p] == KC_JUMPS), t, w, made));
  s->index[p]        = *made;
  s->node[*made].cut = cut;
  s->rejected[*made] = rejected;
  for (int o = 0; o < s->nc; o++) {
    if (rank[o] < rejected && q[o] >= 0 && s->index[q[o]] <= 0)
      PetscCall(KCycleSearchEdge(s, *made, q[o], w[o], rank[o]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
