/*
  The points that the search for clusters starts from: those with couplings that jump to the one with the opposite
  neighbour; and at cuts into processes all, since what jumps may be on the other side.

  Where a grid is coarsened in one direction alone, a point between two that are kept is joined with one of these first
  if its strongest coupling is along that direction. A cluster of such points and of points that are kept is a cluster
  on the coarser grid, which corrects it, or leaves it to the next one. So the search starts from others.
*/
#include "searchimpl.h"

/* Of the points of a line: whether couplings jump to those with the opposite neighbours; the strongest one
   and its coefficient */
typedef struct {
  int       *jumps, *which;
  PetscReal *strongest;
  PetscReal  factor; /* of a jump */
  int        last;   /* coefficient */
} View;

/* Coefficients o and the one opposite to it of point i, and the diagonal */
KC_POINT void CompareEntries(PetscScalar a, PetscScalar b, PetscScalar diagonal, int o, View v, PetscInt i)
{
  const PetscReal x = PetscAbsScalar(a), y = PetscAbsScalar(b), low = PetscMin(x, y), high = PetscMax(x, y);
  const PetscReal sign  = PetscRealPart(diagonal) < 0 ? 1 : -1;
  const PetscReal ahead = sign * PetscRealPart(a), back = sign * PetscRealPart(b), most = ahead > back ? ahead : back;

  v.jumps[i] |= (low > 0) & (high > v.factor * low) & (high >= KC_CLUSTER_STRONG * PetscAbsScalar(diagonal));
  v.which[i]     = most >= v.strongest[i] ? (ahead > back ? o : v.last - o) : v.which[i];
  v.strongest[i] = most > v.strongest[i] ? most : v.strongest[i];
}

KC_VERSIONS static void CompareLine(const KCycleLine *l, View v)
{
  const int          middle   = v.last / 2;
  const PetscScalar *diagonal = KCycleLineArray(l, middle);

  for (PetscInt i = 0; i < l->n; i++) {
    v.jumps[i] = v.which[i] = 0;
    v.strongest[i]          = 0;
  }
  for (int o = 0; o < middle; o++) {
    const PetscScalar *a = KCycleLineArray(l, o), *b = KCycleLineArray(l, v.last - o);

    KC_IVDEP for (PetscInt i = 1; i < l->n - 1; i++) CompareEntries(a[i], b[i], diagonal[i], o, v, i);
    for (PetscInt i = 0; i < l->n; i += PetscMax(l->n - 1, 1))
      CompareEntries(KCycleLineCoefficient(l, o, i), KCycleLineCoefficient(l, v.last - o, i),
                     KCycleLineCoefficient(l, middle, i), o, v, i);
  }
}

/* Is this the first or last one in a direction in which neighbours belong to other processes? */
static PetscBool AtCut(const KCycleBox *box, int d, PetscInt i)
{
  if (box->nproc[d] == 1) return PETSC_FALSE;
  return (PetscBool)((i == 0 && (box->start[d] > 0 || box->periodic[d])) ||
                     (i == box->n[d] - 1 && (box->start[d] + box->n[d] < box->size[d] || box->periodic[d])));
}

/* Does the coarser grid see a point? */
static PetscBool IsSeen(KCycleSearch *s, const KCycleSeeds *seeds, const PetscInt at[], PetscReal strongest)
{
  const int         step[3] = {1, 3, 9}, d = seeds->along;
  const KCycleLine *l = KCycleLineCacheAt(&s->lines, at[1], at[2]);

  if (d < 0) return PETSC_FALSE;
  if (!((at[d] + s->st->box->start[d] - seeds->parity) & 1)) return PETSC_TRUE;
  for (int side = -1; side <= 1; side += 2) {
    const PetscReal w = PetscAbsScalar(KCycleLineCoefficient(l, s->st->shape.find[13 + side * step[d]], at[0]));

    if (w > 0 && KCycleRank(w) <= KCycleRank(strongest)) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* The strongest coupling of a point, and where it leads to */
static PetscReal Strongest(KCycleSearch *s, PetscInt p, PetscInt *to)
{
  PetscReal w[KC_MAX_COEFFS], t;
  PetscInt  q[KC_MAX_COEFFS];
  int       which = 0;

  KCycleSearchCouplings(s, p, w, q, &t);
  for (int o = 1; o < s->nc; o++) {
    if (w[o] > w[which]) which = o;
  }
  *to = q[which];
  return w[which];
}

/* A point is added at the rank of its strongest coupling, or at once if the row of a neighbour may have a stronger
   one */
static PetscErrorCode AddStart(KCycleSearch *s, const KCycleSeeds *seeds, const PetscInt at[], PetscBool jumps,
                               PetscReal strongest, int which)
{
  const KCycleBox *box = s->st->box;
  const PetscInt   p   = KCycleNumber(box->n, at);
  PetscInt         q = KC_OUTSIDE, rank = 0;

  PetscFunctionBegin;
  if (strongest <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (jumps && !IsSeen(s, seeds, at, strongest)) s->index[p] = KC_JUMPS;
  else if (AtCut(box, 0, at[0]) || AtCut(box, 1, at[1]) || AtCut(box, 2, at[2])) s->index[p] = KC_START;
  else PetscFunctionReturn(PETSC_SUCCESS);
  if (s->symmetric) {
    if (KCycleBoxIsInside(box, at)) q = p + s->delta[which];
    else strongest = Strongest(s, p, &q);
    rank = KCycleRank(strongest);
  }
  PetscCall(KCycleSearchEdge(s, KC_SEED(q), p, 0, rank));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds them. any: has a point jumps? */
PetscErrorCode KCycleSearchStart(KCycleSearch *s, const KCycleSeeds *seeds, PetscBool *any)
{
  const KCycleBox *box  = s->st->box;
  PetscInt         last = -1;
  View             v    = {NULL, NULL, NULL, seeds->jump, s->nc - 1};

  PetscFunctionBegin;
  *any = PETSC_FALSE;
  PetscCall(PetscCalloc1(box->npoints, &s->index));
  PetscCall(PetscMalloc3(box->n[0], &v.jumps, box->n[0], &v.which, box->n[0], &v.strongest));
  for (PetscInt line = 0; line < box->nlines; line++) {
    PetscInt        at[3] = {0, line % box->n[1], line / box->n[1]};
    const PetscBool cut   = (PetscBool)(AtCut(box, 1, at[1]) || AtCut(box, 2, at[2]) || seeds->all);

    if (!MatStencilLineIsLast(s->st, line, last)) CompareLine(KCycleLineCacheAt(&s->lines, at[1], at[2]), v);
    last = line;
    for (at[0] = 0; at[0] < box->n[0]; at[0]++) {
      const PetscBool jumps = (PetscBool)(seeds->all || v.jumps[at[0]]);

      if (jumps) *any = PETSC_TRUE;
      if (jumps || cut || AtCut(box, 0, at[0]))
        PetscCall(AddStart(s, seeds, at, jumps, v.strongest[at[0]], v.which[at[0]]));
    }
  }
  PetscCall(PetscFree3(v.jumps, v.which, v.strongest));
  PetscFunctionReturn(PETSC_SUCCESS);
}
