/*
  The search for clusters that are cut into processes, among candidates: points of groups that may reach across a cut
  while they live.
*/
#include <petsckcycle/private/searchimpl.h>

/* Points beyond its own that a process hears of. Longer clusters are missed; on stretched grids, where they are long,
   16 were not enough */
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

/* Does a process hear of a point? i: its place in direction d in the grid; process: in that direction */
static PetscBool IsNear(const KCycleBox *box, int d, PetscInt i, PetscInt process)
{
  const PetscInt low = box->range[d][process] - KC_CLUSTER_REACH, high = box->range[d][process + 1] + KC_CLUSTER_REACH;
  const PetscInt size = box->size[d];

  if (i >= low && i < high) return PETSC_TRUE;
  return (PetscBool)(box->periodic[d] &&
                     ((i + size >= low && i + size < high) || (i - size >= low && i - size < high)));
}

/* A record: place, rank of death, whether rough; ranks and values of the couplings */
static size_t RecordSize(int nc)
{
  return 5 * sizeof(PetscInt) + nc * (sizeof(unsigned short) + sizeof(PetscScalar));
}

static void WriteRecord(KCycleSearch *s, PetscInt p, char *to)
{
  const KCycleNode *node    = &s->node[p];
  const PetscInt   *start   = s->st->box->start;
  const PetscInt    head[5] = {node->at[0] + start[0], node->at[1] + start[1], node->at[2] + start[2],
                               (PetscInt)s->death[KCycleSearchRoot(s->parent, p)], (PetscInt)node->jumps};

  memcpy(to, head, sizeof(head));
  to += sizeof(head);
  memcpy(to, s->rank + (size_t)p * s->nc, s->nc * sizeof(*s->rank));
  memcpy(to + s->nc * sizeof(*s->rank), s->a + (size_t)p * s->nc, s->nc * sizeof(PetscScalar));
}

