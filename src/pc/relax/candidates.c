/*
  The search for clusters that are cut into processes, among candidates: points of groups that may reach across a cut
  while they live.

  A process searches among its own candidates first. A coupling that leads to a point which another process has is the
  death of a group, for want of knowledge. So the process asks for that point, and gets all of the group that it has
  joined there, or nothing, if it is no candidate; and searches again, until no group that it sees to dies, or is
  joined with one that has died, for such a reason. In the end it knows these groups as a single process would, as far
  as they live: nothing is sent but what a process has to do with.
*/
#include "searchimpl.h"

/* Points beyond its own that a process asks for, at most. Longer clusters are missed; on stretched grids, where they
   are long, 16 were not enough */
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

/* May a process ask for a point? i: its place in direction d in the grid; process: in that direction */
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

/* Candidates that a process knows, and the processes that have them: first its own ones, by their numbers, then records
   that it has got, one behind the other */
typedef struct {
  KCycleSearch *search; /* in which its own ones are */
  PetscInt     *own, nown, mostown;
  char         *data, *one;
  size_t        size; /* bytes of a record */
  PetscMPIInt  *home;
  PetscInt      n, most, mosthome;
} Records;

static PetscErrorCode RecordsCreate(KCycleSearch *own, Records *r)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(r, sizeof(*r)));
  r->search = own;
  r->size   = RecordSize(own->nc);
  PetscCall(PetscMalloc1(r->size, &r->one));
  for (PetscInt q = 0; q < own->nnodes; q++) {
    if (!KCycleSearchIsCandidate(own, q)) continue;
    PetscCall(KCycleGrow(r->nown + 1, &r->mostown, sizeof(PetscInt), &r->own));
    PetscCall(KCycleGrow(r->nown + 1, &r->mosthome, sizeof(PetscMPIInt), &r->home));
    r->home[r->nown]  = own->st->box->rank;
    r->own[r->nown++] = q;
  }
  r->n = r->nown;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RecordsDestroy(Records *r)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(r->own));
  PetscCall(PetscFree(r->data));
  PetscCall(PetscFree(r->one));
  PetscCall(PetscFree(r->home));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Valid until the next one is wanted */
static const char *RecordAt(Records *r, PetscInt i)
{
  if (i >= r->nown) return r->data + (size_t)(i - r->nown) * r->size;
  WriteRecord(r->search, r->own[i], r->one);
  return r->one;
}

static PetscInt Natural(const KCycleBox *box, const PetscInt at[])
{
  return at[0] + box->size[0] * (at[1] + box->size[1] * at[2]);
}

/* What stands for a point that is none of the candidates at hand. It is no candidate if this process has it, or has
   asked for it; those far away are not asked for */
