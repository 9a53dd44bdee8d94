/*
  What the files of PCRELAX share, and what PCKCYCLE uses of it: sweeps over a stencil matrix that also restrict or
  interpolate.
*/
#pragma once

#include <petsckcycle/private/choiceimpl.h>
#include <petsckcycle/private/clusterimpl.h>
#include <petsckcycle/private/transferimpl.h>
#include <petsc/private/pcimpl.h>

typedef struct {
  /* parameters */
  char                type[64];
  PetscReal           omega; /* damping; 0: chosen */
  PCRelaxOrderType    order;
  PetscInt            degree;        /* of Chebyshev polynomials */
  char                directions[4]; /* of alternating lines, or across planes, in their order; "": all */
  PCRelaxClustersType clustering;
  /* sweeps are those of KSPRICHARDSON: no Krylov method asks for a symmetric preconditioner */
  PetscBool           smoothing;
  PetscBool           reverse;   /* the cycle is on its way up: sweep in the reverse order */
  char                lines[4];  /* directions of the lines that auto is to relax, */
  char                planes[4]; /* and across which it is to relax planes; both "": points */
  PetscInt            origin[3]; /* parity of the points whose colour comes first: those that the coarse grid keeps */
  PetscInt            factor[3]; /* by which directions are coarsened; 0: there is no coarser grid */
  PetscInt            ratio;     /* of the points of the finest grid to those of this one; 0: this is not a level */

  /* found at set-up */
  Mat              A; /* the operator as a MATSTENCIL */
  KCycleSmoother  *smoother;
  PetscObjectState symmetric; /* of A when it was found symmetric, which the transpose needs; -1: not yet */
  Vec              work[2];   /* of sweeps on a device */
} PC_Relax;

/* With auto resolved */
static inline PCRelaxOrderType KCycleRelaxOrder(const PC_Relax *relax)
{
  if (relax->order != PC_RELAX_ORDER_AUTO) return relax->order;
  return relax->smoothing ? PC_RELAX_ORDER_FORWARD : PC_RELAX_ORDER_SYMMETRIC;
}

PETSC_INTERN PetscErrorCode PCSetFromOptions_Relax(PC, KCycleOptionItems);
PETSC_INTERN PetscErrorCode PCRelaxSetReverse(PC, PetscBool);
PETSC_INTERN PetscErrorCode PCRelaxSetOrigin(PC, const PetscInt[]);
PETSC_INTERN PetscErrorCode PCRelaxSetCoarsened(PC, const PetscInt factor[], const PetscInt origin[], PetscInt ratio);
PETSC_INTERN PetscErrorCode PCRelaxSetLines(PC, const char lines[], const char planes[]);
PETSC_INTERN PetscErrorCode PCRelaxIsAuto(PC, PetscBool *);
PETSC_INTERN PetscErrorCode PCRelaxGetSmoother(PC, Mat A, KCycleSmoother **, PCRelaxOrderType *);
PETSC_INTERN PetscErrorCode PCRelaxRenew(PC);

/* relaxdevice.c: sweeps on a device */
#if defined(KCYCLE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode KCycleRelaxIsOnDevice(const PC_Relax *, Vec b, Vec x, PetscBool *);
PETSC_INTERN PetscErrorCode KCycleRelaxSweepsOnDevice(PC_Relax *, const KCycleSweeps *, Vec b, Vec x);
#else
  #define KCycleRelaxIsOnDevice(relax, b, x, device)     (*(device) = PETSC_FALSE, PETSC_SUCCESS)
  #define KCycleRelaxSweepsOnDevice(relax, sweeps, b, x) PETSC_ERR_PLIB
#endif

/* planesolver.c */
PETSC_INTERN PetscErrorCode KCyclePlaneSolversCreate(const KCycleSmoother *, const char directions[],
                                                     KCyclePlaneSolvers **);
