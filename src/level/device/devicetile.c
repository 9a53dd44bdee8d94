/*
  Levels on a device whose red-black sweeps are fused in tiles (tilecuda.cu), with residual and restriction after them,
  or interpolation before.

  A launch reads the iterate from one vector and writes it to another. These two are x and the vector of the residual,
  which tiles do not need: so no level takes more memory. After the sweeps on the way down the iterate may be in the
  second one, from where the way up brings it back to x.

  Tiles march where the grid gives each processor a march. On smaller ones blocks have parts of it (deviceparts.c), or
  each half sweep is a launch, where that is faster.
*/
#include <petsckcycle/private/devicelevelimpl.h>

/* The lines of the class that most lines share, as a box: its points between the ends of lines have coefficients that
   kernels have at hand. Empty where other lines lie among them */
static void FindMiddle(const KCycleStencil *st, KCycleCudaTile *tile)
{
  const PetscInt    *n    = st->box->n;
  const KCycleClass *most = NULL;
  PetscInt           set = -1, low[2] = {n[1], n[2]}, high[2] = {0, 0}, lines = 0;

  for (PetscInt c = 0; c < st->nclasses; c++) {
    const KCycleClass *next = KCycleClassConstant(st, c);

    if (!next || (most && next->uses <= most->uses)) continue;
    most = next;
    set  = c;
  }
  for (PetscInt line = 0; line < st->box->nlines; line++) {
    const PetscInt at[2] = {line % n[1], line / n[1]};

    if (!most || KCycleClassOfLine(st, line) != set) continue;
    lines++;
    for (int d = 0; d < 2; d++) {
      low[d]  = PetscMin(low[d], at[d]);
      high[d] = PetscMax(high[d], at[d] + 1);
    }
  }
  if (!lines || lines != (high[0] - low[0]) * (high[1] - low[1])) return;
  tile->low[0]  = most->a;
  tile->high[0] = most->b;
  for (int d = 0; d < 2; d++) {
    tile->low[d + 1]  = low[d];
    tile->high[d + 1] = high[d];
  }
  for (int o = 0; o < st->shape.ncoeffs; o++) tile->c[o] = most->middle[o];
  tile->inverse = most->inverse;
}

/* The sets of fine lines next to coarse line (j, k), in the order of weights; -1: there is none. False where one is
   outside the grid, or has no weights */
