/*
  Local Fourier analysis, see fourierimpl.h. Wienands and Joppich, Practical Fourier Analysis for Multigrid Methods;
  Ghysels and Vanroose, Modeling the performance of geometric multigrid stencils, section 3.2.
*/
#include <petsckcycle/private/fourierimpl.h>

#define MOST   64 /* points of a cell */
#define SMALL  8  /* and so many at most where its matrix is made */
#define ACROSS 8  /* points in a direction */

/* Complex numbers, with any PETSc */
typedef struct {
  PetscReal re, im;
} Complex;

/* The cell of a level: points i of it are coupled to points to[i][o], by c[i][o] */
typedef struct {
  const KCycleFourierLevel *level;
  int                       m[3], n, ncoeffs;
  unsigned char             to[MOST][27], at[MOST][3];
  Complex                   c[MOST][27];
  PetscReal                 diagonal;
  /* of restriction: so many points around a coarse one, their places, their weights here and with its conjugate */
  int                       nweights;
  unsigned char             from[MOST][27];
  Complex                   w[MOST][27];
  Complex                   line[3][ACROSS * ACROSS]; /* inverse of the systems of lines in each direction */
  Complex                   inverse[SMALL * SMALL];   /* of the coarsest operator */
  Complex                   u[MOST], b[MOST], r[MOST], before[MOST];
} Cell;

static Complex Plus(Complex x, Complex y)
{
  const Complex z = {x.re + y.re, x.im + y.im};

  return z;
}

static Complex Minus(Complex x, Complex y)
{
  const Complex z = {x.re - y.re, x.im - y.im};

  return z;
}

static Complex Times(Complex x, Complex y)
{
  const Complex z = {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};

  return z;
}

static Complex Scaled(PetscReal s, Complex x)
{
  const Complex z = {s * x.re, s * x.im};

  return z;
}

static Complex Conjugate(Complex x)
{
  const Complex z = {x.re, -x.im};

  return z;
}

static PetscReal Square(Complex x)
{
  return x.re * x.re + x.im * x.im;
}

/* By Gauss and Jordan with row pivots, in place; false: singular */
static PetscBool Invert(int n, Complex a[])
{
  Complex both[ACROSS][2 * ACROSS];

  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      both[i][j]        = a[i * n + j];
      both[i][n + j].re = i == j ? 1 : 0;
      both[i][n + j].im = 0;
    }
  }
  for (int k = 0; k < n; k++) {
    int       best = k;
    PetscReal size;

    for (int i = k + 1; i < n; i++) best = Square(both[i][k]) > Square(both[best][k]) ? i : best;
    size = Square(both[best][k]);
    if (!(size > 0)) return PETSC_FALSE;
    for (int j = 0; j < 2 * n; j++) {
      const Complex other = both[k][j];

      both[k][j]    = both[best][j];
      both[best][j] = other;
    }
    for (int i = 0; i < n; i++) {
      const Complex pivot  = Scaled(1 / size, Conjugate(both[k][k]));
      const Complex factor = Times(both[i][k], pivot);

      for (int j = 2 * n - 1; j >= k && i != k; j--) both[i][j] = Minus(both[i][j], Times(factor, both[k][j]));
    }
    for (int j = 2 * n - 1; j >= k; j--) both[k][j] = Times(Scaled(1 / size, Conjugate(both[k][k])), both[k][j]);
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) a[i * n + j] = both[i][n + j];
  }
  return PETSC_TRUE;
}

/* Where the point at an offset lies in the cell, and the factor of what is there */
static int Wrap(const int m[], const int at[], const int offset[], const PetscReal phi[], Complex *phase)
{
  int       place[3];
  PetscReal angle = 0;

  for (int d = 0; d < 3; d++) {
    const int sum  = at[d] + offset[d];
    const int turn = sum < 0 ? -1 : sum / m[d]; /* one at most: offsets are -1, 0, 1 */

    place[d] = sum - turn * m[d];
    angle += turn * phi[d];
  }
  phase->re = angle == 0 ? 1 : PetscCosReal(angle);
  phase->im = angle == 0 ? 0 : PetscSinReal(angle);
  return place[0] + m[0] * (place[1] + m[1] * place[2]);
}

static void Offset(int o, int offset[])
{
  offset[0] = o % 3 - 1;
  offset[1] = o / 3 % 3 - 1;
  offset[2] = o / 9 - 1;
}

