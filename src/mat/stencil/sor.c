/*
  SOR in the order of points, on each process with the values that its neighbours had before: what PETSc's multigrid
  smooths with unless told otherwise.
*/
#include "matstencil.h"

/* One line, forth or back; neighbour lines and this one are read from x as it changes */
static PetscErrorCode RelaxLine(const KCycleStencil *st, PetscInt line, PetscBool forward, PetscReal omega,
                                const PetscScalar *b, PetscScalar *x)
{
  const KCycleShape *shape = &st->shape;
  const PetscInt     n = st->box->n[0], diagonal = shape->ncoeffs / 2;
  PetscScalar       *to = x + line * n;
  KCycleLine         l;

  PetscFunctionBegin;
  KCycleLineGather(st, x, st->halo, line % st->box->n[1], line / st->box->n[1], &l);
  for (PetscInt step = 0; step < n; step++) {
    const PetscInt    i = forward ? step : n - 1 - step;
    const PetscScalar d = KCycleLineCoefficient(&l, diagonal, i);
    PetscScalar       s = b[line * n + i];

    PetscCheck(d != (PetscScalar)0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
               "SOR: the diagonal of row %" PetscInt_FMT " is zero", st->box->rows[st->box->rank] + line * n + i);
    for (int o = 0; o < shape->ncoeffs; o++) {
      const PetscInt at = i + shape->dx[o];
      const int      q  = shape->line[o];

      s -= KCycleLineCoefficient(&l, o, i) * (at < 0 ? l.left[q] : at >= n ? l.right[q] : l.x[q][at]);
    }
    to[i] += omega * s / d;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSOR_Stencil(Mat A, Vec bb, PetscReal omega, MatSORType flag, PetscReal shift, PetscInt its,
                              PetscInt lits, Vec xx)
{
  Mat_Stencil    *st       = (Mat_Stencil *)A->data;
  const PetscBool parallel = (PetscBool)(A->rmap->n != A->rmap->N);
  const int       forward  = flag & (SOR_LOCAL_FORWARD_SWEEP | SOR_FORWARD_SWEEP),
            backward       = flag & (SOR_LOCAL_BACKWARD_SWEEP | SOR_BACKWARD_SWEEP);
  const PetscScalar *b;
  PetscScalar       *x;

  PetscFunctionBegin;
  PetscCheck(shift == 0 && !(flag & (SOR_EISENSTAT | SOR_APPLY_UPPER | SOR_APPLY_LOWER)) &&
                 (!parallel || !(flag & SOR_SYMMETRIC_SWEEP)),
             PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "A matrix of type stencil has SOR without shift and, on several processes, on each of them alone "
             "(-pc_sor_local_symmetric)");
  PetscCall(MatStencilCopyToHost(A));
  if (flag & SOR_ZERO_INITIAL_GUESS) PetscCall(VecSet(xx, 0));
  PetscCall(VecGetArrayRead(bb, &b));
  PetscCall(VecGetArray(xx, &x));
  for (PetscInt it = 0; it < its; it++) {
    PetscCall(KCycleBoxExchange(st->s.box, PETSC_TRUE, x, st->s.halo));
    for (PetscInt local = 0; local < lits; local++) {
      for (PetscInt line = 0; forward && line < st->s.box->nlines; line++)
        PetscCall(RelaxLine(&st->s, line, PETSC_TRUE, omega, b, x));
      for (PetscInt line = st->s.box->nlines - 1; backward && line >= 0; line--)
        PetscCall(RelaxLine(&st->s, line, PETSC_FALSE, omega, b, x));
    }
  }
  PetscCall(VecRestoreArray(xx, &x));
  PetscCall(VecRestoreArrayRead(bb, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}
