static char help[] = "Deflated PCG in all its forms: Algorithm 8 as printed, KSPCG with PCDEFLSUB, KSPCG with "
                     "PCDEFLATION; and solves with E that are not exact.\n\n";

#include "twophase.h"

/* Norms agree to a part of a million, but for rounding of the first ones */
static PetscErrorCode Agree(const Residuals *a, const Residuals *b, const char claim[])
{
  PetscBool holds = (PetscBool)(a->length == b->length && a->length > 10);

  PetscFunctionBeginUser;
  for (PetscInt i = 0; holds && i < a->length; i++)
    holds = (PetscBool)(PetscAbsReal(a->value[i] - b->value[i]) <= 1e-6 * a->value[i] + 1e-13 * a->value[0]);
  PetscCall(Claim(holds, claim));
  for (PetscInt i = 0; !holds && i < PetscMax(a->length, b->length); i++)
    PetscCall(Print("  %3" PetscInt_FMT "  %20s  %20s\n", i, i < a->length ? a->line[i] : "",
                    i < b->length ? b->line[i] : ""));
  PetscFunctionReturn(0);
}

/* Solves from a start or from zero */
static PetscErrorCode Run(KSP ksp, Vec b, Vec x, Vec start, Residuals *r)
{
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  r->length = 0;
  PetscCall(KSPMonitorSet(ksp, KeepResiduals, r, NULL));
  PetscCall(KSPSetInitialGuessNonzero(ksp, (PetscBool)(start != NULL)));
  if (start) PetscCall(VecCopy(start, x));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(SolveSystem(ksp, b, x, NULL, &reason));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "KSP stopped with %s", KSPConvergedReasons[reason]);
  PetscCall(KSPMonitorCancel(ksp));
  PetscFunctionReturn(0);
}

/* The columns of Z from labels */
static PetscErrorCode CreateZ(PC pc, Mat A, Mat *Z)
{
  PetscInt        number, n, start;
  const PetscInt *labels;
  IS              is;

  PetscFunctionBeginUser;
  PetscCall(PCDeflSubGetNumber(pc, &number, NULL));
  PetscCall(MatGetLocalSize(A, &n, NULL));
  PetscCall(MatGetOwnershipRange(A, &start, NULL));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, n, PETSC_DECIDE, PETSC_DETERMINE, number, 1, NULL, 1, NULL, Z));
  PetscCall(PCDeflSubGetLabelIS(pc, &is));
  PetscCall(ISGetIndices(is, &labels));
  for (PetscInt i = 0; i < n; i++) PetscCall(MatSetValue(*Z, start + i, labels[i], 1, INSERT_VALUES));
  PetscCall(ISRestoreIndices(is, &labels));
  PetscCall(ISDestroy(&is));
  PetscCall(AssembleMat(*Z));
  PetscFunctionReturn(0);
}

/* PETSc's own deflation; its inner preconditioner is chosen by options */
static PetscErrorCode RunDeflation(PC deflsub, Mat A, Vec b, Vec x, PetscReal rtol, Residuals *r)
{
  KSP ksp;
  PC  pc;
  Mat Z, aij;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &aij)); /* it does not take stencils */
  PetscCall(MakeKSP(aij, KSPCG, PCDEFLATION, &ksp, &pc));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, rtol, 1e-50, 1e10, 1000));
  PetscCall(CreateZ(deflsub, A, &Z));
  PetscCall(PCDeflationSetSpace(pc, Z, PETSC_FALSE));
  PetscCall(VecSet(x, 0)); /* PCDEFLATION adds its start to what x holds */
  PetscCall(Run(ksp, b, x, NULL, r));
  PetscCall(DestroyAll(&Z, &aij, &ksp));
  PetscFunctionReturn(0);
}

