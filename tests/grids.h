/*
  Symmetric stencils on a DMDA of any size with any boundaries, for the tests of structured levels.

  Every number depends on indices of the grid only, so that any number of processes works on the same problem; and each
  process can ask for any row, so that references need no communication.
*/
#pragma once

#include "testing.h"

typedef enum {
  BOUNDARY_STORED,     /* Dirichlet points are stored, and isolated */
  BOUNDARY_ELIMINATED, /* they are left out */
  BOUNDARY_NEUMANN,    /* no flux */
  BOUNDARY_PERIODIC
} GridBoundary;

static const char *const GridBoundaries[] = {"stored", "interior", "cell", "periodic"};

typedef struct {
  PetscInt     number; /* seed of coefficients and process grid */
  PetscInt     dim, size[3], nproc[3];
  GridBoundary boundary[3][2];
  PetscBool    box, uneven;
  PetscReal    strength[3]; /* couplings in each direction */
  PetscReal    vary;        /* part by which they vary */
  PetscReal    seam;        /* the factor by which they are stronger where the grid wraps around; 0: no stronger */
  PetscBool    ghosted[3];  /* the DMDA has ghost points beyond the ends of this direction */
  PetscBool    thin;        /* with uneven: each process but the last one of a direction has one point of it */
  PetscBool    alone;       /* the grid is on PETSC_COMM_SELF */
} Grid;

/* A number in (0, 1) from some integers, the same everywhere */
static inline PetscReal GridHash(PetscInt a, PetscInt b, PetscInt c, PetscInt d)
{
  uint64_t       h    = UINT64_C(1469598103934665603);
  const PetscInt v[4] = {a, b, c, d};

  for (int i = 0; i < 4; i++) {
    h = (h ^ (uint64_t)(v[i] + 77)) * UINT64_C(1099511628211);
    h ^= h >> 29;
  }
  return (PetscReal)((h >> 20) % 100003 + 1) / 100005;
}

static inline PetscInt GridChoose(const Grid *g, PetscInt what, PetscInt n)
{
  return (PetscInt)(GridHash(g->number, what, 17, 4) * n);
}

static inline void GridSetBoundaries(Grid *g, GridBoundary boundary)
{
  for (PetscInt d = 0; d < 3; d++) g->boundary[d][0] = g->boundary[d][1] = boundary;
}

static inline PetscInt GridWrap(const Grid *g, PetscInt d, PetscInt x)
{
  return g->boundary[d][0] == BOUNDARY_PERIODIC ? (x + g->size[d]) % g->size[d] : x;
}

static inline PetscInt GridPoints(const Grid *g)
{
  return g->size[0] * g->size[1] * g->size[2];
}

static inline PetscInt GridNumber(const Grid *g, const PetscInt at[])
{
  return at[0] + g->size[0] * (at[1] + g->size[1] * at[2]);
}

