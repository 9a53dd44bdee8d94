/*
  Smoothers by polynomials in D^-1 A: a sweep is a list of steps, each of which relaxes all points from what they were
  before. A smoother says these steps; here they are done, in marches through the grid where one process has it, see
  march.c, else one by one, which gives the same numbers.
*/
#include "march.h"

typedef struct {
  PetscInt     nterms;
  KCycleTerm  *terms; /* of a sweep */
  KCycleMarch *march; /* or NULL: */
  KCScalar    *other; /* what x was before the last step, and what it becomes in the next one */
} Polynomial;

/* A step of the plain sweeps: from x and y, which it was before, to y */
typedef struct {
  const KCycleStencil *st;
  int                  step;
  PetscBool            zero; /* from zero */
  const KCycleTerm    *term;
  const KCScalar      *b, *x;
  KCScalar            *y;
} Plain;

static void PlainShare(const Plain *plain)
{
  const KCycleBox *box = plain->st->box;
  PetscInt         first, end;
  KCycleLine       l;

  KCycleShare(0, box->nlines, &first, &end);
  for (PetscInt i = first; i < end; i++) {
    const PetscInt  j = i % box->n[1], k = i / box->n[1], at = i * box->n[0];
    const KCScalar *b = plain->b + at;
    KCScalar       *y = plain->y + at;

    if (plain->zero) {
      KCycleLineCoefficients(plain->st, j, k, &l);
      KCycleAdvanceFirst(&plain->st->shape, &l, plain->term, b, y);
    } else {
      KCycleLineGather(plain->st, plain->x, plain->st->halo, j, k, &l);
      KCycleAdvanceLine(&plain->st->shape, plain->step, &l, plain->term, y, b, y);
    }
  }
}

