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

/* The threshold for what was above it the last time, or below: it is beyond that for others (see KCYCLE_KEPT) */
static PetscReal Threshold(PetscReal threshold, KCycleWas above)
{
  return threshold * (1 - (PetscReal)above * KCYCLE_KEPT);
}

static KCycleWas Opposite(KCycleWas was)
{
  return (KCycleWas) - (int)was;
}

/* Does nothing flow through a boundary? That decides which points a coarse grid keeps; weights follow the operator */
static PetscBool IsClosed(const KCycleBoundaryFacts *facts, int side, KCycleWas closed)
{
  const int near = facts->inward[side][0] > 0 ? 0 : 1;

  return (PetscBool)(facts->excess[side][near] <
                     Threshold(KCYCLE_CLOSED, Opposite(closed)) * facts->inward[side][near]);
}

/* What a boundary of a grid is: stored points are isolated, through a Neumann boundary nothing flows */
KCycleBoundary KCyclePolicyBoundary(const KCycleBoundaryFacts *facts, int side, PCKCycleGridType grid, KCycleWas was)
{
  const PetscBool stored =
      (PetscBool)(grid == PC_KCYCLE_GRID_AUTO ? facts->coupled[side] == 0 : grid == PC_KCYCLE_GRID_VERTEX);
  const PetscBool closed =
      grid == PC_KCYCLE_GRID_AUTO ? IsClosed(facts, side, was) : (PetscBool)(grid == PC_KCYCLE_GRID_CELL);

  return stored ? KCYCLE_BOUNDARY_STORED : closed ? KCYCLE_BOUNDARY_NEUMANN : KCYCLE_BOUNDARY_ELIMINATED;
}

/* Are lines of the finest grid cut by isolated points? Thin pieces between these are coupled along
   weak directions alone, and a grid that is coarser in the strong one sees nothing of errors on them */
PetscBool KCyclePolicyCutsLines(const KCycleScan *scan)
{
  return (PetscBool)(scan->isolated && scan->cuts);
}

/*
  Directions to coarsen: those that couple and are named by the user ("xz"), or, where nothing is named, beside which no
  direction is stronger in the mean. One may be where broken says so, see KCyclePolicyCoarsensWeak(), along which lines
  are then relaxed; beside two of these it would take planes. broken, was: NULL for none
*/
void KCyclePolicyDirections(const PetscReal mean[], const PetscBool couples[], const PetscBool cut[],
                            const char named[], const KCycleWas was[], PetscInt factor[])
{
  for (int d = 0; d < 3; d++) {
    const PetscReal strong   = Threshold(KCYCLE_STRONG, was ? was[d] : KCYCLE_WAS_UNKNOWN);
    int             stronger = 0;
    PetscBool       wanted;

    for (int e = 0; e < 3; e++) stronger += couples[e] && mean[d] < strong * mean[e];
    wanted    = (PetscBool)(named ? strchr(named, 'x' + d) != NULL : stronger <= (cut && cut[d] ? 1 : 0));
    factor[d] = couples[d] && wanted ? 2 : 1;
  }
}

/* Points that are coupled along the direction that couples most of them */
static PetscReal Points(const KCycleScan *facts)
{
  PetscReal points = 0;

  for (int d = 0; d < 3; d++) points = PetscMax(points, facts->count[d] / 2);
  return points;
}

/* Is direction d weak beside direction e at so many points that lines are relaxed along e where d is coarsened? */
static PetscBool IsWeakBeside(const KCycleScan *facts, int d, int e)
{
  const PetscReal runs = d < 2 && e < 2 ? facts->runs[d] : 0;

  return (PetscBool)(facts->weak[d][e] > KCYCLE_LINES * Points(facts) || runs > KCYCLE_RUNS * Points(facts));
}

/* Is it to be found out which weak points form runs? In two dimensions, where they may be enough, and are not so many
   that lines are relaxed in any case */
PetscBool KCyclePolicySeeksRuns(const KCycleScan *facts, const PetscInt factor[])
{
  PetscBool seeks = PETSC_FALSE;

  for (int d = 0; d < 2; d++) {
    seeks = (PetscBool)(seeks || (factor[d] > 1 && facts->weak[d][1 - d] > KCYCLE_RUNS * Points(facts) &&
                                  !IsWeakBeside(facts, d, 1 - d)));
  }
  return (PetscBool)(seeks && facts->count[2] == 0);
}

