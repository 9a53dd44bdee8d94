/*
  Full multigrid as a solver: how solutions come to the next finer level, and right sides of levels.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/transferimpl.h>

const char *const PCKCycleFMGInterpolationTypes[] = {"linear", "cubic", "PCKCycleFMGInterpolationType",
                                                     "PC_KCYCLE_FMG_", NULL};

PetscErrorCode PCKCycleFMGReset(PC_KCycle *kc)
{
  PetscFunctionBegin;
  for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(kc->fmg.starter); l++)
    PetscCall(KCycleStarterDestroy(&kc->fmg.starter[l]));
  PetscCall(PetscFree3(kc->fmg.watched, kc->fmg.kept[0], kc->fmg.kept[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why solutions are not interpolated by polynomials, or nothing */
static PetscErrorCode NotCubic(const PC_KCycle *kc, size_t len, char why[])
{
  PetscFunctionBegin;
  why[0] = 0;
  if (!kc->use_structure) PetscCall(PetscSNPrintf(why, len, "levels are not structured: %s", kc->general));
  else if (kc->engine && kc->at == KCYCLE_MEMORY_DEVICE) PetscCall(PetscSNPrintf(why, len, "levels are on a device"));
  for (PetscInt i = 0; i < kc->ngrids - 1 && !why[0]; i++) {
    const KCycleGridLevel *level = &kc->grids[i];
    const KCycleBox       *fine  = KCycleStencilOf(level->A)->box;

    if (MatStencilTransferFilled(level->P))
      PetscCall(PetscSNPrintf(why, len, "level %" PetscInt_FMT " has inactive points",
                              kc->ngrids - 1 - i + kc->gathered.below));
    for (int d = 0; d < 3; d++) {
      if (fine->periodic[d] && level->factor[d] == 2 && fine->size[d] % 2)
        PetscCall(PetscSNPrintf(why, len, "level %" PetscInt_FMT " has an odd number of points in a periodic direction",
                                kc->ngrids - 1 - i + kc->gathered.below));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Right sides that are restricted have the values at boundaries in them. What they represent is seen from a constant:
  the finer equations say A 1 of it, hence the coarse ones R A 1. At corners and edges Galerkin products, made stars,
  have other row sums, and full multigrid would solve another problem there, however fine the level is: the diagonal
  makes up for that. Rows that are isolated and represent nothing are left as they are.
*/
PetscErrorCode KCycleStructureBalanceRows(const KCycleGridLevel *level)
{
  const Mat          Ac = level[1].A;
  Vec                ones, sums, coarse, own, diagonal;
  const PetscScalar *s, *o, *d;
  PetscInt           start, n;
  PetscScalar        value;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(level->A, &ones, &sums));
  PetscCall(VecSet(ones, 1));
  PetscCall(MatMult(level->A, ones, sums));
  PetscCall(MatCreateVecs(Ac, &coarse, &own));
  PetscCall(VecDuplicate(own, &diagonal));
  PetscCall(MatGetDiagonal(Ac, diagonal));
  PetscCall(VecSet(coarse, 1));
  PetscCall(MatMult(Ac, coarse, own));
  PetscCall(MatMultTranspose(level->P, sums, coarse));
  PetscCall(VecGetOwnershipRange(own, &start, NULL));
  PetscCall(VecGetLocalSize(own, &n));
  PetscCall(VecGetArrayRead(coarse, &s));
  PetscCall(VecGetArrayRead(own, &o));
  PetscCall(VecGetArrayRead(diagonal, &d));
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal little = 1e-9 * PetscAbsScalar(d[i]);
    const PetscInt  row    = start + i;

    if (PetscAbsScalar(o[i] - d[i]) <= little && PetscAbsScalar(s[i]) <= little) continue;
    if (PetscAbsScalar(s[i] - o[i]) <= little) continue;
    value = d[i] + s[i] - o[i];
    PetscCall(MatSetValues(Ac, 1, &row, 1, &row, &value, INSERT_VALUES));
  }
  PetscCall(VecRestoreArrayRead(diagonal, &d));
  PetscCall(VecRestoreArrayRead(own, &o));
  PetscCall(VecRestoreArrayRead(coarse, &s));
  PetscCall(MatAssemblyBegin(Ac, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(Ac, MAT_FINAL_ASSEMBLY));
  PetscCall(VecDestroy(&ones));
  PetscCall(VecDestroy(&sums));
  PetscCall(VecDestroy(&coarse));
  PetscCall(VecDestroy(&own));
  PetscCall(VecDestroy(&diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is there full multigrid, for which something has been chosen? */
static PetscErrorCode CheckType(PC pc)
{
  const PCMGType type = ((PC_MG *)pc->data)->am;
  PC_KCycle     *kc   = KCycleOf(pc);
  const char    *what = NULL;

  PetscFunctionBegin;
  if (kc->fmg.interpolation == PC_KCYCLE_FMG_CUBIC) what = "-pc_kcycle_fmg_interpolation cubic";
  if (kc->fmg.monitor) what = "-pc_kcycle_fmg_monitor";
  for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(kc->fmg.rhs); l++) {
    if (kc->fmg.rhs[l]) what = "PCKCycleSetFMGRhs()";
  }
  PetscCheck(!what || type == PC_MG_FULL || kc->finer.exists, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "%s is for full multigrid, and this is -pc_mg_type %s: add -pc_mg_type full, or leave it out", what,
             PCMGTypes[type]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. When it is known which levels there are, and where */
PetscErrorCode PCKCycleFMGSetUp(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscBool  stored[3][2];
  char       why[400];

  PetscFunctionBegin;
  PetscCall(PCKCycleFMGReset(kc));
  PetscCall(CheckType(pc));
  PetscCheck(!kc->fmg.monitor || (kc->use_structure && (!kc->engine || kc->at != KCYCLE_MEMORY_DEVICE)),
             PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_kcycle_fmg_monitor is for structured levels on the host, and here %s: leave it out",
             kc->use_structure ? "levels are on a device" : kc->general);
  if (kc->fmg.interpolation != PC_KCYCLE_FMG_CUBIC) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(NotCubic(kc, sizeof(why), why));
  PetscCheck(!why[0], PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_kcycle_fmg_interpolation cubic is for structured levels on the host, and here %s: use linear", why);
  for (PetscInt l = 1; l < kc->nlevels; l++) {
    const Mat P = KCycleGridOf(kc, l)->P;

    for (int d = 0; d < 3; d++) {
      for (int side = 0; side < 2; side++)
        stored[d][side] = (PetscBool)(KCycleGridOf(kc, l - 1)->boundary[d][side] == KCYCLE_BOUNDARY_STORED);
    }
    PetscCall(KCycleStarterCreate(PetscObjectComm((PetscObject)P), KCycleTransferOf(P), (const PetscBool(*)[2])stored,
                                  &kc->fmg.starter[l]));
    if (kc->parts) kc->parts[l].starter = kc->fmg.starter[l];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x of level l from that of the next coarser one */
PetscErrorCode PCKCycleFMGStart(const PC_KCycle *kc, PetscInt l, Vec coarse, Vec x)
{
  const KCycleBox   *fine = KCycleStencilOf(KCycleGridOf(kc, l)->A)->box;
  const PetscScalar *from;
  PetscScalar       *to;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(coarse, &from));
  PetscCall(VecGetArrayWrite(x, &to));
  PetscCall(KCycleStarterInterpolate(kc->fmg.starter[l], fine, from, to));
  PetscCall(VecRestoreArrayWrite(x, &to));
  PetscCall(VecRestoreArrayRead(coarse, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Right sides that were given for levels, to the cycle on arrays, or back */
PetscErrorCode PCKCycleFMGUseRhs(PC_KCycle *kc, PetscBool get)
{
  PetscFunctionBegin;
  for (PetscInt l = 0; l < kc->nlevels - 1 && !kc->finer.exists; l++) {
    const Vec rhs = kc->fmg.rhs[l + kc->gathered.below];
    PetscInt  n;

    if (!rhs) continue;
    PetscCall(VecGetLocalSize(rhs, &n));
    PetscCheck(n == kc->parts[l].st->box->npoints, PetscObjectComm((PetscObject)rhs), PETSC_ERR_ARG_SIZ,
               "The right side of level %" PetscInt_FMT " (PCKCycleSetFMGRhs()) has %" PetscInt_FMT
               " entries on a process, and the level %" PetscInt_FMT,
               l + kc->gathered.below, n, kc->parts[l].st->box->npoints);
    if (get) PetscCall(VecGetArrayRead(rhs, &kc->parts[l].rhs));
    else PetscCall(VecRestoreArrayRead(rhs, &kc->parts[l].rhs));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleSetFMGInterpolation - Sets how full multigrid takes a solution to the next finer level, where a cycle starts
  with it.

  Logically Collective

  Input Parameters:
+ pc            - the preconditioner
- interpolation - `PC_KCYCLE_FMG_LINEAR` (default) or `PC_KCYCLE_FMG_CUBIC`

  Options Database Key:
. -pc_kcycle_fmg_interpolation (linear|cubic) - the interpolation of solutions

  Level: intermediate

  Notes:
  Linear is the interpolation that corrections have, whichever that is (`PCKCycleSetInterpolation()`). Cubic has the
  weights -1/16, 9/16, 9/16, -1/16 between coarse points in each direction that is coarsened; near the end of a
  direction, those of the polynomial through the four points there, and beyond the last point, of the parabola through
  three. They follow from positions alone: neither from boundary values nor from the operator. What a cycle starts with
  is then of higher order than the discretisation, as the theory of full multigrid wants it.

  With linear interpolation what lies beyond Dirichlet points that are not stored counts as zero: where values there are
  not, answers are not of order 2. With cubic interpolation they are, whatever the boundary: there set-up also sees to
  it that coarse rows next to boundaries have the row sums that restricted right sides represent, where Galerkin
  products have others at corners and edges.

  Cubic is for structured levels on the host and smooth solutions. It is to be chosen before set-up. It is an error
  with levels that are not structured, are on a device or have inactive points, with another `-pc_mg_type` than full,
  and in `PCApplyTranspose()`.

  References:
+ * - Achi Brandt, Multi-Level Adaptive Solutions to Boundary-Value Problems, Mathematics of Computation 31, 1977
- * - Ulrich Trottenberg, Cornelis Oosterlee, Anton Schueller, Multigrid, 2001, section 2.6

.seealso: `PCKCYCLE`, `PCKCycleGetFMGInterpolation()`, `PCMGSetType()`, `PCKCycleSetInterpolation()`
@*/
PetscErrorCode PCKCycleSetFMGInterpolation(PC pc, PCKCycleFMGInterpolationType interpolation)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, interpolation, 2);
  PetscCall(KCycleCheckChoice(pc, PCKCycleFMGInterpolationTypes, (int)interpolation));
  KC_KCYCLE_SET(pc, fmg.interpolation, interpolation);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetFMGInterpolation - Gets how full multigrid takes a solution to the next finer level.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. interpolation - `PC_KCYCLE_FMG_LINEAR` or `PC_KCYCLE_FMG_CUBIC`

  Level: intermediate

.seealso: `PCKCYCLE`, `PCKCycleSetFMGInterpolation()`
@*/
PetscErrorCode PCKCycleGetFMGInterpolation(PC pc, PCKCycleFMGInterpolationType *interpolation)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(interpolation, 2);
  KC_KCYCLE_GET(pc, fmg.interpolation, interpolation);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleSetFMGRhs - Sets the right side that full multigrid has on a level, in place of the one of the next finer
  level, restricted.

  Logically Collective

  Input Parameters:
+ pc - the preconditioner
. l  - number of the level, 0 is the coarsest; not the finest one
- b  - right side, in the units of the level's operator, or `NULL`: it is restricted

  Level: advanced

  Notes:
  Galerkin operators are in the units of R A P: where the finest equations have been multiplied by the volume of a cell,
  those of coarser levels are, too. The vector is kept, and read in each application; levels below have it restricted.

  It is an error with another `-pc_mg_type` than full, for a vector of another size than the level, and on levels that
  are agglomerated.

.seealso: `PCKCYCLE`, `PCKCycleGetFMGRhs()`, `PCMGSetType()`, `PCMGSetRhs()`
@*/
PetscErrorCode PCKCycleSetFMGRhs(PC pc, PetscInt l, Vec b)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, l, 2);
  if (b) PetscValidHeaderSpecific(b, VEC_CLASSID, 3);
  PetscCheck(l >= 0 && l < KCYCLE_MAX_LEVELS, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "There is no level with the number %" PetscInt_FMT, l);
  kc = KCycleOf(pc);
  if (!kc) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!kc->ready || l < kc->nlevels - 1 + kc->gathered.below, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE,
             "Level %" PetscInt_FMT " is the finest one, whose right side is that of PCApply(), or there is none such",
             l);
  PetscCheck(!kc->ready || l >= kc->gathered.below, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "Level %" PetscInt_FMT " is on fewer processes, where right sides are restricted: use "
             "-pc_kcycle_process_eq_limit 0",
             l);
  PetscCall(PetscObjectReference((PetscObject)b));
  PetscCall(VecDestroy(&kc->fmg.rhs[l]));
  kc->fmg.rhs[l] = b;
  if (kc->ready) PetscCall(CheckType(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetFMGRhs - Gets the right side that was given to full multigrid for a level.

  Not Collective

  Input Parameters:
+ pc - the preconditioner
- l  - number of the level, 0 is the coarsest

  Output Parameter:
. b - right side, or `NULL`: it is restricted; the preconditioner keeps it

  Level: advanced

.seealso: `PCKCYCLE`, `PCKCycleSetFMGRhs()`
@*/
PetscErrorCode PCKCycleGetFMGRhs(PC pc, PetscInt l, Vec *b)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(b, 3);
  PetscCheck(l >= 0 && l < KCYCLE_MAX_LEVELS, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "There is no level with the number %" PetscInt_FMT, l);
  PetscCall(PCKCycleGetContext(pc, &kc));
  *b = kc->fmg.rhs[l];
  PetscFunctionReturn(PETSC_SUCCESS);
}
