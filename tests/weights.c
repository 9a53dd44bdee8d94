static char help[] = "Interpolation that follows the operator, point by point, and its definition.\n\n";

/*
  The definition, black box multigrid with absolute values: a fine point that lies between coarse ones in the directions
  S takes

    v(p) = sum_o |c(o)| v(p + o) / (sum_o |c(o)| + excess),   c(o): couplings summed over the directions not in S.

  Couplings c(o) of the wrong sign are first compensated by those with points next to that one, further in other
  directions of S. The excess of the row sum counts if a next point in S is missing or is isolated. If it is next to
  nothing, the weights are scaled to add up to one. Couplings along a direction of S may be weaker than those along
  another direction e, by a factor of 10 at 5 % of the points. Then weights w(o) of the neighbours o are solved for
  along e, with the couplings s(+-) ahead and back:

    (sum_o |c(o)| + excess) w(o) + sum_+- s(+-) (w(o) - w(o)(+-)) = |c(o)|

  Points that are isolated by walls get couplings: 1e-8 of the geometric mean in their direction, rounded to a power of
  two. Such points take nothing in the end. Every process computes all of it on the whole grid, from coefficients
  that are functions of indices.
*/
#include <petsckcycle.h>
#include "poisson.h"

typedef enum {
  BOUNDARY_ELIMINATED,
  BOUNDARY_STORED,
  BOUNDARY_NEUMANN
} Boundary;

typedef struct {
  const char *name, *grid; /* -pc_kcycle_grid */
  Boundary    boundary;
  PetscBool   box;      /* all 3^dim neighbours, couplings of both signs */
  PetscBool   walls;    /* a part of the couplings is zero, some points are isolated */
  PetscBool   periodic; /* in x */
} Case;

