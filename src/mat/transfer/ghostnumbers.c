/*
  Numbers of ghost points, see ghostsimpl.h, come from the processes that own the points: entries of an operator, or
  weights of an interpolation. What one process owns of the grid of another one are blocks of points. Both have them
  without asking, and a block is sent line by line, a line that repeats the one before it by a single number.
*/
#include "mattransfer.h"

static void CopyWeights(const KCycleGhostSource *source, PetscInt i, PetscScalar *numbers)
{
  const KCycleTransfer *tr = source->tr;
  PetscInt              count;
  const PetscInt        n = tr->coarse->n[0], c = KCycleTouched(tr->factor[0], tr->shift[0], i, &count);

  for (int q = 0; q < 4; q++) {
    const PetscScalar *w = q < source->touch.count ? source->touch.w[q] : NULL;

    numbers[2 * q]     = !w ? 0 : count == 1 ? KCycleWeightsSame(w)[c] : KCycleWeightsLeft(w, n)[c];
    numbers[2 * q + 1] = !w || count == 1 ? 0 : KCycleWeightsRight(w, n)[c];
  }
}

static void CopyLineWeights(const KCycleGhostSource *source, PetscInt i, PetscInt j, PetscInt k, PetscScalar *numbers)
{
  const KCycleLineWeights *al  = source->al;
  PetscInt                 row = 0, at = -1;

  if (KCycleLineWeightsLine(al, j + source->low[1], k + source->low[2], &row))
    at = KCycleLineWeightsIndex(al, i + source->low[0]);
  for (int t = 0; t < al->m; t++) numbers[t] = at < 0 ? 0 : al->w[t * al->npoints + row + at];
}

/* The numbers of point i of line (j, k) */
void KCycleGhostSourceGet(KCycleGhostSource *source, PetscInt i, PetscInt j, PetscInt k, PetscScalar *numbers)
{
  const PetscBool other = (PetscBool)(source->j != j || source->k != k);

  source->j = j;
  source->k = k;
  if (source->al) CopyLineWeights(source, i, j, k, numbers);
  if (source->tr) {
    if (other) KCycleTransferTouch(source->tr, j, k, &source->touch);
    CopyWeights(source, i, numbers);
  }
  if (!source->st) return;
  if (other) MatStencilLineArrays(source->st, j + source->st->box->n[1] * k, &source->l);
  for (int o = 0; o < source->m; o++) numbers[o] = KCycleLineCoefficient(&source->l, o, i);
}

/* Does line (j, k) have the numbers of line (j - 1, k)? */
static PetscBool Repeats(const KCycleGhostSource *source, PetscInt j, PetscInt k)
{
  PetscInt line;

  if (!source->st) return PETSC_FALSE;
  line = j + source->st->box->n[1] * k;
  return (PetscBool)(KCycleClassOfLine(source->st, line) >= 0 &&
                     KCycleClassOfLine(source->st, line) == KCycleClassOfLine(source->st, line - 1));
}

/* Points after each other in one direction of a grid with ghost points: the process that has the grid, and their place
   there; the one that owns them, and their place among its points */
typedef struct {
  PetscInt  to, at, owner, index, n;
  PetscBool own; /* both are the same, and these no ghost points */
} Run;

typedef struct {
  PetscInt n, most;
  Run     *run;
} Runs;

/* Those of a process, or those of them that one process owns. An overlap has a point beyond the end twice, where a
   periodic direction of an odd number of points is coarsened, see overlap.c */
