/*
  Solvers of the planes of a grid, for smoothers that relax planes: the planes of one parity across a direction make a
  grid of their own, on which the operator keeps the couplings inside planes. One cycle of PCKCYCLE, which coarsens the
  two directions of the planes alone, solves all of them at a time; it chooses points or lines as other levels do.

  On that grid planes are across z, whatever they are across on the smoother's: they are next to each other, and what
  is done with one of them stays in a cache. Processes are numbered in its order, as a DMDA wants them; those that have
  no plane of this parity have no part in it.
*/
#include <petsckcycle/private/relaximpl.h>

typedef struct {
  MPI_Comm comm; /* the processes in the order of the planes' grid; MPI_COMM_NULL: there is one */
  Mat      A;
  PC       pc;
  Vec      b, x;                                                         /* without arrays of their own */
  PetscErrorCode (*applydevice)(PC, const PetscScalar *, PetscScalar *); /* a cycle on a device */
} PlaneSolver;

/* The coefficients of the planes, without couplings across them */
typedef struct {
  const KCycleStencil *st;
  KCyclePart           part;
  int                  order[3];            /* see KCyclePlanesOrder() */
  int                  from[KC_MAX_COEFFS]; /* coefficients of st that those of planes are; -1: it has none */
  KCycleLine          *lines;               /* of st */
} PlaneValues;

static void FindCoefficients(const KCycleShape *of, const KCycleShape *to, const int order[], int from[])
{
  const int step[3] = {1, 3, 9};

  for (int o = 0; o < to->ncoeffs; o++) {
    const int at[2] = {to->dx[o], to->dy[to->line[o]]};

    from[o] = of->find[13 + at[0] * step[order[0]] + at[1] * step[order[1]]];
  }
}

/* One coefficient of n points that lie along a line of st, all of its points */
static void CopyAlong(const KCycleLine *l, int o, PetscInt n, PetscScalar values[])
{
  values[0] = l->end[0][o * l->stride];
  if (n > 2) memcpy(values + 1, l->c[o] + 1, sizeof(*values) * (size_t)(n - 2));
  values[n - 1] = l->end[1][o * l->stride];
}

/* One coefficient of n points that lie across lines of st, point i of each */
static void CopyAcross(const KCycleLine *l, PetscInt distance, int o, PetscInt i, PetscInt n, PetscScalar values[])
{
  for (PetscInt p = 0; p < n; p++, l += distance) values[p] = KCycleLineCoefficient(l, o, i);
}

/* Those of line (j, k) of the planes' grid, of n points */
static void LineValues(const PlaneValues *v, const KCycleShape *shape, PetscInt n, PetscInt j, PetscInt k,
                       PetscScalar values[])
{
  const PetscInt   *first = v->part.first, *step = v->part.step, ny = v->st->box->n[1];
  const int        *order = v->order;
  const KCycleLine *l;
  PetscInt          at[3];

  at[order[0]] = first[order[0]];
  at[order[1]] = first[order[1]] + step[order[1]] * j;
  at[order[2]] = first[order[2]] + step[order[2]] * k;
  l            = v->lines + at[1] + ny * at[2];
  for (int o = 0; o < shape->ncoeffs; o++, values += n) {
    if (v->from[o] < 0) memset(values, 0, sizeof(*values) * (size_t)n);
    else if (order[0] == 0) CopyAlong(l, v->from[o], n, values);
    else CopyAcross(l, order[0] == 1 ? 1 : ny, v->from[o], at[0], n, values);
  }
}

