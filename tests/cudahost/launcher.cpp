/*
  Kernels on the host: one block after the other, and the threads of a block one after the other. A thread that waits at
  a barrier is put aside with its stack, and the next one begins on another stack; so a kernel without barriers costs no
  more than calls of a function. Blocks have up to three dimensions.

  What ends the program with a message:
  - a barrier that not all threads of a block, or of a warp, reach: because one has left, or waits at another one;
  - a launch that no device takes: more than 1024 threads a block, more shared memory than was asked for;
  - an access of our kernels to memory of the device outside the allocation that it belongs to. library.sh has the
    compiler call a function at each access. What is allocated in one piece is one allocation, whatever lies in it;
  - two threads of a block that use the same place in shared memory between two barriers, one of them writing; and two
    blocks of a launch that use the same place in memory of the device, one of them writing.

  What spoils the numbers instead: memory that was never written. New memory of the device, and shared memory where
  a block begins, are full of NaN.

  What other code reads and writes outside its memory is found, too, where it comes to the page before or after, which
  must not be touched; or at the end, where it has written between the end of an allocation and the end of its page.
*/
#include "launcher.h"
#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <vector>
#include <dlfcn.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

uint3 hostThread, hostBlock;
dim3  hostBlockDim, hostGridDim;

void HostFail(const char *format, ...)
{
  va_list arguments;

  va_start(arguments, format);
  fprintf(stderr, "cudahost: ");
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\n");
  abort();
}

/* Memory: each allocation has pages of its own, and a page before and after it that must not be touched */

#define PAGE  ((size_t)4096)
#define PAGES ((size_t)1 << 22)

struct Memory {
  char                          *base;
  size_t                         used;   /* pages that were given out once */
  std::multimap<size_t, size_t>  unused; /* free ones by their number */
  std::map<const char *, size_t> bytes;  /* of each allocation */
};

static Memory &memory = *new Memory(); /* never destroyed: others free at the end of the program */
static size_t  endOf[PAGES];           /* of each page: where its allocation ends, in bytes after the base, or 0 */

static size_t PagesOf(size_t bytes)
{
  return (bytes + PAGE) / PAGE;
}

static void Protect(size_t first, size_t n, int protection)
{
  if (mprotect(memory.base + first * PAGE, n * PAGE, protection)) HostFail("memory of the device cannot be protected");
}

static void *Reserve(size_t bytes)
{
  void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

  if (p == MAP_FAILED) HostFail("no memory");
  return p;
}

static void BeginShadows(void);

void *HostMemoryNew(size_t bytes)
{
  const size_t n     = PagesOf(bytes);
  const auto   again = memory.unused.find(n);
  size_t       first = memory.used + 1;

  if (!memory.base) {
    memory.base = (char *)Reserve(PAGES * PAGE);
    BeginShadows();
  }
  if (again != memory.unused.end()) {
    first = again->second;
    memory.unused.erase(again);
  } else memory.used += n + 1;
  if (memory.used + 1 >= PAGES) HostFail("no memory");
  Protect(first, n, PROT_READ | PROT_WRITE);
  memset(memory.base + first * PAGE, 0xff, n * PAGE);
  std::fill_n(endOf + first, n, first * PAGE + bytes);
  memory.bytes[memory.base + first * PAGE] = bytes;
  return memory.base + first * PAGE;
}

void HostMemoryDelete(void *p)
{
  const auto   at    = memory.bytes.find((const char *)p);
  const size_t first = (size_t)((char *)p - memory.base) / PAGE;

  if (at == memory.bytes.end()) HostFail("memory is freed that was not allocated");
  for (size_t i = at->second; i < PagesOf(at->second) * PAGE; i++) {
    if (((unsigned char *)p)[i] != 0xff) HostFail("byte %zu was written of an allocation of %zu bytes", i, at->second);
  }
  std::fill_n(endOf + first, PagesOf(at->second), 0);
  Protect(first, PagesOf(at->second), PROT_NONE);
  memory.unused.emplace(PagesOf(at->second), first);
  memory.bytes.erase(at);
}

bool HostMemoryHas(const void *p)
{
  auto at = memory.bytes.upper_bound((const char *)p);

  return at != memory.bytes.begin() && (const char *)p < (--at)->first + std::max<size_t>(at->second, 1);
}

size_t HostMemoryAllocations(void)
{
  return memory.bytes.size();
}

size_t HostMemoryBytes(void)
{
  size_t sum = 0;

  for (const auto &block : memory.bytes) sum += block.second;
  return sum;
}

/* Threads of a block that have begun: each has a fibre, a stack of its own, while it waits. The first one has the
   stack of the program */

