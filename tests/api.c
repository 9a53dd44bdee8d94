static char help[] =
    "Options and setters reach what the getters say; choices of the user where others would be found.\n\n";

#include "poisson.h"
#include <petsc/private/pcimpl.h>

/* The choices of all types, with options if they are given */
typedef struct {
  PC kcycle, relax, incpoisson, deflsub;
} Types;

static PetscErrorCode Create(PCType type, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetType(*pc, type));
  PetscCall(PCSetFromOptions(*pc));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateTypes(Types *t)
{
  PetscFunctionBeginUser;
  PetscCall(Create(PCKCYCLE, &t->kcycle));
  PetscCall(Create(PCRELAX, &t->relax));
  PetscCall(Create(PCINCPOISSON, &t->incpoisson));
  PetscCall(Create(PCDEFLSUB, &t->deflsub));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyTypes(Types *t)
{
  return DestroyAll(&t->kcycle, &t->relax, &t->incpoisson, &t->deflsub);
}

/* By calls, what test api_given gives by options */
static PetscErrorCode SetTypes(Types *t)
{
  PetscFunctionBeginUser;
  PetscCall(PCKCycleSetKappa(t->kcycle, 3));
  PetscCall(PCKCycleSetHierarchy(t->kcycle, PC_KCYCLE_HIERARCHY_USER));
  PetscCall(PCKCycleSetStructured(t->kcycle, PC_KCYCLE_STRUCTURED_OFF));
  PetscCall(PCKCycleSetGrid(t->kcycle, PC_KCYCLE_GRID_CELL));
  PetscCall(PCKCycleSetInterpolation(t->kcycle, PC_KCYCLE_INTERPOLATION_SIMPLEX));
  PetscCall(PCKCycleSetSemicoarsen(t->kcycle, "xz"));
  PetscCall(PCKCycleSetAnisotropy(t->kcycle, PC_KCYCLE_ANISOTROPY_OFF));
  PetscCall(PCKCycleSetPlace(t->kcycle, PC_KCYCLE_PLACE_HOST));
  PetscCall(PCKCycleSetOvercorrect(t->kcycle, 1.0625));
  PetscCall(PCRelaxSetType(t->relax, PC_RELAX_CHEBYSHEV));
  PetscCall(PCRelaxSetOmega(t->relax, 0.75));
  PetscCall(PCRelaxSetOrder(t->relax, PC_RELAX_ORDER_BACKWARD));
  PetscCall(PCRelaxSetDegree(t->relax, 4));
  PetscCall(PCRelaxSetClusters(t->relax, PC_RELAX_CLUSTERS_OFF));
  PetscCall(PCRelaxSetDirections(t->relax, "zx"));
  PetscCall(PCIncPoissonSetPattern(t->incpoisson, PC_INCPOISSON_PATTERN_FULL));
  PetscCall(PCIncPoissonSetScaling(t->incpoisson, PC_INCPOISSON_SCALING_NONE));
  PetscCall(PCDeflSubSetType(t->deflsub, PC_DEFLSUB_BOX));
  PetscCall(PCDeflSubSetForm(t->deflsub, PC_DEFLSUB_ADEF2));
  PetscCall(PCDeflSubSetCoarse(t->deflsub, PC_DEFLSUB_COARSE_INVERSE));
  PetscCall(PCDeflSubSetBoxes(t->deflsub, 3, 4, 5));
  PetscCall(PCDeflSubSetSize(t->deflsub, 100));
  PetscCall(PCDeflSubSetJump(t->deflsub, 2.5));
  PetscFunctionReturn(0);
}

static PetscErrorCode PrintKCycle(PC pc)
{
  PetscInt                  kappa;
  PCKCycleHierarchyType     hierarchy;
  PCKCycleStructuredType    structured;
  PCKCycleGridType          grid;
  PCKCycleInterpolationType interpolation;
  PCKCycleAnisotropyType    anisotropy;
  PCKCyclePlaceType         place;
  PetscReal                 factor;
  const char               *directions;

  PetscFunctionBeginUser;
  PetscCall(PCKCycleGetPlace(pc, &place));
  PetscCall(PCKCycleGetOvercorrect(pc, &factor));
  PetscCall(PCKCycleGetKappa(pc, &kappa));
  PetscCall(PCKCycleGetHierarchy(pc, &hierarchy));
  PetscCall(PCKCycleGetStructured(pc, &structured));
  PetscCall(PCKCycleGetGrid(pc, &grid));
  PetscCall(PCKCycleGetInterpolation(pc, &interpolation));
  PetscCall(PCKCycleGetSemicoarsen(pc, &directions));
  PetscCall(PCKCycleGetAnisotropy(pc, &anisotropy));
  PetscCall(Print("kcycle: kappa %" PetscInt_FMT
                  ", hierarchy %s, structured %s, grid %s, interpolation %s, semicoarsen %s, anisotropy %s, place %s, "
                  "overcorrect %g\n",
                  kappa, PCKCycleHierarchyTypes[hierarchy], PCKCycleStructuredTypes[structured],
                  PCKCycleGridTypes[grid], PCKCycleInterpolationTypes[interpolation], directions,
                  PCKCycleAnisotropyTypes[anisotropy], PCKCyclePlaceTypes[place], (double)factor));
  PetscFunctionReturn(0);
}

static PetscErrorCode PrintRelax(PC pc)
{
  PCRelaxType         type;
  PetscReal           omega;
  PCRelaxOrderType    order;
  PetscInt            degree;
  PCRelaxClustersType clusters;
  const char         *directions;

  PetscFunctionBeginUser;
  PetscCall(PCRelaxGetType(pc, &type));
  PetscCall(PCRelaxGetOmega(pc, &omega));
  PetscCall(PCRelaxGetOrder(pc, &order));
  PetscCall(PCRelaxGetDegree(pc, &degree));
  PetscCall(PCRelaxGetClusters(pc, &clusters));
  PetscCall(PCRelaxGetDirections(pc, &directions));
  PetscCall(Print("relax: type %s, omega %g, order %s, degree %" PetscInt_FMT ", clusters %s, directions \"%s\"\n",
                  type, (double)omega, PCRelaxOrderTypes[order], degree, PCRelaxClustersTypes[clusters], directions));
  PetscFunctionReturn(0);
}

static PetscErrorCode PrintIncPoisson(PC pc)
{
  PCIncPoissonPatternType pattern;
  PCIncPoissonScalingType scaling;

  PetscFunctionBeginUser;
  PetscCall(PCIncPoissonGetPattern(pc, &pattern));
  PetscCall(PCIncPoissonGetScaling(pc, &scaling));
  PetscCall(Print("incpoisson: pattern %s, scaling %s\n", PCIncPoissonPatternTypes[pattern],
                  PCIncPoissonScalingTypes[scaling]));
  PetscFunctionReturn(0);
}

static PetscErrorCode PrintDeflSub(PC pc)
{
  PCDeflSubType       type;
  PCDeflSubFormType   form;
  PCDeflSubCoarseType coarse;
  PetscInt            x, y, z, size;
  PetscReal           jump;

  PetscFunctionBeginUser;
  PetscCall(PCDeflSubGetType(pc, &type));
  PetscCall(PCDeflSubGetForm(pc, &form));
  PetscCall(PCDeflSubGetCoarse(pc, &coarse));
  PetscCall(PCDeflSubGetBoxes(pc, &x, &y, &z));
  PetscCall(PCDeflSubGetSize(pc, &size));
  PetscCall(PCDeflSubGetJump(pc, &jump));
  PetscCall(Print("deflsub: type %s, form %s, coarse %s, boxes %" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT
                  ", size %" PetscInt_FMT ", jump %g\n",
                  PCDeflSubTypes[type], PCDeflSubFormTypes[form], PCDeflSubCoarseTypes[coarse], x, y, z, size,
                  (double)jump));
  PetscFunctionReturn(0);
}

static PetscErrorCode Choices(PetscBool set)
{
  Types t;

  PetscFunctionBeginUser;
  PetscCall(CreateTypes(&t));
  if (set) PetscCall(SetTypes(&t));
  PetscCall(PrintKCycle(t.kcycle));
  PetscCall(PrintRelax(t.relax));
  PetscCall(PrintIncPoisson(t.incpoisson));
  PetscCall(PrintDeflSub(t.deflsub));
  PetscCall(DestroyTypes(&t));
  PetscFunctionReturn(0);
}

/* A preconditioner of the model problem with the grid of the operator */
static PetscErrorCode CreateOnGrid(Poisson *p, PCType type, Mat *A, PC *pc)
{
  DM da;

  PetscFunctionBeginUser;
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, p, &da));
  PetscCall(DMCreateMatrix(da, A));
  PetscCall(PoissonAssemble(p, da, *A));
  PetscCall(DMDestroy(&da));
  PetscCall(Create(type, pc));
  PetscCall(PCSetOperators(*pc, *A, *A));
  PetscFunctionReturn(0);
}

