/*
  PCFASTPOISSON: the nearest separable operator of one that is none, with D = 1.

  With the couplings t_d[i] between planes i and i + 1 of direction d in the mean, a point p whose own couplings a(p, q)
  are k(p) times as large as these is scaled by r(p) = 1 / sqrt(k(p)). Of the operator r A r, whose couplings vary less
  if coefficients are smooth, couplings are averaged over planes again, and so are row sums e:

      T_d     -t_d off the diagonal, and on it what makes row sums e_d[i] = mean of e in plane i - mean of e - least_d
      sigma   mean of e + least_x + least_y + least_z, at least zero

  with the numbers least_d that make the smallest e_d zero: so the preconditioner r (T_x + T_y + T_z + sigma)^-1 r is
  positive definite, or semidefinite.
*/
#include "fastpoissonimpl.h"
#include <petsckcycle/private/deviceimpl.h>

#if defined(KCYCLE_HAVE_FASTPOISSON)

/* Sums over planes, one after the other: of couplings with the next plane, then of row sums */
typedef struct {
  PetscReal         *up[3], *sum[3];
  PetscInt           count; /* numbers in all */
  /* r and where it is: of ghost points, too */
  const PetscScalar *root;
  PetscInt           first[3], size[3];
} Means;

static PetscErrorCode MeansCreate(const PC_FastPoisson *fp, Means *m)
{
  const PetscInt n[3] = {fp->dir[0].n, fp->dir[1].n, fp->dir[2].n};

  PetscFunctionBegin;
  PetscCall(PetscMemzero(m, sizeof(*m)));
  m->count = 2 * (n[0] + n[1] + n[2]);
  PetscCall(PetscCalloc1(m->count, &m->up[0]));
  for (int d = 1; d < 3; d++) m->up[d] = m->up[d - 1] + n[d - 1];
  for (int d = 0; d < 3; d++) m->sum[d] = m->up[d] + m->count / 2;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From sums of this process to means of all */
static PetscErrorCode MeansReduce(PC pc, Means *m)
{
  const PC_FastPoisson *fp    = (const PC_FastPoisson *)pc->data;
  const PetscReal       total = (PetscReal)fp->dir[0].n * fp->dir[1].n * fp->dir[2].n;
  PetscMPIInt           count;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(m->count, &count));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, m->up[0], count, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)pc)));
  for (int d = 0; d < 3; d++) {
    for (PetscInt i = 0; i < fp->dir[d].n; i++) {
      m->up[d][i] *= fp->dir[d].n / total;
      m->sum[d][i] *= fp->dir[d].n / total;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The neighbour of a point of the core, in its coordinates; is it in the core? */
static PetscBool Neighbour(const PC_FastPoisson *fp, const PetscInt at[], int d, int ahead, PetscInt to[])
{
  const KCycleFPDirection *dir = &fp->dir[d];

  for (int e = 0; e < 3; e++) to[e] = at[e];
  to[d] += ahead ? 1 : -1;
  if (dir->periodic) to[d] = (to[d] + dir->n) % dir->n;
  return (PetscBool)(to[d] >= 0 && to[d] < dir->n);
}

/* r of a point next to one of this process; that of the latter where this DMDA has no ghost points */
static PetscReal RootOf(const PC_FastPoisson *fp, const Means *m, const PetscInt at[], int d, PetscInt step)
{
  PetscInt local[3];

  if (!m->root) return 1;
  for (int e = 0; e < 3; e++) local[e] = fp->dir[e].lo + at[e] + (e == d ? step : 0) - m->first[e];
  if (local[d] < 0 || local[d] >= m->size[d]) local[d] -= step;
  return m->root[local[0] + m->size[0] * (local[1] + m->size[1] * local[2])];
}

/* What one row adds */
static void AddRow(const PC_FastPoisson *fp, const PetscInt at[], const PetscReal c[], Means *m)
{
  const PetscReal own = RootOf(fp, m, at, 0, 0);
  PetscReal       sum = c[KC_STAR_DIAGONAL] * own * own;
  PetscInt        to[3];

  for (int d = 0; d < 3; d++) {
    for (int ahead = 0; ahead < 2; ahead++) {
      PetscReal value;

      if (!Neighbour(fp, at, d, ahead, to)) continue;
      value = c[KC_STAR_OF(d, ahead)] * own * RootOf(fp, m, at, d, ahead ? 1 : -1);
      sum += value;
      m->up[d][ahead ? at[d] : to[d]] += value / 2; /* half of each of both rows */
    }
  }
  for (int d = 0; d < 3; d++) m->sum[d][at[d]] += sum;
}

/* How much larger the couplings of a point are than those in the mean, as r */
static PetscReal Weigh(const PC_FastPoisson *fp, const PetscInt at[], const PetscReal c[], const Means *m)
{
  PetscReal own = 0, mean = 0;
  PetscInt  to[3];

  for (int d = 0; d < 3; d++) {
    for (int ahead = 0; ahead < 2; ahead++) {
      if (!Neighbour(fp, at, d, ahead, to)) continue;
      own += PetscAbsReal(c[KC_STAR_OF(d, ahead)]);
      mean += PetscAbsReal(m->up[d][ahead ? at[d] : to[d]]);
    }
  }
  return own > 0 && mean > 0 ? PetscSqrtReal(mean / own) : 1;
}

/* All rows of the core: adds them up, or makes r of them */
static PetscErrorCode Pass(PC pc, KCycleFPRows *rows, Means *m, PetscReal *root)
{
  PC_FastPoisson *fp = (PC_FastPoisson *)pc->data;
  const PetscInt *n = fp->box->n, *start = fp->grid.start, *count = fp->grid.n;
  KCycleFPFault   fault = {PETSC_INT_MAX, 0, 0, 0};
  PetscInt        own[3]; /* the first point of the core on this process */

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) own[d] = start[d] + fp->dir[d].lo - fp->box->start[d];
  for (PetscInt line = 0; line < fp->grid.nlines; line++) {
    const PetscInt j = line % count[1], k = line / count[1];

    PetscCall(KCycleFPRowsLine(rows, own[1] + j, own[2] + k, &fault));
    for (PetscInt i = 0; i < count[0]; i++) {
      const PetscInt at[3] = {start[0] + i, start[1] + j, start[2] + k};
      PetscReal      c[KC_STAR];

      for (int q = 0; q < KC_STAR; q++) c[q] = rows->c[q] ? rows->c[q][own[0] + i] : 0;
      if (root) root[own[0] + i + n[0] * (own[1] + j + n[1] * (own[2] + k))] = Weigh(fp, at, c, m);
      else AddRow(fp, at, c, m);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r, with that of neighbours; m->root until it is restored */
static PetscErrorCode RootsGet(PC pc, DM dm, Means *m, Vec *local)
{
  PC_FastPoisson *fp = (PC_FastPoisson *)pc->data;

  PetscFunctionBegin;
  PetscCall(DMCreateLocalVector(dm, local));
  PetscCall(DMGlobalToLocalBegin(dm, fp->root, INSERT_VALUES, *local));
  PetscCall(DMGlobalToLocalEnd(dm, fp->root, INSERT_VALUES, *local));
  PetscCall(DMDAGetGhostCorners(dm, &m->first[0], &m->first[1], &m->first[2], &m->size[0], &m->size[1], &m->size[2]));
  PetscCall(VecGetArrayRead(*local, &m->root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* T of a direction from the means; what is left to sigma */
static PetscErrorCode MakeDirection(PC pc, int d, const Means *m, PetscReal mean, PetscReal *left)
{
  PC_FastPoisson    *fp    = (PC_FastPoisson *)pc->data;
  KCycleFPDirection *dir   = &fp->dir[d];
  const PetscReal    sign  = fp->scale < 0 ? -1 : 1;
  PetscReal          least = PETSC_MAX_REAL;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < dir->n; i++) least = PetscMin(least, sign * (m->sum[d][i] - mean));
  dir->closed = PETSC_TRUE;
  for (PetscInt i = 0; i < dir->n; i++) {
    const PetscInt  before = dir->periodic ? (i + dir->n - 1) % dir->n : i - 1;
    const PetscBool last   = (PetscBool)(i == dir->n - 1 && !dir->periodic);
    PetscReal       sum    = m->sum[d][i] - mean - sign * least;

    if (PetscAbsReal(sum) <= 64 * PETSC_MACHINE_EPSILON * PetscAbsReal(fp->scale)) sum = 0;
    if (sum != 0) dir->closed = PETSC_FALSE;
    dir->d[i]   = 1;
    dir->up[i]  = last ? 0 : m->up[d][i];
    dir->low[i] = before < 0 ? 0 : m->up[d][before];
    dir->mid[i] = sum - dir->up[i] - dir->low[i];
    PetscCheck(sign * dir->up[i] <= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
               "Couplings of points %" PetscInt_FMT " and %" PetscInt_FMT
               " in direction %c are %g in the mean, of the sign of the diagonal: no separable operator is near. Use "
               "-pc_type kcycle",
               dir->lo + i, dir->lo + i + 1, "xyz"[d], (double)dir -> up[i]);
  }
  *left += sign * least;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Instead of what PCFastPoissonFit() has found */
PetscErrorCode PCFastPoissonAverage(PC pc, KCycleFPRows *rows)
{
  PC_FastPoisson *fp   = (PC_FastPoisson *)pc->data;
  PetscReal       mean = 0;
  PetscScalar    *root;
  PetscBool       device;
  Means           m;
  Vec             local;
  DM              dm;

  PetscFunctionBegin;
  PetscCall(PCGetDM(pc, &dm));
  if (!dm) PetscCall(MatGetDM(pc->pmat, &dm));
  PetscCall(KCycleMatForDevices(pc->pmat, &device));
  if (device) PetscCall(MatCreateVecs(pc->pmat, &fp->root, NULL));
  else PetscCall(DMCreateGlobalVector(dm, &fp->root));
  PetscCall(VecSet(fp->root, 1));
  PetscCall(MeansCreate(fp, &m));
  PetscCall(Pass(pc, rows, &m, NULL));
  PetscCall(MeansReduce(pc, &m));
  PetscCall(VecGetArray(fp->root, &root));
  PetscCall(Pass(pc, rows, &m, root));
  PetscCall(VecRestoreArray(fp->root, &root));
  PetscCall(PetscArrayzero(m.up[0], m.count));
  PetscCall(RootsGet(pc, dm, &m, &local));
  PetscCall(Pass(pc, rows, &m, NULL));
  PetscCall(VecRestoreArrayRead(local, &m.root));
  PetscCall(VecDestroy(&local));
  PetscCall(MeansReduce(pc, &m));
  for (PetscInt i = 0; i < fp->dir[0].n; i++) mean += m.sum[0][i] / fp->dir[0].n;
  fp->sigma = mean;
  if (PetscIsInfOrNanReal(mean)) {
    PetscCall(PetscFree(m.up[0]));
    PetscCall(PCFastPoissonFail(pc, "The operator has a NaN or Inf: look for a division by zero or an unset "
                                    "coefficient in its assembly"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int d = 0; d < 3; d++) PetscCall(MakeDirection(pc, d, &m, mean, &fp->sigma));
  if (!((fp->scale < 0 ? -1 : 1) * fp->sigma > 64 * PETSC_MACHINE_EPSILON * PetscAbsReal(fp->scale))) fp->sigma = 0;
  PCFastPoissonFitConstants(fp);
  PetscCall(PetscFree(m.up[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