static inline PetscBool GridIsStored(const Grid *g, const PetscInt at[])
{
  for (PetscInt d = 0; d < g->dim; d++) {
    if ((at[d] == 0 && g->boundary[d][0] == BOUNDARY_STORED) ||
        (at[d] == g->size[d] - 1 && g->boundary[d][1] == BOUNDARY_STORED))
      return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* The coupling of a point and the one at an offset, the same from both sides */
static inline PetscReal GridCoupling(const Grid *g, const PetscInt at[], const PetscInt off[])
{
  const PetscInt  place = off[0] + 3 * off[1] + 9 * off[2], sign = place < 0 ? -1 : 1;
  const PetscReal away     = PetscAbs(off[0]) + PetscAbs(off[1]) + PetscAbs(off[2]);
  PetscReal       strength = 0;
  PetscInt        from[3];
  PetscBool       wraps = PETSC_FALSE;

  for (PetscInt d = 0; d < 3; d++) {
    wraps   = (PetscBool)(wraps || GridWrap(g, d, at[d] + off[d]) != at[d] + off[d]);
    from[d] = place < 0 ? GridWrap(g, d, at[d] + off[d]) : at[d];
    strength += off[d] ? g->strength[d] / (away * away) : 0;
  }
  return (wraps && g->seam > 0 ? g->seam : 1) * strength *
         (1 + g->vary * (GridHash(g->number, sign * place, from[0] + 100 * from[1], from[2]) - 0.5));
}

/* The row of a point: numbers of its columns in natural order, values; the diagonal comes first. to: the places of
   the columns, not wrapped */
static inline PetscInt GridRow(const Grid *g, const PetscInt at[], PetscInt col[], PetscInt to[][3],
                               PetscScalar value[])
{
  const PetscBool stored = GridIsStored(g, at);
  PetscInt        m      = 1;

  col[0] = GridNumber(g, at);
  for (PetscInt d = 0; d < 3; d++) to[0][d] = at[d];
  value[0] = 0;
  for (PetscInt o = 0; o < 27; o++) {
    PetscInt  off[3], wrapped[3], away = 0;
    PetscBool outside = PETSC_FALSE, insulated = PETSC_FALSE;

    for (PetscInt d = 0, rest = o; d < 3; d++, rest /= 3) {
      off[d]     = rest % 3 - 1;
      to[m][d]   = at[d] + off[d];
      wrapped[d] = GridWrap(g, d, to[m][d]);
      away += off[d] && d >= g->dim ? 9 : off[d] != 0;
      if (wrapped[d] >= 0 && wrapped[d] < g->size[d]) continue;
      outside   = PETSC_TRUE;
      insulated = (PetscBool)(insulated || g->boundary[d][wrapped[d] >= 0] == BOUNDARY_NEUMANN);
    }
    if (!away || away > (g->box ? 3 : 1) || insulated) continue;
    if (!outside && GridNumber(g, wrapped) == col[0]) continue;
    value[0] += GridCoupling(g, at, off);
    if (outside || stored || GridIsStored(g, wrapped)) continue;
    col[m]     = GridNumber(g, wrapped);
    value[m++] = -GridCoupling(g, at, off);
  }
  if (value[0] == (PetscScalar)0.0) value[0] = 1;
  return m;
}

/* A grid that depends on a number: its dimension, sizes, of which there are number_of[dim], couplings and ends */
static inline void GridMake(Grid *g, PetscInt number, const PetscInt sizes[], const PetscInt number_of[])
{
  g->number = number;
  g->dim    = 1 + GridChoose(g, 0, 3);
  for (PetscInt d = 0; d < 3; d++) {
    g->size[d]        = d < g->dim ? sizes[GridChoose(g, 1 + d, number_of[g->dim])] : 1;
    g->strength[d]    = 0.5 + GridHash(number, d, 5, 6);
    g->boundary[d][0] = (GridBoundary)GridChoose(g, 4 + d, 4);
    g->boundary[d][1] =
        g->boundary[d][0] == BOUNDARY_PERIODIC ? BOUNDARY_PERIODIC : (GridBoundary)GridChoose(g, 7 + d, 3);
  }
  g->box    = (PetscBool)(g->dim > 1 && GridChoose(g, 10, 2));
  g->uneven = (PetscBool)GridChoose(g, 11, 2);
}

/* Numbers of processes in each direction, chosen; false if the grid is too small */
static inline PetscErrorCode GridDistribute(Grid *g, PetscBool *possible)
{
  PetscMPIInt nprocs;
  PetscInt    left;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &nprocs));
  left        = nprocs;
  g->nproc[0] = g->nproc[1] = g->nproc[2] = 1;
  for (PetscInt t = 0; left % 2 == 0 && t < 50; t++) {
    const PetscInt d = GridChoose(g, 20 + t, g->dim);

    if (g->size[d] < 2 * g->nproc[d]) continue;
    g->nproc[d] *= 2;
    left /= 2;
  }
  for (PetscInt d = 0; d < g->dim && left > 1; d++) {
    if (g->size[d] < left * g->nproc[d]) continue;
    g->nproc[d] *= left;
    left = 1;
  }
  *possible = (PetscBool)(left == 1);
  PetscFunctionReturn(0);
}

/* A grid of some sizes with couplings of 1 and the same ends everywhere, on all processes */
static inline PetscErrorCode GridInit(Grid *g, PetscInt dim, const PetscInt size[], GridBoundary boundary)
{
  PetscBool possible;

  PetscFunctionBeginUser;
  g->dim = dim;
  for (PetscInt d = 0; d < 3; d++) {
    g->size[d]     = size[d];
    g->strength[d] = 1;
  }
  GridSetBoundaries(g, boundary);
  PetscCall(GridDistribute(g, &possible));
  PetscCheck(possible, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ, "Too many processes");
  PetscFunctionReturn(0);
}

