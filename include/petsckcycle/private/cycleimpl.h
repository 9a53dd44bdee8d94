/*
  The kappa-cycle on levels whose operators, transfers and smoothers are all ours: arrays in, arrays out.

  There is one source, compiled for each precision; KCycleEngines has one entry for each. PETSc's objects are known to
  who fills KCycleLevelParts, and to the solver of the coarsest level, which is called back.
*/
#pragma once

#include <petsckcycle/private/memoryimpl.h>

/*
  The functions of the recursion, and those between it and the solver of the coarsest level, take no place on PETSc's
  stack of functions: that has 64, and a PETSc with debugging writes beyond its end (3.18, PetscStackCopy() in
  PetscTrMallocDefault()) where more are used, by 17 levels for instance. An error goes up through them as it is:
  PetscCall() would take a place away that they do not have.
*/
#define KCycleCall(call)                    \
  do {                                      \
    const PetscErrorCode ierr_ = (call);    \
    if (PetscUnlikely(ierr_)) return ierr_; \
  } while (0)

/* So many times of visits of a level are kept, the last ones */
#define KCYCLE_TIMES 64

/* A clock of a level: a visit is timed without those of coarser levels in it. Index: 1 for visits that go on from an
   iterate, 0 for those from zero */
typedef struct {
  PetscReal     *seconds[2]; /* of each visit; or NULL */
  PetscInt       n[2];       /* how many there were */
  PetscLogDouble since;
  PetscReal      sum; /* of the visit that is going on */
} KCycleTimer;

static inline void KCycleTimerResume(KCycleTimer *timer)
{
  if (timer->seconds[0]) timer->since = MPI_Wtime();
}

static inline void KCycleTimerPause(KCycleTimer *timer)
{
  if (timer->seconds[0]) timer->sum += (PetscReal)(MPI_Wtime() - timer->since);
}

static inline void KCycleTimerStart(KCycleTimer *timer)
{
  timer->sum = 0;
  KCycleTimerResume(timer);
}

/* Of one that is at rest */
static inline void KCycleTimerKeep(KCycleTimer *timer, PetscBool zeroguess)
{
  const int kind = zeroguess ? 0 : 1;

  if (timer->seconds[0]) timer->seconds[kind][timer->n[kind]++ % KCYCLE_TIMES] = timer->sum;
}

static inline PetscReal KCycleTrafficBytes(const KCycleTraffic *traffic)
{
  PetscReal bytes = 0;

  for (int p = 0; traffic && p < KCYCLE_NUM_PHASES; p++) bytes += (PetscReal)traffic->bytes[p];
  return bytes;
}

/* A row of the profile of a level: from Begin to End, which count where they are wanted. A row may pause */
static inline PetscErrorCode KCycleProfileBegin(KCycleProfile *profile, const KCycleTraffic *traffic)
{
  if (!profile || !profile->on) return PETSC_SUCCESS;
  profile->bytes_since = KCycleTrafficBytes(traffic);
  KCycleCall(PetscGetFlops(&profile->flops_since));
  profile->since = MPI_Wtime();
  return PETSC_SUCCESS;
}

static inline PetscErrorCode KCycleProfilePause(KCycleProfile *profile, KCycleRow row)
{
  const double now = profile && profile->on ? MPI_Wtime() : 0;
  double       flops;

  if (!profile || !profile->on) return PETSC_SUCCESS;
  profile->seconds[row] += (PetscReal)(now - profile->since);
  KCycleCall(PetscGetFlops(&flops));
  profile->flops[row] += (PetscReal)(flops - profile->flops_since);
  return PETSC_SUCCESS;
}

static inline PetscErrorCode KCycleProfileEnd(KCycleProfile *profile, const KCycleTraffic *traffic, KCycleRow row)
{
  if (!profile || !profile->on) return PETSC_SUCCESS;
  KCycleCall(KCycleProfilePause(profile, row));
  profile->calls[row]++;
  profile->bytes[row] += KCycleTrafficBytes(traffic) - profile->bytes_since;
  return PETSC_SUCCESS;
}

