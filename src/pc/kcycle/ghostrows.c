/*
  Where processes cut planes of a grid that was found in a matrix, the finest level has rows that another process has in
  the solver's vectors. The work vectors of KSP get ghost rows, room for such rows before and after those of the
  process. The finest level then works on the arrays of these vectors, and only what is in ghost rows is sent:

    memory of a vector      [ghost|=== rows of the process ====]
    the finest level        |---- whole planes ------|

  Other vectors (b and x of KSPSolve(), those of KSPGMRES) are copied.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/boximpl.h>

static const char Container[] = "KCycleGhostRows";

/* Of a vector with ghost rows */
typedef struct {
  PetscObjectId exchange; /* that the ghost rows fit */
  PetscScalar  *memory;
} GhostRows;

static PetscErrorCode GhostRowsDestroy(KCycleCtxDestroyArg arg)
{
  GhostRows *rows = (GhostRows *)KCycleCtxFromDestroyArg(arg);

  PetscFunctionBegin;
  PetscCall(PetscFree(rows->memory));
  PetscCall(PetscFree(rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows [first, end) become leaves; the process that has them in the operator's vectors, their roots */
static void AddLeaves(const KCycleFound *found, const PetscInt ranges[], PetscInt start, PetscInt first, PetscInt end,
                      KCycleLeaves *leaves)
{
  PetscMPIInt owner = 0;

  for (PetscInt row = first; row < end; row++) {
    while (ranges[owner + 1] <= row) owner++;
    leaves->leaf[leaves->n]         = row - start + found->below;
    leaves->root[leaves->n].rank    = owner;
    leaves->root[leaves->n++].index = row - ranges[owner];
  }
}

/* The memory of a vector with ghost rows, or NULL */
static PetscErrorCode MemoryOf(const KCycleFound *found, Vec v, PetscScalar **memory)
{
  PetscContainer     container;
  PetscObjectId      id;
  const PetscScalar *a;
  GhostRows         *rows;

  PetscFunctionBegin;
  *memory = NULL;
  if (!found->ghostrows) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectQuery((PetscObject)v, Container, (PetscObject *)&container));
  if (!container) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscContainerGetPointer(container, (void **)&rows));
  PetscCall(PetscObjectGetId((PetscObject)found->ghostrows, &id));
  PetscCall(VecGetArrayRead(v, &a));
  if (rows->exchange == id && a == rows->memory + found->below) *memory = rows->memory;
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateVector(const KCycleFound *found, MPI_Comm comm, PetscInt bs, Vec *v)
{
  PetscInt   n;
  GhostRows *rows;

  PetscFunctionBegin;
  PetscCall(PetscSFGetGraph(found->ghostrows, &n, NULL, NULL, NULL));
  PetscCall(PetscNew(&rows));
  PetscCall(PetscMalloc1(found->below + n + found->above, &rows->memory));
  PetscCall(PetscObjectGetId((PetscObject)found->ghostrows, &rows->exchange));
  PetscCall(VecCreateMPIWithArray(comm, bs, n, PETSC_DECIDE, rows->memory + found->below, v));
  PetscCall(KCycleObjectCompose((PetscObject)*v, Container, rows, GhostRowsDestroy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the rows of the operator's vectors to ghost rows */
PetscErrorCode PCKCycleGhostRowsCreate(Mat A, DM dm, KCycleFound *found)
{
  KCycleBox      *box;
  const PetscInt *ranges;
  PetscInt        first, end, start, stop;
  KCycleLeaves    leaves = {0, NULL, NULL};

  PetscFunctionBegin;
  PetscCall(KCycleBoxGet(dm, KCYCLE_BOX_KERNELS, &box));
  PetscCall(MatGetOwnershipRanges(A, &ranges));
  PetscCall(MatGetOwnershipRange(A, &start, &stop));
  first        = box->rows[box->rank];
  end          = box->rows[box->rank + 1];
  found->below = PetscMax(start - first, 0);
  found->above = PetscMax(end - stop, 0);
  found->shift = first - start;
  PetscCall(PetscMalloc1(found->below + found->above, &leaves.leaf));
  PetscCall(PetscMalloc1(found->below + found->above, &leaves.root));
  AddLeaves(found, ranges, start, first, PetscMin(end, start), &leaves);
  AddLeaves(found, ranges, start, PetscMax(first, stop), end, &leaves);
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)A), &found->ghostrows));
  PetscCall(PetscSFSetGraph(found->ghostrows, stop - start, leaves.n, leaves.leaf, PETSC_OWN_POINTER, leaves.root,
                            PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(found->ghostrows));
  for (int i = 0; i < 2; i++) PetscCall(CreateVector(found, PetscObjectComm((PetscObject)A), 1, &found->copy[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors that a KSP works with hold nothing between solves: those without ghost rows are replaced */
PetscErrorCode PCKCycleGhostRowsSetOperator(const PC_KCycle *kc, KSP ksp)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; kc->found.ghostrows && i < ksp->nwork; i++) {
    PetscScalar *memory;
    PetscBool    plain;
    PetscInt     bs;

    PetscCall(MemoryOf(&kc->found, ksp->work[i], &memory));
    PetscCall(PetscObjectTypeCompare((PetscObject)ksp->work[i], VECMPI, &plain));
    if (memory || !plain) continue;
    PetscCall(VecGetBlockSize(ksp->work[i], &bs));
    PetscCall(VecDestroy(&ksp->work[i]));
    PetscCall(CreateVector(&kc->found, PetscObjectComm((PetscObject)ksp), bs, &ksp->work[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillGhostRows(const KCycleFound *found, PetscScalar *memory)
{
  PetscFunctionBegin;
  PetscCall(PetscSFBcastBegin(found->ghostrows, MPIU_SCALAR, memory + found->below, memory, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(found->ghostrows, MPIU_SCALAR, memory + found->below, memory, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector without ghost rows is copied to one that has them, where it is read */
static PetscErrorCode Enter(const PC_KCycle *kc, int which, Vec v, PetscBool read, Vec *padded)
{
  const KCycleFound *found = &kc->found;
  PetscScalar       *memory;

  PetscFunctionBegin;
  *padded = v;
  PetscCall(MemoryOf(found, v, &memory));
  if (!memory) {
    *padded = found->copy[which];
    if (read) PetscCall(VecCopy(v, *padded));
    PetscCall(MemoryOf(found, *padded, &memory));
  }
  if (read) PetscCall(FillGhostRows(found, memory));
  PetscCall(VecPlaceArray(kc->host[which], memory + found->below + found->shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vectors of the finest level get the memory of b and x, or of copies with ghost rows; zero: x is not read */
PetscErrorCode PCKCycleGhostRowsGetVectors(const PC_KCycle *kc, Vec b, Vec x, PetscBool zero, Vec *padded)
{
  PetscFunctionBegin;
  PetscCall(Enter(kc, 0, b, PETSC_TRUE, padded));
  PetscCall(Enter(kc, 1, x, (PetscBool)!zero, padded));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What was computed in ghost rows goes to the processes that have these rows */
PetscErrorCode PCKCycleGhostRowsRestoreVectors(const PC_KCycle *kc, Vec padded, Vec x)
{
  const KCycleFound *found = &kc->found;
  PetscScalar       *memory;

  PetscFunctionBegin;
  PetscCall(VecResetArray(kc->host[0]));
  PetscCall(VecResetArray(kc->host[1]));
  PetscCall(MemoryOf(found, padded, &memory));
  PetscCall(PetscSFReduceBegin(found->ghostrows, MPIU_SCALAR, memory, memory + found->below, MPI_REPLACE));
  PetscCall(PetscSFReduceEnd(found->ghostrows, MPIU_SCALAR, memory, memory + found->below, MPI_REPLACE));
  PetscCall(PetscObjectStateIncrease((PetscObject)padded));
  if (padded != x) PetscCall(VecCopy(padded, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Multiply(Mat A, PetscErrorCode (*multiply)(Mat, Vec, Vec), Vec x, Vec y)
{
  PC             pc;
  PC_KCycle     *kc;
  Vec            padded;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &pc));
  kc = KCycleOf(pc);
  PetscCall(PCKCycleGhostRowsGetVectors(kc, x, y, PETSC_TRUE, &padded));
  ierr = (*multiply)(kc->plain ? kc->plain : kc->grids[0].A, kc->host[0], kc->host[1]);
  PetscCall(PCKCycleGhostRowsRestoreVectors(kc, padded, y));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_GhostRows(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(Multiply(A, MatMult, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTranspose_GhostRows(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(Multiply(A, MatMultTranspose, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The stencil as the operator of KSP's own products, kept with the grid */
PetscErrorCode PCKCycleGhostRowsGetOperator(PC pc, Mat *A)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscInt   n;

  PetscFunctionBegin;
  if (!kc->found.product) {
    PetscCall(MatGetLocalSize(pc->pmat, &n, NULL));
    PetscCall(MatCreateShell(PetscObjectComm((PetscObject)pc), n, n, PETSC_DETERMINE, PETSC_DETERMINE, pc,
                             &kc->found.product));
    PetscCall(MatShellSetOperation(kc->found.product, MATOP_MULT, (void (*)(void))MatMult_GhostRows));
    PetscCall(
        MatShellSetOperation(kc->found.product, MATOP_MULT_TRANSPOSE, (void (*)(void))MatMultTranspose_GhostRows));
  }
  *A = kc->found.product;
  PetscFunctionReturn(PETSC_SUCCESS);
}
