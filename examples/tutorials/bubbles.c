static char help[] =
    "Pressure in a flow of two fluids whose densities differ much: layers, bubbles, droplets. -help explains the \
options.\n\
  ./bubbles -n 128 -contrast 1e6                                            nine bubbles, kappa-cycle\n\
  ./bubbles -n 128 -contrast 1e6 -pc_type deflsub -pc_deflsub_boxes 8,8 -deflsub_pc_type incpoisson   deflation\n\
  mpiexec -n 4 ./bubbles -dim 3 -n 48 -dm_mat_type stencil -output bubbles.vts\n\n";

/*
  The pressure p of a flow with density rho in the unit square or cube,

      - div (beta grad p) = f,   beta = density of the gas / rho,

  so that beta is 1 in the gas and 1 / contrast in the liquid. Finite volumes on n cells each way; the coupling of two
  cells is the beta of the face between them, times h^(dim - 2). Walls have no flux (the matrix is singular, its null
  space is attached), or p is 0 in the cells outside of them.

  It shows a DMDA with KSPSetComputeOperators(), so that every preconditioner of PETSc and of petsc-kcycle can be chosen
  by options.
*/
#include <petsckcycle.h>
#include <petscdmda.h>
#include <petsctime.h>

typedef enum {
  SHAPE_BUBBLES,
  SHAPE_LAYER,
  SHAPE_FILE
} Shape;

typedef enum {
  MEAN_ARITHMETIC,
  MEAN_HARMONIC,
  MEAN_FACE
} Mean;

typedef enum {
  WALL_NEUMANN,
  WALL_DIRICHLET,
  WALL_PINNED
} Wall;

typedef enum {
  CASE_SMOOTH,
  CASE_RANDOM,
  CASE_BUOYANCY
} Case;

static const char *const Shapes[] = {"bubbles", "layer", "file", "Shape", "SHAPE_", NULL};
static const char *const Means[]  = {"arithmetic", "harmonic", "face", "Mean", "MEAN_", NULL};
static const char *const Walls[]  = {"neumann", "dirichlet", "pinned", "Wall", "WALL_", NULL};
static const char *const Cases[]  = {"smooth", "random", "buoyancy", "Case", "CASE_", NULL};

typedef struct {
  PetscReal at[3], radius;
} Bubble;

typedef struct {
  PetscInt       dim, n;
  Shape          shape;
  Mean           mean;
  Wall           wall;
  Case           rhs;
  PetscInt       across;   /* bubbles each way, in rows */
  PetscInt       nbubbles; /* in the file */
  Bubble        *bubble;
  PetscReal      radius, height;
  PetscReal      contrast, smooth;
  PetscBool      droplets, start, times, claims;
  char           file[PETSC_MAX_PATH_LEN], output[PETSC_MAX_PATH_LEN];
  PetscLogDouble assembled; /* when the operator was; 0: it is not yet */
} Problem;

