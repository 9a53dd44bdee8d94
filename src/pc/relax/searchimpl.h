/*
  What the files of the search for clusters share.
*/
#pragma once

#include <petsckcycle/private/relaximpl.h>

/* A cluster of strongly coupled points as a search finds it. If processes share it, each has its part,
   and one of them, the owner, adds up */
typedef struct {
  PetscInt    first; /* of its members */
  PetscInt    generation;
  PetscMPIInt owner;  /* -1: no other process has a part */
  PetscInt    slot;   /* number of a cluster that has parts, among those of its owner */
  PetscReal   weight; /* in a search: sum of its diagonals */
} KCycleClusterPart;

typedef struct {
  PetscInt           n, nmembers;       /* clusters and parts on this process, and all their members */
  PetscInt           most, mostmembers; /* that there is memory for */
  KCycleClusterPart *part;              /* and where the members of the last one end */
  PetscInt          *member;            /* owned points */
  PetscInt           nslots, mostslots;
  PetscScalar       *inverse;            /* of each cluster that has parts and this process owns, see clusters.c */
  PetscInt64         nclusters, npoints; /* found by this process, and all their members */
} KCycleClusterList;

static inline PetscInt KCycleClusterSize(const KCycleClusterList *list, PetscInt c)
{
  return list->part[c + 1].first - list->part[c].first;
}

static inline PetscInt *KCycleClusterMembers(const KCycleClusterList *list, PetscInt c)
{
  return list->member + list->part[c].first;
}

/* The points that the search starts from */
typedef struct {
  PetscBool all;  /* not only those where couplings jump, */
  PetscReal jump; /* by more than this factor */
  /* The one direction that is coarsened, or -1; its points parity, parity + 2... in the grid are kept. Then only those
     that the coarser grid does not see, see searchstart.c */
  int       along;
  PetscInt  parity;
  PetscReal singular; /* what is rounding in sums of the matrix, relative to those of the diagonals */
} KCycleSeeds;

/* Coefficient o of the points 1 to n - 2 of a line */
static inline const PetscScalar *KCycleLineArray(const KCycleLine *l, int o)
{
  return l->constant ? l->end[0] + o * l->stride : l->c[o];
}

/* Smallest sum of the matrix over a cluster, relative to the sum of the diagonals: less is rounding */
#define KC_CLUSTER_SINGULAR (1000 * PETSC_MACHINE_EPSILON)
/* Row sums, relative to the diagonal, of a matrix that has constants as its kernel */
#define KC_CLUSTER_CLOSED   (10000 * PETSC_MACHINE_EPSILON)

/* Sums over the rows of the members of a cluster */
typedef struct {
  PetscScalar d;       /* of entries between members */
  PetscReal   t;       /* of diagonals */
  PetscReal   leaving; /* of positive entries that lead to others; of negative ones where the diagonal is, */
  PetscReal   rows;    /* and so of all entries, */
  PetscReal   inside;  /* and of those between members */
} KCycleClusterSums;

static inline void KCycleClusterAdd(KCycleClusterSums *sums, PetscScalar diagonal, PetscScalar a, PetscBool inside)
{
  const PetscReal w = PetscRealPart(diagonal) < 0 ? -PetscRealPart(a) : PetscRealPart(a);

  sums->rows += w;
  if (inside) {
    sums->d += a;
    sums->inside += w;
  } else sums->leaving += PetscMax(w, 0);
}

/* What the residual of a cluster is multiplied with, see clusters.c; 0 where its sum is nothing but rounding, which is
   seen when all its couplings are added up */
static inline PetscScalar KCycleClusterInverse(const KCycleClusterSums *sums)
{
  const PetscReal more = PetscMax(sums->leaving - sums->rows / 2, 0);

  if (sums->inside <= KC_CLUSTER_SINGULAR * sums->t) return 0;
  return 1 / (PetscRealPart(sums->d) < 0 ? sums->d - more : sums->d + more);
}

/* Lines of coefficients that were asked for last */
#define KC_LINES 64
typedef struct {
  const KCycleStencil *st;
  PetscInt             key[KC_LINES]; /* which they are; -1: none */
  KCycleLine           line[KC_LINES];
} KCycleLineCache;

static inline void KCycleLineCacheCreate(const KCycleStencil *st, KCycleLineCache *lines)
{
  lines->st = st;
  for (int i = 0; i < KC_LINES; i++) lines->key[i] = -1;
}

/* The coefficients of an owned line, until others are asked for; at least those of lines around stay */
static inline const KCycleLine *KCycleLineCacheAt(KCycleLineCache *lines, PetscInt j, PetscInt k)
{
  const PetscInt line = j + lines->st->box->n[1] * k, slot = (j + 5 * k) & (KC_LINES - 1);

  if (lines->key[slot] != line) {
    KCycleLineCoefficients(lines->st, j, k, &lines->line[slot]);
    lines->key[slot] = line;
  }
  return &lines->line[slot];
}

