/*
  What the files of PCKCYCLE share.
*/
#pragma once

#include <petsckcycle/private/choiceimpl.h>
#include <petsckcycle.h>
#include <petsckcycle/private/compat.h>
#include <petsc/private/pcmgimpl.h>
#include <petsckcycle/private/cycleimpl.h>
#include <petsckcycle/private/gridimpl.h>
#include <petsckcycle/private/policyimpl.h>
#include <petsckcycle/private/productsimpl.h>
#include <petsc/private/kspimpl.h>
#include "estimates.h"

/* Iterations of PCMG's smoothers */
#define KCYCLE_PCMG_ITS 2

/* Relative size below which a row sum is rounding: 1.8e-12 in double precision */
#define KCYCLE_ROUNDING PetscPowReal(PETSC_MACHINE_EPSILON, 0.75)

/* What is known of the kernel of the operator */
typedef enum {
  KCYCLE_REGULAR,       /* no sign of a kernel */
  KCYCLE_NULLSPACE,     /* a null space is attached to the operator */
  KCYCLE_ZERO_ROW_SUMS, /* none attached, but the operator maps constants to zero */
} KCycleKernel;

/* As KSPRICHARDSON declares it */
typedef struct {
  PetscReal scale;
  PetscBool selfscale;
} KCycleRichardson;

/* Why a level is agglomerated */
typedef enum {
  KCYCLE_GATHERS_NOT,
  KCYCLE_GATHERS_FEW,   /* each has few points */
  KCYCLE_GATHERS_EMPTY, /* some would keep no point of the next level */
  KCYCLE_GATHERS_LARGE  /* no more levels are wanted, and it is too large for a direct solver on each */
} KCycleAgglomerates;

/* Levels, at most */
#define KCYCLE_MAX_LEVELS 64

/* One level on a grid; the finest comes first */
typedef struct {
  Mat            A;         /* operator: a stencil, or of a type that has products with P */
  Mat            P;         /* interpolation from the next level; NULL on the coarsest */
  PetscInt       factor[3]; /* coarsening of each direction */
  /* of ordinary matrices */
  KCycleMesh     mesh;
  PetscBool     *single; /* isolated unknowns of this process */
  /* of stencils */
  DM             dm;
  /* directions of the lines that these relax, and across which they relax planes, where their type was chosen here */
  char           lines[4], planes[4];
  PetscBool      tried;          /* whether lines do */
  PetscInt       origin[3];      /* points that the next level keeps: every factor-th from this one on */
  KCycleBoundary boundary[3][2]; /* what lies at the low and the high end of each direction */
  PetscBool      jumps;          /* coefficients do, or there is convection: interpolation follows the operator */
  PetscBool      star;           /* the next level's operator is collapsed to a star */
  PetscBool      blocked; /* a direction would be coarsened further if processes did not have to keep a point each */
  KCycleAgglomerates gathers;
} KCycleGridLevel;

/* What the levels of another solver found, whose coarsest problem this one was given after it had been gathered: its
   levels continue those */
typedef struct {
  PetscBool      exists;
  KCycleBoundary boundary[3][2]; /* of the grid */
  PetscInt       ratio;          /* of the points of that one over those of this one */
  PetscInt       nlevels;        /* finer than the gathered one */
  PetscInt       wanted;         /* levels from the gathered one on; 0: as many as there are */
  PetscBool      distinct;       /* smoothers before and after the coarser levels are distinct solvers (up_) */
  PetscBool      gaps;           /* parts of the grid may be closed */
  PetscBool      holes;          /* or there are isolated points */
  PetscBool      convects;       /* the finest operator has convection */
  PetscBool      cutlines;       /* lines of the finest grid are cut by inactive points */
  PetscBool      revisits;       /* cycles visit coarser levels more than once */
  PetscInt       sweeps;         /* on the finest level, see PCKCycleSweepsAsked() */
  int            flat;           /* KC_FLAT: the operator couples no planes across z; or 0 */
  PetscInt       kappa;
  KCycleKernel   kernel;
  PetscBool      kernel_constant;
  PetscInt       nullity; /* number of vectors of the operator's null space */
} KCycleFiner;

