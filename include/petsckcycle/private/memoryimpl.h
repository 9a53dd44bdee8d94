/*
  The memory spaces of levels, and the kernels that work on them there. The cycle calls kernels through the table of its
  memory space alone: a new one is a table in its own file and a line in host.c.

  There is one source, compiled for each precision, so that there is a table for each precision and memory space.
*/
#pragma once

#include <petsckcycle/private/vectorsimpl.h>

/* The phases of a cycle that -pc_mg_log and -pc_kcycle_count_bytes show for each level */
typedef enum {
  KCYCLE_SMOOTH,
  KCYCLE_RESIDUAL,
  KCYCLE_RESTRICT,
  KCYCLE_INTERPOLATE,
  KCYCLE_COARSE,
  KCYCLE_NUM_PHASES
} KCyclePhase;

/* Kernels on a level, on this process; rounds of messages in them */
typedef struct {
  PetscInt64 calls[KCYCLE_NUM_PHASES], bytes[KCYCLE_NUM_PHASES], rounds;
} KCycleTraffic;

/* Rows of a profile: what is done by itself, and passes through the grid that do several things */
typedef enum {
  KCYCLE_ROW_SMOOTH,
  KCYCLE_ROW_RESIDUAL,
  KCYCLE_ROW_RESTRICT,
  KCYCLE_ROW_INTERPOLATE,
  KCYCLE_ROW_COARSE,
  KCYCLE_ROW_DOWN,  /* sweeps, residual and restriction */
  KCYCLE_ROW_UP,    /* interpolation and sweeps */
  KCYCLE_ROW_START, /* interpolation of what full multigrid starts with, sweeps, residual and restriction */
  KCYCLE_ROW_OTHER, /* of the finest level: norms; right side and solution from and to PETSc's numbers */
  KCYCLE_NUM_ROWS
} KCycleRow;

/* Of a level, on this process */
typedef struct {
  PetscInt64 calls[KCYCLE_NUM_ROWS];
  PetscReal  seconds[KCYCLE_NUM_ROWS], flops[KCYCLE_NUM_ROWS], bytes[KCYCLE_NUM_ROWS];
  PetscBool  on;                              /* what is done now counts */
  double     since, flops_since, bytes_since; /* of the row that is going on */
} KCycleProfile;

/* The inverse of an operator whose unknowns fall into `count` systems of the same size without couplings to each other,
   one after the other. column: of all systems, one after the other */
typedef struct {
  PetscInt     count;
  PetscScalar *column;
} KCycleInverse;

/* What a level has on a device, see device.c */
typedef struct _KCycleDeviceLevel KCycleDeviceLevel;

/* Work on levels that is recorded, see devicegraph.c */
typedef struct _KCycleRecord KCycleRecord;

/* Work on levels as one kernel of one block, see deviceblock.c */
typedef struct _KCycleProgram KCycleProgram;

/* What such a program makes of right sides, see devicematrix.c */
typedef struct _KCycleMatrix KCycleMatrix;

/* What a level has with the points of others around those of a process, see ghosts.c */
typedef struct {
  const KCycleGhosts   *ghosts;
  const KCycleStencil  *st;
  const KCycleTransfer *tr;
  KCycleSmoother       *smoother[2];
  KCycleVectors         vectors;
  KCScalar             *coarseb, *coarsex;
  KCScalar             *b, *x; /* of all points, for smoothers that do not take them apart; or NULL */
  PetscBool             holds; /* b is that of the visit that is going on */
} KCycleGhosted;

/* A level. Smoothers: before the coarser levels, and after them */
typedef struct {
  const KCycleStencil  *st;
  const KCycleTransfer *tr; /* from the next coarser level; NULL on the coarsest */
  KCycleSmoother       *smoother[2];
  KCScalar             *b, *x, *r;
  PetscBool             tiled;    /* sweeps are to be fused in tiles, where kernels do so */
  PetscBool             overlaps; /* halos are sent while inner points are computed, where kernels do so */
  const KCycleStarter  *starter;  /* cubic interpolation of what full multigrid starts with; NULL: linear */
  KCycleDeviceLevel    *device;   /* copies of these on a device */
  KCycleGhosted        *ghosted;  /* or NULL */
  KCycleVectors        *vectors;  /* of the finest level in single precision: what passes convert; or NULL */
} KCycleLevelData;

/* ghosts.c */
PETSC_INTERN PetscErrorCode KCycleGhostedCreate(const KCycleGhosts *, KCycleSmoother *const[], PetscReal divisor,
                                                PetscBool converts, KCycleGhosted **);
PETSC_INTERN PetscErrorCode KCycleGhostedDestroy(KCycleGhosted **);
PETSC_INTERN PetscErrorCode KCycleGhostedSmoothRestrict(const KCycleLevelData *, int which, const KCycleSweeps *);
PETSC_INTERN PetscErrorCode KCycleGhostedInterpolateSmooth(const KCycleLevelData *, int which, const KCycleSweeps *);

/* single.c */
#if defined(KCYCLE_SINGLE)
PETSC_INTERN PetscErrorCode KCycleStencilSingleCreate(const KCycleStencilDouble *, PetscReal divisor, KCycleStencil **);
PETSC_INTERN PetscErrorCode KCycleStencilSingleDestroy(KCycleStencil **);
PETSC_INTERN PetscErrorCode KCycleTransferSingleCreate(const KCycleTransferDouble *, KCycleTransfer **);
PETSC_INTERN PetscErrorCode KCycleTransferSingleDestroy(KCycleTransfer **);
#endif

