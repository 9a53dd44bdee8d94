/*
  Solvers of the planes of a grid, for smoothers that relax planes: the planes of one parity across a direction make a
  grid of their own, on which the operator keeps the couplings inside planes. One cycle of PCKCYCLE, which coarsens the
  two directions of the planes alone, solves all of them at a time; it chooses points or lines as other levels do.
*/
#include <petsckcycle/private/relaximpl.h>

typedef struct {
  int d; /* planes are across this direction */
  Mat A;
  PC  pc;
  Vec b, x;                                                        /* without arrays of their own */
  PetscErrorCode (*there)(PC, const PetscScalar *, PetscScalar *); /* a cycle on a device */
} PlaneSolver;

/* Has each process a plane of this parity? any: there are such planes */
static PetscErrorCode CheckPlanes(const KCycleSmoother *s, int d, int parity, PetscBool *any)
{
  const KCycleBox *box = s->st->box;

  PetscFunctionBegin;
  *any = (PetscBool)(box->size[d] > parity);
  for (PetscInt p = 0; p < box->nproc[d] && *any; p++)
    PetscCheck((box->range[d][p + 1] - parity + 1) / 2 > (box->range[d][p] - parity + 1) / 2, s->comm,
               PETSC_ERR_ARG_SIZ,
               "-pc_relax_type %s needs at least two planes across %c on each process, and one has %" PetscInt_FMT
               ": use alternating lines, or fewer processes in this direction",
               s->name, 'x' + d, box->range[d][p + 1] - box->range[d][p]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coefficients of the planes, without couplings across them; same becomes false, and nothing is kept, where half of
   them do not tell the others */
static PetscErrorCode FillMatrix(const KCycleStencil *st, int d, int parity, PetscBool half, Mat A, PetscBool *same)
{
  const KCycleBox   *box   = KCycleStencilOf(A)->box;
  const KCycleShape *shape = &st->shape;
  const PetscInt     n = box->n[0], step[3] = {d == 0 ? 2 : 1, d == 1 ? 2 : 1, d == 2 ? 2 : 1};
  PetscInt           first[3] = {0, 0, 0};
  PetscScalar       *values;

  PetscFunctionBegin;
  first[d] = (parity + st->box->start[d]) & 1;
  *same    = PETSC_TRUE;
  PetscCall(PetscMalloc1(shape->ncoeffs * n, &values));
  PetscCall(MatStencilStoreBegin(A, half));
  for (PetscInt line = 0; line < box->nlines && *same; line++) {
    KCycleLine l;

    KCycleLineCoefficients(st, first[1] + step[1] * (line % box->n[1]), first[2] + step[2] * (line / box->n[1]), &l);
    for (int o = 0; o < shape->ncoeffs; o++) {
      const int to[3] = {shape->dx[o], shape->dy[shape->line[o]], shape->dz[shape->line[o]]};

      for (PetscInt i = 0; i < n; i++)
        values[o * n + i] = to[d] ? 0 : KCycleLineCoefficient(&l, o, first[0] + step[0] * i);
    }
    PetscCall(MatStencilStoreLine(A, line, values, same));
  }
  PetscCall(PetscFree(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateMatrix(const KCycleSmoother *s, int d, int parity, Mat *A)
{
  PetscInt  factor[3] = {1, 1, 1}, origin[3] = {0, 0, 0};
  KCycleBox box;
  DM        dm;
  PetscBool same;

  PetscFunctionBegin;
  factor[d] = 2;
  origin[d] = parity;
  PetscCall(KCycleBoxCoarsen(s->st->box, factor, origin, PETSC_FALSE, &box));
  box.star = (PetscBool)!s->st->shape.box;
  PetscCall(KCycleBoxCreateDM(s->comm, &box, &dm));
  PetscCall(KCycleBoxDestroy(&box));
  PetscCall(DMSetUp(dm));
  PetscCall(MatStencilCreateOnDM(dm, s->st->shape.box, A));
  PetscCall(DMDestroy(&dm));
  PetscCall(FillMatrix(s->st, d, parity, s->st->half, *A, &same));
  if (!same) PetscCall(FillMatrix(s->st, d, parity, PETSC_FALSE, *A, &same));
  PetscCall(MatStencilStoreEnd(*A));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolverCreate(const KCycleSmoother *s, const char prefix[], int d, int parity, void **solver)
{
  PlaneSolver *p;
  PetscBool    any;
  PetscInt     n;

  PetscFunctionBegin;
  *solver = NULL;
  PetscCall(CheckPlanes(s, d, parity, &any));
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&p));
  *solver = p;
  p->d    = d;
  PetscCall(CreateMatrix(s, d, parity, &p->A));
  PetscCall(PCCreate(s->comm, &p->pc));
  PetscCall(PCSetType(p->pc, "kcycle"));
  PetscCall(PCSetOptionsPrefix(p->pc, prefix));
  PetscCall(PCAppendOptionsPrefix(p->pc, "planes_"));
  PetscCall(PCSetOperators(p->pc, p->A, p->A));
  PetscCall(PCSetFromOptions(p->pc));
  PetscCall(PCSetUp(p->pc));
  PetscCall(MatGetLocalSize(p->A, &n, NULL));
  PetscCall(VecCreateMPIWithArray(s->comm, 1, n, PETSC_DECIDE, NULL, &p->b));
  PetscCall(VecCreateMPIWithArray(s->comm, 1, n, PETSC_DECIDE, NULL, &p->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(void *solver, PetscScalar *r, PetscScalar *e)
{
  PlaneSolver *p = (PlaneSolver *)solver;

  PetscFunctionBegin;
  PetscCall(VecPlaceArray(p->b, r));
  PetscCall(VecPlaceArray(p->x, e));
  PetscCall(PCApply(p->pc, p->b, p->x));
  PetscCall(VecResetArray(p->x));
  PetscCall(VecResetArray(p->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCKCYCLE has levels there beside those of the host then */
static PetscErrorCode Attach(void *solver, const char *why[])
{
  PlaneSolver *p = (PlaneSolver *)solver;

  PetscFunctionBegin;
  PetscUseMethod(p->pc, "PCKCycleAttachThere_C", (PC, int, const char *[]), (p->pc, p->d, why));
  PetscCall(PetscObjectQueryFunction((PetscObject)p->pc, "PCKCycleApplyThere_C", &p->there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveThere(void *solver, const PetscScalar *r, PetscScalar *e)
{
  PlaneSolver *p = (PlaneSolver *)solver;

  PetscFunctionBegin;
  PetscCall((*p->there)(p->pc, r, e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolversDestroy(KCyclePlaneSolvers **solvers)
{
  PetscFunctionBegin;
  for (int i = 0; i < 6; i++) {
    PlaneSolver *p = (PlaneSolver *)(*solvers)->solver[i / 2][i % 2];

    if (!p) continue;
    PetscCall(PCDestroy(&p->pc));
    PetscCall(MatDestroy(&p->A));
    PetscCall(VecDestroy(&p->b));
    PetscCall(VecDestroy(&p->x));
    PetscCall(PetscFree(p));
  }
  PetscCall(PetscFree(*solvers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCyclePlaneSolversCreate(const KCycleSmoother *s, const char directions[], KCyclePlaneSolvers **solvers)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(solvers));
  (*solvers)->references = 1;
  (*solvers)->solve      = Solve;
  (*solvers)->attach     = Attach;
  (*solvers)->solvethere = SolveThere;
  (*solvers)->destroy    = SolversDestroy;
  for (; *directions; directions++) {
    const int i = (*solvers)->ndirections++, d = *directions - 'x';

    (*solvers)->d[i] = d;
    for (int parity = 0; parity < 2; parity++)
      PetscCall(SolverCreate(s, s->prefix, d, parity, &(*solvers)->solver[i][parity]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
