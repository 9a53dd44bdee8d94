/*
  The part of a DMDA that a process owns, see kernelimpl.h, and the exchange of its halos.
*/
#pragma once

#include <petsckcycle/private/compat.h>
#include <petsckcycle/private/kernelimpl.h>
#include <petscdmda.h>
#include <petscsf.h>

/* Numbers of vectors, and sums of them, for MPI */
#if defined(KCYCLE_SINGLE)
  #define KC_MPI_NUMBER MPI_FLOAT
  #define KC_MPI_SUM    MPI_SUM
#else
  #define KC_MPI_NUMBER MPIU_SCALAR
  #define KC_MPI_SUM    MPIU_SUM
#endif

/* Leaves of an exchange, and the roots that they get their values from, while they are collected */
typedef struct {
  PetscInt     n, *leaf;
  PetscSFNode *root;
} KCycleLeaves;

/* What a grid is to be used for, each with all before it */
typedef enum {
  KCYCLE_BOX_ROWS,     /* for who owns what: every DMDA */
  KCYCLE_BOX_MATRICES, /* levels of ordinary matrices: what is not twisted */
  KCYCLE_BOX_KERNELS   /* those of the engine: one real unknown at a point and neighbours one point away */
} KCycleBoxUse;

/* Attached to the DM, made when first asked for; destroyed with the DM */
PETSC_INTERN PetscErrorCode  KCycleBoxGet(DM, KCycleBoxUse, KCycleBox **);
/* Says why it cannot be, or nothing */
PETSC_INTERN PetscErrorCode  KCycleBoxCheck(DM, KCycleBoxUse, size_t, char[]);
/* Grids without halos, and the DMDA of a grid, which is not set up */
PETSC_INTERN PetscErrorCode  KCycleBoxCreate(PetscInt dim, PetscInt dof, const PetscInt nproc[],
                                             const PetscInt *const owned[], PetscMPIInt rank, KCycleBox *);
PETSC_INTERN PetscErrorCode  KCycleBoxCoarsen(const KCycleBox *, const PetscInt factor[], const PetscInt origin[],
                                              PetscBool last, KCycleBox *);
PETSC_INTERN PetscErrorCode  KCycleBoxTurn(KCycleBox *, const int order[]);
PETSC_INTERN PetscErrorCode  KCycleBoxLay(KCycleBox *, PetscMPIInt rank);
PETSC_INTERN PetscErrorCode  KCycleBoxDestroy(KCycleBox *);
PETSC_INTERN PetscBool       KCycleBoxIsSame(const KCycleBox *, const KCycleBox *);
PETSC_INTERN PetscErrorCode  KCycleBoxCheckSame(MPI_Comm, const KCycleBox *, const KCycleBox *, const char what[]);
PETSC_INTERN PetscErrorCode  KCycleBoxCreateDM(MPI_Comm, const KCycleBox *, DM *);
PETSC_INTERN PetscErrorCode  KCycleBoxHaloCreate(const KCycleBox *, PetscScalar **);
/* Rounds of messages between kernels so far: exchanges of which one waits for the other */
PETSC_INTERN PetscInt64      KCycleRounds;
PETSC_INTERN PetscErrorCode  KCycleBoxExchangeBegin(const KCycleBox *, PetscBool, const KCScalar *, KCScalar *);
PETSC_INTERN PetscErrorCode  KCycleBoxExchangeEnd(const KCycleBox *, PetscBool, const KCScalar *, KCScalar *);
/* for smoothers of programs */
PETSC_EXTERN PetscErrorCode  KCycleBoxExchange(const KCycleBox *, PetscBool, const KCScalar *, KCScalar *);
/* The halo of an operator's grid from x */
static inline PetscErrorCode KCycleStencilExchange(const KCycleStencil *st, const KCScalar *x)
{
  return KCycleBoxExchange(st->box, (PetscBool)(st->shape.box != 0), x, st->halo);
}
PETSC_INTERN PetscSF        KCycleBoxGetSF(const KCycleBox *, PetscBool corners);
PETSC_INTERN PetscErrorCode KCycleBoxReduce(const KCycleBox *, const KCScalar *, KCScalar *);
PETSC_INTERN PetscInt       KCycleBoxRowToPoint(const KCycleBox *, PetscInt, PetscInt[]);
PETSC_INTERN PetscInt       KCycleBoxPointToRow(const KCycleBox *, const PetscInt[]);
PETSC_INTERN PetscInt       KCycleBoxProcess(const KCycleBox *, int d, PetscInt at);
PETSC_INTERN PetscSFNode    KCycleBoxRoot(const KCycleBox *, const PetscInt[]);

/* pool.c */
PETSC_INTERN PetscErrorCode KCyclePoolCreate(PetscInt64, KCyclePool *);
PETSC_INTERN PetscErrorCode KCyclePoolDestroy(KCyclePool *);
PETSC_INTERN PetscErrorCode KCyclePoolNew(KCyclePool *, PetscInt64, PetscInt64 *);
PETSC_INTERN PetscErrorCode KCyclePoolTrim(KCyclePool *);
PETSC_INTERN PetscErrorCode KCyclePoolCopy(const KCyclePool *, KCyclePool *);
