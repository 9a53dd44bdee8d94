#!/bin/sh
# The launcher that runs kernels for devices on the host (tests/cudahost): blocks and grids of three dimensions, shared
# memory, barriers, exchange within warps; and that it finds what is wrong in a kernel.
# Run by: make check SEARCH=device_launcher
set -u
. "$KC_TOP/conf/tap.sh"
host=$KC_TOP/tests/cudahost

# shellcheck disable=SC2046 # words
build() {
  sh "$host/kernel.sh" "$host/selftest.cu" "$KC_WORK/selftest.o" &&
    g++ -std=c++17 -O1 -U_FORTIFY_SOURCE -w -I"$cuda/include" "$host/launcher.cpp" "$KC_WORK/selftest.o" \
      -o "$KC_WORK/selftest" -ldl
}

ends() { "$KC_WORK/selftest" "$1" || return 1; } # without the number of the signal

finds() { refuses "found: $1" "$2" ends "$3"; } # what message test

nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2> /dev/null || true)
claim="kernels run on the host, threads of a block one after the other"
if [ -z "$nvcc" ]; then skip "$claim" "no CUDA here"; exit; fi
cuda=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
works "the launcher compiles" "" build
works "$claim" "^0 numbers are wrong, 0 allocations are left" "$KC_WORK/selftest" right
finds "a thread that leaves while others wait" "not all threads of a block or of a warp reach a barrier" leaves
finds "a barrier that some threads do not reach" "not all threads of a block or of a warp reach a barrier" diverges
finds "a barrier that is missing" "a place in shared memory that another thread uses" barrier
finds "a barrier of warps where one of the block is needed" "a place in shared memory that another thread uses" warp
finds "a place after shared memory" "writes outside shared memory" shared
finds "a place after an allocation" "thread 95 of block 0, 0, 0 reads outside an allocation" over
finds "a place before an allocation" "thread 0 of block 0, 0, 0 writes outside an allocation" under
finds "two blocks that write to the same place" "a place in global memory that another thread uses" global
finds "too many threads" "blocks of 2048 x 1 x 1 threads" many
finds "the end of an allocation that was written over" "byte 768 was written of an allocation of 768 bytes" redzone
