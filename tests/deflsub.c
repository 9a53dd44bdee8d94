static char help[] =
    "PCDEFLSUB: subdomains, projections, numbers of iterations, refusals, another set-up, inside other solvers.\n\
  -test labels|identities|table|contrast|errors|reuse|nested|special|independent|inverse|isolated   which part\n\
  -blocks   table: with block incomplete Cholesky too\n\
  -show     contrast, independent: numbers of iterations\n\n";

#include "twophase.h"
#include <petsc/private/petscimpl.h>

/* A pseudo-random vector, the same on any number of processes */
static PetscErrorCode Fill(DM da, PetscInt seed, Vec v)
{
  Vec          natural;
  PetscInt     start, end;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(DMDACreateNaturalVector(da, &natural));
  PetscCall(VecGetOwnershipRange(natural, &start, &end));
  PetscCall(VecGetArrayWrite(natural, &a));
  for (PetscInt i = start; i < end; i++) a[i - start] = PetscSinReal((PetscReal)((i * 37 + seed * 11) % 1009));
  PetscCall(VecRestoreArrayWrite(natural, &a));
  PetscCall(DMDANaturalToGlobalBegin(da, natural, INSERT_VALUES, v));
  PetscCall(DMDANaturalToGlobalEnd(da, natural, INSERT_VALUES, v));
  PetscCall(VecDestroy(&natural));
  PetscFunctionReturn(0);
}

/* Labels from a vector */
static PetscErrorCode SetLabels(PC pc, Vec labels)
{
  const PetscScalar *a;
  PetscInt           n, *values;
  IS                 is;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(labels, &n));
  PetscCall(PetscMalloc1(n, &values));
  PetscCall(VecGetArrayRead(labels, &a));
  for (PetscInt i = 0; i < n; i++) values[i] = (PetscInt)PetscRealPart(a[i]);
  PetscCall(VecRestoreArrayRead(labels, &a));
  PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, n, values, PETSC_OWN_POINTER, &is));
  PetscCall(PCDeflSubSetLabelIS(pc, is));
  PetscCall(ISDestroy(&is));
  PetscFunctionReturn(0);
}

/* And into one */
static PetscErrorCode GetLabels(PC pc, Vec labels)
{
  const PetscInt *values;
  PetscScalar    *a;
  PetscInt        n;
  IS              is;

  PetscFunctionBeginUser;
  PetscCall(PCDeflSubGetLabelIS(pc, &is));
  PetscCall(ISGetLocalSize(is, &n));
  PetscCall(ISGetIndices(is, &values));
  PetscCall(VecGetArrayWrite(labels, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = (PetscReal)values[i];
  PetscCall(VecRestoreArrayWrite(labels, &a));
  PetscCall(ISRestoreIndices(is, &values));
  PetscCall(ISDestroy(&is));
  PetscFunctionReturn(0);
}

/* Labels in natural order on the first process; others get none */
static PetscErrorCode GatherLabels(DM da, PC pc, Vec *all)
{
  Vec        labels, natural;
  VecScatter scatter;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(da, &labels));
  PetscCall(DMDACreateNaturalVector(da, &natural));
  PetscCall(GetLabels(pc, labels));
  PetscCall(DMDAGlobalToNaturalBegin(da, labels, INSERT_VALUES, natural));
  PetscCall(DMDAGlobalToNaturalEnd(da, labels, INSERT_VALUES, natural));
  PetscCall(VecScatterCreateToZero(natural, &scatter, all));
  PetscCall(VecScatterBegin(scatter, natural, *all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, natural, *all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(DestroyAll(&scatter, &natural, &labels));
  PetscFunctionReturn(0);
}

/* Every label has an unknown; all of them in one number */
static PetscErrorCode LookAtLabels(const TwoPhase *t, DM da, PC pc, const char name[])
{
  PetscInt           number, n, *count, least = 1000000000, digest = 0;
  const PetscScalar *a;
  Vec                all;
  PetscBool          sound = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PCDeflSubGetNumber(pc, &number, NULL));
  PetscCall(GatherLabels(da, pc, &all));
  PetscCall(VecGetLocalSize(all, &n));
  PetscCall(VecGetArrayRead(all, &a));
  PetscCall(PetscCalloc1(number, &count));
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt label = (PetscInt)PetscRealPart(a[i]);

    digest = (digest * 31 + label) % 1000003;
    if (label < 0 || label >= number) sound = PETSC_FALSE;
    else count[label]++;
  }
  for (PetscInt l = 0; l < number; l++) least = PetscMin(least, count[l]);
  PetscCall(ClaimThat(sound && least > 0,
                      "%s, %" PetscInt_FMT "D: %" PetscInt_FMT " subdomains, at least %" PetscInt_FMT
                      " unknowns, digest %" PetscInt_FMT ", all labels used",
                      name, t->dim, number, least, digest));
  PetscCall(PetscFree(count));
  PetscCall(VecRestoreArrayRead(all, &a));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(0);
}

/* In each box two unknowns of the same phase that are neighbours have the same label, and those of different phases
   have not */
static PetscErrorCode FollowsDiscs(const TwoPhase *t, DM da, PC pc, PetscInt boxes)
{
  const PetscScalar *a;
  Vec                all;
  PetscInt           n, same = 0, mixed = 0, middle;

  PetscFunctionBeginUser;
  PetscCall(GatherLabels(da, pc, &all));
  PetscCall(VecGetLocalSize(all, &n));
  PetscCall(VecGetArrayRead(all, &a));
  for (PetscInt i = 0; i < n; i++) {
    PetscInt at[3] = {i % t->n, i / t->n % t->n, i / t->n / t->n}, to[3] = {at[0] + 1, at[1], at[2]};

    if (to[0] >= t->n || at[0] * boxes / t->n != to[0] * boxes / t->n) continue;
    middle = TwoPhaseCoefficient(t, at) != TwoPhaseCoefficient(t, to);
    if (middle && a[i] == a[i + 1]) mixed++;
    if (!middle && a[i] == a[i + 1]) same++;
  }
  PetscCall(Print("  points next to an interface that share the subdomain beyond it: %" PetscInt_FMT
                  ", neighbours of one phase that share one: %" PetscInt_FMT "\n",
                  mixed, same));
  PetscCall(VecRestoreArrayRead(all, &a));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(0);
}

static PetscErrorCode AllLabels(void)
{
  const struct {
    PetscInt      dim, n, boxes[3], size; /* size < 0: -size discs in each direction, too many for a subdomain each */
    PetscReal     contrast, x;            /* couplings in x */
    PetscBool     harmonic, stored, periodic, stencil;
    PCDeflSubType type;
  } cases[] = {
      {2, 30, {0, 0, 0}, 0, 1, 1, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PC_DEFLSUB_INTERFACE},
      {2, 30, {7, 4, 0}, 0, 1, 1, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PC_DEFLSUB_BOX},
      {2, 30, {17, 0, 0}, 0, 1, 1, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PC_DEFLSUB_STRIPE},
      {2, 30, {0, 0, 0}, 20, 1, 1, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PC_DEFLSUB_STRIPE},
      {2, 36, {4, 4, 0}, 0, 1e3, 1, PETSC_TRUE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PC_DEFLSUB_INTERFACE},
      {2, 36, {4, 4, 0}, 0, 1e3, 1, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_TRUE, PC_DEFLSUB_INTERFACE},
      {2, 36, {4, 4, 0}, 0, 1e-3, 1, PETSC_FALSE, PETSC_FALSE, PETSC_TRUE, PETSC_TRUE, PC_DEFLSUB_INTERFACE},
      {2, 36, {4, 4, 0}, 0, 1e-3, 1e4, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PC_DEFLSUB_INTERFACE},
      {2, 36, {5, 3, 0}, 0, 1e3, 1, PETSC_FALSE, PETSC_TRUE, PETSC_FALSE, PETSC_FALSE, PC_DEFLSUB_INTERFACE},
      {3, 18, {3, 2, 4}, 0, 1e2, 1, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PC_DEFLSUB_INTERFACE},
      {3, 18, {0, 0, 0}, 100, 1e-2, 1, PETSC_FALSE, PETSC_FALSE, PETSC_TRUE, PETSC_TRUE, PC_DEFLSUB_INTERFACE},
      {2, 60, {4, 4, 0}, -20, 1e3, 1, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PC_DEFLSUB_INTERFACE},
      {1, 60, {7, 0, 0}, 0, 1e3, 1, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PC_DEFLSUB_INTERFACE}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    TwoPhase t;
    System   s = {0};

    TwoPhaseInit(&t, cases[i].dim, cases[i].n, cases[i].contrast);
    t.x = cases[i].x;
    if (cases[i].size < 0) t.across = -cases[i].size;
    t.harmonic = cases[i].harmonic;
    t.stored   = cases[i].stored;
    t.periodic = cases[i].periodic;
    if (cases[i].stencil && !PetscDefined(USE_COMPLEX)) t.type = MATSTENCIL;
    PetscCall(TwoPhaseCreateSystem(&t, KSPCG, 1e-8, &s));
    PetscCall(PCDeflSubSetType(s.pc, cases[i].type));
    PetscCall(PCDeflSubSetBoxes(s.pc, cases[i].boxes[0], cases[i].boxes[1], cases[i].boxes[2]));
    PetscCall(PCDeflSubSetSize(s.pc, PetscMax(cases[i].size, 0)));
    PetscCall(KSPSetUp(s.ksp));
    PetscCall(LookAtLabels(&t, s.da, s.pc, PCDeflSubTypes[cases[i].type]));
    if (cases[i].contrast != 1 && cases[i].dim == 2) PetscCall(FollowsDiscs(&t, s.da, s.pc, cases[i].boxes[0]));
    PetscCall(SystemDestroy(&s));
  }
  PetscFunctionReturn(0);
}

/* || y || against || x || */
static PetscErrorCode Small(Vec y, Vec x, PetscReal *most)
{
  PetscReal a, b;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(y, NORM_INFINITY, &a));
  PetscCall(VecNorm(x, NORM_INFINITY, &b));
  *most = PetscMax(*most, a / b);
  PetscFunctionReturn(0);
}

