static char help[] =
    "Structured levels of PCKCYCLE and their definition: interpolation, restriction and coarse operators on random \
grids.\n\
  -first <0> -cases <60>   which random cases\n\n";

/*
  The reference is built from AIJ matrices and the sizes of grids alone: which points a coarse grid keeps, the weights
  of each fine point, Galerkin products by MatPtAP().
*/

#include "grids.h"
#include "poisson.h"

typedef struct {
  PetscInt     size[3], owned[3][64], s[3], n[3];
  GridBoundary boundary[3][2];
  PetscInt     npoints;
  PetscInt    *row;            /* of each point */
  PetscBool   *decoupled;      /* isolated points */
  PetscReal   *sum, *coupling; /* of the row of each point; back and ahead in each direction, of the sign of the row */
  int         *sides;          /* of each point: are there couplings back and ahead in each direction? */
  PetscBool    couples[3];     /* are there couplings in a direction? */
  DM           da;
} Level;

typedef struct {
  Grid                      g;
  PCKCycleInterpolationType interpolation;
  const char               *directions;
  PC                        pc;
} Case;

typedef enum {
  GRIDS,
  INTERPOLATE,
  INTERPOLATEADD,
  RESTRICT,
  RESTRICTADD,
  GALERKIN,
  COLLAPSED,
  COARSEST,
  MATPTAP,
  NUM_PROPERTIES
} Property;

static const char *const Claims[NUM_PROPERTIES] = {
    "coarse grids have the points expected",  "interpolation follows its definition",
    "interpolation is added likewise",        "restriction is its transpose",
    "restriction is added likewise",          "coarse operators are the products of MatPtAP()",
    "or these products, collapsed to a star", "the coarsest grid is small or cannot be coarsened",
    "MatPtAP() of stencils is that of MATAIJ"};

static PetscErrorCode CaseMake(Case *c, PetscInt number, PetscBool *possible)
{
  const PetscInt                  sizes[]      = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 17, 23, 31, 32, 33};
  const PetscInt                  number_of[4] = {0, 17, 17, 10};
  const PCKCycleInterpolationType rules[]      = {PC_KCYCLE_INTERPOLATION_LINEAR, PC_KCYCLE_INTERPOLATION_SIMPLEX,
                                                  PC_KCYCLE_INTERPOLATION_CONSTANT};
  const char *const               directions[] = {"xyz", "xyz", "xyz", "x", "y", "xy", "yz", "xz", "z"};
  Grid                           *g            = &c->g;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(c, sizeof(*c)));
  GridMake(g, number, sizes, number_of);
  g->vary          = GridChoose(g, 12, 2) * 0.2;
  c->interpolation = rules[GridChoose(g, 13, 3)];
  c->directions    = directions[GridChoose(g, 14, g->dim == 3 ? 9 : 5)];
  PetscCall(GridDistribute(g, possible));
  PetscFunctionReturn(0);
}

static PetscErrorCode ShowCase(const Case *c, Property p)
{
  PetscFunctionBeginUser;
  PetscCall(GridShow(&c->g, Claims[p]));
  PetscCall(Print("    %s, coarsened in %s\n", PCKCycleInterpolationTypes[c->interpolation], c->directions));
  PetscFunctionReturn(0);
}

static PetscErrorCode LevelFinish(Level *l)
{
  const PetscInt *owned[3];
  PetscInt        nproc[3];

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(l->da, NULL, &l->size[0], &l->size[1], &l->size[2], &nproc[0], &nproc[1], &nproc[2], NULL, NULL,
                        NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetOwnershipRanges(l->da, &owned[0], &owned[1], &owned[2]));
  for (PetscInt d = 0; d < 3; d++) {
    for (PetscInt p = 0; p < nproc[d]; p++) l->owned[d][p] = nproc[d] == 1 ? l->size[d] : owned[d][p];
  }
  PetscCall(DMDAGetCorners(l->da, &l->s[0], &l->s[1], &l->s[2], &l->n[0], &l->n[1], &l->n[2]));
  l->npoints = l->size[0] * l->size[1] * l->size[2];
  PetscCall(GridRows(l->da, l->npoints, &l->row));
  PetscCall(PetscCalloc1(l->npoints, &l->decoupled));
  PetscCall(PetscCalloc3(l->npoints, &l->sum, 6 * l->npoints, &l->coupling, 6 * l->npoints, &l->sides));
  PetscFunctionReturn(0);
}

