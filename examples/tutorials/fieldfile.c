#include "fieldfile.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define PIECE 65536 /* numbers that travel together */
#define WORD  64

const char *const FieldFormats[] = {"auto", "grdecl", "text", "binary", "FieldFormat", "FORMAT_", NULL};

typedef enum {
  HOLDS_SIZES,      /* of the grid */
  HOLDS_FIELD,      /* a number for each cell */
  HOLDS_WIDTHS,     /* a number for each cell of one direction */
  HOLDS_CELL_WIDTHS /* the same for each cell of the grid */
} Holds;

typedef enum {
  RULE_ANY,
  RULE_NOT_NEGATIVE,
  RULE_POSITIVE,
  RULE_FRACTION,
  RULE_FLAG
} Rule;

typedef struct {
  const char *name;
  Holds       holds;
  int         which; /* field or direction */
  Rule        rule;
} Keyword;

/* Those of text and binary files come first */
static const Keyword Keywords[] = {
    {"PERMX", HOLDS_FIELD, FIELD_PERMX, RULE_NOT_NEGATIVE},
    {"PERMY", HOLDS_FIELD, FIELD_PERMY, RULE_NOT_NEGATIVE},
    {"PERMZ", HOLDS_FIELD, FIELD_PERMZ, RULE_NOT_NEGATIVE},
    {"PORO", HOLDS_FIELD, FIELD_PORO, RULE_FRACTION},
    {"ACTNUM", HOLDS_FIELD, FIELD_ACTNUM, RULE_FLAG},
    {"DXV", HOLDS_WIDTHS, 0, RULE_POSITIVE},
    {"DYV", HOLDS_WIDTHS, 1, RULE_POSITIVE},
    {"DZV", HOLDS_WIDTHS, 2, RULE_POSITIVE},
    {"DX", HOLDS_CELL_WIDTHS, 0, RULE_POSITIVE},
    {"DY", HOLDS_CELL_WIDTHS, 1, RULE_POSITIVE},
    {"DZ", HOLDS_CELL_WIDTHS, 2, RULE_POSITIVE},
    {"DIMENS", HOLDS_SIZES, 0, RULE_ANY},
    {"SPECGRID", HOLDS_SIZES, 0, RULE_ANY},
};

#define KEYWORDS ((int)(sizeof(Keywords) / sizeof(Keywords[0])))

struct _FieldFile {
  MPI_Comm    comm;
  PetscMPIInt rank;
  FieldFormat format;
  const char *name;
  PetscInt    nignored;
  char      **ignored;
  PetscInt    n[3], cells;
  PetscReal  *width[3];
  char        problem[512]; /* what is wrong, with the file and the line; empty: nothing */

  /* On the first process */
  FILE      *stream;
  PetscInt   row, line;      /* of the next character, of the word that was read last; in a binary file a number */
  int        keyword, parts; /* being read, -1: none; those of text and binary files that are still to come */
  char       held[WORD];     /* a word to be read once more */
  PetscInt64 given, repeat;  /* numbers of the keyword so far, and how often the last one is still to be taken */
  PetscInt   wanted, taken;  /* numbers that the keyword must have, and those that went to a piece */
  double     value;
  PetscBool  seen[KEYWORDS], has_width[3];
};

/* A part of the numbers of a keyword */
typedef struct {
  PetscInt head[3]; /* keyword, or -1 for the end of the file; how many numbers; is it the last piece of the keyword? */
  PetscInt index[PIECE];
  PetscScalar value[PIECE];
  double      number[PIECE]; /* as a binary file has them */
} Piece;

/* The first problem is kept */
PETSC_ATTRIBUTE_FORMAT(2, 3) static void Complain(FieldFile f, const char format[], ...)
{
  va_list arguments;
  int     used;

  if (f->problem[0]) return;
  used = snprintf(f->problem, sizeof(f->problem), "%.200s, %s %" PetscInt_FMT ": ", f->name,
                  f->format == FORMAT_BINARY ? "number" : "line", f->line);
  va_start(arguments, format);
  vsnprintf(f->problem + used, sizeof(f->problem) - used, format, arguments);
  va_end(arguments);
}

