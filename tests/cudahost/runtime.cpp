/*
  The functions of CUDA's libraries that PETSc's vectors, AIJ and dense matrices call, on the host: one device, with
  memory of its own. Memory of the wrong side ends the program. What is not here (factors, products of sparse matrices)
  is called in the libraries, which refuse the handles that are made here.

  CUDAHOST_REPORT=1 in the environment: at its end a program tells what it copied and how often it multiplied.
  CUDAHOST_MEMORY: bytes that the device has; it is looked up whenever memory is asked for.
  CUDAHOST_LAUNCHES: see graphs.h.
*/
#include "graphs.h"
#include "launcher.h"
#include <cublas_v2.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>
#include <sys/mman.h>

extern "C" {
double ddot_(const int *, const double *, const int *, const double *, const int *);
double dnrm2_(const int *, const double *, const int *);
double dasum_(const int *, const double *, const int *);
int    idamax_(const int *, const double *, const int *);
void   dscal_(const int *, const double *, double *, const int *);
void   dswap_(const int *, double *, const int *, double *, const int *);
void   daxpy_(const int *, const double *, const double *, const int *, double *, const int *);
void   dgemv_(const char *, const int *, const int *, const double *, const double *, const int *, const double *,
              const int *, const double *, double *, const int *);
void   dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
              const int *, const double *, const int *, const double *, double *, const int *);
}

static void Fail(const char *what)
{
  HostFail("%s", what);
}

/* Memory */

typedef std::map<const char *, size_t> Blocks;

/* At the end nothing may be left of a device's memory */
static struct Device {
  Blocks pinned;
  long   copies[2], bytes[2]; /* to the device, to the host */
  long   products[2];         /* with sparse, with dense matrices */
  long   launches;            /* of kernels by cudaLaunchKernel() */

  ~Device()
  {
    if (HostMemoryAllocations())
      fprintf(stderr, "cudahost: %zu allocations of device memory are left\n", HostMemoryAllocations());
    if (!getenv("CUDAHOST_REPORT")) return;
    long n[9];

    Count(n);
    fprintf(
        stderr,
        "cudahost: %ld copies to the device, %ld bytes; %ld to the host, %ld bytes; %ld sparse products, %ld dense; "
        "%ld launches; %ld graphs with %ld kernels\n",
        n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8]);
  }

  void Count(long n[9]) const
  {
    const long all[7] = {copies[0], bytes[0], copies[1], bytes[1], products[0], products[1], launches};

    std::copy_n(all, 7, n);
    HostGraphsLaunched(n + 7);
  }
} device;

static bool In(const Blocks &blocks, const void *pointer)
{
  const char            *p  = (const char *)pointer;
  Blocks::const_iterator at = blocks.upper_bound(p);

  return at != blocks.begin() && p < (--at)->first + std::max<size_t>(at->second, 1);
}

static void OnDevice(const void *pointer)
{
  if (pointer && !HostMemoryHas(pointer)) Fail("an argument is not in the memory of the device");
}

/* NaN as doubles, and no index */
static void *New(Blocks &blocks, size_t bytes)
{
  char *p = (char *)malloc(bytes + 1);

  if (!p) Fail("no memory");
  memset(p, 0xff, bytes);
  blocks[p] = bytes;
  return p;
}

static void Delete(Blocks &blocks, void *p)
{
  if (p && !blocks.erase((const char *)p)) Fail("memory is freed that was not allocated");
  free(p);
}

static void Count(const void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
  const bool           in = HostMemoryHas(to), out = HostMemoryHas(from);
  const cudaMemcpyKind is = in    ? (out ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice)
                            : out ? cudaMemcpyDeviceToHost
                                  : cudaMemcpyHostToHost;

  if (kind != cudaMemcpyDefault && kind != is) Fail("a copy has not the kind that it is called");
  if (in == out) return;
  device.copies[out]++;
  device.bytes[out] += bytes;
}

static void Copy(void *to, size_t toPitch, const void *from, size_t fromPitch, size_t width, size_t height,
                 cudaMemcpyKind kind)
{
  if (width && height) Count(to, from, width * height, kind);
  for (size_t i = 0; i < height; i++) memmove((char *)to + i * toPitch, (const char *)from + i * fromPitch, width);
}

