static char help[] =
    "The same problem with a DMDA and without one, in turns: iterations, processor time of set-up and solve.\n\
  -dim 2|3 -n <points in each direction>\n\
  -layout planes|cut|boxes    who owns which rows of the matrix without a DM: whole planes, as many rows each, or as \
a DMDA numbers them\n\
  -smooth                     a coefficient that varies, 1000:1; else it is 1\n\
  -renew <3>                  times that values are renewed and solved for again\n\
  -pairs <5>                  pairs of runs\n\n";

/*
  -div c grad u = f in the unit square or cube, u = 0 on its boundary. Times are those of processors, added up over
  processes. Lines printed, comma separated: pair, then for a new solver and for renewed values seconds with a DMDA,
  seconds without; at last iterations, with and without, of all solves.
*/
#include <petscksp.h>
#include <petscdmda.h>
#include <petsckcycle/private/compat.h>
#include <sys/resource.h>

typedef enum {
  LAYOUT_PLANES,
  LAYOUT_CUT,
  LAYOUT_BOXES
} Layout;
static const char *const Layouts[] = {"planes", "cut", "boxes", "Layout", "LAYOUT_", NULL};

typedef struct {
  PetscInt  dim, n, size[3];
  Layout    layout;
  PetscBool smooth;
  PetscInt  renew;
} Problem;

/* One of the two ways, and what it took */
typedef struct {
  Mat       A;
  Vec       b, x;
  PetscReal first, renewed; /* seconds */
  PetscInt  its;
} Way;

