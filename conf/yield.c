/*
  For tests with more processes than cores. A process that waits for a message asks for it in a loop, and Open MPI calls
  sched_yield() in between: the kernel gives such a process its turns nevertheless, which those that compute miss. Here
  calls that follow each other closely become pauses, up to half a millisecond long. conf/check.sh preloads it.
*/
#include <sched.h>
#include <time.h>

static long long nanoseconds(void)
{
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int sched_yield(void)
{
  static __thread long long last, pause_ns;

  if (nanoseconds() - last > 20000) pause_ns = 0;
  else if (pause_ns < 400000) pause_ns += pause_ns / 2 + 10000;
  if (pause_ns) {
    const struct timespec t = {0, (long)pause_ns};

    nanosleep(&t, 0);
  }
  last = nanoseconds();
  return 0;
}
