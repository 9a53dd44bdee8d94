static char help[] = "What a GPU can do at best: copies of vectors, and a periodic Poisson problem by cuFFT.\n\
  -n <4096,4096>    points in each direction, two or three of them\n\
  -times <20>       runs, of which the median counts\n\
  -fft <true>       or copies alone\n\n";

/*
  Prints one line:

    limit,<points>,<seconds of a copy>,<bytes read and written a second>,<seconds of the FFT solve, or 0>

  The solve is a transform, a product with the inverse eigenvalues, and the transform back, all in double precision. Its
  error is checked: a right side that is the operator times a wave gives the wave back.
*/

#include <petscvec.h>
#include <petscdevice_cuda.h>
#include <cufft.h>

#define MOST 101

#define CallFFT(call)                                                                                                \
  do {                                                                                                               \
    const cufftResult result_ = (call);                                                                              \
    PetscCheck(result_ == CUFFT_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "cuFFT ended with error %d", (int)result_); \
  } while (0)

typedef struct {
  PetscInt    dim, n[3], points, modes;
  Vec         f, u, wave;   /* on the grid */
  Vec         hat, inverse; /* modes: real and imaginary parts; one over the eigenvalue for each of both */
  PetscBool   fft;
  cufftHandle forth, back;
} Problem;

static int Compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return x < y ? -1 : x > y;
}

