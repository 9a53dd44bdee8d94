/*
  Finds the grid whose points are the rows of a matrix. In the order of lines a point is coupled to rows at the
  distances 1, nx and nx ny, to corners next to these, and around the grid. The distances in some rows suggest sizes,
  every entry is checked with them, and what leaves a choice is no grid.
*/
#include <petsckcycle/private/findimpl.h>
#include <petscdmda.h>

/* Rows of each process that are looked at for distances; the most distances that a grid can have, from its points to
   124 others around it */
#define ROWS_LOOKED_AT 512
#define MOST_DISTANCES 62

/* The most sizes that are tried */
#define MOST_GUESSES 16

/* What couplings other than those with the six neighbours count when sizes are compared */
#define SCORE_WRAP   1
#define SCORE_CORNER 10

/* Smaller sizes leave a choice; so do a direction that wraps around less than four points, and one in which so small
   a part of the points are coupled */
#define SMALLEST        3
#define SMALLEST_WRAPS  4
#define SMALLEST_COUPLE 8

/* Ascending */
typedef struct {
  PetscInt  n, distance[MOST_DISTANCES];
  PetscBool toomany;
} Distances;

typedef struct {
  PetscInt dim, size[3], score;
} Guess;

static void Add(Distances *s, PetscInt distance)
{
  PetscInt low = 0;

  while (low < s->n && s->distance[low] < distance) low++;
  if (distance <= 0 || s->toomany || (low < s->n && s->distance[low] == distance)) return;
  s->toomany = (PetscBool)(s->n == MOST_DISTANCES);
  if (s->toomany) return;
  for (PetscInt k = s->n++; k > low; k--) s->distance[k] = s->distance[k - 1];
  s->distance[low] = distance;
}

/* In rows that are spread evenly: to owned columns, and to all */
static void Look(const KCycleIndices *ix, Distances *inside, Distances *all)
{
  const PetscInt rows = PetscMin(ix->n, ROWS_LOOKED_AT);

  for (PetscInt s = 0; s < rows && !all->toomany; s++) {
    const PetscReal golden = 0.6180339887498949 * (PetscReal)s;
    const PetscInt  r      = rows == ix->n ? s : (PetscInt)((golden - PetscFloorReal(golden)) * (PetscReal)ix->n);

    for (PetscInt e = ix->aij.i[0][r]; e < ix->aij.i[0][r + 1] && !inside->toomany; e++) {
      if (ix->aij.a[0][e] != (PetscScalar)0.0) Add(inside, PetscAbsInt(ix->aij.j[0][e] - r));
    }
    for (PetscInt e = ix->aij.i[1] ? ix->aij.i[1][r] : 0; e < (ix->aij.i[1] ? ix->aij.i[1][r + 1] : 0); e++) {
      if (ix->aij.a[1][e] != (PetscScalar)0.0) Add(all, PetscAbsInt(ix->aij.columns[ix->aij.j[1][e]] - ix->start - r));
    }
  }
  for (PetscInt d = 0; d < inside->n; d++) Add(all, inside->distance[d]);
  if (inside->toomany) all->toomany = PETSC_TRUE;
}

/* As MPI_Op: to both those of one more process */
static void MPIAPI Unite(void *more, void *both, PetscMPIInt *count, MPI_Datatype *type)
{
  (void)type;
  for (PetscMPIInt k = 0; k < *count; k++) {
    const Distances *from = (const Distances *)more + k;
    Distances       *to   = (Distances *)both + k;

    for (PetscInt d = 0; d < from->n; d++) Add(to, from->distance[d]);
    if (from->toomany) to->toomany = PETSC_TRUE;
  }
}

