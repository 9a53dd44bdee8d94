/*
  The search for clusters that are cut into processes, among candidates: points of groups that may reach across a cut
  while they live.

  Each process gets those of all processes around that are near its box, and searches again among them. Then it knows
  the groups that have their first point in its box as a single process would, as far as they live, and makes their
  clusters. What a candidate is coupled to that is none is the death of a group: it was dead before, or is too far away.
*/
#include "searchimpl.h"

/* So near. Longer clusters are missed; on stretched grids, where they are long, 16 points were not enough */
#define KC_CLUSTER_REACH 40

/* What processes get from each other, by ranks */
typedef struct {
  PetscMPIInt n, *rank, *count; /* senders, and how many records each has sent */
  char       *data;
} Mail;

static PetscErrorCode MailDestroy(Mail *mail)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(mail->rank));
  PetscCall(PetscFree(mail->count));
  PetscCall(PetscFree(mail->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sends count[r] records of so many bytes to each process r; data has those for process 0 first */
static PetscErrorCode Post(MPI_Comm comm, size_t size, const PetscMPIInt count[], const char data[], Mail *mail)
{
  PetscMPIInt  nprocs, nto = 0, *to, *tocount, tag;
  MPI_Datatype record;
  MPI_Request *request;
  size_t       total = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &nprocs));
  PetscCall(PetscMalloc2(nprocs, &to, nprocs, &tocount));
  for (PetscMPIInt r = 0; r < nprocs; r++) {
    if (!count[r]) continue;
    to[nto]        = r;
    tocount[nto++] = count[r];
  }
  PetscCall(PetscCommBuildTwoSided(comm, 1, MPI_INT, nto, to, tocount, &mail->n, &mail->rank, (void *)&mail->count));
  PetscCall(PetscSortMPIIntWithArray(mail->n, mail->rank, mail->count));
  for (PetscMPIInt i = 0; i < mail->n; i++) total += (size_t)mail->count[i] * size;
  PetscCall(PetscMalloc1(total, &mail->data));
  PetscCall(PetscMalloc1(mail->n + nto, &request));
  PetscCall(PetscCommGetNewTag(comm, &tag));
  PetscCallMPI(MPI_Type_contiguous((int)size, MPI_BYTE, &record));
  PetscCallMPI(MPI_Type_commit(&record));
  total = 0;
  for (PetscMPIInt i = 0; i < mail->n; i++) {
    PetscCallMPI(MPI_Irecv(mail->data + total, mail->count[i], record, mail->rank[i], tag, comm, &request[i]));
    total += (size_t)mail->count[i] * size;
  }
  for (PetscMPIInt i = 0; i < nto; i++) {
    PetscCallMPI(MPI_Isend(data, tocount[i], record, to[i], tag, comm, &request[mail->n + i]));
    data += (size_t)tocount[i] * size;
  }
  PetscCallMPI(MPI_Waitall(mail->n + nto, request, MPI_STATUSES_IGNORE));
  PetscCallMPI(MPI_Type_free(&record));
  PetscCall(PetscFree(request));
  PetscCall(PetscFree2(to, tocount));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is a point near the boxes of some processes? i: its place in direction d in the grid; process: in that direction */
static PetscBool IsNear(const KCycleBox *box, int d, PetscInt i, PetscInt process)
{
  const PetscInt low = box->range[d][process] - KC_CLUSTER_REACH, high = box->range[d][process + 1] + KC_CLUSTER_REACH;
  const PetscInt size = box->size[d];

  if (i >= low && i < high) return PETSC_TRUE;
  return (PetscBool)(box->periodic[d] &&
                     ((i + size >= low && i + size < high) || (i - size >= low && i - size < high)));
}

/* A candidate: its number in the grid, the rank at which its group dies on its process, whether its couplings jump, the
   diagonal as the search has it. The couplings and the row follow */
typedef struct {
  PetscInt  natural, death;
  PetscBool jumps;
  PetscReal t;
} Head;

static size_t RecordSize(int nc)
{
  return sizeof(Head) + nc * (sizeof(PetscReal) + sizeof(PetscScalar));
}

static PetscInt Natural(const KCycleBox *box, const PetscInt at[])
{
  return at[0] + box->size[0] * (at[1] + box->size[1] * at[2]);
}

static void PlaceIn(const KCycleBox *box, PetscInt natural, PetscInt at[])
{
  at[0] = natural % box->size[0];
  at[1] = natural / box->size[0] % box->size[1];
  at[2] = natural / box->size[0] / box->size[1];
}

static void WriteRecord(KCycleSearch *s, PetscInt p, char *to)
{
  const KCycleBox *box = s->st->box;
  PetscScalar      a[KC_MAX_COEFFS];
  PetscInt         at[3];
  PetscReal        w[KC_MAX_COEFFS];
  Head             head;

  KCycleBoxPlace(box, s->node[p].point, at);
  KCycleSearchCouplings(s, s->node[p].point, w, &head.t);
  for (int o = 0; o < s->nc; o++) a[o] = KCycleLineCoefficient(KCycleLinesAt(&s->lines, at[1], at[2]), o, at[0]);
  for (int d = 0; d < 3; d++) at[d] += box->start[d];
  head.natural = Natural(box, at);
  head.death   = s->death[KCycleSearchRoot(s->parent, p)];
  head.jumps   = s->node[p].jumps;
  memcpy(to, &head, sizeof(head));
  memcpy(to + sizeof(head), w, s->nc * sizeof(PetscReal));
  memcpy(to + sizeof(head) + s->nc * sizeof(PetscReal), a, s->nc * sizeof(PetscScalar));
}

/* Candidates that a process knows, its own ones first */
typedef struct {
  PetscInt      n;
  size_t        size; /* bytes of a record */
  char         *data;
  PetscBool    *starts;    /* a group does with this one of its own */
  PetscMPIInt  *home;      /* the process that has each */
  PetscInt     *neighbour; /* nodes of neighbours, or 0 */
  KCycleSearch *search;    /* among them; their nodes are numbered from 1 on */
} Records;

/* Marks the processes that a point is near to */
static void MarkNear(const KCycleBox *box, PetscInt natural, PetscBool near[])
{
  PetscInt at[3], process[3];

  PlaceIn(box, natural, at);
  for (process[2] = 0; process[2] < box->nproc[2]; process[2]++) {
    if (!IsNear(box, 2, at[2], process[2])) continue;
    for (process[1] = 0; process[1] < box->nproc[1]; process[1]++) {
      if (!IsNear(box, 1, at[1], process[1])) continue;
      for (process[0] = 0; process[0] < box->nproc[0]; process[0]++) {
        if (IsNear(box, 0, at[0], process[0]))
          near[process[0] + box->nproc[0] * (process[1] + box->nproc[1] * process[2])] = PETSC_TRUE;
      }
    }
  }
}

/* The processes that records go to: whole groups go where any point of them is near */
static PetscErrorCode Address(const KCycleBox *box, const Records *r, PetscMPIInt count[], char *next[])
{
  const PetscInt nprocs = box->nproc[0] * box->nproc[1] * box->nproc[2];
  PetscBool     *near;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nprocs, &near));
  for (PetscInt i = 0, end; i < r->n; i = end) {
    PetscCall(PetscArrayzero(near, nprocs));
    for (end = i; end < r->n && (end == i || !r->starts[end]); end++) {
      Head head;

      memcpy(&head, r->data + (size_t)end * r->size, sizeof(head));
      MarkNear(box, head.natural, near);
    }
    for (PetscMPIInt p = 0; p < nprocs; p++) {
      const size_t bytes = (size_t)(end - i) * r->size;

      if (!near[p] || p == box->rank) continue;
      if (next) {
        memcpy(next[p], r->data + (size_t)i * r->size, bytes);
        next[p] += bytes;
      } else count[p] += (PetscMPIInt)(end - i);
    }
  }
  PetscCall(PetscFree(near));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sends the process's own candidates */
