/*
  The model of the time of a cycle, see modelimpl.h.
*/
#include <petsckcycle/private/modelimpl.h>
#include <petscblaslapack.h>

/* Calls on a level, counted from 1, the finest: sum of binomial(level - 1, j), j < kappa (Proposition 2.2) */
static PetscReal Calls(PetscInt kappa, PetscInt level)
{
  PetscReal calls = 0, binomial = 1;

  for (PetscInt j = 0; j < PetscMin(kappa, level); j++) {
    calls += binomial;
    binomial *= (PetscReal)(level - 1 - j) / (PetscReal)(j + 1);
  }
  return calls;
}

/*
  How often a level is visited, from zero and from an iterate. Each call on the next finer level makes one call from
  zero, and those after it go on
*/
void KCycleModelVisits(const KCycleVisit *visit, PetscInt nlevels, PetscInt level, PetscReal visits[2])
{
  const PetscReal cycles = (PetscReal)visit->cycles;

  visits[0] = visits[1] = 0;
  if (!visit->full && level == 1) {
    visits[0] = visit->zeroguess ? 1 : 0;
    visits[1] = cycles - visits[0];
  } else if (!visit->full) {
    visits[0] = cycles * Calls(visit->kappa, level - 1);
    visits[1] = cycles * (Calls(visit->kappa, level) - Calls(visit->kappa, level - 1));
  } else {
    if (level == nlevels) visits[0] = 1;
    for (PetscInt start = 1; start < nlevels && start <= level; start++) { /* of full multigrid's cycles */
      const KCycleVisit cycle = {visit->kappa, 1, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};
      PetscReal         more[2];

      KCycleModelVisits(&cycle, nlevels, level - start + 1, more);
      visits[0] += more[0];
      visits[1] += more[1];
    }
  }
}

/* Full multigrid's own transfers are left out */
void KCycleModelAdd(const KCycleModel *model, const KCycleVisit *visit, KCycleModelSum *sum)
{
  for (PetscInt l = 0; l < model->nlevels; l++) {
    const KCycleModelLevel *level = &model->level[l];
    PetscReal               visits[2];

    KCycleModelVisits(visit, model->nlevels, l + 1, visits);
    sum->launches += level->launches * (visits[0] + visits[1]);
    sum->operations += level->operations * (visits[0] + visits[1]);
    sum->messages += level->messages * (visits[0] + visits[1]);
    sum->seconds += level->seconds[0] * visits[0] + level->seconds[1] * visits[1];
  }
  sum->seconds += model->outside;
}

/* Solves for the unknowns of the set; false where they cannot be told from each other */
static PetscBool Solve(const PetscReal normal[3][4], int set, PetscReal x[3])
{
  PetscReal a[3][4];
  int       which[3], n = 0;

  for (int i = 0; i < 3; i++) {
    x[i] = 0;
    if (!(set >> i & 1)) continue;
    if (!(normal[i][i] > 0)) return PETSC_FALSE;
    which[n++] = i;
  }
  for (int i = 0; i < n; i++) { /* to a diagonal of ones */
    const PetscReal size = normal[which[i]][which[i]];

    for (int j = 0; j < n; j++) a[i][j] = normal[which[i]][which[j]] / PetscSqrtReal(size * normal[which[j]][which[j]]);
    a[i][n] = normal[which[i]][3] / PetscSqrtReal(size);
  }
  for (int i = 0; i < n; i++) { /* positive definite: no pivoting */
    if (!(a[i][i] > 1e-6)) return PETSC_FALSE;
    for (int r = 0; r < n; r++) {
      const PetscReal factor = r == i ? 0 : a[r][i] / a[i][i];

      for (int j = i; j <= n; j++) a[r][j] -= factor * a[i][j];
    }
  }
  for (int i = 0; i < n; i++) x[which[i]] = a[i][n] / a[i][i] / PetscSqrtReal(normal[which[i]][which[i]]);
  return PETSC_TRUE;
}

/* Not if a visit of the finest level took no time that the clock could tell: nothing was measured then */
PetscBool KCycleModelIsTimed(const KCycleModel *model)
{
  return (PetscBool)(model->level[0].seconds[0] > 0);
}

/*
  Equation (3.2): least squares, of relative errors, as times of levels differ by orders of magnitude, over visits of
  levels instead of cycles; none of the three may be negative. Where launches and messages go together, launches
  are those of both
*/
void KCycleModelFit(KCycleModel *model)
{
  PetscReal normal[3][4] = {{0}}, x[3], best = PETSC_MAX_REAL;

  for (PetscInt l = 0; l < model->nlevels - (model->nlevels > 2 ? 1 : 0);
       l++) { /* the coarsest one is another solver */
    const KCycleModelLevel *level  = &model->level[l];
    const PetscReal         row[4] = {level->launches, level->operations, level->messages, level->seconds[0]};

    for (int i = 0; i < 3 && level->seconds[0] > 0; i++) {
      for (int j = 0; j < 4; j++) normal[i][j] += row[i] * row[j] / (level->seconds[0] * level->seconds[0]);
    }
  }
  model->alpha = model->beta = model->gamma = 0;
  for (int set = 7; set > 0; set--) {
    PetscReal error = 0;

    if (!Solve(normal, set, x) || x[0] < 0 || x[1] < 0 || x[2] < 0) continue;
    for (int i = 0; i < 3; i++) {
      error -= 2 * x[i] * normal[i][3];
      for (int j = 0; j < 3; j++) error += x[i] * normal[i][j] * x[j];
    }
    if (best < PETSC_MAX_REAL && error >= best - 1e-9 * PetscAbsReal(best)) continue;
    best         = error;
    model->alpha = x[0];
    model->beta  = x[1];
    model->gamma = x[2];
  }
}