/* All forms on one problem; PCDEFLATION fails with a singular operator */
static PetscErrorCode Forms(const TwoPhase *t, PCDeflSubType type, const char name[])
{
  const PetscReal rtol = 1e-8;
  Residuals       printed, other;
  System          s = {0};
  Vec             start, other_x;
  PetscReal       relative;

  PetscFunctionBeginUser;
  PetscCall(TwoPhaseCreateSystem(t, KSPDPCG, rtol, &s));
  PetscCall(DuplicateVec(s.b, &s.x, &start, &other_x));
  PetscCall(PCDeflSubSetType(s.pc, type));
  PetscCall(PCDeflSubSetBoxes(s.pc, type == PC_DEFLSUB_STRIPE ? 24 : 4, type == PC_DEFLSUB_STRIPE ? 0 : 5,
                              t->dim == 3 ? 3 : 0));
  PetscCall(Print("%s\n", name));
  PetscCall(Run(s.ksp, s.b, s.x, NULL, &printed));
  PetscCall(RelativeResidual(s.A, s.b, s.x, &relative));
  PetscCall(Claim(relative <= 2 * rtol, "  Algorithm 8 solves it"));
  PetscCall(KSPSetType(s.ksp, KSPCG));
  PetscCall(PCDeflSubSetForm(s.pc, PC_DEFLSUB_ADEF2));
  PetscCall(Run(s.ksp, s.b, s.x, NULL, &other));
  PetscCall(Agree(&printed, &other, "  KSPCG with adef2 has its residuals"));
  PetscCall(PCDeflSubSetForm(s.pc, PC_DEFLSUB_PT));
  PetscCall(Run(s.ksp, s.b, s.x, NULL, &other));
  PetscCall(Agree(&printed, &other, "  KSPCG with pt has its residuals"));
  PetscCall(PCDeflSubSetForm(s.pc, PC_DEFLSUB_BNN));
  PetscCall(PCDeflSubCorrect(s.pc, s.b, start));
  PetscCall(Run(s.ksp, s.b, s.x, start, &other));
  PetscCall(Agree(&printed, &other, "  KSPCG with bnn, started at Q b, has its residuals"));
  PetscCall(Run(s.ksp, s.b, s.x, NULL, &other));
  PetscCall(Claim(PetscAbsInt(other.length - printed.length) <= 2,
                  "  KSPCG with bnn, started at 0, needs about as many iterations"));
  PetscCall(VecSet(start, 3));
  PetscCall(VecSetValue(start, 0, -5, INSERT_VALUES));
  PetscCall(AssembleVec(start));
  PetscCall(PCDeflSubSetForm(s.pc, PC_DEFLSUB_ADEF2));
  PetscCall(Run(s.ksp, s.b, other_x, start, &other));
  PetscCall(KSPSetType(s.ksp, KSPDPCG));
  PetscCall(PCDeflSubSetForm(s.pc, PC_DEFLSUB_BNN));
  PetscCall(Run(s.ksp, s.b, s.x, start, &printed));
  PetscCall(Agree(&printed, &other, "  Algorithm 8 and adef2 agree from another start"));
  if (!t->closed) {
    PetscCall(Run(s.ksp, s.b, s.x, NULL, &printed));
    PetscCall(RunDeflation(s.pc, s.A, s.b, s.x, rtol, &other));
    PetscCall(Agree(&printed, &other, "  PCDEFLATION with the same Z has its residuals"));
  }
  PetscCall(DestroyAll(&other_x, &start));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* A solve with E by iterations that stop at 1e-8 of its right side */
static PetscErrorCode Perturbed(void)
{
  const struct {
    PCDeflSubFormType form;
    PetscBool         printed;
    PetscBool         expected;
    const char       *claim;
  } cases[] = {{PC_DEFLSUB_BNN, PETSC_FALSE, PETSC_TRUE, "bnn converges though E is solved to 1e-8 only"},
               {PC_DEFLSUB_ADEF2, PETSC_FALSE, PETSC_TRUE, "adef2 converges though E is solved to 1e-8 only"},
               {PC_DEFLSUB_BNN, PETSC_TRUE, PETSC_FALSE, "Algorithm 8 does not"}};
  TwoPhase t;
  System   s = {0};

  PetscFunctionBeginUser;
  TwoPhaseInit(&t, 2, 48, 1);
  PetscCall(TwoPhaseCreate(&t, &s.da, &s.A, &s.b));
  PetscCall(VecDuplicate(s.b, &s.x));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    KSP       ksp, coarse;
    PC        pc;
    PetscReal relative;

    PetscCall(TwoPhaseCreateKSP(s.A, cases[i].printed ? KSPDPCG : KSPCG, 1e-11, &ksp, &pc));
    PetscCall(KSPSetTolerances(ksp, 1e-11, 1e-50, 1e10, 200));
    PetscCall(PCDeflSubSetForm(pc, cases[i].form));
    PetscCall(PCDeflSubSetBoxes(pc, 6, 6, 0));
    PetscCall(PCDeflSubSetCoarse(pc, PC_DEFLSUB_COARSE_FACTOR));
    PetscCall(PCDeflSubGetCoarseKSP(pc, &coarse));
    PetscCall(KSPSetType(coarse, KSPCG));
    PetscCall(PCSetType(PCOf(coarse), PCNONE));
    PetscCall(KSPSetTolerances(coarse, 1e-8, 1e-50, PETSC_DEFAULT, 100));
    PetscCall(KSPSolve(ksp, s.b, s.x));
    PetscCall(RelativeResidual(s.A, s.b, s.x, &relative));
    PetscCall(Claim((relative < 1e-10) == cases[i].expected, cases[i].claim));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* Algorithm 8 needs the subdomains of a PCDEFLSUB that is made from its operator */
static PetscErrorCode Refusal(void)
{
  TwoPhase       t;
  System         s = {0};
  Mat            other;
  char           words[ERROR_LENGTH] = "";
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  TwoPhaseInit(&t, 2, 12, 1);
  PetscCall(TwoPhaseCreateSystem(&t, KSPDPCG, 1e-8, &s));
  PetscCall(PCSetType(s.pc, PCJACOBI));
  KeepErrorOf(KSPSetUp(s.ksp), ierr, words);
  PetscCall(ClaimError(ierr, words, "its PC is of type jacobi: use -pc_type deflsub",
                       "Algorithm 8 with another preconditioner is an error that says so"));
  PetscCall(PCSetType(s.pc, PCDEFLSUB));
  PetscCall(MatDuplicate(s.A, MAT_COPY_VALUES, &other));
  PetscCall(VecDuplicate(s.b, &s.x));
  PetscCall(KSPSetOperators(s.ksp, s.A, other));
  KeepErrorOf(KSPSolve(s.ksp, s.b, s.x), ierr, words);
  PetscCall(ClaimError(ierr, words, "KSPDPCG deflates the operator of the Krylov method",
                       "and so it is with another matrix for preconditioners"));
  PetscCall(MatDestroy(&other));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  TwoPhase t;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  TwoPhaseInit(&t, 2, 40, 1);
  PetscCall(Forms(&t, PC_DEFLSUB_STRIPE, "2D, stripes"));
  t.contrast = 1e3;
  PetscCall(Forms(&t, PC_DEFLSUB_INTERFACE, "2D, nine discs 1000:1, interface"));
  TwoPhaseInit(&t, 3, 14, 1e-2);
  t.type = MATSTENCIL;
  if (!PetscDefined(USE_COMPLEX)) PetscCall(Forms(&t, PC_DEFLSUB_BOX, "3D, 27 balls 1:100, boxes, stencil"));
  TwoPhaseInit(&t, 2, 33, 1e2);
  t.closed = PETSC_TRUE;
  PetscCall(Forms(&t, PC_DEFLSUB_INTERFACE, "2D, nine discs 100:1, singular, interface"));
  PetscCall(Perturbed());
  PetscCall(Refusal());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    requires: !complex
    nsize: {{1 2 4}}
    args: -deflation_pc_pc_type jacobi -deflation_pc_type redundant
    output_file: output/dpcg.out

TEST*/