static PetscErrorCode SendRecords(MPI_Comm comm, const KCycleBox *box, const Records *r, Mail *mail)
{
  const PetscInt nprocs = box->nproc[0] * box->nproc[1] * box->nproc[2];
  PetscMPIInt   *count;
  size_t         total = 0;
  char          *data, **next;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(nprocs, &count));
  PetscCall(PetscMalloc1(nprocs, &next));
  PetscCall(Address(box, r, count, NULL));
  for (PetscInt p = 0; p < nprocs; p++) total += (size_t)count[p] * r->size;
  PetscCall(PetscMalloc1(total, &data));
  total = 0;
  for (PetscInt p = 0; p < nprocs; p++) {
    next[p] = data + total;
    total += (size_t)count[p] * r->size;
  }
  PetscCall(Address(box, r, count, next));
  PetscCall(Post(comm, r->size, count, data, mail));
  PetscCall(PetscFree(data));
  PetscCall(PetscFree(next));
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RecordsCreate(MPI_Comm comm, KCycleSearch *own, Records *r)
{
  PetscInt nown  = 0;
  size_t   total = 0;
  Mail     mail;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(r, sizeof(*r)));
  r->size = RecordSize(own->nc);
  for (PetscInt q = 1; q < own->nnodes; q++) nown += KCycleSearchIsCandidate(own, q);
  PetscCall(PetscMalloc1(nown * r->size, &r->data));
  PetscCall(PetscCalloc1(nown, &r->starts));
  for (PetscInt root = 1; root < own->nnodes; root++) {
    if (own->parent[root] != root || !KCycleSearchIsCandidate(own, root)) continue;
    r->starts[r->n] = PETSC_TRUE;
    for (PetscInt q = root; q >= 0; q = own->node[q].next) WriteRecord(own, q, r->data + (size_t)r->n++ * r->size);
  }
  PetscCall(SendRecords(comm, own->st->box, r, &mail));
  for (PetscMPIInt f = 0; f < mail.n; f++) r->n += mail.count[f];
  total = (size_t)(r->n - nown) * r->size;
  PetscCall(PetscRealloc((size_t)r->n * r->size, &r->data));
  PetscCall(PetscMemcpy(r->data + (size_t)nown * r->size, mail.data, total));
  PetscCall(PetscMalloc1(r->n, &r->home));
  r->n = nown;
  for (PetscInt i = 0; i < nown; i++) r->home[i] = own->st->box->rank;
  for (PetscMPIInt f = 0; f < mail.n; f++) {
    for (PetscMPIInt i = 0; i < mail.count[f]; i++) r->home[r->n++] = mail.rank[f];
  }
  PetscCall(MailDestroy(&mail));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RecordsDestroy(Records *r)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(r->data));
  PetscCall(PetscFree(r->starts));
  PetscCall(PetscFree(r->home));
  PetscCall(PetscFree(r->neighbour));
  PetscCall(KCycleSearchDestroy(&r->search));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nodes of all records, whose points are their numbers in the grid */
