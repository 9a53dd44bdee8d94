/*
  What the files of the search for clusters share.
*/
#pragma once

#include <petsckcycle/private/relaximpl.h>

#define KC_RANKS      4300
#define KC_NEVER      KC_RANKS /* rank of what joins nobody, and of the death of the living */
#define KC_NONE       -1       /* what else stands where a node may: nobody yet */
#define KC_ROUGH      -2       /* nor here, and couplings jump */
#define KC_OUTSIDE    -3       /* points of other processes, or beyond the grid */
#define KC_DEAD       -4       /* joined the dead before it had a node */
#define KC_SEED       -1       /* from nobody: a point that the search starts from, as it lies at a cut, */
#define KC_ROUGH_SEED -2       /* or as its couplings jump */

/* A point and, if it is the root of its group, the group */
typedef struct {
  PetscReal t, d;            /* sum of the diagonals, sum of all entries between members */
  PetscInt  at[3];           /* place, from the first point of the process, or of the grid */
  PetscInt  point;           /* number of the place, see KCycleSearch */
  PetscInt  tail, size;      /* last member, number of them */
  PetscInt  largest, inside; /* of the clusters found in it: size of the largest, number of generations */
  PetscReal tight;           /* d / t of the largest */
  PetscInt  cut;             /* rank of its strongest coupling across a cut */
  PetscBool rough;           /* couplings of a member jump */
} KCycleNode;

/* A coupling: the node that it leads from, the number of the place that it leads to (of candidates: the node). Or a point that the search starts from */
typedef struct {
  PetscInt from, to;
} KCycleEdge;

/* Couplings of one rank, and the next such chunk; this many, so that a chunk is a few cache lines */
#define KC_EDGES_OF_CHUNK 23
typedef struct {
  PetscInt   count, below;
  KCycleEdge edge[KC_EDGES_OF_CHUNK];
} KCycleChunk;

typedef struct {
  const Mat_Stencil *st;
  int                nc;
  PetscInt           nnodes, maxnodes, nchunks, maxchunks, ntouched, maxtouched, nseeds;
  KCycleNode        *node;
  PetscInt          *parent; /* towards the root of a group, which is its own */
  PetscInt          *next;   /* member of the same group */
  unsigned short    *death;  /* of roots: rank at which the group died */
  PetscScalar       *a;      /* coefficients, point by point */
  unsigned short    *rank;   /* of couplings, point by point */
  KCycleChunk       *chunk;
  PetscInt           unused;         /* first chunk that is free again */
  PetscInt           head[KC_RANKS]; /* chunk of each rank */
  PetscInt           now;            /* rank that is worked on, */
  PetscReal          weakest;        /* and its weakest coupling */
  PetscInt          *touched;        /* points joined at this rank */
  KCycleClusterList  found;          /* members are nodes */
  /* the process's own points */
  PetscInt           npoints, width[2];    /* the owned box with a layer around: points; of a line and of a plane */
  PetscInt           delta[KC_MAX_COEFFS]; /* what a coefficient adds to the number of a point in it */
  PetscInt          *index;                /* node of each point in it, also where the grid wraps around; or what KC_NONE and the others say */
  PetscScalar       *row[KC_MAX_COEFFS];   /* coefficients of points in the halo */
  KCycleLines        lines;
  /* candidates */
  PetscInt          *neighbour; /* nodes of neighbours, point by point; KC_DEAD: nobody, or not known here */
} KCycleSearch;

/* search.c */
PETSC_INTERN PetscErrorCode KCycleGrow(PetscInt length, PetscInt *most, size_t size, void *list);
PETSC_INTERN PetscErrorCode KCycleClusterListAppend(KCycleClusterList *, PetscInt m, PetscInt generation, PetscMPIInt owner, PetscInt slot);
PETSC_INTERN PetscErrorCode KCycleSearchCreate(const Mat_Stencil *, KCycleSearch **);
PETSC_INTERN PetscErrorCode KCycleSearchDestroy(KCycleSearch **);
PETSC_INTERN PetscErrorCode KCycleSearchNode(KCycleSearch *, const PetscInt at[], PetscBool rough, PetscInt *made);
PETSC_INTERN PetscErrorCode KCycleSearchEdge(KCycleSearch *, PetscInt from, PetscInt to, PetscInt rank);
PETSC_INTERN PetscErrorCode KCycleSearchRun(KCycleSearch *);

/* candidates.c */
PETSC_INTERN PetscErrorCode KCycleSearchCandidates(MPI_Comm, KCycleSearch *own, KCycleClusterList *);

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
