/*
  The choice of kappa: the one with which a solve takes the least time.

  The time of an iteration is the model's (model.c). How many there will be follows from the eigenvalues of M A, where
  M is an application with one kappa: a few steps of Arnoldi's method find the extreme ones, from a vector that has
  much of the slow ones. Larger kappas converge faster and take longer, each gaining less than the one before.
*/
#include "kcycleimpl.h"
#include <petscdmda.h>

PetscErrorCode PCKCycleAutoReset(PC_KCycle *kc)
{
  PetscFunctionBegin;
  kc->automatic.chosen    = PETSC_FALSE;
  kc->automatic.n         = 0;
  kc->automatic.reason[0] = 0;
  PetscCall(VecDestroy(&kc->automatic.image));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Evenly distributed between -1 and 1 */
static PetscReal Noise(PetscInt64 number)
{
  uint64_t z = ((uint64_t)number + 1) * UINT64_C(0x9e3779b97f4a7c15);

  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  z = z ^ (z >> 31);
  return (PetscReal)(z >> 12) / (PetscReal)(UINT64_C(1) << 51) - 1;
}

/* Numbers of the grid's points, or of rows where no grid is known, decide: the same on any number of processes */
PetscErrorCode PCKCycleFillWithNoise(PC pc, Vec v)
{
  PetscScalar *a;
  PetscInt     low, n, size[3] = {0, 0, 0}, s[3], m[3], dof = 1;
  PetscBool    da = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(v, &low, NULL));
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayWrite(v, &a));
  if (pc->dm) PetscCall(PetscObjectTypeCompare((PetscObject)pc->dm, DMDA, &da));
  if (da) {
    PetscCall(
        DMDAGetInfo(pc->dm, NULL, &size[0], &size[1], &size[2], NULL, NULL, NULL, &dof, NULL, NULL, NULL, NULL, NULL));
    PetscCall(DMDAGetCorners(pc->dm, &s[0], &s[1], &s[2], &m[0], &m[1], &m[2]));
    da = (PetscBool)(m[0] * m[1] * m[2] * dof == n);
  }
  for (PetscInt i = 0; i < n; i++) {
    PetscInt64 number = (PetscInt64)low + i;

    if (da) {
      const PetscInt point = i / dof, x = s[0] + point % m[0], y = s[1] + point / m[0] % m[1],
                     z = s[2] + point / m[0] / m[1];

      number = (((PetscInt64)z * size[1] + y) * size[0] + x) * dof + i % dof;
    }
    a[i] = Noise(number);
  }
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the estimates work with */
typedef struct {
  PC           pc;
  MatNullSpace kernel; /* or NULL */
  Vec          v[KCYCLE_AUTO_STEPS + 1], w;
  PetscScalar  h[KCYCLE_AUTO_STEPS * KCYCLE_AUTO_STEPS]; /* by rows */
  PetscInt     steps;                                    /* that there were */
} Space;

