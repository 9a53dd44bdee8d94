/*
  What the files of the search for clusters share.
*/
#pragma once

#include <petsckcycle/private/relaximpl.h>

#define KC_CLUSTER_STRONG 1e-5  /* couplings weaker than this part of both diagonals join nobody */
#define KC_CLUSTER_SHIFT  1.083 /* limits of ranks are no round numbers, which regular grids would meet to rounding */

#define KC_RANKS   4300
#define KC_NEVER   KC_RANKS /* rank of what joins nobody, and of the death of the living */
#define KC_NONE    -1       /* what else stands where a node may: nobody yet */
#define KC_OUTSIDE -3       /* points of other processes, or beyond the grid */
#define KC_DEAD    -4       /* dead without a node */
#define KC_UNKNOWN -5       /* of candidates: a point of another process that has not been asked for */

/* A point and, if it is the root of its group, the group */
typedef struct {
  PetscReal t, d;            /* sum of the diagonals, sum of all entries between members */
  PetscInt  at[3];           /* place, from the first point of the process, or of the grid */
  PetscInt  point;           /* number of the place, see KCycleSearch */
  PetscInt  tail, size;      /* last member, number of them */
  PetscInt  largest, inside; /* of the clusters found in it: size of the largest, number of generations */
  PetscReal tight;           /* d / t of the largest */
  PetscInt  cut;             /* rank of its strongest coupling across a cut */
  PetscBool jumps, rough;    /* couplings of the point, or of a member of its group, jump */
} KCycleNode;

/* A coupling: the node that it leads from, the number of the place that it leads to (of candidates: the node) */
typedef struct {
  PetscInt from, to;
} KCycleEdge;

/* Couplings of one rank, and the next such chunk; this many, so that a chunk is a few cache lines */
#define KC_EDGES_OF_CHUNK 23
typedef struct {
  PetscInt   count, below;
  KCycleEdge edge[KC_EDGES_OF_CHUNK];
} KCycleChunk;

#define KC_WORD 64 /* bits of a word */

/* Strings of bits, one for each point; behind each line lies a zero, behind each plane a line of them, and enough of
   them around all */
typedef struct {
  PetscInt  width[2]; /* bits from a line to the next, from a plane to the next */
  PetscInt  first;    /* bit of the first point, the first one of a word */
  PetscInt  nbits;    /* from there to the last point */
  PetscInt  total;    /* words, of which one is spare */
  uint64_t *rough;    /* couplings jump */
  uint64_t *dead;     /* no cluster can have the point, nor what joins it */
} KCycleSieve;

typedef struct {
  const KCycleStencil *st;
  int                  nc;
  PetscInt             most;     /* points of a cluster */
  PetscReal            singular; /* sums of the matrix below this part of those of the diagonals are rounding */
  PetscBool            along[3]; /* the smoother solves lines along this direction */
  PetscBool            lined;    /* along any */
  PetscReal           *across;   /* where it does, of a node for each direction: sum of the diagonals, less couplings
                                    along that direction */
  PetscInt             nnodes, maxnodes, nchunks, maxchunks, ntouched, maxtouched;
  KCycleNode          *node;
  PetscInt            *parent; /* towards the root of a group, which is its own */
  PetscInt            *next;   /* member of the same group */
  unsigned short      *death;  /* of roots: rank at which the group died */
  PetscScalar         *a;      /* coefficients, point by point */
  unsigned short      *rank;   /* of couplings, point by point */
  KCycleChunk         *chunk;
  PetscInt             unused;         /* first chunk that is free again */
  PetscInt             head[KC_RANKS]; /* chunk of each rank */
  PetscInt             now;            /* rank that is worked on, */
  PetscReal            weakest;        /* and its weakest coupling */
  PetscInt            *touched;        /* points joined at this rank */
  KCycleClusterList    found;          /* members are nodes */
  /* the process's own points */
  PetscInt             npoints, width[2];    /* the owned box with a layer around: points; of a line and of a plane */
  PetscInt             delta[KC_MAX_COEFFS]; /* what a coefficient adds to the number of a point in it */
  /* node of each point in it, also where the grid wraps around; or what KC_NONE and the others say */
  PetscInt            *index;
  PetscScalar         *row[KC_MAX_COEFFS]; /* coefficients of points in the halo */
  KCycleLines          lines;
  KCycleSieve          sieve;
  /* candidates */
  PetscInt            *neighbour; /* nodes of neighbours, point by point; KC_DEAD: nobody; KC_UNKNOWN */
  PetscInt *blame; /* of roots: whose fault their death is if that is for want of a point: the root of a group, itself
                      where a coupling leads to the point; else KC_NONE */
} KCycleSearch;

/* search.c */
PETSC_INTERN PetscErrorCode KCycleGrow(PetscInt length, PetscInt *most, size_t size, void *list);
PETSC_INTERN PetscErrorCode KCycleClusterListAppend(KCycleClusterList *, PetscInt m, PetscInt generation,
                                                    PetscMPIInt owner, PetscInt slot);
PETSC_INTERN PetscErrorCode KCycleSearchCreate(const KCycleStencil *, const PetscBool along[], PetscReal singular,
                                               KCycleSearch **);