/* The levels from the coarsest one here on, on fewer processes; see gather.c */
typedef struct {
  PetscBool ours;      /* they are those of a PCKCYCLE, */
  PC        pc;        /* which is this one, on processes that have points of them; else NULL */
  PetscInt  below;     /* their number, without the first one */
  PetscInt  processes; /* that have points of them */
  Vec       vec[2];    /* right side and solution on their communicator */
} KCycleGathered;

/* The grid of an operator that has no DM; see findgrid.c */
typedef struct {
  PetscInt         ngiven, given[3]; /* sizes that were given */
  DM               dm;               /* or NULL */
  PetscObjectId    searched;         /* the matrix that was searched, and its pattern then; 0: none */
  PetscObjectState pattern, values;
  PetscBool        zeros; /* only stored zeros say otherwise: other values are searched again */
  PetscBool        moved; /* processes own parts of planes: rows are handed on */
  /* from rows of the operator's vectors to ghost rows, see ghostrows.c; NULL: nothing has moved, or
     levels are not structured */
  PetscSF          ghostrows;
  /* places in ghost rows; first row of the planes, counted from the first one of the process */
  PetscInt         below, above, shift;
  Vec              copy[2];  /* with ghost rows, in the place of right sides and solutions without */
  Mat              product;  /* the stencil for vectors of the operator, which KSP multiplies with */
  char             why[400]; /* there is no grid */
} KCycleFound;

/* What set-up saw of a solver of a level */
typedef struct {
  PetscObjectId    ksp, pc, A;
  PetscObjectState pcstate, Astate; /* PCRELAX has another one with each set-up; that of the finest operator is 0 */
  PetscErrorCode (*solve)(KSP);
  PetscErrorCode (*apply)(PC, Vec, Vec);
  PetscErrorCode (*converged)(KSP, PetscInt, PetscReal, KSPConvergedReason *, void *);
  KSPNormType norm;
  PetscInt    its;     /* at most */
  PetscBool   sweeps;  /* and nothing else, see KCycleKSPOnlySweeps() */
  PetscBool   watched; /* by monitors */
  PetscBool   guess;   /* of the coarsest level: it starts from the iterate */
  PetscBool   ready;
} KCycleSolver;

/* and of the level; see userchanges.c */
typedef struct {
  KCycleSolver solver[2]; /* down and up */
  PetscErrorCode (*residual)(Mat, Vec, Vec, Vec);
  PetscObjectId    transfer[2]; /* interpolation and restriction, */
  PetscObjectState values[2];   /* and their states */
  PetscInt         cycles;
} KCycleStamp;

/* Aspects of a solver that a program may choose without the others */
typedef enum {
  KCYCLE_ASPECT_KSP,    /* type and parameters of the Krylov method, */
  KCYCLE_ASPECT_PC,     /* of the preconditioner */
  KCYCLE_ASPECT_SWEEPS, /* number of iterations */
  KCYCLE_ASPECT_REST,   /* tolerances, norm, monitors, prefixes */
  KCYCLE_NUM_ASPECTS
} KCycleAspect;

typedef unsigned long long KCycleDigest;

/* What a factorization was told here: what counts as a zero pivot, and takes its place */
typedef struct {
  PetscObjectId pc; /* 0: none was */
  PetscReal     zero, amount;
} KCyclePivot;

/* Whose choice a solver of a level is; see userchoices.c */
typedef struct {
  PetscObjectId ksp, pc; /* 0: nothing is known */
  KCycleDigest  told[KCYCLE_NUM_ASPECTS];
  PetscBool     theirs[KCYCLE_NUM_ASPECTS]; /* the program has changed it */
  PetscBool     chose;                      /* its type was chosen here; of level 0: the coarsest grid is gathered */
  PetscBool     sweeps;                     /* and so was its number of iterations */
} KCycleChoice;

/* One level; level 0 is the coarsest, as in PCMG */
typedef struct {
  PetscInt64    calls;                    /* calls of the cycle since set-up */
  PetscLogEvent event[KCYCLE_NUM_PHASES]; /* 0: not logged */
  /* sweep, residual and restriction are one pass, interpolation and sweep another */
  PetscBool     fused;
  KCycleTraffic traffic; /* since set-up, where that is counted */
  KCycleTimer   timer;
  PetscInt64    calls_kept; /* while cycles run that do not count */
  KCycleTraffic traffic_kept;
  KCycleStamp   stamp;
  KCycleProfile profile; /* since it was asked for, on levels of this number; last, see FinishCycle() */
} KCycleLevel;