/* Those of all processes */
static PetscErrorCode Gather(const KCycleIndices *ix, Distances *all)
{
  MPI_Datatype type;
  MPI_Op       unite;

  PetscFunctionBegin;
  if (ix->size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)sizeof(*all), MPI_BYTE, &type));
  PetscCallMPI(MPI_Type_commit(&type));
  PetscCallMPI(MPI_Op_create(Unite, 1, &unite));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all, 1, type, unite, ix->comm));
  PetscCallMPI(MPI_Op_free(&unite));
  PetscCallMPI(MPI_Type_free(&type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a coupling is on a grid that rows at this distance have; -1 if there is none. Steps in a direction: 0, 1, -1,
   and around it */
static PetscInt Score(const Guess *g, PetscInt distance)
{
  PetscInt best = -1;

  for (int t = 0; t < 125; t++) {
    const int code[3] = {t % 5, t / 5 % 5, t / 25};
    PetscInt  to = 0, stride = 1, away = 0, score = 0;
    PetscBool is = PETSC_TRUE;

    for (PetscInt d = 0; d < 3; stride *= d < g->dim ? g->size[d] : 1, d++) {
      const PetscInt step[5] = {0, 1, -1, g->size[d] - 1, 1 - g->size[d]};

      if (!code[d]) continue;
      is = (PetscBool)(is && d < g->dim && (code[d] < 3 || g->size[d] >= SMALLEST_WRAPS));
      to += step[code[d]] * stride;
      away++;
      score += code[d] < 3 ? 0 : SCORE_WRAP;
    }
    if (away > 1) score += SCORE_CORNER;
    if (is && to == distance && (best < 0 || score < best)) best = score;
  }
  return best;
}

/* Sizes that explain all distances are kept, the best first */
static void Try(const Distances *s, PetscInt dim, PetscInt nx, PetscInt ny, PetscInt nz, Guess guess[],
                PetscInt *nguesses)
{
  Guess    g = {dim, {nx, ny, nz}, 0};
  PetscInt k;

  for (PetscInt d = 0; d < s->n; d++) {
    const PetscInt score = Score(&g, s->distance[d]);

    if (score < 0) return;
    g.score += score;
  }
  for (k = *nguesses; k > 0 && guess[k - 1].score > g.score; k--) {
    if (k < MOST_GUESSES) guess[k] = guess[k - 1];
  }
  if (k < MOST_GUESSES) guess[k] = g;
  *nguesses = PetscMin(*nguesses + 1, MOST_GUESSES);
}

static PetscBool Divides(PetscInt a, PetscInt b, PetscInt smallest)
{
  return (PetscBool)(b % a == 0 && b / a >= smallest);
}

/* Sizes of grids of N points; a direction of a box that a process owns may be as short as it likes */
static PetscInt FindGuesses(const Distances *s, PetscInt N, PetscInt smallest, Guess guess[])
{
  PetscInt n = 0;

  if (s->toomany || !s->n || s->distance[0] != 1) return 0;
  if (N >= smallest) Try(s, 1, N, 1, 1, guess, &n);
  for (PetscInt a = 1; a < s->n; a++) {
    const PetscInt nx = s->distance[a];

    if (nx < smallest || !Divides(nx, N, smallest)) continue;
    Try(s, 2, nx, N / nx, 1, guess, &n);
    for (PetscInt b = a + 1; b < s->n; b++) {
      const PetscInt plane = s->distance[b];

      if (Divides(nx, plane, smallest) && Divides(plane, N, smallest)) Try(s, 3, nx, plane / nx, N / plane, guess, &n);
    }
  }
  return n;
}

/* Do entries leave no doubt? */
static PetscBool IsClear(const KCycleIndices *ix, const KCycleNumbering *g)
{
  if (g->wrong[0] >= 0) return PETSC_FALSE;
  for (PetscInt d = 0; d < g->box.dim; d++) {
    if (g->box.size[d] < (g->box.periodic[d] ? SMALLEST_WRAPS : SMALLEST) || g->pairs[d] < ix->N / SMALLEST_COUPLE)
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* The next numbering that fits is kept if it is the first one; a second one leaves a choice */
static PetscErrorCode Keep(const KCycleIndices *ix, KCycleNumbering **next, KCycleNumbering **found, PetscBool *choice)
{
  PetscFunctionBegin;
  if (*next) PetscCall(KCycleNumberingCheck(ix, *next));
  if (*next && IsClear(ix, *next)) {
    if (*found) *choice = PETSC_TRUE;
    else {
      *found = *next;
      *next  = NULL;
    }
  }
  PetscCall(KCycleNumberingDestroy(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows in the order of lines. Of equally good sizes only one may fit */
static PetscErrorCode FindLines(const KCycleIndices *ix, const Distances *all, KCycleNumbering **found,
                                PetscBool *choice)
{
  Guess    guess[MOST_GUESSES];
  PetscInt n = FindGuesses(all, ix->N, SMALLEST, guess), score = -1;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n && (!*found || guess[k].score == score); k++) {
    KCycleNumbering *next;

    score = guess[k].score;
    PetscCall(KCycleNumberingLines(ix, guess[k].dim, guess[k].size, &next));
    PetscCall(Keep(ix, &next, found, choice));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A grid of nproc processes in each direction if boxes of all processes fit together */
static PetscErrorCode TryProcesses(const KCycleIndices *ix, const Guess box[], const PetscInt nproc[],
                                   const PetscInt size[], KCycleNumbering **g)
{
  const PetscInt dim = box[0].dim;
  PetscInt      *owned[3];
  PetscBool      fits = PETSC_TRUE;

  PetscFunctionBegin;
  *g = NULL;
  for (PetscInt d = 0; d < 3; d++) PetscCall(PetscCalloc1(nproc[d], &owned[d]));
  for (PetscInt p = 0; p < ix->size && fits; p++) {
    const PetscInt at[3] = {p % nproc[0], p / nproc[0] % nproc[1], p / nproc[0] / nproc[1]};

    fits = (PetscBool)(box[p].dim == dim && dim > 0);
    for (PetscInt d = 0; d < dim && fits; d++) {
      if (!owned[d][at[d]]) owned[d][at[d]] = box[p].size[d];
      fits = (PetscBool)(owned[d][at[d]] == box[p].size[d]);
    }
  }
  if (fits) PetscCall(KCycleNumberingBoxes(ix, dim, nproc, owned, g));
  for (PetscInt d = 0; d < 3; d++) {
    PetscCall(PetscFree(owned[d]));
    if (*g && size && (*g)->box.size[d] != (d < dim ? size[d] : 1)) PetscCall(KCycleNumberingDestroy(g));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The numbering of DMDA: each process has a box, whose sizes its own rows tell. Sizes of the grid, if they are known */
static PetscErrorCode FindBoxes(const KCycleIndices *ix, const Distances *inside, const PetscInt size[],
                                KCycleNumbering **found, PetscBool *choice)
{
  Guess    guess[MOST_GUESSES], *box;
  PetscInt nproc[3], n = FindGuesses(inside, ix->n, 2, guess);

  PetscFunctionBegin;
  if (!n || (n > 1 && guess[1].score == guess[0].score)) guess[0].dim = 0;
  PetscCall(PetscMalloc1(ix->size, &box));
  PetscCallMPI(MPI_Allgather(guess, sizeof(*guess), MPI_BYTE, box, sizeof(*guess), MPI_BYTE, ix->comm));
  for (nproc[2] = 1; nproc[2] <= ix->size; nproc[2]++) {
    for (nproc[1] = 1; nproc[1] <= ix->size / nproc[2]; nproc[1]++) {
      KCycleNumbering *next;

      nproc[0] = ix->size / nproc[1] / nproc[2];
      if (nproc[0] * nproc[1] * nproc[2] != ix->size || (nproc[2] > 1 && box[0].dim < 3) ||
          (nproc[1] > 1 && box[0].dim < 2))
        continue;
      PetscCall(TryProcesses(ix, box, nproc, size, &next));
      PetscCall(Keep(ix, &next, found, choice));
    }
  }
  PetscCall(PetscFree(box));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. NULL, and why, if no grid is found */
PetscErrorCode KCycleNumberingFind(Mat A, KCycleNumbering **found, size_t len, char why[])
{
  KCycleIndices ix;
  Distances     inside, all;
  PetscBool     choice = PETSC_FALSE, lines, fits = PETSC_TRUE;

  PetscFunctionBegin;
  *found = NULL;
  why[0] = 0;
  PetscCall(PetscMemzero(&inside, sizeof(inside)));
  PetscCall(PetscMemzero(&all, sizeof(all)));
  PetscCall(KCycleIndicesGet(A, &ix));
  Look(&ix, &inside, &all);
  PetscCall(Gather(&ix, &all));
  PetscCall(FindLines(&ix, &all, found, &choice));
  lines = (PetscBool)(*found != NULL);
  if (!lines && ix.size > 1) PetscCall(FindBoxes(&ix, &inside, NULL, found, &choice));
  if (!*found)
    PetscCall(PetscSNPrintf(
        why, len, "its rows are not the points of a grid, numbered line by line, each coupled to its neighbours"));
  else if (choice) PetscCall(PetscSNPrintf(why, len, "grids of several sizes fit its rows"));
  else if (lines) PetscCall(KCycleNumberingSlabs(&ix, *found, &fits));
  if (!fits) PetscCall(PetscSNPrintf(why, len, "there are more processes than planes (lines in 2D) of its grid"));
  if (why[0]) PetscCall(KCycleNumberingDestroy(found));
  PetscCall(KCycleAIJRestore(&ix.aij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The boxes that DMDA itself would give to processes, where it surely can */
static PetscErrorCode DefaultBoxes(const KCycleIndices *ix, PetscInt dim, const PetscInt size[], KCycleNumbering **g)
{
  const PetscInt *range[3];
  PetscInt        nproc[3], *owned[3];
  DM              dm;

  PetscFunctionBegin;
  *g = NULL;
  for (PetscInt d = 0; d < dim; d++) {
    if (size[d] < ix->size) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DMDACreate(ix->comm, &dm));
  PetscCall(DMSetDimension(dm, dim));
  PetscCall(DMDASetSizes(dm, size[0], dim > 1 ? size[1] : 1, dim > 2 ? size[2] : 1));
  PetscCall(DMDASetDof(dm, 1));
  PetscCall(DMDASetStencilWidth(dm, 1));
  PetscCall(DMSetUp(dm));
  PetscCall(
      DMDAGetInfo(dm, NULL, NULL, NULL, NULL, &nproc[0], &nproc[1], &nproc[2], NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetOwnershipRanges(dm, &range[0], &range[1], &range[2]));
  for (PetscInt d = 0; d < 3; d++) owned[d] = (PetscInt *)range[d];
  PetscCall(KCycleNumberingBoxes(ix, dim, nproc, owned, g));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The numbering by boxes of a grid of known sizes, or NULL */
static PetscErrorCode GivenBoxes(const KCycleIndices *ix, PetscInt dim, const PetscInt size[], KCycleNumbering **found)
{
  Distances inside, all;
  PetscBool choice = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&inside, sizeof(inside)));
  PetscCall(PetscMemzero(&all, sizeof(all)));
  PetscCall(DefaultBoxes(ix, dim, size, found));
  if (*found) PetscCall(KCycleNumberingCheck(ix, *found));
  if (*found && (*found)->wrong[0] >= 0) PetscCall(KCycleNumberingDestroy(found));
  if (*found) PetscFunctionReturn(PETSC_SUCCESS);
  Look(ix, &inside, &all);
  PetscCall(FindBoxes(ix, &inside, size, found, &choice));
  if (choice || (*found && (*found)->box.dim != dim)) PetscCall(KCycleNumberingDestroy(found));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSizes(const KCycleIndices *ix, PetscInt dim, const PetscInt size[])
{
  PetscInt64 points = 1;
  char       sizes[64];

  PetscFunctionBegin;
  PetscCall(KCycleSizesText(dim, size, sizeof(sizes), sizes));
  for (PetscInt d = 0; d < dim; d++) points = points > ix->N ? points : points * size[d];
  PetscCheck(
      points == ix->N, ix->comm, PETSC_ERR_ARG_SIZ,
      "-pc_kcycle_grid_sizes (PCKCycleSetGridSizes()): a grid of %s points does not fit an operator of %" PetscInt_FMT
      " rows, one for each point: give the sizes of its grid, or leave them out to have them found",
      sizes, ix->N);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. A matrix that is no grid of these sizes is an error */
PetscErrorCode KCycleNumberingGiven(Mat A, PetscInt dim, const PetscInt size[], KCycleNumbering **found)
{
  KCycleIndices ix;
  PetscInt      wrong[2];
  PetscBool     fits = PETSC_TRUE;
  char          sizes[64];

  PetscFunctionBegin;
  PetscCall(KCycleSizesText(dim, size, sizeof(sizes), sizes));
  PetscCall(KCycleIndicesGet(A, &ix));
  PetscCall(CheckSizes(&ix, dim, size));
  PetscCall(KCycleNumberingLines(&ix, dim, size, found));
  PetscCall(KCycleNumberingCheck(&ix, *found));
  PetscCall(PetscArraycpy(wrong, (*found)->wrong, 2));
  if (wrong[0] >= 0) PetscCall(KCycleNumberingDestroy(found));
  if (*found) PetscCall(KCycleNumberingSlabs(&ix, *found, &fits));
  else if (ix.size > 1) PetscCall(GivenBoxes(&ix, dim, size, found));
  PetscCall(KCycleAIJRestore(&ix.aij));
  if (!fits) PetscCall(KCycleNumberingDestroy(found));
  PetscCheck(fits, ix.comm, PETSC_ERR_ARG_SIZ,
             "A grid of %s points has fewer %s than there are processes, %d, and each needs one: use fewer processes "
             "(-pc_type telescope), or the numbering of a DMDA",
             sizes,
             dim == 3   ? "planes"
             : dim == 2 ? "lines"
                        : "points",
             ix.size);
  PetscCheck(*found, ix.comm, PETSC_ERR_ARG_WRONG,
             "The operator is not on a grid of %s points: row %" PetscInt_FMT " has an entry in column %" PetscInt_FMT
             ", and these points are no neighbours if rows are numbered line by line. Give the sizes of its grid "
             "(-pc_kcycle_grid_sizes, that of the direction in which row "
             "numbers grow by one first), or leave them out",
             sizes, wrong[0], wrong[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* "64 x 32 x 16" */
PetscErrorCode KCycleSizesText(PetscInt dim, const PetscInt size[], size_t len, char text[])
{
  char one[24];

  PetscFunctionBegin;
  text[0] = 0;
  for (PetscInt d = 0; d < dim; d++) {
    PetscCall(PetscSNPrintf(one, sizeof(one), "%s%" PetscInt_FMT, d ? " x " : "", size[d]));
    PetscCall(PetscStrlcat(text, one, len));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