static PetscBool SetsOf(const KCycleTransfer *tr, PetscInt j, PetscInt k, PetscInt set[9])
{
  const PetscInt wide[2] = {tr->factor[1] - 1, tr->factor[2] - 1};

  for (PetscInt kk = -1; kk <= 1; kk++) {
    for (PetscInt jj = -1; jj <= 1; jj++) {
      const PetscInt fj = tr->factor[1] * j + tr->shift[1] + jj, fk = tr->factor[2] * k + tr->shift[2] + kk;
      PetscInt      *to = &set[jj + 1 + 3 * (kk + 1)];

      *to = -1;
      if (PetscAbs(jj) > wide[0] || PetscAbs(kk) > wide[1]) continue;
      if (fj < 0 || fj >= tr->fine->n[1] || fk < 0 || fk >= tr->fine->n[2]) return PETSC_FALSE;
      *to = KCycleTransferSets(tr, KCycleBoxExtended(tr->fine, fj, fk))[(jj < 0 ? 1 : 0) + (kk < 0 ? (jj ? 2 : 1) : 0)];
      if (*to < 0) return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}

/* Does coarse line (j, k) have the same sets? */
static PetscBool HasSets(const KCycleTransfer *tr, PetscInt j, PetscInt k, const PetscInt set[9])
{
  PetscInt  own[9];
  PetscBool same = SetsOf(tr, j, k, own);

  for (int o = 0; o < 9 && same; o++) same = (PetscBool)(own[o] == set[o]);
  return same;
}

/* The weights of fine points next to coarse point c. False where one is outside the grid */
static PetscBool WeightsOf(const KCycleTransfer *tr, PetscInt c, const PetscInt set[9], KCScalar weights[27])
{
  const PetscInt n = tr->coarse->n[0], i = tr->factor[0] * c + tr->shift[0], wide = tr->factor[0] - 1;

  if (c < 0 || c >= n || i - wide < 0 || i + wide >= tr->fine->n[0]) return PETSC_FALSE;
  for (int o = 0; o < 9; o++) {
    const KCScalar *w = KCycleTransferWeights(tr, set[o]);

    weights[3 * o]     = w && wide ? KCycleWeightsRight(w, n)[c - 1] : (KCScalar)0.0;
    weights[3 * o + 1] = w ? KCycleWeightsSame(w)[c] : (KCScalar)0.0;
    weights[3 * o + 2] = w && wide ? KCycleWeightsLeft(w, n)[c] : (KCScalar)0.0;
  }
  return PETSC_TRUE;
}

static PetscBool HasWeights(const KCycleTransfer *tr, PetscInt c, const PetscInt set[9], const KCScalar weights[27])
{
  KCScalar  own[27];
  PetscBool same = WeightsOf(tr, c, set, own);

  for (int o = 0; o < 27 && same; o++) same = (PetscBool)(own[o] == weights[o]);
  return same;
}

static PetscBool PlaneHasSets(const KCycleTransfer *tr, const KCycleCudaTile *tile, PetscInt k, const PetscInt set[9])
{
  PetscBool same = (PetscBool)(k >= 0 && k < tr->coarse->n[2]);

  for (PetscInt j = tile->from[1]; j < tile->end[1] && same; j++) same = HasSets(tr, j, k, set);
  return same;
}

/* The weights of the coarse point in the middle, and a box around it of those that have the same ones, which may be
   empty */
static void FindWeights(const KCycleTransfer *tr, KCycleCudaTile *tile)
{
  PetscInt set[9];

  for (int d = 0; d < 3; d++) tile->from[d] = tile->end[d] = tr->coarse->n[d] / 2;
  if (!SetsOf(tr, tile->from[1], tile->from[2], set) || !WeightsOf(tr, tile->from[0], set, tile->weights)) return;
  for (int d = 0; d < 3; d++) tile->end[d]++;
  while (HasWeights(tr, tile->from[0] - 1, set, tile->weights)) tile->from[0]--;
  while (HasWeights(tr, tile->end[0], set, tile->weights)) tile->end[0]++;
  while (tile->from[1] > 0 && HasSets(tr, tile->from[1] - 1, tile->from[2], set)) tile->from[1]--;
  while (tile->end[1] < tr->coarse->n[1] && HasSets(tr, tile->end[1], tile->from[2], set)) tile->end[1]++;
  while (PlaneHasSets(tr, tile, tile->from[2] - 1, set)) tile->from[2]--;
  while (PlaneHasSets(tr, tile, tile->end[2], set)) tile->end[2]++;
}

/* Stars in two or three dimensions, whose lines share their coefficients; one process, and nothing wraps around */
static PetscBool Fits(const KCycleLevelData *level)
{
  const KCycleStencil *st = level->st;

  if (!level->tiled || !level->tr || st->box->dim < 2 || st->shape.box || KCycleStencilHasBlocks(st) ||
      (st->shape.ncoeffs != 7 && st->box->n[2] > 1) || KCycleBoxTalks(st->box) || KCycleBoxTalks(level->tr->coarse))
    return PETSC_FALSE;
  return (PetscBool)(level->smoother[0]->kind == KCYCLE_SWEEPS_REDBLACK &&
                     level->smoother[1]->kind == KCYCLE_SWEEPS_REDBLACK);
}

/* NULL where each half sweep is its own kernel */
PetscErrorCode KCycleDeviceTileCreate(const KCycleLevelData *level, const KCycleDeviceStencil *st,
                                      const KCycleCudaTransfer *tr, KCycleDeviceTile **tile)
{
  KCycleDeviceTile *t;
  PetscInt          blocks;

  PetscFunctionBegin;
  *tile = NULL;
  if (!Fits(level)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&t));
  *tile      = t;
  t->tile.st = st->st;
  t->tile.tr = *tr;
  FindMiddle(level->st, &t->tile);
  FindWeights(level->tr, &t->tile);
  PetscCallCUDA(KCycleCudaTilePrepare(&t->tile, &t->most, &blocks));
  t->marches = (PetscBool)(blocks >= t->tile.limits.processors);
  if (!t->marches) PetscCall(KCycleDevicePartsCreate(t, &t->most));
  if (!t->most) PetscCall(PetscFree(*tile));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The colour of half sweep number i of all */
static PetscInt ColourOf(const KCycleSweeps *sweeps, PetscInt i)
{
  if (sweeps->order == PC_RELAX_ORDER_SYMMETRIC) return (i + i / 2) & 1;
  return (i + (KCycleSweepsBackward(sweeps) ? 1 : 0)) & 1;
}

/* Half sweeps from number first on, from the vector that the iterate is in to the other one */
static PetscErrorCode Launch(KCycleDeviceTile *t, const KCycleLevelData *level, const KCycleSweeps *sweeps,
                             PetscInt first, PetscBool zeros)
{
  KCycleCudaTile      *tile = &t->tile;
  const KCycleTileKind kind = {tile->nhalf, zeros, (PetscBool)(tile->coarse != NULL)};

  PetscFunctionBegin;
  tile->x       = zeros ? NULL : t->away ? level->r : level->x;
  tile->y       = t->away ? level->x : level->r;
  tile->b       = level->b;
  tile->colours = 0;
  for (PetscInt i = 0; i < tile->nhalf; i++) tile->colours |= ColourOf(sweeps, first + i) << i;
  if (t->marches) KCycleCallKernel(KCycleCudaTileSweeps, tile);
  else KCycleCallKernel(KCycleCudaPartSweeps, tile, KCycleDevicePartsOf(t, &kind));
  t->away = (PetscBool)!t->away;
  PetscCall(PetscLogGpuFlops((tile->nhalf * (level->st->shape.ncoeffs + 1.5) +
                              (tile->coarse ? 2.0 * level->st->shape.ncoeffs + 5 : 0) + (tile->e ? 4.0 : 0)) *
                             level->st->box->npoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void SetSmoother(KCycleDeviceTile *t, const KCycleSmoother *s)
{
  const KCycleBox *box = s->st->box;

  t->tile.w = (KCScalar)s->weight;
  for (PetscInt d = 0; d < 3; d++) t->tile.parity[d] = d < box->dim ? (box->start[d] + s->origin[d]) & 1 : 0;
}

/* The iterate comes to x, if it is elsewhere */
PetscErrorCode KCycleDeviceTileSettle(KCycleDeviceTile *t, const KCycleLevelData *level)
{
  PetscFunctionBegin;
  if (!t || !t->away) PetscFunctionReturn(PETSC_SUCCESS);
  t->away = PETSC_FALSE;
  KCycleCallKernel(KCycleCudaMove, level->st->box->npoints, NULL, level->r, NULL, level->x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- sweeps(x), coarse b <- R (b - A x), where there is a sweep. The last launch restricts: it has what is left of
   half sweeps after whole launches */
PetscErrorCode KCycleDeviceTileDown(KCycleDeviceTile *t, const KCycleLevelData *level, int which,
                                    const KCycleSweeps *sweeps)
{
  const PetscInt all = 2 * KCycleSweepsTurns(sweeps);

  PetscFunctionBegin;
  SetSmoother(t, level->smoother[which]);
  t->away   = PETSC_FALSE;
  t->tile.e = NULL;
  for (PetscInt done = 0; done < all; done += t->tile.nhalf) {
    t->tile.nhalf  = PetscMin(all - done, t->most);
    t->tile.coarse = done + t->tile.nhalf == all ? level[-1].b : NULL;
    PetscCall(Launch(t, level, sweeps, done, (PetscBool)(!done && sweeps->zeroguess)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- sweeps(x + P coarse x). An odd number of launches begins in the residual's vector, and all end in x */
PetscErrorCode KCycleDeviceTileUp(KCycleDeviceTile *t, const KCycleLevelData *level, int which,
                                  const KCycleSweeps *sweeps)
{
  const PetscInt  all = 2 * KCycleSweepsTurns(sweeps), rest = all % t->most;
  const PetscBool away = (PetscBool)((all + t->most - 1) / t->most % 2);

  PetscFunctionBegin;
  SetSmoother(t, level->smoother[which]);
  t->tile.coarse = NULL;
  if (t->away && !away) PetscCall(KCycleDeviceTileSettle(t, level));
  else if (away && !t->away) {
    KCycleCallKernel(KCycleCudaMove, level->st->box->npoints, NULL, level->x, NULL, level->r);
    t->away = PETSC_TRUE;
  }
  for (PetscInt done = 0; done < all; done += t->tile.nhalf) {
    t->tile.nhalf = !done && rest ? rest : t->most;
    t->tile.e     = done ? NULL : level[-1].x;
    PetscCall(Launch(t, level, sweeps, done, PETSC_FALSE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
