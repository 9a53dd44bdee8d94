/*
  Times of the visits of levels in a file: lines of text, which say what levels they are of.

    petsc-kcycle calibration 1
    processes 1
    levels 2
    level 0 rows 49 launches 7 operations 4851 messages 0 zero 1.2e-06 again 1.2e-06 solver 2*jacobi,2*jacobi,double
    level 1 rows 9 ...
    outside 4e-07
    end
*/
#include "kcycleimpl.h"

#define MAX_LENGTH 65536

static const char Title[] = "petsc-kcycle calibration 1";

static PetscErrorCode WriteFile(FILE *file, const KCycleModel *model)
{
  PetscFunctionBegin;
  PetscCall(PetscFPrintf(PETSC_COMM_SELF, file, "%s\nprocesses %" PetscInt_FMT "\nlevels %" PetscInt_FMT "\n", Title,
                         model->processes, model->nlevels));
  for (PetscInt l = 0; l < model->nlevels; l++) {
    const KCycleModelLevel *level = &model->level[l];

    PetscCall(PetscFPrintf(PETSC_COMM_SELF, file,
                           "level %" PetscInt_FMT " rows %.0f launches %.0f operations %.0f messages %.0f zero %.9e "
                           "again %.9e solver %s\n",
                           l, (double)level->rows, (double)level->launches, (double)level->operations,
                           (double)level->messages, (double)level->seconds[0], (double)level->seconds[1],
                           level->solver));
  }
  PetscCall(PetscFPrintf(PETSC_COMM_SELF, file, "outside %.9e\nend\n", (double)model->outside));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCKCycleCalibrationSave(PC pc, const char name[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PC_KCycle     *kc;
  PetscMPIInt    rank, failed = 0;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) {
    FILE *file = fopen(name, "w");

    if (file) PetscCall(WriteFile(file, &kc->timing.model));
    failed = !file || fclose(file) ? 1 : 0;
  }
  PetscCallMPI(MPI_Bcast(&failed, 1, MPI_INT, 0, comm));
  PetscCheck(!failed, comm, PETSC_ERR_FILE_WRITE,
             "The calibration cannot be written to %s (-pc_kcycle_calibration_save)", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The text of a file, size - 1 characters at most, on all processes; length -1: it cannot be read */
PetscErrorCode PCKCycleReadFile(MPI_Comm comm, const char name[], PetscInt size, char text[], PetscMPIInt *length)
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

/* The next line of a text, which it cuts off; NULL: there is none that is whole */
static char *NextLine(char **text)
{
  char *line = *text, *end = strchr(line, '\n');

  if (!end) return NULL;
  *end  = 0;
  *text = end + 1;
  return line;
}

/* Comparing with NaN would be an exception where these are trapped */
static PetscBool IsTime(double seconds)
{
  return (PetscBool)(!PetscIsInfOrNanReal((PetscReal)seconds) && seconds >= 0 && seconds < 1e6);
}

/* refusal: what is wrong with the line of level l, or empty; rows and the rest are compared with those here */
static PetscErrorCode ReadLevel(const char line[], PetscInt l, KCycleModelLevel *level, size_t len, char refusal[])
{
  KCycleModelLevel read      = *level;
  double           number[6] = {0, 0, 0, 0, 0, 0};
  int              which = -1, at = -1;

  PetscFunctionBegin;
  if (line) {
    (void)sscanf(line, "level %d rows %lf launches %lf operations %lf messages %lf zero %lf again %lf solver %n",
                 &which, &number[0], &number[1], &number[2], &number[3], &number[4], &number[5], &at);
  }
  if (which != (int)l || at < 0 || !IsTime(number[4]) || !IsTime(number[5]))
    PetscCall(PetscSNPrintf(refusal, len, "it is damaged: level %" PetscInt_FMT " cannot be read", l));
  else if (!l && !(number[4] > 0))
    PetscCall(PetscSNPrintf(refusal, len, "it has measured nothing: a visit of the finest level takes no time there"));
  else if (number[0] != (double)level->rows)
    PetscCall(PetscSNPrintf(refusal, len,
                            "it is of another grid: level %" PetscInt_FMT " has %.0f rows there, and %.0f here", l,
                            number[0], (double)level->rows));
  else if (strcmp(line + at, level->solver))
    PetscCall(PetscSNPrintf(refusal, len,
                            "it is of another smoother: level %" PetscInt_FMT " has %s there, and %s here", l,
                            line + at, level->solver));
  else if (number[1] != (double)level->launches || number[2] != (double)level->operations ||
           number[3] != (double)level->messages)
    PetscCall(PetscSNPrintf(refusal, len,
                            "it is of another operator: level %" PetscInt_FMT
                            " has %.0f launches, %.0f operations and %.0f messages there, and %.0f, %.0f, %.0f here",
                            l, number[1], number[2], number[3], (double)level->launches, (double)level->operations,
                            (double)level->messages));
  if (refusal[0]) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 2; i++) read.seconds[i] = (PetscReal)number[4 + i];
  *level = read;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A line that is a word and a whole number, which is to be what it is here */
static PetscErrorCode ReadCount(const char line[], const char word[], PetscInt here, size_t len, char refusal[])
{
  const size_t n     = strlen(word);
  int          there = -1;
  char         more;

  PetscFunctionBegin;
  if (!line || strncmp(line, word, n) || sscanf(line + n, " %d%c", &there, &more) != 1 || there < 1)
    PetscCall(PetscSNPrintf(refusal, len, "it is damaged: the line \"%s\" cannot be read", word));
  else if (there != (int)here)
    PetscCall(PetscSNPrintf(refusal, len, "it is for %d %s, and here are %" PetscInt_FMT, there, word, here));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadModel(char text[], KCycleModel *model, size_t len, char refusal[])
{
  const char *line = NextLine(&text);
  double      outside;
  char        more;

  PetscFunctionBegin;
  if (!line || strcmp(line, Title)) PetscCall(PetscSNPrintf(refusal, len, "its first line is not \"%s\"", Title));
  if (!refusal[0]) PetscCall(ReadCount(NextLine(&text), "processes", model->processes, len, refusal));
  if (!refusal[0]) PetscCall(ReadCount(NextLine(&text), "levels", model->nlevels, len, refusal));
  for (PetscInt l = 0; l < model->nlevels && !refusal[0]; l++)
    PetscCall(ReadLevel(NextLine(&text), l, &model->level[l], len, refusal));
  if (refusal[0]) PetscFunctionReturn(PETSC_SUCCESS);
  line = NextLine(&text);
  if (!line || sscanf(line, "outside %lf%c", &outside, &more) != 1 || !IsTime(outside))
    PetscCall(PetscSNPrintf(refusal, len, "it is damaged: the line \"outside\" cannot be read"));
  else model->outside = (PetscReal)outside;
  line = refusal[0] ? NULL : NextLine(&text);
  if (!refusal[0] && (!line || strcmp(line, "end")))
    PetscCall(PetscSNPrintf(refusal, len, "it is damaged: the line \"end\" is missing"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCKCycleCalibrationLoad(PC pc, const char name[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PC_KCycle     *kc;
  PetscMPIInt    length;
  char          *text, refusal[512] = "";

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  PetscCall(PetscMalloc1(MAX_LENGTH, &text));
  PetscCall(PCKCycleReadFile(comm, name, MAX_LENGTH, text, &length));
  if (length < 0) PetscCall(PetscSNPrintf(refusal, sizeof(refusal), "it cannot be read"));
  else PetscCall(ReadModel(text, &kc->timing.model, sizeof(refusal), refusal));
  PetscCall(PetscFree(text));
  PetscCheck(!refusal[0], comm, PETSC_ERR_FILE_UNEXPECTED,
             "The calibration %s is not for this solver (-pc_kcycle_calibration_load): %s. Make it anew with "
             "-pc_kcycle_calibration_save",
             name, refusal);
  PetscFunctionReturn(PETSC_SUCCESS);
}