static PetscErrorCode LevelDestroy(Level *l)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(l->row));
  PetscCall(PetscFree(l->decoupled));
  PetscCall(PetscFree3(l->sum, l->coupling, l->sides));
  PetscCall(DMDestroy(&l->da));
  PetscFunctionReturn(0);
}

static PetscInt Number(const Level *l, const PetscInt at[])
{
  return at[0] + l->size[0] * (at[1] + l->size[1] * at[2]);
}

/* Which points have no entry off the diagonal, and which directions have couplings; known on all processes */
static PetscErrorCode FindDecoupled(Level *l, Mat A)
{
  PetscInt at[3], *place;
  int     *coupled, couples[3] = {0, 0, 0};

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(l->npoints, &coupled));
  PetscCall(PetscMalloc1(l->npoints, &place));
  for (PetscInt i = 0; i < l->npoints; i++) place[l->row[i]] = i;
  FOR_BOX(at, l->s, l->n) {
    const PetscInt     row = l->row[Number(l, at)];
    const PetscInt    *cols;
    const PetscScalar *v;
    PetscInt           m;

    PetscCall(MatGetRow(A, row, &m, &cols, &v));
    for (PetscInt i = 0; i < m; i++) {
      const PetscInt p     = place[cols[i]],
                     to[3] = {p % l->size[0], p / l->size[0] % l->size[1], p / l->size[0] / l->size[1]};

      l->sum[Number(l, at)] += PetscRealPart(v[i]);
      for (PetscInt d = 0; d < 3; d++) {
        if (to[d] != at[d]) l->coupling[6 * Number(l, at) + 2 * d + (to[d] > at[d])] -= PetscRealPart(v[i]);
      }
      if (cols[i] == row || v[i] == (PetscScalar)0.0) continue;
      coupled[Number(l, at)] = 1;
      for (PetscInt d = 0; d < 3; d++) {
        couples[d] |= to[d] != at[d];
        if (to[d] != at[d]) l->sides[6 * Number(l, at) + 2 * d + (to[d] > at[d])] = 1;
      }
    }
    PetscCall(MatRestoreRow(A, row, &m, &cols, &v));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, coupled, (PetscMPIInt)l->npoints, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, l->sum, (PetscMPIInt)l->npoints, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, l->coupling, (PetscMPIInt)(6 * l->npoints), MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, l->sides, (PetscMPIInt)(6 * l->npoints), MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, couples, 3, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  for (PetscInt i = 0; i < l->npoints; i++) l->decoupled[i] = (PetscBool)!coupled[i];
  for (PetscInt d = 0; d < 3; d++) l->couples[d] = (PetscBool)couples[d];
  PetscCall(PetscFree(coupled));
  PetscCall(PetscFree(place));
  PetscFunctionReturn(0);
}

/* Factor and first point of each direction, and the grid of the points that are kept. No direction is coarsened
   where a process would lose all its points in one of them */
