static char help[] = "Pressure in a reservoir or an aquifer whose permeability comes from a file.\n\
  ./reservoir -file reservoir.grdecl -wells 6,6,1,5,bhp,250,15,9,1,3,rate,-100                      steady flow\n\
  ./reservoir -file reservoir.grdecl -wells 6,6,1,5,bhp,250 -steps 10 -growth 1.5 -output reservoir.vts\n\
  mpiexec -n 4 ./reservoir -file spe_perm.dat -cells 60,220,85 -dx 20 -dy 10 -dz 2 -wells 30,110,1,85,rate,...\n\n\
In addition to the options listed below:\n\
  -cells nx,ny,nz     where the file does not say how large the grid is\n\
  -dx, -dy, -dz       size of the cells where the file does not have it: one number for all, or one for each\n\
  -wells i,j,first layer,last layer,bhp|rate,value,...\n\
                      bottom-hole pressures, and rates, positive into the ground; i, j and layers count from 1\n\
  -ignore A,B         keywords of the file to be skipped\n\n";

/*
  One fluid in a porous medium, on a grid of nx * ny * nz boxes:

      phi c p_t = div (k / mu grad p) + wells,    no flow through the boundary and into inactive cells,

  by finite volumes and implicit time steps, or steady (c p_t = 0). The flow between two cells is their difference in
  pressure times a conductance. That is area / (h1 / (2 k1) + h2 / (2 k2)) / mu, of halves of two cells in series. k has
  a value for each direction. A well of known bottom-hole pressure adds its index (Peaceman's) to the diagonal of its
  cells. To the right side it adds index times pressure. A well of known rate spreads it by the indices of its cells.

  A step solves for the change of pressure, A d = r, where r is the residual of the pressure before: what KSP calls the
  relative tolerance is then relative to what drives the flow, and not to the pressure itself.

  Units are those of a metric simulator: m, day, bar, cP, mD, m^3/day; -darcy 1 -viscosity 1 has consistent ones, for
  instance those of an aquifer with k in m/day and p as a head in m. Gravity is in the pressure, that of one depth.

  Compile it with fieldfile.c, which reads the field, and wells.c. reservoir.py draws pictures, and makes larger fields.
*/
#include "fieldfile.h"
#include "wells.h"
#include <petsckcycle.h>
#include <petscksp.h>

typedef struct {
  /* Options */
  char        file[PETSC_MAX_PATH_LEN], well_file[PETSC_MAX_PATH_LEN], output[PETSC_MAX_PATH_LEN];
  FieldFormat format;
  PetscReal   kz_over_kx, darcy, viscosity, porosity, compressibility, start, well_radius;
  PetscReal   dt, growth;
  PetscInt    steps, limit;

  /* Grid */
  DM         da;
  PetscInt   n[3];
  PetscReal *h[3];
  Vec        k[3], active; /* 0 in inactive cells */
  Vec        storage;      /* phi c volume */

  Wells wells;

  Mat       A;
  KSP       ksp;
  Vec       p;
  PetscInt  most_its;
  PetscReal imbalance;
} Reservoir;

/* Options */