/* The matrices that the program gave, while the set-up works on a copy */
typedef struct {
  Mat mat, pmat, copy;
} KCycleOwn;

/* When iterations of KSPRICHARDSON end, by the norm of the residual; 0 in target: not by that */
typedef struct {
  PetscReal target, abstol, limit;
} KCycleStop;

/* Levels on a device from one level on, coarser ones on the host: two engines, of which that on the device has the
   last level of the host as its coarsest one */
typedef struct {
  PetscInt          level; /* the finest one on the host; 0: nothing but the coarsest problem is there */
  /* where that is chosen: the one with which cycles are fastest, how many were tried, seconds of a cycle then and with
     all levels on the device */
  PetscBool         chosen;
  PetscInt          fastest, tried;
  PetscReal         best, all;
  KCycleLevels     *host;
  KCycleLevelParts *parts; /* of the engine on the device, coarsest first */
  /* visits of that level are counted and timed on the host: for those that the device thinks of */
  PetscInt64        calls;
  KCycleTimer       timer;
  PetscLogEvent     event[KCYCLE_NUM_PHASES];
} KCycleSplit;

/* Levels on a device in addition to those on the host, for smoothers of planes, which have arrays there; see
   devicecopy.c */
typedef struct {
  PetscBool         tried;
  const char       *why; /* there are none */
  KCycleLevels     *levels;
  KCycleLevelParts *parts;  /* what they do is neither logged nor timed */
  Vec               vec[2]; /* right side and solution for the coarsest solver, where the only level has none */
  PetscInt64        calls;
  KCycleTimer       timer;
  PetscLogEvent     event[KCYCLE_NUM_PHASES];
} KCycleDeviceCopy;

/* Several unknowns at a point, together or one by one; see unknowns.c */
typedef struct {
  PetscBool  use;        /* unknowns are solved for one by one */
  PetscInt   tried;      /* how many ways */
  PetscReal *shrinks;    /* what is left of errors of each unknown, then that of the other way */
  PetscReal  slowest[2]; /* the most of these; 0: not tried, as the operator is symmetric */
  Vec        image;      /* what the operator made of a fixed vector then */
} KCycleUnknowns;

/* What takes the place of cycles that converge too slowly; see fallback.c */
typedef struct {
  PCKCycleFallbackType wanted;
  PC                   pc;     /* it; or NULL */
  Mat                  A;      /* the operator in MATAIJ, where the program has none */
  PetscInt             cycles; /* that were measured; 0: none */
  PetscReal            left;   /* of noise, by all of these, */
  PetscReal            last;   /* of what was left before it, by the last one, */
  PetscReal            ahead;  /* and of noise, by the number of cycles that decides */
  PetscInt             its;    /* of the first solve since then; 0: there was none */
  PetscBool            grown;  /* a later one has taken more by half */
  const char          *why;    /* nothing was measured where facts asked for it; or NULL */
} KCycleFallbackState;

/* What became of the solve that was looked at; see answer.c */
typedef struct {
  PetscBool always;           /* each solve is looked at, and a wrong one is an error */
  PetscBool due;              /* none has been since set-up */
  PetscBool wrong;            /* the norm that KSP looks at has come down, the residual has not, */
  PetscReal claimed, reduced; /* to these parts of what they were */
} KCycleAnswer;

/* Full multigrid; see fmg.c */
typedef struct {
  PCKCycleFMGInterpolationType interpolation; /* of solutions */
  /* of each level, coarsest first; or NULL: as corrections are interpolated */
  KCycleStarter               *starter[KCYCLE_MAX_LEVELS];
  PetscBool                    monitor; /* errors of levels are shown */
  Vec          rhs[KCYCLE_MAX_LEVELS];  /* right sides that were given, coarsest first; or NULL: restricted */
  PetscScalar *watched;                 /* room for x of any level, while it is watched */
  PetscScalar *kept[2];                 /* x of the level before, and of this one */
} KCycleFMG;

