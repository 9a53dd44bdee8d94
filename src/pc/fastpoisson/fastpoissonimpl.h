/*
  What the files of PCFASTPOISSON share.

  The operator, on the points of the grid that are no stored Dirichlet points, is

      A = (D_x x D_y x D_z) (M_x + M_y + M_z + sigma)

  with Kronecker products, positive diagonal matrices D and M = D^-1 T, each along its own direction: tridiagonal, or
  with a further entry at each end where the direction is periodic. W M is symmetric, with a positive diagonal W.
*/
#pragma once

#include <petsckcycle/private/choiceimpl.h>
#include <petsckcycle/private/fppoint.h>
#include <petsckcycle/private/stencilimpl.h>
#include <petsckcycle.h>
#include <petsc/private/pcimpl.h>

/* Entries of a row in the order of their columns: z-, y-, x-, diagonal, x+, y+, z+ */
#define KC_STAR              7
#define KC_STAR_DIAGONAL     3
#define KC_STAR_OF(d, ahead) ((ahead) ? 4 + (d) : 2 - (d))

/* An entry that is not as it should be; row: PETSC_INT_MAX if there is none */
typedef struct {
  PetscInt  row, column;
  PetscReal found, expected;
} KCycleFPFault;

/* The rows of this process, see fprows.c */
typedef struct {
  Mat                  A;
  const KCycleBox     *box;
  const KCycleStencil *st;    /* a stencil, or NULL */
  KCycleAIJLines      *lines; /* AIJ, as long as its entries fit a star, or NULL */
  KCycleShape          star;
  PetscScalar         *dense;      /* all coefficients of a line; */
  PetscScalar         *c[KC_STAR]; /* where those of the star are, NULL: zeros */
  PetscScalar         *zeros;
} KCycleFPRows;

/* Where the values of a constant direction end: beyond the last point, or in the middle between both */
typedef enum {
  KCYCLE_FP_DIRICHLET,      /* the value is given one cell beyond: 2 -1 */
  KCYCLE_FP_DIRICHLET_HALF, /* the value is given half a cell beyond: 3 -1 */
  KCYCLE_FP_NEUMANN_HALF,   /* no flux half a cell beyond: 1 -1 */
  KCYCLE_FP_NEUMANN,        /* no flux at the point: 2 -2 */
  KCYCLE_FP_OTHER
} KCycleFPEnd;

/* A transform, and the ends of directions that it is for */
typedef struct {
  KCycleFPEnd       end[2];
  KCycleFPTransform transform[2]; /* from points to modes, and back */
  PetscReal         shift;        /* angle of mode k: pi (k + shift) */
  int               longer;       /* / (n + longer) */
  const char       *name;
} KCycleFPKind;

typedef enum {
  KCYCLE_FP_SINGLE, /* one point */
  KCYCLE_FP_TRANSFORM,
  KCYCLE_FP_VECTORS, /* products with eigenvectors */
  KCYCLE_FP_TRIDIAGONAL
} KCycleFPMethod;

typedef struct {
  PetscInt            size; /* points of the grid; of them */
  PetscInt            lo;   /* the first that is not stored Dirichlet, */
  PetscInt            n;    /* and how many are not */
  PetscBool           periodic, constant;
  PetscBool           closed; /* the rows of M add up to zero */
  KCycleFPEnd         end[2];
  PetscReal           c;                      /* constant: M is c times the second difference */
  PetscReal          *low, *mid, *up, *d, *w; /* rows of M, D and W */
  KCycleFPMethod      method;
  PetscReal          *lambda;  /* eigenvalues of M, unless they are not needed */
  PetscReal          *before;  /* 1 / D, or NULL where that is 1 or part of the products */
  PetscReal          *ahead;   /* vectors: from points to modes, and */
  PetscReal          *back;    /* from modes to points; by columns */
  void               *plan[2]; /* transform: the same */
  const KCycleFPKind *kind;    /* of its transform, or NULL */
  PetscReal           norm;    /* that both multiply by */
  PetscInt            width;   /* lines at a time */
  PetscInt            pitch;   /* between lines in a buffer */
  PetscReal           spread;  /* largest number in W over the smallest */
} KCycleFPDirection;

/* Between two layouts */
typedef struct {
  const KCycleBox *from, *to;
  PetscMPIInt     *nsend, *send, *nrecv, *recv; /* numbers and displacements */
} KCycleFPExchange;

/* An array of points of a layout */
typedef struct {
  PetscScalar *v;
  PetscInt     stride[3];
} KCycleFPView;

enum {
  KCYCLE_FP_SETUP,
  KCYCLE_FP_TRANSFORMS,
  KCYCLE_FP_SYSTEMS,
  KCYCLE_FP_EXCHANGES,
  KCYCLE_FP_NUM_EVENTS
};

typedef struct _KCycleFPDevice KCycleFPDevice;