static PetscErrorCode Coarsen(const Case *c, const Level *fine, PetscInt factor[], PetscInt first[], Level *coarse)
{
  PetscInt       keep[3][64];
  PetscBool      blocked = PETSC_FALSE;
  DMBoundaryType boundary[3];

  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < 3; d++) {
    const PetscBool named = (PetscBool)(strchr(c->directions, (int)('x' + d)) != NULL && d < c->g.dim &&
                                        fine->size[d] > 1 && fine->couples[d]);
    PetscInt        start = 0;

    first[d]  = d < c->g.dim && fine->boundary[d][0] == BOUNDARY_ELIMINATED ? 1 : 0;
    factor[d] = named ? 2 : 1;
    for (PetscInt p = 0; p < c->g.nproc[d]; p++) {
      keep[d][p] = 0;
      for (PetscInt i = start; i < start + fine->owned[d][p]; i++) keep[d][p] += (i - first[d]) % 2 == 0;
      start += fine->owned[d][p];
      if (named && !keep[d][p]) blocked = PETSC_TRUE;
    }
  }
  for (PetscInt d = 0; d < 3; d++) {
    coarse->size[d] = 0;
    if (blocked) factor[d] = 1;
    if (factor[d] == 1) first[d] = 0;
    for (PetscInt p = 0; p < c->g.nproc[d]; p++) {
      if (factor[d] == 1) keep[d][p] = fine->owned[d][p];
      coarse->size[d] += keep[d][p];
    }
    boundary[d] = fine->boundary[d][0] == BOUNDARY_PERIODIC && d < c->g.dim ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
    coarse->boundary[d][0] = fine->boundary[d][0];
    coarse->boundary[d][1] = fine->boundary[d][1];
    if (factor[d] == 2 && fine->boundary[d][1] == BOUNDARY_STORED && (fine->size[d] - 1 - first[d]) % 2)
      coarse->boundary[d][1] = BOUNDARY_ELIMINATED;
  }
  PetscCall(DMDACreate(PETSC_COMM_WORLD, &coarse->da));
  PetscCall(DMSetDimension(coarse->da, c->g.dim));
  PetscCall(DMDASetSizes(coarse->da, coarse->size[0], coarse->size[1], coarse->size[2]));
  PetscCall(DMDASetNumProcs(coarse->da, c->g.nproc[0], c->g.nproc[1], c->g.nproc[2]));
  PetscCall(DMDASetBoundaryType(coarse->da, boundary[0], boundary[1], boundary[2]));
  PetscCall(DMDASetDof(coarse->da, 1));
  PetscCall(DMDASetStencilType(coarse->da, DMDA_STENCIL_BOX));
  PetscCall(DMDASetStencilWidth(coarse->da, 1));
  PetscCall(DMDASetOwnershipRanges(coarse->da, keep[0], keep[1], keep[2]));
  PetscCall(DMSetUp(coarse->da));
  PetscCall(LevelFinish(coarse));
  PetscFunctionReturn(0);
}

/* The coarse point a fine one lies on, or the two it lies between: low and high, the same where they coincide; -1:
   there is none */
static void Neighbours(const Level *fine, const Level *coarse, PetscInt d, PetscInt factor, PetscInt first, PetscInt i,
                       PetscInt at[2])
{
  const PetscInt away = i - first;

  if (factor == 1) at[0] = at[1] = i;
  else if (away % 2 == 0) at[0] = at[1] = away / 2;
  else {
    at[0] = away > 0 ? (away - 1) / 2 : -1;
    at[1] = at[0] + 1;
    if (at[1] == coarse->size[d]) at[1] = fine->boundary[d][0] == BOUNDARY_PERIODIC ? 0 : -1;
  }
}

/* Beyond a boundary without flux the function goes on as it is */
static void Mirror(const Level *fine, PetscInt d, PetscInt at[2])
{
  for (int s = 0; s < 2; s++) {
    if (at[s] < 0 && fine->boundary[d][s] == BOUNDARY_NEUMANN) at[s] = at[1 - s];
  }
}

/* The weight of a point that has a coarse one on one side only, with linear interpolation: its coupling inward, a part
   of that and of what its row sum exceeds the next point's by. At corners of a box stencil it is that of the next point
   along the boundary */
static PetscReal EndWeight(const Level *fine, PetscBool box, const PetscInt point[], PetscInt d, int side)
{
  const int *sides = &fine->sides[6 * Number(fine, point)];
  PetscInt   at[3] = {point[0], point[1], point[2]}, next[3];
  PetscReal  inward, excess;

  for (PetscInt t = 0; t < 3; t++) {
    if (!box || t == d || fine->boundary[t][0] == BOUNDARY_PERIODIC) continue;
    if (sides[2 * t] != sides[2 * t + 1]) at[t] += sides[2 * t] ? -1 : 1;
  }
  for (PetscInt t = 0; t < 3; t++) next[t] = at[t] + (t == d ? (side ? -1 : 1) : 0);
  inward = PetscMax(fine->coupling[6 * Number(fine, at) + 2 * d + (side == 0)], 0);
  excess = PetscMax(fine->sum[Number(fine, at)] - (fine->size[d] > 2 ? fine->sum[Number(fine, next)] : 0), 0);
  return inward > 0 ? inward / (inward + excess) : 0;
}

