/*
  Zebra relaxation: the points of a line along one direction are relaxed together, exactly; lines that are not
  neighbours at the same time. Two colours of lines in 2D and for star stencils, four for box stencils in 3D.

  KC_SYSTEMS lines of a colour side by side are a packet, whose systems the kernels solve together. A line that several
  processes have parts of, or that wraps around, is solved exactly, too. With T the system of one part, and what comes
  before and behind the part as unknowns b and a,

    x = T^-1 r - v b - w a,   v = T^-1 (coupling of the first point), w = T^-1 (coupling of the last one),

  so that first and last points of all parts are a system of their own. Of its inverse a process keeps what it needs:
  b and a as sums over the first and last points of all T^-1 r, which the processes of a line gather.
*/
#include <petsckcycle/private/smootherimpl.h>

#if defined(KCYCLE_SINGLE)
  #define NUMBER  MPI_FLOAT
  #define EPSILON ((PetscReal)1.1920929e-07)
#else
  #define NUMBER  MPIU_SCALAR
  #define EPSILON PETSC_MACHINE_EPSILON
#endif

/* So many sets of factors are looked through for one that is the same: with constant coefficients there are few */
#define OLDER 32

typedef struct {
  PetscInt point; /* the first point of the first line */
  int      count; /* lines */
  PetscInt set;   /* of factors */
} Packet;

typedef struct {
  PetscInt d, beside[2];     /* direction of the lines; the others: packets are along the first of them */
  PetscInt n, along, across; /* points of a line; from point to point; from line to line of a packet */
  int      ncolours;
  PetscInt first[5]; /* packets of each colour */
  Packet  *packet;

  /* lower, inverse, upper; where ends are coupled v and w, too */
  PetscInt  length, nsets, room;
  KCScalar *factors;

  PetscBool   cut;  /* ends of this part are coupled with other parts, or with each other */
  MPI_Comm    comm; /* the processes of the lines, in their order; MPI_COMM_NULL: this one alone */
  PetscMPIInt size, rank;
  KCScalar   *ends; /* of each packet and part: what a first and a last point add to what comes before, and behind */
  KCScalar   *mine, *all; /* first and last points of packets, see SolvePackets() */
} Lines;

typedef struct {
  int       ndirections;
  Lines     lines[3];
  KCScalar *r;    /* residual, then T^-1 r */
  KCScalar *work; /* a packet for each thread */
} Zebra;

typedef struct {
  const KCycleStencil *st;
  const Lines         *lines;
  int                  colour;
  PetscReal            weight;
  const KCScalar      *b;
  const KCScalar      *from; /* the residual: that of a zero guess is b */
  KCScalar            *x, *r, *work;
} Sweep;

/* The parity of a point of the grid */
static int Parity(const KCycleBox *box, PetscInt d, PetscInt i)
{
  return d < box->dim ? (int)((i + box->start[d]) & 1) : 0;
}

/* The colour of lines that have these parities in the other directions */
static int Colour(const KCycleStencil *st, int p, int q)
{
  return st->shape.box ? p + 2 * q : p ^ q;
}

/* That of the lines that the coarse grid keeps */
static int FirstColour(const KCycleSmoother *s, const Lines *z)
{
  int p[2] = {0, 0};

  for (int i = 0; i < 2; i++) {
    if (z->beside[i] < s->st->box->dim) p[i] = (int)(s->origin[z->beside[i]] & 1);
  }
  return Colour(s->st, p[0], p[1]);
}

