/*
  Before the search for clusters: which points have couplings that jump, and which points no cluster can have.

  A point first joins others at the rank of its strongest coupling. If the group that it gets into then is too large
  already, the point is dead from the beginning, for itself and for all that join it. Such points are found here, line
  by line, in strings of bits, one bit for each point:

    strong   a coupling is of the rank of its point's strongest one
    dead     points of groups of too many points whose couplings with each other are strong for both, and of groups
             that join such ones, or grow as large, by couplings that are strong for one of the two

  These are not all dead points, but most of those in large bodies and beside them; the search sees to the others.

  Where a grid is coarsened in one direction alone, a point between two that are kept is joined with one of these first
  if its strongest coupling is along that direction. A cluster of such points and of points that are kept is a cluster
  on the coarser grid, which corrects it, or leaves it to the next one. So the search starts from others.
*/
#include "searchimpl.h"

#define KC_WORTH 32          /* so many points are looked at for one that jumps */
#define KC_VALID (1 + 1e-12) /* on the safe side of rounding */
#define KC_TINY  1e-300      /* no coupling */

typedef struct Sift Sift;
struct Sift {
  KCycleSearch *s;
  int           nc;
  PetscInt      shift[KC_MAX_COEFFS];  /* what a coefficient adds to the number of a bit */
  uint64_t     *strong[KC_MAX_COEFFS]; /* of each coefficient; in place of the diagonal: of any */
  uint64_t     *work;
  uint64_t      bit[KC_WORD]; /* bit i alone */
  double        bar[KC_WORD], scale[KC_WORD];
  PetscReal     jump; /* factor */
  void (*look)(PetscInt, const PetscScalar *const[], Sift *, PetscInt, uint64_t[]);
};

/* Does a coupling jump to that with the opposite neighbour, and is it strong? */
KC_POINT int Jump(PetscReal factor, PetscReal a, PetscReal b, PetscReal least)
{
  const PetscReal low = PetscMin(a, b), high = PetscMax(a, b);

  return (low > 0) & (high > factor * low) & (high >= least);
}

/* Bits of up to 64 points of a line, in one word each */
KC_POINT void LookAtPoints(const int nc, PetscInt n, const PetscScalar *const a[], Sift *sift, PetscInt from,
                           uint64_t word[])
{
  const uint64_t *KC_RESTRICT bit    = sift->bit + from;
  const PetscReal             factor = sift->jump;
  double *KC_RESTRICT bar = sift->bar, *KC_RESTRICT scale = sift->scale;
  uint64_t jump = 0;

  KC_IVDEP for (PetscInt i = 0; i < n; i++)
  {
    const PetscReal least = KC_CLUSTER_STRONG * PetscAbsScalar(a[nc / 2][i]);
    const double    sign  = PetscRealPart(a[nc / 2][i]) < 0 ? KC_CLUSTER_SHIFT : -KC_CLUSTER_SHIFT,
                 valid    = KC_VALID * KC_CLUSTER_SHIFT * (double)least;
    double strongest      = 0;
    int    jumps          = 0;

    KC_UNROLL
    for (int o = 0; o < nc / 2; o++) {
      const double v = sign * (double)PetscRealPart(a[o][i]), w = sign * (double)PetscRealPart(a[nc - 1 - o][i]);

      jumps |= Jump(factor, PetscAbsScalar(a[o][i]), PetscAbsScalar(a[nc - 1 - o][i]), least);
      strongest = strongest > v ? strongest : v;
      strongest = strongest > w ? strongest : w;
    }
    strongest = KCycleRankFloor(strongest);
    strongest = strongest > valid ? strongest : valid;
    bar[i]    = strongest > KC_TINY ? strongest : KC_TINY;
    scale[i]  = sign;
    jump |= jumps ? bit[i] : 0;
  }
  word[nc / 2] |= jump;
  KC_UNROLL
  for (int o = 0; o < nc; o++) {
    const PetscScalar *c   = a[o];
    uint64_t           sum = 0;

    if (o == nc / 2) continue;
    for (PetscInt i = 0; i < n; i++) sum |= scale[i] * (double)PetscRealPart(c[i]) >= bar[i] ? bit[i] : 0;
    word[o] |= sum;
  }
}