static PetscErrorCode PlainStep(const Plain *plain)
{
  const KCycleStencil *st = plain->st;

  PetscFunctionBegin;
  if (!plain->zero) PetscCall(KCycleStencilExchange(st, plain->x));
  KC_PARALLEL(st->box->npoints)
  PlainShare(plain);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PlainSweeps(const KCycleSmoother *s, const KCycleSweeps *sweeps, const KCScalar *b, KCScalar *x)
{
  const Polynomial *p    = (Polynomial *)s->data;
  Plain             step = {s->st, KC_STEP_FIRST, sweeps->zeroguess, p->terms, b, x, sweeps->zeroguess ? x : p->other};
  PetscInt          done = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < sweeps->its; i++) {
    for (PetscInt k = 0; k < p->nterms; k++, done++) {
      KCScalar *from = step.y;

      if (done) { /* the step before has left x there */
        step.y    = from == x ? p->other : x;
        step.x    = from;
        step.zero = PETSC_FALSE;
      }
      step.term = &p->terms[k];
      step.step = !k ? KC_STEP_FIRST : sweeps->zeroguess && done == 1 ? KC_STEP_SECOND : KC_STEP_NEXT;
      PetscCall(PlainStep(&step));
    }
  }
  if (done && step.y != x) PetscCall(PetscArraycpy(x, p->other, s->st->box->npoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the next sweeps to a task, as many as go after each other; `which` of its numbers */
static void TakeSweeps(const Polynomial *p, KCycleMarchTask *task, int which, PetscInt *left)
{
  task->its[which] = PetscMin(*left, KCycleMarchSweeps(p->march));
  *left -= task->its[which];
}

/* The marches but the last one of these sweeps */
static PetscErrorCode FirstSweeps(const Polynomial *p, KCycleMarchTask *task, PetscInt *left)
{
  PetscFunctionBegin;
  TakeSweeps(p, task, 0, left);
  while (*left) {
    KCycleMarchTask first = *task;

    first.coarse = NULL;
    first.sum    = NULL;
    first.writes = PETSC_TRUE;
    PetscCall(KCycleMarchRun(p->march, &first));
    task->zeroguess = PETSC_FALSE;
    task->start     = NULL;
    TakeSweeps(p, task, 0, left);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MarchSweeps(const Polynomial *p, KCycleMarchTask *task, PetscInt its, PetscBool converts)
{
  PetscInt left = its;

  PetscFunctionBegin;
  PetscCall(FirstSweeps(p, task, &left));
  task->converts = converts;
  PetscCall(KCycleMarchRun(p->march, task));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Sweeps(KCycleSmoother *s, const KCycleSweeps *sweeps, const KCScalar *b, KCScalar *x)
{
  const Polynomial *p    = (Polynomial *)s->data;
  KCycleMarchTask   task = {b, x, sweeps->zeroguess, PETSC_TRUE, {0, 0}, NULL, NULL, NULL, NULL, PETSC_FALSE, NULL};

  PetscFunctionBegin;
  PetscCall(KCycleSmootherLogFlops(s, sweeps));
  if (!sweeps->its) PetscFunctionReturn(PETSC_SUCCESS);
  if (!p->march) PetscCall(PlainSweeps(s, sweeps, b, x));
  else PetscCall(MarchSweeps(p, &task, sweeps->its, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SmoothRestrict(KCycleSmoother *s, const KCycleSweeps *sweeps, const KCScalar *b, KCScalar *x,
                                     const KCycleTransfer *tr, KCScalar *coarse, PetscReal *sum)
{
  const Polynomial *p    = (Polynomial *)s->data;
  KCycleMarchTask   task = {b,      x,   sweeps->zeroguess, PETSC_FALSE,  {0, 0}, tr, NULL,
                            coarse, sum, PETSC_FALSE,       sweeps->start};
  PetscInt          left = sweeps->its;

  PetscFunctionBegin;
  PetscCall(KCycleSmootherLogFlops(s, sweeps));
  PetscCall(PetscLogFlops((2.0 * s->st->shape.ncoeffs + 5) * s->st->box->npoints));
  if (sweeps->zeroguess && !sweeps->its) {
    PetscCall(PetscArrayzero(x, s->st->box->npoints));
    task.zeroguess = PETSC_FALSE;
  }
  PetscCall(FirstSweeps(p, &task, &left));
  task.writes = (PetscBool)((task.its[0] || task.start) && !sweeps->unwritten);
  PetscCall(KCycleMarchRun(p->march, &task));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InterpolateSmooth(KCycleSmoother *s, const KCycleSweeps *sweeps, const KCycleTransfer *tr,
                                        const KCScalar *e, const KCScalar *b, KCScalar *x)
{
  const Polynomial *p    = (Polynomial *)s->data;
  KCycleMarchTask   task = {
        b,           x,   (PetscBool)(sweeps->unwritten > 0), PETSC_TRUE, {sweeps->unwritten, 0}, tr, e, NULL, NULL,
        PETSC_FALSE, NULL};
  const PetscBool converts = (PetscBool)(s->vectors && s->vectors->to);
  PetscInt        left     = sweeps->its;

  PetscFunctionBegin;
  PetscCall(KCycleSmootherLogFlops(s, sweeps));
  TakeSweeps(p, &task, 1, &left);
  task.converts = (PetscBool)(converts && !left);
  PetscCall(KCycleMarchRun(p->march, &task));
  if (left) {
    KCycleMarchTask rest = {b, x, PETSC_FALSE, PETSC_TRUE, {0, 0}, NULL, NULL, NULL, NULL, PETSC_FALSE, NULL};

    PetscCall(MarchSweeps(p, &rest, left, converts));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is x of `its` sweeps from zero computed again sooner than written and read? It is where that takes one product with
   A at most */
static PetscBool Repeats(const KCycleSmoother *s, PetscInt its)
{
  const Polynomial *p = (Polynomial *)s->data;

  return (PetscBool)(p->march && its > 0 && its * p->nterms <= 2);
}

static PetscInt Trips(const KCycleSmoother *s, const KCycleSweeps *sweeps, PetscBool rides)
{
  const Polynomial *p    = (Polynomial *)s->data;
  const PetscInt    most = p->march ? KCycleMarchSweeps(p->march) : 1;

  if (!p->march) return p->nterms * sweeps->its;
  return PetscMax((sweeps->its + most - 1) / most, rides ? 1 : 0);
}

static PetscErrorCode Renew(KCycleSmoother *s)
{
  const Polynomial *p = (Polynomial *)s->data;

  PetscFunctionBegin;
  if (p->march) PetscCall(KCycleMarchRenew(p->march));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(KCycleSmoother *s)
{
  Polynomial *p = (Polynomial *)s->data;

  PetscFunctionBegin;
  PetscCall(KCycleMarchDestroy(&p->march));
  PetscCall(PetscFree(p->terms));
  PetscCall(PetscFree(p->other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The bound of the eigenvalues without its last digits, which depend on how processes share the grid */
PetscReal KCyclePolynomialBound(const KCycleSmoother *s)
{
  const PetscReal bound = s->facts->bound, large = 64 * bound;

  return (bound + large) - large;
}

/* For a smoother's set-up: a sweep has nterms terms, which it fills in */
PetscErrorCode KCyclePolynomialSetUp(KCycleSmoother *s, PetscInt nterms, KCycleTerm *terms[])
{
  Polynomial *p = (Polynomial *)s->data;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nterms, &p->terms));
  p->nterms = nterms;
  *terms    = p->terms;
  PetscCall(KCycleMarchCreate(s->st, s->vectors, nterms, p->terms, &p->march));
  s->planes  = (PetscBool)(p->march != NULL);
  s->inparts = (PetscBool)(p->march && s->vectors);
  s->starts  = s->planes;
  if (!p->march) PetscCall(PetscMalloc1(s->st->box->npoints, &p->other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a sweep */
const KCycleTerm *KCyclePolynomialTerms(const KCycleSmoother *s, PetscInt *nterms)
{
  const Polynomial *p = (const Polynomial *)s->data;

  *nterms = p->nterms;
  return p->terms;
}

/* For the function that makes the smoother */
PetscErrorCode KCyclePolynomialCreate(KCycleSmoother *s)
{
  Polynomial *p;

  PetscFunctionBegin;
  PetscCall(PetscNew(&p));
  s->data                  = p;
  s->ops.sweeps            = Sweeps;
  s->ops.smoothrestrict    = SmoothRestrict;
  s->ops.interpolatesmooth = InterpolateSmooth;
  s->ops.repeats           = Repeats;
  s->ops.trips             = Trips;
  s->ops.tile              = Renew;
  s->ops.destroy           = Destroy;
  PetscFunctionReturn(PETSC_SUCCESS);
}
