/*
  What test programs share: claims, errors that are expected, views as texts, solvers, residual norms of a solve.
*/
#pragma once

#include <petsckcycle.h>
#include <petscdmda.h>
#include <stdint.h>

/* A number between 0 and 1 from any other one (the generator is splitmix64) */
static inline PetscReal RandomFrom(uint64_t z)
{
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (PetscReal)((z ^ (z >> 31)) >> 11) / (PetscReal)9007199254740992.0;
}

/* On the first process */
#define Print(...) PetscPrintf(PETSC_COMM_WORLD, __VA_ARGS__)

static inline const char *YesNo(int holds)
{
  return holds ? "yes" : "NO";
}

static inline PetscErrorCode TestInitialize(int *argc, char ***argv, const char help[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(argc, argv, NULL, help));
  PetscCall(KCycleInitializePackage());
  PetscFunctionReturn(0);
}

/* Is an option given, and not as false? */
static inline PetscBool Given(const char name[])
{
  PetscBool given = PETSC_FALSE;

  PetscCallAbort(PETSC_COMM_SELF, PetscOptionsGetBool(NULL, NULL, name, &given, NULL));
  return given;
}

/* The parts of a test program; the last one has no name */
typedef struct {
  const char *name;
  PetscErrorCode (*run)(void);
} TestPart;

/* The program that runs the part of -test, or the first one */
static inline int RunTests(int argc, char **argv, const char help[], const TestPart parts[])
{
  const char *names[16];
  PetscInt    n = 0, which = 0;

  PetscCall(TestInitialize(&argc, &argv, help));
  while (parts[n].name) {
    names[n] = parts[n].name;
    n++;
  }
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-test", names, n, &which, NULL));
  PetscCall((*parts[which].run)());
  PetscCall(PetscFinalize());
  return 0;
}

/* The type of matrices: -type, by default aij */
static inline MatType TypeOption(void)
{
  static char type[64] = MATAIJ;

  PetscCallAbort(PETSC_COMM_WORLD, PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  return type;
}

/* Options in the place of those of the command line, until PopOptions() */
static inline PetscErrorCode PushOptions(const char text[], PetscOptions *options)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsCreate(options));
  PetscCall(PetscOptionsInsertString(*options, text));
  PetscCall(PetscOptionsPush(*options));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode PopOptions(PetscOptions *options)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(options));
  PetscFunctionReturn(0);
}

static inline PC PCOf(KSP ksp)
{
  PC pc = NULL;

  PetscCallAbort(PETSC_COMM_SELF, KSPGetPC(ksp, &pc));
  return pc;
}

static inline PetscBool HasType_Private(PetscObject object, const char type[])
{
  PetscBool has = PETSC_FALSE;

  PetscCallAbort(PETSC_COMM_SELF, PetscObjectTypeCompare(object, type, &has));
  return has;
}

#define HasType(object, type) HasType_Private((PetscObject)(object), type)

/* One claim, one line */
static inline PetscErrorCode Claim(int holds, const char claim[])
{
  return Print("%s: %s\n", claim, YesNo(holds));
}

/* A claim in the words of a format */
static inline PetscErrorCode ClaimThat(int holds, const char format[], ...)
{
  char    claim[1024];
  size_t  length;
  va_list args;

  PetscFunctionBeginUser;
  va_start(args, format);
  PetscCall(PetscVSNPrintf(claim, sizeof(claim), format, &length, args));
  va_end(args);
  PetscCall(Claim(holds, claim));
  PetscFunctionReturn(0);
}

/* Claims that two texts are the same, or not; shows them if that is wrong */
static inline PetscErrorCode ClaimSame(const char a[], const char b[], PetscBool expected, const char claim[])
{
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(a, b, &same));
  if (same != expected) PetscCall(Print("  %s | %s\n", a, b));
  PetscCall(Claim(same == expected, claim));
  PetscFunctionReturn(0);
}

/* Destroys the objects whose addresses are given, in that order */
#define DestroyAll(...) DestroyAll_Private((void *[]){__VA_ARGS__, NULL})

static inline PetscErrorCode DestroyAll_Private(void *objects[])
{
  PetscFunctionBeginUser;
  for (; *objects; objects++) PetscCall(PetscObjectDestroy((PetscObject *)*objects));
  PetscFunctionReturn(0);
}

/* Vectors like one, which get no values */
#define DuplicateVec(v, ...) DuplicateVec_Private(v, (Vec *[]){__VA_ARGS__, NULL})

static inline PetscErrorCode DuplicateVec_Private(Vec v, Vec *copies[])
{
  PetscFunctionBeginUser;
  for (; *copies; copies++) PetscCall(VecDuplicate(v, *copies));
  PetscFunctionReturn(0);
}