/* P A Z, Z^T P and Q A Z - Z for columns z of Z; a column that is left out of Z is in the kernel of A together with
   the others */
static PetscErrorCode ColumnIdentities(DM da, Mat A, PC pc, Vec labels, PetscInt column, PetscReal most[3])
{
  const PetscScalar *l;
  Vec                z, Az, y, r;
  PetscScalar       *a, dot;
  PetscReal          norm;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(DuplicateVec(labels, &z, &Az, &y, &r));
  PetscCall(VecGetLocalSize(z, &n));
  PetscCall(VecGetArrayRead(labels, &l));
  PetscCall(VecGetArray(z, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = (PetscInt)PetscRealPart(l[i]) == column;
  PetscCall(VecRestoreArray(z, &a));
  PetscCall(VecRestoreArrayRead(labels, &l));
  PetscCall(MatMult(A, z, Az));
  PetscCall(PCDeflSubProject(pc, Az, y));
  PetscCall(Small(y, Az, &most[0]));
  PetscCall(Fill(da, column, r));
  PetscCall(PCDeflSubProject(pc, r, y));
  PetscCall(VecDot(y, z, &dot));
  PetscCall(VecNorm(r, NORM_1, &norm));
  most[1] = PetscMax(most[1], PetscAbsScalar(dot) / norm);
  PetscCall(PCDeflSubCorrect(pc, Az, y));
  PetscCall(VecAXPY(y, -1, z));
  PetscCall(Small(y, z, &most[2]));
  PetscCall(DestroyAll(&z, &Az, &y, &r));
  PetscFunctionReturn(0);
}

/* (P x, y) = (x, P^T y), P^T = I - Q A, the preconditioner is symmetric, and A Z is that of A */
static PetscErrorCode OperatorIdentities(DM da, Mat A, PC pc, Vec labels, PetscReal most[3])
{
  Vec         x, y, Px, Py, w;
  PetscScalar a, b;
  PetscReal   size[2];

  PetscFunctionBeginUser;
  PetscCall(DuplicateVec(labels, &x, &y, &Px, &Py, &w));
  PetscCall(Fill(da, 100, x));
  PetscCall(Fill(da, 300, y));
  PetscCall(PCDeflSubProject(pc, x, Px));
  PetscCall(PCDeflSubProjectTranspose(pc, y, Py));
  PetscCall(VecDot(Px, y, &a));
  PetscCall(VecDot(x, Py, &b));
  PetscCall(VecNorm(Px, NORM_2, &size[0]));
  PetscCall(VecNorm(y, NORM_2, &size[1]));
  most[0] = PetscAbsScalar(a - b) / (size[0] * size[1]);
  PetscCall(MatMult(A, y, w));
  PetscCall(PCDeflSubCorrect(pc, w, Px));
  PetscCall(VecAXPY(Px, 1, Py));
  PetscCall(VecAXPY(Px, -1, y));
  PetscCall(Small(Px, y, &most[1]));
  PetscCall(AdjointError(pc, PETSC_FALSE, x, y, &most[2]));
  PetscCall(DestroyAll(&x, &y, &Px, &Py, &w));
  PetscFunctionReturn(0);
}

static PetscErrorCode IdentitiesOf(const TwoPhase *t, PCDeflSubType type, PetscBool scatter)
{
  PetscReal most[3] = {0, 0, 0}, others[3] = {0, 0, 0};
  PetscInt  number, left, n, start;
  System    s = {0};
  Vec       labels;
  char      name[128];

  PetscFunctionBeginUser;
  PetscCall(TwoPhaseCreateSystem(t, KSPCG, 1e-8, &s));
  PetscCall(VecDuplicate(s.b, &labels));
  PetscCall(PCDeflSubSetBoxes(s.pc, 4, t->dim > 1 && type != PC_DEFLSUB_STRIPE ? 3 : 0,
                              t->dim > 2 && type != PC_DEFLSUB_STRIPE ? 2 : 0));
  PetscCall(PCDeflSubSetType(s.pc, type));
  if (scatter) {
    PetscCall(MatGetOwnershipRange(s.A, &start, NULL));
    PetscCall(VecGetLocalSize(s.b, &n));
    for (PetscInt i = start; i < start + n; i++)
      PetscCall(VecSetValue(labels, i, (PetscReal)(i * 7 % 5), INSERT_VALUES));
    PetscCall(AssembleVec(labels));
    PetscCall(SetLabels(s.pc, labels));
  }
  PetscCall(KSPSetUp(s.ksp));
  PetscCall(PCDeflSubGetNumber(s.pc, &number, &left));
  PetscCall(GetLabels(s.pc, labels));
  for (PetscInt l = left; l < number; l++) PetscCall(ColumnIdentities(s.da, s.A, s.pc, labels, l, most));
  PetscCall(OperatorIdentities(s.da, s.A, s.pc, labels, others));
  PetscCall(PetscSNPrintf(name, sizeof(name), "%s, %" PetscInt_FMT "D, %s, contrast %g%s%s",
                          scatter ? "user" : PCDeflSubTypes[type], t->dim, t->type, (double)t->contrast,
                          t->closed ? ", closed" : "", t->periodic ? ", periodic" : ""));
  PetscCall(Print("%s, %" PetscInt_FMT " left out: P A Z = 0: %s, Z^T P = 0: %s, Q A Z = Z: %s\n", name, left,
                  YesNo(most[0] < 1e-9), YesNo(most[1] < 1e-11), YesNo(most[2] < 1e-8)));
  PetscCall(Print("  (P x, y) = (x, P^T y): %s, P^T = I - Q A: %s, symmetric: %s\n", YesNo(others[0] < 1e-10),
                  YesNo(others[1] < 1e-8), YesNo(others[2] < 1e-10)));
  for (int i = 0; i < 3; i++)
    if (most[i] >= 1e-11) PetscCall(PetscInfo(s.pc, "%s: identity %d to %g\n", name, i, (double)most[i]));
  PetscCall(VecDestroy(&labels));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* y_i = x_i + 0.3 x_i+d on each process */
static PetscErrorCode ShiftBy(PetscInt d, Vec x, Vec y)
{
  const PetscScalar *from;
  PetscScalar       *to;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &from));
  PetscCall(VecGetArrayWrite(y, &to));
  for (PetscInt i = 0; i < n; i++) to[i] = from[i] + (i + d >= 0 && i + d < n ? 0.3 * from[i + d] : 0);
  PetscCall(VecRestoreArrayWrite(y, &to));
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscFunctionReturn(0);
}

static PetscErrorCode Shift(PC pc, Vec x, Vec y)
{
  (void)pc;
  return ShiftBy(1, x, y);
}

static PetscErrorCode ShiftTranspose(PC pc, Vec x, Vec y)
{
  (void)pc;
  return ShiftBy(-1, x, y);
}

/* The transpose, around a preconditioner that is not symmetric */
static PetscErrorCode Transposed(void)
{
  TwoPhase  t;
  System    s = {0};
  PC        inner;
  PetscReal error[2];

  PetscFunctionBeginUser;
  TwoPhaseInit(&t, 2, 24, 100);
  PetscCall(TwoPhaseCreateSystem(&t, KSPCG, 1e-8, &s));
  PetscCall(VecDuplicate(s.b, &s.x));
  PetscCall(PCDeflSubGetPC(s.pc, &inner));
  PetscCall(PCSetType(inner, PCSHELL));
  PetscCall(PCShellSetApply(inner, Shift));
  PetscCall(PCShellSetApplyTranspose(inner, ShiftTranspose));
  PetscCall(PCSetUp(s.pc));
  PetscCall(Fill(s.da, 100, s.x));
  PetscCall(Fill(s.da, 300, s.b));
  for (int plain = 0; plain < 2; plain++) PetscCall(AdjointError(s.pc, (PetscBool)!plain, s.x, s.b, &error[plain]));
  PetscCall(Claim(error[0] < 1e-12 && error[1] > 1e-5,
                  "the transpose is the adjoint where the inner preconditioner is not symmetric"));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

static PetscErrorCode Identities(void)
{
  TwoPhase t;

  PetscFunctionBeginUser;
  for (int type = PC_DEFLSUB_STRIPE; type <= PC_DEFLSUB_USER; type++) {
    for (PetscInt dim = 2; dim <= 3; dim++) {
      TwoPhaseInit(&t, dim, dim == 2 ? 25 : 11, type == PC_DEFLSUB_INTERFACE ? 1e3 : 10);
      if (dim == 3 && !PetscDefined(USE_COMPLEX)) t.type = MATSTENCIL;
      PetscCall(IdentitiesOf(&t, type == PC_DEFLSUB_USER ? PC_DEFLSUB_BOX : (PCDeflSubType)type,
                             (PetscBool)(type == PC_DEFLSUB_USER)));
      t.closed = PETSC_TRUE;
      PetscCall(IdentitiesOf(&t, type == PC_DEFLSUB_USER ? PC_DEFLSUB_BOX : (PCDeflSubType)type,
                             (PetscBool)(type == PC_DEFLSUB_USER)));
    }
  }
  TwoPhaseInit(&t, 2, 24, 1e-3);
  t.periodic = PETSC_TRUE;
  PetscCall(IdentitiesOf(&t, PC_DEFLSUB_INTERFACE, PETSC_FALSE));
  if (!PetscDefined(USE_COMPLEX)) t.type = MATSTENCIL;
  PetscCall(IdentitiesOf(&t, PC_DEFLSUB_INTERFACE, PETSC_FALSE));
  PetscCall(Transposed());
  PetscFunctionReturn(0);
}

/* A line with couplings 1.6, 1, 1, 2.5, 1, 1, ...: it is cut at 2.5 only, since the point between two couplings of 1
   has that jump too; processes part the points at which this is known */
static PetscErrorCode Line(void)
{
  const PetscReal w[6]   = {1.6, 1, 1, 2.5, 1, 1};
  const PetscInt  two[2] = {30, 10}, three[3] = {15, 15, 10}, four[4] = {15, 8, 7, 10},
                 *owned[] = {NULL, NULL, two, three, four};
  TwoPhase t;
  PetscInt start, end;
  System   s = {0};

  PetscFunctionBeginUser;
  TwoPhaseInit(&t, 1, 40, 1);
  PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, t.n, 1, 1,
                         PetscGlobalSize > 4 ? NULL : owned[PetscGlobalSize], &s.da));
  PetscCall(DMSetMatType(s.da, t.type));
  PetscCall(DMSetUp(s.da));
  PetscCall(DMCreateMatrix(s.da, &s.A));
  PetscCall(MatGetOwnershipRange(s.A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscCall(MatSetValue(s.A, i, i, w[(i + 5) % 6] + w[i % 6], INSERT_VALUES));
    if (i) PetscCall(MatSetValue(s.A, i, i - 1, -w[(i + 5) % 6], INSERT_VALUES));
    if (i < t.n - 1) PetscCall(MatSetValue(s.A, i, i + 1, -w[i % 6], INSERT_VALUES));
  }
  PetscCall(AssembleMat(s.A));
  PetscCall(TwoPhaseCreateKSP(s.A, KSPCG, 1e-8, &s.ksp, &s.pc));
  PetscCall(PCDeflSubSetBoxes(s.pc, 2, 0, 0));
  PetscCall(KSPSetUp(s.ksp));
  PetscCall(LookAtLabels(&t, s.da, s.pc, "a line"));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* Labels where a little decides: couplings that differ by little, body by body; from point to point; and by
   direction, which is no interface */
static PetscErrorCode SmallDifferences(void)
{
  const struct {
    PetscInt    n, across, boxes;
    PetscReal   contrast, y, vary;
    PetscBool   stored;
    const char *name;
  } cases[] = {{36, 3, 4, 1.9, 1, 0, PETSC_FALSE, "contrast 1.9"},
               {36, 3, 4, 0.45, 1, 0, PETSC_FALSE, "contrast 0.45"},
               {36, 3, 4, 2.5, 1, 0.01, PETSC_FALSE, "contrast 2.5, varied"},
               {60, 5, 7, 1e3, 1, 0.1, PETSC_FALSE, "contrast 1000, varied"},
               {60, 7, 9, 1e-3, 1, 0.1, PETSC_FALSE, "contrast 0.001, varied"},
               {36, 3, 4, 1e3, 1, 0, PETSC_TRUE, "stored Dirichlet points"},
               {36, 3, 4, 1, 2, 0, PETSC_FALSE, "another anisotropy on the right"}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    TwoPhase t;
    System   s = {0};

    TwoPhaseInit(&t, 2, cases[i].n, cases[i].contrast);
    t.across = cases[i].across;
    t.y      = cases[i].y;
    t.vary   = cases[i].vary;
    t.stored = cases[i].stored;
    PetscCall(TwoPhaseCreateSystem(&t, KSPCG, 1e-8, &s));
    PetscCall(PCDeflSubSetBoxes(s.pc, cases[i].boxes, cases[i].boxes, 0));
    PetscCall(KSPSetUp(s.ksp));
    PetscCall(LookAtLabels(&t, s.da, s.pc, cases[i].name));
    PetscCall(SystemDestroy(&s));
  }
  PetscFunctionReturn(0);
}

/* Solves, and gives iterations, or -1 */
static PetscErrorCode Iterations(KSP ksp, Vec b, PetscInt *its)
{
  KSPConvergedReason reason;
  Vec                x;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &x));
  PetscCall(SolveSystem(ksp, b, x, its, &reason));
  if (reason < 0) *its = -1;
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

/* The deterministic case: iterations with stripes and boxes, around Jacobi or 64 blocks of incomplete Cholesky,
   which are those of one process */
static PetscErrorCode Table(void)
{
  const struct {
    PCDeflSubType type;
    PetscInt      x, y, jacobi, blocks;
  } rows[] = {{PC_DEFLSUB_STRIPE, 256, 0, 195, 98},
              {PC_DEFLSUB_STRIPE, 128, 0, 216, 109},
              {PC_DEFLSUB_BOX, 8, 8, 82, 46},
              {PC_DEFLSUB_BOX, 16, 16, 38, 27}};
  TwoPhase t;
  DM       da;
  Mat      A;
  Vec      b;

  PetscFunctionBeginUser;
  TwoPhaseInit(&t, 2, 128, 1);
  PetscCall(TwoPhaseCreate(&t, &da, &A, &b));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(rows); i++) {
    for (int blocks = 0; blocks < (Given("-blocks") ? 2 : 1); blocks++) {
      const PetscInt expected = blocks ? rows[i].blocks : rows[i].jacobi;
      PetscInt       its;
      KSP            ksp;
      PC             pc, inner;

      PetscCall(TwoPhaseCreateKSP(A, KSPCG, 1e-6, &ksp, &pc));
      PetscCall(PCDeflSubSetType(pc, rows[i].type));
      PetscCall(PCDeflSubSetBoxes(pc, rows[i].x, rows[i].y, 0));
      if (blocks) {
        PetscCall(PCDeflSubGetPC(pc, &inner));
        PetscCall(PCSetType(inner, PCBJACOBI));
        PetscCall(PCBJacobiSetTotalBlocks(inner, 64, NULL));
      }
      PetscCall(KSPSetFromOptions(ksp));
      PetscCall(Iterations(ksp, b, &its));
      PetscCall(ClaimThat(
          PetscAbsInt(its - expected) <= 1,
          "%s %" PetscInt_FMT " x %" PetscInt_FMT ", %s: %" PetscInt_FMT " iterations, give or take one",
          PCDeflSubTypes[rows[i].type], rows[i].x, PetscMax(rows[i].y, 1), blocks ? "64 blocks" : "Jacobi", expected));
      if (PetscAbsInt(its - expected) > 1) PetscCall(Print("  it needs %" PetscInt_FMT "\n", its));
      PetscCall(KSPDestroy(&ksp));
    }
  }
  PetscCall(DestroyAll(&b, &A, &da));
  PetscFunctionReturn(0);
}