static PetscErrorCode ReadRecord(KCycleSearch *s, const char *from)
{
  PetscInt head[5], p;

  PetscFunctionBegin;
  memcpy(head, from, sizeof(head));
  from += sizeof(head);
  PetscCall(KCycleSearchNode(s, head, (PetscBool)head[4], &p));
  memcpy(s->rank + (size_t)p * s->nc, from, s->nc * sizeof(*s->rank));
  memcpy(s->a + (size_t)p * s->nc, from + s->nc * sizeof(*s->rank), s->nc * sizeof(PetscScalar));
  KCycleSearchWeigh(s, p);
  PetscCall(KCycleSearchEdge(s, p, KC_DEAD, head[3]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Candidates go to all processes near them. First they are counted, then written behind each other: next[r] is where
   the next one for process r goes */
static void Address(KCycleSearch *s, PetscInt p, PetscMPIInt count[], char *next[])
{
  const KCycleBox *box = s->st->box;
  const PetscInt  *at  = s->node[p].at;

  for (PetscInt z = 0; z < box->nproc[2]; z++) {
    if (!IsNear(box, 2, at[2] + box->start[2], z)) continue;
    for (PetscInt y = 0; y < box->nproc[1]; y++) {
      if (!IsNear(box, 1, at[1] + box->start[1], y)) continue;
      for (PetscInt x = 0; x < box->nproc[0]; x++) {
        const PetscInt r = x + box->nproc[0] * (y + box->nproc[1] * z);

        if (r == box->rank || !IsNear(box, 0, at[0] + box->start[0], x)) continue;
        if (!next) {
          count[r]++;
          continue;
        }
        WriteRecord(s, p, next[r]);
        next[r] += RecordSize(s->nc);
      }
    }
  }
}

static PetscErrorCode SendCandidates(MPI_Comm comm, KCycleSearch *s, Mail *mail)
{
  const PetscInt nprocs = s->st->box->nproc[0] * s->st->box->nproc[1] * s->st->box->nproc[2];
  PetscMPIInt   *count;
  size_t         total = 0;
  char          *data, **next;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(nprocs, &count));
  PetscCall(PetscMalloc1(nprocs, &next));
  for (PetscInt p = 0; p < s->nnodes; p++) {
    if (KCycleSearchIsCandidate(s, p)) Address(s, p, count, NULL);
  }
  for (PetscInt r = 0; r < nprocs; r++) total += (size_t)count[r] * RecordSize(s->nc);
  PetscCall(PetscMalloc1(total, &data));
  total = 0;
  for (PetscInt r = 0; r < nprocs; r++) {
    next[r] = data + total;
    total += (size_t)count[r] * RecordSize(s->nc);
  }
  for (PetscInt p = 0; p < s->nnodes; p++) {
    if (KCycleSearchIsCandidate(s, p)) Address(s, p, count, next);
  }
  PetscCall(Post(comm, RecordSize(s->nc), count, data, mail));
  PetscCall(PetscFree(data));
  PetscCall(PetscFree(next));
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt Natural(const KCycleBox *box, const PetscInt at[])
{
  return at[0] + box->size[0] * (at[1] + box->size[1] * at[2]);
}

/* Neighbours by their numbers in the grid, then the couplings in order. One that leads to a point that is not known
   here is the death of a group: the point is no candidate, or far away */
static PetscErrorCode ConnectCandidates(KCycleSearch *s)
{
  const KCycleBox *box = s->st->box;
  const int        nc  = s->nc;
  PetscHMapI       map;
  PetscInt         to[3];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)s->nnodes * nc, &s->neighbour));
  PetscCall(PetscHMapICreate(&map));
  for (PetscInt p = 0; p < s->nnodes; p++) PetscCall(PetscHMapISet(map, Natural(box, s->node[p].at), p));
  for (PetscInt p = 0; p < s->nnodes; p++) {
    for (int o = 0; o < nc; o++) {
      PetscInt *q = &s->neighbour[(size_t)p * nc + o], rank = s->rank[(size_t)p * nc + o];

      *q = KC_DEAD;
      if (s->a[(size_t)p * nc + o] == (PetscScalar)0.0) continue;
      KCycleSearchBeside(s, s->node[p].at, o, to);
      for (int d = 0; d < 3; d++) to[d] = box->periodic[d] ? (to[d] + box->size[d]) % box->size[d] : to[d];
      PetscCall(PetscHMapIGet(map, Natural(box, to), q));
      if (*q < 0) *q = KC_DEAD;
      if (rank < KC_NEVER && (*q < 0 || o > nc / 2)) PetscCall(KCycleSearchEdge(s, p, *q, rank));
    }
  }
  PetscCall(PetscHMapIDestroy(&map));
  PetscFunctionReturn(PETSC_SUCCESS);
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

/* What the residual of a cluster is multiplied with; the lists of groups are used up already, and next marks its
   members */
static PetscScalar Inverse(KCycleSearch *s, PetscInt c)
{
  const PetscInt   *first = s->found.member + s->found.first[c], *last = s->found.member + s->found.first[c + 1];
  KCycleClusterSums sums = {0, 0, 0, 0};

  for (const PetscInt *m = first; m < last; m++) s->next[*m] = c;
  for (const PetscInt *m = first; m < last; m++) {
    const PetscScalar *a = s->a + (size_t)*m * s->nc;

    sums.t += PetscAbsScalar(a[s->nc / 2]);
    for (int o = 0; o < s->nc; o++) {
      const PetscInt q = o == s->nc / 2 ? *m : s->neighbour[(size_t)*m * s->nc + o];

      KCycleClusterAdd(&sums, a[s->nc / 2], a[o], (PetscBool)(q >= 0 && s->next[q] == c));
    }
  }
  for (const PetscInt *m = first; m < last; m++) s->next[*m] = KC_NONE;
  return KCycleClusterInverse(&sums);
}

/* A cluster among candidates, if the process has its first point. home: the process that has each candidate */
static PetscErrorCode ListShared(KCycleSearch *s, PetscInt c, const PetscMPIInt home[], KCycleClusterList *list,
                                 Letters *letters)
{
  const KCycleBox         *box    = s->st->box;
  const KCycleClusterList *found  = &s->found;
  const PetscInt          *member = found->member + found->first[c], m = found->first[c + 1] - found->first[c];
  PetscInt                 first = member[0], slot = -1;

  PetscFunctionBegin;
  for (PetscInt i = 1; i < m; i++) {
    if (Natural(box, s->node[member[i]].at) < Natural(box, s->node[first].at)) first = member[i];
  }
  if (home[first] != box->rank) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < m; i++) {
    if (home[member[i]] != box->rank) slot = list->nslots;
  }
  if (slot >= 0) {
    PetscCall(KCycleGrow(slot + 1, &list->mostslots, sizeof(PetscScalar), &list->inverse));
    list->inverse[list->nslots++] = Inverse(s, c);
  }
  list->nclusters++;
  list->npoints += m;
  for (PetscInt i = 0; i < m; i++) { /* each process once */
    const PetscMPIInt rank  = home[member[i]];
    PetscInt          count = 0;

    for (PetscInt j = 0; j < m; j++) {
      if (home[member[j]] != rank) continue;
      if (j < i) break;
      count++;
    }
    if (!count) continue;
    if (rank == box->rank)
      PetscCall(KCycleClusterListAppend(list, count, found->generation[c], slot < 0 ? -1 : rank, slot));
    else {
      PetscCall(Write(letters, rank, found->generation[c]));
      PetscCall(Write(letters, rank, slot));
      PetscCall(Write(letters, rank, count));
    }
    for (PetscInt j = i; j < m; j++) {
      const KCycleNode *node  = &s->node[member[j]];
      PetscInt          at[3] = {node->at[0] - box->start[0], node->at[1] - box->start[1], node->at[2] - box->start[2]};

      if (home[member[j]] != rank) continue;
      if (rank == box->rank) list->member[list->nmembers++] = KCycleBoxPoint(box, at);
      else PetscCall(Write(letters, rank, Natural(box, node->at)));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Letters in the order of processes, and then the parts that come from others */
static PetscErrorCode SendParts(MPI_Comm comm, const KCycleBox *box, const Letters *letters, KCycleClusterList *list)
{
  const PetscInt nprocs = box->nproc[0] * box->nproc[1] * box->nproc[2];
  PetscInt      *data, *next;
  PetscMPIInt   *count;
  Mail           mail;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(nprocs, &count));
  PetscCall(PetscCalloc1(nprocs + 1, &next));
  PetscCall(PetscMalloc1(letters->length, &data));
  for (PetscInt i = 0; i < letters->length; i++) count[letters->rank[i]]++;
  for (PetscInt r = 0; r < nprocs; r++) next[r + 1] = next[r] + count[r];
  for (PetscInt i = 0; i < letters->length; i++) data[next[letters->rank[i]]++] = letters->data[i];
  PetscCall(Post(comm, sizeof(PetscInt), count, (const char *)data, &mail));
  PetscCall(PetscFree(data));
  PetscCall(PetscFree(next));
  PetscCall(PetscFree(count));
  data = (PetscInt *)mail.data;
  for (PetscMPIInt f = 0; f < mail.n; f++) {
    const PetscInt *end = data + mail.count[f];

    while (data < end) {
      const PetscInt m = data[2];

      PetscCall(KCycleClusterListAppend(list, m, data[0], mail.rank[f], data[1]));
      for (PetscInt i = 0; i < m; i++) {
        const PetscInt p     = data[3 + i],
                       at[3] = {p % box->size[0] - box->start[0], p / box->size[0] % box->size[1] - box->start[1],
                                p / box->size[0] / box->size[1] - box->start[2]};

        list->member[list->nmembers++] = KCycleBoxPoint(box, at);
      }
      data += 3 + m;
    }
  }
  PetscCall(MailDestroy(&mail));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The search among candidates: those of this process, then those of others */
PetscErrorCode KCycleSearchCandidates(MPI_Comm comm, KCycleSearch *own, KCycleClusterList *list)
{
  KCycleSearch *s;
  Mail          mail;
  Letters       letters = {NULL, 0, 0, NULL, 0};
  PetscMPIInt  *home;
  char         *record;
  PetscInt      p = 0;

  PetscFunctionBegin;
  PetscCall(KCycleSearchCreate(own->st, own->along, own->singular, &s));
  PetscCall(SendCandidates(comm, own, &mail));
  PetscCall(PetscMalloc1(RecordSize(s->nc), &record));
  for (PetscInt q = 0; q < own->nnodes; q++) {
    if (!KCycleSearchIsCandidate(own, q)) continue;
    WriteRecord(own, q, record);
    PetscCall(ReadRecord(s, record));
  }
  PetscCall(PetscFree(record));
  p      = s->nnodes;
  record = mail.data;
  for (PetscMPIInt f = 0; f < mail.n; f++) {
    for (PetscMPIInt i = 0; i < mail.count[f]; i++, record += RecordSize(s->nc)) PetscCall(ReadRecord(s, record));
  }
  PetscCall(PetscMalloc1(s->nnodes, &home));
  for (PetscInt q = 0; q < p; q++) home[q] = s->st->box->rank;
  for (PetscMPIInt f = 0; f < mail.n; f++) {
    for (PetscMPIInt i = 0; i < mail.count[f]; i++) home[p++] = mail.rank[f];
  }
  PetscCall(MailDestroy(&mail));
  PetscCall(ConnectCandidates(s));
  PetscCall(KCycleSearchRun(s));
  for (PetscInt q = 0; q < s->nnodes; q++) s->next[q] = KC_NONE;
  for (PetscInt c = 0; c < s->found.n; c++) PetscCall(ListShared(s, c, home, list, &letters));
  PetscCall(SendParts(comm, s->st->box, &letters, list));
  PetscCall(PetscFree(letters.data));
  PetscCall(PetscFree(letters.rank));
  PetscCall(PetscFree(home));
  PetscCall(KCycleSearchDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