static PetscErrorCode ReadRecords(Records *r, PetscHMapI map)
{
  KCycleSearch *s = r->search;
  PetscReal     w[KC_MAX_COEFFS];
  Head          head;
  PetscInt      made;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(r->n + 1, &s->index));
  s->index[0] = KC_DEAD;
  for (PetscInt i = 0; i < r->n; i++) {
    memcpy(&head, r->data + (size_t)i * r->size, sizeof(head));
    memcpy(w, r->data + (size_t)i * r->size + sizeof(head), s->nc * sizeof(PetscReal));
    PetscCall(KCycleSearchNode(s, head.natural, head.jumps, head.t, w, &made));
    s->death[made] = head.death;
    PetscCall(PetscHMapISet(map, head.natural, made));
    s->index[made] = made;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Neighbours by their numbers in the grid, and the couplings */
static PetscErrorCode Connect(Records *r, PetscHMapI map)
{
  KCycleSearch      *s     = r->search;
  const KCycleBox   *box   = s->st->box;
  const KCycleShape *shape = &s->st->shape;
  PetscReal          w[KC_MAX_COEFFS];

  PetscFunctionBegin;
  PetscCall(PetscCalloc1((size_t)(r->n + 1) * s->nc, &r->neighbour));
  for (PetscInt p = 1; p <= r->n; p++) {
    PetscInt at[3];

    PlaceIn(box, s->node[p].point, at);
    memcpy(w, r->data + (size_t)(p - 1) * r->size + sizeof(Head), s->nc * sizeof(PetscReal));
    for (int o = 0; o < s->nc; o++) {
      PetscInt  to[3] = {at[0] + shape->dx[o], at[1] + shape->dy[shape->line[o]], at[2] + shape->dz[shape->line[o]]}, q;
      PetscBool outside = PETSC_FALSE;

      for (int d = 0; d < 3; d++) {
        if (box->periodic[d]) to[d] = (to[d] + box->size[d]) % box->size[d];
        if (to[d] < 0 || to[d] >= box->size[d]) outside = PETSC_TRUE;
      }
      if (outside) continue;
      PetscCall(PetscHMapIGet(map, Natural(box, to), &q));
      r->neighbour[(size_t)p * s->nc + o] = q = PetscMax(q, 0);
      if (!q || o > s->nc / 2) PetscCall(KCycleSearchEdge(s, p, q, w[o], KCycleRank(w[o])));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The owned point of a number in the grid */
static PetscInt OwnPoint(const KCycleBox *box, PetscInt natural)
{
  PetscInt at[3];

  PlaceIn(box, natural, at);
  for (int d = 0; d < 3; d++) at[d] -= box->start[d];
  return KCycleBoxPoint(box, at);
}

/* Members of a cluster on a process become a part of it there: generation, slot, number of members, members */
typedef struct {
  PetscInt    *data, length, most;
  PetscMPIInt *rank; /* of each number, where it goes */
  PetscInt     mostranks;
} Letters;

static PetscErrorCode Write(Letters *l, PetscMPIInt rank, PetscInt number)
{
  PetscFunctionBegin;
  PetscCall(KCycleGrow(l->length + 1, &l->most, sizeof(PetscInt), &l->data));
  PetscCall(KCycleGrow(l->length + 1, &l->mostranks, sizeof(PetscMPIInt), &l->rank));
  l->rank[l->length]   = rank;
  l->data[l->length++] = number;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In the order of processes */
static PetscErrorCode PostLetters(MPI_Comm comm, const KCycleBox *box, const Letters *letters, Mail *mail)
{
  const PetscInt nprocs = box->nproc[0] * box->nproc[1] * box->nproc[2];
  PetscInt      *data, *next;
  PetscMPIInt   *count;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(nprocs, &count));
  PetscCall(PetscCalloc1(nprocs + 1, &next));
  PetscCall(PetscMalloc1(letters->length, &data));
  for (PetscInt i = 0; i < letters->length; i++) count[letters->rank[i]]++;
  for (PetscInt r = 0; r < nprocs; r++) next[r + 1] = next[r] + count[r];
  for (PetscInt i = 0; i < letters->length; i++) data[next[letters->rank[i]]++] = letters->data[i];
  PetscCall(Post(comm, sizeof(PetscInt), count, (const char *)data, mail));
  PetscCall(PetscFree(data));
  PetscCall(PetscFree(next));
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the residual of a cluster is multiplied with. The lists of groups are used up already: touched marks members */
static PetscScalar Inverse(const Records *r, PetscInt m, const PetscInt member[])
{
  KCycleNode       *node = r->search->node;
  const int         nc   = r->search->nc;
  KCycleClusterSums sums = {0, 0, 0, 0, 0};

  for (PetscInt i = 0; i < m; i++) node[member[i]].touched = KC_RANKS;
  for (PetscInt i = 0; i < m; i++) {
    const char *row = r->data + (size_t)member[i] * r->size - nc * sizeof(PetscScalar);
    PetscScalar a[KC_MAX_COEFFS];

    memcpy(a, row, nc * sizeof(PetscScalar));
    sums.t += PetscAbsScalar(a[nc / 2]);
    for (int o = 0; o < nc; o++) {
      const PetscInt q = r->neighbour[(size_t)member[i] * nc + o];

      if (a[o] != (PetscScalar)0.0)
        KCycleClusterAdd(&sums, a[nc / 2], a[o], (PetscBool)(q > 0 && node[q].touched == KC_RANKS));
    }
  }
  for (PetscInt i = 0; i < m; i++) node[member[i]].touched = -1;
  return KCycleClusterInverse(&sums);
}

/* The members of a cluster on one process become a part of it there */
static PetscErrorCode ListPart(const Records *r, PetscInt c, PetscMPIInt rank, PetscInt slot, KCycleClusterList *list,
                               Letters *letters)
{
  const KCycleBox         *box    = r->search->st->box;
  const KCycleClusterList *found  = &r->search->found;
  const PetscInt          *member = found->member + found->first[c], m = found->first[c + 1] - found->first[c];
  PetscInt                 count = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < m; i++) count += r->home[member[i] - 1] == rank;
  if (rank == box->rank)
    PetscCall(KCycleClusterListAppend(list, count, found->generation[c], slot < 0 ? -1 : rank, slot));
  else {
    PetscCall(Write(letters, rank, found->generation[c]));
    PetscCall(Write(letters, rank, slot));
    PetscCall(Write(letters, rank, count));
  }
  for (PetscInt i = 0; i < m; i++) {
    const PetscInt point = r->search->node[member[i]].point;

    if (r->home[member[i] - 1] != rank) continue;
    if (rank == box->rank) list->member[list->nmembers++] = OwnPoint(box, point);
    else PetscCall(Write(letters, rank, point));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cluster among candidates, if the process has its first point */
static PetscErrorCode ListShared(const Records *r, PetscInt c, KCycleClusterList *list, Letters *letters)
{
  const KCycleSearch      *s      = r->search;
  const KCycleClusterList *found  = &s->found;
  const PetscInt          *member = found->member + found->first[c], m = found->first[c + 1] - found->first[c];
  const PetscMPIInt       *home = r->home - 1, here = s->st->box->rank;
  PetscInt                 first = member[0], slot = -1;

  PetscFunctionBegin;
  for (PetscInt i = 1; i < m; i++) {
    if (s->node[member[i]].point < s->node[first].point) first = member[i];
  }
  if (home[first] != here) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < m; i++) {
    if (home[member[i]] != here) slot = list->nslots;
  }
  if (slot >= 0) {
    PetscCall(KCycleGrow(slot + 1, &list->mostslots, sizeof(PetscScalar), &list->inverse));
    list->inverse[list->nslots++] = Inverse(r, m, member);
  }
  list->nclusters++;
  list->npoints += m;
  for (PetscInt i = 0; i < m; i++) { /* each process once */
    PetscInt before = 0;

    while (home[member[before]] != home[member[i]]) before++;
    if (before == i) PetscCall(ListPart(r, c, home[member[i]], slot, list, letters));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Parts that come from others */
static PetscErrorCode SendParts(MPI_Comm comm, const KCycleBox *box, const Letters *letters, KCycleClusterList *list)
{
  PetscInt *data;
  Mail      mail;

  PetscFunctionBegin;
  PetscCall(PostLetters(comm, box, letters, &mail));
  data = (PetscInt *)mail.data;
  for (PetscMPIInt f = 0; f < mail.n; f++) {
    const PetscInt *end = data + mail.count[f];

    for (PetscInt m = 0; data < end; data += 3 + m) {
      m = data[2];
      PetscCall(KCycleClusterListAppend(list, m, data[0], mail.rank[f], data[1]));
      for (PetscInt i = 0; i < m; i++) list->member[list->nmembers++] = OwnPoint(box, data[3 + i]);
    }
  }
  PetscCall(MailDestroy(&mail));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The clusters among candidates, if this process has their first points. The search among its own points is over */
PetscErrorCode KCycleSearchCandidates(MPI_Comm comm, KCycleSearch **own, KCycleClusterList *list)
{
  Letters    letters = {NULL, 0, 0, NULL, 0};
  Records    r;
  PetscHMapI map;

  PetscFunctionBegin;
  PetscCall(RecordsCreate(comm, *own, &r));
  PetscCall(KCycleSearchCreate((*own)->st, (*own)->along, (*own)->singular, (*own)->most, &r.search));
  PetscCall(KCycleSearchDestroy(own));
  PetscCall(PetscHMapICreate(&map));
  PetscCall(ReadRecords(&r, map));
  PetscCall(Connect(&r, map));
  PetscCall(PetscHMapIDestroy(&map));
  PetscCall(KCycleSearchRun(r.search));
  for (PetscInt c = 0; c < r.search->found.n; c++) PetscCall(ListShared(&r, c, list, &letters));
  PetscCall(SendParts(comm, r.search->st->box, &letters, list));
  PetscCall(PetscFree(letters.data));
  PetscCall(PetscFree(letters.rank));
  PetscCall(RecordsDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}