static PetscErrorCode AddRuns(const KCycleTransfer *tr, int d, PetscInt depth, PetscInt to, PetscInt owner, Runs *runs)
{
  const KCycleBox *box   = tr->fine;
  const PetscInt  *range = box->range[d], size = box->size[d], start = range[to], end = range[to + 1];
  const PetscBool  twice = (PetscBool)(box->periodic[d] && tr->factor[d] == 2 && size % 2 == 1);
  const PetscInt   low   = box->periodic[d] ? depth : PetscMin(depth, start),
                 high    = box->periodic[d] ? depth : PetscMin(depth, size - end);

  PetscFunctionBegin;
  for (PetscInt i = start - low, n; i < end + high; i += n) {
    const PetscBool own = (PetscBool)(i >= start && i < end), beyond = (PetscBool)(twice && (i < 0 || i >= size));
    const PetscInt  point = !beyond ? i
                            : i < 0 ? PetscMin(i + 1, -1)
                                    : PetscMax(i - 1, size),
                   at = (point % size + size) % size, p = KCycleBoxProcess(box, d, at);

    n = beyond ? 1 : PetscMin(range[p + 1] - at, (i < start ? start : own ? end : end + high) - i);
    if (owner >= 0 && p != owner) continue;
    if (runs->n == runs->most) {
      runs->most = 2 * runs->most + 8;
      PetscCall(PetscRealloc((size_t)runs->most * sizeof(Run), &runs->run));
    }
    runs->run[runs->n++] = (Run){to, i - start + low, p, at - range[p], n, own};
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points that one process sends to another one, and its numbers: for each line whether it repeats the one before it, or
   else those of its points */
typedef struct {
  Run          run[3];
  PetscMPIInt  other, count;
  PetscScalar *numbers;
} Block;

/* All that a process sends, or gets; between two processes they have the same order on both */
typedef struct {
  PetscInt n;
  Block   *block;
} Blocks;

static PetscErrorCode BlocksCreate(const KCycleTransfer *tr, const PetscInt depth[], PetscBool sends, Blocks *b)
{
  const KCycleBox *box = tr->fine;
  PetscInt         mine[3], all;
  Runs             runs[3] = {{0, 0, NULL}, {0, 0, NULL}, {0, 0, NULL}};

  PetscFunctionBegin;
  for (PetscInt d = 0, rank = box->rank; d < 3; rank /= box->nproc[d], d++) {
    mine[d] = rank % box->nproc[d];
    for (PetscInt p = 0; p < box->nproc[d]; p++) {
      if (sends || p == mine[d])
        PetscCall(AddRuns(tr, d, d < box->dim ? depth[d] : 0, p, sends ? mine[d] : -1, &runs[d]));
    }
  }
  all  = runs[0].n * runs[1].n * runs[2].n;
  b->n = 0;
  PetscCall(PetscMalloc1(all, &b->block));
  for (PetscInt i = 0; i < all; i++) {
    const Run *x = &runs[0].run[i % runs[0].n], *y = &runs[1].run[i / runs[0].n % runs[1].n],
              *z = &runs[2].run[i / runs[0].n / runs[1].n];
    Block *block = &b->block[b->n];

    if (x->own && y->own && z->own) continue;
    block->run[0]  = *x;
    block->run[1]  = *y;
    block->run[2]  = *z;
    block->other   = (PetscMPIInt)(sends ? x->to + box->nproc[0] * (y->to + box->nproc[1] * z->to)
                                         : x->owner + box->nproc[0] * (y->owner + box->nproc[1] * z->owner));
    block->numbers = NULL;
    b->n++;
  }
  for (int d = 0; d < 3; d++) PetscCall(PetscFree(runs[d].run));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BlocksDestroy(Blocks *b)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < b->n; i++) PetscCall(PetscFree(b->block[i].numbers));
  PetscCall(PetscFree(b->block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Pack(KCycleGhostSource *source, Block *block)
{
  const Run     *x = &block->run[0], *y = &block->run[1], *z = &block->run[2];
  const PetscInt lines = y->n * z->n, m = source->m;
  PetscScalar   *next;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)lines * (1 + (size_t)(x->n * m)), &block->numbers));
  next = block->numbers;
  for (PetscInt line = 0; line < lines; line++) {
    const PetscInt  j = y->index + line % y->n, k = z->index + line / y->n;
    const PetscBool repeats = (PetscBool)(line % y->n && Repeats(source, j, k));

    *next++ = repeats;
    for (PetscInt i = x->index; i < x->index + x->n && !repeats; i++, next += m)
      KCycleGhostSourceGet(source, i, j, k, next);
  }
  PetscCall(PetscMPIIntCast(next - block->numbers, &block->count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of a place of a grid with ghost points among those that are not owned, in their order, where it is one of
   them */
static PetscInt GhostNumber(const KCycleBox *box, const KCycleBox *all, const PetscInt low[], const PetscInt at[])
{
  const PetscInt planes = PetscMin(PetscMax(at[2] - low[2], 0), box->n[2]);
  PetscInt       lines  = planes * box->n[1], owned;

  if (at[2] >= low[2] && planes < box->n[2]) lines += PetscMin(PetscMax(at[1] - low[1], 0), box->n[1]);
  owned = lines * box->n[0];
  if (at[2] >= low[2] && planes < box->n[2] && at[1] >= low[1] && at[1] < low[1] + box->n[1] && at[0] >= low[0])
    owned += box->n[0];
  return at[0] + all->n[0] * (at[1] + all->n[1] * at[2]) - owned;
}

static PetscErrorCode Unpack(const KCycleBox *box, const KCycleBox *all, const PetscInt low[], PetscInt m,
                             const Block *block, PetscScalar *halo)
{
  const Run         *x = &block->run[0], *y = &block->run[1], *z = &block->run[2];
  const PetscScalar *next = block->numbers, *last = NULL;
  const size_t       length = (size_t)(m * x->n);

  PetscFunctionBegin;
  for (PetscInt line = 0; line < y->n * z->n; line++) {
    const PetscInt at[3] = {x->at, y->at + line % y->n, z->at + line / y->n};

    if (*next++ == (PetscScalar)0.0) {
      last = next;
      next += length;
    }
    PetscCall(PetscArraycpy(halo + (size_t)m * GhostNumber(box, all, low, at), last, length));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks that a process sends to itself, where its directions wrap around, are there already */
static void Keep(PetscMPIInt rank, const Blocks *to, const Blocks *from)
{
  PetscInt next = 0;

  for (PetscInt i = 0; i < from->n; i++) {
    if (from->block[i].other != rank) continue;
    while (to->block[next].other != rank) next++;
    from->block[i].numbers    = to->block[next].numbers;
    to->block[next++].numbers = NULL;
  }
}

/* To other processes and from them: how many numbers each block has, or the numbers */
static PetscErrorCode Send(MPI_Comm comm, PetscMPIInt rank, PetscBool counts, const Blocks *to, const Blocks *from)
{
  MPI_Request *request;
  PetscMPIInt  tag, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscCommGetNewTag(comm, &tag));
  PetscCall(PetscMalloc1(to->n + from->n, &request));
  for (PetscInt i = 0; i < from->n; i++) {
    Block *b = &from->block[i];

    if (b->other == rank) continue;
    if (counts) PetscCallMPI(MPI_Irecv(&b->count, 1, MPI_INT, b->other, tag, comm, &request[n++]));
    else {
      PetscCall(PetscMalloc1(b->count, &b->numbers));
      PetscCallMPI(MPI_Irecv(b->numbers, b->count, MPIU_SCALAR, b->other, tag, comm, &request[n++]));
    }
  }
  for (PetscInt i = 0; i < to->n; i++) {
    Block *b = &to->block[i];

    if (b->other == rank) continue;
    if (counts) PetscCallMPI(MPI_Isend(&b->count, 1, MPI_INT, b->other, tag, comm, &request[n++]));
    else PetscCallMPI(MPI_Isend(b->numbers, b->count, MPIU_SCALAR, b->other, tag, comm, &request[n++]));
  }
  if (n) PetscCallMPI(MPI_Waitall(n, request, MPI_STATUSES_IGNORE));
  PetscCall(PetscFree(request));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. What is told of the points of the overlap that this process does not own, point by point in their order.
   The overlap of P is so deep */
PetscErrorCode KCycleGhostNumbers(Mat P, const KCycleOverlap *ov, const PetscInt depth[], KCycleGhostSource *source,
                                  PetscScalar *halo)
{
  const KCycleTransfer *tr   = KCycleTransferOf(P);
  const KCycleBox      *all  = KCycleTransferOf(ov->P)->fine;
  MPI_Comm              comm = PetscObjectComm((PetscObject)P);
  Blocks                to, from;

  PetscFunctionBegin;
  PetscCall(BlocksCreate(tr, depth, PETSC_TRUE, &to));
  PetscCall(BlocksCreate(tr, depth, PETSC_FALSE, &from));
  for (PetscInt i = 0; i < to.n; i++) PetscCall(Pack(source, &to.block[i]));
  Keep(tr->fine->rank, &to, &from);
  for (int counts = 1; counts >= 0; counts--) PetscCall(Send(comm, tr->fine->rank, (PetscBool)counts, &to, &from));
  PetscCall(BlocksDestroy(&to));
  for (PetscInt i = 0; i < from.n; i++) PetscCall(Unpack(tr->fine, all, ov->low, source->m, &from.block[i], halo));
  PetscCall(BlocksDestroy(&from));
  PetscFunctionReturn(PETSC_SUCCESS);
}