/* All points of a box that begins at s and has n points in each direction */
#define FOR_BOX(at, s, n)                                        \
  for ((at)[2] = (s)[2]; (at)[2] < (s)[2] + (n)[2]; (at)[2]++)   \
    for ((at)[1] = (s)[1]; (at)[1] < (s)[1] + (n)[1]; (at)[1]++) \
      for ((at)[0] = (s)[0]; (at)[0] < (s)[0] + (n)[0]; (at)[0]++)

/* Keeps the words of an error, and passes its code on: for PetscPushErrorHandler() with a text of ERROR_LENGTH */
#define ERROR_LENGTH 1024

static inline PetscErrorCode KeepError(MPI_Comm comm, int line, const char *function, const char *file,
                                       PetscErrorCode n, PetscErrorType p, const char *words, void *ctx)
{
  (void)comm;
  (void)line;
  (void)function;
  (void)file;
  if (p == PETSC_ERROR_INITIAL) (void)snprintf((char *)ctx, ERROR_LENGTH, "%s", words ? words : "");
  return n;
}

/* Error code and words of a call that may fail */
#define KeepErrorOf(call, ierr, words)                  \
  do {                                                  \
    PetscCall(PetscPushErrorHandler(KeepError, words)); \
    ierr = call;                                        \
    PetscCall(PetscPopErrorHandler());                  \
  } while (0)

/* Claims that there was an error whose words hold those that are expected; shows them if not */
static inline PetscErrorCode ClaimError(PetscErrorCode ierr, const char words[], const char expected[],
                                        const char claim[])
{
  const char *found = strstr(words, expected);

  PetscFunctionBeginUser;
  PetscCall(Claim(ierr && found, claim));
  if (!found) PetscCall(Print("  it says: %s\n", words));
  PetscFunctionReturn(0);
}

/* A DMDA, not set up, with one unknown a point, stencils of width 1 and the same boundaries in all directions */
static inline PetscErrorCode MakeDM(MPI_Comm comm, PetscInt dim, const PetscInt n[], DMBoundaryType b,
                                    DMDAStencilType type, DM *da)
{
  const PetscInt any = PETSC_DECIDE;

  PetscFunctionBeginUser;
  if (dim == 1) PetscCall(DMDACreate1d(comm, b, n[0], 1, 1, NULL, da));
  else if (dim == 2) PetscCall(DMDACreate2d(comm, b, b, type, n[0], n[1], any, any, 1, 1, NULL, NULL, da));
  else PetscCall(DMDACreate3d(comm, b, b, b, type, n[0], n[1], n[2], any, any, any, 1, 1, NULL, NULL, NULL, da));
  PetscFunctionReturn(0);
}

/* A row of a matrix on a DMDA: the diagonal, then the other entries */
typedef struct {
  PetscInt    n;
  MatStencil  col[27];
  PetscScalar value[27];
} StencilRow;

static inline void RowEntry(StencilRow *row, const PetscInt to[], PetscScalar value)
{
  row->col[row->n]     = (MatStencil){to[2], to[1], to[0], 0};
  row->value[row->n++] = value;
}

/* A coupling in proportion to the difference of two values; stored: the other one has a column */
static inline void RowCoupling(StencilRow *row, const PetscInt to[], PetscScalar coupling, PetscBool stored)
{
  row->value[0] += coupling;
  if (stored) RowEntry(row, to, -coupling);
}

/* Neighbour number o of a point: 0 and 1 in x, 2 and 3 in y, 4 and 5 in z */
static inline void StarNeighbour(const PetscInt at[], PetscInt o, PetscInt to[])
{
  for (PetscInt d = 0; d < 3; d++) to[d] = at[d];
  to[o / 2] += o % 2 ? 1 : -1;
}

static inline PetscBool IsInBox(const PetscInt at[], const PetscInt size[], PetscInt dim)
{
  for (PetscInt d = 0; d < dim; d++) {
    if (at[d] < 0 || at[d] >= size[d]) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

static inline PetscErrorCode AssembleMat(Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* Makes a matrix of rows that are functions of the indices. The diagonal of a row is 0 at first; entries with the same
   column are added up */
static inline PetscErrorCode AssembleRows(DM          da, void (*make)(const void *, const PetscInt[], StencilRow *),
                                          const void *ctx, Mat A)
{
  PetscInt s[3], m[3], at[3];

  PetscFunctionBeginUser;
  PetscCall(MatZeroEntries(A));
  PetscCall(DMDAGetCorners(da, &s[0], &s[1], &s[2], &m[0], &m[1], &m[2]));
  FOR_BOX(at, s, m) {
    StencilRow row;

    row.n = 0;
    RowEntry(&row, at, 0);
    make(ctx, at, &row);
    PetscCall(MatSetValuesStencil(A, 1, row.col, row.n, row.col, row.value, ADD_VALUES));
  }
  PetscCall(AssembleMat(A));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode AssembleVec(Vec v)
{
  PetscFunctionBeginUser;
  PetscCall(VecAssemblyBegin(v));
  PetscCall(VecAssemblyEnd(v));
  PetscFunctionReturn(0);
}

/* The constants in the null space of a matrix; a right side, or NULL, loses its part in them */
static inline PetscErrorCode AttachConstants(Mat A, Vec b)
{
  MatNullSpace constants;

  PetscFunctionBeginUser;
  PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)A), PETSC_TRUE, 0, NULL, &constants));
  PetscCall(MatSetNullSpace(A, constants));
  if (b) PetscCall(MatNullSpaceRemove(constants, b));
  PetscCall(MatNullSpaceDestroy(&constants));
  PetscFunctionReturn(0);
}