static PetscErrorCode PrintColumn(Mat P, PetscInt column)
{
  Vec                coarse, fine;
  PetscInt           start, end;
  const PetscScalar *value;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(P, &coarse, &fine));
  PetscCall(VecGetOwnershipRange(coarse, &start, &end));
  if (start <= column && column < end) PetscCall(VecSetValue(coarse, column, 1.0, INSERT_VALUES));
  PetscCall(AssembleVec(coarse));
  PetscCall(MatMult(P, coarse, fine));
  PetscCall(Print("coarse point %" PetscInt_FMT " is interpolated to", column));
  PetscCall(VecGetOwnershipRange(fine, &start, &end));
  PetscCall(VecGetArrayRead(fine, &value));
  for (PetscInt i = start; i < end; i++) {
    if (value[i - start] != (PetscScalar)0.0)
      PetscCall(PetscSynchronizedPrintf(PETSC_COMM_WORLD, " %" PetscInt_FMT " (%g)", i,
                                        (double)PetscRealPart(value[i - start])));
  }
  PetscCall(PetscSynchronizedFlush(PETSC_COMM_WORLD, PETSC_STDOUT));
  PetscCall(Print("\n"));
  PetscCall(VecRestoreArrayRead(fine, &value));
  PetscCall(DestroyAll(&coarse, &fine));
  PetscFunctionReturn(0);
}

