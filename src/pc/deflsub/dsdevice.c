/*
  Z and A Z of PCDEFLSUB on a device: where the operator is AIJ of a device's type, products with Z and A Z are those of
  sparse matrices of that type, so that vectors stay on the device. Each process has matrices for its points and the
  subdomains that they touch:

    Z, Z^T and C = -A Z, -C^H = (A Z)^H   by columns as local numbers are; that of the exterior is empty
*/
#include "deflsubimpl.h"

/* All but Z */
static PetscErrorCode ResetValues(PC_DeflSub *ds)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&ds->C));
  PetscCall(MatDestroy(&ds->AZT));
  PetscCall(VecDestroy(&ds->local));
  PetscCall(VecDestroy(&ds->a));
  PetscCall(VecDestroy(&ds->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDeflSubDeviceReset(PC_DeflSub *ds)
{
  PetscFunctionBegin;
  PetscCall(ResetValues(ds));
  PetscCall(MatDestroy(&ds->Z));
  PetscCall(MatDestroy(&ds->ZT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateMatrix(const PC_DeflSub *ds, MatType type, const PetscInt first[], const PetscInt cols[],
                                   const PetscScalar values[], Mat *M)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, M));
  PetscCall(MatSetSizes(*M, ds->n, ds->nlocal + 1, ds->n, ds->nlocal + 1));
  PetscCall(MatSetType(*M, type));
  PetscCall(MatSeqAIJSetPreallocationCSR(*M, first, cols, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Kept if subdomains stay. same: so do the runs */
static PetscErrorCode CreateZ(PC pc, MatType type, PetscBool same)
{
  PC_DeflSub  *ds = (PC_DeflSub *)pc->data;
  PetscInt    *first, *cols, m = 0, columns = 0;
  PetscScalar *values;

  PetscFunctionBegin;
  if (ds->Z) PetscCall(MatGetSize(ds->Z, NULL, &columns));
  same = (PetscBool)(same && columns == ds->nlocal + 1);
  if (same) PetscCall(PetscObjectTypeCompare((PetscObject)ds->Z, type, &same));
  if (same) {
    PetscCall(PetscInfo(pc, "Z is kept on the device\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc3(ds->n + 1, &first, ds->n, &cols, ds->n, &values));
  first[0] = 0;
  for (PetscInt r = 0; r < ds->nruns; r++) {
    for (PetscInt i = ds->run[r]; i < ds->run[r + 1]; i++) {
      if (ds->runlabel[r] < ds->nlocal) {
        cols[m]     = ds->runlabel[r];
        values[m++] = 1;
      }
      first[i + 1] = m;
    }
  }
  PetscCall(MatDestroy(&ds->Z));
  PetscCall(MatDestroy(&ds->ZT));
  PetscCall(CreateMatrix(ds, type, first, cols, values, &ds->Z));
  PetscCall(MatTranspose(ds->Z, MAT_INITIAL_MATRIX, &ds->ZT));
  PetscCall(PetscFree3(first, cols, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A row has an entry for its own subdomain, its first here, and one for each other that it reaches */
static PetscErrorCode CreateC(PC_DeflSub *ds, MatType type)
{
  PetscInt    *first, *cols, *filled;
  PetscScalar *values;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(ds->n + 1, &first));
  for (PetscInt p = 0; p < ds->npairs; p++) {
    for (PetscInt k = ds->start[p]; k < ds->start[p + 1]; k++) {
      PetscInt *length = &first[ds->row[k] + 1];

      *length = PetscMax(*length, 1) + (ds->other[p] < ds->nlocal);
    }
  }
  for (PetscInt i = 0; i < ds->n; i++) first[i + 1] += first[i];
  PetscCall(PetscMalloc1(first[ds->n], &cols));
  PetscCall(PetscCalloc2(ds->n, &filled, first[ds->n], &values));
  for (PetscInt p = 0; p < ds->npairs; p++) {
    for (PetscInt k = ds->start[p]; k < ds->start[p + 1]; k++) {
      const PetscInt i = ds->row[k], begin = first[i];

      filled[i]   = PetscMax(filled[i], 1);
      cols[begin] = ds->own[p];
      values[begin] += ds->value[k];
      if (ds->other[p] == ds->nlocal) continue;
      cols[begin + filled[i]]     = ds->other[p];
      values[begin + filled[i]++] = -ds->value[k];
    }
  }
  for (PetscInt i = 0; i < ds->n; i++)
    PetscCall(PetscSortIntWithScalarArray(first[i + 1] - first[i], cols + first[i], values + first[i]));
  PetscCall(CreateMatrix(ds, type, first, cols, values, &ds->C));
  PetscCall(MatHermitianTranspose(ds->C, MAT_INITIAL_MATRIX, &ds->AZT));
  PetscCall(MatScale(ds->AZT, -1));
  PetscCall(PetscFree2(filled, values));
  PetscCall(PetscFree(cols));
  PetscCall(PetscFree(first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors for the subdomains that this process touches, and for a device its matrices, from Z and A Z as they are on
   the host. same: runs are those of the last set-up */
PetscErrorCode PCDeflSubDeviceSetUp(PC pc, PetscBool same)
{
  PC_DeflSub *ds = (PC_DeflSub *)pc->data;
  PetscMPIInt size;
  MatType     type;

  PetscFunctionBegin;
  PetscCall(ResetValues(ds));
  PetscCall(KCycleRowsDeviceType(PCDeflSubOperator(pc), &type));
  if (type) {
    PetscCall(CreateZ(pc, type, same));
    PetscCall(CreateC(ds, type));
    PetscCall(MatCreateVecs(ds->Z, &ds->a, NULL));
    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
    if (size > 1) PetscCall(MatCreateVecs(ds->Z, NULL, &ds->local));
  } else {
    PetscCall(PCDeflSubDeviceReset(ds));
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, ds->nlocal + 1, &ds->a));
  }
  PetscCall(VecDuplicate(ds->a, &ds->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is it a device that PETSc has dense matrices for? */
PetscErrorCode PCDeflSubDeviceHasDense(const PC_DeflSub *ds, PetscBool *dense)
{
  PetscFunctionBegin;
  *dense = PETSC_FALSE;
  if (PetscDefined(HAVE_CUDA) && ds->Z) PetscCall(PetscObjectTypeCompare((PetscObject)ds->Z, MATSEQAIJCUSPARSE, dense));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a = M x, of the part of x that this process has */
PetscErrorCode PCDeflSubDeviceFrom(const PC_DeflSub *ds, Mat M, Vec x, Vec a)
{
  PetscFunctionBegin;
  if (ds->local) PetscCall(VecGetLocalVectorRead(x, ds->local));
  PetscCall(MatMult(M, ds->local ? ds->local : x, a));
  if (ds->local) PetscCall(VecRestoreLocalVectorRead(x, ds->local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x += M a */
PetscErrorCode PCDeflSubDeviceTo(const PC_DeflSub *ds, Mat M, Vec a, Vec x)
{
  const Vec to = ds->local ? ds->local : x;

  PetscFunctionBegin;
  if (ds->local) PetscCall(VecGetLocalVector(x, ds->local));
  PetscCall(MatMultAdd(M, a, to, to));
  if (ds->local) PetscCall(VecRestoreLocalVector(x, ds->local));
  PetscFunctionReturn(PETSC_SUCCESS);
}
