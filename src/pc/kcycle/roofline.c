/*
  The roofs of a machine in a file that "make roofline" has written: lines of text.

    petsc-kcycle roofline 2
    processes 1
    bandwidth 1.2e10 cached 3e10 cache 33554432
    visit 1.5e-07
    dim 2 exposed 0.3 cg 1.5e-09 5e-09 kcg 1.2e-09 4e-09
    dim 3 exposed 0.4 cg 1.7e-09 6e-09 kcg 1.6e-09 5e-09
    kernels 25
    kernel redblack double dim 2 points 5 sweep 1.1e10 half 190 rest 9.5e9 half 80
    ...
    end
*/
#include "kcycleimpl.h"

#define MAX_LENGTH 16384

static const char Title[] = "petsc-kcycle roofline 2";

/* The text of a file, size - 1 characters at most, on all processes; length -1: it cannot be read */
static PetscErrorCode ReadFile(MPI_Comm comm, const char name[], PetscInt size, char text[], PetscMPIInt *length)
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  *length = -1;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) {
    FILE *file = fopen(name, "r");

    if (file) *length = (PetscMPIInt)fread(text, 1, (size_t)size - 1, file);
    if (file && ferror(file)) *length = -1;
    if (file) fclose(file);
  }
  PetscCallMPI(MPI_Bcast(length, 1, MPI_INT, 0, comm));
  if (*length < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Bcast(text, *length, MPI_CHAR, 0, comm));
  text[*length] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next line of a text, which it cuts off and counts; empty: there is none that is whole */
static const char *NextLine(char **text, int *number)
{
  char *line = *text, *end = strchr(line, '\n');

  ++*number;
  if (!end) return "";
  *end  = 0;
  *text = end + 1;
  return line;
}

/* Comparing with NaN would be an exception where these are trapped */
static PetscBool IsPositive(double x)
{
  return (PetscBool)(!PetscIsInfOrNanReal((PetscReal)x) && x > 0);
}

static PetscBool IsNotNegative(double x)
{
  return (PetscBool)(!PetscIsInfOrNanReal((PetscReal)x) && x >= 0);
}

/* Of grids in 2D (0) or 3D */
static PetscBool ReadDimension(const char line[], int which, KCycleRoofline *roofline)
{
  double exposed, krylov[2][2];
  int    dim;

  if (sscanf(line, "dim %d exposed %lf cg %lf %lf kcg %lf %lf", &dim, &exposed, &krylov[0][0], &krylov[0][1],
             &krylov[1][0], &krylov[1][1]) != 6 ||
      dim != which + 2 || !IsNotNegative(exposed))
    return PETSC_FALSE;
  roofline->exposed[which] = (PetscReal)exposed;
  for (int i = 0; i < 4; i++) {
    if (!IsPositive(krylov[i / 2][i % 2])) return PETSC_FALSE;
    roofline->krylov[which][i / 2][i % 2] = (PetscReal)krylov[i / 2][i % 2];
  }
  return PETSC_TRUE;
}

static PetscBool ReadKernel(const char line[], KCycleRate *rate)
{
  double sweep[2], rest[2];
  int    dim, points;
  char   precision[16];

  if (sscanf(line, "kernel %31s %15s dim %d points %d sweep %lf half %lf rest %lf half %lf", rate->smoother, precision,
             &dim, &points, &sweep[0], &sweep[1], &rest[0], &rest[1]) != 8 ||
      !IsPositive(sweep[0]) || !IsPositive(rest[0]) || !IsNotNegative(sweep[1]) || !IsNotNegative(rest[1]) ||
      (strcmp(precision, "double") && strcmp(precision, "single")))
    return PETSC_FALSE;
  rate->single = (PetscBool)!strcmp(precision, "single");
  rate->dim    = dim;
  rate->points = points;
  rate->sweep  = (KCycleSpeed){(PetscReal)sweep[0], (PetscReal)sweep[1]};
  rate->rest   = (KCycleSpeed){(PetscReal)rest[0], (PetscReal)rest[1]};
  return PETSC_TRUE;
}

/* Of a sound file; false: the line of this number is not */
static PetscBool Read(char *text, KCycleRoofline *roofline, int *number)
{
  double bandwidth = 0, cached = 0, cache = 0, visit = 0;
  int    processes = 0, n = 0, at = 0;

  *number = 0;
  if (strcmp(NextLine(&text, number), Title)) return PETSC_FALSE;
  if (sscanf(NextLine(&text, number), "processes %d%n", &processes, &at) != 1 || processes < 1) return PETSC_FALSE;
  if (sscanf(NextLine(&text, number), "bandwidth %lf cached %lf cache %lf", &bandwidth, &cached, &cache) != 3 ||
      !IsPositive(bandwidth) || !IsPositive(cached) || !IsPositive(cache))
    return PETSC_FALSE;
  if (sscanf(NextLine(&text, number), "visit %lf", &visit) != 1 || !IsPositive(visit)) return PETSC_FALSE;
  for (int i = 0; i < 2; i++) {
    if (!ReadDimension(NextLine(&text, number), i, roofline)) return PETSC_FALSE;
  }
  if (sscanf(NextLine(&text, number), "kernels %d", &n) != 1 || n < 1 || n > KCYCLE_RATES) return PETSC_FALSE;
  roofline->processes = processes;
  roofline->bandwidth = (PetscReal)bandwidth;
  roofline->cached    = (PetscReal)cached;
  roofline->cache     = (PetscReal)cache;
  roofline->visit     = (PetscReal)visit;
  for (roofline->n = 0; roofline->n < n; roofline->n++) {
    if (!ReadKernel(NextLine(&text, number), &roofline->rate[roofline->n])) return PETSC_FALSE;
  }
  return (PetscBool)!strcmp(NextLine(&text, number), "end");
}

