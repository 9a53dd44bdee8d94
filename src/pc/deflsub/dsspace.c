/*
  Z and A Z of PCDEFLSUB, and products with them.
*/
#include "deflsubimpl.h"

/* Sums of rows below this part of their absolute sums are rounding; where constants are in an attached null space
   less precisely */
#define KC_DEFLSUB_ROUNDING (100 * PETSC_MACHINE_EPSILON)
#define KC_DEFLSUB_ATTACHED PETSC_SQRT_MACHINE_EPSILON

/* Two subdomains that are coupled: local numbers, how many entries, and the next pair of the first of them, or -1 */
typedef struct {
  PetscInt own, other, count, next;
} Pair;

typedef struct {
  PetscInt    pair, row;
  PetscScalar value;
} Entry;

/* Entries of A Z as they are found */
typedef struct {
  KCycleRows *rows;
  PetscInt   *label;    /* local numbers of points and ghosts */
  PetscReal   rounding; /* smallest sum of a row, relative to its absolute sum, that is not taken for zero */
  PetscBool   onesided; /* a point is coupled to an isolated one */
  PetscInt   *first;    /* pair of each subdomain */
  PetscInt    npairs, maxpairs, nentries, maxentries;
  Pair       *pair;
  Entry      *entry;
} Entries;