typedef struct {
  /* parameters */
  PetscBool                    approximate;
  PCFastPoissonEffortType      effort;
  PCFastPoissonTridiagonalType tridiagonal;
  char                         load[PETSC_MAX_PATH_LEN], save[PETSC_MAX_PATH_LEN]; /* files of FFTW's wisdom, or "" */

  /* made at set-up */
  PetscBool         ready;
  PetscBool         fordevice; /* vectors of the operator or of the DMDA are on a device, */
  KCycleFPDevice   *device;    /* where this is; or NULL */
  const KCycleBox  *box;       /* belongs to the DM */
  KCycleFPDirection dir[3];
  PetscInt          ref[3];   /* a point with couplings in as many directions as possible */
  PetscReal         sigma;    /* constant part of the operator */
  PetscReal         scale;    /* its diagonal at that point */
  PetscReal         size;     /* sum of the largest eigenvalues, about */
  PetscBool         singular; /* constants are in its kernel */
  PetscBool         nearest;  /* it is an approximation */
  PetscBool         empty;    /* all points are stored Dirichlet points */
  Vec               root;     /* nearest: what scales each row and its column, 1 at stored points; or NULL */
  PetscInt          nstored, *stored;
  PetscReal        *inverse; /* of the diagonal there */
  PetscBool         coupled; /* other rows have entries in columns of stored points */
  PetscBool         apart;   /* and of some of these the points belong to another process, or D is not known: */
  Vec               work;    /* for a product with the matrix */

  int              nstages, order[3]; /* directions; the last one is solved for */
  KCycleBox        grid, layout[3];   /* points of the core as the DMDA has them, and those of each stage */
  KCycleFPExchange exchange[3];       /* from the layout before; nsend NULL: it is the same */
  PetscScalar     *array[3];          /* points of layout[s], where it is another than the one before */
  PetscScalar     *sent, *received;
  PetscScalar     *buffer[2];
  PetscInt         nbuffer;
  PetscReal        norm;
  PetscScalar     *line;   /* of one system */
  PetscReal       *factor; /* of the rows of the last direction, tridiagonal: norm / D */
  PetscLogDouble   flops[2];
  char             failure[256];
} PC_FastPoisson;

/* What is done with arrays of the points of this process, all on the host or on a device. b and x may be the same */
typedef struct {
  /* one direction, or two, of all lines of a layout; sense 0: from points to modes, 1: back */
  PetscErrorCode (*transform)(PC, int n, const int d[], int sense, const KCycleFPView *in, const KCycleFPView *out,
                              const KCycleBox *);
  PetscErrorCode (*last)(PC, const KCycleFPView *in, const KCycleFPView *out); /* the last direction is solved for */
  PetscErrorCode (*balance)(PC, PetscBool invert, const PetscScalar *b, PetscScalar *x); /* see fastpoisson.c */
  /* of stored points, x = b - w, / d if that is asked for; b, w NULL: zeros */
  PetscErrorCode (*store)(PC, const PetscScalar *b, const PetscScalar *w, PetscBool divide, PetscScalar *x);
  PetscErrorCode (*couple)(PC, PetscBool transpose, PetscScalar *x); /* see fpstored.c */
} KCycleFPOps;

/* The first point of the core in an array of the DMDA's points of this process */
static inline PetscInt KCycleFPCoreAt(const PC_FastPoisson *fp)
{
  const PetscInt *n = fp->box->n;
  PetscInt        at[3];

  for (int d = 0; d < 3; d++) at[d] = PetscMax(0, fp->dir[d].lo - fp->box->start[d]);
  return at[0] + n[0] * (at[1] + n[1] * at[2]);
}

/* fpoptions.c */
PETSC_INTERN PetscErrorCode PCSetFromOptions_FastPoisson(PC, KCycleOptionItems);

#if defined(KCYCLE_HAVE_FASTPOISSON)
PETSC_INTERN PetscLogEvent PCFastPoissonEvents[KCYCLE_FP_NUM_EVENTS];

/* fprows.c */
PETSC_INTERN PetscErrorCode KCycleFPRowsBegin(Mat, const KCycleBox *, KCycleFPRows *);
PETSC_INTERN PetscErrorCode KCycleFPRowsEnd(KCycleFPRows *);
PETSC_INTERN PetscErrorCode KCycleFPRowsPoint(KCycleFPRows *, const PetscInt at[], PetscReal c[], KCycleFPFault *);
PETSC_INTERN PetscErrorCode KCycleFPRowsLine(KCycleFPRows *, PetscInt j, PetscInt k, KCycleFPFault *);
PETSC_INTERN PetscInt       KCycleFPColumn(const KCycleBox *, const PetscInt at[], int q);
PETSC_INTERN void           KCycleFPFaultNote(KCycleFPFault *, PetscInt row, PetscInt column, PetscReal found,
                                              PetscReal expected);
PETSC_INTERN PetscErrorCode KCycleFPFaultCheck(PC, KCycleFPFault *);
PETSC_INTERN PetscErrorCode KCycleFPFaultFirst(PC, KCycleFPFault *);

