static char help[] =
    "What a program may do to a MATSTENCIL once it is there: another shape, options, indices, viewers.\n\
  -test <shapes|prisms|options|refusals|views>\n\n";

#include "poisson.h"
#include "grids.h"

static PetscErrorCode CreateDM(Grid *g, PetscBool box, DM *da)
{
  PetscBool possible;

  PetscFunctionBeginUser;
  g->box = box;
  if (!g->nproc[0]) {
    PetscCall(GridDistribute(g, &possible));
    PetscCheck(possible, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ, "Too many processes");
  }
  PetscCall(GridCreateDM(g, da));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateMat(Grid g, PetscBool box, MatType type, Mat *A)
{
  DM da;

  PetscFunctionBeginUser;
  PetscCall(CreateDM(&g, box, &da));
  PetscCall(GridCreateMat(&g, da, type, A));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

/* Largest difference of the products of two matrices, and of their transposes, with a vector */
static PetscErrorCode Difference(Mat A, Mat B, PetscReal *difference)
{
  Vec       x[2], y, z;
  PetscReal norm;

  PetscFunctionBeginUser;
  *difference = 0;
  PetscCall(MatCreateVecs(A, &x[0], &x[1]));
  for (int t = 0; t < 2; t++) {
    PetscCall(DuplicateVec(x[1 - t], &y, &z));
    PetscCall(FillRows(x[t], 5));
    PetscCall(t ? MatMultTranspose(A, x[t], y) : MatMult(A, x[t], y));
    PetscCall(t ? MatMultTranspose(B, x[t], z) : MatMult(B, x[t], z));
    PetscCall(VecAXPY(z, -1.0, y));
    PetscCall(VecNorm(z, NORM_INFINITY, &norm));
    *difference = PetscMax(*difference, norm);
    PetscCall(DestroyAll(&y, &z));
  }
  PetscCall(DestroyAll(&x[0], &x[1]));
  PetscFunctionReturn(0);
}

/* The ways in which a star becomes a box */
typedef enum {
  BY_COPY,
  BY_SUM,
  BY_COPY_OF_AIJ,
  BY_SUM_WITH_AIJ,
  BY_CONVERSION,
  BY_HEADER,
  NUM_WAYS
} Way;

static PetscErrorCode ChangeShape(Mat A, Way way, Mat box)
{
  Mat other;

  PetscFunctionBeginUser;
  if (way == BY_COPY) PetscCall(MatCopy(box, A, DIFFERENT_NONZERO_PATTERN));
  if (way == BY_SUM) PetscCall(MatAXPY(A, 2.0, box, DIFFERENT_NONZERO_PATTERN));
  if (way == BY_HEADER) {
    PetscCall(MatDuplicate(box, MAT_COPY_VALUES, &other));
    PetscCall(MatHeaderReplace(A, &other));
  } else if (way != BY_COPY && way != BY_SUM) {
    PetscCall(MatConvert(box, MATAIJ, MAT_INITIAL_MATRIX, &other));
    if (way == BY_COPY_OF_AIJ) PetscCall(MatCopy(other, A, DIFFERENT_NONZERO_PATTERN));
    else if (way == BY_SUM_WITH_AIJ) PetscCall(MatAXPY(A, 2.0, other, DIFFERENT_NONZERO_PATTERN));
    else PetscCall(MatConvert(other, MATSTENCIL, MAT_REUSE_MATRIX, &A));
    PetscCall(MatDestroy(&other));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CreatePC(const char type[], Mat A, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(MakePC(A, type, pc));
  PetscCall(PCSetFromOptions(*pc));
  PetscFunctionReturn(0);
}

/* What a preconditioner and a new one for the same operator give, apart */
static PetscErrorCode CompareFresh(const char type[], PC pc, PetscReal *apart)
{
  Mat       A;
  Vec       b, x, y;
  PC        fresh;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(PCGetOperators(pc, NULL, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(FillRows(b, 5));
  PetscCall(PCSetUp(pc));
  PetscCall(PCSetUpOnBlocks(pc));
  PetscCall(PCApply(pc, b, x));
  PetscCall(CreatePC(type, A, &fresh));
  PetscCall(PCSetUp(fresh));
  PetscCall(PCSetUpOnBlocks(fresh));
  PetscCall(PCApply(fresh, b, y));
  PetscCall(DifferenceNorms(x, y, NORM_INFINITY, apart, &norm));
  *apart /= norm;
  PetscCall(DestroyAll(&fresh, &b, &x, &y));
  PetscFunctionReturn(0);
}

/* Star, box by one of the ways, box with other values */
static PetscErrorCode SetUpAgain(const char type[], PetscInt dim, Way way, PetscReal *worst)
{
  Grid             g = {.number = 3, .dim = dim, .size = {10, 11, dim > 2 ? 7 : 1}, .strength = {1, 2, 1}, .vary = 0.5};
  Mat              A, box;
  PC               pc;
  PetscReal        apart;
  PetscObjectState before, after;

  PetscFunctionBeginUser;
  GridSetBoundaries(&g, BOUNDARY_ELIMINATED);
  PetscCall(CreateMat(g, PETSC_FALSE, MATSTENCIL, &A));
  PetscCall(CreateMat(g, PETSC_TRUE, MATSTENCIL, &box));
  PetscCall(CreatePC(type, A, &pc));
  PetscCall(CompareFresh(type, pc, worst));
  PetscCall(MatGetNonzeroState(A, &before));
  PetscCall(ChangeShape(A, way, box));
  PetscCall(MatGetNonzeroState(A, &after));
  if (way != BY_HEADER && before == after) *worst = 1;
  PetscCall(CompareFresh(type, pc, &apart));
  *worst = PetscMax(*worst, apart);
  PetscCall(MatGetNonzeroState(A, &before));
  PetscCall(MatAXPY(A, 0.5, box, SAME_NONZERO_PATTERN));
  PetscCall(MatGetNonzeroState(A, &after));
  if (before != after) *worst = 1; /* the same shape */
  PetscCall(CompareFresh(type, pc, &apart));
  *worst = PetscMax(*worst, apart);
  PetscCall(DestroyAll(&pc, &A, &box));
  PetscFunctionReturn(0);
}

/* A matrix keeps the places that it has: values may come there after others */
static PetscErrorCode KeepsPlaces(PetscBool *holds)
{
  Grid g = {.number = 3, .dim = 2, .size = {10, 11, 1}, .strength = {1, 2, 1}, .vary = 0.5};
  Mat  star, A, B, block;
  DM   da;

  PetscFunctionBeginUser;
  GridSetBoundaries(&g, BOUNDARY_ELIMINATED);
  PetscCall(CreateMat(g, PETSC_FALSE, MATSTENCIL, &star));
  PetscCall(CreateMat(g, PETSC_TRUE, MATSTENCIL, &A));
  PetscCall(CreateMat(g, PETSC_TRUE, MATAIJ, &B));
  PetscCall(MatGetDiagonalBlock(A, &block)); /* kept in AIJ form */
  PetscCall(MatCopy(star, A, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatZeroEntries(A));
  PetscCall(CreateDM(&g, PETSC_TRUE, &da));
  PetscCall(GridAssemble(&g, da, A));
  PetscCall(MatMultEqual(A, B, 2, holds));
  PetscCall(DestroyAll(&da, &star, &A, &B));
  PetscFunctionReturn(0);
}

/* Rows of three points have the same columns, and AIJ takes them together */
static PetscErrorCode FactorsAlike(const char type[], PetscReal *apart)
{
  Grid g = {.number = 3, .dim = 3, .size = {3, 5, 6}, .strength = {1, 2, 1}, .vary = 0.5};
  Mat  A[2];
  Vec  b, x[2];

  PetscFunctionBeginUser;
  GridSetBoundaries(&g, BOUNDARY_ELIMINATED);
  g.boundary[0][0] = g.boundary[0][1] = BOUNDARY_PERIODIC;
  for (int i = 0; i < 2; i++) {
    PC pc;

    PetscCall(CreateMat(g, PETSC_TRUE, i ? MATSTENCIL : MATAIJ, &A[i]));
    PetscCall(MatCreateVecs(A[i], &x[i], &b));
    PetscCall(FillRows(b, 5));
    PetscCall(CreatePC(type, A[i], &pc));
    PetscCall(PCApply(pc, b, x[i]));
    PetscCall(DestroyAll(&pc, &b, &A[i]));
  }
  PetscCall(VecAXPY(x[0], -1.0, x[1]));
  PetscCall(VecNorm(x[0], NORM_INFINITY, apart));
  PetscCall(DestroyAll(&x[0], &x[1]));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestShapes(void)
{
  const char *const types[] = {PCINCPOISSON, PCLU,        PCILU, PCCHOLESKY, PCICC,
                               PCBJACOBI,    PCREDUNDANT, PCSOR, PCRELAX,    PCKCYCLE};
  PetscBool         holds;

  PetscFunctionBeginUser;
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
    const PetscBool alone = (PetscBool)(t >= 1 && t <= 4); /* factorizations on one process */
    PetscReal       worst = 0, apart;

    if (alone && PetscGlobalSize > 1) continue;
    for (int way = 0; way < NUM_WAYS; way++) {
      for (PetscInt dim = 2; dim < 4; dim++) {
        PetscCall(SetUpAgain(types[t], dim, (Way)way, &apart));
        worst = PetscMax(worst, apart);
      }
    }
    PetscCall(ClaimThat(worst < 1e-12, "%s of a star that becomes a box is as a new one", types[t]));
    if (!(worst < 1e-12)) PetscCall(Print("  relative difference %g\n", (double)worst));
  }
  for (int t = 0; t < 2 && PetscGlobalSize == 1; t++) {
    PetscReal apart;

    PetscCall(FactorsAlike(t ? PCILU : PCLU, &apart));
    PetscCall(Claim(apart < 1e-12, t ? "ilu of rows that are alike is AIJ's" : "lu of rows that are alike is AIJ's"));
  }
  PetscCall(KeepsPlaces(&holds));
  PetscCall(Claim(holds, "a box that gets a star's values is filled as a box again"));
  PetscFunctionReturn(0);
}

/* The operator of the level below the finest: a grid of 7 x 7 x 7, coarsened in one direction, which makes a prism */
static PetscErrorCode CreatePrism(PetscInt d, Mat *prism)
{
  const char *const directions[] = {"x", "y", "z"};
  Grid              g            = {.number = 5, .dim = 3, .size = {7, 7, 7}, .strength = {1, 1, 1}, .vary = 0.5};
  Mat               A;
  KSP               smoother;
  PC                pc;

  PetscFunctionBeginUser;
  g.size[d]  = 15;
  g.nproc[0] = g.nproc[1] = 1;
  g.nproc[2]              = PetscGlobalSize;
  GridSetBoundaries(&g, BOUNDARY_ELIMINATED);
  PetscCall(CreateMat(g, PETSC_FALSE, MATSTENCIL, &A));
  PetscCall(MakePC(A, PCKCYCLE, &pc));
  PetscCall(PCMGSetLevels(pc, 3, NULL));
  PetscCall(PCKCycleSetProcEqLim(pc, 0));
  PetscCall(PCKCycleSetStructured(pc, PC_KCYCLE_STRUCTURED_ON));
  PetscCall(PCKCycleSetSemicoarsen(pc, directions[d]));
  PetscCall(PCKCycleSetInterpolation(pc, PC_KCYCLE_INTERPOLATION_OPERATOR));
  PetscCall(PCSetUp(pc));
  PetscCall(PCMGGetSmoother(pc, 1, &smoother));
  PetscCall(KSPGetOperators(smoother, NULL, prism));
  PetscCall(MatDuplicate(*prism, MAT_COPY_VALUES, prism));
  PetscCall(DestroyAll(&pc, &A));
  PetscFunctionReturn(0);
}

static PetscErrorCode Points(Mat A, PetscInt *points)
{
  MatInfo  info;
  PetscInt rows;

  PetscFunctionBeginUser;
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  PetscCall(MatGetSize(A, &rows, NULL));
  *points = (PetscInt)(info.nz_used / (PetscReal)rows + 0.5);
  PetscFunctionReturn(0);
}

/* Two stencils of 15 points each are not the same for that */
static PetscErrorCode TestPrisms(void)
{
  PetscInt  points[3];
  PetscReal worst, apart;
  PetscBool equal, sum;
  Mat       A, B, C, aij;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(CreatePrism(0, &A));
  PetscCall(CreatePrism(1, &B));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
  PetscCall(Points(A, &points[0]));
  PetscCall(Points(B, &points[1]));
  PetscCall(CreatePC(PCINCPOISSON, A, &pc));
  PetscCall(CompareFresh(PCINCPOISSON, pc, &worst));
  PetscCall(MatCopy(B, A, DIFFERENT_NONZERO_PATTERN));
  PetscCall(Points(A, &points[2]));
  PetscCall(CompareFresh(PCINCPOISSON, pc, &apart));
  worst = PetscMax(worst, apart);
  PetscCall(Print("prisms of %" PetscInt_FMT " and %" PetscInt_FMT " points make one of %" PetscInt_FMT "\n", points[0],
                  points[1], points[2]));
  PetscCall(Claim(worst < 1e-12, "the preconditioner of one that gets another's values is as a new one"));
  PetscCall(MatMultEqual(A, B, 2, &equal));
  PetscCall(MatConvert(A, MATAIJ, MAT_REUSE_MATRIX, &aij));
  PetscCall(MatMultEqual(aij, B, 2, &sum));
  PetscCall(Claim(equal && sum, "its values are the other's, as AIJ, too"));
  PetscCall(MatAXPY(C, 1.0, B, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatAXPY(C, -1.0, A, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatAXPY(C, 1.0, A, SAME_NONZERO_PATTERN));
  PetscCall(MatAXPY(C, -1.0, A, SUBSET_NONZERO_PATTERN));
  PetscCall(MatCopy(C, aij, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatMultEqual(C, aij, 2, &sum));
  PetscCall(Claim(sum, "sums of prisms are what they are as AIJ"));
  PetscCall(DestroyAll(&pc, &A, &B, &C, &aij));
  PetscFunctionReturn(0);
}

/* Couplings of an AIJ matrix across corners come from zero: the pattern stays, the stencils of levels do not */
static PetscErrorCode TestLevels(const char directions[])
{
  Grid      g = {.number = 5, .dim = 3, .size = {15, 13, 11}, .strength = {1, 1, 1}, .vary = 0.5}, star;
  Mat       A;
  DM        da;
  PC        pc;
  PetscReal worst, apart;

  PetscFunctionBeginUser;
  GridSetBoundaries(&g, BOUNDARY_ELIMINATED);
  PetscCall(PetscOptionsSetValue(NULL, "-pc_kcycle_semicoarsen", directions));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_kcycle_interpolation", "operator"));
  PetscCall(CreateDM(&g, PETSC_TRUE, &da));
  PetscCall(DMSetMatType(da, MATAIJ));
  PetscCall(DMCreateMatrix(da, &A));
  star     = g;
  star.box = PETSC_FALSE;
  PetscCall(GridAssemble(&star, da, A));
  PetscCall(CreatePC(PCKCYCLE, A, &pc));
  PetscCall(CompareFresh(PCKCYCLE, pc, &worst));
  PetscCall(MatZeroEntries(A));
  PetscCall(GridAssemble(&g, da, A));
  PetscCall(CompareFresh(PCKCYCLE, pc, &apart));
  worst = PetscMax(worst, apart);
  PetscCall(ClaimThat(worst < 1e-12, "levels coarsened in %s of AIJ that gets corners are as new ones", directions));
  if (!(worst < 1e-12)) PetscCall(Print("  relative difference %g\n", (double)worst));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_kcycle_semicoarsen"));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_kcycle_interpolation"));
  PetscCall(DestroyAll(&pc, &A, &da));
  PetscFunctionReturn(0);
}

static const Grid Small = {.number = 3, .dim = 2, .size = {6, 9, 1}, .strength = {1, 2, 1}, .vary = 0.5};

/* What is tried with an option: whole rows, a block of two rows, an entry that has no place in a star, one in a row of
   the next process */
typedef enum {
  WHOLE_ROWS,
  BLOCK,
  OUTSIDE,
  OTHERS,
  NUM_TRIALS
} Trial;

static PetscErrorCode Try(Mat A, Mat rows, Trial trial)
{
  PetscScalar        v[6] = {0.5, 0.25, 0, 2, 3, 4};
  const PetscScalar *values;
  const PetscInt    *ranges, *cols;
  PetscInt           n, first, end, set[2], to[3];

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  PetscCall(MatGetOwnershipRanges(A, &ranges));
  set[0] = first;
  set[1] = first + 1;
  for (PetscInt row = first; row < end && trial == WHOLE_ROWS; row++) {
    PetscCall(MatGetRow(rows, row, &n, &cols, &values));
    PetscCall(MatSetValues(A, 1, &row, n, cols, values, INSERT_VALUES));
    PetscCall(MatRestoreRow(rows, row, &n, &cols, &values));
  }
  to[0] = first;
  to[1] = first + 1;
  if (trial == BLOCK) PetscCall(MatSetValues(A, 2, set, 2, to, v, ADD_VALUES));
  to[0] = first + Small.size[0] + 1;
  if (trial == OUTSIDE) PetscCall(MatSetValues(A, 1, set, 1, to, v, ADD_VALUES));
  set[0] = ranges[(PetscGlobalRank + 1) % PetscGlobalSize];
  if (trial == OTHERS) PetscCall(MatSetValues(A, 1, set, 1, set, v, ADD_VALUES));
  PetscCall(AssembleMat(A));
  PetscFunctionReturn(0);
}

/* Of one type: is the option refused, or what is tried with it? copy: of a duplicate */
static PetscErrorCode TryOption(MatType type, MatOption option, PetscBool flag, Trial trial, PetscBool copy, Mat *A,
                                PetscBool refused[2])
{
  PetscErrorCode ierr;
  char           words[ERROR_LENGTH];
  Mat            original, rows;

  PetscFunctionBeginUser;
  refused[0] = refused[1] = PETSC_FALSE;
  PetscCall(CreateMat(Small, PETSC_FALSE, type, &original));
  PetscCall(CreateMat(Small, PETSC_FALSE, MATAIJ, &rows));
  PetscCall(MatScale(rows, 1.5));
  KeepErrorOf(MatSetOption(original, option, flag), ierr, words);
  refused[0] = (PetscBool)(ierr != 0);
  if (copy) {
    PetscCall(MatDuplicate(original, MAT_COPY_VALUES, A));
    PetscCall(MatDestroy(&original));
  } else *A = original;
  PetscCall(PetscPushErrorHandler(KeepError, words));
  if (!refused[0]) ierr = Try(*A, rows, trial);
  PetscCall(PetscPopErrorHandler());
  refused[1] = (PetscBool)(ierr != 0);
  PetscCall(MatDestroy(&rows));
  PetscFunctionReturn(0);
}

/* What is expected of an option: what AIJ does with it; that it changes nothing; that it is refused if true */
typedef enum {
  AS_AIJ,
  NOTHING,
  REFUSED
} Expected;

static Expected ExpectedOf(MatOption option)
{
  switch (option) {
  case MAT_STRUCTURE_ONLY:
  case MAT_IGNORE_LOWER_TRIANGULAR:
  case MAT_ERROR_LOWER_TRIANGULAR:
  case MAT_GETROW_UPPERTRIANGULAR:
    return REFUSED;
  case MAT_USE_HASH_TABLE:
  case MAT_SUBSET_OFF_PROC_ENTRIES: /* that is for its stash, which PETSc 3.18 forgets to make on one process */
  case MAT_SORTED_FULL:
    return NOTHING;
  default:
    return AS_AIJ;
  }
}

/* One trial with MATSTENCIL and with AIJ, which is not told where nothing is expected */
static PetscErrorCode CompareTrial(MatOption option, PetscBool flag, Trial trial, PetscBool copy, PetscBool *same)
{
  const Expected expected = ExpectedOf(option);
  const char    *what[]   = {"false", "true"};
  PetscBool      stencil[2], aij[2];
  PetscReal      difference = 0;
  Mat            A, B;

  PetscFunctionBeginUser;
  PetscCall(TryOption(MATSTENCIL, option, flag, trial, copy, &A, stencil));
  PetscCall(TryOption(MATAIJ, expected == AS_AIJ ? option : MAT_USE_INODES, flag, trial, copy, &B, aij));
  if (expected == REFUSED && flag) *same = (PetscBool)(*same && stencil[0]);
  else if (trial == OUTSIDE && stencil[1] && !aij[1]) {
    if (!copy) PetscCall(Print("%s %s: entries outside are refused\n", MatOptions[option], what[flag]));
  } else {
    if (!stencil[1] && !aij[1]) PetscCall(Difference(A, B, &difference));
    if (stencil[0] != aij[0] || stencil[1] != aij[1] || difference > 1e-13) {
      PetscCall(Print("  NO: %s %s, trial %d, copy %d: refused %d %d, by AIJ %d %d, difference %g\n",
                      MatOptions[option], what[flag], trial, copy, stencil[0], stencil[1], aij[0], aij[1],
                      (double)difference));
      *same = PETSC_FALSE;
    }
  }
  PetscCall(DestroyAll(&A, &B));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestOptions(void)
{
  PetscBool same = PETSC_TRUE;

  PetscFunctionBeginUser;
  for (int option = MAT_OPTION_MIN + 1; option < MAT_OPTION_MAX; option++) {
    for (int t = 0; option && t < 4 * NUM_TRIALS; t++)
      PetscCall(CompareTrial((MatOption)option, (PetscBool)(t % 2), (Trial)(t / 4), (PetscBool)(t / 2 % 2), &same));
  }
  PetscCall(Claim(same, "other options are as those of AIJ, in duplicates, too"));
  PetscFunctionReturn(0);
}

/* Negative indices are skipped; what was set is got */
static PetscErrorCode TestIndices(void)
{
  Mat         A[2];
  PetscScalar got[2][6] = {{7, 7, 7, 7, 7, 7}, {7, 7, 7, 7, 7, 7}};
  PetscReal   difference;
  PetscInt    first, size = Small.size[0];
  PetscBool   same = PETSC_TRUE;

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    PetscInt row[2], col[3];

    PetscCall(CreateMat(Small, PETSC_FALSE, i ? MATSTENCIL : MATAIJ, &A[i]));
    PetscCall(MatGetOwnershipRange(A[i], &first, NULL));
    for (int local = 0; local < 2; local++) {
      const PetscInt    from = local ? 0 : first;
      const PetscScalar v[6] = {1, 2, 3, 4, 5, 6};

      row[0] = -1;
      row[1] = col[2] = from;
      col[0]          = from + 1;
      col[1]          = -5;
      if (local) PetscCall(MatSetValuesLocal(A[i], 2, row, 3, col, v, INSERT_VALUES));
      else PetscCall(MatSetValues(A[i], 2, row, 3, col, v, INSERT_VALUES));
    }
    PetscCall(AssembleMat(A[i]));
    row[0] = first;
    row[1] = first + size;
    col[0] = first + size;
    col[1] = -1;
    col[2] = first + 2 * size - 1;
    PetscCall(MatGetValues(A[i], 2, row, 3, col, got[i]));
  }
  PetscCall(Difference(A[0], A[1], &difference));
  for (int k = 0; k < 6; k++) same = (PetscBool)(same && got[0][k] == got[1][k]);
  PetscCall(Claim(difference < 1e-13, "negative indices are skipped"));
  PetscCall(Claim(same, "values are got as from AIJ"));
  PetscCall(DestroyAll(&A[0], &A[1]));
  PetscFunctionReturn(0);
}

typedef enum {
  OTHER_GRID,
  NOT_STENCIL,
  NOT_AIJ,
  OTHER_ENDS,
  OTHER_SHARES,
  SMALLER_STENCIL,
  LOCAL_ROW,
  LOCAL_COLUMN,
  GLOBAL_ROW,
  GLOBAL_COLUMN,
  PRODUCT_AGAIN,
  FACTOR_AGAIN,
  STRUCTURE,
  NUM_REFUSALS
} Refusal;

static PetscErrorCode Factor(Mat A, Mat box, Mat *F)
{
  MatFactorInfo info;
  IS            rows, cols;

  PetscFunctionBeginUser;
  PetscCall(MatFactorInfoInitialize(&info));
  PetscCall(MatGetFactor(A, MATSOLVERPETSC, MAT_FACTOR_LU, F));
  PetscCall(MatGetOrdering(A, MATORDERINGND, &rows, &cols));
  PetscCall(MatLUFactorSymbolic(*F, A, rows, cols, &info));
  PetscCall(DestroyAll(&rows, &cols));
  PetscCall(MatLUFactorNumeric(*F, A, &info));
  PetscCall(MatCopy(box, A, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatLUFactorNumeric(*F, A, &info));
  PetscFunctionReturn(0);
}

/* A: a star; other: what is to meet it; made: what is made of both */
static PetscErrorCode Refuse(Refusal which, Mat A, Mat other, Mat *made)
{
  const PetscInt    zero = 0, far = 100000;
  const PetscScalar one = 1;

  PetscFunctionBeginUser;
  if (which == OTHER_GRID || which == NOT_STENCIL) {
    PetscCall(MatConvert(which == NOT_STENCIL ? A : other, MATAIJ, MAT_INITIAL_MATRIX, made));
    if (which == NOT_STENCIL) PetscCall(MatConvert(*made, MATSTENCIL, MAT_REUSE_MATRIX, &other));
    else PetscCall(MatConvert(*made, MATSTENCIL, MAT_REUSE_MATRIX, &A));
  }
  if (which == NOT_AIJ) PetscCall(MatConvert(A, MATAIJ, MAT_REUSE_MATRIX, &other));
  if (which == OTHER_ENDS || which == OTHER_SHARES) PetscCall(MatAXPY(A, 1, other, DIFFERENT_NONZERO_PATTERN));
  if (which == SMALLER_STENCIL) PetscCall(MatAXPY(A, 1, other, SUBSET_NONZERO_PATTERN));
  if (which == LOCAL_ROW) PetscCall(MatSetValuesLocal(A, 1, &far, 1, &zero, &one, ADD_VALUES));
  if (which == LOCAL_COLUMN) PetscCall(MatSetValuesLocal(A, 1, &zero, 1, &far, &one, ADD_VALUES));
  if (which == GLOBAL_ROW) PetscCall(MatSetValues(A, 1, &far, 1, &zero, &one, ADD_VALUES));
  if (which == GLOBAL_COLUMN) PetscCall(MatSetValues(A, 1, &zero, 1, &far, &one, ADD_VALUES));
  if (which == PRODUCT_AGAIN) {
    Mat aij;

    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
    PetscCall(MatMatMult(A, aij, MAT_INITIAL_MATRIX, PETSC_DEFAULT, made));
    PetscCall(MatCopy(other, A, DIFFERENT_NONZERO_PATTERN));
    (void)!MatMatMult(A, aij, MAT_REUSE_MATRIX, PETSC_DEFAULT, made);
    PetscCall(MatDestroy(&aij));
  }
  if (which == FACTOR_AGAIN) PetscCall(Factor(A, other, made));
  if (which == STRUCTURE) PetscCall(MatSetOption(A, MAT_STRUCTURE_ONLY, PETSC_TRUE));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateOther(Refusal which, Mat *other)
{
  Grid     g = Small;
  PetscInt m;
  Mat      A;

  PetscFunctionBeginUser;
  if (which == OTHER_GRID) {
    g.size[0] = 3; /* as many points in all */
    g.size[1] = 18;
  }
  if (which == OTHER_ENDS) GridSetBoundaries(&g, BOUNDARY_PERIODIC);
  if (which == OTHER_SHARES) {
    g.nproc[0] = g.nproc[2] = 1;
    g.nproc[1]              = 3;
  }
  if (which == NOT_AIJ) {
    PetscCall(CreateMat(g, PETSC_FALSE, MATAIJ, &A));
    PetscCall(MatGetLocalSize(A, &m, NULL));
    PetscCall(MatCreateDense(PETSC_COMM_WORLD, m, m, PETSC_DETERMINE, PETSC_DETERMINE, NULL, other));
    PetscCall(MatDestroy(&A));
  } else
    PetscCall(CreateMat(g, (PetscBool)(which == SMALLER_STENCIL || which == PRODUCT_AGAIN || which == FACTOR_AGAIN),
                        which == NOT_STENCIL ? MATAIJ : MATSTENCIL, other));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestRefusals(void)
{
  char words[ERROR_LENGTH];

  PetscFunctionBeginUser;
  for (int which = 0; which < NUM_REFUSALS; which++) {
    Mat A, other, made = NULL;

    if ((which == FACTOR_AGAIN && PetscGlobalSize > 1) || (which == OTHER_SHARES && PetscGlobalSize == 1)) continue;
    PetscCall(CreateMat(Small, PETSC_FALSE, MATSTENCIL, &A));
    PetscCall(CreateOther((Refusal)which, &other));
    words[0] = 0;
    PetscCall(PetscPushErrorHandler(KeepError, words));
    (void)!Refuse((Refusal)which, A, other, &made);
    PetscCall(PetscPopErrorHandler());
    PetscCall(Print("%d: %s\n", which, words[0] ? words : "NO error"));
    PetscCall(DestroyAll(&made, &other, &A));
  }
  PetscFunctionReturn(0);
}

/* Written, and read as AIJ; in words, and with its entries; on viewers that show no text */
static PetscErrorCode ViewTransfer(Mat P, PetscBool holds[])
{
  PetscInt    m, n;
  PetscReal   difference;
  PetscViewer viewer;
  PetscBool   has[2];
  char        string[64];
  Mat         aij, again;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, "matops.petsc", FILE_MODE_WRITE, &viewer));
  PetscCall(MatView(P, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(MatGetLocalSize(P, &m, &n));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &aij));
  PetscCall(MatSetSizes(aij, m, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(aij, MATAIJ));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, "matops.petsc", FILE_MODE_READ, &viewer));
  PetscCall(MatLoad(aij, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(Difference(P, aij, &difference));
  holds[0] = (PetscBool)(holds[0] && difference < 1e-13);
  PetscCall(MatConvert(P, MATAIJ, MAT_INITIAL_MATRIX, &again));
  PetscCall(MatScale(again, 3.0));
  PetscCall(MatConvert(P, MATAIJ, MAT_REUSE_MATRIX, &again));
  PetscCall(Difference(P, again, &difference));
  holds[1] = (PetscBool)(holds[1] && difference < 1e-13);
  PetscCall(ObjectHas((PetscObject)P, PETSC_VIEWER_ASCII_INFO, "interpolation, factors", &has[0]));
  /* after it versions of PETSc have one space or two */
  PetscCall(ObjectHas((PetscObject)P, PETSC_VIEWER_DEFAULT, "row 0:", &has[1]));
  holds[2] = (PetscBool)(holds[2] && has[0] && has[1]);
  PetscCall(PetscViewerStringOpen(PETSC_COMM_WORLD, string, sizeof(string), &viewer));
  PetscCall(MatView(P, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscViewerDrawOpen(PETSC_COMM_WORLD, NULL, NULL, 0, 0, 100, 100, &viewer));
  PetscCall(MatView(P, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(DestroyAll(&aij, &again));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestViews(void)
{
  const GridBoundary boundaries[] = {BOUNDARY_STORED, BOUNDARY_ELIMINATED, BOUNDARY_NEUMANN, BOUNDARY_PERIODIC};
  PetscBool          holds[3]     = {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE};

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-draw_type", "null"));
  for (PetscInt dim = 1; dim < 4; dim++) {
    for (int b = 0; b < 4; b++) {
      Grid     g = {.number   = b,
                    .dim      = dim,
                    .size     = {14, dim > 1 ? 13 : 1, dim > 2 ? 12 : 1},
                    .strength = {1, 1, 1},
                    .vary     = 0.9};
      PetscInt nlevels;
      Mat      A, P;
      PC       pc;

      GridSetBoundaries(&g, boundaries[b]);
      PetscCall(CreateMat(g, PETSC_FALSE, MATSTENCIL, &A));
      PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
      PetscCall(PCSetType(pc, PCKCYCLE));
      PetscCall(PCMGSetLevels(pc, 3, NULL));
      PetscCall(PCKCycleSetProcEqLim(pc, 0));
      PetscCall(
          PCKCycleSetInterpolation(pc, b % 2 ? PC_KCYCLE_INTERPOLATION_OPERATOR : PC_KCYCLE_INTERPOLATION_LINEAR));
      PetscCall(PCSetOperators(pc, A, A));
      PetscCall(PCSetUp(pc));
      PetscCall(PCMGGetLevels(pc, &nlevels));
      for (PetscInt l = 1; l < nlevels; l++) {
        PetscCall(PCMGGetInterpolation(pc, l, &P));
        PetscCall(ViewTransfer(P, holds));
      }
      PetscCall(DestroyAll(&pc, &A));
    }
  }
  PetscCall(PetscOptionsClearValue(NULL, "-draw_type"));
  PetscCall(Claim(holds[0], "transfers in binary files are read as AIJ"));
  PetscCall(Claim(holds[1], "they become AIJ, again and again"));
  PetscCall(Claim(holds[2], "as text they are words, or entries"));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const char *const tests[] = {"shapes", "prisms", "options", "refusals", "views"};
  PetscInt          test    = 0;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-test", tests, 5, &test, NULL));
  if (test > 1 && test < 4)
    PetscCall(PetscOptionsClearValue(NULL, "-malloc_dump")); /* errors leave what was half done */
  if (test == 0) PetscCall(TestShapes());
  if (test == 1) {
    PetscCall(TestPrisms());
    PetscCall(TestLevels("x"));
    PetscCall(TestLevels("xyz"));
  }
  if (test == 2) {
    PetscCall(TestOptions());
    PetscCall(TestIndices());
  }
  if (test == 3) PetscCall(TestRefusals());
  if (test == 4) PetscCall(TestViews());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    nsize: {{1 3}}
    args: -malloc_dump

    test:
      suffix: prisms
      requires: !complex
      args: -test prisms

    test:
      suffix: options
      args: -test options

    test:
      suffix: views
      requires: !complex
      args: -test views

  test:
    suffix: shapes
    requires: !complex
    args: -test shapes -malloc_dump

  test:
    suffix: shapes_three
    requires: !complex
    nsize: 3
    args: -test shapes -malloc_dump

  test:
    suffix: refusals
    requires: !defined(PETSC_USE_DEBUG)
    args: -test refusals

  test:
    suffix: refusals_three
    requires: !defined(PETSC_USE_DEBUG)
    nsize: 3
    args: -test refusals

TEST*/