/* The weights of one fine point on at most eight coarse ones */
static PetscInt Weights(const Case *c, const Level *fine, const Level *coarse, const PetscInt factor[],
                        const PetscInt first[], const PetscInt at[], PetscInt to[][3], PetscReal weight[])
{
  PetscInt  near[3][2], m = 0;
  PetscBool simplex = (PetscBool)(c->interpolation == PC_KCYCLE_INTERPOLATION_SIMPLEX);

  for (PetscInt d = 0; d < 3; d++) {
    Neighbours(fine, coarse, d, factor[d], first[d], at[d], near[d]);
    if (c->interpolation != PC_KCYCLE_INTERPOLATION_LINEAR) Mirror(fine, d, near[d]);
  }
  for (int corner = 0; corner < 8; corner++) {
    weight[m] = 1;
    for (PetscInt d = 0; d < 3; d++) {
      const int side = (corner >> d) & 1;

      to[m][d] = near[d][side];
      if (simplex) weight[m] *= side == (corner & 1);
      else if (c->interpolation == PC_KCYCLE_INTERPOLATION_CONSTANT) weight[m] *= side == (near[d][0] >= 0 ? 0 : 1);
      else if (near[d][1 - side] < 0) weight[m] *= EndWeight(fine, c->g.box, at, d, 1 - side);
      else weight[m] *= 0.5;
      if (to[m][d] < 0) weight[m] = 0;
    }
    if (simplex) weight[m] *= 0.5;
    if (weight[m] > 0) m++;
  }
  return m;
}

/* The interpolation as AIJ */
static PetscErrorCode Reference(const Case *c, const Level *fine, const Level *coarse, const PetscInt factor[],
                                const PetscInt first[], Mat *P)
{
  PetscInt at[3];

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, P));
  PetscCall(MatSetSizes(*P, fine->n[0] * fine->n[1] * fine->n[2], coarse->n[0] * coarse->n[1] * coarse->n[2],
                        PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*P, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(*P, 8, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*P, 8, NULL, 8, NULL));
  FOR_BOX(at, fine->s, fine->n) {
    PetscInt       to[9][3], f[3];
    PetscReal      weight[9];
    const PetscInt m = Weights(c, fine, coarse, factor, first, at, to, weight), row = fine->row[Number(fine, at)];

    for (PetscInt i = 0; i < m; i++) {
      const PetscScalar w = weight[i];

      for (PetscInt d = 0; d < 3; d++) f[d] = factor[d] * to[i][d] + first[d];
      if (!fine->decoupled[Number(fine, at)] && !fine->decoupled[Number(fine, f)])
        PetscCall(MatSetValues(*P, 1, &row, 1, &coarse->row[Number(coarse, to[i])], &w, ADD_VALUES));
    }
  }
  PetscCall(AssembleMat(*P));
  PetscFunctionReturn(0);
}

static PetscErrorCode Same(Vec a, Vec b, PetscBool *same)
{
  PetscReal norm, difference;

  PetscFunctionBeginUser;
  PetscCall(DifferenceNorms(b, a, NORM_INFINITY, &difference, &norm));
  *same = (PetscBool)(*same && difference <= 1e-13 * PetscMax(norm, 1));
  PetscFunctionReturn(0);
}

/* Both matrices on vectors without pattern */
static PetscErrorCode CompareTransfers(const Case *c, Mat P, Mat Q, PetscBool holds[])
{
  Vec e, f, x, y, z;

  PetscFunctionBeginUser;
  (void)c;
  PetscCall(MatCreateVecs(P, &e, &x));
  PetscCall(VecDuplicate(e, &f));
  PetscCall(DuplicateVec(x, &y, &z));
  PetscCall(VecSetRandom(e, NULL));
  PetscCall(VecSetRandom(z, NULL));
  PetscCall(MatMult(P, e, x));
  PetscCall(MatMult(Q, e, y));
  PetscCall(Same(x, y, &holds[INTERPOLATE]));
  PetscCall(MatMultAdd(P, e, z, x));
  PetscCall(VecCopy(z, y));
  PetscCall(MatMultAdd(Q, e, y, y));
  PetscCall(Same(x, y, &holds[INTERPOLATEADD]));
  PetscCall(MatMultTranspose(P, z, f));
  PetscCall(VecCopy(f, e));
  PetscCall(MatMultTranspose(Q, z, e));
  PetscCall(Same(f, e, &holds[RESTRICT]));
  PetscCall(VecSetRandom(e, NULL));
  PetscCall(MatMultTransposeAdd(P, z, e, f));
  PetscCall(MatMultTransposeAdd(Q, z, e, e));
  PetscCall(Same(f, e, &holds[RESTRICTADD]));
  PetscCall(DestroyAll(&e, &f, &x, &y, &z));
  PetscFunctionReturn(0);
}

