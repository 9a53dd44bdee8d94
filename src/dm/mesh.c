/*
  Grids coarsened by leaving out every second point: who owns what, linear interpolation between them, and what an
  operator couples on them.
*/
#include <petsckcycle/private/gridimpl.h>
#include <petsckcycle/private/boximpl.h>

/* Why there is none for a DM, or nothing */
PetscErrorCode KCycleMeshCheck(DM dm, size_t len, char why[])
{
  PetscInt       dim;
  DMBoundaryType boundary[3];

  PetscFunctionBegin;
  PetscCall(KCycleDMDACheck(dm, len, why));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMDAGetInfo(dm, &dim, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &boundary[0], &boundary[1],
                        &boundary[2], NULL));
  for (PetscInt d = 0; d < dim; d++) {
    if (boundary[d] == DM_BOUNDARY_TWIST)
      PetscCall(PetscSNPrintf(why, len, "the boundary of its DMDA in %c is twist", (int)('x' + d)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleMeshCreate(DM da, KCycleMesh *mesh)
{
  const PetscInt *owned[3];
  DMBoundaryType  boundary[3];

  PetscFunctionBegin;
  PetscCall(PetscMemzero(mesh, sizeof(*mesh)));
  PetscCall(DMDAGetInfo(da, &mesh->dim, &mesh->size[0], &mesh->size[1], &mesh->size[2], &mesh->nproc[0],
                        &mesh->nproc[1], &mesh->nproc[2], &mesh->dof, NULL, &boundary[0], &boundary[1], &boundary[2],
                        NULL));
  PetscCall(DMDAGetOwnershipRanges(da, &owned[0], &owned[1], &owned[2]));
  for (PetscInt d = 0; d < 3; d++) {
    const PetscBool used = (PetscBool)(d < mesh->dim);

    if (!used) mesh->size[d] = mesh->nproc[d] = 1;
    if (used && boundary[d] == DM_BOUNDARY_PERIODIC) mesh->period[d] = mesh->size[d];
    PetscCall(PetscMalloc1(mesh->nproc[d] + 1, &mesh->first[d]));
    PetscCall(PetscMalloc1(mesh->size[d], &mesh->position[d]));
    mesh->first[d][0] = 0;
    for (PetscInt p = 0; p < mesh->nproc[d]; p++) mesh->first[d][p + 1] = mesh->first[d][p] + (used ? owned[d][p] : 1);
    for (PetscInt i = 0; i < mesh->size[d]; i++) mesh->position[d][i] = i;
  }
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)da), &mesh->rank));
  PetscCall(KCycleNumberRows(mesh->nproc, mesh->first, mesh->dof, &mesh->rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every second point of the directions that are coarsened; each process keeps its own */
PetscErrorCode KCycleMeshCoarsen(const KCycleMesh *fine, const PetscBool coarsened[], KCycleMesh *coarse)
{
  PetscFunctionBegin;
  *coarse = *fine;
  for (PetscInt d = 0; d < 3; d++) {
    PetscInt kept = 0, p = 0;

    PetscCall(PetscMalloc1(fine->nproc[d] + 1, &coarse->first[d]));
    PetscCall(PetscMalloc1(fine->size[d], &coarse->position[d]));
    for (PetscInt i = 0; i < fine->size[d]; i++) {
      while (p <= fine->nproc[d] && fine->first[d][p] <= i) coarse->first[d][p++] = kept;
      if (!coarsened[d] || KCycleMeshKept(fine, d, i) >= 0) coarse->position[d][kept++] = fine->position[d][i];
    }
    while (p <= fine->nproc[d]) coarse->first[d][p++] = kept;
    coarse->size[d] = kept;
  }
  PetscCall(KCycleNumberRows(coarse->nproc, coarse->first, coarse->dof, &coarse->rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleMeshDestroy(KCycleMesh *mesh)
{
  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) {
    PetscCall(PetscFree(mesh->first[d]));
    PetscCall(PetscFree(mesh->position[d]));
  }
  PetscCall(PetscFree(mesh->rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The process in one direction that owns a point there */
static PetscInt Owner(const KCycleMesh *mesh, PetscInt d, PetscInt i)
{
  PetscInt low = 0, high = mesh->nproc[d];

  while (high - low > 1) {
    const PetscInt middle = (low + high) / 2;

    if (mesh->first[d][middle] <= i) low = middle;
    else high = middle;
  }
  return low;
}

/* The row of the first unknown of a point. A process without points begins where the next one does: the last of
   those owns the point */
static PetscInt PointToRow(const KCycleMesh *mesh, const PetscInt at[])
{
  PetscInt p[3], place = 0;

  for (PetscInt d = 2; d >= 0; d--) {
    p[d]  = Owner(mesh, d, at[d]);
    place = place * (mesh->first[d][p[d] + 1] - mesh->first[d][p[d]]) + at[d] - mesh->first[d][p[d]];
  }
  return mesh->rows[p[0] + mesh->nproc[0] * (p[1] + mesh->nproc[1] * p[2])] + mesh->dof * place;
}

/* The point and the unknown that a row belongs to */
static void RowToPoint(const KCycleMesh *mesh, PetscInt row, PetscInt at[], PetscInt *unknown)
{
  PetscInt rank = mesh->rank, place;

  if (row < mesh->rows[rank] || row >= mesh->rows[rank + 1]) {
    PetscInt high = mesh->nproc[0] * mesh->nproc[1] * mesh->nproc[2];

    for (rank = 0; high - rank > 1;) {
      const PetscInt middle = (rank + high) / 2;

      if (mesh->rows[middle] <= row) rank = middle;
      else high = middle;
    }
  }
  place    = row - mesh->rows[rank];
  *unknown = place % mesh->dof;
  place /= mesh->dof;
  for (int d = 0; d < 3; d++) {
    const PetscInt p = d == 0   ? rank % mesh->nproc[0]
                       : d == 1 ? rank / mesh->nproc[0] % mesh->nproc[1]
                                : rank / mesh->nproc[0] / mesh->nproc[1];
    const PetscInt n = mesh->first[d][p + 1] - mesh->first[d][p];

    at[d] = mesh->first[d][p] + place % n;
    place /= n;
  }
}

/* The coarse points that a fine one is interpolated from in one direction, by its distance from them */
static int Between(const KCycleMesh *fine, const KCycleMesh *coarse, PetscInt d, PetscBool coarsened, PetscInt i,
                   PetscInt to[], PetscReal weight[])
{
  const PetscInt *x    = fine->position[d];
  const PetscInt  kept = coarsened ? KCycleMeshKept(fine, d, i) : i,
                 next  = i + 1 == fine->size[d] ? x[0] + fine->period[d] : 0;

  to[0]     = coarsened && kept < 0 ? (i - 1) / 2 : kept;
  weight[0] = 1;
  if (kept >= 0 || fine->size[d] == 2) return 1;
  to[1]     = (i + 1) / 2 % coarse->size[d];
  weight[1] = (PetscReal)(x[i] - x[i - 1]) / ((next ? next : x[i + 1]) - x[i - 1]);
  weight[0] = 1 - weight[1];
  return 2;
}

/* The points, eight at most, that a fine point is interpolated from: their first rows */
static int Parents(const KCycleMesh *fine, const KCycleMesh *coarse, const PetscBool coarsened[], const PetscInt at[],
                   PetscInt row[], PetscReal weight[])
{
  PetscInt  to[3][2];
  PetscReal w[3][2];
  int       n[3], count = 0;

  for (PetscInt d = 0; d < 3; d++) n[d] = Between(fine, coarse, d, coarsened[d], at[d], to[d], w[d]);
  for (int k = 0; k < n[2]; k++) {
    for (int j = 0; j < n[1]; j++) {
      for (int i = 0; i < n[0]; i++) {
        const PetscInt from[3] = {to[0][i], to[1][j], to[2][k]};

        row[count]      = PointToRow(coarse, from);
        weight[count++] = w[0][i] * w[1][j] * w[2][k];
      }
    }
  }
  return count;
}

/* An entry of this process's rows in its own columns, or in those of others? */
static PetscErrorCode Preallocate(const KCycleMesh *fine, const KCycleMesh *coarse, const PetscBool coarsened[], Mat P)
{
  const PetscInt n = KCycleMeshLocalRows(fine), low = coarse->rows[coarse->rank], high = coarse->rows[coarse->rank + 1];
  PetscInt      *own, *others, row[8], at[3], unknown;
  PetscReal      weight[8];

  PetscFunctionBegin;
  PetscCall(PetscCalloc2(n, &own, n, &others));
  for (PetscInt r = 0; r < n; r++) {
    int count;

    RowToPoint(fine, fine->rows[fine->rank] + r, at, &unknown);
    count = Parents(fine, coarse, coarsened, at, row, weight);
    for (int c = 0; c < count; c++) (row[c] >= low && row[c] < high ? own : others)[r]++;
  }
  PetscCall(MatSeqAIJSetPreallocation(P, 0, own));
  PetscCall(MatMPIAIJSetPreallocation(P, 0, own, 0, others));
  PetscCall(PetscFree2(own, others));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coarse unknowns that are coupled to nobody, nor is the fine one that they are: nothing else is interpolated from
   them */
static PetscErrorCode LoosenColumns(const KCycleMesh *fine, const KCycleMesh *coarse, const PetscBool coarsened[],
                                    const PetscBool single[], Mat P)
{
  const PetscInt n = KCycleMeshLocalRows(fine);
  Vec            kept;
  PetscInt       at[3], unknown, loose = 0, any;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < n; r++) loose += single[r];
  PetscCallMPI(MPI_Allreduce(&loose, &any, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)P)));
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(P, &kept, NULL));
  PetscCall(VecSet(kept, 1));
  for (PetscInt pass = 0; pass < 2; pass++) {
    for (PetscInt r = 0; r < n; r++) {
      PetscBool is = single[r];
      PetscInt  column;

      RowToPoint(fine, fine->rows[fine->rank] + r, at, &unknown);
      for (PetscInt d = 0; d < 3 && is; d++) {
        at[d] = coarsened[d] ? KCycleMeshKept(fine, d, at[d]) : at[d];
        is    = (PetscBool)(at[d] >= 0);
      }
      if (!is) continue;
      column = PointToRow(coarse, at) + unknown;
      if (pass == 0) PetscCall(VecSetValue(kept, column, 0, INSERT_VALUES));
      else PetscCall(MatSetValue(P, fine->rows[fine->rank] + r, column, 1, INSERT_VALUES));
    }
    if (pass == 0) {
      PetscCall(VecAssemblyBegin(kept));
      PetscCall(VecAssemblyEnd(kept));
      PetscCall(MatDiagonalScale(P, NULL, kept));
    }
  }
  PetscCall(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY));
  PetscCall(VecDestroy(&kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Linear interpolation of each unknown. single: unknowns of this process that are coupled to nobody, which smoothers
  solve for, so that they get nothing but from the coarse unknown in the same place, and give nothing to others.
*/
PetscErrorCode KCycleMeshInterpolation(const KCycleMesh *fine, const KCycleMesh *coarse, const PetscBool coarsened[],
                                       const PetscBool single[], MatType type, MPI_Comm comm, Mat *P_)
{
  const PetscInt start = fine->rows[fine->rank], n = KCycleMeshLocalRows(fine), m = KCycleMeshLocalRows(coarse);
  PetscInt       row[8], at[3], unknown, fineid;
  PetscReal      weight[8];
  PetscScalar    value[8];
  Mat            P;

  PetscFunctionBegin;
  PetscCall(MatCreate(comm, &P));
  PetscCall(MatSetSizes(P, n, m, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(P, type));
  PetscCall(MatSetBlockSizes(P, fine->dof, fine->dof));
  PetscCall(Preallocate(fine, coarse, coarsened, P));
  for (PetscInt r = 0; r < n; r++) {
    int count;

    RowToPoint(fine, start + r, at, &unknown);
    count = Parents(fine, coarse, coarsened, at, row, weight);
    for (int c = 0; c < count; c++) {
      row[c] += unknown;
      value[c] = single[r] ? 0 : weight[c];
    }
    fineid = start + r;
    PetscCall(MatSetValues(P, 1, &fineid, count, row, value, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY));
  PetscCall(LoosenColumns(fine, coarse, coarsened, single, P));
  *P_ = P;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How strongly one row couples its unknown with the same one at points behind and ahead in each direction, whatever
   their place across, relative to the diagonal */
static PetscBool LookAtRow(const KCycleMesh *mesh, PetscInt row, PetscInt ncols, const PetscInt cols[],
                           const PetscScalar values[], PetscReal coupling[])
{
  PetscScalar side[3][2] = {{0, 0}, {0, 0}, {0, 0}}, diagonal = 0;
  PetscInt    at[3], to[3], unknown, other;
  PetscBool   single = PETSC_TRUE;

  RowToPoint(mesh, row, at, &unknown);
  for (PetscInt c = 0; c < ncols; c++) {
    if (cols[c] == row) diagonal = values[c];
    else if (values[c] != (PetscScalar)0) single = PETSC_FALSE;
    if ((cols[c] - row) % mesh->dof) continue;
    RowToPoint(mesh, cols[c], to, &other);
    for (int d = 0; d < 3; d++) {
      PetscInt step = to[d] - at[d];

      if (mesh->period[d] && 2 * PetscAbsInt(step) > mesh->size[d]) step = -step;
      if (step) side[d][step > 0] += values[c];
    }
  }
  for (int d = 0; d < 3; d++)
    coupling[d] = diagonal == (PetscScalar)0
                      ? 0
                      : (PetscAbsScalar(side[d][0]) + PetscAbsScalar(side[d][1])) / PetscAbsScalar(diagonal);
  return single;
}

/* The mean of these couplings over all rows, and which unknowns of this process are coupled to nobody. Collective */
PetscErrorCode KCycleMeshLook(const KCycleMesh *mesh, Mat A, PetscReal mean[], PetscBool single[])
{
  const PetscInt start = mesh->rows[mesh->rank], n = KCycleMeshLocalRows(mesh);
  PetscReal      mine[4] = {0, 0, 0, 0}, all[4], coupling[3];

  PetscFunctionBegin;
  for (PetscInt r = 0; r < n; r++) {
    PetscInt           ncols;
    const PetscInt    *cols;
    const PetscScalar *values;

    PetscCall(MatGetRow(A, start + r, &ncols, &cols, &values));
    single[r] = LookAtRow(mesh, start + r, ncols, cols, values, coupling);
    PetscCall(MatRestoreRow(A, start + r, &ncols, &cols, &values));
    if (single[r]) continue;
    for (int d = 0; d < 3; d++) mine[d] += coupling[d];
    mine[3] += 1;
  }
  PetscCallMPI(MPI_Allreduce(mine, all, 4, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)A)));
  for (int d = 0; d < 3; d++) mean[d] = all[3] > 0 ? all[d] / all[3] : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
