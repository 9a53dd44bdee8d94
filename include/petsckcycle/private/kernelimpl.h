/*
  What the kernels work on, and the kernels: data without PETSc objects, and functions without MPI. Of PETSc only the
  types of numbers are known here.

  The part of a DMDA that a process owns, as lines in x, and the halo lines around it.

  Line (j, k) holds the points (0..n[0]-1, j, k) of the owned box. Lines with j = -1 or n[1], k = -1 or n[2] belong to
  neighbours and lie in a halo buffer; those outside the grid are one line of zeros there. So a kernel needs pointers to
  neighbour lines and no padded copy of a vector:

                 k+1   . . . o . . .      halo buffer: [ zeros | halo lines | left of lines | right of lines ]
       y         k     . . o x o . .
       |__ x     k-1   . . . o . . .

  In a direction that is coarsened, coarse point I lies on fine point 2 I + origin; a fine point either coincides with a
  coarse one or lies between two. So a fine line touches one, two or four coarse lines, and has three arrays of weights
  for each of them: its points that coincide in x, and for those between, the coarse point on the left and the one on
  the right:

    fine      o x o x o x o           o coincides, x lies between
    coarse    0   1   2   3
    weights   same[I]: I -> 2 I + origin;  left[I], right[I]: I, I + 1 -> the point after 2 I + origin
*/
#pragma once

#include <petsckcycle/private/point.h>
#include <petsckcycle/private/threads.h>
#include <string.h>

#define KC_MAX_LINES  9
#define KC_MAX_COEFFS 27

/* A grid, and the part of it that a process owns: lines in x. What kernels need in addition, halos, is there where a
   grid was asked for KCYCLE_BOX_KERNELS; processes may own no points of other grids */
typedef struct {
  PetscInt                dim, dof; /* dof: unknowns at a point */
  PetscInt                size[3];  /* points of the grid; 1 in directions beyond dim */
  PetscInt                start[3]; /* first point of the owned box */
  PetscInt                n[3];     /* points of the owned box */
  PetscBool               periodic[3];
  PetscBool               star; /* the DMDA has a star stencil */
  PetscInt                nproc[3];
  PetscInt               *range[3]; /* first point of each process, and one past the last */
  PetscInt               *rows;     /* first global row of each process, and one past the last */
  PetscMPIInt             rank;
  PetscInt                npoints;   /* owned points */
  PetscInt                nlines;    /* owned lines */
  PetscInt                reach[3];  /* 1 in directions of the grid, 0 beyond: halo lines on each side */
  PetscInt                nextended; /* owned and halo lines */
  /* halo offsets of extended lines: where they start in a halo buffer; -1: owned; 0: outside the grid */
  PetscInt               *offset;
  PetscBool               xhalo;       /* lines have points of others left and right of them: x is periodic or cut */
  PetscInt                left, right; /* where these points start in the halo buffer, in the order of extended lines */
  PetscInt                nhalo;       /* length of a halo buffer */
  struct _KCycleExchange *exchange;    /* of halos, see box.c */
} KCycleBox;

/* The rows of this process, and those of all */
static inline PetscInt KCycleBoxLocalRows(const KCycleBox *box)
{
  return box->rows[box->rank + 1] - box->rows[box->rank];
}

static inline PetscInt KCycleBoxGlobalRows(const KCycleBox *box)
{
  return box->dof * box->size[0] * box->size[1] * box->size[2];
}

static inline PetscInt KCycleBoxExtended(const KCycleBox *box, PetscInt j, PetscInt k)
{
  return (j + box->reach[1]) + (box->n[1] + 2 * box->reach[1]) * (k + box->reach[2]);
}

/* The points of line (j, k), owned or not */
static inline const KCScalar *KCycleBoxLine(const KCycleBox *box, const KCScalar *x, const KCScalar *halo, PetscInt j,
                                            PetscInt k)
{
  if (j >= 0 && j < box->n[1] && k >= 0 && k < box->n[2]) return x + box->n[0] * (j + box->n[1] * k);
  return halo + box->offset[KCycleBoxExtended(box, j, k)];
}

