/*
  Boxes cut along interfaces, found from the strength of couplings.

  A coupling w_ij is strong if it is not much weaker than the strongest ones of both its points. Where coefficients
  jump, couplings of the weak side are much weaker than those of points on the strong side, so that the cut goes between
  them; points of the weak side that a mean of coefficients ties to the strong side belong to it. Points of a box that
  are connected by strong couplings are a subdomain. Small ones that a side of a box has cut off join the rest of their
  body in the next box.

  A small jump is told from what else differs by being sharp: the coupling is weak for one of its points, and strong for
  the other, and no coupling of the two differs more. A mean differs from the stronger of two coefficients by less than
  from the weaker, or the other way round, so that the cut goes on one side of it, at every contrast on the same one.
  Anisotropy that changes within the grid makes couplings weak for both points.

  Couplings in one direction are measured by their mean, so that anisotropy is no jump.
*/
#include "deflsubimpl.h"

/* Pieces of less than this part of a box join others that they are strongly coupled to */
#define KC_DEFLSUB_SMALL  16
/* Number of subdomains for each box from which on the smallest ones of a box are one */
#define KC_DEFLSUB_MANY   4
/* Couplings that differ by more than this factor, or that of a jump if it is larger, need not do so sharply */
#define KC_DEFLSUB_ANY    KCYCLE_JUMP
/* Means are taken over every so-manyth line of the grid */
#define KC_DEFLSUB_SAMPLE 8

typedef struct {
  KCycleRows             *rows;
  const KCycleSubdomains *sub;
  PetscReal               jump, any;
  PetscInt               *natural, *box; /* of points and ghosts */
  PetscReal              *strongest;     /* coupling of points and ghosts; or */
  PetscReal              *coefficient;   /* given */
  /* largest factor between couplings at points and ghosts, if it is larger than that of a jump */
  PetscReal              *gap;
  PetscBool               isotropic;
  /* of couplings in each direction: bit 0: x differs, bit 1: y, bit 2: z */
  PetscReal               scale[8];
  PetscInt                difference[64], direction[64]; /* of the entries of the row that was looked at last */
  PetscInt                ncross, maxcross, *cross;
  KCyclePieces           *pieces;
} Cut;

/* Which coordinates differ */
static PetscInt Direction(const PetscInt size[], PetscInt a, PetscInt b)
{
  const PetscInt aline = a / size[0], bline = b / size[0];

  return (a % size[0] != b % size[0]) + 2 * (aline % size[1] != bline % size[1]) +
         4 * (aline / size[1] != bline / size[1]);
}

/* Direction of entry k of a row; rows that follow each other mostly have the same */
static PetscInt DirectionOf(Cut *c, PetscInt k, PetscInt row, PetscInt col)
{
  const PetscInt difference = c->natural[col] - c->natural[row], slot = k % 64;

  if (c->difference[slot] != difference) {
    c->difference[slot] = difference;
    c->direction[slot]  = Direction(c->sub->grid->size, c->natural[row], c->natural[col]);
  }
  return c->direction[slot];
}

static PetscReal Coupling(Cut *c, PetscInt k, PetscInt row, PetscInt col, PetscScalar value)
{
  const PetscReal w = PetscAbsScalar(value);

  return c->isotropic ? w : w * c->scale[DirectionOf(c, k, row, col)];
}

/* How much weaker a coupling is than the strongest one of its points */
static PetscReal Gap(const Cut *c, PetscInt row, PetscInt col, PetscReal w)
{
  return PetscMax(c->strongest[row], c->strongest[col]) / w;
}

/* Is it strong for one of its points, and does no coupling of the two differ more? */
static PetscBool IsSharp(const Cut *c, PetscInt row, PetscInt col, PetscReal w)
{
  return (PetscBool)(w * c->jump >= PetscMin(c->strongest[row], c->strongest[col]) &&
                     1.01 * Gap(c, row, col, w) >= PetscMax(c->gap[row], c->gap[col]));
}