/* A Krylov method and its preconditioner, which options have not been read for. Of type NULL: PETSc's default */
static inline PetscErrorCode MakeKSP(Mat A, KSPType type, PCType pctype, KSP *ksp, PC *pc)
{
  PC own;

  PetscFunctionBeginUser;
  if (pc) *pc = NULL; /* compilers warn of it otherwise */
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), ksp));
  if (type) PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPGetPC(*ksp, &own));
  PetscCall(PCSetType(own, pctype));
  if (pc) *pc = own;
  PetscFunctionReturn(0);
}

/* A solver with PCKCYCLE, to a relative tolerance in at most some iterations. Options are read */
static inline PetscErrorCode MakeSolver(Mat A, KSPType type, PetscReal rtol, PetscInt most, KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(MakeKSP(A, type, PCKCYCLE, ksp, NULL));
  PetscCall(KSPSetTolerances(*ksp, rtol, 1e-300, PETSC_DEFAULT, most));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

/* Sweeps of PCRELAX from zero or a guess, as in multigrid */
static inline PetscErrorCode MakeSweeps(Mat A, PCRelaxType type, PetscInt its, PetscBool guess, KSP *ksp, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(MakeKSP(A, KSPRICHARDSON, PCRELAX, ksp, pc));
  PetscCall(PCRelaxSetType(*pc, type));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_NONE));
  PetscCall(KSPSetConvergenceTest(*ksp, KSPConvergedSkip, NULL, NULL));
  PetscCall(KSPSetTolerances(*ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, its));
  PetscCall(KSPSetInitialGuessNonzero(*ksp, guess));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode MakePC(Mat A, PCType type, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PetscObjectComm((PetscObject)A), pc));
  PetscCall(PCSetType(*pc, type));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscFunctionReturn(0);
}

/* Solves; its and reason may be NULL */
static inline PetscErrorCode SolveSystem(KSP ksp, Vec b, Vec x, PetscInt *its, KSPConvergedReason *reason)
{
  PetscFunctionBeginUser;
  PetscCall(KSPSolve(ksp, b, x));
  if (its) PetscCall(KSPGetIterationNumber(ksp, its));
  if (reason) PetscCall(KSPGetConvergedReason(ksp, reason));
  PetscFunctionReturn(0);
}

/* A problem and its solver; what there is none of is NULL */
typedef struct {
  DM  da;
  Mat A;
  Vec b, x;
  KSP ksp;
  PC  pc; /* that of ksp */
} System;

static inline PetscErrorCode SystemDestroy(System *s)
{
  return DestroyAll(&s->ksp, &s->x, &s->b, &s->A, &s->da);
}

/* x -= y, and the norms of that and of y */
static inline PetscErrorCode DifferenceNorms(Vec x, Vec y, NormType type, PetscReal *difference, PetscReal *norm)
{
  PetscFunctionBeginUser;
  PetscCall(VecNorm(y, type, norm));
  PetscCall(VecAXPY(x, -1, y));
  PetscCall(VecNorm(x, type, difference));
  PetscFunctionReturn(0);
}

/* Norm of b - A x relative to that of b */
static inline PetscErrorCode RelativeResidual(Mat A, Vec b, Vec x, PetscReal *relative)
{
  Vec       r;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatResidual(A, b, x, r));
  PetscCall(VecNorm(r, NORM_2, relative));
  PetscCall(VecNorm(b, NORM_2, &norm));
  *relative /= norm;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}

