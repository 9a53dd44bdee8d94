/*
  Predicts how far a DM can be coarsened, so that the number of levels is known before anything is built and a grid that
  does not coarsen is refused with a reason.
*/
#include <petsckcycle/private/coarsenimpl.h>
#include <petsckcycle/private/compat.h>
#include <petsckcycle/private/policyimpl.h>
#include <petsc/private/dmdaimpl.h>

/* One direction of a DMDA */
typedef struct {
  PetscInt  points; /* grid points */
  PetscInt  factor; /* coarsening factor of the next step */
  PetscInt  least;  /* factors that PETSc's interpolation is written for */
  PetscInt  most;
  PetscInt *hier;    /* -da_refine_hierarchy_x and its like: factors of the refinements that made this DMDA, or NULL */
  PetscInt  nhier;   /* length of hier */
  PetscInt  refined; /* number of those refinements that remain to undo */
  PetscInt  width;   /* stencil width */
  /* points are cells, or wrap around: n points become n / factor; else the two end points are kept */
  PetscBool cells;
  PetscBool wraps; /* periodic */
  /* may have one point, if not coarsened: so it is for PETSc's interpolation from cells in 3D, and for no injection */
  PetscBool thin;
  PetscInt  nproc; /* processes */
  PetscInt *owned; /* points of each process */
} GridDirection;

typedef struct {
  PetscInt      dim;
  GridDirection direction[3];
} Grid;

/*
  PETSc interpolates from cells (DMDA_Q0) in 3D by 1 or 2, in 2D by 2, and in 1D only where they wrap around, which are
  then points to it. Coordinates of cells are injected as if they were those of points, and do not fit.
*/
static void FindFactors(PetscInt dim, DMDAInterpolationType interpolation, PetscBool coordinates, GridDirection *g)
{
  g->least = 1;
  g->most  = PETSC_INT_MAX;
  if (interpolation != DMDA_Q0 || (dim == 1 && g->wraps)) return;
  g->least = dim == 2 ? 2 : 1;
  g->most  = dim == 1 || (coordinates && !g->wraps) ? 0 : 2;
}