/* The system of a line in direction d of the cell, inverted */
static PetscBool InvertLine(Cell *cell, int d, const PetscReal phi[])
{
  const int m = cell->m[d];

  for (int i = 0; i < m * m; i++) cell->line[d][i].re = cell->line[d][i].im = 0;
  for (int i = 0; i < m; i++) {
    for (int s = -1; s <= 1; s++) {
      const int at[3] = {d == 0 ? i : 0, d == 1 ? i : 0, d == 2 ? i : 0};
      const int to[3] = {d == 0 ? s : 0, d == 1 ? s : 0, d == 2 ? s : 0};
      const int o     = 13 + s * (d == 0   ? 1
                                  : d == 1 ? 3
                                           : 9),
                step  = d == 0   ? 1
                        : d == 1 ? cell->m[0]
                                 : cell->m[0] * cell->m[1];
      Complex   phase;
      const int j = Wrap(cell->m, at, to, phi, &phase) / step;

      cell->line[d][i * m + j] = Plus(cell->line[d][i * m + j], Scaled(cell->level->a[o], phase));
    }
  }
  return Invert(m, cell->line[d]);
}

static PetscBool InvertAll(Cell *cell)
{
  for (int i = 0; i < cell->n * cell->n; i++) cell->inverse[i].re = cell->inverse[i].im = 0;
  for (int i = 0; i < cell->n; i++) {
    for (int o = 0; o < cell->ncoeffs; o++) {
      const int at = i * cell->n + cell->to[i][o];

      cell->inverse[at] = Plus(cell->inverse[at], cell->c[i][o]);
    }
  }
  return Invert(cell->n, cell->inverse);
}

/* Couplings of all points, and weights of the coarse ones, which are the even ones of coarsened directions */
static void Couple(Cell *cell, const PetscReal phi[], PetscBool coarsest)
{
  const KCycleFourierLevel *level = cell->level;
  int                       mc[3];

  for (int d = 0; d < 3; d++) mc[d] = coarsest ? 1 : cell->m[d] / level->factor[d];
  for (int i = 0; i < cell->n; i++) {
    const int at[3] = {i % cell->m[0], i / cell->m[0] % cell->m[1], i / cell->m[0] / cell->m[1]};
    int       n     = 0, offset[3];
    Complex   phase;

    for (int d = 0; d < 3; d++) cell->at[i][d] = (unsigned char)at[d];
    for (int o = 0; o < 27; o++) {
      if (level->a[o] == 0) continue;
      Offset(o, offset);
      cell->to[i][n]  = (unsigned char)Wrap(cell->m, at, offset, phi, &phase);
      cell->c[i][n++] = Scaled(level->a[o], phase);
    }
    cell->ncoeffs = n;
  }
  for (int i = 0; i < mc[0] * mc[1] * mc[2] && !coarsest; i++) {
    const int at[3] = {level->factor[0] * (i % mc[0]), level->factor[1] * (i / mc[0] % mc[1]),
                       level->factor[2] * (i / mc[0] / mc[1])};
    int       n     = 0, offset[3];
    Complex   phase;

    for (int o = 0; o < 27; o++) {
      if (level->p[o] == 0) continue;
      Offset(o, offset);
      cell->from[i][n] = (unsigned char)Wrap(cell->m, at, offset, phi, &phase);
      cell->w[i][n++]  = Scaled(level->p[o], phase);
    }
    cell->nweights = n;
  }
}

/* Points of a cell of the finest level in each direction: coarsened as often as there are coarser levels, and even
   where there are colours */
static PetscBool Sizes(const KCycleFourier *f, int m[])
{
  int n = 1;

  for (int d = 0; d < 3; d++) {
    m[d] = 1;
    for (int l = 0; l < f->nlevels - 1; l++) m[d] *= f->level[l].factor[d];
    if (d < f->dim && f->level[f->nlevels - 2].factor[d] == 1) m[d] *= 2;
    if (m[d] > ACROSS) return PETSC_FALSE;
    n *= m[d];
  }
  return (PetscBool)(n <= MOST);
}

/* phi: angles by which numbers turn around the cell */
static PetscBool CellsCreate(const KCycleFourier *f, const PetscReal phi[], Cell cells[])
{
  int m[3];

  (void)Sizes(f, m);
  for (int l = 0; l < f->nlevels; l++) {
    Cell           *cell     = &cells[l];
    const PetscBool coarsest = (PetscBool)(l == f->nlevels - 1);

    cell->level    = &f->level[l];
    cell->diagonal = cell->level->a[13];
    cell->n        = m[0] * m[1] * m[2];
    for (int d = 0; d < 3; d++) cell->m[d] = m[d];
    Couple(cell, phi, coarsest);
    if (!coarsest) {
      for (int i = 0; i < (cell->level->kind == KCYCLE_FOURIER_LINES ? cell->level->nlines : 0); i++) {
        if (!InvertLine(cell, cell->level->along[i], phi)) return PETSC_FALSE;
      }
    } else if (cell->n > SMALL || !InvertAll(cell)) return PETSC_FALSE;
    for (int d = 0; d < 3 && !coarsest; d++) m[d] /= cell->level->factor[d];
  }
  return PETSC_TRUE;
}

