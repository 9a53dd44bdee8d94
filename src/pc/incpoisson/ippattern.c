/*
  What PCINCPOISSON asks of the pattern of its operator: is it symmetric, and are no three unknowns coupled with each
  other, as with 5 and 7 points?
*/
#include "incpoissonimpl.h"

/* Columns as KCycleRows numbers them: rows of this process, then ghosts in the order of their numbers */
typedef struct {
  KCycleRows       *rows;
  const PetscInt   *ghosts; /* their numbers */
  PetscInt          start, nlow;
  KCycleFetchedRows after; /* the operator's rows of the ghosts that come after this process's rows */
  PetscInt         *mark;  /* last row that has an entry in each column */
  PetscInt         *list;  /* columns of a row */
} Graph;

static PetscErrorCode GraphCreate(Mat A, Graph *g)
{
  PetscBool parallel;
  PetscInt  n;
  IS        after;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(g, sizeof(*g)));
  PetscCall(KCycleRowsCreate(A, "PCINCPOISSON", &g->rows));
  PetscCall(MatGetOwnershipRange(A, &g->start, NULL));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  if (parallel) {
    PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, NULL, &g->ghosts));
    while (g->nlow < g->rows->nghost && g->ghosts[g->nlow] < g->start) g->nlow++;
    PetscCall(
        ISCreateGeneral(PETSC_COMM_SELF, g->rows->nghost - g->nlow, g->ghosts + g->nlow, PETSC_USE_POINTER, &after));
    PetscCall(KCycleAIJFetchRows(A, after, &g->after));
    PetscCall(ISDestroy(&after));
  }
  n = g->rows->n + g->rows->nghost;
  PetscCall(PetscMalloc2(n, &g->mark, n, &g->list));
  for (PetscInt i = 0; i < n; i++) g->mark[i] = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The local number of a column, or -1: no row of this process has an entry in it */
static PetscErrorCode GraphFind(const Graph *g, PetscInt col, PetscInt *local)
{
  PetscFunctionBegin;
  *local = col - g->start;
  if (*local >= 0 && *local < g->rows->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFindInt(col, g->rows->nghost, g->ghosts, local));
  *local = *local < 0 ? -1 : *local + g->rows->n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Has row j, which comes after the marked row i, an entry in column i, and have both one in a third column? */
static PetscErrorCode GraphCompare(Graph *g, PetscInt i, PetscInt j, PetscBool *paired, PetscBool *third)
{
  const PetscInt     row = j - g->rows->n - g->nlow;
  const PetscInt    *cols;
  const PetscScalar *values;
  PetscInt           m;

  PetscFunctionBegin;
  if (j < g->rows->n) m = KCycleRowsGet(g->rows, j, &cols, &values);
  else {
    m    = g->after.aij.i[0][row + 1] - g->after.aij.i[0][row];
    cols = g->after.aij.j[0] + g->after.aij.i[0][row];
  }
  *paired = PETSC_FALSE;
  for (PetscInt e = 0; e < m; e++) {
    PetscInt local = cols[e];

    if (j >= g->rows->n) PetscCall(GraphFind(g, cols[e], &local));
    if (local == i) *paired = PETSC_TRUE;
    else if (local >= 0 && local != j && g->mark[local] == i) *third = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* excess, unpaired: of this process */
static PetscErrorCode GraphLook(Graph *g, PetscInt64 *excess, PetscInt *unpaired, PetscBool *third)
{
  const PetscInt     n = g->rows->n;
  const PetscInt    *cols;
  const PetscScalar *values;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt m = KCycleRowsGet(g->rows, i, &cols, &values);

    for (PetscInt e = 0; e < m; e++) {
      g->list[e]       = cols[e];
      g->mark[cols[e]] = i;
    }
    for (PetscInt e = 0; e < m; e++) {
      const PetscInt  j     = g->list[e];
      const PetscBool after = (PetscBool)(j < n ? j > i : j - n >= g->nlow);
      PetscBool       paired;

      if (j != i) *excess += after ? -1 : 1;
      if (!after) continue;
      PetscCall(GraphCompare(g, i, j, &paired, third));
      if (!paired) *unpaired = PetscMin(*unpaired, g->start + i);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A star has no triangles, but where the grid wraps around after three points; nor has its pattern an entry without
   its counterpart */
static PetscBool StencilHasTriangles(const KCycleStencil *st)
{
  PetscBool has = (PetscBool)(st->shape.box && st->box->dim > 1);

  for (PetscInt d = 0; d < st->box->dim; d++) has = (PetscBool)(has || (st->box->periodic[d] && st->box->size[d] <= 3));
  return has;
}

/* Collective. Is M given by the formula of ipsimple.c? excess: entries below the diagonal less those above it;
   unpaired: first row with an entry above it that has none below for it, or PETSC_INT_MAX */
PetscErrorCode PCIncPoissonPatternFind(PC pc, PetscInt64 *excess, PetscInt *unpaired)
{
  PC_IncPoisson *ip    = (PC_IncPoisson *)pc->data;
  PetscInt64     less  = 0;
  PetscInt       first = PETSC_INT_MAX;
  PetscBool      stencil, third = PETSC_FALSE;
  int            here, any;
  Graph          g;

  PetscFunctionBegin;
  PetscCall(MatStencilIs(pc->pmat, &stencil));
  if (stencil) third = StencilHasTriangles(KCycleStencilOf(pc->pmat));
  else {
    PetscCall(GraphCreate(pc->pmat, &g));
    PetscCall(GraphLook(&g, &less, &first, &third));
    PetscCall(KCycleAIJFetchedRowsDestroy(&g.after));
    PetscCall(PetscFree2(g.mark, g.list));
    PetscCall(KCycleRowsDestroy(&g.rows));
  }
  PetscCallMPI(MPI_Allreduce(&less, excess, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  PetscCall(PCIncPoissonFirstRow(pc, first, unpaired));
  here = third;
  PetscCallMPI(MPI_Allreduce(&here, &any, 1, MPI_INT, MPI_LOR, PetscObjectComm((PetscObject)pc)));
  ip->simple =
      (PetscBool)(!any && ip->pattern == PC_INCPOISSON_PATTERN_MATRIX && ip->scaling == PC_INCPOISSON_SCALING_DIAGONAL);
  ip->known = (PetscBool)(*excess == 0 && *unpaired == PETSC_INT_MAX);
  PetscFunctionReturn(PETSC_SUCCESS);
}
