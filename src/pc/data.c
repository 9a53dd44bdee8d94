/*
  What types of preconditioners and Krylov methods share: their events, and their data for functions that may be called
  with another type.
*/
#include <petsckcycle/private/choiceimpl.h>

/* The data of a preconditioner, or NULL if it is of another type */
PetscErrorCode KCyclePCQuery(PC pc, PCType type, void *data)
{
  PetscBool is;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, type, &is));
  *(void **)data = is ? pc->data : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The data of a preconditioner that must be of this type */
PetscErrorCode KCyclePCRequire(PC pc, PCType type, void *data)
{
  PetscFunctionBegin;
  PetscCall(KCyclePCQuery(pc, type, data));
  PetscCheck(*(void **)data, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "The preconditioner is of type %s, and this function is for type %s: call PCSetType(pc, \"%s\") before",
             ((PetscObject)pc)->type_name ? ((PetscObject)pc)->type_name : "(none)", type, type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSP asks for the reason of a failure after this, and would find that of an earlier solve where values were
   repaired without KSPSetOperators() */
PetscErrorCode KCyclePCSetUpOnBlocks(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleRegisterEvents(PetscClassId classid, int n, const char *const names[], PetscLogEvent events[])
{
  PetscFunctionBegin;
  for (int e = 0; e < n; e++) {
    PetscCall(PetscLogEventGetId(names[e], &events[e]));
    if (events[e] < 0) PetscCall(PetscLogEventRegister(names[e], classid, &events[e]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleGrowList(PetscInt length, PetscInt *most, size_t size, void *list)
{
  PetscFunctionBegin;
  *most = length < PETSC_INT_MAX / 2 ? PetscMax(1024, length + length / 2) : PETSC_INT_MAX;
  PetscCall(PetscRealloc(*most * size, (void **)list));
  PetscFunctionReturn(PETSC_SUCCESS);
}
