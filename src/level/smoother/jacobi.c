/*
  Damped Jacobi: the polynomial of degree one.
*/
#include <petsckcycle/private/smootherimpl.h>

/* The damping is the best one for the upper part of the spectrum, from 1 / (2 d) of the bound on in d dimensions */
static PetscErrorCode SetUp(KCycleSmoother *s)
{
  KCycleTerm *term;

  PetscFunctionBegin;
  s->weight =
      s->omega == 0 ? 2 / (KCyclePolynomialBound(s) * (1 + 1 / (KCYCLE_JACOBI_PART * s->st->box->dim))) : s->omega;
  PetscCall(KCyclePolynomialSetUp(s, 1, &term));
  term->keep   = 0;
  term->weight = (KCScalar)s->weight;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleSmootherCreate_Jacobi(KCycleSmoother *s)
{
  PetscFunctionBegin;
  PetscCall(KCyclePolynomialCreate(s));
  s->kind      = KCYCLE_SWEEPS_JACOBI;
  s->diagonal  = PETSC_TRUE;
  s->ops.setup = SetUp;
  PetscFunctionReturn(PETSC_SUCCESS);
}
