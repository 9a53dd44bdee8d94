/*
  What the files of PCDEFLSUB share, and what KSPDPCG uses of it.

  Z has a column for each subdomain, 1 on its points. A Z is not zero where a row reaches another subdomain, or where
  its sum is not zero:

    (A Z y)_i = sum over j of a_ij (y_j - y_i) + s_i y_i,   s_i the sum of row i, y_j the value of point j's subdomain

  so only couplings between subdomains are kept, grouped by pairs of subdomains, and sums of rows as couplings with the
  exterior, where y is zero.
*/
#pragma once

#include <petsckcycle/private/choiceimpl.h>
#include <petsckcycle/private/dpcgimpl.h>
#include <petsckcycle/private/failureimpl.h>
#include <petsckcycle/private/rowsimpl.h>
#include "subdomain.h"
#include <petsc/private/pcimpl.h>
#include <petsc/private/kspimpl.h>

/* Couplings that differ by more than this factor may be an interface */
#define KC_DEFLSUB_JUMP 1.4

typedef struct {
  /* parameters */
  PCDeflSubType       type;
  PCDeflSubFormType   form;
  PCDeflSubCoarseType coarsetype;
  PetscInt            boxes[3]; /* in each direction; 0: chosen */
  PetscInt            size;     /* unknowns that a subdomain is to have; 0: chosen */
  PetscReal           jump;     /* couplings that differ by more than this factor are a jump */
  IS                  given;    /* labels of unknowns, given by the user; or NULL */
  Vec                 coefficient;
  PetscObjectState    coefficient_state; /* when it was given */
  PetscViewer         viewer;            /* shows labels */
  PetscViewerFormat   format;

  /* owned */
  PC  inner;  /* M^-1 */
  KSP coarse; /* E^-1 */

  /* found at set-up */
  PetscInt     n;        /* unknowns of this process */
  PetscInt     number;   /* subdomains */
  PetscInt    *label;    /* of unknowns of this process */
  PetscInt     sizes[2]; /* of the smallest and the largest subdomain */
  PetscInt     nomitted; /* vectors left out of Z, since E is singular with them */
  PetscBool    onesided; /* the operator is not symmetric: points are coupled to isolated ones */
  PetscBool    known;    /* subdomains and E are those of a set-up that was completed */
  PetscInt     nlocal;   /* subdomains that rows of this process touch; in local numbers nlocal is the exterior */
  PetscInt    *global;   /* their labels, ascending */
  PetscInt     nruns;    /* Z: runs of unknowns with the same label */
  PetscInt    *run;      /* where each run begins, and the end of the last */
  PetscInt    *runlabel; /* local number; the exterior: isolated unknowns */
  PetscInt     npairs;   /* A Z: pairs of subdomains */
  PetscInt    *own, *other;
  PetscInt    *start; /* first entry of each pair */
  PetscInt    *row;   /* of entries */
  PetscScalar *value;
  PetscSF      sf;    /* from coarse vectors to local numbers */
  Mat          E;     /* scaled to a diagonal of ones */
  Vec          scale; /* its scaling; 0 where a vector has been left out */
  Vec          s, y;  /* coarse vectors */
  /* of Z^T A Z, dense, if it is what is applied; on all processes but the first it has no rows */
  Mat          inverse;
  Vec          in, out;       /* its vectors */
  PetscBool    direct;        /* local numbers are those of E, and the inverse is applied to them */
  Vec          a, b;          /* values of touched subdomains and the exterior, on this process */
  Mat          Z, ZT, C, AZT; /* on a device, otherwise NULL; C = -A Z */
  Vec          local;         /* with more than one process: the entries of a vector on this one */
  Vec          t;             /* work */
  PetscInt     solves;        /* KSPSolve()s in progress whose start is deflated */
  PetscBool    nonzero;       /* whether the start was to be used before */
} PC_DeflSub;

/* The operator of the Krylov method, if -pc_use_amat, or that of preconditioners */
static inline Mat PCDeflSubOperator(PC pc)
{
  return pc->useAmat ? pc->mat : pc->pmat;
}