/* Launches and messages against operations, in time, on n levels like those that there are */
static PetscReal Balance(const KCycleModel *model, PetscInt kappa, PetscReal ratio, PetscInt n)
{
  const KCycleModelLevel *finest = &model->level[0], *last = &model->level[model->nlevels - 1];
  const PetscReal         each  = model->alpha * finest->launches + model->gamma * finest->messages;
  PetscReal               calls = 0, points = 0;

  for (PetscInt l = 1; l <= n; l++) {
    calls += Calls(kappa, l) * (l < n ? each : model->alpha * last->launches + model->gamma * last->messages);
    points += Calls(kappa, l) * PetscPowReal(ratio, (PetscReal)(n - model->nlevels - l + 1));
  }
  return calls / (points * model->beta * finest->operations);
}

/* The number of points of the finest grid with which launches and messages take as long as operations (the paper's
   appendix): larger grids are bound by operations. 0: there is none */
PetscReal KCycleModelTurningPoint(const KCycleModel *model, PetscInt kappa)
{
  const KCycleModelLevel *level = model->level;
  const PetscInt          n     = model->nlevels;
  PetscReal               ratio, before = 0;

  if (n < 2 || !(level[n - 1].rows > 0) || !(level[0].rows > level[n - 1].rows)) return 0;
  if (!(model->beta > 0) || !(model->alpha + model->gamma > 0)) return 0;
  ratio = PetscPowReal(level[0].rows / level[n - 1].rows, 1 / (PetscReal)(n - 1));
  for (PetscInt k = 1; k <= 60; k++) {
    const PetscReal balance = PetscLogReal(Balance(model, kappa, ratio, k));

    if (balance <= 0) { /* straight between two numbers of levels */
      const PetscReal levels = k == 1 ? 1 : (PetscReal)(k - 1) + before / (before - balance);

      return level[0].rows * PetscPowReal(ratio, levels - (PetscReal)n);
    }
    before = balance;
  }
  return 0;
}

/* Are these levels the same, their times apart? */
PetscBool KCycleModelSame(const KCycleModel *a, const KCycleModel *b)
{
  if (a->nlevels != b->nlevels || a->processes != b->processes) return PETSC_FALSE;
  for (PetscInt l = 0; l < a->nlevels; l++) {
    const KCycleModelLevel *p = &a->level[l], *q = &b->level[l];

    if (p->rows != q->rows || p->launches != q->launches || p->operations != q->operations ||
        p->messages != q->messages || strcmp(p->solver, q->solver))
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Sorts; the lower one of two, 0 of nothing */
PetscReal KCycleModelMedian(PetscInt n, PetscReal x[])
{
  for (PetscInt i = 1; i < n; i++) {
    const PetscReal now = x[i];
    PetscInt        j   = i;

    for (; j > 0 && x[j - 1] > now; j--) x[j] = x[j - 1];
    x[j] = now;
  }
  return n ? x[(n - 1) / 2] : 0;
}

#define MOST_ROWS 16

/* The spectral radius */
PetscReal KCycleModelRadius(PetscInt n, PetscScalar a[])
{
  PetscScalar  none, work[8 * MOST_ROWS];
  PetscReal    radius = 0, part[2 * MOST_ROWS];
  PetscBLASInt N = (PetscBLASInt)n, one = 1, lwork = 8 * MOST_ROWS, info;

  for (PetscInt i = 0; i < n * n; i++) {
    if (PetscIsInfOrNanScalar(a[i])) return PETSC_INFINITY;
  }
#if defined(PETSC_USE_COMPLEX)
  PetscScalar value[MOST_ROWS];

  LAPACKgeev_("N", "N", &N, a, &N, value, &none, &one, &none, &one, work, &lwork, part, &info);
  for (PetscInt i = 0; i < n; i++) radius = PetscMax(radius, PetscAbsScalar(value[i]));
#else
  PetscReal *imaginary = part + MOST_ROWS;

  LAPACKgeev_("N", "N", &N, a, &N, part, imaginary, &none, &one, &none, &one, work, &lwork, &info);
  for (PetscInt i = 0; i < n; i++)
    radius = PetscMax(radius, PetscSqrtReal(part[i] * part[i] + imaginary[i] * imaginary[i]));
#endif
  return radius;
}

/* False: singular */
PetscBool KCycleModelInvert(PetscInt n, PetscScalar a[])
{
  PetscScalar  work[MOST_ROWS];
  PetscBLASInt N = (PetscBLASInt)n, row[MOST_ROWS], info;

  LAPACKgetrf_(&N, &N, a, &N, row, &info);
  if (!info) LAPACKgetri_(&N, a, &N, row, work, &N, &info);
  return (PetscBool)(info == 0);
}
