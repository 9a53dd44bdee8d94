/*
  What launcher.cpp does, and what it finds: the argument names one of the tests below. Those that are to end the
  program with a message say so.
*/
#include <string>

#define N 96 /* threads of a block: three warps */

/* Numbers in reverse order, and their sum in each warp */
static __global__ void Reverse(int n, const double *x, double *y, double *sums)
{
  __shared__ double        tile[N];
  extern __shared__ double more[];
  const int                t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z),
            b                = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  double sum;

  if (tile[t] == tile[t] || more[t] == more[t]) y[0] = -1; /* full of NaN */
  tile[t] = x[b * N + t];
  __syncthreads();
  more[t] = tile[N - 1 - t];
  __syncthreads();
  y[b * N + N - 1 - t] = more[N - 1 - t];
  sum                  = tile[t];
  for (int by = 16; by; by /= 2) sum += __shfl_down_sync(~0u, sum, by);
  if (t % 32 == 0) sums[b * (N / 32) + t / 32] = sum;
}

/* A barrier that some do not reach, one that is missing, accesses outside, blocks that get into each other's way */
static __global__ void Fault(char kind, double *x, double *y)
{
  __shared__ double tile[N];
  const int         t = threadIdx.x;

  if (kind == 'l' && t == 5) return;
  tile[t] = t;
  if (kind == 'w') __syncwarp();
  else if (kind != 'b') __syncthreads();
  if (kind == 'w' || kind == 'b') y[t] = tile[(t + 32) % N];
  if (kind == 'd' && t < 32) {
    if (t < 16) __syncwarp();
    else __syncthreads();
  }
  if (kind == 'o' && t == 95) y[0] = x[2 * N];
  if (kind == 'u') x[(int)t - 1] = 1;
  if (kind == 'g') x[(blockIdx.x * N + t + (t == 95)) % (2 * N)] = t;
  if (kind == 's') tile[t + 1] = 1;
}

static double *New(int n)
{
  return (double *)HostMemoryNew(n * sizeof(double));
}

static int Right(void)
{
  double    *x = New(8 * N), *y = New(8 * N), *sums = New(8 * N / 32);
  const dim3 grid(2, 2, 2), block(8, 4, 3);
  int        wrong = 0;

  for (int i = 0; i < 8 * N; i++) x[i] = i;
  HostKernel(
      grid, block, [&] { Reverse(8 * N, x, y, sums); }, N * sizeof(double));
  for (int i = 0; i < 8 * N; i++) wrong += y[i] != i / N * N + N - 1 - i % N;
  for (int w = 0; w < 8 * N / 32; w++) wrong += sums[w] != 32 * (32 * w + 15.5);
  HostMemoryDelete(x), HostMemoryDelete(y), HostMemoryDelete(sums);
  printf("%d numbers are wrong, %zu allocations are left\n", wrong, HostMemoryAllocations());
  return wrong;
}

int main(int argc, char **argv)
{
  const std::string name = argc > 1 ? argv[1] : "";
  double           *x, *y;

  if (name == "right") return Right();
  x = New(2 * N), y = New(N);
  if (name == "redzone") y[N] = 1, HostMemoryDelete(y);
  else HostKernel(dim3(name[0] == 'g' ? 2 : 1), dim3(name == "many" ? 2048 : N), [&] { Fault(name[0], x, y); });
  return 0;
}
