/*
  Products with a stencil matrix.
*/
#include "matstencil.h"

typedef enum {
  ALL,
  INNER, /* lines that read no halo */
  OUTER  /* the others */
} WhichLines;

static PetscBool IsInner(const KCycleBox *box, PetscInt j, PetscInt k)
{
  if (box->ends) return PETSC_FALSE;
  if (box->reach[1] && (j == 0 || j == box->n[1] - 1)) return PETSC_FALSE;
  return (PetscBool)(!box->reach[2] || (k > 0 && k < box->n[2] - 1));
}

/* Works on lines one after the other, so that neighbour lines are still in cache */
static void ComputeShare(const KCycleStencil *st, WhichLines which, int op, const PetscScalar *x, const PetscScalar *b,
                         PetscScalar *y)
{
  const KCycleBox *box = st->box;
  PetscInt         first, end;

  KCycleShare(0, box->nlines, &first, &end);
  for (PetscInt line = first; line < end; line++) {
    const PetscInt j = line % box->n[1], k = line / box->n[1], at = box->n[0] * line;
    KCycleLine     l;

    if (which != ALL && (which == INNER) != IsInner(box, j, k)) continue;
    KCycleLineGather(st, x, st->halo, j, k, &l);
    KCycleLineCompute(&st->shape, op, &l, b ? b + at : NULL, NULL, y + at);
  }
}

static void ComputeLines(const KCycleStencil *st, WhichLines which, int op, const PetscScalar *x, const PetscScalar *b,
                         PetscScalar *y)
{
  KC_PARALLEL(st->box->npoints)
  ComputeShare(st, which, op, x, b, y);
}

/* y = A x, b + A x or b - A x; halo lines travel while inner lines are computed */
PetscErrorCode MatStencilCompute(Mat A, int op, Vec x, Vec b, Vec y)
{
  Mat_Stencil       *st      = (Mat_Stencil *)A->data;
  const PetscBool    corners = (PetscBool)(st->s.shape.box != 0);
  const PetscScalar *xa, *ba = NULL;
  PetscScalar       *ya;

  PetscFunctionBegin;
  PetscCheck(st->s.kind, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The matrix is not assembled: call MatAssemblyBegin() and MatAssemblyEnd()");
  PetscCall(VecGetArrayRead(x, &xa));
  if (b && b != y) PetscCall(VecGetArrayRead(b, &ba));
  PetscCall(VecGetArray(y, &ya));
  if (KCycleBoxTalks(st->s.box)) {
    PetscCall(KCycleBoxExchangeBegin(st->s.box, corners, xa, st->s.halo));
    ComputeLines(&st->s, INNER, op, xa, b == y ? ya : ba, ya);
    PetscCall(KCycleBoxExchangeEnd(st->s.box, corners, xa, st->s.halo));
    ComputeLines(&st->s, OUTER, op, xa, b == y ? ya : ba, ya);
  } else ComputeLines(&st->s, ALL, op, xa, b == y ? ya : ba, ya);
  PetscCall(VecRestoreArray(y, &ya));
  if (b && b != y) PetscCall(VecRestoreArrayRead(b, &ba));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCall(PetscLogFlops(2.0 * (st->s.shape.ncoeffs + (op == KC_MULT ? 0 : 1)) * st->s.box->npoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_Stencil(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatStencilCompute(A, KC_MULT, x, NULL, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultAdd_Stencil(Mat A, Vec x, Vec b, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatStencilCompute(A, KC_ADD, x, b, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatResidual_Stencil(Mat A, Vec b, Vec x, Vec r)
{
  PetscFunctionBegin;
  PetscCall(MatStencilCompute(A, KC_RESIDUAL, x, b, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilSetOps(Mat A)
{
  PetscFunctionBegin;
  A->ops->mult     = MatMult_Stencil;
  A->ops->multadd  = MatMultAdd_Stencil;
  A->ops->residual = MatResidual_Stencil;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilComposeMethods(Mat A, PetscBool compose)
{
  const char *const types[] = {"aij", "seqaij", "mpiaij"};
  char              name[64];

  PetscFunctionBegin;
  for (int t = 0; t < 3; t++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "MatConvert_stencil_%s_C", types[t]));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, name, compose ? MatConvert_Stencil_AIJ : NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
