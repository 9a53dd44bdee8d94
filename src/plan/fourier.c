/*
  Local Fourier analysis, see fourierimpl.h. Wienands and Joppich, Practical Fourier Analysis for Multigrid Methods;
  Ghysels and Vanroose, Modeling the performance of geometric multigrid stencils, section 3.2.
*/
#include "fouriercell.h"

/* What is done with an error: one cycle, or its sweeps alone */
typedef struct {
  const KCycleFourier *f;
  const PetscReal     *phi;
  PetscBool            sweepsonly;
  Cell                *cells;
} Step;

static void Advance(const Step *step)
{
  Cell *cell = step->cells;

  if (!step->sweepsonly) KCycleFourierCycle(step->f, cell, 0, step->f->kappa);
  else {
    KCycleFourierSmooth(cell, step->f->dim, 0);
    KCycleFourierSmooth(cell, step->f->dim, 1);
    KCycleFourierFilter(step->f, step->phi, cell);
  }
}

static PetscReal Normalize(int n, Complex a[])
{
  PetscReal norm = 0;

  for (int i = 0; i < n; i++) norm += Square(a[i]);
  norm = PetscSqrtReal(norm);
  for (int i = 0; i < n && norm > 0; i++) a[i] = Scaled(1 / norm, a[i]);
  return norm;
}

/* The k-th root of |E^2k| / |E^k|, k = 2^(SQUARINGS - 1) */
#define SQUARINGS 11

static PetscReal RadiusOfMatrix(const Step *step)
{
  Cell     *cell = step->cells;
  const int n    = cell->n;
  Complex   a[SMALL * SMALL], square[SMALL * SMALL];
  PetscReal all = 0, last = 0, power = 1;

  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) {
      cell->u[i].re = i == j ? 1 : 0;
      cell->u[i].im = 0;
    }
    Advance(step);
    for (int i = 0; i < n; i++) a[i * n + j] = cell->u[i];
  }
  for (int s = 0;; s++) {
    const PetscReal norm = Normalize(n * n, a);

    if (!(norm > 0)) return 0;
    last = all;
    all += PetscLogReal(norm) / power; /* log |E^power| / power */
    if (s == SQUARINGS) break;
    power *= 2;
    for (int i = 0; i < n * n; i++) {
      Complex sum = {0, 0};

      for (int k = 0; k < n; k++) sum = Plus(sum, Times(a[i / n * n + k], a[k * n + i % n]));
      square[i] = sum;
    }
    for (int i = 0; i < n * n; i++) a[i] = square[i];
  }
  return PetscExpReal(2 * all - last);
}

/* Cycles after which the slowest error is left, and those that tell its factor */
#define BEFORE 8
#define BEHIND 8

static PetscReal RadiusByPowers(const Step *step)
{
  Cell     *cell      = step->cells;
  PetscReal logarithm = 0;

  for (int i = 0; i < cell->n; i++) { /* anything that has all of them */
    cell->u[i].re = PetscCosReal((PetscReal)(1 + 7 * i * i));
    cell->u[i].im = PetscSinReal((PetscReal)(2 + 5 * i * i));
  }
  for (int k = 0; k < BEFORE + BEHIND; k++) {
    PetscReal norm;

    Advance(step);
    norm = Normalize(cell->n, cell->u);
    if (!(norm > 0)) return 0;
    if (k >= BEFORE) logarithm += PetscLogReal(norm) / BEHIND;
  }
  return PetscExpReal(logarithm);
}

/* The cells at the frequency that has these numbers; false: singular */
static PetscBool CellsAt(const KCycleFourier *f, const int k[], PetscReal phi[3], Cell cells[])
{
  int m[3];

  (void)KCycleFourierSizes(f, m);
  for (int d = 0; d < 3; d++) phi[d] = d < f->dim ? f->step[d] * k[d] * m[d] : 0;
  return KCycleFourierCellsCreate(f, phi, cells);
}

/* -1: singular */
static PetscReal RadiusAt(const KCycleFourier *f, PetscBool sweepsonly, const int k[], Cell cells[])
{
  PetscReal phi[3];
  Step      step;

  if (!CellsAt(f, k, phi, cells)) return -1;
  for (int i = 0; i < cells[0].n; i++) cells[0].b[i].re = cells[0].b[i].im = 0;
  step.f          = f;
  step.phi        = phi;
  step.sweepsonly = sweepsonly;
  step.cells      = cells;
  return cells[0].n <= SMALL ? RadiusOfMatrix(&step) : RadiusByPowers(&step);
}