/* Interpolation in 1D of the unit vectors of the first, an inner and the last coarse point: where the points of the
   next coarser grid lie */
static PetscErrorCode Interpolated(Poisson *p)
{
  Mat      A, P;
  PC       pc;
  PetscInt nlevels, n;

  PetscFunctionBeginUser;
  p->dim = 1;
  PetscCall(CreateOnGrid(p, PCKCYCLE, &A, &pc));
  PetscCall(PCKCycleSetStructured(pc, PC_KCYCLE_STRUCTURED_ON));
  PetscCall(PCSetUp(pc));
  PetscCall(PCMGGetLevels(pc, &nlevels));
  PetscCall(PCMGGetInterpolation(pc, nlevels - 1, &P));
  PetscCall(MatGetSize(P, NULL, &n));
  PetscCall(Print("%" PetscInt_FMT " points become %" PetscInt_FMT "\n", p->n, n));
  PetscCall(PrintColumn(P, 0));
  PetscCall(PrintColumn(P, 5));
  PetscCall(PrintColumn(P, n - 1));
  PetscCall(DestroyAll(&pc, &A));
  PetscFunctionReturn(0);
}

/* 1 in the columns before the interface of the grid, after it 5 */
static PetscErrorCode CreateCoefficient(Mat A, PetscInt interface, Vec *coefficient)
{
  DM            da;
  PetscInt      x, y, m, n;
  PetscScalar **c;

  PetscFunctionBeginUser;
  PetscCall(MatGetDM(A, &da));
  PetscCall(DMCreateGlobalVector(da, coefficient));
  PetscCall(DMDAGetCorners(da, &x, &y, NULL, &m, &n, NULL));
  PetscCall(DMDAVecGetArrayWrite(da, *coefficient, &c));
  for (PetscInt j = y; j < y + n; j++) {
    for (PetscInt i = x; i < x + m; i++) c[j][i] = i < interface ? 1 : 5;
  }
  PetscCall(DMDAVecRestoreArrayWrite(da, *coefficient, &c));
  PetscFunctionReturn(0);
}

