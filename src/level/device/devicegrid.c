/*
  Grids on a device: their memory, and the exchange of halos.
*/
#include <petsckcycle/private/devicelevelimpl.h>

/* PetscSF adds up only PETSc's numbers there */
#define SUMS_ON_DEVICE (KC_PRECISION == KCYCLE_PRECISION_PETSC)

/* pointer: to a pointer */
PetscErrorCode KCycleDeviceMalloc(size_t bytes, void *pointer)
{
  size_t      available = 0, all = 0;
  cudaError_t status;

  PetscFunctionBegin;
  *(void **)pointer = NULL;
  if (!bytes) PetscFunctionReturn(PETSC_SUCCESS);
  status = cudaMalloc((void **)pointer, bytes);
  if (status == cudaErrorMemoryAllocation) {
    status = cudaGetLastError(); /* which is this one, and forgotten then */
    PetscCallCUDA(cudaMemGetInfo(&available, &all));
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM,
            "Levels on the device need %zu bytes more there, and %zu of its %zu are free: use more processes with a "
            "device each, -pc_kcycle_precision single or -pc_kcycle_place host",
            bytes, available, all);
  }
  PetscCallCUDA(status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Until all is done that was begun */
PetscErrorCode KCycleDeviceWait(void)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Then MPI may read and write what is on the host */
PetscErrorCode KCycleDeviceToHost(size_t bytes, const void *from, void *to)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (bytes) PetscCallCUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleDeviceToDevice(size_t bytes, const void *from, void *to)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  if (!bytes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* To new memory. Streams of PETSc need not wait for CUDA's own one, so that this goes through theirs */
PetscErrorCode KCycleDeviceCopy(const void *from, size_t bytes, void *pointer)
{
  PetscFunctionBegin;
  PetscCall(KCycleDeviceMalloc(bytes, pointer));
  if (!bytes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleDeviceToDevice(bytes, from, *(void **)pointer));
  PetscCall(KCycleDeviceWait());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleDeviceFree(const void *pointer)
{
  PetscFunctionBegin;
  if (pointer) PetscCallCUDA(cudaFree((void *)pointer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyIndices(PetscInt n, const PetscInt from[], PetscInt **to)
{
  return KCycleDeviceCopy(from, (size_t)n * sizeof(*from), to);
}

/* Leaves of this process by their roots, for sums: those of root r are add[start[s]] to add[start[s + 1] - 1], where r
   is sum[s] */
static PetscErrorCode CopySums(PetscInt nroots, PetscInt n, const PetscInt leaf[], const PetscInt root[],
                               KCycleDeviceExchange *ex)
{
  PetscInt *count, *sum, *start, *add;

  PetscFunctionBegin;
  PetscCall(PetscCalloc4(nroots + 1, &count, n, &sum, n + 1, &start, n, &add));
  for (PetscInt i = 0; i < n; i++) count[root[i] + 1]++;
  for (PetscInt r = 0; r < nroots; r++) {
    if (count[r + 1]) {
      sum[ex->nsums]     = r;
      start[ex->nsums++] = count[r];
    }
    count[r + 1] += count[r];
  }
  start[ex->nsums] = n;
  for (PetscInt i = 0; i < n; i++) add[count[root[i]]++] = leaf[i];
  PetscCall(CopyIndices(ex->nsums, sum, &ex->sum));
  PetscCall(CopyIndices(ex->nsums + 1, start, &ex->start));
  PetscCall(CopyIndices(n, add, &ex->add));
  PetscCall(PetscFree4(count, sum, start, add));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pairs of leaves and roots that are both on this process */
static PetscErrorCode FindPairs(PetscSF sf, PetscMPIInt rank, KCycleDeviceExchange *ex)
{
  const PetscInt    *ilocal;
  const PetscSFNode *remote;
  PetscInt           nroots, nleaves, *leaf, *root;

  PetscFunctionBegin;
  PetscCall(PetscSFGetGraph(sf, &nroots, &nleaves, &ilocal, &remote));
  PetscCall(PetscMalloc2(nleaves, &leaf, nleaves, &root));
  for (PetscInt i = 0; i < nleaves; i++) {
    if (remote[i].rank != rank) continue;
    leaf[ex->npairs]   = ilocal ? ilocal[i] : i;
    root[ex->npairs++] = remote[i].index;
  }
  PetscCall(CopyIndices(ex->npairs, leaf, &ex->leaf));
  PetscCall(CopyIndices(ex->npairs, root, &ex->root));
  PetscCall(CopySums(nroots, ex->npairs, leaf, root, ex));
  PetscCall(PetscFree2(leaf, root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which owned points other processes read, in number[]: their index in a packed array, or -1; and what a leaf has as
   its root there, in from[] */
static PetscErrorCode NumberSent(PetscSF sf, PetscMPIInt rank, PetscInt nhalo, PetscInt number[], PetscInt from[])
{
  const PetscInt    *ilocal;
  const PetscSFNode *remote;
  PetscInt           nroots, nleaves, n = 0, *read;

  PetscFunctionBegin;
  PetscCall(PetscSFGetGraph(sf, &nroots, &nleaves, &ilocal, &remote));
  PetscCall(PetscCalloc1(nhalo, &read));
  PetscCall(PetscArrayzero(number, nroots));
  for (PetscInt i = 0; i < nleaves; i++) read[ilocal ? ilocal[i] : i] = remote[i].rank != rank;
  PetscCall(PetscSFReduceBegin(sf, MPIU_INT, read, number, MPI_MAX));
  PetscCall(PetscSFReduceEnd(sf, MPIU_INT, read, number, MPI_MAX));
  for (PetscInt r = 0; r < nroots; r++) number[r] = number[r] ? n++ : -1;
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, number, from, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, number, from, MPI_REPLACE));
  PetscCall(PetscFree(read));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is read from other processes, packed */
static PetscErrorCode FindOthers(PetscSF sf, PetscMPIInt rank, PetscInt nhalo, KCycleDeviceExchange *ex)
{
  const PetscInt    *ilocal;
  const PetscSFNode *remote;
  PetscSFNode       *packed;
  PetscInt           nroots, nleaves, *number, *from, *got;

  PetscFunctionBegin;
  PetscCall(PetscSFGetGraph(sf, &nroots, &nleaves, &ilocal, &remote));
  PetscCall(PetscMalloc4(nroots, &number, nhalo, &from, nleaves, &got, nleaves, &packed));
  PetscCall(NumberSent(sf, rank, nhalo, number, from));
  for (PetscInt i = 0; i < nleaves; i++) {
    const PetscInt leaf = ilocal ? ilocal[i] : i;

    if (remote[i].rank == rank) continue;
    packed[ex->ngot].rank  = remote[i].rank;
    packed[ex->ngot].index = from[leaf];
    got[ex->ngot++]        = leaf;
  }
  for (PetscInt r = 0; r < nroots; r++) {
    if (number[r] >= 0) number[ex->nsent++] = r;
  }
  PetscCall(CopyIndices(ex->nsent, number, &ex->sent));
  PetscCall(CopyIndices(ex->ngot, got, &ex->got));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)sf), &ex->sf));
  PetscCall(PetscSFSetGraph(ex->sf, ex->nsent, ex->ngot, NULL, PETSC_COPY_VALUES, packed, PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(ex->sf));
  PetscCall(PetscFree4(number, from, got, packed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ExchangeCreate(PetscSF sf, PetscInt nhalo, KCycleDeviceExchange **exchange)
{
  KCycleDeviceExchange *ex;
  PetscMPIInt           size, rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sf), &size));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)sf), &rank));
  PetscCall(PetscNew(&ex));
  *exchange = ex;
  PetscCall(FindPairs(sf, rank, ex));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FindOthers(sf, rank, nhalo, ex));
  ex->aware = use_gpu_aware_mpi;
  for (int i = 0; i < 2; i++) {
    const size_t bytes = (size_t)(i ? ex->ngot : ex->nsent) * sizeof(KCScalar);

    PetscCall(KCycleDeviceMalloc(bytes, &ex->packed[i]));
    if (bytes && !(ex->aware && SUMS_ON_DEVICE)) PetscCallCUDA(cudaMallocHost((void **)&ex->staged[i], bytes));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ExchangeDestroy(KCycleDeviceExchange **exchange)
{
  KCycleDeviceExchange *ex = *exchange;

  PetscFunctionBegin;
  if (!ex) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleDeviceFree(ex->leaf));
  PetscCall(KCycleDeviceFree(ex->root));
  PetscCall(KCycleDeviceFree(ex->sum));
  PetscCall(KCycleDeviceFree(ex->start));
  PetscCall(KCycleDeviceFree(ex->add));
  PetscCall(KCycleDeviceFree(ex->sent));
  PetscCall(KCycleDeviceFree(ex->got));
  for (int i = 0; i < 2; i++) {
    PetscCall(KCycleDeviceFree(ex->packed[i]));
    if (ex->staged[i]) PetscCallCUDA(cudaFreeHost(ex->staged[i]));
  }
  PetscCall(PetscSFDestroy(&ex->sf));
  PetscCall(PetscFree(*exchange));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n / number is n factor / 2^shift, rounded down, for 0 <= n < 2^31: factor is 2^shift / number, rounded up, and
   2^(shift - 31) at least as large as the number */
KCycleCudaDivisor KCycleDeviceDivisor(PetscInt number)
{
  KCycleCudaDivisor divisor = {number, 0, 31};

  while (((PetscInt64)1 << (divisor.shift - 31)) < number) divisor.shift++;
  divisor.factor = (unsigned)(((PetscInt64)1 << divisor.shift) / number + 1);
  return divisor;
}

static void SetDivisors(KCycleCudaBox *box)
{
  box->line       = KCycleDeviceDivisor(box->n[0]);
  box->plane      = KCycleDeviceDivisor(box->n[1]);
  box->pairs      = KCycleDeviceDivisor((box->n[0] + 1) / 2);
  box->widerline  = KCycleDeviceDivisor(box->n[0] + 2 * box->xhalo);
  box->widerplane = KCycleDeviceDivisor(box->n[1] + 2 * box->reach[1]);
}

/* Points that read no halo of other processes lie between low and high */
static void FindInner(const KCycleBox *box, PetscInt low[3], PetscInt high[3])
{
  for (int d = 0; d < 3; d++) {
    const PetscBool cut = (PetscBool)(d < box->dim && box->nproc[d] > 1);

    low[d]  = cut && (box->periodic[d] || box->start[d] > 0) ? 1 : 0;
    high[d] = box->n[d] - (cut && (box->periodic[d] || box->start[d] + box->n[d] < box->size[d]) ? 1 : 0);
  }
}

/* width: points of a piece, 1 or 2. A piece is inner if all of its points are */
static PetscErrorCode PartsCreate(const KCycleBox *box, PetscInt width, KCycleDeviceParts *parts)
{
  const PetscInt pieces = (box->n[0] + width - 1) / width;
  PetscInt      *low = parts->inner.low, *high = parts->inner.high, *rim;

  PetscFunctionBegin;
  FindInner(box, low, high);
  parts->inner.n = pieces * box->nlines;
  PetscCall(PetscMalloc1(parts->inner.n, &rim));
  for (PetscInt line = 0; line < box->nlines; line++) {
    const PetscInt  j = line % box->n[1], k = line / box->n[1];
    const PetscBool inside = (PetscBool)(j >= low[1] && j < high[1] && k >= low[2] && k < high[2]);

    for (PetscInt piece = 0; piece < pieces; piece++) {
      const PetscInt first = width * piece, last = PetscMin(first + width, box->n[0]) - 1;

      if (!inside || first < low[0] || last >= high[0]) rim[parts->rim.n++] = piece + pieces * line;
    }
  }
  if (parts->rim.n == parts->inner.n) parts->inner.n = 0;
  PetscCall(CopyIndices(parts->rim.n, rim, (PetscInt **)&parts->rim.list));
  PetscCall(PetscFree(rim));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The grid of the host must stay */
PetscErrorCode KCycleDeviceGridCreate(const KCycleBox *box, PetscBool overlaps, KCycleDeviceGrid **grid)
{
  KCycleDeviceGrid *g;
  cudaStream_t      stream;

  PetscFunctionBegin;
  PetscCall(PetscDeviceInitialize(KCYCLE_DEVICE));
  PetscCall(PetscNew(&g));
  *grid    = g;
  g->of    = box;
  g->talks = KCycleBoxTalks(box);
  g->nhalo = box->nhalo;
  for (int d = 0; d < 3; d++) {
    g->box.n[d]     = box->n[d];
    g->box.reach[d] = box->reach[d];
  }
  g->box.npoints = box->npoints;
  g->box.xhalo   = box->xhalo ? 1 : 0;
  g->box.left    = box->left;
  g->box.right   = box->right;
  SetDivisors(&g->box);
  PetscCall(CopyIndices(box->nextended, box->offset, (PetscInt **)&g->box.offset));
  PetscCall(KCycleDeviceMalloc((size_t)box->nhalo * sizeof(KCScalar), &g->halo));
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMemsetAsync(g->halo, 0, (size_t)box->nhalo * sizeof(KCScalar), stream));
  if (!g->talks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ExchangeCreate(KCycleBoxGetSF(box, PETSC_FALSE), box->nhalo, &g->exchange[0]));
  if (KCycleBoxGetSF(box, PETSC_TRUE) == KCycleBoxGetSF(box, PETSC_FALSE)) g->exchange[1] = g->exchange[0];
  else PetscCall(ExchangeCreate(KCycleBoxGetSF(box, PETSC_TRUE), box->nhalo, &g->exchange[1]));
  if (!overlaps || !g->exchange[0]->sf) PetscFunctionReturn(PETSC_SUCCESS);
  g->overlaps = PETSC_TRUE;
  PetscCall(PartsCreate(box, 1, &g->points));
  PetscCall(PartsCreate(box, 2, &g->pairs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleDeviceGridDestroy(KCycleDeviceGrid **grid)
{
  KCycleDeviceGrid *g = *grid;

  PetscFunctionBegin;
  if (!g) PetscFunctionReturn(PETSC_SUCCESS);
  if (g->exchange[1] != g->exchange[0]) PetscCall(ExchangeDestroy(&g->exchange[1]));
  PetscCall(ExchangeDestroy(&g->exchange[0]));
  PetscCall(KCycleDeviceFree(g->points.rim.list));
  PetscCall(KCycleDeviceFree(g->pairs.rim.list));
  PetscCall(KCycleDeviceFree(g->box.offset));
  PetscCall(KCycleDeviceFree(g->halo));
  PetscCall(PetscFree(*grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes of n numbers */
static size_t Bytes(PetscInt n)
{
  return (size_t)n * sizeof(KCScalar);
}

/* Packed roots to packed leaves. If MPI reads from devices, what was packed has to be complete */
static PetscErrorCode SendBegin(const KCycleDeviceExchange *ex)
{
  PetscFunctionBegin;
  if (ex->aware) {
    PetscCall(KCycleDeviceWait());
    PetscCall(PetscSFBcastWithMemTypeBegin(ex->sf, KC_MPI_NUMBER, KCYCLE_DEVICE_MEMORY, ex->packed[0],
                                           KCYCLE_DEVICE_MEMORY, ex->packed[1], MPI_REPLACE));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KCycleDeviceToHost(Bytes(ex->nsent), ex->packed[0], ex->staged[0]));
  PetscCall(PetscSFBcastWithMemTypeBegin(ex->sf, KC_MPI_NUMBER, PETSC_MEMTYPE_HOST, ex->staged[0], PETSC_MEMTYPE_HOST,
                                         ex->staged[1], MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SendEnd(const KCycleDeviceExchange *ex)
{
  PetscFunctionBegin;
  if (ex->aware) {
    PetscCall(PetscSFBcastEnd(ex->sf, KC_MPI_NUMBER, ex->packed[0], ex->packed[1], MPI_REPLACE));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscSFBcastEnd(ex->sf, KC_MPI_NUMBER, ex->staged[0], ex->staged[1], MPI_REPLACE));
  PetscCall(KCycleDeviceToDevice(Bytes(ex->ngot), ex->staged[1], ex->packed[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Packed roots become the sums of their packed leaves */
static PetscErrorCode SendBack(const KCycleDeviceExchange *ex)
{
  PetscFunctionBegin;
  if (ex->aware && SUMS_ON_DEVICE) {
    KCycleCallKernel(KCycleCudaZero, ex->nsent, ex->packed[0]);
    PetscCall(KCycleDeviceWait());
    PetscCall(PetscSFReduceWithMemTypeBegin(ex->sf, KC_MPI_NUMBER, KCYCLE_DEVICE_MEMORY, ex->packed[1],
                                            KCYCLE_DEVICE_MEMORY, ex->packed[0], KC_MPI_SUM));
    PetscCall(PetscSFReduceEnd(ex->sf, KC_MPI_NUMBER, ex->packed[1], ex->packed[0], KC_MPI_SUM));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KCycleDeviceToHost(Bytes(ex->ngot), ex->packed[1], ex->staged[1]));
  PetscCall(PetscArrayzero(ex->staged[0], ex->nsent));
  PetscCall(PetscSFReduceWithMemTypeBegin(ex->sf, KC_MPI_NUMBER, PETSC_MEMTYPE_HOST, ex->staged[1], PETSC_MEMTYPE_HOST,
                                          ex->staged[0], KC_MPI_SUM));
  PetscCall(PetscSFReduceEnd(ex->sf, KC_MPI_NUMBER, ex->staged[1], ex->staged[0], KC_MPI_SUM));
  PetscCall(KCycleDeviceToDevice(Bytes(ex->nsent), ex->staged[0], ex->packed[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills the halo of the grid from x. What is begun waits for what was packed alone: kernels that read no halo of other
   processes may be launched before it is ended, and change x */
PetscErrorCode KCycleDeviceGridExchangeBegin(const KCycleDeviceGrid *grid, PetscBool corners, const KCScalar *x)
{
  const KCycleDeviceExchange *ex = grid->exchange[corners ? 1 : 0];

  PetscFunctionBegin;
  if (!grid->talks) PetscFunctionReturn(PETSC_SUCCESS);
  KCycleCallKernel(KCycleCudaMove, ex->npairs, ex->root, x, ex->leaf, grid->halo);
  if (!ex->sf) PetscFunctionReturn(PETSC_SUCCESS);
  KCycleCallKernel(KCycleCudaMove, ex->nsent, ex->sent, x, NULL, ex->packed[0]);
  PetscCall(SendBegin(ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleDeviceGridExchangeEnd(const KCycleDeviceGrid *grid, PetscBool corners)
{
  const KCycleDeviceExchange *ex = grid->exchange[corners ? 1 : 0];

  PetscFunctionBegin;
  if (!grid->talks || !ex->sf) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SendEnd(ex));
  KCycleCallKernel(KCycleCudaMove, ex->ngot, NULL, ex->packed[1], ex->got, grid->halo);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where there is nothing to do meanwhile */
PetscErrorCode KCycleDeviceGridExchange(const KCycleDeviceGrid *grid, PetscBool corners, const KCScalar *x)
{
  PetscFunctionBegin;
  PetscCall(KCycleDeviceGridExchangeBegin(grid, corners, x));
  PetscCall(KCycleDeviceGridExchangeEnd(grid, corners));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the halo of the grid to the points of x that it copies; then it is zero */
PetscErrorCode KCycleDeviceGridReduce(const KCycleDeviceGrid *grid, KCScalar *x)
{
  const KCycleDeviceExchange *ex = grid->exchange[1];

  PetscFunctionBegin;
  if (!grid->talks) PetscFunctionReturn(PETSC_SUCCESS);
  KCycleCallKernel(KCycleCudaGather, ex->nsums, ex->start, ex->add, grid->halo, ex->sum, x);
  if (ex->sf) {
    KCycleCallKernel(KCycleCudaMove, ex->ngot, ex->got, grid->halo, NULL, ex->packed[1]);
    PetscCall(SendBack(ex));
    KCycleCallKernel(KCycleCudaGather, ex->nsent, NULL, NULL, ex->packed[0], ex->sent, x);
  }
  KCycleCallKernel(KCycleCudaZero, grid->nhalo, grid->halo);
  PetscFunctionReturn(PETSC_SUCCESS);
}
