/*
  Many kernels in one, of one block: on small grids a launch takes longer than the work, and a barrier between the
  threads of a block less. What the kernels would be asked for is written down once, as a program; each of its
  instructions is done by all threads, and has the arithmetic of the kernel that it stands for.

  Vectors and coefficients are where they always are, in the device's memory; the block works in the caches of its
  multiprocessor. The instruction that is being done is in shared memory, and the next one is on its way there.
*/
#include "densecuda.h"
#include "stencilcuda.h"
#include "transfercuda.h"
#include "vectorcuda.h"
#include <string.h>

KCycleCudaProgram *KCycleCudaWriting = NULL;

#define THREADS 512

/* Words of an instruction, and their places in shared memory */
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

/* The stencil stands first in the work of these instructions. All 27 coefficients and neighbours at a time would take
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
  case KC_DO_ZERO:
    Share<KCycleCudaZeroWork, ZeroPoint>(now);
    break;
  case KC_DO_MOVE:
    Share<KCycleCudaMoveWork, MovePoint>(now);
    break;
  case KC_DO_GATHER:
    Share<KCycleCudaGatherWork, GatherPoint>(now);
    break;
  }
}

static __global__ void __launch_bounds__(THREADS, 1)
    Perform(PetscInt nsteps, const PetscInt *step, const KCycleCudaInstruction *instructions)
{
  __shared__ PetscInt64 words[2][PLACE];
  const int             t = (int)threadIdx.x;

  if (t < WORDS) words[0][t] = ((const PetscInt64 *)&instructions[step[0]])[t];
  __syncthreads();
  for (PetscInt s = 0; s < nsteps; s++) {
    const bool last = s + 1 == nsteps;
    PetscInt64 next = 0;

    if (!last && t < WORDS) next = ((const PetscInt64 *)&instructions[step[s + 1]])[t];
    Do(*(const KCycleCudaInstruction *)words[s % 2]);
    if (!last && t < WORDS) words[(s + 1) % 2][t] = next;
    __syncthreads();
  }
}

cudaError_t KCycleCudaPerform(cudaStream_t stream, PetscInt nsteps, const PetscInt *step,
                              const KCycleCudaInstruction *instructions)
{
  return KCycleCudaLaunchGrid(stream, dim3(1), THREADS, 0, Perform, nsteps, step, instructions);
}

/* A cycle comes to a level again and again: an instruction that is there already is not written once more */
void KCycleCudaWrite(KCycleCudaKind kind, PetscInt n, const void *work, size_t bytes)
{
  KCycleCudaProgram    *program = KCycleCudaWriting;
  KCycleCudaInstruction now     = {(PetscInt)kind, n, {0}};
  PetscInt              i       = 0;

  memcpy(now.work, work, bytes);
  while (i < program->ninstructions && memcmp(&program->instruction[i], &now, sizeof(now))) i++;
  if (i == KC_BLOCK_INSTRUCTIONS || program->nsteps == KC_BLOCK_STEPS) {
    program->toolong = 1;
    return;
  }
  if (i == program->ninstructions) program->instruction[program->ninstructions++] = now;
  program->step[program->nsteps++] = i;
}