static PetscErrorCode Missing(const KCycleBox *box, const PetscInt at[], PetscHMapI asked, PetscInt *q)
{
  const PetscInt here[3] = {box->rank % box->nproc[0], box->rank / box->nproc[0] % box->nproc[1],
                            box->rank / box->nproc[0] / box->nproc[1]};
  PetscBool      own     = PETSC_TRUE, has;

  PetscFunctionBegin;
  PetscCall(PetscHMapIHas(asked, Natural(box, at), &has));
  *q = has ? KC_DEAD : KC_UNKNOWN;
  for (int d = 0; d < 3; d++) {
    if (at[d] < box->start[d] || at[d] >= box->start[d] + box->n[d]) own = PETSC_FALSE;
    if (at[d] < 0 || at[d] >= box->size[d] || !IsNear(box, d, at[d], here[d])) *q = KC_DEAD;
  }
  if (own) *q = KC_DEAD;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Neighbours by their numbers in the grid, then the couplings in order. One that leads to a point that is missing is
   the death of a group */
static PetscErrorCode ConnectCandidates(KCycleSearch *s, PetscHMapI asked)
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
      if (*q < 0) PetscCall(Missing(box, to, asked, q));
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

static void PlaceIn(const KCycleBox *box, PetscInt natural, PetscInt at[])
{
  at[0] = natural % box->size[0];
  at[1] = natural / box->size[0] % box->size[1];
  at[2] = natural / box->size[0] / box->size[1];
}

/* The member of a group, or a cluster, that comes first in the grid */
static PetscInt FirstOf(const KCycleSearch *s, PetscInt p, PetscInt q)
{
  return Natural(s->st->box, s->node[q].at) < Natural(s->st->box, s->node[p].at) ? q : p;
}

/* Of each root the first point of its group; and whether a cluster found in it that starts here has most of its weight,
   see KCycleSearchFills() */
static void LookAtGroups(KCycleSearch *s, const PetscMPIInt home[], PetscInt first[], PetscBool filled[])
{
  const KCycleClusterList *found = &s->found;

  for (PetscInt p = 0; p < s->nnodes; p++) first[p] = p;
  for (PetscInt p = 0; p < s->nnodes; p++) {
    const PetscInt root = KCycleSearchRoot(s->parent, p);

    first[root] = FirstOf(s, first[root], p);
    filled[p]   = PETSC_FALSE;
  }
  for (PetscInt c = 0; c < found->n; c++) {
    PetscInt p = found->member[found->first[c]];

    for (PetscInt i = found->first[c]; i < found->first[c + 1]; i++) p = FirstOf(s, p, found->member[i]);
    if (home[p] == s->st->box->rank && KCycleSearchFills(s, c)) filled[KCycleSearchRoot(s->parent, p)] = PETSC_TRUE;
  }
}

/* Roots of groups to ask for. A process sees to groups whose first point it has, as long as those that they are joined
   with do not start before, elsewhere: clusters are made by the processes that have their first points. And it sees to
   those that a cluster of its own has most of the weight of, to the end */
static PetscErrorCode FindBlamed(KCycleSearch *s, const PetscMPIInt home[], PetscBool blamed[])
{
  PetscInt  *first;
  PetscBool *filled;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(s->nnodes, &first, s->nnodes, &filled));
  LookAtGroups(s, home, first, filled);
  for (PetscInt p = 0; p < s->nnodes; p++) {
    PetscInt root = p, lowest = first[p];

    if (s->parent[p] != p) continue;
    while (s->blame[root] != KC_NONE && (filled[p] || home[lowest] == s->st->box->rank)) {
      if (s->blame[root] == root) {
        blamed[root] = PETSC_TRUE;
        break;
      }
      root   = s->blame[root];
      lowest = FirstOf(s, lowest, first[root]);
    }
  }
  PetscCall(PetscFree2(first, filled));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Letters with the points that such groups are coupled to before they die among the points of their own processes */
static PetscErrorCode WriteQuestions(KCycleSearch *s, Records *r, PetscHMapI asked, Letters *letters)
{
  const KCycleBox *box = s->st->box;
  PetscBool       *blamed;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(s->nnodes, &blamed));
  PetscCall(FindBlamed(s, r->home, blamed));
  for (PetscInt p = 0; p < s->nnodes; p++) {
    PetscInt head[5];

    if (!blamed[KCycleSearchRoot(s->parent, p)]) continue;
    memcpy(head, RecordAt(r, p), sizeof(head));
    for (int o = 0; o < s->nc; o++) {
      PetscInt  to[3], inside[3], n[3];
      PetscBool isnew;

      if (s->neighbour[(size_t)p * s->nc + o] != KC_UNKNOWN || s->rank[(size_t)p * s->nc + o] >= head[3]) continue;
      KCycleSearchBeside(s, s->node[p].at, o, to);
      for (int d = 0; d < 3; d++) to[d] = box->periodic[d] ? (to[d] + box->size[d]) % box->size[d] : to[d];
      PetscCall(PetscHMapIQuerySet(asked, Natural(box, to), 1, &isnew));
      if (isnew) PetscCall(Write(letters, KCycleBoxOwner(box, to, inside, n), Natural(box, to)));
    }
  }
  PetscCall(PetscFree(blamed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The groups of this process's points that others ask for, if they are candidates, each once. First records are
   counted, then written behind each other: next[r] is where the next one for process r goes. got: of roots, who has got
   the group last */
static void WriteAnswers(KCycleSearch *own, const Mail *questions, PetscMPIInt got[], PetscMPIInt count[], char *next[])
{
  const KCycleBox *box    = own->st->box;
  const PetscInt  *number = (const PetscInt *)questions->data;

  for (PetscInt q = 0; q < own->nnodes; q++) got[q] = -1;
  for (PetscMPIInt f = 0; f < questions->n; f++) {
    const PetscMPIInt to = questions->rank[f];

    for (PetscMPIInt i = 0; i < questions->count[f]; i++) {
      PetscInt at[3], q;

      PlaceIn(box, *number++, at);
      for (int d = 0; d < 3; d++) at[d] -= box->start[d];
      q = own->index[KCycleSearchNumber(own, at)];
      if (q < 0 || !KCycleSearchIsCandidate(own, q)) continue;
      q = KCycleSearchRoot(own->parent, q);
      if (got[q] == to) continue;
      got[q] = to;
      for (; q >= 0; q = own->next[q]) {
        if (!next) {
          count[to]++;
          continue;
        }
        WriteRecord(own, q, next[to]);
        next[to] += RecordSize(own->nc);
      }
    }
  }
}

static PetscErrorCode Answer(MPI_Comm comm, KCycleSearch *own, const Mail *questions, Mail *answers)
{
  const PetscInt nprocs = own->st->box->nproc[0] * own->st->box->nproc[1] * own->st->box->nproc[2];
  PetscMPIInt   *count, *got;
  size_t         total = 0;
  char          *data, **next;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(nprocs, &count));
  PetscCall(PetscMalloc1(nprocs, &next));
  PetscCall(PetscMalloc1(own->nnodes, &got));
  WriteAnswers(own, questions, got, count, NULL);
  for (PetscInt r = 0; r < nprocs; r++) total += (size_t)count[r] * RecordSize(own->nc);
  PetscCall(PetscMalloc1(total, &data));
  total = 0;
  for (PetscInt r = 0; r < nprocs; r++) {
    next[r] = data + total;
    total += (size_t)count[r] * RecordSize(own->nc);
  }
  WriteAnswers(own, questions, got, count, next);
  PetscCall(Post(comm, RecordSize(own->nc), count, data, answers));
  PetscCall(PetscFree(data));
  PetscCall(PetscFree(got));
  PetscCall(PetscFree(next));
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TakeAnswers(const Mail *answers, Records *r)
{
  const char *data = answers->data;

  PetscFunctionBegin;
  for (PetscMPIInt f = 0; f < answers->n; f++) {
    const PetscInt n     = r->n + answers->count[f];
    const size_t   begin = (size_t)(r->n - r->nown) * r->size, bytes = (size_t)answers->count[f] * r->size;

    PetscCall(KCycleGrow(n - r->nown, &r->most, r->size, &r->data));
    PetscCall(KCycleGrow(n, &r->mosthome, sizeof(PetscMPIInt), &r->home));
    PetscCall(PetscMemcpy(r->data + begin, data, bytes));
    while (r->n < n) r->home[r->n++] = answers->rank[f];
    data += bytes;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Asks other processes for what is missing; false if no process misses anything */
static PetscErrorCode Ask(MPI_Comm comm, KCycleSearch *s, PetscHMapI asked, Records *r, PetscBool *more)
{
  Letters letters = {NULL, 0, 0, NULL, 0};
  Mail    questions, answers;
  int     here, any;

  PetscFunctionBegin;
  PetscCall(WriteQuestions(s, r, asked, &letters));
  here = letters.length > 0;
  PetscCallMPI(MPI_Allreduce(&here, &any, 1, MPI_INT, MPI_LOR, comm));
  *more = (PetscBool)any;
  if (any) {
    PetscCall(PostLetters(comm, s->st->box, &letters, &questions));
    PetscCall(Answer(comm, r->search, &questions, &answers));
    PetscCall(MailDestroy(&questions));
    PetscCall(TakeAnswers(&answers, r));
    PetscCall(MailDestroy(&answers));
  }
  PetscCall(PetscFree(letters.data));
  PetscCall(PetscFree(letters.rank));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The search among the candidates that this process knows, until it misses none */
static PetscErrorCode SearchKnown(MPI_Comm comm, Records *r, KCycleSearch **search)
{
  const KCycleSearch *own  = r->search;
  PetscBool           more = PETSC_TRUE;
  PetscHMapI          asked;
  KCycleSearch       *s = NULL;

  PetscFunctionBegin;
  PetscCall(PetscHMapICreate(&asked));
  while (more) {
    if (s) PetscCall(KCycleSearchDestroy(&s));
    PetscCall(KCycleSearchCreate(own->st, own->along, own->singular, &s));
    s->most = own->most;
    for (PetscInt i = 0; i < r->n; i++) PetscCall(ReadRecord(s, RecordAt(r, i)));
    PetscCall(ConnectCandidates(s, asked));
    PetscCall(KCycleSearchRun(s));
    PetscCall(Ask(comm, s, asked, r, &more));
  }
  PetscCall(PetscHMapIDestroy(&asked));
  *search = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The clusters among candidates, if this process has their first points */
PetscErrorCode KCycleSearchCandidates(MPI_Comm comm, KCycleSearch *own, KCycleClusterList *list)
{
  KCycleSearch *s;
  Letters       letters = {NULL, 0, 0, NULL, 0};
  Records       r;

  PetscFunctionBegin;
  PetscCall(RecordsCreate(own, &r));
  PetscCall(SearchKnown(comm, &r, &s));
  for (PetscInt q = 0; q < s->nnodes; q++) s->next[q] = KC_NONE;
  for (PetscInt c = 0; c < s->found.n; c++) PetscCall(ListShared(s, c, r.home, list, &letters));
  PetscCall(SendParts(comm, s->st->box, &letters, list));
  PetscCall(PetscFree(letters.data));
  PetscCall(PetscFree(letters.rank));
  PetscCall(RecordsDestroy(&r));
  PetscCall(KCycleSearchDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
