/*
  The functions of cuFFT that PCFASTPOISSON calls, by FFTW: transforms of real numbers, many at a time. As cuFFT's may,
  those from complex numbers leave nothing of these. A plan works in memory that the caller gives it.
*/
#include "launcher.h"
#include <cufft.h>
#include <fftw3.h>
#include <cstring>
#include <map>

namespace {
struct Plan {
  cufftType type;
  int       n, count;
  int       stride[2], distance[2]; /* of numbers read and written */
  bool      allocates;
  size_t    bytes;
  void     *work;
};

std::map<cufftHandle, Plan> plans;
cufftHandle                 made = 0;

Plan &Find(cufftHandle handle)
{
  if (!plans.count(handle)) HostFail("cuFFT is called with a plan that was not made or is destroyed");
  return plans[handle];
}

void OnDevice(const void *first, size_t numbers, size_t bytes)
{
  if (!HostMemoryHas(first) || !HostMemoryHas((const char *)first + numbers * bytes - 1))
    HostFail("numbers of a transform are not in the memory of the device");
}

/* How many numbers there are from the first one to the last one */
size_t Span(const Plan &p, int side, int n)
{
  return (size_t)(n - 1) * p.stride[side] + (size_t)(p.count - 1) * p.distance[side] + 1;
}

const Plan &Ready(cufftHandle handle, cufftType type, const void *from, const void *to)
{
  const Plan &p   = Find(handle);
  const bool  d2z = type == CUFFT_D2Z;

  if (p.type != type || p.n < 1) HostFail("a plan of cuFFT is for other transforms");
  if (!p.allocates && !p.work) HostFail("a plan of cuFFT has no memory to work in");
  OnDevice(from, Span(p, 0, d2z ? p.n : p.n / 2 + 1), d2z ? sizeof(double) : sizeof(fftw_complex));
  OnDevice(to, Span(p, 1, d2z ? p.n / 2 + 1 : p.n), d2z ? sizeof(fftw_complex) : sizeof(double));
  if (p.work) memset(p.work, 0xff, p.bytes);
  return p;
}
} // namespace

extern "C" {

cufftResult cufftCreate(cufftHandle *handle)
{
  plans[ *handle = ++made] = Plan{CUFFT_D2Z, 0, 0, {0, 0}, {0, 0}, true, 0, NULL};
  return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle handle)
{
  Find(handle);
  plans.erase(handle);
  return CUFFT_SUCCESS;
}

cufftResult cufftSetAutoAllocation(cufftHandle handle, int allocates)
{
  Find(handle).allocates = allocates;
  return CUFFT_SUCCESS;
}

cufftResult cufftSetStream(cufftHandle handle, cudaStream_t)
{
  Find(handle);
  return CUFFT_SUCCESS;
}

cufftResult cufftMakePlanMany(cufftHandle handle, int rank, int *n, int *inembed, int istride, int idist, int *onembed,
                              int ostride, int odist, cufftType type, int batch, size_t *bytes)
{
  Plan &p = Find(handle);

  if (rank != 1 || !inembed || !onembed || (type != CUFFT_D2Z && type != CUFFT_Z2D))
    HostFail("plans of cuFFT are here for strided lines of real numbers");
  if (n[0] < 1 || batch < 1) return CUFFT_INVALID_SIZE;
  p.type        = type;
  p.n           = n[0];
  p.count       = batch;
  p.stride[0]   = istride;
  p.stride[1]   = ostride;
  p.distance[0] = idist;
  p.distance[1] = odist;
  p.bytes = *bytes = 16 * (size_t)(n[0] / 2 + 1);
  return CUFFT_SUCCESS;
}

cufftResult cufftSetWorkArea(cufftHandle handle, void *work)
{
  Plan &p = Find(handle);

  OnDevice(work, p.bytes, 1);
  p.work = work;
  return CUFFT_SUCCESS;
}

cufftResult cufftExecD2Z(cufftHandle handle, double *from, cufftDoubleComplex *to)
{
  const Plan &p  = Ready(handle, CUFFT_D2Z, from, to);
  fftw_plan plan = fftw_plan_many_dft_r2c(1, &p.n, p.count, from, NULL, p.stride[0], p.distance[0], (fftw_complex *)to,
                                          NULL, p.stride[1], p.distance[1], FFTW_ESTIMATE);

  fftw_execute(plan);
  fftw_destroy_plan(plan);
  return CUFFT_SUCCESS;
}

cufftResult cufftExecZ2D(cufftHandle handle, cufftDoubleComplex *from, double *to)
{
  const Plan &p  = Ready(handle, CUFFT_Z2D, from, to);
  fftw_plan plan = fftw_plan_many_dft_c2r(1, &p.n, p.count, (fftw_complex *)from, NULL, p.stride[0], p.distance[0], to,
                                          NULL, p.stride[1], p.distance[1], FFTW_ESTIMATE);

  fftw_execute(plan);
  fftw_destroy_plan(plan);
  memset(from, 0xff, Span(p, 0, p.n / 2 + 1) * sizeof(*from));
  return CUFFT_SUCCESS;
}
}
