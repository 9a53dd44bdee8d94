/*
  Copies of operators and transfers in single precision.
*/
#include <petsckcycle/private/cycleimpl.h>

#if defined(KCYCLE_SINGLE)

/* factor: 1 over a power of 2, so that numbers are those that a division gives */
KC_VERSIONS static void Multiply(PetscInt64 n, const PetscScalar *KC_RESTRICT from, PetscReal factor,
                                 KCScalar *KC_RESTRICT to)
{
  for (PetscInt64 i = 0; i < n; i++) to[i] = (KCScalar)(from[i] * factor);
}

/* Numbers, divided */
static PetscErrorCode Convert(const KCyclePoolDouble *from, PetscReal divisor, KCyclePool *to)
{
  PetscFunctionBegin;
  to->used = to->room = to->most = from->used;
  to->precision                  = KC_PRECISION;
  to->memory                     = from->memory;
  PetscCall(PetscMalloc1((size_t)from->used, &to->v));
  KCycleMemoryAdvise(to->v, (size_t)from->used * sizeof(*to->v));
  Multiply(from->used, from->v, 1 / divisor, to->v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void ConvertClass(int ncoeffs, const KCycleClassDouble *from, PetscReal divisor, KCycleClass *to)
{
  to->a    = from->a;
  to->b    = from->b;
  to->uses = from->uses;
  for (int o = 0; o < ncoeffs; o++) to->middle[o] = (KCScalar)(from->middle[o] / divisor);
  to->inverse = to->middle[ncoeffs / 2] == 0 ? 0 : 1 / to->middle[ncoeffs / 2];
}

/* The operator divided by a number. The grid is that of the original, and must stay */
PetscErrorCode KCycleStencilSingleCreate(const KCycleStencilDouble *from, PetscReal divisor, KCycleStencil **stencil)
{
  KCycleStencil *to;

  PetscFunctionBegin;
  PetscCall(PetscNew(&to));
  to->box      = from->box;
  to->shape    = from->shape;
  to->nclasses = from->nclasses;
  to->half     = from->half;
  PetscCall(PetscMalloc1(from->box->nlines, &to->set));
  PetscCall(PetscArraycpy(to->set, from->set, from->box->nlines));
  PetscCall(PetscCalloc1(from->nclasses, &to->classes));
  for (PetscInt c = 0; c < from->nclasses; c++)
    ConvertClass(from->shape.ncoeffs, &from->classes[c], divisor, &to->classes[c]);
  PetscCall(PetscMalloc1(from->box->nextended, &to->block));
  PetscCall(PetscArraycpy(to->block, from->block, from->box->nextended));
  PetscCall(Convert(&from->shared, divisor, &to->shared));
  PetscCall(Convert(&from->own, divisor, &to->own));
  PetscCall(PetscCalloc1(from->box->n[0] + 2, &to->zeros));
  PetscCall(PetscCalloc1(from->box->nhalo, &to->halo));
  *stencil = to;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleStencilSingleDestroy(KCycleStencil **stencil)
{
  KCycleStencil *st = *stencil;

  PetscFunctionBegin;
  if (!st) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree(st->classes));
  PetscCall(PetscFree(st->set));
  PetscCall(PetscFree(st->block));
  PetscCall(PetscFree(st->shared.v));
  PetscCall(PetscFree(st->own.v));
  PetscCall(PetscFree(st->zeros));
  PetscCall(PetscFree(st->halo));
  PetscCall(PetscFree(*stencil));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleTransferSingleCreate(const KCycleTransferDouble *from, KCycleTransfer **transfer)
{
  KCycleTransfer *to;

  PetscFunctionBegin;
  PetscCall(PetscNew(&to));
  to->fine   = from->fine;
  to->coarse = from->coarse;
  to->stride = from->stride;
  PetscCall(PetscArraycpy(to->factor, from->factor, 3));
  PetscCall(PetscArraycpy(to->origin, from->origin, 3));
  PetscCall(PetscArraycpy(to->shift, from->shift, 3));
  PetscCall(PetscMalloc1(4 * (size_t)from->fine->nextended, &to->set));
  PetscCall(PetscArraycpy(to->set, from->set, 4 * from->fine->nextended));
  PetscCall(Convert(&from->weights, 1, &to->weights));
  PetscCall(PetscCalloc1(from->coarse->nhalo, &to->halo));
  PetscCall(PetscMalloc1((size_t)KCycleThreadsMost() * (size_t)from->fine->n[0], &to->line));
  *transfer = to;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleTransferSingleDestroy(KCycleTransfer **transfer)
{
  KCycleTransfer *tr = *transfer;

  PetscFunctionBegin;
  if (!tr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree(tr->set));
  PetscCall(PetscFree(tr->weights.v));
  PetscCall(PetscFree(tr->halo));
  PetscCall(PetscFree(tr->line));
  PetscCall(PetscFree(*transfer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