/* Iterations with nine discs for several contrasts */
static PetscErrorCode Contrasts(PCDeflSubType type, PetscBool closed, PetscBool harmonic, PetscInt its[9])
{
  const PetscReal contrasts[] = {1, 3, 10, 100, 1e3, 1e4, 1e6, 1e-3, 1e-6};

  PetscFunctionBeginUser;
  for (int i = 0; i < 9; i++) {
    TwoPhase t;
    System   s = {0};

    TwoPhaseInit(&t, 2, 96, contrasts[i]);
    t.closed   = closed;
    t.harmonic = harmonic;
    PetscCall(TwoPhaseCreateSystem(&t, KSPCG, 1e-10, &s));
    PetscCall(PCDeflSubSetType(s.pc, type));
    PetscCall(PCDeflSubSetBoxes(s.pc, 8, 8, 0));
    PetscCall(KSPSetFromOptions(s.ksp));
    PetscCall(Iterations(s.ksp, s.b, &its[i]));
    PetscCall(SystemDestroy(&s));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Contrast(void)
{
  const PetscBool show = Given("-show");
  PetscInt        its[9];

  PetscFunctionBeginUser;
  for (int problem = 0; problem < 4; problem++) {
    for (int type = PC_DEFLSUB_BOX; type <= PC_DEFLSUB_INTERFACE; type++) {
      PetscInt least = 1000000000, most = 0;

      PetscCall(Contrasts((PCDeflSubType)type, (PetscBool)(problem % 2), (PetscBool)(problem / 2), its));
      for (int i = 0; i < 9; i++) {
        if (show) PetscCall(Print(" %" PetscInt_FMT, its[i]));
        if (i < 2 || i > 6) continue;
        least = PetscMin(least, its[i]);
        most  = PetscMax(most, its[i]);
      }
      if (show) PetscCall(Print("\n"));
      PetscCall(Print("%s, %s means, %s: ", problem % 2 ? "closed" : "Dirichlet",
                      problem / 2 ? "harmonic" : "arithmetic", PCDeflSubTypes[type]));
      if (type == PC_DEFLSUB_BOX) PetscCall(Claim(its[6] > 1.3 * its[0], "iterations grow with the contrast"));
      else
        PetscCall(Claim(least > 0 && most <= 1.05 * least && most <= 1.2 * its[0] &&
                            PetscAbsInt(its[1] - its[2]) <= 6 && its[7] > 0 && PetscAbsInt(its[7] - its[8]) <= 2,
                        "iterations are the same from 10 to 1e6, and 6 others at most at 3"));
    }
  }
  PetscFunctionReturn(0);
}

/* A smooth solution that obeys the wall: sines for Dirichlet cells beyond it, cosines for no flux */
static PetscErrorCode SmoothSolution(const TwoPhase *t, DM da, Vec x)
{
  PetscInt     s[2], m[2];
  PetscScalar *values;

  PetscFunctionBeginUser;
  if (t->closed) {
    PetscCall(TwoPhaseSolution(t, da, x));
    PetscFunctionReturn(0);
  }
  PetscCall(DMDAGetCorners(da, &s[0], &s[1], NULL, &m[0], &m[1], NULL));
  PetscCall(VecGetArrayWrite(x, &values));
  for (PetscInt j = 0; j < m[1]; j++) {
    for (PetscInt i = 0; i < m[0]; i++) {
      const PetscReal X = PETSC_PI * (s[0] + i + 0.5) / t->n, Y = PETSC_PI * (s[1] + j + 0.5) / t->n;

      values[i + m[0] * j] = PetscSinReal(X) * PetscSinReal(Y) + 0.3 * PetscSinReal(2 * X) * PetscSinReal(Y) +
                             0.2 * PetscSinReal(X) * PetscSinReal(3 * Y);
    }
  }
  PetscCall(VecRestoreArrayWrite(x, &values));
  PetscFunctionReturn(0);
}

typedef struct {
  Mat       A;
  Vec       exact, error, work;
  PetscReal first;
} Energy;

/* The energy norm of the error, which is what CG makes small, has fallen by 1e-8 */
static PetscErrorCode EnergyConverged(KSP ksp, PetscInt it, PetscReal norm, KSPConvergedReason *reason, void *ctx)
{
  Energy     *e = (Energy *)ctx;
  Vec         x;
  PetscScalar product;
  PetscReal   energy;

  PetscFunctionBeginUser;
  (void)norm;
  PetscCall(KSPBuildSolution(ksp, NULL, &x));
  PetscCall(VecWAXPY(e->error, -1, x, e->exact));
  PetscCall(MatMult(e->A, e->error, e->work));
  PetscCall(VecDot(e->work, e->error, &product));
  energy = PetscSqrtReal(PetscAbsScalar(product));
  if (it == 0) e->first = energy;
  *reason = energy <= 1e-8 * e->first ? KSP_CONVERGED_RTOL : KSP_CONVERGED_ITERATING;
  PetscFunctionReturn(0);
}

/* Iterations until the error is small, 8 x 8 boxes around 64 blocks of incomplete Cholesky; labels: subdomains;
   NULL: those of the operator, which are given back in found */
static PetscErrorCode EnergyIterations(const TwoPhase *t, Vec labels, Vec *found, PetscInt *its)
{
  System s = {0};
  PC     inner;
  Energy e;

  PetscFunctionBeginUser;
  PetscCall(TwoPhaseCreateSystem(t, KSPCG, 1e-10, &s));
  e.A = s.A;
  PetscCall(DuplicateVec(s.b, &e.exact, &e.error, &e.work));
  PetscCall(SmoothSolution(t, s.da, e.exact));
  PetscCall(MatMult(s.A, e.exact, s.b));
  PetscCall(KSPSetConvergenceTest(s.ksp, EnergyConverged, &e, NULL));
  PetscCall(PCDeflSubSetBoxes(s.pc, 8, 8, 0));
  if (labels) PetscCall(SetLabels(s.pc, labels));
  PetscCall(PCDeflSubGetPC(s.pc, &inner));
  PetscCall(PCSetType(inner, PCBJACOBI));
  PetscCall(PCBJacobiSetTotalBlocks(inner, 64, NULL));
  PetscCall(KSPSetFromOptions(s.ksp));
  PetscCall(Iterations(s.ksp, s.b, its));
  if (found) PetscCall(VecDuplicate(s.b, found));
  if (found) PetscCall(GetLabels(s.pc, *found));
  PetscCall(DestroyAll(&e.exact, &e.error, &e.work));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* Nine discs, 128 x 128: with subdomains that follow them the contrast does not matter; contrast 1 has no interface,
   and other subdomains if they are not given */
static PetscErrorCode Independent(void)
{
  const PetscReal contrasts[] = {1, 2, 5, 10, 100, 1e3, 1e6};
  const PetscBool show        = Given("-show");

  PetscFunctionBeginUser;
  for (int problem = 0; problem < 4; problem++) {
    const PetscBool given = (PetscBool)(problem % 2 == 0);
    PetscInt        least = 1000000000, most = 0, its;
    TwoPhase        t;
    Vec             labels;

    TwoPhaseInit(&t, 2, 128, 1e3);
    t.closed = (PetscBool)(problem / 2);
    PetscCall(EnergyIterations(&t, NULL, &labels, &its));
    for (size_t i = given ? 0 : 1; i < PETSC_STATIC_ARRAY_LENGTH(contrasts); i++) {
      t.contrast = contrasts[i];
      PetscCall(EnergyIterations(&t, given ? labels : NULL, NULL, &its));
      if (show) PetscCall(Print(" %" PetscInt_FMT, its));
      least = PetscMin(least, its);
      most  = PetscMax(most, its);
    }
    if (show) PetscCall(Print("\n"));
    PetscCall(Print("%s, subdomains %s: ", t.closed ? "closed" : "Dirichlet", given ? "given" : "found"));
    PetscCall(Claim(least > 0 && most <= 1.05 * least, given
                                                           ? "iterations from contrast 1 to 1e6 are the same to 5 %"
                                                           : "iterations from contrast 2 to 1e6 are the same to 5 %"));
    PetscCall(VecDestroy(&labels));
  }
  PetscFunctionReturn(0);
}

typedef struct {
  const char *claim;
  PetscInt    n, boxes[3]; /* n: 12, if it is not given */
  /* 1: negative, 2: a gap, 4: too many, 5: of another length, 6: none, 7: the largest integer, 8: the least */
  int         labels;
  PetscBool   detached, closed, baij, adef2, inverse, other;
  const char *expected;
} Refusal;

/* Labels that are wrong */
static PetscErrorCode GiveLabels(PC pc, Vec b, int kind)
{
  Vec      labels;
  PetscInt start, end, *values;
  IS       is;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &labels));
  PetscCall(VecGetOwnershipRange(b, &start, &end));
  for (PetscInt i = start; i < end; i++) PetscCall(VecSetValue(labels, i, (PetscReal)(i % 4), INSERT_VALUES));
  PetscCall(AssembleVec(labels));
  if (start == 0) {
    for (PetscInt i = 0; i < end; i++)
      PetscCall(VecSetValue(labels, i, kind == 1 ? (i == 5 ? -2 : i % 4) : kind == 4 ? 1000 : i % 4, INSERT_VALUES));
  }
  PetscCall(AssembleVec(labels));
  if (kind == 2) PetscCall(VecScale(labels, 2));
  if (kind >= 5) {
    const PetscInt largest = sizeof(PetscInt) == 8 ? (PetscInt)INT64_MAX : (PetscInt)INT32_MAX;

    PetscCall(PetscCalloc1(end - start + 1, &values));
    if (start == 0 && kind > 6) values[3] = kind == 7 ? largest : -largest - 1;
    PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, end - start + (kind == 5), values, PETSC_OWN_POINTER, &is));
    PetscCall(PCDeflSubSetLabelIS(pc, is));
    PetscCall(ISDestroy(&is));
  } else PetscCall(SetLabels(pc, labels));
  PetscCall(VecDestroy(&labels));
  PetscFunctionReturn(0);
}

