/*
  Smoothers of PCRELAX: what the sweeps, the fused passes and the cycle ask of one, and what they do for it.

  A smoother is an object in a list (PCRelaxRegister()); nothing outside its own file tests for its name. The function
  that is registered sets its operations. One with setup and sweeps is complete. One whose sweeps are steps that go
  plane by plane (in 2D line by line) sets nsteps, plane and apart instead of sweeps: then passes.c runs these steps,
  the residual with its restriction and the interpolation after each other through the grid, one plane apart. One
  whose sweep is a polynomial in D^-1 A says its terms, and has all the rest from polynomial.c: see jacobi.c.
*/
#pragma once

#include <petsckcycle.h>
#include <petsckcycle/private/factsimpl.h>
#include <petsckcycle/private/levelimpl.h>
#include <petsckcycle/private/policyimpl.h>

typedef struct _KCyclePass     KCyclePass;
typedef struct _KCycleClusters KCycleClusters;

typedef struct _KCycleGhosts  KCycleGhosts;  /* see ghostsimpl.h */
typedef struct _KCycleVectors KCycleVectors; /* see vectorsimpl.h */

/* What is asked for */
typedef struct {
  PetscInt           its;
  PetscBool          zeroguess; /* x counts as zero, and may hold anything */
  PetscBool          reverse;   /* all in reverse order, the adjoint: after the coarse levels, and for the transpose */
  /* of a sweep that is not reversed: forward, backward or symmetric, which is both one after the other */
  PCRelaxOrderType   order;
  /* sweeps from zero before the coarser levels, see repeats, whose x is not written then; after these levels the same
     sweeps are done once more. 0: none, x is there */
  PetscInt           unwritten;
  /* x counts as this, and may hold anything; for smoothers that can do so, in smoothrestrict; or NULL */
  const KCycleStart *start;
} KCycleSweeps;

/* Is the first, or only, order of a sweep the backward one? */
static inline PetscBool KCycleSweepsBackward(const KCycleSweeps *sweeps)
{
  return (PetscBool)(sweeps->order != PC_RELAX_ORDER_SYMMETRIC &&
                     (sweeps->order == PC_RELAX_ORDER_BACKWARD) != sweeps->reverse);
}

/* How often these go through all lines or planes, and is number i of these sweeps a backward one? */
static inline PetscInt KCycleSweepsTurns(const KCycleSweeps *sweeps)
{
  return sweeps->its * (sweeps->order == PC_RELAX_ORDER_SYMMETRIC ? 2 : 1);
}

static inline PetscBool KCycleSweepsTurnsBack(const KCycleSweeps *sweeps, PetscInt i)
{
  return sweeps->order == PC_RELAX_ORDER_SYMMETRIC ? (PetscBool)(i % 2) : KCycleSweepsBackward(sweeps);
}

typedef enum {
  KCYCLE_STEP_SMOOTH,
  KCYCLE_STEP_RESTRICT,   /* residual and restriction */
  KCYCLE_STEP_INTERPOLATE /* interpolation and addition */
} KCycleStepKind;

typedef struct {
  KCycleStepKind kind;
  int            number;    /* of a smoothing step: which one of a sweep */
  PetscBool      reverse;   /* it belongs to a backward sweep */
  PetscBool      zeroguess; /* x counts as zero, and may hold anything */
  PetscInt       margin;    /* number of ghost points at each side that are computed, too */
} KCycleStep;

#define KC_PASS_STEPS     32
/* Of a smoother, at most: two sweeps of them go after each other in a symmetric one, with an interpolation before them
   or a restriction after them */
#define KC_SMOOTHER_STEPS ((KC_PASS_STEPS - 1) / 2)

/* Steps that go after each other through the grid */
struct _KCyclePass {
  const KCycleSmoother *smoother;
  const KCycleStencil  *st;
  const KCScalar       *b;
  KCScalar             *x;
  const KCycleTransfer *tr;
  KCScalar             *coarse;   /* restricted residual */
  PetscReal            *sums;     /* of the squares of the residual, two parts for each line; or NULL: not wanted */
  const KCScalar       *e;        /* coarse correction */
  const KCycleStart    *start;    /* of x, or NULL: it is there */
  PetscBool             converts; /* the last pass through the finest level in a cycle: x goes where vectors say */
  PetscInt              margin;   /* of the smoothing step that comes next */
  PetscInt              nsteps;
  KCycleStep            step[KC_PASS_STEPS];
};

