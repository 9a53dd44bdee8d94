/*
  Many kernels in one, of one block: on small grids a launch takes longer than the work, and a barrier between the
  threads of a block less. What the kernels would be asked for is written down once, as a program; each of its
  instructions is done by all threads, and has the arithmetic of the kernel that it replaces.

  Vectors and coefficients are where they always are, in the device's memory; the block works in the caches of its
  multiprocessor. The instruction that is being done is in shared memory, and the next one is on its way there.

  What a program makes of a right side, from a solution of zero, is linear. Its columns are what it makes of unit
  vectors: many blocks make one each at a time, with their own vectors.
*/
#include "densecuda.h"
#include "stencilcuda.h"
#include "transfercuda.h"
#include "vectorcuda.h"
#include <string.h>

KCycleCudaProgram *KCycleCudaWriting = NULL;

#define THREADS 512

/* Words of an instruction, and where they are in shared memory */
#define WORDS ((int)(sizeof(KCycleCudaInstruction) / sizeof(PetscInt64)))
#define PLACE (KC_BLOCK_WORDS + 2)

/* All threads share n pieces of work */
template <typename Work, void (*Piece)(const Work &, PetscInt)>
static __device__ __forceinline__ void Share(const KCycleCudaInstruction &now)
{
  const Work &work = *(const Work *)now.work;

#pragma unroll 1
  for (PetscInt i = (PetscInt)threadIdx.x; i < now.n; i += THREADS) Piece(work, i);
}

template <int NC, int PART> static __device__ __forceinline__ void WithStencil(const KCycleCudaInstruction &now)
{
  if (now.kind == KC_DO_COLOUR) Share<KCycleCudaColourWork, RelaxColourPair<NC, PART>>(now);
  else if (now.kind == KC_DO_COMPUTE) Share<KCycleCudaComputeWork, ComputePoint<NC, PART>>(now);
  else Share<KCycleCudaComputeWork, ChangePoint<NC, PART>>(now);
}

/* The stencil comes first in the work of these instructions. All 27 coefficients and neighbours at a time would take
   more registers than a thread of so large a block has */
static __device__ __forceinline__ void ByShape(const KCycleCudaInstruction &now)
{
  switch (((const KCycleCudaStencil *)now.work)->shape.ncoeffs) {
  case 3:
    WithStencil<3, 3>(now);
    break;
  case 5:
    WithStencil<5, 5>(now);
    break;
  case 7:
    WithStencil<7, 7>(now);
    break;
  case 9:
    WithStencil<9, 9>(now);
    break;
  case 15:
    WithStencil<15, 15>(now);
    break;
  case 27:
    WithStencil<27, 9>(now);
    break;
  }
}

static __device__ __forceinline__ void Do(const KCycleCudaInstruction &now)
{
  switch (now.kind) {
  case KC_DO_COMPUTE:
  case KC_DO_CHANGE:
  case KC_DO_COLOUR:
    ByShape(now);
    break;
  case KC_DO_INTERPOLATE:
    Share<KCycleCudaInterpolateWork, InterpolatePoint>(now);
    break;
  case KC_DO_RESTRICT:
    Share<KCycleCudaRestrictWork, RestrictPoint>(now);
    break;
  case KC_DO_INVERT:
    Share<KCycleCudaInvertWork, MultiplyRow>(now);
    break;
  case KC_DO_SCALE:
    Share<KCycleCudaScaleWork, ScalePoint>(now);
    break;
  case KC_DO_MOVE:
    Share<KCycleCudaMoveWork, MovePoint>(now);
    break;
  case KC_DO_GATHER:
    Share<KCycleCudaGatherWork, GatherPoint>(now);
    break;
  }
}

/* Word t of an instruction, where APART with the addresses of vectors moved by that many bytes */
template <bool APART>
static __device__ __forceinline__ PetscInt64 WordOf(const KCycleCudaSteps &steps, PetscInt i, int t, PetscInt64 away)
{
  PetscInt64 word = ((const PetscInt64 *)&steps.instruction[i])[t];

  if (APART && (steps.vectors[2 * i + t / 64] >> t % 64 & 1)) word += away;
  return word;
}

template <bool APART> static __device__ __forceinline__ void Run(const KCycleCudaSteps &steps, PetscInt64 away)
{
  __shared__ PetscInt64 words[2][PLACE];
  const int             t = (int)threadIdx.x;

  if (t < WORDS) words[0][t] = WordOf<APART>(steps, steps.step[0], t, away);
  __syncthreads();
  for (PetscInt s = 0; s < steps.n; s++) {
    const bool last = s + 1 == steps.n;
    PetscInt64 next = 0;

    if (!last && t < WORDS) next = WordOf<APART>(steps, steps.step[s + 1], t, away);
    Do(*(const KCycleCudaInstruction *)words[s % 2]);
    if (!last && t < WORDS) words[(s + 1) % 2][t] = next;
    __syncthreads();
  }
}

static __global__ void __launch_bounds__(THREADS, 1) Perform(const KCycleCudaSteps steps)
{
  Run<false>(steps, 0);
}

