/*
  Chebyshev semi-iteration for the upper part of the spectrum of D^-1 A: from the bound of its eigenvalues by
  Gershgorin's circles down to 1 / (4 d) of it in d dimensions.
*/
#include <petsckcycle/private/smootherimpl.h>

static PetscErrorCode SetUp(KCycleSmoother *s)
{
  const PetscReal upper = KCyclePolynomialBound(s), lower = upper / (KCYCLE_CHEBYSHEV_PART * s->st->box->dim),
                  theta = (upper + lower) / 2, delta = (upper - lower) / 2, sigma = theta / delta;
  PetscReal   rho = 1 / sigma;
  KCycleTerm *term;

  PetscFunctionBegin;
  s->upper = upper;
  s->trips = (int)s->degree;
  PetscCall(KCyclePolynomialSetUp(s, s->degree, &term));
  term[0].keep   = 0;
  term[0].weight = (KCScalar)(1 / theta);
  for (PetscInt k = 1; k < s->degree; k++) {
    const PetscReal next = 1 / (2 * sigma - rho);

    term[k].keep   = (KCScalar)(rho * next);
    term[k].weight = (KCScalar)(2 * next / delta);
    rho            = next;
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

PetscErrorCode KCycleSmootherCreate_Chebyshev(KCycleSmoother *s)
{
  PetscFunctionBegin;
  PetscCall(KCyclePolynomialCreate(s));
  s->kind      = KCYCLE_SWEEPS_CHEBYSHEV;
  s->whole     = PETSC_TRUE;
  s->ops.setup = SetUp;
  s->ops.view  = View;
  PetscFunctionReturn(PETSC_SUCCESS);
}