static PetscErrorCode Refuse(const Refusal *r, Mat A, Vec b)
{
  char           words[ERROR_LENGTH] = "";
  PetscErrorCode ierr                = 0;
  int            all;
  KSP            ksp;
  PC             pc;
  Mat            other = A;
  Vec            x;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &x));
  PetscCall(TwoPhaseCreateKSP(A, KSPCG, 1e-8, &ksp, &pc));
  if (r->other) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &other));
  PetscCall(KSPSetOperators(ksp, A, other));
  PetscCall(PCDeflSubSetBoxes(pc, r->boxes[0], r->boxes[1], r->boxes[2]));
  if (r->adef2) PetscCall(PCDeflSubSetForm(pc, PC_DEFLSUB_ADEF2));
  if (r->inverse) PetscCall(PCDeflSubSetCoarse(pc, PC_DEFLSUB_COARSE_INVERSE));
  PetscCall(PetscPushErrorHandler(KeepError, words));
  if (r->labels == 6) ierr = PCDeflSubSetType(pc, PC_DEFLSUB_USER);
  else if (r->labels) ierr = GiveLabels(pc, b, r->labels);
  if (!ierr) ierr = KSPSetUp(ksp);
  if (!ierr && r->other) ierr = KSPSolve(ksp, b, x);
  else if (!ierr && r->adef2) ierr = PCApply(pc, b, x);
  PetscCall(PetscPopErrorHandler());
  all = ierr != 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, PETSC_COMM_WORLD));
  PetscCall(ClaimError((PetscErrorCode)all, words, r->expected, r->claim));
  if (r->other) PetscCall(MatDestroy(&other));
  PetscCall(DestroyAll(&x, &ksp));
  PetscFunctionReturn(0);
}