static __global__ void __launch_bounds__(THREADS, 1) Columns(const KCycleCudaSteps steps, const KCycleCudaColumns made)
{
  const PetscInt64 away = (PetscInt64)blockIdx.x * made.stride;
  KCScalar        *b    = (KCScalar *)((char *)made.b + away);
  const KCScalar  *x    = (const KCScalar *)((const char *)made.x + away);

#pragma unroll 1
  for (PetscInt j = (PetscInt)blockIdx.x; j < made.n; j += (PetscInt)gridDim.x) {
    for (PetscInt i = (PetscInt)threadIdx.x; i < made.n; i += THREADS) b[i] = i == j ? (KCScalar)1 : (KCScalar)0;
    __syncthreads();
    Run<true>(steps, away);
    for (PetscInt i = (PetscInt)threadIdx.x; i < made.n; i += THREADS) made.M[(size_t)i * made.n + j] = x[i];
  }
}

cudaError_t KCycleCudaPerform(cudaStream_t stream, const KCycleCudaSteps *steps)
{
  return KCycleCudaLaunchGrid(stream, dim3(1), THREADS, 0, Perform, *steps);
}

cudaError_t KCycleCudaMakeColumns(cudaStream_t stream, const KCycleCudaSteps *steps, const KCycleCudaColumns *made)
{
  return KCycleCudaLaunchGrid(stream, dim3((unsigned)made->blocks), THREADS, 0, Columns, *steps, *made);
}

cudaError_t KCycleCudaProcessors(int *processors)
{
  int         device;
  cudaError_t status = cudaGetDevice(&device);

  if (status == cudaSuccess) status = cudaDeviceGetAttribute(processors, cudaDevAttrMultiProcessorCount, device);
  return status;
}

/* Which word of an instruction a member of its work is */
#define WORD(Work, member) (int)((offsetof(KCycleCudaInstruction, work) + offsetof(Work, member)) / sizeof(PetscInt64))

int KCycleCudaVectors(const KCycleCudaInstruction *now, int word[KC_BLOCK_VECTORS])
{
  static const int vectors[][KC_BLOCK_VECTORS] = {
      {WORD(KCycleCudaScaleWork, y)},
      {WORD(KCycleCudaMoveWork, x), WORD(KCycleCudaMoveWork, y)},
      {WORD(KCycleCudaGatherWork, x), WORD(KCycleCudaGatherWork, y)},
      {WORD(KCycleCudaComputeWork, st.halo), WORD(KCycleCudaComputeWork, step.x), WORD(KCycleCudaComputeWork, step.b),
       WORD(KCycleCudaComputeWork, step.y), WORD(KCycleCudaComputeWork, step.d)},
      {WORD(KCycleCudaComputeWork, st.halo), WORD(KCycleCudaComputeWork, step.x), WORD(KCycleCudaComputeWork, step.b),
       WORD(KCycleCudaComputeWork, step.y), WORD(KCycleCudaComputeWork, step.d)},
      {WORD(KCycleCudaColourWork, st.halo), WORD(KCycleCudaColourWork, colour.b), WORD(KCycleCudaColourWork, colour.x)},
      {WORD(KCycleCudaInterpolateWork, tr.halo), WORD(KCycleCudaInterpolateWork, e),
       WORD(KCycleCudaInterpolateWork, x)},
      {WORD(KCycleCudaRestrictWork, tr.halo), WORD(KCycleCudaRestrictWork, r), WORD(KCycleCudaRestrictWork, b)},
      {WORD(KCycleCudaInvertWork, b), WORD(KCycleCudaInvertWork, x)},
  };
  int n = 0;

  static_assert(KC_DO_SCALE == 0 && KC_DO_MOVE == 1 && KC_DO_GATHER == 2 && KC_DO_COMPUTE == 3 && KC_DO_CHANGE == 4 &&
                    KC_DO_COLOUR == 5 && KC_DO_INTERPOLATE == 6 && KC_DO_RESTRICT == 7 && KC_DO_INVERT == 8,
                "vectors are in the order of the kinds");
  for (; n < KC_BLOCK_VECTORS && vectors[now->kind][n]; n++) word[n] = vectors[now->kind][n];
  return n;
}

/* A cycle comes to a level again and again: an instruction that is there already is not written once more */
void KCycleCudaWrite(KCycleCudaKind kind, PetscInt n, const void *work, size_t bytes, KCycleCudaCompare same)
{
  KCycleCudaProgram    *program = KCycleCudaWriting;
  KCycleCudaInstruction now     = {(PetscInt)kind, n, {0}};
  PetscInt              i       = 0;

  memcpy(now.work, work, bytes);
  for (; i < program->ninstructions; i++) {
    const KCycleCudaInstruction *old = &program->instruction[i];

    if (old->kind == now.kind && old->n == n && (*same)(old->work, now.work)) break;
  }
  if (i == KC_BLOCK_INSTRUCTIONS || program->nsteps == KC_BLOCK_STEPS) {
    program->toolong = 1;
    return;
  }
  if (i == program->ninstructions) program->instruction[program->ninstructions++] = now;
  program->step[program->nsteps++] = i;
}
