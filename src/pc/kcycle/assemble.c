/*
  Coarse operators of structured levels that the program assembles, as it does for PCMG: KSPSetComputeOperators() is
  called with the coarse grids, which have heard what the program hung on the fine one (DMCoarsenHookAdd()).
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/relaximpl.h>
#include <petsc/private/dmimpl.h>

/* Takes the values of the fine points that coarse points lie on, or of those that are "more" ahead */
static PetscErrorCode Injection(const KCycleGridLevel *level, const PetscInt more[], Mat *inject)
{
  const KCycleTransfer *tr = KCycleTransferOf(level->P);
  const PetscInt       *n  = tr->coarse->n;
  PetscInt              row;

  PetscFunctionBegin;
  PetscCall(MatCreateAIJ(PetscObjectComm((PetscObject)level->P), tr->coarse->npoints, tr->fine->npoints,
                         PETSC_DETERMINE, PETSC_DETERMINE, 1, NULL, 1, NULL, inject));
  PetscCall(MatGetOwnershipRange(*inject, &row, NULL));
  for (PetscInt k = 0; k < n[2]; k++) {
    for (PetscInt j = 0; j < n[1]; j++) {
      for (PetscInt i = 0; i < n[0]; i++, row++) {
        const PetscInt at[3] = {i, j, k};
        PetscInt       fine[3];

        for (PetscInt d = 0; d < 3; d++)
          fine[d] =
              PetscMin(tr->factor[d] * (at[d] + tr->coarse->start[d]) + tr->origin[d] + more[d], tr->fine->size[d] - 1);
        PetscCall(MatSetValue(*inject, row, KCycleBoxPointToRow(tr->fine, fine), 1.0, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(*inject, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*inject, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* to += 0.5 times the coordinates of the fine points */
static PetscErrorCode AddCoordinates(const KCycleGridLevel *level, const PetscInt more[], Vec from, Vec to)
{
  Mat      inject, blocks;
  Vec      part;
  PetscInt dim;

  PetscFunctionBegin;
  PetscCall(DMGetCoordinateDim(level->dm, &dim));
  PetscCall(Injection(level, more, &inject));
  PetscCall(MatCreateMAIJ(inject, dim, &blocks));
  PetscCall(VecDuplicate(to, &part));
  PetscCall(MatMult(blocks, from, part));
  PetscCall(VecAXPY(to, 0.5, part));
  PetscCall(VecDestroy(&part));
  PetscCall(MatDestroy(&blocks));
  PetscCall(MatDestroy(&inject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coarse points have the coordinates of their fine points; a pair of cells those of its centre */
static PetscErrorCode CoarsenCoordinates(const KCycleGridLevel *level)
{
  const KCycleTransfer *tr      = KCycleTransferOf(level->P);
  const PetscInt        none[3] = {0, 0, 0};
  PetscInt              pair[3];
  Vec                   fine, coarse;

  PetscFunctionBegin;
  PetscCall(DMGetCoordinates(level->dm, &fine));
  if (!fine) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt d = 0; d < 3; d++)
    pair[d] = tr->factor[d] == 2 && level->boundary[d][0] == KCYCLE_BOUNDARY_NEUMANN && tr->fine->size[d] % 2 == 0;
  PetscCall(DMDASetUniformCoordinates(level[1].dm, 0, 1, 0, 1, 0, 1)); /* makes the vector */
  PetscCall(DMGetCoordinates(level[1].dm, &coarse));
  PetscCall(VecSet(coarse, 0));
  PetscCall(AddCoordinates(level, none, fine, coarse));
  PetscCall(AddCoordinates(level, pair, fine, coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What DMCoarsen() passes on from a grid to a coarser one, which is not made by it */
PetscErrorCode KCycleAssembleOnDM(const KCycleGridLevel *level)
{
  DM                    fine = level->dm, coarse = level[1].dm;
  DMDAInterpolationType interpolation;
  void                 *ctx;
  VecType               vectype;

  PetscFunctionBegin;
  PetscCall(DMDAGetInterpolationType(fine, &interpolation));
  PetscCall(DMDASetInterpolationType(coarse, interpolation));
  PetscCall(DMGetVecType(fine, &vectype));
  PetscCall(DMSetVecType(coarse, vectype));
  PetscCall(DMSetMatType(coarse, MATSTENCIL));
  PetscCall(DMGetApplicationContext(fine, &ctx));
  PetscCall(DMSetApplicationContext(coarse, ctx));
  PetscCall(PetscObjectCopyFortranFunctionPointers((PetscObject)fine, (PetscObject)coarse));
  coarse->levelup   = fine->levelup;
  coarse->leveldown = fine->leveldown + 1;
  PetscCall(CoarsenCoordinates(level));
  for (DMCoarsenHookLink link = fine->coarsenhook; link; link = link->next) {
    if (link->coarsenhook) PetscCall((*link->coarsenhook)(fine, coarse, link->ctx));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the program's hooks restrict, the state of a nonlinear solver for one, goes to the coarse grid by injection */
static PetscErrorCode RestrictState(const KCycleGridLevel *level)
{
  const PetscInt none[3] = {0, 0, 0};
  PetscBool      any     = PETSC_FALSE;
  Mat            inject;

  PetscFunctionBegin;
  for (DMCoarsenHookLink link = level->dm->coarsenhook; link; link = link->next)
    any = (PetscBool)(any || link->restricthook);
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Injection(level, none, &inject));
  PetscCall(DMRestrict(level->dm, level->P, NULL, inject, level[1].dm));
  PetscCall(MatDestroy(&inject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator of level + 1 */
PetscErrorCode KCycleAssemble(PC pc, KCycleGridLevel *level)
{
  PetscErrorCode (*compute)(KSP, Mat, Mat, void *) = NULL;
  KCycleGridLevel *coarse                          = level + 1;
  void            *ctx;
  KSP              ksp;
  PetscErrorCode   ierr;

  PetscFunctionBegin;
  PetscCall(RestrictState(level));
  PetscCall(DMKSPGetComputeOperators(pc->dm, &compute, &ctx));
  if (!coarse->A) PetscCall(DMCreateMatrix(coarse->dm, &coarse->A));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)pc), &ksp)); /* the program asks it for the grid */
  PetscCall(KSPSetDM(ksp, coarse->dm));
  PetscCall(KCycleKSPSetDMInactive(ksp));
  PetscCall(KSPSetOperators(ksp, coarse->A, coarse->A));
  ierr = (*compute)(ksp, coarse->A, coarse->A, ctx);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