static inline PetscErrorCode GridCreateDM(const Grid *g, DM *da)
{
  PetscInt       owned[3][64];
  DMBoundaryType boundary[3];

  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < 3; d++) {
    const PetscBool periodic = (PetscBool)(g->boundary[d][0] == BOUNDARY_PERIODIC && d < g->dim);
    PetscInt        rest     = g->size[d] - g->nproc[d];

    boundary[d] = periodic ? DM_BOUNDARY_PERIODIC : g->ghosted[d] ? DM_BOUNDARY_GHOSTED : DM_BOUNDARY_NONE;
    for (PetscInt p = 0; p < g->nproc[d]; p++) {
      const PetscInt more = p == g->nproc[d] - 1 ? rest : g->thin ? 0 : GridChoose(g, 100 + 10 * d + p, rest + 1);

      owned[d][p] = 1 + more;
      rest -= more;
    }
  }
  PetscCall(DMDACreate(g->alone ? PETSC_COMM_SELF : PETSC_COMM_WORLD, da));
  PetscCall(DMSetDimension(*da, g->dim));
  PetscCall(DMDASetSizes(*da, g->size[0], g->size[1], g->size[2]));
  if (g->nproc[0]) PetscCall(DMDASetNumProcs(*da, g->nproc[0], g->nproc[1], g->nproc[2]));
  PetscCall(DMDASetBoundaryType(*da, boundary[0], boundary[1], boundary[2]));
  PetscCall(DMDASetDof(*da, 1));
  PetscCall(DMDASetStencilType(*da, g->box ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR));
  PetscCall(DMDASetStencilWidth(*da, 1));
  if (g->uneven && g->nproc[0])
    PetscCall(DMDASetOwnershipRanges(*da, owned[0], g->dim > 1 ? owned[1] : NULL, g->dim > 2 ? owned[2] : NULL));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(0);
}

/* Values of all rows; the matrix has been zeroed, or is new */
static inline PetscErrorCode GridAssemble(const Grid *g, DM da, Mat A)
{
  PetscInt s[3], n[3], at[3], col[27], to[27][3];

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &s[0], &s[1], &s[2], &n[0], &n[1], &n[2]));
  FOR_BOX(at, s, n) {
    const MatStencil row = {at[2], at[1], at[0], 0};
    MatStencil       cols[27];
    PetscScalar      value[27];
    const PetscInt   m = GridRow(g, at, col, to, value);

    for (PetscInt i = 0; i < m; i++) cols[i] = (MatStencil){to[i][2], to[i][1], to[i][0], 0};
    PetscCall(MatSetValuesStencil(A, 1, &row, m, cols, value, ADD_VALUES));
  }
  PetscCall(AssembleMat(A));
  PetscFunctionReturn(0);
}

/* The operator as a matrix of a type; it keeps the DMDA alive */
static inline PetscErrorCode GridCreateMat(const Grid *g, DM da, MatType type, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(DMSetMatType(da, type));
  PetscCall(DMCreateMatrix(da, A));
  PetscCall(GridAssemble(g, da, *A));
  PetscFunctionReturn(0);
}

/* A vector of numbers that depend on its rows */
static inline PetscErrorCode FillRows(Vec v, PetscInt seed)
{
  PetscScalar *a;
  PetscInt     first, end;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &first, &end));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt i = first; i < end; i++) a[i - first] = GridHash(i, seed, 3, 5) - 0.4;
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(0);
}

/* A vector of numbers that depend on the indices of points */
static inline PetscErrorCode GridFill(const Grid *g, DM da, PetscInt seed, Vec v)
{
  PetscInt     s[3], n[3], at[3];
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &s[0], &s[1], &s[2], &n[0], &n[1], &n[2]));
  PetscCall(VecGetArrayWrite(v, &a));
  FOR_BOX(at, s, n)
    a[at[0] - s[0] + n[0] * (at[1] - s[1] + n[1] * (at[2] - s[2]))] = GridHash(GridNumber(g, at), seed, 3, 5) - 0.4;
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(0);
}

/* The grid, its operator as a matrix of a type, and a right side */
static inline PetscErrorCode GridCreateSystem(const Grid *g, MatType type, DM *da, Mat *A, Vec *b)
{
  PetscFunctionBeginUser;
  PetscCall(GridCreateDM(g, da));
  PetscCall(GridCreateMat(g, *da, type, A));
  PetscCall(MatCreateVecs(*A, NULL, b));
  PetscCall(GridFill(g, *da, 7, *b));
  PetscFunctionReturn(0);
}

/* Rows of the DMDA's vectors for all points in natural order; the caller frees it */
static inline PetscErrorCode GridRows(DM da, PetscInt npoints, PetscInt **row)
{
  AO ao;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetAO(da, &ao));
  PetscCall(PetscMalloc1(npoints, row));
  for (PetscInt i = 0; i < npoints; i++) (*row)[i] = i;
  PetscCall(AOApplicationToPetsc(ao, npoints, *row));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode GridShow(const Grid *g, const char what[])
{
  PetscFunctionBeginUser;
  PetscCall(Print("  NO: %s: case %" PetscInt_FMT ", %s, %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT
                  " on %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT "%s",
                  what, g->number, g->box ? "box" : "star", g->size[0], g->size[1], g->size[2], g->nproc[0],
                  g->nproc[1], g->nproc[2], g->uneven ? " uneven" : ""));
  for (PetscInt d = 0; d < g->dim; d++)
    PetscCall(Print(", %s-%s", GridBoundaries[g->boundary[d][0]], GridBoundaries[g->boundary[d][1]]));
  PetscCall(Print("\n"));
  PetscFunctionReturn(0);
}
