/*
  Chebyshev semi-iteration for the upper part of the spectrum of D^-1 A: from the bound of its eigenvalues by
  Gershgorin's circles down to 1 / (4 d) of it in d dimensions.
*/
#include <petsckcycle/private/smootherimpl.h>

typedef struct {
  KCScalar *diagonal; /* its inverse */
  KCScalar *d;        /* the last change of x */
  KCScalar *line;     /* for each thread */
} Chebyshev;

typedef struct {
  const Chebyshev     *chebyshev;
  const KCycleStencil *st;
  const KCScalar      *b;
  KCScalar            *x;
} Sweep;

/* d <- keep d + add D^-1 (b - A x); zeroguess: x counts as zero, and d before as nothing */
static void Direction(const Sweep *sweep, PetscReal keep, PetscReal add, PetscBool zeroguess)
{
  const KCycleBox *box  = sweep->st->box;
  KCScalar        *line = sweep->chebyshev->line + KCycleThread() * box->n[0];
  PetscInt         first, end;
  KCycleLine       l;

  KCycleShare(0, box->nlines, &first, &end);
  for (PetscInt i = first; i < end; i++) {
    const PetscInt  at = i * box->n[0];
    const KCScalar *r = zeroguess ? sweep->b + at : line, *diagonal = sweep->chebyshev->diagonal + at;
    KCScalar       *d = sweep->chebyshev->d + at;

    if (!zeroguess) {
      KCycleLineGather(sweep->st, sweep->x, sweep->st->halo, i % box->n[1], i / box->n[1], &l);
      KCycleLineCompute(&sweep->st->shape, KC_RESIDUAL, &l, sweep->b + at, NULL, line);
    }
    for (PetscInt p = 0; p < box->n[0]; p++)
      d[p] = (keep == 0 ? (KCScalar)0.0 : keep * d[p]) + add * (diagonal[p] * r[p]);
  }
}

/* x <- x + d; zeroguess: x <- d */
static void Correct(const Sweep *sweep, PetscBool zeroguess)
{
  const KCScalar *d = sweep->chebyshev->d;
  KCScalar       *x = sweep->x;
  PetscInt        first, end;

  KCycleShare(0, sweep->st->box->npoints, &first, &end);
  for (PetscInt p = first; p < end; p++) x[p] = zeroguess ? d[p] : x[p] + d[p];
}

static PetscErrorCode Step(const Sweep *sweep, PetscReal keep, PetscReal add, PetscBool zeroguess)
{
  const KCycleStencil *st = sweep->st;

  PetscFunctionBegin;
  if (!zeroguess) PetscCall(KCycleBoxExchange(st->box, (PetscBool)(st->shape.box != 0), sweep->x, st->halo));
  KC_PARALLEL(st->box->npoints)
  Direction(sweep, keep, add, zeroguess);
  KC_PARALLEL(st->box->npoints)
  Correct(sweep, zeroguess);
  PetscCall(PetscLogFlops(((zeroguess ? 0 : 2.0 * st->shape.ncoeffs) + 4) * st->box->npoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Sweeps(KCycleSmoother *s, const KCycleSweeps *sweeps, const KCScalar *b, KCScalar *x)
{
  const Chebyshev     *chebyshev = (Chebyshev *)s->data;
  const KCycleStencil *st        = s->st;
  const PetscReal upper = s->upper, lower = upper / (KCYCLE_CHEBYSHEV_PART * st->box->dim), theta = (upper + lower) / 2,
                  delta = (upper - lower) / 2, sigma = theta / delta;
  const Sweep sweep = {chebyshev, st, b, x};

  PetscFunctionBegin;
  for (PetscInt i = 0; i < sweeps->its; i++) {
    PetscReal rho = 1 / sigma;

    PetscCall(Step(&sweep, 0, 1 / theta, (PetscBool)(sweeps->zeroguess && i == 0)));
    for (PetscInt k = 1; k < s->degree; k++) {
      const PetscReal next = 1 / (2 * sigma - rho);

      PetscCall(Step(&sweep, rho * next, 2 * next / delta, PETSC_FALSE));
      rho = next;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUp(KCycleSmoother *s)
{
  Chebyshev       *chebyshev = (Chebyshev *)s->data;
  const KCycleBox *box       = s->st->box;

  PetscFunctionBegin;
  s->upper = s->facts->bound;
  s->trips = (int)s->degree;
  PetscCall(PetscMalloc2(box->npoints, &chebyshev->diagonal, box->npoints, &chebyshev->d));
  PetscCall(PetscMalloc1((size_t)KCycleThreadsMost() * box->n[0], &chebyshev->line));
  KCycleStencilDiagonal(s->st, chebyshev->diagonal);
  for (PetscInt p = 0; p < box->npoints; p++) {
    KCScalar *d = &chebyshev->diagonal[p];

    *d = *d == (KCScalar)0.0 ? (KCScalar)0.0 : (KCScalar)1.0 / *d;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View(const KCycleSmoother *s, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  degree %" PetscInt_FMT ", eigenvalues up to %g\n", s->degree,
                                   (double)s->upper));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(KCycleSmoother *s)
{
  Chebyshev *chebyshev = (Chebyshev *)s->data;

  PetscFunctionBegin;
  PetscCall(PetscFree2(chebyshev->diagonal, chebyshev->d));
  PetscCall(PetscFree(chebyshev->line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSmootherCreate_Chebyshev(KCycleSmoother *s)
{
  Chebyshev *chebyshev;

  PetscFunctionBegin;
  PetscCall(PetscNew(&chebyshev));
  s->data        = chebyshev;
  s->kind        = KCYCLE_SWEEPS_CHEBYSHEV;
  s->whole       = PETSC_TRUE;
  s->ops.setup   = SetUp;
  s->ops.sweeps  = Sweeps;
  s->ops.view    = View;
  s->ops.destroy = Destroy;
  PetscFunctionReturn(PETSC_SUCCESS);
}