/* r <- b - A u at point i */
static Complex Residual(const Cell *cell, int i)
{
  Complex r = cell->b[i];

  for (int o = 0; o < cell->ncoeffs; o++) r = Minus(r, Times(cell->c[i][o], cell->u[cell->to[i][o]]));
  return r;
}

static void Polynomial(Cell *cell)
{
  const KCycleFourierLevel *level = cell->level;

  for (int k = 0; k < level->nterms; k++) {
    for (int i = 0; i < cell->n; i++) cell->r[i] = Scaled(level->weight[k] / cell->diagonal, Residual(cell, i));
    for (int i = 0; i < cell->n; i++) {
      const Complex u = cell->u[i];

      if (k && level->keep[k] != 0) cell->r[i] = Plus(cell->r[i], Scaled(level->keep[k], Minus(u, cell->before[i])));
      cell->u[i]      = Plus(u, cell->r[i]);
      cell->before[i] = u;
    }
  }
}

/* The colour of a point, or of its line in direction d */
static int Colour(const Cell *cell, int dim, int i, int d)
{
  const KCycleFourierLevel *level = cell->level;
  int                       sum = 0, number = 0, bit = 0;

  for (int e = 0; e < dim; e++) {
    if (d == e) continue;
    sum += cell->at[i][e];
    number |= (cell->at[i][e] & 1) << bit++;
  }
  if (level->kind == KCYCLE_FOURIER_COLOURS) return number;
  return d >= 0 && level->linecolours == 4 ? number : sum & 1;
}

/* All points of a colour at once; d: or all lines in that direction of a colour, each one exactly */
static void RelaxColour(Cell *cell, int dim, int colour, int d)
{
  const int step = d == 0 ? 1 : d == 1 ? cell->m[0] : cell->m[0] * cell->m[1], m = d < 0 ? 1 : cell->m[d];

  for (int i = 0; i < cell->n; i++) {
    if (Colour(cell, dim, i, d) == colour) cell->r[i] = Residual(cell, i);
  }
  for (int i = 0; i < cell->n; i++) {
    Complex sum = {0, 0};

    if (Colour(cell, dim, i, d) != colour) continue;
    if (d < 0) sum = Scaled(1 / cell->diagonal, cell->r[i]);
    else {
      const int mine = cell->at[i][d], first = i - mine * step;

      for (int j = 0; j < m; j++) sum = Plus(sum, Times(cell->line[d][mine * m + j], cell->r[first + j * step]));
    }
    cell->u[i] = Plus(cell->u[i], Scaled(cell->level->weight[0], sum));
  }
}

static void Sweep(Cell *cell, int dim, PetscBool back)
{
  const KCycleFourierLevel *level  = cell->level;
  const int                 nlines = level->kind == KCYCLE_FOURIER_LINES ? level->nlines : 1;
  int                       n      = 2;

  if (level->kind == KCYCLE_FOURIER_POLYNOMIAL) {
    Polynomial(cell);
    return;
  }
  if (level->kind == KCYCLE_FOURIER_COLOURS) n = 1 << dim;
  if (level->kind == KCYCLE_FOURIER_LINES && dim == 3) n = level->linecolours;
  for (int i = 0; i < nlines; i++) {
    const int d = level->kind == KCYCLE_FOURIER_LINES ? level->along[back ? nlines - 1 - i : i] : -1;

    for (int c = 0; c < n; c++) RelaxColour(cell, dim, back ? n - 1 - c : c, d);
  }
}

static void Smooth(Cell *cell, int dim, int which)
{
  const KCycleFourierLevel *level = cell->level;

  for (int i = 0; i < level->nu[which]; i++) {
    if (level->both[which]) {
      Sweep(cell, dim, PETSC_FALSE);
      Sweep(cell, dim, PETSC_TRUE);
    } else Sweep(cell, dim, level->back[which]);
  }
}