/* On all processes */
static PetscErrorCode CheckProblem(FieldFile f)
{
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Bcast(f->problem, (PetscMPIInt)sizeof(f->problem), MPI_CHAR, 0, f->comm));
  PetscCheck(!f->problem[0], f->comm, PETSC_ERR_FILE_UNEXPECTED, "%s", f->problem);
  PetscFunctionReturn(0);
}

/* Words */

static int Peek(FieldFile f)
{
  const int c = getc(f->stream);

  ungetc(c, f->stream);
  return c;
}

static void SkipLine(FieldFile f)
{
  int c = 0;

  while (c != '\n' && c != EOF) c = getc(f->stream);
  ungetc(c, f->stream);
}

/* Empty at the end of the file. A slash is a word, and what follows it in its line is a comment */
static void NextWord(FieldFile f, char word[WORD])
{
  size_t n = 0;
  int    c;

  strcpy(word, f->held);
  f->held[0] = 0;
  if (word[0]) return;
  do {
    c = getc(f->stream);
    if (c == '\n') f->row++;
    if ((c == '-' && Peek(f) == '-') || (c == '#' && f->format == FORMAT_TEXT)) {
      SkipLine(f);
      c = ' ';
    }
  } while (isspace(c));
  f->line = f->row;
  if (c == '/') {
    word[n++] = '/';
    SkipLine(f);
  } else {
    for (; c != EOF && c != '/' && !isspace(c); c = getc(f->stream))
      if (n < WORD - 1) word[n++] = (char)c;
    ungetc(c, f->stream);
  }
  word[n] = 0;
  if (ferror(f->stream)) Complain(f, "cannot be read");
  if (n == WORD - 1) Complain(f, "'%s...' is too long for a number or a keyword", word);
}

/* What Fortran writes as 1.5D3 is 1.5e3 */
static double ToDouble(char word[], char **end)
{
  for (char *c = word; *c; c++)
    if (c > word && (*c == 'd' || *c == 'D') && (isdigit((unsigned char)c[-1]) || c[-1] == '.')) *c = 'e';
  return strtod(word, end);
}

/* 3.5, or 100*3.5 */
static void ParseNumber(FieldFile f, char word[], PetscInt64 *repeat, double *value)
{
  char *star = strchr(word, '*'), *number = star ? star + 1 : word, *end;

  *repeat = star ? strtoll(word, &end, 10) : 1;
  if (star && (end != star || *repeat < 1 || *repeat > 1000000000000)) {
    *repeat = 1;
    Complain(f, "bad repeat count in %s: 100*3.5 stands for 100 times 3.5", word);
  }
  *value = ToDouble(number, &end);
  if (end == number || *end)
    Complain(f, "'%s' where a number was expected%s", word,
             f->format == FORMAT_GRDECL ? "; the numbers of a keyword end with a /" : "");
}

/* Numbers */

static const char *KeywordName(FieldFile f)
{
  return f->format == FORMAT_GRDECL ? Keywords[f->keyword].name : "permeability";
}

static void CheckNumber(FieldFile f, double value)
{
  const char *name = KeywordName(f);
  const Rule  rule = Keywords[f->keyword].rule;

  if (PetscIsInfOrNanReal((PetscReal)value)) Complain(f, "%s is %g, which is not a finite number", name, value);
  else if (rule == RULE_NOT_NEGATIVE && value < 0)
    Complain(f, "%s is %g, but must not be negative; 0 makes a cell impermeable", name, value);
  else if (rule == RULE_POSITIVE && value <= 0)
    Complain(f, "%s is %g, but the size of a cell is positive", name, value);
  else if (rule == RULE_FRACTION && (value < 0 || value > 1))
    Complain(f, "%s is %g, but lies between 0 and 1", name, value);
  else if (rule == RULE_FLAG && value != 0 && value != 1)
    Complain(f, "%s is %g, but must be 1 for an active cell or 0 for an inactive one", name, value);
}

