/*
  The grid lines of one direction, with the factors of their systems, for zebra.c.

  Lines lie in rows: the lines that are neighbours in the first other direction. Of a row, every second line has a
  colour. These are cut into blocks, whose systems the kernels solve together.
*/
#pragma once

#include <petsckcycle/private/smootherimpl.h>
#include <petsckcycle/private/systemsimpl.h>

/* Of the numbers that systems are solved in */
#if defined(KCYCLE_SINGLE)
  #define KC_EPSILON ((PetscReal)1.1920929e-07)
#else
  #define KC_EPSILON PETSC_MACHINE_EPSILON
#endif

/* Lines first to end - 1 of those of a row that have a colour; line i is number parity + 2 i of the row */
typedef struct {
  PetscInt row, first, end;
  int      parity;
} KCycleLineBlock;

/* Lines that several processes have parts of, or that wrap around, see lineends.c */
typedef struct {
  MPI_Comm    comm; /* the processes of the lines, in their order; MPI_COMM_NULL: this one alone */
  PetscMPIInt size, rank;
  KCScalar   *weight;     /* what first and last points add to what comes before lines, and after them */
  KCScalar   *mine, *all; /* first and last points of the lines of a colour */
  KCScalar   *beyond;     /* what comes before these lines, then what comes after them */
} KCycleLineEnds;

typedef struct {
  PetscInt  d, beside[2]; /* direction of the lines; that of the lines of a row; that of the rows */
  PetscInt  n;            /* points of a line */
  PetscInt  step[3];      /* from point to point in each direction */
  int       ncolours;
  PetscInt  nrows;
  PetscInt  nblocks, most; /* blocks of a row and a colour; lines of a block at most */
  PetscInt *start[4];      /* of each colour and row: lines of the colour in rows before it */

  PetscInt      *set; /* of each row and parity, for lines in x of each block of these */
  PetscInt       nsets, setroom;
  KCycleLineSet *sets;
  size_t         used, room;
  KCScalar      *factors;

  PetscBool      turned;          /* the systems of odd lines begin with the last point */
  PetscBool      rows;            /* both colours of a row of lines share a residual, see linerows.c */
  PetscBool      cut, coupled[2]; /* the first and the last point are coupled with those of other parts */
  KCycleLineEnds ends;
} KCycleLines;

/* What the smoothers of zebra.c have */
typedef struct {
  int         ndirections;
  KCycleLines lines[3];
  PetscInt    room;             /* numbers of work for a thread */
  KCScalar   *work, *allocated; /* from the beginning of a cache line on; of what */
  KCScalar   *y;                /* T^-1 of all residuals, where lines are cut */
} KCycleZebra;

/* A sweep over both colours of lines, see linestrips.c and linerows.c */
typedef struct {
  const KCycleStencil *st;
  const KCycleLines   *lines;
  int                  parity; /* of the lines that come first */
  PetscBool            zero;   /* x is zero where their residuals read it; strips do not ask */
  PetscReal            weight;
  const KCScalar      *b;
  KCScalar            *x, *work;
} KCycleLineSweep;

/* What the points of the second colour lose when their neighbours of the first one have changed */
typedef struct {
  int             count;           /* of neighbours: 2, 4 or 6 */
  int             at[6];           /* their coefficients */
  const KCScalar *e[6];            /* they have changed by e[k] next to point k */
  PetscInt        low[6], high[6]; /* if low <= k < high; others have no such neighbour */
} KCycleLineCouplings;

/* The colour of the lines that the coarse grid keeps */
static inline int KCycleLinesFirstColour(const KCycleSmoother *s, const KCycleLines *z)
{
  int p[2] = {0, 0};

  for (int i = 0; i < 2; i++) {
    if (z->beside[i] < s->st->box->dim) p[i] = (int)(s->origin[z->beside[i]] & 1);
  }
  if (z->ncolours == 1) return 0;
  return s->st->shape.flat ? p[0] : s->st->shape.box ? p[0] + 2 * p[1] : p[0] ^ p[1];
}

/* Row i of the systems of a block: its index along the lines */
static inline PetscInt KCycleLinesRow(const KCycleLines *z, const KCycleLineBlock *block, PetscInt i)
{
  return z->turned && block->parity ? z->n - 1 - i : i;
}

/* Which lines of a row have a colour: their parity in the row, or -1 */
static inline int KCycleLinesParity(const KCycleStencil *st, const KCycleLines *z, int colour, PetscInt row)
{
  const KCycleBox *box = st->box;
  const int        p = (int)(box->start[z->beside[0]] & 1), q = (int)((box->start[z->beside[1]] + row) & 1);

  if (z->ncolours == 1) return 0;
  if (st->shape.flat) return p ^ colour;
  if (!st->shape.box) return p ^ q ^ colour;
  return box->dim == 3 && q != colour >> 1 ? -1 : p ^ (colour & 1);
}

/* Block number b of the lines of a row */
static inline KCycleLineBlock KCycleLinesBlock(const KCycleStencil *st, const KCycleLines *z, PetscInt row, int parity,
                                               PetscInt b)
{
  const PetscInt  n     = (st->box->n[z->beside[0]] + 1 - parity) / 2;
  KCycleLineBlock block = {row, 0, 0, parity};

  if (z->d == 0) {
    block.first = PetscMin(n, KC_SYSTEMS * b);
    block.end   = PetscMin(n, KC_SYSTEMS * (b + 1));
  } else {
    block.first = n * b / z->nblocks;
    block.end   = n * (b + 1) / z->nblocks;
  }
  return block;
}

/* lines.c */
PETSC_INTERN PetscErrorCode KCycleLinesSetUp(const KCycleSmoother *, PetscInt d, KCycleLines *);
PETSC_INTERN PetscErrorCode KCycleLinesDestroy(KCycleLines *);
PETSC_INTERN PetscInt       KCycleLinesFactors(const KCycleLines *, const KCycleLineBlock *, KCycleFactors *);

/* linestrips.c */
PETSC_INTERN PetscInt KCycleLinesStripRoom(const KCycleStencil *, const KCycleLines *);
PETSC_INTERN void     KCycleLinesSweepStrips(const KCycleLineSweep *);
PETSC_INTERN void     KCycleLinesCouple(const KCycleLine *, const KCycleLineCouplings *, PetscInt column, PetscInt n,
                                        KCScalar weight, KCScalar *r);

/* linerows.c */
PETSC_INTERN PetscInt KCycleLinesRowsRoom(const KCycleStencil *, const KCycleLines *);
PETSC_INTERN void     KCycleLinesFirstOfRow(const KCycleLineSweep *, PetscInt row);
PETSC_INTERN void     KCycleLinesSecondOfRow(const KCycleLineSweep *, PetscInt row);

/* lineends.c */
PETSC_INTERN PetscErrorCode KCycleLinesFindParts(const KCycleSmoother *, KCycleLines *);
PETSC_INTERN PetscErrorCode KCycleLinesSetUpEnds(const KCycleStencil *, KCycleLines *);
PETSC_INTERN PetscErrorCode KCycleLinesGather(const KCycleLineEnds *, PetscInt n, const KCScalar *mine, KCScalar *all);
PETSC_INTERN void           KCycleLinesBeyond(KCycleLines *, int colour);
PETSC_INTERN PetscErrorCode KCycleLinesDestroyEnds(KCycleLineEnds *);