static PetscErrorCode SetFromOptions(Reservoir *r)
{
  PetscFunctionBeginUser;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Reservoir", NULL);
  PetscCall(PetscOptionsString("-file", "Permeability, see fieldfile.h for what a file can hold", NULL, r->file,
                               r->file, sizeof(r->file), NULL));
  PetscCall(PetscOptionsEnum("-format", "Of the file; auto: from the end of its name", NULL, FieldFormats,
                             (PetscEnum)r->format, (PetscEnum *)&r->format, NULL));
  PetscCall(PetscOptionsReal("-kz_over_kx", "Vertical permeability over PERMX, where the file has no PERMZ", NULL,
                             r->kz_over_kx, &r->kz_over_kx, NULL));
  PetscCall(PetscOptionsReal("-darcy", "Factor between the units of k / viscosity and of flow", NULL, r->darcy,
                             &r->darcy, NULL));
  PetscCall(PetscOptionsReal("-viscosity", "In cP", NULL, r->viscosity, &r->viscosity, NULL));
  PetscCall(PetscOptionsReal("-porosity", "Where the file has no PORO", NULL, r->porosity, &r->porosity, NULL));
  PetscCall(PetscOptionsReal("-compressibility", "Of fluid and rock together, in 1/bar", NULL, r->compressibility,
                             &r->compressibility, NULL));
  PetscCall(PetscOptionsReal("-start", "Pressure at the start", NULL, r->start, &r->start, NULL));
  PetscCall(PetscOptionsReal("-well_radius", "In m", NULL, r->well_radius, &r->well_radius, NULL));
  PetscCall(PetscOptionsString("-well_file", "A well a line, as in -wells, with blanks instead of commas", NULL,
                               r->well_file, r->well_file, sizeof(r->well_file), NULL));
  PetscCall(PetscOptionsInt("-steps", "Time steps; 0: steady flow", NULL, r->steps, &r->steps, NULL));
  PetscCall(PetscOptionsReal("-dt", "First time step, in days", NULL, r->dt, &r->dt, NULL));
  PetscCall(PetscOptionsReal("-growth", "A time step, relative to the one before", NULL, r->growth, &r->growth, NULL));
  PetscCall(PetscOptionsInt("-limit",
                            "Say whether all steps take at most this number of iterations, instead of the number", NULL,
                            r->limit, &r->limit, NULL));
  PetscCall(PetscOptionsString("-output", "A .vts or .vtr file for pressure, permeability and active cells", NULL,
                               r->output, r->output, sizeof(r->output), NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckPositive(const char option[], PetscReal value)
{
  PetscFunctionBeginUser;
  PetscCheck(value > 0 && !PetscIsInfOrNanReal(value), PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "%s is positive, not %g", option, (double)value);
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckOptions(const Reservoir *r)
{
  PetscFunctionBeginUser;
  PetscCheck(r->file[0], PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP, "-file <name> says where the permeability is");
  PetscCheck(r->steps >= 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-steps is not negative, as %" PetscInt_FMT " is", r->steps);
  PetscCheck(r->kz_over_kx == PETSC_DECIDE || r->kz_over_kx >= 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-kz_over_kx is not negative, as %g is", (double)r->kz_over_kx);
  PetscCall(CheckPositive("-darcy", r->darcy));
  PetscCall(CheckPositive("-viscosity", r->viscosity));
  PetscCall(CheckPositive("-porosity", r->porosity));
  PetscCall(CheckPositive("-compressibility", r->compressibility));
  PetscCall(CheckPositive("-well_radius", r->well_radius));
  PetscCall(CheckPositive("-dt", r->dt));
  PetscCall(CheckPositive("-growth", r->growth));
  PetscFunctionReturn(0);
}

/* Grid and cells */

static PetscErrorCode GetSizes(FieldFile file, PetscInt n[3])
{
  const char *const name[3] = {"nx", "ny", "nz"};
  PetscInt          given   = 3;
  PetscBool         option, found;

  PetscFunctionBeginUser;
  PetscCall(FieldFileGetSizes(file, n, &found));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-cells", n, &given, &option));
  PetscCheck(found || option, PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP,
             "the file does not say how large the grid is (no DIMENS, no SPECGRID): give -cells nx,ny,nz");
  PetscCheck(!option || given == 3, PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP,
             "-cells has three numbers, nx,ny,nz, and not %" PetscInt_FMT, given);
  for (PetscInt d = 0; d < 3; d++)
    PetscCheck(n[d] >= 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-cells: %s is at least 1, not %" PetscInt_FMT,
               name[d], n[d]);
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateGrid(Reservoir *r)
{
  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR,
                         r->n[0], r->n[1], r->n[2], PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL,
                         &r->da));
  PetscCall(DMSetFromOptions(r->da));
  PetscCall(DMSetUp(r->da));
  PetscFunctionReturn(0);
}

/* Sizes of the cells in a direction, where the file has none: an option with one number for all, or one for each */
static PetscErrorCode SetWidths(Reservoir *r, PetscInt d)
{
  const char *const option[3] = {"-dx", "-dy", "-dz"};
  PetscInt          given     = r->n[d] + 1;
  PetscReal        *h;
  PetscBool         set;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(given, &h));
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, option[d], h, &given, &set));
  PetscCheck(!set || !r->h[d], PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP,
             "%s is an option and in the file as well: leave one out", option[d]);
  PetscCheck(set || r->h[d], PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP,
             "the file has no sizes of cells: give %s <size>, or a size for each of %" PetscInt_FMT " cells", option[d],
             r->n[d]);
  if (set) {
    PetscCheck(given == 1 || given == r->n[d], PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP,
               "%s has %s%" PetscInt_FMT " numbers, and not one for all or one for each of %" PetscInt_FMT " cells",
               option[d], given > r->n[d] ? "at least " : "", given, r->n[d]);
    for (PetscInt i = 0; i < given; i++) PetscCall(CheckPositive(option[d], h[i]));
    for (PetscInt i = given; i < r->n[d]; i++) h[i] = h[0];
    r->h[d] = h;
  } else PetscCall(PetscFree(h));
  PetscFunctionReturn(0);
}

/* k in three directions */
static PetscErrorCode SetPermeability(Reservoir *r, Vec field[])
{
  PetscFunctionBeginUser;
  PetscCheck(field[FIELD_PERMX], PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "%s has no PERMX", r->file);
  PetscCheck(!field[FIELD_PERMZ] || r->kz_over_kx == PETSC_DECIDE, PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP,
             "%s has PERMZ, so leave -kz_over_kx out", r->file);
  PetscCheck(field[FIELD_PERMZ] || r->kz_over_kx != PETSC_DECIDE || r->n[2] == 1, PETSC_COMM_WORLD,
             PETSC_ERR_ARG_INCOMP,
             "%s has no PERMZ: give -kz_over_kx, 1 if the permeability is the same in all directions", r->file);
  for (PetscInt d = 0; d < 3; d++) {
    r->k[d]                = field[FIELD_PERMX + d];
    field[FIELD_PERMX + d] = NULL;
    if (r->k[d]) continue;
    PetscCall(VecDuplicate(r->k[0], &r->k[d]));
    PetscCall(VecCopy(r->k[0], r->k[d]));
    if (d == 2 && r->n[2] > 1) PetscCall(VecScale(r->k[d], r->kz_over_kx));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode MaskPermeability(Reservoir *r)
{
  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < 3; d++) PetscCall(VecPointwiseMult(r->k[d], r->k[d], r->active));
  PetscFunctionReturn(0);
}

/* A cell is active if ACTNUM says so and it has a permeability in some direction, and pores */
static PetscErrorCode SetActive(Reservoir *r, Vec actnum, Vec poro)
{
  PetscInt           size;
  PetscScalar       *active;
  const PetscScalar *k[3], *a = NULL, *phi = NULL;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(r->da, &r->active));
  PetscCall(VecGetLocalSize(r->active, &size));
  for (PetscInt d = 0; d < 3; d++) PetscCall(VecGetArrayRead(r->k[d], &k[d]));
  if (actnum) PetscCall(VecGetArrayRead(actnum, &a));
  if (poro) PetscCall(VecGetArrayRead(poro, &phi));
  PetscCall(VecGetArrayWrite(r->active, &active));
  for (PetscInt i = 0; i < size; i++)
    active[i] = (!a || PetscRealPart(a[i]) > 0) && (!phi || PetscRealPart(phi[i]) > 0) &&
                        PetscRealPart(k[0][i] + k[1][i] + k[2][i]) > 0
                    ? 1
                    : 0;
  PetscCall(VecRestoreArrayWrite(r->active, &active));
  if (poro) PetscCall(VecRestoreArrayRead(poro, &phi));
  if (actnum) PetscCall(VecRestoreArrayRead(actnum, &a));
  for (PetscInt d = 0; d < 3; d++) PetscCall(VecRestoreArrayRead(r->k[d], &k[d]));
  PetscCall(MaskPermeability(r));
  PetscFunctionReturn(0);
}

static PetscErrorCode CountActive(const Reservoir *r, PetscInt *count)
{
  PetscScalar sum;

  PetscFunctionBeginUser;
  PetscCall(VecSum(r->active, &sum));
  *count = (PetscInt)(PetscRealPart(sum) + 0.5);
  PetscFunctionReturn(0);
}

static PetscErrorCode SetStorage(Reservoir *r, Vec poro)
{
  DMDALocalInfo  in;
  PetscScalar ***s;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(r->da, &in));
  PetscCall(DMCreateGlobalVector(r->da, &r->storage));
  PetscCall(DMDAVecGetArray(r->da, r->storage, &s));
  for (PetscInt k = in.zs; k < in.zs + in.zm; k++)
    for (PetscInt j = in.ys; j < in.ys + in.ym; j++)
      for (PetscInt i = in.xs; i < in.xs + in.xm; i++)
        s[k][j][i] = r->compressibility * r->h[0][i] * r->h[1][j] * r->h[2][k];
  PetscCall(DMDAVecRestoreArray(r->da, r->storage, &s));
  if (poro) PetscCall(VecPointwiseMult(r->storage, r->storage, poro));
  else PetscCall(VecScale(r->storage, r->porosity));
  PetscCall(VecPointwiseMult(r->storage, r->storage, r->active));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadFile(Reservoir *r)
{
  FieldFile file;
  Vec       field[FIELDS];
  char     *ignored[64];
  PetscInt  nignored = 64, count;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-ignore", ignored, &nignored, NULL));
  PetscCall(FieldFileOpen(PETSC_COMM_WORLD, r->file, r->format, nignored, ignored, &file));
  PetscCall(GetSizes(file, r->n));
  PetscCall(CreateGrid(r));
  PetscCall(FieldFileRead(file, r->da, field, r->h));
  PetscCall(FieldFileClose(&file));
  for (PetscInt i = 0; i < nignored; i++) PetscCall(PetscFree(ignored[i]));
  for (PetscInt d = 0; d < 3; d++) PetscCall(SetWidths(r, d));
  PetscCall(SetPermeability(r, field));
  PetscCall(SetActive(r, field[FIELD_ACTNUM], field[FIELD_PORO]));
  PetscCall(SetStorage(r, field[FIELD_PORO]));
  for (PetscInt i = 0; i < FIELDS; i++) PetscCall(VecDestroy(&field[i]));
  PetscCall(CountActive(r, &count));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " cells, %" PetscInt_FMT " active\n",
                        r->n[0], r->n[1], r->n[2], count));
  PetscCheck(count > 0, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED,
             "%s has no active cell: where ACTNUM is 1, permeability and porosity must be positive", r->file);
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadWells(Reservoir *r)
{
  PetscFunctionBeginUser;
  PetscCall(WellsAddFromOption(&r->wells, r->n));
  if (r->well_file[0]) PetscCall(WellsAddFromFile(&r->wells, r->well_file, r->n));
  PetscCheck(r->wells.n > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP,
             "there is no well, so nothing flows: give -wells i,j,first layer,last layer,bhp or rate,value,... or "
             "-well_file");
  PetscCall(WellsSetIndices(&r->wells, r->da, r->h, r->k, r->darcy / r->viscosity, r->well_radius));
  PetscFunctionReturn(0);
}

/* Cells of this process, with the permeabilities of their neighbours */

typedef struct {
  DMDALocalInfo  in;
  Vec            local[3];
  PetscScalar ***k[3];
} Cells;

static PetscErrorCode OpenCells(const Reservoir *r, Cells *cells)
{
  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(r->da, &cells->in));
  for (PetscInt d = 0; d < 3; d++) {
    PetscCall(DMGetLocalVector(r->da, &cells->local[d]));
    PetscCall(DMGlobalToLocal(r->da, r->k[d], INSERT_VALUES, cells->local[d]));
    PetscCall(DMDAVecGetArrayRead(r->da, cells->local[d], &cells->k[d]));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CloseCells(const Reservoir *r, Cells *cells)
{
  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < 3; d++) {
    PetscCall(DMDAVecRestoreArrayRead(r->da, cells->local[d], &cells->k[d]));
    PetscCall(DMRestoreLocalVector(r->da, &cells->local[d]));
  }
  PetscFunctionReturn(0);
}

static PetscInt CountCells(const Cells *cells)
{
  return cells->in.xm * cells->in.ym * cells->in.zm;
}

static void GetCell(const Cells *cells, PetscInt number, PetscInt at[])
{
  at[0] = cells->in.xs + number % cells->in.xm;
  at[1] = cells->in.ys + number / cells->in.xm % cells->in.ym;
  at[2] = cells->in.zs + number / (cells->in.xm * cells->in.ym);
}

static PetscReal GetPermeability(const Cells *cells, const PetscInt at[], PetscInt d)
{
  return PetscRealPart(cells->k[d][at[2]][at[1]][at[0]]);
}

static PetscBool IsActive(const Cells *cells, const PetscInt at[])
{
  return (PetscBool)(GetPermeability(cells, at, 0) + GetPermeability(cells, at, 1) + GetPermeability(cells, at, 2) > 0);
}

/* Between a cell and its neighbour before (-1) or after it (1) in a direction */
static PetscReal Conductance(const Reservoir *r, const Cells *cells, const PetscInt at[], PetscInt d, PetscInt side)
{
  PetscInt  to[3] = {at[0], at[1], at[2]};
  PetscReal mine, other, area = 1;

  to[d] += side;
  if (to[d] < 0 || to[d] >= r->n[d]) return 0;
  mine  = GetPermeability(cells, at, d);
  other = GetPermeability(cells, to, d);
  if (mine == 0 || other == 0) return 0;
  for (PetscInt e = 0; e < 3; e++) area *= e == d ? 1 : r->h[e][at[e]];
  return r->darcy / r->viscosity * area / (r->h[d][at[d]] / (2 * mine) + r->h[d][to[d]] / (2 * other));
}

/* Parts of the grid. In a steady flow a part without wells has no pressure, and one without a given pressure has it up
   to a constant only. In time steps all parts have a pressure. */

/* Cells get the lowest number of themselves and their neighbours, up or down the list of cells */
static PetscBool SpreadNumbers(const Reservoir *r, const Cells *cells, PetscBool up, PetscScalar ***number)
{
  const PetscInt count   = CountCells(cells);
  PetscBool      changed = PETSC_FALSE;

  for (PetscInt l = 0; l < count; l++) {
    PetscInt at[3];

    GetCell(cells, up ? l : count - 1 - l, at);
    for (PetscInt face = 0; face < 6; face++) {
      PetscScalar *mine  = &number[at[2]][at[1]][at[0]];
      PetscInt     to[3] = {at[0], at[1], at[2]};

      if (Conductance(r, cells, at, face / 2, face % 2 ? 1 : -1) == 0) continue;
      to[face / 2] += face % 2 ? 1 : -1;
      if (PetscRealPart(number[to[2]][to[1]][to[0]]) >= PetscRealPart(*mine)) continue;
      *mine   = number[to[2]][to[1]][to[0]];
      changed = PETSC_TRUE;
    }
  }
  return changed;
}

/* Cells that are connected get the same number */
static PetscErrorCode NumberParts(const Reservoir *r, Vec parts)
{
  Cells          cells;
  Vec            local;
  PetscScalar ***number;
  PetscMPIInt    changed;

  PetscFunctionBeginUser;
  PetscCall(OpenCells(r, &cells));
  PetscCall(DMGetLocalVector(r->da, &local));
  PetscCall(DMDAVecGetArray(r->da, parts, &number));
  for (PetscInt l = 0; l < CountCells(&cells); l++) {
    PetscInt at[3];

    GetCell(&cells, l, at);
    number[at[2]][at[1]][at[0]] = (PetscReal)(at[0] + r->n[0] * (at[1] + r->n[1] * at[2]));
  }
  PetscCall(DMDAVecRestoreArray(r->da, parts, &number));
  do {
    PetscCall(DMGlobalToLocal(r->da, parts, INSERT_VALUES, local));
    PetscCall(DMDAVecGetArray(r->da, local, &number));
    changed = SpreadNumbers(r, &cells, PETSC_TRUE, number);
    if (changed) (void)SpreadNumbers(r, &cells, PETSC_FALSE, number);
    PetscCall(DMDAVecRestoreArray(r->da, local, &number));
    PetscCall(DMLocalToGlobal(r->da, local, INSERT_VALUES, parts));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &changed, 1, MPI_INT, MPI_LOR, PETSC_COMM_WORLD));
  } while (changed);
  PetscCall(DMRestoreLocalVector(r->da, &local));
  PetscCall(CloseCells(r, &cells));
  PetscFunctionReturn(0);
}

