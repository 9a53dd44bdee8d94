/*
  Kernels on a device: what they work on, and the functions that launch them. As those of the host they use no PETSc
  object and no MPI, and there is one source for each precision. All pointers lead to memory of the device. Nothing
  waits: a launch has happened when its stream has come so far.

  Indices of lines, blocks, classes, sets and halos are those of the host, see kernelimpl.h.
*/
#pragma once

#include <petsckcycle/private/runtimeimpl.h>
#include <petsckcycle/private/systemsimpl.h>

/* A number to divide by, see KCycleCudaQuotient() */
typedef struct {
  PetscInt number;
  unsigned factor;
  int      shift;
} KCycleCudaDivisor;

/* The part of a grid that a process owns. Divisors: points of a line, lines of a plane; pairs of points of a line; both
   with those of the halo */
typedef struct {
  PetscInt          n[3], npoints;
  PetscInt          reach[3];
  PetscInt          xhalo, left, right;
  KCycleCudaDivisor line, plane, pairs, widerline, widerplane;
  const PetscInt   *offset;
} KCycleCudaBox;

/* The operator */
typedef struct {
  KCycleCudaBox      box;
  KCycleShape        shape;
  PetscInt           away[KC_MAX_COEFFS]; /* so far in a vector is the neighbour of each coefficient */
  PetscInt           half;                /* coefficients that blocks leave out */
  PetscInt           length;              /* of a class */
  const KCycleClass *classes;
  const KCScalar    *shared, *own;
  const PetscInt    *set;
  const PetscInt64  *block;
  KCScalar          *halo; /* of the grid */
} KCycleCudaStencil;

typedef struct {
  KCycleCudaBox   fine, coarse;
  PetscInt        factor[3], shift[3], stride;
  const KCScalar *weights;
  const PetscInt *set;
  KCScalar       *halo; /* of the coarse grid */
} KCycleCudaTransfer;

/* Compressed rows: columns of this process, and the others. Which entry a coefficient is: that of the rows, or
   KC_OFF_ENTRY less that of the other columns; coefficient o of point i on line l at (l * ncoeffs + o) * n + i. Strays
   are entries that are no coefficient */
#define KC_NO_ENTRY  (-1)
#define KC_OFF_ENTRY (-2)
typedef struct {
  PetscInt           ncoeffs, nstrays;
  const PetscInt    *entry, *stray;
  const PetscScalar *a, *oa;
} KCycleCudaRows;

/* What is computed of all owned points, from x with its halo */
typedef struct {
  int             op;   /* see KCyclePointOp */
  KCScalar        w;    /* weight of a relaxation */
  const KCScalar *x;    /* NULL, of a relaxation: zeros */
  const KCScalar *b;    /* or NULL, for a product */
  KCScalar       *y;    /* is not x */
  KCScalar       *d;    /* or NULL; the change of x, d <- keep d + w D^-1 (b - A x), y = x + d */
  PetscReal       keep; /* 0: d holds nothing yet */
} KCycleCudaStep;

/* Points of one colour are relaxed in place */
typedef struct {
  const KCScalar *b;
  KCScalar       *x;
  KCScalar        w;
  PetscInt        zeroguess; /* x counts as zero, and is written everywhere */
  PetscInt        each;      /* the colour has a bit for each direction; or 0: it is the parity of their sum */
  PetscInt        colour;
  PetscInt        parity[3]; /* of the first point of the owned box */
} KCycleCudaColour;

/* A part of the points, or of the pairs of points side by side in x: those between low and high, or those of a
   list, where the first point is or the number of the pair */
typedef struct {
  PetscInt        n; /* threads */
  PetscInt        low[3], high[3];
  const PetscInt *list; /* or NULL */
} KCycleCudaPart;