static PetscErrorCode ResetEntries(PC_DeflSub *ds)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(ds->own));
  PetscCall(PetscFree(ds->other));
  PetscCall(PetscFree(ds->start));
  PetscCall(PetscFree(ds->row));
  PetscCall(PetscFree(ds->value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDeflSubSpaceReset(PC_DeflSub *ds)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(ds->global));
  PetscCall(PetscFree(ds->run));
  PetscCall(PetscFree(ds->runlabel));
  PetscCall(ResetEntries(ds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Labels of points and ghosts. An isolated point is in no column of Z, since the inner preconditioner solves
   for it: its label is the number of subdomains */
static PetscErrorCode FindLabels(const PC_DeflSub *ds, KCycleRows *rows, PetscInt label[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < rows->n; i++) label[i] = KCycleRowsIsIsolated(rows, i) ? ds->number : ds->label[i];
  for (PetscInt i = 0; i < rows->nghost; i++) label[rows->n + i] = ds->number;
  PetscCall(KCycleRowsExchange(rows, MPIU_INT, label, label + rows->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The subdomains that rows of this process touch, ascending; labels become their numbers */
static PetscErrorCode NumberSubdomains(PC_DeflSub *ds, PetscInt n, PetscInt label[])
{
  PetscHMapI map;
  PetscInt   last = -1, local = 0, used = 0;

  PetscFunctionBegin;
  PetscCall(PetscHMapICreate(&map));
  for (PetscInt i = 0; i < n; i++) {
    if (label[i] == last || label[i] == ds->number) continue;
    last = label[i];
    PetscCall(PetscHMapISet(map, last, 0));
  }
  PetscCall(PetscHMapIGetSize(map, &ds->nlocal));
  PetscCall(PetscMalloc1(ds->nlocal, &ds->global));
  PetscCall(PetscHMapIGetKeys(map, &used, ds->global));
  PetscCall(PetscSortInt(ds->nlocal, ds->global));
  for (PetscInt i = 0; i < ds->nlocal; i++) PetscCall(PetscHMapISet(map, ds->global[i], i));
  PetscCall(PetscHMapISet(map, ds->number, ds->nlocal));
  last = -1;
  for (PetscInt i = 0; i < n; i++) {
    if (label[i] != last) {
      last = label[i];
      PetscCall(PetscHMapIGet(map, last, &local));
    }
    label[i] = local;
  }
  PetscCall(PetscHMapIDestroy(&map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The list of a subdomain's pairs is short: as many as it has neighbours */
static PetscErrorCode FindPair(Entries *e, PetscInt own, PetscInt other, PetscInt *pair)
{
  PetscFunctionBegin;
  for (*pair = e->first[own]; *pair >= 0; *pair = e->pair[*pair].next) {
    if (e->pair[*pair].other == other) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KCycleGrow(e->npairs + 1, &e->maxpairs, sizeof(Pair), &e->pair));
  *pair          = e->npairs++;
  e->pair[*pair] = (Pair){own, other, 0, e->first[own]};
  e->first[own]  = *pair;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One more entry, or a part of the last one */
static PetscErrorCode AddEntry(Entries *e, PetscInt row, PetscInt begin, PetscInt own, PetscInt other,
                               PetscScalar value)
{
  PetscInt pair;

  PetscFunctionBegin;
  PetscCall(FindPair(e, own, other, &pair));
  for (PetscInt k = begin; k < e->nentries; k++) {
    if (e->entry[k].pair != pair) continue;
    e->entry[k].value += value;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KCycleGrow(e->nentries + 1, &e->maxentries, sizeof(Entry), &e->entry));
  e->entry[e->nentries++] = (Entry){pair, row, value};
  e->pair[pair].count++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sum of a row is what binds its point to the exterior. Rows of points inside subdomains, which most are, have no
   other entry */
static PetscErrorCode FindEntries(PC_DeflSub *ds, Entries *e)
{
  KCycleRows        *rows = e->rows;
  const PetscInt    *cols;
  const PetscScalar *values;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < rows->n; i++) {
    const PetscInt own = e->label[i], begin = e->nentries,
                   m = own == ds->nlocal ? 0 : KCycleRowsGet(rows, i, &cols, &values);
    PetscScalar sum  = 0;
    PetscReal   size = 0;

    for (PetscInt k = 0; k < m; k++) {
      const PetscInt other = e->label[cols[k]];

      sum += values[k];
      size += PetscAbsScalar(values[k]);
      if (other == own || values[k] == (PetscScalar)0.0) continue;
      if (other == ds->nlocal) e->onesided = PETSC_TRUE;
      PetscCall(AddEntry(e, i, begin, own, other, values[k]));
    }
    if (PetscAbsScalar(sum) > e->rounding * size) PetscCall(AddEntry(e, i, begin, own, ds->nlocal, -sum));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries sorted by pairs */
static PetscErrorCode SortEntries(PC_DeflSub *ds, Entries *e)
{
  PetscFunctionBegin;
  ds->npairs = e->npairs;
  PetscCall(PetscMalloc1(e->npairs, &ds->own));
  PetscCall(PetscMalloc1(e->npairs, &ds->other));
  PetscCall(PetscMalloc1(e->npairs + 1, &ds->start));
  PetscCall(PetscMalloc1(e->nentries, &ds->row));
  PetscCall(PetscMalloc1(e->nentries, &ds->value));
  ds->start[0] = 0;
  for (PetscInt p = 0; p < e->npairs; p++) {
    ds->own[p]       = e->pair[p].own;
    ds->other[p]     = e->pair[p].other;
    ds->start[p + 1] = ds->start[p] + e->pair[p].count;
    e->pair[p].count = ds->start[p];
  }
  for (PetscInt k = 0; k < e->nentries; k++) {
    const PetscInt to = e->pair[e->entry[k].pair].count++;

    ds->row[to]   = e->entry[k].row;
    ds->value[to] = e->entry[k].value;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* same: they are those of the last set-up */
static PetscErrorCode MakeRuns(PC_DeflSub *ds, const PetscInt label[], PetscBool *same)
{
  PetscInt *run = ds->run, *runlabel = ds->runlabel, nruns = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < ds->n; i++) nruns += i == 0 || label[i] != label[i - 1];
  *same     = (PetscBool)(run && nruns == ds->nruns);
  ds->nruns = 0;
  PetscCall(PetscMalloc1(nruns + 1, &ds->run));
  PetscCall(PetscMalloc1(nruns, &ds->runlabel));
  for (PetscInt i = 0; i < ds->n; i++) {
    if (i && label[i] == label[i - 1]) continue;
    ds->run[ds->nruns]        = i;
    ds->runlabel[ds->nruns++] = label[i];
  }
  ds->run[nruns] = ds->n;
  if (*same) PetscCall(PetscArraycmp(run, ds->run, nruns + 1, same));
  if (*same) PetscCall(PetscArraycmp(runlabel, ds->runlabel, nruns, same));
  PetscCall(PetscFree(run));
  PetscCall(PetscFree(runlabel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ChooseRounding(PC pc, PetscReal *rounding)
{
  MatNullSpace nullspace;
  PetscBool    constant = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(PCDeflSubOperator(pc), &nullspace));
  if (nullspace) PetscCall(MatNullSpaceGetVecs(nullspace, &constant, NULL, NULL));
  *rounding = constant ? KC_DEFLSUB_ATTACHED : KC_DEFLSUB_ROUNDING;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are pairs those of the last set-up? And is the operator found not to be symmetric? */
static PetscErrorCode CompareAll(PC pc, const Entries *e, PetscBool *same)
{
  PC_DeflSub *ds = (PC_DeflSub *)pc->data;
  PetscBool   equal;
  int         here[2], all[2];

  PetscFunctionBegin;
  equal = (PetscBool)(*same && ds->npairs == e->npairs);
  for (PetscInt p = 0; equal && p < e->npairs; p++)
    equal = (PetscBool)(ds->own[p] == e->pair[p].own && ds->other[p] == e->pair[p].other);
  here[0] = !equal;
  here[1] = e->onesided;
  PetscCallMPI(MPI_Allreduce(here, all, 2, MPI_INT, MPI_LOR, PetscObjectComm((PetscObject)pc)));
  *same        = (PetscBool)!all[0];
  ds->onesided = (PetscBool)all[1];
  if (ds->onesided)
    PetscCall(PetscInfo(pc,
                        "The operator is not symmetric: points are coupled to isolated ones, Dirichlet points for "
                        "instance. KSPCG needs these columns eliminated, with MatZeroRowsColumns() for instance\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Z and A Z from labels. same: labels are those of the last set-up; afterwards: so is the pattern of E */
PetscErrorCode PCDeflSubSpaceCreate(PC pc, KCycleRows *rows, PetscBool *same)
{
  PC_DeflSub *ds     = (PC_DeflSub *)pc->data;
  PetscInt   *global = ds->global;
  PetscBool   runs;
  Entries     e;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&e, sizeof(e)));
  e.rows = rows;
  PetscCall(ChooseRounding(pc, &e.rounding));
  PetscCall(PetscMalloc1(rows->n + rows->nghost, &e.label));
  PetscCall(FindLabels(ds, rows, e.label));
  PetscCall(NumberSubdomains(ds, rows->n + rows->nghost, e.label));
  PetscCall(PetscFree(global));
  PetscCall(PetscMalloc1(ds->nlocal, &e.first));
  for (PetscInt i = 0; i < ds->nlocal; i++) e.first[i] = -1;
  PetscCall(FindEntries(ds, &e));
  PetscCall(CompareAll(pc, &e, same));
  PetscCall(ResetEntries(ds));
  PetscCall(SortEntries(ds, &e));
  PetscCall(MakeRuns(ds, e.label, &runs));
  PetscCall(PCDeflSubDeviceSetUp(pc, runs));
  PetscCall(PetscFree(e.label));
  PetscCall(PetscFree(e.first));
  PetscCall(PetscFree(e.pair));
  PetscCall(PetscFree(e.entry));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a = Z^T x, the part of this process */
void PCDeflSubZT(const PC_DeflSub *ds, const PetscScalar *x, PetscScalar *a)
{
  for (PetscInt l = 0; l <= ds->nlocal; l++) a[l] = 0;
  for (PetscInt r = 0; r < ds->nruns; r++) {
    PetscScalar sum = 0;

    for (PetscInt i = ds->run[r]; i < ds->run[r + 1]; i++) sum += x[i];
    a[ds->runlabel[r]] += sum;
  }
}

/* x += Z a */
void PCDeflSubZ(const PC_DeflSub *ds, const PetscScalar *a, PetscScalar *x)
{
  for (PetscInt r = 0; r < ds->nruns; r++) {
    const PetscScalar add = a[ds->runlabel[r]];

    for (PetscInt i = ds->run[r]; i < ds->run[r + 1]; i++) x[i] += add;
  }
}

/* x -= A Z a */
void PCDeflSubAZ(const PC_DeflSub *ds, const PetscScalar *a, PetscScalar *x)
{
  for (PetscInt p = 0; p < ds->npairs; p++) {
    const PetscScalar difference = a[ds->own[p]] - a[ds->other[p]];

    for (PetscInt k = ds->start[p]; k < ds->start[p + 1]; k++) x[ds->row[k]] += ds->value[k] * difference;
  }
}

/* a = (A Z)^T x, the part of this process */
void PCDeflSubAZT(const PC_DeflSub *ds, const PetscScalar *x, PetscScalar *a)
{
  for (PetscInt l = 0; l <= ds->nlocal; l++) a[l] = 0;
  for (PetscInt p = 0; p < ds->npairs; p++) {
    PetscScalar sum = 0;

    for (PetscInt k = ds->start[p]; k < ds->start[p + 1]; k++) sum += PetscConj(ds->value[k]) * x[ds->row[k]];
    a[ds->own[p]] -= sum;
    a[ds->other[p]] += sum;
  }
}