/* Cells that no well reaches become inactive */
static PetscErrorCode KeepReached(Reservoir *r, Vec parts, PetscInt wanted, const PetscInt part[])
{
  PetscInt           size, before, after;
  PetscScalar       *active;
  const PetscScalar *number;

  PetscFunctionBeginUser;
  PetscCall(CountActive(r, &before));
  PetscCall(VecGetLocalSize(parts, &size));
  PetscCall(VecGetArrayRead(parts, &number));
  PetscCall(VecGetArray(r->active, &active));
  for (PetscInt i = 0; i < size; i++) {
    PetscInt place;

    PetscCall(PetscFindInt((PetscInt)PetscRealPart(number[i]), wanted, part, &place));
    if (place < 0) active[i] = 0;
  }
  PetscCall(VecRestoreArray(r->active, &active));
  PetscCall(VecRestoreArrayRead(parts, &number));
  PetscCall(MaskPermeability(r));
  PetscCall(CountActive(r, &after));
  if (after < before)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "no well reaches %" PetscInt_FMT " of them, which are left out\n",
                          before - after));
  PetscFunctionReturn(0);
}

/* 1 in a part, 0 elsewhere, scaled to the norm 1 */
static PetscErrorCode CreateIndicator(Vec parts, PetscInt part, Vec *indicator)
{
  PetscInt           size;
  PetscScalar       *a;
  const PetscScalar *number;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(parts, indicator));
  PetscCall(VecGetLocalSize(parts, &size));
  PetscCall(VecGetArrayRead(parts, &number));
  PetscCall(VecGetArrayWrite(*indicator, &a));
  for (PetscInt i = 0; i < size; i++) a[i] = (PetscInt)PetscRealPart(number[i]) == part ? 1 : 0;
  PetscCall(VecRestoreArrayWrite(*indicator, &a));
  PetscCall(VecRestoreArrayRead(parts, &number));
  PetscCall(VecNormalize(*indicator, NULL));
  PetscFunctionReturn(0);
}

