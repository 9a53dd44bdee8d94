/*
  Functions and options of PCFASTPOISSON.
*/
#include "fastpoissonimpl.h"

const char *const PCFastPoissonEffortTypes[]      = {"estimate",        "measure", "patient", "PCFastPoissonEffortType",
                                                     "PC_FASTPOISSON_", NULL};
const char *const PCFastPoissonTridiagonalTypes[] = {
    "auto", "none", "x", "y", "z", "PCFastPoissonTridiagonalType", "PC_FASTPOISSON_TRIDIAGONAL_", NULL};

/*@
  PCFastPoissonSetApproximate - Sets whether the nearest separable operator is taken where the operator is none.

  Logically Collective

  Input Parameters:
+ pc          - the preconditioner
- approximate - whether the nearest separable operator may be taken

  Options Database Key:
. -pc_fastpoisson_approximate - takes the nearest separable operator

  Level: beginner

  Note:
  Rows are averaged over the planes of the grid, after the operator has been scaled so that its couplings vary less
  (P. Concus, G. H. Golub, Use of fast direct methods for the efficient numerical solution of nonseparable elliptic
  equations, SIAM J. Numer. Anal. 10, 1973). The preconditioner is symmetric and positive definite: for `KSPCG`. Without
  it an operator that is not separable is an error that names the first entry that is not as expected. An operator that
  is separable is solved exactly either way.

.seealso: `PCFASTPOISSON`, `PCFastPoissonGetApproximate()`
@*/
PetscErrorCode PCFastPoissonSetApproximate(PC pc, PetscBool approximate)
{
  KC_PC_SET(pc, PCFASTPOISSON, PC_FastPoisson, approximate, Bool, approximate, (void)0);
}

/*@
  PCFastPoissonGetApproximate - Gets whether the nearest separable operator is taken where the operator is none.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. approximate - whether the nearest separable operator may be taken

  Level: beginner

.seealso: `PCFASTPOISSON`, `PCFastPoissonSetApproximate()`
@*/
PetscErrorCode PCFastPoissonGetApproximate(PC pc, PetscBool *approximate)
{
  KC_PC_GET(pc, PCFASTPOISSON, PC_FastPoisson, approximate, approximate);
}

/*@
  PCFastPoissonSetEffort - Sets how long FFTW looks for fast transforms at set-up.

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- effort - `PC_FASTPOISSON_ESTIMATE`, `PC_FASTPOISSON_MEASURE` or `PC_FASTPOISSON_PATIENT`

  Options Database Key:
. -pc_fastpoisson_effort (estimate|measure|patient) - how long FFTW looks for fast transforms

  Level: intermediate

  Note:
  FFTW chooses an algorithm for each length: by rules, which takes no time, or by measuring some, or many, of them,
  which takes seconds for long lines. What has been measured is kept until the program ends.

.seealso: `PCFASTPOISSON`, `PCFastPoissonGetEffort()`
@*/
PetscErrorCode PCFastPoissonSetEffort(PC pc, PCFastPoissonEffortType effort)
{
  KC_PC_SET_ENUM(pc, PCFASTPOISSON, PC_FastPoisson, effort, PCFastPoissonEffortTypes, effort);
}

/*@
  PCFastPoissonGetEffort - Gets how long FFTW looks for fast transforms at set-up.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. effort - `PC_FASTPOISSON_ESTIMATE`, `PC_FASTPOISSON_MEASURE` or `PC_FASTPOISSON_PATIENT`

  Level: intermediate

.seealso: `PCFASTPOISSON`, `PCFastPoissonSetEffort()`
@*/
PetscErrorCode PCFastPoissonGetEffort(PC pc, PCFastPoissonEffortType *effort)
{
  KC_PC_GET(pc, PCFASTPOISSON, PC_FastPoisson, effort, effort);
}

/*@
  PCFastPoissonSetTridiagonal - Sets which direction is solved by tridiagonal systems.

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- direction - `PC_FASTPOISSON_TRIDIAGONAL_AUTO`, `PC_FASTPOISSON_TRIDIAGONAL_NONE`, or a direction

  Options Database Key:
. -pc_fastpoisson_tridiagonal (auto|none|x|y|z) - direction whose systems are tridiagonal

  Level: intermediate

  Note:
  All other directions are transformed, or multiplied by eigenvectors. Elimination needs no pivots where the operator is
  definite; where it is not, auto transforms all directions, and a direction that is asked for is an error, as is one
  that is periodic.

.seealso: `PCFASTPOISSON`, `PCFastPoissonGetTridiagonal()`
@*/
PetscErrorCode PCFastPoissonSetTridiagonal(PC pc, PCFastPoissonTridiagonalType direction)
{
  KC_PC_SET_ENUM(pc, PCFASTPOISSON, PC_FastPoisson, tridiagonal, PCFastPoissonTridiagonalTypes, direction);
}

/*@
  PCFastPoissonGetTridiagonal - Gets which direction is solved by tridiagonal systems.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. direction - `PC_FASTPOISSON_TRIDIAGONAL_AUTO`, `PC_FASTPOISSON_TRIDIAGONAL_NONE`, or a direction

  Level: intermediate

.seealso: `PCFASTPOISSON`, `PCFastPoissonSetTridiagonal()`
@*/
PetscErrorCode PCFastPoissonGetTridiagonal(PC pc, PCFastPoissonTridiagonalType *direction)
{
  KC_PC_GET(pc, PCFASTPOISSON, PC_FastPoisson, tridiagonal, direction);
}