static PetscErrorCode SetFromOptions(Problem *p)
{
  PetscFunctionBeginUser;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Two fluids", NULL);
  PetscCall(PetscOptionsInt("-dim", "Dimensions: 2 or 3", NULL, p->dim, &p->dim, NULL));
  PetscCall(PetscOptionsInt("-n", "Cells each way", NULL, p->n, &p->n, NULL));
  PetscCall(PetscOptionsEnum("-shape",
                             "Where the gas is: bubbles in rows, below a flat interface, or bubbles from a file", NULL,
                             Shapes, (PetscEnum)p->shape, (PetscEnum *)&p->shape, NULL));
  PetscCall(PetscOptionsInt("-bubbles", "Bubbles each way, -shape bubbles", NULL, p->across, &p->across, NULL));
  PetscCall(PetscOptionsReal("-radius", "Their radius, relative to the distance of their centres", NULL, p->radius,
                             &p->radius, NULL));
  PetscCall(PetscOptionsReal("-height", "Height of the interface in the last direction, -shape layer", NULL, p->height,
                             &p->height, NULL));
  PetscCall(PetscOptionsString("-file", "A bubble a line: centre and radius, 3 numbers in 2D, 4 in 3D; -shape file",
                               NULL, p->file, p->file, sizeof(p->file), NULL));
  PetscCall(PetscOptionsBool("-droplets", "Exchange gas and liquid", NULL, p->droplets, &p->droplets, NULL));
  PetscCall(PetscOptionsReal("-contrast", "Density of the liquid, relative to the gas", NULL, p->contrast, &p->contrast,
                             NULL));
  PetscCall(PetscOptionsReal("-smooth", "Half the width over which the density changes, in cells; 0: it jumps", NULL,
                             p->smooth, &p->smooth, NULL));
  PetscCall(PetscOptionsEnum(
      "-mean", "beta on a face: mean of the two cells, or, for a layer, mean over the face (thesis of Gupta, (7))",
      NULL, Means, (PetscEnum)p->mean, (PetscEnum *)&p->mean, NULL));
  PetscCall(PetscOptionsEnum(
      "-wall",
      "No flux; p = 0 outside of the walls; or no flux with 2 as the last diagonal entry (thesis of Gupta, section 8)",
      NULL, Walls, (PetscEnum)p->wall, (PetscEnum *)&p->wall, NULL));
  PetscCall(PetscOptionsEnum("-rhs",
                             "Right side: that of a smooth solution, of a random one, or of the buoyancy of the gas",
                             NULL, Cases, (PetscEnum)p->rhs, (PetscEnum *)&p->rhs, NULL));
  PetscCall(PetscOptionsBool("-start", "Start from random numbers instead of zero", NULL, p->start, &p->start, NULL));
  PetscCall(PetscOptionsString("-output",
                               "A .vts or .vtr file for coefficient, pressure, and the subdomains of PCDEFLSUB", NULL,
                               p->output, p->output, sizeof(p->output), NULL));
  PetscCall(PetscOptionsBool("-times", "Print seconds of set-up and solve", NULL, p->times, &p->times, NULL));
  PetscCall(PetscOptionsBool("-claims", "Print whether the solution is right instead of numbers", NULL, p->claims,
                             &p->claims, NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckOptions(const Problem *p)
{
  const MPI_Comm comm = PETSC_COMM_WORLD;

  PetscFunctionBeginUser;
  PetscCheck(p->dim == 2 || p->dim == 3, comm, PETSC_ERR_ARG_OUTOFRANGE, "-dim is 2 or 3, not %" PetscInt_FMT, p->dim);
  PetscCheck(p->n >= 2, comm, PETSC_ERR_ARG_OUTOFRANGE, "-n is at least 2, not %" PetscInt_FMT, p->n);
  PetscCheck(p->across >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "-bubbles is at least 1, not %" PetscInt_FMT, p->across);
  PetscCheck(p->radius > 0 && p->radius <= 0.5, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-radius lies between 0 and 0.5, where bubbles touch, and is not %g", (double)p->radius);
  PetscCheck(p->height > 0 && p->height < 1, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-height lies between 0 and 1 and is not %g", (double)p->height);
  PetscCheck(p->contrast > 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-contrast is positive, not %g", (double)p->contrast);
  PetscCheck(p->smooth >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-smooth is not negative, as %g is", (double)p->smooth);
  PetscCheck(p->mean != MEAN_FACE || (p->shape == SHAPE_LAYER && p->smooth == 0), comm, PETSC_ERR_ARG_INCOMP,
             "-mean face is for -shape layer without -smooth only");
  PetscCheck(p->shape != SHAPE_FILE || p->file[0], comm, PETSC_ERR_ARG_INCOMP, "-shape file needs -file <name>");
  PetscCheck(p->shape == SHAPE_FILE || !p->file[0], comm, PETSC_ERR_ARG_INCOMP, "-file is read with -shape file only");
  PetscFunctionReturn(0);
}

/* All numbers of the file, read by the first process; count is -1 if one cannot be read */
static PetscErrorCode ReadNumbers(const char name[], PetscInt most, PetscInt *count, double numbers[])
{
  FILE       *file;
  PetscMPIInt rank;
  int         got = 1;

  PetscFunctionBeginUser;
  *count = 0;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscFOpen(PETSC_COMM_WORLD, name, "r", &file));
  while (rank == 0 && *count < most && (got = fscanf(file, "%lf", &numbers[*count])) == 1) (*count)++;
  if (got == 0) *count = -1;
  PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  PetscCallMPI(MPI_Bcast(count, 1, MPIU_INT, 0, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Bcast(numbers, (PetscMPIInt)most, MPI_DOUBLE, 0, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadBubbles(Problem *p)
{
  const PetscInt most = 40000, columns = p->dim + 1;
  PetscInt       count;
  double        *numbers;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(most, &numbers));
  PetscCall(ReadNumbers(p->file, most, &count, numbers));
  PetscCheck(count >= 0, PETSC_COMM_WORLD, PETSC_ERR_FILE_READ, "%s has something that is not a number", p->file);
  PetscCheck(count < most, PETSC_COMM_WORLD, PETSC_ERR_FILE_READ, "%s has more than %" PetscInt_FMT " bubbles", p->file,
             most / columns - 1);
  PetscCheck(count > 0 && count % columns == 0, PETSC_COMM_WORLD, PETSC_ERR_FILE_READ,
             "%s has %" PetscInt_FMT " numbers: a bubble has %" PetscInt_FMT ", its centre and its radius", p->file,
             count, columns);
  p->nbubbles = count / columns;
  PetscCall(PetscCalloc1(p->nbubbles, &p->bubble));
  for (PetscInt b = 0; b < p->nbubbles; b++) {
    for (PetscInt d = 0; d < p->dim; d++) p->bubble[b].at[d] = numbers[b * columns + d];
    p->bubble[b].radius = numbers[b * columns + p->dim];
    PetscCheck(p->bubble[b].radius > 0, PETSC_COMM_WORLD, PETSC_ERR_FILE_READ,
               "Bubble %" PetscInt_FMT " of %s has the radius %g", b + 1, p->file, (double)p->bubble[b].radius);
  }
  PetscCall(PetscFree(numbers));
  PetscFunctionReturn(0);
}

/* From the bubble of the row in whose part of the domain a point is */
static PetscReal DistanceInRow(const Problem *p, const PetscReal x[])
{
  PetscReal square = 0;

  for (PetscInt d = 0; d < p->dim; d++) square += PetscSqr(x[d] * p->across - PetscFloorReal(x[d] * p->across) - 0.5);
  return (PetscSqrtReal(square) - p->radius) / p->across;
}

static PetscReal DistanceInFile(const Problem *p, const PetscReal x[])
{
  PetscReal least = PETSC_MAX_REAL;

  for (PetscInt b = 0; b < p->nbubbles; b++) {
    PetscReal square = 0;

    for (PetscInt d = 0; d < p->dim; d++) square += PetscSqr(x[d] - p->bubble[b].at[d]);
    least = PetscMin(least, PetscSqrtReal(square) - p->bubble[b].radius);
  }
  return least;
}

/* Level set: distance from the interface, negative in the gas */
static PetscReal Distance(const Problem *p, const PetscReal x[])
{
  const PetscReal distance = p->shape == SHAPE_LAYER  ? x[p->dim - 1] - p->height
                             : p->shape == SHAPE_FILE ? DistanceInFile(p, x)
                                                      : DistanceInRow(p, x);

  return p->droplets ? -distance : distance;
}

/* Part of the liquid in the mixture: 0, 1, or in between where the interface is smoothed, with h the length of a
   cell */
static PetscReal Liquid(const Problem *p, const PetscReal x[], PetscReal h)
{
  const PetscReal distance = Distance(p, x), width = p->smooth * h;

  if (distance >= width) return 1;
  if (distance <= -width) return 0;
  return 0.5 * (1 + distance / width + PetscSinReal(PETSC_PI * distance / width) / PETSC_PI);
}

/* Of a mixture of densities */
static PetscReal Beta(const Problem *p, PetscReal liquid)
{
  return 1 / (1 + (p->contrast - 1) * liquid);
}

/* A box of cells of a grid: those of this process, with or without ghosts */
typedef struct {
  PetscInt  n, start[3], width[3];
  PetscReal h;
} Box;

static PetscErrorCode GetBox(DM da, PetscBool ghosts, Box *box)
{
  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(da, NULL, &box->n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  if (ghosts)
    PetscCall(DMDAGetGhostCorners(da, &box->start[0], &box->start[1], &box->start[2], &box->width[0], &box->width[1],
                                  &box->width[2]));
  else
    PetscCall(DMDAGetCorners(da, &box->start[0], &box->start[1], &box->start[2], &box->width[0], &box->width[1],
                             &box->width[2]));
  box->h = 1.0 / box->n;
  PetscFunctionReturn(0);
}

static PetscInt BoxCells(const Box *box)
{
  return box->width[0] * box->width[1] * box->width[2];
}

static PetscInt BoxPlace(const Box *box, const PetscInt at[])
{
  return at[0] - box->start[0] + box->width[0] * (at[1] - box->start[1] + box->width[1] * (at[2] - box->start[2]));
}

static void BoxCell(const Box *box, PetscInt place, PetscInt at[])
{
  at[0] = box->start[0] + place % box->width[0];
  at[1] = box->start[1] + place / box->width[0] % box->width[1];
  at[2] = box->start[2] + place / (box->width[0] * box->width[1]);
}

static void BoxCentre(const Box *box, const PetscInt at[], PetscReal x[])
{
  for (PetscInt d = 0; d < 3; d++) x[d] = (at[d] + 0.5) * box->h;
}

/* beta of the cells of a box, which the caller frees */
static PetscErrorCode CreateBeta(const Problem *p, const Box *box, PetscReal **beta)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(BoxCells(box), beta));
  for (PetscInt i = 0; i < BoxCells(box); i++) {
    PetscInt  at[3];
    PetscReal x[3];

    BoxCell(box, i, at);
    BoxCentre(box, at, x);
    (*beta)[i] = Beta(p, Liquid(p, x, box->h));
  }
  PetscFunctionReturn(0);
}

/* A 2 in the place of the last diagonal entry makes the matrix regular if it was not 2 before */
static PetscErrorCode CheckPin(const Problem *p)
{
  const PetscReal h = 1.0 / p->n, corner[3] = {1 - h / 2, 1 - h / 2, 1 - h / 2};

  PetscFunctionBeginUser;
  PetscCheck(p->wall != WALL_PINNED || p->dim == 2, PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP,
             "-wall pinned is for two dimensions");
  PetscCheck(p->wall != WALL_PINNED || Beta(p, Liquid(p, corner, h)) != 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP,
             "-wall pinned changes nothing if the last cell is in the gas, or if -contrast is 1, and the matrix stays "
             "singular: use -wall neumann");
  PetscFunctionReturn(0);
}

/* Mean over a face next to a flat interface. Faces across the last direction are on one side, others may be cut */
static PetscReal FaceBeta(const Problem *p, const Box *box, const PetscInt at[], PetscInt direction, PetscInt side)
{
  const PetscInt  last = p->dim - 1;
  const PetscReal low = at[last] * box->h, face = low + (side > 0 ? box->h : 0);
  PetscReal       gas = PetscMin(PetscMax((p->height - low) / box->h, 0), 1);

  if (direction == last) gas = face <= p->height ? 1 : 0;
  if (p->droplets) gas = 1 - gas;
  return gas * Beta(p, 0) + (1 - gas) * Beta(p, 1);
}

/* beta between a cell and its neighbour; a cell outside of a wall has that of the cell */
static PetscReal CouplingBeta(const Problem *p, const Box *box, const PetscReal beta[], const PetscInt at[],
                              PetscInt direction, PetscInt side)
{
  PetscInt  to[3] = {at[0], at[1], at[2]};
  PetscReal mine, other;

  if (p->mean == MEAN_FACE) return FaceBeta(p, box, at, direction, side);
  to[direction] += side;
  mine  = beta[BoxPlace(box, at)];
  other = to[direction] < 0 || to[direction] >= box->n ? mine : beta[BoxPlace(box, to)];
  return p->mean == MEAN_HARMONIC ? 2 * mine * other / (mine + other) : (mine + other) / 2;
}

static PetscErrorCode SetRow(const Problem *p, const Box *box, const PetscReal beta[], const PetscInt at[], Mat A)
{
  const PetscReal  scale = PetscPowRealInt(box->h, (int)p->dim - 2);
  const MatStencil row   = {at[2], at[1], at[0], 0};
  MatStencil       cols[7];
  PetscScalar      values[7];
  PetscInt         m = 1;

  PetscFunctionBeginUser;
  cols[0]   = row;
  values[0] = 0;
  for (PetscInt d = 0; d < p->dim; d++) {
    for (PetscInt side = -1; side <= 1; side += 2) {
      const PetscReal coupling = scale * CouplingBeta(p, box, beta, at, d, side);
      PetscInt        to[3]    = {at[0], at[1], at[2]};
      PetscBool       outside;

      to[d] += side;
      outside = (PetscBool)(to[d] < 0 || to[d] >= box->n);
      if (!outside || p->wall == WALL_DIRICHLET) values[0] += coupling;
      if (outside) continue;
      cols[m]     = (MatStencil){to[2], to[1], to[0], 0};
      values[m++] = -coupling;
    }
  }
  if (p->wall == WALL_PINNED && at[0] == box->n - 1 && at[1] == box->n - 1) values[0] = 2;
  PetscCall(MatSetValuesStencil(A, 1, &row, m, cols, values, INSERT_VALUES));
  PetscFunctionReturn(0);
}

/* Called by KSP on its grid, and by multigrid on coarser ones */
static PetscErrorCode ComputeOperators(KSP ksp, Mat J, Mat A, void *ctx)
{
  Problem     *p = (Problem *)ctx;
  DM           da;
  Box          owned, ghosted;
  PetscReal   *beta;
  MatNullSpace constant;

  PetscFunctionBeginUser;
  PetscCall(KSPGetDM(ksp, &da));
  PetscCall(GetBox(da, PETSC_FALSE, &owned));
  PetscCall(GetBox(da, PETSC_TRUE, &ghosted));
  PetscCall(CreateBeta(p, &ghosted, &beta));
  for (PetscInt i = 0; i < BoxCells(&owned); i++) {
    PetscInt at[3];

    BoxCell(&owned, i, at);
    PetscCall(SetRow(p, &ghosted, beta, at, A));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree(beta));
  if (p->wall == WALL_NEUMANN) {
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constant));
    PetscCall(MatSetNullSpace(J, constant));
    PetscCall(MatNullSpaceDestroy(&constant));
  }
  if (p->assembled == 0) PetscCall(PetscTime(&p->assembled));
  PetscFunctionReturn(0);
}

/* The same on any number of processes */
static PetscReal Noise(const Box *box, const PetscInt at[], PetscInt seed)
{
  const PetscReal number =
      43758.5453 * PetscSinReal(12.9898 * (PetscReal)(at[0] + box->n * (at[1] + box->n * at[2]) + 1) + seed);

  return number - PetscFloorReal(number) - 0.5;
}

static PetscReal SmoothSolution(const Problem *p, const PetscReal x[])
{
  const PetscReal z = p->dim == 3 ? PetscCosReal(PETSC_PI * x[2]) : 1;

  return PetscCosReal(PETSC_PI * x[0]) * PetscCosReal(PETSC_PI * x[1]) * z + 0.3 * PetscCosReal(2 * PETSC_PI * x[0]) +
         0.2 * PetscCosReal(3 * PETSC_PI * x[1]);
}

static PetscErrorCode FillSolution(const Problem *p, DM da, PetscBool random, PetscInt seed, Vec v)
{
  Box          box;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(GetBox(da, PETSC_FALSE, &box));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt i = 0; i < BoxCells(&box); i++) {
    PetscInt  at[3];
    PetscReal x[3];

    BoxCell(&box, i, at);
    BoxCentre(&box, at, x);
    a[i] = random ? Noise(&box, at, seed) : SmoothSolution(p, x);
  }
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(0);
}

/* Gas is lighter than the liquid around it: f = d/dy (beta - beta of the liquid), y the last direction. Walls have
   no flux, so that its sum is zero */
static PetscErrorCode FillBuoyancy(const Problem *p, DM da, Vec b)
{
  const PetscInt up = p->dim - 1;
  Box            owned, ghosted;
  PetscReal     *beta;
  PetscScalar   *a;

  PetscFunctionBeginUser;
  PetscCall(GetBox(da, PETSC_FALSE, &owned));
  PetscCall(GetBox(da, PETSC_TRUE, &ghosted));
  PetscCall(CreateBeta(p, &ghosted, &beta));
  PetscCall(VecGetArrayWrite(b, &a));
  for (PetscInt i = 0; i < BoxCells(&owned); i++) {
    PetscInt at[3];

    BoxCell(&owned, i, at);
    a[i] = 0;
    for (PetscInt side = -1; side <= 1; side += 2) {
      if (at[up] + side < 0 || at[up] + side >= owned.n) continue;
      a[i] += side * PetscPowRealInt(owned.h, (int)up) * (CouplingBeta(p, &ghosted, beta, at, up, side) - Beta(p, 1));
    }
  }
  PetscCall(VecRestoreArrayWrite(b, &a));
  PetscCall(PetscFree(beta));
  PetscFunctionReturn(0);
}

/* exact is the solution, where it is known */
static PetscErrorCode CreateRightSide(const Problem *p, DM da, Mat A, Vec *exact, Vec *b)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, exact, b));
  if (p->rhs == CASE_BUOYANCY) {
    PetscCall(VecDestroy(exact));
    PetscCall(FillBuoyancy(p, da, *b));
  } else {
    PetscCall(FillSolution(p, da, (PetscBool)(p->rhs == CASE_RANDOM), 0, *exact));
    PetscCall(MatMult(A, *exact, *b));
  }
  PetscFunctionReturn(0);
}

/* Norms of the residual and of the error, and the energy of the error, relative; a pressure that is known up to a
   constant is compared without its mean. exact is overwritten */
static PetscErrorCode Measure(const Problem *p, Mat A, Vec exact, Vec b, Vec x, PetscReal *residual, PetscReal *error,
                              PetscReal *energy)
{
  PetscReal    norm[2];
  PetscScalar  product[2];
  MatNullSpace constant;
  Vec          r;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1.0, b));
  PetscCall(VecNorm(b, NORM_2, &norm[0]));
  PetscCall(VecNorm(r, NORM_2, &norm[1]));
  *residual = norm[1] / norm[0];
  *error = *energy = -1;
  if (exact) {
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constant));
    for (int which = 0; which < 2; which++) {
      if (which == 1) PetscCall(VecAXPY(exact, -1.0, x));
      if (p->wall == WALL_NEUMANN) PetscCall(MatNullSpaceRemove(constant, exact));
      PetscCall(VecNorm(exact, NORM_2, &norm[which]));
      PetscCall(MatMult(A, exact, r));
      PetscCall(VecDot(r, exact, &product[which]));
    }
    PetscCall(MatNullSpaceDestroy(&constant));
    *error  = norm[1] / norm[0];
    *energy = PetscSqrtReal(PetscAbsScalar(product[1] / product[0]));
  }
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}

