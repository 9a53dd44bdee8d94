/*
  Copies of operators and transfers in single precision.
*/
#include <petsckcycle/private/cycleimpl.h>

#if defined(KCYCLE_SINGLE)

/* So many numbers, divided */
static PetscErrorCode Copy(PetscInt n, const PetscScalar *from, PetscReal divisor, KCScalar **to)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, to));
  for (PetscInt i = 0; i < n; i++) (*to)[i] = (KCScalar)(from[i] / divisor);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyClass(PetscInt n, int ncoeffs, const KCycleClassDouble *from, PetscReal divisor,
                                KCycleClass *to)
{
  const PetscInt head = from->b > from->a ? from->a : 1, tail = from->b > from->a ? n - from->b : (n > 1 ? 1 : 0);

  PetscFunctionBegin;
  to->a    = from->a;
  to->b    = from->b;
  to->uses = from->uses;
  for (int o = 0; o < ncoeffs; o++) to->middle[o] = (KCScalar)(from->middle[o] / divisor);
  to->inverse = to->middle[ncoeffs / 2] == 0 ? 0 : 1 / to->middle[ncoeffs / 2];
  PetscCall(Copy(ncoeffs * n, from->c, divisor, &to->c));
  PetscCall(Copy(ncoeffs * (head + tail), from->ends, divisor, &to->ends));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The blocks of all lines lie in one array, which begins where that of the first one does */
static PetscErrorCode CopyBlocks(const KCycleStencilDouble *from, PetscReal divisor, KCycleStencil *to)
{
  const PetscInt length  = KCycleBlockLength(from->box, &from->shape, from->half);
  size_t         nblocks = 0;
  KCScalar      *next;

  PetscFunctionBegin;
  for (PetscInt e = 0; e < from->box->nextended; e++) nblocks += from->block[e] ? 1 : 0;
  PetscCall(PetscMalloc1(nblocks * (size_t)length, &next));
  PetscCall(PetscCalloc1(from->box->nextended + 1, &to->block));
  to->block[from->box->nextended] = next;
  for (PetscInt e = 0; e < from->box->nextended; e++) {
    if (!from->block[e]) continue;
    to->block[e] = next;
    for (PetscInt i = 0; i < length; i++) next[i] = (KCScalar)(from->block[e][i] / divisor);
    next += length;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
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
  to->blocks   = from->blocks;
  to->half     = from->half;
  PetscCall(PetscMalloc1(from->box->nlines, &to->kind));
  PetscCall(PetscArraycpy(to->kind, from->kind, from->box->nlines));
  PetscCall(PetscCalloc1(from->nclasses, &to->classes));
  for (PetscInt c = 0; c < from->nclasses; c++)
    PetscCall(CopyClass(from->box->n[0], from->shape.ncoeffs, &from->classes[c], divisor, &to->classes[c]));
  PetscCall(CopyBlocks(from, divisor, to));
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
  for (PetscInt c = 0; c < st->nclasses; c++) {
    PetscCall(PetscFree(st->classes[c].c));
    PetscCall(PetscFree(st->classes[c].ends));
  }
  PetscCall(PetscFree(st->classes));
  PetscCall(PetscFree(st->kind));
  PetscCall(PetscFree(st->block[st->box->nextended]));
  PetscCall(PetscFree(st->block));
  PetscCall(PetscFree(st->zeros));
  PetscCall(PetscFree(st->halo));
  PetscCall(PetscFree(*stencil));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines whose weights are the same have the same array in both; order: all of them, sorted */
static PetscErrorCode CopyWeights(const KCycleTransferDouble *from, PetscInt64 order[], KCycleTransfer *to)
{
  const PetscInt n     = 4 * from->fine->nextended;
  PetscCount     nsets = 0;
  KCScalar      *sets;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) order[i] = (PetscInt64)from->weights[i];
  PetscCall(PetscSortInt64(n, order));
  for (PetscInt i = 0; i < n; i++) {
    if (order[i] && (!nsets || order[i] != order[nsets - 1])) order[nsets++] = order[i];
  }
  PetscCall(PetscMalloc1((size_t)nsets * (size_t)from->stride, &sets));
  to->weights[n] = sets;
  for (PetscCount s = 0; s < nsets; s++) {
    for (PetscInt i = 0; i < from->stride; i++)
      sets[s * from->stride + i] = (KCScalar)((const PetscScalar *)order[s])[i];
  }
  for (PetscInt i = 0; i < n; i++) {
    PetscCount low = 0, high = nsets;

    if (!from->weights[i]) continue;
    while (high - low > 1) {
      const PetscCount middle = low + (high - low) / 2;

      if (order[middle] <= (PetscInt64)from->weights[i]) low = middle;
      else high = middle;
    }
    to->weights[i] = sets + low * from->stride;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleTransferSingleCreate(const KCycleTransferDouble *from, KCycleTransfer **transfer)
{
  KCycleTransfer *to;
  PetscInt64     *order;

  PetscFunctionBegin;
  PetscCall(PetscNew(&to));
  to->fine   = from->fine;
  to->coarse = from->coarse;
  to->stride = from->stride;
  to->nsets  = from->nsets;
  PetscCall(PetscArraycpy(to->factor, from->factor, 3));
  PetscCall(PetscArraycpy(to->first, from->first, 3));
  PetscCall(PetscArraycpy(to->shift, from->shift, 3));
  PetscCall(PetscCalloc1(4 * from->fine->nextended + 1, &to->weights));
  PetscCall(PetscMalloc1(4 * from->fine->nextended, &order));
  PetscCall(CopyWeights(from, order, to));
  PetscCall(PetscFree(order));
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
  PetscCall(PetscFree(tr->weights[4 * tr->fine->nextended]));
  PetscCall(PetscFree(tr->weights));
  PetscCall(PetscFree(tr->halo));
  PetscCall(PetscFree(tr->line));
  PetscCall(PetscFree(*transfer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
