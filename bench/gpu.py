#!/usr/bin/env python3
"""What a cycle and a solve on a GPU should take: bytes / bandwidth + launches, and the latency of small kernels and of a block's steps. Nothing here is measured.

  python3 bench/gpu.py            prints the tables of docs/gpu.md

The problem is Poisson's equation on a cube or a square with 7 or 5 points and coefficients that lines share; red-black sweeps: 2 before and behind the coarser levels
on the finest one, 3 on the next, 4 below, down to 3 points in a direction. Numbers that each kernel moves for a point of its level:

  half a sweep 3 (x twice, b), the first one from zero 2; residual 3; restriction 1, interpolation 2, and a part of that on the coarser level; CG with its product 14

Kernels are those of src/kernel/cuda; a visit of a level has 4 sweeps + 3 of them. Levels below the finest one with fewer than 5000 unknowns, the coarsest problem included, are one kernel
of one block (src/kernel/cuda/blockcuda.cu), in which each of these is a step. A cycle is one CUDA graph (tests/cudahost counts the same 65 nodes for a V-cycle on 1025^2 points, 12 on
17^3), CG has 8 launches with those of cuBLAS.
"""

DEVICES = [("A100 80 GB", 2.039e12), ("H100 SXM", 3.35e12)]
LAUNCH = 2.5e-6  # seconds
NODE = 0.6e-6  # of a graph, beside its kernel
KERNEL = 1.0e-6  # of the shortest kernel: it begins, reads what depends on what it has read, four times, and ends
# Of a step in a block: a barrier and the same reads, from the first-level cache, 500 cycles by count, and as many again; and then so long for each point, some 200 instructions, of which
# a multiprocessor does 128 a cycle
STEP, POINT = 0.5e-6, 1.0e-9
BLOCK = 5000  # unknowns
ITERATIONS = 7  # to 1e-8, as on the host with 129 points in a direction
W = 99


class Cycle:
    """Nodes of the graph, steps of blocks, and seconds of a cycle on n^dim points"""

    def __init__(self, n, dim, kappa, bandwidth, size=8, block=BLOCK):
        self.dim, self.bandwidth, self.size, self.block = dim, bandwidth, size, block
        self.nodes = self.steps = 0
        self.seconds = LAUNCH
        self.visit(n, 0, kappa, False)

    def kernels(self, count, numbers):
        """So many of a level, each of which moves so many numbers"""
        self.nodes += count
        self.seconds += count * (NODE + max(KERNEL, numbers * self.size / self.bandwidth))

    def visit(self, n, level, kappa, inside):
        points, sweeps, coarser = n**self.dim, min(2 + level, 4), 2**-self.dim
        if level and not inside and points < self.block:
            inside = True
            self.nodes += 1
            self.seconds += NODE + KERNEL
        if inside:
            steps = 4 * sweeps + 3 if n > 3 else 1
            computed = 2 * sweeps + 2 + 3 * coarser if n > 3 else points
            self.steps += steps
            self.seconds += steps * STEP + computed * points * POINT
        elif n > 3:
            self.kernels(4 * sweeps + 3, (12 * sweeps + 5 + 2 * coarser) * points / (4 * sweeps + 3))
        else:
            self.kernels(1, points**2)
        if n > 3:
            self.visit((n + 1) // 2, level + 1, kappa, inside)
        if kappa > 1 and n > 5:  # a second visit of the coarsest level in a row has nothing to do
            self.visit((n + 1) // 2, level + 1, kappa - 1, inside)


def predict(n, bandwidth, single):
    extra = (8 + 8 + 4 + 4 + 8) * n**3 / bandwidth + 4 * LAUNCH if single else 0  # largest, take, give
    return ITERATIONS * (Cycle(n, 3, 1, bandwidth, 4 if single else 8).seconds + 14 * 8 * n**3 / bandwidth + 8 * LAUNCH + extra)


def solves():
    print("| points | cycle in | " + " | ".join(f"{name}, predicted" for name, _ in DEVICES) + " | measured |\n|---|---|---|---|---|")
    for n in 129, 257, 513:
        for single in False, True:
            times = " | ".join(f"{1e3 * predict(n, bandwidth, single):.1f} ms" for _, bandwidth in DEVICES)
            print(f"| {n}^3 | {'single' if single else 'double'} | {times} | |")


def cycles():
    name, bandwidth = DEVICES[1]
    print(f"\n| cycle on {name}, predicted | nodes of the graph | steps in one kernel | time | V-cycles | each kernel a node |\n|---|---|---|---|---|---|")
    for n, dim in (1025, 2), (257, 3), (513, 3):
        for kappa, label in (1, "V"), (2, "F"), (3, "kappa 3"), (W, "W"):
            cycle, v, apart = (Cycle(n, dim, k, bandwidth, block=block) for k, block in ((kappa, BLOCK), (1, BLOCK), (kappa, 0)))
            print(f"| {n}^{dim}, {label} | {cycle.nodes} | {cycle.steps} | {1e3 * cycle.seconds:.2f} ms | {cycle.seconds / v.seconds:.1f} | "
                  f"{apart.nodes} nodes, {1e3 * apart.seconds:.2f} ms |")


if __name__ == "__main__":
    solves()
    cycles()
