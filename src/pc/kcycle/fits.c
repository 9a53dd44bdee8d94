/*
  Do the grid and the operator belong together? Asked before anything is built on both.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/coarsenimpl.h>
#include <petsc/private/dmdaimpl.h>

/* Unknowns of a DM on this process: those of a DMDA, if that is what they should be, else of a vector that it makes;
   -1 where it does not say */
static PetscErrorCode CountUnknowns(DM dm, PetscInt expected, PetscInt *n)
{
  PetscBool isda, isshell;
  PetscInt  size[3], dof;
  int       mine, all;
  Vec       v;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &isda));
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMSHELL, &isshell));
  if (isda) {
    PetscCall(DMDAGetCorners(dm, NULL, NULL, NULL, &size[0], &size[1], &size[2]));
    PetscCall(DMDAGetDof(dm, &dof));
    *n = size[0] * size[1] * size[2] * dof;
  } else *n = -1;
  mine = *n == expected;
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, PetscObjectComm((PetscObject)dm)));
  if (all || isshell) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMCreateGlobalVector(dm, &v)); /* SNESVI has its own */
  PetscCall(VecGetLocalSize(v, n));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Describe(DM dm, size_t len, char text[])
{
  PetscInt  dof = 1;
  PetscBool isda;
  char      grid[128];

  PetscFunctionBegin;
  PetscCall(KCycleDMDescribe(dm, sizeof(grid), grid));
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &isda));
  if (isda) PetscCall(DMDAGetDof(dm, &dof));
  if (isda)
    PetscCall(
        PetscSNPrintf(text, len, "%s with %" PetscInt_FMT " unknown%s at each point", grid, dof, dof > 1 ? "s" : ""));
  else PetscCall(PetscSNPrintf(text, len, "%s", grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix was made on a DMDA with other points: as many in all they may be */
static PetscErrorCode CheckGrids(PC pc, DM of_matrix)
{
  PetscBool isda, areda;
  char      grid[2][192];

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc->dm, DMDA, &isda));
  PetscCall(PetscObjectTypeCompare((PetscObject)of_matrix, DMDA, &areda));
  if (!isda || !areda) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Describe(pc->dm, sizeof(grid[0]), grid[0]));
  PetscCall(Describe(of_matrix, sizeof(grid[1]), grid[1]));
  PetscCall(PetscStrcmp(grid[0], grid[1], &isda));
  PetscCheck(isda, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "The DM of the solver is a %s, that of its operator a %s: give KSPSetDM() the DM that the operator was "
             "made on, or none",
             grid[0], grid[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For levels that come from a DM of the program's, not from a grid that was found in the matrix */
PetscErrorCode PCKCycleCheckGrid(PC pc)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)pc);
  PC_KCycle  *kc   = KCycleOf(pc);
  DM          of_matrix;
  PetscInt    mine[2], all[2], first;
  PetscMPIInt rank;
  char        grid[192];

  PetscFunctionBegin;
  PetscCall(MatGetDM(pc->pmat, &of_matrix));
  if (kc->levels_from != PC_KCYCLE_HIERARCHY_DM && kc->levels_from != PC_KCYCLE_HIERARCHY_GRID &&
      kc->levels_from != PC_KCYCLE_HIERARCHY_UNKNOWNS)
    PetscFunctionReturn(PETSC_SUCCESS);
  if (kc->ready || !pc->dm || pc->dm == of_matrix || (kc->grid_of_operator && !of_matrix))
    PetscFunctionReturn(PETSC_SUCCESS);
  if (of_matrix) PetscCall(CheckGrids(pc, of_matrix));
  PetscCall(MatGetLocalSize(pc->pmat, &mine[1], NULL));
  PetscCall(CountUnknowns(pc->dm, mine[1], &mine[0]));
  if (mine[0] < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  first = mine[0] == mine[1] ? PETSC_INT_MAX : rank;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPIU_INT, MPI_MIN, comm));
  if (first == PETSC_INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Allreduce(mine, all, 2, MPIU_INT, MPI_SUM, comm));
  PetscCall(Describe(pc->dm, sizeof(grid), grid));
  PetscCheck(all[0] == all[1], comm, PETSC_ERR_ARG_SIZ,
             "The DM of the solver, a %s, has %" PetscInt_FMT " unknowns, its operator of type %s has %" PetscInt_FMT
             " rows: give KSPSetDM() the DM that the operator was made on, or none",
             grid, all[0], ((PetscObject)pc->pmat)->type_name, all[1]);
  PetscCallMPI(MPI_Bcast(mine, 2, MPIU_INT, (PetscMPIInt)first, comm));
  SETERRQ(
      comm, PETSC_ERR_ARG_SIZ,
      "The DM of the solver, a %s, has %" PetscInt_FMT " unknowns on process %" PetscInt_FMT
      ", its operator of type %s has %" PetscInt_FMT
      " rows there: make the operator with DMCreateMatrix(), or with the local sizes and the order of the DM's vectors",
      grid, mine[0], first, ((PetscObject)pc->pmat)->type_name, mine[1]);
}

/* Levels that are made here halve a grid. The options of a DMDA may ask for another factor;
   DMDASetRefinementFactor() is about finer grids only */
PetscErrorCode PCKCycleCheckRatio(PC pc, size_t len, char why[])
{
  const DM_DA   *da       = (DM_DA *)pc->dm->data;
  const PetscInt ratio[3] = {da->coarsen_x, da->coarsen_y, da->coarsen_z};
  PetscInt       dim;

  PetscFunctionBegin;
  PetscCall(DMGetDimension(pc->dm, &dim));
  for (PetscInt d = 0; d < dim && !why[0]; d++) {
    if (ratio[d] != 2)
      PetscCall(PetscSNPrintf(
          why, len, "-da_refine_%c asks for a factor of %" PetscInt_FMT " between grids, and these levels have 2",
          (int)('x' + d), ratio[d]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why coarse operators cannot be made here, from the matrix that is preconditioned with, or nothing */
PetscErrorCode PCKCycleCheckCoarse(PC pc, size_t len, char why[])
{
  PC_MG    *mg = (PC_MG *)pc->data;
  PetscBool finest, adapt;
  Mat       P;

  PetscFunctionBegin;
  PetscCall(PCMGGetAdaptInterpolation(pc, &adapt));
  if (adapt) PetscCall(PetscSNPrintf(why, len, "interpolations are to be adapted"));
  else if (pc->useAmat && pc->mat != pc->pmat) PetscCall(PetscSNPrintf(why, len, "-pc_use_amat"));
  for (PetscInt l = 0; mg->levels && l < mg->nlevels - 1 && !why[0]; l++) {
    PetscBool set;

    PetscCall(KSPGetOperatorsSet(mg->levels[l]->smoothd, NULL, &set));
    if (set && mg->galerkin != PC_MG_GALERKIN_EXTERNAL)
      PetscCall(PetscSNPrintf(why, len, "the program gave coarse operators"));
  }
  if (why[0] || !mg->levels || mg->nlevels < 2) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetOperatorsSet(mg->levels[mg->nlevels - 1]->smoothd, NULL, &finest));
  if (finest) PetscCall(KSPGetOperators(mg->levels[mg->nlevels - 1]->smoothd, NULL, &P));
  if (finest && P != pc->pmat && ((PetscObject)P)->id != KCycleOf(pc)->operator_id)
    PetscCall(PetscSNPrintf(why, len, "the program gave the finest level another operator"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