/* Directions of the lines that a level relaxes, "" for points. Means choose what is coarsened; where that is weak
   beside another direction at some places, smoothers must reduce errors along the latter; and where there is a
   wind along all directions */
void KCyclePolicyLines(const KCycleScan *facts, PetscBool convects, const PetscInt factor[], char directions[4])
{
  PetscReal drift = 0;
  int       n     = 0;

  for (int d = 0; d < 3; d++) drift = PetscMax(drift, convects ? facts->drift[d] : 0);
  for (int e = 0; e < 3; e++) {
    PetscBool weak = PETSC_FALSE;

    for (int d = 0; d < 3; d++) weak = (PetscBool)(weak || (d != e && factor[d] > 1 && IsWeakBeside(facts, d, e)));
    if (weak || (facts->count[e] > 0 && drift > KCYCLE_DRIFT)) directions[n++] = (char)('x' + e);
  }
  directions[n] = 0;
}

/* The direction along which weights of points that lie between coarse ones in the directions S are solved for, -1:
   none. A level relaxes lines along it, as couplings in one of the directions S are weak beside it */
int KCyclePolicyLineWeights(const KCycleScan *facts, const PetscInt factor[], int S)
{
  PetscReal most  = KCYCLE_LINES * Points(facts);
  int       along = -1;

  for (int d = 0; d < 3; d++) {
    if (S >> d & 1 && factor[d] == 1) return -1;
  }
  for (int d = 0; d < 3; d++) {
    for (int e = 0; e < 3 && S >> d & 1; e++) {
      if (S >> e & 1 || facts->weak[d][e] <= most) continue;
      most  = facts->weak[d][e];
      along = e;
    }
  }
  return along;
}

/* Is direction d weak beside both others at so many points that it takes planes across it where it is coarsened? */
static PetscBool IsWeakBesideBoth(const KCycleScan *facts, int d)
{
  return (PetscBool)(facts->weak[d][d] > KCYCLE_LINES * Points(facts));
}

/* May planes across direction d be needed? */
PetscBool KCyclePolicyTriesPlanes(const KCycleScan *facts, const PetscInt factor[], int d)
{
  return (PetscBool)(factor[d] > 1 && IsWeakBesideBoth(facts, d));
}

/* May direction d be coarsened although another one is stronger in the mean, as inactive points break lines along that?
   Levels that are broken relax no planes */
PetscBool KCyclePolicyCoarsensWeak(const KCycleScan *facts, PetscBool cut, int d)
{
  return (PetscBool)(cut && !IsWeakBesideBoth(facts, d));
}

/*
  Planes that a level relaxes, and the lines that it relaxes besides. left: in each direction the part of the points at
  which lines leave what oscillates from plane to plane. Planes across one direction help little where another one
  keeps its error, so that others need less of it. Lines that lie in the planes go.
*/
void KCyclePolicyPlanes(const KCycleScan *scan, const PetscReal left[], char planes[4], char lines[4])
{
  const PetscReal few       = scan->jump > KCYCLE_JUMP ? KCYCLE_PLANES_JUMPS : KCYCLE_PLANES;
  const PetscReal most      = PetscMax(left[0], PetscMax(left[1], left[2]));
  const char      before[4] = {lines[0], lines[1], lines[2], 0};
  int             n = 0, m = 0;

  for (int d = 0; d < 3; d++) {
    if (most > few && left[d] > KCYCLE_PLANES_OTHERS * few) planes[n++] = (char)('x' + d);
  }
  planes[n] = 0;
  for (int i = 0; i < 3 && before[i]; i++) {
    if (!n || (n == 1 && before[i] == planes[0])) lines[m++] = before[i];
  }
  lines[m] = 0;
}

/* Do coefficients jump, or are there walls inside the grid? */
PetscBool KCyclePolicyJumps(const KCycleScan *scan, KCycleWas was)
{
  return (PetscBool)(scan->jump > Threshold(KCYCLE_JUMP, was) || scan->cuts);
}

/* Is the operator not symmetric, of the finest level? */
PetscBool KCyclePolicyConvects(const KCycleScan *scan, KCycleWas was)
{
  return (PetscBool)(scan->skew > Threshold(KCYCLE_SKEW, was));
}