#define KC_CLUSTER_STRONG 1e-5  /* jumps of couplings weaker than this part of the diagonal start no search */
#define KC_CLUSTER_SHIFT  1.083 /* limits of ranks are no round numbers, which regular grids would meet to rounding */

#define KC_RANKS    4300
#define KC_NEVER    (KC_RANKS + 1) /* rank of what joins nothing, and at which no group is rejected */
#define KC_NONE     0              /* indices of points without a node: not reached yet, */
#define KC_REJECTED -1             /* rejected, */
#define KC_START    -2             /* not reached yet, and the search starts from it, */
#define KC_JUMPS    -3             /* as couplings jump */
#define KC_OUTSIDE  -1             /* no point of this process */

#define KC_SEED(q) (-2 - (q)) /* from a neighbour or none to its code, and back */

/* A point and, if it is the root of its group, the group */
typedef struct {
  PetscReal t, d;            /* sum of the diagonals, of all entries between members whose turn has come */
  PetscReal tight;           /* d / t of the largest cluster in it, */
  PetscInt  largest, inside; /* its size, the number of generations */
  PetscInt  next, tail;      /* another member, the last one */
  PetscInt  size;
  PetscInt  point;           /* number of the point */
  PetscInt  cut;             /* rank of its strongest coupling across a cut */
  PetscInt  changed;         /* last rank at which its group has changed */
  PetscBool jumps, anyjumps; /* couplings of the point, or of a member of its group, jump */
} KCycleNode;

/* A coupling: the node that it leads from, the point that it leads to. Or a point that the search starts from
   unless the neighbour by its strongest coupling is rejected: from is its code then */
typedef struct {
  PetscReal w;
  PetscInt  from, to;
} KCycleEdge;

/* Couplings of one rank, and the next such chunk */
#define KC_EDGES_OF_CHUNK 31
typedef struct {
  KCycleEdge edge[KC_EDGES_OF_CHUNK];
  PetscInt   count, below;
} KCycleChunk;

typedef struct {
  const KCycleStencil *st;
  int                  nc;
  PetscInt             most;      /* points of a cluster */
  PetscReal            singular;  /* sums of the matrix below this part of those of the diagonals are rounding */
  PetscBool            along[3];  /* the smoother solves lines along this direction */
  PetscBool            lined;     /* along any */
  PetscBool            symmetric; /* so are the couplings between points of this process, but for rounding */
  PetscReal           *across;    /* where it does, of a node for each direction: t less couplings along it */
  PetscInt             nnodes, maxnodes, maxparent, maxrejected, maxacross, nchunks, maxchunks, nchanged, maxchanged;
  KCycleNode          *node;     /* from 1 on */
  PetscInt            *parent;   /* towards the root of a group, which is its own */
  PetscInt            *rejected; /* of roots: rank at which the group is rejected, as far as it has been found */
  KCycleChunk         *chunk;
  PetscInt             unused;               /* first chunk that is free again */
  PetscInt             head[KC_RANKS];       /* chunk of each rank */
  PetscInt             now;                  /* rank that is worked on */
  PetscInt            *changed;              /* groups that have changed at this rank */
  PetscInt            *index;                /* of each point its node, or KC_NONE or another of the codes */
  KCycleClusterList    found;                /* members are nodes */
  PetscInt             delta[KC_MAX_COEFFS]; /* what a coefficient adds to the number of a point */
  PetscScalar         *row[KC_MAX_COEFFS];   /* coefficients of points in the halo, or NULL */
  KCycleLineCache      lines;
} KCycleSearch;

/* search.c */
PETSC_INTERN PetscErrorCode KCycleClustersSearch(Mat, const KCycleSmoother *, const KCycleSeeds *, KCycleClusterList *);
PETSC_INTERN PetscErrorCode KCycleClusterListDestroy(KCycleClusterList *);
PETSC_INTERN PetscErrorCode KCycleClusterListAppend(KCycleClusterList *, PetscInt m, PetscInt generation,
                                                    PetscMPIInt owner, PetscInt slot);
PETSC_INTERN PetscErrorCode KCycleSearchCreate(const KCycleStencil *, const PetscBool along[], PetscReal singular,
                                               PetscInt most, KCycleSearch **);
PETSC_INTERN PetscErrorCode KCycleSearchDestroy(KCycleSearch **);
PETSC_INTERN PetscErrorCode KCycleSearchEdge(KCycleSearch *, PetscInt from, PetscInt to, PetscReal w, PetscInt rank);
PETSC_INTERN PetscErrorCode KCycleSearchRun(KCycleSearch *);

