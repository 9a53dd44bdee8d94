/*
  What a device is asked to do, written down as a program that one kernel with one block goes through, see blockcuda.cu.
*/
#include <petsckcycle/private/devicelevelimpl.h>

/* While one is written */
static struct {
  KCycleCudaProgram program;
  PetscInt64        launches;
  PetscLogDouble    flops;
} written;

PetscErrorCode KCycleDeviceWrite(void)
{
  PetscFunctionBegin;
  PetscCheck(!KCycleCudaWriting, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A program is written within another one");
  PetscCall(PetscMemzero(&written, sizeof(written)));
  PetscCall(PetscMalloc2(KC_BLOCK_STEPS, &written.program.step, KC_BLOCK_INSTRUCTIONS, &written.program.instruction));
  PetscCall(PetscGetFlops(&written.flops));
  written.launches  = KCycleCudaLaunches;
  KCycleCudaWriting = &written.program;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(const KCycleCudaProgram *from, KCycleProgram **program)
{
  const size_t   bytes = (size_t)from->ninstructions * sizeof(*from->instruction);
  KCycleProgram *p;

  PetscFunctionBegin;
  PetscCall(PetscNew(&p));
  *program         = p;
  p->steps.n       = from->nsteps;
  p->ninstructions = from->ninstructions;
  PetscCall(PetscMalloc1(from->ninstructions, &p->instruction));
  PetscCall(PetscArraycpy(p->instruction, from->instruction, from->ninstructions));
  PetscCall(KCycleDeviceCopy(from->step, (size_t)from->nsteps * sizeof(*from->step), (void *)&p->steps.step));
  PetscCall(KCycleDeviceCopy(from->instruction, bytes, (void *)&p->steps.instruction));
  PetscCall(PetscGetFlops(&p->flops));
  p->flops -= written.flops;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleDeviceWritten(KCycleProgram **program)
{
  KCycleCudaProgram *from = &written.program;

  PetscFunctionBegin;
  KCycleCudaWriting = NULL;
  *program          = NULL;
  PetscCheck(KCycleCudaLaunches == written.launches, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "A kernel was launched while a program was written");
  if (!from->unknown && !from->toolong && from->nsteps) PetscCall(Create(from, program));
  PetscCall(PetscFree2(from->step, from->instruction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* again: its operations have been logged before */
PetscErrorCode KCycleDevicePerform(const KCycleProgram *p, PetscBool again)
{
  PetscFunctionBegin;
  KCycleCallKernel(KCycleCudaPerform, &p->steps);
  if (again) PetscCall(PetscLogGpuFlops(p->flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleDeviceErase(KCycleProgram **program)
{
  PetscFunctionBegin;
  if (!*program) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleDeviceFree((*program)->steps.step));
  PetscCall(KCycleDeviceFree((*program)->steps.instruction));
  PetscCall(PetscFree((*program)->instruction));
  PetscCall(PetscFree(*program));
  PetscFunctionReturn(PETSC_SUCCESS);
}