/* The grid lines along one direction that have one colour, see lines.h; line by line, rows after each other */
typedef struct {
  PetscInt             d, n;                /* their direction, and points of a line */
  PetscInt             step[3];             /* along a line, from line to line of a row, from row to row */
  PetscInt             nlines;              /* of the colour */
  PetscInt             count[2], parity[2]; /* of its lines in even and in odd rows */
  PetscInt             nblocks;             /* of a row and a parity that have their own sets */
  PetscInt             turned, cut;
  KCScalar             weight;
  const PetscInt      *set;
  const KCycleLineSet *sets;
  const KCScalar      *factors;
  KCScalar            *y;      /* T^-1 of residuals: first points of all lines, second ones... */
  KCScalar            *beyond; /* what comes before all lines, then what comes after them */
} KCycleCudaLines;

/* Of the lines of the colour in a row */
KC_POINT PetscInt KCycleCudaLineParity(const KCycleCudaLines *z, PetscInt row)
{
  return row & 1 ? z->parity[1] : z->parity[0];
}

/* Where the first point of line l of the colour is, its row, and its number among the lines of the colour there */
KC_POINT PetscInt KCycleCudaLineAt(const KCycleCudaLines *z, PetscInt l, PetscInt *row, PetscInt *number)
{
  const PetscInt both = z->count[0] + z->count[1], pair = l / both, rest = l - pair * both;
  const PetscInt odd = rest >= z->count[0] ? 1 : 0;

  *row    = 2 * pair + odd;
  *number = odd ? rest - z->count[0] : rest;
  return (KCycleCudaLineParity(z, *row) + 2 * *number) * z->step[1] + *row * z->step[2];
}

/* Line and index of a thread's point: neighbours in x are those of neighbouring threads */
KC_POINT void KCycleCudaLinePoint(const KCycleCudaLines *z, PetscInt thread, PetscInt *l, PetscInt *i)
{
  const PetscInt length = z->d == 0 ? z->n : z->nlines, a = thread / length, b = thread - a * length;

  *l = z->d == 0 ? a : b;
  *i = z->d == 0 ? b : a;
}

/* The factors of a line. Returns its index in them */
KC_POINT PetscInt KCycleCudaLineFactors(const KCycleCudaLines *z, PetscInt row, PetscInt number, KCycleFactors *f)
{
  const PetscInt index = 2 * row + KCycleCudaLineParity(z, row);
  const PetscInt set   = z->set[z->d == 0 ? index * z->nblocks + number / KC_SYSTEMS : index];

  KCycleLineSetFactors(&z->sets[set], z->factors, z->n, z->cut, f);
  return KCycleFactorsIndex(f, z->d == 0 ? number % KC_SYSTEMS : number);
}

/* Planes across one direction: first points, steps and numbers in each direction. Divisors: points of a line of those,
   lines of a plane */
typedef struct {
  PetscInt          first[3], step[3], n[3], stride[3];
  KCycleCudaDivisor line, plane;
} KCycleCudaPlanes;

/* Clusters first to last - 1 */
typedef struct {
  KCycleClusterRows  rows;
  PetscReal          divisor;     /* of the operator that right sides and solutions are of */
  PetscInt           first, last; /* slices */
  const PetscInt    *clusters;    /* first one of each slice */
  const PetscScalar *inverse;     /* of all */
  PetscScalar       *change;      /* of all */
} KCycleCudaClusters;

/* What one block can do among other things, see blockcuda.cu */
typedef enum {
  KC_DO_SCALE,
  KC_DO_MOVE,
  KC_DO_GATHER,
  KC_DO_COMPUTE,
  KC_DO_CHANGE,
  KC_DO_COLOUR,
  KC_DO_INTERPOLATE,
  KC_DO_RESTRICT,
  KC_DO_INVERT
} KCycleCudaKind;

#define KC_BLOCK_WORDS        120
#define KC_BLOCK_INSTRUCTIONS 1024  /* of a program, at most, */
#define KC_BLOCK_STEPS        16384 /* and steps */

/* What a kernel would be launched with: its struct of workcuda.h */
typedef struct {
  PetscInt   kind, n; /* threads */
  PetscInt64 work[KC_BLOCK_WORDS];
} KCycleCudaInstruction;

