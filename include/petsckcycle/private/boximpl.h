/*
  The part of a DMDA that a process owns, see kernelimpl.h, and the exchange of its halos.
*/
#pragma once

#include <petsckcycle/private/compat.h>
#include <petsckcycle/private/kernelimpl.h>
#include <petscdmda.h>
#include <petscsf.h>

/* Leaves of an exchange, and the roots that they get their values from, while they are collected */
typedef struct {
  PetscInt     n, *leaf;
  PetscSFNode *root;
} KCycleLeaves;

PETSC_INTERN PetscErrorCode KCycleDMDACheck(DM, size_t, char[]);
PETSC_INTERN PetscErrorCode KCycleNumberRows(const PetscInt[], PetscInt *const[], PetscInt, PetscInt **);

/* Attached to the DM, made when first asked for; lives as long as the DM */
PETSC_INTERN PetscErrorCode KCycleBoxGet(DM, KCycleBox **);
PETSC_INTERN PetscErrorCode KCycleBoxCheck(DM, size_t, char[]);
PETSC_INTERN PetscErrorCode KCycleBoxHaloCreate(const KCycleBox *, PetscScalar **);
PETSC_INTERN PetscErrorCode KCycleBoxExchangeBegin(const KCycleBox *, PetscBool, const KCScalar *, KCScalar *);
PETSC_INTERN PetscErrorCode KCycleBoxExchangeEnd(const KCycleBox *, PetscBool, const KCScalar *, KCScalar *);
/* for smoothers of programs */
PETSC_EXTERN PetscErrorCode KCycleBoxExchange(const KCycleBox *, PetscBool, const KCScalar *, KCScalar *);
PETSC_INTERN PetscSF        KCycleBoxGetSF(const KCycleBox *, PetscBool corners);
PETSC_INTERN PetscErrorCode KCycleBoxReduce(const KCycleBox *, const KCScalar *, KCScalar *);
PETSC_INTERN PetscErrorCode KCycleBoxRowToPoint(const KCycleBox *, PetscInt, PetscInt[]);
PETSC_INTERN PetscInt       KCycleBoxPointToRow(const KCycleBox *, const PetscInt[]);
PETSC_INTERN PetscMPIInt    KCycleBoxOwner(const KCycleBox *, const PetscInt[], PetscInt[], PetscInt[]);