/* Time of each component on each level; see profile.c */
typedef struct {
  PetscBool  wanted;
  PetscBool  shown;       /* when the PC is reset or destroyed, */
  char      *file;        /* in this file, or NULL: on the screen; */
  PetscBool  csv, append; /* as numbers between commas, after what the file has */
  PetscReal  seconds;     /* of all cycles, */
  PetscInt64 cycles;      /* and their number */
  PetscBool  on;          /* cycles that run count */
  double     since;
} KCycleProfiling;

/* The split between device and host with which cycles are fastest */
#define KCYCLE_HOST_BELOW_AUTO  (-1)
/* No level has its sweeps fused */
#define KCYCLE_TILE_ABOVE_NEVER (-1)

/* Sizes of levels from which, or to which, something is done. All numbers: they are compared as memory */
typedef struct {
  PetscInt host_below;   /* levels with fewer unknowns are on the host */
  PetscInt block_below;  /* levels on a device with fewer unknowns are in one kernel, */
  PetscInt matrix_below; /* and what they do is a product with a matrix */
  PetscInt tile_above;   /* sweeps on a device are fused from this number of unknowns on */
  PetscInt
      overlap_above; /* halos are sent while inner points are computed, from this number of points of a process on */
  PetscInt ghost_points; /* of a process, by which they may exceed its own points; -1: none */
} KCycleLimits;

/* Parts of a grid that nothing flows out of; see closed.c */
typedef struct {
  MPI_Comm  comm;
  PetscInt  npoints, n;
  PetscInt *part;   /* of each point of this process, or -1 */
  PetscBool others; /* there are parts that are not closed */
} KCycleClosed;

