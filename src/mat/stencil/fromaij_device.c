/*
  From AIJ whose values are on a device, without a trip of these to the host: a map, which is made of rows and columns
  on the host, once for each pattern, says which entry each coefficient is, and a kernel takes the values. They stay on
  the device alone until they are needed on the host.
*/
#include "matstencil.h"
#include <petsckcycle/private/deviceimpl.h>
#include <petsckcycle/private/devicelevelimpl.h>

/* For all that reads coefficients on the host */
PetscErrorCode MatStencilNeedValues(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatStencilCopyToHost(A));
  PetscCheck(((Mat_Stencil *)A->data)->s.set, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The matrix is not assembled: call MatAssemblyBegin() and MatAssemblyEnd()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(KCYCLE_HAVE_CUDA)

/* Rows of this process, and what tells their pattern from another one */
typedef struct {
  KCycleAIJ        aij;
  PetscObjectId    id;
  PetscObjectState pattern[3];
} Rows;

/* Of which rows the map is, and of which shape; usable: no coefficient is two entries */
typedef struct {
  Rows           of;
  int            kind;
  PetscBool      usable;
  KCycleCudaRows rows; /* on the device, but for values */
  PetscReal     *scratch;
} Map;

/* While a map is made */
typedef struct {
  const KCycleStencil *st;
  PetscInt            *entry;
  PetscSegBuffer       strays;
  PetscInt             nstrays;
  PetscBool            usable;
} Making;

static PetscErrorCode MapDestroy(Map **map)
{
  PetscFunctionBegin;
  if (!*map) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleDeviceFree((*map)->rows.entry));
  PetscCall(KCycleDeviceFree((*map)->rows.stray));
  PetscCall(KCycleDeviceFree((*map)->scratch));
  PetscCall(PetscFree(*map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsGet(Mat A, Rows *rows)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(rows, sizeof(*rows)));
  PetscCall(KCycleAIJGet(A, PETSC_FALSE, &rows->aij));
  PetscCall(PetscObjectGetId((PetscObject)A, &rows->id));
  PetscCall(MatGetNonzeroState(A, &rows->pattern[2]));
  for (int b = 0; b < 2 && rows->aij.mat[b]; b++) PetscCall(MatGetNonzeroState(rows->aij.mat[b], &rows->pattern[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt EntriesOf(const Rows *rows, int b)
{
  return rows->aij.mat[b] ? rows->aij.i[b][rows->aij.mat[b]->rmap->n] : 0;
}

/* Does the device have the newest values? */
static PetscErrorCode AreOnDevice(const Rows *rows, PetscBool *ondevice)
{
  PetscFunctionBegin;
  *ondevice = PETSC_TRUE;
  for (int b = 0; b < 2 && rows->aij.mat[b] && *ondevice; b++) {
    const PetscOffloadMask mask = rows->aij.mat[b]->offloadmask;

    PetscCall(PetscObjectTypeCompare((PetscObject)rows->aij.mat[b], KCYCLE_DEVICE_SEQAIJ, ondevice));
    if (rows->aij.mat[b]->boundtocpu || (EntriesOf(rows, b) && mask != PETSC_OFFLOAD_GPU && mask != PETSC_OFFLOAD_BOTH))
      *ondevice = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An entry by its number, see KCycleCudaRows */
static PetscErrorCode SetEntry(Making *m, const PetscInt row[], const PetscInt col[], PetscInt number)
{
  const KCycleBox *box = m->st->box;
  const int        o   = KCycleFindOffset(box, &m->st->shape, row, col);
  PetscInt        *to;

  PetscFunctionBegin;
  if (o < 0) {
    PetscCall(PetscSegBufferGetInts(m->strays, 1, &to));
    m->nstrays++;
  } else {
    to = m->entry + ((size_t)(row[1] + box->n[1] * row[2]) * m->st->shape.ncoeffs + o) * box->n[0] + row[0];
    if (*to != KC_NO_ENTRY) m->usable = PETSC_FALSE;
  }
  *to = number;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetEntries(Making *m, const Rows *rows)
{
  const KCycleBox *box = m->st->box;
  const PetscInt  *n   = box->n;
  PetscInt        *point;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(3 * rows->aij.ncolumns, &point));
  for (PetscInt c = 0; c < rows->aij.ncolumns; c++) MatStencilPointOf(box, rows->aij.columns[c], point + 3 * c);
  for (PetscInt r = 0; r < box->npoints; r++) {
    const PetscInt row[3] = {r % n[0], r / n[0] % n[1], r / n[0] / n[1]};

    for (PetscInt e = rows->aij.i[0][r]; e < rows->aij.i[0][r + 1]; e++) {
      const PetscInt c = rows->aij.j[0][e], col[3] = {c % n[0], c / n[0] % n[1], c / n[0] / n[1]};

      PetscCall(SetEntry(m, row, col, e));
    }
    if (!rows->aij.mat[1]) continue;
    for (PetscInt e = rows->aij.i[1][r]; e < rows->aij.i[1][r + 1]; e++)
      PetscCall(SetEntry(m, row, point + 3 * rows->aij.j[1][e], KC_OFF_ENTRY - e));
  }
  PetscCall(PetscFree(point));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MapCreate(const KCycleStencil *st, const Rows *rows, Map **map)
{
  const size_t count = (size_t)st->box->npoints * st->shape.ncoeffs;
  Making       m     = {st, NULL, NULL, 0, PETSC_TRUE};
  PetscInt    *strays;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count, &m.entry));
  for (size_t e = 0; e < count; e++) m.entry[e] = KC_NO_ENTRY;
  PetscCall(PetscSegBufferCreate(sizeof(PetscInt), 64, &m.strays));
  PetscCall(SetEntries(&m, rows));
  PetscCall(PetscSegBufferExtractInPlace(m.strays, &strays));
  PetscCall(PetscNew(map));
  (*map)->of           = *rows;
  (*map)->kind         = KCycleShapeKind(&st->shape);
  (*map)->usable       = m.usable;
  (*map)->rows.ncoeffs = st->shape.ncoeffs;
  (*map)->rows.nstrays = m.nstrays;
  if (m.usable) {
    PetscCall(KCycleDeviceCopy(m.entry, count * sizeof(*m.entry), &(*map)->rows.entry));
    PetscCall(KCycleDeviceCopy(strays, (size_t)m.nstrays * sizeof(*strays), &(*map)->rows.stray));
    PetscCall(KCycleDeviceMalloc((KC_CUDA_PARTS + 1) * sizeof(PetscReal), &(*map)->scratch));
  }
  PetscCall(PetscSegBufferDestroy(&m.strays));
  PetscCall(PetscFree(m.entry));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* That of these rows, which is kept: PETSc changes nonzero states with patterns */
static PetscErrorCode MapGet(Mat_Stencil *st, const Rows *rows, Map **map)
{
  Map      *m    = (Map *)st->map_device;
  PetscBool same = (PetscBool)(m && m->of.id == rows->id && m->kind == KCycleShapeKind(&st->s.shape));

  PetscFunctionBegin;
  for (int p = 0; p < 3; p++) same = (PetscBool)(same && m->of.pattern[p] == rows->pattern[p]);
  for (int b = 0; b < 2; b++)
    same = (PetscBool)(same && m->of.aij.i[b] == rows->aij.i[b] && m->of.aij.j[b] == rows->aij.j[b]);
  if (!same) {
    PetscCall(MapDestroy(&m));
    st->map_device = NULL;
    PetscCall(MapCreate(&st->s, rows, &m));
    st->map_device = (void *)m;
  }
  *map = m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How many strays are not zero: a number comes to the host if there are strays */
static PetscErrorCode CopyValues(Mat_Stencil *st, const Rows *rows, Map *map, PetscReal *strays)
{
  KCycleDeviceStencil *device;
  const PetscScalar  **a[2] = {&map->rows.a, &map->rows.oa};
  KCScalar            *own;
  cudaStream_t         stream;

  PetscFunctionBegin;
  *strays = 0;
  if (!st->device)
    PetscCall(KCycleDeviceStencilCreateEmpty(&st->s, KCycleBoxOverlaps(st->s.box, KCYCLE_OVERLAP),
                                             (KCycleDeviceStencil **)&st->device));
  device           = (KCycleDeviceStencil *)st->device;
  st->device_state = -1;
  PetscCall(KCycleDeviceStencilMakeBlocks(&st->s, device, &own));
  for (int b = 0; b < 2; b++) {
    if (EntriesOf(rows, b)) PetscCall(KCycleDeviceAIJGetArrayRead(rows->aij.mat[b], a[b]));
  }
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCallCUDA(KCycleCudaTakeRows(stream, &map->rows, &device->st.box, own));
  if (map->rows.nstrays) {
    PetscCallCUDA(KCycleCudaCountStrays(stream, &map->rows, map->scratch));
    PetscCall(KCycleDeviceToHost(sizeof(*strays), map->scratch, strays));
  }
  PetscCall(PetscLogGpuTimeEnd());
  for (int b = 0; b < 2; b++) {
    if (EntriesOf(rows, b)) PetscCall(KCycleDeviceAIJRestoreArrayRead(rows->aij.mat[b], a[b]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. Not taken: values are on the host, or entries that are not zero have no place in the stencil; who calls
   this then reads the rows there, which finds a larger stencil or says which entry fits none */
PetscErrorCode MatStencilFromAIJOnDevice(Mat A, Mat aij, PetscBool *taken)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;
  PetscReal    strays;
  PetscBool    ondevice;
  int          mine, all;
  Rows         rows;
  Map         *map = NULL;

  PetscFunctionBegin;
  PetscCall(RowsGet(aij, &rows));
  PetscCall(AreOnDevice(&rows, &ondevice));
  if (ondevice) {
    PetscCall(MapGet(st, &rows, &map));
    ondevice = map->usable;
  }
  if (ondevice) {
    PetscCall(CopyValues(st, &rows, map, &strays));
    if (strays > 0) PetscCall(PetscInfo(A, "%g entries have no place in the stencil\n", (double)strays));
    ondevice = (PetscBool)(strays == 0);
  }
  PetscCall(KCycleAIJRestore(&rows.aij));
  mine = ondevice;
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)A)));
  *taken = (PetscBool)all;
  if (!all) PetscCall(PetscInfo(A, "The values of the rows are read on the host\n"));
  if (!all) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree(st->dense));
  PetscCall(MatStencilStoreReset(A));
  st->ondevice = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* To the host: values that a kernel took. There they take less room where lines share them, or half of them suffices;
   the device gets that form when it is asked again */
PetscErrorCode MatStencilCopyToHost(Mat A)
{
  Mat_Stencil   *st     = (Mat_Stencil *)A->data;
  const PetscInt length = st->s.shape.ncoeffs * (st->s.box ? st->s.box->n[0] : 0),
                 nlines = st->s.box ? st->s.box->nlines : 0;
  const size_t stride   = (size_t)length + 2 * (size_t)st->s.shape.ncoeffs;
  PetscScalar *values;

  PetscFunctionBegin;
  if (!st->ondevice) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(nlines * stride, &values));
  PetscCall(KCycleDeviceToHost(nlines * stride * sizeof(*values), ((KCycleDeviceStencil *)st->device)->st.own, values));
  for (PetscInt l = 1; l < nlines; l++)
    PetscCall(PetscArraymove(values + (size_t)l * length, values + l * stride, length));
  st->dense    = values;
  st->ondevice = PETSC_FALSE;
  PetscCall(MatStencilStoreDense(A));
  st->device_state = -1;
  if (!st->s.half && !st->s.nclasses) PetscCall(PetscObjectStateGet((PetscObject)A, &st->device_state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilMapReset(Mat A)
{
  return MapDestroy((Map **)&((Mat_Stencil *)A->data)->map_device);
}
#endif