/* The most vectors that an instruction has */
#define KC_BLOCK_VECTORS 5

/* A program on the device */
typedef struct {
  PetscInt                     n;
  const PetscInt              *step; /* which instructions are done, one after the other */
  const KCycleCudaInstruction *instruction;
  /* or NULL; two numbers for each instruction, with a bit for each of its words that is an address in a vector */
  const unsigned long long    *vectors;
} KCycleCudaSteps;

/* The matrix of what a program makes of right sides. Each block has vectors of its own; those of the first one are in
   the program */
typedef struct {
  PetscInt   n, blocks;
  PetscInt64 stride; /* bytes from the vectors of a block to those of the next */
  KCScalar  *b, *x;  /* of the first block */
  KCScalar  *M;      /* by rows */
} KCycleCudaColumns;

/* A program, while it is written on the host: which instructions are done, one after the other */
typedef struct {
  PetscInt               nsteps, ninstructions;
  PetscInt              *step;        /* room for KC_BLOCK_STEPS */
  KCycleCudaInstruction *instruction; /* room for KC_BLOCK_INSTRUCTIONS */
  int                    unknown;     /* there was a kernel that one block cannot run, */
  int                    toolong;     /* or no room: the program is worth nothing then */
} KCycleCudaProgram;

/* What a block of a device may have, and how many work at a time */
typedef struct {
  int bytes, processors;
} KCycleCudaLimits;

/* The most half sweeps of one launch */
#define KC_CUDA_TILE 4

/* Half sweeps of red-black relaxation in one launch, and what comes before and after them. Not where a grid wraps
   around, or other processes have parts of it */
typedef struct {
  KCycleCudaStencil  st;
  PetscInt           low[3], high[3]; /* points between these have the coefficients that follow */
  KCScalar           c[7], inverse;
  KCycleCudaTransfer tr;              /* from the coarser level */
  PetscInt           from[3], end[3]; /* coarse points from these to those before the others have these weights, */
  KCScalar           weights[27];     /* of fine points in the order of KCycleShape.find */
  KCycleCudaLimits   limits;
  const KCScalar    *x; /* NULL: zeros */
  const KCScalar    *e; /* or NULL; x + P e is relaxed */
  const KCScalar    *b;
  KCScalar          *y;      /* is not x */
  KCScalar          *coarse; /* or NULL; restricted residual of y */
  KCScalar           w;
  PetscInt           parity[3]; /* of the first point */
  PetscInt           nhalf;     /* 1 to KC_CUDA_TILE */
  PetscInt           colours;   /* bit s: that of half sweep s */
} KCycleCudaTile;

/* How the grid of such a launch is shared out to parts that fit into shared memory: points that a part writes; as many
   points of a rim on each side of it, in 2D none in z; points with rims. At each distance from the edge of a part it
   has, for each number up to the rim, such lines, pairs of points of a line, and lines of a plane */
typedef struct {
  PetscInt          own[3], rim, n[3], parts[3];
  PetscInt          bytes;
  KCycleCudaDivisor width[KC_CUDA_TILE + 3], pairs[KC_CUDA_TILE + 3], rows[KC_CUDA_TILE + 3];
} KCycleCudaShares;

/* Kernels that have been launched, or recorded; vectorcuda.cu */
PETSC_INTERN PetscInt64 KCycleCudaLaunches;

/* Parts of a sum or of a maximum that are left for the host */
#define KC_CUDA_PARTS   256
/* Numbers that the kernels need for them */
#define KC_CUDA_SCRATCH (KC_CUDA_PARTS * (KC_CUDA_PARTS + 1))

/* stencilcuda.cu */
PETSC_INTERN cudaError_t KCycleCudaCompute(cudaStream_t, const KCycleCudaStencil *, const KCycleCudaStep *);
PETSC_INTERN cudaError_t KCycleCudaRelaxColour(cudaStream_t, const KCycleCudaStencil *, const KCycleCudaColour *);