/*
  PCKCYCLE inherits from PCMG (or from PCGAMG, which itself does): pc->data is theirs, ours hangs on the PC as a
  container.
*/
typedef struct {
  /* parameters */
  PetscInt                  kappa;          /* cycle counter of the finest level */
  PetscBool                 kappa_set;      /* by the program or an option */
  PetscBool                 kappa_of_cycle; /* as the type of PCMG's cycle, v or w */
  PCKCycleHierarchyType     hierarchy;      /* where levels are to come from */
  PCKCycleStructuredType    structured;     /* are structured levels wanted? */
  PCKCycleGridType          grid;
  PCKCycleInterpolationType interpolation;
  PCKCycleAnisotropyType    anisotropy;
  PCKCyclePrecisionType     precision; /* of levels, as asked for */
  PCKCyclePlaceType         place;     /* where structured levels are to be */
  KCycleLimits              limits;
  PetscBool                 graph;          /* cycles on a device are recorded */
  PetscBool                 count;          /* the bytes that their kernels move */
  PetscReal                 overcorrect;    /* factor of corrections from coarser levels to the finest one */
  PetscInt                  proc_eq_limit;  /* with fewer points a process levels are agglomerated */
  char                      semicoarsen[8]; /* directions to coarsen, or "auto" */
  PetscBool                 galerkin_set;   /* -pc_mg_galerkin was given */
  PetscBool                 galerkin_none;  /* as none */
  PetscBool                 options_used;   /* PCSetFromOptions() has been called, */
  PetscBool                 reading;        /* and is at work */
  PetscInt                  nlevels_option; /* -pc_mg_levels when it was called; 0: not given */
  PetscBool                 distinct;       /* -pc_mg_distinct_smoothup then */

  /* found at set-up */
  struct _PCOps base;                                     /* operations of the inherited type */
  PetscErrorCode (*set_levels)(PC, PetscInt, MPI_Comm *); /* and its PCMGSetLevels() */
  /* and its PCSetCoordinates(), if it has one */
  PetscErrorCode (*set_coordinates)(PC, PetscInt, PetscInt, PetscReal *);
  PCKCycleHierarchyType levels_from; /* where levels came from */
  /* number of levels that this type chose; 0 if the program or an option did */
  PetscInt              nlevels_chosen;
  /* more levels than there are were asked for; else 0 */
  PetscInt              nlevels_asked;
  PetscBool             nlevels_fixed;    /* levels stay on all processes: the program may look for them there */
  PetscBool             grid_of_operator; /* the PC's DM was taken from the operator, */
  PetscObjectId         grid_id;          /* and was this one */
  PetscObjectId         operator_id;      /* that it was set up for last; 0: none */
  KCycleFound           found;
  PetscBool             galerkin_chosen; /* this type chose Galerkin coarse operators */
  KCycleKernel          kernel;
  /* the kernel is spanned by the constant vector, from the right and from the left */
  PetscBool             kernel_constant;
  Mat                   singular;        /* the coarsest operator that got its kernel as its null space, */
  MatNullSpace          singular_had[2]; /* the null spaces that it had before, from the right and from the left, */
  PetscObjectId         singular_got[2]; /* and those that it got; 0: it kept what it had */
  KCyclePivot           pivot;           /* of the factorization of the coarsest problem */
  PC                    svd;             /* PCSVD in the place of the coarsest solver's preconditioner, */
  PC                    svd_before;      /* which was this */
  PetscReal             scale;           /* largest diagonal entry of the operator, a yardstick for pivots */
  PetscBool             gaps;            /* parts of the grid may be closed */
  PetscBool             holes;           /* or there are isolated points */
  PetscInt              nclosed;         /* closed parts of the coarsest grid, where holes are */
  PetscBool             convects;        /* the finest operator has convection */
  PetscBool             cutlines;        /* lines of the finest grid are cut by inactive points */
  PetscBool             revisits;        /* cycles visit coarser levels more than once: sweeps are made for it */
  PetscBool             use_structure;   /* levels are structured */
  char                  general[320];    /* why they are not */
  PetscBool             use_grids;       /* levels are ordinary matrices on coarser grids of a DMDA */
  char                  nogrids[256];    /* why they are not, where that was asked */
  char                  instead[512];    /* why levels are not those that were asked for, or that a grid would have */
  char                  type[64];        /* of the operators of levels that are not structured, at the last set-up */
  PetscBool             gamg;            /* the type inherits from PCGAMG */
  PetscBool             assembled;       /* the program assembles the coarse operators of structured levels */
  PetscInt              nchoices;        /* length of choice */
  KCycleChoice (*choice)[2];             /* of the solvers of levels, down and up, coarsest first */
  /* the program's coarsest solver, while levels are made anew and with those of PCGAMG, which has had another one */
  KSP                 coarse, coarse_gamg;
  KCycleChoice        coarse_choice;
  PC_MG               mg;              /* what PCMG had been told when PCGAMG took its place, */
  PetscInt            nlevels_before;  /* and the number of levels that was asked for; 0: none */
  PetscBool           choosing;        /* PCMGSetLevels() is called by this type */
  PCMGGalerkinType    galerkin_before; /* what PCMG was to do for coarse operators before they were given to it */
  PetscInt            ngrids;          /* levels that are made here: structured ones, or ordinary matrices on grids */
  KCycleGridLevel     grids[KCYCLE_MAX_LEVELS]; /* finest first */
  /* see rightside.c; D on the points of this process, where levels are those of D A, or NULL */
  PetscScalar        *d;
  Mat                 plain; /* and A as a stencil */
  /* D, and what the finest level has as its right side where that is another one, or work between cycles */
  Vec                 prepared[2];
  /* of the last solve with a singular operator: the part of its right side that is in no image */
  PetscReal           gap;
  MatNullSpace        range, nullspace; /* which is this, and the kernel, */
  PetscBool           projects;         /* while they are taken out of right sides, and of solutions, */
  PetscBool           always;           /* as in all solves since the last set-up */
  KCycleFiner         finer;
  KCycleGathered      gathered;
  Mat                 coarsest; /* operator of the coarsest level as an ordinary matrix */
  /* the operator that the stencil was made from, and its state then; 0: the stencil is the operator itself */
  PetscObjectId       source;
  PetscObjectState    source_state;
  PetscBool           ready; /* the hierarchy is set up */
  /* set-up has seen the levels that are there: their solvers know the options, or were chosen here */
  PetscBool           levels_used;
  PetscBool           busy;         /* set-up is at work, or an error has ended it */
  char                failure[256]; /* why the last set-up failed, or empty */
  /* the coarsest solver reads its initial guess, which must then be zeroed (KSPSetComputeInitialGuess() makes it so) */
  PetscBool           coarse_reads;
  PetscBool           coarse_continues; /* the coarsest solver starts from the iterate, so a second call improves it */
  PetscInt            nlevels;          /* length of level */
  KCycleLevel        *level;            /* coarsest first */
  const KCycleEngine *engine;           /* that runs the cycle where all levels are ours; or NULL, */
  char                handed[512];      /* and why the levels are handed to PCMG */
  PetscBool           tolerant;         /* the Krylov method tolerates rounding of corrections; not before a solve */
  PetscBool           followed;         /* that is known, or will not be told */
  PetscBool           waits;            /* levels may be in single precision then: they have no ghost points yet */
  char                precise[128];     /* why levels are not in single precision, if that was to be found out */
  KCycleMemorySpace   at;               /* where the engine has its levels, */
  char                onhost[400];      /* and why some, or all, are on the host, though the vectors are on a device */
  KCycleLevels       *levels;
  PetscBool           inverted;    /* levels on a device have the inverse of the coarsest operator, */
  const char         *notinverted; /* or why they have not */
  KCycleSplit         split;       /* of levels on a device and on the host */
  KCycleDeviceCopy    devicecopy;
  KCycleLevelParts   *parts;                      /* coarsest first */
  Vec                 correction;                 /* of KSPRICHARDSON, where levels have their own numbers */
  Vec                 residual;                   /* of the finest of levels on a device */
  Vec                 staged[2];                  /* right side and solution of these for vectors of the host */
  PetscObjectState    attached;                   /* of the finest operator, when its copy there was made */
  PetscBool           symmetric, symmetric_known; /* the operators of all levels */
  PetscInt64         *calls;                      /* what PCKCycleGetLevelCalls() hands out, finest first */
  Vec                 rhs; /* copy of the right side, for smoothers that change theirs in presolve */
  /* of structured levels: right side and solution of the finest one, on arrays of other vectors */
  Vec                 host[2];
  PetscBool           device;    /* the solver's vectors are on a device */
  PetscInt            dimension; /* 0: PCSetCoordinates() has not been called */
  PetscInt            ncoordinates;
  PetscReal          *coordinates;
  Mat                 copy;        /* the operator in MATAIJ, where its own type does not have its entries in rows, */
  PetscObjectId       copied;      /* which is this one; */
  PetscBool           copy_blocks; /* also where they are in blocks */
  KCycleOwn           own;
  KCycleTiming        timing;
  KCycleAuto          automatic; /* choice of kappa */
  KCyclePredict       predict;   /* and of sweeps */
  KCycleUnknowns      unknowns;  /* of a point */
  KCycleAnswer        answer;    /* of solves */
  KCycleFallbackState fallback;
  KCycleFMG           fmg;
  KCycleProfiling     profiling;
} PC_KCycle;

