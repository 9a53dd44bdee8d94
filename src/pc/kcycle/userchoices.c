/*
  Whose choices the solvers of levels are. What each is at the end of a set-up is kept as digests; what has changed when
  the next one begins is the choice of the program, which is neither replaced nor overwritten.
*/
#include "kcycleimpl.h"
#include <petsckcycle/private/relaximpl.h>

/* As KSPCHEBYSHEV and PCREDUNDANT declare it, at their beginning */
typedef struct {
  PetscReal emin, emax; /* that were given */
} Chebyshev;

typedef struct {
  KSP ksp; /* NULL: it has not been asked for */
} Redundant;

/* Bytes added to a digest (Fowler, Noll and Vo) */
static void Add(KCycleDigest *digest, const void *bytes, size_t n)
{
  for (size_t i = 0; i < n; i++) *digest = (*digest ^ ((const unsigned char *)bytes)[i]) * 1099511628211ULL;
}

static void AddText(KCycleDigest *digest, const char text[])
{
  Add(digest, text ? text : "", (text ? strlen(text) : 0) + 1);
}

static void AddReal(KCycleDigest *digest, PetscReal value)
{
  Add(digest, &value, sizeof(value));
}

static void AddInt(KCycleDigest *digest, PetscInt value)
{
  Add(digest, &value, sizeof(value));
}

/* Type of a Krylov method and its parameters, where it may be one of PCMG's or one that was chosen here. Eigenvalues
   that KSPCHEBYSHEV has estimated are no parameters */