static const Refusal Refusals[] = {
    {.claim    = "more boxes than points",
     .boxes    = {13, 2, 0},
     .expected = "13 boxes in x are more than the 12 points of the grid there"},
    {.claim    = "boxes in a direction that the grid lacks",
     .boxes    = {3, 2, 2},
     .expected = "2 boxes in z on a grid of 2 dimensions"},
    {.claim = "a negative label", .labels = 1, .expected = "there is a label -2"},
    {.claim = "a label that no unknown has", .labels = 2, .expected = "go from 0 to 6, and no unknown has label 1"},
    {.claim    = "more subdomains than unknowns",
     .labels   = 4,
     .expected = "There is a label 1000 and there are only 144 unknowns"},
    {.claim = "the largest integer as a label", .labels = 7, .expected = "and there are only 144 unknowns"},
    {.claim = "the least integer as a label", .labels = 8, .expected = "begin at 0, and there is a label -"},
    {.claim = "more labels than unknowns", .labels = 5, .expected = "unknowns and"},
    {.claim = "type user without labels", .labels = 6, .expected = "-pc_deflsub_type user needs labels"},
    {.claim    = "no grid and no labels",
     .detached = PETSC_TRUE,
     .expected = "give it with KSPSetDM(), PCSetDM() or MatSetDM(), or give labels"},
    {.claim    = "one subdomain of a singular operator",
     .boxes    = {1, 1, 0},
     .closed   = PETSC_TRUE,
     .expected = "left out of Z, 1 in all, and there is no other: use more subdomains"},
    {.claim    = "a matrix that does not show its rows",
     .baij     = PETSC_TRUE,
     .expected = "use -mat_type aij or -dm_mat_type stencil"},
    {.claim    = "a dense inverse that is too large",
     .n        = 66,
     .boxes    = {66, 66, 0},
     .inverse  = PETSC_TRUE,
     .expected = "E has 4356 rows"},
    {.claim = "adef2 outside of KSPSolve()", .adef2 = PETSC_TRUE, .expected = "use -pc_deflsub_form bnn here"},
    {.claim    = "adef2 with another matrix for preconditioners",
     .adef2    = PETSC_TRUE,
     .other    = PETSC_TRUE,
     .expected = "adef2 deflates the operator of the Krylov method"},
};

static PetscErrorCode Errors(void)
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(Refusals); i++) {
    TwoPhase t;
    DM       da;
    Mat      A, B;
    Vec      b;

    TwoPhaseInit(&t, 2, Refusals[i].n ? Refusals[i].n : 12, 1);
    t.closed = Refusals[i].closed;
    PetscCall(TwoPhaseCreate(&t, &da, &A, &b));
    if (Refusals[i].detached) {
      PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
      PetscCall(MatSetDM(B, NULL));
      PetscCall(MatDestroy(&A));
      A = B;
    }
    if (Refusals[i].baij) PetscCall(MatConvert(A, MATBAIJ, MAT_INPLACE_MATRIX, &A));
    PetscCall(Refuse(&Refusals[i], A, b));
    PetscCall(DestroyAll(&b, &A, &da));
  }
  PetscCall(PetscOptionsClearValue(NULL, "-malloc_dump")); /* what was being made when an error came is not freed */
  PetscFunctionReturn(0);
}

