/*
  PCFASTPOISSON finds the operators M, D and W of each direction from the rows of the points on three lines of the grid
  through one point; see fastpoissonimpl.h.

  With the entries a of these rows, D = 1 at the point where the lines meet:

      D_x[i]   couplings in y or z of point i of the line in x, relative to those where the lines meet
      M_x      couplings in x of the line in x, divided by D_x; its diagonal is what the diagonal of A, divided by D_x,
               has more than where the lines meet, plus a constant that makes that row sum zero
      sigma    what remains of the diagonal of A where the lines meet
*/
#include "fastpoissonimpl.h"

#if defined(KCYCLE_HAVE_FASTPOISSON)

  /* Of two numbers that nothing but rounding makes different, in units of it */
  #define KC_ROUNDING (16 * PETSC_MACHINE_EPSILON)
  /* Couplings may differ by so much where coordinates have been subtracted */
  #define KC_INEXACT  1e-13

/* Rows of the points on the lines: of direction d, of its point i */
typedef struct {
  PetscReal *c[3];
} Profile;

static PetscBool IsOwned(const KCycleBox *box, const PetscInt at[])
{
  for (int d = 0; d < 3; d++) {
    if (at[d] < box->start[d] || at[d] >= box->start[d] + box->n[d]) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* A point in the middle; of two points, the one that has neighbours */
static PetscErrorCode FindMiddle(PC pc, KCycleFPRows *rows, KCycleFPFault *fault)
{
  PC_FastPoisson  *fp      = (PC_FastPoisson *)pc->data;
  const KCycleBox *box     = fp->box;
  PetscReal        mine[8] = {0}, sum[8];
  int              best    = 0;

  PetscFunctionBegin;
  for (int s = 0; s < 8; s++) {
    PetscInt  at[3];
    PetscReal c[KC_STAR];

    for (int d = 0; d < 3; d++) at[d] = box->size[d] == 2 ? s >> d & 1 : box->size[d] / 2;
    if (!IsOwned(box, at)) continue;
    PetscCall(KCycleFPRowsPoint(rows, at, c, fault));
    for (int q = 0; q < KC_STAR; q++) mine[s] += q != KC_STAR_DIAGONAL && c[q] != 0;
  }
  PetscCallMPI(MPI_Allreduce(mine, sum, 8, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)pc)));
  for (int s = 1; s < 8; s++) {
    if (sum[s] > sum[best]) best = s;
  }
  for (int d = 0; d < 3; d++) fp->ref[d] = box->size[d] == 2 ? best >> d & 1 : box->size[d] / 2;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProfileCreate(PC pc, KCycleFPRows *rows, Profile *p, KCycleFPFault *fault)
{
  PC_FastPoisson  *fp   = (PC_FastPoisson *)pc->data;
  const KCycleBox *box  = fp->box;
  const PetscInt  *size = box->size;
  PetscMPIInt      count;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(KC_STAR * (size[0] + size[1] + size[2]), &p->c[0]));
  p->c[1] = p->c[0] + KC_STAR * size[0];
  p->c[2] = p->c[1] + KC_STAR * size[1];
  for (int d = 0; d < 3; d++) {
    PetscInt at[3] = {fp->ref[0], fp->ref[1], fp->ref[2]};

    for (at[d] = 0; at[d] < size[d]; at[d]++) {
      if (IsOwned(box, at)) PetscCall(KCycleFPRowsPoint(rows, at, p->c[d] + KC_STAR * at[d], fault));
    }
  }
  PetscCall(PetscMPIIntCast(KC_STAR * (size[0] + size[1] + size[2]), &count));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, p->c[0], count, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool IsUncoupled(const PetscReal c[])
{
  for (int q = 0; q < KC_STAR; q++) {
    if (q != KC_STAR_DIAGONAL && c[q] != 0) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Without the stored Dirichlet points, whose rows have nothing but the diagonal; that may be all of them */
static PetscErrorCode FindCore(PC_FastPoisson *fp, const Profile *p)
{
  PetscFunctionBegin;
  fp->empty = (PetscBool)(KCycleBoxGlobalRows(fp->box) > 1 && IsUncoupled(p->c[0] + KC_STAR * fp->ref[0]));
  for (int d = 0; d < 3; d++) {
    KCycleFPDirection *dir  = &fp->dir[d];
    const PetscInt     size = fp->box->size[d];

    dir->size     = size;
    dir->periodic = (PetscBool)(fp->box->periodic[d] && size > 2);
    dir->lo       = 0;
    dir->n        = size;
    if (size > 1 && !fp->box->periodic[d]) {
      dir->lo = IsUncoupled(p->c[d]);
      dir->n -= dir->lo + IsUncoupled(p->c[d] + KC_STAR * (size - 1));
    }
    if (fp->empty) dir->n = 0;
    PetscCall(PetscCalloc5(dir->n, &dir->low, dir->n, &dir->mid, dir->n, &dir->up, dir->n, &dir->d, dir->n, &dir->w));
  }
  PetscCall(PCFastPoissonGridCreate(fp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* D, from the largest coupling in another direction */
static void FitWeights(PC_FastPoisson *fp, const Profile *p, int d, KCycleFPFault *fault)
{
  KCycleFPDirection *dir   = &fp->dir[d];
  const PetscReal   *ref   = p->c[d] + KC_STAR * fp->ref[d];
  PetscInt           at[3] = {fp->ref[0], fp->ref[1], fp->ref[2]};
  int                best  = -1;

  for (int q = 0; q < KC_STAR; q++) {
    if (q == KC_STAR_DIAGONAL || q == KC_STAR_OF(d, 0) || q == KC_STAR_OF(d, 1) || ref[q] == 0) continue;
    if (best < 0 || PetscAbsReal(ref[q]) > PetscAbsReal(ref[best])) best = q;
  }
  for (PetscInt i = 0; i < dir->n; i++) {
    const PetscReal *c = p->c[d] + KC_STAR * (dir->lo + i);

    dir->d[i] = best < 0 ? 1 : c[best] / ref[best];
    if (!(dir->d[i] > 0 && dir->d[i] < PETSC_MAX_REAL)) {
      at[d] = dir->lo + i;
      KCycleFPFaultNote(fault, KCycleBoxPointToRow(fp->box, at), KCycleFPColumn(fp->box, at, best), c[best], ref[best]);
      dir->d[i] = 1;
    }
  }
}

/* M; and do its rows add up to zero, as far as rounding lets one see? */
static void FitRows(PC_FastPoisson *fp, const Profile *p, int d)
{
  KCycleFPDirection *dir  = &fp->dir[d];
  const PetscReal   *ref  = p->c[d] + KC_STAR * fp->ref[d];
  const PetscReal    here = -(ref[KC_STAR_OF(d, 0)] + ref[KC_STAR_OF(d, 1)]);
  PetscInt           at;

  dir->closed = PETSC_TRUE;
  for (PetscInt i = 0; i < dir->n; i++) {
    const PetscReal *c = p->c[d] + KC_STAR * (dir->lo + i), diagonal = c[KC_STAR_DIAGONAL] / dir->d[i];

    dir->low[i] = c[KC_STAR_OF(d, 0)] / dir->d[i];
    dir->up[i]  = c[KC_STAR_OF(d, 1)] / dir->d[i];
    dir->mid[i] = here + (diagonal - ref[KC_STAR_DIAGONAL]);
    if (!(PetscAbsReal(dir->mid[i] + dir->low[i] + dir->up[i]) <=
          KC_ROUNDING * PetscMax(PetscAbsReal(diagonal), PetscAbsReal(ref[KC_STAR_DIAGONAL]))))
      dir->closed = PETSC_FALSE;
  }
  for (int side = 0; side < 2; side++) {
    if (KCycleFPFace(fp, d, side, &at) != 0) dir->closed = PETSC_FALSE;
  }
}

/* Which end a row has, from its coupling inwards and its diagonal */
static KCycleFPEnd FindEnd(const KCycleFPDirection *dir, PetscReal inner, PetscReal diagonal, PetscReal slack)
{
  const PetscReal c = dir->c, off = KC_INEXACT * PetscAbsReal(c);

  if (PetscAbsReal(inner + c) <= off) {
    if (PetscAbsReal(diagonal - 2 * c) <= slack) return KCYCLE_FP_DIRICHLET;
    if (PetscAbsReal(diagonal - 3 * c) <= slack) return KCYCLE_FP_DIRICHLET_HALF;
    if (PetscAbsReal(diagonal + inner) <= slack) return KCYCLE_FP_NEUMANN_HALF;
  } else if (PetscAbsReal(inner + 2 * c) <= 2 * off) {
    if (PetscAbsReal(diagonal + inner) <= slack) return KCYCLE_FP_NEUMANN;
  }
  return KCYCLE_FP_OTHER;
}

/* Is M a multiple of the second difference, but for its ends? Couplings may be as inexact as coordinates make them, row
   sums not */
void PCFastPoissonFitConstants(PC_FastPoisson *fp)
{
  for (int d = 0; d < 3; d++) {
    KCycleFPDirection *dir = &fp->dir[d];
    const PetscInt     n = dir->n, m = n / 2, skip = !dir->periodic;
    const PetscReal    slack = KC_ROUNDING * PetscAbsReal(fp->scale);

    dir->constant = (PetscBool)(n > 2);
    dir->end[0] = dir->end[1] = KCYCLE_FP_OTHER;
    if (n < 3) continue;
    dir->c = -dir->up[m < n - 1 ? m : 0];
    if (dir->c == 0) dir->constant = PETSC_FALSE;
    for (PetscInt i = 0; i < n && dir->constant; i++) {
      const PetscReal off = KC_INEXACT * PetscAbsReal(dir->c);

      /* Of end rows nothing but the coupling inwards and the diagonal may differ */
      if ((i > 0 || !skip) && !(i == n - 1 && skip) && !(PetscAbsReal(dir->low[i] + dir->c) <= off))
        dir->constant = PETSC_FALSE;
      if ((i < n - 1 || !skip) && !(i == 0 && skip) && !(PetscAbsReal(dir->up[i] + dir->c) <= off))
        dir->constant = PETSC_FALSE;
      if (i < skip || i >= n - skip) continue;
      if (!(PetscAbsReal(dir->mid[i] + dir->low[i] + dir->up[i]) <= slack)) dir->constant = PETSC_FALSE;
    }
    if (dir->constant && dir->periodic) dir->closed = PETSC_TRUE;
    if (!dir->constant || dir->periodic) continue;
    dir->end[0] = FindEnd(dir, dir->up[0], dir->mid[0], slack);
    dir->end[1] = FindEnd(dir, dir->low[n - 1], dir->mid[n - 1], slack);
    if (dir->end[0] == KCYCLE_FP_OTHER || dir->end[1] == KCYCLE_FP_OTHER) dir->constant = PETSC_FALSE;
    if (dir->constant)
      dir->closed = (PetscBool)(dir->end[0] >= KCYCLE_FP_NEUMANN_HALF && dir->end[1] >= KCYCLE_FP_NEUMANN_HALF);
  }
}

/* W, relative to the middle */
PetscErrorCode PCFastPoissonFitScaling(PC pc)
{
  PC_FastPoisson *fp = (PC_FastPoisson *)pc->data;

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) {
    KCycleFPDirection *dir  = &fp->dir[d];
    const PetscInt     n    = dir->n;
    PetscReal          most = 1, least = 1, w = 1;

    if (!n) continue;
    dir->w[0] = 1;
    for (PetscInt i = 0; i < n; i++) {
      const PetscInt  next = (i + 1) % n;
      const PetscReal up = dir->up[i], low = dir->low[next];

      if (i == n - 1 && !dir->periodic) break;
      PetscCheck(
          (up < 0 && low < 0) || (up > 0 && low > 0) || (up == 0 && low == 0), PetscObjectComm((PetscObject)pc),
          PETSC_ERR_SUP,
          "PCFASTPOISSON is for operators that scaling of rows makes symmetric: in direction %c points %" PetscInt_FMT
          " and %" PetscInt_FMT " are coupled by %g, and back by %g. Use -pc_type kcycle",
          "xyz"[d], dir -> lo + i, dir -> lo + next, (double)up, (double)low);
      if (up != 0) w *= up / low;
      if (next) {
        dir->w[next] = w;
        most         = PetscMax(most, w);
        least        = PetscMin(least, w);
      } else
        PetscCheck(PetscAbsReal(w - 1) <= n * KC_ROUNDING * (most / least), PetscObjectComm((PetscObject)pc),
                   PETSC_ERR_SUP,
                   "PCFASTPOISSON is for operators that scaling of rows makes symmetric: around the periodic direction "
                   "%c couplings one way have %g times the product of those the other way. Use -pc_type kcycle",
                   "xyz"[d], (double)w);
    }
    dir->spread = most / least;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator of the three lines; other rows are compared by PCFastPoissonCheck() */
PetscErrorCode PCFastPoissonFit(PC pc, KCycleFPRows *rows, KCycleFPFault *fault)
{
  PC_FastPoisson *fp = (PC_FastPoisson *)pc->data;
  Profile         p;

  PetscFunctionBegin;
  PetscCall(FindMiddle(pc, rows, fault));
  PetscCall(ProfileCreate(pc, rows, &p, fault));
  PetscCall(FindCore(fp, &p));
  fp->scale = p.c[0][KC_STAR * fp->ref[0] + KC_STAR_DIAGONAL];
  fp->sigma = fp->scale;
  for (int d = 0; d < 3; d++) {
    const PetscReal *ref = p.c[d] + KC_STAR * fp->ref[d];

    FitWeights(fp, &p, d, fault);
    FitRows(fp, &p, d);
    fp->sigma += ref[KC_STAR_OF(d, 0)] + ref[KC_STAR_OF(d, 1)];
  }
  if (PetscAbsReal(fp->sigma) <= KC_ROUNDING / 2 * PetscAbsReal(fp->scale)) fp->sigma = 0;
  PetscCall(PetscFree(p.c[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
