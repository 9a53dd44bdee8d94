/*
  Eigenvalues of the preconditioned operator, by the Lanczos process that conjugate gradients contain.
*/
#include "kcgimpl.h"
#include <petscblaslapack.h>

PetscErrorCode KCGLanczosReset(KSP_KCG *cg)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(cg->diagonal, cg->off));
  cg->nentries = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entry i of T = L D L^T, from this step and the one before */
PetscErrorCode KCGLanczosStep(KSP ksp, PetscInt i, PetscScalar lastalpha)
{
  KSP_KCG *cg = (KSP_KCG *)ksp->data;

  PetscFunctionBegin;
  if (!ksp->calc_sings) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(i < cg->nentries, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_WRONGSTATE,
             "The largest number of iterations has grown from %" PetscInt_FMT " to %" PetscInt_FMT
             " during the solve, and eigenvalues are computed: call KSPSetTolerances() before KSPSolve()",
             cg->nentries, ksp->max_it);
  cg->off[i]      = i ? PetscSqrtReal(PetscAbsScalar(cg->beta)) / PetscRealPart(lastalpha) : 0;
  cg->diagonal[i] = PetscSqrtReal(PetscAbsScalar(cg->beta)) * cg->off[i] + 1 / PetscRealPart(cg->alpha);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All eigenvalues of T, ascending */
static PetscErrorCode Eigenvalues(KSP ksp, PetscReal value[])
{
  KSP_KCG     *cg = (KSP_KCG *)ksp->data;
  PetscBLASInt n, ldz = 1, info;
  PetscReal   *off;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(ksp->its, &n));
  PetscCall(PetscMalloc1(n, &off));
  PetscCall(PetscArraycpy(value, cg->diagonal, n));
  PetscCall(PetscArraycpy(off, cg->off + 1, n - 1));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
  PetscCallBLAS("LAPACKsteqr", LAPACKsteqr_("N", &n, value, off, NULL, &ldz, NULL, &info));
  PetscCall(PetscFPTrapPop());
  PetscCall(PetscFree(off));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK's steqr failed with %d on a matrix of %d rows", (int)info,
             (int)n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPComputeEigenvalues_KCG(KSP ksp, PetscInt most, PetscReal real[], PetscReal imaginary[],
                                                PetscInt *n)
{
  PetscFunctionBegin;
  PetscCheck(most >= ksp->its, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_SIZ,
             "Arrays for %" PetscInt_FMT " eigenvalues are too short for those of %" PetscInt_FMT " iterations", most,
             ksp->its);
  *n = ksp->its;
  PetscCall(PetscArrayzero(imaginary, most));
  if (*n) PetscCall(Eigenvalues(ksp, real));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPComputeExtremeSingularValues_KCG(KSP ksp, PetscReal *largest, PetscReal *smallest)
{
  PetscReal *value;

  PetscFunctionBegin;
  *largest = *smallest = 1;
  if (!ksp->its) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(ksp->its, &value));
  PetscCall(Eigenvalues(ksp, value));
  *smallest = value[0];
  *largest  = value[ksp->its - 1];
  PetscCall(PetscFree(value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCGLanczosSetUp(KSP ksp)
{
  KSP_KCG *cg = (KSP_KCG *)ksp->data;

  PetscFunctionBegin;
  if (!ksp->calc_sings) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCGLanczosReset(cg));
  PetscCall(PetscMalloc2(ksp->max_it, &cg->diagonal, ksp->max_it, &cg->off));
  cg->nentries                           = ksp->max_it;
  ksp->ops->computeeigenvalues           = KSPComputeEigenvalues_KCG;
  ksp->ops->computeextremesingularvalues = KSPComputeExtremeSingularValues_KCG;
  PetscFunctionReturn(PETSC_SUCCESS);
}
