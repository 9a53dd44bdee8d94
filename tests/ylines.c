static char help[] = "A smoother of a program's own: zebra relaxation of lines along y, registered with PCRELAX and "
                     "used on the levels of PCKCYCLE.\n\n";

#include "poisson.h"
#include <petsckcycle/private/smootherimpl.h>

/* Lines of one parity in x are relaxed together: exactly, by Thomas' algorithm */
typedef struct {
  PetscScalar *r, *upper; /* of each point */
} YLines;

/* What lines of one parity need: r = b - the couplings with lines next to them */
static void Gather(const KCycleStencil *st, const PetscScalar *b, const PetscScalar *x, PetscInt parity, YLines *y)
{
  const KCycleBox *box = st->box;
  KCycleLine       l;

  for (PetscInt j = 0; j < box->n[1]; j++) {
    KCycleLineGather(st, x, st->halo, j, 0, &l);
    for (PetscInt i = parity; i < box->n[0]; i += 2) {
      const PetscScalar west = i > 0 ? l.x[1][i - 1] : l.left[1], east = i < box->n[0] - 1 ? l.x[1][i + 1] : l.right[1];

      y->r[j * box->n[0] + i] =
          b[j * box->n[0] + i] - KCycleLineCoefficient(&l, 1, i) * west - KCycleLineCoefficient(&l, 3, i) * east;
    }
  }
}

static void Solve(const KCycleStencil *st, PetscInt parity, YLines *y, PetscScalar *x)
{
  const PetscInt n = st->box->n[0], m = st->box->n[1];
  KCycleLine     l;

  for (PetscInt j = 0; j < m; j++) {
    KCycleLineCoefficients(st, j, 0, &l);
    for (PetscInt i = parity; i < n; i += 2) {
      const PetscInt    p     = j * n + i;
      const PetscScalar south = j ? KCycleLineCoefficient(&l, 0, i) : 0,
                        pivot = KCycleLineCoefficient(&l, 2, i) - (j ? south * y->upper[p - n] : 0);

      y->upper[p] = KCycleLineCoefficient(&l, 4, i) / pivot;
      x[p]        = (y->r[p] - (j ? south * x[p - n] : 0)) / pivot;
    }
  }
  for (PetscInt j = m - 2; j >= 0; j--) {
    for (PetscInt i = parity; i < n; i += 2) x[j * n + i] -= y->upper[j * n + i] * x[(j + 1) * n + i];
  }
}