/* Whether the pressure in a part is known up to a constant only, where what wells bring must be what wells take */
static PetscErrorCode IsFloating(const Reservoir *r, PetscInt part, const PetscReal number[], PetscBool *floating)
{
  PetscReal sum = 0, size = 0;

  PetscFunctionBeginUser;
  *floating = PETSC_TRUE;
  for (PetscInt l = 0; l < r->wells.perforations; l++) {
    if ((PetscInt)number[l] != part || r->wells.perforation[l].index == 0) continue;
    if (r->wells.well[r->wells.perforation[l].well].has_pressure) *floating = PETSC_FALSE;
    sum += r->wells.perforation[l].rate;
    size += PetscAbsReal(r->wells.perforation[l].rate);
  }
  PetscCheck(!*floating || PetscAbsReal(sum) <= 1e-10 * size, PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP,
             "the rates of the wells in a part of the grid add up to %g: in a steady flow it must be 0 where no well "
             "has a given pressure; or take time steps, -steps",
             (double)sum);
  PetscFunctionReturn(0);
}

static PetscErrorCode SetParts(Reservoir *r)
{
  Vec          parts, *indicator;
  PetscReal   *number;
  PetscInt    *part, wanted = 0, count = 0;
  PetscBool    floating;
  MatNullSpace constants;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(r->da, &parts));
  PetscCall(NumberParts(r, parts));
  PetscCall(
      PetscMalloc3(r->wells.perforations, &number, r->wells.perforations, &part, r->wells.perforations, &indicator));
  PetscCall(WellsGetValues(&r->wells, r->da, parts, number));
  for (PetscInt l = 0; l < r->wells.perforations; l++)
    if (r->wells.perforation[l].index > 0) part[wanted++] = (PetscInt)number[l];
  PetscCall(PetscSortRemoveDupsInt(&wanted, part));
  PetscCall(KeepReached(r, parts, wanted, part));
  for (PetscInt i = 0; i < wanted; i++) {
    PetscCall(IsFloating(r, part[i], number, &floating));
    if (floating) PetscCall(CreateIndicator(parts, part[i], &indicator[count++]));
  }
  if (count) {
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, count, indicator, &constants));
    PetscCall(MatSetNullSpace(r->A, constants));
    PetscCall(MatNullSpaceDestroy(&constants));
  }
  for (PetscInt i = 0; i < count; i++) PetscCall(VecDestroy(&indicator[i]));
  PetscCall(PetscFree3(number, part, indicator));
  PetscCall(VecDestroy(&parts));
  PetscFunctionReturn(0);
}