/* What sweeps are, for devices, which compute them by their own kernels */
typedef enum {
  KCYCLE_SWEEPS_OTHER, /* for the host alone */
  KCYCLE_SWEEPS_JACOBI,
  KCYCLE_SWEEPS_CHEBYSHEV,
  KCYCLE_SWEEPS_REDBLACK, /* points by the parity of the sum of their coordinates */
  KCYCLE_SWEEPS_COLOURS,  /* points by the parities of their coordinates */
  KCYCLE_SWEEPS_ZEBRA,    /* lines */
  KCYCLE_SWEEPS_PLANES,   /* planes, whose solvers may need the host, see KCycleSmootherObstacle() */
  KCYCLE_SWEEPS_CLUSTERS  /* those of another smoother, clusters after them */
} KCycleSweepsKind;

/* Operations; NULL where nothing is said */
typedef struct {
  /* for new values; an operator that it is not for is an error */
  PetscErrorCode (*setup)(KCycleSmoother *);
  PetscErrorCode (*sweeps)(KCycleSmoother *, const KCycleSweeps *, const KCScalar *b, KCScalar *x); /* or plane */
  /* NULL: cannot be fused. sum: of the squares of the owned residual, or NULL */
  PetscErrorCode (*smoothrestrict)(KCycleSmoother *, const KCycleSweeps *, const KCScalar *, KCScalar *,
                                   const KCycleTransfer *, KCScalar *, PetscReal *sum);
  PetscErrorCode (*interpolatesmooth)(KCycleSmoother *, const KCycleSweeps *, const KCycleTransfer *, const KCScalar *,
                                      const KCScalar *, KCScalar *);
  /* NULL: never. Is x of `its` sweeps from zero best computed again by interpolatesmooth? smoothrestrict does not
     write it then */
  PetscBool (*repeats)(const KCycleSmoother *, PetscInt its);
  /* NULL: as passes.c goes. How often sweeps go through the grid, see KCycleSmootherTrips() */
  PetscInt (*trips)(const KCycleSmoother *, const KCycleSweeps *, PetscBool rides);
  void (*plane)(const KCyclePass *, const KCycleStep *, PetscInt t, PetscInt low,
                /* a step on this thread's lines low to high - 1 of plane t; ends with a barrier */
                PetscInt high);
  /* a step on the whole grid where planes are cut, with its exchanges */
  PetscErrorCode (*apart)(const KCyclePass *, const KCycleStep *);
  /* NULL: none. Does the step of this number need all planes at a time? It is done apart */
  PetscBool (*through)(const KCycleSmoother *, int number);
  /* makes run, where it pays, when coefficients have changed */
  PetscErrorCode (*tile)(KCycleSmoother *);
  PetscErrorCode (*view)(const KCycleSmoother *, PetscViewer); /* NULL: shows omega */
  PetscErrorCode (*destroy)(KCycleSmoother *);
} KCycleSmootherOps;

/* What sweeps that are made of others ask of the memory space that b and x are in */
typedef struct {
  void *ctx;
  PetscErrorCode (*zero)(void *ctx, const KCycleStencil *, KCScalar *x);
  /* of another smoother */
  PetscErrorCode (*sweeps)(void *ctx, KCycleSmoother *, const KCycleSweeps *, const KCScalar *b, KCScalar *x);
  /* planes of one parity across direction number `which`; zero: x is zero */
  PetscErrorCode (*planes)(void *ctx, const KCycleSmoother *, int which, int parity, PetscBool zero, const KCScalar *b,
                           KCScalar *x);
  /* corrections of all clusters, the inner ones first, or last */
  PetscErrorCode (*correct)(void *ctx, const KCycleSmoother *, PetscBool innerlast, const KCScalar *b, KCScalar *x);
} KCycleSweepKernels;