/* That the keyword has too few or too many numbers, with all those up to its slash */
static void ComplainCount(FieldFile f)
{
  char       word[WORD];
  double     value;
  PetscInt64 repeat;

  for (NextWord(f, word); word[0] && word[0] != '/' && !f->problem[0]; NextWord(f, word)) {
    ParseNumber(f, word, &repeat, &value);
    f->given += repeat;
  }
  Complain(f,
           "%s has %" PetscInt64_FMT " numbers, but a grid of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT
           " cells needs %" PetscInt_FMT ": mend the numbers or the sizes of the grid (DIMENS, -cells)",
           KeywordName(f), f->given, f->n[0], f->n[1], f->n[2], f->wanted);
}

/* False if the keyword has ended, or there is a problem */
static PetscBool NextNumber(FieldFile f)
{
  char word[WORD];

  if (f->format == FORMAT_TEXT && f->given == f->wanted) return PETSC_FALSE;
  NextWord(f, word);
  if (word[0] == '/') {
    strcpy(f->held, word);
    if (f->given != f->wanted) ComplainCount(f);
    f->held[0] = 0;
    return PETSC_FALSE;
  }
  if (!word[0]) Complain(f, "the file ends within %s, whose numbers must end with a /", KeywordName(f));
  if (word[0]) ParseNumber(f, word, &f->repeat, &f->value);
  if (!f->problem[0]) CheckNumber(f, f->value);
  f->given += f->repeat;
  if (f->given > f->wanted && !f->problem[0]) ComplainCount(f);
  return f->problem[0] ? PETSC_FALSE : PETSC_TRUE;
}

/* A width for each cell of the grid must be that of its column, row or layer */
static void TakeWidth(FieldFile f, int direction, PetscBool each)
{
  const PetscInt stride = direction == 0 ? 1 : direction == 1 ? f->n[0] : f->n[0] * f->n[1];
  const PetscInt at     = each ? f->taken / stride % f->n[direction] : f->taken;
  PetscReal     *width  = &f->width[direction][at];

  if (!each || f->taken == at * stride) *width = (PetscReal)f->value;
  if (*width != (PetscReal)f->value)
    Complain(f, "%s is %g in one cell of a %s and %g in another: only grids of straight lines can be used",
             KeywordName(f), (double)*width,
             direction == 0   ? "column"
             : direction == 1 ? "row"
                              : "layer",
             f->value);
  f->has_width[direction] = PETSC_TRUE;
}

static void TakeNumber(FieldFile f, Piece *piece)
{
  const Keyword *keyword = &Keywords[f->keyword];

  if (keyword->holds == HOLDS_FIELD) {
    piece->index[piece->head[1]]   = f->taken;
    piece->value[piece->head[1]++] = (PetscScalar)f->value;
  } else TakeWidth(f, keyword->which, (PetscBool)(keyword->holds == HOLDS_CELL_WIDTHS));
  f->taken++;
}

/* Keywords */

static void BeginKeyword(FieldFile f, int keyword)
{
  f->keyword = keyword;
  f->given = f->repeat = f->taken = 0;
  f->wanted                       = Keywords[keyword].holds == HOLDS_WIDTHS ? f->n[Keywords[keyword].which] : f->cells;
  if (Keywords[keyword].holds != HOLDS_FIELD && f->has_width[Keywords[keyword].which])
    Complain(f, "%s, but the file has had sizes in this direction already", Keywords[keyword].name);
  if (f->seen[keyword]) Complain(f, "%s is given a second time", Keywords[keyword].name);
  f->seen[keyword] = PETSC_TRUE;
}

