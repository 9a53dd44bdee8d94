/*
  What the files of the search for clusters share.
*/
#pragma once

#include <petsckcycle/private/relaximpl.h>

#define KC_CLUSTER_STRONG 1e-5  /* jumps of couplings weaker than this part of the diagonal start no search */
#define KC_CLUSTER_SHIFT  1.083 /* limits of ranks are no round numbers, which regular grids would meet to rounding */

#define KC_RANKS   4300
#define KC_NEVER   (KC_RANKS + 1) /* rank of what joins nobody, and of the death of the living */
#define KC_NOBODY  0              /* what else stands where a node may: nobody yet, */
#define KC_DEAD    -1             /* the dead without a node, */
#define KC_START   -2             /* nobody yet, and the search starts there, */
#define KC_ROUGH   -3             /* because couplings jump */
#define KC_OUTSIDE -1             /* no point of this process */

#define KC_SEED(q) (-2 - (q)) /* from a neighbour or none to what stands for it, and back */

/* A point and, if it is the root of its group, the group */
typedef struct {
  PetscReal t, d;            /* sum of the diagonals, of all entries between members whose turn has come */
  PetscReal tight;           /* d / t of the largest cluster in it, */
  PetscInt  largest, inside; /* its size, the number of generations */
  PetscInt  next, tail;      /* another member, the last one */
  PetscInt  size;
  PetscInt  point;        /* number of the point */
  PetscInt  cut;          /* rank of its strongest coupling across a cut */
  PetscInt  touched;      /* rank at which it was looked at last */
  PetscBool jumps, rough; /* couplings of the point, or of a member of its group, jump */
} KCycleNode;

/* A coupling: the node that it leads from, the point that it leads to. Or a point that the search starts from
   if the neighbour by its strongest coupling, which from stands for then, is not dead */
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
  PetscInt             most;     /* points of a cluster */
  PetscReal            singular; /* sums of the matrix below this part of those of the diagonals are rounding */
  PetscBool            along[3]; /* the smoother solves lines along this direction */
  PetscBool            lined;    /* along any */
  PetscReal           *across;   /* where it does, of a node for each direction: t less couplings along it */
  PetscInt     nnodes, maxnodes, maxparent, maxdeath, maxacross, nchunks, maxchunks, ntouched, maxtouched, maxweight;
  KCycleNode  *node;   /* from 1 on */
  PetscInt    *parent; /* towards the root of a group, which is its own */
  PetscInt    *death;  /* of roots: rank at which the group dies, as far as that is known */
  KCycleChunk *chunk;
  PetscInt     unused;                    /* first chunk that is free again */
  PetscInt     head[KC_RANKS];            /* chunk of each rank */
  PetscInt     now;                       /* rank that is worked on */
  PetscInt    *touched;                   /* groups that have changed at this rank */
  PetscInt    *index;                     /* of each point its node, or what KC_NOBODY and the others say */
  KCycleClusterList found;                /* members are nodes */
  PetscReal        *weight;               /* of found clusters: t */
  PetscInt          delta[KC_MAX_COEFFS]; /* what a coefficient adds to the number of a point */
  PetscScalar      *row[KC_MAX_COEFFS];   /* coefficients of points in the halo, or NULL */
  KCycleLines       lines;
} KCycleSearch;

/* search.c */
PETSC_INTERN PetscErrorCode KCycleGrow(PetscInt length, PetscInt *most, size_t size, void *list);
PETSC_INTERN PetscErrorCode KCycleClusterListAppend(KCycleClusterList *, PetscInt m, PetscInt generation,
                                                    PetscMPIInt owner, PetscInt slot);
PETSC_INTERN PetscErrorCode KCycleSearchCreate(const KCycleStencil *, const PetscBool along[], PetscReal singular,
                                               PetscInt most, KCycleSearch **);
