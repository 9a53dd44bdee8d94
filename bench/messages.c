/*
  Counts what processes say to each other: messages, bytes, reductions and rounds, by phase and level. For any program
  with PETSc, which is not changed:

    LD_PRELOAD=messages.so MESSAGES_FILE=counts ./app -dll_append messages.so ...

  writes counts.0, counts.1, ... at the end, a file for each process:

    span,level,phase,times,messages,bytes,rounds,reductions

  Span: "setup", all of PCSetUp(); "cycle", the last PCApply(); "solve", what else KSPSolve() does. The level of a cycle
  is PCKCYCLE's, 0 the coarsest (with -pc_mg_log), or hypre's, 0 the finest; -1: none. Of set-up the phase is the
  innermost event of PETSc's. times: how often it began.

  Messages and bytes are those that the process sends. A round is a wait for messages after at least one that was
  posted: exchanges that are under way together are one. Reductions are collective operations of any kind. The functions
  of MPI are replaced by ones that count, those of hypre's cycles by ones that say where they are.
*/

#define _GNU_SOURCE
#include <petscksp.h>
#include <petsckcycle/private/compat.h>
#include <dlfcn.h>

#if defined(PETSC_HAVE_MPI_LARGE_COUNT)
  #error "MPI's functions for large counts, which this PETSc calls, are not counted"
#endif

#define MOST_ROWS     4096
#define MOST_DEPTH    64
#define MOST_POINTERS 128

typedef struct {
  char span[8];
  int  level;
  char phase[64];
  long times, messages, bytes, rounds, reductions;
} Row;

static Row  rows[MOST_ROWS];
static int  nrows;
static char span[8] = "";                   /* where the program is */
static int  depth, setups, applies, solves; /* of events */
static struct {
  int  level;
  char phase[64];
} stack[MOST_DEPTH] = {{-1, ""}};
static int inhypre, posted;

static Row *RowHere(void)
{
  const int at = depth < MOST_DEPTH ? depth : MOST_DEPTH - 1;

  for (int i = 0; i < nrows; i++) {
    if (rows[i].level == stack[at].level && !strcmp(rows[i].span, span) && !strcmp(rows[i].phase, stack[at].phase))
      return &rows[i];
  }
  if (nrows == MOST_ROWS) {
    fprintf(stderr, "messages: more than %d phases\n", MOST_ROWS);
    abort();
  }
  strcpy(rows[nrows].span, span);
  strcpy(rows[nrows].phase, stack[at].phase);
  rows[nrows].level = stack[at].level;
  return &rows[nrows++];
}

static void Push(int level, const char phase[])
{
  if (++depth >= MOST_DEPTH) return;
  stack[depth].level = level;
  strncpy(stack[depth].phase, phase, sizeof(stack[depth].phase) - 1);
}

static void ChangeSpan(void)
{
  strcpy(span, setups ? "setup" : applies ? "cycle" : solves ? "solve" : "");
}

/* MPI */

static void Sent(int count, MPI_Datatype type)
{
  int size;

  if (!span[0]) return;
  PMPI_Type_size(type, &size);
  RowHere()->messages++;
  RowHere()->bytes += (long)count * size;
}

static void Waited(void)
{
  if (posted && span[0]) RowHere()->rounds++;
  posted = 0;
}

static void Reduced(MPI_Comm comm)
{
  int size;

  PMPI_Comm_size(comm, &size);
  if (span[0] && size > 1) RowHere()->reductions++;
}

/* Persistent ones: what each start of them sends */
static struct {
  MPI_Request  request;
  int          count;
  MPI_Datatype type;
} persistent[MOST_ROWS];
static int npersistent;

static void Remember(MPI_Request request, int count, MPI_Datatype type)
{
  int i = 0;

  while (i < npersistent && persistent[i].request != request) i++;
  if (i == MOST_ROWS) {
    fprintf(stderr, "messages: more than %d persistent messages\n", MOST_ROWS);
    abort();
  }
  if (i == npersistent) npersistent++;
  persistent[i].request = request;
  persistent[i].count   = count;
  persistent[i].type    = type;
}