/* The coarser level of a transfer is the one before the level in the array of levels */
typedef struct {
  const char       *name;
  KCycleMemorySpace memory; /* where the data have to be that they work on, or that attach copies */
  /* x <- sweeps(x) with the first or the second smoother */
  PetscErrorCode (*smooth)(const KCycleLevelData *, int which, const KCycleSweeps *);
  /* the same, coarse b <- R (b - A x), and, unless it is NULL, the sum of the squares of the owned b - A x; for
     smoothers that are fused */
  PetscErrorCode (*smoothrestrict)(const KCycleLevelData *, int which, const KCycleSweeps *, PetscReal *sum);
  /* x <- sweeps(x + P coarse x); for smoothers that are fused */
  PetscErrorCode (*interpolatesmooth)(const KCycleLevelData *, int which, const KCycleSweeps *);
  /* r <- b - A x */
  PetscErrorCode (*residual)(const KCycleLevelData *);
  /* coarse b <- R r, where r may be b */
  PetscErrorCode (*restriction)(const KCycleLevelData *, const KCScalar *r);
  /* x <- x + P coarse x, or P coarse x */
  PetscErrorCode (*interpolate)(const KCycleLevelData *, PetscBool add);
  /* x <- what full multigrid starts with, interpolated from coarse x; NULL: as interpolate does */
  PetscErrorCode (*start)(const KCycleLevelData *);
  /* coarse x <- factor coarse x */
  PetscErrorCode (*scale)(const KCycleLevelData *, PetscReal factor);
  /* of vectors of a level: the sum of the squares */
  PetscErrorCode (*sumsquares)(const KCycleLevelData *, const KCScalar *, PetscReal *sum);
  /* the largest number; bad becomes true if one is Inf or NaN */
  PetscErrorCode (*largest)(const KCycleLevelData *, const PetscScalar *, PetscReal *most, PetscBool *bad);
  /* between PETSc's numbers and those of the level: y = x / divisor, y = x factor */
  PetscErrorCode (*convertin)(const KCycleLevelData *, const PetscScalar *x, PetscReal divisor, KCScalar *y);
  PetscErrorCode (*convertout)(const KCycleLevelData *, const KCScalar *x, PetscReal factor, PetscScalar *y);
  PetscErrorCode (*fill)(const KCycleLevelData *, PetscScalar, PetscScalar *y);
  /* of the coarsest level, to the host and back: y = x factor, y = x */
  PetscErrorCode (*copytohost)(const KCycleLevelData *, const KCScalar *x, PetscReal factor, PetscScalar *y);
  PetscErrorCode (*copyfromhost)(const KCycleLevelData *, const PetscScalar *x, KCScalar *y);
  /* NULL: levels have all that they need. Makes it for a level, coarser ones have it: arrays b and x, if it is to have
     its own, and r; destroys it; makes it follow new values of the operator */
  PetscErrorCode (*attach)(KCycleLevelData *, PetscBool own, PetscBool finest);
  PetscErrorCode (*detach)(KCycleLevelData *);
  PetscErrorCode (*renew)(const KCycleLevelData *);
  /* until all is done that was begun; NULL: it is */
  PetscErrorCode (*wait)(void);
  /* of the coarsest level, or NULL: takes the inverse of its operator; x <- factor times the inverse, or its transpose,
     times b */
  PetscErrorCode (*setinverse)(const KCycleLevelData *, const KCycleInverse *);
  PetscErrorCode (*invert)(const KCycleLevelData *, PetscBool transpose, PetscReal factor);
  /* NULL: there is no such thing. What is asked for between these two is recorded and not done */
  PetscErrorCode (*record)(KCycleRecord **);
  PetscErrorCode (*recorded)(KCycleRecord *);
  /* does it, and logs its operations if they have been logged before */
  PetscErrorCode (*replay)(const KCycleRecord *, PetscBool again);
  PetscErrorCode (*forget)(KCycleRecord **);
  /* NULL: there is no such thing. What is asked for between these two is written down and not done; the program is NULL
     where one block cannot do it */
  PetscErrorCode (*write)(void);
  PetscErrorCode (*written)(KCycleProgram **);
  /* does it, by one launch, and logs its operations if they have been logged before */
  PetscErrorCode (*perform)(const KCycleProgram *, PetscBool again);
  PetscErrorCode (*erase)(KCycleProgram **);
  /* the matrix of a program that makes x of level l from its b, of these levels; x <- the matrix times b */
  PetscErrorCode (*makematrix)(const KCycleLevelData[], PetscInt l, const KCycleProgram *, KCycleMatrix **);
  PetscErrorCode (*multiply)(const KCycleLevelData *, const KCycleMatrix *);
  PetscErrorCode (*erasematrix)(KCycleMatrix **);
  /* How sweeps of the level are fused in tiles, or NULL: each step by itself. NULL: there are no tiles, and smoothers
     that are fused run so */
  const char *(*tiled)(const KCycleLevelData *);
  /* kernels that have been launched or recorded so far */
  PetscInt64 (*launches)(void);
} KCycleKernels;

/* host.c; NULL: the library has none for it */
PETSC_INTERN const KCycleKernels *KCycleKernelsOf(KCycleMemorySpace);

/* device.c */
PETSC_INTERN const KCycleKernels KCycleKernels_Device;