/* partcuda.cu: the same of a part of the points, of pairs for a colour */
PETSC_INTERN cudaError_t KCycleCudaComputePart(cudaStream_t, const KCycleCudaStencil *, const KCycleCudaStep *,
                                               const KCycleCudaPart *);
PETSC_INTERN cudaError_t KCycleCudaRelaxColourPart(cudaStream_t, const KCycleCudaStencil *, const KCycleCudaColour *,
                                                   const KCycleCudaPart *);

/* stencilcuda.cu: the residuals of lines of a colour, into y; x NULL: zeros */
PETSC_INTERN cudaError_t KCycleCudaLineResidual(cudaStream_t, const KCycleCudaStencil *, const KCycleCudaLines *,
                                                const KCScalar *b, const KCScalar *x);

/* linescuda.cu: y <- T^-1 y, or x += weight T^-1 y unless that is NULL; what comes before and after lines, from the
   ends of all parts; x += weight y, less what comes of these */
PETSC_INTERN cudaError_t KCycleCudaLinesSolve(cudaStream_t, const KCycleCudaLines *, KCScalar *x);
PETSC_INTERN cudaError_t KCycleCudaLinesBeyond(cudaStream_t, const KCycleCudaLines *, PetscInt size,
                                               const KCScalar *weight, const KCScalar *all);
PETSC_INTERN cudaError_t KCycleCudaLinesAdd(cudaStream_t, const KCycleCudaLines *, KCScalar *x);

/* planescuda.cu: r = divisor (b - A x) at the points of a part, on the grid of its planes, and x += weight e there; x
   NULL: zeros */
PETSC_INTERN cudaError_t KCycleCudaPlaneResidual(cudaStream_t, const KCycleCudaStencil *, const KCycleCudaPlanes *,
                                                 PetscReal divisor, const KCScalar *b, const KCScalar *x,
                                                 PetscScalar *r);
PETSC_INTERN cudaError_t KCycleCudaPlaneAdd(cudaStream_t, const KCycleCudaBox *, const KCycleCudaPlanes *,
                                            PetscReal weight, const PetscScalar *e, KCScalar *x);

/* clustercuda.cu: change = inverse 1^T (divisor b - A x) of these clusters; x += change on their members */
PETSC_INTERN cudaError_t KCycleCudaClusterChanges(cudaStream_t, const KCycleCudaClusters *, const KCScalar *b,
                                                  const KCScalar *x);
PETSC_INTERN cudaError_t KCycleCudaClusterAdd(cudaStream_t, const KCycleCudaClusters *, KCScalar *x);

/* tilecuda.cu; the first one is called before the others, once for a device, and gives the most half sweeps that a
   launch should have, and how many blocks it then has */
PETSC_INTERN cudaError_t KCycleCudaTilePrepare(KCycleCudaTile *, PetscInt *most, PetscInt *blocks);
PETSC_INTERN cudaError_t KCycleCudaTileSweeps(cudaStream_t, const KCycleCudaTile *);

/* parttilecuda.cu: the same without a march; prepared after the other ones */
PETSC_INTERN cudaError_t KCycleCudaPartPrepare(const KCycleCudaTile *);
PETSC_INTERN cudaError_t KCycleCudaPartSweeps(cudaStream_t, const KCycleCudaTile *, const KCycleCudaShares *);

/* rowscuda.cu: blocks of all coefficients, one line after the other; how many strays are not zero, in the first one of
   KC_CUDA_PARTS + 1 numbers */
PETSC_INTERN cudaError_t KCycleCudaTakeRows(cudaStream_t, const KCycleCudaRows *, const KCycleCudaBox *, KCScalar *own);
PETSC_INTERN cudaError_t KCycleCudaCountStrays(cudaStream_t, const KCycleCudaRows *, PetscReal *scratch);

