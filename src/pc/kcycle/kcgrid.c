/*
  How a structured grid is coarsened: which directions, which points, which interpolation.
*/
#include <petsckcycle/private/kcycleimpl.h>
#include <petsckcycle/private/relaximpl.h>

/* Directions whose couplings are weaker than this part of the strongest are not coarsened */
#define KCYCLE_STRONG 0.6

/* The coarsest grid has at most this many points in each direction, if it can be had; where coefficients jump fewer may not hold what is left of the jumps */
#define KCYCLE_COARSEST       3
#define KCYCLE_COARSEST_JUMPS 8

/* What a scan of the operator finds of one direction */
typedef struct {
  PetscReal ratio;        /* the largest of a point's couplings with its two neighbours */
  PetscReal sum, count;   /* of couplings */
  PetscReal excess[2][2]; /* of the row sums at the low and the high end over those of the next points, summed up; second: of points that other ends are near to */
  PetscReal inward[2][2]; /* sum of the couplings of these points with the next ones */
  PetscReal coupled[2];   /* number of these points that are coupled to any other */
} Direction;

/* Row sums of the points that this process owns, and of those around */
typedef struct {
  PetscScalar *own, *halo;
} Sums;

/* One line of the operator: couplings of each point with those behind and ahead in each direction, whatever their place across, and row sums */
typedef struct {
  PetscInt     n;
  PetscScalar *values;
  PetscReal   *c[3][2], *sum, *diagonal;
} Line;