static void Set(void *p, size_t pitch, int value, size_t width, size_t height)
{
  if (width && height) OnDevice(p);
  for (size_t i = 0; i < height; i++) memset((char *)p + i * pitch, value, width);
}

static size_t Memory(void)
{
  const char *text = getenv("CUDAHOST_MEMORY");

  return text ? (size_t)atoll(text) : (size_t)1 << 40;
}

static cudaError_t last = cudaSuccess; /* error that no call has asked for */

/* See graphs.h */
#define NOT(refused)                                   \
  do {                                                 \
    const cudaError_t status_ = (refused);             \
    if (status_ != cudaSuccess) return last = status_; \
  } while (0)
#define NOT_IN_CAPTURE()       NOT(HostRefuseInCapture())
#define NOT_OWN_STREAM(stream) NOT(HostRefuseOwnStream(stream))

extern "C" {

/* For programs that look for it: what the report says, so far */
void HostCounts(long n[9])
{
  device.Count(n);
}

cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t stream)
{
  if (!stream || HostIsCaptured(stream)) NOT_IN_CAPTURE();
  if (HostMemoryBytes() + bytes > Memory()) return last = cudaErrorMemoryAllocation;
  *p = HostMemoryNew(bytes);
  return cudaSuccess;
}

cudaError_t cudaFreeAsync(void *p, cudaStream_t stream)
{
  if (!stream || HostIsCaptured(stream)) NOT_IN_CAPTURE();
  if (p) HostMemoryDelete(p);
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned)
{
  NOT_IN_CAPTURE();
  *p = New(device.pinned, bytes);
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void *p)
{
  NOT_IN_CAPTURE();
  Delete(device.pinned, p);
  return cudaSuccess;
}

cudaError_t cudaMalloc(void **p, size_t bytes)
{
  return cudaMallocAsync(p, bytes, NULL);
}
cudaError_t cudaFree(void *p)
{
  return cudaFreeAsync(p, NULL);
}
cudaError_t cudaMallocHost(void **p, size_t bytes)
{
  return cudaHostAlloc(p, bytes, 0);
}

cudaError_t cudaMemcpy2D(void *to, size_t toPitch, const void *from, size_t fromPitch, size_t width, size_t height,
                         cudaMemcpyKind kind)
{
  NOT_IN_CAPTURE();
  Copy(to, toPitch, from, fromPitch, width, height, kind);
  return cudaSuccess;
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t toPitch, const void *from, size_t fromPitch, size_t width, size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream)
{
  if (HostIsCaptured(stream)) {
    HostCapture(stream, false, [=] { Copy(to, toPitch, from, fromPitch, width, height, kind); });
    return cudaSuccess;
  }
  NOT_OWN_STREAM(stream);
  Copy(to, toPitch, from, fromPitch, width, height, kind);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
  return cudaMemcpy2D(to, 0, from, 0, bytes, 1, kind);
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
  return cudaMemcpy2DAsync(to, 0, from, 0, bytes, 1, kind, stream);
}

cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height)
{
  NOT_IN_CAPTURE();
  Set(p, pitch, value, width, height);
  return cudaSuccess;
}

cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
  if (HostIsCaptured(stream)) {
    HostCapture(stream, false, [=] { Set(p, pitch, value, width, height); });
    return cudaSuccess;
  }
  NOT_OWN_STREAM(stream);
  Set(p, pitch, value, width, height);
  return cudaSuccess;
}
cudaError_t cudaMemset(void *p, int value, size_t bytes)
{
  return cudaMemset2D(p, 0, value, bytes, 1);
}
cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream)
{
  return cudaMemset2DAsync(p, bytes, value, bytes, 1, stream);
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *all)
{
  *all       = Memory();
  *available = *all - std::min(*all, HostMemoryBytes());
  return cudaSuccess;
}

void HostCountLaunch(void)
{
  device.launches++;
}

/* An argument of a kernel. Where it has the address of memory that this program has, that must be the device's. A
   number below 2^24 in front of bytes that were never set is no address */