/* transfercuda.cu: x = P e or x += P e, and b = P^T r with what belongs to other processes in the halo */
PETSC_INTERN cudaError_t KCycleCudaInterpolate(cudaStream_t, const KCycleCudaTransfer *, const KCScalar *e,
                                               PetscBool add, KCScalar *x);
PETSC_INTERN cudaError_t KCycleCudaRestrict(cudaStream_t, const KCycleCudaTransfer *, const KCScalar *r, KCScalar *b);

/* vectorcuda.cu: y[to[i]] = x[from[i]], where NULL counts on; y[to[i]] += sum of x[from[s]], start[i] <= s <
   start[i + 1], where start NULL counts on */
PETSC_INTERN cudaError_t KCycleCudaMove(cudaStream_t, PetscInt n, const PetscInt *from, const KCScalar *x,
                                        const PetscInt *to, KCScalar *y);
PETSC_INTERN cudaError_t KCycleCudaScale(cudaStream_t, PetscInt n, PetscReal factor, KCScalar *y);
PETSC_INTERN cudaError_t KCycleCudaZero(cudaStream_t, PetscInt n, KCScalar *y);
PETSC_INTERN cudaError_t KCycleCudaGather(cudaStream_t, PetscInt n, const PetscInt *start, const PetscInt *from,
                                          const KCScalar *x, const PetscInt *to, KCScalar *y);
PETSC_INTERN cudaError_t KCycleCudaSumSquares(cudaStream_t, PetscInt n, const KCScalar *x, PetscReal *scratch);
PETSC_INTERN cudaError_t KCycleCudaLargest(cudaStream_t, PetscInt n, const PetscScalar *x, PetscReal *scratch);
PETSC_INTERN cudaError_t KCycleCudaConvertIn(cudaStream_t, PetscInt n, const PetscScalar *x, PetscReal divisor,
                                             KCScalar *y);
PETSC_INTERN cudaError_t KCycleCudaConvertOut(cudaStream_t, PetscInt n, const KCScalar *x, PetscReal factor,
                                              PetscScalar *y);
PETSC_INTERN cudaError_t KCycleCudaFill(cudaStream_t, PetscInt n, PetscScalar value, PetscScalar *y);

/* Inverses of systems without couplings to each other, `count` of them, of the same size, one after the other. Column
   j of all inverses comes after column j - 1 of them all */
typedef struct {
  PetscInt           n; /* unknowns, of all systems */
  PetscInt           count;
  const PetscScalar *M;
} KCycleCudaInverse;

/* densecuda.cu: x = factor M b or factor M^T b, where M is kept by columns; x = M b, where M is kept by rows */
PETSC_INTERN cudaError_t KCycleCudaInvert(cudaStream_t, const KCycleCudaInverse *, PetscBool transpose,
                                          PetscReal factor, const KCScalar *b, KCScalar *x);
PETSC_INTERN cudaError_t KCycleCudaMultiply(cudaStream_t, PetscInt n, const KCScalar *M, const KCScalar *b,
                                            KCScalar *x);

/* blockcuda.cu: unless this is NULL, kernels are added to the program instead of being launched */
PETSC_INTERN KCycleCudaProgram *KCycleCudaWriting;
typedef int (*KCycleCudaCompare)(const void *work, const void *other);
PETSC_INTERN void        KCycleCudaWrite(KCycleCudaKind, PetscInt n, const void *work, size_t bytes, KCycleCudaCompare);
/* a program, on the device, by one block; its columns, by many, and so many processors work at a time. The words of an
   instruction that are addresses in vectors, or NULL; returns their number */
PETSC_INTERN cudaError_t KCycleCudaPerform(cudaStream_t, const KCycleCudaSteps *);
PETSC_INTERN cudaError_t KCycleCudaMakeColumns(cudaStream_t, const KCycleCudaSteps *, const KCycleCudaColumns *);
PETSC_INTERN cudaError_t KCycleCudaProcessors(int *processors);
PETSC_INTERN int         KCycleCudaVectors(const KCycleCudaInstruction *, int word[KC_BLOCK_VECTORS]);