/* searchpoints.c */
PETSC_INTERN PetscErrorCode KCycleSearchExchange(KCycleSearch *);
PETSC_INTERN PetscErrorCode KCycleSearchActivate(KCycleSearch *, PetscInt p, PetscInt *made);
PETSC_INTERN PetscErrorCode KCycleSearchNode(KCycleSearch *, PetscInt point, PetscBool jumps, PetscReal t,
                                             const PetscReal w[], PetscInt *made);
PETSC_INTERN void KCycleSearchCouplings(KCycleSearch *, PetscInt p, PetscReal w[], PetscInt q[], PetscReal *t);

/* searchstart.c */
PETSC_INTERN PetscErrorCode KCycleSearchStart(KCycleSearch *, const KCycleSeeds *, PetscBool *any);

/* candidates.c */
PETSC_INTERN PetscErrorCode KCycleSearchCandidates(MPI_Comm, KCycleSearch **own, KCycleClusterList *);

/* clusters.c */
PETSC_INTERN PetscErrorCode KCycleSmootherCorrectClusters(Mat, KCycleSmoother **, const KCycleSeeds *);

/* Ranks are half powers of two: the exponent of a number, and whether the rest reaches the square root of two. Strong
   couplings have low ranks */
static inline PetscInt KCycleRank(PetscReal coupling)
{
  const double   w    = KC_CLUSTER_SHIFT * (double)coupling;
  const uint64_t rest = UINT64_C(0x000fffffffffffff), half = UINT64_C(0x0006a09e667f3bcd);
  uint64_t       bits;

  if (!(w > 0)) return KC_NEVER;
  memcpy(&bits, &w, sizeof(bits));
  return PetscMax(4093 - 2 * (PetscInt)(bits >> 52) - ((bits & rest) >= half), 0);
}

/* Can the group of a node reach across a cut before it is rejected? */
static inline PetscBool KCycleSearchIsCandidate(KCycleSearch *s, PetscInt p)
{
  const PetscInt root = KCycleRoot(s->parent, p);

  return (PetscBool)(s->node[root].cut < s->rejected[root]);
}

/* Coordinates of a point in a box of n points in each direction, x first, and back */
static inline void KCycleCoordinates(const PetscInt n[], PetscInt i, PetscInt at[])
{
  at[0] = i % n[0];
  at[1] = i / n[0] % n[1];
  at[2] = i / n[0] / n[1];
}

static inline PetscInt KCycleNumber(const PetscInt n[], const PetscInt at[])
{
  return at[0] + n[0] * (at[1] + n[1] * at[2]);
}

/* Are all neighbours of a point in the box, too, and no grid wraps around before them? */
static inline PetscBool KCycleBoxIsInside(const KCycleBox *box, const PetscInt at[])
{
  PetscBool inside = PETSC_TRUE;

  for (int d = 0; d < 3; d++)
    inside = (PetscBool)(inside & (at[d] >= box->reach[d]) & (at[d] < box->n[d] - box->reach[d]));
  return inside;
}

/* Where the value of a point of the grid is: in the owned box, also where the grid wraps around within the process, or
   after it in the halo buffer */
static inline PetscInt KCycleBoxColumn(const KCycleBox *box, PetscInt i, PetscInt j, PetscInt k)
{
  PetscInt at[3] = {i, j, k}, e;

  for (int d = 0; d < 3; d++) {
    if (box->periodic[d] && box->nproc[d] == 1) at[d] = (at[d] + box->n[d]) % box->n[d];
  }
  e = KCycleBoxExtended(box, at[1], at[2]);
  if (at[0] < 0) return box->npoints + box->left + e;
  if (at[0] >= box->n[0]) return box->npoints + box->right + e;
  return box->offset[e] < 0 ? KCycleNumber(box->n, at) : box->npoints + box->offset[e] + at[0];
}

/* What a coefficient adds to the column of a point inside the box */
static inline void KCycleStencilDeltas(const KCycleStencil *st, PetscInt delta[])
{
  const KCycleShape *shape = &st->shape;
  const PetscInt    *n     = st->box->n;

  for (int o = 0; o < shape->ncoeffs; o++)
    delta[o] = shape->dx[o] + n[0] * (shape->dy[shape->line[o]] + n[1] * shape->dz[shape->line[o]]);
}

/* Is what an index says rejected at a rank? */
static inline PetscBool KCycleSearchIsRejected(KCycleSearch *s, PetscInt q, PetscInt rank)
{
  return (PetscBool)(q > 0 ? s->rejected[KCycleRoot(s->parent, q)] <= rank : q == KC_REJECTED);
}
