/*
  The search for clusters that are cut into processes, among candidates: points of groups that may reach across a cut
  before they are rejected.

  Each process gets those of all processes around that are near its box, and searches again among them. Then it has the
  groups with their first point in its box as a single process would, until they are rejected, and makes their clusters.
  A coupling from a candidate to a point that is none rejects the group: that point was rejected, or is too far away.
*/
#include "searchimpl.h"

/* Distance that is near. Longer clusters are missed: on stretched grids, with long ones, 16 points were too few */
#define KC_CLUSTER_REACH 40

/* Records of one size, each for one process or from one */
typedef struct {
  size_t       size; /* bytes of a record */
  PetscInt     n, most, mostranks;
  char        *data;
  PetscMPIInt *rank;
} Mail;

static PetscErrorCode MailDestroy(Mail *mail)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(mail->rank));
  PetscCall(PetscFree(mail->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MailAdd(Mail *mail, PetscMPIInt rank, const void *record)
{
  PetscFunctionBegin;
  PetscCall(KCycleGrow(mail->n + 1, &mail->most, mail->size, &mail->data));
  PetscCall(KCycleGrow(mail->n + 1, &mail->mostranks, sizeof(PetscMPIInt), &mail->rank));
  (void)memcpy(mail->data + (size_t)mail->n * mail->size, record, mail->size);
  mail->rank[mail->n++] = rank;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What others have for this process, by their ranks, each in its order. out, which is destroyed, has the records, or
   PetscInt numbers of records of a list */
static PetscErrorCode MailSend(MPI_Comm comm, Mail *out, const Mail *list, Mail *in)
{
  const size_t size = list ? list->size : out->size;
  PetscMPIInt  nprocs, *nout, *nin, *outat, *inat;
  MPI_Datatype record;
  char        *sorted;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &nprocs));
  PetscCall(PetscCalloc4(nprocs, &nout, nprocs, &nin, nprocs + 1, &outat, nprocs + 1, &inat));
  for (PetscInt i = 0; i < out->n; i++) nout[out->rank[i]]++;
  PetscCallMPI(MPI_Alltoall(nout, 1, MPI_INT, nin, 1, MPI_INT, comm));
  for (PetscMPIInt r = 0; r < nprocs; r++) {
    outat[r + 1] = outat[r] + nout[r];
    inat[r + 1]  = inat[r] + nin[r];
  }
  PetscCall(PetscMalloc1((size_t)out->n * size, &sorted));
  for (PetscInt i = 0; i < out->n; i++) {
    const char *from =
        list ? list->data + (size_t)((const PetscInt *)out->data)[i] * size : out->data + (size_t)i * size;

    (void)memcpy(sorted + (size_t)outat[out->rank[i]]++ * size, from, size);
  }
  for (PetscMPIInt r = 0; r < nprocs; r++) outat[r] -= nout[r];
  PetscCall(MailDestroy(out));
  *in = (Mail){size, inat[nprocs], 0, 0, NULL, NULL};
  PetscCall(PetscMalloc1((size_t)in->n * in->size, &in->data));
  PetscCall(PetscMalloc1(in->n, &in->rank));
  for (PetscMPIInt r = 0; r < nprocs; r++) {
    for (PetscInt i = inat[r]; i < inat[r + 1]; i++) in->rank[i] = r;
  }
  PetscCallMPI(MPI_Type_contiguous((int)in->size, MPI_BYTE, &record));
  PetscCallMPI(MPI_Type_commit(&record));
  PetscCallMPI(MPI_Alltoallv(sorted, nout, outat, record, in->data, nin, inat, record, comm));
  PetscCallMPI(MPI_Type_free(&record));
  PetscCall(PetscFree(sorted));
  PetscCall(PetscFree4(nout, nin, outat, inat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is a point near the boxes of some processes? i: its coordinate in direction d; process: number in that direction */
static PetscBool IsNear(const KCycleBox *box, int d, PetscInt i, PetscInt process)
{
  const PetscInt low = box->range[d][process] - KC_CLUSTER_REACH, high = box->range[d][process + 1] + KC_CLUSTER_REACH;
  const PetscInt size = box->size[d];

  if (i >= low && i < high) return PETSC_TRUE;
  return (PetscBool)(box->periodic[d] &&
                     ((i + size >= low && i + size < high) || (i - size >= low && i - size < high)));
}

typedef struct {
  PetscInt  natural;  /* number of a candidate in the grid */
  PetscInt  rejected; /* rank at which its group is rejected on its process */
  PetscBool jumps;    /* its couplings jump */
  PetscReal t;        /* the diagonal as the search has it */
  struct {
    PetscReal   w;    /* coupling */
    PetscScalar a;    /* coefficient */
  } c[KC_MAX_COEFFS]; /* as many as the stencil has are in a record */
} Candidate;

static const Candidate *CandidateAt(const Mail *mail, PetscInt i)
{
  return (const Candidate *)(mail->data + (size_t)i * mail->size);
}

static void MakeCandidate(KCycleSearch *s, PetscInt p, Candidate *to)
{
  const KCycleBox *box = s->st->box;
  PetscInt         at[3], q[KC_MAX_COEFFS];
  PetscReal        w[KC_MAX_COEFFS];

  KCycleCoordinates(box->n, s->node[p].point, at);
  KCycleSearchCouplings(s, s->node[p].point, w, q, &to->t);
  for (int o = 0; o < s->nc; o++) {
    to->c[o].w = w[o];
    to->c[o].a = KCycleLineCoefficient(KCycleLineCacheAt(&s->lines, at[1], at[2]), o, at[0]);
  }
  for (int d = 0; d < 3; d++) at[d] += box->start[d];
  to->natural  = KCycleNumber(box->size, at);
  to->rejected = s->rejected[KCycleRoot(s->parent, p)];
  to->jumps    = s->node[p].jumps;
}

/* Candidates of a process and those near its box, its own first; rank: the process that has each */
typedef struct {
  Mail          known;
  PetscInt     *neighbour; /* nodes of neighbours, or 0 */
  KCycleSearch *search;    /* among them; their nodes are numbered from 1 on */
} Records;

/* Marks the processes that a point is near to */
static void MarkNear(const KCycleBox *box, PetscInt natural, PetscBool near[])
{
  PetscInt at[3], process[3];

  KCycleCoordinates(box->size, natural, at);
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

/* Whole groups go where any point of them is near */
static PetscErrorCode RecordsCreate(MPI_Comm comm, KCycleSearch *own, Records *r)
{
  const KCycleBox *box    = own->st->box;
  const PetscInt   nprocs = box->nproc[0] * box->nproc[1] * box->nproc[2];
  Candidate        one;
  Mail            *known = &r->known, in, out = {sizeof(PetscInt), 0, 0, 0, NULL, NULL};
  PetscBool       *near;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(r, sizeof(*r)));
  PetscCall(PetscMalloc1(nprocs, &near));
  known->size = offsetof(Candidate, c) + own->nc * sizeof(one.c[0]);
  for (PetscInt q = 1; q < own->nnodes; q++) known->most += KCycleSearchIsCandidate(own, q);
  known->mostranks = known->most;
  PetscCall(PetscMalloc1((size_t)known->most * known->size, &known->data));
  PetscCall(PetscMalloc1(known->most, &known->rank));
  for (PetscInt root = 1; root < own->nnodes; root++) {
    const PetscInt first = known->n;

    if (own->parent[root] != root || !KCycleSearchIsCandidate(own, root)) continue;
    PetscCall(PetscArrayzero(near, nprocs));
    for (PetscInt q = root; q >= 0; q = own->node[q].next) {
      MakeCandidate(own, q, &one);
      MarkNear(box, one.natural, near);
      PetscCall(MailAdd(known, box->rank, &one));
    }
    for (PetscMPIInt p = 0; p < nprocs; p++) {
      if (p == box->rank || !near[p]) continue;
      for (PetscInt i = first; i < known->n; i++) PetscCall(MailAdd(&out, p, &i));
    }
  }
  PetscCall(PetscFree(near));
  PetscCall(MailSend(comm, &out, known, &in));
  PetscCall(PetscRealloc((size_t)(known->n + in.n) * in.size, &known->data));
  PetscCall(PetscRealloc((size_t)(known->n + in.n) * sizeof(PetscMPIInt), &known->rank));
  PetscCall(PetscArraycpy(known->data + (size_t)known->n * in.size, in.data, (size_t)in.n * in.size));
  PetscCall(PetscArraycpy(known->rank + known->n, in.rank, in.n));
  known->n += in.n;
  PetscCall(MailDestroy(&in));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RecordsDestroy(Records *r)
{
  PetscFunctionBegin;
  PetscCall(MailDestroy(&r->known));
  PetscCall(PetscFree(r->neighbour));
  PetscCall(KCycleSearchDestroy(&r->search));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nodes of all records, whose points are their numbers in the grid */
static PetscErrorCode ReadRecords(Records *r, PetscHMapI map)
{
  KCycleSearch *s = r->search;
  PetscReal     w[KC_MAX_COEFFS];
  PetscInt      made;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(r->known.n + 1, &s->index));
  s->index[0] = KC_REJECTED;
  for (PetscInt i = 0; i < r->known.n; i++) {
    const Candidate *one = CandidateAt(&r->known, i);

    for (int o = 0; o < s->nc; o++) w[o] = one->c[o].w;
    PetscCall(KCycleSearchNode(s, one->natural, one->jumps, one->t, w, &made));
    s->rejected[made] = one->rejected;
    PetscCall(PetscHMapISet(map, one->natural, made));
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

  PetscFunctionBegin;
  PetscCall(PetscCalloc1((size_t)(r->known.n + 1) * s->nc, &r->neighbour));
  for (PetscInt p = 1; p <= r->known.n; p++) {
    PetscInt at[3];

    KCycleCoordinates(box->size, s->node[p].point, at);
    for (int o = 0; o < s->nc; o++) {
      PetscInt  to[3] = {at[0] + shape->dx[o], at[1] + shape->dy[shape->line[o]], at[2] + shape->dz[shape->line[o]]}, q;
      PetscBool outside = PETSC_FALSE;

      for (int d = 0; d < 3; d++) {
        if (box->periodic[d]) to[d] = (to[d] + box->size[d]) % box->size[d];
        if (to[d] < 0 || to[d] >= box->size[d]) outside = PETSC_TRUE;
      }
      if (outside) continue;
      PetscCall(PetscHMapIGet(map, KCycleNumber(box->size, to), &q));
      r->neighbour[(size_t)p * s->nc + o] = q = PetscMax(q, 0);
      if (!q || o > s->nc / 2) {
        const PetscReal w = CandidateAt(&r->known, p - 1)->c[o].w;

        PetscCall(KCycleSearchEdge(s, p, q, w, KCycleRank(w)));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the residual of a cluster is multiplied with. The search is over: changed marks members */
static PetscScalar Inverse(const Records *r, PetscInt m, const PetscInt member[])
{
  KCycleNode       *node = r->search->node;
  const int         nc   = r->search->nc;
  KCycleClusterSums sums = {0, 0, 0, 0, 0};

  for (PetscInt i = 0; i < m; i++) node[member[i]].changed = KC_RANKS;
  for (PetscInt i = 0; i < m; i++) {
    const Candidate  *one      = CandidateAt(&r->known, member[i] - 1);
    const PetscScalar diagonal = one->c[nc / 2].a;

    sums.t += PetscAbsScalar(diagonal);
    for (int o = 0; o < nc; o++) {
      const PetscInt q = r->neighbour[(size_t)member[i] * nc + o];

      if (one->c[o].a != (PetscScalar)0.0)
        KCycleClusterAdd(&sums, diagonal, one->c[o].a, (PetscBool)(q > 0 && node[q].changed == KC_RANKS));
    }
  }
  for (PetscInt i = 0; i < m; i++) node[member[i]].changed = -1;
  return KCycleClusterInverse(&sums);
}

/* The members of a cluster on one process become the part that it has: generation, slot, number of members, members */
static PetscErrorCode SendPart(const Records *r, PetscInt c, PetscMPIInt rank, PetscInt slot, Mail *parts)
{
  const KCycleClusterList *found  = &r->search->found;
  const PetscInt          *member = KCycleClusterMembers(found, c), m = KCycleClusterSize(found, c);
  PetscInt                 head[3] = {found->part[c].generation, slot, 0};

  PetscFunctionBegin;
  for (PetscInt i = 0; i < m; i++) head[2] += r->known.rank[member[i] - 1] == rank;
  for (int i = 0; i < 3; i++) PetscCall(MailAdd(parts, rank, &head[i]));
  for (PetscInt i = 0; i < m; i++) {
    if (r->known.rank[member[i] - 1] == rank) PetscCall(MailAdd(parts, rank, &r->search->node[member[i]].point));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cluster among candidates, if the process has its first point */
static PetscErrorCode ListShared(const Records *r, PetscInt c, KCycleClusterList *list, Mail *parts)
{
  const KCycleSearch *s      = r->search;
  const PetscInt     *member = KCycleClusterMembers(&s->found, c), m = KCycleClusterSize(&s->found, c);
  const PetscMPIInt  *home = r->known.rank - 1, here = s->st->box->rank;
  PetscInt            first = member[0], slot = -1;

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
    if (before == i) PetscCall(SendPart(r, c, home[member[i]], slot, parts));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parts of this process; all parts are sent */
static PetscErrorCode ListParts(MPI_Comm comm, const KCycleBox *box, Mail *parts, KCycleClusterList *list)
{
  Mail mail;

  PetscFunctionBegin;
  PetscCall(MailSend(comm, parts, NULL, &mail));
  for (PetscInt i = 0, m; i < mail.n; i += 3 + m) {
    const PetscInt *part = (const PetscInt *)mail.data + i;

    m = part[2];
    PetscCall(KCycleClusterListAppend(list, m, part[0], part[1] < 0 ? -1 : mail.rank[i], part[1]));
    for (PetscInt k = 0; k < m; k++) {
      PetscInt at[3];

      KCycleCoordinates(box->size, part[3 + k], at);
      for (int d = 0; d < 3; d++) at[d] -= box->start[d];
      list->member[list->nmembers++] = KCycleNumber(box->n, at);
    }
  }
  PetscCall(MailDestroy(&mail));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The clusters among candidates, if this process has their first points. The search among its own points is over */
PetscErrorCode KCycleSearchCandidates(MPI_Comm comm, KCycleSearch **own, KCycleClusterList *list)
{
  Mail       parts = {sizeof(PetscInt), 0, 0, 0, NULL, NULL};
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
  for (PetscInt c = 0; c < r.search->found.n; c++) PetscCall(ListShared(&r, c, list, &parts));
  PetscCall(ListParts(comm, r.search->st->box, &parts, list));
  PetscCall(RecordsDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}