#define KC_LOOK_AT_POINTS(nc)                                                                                   \
  KC_VERSIONS static void LookAtPoints##nc(PetscInt n, const PetscScalar *const a[], Sift *sift, PetscInt from, \
                                           uint64_t word[])                                                     \
  {                                                                                                             \
    if (n == 2) LookAtPoints(nc, 2, a, sift, from, word);                                                       \
    else LookAtPoints(nc, n, a, sift, from, word);                                                              \
  }
KC_LOOK_AT_POINTS(3)
KC_LOOK_AT_POINTS(5)
KC_LOOK_AT_POINTS(7)
KC_LOOK_AT_POINTS(9)
KC_LOOK_AT_POINTS(15)
KC_LOOK_AT_POINTS(27)

/* The string that a coefficient has bits for while points are looked at */
static uint64_t *StringOf(const Sift *sift, int o)
{
  return o == sift->nc / 2 ? sift->s->sieve.rough : sift->strong[o];
}

/* Adds bits from one on */
static void AddWord(const Sift *sift, PetscInt at, const uint64_t word[])
{
  for (int o = 0; o < sift->nc; o++) KCycleSieveSet(StringOf(sift, o), at, word[o]);
}

/* The ends of a line: their coefficients are not in arrays */
static void LookAtEnds(Sift *sift, const KCycleLine *l, PetscInt first)
{
  const int          nc = sift->nc;
  PetscScalar        values[KC_MAX_COEFFS][2];
  const PetscScalar *a[KC_MAX_COEFFS]    = {NULL};
  uint64_t           ends[KC_MAX_COEFFS] = {0};

  for (int o = 0; o < nc; o++) {
    values[o][0] = l->end[0][o * l->stride];
    values[o][1] = l->end[l->n > 1][o * l->stride];
    a[o]         = values[o];
  }
  sift->look(2, a, sift, 0, ends);
  for (int end = 0; end < 2; end++) {
    const PetscInt at = end ? l->n - 1 : 0;
    uint64_t       word[KC_MAX_COEFFS];

    for (int o = 0; o < nc; o++) word[o] = ends[o] >> end & 1;
    AddWord(sift, first + at, word);
  }
}

static void LookAtLine(Sift *sift, const KCycleLine *l, PetscInt first)
{
  const PetscScalar *a[KC_MAX_COEFFS] = {NULL};

  /* the next line follows */
  if (!l->constant)
    KCycleFetch((sift->nc - sift->nc / 2) * l->n, l->c[sift->nc / 2] + (sift->nc - sift->nc / 2) * l->n);
  LookAtEnds(sift, l, first);
  for (PetscInt w = 0; w * KC_WORD < l->n - 1; w++) {
    const PetscInt low = PetscMax(1, w * KC_WORD), high = PetscMin(l->n - 1, (w + 1) * KC_WORD);
    uint64_t       word[KC_MAX_COEFFS] = {0};

    for (int o = 0; o < sift->nc; o++) a[o] = KCycleLineArray(l, o) + low;
    sift->look(high - low, a, sift, low - w * KC_WORD, word);
    AddWord(sift, first + w * KC_WORD, word);
  }
}

/* The same bits as another line has */
static void CopyLine(const Sift *sift, PetscInt from, PetscInt to)
{
  const PetscInt n = sift->s->st->box->n[0];

  for (PetscInt i = 0; i < n; i += KC_WORD) {
    for (int o = 0; o < sift->nc; o++) {
      uint64_t *x = StringOf(sift, o);

      KCycleSieveSet(x, to + i, KCycleSieveBits(x, from + i, n - i));
    }
  }
}

/* Bits of all lines. Those of a line that shares its coefficients with the one before are its bits */
static void LookAtLines(Sift *sift)
{
  const KCycleStencil *st    = sift->s->st;
  KCycleSieve         *sieve = &sift->s->sieve;
  PetscInt             last = -1, before = 0;

  for (PetscInt line = 0; line < st->box->nlines; line++) {
    const PetscInt j = line % st->box->n[1], k = line / st->box->n[1], first = KCycleSieveLine(sieve, j, k);

    if (MatStencilLineIsLast(st, line, last)) CopyLine(sift, before, first);
    else LookAtLine(sift, KCycleLinesAt(&sift->s->lines, j, k), first);
    last   = line;
    before = first;
  }
}

/* The bits so much further on, at the place of a word */
static inline uint64_t Shifted(const uint64_t *x, PetscInt shift)
{
  const PetscInt words = shift >> 6, bits = shift & (KC_WORD - 1);

  return x[words] >> bits | x[words + 1] << 1 << (KC_WORD - 1 - bits);
}

