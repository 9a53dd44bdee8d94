static char help[] =
    "PCDEFLSUB on processes without rows: three solves, with other values each time; input that is wrong on one \
process only.\n\
  -test solves|refusals   which part\n\n";

#include "twophase.h"

#define MOST 4

/* Of these rows those of this process, or all of them on one */
static PetscErrorCode LocalRows(const PetscInt rows[MOST], PetscInt *local)
{
  PetscFunctionBeginUser;
  *local = PetscGlobalSize == 1 ? rows[0] + rows[1] + rows[2] + rows[3] : rows[PetscGlobalRank];
  PetscFunctionReturn(0);
}

/* Three points, Dirichlet ends */
static PetscErrorCode Assemble(Mat A, PetscReal scale)
{
  PetscInt start, end, n;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    if (i > 0) PetscCall(MatSetValue(A, i, i - 1, -scale, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(A, i, i + 1, -scale, INSERT_VALUES));
    PetscCall(MatSetValue(A, i, i, 2 * scale + i, INSERT_VALUES));
  }
  PetscCall(AssembleMat(A));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateLine(PetscInt local, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, local, local, PETSC_DETERMINE, PETSC_DETERMINE, 3, NULL, 2, NULL, A));
  PetscCall(Assemble(*A, 1));
  PetscFunctionReturn(0);
}

/* Labels 0, 1, 2, 0, ... by numbers of rows; more: one too many on the last process */
static PetscErrorCode GiveLabels(PC pc, Mat A, PetscInt more)
{
  PetscInt start, end, n, *values;
  IS       labels;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  if (end < n) more = 0;
  PetscCall(PetscMalloc1(end - start + more, &values));
  for (PetscInt i = 0; i < end - start + more; i++) values[i] = (start + i) % 3;
  PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, end - start + more, values, PETSC_OWN_POINTER, &labels));
  PetscCall(PCDeflSubSetLabelIS(pc, labels));
  PetscCall(ISDestroy(&labels));
  PetscFunctionReturn(0);
}

/* A grid whose points lie where rows do: its stencil is of width 0, as PETSc otherwise wants a point on each process */
static PetscErrorCode GiveGrid(PC pc, PetscInt local, Mat A)
{
  PetscInt n, points[MOST];
  DM       da;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCallMPI(MPI_Allgather(&local, 1, MPIU_INT, points, 1, MPIU_INT, PETSC_COMM_WORLD));
  PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, n, 1, 0, points, &da));
  PetscCall(DMSetUp(da));
  PetscCall(PCSetDM(pc, da));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

typedef struct {
  const char         *name;
  PetscInt            rows[MOST];
  PCDeflSubType       type;
  PCDeflSubFormType   form;
  PCDeflSubCoarseType coarse;
  KSPType             ksp;
} Case;

/* Solutions are right, and the pattern of E is kept */
static PetscErrorCode Solve(const Case *c)
{
  PetscBool right = PETSC_TRUE;
  PetscInt  local;
  PetscReal relative;
  KSP       ksp, coarse;
  PC        pc;
  Mat       A, E[3];
  Vec       x, b;

  PetscFunctionBeginUser;
  PetscCall(LocalRows(c->rows, &local));
  PetscCall(CreateLine(local, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(TwoPhaseCreateKSP(A, c->ksp, 1e-10, &ksp, &pc));
  PetscCall(PCDeflSubSetType(pc, c->type));
  PetscCall(PCDeflSubSetForm(pc, c->form));
  PetscCall(PCDeflSubSetCoarse(pc, c->coarse));
  PetscCall(PCDeflSubSetBoxes(pc, 3, 0, 0));
  if (c->type == PC_DEFLSUB_USER) PetscCall(GiveLabels(pc, A, 0));
  else PetscCall(GiveGrid(pc, local, A));
  PetscCall(PCDeflSubGetCoarseKSP(pc, &coarse));
  for (int i = 0; i < 3; i++) {
    if (i) PetscCall(Assemble(A, 1 + i));
    PetscCall(VecSet(x, 0));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(RelativeResidual(A, b, x, &relative));
    PetscCall(KSPGetOperators(coarse, &E[i], NULL));
    right = (PetscBool)(right && relative < 1e-9 && E[i] == E[0]);
  }
  PetscCall(Print("%s, %s, %s, %s, %s: ", c->name, PCDeflSubTypes[c->type], c->ksp, PCDeflSubFormTypes[c->form],
                  PCDeflSubCoarseTypes[c->coarse]));
  PetscCall(Claim(right, "three solves, the pattern of E is kept"));
  PetscCall(DestroyAll(&ksp, &x, &b, &A));
  PetscFunctionReturn(0);
}

#define CASE(name, type, form, coarse, ksp, ...)                                               \
  {                                                                                            \
    name, {__VA_ARGS__}, PC_DEFLSUB_##type, PC_DEFLSUB_##form, PC_DEFLSUB_COARSE_##coarse, ksp \
  }

static PetscErrorCode Solves(void)
{
  const Case cases[] = {
      CASE("more processes than rows", USER, BNN, AUTO, KSPCG, 1, 1, 1, 0),
      CASE("no rows on the second process", USER, BNN, INVERSE, KSPCG, 3, 0, 4, 2),
      CASE("no rows on the first process", USER, ADEF2, FACTOR, KSPCG, 0, 5, 0, 4),
      CASE("rows on the last process only", USER, BNN, INVERSE, KSPDPCG, 0, 0, 0, 9),
      CASE("no points on the third process", STRIPE, BNN, AUTO, KSPCG, 4, 4, 0, 4),
      CASE("no points on the third process", BOX, ADEF2, AUTO, KSPCG, 4, 4, 0, 4),
      CASE("no points on the third process", INTERFACE, BNN, INVERSE, KSPCG, 4, 4, 0, 4),
      CASE("no points on the first process", INTERFACE, BNN, AUTO, KSPDPCG, 0, 7, 5, 0),
  };

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) PetscCall(Solve(&cases[i]));
  PetscFunctionReturn(0);
}

typedef enum {
  WRONG_LABELS,
  WRONG_COEFFICIENT,
  WRONG_LAYOUT
} Wrong;

/* A vector with one place more on the last process */
static PetscErrorCode CreateLonger(PetscInt n, Vec *v)
{
  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_WORLD, v));
  PetscCall(VecSetSizes(*v, n + (PetscGlobalRank == PetscGlobalSize - 1), PETSC_DETERMINE));
  PetscCall(VecSetType(*v, VECSTANDARD));
  PetscCall(VecSet(*v, 1));
  PetscFunctionReturn(0);
}

