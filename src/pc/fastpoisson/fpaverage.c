#include <petsckcycle/private/fastpoissonimpl.h>
#if defined(KCYCLE_HAVE_FASTPOISSON)
PetscErrorCode PCFastPoissonAverage(PC pc, KCycleFPRows *rows)
{
  PetscFunctionBegin;
  (void)rows;
  SETERRQ(PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "later");
}
#endif
