/*
  How a structured grid is coarsened: which directions, which points, which interpolation.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/relaximpl.h>

/* The coefficients of one point: couplings with those before and ahead in each direction, whatever their position
   across, and the row sum */
typedef struct {
  PetscReal c[3][2], sum, diagonal;
} Point;

static void PointRead(const KCycleShape *shape, const KCycleLine *l, PetscInt i, Point *p)
{
  memset(p, 0, sizeof(*p));
  for (int o = 0; o < shape->ncoeffs; o++) {
    const int       q = shape->line[o], to[3] = {shape->dx[o], shape->dy[q], shape->dz[q]};
    const PetscReal v = PetscRealPart(KCycleLineCoefficient(l, o, i));

    p->sum += v;
    for (int d = 0; d < 3; d++) {
      if (to[d]) p->c[d][to[d] > 0] -= v;
    }
    if (o == shape->ncoeffs / 2) p->diagonal = v;
  }
  for (int d = 0; d < 6; d++) p->c[d / 2][d % 2] = PetscAbsReal(p->c[d / 2][d % 2]);
}

/* What looking at boundaries needs: row sums of neighbours' points are known where a process owns one and not the next
   point */
typedef struct {
  const KCycleStencil *st;
  PetscScalar         *halo;
  PetscInt             last; /* line whose coefficients were needed last for a row sum */
  KCycleLine           line;
} Look;

/* The sum of the row of a point, which this process owns or a neighbour */
static PetscReal RowSum(Look *look, const PetscInt at[])
{
  const KCycleBox *box = look->st->box;
  const PetscInt   i = at[0] - box->start[0], j = at[1] - box->start[1], k = at[2] - box->start[2],
                 e = KCycleBoxExtended(box, j, k);
  PetscReal sum    = 0;

  if (i < 0) return PetscRealPart(look->halo[box->left + e]);
  if (i >= box->n[0]) return PetscRealPart(look->halo[box->right + e]);
  if (box->offset[e] >= 0) return PetscRealPart(look->halo[box->offset[e] + i]);
  if (look->last != e) KCycleLineCoefficients(look->st, j, k, &look->line);
  look->last = e;
  for (int o = 0; o < look->st->shape.ncoeffs; o++) sum += PetscRealPart(KCycleLineCoefficient(&look->line, o, i));
  return sum;
}

/* A point at a boundary. By how much its row sum exceeds that of the next point: what other boundaries and
   reactions add is there too */
static void LookAtPoint(Look *look, const Point *p, const PetscInt at[], KCycleBoundaryFacts facts[])
{
  const KCycleBox *box        = look->st->box;
  const PetscReal  sign       = p->diagonal < 0 ? -1 : 1;
  PetscBool        coupled    = PETSC_FALSE;
  PetscInt         boundaries = 0, lacking = 0; /* directions in which the point has one neighbour */

  for (PetscInt d = 0; d < box->dim; d++) {
    boundaries += !box->periodic[d] && box->size[d] > 2 && (at[d] == 0 || at[d] == box->size[d] - 1);
    coupled = (PetscBool)(coupled || p->c[d][0] > 0 || p->c[d][1] > 0);
    lacking += box->size[d] > 2 && (p->c[d][0] > 0) != (p->c[d][1] > 0);
  }
  if (boundaries > 1 || !coupled) return;
  for (PetscInt d = 0; d < box->dim; d++) {
    const int near = lacking > (box->size[d] > 2);

    for (int side = 0; side < 2; side++) {
      PetscInt  next[3] = {at[0], at[1], at[2]};
      PetscReal excess;

      if (box->periodic[d] || at[d] != (side ? box->size[d] - 1 : 0)) continue;
      next[d] += side ? -1 : 1;
      facts[d].coupled[side] += 1;
      excess = sign * (p->sum - (box->size[d] > 2 ? RowSum(look, next) : 0));
      facts[d].excess[side][near] += excess;
      facts[d].inward[side][near] += p->c[d][1 - side];
    }
  }
}