/* The part of the weights of a point that is not at the given coordinate in direction d, and the other coordinate */
static PetscReal PartElsewhere(const Case *c, const Level *fine, const Level *coarse, const PetscInt factor[],
                               const PetscInt first[], const PetscInt at[], PetscInt d, PetscInt mine, PetscInt *other)
{
  PetscInt       to[9][3], f[3];
  PetscReal      weight[9], all = 0, part = 0;
  const PetscInt m = fine->decoupled[Number(fine, at)] ? 0 : Weights(c, fine, coarse, factor, first, at, to, weight);

  for (PetscInt i = 0; i < m; i++) {
    for (PetscInt k = 0; k < 3; k++) f[k] = factor[k] * to[i][k] + first[k];
    if (fine->decoupled[Number(fine, f)]) continue;
    all += weight[i];
    if (to[i][d] == mine) continue;
    part += weight[i];
    *other = to[i][d];
  }
  return all > 0 ? part / all : 0;
}

/* Couplings of a product collapsed to a star: those of fine points that coincide with coarse ones in a direction, times
   the weights of the next point on the next coarse point */
static PetscErrorCode AddCouplings(const Case *c, const Level *fine, const Level *coarse, const PetscInt factor[],
                                   const PetscInt first[], Mat A, Mat Q, Mat S)
{
  PetscInt at[3], *place, *cplace;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(fine->npoints, &place, coarse->npoints, &cplace));
  for (PetscInt i = 0; i < fine->npoints; i++) place[fine->row[i]] = i;
  for (PetscInt i = 0; i < coarse->npoints; i++) cplace[coarse->row[i]] = i;
  FOR_BOX(at, fine->s, fine->n) {
    const PetscInt     row = fine->row[Number(fine, at)], *cols, *ccols;
    const PetscScalar *v, *w;
    PetscInt           m, mc;

    PetscCall(MatGetRow(A, row, &m, &cols, &v));
    PetscCall(MatGetRow(Q, row, &mc, &ccols, &w));
    for (PetscInt i = 0; i < m * mc; i++) {
      PetscInt       p = place[cols[i % m]], q = cplace[ccols[i / m]];
      const PetscInt to[3] = {p % fine->size[0], p / fine->size[0] % fine->size[1], p / fine->size[0] / fine->size[1]};
      PetscInt       on[3] = {q % coarse->size[0], q / coarse->size[0] % coarse->size[1],
                              q / coarse->size[0] / coarse->size[1]},
               d           = 0;
      PetscReal   part;
      PetscScalar half, minus;

      while (d < 3 && to[d] == at[d]) d++;
      if (d == 3 || at[d] != factor[d] * on[d] + first[d]) continue;
      part  = PartElsewhere(c, fine, coarse, factor, first, to, d, on[d], &on[d]);
      half  = 0.5 * part * v[i % m] * w[i / m];
      minus = -half;
      q     = ccols[i / m];
      p     = coarse->row[Number(coarse, on)];
      PetscCall(MatSetValues(S, 1, &q, 1, &p, &half, ADD_VALUES));
      PetscCall(MatSetValues(S, 1, &p, 1, &q, &half, ADD_VALUES));
      PetscCall(MatSetValues(S, 1, &q, 1, &q, &minus, ADD_VALUES));
      PetscCall(MatSetValues(S, 1, &p, 1, &p, &minus, ADD_VALUES));
    }
    PetscCall(MatRestoreRow(Q, row, &mc, &ccols, &w));
    PetscCall(MatRestoreRow(A, row, &m, &cols, &v));
  }
  PetscCall(PetscFree2(place, cplace));
  PetscFunctionReturn(0);
}

/* The coarse operator, from the product G with Q: rows of points that take no correction get the diagonal of their
   fine points */
