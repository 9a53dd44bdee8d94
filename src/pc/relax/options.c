/*
  Options of PCRELAX, and functions that set and get them.
*/
#include <petsckcycle/private/relaximpl.h>

const char *const PCRelaxOrderTypes[]    = {"forward",          "backward",        "symmetric", "auto",
                                            "PCRelaxOrderType", "PC_RELAX_ORDER_", NULL};
const char *const PCRelaxClustersTypes[] = {"auto", "on", "off", "PCRelaxClustersType", "PC_RELAX_CLUSTERS_", NULL};

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
  PetscCall(KCyclePCQuery(pc, PCRELAX, &relax));
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
  KC_PC_GET(pc, PCRELAX, PC_Relax, type, type);
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
  KC_PC_SET(pc, PCRELAX, PC_Relax, omega, Real, omega,
            PetscCheck(omega >= 0 && omega < 2, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
                       "omega must be at least 0 (chosen) and less than 2, not %g", (double)omega));
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
  KC_PC_GET(pc, PCRELAX, PC_Relax, omega, omega);
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

  `PCKCYCLE` reverses the order after its coarse levels, so that its cycle is symmetric.

.seealso: `PCRELAX`, `PCRelaxGetOrder()`
@*/
PetscErrorCode PCRelaxSetOrder(PC pc, PCRelaxOrderType order)
{
  KC_PC_SET_ENUM(pc, PCRELAX, PC_Relax, order, PCRelaxOrderTypes, order);
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
  KC_PC_GET(pc, PCRELAX, PC_Relax, order, order);
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
  KC_PC_SET(pc, PCRELAX, PC_Relax, degree, Int, degree,
            PetscCheck(degree > 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
                       "The degree must be at least 1, not %" PetscInt_FMT, degree));
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
  KC_PC_GET(pc, PCRELAX, PC_Relax, degree, degree);
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
  PetscCall(KCyclePCQuery(pc, PCRELAX, &relax));
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
  KC_PC_GET(pc, PCRELAX, PC_Relax, directions, directions);
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
  search takes less time. With convection, where couplings of pairs of points differ by 0.3 of their sums in the
  mean, no clusters are looked for. On levels that are coarsened in one direction alone the search starts only at points
  between those that the coarser grid keeps whose strongest coupling is across that direction: other clusters are
  clusters of the coarser grid, too. `PC_RELAX_CLUSTERS_ON` ignores the factor and convection.

.seealso: `PCRELAX`, `PCRelaxGetClusters()`
@*/
PetscErrorCode PCRelaxSetClusters(PC pc, PCRelaxClustersType clustering)
{
  KC_PC_SET_ENUM(pc, PCRELAX, PC_Relax, clustering, PCRelaxClustersTypes, clustering);
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
  KC_PC_GET(pc, PCRELAX, PC_Relax, clustering, clustering);
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
  A name that exists already gets the new smoother.

  A smoother sets at least `setup` and `sweeps`. If it sets `plane`, one step of a sweep on one plane of the grid,
  instead of `sweeps`, its sweeps run plane by plane one after the other, fused with restriction and interpolation;
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

PetscErrorCode PCSetFromOptions_Relax(PC pc, KCycleOptionItems PetscOptionsObject)
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