static void Started(MPI_Request request)
{
  posted = 1;
  for (int i = 0; i < npersistent; i++) {
    if (persistent[i].request == request && persistent[i].count >= 0) Sent(persistent[i].count, persistent[i].type);
  }
}

#define VISIBLE __attribute__((visibility("default")))

#define SEND(name)                                                                           \
  VISIBLE int(MPI_##name)(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) \
  {                                                                                          \
    Sent(n, t);                                                                              \
    return PMPI_##name(b, n, t, to, tag, c);                                                 \
  }
#define ISEND(name)                                                                                          \
  VISIBLE int(MPI_##name)(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r) \
  {                                                                                                          \
    Sent(n, t);                                                                                              \
    posted = 1;                                                                                              \
    return PMPI_##name(b, n, t, to, tag, c, r);                                                              \
  }
SEND(Send)
SEND(Ssend)
ISEND(Isend)
ISEND(Issend)

VISIBLE int(MPI_Irecv)(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r)
{
  posted = 1;
  return PMPI_Irecv(b, n, t, from, tag, c, r);
}

VISIBLE int(MPI_Recv)(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s)
{
  posted = 1;
  Waited();
  return PMPI_Recv(b, n, t, from, tag, c, s);
}

VISIBLE int(MPI_Send_init)(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r)
{
  const int ierr = PMPI_Send_init(b, n, t, to, tag, c, r);

  Remember(*r, n, t);
  return ierr;
}

VISIBLE int(MPI_Recv_init)(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r)
{
  const int ierr = PMPI_Recv_init(b, n, t, from, tag, c, r);

  Remember(*r, -1, t);
  return ierr;
}

VISIBLE int(MPI_Start)(MPI_Request *r)
{
  Started(*r);
  return PMPI_Start(r);
}

VISIBLE int(MPI_Startall)(int n, MPI_Request r[])
{
  for (int i = 0; i < n; i++) Started(r[i]);
  return PMPI_Startall(n, r);
}

VISIBLE int(MPI_Wait)(MPI_Request *r, MPI_Status *s)
{
  Waited();
  return PMPI_Wait(r, s);
}

VISIBLE int(MPI_Waitall)(int n, MPI_Request r[], MPI_Status s[])
{
  if (n) Waited();
  return PMPI_Waitall(n, r, s);
}

VISIBLE int(MPI_Waitany)(int n, MPI_Request r[], int *which, MPI_Status *s)
{
  Waited();
  return PMPI_Waitany(n, r, which, s);
}

VISIBLE int(MPI_Waitsome)(int n, MPI_Request r[], int *m, int which[], MPI_Status s[])
{
  Waited();
  return PMPI_Waitsome(n, r, m, which, s);
}

#define COLLECTIVE(name, comm, parameters, arguments) \
  VISIBLE int(MPI_##name) parameters                  \
  {                                                   \
    Reduced(comm);                                    \
    return PMPI_##name arguments;                     \
  }
#define MANY   const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u
#define MANY_V const void *a, int n, MPI_Datatype t, void *b, const int m[], const int d[], MPI_Datatype u

COLLECTIVE(Allreduce, c, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c))
COLLECTIVE(Iallreduce, c, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request *r),
           (a, b, n, t, o, c, r))
COLLECTIVE(Reduce, c, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c),
           (a, b, n, t, o, root, c))
COLLECTIVE(Reduce_scatter_block, c, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
           (a, b, n, t, o, c))