/* r = b - A x on the grid's lines in x that have points of the colour */
static void Residuals(const Sweep *sweep)
{
  const KCycleBox *box = sweep->st->box;
  const Lines     *z   = sweep->lines;
  PetscInt         first, end;
  KCycleLine       l;

  KCycleShare(0, box->nlines, &first, &end);
  for (PetscInt line = first; line < end; line++) {
    const PetscInt at[3] = {0, line % box->n[1], line / box->n[1]};
    const int      p = Parity(box, z->beside[0], at[z->beside[0]]), q = Parity(box, z->beside[1], at[z->beside[1]]);

    if (z->d == 0 ? Colour(sweep->st, p, q) != sweep->colour : sweep->st->shape.box && q != sweep->colour >> 1)
      continue;
    KCycleLineGather(sweep->st, sweep->x, sweep->st->halo, at[1], at[2], &l);
    KCycleLineCompute(&sweep->st->shape, KC_RESIDUAL, &l, sweep->b + line * box->n[0], NULL,
                      sweep->r + line * box->n[0]);
  }
}

/* y = T^-1 r of a packet */
static void SolvePacket(const Sweep *sweep, const Packet *p, KCScalar *y)
{
  const Lines    *z = sweep->lines;
  const KCScalar *f = z->factors + (size_t)p->set * (size_t)z->length, *from = sweep->from + p->point;

  for (PetscInt i = 0; i < z->n; i++, from += z->along) {
    for (int s = 0; s < p->count; s++) y[i * KC_SYSTEMS + s] = from[s * z->across];
    for (int s = p->count; s < KC_SYSTEMS; s++) y[i * KC_SYSTEMS + s] = 0;
  }
  KCycleTridiagonalSolve(z->n, f, f + KC_SYSTEMS * z->n, f + 2 * KC_SYSTEMS * z->n, y);
}

/* x += weight y */
static void Add(const Sweep *sweep, const Packet *p, const KCScalar *y)
{
  const Lines *z  = sweep->lines;
  KCScalar    *to = sweep->x + p->point;

  for (PetscInt i = 0; i < z->n; i++, to += z->along) {
    for (int s = 0; s < p->count; s++) to[s * z->across] += (KCScalar)sweep->weight * y[i * KC_SYSTEMS + s];
  }
}

/* The packets of the colour; those of cut lines are kept in r, and their ends where they are sent from */
static void SolvePackets(const Sweep *sweep)
{
  const Lines *z = sweep->lines;
  KCScalar    *y = sweep->work + (size_t)KCycleThread() * (size_t)(z->n * KC_SYSTEMS);
  PetscInt     first, end;

  KCycleShare(z->first[sweep->colour], z->first[sweep->colour + 1], &first, &end);
  for (PetscInt q = first; q < end; q++) {
    const Packet *p = &z->packet[q];
    KCScalar     *mine, *to = sweep->r + p->point;

    SolvePacket(sweep, p, y);
    if (!z->cut) {
      Add(sweep, p, y);
      continue;
    }
    mine = z->mine + (q - z->first[sweep->colour]) * 2 * KC_SYSTEMS;
    memcpy(mine, y, KC_SYSTEMS * sizeof(KCScalar));
    memcpy(mine + KC_SYSTEMS, y + (z->n - 1) * KC_SYSTEMS, KC_SYSTEMS * sizeof(KCScalar));
    for (PetscInt i = 0; i < z->n; i++, to += z->along) {
      for (int s = 0; s < p->count; s++) to[s * z->across] = y[i * KC_SYSTEMS + s];
    }
  }
}

/* What comes before a part of the lines of a packet (side 0), or behind it (1) */
static void Beyond(const Lines *z, PetscInt q, PetscInt first, PetscInt npackets, int side, KCScalar *value)
{
  const KCScalar *weight = z->ends + ((size_t)q * 2 + (size_t)side) * (size_t)(2 * z->size * KC_SYSTEMS);

  for (int s = 0; s < KC_SYSTEMS; s++) value[s] = 0;
  for (PetscMPIInt part = 0; part < z->size; part++) {
    const KCScalar *end = z->all + ((size_t)part * (size_t)npackets + (size_t)(q - first)) * 2 * KC_SYSTEMS;

    for (int e = 0; e < 2; e++, weight += KC_SYSTEMS, end += KC_SYSTEMS) {
      for (int s = 0; s < KC_SYSTEMS; s++) value[s] += weight[s] * end[s];
    }
  }
}

