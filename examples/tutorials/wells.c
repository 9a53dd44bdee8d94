#include "wells.h"

#define MAX_WORDS 600

static PetscErrorCode WordToLayer(const Wells *wells, const PetscInt n[3], PetscInt d, const char word[], PetscInt *at)
{
  const char *const name[3] = {"column", "row", "layer"};

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsStringToInt(word, at));
  PetscCheck(*at >= 1 && *at <= n[d], PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "well %" PetscInt_FMT ": %s %s does not exist, the grid has %" PetscInt_FMT, wells->n + 1, name[d], word,
             n[d]);
  (*at)--;
  PetscFunctionReturn(0);
}

/* i, j, first and last layer, bhp or rate, value */
static PetscErrorCode AddWell(Wells *wells, const PetscInt n[3], char *word[])
{
  Well      w;
  PetscBool rate;

  PetscFunctionBeginUser;
  PetscCall(WordToLayer(wells, n, 0, word[0], &w.i));
  PetscCall(WordToLayer(wells, n, 1, word[1], &w.j));
  PetscCall(WordToLayer(wells, n, 2, word[2], &w.top));
  PetscCall(WordToLayer(wells, n, 2, word[3], &w.bottom));
  PetscCheck(w.top <= w.bottom, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "well %" PetscInt_FMT ": the first layer, %s, is below the last one, %s", wells->n + 1, word[2], word[3]);
  PetscCall(PetscStrcasecmp(word[4], "bhp", &w.has_pressure));
  PetscCall(PetscStrcasecmp(word[4], "rate", &rate));
  PetscCheck(rate || w.has_pressure, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG,
             "well %" PetscInt_FMT ": %s is neither bhp (bottom-hole pressure) nor rate", wells->n + 1, word[4]);
  PetscCall(PetscOptionsStringToReal(word[5], &w.value));
  PetscCheck(!PetscIsInfOrNanReal(w.value), PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "well %" PetscInt_FMT ": %s is not a finite number", wells->n + 1, word[5]);
  PetscCall(PetscRealloc((wells->n + 1) * sizeof(Well), &wells->well));
  wells->well[wells->n++] = w;
  wells->perforations += w.bottom - w.top + 1;
  PetscFunctionReturn(0);
}

PetscErrorCode WellsAddFromOption(Wells *wells, const PetscInt n[3])
{
  char    *word[MAX_WORDS + 1];
  PetscInt words = MAX_WORDS + 1;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-wells", word, &words, NULL));
  PetscCheck(words <= MAX_WORDS, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-wells has more than %d wells: put them into a -well_file", MAX_WORDS / 6);
  PetscCheck(words % 6 == 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG,
             "-wells has %" PetscInt_FMT " words: a well has six, i,j,first layer,last layer,bhp or rate,value", words);
  for (PetscInt i = 0; i < words; i += 6) PetscCall(AddWell(wells, n, &word[i]));
  for (PetscInt i = 0; i < words; i++) PetscCall(PetscFree(word[i]));
  PetscFunctionReturn(0);
}

PetscErrorCode WellsAddFromFile(Wells *wells, const char name[], const PetscInt n[3])
{
  FILE *file;
  char  line[512], *comment;

  PetscFunctionBeginUser;
  PetscCall(PetscFOpen(PETSC_COMM_WORLD, name, "r", &file));
  PetscCall(PetscSynchronizedFGets(PETSC_COMM_WORLD, file, sizeof(line), line));
  for (PetscInt number = 1; line[0]; number++) {
    char **word;
    int    words;

    for (char *c = line; *c; c++)
      if (*c == '\t' || *c == '\n' || *c == '\r') *c = ' ';
    PetscCall(PetscStrstr(line, "--", &comment));
    if (comment) *comment = 0;
    PetscCall(PetscStrToArray(line, ' ', &words, &word));
    PetscCheck(words == 0 || words == 6, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED,
               "%s, line %" PetscInt_FMT ": %d words, but a well has six: i j first-layer last-layer bhp|rate value",
               name, number, words);
    if (words) PetscCall(AddWell(wells, n, word));
    PetscCall(PetscStrToArrayDestroy(words, word));
    PetscCall(PetscSynchronizedFGets(PETSC_COMM_WORLD, file, sizeof(line), line));
  }
  PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  PetscFunctionReturn(0);
}

static PetscBool IsOwned(const DMDALocalInfo *in, const PetscInt at[])
{
  return (PetscBool)(at[0] >= in->xs && at[0] < in->xs + in->xm && at[1] >= in->ys && at[1] < in->ys + in->ym &&
                     at[2] >= in->zs && at[2] < in->zs + in->zm);
}

PetscErrorCode WellsGetValues(const Wells *wells, DM da, Vec v, PetscReal value[])
{
  DMDALocalInfo  in;
  PetscScalar ***a;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &in));
  PetscCall(DMDAVecGetArrayRead(da, v, &a));
  for (PetscInt l = 0; l < wells->perforations; l++) {
    const PetscInt *at = wells->perforation[l].at;

    value[l] = IsOwned(&in, at) ? PetscRealPart(a[at[2]][at[1]][at[0]]) : 0;
  }
  PetscCall(DMDAVecRestoreArrayRead(da, v, &a));
  PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, value, (PetscMPIInt)wells->perforations, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