COLLECTIVE(Scan, c, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c))
COLLECTIVE(Exscan, c, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c))
COLLECTIVE(Bcast, c, (void *a, int n, MPI_Datatype t, int root, MPI_Comm c), (a, n, t, root, c))
COLLECTIVE(Barrier, c, (MPI_Comm c), (c))
COLLECTIVE(Ibarrier, c, (MPI_Comm c, MPI_Request *r), (c, r))
COLLECTIVE(Allgather, c, (MANY, MPI_Comm c), (a, n, t, b, m, u, c))
COLLECTIVE(Allgatherv, c, (MANY_V, MPI_Comm c), (a, n, t, b, m, d, u, c))
COLLECTIVE(Gather, c, (MANY, int root, MPI_Comm c), (a, n, t, b, m, u, root, c))
COLLECTIVE(Gatherv, c, (MANY_V, int root, MPI_Comm c), (a, n, t, b, m, d, u, root, c))
COLLECTIVE(Scatter, c, (MANY, int root, MPI_Comm c), (a, n, t, b, m, u, root, c))
COLLECTIVE(Alltoall, c, (MANY, MPI_Comm c), (a, n, t, b, m, u, c))

/* hypre's cycles: interpolations are met level by level, on the way down, and the operator of a level before the one
   from the next. Some levels of PFMG have no relaxation */

static const void *known[2][MOST_POINTERS];
static int         nknown[2], levelof[MOST_POINTERS];

static int IndexOf(int what, const void *pointer)
{
  int i = 0;

  while (i < nknown[what] && known[what][i] != pointer) i++;
  return i;
}

static int LevelOf(int what, const void *pointer)
{
  const int i = IndexOf(what, pointer);

  if (i == MOST_POINTERS) {
    fprintf(stderr, "messages: more than %d levels\n", MOST_POINTERS);
    abort();
  }
  if (i == nknown[what]) {
    known[what][nknown[what]++] = pointer;
    if (what == 0) levelof[i] = nknown[1];
  }
  return what == 0 ? levelof[i] : i;
}

/* what: 0 the operator of a level, 1 the interpolation from the one below */
#define HYPRE(name, what, pointer, phase, parameters, arguments)  \
  VISIBLE int name parameters                                     \
  {                                                               \
    static int(*real) parameters;                                 \
    int ierr;                                                     \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name);         \
    if (!applies || setups || inhypre++) ierr = (*real)arguments; \
    else {                                                        \
      Push(LevelOf(what, pointer), phase);                        \
      RowHere()->times++;                                         \
      ierr = (*real)arguments;                                    \
      depth--;                                                    \
    }                                                             \
    if (applies && !setups) inhypre--;                            \
    return ierr;                                                  \
  }

HYPRE(hypre_PFMGRelax, 0, A, "smoothing", (void *data, void *A, void *b, void *x), (data, A, b, x))
HYPRE(hypre_StructMatvecCompute, 0, A, "residual", (void *data, double alpha, void *A, void *x, double beta, void *y),
      (data, alpha, A, x, beta, y))
HYPRE(hypre_SemiRestrict, 1, R, "restriction", (void *data, void *R, void *r, void *rc), (data, R, r, rc))
HYPRE(hypre_SemiInterp, 1, P, "interpolation", (void *data, void *P, void *xc, void *e), (data, P, xc, e))
HYPRE(hypre_BoomerAMGRelaxIF, 0, A, "smoothing",
      (void *A, void *f, int *marker, int type, int order, int cycle, double weight, double omega, double *norms,
       void *u, void *v, void *z),
      (A, f, marker, type, order, cycle, weight, omega, norms, u, v, z))
HYPRE(hypre_BoomerAMGRelax, 0, A, "smoothing",
      (void *A, void *f, int *marker, int type, int points, double weight, double omega, double *norms, void *u,
       void *v, void *z),
      (A, f, marker, type, points, weight, omega, norms, u, v, z))
HYPRE(hypre_ParCSRMatrixMatvecT, 1, P, "restriction", (double alpha, void *P, void *x, double beta, void *y),
      (alpha, P, x, beta, y))

/* Of BoomerAMG both a residual and, with an interpolation, a correction */
#define KNOWN(P) (IndexOf(1, P) < nknown[1])

HYPRE(hypre_ParCSRMatrixMatvecOutOfPlace, KNOWN(A), A, KNOWN(A) ? "interpolation" : "residual",
      (double alpha, void *A, void *x, double beta, void *b, void *y), (alpha, A, x, beta, b, y))

/* PETSc's events */