/* The right side of the next level */
static void Restrict(Cell *cell, Cell *coarse)
{
  for (int i = 0; i < cell->n; i++) cell->r[i] = Residual(cell, i);
  for (int i = 0; i < coarse->n; i++) {
    Complex sum = {0, 0};

    for (int o = 0; o < cell->nweights; o++) sum = Plus(sum, Times(cell->w[i][o], cell->r[cell->from[i][o]]));
    coarse->b[i]    = sum;
    coarse->u[i].re = coarse->u[i].im = 0;
  }
}

static void Interpolate(const Cell *coarse, PetscReal factor, Cell *cell)
{
  for (int i = 0; i < coarse->n; i++) {
    const Complex e = Scaled(factor, coarse->u[i]);

    for (int o = 0; o < cell->nweights; o++) {
      Complex *u = &cell->u[cell->from[i][o]];

      *u = Plus(*u, Times(Conjugate(cell->w[i][o]), e));
    }
  }
}

/* The kappa-cycle from u */
static void Cycle(const KCycleFourier *f, Cell cells[], int l, int kappa)
{
  Cell *cell = &cells[l];

  if (l == f->nlevels - 1) {
    for (int i = 0; i < cell->n; i++) {
      Complex sum = {0, 0};

      for (int j = 0; j < cell->n; j++) sum = Plus(sum, Times(cell->inverse[i * cell->n + j], cell->b[j]));
      cell->u[i] = sum;
    }
    return;
  }
  Smooth(cell, f->dim, 0);
  Restrict(cell, cell + 1);
  Cycle(f, cells, l + 1, kappa);
  if (kappa > 1 && l + 1 < f->nlevels - 1) Cycle(f, cells, l + 1, kappa - 1);
  Interpolate(cell + 1, l ? 1 : f->overcorrect, cell);
  Smooth(cell, f->dim, 1);
}

/* Takes out what the coarser grid sees: of the harmonics, those that are smooth in all coarsened directions */
static void KeepRough(const KCycleFourier *f, const PetscReal phi[], Cell *cell)
{
  const int *factor = cell->level->factor;
  Complex    sum[MOST];
  int        n = 0, which[MOST];

  for (int i = 0; i < cell->n; i++) { /* points that differ in coarsened directions alone have the same number */
    which[i] = 0;
    for (int d = f->dim - 1; d >= 0; d--) which[i] = factor[d] > 1 ? which[i] : 2 * which[i] + cell->at[i][d];
    n = PetscMax(n, which[i] + 1);
  }
  for (int k = 0; k < n; k++) sum[k].re = sum[k].im = 0;
  for (int turn = 0; turn < 2; turn++) {
    for (int i = 0; i < cell->n; i++) {
      Complex   wave;
      PetscReal angle = 0;

      for (int d = 0; d < f->dim; d++) angle += factor[d] > 1 ? cell->at[i][d] * phi[d] / cell->m[d] : 0;
      wave.re = PetscCosReal(angle);
      wave.im = PetscSinReal(angle);
      if (!turn) sum[which[i]] = Plus(sum[which[i]], Times(Conjugate(wave), cell->u[i]));
      else cell->u[i] = Minus(cell->u[i], Scaled((PetscReal)n / (PetscReal)cell->n, Times(wave, sum[which[i]])));
    }
  }
}

/* What is done with an error: one cycle, or its sweeps alone */
typedef struct {
  const KCycleFourier *f;
  const PetscReal     *phi;
  PetscBool            rough;
  Cell                *cells;
} Step;