/* Towards the root of a group; roots have minus the number of points, 0: no such point */
static PetscInt RootOf(PetscInt *parent, PetscInt p)
{
  while (parent[p] > 0) {
    if (parent[parent[p]] > 0) parent[p] = parent[parent[p]];
    p = parent[p];
  }
  return p;
}

static void Unite(PetscInt *parent, PetscInt p, PetscInt q)
{
  const PetscInt a = RootOf(parent, p), b = RootOf(parent, q), large = parent[a] < parent[b] ? a : b,
                 small = a + b - large;

  if (a == b) return;
  parent[large] += parent[small];
  parent[small] = large;
}

static PetscBool IsLarge(const Sift *sift, PetscInt *parent, PetscInt p)
{
  return (PetscBool)(parent[RootOf(parent, p)] < -sift->s->most);
}

/* The word of the first point, and the one behind that of the last */
static PetscInt Begin(const KCycleSieve *sieve)
{
  return sieve->first / KC_WORD;
}

static PetscInt End(const KCycleSieve *sieve)
{
  return (sieve->first + sieve->nbits - 1) / KC_WORD + 1;
}

/* What points are numbered with, from 1 on: their bits less the one before the first */
static PetscInt Before(const Sift *sift)
{
  return sift->s->sieve.first - 1;
}

/* Groups of points whose couplings are strong for both */
static void FindGroups(const Sift *sift, PetscInt *parent)
{
  const KCycleSieve *sieve  = &sift->s->sieve;
  const int          mid    = sift->nc / 2;
  const PetscInt     before = Before(sift);
  uint64_t *const   *strong = sift->strong;

  for (PetscInt w = Begin(sieve); w < End(sieve); w++) {
    for (uint64_t rest = strong[mid][w]; rest; rest &= rest - 1)
      parent[KC_WORD * w + __builtin_ctzll(rest) - before] = -1;
  }
  for (PetscInt w = Begin(sieve); w < End(sieve); w++) {
    for (int o = mid + 1; strong[mid][w] && o < sift->nc; o++) {
      uint64_t both = strong[o][w];

      if (both) both &= Shifted(strong[sift->nc - 1 - o] + w, sift->shift[o]);
      for (; both; both &= both - 1) {
        const PetscInt p = KC_WORD * w + __builtin_ctzll(both) - before;

        Unite(parent, p, p + sift->shift[o]);
      }
    }
  }
  for (PetscInt w = Begin(sieve); w < End(sieve); w++) {
    for (uint64_t rest = strong[mid][w]; rest; rest &= rest - 1) {
      const int bit = __builtin_ctzll(rest);

      if (IsLarge(sift, parent, KC_WORD * w + bit - before)) sieve->dead[w] |= sift->bit[bit];
    }
  }
}

/* Couplings that are strong for the first point alone */
typedef struct {
  PetscInt    n, most, start[KC_RANKS + 1];
  KCycleEdge *edge, *sorted;
  PetscInt   *rank, mostranks;
} Slope;

