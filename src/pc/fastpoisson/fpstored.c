/*
  PCFASTPOISSON: a row of a stored Dirichlet point (B) has nothing but its diagonal d; with the others (I) the operator
  is

      A = ( d     0  )       x_B = b_B / d,  x_I = A_I^-1 (b_I - C x_B)
          ( C    A_I )

  and of its transpose x_I = A_I^-T b_I, x_B = (b_B - C^T x_I) / d. C couples each point of the core that is next to a
  face with the one of the face, by D and the first or last row of M. Where these two are apart, a product with the
  matrix does it.
*/
#include <petsckcycle/private/fastpoissonimpl.h>

#if defined(KCYCLE_HAVE_FASTPOISSON)

/* The coupling with a face of stored points, but for D of other directions, and where in the core it is; 0: none */
static PetscReal Face(const PC_FastPoisson *fp, int d, int side, PetscInt *at)
{
  const KCycleFPDirection *dir = &fp->dir[d];

  *at = side ? dir->n - 1 : 0;
  if (dir->n == 0 || (side ? dir->lo + dir->n == dir->size : dir->lo == 0)) return 0;
  return (side ? dir->up : dir->low)[*at] * dir->d[*at];
}

/* Which way the products with C go: not transposed x_I -= C x_B, transposed x_B -= C^T x_I */
static void MultiplyFaces(const PC_FastPoisson *fp, PetscBool transpose, PetscScalar *x)
{
  const KCycleFPLayout *l    = &fp->grid;
  const PetscInt       *n    = fp->box->n;
  const PetscInt        st[] = {1, n[0], n[0] * n[1]};

  for (int f = 0; f < 6; f++) {
    const int       d = f / 2, side = f % 2, e = d == 0 ? 1 : 0, g = d == 2 ? 1 : 2;
    PetscInt        at, first;
    const PetscReal face = Face(fp, d, side, &at);
    const PetscInt  step = side ? st[d] : -st[d];

    if (face == 0 || at < l->lo[d] || at >= l->lo[d] + l->n[d]) continue;
    first = (at + fp->dir[d].lo - fp->box->start[d]) * st[d];
    for (PetscInt k = l->lo[g]; k < l->lo[g] + l->n[g]; k++) {
      for (PetscInt j = l->lo[e]; j < l->lo[e] + l->n[e]; j++) {
        const PetscInt i =
            first + (j + fp->dir[e].lo - fp->box->start[e]) * st[e] + (k + fp->dir[g].lo - fp->box->start[g]) * st[g];
        const PetscReal c = face * fp->dir[e].d[j] * fp->dir[g].d[k];

        if (transpose) x[i + step] -= c * x[i];
        else x[i] -= c * x[i + step];
      }
    }
  }
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

    if (Face(fp, d, side, &at) == 0) continue;
    at += fp->dir[d].lo;
    face = at + (side ? 1 : -1);
    if ((at >= low && at < high) != (face >= low && face < high)) mine = 1;
  }
  PetscCallMPI(MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  fp->apart = any ? PETSC_TRUE : PETSC_FALSE;
  if (fp->apart) PetscCall(MatCreateVecs(pc->pmat, &fp->work, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b_B / d takes the place of x_B, b_I - C x_B that of x_I */
PetscErrorCode PCFastPoissonStoredTake(PC pc, Vec b, Vec x)
{
  PC_FastPoisson    *fp = (PC_FastPoisson *)pc->data;
  const PetscScalar *ba, *wa;
  PetscScalar       *xa;
  Vec                to = fp->apart ? fp->work : x;

  PetscFunctionBegin;
  if (fp->apart) PetscCall(VecSet(fp->work, 0));
  else PetscCall(VecCopy(b, x));
  PetscCall(VecGetArrayRead(b, &ba));
  PetscCall(VecGetArray(to, &xa));
  for (PetscInt s = 0; s < fp->nstored; s++) xa[fp->stored[s]] = ba[fp->stored[s]] * fp->inverse[s];
  if (!fp->apart) MultiplyFaces(fp, PETSC_FALSE, xa);
  PetscCall(VecRestoreArray(to, &xa));
  PetscCall(VecRestoreArrayRead(b, &ba));
  if (!fp->apart) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMult(pc->pmat, fp->work, x));
  PetscCall(VecAYPX(x, -1, b));
  PetscCall(VecGetArrayRead(fp->work, &wa));
  PetscCall(VecGetArray(x, &xa));
  for (PetscInt s = 0; s < fp->nstored; s++) xa[fp->stored[s]] = wa[fp->stored[s]];
  PetscCall(VecRestoreArray(x, &xa));
  PetscCall(VecRestoreArrayRead(fp->work, &wa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x_I is there: x_B = (b_B - C^T x_I) / d */
PetscErrorCode PCFastPoissonStoredGive(PC pc, Vec b, Vec x)
{
  PC_FastPoisson    *fp = (PC_FastPoisson *)pc->data;
  const PetscScalar *ba, *wa = NULL;
  PetscScalar       *xa;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(b, &ba));
  PetscCall(VecGetArray(x, &xa));
  for (PetscInt s = 0; s < fp->nstored; s++) xa[fp->stored[s]] = fp->apart ? 0 : ba[fp->stored[s]];
  if (fp->coupled && !fp->apart) MultiplyFaces(fp, PETSC_TRUE, xa);
  PetscCall(VecRestoreArray(x, &xa));
  if (fp->apart) {
    PetscCall(MatMultTranspose(pc->pmat, x, fp->work));
    PetscCall(VecGetArrayRead(fp->work, &wa));
  }
  PetscCall(VecGetArray(x, &xa));
  for (PetscInt s = 0; s < fp->nstored; s++) {
    const PetscInt i = fp->stored[s];

    xa[i] = (wa ? ba[i] - wa[i] : xa[i]) * fp->inverse[s];
  }
  PetscCall(VecRestoreArray(x, &xa));
  if (wa) PetscCall(VecRestoreArrayRead(fp->work, &wa));
  PetscCall(VecRestoreArrayRead(b, &ba));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
