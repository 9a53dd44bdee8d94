/*
  Connected pieces of boxes, which may lie on several processes. Each process joins its own points first; then the least
  natural number of a piece spreads through the connections between processes. What concerns a piece as a whole, its
  size for instance, is gathered in a directory that is spread over the processes by the numbers of pieces.
*/
#include "subdomain.h"

PetscErrorCode KCyclePiecesCreate(MPI_Comm comm, const KCycleSubdomains *sub, const KCycleRows *rows,
                                  const PetscInt natural[], const PetscInt box[], KCyclePieces **pieces)
{
  const PetscInt n = rows->n, all = rows->n + rows->nghost;
  KCyclePieces  *p;
  int            here, any;

  PetscFunctionBegin;
  PetscCall(PetscNew(pieces));
  p          = *pieces;
  p->comm    = comm;
  p->sub     = sub;
  p->rows    = rows;
  p->natural = natural;
  p->box     = box;
  PetscCall(PetscLayoutCreateFromSizes(comm, PETSC_DECIDE, sub->npoints + sub->nboxes, 1, &p->directory));
  PetscCall(PetscMalloc1(n, &p->parent));
  for (PetscInt i = 0; i < n; i++) p->parent[i] = i;
  here = rows->nghost > 0;
  PetscCallMPI(MPI_Allreduce(&here, &any, 1, MPI_INT, MPI_LOR, comm));
  if (any) PetscCall(PetscMalloc1(all + 1, &p->at)); /* not NULL */
  for (PetscInt i = n; i < all; i++) p->at[i] = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCyclePiecesDestroy(KCyclePieces **pieces)
{
  KCyclePieces *p = *pieces;

  PetscFunctionBegin;
  PetscCall(PetscLayoutDestroy(&p->directory));
  PetscCall(PetscSFDestroy(&p->sf));
  PetscCall(PetscFree(p->parent));
  PetscCall(PetscFree(p->at));
  PetscCall(PetscFree2(p->id, p->size));
  PetscCall(PetscFree(*pieces));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers the trees of this process. A point's parent comes before it, and its piece is that of the parent */
static PetscErrorCode NumberTrees(KCyclePieces *p)
{
  PetscInt *local = p->parent;

  PetscFunctionBegin;
  p->nlocal = 0;
  for (PetscInt i = 0; i < p->rows->n; i++) {
    if (local[i] >= 0) local[i] = local[i] == i ? p->nlocal++ : local[local[i]];
  }
  p->local = local;
  PetscCall(PetscMalloc2(p->nlocal, &p->id, p->nlocal, &p->size));
  for (PetscInt i = p->rows->n - 1; i >= 0; i--) {
    if (local[i] >= 0) p->id[local[i]] = p->natural[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ids of pieces to the ghosts of their points */
static PetscErrorCode SpreadIds(KCyclePieces *p)
{
  PetscFunctionBegin;
  if (!p->at) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < p->rows->n; i++) p->at[i] = p->local[i] < 0 ? -1 : p->id[p->local[i]];
  PetscCall(KCycleRowsExchange(p->rows, MPIU_INT, p->at, p->at + p->rows->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sizes of pieces, whole ones; the directory follows their ids */
static PetscErrorCode CountPoints(KCyclePieces *p)
{
  PetscInt *count;

  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&p->sf));
  PetscCall(PetscSFCreate(p->comm, &p->sf));
  PetscCall(PetscSFSetGraphLayout(p->sf, p->directory, p->nlocal, NULL, PETSC_OWN_POINTER, p->id));
  PetscCall(PetscCalloc1(p->directory->n, &count));
  PetscCall(PetscArrayzero(p->size, p->nlocal));
  for (PetscInt i = 0; i < p->rows->n; i++) {
    if (p->local[i] >= 0) p->size[p->local[i]]++;
  }
  PetscCall(PetscSFReduceBegin(p->sf, MPIU_INT, p->size, count, MPI_SUM));
  PetscCall(PetscSFReduceEnd(p->sf, MPIU_INT, p->size, count, MPI_SUM));
  PetscCall(PetscSFBcastBegin(p->sf, MPIU_INT, count, p->size, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(p->sf, MPIU_INT, count, p->size, MPI_REPLACE));
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* cross: ncross pairs of a point of this process and a ghost's number */
PetscErrorCode KCyclePiecesFind(KCyclePieces *p, PetscInt ncross, const PetscInt cross[])
{
  int any = ncross > 0, more;

  PetscFunctionBegin;
  PetscCall(NumberTrees(p));
  PetscCall(SpreadIds(p));
  PetscCallMPI(MPI_Allreduce(&any, &more, 1, MPI_INT, MPI_LOR, p->comm));
  while (more) {
    int changed = 0;

    for (PetscInt c = 0; c < ncross; c++) {
      PetscInt *id = &p->id[p->local[cross[2 * c]]], other = p->at[cross[2 * c + 1]];

      if (other < 0 || other >= *id) continue;
      *id     = other;
      changed = 1;
    }
    PetscCallMPI(MPI_Allreduce(&changed, &more, 1, MPI_INT, MPI_LOR, p->comm));
    if (more) PetscCall(SpreadIds(p));
  }
  PetscCall(CountPoints(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Largest value of a piece among the processes, to all of them */
PetscErrorCode KCyclePiecesBest(const KCyclePieces *p, PetscReal best[])
{
  PetscReal *all;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(p->directory->n, &all));
  PetscCall(PetscSFReduceBegin(p->sf, MPIU_REAL, best, all, MPIU_MAX));
  PetscCall(PetscSFReduceEnd(p->sf, MPIU_REAL, best, all, MPIU_MAX));
  PetscCall(PetscSFBcastBegin(p->sf, MPIU_REAL, all, best, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(p->sf, MPIU_REAL, all, best, MPI_REPLACE));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The least id spreads among pieces that are to be one: from the entries of the directory in from to the ids in to,
   and back */
static PetscErrorCode SpreadLeast(const KCyclePieces *p, PetscInt m, const PetscInt from[], const PetscInt to[],
                                  PetscInt least[])
{
  PetscSF   sf;
  PetscInt *other;
  int       more = 1;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(m, &other));
  PetscCall(PetscSFCreate(p->comm, &sf));
  PetscCall(PetscSFSetGraphLayout(sf, p->directory, m, NULL, PETSC_OWN_POINTER, to));
  while (more) {
    int changed = 0;

    PetscCall(PetscSFBcastBegin(sf, MPIU_INT, least, other, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(sf, MPIU_INT, least, other, MPI_REPLACE));
    for (PetscInt c = 0; c < m; c++) {
      changed        = changed || other[c] != least[from[c]];
      other[c]       = PetscMin(other[c], least[from[c]]);
      least[from[c]] = other[c];
    }
    PetscCall(PetscSFReduceBegin(sf, MPIU_INT, other, least, MPI_MIN));
    PetscCall(PetscSFReduceEnd(sf, MPIU_INT, other, least, MPI_MIN));
    PetscCallMPI(MPI_Allreduce(&changed, &more, 1, MPI_INT, MPI_LOR, p->comm));
  }
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(PetscFree(other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Merges pieces with others: choice is the id of one or PETSC_INT_MAX, and the least among the processes counts */
PetscErrorCode KCyclePiecesMerge(KCyclePieces *p, const PetscInt choice[])
{
  const PetscInt n = p->directory->n;
  PetscInt      *gathered, *from, *to, *least, m = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(n, &gathered, n, &from, n, &to, n, &least));
  for (PetscInt e = 0; e < n; e++) gathered[e] = PETSC_INT_MAX;
  PetscCall(PetscSFReduceBegin(p->sf, MPIU_INT, choice, gathered, MPI_MIN));
  PetscCall(PetscSFReduceEnd(p->sf, MPIU_INT, choice, gathered, MPI_MIN));
  for (PetscInt e = 0; e < p->directory->n; e++) {
    least[e] = p->directory->rstart + e;
    if (gathered[e] == PETSC_INT_MAX) continue;
    from[m] = e;
    to[m++] = gathered[e];
  }
  PetscCall(SpreadLeast(p, m, from, to, least));
  PetscCall(PetscSFBcastBegin(p->sf, MPIU_INT, least, p->id, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(p->sf, MPIU_INT, least, p->id, MPI_REPLACE));
  PetscCall(PetscFree4(gathered, from, to, least));
  PetscCall(CountPoints(p));
  PetscCall(SpreadIds(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sizes of the pieces that the directory of this process keeps; 0: no such piece */
static PetscErrorCode GatherSizes(const KCyclePieces *p, PetscInt **size)
{
  PetscFunctionBegin;
  PetscCall(PetscCalloc1(p->directory->n, size));
  PetscCall(PetscSFReduceBegin(p->sf, MPIU_INT, p->size, *size, MPI_MAX));
  PetscCall(PetscSFReduceEnd(p->sf, MPIU_INT, p->size, *size, MPI_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Leaves most pieces, and one more for each box, at most: of the pieces that are too many, the smallest ones of a box
   become one */
PetscErrorCode KCyclePiecesBound(KCyclePieces *p, PetscInt most)
{
  PetscInt *size, count[64] = {0}, all[64], total = 0, below = 64;

  PetscFunctionBegin;
  PetscCall(GatherSizes(p, &size));
  for (PetscInt e = 0; e < p->directory->n; e++) {
    int power = 0;

    if (!size[e]) continue;
    while (power < 63 && (size[e] >> (power + 1))) power++;
    count[power]++;
  }
  PetscCall(PetscFree(size));
  PetscCallMPI(MPI_Allreduce(count, all, 64, MPIU_INT, MPI_SUM, p->comm));
  while (below > 0 && total + all[below - 1] <= most) total += all[--below];
  if (!below) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < p->nlocal; i++) {
    if (!(p->size[i] >> below)) p->id[i] = p->sub->npoints + KCycleSubdomainsBoxOf(p->sub, p->id[i]);
  }
  PetscCall(CountPoints(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ids of all pieces, ascending, on every process */
static PetscErrorCode GatherIds(const KCyclePieces *p, PetscInt *number, PetscInt **ids)
{
  PetscInt   *size, *mine;
  PetscMPIInt m = 0, nproc, *counts, *first;

  PetscFunctionBegin;
  PetscCall(GatherSizes(p, &size));
  for (PetscInt e = 0; e < p->directory->n; e++) m += size[e] > 0;
  PetscCallMPI(MPI_Comm_size(p->comm, &nproc));
  PetscCall(PetscMalloc3(m, &mine, nproc, &counts, nproc + 1, &first));
  m = 0;
  for (PetscInt e = 0; e < p->directory->n; e++) {
    if (size[e]) mine[m++] = p->directory->rstart + e;
  }
  PetscCallMPI(MPI_Allgather(&m, 1, MPI_INT, counts, 1, MPI_INT, p->comm));
  first[0] = 0;
  for (PetscMPIInt r = 0; r < nproc; r++) first[r + 1] = first[r] + counts[r];
  *number = first[nproc];
  PetscCall(PetscMalloc1(*number + p->sub->nboxes, ids));
  PetscCallMPI(MPI_Allgatherv(mine, m, MPIU_INT, *ids, counts, first, MPIU_INT, p->comm));
  PetscCall(PetscFree3(mine, counts, first));
  PetscCall(PetscFree(size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt BoxOfPiece(const KCyclePieces *p, PetscInt id)
{
  return id < p->sub->npoints ? KCycleSubdomainsBoxOf(p->sub, id) : id - p->sub->npoints;
}

/* Points that belong to no piece go to the first piece of their box; a box that has none but such points becomes a
   piece itself. start: 1 where a box has a piece */
static PetscErrorCode AddEmptyBoxes(const KCyclePieces *p, const PetscInt has[], PetscInt *number, PetscInt ids[])
{
  const PetscInt nboxes = p->sub->nboxes;
  PetscMPIInt    all;
  PetscInt      *isolated;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(nboxes, &all));
  PetscCall(PetscCalloc1(nboxes, &isolated));
  for (PetscInt i = 0; i < p->rows->n; i++) {
    if (p->local[i] < 0) isolated[p->box[i]] = 1;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, isolated, all, MPIU_INT, MPI_MAX, p->comm));
  for (PetscInt b = 0; b < nboxes; b++) {
    if (isolated[b] && !has[b]) ids[(*number)++] = p->sub->npoints + b;
  }
  PetscCall(PetscFree(isolated));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Labels of points: by boxes, in a box by the first points of pieces */
PetscErrorCode KCyclePiecesNumber(const KCyclePieces *p, PetscInt label[], PetscInt *number)
{
  const PetscInt nboxes = p->sub->nboxes;
  PetscInt      *ids, *start, *labels, at;

  PetscFunctionBegin;
  PetscCall(GatherIds(p, number, &ids));
  PetscCall(PetscCalloc1(nboxes + 1, &start));
  for (PetscInt i = 0; i < *number; i++) start[BoxOfPiece(p, ids[i])] = 1;
  PetscCall(AddEmptyBoxes(p, start, number, ids));
  PetscCall(PetscSortInt(*number, ids));
  PetscCall(PetscArrayzero(start, nboxes + 1));
  PetscCall(PetscMalloc1(*number, &labels));
  for (PetscInt i = 0; i < *number; i++) start[BoxOfPiece(p, ids[i]) + 1]++;
  for (PetscInt b = 0; b < nboxes; b++) start[b + 1] += start[b];
  for (PetscInt i = 0; i < *number; i++) labels[i] = start[BoxOfPiece(p, ids[i])]++;
  for (PetscInt i = 0; i < p->nlocal; i++) {
    PetscCall(PetscFindInt(p->id[i], *number, ids, &at));
    p->size[i] = labels[at];
  }
  /* start[b] is now the end of box b, which is where the next one begins */
  for (PetscInt i = 0; i < p->rows->n; i++)
    label[i] = p->local[i] >= 0 ? p->size[p->local[i]] : p->box[i] ? start[p->box[i] - 1] : 0;
  PetscCall(PetscFree(labels));
  PetscCall(PetscFree(start));
  PetscCall(PetscFree(ids));
  PetscFunctionReturn(PETSC_SUCCESS);
}