/* Solvers of the planes of a grid across some directions, one for each direction and parity; in PETSc's numbers */
typedef struct _KCyclePlaneSolvers KCyclePlaneSolvers;
struct _KCyclePlaneSolvers {
  int       references, ndirections, d[3];
  PetscBool exists[3][2];                                          /* are there such planes? */
  void     *solver[3][2];                                          /* NULL: this process has none of them */
  PetscErrorCode (*solve)(void *, PetscScalar *r, PetscScalar *e); /* planes one after the other */
  /* the same on arrays of a device, when attach has made there what it needs; why: nothing, or why it cannot be */
  PetscErrorCode (*attach)(void *, const char *why[]);
  PetscErrorCode (*solveondevice)(void *, const PetscScalar *r, PetscScalar *e);
  PetscErrorCode (*destroy)(KCyclePlaneSolvers **);
};

struct _KCycleSmoother {
  KCycleSmootherOps ops;
  char              name[64];
  void             *data;

  /* parameters */
  const KCycleStencil *st; /* the operator; who makes a smoother holds it */
  const KCycleScan    *facts;
  MPI_Comm             comm;
  PetscReal            omega;      /* damping; 0: chosen */
  PetscInt             degree;     /* of polynomials */
  const PetscInt      *origin;     /* parity of the points whose colour comes first: those that the coarse grid keeps */
  const char          *directions; /* of lines, or across planes, in their order; "": all */
  const char          *lines;      /* that are relaxed after planes */
  KCycleClusters      *clusters;   /* that are corrected after the sweeps of another smoother; or NULL */
  KCycleSmoother      *inner;      /* which is this one */
  PetscReal            divisor;    /* of the operator, without that which solvers of planes have */
  const PetscInt (*ghostrows)[2];  /* ghost points at the sides of the grid, see ghostsimpl.h; or NULL */
  const KCycleVectors *vectors;    /* where b and x are, see vectorsimpl.h; or NULL */
  const char          *prefix;     /* of options, for solvers of planes */
  KCyclePlaneSolvers  *solvers;    /* of planes; or NULL: those are made at set-up */
  PetscErrorCode (*makesolvers)(const KCycleSmoother *, const char directions[], KCyclePlaneSolvers **);
  PetscBool single; /* sweeps are asked for one by one, as something is done between them */

  /* what it says of itself when it is made, or at set-up */
  /* of a sweep plane by plane: each reads what the one before it left on the planes next to it, and nothing that it
     writes on other planes; 0: none; KC_SMOOTHER_STEPS at most */
  int              nsteps;
  KCycleSweepsKind kind;
  int              trips;    /* of other sweeps: so often each goes through the grid; so often it relaxes a point */
  PetscBool        diagonal; /* a sweep from zero is a product with a diagonal matrix, its own transpose */
  PetscBool        strips;   /* a step relaxes the lines of a plane in any order */
  PetscBool        whole;    /* nothing can be done between its sweeps */
  PetscBool local; /* it relaxes points or lines one after the other: corrections of clusters after its sweeps pay */

  /* what it finds at set-up */
  PetscReal  weight;   /* damping that is used */
  PetscReal  upper;    /* of polynomials: bound of the eigenvalues of D^-1 A */
  PetscReal *sums;     /* for its passes */
  PetscBool  along[3]; /* it solves lines along this direction */
  PetscBool  planes;   /* steps can go plane by plane, since processes share whole planes */
  PetscBool  fromzero; /* the first step can do with an x that holds anything */
  PetscBool  inparts;  /* its passes find b and x in vectors */
  PetscBool  starts;   /* and interpolate what x is before the first sweep, see KCycleSweeps */

  /* a faster way through the grid, see tile */
  PetscErrorCode (*run)(const KCyclePass *);
  PetscInt         most;       /* steps that it takes, one for the residual included */
  PetscObjectState tile_state; /* of the operator when it was made */

  /* its copy on a device, and what destroys that; or NULL */
  void *copy;
  PetscErrorCode (*destroycopy)(void **);
};

/* smoother.c */
PETSC_INTERN PetscErrorCode KCycleSmootherCreate(MPI_Comm, const KCycleStencil *, const KCycleScan *, const char[],
                                                 KCycleSmoother **);