#define STACK       ((size_t)65536)
#define MOST        1024 /* threads */
#define WARP        32
#define SHARED_MOST ((size_t)227 * 1024)

struct Fibre {
  jmp_buf  at;
  uint3    thread;
  unsigned number; /* of the thread */
};

static struct {
  void (*call)(void *);
  void                *ctx;
  unsigned             count, next; /* threads of the block: all, and the one that begins next */
  unsigned             finished;
  Fibre                program, *current; /* NULL: no kernel runs */
  std::vector<Fibre *> idle;
  std::deque<Fibre *>  ready;
  std::vector<Fibre *> waiting, warp[MOST / WARP]; /* for the block, for a warp */
  char                *shared, *dynamic, *end;     /* memory: of the block, of it what the launch asked for */
  uint32_t             block, launch;              /* blocks of all launches so far, those before this launch */
  uint32_t             phase;                      /* barriers that the block has passed */
  unsigned char        turn[MOST / WARP];          /* those of each warp */
  char                 place[MOST][16];
} team;

static __attribute__((noinline)) void Switch(Fibre *to)
{
  Fibre *from = team.current;

  from->thread = hostThread;
  if (!_setjmp(from->at)) {
    team.current = to;
    _longjmp(to->at, 1);
  }
  hostThread = from->thread;
}

/* Threads that have not begun yet, on this stack */
static void RunThreads(void)
{
  while (team.next < team.count) {
    const unsigned n = team.current->number = team.next++;

    hostThread.x = n % hostBlockDim.x;
    hostThread.y = n / hostBlockDim.x % hostBlockDim.y;
    hostThread.z = n / (hostBlockDim.x * hostBlockDim.y);
    team.call(team.ctx);
    team.finished++;
  }
}

/* The next one that can go on; the program where all have finished */
static Fibre *Next(void)
{
  Fibre *next = &team.program;

  if (team.finished == team.count) return next;
  if (team.ready.empty())
    HostFail("not all threads of a block or of a warp reach a barrier: %u of %u have finished", team.finished,
             team.count);
  next = team.ready.front();
  team.ready.pop_front();
  return next;
}

static ucontext_t creator, created;

static void FibreBody(void)
{
  Fibre *self = team.current;

  if (!_setjmp(self->at)) setcontext(&creator);
  for (;;) {
    RunThreads();
    team.idle.push_back(self);
    Switch(Next());
  }
}