/* Solver */

static PetscErrorCode SetRow(const Reservoir *r, const Cells *cells, const PetscInt at[], PetscReal diagonal)
{
  MatStencil  row, cols[7];
  PetscScalar values[7];
  PetscInt    m = 1;

  PetscFunctionBeginUser;
  row.i = at[0], row.j = at[1], row.k = at[2], row.c = 0;
  cols[0]   = row;
  values[0] = IsActive(cells, at) ? diagonal : 1;
  for (PetscInt face = 0; face < 6; face++) {
    const PetscInt  d = face / 2, side = face % 2 ? 1 : -1;
    const PetscReal c = Conductance(r, cells, at, d, side);

    if (c == 0) continue;
    cols[m] = row;
    if (d == 0) cols[m].i += side;
    if (d == 1) cols[m].j += side;
    if (d == 2) cols[m].k += side;
    values[m++] = -c;
    values[0] += c;
  }
  PetscCall(MatSetValuesStencil(r->A, 1, &row, m, cols, values, INSERT_VALUES));
  PetscFunctionReturn(0);
}

/* The solver notices that values have changed, keeps its grids and renews its coefficients. rate: 1 / time step or 0 */
static PetscErrorCode SetOperator(Reservoir *r, PetscReal rate)
{
  Cells          cells;
  Vec            diagonal;
  PetscScalar ***a;

  PetscFunctionBeginUser;
  PetscCall(DMGetGlobalVector(r->da, &diagonal));
  PetscCall(VecCopy(r->storage, diagonal));
  PetscCall(VecScale(diagonal, rate));
  PetscCall(WellsAddTerms(&r->wells, r->da, PETSC_TRUE, diagonal));
  PetscCall(OpenCells(r, &cells));
  PetscCall(DMDAVecGetArrayRead(r->da, diagonal, &a));
  for (PetscInt l = 0; l < CountCells(&cells); l++) {
    PetscInt at[3];

    GetCell(&cells, l, at);
    PetscCall(SetRow(r, &cells, at, PetscRealPart(a[at[2]][at[1]][at[0]])));
  }
  PetscCall(DMDAVecRestoreArrayRead(r->da, diagonal, &a));
  PetscCall(CloseCells(r, &cells));
  PetscCall(DMRestoreGlobalVector(r->da, &diagonal));
  PetscCall(MatAssemblyBegin(r->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(r->A, MAT_FINAL_ASSEMBLY));
  PetscCall(KSPSetOperators(r->ksp, r->A, r->A));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolver(Reservoir *r)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(r->da, &r->A));
  PetscCall(MatSetOption(r->A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &r->ksp));
  PetscCall(KSPSetType(r->ksp, KSPCG));
  PetscCall(KSPSetNormType(r->ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(r->ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(r->ksp, &pc));
  PetscCall(PCSetType(pc, PCKCYCLE));
  PetscCall(KSPSetErrorIfNotConverged(r->ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(r->ksp));
  PetscFunctionReturn(0);
}

/* Pressure after a step, and its change; the last step's matrix has the storage of this one */
static PetscErrorCode Step(Reservoir *r, PetscReal rate, Vec change)
{
  Vec      b, product;
  PetscInt its;

  PetscFunctionBeginUser;
  PetscCall(DMGetGlobalVector(r->da, &b));
  PetscCall(DMGetGlobalVector(r->da, &product));
  PetscCall(VecPointwiseMult(b, r->storage, r->p));
  PetscCall(VecScale(b, rate));
  PetscCall(WellsAddTerms(&r->wells, r->da, PETSC_FALSE, b));
  PetscCall(MatMult(r->A, r->p, product));
  PetscCall(VecAXPY(b, -1.0, product));
  PetscCall(KSPSolve(r->ksp, b, change));
  PetscCall(VecAXPY(r->p, 1.0, change));
  PetscCall(DMRestoreGlobalVector(r->da, &product));
  PetscCall(DMRestoreGlobalVector(r->da, &b));
  PetscCall(KSPGetIterationNumber(r->ksp, &its));
  r->most_its = PetscMax(r->most_its, its);
  PetscFunctionReturn(0);
}

/* Checks and output */

/* What wells bring is what is stored; relative to what goes through wells, to what is stored if that is more, and to
   rounding if nothing flows */
static PetscErrorCode CheckBalance(Reservoir *r, PetscReal per_time, Vec change)
{
  PetscReal  *rate, *pressure, sum = 0, size = 0, rounding = 0;
  PetscScalar stored;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(r->wells.n, &rate, r->wells.n, &pressure));
  PetscCall(WellsMeasure(&r->wells, r->da, r->p, rate, pressure));
  PetscCall(VecDot(change, r->storage, &stored));
  for (PetscInt w = 0; w < r->wells.n; w++) {
    sum += rate[w];
    size += PetscAbsReal(rate[w]);
  }
  for (PetscInt l = 0; l < r->wells.perforations; l++)
    rounding += 1e-10 * r->wells.perforation[l].index * PetscAbsReal(pressure[r->wells.perforation[l].well]);
  PetscCall(PetscFree2(rate, pressure));
  size = PetscMax(PetscMax(size, rounding), PetscAbsScalar(stored) * per_time);
  if (size > 0) r->imbalance = PetscMax(r->imbalance, PetscAbsReal(sum - PetscRealPart(stored) * per_time) / size);
  PetscFunctionReturn(0);
}

/* Of active cells */
static PetscErrorCode GetRange(const Reservoir *r, PetscReal *least, PetscReal *most)
{
  PetscInt           size;
  PetscReal          range[2] = {PETSC_MAX_REAL, PETSC_MAX_REAL};
  const PetscScalar *p, *active;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(r->p, &size));
  PetscCall(VecGetArrayRead(r->p, &p));
  PetscCall(VecGetArrayRead(r->active, &active));
  for (PetscInt i = 0; i < size; i++) {
    if (PetscRealPart(active[i]) == 0) continue;
    range[0] = PetscMin(range[0], PetscRealPart(p[i]));
    range[1] = PetscMin(range[1], -PetscRealPart(p[i]));
  }
  PetscCall(VecRestoreArrayRead(r->active, &active));
  PetscCall(VecRestoreArrayRead(r->p, &p));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, range, 2, MPIU_REAL, MPIU_MIN, PETSC_COMM_WORLD));
  *least = range[0];
  *most  = -range[1];
  PetscFunctionReturn(0);
}