static PetscErrorCode Seconds(PetscReal *seconds)
{
  struct rusage usage;

  PetscFunctionBeginUser;
  getrusage(RUSAGE_SELF, &usage);
  *seconds = (PetscReal)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
             1e-6 * (PetscReal)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscReal Coefficient(const Problem *p, const PetscInt at[], PetscInt d)
{
  PetscReal wave = 1;

  if (!p->smooth) return 1;
  for (PetscInt e = 0; e < p->dim; e++)
    wave *= PetscCosReal(2 * PETSC_PI * ((PetscReal)at[e] + (e == d ? 0.5 : 0)) / (PetscReal)p->n);
  return PetscPowReal(1000, (1 + wave) / 2);
}

/* A row in natural order, or by places on the grid; the diagonal comes first */
static PetscInt Row(const Problem *p, const PetscInt at[], PetscInt column[], MatStencil place[], PetscScalar value[])
{
  const PetscInt stride[3] = {1, p->n, p->n * p->n};
  PetscInt       m         = 1;

  place[0].i = at[0];
  place[0].j = at[1];
  place[0].k = at[2];
  place[0].c = 0;
  column[0]  = at[0] + p->n * (at[1] + p->n * at[2]);
  value[0]   = 0;
  for (PetscInt d = 0; d < p->dim; d++) {
    for (PetscInt side = -1; side <= 1; side += 2) {
      PetscInt  from[3] = {at[0], at[1], at[2]};
      PetscReal c;

      from[d] += side < 0 ? -1 : 0;
      c = Coefficient(p, from, d);
      value[0] += c;
      if (at[d] + side < 0 || at[d] + side >= p->n) continue;
      place[m] = place[0];
      if (d == 0) place[m].i += side;
      else if (d == 1) place[m].j += side;
      else place[m].k += side;
      column[m]  = column[0] + side * stride[d];
      value[m++] = -c;
    }
  }
  return m;
}

static PetscErrorCode CreateDM(const Problem *p, DM *da)
{
  PetscMPIInt size;
  PetscInt    nproc[3] = {1, 1, 1};

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  nproc[p->dim - 1] = size;
  PetscCall(DMDACreate(PETSC_COMM_WORLD, da));
  PetscCall(DMSetDimension(*da, p->dim));
  PetscCall(DMDASetSizes(*da, p->size[0], p->size[1], p->size[2]));
  if (p->layout != LAYOUT_BOXES) PetscCall(DMDASetNumProcs(*da, nproc[0], nproc[1], nproc[2]));
  else PetscCall(DMDASetNumProcs(*da, PETSC_DECIDE, 1, 1));
  PetscCall(DMDASetDof(*da, 1));
  PetscCall(DMDASetStencilWidth(*da, 1));
  PetscCall(DMDASetStencilType(*da, DMDA_STENCIL_STAR));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AssembleOnDM(const Problem *p, DM da, Mat *A)
{
  PetscInt    start[3], width[3], at[3], column[7];
  MatStencil  place[7];
  PetscScalar value[7];

  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(da, A));
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], &start[2], &width[0], &width[1], &width[2]));
  for (at[2] = start[2]; at[2] < start[2] + width[2]; at[2]++) {
    for (at[1] = start[1]; at[1] < start[1] + width[1]; at[1]++) {
      for (at[0] = start[0]; at[0] < start[0] + width[0]; at[0]++) {
        const PetscInt m = Row(p, at, column, place, value);

        PetscCall(MatSetValuesStencil(*A, 1, place, m, place, value, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As many codes do it. "like" has whole planes */
static PetscErrorCode AssembleLines(const Problem *p, Mat like, Mat *A)
{
  const PetscInt N     = p->size[0] * p->size[1] * p->size[2];
  PetscInt       local = PETSC_DECIDE, start, end, column[7];
  MatStencil     place[7];
  PetscScalar    value[7];

  PetscFunctionBeginUser;
  if (p->layout == LAYOUT_PLANES) PetscCall(MatGetLocalSize(like, &local, NULL));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, local, local, N, N, 7, NULL, 4, NULL, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt row = start; row < end; row++) {
    const PetscInt at[3] = {row % p->n, row / p->n % p->n, row / p->n / p->n};
    const PetscInt m     = Row(p, at, column, place, value);

    PetscCall(MatSetValues(*A, 1, &row, m, column, value, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateWays(const Problem *p, DM da, Way way[])
{
  PetscFunctionBeginUser;
  PetscCall(AssembleOnDM(p, da, &way[0].A));
  if (p->layout == LAYOUT_BOXES) {
    PetscCall(MatDuplicate(way[0].A, MAT_COPY_VALUES, &way[1].A));
    PetscCall(MatSetDM(way[1].A, NULL));
  } else PetscCall(AssembleLines(p, way[0].A, &way[1].A));
  for (int w = 0; w < 2; w++) {
    PetscInt     start, end;
    PetscScalar *a;

    PetscCall(MatCreateVecs(way[w].A, &way[w].x, &way[w].b));
    PetscCall(VecGetOwnershipRange(way[w].b, &start, &end));
    PetscCall(VecGetArrayWrite(way[w].b, &a));
    for (PetscInt row = start; row < end; row++)
      a[row - start] = 1 + (PetscReal)((PetscInt64)(row + 1) * 40503 % 65536) / 32768;
    PetscCall(VecRestoreArrayWrite(way[w].b, &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One set-up and solve of a new solver, then others with other values */
static PetscErrorCode RunWay(const Problem *p, DM da, Way *way)
{
  KSP       ksp;
  PC        pc;
  PetscInt  its;
  PetscReal begin, end;

  PetscFunctionBeginUser;
  way->first = way->renewed = 0;
  way->its                  = 0;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, way->A, way->A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPGetPC(ksp, &pc));
  if (da) PetscCall(PCSetDM(pc, da));
  PetscCall(KSPSetFromOptions(ksp));
  for (PetscInt r = 0; r <= p->renew; r++) {
    if (r) PetscCall(MatScale(way->A, r % 2 ? 2 : 0.5));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(Seconds(&begin));
    PetscCall(KSPSetUp(ksp));
    PetscCall(KSPSolve(ksp, way->b, way->x));
    PetscCall(Seconds(&end));
    if (r) way->renewed += end - begin;
    else way->first = end - begin;
    PetscCall(KSPGetIterationNumber(ksp, &its));
    way->its += its;
  }
  if (p->renew % 2) PetscCall(MatScale(way->A, 0.5));
  PetscCall(KSPDestroy(&ksp));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &way->first, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &way->renewed, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Problem  p     = {3, 63, {1, 1, 1}, LAYOUT_PLANES, PETSC_FALSE, 3};
  PetscInt pairs = 5;
  DM       da;
  Way      way[2];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &p.dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &p.n, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-layout", Layouts, (PetscEnum *)&p.layout, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-smooth", &p.smooth, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-renew", &p.renew, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-pairs", &pairs, NULL));
  for (PetscInt d = 0; d < p.dim; d++) p.size[d] = p.n;
  PetscCall(CreateDM(&p, &da));
  PetscCall(CreateWays(&p, da, way));
  for (PetscInt k = 0; k < pairs; k++) {
    for (int w = 0; w < 2; w++) {
      const int which = (w + (int)k) % 2;

      PetscCall(RunWay(&p, which ? NULL : da, &way[which]));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "pair,%.4f,%.4f,%.4f,%.4f,%" PetscInt_FMT ",%" PetscInt_FMT "\n",
                          (double)way[0].first, (double)way[1].first, (double)way[0].renewed, (double)way[1].renewed,
                          way[0].its, way[1].its));
  }
  for (int w = 0; w < 2; w++) {
    PetscCall(MatDestroy(&way[w].A));
    PetscCall(VecDestroy(&way[w].b));
    PetscCall(VecDestroy(&way[w].x));
  }
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
