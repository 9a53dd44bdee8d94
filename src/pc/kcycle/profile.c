/*
  The time of each component on each level, of cycles on arrays and of those of PCMG's objects.
*/
#include "kcycleimpl.h"

/* Of a row over all processes */
typedef struct {
  double seconds, flops, bytes, calls;
} Row;

static const char *const Names[KCYCLE_NUM_ROWS] = {"smoothing",
                                                   "residual",
                                                   "restriction",
                                                   "interpolation",
                                                   "coarse solve",
                                                   "smoothing+residual+restriction",
                                                   "interpolation+smoothing",
                                                   "start+smoothing+residual+restriction",
                                                   "norms and conversion"};

/* Times of all levels begin anew */
PetscErrorCode PCKCycleProfileReset(PC_KCycle *kc)
{
  PetscFunctionBegin;
  for (PetscInt l = 0; l < kc->nlevels; l++) PetscCall(PetscMemzero(&kc->level[l].profile, sizeof(KCycleProfile)));
  kc->profiling.seconds = 0;
  kc->profiling.cycles  = 0;
  PetscCall(PCKCycleProfileFollow(kc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cycles that run from now on count, or do not */
PetscErrorCode PCKCycleProfileFollow(PC_KCycle *kc)
{
  PetscFunctionBegin;
  kc->profiling.on = (PetscBool)(kc->profiling.wanted && !kc->timing.paused);
  for (PetscInt l = 0; l < kc->nlevels; l++) kc->level[l].profile.on = kc->profiling.on;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The clock of all cycles. That of the solver that has the finest level counts */
void PCKCycleProfileStart(PC_KCycle *kc)
{
  if (kc->profiling.on) kc->profiling.since = MPI_Wtime();
}

void PCKCycleProfileStop(PC_KCycle *kc, PetscInt cycles)
{
  if (!kc->profiling.on) return;
  kc->profiling.seconds += (PetscReal)(MPI_Wtime() - kc->profiling.since);
  kc->profiling.cycles += cycles;
}

/* Those of this process, by the number of the level. Levels that are agglomerated have what they do there, and
   the one that ends here the way to them */
static PetscErrorCode AddRows(PC pc, Row (*rows)[KCYCLE_NUM_ROWS])
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  for (PetscInt l = 0; l < kc->nlevels; l++) {
    const KCycleProfile *profile = &kc->level[l].profile;

    for (int r = 0; r < KCYCLE_NUM_ROWS; r++) {
      Row *row = &rows[l + kc->gathered.below][r];

      row->seconds += profile->seconds[r];
      row->flops += profile->flops[r];
      row->bytes += profile->bytes[r];
      row->calls += (double)profile->calls[r];
    }
  }
  if (kc->gathered.pc) PetscCall(AddRows(kc->gathered.pc, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Over the processes: seconds in the mean, as each waits for others in its own rows; operations and bytes in sum; calls
   as each of them has them, or those of agglomerated levels */
static PetscErrorCode Collect(PC pc, Row (*all)[KCYCLE_NUM_ROWS], double *seconds)
{
  const PetscMPIInt n    = (PetscMPIInt)(KCYCLE_MAX_LEVELS * KCYCLE_NUM_ROWS * sizeof(Row) / sizeof(double));
  MPI_Comm          comm = PetscObjectComm((PetscObject)pc);
  PetscMPIInt       size;
  Row(*mine)[KCYCLE_NUM_ROWS];
  double total;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscCalloc1(KCYCLE_MAX_LEVELS, &mine));
  PetscCall(AddRows(pc, mine));
  PetscCallMPI(MPI_Allreduce(mine, all, n, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, mine, n, MPI_DOUBLE, MPI_MAX, comm));
  for (PetscInt l = 0; l < KCYCLE_MAX_LEVELS; l++) {
    for (int r = 0; r < KCYCLE_NUM_ROWS; r++) {
      all[l][r].calls = mine[l][r].calls;
      all[l][r].seconds /= size;
    }
  }
  total = (double)KCycleOf(pc)->profiling.seconds;
  PetscCallMPI(MPI_Allreduce(&total, seconds, 1, MPI_DOUBLE, MPI_SUM, comm));
  *seconds /= size;
  PetscCall(PetscFree(mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The way to fewer processes is no solve */
static const char *NameOf(PetscInt l, int row)
{
  return row == KCYCLE_ROW_COARSE && l ? "to fewer processes and back" : Names[row];
}

static PetscErrorCode ShowRow(PetscInt l, int r, const Row *row, double total, PetscBool csv, PetscViewer viewer)
{
  const double share = total > 0 ? row->seconds / total : 0, speed = row->seconds > 0 ? 1e-9 / row->seconds : 0;

  PetscFunctionBegin;
  if (csv) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "%" PetscInt_FMT ",%s,%.0f,%.6e,%.4f,%.0f,%.4f,", l, NameOf(l, r),
                                     row->calls, row->seconds, share, row->flops, row->flops * speed));
    if (row->bytes > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "%.0f,%.4f\n", row->bytes, row->bytes * speed));
    else PetscCall(PetscViewerASCIIPrintf(viewer, ",\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "      %5" PetscInt_FMT "  %-36s %9.0f %11.4e %6.1f %9.3f", l, NameOf(l, r),
                                   row->calls, row->seconds, 100 * share, row->flops * speed));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  if (row->bytes > 0) PetscCall(PetscViewerASCIIPrintf(viewer, " %14.0f %8.3f\n", row->bytes, row->bytes * speed));
  else PetscCall(PetscViewerASCIIPrintf(viewer, " %14s %8s\n", "-", "-"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShowHead(const PC_KCycle *kc, double total, double sum, PetscBool csv, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (csv)
    PetscCall(
        PetscViewerASCIIPrintf(viewer, "level,component,calls,seconds,share,flop,gflop_per_s,bytes,gbyte_per_s\n"));
  else {
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "    profile: %" PetscInt64_FMT " cycles took %.4e s, of which %.4e s are in these rows\n",
        kc->profiling.cycles, total, sum));
    PetscCall(PetscViewerASCIIPrintf(viewer, "      %5s  %-36s %9s %11s %6s %9s %14s %8s\n", "level",
                                     "component (+: one pass)", "calls", "seconds", "%", "GFLOP/s", "bytes", "GB/s"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCKCycleProfileShow(PC pc, PetscBool csv, PetscViewer viewer)
{
  PC_KCycle *kc = KCycleOf(pc);
  Row(*all)[KCYCLE_NUM_ROWS];
  double total, sum = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(KCYCLE_MAX_LEVELS, &all));
  PetscCall(Collect(pc, all, &total));
  for (PetscInt l = 0; l < KCYCLE_MAX_LEVELS; l++) {
    for (int r = 0; r < KCYCLE_NUM_ROWS; r++) sum += all[l][r].seconds;
  }
  PetscCall(ShowHead(kc, total, sum, csv, viewer));
  for (PetscInt l = KCYCLE_MAX_LEVELS - 1; l >= 0; l--) {
    for (int r = 0; r < KCYCLE_NUM_ROWS; r++) {
      if (all[l][r].calls > 0) PetscCall(ShowRow(l, r, &all[l][r], total, csv, viewer));
    }
  }
  if (csv)
    PetscCall(
        PetscViewerASCIIPrintf(viewer, "all,cycles,%" PetscInt64_FMT ",%.6e,1,,,,\n", kc->profiling.cycles, total));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* To where the option says; what has been shown begins anew */
PetscErrorCode PCKCycleProfileFinish(PC pc)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)pc);
  PC_KCycle  *kc   = KCycleOf(pc);
  PetscViewer viewer;

  PetscFunctionBegin;
  if (!kc->profiling.wanted || !kc->profiling.shown || !kc->profiling.cycles || kc->finer.exists)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerCreate(comm, &viewer));
  PetscCall(PetscViewerSetType(viewer, PETSCVIEWERASCII));
  PetscCall(PetscViewerFileSetMode(viewer, kc->profiling.append ? FILE_MODE_APPEND : FILE_MODE_WRITE));
  PetscCall(PetscViewerFileSetName(viewer, kc->profiling.file ? kc->profiling.file : "stdout"));
  PetscCall(PCKCycleProfileShow(pc, kc->profiling.csv, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PCKCycleProfileReset(kc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleSetProfile - Sets whether the time of each component is taken on each level.

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner
- profile - whether it is

  Options Database Key:
. -pc_kcycle_profile [[ascii]:file.csv[:ascii_csv][:append]] - takes it, and shows it when the preconditioner is reset
      or destroyed (default none): as a table, or in a file whose name ends in .csv, or with ascii_csv, as numbers
      between commas

  Level: intermediate

  Notes:
  For each level and component (smoothing, residual, restriction, interpolation, coarse solve) the number of calls, the
  seconds, the share of all cycles, the rates of operations and of bytes. Components that are done in one pass through
  the grid have one row, whose name says which they are: there is no time of each. Bytes are those of
  `-pc_kcycle_count_bytes`, the least that a pass moves; where PETSc's objects run the levels, and of the coarse
  solve, none are counted. Operations are those that PETSc logs.

  On several processes seconds are means, operations and bytes sums. What a process waits for others is in the row where
  it waits. Cycles that set-up runs to learn something are left out. It is also shown by `-ksp_view`.

  Levels that would be on a device are on the host; with `-pc_kcycle_place device` that is an error. Additive and
  Kaskade multigrid are PETSc's, and have no rows.

  Reference:
. * - Feng and others, section 5: the components of multigrid on each level

.seealso: `PCKCYCLE`, `PCKCycleGetProfile()`, `PCKCycleViewProfile()`, `PCKCycleGetLevelCalls()`
@*/
PetscErrorCode PCKCycleSetProfile(PC pc, PetscBool profile)
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, profile, 2);
  kc = KCycleOf(pc);
  if (!kc) PetscFunctionReturn(PETSC_SUCCESS);
  if (kc->profiling.wanted == profile) PetscFunctionReturn(PETSC_SUCCESS);
  kc->profiling.wanted = profile;
  PetscCall(PCKCycleProfileReset(kc));
  PetscCall(PCKCycleApplyChoice(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleGetProfile - Gets whether the time of each component is taken on each level.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. profile - whether it is

  Level: intermediate

.seealso: `PCKCYCLE`, `PCKCycleSetProfile()`
@*/
PetscErrorCode PCKCycleGetProfile(PC pc, PetscBool *profile)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(profile, 2);
  KC_KCYCLE_GET(pc, profiling.wanted, profile);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleViewProfile - Shows the time of each component on each level, of all cycles since the profile was set.

  Collective

  Input Parameters:
+ pc     - the preconditioner, with `PCKCycleSetProfile()`
- viewer - an ASCII viewer; with the format `PETSC_VIEWER_ASCII_CSV` numbers are between commas

  Options Database Key:
. -pc_kcycle_profile [[ascii]:file.csv[:ascii_csv][:append]] - shows it when the preconditioner is reset or destroyed

  Level: intermediate

.seealso: `PCKCYCLE`, `PCKCycleSetProfile()`
@*/
PetscErrorCode PCKCycleViewProfile(PC pc, PetscViewer viewer)
{
  PC_KCycle        *kc;
  PetscViewerFormat format;
  PetscBool         isascii;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidHeaderSpecific(viewer, PETSC_VIEWER_CLASSID, 2);
  PetscCall(PCKCycleGetContext(pc, &kc));
  PetscCheck(kc->profiling.wanted, PetscObjectComm((PetscObject)pc), PETSC_ERR_ORDER,
             "Nothing is timed: use -pc_kcycle_profile (PCKCycleSetProfile()) before the solve");
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &isascii));
  PetscCheck(isascii, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "A profile is text, for an ASCII viewer");
  PetscCall(PetscViewerGetFormat(viewer, &format));
  PetscCall(PCKCycleProfileShow(pc, (PetscBool)(format == PETSC_VIEWER_ASCII_CSV), viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