/* The preconditioner reads and writes vectors where they are, and says so */
static PetscErrorCode StaysOnDevice(KSP ksp, Vec b, PetscBool *stays)
{
  PetscOffloadMask mask[2];
  PetscBool        says = PETSC_FALSE;
  Mat              A;
  Vec              r, z;
  PC               pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetOperators(pc, &A, NULL));
  PetscCall(DuplicateVec(b, &r, &z));
  PetscCall(MatMult(A, b, r));
  PetscCall(PCApply(pc, r, z));
  PetscCall(VecGetOffloadMask(r, &mask[0]));
  PetscCall(VecGetOffloadMask(z, &mask[1]));
  PetscCall(ViewHas(pc, "on the device Z, A Z and their transposes are matrices of type seqaijcusparse", &says));
  *stays = (PetscBool)(says && mask[0] == PETSC_OFFLOAD_GPU && mask[1] == PETSC_OFFLOAD_GPU);
  PetscCall(DestroyAll(&r, &z));
  PetscFunctionReturn(0);
}

/* Of two residual histories, relative; below a part of the first residual rounding decides */
static PetscReal LargestDifference(const Residuals *a, const Residuals *b)
{
  const PetscReal floor = 1e-4;
  PetscReal       most  = 0;

  for (PetscInt k = 0; k < PetscMin(a->length, b->length); k++)
    most = PetscMax(most, PetscAbsReal(a->value[k] - b->value[k]) / PetscMax(a->value[k], floor * a->value[0]));
  return most;
}