PETSC_INTERN PetscErrorCode KCycleSmoothersCreateLike(KCycleSmoother *const[2], const KCycleStencil *,
                                                      PetscReal divisor, const KCycleVectors *, KCycleSmoother *[2]);
PETSC_INTERN PetscErrorCode KCycleSmoothersDestroy(KCycleSmoother *[2]);
PETSC_INTERN PetscErrorCode KCycleSmootherSetUp(KCycleSmoother *);
PETSC_INTERN PetscErrorCode KCycleSmootherTile(KCycleSmoother *, PetscObjectState);
PETSC_INTERN PetscErrorCode KCycleSmootherDestroy(KCycleSmoother **);
PETSC_INTERN PetscErrorCode KCycleSmootherObstacle(const KCycleSmoother *, size_t, char[]);
PETSC_INTERN PetscErrorCode KCycleSmootherSweeps(KCycleSmoother *, const KCycleSweeps *, const KCScalar *, KCScalar *);
PETSC_INTERN PetscErrorCode KCycleSmootherView(const KCycleSmoother *, PetscViewer);
PETSC_INTERN PetscErrorCode KCycleSmootherLogFlops(const KCycleSmoother *, const KCycleSweeps *);
PETSC_INTERN PetscErrorCode KCycleSmootherExists(const char[], PetscBool *);
PETSC_INTERN PetscErrorCode KCycleSmootherRegister(const char[], PetscErrorCode (*)(KCycleSmoother *));
PETSC_INTERN PetscErrorCode KCycleSmootherGetList(PetscFunctionList *);
#if !defined(KCYCLE_SINGLE)
PETSC_INTERN PetscErrorCode KCycleSmootherExists_Single(const char[], PetscBool *);
#endif

/* planes.c, corrections.c: sweeps in any memory space */
PETSC_INTERN PetscErrorCode KCyclePlanesSweeps(KCycleSmoother *, const KCycleSweepKernels *, const KCycleSweeps *,
                                               const KCScalar *b, KCScalar *x);
PETSC_INTERN PetscErrorCode KCycleClustersSweeps(KCycleSmoother *, const KCycleSweepKernels *, const KCycleSweeps *,
                                                 const KCScalar *b, KCScalar *x);
PETSC_INTERN PetscErrorCode KCycleSmootherZero(void *, const KCycleStencil *, KCScalar *x);
PETSC_INTERN PetscErrorCode KCycleSmootherSweepsOf(void *, KCycleSmoother *, const KCycleSweeps *, const KCScalar *b,
                                                   KCScalar *x);

/* planes.c: what sweeps leave */
PETSC_INTERN PetscErrorCode KCycleSmootherTry(KCycleSmoother *, const KCycleTransfer *, int d, PetscReal *part);

/* passes.c */
PETSC_INTERN PetscErrorCode KCyclePassSweeps(KCycleSmoother *, const KCycleSweeps *, const KCScalar *, KCScalar *);
PETSC_INTERN PetscErrorCode KCyclePassSmoothRestrict(KCycleSmoother *, const KCycleSweeps *, const KCScalar *,
                                                     KCScalar *, const KCycleTransfer *, KCScalar *, PetscReal *);
PETSC_INTERN PetscErrorCode KCyclePassInterpolateSmooth(KCycleSmoother *, const KCycleSweeps *, const KCycleTransfer *,
                                                        const KCScalar *, const KCScalar *, KCScalar *);
PETSC_INTERN PetscInt       KCycleSmootherTrips(const KCycleSmoother *, const KCycleSweeps *, PetscBool rides);
PETSC_INTERN void           KCyclePassInnerPlanes(const KCyclePass *, PetscInt i, PetscInt *first, PetscInt *last);
PETSC_INTERN void           KCyclePassLines(const KCyclePass *, PetscInt i, PetscInt *low, PetscInt *high);

