/*
  What numbers of sweeps come to: the factor of a cycle, by local Fourier analysis, and its time, by the roofline. The
  one with which an error shrinks in the least time is the best.
*/
#include "kcycleimpl.h"

/* Numbers that a pass of a fused smoother moves, or its sweeps and what goes with them by itself; points of the level
   and of the coarser one. Where coefficients are constant no matrix is read */
static PetscReal PassWords(const KCycleLevelParts *parts, int which, PetscInt nu, PetscBool fused, PetscReal points,
                           PetscReal coarse)
{
  const KCycleSweeps sweeps = {nu, (PetscBool)!which, (PetscBool)which, parts->order[which], 0, NULL};
  const PetscReal    trips  = (PetscReal)KCycleSmootherTrips(parts->smoother[which], &sweeps, fused);
  PetscReal          words  = KCycleRooflineWords(trips, (PetscBool)which, points, coarse);

  if (!fused) words += (which ? 2 : 4) * points; /* residual and restriction, or interpolation and addition */
  return words;
}

static const KCycleRate *RateOf(const PC_KCycle *kc, const KCycleRoofline *roofline, const KCycleSmoother *s)
{
  return KCycleRooflineRate(roofline, s->name, (PetscBool)!kc->engine->inplace, s->st->box->dim, s->st->shape.ncoeffs);
}

/* Of a visit of a level, with this number of points on a process, and of the next level */
static PetscReal VisitSeconds(const PC_KCycle *kc, const KCycleRoofline *roofline, PetscInt number, const int nu[2],
                              PetscReal points, PetscReal coarse)
{
  const KCycleLevelParts *parts   = &kc->parts[number];
  const PetscInt          ncoeffs = parts->st->shape.ncoeffs;
  const PetscReal         bytes   = !kc->engine->inplace ? 4 : (PetscReal)sizeof(PetscScalar);
  const PetscReal         lines   = points * (PetscReal)parts->st->box->nproc[0] / (PetscReal)parts->st->box->size[0];
  PetscReal               seconds = roofline->visit;

  for (int i = 0; i < 2; i++) {
    const KCycleSmoother *s     = parts->smoother[i];
    const KCycleRate     *rate  = RateOf(kc, roofline, s);
    const PetscReal       times = (PetscReal)(nu[i] * s->trips * (parts->order[i] == PC_RELAX_ORDER_SYMMETRIC ? 2 : 1));
    const PetscReal       moved = bytes * PassWords(parts, i, nu[i], kc->level[number].fused, points, coarse) /
                            (4 * points * bytes > roofline->cache ? roofline->bandwidth : roofline->cached);

    seconds += KCycleRooflinePass(KCycleSpeedSeconds(&rate->sweep, times * KCycleSweepFlops(ncoeffs), points, lines) +
                                      KCycleSpeedSeconds(&rate->rest, KCycleRestFlops(ncoeffs) / 2, points, lines),
                                  moved, roofline->exposed[parts->st->box->dim > 2]);
  }
  return seconds;
}

/* Points of level l, the finest one being 0, of a process in the mean */
static PetscReal PointsOf(const PC_KCycle *kc, PetscInt l)
{
  const KCycleBox *box = kc->parts[kc->nlevels - 1 - l].st->box;

  return (PetscReal)KCycleBoxGlobalRows(box) / (PetscReal)(box->nproc[0] * box->nproc[1] * box->nproc[2]);
}

/* Sweeps of level l with nu on the finest one */
static PetscInt SweepsOf(const PC_KCycle *kc, PetscInt l, int which, PetscInt nu)
{
  const KCycleLevelParts *parts = &kc->parts[kc->nlevels - 1 - l];
  const PetscBool         lines = (PetscBool)(kc->grids[l].lines[0] != 0);
  const KCycleSweepFacts  facts = {parts->st->box->dim,
                                   parts->st->shape.ncoeffs,
                                   KCycleCoarseningRatio(kc, l),
                                   kc->revisits,
                                   lines,
                                   PETSC_FALSE,
                                   kc->cutlines,
                                   nu};

  return nu ? KCyclePolicySweeps(&facts) : parts->its[which];
}

static PetscReal CycleSeconds(const PC_KCycle *kc, const KCycleRoofline *roofline, PetscInt nu)
{
  const KCycleVisit cycle   = {kc->kappa, 1, PETSC_FALSE, PETSC_FALSE, PETSC_TRUE, PETSC_FALSE};
  const PetscInt    all     = kc->nlevels + kc->gathered.below;
  PetscReal         seconds = 0;

  for (PetscInt l = 0; l < all; l++) {
    const PetscInt number = kc->nlevels - 1 - l;
    const int its[2] = {number > 0 ? (int)SweepsOf(kc, l, 0, nu) : 0, number > 0 ? (int)SweepsOf(kc, l, 1, nu) : 0};
    PetscReal visits[2], each = roofline->visit;

    KCycleModelVisits(&cycle, all, l + 1, visits);
    if (number > 0) each = VisitSeconds(kc, roofline, number, its, PointsOf(kc, l), PointsOf(kc, l + 1));
    seconds += (visits[0] + visits[1]) * each;
  }
  return seconds;
}