/* Index of Peaceman for a vertical well in the middle of a cell with the permeabilities kx and ky */
static PetscErrorCode SetIndex(Perforation *l, const PetscReal size[3], PetscReal kx, PetscReal ky, PetscReal radius)
{
  PetscReal ratio, r0;

  PetscFunctionBeginUser;
  if (kx == 0 || ky == 0) PetscFunctionReturn(0);
  ratio = PetscSqrtReal(ky / kx);
  r0    = 0.28 * PetscSqrtReal(ratio * size[0] * size[0] + size[1] * size[1] / ratio) /
       (PetscSqrtReal(ratio) + 1 / PetscSqrtReal(ratio));
  PetscCheck(r0 > radius, PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP,
             "well %" PetscInt_FMT ": a well of -well_radius %g does not fit a cell of %g x %g", l->well + 1,
             (double)radius, (double)size[0], (double)size[1]);
  l->index = 2 * PETSC_PI * PetscSqrtReal(kx * ky) * size[2] / PetscLogReal(r0 / radius);
  PetscFunctionReturn(0);
}

/* Spreads the rate of a well by the indices of its cells */
static PetscErrorCode SetRates(Wells *wells, PetscInt w)
{
  PetscReal sum = 0;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < wells->perforations; i++)
    sum += wells->perforation[i].well == w ? wells->perforation[i].index : 0;
  PetscCheck(sum > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP,
             "well %" PetscInt_FMT " is open to no active cell: choose other layers, or another place", w + 1);
  for (PetscInt i = 0; i < wells->perforations; i++) {
    Perforation *l = &wells->perforation[i];

    if (l->well == w && !wells->well[w].has_pressure) l->rate = wells->well[w].value * l->index / sum;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode WellsSetIndices(Wells *wells, DM da, PetscReal *const h[], const Vec k[], PetscReal mobility,
                               PetscReal radius)
{
  PetscInt   count = 0;
  PetscReal *kx, *ky;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(wells->perforations, &wells->perforation));
  PetscCall(PetscMalloc2(wells->perforations, &kx, wells->perforations, &ky));
  for (PetscInt w = 0; w < wells->n; w++) {
    for (PetscInt layer = wells->well[w].top; layer <= wells->well[w].bottom; layer++) {
      Perforation *l = &wells->perforation[count++];

      l->well  = w;
      l->at[0] = wells->well[w].i, l->at[1] = wells->well[w].j, l->at[2] = layer;
    }
  }
  PetscCall(WellsGetValues(wells, da, k[0], kx));
  PetscCall(WellsGetValues(wells, da, k[1], ky));
  for (PetscInt i = 0; i < wells->perforations; i++) {
    Perforation    *l       = &wells->perforation[i];
    const PetscReal size[3] = {h[0][l->at[0]], h[1][l->at[1]], h[2][l->at[2]]};

    PetscCall(SetIndex(l, size, kx[i], ky[i], radius));
    l->index *= mobility;
  }
  PetscCall(PetscFree2(kx, ky));
  for (PetscInt w = 0; w < wells->n; w++) PetscCall(SetRates(wells, w));
  PetscFunctionReturn(0);
}

PetscErrorCode WellsAddTerms(const Wells *wells, DM da, PetscBool indices, Vec v)
{
  DMDALocalInfo  in;
  PetscScalar ***a;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &in));
  PetscCall(DMDAVecGetArray(da, v, &a));
  for (PetscInt i = 0; i < wells->perforations; i++) {
    const Perforation *l  = &wells->perforation[i];
    const Well        *w  = &wells->well[l->well];
    const PetscInt    *at = l->at;

    if (!IsOwned(&in, at)) continue;
    if (w->has_pressure) a[at[2]][at[1]][at[0]] += indices ? l->index : l->index * w->value;
    else if (!indices) a[at[2]][at[1]][at[0]] += l->rate;
  }
  PetscCall(DMDAVecRestoreArray(da, v, &a));
  PetscFunctionReturn(0);
}

PetscErrorCode WellsMeasure(const Wells *wells, DM da, Vec p, PetscReal rate[], PetscReal pressure[])
{
  PetscReal *value, *index;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(wells->perforations, &value));
  PetscCall(PetscCalloc1(wells->n, &index));
  PetscCall(WellsGetValues(wells, da, p, value));
  for (PetscInt w = 0; w < wells->n; w++) rate[w] = pressure[w] = 0;
  for (PetscInt i = 0; i < wells->perforations; i++) {
    const Perforation *l = &wells->perforation[i];
    const Well        *w = &wells->well[l->well];

    index[l->well] += l->index;
    pressure[l->well] += l->index * value[i];
    rate[l->well] += w->has_pressure ? l->index * (w->value - value[i]) : l->rate;
  }
  for (PetscInt w = 0; w < wells->n; w++)
    pressure[w] = wells->well[w].has_pressure ? wells->well[w].value : (pressure[w] + rate[w]) / index[w];
  PetscCall(PetscFree(index));
  PetscCall(PetscFree(value));
  PetscFunctionReturn(0);
}

PetscErrorCode WellsDestroy(Wells *wells)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(wells->perforation));
  PetscCall(PetscFree(wells->well));
  PetscFunctionReturn(0);
}