void HostCheckArgument(const void *argument, size_t bytes)
{
  for (size_t i = 0; i + sizeof(uintptr_t) <= bytes; i += sizeof(uintptr_t)) {
    uintptr_t word;

    memcpy(&word, (const char *)argument + i, sizeof(word));
    if (word >> 47 || (uint32_t)word < 1u << 24 || HostMemoryHas((const void *)word)) continue;
    if (!msync((void *)(word & ~(uintptr_t)4095), 1, MS_ASYNC))
      Fail("an argument of a kernel is not in the memory of the device");
  }
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *a, const void *p)
{
  memset(a, 0, sizeof(*a));
  a->type = HostMemoryHas(p)       ? cudaMemoryTypeDevice
            : In(device.pinned, p) ? cudaMemoryTypeHost
                                   : cudaMemoryTypeUnregistered;
  return cudaSuccess;
}

/* The device, streams and events: everything has happened when it is asked for */

#undef cudaGetDeviceProperties
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int)
{
  memset(p, 0, sizeof(*p));
  strcpy(p->name, "host");
  p->maxThreadsPerBlock = 1024;
  p->warpSize           = 32;
  return cudaSuccess;
}

/* What has nothing to do, and what only has to be something else each time */
#define SUCCEEDS(Status, name, ...) \
  Status name(__VA_ARGS__)          \
  {                                 \
    return (Status)0;               \
  }
#define DOES(Status, name, arguments, action) \
  Status name arguments                       \
  {                                           \
    action;                                   \
    return (Status)0;                         \
  }
#define CREATES(Status, name, Type, ...) \
  Status name(Type *made __VA_ARGS__)    \
  {                                      \
    *made = (Type)malloc(1);             \
    return (Status)0;                    \
  }
#define DESTROYS(Status, name, Type) \
  Status name(Type made)             \
  {                                  \
    free((void *)made);              \
    return (Status)0;                \
  }
