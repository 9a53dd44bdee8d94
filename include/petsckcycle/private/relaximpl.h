/*
  What the files of PCRELAX share, and what PCKCYCLE uses of it: sweeps over a stencil matrix that also restrict or interpolate.
*/
#pragma once

#include <petsckcycle/private/transferimpl.h>
#include <petsc/private/pcimpl.h>

/* Clusters of strongly coupled points, by generations: those of one generation have no point in common */
typedef struct {
  PetscInt     ngenerations; /* the same on all processes */
  PetscInt     nclusters;
  PetscInt    *generation; /* first cluster of each generation */
  PetscInt    *start;      /* first entry of each cluster's row, the sum of its members' rows */
  PetscInt    *size;       /* members: the first entries of a row stand in their columns */
  PetscInt    *column;     /* owned points, and behind them the halo buffer */
  PetscScalar *value;
  PetscScalar *inverse; /* 1 / sum of a row over the members */
  PetscScalar *change;  /* of each cluster of a generation */
} KCycleClusters;

typedef struct {
  /* parameters */
  PCRelaxType       type;
  PetscReal         omega; /* damping; 0: chosen */
  PCRelaxOrder      order;
  PetscInt          degree; /* of Chebyshev polynomials */
  PCRelaxClustering clustering;
  PetscBool         reverse; /* the cycle is on its way up: sweep in the reverse order */

  /* found at set-up */
  Mat             A;              /* the operator as a MATSTENCIL */
  PCRelaxType     used;           /* type, with auto resolved */
  PetscReal       weight;         /* damping that is used */
  PetscBool       symmetric;      /* A has been found symmetric, which the transpose needs */
  PetscBool       jumps;          /* couplings of a point of this process with opposite neighbours differ much */
  KCycleClusters *clusters;       /* or NULL */
  PetscReal       bound;          /* upper bound of the eigenvalues of D^-1 A */
  PetscReal       within;         /* bound of the eigenvalues of D^-1/2 A D^-1/2, less 1, among points of one colour */
  PetscScalar    *weights;        /* weight, 0, weight, 0, ...: coloured sweeps; or weight, weight, ...: Jacobi */
  PetscScalar    *line;           /* a line of x while it is computed */
  PetscScalar    *old;            /* two planes of x before a Jacobi sweep */
  Vec             diagonal, r, d; /* Chebyshev */
} PC_Relax;

PETSC_INTERN PetscErrorCode PCCreate_Relax(PC);
PETSC_INTERN PetscErrorCode PCRelaxSetReverse(PC, PetscBool);
PETSC_INTERN PetscErrorCode PCRelaxCanFuse(PC, Mat A, PetscBool *);
PETSC_INTERN PetscErrorCode PCRelaxSmoothRestrict(PC, Mat P, Vec b, Vec x, PetscInt its, PetscBool zeroguess, Vec bcoarse);
PETSC_INTERN PetscErrorCode PCRelaxInterpolateSmooth(PC, Mat P, Vec e, Vec b, PetscInt its, Vec x);

/* clusters.c */
PETSC_INTERN PetscErrorCode KCycleClustersCreate(Mat, PetscBool search, KCycleClusters **);
PETSC_INTERN PetscErrorCode KCycleClustersDestroy(KCycleClusters **);
PETSC_INTERN PetscErrorCode KCycleClustersCorrect(const KCycleClusters *, Mat, PetscBool innerlast, const PetscScalar *b, PetscScalar *x);

/* sweep.c */
PETSC_INTERN PetscErrorCode KCycleRelaxSweeps(PC_Relax *, PetscBool reverse, const PetscScalar *b, PetscScalar *x, PetscInt its, PetscBool zeroguess);