static void Advance(const Step *step)
{
  Cell *cell = step->cells;

  if (!step->rough) Cycle(step->f, cell, 0, step->f->kappa);
  else {
    Smooth(cell, step->f->dim, 0);
    Smooth(cell, step->f->dim, 1);
    KeepRough(step->f, step->phi, cell);
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

/* So many cycles leave the slowest error, and so many more tell its factor */
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

/* At the frequency that has these numbers; -1: singular */
static PetscReal RadiusAt(const KCycleFourier *f, PetscBool rough, const int k[], Cell cells[])
{
  PetscReal phi[3] = {0, 0, 0};
  Step      step;
  int       m[3];

  (void)Sizes(f, m);
  for (int d = 0; d < f->dim; d++) phi[d] = f->step[d] * k[d] * m[d];
  if (!CellsCreate(f, phi, cells)) return -1;
  for (int i = 0; i < cells[0].n; i++) cells[0].b[i].re = cells[0].b[i].im = 0;
  step.f     = f;
  step.phi   = phi;
  step.rough = rough;
  step.cells = cells;
  return cells[0].n <= SMALL ? RadiusOfMatrix(&step) : RadiusByPowers(&step);
}

/* Is direction d one whose two sides are alike, on all levels? Then are frequencies of both signs */
static PetscBool IsEven(const KCycleFourier *f, int d)
{
  for (int l = 0; l < f->nlevels; l++) {
    for (int o = 0; o < 27; o++) {
      int       offset[3], other;
      PetscBool same;

      Offset(o, offset);
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

  (void)Sizes(f, m);
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

/* Largest at a neighbour at this distance? */
static PetscBool Climb(const KCycleFourier *f, PetscBool rough, const Range *range, int distance, int k[],
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
      here = RadiusAt(f, rough, to, cells);
      if (here <= *best) continue;
      *best  = here;
      better = PETSC_TRUE;
      for (int e = 0; e < 3; e++) k[e] = to[e];
    }
  }
  return better;
}

static PetscBool Largest(const KCycleFourier *f, PetscBool rough, PetscReal *factor)
{
  Range     range;
  int       k[3] = {0, 0, 0}, m[3], distance = 1;
  Cell     *cells = NULL;
  PetscReal best  = -1;

  if (f->nlevels < 2 || f->nlevels > KCYCLE_FOURIER_LEVELS || !Sizes(f, m)) return PETSC_FALSE;
  FindRange(f, &range);
  if (PetscMalloc1(f->nlevels, &cells)) return PETSC_FALSE;
  for (int i = 0; i < range.samples[0] * range.samples[1] * range.samples[2]; i++) {
    const int       at[3] = {Sampled(&range, 0, i % range.samples[0]),
                             Sampled(&range, 1, i / range.samples[0] % range.samples[1]),
                             Sampled(&range, 2, i / range.samples[0] / range.samples[1])};
    const PetscReal here  = RadiusAt(f, rough, at, cells);

    if (here <= best) continue;
    best = here;
    for (int d = 0; d < 3; d++) k[d] = at[d];
  }
  for (int d = 0; d < f->dim; d++) distance = PetscMax(distance, range.most[d] / PetscMax(1, 2 * (f->samples - 1)));
  for (int turn = 0; turn < 64 && distance && best >= 0; turn++) {
    if (!Climb(f, rough, &range, distance, k, &best, cells)) distance /= 2;
  }
  (void)PetscFree(cells);
  *factor = best;
  return (PetscBool)(best >= 0);
}

#define MOST_CYCLES 64

/* Adds up the squares of what cycles leave of a residual at a frequency: r <- r - A M r, M being a cycle from zero */
static PetscBool AddResiduals(const KCycleFourier *f, const int k[], int most, Cell cells[], PetscReal sums[])
{
  Cell     *cell   = cells;
  PetscReal phi[3] = {0, 0, 0};
  int       m[3];

  (void)Sizes(f, m);
  for (int d = 0; d < f->dim; d++) phi[d] = f->step[d] * k[d] * m[d];
  if (!CellsCreate(f, phi, cells)) return PETSC_FALSE;
  for (int i = 0; i < cell->n; i++) {
    cell->b[i].re = PetscCosReal((PetscReal)(1 + 7 * i * i + 3 * k[0] + 5 * k[1] + 11 * k[2]));
    cell->b[i].im = PetscSinReal((PetscReal)(1 + 7 * i * i + 3 * k[0] + 5 * k[1] + 11 * k[2]));
  }
  for (int c = 0; c <= most; c++) {
    for (int i = 0; i < cell->n; i++) sums[c] += Square(cell->b[i]);
    for (int i = 0; i < cell->n; i++) cell->u[i].re = cell->u[i].im = 0;
    Cycle(f, cells, 0, f->kappa);
    for (int i = 0; i < cell->n; i++) cell->r[i] = Residual(cell, i);
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
  int             m[3];

  if (f->nlevels < 2 || f->nlevels > KCYCLE_FOURIER_LEVELS || !Sizes(f, m)) return PETSC_FALSE;
  most = PetscMin(most, MOST_CYCLES);
  FindRange(f, &range);
  if (PetscMalloc1(f->nlevels, &cells)) return PETSC_FALSE;
  for (int c = 0; c <= most; c++) sums[c] = 0;
  for (int i = 0; i < range.samples[0] * range.samples[1] * range.samples[2] && sound; i++) {
    const int at[3] = {Sampled(&range, 0, i % range.samples[0]),
                       Sampled(&range, 1, i / range.samples[0] % range.samples[1]),
                       Sampled(&range, 2, i / range.samples[0] / range.samples[1])};

    sound = AddResiduals(f, at, most, cells, sums);
  }
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

    Offset(o, offset);
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