/* Is the product of a star collapsed to a star? With linear interpolation it is; with interpolation that follows the
   operator where one direction alone is coarsened that is the strongest one at nearly all points, but not with
   convection, as the two couplings of a pair of points become their mean */
PetscBool KCyclePolicyStar(const KCycleScan *facts, PetscBool linear, PetscBool convects, const PetscInt factor[],
                           KCycleWas was)
{
  const int d = factor[0] > 1 ? 0 : factor[1] > 1 ? 1 : 2;

  if (linear) return PETSC_TRUE;
  return (PetscBool)(!convects && factor[0] * factor[1] * factor[2] == 2 &&
                     facts->thin[d] <= Threshold(KCYCLE_STAR, Opposite(was)) * Points(facts));
}

/*
  The kappa of cycles, unless one was chosen; factor: of the finest level. Where a direction alone is coarsened
  coarse levels cost too much to come to them more often. Planes, which the finest level relaxes, cost so much that with
  an eighth of the points coarser levels take little time: the W-cycle, as it is symmetric.
*/
PetscInt KCyclePolicyKappa(PetscBool convects, PetscBool planes, const PetscInt factor[])
{
  const PetscInt ratio = factor[0] * factor[1] * factor[2];

  if (convects && ratio >= 4) return KCYCLE_KAPPA_CONVECTION;
  return planes && ratio == 8 ? PC_KCYCLE_KAPPA_W : 1;
}

/* Is a grid small enough for a direct solver? */
PetscBool KCyclePolicyIsCoarsest(const PetscInt size[])
{
  return (PetscBool)(size[0] <= KCYCLE_COARSEST && size[1] <= KCYCLE_COARSEST && size[2] <= KCYCLE_COARSEST);
}

/*
  Sweeps before and behind the coarser levels. On coarse grids more of them cost little, but a grid of an eighth of the
  points is not small where stencils have 15 points or 27. Broken lines have as many sweeps as points. Cycles that come
  to coarse grids more than once have no more sweeps there: they converge as fast, and take less time.
*/
static PetscInt UsualSweeps(const KCycleSweepFacts *facts)
{
  const PetscInt once = 1 << facts->dim, ratio = facts->revisits ? 1 : facts->ratio;

  if (facts->planes) return KCYCLE_SWEEPS_LINES;
  if (facts->lines && !facts->cut)
    return ratio >= KCYCLE_COARSE_LINES ? KCYCLE_SWEEPS_LINES_COARSE : KCYCLE_SWEEPS_LINES;
  if (ratio >= once * once) return KCYCLE_SWEEPS_COARSE;
  return ratio >= once && facts->ncoeffs < 15 ? KCYCLE_SWEEPS_SECOND : KCYCLE_SWEEPS;
}

/* Those that were asked for are on the finest level; coarser ones have no fewer */
PetscInt KCyclePolicySweeps(const KCycleSweepFacts *facts)
{
  const PetscInt usual = UsualSweeps(facts);

  if (!facts->asked) return usual;
  return facts->ratio == 1 ? facts->asked : PetscMax(usual, facts->asked);
}

/* What KCYCLE_FALLBACK_AHEAD cycles leave of an error, where some have left a part of it, and the last one such a part
   of what was left before. The first one, which errors between neighbours mostly go by, is no measure for others */
PetscReal KCyclePolicyAhead(PetscInt cycles, PetscReal left, PetscReal last)
{
  return left * PetscPowReal(cycles > 1 ? last : KCYCLE_FALLBACK_LATER, (PetscReal)(KCYCLE_FALLBACK_AHEAD - cycles));
}

/* By which factor fewer processes go on with a grid of so many rows. Their number is a power of two, which a DMDA can
   cut any grid into */
PetscInt KCyclePolicyReduction(PetscInt rows, PetscInt processes)
{
  const PetscInt most   = PetscMax(1, PetscMin(processes / 2, rows / KCYCLE_GATHERED));
  PetscInt       factor = 2, rest;

  for (rest = (processes + 1) / 2; rest > most || (rest & (rest - 1)); rest = (processes + factor - 1) / factor)
    factor++;
  return factor;
}
