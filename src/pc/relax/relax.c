/*
  PCRELAX: smoothers for stencil matrices.
*/
#include "searchimpl.h"
#include <petsckcycle/private/deviceimpl.h>
#include <petsckcycle/private/memoryimpl.h>
#include <petsckcycle/private/registerimpl.h>

static PetscErrorCode PCReset_Relax(PC pc)
{
  PC_Relax *relax = (PC_Relax *)pc->data;

  PetscFunctionBegin;
  PetscCall(KCycleSmootherDestroy(&relax->smoother));
  for (int i = 0; i < 2; i++) PetscCall(VecDestroy(&relax->work[i]));
  PetscCall(MatDestroy(&relax->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator as a stencil matrix; one of type aij on a DMDA is converted */
static PetscErrorCode FindStencil(PC pc)
{
  PC_Relax *relax = (PC_Relax *)pc->data;
  PetscBool is, fits = PETSC_FALSE;
  DM        dm;

  PetscFunctionBegin;
  PetscCall(MatStencilIs(pc->pmat, &is));
  if (is) PetscCall(PetscObjectReference((PetscObject)pc->pmat));
  PetscCall(MatDestroy(&relax->A));
  if (is) {
    relax->A = pc->pmat;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetDM(pc->pmat, &dm));
  if (!dm) PetscCall(PCGetDM(pc, &dm));
  PetscCall(MatStencilFromAIJ(pc->pmat, dm, 0, PETSC_FALSE, MAT_INITIAL_MATRIX, &relax->A, &fits));
  PetscCheck(fits, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PCRELAX needs a matrix of type stencil, or one of type aij whose entries fit the stencil of a DMDA with "
             "one unknown a point (-dm_mat_type stencil); for others use "
             "PCSOR or PCJACOBI");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The type of smoother; auto has one for points, lines or planes */
static PetscErrorCode ChooseType(PC pc, PetscBool automatic, const char **type)
{
  PC_Relax         *relax   = (PC_Relax *)pc->data;
  const char *const zebra[] = {PC_RELAX_ZEBRA_X, PC_RELAX_ZEBRA_Y, PC_RELAX_ZEBRA_Z};
  PetscBool         alternating, planes;

  PetscFunctionBegin;
  *type = relax->type;
  PetscCall(PetscStrcmp(*type, PC_RELAX_ALTERNATING, &alternating));
  PetscCall(PetscStrcmp(*type, PC_RELAX_PLANES, &planes));
  PetscCheck(alternating || planes || !relax->directions[0], PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "-pc_relax_directions %s is for -pc_relax_type alternating or planes, and the type is %s",
             relax->directions, *type);
  if (!automatic) PetscFunctionReturn(PETSC_SUCCESS);
  if (relax->planes[0]) *type = PC_RELAX_PLANES;
  else if (relax->lines[0]) *type = relax->lines[1] ? PC_RELAX_ALTERNATING : zebra[relax->lines[0] - 'x'];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The smoother of this type for the operator */
static PetscErrorCode CreateSmoother(PC pc)
{
  PC_Relax         *relax = (PC_Relax *)pc->data;
  const char       *type, *prefix;
  const KCycleScan *facts;
  KCycleSmoother   *s;
  PetscBool         automatic;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(relax->type, PC_RELAX_AUTO, &automatic));
  PetscCall(ChooseType(pc, automatic, &type));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(MatStencilScan(relax->A, &facts));
  PetscCall(
      KCycleSmootherCreate(PetscObjectComm((PetscObject)pc), KCycleStencilOf(relax->A), facts, type, &relax->smoother));
  s              = relax->smoother;
  s->omega       = relax->omega;
  s->degree      = relax->degree;
  s->origin      = relax->origin;
  s->directions  = !automatic ? relax->directions : relax->planes[0] ? relax->planes : relax->lines;
  s->lines       = automatic ? relax->lines : "";
  s->prefix      = prefix;
  s->makesolvers = KCyclePlaneSolversCreate;
  PetscCall(KCycleSmootherSetUp(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the search for clusters starts. An island between inactive cells is a cluster, though none of its couplings
   jump, and coarser grids may not see these cells */
static KCycleSeeds ChooseSeeds(const PC_Relax *relax, const KCycleScan *scan)
{
  KCycleSeeds seeds = {scan->cuts, KCYCLE_JUMP, -1, 0, KC_CLUSTER_SINGULAR};
  int         n     = 0;

  if (relax->ratio) {
    seeds.jump = PetscMax(KCYCLE_JUMP, KCYCLE_CLUSTER_JUMP / relax->ratio);
    seeds.singular *= relax->ratio; /* rows have the rounding of finer levels, whose diagonals have larger sums */
  }
  if (relax->clustering == PC_RELAX_CLUSTERS_ON || scan->cuts) {
    seeds.all = PETSC_TRUE;
    return seeds;
  }
  for (int d = 0; d < 3; d++) {
    if (relax->factor[d] != 2) continue;
    n++;
    seeds.along  = d;
    seeds.parity = relax->origin[d] & 1;
  }
  if (n != 1) seeds.along = -1;
  return seeds;
}

/* A search is worth its time if couplings jump, or inactive cells are inside the grid, but not with convection: then
   all couplings jump, and a group of points along the wind whose equations add up to nearly nothing is not a cluster */
static PetscErrorCode CorrectClusters(PC pc)
{
  PC_Relax         *relax = (PC_Relax *)pc->data;
  const PetscBool   on    = (PetscBool)(relax->clustering == PC_RELAX_CLUSTERS_ON);
  const KCycleScan *scan;
  KCycleSeeds       seeds;
  PetscBool         has = on;
  PCFailedReason    reason;

  PetscFunctionBegin;
  PetscCheck(!on || !relax->smoother->whole, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "Clusters are corrected after sweeps, and -pc_relax_type %s has none: use coloured sweeps or jacobi, or "
             "-pc_relax_clusters off",
             relax->smoother->name);
  PetscCall(PCGetFailedReason(pc, &reason));
  if (relax->clustering == PC_RELAX_CLUSTERS_OFF || reason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStencilScan(relax->A, &scan));
  seeds = ChooseSeeds(relax, scan);
  if (!on) has = (PetscBool)(relax->smoother->local && (scan->opposite > seeds.jump || scan->cuts));
  if (!on && has) {
    PetscCall(MatStencilScanAsymmetry(relax->A, &scan));
    has = (PetscBool) !(scan->skew > KCYCLE_DRIFT);
  }
  if (has) PetscCall(KCycleSmootherCorrectClusters(relax->A, &relax->smoother, &seeds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What depends on nothing but the values of the operator: a preconditioner that is kept sweeps with the new ones */
PetscErrorCode PCRelaxRenew(PC pc)
{
  PC_Relax        *relax = (PC_Relax *)pc->data;
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(MatStencilCopyToHost(relax->A));
  PetscCall(PetscObjectStateGet((PetscObject)relax->A, &state));
  PetscCall(KCycleSmootherTile(relax->smoother, state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_Relax(PC pc)
{
  PC_Relax         *relax = (PC_Relax *)pc->data;
  const KCycleScan *scan;

  PetscFunctionBegin;
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  PetscCall(KCycleSmootherDestroy(&relax->smoother));
  PetscCall(FindStencil(pc));
  relax->symmetric = -1;
  PetscCall(MatStencilScan(relax->A, &scan));
  if (PetscMin(scan->zero, scan->empty) < PETSC_INT_MAX) { /* a failure that KSP reports */
    PetscCall(PetscInfo(pc, "The diagonal of the operator has a zero\n"));
    PetscCall(PCSetFailedReason(pc, PC_FACTOR_NUMERIC_ZEROPIVOT));
  }
  PetscCall(CreateSmoother(pc));
  PetscCall(CorrectClusters(pc));
  PetscCall(PCRelaxRenew(pc));
  PetscCall(PetscObjectStateIncrease((PetscObject)pc)); /* who has taken the smoother sees that it is another */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Sweeps(PC pc, Vec b, Vec x, PetscInt its, PetscBool zeroguess)
{
  PC_Relax          *relax  = (PC_Relax *)pc->data;
  const KCycleSweeps sweeps = {its, zeroguess, relax->reverse, KCycleRelaxOrder(relax), 0, NULL};
  const PetscScalar *ba;
  PetscScalar       *xa;
  PetscBool          device;

  PetscFunctionBegin;
  PetscCall(KCycleRelaxIsOnDevice(relax, b, x, &device));
  if (device) {
    PetscCall(KCycleRelaxSweepsOnDevice(relax, &sweeps, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCRelaxRenew(pc));
  PetscCall(VecGetArrayRead(b, &ba));
  PetscCall(VecGetArray(x, &xa));
  PetscCall(KCycleSmootherSweeps(relax->smoother, &sweeps, ba, xa));
  PetscCall(VecRestoreArray(x, &xa));
  PetscCall(VecRestoreArrayRead(b, &ba));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSPRICHARDSON has sweeps by PCApply() as well, where it is damped or shows norms. All others are taken to need a
   symmetric preconditioner, as many do */
static PetscErrorCode PCPreSolve_Relax(PC pc, KSP ksp, Vec b, Vec x)
{
  PetscFunctionBegin;
  (void)b;
  (void)x;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPRICHARDSON, &((PC_Relax *)pc->data)->smoothing));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_Relax(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Sweeps(pc, b, x, 1, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RequireSymmetric(PC pc)
{
  PC_Relax        *relax = (PC_Relax *)pc->data;
  PetscObjectState state;
  PetscBool        symmetric;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)relax->A, &state));
  if (relax->symmetric == state) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStencilIsNearlySymmetric(relax->A, &symmetric));
  PetscCheck(symmetric, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PCRELAX has a transpose for symmetric matrices only, and this one is not symmetric: use a Krylov method "
             "that needs no transpose, or -pc_type jacobi");
  relax->symmetric = state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a symmetric matrix: the reverse order of the colours. A diagonal matrix is its own transpose for any operator */
static PetscErrorCode PCApplyTranspose_Relax(PC pc, Vec b, Vec x)
{
  PC_Relax       *relax   = (PC_Relax *)pc->data;
  const PetscBool reverse = relax->reverse;

  PetscFunctionBegin;
  if (!relax->smoother->diagonal) PetscCall(RequireSymmetric(pc));
  relax->reverse = (PetscBool)!reverse;
  PetscCall(Sweeps(pc, b, x, 1, PETSC_TRUE));
  relax->reverse = reverse;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyRichardson_Relax(PC pc, Vec b, Vec x, Vec w, PetscReal rtol, PetscReal abstol,
                                              PetscReal dtol, PetscInt its, PetscBool zeroguess, PetscInt *outits,
                                              PCRichardsonConvergedReason *reason)
{
  PetscFunctionBegin;
  (void)w;
  (void)rtol;
  (void)abstol;
  (void)dtol;
  ((PC_Relax *)pc->data)->smoothing = PETSC_TRUE;
  PetscCall(Sweeps(pc, b, x, its, zeroguess));
  *outits = its;
  *reason = PCRICHARDSON_CONVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of no effect on other types, as the next three */
PetscErrorCode PCRelaxSetReverse(PC pc, PetscBool reverse)
{
  PC_Relax *relax;

  PetscFunctionBegin;
  PetscCall(KCyclePCQuery(pc, PCRELAX, &relax));
  if (relax) relax->reverse = reverse;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The colour of this point comes first */
PetscErrorCode PCRelaxSetOrigin(PC pc, const PetscInt origin[])
{
  PC_Relax *relax;

  PetscFunctionBegin;
  PetscCall(KCyclePCQuery(pc, PCRELAX, &relax));
  if (relax) PetscCall(PetscArraycpy(relax->origin, origin, 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coarser grid that corrections come from: smoothers leave to it what it sees */
PetscErrorCode PCRelaxSetCoarsened(PC pc, const PetscInt factor[], const PetscInt origin[], PetscInt ratio)
{
  PC_Relax *relax;

  PetscFunctionBegin;
  PetscCall(KCyclePCQuery(pc, PCRELAX, &relax));
  PetscCall(PCRelaxSetOrigin(pc, origin));
  if (!relax) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscArraycpy(relax->factor, factor, 3));
  relax->ratio = ratio;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Directions of the lines that type auto relaxes, and across which it relaxes planes, before the lines; both "":
   points */
PetscErrorCode PCRelaxSetLines(PC pc, const char lines[], const char planes[])
{
  PC_Relax *relax;
  PetscBool same[2];

  PetscFunctionBegin;
  PetscCall(KCyclePCQuery(pc, PCRELAX, &relax));
  if (!relax) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrcmp(relax->lines, lines, &same[0]));
  PetscCall(PetscStrcmp(relax->planes, planes, &same[1]));
  PetscCall(PetscStrncpy(relax->lines, lines, sizeof(relax->lines)));
  PetscCall(PetscStrncpy(relax->planes, planes, sizeof(relax->planes)));
  if (!same[0] || !same[1]) pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is it PCRELAX with the type auto, and does no option choose another one? */
PetscErrorCode PCRelaxIsAuto(PC pc, PetscBool *automatic)
{
  PC_Relax *relax;
  char      type[64];
  PetscBool given;

  PetscFunctionBegin;
  PetscCall(KCyclePCQuery(pc, PCRELAX, &relax));
  *automatic = PETSC_FALSE;
  if (!relax) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsGetString(((PetscObject)pc)->options, ((PetscObject)pc)->prefix, "-pc_relax_type", type,
                                  sizeof(type), &given));
  PetscCall(PetscStrcmp(given ? type : relax->type, PC_RELAX_AUTO, automatic));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The smoother for this operator, and the order of its sweeps, which will be those of a smoother; NULL: there is
   none */
PetscErrorCode PCRelaxGetSmoother(PC pc, Mat A, KCycleSmoother **smoother, PCRelaxOrderType *order)
{
  PC_Relax *relax;

  PetscFunctionBegin;
  PetscCall(KCyclePCQuery(pc, PCRELAX, &relax));
  *smoother = NULL;
  if (!relax || !relax->smoother || relax->A != A) PetscFunctionReturn(PETSC_SUCCESS);
  relax->smoothing = PETSC_TRUE;
  *smoother        = relax->smoother;
  *order           = KCycleRelaxOrder(relax);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_Relax(PC pc, PetscViewer viewer)
{
  PC_Relax *relax = (PC_Relax *)pc->data;
  PetscBool ascii, device = PETSC_FALSE;
  char      keeps[300] = "the library has no kernels for devices";

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (pc->pmat) PetscCall(KCycleMatOnDevice(pc->pmat, &device));
  if (device && KCycleKernelsOf(KCYCLE_MEMORY_DEVICE) && relax->smoother)
    PetscCall(KCycleSmootherObstacle(relax->smoother, sizeof(keeps), keeps));
  if (device)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  sweeps on the %s\n", keeps[0] ? "host: vectors are copied" : "device"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  type %s, order %s\n",
                                   relax->smoother ? relax->smoother->name : relax->type,
                                   PCRelaxOrderTypes[relax->smoother ? KCycleRelaxOrder(relax) : relax->order]));
#if defined(_OPENMP)
  PetscCall(PetscViewerASCIIPrintf(viewer, "  threads %d\n", KCycleThreads()));
#endif
  if (relax->smoother) PetscCall(KCycleSmootherView(relax->smoother, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_Relax(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_Relax(pc));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  PCRELAX - "relax" - Smoothers for `MATSTENCIL`: damped Jacobi, Chebyshev, Gauss-Seidel in two, four or eight colours,
  zebra relaxation of lines and planes.

  Options Database Keys:
+ -pc_relax_type (auto|jacobi|chebyshev|redblack|fourcolor|eightcolor|zebra_x|zebra_y|zebra_z|alternating|planes) -
      smoother
. -pc_relax_omega (real)                                               - damping of Jacobi, over-relaxation of coloured
      sweeps
. -pc_relax_order (forward|backward|symmetric|auto)                    - order of the colours
. -pc_relax_degree (integer)                                           - degree of the Chebyshev polynomial
. -pc_relax_directions (string)                                         - directions of lines, or across planes
- -pc_relax_clusters (auto|on|off)                                      - corrections of clusters of strongly coupled
      points

  Level: beginner

  Notes:
  As a smoother of `PCMG` or `PCKCYCLE`: `-mg_levels_ksp_type richardson -mg_levels_pc_type relax`; the sweeps of a
  `KSPRICHARDSON` are one call. As a preconditioner of `KSPCG` and other methods a sweep is a forward and a backward
  one, unless `-pc_relax_order` says otherwise; see `PCRelaxSetOrder()`.

  Colours follow the indices of the grid, so results do not depend on the number of processes.

  The four and eight colours are those of Feng and others, section 4, numbered with x fastest.

  Zebra relaxation solves all equations of a line together, and lines of one parity before the others; lines of three
  dimensions have two colours for 7-point stencils and four for 27 points. `PC_RELAX_ALTERNATING` has lines along each
  direction of the grid in turn, which suits grids that are stretched in several directions. Lines that processes cut,
  or that wrap around a periodic grid, are solved exactly, too: the processes of a line exchange its ends once for each
  colour. Factors take two numbers a point for each direction, one more where the operator is not symmetric, two more
  where lines are cut, and next to nothing where coefficients are constant.

  `PC_RELAX_PLANES` relaxes the points of a plane together, in 3D: one cycle of `PCKCYCLE`, which coarsens the two
  directions of the planes and chooses points or lines by itself, for all planes of one parity. It takes as long as five
  or six sweeps of alternating lines, and memory for the operators of all planes in each direction; it pays where two
  directions are strong compared with the third, and which two changes within the grid. Options of its cycles begin with
  `-planes_`, as `-mg_levels_planes_pc_kcycle_kappa`. Their grid has the planes one after the other in z; x is the
  direction of the planes with more points, in doubt the one that comes first.

.seealso: `PCKCYCLE`, `MATSTENCIL`, `PCRelaxSetType()`, `PCRelaxSetOmega()`, `PCRelaxSetOrder()`, `PCRelaxSetDegree()`,
`PCRelaxSetClusters()`, `PCSOR`
M*/
PetscErrorCode PCCreate_Relax(PC pc)
{
  PC_Relax *relax;

  PetscFunctionBegin;
  PetscCall(PetscNew(&relax));
  pc->data = (void *)relax;
  PetscCall(PetscStrncpy(relax->type, PC_RELAX_AUTO, sizeof(relax->type)));
  relax->order             = PC_RELAX_ORDER_AUTO;
  relax->degree            = 2;
  pc->ops->setup           = PCSetUp_Relax;
  pc->ops->setuponblocks   = KCyclePCSetUpOnBlocks;
  pc->ops->presolve        = PCPreSolve_Relax;
  pc->ops->apply           = PCApply_Relax;
  pc->ops->applytranspose  = PCApplyTranspose_Relax;
  pc->ops->applyrichardson = PCApplyRichardson_Relax;
  pc->ops->setfromoptions  = PCSetFromOptions_Relax;
  pc->ops->reset           = PCReset_Relax;
  pc->ops->destroy         = PCDestroy_Relax;
  pc->ops->view            = PCView_Relax;
  PetscFunctionReturn(PETSC_SUCCESS);
}
