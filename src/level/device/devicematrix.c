/*
  What a program makes of right sides, from a solution of zero, as a matrix. Many blocks of one kernel make its columns,
  each with vectors of its own, see blockcuda.cu: all that the steps write is there once for each block meanwhile.
*/
#include <petsckcycle/private/devicelevelimpl.h>

struct _KCycleMatrix {
  KCScalar              *M; /* on the device, by rows */
  /* while columns are made: where steps have their numbers, and where these are among those of a block, */
  PetscInt               nparts;
  KCycleDeviceNumbers   *part;
  PetscInt              *start;
  PetscInt               stride; /* from block to block, */
  KCScalar              *numbers;
  KCycleCudaInstruction *moved;       /* instructions for the numbers of the first block, */
  unsigned long long    *bits;        /* which of their words are addresses in these, */
  KCycleCudaInstruction *instruction; /* and both on the device */
  unsigned long long    *vectors;
};

/* What columns are made with */
static PetscErrorCode Forget(KCycleMatrix *m)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(m->part));
  PetscCall(PetscFree(m->start));
  PetscCall(PetscFree(m->moved));
  PetscCall(PetscFree(m->bits));
  PetscCall(KCycleDeviceFree(m->numbers));
  PetscCall(KCycleDeviceFree(m->instruction));
  PetscCall(KCycleDeviceFree(m->vectors));
  m->numbers     = NULL;
  m->instruction = NULL;
  m->vectors     = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleDeviceMatrixErase(KCycleMatrix **matrix)
{
  PetscFunctionBegin;
  if (!*matrix) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Forget(*matrix));
  PetscCall(KCycleDeviceFree((*matrix)->M));
  PetscCall(PetscFree(*matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers for the blocks; they begin where kernels read them as fast as ever */
static PetscErrorCode CreateNumbers(KCycleMatrix *m, PetscInt blocks)
{
  cudaStream_t stream;
  size_t       bytes;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(m->nparts, &m->start));
  for (PetscInt i = 0; i < m->nparts; i++) {
    m->start[i] = m->stride;
    m->stride += (m->part[i].n + 31) / 32 * 32;
  }
  bytes = (size_t)blocks * m->stride * sizeof(KCScalar);
  PetscCall(KCycleDeviceMalloc(bytes, &m->numbers));
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMemsetAsync(m->numbers, 0, bytes, stream)); /* as halos are */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What an address of a level's array is for the first block; NULL: there is none */
static KCScalar *AddressOf(const KCycleMatrix *m, const KCScalar *address)
{
  for (PetscInt i = 0; i < m->nparts; i++) {
    const KCycleDeviceNumbers *part = &m->part[i];

    if (part->n && address >= part->first && address < part->first + part->n)
      return m->numbers + m->start[i] + (address - part->first);
  }
  return NULL;
}

/* An instruction for numbers of the first block */
static PetscErrorCode Move(const KCycleMatrix *m, KCycleCudaInstruction *now, unsigned long long bits[2])
{
  PetscInt64 *words = (PetscInt64 *)now;
  int         word[KC_BLOCK_VECTORS];
  const int   n = KCycleCudaVectors(now, word);

  PetscFunctionBegin;
  for (int i = 0; i < n; i++) {
    KCScalar *address;

    PetscCall(PetscMemcpy(&address, &words[word[i]], sizeof(address)));
    if (!address) continue;
    address = AddressOf(m, address);
    PetscCheck(address, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A step works on a vector of no level");
    PetscCall(PetscMemcpy(&words[word[i]], &address, sizeof(address)));
    bits[word[i] / 64] |= 1ull << word[i] % 64;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateInstructions(KCycleMatrix *m, const KCycleProgram *program)
{
  const PetscInt n = program->ninstructions;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &m->moved));
  PetscCall(PetscCalloc1(2 * n, &m->bits));
  PetscCall(PetscArraycpy(m->moved, program->instruction, n));
  for (PetscInt i = 0; i < n; i++) PetscCall(Move(m, &m->moved[i], &m->bits[2 * i]));
  PetscCall(KCycleDeviceCopy(m->moved, (size_t)n * sizeof(*m->moved), &m->instruction));
  PetscCall(KCycleDeviceCopy(m->bits, 2 * (size_t)n * sizeof(*m->bits), &m->vectors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* part: of all levels that the program works on; it becomes the matrix's */
PetscErrorCode KCycleDeviceMatrixCreate(const KCycleProgram *program, PetscInt nparts, KCycleDeviceNumbers part[],
                                        const KCycleLevelData *level, KCycleMatrix **matrix)
{
  const PetscInt    n     = level->st->box->npoints;
  KCycleCudaSteps   steps = program->steps;
  KCycleCudaColumns made;
  KCycleMatrix     *m;
  int               processors;

  PetscFunctionBegin;
  PetscCall(PetscNew(matrix));
  m         = *matrix;
  m->nparts = nparts;
  m->part   = part;
  PetscCallCUDA(KCycleCudaProcessors(&processors));
  made.n      = n;
  made.blocks = PetscMin(n, (PetscInt)processors);
  PetscCall(CreateNumbers(m, made.blocks));
  PetscCall(CreateInstructions(m, program));
  PetscCall(KCycleDeviceMalloc((size_t)n * n * sizeof(KCScalar), &m->M));
  steps.instruction = m->instruction;
  steps.vectors     = m->vectors;
  made.stride       = (PetscInt64)m->stride * (PetscInt64)sizeof(KCScalar);
  made.b            = AddressOf(m, level->b);
  made.x            = AddressOf(m, level->x);
  made.M            = m->M;
  KCycleCallKernel(KCycleCudaMakeColumns, &steps, &made);
  /* The cycle that comes next may be recorded, and a kernel cannot be loaded meanwhile */
  KCycleCallKernel(KCycleCudaMultiply, n, m->M, level->b, level->x);
  PetscCall(KCycleDeviceWait());
  PetscCall(PetscLogGpuFlops(program->flops * n));
  PetscCall(Forget(m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleDeviceMatrixMultiply(const KCycleLevelData *level, const KCycleMatrix *matrix)
{
  const PetscInt n = level->st->box->npoints;

  PetscFunctionBegin;
  KCycleCallKernel(KCycleCudaMultiply, n, matrix->M, level->b, level->x);
  PetscCall(PetscLogGpuFlops(2.0 * n * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}
