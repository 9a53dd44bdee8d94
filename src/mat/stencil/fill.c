/*
  Points inside a grid that are coupled to nobody, inactive cells of a reservoir or the inside of a hole, get couplings
  for coarser levels: a small part of what is usual in their direction. Without them an active point between inactive
  ones has nothing to be interpolated from, as coarse points that are inactive would be left out; with them they are
  points as all others, and weights and Galerkin products follow the coefficients, which have a jump there.

  The part must be small beside reactions, too: an island of active points has nothing else to hold it.
*/
#include "matstencil.h"

enum {
  POINT_OUTSIDE,
  POINT_COUPLED,
  POINT_ALONE
};

/* Direction of a coupling along a line of the grid, -1: it is none, or that of the point with itself */
static int DirectionOf(const KCycleShape *shape, int o)
{
  const int to[3] = {shape->dx[o], shape->dy[shape->line[o]], shape->dz[shape->line[o]]};

  if (PetscAbs(to[0]) + PetscAbs(to[1]) + PetscAbs(to[2]) != 1) return -1;
  return to[0] ? 0 : to[1] ? 1 : 2;
}

/* The points of this process, and those around it; in each direction the couplings that points alone get, of the sign
   of the others: by their geometric mean, to a power of two */
static PetscErrorCode MarkPoints(Mat A, PetscScalar *mark, PetscScalar *halo, PetscReal fill[])
{
  const KCycleStencil *st     = KCycleStencilOf(A);
  const KCycleBox     *box    = st->box;
  PetscReal            sum[7] = {0}, all[7]; /* of exponents and their number in each direction; of couplings' signs */
  KCycleLine           l;

  PetscFunctionBegin;
  for (PetscInt line = 0; line < box->nlines; line++) {
    MatStencilLineArrays(st, line, &l);
    for (PetscInt i = 0; i < l.n; i++) {
      mark[line * l.n + i] = POINT_ALONE;
      for (int o = 0; o < st->shape.ncoeffs; o++) {
        const PetscScalar v = KCycleLineCoefficient(&l, o, i);
        const int         d = DirectionOf(&st->shape, o);

        if (o == st->shape.ncoeffs / 2 || v == (PetscScalar)0.0) continue;
        mark[line * l.n + i] = POINT_COUPLED;
        if (d < 0) continue;
        sum[d] += PetscRealConstant(1.0) * ilogb((double)PetscAbsScalar(v));
        sum[3 + d] += 1;
        sum[6] += PetscRealPart(v) > 0 ? 1 : -1;
      }
    }
  }
  PetscCallMPI(MPI_Allreduce(sum, all, 7, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)A)));
  for (int d = 0; d < 3; d++)
    fill[d] = all[3 + d] > 0 ? (all[6] > 0 ? KCYCLE_FILL : -KCYCLE_FILL) *
                                   PetscPowReal(2, PetscFloorReal(all[d] / all[3 + d] + PetscRealConstant(0.5)))
                             : 0;
  PetscCall(KCycleBoxExchange(box, PETSC_TRUE, mark, halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The couplings of a line, whose coefficients are values[o * n + i]. kept: of a point with one that is coupled to
   nobody, as where boundary conditions have been set in rows but not in columns */
static void FillLine(const KCycleStencil *st, PetscInt line, const PetscScalar *mark, const PetscScalar *halo,
                     const PetscReal fill[], PetscScalar *values, PetscInt *kept)
{
  const KCycleBox *box = st->box;
  const PetscInt   n = box->n[0], nc = st->shape.ncoeffs;

  for (PetscInt i = 0; i < n; i++) {
    const PetscBool alone    = (PetscBool)(mark[line * n + i] == (PetscScalar)POINT_ALONE);
    PetscScalar    *diagonal = values + nc / 2 * n + i;

    if (alone) *diagonal = 0;
    for (int o = 0; o < nc; o++) {
      const int      q = st->shape.line[o], d = DirectionOf(&st->shape, o);
      const PetscInt at[3] = {i + st->shape.dx[o], line % box->n[1] + st->shape.dy[q],
                              line / box->n[1] + st->shape.dz[q]};
      PetscScalar    there = POINT_OUTSIDE;

      if (o == nc / 2 || !MatStencilValueAt(box, mark, halo, at, &there) || there == (PetscScalar)POINT_OUTSIDE)
        continue;
      if (!alone && there == (PetscScalar)POINT_COUPLED) continue;
      if (values[o * n + i] != (PetscScalar)0.0) (*kept)++;
      else if (d >= 0) {
        values[o * n + i] = fill[d];
        *diagonal -= fill[d];
      }
    }
  }
}

/* Collective. A matrix of the caller, as A, but for points that are coupled to nobody; NULL where others are coupled to
   such points: these hold values */
PetscErrorCode MatStencilFillAlone(Mat A, Mat *filled)
{
  Mat_Stencil *st;
  PetscScalar *mark;
  PetscReal    fill[3];
  PetscInt     kept = 0, allkept;

  PetscFunctionBegin;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, filled));
  st = (Mat_Stencil *)(*filled)->data;
  PetscCall(MatStencilGetBack(st));
  PetscCall(PetscMalloc1(st->s.box->npoints, &mark));
  PetscCall(MarkPoints(A, mark, st->back, fill));
  PetscCall(MatStencilExpand(*filled));
  for (PetscInt line = 0; line < st->s.box->nlines; line++)
    FillLine(&st->s, line, mark, st->back, fill, st->dense + (size_t)line * st->s.shape.ncoeffs * st->s.box->n[0],
             &kept);
  PetscCall(PetscFree(mark));
  PetscCall(MatStencilStoreDense(*filled));
  PetscCall(PetscObjectStateIncrease((PetscObject)*filled));
  PetscCallMPI(MPI_Allreduce(&kept, &allkept, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)A)));
  if (allkept) {
    PetscCall(PetscInfo(A,
                        "Points that are coupled to nobody take no part in coarser levels: others have %" PetscInt_FMT
                        " couplings with them\n",
                        allkept));
    PetscCall(MatDestroy(filled));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