/* Subdomains, with a coefficient that jumps by 5 inside of boxes */
static PetscErrorCode Subdomains(Poisson *p)
{
  Mat      A;
  PC       pc;
  Vec      coefficient, got;
  PetscInt number;

  PetscFunctionBeginUser;
  PetscCall(CreateOnGrid(p, PCDEFLSUB, &A, &pc));
  PetscCall(CreateCoefficient(A, p->n / 3, &coefficient));
  PetscCall(PCDeflSubGetCoefficient(pc, &got));
  PetscCall(Claim(!got, "without a coefficient the getter says so"));
  PetscCall(PCDeflSubSetCoefficient(pc, coefficient));
  PetscCall(PCDeflSubGetCoefficient(pc, &got));
  PetscCall(Claim(got == coefficient, "and then gives the one that was set"));
  PetscCall(PCSetUp(pc));
  PetscCall(PCDeflSubGetNumber(pc, &number, NULL));
  PetscCall(Print("%" PetscInt_FMT " subdomains\n", number));
  PetscCall(DestroyAll(&coefficient, &pc, &A));
  PetscFunctionReturn(0);
}

#define PCKCycleAgain(What, value)              \
  PetscCall(PCKCycleGet##What(kcycle, &value)); \
  PetscCall(PCKCycleSet##What(kcycle, value))
#define PCRelaxAgain(What, value)             \
  PetscCall(PCRelaxGet##What(relax, &value)); \
  PetscCall(PCRelaxSet##What(relax, value))
#define PCIncPoissonAgain(What, value)                  \
  PetscCall(PCIncPoissonGet##What(incpoisson, &value)); \
  PetscCall(PCIncPoissonSet##What(incpoisson, value))
#define PCDeflSubAgain(What, value)               \
  PetscCall(PCDeflSubGet##What(deflsub, &value)); \
  PetscCall(PCDeflSubSet##What(deflsub, value))

/* The values that a preconditioner has, once more */
static PetscErrorCode GiveAgain(PC kcycle, PC relax, PC incpoisson, PC deflsub)
{
  PetscInt                  n, boxes[3];
  PetscReal                 real;
  const char               *text;
  PetscBool                 yes;
  PCKCycleStructuredType    structured;
  PCKCycleGridType          grid;
  PCKCycleInterpolationType interpolation;
  PCKCycleAnisotropyType    anisotropy;
  PCKCyclePrecisionType     precision;
  PCRelaxType               type;
  PCRelaxOrderType          order;
  PCRelaxClustersType       clusters;
  PCIncPoissonPatternType   pattern;
  PCIncPoissonScalingType   scaling;
  PCDeflSubType             subdomains;
  PCDeflSubCoarseType       coarse;

  PetscFunctionBeginUser;
  PetscCall(PCKCycleSetHierarchy(kcycle, PC_KCYCLE_HIERARCHY_AUTO)); /* what is found is another value */
  PCKCycleAgain(Structured, structured);
  PCKCycleAgain(Grid, grid);
  PCKCycleAgain(Interpolation, interpolation);
  PCKCycleAgain(Semicoarsen, text);
  PCKCycleAgain(Anisotropy, anisotropy);
  PCKCycleAgain(Precision, precision);
  PCKCycleAgain(ProcEqLim, n);
  PCKCycleAgain(Calibrate, yes);
  PCRelaxAgain(Type, type);
  PCRelaxAgain(Omega, real);
  PCRelaxAgain(Order, order);
  PCRelaxAgain(Degree, n);
  PCRelaxAgain(Directions, text);
  PCRelaxAgain(Clusters, clusters);
  PCIncPoissonAgain(Pattern, pattern);
  PCIncPoissonAgain(Scaling, scaling);
  PCDeflSubAgain(Type, subdomains);
  PCDeflSubAgain(Coarse, coarse);
  PCDeflSubAgain(Size, n);
  PCDeflSubAgain(Jump, real);
  PetscCall(PCDeflSubGetBoxes(deflsub, &boxes[0], &boxes[1], &boxes[2]));
  PetscCall(PCDeflSubSetBoxes(deflsub, boxes[0], boxes[1], boxes[2]));
  PetscFunctionReturn(0);
}

/* A set-up happens if something has changed: the names of the types for which it does, or "none" */
static PetscErrorCode SetUps(PC pc[], char names[64])
{
  PetscFunctionBeginUser;
  names[0] = 0;
  for (int i = 0; i < 4; i++) {
    PCType type;

    PetscCall(PCGetType(pc[i], &type));
    if (!pc[i]->setupcalled) PetscCall(PetscStrlcat(names, type, 64));
    if (!pc[i]->setupcalled) PetscCall(PetscStrlcat(names, " ", 64));
    PetscCall(PCSetUp(pc[i]));
  }
  if (!names[0]) PetscCall(PetscStrlcat(names, "none", 64));
  PetscFunctionReturn(0);
}

/* Solvers that are set up: the same values again, and options between two solves, change nothing; other values do */
static PetscErrorCode SameValues(Poisson *p)
{
  const PCType types[4] = {PCKCYCLE, PCRELAX, PCINCPOISSON, PCDEFLSUB};
  Mat          A[4];
  PC           pc[4];
  char         names[64];

  PetscFunctionBeginUser;
  for (int i = 0; i < 4; i++) PetscCall(CreateOnGrid(p, types[i], &A[i], &pc[i]));
  PetscCall(SetUps(pc, names));
  PetscCall(GiveAgain(pc[0], pc[1], pc[2], pc[3]));
  PetscCall(SetUps(pc, names));
  PetscCall(Print("set up anew by the values that there are: %s\n", names));
  for (int i = 0; i < 4; i++) PetscCall(PCSetFromOptions(pc[i]));
  PetscCall(SetUps(pc, names));
  PetscCall(Print("set up anew by options that there were: %s\n", names));
  PetscCall(PCRelaxSetOmega(pc[1], 0.5));
  PetscCall(PCIncPoissonSetScaling(pc[2], PC_INCPOISSON_SCALING_NONE));
  PetscCall(PCDeflSubSetSize(pc[3], 50));
  PetscCall(SetUps(pc, names));
  PetscCall(Print("set up anew by other values: %s\n", names));
  for (int i = 0; i < 4; i++) PetscCall(DestroyAll(&pc[i], &A[i]));
  PetscFunctionReturn(0);
}

/* Values that there are not, and directions in another order; then late ones */
static PetscErrorCode Refused(Poisson *p)
{
  const char *const bad[] = {"xx", "zyz", "", "xyzx", "w", "autoxyz"};
  const char       *now;
  char              text[ERROR_LENGTH];
  Mat               A;
  PC                pc;

  PetscFunctionBeginUser;
  PetscCall(CreateOnGrid(p, PCKCYCLE, &A, &pc));
  PetscCall(PCKCycleSetSemicoarsen(pc, "yx"));
  PetscCall(PCKCycleGetSemicoarsen(pc, &now));
  PetscCall(Print("yx is %s\n", now));
  PetscCall(PetscPushErrorHandler(KeepError, text));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(bad); i++) {
    const PetscErrorCode ierr = PCKCycleSetSemicoarsen(pc, bad[i]);

    PetscCall(Print("%s\n", ierr ? text : "NO error"));
  }
  PetscCall(Print("%s\n", PCKCycleSetPrecision(pc, (PCKCyclePrecisionType)7) ? text : "NO error"));
  PetscCall(Print("%s\n", PCKCycleSetAnisotropy(pc, (PCKCycleAnisotropyType)-1) ? text : "NO error"));
  PetscCall(PetscPopErrorHandler());
  PetscCall(PCSetUp(pc));
  PetscCall(PCKCycleSetSemicoarsen(pc, "xy"));
  PetscCall(PetscPushErrorHandler(KeepError, text));
  PetscCall(Print("%s\n", PCKCycleSetSemicoarsen(pc, "x") ? text : "NO error"));
  PetscCall(PetscPopErrorHandler());
  PetscCall(DestroyAll(&pc, &A));
  PetscFunctionReturn(0);
}

/* What is forgotten can be registered again, as PetscFinalize() and PetscInitialize() do */
static PetscErrorCode Again(void)
{
  Types t;

  PetscFunctionBeginUser;
  PetscCall(KCycleFinalizePackage());
  PetscCall(KCycleInitializePackage());
  PetscCall(CreateTypes(&t));
  PetscCall(DestroyTypes(&t));
  PetscCall(Claim(PETSC_TRUE, "all types are there after KCycleFinalizePackage() and KCycleInitializePackage()"));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Poisson p;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PoissonSetFromOptions(&p));
  if (Given("-same")) {
    PetscCall(SameValues(&p));
    PetscCall(Refused(&p));
  } else if (Given("-interpolated")) PetscCall(Interpolated(&p));
  else if (Given("-subdomains")) PetscCall(Subdomains(&p));
  else {
    PetscCall(Choices(Given("-set")));
    PetscCall(Again());
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: defaults
    nsize: {{1 2}}

  test:
    suffix: given
    nsize: {{1 2}}
    args: -pc_kcycle_kappa 3 -pc_kcycle_hierarchy user -pc_kcycle_structured off -pc_kcycle_grid cell -pc_kcycle_interpolation simplex -pc_kcycle_semicoarsen xz -pc_kcycle_anisotropy off -pc_kcycle_place host -pc_kcycle_host_below 5000 -pc_kcycle_block_below 2000 -pc_kcycle_matrix_below 300 -pc_kcycle_graph off -pc_kcycle_tile_above 9000 -pc_kcycle_overlap_above 7000 -pc_kcycle_overcorrect 1.0625 -pc_kcycle_ghost_points 3000
    args: -pc_relax_type chebyshev -pc_relax_omega 0.75 -pc_relax_order backward -pc_relax_degree 4 -pc_relax_clusters off -pc_relax_directions zx
    args: -pc_incpoisson_pattern full -pc_incpoisson_scaling none
    args: -pc_deflsub_type box -pc_deflsub_form adef2 -pc_deflsub_coarse inverse -pc_deflsub_boxes 3,4,5 -pc_deflsub_size 100 -pc_deflsub_jump 2.5

  test:
    suffix: set
    nsize: {{1 2}}
    args: -set
    output_file: output/api_given.out

  testset:
    requires: !complex
    nsize: {{1 3}}

    test:
      suffix: grid_vertex
      args: -interpolated -n 33 -pc_kcycle_grid {{auto vertex}}

    test:
      suffix: grid_not_vertex
      args: -interpolated -n 33 -pc_kcycle_grid interior

    test:
      suffix: grid_cell
      args: -interpolated -n 32 -neumann -pc_kcycle_grid {{auto cell}}

    test:
      suffix: grid_not_cell
      args: -interpolated -n 32 -neumann -pc_kcycle_grid vertex

  testset:
    nsize: {{1 3}}
    args: -subdomains -n 32 -periodic -deflsub_pc_type jacobi

    test:
      suffix: size
      args: -pc_deflsub_type box -pc_deflsub_size 64

    test:
      suffix: jump_small
      args: -pc_deflsub_type interface -pc_deflsub_boxes 2,2 -pc_deflsub_jump 4.9

    test:
      suffix: jump_large
      args: -pc_deflsub_type interface -pc_deflsub_boxes 2,2 -pc_deflsub_jump 5.1

  test:
    suffix: same
    requires: !complex
    nsize: {{1 3}}
    args: -same -n 32 -periodic -deflsub_pc_type jacobi
    args: -pc_kcycle_semicoarsen xy -pc_kcycle_calibrate off -pc_relax_type redblack -pc_relax_omega 0.75 -pc_relax_order backward -pc_relax_clusters off -pc_deflsub_type box -pc_deflsub_boxes 2,2 -pc_deflsub_jump 3

  test:
    suffix: view_labels
    args: -subdomains -n 4 -deflsub_pc_type jacobi -pc_deflsub_type box -pc_deflsub_boxes 2,2 -pc_deflsub_view_labels

TEST*/