static PetscLogEvent event[5] = {-1, -1, -1, -1, -1}; /* PCSetUp, PCApply, KSPSolve, PCSetUpOnBlocks, KSPSetUp */

static void FindEvents(void)
{
  const char *const names[] = {"PCSetUp", "PCApply", "KSPSolve", "PCSetUpOnBlocks", "KSPSetUp"};

  for (int i = 0; i < 5 && event[i] < 0; i++) (void)PetscLogEventGetId(names[i], &event[i]);
}

/* Only the last cycle is kept */
static void Forget(void)
{
  for (int i = 0; i < nrows; i++) {
    if (!strcmp(rows[i].span, "cycle"))
      rows[i].times = rows[i].messages = rows[i].bytes = rows[i].rounds = rows[i].reductions = 0;
  }
}

static PetscBool IsSetUp(PetscLogEvent e)
{
  return (PetscBool)(e == event[0] || e == event[3] || e == event[4]);
}

/* The level that the name of an event ends with, and the phase before it */
static void PushEvent(PetscLogEvent e)
{
  static const char *const names[][2] = {{"KCSmooth", "smoothing"},
                                         {"KCResidual", "residual"},
                                         {"KCRestrict", "restriction"},
                                         {"KCInterp", "interpolation"},
                                         {"KCCoarse", "coarsest solve"}};
  const char              *name       = "", *level;

  (void)KCycleLogEventGetName(e, &name);
  level = strstr(name, " Level ");
  for (size_t i = 0; level && i < PETSC_STATIC_ARRAY_LENGTH(names); i++) {
    if (!strncmp(name, names[i][0], strlen(names[i][0]))) {
      Push(atoi(level + 7), names[i][1]);
      return;
    }
  }
  if (setups) Push(-1, name);
  else
    Push(stack[depth < MOST_DEPTH ? depth : MOST_DEPTH - 1].level,
         stack[depth < MOST_DEPTH ? depth : MOST_DEPTH - 1].phase);
}

static PetscErrorCode Begin(PetscLogEvent e, int t, PetscObject o1, PetscObject o2, PetscObject o3, PetscObject o4)
{
  (void)t, (void)o1, (void)o2, (void)o3, (void)o4;
  FindEvents();
  if (e == event[1] && !applies && !setups) Forget();
  setups += IsSetUp(e);
  applies += e == event[1];
  solves += e == event[2];
  ChangeSpan();
  PushEvent(e);
  if (span[0]) RowHere()->times++;
  return 0;
}

static PetscErrorCode End(PetscLogEvent e, int t, PetscObject o1, PetscObject o2, PetscObject o3, PetscObject o4)
{
  (void)t, (void)o1, (void)o2, (void)o3, (void)o4;
  depth--;
  setups -= IsSetUp(e);
  applies -= e == event[1];
  solves -= e == event[2];
  ChangeSpan();
  return 0;
}

static PetscErrorCode Write(void)
{
  const char *name = getenv("MESSAGES_FILE");
  char        path[4096];
  int         rank;
  FILE       *file;

  if (!name) return 0;
  PMPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  snprintf(path, sizeof(path), "%s.%d", name, rank);
  file = fopen(path, "w");
  if (!file) {
    fprintf(stderr, "messages: cannot write %s\n", path);
    abort();
  }
  fprintf(file, "span,level,phase,times,messages,bytes,rounds,reductions\n");
  for (int i = 0; i < nrows; i++) {
    const Row *r = &rows[i];

    fprintf(file, "%s,%d,%s,%ld,%ld,%ld,%ld,%ld\n", r->span, r->level, r->phase, r->times, r->messages, r->bytes,
            r->rounds, r->reductions);
  }
  fclose(file);
  return 0;
}

/* What -dll_append calls */
VISIBLE PetscErrorCode PetscDLLibraryRegister_messages(void)
{
  PetscFunctionBegin;
  PetscCall(KCycleLogCallbacksBegin(Begin, End));
  PetscCall(PetscRegisterFinalize(Write));
  PetscFunctionReturn(PETSC_SUCCESS);
}