static PetscErrorCode GridCreate(DM da, Grid *grid)
{
  const DM_DA   *dd             = (DM_DA *)da->data;
  const PetscInt factor[3]      = {dd->coarsen_x, dd->coarsen_y, dd->coarsen_z},
                 nhier[3]       = {dd->refine_x_hier_n, dd->refine_y_hier_n, dd->refine_z_hier_n};
  PetscInt *const       hier[3] = {dd->refine_x_hier, dd->refine_y_hier, dd->refine_z_hier};
  PetscInt              size[3], nproc[3], width;
  const PetscInt       *owned[3];
  DMBoundaryType        boundary[3];
  DMDAInterpolationType interpolation;
  Vec                   coordinates;

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(da, &grid->dim, &size[0], &size[1], &size[2], &nproc[0], &nproc[1], &nproc[2], NULL, &width,
                        &boundary[0], &boundary[1], &boundary[2], NULL));
  PetscCall(DMDAGetOwnershipRanges(da, &owned[0], &owned[1], &owned[2]));
  PetscCall(DMDAGetInterpolationType(da, &interpolation));
  PetscCall(DMGetCoordinates(da, &coordinates));
  for (PetscInt d = 0; d < grid->dim; d++) {
    GridDirection *g = &grid->direction[d];

    g->points  = size[d];
    g->factor  = factor[d];
    g->hier    = hier[d];
    g->nhier   = nhier[d];
    g->refined = da->levelup - da->leveldown;
    g->width   = width;
    g->wraps   = (PetscBool)(boundary[d] == DM_BOUNDARY_PERIODIC);
    g->cells   = (PetscBool)(g->wraps || interpolation == DMDA_Q0);
    g->thin    = (PetscBool)(grid->dim == 3 && interpolation == DMDA_Q0);
    g->nproc   = nproc[d];
    FindFactors(grid->dim, interpolation, coordinates ? PETSC_TRUE : PETSC_FALSE, g);
    PetscCall(PetscMalloc1(nproc[d], &g->owned));
    PetscCall(PetscArraycpy(g->owned, owned[d], nproc[d]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridDestroy(Grid *grid)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid->dim; d++) PetscCall(PetscFree(grid->direction[d].owned));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt CoarsePoints(const GridDirection *g)
{
  return g->cells ? g->points / g->factor : 1 + (g->points - 1) / g->factor;
}

static PetscBool FactorIsKnown(const GridDirection *g)
{
  return (PetscBool)(g->least <= g->factor && g->factor <= g->most);
}

/* DMCreateInterpolation() of a DMDA wants two coarse points and an integer ratio between the lengths, in cells, of
   the fine and the coarse direction */
static PetscBool RatioIsInteger(const GridDirection *g)
{
  const PetscInt coarse = CoarsePoints(g);

  if (coarse == g->points) return (PetscBool)(g->points > 1 || g->thin);
  if (g->cells) return (PetscBool)(coarse > 1 && g->points % coarse == 0);
  return (PetscBool)(coarse > 1 && (g->points - 1) % (coarse - 1) == 0);
}

/*
  Deals the coarse points to the processes by DMCoarsen()'s rule, since what it cannot deal it stops at: equal shares of
  what remains, moved so that the coarse neighbours of each fine point lie on the same process or within one stencil
  width of it.
*/
static PetscBool DealCoarsePoints(GridDirection *g)
{
  PetscInt rest = CoarsePoints(g), coarse = 0, fine = 0;

  for (PetscInt p = 0; p < g->nproc; p++) {
    PetscInt share = (rest + g->nproc - p - 1) / (g->nproc - p);

    fine += g->owned[p];
    if (p < g->nproc - 1 && g->factor > 1) {
      /* largest share that serves the next process's first point */
      const PetscInt before = fine / g->factor + g->width - coarse;
      /* smallest one that serves this process's last point */
      const PetscInt behind = (fine + g->factor - 2) / g->factor - g->width + 1 - coarse;

      share = PetscMax(PetscMin(share, before), behind);
      if (share > before) return PETSC_FALSE;
    }
    if (share > rest || share < g->width || (share == 0 && g->points > 1)) return PETSC_FALSE;
    g->owned[p] = share;
    coarse += share;
    rest -= share;
  }
  g->points = coarse;
  return PETSC_TRUE;
}

static PetscBool CoarsenDirection(GridDirection *g)
{
  if (!FactorIsKnown(g) || !RatioIsInteger(g)) return PETSC_FALSE;
  if (g->factor == 1) return PETSC_TRUE;
  if (g->nproc == 1 && !g->wraps) g->points = g->owned[0] = CoarsePoints(g);
  else if (!DealCoarsePoints(g)) return PETSC_FALSE;
  g->refined--;
  if (g->hier && g->refined > 0 && g->refined <= g->nhier) g->factor = g->hier[g->refined - 1];
  return PETSC_TRUE;
}

static PetscInt LongestDirection(const Grid *grid)
{
  PetscInt longest = 0;

  for (PetscInt d = 0; d < grid->dim; d++) longest = PetscMax(longest, grid->direction[d].points);
  return longest;
}

/* Coarsens once if every direction allows it and the grid becomes smaller */
static PetscBool CoarsenGrid(Grid *grid)
{
  PetscBool smaller = PETSC_FALSE;

  for (PetscInt d = 0; d < grid->dim; d++) {
    const PetscInt before = grid->direction[d].points;

    if (!CoarsenDirection(&grid->direction[d])) return PETSC_FALSE;
    if (grid->direction[d].points < before) smaller = PETSC_TRUE;
  }
  return smaller;
}

static PetscErrorCode CountLevels_DA(DM da, PetscInt *most, PetscInt *chosen)
{
  Grid      grid;
  PetscBool large;

  PetscFunctionBegin;
  PetscCall(GridCreate(da, &grid));
  *most = *chosen = 1;
  large           = (PetscBool)(LongestDirection(&grid) > KCYCLE_FEW_POINTS);
  while (CoarsenGrid(&grid)) {
    ++*most;
    if (large || *chosen == 1) *chosen = *most;
    large = (PetscBool)(LongestDirection(&grid) > KCYCLE_FEW_POINTS);
  }
  PetscCall(GridDestroy(&grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Other DMs: meshes that were refined from coarser ones, or that were given coarser ones on the same processes,
   which one for fewer of them (PCTELESCOPE) is not */
static PetscErrorCode CountLevels_Refined(DM dm, PetscInt *chosen)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)dm);
  PetscInt       refined, given = 0, everywhere;
  int            same = MPI_CONGRUENT;

  PetscFunctionBegin;
  PetscCall(DMGetRefineLevel(dm, &refined));
  while (dm && (same == MPI_IDENT || same == MPI_CONGRUENT)) {
    given++;
    PetscCall(DMGetCoarseDM(dm, &dm));
    if (dm) PetscCallMPI(MPI_Comm_compare(comm, PetscObjectComm((PetscObject)dm), &same));
  }
  PetscCallMPI(MPI_Allreduce(&given, &everywhere, 1, MPIU_INT, MPI_MIN, comm));
  *chosen = PetscMax(refined + 1, everywhere);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleDMCountLevels(DM dm, PetscInt *most, PetscInt *chosen)
{
  PetscBool isda;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &isda));
  if (isda) PetscCall(CountLevels_DA(dm, most, chosen));
  else {
    *most = PETSC_INT_MAX;
    PetscCall(CountLevels_Refined(dm, chosen));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleDMDescribe(DM dm, size_t len, char text[])
{
  PetscInt  dim, m, n, p;
  PetscBool isda;
  DMType    type;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &isda));
  PetscCall(DMGetType(dm, &type));
  if (isda) {
    PetscCall(DMDAGetInfo(dm, &dim, &m, &n, &p, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    if (dim == 1) PetscCall(PetscSNPrintf(text, len, "grid of %" PetscInt_FMT " points", m));
    else if (dim == 2) PetscCall(PetscSNPrintf(text, len, "%" PetscInt_FMT " x %" PetscInt_FMT " grid", m, n));
    else PetscCall(PetscSNPrintf(text, len, "%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " grid", m, n, p));
  } else PetscCall(PetscSNPrintf(text, len, "DM of type %s", type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why the first coarsening fails in the first direction where it does */
static PetscErrorCode ExplainDirection(const GridDirection *g, char axis, size_t len, char text[])
{
  PetscFunctionBegin;
  if (!FactorIsKnown(g)) {
    PetscCall(PetscSNPrintf(text, len,
                            "PETSc coarsens cells (DMDA_Q0) in 2D by a factor of 2, in 3D by 1 or 2, in 1D not at all, "
                            "and nowhere if they have coordinates "
                            "(DMDASetUniformCoordinates()): use points (DMDASetInterpolationType() with DMDA_Q1), or "
                            "-pc_kcycle_hierarchy gamg"));
  } else if (RatioIsInteger(g)) {
    PetscCall(PetscSNPrintf(text, len,
                            "in %c the coarse points do not suffice for %" PetscInt_FMT
                            " processes: use fewer processes in %c, or more points",
                            axis, g->nproc, axis));
  } else if (g->cells) {
    const PetscInt below = PetscMax(g->points - g->points % g->factor, 2 * g->factor);

    PetscCall(PetscSNPrintf(
        text, len,
        "in %c, a direction of cells or a periodic one, the number of points must be a multiple of %" PetscInt_FMT
        ": use %" PetscInt_FMT " or %" PetscInt_FMT " points, best a small number times a power of %" PetscInt_FMT,
        axis, g->factor, below, below + g->factor, g->factor));
  } else {
    const PetscInt cells = g->points - 1, below = PetscMax(cells - cells % g->factor, g->factor);

    PetscCall(PetscSNPrintf(text, len,
                            "in %c the number of points less one must be a multiple of %" PetscInt_FMT
                            ": use %" PetscInt_FMT " or %" PetscInt_FMT " points, best %" PetscInt_FMT "^k + 1",
                            axis, g->factor, below + 1, below + g->factor + 1, g->factor));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleDMExplain(DM dm, size_t len, char text[])
{
  const char axes[] = "xyz";
  Grid       grid;
  PetscBool  isda;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &isda));
  PetscCall(PetscSNPrintf(
      text, len,
      "give it coarser meshes: refine it from a coarse one (-dm_refine 3), DMSetCoarseDM(), or -pc_mg_levels"));
  if (!isda) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(text, len, "it has one point"));
  PetscCall(GridCreate(dm, &grid));
  for (PetscInt d = 0; d < grid.dim; d++) {
    GridDirection before = grid.direction[d];

    if (CoarsenDirection(&grid.direction[d])) continue;
    before.owned = NULL;
    PetscCall(ExplainDirection(&before, axes[d], len, text));
    break;
  }
  PetscCall(GridDestroy(&grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}