static int FindKeyword(const char word[])
{
  for (int k = 0; k < KEYWORDS; k++)
    if (!strcmp(word, Keywords[k].name)) return k;
  return -1;
}

static PetscBool IsIgnored(FieldFile f, const char word[])
{
  for (PetscInt k = 0; k < f->nignored; k++)
    if (!strcmp(word, f->ignored[k])) return PETSC_TRUE;
  return PETSC_FALSE;
}

/* A keyword without numbers ends where another one begins */
static void SkipKeyword(FieldFile f)
{
  char word[WORD];

  do NextWord(f, word);
  while (word[0] && word[0] != '/' && FindKeyword(word) < 0 && !IsIgnored(f, word));
  if (word[0] != '/') strcpy(f->held, word);
}

/* Three sizes; what else SPECGRID has is skipped */
static void ReadSizes(FieldFile f, const char name[], PetscInt n[3])
{
  char       word[WORD];
  double     value;
  PetscInt64 repeat;

  for (PetscInt d = 0; d < 3 && !f->problem[0];) {
    NextWord(f, word);
    ParseNumber(f, word, &repeat, &value);
    if (!(value >= 1 && value < 1e9 && value == (double)(PetscInt)value))
      Complain(f, "%s has three sizes, each at least 1, and not %s", name, word);
    for (; repeat && d < 3 && !f->problem[0]; repeat--) n[d++] = (PetscInt)value;
  }
  while (word[0] && word[0] != '/') NextWord(f, word);
}

static void CheckSizes(FieldFile f, const char name[])
{
  PetscInt n[3] = {0, 0, 0};

  ReadSizes(f, name, n);
  if (n[0] != f->n[0] || n[1] != f->n[1] || n[2] != f->n[2])
    Complain(f,
             "%s is %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT ", but the grid has %" PetscInt_FMT
             " x %" PetscInt_FMT " x %" PetscInt_FMT " cells: leave -cells out",
             name, n[0], n[1], n[2], f->n[0], f->n[1], f->n[2]);
}

/* To the next keyword with numbers, if there is one */
static void FindNext(FieldFile f)
{
  char word[WORD];

  if (f->format != FORMAT_GRDECL) {
    if (f->parts) BeginKeyword(f, f->seen[FIELD_PERMX] + f->seen[FIELD_PERMY]);
    if (f->parts) f->parts--;
    return;
  }
  for (NextWord(f, word); word[0] && !f->problem[0]; NextWord(f, word)) {
    const int keyword = FindKeyword(word);

    if (IsIgnored(f, word)) SkipKeyword(f);
    else if (keyword >= 0 && Keywords[keyword].holds == HOLDS_SIZES) CheckSizes(f, word);
    else if (keyword >= 0) {
      BeginKeyword(f, keyword);
      return;
    } else if (word[0] != '/')
      Complain(f,
               "%s is not understood here: write out what it does, or, if the flow does not depend on it, skip it with "
               "-ignore %s",
               word, word);
  }
}

/* The numbers of a binary file need no parsing */
static void ReadBinary(FieldFile f, Piece *piece)
{
  const size_t n = (size_t)PetscMin(PIECE, f->wanted - f->taken);

  if (fread(piece->number, sizeof(double), n, f->stream) != n) Complain(f, "cannot be read");
  for (size_t i = 0; i < n && !f->problem[0]; i++) {
    f->line++;
    f->value = piece->number[i];
    CheckNumber(f, f->value);
    TakeNumber(f, piece);
  }
}

/* Work of the first process */
static void ReadPiece(FieldFile f, Piece *piece)
{
  PetscBool more = PETSC_TRUE;

  piece->head[1] = 0;
  if (f->keyword < 0) FindNext(f);
  piece->head[0] = f->keyword;
  if (f->keyword < 0 || f->problem[0]) return;
  if (f->format == FORMAT_BINARY) {
    ReadBinary(f, piece);
    more = (PetscBool)(f->taken < f->wanted);
  }
  while (f->format != FORMAT_BINARY && more && piece->head[1] < PIECE) {
    if (!f->repeat) more = NextNumber(f);
    if (!more) continue;
    TakeNumber(f, piece);
    f->repeat--;
    if (f->problem[0]) more = PETSC_FALSE;
  }
  piece->head[2] = !more;
  if (!more) f->keyword = -1;
}