static PetscErrorCode AddKSP(KCycleDigest *digest, KSP ksp)
{
  KSP       estimates = NULL;
  PetscBool richardson, chebyshev;

  PetscFunctionBegin;
  AddText(digest, ((PetscObject)ksp)->type_name);
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPRICHARDSON, &richardson));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPCHEBYSHEV, &chebyshev));
  if (richardson) {
    AddReal(digest, ((KCycleRichardson *)ksp->data)->scale);
    AddInt(digest, ((KCycleRichardson *)ksp->data)->selfscale);
  }
  if (!chebyshev) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPChebyshevEstEigGetKSP(ksp, &estimates));
  AddInt(digest, estimates != NULL);
  AddReal(digest, estimates ? 0 : ((Chebyshev *)ksp->data)->emin);
  AddReal(digest, estimates ? 0 : ((Chebyshev *)ksp->data)->emax);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddFactor(KCycleDigest *digest, PC pc)
{
  MatFactorShiftType shift;
  PetscReal          zero, amount;

  PetscFunctionBegin;
  PetscCall(PCFactorGetZeroPivot(pc, &zero));
  PetscCall(PCFactorGetShiftAmount(pc, &amount));
  PetscCall(PCFactorGetShiftType(pc, &shift));
  AddReal(digest, zero);
  AddReal(digest, amount);
  AddInt(digest, (PetscInt)shift);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddSOR(KCycleDigest *digest, PC pc)
{
  MatSORType type;
  PetscReal  omega;
  PetscInt   its, lits;

  PetscFunctionBegin;
  PetscCall(PCSORGetSymmetric(pc, &type));
  PetscCall(PCSORGetOmega(pc, &omega));
  PetscCall(PCSORGetIterations(pc, &its, &lits));
  AddInt(digest, (PetscInt)type);
  AddReal(digest, omega);
  AddInt(digest, its);
  AddInt(digest, lits);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void AddRelax(KCycleDigest *digest, PC pc)
{
  const PC_Relax *relax = (PC_Relax *)pc->data;

  AddText(digest, relax->type);
  AddReal(digest, relax->omega);
  AddInt(digest, (PetscInt)relax->order);
  AddInt(digest, relax->degree);
  AddText(digest, relax->directions);
  AddInt(digest, (PetscInt)relax->clustering);
}

/* The same of a preconditioner; with PCREDUNDANT that of the solver inside, if there is one yet */
static PetscErrorCode AddPC(KCycleDigest *digest, PC pc)
{
  PetscBool sor, factor, relax, redundant, telescope;
  PetscInt  reduction;
  KSP       inner;

  PetscFunctionBegin;
  AddText(digest, ((PetscObject)pc)->type_name);
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSOR, &sor));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &factor, PCLU, PCCHOLESKY, PCILU, PCICC, ""));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCRELAX, &relax));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCREDUNDANT, &redundant));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCTELESCOPE, &telescope));
  if (sor) PetscCall(AddSOR(digest, pc));
  if (factor) PetscCall(AddFactor(digest, pc));
  if (relax) AddRelax(digest, pc);
  if (telescope) {
    PetscCall(PCTelescopeGetReductionFactor(pc, &reduction));
    AddInt(digest, reduction);
  }
  inner = redundant ? ((Redundant *)pc->data)->ksp : NULL;
  if (!inner) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AddKSP(digest, inner));
  PetscCall(AddPC(digest, inner->pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What else KSP and PC have been told, but for what cycles change themselves: relative tolerances of smoothers, which
   test nothing */
static void AddRest(KCycleDigest *digest, KSP ksp)
{
  AddText(digest, ((PetscObject)ksp)->prefix);
  AddText(digest, ((PetscObject)ksp->pc)->prefix);
  if (ksp->converged != KSPConvergedSkip) AddReal(digest, ksp->rtol);
  AddReal(digest, ksp->abstol);
  AddReal(digest, ksp->divtol);
  AddInt(digest, (PetscInt)ksp->normtype_set);
  AddInt(digest, (PetscInt)ksp->pc_side_set);
  AddInt(digest, ksp->guess_knoll);
  AddInt(digest, ksp->calc_sings);
  AddInt(digest, ksp->numbermonitors);
  AddInt(digest, ksp->pc->useAmat);
  Add(digest, &ksp->converged, sizeof(ksp->converged));
  Add(digest, &ksp->presolve, sizeof(ksp->presolve));
  Add(digest, &ksp->postsolve, sizeof(ksp->postsolve));
}

static PetscErrorCode Read(KSP ksp, KCycleDigest told[])
{
  PC pc;

  PetscFunctionBegin;
  for (int i = 0; i < KCYCLE_NUM_ASPECTS; i++) told[i] = 14695981039346656037ULL;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(AddKSP(&told[KCYCLE_ASPECT_KSP], ksp));
  PetscCall(AddPC(&told[KCYCLE_ASPECT_PC], pc));
  AddInt(&told[KCYCLE_ASPECT_SWEEPS], ksp->max_it);
  AddRest(&told[KCYCLE_ASPECT_REST], ksp);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NULL: this process has no part of the level */
static PetscErrorCode Record(KSP ksp, KCycleChoice *choice)
{
  PetscFunctionBegin;
  if (!ksp) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Read(ksp, choice->told));
  choice->ksp = ((PetscObject)ksp)->id;
  choice->pc  = ((PetscObject)ksp->pc)->id;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver after the coarser levels that PCMGGetSmootherUp() has made has the types of the other one. Which of them
   the program has changed, or their parameters? */
static PetscErrorCode NoticeNew(KSP ksp, KSP down, KCycleChoice *choice)
{
  KCycleDigest now[KCYCLE_NUM_ASPECTS], fresh[KCYCLE_NUM_ASPECTS];
  KSP          twin;
  PC           pc;

  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_SELF, &twin));
  PetscCall(KSPSetType(twin, ((PetscObject)down)->type_name));
  PetscCall(KSPGetPC(twin, &pc));
  PetscCall(PCSetType(pc, ((PetscObject)down->pc)->type_name));
  PetscCall(Read(twin, fresh));
  PetscCall(KSPDestroy(&twin));
  PetscCall(Read(ksp, now));
  choice->theirs[KCYCLE_ASPECT_KSP]    = (PetscBool)(now[KCYCLE_ASPECT_KSP] != fresh[KCYCLE_ASPECT_KSP]);
  choice->theirs[KCYCLE_ASPECT_PC]     = (PetscBool)(now[KCYCLE_ASPECT_PC] != fresh[KCYCLE_ASPECT_PC]);
  choice->theirs[KCYCLE_ASPECT_SWEEPS] = (PetscBool)(ksp->max_it != down->max_it);
  choice->theirs[KCYCLE_ASPECT_REST]   = (PetscBool)(ksp->numbermonitors > 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Notice(const PC_MG_Levels *lv, int up, KCycleChoice *choice)
{
  const KSP          ksp    = up ? lv->smoothu : lv->smoothd;
  const KCycleChoice before = *choice;

  PetscFunctionBegin;
  PetscCall(Record(ksp, choice));
  if (!before.ksp || !ksp) PetscFunctionReturn(PETSC_SUCCESS);
  if (before.ksp != choice->ksp) PetscCall(NoticeNew(ksp, lv->smoothd, choice));
  else {
    for (int i = 0; i < KCYCLE_NUM_ASPECTS; i++) {
      if (choice->told[i] != before.told[i]) choice->theirs[i] = PETSC_TRUE;
    }
    if (choice->pc != before.pc) choice->theirs[KCYCLE_ASPECT_PC] = PETSC_TRUE;
  }
  if (choice->theirs[KCYCLE_ASPECT_KSP] || choice->theirs[KCYCLE_ASPECT_PC]) choice->chose = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the program has changed since PCKCycleSolversKeep(). Before anything is done with solvers */
PetscErrorCode PCKCycleSolversNotice(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (kc->busy) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt l = 0; mg->levels && l < kc->nchoices; l++) {
    PetscCall(Notice(mg->levels[l], 0, &kc->choice[l][0]));
    if (mg->levels[l]->smoothu != mg->levels[l]->smoothd) PetscCall(Notice(mg->levels[l], 1, &kc->choice[l][1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solvers are as they are by PCMG, by this type or by options: when all is done with them */
PetscErrorCode PCKCycleSolversKeep(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  for (PetscInt l = 0; mg->levels && l < kc->nchoices; l++) {
    PetscCall(Record(mg->levels[l]->smoothd, &kc->choice[l][0]));
    PetscCall(Record(mg->levels[l]->smoothu, &kc->choice[l][1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* There are new solvers, as PCMG makes them */
PetscErrorCode PCKCycleSolversMade(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(PetscFree(kc->choice));
  kc->nchoices = mg->levels ? mg->nlevels : 0;
  PetscCall(PetscCalloc1(kc->nchoices, &kc->choice));
  PetscCall(PCKCycleSolversKeep(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Has the program changed anything of the solvers of a level? */
PetscBool KCycleLevelIsTheirs(const PC_KCycle *kc, PetscInt l)
{
  PetscBool theirs = PETSC_FALSE;

  for (int i = 0; i < 2 * KCYCLE_NUM_ASPECTS && l < kc->nchoices; i++)
    theirs = (PetscBool)(theirs || kc->choice[l][i % 2].theirs[i / 2]);
  return theirs;
}

/* Is a smoother still two iterations of Chebyshev with SOR, or another method of the program around SOR as PCMG makes
   it? Then another preconditioner may take its place */
PetscErrorCode KCycleSmootherIsFree(KSP smoother, const KCycleChoice *choice, PetscBool *is)
{
  PetscBool chebyshev;
  PC        pc;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(smoother, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSOR, is));
  PetscCall(PetscObjectTypeCompare((PetscObject)smoother, KSPCHEBYSHEV, &chebyshev));
  *is = (PetscBool)(*is && !choice->theirs[KCYCLE_ASPECT_PC] && !(chebyshev && choice->theirs[KCYCLE_ASPECT_KSP]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
