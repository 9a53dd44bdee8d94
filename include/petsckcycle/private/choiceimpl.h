/*
  What types of preconditioners and Krylov methods share: their parameters, lists and trees.
*/
#pragma once

#include <petsckcycle/private/compat.h>
#include <petsc/private/pcimpl.h>

/* names: of the values, and after them that of their type, its prefix and NULL, as PETSc has them */
static inline PetscErrorCode KCycleCheckChoice(PC pc, const char *const names[], int value)
{
  int n = 0;

  PetscFunctionBegin;
  while (names[n]) n++;
  PetscCheck(value >= 0 && value < n - 2, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "No value of %s has the number %d: they are numbered from 0 to %d", names[n - 2], value, n - 3);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* data.c: events of a class are registered once */
PETSC_INTERN PetscErrorCode KCycleRegisterEvents(PetscClassId, int n, const char *const names[], PetscLogEvent[]);

PETSC_INTERN PetscErrorCode KCyclePCSetUpOnBlocks(PC);

/* memory for a list that is to have this length; it has memory for most entries of this size */
PETSC_INTERN PetscErrorCode KCycleGrowList(PetscInt length, PetscInt *most, size_t size, void *list);

static inline PetscErrorCode KCycleGrow(PetscInt length, PetscInt *most, size_t size, void *list)
{
  return length <= *most ? PETSC_SUCCESS : KCycleGrowList(length, most, size, list);
}

/* The root of a tree, whose parent is itself; paths become shorter on the way */
static inline PetscInt KCycleRoot(PetscInt parent[], PetscInt i)
{
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

/* the data of a preconditioner, or NULL if it is of another type; or an error */
PETSC_INTERN PetscErrorCode KCyclePCQuery(PC, PCType, void *data);
PETSC_INTERN PetscErrorCode KCyclePCRequire(PC, PCType, void *data);

/* All of a function that sets or gets a parameter, a member of the type's data. Set functions ignore a preconditioner
   of another type; another value than before asks for a new set-up. The last argument is a statement that checks the
   value */
#define KC_PC_SET(pc, type, Data, member, Kind, value, ...)                   \
  PetscFunctionBegin;                                                         \
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);                                \
  PetscValidLogicalCollective##Kind(pc, value, 2);                            \
  __VA_ARGS__;                                                                \
  do {                                                                        \
    Data *kcdata_;                                                            \
                                                                              \
    PetscCall(KCyclePCQuery(pc, type, &kcdata_));                             \
    if (kcdata_ && kcdata_->member != (value)) pc->setupcalled = PETSC_FALSE; \
    if (kcdata_) kcdata_->member = (value);                                   \
  } while (0);                                                                \
  PetscFunctionReturn(PETSC_SUCCESS)

/* One of the values that have these names */
#define KC_PC_SET_ENUM(pc, type, Data, member, names, value) \
  KC_PC_SET(pc, type, Data, member, Enum, value, PetscCall(KCycleCheckChoice(pc, names, (int)(value))))

#define KC_PC_GET(pc, type, Data, member, value)    \
  PetscFunctionBegin;                               \
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);      \
  PetscAssertPointer(value, 2);                     \
  do {                                              \
    Data *kcdata_;                                  \
                                                    \
    PetscCall(KCyclePCRequire(pc, type, &kcdata_)); \
    *(value) = kcdata_->member;                     \
  } while (0);                                      \
  PetscFunctionReturn(PETSC_SUCCESS)