/* Without given rates, the pressure lies between those of the wells and that of the start */
static PetscErrorCode ReportRange(const Reservoir *r)
{
  PetscReal least, most, low = PETSC_MAX_REAL, high = PETSC_MIN_REAL, slack;

  PetscFunctionBeginUser;
  if (r->steps) low = high = r->start;
  for (PetscInt w = 0; w < r->wells.n; w++) {
    if (!r->wells.well[w].has_pressure) PetscFunctionReturn(0);
    low  = PetscMin(low, r->wells.well[w].value);
    high = PetscMax(high, r->wells.well[w].value);
  }
  PetscCall(GetRange(r, &least, &most));
  slack = 1e-6 * (high - low) + 1e-12 * PetscMax(PetscAbsReal(low), PetscAbsReal(high));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "pressures between %.6g and %.6g: %s\n", (double)low, (double)high,
                        least >= low - slack && most <= high + slack ? "yes" : "NO"));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReportStep(const Reservoir *r, PetscInt step, PetscReal time)
{
  PetscReal least, most;
  PetscInt  its;

  PetscFunctionBeginUser;
  if (r->limit) PetscFunctionReturn(0);
  PetscCall(GetRange(r, &least, &most));
  PetscCall(KSPGetIterationNumber(r->ksp, &its));
  if (r->steps) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "step %" PetscInt_FMT ", day %.6g: ", step + 1, (double)time));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " iterations, pressure %.5g to %.5g\n", its, (double)least,
                        (double)most));
  PetscFunctionReturn(0);
}

