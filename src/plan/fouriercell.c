/*
  The cell of local Fourier analysis, see fouriercell.h.
*/
#include "fouriercell.h"

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
  int       index[3];
  PetscReal angle = 0;

  for (int d = 0; d < 3; d++) {
    const int sum  = at[d] + offset[d];
    const int turn = sum < 0 ? -1 : sum / m[d]; /* one at most: offsets are -1, 0, 1 */

    index[d] = sum - turn * m[d];
    angle += turn * phi[d];
  }
  phase->re = angle == 0 ? 1 : PetscCosReal(angle);
  phase->im = angle == 0 ? 0 : PetscSinReal(angle);
  return index[0] + m[0] * (index[1] + m[1] * index[2]);
}

void KCycleFourierOffset(int o, int offset[])
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
      KCycleFourierOffset(o, offset);
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
      KCycleFourierOffset(o, offset);
      cell->from[i][n] = (unsigned char)Wrap(cell->m, at, offset, phi, &phase);
      cell->w[i][n++]  = Scaled(level->p[o], phase);
    }
    cell->nweights = n;
  }
}

/* Points of a cell of the finest level in each direction: coarsened as often as there are coarser levels, and even
   where there are colours */
PetscBool KCycleFourierSizes(const KCycleFourier *f, int m[])
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
PetscBool KCycleFourierCellsCreate(const KCycleFourier *f, const PetscReal phi[], Cell cells[])
{
  int m[3];

  (void)KCycleFourierSizes(f, m);
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
Complex KCycleFourierResidual(const Cell *cell, int i)
{
  Complex r = cell->b[i];

  for (int o = 0; o < cell->ncoeffs; o++) r = Minus(r, Times(cell->c[i][o], cell->u[cell->to[i][o]]));
  return r;
}

static void Polynomial(Cell *cell)
{
  const KCycleFourierLevel *level = cell->level;

  for (int k = 0; k < level->nterms; k++) {
    for (int i = 0; i < cell->n; i++)
      cell->r[i] = Scaled(level->weight[k] / cell->diagonal, KCycleFourierResidual(cell, i));
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
    if (Colour(cell, dim, i, d) == colour) cell->r[i] = KCycleFourierResidual(cell, i);
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

void KCycleFourierSmooth(Cell *cell, int dim, int which)
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
  for (int i = 0; i < cell->n; i++) cell->r[i] = KCycleFourierResidual(cell, i);
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
void KCycleFourierCycle(const KCycleFourier *f, Cell cells[], int l, int kappa)
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
  KCycleFourierSmooth(cell, f->dim, 0);
  Restrict(cell, cell + 1);
  KCycleFourierCycle(f, cells, l + 1, kappa);
  if (kappa > 1 && l + 1 < f->nlevels - 1) KCycleFourierCycle(f, cells, l + 1, kappa - 1);
  Interpolate(cell + 1, l ? 1 : f->overcorrect, cell);
  KCycleFourierSmooth(cell, f->dim, 1);
}

/* Takes out what the coarser grid sees: of the harmonics, those that are smooth in all coarsened directions */
void KCycleFourierFilter(const KCycleFourier *f, const PetscReal phi[], Cell *cell)
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