static PetscErrorCode Now(PetscLogDouble *seconds)
{
  PetscDeviceContext context;

  PetscFunctionBeginUser;
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextSynchronize(context));
  PetscCall(PetscTime(seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateVector(PetscInt n, Vec *v)
{
  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_SELF, v));
  PetscCall(VecSetSizes(*v, n, n));
  PetscCall(VecSetType(*v, VECSEQCUDA));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscReal Eigenvalue(PetscInt k, PetscInt n)
{
  const PetscReal s = PetscSinReal(PETSC_PI * (PetscReal)k / (PetscReal)n);

  return 4 * s * s;
}

/* Of the sum of second differences; the mean of u is zero */
static PetscErrorCode FillInverse(Problem *p)
{
  const PetscInt half = p->n[0] / 2 + 1;
  PetscScalar   *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(p->inverse, &a));
  for (PetscInt m = 0; m < p->modes; m++) {
    const PetscInt  i = m % half, j = m / half % p->n[1], k = m / half / p->n[1];
    const PetscReal lambda =
        Eigenvalue(i, p->n[0]) + Eigenvalue(j, p->n[1]) + (p->dim == 3 ? Eigenvalue(k, p->n[2]) : 0);

    a[2 * m] = a[2 * m + 1] = m ? 1 / (lambda * (PetscReal)p->points) : 0;
  }
  PetscCall(VecRestoreArrayWrite(p->inverse, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A wave of a different length in each direction, and the operator times it */
static PetscErrorCode FillWave(Problem *p)
{
  PetscReal    lambda = 0;
  PetscScalar *a;

  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < p->dim; d++) lambda += Eigenvalue(d + 1, p->n[d]);
  PetscCall(VecGetArrayWrite(p->wave, &a));
  for (PetscInt m = 0; m < p->points; m++) {
    const PetscInt i[3]  = {m % p->n[0], m / p->n[0] % p->n[1], m / p->n[0] / p->n[1]};
    PetscReal      phase = 0;

    for (PetscInt d = 0; d < p->dim; d++) phase += 2 * PETSC_PI * (PetscReal)((d + 1) * i[d]) / (PetscReal)p->n[d];
    a[m] = PetscCosReal(phase);
  }
  PetscCall(VecRestoreArrayWrite(p->wave, &a));
  PetscCall(VecCopy(p->wave, p->f));
  PetscCall(VecScale(p->f, lambda));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProblemCreate(Problem *p)
{
  int          n[3];
  cudaStream_t stream;
  PetscBool    set;

  PetscFunctionBeginUser;
  p->dim = 3;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-n", p->n, &p->dim, &set));
  PetscCheck(set && p->dim > 1, PETSC_COMM_SELF, PETSC_ERR_USER, "-n wants two or three numbers of points");
  p->points = 1;
  for (PetscInt d = 0; d < p->dim; d++) {
    PetscCheck(p->n[d] > p->dim + 1, PETSC_COMM_SELF, PETSC_ERR_USER, "-n wants more than %d points", (int)p->dim + 1);
    p->points *= p->n[d];
    n[p->dim - 1 - d] = (int)p->n[d]; /* the slowest one first */
  }
  p->modes = p->points / p->n[0] * (p->n[0] / 2 + 1);
  PetscCall(CreateVector(p->points, &p->f));
  PetscCall(VecDuplicate(p->f, &p->u));
  PetscCall(VecDuplicate(p->f, &p->wave));
  PetscCall(CreateVector(2 * p->modes, &p->hat));
  PetscCall(VecDuplicate(p->hat, &p->inverse));
  PetscCall(FillInverse(p));
  PetscCall(FillWave(p));
  p->fft = PETSC_TRUE;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-fft", &p->fft, NULL));
  if (!p->fft) PetscFunctionReturn(PETSC_SUCCESS);
  CallFFT(cufftPlanMany(&p->forth, (int)p->dim, n, NULL, 1, 0, NULL, 1, 0, CUFFT_D2Z, 1));
  CallFFT(cufftPlanMany(&p->back, (int)p->dim, n, NULL, 1, 0, NULL, 1, 0, CUFFT_Z2D, 1));
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  CallFFT(cufftSetStream(p->forth, stream));
  CallFFT(cufftSetStream(p->back, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProblemDestroy(Problem *p)
{
  PetscFunctionBeginUser;
  if (p->fft) {
    CallFFT(cufftDestroy(p->forth));
    CallFFT(cufftDestroy(p->back));
  }
  PetscCall(VecDestroy(&p->f));
  PetscCall(VecDestroy(&p->u));
  PetscCall(VecDestroy(&p->wave));
  PetscCall(VecDestroy(&p->hat));
  PetscCall(VecDestroy(&p->inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveByFFT(Problem *p)
{
  const PetscScalar *f, *hat;
  PetscScalar       *there, *u;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayReadAndMemType(p->f, &f, NULL));
  PetscCall(VecGetArrayWriteAndMemType(p->hat, &there, NULL));
  CallFFT(cufftExecD2Z(p->forth, (cufftDoubleReal *)f, (cufftDoubleComplex *)there));
  PetscCall(VecRestoreArrayWriteAndMemType(p->hat, &there));
  PetscCall(VecRestoreArrayReadAndMemType(p->f, &f));
  PetscCall(VecPointwiseMult(p->hat, p->hat, p->inverse));
  PetscCall(VecGetArrayReadAndMemType(p->hat, &hat, NULL));
  PetscCall(VecGetArrayWriteAndMemType(p->u, &u, NULL));
  CallFFT(cufftExecZ2D(p->back, (cufftDoubleComplex *)hat, (cufftDoubleReal *)u));
  PetscCall(VecRestoreArrayWriteAndMemType(p->u, &u));
  PetscCall(VecRestoreArrayReadAndMemType(p->hat, &hat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Copy(Problem *p)
{
  PetscFunctionBeginUser;
  PetscCall(VecCopy(p->f, p->u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first run, which sets up, does not count */
static PetscErrorCode Median(Problem *p, PetscInt times, PetscErrorCode (*run)(Problem *), double *median)
{
  double         seconds[MOST];
  PetscLogDouble start, end;

  PetscFunctionBeginUser;
  for (PetscInt i = -1; i < times; i++) {
    PetscCall(Now(&start));
    PetscCall((*run)(p));
    PetscCall(Now(&end));
    if (i >= 0) seconds[i] = end - start;
  }
  qsort(seconds, (size_t)times, sizeof(double), Compare);
  *median = seconds[times / 2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  Problem   p     = {0};
  PetscInt  times = 20;
  PetscReal error;
  double    copy, solve = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-times", &times, NULL));
  PetscCheck(times > 0 && times <= MOST, PETSC_COMM_SELF, PETSC_ERR_USER, "-times wants 1 to %d runs", MOST);
  PetscCall(ProblemCreate(&p));
  PetscCall(Median(&p, times, Copy, &copy));
  if (p.fft) {
    PetscCall(Median(&p, times, SolveByFFT, &solve));
    PetscCall(VecAXPY(p.u, -1, p.wave));
    PetscCall(VecNorm(p.u, NORM_INFINITY, &error));
    PetscCheck(error < 1e-10, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The error of the solve by cuFFT is %g", (double)error);
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "limit,%" PetscInt_FMT ",%.4e,%.4e,%.4e\n", p.points, copy,
                        2 * sizeof(PetscScalar) * (double)p.points / copy, solve));
  PetscCall(ProblemDestroy(&p));
  PetscCall(PetscFinalize());
  return 0;
}