static PetscErrorCode Report(const Reservoir *r)
{
  PetscReal *rate, *pressure;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(r->wells.n, &rate, r->wells.n, &pressure));
  PetscCall(WellsMeasure(&r->wells, r->da, r->p, rate, pressure));
  for (PetscInt w = 0; w < r->wells.n; w++)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "well %" PetscInt_FMT ": pressure %.4g, rate %.4g\n", w + 1,
                          (double)pressure[w], (double)rate[w]));
  PetscCall(PetscFree2(rate, pressure));
  PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "wells and storage balance to 1e-6: %s\n", r->imbalance < 1e-6 ? "yes" : "NO"));
  PetscCall(ReportRange(r));
  if (r->limit)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations at most %" PetscInt_FMT ": %s\n", r->limit,
                          r->most_its <= r->limit ? "yes" : "NO"));
  PetscFunctionReturn(0);
}

/* Centres of cells; layers go down */
static PetscErrorCode SetCoordinates(const Reservoir *r)
{
  DMDALocalInfo   in;
  DM              cda;
  Vec             coordinates;
  PetscReal      *centre[3];
  PetscScalar ****x;

  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < 3; d++) {
    PetscReal end = 0;

    PetscCall(PetscMalloc1(r->n[d], &centre[d]));
    for (PetscInt i = 0; i < r->n[d]; i++) {
      centre[d][i] = (d == 2 ? -1 : 1) * (end + r->h[d][i] / 2);
      end += r->h[d][i];
    }
  }
  PetscCall(DMDASetUniformCoordinates(r->da, 0, 1, 0, 1, 0, 1));
  PetscCall(DMGetCoordinateDM(r->da, &cda));
  PetscCall(DMGetCoordinates(r->da, &coordinates));
  PetscCall(DMDAGetLocalInfo(r->da, &in));
  PetscCall(DMDAVecGetArrayDOF(cda, coordinates, &x));
  for (PetscInt k = in.zs; k < in.zs + in.zm; k++)
    for (PetscInt j = in.ys; j < in.ys + in.ym; j++)
      for (PetscInt i = in.xs; i < in.xs + in.xm; i++)
        x[k][j][i][0] = centre[0][i], x[k][j][i][1] = centre[1][j], x[k][j][i][2] = centre[2][k];
  PetscCall(DMDAVecRestoreArrayDOF(cda, coordinates, &x));
  for (PetscInt d = 0; d < 3; d++) PetscCall(PetscFree(centre[d]));
  PetscFunctionReturn(0);
}

