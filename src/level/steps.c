/*
  What is done with all lines that a process owns: products, transfers, with the exchanges of halos that they need.
*/
#include <petsckcycle/private/levelimpl.h>
#include <petsckcycle/private/policyimpl.h>

typedef enum {
  ALL,
  INNER, /* lines that read no halo */
  OUTER  /* the others */
} WhichLines;

/* Works on lines one after the other, so that neighbour lines are still in cache */
static void ComputeShare(const KCycleStencil *st, WhichLines which, int op, const KCScalar *x, const KCScalar *b,
                         KCScalar *y)
{
  const KCycleBox *box = st->box;
  PetscInt         first, end;

  KCycleShare(0, box->nlines, &first, &end);
  for (PetscInt line = first; line < end; line++) {
    const PetscInt j = line % box->n[1], k = line / box->n[1], at = box->n[0] * line;
    KCycleLine     l;

    if (which != ALL && (which == INNER) != KCycleBoxLineIsInner(box, j, k)) continue;
    KCycleLineGather(st, x, st->halo, j, k, &l);
    KCycleLineCompute(&st->shape, op, &l, b ? b + at : NULL, NULL, y + at);
  }
}

static void ComputeLines(const KCycleStencil *st, WhichLines which, int op, const KCScalar *x, const KCScalar *b,
                         KCScalar *y)
{
  KC_PARALLEL(st->box->npoints)
  ComputeShare(st, which, op, x, b, y);
}

/* Halo lines travel while inner lines are computed */
PetscErrorCode KCycleStencilCompute(const KCycleStencil *st, int op, const KCScalar *x, const KCScalar *b, KCScalar *y)
{
  const PetscBool corners = (PetscBool)(st->shape.box != 0);

  PetscFunctionBegin;
  PetscAssert(KCycleStencilIsAt(st, KCYCLE_MEMORY_HOST), PETSC_COMM_SELF, PETSC_ERR_PLIB,
              "The coefficients are not on the host");
  if (KCycleBoxTalks(st->box)) {
    PetscCall(KCycleBoxExchangeBegin(st->box, corners, x, st->halo));
    ComputeLines(st, INNER, op, x, b, y);
    PetscCall(KCycleBoxExchangeEnd(st->box, corners, x, st->halo));
    ComputeLines(st, OUTER, op, x, b, y);
  } else ComputeLines(st, ALL, op, x, b, y);
  PetscCall(PetscLogFlops(2.0 * (st->shape.ncoeffs + (op == KC_MULT ? 0 : 1)) * st->box->npoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void KCycleStencilDiagonal(const KCycleStencil *st, KCScalar *d)
{
  const PetscInt n = st->box->n[0];
  KCycleLine     l;

  for (PetscInt line = 0; line < st->box->nlines; line++) {
    KCycleLineCoefficients(st, line % st->box->n[1], line / st->box->n[1], &l);
    for (PetscInt i = 0; i < n; i++) d[line * n + i] = KCycleLineCoefficient(&l, st->shape.ncoeffs / 2, i);
  }
}

static void InterpolateShare(const KCycleTransfer *tr, const KCScalar *e, PetscBool add, KCScalar *x)
{
  const KCycleBox *box = tr->fine;
  PetscInt         first, end;

  KCycleShare(0, box->nlines, &first, &end);
  for (PetscInt line = first; line < end; line++)
    KCycleTransferInterpolateLine(tr, e, line % box->n[1], line / box->n[1], add, x + box->n[0] * line);
}

static void RestrictShare(const KCycleTransfer *tr, const KCScalar *r, KCScalar *b)
{
  const KCycleBox    *box = tr->fine;
  KCycleTransferLines lines;

  KCycleTransferShare(tr, 0, box->n[1], &lines);
  for (PetscInt k = 0; k < box->n[2]; k++) {
    for (PetscInt j = PetscMax(0, lines.low[0]); j < PetscMin(box->n[1], lines.high[0]); j++) {
      KCycleTransferRestrictLine(tr, r + box->n[0] * (j + box->n[1] * k), j, k, &lines, b);
    }
  }
}

PetscErrorCode KCycleTransferInterpolate(const KCycleTransfer *tr, const KCScalar *e, PetscBool add, KCScalar *x)
{
  PetscFunctionBegin;
  PetscAssert(KCyclePoolIsAt(&tr->weights, KCYCLE_MEMORY_HOST), PETSC_COMM_SELF, PETSC_ERR_PLIB,
              "The weights are not on the host");
  PetscCall(KCycleBoxExchange(tr->coarse, PETSC_TRUE, e, tr->halo));
  KC_PARALLEL(tr->fine->npoints)
  InterpolateShare(tr, e, add, x);
  PetscCall(PetscLogFlops(4.0 * tr->fine->npoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before fine lines are restricted into b, which holds what they are added to */
PetscErrorCode KCycleTransferRestrictBegin(const KCycleTransfer *tr)
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero(tr->halo, tr->coarse->nhalo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After it: the shares of other processes go to them; lines outside the grid are zero again */
PetscErrorCode KCycleTransferRestrictEnd(const KCycleTransfer *tr, KCScalar *b)
{
  PetscFunctionBegin;
  if (!KCycleBoxTalks(tr->coarse)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleBoxReduce(tr->coarse, tr->halo, b));
  PetscCall(PetscArrayzero(tr->halo, tr->coarse->nhalo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleTransferRestrict(const KCycleTransfer *tr, const KCScalar *r, KCScalar *b)
{
  PetscFunctionBegin;
  PetscAssert(KCyclePoolIsAt(&tr->weights, KCYCLE_MEMORY_HOST), PETSC_COMM_SELF, PETSC_ERR_PLIB,
              "The weights are not on the host");
  PetscCall(KCycleTransferRestrictBegin(tr));
  KC_PARALLEL(tr->fine->npoints)
  RestrictShare(tr, r, b);
  PetscCall(KCycleTransferRestrictEnd(tr, b));
  PetscCall(PetscLogFlops(4.0 * tr->fine->npoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}