static Fibre *NewFibre(void)
{
  Fibre *fibre = new Fibre(), *now = team.current;
  char  *stack = (char *)mmap(NULL, STACK + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (stack == MAP_FAILED || mprotect(stack, PAGE, PROT_NONE)) HostFail("no memory for the stack of a thread");
  getcontext(&created);
  created.uc_stack.ss_sp   = stack + PAGE;
  created.uc_stack.ss_size = STACK;
  makecontext(&created, FibreBody, 0);
  team.current = fibre;
  swapcontext(&creator, &created);
  team.current = now;
  return fibre;
}

/* Until size threads are in the list */
static void Wait(std::vector<Fibre *> &list, unsigned size)
{
  Fibre *to;

  list.push_back(team.current);
  if (list.size() == size) {
    if (&list == &team.waiting) team.phase++;
    else team.turn[team.current->number / WARP]++;
    team.ready.insert(team.ready.end(), list.begin(), list.end());
    list.clear();
  }
  if (team.next < team.count) {
    if (team.idle.empty()) team.idle.push_back(NewFibre());
    to = team.idle.back();
    team.idle.pop_back();
  } else to = Next();
  if (to != team.current) Switch(to);
}

static unsigned WarpSize(unsigned warp)
{
  return std::min<unsigned>(WARP, team.count - warp * WARP);
}

void HostWaitForBlock(void)
{
  Wait(team.waiting, team.count);
}

void HostWaitForWarp(unsigned mask)
{
  const unsigned warp = team.current->number / WARP, size = WarpSize(warp);

  if (mask != (size == WARP ? ~0u : (1u << size) - 1) && mask != ~0u) HostFail("a part of a warp waits: mask %x", mask);
  Wait(team.warp[warp], size);
}

void *HostWarpPlace(unsigned lane)
{
  const unsigned warp = team.current->number / WARP;

  return team.place[warp * WARP + lane % WarpSize(warp)];
}

void *HostSharedMemory(void)
{
  return team.dynamic;
}

/* From the front of what the launch leaves. key: the block that asked last, and the place */
void *HostSharedVariable(size_t bytes, size_t key[2])
{
  if (key[0] != team.block) {
    key[0] = team.block;
    team.shared -= (bytes + 15) / 16 * 16;
    if (team.end - team.shared > (ptrdiff_t)SHARED_MOST)
      HostFail("a block has more shared memory than %zu bytes", SHARED_MOST);
    memset(team.shared, 0xff, (bytes + 15) / 16 * 16);
    key[1] = (size_t)team.shared;
  }
  return (void *)key[1];
}

/* Ends where a page begins that must not be touched, or less than 16 bytes before it */
static void MakeSharedMemory(size_t bytes)
{
  static char *all;
  const size_t room = (SHARED_MOST + PAGE - 1) / PAGE * PAGE;

  if (!all) {
    all = (char *)Reserve(room + 2 * PAGE);
    if (mprotect(all + PAGE, room, PROT_READ | PROT_WRITE)) HostFail("no memory");
  }
  team.end     = all + PAGE + room;
  team.dynamic = team.end - (bytes + 15) / 16 * 16;
}

/* Accesses: who used each 4 bytes last of shared memory and of the device's, and for counts each 32 bytes of that */

#define SECTOR ((size_t)32)

/* stamp: phase of the block, turn of the warp, thread */
struct Use {
  uint32_t block, stamp;
};
struct Place {
  Use write, read; /* the first one of a phase, as the threads of a block run from barrier to barrier */
};
struct Sector {
  uint32_t block[2]; /* that has read, has written it last */
};

static Place  *globalPlace, sharedPlace[SHARED_MOST / 4 + PAGE];
static Sector *sector;

static struct {
  size_t blocks[2], launch[2]; /* sectors read and written: by each block, by the launch */
} traffic;

/* CUDAHOST_TRAFFIC=FILE in the environment: a line for each launch of our kernels, appended; without it nothing is
   counted */
static const bool counts = getenv("CUDAHOST_TRAFFIC");

static void BeginShadows(void)
{
  const size_t bytes = PAGES * PAGE;

  globalPlace = (Place *)Reserve(bytes / 4 * sizeof(Place));
  sector      = (Sector *)Reserve(bytes / SECTOR * sizeof(Sector));
  if (mprotect((void *)globalPlace, bytes / 4 * sizeof(Place), PROT_READ | PROT_WRITE) ||
      mprotect((void *)sector, bytes / SECTOR * sizeof(Sector), PROT_READ | PROT_WRITE))
    HostFail("no memory");
}

static uint32_t Stamp(void)
{
  const unsigned n = team.current->number;

  return team.phase << 16 | (team.turn[n / WARP] & 63u) << 10 | n;
}

/* Do these two get into each other's way? Blocks of a launch do, but each has its own shared memory, and threads with
   no barrier between them */
static bool Together(const Use &use, uint32_t stamp, bool shared)
{
  if (use.block <= team.launch) return false;
  if (use.block != team.block) return !shared;
  if ((use.stamp ^ stamp) >> 16 || !((use.stamp ^ stamp) & 1023)) return false;
  return ((use.stamp ^ stamp) & 1023) / WARP || !((use.stamp ^ stamp) >> 10);
}

static inline void Meet(Place *place, size_t n, bool write, bool shared)
{
  const uint32_t stamp = Stamp();

  for (size_t i = 0; i < n; i++) {
    Place &p = place[i];

    if (Together(p.write, stamp, shared) || (write && Together(p.read, stamp, shared)))
      HostFail(
          "thread %u of block %u, %u, %u %s a place in %s memory that another thread uses, with no barrier between",
          team.current->number, hostBlock.x, hostBlock.y, hostBlock.z, write ? "writes" : "reads",
          shared ? "shared" : "global");
    if (write) p.write = {team.block, stamp};
    else if (p.read.block != team.block || (p.read.stamp ^ stamp) >> 10) {
      if (shared || p.read.block <= team.launch || p.read.block == team.block) p.read = {team.block, stamp};
    }
  }
}

static void Count(size_t at, size_t bytes, bool write)
{
  for (size_t s = at / SECTOR; s <= (at + bytes - 1) / SECTOR; s++) {
    uint32_t &last = sector[s].block[write];

    if (last == team.block) continue;
    traffic.blocks[write]++;
    if (last <= team.launch) traffic.launch[write]++;
    last = team.block;
  }
}

static inline __attribute__((always_inline)) void Access(const void *p, size_t bytes, bool write)
{
  const size_t at = (size_t)((const char *)p - memory.base), in = (size_t)((const char *)p - team.shared);

  if (!team.current) return;
  if (in < (size_t)(team.end - team.shared)) {
    Meet(sharedPlace + ((const char *)p - team.end) / 4 + sizeof(sharedPlace) / sizeof(Place), (bytes + 3) / 4, write,
         true);
    return;
  }
  if ((size_t)((const char *)p - team.end) < PAGE)
    HostFail("thread %u of block %u, %u, %u %s outside shared memory", team.current->number, hostBlock.x, hostBlock.y,
             hostBlock.z, write ? "writes" : "reads");
  if (at >= PAGES * PAGE || !memory.base) return;
  if (at + bytes > endOf[at / PAGE])
    HostFail("thread %u of block %u, %u, %u %s outside an allocation", team.current->number, hostBlock.x, hostBlock.y,
             hostBlock.z, write ? "writes" : "reads");
  Meet(globalPlace + at / 4, (bytes + 3) / 4, write, false);
  if (counts) Count(at, bytes, write);
}

/* What the compiler calls with -fsanitize=thread */
#define ACCESSES(bytes)                       \
  void __tsan_read##bytes(void *p)            \
  {                                           \
    Access(p, bytes, false);                  \
  }                                           \
  void __tsan_write##bytes(void *p)           \
  {                                           \
    Access(p, bytes, true);                   \
  }                                           \
  void __tsan_unaligned_read##bytes(void *p)  \
  {                                           \
    Access(p, bytes, false);                  \
  }                                           \
  void __tsan_unaligned_write##bytes(void *p) \
  {                                           \
    Access(p, bytes, true);                   \
  }

extern "C" {
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
void __tsan_read_range(void *p, size_t bytes)
{
  if (bytes) Access(p, bytes, false);
}
void __tsan_write_range(void *p, size_t bytes)
{
  if (bytes) Access(p, bytes, true);
}
void __tsan_init(void)
{
}
void __tsan_func_entry(void *)
{
}
void __tsan_func_exit(void)
{
}
void __tsan_vptr_update(void *, void *)
{
}
}

static void Report(const void *kernel, dim3 grid, dim3 block, size_t shared)
{
  static FILE *file = counts ? fopen(getenv("CUDAHOST_TRAFFIC"), "a") : NULL;
  Dl_info      info;

  if (!file || !kernel || !dladdr(kernel, &info)) return;
  fprintf(file, "%zx %u %u %u %u %zu %zu %zu %zu %zu\n", (size_t)((const char *)kernel - (const char *)info.dli_fbase),
          grid.x, grid.y, grid.z, block.x * block.y * block.z, shared, SECTOR * traffic.blocks[0],
          SECTOR * traffic.blocks[1], SECTOR * traffic.launch[0], SECTOR * traffic.launch[1]);
  fflush(file);
}

static void RunBlock(void)
{
  team.block++;
  team.next = team.finished = team.phase = 0;
  team.shared                            = team.dynamic;
  memset(team.turn, 0, sizeof(team.turn));
  memset(team.shared, 0xff, (size_t)(team.end - team.shared));
  RunThreads();
  if (team.finished < team.count) Switch(Next());
}

/* Bytes of shared memory that a kernel may have; without this 48 kB */
static std::map<const void *, int> &allowed = *new std::map<const void *, int>();

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || (size_t)value > SHARED_MOST) return cudaErrorInvalidValue;
  allowed[kernel] = value;
  return cudaSuccess;
}

