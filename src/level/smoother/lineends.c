/*
  Grid lines that several processes have parts of, or that wrap around, are solved exactly, too. With T the system of
  one part, r its residual, and what comes before and after the part as unknowns b and a,

    x = T^-1 r - v b - w a,   v = T^-1 (coupling of the first point), w = T^-1 (coupling of the last one),

  so that first and last points of all parts are a system of their own. Of its inverse a process keeps what it needs:
  b and a as sums over the first and last points of all T^-1 r, which the processes of a line gather.
*/
#include "lines.h"

/* The n numbers that each process of the lines has, one after the other */
PetscErrorCode KCycleLinesGather(const KCycleLineEnds *e, PetscInt n, const KCScalar *mine, KCScalar *all)
{
  PetscMPIInt count;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(n, &count));
  if (e->comm == MPI_COMM_NULL) PetscCall(PetscArraycpy(all, mine, n));
  else {
    KCycleRounds++;
    PetscCallMPI(MPI_Allgather(mine, count, KC_MPI_NUMBER, all, count, KC_MPI_NUMBER, e->comm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From what was gathered, what comes before the lines of a colour and after them: a thread's share */
void KCycleLinesBeyond(KCycleLines *z, int colour)
{
  KCycleLineEnds *e    = &z->ends;
  const PetscInt  rows = z->nrows, n = z->start[colour][rows];
  const KCScalar *weight = e->weight;
  PetscInt        first, end;

  for (int c = 0; c < colour; c++) weight += 4 * e->size * z->start[c][rows];
  KCycleShare(0, n, &first, &end);
  for (int side = 0; side < 2; side++) {
    KCScalar *value = e->beyond + side * n;

    for (PetscInt i = first; i < end; i++) value[i] = 0;
    for (PetscInt j = 0; j < 2 * e->size; j++, weight += n) {
      for (PetscInt i = first; i < end; i++) value[i] += weight[i] * e->all[j * n + i];
    }
  }
}

/* Solves the n equations a^T g = h for two right sides h, which become g; a is spoilt. No pivoting: a is dominated by
   its diagonal */
static void SolveTransposed(PetscInt n, PetscScalar *a, PetscScalar *h)
{
  for (PetscInt k = 0; k < n; k++) {
    const PetscScalar pivot = a[k * n + k];

    if (PetscAbsScalar(pivot) < 100 * KC_EPSILON) {
      for (PetscInt j = 0; j < n; j++) a[k * n + j] = a[j * n + k] = 0;
      h[k] = h[n + k] = 0;
      continue;
    }
    for (PetscInt i = k + 1; i < n; i++) {
      const PetscScalar f = a[k * n + i] / pivot;

      if (f == (PetscScalar)0.0) continue;
      for (PetscInt j = k; j < n; j++) a[j * n + i] -= f * a[j * n + k];
      h[i] -= f * h[k];
      h[n + i] -= f * h[n + k];
    }
  }
  for (PetscInt k = n - 1; k >= 0; k--) {
    const PetscScalar pivot = a[k * n + k];

    for (int side = 0; side < 2; side++) {
      PetscScalar *g = h + side * n;

      for (PetscInt j = k + 1; j < n; j++) g[k] -= a[j * n + k] * g[j];
      g[k] = pivot == (PetscScalar)0.0 ? (PetscScalar)0.0 : g[k] / pivot;
    }
  }
}

/* What a line's first and last points add to what comes before its part on this process and after it: rows of the
   inverse of their system, into h. ends: v first, v last, w first, w last of each part, at a distance */
static void InvertEnds(const KCycleLineEnds *e, const KCScalar *ends, PetscInt distance, PetscScalar *a, PetscScalar *h)
{
  const PetscInt p = e->size, n = 2 * p;

  for (PetscInt i = 0; i < n * n; i++) a[i] = 0;
  for (PetscInt i = 0; i < 2 * n; i++) h[i] = 0;
  for (PetscInt part = 0; part < p; part++, ends += 4 * distance) {
    const PetscInt last = 2 * ((part + p - 1) % p) + 1, next = 2 * ((part + 1) % p);

    for (PetscInt i = 0; i < 2; i++) {
      PetscScalar *row = a + (2 * part + i) * n;

      row[2 * part + i] += 1;
      row[last] += ends[i * distance];
      row[next] += ends[(2 + i) * distance];
    }
  }
  h[2 * ((e->rank + p - 1) % p) + 1] = 1;
  h[n + 2 * ((e->rank + 1) % p)]     = 1;
  SolveTransposed(n, a, h);
}

/* The ends of T^-1 of the couplings of a block, from number first of the lines on */
static void EndsOfBlock(const KCycleLines *z, const KCycleLineBlock *block, PetscInt total, KCScalar *to)
{
  KCycleFactors  f;
  const PetscInt number = KCycleLinesFactors(z, block, &f), last = (z->n - 1) * f.m;

  for (PetscInt s = 0; s < block->end - block->first; s++) {
    const PetscInt index = KCycleFactorsIndex(&f, number + s);

    to[s]             = f.before[index];
    to[total + s]     = f.before[last + index];
    to[2 * total + s] = f.behind[index];
    to[3 * total + s] = f.behind[last + index];
  }
}

/* Those of all lines, colour by colour, of all parts */
static PetscErrorCode CollectEnds(const KCycleStencil *st, const KCycleLines *z, PetscInt total, KCScalar **all)
{
  KCScalar *mine, *to;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(4 * total, &mine));
  PetscCall(PetscMalloc1((size_t)(4 * total) * (size_t)z->ends.size, all));
  to = mine;
  for (int c = 0; c < z->ncolours; c++) {
    for (PetscInt row = 0; row < z->nrows; row++) {
      const int parity = KCycleLinesParity(st, z, c, row);

      for (PetscInt b = 0; b < z->nblocks && parity >= 0; b++) {
        const KCycleLineBlock block = KCycleLinesBlock(st, z, row, parity, b);

        if (block.end > block.first) EndsOfBlock(z, &block, total, to);
        to += block.end - block.first;
      }
    }
  }
  PetscCall(KCycleLinesGather(&z->ends, 4 * total, mine, *all));
  PetscCall(PetscFree(mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleLinesSetUpEnds(const KCycleStencil *st, KCycleLines *z)
{
  KCycleLineEnds *e     = &z->ends;
  const PetscInt  p     = e->size;
  PetscInt        total = 0, most = 0, line = 0;
  KCScalar       *ends, *weight;
  PetscScalar    *a, *h;

  PetscFunctionBegin;
  for (int c = 0; c < z->ncolours; c++) {
    most = PetscMax(most, z->start[c][z->nrows]);
    total += z->start[c][z->nrows];
  }
  PetscCall(PetscMalloc3(2 * most, &e->mine, 2 * most * p, &e->all, 2 * most, &e->beyond));
  PetscCall(PetscMalloc1((size_t)(4 * total) * (size_t)p, &e->weight));
  PetscCall(PetscMalloc2(4 * p * p, &a, 4 * p, &h));
  PetscCall(CollectEnds(st, z, total, &ends));
  weight = e->weight;
  for (int c = 0; c < z->ncolours; c++) {
    const PetscInt n = z->start[c][z->nrows];

    for (PetscInt i = 0; i < n; i++) {
      InvertEnds(e, ends + line++, total, a, h);
      for (PetscInt j = 0; j < 4 * p; j++) weight[j * n + i] = (KCScalar)h[j];
    }
    weight += 4 * p * n;
  }
  PetscCall(PetscFree(ends));
  PetscCall(PetscFree2(a, h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Who has the other parts of the lines */
PetscErrorCode KCycleLinesFindParts(const KCycleSmoother *s, KCycleLines *z)
{
  const KCycleBox *box  = s->st->box;
  const PetscInt   d    = z->d;
  PetscInt         p[3] = {box->rank % box->nproc[0], box->rank / box->nproc[0] % box->nproc[1],
                           box->rank / (box->nproc[0] * box->nproc[1])};
  PetscMPIInt      key, lines;

  PetscFunctionBegin;
  z->coupled[0] = (PetscBool)(box->periodic[d] || p[d] > 0);
  z->coupled[1] = (PetscBool)(box->periodic[d] || p[d] < box->nproc[d] - 1);
  z->cut        = (PetscBool)(box->periodic[d] || box->nproc[d] > 1);
  z->ends.comm  = MPI_COMM_NULL;
  z->ends.size  = 1;
  z->ends.rank  = 0;
  if (box->nproc[d] == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMPIIntCast(p[d], &key));
  p[d] = 0;
  PetscCall(PetscMPIIntCast(p[0] + box->nproc[0] * (p[1] + box->nproc[1] * p[2]), &lines));
  PetscCallMPI(MPI_Comm_split(s->comm, lines, key, &z->ends.comm));
  PetscCallMPI(MPI_Comm_size(z->ends.comm, &z->ends.size));
  PetscCallMPI(MPI_Comm_rank(z->ends.comm, &z->ends.rank));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleLinesDestroyEnds(KCycleLineEnds *e)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(e->mine, e->all, e->beyond));
  PetscCall(PetscFree(e->weight));
  if (e->size > 1) PetscCallMPI(MPI_Comm_free(&e->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