/* time: before the matrix was made, after set-up, before and after the solve */
static PetscErrorCode Report(const Problem *p, KSP ksp, Vec exact, Vec b, Vec x, const PetscLogDouble time[])
{
  PetscReal          residual = 0, error = 0, energy = 0;
  PetscInt           its;
  KSPConvergedReason reason;
  Mat                A;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(Measure(p, A, exact, b, x, &residual, &error, &energy));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  if (p->claims) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "converged: %s, residual below 1e-9: %s", reason > 0 ? "yes" : "NO",
                          residual < 1e-9 ? "yes" : "NO"));
    if (exact)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", error below 1e-5: %s", error < 1e-5 && energy < 1e-5 ? "yes" : "NO"));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
    PetscFunctionReturn(0);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s after %" PetscInt_FMT " iterations, residual %.2e",
                        KSPConvergedReasons[reason], its, (double)residual));
  if (exact)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", error %.2e, its energy norm %.2e", (double)error, (double)energy));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  if (p->times)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "assembly %.4f s, set-up %.4f s, solve %.4f s\n", p->assembled - time[0],
                          time[1] - p->assembled, time[3] - time[2]));
  PetscFunctionReturn(0);
}

static PetscErrorCode OutputField(PetscViewer viewer, const char name[], Vec v)
{
  PetscFunctionBeginUser;
  PetscCall(PetscObjectSetName((PetscObject)v, name));
  PetscCall(VecView(v, viewer));
  PetscFunctionReturn(0);
}

