/*
  Grids coarsened by leaving out every second point: linear interpolation between them, and what an operator couples on
  them.
*/
#include <petsckcycle/private/gridimpl.h>

/* Positions of points of a grid that are kept of a finer one, or of the finest one */
static PetscErrorCode SetPositions(const KCycleMesh *fine, const PetscBool coarsened[], KCycleMesh *mesh)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < 3; d++) {
    PetscInt kept = 0;

    mesh->period[d] = fine ? fine->period[d] : mesh->box.periodic[d] ? mesh->box.size[d] : 0;
    PetscCall(PetscMalloc1(mesh->box.size[d], &mesh->position[d]));
    for (PetscInt i = 0; i < (fine ? fine->box.size[d] : mesh->box.size[d]); i++) {
      if (!fine) mesh->position[d][i] = i;
      else if (!coarsened[d] || KCycleMeshKept(fine, d, i) >= 0) mesh->position[d][kept++] = fine->position[d][i];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleMeshCreate(DM da, KCycleMesh *mesh)
{
  const PetscInt factor[3] = {1, 1, 1}, origin[3] = {0, 0, 0};
  KCycleBox     *box;

  PetscFunctionBegin;
  PetscCall(KCycleBoxGet(da, KCYCLE_BOX_MATRICES, &box));
  PetscCall(KCycleBoxCoarsen(box, factor, origin, PETSC_TRUE, &mesh->box));
  PetscCall(SetPositions(NULL, NULL, mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every second point of the directions that are coarsened; each process keeps its own */
PetscErrorCode KCycleMeshCoarsen(const KCycleMesh *fine, const PetscBool coarsened[], KCycleMesh *coarse)
{
  const PetscInt factor[3] = {1 + coarsened[0], 1 + coarsened[1], 1 + coarsened[2]}, origin[3] = {0, 0, 0};

  PetscFunctionBegin;
  PetscCall(KCycleBoxCoarsen(&fine->box, factor, origin, PETSC_TRUE, &coarse->box));
  PetscCall(SetPositions(fine, coarsened, coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleMeshDestroy(KCycleMesh *mesh)
{
  PetscFunctionBegin;
  PetscCall(KCycleBoxDestroy(&mesh->box));
  for (int d = 0; d < 3; d++) PetscCall(PetscFree(mesh->position[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coarse points that a fine one is interpolated from in one direction, by its distance from them */
static int Between(const KCycleMesh *fine, const KCycleMesh *coarse, PetscInt d, PetscBool coarsened, PetscInt i,
                   PetscInt to[], PetscReal weight[])
{
  const PetscInt *x    = fine->position[d];
  const PetscInt  kept = coarsened ? KCycleMeshKept(fine, d, i) : i,
                 next  = i + 1 == fine->box.size[d] ? x[0] + fine->period[d] : 0;

  to[0]     = coarsened && kept < 0 ? (i - 1) / 2 : kept;
  weight[0] = 1;
  if (kept >= 0 || fine->box.size[d] == 2) return 1;
  to[1]     = (i + 1) / 2 % coarse->box.size[d];
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

        row[count]      = KCycleBoxPointToRow(&coarse->box, from);
        weight[count++] = w[0][i] * w[1][j] * w[2][k];
      }
    }
  }
  return count;
}

/* An entry of this process's rows in its own columns, or in those of others? */
static PetscErrorCode Preallocate(const KCycleMesh *fine, const KCycleMesh *coarse, const PetscBool coarsened[], Mat P)
{
  const PetscInt n = KCycleBoxLocalRows(&fine->box), low = coarse->box.rows[coarse->box.rank],
                 high = coarse->box.rows[coarse->box.rank + 1];
  PetscInt *own, *others, row[8], at[3];
  PetscReal weight[8];

  PetscFunctionBegin;
  PetscCall(PetscCalloc2(n, &own, n, &others));
  for (PetscInt r = 0; r < n; r++) {
    int count;

    (void)KCycleBoxRowToPoint(&fine->box, fine->box.rows[fine->box.rank] + r, at);
    count = Parents(fine, coarse, coarsened, at, row, weight);
    for (int c = 0; c < count; c++) (row[c] >= low && row[c] < high ? own : others)[r]++;
  }
  PetscCall(MatSeqAIJSetPreallocation(P, 0, own));
  PetscCall(MatMPIAIJSetPreallocation(P, 0, own, 0, others));
  PetscCall(PetscFree2(own, others));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coarse unknowns that are isolated, as the fine ones in the same place are: nothing else is interpolated from them */
static PetscErrorCode LoosenColumns(const KCycleMesh *fine, const KCycleMesh *coarse, const PetscBool coarsened[],
                                    const PetscBool single[], Mat P)
{
  const PetscInt n = KCycleBoxLocalRows(&fine->box);
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

      unknown = KCycleBoxRowToPoint(&fine->box, fine->box.rows[fine->box.rank] + r, at);
      for (PetscInt d = 0; d < 3 && is; d++) {
        at[d] = coarsened[d] ? KCycleMeshKept(fine, d, at[d]) : at[d];
        is    = (PetscBool)(at[d] >= 0);
      }
      if (!is) continue;
      column = KCycleBoxPointToRow(&coarse->box, at) + unknown;
      if (pass == 0) PetscCall(VecSetValue(kept, column, 0, INSERT_VALUES));
      else PetscCall(MatSetValue(P, fine->box.rows[fine->box.rank] + r, column, 1, INSERT_VALUES));
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
  Linear interpolation of each unknown. single: isolated unknowns of this process, which smoothers
  solve for, so that they get nothing but from the coarse unknown in the same place, and give nothing to others.
*/
PetscErrorCode KCycleMeshInterpolation(const KCycleMesh *fine, const KCycleMesh *coarse, const PetscBool coarsened[],
                                       const PetscBool single[], MatType type, MPI_Comm comm, Mat *P_)
{
  const PetscInt start = fine->box.rows[fine->box.rank], n = KCycleBoxLocalRows(&fine->box),
                 m = KCycleBoxLocalRows(&coarse->box);
  PetscInt    row[8], at[3], unknown, fineid;
  PetscReal   weight[8];
  PetscScalar value[8];
  Mat         P;

  PetscFunctionBegin;
  PetscCall(MatCreate(comm, &P));
  PetscCall(MatSetSizes(P, n, m, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(P, type));
  PetscCall(MatSetBlockSizes(P, fine->box.dof, fine->box.dof));
  PetscCall(Preallocate(fine, coarse, coarsened, P));
  for (PetscInt r = 0; r < n; r++) {
    int count;

    unknown = KCycleBoxRowToPoint(&fine->box, start + r, at);
    count   = Parents(fine, coarse, coarsened, at, row, weight);
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
  PetscInt    at[3], to[3];
  PetscBool   single = PETSC_TRUE;

  (void)KCycleBoxRowToPoint(&mesh->box, row, at);
  for (PetscInt c = 0; c < ncols; c++) {
    if (cols[c] == row) diagonal = values[c];
    else if (values[c] != (PetscScalar)0) single = PETSC_FALSE;
    if ((cols[c] - row) % mesh->box.dof) continue;
    (void)KCycleBoxRowToPoint(&mesh->box, cols[c], to);
    for (int d = 0; d < 3; d++) {
      PetscInt step = to[d] - at[d];

      if (mesh->period[d] && 2 * PetscAbsInt(step) > mesh->box.size[d]) step = -step;
      if (step) side[d][step > 0] += values[c];
    }
  }
  for (int d = 0; d < 3; d++)
    coupling[d] = diagonal == (PetscScalar)0
                      ? 0
                      : (PetscAbsScalar(side[d][0]) + PetscAbsScalar(side[d][1])) / PetscAbsScalar(diagonal);
  return single;
}

/* The mean of these couplings over all rows, and which unknowns of this process are isolated. Collective */
PetscErrorCode KCycleMeshLook(const KCycleMesh *mesh, Mat A, PetscReal mean[], PetscBool single[])
{
  const PetscInt start = mesh->box.rows[mesh->box.rank], n = KCycleBoxLocalRows(&mesh->box);
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
