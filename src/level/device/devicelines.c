/*
  Zebra relaxation on a device: copies of the factors that zebra.c made, and sweeps, colour after colour. Of lines that
  processes have parts of, first and last points go through the host.
*/
#include "../smoother/lines.h"
#include <petsckcycle/private/devicelevelimpl.h>

/* Lines of one direction; ends of their parts as in KCycleLineEnds */
typedef struct {
  const KCycleLines *of;
  KCycleCudaLines    all; /* without what a colour has of its own */
  KCScalar          *weight, *ends;
  KCScalar          *mine, *gathered; /* on the host, where several processes have parts */
} Lines;

typedef struct {
  int   ndirections;
  Lines lines[3];
} Copy;

static PetscErrorCode DestroyLines(Lines *lines)
{
  PetscFunctionBegin;
  PetscCall(KCycleDeviceFree(lines->all.set));
  PetscCall(KCycleDeviceFree(lines->all.sets));
  PetscCall(KCycleDeviceFree(lines->all.factors));
  PetscCall(KCycleDeviceFree(lines->all.beyond));
  PetscCall(KCycleDeviceFree(lines->weight));
  PetscCall(KCycleDeviceFree(lines->ends));
  if (lines->mine) PetscCallCUDA(cudaFreeHost(lines->mine));
  if (lines->gathered) PetscCallCUDA(cudaFreeHost(lines->gathered));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(void **copy)
{
  Copy *c = (Copy *)*copy;

  PetscFunctionBegin;
  for (int d = 0; d < c->ndirections; d++) PetscCall(DestroyLines(&c->lines[d]));
  PetscCall(PetscFree(*copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateEnds(const KCycleLines *z, Lines *lines)
{
  const PetscInt p    = z->ends.size;
  PetscInt       most = 0, total = 0;
  size_t         bytes;

  PetscFunctionBegin;
  for (int c = 0; c < z->ncolours; c++) {
    most = PetscMax(most, z->start[c][z->nrows]);
    total += z->start[c][z->nrows];
  }
  bytes = (size_t)(2 * most) * sizeof(KCScalar);
  PetscCall(KCycleDeviceCopy(z->ends.weight, (size_t)(4 * total) * (size_t)p * sizeof(KCScalar), &lines->weight));
  PetscCall(KCycleDeviceMalloc(bytes, &lines->all.beyond));
  PetscCall(KCycleDeviceMalloc(bytes * (size_t)p, &lines->ends));
  if (p == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaMallocHost((void **)&lines->mine, bytes));
  PetscCallCUDA(cudaMallocHost((void **)&lines->gathered, bytes * (size_t)p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateLines(const KCycleLines *z, PetscReal weight, Lines *lines)
{
  KCycleCudaLines *to = &lines->all;

  PetscFunctionBegin;
  lines->of   = z;
  to->d       = z->d;
  to->n       = z->n;
  to->step[0] = z->step[z->d];
  to->step[1] = z->step[z->beside[0]];
  to->step[2] = z->step[z->beside[1]];
  to->nblocks = z->nblocks;
  to->turned  = z->turned ? 1 : 0;
  to->cut     = z->cut ? 1 : 0;
  to->weight  = (KCScalar)weight;
  PetscCall(
      KCycleDeviceCopy(z->set, (size_t)(2 * z->nrows * (z->d == 0 ? z->nblocks : 1)) * sizeof(*z->set), &to->set));
  PetscCall(KCycleDeviceCopy(z->sets, (size_t)z->nsets * sizeof(*z->sets), &to->sets));
  PetscCall(KCycleDeviceCopy(z->factors, z->used * sizeof(*z->factors), &to->factors));
  if (z->cut) PetscCall(CreateEnds(z, lines));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleDeviceLinesCreate(KCycleSmoother *s)
{
  const KCycleZebra *zebra = (const KCycleZebra *)s->data;
  Copy              *copy;

  PetscFunctionBegin;
  PetscCall(PetscNew(&copy));
  s->copy           = copy;
  s->destroycopy    = Destroy;
  copy->ndirections = zebra->ndirections;
  for (int d = 0; d < zebra->ndirections; d++) PetscCall(CreateLines(&zebra->lines[d], s->weight, &copy->lines[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static KCycleCudaLines ColourOf(const KCycleStencil *st, const Lines *lines, int colour, KCScalar *work)
{
  const KCycleLines *z  = lines->of;
  KCycleCudaLines    to = lines->all;

  to.nlines = z->start[colour][z->nrows];
  to.y      = work;
  for (PetscInt row = 0; row < 2; row++) {
    const int parity = KCycleLinesParity(st, z, colour, row);

    to.parity[row] = PetscMax(parity, 0);
    to.count[row]  = parity < 0 ? 0 : (st->box->n[z->beside[0]] + 1 - parity) / 2;
  }
  return to;
}

/* What comes before and after the parts of lines, from the first and the last points of y */
static PetscErrorCode CompleteLines(const Lines *lines, const KCycleCudaLines *z, int colour)
{
  const KCycleLines *of     = lines->of;
  const PetscInt     n      = z->nlines;
  const size_t       bytes  = (size_t)(2 * n) * sizeof(KCScalar);
  const KCScalar    *weight = lines->weight;

  PetscFunctionBegin;
  for (int c = 0; c < colour; c++) weight += 4 * of->ends.size * of->start[c][of->nrows];
  KCycleCallKernel(KCycleCudaMove, n, NULL, z->y, NULL, lines->ends);
  KCycleCallKernel(KCycleCudaMove, n, NULL, z->y + (z->n - 1) * n, NULL, lines->ends + n);
  if (of->ends.size > 1) {
    PetscCall(KCycleDeviceToHost(bytes, lines->ends, lines->mine));
    PetscCall(KCycleLinesGather(&of->ends, 2 * n, lines->mine, lines->gathered));
    PetscCall(KCycleDeviceToDevice(bytes * (size_t)of->ends.size, lines->gathered, lines->ends));
  }
  KCycleCallKernel(KCycleCudaLinesBeyond, z, of->ends.size, weight, lines->ends);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines in y and z that are not cut are added to x as they are solved: then neighbours in x are those of threads */
static PetscErrorCode SolveColour(const KCycleDeviceStencil *st, const Lines *lines, const KCycleCudaLines *z,
                                  int colour, const KCScalar *b, const KCScalar *from, KCScalar *x)
{
  const PetscBool direct = (PetscBool)(z->d > 0 && !z->cut);

  PetscFunctionBegin;
  if (from) PetscCall(KCycleDeviceStencilExchange(st, from));
  KCycleCallKernel(KCycleCudaLineResidual, &st->st, z, b, from);
  KCycleCallKernel(KCycleCudaLinesSolve, z, direct ? x : NULL);
  if (direct) PetscFunctionReturn(PETSC_SUCCESS);
  if (z->cut) PetscCall(CompleteLines(lines, z, colour));
  KCycleCallKernel(KCycleCudaLinesAdd, z, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Those of zebra.c; work: a vector */
PetscErrorCode KCycleDeviceLinesSweeps(const KCycleDeviceStencil *st, const KCycleSmoother *s,
                                       const KCycleSweeps *sweeps, const KCScalar *b, KCScalar *x, KCScalar *work)
{
  const Copy *copy = (const Copy *)s->copy;
  PetscBool   zero = sweeps->zeroguess;

  PetscFunctionBegin;
  if (zero) KCycleCallKernel(KCycleCudaZero, st->st.box.npoints, x);
  for (PetscInt i = 0; i < KCycleSweepsTurns(sweeps); i++) {
    const PetscBool back = KCycleSweepsTurnsBack(sweeps, i);

    for (int d = 0; d < copy->ndirections; d++) {
      const Lines *lines = &copy->lines[back ? copy->ndirections - 1 - d : d];
      const int    n = lines->of->ncolours, first = KCycleLinesFirstColour(s, lines->of);

      for (int c = 0; c < n; c++) {
        const int             colour = first ^ (back ? n - 1 - c : c);
        const KCycleCudaLines z      = ColourOf(s->st, lines, colour, work);

        PetscCall(SolveColour(st, lines, &z, colour, b, zero ? NULL : x, x));
        zero = PETSC_FALSE;
      }
    }
  }
  PetscCall(PetscLogGpuFlops(2.0 * st->st.shape.ncoeffs * copy->ndirections * KCycleSweepsTurns(sweeps) *
                             st->st.box.npoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}
