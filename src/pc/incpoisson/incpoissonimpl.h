/*
  What the files of PCINCPOISSON share.
*/
#pragma once

#include <petsckcycle/private/choiceimpl.h>
#include <petsckcycle.h>
#include <petsckcycle/private/rowsimpl.h>
#include <petsc/private/pcimpl.h>

typedef struct {
  /* parameters */
  PCIncPoissonPatternType pattern;
  PCIncPoissonScalingType scaling;

  /* of the pattern, made at the first set-up */
  PetscObjectId id;     /* of the operator that has it */
  PetscBool     known;  /* it is symmetric */
  PetscBool     simple; /* M is given by the formula of ipsimple.c */

  /* made at set-up */
  Mat           M;            /* pattern matrix: the entries of K K^T where the operator has some */
  Mat           K, Kt;        /* pattern full, or where M is made from K */
  PetscInt      longest;      /* with K: entries of a row of the operator, at most */
  Vec           work;         /* pattern full: K^T b */
  char          failure[256]; /* why the last set-up failed, or empty */
  PetscLogEvent event;
} PC_IncPoisson;

PETSC_INTERN PetscErrorCode PCIncPoissonFailNotFinite(PC, PetscInt mine);
PETSC_INTERN PetscErrorCode PCIncPoissonFirstRow(PC, PetscInt mine, PetscInt *row);

/* ippattern.c */
PETSC_INTERN PetscErrorCode PCIncPoissonPatternFind(PC, PetscInt64 *excess, PetscInt *unpaired);

/* ipfactor.c: K, and M from it */
PETSC_INTERN PetscErrorCode PCIncPoissonFactorSetUp(PC, Vec diagonal);

/* ipsimple.c: M where no three unknowns are coupled with each other */
PETSC_INTERN PetscErrorCode PCIncPoissonSimpleSetUp(PC, Vec diagonal);
