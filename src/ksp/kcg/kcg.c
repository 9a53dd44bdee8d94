/*
  KSPKCG: conjugate gradients with one reduction an iteration. All its inner products are those of the new z = M r:

      (z, r), (z, A z), (z, z)    one reduction
      beta = (z, r) / (z, r)',  (p, A p) = (z, A z) - beta^2 (p, A p)',  alpha = (z, r) / (p, A p)
      p = z + beta p,  x += alpha p,  r -= alpha A p

  where ' is the iteration before. With a stencil matrix each of these lines is one pass over memory, in which A z and
  A p stay in the cache; else A z is stored, and A p = A z + beta A p'.
*/
#include "kcgimpl.h"
#include <petsckcycle/private/choiceimpl.h>
#include <petsckcycle/private/deviceimpl.h>
#include <petsckcycle/private/productsimpl.h>
#include <petsckcycle/private/registerimpl.h>

typedef enum {
  KCG_DOTS,
  KCG_STEP,
  KCG_NUM_EVENTS
} KCGEvent;

static PetscLogEvent Events[KCG_NUM_EVENTS];

static PetscErrorCode KSPSetUp_KCG(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPSetWorkVecs(ksp, 3));
  PetscCall(KCGLanczosSetUp(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which passes this solve has */
static PetscErrorCode ChoosePasses(KSP ksp, Mat A)
{
  KSP_KCG  *cg = (KSP_KCG *)ksp->data;
  PetscBool stencil, device = PETSC_FALSE;

  PetscFunctionBegin;
  cg->chosen  = PETSC_TRUE;
  cg->stencil = NULL;
  cg->arrays  = PETSC_FALSE;
  if (cg->fuse) PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp->work[0], &cg->arrays, VECSEQ, VECMPI, ""));
  if (cg->fuse && !ksp->transpose_solve && !(PetscDefined(USE_COMPLEX) && cg->type == KSP_CG_SYMMETRIC)) {
    PetscCall(MatStencilIs(A, &stencil));
    if (stencil) cg->stencil = A;
    else PetscCall(KCycleMatGetStandIn(A, &cg->stencil));
    if (cg->stencil) PetscCall(MatStencilIs(cg->stencil, &stencil));
    PetscCall(KCycleVecOnDevice(ksp->work[0], &device));
    if (device || !stencil) cg->stencil = NULL;
    if (cg->stencil) cg->arrays = PETSC_TRUE;
  }
  cg->repeats = PETSC_FALSE;
  if (cg->stencil) PetscCall(MatStencilConjugateRepeats(cg->stencil, &cg->repeats));
  if (!cg->repeats && !cg->w) {
    PetscCall(VecDuplicate(ksp->work[0], &cg->w));
    PetscCall(VecDuplicate(ksp->work[0], &cg->s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = M r, and the inner products with it */
static PetscErrorCode Precondition(KSP ksp, Mat A, Vec z, Vec r)
{
  KSP_KCG    *cg = (KSP_KCG *)ksp->data;
  PetscReal   mine[KC_CONJUGATE_SUMS], all[KC_CONJUGATE_SUMS];
  PetscScalar value[KC_CONJUGATE_SUMS];
  const Vec   y[KC_CONJUGATE_SUMS] = {r, cg->w, z};

  PetscFunctionBegin;
  PetscCall(KSP_PCApply(ksp, r, z));
  if (cg->stencil) {
    PetscCall(PetscLogEventBegin(Events[KCG_DOTS], ksp, NULL, NULL, NULL));
    PetscCall(MatStencilConjugateDots(cg->stencil, &cg->passes, z, r, cg->repeats ? NULL : cg->w, mine));
    PetscCallMPI(MPI_Allreduce(mine, all, KC_CONJUGATE_SUMS, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)ksp)));
    PetscCall(PetscLogEventEnd(Events[KCG_DOTS], ksp, NULL, NULL, NULL));
    for (int i = 0; i < KC_CONJUGATE_SUMS; i++) value[i] = all[i];
  } else {
    PetscCall(KSP_MatMult(ksp, A, z, cg->w));
    if (cg->type == KSP_CG_HERMITIAN) PetscCall(VecMDot(z, KC_CONJUGATE_SUMS, y, value)); /* y^H z, or */
    else PetscCall(VecMTDot(z, KC_CONJUGATE_SUMS, y, value));                             /* y^T z */
  }
  cg->zr  = value[0];
  cg->zaz = value[1];
  cg->zz  = PetscRealPart(value[2]);
  if (cg->type == KSP_CG_SYMMETRIC && PetscDefined(USE_COMPLEX)) {
    PetscCall(VecNorm(z, NORM_2, &cg->zz));
    cg->zz *= cg->zz;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Arrays of a step */
typedef struct {
  PetscBool          first;
  PetscScalar        alpha, beta;
  const PetscScalar *z, *w;
  PetscScalar       *p, *s, *x, *r;
} Arrays;

/* p = z + beta p, s = w + beta s, x += alpha p, r -= alpha s, all at once; the first p and s are z and w */
KC_VERSIONS static void StepArrays(PetscInt n, const Arrays *a)
{
  const PetscScalar              alpha = a->alpha, beta = a->beta, *z = a->z, *w = a->w;
  PetscScalar *KC_RESTRICT const p = a->p, *KC_RESTRICT const s = a->s, *KC_RESTRICT const x = a->x,
                                 *KC_RESTRICT const r = a->r;

  if (a->first) {
    for (PetscInt i = 0; i < n; i++) {
      p[i] = z[i];
      s[i] = w[i];
      x[i] += alpha * p[i];
      r[i] -= alpha * s[i];
    }
  } else {
    for (PetscInt i = 0; i < n; i++) {
      p[i] = z[i] + beta * p[i];
      s[i] = w[i] + beta * s[i];
      x[i] += alpha * p[i];
      r[i] -= alpha * s[i];
    }
  }
}

/* In one pass; sum: of the squares of r on this process, or NULL */
static PetscErrorCode StepOnArrays(KSP ksp, Vec z, Vec p, Vec x, Vec r, PetscReal *sum)
{
  KSP_KCG *cg = (KSP_KCG *)ksp->data;
  Arrays   a  = {.first = (PetscBool)!ksp->its, .alpha = cg->alpha, .beta = cg->beta};
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(r, &n));
  PetscCall(VecGetArrayRead(z, &a.z));
  PetscCall(VecGetArrayRead(cg->w, &a.w));
  PetscCall(VecGetArray(p, &a.p));
  PetscCall(VecGetArray(cg->s, &a.s));
  PetscCall(VecGetArray(x, &a.x));
  PetscCall(VecGetArray(r, &a.r));
  StepArrays(n, &a);
  if (sum) *sum = KCycleSumSquares(n, a.r);
  PetscCall(VecRestoreArray(r, &a.r));
  PetscCall(VecRestoreArray(x, &a.x));
  PetscCall(VecRestoreArray(cg->s, &a.s));
  PetscCall(VecRestoreArray(p, &a.p));
  PetscCall(VecRestoreArrayRead(cg->w, &a.w));
  PetscCall(VecRestoreArrayRead(z, &a.z));
  PetscCall(PetscLogFlops((sum ? 10.0 : 8.0) * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StepByOperations(KSP ksp, Vec z, Vec p, Vec x, Vec r)
{
  KSP_KCG *cg = (KSP_KCG *)ksp->data;

  PetscFunctionBegin;
  if (ksp->its) {
    PetscCall(VecAYPX(p, cg->beta, z));
    PetscCall(VecAYPX(cg->s, cg->beta, cg->w));
  } else {
    PetscCall(VecCopy(z, p));
    PetscCall(VecCopy(cg->w, cg->s));
  }
  PetscCall(VecAXPY(x, cg->alpha, p));
  PetscCall(VecAXPY(r, -cg->alpha, cg->s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the norm of this kind computed in the iteration? See KSPSetCheckNormIteration(), which spares no first norm and no
   natural one */
static PetscBool IsNormed(KSP ksp, KSPNormType type, PetscInt its)
{
  return (PetscBool)(ksp->normtype == type && (!its || type == KSP_NORM_NATURAL || ksp->chknorm <= its));
}

/* A new direction, and the step along it; norm: of the new residual, where that is asked for */
static PetscErrorCode Step(KSP ksp, Vec z, Vec p, Vec r, PetscReal *norm)
{
  KSP_KCG                  *cg    = (KSP_KCG *)ksp->data;
  const PetscBool           norms = IsNormed(ksp, KSP_NORM_UNPRECONDITIONED, ksp->its + 1);
  PetscReal                 mine = 0, all, *sum = norms ? &mine : NULL;
  const KCycleConjugateStep step = {(PetscBool)!ksp->its, PetscRealPart(cg->alpha), PetscRealPart(cg->beta), sum};

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(Events[KCG_STEP], ksp, NULL, NULL, NULL));
  if (cg->repeats) PetscCall(MatStencilConjugateStep(cg->stencil, &cg->passes, &step, z, p, ksp->vec_sol, r));
  else if (cg->arrays) PetscCall(StepOnArrays(ksp, z, p, ksp->vec_sol, r, sum));
  else PetscCall(StepByOperations(ksp, z, p, ksp->vec_sol, r));
  if (norms && !cg->arrays) PetscCall(VecNorm(r, NORM_2, norm));
  else if (norms) {
    PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)ksp)));
    *norm = PetscSqrtReal(all);
  }
  PetscCall(PetscLogEventEnd(Events[KCG_STEP], ksp, NULL, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stops a solve where the operator (or else the preconditioner) cannot be positive or negative definite */
static PetscErrorCode StopIndefinite(KSP ksp, KSPConvergedReason reason, const char what[], PetscScalar now,
                                     PetscScalar before)
{
  PetscFunctionBegin;
  PetscCheck(reason > 0 || !ksp->errorifnotconverged, PetscObjectComm((PetscObject)ksp), PETSC_ERR_NOT_CONVERGED,
             "The %s is indefinite: after %g its inner product is %g", what, (double)PetscRealPart(before),
             (double)PetscRealPart(now));
  PetscCall(PetscInfo(ksp, "The %s is indefinite: after %g its inner product is %g\n", what,
                      (double)PetscRealPart(before), (double)PetscRealPart(now)));
  ksp->reason = reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* alpha and beta of the next step */
static PetscErrorCode NextStep(KSP ksp)
{
  KSP_KCG          *cg        = (KSP_KCG *)ksp->data;
  const PetscInt    i         = ksp->its;
  const PetscScalar lastalpha = cg->alpha;

  PetscFunctionBegin;
  KSPCheckDot(ksp, cg->zr);
  if (cg->zr == (PetscScalar)0.0) {
    PetscCall(PetscInfo(ksp, "(z, r) is zero\n"));
    ksp->reason = KSP_CONVERGED_ATOL;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!PetscDefined(USE_COMPLEX) && i > 0 && PetscRealPart(cg->zr) * PetscRealPart(cg->lastzr) < 0) {
    PetscCall(StopIndefinite(ksp, KSP_DIVERGED_INDEFINITE_PC, "preconditioner", cg->zr, cg->lastzr));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  cg->beta = i ? cg->zr / cg->lastzr : 0;
  cg->pap  = i ? cg->zaz - cg->beta * cg->beta * cg->lastpap : cg->zaz;
  KSPCheckDot(ksp, cg->pap);
  if (cg->pap == (PetscScalar)0.0 || (i > 0 && PetscRealPart(cg->pap) * PetscRealPart(cg->lastpap) < 0)) {
    PetscCall(StopIndefinite(ksp, KCYCLE_KSP_INDEFINITE(ksp), "operator", cg->pap, cg->lastpap));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  cg->alpha = cg->zr / cg->pap;
  PetscCall(KCGLanczosStep(ksp, i, lastalpha));
  cg->lastzr  = cg->zr;
  cg->lastpap = cg->pap;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestConvergence(KSP ksp, PetscReal norm)
{
  PetscFunctionBegin;
  KSPCheckNorm(ksp, norm);
  ksp->rnorm = norm;
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, ksp->its, norm));
  PetscCall((*ksp->converged)(ksp, ksp->its, norm, &ksp->reason, ksp->cnvP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If the norm is that of the residual (norm), tests and then preconditions; else preconditions first. Without any norm
   the test comes before the preconditioner, whose work may be spared */
static PetscErrorCode FinishIteration(KSP ksp, Mat A, Vec z, Vec r, PetscReal norm)
{
  KSP_KCG        *cg = (KSP_KCG *)ksp->data;
  const PetscBool after =
      (PetscBool)(IsNormed(ksp, KSP_NORM_PRECONDITIONED, ksp->its) || IsNormed(ksp, KSP_NORM_NATURAL, ksp->its));

  PetscFunctionBegin;
  if (!after) {
    PetscCall(TestConvergence(ksp, norm));
    if (ksp->reason || ksp->its >= ksp->max_it) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Precondition(ksp, A, z, r));
  if (!after) PetscFunctionReturn(PETSC_SUCCESS);
  if (ksp->normtype == KSP_NORM_NATURAL) KSPCheckDot(ksp, cg->zr);
  PetscCall(TestConvergence(ksp, PetscSqrtReal(ksp->normtype == KSP_NORM_NATURAL ? PetscAbsScalar(cg->zr) : cg->zz)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r = b - A x, and its norm where that is asked for */
static PetscErrorCode FirstResidual(KSP ksp, Mat A, Vec r, PetscReal *norm)
{
  PetscFunctionBegin;
  if (ksp->guess_zero) PetscCall(VecCopy(ksp->vec_rhs, r));
  else {
    PetscCall(KSP_MatMult(ksp, A, ksp->vec_sol, r));
    PetscCall(VecAYPX(r, -1, ksp->vec_rhs));
  }
  /* Perhaps on some processes only: all of them see it in the first norm */
  PetscCall(KCycleVecFlag(r, ksp->reason == KSP_DIVERGED_PC_FAILED));
  *norm = 0;
  if (ksp->normtype == KSP_NORM_UNPRECONDITIONED) PetscCall(VecNorm(r, NORM_2, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSolve_KCG(KSP ksp)
{
  KSP_KCG  *cg = (KSP_KCG *)ksp->data;
  const Vec r = ksp->work[0], z = ksp->work[1], p = ksp->work[2];
  Mat       A;
  PetscReal norm = 0;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(ChoosePasses(ksp, A));
  ksp->its  = 0;
  cg->alpha = cg->lastzr = cg->lastpap = 0;
  PetscCall(FirstResidual(ksp, A, r, &norm));
  PetscCall(FinishIteration(ksp, A, z, r, norm));
  while (!ksp->reason && ksp->its < ksp->max_it) {
    PetscCall(NextStep(ksp));
    if (ksp->reason) {
      ksp->its++;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    norm = 0;
    PetscCall(Step(ksp, z, p, r, &norm));
    ksp->its++;
    PetscCall(FinishIteration(ksp, A, z, r, norm));
  }
  if (!ksp->reason) ksp->reason = KSP_DIVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPBuildResidual_KCG(KSP ksp, Vec t, Vec v, Vec *residual)
{
  (void)t;
  PetscFunctionBegin;
  PetscCall(VecCopy(ksp->work[0], v));
  *residual = v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCGSetType_KCG(KSP ksp, KSPCGType type)
{
  PetscFunctionBegin;
  ((KSP_KCG *)ksp->data)->type = type;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetFromOptions_KCG(KSP ksp, KCycleOptionItems PetscOptionsObject)
{
  KSP_KCG *cg = (KSP_KCG *)ksp->data;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "KSP KCG options");
  if (PetscDefined(USE_COMPLEX))
    PetscCall(PetscOptionsEnum("-ksp_kcg_type", "Hermitian or complex symmetric operator", "KSPCGSetType", KSPCGTypes,
                               (PetscEnum)cg->type, (PetscEnum *)&cg->type, NULL));
  PetscCall(PetscOptionsBool("-ksp_kcg_fuse", "Products, inner products and updates in one pass over memory", "KSPKCG",
                             cg->fuse, &cg->fuse, NULL));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPView_KCG(KSP ksp, PetscViewer viewer)
{
  const KSP_KCG *cg = (const KSP_KCG *)ksp->data;
  PetscBool      ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (PetscDefined(USE_COMPLEX)) PetscCall(PetscViewerASCIIPrintf(viewer, "  variant %s\n", KSPCGTypes[cg->type]));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "  one reduction an iteration%s\n",
      ksp->normtype == KSP_NORM_UNPRECONDITIONED ? ", and one for the unpreconditioned norm" : ""));
  if (!cg->chosen) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  vectors: %s\n",
                                   cg->repeats   ? "two passes, which compute A z and A p in the cache"
                                   : cg->stencil ? "two passes, the first one with the product A z"
                                   : cg->arrays  ? "one pass for the updates"
                                                 : "by operations of PETSc"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPReset_KCG(KSP ksp)
{
  KSP_KCG *cg = (KSP_KCG *)ksp->data;

  PetscFunctionBegin;
  PetscCall(VecDestroy(&cg->w));
  PetscCall(VecDestroy(&cg->s));
  PetscCall(MatStencilConjugateReset(&cg->passes));
  PetscCall(KCGLanczosReset(cg));
  cg->stencil = NULL;
  cg->chosen  = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDestroy_KCG(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPReset_KCG(ksp));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGSetType_C", NULL));
  PetscCall(KSPDestroyDefault(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  KSPKCG - "kcg" - Conjugate gradients with one reduction an iteration and as few passes over memory as that allows: the
  iterates of `KSPCG` but for rounding.

  Options Database Keys:
+ -ksp_kcg_fuse (true|false)           - products, inner products and updates share passes over memory where they can
      (default true)
- -ksp_kcg_type (hermitian|symmetric)  - complex numbers: what the operator is (default hermitian)

  Level: intermediate

  Notes:
  For any operator and preconditioner that `KSPCG` is for, with its norm types, initial guesses, null spaces, reasons
  for breakdowns and eigenvalues. It has no trust region and no objective (`KSPCGSetRadius()`,
  `KSPCGSetObjectiveTarget()`).

  On the host, where the operator is a `MATSTENCIL` or a matrix for which `PCKCYCLE` has one, an iteration is two passes
  over memory. The first one computes A z with the inner products (z, r), (z, A z) and (z, z); the second one updates p,
  x and r. Constant coefficients make A z and A p in the cache: 9 vectors are read or written, where `KSPCG` reads or
  writes 16. With variable coefficients A z is stored, and A p updated as p is. With other operators on the host the
  second of these passes remains; vectors of other kinds are updated by operations of PETSc.

  The reduction is that of Chronopoulos and Gear. The default norm, the preconditioned one, and the natural norm are
  part of it. The unpreconditioned norm takes another one, as it is tested before the preconditioner is applied. When
  the test of convergence follows the preconditioner, the last iteration computes a product that `KSPCG` does not.

  (p, A p) comes from a recurrence that holds for symmetric operators and preconditioners. Where a preconditioner is
  symmetric up to a part of 1e-5, as kappa-cycles with a kappa above 1 are, residuals agree up to such a part. They are
  those of `KSPCG` with `-ksp_cg_single_reduction`.

  Source: Chronopoulos and Gear, s-step iterative methods for symmetric linear systems, J. Comput. Appl. Math. 25, 1989.

.seealso: `KSPCG`, `PCKCYCLE`, `MATSTENCIL`, `KSPCGSetType()`
M*/
PetscErrorCode KSPCreate_KCG(KSP ksp)
{
  static const char *const names[] = {"KSPKCGDots", "KSPKCGStep"};
  KSP_KCG                 *cg;

  PetscFunctionBegin;
  PetscCall(KCycleRegisterEvents(KSP_CLASSID, KCG_NUM_EVENTS, names, Events));
  PetscCall(PetscNew(&cg));
  cg->type  = PetscDefined(USE_COMPLEX) ? KSP_CG_HERMITIAN : KSP_CG_SYMMETRIC;
  cg->fuse  = PETSC_TRUE;
  ksp->data = cg;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NATURAL, PC_LEFT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  ksp->ops->setup          = KSPSetUp_KCG;
  ksp->ops->solve          = KSPSolve_KCG;
  ksp->ops->reset          = KSPReset_KCG;
  ksp->ops->destroy        = KSPDestroy_KCG;
  ksp->ops->view           = KSPView_KCG;
  ksp->ops->setfromoptions = KSPSetFromOptions_KCG;
  ksp->ops->buildsolution  = KSPBuildSolutionDefault;
  ksp->ops->buildresidual  = KSPBuildResidual_KCG;
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGSetType_C", KSPCGSetType_KCG));
  PetscFunctionReturn(PETSC_SUCCESS);
}