/* Numbers of a text or binary file, before they are read, which may be those of one direction or of three */
static void CountParts(FieldFile f)
{
  char       word[WORD];
  double     value;
  PetscInt64 repeat, count = 0;

  if (f->format == FORMAT_BINARY) {
    long bytes = -1;

    if (!fseek(f->stream, 0, SEEK_END)) bytes = ftell(f->stream);
    if (bytes < 0) Complain(f, "cannot be read");
    if (bytes % (long)sizeof(double)) Complain(f, "%ld bytes are no numbers of 8 bytes each", bytes);
    count = bytes / (long)sizeof(double);
  } else {
    for (NextWord(f, word); word[0] && !f->problem[0]; NextWord(f, word)) {
      ParseNumber(f, word, &repeat, &value);
      count += repeat;
    }
  }
  rewind(f->stream);
  if (count != f->cells && count != 3 * (PetscInt64)f->cells)
    Complain(f,
             "the file has %" PetscInt64_FMT " numbers, but a grid of %" PetscInt_FMT " x %" PetscInt_FMT
             " x %" PetscInt_FMT " cells needs %" PetscInt_FMT
             ", or 3 times as many for permeabilities in x, y and z: mend the file or -cells",
             count, f->n[0], f->n[1], f->n[2], f->cells);
  f->row   = 1;
  f->line  = 0;
  f->parts = (int)(count / f->cells);
}

/* Everywhere */

static PetscErrorCode GuessFormat(FieldFile f)
{
  static const struct {
    const char *end;
    FieldFormat format;
  } names[] = {{".grdecl", FORMAT_GRDECL},
               {".GRDECL", FORMAT_GRDECL},
               {".txt", FORMAT_TEXT},
               {".dat", FORMAT_TEXT},
               {".bin", FORMAT_BINARY}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && f->format == FORMAT_AUTO; i++) {
    const size_t length = strlen(f->name), end = strlen(names[i].end);

    if (length > end && !strcmp(f->name + length - end, names[i].end)) f->format = names[i].format;
  }
  PetscCheck(f->format != FORMAT_AUTO, f->comm, PETSC_ERR_ARG_INCOMP,
             "%s: the name does not end with .grdecl, .txt, .dat or .bin; say -format grdecl, text or binary", f->name);
  PetscFunctionReturn(0);
}

PetscErrorCode FieldFileOpen(MPI_Comm comm, const char name[], FieldFormat format, PetscInt nignored, char *ignored[],
                             FieldFile *file)
{
  FieldFile f;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(file));
  f           = *file;
  f->comm     = comm;
  f->name     = name;
  f->format   = format;
  f->nignored = nignored;
  f->ignored  = ignored;
  f->row      = 1;
  f->keyword  = -1;
  PetscCallMPI(MPI_Comm_rank(comm, &f->rank));
  PetscCall(GuessFormat(f));
  if (f->rank == 0) {
    f->stream = fopen(name, "rb");
    if (!f->stream)
      snprintf(f->problem, sizeof(f->problem), "%.200s cannot be opened: does it exist, and is it readable?", name);
  }
  PetscCall(CheckProblem(f));
  PetscFunctionReturn(0);
}

PetscErrorCode FieldFileClose(FieldFile *file)
{
  PetscFunctionBeginUser;
  if ((*file)->stream) fclose((*file)->stream);
  for (int d = 0; d < 3; d++) PetscCall(PetscFree((*file)->width[d]));
  PetscCall(PetscFree(*file));
  PetscFunctionReturn(0);
}

