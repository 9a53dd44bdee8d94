/*
  Tridiagonal systems of grid lines that have one colour, one thread a line: consecutive threads have consecutive lines,
  and y has their points side by side, whatever the direction of the lines.
*/
#include "launchcuda.h"

/* Rows of a system that are read before they are needed, as each one waits for the one before */
#define ROWS 8

/* A line: points, from one to the next in y and in x */
typedef struct {
  PetscInt n, step, along;
} Walk;

/* y = L^-1 y */
static __device__ __forceinline__ void Forward(const KCycleFactors &f, PetscInt index, const Walk &walk, KCScalar *y)
{
  const KCScalar *lower = f.lower + index;
  KCScalar        last  = y[0];

  for (PetscInt first = 1; first < walk.n; first += ROWS) {
    KCScalar t[ROWS], l[ROWS];

    KC_UNROLL
    for (PetscInt i = 0; i < ROWS; i++) {
      const PetscInt row = first + i < walk.n ? first + i : walk.n - 1;

      t[i] = y[row * walk.step];
      l[i] = lower[row * f.m];
    }
    KC_UNROLL
    for (PetscInt i = 0; i < ROWS; i++) {
      if (first + i >= walk.n) break;
      last                       = KCyclePointForward(t[i], l[i], last);
      y[(first + i) * walk.step] = last;
    }
  }
}

/* y = (D U)^-1 y, or x += weight (D U)^-1 y unless that is NULL */
static __device__ __forceinline__ void Back(const KCycleFactors &f, PetscInt index, const Walk &walk, KCScalar *y,
                                            KCScalar weight, KCScalar *x)
{
  const KCScalar *inverse = f.inverse + index, *upper = f.upper + index;
  KCScalar        next = 0;

  for (PetscInt end = walk.n; end > 0; end -= ROWS) {
    KCScalar t[ROWS], d[ROWS], u[ROWS];

    KC_UNROLL
    for (PetscInt i = 0; i < ROWS; i++) {
      const PetscInt row = end - 1 - i > 0 ? end - 1 - i : 0;

      t[i] = y[row * walk.step];
      d[i] = inverse[row * f.m];
      u[i] = upper[row * f.m];
    }
    KC_UNROLL
    for (PetscInt i = 0; i < ROWS; i++) {
      const PetscInt row = end - 1 - i;

      if (row < 0) break;
      next = KCyclePointBack(t[i], d[i], u[i], next);
      if (x) x[row * walk.along] += weight * next;
      else y[row * walk.step] = next;
    }
  }
}

static __global__ void Solve(KCycleCudaLines z, KCScalar *x)
{
  const PetscInt l = KCycleCudaThread();
  PetscInt       row, number, first, index;
  KCScalar      *y    = z.y + l;
  Walk           walk = {z.n, z.nlines, z.step[0]};
  KCycleFactors  f;

  if (l >= z.nlines) return;
  first = KCycleCudaLineAt(&z, l, &row, &number);
  index = KCycleCudaLineFactors(&z, row, number, &f);
  if (z.turned && KCycleCudaLineParity(&z, row)) {
    y += (z.n - 1) * walk.step;
    first += (z.n - 1) * walk.along;
    walk.step  = -walk.step;
    walk.along = -walk.along;
  }
  Forward(f, index, walk, y);
  Back(f, index, walk, y, z.weight, x ? x + first : NULL);
}

/* A thread sums up for the beginning of a line or for its end; weights and ends as in lineends.c */
static __global__ void Beyond(KCycleCudaLines z, PetscInt size, const KCScalar *weight, const KCScalar *all)
{
  const PetscInt thread = KCycleCudaThread(), side = thread / z.nlines, l = thread - side * z.nlines;
  KCScalar       sum = 0;

  if (side > 1) return;
  for (PetscInt j = 0; j < 2 * size; j++) sum += weight[(2 * size * side + j) * z.nlines + l] * all[j * z.nlines + l];
  z.beyond[thread] = sum;
}

/* One thread for each point of the lines */
static __global__ void Add(KCycleCudaLines z, KCScalar *x)
{
  const PetscInt thread = KCycleCudaThread();
  PetscInt       l, i, row, number, point;
  KCScalar       y;

  if (thread >= z.nlines * z.n) return;
  KCycleCudaLinePoint(&z, thread, &l, &i);
  point = KCycleCudaLineAt(&z, l, &row, &number) + i * z.step[0];
  y     = z.y[i * z.nlines + l];
  if (z.cut) {
    KCycleFactors  f;
    const PetscInt index = KCycleCudaLineFactors(&z, row, number, &f), at = index + i * f.m;

    y = KCyclePointCouple(y, f.before[at], z.beyond[l], f.behind[at], z.beyond[z.nlines + l]);
  }
  x[point] += z.weight * y;
}

cudaError_t KCycleCudaLinesSolve(cudaStream_t stream, const KCycleCudaLines *z, KCScalar *x)
{
  return KCycleCudaLaunchFew(stream, z->nlines, Solve, *z, x);
}

cudaError_t KCycleCudaLinesBeyond(cudaStream_t stream, const KCycleCudaLines *z, PetscInt size, const KCScalar *weight,
                                  const KCScalar *all)
{
  return KCycleCudaLaunch(stream, 2 * z->nlines, Beyond, *z, size, weight, all);
}

cudaError_t KCycleCudaLinesAdd(cudaStream_t stream, const KCycleCudaLines *z, KCScalar *x)
{
  return KCycleCudaLaunch(stream, z->nlines * z->n, Add, *z, x);
}