static inline PetscBool IsStrong(const Cut *c, PetscInt row, PetscInt col, PetscReal w)
{
  if (!(w > 0) || !(c->strongest[col] > 0)) return PETSC_FALSE;
  if (c->coefficient) {
    const PetscReal a = c->coefficient[row], b = c->coefficient[col];

    return (PetscBool)(a <= c->jump * b && b <= c->jump * a);
  }
  if (w * c->jump >= PetscMax(c->strongest[row], c->strongest[col])) return PETSC_TRUE;
  return (PetscBool)(w * c->any >= PetscMax(c->strongest[row], c->strongest[col]) && !IsSharp(c, row, col, w));
}

static PetscErrorCode MeasureDirections(MPI_Comm comm, Cut *c)
{
  PetscReal          sum[16] = {0}, all[16], least = 0, most = 0;
  const PetscInt    *cols;
  const PetscScalar *values;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < c->rows->n; i++) {
    if (c->natural[i] / c->sub->grid->size[0] % KC_DEFLSUB_SAMPLE) continue;
    const PetscInt m = KCycleRowsGet(c->rows, i, &cols, &values);

    for (PetscInt k = 0; k < m; k++) {
      const PetscInt direction = DirectionOf(c, k, i, cols[k]);

      if (values[k] == (PetscScalar)0.0) continue;
      sum[direction] += PetscAbsScalar(values[k]);
      sum[8 + direction] += 1;
    }
  }
  PetscCallMPI(MPI_Allreduce(sum, all, 16, MPIU_REAL, MPIU_SUM, comm));
  for (int d = 1; d < 8; d++) {
    c->scale[d] = all[d] > 0 ? all[8 + d] / all[d] : 0;
    if (!(all[d] > 0)) continue;
    least = least > 0 ? PetscMin(least, c->scale[d]) : c->scale[d];
    most  = PetscMax(most, c->scale[d]);
  }
  c->scale[0]  = 0;
  c->isotropic = (PetscBool)(most <= 2 * least);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The strongest coupling of every point, and how much weaker its weakest is, if it is a jump; a point without any is
   in no piece */
