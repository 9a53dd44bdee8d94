/*
  PCFASTPOISSON: which points processes have while a direction is transformed, and the exchanges in between.

  A direction is solved where no process cuts it. If processes do, those that cut the same lines share these anew: the
  points of another direction are cut into as many more parts, and all others stay where they are.

      processes p x q x r, direction x:   1 x p q x r  or  1 x q x p r
*/
#include "fastpoissonimpl.h"

#if defined(KCYCLE_HAVE_FASTPOISSON)

/* The box of a process, in coordinates of the core */
static void BoxOf(const KCycleBox *l, PetscMPIInt rank, PetscInt lo[], PetscInt hi[])
{
  PetscInt rest = rank;

  for (int d = 0; d < 3; d++) {
    const PetscInt p = rest % l->nproc[d];

    lo[d] = l->range[d][p];
    hi[d] = l->range[d][p + 1];
    rest /= l->nproc[d];
  }
}

/* The core as the DMDA cuts it */
PetscErrorCode PCFastPoissonGridCreate(PC_FastPoisson *fp)
{
  KCycleBox *l = &fp->grid;

  PetscFunctionBegin;
  *l          = *fp->box;
  l->rows     = NULL;
  l->offset   = NULL;
  l->exchange = NULL;
  for (int d = 0; d < 3; d++) {
    PetscCall(PetscMalloc1(l->nproc[d] + 1, &l->range[d]));
    for (PetscInt p = 0; p <= l->nproc[d]; p++)
      l->range[d][p] = PetscMax(0, PetscMin(fp->box->range[d][p] - fp->dir[d].lo, fp->dir[d].n));
  }
  PetscCall(KCycleBoxLay(l, fp->box->rank));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From one layout to one that does not cut direction d */
static PetscErrorCode NextLayout(const PC_FastPoisson *fp, const KCycleBox *from, int d, KCycleBox *l)
{
  PetscInt most = -1;
  int      into = 0;

  PetscFunctionBegin;
  *l      = *from;
  l->rows = NULL;
  for (int e = 0; e < 3; e++) {
    if (e != d && fp->dir[e].n / from->nproc[e] > most) {
      most = fp->dir[e].n / from->nproc[e];
      into = e;
    }
  }
  l->nproc[into] *= from->nproc[d];
  l->nproc[d] = 1;
  for (int e = 0; e < 3; e++) {
    PetscCall(PetscMalloc1(l->nproc[e] + 1, &l->range[e]));
    for (PetscInt p = 0; p <= l->nproc[e]; p++)
      l->range[e][p] =
          l->nproc[e] == from->nproc[e] ? from->range[e][p] : (PetscInt)((PetscInt64)fp->dir[e].n * p / l->nproc[e]);
  }
  PetscCall(KCycleBoxLay(l, fp->box->rank));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points that a process has in one layout and another one in the other; lo, hi: their box */
static PetscInt Common(const KCycleBox *a, PetscMPIInt ra, const KCycleBox *b, PetscMPIInt rb, PetscInt lo[],
                       PetscInt hi[])
{
  PetscInt l[3], h[3], count = 1;

  BoxOf(a, ra, lo, hi);
  BoxOf(b, rb, l, h);
  for (int d = 0; d < 3; d++) {
    lo[d] = PetscMax(lo[d], l[d]);
    hi[d] = PetscMin(hi[d], h[d]);
    count *= PetscMax(0, hi[d] - lo[d]);
  }
  return count;
}

static PetscErrorCode ExchangeCreate(const KCycleBox *from, const KCycleBox *to, PetscMPIInt rank, KCycleFPExchange *ex)
{
  const PetscInt size = from->nproc[0] * from->nproc[1] * from->nproc[2];
  PetscInt       sent = 0, received = 0, lo[3], hi[3];

  PetscFunctionBegin;
  ex->from = from;
  ex->to   = to;
  PetscCall(PetscMalloc4(size, &ex->nsend, size, &ex->send, size, &ex->nrecv, size, &ex->recv));
  for (PetscMPIInt r = 0; r < size; r++) {
    PetscCall(PetscMPIIntCast(sent, &ex->send[r]));
    PetscCall(PetscMPIIntCast(received, &ex->recv[r]));
    PetscCall(PetscMPIIntCast(Common(from, rank, to, r, lo, hi), &ex->nsend[r]));
    PetscCall(PetscMPIIntCast(Common(to, rank, from, r, lo, hi), &ex->nrecv[r]));
    sent += ex->nsend[r];
    received += ex->nrecv[r];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCFastPoissonLayoutsCreate(PC pc)
{
  PC_FastPoisson *fp   = (PC_FastPoisson *)pc->data;
  PetscInt        most = 0;

  PetscFunctionBegin;
  for (int s = 0; s < fp->nstages; s++) {
    const KCycleBox *from = s ? &fp->layout[s - 1] : &fp->grid;

    PetscCall(NextLayout(fp, from, fp->order[s], &fp->layout[s]));
    if (from->nproc[fp->order[s]] == 1) continue;
    PetscCall(ExchangeCreate(from, &fp->layout[s], fp->box->rank, &fp->exchange[s]));
    PetscCall(PetscMalloc1(fp->layout[s].npoints, &fp->array[s]));
    most = PetscMax(most, PetscMax(from->npoints, fp->layout[s].npoints));
  }
  if (most) PetscCall(PetscMalloc2(most, &fp->sent, most, &fp->received));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCFastPoissonLayoutsDestroy(PC_FastPoisson *fp)
{
  PetscFunctionBegin;
  for (int s = 0; s < 3; s++) {
    PetscCall(PetscFree4(fp->exchange[s].nsend, fp->exchange[s].send, fp->exchange[s].nrecv, fp->exchange[s].recv));
    PetscCall(PetscMemzero(&fp->exchange[s], sizeof(fp->exchange[s])));
    PetscCall(PetscFree(fp->array[s]));
    PetscCall(KCycleBoxDestroy(&fp->layout[s]));
  }
  PetscCall(KCycleBoxDestroy(&fp->grid));
  PetscCall(PetscFree2(fp->sent, fp->received));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points of this process in one layout, in the order of the processes that have them in the other one, between their
   positions in an array and a buffer */
static void Pack(const KCycleBox *own, const KCycleBox *other, PetscMPIInt rank, const KCycleFPView *view,
                 PetscBool unpack, PetscScalar *buffer)
{
  const PetscMPIInt size = (PetscMPIInt)(other->nproc[0] * other->nproc[1] * other->nproc[2]);
  const PetscInt   *st   = view->stride;
  PetscInt          lo[3], hi[3];

  for (PetscMPIInt r = 0; r < size; r++) {
    if (!Common(own, rank, other, r, lo, hi)) continue;
    for (PetscInt k = lo[2]; k < hi[2]; k++) {
      for (PetscInt j = lo[1]; j < hi[1]; j++) {
        const PetscInt n = hi[0] - lo[0];
        PetscScalar *v = view->v + (lo[0] - own->start[0]) + (j - own->start[1]) * st[1] + (k - own->start[2]) * st[2];

        if (unpack) (void)memcpy(v, buffer, (size_t)n * sizeof(*v));
        else (void)memcpy(buffer, v, (size_t)n * sizeof(*v));
        buffer += n;
      }
    }
  }
}

/* back: from the later layout to the earlier one */
PetscErrorCode PCFastPoissonExchange(PC pc, const KCycleFPExchange *ex, PetscBool back, const KCycleFPView *in,
                                     const KCycleFPView *out)
{
  PC_FastPoisson  *fp   = (PC_FastPoisson *)pc->data;
  MPI_Comm         comm = PetscObjectComm((PetscObject)pc);
  const KCycleBox *from = back ? ex->to : ex->from, *to = back ? ex->from : ex->to;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PCFastPoissonEvents[KCYCLE_FP_EXCHANGES], pc, 0, 0, 0));
  Pack(from, to, fp->box->rank, in, PETSC_FALSE, fp->sent);
  if (back)
    PetscCallMPI(MPI_Alltoallv(fp->sent, ex->nrecv, ex->recv, MPIU_SCALAR, fp->received, ex->nsend, ex->send,
                               MPIU_SCALAR, comm));
  else
    PetscCallMPI(MPI_Alltoallv(fp->sent, ex->nsend, ex->send, MPIU_SCALAR, fp->received, ex->nrecv, ex->recv,
                               MPIU_SCALAR, comm));
  Pack(to, from, fp->box->rank, out, PETSC_TRUE, fp->received);
  PetscCall(PetscLogEventEnd(PCFastPoissonEvents[KCYCLE_FP_EXCHANGES], pc, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