PETSC_INTERN void           KCycleSearchWeigh(KCycleSearch *, PetscInt p);
PETSC_INTERN PetscErrorCode KCycleSearchDestroy(KCycleSearch **);
PETSC_INTERN PetscErrorCode KCycleSearchNode(KCycleSearch *, const PetscInt at[], PetscBool rough, PetscInt *made);
PETSC_INTERN PetscErrorCode KCycleSearchEdge(KCycleSearch *, PetscInt from, PetscInt to, PetscInt rank);
PETSC_INTERN PetscBool      KCycleSearchFills(KCycleSearch *, PetscInt c);
PETSC_INTERN PetscErrorCode KCycleSearchRun(KCycleSearch *);

/* sift.c */
PETSC_INTERN PetscErrorCode KCycleSift(KCycleSearch *, const KCycleSeeds *);

/* candidates.c */
PETSC_INTERN PetscErrorCode KCycleSearchCandidates(MPI_Comm, KCycleSearch *own, KCycleClusterList *);

/* Ranks are half powers of two: the exponent of a number, and whether the rest reaches the square root of two */
#define KC_RANK_EXPONENT UINT64_C(0x7ff0000000000000)
#define KC_RANK_REST     UINT64_C(0x000fffffffffffff)
#define KC_RANK_HALF     UINT64_C(0x0006a09e667f3bcd)

/* The rank of a coupling, which is minus the off-diagonal entry if the diagonal is positive. Strong couplings have
   low ranks */
KC_POINT PetscInt KCycleRank(PetscReal coupling)
{
  const double w = KC_CLUSTER_SHIFT * (double)coupling;
  uint64_t     bits;

  memcpy(&bits, &w, sizeof(bits));
  return PetscMax(4093 - 2 * (PetscInt)(bits >> 52) - ((bits & KC_RANK_REST) >= KC_RANK_HALF), 0);
}

/* The smallest number of the same rank, both already shifted */
KC_POINT double KCycleRankFloor(double w)
{
  uint64_t bits;

  memcpy(&bits, &w, sizeof(bits));
  bits = (bits & KC_RANK_REST) >= KC_RANK_HALF ? (bits & KC_RANK_EXPONENT) | KC_RANK_HALF : bits & KC_RANK_EXPONENT;
  memcpy(&w, &bits, sizeof(w));
  return w;
}

/* The bit of the first point of a line */
static inline PetscInt KCycleSieveLine(const KCycleSieve *sieve, PetscInt j, PetscInt k)
{
  return sieve->first + sieve->width[0] * j + sieve->width[1] * k;
}

/* At most 64 bits from one on */
static inline uint64_t KCycleSieveBits(const uint64_t *x, PetscInt at, PetscInt n)
{
  const int      skip = (int)(at & (KC_WORD - 1));
  const uint64_t bits = x[at / KC_WORD] >> skip | x[at / KC_WORD + 1] << 1 << (KC_WORD - 1 - skip);

  return n < KC_WORD ? bits & ((UINT64_C(1) << n) - 1) : bits;
}

/* Sets bits of a word from one on */
static inline void KCycleSieveSet(uint64_t *x, PetscInt at, uint64_t bits)
{
  const int skip = (int)(at & (KC_WORD - 1));

  x[at / KC_WORD] |= bits << skip;
  x[at / KC_WORD + 1] |= bits >> 1 >> (KC_WORD - 1 - skip);
}

static inline void KCycleSieveClear(uint64_t *x, PetscInt at, uint64_t bits)
{
  const int skip = (int)(at & (KC_WORD - 1));

  x[at / KC_WORD] &= ~(bits << skip);
  x[at / KC_WORD + 1] &= ~(bits >> 1 >> (KC_WORD - 1 - skip));
}

/* Are there living points whose couplings jump? */
static inline PetscBool KCycleSieveHasRough(const KCycleSieve *sieve)
{
  uint64_t any = 0;

  for (PetscInt w = 0; w < sieve->total; w++) any |= sieve->rough[w] & ~sieve->dead[w];
  return (PetscBool)(any != 0);
}

/* The root of a point's group; paths become shorter on the way */
static inline PetscInt KCycleSearchRoot(PetscInt *parent, PetscInt p)
{
  while (parent[p] != p) p = parent[p] = parent[parent[p]];
  return p;
}

/* The place beside a point where a coefficient leads */
static inline void KCycleSearchBeside(const KCycleSearch *s, const PetscInt at[], int o, PetscInt to[])
{
  const KCycleShape *shape = &s->st->shape;

  to[0] = at[0] + shape->dx[o];
  to[1] = at[1] + shape->dy[shape->line[o]];
  to[2] = at[2] + shape->dz[shape->line[o]];
}

/* The number of a place in the owned box or the layer around it */
static inline PetscInt KCycleSearchNumber(const KCycleSearch *s, const PetscInt at[])
{
  const PetscInt *reach = s->st->box->reach;

  return at[0] + reach[0] + s->width[0] * (at[1] + reach[1]) + s->width[1] * (at[2] + reach[2]);
}

/* Can the group of a point reach across a cut while it lives? */
static inline PetscBool KCycleSearchIsCandidate(KCycleSearch *s, PetscInt p)
{
  const PetscInt root = KCycleSearchRoot(s->parent, p);

  return (PetscBool)(s->node[root].cut < (PetscInt)s->death[root]);
}

static inline PetscInt KCycleBoxPoint(const KCycleBox *box, const PetscInt at[])
{
  return at[0] + box->n[0] * (at[1] + box->n[1] * at[2]);
}
