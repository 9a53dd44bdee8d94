/*
  PCINCPOISSON on the operator's pattern, scaled, where no three unknowns are coupled with each other, as with 5 and 7
  points: no product K_ik K_jk of two entries beside the diagonal falls on the pattern, and what is left of K K^T, K =
  D^-1 (D - L) D^-1/2, is

    M_ij = - a_ij / (d_i d_j),   i != j,        M_ii = 1 / d_i + sum over k < i of |a_ik|^2 / (d_i^2 d_k)
*/
#include "incpoissonimpl.h"

/* Places of this process: rows come first, then ghosts in the order of their numbers */
typedef struct {
  KCycleRows     *rows;
  const PetscInt *ghosts; /* their numbers */
  PetscInt        start, nlow;
  Mat            *above; /* the operator's rows of the ghosts that stand behind this process's rows */
  const PetscInt *first, *cols;
  PetscInt       *mark; /* last row that has an entry in each place */
  PetscInt       *list; /* places of a row */
} Graph;

static PetscErrorCode GraphGather(Graph *g, Mat A)
{
  const PetscInt high = g->rows->nghost - g->nlow;
  PetscInt       total, n;
  PetscBool      done;
  IS             is, columns;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, NULL, &total));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, high, g->ghosts + g->nlow, PETSC_COPY_VALUES, &is));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, total, 0, 1, &columns));
  PetscCall(ISSetIdentity(columns));
  PetscCall(MatCreateSubMatrices(A, 1, &is, &columns, MAT_INITIAL_MATRIX, &g->above));
  PetscCall(MatGetRowIJ(g->above[0], 0, PETSC_FALSE, PETSC_FALSE, &n, &g->first, &g->cols, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No compressed rows");
  PetscCall(ISDestroy(&is));
  PetscCall(ISDestroy(&columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GraphCreate(Mat A, Graph *g)
{
  PetscBool parallel;
  PetscInt  longest = 0, m;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(g, sizeof(*g)));
  PetscCall(KCycleRowsCreate(A, "PCINCPOISSON", &g->rows));
  PetscCall(MatGetOwnershipRange(A, &g->start, NULL));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  if (parallel) {
    PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, NULL, &g->ghosts));
    while (g->nlow < g->rows->nghost && g->ghosts[g->nlow] < g->start) g->nlow++;
    PetscCall(GraphGather(g, A));
  }
  for (PetscInt i = 0; i < g->rows->n; i++) {
    m       = g->rows->i[i + 1] - g->rows->i[i] + (parallel ? g->rows->oi[i + 1] - g->rows->oi[i] : 0);
    longest = PetscMax(longest, m);
  }
  PetscCall(PetscMalloc2(g->rows->n + g->rows->nghost, &g->mark, longest, &g->list));
  for (PetscInt i = 0; i < g->rows->n + g->rows->nghost; i++) g->mark[i] = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GraphDestroy(Graph *g)
{
  PetscBool done;
  PetscInt  n;

  PetscFunctionBegin;
  if (g->above) {
    PetscCall(MatRestoreRowIJ(g->above[0], 0, PETSC_FALSE, PETSC_FALSE, &n, &g->first, &g->cols, &done));
    PetscCall(MatDestroySubMatrices(1, &g->above));
  }
  PetscCall(PetscFree2(g->mark, g->list));
  PetscCall(KCycleRowsDestroy(&g->rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The place of a column, or -1: no row of this process has an entry in it */
static PetscErrorCode GraphPlace(const Graph *g, PetscInt col, PetscInt *place)
{
  PetscFunctionBegin;
  *place = col - g->start;
  if (*place >= 0 && *place < g->rows->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFindInt(col, g->rows->nghost, g->ghosts, place));
  *place = *place < 0 ? -1 : *place + g->rows->n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Has row j, behind the marked row i, an entry in column i, and have both one in a third column? */
static PetscErrorCode GraphCompare(Graph *g, PetscInt i, PetscInt j, PetscBool *paired, PetscBool *third)
{
  const PetscBool ghost = (PetscBool)(j >= g->rows->n);
  const PetscInt  from  = ghost ? g->first[j - g->rows->n - g->nlow] : 0;
  PetscInt        m     = ghost ? g->first[j - g->rows->n - g->nlow + 1] - from : 0;
  const PetscInt *cols  = ghost ? g->cols + from : NULL;

  PetscFunctionBegin;
  if (!ghost) {
    const PetscScalar *values;

    m = KCycleRowsGet(g->rows, j, &cols, &values);
  }
  *paired = PETSC_FALSE;
  for (PetscInt e = 0; e < m; e++) {
    PetscInt place = cols[e];

    if (ghost) PetscCall(GraphPlace(g, cols[e], &place));
    if (place == i) *paired = PETSC_TRUE;
    else if (place >= 0 && place != j && g->mark[place] == i) *third = PETSC_TRUE;
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
  for (PetscInt i = 0; i < n && !*third; i++) {
    const PetscInt m = KCycleRowsGet(g->rows, i, &cols, &values);

    for (PetscInt e = 0; e < m; e++) {
      g->list[e]       = cols[e];
      g->mark[cols[e]] = i;
    }
    for (PetscInt e = 0; e < m; e++) {
      const PetscInt  j      = g->list[e];
      const PetscBool behind = (PetscBool)(j < n ? j > i : j - n >= g->nlow);
      PetscBool       paired;

      if (j != i) *excess += behind ? -1 : 1;
      if (!behind) continue;
      PetscCall(GraphCompare(g, i, j, &paired, third));
      if (!paired) *unpaired = PetscMin(*unpaired, g->start + i);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A star has no triangles, but where the grid wraps around after three points; nor has its pattern an entry without
   its counterpart */
static PetscErrorCode FindInStencil(PC pc)
{
  PC_IncPoisson       *ip = (PC_IncPoisson *)pc->data;
  const KCycleStencil *st = KCycleStencilOf(pc->pmat);

  PetscFunctionBegin;
  ip->simple = (PetscBool)(!st->shape.box || st->box->dim == 1);
  for (PetscInt d = 0; d < st->box->dim; d++) {
    if (st->box->periodic[d] && st->box->size[d] <= 3) ip->simple = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the graph so, and for this use? If it is, it is also known whether it is symmetric */
PetscErrorCode PCIncPoissonSimpleFind(PC pc)
{
  PC_IncPoisson *ip     = (PC_IncPoisson *)pc->data;
  MPI_Comm       comm   = PetscObjectComm((PetscObject)pc);
  PetscInt       mine   = PETSC_INT_MAX;
  PetscInt64     excess = 0;
  PetscBool      stencil, third = PETSC_FALSE;
  int            here, any;
  Graph          g;

  PetscFunctionBegin;
  ip->simple   = PETSC_FALSE;
  ip->excess   = 0;
  ip->unpaired = PETSC_INT_MAX;
  if (ip->pattern != PC_INCPOISSON_PATTERN_MATRIX || ip->scaling != PC_INCPOISSON_SCALING_DIAGONAL)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStencilIs(pc->pmat, &stencil));
  if (stencil) {
    PetscCall(FindInStencil(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GraphCreate(pc->pmat, &g));
  PetscCall(GraphLook(&g, &excess, &mine, &third));
  PetscCall(GraphDestroy(&g));
  here = third;
  PetscCallMPI(MPI_Allreduce(&here, &any, 1, MPI_INT, MPI_LOR, comm));
  if (any) PetscFunctionReturn(PETSC_SUCCESS);
  ip->simple = PETSC_TRUE;
  PetscCallMPI(MPI_Allreduce(&excess, &ip->excess, 1, MPIU_INT64, MPI_SUM, comm));
  PetscCall(PCIncPoissonFirstRow(pc, mine, &ip->unpaired));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 1 / d of points and ghosts */
static PetscErrorCode Invert(const KCycleRows *rows, Vec diagonal, PetscReal **inverse)
{
  const PetscScalar *d;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(rows->n + rows->nghost, inverse));
  PetscCall(VecGetArrayRead(diagonal, &d));
  for (PetscInt i = 0; i < rows->n; i++) (*inverse)[i] = 1 / PetscRealPart(d[i]);
  PetscCall(VecRestoreArrayRead(diagonal, &d));
  PetscCall(KCycleRowsExchangeReal(rows, *inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One entry of M from one of A, and its share in the diagonal of M if it stands below that of A */
static inline PetscScalar Entry(PetscScalar a, PetscReal di, PetscReal dj, PetscBool below, PetscReal *diagonal)
{
  const PetscReal product = di * dj;

  if (below) *diagonal += PetscRealPart(a * PetscConj(a)) * di * product;
  return -a * product;
}

/* Entries of A and M stand in the same places. bad: first row with a NaN or Inf */
static void FillRows(const KCycleRows *r, PetscInt nlow, const PetscReal inverse[], PetscScalar m[], PetscScalar mo[],
                     PetscInt *bad)
{
  for (PetscInt i = 0; i < r->n; i++) {
    PetscReal   diagonal = inverse[i];
    PetscScalar sum      = 0;
    PetscInt    place    = -1;

    for (PetscInt e = r->i[i]; e < r->i[i + 1]; e++) {
      const PetscInt j = r->j[e];

      sum += r->a[e];
      if (j == i) place = e;
      else m[e] = Entry(r->a[e], inverse[i], inverse[j], (PetscBool)(j < i), &diagonal);
    }
    for (PetscInt e = r->off ? r->oi[i] : 0; r->off && e < r->oi[i + 1]; e++) {
      const PetscInt j = r->oj[e];

      sum += r->oa[e];
      mo[e] = Entry(r->oa[e], inverse[i], inverse[r->n + j], (PetscBool)(j < nlow), &diagonal);
    }
    if (place >= 0) m[place] = diagonal;
    if (sum - sum != (PetscScalar)0.0) *bad = PetscMin(*bad, i); /* Inf - Inf is NaN */
  }
}

static PetscErrorCode SetUpAIJ(PC pc, Vec diagonal)
{
  PC_IncPoisson  *ip     = (PC_IncPoisson *)pc->data;
  const PetscInt *ghosts = NULL;
  PetscInt        start, nlow = 0, bad = PETSC_INT_MAX;
  PetscScalar    *m, *mo = NULL;
  PetscReal      *inverse;
  PetscBool       parallel;
  KCycleRows     *rows;
  Mat             in = ip->M, off = NULL;

  PetscFunctionBegin;
  PetscCall(KCycleRowsCreate(pc->pmat, "PCINCPOISSON", &rows));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)ip->M, MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(ip->M, &in, &off, &ghosts));
  PetscCall(MatGetOwnershipRange(ip->M, &start, NULL));
  while (nlow < rows->nghost && ghosts[nlow] < start) nlow++;
  PetscCall(Invert(rows, diagonal, &inverse));
  PetscCall(MatSeqAIJGetArrayWrite(in, &m));
  if (off) PetscCall(MatSeqAIJGetArrayWrite(off, &mo));
  FillRows(rows, nlow, inverse, m, mo, &bad);
  if (off) PetscCall(MatSeqAIJRestoreArrayWrite(off, &mo));
  PetscCall(MatSeqAIJRestoreArrayWrite(in, &m));
  PetscCall(MatAssemblyBegin(ip->M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(ip->M, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree(inverse));
  PetscCall(KCycleRowsDestroy(&rows));
  PetscCall(PCIncPoissonFailNotFinite(pc, bad < PETSC_INT_MAX ? start + bad : bad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a line of a stencil needs: 1 / d on its points and the ghosts around */
typedef struct {
  const KCycleBox   *box;
  const KCycleShape *shape;
  PetscScalar       *inverse, *halo; /* 1 / d */
  PetscScalar       *values, *sum;   /* coefficients of a line, and their sum at each point */
  PetscScalar       *padded;         /* 1 / d of a neighbour line, one point more at each end */
} Lines;

static PetscErrorCode LinesCreate(const KCycleStencil *st, Vec diagonal, Lines *l)
{
  const PetscScalar *d;
  const PetscInt     n = st->box->n[0];

  PetscFunctionBegin;
  l->box   = st->box;
  l->shape = &st->shape;
  PetscCall(
      PetscMalloc4(l->box->npoints, &l->inverse, st->shape.ncoeffs * n, &l->values, n, &l->sum, n + 2, &l->padded));
  PetscCall(VecGetArrayRead(diagonal, &d));
  for (PetscInt i = 0; i < l->box->npoints; i++) l->inverse[i] = 1 / PetscRealPart(d[i]);
  PetscCall(VecRestoreArrayRead(diagonal, &d));
  PetscCall(KCycleBoxHaloCreate(l->box, &l->halo));
  PetscCall(KCycleBoxExchange(l->box, PETSC_FALSE, l->inverse, l->halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LinesDestroy(Lines *l)
{
  PetscFunctionBegin;
  PetscCall(PetscFree4(l->inverse, l->values, l->sum, l->padded));
  PetscCall(PetscFree(l->halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Line (j, k) of a field with the points left and right of it; zeros outside the grid */
static void Pad(const KCycleBox *box, const PetscScalar *x, const PetscScalar *halo, PetscInt j, PetscInt k,
                PetscScalar padded[])
{
  const PetscInt     n = box->n[0], e = KCycleBoxExtended(box, j, k);
  const PetscScalar *line = KCycleBoxLine(box, x, halo, j, k);

  padded[0] = box->xhalo ? halo[box->left + e] : 0;
  for (PetscInt i = 0; i < n; i++) padded[i + 1] = line[i];
  padded[n + 1] = box->xhalo ? halo[box->right + e] : 0;
}

/* Does coefficient o of point i of a line stand below the diagonal? */
static PetscBool IsBelow(const Lines *l, PetscInt line, int o, PetscInt i)
{
  const KCycleBox *box     = l->box;
  const PetscInt  *n       = box->n;
  const PetscInt   step[3] = {l->shape->dx[o], l->shape->dy[l->shape->line[o]], l->shape->dz[l->shape->line[o]]};
  PetscInt         to[3]   = {i + step[0], line % n[1] + step[1], line / n[1] + step[2]};
  PetscBool        inside  = PETSC_TRUE;

  for (int d = 0; d < 3; d++) {
    if (to[d] < 0 || to[d] >= n[d]) inside = PETSC_FALSE;
    to[d] += box->start[d];
  }
  if (inside) return (PetscBool)(step[0] + n[0] * (step[1] + n[1] * step[2]) < 0);
  return (PetscBool)(KCycleBoxPointToRow(box, to) < box->rows[box->rank] + i + n[0] * line);
}

/* Coefficient o of A becomes that of M, with its share in the diagonal, along a part of a line; the sum is that of the
   row in A */
static void FillCoefficient(const Lines *l, PetscInt line, int o, PetscInt begin, PetscInt end)
{
  const PetscInt     n     = l->box->n[0];
  const PetscBool    below = IsBelow(l, line, o, begin);
  const PetscScalar *own = l->inverse + line * n, *other = l->padded + 1 + l->shape->dx[o];
  PetscScalar       *v = l->values + o * n, *diagonal = l->values + l->shape->find[13] * n;

  for (PetscInt i = begin; i < end; i++) {
    const PetscReal product = PetscRealPart(own[i]) * PetscRealPart(other[i]);
    const PetscReal share   = PetscRealPart(v[i] * PetscConj(v[i])) * PetscRealPart(own[i]) * product;

    l->sum[i] += v[i];
    diagonal[i] += below ? share : 0;
    v[i] = -v[i] * product;
  }
}

/* Coefficients of A become those of M. Between the ends of a line a coefficient is below the diagonal everywhere or
   nowhere. bad: a point with a NaN or Inf */
static void FillLine(Lines *l, PetscInt line, PetscInt *bad)
{
  const KCycleShape *shape = l->shape;
  const PetscInt     n = l->box->n[0], j = line % l->box->n[1], k = line / l->box->n[1], centre = shape->find[13];
  const PetscScalar *own      = l->inverse + line * n;
  PetscScalar       *diagonal = l->values + centre * n, total = 0;

  for (PetscInt i = 0; i < n; i++) {
    l->sum[i]   = diagonal[i];
    diagonal[i] = own[i];
  }
  for (int o = 0; o < shape->ncoeffs; o++) {
    const PetscInt part[] = {0, PetscMin(1, n - 1), n - 1, n};

    if (o == centre) continue;
    Pad(l->box, l->inverse, l->halo, j + shape->dy[shape->line[o]], k + shape->dz[shape->line[o]], l->padded);
    for (int p = 0; p < 3; p++) FillCoefficient(l, line, o, part[p], part[p + 1]);
  }
  for (PetscInt i = 0; i < n; i++) total += l->sum[i];
  if (!PetscIsInfOrNanScalar(total)) return;
  for (PetscInt i = n - 1; i >= 0; i--) {
    if (PetscIsInfOrNanScalar(l->sum[i])) *bad = line * n + i;
  }
}

/* Half of the coefficients is stored if that suffices for the operator */
static PetscErrorCode SetUpStencil(PC pc, Vec diagonal)
{
  PC_IncPoisson       *ip = (PC_IncPoisson *)pc->data;
  const KCycleStencil *st = KCycleStencilOf(pc->pmat);
  PetscInt             start, bad = PETSC_INT_MAX;
  PetscBool            same = PETSC_FALSE;
  Lines                l;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(pc->pmat, &start, NULL));
  PetscCall(LinesCreate(st, diagonal, &l));
  for (int half = st->half; half >= 0 && !same; half--) {
    same = PETSC_TRUE;
    PetscCall(MatStencilStoreBegin(ip->M, (PetscBool)half));
    for (PetscInt line = 0; line < st->box->nlines && same; line++) {
      PetscInt found = PETSC_INT_MAX;

      PetscCall(MatStencilGetLine(pc->pmat, line, l.values));
      FillLine(&l, line, &found);
      bad = PetscMin(bad, found);
      PetscCall(MatStencilStoreLine(ip->M, line, l.values, &same));
    }
  }
  PetscCall(MatStencilStoreEnd(ip->M));
  PetscCall(PetscObjectStateIncrease((PetscObject)ip->M));
  PetscCall(LinesDestroy(&l));
  PetscCall(PCIncPoissonFailNotFinite(pc, bad < PETSC_INT_MAX ? start + bad : bad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCIncPoissonSimpleSetUp(PC pc, Vec diagonal)
{
  PC_IncPoisson *ip = (PC_IncPoisson *)pc->data;
  PetscBool      stencil;

  PetscFunctionBegin;
  if (ip->excess || ip->unpaired < PETSC_INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  if (!ip->M) PetscCall(MatDuplicate(pc->pmat, MAT_DO_NOT_COPY_VALUES, &ip->M));
  PetscCall(MatStencilIs(pc->pmat, &stencil));
  if (stencil) PetscCall(SetUpStencil(pc, diagonal));
  else PetscCall(SetUpAIJ(pc, diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}
