/*
  A coarsest grid that is too large for a direct solver on every process is gathered by PCTELESCOPE on fewer of them,
  where structured levels go on.
*/
#include <petsckcycle/private/kcycleimpl.h>
#include <petsckcycle/private/stencilimpl.h>

/*
  A coarsest grid that is still large, as each process keeps a point of it, is not for a direct solver on every process:
  fewer of them gather it and go on with structured levels. The options of that inner solver begin with
  mg_coarse_telescope_
*/
PetscErrorCode PCKCycleGather(PC pc)
{
  const char *const names[] = {"-pc_type", "-redundant_pc_type"};
  KSP               coarse  = ((PC_MG *)pc->data)->levels[0]->smoothd;
  PC_KCycle        *kc;
  PC                gather;
  Mat               A;
  PetscInt          dim, rows, left;
  PetscMPIInt       size;
  PetscBool         given, standard;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  dim = KCycleStencilOf(kc->structure[0].A)->box->dim;
  PetscCall(KSPGetOperators(coarse, &A, NULL));
  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)coarse), &size));
  PetscCall(KSPGetPC(coarse, &gather));
  PetscCall(PetscObjectTypeCompare((PetscObject)gather, PCREDUNDANT, &standard));
  left = KCyclePolicyProcesses(rows, size, dim, kc->mixed);
  if (!left || !standard) PetscFunctionReturn(PETSC_SUCCESS);
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(names); i++) {
    PetscCall(PetscOptionsHasName(((PetscObject)coarse)->options, ((PetscObject)coarse)->prefix, names[i], &given));
    if (given) PetscFunctionReturn(PETSC_SUCCESS);
  }
  kc->chose[0][0] = PETSC_TRUE;
  PetscCall(PCSetType(gather, PCTELESCOPE));
  PetscCall(PCTelescopeSetIgnoreKSPComputeOperators(gather, PETSC_TRUE)); /* it is to gather the matrix */
  PetscCall(PCTelescopeSetReductionFactor(gather, (size + left - 1) / left));
  PetscCall(PetscInfo(
      coarse, "The coarsest grid has %" PetscInt_FMT " points: %" PetscInt_FMT " of %d processes gather it and go on\n",
      rows, left, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Names of what hangs on the PCTELESCOPE for its transpose, which PETSc does not have */
static const char Scatter[] = "PCKCycleGatherScatter", Buffer[] = "PCKCycleGatherBuffer";

/* A buffer of the points that this process goes on with, none if it does not take part, and the scatter to it */
static PetscErrorCode PrepareTranspose(DM dm, KSP inner, PC gather)
{
  Mat        A;
  DM         part;
  AO         ao;
  Vec        all, buffer;
  VecScatter scatter;
  IS         rows;
  PetscInt   size[3], s[3] = {0, 0, 0}, n[3] = {0, 0, 0}, *row, m = 0;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(gather, &A, NULL));
  PetscCall(MatCreateVecs(A, &all, NULL));
  PetscCall(DMDAGetInfo(dm, NULL, &size[0], &size[1], &size[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  if (inner) {
    PetscCall(KSPGetDM(inner, &part));
    PetscCall(DMDAGetCorners(part, &s[0], &s[1], &s[2], &n[0], &n[1], &n[2]));
  }
  PetscCall(PetscMalloc1(n[0] * n[1] * n[2], &row));
  for (PetscInt k = s[2]; k < s[2] + n[2]; k++) {
    for (PetscInt j = s[1]; j < s[1] + n[1]; j++) {
      for (PetscInt i = s[0]; i < s[0] + n[0]; i++) row[m++] = i + size[0] * (j + size[1] * k);
    }
  }
  PetscCall(DMDAGetAO(dm, &ao));
  PetscCall(AOApplicationToPetsc(ao, m, row));
  PetscCall(ISCreateGeneral(PetscObjectComm((PetscObject)dm), m, row, PETSC_OWN_POINTER, &rows));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, m, &buffer));
  PetscCall(VecScatterCreate(all, rows, buffer, NULL, &scatter));
  PetscCall(PetscObjectCompose((PetscObject)gather, Scatter, (PetscObject)scatter));
  PetscCall(PetscObjectCompose((PetscObject)gather, Buffer, (PetscObject)buffer));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&buffer));
  PetscCall(ISDestroy(&rows));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyValues(Vec from, Vec to)
{
  const PetscScalar *a;
  PetscScalar       *b;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(from, &n));
  PetscCall(VecGetArrayRead(from, &a));
  PetscCall(VecGetArrayWrite(to, &b));
  PetscCall(PetscArraycpy(b, a, n));
  PetscCall(VecRestoreArrayWrite(to, &b));
  PetscCall(VecRestoreArrayRead(from, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyTranspose_Gathered(PC gather, Vec x, Vec y)
{
  KSP        inner;
  DM         part;
  Vec        buffer, b, solution;
  VecScatter scatter;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)gather, Scatter, (PetscObject *)&scatter));
  PetscCall(PetscObjectQuery((PetscObject)gather, Buffer, (PetscObject *)&buffer));
  PetscCall(PCTelescopeGetKSP(gather, &inner));
  PetscCall(VecScatterBegin(scatter, x, buffer, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, x, buffer, INSERT_VALUES, SCATTER_FORWARD));
  if (inner) {
    PetscCall(KSPGetDM(inner, &part));
    PetscCall(DMGetGlobalVector(part, &b));
    PetscCall(DMGetGlobalVector(part, &solution));
    PetscCall(CopyValues(buffer, b));
    PetscCall(KSPSolveTranspose(inner, b, solution));
    PetscCall(KSPCheckSolve(inner, gather, solution));
    PetscCall(CopyValues(solution, buffer));
    PetscCall(DMRestoreGlobalVector(part, &b));
    PetscCall(DMRestoreGlobalVector(part, &solution));
  }
  PetscCall(VecScatterBegin(scatter, buffer, y, INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(scatter, buffer, y, INSERT_VALUES, SCATTER_REVERSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels like those that end here, unless options ask for others */
static PetscErrorCode ChooseGathered(const PC_KCycle *kc, PC pc)
{
  PC_KCycle *inner;
  PetscBool  given;

  PetscFunctionBegin;
  PetscCall(PetscOptionsHasName(((PetscObject)pc)->options, ((PetscObject)pc)->prefix, "-pc_type", &given));
  if (given) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSetType(pc, PCKCYCLE));
  PetscCall(PCKCycleGetContext(pc, &inner));
  inner->interpolation = kc->interpolation;
  PetscCall(PetscStrncpy(inner->semicoarsen, kc->semicoarsen, sizeof(inner->semicoarsen)));
  PetscCall(PCSetFromOptions(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solver that goes on with a coarsest grid that has been gathered; PCTELESCOPE would leave its set-up to the
   first cycle */
PetscErrorCode PCKCycleGatheredSetUp(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc, *finer;
  KSP        inner;
  PC         gather, solver;
  PetscBool  gathers, ours;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  PetscCall(KSPGetPC(mg->levels[0]->smoothd, &gather));
  PetscCall(PetscObjectTypeCompare((PetscObject)gather, PCTELESCOPE, &gathers));
  if (!kc->use_structure || !kc->chose[0][0] || !gathers) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCTelescopeGetKSP(gather, &inner));
  if (!kc->ready) PetscCall(PrepareTranspose(kc->structure[kc->nstructured - 1].dm, inner, gather));
  gather->ops->applytranspose = PCApplyTranspose_Gathered;
  if (!inner) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetPC(inner, &solver));
  if (!kc->ready) PetscCall(ChooseGathered(kc, solver));
  PetscCall(PetscObjectTypeCompare((PetscObject)solver, PCKCYCLE, &ours));
  if (ours) {
    PetscCall(PCKCycleGetContext(solver, &finer));
    PCKCycleStructuredHandOn(kc, &finer->finer);
  }
  PetscCall(KSPSetUp(inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}
