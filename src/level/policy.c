/*
  The decisions of PCKCYCLE: from facts, what one look at an operator has found, to what its levels are. All thresholds
  are in policyimpl.h.
*/
#include <petsckcycle/private/policyimpl.h>
#include <petsckcycle/private/compat.h>

/* The table, for -ksp_view ::ascii_info_detail */
PetscErrorCode KCyclePolicyView(PetscViewer viewer)
{
#define ENTRY(name, value, reason, option, test) {#name, value, reason, option},
  static const struct {
    const char *name;
    PetscReal   value;
    const char *reason, *option;
  } entries[] = {KCYCLE_POLICY(ENTRY, ENTRY)};
#undef ENTRY

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  thresholds, and the options that override what they decide\n"));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(entries); i++) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "    %s = %g: %s%s%s\n", entries[i].name + sizeof("KCYCLE_") - 1,
                                     (double)entries[i].value, entries[i].reason, entries[i].option[0] ? "; " : "",
                                     entries[i].option));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does nothing flow through an end? That decides which points a coarse grid keeps; weights follow the operator */
static PetscBool IsClosed(const KCycleBoundaryFacts *end, int side)
{
  const int near = end->inward[side][0] > 0 ? 0 : 1;

  return (PetscBool)(end->excess[side][near] < KCYCLE_CLOSED * end->inward[side][near]);
}

/* What an end of a grid is: stored boundary points are coupled to nobody, through a Neumann boundary nothing flows */
KCycleBoundary KCyclePolicyBoundary(const KCycleBoundaryFacts *facts, int side, KCycleGrid grid)
{
  const PetscBool stored =
      (PetscBool)(grid == KCYCLE_GRID_AUTO ? facts->coupled[side] == 0 : grid == KCYCLE_GRID_VERTEX);
  const PetscBool closed = grid == KCYCLE_GRID_AUTO ? IsClosed(facts, side) : (PetscBool)(grid == KCYCLE_GRID_CELL);

  return stored ? KCYCLE_BOUNDARY_STORED : closed ? KCYCLE_BOUNDARY_NEUMANN : KCYCLE_BOUNDARY_ELIMINATED;
}

/* Directions to coarsen: those that couple and are named by the user ("xz"), or, where nothing is named, whose
   couplings are strong in the mean */
void KCyclePolicyDirections(const PetscReal mean[], const PetscBool couples[], const char named[], PetscInt factor[])
{
  PetscReal strongest = 0;

  for (int d = 0; d < 3; d++) {
    if (couples[d]) strongest = PetscMax(strongest, mean[d]);
  }
  for (int d = 0; d < 3; d++) {
    const PetscBool wanted =
        named ? (PetscBool)(strchr(named, 'x' + d) != NULL) : (PetscBool)(mean[d] >= KCYCLE_STRONG * strongest);

    factor[d] = couples[d] && wanted ? 2 : 1;
  }
}

PetscInt KCyclePolicyMostMixed(PetscInt dim)
{
  return dim == 3 ? KCYCLE_COARSEST_MIXED_3D : KCYCLE_COARSEST_MIXED_2D;
}

/* Is a grid small enough for a direct solver? */
PetscBool KCyclePolicyIsCoarsest(PetscInt dim, const PetscInt size[], PetscBool finest, PetscBool mixed)
{
  if (mixed && !finest && size[0] * size[1] <= KCyclePolicyMostMixed(dim) / size[2]) return PETSC_TRUE;
  return (PetscBool)(size[0] <= KCYCLE_COARSEST && size[1] <= KCYCLE_COARSEST && size[2] <= KCYCLE_COARSEST);
}

/*
  Sweeps before and behind the coarser levels. On coarse grids more of them cost little, but a grid of an eighth of the
  points is not small where they have 27 neighbours. Where materials are mixed in 3D sweeps have to do what coarse grids
  cannot; in 2D the coarsest grid is large instead.
*/
PetscInt KCyclePolicySweeps(const KCycleSweepFacts *facts)
{
  const PetscInt once = 1 << facts->dim;

  if (facts->mixed && facts->dim == 3) return KCYCLE_SWEEPS_MIXED;
  if (facts->fewer >= once * once) return KCYCLE_SWEEPS_COARSE;
  return facts->fewer >= once && facts->ncoeffs < 27 ? KCYCLE_SWEEPS_SECOND : KCYCLE_SWEEPS;
}

/* A coarsest problem of so many rows is factored by every process */
PetscInt KCyclePolicyReplicated(PetscInt dim, PetscBool mixed)
{
  return PetscMax(mixed ? KCyclePolicyMostMixed(dim) : 0, KCYCLE_MAX_REPLICATED);
}

/* By which factor fewer processes go on with a grid of so many rows. Their number is a power of two, which a DMDA can
   cut any grid into */
PetscInt KCyclePolicyReduction(PetscInt rows, PetscInt processes)
{
  const PetscInt most   = PetscMax(1, PetscMin(processes / 2, rows / KCYCLE_GATHERED));
  PetscInt       factor = 2, left;

  for (left = (processes + 1) / 2; left > most || (left & (left - 1)); left = (processes + factor - 1) / factor)
    factor++;
  return factor;
}