/*@C
  PCFastPoissonSetWisdomLoad - Sets the file that FFTW's wisdom is read from at set-up.

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner
- file - name of the file; empty: none

  Options Database Key:
. -pc_fastpoisson_wisdom_load <file> - reads FFTW's wisdom from a file

  Level: advanced

  Note:
  The first process reads the file. It is an error where it cannot be read, where FFTW does not know its own words in
  it, and where it was written by another version of FFTW.

.seealso: `PCFASTPOISSON`, `PCFastPoissonGetWisdomLoad()`, `PCFastPoissonSetEffort()`
@*/
PetscErrorCode PCFastPoissonSetWisdomLoad(PC pc, const char file[])
{
  PC_FastPoisson *fp;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(file, 2);
  PetscCall(KCyclePCQuery(pc, PCFASTPOISSON, &fp));
  if (fp) PetscCall(PetscStrncpy(fp->load, file, sizeof(fp->load)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCFastPoissonGetWisdomLoad - Gets the file that FFTW's wisdom is read from at set-up.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. file - name of the file, empty if there is none; belongs to the preconditioner

  Level: advanced

.seealso: `PCFASTPOISSON`, `PCFastPoissonSetWisdomLoad()`
@*/
PetscErrorCode PCFastPoissonGetWisdomLoad(PC pc, const char *file[])
{
  KC_PC_GET(pc, PCFASTPOISSON, PC_FastPoisson, load, file);
}

/*@C
  PCFastPoissonSetWisdomSave - Sets the file that FFTW's wisdom is written to at set-up.

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner
- file - name of the file; empty: none

  Options Database Key:
. -pc_fastpoisson_wisdom_save <file> - writes FFTW's wisdom to a file

  Level: advanced

  Note:
  The first process writes what it has measured so far. It is an error where nothing is measured, with the effort
  `PC_FASTPOISSON_ESTIMATE`.

.seealso: `PCFASTPOISSON`, `PCFastPoissonGetWisdomSave()`, `PCFastPoissonSetEffort()`
@*/
PetscErrorCode PCFastPoissonSetWisdomSave(PC pc, const char file[])
{
  PC_FastPoisson *fp;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(file, 2);
  PetscCall(KCyclePCQuery(pc, PCFASTPOISSON, &fp));
  if (fp) PetscCall(PetscStrncpy(fp->save, file, sizeof(fp->save)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCFastPoissonGetWisdomSave - Gets the file that FFTW's wisdom is written to at set-up.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. file - name of the file, empty if there is none; belongs to the preconditioner

  Level: advanced

.seealso: `PCFASTPOISSON`, `PCFastPoissonSetWisdomSave()`
@*/
PetscErrorCode PCFastPoissonGetWisdomSave(PC pc, const char *file[])
{
  KC_PC_GET(pc, PCFASTPOISSON, PC_FastPoisson, save, file);
}

PetscErrorCode PCSetFromOptions_FastPoisson(PC pc, KCycleOptionItems PetscOptionsObject)
{
  PC_FastPoisson              *fp          = (PC_FastPoisson *)pc->data;
  PetscBool                    approximate = fp->approximate, flg;
  PCFastPoissonEffortType      effort      = fp->effort;
  PCFastPoissonTridiagonalType direction   = fp->tridiagonal;
  char                         file[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Fast Poisson options");
  PetscCall(PetscOptionsBool("-pc_fastpoisson_approximate", "Take the nearest separable operator where it is not one",
                             "PCFastPoissonSetApproximate", approximate, &approximate, &flg));
  if (flg) PetscCall(PCFastPoissonSetApproximate(pc, approximate));
  PetscCall(PetscOptionsEnum("-pc_fastpoisson_effort", "How long FFTW looks for fast transforms",
                             "PCFastPoissonSetEffort", PCFastPoissonEffortTypes, (PetscEnum)effort,
                             (PetscEnum *)&effort, &flg));
  if (flg) PetscCall(PCFastPoissonSetEffort(pc, effort));
  PetscCall(PetscOptionsEnum("-pc_fastpoisson_tridiagonal", "Direction whose systems are tridiagonal",
                             "PCFastPoissonSetTridiagonal", PCFastPoissonTridiagonalTypes, (PetscEnum)direction,
                             (PetscEnum *)&direction, &flg));
  if (flg) PetscCall(PCFastPoissonSetTridiagonal(pc, direction));
  PetscCall(PetscStrncpy(file, fp->load, sizeof(file)));
  PetscCall(PetscOptionsString("-pc_fastpoisson_wisdom_load", "File that FFTW's wisdom is read from",
                               "PCFastPoissonSetWisdomLoad", file, file, sizeof(file), &flg));
  if (flg) PetscCall(PCFastPoissonSetWisdomLoad(pc, file));
  PetscCall(PetscStrncpy(file, fp->save, sizeof(file)));
  PetscCall(PetscOptionsString("-pc_fastpoisson_wisdom_save", "File that FFTW's wisdom is written to",
                               "PCFastPoissonSetWisdomSave", file, file, sizeof(file), &flg));
  if (flg) PetscCall(PCFastPoissonSetWisdomSave(pc, file));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}