/* Is direction d one whose two sides are alike, on all levels? Then are frequencies of both signs */
static PetscBool IsEven(const KCycleFourier *f, int d)
{
  for (int l = 0; l < f->nlevels; l++) {
    for (int o = 0; o < 27; o++) {
      int       offset[3], other;
      PetscBool same;

      KCycleFourierOffset(o, offset);
      other = o - 2 * offset[d] * (d == 0 ? 1 : d == 1 ? 3 : 9);
      same =
          (PetscBool)(PetscAbsReal(f->level[l].a[o] - f->level[l].a[other]) <= 1e-9 * PetscAbsReal(f->level[l].a[13]));
      if (!same || (l < f->nlevels - 1 && PetscAbsReal(f->level[l].p[o] - f->level[l].p[other]) > 1e-9))
        return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}

/* The frequencies of a cell, -most to most without 0, or 1 to most where both signs are alike: those of half of it in
   one direction */
typedef struct {
  int       most[3], samples[3];
  PetscBool both[3];
} Range;

static void FindRange(const KCycleFourier *f, Range *range)
{
  int m[3];

  (void)KCycleFourierSizes(f, m);
  for (int d = 0; d < 3; d++) {
    range->most[d]    = d < f->dim ? PetscMax(1, (int)(PETSC_PI / (m[d] * f->step[d]) - 1e-6)) : 0;
    range->both[d]    = (PetscBool)(d < f->dim - 1 && !IsEven(f, d));
    range->samples[d] = d < f->dim ? PetscMin(f->samples, range->most[d]) * (range->both[d] ? 2 : 1) : 1;
  }
}

/* Sample number j: from the lowest frequency to the highest one */
static int Sampled(const Range *range, int d, int j)
{
  const int n = range->both[d] ? range->samples[d] / 2 : range->samples[d], sign = range->both[d] && j >= n ? -1 : 1;
  const int here = n ? j % n : 0;

  if (!range->most[d]) return 0;
  return sign * (n == 1 ? 1 : 1 + (int)((PetscReal)here * (PetscReal)(range->most[d] - 1) / (PetscReal)(n - 1) + 0.5));
}

/* Number i of all samples; false: there are no more */
static PetscBool Sample(const Range *range, int i, int k[3])
{
  const int *n = range->samples;

  k[0] = Sampled(range, 0, i % n[0]);
  k[1] = Sampled(range, 1, i / n[0] % n[1]);
  k[2] = Sampled(range, 2, i / n[0] / n[1]);
  return (PetscBool)(i < n[0] * n[1] * n[2]);
}

/* Largest at a neighbour at this distance? */
static PetscBool Climb(const KCycleFourier *f, PetscBool sweepsonly, const Range *range, int distance, int k[],
                       PetscReal *best, Cell cells[])
{
  const int start[3] = {k[0], k[1], k[2]};
  PetscBool better   = PETSC_FALSE;

  for (int d = 0; d < f->dim; d++) {
    for (int s = -1; s <= 1; s += 2) {
      int       to[3] = {start[0], start[1], start[2]};
      PetscReal here;

      to[d] += s * distance;
      if (to[d] * (start[d] > 0 ? 1 : -1) < 1 || PetscAbsInt(to[d]) > range->most[d]) continue;
      here = RadiusAt(f, sweepsonly, to, cells);
      if (here <= *best) continue;
      *best  = here;
      better = PETSC_TRUE;
      for (int e = 0; e < 3; e++) k[e] = to[e];
    }
  }
  return better;
}

static PetscBool Largest(const KCycleFourier *f, PetscBool sweepsonly, PetscReal *factor)
{
  Range     range;
  int       k[3] = {0, 0, 0}, at[3], m[3], distance = 1;
  Cell     *cells = NULL;
  PetscReal best  = -1;

  if (f->nlevels < 2 || f->nlevels > KCYCLE_FOURIER_LEVELS || !KCycleFourierSizes(f, m)) return PETSC_FALSE;
  FindRange(f, &range);
  if (PetscMalloc1(f->nlevels, &cells)) return PETSC_FALSE;
  for (int i = 0; Sample(&range, i, at); i++) {
    const PetscReal here = RadiusAt(f, sweepsonly, at, cells);

    if (here <= best) continue;
    best = here;
    for (int d = 0; d < 3; d++) k[d] = at[d];
  }
  for (int d = 0; d < f->dim; d++) distance = PetscMax(distance, range.most[d] / PetscMax(1, 2 * (f->samples - 1)));
  for (int turn = 0; turn < 64 && distance && best >= 0; turn++) {
    if (!Climb(f, sweepsonly, &range, distance, k, &best, cells)) distance /= 2;
  }
  (void)PetscFree(cells);
  *factor = best;
  return (PetscBool)(best >= 0);
}

#define MOST_CYCLES 64

/* Adds up the squares of what cycles leave of a residual at a frequency: r <- r - A M r, M being a cycle from zero */
static PetscBool AddResiduals(const KCycleFourier *f, const int k[], int most, Cell cells[], PetscReal sums[])
{
  Cell     *cell = cells;
  PetscReal phi[3];

  if (!CellsAt(f, k, phi, cells)) return PETSC_FALSE;
  for (int i = 0; i < cell->n; i++) {
    cell->b[i].re = PetscCosReal((PetscReal)(1 + 7 * i * i + 3 * k[0] + 5 * k[1] + 11 * k[2]));
    cell->b[i].im = PetscSinReal((PetscReal)(1 + 7 * i * i + 3 * k[0] + 5 * k[1] + 11 * k[2]));
  }
  for (int c = 0; c <= most; c++) {
    for (int i = 0; i < cell->n; i++) sums[c] += Square(cell->b[i]);
    for (int i = 0; i < cell->n; i++) cell->u[i].re = cell->u[i].im = 0;
    KCycleFourierCycle(f, cells, 0, f->kappa);
    for (int i = 0; i < cell->n; i++) cell->r[i] = KCycleFourierResidual(cell, i);
    for (int i = 0; i < cell->n; i++) cell->b[i] = cell->r[i];
  }
  return PETSC_TRUE;
}

PetscBool KCycleFourierCycles(const KCycleFourier *f, PetscReal tolerance, int most, PetscReal *cycles)
{
  const PetscReal goal = tolerance * tolerance;
  PetscReal       sums[MOST_CYCLES + 1];
  PetscBool       sound = PETSC_TRUE;
  Range           range;
  Cell           *cells = NULL;
  int             m[3], at[3];

  if (f->nlevels < 2 || f->nlevels > KCYCLE_FOURIER_LEVELS || !KCycleFourierSizes(f, m)) return PETSC_FALSE;
  most = PetscMin(most, MOST_CYCLES);
  FindRange(f, &range);
  if (PetscMalloc1(f->nlevels, &cells)) return PETSC_FALSE;
  for (int c = 0; c <= most; c++) sums[c] = 0;
  for (int i = 0; sound && Sample(&range, i, at); i++) sound = AddResiduals(f, at, most, cells, sums);
  (void)PetscFree(cells);
  for (int c = 0; c < most && sound; c++) {
    *cycles = (PetscReal)most;
    if (!(sums[c + 1] > goal * sums[0])) {
      *cycles = (PetscReal)c + PetscLogReal(sums[c] / (goal * sums[0])) /
                                   PetscLogReal(sums[c] / PetscMax(sums[c + 1], PETSC_SMALL * goal * sums[0]));
      break;
    }
  }
  return sound;
}

PetscBool KCycleFourierFactor(const KCycleFourier *f, PetscReal *factor)
{
  return Largest(f, PETSC_FALSE, factor);
}

PetscBool KCycleFourierSmoothing(const KCycleFourier *f, PetscReal *factor)
{
  return (PetscBool)(f->nlevels == 2 && Largest(f, PETSC_TRUE, factor));
}

/* Of 3, 5 or 7 points */
void KCycleFourierLaplacian(int dim, const PetscReal strength[], PetscReal a[27])
{
  for (int o = 0; o < 27; o++) a[o] = 0;
  for (int d = 0; d < dim; d++) {
    const int step = d == 0 ? 1 : d == 1 ? 3 : 9;

    a[13] += 2 * strength[d];
    a[13 - step] = a[13 + step] = -strength[d];
  }
}

/* simplex: the mean of both ends of the edge, or diagonal, that a point is the middle of */
void KCycleFourierLinear(int dim, const int factor[], PetscBool simplex, PetscReal p[27])
{
  for (int o = 0; o < 27; o++) {
    int       offset[3], sum = 0, away = 0;
    PetscBool other = PETSC_FALSE;

    KCycleFourierOffset(o, offset);
    p[o] = 1;
    for (int d = 0; d < 3; d++) {
      if (offset[d] && (d >= dim || factor[d] == 1)) other = PETSC_TRUE;
      if (offset[d]) p[o] /= 2;
      sum += offset[d];
      away += offset[d] != 0;
    }
    if (simplex && away > 1) p[o] = sum == away || sum == -away ? 0.5 : 0;
    if (other) p[o] = 0;
  }
}

/* The steps of chebyshev.c */
void KCycleFourierChebyshev(KCycleFourierLevel *level, int degree, PetscReal upper, PetscReal lower)
{
  const PetscReal theta = (upper + lower) / 2, delta = (upper - lower) / 2, sigma = theta / delta;
  PetscReal       rho = 1 / sigma;

  level->kind      = KCYCLE_FOURIER_POLYNOMIAL;
  level->nterms    = degree;
  level->keep[0]   = 0;
  level->weight[0] = 1 / theta;
  for (int k = 1; k < degree; k++) {
    const PetscReal next = 1 / (2 * sigma - rho);

    level->keep[k]   = rho * next;
    level->weight[k] = 2 * next / delta;
    rho              = next;
  }
}