/* Two solves with E by its factors and by its inverse */
static PetscErrorCode CompareSolves(const TwoPhase *t, PCDeflSubFormType form, const char name[])
{
  const PCDeflSubCoarseType coarse[] = {PC_DEFLSUB_COARSE_AUTO, PC_DEFLSUB_COARSE_FACTOR, PC_DEFLSUB_COARSE_INVERSE};
  const char               *closed   = t->closed ? ", closed" : "";
  static Residuals          residuals[3];
  PetscBool                 dense = PETSC_FALSE, same = PETSC_TRUE, stays = PETSC_TRUE;
  PetscReal                 most  = 0;
  TwoPhase                  other = *t;
  System                    s     = {0};
  PetscInt                  its[3];
  VecType                   vectors;
  char                     *cuda;

  PetscFunctionBeginUser;
  PetscCall(TwoPhaseCreateSystem(t, KSPCG, 1e-8, &s));
  PetscCall(MatGetVecType(s.A, &vectors));
  PetscCall(PetscStrstr(vectors, VECCUDA, &cuda)); /* there it is chosen without being asked for */
  PetscCall(PCDeflSubSetBoxes(s.pc, 5, 5, 0));
  PetscCall(PCDeflSubSetForm(s.pc, form));
  for (int round = 0; round < 2; round++) { /* then with other values, first by the inverse, which must be made again */
    for (int k = 0; k < 3; k++) {
      const int           i = round ? 2 - k : k;
      PCDeflSubCoarseType got;

      residuals[i].length = 0;
      PetscCall(PCDeflSubGetCoarse(s.pc, &got));
      if (got != coarse[i]) PetscCall(PCDeflSubSetCoarse(s.pc, coarse[i]));
      PetscCall(KSPMonitorSet(s.ksp, KeepResiduals, &residuals[i], NULL));
      PetscCall(Iterations(s.ksp, s.b, &its[i]));
      PetscCall(KSPMonitorCancel(s.ksp));
      PetscCall(ViewHas(
          s.pc, cuda ? "E^-1 is a dense matrix of type seqdensecuda" : "E^-1 is a dense matrix of type seqdense with",
          &dense));
      same = (PetscBool)(same && dense == (PetscBool)(i == 2 || (i == 0 && cuda)));
    }
    for (int i = 1; i < 3; i++) {
      same = (PetscBool)(same && its[i] == its[0] && its[i] > 0);
      most = PetscMax(most, LargestDifference(&residuals[0], &residuals[i]));
    }
    other.contrast = 1e4; /* without KSPSetOperators() */
    PetscCall(TwoPhaseAssemble(&other, s.da, s.A));
  }
  PetscCall(Print("form %s, %s%s: ", PCDeflSubFormTypes[form], name, closed));
  PetscCall(Claim(same && most < 1e-6,
                  "the dense inverse of E, only where it is asked for, and its factors have the same residuals"));
  if (!same || most >= 1e-6) PetscCall(Print("  or iterations differ; residuals by %g\n", (double)most));
  if (cuda && form == PC_DEFLSUB_BNN) PetscCall(StaysOnDevice(s.ksp, s.b, &stays)); /* by the inverse, last */
  if (!stays) PetscCall(Print("  vectors leave the device\n"));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

static PetscErrorCode Inverse(void)
{
  PetscFunctionBeginUser;
  for (int problem = 0; problem < 4; problem++) {
    TwoPhase t;

    TwoPhaseInit(&t, 2, 40, 100);
    t.closed = (PetscBool)(problem % 2);
    if (problem / 2 && !PetscDefined(USE_COMPLEX)) t.type = MATSTENCIL;
    for (int form = PC_DEFLSUB_BNN; form <= PC_DEFLSUB_PT; form++)
      PetscCall(CompareSolves(&t, (PCDeflSubFormType)form, problem / 2 ? "stencil if real" : "aij"));
  }
  PetscFunctionReturn(0);
}

/* A solver that is used again, and a new one, must have the same residuals */
static PetscErrorCode CompareWithNew(KSP ksp, Mat A, Vec b, PCDeflSubType type, const char claim[])
{
  static Residuals used, fresh;
  KSP              other;
  PC               pc;
  PetscInt         its;

  PetscFunctionBeginUser;
  used.length = fresh.length = 0;
  PetscCall(KSPMonitorSet(ksp, KeepResiduals, &used, NULL));
  PetscCall(Iterations(ksp, b, &its));
  PetscCall(KSPMonitorCancel(ksp));
  PetscCall(TwoPhaseCreateKSP(A, KSPCG, 1e-8, &other, &pc));
  PetscCall(PCDeflSubSetType(pc, type));
  PetscCall(PCDeflSubSetBoxes(pc, 5, 5, 0));
  PetscCall(KSPMonitorSet(other, KeepResiduals, &fresh, NULL));
  PetscCall(Iterations(other, b, &its));
  PetscCall(KSPDestroy(&other));
  PetscCall(ClaimEqual(&used, &fresh, PETSC_TRUE, claim));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReuseOf(PCDeflSubType type)
{
  const PetscReal  contrasts[] = {100, 1e4, 1e-2, 1};
  TwoPhase         t;
  System           s = {0};
  Mat              E[2];
  KSP              coarse;
  PetscInt         its, number;
  PetscObjectState state[2];
  char             claim[128];

  PetscFunctionBeginUser;
  TwoPhaseInit(&t, 2, 40, contrasts[0]);
  PetscCall(TwoPhaseCreateSystem(&t, KSPCG, 1e-8, &s));
  PetscCall(PCDeflSubSetType(s.pc, type));
  PetscCall(PCDeflSubSetBoxes(s.pc, 5, 5, 0));
  PetscCall(PCDeflSubGetCoarseKSP(s.pc, &coarse));
  PetscCall(Iterations(s.ksp, s.b, &its));
  for (int i = 1; i < 4; i++) {
    PetscCall(KSPGetOperators(coarse, &E[0], NULL));
    t.contrast = contrasts[i];
    PetscCall(TwoPhaseAssemble(&t, s.da, s.A));
    PetscCall(PetscSNPrintf(claim, sizeof(claim), "%s: other values, contrast %g", PCDeflSubTypes[type],
                            (double)contrasts[i]));
    PetscCall(CompareWithNew(s.ksp, s.A, s.b, type, claim));
    PetscCall(KSPGetOperators(coarse, &E[1], NULL));
    PetscCall(Claim((E[0] == E[1]) == (type == PC_DEFLSUB_BOX || i == 1),
                    "  the pattern of E is kept where subdomains stay, and only there"));
  }
  PetscCall(KSPReset(s.ksp));
  PetscCall(KSPSetOperators(s.ksp, s.A, s.A));
  PetscCall(CompareWithNew(s.ksp, s.A, s.b, type, "  after KSPReset()"));
  PetscCall(PCDeflSubSetBoxes(s.pc, 3, 3, 0));
  PetscCall(Iterations(s.ksp, s.b, &its));
  PetscCall(PCDeflSubGetNumber(s.pc, &number, NULL));
  PetscCall(Claim(number < 25, "  other boxes count in the next solve"));
  PetscCall(PCDeflSubSetBoxes(s.pc, 5, 5, 0));
  PetscCall(CompareWithNew(s.ksp, s.A, s.b, type, "  after other boxes"));
  PetscCall(KSPSetReusePreconditioner(s.ksp, PETSC_TRUE));
  t.contrast = 3;
  PetscCall(TwoPhaseAssemble(&t, s.da, s.A));
  PetscCall(KSPGetOperators(coarse, &E[0], NULL));
  PetscCall(PetscObjectStateGet((PetscObject)E[0], &state[0]));
  PetscCall(Iterations(s.ksp, s.b, &its));
  PetscCall(KSPGetOperators(coarse, &E[1], NULL));
  PetscCall(PetscObjectStateGet((PetscObject)E[1], &state[1]));
  PetscCall(Claim(its > 0 && E[0] == E[1] && state[0] == state[1], "  a preconditioner that is reused is not set up"));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* Four unknowns, a subdomain each, in pairs: at first 0 and 1, 2 and 3, then 0 and 2, 1 and 3, in a matrix that has
   places for all */
static PetscErrorCode OtherPairs(void)
{
  PetscBool right = PETSC_TRUE;
  PetscInt  start, end;
  System    s = {0};
  PetscReal relative;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &s.A));
  PetscCall(MatSetSizes(s.A, PETSC_DECIDE, PETSC_DECIDE, 4, 4));
  /* another type drops what was preallocated, and before PETSc 3.19 entries need that */
  PetscCall(MatSetType(s.A, TypeOption()));
  PetscCall(MatSeqAIJSetPreallocation(s.A, 4, NULL));
  PetscCall(MatMPIAIJSetPreallocation(s.A, 4, NULL, 4, NULL));
  PetscCall(MatGetOwnershipRange(s.A, &start, &end));
  PetscCall(MatCreateVecs(s.A, &s.x, &s.b));
  for (PetscInt i = start; i < end; i++) PetscCall(VecSetValue(s.b, i, (PetscReal)i, INSERT_VALUES));
  PetscCall(AssembleVec(s.b));
  PetscCall(TwoPhaseCreateKSP(s.A, KSPCG, 1e-8, &s.ksp, &s.pc));
  PetscCall(SetLabels(s.pc, s.b));
  for (PetscInt step = 1; step <= 2; step++) {
    for (PetscInt i = start; i < end; i++) {
      for (PetscInt j = 0; j < 4; j++)
        PetscCall(MatSetValue(s.A, i, j, i == j ? 3.0 + i : (i ^ j) == step ? -2.0 : 0.0, INSERT_VALUES));
    }
    PetscCall(AssembleMat(s.A));
    PetscCall(PCSetUp(s.pc));
    PetscCall(PCDeflSubCorrect(s.pc, s.b, s.x)); /* Z is the identity, and Q the inverse of A */
    PetscCall(RelativeResidual(s.A, s.b, s.x, &relative));
    right = (PetscBool)(right && relative < 1e-12);
  }
  PetscCall(Claim(right, "user: other pairs of the same subdomains"));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* Around the kappa-cycle, and as a smoother in PCMG */
static PetscErrorCode Nested(void)
{
  TwoPhase t;
  System   s = {0};
  PC       inner;
  PetscInt its[3];

  PetscFunctionBeginUser;
  TwoPhaseInit(&t, 2, 65, 1e3);
  t.stored = PETSC_TRUE;
  PetscCall(TwoPhaseCreateSystem(&t, KSPCG, 1e-8, &s));
  PetscCall(Iterations(s.ksp, s.b, &its[0]));
  PetscCall(PCDeflSubGetPC(s.pc, &inner));
  PetscCall(PCSetType(inner, PCKCYCLE));
  PetscCall(PCReset(s.pc));
  PetscCall(KSPSetOperators(s.ksp, s.A, s.A));
  PetscCall(Iterations(s.ksp, s.b, &its[1]));
  PetscCall(Claim(its[0] > 0 && its[1] > 0 && its[1] < its[0] / 2, "the inner preconditioner may be PCKCYCLE"));
  PetscCall(KSPSetType(s.ksp, KSPCG));
  PetscCall(PCSetType(s.pc, PCKCYCLE));
  PetscCall(PCKCycleSetStructured(s.pc, PC_KCYCLE_STRUCTURED_OFF));
  PetscCall(KSPSetFromOptions(s.ksp));
  PetscCall(Iterations(s.ksp, s.b, &its[2]));
  PetscCall(Claim(its[2] > 0 && its[2] < 30, "PCDEFLSUB may be a smoother of PCKCYCLE"));
  if (its[2] <= 0 || its[2] >= 30) PetscCall(Print("  it needs %" PetscInt_FMT " iterations\n", its[2]));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* Norm of b - A x for x of a solve with everything by default */
static PetscErrorCode Solves(const TwoPhase *t, PCDeflSubFormType form, PetscBool inconsistent, PetscBool detach,
                             const char claim[])
{
  System       s = {0};
  PetscInt     its;
  PetscReal    relative;
  PetscBool    told = PETSC_TRUE;
  MatNullSpace nullspace;

  PetscFunctionBeginUser;
  PetscCall(TwoPhaseCreateSystem(t, KSPCG, 1e-8, &s));
  PetscCall(VecDuplicate(s.b, &s.x));
  if (detach) PetscCall(MatSetNullSpace(s.A, NULL));
  if (inconsistent) PetscCall(VecShift(s.b, 0.1));
  PetscCall(PCDeflSubSetSize(s.pc, 40));
  PetscCall(PCDeflSubSetForm(s.pc, form));
  if (t->onesided) PetscCall(KSPSetType(s.ksp, KSPGMRES));
  if (t->onesided) PetscCall(KSPSetPCSide(s.ksp, PC_RIGHT));
  PetscCall(KSPSolve(s.ksp, s.b, s.x));
  if (t->onesided) PetscCall(ViewHas(s.pc, "the operator is not symmetric, as KSPCG needs it", &told));
  PetscCall(KSPGetIterationNumber(s.ksp, &its));
  PetscCall(MatGetNullSpace(s.A, &nullspace));
  if (nullspace) PetscCall(MatNullSpaceRemove(nullspace, s.b));
  PetscCall(RelativeResidual(s.A, s.b, s.x, &relative));
  PetscCall(Claim(relative < 1e-7 && its < 200 && told, claim));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* A coefficient that is given */
static PetscErrorCode Coefficient(void)
{
  TwoPhase t;
  System   sys = {0};
  Vec      coefficient;

  PetscFunctionBeginUser;
  TwoPhaseInit(&t, 2, 36, 1);
  PetscCall(TwoPhaseCreateSystem(&t, KSPCG, 1e-8, &sys));
  PetscCall(PCDeflSubSetBoxes(sys.pc, 4, 4, 0));
  PetscCall(VecDuplicate(sys.b, &coefficient));
  t.contrast = 5;
  PetscCall(TwoPhaseFillCoefficient(&t, sys.da, coefficient));
  PetscCall(PCDeflSubSetCoefficient(sys.pc, coefficient));
  PetscCall(PCSetUp(sys.pc));
  PetscCall(LookAtLabels(&t, sys.da, sys.pc, "a given coefficient"));
  PetscCall(FollowsDiscs(&t, sys.da, sys.pc, 4));
  PetscCall(PCDeflSubSetJump(sys.pc, 5.5));
  PetscCall(PCSetUp(sys.pc));
  PetscCall(LookAtLabels(&t, sys.da, sys.pc, "a coefficient that does not jump so much"));
  PetscCall(PCDeflSubSetCoefficient(sys.pc, NULL));
  PetscCall(PCSetUp(sys.pc));
  PetscCall(LookAtLabels(&t, sys.da, sys.pc, "none"));
  PetscCall(VecDestroy(&coefficient));
  PetscCall(SystemDestroy(&sys));
  PetscFunctionReturn(0);
}

/* A box for each cell: those of isolated cells have no column in Z, and are not left out of it.
   Without any coupling all is left to the inner preconditioner */
static PetscErrorCode BoxForEachCell(PetscBool stencil, PetscBool diagonal, PCDeflSubCoarseType coarse,
                                     const char claim[])
{
  TwoPhase  t;
  System    s = {0};
  PetscInt  its, left;
  PetscReal relative;

  PetscFunctionBeginUser;
  TwoPhaseInit(&t, 2, 9, 10);
  t.stored = PETSC_TRUE;
  if (stencil && !PetscDefined(USE_COMPLEX)) t.type = MATSTENCIL;
  PetscCall(TwoPhaseCreateSystem(&t, KSPCG, 1e-8, &s));
  PetscCall(VecDuplicate(s.b, &s.x));
  if (diagonal) {
    PetscCall(MatZeroEntries(s.A));
    PetscCall(VecSet(s.x, 3));
    PetscCall(MatDiagonalSet(s.A, s.x, INSERT_VALUES));
  }
  PetscCall(PCDeflSubSetBoxes(s.pc, 9, 9, 0));
  PetscCall(PCDeflSubSetCoarse(s.pc, coarse));
  PetscCall(VecSet(s.x, 0));
  PetscCall(KSPSolve(s.ksp, s.b, s.x));
  PetscCall(RelativeResidual(s.A, s.b, s.x, &relative));
  PetscCall(KSPGetIterationNumber(s.ksp, &its));
  PetscCall(PCDeflSubGetNumber(s.pc, NULL, &left));
  PetscCall(Claim(relative < 1e-12 && its <= 2 && left == 0, claim));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* Sums of rows that are all but zero are zero if the constants are said to be in the null space */
static PetscErrorCode AllButSingular(void)
{
  PetscInt left[2];
  TwoPhase t;
  DM       da;
  Mat      A;
  Vec      b;

  PetscFunctionBeginUser;
  TwoPhaseInit(&t, 2, 12, 10);
  t.closed = PETSC_TRUE;
  PetscCall(TwoPhaseCreate(&t, &da, &A, &b));
  PetscCall(MatShift(A, 1e-10));
  for (int attached = 1; attached >= 0; attached--) {
    KSP ksp;
    PC  pc;

    if (!attached) PetscCall(MatSetNullSpace(A, NULL));
    PetscCall(TwoPhaseCreateKSP(A, KSPCG, 1e-8, &ksp, &pc));
    PetscCall(KSPSetUp(ksp));
    PetscCall(PCDeflSubGetNumber(pc, NULL, &left[attached]));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(Claim(left[1] == 1 && left[0] == 0, "sums of rows of 1e-10 are zero only with a null space"));
  PetscCall(DestroyAll(&b, &A, &da));
  PetscFunctionReturn(0);
}

/* Another PCDEFLSUB registers no events */
static PetscErrorCode Events(void)
{
  PetscLogEvent before, after;
  PC            pc;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventRegister("before", PC_CLASSID, &before));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCDEFLSUB));
  PetscCall(PCDestroy(&pc));
  PetscCall(PetscLogEventRegister("after", PC_CLASSID, &after));
  PetscCall(Claim(after == before + 1, "events are registered once"));
  PetscFunctionReturn(0);
}

/* Isolated points, operators with a kernel, scales of units, one subdomain, more processes than
   boxes */
static PetscErrorCode Special(void)
{
  TwoPhase t;

  PetscFunctionBeginUser;
  TwoPhaseInit(&t, 2, 33, 1e3);
  t.stored = PETSC_TRUE;
  PetscCall(Solves(&t, PC_DEFLSUB_BNN, PETSC_FALSE, PETSC_FALSE, "stored Dirichlet points"));
  t.onesided = PETSC_TRUE;
  PetscCall(Solves(&t, PC_DEFLSUB_BNN, PETSC_FALSE, PETSC_FALSE,
                   "stored Dirichlet points that others are coupled to, GMRES"));
  TwoPhaseInit(&t, 2, 33, 1e3);
  t.closed = PETSC_TRUE;
  PetscCall(Solves(&t, PC_DEFLSUB_BNN, PETSC_FALSE, PETSC_FALSE, "a singular operator"));
  PetscCall(Solves(&t, PC_DEFLSUB_BNN, PETSC_TRUE, PETSC_FALSE, "a singular operator and an inconsistent right side"));
  PetscCall(Solves(&t, PC_DEFLSUB_ADEF2, PETSC_TRUE, PETSC_FALSE, "the same, adef2"));
  PetscCall(Solves(&t, PC_DEFLSUB_PT, PETSC_TRUE, PETSC_FALSE, "the same, pt"));
  PetscCall(Solves(&t, PC_DEFLSUB_BNN, PETSC_FALSE, PETSC_TRUE, "a singular operator without a null space"));
  TwoPhaseInit(&t, 3, 12, 1e-3);
  t.periodic = PETSC_TRUE;
  if (!PetscDefined(USE_COMPLEX)) t.type = MATSTENCIL;
  PetscCall(Solves(&t, PC_DEFLSUB_BNN, PETSC_FALSE, PETSC_TRUE, "a periodic stencil without a null space"));
  TwoPhaseInit(&t, 1, 60, 1e3);
  PetscCall(Solves(&t, PC_DEFLSUB_BNN, PETSC_FALSE, PETSC_FALSE, "one dimension"));
  PetscCall(BoxForEachCell(PETSC_TRUE, PETSC_FALSE, PC_DEFLSUB_COARSE_FACTOR,
                           "subdomains of stored Dirichlet points only, a stencil"));
  PetscCall(AllButSingular());
  PetscCall(Coefficient());
  PetscCall(Events());
  PetscFunctionReturn(0);
}

static PetscErrorCode Labels(void)
{
  PetscFunctionBeginUser;
  PetscCall(AllLabels());
  PetscCall(SmallDifferences());
  PetscCall(Line());
  PetscFunctionReturn(0);
}

static PetscErrorCode Reuse(void)
{
  PetscFunctionBeginUser;
  PetscCall(ReuseOf(PC_DEFLSUB_BOX));
  PetscCall(ReuseOf(PC_DEFLSUB_INTERFACE));
  PetscCall(OtherPairs());
  PetscFunctionReturn(0);
}

static PetscErrorCode Isolated(void)
{
  PetscFunctionBeginUser;
  PetscCall(
      BoxForEachCell(PETSC_FALSE, PETSC_FALSE, PC_DEFLSUB_COARSE_FACTOR, "subdomains of stored Dirichlet points only"));
  PetscCall(BoxForEachCell(PETSC_FALSE, PETSC_FALSE, PC_DEFLSUB_COARSE_INVERSE, "the same, the dense inverse"));
  PetscCall(BoxForEachCell(PETSC_FALSE, PETSC_TRUE, PC_DEFLSUB_COARSE_AUTO, "a diagonal operator"));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const TestPart parts[] = {{"labels", Labels},     {"identities", Identities}, {"table", Table},
                            {"contrast", Contrast}, {"errors", Errors},         {"reuse", Reuse},
                            {"nested", Nested},     {"special", Special},       {"independent", Independent},
                            {"inverse", Inverse},   {"isolated", Isolated},     {NULL, NULL}};

  return RunTests(argc, argv, help, parts);
}

/*TEST

  testset:
    nsize: {{1 2 4}}

    test:
      suffix: labels
      args: -test labels

    test:
      suffix: identities
      requires: !complex
      args: -test identities

    test:
      suffix: reuse
      args: -test reuse -fp_trap

    test:
      suffix: inverse
      args: -test inverse

    test:
      suffix: isolated
      args: -test isolated -fp_trap

    test:
      suffix: special
      args: -test special

  testset:
    nsize: {{1 3}}

    test:
      suffix: errors
      args: -test errors

    test:
      suffix: nested
      requires: !complex
      args: -test nested -mg_levels_ksp_type chebyshev -mg_levels_pc_type deflsub -mg_levels_deflsub_pc_type jacobi

    test:
      suffix: contrast
      args: -test contrast -fp_trap

  test:
    suffix: independent
    nsize: {{1 2}}
    args: -test independent -deflsub_sub_pc_type icc

  test:
    suffix: table
    args: -test table -blocks -deflsub_sub_pc_type icc

  test:
    suffix: table_parallel
    nsize: 3
    args: -test table

TEST*/