/* Coefficient, pressure, and the subdomains of PCDEFLSUB */
static PetscErrorCode Output(const Problem *p, DM da, PC pc, Vec x)
{
  const PetscReal edge = 0.5 / p->n;
  Box             box;
  PetscReal      *beta;
  PetscScalar    *a;
  PetscViewer     viewer;
  PetscBool       deflated;
  const PetscInt *label;
  IS              labels;
  Vec             field;

  PetscFunctionBeginUser;
  PetscCall(DMDASetUniformCoordinates(da, edge, 1 - edge, edge, 1 - edge, edge, 1 - edge));
  PetscCall(PetscViewerVTKOpen(PETSC_COMM_WORLD, p->output, FILE_MODE_WRITE, &viewer));
  PetscCall(DMCreateGlobalVector(da, &field));
  PetscCall(GetBox(da, PETSC_FALSE, &box));
  PetscCall(CreateBeta(p, &box, &beta));
  PetscCall(VecGetArrayWrite(field, &a));
  for (PetscInt i = 0; i < BoxCells(&box); i++) a[i] = beta[i];
  PetscCall(VecRestoreArrayWrite(field, &a));
  PetscCall(PetscFree(beta));
  PetscCall(OutputField(viewer, "coefficient", field));
  PetscCall(OutputField(viewer, "pressure", x));
  PetscCall(VecDestroy(&field));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCDEFLSUB, &deflated));
  if (deflated) {
    PetscCall(DMCreateGlobalVector(da, &field));
    PetscCall(PCDeflSubGetLabelIS(pc, &labels));
    PetscCall(ISGetIndices(labels, &label));
    PetscCall(VecGetArrayWrite(field, &a));
    for (PetscInt i = 0; i < BoxCells(&box); i++) a[i] = (PetscReal)label[i];
    PetscCall(VecRestoreArrayWrite(field, &a));
    PetscCall(ISRestoreIndices(labels, &label));
    PetscCall(ISDestroy(&labels));
    PetscCall(OutputField(viewer, "subdomains", field));
    PetscCall(VecDestroy(&field));
  }
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolver(Problem *p, DM da, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetDM(*ksp, da));
  PetscCall(KSPSetComputeOperators(*ksp, ComputeOperators, p));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(*ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetInitialGuessNonzero(*ksp, p->start));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCKCYCLE));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(Problem *p, DM da)
{
  PetscLogDouble time[4];
  KSP            ksp;
  PC             pc;
  Mat            A;
  Vec            x, b, exact;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(p, da, &ksp));
  PetscCall(PetscTime(&time[0]));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSetUpOnBlocks(ksp));
  PetscCall(PetscTime(&time[1]));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(CreateRightSide(p, da, A, &exact, &b));
  PetscCall(DMCreateGlobalVector(da, &x));
  if (p->start) PetscCall(FillSolution(p, da, PETSC_TRUE, 1, x));
  PetscCall(PetscTime(&time[2]));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(PetscTime(&time[3]));
  PetscCall(Report(p, ksp, exact, b, x, time));
  PetscCall(KSPGetPC(ksp, &pc));
  if (p->output[0]) PetscCall(Output(p, da, pc, x));
  PetscCall(VecDestroy(&exact));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateGrid(const Problem *p, DM *da)
{
  PetscFunctionBeginUser;
  PetscCall(DMDACreate(PETSC_COMM_WORLD, da));
  PetscCall(DMSetDimension(*da, p->dim));
  PetscCall(DMDASetSizes(*da, p->n, p->n, p->dim == 3 ? p->n : 1));
  PetscCall(DMDASetDof(*da, 1));
  PetscCall(DMDASetStencilType(*da, DMDA_STENCIL_STAR));
  PetscCall(DMDASetStencilWidth(*da, 1));
  PetscCall(DMDASetInterpolationType(*da, DMDA_Q0));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem p = {.dim = 2, .n = 64, .across = 3, .radius = 0.3, .height = 0.5, .contrast = 1000};
  DM      da;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(KCycleInitializePackage());
  PetscCall(SetFromOptions(&p));
  PetscCall(CheckOptions(&p));
  if (p.shape == SHAPE_FILE) PetscCall(ReadBubbles(&p));
  PetscCall(CheckPin(&p));
  PetscCall(CreateGrid(&p, &da));
  PetscCall(Solve(&p, da));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFree(p.bubble));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    nsize: {{1 3}}
    args: -claims -n 48
    output_file: output/bubbles.out

    test:
      suffix: contrast
      requires: !complex
      args: -contrast {{1 1e3 1e6}}

    test:
      suffix: deflsub
      requires: !complex
      args: -contrast {{1 1e6}} -pc_type deflsub -pc_deflsub_boxes 6,6 -deflsub_pc_type incpoisson

    test:
      suffix: stencil
      requires: !complex
      args: -dm_mat_type stencil -dim {{2 3}} -n 24

    test:
      suffix: layer
      args: -shape layer -height 0.445 -mean face -wall pinned -pc_type incpoisson

    test:
      suffix: smooth
      args: -wall dirichlet -smooth 3 -mean harmonic -pc_type incpoisson

    test:
      suffix: droplets
      args: -droplets -rhs random -start -pc_type incpoisson

    test:
      suffix: file
      args: -shape file -file bubbles.txt -pc_type incpoisson
      localrunfiles: bubbles.txt

    test:
      suffix: jacobi
      args: -pc_type jacobi

    test:
      suffix: mg
      args: -pc_type mg -pc_mg_levels 3 -contrast 10

  testset:
    requires: !complex
    args: -n 4 -contrast 1000 -pc_type jacobi -ksp_view_mat
    filter: grep row

    test:
      suffix: rows_layer
      args: -shape layer -mean face -height 0.375 -wall pinned

    test:
      suffix: rows_bubble
      args: -bubbles 1 -wall dirichlet

    test:
      suffix: rows_droplet
      args: -bubbles 1 -mean harmonic -droplets

  test:
    suffix: buoyancy
    nsize: {{1 3}}
    args: -claims -rhs buoyancy -pc_type jacobi

TEST*/
