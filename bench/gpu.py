#!/usr/bin/env python3
"""What a solve with levels on a GPU should take: bytes / bandwidth + launches x latency. Nothing here is measured.

  python3 bench/gpu.py            prints the table of docs/gpu.md

The problem is Poisson's equation on a cube with 7 points and coefficients that lines share; CG with V-cycles, red-black sweeps: 2 before and behind the coarser
levels on the finest one, 3 on the next, 4 below, down to 3 points in a direction. Numbers that each kernel moves for a point of its level:

  half a sweep 3 (x twice, b), the first one from zero 2; residual 3; restriction 1, interpolation 2, and 1/8 each on the coarser level; CG with its product 14

Kernels are those of src/kernel/cuda; a level has 4 sweeps + 3 of them (tests/cudahost counts 46 an iteration at 17 points in a direction), CG 8 with those of cuBLAS.
"""

DEVICES = [("A100 80 GB", 2.039e12), ("H100 SXM", 3.35e12)]
LATENCY = 2.5e-6  # seconds of a launch
COPY = 20e-6  # of a copy to the host and back, waiting included: the coarsest problem
ITERATIONS = 7  # to 1e-8, as on the host with 129 points in a direction


def cycle(n):
    """Numbers and launches of a V-cycle on n^3 points"""
    numbers = launches = level = 0
    while n > 3:
        sweeps = min(2 + level, 4)
        numbers += (12 * sweeps + 5.25) * n**3
        launches += 4 * sweeps + 3
        n, level = (n + 1) // 2, level + 1
    return numbers, launches


def predict(n, bandwidth, single):
    numbers, launches = cycle(n)
    size = 4 if single else 8
    extra = (8 + 8 + 4 + 4 + 8) * n**3 if single else 0  # largest, take, give
    seconds = (numbers * size + 14 * 8 * n**3 + extra) / bandwidth + (launches + 8 + (4 if single else 0)) * LATENCY + COPY
    return ITERATIONS * seconds


def main():
    print("| points | cycle in | " + " | ".join(f"{name}, predicted" for name, _ in DEVICES) + " | measured |\n|---|---|---|---|---|")
    for n in 129, 257, 513:
        for single in False, True:
            times = " | ".join(f"{1e3 * predict(n, bandwidth, single):.1f} ms" for _, bandwidth in DEVICES)
            print(f"| {n}^3 | {'single' if single else 'double'} | {times} | |")


if __name__ == "__main__":
    main()
