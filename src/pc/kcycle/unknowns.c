/*
  Several unknowns at a point, solved for one by one: a sweep of PCFIELDSPLIT through the unknowns, each with its own
  PCKCYCLE on its own grids, together with sweeps of a smoother of all unknowns together.

  Grids and linear interpolation that all unknowns share are good for unknowns of one kind, however they are coupled.
  Where one is transported and another diffuses, they may fail: coarse operators of the former are unstable, and strong
  directions differ. A few cycles on A x = 0 tell.
*/
#include "kcycleimpl.h"
#include <petscdmda.h>

/* Rounding */
#define TINY PETSC_SQRT_MACHINE_EPSILON

/* Why unknowns cannot be solved for one by one, or nothing. All else that levels of ordinary matrices need is there */
PetscErrorCode PCKCycleUnknownsWhyNot(PC pc, size_t len, char why[])
{
  const char *const options[] = {"-mg_coarse_ksp_type", "-mg_coarse_pc_type", "-mg_coarse_redundant_pc_type"};
  PetscObject       o         = (PetscObject)pc;
  PC_KCycle        *kc        = KCycleOf(pc);
  PetscInt          dof, asked;
  PetscBool         zero, given;

  PetscFunctionBegin;
  PetscCall(DMDAGetDof(pc->dm, &dof));
  PetscCall(PCKCycleLevelsAsked(pc, &asked));
  PetscCall(KCycleMatHasZeroDiagonal(pc->pmat, &zero));
  if (dof < 2) PetscCall(PetscSNPrintf(why, len, "its DMDA has 1 unknown at a point"));
  else if (zero) PetscCall(PetscSNPrintf(why, len, "the diagonal of the operator has zeros"));
  else if (asked && asked != 2) PetscCall(PetscSNPrintf(why, len, "it has 2 levels, and others were asked for"));
  else if (KCycleLevelIsTheirs(kc, 0) || KCycleLevelsAreTheirs(kc))
    PetscCall(PetscSNPrintf(why, len, "the program has chosen solvers of levels"));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(options) && !why[0]; i++) {
    PetscCall(PetscOptionsHasName(o->options, o->prefix, options[i], &given));
    if (given) PetscCall(PetscSNPrintf(why, len, "%s is for a coarse grid", options[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Its rows, its grid, and its solver's name in options */
static PetscErrorCode AddUnknown(PC pc, PC split, PetscInt unknown, DM grid)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  const char    *field;
  char           name[64];
  PetscInt       dof, start, end, n;
  IS             rows;
  KSP           *solver;
  PC             inner;

  PetscFunctionBegin;
  PetscCall(DMDAGetDof(pc->dm, &dof));
  PetscCall(DMDAGetFieldName(pc->dm, unknown, &field));
  if (field && field[0] && !strchr(field, ' ')) PetscCall(PetscStrncpy(name, field, sizeof(name)));
  else PetscCall(PetscSNPrintf(name, sizeof(name), "%" PetscInt_FMT, unknown));
  PetscCall(MatGetOwnershipRange(pc->pmat, &start, &end));
  PetscCall(ISCreateStride(comm, (end - start) / dof, start + unknown, dof, &rows));
  PetscCall(PCFieldSplitSetIS(split, name, rows));
  PetscCall(ISDestroy(&rows));
  PetscCall(PCFieldSplitGetSubKSP(split, &n, &solver));
  PetscCall(KSPSetDM(solver[unknown], grid));
  PetscCall(KCycleKSPSetDMInactive(solver[unknown]));
  PetscCall(KSPGetPC(solver[unknown], &inner));
  PetscCall(PCSetType(inner, PCKCYCLE));
  PetscCall(PetscFree(solver));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solver of the level below: the operator of all unknowns, in a sweep through them. That is symmetric where the
   operator is known to be */
PetscErrorCode PCKCycleUnknownsInstall(PC pc, KSP coarse)
{
  PC        split;
  PetscInt  dof;
  PetscBool is, known, symmetric;
  DM        grid;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(coarse, &split));
  PetscCall(PetscObjectTypeCompare((PetscObject)split, PCFIELDSPLIT, &is));
  if (is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatIsSymmetricKnown(pc->pmat, &known, &symmetric));
  PetscCall(PCSetType(split, PCFIELDSPLIT));
  PetscCall(PCFieldSplitSetType(split, known && symmetric ? PC_COMPOSITE_SYMMETRIC_MULTIPLICATIVE
                                                          : PC_COMPOSITE_MULTIPLICATIVE));
  PetscCall(DMDAGetDof(pc->dm, &dof));
  PetscCall(DMDACreateCompatibleDMDA(pc->dm, 1, &grid));
  for (PetscInt u = 0; u < dof; u++) PetscCall(AddUnknown(pc, split, u, grid));
  PetscCall(DMDestroy(&grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coarsest solver is as PCMG makes it again */
PetscErrorCode PCKCycleUnknownsRemove(PC pc, KSP coarse)
{
  PC          split;
  PetscBool   is;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(coarse, &split));
  PetscCall(PetscObjectTypeCompare((PetscObject)split, PCFIELDSPLIT, &is));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  if (is) PetscCall(PCSetType(split, size > 1 ? PCREDUNDANT : PCLU));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Noise in one unknown, or in all; zeros elsewhere. other: what follows a few digits of it, which is noise, too */
static PetscErrorCode FillUnknown(PC pc, PetscInt unknown, PetscBool other, Vec v)
{
  PetscScalar *a;
  PetscInt     n, dof;

  PetscFunctionBegin;
  PetscCall(DMDAGetDof(pc->dm, &dof));
  PetscCall(PCKCycleFillWithNoise(pc, v));
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArray(v, &a));
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal digits = 1e4 * PetscRealPart(a[i]);

    if (other) a[i] = 2 * (digits - PetscFloorReal(digits)) - 1;
    if (unknown >= 0 && i % dof != unknown) a[i] = 0;
  }
  PetscCall(VecRestoreArray(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums over the points, for each unknown: x y, |x|^2, |y|^2 */
static PetscErrorCode Products(PC pc, PetscInt dof, Vec x, Vec y, PetscReal sums[])
{
  const PetscScalar *a, *b;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(sums, 3 * dof));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &a));
  PetscCall(VecGetArrayRead(y, &b));
  for (PetscInt i = 0; i < n; i++) {
    PetscReal *sum = sums + 3 * (i % dof);

    sum[0] += PetscRealPart(PetscConj(a[i]) * b[i]);
    sum[1] += PetscRealPart(PetscConj(a[i]) * a[i]);
    sum[2] += PetscRealPart(PetscConj(b[i]) * b[i]);
  }
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCall(VecRestoreArrayRead(y, &b));
  PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, sums, (PetscMPIInt)(3 * dof), MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Is the operator symmetric, as far as two vectors tell? Symmetric cycles of a positive definite operator converge. All
  unknowns together, and each by itself, as rows of one may be many times as large as those of another
*/
static PetscErrorCode IsSymmetric(PC pc, PetscInt dof, PetscBool *symmetric)
{
  Vec        x, y, ax, ay;
  PetscReal *xay, *yax;
  PetscBool  known;

  PetscFunctionBegin;
  PetscCall(MatIsSymmetricKnown(pc->pmat, &known, symmetric));
  if (known) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(pc->pmat, &x, &ax));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(ax, &ay));
  PetscCall(PetscMalloc2(3 * dof, &xay, 3 * dof, &yax));
  *symmetric = PETSC_TRUE;
  for (PetscInt u = -1; u < dof && *symmetric; u++) {
    PetscReal differ = 0, size = 0;

    PetscCall(FillUnknown(pc, u, PETSC_FALSE, x));
    PetscCall(FillUnknown(pc, u, PETSC_TRUE, y));
    PetscCall(MatMult(pc->pmat, x, ax));
    PetscCall(MatMult(pc->pmat, y, ay));
    PetscCall(Products(pc, dof, x, ay, xay));
    PetscCall(Products(pc, dof, y, ax, yax));
    for (PetscInt v = 0; v < 3 * dof; v += 3) {
      differ += xay[v] - yax[v];
      size += PetscSqrtReal(xay[v + 1] * xay[v + 2]) + PetscSqrtReal(yax[v + 1] * yax[v + 2]);
    }
    *symmetric = (PetscBool)(PetscAbsReal(differ) <= TINY * size);
  }
  PetscCall(PetscFree2(xay, yax));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&ax));
  PetscCall(VecDestroy(&ay));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Is it another operator than before: does it make, in one of the unknowns, something else of a fixed vector, its size
  apart? image: what it made of that then, which becomes that of now
*/
PetscErrorCode PCKCycleOperatorChanged(PC pc, PetscInt dof, Vec *image, PetscBool *changed)
{
  Vec        x, y;
  PetscReal *sums;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(pc->pmat, &x, &y));
  PetscCall(PCKCycleFillWithNoise(pc, x));
  PetscCall(MatMult(pc->pmat, x, y));
  *changed = (PetscBool) !*image;
  if (*image) {
    PetscCall(PetscMalloc1(3 * dof, &sums));
    PetscCall(Products(pc, dof, y, *image, sums));
    for (PetscInt u = 0; u < dof; u++) {
      const PetscReal *sum = sums + 3 * u;

      if (!(sum[0] >= PetscSqrtReal(sum[1] * sum[2] * (1 - KCYCLE_ANOTHER * KCYCLE_ANOTHER)))) *changed = PETSC_TRUE;
    }
    PetscCall(PetscFree(sums));
  }
  if (*changed) {
    PetscCall(VecDestroy(image));
    *image = y;
  } else PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solvers of levels stop at Inf and NaN, or not: where a trial finds these, levels are bad, and nothing else */
static PetscErrorCode StopAtFailures(PC pc, PetscBool stop)
{
  PC_MG *mg = (PC_MG *)pc->data;

  PetscFunctionBegin;
  if (!pc->erroriffailure) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt l = 0; l < mg->nlevels; l++) {
    KSP solver[2] = {mg->levels[l]->smoothd, mg->levels[l]->smoothu};

    PetscCall(MatSetErrorIfFailure(mg->levels[l]->A, stop));
    for (int i = 0; i < 2; i++) {
      PetscCall(KSPSetErrorIfNotConverged(solver[i], stop));
      solver[i]->pc->erroriffailure = stop;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* e <- (I - M A) e, and norms of its unknowns before each time and in the end, until they are not finite */
static PetscErrorCode Iterate(PC pc, PetscInt dof, MatNullSpace kernel, Vec e, PetscReal norms[])
{
  const KCycleVisit visit = KCycleApplication(pc, KCycleOf(pc)->kappa, PETSC_FALSE);
  Vec               r, z;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(e, &r));
  PetscCall(VecDuplicate(e, &z));
  for (int i = 0; i <= KCYCLE_TRIAL; i++) {
    PetscBool finite = PETSC_TRUE;

    if (kernel) PetscCall(MatNullSpaceRemove(kernel, e));
    PetscCall(Products(pc, dof, e, e, norms + 3 * dof * i));
    for (PetscInt u = 0; u < dof; u++)
      if (PetscIsInfOrNanReal(norms[3 * (dof * i + u)])) finite = PETSC_FALSE;
    if (i == KCYCLE_TRIAL || !finite) {
      PetscCall(PetscArraymove(norms + 3 * dof * KCYCLE_TRIAL, norms + 3 * dof * i, 3 * dof));
      break;
    }
    PetscCall(MatMult(pc->pmat, e, r));
    PetscCall(PCKCycleVisit(pc, &visit, r, z));
    PetscCall(VecAXPY(e, -1, z));
  }
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cycles on A x = 0 from noise: what is left of each unknown's error, from the first cycle on, and of the slowest */
static PetscErrorCode Try(PC pc, PetscInt dof, PetscReal shrinks[], PetscReal *slowest)
{
  Vec          e;
  MatNullSpace kernel;
  PetscReal   *norms;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(pc->pmat, &e, NULL));
  PetscCall(PetscCalloc1(3 * dof * (KCYCLE_TRIAL + 1), &norms));
  PetscCall(PCKCycleGetKernel(pc, &kernel));
  PetscCall(FillUnknown(pc, -1, PETSC_FALSE, e));
  PetscCall(PCKCycleModelPause(pc, PETSC_TRUE));
  PetscCall(StopAtFailures(pc, PETSC_FALSE));
  PetscCall(Iterate(pc, dof, kernel, e, norms));
  PetscCall(StopAtFailures(pc, PETSC_TRUE));
  PetscCall(PCKCycleModelPause(pc, PETSC_FALSE));
  *slowest = 0;
  for (PetscInt u = 0; u < dof; u++) {
    const PetscReal start = norms[3 * u], first = norms[3 * (dof + u)], last = norms[3 * (dof * KCYCLE_TRIAL + u)];

    shrinks[u] = PetscSqrtReal(last / PetscMax(first, TINY * TINY * PetscMax(start, first)));
    if (PetscIsInfOrNanReal(shrinks[u])) shrinks[u] = PETSC_MAX_REAL;
    *slowest = PetscMax(*slowest, shrinks[u]);
  }
  PetscCall(PetscFree(norms));
  PetscCall(MatNullSpaceDestroy(&kernel));
  PetscCall(VecDestroy(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A failure that only a trial has met is none of the solve */
static PetscErrorCode ForgetFailure(PC pc)
{
  PC_MG *mg = (PC_MG *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  for (PetscInt l = 0; l < mg->nlevels; l++) {
    PetscCall(PCSetFailedReason(mg->levels[l]->smoothd->pc, PC_NOERROR));
    PetscCall(PCSetFailedReason(mg->levels[l]->smoothu->pc, PC_NOERROR));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before a set-up: an operator that differs from the one that was tried begins with levels for all unknowns again */
PetscErrorCode PCKCycleUnknownsFollow(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscInt   dof;
  PetscBool  changed;

  PetscFunctionBegin;
  if (!kc->ready || !kc->use_grids || kc->hierarchy != PC_KCYCLE_HIERARCHY_AUTO || !kc->unknowns.tried)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMDAGetDof(pc->dm, &dof));
  PetscCall(PCKCycleOperatorChanged(pc, dof, &kc->unknowns.image, &changed));
  if (!changed) PetscFunctionReturn(PETSC_SUCCESS);
  kc->unknowns.tried = 0;
  if (kc->unknowns.use) PetscCall(PCKCycleLevelsDrop(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels for all unknowns: tried where they may fail */
static PetscErrorCode TryTogether(PC pc, PetscInt dof, PetscBool *fail)
{
  PC_KCycle      *kc = KCycleOf(pc);
  PetscBool       symmetric, changed;
  char            why[256] = "";
  KCycleUnknowns *unknowns = &kc->unknowns;

  PetscFunctionBegin;
  PetscCall(PetscFree(unknowns->shrinks));
  PetscCall(PetscMalloc1(2 * dof, &unknowns->shrinks));
  PetscCall(PCKCycleOperatorChanged(pc, dof, &kc->unknowns.image, &changed)); /* from now on */
  unknowns->slowest[0] = unknowns->slowest[1] = 0;
  PetscCall(IsSymmetric(pc, dof, &symmetric));
  if (!symmetric) PetscCall(Try(pc, dof, unknowns->shrinks, &unknowns->slowest[0]));
  if (unknowns->slowest[0] > KCYCLE_TRIAL_SLOW) PetscCall(PCKCycleUnknownsWhyNot(pc, sizeof(why), why));
  *fail = (PetscBool)(unknowns->slowest[0] > KCYCLE_TRIAL_SLOW && !why[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  After a set-up: are the levels, which were chosen here, good for all unknowns? If they are not, and others may be
  better, these are tried, and the better ones stay. again: there has to be another set-up
*/
PetscErrorCode PCKCycleUnknownsJudge(PC pc, PetscBool *again)
{
  PC_KCycle      *kc = KCycleOf(pc);
  PetscInt        dof, tried;
  PetscBool       use;
  Vec             image;
  KCycleUnknowns *unknowns = &kc->unknowns;

  PetscFunctionBegin;
  use    = unknowns->use;
  *again = PETSC_FALSE;
  if (use && !kc->failure[0]) PetscCall(KSPSetUpOnBlocks(((PC_MG *)pc->data)->levels[0]->smoothd));
  if (!kc->use_grids || kc->ngrids == 1 || kc->hierarchy != PC_KCYCLE_HIERARCHY_AUTO || kc->failure[0])
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMDAGetDof(pc->dm, &dof));
  if (dof < 2 || unknowns->tried != (use ? 1 : 0)) PetscFunctionReturn(PETSC_SUCCESS);
  if (!use) PetscCall(TryTogether(pc, dof, again));
  else PetscCall(Try(pc, dof, unknowns->shrinks + dof, &unknowns->slowest[1]));
  if (use) *again = (PetscBool)(unknowns->slowest[1] > PetscMin(1, KCYCLE_TRIAL_SLOW * unknowns->slowest[0]));
  tried = ++unknowns->tried;
  PetscCall(PetscInfo(pc, "Of errors of the slowest unknown %g are left by %d cycles%s\n",
                      (double)unknowns->slowest[use], KCYCLE_TRIAL - 1, use ? ", one by one" : ""));
  if (unknowns->slowest[use] > KCYCLE_TRIAL_SLOW) PetscCall(ForgetFailure(pc));
  if (!*again) PetscFunctionReturn(PETSC_SUCCESS);
  image           = unknowns->image;
  unknowns->image = NULL;
  PetscCall(PCKCycleLevelsDrop(pc));
  unknowns->image = image;
  unknowns->tried = tried;
  unknowns->use   = (PetscBool)!use;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCKCycleUnknownsView(PC pc, PetscViewer viewer)
{
  PetscInt              dof;
  const KCycleUnknowns *unknowns = &KCycleOf(pc)->unknowns;

  PetscFunctionBegin;
  if (!unknowns->tried || !unknowns->shrinks || unknowns->slowest[0] <= KCYCLE_TRIAL_SLOW)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMDAGetDof(pc->dm, &dof));
  PetscCall(PetscViewerASCIIPrintf(viewer, "    grids for all unknowns together do not suit them: %d cycles leave\n",
                                   KCYCLE_TRIAL - 1));
  for (PetscInt u = 0; u < dof; u++) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "      %.1e of errors of unknown %" PetscInt_FMT,
                                     (double)PetscMin(unknowns->shrinks[u], 1e99), u));
    PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
    if (unknowns->tried > 1)
      PetscCall(PetscViewerASCIIPrintf(viewer, ", one by one %.1e%s",
                                       (double)PetscMin(unknowns->shrinks[dof + u], 1e99),
                                       u == dof - 1 && !unknowns->use ? ", which is not better" : ""));
    PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
    PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