PETSC_INTERN PetscErrorCode KCycleSearchDestroy(KCycleSearch **);
PETSC_INTERN PetscErrorCode KCycleSearchNode(KCycleSearch *, PetscInt point, PetscBool jumps, PetscReal t,
                                             const PetscReal w[], PetscInt *made);
PETSC_INTERN PetscErrorCode KCycleSearchEdge(KCycleSearch *, PetscInt from, PetscInt to, PetscReal w, PetscInt rank);
PETSC_INTERN void           KCycleSearchCouplings(KCycleSearch *, PetscInt p, PetscReal w[], PetscReal *t);
PETSC_INTERN PetscErrorCode KCycleSearchRun(KCycleSearch *);

/* sift.c */
PETSC_INTERN PetscErrorCode KCycleSift(KCycleSearch *, const KCycleSeeds *, PetscBool *any);

/* candidates.c */
PETSC_INTERN PetscErrorCode KCycleSearchCandidates(MPI_Comm, KCycleSearch **own, KCycleClusterList *);

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

/* The root of a node's group; paths become shorter on the way */
static inline PetscInt KCycleSearchRoot(PetscInt *parent, PetscInt p)
{
  while (parent[p] != p) p = parent[p] = parent[parent[p]];
  return p;
}

/* Can the group of a node reach across a cut while it lives? */
static inline PetscBool KCycleSearchIsCandidate(KCycleSearch *s, PetscInt p)
{
  const PetscInt root = KCycleSearchRoot(s->parent, p);

  return (PetscBool)(s->node[root].cut < s->death[root]);
}

static inline void KCycleBoxPlace(const KCycleBox *box, PetscInt p, PetscInt at[])
{
  at[0] = p % box->n[0];
  at[1] = p / box->n[0] % box->n[1];
  at[2] = p / box->n[0] / box->n[1];
}

static inline PetscInt KCycleBoxPoint(const KCycleBox *box, const PetscInt at[])
{
  return at[0] + box->n[0] * (at[1] + box->n[1] * at[2]);
}

/* Are all neighbours of a point in the box, too, and no grid wraps around before them? */
static inline PetscBool KCycleBoxIsInside(const KCycleBox *box, const PetscInt at[])
{
  PetscBool inside = PETSC_TRUE;

  for (int d = 0; d < 3; d++)
    inside = (PetscBool)(inside & (at[d] >= box->reach[d]) & (at[d] < box->n[d] - box->reach[d]));
  return inside;
}

/* Is a coefficient of an inner point kept once for both rows? Lines that share coefficients keep all of them, and they
   need not be symmetric. Couplings with rows of other processes and across a periodic end are kept by both rows, too */
static inline PetscBool KCycleSearchIsMirrored(const KCycleSearch *s, const PetscInt at[], int o)
{
  const KCycleShape *shape = &s->st->shape;
  const PetscInt     n = s->st->box->n[1], line = at[1] + n * at[2];

  return (PetscBool)(s->st->half && s->st->set[line] < 0 &&
                     s->st->set[line + shape->dy[shape->line[o]] + n * shape->dz[shape->line[o]]] < 0);
}

/* The point that a coefficient leads to, also where the grid wraps around within the process */
static inline PetscInt KCycleSearchNeighbour(const KCycleSearch *s, const PetscInt at[], PetscInt p, int o)
{
  const KCycleShape *shape = &s->st->shape;
  const KCycleBox   *box   = s->st->box;
  PetscInt  to[3]  = {at[0] + shape->dx[o], at[1] + shape->dy[shape->line[o]], at[2] + shape->dz[shape->line[o]]};
  PetscBool inside = PETSC_TRUE;

  for (int d = 0; d < 3; d++) {
    if (to[d] >= 0 && to[d] < box->n[d]) continue;
    if (!box->periodic[d] || box->nproc[d] > 1) return KC_OUTSIDE;
    to[d]  = (to[d] + box->n[d]) % box->n[d];
    inside = PETSC_FALSE;
  }
  return inside ? p + s->delta[o] : KCycleBoxPoint(box, to);
}