static PetscErrorCode CoarseOperator(const Case *c, const Level *fine, const Level *coarse, const PetscInt factor[],
                                     const PetscInt first[], PetscBool star, Mat A, Mat Q, Mat G, Mat *S)
{
  PetscInt at[3];
  Vec      diagonal;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &diagonal, NULL));
  PetscCall(MatGetDiagonal(A, diagonal));
  PetscCall(MatCreate(PETSC_COMM_WORLD, S));
  PetscCall(MatSetSizes(*S, coarse->n[0] * coarse->n[1] * coarse->n[2], coarse->n[0] * coarse->n[1] * coarse->n[2],
                        PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*S, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(*S, 27, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*S, 27, NULL, 27, NULL));
  PetscCall(MatSetOption(*S, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  if (star) PetscCall(AddCouplings(c, fine, coarse, factor, first, A, Q, *S));
  FOR_BOX(at, coarse->s, coarse->n) {
    const PetscInt row  = coarse->row[Number(coarse, at)],
                   f[3] = {factor[0] * at[0] + first[0], factor[1] * at[1] + first[1], factor[2] * at[2] + first[2]};
    const PetscInt    *cols;
    const PetscScalar *v;
    PetscScalar        d;
    PetscInt           m;

    PetscCall(VecGetValues(diagonal, 1, &fine->row[Number(fine, f)], &d));
    if (fine->decoupled[Number(fine, f)]) PetscCall(MatSetValues(*S, 1, &row, 1, &row, &d, ADD_VALUES));
    PetscCall(MatGetRow(G, row, &m, &cols, &v));
    for (PetscInt i = 0; i < m; i++) {
      PetscCall(MatSetValues(*S, 1, &row, 1, star ? &row : &cols[i], &v[i], ADD_VALUES));
    }
    PetscCall(MatRestoreRow(G, row, &m, &cols, &v));
  }
  PetscCall(AssembleMat(*S));
  PetscCall(VecDestroy(&diagonal));
  PetscFunctionReturn(0);
}

static PetscErrorCode LevelOperator(const Case *c, PetscInt l, Mat *aij)
{
  KSP ksp;
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetSmoother(c->pc, l, &ksp));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, aij));
  PetscFunctionReturn(0);
}