PetscErrorCode FieldFileGetSizes(FieldFile f, PetscInt n[3], PetscBool *found)
{
  char     word[WORD] = "";
  PetscInt sizes[3]   = {0, 0, 0};

  PetscFunctionBeginUser;
  if (f->rank == 0 && f->format == FORMAT_GRDECL) {
    do NextWord(f, word);
    while (word[0] && strcmp(word, "DIMENS") && strcmp(word, "SPECGRID") && !f->problem[0]);
    if (word[0]) ReadSizes(f, word, sizes);
    rewind(f->stream);
    f->row     = 1;
    f->held[0] = 0;
  }
  PetscCall(CheckProblem(f));
  PetscCallMPI(MPI_Bcast(sizes, 3, MPIU_INT, 0, f->comm));
  *found = sizes[2] ? PETSC_TRUE : PETSC_FALSE;
  for (int d = 0; d < 3 && *found; d++) n[d] = sizes[d];
  PetscFunctionReturn(0);
}

/* A piece of a field, which is complete with the last one. natural: its numbers in the order of the file */
static PetscErrorCode AddPiece(FieldFile f, DM da, const Piece *piece, Vec *natural, Vec *field)
{
  PetscFunctionBeginUser;
  if (!*natural) PetscCall(DMDACreateNaturalVector(da, natural));
  if (f->rank == 0) PetscCall(VecSetValues(*natural, piece->head[1], piece->index, piece->value, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(*natural));
  PetscCall(VecAssemblyEnd(*natural));
  if (!piece->head[2]) PetscFunctionReturn(0);
  PetscCall(DMCreateGlobalVector(da, field));
  PetscCall(DMDANaturalToGlobalBegin(da, *natural, INSERT_VALUES, *field));
  PetscCall(DMDANaturalToGlobalEnd(da, *natural, INSERT_VALUES, *field));
  PetscCall(VecDestroy(natural));
  PetscFunctionReturn(0);
}

static PetscErrorCode ShareWidths(FieldFile f, PetscReal *widths[3])
{
  PetscMPIInt has[3];

  PetscFunctionBeginUser;
  for (int d = 0; d < 3; d++) has[d] = f->has_width[d];
  PetscCallMPI(MPI_Bcast(has, 3, MPI_INT, 0, f->comm));
  for (int d = 0; d < 3; d++) {
    widths[d] = NULL;
    if (!has[d]) continue;
    PetscCallMPI(MPI_Bcast(f->width[d], (PetscMPIInt)f->n[d], MPIU_REAL, 0, f->comm));
    widths[d]   = f->width[d];
    f->width[d] = NULL;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode FieldFileRead(FieldFile f, DM da, Vec fields[FIELDS], PetscReal *widths[3])
{
  Piece *piece;
  Vec    natural = NULL;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(da, NULL, &f->n[0], &f->n[1], &f->n[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  f->cells = f->n[0] * f->n[1] * f->n[2];
  for (int d = 0; d < 3; d++) PetscCall(PetscCalloc1(f->n[d], &f->width[d]));
  for (int i = 0; i < FIELDS; i++) fields[i] = NULL;
  PetscCall(PetscNew(&piece));
  if (f->rank == 0 && f->format != FORMAT_GRDECL) CountParts(f);
  do {
    if (f->rank == 0 && !f->problem[0]) ReadPiece(f, piece);
    PetscCall(CheckProblem(f));
    PetscCallMPI(MPI_Bcast(piece->head, 3, MPIU_INT, 0, f->comm));
    if (piece->head[0] >= 0 && Keywords[piece->head[0]].holds == HOLDS_FIELD)
      PetscCall(AddPiece(f, da, piece, &natural, &fields[Keywords[piece->head[0]].which]));
  } while (piece->head[0] >= 0);
  PetscCall(ShareWidths(f, widths));
  PetscCall(PetscFree(piece));
  PetscFunctionReturn(0);
}