static void Check(const void *kernel, dim3 grid, dim3 block, size_t shared)
{
  const size_t count = (size_t)block.x * block.y * block.z;

  if (!count || count > MOST || block.z > 64) HostFail("blocks of %u x %u x %u threads", block.x, block.y, block.z);
  if (!grid.x || !grid.y || !grid.z || grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535)
    HostFail("a grid of %u x %u x %u blocks", grid.x, grid.y, grid.z);
  if (shared > 48 * 1024 && (!allowed.count(kernel) || shared > (size_t)allowed[kernel]))
    HostFail("%zu bytes of shared memory that cudaFuncSetAttribute() has not allowed", shared);
}

void HostRun(const void *kernel, dim3 grid, dim3 block, size_t shared, void (*call)(void *), void *ctx)
{
  Check(kernel, grid, block, shared);
  hostGridDim  = grid;
  hostBlockDim = block;
  team.call    = call;
  team.ctx     = ctx;
  team.count   = block.x * block.y * block.z;
  team.current = &team.program;
  team.launch  = team.block;
  memset(&traffic, 0, sizeof(traffic));
  MakeSharedMemory(shared);
  for (hostBlock.z = 0; hostBlock.z < grid.z; hostBlock.z++) {
    for (hostBlock.y = 0; hostBlock.y < grid.y; hostBlock.y++) {
      for (hostBlock.x = 0; hostBlock.x < grid.x; hostBlock.x++) RunBlock();
    }
  }
  team.current = NULL;
  Report(kernel, grid, block, shared);
}
