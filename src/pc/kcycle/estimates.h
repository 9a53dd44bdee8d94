/*
  What PCKCYCLE has estimated or measured: times and factors of its cycles.
*/
#pragma once

#include <petsckcycle.h>
#include <petsckcycle/private/fourierimpl.h>
#include <petsckcycle/private/modelimpl.h>
#include <petsckcycle/private/rooflineimpl.h>

/* What is known of the time of a cycle; see model.c. The first of the solvers that have the levels has it */
typedef struct {
  /* parameters */
  PetscBool calibrate;

  KCycleModel model;
  PetscBool   ready;     /* times of visits are known */
  PetscBool   described; /* levels are */
  PetscInt    cycles;    /* that were timed */
  PetscReal  *samples;   /* while cycles are timed */
  PetscBool   paused;    /* cycles that run do not count */
  /* of all cycles since then */
  PetscInt64  compared;
  PetscReal   measured, predicted;
} KCycleTiming;

/* What is known of cycles with one kappa; see autokappa.c */
typedef struct {
  PetscInt  kappa;
  PetscReal factor;   /* spectral radius of I - M A for one application M */
  PetscReal contrast; /* largest eigenvalue of M A over the smallest */
} KCycleCandidate;

typedef struct {
  PetscBool       wanted, chosen;
  PetscBool       richardson;   /* chosen for KSPRICHARDSON */
  PetscInt        n;            /* how many were tried */
  KCycleCandidate candidate[5]; /* by kappa */
  PetscReal       vectors;      /* seconds of an iteration of a Krylov method but for its preconditioner */
  PetscInt        cost;         /* cycles that were run to learn this, */
  PetscReal       seconds;      /* and all that it took, calibration included */
  Vec             image;        /* what the operator made of a fixed vector then */
  char            reason[64];   /* why there was nothing to choose; or empty */
} KCycleAuto;

/* What is predicted of a number of sweeps before and after the coarser levels */
typedef struct {
  PetscInt  nu;
  PetscReal factor;  /* of an error, in one cycle */
  PetscReal cycles;  /* that reduce residuals to KCYCLE_FORECAST */
  PetscReal seconds; /* of a cycle */
} KCycleForecast;

#define KCYCLE_FORECASTS 8
#define KCYCLE_FORECAST  ((PetscReal)1e-10)

/* The number of sweeps, and what is predicted of the solver; see predict.c */
typedef struct {
  /* parameters */
  PetscInt sweeps; /* as asked for */
  char    *file;   /* with the roofs of the machine; NULL: none */

  KCycleRoofline *roofline; /* of the file */
  PetscInt        chosen;   /* sweeps; 0: none were */
  PetscBool       ready;    /* levels have been looked at */
  char            why[128]; /* nothing can be predicted */
  KCycleFourier   analysed; /* what the forecasts are for */
  PetscInt        n;
  KCycleForecast  forecast[KCYCLE_FORECASTS];
  PetscReal       seconds[2]; /* of an iteration of a Krylov method but for its preconditioner: KSPCG, KSPKCG */
  PetscBool       richardson; /* KSPRICHARDSON iterates, */
  PetscBool       kcg;        /* or KSPKCG */
  PetscBool       timed;      /* seconds are those of the machine */
  PetscBool       single;     /* levels were in single precision */
  /* the last solve that could be compared */
  PetscLogDouble  start;
  PetscInt        its;
  PetscReal       reduced, elapsed;
} KCyclePredict;
