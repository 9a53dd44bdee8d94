/*
  Levels of ordinary matrices on the grids of a DMDA, of any size and with any number of unknowns at a point: every
  second point of the directions of strong couplings, linear interpolation, Galerkin products by PETSc. For what has no
  form as a stencil.
*/
#include "kcycleimpl.h"

/* The operator as a matrix that has products with interpolations: itself, or a copy in MATAIJ */
static PetscErrorCode FindMatrix(PC pc, Mat *A)
{
  PetscBool aij;
  Mat       found = pc->pmat;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)pc->pmat, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  if (aij) PetscCall(PetscObjectReference((PetscObject)found));
  else PetscCall(KCycleMatToAIJ(pc->pmat, &found));
  PetscCall(MatDestroy(A));
  *A = found;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why levels cannot be such, or nothing */
static PetscErrorCode WhyNot(PC pc, size_t len, char why[])
{
  PetscBool fits;
  PetscInt  rows, M, N, P, dof;

  PetscFunctionBegin;
  why[0] = 0;
  PetscCall(KCycleBoxCheck(pc->dm, KCYCLE_BOX_MATRICES, len, why));
  if (!why[0]) PetscCall(PCKCycleCheckRatio(pc, len, why));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)pc->pmat, &fits, MATSEQAIJ, MATMPIAIJ, MATSEQBAIJ, MATMPIBAIJ,
                                          MATSEQSBAIJ, MATMPISBAIJ, MATSEQSELL, MATMPISELL, MATSTENCIL, ""));
  PetscCall(MatGetSize(pc->pmat, &rows, NULL));
  PetscCall(DMDAGetInfo(pc->dm, NULL, &M, &N, &P, NULL, NULL, NULL, &dof, NULL, NULL, NULL, NULL, NULL));
  if (!fits)
    PetscCall(PetscSNPrintf(why, len, "the operator is of type %s, which has no Galerkin products",
                            ((PetscObject)pc->pmat)->type_name));
  else if (rows != M * N * P * dof) PetscCall(PetscSNPrintf(why, len, "the operator is not on all of the grid"));
  else if (KCycleOf(pc)->galerkin_set && ((PC_MG *)pc->data)->galerkin >= PC_MG_GALERKIN_NONE)
    PetscCall(PetscSNPrintf(why, len, "-pc_mg_galerkin has the program give coarse operators"));
  else PetscCall(PCKCycleCheckCoarse(pc, len, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are levels to be such? Asked once, where they are not structured */
PetscErrorCode PCKCycleGridsChoose(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  if (kc->ready) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCKCycleGridsReset(kc));
  if (kc->levels_from == PC_KCYCLE_HIERARCHY_UNKNOWNS) kc->unknowns.use = PETSC_TRUE;
  PetscCall(WhyNot(pc, sizeof(kc->nogrids), kc->nogrids));
  if (!kc->nogrids[0] && kc->unknowns.use) PetscCall(PCKCycleUnknownsWhyNot(pc, sizeof(kc->nogrids), kc->nogrids));
  kc->use_grids = (PetscBool)!kc->nogrids[0];
  if (kc->nogrids[0]) PetscCall(PetscInfo(pc, "Levels are not on coarser grids of the DMDA: %s\n", kc->nogrids));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The directions of strong couplings that have points to leave out; none if the grid is small and no level was asked
   for */
static PetscErrorCode ChooseDirections(PC pc, const KCycleGridLevel *level, const PetscReal coupling[], PetscBool asked,
                                       PetscInt factor[])
{
  const KCycleBox *box = &level->mesh.box;
  PC_KCycle       *kc  = KCycleOf(pc);
  PetscBool        automatic, small = PETSC_TRUE, couples[3];
  KCycleWas        was[3];

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(kc->semicoarsen, "auto", &automatic));
  for (int d = 0; d < 3; d++) {
    couples[d] = (PetscBool)(box->size[d] > 1);
    was[d]     = KCycleWasKnown((PetscBool)(level->P != NULL), (PetscBool)(level->factor[d] > 1));
    if (box->size[d] > KCYCLE_COARSEST) small = PETSC_FALSE;
  }
  if (level != kc->grids && KCycleBoxGlobalRows(box) <= KCYCLE_COARSEST_ROWS) small = PETSC_TRUE;
  KCyclePolicyDirections(coupling, couples, NULL, automatic ? NULL : kc->semicoarsen, was, factor);
  for (int d = 0; d < 3 && small && !asked; d++) factor[d] = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How a level must be coarsened, and which unknowns are isolated; are these others than before? */
static PetscErrorCode LookAtLevel(PC pc, KCycleGridLevel *level, PetscBool exists, PetscBool asked, PetscBool *changed)
{
  const PetscInt n = KCycleBoxLocalRows(&level->mesh.box);
  PetscInt       factor[3];
  PetscBool     *single;
  PetscReal      coupling[3];
  int            other = 0, any;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &single));
  PetscCall(KCycleMeshLook(&level->mesh, level->A, coupling, single));
  PetscCall(ChooseDirections(pc, level, coupling, asked, factor));
  for (PetscInt i = 0; exists && i < n; i++) other = other || single[i] != level->single[i];
  for (int d = 0; d < 3; d++) {
    other            = other || (exists && factor[d] != level->factor[d]);
    level->factor[d] = factor[d];
  }
  PetscCall(PetscFree(level->single));
  level->single = single;
  PetscCallMPI(MPI_Allreduce(&other, &any, 1, MPI_INT, MPI_LOR, PetscObjectComm((PetscObject)pc)));
  *changed = (PetscBool)any;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next grid, the interpolation from it, and its operator */
static PetscErrorCode CoarsenLevel(PC pc, KCycleGridLevel *level, PetscBool asked, PetscBool exists, PetscBool *coarser,
                                   PetscBool *changed)
{
  PetscBool coarsened[3];
  MatType   type;
  PetscInt  bs;

  PetscFunctionBegin;
  PetscCall(LookAtLevel(pc, level, exists, asked, changed));
  for (int d = 0; d < 3; d++) coarsened[d] = (PetscBool)(level->factor[d] > 1);
  *coarser = (PetscBool)(coarsened[0] || coarsened[1] || coarsened[2]);
  if (*changed || !*coarser) PetscFunctionReturn(PETSC_SUCCESS);
  if (!level->P) {
    PetscCall(KCycleMeshCoarsen(&level->mesh, coarsened, &level[1].mesh));
    PetscCall(MatGetType(level->A, &type));
    PetscCall(KCycleMeshInterpolation(&level->mesh, &level[1].mesh, coarsened, level->single, type,
                                      PetscObjectComm((PetscObject)level->A), &level->P));
    PetscCall(MatPtAP(level->A, level->P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &level[1].A));
    PetscCall(MatGetBlockSize(level[1].A, &bs));
    if (bs != level->mesh.box.dof) PetscCall(MatSetBlockSize(level[1].A, level->mesh.box.dof));
  } else PetscCall(MatPtAP(level->A, level->P, MAT_REUSE_MATRIX, PETSC_DEFAULT, &level[1].A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Unknowns one by one: the level below has the same points and the same operator */
static PetscErrorCode RepeatLevel(PC pc, KCycleGridLevel *level)
{
  PetscInt m, n, M, N;

  PetscFunctionBegin;
  if (!level->P) {
    PetscCall(KCycleMeshCreate(pc->dm, &level->mesh));
    PetscCall(MatGetSize(level->A, &M, &N));
    PetscCall(MatGetLocalSize(level->A, &m, &n));
    PetscCall(MatCreateConstantDiagonal(PetscObjectComm((PetscObject)level->A), m, n, M, N, 1, &level->P));
  }
  PetscCall(PetscObjectReference((PetscObject)level->A));
  PetscCall(MatDestroy(&level[1].A));
  level[1].A = level->A;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetOperators(const PC_MG_Levels *lv, Mat A)
{
  PetscFunctionBegin;
  PetscCall(KSPSetOperators(lv->smoothd, A, A));
  if (lv->smoothu != lv->smoothd) PetscCall(KSPSetOperators(lv->smoothu, A, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The finest level works with the operator itself, if its type has sweeps for blocks of unknowns, else with the copy */
static PetscErrorCode SetFinest(PC pc)
{
  PC_MG    *mg = (PC_MG *)pc->data;
  PetscBool sweeps;

  PetscFunctionBegin;
  PetscCall(
      PetscObjectBaseTypeCompareAny((PetscObject)pc->pmat, &sweeps, MATSEQAIJ, MATMPIAIJ, MATSEQBAIJ, MATMPIBAIJ, ""));
  if (!sweeps) PetscCall(SetOperators(mg->levels[mg->nlevels - 1], KCycleOf(pc)->grids[0].A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smoothers of a level of several unknowns at a point that has zeros on its diagonal */
static PetscErrorCode SetSmoother(Mat A, PC_MG_Levels *lv, const KCycleChoice choice[])
{
  PetscBool zero, done;
  PetscInt  bs;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(A, &bs));
  if (bs == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleMatHasZeroDiagonal(A, &zero));
  if (!zero) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleLevelFactor(lv, choice, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  PCMG's smoother, two iterations of Chebyshev with SOR, becomes one symmetric sweep of SOR on one process, unless
  another was chosen: that saves the estimate of an eigenvalue and most of the work, and needs no operator whose
  eigenvalues are real. SOR solves for all unknowns of a point at once, as PETSc's does for MATAIJ with equal rows and
  for MATBAIJ. Between processes it is a block Jacobi method, which may diverge: there Chebyshev's estimate is what
  makes it a smoother, but not where unknowns are solved for one by one, as operators are not symmetric then
*/
static PetscErrorCode ChooseSmoother(KSP smoother, PetscBool unknowns, KCycleChoice *choice)
{
  const char *const options[] = {"-ksp_type", "-pc_type", "-ksp_chebyshev_eigenvalues", "-ksp_chebyshev_esteig",
                                 "-ksp_chebyshev_kind"};
  PetscBool         chebyshev, sor, given;
  PetscInt          its;
  PetscMPIInt       size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)smoother), &size));
  PetscCall(KCycleSmootherIsFree(smoother, choice, &sor));
  PetscCall(PetscObjectTypeCompare((PetscObject)smoother, KSPCHEBYSHEV, &chebyshev));
  PetscCall(KCycleHasOption((PetscObject)smoother, PETSC_STATIC_ARRAY_LENGTH(options), options, &given));
  if ((size > 1 && !unknowns) || !sor || !chebyshev || given) PetscFunctionReturn(PETSC_SUCCESS);
  choice->chose = PETSC_TRUE;
  PetscCall(KSPGetTolerances(smoother, NULL, NULL, NULL, &its));
  PetscCall(KSPSetType(smoother, KSPRICHARDSON));
  if (its == KCYCLE_PCMG_ITS && !choice->theirs[KCYCLE_ASPECT_SWEEPS])
    PetscCall(KSPSetTolerances(smoother, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Hands operators, interpolations and smoothers to PCMG, whose finest level is the last */
static PetscErrorCode SetLevels(PC pc)
{
  PC_MG     *mg = (PC_MG *)pc->data;
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(PCKCycleMakeOperators(pc));
  for (PetscInt l = 0; l < kc->ngrids; l++) {
    const PetscInt   number    = kc->ngrids - 1 - l;
    KCycleGridLevel *level     = &kc->grids[l];
    KSP              solver[2] = {mg->levels[number]->smoothd, mg->levels[number]->smoothu};

    if (level->P) PetscCall(PCMGSetInterpolation(pc, number, level->P));
    if (number > 0) PetscCall(SetSmoother(level->A, mg->levels[number], kc->choice[number]));
    for (int i = 0; !kc->ready && number && i < (solver[0] == solver[1] ? 1 : 2); i++)
      PetscCall(ChooseSmoother(solver[i], kc->unknowns.use, &kc->choice[number][i]));
    if (l == 0) PetscCall(SetFinest(pc));
    else PetscCall(SetOperators(mg->levels[number], level->A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Builds the levels, or renews their values */
PetscErrorCode PCKCycleGridsSetUp(PC pc)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscInt   wanted;

  PetscFunctionBegin;
  PetscCall(PCKCycleLevelsWanted(pc, &wanted));
  PetscCall(FindMatrix(pc, &kc->grids[0].A));
  if (kc->unknowns.use) {
    PetscCall(RepeatLevel(pc, &kc->grids[0]));
    kc->ngrids = 2;
  } else PetscCall(PCKCycleBuildLevels(pc, wanted, CoarsenLevel));
  kc->use_grids = PETSC_TRUE;
  PetscCall(PCKCycleUseLevels(pc, kc->ngrids, wanted));
  if (kc->unknowns.use && !kc->kappa_set) kc->kappa = 1;
  if (kc->unknowns.use) PetscCall(PCKCycleUnknownsInstall(pc, ((PC_MG *)pc->data)->levels[0]->smoothd));
  if (kc->ngrids > 1) PetscCall(SetLevels(pc));
  else PetscCall(SetFinest(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCKCycleGridsView(PC pc, PetscViewer viewer)
{
  PC_KCycle *kc = KCycleOf(pc);

  PetscFunctionBegin;
  PetscCall(PCKCycleUnknownsView(pc, viewer));
  for (PetscInt l = 0; l < kc->ngrids - (PetscInt)kc->unknowns.use; l++) {
    const KCycleGridLevel *level  = &kc->grids[l];
    const KCycleBox       *box    = &level->mesh.box;
    char                   to[64] = "", unknowns[64] = "";

    if (level->P && !kc->unknowns.use)
      PetscCall(PetscSNPrintf(to, sizeof(to), ", coarsened in %s%s%s by linear interpolation",
                              level->factor[0] > 1 ? "x" : "", level->factor[1] > 1 ? "y" : "",
                              level->factor[2] > 1 ? "z" : ""));
    if (box->dof > 1)
      PetscCall(PetscSNPrintf(unknowns, sizeof(unknowns), ", %" PetscInt_FMT " unknowns at a point", box->dof));
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "    %5" PetscInt_FMT " grid %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT "%s%s\n",
        kc->ngrids - 1 - l, box->size[0], box->size[1], box->size[2], unknowns, to));
  }
  if (kc->unknowns.use) PetscCall(PetscViewerASCIIPrintf(viewer, "        0 the same grid, its unknowns one by one\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