/* A level; level 0 is the coarsest. Smoothers, sweeps and orders: before the coarser levels, and behind them */
typedef struct {
  const KCycleStencilDouble  *st;
  const KCycleTransferDouble *tr; /* from the next coarser level; NULL on the coarsest */
  KCycleSmoother             *smoother[2];
  const KCycleGhosts         *ghosts; /* with points of others, where kernels do so; or NULL */
  PetscInt                    its[2];
  PetscReal                   factor; /* of corrections from the coarser levels */
  PCRelaxOrderType            order[2];
  PetscBool                   tiled;    /* sweeps are to be fused in tiles, where kernels do so */
  PetscBool                   overlaps; /* halos are sent while inner points are computed, where kernels do so */
  PetscScalar         *b, *x, *r;       /* of the finest level b and x are those of the caller; b is not written then */
  PetscInt64          *calls;           /* of the cycle */
  const PetscLogEvent *event;           /* of each phase, or 0 */
  KCycleTraffic       *traffic;         /* where it is counted */
  KCycleTimer         *timer;
  KCycleStarter       *starter; /* what full multigrid starts with; NULL: what the interpolation says */
  KCycleProfile       *profile; /* or NULL */
  const PetscScalar   *rhs;     /* of full multigrid on the level; NULL: that of the next finer one, restricted */
} KCycleLevelParts;

/* A visit of levels. Two cycles on a level that is not the finest one are all that the next finer one asks for: one
   with kappa and one with kappa - 1, or in the transposed cycle the other way round */
typedef struct {
  PetscInt  kappa, cycles;
  PetscBool full;      /* full multigrid */
  PetscBool transpose; /* on arrays: of operators that are symmetric */
  PetscBool zeroguess; /* x counts as zero, and may hold anything */
  PetscBool starts;    /* x counts as interpolated from the coarser solution, and may hold anything */
} KCycleVisit;

/* What is to be done */
typedef struct {
  KCycleVisit visit;
  void       *ctx; /* for the functions: */
  /* solves on the coarsest level, or goes on with the visit on levels of other processes */
  PetscErrorCode (*coarsest)(void *ctx, const KCycleVisit *, const PetscScalar *b, PetscScalar *x);
  PetscBool continues; /* it starts from the iterate, so that a second call improves it */
  PetscBool replays;   /* cycles may be recorded and replayed, where kernels do so */
  /* of full multigrid, when the cycle on a level is done (stage 0), and behind two more, which are done to see how much
     they change (1 and 2); then x of before is given back (3). x: in PETSc's numbers, one of the arrays `watched`;
     NULL: none */
  PetscErrorCode (*monitor)(void *ctx, PetscInt l, int stage, PetscScalar *x);
  PetscScalar *watched;
  /* behind the first sweeps on the finest level, or NULL: is that enough? sum: of the squares of the residual's owned
     points */
  PetscErrorCode (*test)(void *ctx, PetscReal sum, PetscBool *stop);
} KCycleRun;

typedef struct _KCycleLevels KCycleLevels;

#define KC_COSTS 8

/* What a cycle on a device comes to */
typedef struct {
  PetscInt   kappa;
  PetscBool  full;
  PetscInt64 kernels, calls; /* calls that launch these: fewer where they have been recorded */
} KCycleCost;

/* Levels that share kernels on a device */
typedef struct {
  PetscInt  level;    /* the finest of them; 0: there are none */
  PetscInt  unknowns; /* that it has */
  PetscInt  refused;  /* visits of it that are too long for one kernel */
  PetscBool products; /* visits are products with matrices from the second cycle on, */
  PetscInt  matrices; /* of which so many have been made */
} KCycleSharing;

typedef struct {
  const char *name;
  PetscBool   inplace; /* arrays of KCycleLevelParts are used, and x of the run may be no zero */
  PetscErrorCode (*create)(MPI_Comm, KCycleMemorySpace, PetscInt nlevels, const KCycleLevelParts[], PetscReal scale,
                           KCycleLevels **);
  PetscErrorCode (*run)(KCycleLevels *, const KCycleRun *, const PetscScalar *b, PetscScalar *x);
  PetscErrorCode (*renew)(KCycleLevels *);
  PetscErrorCode (*destroy)(KCycleLevels **);
  /* kernels that can do so multiply with the inverse of the coarsest operator, by columns, instead of calling
     its solver */
  PetscErrorCode (*setinverse)(KCycleLevels *, const KCycleInverse *);
  /* kernels that can do so run levels with fewer unknowns, and their coarsest problem, in one kernel; 0: none. Where
     there are any with few unknowns, fewer than these, it is those alone, and later visits multiply with a matrix */
  PetscErrorCode (*share)(KCycleLevels *, PetscInt unknowns, PetscInt few);
  void (*sharing)(const KCycleLevels *, KCycleSharing *);
  /* how sweeps on a level are fused in tiles, or NULL */
  const char *(*tiled)(const KCycleLevels *, PetscInt l);
  /* of cycles that have run on a device, the last one with each kappa; returns their number */
  PetscInt (*costs)(const KCycleLevels *, const KCycleCost **);
} KCycleEngine;

PETSC_INTERN const KCycleEngine KCycleEngine_Double, KCycleEngine_Single;
