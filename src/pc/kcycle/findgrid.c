/*
  Grids of matrices that have no DM: given by their sizes, or found in the matrix. Where processes cut planes of the
  grid structured levels give each of them whole planes (see ghostrows.c); the numbers of the rows stay what they are.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/findimpl.h>
#include <petsckcycle/private/coarsenimpl.h>

static PetscErrorCode Forget(KCycleFound *found)
{
  PetscFunctionBegin;
  PetscCall(DMDestroy(&found->dm));
  PetscCall(PetscSFDestroy(&found->ghostrows));
  for (int i = 0; i < 2; i++) PetscCall(VecDestroy(&found->copy[i]));
  PetscCall(MatDestroy(&found->product));
  found->moved = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What was found is kept until another matrix, or another pattern, is searched */
PetscErrorCode PCKCycleFoundReset(PC_KCycle *kc)
{
  PetscFunctionBegin;
  PetscCall(Forget(&kc->found));
  kc->found.searched = 0;
  kc->found.why[0]   = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A grid that was found before is kept if it is the same: levels are on it */
static PetscErrorCode Search(PC pc)
{
  MPI_Comm         comm = PetscObjectComm((PetscObject)pc->pmat);
  KCycleNumbering *g    = NULL;
  DM               dm   = NULL;
  PetscBool        same;
  KCycleFound     *found = &KCycleOf(pc)->found;

  PetscFunctionBegin;
  if (found->ngiven) PetscCall(KCycleNumberingGiven(pc->pmat, found->ngiven, found->given, &g));
  else PetscCall(KCycleNumberingFind(pc->pmat, &g, sizeof(found->why), found->why));
  if (g && found->dm) {
    PetscCall(KCycleNumberingFitsDM(g, found->dm, &same));
    if (same) PetscCall(PetscObjectReference((PetscObject)found->dm));
    if (same) dm = found->dm;
  }
  PetscCall(Forget(found));
  /* not set up: structured levels only want to know who owns what, and a search should cost little */
  if (g && !dm) PetscCall(KCycleBoxCreateDM(comm, &g->box, &dm));
  found->dm    = dm;
  found->zeros = (PetscBool)(g && g->zeros);
  found->moved = (PetscBool)(g && g->moved);
  PetscCall(KCycleNumberingDestroy(&g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why the operator is not searched, or nothing */
static PetscErrorCode WhyNotSearched(PC pc, size_t len, char why[])
{
  PetscBool isaij;
  PetscInt  bs;

  PetscFunctionBegin;
  why[0] = 0;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)pc->pmat, &isaij, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCall(MatGetBlockSize(pc->pmat, &bs));
  if (!isaij) PetscCall(PetscSNPrintf(why, len, "it is of type %s, not aij", ((PetscObject)pc->pmat)->type_name));
  else if (bs > 1)
    PetscCall(PetscSNPrintf(why, len, "it has blocks of %" PetscInt_FMT " rows: several unknowns at a point", bs));
  PetscCheck(!why[0] || !KCycleOf(pc)->found.ngiven, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_kcycle_grid_sizes needs an operator of type aij with one unknown at each point of the grid: %s", why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The grid of an operator without a DM, or NULL. It is searched at set-up, once for each matrix and pattern */
PetscErrorCode PCKCycleFoundGetDM(PC pc, DM *dm)
{
  PC_KCycle       *kc = KCycleOf(pc);
  PetscObjectId    id;
  PetscObjectState pattern, values;
  KCycleFound     *found = &kc->found;

  PetscFunctionBegin;
  *dm = NULL;
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &id));
  PetscCall(MatGetNonzeroState(pc->pmat, &pattern));
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &values));
  if (found->searched != id || found->pattern != pattern || (found->zeros && found->values != values)) {
    if (!kc->busy) PetscFunctionReturn(PETSC_SUCCESS);
    found->searched = 0;
    found->zeros    = PETSC_FALSE;
    PetscCall(WhyNotSearched(pc, sizeof(found->why), found->why));
    if (found->why[0]) PetscCall(Forget(found));
    else PetscCall(Search(pc));
    if (found->why[0]) PetscCall(PetscInfo(pc, "No grid was found in the matrix: %s\n", found->why));
    found->searched = id;
    found->pattern  = pattern;
    found->values   = values;
  }
  *dm = found->dm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sizes that were given belong to a matrix without a grid; they may repeat those of a grid that there is */
PetscErrorCode PCKCycleFoundCheckSizes(PC pc, DM dm)
{
  PC_KCycle *kc  = KCycleOf(pc);
  PetscInt   dim = 0, size[3];
  PetscBool  isda, same;
  char       sizes[64], grid[128];

  PetscFunctionBegin;
  /* before set-up the program may still change its mind */
  if (!kc->found.ngiven || !kc->busy) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(
      dm, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
      "-pc_kcycle_grid_sizes (PCKCycleSetGridSizes()) names a grid, but levels come from %s: leave out one of the two",
      kc->hierarchy == PC_KCYCLE_HIERARCHY_GAMG ? "-pc_kcycle_hierarchy gamg" : "interpolations that the program gave");
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &isda));
  if (isda)
    PetscCall(
        DMDAGetInfo(dm, &dim, &size[0], &size[1], &size[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  same = (PetscBool)(dim == kc->found.ngiven);
  for (PetscInt d = 0; d < dim && same; d++) same = (PetscBool)(size[d] == kc->found.given[d]);
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleSizesText(kc->found.ngiven, kc->found.given, sizeof(sizes), sizes));
  PetscCall(KCycleDMDescribe(dm, sizeof(grid), grid));
  SETERRQ(PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
          "-pc_kcycle_grid_sizes (PCKCycleSetGridSizes()) says %s points, but the solver, or its operator, has a DM "
          "already: a %s. Leave out the sizes",
          sizes, grid);
}

/* Levels that are not structured need a DM that is set up; those of grids that were found, and of planes, are not yet.
   Such levels cannot have rows on other processes than the operator, and have to do without the grid then */
PetscErrorCode PCKCycleFoundSettle(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (!pc->dm || kc->use_structure) PetscFunctionReturn(PETSC_SUCCESS);
  if (pc->dm != kc->found.dm || !kc->found.moved) {
    PetscCall(DMSetUp(pc->dm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(!kc->found.ngiven, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_kcycle_grid_sizes: processes own parts of planes (of lines in 2D) of this grid, which only "
             "structured levels allow, and levels are not structured: %s. Give "
             "each process whole planes",
             kc->general);
  PetscCall(PetscSNPrintf(
      kc->found.why, sizeof(kc->found.why),
      "processes own parts of planes (of lines in 2D) of its grid, and levels are not structured: %s", kc->general));
  PetscCall(PCSetDM(pc, NULL));
  PetscCall(Forget(&kc->found));
  kc->grid_of_operator = PETSC_FALSE;
  kc->levels_from      = kc->hierarchy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCKCycleFoundView(PC pc, PetscViewer viewer)
{
  PC_KCycle     *kc = KCycleOf(pc);
  PetscInt       dim, size[3];
  DMBoundaryType boundary[3];
  char           sizes[64], around[32] = "";

  PetscFunctionBegin;
  if (!kc->found.dm || pc->dm != kc->found.dm) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMDAGetInfo(kc->found.dm, &dim, &size[0], &size[1], &size[2], NULL, NULL, NULL, NULL, NULL, &boundary[0],
                        &boundary[1], &boundary[2], NULL));
  PetscCall(KCycleSizesText(dim, size, sizeof(sizes), sizes));
  for (PetscInt d = 0; d < dim; d++) {
    const char name[2] = {(char)('x' + d), 0};

    if (boundary[d] != DM_BOUNDARY_PERIODIC) continue;
    PetscCall(PetscStrlcat(around, around[0] ? "" : ", periodic in ", sizeof(around)));
    PetscCall(PetscStrlcat(around, name, sizeof(around)));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "  grid %s %s%s%s\n", sizes,
                                   kc->found.ngiven ? "given by -pc_kcycle_grid_sizes" : "found in the matrix", around,
                                   kc->found.moved ? ", rows moved to processes that own whole planes" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleSetGridSizes - Sets the sizes of the grid that the operator is on, if it has no `DM`.

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
. dim   - number of directions, 1, 2 or 3; 0: the grid is found in the matrix, as it is where this is not called
- sizes - number of points in each direction, that in which row numbers grow by one first

  Options Database Key:
. -pc_kcycle_grid_sizes (nx[,ny[,nz]]) - sizes of the grid of a matrix without a DM

  Level: intermediate

  Notes:
  The operator is of type `MATAIJ`, each row is a point of the grid, and is coupled to its 3^dim - 1 neighbours at most.
  Rows are numbered line by line, whatever rows processes own; or box by box, as a `DMDA` numbers them. Every entry is
  checked, and one that does not fit is an error that names it. Directions that wrap around are found.

  Without sizes the grid is found in the matrix, where its entries leave no doubt; `-ksp_view` and
  `PCKCycleGetGridSizes()` tell. Levels are then those of a `DMDA`. Where processes own parts of planes (of lines in 2D)
  they hand on few rows, so that each has whole planes.

.seealso: `PCKCYCLE`, `PCKCycleGetGridSizes()`, `KSPSetDM()`, `PCKCycleSetStructured()`
@*/
PetscErrorCode PCKCycleSetGridSizes(PC pc, PetscInt dim, const PetscInt sizes[])
{
  PC_KCycle *kc;
  PetscBool  same;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, dim, 2);
  PetscCheck(dim >= 0 && dim <= 3, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_kcycle_grid_sizes takes 1, 2 or 3 sizes, not %" PetscInt_FMT, dim);
  if (dim) PetscAssertPointer(sizes, 3);
  for (PetscInt d = 0; d < dim; d++) {
    PetscCheck(sizes[d] > 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
               "-pc_kcycle_grid_sizes: the number of points in %c must be at least 1, not %" PetscInt_FMT,
               (int)('x' + d), sizes[d]);
  }
  kc = KCycleOf(pc);
  if (!kc) PetscFunctionReturn(PETSC_SUCCESS);
  same = (PetscBool)(dim == kc->found.ngiven);
  for (PetscInt d = 0; d < dim; d++) same = (PetscBool)(same && sizes[d] == kc->found.given[d]);
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleCheckSettable(pc, PETSC_FALSE, PETSC_FUNCTION_NAME));
  PetscCall(PetscArraycpy(kc->found.given, sizes, dim));
  kc->found.ngiven   = dim;
  kc->found.searched = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetGridSizes - Gets the sizes of the grid that was given for, or found in, an operator without a `DM`.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameters:
+ dim   - number of directions; 0: none were given, and no grid has been found
- sizes - array of length 3, number of points in each direction, 1 beyond dim

  Level: intermediate

.seealso: `PCKCYCLE`, `PCKCycleSetGridSizes()`
@*/
PetscErrorCode PCKCycleGetGridSizes(PC pc, PetscInt *dim, PetscInt sizes[])
{
  PC_KCycle *kc;
  PetscInt   n;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(dim, 2);
  PetscAssertPointer(sizes, 3);
  PetscCall(PCKCycleGetContext(pc, &kc));
  n = kc->found.ngiven;
  PetscCall(PetscArraycpy(sizes, kc->found.given, 3));
  if (kc->found.dm)
    PetscCall(DMDAGetInfo(kc->found.dm, &n, &sizes[0], &sizes[1], &sizes[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                          NULL, NULL));
  for (PetscInt d = n; d < 3; d++) sizes[d] = 1;
  *dim = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}
