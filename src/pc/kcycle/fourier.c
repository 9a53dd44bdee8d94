/*
  Local Fourier analysis of the levels that there are: what fourier.c wants to know is read from their operators,
  weights and smoothers.
*/
#include <petsckcycle/private/fourierimpl.h>
#include "kcycleimpl.h"
#include <petsckcycle/private/relaximpl.h>
#include <petsckcycle/private/transferimpl.h>

/* This number of points at each end of a grid does not count */
#define MARGIN 2

/* Coefficients that differ by this part of the diagonal are the same */
#define SAME ((PetscReal)1e-8)

/* The owned points of a direction that are no ends */
static void Inner(const KCycleBox *box, int d, PetscInt *first, PetscInt *end)
{
  const PetscInt margin = box->periodic[d] || d >= box->dim ? 0 : MARGIN;

  *first = PetscMax(0, margin - box->start[d]);
  *end   = PetscMin(box->n[d], box->size[d] - margin - box->start[d]);
}

static void Coefficients(const KCycleShape *shape, const KCycleLine *l, PetscInt i, PetscReal a[27])
{
  for (int o = 0; o < 27; o++) a[o] = 0;
  for (int o = 0; o < shape->ncoeffs; o++)
    a[KCycleShapeOffset(shape, o)] = PetscRealPart(KCycleLineCoefficient(l, o, i));
}