/* Every process has an error, and the last one says which */
static PetscErrorCode Refuse(Wrong wrong, const char claim[], const char expected[])
{
  const PetscInt rows[MOST] = {4, 4, 4, 4}, moved[MOST] = {4, 4, 3, 5};
  char           words[ERROR_LENGTH] = "", *found;
  PetscErrorCode ierr;
  PetscInt       local, other;
  int            holds;
  KSP            ksp;
  PC             pc;
  Mat            A;
  Vec            longer;

  PetscFunctionBeginUser;
  PetscCall(LocalRows(rows, &local));
  PetscCall(LocalRows(moved, &other));
  PetscCall(CreateLine(wrong == WRONG_LAYOUT ? other : local, &A));
  PetscCall(CreateLonger(local, &longer));
  PetscCall(TwoPhaseCreateKSP(A, KSPCG, 1e-10, &ksp, &pc));
  PetscCall(PCDeflSubSetBoxes(pc, 4, 0, 0));
  if (wrong == WRONG_LABELS) PetscCall(GiveLabels(pc, A, 1));
  else PetscCall(GiveGrid(pc, local, A));
  if (wrong == WRONG_COEFFICIENT) PetscCall(PCDeflSubSetCoefficient(pc, longer));
  PetscCall(PetscPushErrorHandler(KeepError, words));
  ierr = KSPSetUp(ksp);
  PetscCall(PetscPopErrorHandler());
  PetscCall(PetscStrstr(words, PetscGlobalRank == PetscGlobalSize - 1 ? expected : "", &found));
  holds = ierr && found;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &holds, 1, MPI_INT, MPI_LAND, PETSC_COMM_WORLD));
  PetscCall(Claim((PetscBool)holds, claim));
  PetscCall(DestroyAll(&ksp, &longer, &A));
  PetscFunctionReturn(0);
}

static PetscErrorCode Refusals(void)
{
  PetscFunctionBeginUser;
  PetscCall(Refuse(WRONG_LABELS, "labels", "4 unknowns and 5 labels"));
  PetscCall(Refuse(WRONG_COEFFICIENT, "coefficient", "4 unknowns and 5 values of the coefficient"));
  PetscCall(Refuse(WRONG_LAYOUT, "layout of the operator",
                   "5 unknowns and 4 points of the DMDA: use the matrix of DMCreateMatrix()"));
  PetscCall(PetscOptionsClearValue(NULL, "-malloc_dump")); /* what was being made when an error came is not freed */
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const TestPart parts[] = {{"solves", Solves}, {"refusals", Refusals}, {NULL, NULL}};

  return RunTests(argc, argv, help, parts);
}

/*TEST

  test:
    suffix: solves
    nsize: {{1 4}}
    args: -test solves -fp_trap

  test:
    suffix: refusals
    nsize: 4
    args: -test refusals

TEST*/