static PetscErrorCode FindSlopes(const Sift *sift, Slope *r)
{
  const KCycleSieve *sieve = &sift->s->sieve;
  const PetscInt    *width = sieve->width;

  PetscFunctionBegin;
  for (PetscInt w = Begin(sieve); w < End(sieve); w++) {
    if (!(sift->strong[sift->nc / 2][w] & ~sieve->dead[w])) continue;
    for (int o = 0; o < sift->nc; o++) {
      uint64_t one = o == sift->nc / 2 ? 0 : sift->strong[o][w] & ~sieve->dead[w];

      if (one)
        one &= ~Shifted(sift->strong[sift->nc - 1 - o] + w, sift->shift[o]) &
               Shifted(sift->strong[sift->nc / 2] + w, sift->shift[o]);
      for (; one; one &= one - 1) {
        const PetscInt    bit = KC_WORD * w + __builtin_ctzll(one), p = bit - sieve->first;
        const KCycleLine *l    = KCycleLinesAt(&sift->s->lines, p % width[1] / width[0], p / width[1]);
        const KCycleEdge  edge = {bit - Before(sift), bit - Before(sift) + sift->shift[o]};

        PetscCall(KCycleGrow(r->n + 1, &r->most, sizeof(KCycleEdge), &r->edge));
        PetscCall(KCycleGrow(r->n + 1, &r->mostranks, sizeof(PetscInt), &r->rank));
        r->edge[r->n]   = edge;
        r->rank[r->n++] = KCycleRank(PetscAbsScalar(KCycleLineCoefficient(l, o, p % width[1] % width[0])));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In the order of ranks: start becomes where those of each rank start */
static PetscErrorCode SortSlopes(Slope *r)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(r->n, &r->sorted));
  for (PetscInt i = 0; i < r->n; i++) r->start[r->rank[i] + 1]++;
  for (PetscInt g = 0; g < KC_RANKS; g++) r->start[g + 1] += r->start[g];
  for (PetscInt i = 0; i < r->n; i++) r->sorted[r->start[r->rank[i]]++] = r->edge[i];
  for (PetscInt g = KC_RANKS; g > 0; g--) r->start[g] = r->start[g - 1];
  r->start[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Groups join others of stronger couplings. What joins the dead is as good as too large */
static PetscErrorCode JoinGroups(const Sift *sift, PetscInt *parent)
{
  uint64_t *const dead   = sift->s->sieve.dead;
  const PetscInt  before = Before(sift);
  Slope          *r;

  PetscFunctionBegin;
  PetscCall(PetscNew(&r));
  PetscCall(FindSlopes(sift, r));
  PetscCall(SortSlopes(r));
  for (PetscInt g = 0; g < KC_RANKS; g++) {
    for (PetscInt i = r->start[g]; i < r->start[g + 1]; i++) {
      const KCycleEdge e = r->sorted[i];

      if (parent[e.to]) Unite(parent, e.from, e.to);
      else if (KCycleSieveBits(dead, e.to + before, 1)) parent[RootOf(parent, e.from)] -= sift->s->most;
    }
    for (PetscInt i = r->start[g]; i < r->start[g + 1]; i++) {
      const PetscInt p = r->sorted[i].from;

      if (IsLarge(sift, parent, p)) KCycleSieveSet(dead, p + before, 1);
    }
  }
  PetscCall(PetscFree(r->edge));
  PetscCall(PetscFree(r->sorted));
  PetscCall(PetscFree(r->rank));
  PetscCall(PetscFree(r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Groups that are too large, where that is worth the while */
static PetscErrorCode FindLarge(const Sift *sift)
{
  const KCycleSieve *sieve = &sift->s->sieve;
  PetscInt          *parent, n = 0, rough = 0;

  PetscFunctionBegin;
  for (PetscInt w = Begin(sieve); w < End(sieve); w++) {
    n += __builtin_popcountll(sift->strong[sift->nc / 2][w]);
    rough += __builtin_popcountll(sieve->rough[w]);
  }
  if (n > KC_WORTH * rough) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1(sieve->nbits + 1, &parent));
  FindGroups(sift, parent);
  PetscCall(JoinGroups(sift, parent));
  PetscCall(PetscFree(parent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SieveCreate(const KCycleStencil *st, KCycleSieve *sieve)
{
  const PetscInt *n = st->box->n, *reach = st->box->reach;
  PetscInt64      around;
  PetscInt        most;

  PetscFunctionBegin;
  sieve->width[0] = n[0] + 1;
  PetscCall(PetscIntCast(sieve->width[0] * (PetscInt64)(n[1] + 1), &sieve->width[1]));
  around = KC_WORD * ((1 + reach[1] * sieve->width[0] + reach[2] * (PetscInt64)sieve->width[1]) / KC_WORD + 1);
  PetscCall(PetscIntCast(2 * around + sieve->width[1] * (PetscInt64)n[2] + 2 * KC_WORD, &most)); /* they are numbered */
  sieve->first = (PetscInt)around;
  sieve->nbits = sieve->width[1] * (n[2] - 1) + sieve->width[0] * (n[1] - 1) + n[0];
  sieve->total = most / KC_WORD;
  PetscCall(PetscCalloc2(sieve->total, &sieve->rough, sieve->total, &sieve->dead));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SiftCreate(KCycleSearch *s, const KCycleSeeds *seeds, Sift *sift)
{
  const KCycleShape *shape = &s->st->shape;
  const PetscInt     total = s->sieve.total;

  PetscFunctionBegin;
  sift->s    = s;
  sift->jump = seeds->jump;
  sift->nc   = shape->ncoeffs;
  sift->look = sift->nc == 3    ? LookAtPoints3
               : sift->nc == 5  ? LookAtPoints5
               : sift->nc == 7  ? LookAtPoints7
               : sift->nc == 9  ? LookAtPoints9
               : sift->nc == 15 ? LookAtPoints15
                                : LookAtPoints27;
  for (int i = 0; i < KC_WORD; i++) sift->bit[i] = UINT64_C(1) << i;
  PetscCall(PetscCalloc1((size_t)total * sift->nc, &sift->work));
  for (int o = 0; o < sift->nc; o++) {
    sift->strong[o] = sift->work + (size_t)total * o;
    sift->shift[o] =
        shape->dx[o] + s->sieve.width[0] * shape->dy[shape->line[o]] + s->sieve.width[1] * shape->dz[shape->line[o]];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The search starts from all points */
static void TakeAll(KCycleSearch *s)
{
  const PetscInt *n = s->st->box->n;

  for (PetscInt line = 0; line < s->st->box->nlines; line++) {
    const PetscInt first = KCycleSieveLine(&s->sieve, line % n[1], line / n[1]);

    for (PetscInt i = 0; i < n[0]; i += KC_WORD)
      KCycleSieveSet(s->sieve.rough, first + i, ~UINT64_C(0) >> (KC_WORD - PetscMin(KC_WORD, n[0] - i)));
  }
}

/* Every second bit of a word, from parity on */
static uint64_t EverySecond(PetscInt parity)
{
  return parity & 1 ? UINT64_C(0xaaaaaaaaaaaaaaaa) : UINT64_C(0x5555555555555555);
}

/* Of the rough points only those stay that the coarser grid does not stand for */
static void LeaveUnseen(Sift *sift, const KCycleSeeds *seeds)
{
  const KCycleBox *box   = sift->s->st->box;
  KCycleSieve     *sieve = &sift->s->sieve;
  const int       *find = sift->s->st->shape.find, step[3] = {1, 3, 9};
  const int        d    = seeds->along;
  const uint64_t  *back = sift->strong[find[13 - step[d]]], *ahead = sift->strong[find[13 + step[d]]];
  const PetscInt   between = seeds->parity + 1 - box->start[d]; /* parity of points between those that are kept */

  for (PetscInt line = 0; line < box->nlines; line++) {
    const PetscInt at[3] = {0, line % box->n[1], line / box->n[1]}, first = KCycleSieveLine(sieve, at[1], at[2]);
    const uint64_t points = d == 0 ? EverySecond(between) : (at[d] - between) & 1 ? 0 : ~UINT64_C(0);

    for (PetscInt i = 0; i < box->n[0]; i += KC_WORD) {
      const PetscInt n    = PetscMin(KC_WORD, box->n[0] - i);
      const uint64_t seen = KCycleSieveBits(back, first + i, n) | KCycleSieveBits(ahead, first + i, n);

      KCycleSieveClear(sieve->rough, first + i, (~points | seen) & ~UINT64_C(0) >> (KC_WORD - n));
    }
  }
}

/* The search does not start from points without strong couplings, such as inactive cells: nothing joins them, or what
   does is a start itself */
static void LeaveUncoupled(Sift *sift)
{
  KCycleSieve *sieve = &sift->s->sieve;

  for (PetscInt w = 0; w < sieve->total; w++) sieve->rough[w] &= sift->strong[sift->nc / 2][w];
}

/* Fills the sieve. The dead are looked for in symmetric matrices alone: there both rows have the same of a coupling */
PetscErrorCode KCycleSift(KCycleSearch *s, const KCycleSeeds *seeds)
{
  KCycleSieve *sieve = &s->sieve;
  Sift        *sift;

  PetscFunctionBegin;
  PetscCall(SieveCreate(s->st, sieve));
  PetscCall(PetscMalloc1(1, &sift));
  PetscCall(SiftCreate(s, seeds, sift));
  LookAtLines(sift);
  if (seeds->all) TakeAll(s);
  if (seeds->along >= 0) LeaveUnseen(sift, seeds);
  if (s->st->half) {
    for (int o = 0; o < sift->nc; o++) {
      for (PetscInt w = Begin(sieve); o != sift->nc / 2 && w < End(sieve); w++)
        sift->strong[sift->nc / 2][w] |= sift->strong[o][w];
    }
    if (seeds->all) LeaveUncoupled(sift);
    PetscCall(FindLarge(sift));
  }
  PetscCall(PetscFree(sift->work));
  PetscCall(PetscFree(sift));
  PetscFunctionReturn(PETSC_SUCCESS);
}