/* Row sums next to the box, if any process needs them: one that has a single point at a boundary */
static PetscErrorCode LookCreate(Mat A, Look *look)
{
  const KCycleBox   *box;
  PetscBool          thin = PETSC_FALSE;
  Vec                ones, sums;
  const PetscScalar *own;

  PetscFunctionBegin;
  look->st   = KCycleStencilOf(A);
  look->halo = NULL;
  look->last = -1;
  box        = look->st->box;
  for (PetscInt d = 0; d < box->dim; d++) {
    const PetscInt *range = box->range[d], last = box->nproc[d] - 1;

    thin = (PetscBool)(thin ||
                       (!box->periodic[d] && last && (range[1] - range[0] == 1 || range[last + 1] - range[last] == 1)));
  }
  if (!thin) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(A, &ones, &sums));
  PetscCall(VecSet(ones, 1));
  PetscCall(MatMult(A, ones, sums));
  PetscCall(VecGetArrayRead(sums, &own));
  PetscCall(KCycleBoxHaloCreate(box, &look->halo));
  PetscCall(KCycleBoxExchange(box, PETSC_FALSE, own, look->halo));
  PetscCall(VecRestoreArrayRead(sums, &own));
  PetscCall(VecDestroy(&ones));
  PetscCall(VecDestroy(&sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The end points of this number of lines later are prefetched */
#define LINES_AHEAD 4

/* The points of a line at boundaries: of an inner one, not at a boundary in y or z, the first and the last */
static void LookAtLine(Look *look, PetscInt line, PetscBool inner, KCycleBoundaryFacts facts[])
{
  const KCycleBox *box   = look->st->box;
  const PetscInt   step  = inner ? PetscMax(box->n[0] - 1, 1) : 1;
  PetscInt         at[3] = {0, line % box->n[1] + box->start[1], line / box->n[1] + box->start[2]};
  KCycleLine       l;
  Point            p;

  KCycleLineCoefficients(look->st, line % box->n[1], line / box->n[1], &l);
  if (KCycleClassOfLine(look->st, line) < 0) {
    const PetscScalar *next  = l.end[1] + look->st->shape.ncoeffs,
                      *first = l.c[look->st->half ? look->st->shape.ncoeffs / 2 : 0];

    KCycleFetch(2 * look->st->shape.ncoeffs, l.end[0] + LINES_AHEAD * (next - first));
  }
  for (PetscInt i = 0; i < box->n[0]; i += step) {
    PointRead(&look->st->shape, &l, i, &p);
    at[0] = i + box->start[0];
    LookAtPoint(look, &p, at, facts);
  }
}

/* What is found does not depend on how lines are stored. An inner line that has the coefficients of the last one has
   the same boundaries, if the points next to these are on it */
static PetscErrorCode LookAtBoundaries(Mat A, KCycleBoundaryFacts facts[])
{
  const KCycleStencil *st     = KCycleStencilOf(A);
  const KCycleBox     *box    = st->box;
  const PetscInt       nreals = (PetscInt)(3 * sizeof(*facts) / sizeof(PetscReal));
  PetscInt             last   = -1;
  KCycleBoundaryFacts  mine[3], now[3];
  Look                 look;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(mine, sizeof(mine)));
  PetscCall(LookCreate(A, &look));
  for (PetscInt line = 0; line < box->nlines; line++) {
    const PetscInt at[3] = {0, line % box->n[1] + box->start[1], line / box->n[1] + box->start[2]};
    PetscBool      inner = PETSC_TRUE;

    for (PetscInt d = 1; d < box->dim; d++) inner = (PetscBool)(inner && at[d] > 0 && at[d] < box->size[d] - 1);
    if (!inner || KCycleClassOfLine(st, line) < 0 || KCycleClassOfLine(st, line) != last) {
      PetscCall(PetscMemzero(now, sizeof(now)));
      LookAtLine(&look, line, inner, now);
    }
    last = inner && box->n[0] > 1 ? KCycleClassOfLine(st, line) : -1;
    for (PetscInt i = 0; i < nreals; i++) ((PetscReal *)mine)[i] += ((PetscReal *)now)[i];
  }
  PetscCall(PetscFree(look.halo));
  PetscCallMPI(MPI_Allreduce(mine, facts, (int)nreals, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does every process own a point that is kept? */
static PetscBool ProcessesKeepPoints(const KCycleBox *box, PetscInt d, PetscInt origin)
{
  for (PetscInt p = 0; p < box->nproc[d]; p++) {
    const PetscInt low = box->range[d][p], high = box->range[d][p + 1];

    if ((high - origin + 1) / 2 <= (low - origin + 1) / 2) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* The boundaries of a coarser grid are the same, but that stored points may have been left out */
static void CoarsenBoundaries(const KCycleBox *box, const KCycleGridLevel *level, KCycleBoundary boundary[][2])
{
  for (PetscInt d = 0; d < box->dim; d++) {
    const PetscBool kept[2] = {(PetscBool)(level->origin[d] == 0),
                               (PetscBool)((box->size[d] - 1 - level->origin[d]) % level->factor[d] == 0)};

    for (int side = 0; side < 2; side++)
      boundary[d][side] = level->boundary[d][side] == KCYCLE_BOUNDARY_STORED && !kept[side] ? KCYCLE_BOUNDARY_ELIMINATED
                                                                                            : level->boundary[d][side];
  }
}

/* No coarser grid is of use where processes keep a direction from being coarsened that should be: smoothers see
   nothing of errors along it */
static PetscErrorCode ChooseDirections(PC pc, const KCycleBox *box, const KCycleScan *scan, KCycleGridLevel *level)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscReal  mean[3];
  PetscBool  automatic, couples[3], cut[3];
  KCycleWas  was[3];

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(kc->semicoarsen, "auto", &automatic));
  for (PetscInt d = 0; d < 3; d++) {
    couples[d] = (PetscBool)(d < box->dim && box->size[d] > 1 && scan->count[d] > 0);
    mean[d]    = scan->count[d] > 0 ? scan->sum[d] / scan->count[d] : 0;
    cut[d]     = KCyclePolicyCoarsensWeak(scan, kc->cutlines, (int)d);
    was[d]     = KCycleWasKnown((PetscBool)(level->P != NULL), (PetscBool)(level->factor[d] > 1));
  }
  KCyclePolicyDirections(mean, couples, cut, automatic ? NULL : kc->semicoarsen, was, level->factor);
  level->blocked = PETSC_FALSE;
  for (PetscInt d = 0; d < 3; d++) {
    if (level->factor[d] == 1) level->origin[d] = 0;
    else if (!ProcessesKeepPoints(box, d, level->origin[d])) level->blocked = PETSC_TRUE;
  }
  if (level->blocked) level->factor[0] = level->factor[1] = level->factor[2] = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Does a coarse grid of every second point cover the domain evenly, as a program takes it that assembles operators on
  any grid? Between Neumann boundaries an even number of points are cells, taken in pairs, and an odd number begins and
  ends with points on the boundary.
*/
static PetscBool CoversDomain(const KCycleBox *box, const KCycleGridLevel *level, PetscInt d)
{
  const KCycleBoundary low = level->boundary[d][0], high = level->boundary[d][1];
  const PetscBool      odd = (PetscBool)(box->size[d] % 2 == 1),
                  open     = (PetscBool)(low == KCYCLE_BOUNDARY_ELIMINATED || high == KCYCLE_BOUNDARY_ELIMINATED);

  if (box->periodic[d]) return (PetscBool)!odd;
  if (low == high) return (PetscBool)(odd || low == KCYCLE_BOUNDARY_NEUMANN);
  if (low == KCYCLE_BOUNDARY_NEUMANN || high == KCYCLE_BOUNDARY_NEUMANN) return (PetscBool)(odd && !open);
  return (PetscBool)!odd;
}

/* Of a level that is to be coarsened; why is left alone if it can be */
static PetscErrorCode CheckAssembled(const KCycleBox *box, const KCycleGridLevel *level, size_t len, char why[])
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dim; d++) {
    if (level->factor[d] == 1 || CoversDomain(box, level, d)) continue;
    PetscCall(PetscSNPrintf(
        why, len,
        "-pc_mg_galerkin none has the program assemble coarse operators, and every second of %" PetscInt_FMT
        " points in %c makes no even grid for them: take 2^k+1 points (2^k - 1 without the boundary points, 2^k "
        "cells), or leave the option out",
        box->size[d], (int)('x' + d)));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The grid of the points that are kept; each process keeps its own */
static PetscErrorCode CoarseDM(DM dm, const KCycleBox *box, const KCycleGridLevel *level, PetscBool assembled,
                               DM *coarse)
{
  KCycleBox      kept;
  DMBoundaryType boundary[3];

  PetscFunctionBegin;
  PetscCall(KCycleBoxCoarsen(box, level->factor, level->origin, PETSC_FALSE, &kept));
  kept.star = (PetscBool)(assembled && box->star); /* products of stars are boxes */
  PetscCall(KCycleBoxCreateDM(PetscObjectComm((PetscObject)dm), &kept, coarse));
  PetscCall(KCycleBoxDestroy(&kept));
  PetscCall(DMDAGetInfo(dm, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &boundary[0], &boundary[1],
                        &boundary[2], NULL));
  PetscCall(DMDASetBoundaryType(*coarse, boundary[0], boundary[1], boundary[2]));
  PetscCall(DMSetUp(*coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do inactive points cut lines of the finest grid? Then levels relax lines and are coarsened in more directions: not
   where anisotropy is off, or the user chose a smoother */
static PetscErrorCode FindBroken(PC pc, const KCycleScan *scan)
{
  const char *const options[] = {"-mg_levels_pc_type", "-mg_levels_pc_relax_type"};
  PC_KCycle        *kc        = KCycleOf(pc);
  PetscBool         chosen;

  PetscFunctionBegin;
  if (kc->finer.exists) kc->cutlines = kc->finer.cutlines;
  else {
    PetscCall(KCycleHasOption((PetscObject)pc, PETSC_STATIC_ARRAY_LENGTH(options), options, &chosen));
    kc->cutlines = (PetscBool)(kc->anisotropy != PC_KCYCLE_ANISOTROPY_OFF && !chosen && KCyclePolicyCutsLines(scan));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What there is to know of a level before it is coarsened: boundaries, the points to keep, whether coefficients jump,
   or there is a wind */
static PetscErrorCode LookAtLevel(PC pc, KCycleGridLevel *level)
{
  PC_KCycle          *kc    = KCycleOf(pc);
  const KCycleBox    *box   = KCycleStencilOf(level->A)->box;
  const PetscBool     known = (PetscBool)(level->P != NULL);
  const KCycleScan   *scan;
  KCycleBoundaryFacts facts[3];

  PetscFunctionBegin;
  /* whether there is convection is decided on the finest level; where there is none drift is not needed */
  if ((level == kc->grids && !kc->finer.exists) || kc->convects) PetscCall(MatStencilScanAsymmetry(level->A, &scan));
  else PetscCall(MatStencilScan(level->A, &scan));
  if (level == kc->grids)
    kc->convects =
        kc->finer.exists ? kc->finer.convects : KCyclePolicyConvects(scan, KCycleWasKnown(known, kc->convects));
  if (level == kc->grids) PetscCall(FindBroken(pc, scan));
  level->jumps = (PetscBool)(kc->convects || KCyclePolicyJumps(scan, KCycleWasKnown(known, level->jumps)));
  if (level == kc->grids) {
    if (kc->finer.exists) PetscCall(PetscArraycpy(&level->boundary[0][0], &kc->finer.boundary[0][0], 6));
    else {
      PetscCall(LookAtBoundaries(level->A, facts));
      for (PetscInt d = 0; d < box->dim; d++) {
        for (int side = 0; side < 2; side++) {
          const PetscBool closed = (PetscBool)(level->boundary[d][side] == KCYCLE_BOUNDARY_NEUMANN);

          level->boundary[d][side] = KCyclePolicyBoundary(&facts[d], side, kc->grid, KCycleWasKnown(known, closed));
        }
      }
    }
  }
  for (PetscInt d = 0; d < 3; d++)
    level->origin[d] = d < box->dim && !box->periodic[d] && level->boundary[d][0] == KCYCLE_BOUNDARY_ELIMINATED ? 1 : 0;
  PetscCall(ChooseDirections(pc, box, scan, level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why the program cannot assemble the first coarser operator, or nothing. Where this is known of the finest level
   alone coarsening goes as far as it can */
PetscErrorCode KCycleStructureCheckAssembled(PC pc, size_t len, char why[])
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(LookAtLevel(pc, kc->grids));
  PetscCall(CheckAssembled(KCycleStencilOf(kc->grids[0].A)->box, kc->grids, len, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is a level that is to be coarsened agglomerated? The first one is given as it is */
static PetscErrorCode ChooseGathers(PC pc, KCycleGridLevel *level)
{
  PC_KCycle  *kc = KCycleOf(pc);
  PetscInt    rows;
  PetscMPIInt size;
  PetscBool   may;

  PetscFunctionBegin;
  level->gathers = KCYCLE_GATHERS_NOT;
  PetscCall(PCKCycleMayGather(pc, &may));
  if (!may) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(level->A, &rows, NULL));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  if (level->blocked) level->gathers = KCYCLE_GATHERS_EMPTY;
  else if (level != kc->grids && rows / size < kc->proc_eq_limit) level->gathers = KCYCLE_GATHERS_FEW;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is there to be a coarser level? On these processes, or on fewer of them */
static PetscErrorCode WantsCoarser(PC pc, KCycleGridLevel *level, PetscBool asked, PetscBool *wants)
{
  const KCycleBox *box      = KCycleStencilOf(level->A)->box;
  const PetscInt   ratio    = level->factor[0] * level->factor[1] * level->factor[2];
  char             why[256] = "";

  PetscFunctionBegin;
  if (KCycleOf(pc)->assembled) PetscCall(CheckAssembled(box, level, sizeof(why), why));
  *wants = (PetscBool)((asked || !KCyclePolicyIsCoarsest(box->size)) && (ratio > 1 || level->blocked) && !why[0]);
  level->gathers = KCYCLE_GATHERS_NOT;
  if (*wants) PetscCall(ChooseGathers(pc, level));
  if (ratio == 1 || level->gathers != KCYCLE_GATHERS_NOT) *wants = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The interpolation; and whether the coarser operator is a star with it */
static PetscErrorCode ChooseInterpolation(const PC_KCycle *kc, KCycleGridLevel *level,
                                          PCKCycleInterpolationType *chosen)
{
  PCKCycleInterpolationType interpolation = kc->interpolation;
  const KCycleScan         *scan;

  PetscFunctionBegin;
  if (interpolation == PC_KCYCLE_INTERPOLATION_AUTO)
    interpolation = level->jumps ? PC_KCYCLE_INTERPOLATION_OPERATOR : PC_KCYCLE_INTERPOLATION_LINEAR;
  *chosen = interpolation;
  PetscCall(MatStencilScan(level->A, &scan));
  level->star =
      (PetscBool)(!KCycleStencilOf(level->A)->shape.box &&
                  KCyclePolicyStar(scan, (PetscBool)(interpolation == PC_KCYCLE_INTERPOLATION_LINEAR), kc->convects,
                                   level->factor, KCycleWasKnown((PetscBool)(level->P != NULL), level->star)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Weights of the interpolation and the coarser operator */
static PetscErrorCode FillLevel(PC pc, KCycleGridLevel *level, PCKCycleInterpolationType interpolation)
{
  PC_KCycle       *kc  = KCycleOf(pc);
  const KCycleBox *box = KCycleStencilOf(level->A)->box;
  PetscBool        neumann[6];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < 3; d++) {
    for (int side = 0; side < 2; side++)
      neumann[2 * d + side] =
          (PetscBool)(d < box->dim && !box->periodic[d] && level->boundary[d][side] == KCYCLE_BOUNDARY_NEUMANN);
  }
  PetscCall(
      MatStencilCoarsen(level->A, interpolation, neumann, level->star, level->P, kc->assembled ? NULL : &level[1].A));
  if (kc->assembled) PetscCall(KCycleAssemble(pc, level));
  else PetscCall(KCycleStructurePinClosed(kc, level));
  if (!kc->assembled && kc->fmg.interpolation == PC_KCYCLE_FMG_CUBIC) PetscCall(KCycleStructureBalanceRows(level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Makes level + 1 from level: grid, interpolation, operator. coarser is false where the grid does not coarsen, or is
  small enough and no level was asked for. Where levels exist they keep their grids, and get new weights and values;
  changed is true, and nothing is done, where another grid would suit the values, or another shape of the coarser
  operator.
*/
PetscErrorCode KCycleStructureCoarsen(PC pc, KCycleGridLevel *level, PetscBool asked, PetscBool exists,
                                      PetscBool *coarser, PetscBool *changed)
{
  PC_KCycle                *kc     = KCycleOf(pc);
  KCycleGridLevel           before = *level;
  PCKCycleInterpolationType interpolation;

  PetscFunctionBegin;
  PetscCall(LookAtLevel(pc, level));
  PetscCall(WantsCoarser(pc, level, asked, coarser));
  PetscCall(ChooseInterpolation(kc, level, &interpolation));
  if (!*coarser) level->factor[0] = level->factor[1] = level->factor[2] = 1;
  *changed = (PetscBool)(exists && (*coarser != (PetscBool)(level->P != NULL) ||
                                    (level->gathers != KCYCLE_GATHERS_NOT) != (before.gathers != KCYCLE_GATHERS_NOT)));
  if (level->P && !kc->assembled && !MatStencilCoarseFits(level->A, level->P, level->star, level[1].A))
    *changed = PETSC_TRUE;
  for (PetscInt d = 0; d < 3; d++)
    *changed =
        (PetscBool)(*changed ||
                    (level->P && (level->factor[d] != before.factor[d] || level->origin[d] != before.origin[d])));
  if (!*coarser || *changed) PetscFunctionReturn(PETSC_SUCCESS);
  if (!level->P) {
    PetscCall(CoarseDM(level->dm, KCycleStencilOf(level->A)->box, level, kc->assembled, &level[1].dm));
    PetscCall(MatStencilTransferCreate(level->dm, level[1].dm, level->factor, level->origin, &level->P));
    if (kc->assembled) PetscCall(KCycleAssembleOnDM(level));
  }
  CoarsenBoundaries(KCycleStencilOf(level->A)->box, level, level[1].boundary);
  PetscCall(FillLevel(pc, level, interpolation));
  PetscFunctionReturn(PETSC_SUCCESS);
}
