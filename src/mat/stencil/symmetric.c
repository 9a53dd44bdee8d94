/*
  Is a stencil symmetric to the last bit? Answered without products or vectors, from the coefficients of neighbouring lines.
*/
#include <petsckcycle/private/stencilimpl.h>

KC_VERSIONS static PetscInt Differences(PetscInt n, const PetscScalar *KC_RESTRICT a, const PetscScalar *KC_RESTRICT b)
{
  PetscInt count = 0;

  for (PetscInt i = 0; i < n; i++) count += a[i] != b[i];
  return count;
}

/* Do the couplings o of line l and the opposite ones of line m, which it leads to, agree? */
static PetscBool CouplingsAgree(const KCycleLine *l, const KCycleLine *m, int o, int opposite, int dx)
{
  const PetscInt n = l->n, low = dx < 0 ? 2 : 1, high = dx > 0 ? n - 2 : n - 1; /* both points lie between the ends of their lines */

  for (PetscInt i = PetscMax(0, -dx); i < PetscMin(n, n - dx); i++) {
    if (i == low && high > low) i = high;
    if (i < n - PetscMax(dx, 0) && KCycleLineCoefficient(l, o, i) != KCycleLineCoefficient(m, opposite, i + dx)) return PETSC_FALSE;
  }
  return (PetscBool)(high <= low || Differences(high - low, l->c[o] + low, m->c[opposite] + low + dx) == 0);
}

/* Is line (j, k) symmetric, with the lines behind it? last: the classes that were compared last, for each coefficient */
static PetscBool LineIsSymmetric(const Mat_Stencil *st, PetscInt j, PetscInt k, PetscInt last[][2])
{
  const KCycleBox   *box   = st->box;
  const KCycleShape *shape = &st->shape;
  const PetscInt     line  = j + box->n[1] * k;
  KCycleLine         l, m;

  MatStencilLineArrays(st, line, &l);
  for (int o = shape->ncoeffs / 2 + 1; o < shape->ncoeffs; o++) {
    const int      q  = shape->line[o];
    const PetscInt jj = j + shape->dy[q], kk = k + shape->dz[q], other = jj + box->n[1] * kk;

    if (jj < 0 || jj >= box->n[1] || kk >= box->n[2]) continue;
    if (st->half && st->kind[line] < 0 && st->kind[other] < 0) continue; /* kept once for both */
    if (st->kind[line] >= 0 && st->kind[line] == last[o][0] && st->kind[other] == last[o][1]) continue;
    MatStencilLineArrays(st, other, &m);
    if (!CouplingsAgree(&l, &m, o, shape->ncoeffs - 1 - o, shape->dx[o])) return PETSC_FALSE;
    last[o][0] = st->kind[line];
    last[o][1] = st->kind[other];
  }
  return PETSC_TRUE;
}

/* Not collective: yes is true if all rows of this process are symmetric and have no neighbours on others, nor around a periodic end. Kept until the matrix changes */
PetscErrorCode MatStencilIsSymmetric(Mat A, PetscBool *yes)
{
  Mat_Stencil     *st = (Mat_Stencil *)A->data;
  PetscInt         last[KC_MAX_COEFFS][2];
  PetscObjectState state;

  PetscFunctionBegin;
  *yes = st->symmetric;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (st->symmetric_state == state) PetscFunctionReturn(PETSC_SUCCESS);
  for (int o = 0; o < KC_MAX_COEFFS; o++) last[o][0] = last[o][1] = -1;
  *yes = (PetscBool)!KCycleBoxTalks(st->box);
  for (PetscInt k = 0; *yes && k < st->box->n[2]; k++) {
    for (PetscInt j = 0; *yes && j < st->box->n[1]; j++) *yes = LineIsSymmetric(st, j, k, last);
  }
  PetscCall(MatStencilSetSymmetric(A, *yes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For who knows */
PetscErrorCode MatStencilSetSymmetric(Mat A, PetscBool yes)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;

  PetscFunctionBegin;
  st->symmetric = yes;
  PetscCall(PetscObjectStateGet((PetscObject)A, &st->symmetric_state));
  PetscFunctionReturn(PETSC_SUCCESS);
}
