/*
  Levels of the kappa-cycle: how they are made, run and destroyed.

  There is one source, compiled for each precision, see levels.h.
*/
#include "levels.h"

#if defined(KCYCLE_SINGLE)

/* A power of two of about this size, whose inverse is a number */
static PetscReal PowerOfTwo(PetscReal size)
{
  return PetscPowReal(2, PetscMax(-1000, PetscMin(1000, PetscFloorReal(PetscLog2Real(size)))));
}

/* The right side in units of its largest entry; false where that is zero, or no number: x is that then */
static PetscErrorCode ConvertRightSide(KCycleLevels *levels, const PetscScalar *b, PetscScalar *x, PetscBool *any)
{
  const KCycleLevelData *finest = &levels->level[levels->nlevels - 1];
  PetscReal              most[2], all[2];
  PetscBool              bad;

  PetscFunctionBegin;
  PetscCall((*levels->kernels->largest)(finest, b, &most[0], &bad));
  most[1] = bad ? 1 : 0;
  PetscCallMPI(MPI_Allreduce(most, all, 2, MPIU_REAL, MPIU_MAX, levels->comm));
  *any = (PetscBool)(all[0] > 0 && all[1] == 0);
  if (!*any) {
    PetscCall((*levels->kernels->fill)(finest, all[1] > 0 ? (PetscScalar)INFINITY : (PetscScalar)0.0, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  levels->size = PowerOfTwo(all[0]);
  PetscCall((*levels->kernels->convertin)(finest, b, levels->size, finest->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do the passes of the finest level convert b and x? There is one going down, and one going up */
static PetscBool Converts(const KCycleLevels *levels)
{
  const KCycleVisit     *visit  = &levels->run->visit;
  const KCycleLevelData *finest = &levels->level[levels->nlevels - 1];
  PetscBool              all    = (PetscBool)(finest->vectors && !visit->full && visit->cycles == 1);

  for (int i = 0; i < 2 && all; i++) {
    const KCycleSmoother *s = finest->ghosted ? finest->ghosted->smoother[i] : finest->smoother[i];

    all = (PetscBool)(s->inparts && !KCycleBoxTalks(s->st->box) &&
                      KCycleLevelsAreFused(levels, levels->nlevels - 1, i, PETSC_FALSE));
  }
  return all;
}

/* The largest entry of the right side, that is no NaN, over all processes */
static PetscErrorCode Largest(const KCycleLevels *levels, const KCycleVectors *v, PetscReal *largest)
{
  PetscReal most = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < KC_MOST * KCycleThreadsMost(); i++) most = PetscMax(most, v->most[i]);
  PetscCallMPI(MPI_Allreduce(&most, largest, 1, MPIU_REAL, MPIU_MAX, levels->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In units of a right side before. Where this one is of quite another size, once more in units of it */
static PetscErrorCode CyclesInUnits(KCycleLevels *levels, KCycleVectors *v)
{
  const PetscReal far = 1e12; /* the numbers of single precision go from 1e-38 to 1e38 */
  PetscReal       largest, size;

  do {
    size     = levels->size;
    v->scale = 1 / size;
    v->back  = size / levels->divisor;
    v->limit = PetscMin(size, 1e290) * 1e18;
    KCycleCall(PetscArrayzero(v->most, KC_MOST * KCycleThreadsMost()));
    KCycleCall(KCycleLevelsCycle(levels));
    KCycleCall(Largest(levels, v, &largest));
    if (largest > 0 && largest <= PETSC_MAX_REAL) levels->size = PowerOfTwo(largest);
  } while (levels->size > far * size || size > far * levels->size);
  return PETSC_SUCCESS;
}

/* The caller's arrays are known until all is done, or an error has ended it */
static PetscErrorCode RunConverting(KCycleLevels *levels, const PetscScalar *b, PetscScalar *x)
{
  KCycleVectors *v = levels->level[levels->nlevels - 1].vectors;
  PetscErrorCode ierr;

  v->from = b;
  v->to   = x;
  ierr    = CyclesInUnits(levels, v);
  v->from = NULL;
  v->to   = NULL;
  KCycleCall(ierr);
  return PETSC_SUCCESS;
}

/* Right sides and residuals of levels on the host get memory when a run of their kind is the first one: passes that
   convert take the finest right side from the caller, and fused levels have their residuals in the cache */
static PetscErrorCode MakeArrays(KCycleLevels *levels)
{
  const KCycleVisit *visit = &levels->run->visit;
  const int          which = visit->transpose ? 1 : 0;

  PetscFunctionBegin;
  for (PetscInt l = 0; l < levels->nlevels && !levels->kernels->attach; l++) {
    KCycleLevelData *level  = &levels->level[l];
    const PetscBool  finest = (PetscBool)(l == levels->nlevels - 1);
    const PetscBool  tested = (PetscBool)(levels->run->test && finest);
    const PetscBool  residual =
        (PetscBool)(l && (!KCycleLevelsAreFused(levels, l, which, tested) || (visit->full && visit->transpose)));
    const PetscInt n = level->st->box->npoints;

    if (!level->b && (!finest || !Converts(levels))) PetscCall(PetscMalloc1(n, &level->b));
    if (!level->r && residual) PetscCall(PetscMalloc1(n, &level->r));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Here x counts as zero */
static PetscErrorCode Run(KCycleLevels *levels, const KCycleRun *run, const PetscScalar *b, PetscScalar *x)
{
  const KCycleLevelData *finest = &levels->level[levels->nlevels - 1];
  PetscBool              any;

  levels->run     = run;
  levels->stopped = PETSC_FALSE;
  KCycleCall(MakeArrays(levels));
  if (Converts(levels)) {
    KCycleCall(RunConverting(levels, b, x));
    return PETSC_SUCCESS;
  }
  KC_PROFILED(levels, ConvertRightSide(levels, b, x, &any));
  if (!any) return PETSC_SUCCESS;
  KCycleCall(KCycleLevelsCycle(levels));
  KC_PROFILED(levels, (*levels->kernels->convertout)(finest, finest->x, levels->size / levels->divisor, x));
  return PETSC_SUCCESS;
}

#else

static PetscErrorCode Run(KCycleLevels *levels, const KCycleRun *run, const PetscScalar *b, PetscScalar *x)
{
  levels->run     = run;
  levels->stopped = PETSC_FALSE;
  for (PetscInt l = 0; l < levels->nlevels && !levels->kernels->attach; l++) {
    levels->level[l].b = levels->parts[l].b;
    levels->level[l].x = levels->parts[l].x;
    levels->level[l].r = levels->parts[l].r;
  }
  levels->level[levels->nlevels - 1].b = (PetscScalar *)b;
  levels->level[levels->nlevels - 1].x = x;
  KCycleCall(KCycleLevelsCycle(levels));
  return PETSC_SUCCESS;
}

#endif

static PetscErrorCode Destroy(KCycleLevels **levels)
{
  PetscFunctionBegin;
  if (!*levels) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleRecordingsDestroy(&(*levels)->recordings));
  PetscCall(KCycleSubcyclesDestroy(&(*levels)->subcycles));
  for (PetscInt l = 0; l < (*levels)->nlevels && (*levels)->kernels->detach; l++)
    PetscCall((*(*levels)->kernels->detach)(&(*levels)->level[l]));
  for (PetscInt l = 0; l < (*levels)->nlevels; l++) {
    if ((*levels)->level[l].ghosted) (*levels)->level[l].vectors = NULL; /* those of it */
    PetscCall(KCycleGhostedDestroy(&(*levels)->level[l].ghosted));
  }
#if defined(KCYCLE_SINGLE)
  for (PetscInt l = 0; l < (*levels)->nlevels; l++) {
    KCycleLevelData *level = &(*levels)->level[l];

    PetscCall(KCycleSmoothersDestroy(level->smoother));
    PetscCall(KCycleStencilSingleDestroy((KCycleStencil **)&level->st));
    PetscCall(KCycleTransferSingleDestroy((KCycleTransfer **)&level->tr));
    PetscCall(PetscFree(level->b));
    PetscCall(PetscFree(level->x));
    PetscCall(PetscFree(level->r));
    if (!level->vectors) continue;
    PetscCall(PetscFree(level->vectors->most));
    PetscCall(PetscFree(level->vectors));
  }
#endif
  PetscCall(PetscFree2((*levels)->coarse[0], (*levels)->coarse[1]));
  PetscCall(PetscFree((*levels)->level));
  PetscCall(PetscFree(*levels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateLevel(KCycleLevels *levels, PetscInt l)
{
  const KCycleLevelParts *parts = &levels->parts[l];
  KCycleLevelData        *level = &levels->level[l];
  const PetscBool         converts =
      (PetscBool)(KC_PRECISION == KCYCLE_PRECISION_SINGLE && !levels->kernels->attach && l && l == levels->nlevels - 1);

  PetscFunctionBegin;
  level->tiled    = parts->tiled;
  level->overlaps = parts->overlaps;
  level->starter  = parts->starter;
#if defined(KCYCLE_SINGLE)
  const PetscInt n = parts->st->box->npoints;

  PetscCall(KCycleStencilSingleCreate(parts->st, levels->divisor, (KCycleStencil **)&level->st));
  if (!levels->kernels->attach) PetscCall(PetscMalloc1(n, &level->x));
  if (parts->tr) PetscCall(KCycleTransferSingleCreate(parts->tr, (KCycleTransfer **)&level->tr));
  if (converts && !parts->ghosts) {
    PetscCall(PetscNew(&level->vectors));
    PetscCall(PetscMalloc1(KC_MOST * KCycleThreadsMost(), &level->vectors->most));
  }
  if (l)
    PetscCall(KCycleSmoothersCreateLike(parts->smoother, level->st, levels->divisor, level->vectors, level->smoother));
#else
  level->st = parts->st;
  level->tr = parts->tr;
  for (int i = 0; i < 2; i++) level->smoother[i] = parts->smoother[i];
#endif
  if (!parts->ghosts) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KCycleGhostedCreate(parts->ghosts, parts->smoother, levels->divisor, converts, &level->ghosted));
  if (converts) level->vectors = &level->ghosted->vectors;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What kernels of other memory spaces need in addition */
static PetscErrorCode AttachLevel(KCycleLevels *levels, PetscInt l)
{
  const PetscBool finest = (PetscBool)(l == levels->nlevels - 1),
                  single = (PetscBool)(KC_PRECISION == KCYCLE_PRECISION_SINGLE);
  const PetscInt n       = levels->level[l].st->box->npoints;

  PetscFunctionBegin;
  if (levels->kernels->attach)
    PetscCall((*levels->kernels->attach)(&levels->level[l], (PetscBool)(single || !finest), finest));
  if (!l && (single || levels->kernels->attach)) PetscCall(PetscMalloc2(n, &levels->coarse[0], n, &levels->coarse[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are operator and transfer of a level in the memory that its kernels work on, in numbers that they compute with? */
static PetscErrorCode CheckLevel(const KCycleLevels *levels, PetscInt l)
{
  const KCycleLevelData  *level  = &levels->level[l];
  const KCycleMemorySpace memory = levels->kernels->memory;

  PetscFunctionBegin;
  PetscCheck(
      KCycleStencilIsAt(level->st, memory) && (!level->tr || KCyclePoolIsAt(&level->tr->weights, memory)), levels->comm,
      PETSC_ERR_PLIB,
      "The kernels of the memory space \"%s\" do not reach the operator and the transfer of level %" PetscInt_FMT,
      levels->kernels->name, l);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* scale: of the operator, its largest diagonal entry */
static PetscErrorCode Create(MPI_Comm comm, KCycleMemorySpace memory, PetscInt nlevels, const KCycleLevelParts parts[],
                             PetscReal scale, KCycleLevels **levels)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(levels));
  (*levels)->comm    = comm;
  (*levels)->nlevels = nlevels;
  (*levels)->parts   = parts;
  (*levels)->kernels = KCycleKernelsOf(memory);
  (*levels)->counts  = (PetscBool)(memory == KCYCLE_MEMORY_COUNTED);
  (*levels)->divisor = 1;
  (*levels)->size    = 1;
#if defined(KCYCLE_SINGLE)
  (*levels)->divisor = PetscPowReal(2, PetscFloorReal(PetscLog2Real(scale))); /* numbers with few digits keep them */
#else
  (void)scale;
#endif
  PetscCall(PetscCalloc1(nlevels, &(*levels)->level));
  for (PetscInt l = 0; l < nlevels; l++) {
    PetscCall(CreateLevel(*levels, l));
    PetscCall(CheckLevel(*levels, l));
    PetscCall(AttachLevel(*levels, l));
  }
  if ((*levels)->kernels->record) PetscCall(KCycleRecordingsCreate(*levels, &(*levels)->recordings));
  if ((*levels)->kernels->write) PetscCall(KCycleSubcyclesCreate(*levels, &(*levels)->subcycles));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The finest operator has new values; levels with their own numbers keep the old ones */
static PetscErrorCode Renew(KCycleLevels *levels)
{
  PetscFunctionBegin;
  PetscCall(KCycleRecordingsForget(levels->recordings));
  PetscCall(KCycleSubcyclesForget(levels->subcycles));
  if (levels->kernels->renew) PetscCall((*levels->kernels->renew)(&levels->level[levels->nlevels - 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetInverse(KCycleLevels *levels, const KCycleInverse *inverse)
{
  PetscFunctionBegin;
  PetscCall((*levels->kernels->setinverse)(&levels->level[0], inverse));
  levels->inverse = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Sharing(const KCycleLevels *levels, KCycleSharing *sharing)
{
  *sharing = levels->subcycles->sharing;
}

static const char *Tiled(const KCycleLevels *levels, PetscInt l)
{
  return levels->kernels->tiled ? (*levels->kernels->tiled)(&levels->level[l]) : NULL;
}

/* Levels in tiles have kernels that one block cannot run, so that only coarser ones share one */
static PetscErrorCode Share(KCycleLevels *levels, PetscInt unknowns, PetscInt few)
{
  PetscFunctionBegin;
  for (PetscInt l = levels->nlevels - 1; l > 0; l--) {
    if (Tiled(levels, l)) unknowns = PetscMin(unknowns, levels->parts[l].st->box->npoints);
  }
  PetscCall(KCycleRecordingsForget(levels->recordings));
  PetscCall(KCycleSubcyclesSetTop(levels->subcycles, levels->inverse ? unknowns : 0, few));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt Costs(const KCycleLevels *levels, const KCycleCost **cost)
{
  *cost = levels->cost;
  return levels->ncosts;
}

#if defined(KCYCLE_SINGLE)
const KCycleEngine KCycleEngine_Single = {
    .name    = "single",
    .inplace = PETSC_FALSE,
#else
const KCycleEngine KCycleEngine_Double = {
    .name    = "double",
    .inplace = PETSC_TRUE,
#endif
    .create     = Create,
    .run        = Run,
    .renew      = Renew,
    .destroy    = Destroy,
    .setinverse = SetInverse,
    .share      = Share,
    .sharing    = Sharing,
    .tiled      = Tiled,
    .costs      = Costs,
};
