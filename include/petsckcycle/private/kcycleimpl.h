/*
  What the files of PCKCYCLE share.
*/
#pragma once

#include <petsckcycle.h>
#include <petsckcycle/private/compat.h>
#include <petsc/private/pcmgimpl.h>
#include <petsc/private/kspimpl.h>

/* The phases of a cycle that -pc_mg_log shows for each level */
typedef enum {
  KCYCLE_SMOOTH,
  KCYCLE_RESIDUAL,
  KCYCLE_RESTRICT,
  KCYCLE_INTERPOLATE,
  KCYCLE_COARSE,
  KCYCLE_NUM_PHASES
} KCyclePhase;

/* What is known of the kernel of the operator */
typedef enum {
  KCYCLE_REGULAR,       /* no sign of a kernel */
  KCYCLE_NULLSPACE,     /* a null space is attached to the operator */
  KCYCLE_ZERO_ROW_SUMS, /* none attached, but the operator maps constants to zero */
} KCycleKernel;

/* One level; level 0 is the coarsest, as in PCMG */
typedef struct {
  PetscInt64    calls;                    /* calls of the cycle since set-up */
  PetscLogEvent event[KCYCLE_NUM_PHASES]; /* 0: not logged */
} KCycleLevel;

/*
  PCKCYCLE inherits from PCMG (or from PCGAMG, which itself does): pc->data is theirs, ours hangs on the PC as a container.
*/
typedef struct {
  /* parameters */
  PetscInt          kappa;        /* cycle counter of the finest level */
  PetscBool         kappa_set;    /* somebody chose it */
  PCKCycleHierarchy hierarchy;    /* where levels are to come from */
  PetscBool         galerkin_set; /* -pc_mg_galerkin was given */
  PetscBool         options_used; /* PCSetFromOptions() has been called */

  /* found at set-up */
  struct _PCOps     base;             /* operations of the inherited type */
  PCKCycleHierarchy levels_from;      /* where levels came from */
  PetscInt          nlevels_chosen;   /* number of levels that this type chose; 0 if somebody else did */
  PetscBool         grid_of_operator; /* the PC's DM was taken from the operator */
  PetscBool         galerkin_chosen;  /* this type chose Galerkin coarse operators */
  KCycleKernel      kernel;
  PetscBool         kernel_constant;  /* the kernel is spanned by the constant vector, from the right and from the left */
  PetscReal         scale;            /* largest diagonal entry of the operator, a yardstick for pivots */
  PetscBool         ready;            /* the hierarchy is set up */
  char              failure[256];     /* why the last set-up failed, or empty */
  PetscBool         coarse_reads;     /* the coarsest solver reads its initial guess, which must then be zeroed (KSPSetComputeInitialGuess() makes it so) */
  PetscBool         coarse_continues; /* the coarsest solver starts from the iterate, so a second call improves it */
  PetscInt          nlevels;          /* length of level */
  KCycleLevel      *level;            /* coarsest first */
  PetscInt64       *calls;            /* what PCKCycleGetLevelCalls() hands out, finest first */
  PetscInt64        cycles;           /* calls of the cycle on the finest level since set-up */
  Vec               rhs;              /* copy of the right side, for smoothers that change theirs in presolve */
} PC_KCycle;

/* kcycle.c: the type */
PETSC_INTERN PetscErrorCode PCCreate_KCycle(PC);
PETSC_INTERN PetscErrorCode PCFinalizePackage_KCycle(void);
PETSC_INTERN PetscErrorCode PCKCycleGetContext(PC, PC_KCycle **);
PETSC_INTERN PetscErrorCode PCKCycleInstall(PC);

/* kcsetup.c: the hierarchy */
PETSC_INTERN PetscErrorCode PCSetUp_KCycle(PC);
PETSC_INTERN PetscErrorCode PCKCycleChooseLevels(PC, PetscBool);

/* kccheck.c: the operator and the coarsest solver */
PETSC_INTERN PetscErrorCode PCKCycleCheckOperator(PC);
PETSC_INTERN PetscErrorCode PCKCycleCoarseBefore(PC);
PETSC_INTERN PetscErrorCode PCKCycleCoarseAfter(PC);

/* kccycle.c: Algorithm 3 */
PETSC_INTERN PetscErrorCode PCApply_KCycle(PC, Vec, Vec);
PETSC_INTERN PetscErrorCode PCApplyTranspose_KCycle(PC, Vec, Vec);
PETSC_INTERN PetscErrorCode PCMatApply_KCycle(PC, Mat, Mat);
PETSC_INTERN PetscErrorCode PCApplyRichardson_KCycle(PC, Vec, Vec, Vec, PetscReal, PetscReal, PetscReal, PetscInt, PetscBool, PetscInt *, PCRichardsonConvergedReason *);

/* kcview.c: -ksp_view */
PETSC_INTERN PetscErrorCode PCView_KCycle(PC, PetscViewer);
