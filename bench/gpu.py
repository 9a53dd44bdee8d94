#!/usr/bin/env python3
"""What a solve with levels on a GPU should take: bytes / bandwidth, launches, and the latency of small kernels. Nothing here is measured.

  python3 bench/gpu.py                         prints tables of predictions
  python3 bench/gpu.py --measured first-times.csv   what tests/device/run.sh has measured on a GPU, beside that

The problem is Poisson's equation on a cube or a square with 7 or 5 points and coefficients that lines share; red-black sweeps: 2 before and behind the coarser levels
on the finest one, and on the others 2 with kappa > 1, else 3 on the next and 4 below, down to 3 points in a direction. Numbers that each kernel moves for a point of its level, as bench/traffic.py counts them in
a launch:

  half a sweep 3 (x twice, b), the first one from zero 2; residual 3; restriction 1, interpolation 2, and a part of that on the coarser level; CG with its product 14
  up to 4 half sweeps in tiles 3, from zero 2; restriction and interpolation 1/8 (2D: 1/4) more

The rims of tiles that march are read by several blocks: from the second-level cache in the first of two times, from memory in the second one. Levels that do not give each
processor a march, of 1100 points or more, have parts in shared memory, as src/level/device/deviceparts.c chooses them, by the same count of steps and points, which sees no
interpolation: a launch is as long as the shortest kernel, and a step for each half sweep, for residual and restriction, and the points that a block computes, rims
included. Tiles that march are counted by their bytes alone. Where parts take longer than a launch for each half sweep, a visit has 4 sweeps + 3 kernels. All visits of a level
below the finest one with fewer than 1100 unknowns that the next finer level asks for at a time are a product with a matrix of the second-level cache, from the second cycle on. The first one has one kernel of one block (src/kernel/cuda/blockcuda.cu) for each, in which each of these kernels is a step; without
matrices levels with fewer than 5000 unknowns have that, unless they are in tiles. A cycle is one CUDA graph; CG has 8 launches with those of cuBLAS.
"""

import argparse
import csv
import functools
import itertools

from traffic import H100, Tiles

# Name, bytes a second, shared memory of a block and processors, and bytes a second from the second-level cache, of which others have measured about so many
DEVICES = [("A100 80 GB", 2.039e12, (163 * 1024, 108), 4.0e12), ("H100 SXM", 3.35e12, H100, 5.5e12)]
LAUNCH = 2.5e-6  # seconds
NODE = 0.6e-6  # of a graph, beside its kernel
KERNEL = 1.0e-6  # of the shortest kernel: it begins, reads what depends on what it has read, four times, and ends
# Of a step in a block: a barrier and the same reads, from the first-level cache, 500 cycles by count, and as many again; and then so long for each point, some 200 instructions, of which
# a multiprocessor does 128 a cycle
STEP, POINT = 0.5e-6, 1.0e-9
BLOCK = 5000  # unknowns, KCYCLE_BLOCK
MATRIX = 1100  # unknowns, KCYCLE_MATRIX
CACHE = 40e6  # bytes of the second-level cache
TILED, NEVER = 1100, 10**12  # unknowns for -pc_kcycle_tile_above; the default
# Of a part in shared memory: 220 cycles by count, and as many again; 100 instructions
PART_STEP, PART_POINT = 0.25e-6, 0.5e-9
SIZES = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)  # points that a part may have in a direction
MOST = 4  # half sweeps of a launch
ITERATIONS = 7  # to 1e-8, as on the host with 129 points in a direction
W = 99


def prod(numbers):
    result = 1
    for number in numbers:
        result *= number
    return result


