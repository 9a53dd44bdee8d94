/*
  What the files of PCRELAX share, and what PCKCYCLE uses of it: sweeps over a stencil matrix that also restrict or
  interpolate.
*/
#pragma once

#include <petsckcycle/private/choiceimpl.h>
#include <petsckcycle/private/clusterimpl.h>
#include <petsckcycle/private/transferimpl.h>
#include <petsc/private/pcimpl.h>

/* Clusters of strongly coupled points as a search finds them. Of a cluster that several processes have points of,
   each has its part, and one of them, the owner, adds up */
typedef struct {
  PetscInt     n, nmembers;       /* clusters and parts on this process, and all their members */
  PetscInt     most, mostmembers; /* that there is memory for */
  PetscInt    *first, *member;    /* members of each: owned points */
  PetscInt    *generation;
  PetscMPIInt *owner; /* -1: no other process has a part */
  PetscInt    *slot;  /* number of a cluster that has parts, among those of its owner */
  PetscInt     nslots, mostslots;
  PetscScalar *inverse;            /* of each cluster that has parts and this process owns, see clusters.c */
  PetscInt64   nclusters, npoints; /* found by this process, and all their members */
} KCycleClusterList;

/* The points that the search starts from */
typedef struct {
  PetscBool all;  /* not only those where couplings jump, */
  PetscReal jump; /* by more than this factor */
  /* The one direction that is coarsened, or -1; its points parity, parity + 2... in the grid are kept. Then only those
     that the coarser grid does not stand for, see sift.c */
  int       along;
  PetscInt  parity;
  PetscReal singular; /* what is rounding in sums of the matrix, relative to those of the diagonals */
} KCycleSeeds;

typedef struct {
  /* parameters */
  char                type[64];
  PetscReal           omega; /* damping; 0: chosen */
  PCRelaxOrderType    order;
  PetscInt            degree;        /* of Chebyshev polynomials */
  char                directions[4]; /* of alternating lines, or across planes, in their order; "": all */
  PCRelaxClustersType clustering;
  /* sweeps are those of KSPRICHARDSON: no Krylov method asks for a symmetric preconditioner */
  PetscBool           smoothing;
  PetscBool           reverse;   /* the cycle is on its way up: sweep in the reverse order */
  char                lines[4];  /* directions of the lines that auto is to relax, */
  char                planes[4]; /* and across which it is to relax planes; both "": points */
  PetscInt            origin[3]; /* parity of the points whose colour comes first: those that the coarse grid keeps */
  PetscInt            factor[3]; /* by which directions are coarsened; 0: there is no coarser grid */
  PetscInt            fewer;     /* points than on the finest grid by this factor; 0: this is not a level */

  /* found at set-up */
  Mat              A; /* the operator as a MATSTENCIL */
  KCycleSmoother  *smoother;
  PetscObjectState symmetric; /* of A when it was found symmetric, which the transpose needs; -1: not yet */
  Vec              work[2];   /* of sweeps on a device */
} PC_Relax;

/* With auto resolved */
static inline PCRelaxOrderType KCycleRelaxOrder(const PC_Relax *relax)
{
  if (relax->order != PC_RELAX_ORDER_AUTO) return relax->order;
  return relax->smoothing ? PC_RELAX_ORDER_FORWARD : PC_RELAX_ORDER_SYMMETRIC;
}

PETSC_INTERN PetscErrorCode PCSetFromOptions_Relax(PC, KCycleOptionItems);
PETSC_INTERN PetscErrorCode PCRelaxSetReverse(PC, PetscBool);
PETSC_INTERN PetscErrorCode PCRelaxSetOrigin(PC, const PetscInt[]);
PETSC_INTERN PetscErrorCode PCRelaxSetCoarsened(PC, const PetscInt factor[], const PetscInt origin[], PetscInt fewer);
PETSC_INTERN PetscErrorCode PCRelaxSetLines(PC, const char lines[], const char planes[]);
PETSC_INTERN PetscErrorCode PCRelaxIsAuto(PC, PetscBool *);
PETSC_INTERN PetscErrorCode PCRelaxGetSmoother(PC, Mat A, KCycleSmoother **, PCRelaxOrderType *);
PETSC_INTERN PetscErrorCode PCRelaxRenew(PC);

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

/* Lines of coefficients at hand */
#define KC_LINES 64
typedef struct {
  const KCycleStencil *st;
  PetscInt             key[KC_LINES]; /* which they are; -1: none */
  KCycleLine           line[KC_LINES];
} KCycleLines;

static inline void KCycleLinesCreate(const KCycleStencil *st, KCycleLines *lines)
{
  lines->st = st;
  for (int i = 0; i < KC_LINES; i++) lines->key[i] = -1;
}

/* The coefficients of an owned line, until others are asked for; at least those of lines around stay */
static inline const KCycleLine *KCycleLinesAt(KCycleLines *lines, PetscInt j, PetscInt k)
{
  const PetscInt line = j + lines->st->box->n[1] * k, place = (j + 5 * k) & (KC_LINES - 1);

  if (lines->key[place] != line) {
    KCycleLineCoefficients(lines->st, j, k, &lines->line[place]);
    lines->key[place] = line;
  }
  return &lines->line[place];
}

/* relaxdevice.c: sweeps on a device */
PETSC_INTERN PetscErrorCode KCycleRelaxIsOnDevice(const PC_Relax *, Vec b, Vec x, PetscBool *);
PETSC_INTERN PetscErrorCode KCycleRelaxSweepsOnDevice(PC_Relax *, const KCycleSweeps *, Vec b, Vec x);
PETSC_INTERN PetscErrorCode KCycleRelaxDeviceReset(PC_Relax *);

/* search.c */
PETSC_INTERN PetscErrorCode KCycleClustersSearch(Mat, const KCycleSmoother *, const KCycleSeeds *, KCycleClusterList *);
PETSC_INTERN PetscErrorCode KCycleClusterListDestroy(KCycleClusterList *);

/* planesolver.c */
PETSC_INTERN PetscErrorCode KCyclePlaneSolversCreate(const KCycleSmoother *, const char directions[],
                                                     KCyclePlaneSolvers **);

/* clusters.c */
PETSC_INTERN PetscErrorCode KCycleSmootherCorrectClusters(Mat, KCycleSmoother **, const KCycleSeeds *);
