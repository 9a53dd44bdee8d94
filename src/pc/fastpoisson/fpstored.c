/*
  PCFASTPOISSON: a row of a stored Dirichlet point (B) has nothing but its diagonal d; with the others (I) the operator
  is

      A = ( d     0  )       x_B = b_B / d,  x_I = A_I^-1 (b_I - C x_B)
          ( C    A_I )

  and of its transpose x_I = A_I^-T b_I, x_B = (b_B - C^T x_I) / d. C couples each point of the core that is next to a
  face with the one of the face, by D and the first or last row of M. Where these two are apart, a product with the
  matrix does it.
*/
#include "fastpoissonimpl.h"

#if defined(KCYCLE_HAVE_FASTPOISSON)

/* The coupling with a face of stored points, but for D of other directions, and where in the core it is; 0: none */
PetscReal KCycleFPFace(const PC_FastPoisson *fp, int d, int side, PetscInt *at)
{
  const KCycleFPDirection *dir = &fp->dir[d];

  *at = side ? dir->n - 1 : 0;
  if (dir->n == 0 || (side ? dir->lo + dir->n == dir->size : dir->lo == 0)) return 0;
  return (side ? dir->up : dir->low)[*at] * dir->d[*at];
}

/* Which way the products with C go: not transposed x_I -= C x_B, transposed x_B -= C^T x_I */
PetscErrorCode PCFastPoissonCouple(PC pc, PetscBool transpose, PetscScalar *x)
{
  PC_FastPoisson  *fp   = (PC_FastPoisson *)pc->data;
  const KCycleBox *l    = &fp->grid;
  const PetscInt  *n    = fp->box->n;
  const PetscInt   st[] = {1, n[0], n[0] * n[1]};

  PetscFunctionBegin;
  for (int f = 0; f < 6; f++) {
    const int       d = f / 2, side = f % 2, e = d == 0 ? 1 : 0, g = d == 2 ? 1 : 2;
    PetscInt        at, first;
    const PetscReal face = KCycleFPFace(fp, d, side, &at);
    const PetscInt  step = side ? st[d] : -st[d];

    if (face == 0 || at < l->start[d] || at >= l->start[d] + l->n[d]) continue;
    first = (at + fp->dir[d].lo - fp->box->start[d]) * st[d];
    for (PetscInt k = l->start[g]; k < l->start[g] + l->n[g]; k++) {
      for (PetscInt j = l->start[e]; j < l->start[e] + l->n[e]; j++) {
        const PetscInt i =
            first + (j + fp->dir[e].lo - fp->box->start[e]) * st[e] + (k + fp->dir[g].lo - fp->box->start[g]) * st[g];
        const PetscReal c = face * fp->dir[e].d[j] * fp->dir[g].d[k];

        if (transpose) x[i + step] -= c * x[i];
        else x[i] -= c * x[i + step];
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCFastPoissonStore(PC pc, const PetscScalar *b, const PetscScalar *w, PetscBool divide, PetscScalar *x)
{
  PC_FastPoisson *fp = (PC_FastPoisson *)pc->data;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < fp->nstored; s++) {
    const PetscInt i = fp->stored[s];

    x[i] = ((b ? b[i] : 0) - (w ? w[i] : 0)) * (divide ? fp->inverse[s] : 1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is a face on this process and the points next to it are not, or the reverse? */
PetscErrorCode PCFastPoissonStoredSetUp(PC pc)
{
  PC_FastPoisson *fp   = (PC_FastPoisson *)pc->data;
  PetscMPIInt     mine = fp->nearest, any;

  PetscFunctionBegin;
  if (!fp->coupled) PetscFunctionReturn(PETSC_SUCCESS);
  for (int f = 0; f < 6 && !fp->nearest; f++) {
    const int      d = f / 2, side = f % 2;
    const PetscInt low = fp->box->start[d], high = low + fp->box->n[d];
    PetscInt       at, face;

    if (KCycleFPFace(fp, d, side, &at) == 0) continue;
    at += fp->dir[d].lo;
    face = at + (side ? 1 : -1);
    if ((at >= low && at < high) != (face >= low && face < high)) mine = 1;
  }
  PetscCallMPI(MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  fp->apart = any ? PETSC_TRUE : PETSC_FALSE;
  if (fp->apart) PetscCall(MatCreateVecs(pc->pmat, &fp->work, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x_B becomes b_B / d, and x_I becomes b_I - C x_B */
PetscErrorCode PCFastPoissonStoredBefore(PC pc, const KCycleFPOps *ops, Vec b, Vec x)
{
  PC_FastPoisson    *fp = (PC_FastPoisson *)pc->data;
  const PetscScalar *ba, *wa;
  PetscScalar       *xa;
  Vec                to = fp->apart ? fp->work : x;

  PetscFunctionBegin;
  if (fp->apart) PetscCall(VecSet(fp->work, 0));
  else PetscCall(VecCopy(b, x));
  PetscCall(VecGetArrayReadAndMemType(b, &ba, NULL));
  PetscCall(VecGetArrayAndMemType(to, &xa, NULL));
  PetscCall((*ops->store)(pc, ba, NULL, PETSC_TRUE, xa));
  if (!fp->apart) PetscCall((*ops->couple)(pc, PETSC_FALSE, xa));
  PetscCall(VecRestoreArrayAndMemType(to, &xa));
  PetscCall(VecRestoreArrayReadAndMemType(b, &ba));
  if (!fp->apart) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMult(pc->pmat, fp->work, x));
  PetscCall(VecAYPX(x, -1, b));
  PetscCall(VecGetArrayReadAndMemType(fp->work, &wa, NULL));
  PetscCall(VecGetArrayAndMemType(x, &xa, NULL));
  PetscCall((*ops->store)(pc, wa, NULL, PETSC_FALSE, xa));
  PetscCall(VecRestoreArrayAndMemType(x, &xa));
  PetscCall(VecRestoreArrayReadAndMemType(fp->work, &wa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x_I has been solved for: x_B = (b_B - C^T x_I) / d */
PetscErrorCode PCFastPoissonStoredAfter(PC pc, const KCycleFPOps *ops, Vec b, Vec x)
{
  PC_FastPoisson    *fp = (PC_FastPoisson *)pc->data;
  const PetscScalar *ba, *wa = NULL;
  PetscScalar       *xa;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(b, &ba, NULL));
  PetscCall(VecGetArrayAndMemType(x, &xa, NULL));
  PetscCall((*ops->store)(pc, fp->apart ? NULL : ba, NULL, PETSC_FALSE, xa));
  if (fp->coupled && !fp->apart) PetscCall((*ops->couple)(pc, PETSC_TRUE, xa));
  PetscCall(VecRestoreArrayAndMemType(x, &xa));
  if (fp->apart) {
    PetscCall(MatMultTranspose(pc->pmat, x, fp->work));
    PetscCall(VecGetArrayReadAndMemType(fp->work, &wa, NULL));
  }
  PetscCall(VecGetArrayAndMemType(x, &xa, NULL));
  PetscCall((*ops->store)(pc, wa ? ba : xa, wa, PETSC_TRUE, xa));
  PetscCall(VecRestoreArrayAndMemType(x, &xa));
  if (wa) PetscCall(VecRestoreArrayReadAndMemType(fp->work, &wa));
  PetscCall(VecRestoreArrayReadAndMemType(b, &ba));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