static PetscErrorCode Sweeps(KCycleSmoother *s, const KCycleSweeps *sweeps, const PetscScalar *b, PetscScalar *x)
{
  const KCycleStencil *st    = s->st;
  const PetscInt       turns = sweeps->order == PC_RELAX_ORDER_SYMMETRIC ? 4 : 2,
                 even        = (st->box->start[0] + s->origin[0]) & 1;

  PetscFunctionBegin;
  if (sweeps->zeroguess) PetscCall(PetscArrayzero(x, st->box->npoints));
  for (PetscInt i = 0; i < sweeps->its * turns; i++) {
    const PetscInt turn = i % turns, colour = (turn + (turn > 1) + KCycleSweepsBackward(sweeps)) & 1;

    PetscCall(KCycleBoxExchange(st->box, PETSC_FALSE, x, st->halo));
    Gather(st, b, x, even ^ colour, (YLines *)s->data);
    Solve(st, even ^ colour, (YLines *)s->data, x);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUp(KCycleSmoother *s)
{
  const KCycleStencil *st = s->st;
  YLines              *y  = (YLines *)s->data;

  PetscFunctionBegin;
  PetscCheck(st->box->dim == 2 && !st->shape.box && st->box->nproc[1] == 1 && !st->box->periodic[1], s->comm,
             PETSC_ERR_SUP, "Lines along y are for 5-point stencils whose lines are on one process");
  PetscCall(PetscMalloc2(st->box->npoints, &y->r, st->box->npoints, &y->upper));
  s->weight = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(KCycleSmoother *s)
{
  YLines *y = (YLines *)s->data;

  PetscFunctionBegin;
  PetscCall(PetscFree2(y->r, y->upper));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(KCycleSmoother *s)
{
  YLines *y;

  PetscFunctionBegin;
  PetscCall(PetscNew(&y));
  s->data        = y;
  s->ops.setup   = SetUp;
  s->ops.sweeps  = Sweeps;
  s->ops.destroy = Destroy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Jacobi sweeps in steps: step i relaxes each grid line in x whose number leaves i, divided by the number of steps */
static int NumberOfSteps;

typedef struct {
  PetscScalar *weights, *line;
} Parts;

static void RelaxPart(const KCyclePass *pass, const KCycleStep *step, PetscInt t)
{
  const Parts   *parts = (const Parts *)pass->smoother->data;
  const PetscInt n     = pass->st->box->n[0];
  KCycleLine     l;

  if ((pass->st->box->start[1] + t) % pass->smoother->nsteps != step->number) return;
  KCycleLineGather(pass->st, pass->x, pass->st->halo, t, 0, &l);
  KCycleLineCompute(&pass->st->shape, KC_RELAX, &l, pass->b + n * t, parts->weights, parts->line);
  for (PetscInt i = 0; i < n; i++) pass->x[n * t + i] = parts->line[i];
}

static void PartsPlane(const KCyclePass *pass, const KCycleStep *step, PetscInt t, PetscInt low, PetscInt high)
{
  for (PetscInt l = low; l < high; l++) RelaxPart(pass, step, t);
}

static PetscErrorCode PartsApart(const KCyclePass *pass, const KCycleStep *step)
{
  PetscFunctionBegin;
  PetscCall(KCycleBoxExchange(pass->st->box, PETSC_FALSE, pass->x, pass->st->halo));
  for (PetscInt t = 0; t < pass->st->box->n[1]; t++) RelaxPart(pass, step, t);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PartsSetUp(KCycleSmoother *s)
{
  Parts *parts = (Parts *)s->data;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(s->st->box->n[0], &parts->weights, s->st->box->n[0], &parts->line));
  for (PetscInt i = 0; i < s->st->box->n[0]; i++) parts->weights[i] = 0.8;
  s->weight = 0.8;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PartsDestroy(KCycleSmoother *s)
{
  Parts *parts = (Parts *)s->data;

  PetscFunctionBegin;
  PetscCall(PetscFree2(parts->weights, parts->line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateParts(KCycleSmoother *s)
{
  Parts *parts;

  PetscFunctionBegin;
  PetscCall(PetscNew(&parts));
  s->data        = parts;
  s->nsteps      = NumberOfSteps;
  s->ops.setup   = PartsSetUp;
  s->ops.plane   = PartsPlane;
  s->ops.apart   = PartsApart;
  s->ops.destroy = PartsDestroy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -eps u_xx - u_yy, and eps changes along x: two thirds of the grid are strong along y, the rest is isotropic */
static void MakeRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  const PetscInt size[2] = {65, 49};

  (void)ctx;
  for (PetscInt o = 0; o < 4; o++) {
    PetscInt to[3];

    StarNeighbour(at, o, to);
    RowCoupling(row, to, o > 1 || PetscMax(at[0], to[0]) >= 44 ? 1 : 0.01, IsInBox(to, size, 2));
  }
}

static PetscErrorCode CreateProblem(DM *da, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 65, 49, PETSC_DECIDE,
                         1, 1, 1, NULL, NULL, da));
  PetscCall(DMSetMatType(*da, "stencil"));
  PetscCall(DMSetUp(*da));
  PetscCall(DMCreateMatrix(*da, A));
  PetscCall(AssembleRows(*da, MakeRow, NULL, *A));
  PetscFunctionReturn(0);
}

static PetscErrorCode Iterations(Mat A, const char type[], PetscInt *its)
{
  char      options[128];
  KSP       ksp;
  Vec       x, b;
  PetscReal norm;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(options, sizeof(options), "-mg_levels_pc_relax_type %s", type));
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(MakeKSP(A, KSPCG, "kcycle", &ksp, &pc));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(SolveSystem(ksp, b, x, its, NULL));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(Print("%s: %" PetscInt_FMT " iterations, norm %.9e\n", type, *its, (double)norm));
  PetscCall(DestroyAll(&ksp, &x, &b));
  PetscFunctionReturn(0);
}

/* The sweeps of PCRELAX with a Krylov method are a symmetric preconditioner */
static PetscErrorCode Symmetric(Mat A)
{
  Vec         v[4];
  PC          pc;
  PetscScalar a, b;

  PetscFunctionBeginUser;
  for (int i = 0; i < 4; i++) PetscCall(MatCreateVecs(A, &v[i], NULL));
  for (int i = 0; i < 2; i++) PetscCall(VecSetRandom(v[i], NULL));
  PetscCall(MakePC(A, PCRELAX, &pc));
  PetscCall(PCRelaxSetType(pc, "ylines"));
  for (int i = 0; i < 2; i++) PetscCall(PCApply(pc, v[i], v[2 + i]));
  PetscCall(VecDot(v[2], v[1], &a));
  PetscCall(VecDot(v[0], v[3], &b));
  PetscCall(Claim(PetscAbsScalar(a - b) < 1e-12 * PetscAbsScalar(a), "symmetric"));
  PetscCall(PCDestroy(&pc));
  for (int i = 0; i < 4; i++) PetscCall(VecDestroy(&v[i]));
  PetscFunctionReturn(0);
}

/* As many steps as there may be, in symmetric sweeps, and more */
static PetscErrorCode Steps(Mat A)
{
  const int steps[] = {1, 15, 16, 32, 100};
  PetscInt  its;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-mg_levels_pc_relax_order", "symmetric"));
  PetscCall(PetscOptionsSetValue(NULL, "-mg_levels_ksp_max_it", "3"));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(steps); i++) {
    char text[ERROR_LENGTH] = "";
    KSP  ksp;
    PC   pc;

    NumberOfSteps = steps[i];
    if (steps[i] <= KC_SMOOTHER_STEPS) PetscCall(Iterations(A, "parts", &its));
    if (steps[i] <= KC_SMOOTHER_STEPS) continue;
    PetscCall(MakeKSP(A, NULL, PCRELAX, &ksp, &pc));
    PetscCall(PCRelaxSetType(pc, "parts"));
    PetscCall(PetscPushErrorHandler(KeepError, text));
    PetscCall(Print("%s\n", KSPSetUp(ksp) ? text : "NO error"));
    PetscCall(PetscPopErrorHandler());
    PetscCall(KSPDestroy(&ksp));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **args)
{
  DM       da;
  Mat      A;
  PetscInt its[2];

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &args, help));
  PetscCall(PCRelaxRegister("ylines", Create));
  PetscCall(CreateProblem(&da, &A));
  PetscCall(Iterations(A, "redblack", &its[0]));
  PetscCall(Iterations(A, "ylines", &its[1]));
  PetscCall(Claim(its[1] < its[0], "lines take fewer iterations than points"));
  PetscCall(Symmetric(A));
  PetscCall(PCRelaxRegister("parts", CreateParts));
  PetscCall(Steps(A));
  PetscCall(DestroyAll(&A, &da));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    nsize: {{1 2}}
    args: -pc_kcycle_interpolation linear
    output_file: output/ylines.out
    requires: !complex

  test:
    suffix: policy
    nsize: {{1 2}}
    args: -pc_kcycle_interpolation linear -ksp_view ::ascii_info_detail
    filter: grep -o -m 1 "STRONG = 0.6: directions.*semicoarsen"

TEST*/
