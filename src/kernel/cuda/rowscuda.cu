/*
  Coefficients of a stencil from compressed rows that are on the device: each line has a block with all of them.
*/
#include "launchcuda.h"

/* The value of an entry, see KCycleCudaRows */
static __device__ __forceinline__ PetscScalar EntryOf(const KCycleCudaRows &rows, PetscInt entry)
{
  return entry >= 0 ? rows.a[entry] : entry == KC_NO_ENTRY ? (PetscScalar)0 : rows.oa[KC_OFF_ENTRY - entry];
}

/* The coefficients of a point; those of the first and the last point of a line are after the arrays, too */
static __global__ void CopyRows(const KCycleCudaRows rows, const KCycleCudaBox box, KCScalar *own)
{
  const PetscInt index = KCycleCudaThread(), line = KCycleCudaQuotient(index, box.line), n = box.n[0],
                 i = index - line * n, nc = rows.ncoeffs;
  const PetscInt *entry = rows.entry + (size_t)line * nc * n + i;
  KCScalar       *to    = own + (size_t)line * (nc * n + 2 * nc);

  if (index >= box.npoints) return;
  for (PetscInt o = 0; o < nc; o++) {
    const KCScalar value = (KCScalar)EntryOf(rows, entry[o * n]);

    to[o * n + i] = value;
    if (i == 0) to[nc * n + o] = value;
    if (i == n - 1) to[nc * n + nc + o] = value;
  }
}

/* A thread has every parts-th entry. Something that is no number counts as well */
static __global__ void CountStrays(const KCycleCudaRows rows, PetscInt parts, PetscReal *count)
{
  const PetscInt thread = KCycleCudaThread();
  PetscReal      c      = 0;

  if (thread >= parts) return;
  for (PetscInt64 s = thread; s < rows.nstrays; s += parts) c += EntryOf(rows, rows.stray[s]) == (PetscScalar)0 ? 0 : 1;
  count[thread] = c;
}

static __global__ void AddCounts(PetscInt parts, const PetscReal *count, PetscReal *all)
{
  if (KCycleCudaThread()) return;
  *all = 0;
  for (PetscInt p = 0; p < parts; p++) *all += count[p];
}

cudaError_t KCycleCudaTakeRows(cudaStream_t stream, const KCycleCudaRows *rows, const KCycleCudaBox *box, KCScalar *own)
{
  return KCycleCudaLaunch(stream, box->npoints, CopyRows, *rows, *box, own);
}

cudaError_t KCycleCudaCountStrays(cudaStream_t stream, const KCycleCudaRows *rows, PetscReal *scratch)
{
  const cudaError_t status = KCycleCudaLaunch(stream, KC_CUDA_PARTS, CountStrays, *rows, KC_CUDA_PARTS, scratch + 1);

  return status == cudaSuccess ? KCycleCudaLaunch(stream, 1, AddCounts, KC_CUDA_PARTS, scratch + 1, scratch) : status;
}
