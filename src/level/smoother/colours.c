/*
  What coloured sweeps share: the weights of the points of a colour, and the relaxation of one line.
*/
#include "colours.h"

/* Where an odd number of points wraps around its two ends have the same colour: 1 or -1 at an end, towards the other
   one */
static int Beyond(const KCycleBox *box, PetscInt d, PetscInt i)
{
  if (!box->periodic[d] || box->size[d] % 2 == 0 || box->size[d] == 1) return 0;
  return i + box->start[d] == 0 ? -1 : i + box->start[d] == box->size[d] - 1 ? 1 : 0;
}

/* Sum of |a_ij| / sqrt(a_ii a_jj) over the points j of its own colour that a point of line l is coupled to */
static PetscReal CouplingsWithinColour(const KCycleStencil *st, const KCycleLine *l, const KCScalar *diagonal,
                                       const PetscInt at[])
{
  const KCycleBox *box       = st->box;
  const int        beyond[3] = {Beyond(box, 0, at[0]), Beyond(box, 1, at[1]), Beyond(box, 2, at[2])};
  const PetscReal  mine      = PetscAbsScalar(KCycleLineCoefficient(l, st->shape.ncoeffs / 2, at[0]));
  const KCScalar  *halo      = st->halo;
  PetscReal        sum       = 0;

  for (int o = 0; o < st->shape.ncoeffs; o++) {
    const int      q = st->shape.line[o], to[3] = {st->shape.dx[o], st->shape.dy[q], st->shape.dz[q]};
    const PetscInt i = at[0] + to[0], e = KCycleBoxExtended(box, at[1] + to[1], at[2] + to[2]);
    PetscReal      other;
    PetscBool      within = (PetscBool)(o != st->shape.ncoeffs / 2);

    for (int d = 0; d < 3; d++) within = (PetscBool)(within && (to[d] == 0 || to[d] == beyond[d]));
    if (!within) continue;
    other = PetscAbsScalar(i < 0            ? halo[box->left + e]
                           : i >= box->n[0] ? halo[box->right + e]
                                            : KCycleBoxLine(box, diagonal, halo, at[1] + to[1], at[2] + to[2])[i]);
    if (mine > 0 && other > 0) sum += PetscAbsScalar(KCycleLineCoefficient(l, o, at[0])) / PetscSqrtReal(mine * other);
  }
  return sum;
}

/* A bound of the eigenvalues of D^-1/2 A D^-1/2, less 1, among points of one colour */
static PetscErrorCode CouplingsWithinColours(const KCycleSmoother *s, PetscReal *within)
{
  const KCycleBox *box  = s->st->box;
  PetscReal        most = 0;
  PetscBool        any  = PETSC_FALSE;
  KCScalar        *diagonal;
  KCycleLine       l;

  PetscFunctionBegin;
  *within = 0;
  for (PetscInt d = 0; d < 3; d++) any = (PetscBool)(any || Beyond(box, d, -box->start[d]));
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(box->npoints, &diagonal));
  KCycleStencilDiagonal(s->st, diagonal);
  PetscCall(KCycleBoxExchange(box, PETSC_TRUE, diagonal, s->st->halo));
  for (PetscInt line = 0; line < box->nlines; line++) {
    PetscInt at[3] = {0, line % box->n[1], line / box->n[1]};

    KCycleLineCoefficients(s->st, at[1], at[2], &l);
    for (; at[0] < box->n[0]; at[0]++) {
      if (Beyond(box, 0, at[0]) || Beyond(box, 1, at[1]) || Beyond(box, 2, at[2]))
        most = PetscMax(most, CouplingsWithinColour(s->st, &l, diagonal, at));
    }
  }
  PetscCallMPI(MPI_Allreduce(&most, within, 1, MPIU_REAL, MPIU_MAX, s->comm));
  PetscCall(PetscFree(diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(KCycleSmoother *s)
{
  KCycleColours *colours = (KCycleColours *)s->data;

  PetscFunctionBegin;
  PetscCall(PetscFree(colours->weights));
  PetscCall(PetscFree(colours->line));
  PetscCall(KCycleTileDestroy(&colours->tile));
  PetscCall(KCycleBoxTileDestroy(&colours->boxtile));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The smoother has colours */
PetscErrorCode KCycleColoursCreate(KCycleSmoother *s)
{
  KCycleColours *colours;

  PetscFunctionBegin;
  PetscCall(PetscNew(&colours));
  s->data        = colours;
  s->local       = PETSC_TRUE;
  s->ops.setup   = KCycleColoursSetUp;
  s->ops.destroy = Destroy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points of one colour that are coupled are relaxed at once, as Jacobi does: damped where that would not converge */
PetscErrorCode KCycleColoursSetUp(KCycleSmoother *s)
{
  KCycleColours *colours = (KCycleColours *)s->data;
  const PetscInt n       = s->st->box->n[0];
  PetscReal      within;

  PetscFunctionBegin;
  PetscCall(CouplingsWithinColours(s, &within));
  s->weight = s->omega == 0 ? PetscMin(1, KCYCLE_COLOURS_COUPLED / (1 + within)) : s->omega;
  PetscCall(PetscMalloc1(n + 1, &colours->weights));
  for (PetscInt i = 0; i <= n; i++) colours->weights[i] = i % 2 ? 0 : s->weight;
  PetscCall(PetscMalloc1((size_t)KCycleThreadsMost() * 2 * n, &colours->line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  One line: points of the given parity in x, counted from the first point of the line. Not in place: a vector load that
  overlaps what was stored just before waits until the store has left the store buffer, which takes twice the time of
  the detour
*/
void KCycleColoursRelaxLine(const KCyclePass *pass, PetscInt j, PetscInt k, PetscInt parity, PetscBool zeroguess)
{
  const KCycleBox *box  = pass->st->box;
  const PetscInt   at   = box->n[0] * (j + box->n[1] * k);
  const KCScalar  *w    = KCycleColoursOf(pass)->weights + parity;
  KCScalar        *work = KCycleColoursOf(pass)->line + KCycleThread() * 2 * box->n[0];
  KCycleLine       l;

  if (zeroguess) {
    KCycleLineCoefficients(pass->st, j, k, &l);
    KCycleLineScale(&pass->st->shape, &l, pass->b + at, w, pass->x + at);
  } else {
    KCycleLineGather(pass->st, pass->x, pass->st->halo, j, k, &l);
    KCycleLineCompute(&pass->st->shape, KC_RELAX, &l, pass->b + at, w, work);
    memcpy(pass->x + at, work, box->n[0] * sizeof(KCScalar));
  }
}