def marches(n, dim, size, device):
    """Are there as many blocks as processors?"""
    tiles = Tiles((n, n, n if dim == 3 else 1), size, MOST, False, True, False, device)
    return prod(-(-extent // own) for extent, own in zip(tiles.extent, tiles.own)) >= device[1]


def tiled(n, dim, size, sweeps, device, cached):
    """Numbers for a point, and launches, of a visit of a level in tiles"""
    numbers = launches = 0
    halves = [min(MOST, 2 * sweeps - done) for done in range(0, 2 * sweeps, MOST)]
    for i, half in enumerate(halves):  # those of the way down, and in the reverse order up
        last = i == len(halves) - 1
        for kind in (half, i == 0, last, False), (half, False, False, last):
            least = (2 if kind[1] else 3) + (kind[2] + kind[3]) / 2**dim
            numbers += least if cached else Tiles((n, n, n if dim == 3 else 1), size, *kind, device).numbers()
            launches += 1
    return numbers, launches


class Parts:
    """How src/level/device/deviceparts.c shares a level out, and how long launches take"""

    def __init__(self, n, dim, size, device):
        self.n, self.dim, self.size, self.bandwidth, (self.shared, self.processors) = n, dim, size, device[1], device[2]
        apart = 19 * (NODE + max(KERNEL, 3 * size * n**dim / self.bandwidth))
        times = {most: (2 * -(-8 // most) - 1) * self.seconds(most, False, False) + self.seconds(most, False, True) for most in range(1, MOST + 1)}
        self.most = min(times, key=times.get)
        self.pays = times[self.most] < apart

    def points(self, own, halves, zeros, restricts, interpolates):
        """That a block computes"""
        start = 0 if zeros else 1
        rim = halves - 1 + start + (2 if restricts else 0)
        count = [prod(o + 2 * (rim - margin) for o in own) for margin in range(rim + 1)]
        room = 4 * ((own[0] + 2 * rim + 1) // 2) * prod(o + 2 * rim for o in own[1:]) * self.size
        computed = count[0] * (2 if interpolates else 1) + sum(count[h + start] / 2 for h in range(halves)) + (count[rim - 1] + count[rim] if restricts else 0)
        return computed, room

    def seconds(self, halves, zeros, restricts, interpolates=False):
        """Of a launch with the best parts"""
        best = None
        for most in itertools.product(SIZES, repeat=self.dim):
            pieces = [-(-self.n // m) for m in most]
            own = [-(-self.n // p) for p in pieces]
            computed, room = self.points(own, halves, zeros, restricts, False)
            each = -(-prod(pieces) // self.processors)
            time = each * ((halves + (3 if restricts else 1)) * PART_STEP + computed * PART_POINT)
            if room <= self.shared and (best is None or time < best[0]):
                best = time, each * (self.points(own, halves, zeros, restricts, True)[0] - computed) * PART_POINT
        return NODE + KERNEL + best[0] + (best[1] if interpolates else 0)

    def visit(self, sweeps):
        """Launches and seconds of a visit"""
        seconds, all_halves = [], 2 * sweeps
        for done in range(0, all_halves, self.most):
            halves, last = min(self.most, all_halves - done), done + self.most >= all_halves
            seconds += [self.seconds(halves, done == 0, last), self.seconds(halves, False, False, last)]
        return len(seconds), sum(seconds)


@functools.lru_cache(maxsize=None)
def parts(n, dim, size, device):
    return Parts(n, dim, size, device)


class Cycle:
    """Nodes of the graph, steps of blocks, products, and seconds of a cycle on n^dim points"""

    def __init__(self, n, dim, kappa, device, size=8, block=BLOCK, few=MATRIX, tiles=NEVER, cached=True):
        self.dim, self.device, self.size, self.few, self.tiles, self.cached = dim, device, size, few, tiles, cached
        self.block = 0 if few else block
        self.more = kappa == 1  # sweeps on coarser levels, see KCyclePolicySweeps()
        self.nodes = self.steps = self.products = 0
        self.seconds = LAUNCH
        self.visit(n, 0, kappa, False)

    def kernels(self, count, numbers):
        """So many of a level, each of which moves so many numbers"""
        self.nodes += count
        self.seconds += count * (NODE + max(KERNEL, numbers * self.size / self.device[1]))

    def visit(self, n, level, kappa, inside):
        points, sweeps, coarser = n**self.dim, min(2 + level, 4) if self.more else 2, 2**-self.dim
        tiled_at_all, march = points >= self.tiles, marches(n, self.dim, self.size, self.device[2])
        in_parts = tiled_at_all and not march and parts(n, self.dim, self.size, self.device).pays
        if level and not inside and points < self.block and not in_parts:
            inside = True
            self.nodes += 1
            self.seconds += NODE + KERNEL
        if inside:
            steps = 4 * sweeps + 3 if n > 3 else 1
            computed = 2 * sweeps + 2 + 3 * coarser if n > 3 else points
            self.steps += steps
            self.seconds += steps * STEP + computed * points * POINT
        elif in_parts:
            count, seconds = parts(n, self.dim, self.size, self.device).visit(sweeps)
            self.nodes += count
            self.seconds += seconds
        elif tiled_at_all and march:
            numbers, count = tiled(n, self.dim, self.size, sweeps, self.device[2], self.cached)
            self.kernels(count, numbers * points / count)
        elif n > 3:
            self.kernels(4 * sweeps + 3, (12 * sweeps + 5 + 2 * coarser) * points / (4 * sweeps + 3))
        else:
            self.kernels(1, points**2)
        if n > 3:
            self.below((n + 1) // 2, level + 1, kappa, inside)

    def below(self, n, level, kappa, inside):
        """What a visit of the next finer level asks for"""
        points = n**self.dim
        if points < self.few and n > 3 and not inside:
            self.nodes += 1
            self.products += 1
            self.seconds += NODE + KERNEL + self.size * points**2 / self.device[3 if self.cached and self.size * points**2 < CACHE else 1]
            return
        self.visit(n, level, kappa, inside)
        if kappa > 1 and n > 3:  # a second visit of the coarsest level in a row has nothing to do
            self.visit(n, level, kappa - 1, inside)

    def making(self, n, kappa):
        """Seconds that matrices of the level with n points in a direction take: a block for each processor makes columns, with steps as ever"""
        seconds = 0
        for k in range(1, kappa + 1):
            column = Cycle.__new__(Cycle)
            column.__dict__.update(self.__dict__, few=0, block=10**12, seconds=0)
            column.below(n, 1, k, True)
            seconds += column.seconds * -(-(n**self.dim) // self.device[2][1])
        return seconds


def predict(n, dim, device, single=False, cached=True, kappa=1, tiles=NEVER):
    points, bandwidth = n**dim, device[1]
    extra = (8 + 8 + 4 + 4 + 8) * points / bandwidth + 4 * LAUNCH if single else 0  # largest, take, give
    cycle = Cycle(n, dim, kappa, device, 4 if single else 8, cached=cached, tiles=tiles).seconds
    return cycle + 14 * 8 * points / bandwidth + 8 * LAUNCH + extra


def solves():
    print("| points | cycle in | " + " | ".join(f"{device[0]}, predicted" for device in DEVICES) + " | measured |\n|---|---|---|---|---|")
    for n in 129, 257, 513:
        for single in False, True:
            times = " | ".join(f"{1e3 * ITERATIONS * predict(n, 3, device, single):.1f} ms" for device in DEVICES)
            print(f"| {n}^3 | {'single' if single else 'double'} | {times} | |")
            times = " | ".join(" to ".join(f"{1e3 * ITERATIONS * predict(n, 3, device, single, cached, tiles=TILED):.1f}" for cached in (True, False)) + " ms" for device in DEVICES)
            print(f"| {n}^3 | {'single' if single else 'double'}, in tiles | {times} | |")


def cycles():
    device = DEVICES[1]
    print(f"\n| cycle on {device[0]}, predicted | nodes of the graph | of them products | time | V-cycles | in one kernel instead | V-cycles | neither of these | in tiles, and products |\n|---|---|---|---|---|---|---|---|---|")
    for n, dim in (1025, 2), (4097, 2), (257, 3), (513, 3):
        for kappa, label in (1, "V"), (2, "F"), (3, "kappa 3"), (W, "W"):
            cycle, v = (Cycle(n, dim, k, device) for k in (kappa, 1))
            block, vblock = (Cycle(n, dim, k, device, few=0) for k in (kappa, 1))
            apart, tiles = Cycle(n, dim, kappa, device, block=0, few=0), Cycle(n, dim, kappa, device, tiles=TILED)
            print(f"| {n}^{dim}, {label} | {cycle.nodes} | {cycle.products} | {1e3 * cycle.seconds:.2f} ms | {cycle.seconds / v.seconds:.1f} | {block.steps} steps, {1e3 * block.seconds:.2f} ms | "
                  f"{block.seconds / vblock.seconds:.1f} | {apart.nodes} nodes, {1e3 * apart.seconds:.2f} ms | {tiles.nodes} nodes, {1e3 * tiles.seconds:.2f} ms |")
    print(f"\n| matrices on {device[0]}, predicted | one, in double precision | a product | made for V | F | kappa 3 | W |\n|---|---|---|---|---|---|---|")
    for n, dim in (33, 2), (9, 3):
        cycle = Cycle(n, dim, 1, device)
        product = NODE + KERNEL + 8 * n ** (2 * dim) / device[3]
        made = [cycle.making(n, k) for k in (1, 2, 3)] + [cycle.making(n, W) - cycle.making(n, W - 1)]
        print(f"| {n}^{dim} points | {8e-6 * n ** (2 * dim):.1f} MB | {1e6 * product:.1f} us | " + " | ".join(f"{1e3 * t:.1f} ms" for t in made) + " |")


# As tests/device/pack.sh calls them: kappa, unknowns from which on there are tiles
KINDS = {"V": (1, NEVER), "V tiles": (1, TILED), "W": (W, NEVER), "W tiles": (W, TILED)}


def measured(path):
    """The lines of tests/device/run.sh; an iteration beside the prediction for an H100"""
    with open(path) as file:
        rows = [row for row in csv.reader(file) if row and not row[0].startswith("#")]
    print("| points | solver | iterations | set-up | solve | an iteration | predicted for H100 SXM |\n|---|---|---|---|---|---|---|")
    for _, dim, n, solver, iterations, reason, setup, solve, _ in (row for row in rows if row[0] == "solve"):
        each = float(solve) / max(1, int(iterations))
        kind = KINDS.get(solver)
        known = f"{1e3 * predict(int(n), int(dim), DEVICES[1], kappa=kind[0], tiles=kind[1]):.3f} ms" if kind else ""
        print(f"| {n}^{dim} | {solver} | {iterations} {'' if reason.startswith('CONVERGED') else reason} | {1e3 * float(setup):.1f} ms | {1e3 * float(solve):.2f} ms | {1e3 * each:.3f} ms | {known} |")
    print("\n| points | coefficients | precision | step | time | part of the bandwidth of a copy |\n|---|---|---|---|---|---|")
    for _, dim, n, kind, precision, verb, seconds, part in (row for row in rows if row[0] == "verb"):
        print(f"| {n}^{dim} | {kind} | {precision} | {verb} | {1e6 * float(seconds):.1f} us | {float(part):.2f} |")
    for _, dim, n, copy, rate, fft in (row for row in rows if row[0] == "limit"):
        print(f"\n{n}^{dim}: a copy {1e6 * float(copy):.1f} us, {float(rate) / 1e12:.2f} TB/s" + (f"; periodic Poisson problem by cuFFT {1e3 * float(fft):.2f} ms" if float(fft) else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measured", metavar="CSV", help="what tests/device/run.sh has measured")
    arguments = parser.parse_args()
    if arguments.measured:
        measured(arguments.measured)
        return
    solves()
    cycles()


if __name__ == "__main__":
    main()
