/*
  Opposite couplings a(p, q) and a(q, p) of a stencil matrix: of lines of this process, and of its points with points
  that it reaches through a halo, which are those of other processes or beyond a periodic end.
*/
#include "matstencil.h"

/* Visits the lines ahead of each line, in the order of lines and coefficients, from coefficient number first on, the
   diagonal or after it; all: also couplings that are kept once for both, of symmetric matrices most are. Returns
   false if a visit did */
PetscBool MatStencilVisitLines(const KCycleStencil *st, int first, PetscBool all, KCycleVisitLines visit, void *context)
{
  const KCycleBox   *box   = st->box;
  const KCycleShape *shape = &st->shape;
  PetscInt           last[KC_MAX_COEFFS][2];

  for (int o = 0; o < KC_MAX_COEFFS; o++) last[o][0] = last[o][1] = -1;
  for (PetscInt line = 0; line < box->nlines; line++) {
    KCycleLine l, m;

    MatStencilLineArrays(st, line, &l);
    for (int o = first; o < shape->ncoeffs; o++) {
      const PetscInt jj = line % box->n[1] + shape->dy[shape->line[o]],
                     kk = line / box->n[1] + shape->dz[shape->line[o]], other = jj + box->n[1] * kk;
      PetscBool again;

      if (jj < 0 || jj >= box->n[1] || kk >= box->n[2]) continue;
      if (!all && o > shape->ncoeffs / 2 && st->half && st->set[line] < 0 && st->set[other] < 0) continue;
      again = (PetscBool)(st->set[line] >= 0 && st->set[other] >= 0 && st->set[line] == last[o][0] &&
                          st->set[other] == last[o][1]);
      if (!again) MatStencilLineArrays(st, other, &m);
      if (!visit(context, shape, &l, &m, o, again)) return PETSC_FALSE;
      last[o][0] = st->set[line];
      last[o][1] = st->set[other];
    }
  }
  return PETSC_TRUE;
}

/* Coefficient o of the points that are next to those of other processes, or at a periodic end */
void MatStencilCopySeen(const KCycleStencil *st, int o, PetscScalar *field)
{
  const KCycleBox *box = st->box;
  const PetscInt   n   = box->n[0];
  KCycleLine       l;

  for (PetscInt line = 0; line < box->nlines; line++) {
    const PetscBool seen = KCycleBoxLineIsSeen(box, line % box->n[1], line / box->n[1]);

    if (!seen && !box->xhalo) continue;
    MatStencilLineArrays(st, line, &l);
    for (PetscInt i = 0; i < n; i += seen ? 1 : PetscMax(n - 1, 1))
      field[line * n + i] = KCycleLineCoefficient(&l, o, i);
  }
}

/* Coefficient o of the points of a line, where it leads into the halo. field and halo: the opposite coefficient */
static PetscErrorCode VisitLine(const KCycleStencil *st, int o, PetscInt line, const PetscScalar *const field[2],
                                KCycleVisitEdge visit, void *context)
{
  const KCycleShape *shape = &st->shape;
  const PetscInt    *n     = st->box->n;
  const PetscInt     jj = line % n[1] + shape->dy[shape->line[o]], kk = line / n[1] + shape->dz[shape->line[o]];
  const PetscBool    inside = (PetscBool)(jj >= 0 && jj < n[1] && kk >= 0 && kk < n[2]);
  KCycleLine         l;

  PetscFunctionBegin;
  if (inside && !(st->box->xhalo && shape->dx[o])) PetscFunctionReturn(PETSC_SUCCESS);
  MatStencilLineArrays(st, line, &l);
  for (PetscInt i = 0; i < n[0]; i += inside ? PetscMax(n[0] - 1, 1) : 1) { /* only the ends of such a line */
    KCycleEdge edge = {line * n[0] + i, {i + shape->dx[o], jj, kk}, KCycleLineCoefficient(&l, o, i), 0};

    if (inside && edge.at[0] >= 0 && edge.at[0] < n[0]) continue;
    if (MatStencilValueAt(st->box, field[0], field[1], edge.at, &edge.b)) PetscCall((*visit)(context, &edge));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. Visits the edges of coefficients from number first on */
PetscErrorCode MatStencilVisitEdges(Mat A, int first, KCycleVisitEdge visit, void *context)
{
  const KCycleStencil *st  = KCycleStencilOf(A);
  const KCycleBox     *box = st->box;
  PetscScalar         *c, *halo;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(box->npoints, &c));
  PetscCall(KCycleBoxHaloCreate(box, &halo));
  for (int o = first; o < st->shape.ncoeffs; o++) {
    const PetscScalar *const field[2] = {c, halo};

    if (o == st->shape.ncoeffs / 2) continue;
    MatStencilCopySeen(st, st->shape.ncoeffs - 1 - o, c);
    PetscCall(KCycleBoxExchange(box, PETSC_TRUE, c, halo));
    for (PetscInt line = 0; line < box->nlines; line++) PetscCall(VisitLine(st, o, line, field, visit, context));
  }
  PetscCall(PetscFree(c));
  PetscCall(PetscFree(halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}