/* Does any process hold points that another one reads, or does the grid wrap around? */
static inline PetscBool KCycleBoxTalks(const KCycleBox *box)
{
  for (PetscInt d = 0; d < box->dim; d++) {
    if (box->periodic[d] || box->nproc[d] > 1) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* Are halos of several processes, with `above` points or more in the mean, to be sent while inner ones are computed? */
static inline PetscBool KCycleBoxOverlaps(const KCycleBox *box, PetscInt above)
{
  const PetscInt processes = box->nproc[0] * box->nproc[1] * box->nproc[2];

  return (PetscBool)(processes > 1 && KCycleBoxGlobalRows(box) / processes >= above);
}

/* Does line (j, k) read no halo? */
static inline PetscBool KCycleBoxLineIsInner(const KCycleBox *box, PetscInt j, PetscInt k)
{
  if (box->xhalo) return PETSC_FALSE;
  if (box->reach[1] && (j == 0 || j == box->n[1] - 1)) return PETSC_FALSE;
  return (PetscBool)(!box->reach[2] || (k > 0 && k < box->n[2] - 1));
}

/* Do neighbours read all points of line (j, k)? Of others they read the first and the last point at most, with xhalo */
static inline PetscBool KCycleBoxLineIsSeen(const KCycleBox *box, PetscInt j, PetscInt k)
{
  const PetscInt at[3] = {0, j, k};

  for (PetscInt d = 1; d < box->dim; d++) {
    if ((box->periodic[d] || box->nproc[d] > 1) && (at[d] == 0 || at[d] == box->n[d] - 1)) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* Which neighbours a stencil has */
typedef struct {
  int nl;   /* lines */
  int box;  /* 0: a star, with three coefficients on the middle line alone; KC_BOX: on every line; or a prism */
  int flat; /* KC_FLAT, or 0 */
  int ncoeffs;
  int dy[KC_MAX_LINES], dz[KC_MAX_LINES];
  int line[KC_MAX_COEFFS], dx[KC_MAX_COEFFS]; /* of each coefficient */
  int find[27];                               /* coefficient of (dx + 1) + 3 (dy + 1) + 9 (dz + 1), or -1 */
} KCycleShape;

/* What KCycleShapeCreate() makes such a shape of */
static inline int KCycleShapeKind(const KCycleShape *shape)
{
  return shape->box | shape->flat;
}

/* Where a coefficient leads: its index in KCycleShape.find */
static inline int KCycleShapeOffset(const KCycleShape *shape, int o)
{
  return shape->dx[o] + 1 + 3 * (shape->dy[shape->line[o]] + 1) + 9 * (shape->dz[shape->line[o]] + 1);
}

/* Has a stencil all neighbours of another one? */
static inline PetscBool KCycleShapeHas(const KCycleShape *shape, const KCycleShape *other)
{
  for (int f = 0; f < 27; f++) {
    if (shape->find[f] < 0 && other->find[f] >= 0) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Memory spaces, see memoryimpl.h, and precisions */
typedef enum {
  KCYCLE_MEMORY_HOST,
  KCYCLE_MEMORY_COUNTED, /* the host, with calls and bytes counted */
  KCYCLE_MEMORY_DEVICE,  /* where the library was built with kernels for it */
  KCYCLE_NUM_MEMORY_SPACES
} KCycleMemorySpace;

typedef enum {
  KCYCLE_PRECISION_PETSC, /* that of PETSc's numbers */
  KCYCLE_PRECISION_SINGLE
} KCyclePrecision;

/*
  The data of the kernels, without a PETSc object: Pool, arrays after each other in one allocation, which others refer
  to by number or by offset; Class, coefficients that several lines share; Stencil, the coefficients on the lines that a
  process owns; Transfer, the weights between two grids.
*/
#define KCYCLE_DATA(Number, Pool, Class, Stencil, Transfer)                                                          \
  typedef struct {                                                                                                   \
    Number           *v;                                                                                             \
    PetscInt64        used, room, most; /* numbers: in use, allocated, and what may be expected at most */           \
    KCyclePrecision   precision;                                                                                     \
    KCycleMemorySpace memory; /* whose memory it is in */                                                            \
  } Pool;                                                                                                            \
                                                                                                                     \
  typedef struct {                                                                                                   \
    Number   middle[KC_MAX_COEFFS];                                                                                  \
    Number   inverse; /* 1 / diagonal of the middle; 0 where that is zero, as before values arrive */                \
    PetscInt a, b;    /* the coefficients of points a <= i < b are those of the middle; 1 <= a <= b <= n - 1 */      \
    PetscInt uses;    /* lines that share it */                                                                      \
  } Class;                                                                                                           \
                                                                                                                     \
  typedef struct {                                                                                                   \
    KCycleBox  *box;                                                                                                 \
    KCycleShape shape;                                                                                               \
    PetscInt    nclasses;                                                                                            \
    Class      *classes;                                                                                             \
    Pool        shared; /* coefficients of the classes, see KCycleClassCoefficients() */                             \
    PetscInt   *set;    /* of each owned line: the class whose set of coefficients it shares, or -1: a block */      \
    Pool        own;    /* blocks, see KCycleBlockLength() */                                                        \
    PetscInt64 *block;  /* of each extended line: where its block begins, or -1 */                                   \
    PetscBool   half;   /* blocks hold the diagonal and what is after it; the others are those of neighbours */      \
    Number     *zeros;  /* a line of zeros */                                                                        \
    Number     *halo;   /* for the exchange of vectors */                                                            \
  } Stencil;                                                                                                         \
                                                                                                                     \
  typedef struct {                                                                                                   \
    KCycleBox *fine, *coarse;                                                                                        \
    PetscInt   factor[3]; /* 1 or 2 */                                                                               \
    PetscInt   origin[3]; /* fine point of coarse point 0, in the numbering of the grids */                          \
    PetscInt   shift[3];  /* the same in the numbering of the owned boxes */                                         \
    PetscInt   stride;    /* length of the weights of a line on one coarse line: set s begins at s * stride */       \
    Pool       weights;                                                                                              \
    PetscInt  *set;  /* of extended fine line e on its coarse line q: set[4 * e + q], or -1: its weights are zero */ \
    Number    *halo; /* coarse halo buffer */                                                                        \
    Number    *line; /* one fine line for each thread, for fused steps */                                            \
  } Transfer

KCYCLE_DATA(KCScalar, KCyclePool, KCycleClass, KCycleStencil, KCycleTransfer);

/* Those in PETSc's numbers, where kernels have others */
#if defined(KCYCLE_SINGLE)
KCYCLE_DATA(PetscScalar, KCyclePoolDouble, KCycleClassDouble, KCycleStencilDouble, KCycleTransferDouble);
#else
typedef KCycleStencil  KCycleStencilDouble;
typedef KCycleTransfer KCycleTransferDouble;
#endif

/* pool.c, in both precisions */
PETSC_INTERN void KCycleMemoryAdvise(void *, size_t bytes);

/* Can kernels that work in a memory space, and compute with this precision, be handed a pool? */
static inline PetscBool KCyclePoolIsAt(const KCyclePool *pool, KCycleMemorySpace memory)
{
  return (PetscBool)(pool->memory == memory && pool->precision == KC_PRECISION);
}

static inline PetscBool KCycleStencilIsAt(const KCycleStencil *st, KCycleMemorySpace memory)
{
  return (PetscBool)(KCyclePoolIsAt(&st->shared, memory) && KCyclePoolIsAt(&st->own, memory));
}

/* One line of the matrix and the lines of a vector that it reads */
typedef struct {
  const KCScalar    *x[KC_MAX_LINES];
  const KCScalar    *left, *right;             /* what lies beyond the ends of these lines */
  KCScalar           beyond[2 * KC_MAX_LINES]; /* holds it, unless it is zero */
  const KCScalar    *head, *tail;              /* coefficients of the first and the last points, point by point */
  PetscInt           nhead, ntail;             /* number of these points */
  const KCScalar    *c[KC_MAX_COEFFS];         /* if not constant: coefficients of points 1 to n - 2 */
  const KCycleClass *constant;                 /* or NULL */
  const KCScalar    *end[2];                   /* coefficients of the first and the last point */
  PetscInt           stride;                   /* between them */
  PetscInt           n;
  const KCScalar    *next; /* nnext coefficients that are likely to be read soon */
  PetscInt           nnext;
} KCycleLine;

/* Does a line share its coefficients with the one that was looked at last (-1: none was)? */
static inline PetscBool MatStencilLineIsLast(const KCycleStencil *st, PetscInt line, PetscInt last)
{
  return (PetscBool)(last >= 0 && st->set[line] >= 0 && st->set[line] == st->set[last]);
}

/* Numbers that the block of a line has: its coefficients, then all those of its first and of its last point */
static inline PetscInt KCycleBlockLength(const KCycleBox *box, const KCycleShape *shape, PetscBool half)
{
  return (shape->ncoeffs - (half ? shape->ncoeffs / 2 : 0)) * box->n[0] + 2 * shape->ncoeffs;
}

/* Numbers that a class has: its coefficients, then those of the points at its ends, at most 8. There are at least 8
   of box stencils: whole vectors may read as many numbers after the coefficients of a line */
static inline PetscInt KCycleClassLength(const KCycleBox *box, const KCycleShape *shape)
{
  return shape->ncoeffs * (box->n[0] + (box->n[0] < 8 ? box->n[0] : 8));
}

/* Coefficient o of point i at o * n + i; after them all of the points before KCycleClass.a, point by point, then of
   those from b on */
static inline KCScalar *KCycleClassCoefficients(const KCycleStencil *st, PetscInt c)
{
  return st->shared.v + (size_t)c * (size_t)KCycleClassLength(st->box, &st->shape);
}

static inline KCScalar *KCycleClassEnds(const KCycleStencil *st, PetscInt c)
{
  return KCycleClassCoefficients(st, c) + st->shape.ncoeffs * st->box->n[0];
}

/* The class, if its coefficients are the same but at its ends, or NULL */
static inline const KCycleClass *KCycleClassConstant(const KCycleStencil *st, PetscInt c)
{
  return st->classes[c].b > st->classes[c].a ? &st->classes[c] : NULL;
}

/* The class of an owned line, or -1 */
static inline PetscInt KCycleClassOfLine(const KCycleStencil *st, PetscInt line)
{
  return st->set[line];
}

static inline PetscInt KCycleClassOf(const KCycleStencil *st, PetscInt j, PetscInt k)
{
  return st->set[j + st->box->n[1] * k];
}

static inline PetscBool KCycleStencilHasBlocks(const KCycleStencil *st)
{
  return (PetscBool)(st->own.used > 0);
}

/* The block of an extended line, or NULL */
static inline KCScalar *KCycleBlock(const KCycleStencil *st, PetscInt e)
{
  return st->block[e] < 0 ? NULL : st->own.v + st->block[e];
}

/* Asks for n numbers that are read soon: the processor by itself does not see far enough ahead */
KC_POINT void KCycleFetch(PetscInt n, const KCScalar *places)
{
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  (void)n;
  (void)places;
#else
  for (PetscInt i = 0; i < n; i += 8) __builtin_prefetch(places + i);
#endif
}

/* In eight parts, as vectors add up */
KC_POINT PetscReal KCycleSumSquares(PetscInt n, const KCScalar *x)
{
  PetscReal part[8] = {0, 0, 0, 0, 0, 0, 0, 0}, sum = 0;

  for (PetscInt i = 0; i < n / 8 * 8; i += 8) {
    for (int p = 0; p < 8; p++) part[p] += KCycleSquare(x[i + p]);
  }
  for (PetscInt i = n / 8 * 8; i < n; i++) part[i % 8] += KCycleSquare(x[i]);
  for (int p = 0; p < 8; p++) sum += part[p];
  return sum;
}

/* shape.c */
PETSC_INTERN void KCycleShapeCreate(PetscInt dim, int kind, KCycleShape *);

/* line.c: kernels on lines */
/* for smoothers of programs */
PETSC_EXTERN void KCycleLineGather(const KCycleStencil *, const KCScalar *, const KCScalar *, PetscInt, PetscInt,
                                   KCycleLine *);
/* for smoothers of programs */
PETSC_EXTERN void KCycleLineCoefficients(const KCycleStencil *, PetscInt, PetscInt, KCycleLine *);
/* for smoothers of programs */
PETSC_EXTERN void KCycleLineCompute(const KCycleShape *, int op, const KCycleLine *, const KCScalar *b,
                                    const KCScalar *w, KCScalar *y);
PETSC_INTERN void KCycleLineRelaxBoth(const KCycleStencil *, KCycleLine *, const KCScalar *b, const KCScalar *first,
                                      const KCScalar *second, KCScalar *work, KCScalar *x);
PETSC_INTERN void KCycleLinePart(const KCycleShape *, PetscInt a, PetscInt b, KCycleLine *);
PETSC_INTERN void KCycleLineScale(const KCycleShape *, const KCycleLine *, const KCScalar *b, const KCScalar *w,
                                  KCScalar *y);

/* advance.c: steps of iterations by polynomials, see KCyclePointStep; first: from zero, to weight D^-1 b */
typedef struct {
  KCScalar keep, weight;
} KCycleTerm;

/* Lines of a plane after each other that share a class of coefficients which are the same but at their ends. The next
   line is `pitch` numbers further on in x, before and y, and before and after each line of x there is a zero */
typedef struct {
  PetscInt           nlines, n, pitch, width; /* n: points of a line; width: from line to line of b */
  const KCScalar    *x[3];                    /* of the planes before, here and after */
  const KCScalar    *before;                  /* what x was before the last step, if a step needs it */
  const KCScalar    *b;
  const KCScalar    *ahead[2]; /* nahead numbers of lines as b that are read or written soon, or NULL */
  PetscInt           nahead;
  KCScalar          *y;
  PetscInt           out;  /* from line to line of y */
  const KCycleClass *k;    /* their coefficients */
  const KCScalar    *ends; /* of the points before k->a and from k->b on, point by point */
  /* 1 / diagonal, or 0, see KCyclePointInverse(): of the points between, then of those */
  const KCScalar    *inverse;
} KCycleStrip;

PETSC_INTERN void KCycleAdvanceFirst(const KCycleShape *, const KCycleLine *, const KCycleTerm *, const KCScalar *b,
                                     KCScalar *y);
PETSC_INTERN void KCycleAdvanceLine(const KCycleShape *, int step, const KCycleLine *, const KCycleTerm *,
                                    const KCScalar *before, const KCScalar *b, KCScalar *y);
PETSC_INTERN void KCycleAdvanceStripFirst(const KCycleTerm *, const KCycleStrip *);
PETSC_INTERN void KCycleAdvanceStrip(const KCycleShape *, int step, const KCycleTerm *, const KCycleStrip *);

/* Where line (j, k) has its coefficients from the given one on, all or those of the upper half; NULL: nowhere */
static inline const KCScalar *KCycleCoefficientsFrom(const KCycleStencil *st, PetscInt j, PetscInt k, int o)
{
  const PetscInt n = st->box->n[0], e = KCycleBoxExtended(st->box, j, k);

  if (st->box->offset[e] < 0 && KCycleClassOf(st, j, k) >= 0)
    return KCycleClassCoefficients(st, KCycleClassOf(st, j, k)) + o * n;
  return st->block[e] < 0 ? NULL : KCycleBlock(st, e) + (o - (st->half ? st->shape.ncoeffs / 2 : 0)) * n;
}

/* Coefficient o of point i of a line */
static inline KCScalar KCycleLineCoefficient(const KCycleLine *l, int o, PetscInt i)
{
  if (i == 0) return l->end[0][o * l->stride];
  if (i == l->n - 1) return l->end[1][o * l->stride];
  return l->constant ? l->end[0][o * l->stride + i] : l->c[o][i];
}

/* The weights of a set, or NULL: they are zero */
static inline const KCScalar *KCycleTransferWeights(const KCycleTransfer *tr, PetscInt set)
{
  return set < 0 ? NULL : tr->weights.v + (size_t)set * (size_t)tr->stride;
}

/* The sets of an extended fine line on its coarse lines */
static inline PetscInt *KCycleTransferSets(const KCycleTransfer *tr, PetscInt e)
{
  return tr->set + 4 * (size_t)e;
}

/* A fine line and the coarse lines that it touches */
typedef struct {
  PetscInt        count;
  PetscInt        j[4], k[4]; /* coarse lines */
  const KCScalar *w[4];
} KCycleTouch;

/* The coarse lines (1) that a thread restricts to, in y, and the fine lines (0) that touch them: low to high - 1. Fine
   lines before `own` are another thread's, too, which keeps what is summed up of them */
typedef struct {
  PetscInt low[2], high[2], own;
} KCycleTransferLines;

KC_POINT PetscInt KCycleFloorHalf(PetscInt i)
{
  return i >= 0 ? i / 2 : -((1 - i) / 2);
}

/* The first coarse point that fine point i touches in a direction, and how many there are */
KC_POINT PetscInt KCycleTouched(PetscInt factor, PetscInt shift, PetscInt i, PetscInt *count)
{
  const PetscInt away = i - shift, low = factor == 1 ? away : KCycleFloorHalf(away);

  *count = factor == 1 || 2 * low == away ? 1 : 2;
  return low;
}

/* transfer.c: kernels on lines */
PETSC_INTERN void KCycleTransferShare(const KCycleTransfer *, PetscInt low, PetscInt high, KCycleTransferLines *);
PETSC_INTERN void KCycleTransferTouch(const KCycleTransfer *, PetscInt j, PetscInt k, KCycleTouch *);
PETSC_INTERN void KCycleTransferInterpolateLine(const KCycleTransfer *, const KCScalar *e, PetscInt j, PetscInt k,
                                                PetscBool add, KCScalar *x);
PETSC_INTERN void KCycleTransferRestrictLine(const KCycleTransfer *, const KCScalar *r, PetscInt j, PetscInt k,
                                             const KCycleTransferLines *, KCScalar *b);
PETSC_INTERN void KCycleTransferInterpolateHalf(const KCycleTransfer *, const KCScalar *e, PetscInt parity, PetscInt j,
                                                PetscInt k, KCScalar *x);
PETSC_INTERN void KCycleTransferRestrictHalf(const KCycleTransfer *, const KCScalar *r, PetscInt parity, PetscInt j,
                                             PetscInt k, const KCycleTransferLines *, KCScalar *b);

/* Weights of points that coincide start here, with index -1 to n; n: coarse points of a line on this process */
static inline const KCScalar *KCycleWeightsSame(const KCScalar *w)
{
  return w + 1;
}

/* Index -1 to n - 1, as of the coarse point on the left */
static inline const KCScalar *KCycleWeightsLeft(const KCScalar *w, PetscInt n)
{
  return w + n + 3;
}

static inline const KCScalar *KCycleWeightsRight(const KCScalar *w, PetscInt n)
{
  return w + 2 * n + 4;
}

/* A fine point, in one direction: `count` coarse points from the first one on, with these weights */
typedef struct {
  PetscInt  first;
  int       count;
  PetscReal w[4];
} KCycleCubicPoint;

/*
  Cubic interpolation between two grids, direction by direction, from the coarse points around those that a process owns
  of the fine grid: m of them in each direction. Between coarse points the weights are those of the polynomial through
  the four nearest ones; beyond the last one through three. They follow from points alone, not from the operator, nor
  from boundary conditions.
*/
typedef struct {
  PetscInt          n[3], m[3];
  PetscInt          factor, shift; /* in x: of the coarsening; fine point of coarse point 0 */
  PetscInt          low, high;     /* in x: after coarse points low to high - 1 weights are -1, 9, 9, -1 over 16 */
  KCycleCubicPoint *point[3];      /* of each fine point in each direction */
} KCycleCubic;

/* What full multigrid starts with on a level: x = P e, or cubic interpolation of e, which is then of the m points */
typedef struct {
  const KCycleTransfer *tr;
  const KCycleCubic    *cubic; /* or NULL */
  const KCScalar       *e;
} KCycleStart;

/* cubic.c. work: m[0] numbers */
PETSC_INTERN void KCycleStartLine(const KCycleStart *, PetscInt j, PetscInt k, KCScalar *work, KCScalar *x);