static PetscErrorCode MeasurePoints(Cut *c)
{
  const PetscInt    *cols;
  const PetscScalar *values;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < c->rows->n; i++) {
    const PetscInt m    = KCycleRowsGet(c->rows, i, &cols, &values);
    PetscReal      most = 0, least = 0;

    for (PetscInt k = 0; k < m; k++) {
      const PetscReal w = cols[k] != i ? Coupling(c, k, i, cols[k], values[k]) : 0;

      if (w > 0 && (w < least || most == 0)) least = w;
      most = PetscMax(most, w);
    }
    c->strongest[i] = most;
    c->gap[i]       = most > c->jump * least ? most / least : 0;
    if (!(most > 0)) c->pieces->parent[i] = -1;
  }
  PetscCall(KCycleRowsExchange(c->rows, MPIU_REAL, c->strongest, c->strongest + c->rows->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A coupling that is much weaker than the strongest one of a point tells both its points */
static PetscErrorCode MeasureGaps(Cut *c)
{
  const PetscInt     n = c->rows->n;
  const PetscInt    *cols;
  const PetscScalar *values;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    if (c->gap[i] == 0) continue;
    const PetscInt m = KCycleRowsGet(c->rows, i, &cols, &values);

    for (PetscInt k = 0; k < m; k++) {
      const PetscInt  col = cols[k];
      const PetscReal w   = col != i ? Coupling(c, k, i, col, values[k]) : 0;

      if (!(w > 0) || PetscMax(c->strongest[i], c->strongest[col]) <= c->jump * w) continue;
      c->gap[i]   = PetscMax(c->gap[i], Gap(c, i, col, w));
      c->gap[col] = PetscMax(c->gap[col], Gap(c, i, col, w));
    }
  }
  PetscCall(PetscSFReduceBegin(c->rows->sf, MPIU_REAL, c->gap + n, c->gap, MPIU_MAX));
  PetscCall(PetscSFReduceEnd(c->rows->sf, MPIU_REAL, c->gap + n, c->gap, MPIU_MAX));
  PetscCall(KCycleRowsExchange(c->rows, MPIU_REAL, c->gap, c->gap + c->rows->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Joins a point with those before it in its box, and notes strong couplings with ghosts */
static PetscErrorCode JoinPoint(Cut *c, PetscInt i)
{
  const PetscInt     n = c->rows->n, box = c->box[i];
  PetscInt          *parent = c->pieces->parent, root = i;
  const PetscInt    *cols;
  const PetscScalar *values;
  const PetscInt     m = KCycleRowsGet(c->rows, i, &cols, &values);

  PetscFunctionBegin;
  for (PetscInt k = 0; k < m; k++) {
    const PetscInt col = cols[k];
    PetscInt       other;

    if ((col >= i && col < n) || c->box[col] != box || !IsStrong(c, i, col, Coupling(c, k, i, col, values[k])))
      continue;
    if (col >= n) {
      PetscCall(KCycleGrow(2 * c->ncross + 2, &c->maxcross, sizeof(PetscInt), &c->cross));
      c->cross[2 * c->ncross]       = i;
      c->cross[2 * c->ncross++ + 1] = col;
      continue;
    }
    other = KCycleRoot(parent, col);
    if (other < root) parent[root] = other;
    else parent[other] = root;
    root = PetscMin(root, other);
  }
  if (parent[i] >= 0) parent[i] = root;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The strongest coupling of each small piece with one in another box; or, with choice, that other piece. list:
   points of small pieces */
static void LookAround(Cut *c, PetscInt npoints, const PetscInt list[], PetscInt small, PetscReal best[],
                       PetscInt choice[])
{
  const KCyclePieces *p = c->pieces;
  const PetscInt     *cols;
  const PetscScalar  *values;

  for (PetscInt l = 0; l < npoints; l++) {
    const PetscInt i = list[l], piece = p->local[i];

    if (p->size[piece] >= small) continue;
    const PetscInt m = KCycleRowsGet(c->rows, i, &cols, &values);

    for (PetscInt k = 0; k < m; k++) {
      const PetscInt  other = KCyclePiecesIdAt(p, cols[k]);
      const PetscReal w     = Coupling(c, k, i, cols[k], values[k]);

      if (other < 0 || other == p->id[piece] || c->box[cols[k]] == c->box[i] || !IsStrong(c, i, cols[k], w)) continue;
      if (!choice) best[piece] = PetscMax(best[piece], w);
      else if (w == best[piece]) choice[piece] = PetscMin(choice[piece], other);
    }
  }
}

/* Points of small pieces */
static PetscErrorCode ListSmall(const KCyclePieces *p, PetscInt small, PetscInt *npoints, PetscInt **list)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(p->rows->n, list));
  *npoints = 0;
  for (PetscInt i = 0; i < p->rows->n; i++) {
    if (p->local[i] >= 0 && p->size[p->local[i]] < small) (*list)[(*npoints)++] = i;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pieces that a side of a box has cut off join the body that they are part of, as long as they are small */
static PetscErrorCode MergeSmall(Cut *c)
{
  KCyclePieces  *p     = c->pieces;
  const PetscInt small = (c->sub->npoints / c->sub->nboxes + KC_DEFLSUB_SMALL - 1) / KC_DEFLSUB_SMALL;
  PetscReal     *best;
  PetscInt      *choice, *list, npoints = 0;
  int            more = 1;

  PetscFunctionBegin;
  PetscCall(ListSmall(p, small, &npoints, &list));
  PetscCall(PetscMalloc2(p->nlocal, &best, p->nlocal, &choice));
  for (int round = 0; round < 10 && more; round++) {
    int chose = 0;

    for (PetscInt l = 0; l < p->nlocal; l++) {
      best[l]   = 0;
      choice[l] = PETSC_INT_MAX;
    }
    LookAround(c, npoints, list, small, best, NULL);
    for (PetscInt l = 0; l < p->nlocal; l++) chose = chose || best[l] > 0;
    PetscCallMPI(MPI_Allreduce(&chose, &more, 1, MPI_INT, MPI_LOR, p->comm));
    if (!more) break;
    PetscCall(KCyclePiecesBest(p, best));
    LookAround(c, npoints, list, small, best, choice);
    PetscCall(KCyclePiecesMerge(p, choice));
  }
  PetscCall(PetscFree2(best, choice));
  PetscCall(PetscFree(list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CutCreate(PC pc, KCycleRows *rows, const KCycleSubdomains *sub, Cut *c)
{
  PC_DeflSub        *ds    = (PC_DeflSub *)pc->data;
  const PetscInt     total = rows->n + rows->nghost;
  const PetscScalar *values;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(c, sizeof(*c)));
  c->rows = rows;
  c->sub  = sub;
  c->jump = ds->jump;
  c->any  = PetscMax(ds->jump, KC_DEFLSUB_ANY);
  PetscCall(PetscMalloc4(total, &c->natural, total, &c->box, total, &c->strongest, total, &c->gap));
  for (PetscInt i = rows->n; i < total; i++) {
    c->natural[i] = c->box[i] = 0;
    c->strongest[i] = c->gap[i] = 0;
  }
  KCycleSubdomainsNatural(sub, c->natural);
  PetscCall(KCycleRowsExchange(rows, MPIU_INT, c->natural, c->natural + rows->n));
  KCycleSubdomainsBoxes(sub, c->box);
  PetscCall(KCycleRowsExchange(rows, MPIU_INT, c->box, c->box + rows->n));
  PetscCall(KCyclePiecesCreate(PetscObjectComm((PetscObject)pc), sub, rows, c->natural, c->box, &c->pieces));
  if (!ds->coefficient) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(ds->coefficient, &n));
  PetscCall(PCDeflSubCheckCount(pc, rows->n, n, "values of the coefficient"));
  PetscCall(PetscCalloc1(total, &c->coefficient));
  PetscCall(VecGetArrayRead(ds->coefficient, &values));
  for (PetscInt i = 0; i < n; i++) c->coefficient[i] = PetscAbsScalar(values[i]);
  PetscCall(VecRestoreArrayRead(ds->coefficient, &values));
  PetscCall(KCycleRowsExchange(rows, MPIU_REAL, c->coefficient, c->coefficient + rows->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Labels of boxes that are cut along interfaces; the same on any number of processes */
PetscErrorCode PCDeflSubCutInterface(PC pc, KCycleRows *rows, const KCycleSubdomains *sub, PetscInt label[],
                                     PetscInt *number)
{
  Cut c;

  PetscFunctionBegin;
  PetscCall(CutCreate(pc, rows, sub, &c));
  PetscCall(MeasureDirections(PetscObjectComm((PetscObject)pc), &c));
  PetscCall(MeasurePoints(&c));
  PetscCall(MeasureGaps(&c));
  for (PetscInt i = 0; i < rows->n; i++) PetscCall(JoinPoint(&c, i));
  PetscCall(KCyclePiecesFind(c.pieces, c.ncross, c.cross));
  PetscCall(MergeSmall(&c));
  PetscCall(KCyclePiecesBound(c.pieces, KC_DEFLSUB_MANY * sub->nboxes));
  PetscCall(KCyclePiecesNumber(c.pieces, label, number));
  PetscCall(KCyclePiecesDestroy(&c.pieces));
  PetscCall(PetscFree(c.cross));
  PetscCall(PetscFree(c.coefficient));
  PetscCall(PetscFree4(c.natural, c.box, c.strongest, c.gap));
  PetscFunctionReturn(PETSC_SUCCESS);
}