/* polynomial.c */
PETSC_INTERN PetscErrorCode    KCyclePolynomialCreate(KCycleSmoother *);
PETSC_INTERN PetscReal         KCyclePolynomialBound(const KCycleSmoother *);
PETSC_INTERN PetscErrorCode    KCyclePolynomialSetUp(KCycleSmoother *, PetscInt nterms, KCycleTerm *terms[]);
PETSC_INTERN const KCycleTerm *KCyclePolynomialTerms(const KCycleSmoother *, PetscInt *nterms);

/* The smoothers: jacobi.c, chebyshev.c, redblack.c, multicolor.c, zebra.c */
PETSC_INTERN PetscErrorCode KCycleSmootherCreate_Jacobi(KCycleSmoother *);
PETSC_INTERN PetscErrorCode KCycleSmootherCreate_Chebyshev(KCycleSmoother *);
PETSC_INTERN PetscErrorCode KCycleSmootherCreate_RedBlack(KCycleSmoother *);
PETSC_INTERN PetscErrorCode KCycleSmootherCreate_FourColor(KCycleSmoother *);
PETSC_INTERN PetscErrorCode KCycleSmootherCreate_EightColor(KCycleSmoother *);
PETSC_INTERN PetscErrorCode KCycleSmootherCreate_ZebraX(KCycleSmoother *);
PETSC_INTERN PetscErrorCode KCycleSmootherCreate_ZebraY(KCycleSmoother *);
PETSC_INTERN PetscErrorCode KCycleSmootherCreate_ZebraZ(KCycleSmoother *);
PETSC_INTERN PetscErrorCode KCycleSmootherCreate_Alternating(KCycleSmoother *);
PETSC_INTERN PetscErrorCode KCycleSmootherCreate_Planes(KCycleSmoother *);

/* Planes across direction d have a grid of their own, whose planes they are: direction i of it is direction order[i].
   The first one has most points, since work goes from line to line in it */
static inline void KCyclePlanesOrder(const KCycleBox *box, int d, int order[3])
{
  const int a = d == 0 ? 1 : 0, b = d == 2 ? 1 : 2;

  order[0] = box->size[b] > box->size[a] ? b : a;
  order[1] = a + b - order[0];
  order[2] = d;
}

/* Points of the planes of one parity that this process has: first ones, steps and numbers in each direction, and how
   far the next one lies after a point on the planes' own grid */
typedef struct {
  PetscInt first[3], step[3], n[3], stride[3];
} KCyclePart;

static inline void KCyclePartFind(const KCycleBox *box, int d, int parity, KCyclePart *part)
{
  PetscInt stride = 1;
  int      order[3];

  KCyclePlanesOrder(box, d, order);
  for (int i = 0; i < 3; i++) {
    part->first[i] = i == d ? (parity + box->start[i]) & 1 : 0;
    part->step[i]  = i == d ? 2 : 1;
    part->n[i]     = PetscMax(0, (box->n[i] - part->first[i] + part->step[i] - 1) / part->step[i]);
  }
  for (int i = 0; i < 3; i++) {
    part->stride[order[i]] = stride;
    stride *= part->n[order[i]];
  }
}

/* Planes of the box, lines of a plane */
static inline PetscInt KCyclePlanes(const KCycleBox *box)
{
  return box->dim == 3 ? box->n[2] : box->dim == 2 ? box->n[1] : 1;
}

static inline PetscInt KCycleLinesOfPlane(const KCycleBox *box)
{
  return box->dim == 3 ? box->n[1] : 1;
}

/* Points that threads share between two barriers; a plane that is a line is not shared */
static inline PetscInt KCyclePointsOfPlane(const KCycleBox *box)
{
  return KCycleLinesOfPlane(box) > 1 ? box->n[0] * KCycleLinesOfPlane(box) : 0;
}

/* Do planes need nothing of other processes but whole planes? */
static inline PetscBool KCyclePlanesAreWhole(const KCycleBox *box)
{
  return (PetscBool)(!box->xhalo && (box->dim < 3 || (box->nproc[1] == 1 && !box->periodic[1])));
}

/* Do sweeps, residual and restriction run in one pass, and interpolation and sweeps? */
static inline PetscBool KCycleSmootherIsFused(const KCycleSmoother *s)
{
  return (PetscBool)(s->ops.smoothrestrict && s->ops.interpolatesmooth && s->planes);
}