/* Events */
typedef enum {
  DEFLSUB_LABEL,
  DEFLSUB_AZ,
  DEFLSUB_E,
  DEFLSUB_FACTOR,
  DEFLSUB_ZT,
  DEFLSUB_SOLVE,
  DEFLSUB_CORRECT,
  DEFLSUB_NUM_EVENTS
} PCDeflSubEvent;
PETSC_INTERN PetscLogEvent PCDeflSubEvents[DEFLSUB_NUM_EVENTS];

/* Products with vectors of this process: those with transposes are stored, the others are added */
typedef enum {
  DEFLSUB_PRODUCT_ZT,  /* a = Z^T x */
  DEFLSUB_PRODUCT_AZT, /* a = (A Z)^T x */
  DEFLSUB_PRODUCT_Z,   /* x += Z a */
  DEFLSUB_PRODUCT_AZ   /* x -= A Z a */
} PCDeflSubProduct;

/* deflsub.c */
PETSC_INTERN PetscErrorCode PCDeflSubCreateInner(PC);
PETSC_INTERN PetscErrorCode PCDeflSubMultiply(PC, PCDeflSubProduct, Vec, Vec);
PETSC_INTERN PetscErrorCode PCDeflSubSolveZT(PC, Vec, Vec);

/* dsspace.c: Z and A Z */
PETSC_INTERN PetscErrorCode PCDeflSubSpaceCreate(PC, KCycleRows *, PetscBool *same);
PETSC_INTERN PetscErrorCode PCDeflSubSpaceReset(PC_DeflSub *);
PETSC_INTERN void           PCDeflSubZT(const PC_DeflSub *, const PetscScalar *x, PetscScalar *a);
PETSC_INTERN void           PCDeflSubZ(const PC_DeflSub *, const PetscScalar *a, PetscScalar *x);
PETSC_INTERN void           PCDeflSubAZ(const PC_DeflSub *, const PetscScalar *a, PetscScalar *x);
PETSC_INTERN void           PCDeflSubAZT(const PC_DeflSub *, const PetscScalar *x, PetscScalar *a);

/* dsdevice.c: they as matrices of a device */
PETSC_INTERN PetscErrorCode PCDeflSubDeviceSetUp(PC, PetscBool same);
PETSC_INTERN PetscErrorCode PCDeflSubDeviceReset(PC_DeflSub *);
PETSC_INTERN PetscErrorCode PCDeflSubDeviceHasDense(const PC_DeflSub *, PetscBool *dense);
PETSC_INTERN PetscErrorCode PCDeflSubDeviceFrom(const PC_DeflSub *, Mat, Vec x, Vec a);
PETSC_INTERN PetscErrorCode PCDeflSubDeviceTo(const PC_DeflSub *, Mat, Vec a, Vec x);

/* dscoarse.c: E */
PETSC_INTERN PetscErrorCode PCDeflSubCoarseCreateKSP(PC);
PETSC_INTERN PetscErrorCode PCDeflSubCoarseSetUp(PC, PetscBool same);
PETSC_INTERN PetscErrorCode PCDeflSubCoarseSolveScaled(PC);
PETSC_INTERN PetscErrorCode PCDeflSubCoarseSolve(PC, Vec a);

/* dsinverse.c: its dense inverse */
PETSC_INTERN PetscErrorCode PCDeflSubInverseChoose(PC, PetscBool *wanted);
PETSC_INTERN PetscErrorCode PCDeflSubInverseSetUp(PC);
PETSC_INTERN PetscErrorCode PCDeflSubInverseReset(PC_DeflSub *);

/* dslabels.c, dsinterface.c: subdomains */
PETSC_INTERN PetscErrorCode PCDeflSubCheckCount(PC, PetscInt unknowns, PetscInt count, const char what[]);
PETSC_INTERN PetscErrorCode PCDeflSubLabel(PC, KCycleRows *, PetscBool *same);
PETSC_INTERN PetscErrorCode PCDeflSubCutInterface(PC, KCycleRows *, const KCycleSubdomains *, PetscInt label[],
                                                  PetscInt *number);

/* dsoptions.c: functions and options */
PETSC_INTERN PetscErrorCode PCSetFromOptions_DeflSub(PC, KCycleOptionItems);
PETSC_INTERN PetscErrorCode PCDeflSubShowLabels(PC);

/* dsview.c */
PETSC_INTERN PetscErrorCode PCView_DeflSub(PC, PetscViewer);