/* same becomes false, and nothing is kept, where half of the coefficients do not tell the others */
static PetscErrorCode FillMatrix(const KCycleStencil *st, int d, int parity, PetscBool half, Mat A, PetscBool *same)
{
  const KCycleBox   *box   = KCycleStencilOf(A)->box;
  const KCycleShape *shape = &KCycleStencilOf(A)->shape;
  const PetscInt     n     = box->n[0];
  PlaneValues        v     = {.st = st};
  PetscScalar       *values;

  PetscFunctionBegin;
  KCyclePlanesOrder(st->box, d, v.order);
  KCyclePartFind(st->box, d, parity, &v.part);
  FindCoefficients(&st->shape, shape, v.order, v.from);
  PetscCall(PetscMalloc1(st->box->nlines, &v.lines)); /* those of planes may run across: each is asked for once */
  for (PetscInt line = 0; line < st->box->nlines; line++) MatStencilLineArrays(st, line, &v.lines[line]);
  *same = PETSC_TRUE;
  PetscCall(PetscMalloc1(shape->ncoeffs * n, &values));
  PetscCall(MatStencilStoreBegin(A, half));
  for (PetscInt line = 0; line < box->nlines && *same; line++) {
    LineValues(&v, shape, n, line % box->n[1], line / box->n[1], values);
    PetscCall(MatStencilStoreLine(A, line, values, same));
  }
  PetscCall(PetscFree(values));
  PetscCall(PetscFree(v.lines));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of the parts of processes along direction d those that have points remain */
static void DropEmpty(KCycleBox *box, int d)
{
  PetscInt n = 0;

  for (PetscInt p = 0; p < box->nproc[d]; p++) {
    if (box->range[d][p + 1] > box->range[d][p]) box->range[d][++n] = box->range[d][p + 1];
  }
  box->nproc[d] = n;
}

/* The grid of the planes, which does not wrap around across them, and the number of this process on it; -1: it has no
   part in it */
static PetscErrorCode CreateGrid(const KCycleBox *box, int d, int parity, KCycleBox *planes, int *number)
{
  PetscInt factor[3] = {1, 1, 1}, origin[3] = {0, 0, 0}, at[3] = {0, 0, 0};
  int      order[3];

  PetscFunctionBegin;
  factor[d] = 2;
  origin[d] = parity;
  *number   = 0;
  KCyclePlanesOrder(box, d, order);
  PetscCall(KCycleBoxCoarsen(box, factor, origin, PETSC_FALSE, planes));
  DropEmpty(planes, d);
  for (int i = 0; i < 3; i++) {
    while (planes->range[i][at[i] + 1] <= planes->start[i] && at[i] < planes->nproc[i] - 1) at[i]++;
  }
  for (int i = 0, step = 1; i < 3; i++) {
    *number += step * (int)at[order[i]];
    step *= (int)planes->nproc[order[i]];
  }
  if (!planes->n[d]) *number = -1;
  PetscCall(KCycleBoxTurn(planes, order));
  planes->periodic[2] = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix; none on processes that have no part in it. Points that are neighbours in two directions are coupled by
   boxes, and by prisms along one of these */
static PetscErrorCode CreateMatrix(const KCycleSmoother *s, int d, int parity, PlaneSolver *p)
{
  const KCycleShape *shape = &s->st->shape;
  const PetscBool    star  = (PetscBool)(!shape->box || shape->box == KC_PRISM_X + d);
  KCycleBox          box;
  DM                 dm = NULL;
  PetscBool          same;
  int                number;

  PetscFunctionBegin;
  PetscCall(CreateGrid(s->st->box, d, parity, &box, &number));
  box.star = star;
  if (KCycleBoxTalks(s->st->box))
    PetscCallMPI(MPI_Comm_split(s->comm, number < 0 ? MPI_UNDEFINED : 0, PetscMax(number, 0), &p->comm));
  if (number >= 0) PetscCall(KCycleBoxCreateDM(p->comm == MPI_COMM_NULL ? s->comm : p->comm, &box, &dm));
  PetscCall(KCycleBoxDestroy(&box));
  if (number < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStencilCreateOnDM(dm, KC_FLAT | (star ? 0 : KC_BOX), &p->A));
  PetscCall(DMDestroy(&dm));
  PetscCall(FillMatrix(s->st, d, parity, s->st->half, p->A, &same));
  if (!same) PetscCall(FillMatrix(s->st, d, parity, PETSC_FALSE, p->A, &same));
  PetscCall(MatStencilStoreEnd(p->A));
  PetscCall(MatAssemblyBegin(p->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(p->A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolverCreate(const KCycleSmoother *s, const char prefix[], int d, int parity, void **solver)
{
  PlaneSolver *p;
  MPI_Comm     comm;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(PetscNew(&p));
  p->comm = MPI_COMM_NULL;
  PetscCall(CreateMatrix(s, d, parity, p));
  *solver = p->A ? p : NULL;
  if (!p->A) PetscCall(PetscFree(p));
  if (!*solver) PetscFunctionReturn(PETSC_SUCCESS);
  comm = PetscObjectComm((PetscObject)p->A);
  PetscCall(PCCreate(comm, &p->pc));
  PetscCall(PCSetType(p->pc, "kcycle"));
  PetscCall(PCKCycleSetFallback(p->pc, PC_KCYCLE_FALLBACK_OFF)); /* one cycle is a sweep */
  PetscCall(PCSetOptionsPrefix(p->pc, prefix));
  PetscCall(PCAppendOptionsPrefix(p->pc, "planes_"));
  PetscCall(PCSetOperators(p->pc, p->A, p->A));
  PetscCall(PCSetFromOptions(p->pc));
  PetscCall(PCSetUp(p->pc));
  PetscCall(MatGetLocalSize(p->A, &n, NULL));
  PetscCall(VecCreateMPIWithArray(comm, 1, n, PETSC_DECIDE, NULL, &p->b));
  PetscCall(VecCreateMPIWithArray(comm, 1, n, PETSC_DECIDE, NULL, &p->x));
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

/* PCKCYCLE has a device copy of its levels then */
static PetscErrorCode Attach(void *solver, const char *why[])
{
  PlaneSolver *p = (PlaneSolver *)solver;

  PetscFunctionBegin;
  PetscUseMethod(p->pc, "PCKCycleAttachDeviceCopy_C", (PC, const char *[]), (p->pc, why));
  PetscCall(PetscObjectQueryFunction((PetscObject)p->pc, "PCKCycleApplyDeviceCopy_C", &p->applydevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveOnDevice(void *solver, const PetscScalar *r, PetscScalar *e)
{
  PlaneSolver *p = (PlaneSolver *)solver;

  PetscFunctionBegin;
  PetscCall((*p->applydevice)(p->pc, r, e));
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
    if (p->comm != MPI_COMM_NULL) PetscCallMPI(MPI_Comm_free(&p->comm));
    PetscCall(PetscFree(p));
  }
  PetscCall(PetscFree(*solvers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCyclePlaneSolversCreate(const KCycleSmoother *s, const char directions[], KCyclePlaneSolvers **solvers)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(solvers));
  (*solvers)->references    = 1;
  (*solvers)->solve         = Solve;
  (*solvers)->attach        = Attach;
  (*solvers)->solveondevice = SolveOnDevice;
  (*solvers)->destroy       = SolversDestroy;
  for (; *directions; directions++) {
    const int i = (*solvers)->ndirections++, d = *directions - 'x';

    (*solvers)->d[i] = d;
    for (int parity = 0; parity < 2; parity++) {
      (*solvers)->exists[i][parity] = (PetscBool)(s->st->box->size[d] > parity);
      if ((*solvers)->exists[i][parity])
        PetscCall(SolverCreate(s, s->prefix, d, parity, &(*solvers)->solver[i][parity]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
