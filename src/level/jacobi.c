/*
  Damped Jacobi.
*/
#include <petsckcycle/private/smootherimpl.h>

typedef struct {
  KCScalar *weights; /* the weight, for each point of a line */
  KCScalar *old;     /* two planes of x before a sweep */
} Jacobi;

typedef struct {
  const Jacobi        *jacobi;
  const KCycleStencil *st;
  const KCScalar      *b;
  KCScalar            *x;
} Sweep;

/* A Jacobi sweep in place: what the next plane still reads of this one is kept aside */
static void JacobiPlane(const Sweep *sweep, PetscInt t)
{
  const KCycleStencil *st     = sweep->st;
  const KCycleBox     *box    = st->box;
  const PetscInt       length = box->n[0] * KCycleLinesOfPlane(box);
  PetscInt             first, end;
  KCycleLine           l;

  KCycleShare(0, KCycleLinesOfPlane(box), &first, &end);
  memcpy(sweep->jacobi->old + (t & 1) * length + first * box->n[0], sweep->x + t * length + first * box->n[0],
         (end - first) * box->n[0] * sizeof(KCScalar));
  KC_BARRIER
  for (PetscInt i = first; i < end; i++) {
    const PetscInt j = box->dim == 3 ? i : t, k = box->dim == 3 ? t : 0, at = box->n[0] * (j + box->n[1] * k);

    KCycleLineGather(st, sweep->x, st->halo, j, k, &l);
    for (int q = 0; q < st->shape.nl; q++) {
      const PetscInt jj = j + st->shape.dy[q], kk = k + st->shape.dz[q], plane = box->dim == 3 ? kk : jj;

      if (box->offset[KCycleBoxExtended(box, jj, kk)] < 0 && plane <= t)
        l.x[q] = sweep->jacobi->old + (plane & 1) * length + (box->dim == 3 ? jj * box->n[0] : 0);
    }
    KCycleLineCompute(&st->shape, KC_RELAX, &l, sweep->b + at, sweep->jacobi->weights, sweep->x + at);
  }
  KC_BARRIER
}

static void JacobiFromZero(const Sweep *sweep)
{
  const KCycleBox *box = sweep->st->box;
  PetscInt         first, end;

  KCycleShare(0, box->nlines, &first, &end);
  for (PetscInt l = first; l < end; l++) {
    KCycleLine line;

    KCycleLineCoefficients(sweep->st, l % box->n[1], l / box->n[1], &line);
    KCycleLineScale(&sweep->st->shape, &line, sweep->b + l * box->n[0], sweep->jacobi->weights,
                    sweep->x + l * box->n[0]);
  }
}

static void JacobiPlanes(const Sweep *sweep)
{
  for (PetscInt t = 0; t < KCyclePlanes(sweep->st->box); t++) JacobiPlane(sweep, t);
}

static PetscErrorCode Sweeps(KCycleSmoother *s, const KCycleSweeps *sweeps, const KCScalar *b, KCScalar *x)
{
  const KCycleStencil *st    = s->st;
  const Sweep          sweep = {(Jacobi *)s->data, st, b, x};

  PetscFunctionBegin;
  PetscCall(KCycleSmootherLogFlops(s, sweeps));
  if (sweeps->zeroguess && sweeps->its > 0) {
    KC_PARALLEL(st->box->npoints)
    JacobiFromZero(&sweep);
  }
  for (PetscInt i = sweeps->zeroguess ? 1 : 0; i < sweeps->its; i++) {
    PetscCall(KCycleBoxExchange(st->box, (PetscBool)(st->shape.box != 0), x, st->halo));
    KC_PARALLEL(KCyclePointsOfPlane(st->box))
    JacobiPlanes(&sweep);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The damping is the best one for the upper part of the spectrum, from 1 / (2 d) of the bound on in d dimensions */
static PetscErrorCode SetUp(KCycleSmoother *s)
{
  Jacobi          *jacobi = (Jacobi *)s->data;
  const KCycleBox *box    = s->st->box;

  PetscFunctionBegin;
  s->weight = s->omega == 0 ? 2 / (s->facts->bound * (1 + 1 / (KCYCLE_JACOBI_PART * box->dim))) : s->omega;
  PetscCall(PetscMalloc1(box->n[0], &jacobi->weights));
  for (PetscInt i = 0; i < box->n[0]; i++) jacobi->weights[i] = s->weight;
  PetscCall(PetscMalloc1((size_t)2 * box->n[0] * KCycleLinesOfPlane(box), &jacobi->old));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(KCycleSmoother *s)
{
  Jacobi *jacobi = (Jacobi *)s->data;

  PetscFunctionBegin;
  PetscCall(PetscFree(jacobi->weights));
  PetscCall(PetscFree(jacobi->old));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSmootherCreate_Jacobi(KCycleSmoother *s)
{
  Jacobi *jacobi;

  PetscFunctionBegin;
  PetscCall(PetscNew(&jacobi));
  s->data        = jacobi;
  s->kind        = KCYCLE_SWEEPS_JACOBI;
  s->diagonal    = PETSC_TRUE;
  s->ops.setup   = SetUp;
  s->ops.sweeps  = Sweeps;
  s->ops.destroy = Destroy;
  PetscFunctionReturn(PETSC_SUCCESS);
}