static PetscErrorCode LineCreate(const Mat_Stencil *st, Line *line)
{
  PetscReal *work;

  PetscFunctionBegin;
  line->n = st->box->n[0];
  PetscCall(PetscMalloc2(st->shape.ncoeffs * line->n, &line->values, 8 * line->n, &work));
  for (PetscInt d = 0; d < 6; d++) line->c[d / 2][d % 2] = work + d * line->n;
  line->sum      = work + 6 * line->n;
  line->diagonal = work + 7 * line->n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LineDestroy(Line *line)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(line->values, line->c[0][0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

KC_VERSIONS static void Accumulate(PetscInt n, PetscReal sign, const PetscScalar *restrict v, PetscReal *restrict to)
{
  for (PetscInt i = 0; i < n; i++) to[i] += sign * PetscRealPart(v[i]);
}

static PetscErrorCode LineRead(Mat A, PetscInt number, Line *line)
{
  const KCycleShape *shape = &((Mat_Stencil *)A->data)->shape;

  PetscFunctionBegin;
  PetscCall(MatStencilGetLine(A, number, line->values));
  PetscCall(PetscArrayzero(line->c[0][0], 8 * line->n));
  for (int o = 0; o < shape->ncoeffs; o++) {
    const int          q = shape->line[o], to[3] = {shape->dx[o], shape->dy[q], shape->dz[q]};
    const PetscScalar *v = line->values + o * line->n;

    Accumulate(line->n, 1, v, line->sum);
    for (PetscInt d = 0; d < 3; d++) {
      if (to[d]) Accumulate(line->n, -1, v, line->c[d][to[d] > 0]);
    }
    if (o == shape->ncoeffs / 2) Accumulate(line->n, 1, v, line->diagonal);
  }
  for (PetscInt i = 0; i < 6 * line->n; i++) line->c[0][0][i] = PetscAbsReal(line->c[0][0][i]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sum of the row of a point, which this process owns or a neighbour */
static PetscReal RowSum(const KCycleBox *box, const Sums *sums, const PetscInt at[])
{
  const PetscInt i = at[0] - box->start[0], j = at[1] - box->start[1], k = at[2] - box->start[2], e = KCycleBoxExtended(box, j, k);

  if (i < 0) return PetscRealPart(sums->halo[box->left + e]);
  if (i >= box->n[0]) return PetscRealPart(sums->halo[box->right + e]);
  return PetscRealPart(KCycleBoxLine(box, sums->own, sums->halo, j, k)[i]);
}

/* By how much the row sum of a point at an end exceeds that of the next point: what other ends and reactions add is there too */
static PetscReal Excess(const KCycleBox *box, const Sums *sums, const PetscInt at[], PetscInt d, int side)
{
  PetscInt next[3] = {at[0], at[1], at[2]};

  next[d] += side ? -1 : 1;
  return RowSum(box, sums, at) - (box->size[d] > 2 ? RowSum(box, sums, next) : 0);
}

/* What the couplings of a line say */
static void ScanLine(const Line *line, PetscInt dim, Direction direction[])
{
  for (PetscInt d = 0; d < dim; d++) {
    const PetscReal *low = line->c[d][0], *high = line->c[d][1];
    PetscReal        sum = 0, ratio = direction[d].ratio;
    PetscInt         count = 0;

    for (PetscInt i = 0; i < line->n; i++) {
      sum += low[i] + high[i];
      count += (low[i] > 0) + (high[i] > 0);
      if (low[i] > ratio * high[i] && high[i] > 0) ratio = low[i] / high[i];
      if (high[i] > ratio * low[i] && low[i] > 0) ratio = high[i] / low[i];
    }
    direction[d].sum += sum;
    direction[d].count += count;
    direction[d].ratio = ratio;
  }
}

/* A point at an end of the grid */
static void ScanEnd(const KCycleBox *box, const Line *line, const Sums *sums, const PetscInt at[], Direction direction[])
{
  const PetscInt  i       = at[0] - box->start[0];
  const PetscReal sign    = line->diagonal[i] < 0 ? -1 : 1;
  PetscBool       coupled = PETSC_FALSE;
  PetscInt        ends = 0, lacking = 0; /* directions in which the point has one neighbour */

  for (PetscInt d = 0; d < box->dim; d++) {
    ends += !box->periodic[d] && box->size[d] > 2 && (at[d] == 0 || at[d] == box->size[d] - 1);
    coupled = (PetscBool)(coupled || line->c[d][0][i] > 0 || line->c[d][1][i] > 0);
    lacking += box->size[d] > 2 && (line->c[d][0][i] > 0) != (line->c[d][1][i] > 0);
  }
  if (ends > 1 || !coupled) return;
  for (PetscInt d = 0; d < box->dim; d++) {
    const int near = lacking > (box->size[d] > 2);

    for (int side = 0; side < 2; side++) {
      if (box->periodic[d] || at[d] != (side ? box->size[d] - 1 : 0)) continue;
      direction[d].coupled[side] += 1;
      direction[d].excess[side][near] += sign * Excess(box, sums, at, d, side);
      direction[d].inward[side][near] += line->c[d][1 - side][i];
    }
  }
}

/* Ratios are compared, the rest is added up over the processes */
static PetscErrorCode Gather(MPI_Comm comm, Direction direction[])
{
  const int most = 3, count = sizeof(Direction) / sizeof(PetscReal) - 1;
  PetscReal ratio[3], sums[3][sizeof(Direction) / sizeof(PetscReal) - 1], allratio[3], allsums[3][sizeof(Direction) / sizeof(PetscReal) - 1];

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) {
    ratio[d] = direction[d].ratio;
    PetscCall(PetscMemcpy(sums[d], &direction[d].sum, sizeof(sums[d])));
  }
  PetscCallMPI(MPI_Allreduce(ratio, allratio, most, MPIU_REAL, MPIU_MAX, comm));
  PetscCallMPI(MPI_Allreduce(sums, allsums, most * count, MPIU_REAL, MPIU_SUM, comm));
  for (int d = 0; d < 3; d++) {
    direction[d].ratio = allratio[d];
    PetscCall(PetscMemcpy(&direction[d].sum, allsums[d], sizeof(allsums[d])));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ends of the grid, which need the row sums of the points beside them */
static PetscErrorCode ScanEnds(Mat A, Line *line, Sums *sums, Direction direction[])
{
  const Mat_Stencil *st   = (Mat_Stencil *)A->data;
  const KCycleBox   *box  = st->box;
  PetscInt           last = -1;

  PetscFunctionBegin;
  PetscCall(KCycleBoxHaloCreate(box, &sums->halo));
  PetscCall(KCycleBoxExchange(box, PETSC_FALSE, sums->own, sums->halo));
  for (PetscInt l = 0; l < box->nlines; l++) {
    PetscInt  at[3] = {0, l % box->n[1] + box->start[1], l / box->n[1] + box->start[2]}, step;
    PetscBool inner = PETSC_TRUE;

    for (PetscInt d = 1; d < box->dim; d++) inner = (PetscBool)(inner && at[d] > 0 && at[d] < box->size[d] - 1);
    if (!MatStencilLineIsLast(st, l, last)) PetscCall(LineRead(A, l, line));
    last = l;
    step = inner ? PetscMax(line->n - 1, 1) : 1;
    for (PetscInt i = 0; i < line->n; i += step) {
      at[0] = i + box->start[0];
      ScanEnd(box, line, sums, at, direction);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is found does not depend on how lines are stored. ends: are the ends of the grid looked at? */
static PetscErrorCode Scan(Mat A, PetscBool ends, Direction direction[])
{
  Sums               sums = {NULL, NULL};
  const Mat_Stencil *st   = (Mat_Stencil *)A->data;
  const KCycleBox   *box  = st->box;
  Line               line;
  PetscInt           last = -1;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(direction, 3 * sizeof(*direction)));
  for (PetscInt d = 0; d < 3; d++) direction[d].ratio = 1;
  PetscCall(LineCreate(st, &line));
  if (ends) PetscCall(PetscMalloc1(box->npoints, &sums.own));
  for (PetscInt l = 0; l < box->nlines; l++) {
    if (!MatStencilLineIsLast(st, l, last)) PetscCall(LineRead(A, l, &line));
    last = l;
    ScanLine(&line, box->dim, direction);
    for (PetscInt i = 0; ends && i < line.n; i++) sums.own[l * line.n + i] = line.sum[i];
  }
  if (ends) PetscCall(ScanEnds(A, &line, &sums, direction));
  PetscCall(LineDestroy(&line));
  PetscCall(PetscFree(sums.own));
  PetscCall(PetscFree(sums.halo));
  PetscCall(Gather(PetscObjectComm((PetscObject)A), direction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every process must own a point that is kept */
static PetscBool CanCoarsen(const KCycleBox *box, PetscInt d, PetscInt first)
{
  if (d >= box->dim || box->size[d] < 2) return PETSC_FALSE;
  for (PetscInt p = 0; p < box->nproc[d]; p++) {
    const PetscInt low = box->first[d][p], high = box->first[d][p + 1];

    if ((high - first + 1) / 2 <= (low - first + 1) / 2) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* What the ends of a grid are: stored boundary points are coupled to nobody, through an insulated end nothing flows */
static void FindEnds(const KCycleBox *box, KCycleGrid grid, const Direction direction[], KCycleEnd end[][2])
{
  for (PetscInt d = 0; d < box->dim; d++) {
    for (int side = 0; side < 2; side++) {
      const PetscBool stored = (PetscBool)(grid == KCYCLE_GRID_AUTO ? direction[d].coupled[side] == 0 : grid == KCYCLE_GRID_VERTEX);
      const int       near   = direction[d].inward[side][0] > 0 ? 0 : 1;
      const PetscBool closed = (PetscBool)(grid == KCYCLE_GRID_AUTO ? direction[d].excess[side][near] < 0.1 * direction[d].inward[side][near] : grid == KCYCLE_GRID_CELL);

      end[d][side] = stored ? KCYCLE_END_STORED : closed ? KCYCLE_END_INSULATED : KCYCLE_END_OPEN;
    }
  }
}

/* The ends of a coarser grid are the same, but that stored points may have been left out */
static void CoarsenEnds(const KCycleBox *box, const KCycleStructure *level, KCycleEnd end[][2])
{
  for (PetscInt d = 0; d < box->dim; d++) {
    const PetscBool kept[2] = {(PetscBool)(level->first[d] == 0), (PetscBool)((box->size[d] - 1 - level->first[d]) % level->factor[d] == 0)};

    for (int side = 0; side < 2; side++) end[d][side] = level->end[d][side] == KCYCLE_END_STORED && !kept[side] ? KCYCLE_END_OPEN : level->end[d][side];
  }
}

/* Directions named by the user, or those of strong couplings; where there are none a coarser grid is of no use */
static PetscErrorCode ChooseDirections(PC pc, const KCycleBox *box, const Direction direction[], KCycleStructure *level)
{
  PC_KCycle *kc;
  PetscReal  strongest = 0, mean[3];
  PetscBool  automatic;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  PetscCall(PetscStrcmp(kc->semicoarsen, "auto", &automatic));
  for (PetscInt d = 0; d < 3; d++) {
    mean[d] = direction[d].count > 0 ? direction[d].sum / direction[d].count : 0;
    if (CanCoarsen(box, d, level->first[d])) strongest = PetscMax(strongest, mean[d]);
  }
  for (PetscInt d = 0; d < 3; d++) {
    const PetscBool named = (PetscBool)(strchr(kc->semicoarsen, (int)('x' + d)) != NULL), can = (PetscBool)(CanCoarsen(box, d, level->first[d]) && mean[d] > 0);

    level->factor[d] = can && (automatic ? mean[d] >= KCYCLE_STRONG * strongest : named) ? 2 : 1;
    if (level->factor[d] == 1) level->first[d] = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Does a coarse grid of every second point cover the domain evenly, as a program takes it that assembles operators on any grid? Between insulated ends an
  even number of points are cells, taken in pairs, and an odd number begins and ends with points on the walls.
*/
static PetscBool CoversDomain(const KCycleBox *box, const KCycleStructure *level, PetscInt d)
{
  const KCycleEnd low = level->end[d][0], high = level->end[d][1];
  const PetscBool odd = (PetscBool)(box->size[d] % 2 == 1), open = (PetscBool)(low == KCYCLE_END_OPEN || high == KCYCLE_END_OPEN);

  if (box->periodic[d]) return (PetscBool)!odd;
  if (low == high) return (PetscBool)(odd || low == KCYCLE_END_INSULATED);
  if (low == KCYCLE_END_INSULATED || high == KCYCLE_END_INSULATED) return (PetscBool)(odd && !open);
  return (PetscBool)!odd;
}

/* Of a level that is to be coarsened; why is left alone if it can be */
static PetscErrorCode CheckAssembled(const KCycleBox *box, const KCycleStructure *level, size_t len, char why[])
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dim; d++) {
    if (level->factor[d] == 1 || CoversDomain(box, level, d)) continue;
    PetscCall(PetscSNPrintf(why, len,
                            "-pc_mg_galerkin none has the program assemble coarse operators, and every second of %" PetscInt_FMT
                            " points in %c makes no even grid for them: take 2^k+1 points (2^k - 1 without the boundary points, 2^k cells), or leave the option out",
                            box->size[d], (int)('x' + d)));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The grid of the points that are kept; each process keeps its own */
static PetscErrorCode CoarseDM(DM dm, const KCycleBox *box, const KCycleStructure *level, PetscBool assembled, DM *coarse)
{
  PetscInt      *owned[3], size[3];
  DMBoundaryType boundary[3];

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(dm, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &boundary[0], &boundary[1], &boundary[2], NULL));
  for (PetscInt d = 0; d < 3; d++) {
    const PetscInt f = level->factor[d], first = level->first[d];

    PetscCall(PetscMalloc1(box->nproc[d], &owned[d]));
    size[d] = 0;
    for (PetscInt p = 0; p < box->nproc[d]; p++) {
      owned[d][p] = (box->first[d][p + 1] - first + f - 1) / f - (box->first[d][p] - first + f - 1) / f;
      size[d] += owned[d][p];
    }
  }
  PetscCall(DMDACreate(PetscObjectComm((PetscObject)dm), coarse));
  PetscCall(DMSetDimension(*coarse, box->dim));
  PetscCall(DMDASetSizes(*coarse, size[0], size[1], size[2]));
  PetscCall(DMDASetNumProcs(*coarse, box->nproc[0], box->nproc[1], box->nproc[2]));
  PetscCall(DMDASetBoundaryType(*coarse, boundary[0], boundary[1], boundary[2]));
  PetscCall(DMDASetDof(*coarse, 1));
  PetscCall(DMDASetStencilType(*coarse, assembled && box->star ? DMDA_STENCIL_STAR : DMDA_STENCIL_BOX)); /* products of stars are boxes */
  PetscCall(DMDASetStencilWidth(*coarse, 1));
  PetscCall(DMDASetOwnershipRanges(*coarse, owned[0], owned[1], owned[2]));
  PetscCall(DMSetUp(*coarse));
  for (PetscInt d = 0; d < 3; d++) PetscCall(PetscFree(owned[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the grid small enough for a direct solver? */
static PetscBool IsSmall(const KCycleBox *box, PetscBool jumps)
{
  const PetscInt most = jumps ? KCYCLE_COARSEST_JUMPS : KCYCLE_COARSEST;

  return (PetscBool)(box->size[0] <= most && box->size[1] <= most && box->size[2] <= most);
}

/* What there is to know of a level before it is coarsened: its ends, the points to keep, whether coefficients jump */
static PetscErrorCode LookAtLevel(PC pc, KCycleStructure *level, PetscBool *jumps)
{
  PC_KCycle       *kc;
  const KCycleBox *box = ((Mat_Stencil *)level->A->data)->box;
  Direction        direction[3];

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  PetscCall(Scan(level->A, (PetscBool)(level == kc->structure), direction));
  if (level == kc->structure) FindEnds(box, kc->grid, direction, level->end);
  *jumps = PETSC_FALSE;
  for (PetscInt d = 0; d < 3; d++) {
    level->first[d] = d < box->dim && !box->periodic[d] && level->end[d][0] == KCYCLE_END_OPEN ? 1 : 0;
    *jumps          = (PetscBool)(*jumps || direction[d].ratio > KCYCLE_JUMP);
  }
  PetscCall(ChooseDirections(pc, box, direction, level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why the program cannot assemble the first coarser operator, or nothing. Where this is known of the finest level alone coarsening goes as far as it can */
PetscErrorCode KCycleStructureCheckAssembled(PC pc, size_t len, char why[])
{
  PC_KCycle *kc;
  PetscBool  jumps;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  PetscCall(LookAtLevel(pc, kc->structure, &jumps));
  PetscCall(CheckAssembled(((Mat_Stencil *)kc->structure[0].A->data)->box, kc->structure, len, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is there to be a coarser level? */
static PetscErrorCode WantsCoarser(PC pc, const KCycleStructure *level, PetscBool asked, PetscBool jumps, PetscBool *wants)
{
  PC_KCycle       *kc;
  const KCycleBox *box      = ((Mat_Stencil *)level->A->data)->box;
  char             why[256] = "";

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  if (kc->assembled) PetscCall(CheckAssembled(box, level, sizeof(why), why));
  *wants = (PetscBool)((asked || !IsSmall(box, jumps)) && level->factor[0] * level->factor[1] * level->factor[2] > 1 && !why[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Weights of the interpolation and the coarser operator */
static PetscErrorCode FillLevel(PC pc, KCycleStructure *level, PetscBool jumps)
{
  PC_KCycle          *kc;
  Mat_Stencil        *st  = (Mat_Stencil *)level->A->data;
  const KCycleBox    *box = st->box;
  KCycleInterpolation interpolation;
  PetscBool           insulated[6];

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  for (PetscInt d = 0; d < 3; d++) {
    st->origin[d] = level->factor[d] == 2 ? level->first[d] : 0;
    for (int side = 0; side < 2; side++) insulated[2 * d + side] = (PetscBool)(d < box->dim && !box->periodic[d] && level->end[d][side] == KCYCLE_END_INSULATED);
  }
  interpolation = kc->interpolation;
  if (interpolation == KCYCLE_INTERPOLATION_AUTO) interpolation = jumps ? KCYCLE_INTERPOLATION_OPERATOR : KCYCLE_INTERPOLATION_LINEAR;
  level->star = (PetscBool)(interpolation == KCYCLE_INTERPOLATION_LINEAR && !st->shape.box);
  PetscCall(MatStencilTransferSetWeights(level->P, interpolation, insulated, level->A));
  if (kc->assembled) PetscCall(KCycleAssemble(pc, level));
  else PetscCall(MatStencilGalerkin(level->A, level->P, level->star, PETSC_TRUE, &level[1].A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Makes level + 1 from level: grid, interpolation, operator. coarser is false where the grid does not coarsen, or is small enough and no level was asked for.
  Where levels exist they keep their grids, and get new weights and values; changed is true, and nothing is done, where another grid would suit the values.
*/
PetscErrorCode KCycleStructureCoarsen(PC pc, KCycleStructure *level, PetscBool asked, PetscBool exists, PetscBool *coarser, PetscBool *changed)
{
  PC_KCycle      *kc;
  KCycleStructure before = *level;
  PetscBool       jumps;

  PetscFunctionBegin;
  PetscCall(PCKCycleGetContext(pc, &kc));
  PetscCall(LookAtLevel(pc, level, &jumps));
  PetscCall(WantsCoarser(pc, level, asked, jumps, coarser));
  if (!*coarser) level->factor[0] = level->factor[1] = level->factor[2] = 1;
  *changed = (PetscBool)(exists && *coarser != (PetscBool)(level->P != NULL));
  for (PetscInt d = 0; d < 3; d++) *changed = (PetscBool)(*changed || (level->P && (level->factor[d] != before.factor[d] || level->first[d] != before.first[d])));
  if (!*coarser || *changed) PetscFunctionReturn(PETSC_SUCCESS);
  if (!level->P) {
    PetscCall(CoarseDM(level->dm, ((Mat_Stencil *)level->A->data)->box, level, kc->assembled, &level[1].dm));
    PetscCall(MatStencilTransferCreate(level->dm, level[1].dm, level->factor, level->first, &level->P));
    if (kc->assembled) PetscCall(KCycleAssembleOnDM(level));
  }
  CoarsenEnds(((Mat_Stencil *)level->A->data)->box, level, level[1].end);
  PetscCall(FillLevel(pc, level, jumps));
  PetscFunctionReturn(PETSC_SUCCESS);
}
