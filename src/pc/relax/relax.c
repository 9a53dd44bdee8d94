/*
  PCRELAX: smoothers for stencil matrices.
*/
#include <petsckcycle/private/relaximpl.h>
#include <petsckcycle/private/deviceimpl.h>
#include <petsckcycle/private/memoryimpl.h>
#include <petsckcycle/private/registerimpl.h>

const char *const PCRelaxOrderTypes[]    = {"forward",          "backward",        "symmetric", "auto",
                                            "PCRelaxOrderType", "PC_RELAX_ORDER_", NULL};
const char *const PCRelaxClustersTypes[] = {"auto", "on", "off", "PCRelaxClustersType", "PC_RELAX_CLUSTERS_", NULL};

/* NULL: the PC is of another type */
static PC_Relax *RelaxOf(PC pc)
{
  PetscBool ours;

  return !PetscObjectTypeCompare((PetscObject)pc, PCRELAX, &ours) && ours ? (PC_Relax *)pc->data : NULL;
}

/* Of the PC that a program asks for something */
static PetscErrorCode GetRelax(PC pc, PC_Relax **relax)
{
  PetscFunctionBegin;
  *relax = RelaxOf(pc);
  PetscCheck(*relax, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "This PC is of type %s, not " PCRELAX,
             ((PetscObject)pc)->type_name ? ((PetscObject)pc)->type_name : "none");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCReset_Relax(PC pc)
{
  PC_Relax *relax = (PC_Relax *)pc->data;

  PetscFunctionBegin;
  PetscCall(KCycleSmootherDestroy(&relax->smoother));
  PetscCall(KCycleRelaxDeviceReset(relax));
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
  if (is) {
    PetscCall(PetscObjectReference((PetscObject)pc->pmat));
    PetscCall(MatDestroy(&relax->A));
    relax->A = pc->pmat;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatDestroy(&relax->A));
  PetscCall(MatGetDM(pc->pmat, &dm));
  if (!dm) PetscCall(PCGetDM(pc, &dm));
  PetscCall(MatStencilFromAIJ(pc->pmat, dm, 0, PETSC_FALSE, MAT_INITIAL_MATRIX, &relax->A, &fits));
  PetscCheck(fits, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PCRELAX needs a matrix of type stencil, or one of type aij whose entries fit the stencil of a DMDA with "
             "one unknown a point (-dm_mat_type stencil); for others use "
             "PCSOR or PCJACOBI");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A zero on the diagonal is a failure that KSP reports */
static PetscErrorCode ScanRows(PC pc)
{
  PC_Relax         *relax = (PC_Relax *)pc->data;
  const KCycleScan *scan;

  PetscFunctionBegin;
  PetscCall(MatStencilScan(relax->A, &scan));
  if (PetscMin(scan->zero, scan->empty) < PETSC_INT_MAX) {
    PetscCall(PetscInfo(pc, "The diagonal of the operator has a zero\n"));
    PetscCall(PCSetFailedReason(pc, PC_FACTOR_NUMERIC_ZEROPIVOT));
  }
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

/* Where the search for clusters starts. An island between walls is a cluster, though none of its couplings jump, and
   coarser grids may not see the walls */
static KCycleSeeds ChooseSeeds(const PC_Relax *relax, const KCycleScan *scan)
{
  KCycleSeeds seeds = {scan->walls, KCYCLE_JUMP, -1, 0, KC_CLUSTER_SINGULAR};
  int         n     = 0;

  if (relax->fewer) {
    seeds.jump = PetscMax(KCYCLE_JUMP, KCYCLE_CLUSTER_JUMP / relax->fewer);
    seeds.singular *= relax->fewer; /* rows have the rounding of finer levels, whose diagonals have larger sums */
  }
  if (relax->clustering == PC_RELAX_CLUSTERS_ON || scan->walls) {
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

/* Is a search worth its time? It is where couplings jump, or walls are inside the grid, but not with convection: there
   all couplings jump, and a group of points along the wind whose equations add up to nearly nothing is no cluster */
static PetscErrorCode HasClusters(PC_Relax *relax, PetscReal jump, PetscBool *has)
{
  const KCycleScan *scan;

  PetscFunctionBegin;
  PetscCall(MatStencilScan(relax->A, &scan));
  *has = (PetscBool)(relax->smoother->local && (scan->rough > jump || scan->walls));
  if (!*has) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStencilScanDrift(relax->A, &scan));
  *has = (PetscBool) !(scan->skew > KCYCLE_DRIFT);
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
             "Clusters are corrected behind sweeps, and -pc_relax_type %s has none: use coloured sweeps or jacobi, or "
             "-pc_relax_clusters off",
             relax->smoother->name);
  PetscCall(PCGetFailedReason(pc, &reason));
  if (relax->clustering == PC_RELAX_CLUSTERS_OFF || reason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStencilScan(relax->A, &scan));
  seeds = ChooseSeeds(relax, scan);
  if (!on) PetscCall(HasClusters(relax, seeds.jump, &has));
  if (has) PetscCall(KCycleSmootherCorrectClusters(relax->A, &relax->smoother, &seeds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What depends on the values of the operator alone: a preconditioner that is kept sweeps with the new ones */
PetscErrorCode PCRelaxRenew(PC pc)
{
  PC_Relax        *relax = (PC_Relax *)pc->data;
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(MatStencilBring(relax->A));
  PetscCall(PetscObjectStateGet((PetscObject)relax->A, &state));
  PetscCall(KCycleSmootherTile(relax->smoother, state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_Relax(PC pc)
{
  PC_Relax *relax = (PC_Relax *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  PetscCall(KCycleSmootherDestroy(&relax->smoother));
  PetscCall(FindStencil(pc));
  relax->symmetric = -1;
  PetscCall(ScanRows(pc));
  PetscCall(CreateSmoother(pc));
  PetscCall(CorrectClusters(pc));
  PetscCall(PCRelaxRenew(pc));
  PetscCall(PetscObjectStateIncrease((PetscObject)pc)); /* who has taken the smoother sees that it is another */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSP asks for the reason of a failure after this, and would find that of an earlier solve where values were
   repaired without KSPSetOperators() */
static PetscErrorCode PCSetUpOnBlocks_Relax(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCSetUp(pc));
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
  PC_Relax *relax = RelaxOf(pc);

  PetscFunctionBegin;
  if (relax) relax->reverse = reverse;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The colour of this point comes first */
PetscErrorCode PCRelaxSetOrigin(PC pc, const PetscInt origin[])
{
  PC_Relax *relax = RelaxOf(pc);

  PetscFunctionBegin;
  if (relax) PetscCall(PetscArraycpy(relax->origin, origin, 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coarser grid that corrections come from: smoothers leave to it what it sees */
PetscErrorCode PCRelaxSetCoarsened(PC pc, const PetscInt factor[], const PetscInt origin[], PetscInt fewer)
{
  PC_Relax *relax = RelaxOf(pc);

  PetscFunctionBegin;
  PetscCall(PCRelaxSetOrigin(pc, origin));
  if (!relax) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscArraycpy(relax->factor, factor, 3));
  relax->fewer = fewer;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Directions of the lines that type auto relaxes, and across which it relaxes planes, before the lines; both "":
   points */
PetscErrorCode PCRelaxSetLines(PC pc, const char lines[], const char planes[])
{
  PC_Relax *relax = RelaxOf(pc);
  PetscBool same[2];

  PetscFunctionBegin;
  if (!relax) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrcmp(relax->lines, lines, &same[0]));
  PetscCall(PetscStrcmp(relax->planes, planes, &same[1]));
  PetscCall(PetscStrncpy(relax->lines, lines, sizeof(relax->lines)));
  PetscCall(PetscStrncpy(relax->planes, planes, sizeof(relax->planes)));
  if (!same[0] || !same[1]) pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is it PCRELAX, and has nobody chosen its type, by the option neither? */
PetscErrorCode PCRelaxIsAuto(PC pc, PetscBool *automatic)
{
  const PC_Relax *relax = RelaxOf(pc);
  char            type[64];
  PetscBool       given;

  PetscFunctionBegin;
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
  PC_Relax *relax = RelaxOf(pc);

  PetscFunctionBegin;
  *smoother = NULL;
  if (!relax || !relax->smoother || relax->A != A) PetscFunctionReturn(PETSC_SUCCESS);
  relax->smoothing = PETSC_TRUE;
  *smoother        = relax->smoother;
  *order           = KCycleRelaxOrder(relax);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCRelaxRegister - Adds a smoother to those of `PCRELAX`.

  Not Collective

  Input Parameters:
+ name   - its name, for `PCRelaxSetType()` and `-pc_relax_type`
- create - sets the operations of a smoother, see `petsckcycle/private/smootherimpl.h`

  Level: developer

  Notes:
  Called before the option is read: by the program after `PetscInitialize()`, or by a library that `-dll_append` loads.
  A name that there is already is taken over.

  A smoother sets at least `setup` and `sweeps`. If it sets `plane`, one step of a sweep on one plane of the grid,
  instead of `sweeps`, its sweeps run plane by plane behind each other, fused with restriction and interpolation;
  `nsteps` is the number of these steps, 15 at most. It is an error to choose one with more of them.

.seealso: `PCRELAX`, `PCRelaxSetType()`
@*/
PetscErrorCode PCRelaxRegister(const char name[], PetscErrorCode (*create)(KCycleSmoother *))
{
  PetscFunctionBegin;
  PetscAssertPointer(name, 1);
  PetscCall(KCycleInitializePackage());
  PetscCall(KCycleSmootherRegister(name, create));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCRelaxSetType - Sets the smoother.

  Logically Collective

  Input Parameters:
+ pc - the preconditioner
- type - one of the values of `PCRelaxType`, or the name of a smoother that `PCRelaxRegister()` has added

  Options Database Key:
. -pc_relax_type (auto|jacobi|chebyshev|redblack|fourcolor|eightcolor|zebra_x|zebra_y|zebra_z|alternating|planes) -
      smoother

  Level: beginner

.seealso: `PCRELAX`, `PCRelaxGetType()`, `PCRelaxRegister()`
@*/
PetscErrorCode PCRelaxSetType(PC pc, PCRelaxType type)
{
  PC_Relax         *relax;
  PetscFunctionList list;
  PetscErrorCode (*create)(KCycleSmoother *);
  PetscBool same;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(type, 2);
  relax = RelaxOf(pc);
  if (!relax) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleSmootherGetList(&list));
  PetscCall(PetscFunctionListFind(list, type, &create));
  PetscCheck(create, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_UNKNOWN_TYPE,
             "There is no smoother called %s: -help shows the values of -pc_relax_type", type);
  PetscCall(PetscStrcmp(relax->type, type, &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrncpy(relax->type, type, sizeof(relax->type)));
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCRelaxGetType - Gets the smoother.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. type - one of the values of `PCRelaxType`

  Level: beginner

.seealso: `PCRELAX`, `PCRelaxSetType()`
@*/
PetscErrorCode PCRelaxGetType(PC pc, PCRelaxType *type)
{
  PC_Relax *relax;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(type, 2);
  PetscCall(GetRelax(pc, &relax));
  *type = relax->type;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCRelaxSetOmega - Sets the damping, or over-relaxation.

  Logically Collective

  Input Parameters:
+ pc - the preconditioner
- omega - factor of each correction, between 0 and 2; 0 has it chosen

  Options Database Key:
. -pc_relax_omega (real) - the damping, or over-relaxation

  Level: beginner

  Note:
  Chosen means 1 for coloured sweeps; less where an odd number of points wraps around, two neighbours have the same
  colour and their coupling is strong. For Jacobi it is 2 / (lambda + lambda / (2 d)) in d dimensions, with the bound
  lambda of the eigenvalues of D^-1 A by Gershgorin's circles: 0.8 for the 5-point, 6/7 for the 7-point Laplacian.

.seealso: `PCRELAX`, `PCRelaxGetOmega()`
@*/
PetscErrorCode PCRelaxSetOmega(PC pc, PetscReal omega)
{
  PC_Relax *relax;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, omega, 2);
  PetscCheck(omega >= 0 && omega < 2, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "omega must be at least 0 (chosen) and less than 2, not %g", (double)omega);
  relax = RelaxOf(pc);
  if (!relax) PetscFunctionReturn(PETSC_SUCCESS);
  if (relax->omega == omega) PetscFunctionReturn(PETSC_SUCCESS);
  relax->omega    = omega;
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCRelaxGetOmega - Gets the damping, or over-relaxation.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. omega - factor of each correction, between 0 and 2; 0 has it chosen

  Level: beginner

.seealso: `PCRELAX`, `PCRelaxSetOmega()`
@*/
PetscErrorCode PCRelaxGetOmega(PC pc, PetscReal *omega)
{
  PC_Relax *relax;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(omega, 2);
  PetscCall(GetRelax(pc, &relax));
  *omega = relax->omega;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCRelaxSetOrder - Sets the order of the colours.

  Logically Collective

  Input Parameters:
+ pc - the preconditioner
- order - `PC_RELAX_ORDER_FORWARD`, `PC_RELAX_ORDER_BACKWARD`, `PC_RELAX_ORDER_SYMMETRIC` or `PC_RELAX_ORDER_AUTO`

  Options Database Key:
. -pc_relax_order (forward|backward|symmetric|auto) - the order of the colours

  Level: intermediate

  Notes:
  With `PC_RELAX_ORDER_AUTO`, the default, a sweep is forward where `KSPRICHARDSON` asks for it, as smoothers do, and
  symmetric, a forward one and a backward one, in `PCApply()` for everybody else: of a symmetric matrix that is a
  symmetric preconditioner, which `KSPCG`, `KSPMINRES`, `KSPCHEBYSHEV` and others need, also inside another
  preconditioner. `PCSOR` does so too. Methods that need no symmetry, as `KSPGMRES` and `KSPBCGS`, work with
  `PC_RELAX_ORDER_FORWARD` as well.

  `PCKCYCLE` reverses the order behind its coarse levels, so that its cycle is symmetric.

.seealso: `PCRELAX`, `PCRelaxGetOrder()`
@*/
PetscErrorCode PCRelaxSetOrder(PC pc, PCRelaxOrderType order)
{
  PC_Relax *relax;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, order, 2);
  PetscCall(KCycleCheckChoice(pc, PCRelaxOrderTypes, (int)order));
  relax = RelaxOf(pc);
  if (!relax) PetscFunctionReturn(PETSC_SUCCESS);
  if (relax->order == order) PetscFunctionReturn(PETSC_SUCCESS);
  relax->order    = order;
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCRelaxGetOrder - Gets the order of the colours.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. order - `PC_RELAX_ORDER_FORWARD`, `PC_RELAX_ORDER_BACKWARD`, `PC_RELAX_ORDER_SYMMETRIC` or `PC_RELAX_ORDER_AUTO`

  Level: intermediate

.seealso: `PCRELAX`, `PCRelaxSetOrder()`
@*/
PetscErrorCode PCRelaxGetOrder(PC pc, PCRelaxOrderType *order)
{
  PC_Relax *relax;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(order, 2);
  PetscCall(GetRelax(pc, &relax));
  *order = relax->order;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCRelaxSetDegree - Sets the degree of the Chebyshev polynomial.

  Logically Collective

  Input Parameters:
+ pc - the preconditioner
- degree - at least 1

  Options Database Key:
. -pc_relax_degree (integer) - the degree of the Chebyshev polynomial

  Level: intermediate

.seealso: `PCRELAX`, `PCRelaxGetDegree()`
@*/
PetscErrorCode PCRelaxSetDegree(PC pc, PetscInt degree)
{
  PC_Relax *relax;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, degree, 2);
  PetscCheck(degree > 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "The degree must be at least 1, not %" PetscInt_FMT, degree);
  relax = RelaxOf(pc);
  if (!relax) PetscFunctionReturn(PETSC_SUCCESS);
  if (relax->degree == degree) PetscFunctionReturn(PETSC_SUCCESS);
  relax->degree   = degree;
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCRelaxGetDegree - Gets the degree of the Chebyshev polynomial.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. degree - at least 1

  Level: intermediate

.seealso: `PCRELAX`, `PCRelaxSetDegree()`
@*/
PetscErrorCode PCRelaxGetDegree(PC pc, PetscInt *degree)
{
  PC_Relax *relax;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(degree, 2);
  PetscCall(GetRelax(pc, &relax));
  *degree = relax->degree;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCRelaxSetDirections - Sets the directions of the lines of `PC_RELAX_ALTERNATING`, or those across which
  `PC_RELAX_PLANES` has planes, and their order.

  Logically Collective

  Input Parameters:
+ pc         - the preconditioner
- directions - each once, as in "xy" or "zxy"; "" stands for all of the grid, x first

  Options Database Key:
. -pc_relax_directions (string) - directions of the lines, or across the planes

  Level: intermediate

.seealso: `PCRELAX`, `PCRelaxGetDirections()`, `PCRelaxSetType()`
@*/
PetscErrorCode PCRelaxSetDirections(PC pc, const char directions[])
{
  PC_Relax   *relax;
  const char *c = directions;
  size_t      len;
  PetscBool   same;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(directions, 2);
  relax = RelaxOf(pc);
  if (!relax) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrlen(directions, &len));
  while (*c && strchr("xyz", *c) && !strchr(c + 1, *c)) c++;
  PetscCheck(len <= 3 && !*c, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_relax_directions names directions of lines, each once and in their order, as in xy or zxy; it cannot "
             "be \"%s\"",
             directions);
  PetscCall(PetscStrcmp(relax->directions, directions, &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrncpy(relax->directions, directions, sizeof(relax->directions)));
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCRelaxGetDirections - Gets the directions of `PCRelaxSetDirections()`.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. directions - as given to `PCRelaxSetDirections()`; belongs to the preconditioner

  Level: intermediate

.seealso: `PCRELAX`, `PCRelaxSetDirections()`
@*/
PetscErrorCode PCRelaxGetDirections(PC pc, const char *directions[])
{
  PC_Relax *relax;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(directions, 2);
  PetscCall(GetRelax(pc, &relax));
  *directions = relax->directions;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCRelaxSetClusters - Sets whether clusters of strongly coupled points are corrected.

  Logically Collective

  Input Parameters:
+ pc         - the preconditioner
- clustering - `PC_RELAX_CLUSTERS_AUTO`, `PC_RELAX_CLUSTERS_ON` or `PC_RELAX_CLUSTERS_OFF`

  Options Database Key:
. -pc_relax_clusters (auto|on|off) - whether clusters are corrected

  Level: intermediate

  Notes:
  A cluster is a group of at most 1000 points, 500 in three dimensions, that are coupled much more strongly among
  themselves than with all others, as they come with coefficients that jump. An error that is constant on a cluster is
  out of reach for sweeps, and for a coarse grid without a point in the cluster. Each sweep is followed by one step for
  the sum of the equations of each cluster; in reverse order it comes before the sweep.

  A cluster may be cut into parts on several processes, so corrections do not depend on their number; a part more than
  40 points away from the others is not seen, and leaves the cluster without corrections.

  With `PC_RELAX_CLUSTERS_AUTO` the search starts at points where couplings in opposite directions differ by more than a
  factor of 3, with `PC_RELAX_CLUSTERS_ON`, or where couplings inside the grid are missing, at all points. On the finest
  level of `PCKCYCLE` the factor is 30, on coarser ones 30 over the ratio of numbers of points, but 3 at least: the
  search takes less time there. With convection, where couplings of pairs of points differ by 0.3 of their sums in the
  mean, no clusters are looked for. On levels that are coarsened in one direction alone the search starts only at points
  between those that the coarser grid keeps whose strongest coupling is across that direction: other clusters are
  clusters there, too. `PC_RELAX_CLUSTERS_ON` ignores the factor and convection.

.seealso: `PCRELAX`, `PCRelaxGetClusters()`
@*/
PetscErrorCode PCRelaxSetClusters(PC pc, PCRelaxClustersType clustering)
{
  PC_Relax *relax;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, clustering, 2);
  PetscCall(KCycleCheckChoice(pc, PCRelaxClustersTypes, (int)clustering));
  relax = RelaxOf(pc);
  if (!relax) PetscFunctionReturn(PETSC_SUCCESS);
  if (relax->clustering == clustering) PetscFunctionReturn(PETSC_SUCCESS);
  relax->clustering = clustering;
  pc->setupcalled   = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCRelaxGetClusters - Gets whether clusters of strongly coupled points are corrected.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. clustering - `PC_RELAX_CLUSTERS_AUTO`, `PC_RELAX_CLUSTERS_ON` or `PC_RELAX_CLUSTERS_OFF`

  Level: intermediate

.seealso: `PCRELAX`, `PCRelaxSetClusters()`
@*/
PetscErrorCode PCRelaxGetClusters(PC pc, PCRelaxClustersType *clustering)
{
  PC_Relax *relax;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(clustering, 2);
  PetscCall(GetRelax(pc, &relax));
  *clustering = relax->clustering;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_Relax(PC pc, KCycleOptionItems PetscOptionsObject)
{
  PC_Relax           *relax  = (PC_Relax *)pc->data;
  PCRelaxOrderType    order  = relax->order;
  PetscReal           omega  = relax->omega;
  PetscInt            degree = relax->degree;
  PetscBool           flg;
  PetscFunctionList   list;
  char                type[sizeof(relax->type)], directions[8];
  PCRelaxClustersType clustering = relax->clustering;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Relaxation options");
  PetscCall(KCycleSmootherGetList(&list));
  PetscCall(
      PetscOptionsFList("-pc_relax_type", "Smoother", "PCRelaxSetType", list, relax->type, type, sizeof(type), &flg));
  if (flg) PetscCall(PCRelaxSetType(pc, type));
  PetscCall(PetscOptionsReal("-pc_relax_omega", "Damping; 0: chosen", "PCRelaxSetOmega", omega, &omega, &flg));
  if (flg) PetscCall(PCRelaxSetOmega(pc, omega));
  PetscCall(PetscOptionsEnum("-pc_relax_order", "Order of the colours", "PCRelaxSetOrder", PCRelaxOrderTypes,
                             (PetscEnum)order, (PetscEnum *)&order, &flg));
  if (flg) PetscCall(PCRelaxSetOrder(pc, order));
  PetscCall(PetscOptionsInt("-pc_relax_degree", "Degree of the Chebyshev polynomial", "PCRelaxSetDegree", degree,
                            &degree, &flg));
  if (flg) PetscCall(PCRelaxSetDegree(pc, degree));
  PetscCall(PetscOptionsString("-pc_relax_directions",
                               "Directions of alternating lines, or across planes: xy, zxy, ...",
                               "PCRelaxSetDirections", relax->directions, directions, sizeof(directions), &flg));
  if (flg) PetscCall(PCRelaxSetDirections(pc, directions));
  PetscCall(PetscOptionsEnum("-pc_relax_clusters", "Clusters of strongly coupled points", "PCRelaxSetClusters",
                             PCRelaxClustersTypes, (PetscEnum)clustering, (PetscEnum *)&clustering, &flg));
  if (flg) PetscCall(PCRelaxSetClusters(pc, clustering));
  PetscOptionsHeadEnd();
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
  directions are strong beside the third, and which two changes from place to place. Options of its cycles begin with
  `-planes_`, as `-mg_levels_planes_pc_kcycle_kappa`. Their grid has the planes one behind the other in z; x is the
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
  pc->ops->setuponblocks   = PCSetUpOnBlocks_Relax;
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
