/*
  BoomerAMG, or another preconditioner, that takes the place of cycles, see fallback.c.
*/
#include "kcycleimpl.h"

static const char Prefix[] = "kcycle_fallback_";

/* Is there PCHYPRE, or has the user chosen another type? */
PetscErrorCode KCycleFallbackExists(PC pc, PetscBool *exists)
{
  PetscErrorCode (*create)(PC) = NULL;
  char name[64];

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(PCList, PCHYPRE, &create));
  *exists = (PetscBool)(create != NULL);
  PetscCall(PetscSNPrintf(name, sizeof(name), "-%spc_type", Prefix));
  if (!create) PetscCall(PetscOptionsHasName(((PetscObject)pc)->options, ((PetscObject)pc)->prefix, name, exists));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An option, until it is taken away again (NULL), unless the user has given it or what is for all of its kind */
static PetscErrorCode SetDefault(PC inner, const char name[], const char all[], const char value[], PetscBool *set)
{
  PetscOptions options = ((PetscObject)inner)->options;
  const char  *prefix  = ((PetscObject)inner)->prefix;
  PetscBool    given[2];
  char         full[256];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(full, sizeof(full), "-%s%s", prefix, name + 1));
  if (value) {
    PetscCall(PetscOptionsHasName(options, prefix, name, &given[0]));
    PetscCall(PetscOptionsHasName(options, prefix, all, &given[1]));
    *set = (PetscBool)(!given[0] && !given[1]);
    if (*set) PetscCall(PetscOptionsSetValue(options, full, value));
  } else if (*set) PetscCall(PetscOptionsClearValue(options, full));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* BoomerAMG as it is good for jumps; there are no functions for these options. Sweeps through all points, forward
   before the coarser levels and backward after them, take less time than symmetric ones, coarse points first */
static PetscErrorCode ReadBoomerAMG(PC inner)
{
  static const char        all[]         = "-pc_hypre_boomeramg_relax_type_all";
  static const char *const defaults[][2] = {
      {"-pc_hypre_boomeramg_coarsen_type", "HMIS"},
      {"-pc_hypre_boomeramg_interp_type", "ext+i"},
      {"-pc_hypre_boomeramg_P_max", "4"},
      {"-pc_hypre_boomeramg_strong_threshold", "0.25"},
      {"-pc_hypre_boomeramg_no_CF", "true"},
      {"-pc_hypre_boomeramg_relax_type_down", "l1-Gauss-Seidel"},
      {"-pc_hypre_boomeramg_relax_type_up", "backward-l1-Gauss-Seidel"},
  };
  const size_t n = PETSC_STATIC_ARRAY_LENGTH(defaults), last = n - 2; /* the first of relaxation */
  PetscBool    set[PETSC_STATIC_ARRAY_LENGTH(defaults)];

  PetscFunctionBegin;
  PetscCall(PCSetType(inner, PCHYPRE));
  PetscUseMethod(inner, "PCHYPRESetType_C", (PC, const char[]), (inner, "boomeramg"));
  for (size_t i = 0; i < n; i++)
    PetscCall(SetDefault(inner, defaults[i][0], i < last ? defaults[i][0] : all, defaults[i][1], &set[i]));
  PetscCall(PCSetFromOptions(inner));
  for (size_t i = 0; i < n; i++) PetscCall(SetDefault(inner, defaults[i][0], all, NULL, &set[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateInner(PC pc, PC *inner)
{
  PetscErrorCode (*create)(PC) = NULL;

  PetscFunctionBegin;
  PetscCall(PCCreate(PetscObjectComm((PetscObject)pc), inner));
  PetscCall(PetscObjectIncrementTabLevel((PetscObject)*inner, (PetscObject)pc, 1));
  PetscCall(PetscObjectSetOptions((PetscObject)*inner, ((PetscObject)pc)->options));
  PetscCall(PCSetOptionsPrefix(*inner, ((PetscObject)pc)->prefix));
  PetscCall(PCAppendOptionsPrefix(*inner, Prefix));
  PetscCall(PetscFunctionListFind(PCList, PCHYPRE, &create));
  if (create) PetscCall(ReadBoomerAMG(*inner));
  else PetscCall(PCSetFromOptions(*inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator in MATAIJ: the program's own, or that of the finest level */
static PetscErrorCode SetOperator(PC pc, PC inner)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscBool  isaij;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)pc->pmat, &isaij, MATSEQAIJ, MATMPIAIJ, ""));
  if (isaij && !kc->d) {
    PetscCall(MatDestroy(&kc->fallback.A));
    PetscCall(PCSetOperators(inner, pc->pmat, pc->pmat));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(
      MatConvert(kc->grids[0].A, MATAIJ, kc->fallback.A ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, &kc->fallback.A));
  PetscCall(PCSetOperators(inner, kc->fallback.A, kc->fallback.A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first time an error is none of the program's, where cycles do without */
PetscErrorCode PCKCycleFallbackSetUpInner(PC pc)
{
  PC_KCycle      *kc = KCycleOf(pc);
  PetscErrorCode  ierr;
  const PetscBool first = (PetscBool)!kc->fallback.pc;
  PetscInt        failed;
  PC              inner;

  PetscFunctionBegin;
  if (first) PetscCall(CreateInner(pc, &kc->fallback.pc));
  inner = kc->fallback.pc;
  PetscCall(PCSetReusePreconditioner(inner, PETSC_FALSE));
  PetscCall(SetOperator(pc, inner));
  if (first) PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = PCSetUp(inner);
  if (first) {
    PetscCall(PetscPopErrorHandler());
    failed = ierr ? 1 : 0;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
    if (failed) {
      PetscCall(PCDestroy(&kc->fallback.pc));
      PetscCall(MatDestroy(&kc->fallback.A));
      kc->fallback.why = "its set-up failed";
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(ierr);
  PetscCall(PCSetReusePreconditioner(inner, PETSC_TRUE)); /* as this one says */
  PetscFunctionReturn(PETSC_SUCCESS);
}