/* fpfit.c, fpcheck.c, fpaverage.c: which operator it is */
PETSC_INTERN PetscErrorCode PCFastPoissonFit(PC, KCycleFPRows *, KCycleFPFault *);
PETSC_INTERN void           PCFastPoissonFitConstants(PC_FastPoisson *);
PETSC_INTERN PetscErrorCode PCFastPoissonFitScaling(PC);
PETSC_INTERN PetscErrorCode PCFastPoissonCheck(PC, KCycleFPRows *, KCycleFPFault[]);
PETSC_INTERN PetscErrorCode PCFastPoissonAverage(PC, KCycleFPRows *);
PETSC_INTERN PetscErrorCode PCFastPoissonFail(PC, const char[]);

/* fpdirection.c, fptransform.c: how its directions are solved */
PETSC_INTERN PetscErrorCode      PCFastPoissonChoose(PC);
PETSC_INTERN PetscErrorCode      PCFastPoissonDirectionsDestroy(PC_FastPoisson *);
PETSC_INTERN PetscErrorCode      PCFastPoissonDescribe(const PC_FastPoisson *, int d, size_t, char[]);
PETSC_INTERN const KCycleFPKind *KCycleFPKindOf(const KCycleFPDirection *);
PETSC_INTERN PetscErrorCode      KCycleFPTransformCreate(PC);
PETSC_INTERN PetscErrorCode      KCycleFPTransformDestroy(KCycleFPDirection *);
PETSC_INTERN void                KCycleFPTransformSpectrum(KCycleFPDirection *);
PETSC_INTERN PetscErrorCode      PCFastPoissonWisdomLoad(PC);
PETSC_INTERN PetscErrorCode      PCFastPoissonWisdomSave(PC);
PETSC_INTERN void KCycleFPKernel(const PC_FastPoisson *, const KCycleFPDirection *, int sense, PetscInt lines,
                                 PetscScalar *from, PetscScalar *to);

/* fplayout.c */
PETSC_INTERN PetscErrorCode PCFastPoissonGridCreate(PC_FastPoisson *);
PETSC_INTERN PetscErrorCode PCFastPoissonLayoutsCreate(PC);
PETSC_INTERN PetscErrorCode PCFastPoissonLayoutsDestroy(PC_FastPoisson *);
PETSC_INTERN PetscErrorCode PCFastPoissonExchange(PC, const KCycleFPExchange *, PetscBool back, const KCycleFPView *,
                                                  const KCycleFPView *);

/* fpstored.c: stored Dirichlet points */
PETSC_INTERN PetscErrorCode PCFastPoissonStoredSetUp(PC);
PETSC_INTERN PetscErrorCode PCFastPoissonStoredBefore(PC, const KCycleFPOps *, Vec, Vec);
PETSC_INTERN PetscErrorCode PCFastPoissonStoredAfter(PC, const KCycleFPOps *, Vec, Vec);
PETSC_INTERN PetscErrorCode PCFastPoissonStore(PC, const PetscScalar *, const PetscScalar *, PetscBool, PetscScalar *);
PETSC_INTERN PetscErrorCode PCFastPoissonCouple(PC, PetscBool, PetscScalar *);
PETSC_INTERN PetscReal      KCycleFPFace(const PC_FastPoisson *, int d, int side, PetscInt *at);

/* fpsolve.c, fptridiagonal.c */
PETSC_INTERN PetscErrorCode PCFastPoissonSolve(PC, const KCycleFPOps *, const PetscScalar *, PetscScalar *);
PETSC_INTERN PetscErrorCode PCFastPoissonTransform(PC, int, const int[], int, const KCycleFPView *,
                                                   const KCycleFPView *, const KCycleBox *);
PETSC_INTERN PetscErrorCode PCFastPoissonLast(PC, const KCycleFPView *, const KCycleFPView *);
PETSC_INTERN void           KCycleFPLines(const PetscInt n[], int d, int *a, int *b);
PETSC_INTERN void           KCycleFPSystems(const PC_FastPoisson *, const KCycleFPView *, const KCycleFPView *);

  /* fpdevice.c */
  #if defined(KCYCLE_HAVE_FASTPOISSON_DEVICE)
PETSC_INTERN PetscErrorCode    PCFastPoissonDeviceCheck(PC, VecType);
PETSC_INTERN PetscErrorCode    PCFastPoissonDeviceCreate(PC);
PETSC_INTERN PetscErrorCode    PCFastPoissonDeviceDestroy(PC_FastPoisson *);
PETSC_INTERN PetscErrorCode    PCFastPoissonDeviceView(const PC_FastPoisson *, PetscViewer);
PETSC_INTERN const KCycleFPOps KCycleFPOps_Device;
  #else
    #define PCFastPoissonDeviceCreate(pc)       PETSC_ERR_PLIB
    #define PCFastPoissonDeviceDestroy(fp)      PETSC_SUCCESS
    #define PCFastPoissonDeviceView(fp, viewer) PETSC_SUCCESS
  #endif
#endif