/* Through PETSc's product, made once and again for other values; G: that of MATAIJ */
static PetscErrorCode CompareProduct(const Case *c, PetscInt l, Mat P, Mat G, PetscBool *holds)
{
  KSP       ksp;
  Mat       A, C, aij;
  PetscReal norm, difference;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetSmoother(c->pc, l, &ksp));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatConvert(A, MATSTENCIL, MAT_INITIAL_MATRIX, &A)); /* the finest is that of the program, and AIJ */
  PetscCall(MatPtAP(A, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatNorm(G, NORM_FROBENIUS, &norm));
  for (int again = 0; again < 2; again++) {
    PetscCall(MatConvert(C, MATAIJ, MAT_INITIAL_MATRIX, &aij));
    PetscCall(MatAXPY(aij, again ? -3 : -1, G, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatNorm(aij, NORM_FROBENIUS, &difference));
    if (!HasType(C, MATSTENCIL) || !(difference <= 1e-12 * norm)) *holds = PETSC_FALSE;
    PetscCall(MatDestroy(&aij));
    PetscCall(MatScale(A, 3.0));
    PetscCall(MatPtAP(A, P, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  }
  PetscCall(DestroyAll(&A, &C));
  PetscFunctionReturn(0);
}

/* One level and its reference; the level is the finest of those that remain */
static PetscErrorCode CheckLevel(const Case *c, PetscInt l, const Level *fine, Level *coarse, PetscBool star,
                                 PetscBool holds[])
{
  PetscInt  factor[3], first[3], m, n;
  Mat       A, Ac, P, Q, G, S;
  PetscReal norm, difference;

  PetscFunctionBeginUser;
  PetscCall(LevelOperator(c, l, &A));
  PetscCall(LevelOperator(c, l - 1, &Ac));
  PetscCall(PCMGGetInterpolation(c->pc, l, &P));
  PetscCall(FindDecoupled((Level *)fine, A));
  PetscCall(Coarsen(c, fine, factor, first, coarse));
  PetscCall(MatGetLocalSize(P, &m, &n));
  m = m == fine->n[0] * fine->n[1] * fine->n[2] && n == coarse->n[0] * coarse->n[1] * coarse->n[2];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &m, 1, MPIU_INT, MPI_MIN, PETSC_COMM_WORLD));
  if (m) {
    PetscCall(Reference(c, fine, coarse, factor, first, &Q));
    PetscCall(CompareTransfers(c, Q, P, holds));
    PetscCall(MatPtAP(A, Q, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &G));
    PetscCall(CompareProduct(c, l, P, G, &holds[MATPTAP]));
    PetscCall(CoarseOperator(c, fine, coarse, factor, first, star, A, Q, G, &S));
    PetscCall(MatNorm(S, NORM_FROBENIUS, &norm));
    PetscCall(MatAXPY(S, -1, Ac, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatNorm(S, NORM_FROBENIUS, &difference));
    if (!(difference <= 1e-12 * norm)) holds[star ? COLLAPSED : GALERKIN] = PETSC_FALSE;
    PetscCall(DestroyAll(&Q, &G, &S));
  } else holds[GRIDS] = PETSC_FALSE;
  PetscCall(DestroyAll(&A, &Ac));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckLevels(const Case *c, PetscBool holds[])
{
  Level     level[2];
  PetscInt  nlevels, factor[3], first[3];
  PetscBool gathered = PETSC_FALSE;
  Mat       A;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(level, sizeof(level)));
  for (PetscInt d = 0; d < 3; d++) {
    level[0].boundary[d][0] = c->g.boundary[d][0];
    level[0].boundary[d][1] = c->g.boundary[d][1];
  }
  PetscCall(GridCreateDM(&c->g, &level[0].da));
  PetscCall(LevelFinish(&level[0]));
  PetscCall(PCMGGetLevels(c->pc, &nlevels));
  for (PetscInt l = nlevels - 1; l > 0 && holds[GRIDS]; l--) {
    const PetscBool star = (PetscBool)(c->interpolation == PC_KCYCLE_INTERPOLATION_LINEAR && !c->g.box && c->g.dim > 1);

    PetscCall(CheckLevel(c, l, &level[0], &level[1], star, holds));
    PetscCall(LevelDestroy(&level[0]));
    level[0] = level[1];
  }
  /* 3, or 8 where couplings jump; else it is agglomerated where one would keep no point */
  if (holds[GRIDS] && PetscMax(level[0].size[0], PetscMax(level[0].size[1], level[0].size[2])) > 8) {
    PetscCall(LevelOperator(c, 0, &A));
    PetscCall(FindDecoupled(&level[0], A));
    PetscCall(MatDestroy(&A));
    PetscCall(Coarsen(c, &level[0], factor, first, &level[1]));
    PetscCall(ViewHas(c->pc, "would keep no point of the next level", &gathered));
    if (factor[0] * factor[1] * factor[2] > 1 && !gathered) holds[COARSEST] = PETSC_FALSE;
    PetscCall(LevelDestroy(&level[1]));
  }
  PetscCall(LevelDestroy(&level[0]));
  PetscFunctionReturn(0);
}

static PetscErrorCode RunCase(Case *c, PetscBool holds[])
{
  DM  da;
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(GridCreateDM(&c->g, &da));
  PetscCall(GridCreateMat(&c->g, da, c->g.number % 2 ? MATAIJ : MATSTENCIL, &A));
  PetscCall(MakePC(A, PCKCYCLE, &c->pc));
  PetscCall(PCKCycleSetProcEqLim(c->pc, 0)); /* as many levels on all processes as can be had */
  PetscCall(PCKCycleSetStructured(c->pc, PC_KCYCLE_STRUCTURED_ON));
  PetscCall(PCKCycleSetInterpolation(c->pc, c->interpolation));
  PetscCall(PCKCycleSetSemicoarsen(c->pc, c->directions));
  PetscCall(PCSetUp(c->pc));
  PetscCall(CheckLevels(c, holds));
  PetscCall(DestroyAll(&c->pc, &A, &da));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt  first = 0, cases = 60;
  PetscBool all[NUM_PROPERTIES];

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-first", &first, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cases", &cases, NULL));
  for (PetscInt p = 0; p < NUM_PROPERTIES; p++) all[p] = PETSC_TRUE;
  for (PetscInt number = first; number < first + cases; number++) {
    Case      c;
    PetscBool possible = PETSC_FALSE, holds[NUM_PROPERTIES];

    for (PetscInt p = 0; p < NUM_PROPERTIES; p++) holds[p] = PETSC_TRUE;
    PetscCall(CaseMake(&c, number, &possible));
    if (possible) PetscCall(RunCase(&c, holds));
    for (PetscInt p = 0; p < NUM_PROPERTIES; p++) {
      if (!holds[p]) PetscCall(ShowCase(&c, (Property)p));
      all[p] = (PetscBool)(all[p] && holds[p]);
    }
  }
  for (PetscInt p = 0; p < NUM_PROPERTIES; p++) PetscCall(ClaimThat(all[p], "%s", Claims[p]));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    requires: !complex
    nsize: {{1 3 8}}
    output_file: output/transfer.out

TEST*/