static PetscErrorCode OutputField(PetscViewer viewer, const char name[], Vec v)
{
  PetscFunctionBeginUser;
  PetscCall(PetscObjectSetName((PetscObject)v, name));
  PetscCall(VecView(v, viewer));
  PetscFunctionReturn(0);
}

/* In inactive cells pressure and logarithm are 0 */
static PetscErrorCode Output(const Reservoir *r)
{
  PetscViewer  viewer;
  Vec          logarithm;
  PetscInt     size;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(SetCoordinates(r));
  PetscCall(VecDuplicate(r->k[0], &logarithm));
  PetscCall(VecCopy(r->k[0], logarithm));
  PetscCall(VecGetLocalSize(logarithm, &size));
  PetscCall(VecGetArray(logarithm, &a));
  for (PetscInt i = 0; i < size; i++) a[i] = PetscRealPart(a[i]) > 0 ? PetscLog10Real(PetscRealPart(a[i])) : 0;
  PetscCall(VecRestoreArray(logarithm, &a));
  PetscCall(PetscViewerVTKOpen(PETSC_COMM_WORLD, r->output, FILE_MODE_WRITE, &viewer));
  PetscCall(OutputField(viewer, "pressure", r->p));
  PetscCall(OutputField(viewer, "log10_permeability", logarithm));
  PetscCall(OutputField(viewer, "active", r->active));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(VecDestroy(&logarithm));
  PetscFunctionReturn(0);
}

/* Time steps, or one without storage */
static PetscErrorCode Run(Reservoir *r)
{
  PetscReal time = 0, dt = r->dt;
  Vec       change;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(r->active, &r->p));
  PetscCall(VecCopy(r->active, r->p));
  PetscCall(VecScale(r->p, r->start));
  PetscCall(VecDuplicate(r->p, &change));
  for (PetscInt step = 0; step < PetscMax(r->steps, 1); step++) {
    const PetscReal rate = r->steps ? 1 / dt : 0;

    if (step == 0 || r->growth != 1) PetscCall(SetOperator(r, rate));
    PetscCall(Step(r, rate, change));
    PetscCall(CheckBalance(r, rate, change));
    PetscCall(ReportStep(r, step, time += dt));
    dt *= r->growth;
  }
  PetscCall(VecDestroy(&change));
  PetscFunctionReturn(0);
}

static PetscErrorCode Destroy(Reservoir *r)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&r->ksp));
  PetscCall(MatDestroy(&r->A));
  PetscCall(VecDestroy(&r->p));
  PetscCall(VecDestroy(&r->storage));
  PetscCall(VecDestroy(&r->active));
  for (PetscInt d = 0; d < 3; d++) {
    PetscCall(VecDestroy(&r->k[d]));
    PetscCall(PetscFree(r->h[d]));
  }
  PetscCall(WellsDestroy(&r->wells));
  PetscCall(DMDestroy(&r->da));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Reservoir r;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(KCycleInitializePackage());
  PetscCall(PetscMemzero(&r, sizeof(r)));
  r.kz_over_kx = PETSC_DECIDE;
  r.darcy      = 0.00852702; /* mD m bar / cP in m^3/day */
  r.viscosity = r.dt = r.growth = 1;
  r.porosity                    = 0.2;
  r.compressibility             = 1e-4;
  r.start                       = 200;
  r.well_radius                 = 0.1;
  PetscCall(SetFromOptions(&r));
  PetscCall(CheckOptions(&r));
  PetscCall(ReadFile(&r));
  PetscCall(ReadWells(&r));
  PetscCall(CreateSolver(&r));
  if (!r.steps) PetscCall(SetParts(&r));
  PetscCall(Run(&r));
  PetscCall(Report(&r));
  if (r.output[0]) PetscCall(Output(&r));
  PetscCall(Destroy(&r));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    depends: fieldfile.c wells.c

  testset:
    nsize: {{1 2 4}}
    requires: !complex
    localrunfiles: reservoir.grdecl
    args: -file reservoir.grdecl -limit 20

    test:
      suffix: steady
      args: -wells 6,6,1,5,bhp,250,15,9,1,3,bhp,150 -dm_mat_type {{aij stencil}}

    test:
      suffix: lines
      output_file: output/reservoir_steady.out
      args: -wells 6,6,1,5,bhp,250,15,9,1,3,bhp,150 -mg_levels_pc_relax_type zebra_z

    test:
      suffix: jacobi
      args: -wells 6,6,1,5,bhp,250,15,9,1,3,bhp,150 -pc_type jacobi -limit 1000

    test:
      suffix: rates
      args: -wells 6,6,1,5,rate,100,15,9,1,3,rate,-60,18,7,2,5,rate,-40 -dm_mat_type {{aij stencil}}

    test:
      suffix: mixed
      args: -wells 6,6,1,5,bhp,250,15,9,1,3,rate,-100

    test:
      suffix: steps
      args: -wells 6,6,1,5,bhp,250,15,9,1,3,bhp,150 -steps 6 -growth 1.5 -dm_mat_type {{aij stencil}}

    test:
      suffix: equal_steps
      args: -wells 6,6,1,5,rate,100,15,9,1,3,rate,-50 -steps 6 -dt 5

TEST*/