static const Case cases[] = {
    {"star, open ends", "interior", BOUNDARY_ELIMINATED, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
    {"star, stored ends", "vertex", BOUNDARY_STORED, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
    {"star, insulated ends", "cell", BOUNDARY_NEUMANN, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
    {"star, insulated ends, walls", "cell", BOUNDARY_NEUMANN, PETSC_FALSE, PETSC_TRUE, PETSC_FALSE},
    {"star, stored ends, walls", "vertex", BOUNDARY_STORED, PETSC_FALSE, PETSC_TRUE, PETSC_FALSE},
    {"box, open ends", "interior", BOUNDARY_ELIMINATED, PETSC_TRUE, PETSC_FALSE, PETSC_FALSE},
    {"box, stored ends, walls", "vertex", BOUNDARY_STORED, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE},
    {"box, insulated ends, x cyclic", "cell", BOUNDARY_NEUMANN, PETSC_TRUE, PETSC_FALSE, PETSC_TRUE},
};

#define MAX_POINTS 2197

typedef struct {
  const Case *c;
  PetscInt    dim, n[3], first;
  int         along[8];                       /* for each S: the direction along which weights are solved for, or -1 */
  PetscReal   fill[3];                        /* couplings of isolated points, in each direction */
  PetscReal   v[MAX_POINTS], sum[MAX_POINTS]; /* interpolated function, sum of weights */
} Grid;

/* A number in [0, 1) for a place, the same on every process */
static PetscReal Random(PetscInt seed, const PetscInt at[])
{
  PetscReal x = PetscSinReal((PetscReal)(12.9898 * at[0] + 78.233 * at[1] + 37.719 * at[2] + 4.581 * seed)) *
                (PetscReal)43758.5453;

  return x - PetscFloorReal(x);
}

/* Inside of the grid? Periodic directions are wrapped */
static PetscBool Inside(const Grid *g, PetscInt at[])
{
  if (g->c->periodic) at[0] = (at[0] + g->n[0]) % g->n[0];
  for (int d = 0; d < 3; d++) {
    if (at[d] < 0 || at[d] >= g->n[d]) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Left without couplings: stored boundary points, and in walls a few others */
static PetscBool IsLeftAlone(const Grid *g, const PetscInt at[])
{
  for (int d = 0; d < g->dim; d++) {
    if (g->c->boundary == BOUNDARY_STORED && !(d == 0 && g->c->periodic) && (at[d] == 0 || at[d] == g->n[d] - 1))
      return PETSC_TRUE;
  }
  return (PetscBool)(g->c->walls && Random(99, at) < 0.05);
}

/* The entry that couples a point with the one that lies o further, 0 for none; the same from both sides. missing:
   what is left out of the matrix at an open boundary */
static PetscReal Coupling(const Grid *g, const PetscInt at[], const PetscInt o[], PetscReal *missing)
{
  const PetscInt steps = (o[0] != 0) + (o[1] != 0) + (o[2] != 0), code = o[0] + 3 * o[1] + 9 * o[2];
  PetscInt       to[3] = {at[0] + o[0], at[1] + o[1], at[2] + o[2]}, low[3];
  PetscReal      size;
  PetscBool      inside;

  *missing = 0;
  if (o[2] && g->dim < 3) return 0;
  if (steps > 1 && !g->c->box) return 0;
  inside = Inside(g, to);
  for (int d = 0; d < 3; d++) low[d] = code < 0 ? to[d] : at[d];
  size = PetscPowReal(10, 3 * Random(PetscAbsInt(code), low));
  /* couplings of both signs */
  if (steps > 1) size *= Random(50 + PetscAbsInt(code), low) < 0.5 ? 0.1 : -0.02;
  else if (g->c->box && Random(70 + PetscAbsInt(code), low) < 0.2) size *= -0.03;
  if (g->c->walls && Random(30 + PetscAbsInt(code), low) < 0.15) size = 0;
  if (!inside) {
    *missing = g->c->boundary == BOUNDARY_ELIMINATED ? PetscAbsReal(size) : 0;
    return 0;
  }
  return IsLeftAlone(g, at) || IsLeftAlone(g, to)
             ? (g->c->boundary == BOUNDARY_STORED ? (*missing = PetscAbsReal(size), 0) : 0)
             : -size;
}

/* Isolated, by walls on all sides too */
static PetscBool IsAlone(const Grid *g, const PetscInt at[])
{
  PetscReal missing;

  for (PetscInt m = 0; m < 27; m++) {
    const PetscInt o[3] = {m % 3 - 1, m / 3 % 3 - 1, m / 9 - 1};

    if (m != 13 && Coupling(g, at, o, &missing) != 0) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* The row of a point: coefficients of its 27 neighbours, itself among them. Row sums are zero but next to ends */
static void Row(const Grid *g, const PetscInt at[], PetscReal a[])
{
  PetscReal missing, diagonal = 0;

  for (PetscInt m = 0; m < 27; m++) {
    const PetscInt o[3] = {m % 3 - 1, m / 3 % 3 - 1, m / 9 - 1};

    a[m] = m == 13 ? 0 : Coupling(g, at, o, &missing);
    if (m != 13) diagonal += missing - a[m];
  }
  a[13] = IsAlone(g, at) || diagonal <= 0 ? PetscMax(diagonal, 0) + 1 : diagonal;
}

/* Place of the next point in a direction, among 27; side: 0 or 1 */
static PetscInt Next(int d, int side)
{
  return 13 + (2 * side - 1) * (d == 0 ? 1 : d == 1 ? 3 : 9);
}

/* With 26 neighbours no point of these lacks all on one side */
static PetscBool IsFilled(const Grid *g)
{
  return (PetscBool)(g->c->walls && !(g->c->box && g->dim == 3));
}

static void FindFill(Grid *g)
{
  for (int d = 0; d < 3; d++) {
    PetscReal exponents = 0, count = 0, a[27];

    for (PetscInt p = 0; p < g->n[0] * g->n[1] * g->n[2]; p++) {
      const PetscInt at[3] = {p % g->n[0], p / g->n[0] % g->n[1], p / g->n[0] / g->n[1]};

      Row(g, at, a);
      for (int side = 0; side < 2; side++) {
        const PetscReal v = PetscAbsReal(a[Next(d, side)]);

        if (v == 0) continue;
        exponents += PetscFloorReal(PetscLog2Real(v));
        count++;
      }
    }
    g->fill[d] = count > 0 ? 1e-8 * PetscPowReal(2, PetscFloorReal(exponents / count + 0.5)) : 0;
  }
}

/* The row that weights are made of */
static void FilledRow(const Grid *g, const PetscInt at[], PetscReal a[])
{
  const PetscBool alone = IsAlone(g, at);

  Row(g, at, a);
  if (!IsFilled(g)) return;
  if (alone) a[13] = 0;
  for (int d = 0; d < g->dim; d++) {
    for (int side = 0; side < 2; side++) {
      PetscInt to[3] = {at[0], at[1], at[2]};

      to[d] += 2 * side - 1;
      if (!Inside(g, to) || !(alone || IsAlone(g, to))) continue;
      a[Next(d, side)] = -g->fill[d];
      a[13] += g->fill[d];
    }
  }
}

static PetscInt Number(const Grid *g, const PetscInt at[])
{
  return at[0] + g->n[0] * (at[1] + g->n[1] * at[2]);
}

/* Directions in which a point lies between coarse ones, as bits */
static int Between(const Grid *g, const PetscInt at[])
{
  int S = 0;

  for (int d = 0; d < g->dim; d++) {
    if ((at[d] - g->first) % 2) S |= 1 << d;
  }
  return S;
}

static PetscReal CoarseFunction(PetscInt i, PetscInt j, PetscInt k)
{
  const PetscInt at[3] = {i, j, k};

  return 1 + Random(7, at);
}

/* Is the next point in one of the directions S missing, or isolated? */
static PetscBool IsBesideEnd(const Grid *g, const PetscInt at[], int S)
{
  for (int d = 0; d < g->dim; d++) {
    for (int side = -1; side <= 1 && (S & 1 << d); side += 2) {
      PetscInt to[3] = {at[0], at[1], at[2]};

      to[d] += side;
      if (!Inside(g, to)) return PETSC_TRUE;
      if (IsAlone(g, to)) return PETSC_TRUE;
    }
  }
  return PETSC_FALSE;
}

/* The equation of a point that lies between in the directions S: couplings with its neighbours there, their sum with
   the excess if that counts, and couplings back and ahead along direction e. complete: weights are to add up to one */
typedef struct {
  PetscReal c[27], total, next[2];
  PetscBool complete;
} Equation;

/* In how many directions does place m look away from the point? And does p look to the same side in these, and to one
   in others? */
static int Directions(PetscInt m)
{
  return (m % 3 != 1) + (m / 3 % 3 != 1) + (m / 9 != 1);
}

static PetscBool IsBeside(PetscInt p, PetscInt m)
{
  return (PetscBool)(Directions(p) > Directions(m) && (m % 3 == 1 || p % 3 == m % 3) &&
                     (m / 3 % 3 == 1 || p / 3 % 3 == m / 3 % 3) && (m / 9 == 1 || p / 9 == m / 9));
}

/* Couplings that are positive become zero, as far as negative ones with points next to that one go, which lose as much,
   each in proportion */
static void MakeUpSigns(PetscReal c[])
{
  for (int directions = 1; directions < 3; directions++) {
    for (PetscInt m = 0; m < 27; m++) {
      PetscReal negative = 0, part;

      if (Directions(m) != directions || c[m] <= 0) continue;
      for (PetscInt p = 0; p < 27; p++) negative -= IsBeside(p, m) && c[p] < 0 ? c[p] : 0;
      if (negative == 0) continue;
      part = PetscMin(1, c[m] / negative);
      c[m] -= part * negative;
      for (PetscInt p = 0; p < 27; p++) c[p] -= IsBeside(p, m) && c[p] < 0 ? part * c[p] : 0;
    }
  }
}

static void GetEquation(const Grid *g, const PetscInt at[], int S, int e, Equation *q)
{
  PetscReal a[27], excess = 0;

  FilledRow(g, at, a);
  memset(q, 0, sizeof(*q));
  for (PetscInt m = 0; m < 27; m++) {
    const PetscInt o[3] = {S & 1 ? m % 3 - 1 : 0, S & 2 ? m / 3 % 3 - 1 : 0, S & 4 ? m / 9 - 1 : 0};

    q->c[o[0] + 1 + 3 * (o[1] + 1) + 9 * (o[2] + 1)] += a[m];
    excess += a[m];
  }
  q->c[13] = 0;
  MakeUpSigns(q->c);
  for (PetscInt m = 0; m < 27; m++) {
    q->c[m] = PetscAbsReal(q->c[m]);
    q->total += q->c[m];
  }
  for (int side = 0; side < 2 && e >= 0; side++) {
    PetscInt to[3] = {at[0], at[1], at[2]};

    to[e] += 2 * side - 1;
    q->next[side] = to[e] < 0 || to[e] >= g->n[e] ? 0 : PetscMax(0, -a[Next(e, side)]);
  }
  if (IsBesideEnd(g, at, S)) {
    q->total += PetscMax(0, excess);
    q->complete = (PetscBool)(excess <= 0.01 * PetscAbsReal(a[13]));
  }
  if (IsAlone(g, at) && !IsFilled(g)) q->total = 0;
}

/* A point from its neighbours in the directions S */
static void Interpolate(Grid *g, const PetscInt at[], const Equation *q, const PetscReal weights[])
{
  const PetscInt p = Number(g, at);

  g->v[p] = g->sum[p] = 0;
  if (q->total == 0) return;
  for (PetscInt m = 0; m < 27; m++) {
    PetscInt to[3] = {at[0] + m % 3 - 1, at[1] + m / 3 % 3 - 1, at[2] + m / 9 - 1};

    if (weights[m] == 0 || !Inside(g, to)) continue;
    g->v[p] += weights[m] * g->v[Number(g, to)];
    g->sum[p] += weights[m] * g->sum[Number(g, to)];
  }
  if (!q->complete || g->sum[p] == 0) return;
  g->v[p] /= g->sum[p];
  g->sum[p] = 1;
}

static void InterpolatePoint(Grid *g, const PetscInt at[], int S)
{
  PetscReal weights[27];
  Equation  q;

  GetEquation(g, at, S, -1, &q);
  for (PetscInt m = 0; m < 27; m++) weights[m] = q.total == 0 ? 0 : q.c[m] / q.total;
  Interpolate(g, at, &q, weights);
}

#define MAX_LINE 24

/* The line along e that begins at a point */
static void InterpolateLine(Grid *g, const PetscInt first[], int S)
{
  const int       e = g->along[S];
  static Equation q[MAX_LINE];
  PetscInt        at[3] = {first[0], first[1], first[2]};

  for (at[e] = 0; at[e] < g->n[e]; at[e]++) GetEquation(g, at, S, e, &q[at[e]]);
  for (PetscInt i = 0; i < g->n[e]; i++) q[i].complete = (PetscBool)(q[i].complete && q[i].total != 0);
  for (PetscInt i = 0; i < g->n[e]; i++) {
    PetscReal diagonal = q[i].total + q[i].next[0] + q[i].next[1];

    if (i) diagonal -= q[i].next[0] * q[i - 1].next[1];
    for (PetscInt m = 0; m < 27; m++) {
      if (i) q[i].c[m] += q[i].next[0] * q[i - 1].c[m];
      q[i].c[m] = diagonal == 0 ? 0 : q[i].c[m] / diagonal;
    }
    q[i].next[1] = diagonal == 0 ? 0 : q[i].next[1] / diagonal;
  }
  for (PetscInt i = g->n[e] - 2; i >= 0; i--) {
    for (PetscInt m = 0; m < 27; m++) q[i].c[m] += q[i].next[1] * q[i + 1].c[m];
  }
  for (at[e] = 0; at[e] < g->n[e]; at[e]++) {
    if (Between(g, at) == S) Interpolate(g, at, &q[at[e]], q[at[e]].c);
  }
}

/* Numbers of points whose couplings along d are weaker than those along another direction, and of all points */
static void CountWeak(const Grid *g, PetscReal weak[3][3], PetscReal *points)
{
  PetscReal count[3] = {0, 0, 0};

  memset(weak, 0, 9 * sizeof(weak[0][0]));
  for (PetscInt p = 0; p < g->n[0] * g->n[1] * g->n[2]; p++) {
    const PetscInt at[3] = {p % g->n[0], p / g->n[0] % g->n[1], p / g->n[0] / g->n[1]};
    PetscReal      a[27], larger[3], smaller[3];

    Row(g, at, a);
    for (int d = 0; d < 3; d++) {
      PetscReal sum[2] = {0, 0};

      for (PetscInt m = 0; m < 27; m++) {
        const PetscInt place = (d == 0 ? m : d == 1 ? m / 3 : m / 9) % 3;

        if (place != 1) sum[place / 2] -= a[m];
      }
      count[d] += (sum[0] != 0) + (sum[1] != 0);
      larger[d]  = PetscMax(0, PetscMax(sum[0], sum[1]));
      smaller[d] = PetscMin(sum[0], sum[1]) > 0 ? PetscMin(sum[0], sum[1]) : larger[d];
    }
    for (int i = 0; i < 9; i++) weak[i / 3][i % 3] += larger[i / 3] > 0 && larger[i / 3] < smaller[i % 3] / 10;
  }
  *points = PetscMax(count[0], PetscMax(count[1], count[2])) / 2;
}

/* Directions along which weights are solved for */
static void FindAlong(Grid *g)
{
  PetscReal weak[3][3], points;

  CountWeak(g, weak, &points);
  for (int S = 0; S < 8; S++) {
    PetscReal most = 0.05 * points;

    g->along[S] = -1;
    for (int d = 0; d < 3; d++) {
      for (int e = 0; e < 3; e++) {
        if (!(S >> d & 1) || S >> e & 1 || weak[d][e] <= most) continue;
        most        = weak[d][e];
        g->along[S] = e;
      }
    }
  }
}

/* Points between two coarse ones, then between four, then eight */
static void Reference(Grid *g)
{
  FindFill(g);
  FindAlong(g);
  for (int count = 0; count <= g->dim; count++) {
    for (PetscInt p = 0; p < g->n[0] * g->n[1] * g->n[2]; p++) {
      const PetscInt at[3] = {p % g->n[0], p / g->n[0] % g->n[1], p / g->n[0] / g->n[1]};
      const int      S = Between(g, at), e = g->along[S];

      if (((S & 1) + (S >> 1 & 1) + (S >> 2 & 1)) != count) continue;
      if (!count) {
        g->sum[p] = IsAlone(g, at) && !IsFilled(g) ? 0 : 1;
        g->v[p]   = g->sum[p] * CoarseFunction((at[0] - g->first) / 2, (at[1] - (g->dim > 1 ? g->first : 0)) / 2,
                                             g->dim > 2 ? (at[2] - g->first) / 2 : 0);
      } else if (e < 0) InterpolatePoint(g, at, S);
      else if (at[e] == g->first) InterpolateLine(g, at, S);
    }
  }
}

static void MakeRow(const void *ctx, const PetscInt at[], StencilRow *row)
{
  PetscReal a[27];

  Row((const Grid *)ctx, at, a);
  for (PetscInt q = 0; q < 27; q++) {
    const PetscInt to[3] = {at[0] + q % 3 - 1, at[1] + q / 3 % 3 - 1, at[2] + q / 9 - 1};

    if (q == 13) row->value[0] = a[q];
    else if (a[q] != 0) RowEntry(row, to, a[q]);
  }
}

/* The interpolation that PCKCYCLE makes, from the next grid to the finest, and that grid */
static PetscErrorCode GetInterpolation(PC pc, Mat *P, DM *coarse)
{
  KSP solver;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetInterpolation(pc, 1, P));
  PetscCall(PCMGGetCoarseSolve(pc, &solver));
  PetscCall(KSPGetDM(solver, coarse));
  PetscFunctionReturn(0);
}

/* P of the function of coarse points; the largest difference at a point of this process, relative to the function */
static PetscErrorCode Compare(const Grid *g, Mat P, DM fine, DM coarse, PetscReal *difference)
{
  Vec          e, v;
  PetscScalar *a;
  PetscInt     s[3], m[3];
  PetscReal    mine = 0;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(P, &e, &v));
  PetscCall(DMDAGetCorners(coarse, &s[0], &s[1], &s[2], &m[0], &m[1], &m[2]));
  PetscCall(VecGetArray(e, &a));
  for (PetscInt p = 0; p < m[0] * m[1] * m[2]; p++)
    a[p] = CoarseFunction(s[0] + p % m[0], s[1] + p / m[0] % m[1], s[2] + p / m[0] / m[1]);
  PetscCall(VecRestoreArray(e, &a));
  PetscCall(MatInterpolate(P, e, v));
  PetscCall(DMDAGetCorners(fine, &s[0], &s[1], &s[2], &m[0], &m[1], &m[2]));
  PetscCall(VecGetArray(v, &a));
  for (PetscInt p = 0; p < m[0] * m[1] * m[2]; p++) {
    const PetscInt at[3] = {s[0] + p % m[0], s[1] + p / m[0] % m[1], s[2] + p / m[0] / m[1]};

    mine = PetscMax(mine, PetscAbsScalar(a[p] - (IsAlone(g, at) ? 0 : g->v[Number(g, at)])));
  }
  PetscCall(VecRestoreArray(v, &a));
  PetscCall(DestroyAll(&e, &v));
  PetscCallMPI(MPI_Allreduce(&mine, difference, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

static PetscErrorCode Try(Grid *g)
{
  const DMBoundaryType x = g->c->periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  DM                   da, coarse;
  Mat                  A, P;
  PC                   pc;
  PetscReal            difference;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, x, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE,
                         g->c->box ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR, g->n[0], g->n[1], g->n[2], PETSC_DECIDE,
                         PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &da));
  PetscCall(DMSetDimension(da, g->dim));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(AssembleRows(da, MakeRow, g, A));
  PetscCall(MakePC(A, PCKCYCLE, &pc));
  PetscCall(PCSetDM(pc, da));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_kcycle_grid", g->c->grid));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(GetInterpolation(pc, &P, &coarse));
  Reference(g);
  PetscCall(Compare(g, P, da, coarse, &difference));
  PetscCall(Claim(difference < 1e-12, g->c->name));
  if (difference >= 1e-12) PetscCall(Print("  differs by %g\n", (double)difference));
  PetscCall(DestroyAll(&pc, &A, &da));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  static Grid g;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  g.dim = 3;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &g.dim, NULL));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    g.c     = &cases[i];
    g.first = g.c->boundary == BOUNDARY_ELIMINATED ? 1 : 0;
    for (int d = 0; d < 3; d++) g.n[d] = d < g.dim ? (g.dim == 2 ? 21 + 2 * d : 11 + (d == 1 ? 2 : 0)) : 1;
    if (g.c->periodic) g.n[0]++;
    PetscCall(Try(&g));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    nsize: {{1 3}}
    requires: !complex
    args: -dim {{2 3}} -pc_kcycle_interpolation operator -pc_kcycle_semicoarsen xyz -pc_mg_levels 2

TEST*/