/* x += weight (y - v before - w behind) */
static void Complete(const Sweep *sweep)
{
  const Lines   *z   = sweep->lines;
  const PetscInt low = z->first[sweep->colour], high = z->first[sweep->colour + 1], n = z->n * KC_SYSTEMS;
  KCScalar      *y = sweep->work + (size_t)KCycleThread() * (size_t)n, before[KC_SYSTEMS], behind[KC_SYSTEMS];
  PetscInt       first, end;

  KCycleShare(low, high, &first, &end);
  for (PetscInt q = first; q < end; q++) {
    const Packet   *p = &z->packet[q];
    const KCScalar *v = z->factors + (size_t)p->set * (size_t)z->length + 3 * n, *w = v + n,
                   *from = sweep->r + p->point;

    Beyond(z, q, low, high - low, 0, before);
    Beyond(z, q, low, high - low, 1, behind);
    for (PetscInt i = 0; i < z->n; i++, from += z->along) {
      for (int s = 0; s < p->count; s++) {
        const PetscInt at = i * KC_SYSTEMS + s;

        y[at] = from[s * z->across] - v[at] * before[s] - w[at] * behind[s];
      }
    }
    Add(sweep, p, y);
  }
}

/* The n numbers that each process of the lines has, one after the other */
static PetscErrorCode Gather(const Lines *z, PetscInt n, const KCScalar *mine, KCScalar *all)
{
  PetscMPIInt count;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(n, &count));
  if (z->comm == MPI_COMM_NULL) PetscCall(PetscArraycpy(all, mine, n));
  else PetscCallMPI(MPI_Allgather(mine, count, NUMBER, all, count, NUMBER, z->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lines of one colour; zero: x is zero */
static PetscErrorCode Relax(Sweep *sweep, PetscBool zero)
{
  const KCycleStencil *st    = sweep->st;
  const Lines         *z     = sweep->lines;
  const PetscInt      *first = z->first + sweep->colour;

  PetscFunctionBegin;
  sweep->from = zero ? sweep->b : sweep->r;
  if (!zero) {
    PetscCall(KCycleBoxExchange(st->box, (PetscBool)(st->shape.box != 0), sweep->x, st->halo));
    KC_PARALLEL(st->box->npoints)
    Residuals(sweep);
  }
  KC_PARALLEL(st->box->npoints)
  SolvePackets(sweep);
  if (z->cut) {
    PetscCall(Gather(z, (first[1] - first[0]) * 2 * KC_SYSTEMS, z->mine, z->all));
    KC_PARALLEL(st->box->npoints)
    Complete(sweep);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Sweeps(KCycleSmoother *s, const KCycleSweeps *sweeps, const KCScalar *b, KCScalar *x)
{
  const Zebra *zebra = (Zebra *)s->data;
  const int    turns = sweeps->order == PC_RELAX_SYMMETRIC ? 2 : 1;
  PetscBool    zero  = sweeps->zeroguess;
  Sweep        sweep = {s->st, NULL, 0, s->weight, b, NULL, x, zebra->r, zebra->work};

  PetscFunctionBegin;
  if (zero) PetscCall(PetscArrayzero(x, s->st->box->npoints));
  for (PetscInt i = 0; i < sweeps->its * turns; i++) {
    const PetscBool back = turns == 2 ? (PetscBool)(i % 2) : KCycleSweepsBackward(sweeps);

    for (int d = 0; d < zebra->ndirections; d++) {
      sweep.lines = &zebra->lines[back ? zebra->ndirections - 1 - d : d];
      for (int c = 0; c < sweep.lines->ncolours; c++) {
        sweep.colour = FirstColour(s, sweep.lines) ^ (back ? sweep.lines->ncolours - 1 - c : c);
        PetscCall(Relax(&sweep, zero));
        zero = PETSC_FALSE;
      }
    }
  }
  PetscCall(
      PetscLogFlops((2.0 * s->st->shape.ncoeffs + 6) * zebra->ndirections * sweeps->its * turns * s->st->box->npoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The packets of a colour, or, without an array for them, their number */
static PetscInt MakePackets(const KCycleSmoother *s, const Lines *z, int colour, Packet *packet)
{
  const KCycleBox *box     = s->st->box;
  const PetscInt   step[3] = {1, box->n[0], box->n[0] * box->n[1]};
  const PetscInt  *o       = z->beside;
  PetscInt         n       = 0;

  for (PetscInt q = 0; q < box->n[o[1]]; q++) {
    for (PetscInt p = 0; p < box->n[o[0]]; p++) {
      const PetscInt rest = (box->n[o[0]] - p + 1) / 2;

      if (Colour(s->st, Parity(box, o[0], p), Parity(box, o[1], q)) != colour) continue;
      if (packet) {
        packet[n].point = p * step[o[0]] + q * step[o[1]];
        packet[n].count = (int)PetscMin(rest, KC_SYSTEMS);
      }
      n++;
      p += 2 * (PetscMin(rest, KC_SYSTEMS) - 1);
    }
  }
  return n;
}

/* Coefficients of a packet along its lines; 0 beyond ends that nothing is behind, and trivial systems where it has
   fewer lines */
static void Coefficients(const KCycleSmoother *s, const Lines *z, const Packet *p, const PetscBool coupled[],
                         KCScalar *c)
{
  const KCycleBox *box     = s->st->box;
  const PetscInt   step[3] = {1, 3, 9}, m = z->n * KC_SYSTEMS;
  const int       *find = s->st->shape.find;
  PetscInt         last = -1;
  KCycleLine       l;

  for (PetscInt t = 0; t < m; t++) { /* along the grid's lines in x, whose coefficients are at hand together */
    const PetscInt i = z->d ? t / KC_SYSTEMS : t % z->n, q = z->d ? t % KC_SYSTEMS : t / z->n;
    const PetscInt at = p->point + i * z->along + q * z->across, x = at % box->n[0], line = at / box->n[0];
    KCScalar      *to = c + i * KC_SYSTEMS + q;

    to[0] = to[2 * m] = 0;
    to[m]             = 1;
    if (q >= p->count) continue;
    if (line != last) KCycleLineCoefficients(s->st, line % box->n[1], line / box->n[1], &l);
    last  = line;
    to[m] = KCycleLineCoefficient(&l, find[13], x);
    if (i > 0 || coupled[0]) to[0] = KCycleLineCoefficient(&l, find[13 - step[z->d]], x);
    if (i < z->n - 1 || coupled[1]) to[2 * m] = KCycleLineCoefficient(&l, find[13 + step[z->d]], x);
  }
}

/* Factors of a packet, and v and w, from its coefficients */
static void Factor(const Lines *z, KCScalar *f)
{
  const PetscInt m = z->n * KC_SYSTEMS;
  KCScalar      *v = f + 3 * m, *w = v + m;

  if (z->cut) {
    memset(v, 0, (size_t)(2 * m) * sizeof(KCScalar));
    for (int s = 0; s < KC_SYSTEMS; s++) {
      v[s]                  = f[s];
      w[m - KC_SYSTEMS + s] = f[3 * m - KC_SYSTEMS + s];
    }
  }
  KCycleTridiagonalFactor(z->n, EPSILON, f, f + m, f + 2 * m);
  if (z->cut) {
    KCycleTridiagonalSolve(z->n, f, f + m, f + 2 * m, v);
    KCycleTridiagonalSolve(z->n, f, f + m, f + 2 * m, w);
  }
}

/* The number of the last set of factors, or of an older one that is the same */
static PetscErrorCode Keep(Lines *z, PetscInt *set)
{
  const KCScalar *last = z->factors + (size_t)z->nsets * (size_t)z->length;

  PetscFunctionBegin;
  for (*set = z->nsets - 1; *set >= PetscMax(0, z->nsets - OLDER); (*set)--) {
    if (!memcmp(last, z->factors + (size_t)*set * (size_t)z->length, (size_t)z->length * sizeof(KCScalar)))
      PetscFunctionReturn(PETSC_SUCCESS);
  }
  *set = z->nsets++;
  if (z->nsets == z->room) {
    z->room *= 2;
    PetscCall(PetscRealloc((size_t)z->room * (size_t)z->length * sizeof(KCScalar), &z->factors));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FactorPackets(const KCycleSmoother *s, Lines *z, const PetscBool coupled[])
{
  PetscFunctionBegin;
  z->length = (z->cut ? 5 : 3) * z->n * KC_SYSTEMS;
  z->room   = 4;
  PetscCall(PetscMalloc1((size_t)z->room * (size_t)z->length, &z->factors));
  for (PetscInt q = 0; q < z->first[z->ncolours]; q++) {
    KCScalar *f = z->factors + (size_t)z->nsets * (size_t)z->length;

    Coefficients(s, z, &z->packet[q], coupled, f);
    Factor(z, f);
    PetscCall(Keep(z, &z->packet[q].set));
  }
  PetscCall(PetscRealloc((size_t)z->nsets * (size_t)z->length * sizeof(KCScalar), &z->factors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ends of v and of w of each packet: v first, v last, w first, w last; those of all parts */
static PetscErrorCode GatherEnds(const Lines *z, KCScalar **all)
{
  const PetscInt n = z->first[z->ncolours] * 4 * KC_SYSTEMS, m = z->n * KC_SYSTEMS;
  KCScalar      *mine, *to;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &mine));
  PetscCall(PetscMalloc1((size_t)n * (size_t)z->size, all));
  to = mine;
  for (PetscInt q = 0; q < z->first[z->ncolours]; q++) {
    const KCScalar *v = z->factors + (size_t)z->packet[q].set * (size_t)z->length + 3 * m;

    for (int e = 0; e < 4; e++, to += KC_SYSTEMS)
      memcpy(to, v + (e / 2) * m + (e % 2) * (m - KC_SYSTEMS), KC_SYSTEMS * sizeof(KCScalar));
  }
  PetscCall(Gather(z, n, mine, *all));
  PetscCall(PetscFree(mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves the n equations a^T g = h for two right sides h, which become g; a is spoilt. No pivoting: a is dominated by
   its diagonal */
static void SolveTransposed(PetscInt n, PetscScalar *a, PetscScalar *h)
{
  for (PetscInt k = 0; k < n; k++) {
    const PetscScalar pivot = a[k * n + k];

    if (PetscAbsScalar(pivot) < 100 * EPSILON) {
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

/* What a line's first and last points add to what comes before its part on this process and behind it: rows of the
   inverse of their system. ends: of v and w, from part to part at a distance */
static void InvertEnds(const Lines *z, const KCScalar *ends, size_t distance, PetscScalar *a, KCScalar *weight)
{
  const PetscInt p = z->size, n = 2 * p;
  PetscScalar   *h = a + n * n;

  for (PetscInt i = 0; i < n * (n + 2); i++) a[i] = 0;
  for (PetscInt part = 0; part < p; part++) {
    const KCScalar *end  = ends + (size_t)part * distance;
    const PetscInt  last = 2 * ((part + p - 1) % p) + 1, next = 2 * ((part + 1) % p);

    for (PetscInt e = 0; e < 2; e++) {
      PetscScalar *row = a + (2 * part + e) * n;

      row[2 * part + e] += 1;
      row[last] += end[e * KC_SYSTEMS];
      row[next] += end[(2 + e) * KC_SYSTEMS];
    }
  }
  h[2 * ((z->rank + p - 1) % p) + 1] = 1;
  h[n + 2 * ((z->rank + 1) % p)]     = 1;
  SolveTransposed(n, a, h);
  for (PetscInt i = 0; i < 2 * n; i++) weight[i * KC_SYSTEMS] = (KCScalar)h[i];
}

/* For lines in parts */
static PetscErrorCode SetUpEnds(Lines *z)
{
  const PetscInt npackets = z->first[z->ncolours], p = z->size;
  PetscInt       most = 0;
  KCScalar      *ends;
  PetscScalar   *a;

  PetscFunctionBegin;
  for (int c = 0; c < z->ncolours; c++) most = PetscMax(most, z->first[c + 1] - z->first[c]);
  PetscCall(PetscMalloc1(most * 2 * KC_SYSTEMS, &z->mine));
  PetscCall(PetscMalloc1((size_t)most * 2 * KC_SYSTEMS * (size_t)p, &z->all));
  PetscCall(PetscMalloc1((size_t)npackets * 4 * KC_SYSTEMS * (size_t)p, &z->ends));
  PetscCall(PetscMalloc1(2 * p * (2 * p + 2), &a));
  PetscCall(GatherEnds(z, &ends));
  for (PetscInt q = 0; q < npackets; q++) {
    for (int s = 0; s < KC_SYSTEMS; s++)
      InvertEnds(z, ends + q * 4 * KC_SYSTEMS + s, (size_t)npackets * 4 * KC_SYSTEMS, a,
                 z->ends + (size_t)q * 4 * KC_SYSTEMS * (size_t)p + s);
  }
  PetscCall(PetscFree(ends));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Who has the other parts of the lines */
static PetscErrorCode FindParts(const KCycleSmoother *s, Lines *z, PetscBool coupled[])
{
  const KCycleBox *box  = s->st->box;
  const PetscInt   d    = z->d;
  PetscInt         p[3] = {box->rank % box->nproc[0], box->rank / box->nproc[0] % box->nproc[1],
                           box->rank / (box->nproc[0] * box->nproc[1])};
  PetscMPIInt      key, lines;

  PetscFunctionBegin;
  coupled[0] = (PetscBool)(box->periodic[d] || p[d] > 0);
  coupled[1] = (PetscBool)(box->periodic[d] || p[d] < box->nproc[d] - 1);
  z->cut     = (PetscBool)(box->periodic[d] || box->nproc[d] > 1);
  z->comm    = MPI_COMM_NULL;
  z->size    = 1;
  if (box->nproc[d] == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMPIIntCast(p[d], &key));
  p[d] = 0;
  PetscCall(PetscMPIIntCast(p[0] + box->nproc[0] * (p[1] + box->nproc[1] * p[2]), &lines));
  PetscCallMPI(MPI_Comm_split(s->comm, lines, key, &z->comm));
  PetscCallMPI(MPI_Comm_size(z->comm, &z->size));
  PetscCallMPI(MPI_Comm_rank(z->comm, &z->rank));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpLines(const KCycleSmoother *s, Lines *z)
{
  const KCycleBox *box     = s->st->box;
  const PetscInt   step[3] = {1, box->n[0], box->n[0] * box->n[1]};
  PetscBool        coupled[2];

  PetscFunctionBegin;
  z->beside[0] = z->d == 0 ? 1 : 0;
  z->beside[1] = z->d == 2 ? 1 : 2;
  z->n         = box->n[z->d];
  z->along     = step[z->d];
  z->across    = 2 * step[z->beside[0]];
  z->ncolours  = box->dim == 1 ? 1 : box->dim == 3 && s->st->shape.box ? 4 : 2;
  for (int c = 0; c < z->ncolours; c++) z->first[c + 1] = z->first[c] + MakePackets(s, z, c, NULL);
  PetscCall(PetscMalloc1(z->first[z->ncolours], &z->packet));
  for (int c = 0; c < z->ncolours; c++) (void)MakePackets(s, z, c, z->packet + z->first[c]);
  PetscCall(FindParts(s, z, coupled));
  PetscCall(FactorPackets(s, z, coupled));
  if (z->cut) PetscCall(SetUpEnds(z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUp(KCycleSmoother *s)
{
  Zebra         *zebra = (Zebra *)s->data;
  const PetscInt dim   = s->st->box->dim;
  PetscInt       most  = 0;

  PetscFunctionBegin;
  if (!zebra->ndirections) {
    const char *wanted = s->directions[0] ? s->directions : dim == 1 ? "x" : dim == 2 ? "xy" : "xyz";

    for (; *wanted; wanted++) zebra->lines[zebra->ndirections++].d = *wanted - 'x';
  }
  for (int i = 0; i < zebra->ndirections; i++)
    PetscCheck(zebra->lines[i].d < dim, s->comm, PETSC_ERR_ARG_INCOMP,
               "-pc_relax_type %s has lines along %c, and the grid has %" PetscInt_FMT
               " dimensions: use zebra_x or alternating",
               s->name, (int)('x' + zebra->lines[i].d), dim);
  s->weight = s->omega == 0 ? 1 : s->omega;
  s->trips  = 0;
  for (int d = 0; d < zebra->ndirections; d++) {
    PetscCall(SetUpLines(s, &zebra->lines[d]));
    s->trips += zebra->lines[d].ncolours;
    most = PetscMax(most, zebra->lines[d].n);
  }
  PetscCall(PetscMalloc1(s->st->box->npoints, &zebra->r));
  PetscCall(PetscMalloc1((size_t)KCycleThreadsMost() * (size_t)(most * KC_SYSTEMS), &zebra->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View(const KCycleSmoother *s, PetscViewer viewer)
{
  const Zebra *zebra = (const Zebra *)s->data;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  lines along "));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  for (int d = 0; d < zebra->ndirections; d++)
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s%c", d ? ", " : "", 'x' + (char)zebra->lines[d].d));
  PetscCall(PetscViewerASCIIPrintf(viewer, " are solved exactly, omega %g\n", (double)s->weight));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(KCycleSmoother *s)
{
  Zebra *zebra = (Zebra *)s->data;

  PetscFunctionBegin;
  for (int d = 0; d < zebra->ndirections; d++) {
    Lines *z = &zebra->lines[d];

    PetscCall(PetscFree(z->packet));
    PetscCall(PetscFree(z->factors));
    PetscCall(PetscFree(z->ends));
    PetscCall(PetscFree(z->mine));
    PetscCall(PetscFree(z->all));
    if (z->size > 1) PetscCallMPI(MPI_Comm_free(&z->comm));
  }
  PetscCall(PetscFree(zebra->r));
  PetscCall(PetscFree(zebra->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(KCycleSmoother *s, int ndirections, PetscInt d)
{
  Zebra *zebra;

  PetscFunctionBegin;
  PetscCall(PetscNew(&zebra));
  s->data            = zebra;
  zebra->ndirections = ndirections;
  zebra->lines[0].d  = d;
  s->local           = PETSC_TRUE;
  s->ops.setup       = SetUp;
  s->ops.sweeps      = Sweeps;
  s->ops.view        = View;
  s->ops.destroy     = Destroy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSmootherCreate_ZebraX(KCycleSmoother *s)
{
  return Create(s, 1, 0);
}

PetscErrorCode KCycleSmootherCreate_ZebraY(KCycleSmoother *s)
{
  return Create(s, 1, 1);
}

PetscErrorCode KCycleSmootherCreate_ZebraZ(KCycleSmoother *s)
{
  return Create(s, 1, 2);
}

PetscErrorCode KCycleSmootherCreate_Alternating(KCycleSmoother *s)
{
  return Create(s, 0, 0);
}
