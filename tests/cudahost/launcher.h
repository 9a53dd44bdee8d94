/*
  Kernels on the host, and the memory that they work on; see launcher.cpp
*/
#pragma once
#include <cuda_runtime_api.h>
#include <cstddef>

extern uint3 hostThread, hostBlock;
extern dim3  hostBlockDim, hostGridDim;

extern "C" {
/* call(ctx) as each thread of each block */
/* kernel: its address, to recognise it, or NULL */
void HostRun(const void *kernel, dim3 grid, dim3 block, std::size_t shared, void (*call)(void *), void *ctx);

/* Waits for the threads of the block, or of the warp, which the mask must name all */
void HostWaitForBlock(void);
void HostWaitForWarp(unsigned mask);

/* The same for all threads of a warp: a place for each, of 16 bytes */
void *HostWarpPlace(unsigned lane);

/* What __shared__ stands for: memory that the launch asked for, and variables of a size that is known */
void *HostSharedMemory(void);
void *HostSharedVariable(std::size_t bytes, std::size_t key[2]);

/* Memory of the device */
void       *HostMemoryNew(std::size_t bytes);
void        HostMemoryDelete(void *);
bool        HostMemoryHas(const void *);
std::size_t HostMemoryAllocations(void);
std::size_t HostMemoryBytes(void); /* of them all */

/* Ends the program */
[[noreturn]] void HostFail(const char *format, ...);
}