#define HANDLE(Status, library, version, Type)      \
  CREATES(Status, library##Create##version, Type)   \
  DESTROYS(Status, library##Destroy##version, Type) \
  SUCCEEDS(Status, library##SetStream##version, Type, cudaStream_t)

DOES(cudaError_t, cudaGetDeviceCount, (int *n), *n = 1)
DOES(cudaError_t, cudaGetDevice, (int *d), *d = 0)
cudaError_t cudaSetDevice(int d)
{
  return d ? cudaErrorInvalidDevice : cudaSuccess;
}
SUCCEEDS(cudaError_t, cudaSetDeviceFlags, unsigned)
/* CUDAHOST_SHARED=N and CUDAHOST_PROCESSORS=N in the environment: kB of shared memory of a block, and multiprocessors,
   as smaller devices have */
cudaError_t cudaDeviceGetAttribute(int *v, cudaDeviceAttr attribute, int)
{
  const char *shared = getenv("CUDAHOST_SHARED"), *processors = getenv("CUDAHOST_PROCESSORS");

  *v = attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin ? 1024 * (shared ? atoi(shared) : 227)
       : attribute == cudaDevAttrMultiProcessorCount        ? (processors ? atoi(processors) : 132)
                                                            : 1;
  return cudaSuccess;
}
#define WAITS(name, ...)        \
  cudaError_t name(__VA_ARGS__) \
  {                             \
    NOT_IN_CAPTURE();           \
    return cudaSuccess;         \
  }
WAITS(cudaDeviceSynchronize, void)
DOES(cudaError_t, cudaDeviceGetMemPool, (cudaMemPool_t * p, int), *p = NULL)
SUCCEEDS(cudaError_t, cudaMemPoolSetAttribute, cudaMemPool_t, cudaMemPoolAttr, void *)
cudaError_t cudaGetLastError(void)
{
  const cudaError_t now = last;

  return last = cudaSuccess, now;
}
SUCCEEDS(cudaError_t, cudaPeekAtLastError, void)
const char *cudaGetErrorName(cudaError_t)
{
  return "cudahost";
}
const char *cudaGetErrorString(cudaError_t)
{
  return "an error of the stand-in";
}
CREATES(cudaError_t, cudaStreamCreateWithFlags, cudaStream_t, , unsigned)
DESTROYS(cudaError_t, cudaStreamDestroy, cudaStream_t)
DOES(cudaError_t, cudaStreamGetFlags, (cudaStream_t, unsigned *f), *f = cudaStreamNonBlocking)
SUCCEEDS(cudaError_t, cudaStreamQuery, cudaStream_t)
WAITS(cudaStreamSynchronize, cudaStream_t)
SUCCEEDS(cudaError_t, cudaStreamWaitEvent, cudaStream_t, cudaEvent_t, unsigned)
CREATES(cudaError_t, cudaEventCreate, cudaEvent_t)
CREATES(cudaError_t, cudaEventCreateWithFlags, cudaEvent_t, , unsigned)
DESTROYS(cudaError_t, cudaEventDestroy, cudaEvent_t)
SUCCEEDS(cudaError_t, cudaEventRecord, cudaEvent_t, cudaStream_t)
WAITS(cudaEventSynchronize, cudaEvent_t)
DOES(cudaError_t, cudaEventElapsedTime, (float *t, cudaEvent_t, cudaEvent_t), *t = 0)
#undef cudaLaunchKernel /* kernels.h has another for those that are compiled here */
cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t)
{
  return Fail("a kernel is launched that was compiled for a GPU"), cudaSuccess;
}

/* cuBLAS */

HANDLE(cublasStatus_t, cublas, _v2, cublasHandle_t)
SUCCEEDS(cublasStatus_t, cublasSetPointerMode_v2, cublasHandle_t, cublasPointerMode_t)

#define BLAS1(name, arguments, reads, call)  \
  cublasStatus_t cublas##name##_v2 arguments \
  {                                          \
    if (n) reads;                            \
    call;                                    \
    return CUBLAS_STATUS_SUCCESS;            \
  }
BLAS1(Dasum, (cublasHandle_t, int n, const double *x, int i, double *r), OnDevice(x), *r = dasum_(&n, x, &i))
BLAS1(Dnrm2, (cublasHandle_t, int n, const double *x, int i, double *r), OnDevice(x), *r = dnrm2_(&n, x, &i))
BLAS1(Idamax, (cublasHandle_t, int n, const double *x, int i, int *r), OnDevice(x), *r = idamax_(&n, x, &i))
BLAS1(Dscal, (cublasHandle_t, int n, const double *a, double *x, int i), OnDevice(x), dscal_(&n, a, x, &i))
BLAS1(Ddot, (cublasHandle_t, int n, const double *x, int i, const double *y, int j, double *r),
      (OnDevice(x), OnDevice(y)), *r = ddot_(&n, x, &i, y, &j))
BLAS1(Daxpy, (cublasHandle_t, int n, const double *a, const double *x, int i, double *y, int j),
      (OnDevice(x), OnDevice(y)), daxpy_(&n, a, x, &i, y, &j))
BLAS1(Dswap, (cublasHandle_t, int n, double *x, int i, double *y, int j), (OnDevice(x), OnDevice(y)),
      dswap_(&n, x, &i, y, &j))

cublasStatus_t cublasDgemv_v2(cublasHandle_t, cublasOperation_t op, int m, int n, const double *a, const double *A,
                              int lda, const double *x, int i, const double *b, double *y, int j)
{
  if (m && n) OnDevice(A), OnDevice(x), OnDevice(y);
  dgemv_(op == CUBLAS_OP_N ? "N" : "T", &m, &n, a, A, &lda, x, &i, b, y, &j);
  device.products[1]++;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDgemm_v2(cublasHandle_t, cublasOperation_t s, cublasOperation_t t, int m, int n, int k,
                              const double *a, const double *A, int lda, const double *B, int ldb, const double *b,
                              double *C, int ldc)
{
  if (m && n && k) OnDevice(A), OnDevice(B), OnDevice(C);
  dgemm_(s == CUBLAS_OP_N ? "N" : "T", t == CUBLAS_OP_N ? "N" : "T", &m, &n, &k, a, A, &lda, B, &ldb, b, C, &ldc);
  device.products[1]++;
  return CUBLAS_STATUS_SUCCESS;
}

/* cuSOLVER: PETSc makes a handle, nothing here factors dense matrices on the device */

HANDLE(cusolverStatus_t, cusolverDn, , cusolverDnHandle_t)

/* cuSPARSE */

struct Csr {
  int64_t rows, cols, entries;
  int    *i, *j;
  double *a;
};

struct Dense {
  double *x;
};

HANDLE(cusparseStatus_t, cusparse, , cusparseHandle_t)
SUCCEEDS(cusparseStatus_t, cusparseSetPointerMode, cusparseHandle_t, cusparsePointerMode_t)
const char *cusparseGetErrorName(cusparseStatus_t)
{
  return "cudahost";
}
const char *cusparseGetErrorString(cusparseStatus_t)
{
  return "an error of the stand-in";
}
CREATES(cusparseStatus_t, cusparseCreateMatDescr, cusparseMatDescr_t)
DESTROYS(cusparseStatus_t, cusparseDestroyMatDescr, cusparseMatDescr_t)
SUCCEEDS(cusparseStatus_t, cusparseSetMatIndexBase, cusparseMatDescr_t, cusparseIndexBase_t)
cusparseIndexBase_t cusparseGetMatIndexBase(const cusparseMatDescr_t)
{
  return CUSPARSE_INDEX_BASE_ZERO;
}
SUCCEEDS(cusparseStatus_t, cusparseSetMatType, cusparseMatDescr_t, cusparseMatrixType_t)

cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t *d, int64_t rows, int64_t cols, int64_t entries, void *i,
                                   void *j, void *a, cusparseIndexType_t iType, cusparseIndexType_t jType,
                                   cusparseIndexBase_t base, cudaDataType)
{
  if (iType != CUSPARSE_INDEX_32I || jType != CUSPARSE_INDEX_32I || base != CUSPARSE_INDEX_BASE_ZERO)
    Fail("indices are of 32 bits here and begin at 0");
  *d = (cusparseSpMatDescr_t) new Csr{rows, cols, entries, (int *)i, (int *)j, (double *)a};
  return CUSPARSE_STATUS_SUCCESS;
}

DOES(cusparseStatus_t, cusparseDestroySpMat, (cusparseConstSpMatDescr_t d), delete (const Csr *)d)
DOES(cusparseStatus_t, cusparseSpMatSetValues, (cusparseSpMatDescr_t d, void *a), ((Csr *)d)->a = (double *)a)
DOES(cusparseStatus_t, cusparseCreateDnVec, (cusparseDnVecDescr_t * d, int64_t, void *x, cudaDataType),
     *d = (cusparseDnVecDescr_t) new Dense{(double *)x})
DOES(cusparseStatus_t, cusparseDestroyDnVec, (cusparseConstDnVecDescr_t d), delete (const Dense *)d)
DOES(cusparseStatus_t, cusparseDnVecSetValues, (cusparseDnVecDescr_t d, void *x), ((Dense *)d)->x = (double *)x)

cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t,
                                         cusparseConstDnVecDescr_t, const void *, cusparseDnVecDescr_t, cudaDataType,
                                         cusparseSpMVAlg_t, size_t *bytes)
{
  *bytes = 8;
  return CUSPARSE_STATUS_SUCCESS;
}

SUCCEEDS(cusparseStatus_t, cusparseSpMV_preprocess, cusparseHandle_t, cusparseOperation_t, const void *,
         cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t, const void *, cusparseDnVecDescr_t, cudaDataType,
         cusparseSpMVAlg_t, void *)

/* y = alpha op(A) x + beta y */
cusparseStatus_t cusparseSpMV(cusparseHandle_t, cusparseOperation_t op, const void *alpha, cusparseConstSpMatDescr_t A,
                              cusparseConstDnVecDescr_t x, const void *beta, cusparseDnVecDescr_t y, cudaDataType,
                              cusparseSpMVAlg_t, void *)
{
  const Csr    *c     = (const Csr *)A;
  const bool    plain = op == CUSPARSE_OPERATION_NON_TRANSPOSE;
  const double *from = ((const Dense *)x)->x, a = *(const double *)alpha, b = *(const double *)beta;
  double       *to = ((Dense *)y)->x;

  if (c->entries) OnDevice(c->i), OnDevice(c->j), OnDevice(c->a), OnDevice(from), OnDevice(to);
  for (int64_t k = 0; k < (plain ? c->rows : c->cols); k++) to[k] = b == 0 ? 0 : b * to[k];
  for (int64_t r = 0; r < c->rows; r++) {
    for (int e = c->i[r]; e < c->i[r + 1]; e++) to[plain ? r : c->j[e]] += a * c->a[e] * from[plain ? c->j[e] : r];
  }
  device.products[0]++;
  return CUSPARSE_STATUS_SUCCESS;
}
}
