/*
  What the files of PCINCPOISSON share.
*/
#pragma once

#include <petsckcycle/private/choiceimpl.h>
#include <petsckcycle.h>
#include <petsckcycle/private/rowsimpl.h>
#include <petsc/private/pcimpl.h>

/* The pattern of the operator: entries in its rows on this process */
typedef struct {
  PetscInt  start, end, total; /* rows of this process, of all */
  PetscInt  longest;           /* entries in a row, at most */
  PetscInt  outside;           /* entries in columns of other processes */
  PetscInt *below;             /* of each row: entries up to the diagonal in columns of this process, */
  PetscInt *belowother;        /* and of others */
} KCycleIPSurvey;

typedef struct {
  /* parameters */
  PCIncPoissonPatternType pattern;
  PCIncPoissonScalingType scaling;

  /* of the pattern, made at the first set-up */
  PetscObjectId  id;       /* of the operator that has it */
  PetscBool      known;    /* all of it */
  PetscBool      simple;   /* no three unknowns are coupled with each other */
  PetscInt64     excess;   /* of all processes: entries below the diagonal less those above it */
  PetscInt       unpaired; /* first row with an entry above the diagonal that has none below for it, or PETSC_INT_MAX */
  KCycleIPSurvey survey;   /* if K is made */
  PetscInt       nghost, nlow;
  /* columns of other processes with entries, ascending; the nlow first of them stand before this process's */
  PetscInt      *ghosts;

  /* made at set-up */
  Mat           M;     /* pattern matrix: the entries of K K^T where the operator has some */
  Mat           K, Kt; /* pattern full, or where M is made from K */
  /* with M: rows of K on this process and those of ghosts, in ascending order, in several processes */
  Mat          *all;
  Vec           work;         /* pattern full: K^T b */
  char          failure[256]; /* why the last set-up failed, or empty */
  PetscLogEvent event;
} PC_IncPoisson;

PETSC_INTERN PetscErrorCode PCIncPoissonFail(PC, const char format[], PetscInt row);
PETSC_INTERN PetscErrorCode PCIncPoissonFailNotFinite(PC, PetscInt mine);
PETSC_INTERN PetscErrorCode PCIncPoissonFirstRow(PC, PetscInt mine, PetscInt *row);

/* ipfactor.c: K, and M from it */
PETSC_INTERN PetscErrorCode PCIncPoissonFactorSetUp(PC, Vec diagonal);
PETSC_INTERN PetscErrorCode PCIncPoissonFactorReset(PC_IncPoisson *);

/* ipsimple.c: M where no three unknowns are coupled with each other */
PETSC_INTERN PetscErrorCode PCIncPoissonSimpleFind(PC);
PETSC_INTERN PetscErrorCode PCIncPoissonSimpleSetUp(PC, Vec diagonal);