/* How many iterations to KCYCLE_FORECAST. Krylov methods have the eigenvalues of a symmetric cycle between 1 - factor
   and 1, and need that many to a residual in the norm of these; KSPRICHARDSON is as fast as the mean of all errors */
PetscReal PCKCycleForecastIterations(const KCyclePredict *predict, const KCycleForecast *forecast)
{
  const PetscReal root = PetscSqrtReal(PetscMax(0, 1 - forecast->factor)), rate = (1 - root) / (1 + root);

  if (!(forecast->factor < 1)) return PETSC_MAX_REAL / 1e30;
  if (predict->richardson) return forecast->cycles;
  return PetscLogReal(KCYCLE_FORECAST) / PetscLogReal(PetscMax(rate, (PetscReal)1e-6));
}

/* Of an iteration */
PetscReal PCKCycleForecastSeconds(const KCyclePredict *predict, const KCycleForecast *forecast)
{
  return forecast->seconds + (predict->richardson ? 0 : predict->seconds[predict->kcg ? 1 : 0]);
}

/* The number of the one that takes the least time */
PetscInt PCKCycleForecastBest(const PC_KCycle *kc)
{
  const KCyclePredict *predict = &kc->predict;
  PetscReal            least   = PETSC_MAX_REAL;
  PetscInt             best    = 0;

  for (PetscInt i = 0; i < predict->n; i++) {
    const KCycleForecast *forecast = &predict->forecast[i];
    const PetscReal time = PCKCycleForecastIterations(predict, forecast) * PCKCycleForecastSeconds(predict, forecast);

    if (time < least) best = i;
    least = PetscMin(least, time);
  }
  return best;
}