/* Of the file that was set */
PetscErrorCode PCKCycleRooflineLoad(PC pc)
{
  const MPI_Comm  comm = PetscObjectComm((PetscObject)pc);
  PC_KCycle      *kc   = KCycleOf(pc);
  KCycleRoofline *roofline;
  PetscInt        n;
  PetscMPIInt     size, length;
  PetscBool       sound = PETSC_FALSE;
  int             line;
  char           *text;

  PetscFunctionBegin;
  if (!kc->predict.file || kc->predict.roofline) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc1(MAX_LENGTH, &text));
  PetscCall(ReadFile(comm, kc->predict.file, MAX_LENGTH, text, &length));
  PetscCall(PetscNew(&roofline));
  if (length >= 0) sound = Read(text, roofline, &line);
  n = roofline->processes;
  PetscCall(PetscFree(text));
  if (sound && n == size) kc->predict.roofline = roofline;
  else PetscCall(PetscFree(roofline));
  PetscCheck(length >= 0, comm, PETSC_ERR_FILE_OPEN,
             "The roofline %s cannot be read (-pc_kcycle_roofline): make it with \"make roofline\"", kc->predict.file);
  PetscCheck(sound, comm, PETSC_ERR_FILE_UNEXPECTED,
             "The roofline %s is damaged: line %d cannot be read (-pc_kcycle_roofline). Make it anew with \"make "
             "roofline\"",
             kc->predict.file, line);
  PetscCheck(n == size, comm, PETSC_ERR_FILE_UNEXPECTED,
             "The roofline %s is for %" PetscInt_FMT " processes, which share memory, and here are %d "
             "(-pc_kcycle_roofline): make one with \"make roofline PROCS=%d\"",
             kc->predict.file, n, size, size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCKCycleSetRoofline - Sets a file with the roofs of the machine, by which times of solves are predicted.

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner
- file - name of the file, which the first process reads; empty: none

  Options Database Key:
. -pc_kcycle_roofline <file> - predicts the time of a solve from a file that `make roofline` has written

  Level: advanced

  Notes:
  The file has the bandwidth of memory and of cache, and for each smoother how fast its kernels are in cache. The time
  of a pass through a level is the longer one of moving its bytes and of its operations, both counted. `-ksp_view` shows
  the time to a residual of 1e-10 that is predicted, and after a solve what was measured; where nothing can be predicted
  it says why. See `PCKCycleSetSweeps()` for what levels these are.

  It is an error at set-up where the file cannot be read, is damaged, or was made with another number of processes, as
  these share memory. That it comes from the same machine is for the user to see to.

  Ghysels and Vanroose, Modeling the performance of geometric multigrid stencils on multicore computer architectures,
  equations (2.1) and (4.2).

.seealso: `PCKCYCLE`, `PCKCycleGetRoofline()`, `PCKCycleSetSweeps()`, `PCKCyclePredictFactor()`
@*/
PetscErrorCode PCKCycleSetRoofline(PC pc, const char file[])
{
  PC_KCycle *kc;
  size_t     length;
  char      *copy = NULL;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(file, 2);
  kc = KCycleOf(pc);
  if (!kc) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrlen(file, &length));
  PetscCheck(length < PETSC_MAX_PATH_LEN, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ,
             "The name of a file with a roofline has %" PetscInt_FMT " characters, at most %d are allowed",
             (PetscInt)length, PETSC_MAX_PATH_LEN - 1);
  if (length) PetscCall(PetscStrallocpy(file, &copy));
  PetscCall(PetscFree(kc->predict.file));
  PetscCall(PetscFree(kc->predict.roofline));
  kc->predict.file = copy;
  PetscCall(PCKCyclePredictReset(kc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCKCycleGetRoofline - Gets the file with the roofs of the machine.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. file - name of the file, empty if there is none; belongs to the preconditioner

  Level: advanced

.seealso: `PCKCYCLE`, `PCKCycleSetRoofline()`
@*/
PetscErrorCode PCKCycleGetRoofline(PC pc, const char *file[])
{
  PC_KCycle *kc;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(file, 2);
  PetscCall(PCKCycleGetContext(pc, &kc));
  *file = kc->predict.file ? kc->predict.file : "";
  PetscFunctionReturn(PETSC_SUCCESS);
}