/* What cycles on A x = 0 do not shrink: the kernel that is known, to be destroyed; or NULL */
PetscErrorCode PCKCycleGetKernel(PC pc, MatNullSpace *kernel)
{
  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(pc->pmat, kernel));
  if (*kernel) PetscCall(PetscObjectReference((PetscObject)*kernel));
  else if (KCycleOf(pc)->kernel_constant)
    PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)pc), PETSC_TRUE, 0, NULL, kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSpace(PC pc, Space *space)
{
  PetscFunctionBegin;
  space->pc = pc;
  PetscCall(MatCreateVecs(pc->pmat, &space->v[0], &space->w));
  for (PetscInt i = 1; i <= KCYCLE_AUTO_STEPS; i++) PetscCall(VecDuplicate(space->v[0], &space->v[i]));
  PetscCall(PCKCycleGetKernel(pc, &space->kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroySpace(Space *space)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i <= KCYCLE_AUTO_STEPS; i++) PetscCall(VecDestroy(&space->v[i]));
  PetscCall(VecDestroy(&space->w));
  PetscCall(MatNullSpaceDestroy(&space->kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What rounding has left of the kernel: cycles do not shrink it as they do the rest */
static PetscErrorCode RemoveKernel(const Space *space, Vec x)
{
  PetscFunctionBegin;
  if (space->kernel) PetscCall(MatNullSpaceRemove(space->kernel, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y <- M A x */
static PetscErrorCode Apply(Space *space, PetscInt kappa, Vec x, Vec y)
{
  const KCycleVisit visit = KCycleApplication(space->pc, kappa, PETSC_FALSE);
  PC_KCycle        *kc    = KCycleOf(space->pc);

  PetscFunctionBegin;
  PetscCall(MatMult(space->pc->pmat, x, space->w));
  PetscCall(PCKCycleVisit(space->pc, &visit, space->w, y));
  PetscCall(RemoveKernel(space, y));
  kc->automatic.cost += visit.cycles;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Noise, and V-cycles on A x = 0, which leave what is slow */
static PetscErrorCode Start(Space *space)
{
  PetscFunctionBegin;
  PetscCall(PCKCycleFillWithNoise(space->pc, space->v[0]));
  PetscCall(RemoveKernel(space, space->v[0]));
  for (int i = 0; i < KCYCLE_AUTO_SMOOTH; i++) {
    PetscCall(Apply(space, 1, space->v[0], space->v[1]));
    PetscCall(VecAXPY(space->v[0], -1, space->v[1]));
    PetscCall(RemoveKernel(space, space->v[0]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Arnoldi's method from v[0]; twice orthogonal to what there is */
static PetscErrorCode Arnoldi(Space *space, PetscInt kappa)
{
  const PetscInt m = KCYCLE_AUTO_STEPS;
  PetscReal      norm;
  PetscScalar    dots[KCYCLE_AUTO_STEPS];

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(space->h, m * m));
  PetscCall(VecNormalize(space->v[0], &norm));
  space->steps = 0;
  if (!(norm > 0) || PetscIsInfOrNanReal(norm)) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < m; k++) {
    PetscCall(Apply(space, kappa, space->v[k], space->v[k + 1]));
    for (int again = 0; again < 2; again++) {
      PetscCall(VecMDot(space->v[k + 1], k + 1, space->v, dots));
      for (PetscInt i = 0; i <= k; i++) {
        space->h[i * m + k] += dots[i];
        dots[i] = -dots[i];
      }
      PetscCall(VecMAXPY(space->v[k + 1], k + 1, dots, space->v));
    }
    PetscCall(RemoveKernel(space, space->v[k + 1]));
    PetscCall(VecNormalize(space->v[k + 1], &norm));
    if (PetscIsInfOrNanReal(norm)) PetscFunctionReturn(PETSC_SUCCESS);
    space->steps = k + 1;
    if (norm < 1e-10) break; /* these are all eigenvalues that the start has to do with */
    if (k + 1 < m) space->h[(k + 1) * m + k] = norm;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The part of h that there is, or I - h */
static void Copy(const Space *space, PetscBool error, PetscScalar a[])
{
  for (PetscInt i = 0; i < space->steps; i++) {
    for (PetscInt j = 0; j < space->steps; j++) {
      const PetscScalar h = space->h[i * KCYCLE_AUTO_STEPS + j];

      a[i * space->steps + j] = error ? (PetscReal)(i == j ? 1 : 0) - h : h;
    }
  }
}

/* Eigenvalues; false: there is nothing to learn. The slowest error belongs to the smallest one where cycles converge */
static PetscBool Learn(const Space *space, KCycleCandidate *candidate)
{
  PetscScalar a[KCYCLE_AUTO_STEPS * KCYCLE_AUTO_STEPS];
  PetscReal   largest;

  if (!space->steps) return PETSC_FALSE;
  Copy(space, PETSC_TRUE, a);
  candidate->factor = KCycleModelRadius(space->steps, a);
  Copy(space, PETSC_FALSE, a);
  largest = KCycleModelRadius(space->steps, a);
  if (candidate->factor < 1) candidate->contrast = PetscMax(1, largest) / (1 - candidate->factor);
  else { /* some are too large, or complex: the smallest itself */ Copy(space, PETSC_FALSE, a);
    if (!KCycleModelInvert(space->steps, a)) return PETSC_FALSE;
    candidate->contrast = PetscMax(1, largest * KCycleModelRadius(space->steps, a));
  }
  return (PetscBool)(!PetscIsInfOrNanReal(candidate->factor) && !PetscIsInfOrNanReal(candidate->contrast));
}

/* Into v[0]: the start for the next kappa, (I - M A)^steps applied to the last start as the space has it */
static PetscErrorCode KeepSlow(Space *space)
{
  const PetscInt m                    = space->steps;
  PetscScalar    x[KCYCLE_AUTO_STEPS] = {1}, y[KCYCLE_AUTO_STEPS];

  PetscFunctionBegin;
  for (PetscInt k = 0; k < m; k++) {
    for (PetscInt i = 0; i < m; i++) {
      y[i] = x[i];
      for (PetscInt j = 0; j < m; j++) y[i] -= space->h[i * KCYCLE_AUTO_STEPS + j] * x[j];
    }
    for (PetscInt i = 0; i < m; i++) x[i] = y[i];
  }
  PetscCall(VecScale(space->v[0], x[0]));
  PetscCall(VecMAXPY(space->v[0], m - 1, x + 1, space->v + 1));
  PetscCall(RemoveKernel(space, space->v[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How many iterations shrink the error by e, at most */
static PetscReal Iterations(const KCycleCandidate *candidate, PetscBool richardson)
{
  const PetscReal root = PetscSqrtReal(candidate->contrast);
  const PetscReal rate = PetscMax(richardson ? candidate->factor : (root - 1) / (root + 1), (PetscReal)1e-3);

  return rate < 1 ? -1 / PetscLogReal(rate) : PETSC_MAX_REAL / 1e30;
}

/* The model's seconds of an iteration with a kappa */
static PetscReal Seconds(PC pc, const PC_KCycle *kc, PetscInt kappa, PetscBool richardson)
{
  KCycleVisit    visit = KCycleApplication(pc, kappa, PETSC_FALSE);
  KCycleModelSum sum   = {0};

  visit.zeroguess = (PetscBool)!richardson;
  KCycleModelAdd(&kc->timing.model, &visit, &sum);
  return sum.seconds + (richardson ? 0 : kc->automatic.vectors);
}

/* What a Krylov method does but for its preconditioner: a product, and operations of vectors */
static PetscErrorCode TimeVectors(Space *space, PetscReal *seconds)
{
  PetscReal   times[5];
  PetscScalar dot;

  PetscFunctionBegin;
  for (int i = 0; i < 5; i++) {
    const PetscLogDouble start = MPI_Wtime();

    PetscCall(MatMult(space->pc->pmat, space->v[0], space->w));
    for (int k = 0; k < 2; k++) {
      PetscCall(VecDot(space->v[0], space->w, &dot));
      PetscCall(VecAXPY(space->v[KCYCLE_AUTO_STEPS], 1, space->v[0]));
    }
    times[i] = (PetscReal)(MPI_Wtime() - start);
  }
  *seconds = KCycleModelMedian(5, times);
  PetscCallMPI(MPI_Bcast(seconds, 1, MPIU_REAL, 0, PetscObjectComm((PetscObject)space->pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does a larger kappa have a chance, alone or within a Krylov method, if it gains as much as the last one did? */
static PetscBool GoesOn(PC pc, const PC_KCycle *kc, PetscInt next)
{
  const KCycleAuto *automatic = &kc->automatic;
  PetscBool         goes      = (PetscBool)(automatic->n < 2);

  for (int i = 0; i < 2 && !goes; i++) {
    const PetscBool richardson = i ? PETSC_TRUE : PETSC_FALSE;
    const PetscReal last       = Iterations(&automatic->candidate[automatic->n - 1], richardson),
                    ratio      = last / Iterations(&automatic->candidate[automatic->n - 2], richardson);
    PetscReal best             = PETSC_MAX_REAL;

    for (PetscInt c = 0; c < automatic->n; c++)
      best = PetscMin(best, Iterations(&automatic->candidate[c], richardson) *
                                Seconds(pc, kc, automatic->candidate[c].kappa, richardson));
    if (ratio < 1 - KCYCLE_AUTO_GAIN && ratio * last * Seconds(pc, kc, next, richardson) < best) goes = PETSC_TRUE;
  }
  return goes;
}

static PetscErrorCode Try(PC pc)
{
  const PetscInt kappas[]  = {1, 2, 3, 4, PC_KCYCLE_KAPPA_W};
  PC_KCycle     *kc        = KCycleOf(pc);
  Space          space     = {0};
  KCycleAuto    *automatic = &kc->automatic;

  PetscFunctionBegin;
  automatic->n    = 0;
  automatic->cost = kc->timing.cycles;
  PetscCall(CreateSpace(pc, &space));
  PetscCall(Start(&space));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(kappas); i++) {
    KCycleCandidate *candidate = &automatic->candidate[automatic->n];

    if (kappas[i] >= kc->timing.model.nlevels && kappas[i] != PC_KCYCLE_KAPPA_W) continue;
    if (!GoesOn(pc, kc, kappas[i])) break;
    if (automatic->n) PetscCall(KeepSlow(&space));
    candidate->kappa = kappas[i];
    PetscCall(Arnoldi(&space, kappas[i]));
    if (!Learn(&space, candidate)) break;
    if (!automatic->n++) PetscCall(TimeVectors(&space, &automatic->vectors));
  }
  PetscCall(DestroySpace(&space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Estimate(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(PCKCycleModelPause(pc, PETSC_TRUE));
  PetscCall(Try(pc));
  PetscCall(PCKCycleModelPause(pc, PETSC_FALSE));
  if (!kc->automatic.n)
    PetscCall(PetscSNPrintf(kc->automatic.reason, sizeof(kc->automatic.reason), "estimates of eigenvalues failed"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The candidate with the least time */
static PetscErrorCode Choose(PC pc, PetscBool richardson)
{
  PC_KCycle  *kc        = KCycleOf(pc);
  PetscReal   best      = PETSC_MAX_REAL;
  KCycleAuto *automatic = &kc->automatic;

  PetscFunctionBegin;
  automatic->richardson = richardson;
  for (PetscInt c = 0; c < automatic->n; c++) {
    const PetscInt  kappa = automatic->candidate[c].kappa;
    const PetscReal time  = Iterations(&automatic->candidate[c], richardson) * Seconds(pc, kc, kappa, richardson);

    if (time < best) kc->kappa = kappa;
    best = PetscMin(best, time);
  }
  PetscCall(PCKCycleGatheredFollow(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After set-up, and where kappa is to be chosen since then */
PetscErrorCode PCKCycleAutoSetUp(PC pc)
{
  PC_KCycle           *kc        = KCycleOf(pc);
  const PetscLogDouble start     = MPI_Wtime();
  PetscBool            changed   = PETSC_TRUE;
  KCycleAuto          *automatic = &kc->automatic;

  PetscFunctionBegin;
  if (!automatic->wanted || (automatic->chosen && !kc->busy)) PetscFunctionReturn(PETSC_SUCCESS);
  if (((PC_MG *)pc->data)->am != PC_MG_MULTIPLICATIVE && ((PC_MG *)pc->data)->am != PC_MG_FULL)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCKCycleOperatorChanged(pc, 1, &automatic->image, &changed));
  if (automatic->chosen && !changed) PetscFunctionReturn(PETSC_SUCCESS);
  automatic->reason[0] = 0;
  kc->kappa            = 1;
  if (kc->nlevels + kc->gathered.below == 1)
    PetscCall(PetscSNPrintf(automatic->reason, sizeof(automatic->reason), "there is a single level"));
  else {
    PetscCall(PCKCycleModelCalibrate(pc));
    if (kc->timing.ready) PetscCall(Estimate(pc));
    else
      PetscCall(PetscSNPrintf(automatic->reason, sizeof(automatic->reason), "the clock cannot tell what cycles take"));
  }
  PetscCall(Choose(pc, automatic->richardson));
  automatic->chosen  = PETSC_TRUE;
  automatic->seconds = (PetscReal)(MPI_Wtime() - start);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solver is known now */
PetscErrorCode PCKCycleAutoUse(PC pc, KSP ksp)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscBool  richardson;

  PetscFunctionBegin;
  if (!kc->automatic.wanted || !kc->automatic.chosen) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPRICHARDSON, &richardson));
  if (richardson != kc->automatic.richardson) PetscCall(Choose(pc, richardson));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCKCycleAutoView(PC pc, PetscViewer viewer)
{
  PC_KCycle        *kc        = KCycleOf(pc);
  const KCycleAuto *automatic = &kc->automatic;

  PetscFunctionBegin;
  if (!automatic->wanted) PetscFunctionReturn(PETSC_SUCCESS);
  if (!automatic->chosen) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "    kappa is to be chosen at set-up\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (automatic->reason[0]) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "    kappa was not chosen: %s\n", automatic->reason));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "    kappa was chosen for %s, by %" PetscInt_FMT " cycles, in %.3g s\n",
                                   automatic->richardson ? "KSPRICHARDSON" : "a Krylov method", automatic->cost,
                                   (double)automatic->seconds));
  for (PetscInt c = 0; c < automatic->n; c++) {
    const KCycleCandidate *candidate = &automatic->candidate[c];
    const PetscReal        its       = Iterations(candidate, automatic->richardson);
    const PetscReal        seconds   = Seconds(pc, kc, candidate->kappa, automatic->richardson);
    char                   name[8]   = "w";

    if (candidate->kappa != PC_KCYCLE_KAPPA_W)
      PetscCall(PetscSNPrintf(name, sizeof(name), "%" PetscInt_FMT, candidate->kappa));
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "      kappa %s: error factor %.3f, eigenvalues apart %.3g: %.3g iterations of %.3g s a digit%s\n",
        name, (double)candidate->factor, (double)candidate->contrast, (double)(its * PetscLogReal(10)), (double)seconds,
        candidate->kappa == kc->kappa ? ", chosen" : ""));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