/* Of no machine: what is chosen with it depends on ratios alone */
static PetscErrorCode Nominal(const PC_KCycle *kc, KCycleRoofline *roofline)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(roofline, sizeof(*roofline)));
  roofline->bandwidth = KCYCLE_ROOF_BANDWIDTH;
  roofline->cached    = KCYCLE_ROOF_CACHED;
  roofline->cache     = KCYCLE_ROOF_CACHE;
  roofline->visit     = KCYCLE_ROOF_VISIT;
  for (PetscInt l = 1; l < kc->nlevels; l++) {
    for (int i = 0; i < 2; i++) {
      const KCycleLevelParts *parts = &kc->parts[l];
      KCycleRate             *rate  = &roofline->rate[roofline->n];

      if (RateOf(kc, roofline, parts->smoother[i])) continue;
      PetscCall(PetscStrncpy(rate->smoother, parts->smoother[i]->name, sizeof(rate->smoother)));
      rate->single     = kc->predict.single;
      rate->dim        = parts->st->box->dim;
      rate->points     = parts->st->shape.ncoeffs;
      rate->sweep.rate = parts->smoother[i]->kind == KCYCLE_SWEEPS_ZEBRA ? KCYCLE_ROOF_LINES : KCYCLE_ROOF_PEAK;
      rate->rest.rate  = KCYCLE_ROOF_PEAK;
      roofline->n++;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Has the file what these levels need? */
static PetscErrorCode Has(const PC_KCycle *kc, const KCycleRoofline *roofline, size_t len, char why[])
{
  PetscFunctionBegin;
  for (PetscInt l = 1; l < kc->nlevels && !why[0]; l++) {
    for (int i = 0; i < 2; i++) {
      const KCycleLevelParts *parts = &kc->parts[l];

      if (RateOf(kc, roofline, parts->smoother[i])) continue;
      PetscCall(PetscSNPrintf(why, len, "the roofline has no rate of %s in %" PetscInt_FMT "D, %s precision",
                              parts->smoother[i]->name, parts->st->box->dim, kc->engine->name));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sweeps of level l that is analysed, which may be on fewer processes */
static int AnalysedSweeps(const PC_KCycle *kc, const KCycleFourier *f, int l, int which, PetscInt nu)
{
  KCycleSweepFacts facts = {f->dim, 0, 1, kc->revisits, PETSC_FALSE, PETSC_FALSE, kc->cutlines, nu};

  for (int o = 0; o < 27; o++) facts.ncoeffs += f->level[l].a[o] != 0;
  for (int i = 0; i < l; i++) facts.ratio *= f->level[i].factor[0] * f->level[i].factor[1] * f->level[i].factor[2];
  facts.lines = (PetscBool)(kc->grids[0].lines[0] && f->level[l].kind == KCYCLE_FOURIER_LINES);
  return nu ? (int)KCyclePolicySweeps(&facts) : f->level[l].nu[which];
}

/* One number of sweeps; 0: those that there are */
static PetscErrorCode Add(PC_KCycle *kc, const KCycleRoofline *roofline, PetscInt nu, size_t len, char why[])
{
  KCyclePredict  *predict  = &kc->predict;
  KCycleForecast *forecast = &predict->forecast[predict->n];
  KCycleFourier   f        = predict->analysed;
  PetscReal       most;
  PetscBool       sound;

  PetscFunctionBegin;
  for (int l = 0; l < f.nlevels - 1; l++) {
    for (int i = 0; i < 2; i++) f.level[l].nu[i] = AnalysedSweeps(kc, &predict->analysed, l, i, nu);
  }
  forecast->nu = f.level[0].nu[0];
  sound        = KCycleFourierFactor(&f, &forecast->factor);
  if (sound && forecast->factor < 1) {
    most  = PetscLogReal(KCYCLE_FORECAST) / PetscLogReal(PetscMax(forecast->factor, (PetscReal)1e-6)) + 2;
    sound = KCycleFourierCycles(&f, KCYCLE_FORECAST, (int)PetscMin(most, 1000), &forecast->cycles);
    if (most > 60) forecast->cycles = most - 2; /* no more are followed */
  }
  if (!sound) {
    PetscCall(PetscSNPrintf(why, len, "the analysis meets a singular operator"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  forecast->seconds = CycleSeconds(kc, roofline, nu);
  predict->n++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does one number more take less time, whoever iterates? */
static PetscBool GoesOn(PC_KCycle *kc)
{
  KCyclePredict  *predict = &kc->predict;
  const PetscBool was     = predict->richardson;
  PetscBool       goes    = PETSC_FALSE;

  for (int richardson = 0; richardson < 2; richardson++) {
    predict->richardson = richardson ? PETSC_TRUE : PETSC_FALSE;
    goes                = (PetscBool)(goes || PCKCycleForecastBest(kc) == predict->n - 1);
  }
  predict->richardson = was;
  return goes;
}

/* Of an iteration of KSPCG (0) or KSPKCG but for its preconditioner; if that is not known: of 16 words a point, or 8 */
static PetscReal KrylovSeconds(const PC_KCycle *kc, const KCycleRoofline *roofline, int which)
{
  const PetscReal points = PointsOf(kc, 0), bytes = (which ? 8 : 16) * points * (PetscReal)sizeof(PetscScalar);
  const PetscBool memory = (PetscBool)(bytes > roofline->cache);
  const PetscReal each   = roofline->krylov[kc->parts[kc->nlevels - 1].st->box->dim > 2][which][memory];

  if (each > 0) return each * points;
  return bytes / (memory ? roofline->bandwidth : roofline->cached);
}

/* Of the sweeps that there are, or, where they are to be chosen, of more and more until that takes longer. Factors that
   are known stay: only times are those of another precision then */
PetscErrorCode PCKCycleForecastMake(PC pc, PetscBool known)
{
  PC_KCycle      *kc       = KCycleOf(pc);
  KCycleRoofline *roofline = NULL;
  PetscBool       automatic;
  KCyclePredict  *predict = &kc->predict;

  PetscFunctionBegin;
  automatic       = (PetscBool)(predict->sweeps == PC_KCYCLE_SWEEPS_AUTO);
  predict->single = (PetscBool)!kc->engine->inplace;
  predict->timed  = (PetscBool)(predict->roofline && kc->at != KCYCLE_MEMORY_DEVICE);
  if (predict->timed) PetscCall(Has(kc, predict->roofline, sizeof(predict->why), predict->why));
  if (predict->why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&roofline));
  if (predict->timed) *roofline = *predict->roofline;
  else PetscCall(Nominal(kc, roofline));
  for (int i = 0; i < 2; i++) predict->seconds[i] = KrylovSeconds(kc, roofline, i);
  for (PetscInt i = 0; i < predict->n && known; i++)
    predict->forecast[i].seconds = CycleSeconds(kc, roofline, automatic ? predict->forecast[i].nu : 0);
  if (!known) predict->n = 0;
  for (PetscInt nu = 1; nu <= (automatic ? KCYCLE_FORECASTS : 1) && !known && !predict->why[0]; nu++) {
    PetscCall(Add(kc, roofline, automatic ? nu : 0, sizeof(predict->why), predict->why));
    if (!GoesOn(kc)) break;
  }
  PetscCall(PetscFree(roofline));
  PetscFunctionReturn(PETSC_SUCCESS);
}