/* Those in the middle of what the first process has that has any */
static PetscErrorCode TakeMiddle(MPI_Comm comm, const KCycleStencil *st, PetscReal a[27], PetscBool *found)
{
  PetscInt    at[3];
  PetscMPIInt rank, size, mine, from;
  KCycleLine  l;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  mine = rank;
  for (int d = 0; d < 3; d++) {
    PetscInt first, end;

    Inner(st->box, d, &first, &end);
    at[d] = (first + end) / 2;
    if (first >= end) mine = size;
  }
  PetscCallMPI(MPI_Allreduce(&mine, &from, 1, MPI_INT, MPI_MIN, comm));
  *found = (PetscBool)(from < size);
  if (!*found) PetscFunctionReturn(PETSC_SUCCESS);
  if (rank == from) {
    KCycleLineCoefficients(st, at[1], at[2], &l);
    Coefficients(&st->shape, &l, at[0], a);
  }
  PetscCallMPI(MPI_Bcast(a, 27, MPIU_REAL, from, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are all inner points coupled in this way? Lines that share their coefficients are looked at once */
static PetscErrorCode IsConstant(MPI_Comm comm, const KCycleStencil *st, const PetscReal a[27], PetscBool *constant)
{
  PetscInt  first[3], end[3];
  PetscBool same = PETSC_TRUE;
  PetscReal here[27];
  int       mine, all;

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) Inner(st->box, d, &first[d], &end[d]);
  for (PetscInt k = first[2]; k < end[2] && same; k++) {
    PetscInt last = -1;

    for (PetscInt j = first[1]; j < end[1] && same; j++) {
      const PetscInt set = KCycleClassOf(st, j, k);
      KCycleLine     l;

      if (set >= 0 && set == last) continue;
      last = set;
      KCycleLineCoefficients(st, j, k, &l);
      for (PetscInt i = first[0]; i < end[0] && same; i++) {
        Coefficients(&st->shape, &l, i, here);
        for (int o = 0; o < 27; o++)
          same = (PetscBool)(same && PetscAbsReal(here[o] - a[o]) <= SAME * PetscAbsReal(a[13]));
      }
    }
  }
  mine = same;
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, comm));
  *constant = (PetscBool)(all != 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A coarse point of this process all of whose fine neighbours are its own, the coarse ones around them, too */
static PetscBool FindCoarse(const KCycleTransfer *tr, PetscInt at[], PetscInt fine[])
{
  for (int d = 0; d < 3; d++) {
    const PetscInt width = d < tr->fine->dim ? 2 : 0;

    at[d]   = tr->coarse->n[d] / 2;
    fine[d] = tr->factor[d] * at[d] + tr->shift[d];
    if (at[d] >= tr->coarse->n[d] || fine[d] < width || fine[d] + width >= tr->fine->n[d]) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* What a correction of 1 at one coarse point becomes */
static PetscErrorCode TakeWeights(MPI_Comm comm, const KCycleTransfer *tr, PetscReal p[27], PetscBool *found)
{
  const PetscInt *n = tr->fine->n;
  PetscInt        at[3], fine[3];
  PetscScalar    *e, *x;
  PetscMPIInt     rank, size, mine, from;
  PetscBool       has = FindCoarse(tr, at, fine);

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  mine = has ? rank : size;
  PetscCallMPI(MPI_Allreduce(&mine, &from, 1, MPI_INT, MPI_MIN, comm));
  *found = (PetscBool)(from < size);
  if (!*found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc2(tr->coarse->npoints, &e, tr->fine->npoints, &x));
  if (rank == from) e[at[0] + tr->coarse->n[0] * (at[1] + tr->coarse->n[1] * at[2])] = 1;
  PetscCall(KCycleTransferInterpolate(tr, e, PETSC_FALSE, x));
  for (int o = 0; o < 27 && rank == from; o++) {
    const PetscInt to[3] = {fine[0] + o % 3 - 1, fine[1] + o / 3 % 3 - 1, fine[2] + o / 9 - 1};
    PetscBool      in    = PETSC_TRUE;

    for (int d = 0; d < 3; d++) in = (PetscBool)(in && to[d] >= 0 && to[d] < n[d]);
    p[o] = in ? PetscRealPart(x[to[0] + n[0] * (to[1] + n[1] * to[2])]) : 0;
  }
  PetscCallMPI(MPI_Bcast(p, 27, MPIU_REAL, from, comm));
  PetscCall(PetscFree2(e, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void TakeLines(const KCycleSmoother *s, KCycleFourierLevel *level)
{
  const PetscInt dim = s->st->box->dim;

  level->kind        = KCYCLE_FOURIER_LINES;
  level->linecolours = dim == 3 && s->st->shape.box && !s->st->shape.flat ? 4 : 2;
  level->nlines      = 0;
  if (!strcmp(s->name, PC_RELAX_ALTERNATING)) {
    const char *wanted = s->directions[0] ? s->directions : dim == 1 ? "x" : dim == 2 ? "xy" : "xyz";

    for (; *wanted && level->nlines < 3; wanted++) level->along[level->nlines++] = *wanted - 'x';
  } else {
    for (int d = 0; d < 3; d++) {
      if (s->along[d]) level->along[level->nlines++] = d;
    }
  }
}

/* false: it is none of those that are analysed */
static PetscBool TakeSmoother(const KCycleSmoother *s, KCycleFourierLevel *level)
{
  const PetscReal part = KCYCLE_CHEBYSHEV_PART * (PetscReal)s->st->box->dim;

  level->nterms    = 1;
  level->keep[0]   = 0;
  level->weight[0] = s->weight;
  switch (s->kind) {
  case KCYCLE_SWEEPS_JACOBI:
    level->kind = KCYCLE_FOURIER_POLYNOMIAL;
    return PETSC_TRUE;
  case KCYCLE_SWEEPS_CHEBYSHEV:
    if (s->degree > KCYCLE_FOURIER_TERMS) return PETSC_FALSE;
    KCycleFourierChebyshev(level, (int)s->degree, s->upper, s->upper / part);
    return PETSC_TRUE;
  case KCYCLE_SWEEPS_REDBLACK:
    level->kind = KCYCLE_FOURIER_REDBLACK;
    return PETSC_TRUE;
  case KCYCLE_SWEEPS_COLOURS:
    level->kind = KCYCLE_FOURIER_COLOURS;
    return PETSC_TRUE;
  case KCYCLE_SWEEPS_ZEBRA:
    TakeLines(s, level);
    return PETSC_TRUE;
  default:
    return PETSC_FALSE;
  }
}

/* Level l, 0 being the finest one; coarsest: of those that are analysed. why: it cannot be, or empty */
static PetscErrorCode TakeLevel(PC pc, const PC_KCycle *kc, PetscInt l, PetscBool coarsest, KCycleFourierLevel *level,
                                size_t len, char why[])
{
  const KCycleLevelParts *parts = &kc->parts[kc->nlevels - 1 - l];
  const MPI_Comm          comm  = PetscObjectComm((PetscObject)pc);
  PetscBool               found, constant;

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) level->factor[d] = coarsest ? 1 : (int)kc->grids[l].factor[d];
  PetscCall(TakeMiddle(comm, parts->st, level->a, &found));
  if (found && !l) {
    PetscCall(IsConstant(comm, parts->st, level->a, &constant));
    if (!constant) PetscCall(PetscSNPrintf(why, len, "the coefficients vary"));
  }
  if (!found)
    PetscCall(PetscSNPrintf(why, len, "the grid of level %" PetscInt_FMT " is too small", kc->nlevels - 1 - l));
  else if (!why[0] && level->a[13] == 0) PetscCall(PetscSNPrintf(why, len, "the diagonal is zero"));
  if (why[0] || coarsest) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TakeWeights(comm, parts->tr, level->p, &found));
  if (!found)
    PetscCall(PetscSNPrintf(why, len, "the grid of level %" PetscInt_FMT " is too small", kc->nlevels - 1 - l));
  if (!why[0] && (!TakeSmoother(parts->smoother[0], level) || parts->smoother[0]->kind != parts->smoother[1]->kind))
    PetscCall(PetscSNPrintf(why, len, "there is no analysis of the smoother %s", parts->smoother[0]->name));
  for (int i = 0; i < 2; i++) {
    const KCycleSweeps sweeps = {1, PETSC_FALSE, (PetscBool)i, parts->order[i], 0, NULL};

    level->nu[i]   = (int)parts->its[i];
    level->both[i] = (PetscBool)(parts->order[i] == PC_RELAX_ORDER_SYMMETRIC);
    level->back[i] = KCycleSweepsBackward(&sweeps);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels on fewer processes follow the last one here, which is the finest one there; the first process has them */
static PetscErrorCode TakeGathered(PC pc, const PC_KCycle *kc, PetscInt most, KCycleFourier *f)
{
  KCycleFourier *rest;
  char           why[128] = "";

  PetscFunctionBegin;
  if (!kc->gathered.ours || f->nlevels >= most) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&rest));
  if (kc->gathered.pc) PetscCall(PCKCycleFourierTake(kc->gathered.pc, most - f->nlevels + 1, rest, sizeof(why), why));
  if (why[0]) rest->nlevels = 0;
  PetscCallMPI(MPI_Bcast(rest, (PetscMPIInt)sizeof(*rest), MPI_BYTE, 0, PetscObjectComm((PetscObject)pc)));
  for (int l = 0; l < rest->nlevels; l++) f->level[f->nlevels - 1 + l] = rest->level[l];
  f->nlevels += PetscMax(rest->nlevels - 1, 0);
  PetscCall(PetscFree(rest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The levels for fourier.c, as many of them as it takes, and at most `most`; or why not */
PetscErrorCode PCKCycleFourierTake(PC pc, PetscInt most, KCycleFourier *f, size_t len, char why[])
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(PetscMemzero(f, sizeof(*f)));
  why[0] = 0;
  if (!kc->use_structure) PetscCall(PetscSNPrintf(why, len, "levels are not structured"));
  else if (!kc->engine || !kc->parts) PetscCall(PetscSNPrintf(why, len, "levels are run by PCMG"));
  else if (kc->nlevels < 2) PetscCall(PetscSNPrintf(why, len, "there is a single level on these processes"));
  else if (((PC_MG *)pc->data)->am != PC_MG_MULTIPLICATIVE)
    PetscCall(PetscSNPrintf(why, len, "the type of multigrid is not multiplicative"));
  else if (kc->holes || kc->gaps) PetscCall(PetscSNPrintf(why, len, "the coefficients vary"));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  f->dim         = (int)kc->parts[kc->nlevels - 1].st->box->dim;
  f->nlevels     = (int)PetscMin(kc->nlevels, most);
  f->kappa       = (int)PetscMin(kc->kappa, KCYCLE_FOURIER_LEVELS);
  f->overcorrect = kc->parts[kc->nlevels - 1].factor;
  f->samples     = f->dim == 3 ? 4 : 6;
  for (int l = 0; l < f->nlevels && !why[0]; l++)
    PetscCall(TakeLevel(pc, kc, l, (PetscBool)(l == f->nlevels - 1), &f->level[l], len, why));
  for (int d = 0; d < f->dim; d++) f->step[d] = PETSC_PI / (PetscReal)(kc->parts[kc->nlevels - 1].st->box->size[d] + 1);
  if (!why[0]) PetscCall(TakeGathered(pc, kc, most, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}