/* |(M u, v) - (u, N v)| / (|M u| |v|), without conjugation; N: the transpose of the preconditioner M, or M itself */
static inline PetscErrorCode AdjointError(PC pc, PetscBool transpose, Vec u, Vec v, PetscReal *error)
{
  Vec         Mu, Nv;
  PetscScalar left, right;
  PetscReal   size[2];

  PetscFunctionBeginUser;
  PetscCall(DuplicateVec(u, &Mu, &Nv));
  PetscCall(PCApply(pc, u, Mu));
  PetscCall(transpose ? PCApplyTranspose(pc, v, Nv) : PCApply(pc, v, Nv));
  PetscCall(VecTDot(Mu, v, &left));
  PetscCall(VecTDot(u, Nv, &right));
  PetscCall(VecNorm(Mu, NORM_2, &size[0]));
  PetscCall(VecNorm(v, NORM_2, &size[1]));
  *error = PetscAbsScalar(left - right) / (size[0] * size[1]);
  PetscCall(DestroyAll(&Mu, &Nv));
  PetscFunctionReturn(0);
}

/* What its view would print of an object, on the first process; "" on the others. The caller frees it with free() */
static inline PetscErrorCode ObjectText(PetscObject object, PetscViewerFormat format, char **text)
{
  size_t      len;
  FILE       *file = open_memstream(text, &len);
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "No memory for the view");
  PetscCall(PetscViewerASCIIOpenWithFILE(PetscObjectComm(object), file, &viewer));
  PetscCall(PetscViewerPushFormat(viewer, format));
  PetscCall(PetscObjectView(object, viewer));
  PetscCall(PetscViewerPopFormat(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCheck(!fclose(file), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "The view cannot be closed");
  PetscFunctionReturn(0);
}

static inline PetscErrorCode ViewText(PC pc, char **text)
{
  return ObjectText((PetscObject)pc, PETSC_VIEWER_DEFAULT, text);
}

/* Does the view of the object hold the words? */
static inline PetscErrorCode ObjectHas(PetscObject object, PetscViewerFormat format, const char words[], PetscBool *has)
{
  char       *text;
  PetscMPIInt there;

  PetscFunctionBeginUser;
  PetscCall(ObjectText(object, format, &text));
  there = strstr(text, words) ? 1 : 0;
  free(text);
  PetscCallMPI(MPI_Bcast(&there, 1, MPI_INT, 0, PetscObjectComm(object)));
  *has = there ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(0);
}

static inline PetscErrorCode ViewHas(PC pc, const char words[], PetscBool *has)
{
  return ObjectHas((PetscObject)pc, PETSC_VIEWER_DEFAULT, words, has);
}

/* Claims that the view holds the words, or not */
static inline PetscErrorCode ClaimView(PC pc, const char words[], PetscBool expected, const char claim[])
{
  PetscBool has;

  PetscFunctionBeginUser;
  PetscCall(ViewHas(pc, words, &has));
  PetscCall(Claim(has == expected, claim));
  PetscFunctionReturn(0);
}

#define MAX_RESIDUALS 200

/* The residual norms of a solve as text, since claims of equality are about printed digits */
typedef struct {
  PetscInt  length;
  char      line[MAX_RESIDUALS][24];
  PetscReal value[MAX_RESIDUALS];
} Residuals;

/* For KSPMonitorSet() */
static inline PetscErrorCode KeepResiduals(KSP ksp, PetscInt it, PetscReal rnorm, void *ctx)
{
  Residuals *r = (Residuals *)ctx;

  PetscFunctionBeginUser;
  (void)ksp;
  PetscCheck(it < MAX_RESIDUALS, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Too many iterations");
  PetscCall(PetscSNPrintf(r->line[it], sizeof(r->line[it]), "%14.12e", (double)rnorm));
  r->value[it] = rnorm;
  r->length    = it + 1;
  PetscFunctionReturn(0);
}

static inline PetscErrorCode ResidualsEqual(const Residuals *a, const Residuals *b, PetscBool *equal)
{
  PetscFunctionBeginUser;
  *equal = (PetscBool)(a->length == b->length && a->length > 2);
  for (PetscInt i = 0; *equal && i < a->length; i++) PetscCall(PetscStrcmp(a->line[i], b->line[i], equal));
  PetscFunctionReturn(0);
}

/* Claims that two solves had the same residual norms, or different ones, to all printed digits; shows them if not */
static inline PetscErrorCode ClaimEqual(const Residuals *a, const Residuals *b, PetscBool expected, const char claim[])
{
  PetscBool equal;

  PetscFunctionBeginUser;
  PetscCall(ResidualsEqual(a, b, &equal));
  PetscCall(Claim(equal == expected, claim));
  for (PetscInt i = 0; equal != expected && i < PetscMax(a->length, b->length); i++) {
    PetscCall(Print("  %3" PetscInt_FMT "  %20s  %20s\n", i, i < a->length ? a->line[i] : "",
                    i < b->length ? b->line[i] : ""));
  }
  PetscFunctionReturn(0);
}