static inline PetscBool PCKCycleCounts(const PC_KCycle *kc)
{
  return (PetscBool)(kc->count || kc->profiling.wanted);
}

/* The grid of level l */
#define KCycleGridOf(kc, l) (&(kc)->grids[(kc)->ngrids - 1 - (l)])

#include "functions.h"

/* Set functions ignore a preconditioner of another type; before set-up */
#define KC_KCYCLE_SET(pc, member, value)                                                                   \
  do {                                                                                                     \
    PC_KCycle *kc_ = KCycleOf(pc);                                                                         \
                                                                                                           \
    if (kc_) PetscCall(KCycleCheckSettable(pc, (PetscBool)(kc_->member == (value)), PETSC_FUNCTION_NAME)); \
    if (kc_) kc_->member = (value);                                                                        \
  } while (0)

/* and at any time */
#define KC_KCYCLE_CHANGE(pc, member, value) \
  do {                                      \
    PC_KCycle *kc_ = KCycleOf(pc);          \
                                            \
    if (kc_ && kc_->member != (value)) {    \
      kc_->member = (value);                \
      PetscCall(PCKCycleApplyChoice(pc));   \
    }                                       \
  } while (0)

#define KC_KCYCLE_GET(pc, member, value)     \
  do {                                       \
    PC_KCycle *kc_;                          \
                                             \
    PetscCall(PCKCycleGetContext(pc, &kc_)); \
    *(value) = kc_->member;                  \
  } while (0)
